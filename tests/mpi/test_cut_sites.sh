#!/usr/bin/env bash
# A cubic lattice cut over ranks in slabs of layers, of swendsen-wang: the result of one process with the whole lattice, on
# any number of ranks and on devices of two implementations, through stops and resumes on another number of ranks. What is
# not cut is refused, or with "auto" not cut.
# shellcheck source=tests/mpi/lib.sh
. "${0%/*}/lib.sh"
export POCL_MAX_PTHREAD_COUNT=1 # ranks are threads enough

# In order: clusters that lead around the lattice, through all ranks.
cat >cubic.json <<'JOB'
{ "sampler": "swendsen-wang", "seed": "5", "replicas": 2,
  "system": { "q": 3, "size": [20, 7, 8], "temperature": 1.75 },
  "run": { "equilibration": 5, "sweeps": 24, "measure_every": 3, "observables": "energy,order_parameter,binder" },
  "output": { "snapshots": 1 } }
JOB
cut=(--set /distribute=lattice --quiet)
expect 0 "$ERGOCL" run cubic.json -o whole --device "$pocl" --quiet
expect 0 "$ERGOCL" run cubic.json -o alone --device "$pocl" "${cut[@]}"
same_points whole alone
expect 0 ranks 4 run cubic.json -o four --device "$pocl,$other" "${cut[@]}"
same_points whole four
# "auto": cut where there are fewer chains than ranks
expect 0 ranks 4 run cubic.json -o auto --device "$pocl" --quiet
same_points whole auto
# stopped, and on another number of ranks
long=(--set /run/sweeps=900 --set /checkpoint/every_seconds=0.1 "${cut[@]}")
expect 0 "$ERGOCL" run cubic.json -o long --device "$pocl" "${long[@]}" --set /distribute=points
stopped 75 TERM rank mpirun -np 4 "$ERGOCL" run cubic.json -o stop --device "$pocl" "${long[@]}"
expect 0 "$ERGOCL" resume stop --device "$pocl" --quiet
same_points long stop
# clusters are not measured in pieces
expect 2 "$ERGOCL" validate cubic.json --set /distribute=lattice --set '/run/observables="psi2"'
says err "/distribute" "need no clusters"
# sides that the last rank alone has
sides=(--set /system/q=2 --set '/system/boundary=["open","periodic","antiperiodic"]' --set /replicas=1)
expect 0 "$ERGOCL" run cubic.json -o sides --device "$pocl" --quiet "${sides[@]}"
expect 0 ranks 3 run cubic.json -o sides3 --device "$pocl" "${cut[@]}" "${sides[@]}"
same_points sides sides3
if [ -n "${ERGOCL_TEST_FULL:-}" ]; then
    sides=(--set /replicas=1 --set '/system/boundary=["periodic","periodic","open"]')
    expect 0 "$ERGOCL" run cubic.json -o end --device "$pocl" --quiet "${sides[@]}"
    expect 0 ranks 2 run cubic.json -o end2 --device "$pocl" "${cut[@]}" "${sides[@]}"
    same_points end end2
fi
# too few layers for each rank
expect 3 ranks 3 run cubic.json -o few --device "$pocl" "${cut[@]}" --set '/system/size=[8,8,5]'
