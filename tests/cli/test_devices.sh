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
expect 0 "$ERGOCL" devices --report # a page to send
says out "ergocl 0" "usable: " '"verdict"' first-contact.sh
expect 2 "$ERGOCL" devices --report --json
says err "either --json or --report"
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
# a device that claims to be of another vendor, whose options this one refuses: its programs are written, the probe is of
# the device itself
max="Intel(R) OpenCL Graphics/Intel(R) Data Center GPU Max 1550"
expect 0 env ERGOCL_PRETEND="pvc,quirks=$max" "$ERGOCL" kernels --programs max job.json --device portable
says out "-cl-intel-enable-auto-large-GRF-mode"

# what fits twice is a question, not a choice
export RUSTICL_ENABLE=llvmpipe
if "$ERGOCL" devices | grep -q -i llvmpipe; then
    expect 3 "$ERGOCL" run job.json -o none --device cpu
    says err "several devices" llvmpipe
fi
unset RUSTICL_ENABLE
# ... but equal devices will do all the same: the first that is free
twins=(env POCL_DEVICES="pthread pthread" "$ERGOCL" run job.json -v --device pthread)
taken() { sed -n 's/.*fits 2 equal devices: taking \([0-9:]*\),.*/\1/p' "$1"; }
ERGOCL_CACHE_DIR=$PWD/claims "${twins[@]}" -o long --set /run/sweeps=2000000000 >/dev/null 2>long.err &
long=$!
for ((i = 0; i < 3000; i++)); do
    grep -q 'running on' long.err && break
    kill -0 $long 2>/dev/null || break
    sleep 0.1
done
ERGOCL_CACHE_DIR=$PWD/claims expect 0 "${twins[@]}" -o second "${short[@]}"
for log in long.err err; do
    [ -n "$(taken $log)" ] || fail "no word in $log of which equal device is taken"
done
[ "$(taken long.err)" != "$(taken err)" ] || fail "both runs took $(taken err)"
second=$(taken err)
ERGOCL_CACHE_DIR=$PWD/claims POCL_DEVICES="pthread pthread" expect 0 "$ERGOCL" run job.json -o third \
    "${short[@]}" --device "$(taken long.err)" # by its index: the one in use
kill -TERM $long
wait $long || true
ERGOCL_CACHE_DIR=$PWD/claims expect 0 "${twins[@]}" -o fourth "${short[@]}"
[ "$(taken err)" != "$second" ] || fail "the first device is not free again"
same_results second third
same_results second fourth
[ ! -e none ] || fail "a run without a device left a folder"

expect 0 "$ERGOCL" validate job.json --plan
says out memory

# Complete graphs have a model of their own, with samples; it has no annealing.
echo '{"sampler": "spin-lattice", "system": {"model": "graph", "graph": "sherrington-kirkpatrick", "n": 64}, "run": {"sweeps": 20}}' >complete.json
better="for equilibria the model of this graph's name is faster"
expect 0 "$ERGOCL" validate complete.json --plan --set /system/temperature=1
says out "$better"
expect 0 "$ERGOCL" validate complete.json --plan --set '/run/method="anneal"'
says_not out "$better"

# What is kept at the end is counted, and said by run before it begins; files are no larger. With a waiting time a configuration
# and counts of later times are kept, too.
for more in /seed=12 /system/waiting_time=1; do
    expect 0 "$ERGOCL" run job.json -v -o kept --overwrite --set /run/sweeps=2 --set /run/equilibration=0 --set /run/measure_every=1 --set /output/snapshots=0 --set "/system/size=[1024,1024]" --set "$more"
    says err "final states up to"
    said=$(sed -n 's/.*on disk up to \([0-9.e+-]*\) MiB in the checkpoint.*/\1/p' err)
    awk -v said="$said" -v is="$(stat -c %s kept/checkpoint)" 'BEGIN { exit !(said > 0 && is < said * 1048576 + 16384) }' ||
        fail "$more: a checkpoint of $(stat -c %s kept/checkpoint) bytes, said were $said MiB"
done
expect 0 "$ERGOCL" validate job.json --plan --set /checkpoint/final_states=drop
says out "final states up to 0 MiB"

# The embedded profile, as Mesa's rusticl reports it for AMD GPUs: what ergocl needs of it decides.
"${CC:-gcc}" -std=c11 -D_GNU_SOURCE -shared -fPIC "$ERGOCL_ROOT/tests/faults/embedded.c" \
    -o embedded.so -ldl || fail "embedded.so cannot be made"
embedded() { EMBEDDED=$1 LD_PRELOAD=./embedded.so expect "${@:2}"; }
embedded nearest 3 "$ERGOCL" run job.json -o none --device portable
says err refused cles_khr_int64
embedded int64 3 "$ERGOCL" run job.json -o none --device portable
says err refused "round to nearest"
embedded int64,nearest 0 "$ERGOCL" devices --check
says out "Portable Computing Language" usable
embedded int64,nearest 0 "$ERGOCL" run job.json -o embedded "${short[@]}" --device portable
embedded int64,nearest,side 0 "$ERGOCL" devices --json
says out '"largest_group": 16,'
# The same with rusticl itself, for a card that is not there: it compiles, and runs nothing.
shim=$(find /usr/lib /usr/local/lib -name libamdgpu_noop_drm_shim.so 2>/dev/null | head -n 1)
if [ -n "$shim" ]; then
    LD_PRELOAD=$shim AMDGPU_GPU_ID=navi31 RUSTICL_ENABLE=radeonsi "$ERGOCL" devices >out 2>err || true
    says out rusticl
    says_not out "embedded profile"
else
    echo "no mesa-drm-shim here (Debian 12 has none): rusticl's AMD devices are not tried"
fi

expect 0 "$ERGOCL" run job.json -o pocl "${short[@]}" --device "portable computing"
same_results pocl embedded
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
