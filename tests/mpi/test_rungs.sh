#!/usr/bin/env bash
# One ladder of temperatures divided over ranks, where words of samples are fewer: any number of
# ranks, even and uneven parts, parts of a single temperature, more ranks than parts, devices of two
# implementations, stops, kills and resumes on another number of ranks leave the result of one
# process: digests, curves, exchanges and round trips.
# shellcheck source=tests/mpi/lib.sh
. "${0%/*}/lib.sh"
export POCL_MAX_PTHREAD_COUNT=1 # ranks are threads enough

# One word; 4 quads of slots: 2 + 2, 1 + 1 + 2, 1 + 1 + 1 + 1 over the ranks; an exchange that nothing
# measures between two that are measured
cat >rungs.json <<'JOB'
{ "sampler": "spin-lattice", "seed": "5",
  "system": { "model": "spin-glass", "size": [4, 4, 4], "temperature": 1.1, "ladder": 8,
    "temperature_max": 2.5, "swap_every": 3, "shares": "1,1,2" },
  "run": { "equilibration": 10, "sweeps": 300, "measure_every": 10 }, "output": { "snapshots": 2 } }
JOB
expect 0 "$ERGOCL" run rungs.json -o one --device "$pocl" --quiet
$python - <<'PYTHON' || fail "no exchanges, or no round trips: not what this test is about"
import json
p = json.load(open("one/result.json"))["points"][0]
o = p["observables"]
raise SystemExit(not (0.2 < o["swap_acceptance"]["mean"] < 0.9 and o["round_trips"]["mean"] > 0))
PYTHON
for n in 2 3 5; do # four below
    expect 0 ranks $n run rungs.json -o ranks$n --device "$pocl" --verbose
    says err "rank $((n < 5 ? n - 1 : 3)) has temperatures $((n < 5 ? 5 : 7)) to 8 of 8, of word 1"
    same_points one ranks$n
    [ "$(ls one/snapshots)" = "$(ls ranks$n/snapshots)" ] || fail "other snapshots with $n ranks"
done
says err "some ranks are idle"
expect 0 ranks 2 run rungs.json -o mixed --device "$pocl,$other" --quiet --set /distribute=lattice
same_points one mixed
expect 2 "$ERGOCL" validate rungs.json --set /system/shares=3,0
says err /system/shares
# two words: a rank with a whole ladder, and two that share one; and two chains, each over all ranks
expect 0 "$ERGOCL" run rungs.json -o words --device "$pocl" --quiet --set /system/samples=64 --set /replicas=2
expect 0 ranks 3 run rungs.json -o words3 --device "$pocl" --quiet --set /system/samples=64 --set /replicas=2
same_points words words3
# a temperature each, whatever their speeds; couplings that are not +-1, in global memory
single=(--set /system/ladder=3 --set /system/copies=4 --set '/system/disorder="gaussian"'
    --set /tuning/path=3 --set /system/shares=measured --quiet)
expect 0 "$ERGOCL" run rungs.json -o single --device "$pocl" "${single[@]}"
expect 0 ranks 3 run rungs.json -o single3 --device "$pocl" "${single[@]}"
same_points single single3

# stopped, and resumed by another number of ranks, and by none; killed
long=(--set /run/sweeps=30000 --set /run/measure_every=100 --set /checkpoint/every_seconds=0.1 --quiet)
goes_on_elsewhere rungs.json "${long[@]}"
[ -n "${ERGOCL_TEST_FULL:-}" ] || exit 0
stopped 137 KILL rank mpirun -np 3 "$ERGOCL" run rungs.json -o killed --device "$pocl" "${long[@]}"
expect 0 ranks 4 resume killed --device "$pocl" --quiet
same_points whole killed
