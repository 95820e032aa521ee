#!/usr/bin/env bash
# Points on unequal devices, and devices that fail: they go from rank to rank, with their states or
# from their beginning, and leave the result of one process.
# shellcheck source=tests/mpi/lib.sh
. "${0%/*}/lib.sh"
export POCL_MAX_PTHREAD_COUNT=1 # ranks are threads enough
make_faults

# Sums of samples that are not kept and counts of curves go along, too; checkpoints now and then.
cat >potts.json <<'JOB'
{ "sampler": "swendsen-wang", "seed": "77", "replicas": 3,
  "system": { "q": 3, "size": [75, 45], "temperature": 1 },
  "run": { "equilibration": 30, "sweeps": 1500, "measure_every": 2 },
  "scan": { "/system/temperature": [0.9, 0.995, 1.2] }, "output": { "snapshots": 3 },
  "checkpoint": { "every_seconds": 0.2 }, "tuning": { "path": 2 } }
JOB
expect 0 "$ERGOCL" run potts.json -o potts --device "$pocl" --quiet

# warned DIR RANK...: the result says of these ranks, and of no others, that their devices failed.
warned() {
    $python - "$@" <<'END' || fail "$1: not the warnings that were expected"
import json, re, sys
found = [re.match(r"the device of rank (\d+), .* failed at \d{4}-\d\d-\d\dT[\d:]+Z: .*CL_", w) for w in
         json.load(open(sys.argv[1] + "/result.json"))["warnings"]]
found = sorted(int(m.group(1)) for m in found if m)
assert found == [int(r) for r in sys.argv[2:]], (found, sys.argv[2:])
END
}

# All work was done, and counted, once: what failed devices have lost is not counted.
once() {
    $python - "$1" <<'END' || fail "$1: other work than that of one process"
import json, sys
a, b = (json.load(open(d + "/result.json"))["rate"] for d in ("potts", sys.argv[1]))
assert abs(b["value"] * b["seconds"] / (a["value"] * a["seconds"]) - 1) < 1e-4, (a, b)
END
}

# A slow rank gives points away, one that becomes slow too.
faults=("clEnqueueNDRangeKernel slow20000" "")
faulty_ranks 2 0 run potts.json -o slow --device "$pocl" -vv
same_points potts slow
once slow
says err "if dealt anew"
faults=("" "clEnqueueNDRangeKernel slow20000 2500" "")
faulty_ranks 3 0 run potts.json -o slower --device "$pocl" --quiet --set /output/series=none
expect 0 "$ERGOCL" run potts.json -o sums --device "$pocl" --quiet --set /output/series=none
same_points sums slower
once slower

# A device fails: as its first kernel starts, before and after checkpoints, while others have done
# theirs; on rank 0, which has the results, too.
for case in "0 0" "0 1" "1200 1" "2500 0"; do
    read -r after rank <<<"$case"
    faults=("" "" "")
    faults[rank]="clEnqueueNDRangeKernel -5 $after"
    faulty_ranks 3 0 run potts.json -o failed --overwrite --device "$pocl" --quiet --on-failure redistribute
    same_points potts failed
    warned failed "$rank"
    once failed
    [ -z "$(find failed -name 'checkpoint-*')" ] || fail "files of ranks are left behind"
done
# other calls; without series
faults=("" "clEnqueueReadBuffer -2 40")
faulty_ranks 2 0 run potts.json -o failed --overwrite --device "$pocl" --quiet --on-failure redistribute \
    --set /output/series=none
same_points sums failed
warned failed 1
# the last points: those of the slow rank are all that is left
faults=("" "clEnqueueNDRangeKernel slow20000" "clEnqueueNDRangeKernel -5 2500")
faulty_ranks 3 0 run potts.json -o failed --overwrite --device "$pocl" --quiet --on-failure redistribute
same_points potts failed
warned failed 2
# two of three
faults=("clEnqueueNDRangeKernel -2 1500" "" "clEnqueueNDRangeKernel -5 2500")
faulty_ranks 3 0 run potts.json -o failed --overwrite --device "$pocl" --quiet --on-failure redistribute
same_points potts failed
warned failed 0 2
once failed

