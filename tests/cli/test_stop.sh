#!/usr/bin/env bash
# Stopped runs continue where they were: stopped by a signal or by wall time, continued on another device.
# shellcheck source=tests/cli/lib.sh
. "${0%/*}/lib.sh"
long_run

for signal in TERM USR1 INT HUP; do
    # a shell starts background commands with SIGINT ignored, nohup with SIGHUP: undo that
    env --default-signal=INT,HUP "$ERGOCL" run job.json -o "$signal" >out 2>err &
    child=$!
    wait_for "$signal/checkpoint"
    sleep 0.5
    kill -s "$signal" $child
    code=0
    wait $child || code=$?
    echo "SIG$signal -> $code"
    [ $code -eq 75 ] || { cat err; fail "SIG$signal: exit code $code instead of 75"; }
    says err "ergocl resume $signal"
    says "$signal/result.json" '"stopped"'
    expect 2 "$ERGOCL" run job.json -o "$signal"
    expect 0 "$ERGOCL" resume "$signal"
    same_results whole "$signal"
    says "$signal/result.json" '"complete"'
done

# one request that comes twice, as from timeout(1), is one request. (Two signals of one kind may be taken for one, and
# a pause between them may last half a second on a slow machine.)
env --default-signal=INT "$ERGOCL" run job.json -o twice >out 2>err &
child=$!
wait_for twice/checkpoint
sleep 0.5
kill -s TERM $child
kill -s INT $child 2>/dev/null
code=0
wait $child || code=$?
[ $code -eq 75 ] || fail "two SIGTERM at once: exit code $code"
says twice/result.json '"stopped"'

# Stuck in the driver's compiler, imitated by one that never returns: the first signal cannot be
# answered, a second one ends. With a checkpoint that is 75, without one death by the signal.
make_faults
# stuck SIGNAL CODE COMMAND...
stuck() {
    local signal=$1 wanted=$2
    shift 2
    rm -f mark
    env --default-signal=INT FAULT="clBuildProgram hang" FAULT_MARK=mark LD_PRELOAD=./faults.so \
        ERGOCL_CACHE_DIR="$PWD/empty" "$ERGOCL" "$@" >out 2>err &
    child=$!
    wait_for mark
    kill -s "$signal" $child
    sleep 0.7
    kill -s 0 $child || fail "the first signal ended $*, which was to be stuck"
    # again, where the thread that waits for signals has been too slow to see two
    for ((i = 0; i < 60; i++)); do
        kill -s "$signal" $child 2>/dev/null || break
        sleep 0.7
    done
    kill -s KILL $child 2>/dev/null
    code=0
    wait $child || code=$?
    [ $code -eq "$wanted" ] || { cat err; fail "$signal twice at $*: exit code $code instead of $wanted"; }
}
cp -r twice before
stuck TERM 75 resume twice
says err "ergocl resume"
stuck INT 75 resume twice
stuck TERM 143 run job.json -o twice --overwrite
cmp before/checkpoint twice/checkpoint || fail "the checkpoint was touched"
stuck INT 130 run job.json -o new
[ ! -e new/checkpoint ] || fail "a checkpoint of a run that never began"
expect 0 "$ERGOCL" resume twice
same_results whole twice

# two programs do not write to one folder
"$ERGOCL" run job.json -o shared >out 2>err &
child=$!
wait_for shared/checkpoint
kill -s STOP $child # it holds the folder for as long as the other one waits, however fast the machine is
expect 4 "$ERGOCL" resume shared
says err shared
kill -s TERM $child
kill -s CONT $child
wait $child
expect 0 "$ERGOCL" resume shared
same_results whole shared

# a wall time of nothing: each session still does something, or a queue would start it for ever
steps_of() { $python -c 'import json, sys; print(sum(p["steps"] for p in json.load(open(sys.argv[1]))["points"]))' "$1"; }
expect 75 "$ERGOCL" run job.json -o zero --set /wall_time=1e-6
before=$(steps_of zero/result.json)
expect 75 "$ERGOCL" resume zero
if [ "$before" -eq 0 ] || [ "$(steps_of zero/result.json)" -le "$before" ]; then
    fail "no progress"
fi

