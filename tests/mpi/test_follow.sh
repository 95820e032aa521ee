#!/usr/bin/env bash
# Points that follow one another, over ranks: chains of them are dealt as one, and go from a slow or
# a failed device to another rank with the state from which the next point starts.
# shellcheck source=tests/mpi/lib.sh
. "${0%/*}/lib.sh"
export POCL_MAX_PTHREAD_COUNT=1 # ranks are threads enough
make_faults

cat >potts.json <<'JOB'
{ "sampler": "swendsen-wang", "seed": "77", "replicas": 3,
  "system": { "q": 3, "size": [75, 45], "temperature": 1 }, "anneal": "/system/temperature",
  "run": { "equilibration": 10, "sweeps": 300, "measure_every": 2 },
  "scan": { "/system/temperature": [1.2, 1.1, 1, 0.9] }, "output": { "snapshots": 1 },
  "checkpoint": { "every_seconds": 0.2, "final_states": "drop" }, "tuning": { "path": 2 } }
JOB
expect 0 "$ERGOCL" run potts.json -o potts --device "$pocl" --quiet

goes_on_elsewhere potts.json
same_points potts whole

faults=("clEnqueueNDRangeKernel slow20000" "")
faulty_ranks 2 0 run potts.json -o slow --device "$pocl" --quiet
same_points potts slow

# Before the first point, in one, and where the next of a chain is to begin.
for after in 500 900; do
    faults=("" "clEnqueueNDRangeKernel -5 $after")
    faulty_ranks 2 0 run potts.json -o failed --overwrite --device "$pocl" --quiet --on-failure redistribute
    same_points potts failed
done
