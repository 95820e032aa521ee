#!/usr/bin/env bash
# The run folder: what --overwrite takes away, when, and what it leaves; half-written files of killed
# runs; starts that fail; folders of strangers.
# shellcheck source=tests/cli/lib.sh
. "${0%/*}/lib.sh"
small_job >job.json
short=(--set /run/sweeps=300)
# quick FOLDER OPTION...: a short run
quick() {
    local folder=$1
    shift
    "$ERGOCL" run job.json -o "$folder" "${short[@]}" "$@"
}
# the files of a folder without its lock, sorted, in one line
list() {
    (cd "$1" && find . -type f ! -name lock -printf '%P\n' | sort | tr '\n' ' ')
}

# --overwrite: nothing of the earlier run stays, everything else does
expect 0 quick run --set /output/snapshots=3
[ "$(find run/snapshots -name '*.png' | wc -l)" -eq 6 ] || fail "snapshots: $(ls run/snapshots)"
touch run/notes.txt run/result.json.bak run/my-series.h5 run/snapshots/mine.png run/snapshots/point-1.png \
    run/report.html.tmp-1-x
mkdir run/result.json.d
mine="my-series.h5 notes.txt report.html.tmp-1-x result.json.bak snapshots/mine.png snapshots/point-1.png "
expect 2 quick run --set /output/snapshots=0
expect 0 quick run --overwrite --set /output/snapshots=0
rm run/checkpoint run/result.json run/series.h5 run/report.html
[ "$(list run)" = "$mine" ] || fail "left: $(list run), not: $mine"
[ -d run/result.json.d ] || fail "a folder is gone"
rm run/snapshots/*
expect 0 quick run --set /output/snapshots=2 --set /output/blocks=4
says out "run/snapshots" "run/blocks"
touch run/blocks/mine.dat
expect 0 quick run --overwrite --set /output/snapshots=0 --set /output/blocks=4 --set '/scan={}'
[ ! -e run/snapshots ] || fail "an empty folder of snapshots stays"
[ "$(cd run/blocks && echo *)" = "mine.dat p000000.dat" ] || fail "blocks of another run: $(ls run/blocks)"
rm run/blocks/mine.dat
expect 0 quick run --overwrite --set /output/snapshots=0
[ ! -e run/blocks ] || fail "an empty folder of blocks stays"

# a run of an earlier version, whose checkpoint is an HDF5 file: not silently taken for none
mkdir old
touch old/checkpoint.h5 old/checkpoint-0-1.h5
expect 2 quick old
says err "holds an earlier run" --overwrite
for command in resume report; do
    expect 4 "$ERGOCL" $command old
    says err "old holds checkpoint.h5 of an earlier version" --overwrite
done
expect 0 quick old --overwrite
list old >listed
says listed checkpoint
says_not listed checkpoint.h5 checkpoint-0-1.h5

# what a killed process left half-written goes at the start; of one that lives it stays
dead=$(sh -c 'echo $$')
leave() {
    mkdir -p "$1/snapshots"
    touch "$1/result.json.tmp-$dead-0" "$1/checkpoint.tmp-$dead-12" "$1/series.h5.tmp-$$-0" \
        "$1/snapshots/point-0000-step-000000400.png.tmp-$dead-3" "$1/notes.tmp-$dead-0"
}
leave fresh
expect 0 quick fresh
list fresh >listed
says listed "series.h5.tmp-$$-0" "notes.tmp-$dead-0"
[ "$(list fresh | tr ' ' '\n' | grep -c tmp-)" -eq 2 ] || fail "leftovers: $(list fresh)"
leave fresh
expect 0 "$ERGOCL" resume fresh
[ "$(list fresh | tr ' ' '\n' | grep -c tmp-)" -eq 2 ] || fail "leftovers after resume: $(list fresh)"

# a start that fails leaves no folder behind, and an earlier run as it was
mkdir broken
cp -r "$ERGOCL_ROOT/cl/." broken
find broken -name "*.cl" | while IFS= read -r file; do
    case $file in */probe*) ;; *) echo "this is no OpenCL C" >>"$file" ;; esac
