#!/usr/bin/env bash
# Runs that are extended by other numbers of ranks than they had, points spread and lattices cut; and
# parts of a run that are made by ranks.
# shellcheck source=tests/mpi/lib.sh
. "${0%/*}/lib.sh"
export POCL_MAX_PTHREAD_COUNT=1 # ranks are threads enough
small_job >job.json
more=('--set' '/scan={"/system/temperature": [2.2, 2.25, 2.3]}' '--set' /replicas=2 '--set' /run/sweeps=4005)
expect 0 "$ERGOCL" run job.json -o whole --device "$pocl" --quiet "${more[@]}"
expect 0 ranks 2 run job.json -o longer --device "$pocl" --quiet
expect 0 ranks 3 resume longer --device "$pocl" --quiet "${more[@]}"
same_points whole longer
expect 0 "$ERGOCL" run job.json -o one --device "$pocl" --quiet
expect 0 ranks 3 run job.json -o one --device "$pocl" "${more[@]}"
says err "which is extended"
same_points whole one
expect 0 ranks 2 run job.json --part 1/2 -o part1 --device "$pocl" --quiet "${more[@]}"
expect 0 "$ERGOCL" run job.json --part 2/2 -o part2 --device "$pocl" --quiet "${more[@]}"
expect 0 "$ERGOCL" merge part1 part2 -o merged --quiet
same_points whole merged

cat >cut.json <<'JOB'
{ "sampler": "swendsen-wang", "seed": "99", "replicas": 2,
  "system": { "q": 3, "size": [173, 93], "temperature": 0.8, "shares": "equal" },
  "run": { "equilibration": 6, "sweeps": 10, "measure_every": 3 }, "distribute": "lattice" }
JOB
expect 0 "$ERGOCL" run cut.json -o cut-whole --device "$pocl" --quiet --set /run/sweeps=24
expect 0 ranks 2 run cut.json -o cut --device "$pocl" --quiet
expect 0 ranks 3 resume cut --device "$pocl" --quiet --set /run/sweeps=17
expect 0 "$ERGOCL" resume cut --device "$pocl" --quiet --set /run/sweeps=20 --set /distribute=points
expect 0 ranks 2 resume cut --device "$pocl" --quiet --set /run/sweeps=24 --set /distribute=lattice
same_points cut-whole cut
