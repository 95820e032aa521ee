#!/usr/bin/env bash
# Devices: listing, selection, refusals, and the same bits on each implementation.
# shellcheck source=tests/cli/lib.sh
. "${0%/*}/lib.sh"
small_job >job.json
short=(--set /run/sweeps=300)

expect 0 "$ERGOCL" devices
says out "Portable Computing Language" usable
expect 0 "$ERGOCL" devices --check
says out usable
expect 0 "$ERGOCL" devices --json
$python - <<'PYTHON' || fail "devices --json"
import json
devices = json.load(open("out"))
assert devices and all({"id", "name", "platform", "usable", "verdict", "global_memory"} <= d.keys() for d in devices)
PYTHON

expect 3 env OCL_ICD_VENDORS="$PWD" "$ERGOCL" devices
says err "no OpenCL device"
expect 3 env OCL_ICD_VENDORS="$PWD" "$ERGOCL" devices --json
$python -c 'import json; assert json.load(open("out")) == []' || fail "an empty list"
expect 3 env OCL_ICD_VENDORS="$PWD" "$ERGOCL" run job.json -o none
expect 3 "$ERGOCL" run job.json -o none --device "no such device"
says err "no such device"
expect 3 "$ERGOCL" run job.json -o none --device 99:0
says err 99:0
expect 3 "$ERGOCL" run job.json -o none --device gpu
# what fits twice is a question, not a choice
expect 3 env POCL_DEVICES="pthread pthread" "$ERGOCL" run job.json -o none --device pthread
says err pthread
[ ! -e none ] || fail "a run without a device left a folder"

expect 0 "$ERGOCL" validate job.json --plan
says out memory

expect 0 "$ERGOCL" run job.json -o pocl "${short[@]}" --device "portable computing"
for group in 1 8 64; do # the launch is not the chain
    expect 0 "$ERGOCL" run job.json -o "group$group" "${short[@]}" --set /tuning/work_group=$group
    same_results pocl "group$group"
done
expect 0 env POCL_MAX_PTHREAD_COUNT=1 "$ERGOCL" run job.json -o one-thread "${short[@]}"
same_results pocl one-thread

# a device that is not at hand: other launches, the same chain, and its result says so
expect 2 env ERGOCL_PRETEND=mi301x "$ERGOCL" devices
says err mi301x mi300x wave=
expect 2 env ERGOCL_PRETEND=gpu,group=0 "$ERGOCL" run job.json -o none --device portable
says err group=0
[ ! -e none ] || fail "a run with a wrong mask left a folder"
expect 0 env ERGOCL_PRETEND=mi300x,group=64 "$ERGOCL" devices
says out "pretended mi300x,group=64 on" "masked by ERGOCL_PRETEND" "304 compute units" "groups to 64"
expect 0 env ERGOCL_PRETEND=tiny "$ERGOCL" run job.json -o tiny "${short[@]}" --device portable --set /tuning/work_group=256
same_results pocl tiny
grep -q '"pretended tiny on' tiny/result.json || fail "result.json does not say that the device was masked"

export RUSTICL_ENABLE=llvmpipe
if "$ERGOCL" devices | grep -q -i llvmpipe; then
    expect 0 "$ERGOCL" run job.json -o rusticl "${short[@]}" --device llvmpipe
    same_results pocl rusticl
fi
if command -v oclgrind >/dev/null; then
    tiny=(--set /run/sweeps=20 --set /run/equilibration=0 --set '/system/size=[32,16]')
    expect 0 "$ERGOCL" run job.json -o pocl-tiny "${tiny[@]}" --device portable
    expect 0 oclgrind "$ERGOCL" run job.json -o oclgrind-tiny "${tiny[@]}" --device Oclgrind
    same_results pocl-tiny oclgrind-tiny
fi