# samples far apart: a stop does not wait for the next one, and the chain does not see it
sed 's/"sweeps": [0-9]*/"sweeps": 60000/; s/"measure_every": 10/"measure_every": 30000/' job.json >rare.json
expect 0 "$ERGOCL" run rare.json -o rare
code=75
expect 75 "$ERGOCL" run rare.json -o rare-sliced --set /wall_time=0.3
for ((slice = 1; slice < 99 && code == 75; slice++)); do
    code=0
    # after ten slices without a limit: a loaded machine may do next to nothing in 0.3 s
    "$ERGOCL" resume rare-sliced --set /wall_time=$((slice > 10 ? 3600 : 0)).3 >out 2>err || code=$?
done
[ $code -eq 0 ] || { cat err; fail "rare samples: exit code $code"; }
[ "$slice" -gt 3 ] || fail "rare samples: the wall time waited for a sample"
same_results rare rare-sliced

# slices of wall time
expect 75 "$ERGOCL" run job.json -o sliced --set '/wall_time=0.3'
for ((slice = 1; slice < 500; slice++)); do
    code=0
    "$ERGOCL" resume sliced --set /wall_time=$((slice > 30 ? 3600 : 0)).3 >out 2>err || code=$?
    [ $code -ne 75 ] && break
done
[ $code -eq 0 ] || { cat err; fail "the last slice: exit code $code"; }
echo "$slice slices"
same_digests whole sliced

# begun on one implementation, finished on another: the same bits
if RUSTICL_ENABLE=llvmpipe "$ERGOCL" devices | grep -q -i llvmpipe; then
    sed 's/"sweeps": [0-9]*/"sweeps": 6000/' job.json >short.json
    expect 0 "$ERGOCL" run short.json -o whole-short
    for pause in 0.4 0.2 0.1 0; do # on a fast machine the run may be over before the signal
        "$ERGOCL" run short.json -o mixed --overwrite >out 2>err &
        child=$!
        wait_for mixed/checkpoint
        sleep $pause
        kill -s TERM $child
        code=0
        wait $child || code=$?
        [ $code -eq 75 ] && break
        [ $code -eq 0 ] || { cat err; fail "exit code $code"; }
        rm -rf mixed
    done
    [ $code -eq 75 ] || fail "the run could not be stopped in the middle"
    expect 0 env RUSTICL_ENABLE=llvmpipe "$ERGOCL" resume mixed --device llvmpipe
    says mixed/result.json llvmpipe
    same_digests whole-short mixed
fi

# while a start is made: within a second, and the start is made anew (hard disks at random)
disks() { # disks N
    cat <<JSON
{ "sampler": "hard-disks", "seed": "9", "replicas": 2, "output": { "snapshots": 0 },
  "system": { "n": $1, "packing_fraction": 0.72, "start": "random" },
  "run": { "sweeps": 20, "curves_every": 0 } }
JSON
}
disks 100 >disks.json # compiles the kernels
expect 0 "$ERGOCL" run disks.json -o warm-disks
for ((n = 4000, code = 0; code == 0 && n < 300000; n *= 2)); do # until there is a start to stop at
    disks $n >disks.json
    "$ERGOCL" run disks.json -o disks --overwrite >out 2>err &
    child=$!
    wait_for disks/lock
    sleep 1.5
    asked=$(awk '{ print 10 * ($14 + $15) }' /proc/$child/stat) # milliseconds of processors so far, of ticks of 10
    kill -s TERM $child
    code=0
    times >cpu.before
    wait $child || code=$?
    times >cpu.after # the second lines: of the processes that were waited for
    [ $code -ne 75 ] || [ "$(steps_of disks/result.json)" -eq 0 ] || code=0 # the start was over
done
milliseconds=$(cat cpu.before cpu.after | awk -F '[ms ]+' -v asked="$asked" '
    NR % 2 == 0 { all[NR] = 1000 * (60 * ($1 + $3) + $2 + $4) } END { printf "%d", all[4] - all[2] - asked }')
[ $code -eq 75 ] || { cat err; fail "SIGTERM at a start: exit code $code"; }
[ "$milliseconds" -lt 3000 ] || fail "$milliseconds ms of processors from SIGTERM at a start to the end"
says err "ergocl resume disks"
[ "$(steps_of disks/result.json)" -eq 0 ] || fail "the start was over"
expect 0 "$ERGOCL" run disks.json -o whole-disks
expect 0 "$ERGOCL" resume disks
same_results whole-disks disks
