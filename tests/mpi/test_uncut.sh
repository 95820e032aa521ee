#!/usr/bin/env bash
# Are systems cut over devices that are not equally fast?
# shellcheck source=tests/mpi/lib.sh
. "${0%/*}/lib.sh"
export POCL_MAX_PTHREAD_COUNT=1 # ranks are threads enough
make_faults

cat >potts.json <<'JOB'
{ "sampler": "swendsen-wang", "seed": "78", "system": { "q": 3, "size": [75, 45], "temperature": 0.995 },
  "run": { "equilibration": 30, "sweeps": 1500, "measure_every": 2 }, "output": { "snapshots": 1 } }
JOB

# A lattice whose fastest device has nearly all of the speed is not cut, unless the job insists, and
# goes on as it began; equal devices cut it.
expect 0 "$ERGOCL" run potts.json -o alone --device "$pocl" --quiet
faults=("clEnqueueNDRangeKernel slow20000" "")
faulty_ranks 2 0 run potts.json -o slowest --device "$other,$pocl" --verbose
says err "not cut: rank 1 has"
same_points alone slowest
faulty_ranks 2 75 run potts.json -o later --device "$other,$pocl" --verbose --set /wall_time=0.001
faulty_ranks 2 0 resume later --device "$other,$pocl" --verbose --set /wall_time=600
says err "not cut: rank 1 has"
same_points alone later
faults=("" "")
tiles=(--set /tuning/tile_words=1 --set /tuning/tile_rows=8) # one build for rectangles of any shape
faulty_ranks 2 0 run potts.json -o insists --device "$other,$pocl" --verbose --set /distribute=lattice "${tiles[@]}"
says_not err "not cut"
says err "rank 0 has rows"
same_points alone insists
faulty_ranks 2 0 run potts.json -o equals --device "$pocl" --verbose "${tiles[@]}"
says err "rank 0 has rows"
same_points alone equals
exit 0