# All of them: a checkpoint, from which other devices go on, and one more that fails there.
start=$SECONDS
faults=("clEnqueueNDRangeKernel -5 2000" "clEnqueueNDRangeKernel -5 2500")
faulty_ranks 2 3 run potts.json -o all --device "$pocl" --quiet --on-failure redistribute
[ $((SECONDS - start)) -le 60 ] || fail "$((SECONDS - start)) s until the run had ended"
says err "no rank has a device that works any more" "ergocl resume all"
cp -r all alone
faults=("" "clEnqueueNDRangeKernel -5 300")
faulty_ranks 2 0 resume all --device "$pocl" --quiet --on-failure redistribute
same_points potts all
warned all 1
expect 0 "$ERGOCL" resume alone --device "$pocl" --quiet --on-failure redistribute
same_points potts alone

# Without the option, for an audit that fails, and of one process, the run ends.
faults=("" "clEnqueueNDRangeKernel -5 1200")
faulty_ranks 2 3 run potts.json -o stop --device "$pocl" --quiet
faulty_ranks 2 3 run potts.json -o stop --overwrite --device "$pocl" --quiet --on-failure stop
faults=("" "clEnqueueNDRangeKernel drop 1200")
faulty_ranks 2 5 run potts.json -o audit --device "$pocl" --quiet --on-failure redistribute
FAULT="clEnqueueNDRangeKernel -5 1200" expect 3 env LD_PRELOAD=./faults.so "$ERGOCL" run potts.json -o one \
    --device "$pocl" --quiet --on-failure redistribute
expect 2 "$ERGOCL" run potts.json -o no --on-failure ignore
says err '"ignore"' '"redistribute"'

# Ladders are divided anew when a rank becomes slower (by the clock, and half a minute of it).
if [ -n "${ERGOCL_TEST_FULL:-}" ]; then
    cat >rungs.json <<'JOB'
{ "sampler": "spin-lattice", "seed": "5",
  "system": { "model": "spin-glass", "size": [4, 4, 4], "temperature": 1.1, "ladder": 8,
    "temperature_max": 2.5, "swap_every": 3 },
  "run": { "equilibration": 10, "sweeps": 12000, "measure_every": 100 }, "output": { "snapshots": 0 } }
JOB
    expect 0 "$ERGOCL" run rungs.json -o rungs --device "$pocl" --quiet
    faults=("" "clEnqueueNDRangeKernel slow20000 15000")
    faulty_ranks 2 0 run rungs.json -o divided --device "$pocl" --verbose
    same_points rungs divided
    [ "$(grep -c 'rank 1 has temperatures' err)" -gt 1 ] || fail "a slow rank has kept its part"
fi

# A lattice that is cut, joined by rounds and by gather: a rank becomes slow, and the rectangles are other ones from then on.
if [ -n "${ERGOCL_TEST_FULL:-}" ]; then
    cat >lattice.json <<'JOB'
{ "sampler": "swendsen-wang", "seed": "78", "system": { "q": 3, "size": [256, 256], "temperature": 1 },
  "run": { "equilibration": 0, "sweeps": 5000, "measure_every": 100 } }
JOB
    expect 0 "$ERGOCL" run lattice.json -o lattice --device "$pocl" --quiet
    for merge in rounds gather; do
        faults=("" "clEnqueueNDRangeKernel slow20 12000") # far beyond the trial
        faulty_ranks 2 0 run lattice.json -o divided --overwrite --device "$pocl" -v --set /distribute=lattice --set /system/merge=$merge
        same_points lattice divided
        [ "$(grep -c 'rank 1 has rows' err)" -gt 1 ] || fail "by $merge: the slow rank keeps its share"
    done
fi

# A lattice that is cut stops.
faults=("" "clEnqueueNDRangeKernel -5 300")
faulty_ranks 2 3 run potts.json -o cut --device "$pocl" --quiet --on-failure redistribute --set /distribute=lattice \
    --set /tuning/tile_words=1 --set /tuning/tile_rows=8
exit 0