done
expect 0 quick kept
before=$(list kept && cat kept/*.json kept/*.h5 | sha256sum)
no_start() {
    local code=$1
    shift
    expect "$code" "$@" "$ERGOCL" run job.json -o failed "${set[@]}"
    [ ! -e failed ] || fail "left: $(list failed)"
    expect "$code" "$@" "$ERGOCL" run job.json -o kept --overwrite "${set[@]}"
    [ "$before" = "$(list kept && cat kept/*.json kept/*.h5 | sha256sum)" ] || fail "the earlier run is damaged"
    mkdir empty
    expect "$code" "$@" "$ERGOCL" run job.json -o empty "${set[@]}"
    [ -z "$(list empty)" ] || fail "left: $(list empty)"
    rm -r empty
}
set=("${short[@]}")
no_start 3 env OCL_ICD_VENDORS="$PWD"
no_start 3 env ERGOCL_DEVICE=nonsense
no_start 3 env ERGOCL_CL_DIR="$PWD/broken"
set=(--set '/system/size=[131072,131072]' --set /replicas=64) # 2 GiB a lattice
no_start 3 env
expect 0 quick failed
expect 0 "$ERGOCL" resume kept

# The earlier run goes when the new one has a checkpoint, not before: it is whole where that fails.
make_faults
expect 0 quick earlier --set /output/snapshots=2
earlier=$(list earlier && cat earlier/*.json earlier/*.h5 | sha256sum)
# shellcheck disable=SC2317 # called by expect
small_files() {
    (ulimit -f 1 && quick earlier --overwrite --set /seed=77)
}
is_whole() {
    [ "$earlier" = "$(list earlier && cat earlier/*.json earlier/*.h5 | sha256sum)" ] ||
        fail "the earlier run is damaged: $(list earlier)"
}
expect 4 small_files
says err "File too large"
is_whole
export FAULT_PATH=earlier
for fault in "rename 5" "fsync 5" "write 28"; do
    expect 4 faulty "$fault" "$ERGOCL" run job.json -o earlier "${short[@]}" --overwrite --set /seed=77
    is_whole
done
expect 0 "$ERGOCL" report earlier
expect 0 "$ERGOCL" resume earlier --quiet
# killed at the first file that goes: the new run is there, and nothing of the earlier one in the end
expect 0 quick later --set /seed=77 --set /output/snapshots=0
expect 137 faulty "unlink kill" "$ERGOCL" run job.json -o earlier "${short[@]}" --overwrite --set /seed=77 \
    --set /output/snapshots=0
unset FAULT_PATH
expect 0 "$ERGOCL" resume earlier --quiet
same_results later earlier
[ "$(list earlier)" = "$(list later)" ] || fail "left of an earlier run: $(list earlier)"

# What is only for looking at costs no result.
mkdir -p drawn/report.html drawn/configurations.png drawn/blocks/p000000.dat
expect 0 quick drawn --set /output/blocks=4
says err "warning: cannot put drawn/report.html in place" drawn/configurations.png drawn/blocks/p000000.dat
same_digests run drawn
expect 0 "$ERGOCL" resume drawn --quiet

# Folders of strangers: no link in them leads out, no pipe is waited for, nothing is touched before
# that is said. The folder itself may be a link of the user's.
mkdir -p outside/other
echo mine >outside/mine
touch outside/other/p000000.dat outside/other/p0000-000000000000100.xyz outside/other/point-0000-step-000000400.png
outside=$(cd outside && find . | sort | xargs stat -c '%n %Y %s' | sha256sum)
is_untouched() {
    [ "$outside" = "$(cd outside && find . | sort | xargs stat -c '%n %Y %s' | sha256sum)" ] ||
        fail "something outside was changed: $(ls -lR outside)"
}
for name in snapshots trajectory blocks lock; do
    rm -rf trap
    cp -r run trap
    rm -rf "trap/$name"
    if [ $name = lock ]; then to=../outside/mine; else to=../outside/other; fi
    ln -s $to trap/$name
    before=$(list trap)
    for command in "quick trap --overwrite" "$ERGOCL resume trap"; do
        # shellcheck disable=SC2086 # a list of words
        expect 4 $command
        says err "trap/$name" "symbolic link"
        [ "$before" = "$(list trap)" ] || fail "written all the same: $(list trap)"
    done
    is_untouched
done
rm -rf trap && mkdir trap
for name in result.json series.h5 report.html configurations.png checkpoint; do
    ln -s ../outside/mine trap/$name
done
expect 4 "$ERGOCL" resume trap
expect 4 "$ERGOCL" report trap
says err "trap/checkpoint: it is a symbolic link"
expect 0 quick trap --overwrite
[ -z "$(find trap -type l)" ] || fail "links are left: $(ls -l trap)"
same_results run trap
is_untouched
for name in checkpoint lock; do
    rm -f trap/$name
    mkfifo trap/$name
    expect 4 timeout -s KILL 20 "$ERGOCL" resume trap
    says err "trap/$name" "not a regular file"
done
rm trap/lock
expect 4 timeout -s KILL 20 "$ERGOCL" report trap
rm trap/checkpoint trap/result.json
mkfifo trap/result.json
expect 0 timeout -s KILL 60 "$ERGOCL" run job.json -o trap "${short[@]}" --overwrite
mkdir real
ln -s real link
expect 0 quick link
expect 0 "$ERGOCL" resume link --quiet
expect 0 "$ERGOCL" report link/
same_results run real

mkdir compared
ln -s ../outside/other compared/device-0
expect 4 "$ERGOCL" compare job.json -o compared --overwrite --devices "$ERGOCL_DEVICE,$ERGOCL_DEVICE" "${short[@]}"
says err "compared/device-0" "symbolic link"
is_untouched

# No name is no folder, also in one of a run; one of a job's folder.
cd real || exit 1
for command in resume report; do
    expect 4 "$ERGOCL" $command ""
    says err '""'
done
cd ..
cp job.json twice.json.json
expect 0 "$ERGOCL" run twice.json.json "${short[@]}" --quiet
[ -e twice/result.json ] || fail "the folder of twice.json.json: $(ls)"
expect 0 "$ERGOCL" resume twice
