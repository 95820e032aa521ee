#!/usr/bin/env bash
# All programs of the golden jobs, compiled for GPUs that are not at hand by the newest compilers that Debian has,
# and the golden digests on its newest implementations for CPUs:
#
#     tools/offline-matrix.sh [FOLDER] [--write]       (root, debootstrap, 8 GB, an hour on two cores)
#
# FOLDER (build/sid) becomes a Debian sid, which stays for the next time; nothing else of the machine changes.
# MATRIX="amd intel mesa digests" chooses parts; what was made before stays in the table. EVERY=10 compiles each tenth
# program, WHICH=1 one of those that differ in options alone (all kernels, a third of the time), TEST_GOLDEN="tests/contract/jobs/lj-gcmc.json ..." runs
# some digests: for a slow machine. --write puts the tables under bench/results/offline.
set -euo pipefail
cd "$(dirname "$0")/.."
source=$PWD
folder=$source/build/sid write=
parts=${MATRIX:-amd intel mesa digests} every=${EVERY:-1} which=${WHICH:-}
packages=(intel-ocloc libigdfcl2 libigc2 clang-21 lld-21 llvm-21 rocm-device-libs-21
    mesa-opencl-icd mesa-drm-shim pocl-opencl-icd gdb python3-minimal
    gcc libc6-dev make pkg-config ocl-icd-opencl-dev opencl-headers libcjson-dev libsodium-dev libhdf5-dev
    libpng-dev zlib1g-dev libcmocka-dev librandom123-dev)

# ---- within the chroot --------------------------------------------------------------------------

