#!/bin/bash
# Build ergocl on a machine without package servers and run a command there.
#
#   tools/gpu-run.sh DEBS [COMMAND...]
#
# DEBS: a folder of .deb files. What the system lacks of them is unpacked (not installed) under
# $BUILD/deps, and used by compiler and linker. `tools/gpu-run.sh --fetch DEBS` downloads them, on a
# Debian or Ubuntu with servers. MAKE_TARGETS: what to build (default: all bench-program).
set -euo pipefail
PATH=$PATH:/usr/sbin:/sbin # ldconfig

packages=(libcjson1 libcjson-dev libsodium23 libsodium-dev libpng16-16 libpng-dev libhdf5-103-1
    libhdf5-hl-100 libhdf5-dev libaec0 libsz2 pkgconf pkgconf-bin libpkgconf3 ocl-icd-opencl-dev
    ocl-icd-libopencl1 opencl-c-headers zlib1g zlib1g-dev libcmocka0 libcmocka-dev librandom123-dev)

if [ "${1:-}" = --fetch ] && [ $# -eq 2 ]; then
    mkdir -p "$2"
    cd "$2"
    apt-get download "${packages[@]}"
    exit
fi
if [ $# -lt 1 ] || [ ! -d "$1" ]; then
    echo "usage: gpu-run.sh DEBS [COMMAND...] | --fetch DEBS" >&2
    exit 2
fi
debs=$(cd "$1" && pwd)
shift
cd "$(dirname "$0")/.."
build=${BUILD:-build}
prefix=$(mkdir -p "$build/deps" && cd "$build/deps" && pwd)

# Containers with the driver have the library, but not always the .icd file that names it.
vendors=/etc/OpenCL/vendors
if [ ! -e $vendors/nvidia.icd ] && [ -z "${OCL_ICD_VENDORS:-}" ]; then
    for library in /usr/lib/libnvidia-opencl.so.1 /usr/lib/x86_64-linux-gnu/libnvidia-opencl.so.1 \
        /usr/local/nvidia/lib64/libnvidia-opencl.so.1; do
        if [ -e "$library" ]; then
            mkdir -p $vendors
            echo "$library" >$vendors/nvidia.icd
            break
        fi
    done
fi

# With GPU_RUN_BARE=1 nothing of the system is used: a rehearsal of the bare machine.
system_has() { # a path inside a package
    [ -z "${GPU_RUN_BARE:-}" ] || return 1
    case $1 in
    */pkgconfig/*.pc) command -v pkg-config >/dev/null && pkg-config --exists "$(basename "$1" .pc)" ;;
    */lib*.so.*) ldconfig -p | grep -F "$(basename "$1") " >/dev/null ;; # -q would leave ldconfig to a broken pipe
    */bin/*) command -v "$(basename "$1")" >/dev/null ;;
    *) false ;;
    esac
}

# A package is needed when one of its modules, libraries or programs is not there. (Links to a
# library's full version are not in the loader's cache: sonames only.)
needed() {
    local path found=no
    while read -r path; do
        found=yes
        system_has "$path" || return 0
    done < <(dpkg -c "$1" | awk '{print $6}' | sed 's/^\.//' |
        grep -E '/pkgconfig/[^/]*\.pc$|/lib[^/]*\.so\.[0-9]+$|^/usr/bin/[^/]+$' |
        grep -Ev 'hdf5-(openmpi|mpich)|^/usr/bin/(h5|x86_64|libpng)')
    [ $found = no ] && [ ! -e "/usr/share/doc/$(basename "$1" | sed 's/_.*//')" ]
}

for deb in "$debs"/*.deb; do
    if needed "$deb"; then
        echo "unpacking $(basename "$deb")" >&2
        dpkg -x "$deb" "$prefix"
    fi
done
# Modules name the folder where they are installed: replace it by this one.
find "$prefix" -name '*.pc' -exec sed -i "s|=/usr|=$prefix/usr|; s| -L/usr| -L$prefix/usr|g; s|-I/usr|-I$prefix/usr|g" {} +
find "$prefix" -name '*.pc' -exec sed -i "s|$prefix$prefix|$prefix|g" {} +

lib=$prefix/usr/lib/x86_64-linux-gnu
mkdir -p "$lib" # where nothing was lacking
# The link of a -dev package to a library that the system already has.
find "$lib" -xtype l -name '*.so' 2>/dev/null | while read -r link; do
    stem=$(basename "$(readlink "$link")" | sed 's/\.so.*//')
    real=$(ldconfig -p | awk -v stem="$stem.so" 'index($1, stem) == 1 && /x86-64/ { print $NF; exit }')
    [ -z "$real" ] || ln -sf "$real" "$link"
done
if [ -x "$prefix/usr/bin/pkgconf" ]; then
    export PATH="$prefix/usr/bin:$PATH"
    # the library of this pkgconf
    export LD_LIBRARY_PATH="$lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
    ln -sf pkgconf "$prefix/usr/bin/pkg-config"
fi
# The system's modules first. A bare one has no pkg-config to ask for its folders.
folders=/usr/local/lib/x86_64-linux-gnu/pkgconfig:/usr/local/lib/pkgconfig:/usr/lib/x86_64-linux-gnu/pkgconfig:/usr/lib/pkgconfig:/usr/share/pkgconfig
[ -z "${GPU_RUN_BARE:-}" ] || folders=/nowhere
export PKG_CONFIG_LIBDIR="$folders:$lib/pkgconfig:$prefix/usr/share/pkgconfig"
# HDF5 of Debian keeps its libraries in a folder of their own.
export LDFLAGS="-Wl,--disable-new-dtags,-rpath,$lib,-rpath,$lib/hdf5/serial -L$lib ${LDFLAGS:-}"

read -ra targets <<<"${MAKE_TARGETS:-all bench-program}"
make -j"$(nproc)" BUILD="$build" "${targets[@]}" >&2
[ $# -eq 0 ] || exec "$@"
