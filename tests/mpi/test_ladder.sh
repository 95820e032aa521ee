#!/usr/bin/env bash
# Tempering of spin glasses over ranks: words of samples are dealt out, ladders stay whole. Any number
# of ranks, more of them than words, devices of two implementations, and a stop and a resume on another
# number of ranks leave the result of one process: digests, curves, exchanges and round trips.
# shellcheck source=tests/mpi/lib.sh
. "${0%/*}/lib.sh"
export POCL_MAX_PTHREAD_COUNT=1 # ranks are threads enough

# 3 words; an exchange that nothing measures between two that are measured
cat >ladder.json <<'JOB'
{ "sampler": "spin-lattice", "seed": "5",
  "system": { "model": "spin-glass", "size": [4, 4, 4], "samples": 96, "temperature": 1.1, "ladder": 4,
    "temperature_max": 2, "swap_every": 3 },
  "run": { "equilibration": 10, "sweeps": 300, "measure_every": 10 }, "output": { "snapshots": 2 } }
JOB
expect 0 "$ERGOCL" run ladder.json -o one --device "$pocl" --quiet
$python - <<'PYTHON' || fail "no exchanges, or no round trips: not what this test is about"
import json
o = json.load(open("one/result.json"))["points"][0]["observables"]
raise SystemExit(not (0.1 < o["swap_acceptance"]["mean"] < 0.9 and o["round_trips"]["mean"] > 0))
PYTHON
for n in 2 3 4; do
    expect 0 ranks $n run ladder.json -o ranks$n --device "$pocl" --verbose
    same_points one ranks$n
    [ "$(ls one/snapshots)" = "$(ls ranks$n/snapshots)" ] || fail "other snapshots with $n ranks"
done
says err "has temperatures 3 to 4 of 4, of word 3"
expect 0 ranks 2 run ladder.json -o mixed --device "$pocl,$other" --quiet --set /distribute=lattice
same_points one mixed
# two chains on three ranks: each over all
expect 0 "$ERGOCL" run ladder.json -o two --device "$pocl" --quiet --set /replicas=2
expect 0 ranks 3 run ladder.json -o two3 --device "$pocl" --quiet --set /replicas=2
same_points two two3
# other models are not cut: refused when the job insists, and whole when it does not
expect 2 "$ERGOCL" run ladder.json -o no --device "$pocl" --quiet --set /distribute=lattice \
    --set '/system={"model": "sherrington-kirkpatrick", "n": 8, "temperature": 2}'
says err "/distribute" "sherrington-kirkpatrick"

# stopped, and resumed by another number of ranks, and by none
long=(--set /run/sweeps=150000 --set /run/measure_every=500 --quiet)
goes_on_elsewhere ladder.json "${long[@]}"
