#!/usr/bin/env bash
# Points spread over ranks: any number of them, devices of two implementations, stops, kills and
# resumes on another number of ranks leave the same result as one process; a failure ends all.
# shellcheck source=tests/mpi/lib.sh
. "${0%/*}/lib.sh"

no_rank_files() {
    local left
    left=$(find "$1" -name 'checkpoint-*')
    [ -z "$left" ] || fail "files of ranks are left behind: $left"
}

# Several launches for each sweep, so that one of them can be held or fail.
cat >potts.json <<'JOB'
{ "sampler": "swendsen-wang", "seed": "77", "replicas": 3,
  "system": { "q": 3, "size": [75, 45], "temperature": 1 },
  "run": { "equilibration": 30, "sweeps": 300, "measure_every": 2 },
  "scan": { "/system/temperature": [0.9, 0.995, 1.2] }, "output": { "snapshots": 2 },
  "tuning": { "path": 2 } }
JOB
cat >ising.json <<'JOB'
{ "sampler": "spin-lattice", "seed": "7",
  "system": { "size": [32, 32], "temperature": 2 }, "run": { "sweeps": 2000 },
  "scan": { "/system/temperature": [2, 2.2, 2.4], "/system/size": [[32, 32], [16, 48]] },
  "output": { "snapshots": 0 } }
JOB

# One process, without mpirun and with it; more ranks than points; another sampler, two batches.
for job in potts ising; do
    expect 0 "$ERGOCL" run $job.json -o $job --device "$pocl" --quiet
    for n in 1 2 3 4; do
        expect 0 ranks $n run $job.json -o $job$n --device "$pocl" --quiet
        same_points $job $job$n
        no_rank_files $job$n
    done
done
expect 0 ranks 4 run ising.json -o few --device "$pocl" --set '/scan={"/system/temperature": [2, 2.2]}'
says err "4 ranks share 2 chains: there is nothing to do for 2 of them"

# A job on standard input is rank 0's, and read once for all. Ranks that were given different ones do
# nothing; what no chain depends on may differ.
code=0
ranks 2 run - -o piped --device "$pocl" --quiet --set /replicas=2 <ising.json || code=$?
[ $code = 0 ] || fail "a job on standard input: exit code $code"
expect 0 "$ERGOCL" run ising.json -o piped1 --device "$pocl" --quiet --set /replicas=2
same_points piped piped1
# shellcheck disable=SC2317  # called by `expect`
each() { # SET: of the second rank
    timeout -s KILL 400 mpirun -np 1 "$ERGOCL" run ising.json -o apart --device "$pocl" --quiet : \
        -np 1 "$ERGOCL" run ising.json -o apart --device "$pocl" --quiet --set "$1"
}
for key in /seed=8 /run/sweeps=2001 /output/snapshots=1; do
    expect 2 each "$key"
    says err "rank 1 was given another job than rank 0: ${key%=*}: "
    [ ! -e apart ] || fail "a folder of ranks with two jobs"
done
expect 0 each /checkpoint/every_seconds=77
same_points ising apart

# Without the samples their sums travel.
expect 0 "$ERGOCL" run ising.json -o sums --device "$pocl" --quiet --set /output/series=none
expect 0 ranks 2 run ising.json -o sums2 --device "$pocl" --quiet --set /output/series=none
same_points sums sums2
same_points sums ising

# Two implementations in one run: who got what is in the result.
expect 0 ranks 3 run potts.json -o mixed --device "$pocl,$other" --quiet
same_points potts mixed
says mixed/result.json '"rank": 1,' "$other_name" "$pocl_name"

# Two devices of one model: one rank gets one that is free, several get one each in turn, in a list
# too.
POCL_DEVICES="pthread pthread" expect 0 "$ERGOCL" run potts.json -o free --device "$pocl" --quiet
same_points potts free
POCL_DEVICES="pthread pthread" expect 0 ranks 3 run potts.json -o two --device "$pocl" --quiet
same_points potts two
$python - two/result.json <<'END' || fail "devices were not dealt out in turn"
import json, sys
ids = [d["id"] for d in json.load(open(sys.argv[1]))["device"]]
assert len(ids) == 3 and ids[0] == ids[2] and ids[0] != ids[1], ids
END
POCL_DEVICES="pthread pthread" expect 0 ranks 4 run potts.json -o list --device "$pocl,$other" --quiet
same_points potts list
$python - list/result.json <<'END' || fail "devices of a list were not dealt out in turn"
import json, sys
ids = [d["id"] for d in json.load(open(sys.argv[1]))["device"]]
assert len(ids) == 4 and len(set(ids)) == 3 and ids[1] == ids[3], ids
END

# A table from rank 0 alone.
expect 0 ranks 3 run potts.json -o table --device "$pocl"
[ "$(grep -c '^files:' out)" -eq 1 ] || fail "not one table"

# Stopped by a signal to one rank, which stops all, and resumed on other numbers of ranks, without
# mpirun too; a plain checkpoint resumed by ranks.
long=(--set /run/sweeps=6000 --quiet)
expect 0 "$ERGOCL" run potts.json -o whole --device "$pocl" "${long[@]}"
stopped 75 TERM rank mpirun -np 2 "$ERGOCL" run potts.json -o stop --device "$pocl" "${long[@]}"
says stop/result.json '"status": "stopped"'
ls stop/checkpoint-0-0 stop/checkpoint-0-1 || fail "no checkpoint of each rank"
cp -r stop stop1
cp -r stop damaged
expect 0 ranks 3 resume stop --device "$pocl" --quiet
same_points whole stop
no_rank_files stop
expect 0 "$ERGOCL" resume stop1 --device "$pocl" --quiet
same_points whole stop1
stopped 75 TERM rank "$ERGOCL" run potts.json -o plain --device "$pocl" "${long[@]}"
expect 0 ranks 2 resume plain --device "$pocl" --quiet
same_points whole plain
# finished: only reported, by any number
expect 0 ranks 2 resume stop --device "$pocl" --quiet
same_points whole stop

