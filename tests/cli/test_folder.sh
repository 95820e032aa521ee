#!/usr/bin/env bash
# The run folder: what --overwrite takes away and what it leaves, half-written files of killed runs,
# and starts that fail.
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
for file in broken/*/*.cl; do
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