offline() { python3 tools/offline.py "$@"; }
# programs NAME PRESET [QUIRKS]: those of the golden jobs, as on such a device.
programs() {
    rm -rf "${results:?}/$1"
    rm -f "$results/$1.device"
    offline programs "$results/$1" --pretend "$2" --quirks "${3:-none}" || {
        echo "$1: its programs could not be made" | tee "$results/$1.device"
        return 1
    }
}
# what COMPILER PROGRAMS TARGETS ...: programs that do not compile are lines of the table
compile() {
    offline compile "$results/$2" --with "$1" --for "$3" --every "$every" ${which:+--which "$which"} \
        --json "$results/$3.json" "${@:4}" || true
}
# through TARGET PROGRAMS DRIVER SHIM VARIABLE=VALUE: by rusticl, for a card that is not there; also, whether
# ergocl takes it. With ergocl's own fma(), as the probe chooses where a device's cannot be built: Adreno's.
through() {
    local target=$1 programs=$2 verdict
    local -a with=(env RUSTICL_ENABLE="$3" LD_PRELOAD="/usr/lib/x86_64-linux-gnu/$4" MESA_SHADER_CACHE_DISABLE=1 "${@:5}")
    verdict=$("${with[@]}" build/ergocl devices 2>&1 | grep -A 2 'rusticl, ' | sed -n 's/^ *\(\(usable\|refused\):[^,]*\).*/\1/p' | head -n 1) || true
    echo "rusticl/$3 $target: ${verdict:-no device}" | tee "$results/$target.device"
    "${with[@]}" python3 tools/offline.py compile "$results/$programs" --with "build rusticl" --for "$target" \
        --options=-DERGO_SOFTWARE_FMA --every "$every" ${which:+--which "$which"} --json "$results/$target.json" || true
}
# digests NAME DEVICE: each job in a process of its own, so that a crash of a driver does not end the others. What malloc
# gives is filled: what a driver reads of it by mistake is no zero, which would mostly do.
digests() {
    local log=$results/digests-$1 right=0 wrong='' n job
    rm -f "$log.log"
    for job in tests/contract/jobs/*.json; do
        case " ${TEST_GOLDEN:-$job} " in *" $job "*) ;; *) continue ;; esac
        n=$(ERGOCL_DEVICE=$2 TEST_GOLDEN=$job MALLOC_PERTURB_=165 build/tests/contract/test_golden 2>&1 |
            tee -a "$log.log" | sed -n 's/^\([0-9]*\) digests$/\1/p') || true
        if [ -n "$n" ]; then right=$((right + n)); else wrong+=" $(basename "$job")"; fi
    done
    echo "$1: $(build/ergocl devices 2>/dev/null | grep -A 1 "$2" | sed -n 's/.*driver //p' | head -n 1)," \
        "$right digests as they should be${wrong:+, FAILED:$wrong}$([ "$right" -gt 0 ] || echo ", FAILED: no job of that name")" | tee "$log.device"
}

inside() {
    cd /root/ergocl
    results=/root/results
    export HOME=/root ERGOCL_CACHE_DIR=/root/cache POCL_CACHE_DIR=/root/pocl CC=gcc
    mkdir -p $results
    make -s -j"$(nproc)" MPI=none build/ergocl build/tests/contract/test_golden
    gcc -O1 -Wall -o build/offline-build tests/offline/build.c -lOpenCL
    case " $parts " in *' amd '*)
        programs mi300x mi300x && compile clang-21+rocm mi300x gfx90a && compile clang-21+rocm mi300x gfx942
        programs rx7900 rx7900 && compile clang-21+rocm rx7900 gfx1100 && compile clang-21+rocm rx7900 gfx1201
        ;;
    esac
    case " $parts " in *' intel '*)
        # with and without what the table of quirks has for it
        programs pvc pvc "Intel(R) OpenCL Graphics/Intel(R) Data Center GPU Max 1550" && compile ocloc pvc pvc
        programs pvc-plain pvc && compile ocloc pvc-plain pvc --name pvc-plain --json $results/pvc-plain.json
        programs arc arc && compile ocloc arc dg2 && compile ocloc arc bmg
        programs xe-igpu xe-igpu && compile ocloc xe-igpu tgllp
        ;;
    esac
    case " $parts " in *' mesa '*)
        programs rx7900 rx7900 && programs adreno mali && programs apple apple
        through navi31 rx7900 radeonsi libamdgpu_noop_drm_shim.so AMDGPU_GPU_ID=navi31
        through navi48 rx7900 radeonsi libamdgpu_noop_drm_shim.so AMDGPU_GPU_ID=gfx1201
        through adreno630 adreno freedreno libfreedreno_noop_drm_shim.so FD_GPU_ID=630
        through m1 apple asahi libasahi_noop_drm_shim.so
        ;;
    esac
    case " $parts " in *' digests '*)
        digests pocl "Portable Computing Language"
        RUSTICL_ENABLE=llvmpipe digests rusticl llvmpipe
        gcc -O1 -Wall -o build/loop-end tests/offline/loop_end.c -lOpenCL
        echo "rusticl: llvmpipe at the end of a loop (tests/offline/loop_end.c):" \
            "$(RUSTICL_ENABLE=llvmpipe build/loop-end rusticl 2>/dev/null)" | tee "$results/loop-end.device"
        ;;
    esac
    local -a compiled=()
    for target in "$results"/*.json; do
        [ ! -e "$target" ] || compiled+=("$target")
    done
    {
        echo "# tools/offline-matrix.sh, $(date +%F): programs of the golden jobs, by the compilers of Debian sid:"
        echo "# $(dpkg-query -W -f '${Package} ${Version}, ' clang-21 rocm-device-libs-21 intel-ocloc libigc2 mesa-opencl-icd pocl-opencl-icd)"
        echo "# Of all kernels: how many spill vector registers, the most that one spills (AMD: registers of a work-item; Intel: bytes"
        echo "# of a thread), scalar registers spilled, bytes of scratch, registers. Mesa tells of scratch alone. pvc-plain: without"
        echo "# the option that src/device/quirks.c has for it. (m1: the shim has no compute units.)"
        [ ${#compiled[@]} -eq 0 ] || offline summary "${compiled[@]}"
        echo
        cat $results/*.device
    } >$results/matrix.txt
    local -a detailed=()
    for target in gfx90a gfx942 gfx1100 gfx1201 pvc-plain pvc dg2 bmg tgllp; do
        [ ! -e "$results/$target.json" ] || detailed+=("$results/$target.json")
    done
    [ ${#detailed[@]} -eq 0 ] || offline table "${detailed[@]}" --write $results/kernels.txt \
        --said "tools/offline-matrix.sh, $(date +%F): see matrix.txt; of Intel spills are bytes of a thread"
    cat $results/matrix.txt
}

# ---- outside ------------------------------------------------------------------------------------

case ${1-} in
--inside)
    inside
    exit
    ;;
esac
for word in "$@"; do
    case $word in
    --write) write=1 ;;
    -*)
        echo "usage: tools/offline-matrix.sh [FOLDER] [--write]" >&2
        exit 2
        ;;
    *) folder=$(realpath -m "$word") ;;
    esac
done
if [ "$(id -u)" -ne 0 ] || ! command -v debootstrap >/dev/null; then
    echo "tools/offline-matrix.sh: needs root and debootstrap (apt-get install debootstrap)" >&2
    exit 2
fi
if [ ! -e "$folder/root/complete" ]; then
    if [ -n "$(ls -A "$folder" 2>/dev/null)" ]; then
        echo "tools/offline-matrix.sh: $folder has something else in it, or a system that was not finished: remove it first" >&2
        exit 2
    fi
    debootstrap --variant=minbase --include=ca-certificates sid "$folder" "${DEBIAN:-http://deb.debian.org/debian}"
    # no service is started in there
    printf '#!/bin/sh\nexit 101\n' >"$folder/usr/sbin/policy-rc.d"
    chmod +x "$folder/usr/sbin/policy-rc.d"
    touch "$folder/root/complete"
fi
cp /etc/resolv.conf "$folder/etc/" 2>/dev/null || true
# (a mirror may be older than sid's lists are said to last)
chroot "$folder" env DEBIAN_FRONTEND=noninteractive sh -ec '
    apt-get -q -o Acquire::Check-Valid-Until=false update
    apt-get -q -y -o Dpkg::Use-Pty=0 install --no-install-recommends "$@"' sh "${packages[@]}" >"$folder/root/install.log" 2>&1 || {
    tail -n 20 "$folder/root/install.log"
    exit 1
}
rm -rf "$folder/root/ergocl" # of another time: files that are gone since
mkdir -p "$folder/root/ergocl"
git -c safe.directory="$source" ls-files -z --cached --others --exclude-standard | tar -c --null -T - | tar -x -C "$folder/root/ergocl"
# /proc and /sys, for PoCL, in there alone
# shellcheck disable=SC2016 # for the shell in there
unshare --mount --propagation private sh -ec '
    mkdir -p "$1/proc" "$1/sys"
    mount --rbind /proc "$1/proc"
    mount --rbind /sys "$1/sys"
    exec chroot "$1" env MATRIX="$2" EVERY="$3" WHICH="$4" bash /root/ergocl/tools/offline-matrix.sh --inside' sh "$folder" "$parts" "$every" "$which"
if [ -n "$write" ]; then
    cp "$folder/root/results/matrix.txt" bench/results/offline/matrix.txt
    [ ! -e "$folder/root/results/kernels.txt" ] || cp "$folder/root/results/kernels.txt" bench/results/offline/kernels.txt
fi
