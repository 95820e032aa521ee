#!/usr/bin/env bash
# Hostile surroundings: no home, no cache, a broken cache, a closed or full stdout, a full disk.
# shellcheck source=tests/cli/lib.sh
. "${0%/*}/lib.sh"
small_job >job.json
expect 0 "$ERGOCL" run job.json -o reference

# no place for a cache
expect 0 env -u HOME -u XDG_CACHE_HOME -u ERGOCL_CACHE_DIR "$ERGOCL" run job.json -o no-home
same_results reference no-home
expect 0 env -u XDG_CACHE_HOME -u ERGOCL_CACHE_DIR HOME=/proc/1/nowhere "$ERGOCL" run job.json -o bad-home
same_results reference bad-home
expect 0 env ERGOCL_CACHE_DIR=/dev/null/x "$ERGOCL" run job.json -o no-cache
same_results reference no-cache
mkdir locked
chmod 555 locked # means nothing to root, who is covered by the lines above
expect 0 env -u XDG_CACHE_HOME -u ERGOCL_CACHE_DIR HOME="$PWD/locked" "$ERGOCL" run job.json -o locked-home
same_results reference locked-home

# PoCL has a cache of its own: asked for binaries it would compile all kernels once more
expect 0 env POCL_WORK_GROUP_SPECIALIZATION=1 ERGOCL_CACHE_DIR="$PWD/small cache" "$ERGOCL" run job.json -o small-cache
same_results reference small-cache
[ -z "$(find "small cache" -name '*.program')" ] || fail "binaries of PoCL are cached"

# a cache full of rubbish
export POCL_WORK_GROUP_SPECIALIZATION=0 # binaries are what launches take
export ERGOCL_CACHE_DIR="$PWD/my cache"
expect 0 "$ERGOCL" run job.json -o fill-cache
[ "$(find "$ERGOCL_CACHE_DIR" -name '*.program' | wc -l)" -gt 0 ] || fail "nothing was cached"
find "$ERGOCL_CACHE_DIR" -type f -size +100c | while read -r file; do
    printf 'rubbish' | dd of="$file" bs=1 seek=$(($(stat -c %s "$file") - 50)) conv=notrunc status=none
done
expect 0 "$ERGOCL" run job.json -o flipped-cache
same_results reference flipped-cache
find "$ERGOCL_CACHE_DIR" -type f -exec truncate -s 10 {} +
expect 0 "$ERGOCL" run job.json -o cut-cache
same_results reference cut-cache
find "$ERGOCL_CACHE_DIR" -type f -exec truncate -s 0 {} +
expect 0 "$ERGOCL" run job.json -o empty-cache
same_results reference empty-cache

# stdout gone or full: the run is kept, the exit code tells
for way in full closed pipe; do
    code=0
    case $way in
    full) "$ERGOCL" run job.json -o $way >/dev/full 2>err || code=$? ;;
    closed) "$ERGOCL" run job.json -o $way >&- 2>err || code=$? ;;
    pipe) { "$ERGOCL" run job.json -o $way 2>err || echo $? >code; } | true && code=$(cat code 2>/dev/null) ;;
    esac
    wanted=4
    [ $way != pipe ] || wanted=0 # the reader has what it wanted
    [ "${code:-0}" = $wanted ] || fail "stdout $way: exit code $code instead of $wanted"
    same_results reference $way
done
expect 0 "$ERGOCL" run job.json -o no-stderr 2>&-

# a run folder that cannot be: a file in its place, or above it
: >file
expect 4 "$ERGOCL" run job.json -o file
says err file
expect 4 "$ERGOCL" run job.json -o file/below
expect 4 "$ERGOCL" run job.json -o /proc/nowhere
says err /proc/nowhere

# The disk fills up while the run writes: exit code 4 and the file's name; when there is room again
# the run goes on from its last good checkpoint. A file size limit stands in for the full disk: it
# needs no mount. (Kernels are cached by now, so that only our files meet the limit.)
big=(--set /run/sweeps=200000 --set /run/measure_every=2 --set /run/correlation_every=0)
expect 0 "$ERGOCL" run job.json -o reference-big "${big[@]}"
code=0
(ulimit -f 200 && exec "$ERGOCL" run job.json -o limited "${big[@]}" --set /checkpoint/every_seconds=0.1) \
    >out 2>err || code=$?
[ $code -eq 4 ] || { cat err; fail "file size limit: exit code $code instead of 4"; }
says err limited/ "File too large"
[ ! -e limited/result.json ] || fail "a result without its series"
expect 0 "$ERGOCL" resume limited
same_results reference-big limited

# and a real full disk, where mounting is permitted
if mkdir disk && mount -t tmpfs -o size=300k none disk 2>/dev/null; then
    trap 'umount disk' EXIT
    expect 4 "$ERGOCL" run job.json -o disk/run "${big[@]}" --set /checkpoint/every_seconds=0.1
    says err disk/run/ "No space left"
    mount -o remount,size=100m disk
    expect 0 "$ERGOCL" resume disk/run
    same_results reference-big disk/run
else
    echo "mounting is not permitted here: a full disk was only imitated"
fi