# kill -9 of one rank ends the others; what was saved goes on elsewhere.
mpirun -np 3 "$ERGOCL" run potts.json -o killed --device "$pocl" "${long[@]}" \
    --set /checkpoint/every_seconds=0.3 >out 2>err &
launcher=$!
wait_for killed/checkpoint
sleep 1
victim=$(pgrep -P $launcher | head -n 1)
start=$SECONDS
kill -s KILL "$victim"
code=0
wait $launcher || code=$?
[ $code -ne 0 ] || fail "a killed rank went unnoticed"
[ $((SECONDS - start)) -le 60 ] || fail "$((SECONDS - start)) s until the others ended"
expect 0 ranks 2 resume killed --device "$pocl" --quiet
same_points whole killed

# The folder is removed while ranks work: made again, with all that belongs there.
mpirun -np 2 "$ERGOCL" run potts.json -o gone --device "$pocl" "${long[@]:0:2}" \
    --set /checkpoint/every_seconds=0.1 >out 2>err &
launcher=$!
wait_for gone/checkpoint
rm -r gone
code=0
wait $launcher || code=$?
[ $code -eq 0 ] || { cat err; fail "a folder removed: exit code $code"; }
says err "gone was removed, and is made again"
same_points whole gone
no_rank_files gone

# A rank that fails ends all, with its message and exit code, within seconds.
start=$SECONDS
expect 3 ranks 3 run potts.json -o failed --device "$pocl,no such device,$pocl" --quiet
[ $((SECONDS - start)) -le 60 ] || fail "$((SECONDS - start)) s until all ended"
says err "no such device"
faults_end_all potts.json

# An earlier run goes when all ranks have a checkpoint: it is whole where one of them fails.
cp -r damaged earlier
before=$(cat earlier/checkpoint earlier/checkpoint-0-[01] | sha256sum)
FAULT_RANK=1 FAULT_PATH=earlier/ FAULT="fsync 5" expect 4 timeout -s KILL 400 mpirun -np 3 env LD_PRELOAD=./faults.so \
    "$ERGOCL" run potts.json -o earlier --overwrite --device "$pocl" --quiet
FAULT_RANK=0 FAULT_PATH=earlier/checkpoint FAULT="rename 5 1" expect 4 timeout -s KILL 400 mpirun -np 3 env \
    LD_PRELOAD=./faults.so "$ERGOCL" run potts.json -o earlier --overwrite --device "$pocl" --quiet
[ "$before" = "$(cat earlier/checkpoint earlier/checkpoint-0-[01] | sha256sum)" ] || fail "the earlier run is damaged"
cp -r earlier replaced
expect 0 ranks 2 resume earlier --device "$pocl" --quiet
same_points whole earlier
expect 0 ranks 2 run potts.json -o replaced --overwrite --device "$pocl" --quiet
same_points potts replaced
no_rank_files replaced

# The library asked to resume and to overwrite: the first means nothing to the second.
cat >again.c <<'C'
#include <ergocl/ergocl.h>
#include <stdio.h>

int main(int argc, char **argv) {
    struct ergo_context *ctx = ergo_context_create();
    const struct ergo_run_options options = {.device = argv[2], .overwrite = argc == 3};
    struct ergo_result *result = NULL;
    enum ergo_status status = ergo_ranks_start(ctx);
    if (status == ERGO_OK)
        status = ergo_resume(ctx, argv[1], &options, &result);
    ergo_result_destroy(result);
    fprintf(stderr, "%s\n", ergo_error_message(ctx));
    const int code = ergo_ranks_finish(ergo_status_exit_code(status));
    ergo_context_destroy(ctx);
    return code;
}
C
build=${ERGOCL%/*}
expect 0 "${CC:-gcc}" -std=c11 -I"$ERGOCL_ROOT/include" again.c -o again "$build/libergocl.so.0" -Wl,-rpath,"$build"
cp -r damaged again.run
expect 0 timeout -s KILL 400 mpirun -np 2 ./again again.run "$pocl"
same_points whole again.run

# Ended by a second signal before all ranks have a checkpoint: nobody says that there is one.
FAULT_RANK=1 FAULT_PATH=early/ FAULT="fsync hang" FAULT_MARK=$PWD/mark mpirun -np 2 env LD_PRELOAD=./faults.so \
    "$ERGOCL" run potts.json -o early --device "$pocl" --quiet >out 2>err &
launcher=$!
wait_for mark
wait_for early/checkpoint-0-0
victim=$(pgrep -P $launcher | head -n 1)
for ((i = 0; i < 60; i++)); do # twice; again, where the rank has been too slow to see two
    kill -s TERM "$victim" 2>/dev/null || break
    sleep 0.8
done
code=0
wait $launcher || code=$?
says_not err "the last checkpoint is valid"
[[ $code -ne 0 && $code -ne 75 ]] || fail "no checkpoint, and exit code $code"

# A damaged file of one rank is refused with its name.
byte=$(od -An -tu1 -j700 -N1 damaged/checkpoint-0-1)
printf '%b' "\\x$(printf %02x $((byte ^ 1)))" | dd of=damaged/checkpoint-0-1 bs=1 seek=700 conv=notrunc status=none
expect 4 ranks 2 resume damaged --device "$pocl"
says err checkpoint-0-1
exit 0
