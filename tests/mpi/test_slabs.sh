#!/usr/bin/env bash
# One lattice of spin-lattice in slabs over ranks: any number of them, even and uneven shares, one or
# several sweeps between exchanges, devices of two implementations, stops, kills and resumes on another
# number of ranks leave the same result as one process with the whole lattice.
# shellcheck source=tests/mpi/lib.sh
. "${0%/*}/lib.sh"
export POCL_MAX_PTHREAD_COUNT=1 # ranks are threads enough

# An antiferromagnet of two chains, so that all sums and curves are there. Sides for which slabs of one,
# two and three ranks share kernels (src/engine/slab.c: build_layers).
cat >ising.json <<'JOB'
{ "sampler": "spin-lattice", "seed": "99", "distribute": "lattice",
  "system": { "size": [256, 44], "temperature": 2.3, "coupling": -1, "start": "random", "shares": "equal" },
  "run": { "equilibration": 7, "sweeps": 24, "measure_every": 3, "correlation_every": 2, "correlation_max": 5 },
  "scan": { "/system/temperature": [2.3, 1.9] }, "tuning": { "halo_sweeps": 5, "path": 3 },
  "output": { "snapshots": 2 } }
JOB
expect 0 "$ERGOCL" run ising.json -o whole --device "$pocl" --quiet --set /distribute=points
expect 0 "$ERGOCL" run ising.json -o one --device "$pocl" --quiet
same_points whole one
# A rank that fails while a block is in flight does not wait for others to add up what that has measured:
# they wait for its halo. Launches before the first block of this run: fewer than 1,000.
make_faults
FAULT_RANK=1 FAULT="clEnqueueNDRangeKernel -5 3000" expect 3 timeout -s KILL 40 mpirun -np 2 env LD_PRELOAD=./faults.so \
    "$ERGOCL" run ising.json -o late --device "$pocl" --quiet --set /tuning/halo_sweeps=1 --set /run/sweeps=20000 \
    --set /run/measure_every=1 --set /run/correlation_every=0 --set /output/snapshots=0
says err "Launching kernel"
expect 0 ranks 2 run ising.json -o two --device "$pocl" --verbose
same_points whole two
says err "rank 1 has layers 22 to 43, 50 % of the lattice" "of waiting each"
expect 0 ranks 3 run ising.json -o three --device "$pocl" --quiet --set /system/shares=measured
same_points whole three
expect 0 ranks 3 run ising.json -o uneven --device "$pocl" --quiet --set /system/shares=3,2,4 --set /tuning/halo_colours=1
same_points whole uneven
# an exchange after each sweep, kernels without explicit vectors
expect 0 ranks 5 run ising.json -o five --device "$pocl" --quiet --set /tuning/halo_sweeps=1 --set /tuning/lanes=2
same_points whole five
# several sweeps a launch
expect 0 ranks 2 run ising.json -o tile --device "$pocl" --quiet --set /tuning/path=2 --set /tuning/tile_sweeps=2
same_points whole tile
expect 0 ranks 3 run ising.json -o mixed --device "$pocl,$other" --quiet
same_points whole mixed
says mixed/result.json '"rank": 1,' "$other_name" "$pocl_name"

# The same in three dimensions with a byte per spin and random fields, planes instead of rows.
cat >bytes.json <<'JOB'
{ "sampler": "spin-lattice", "seed": "99", "distribute": "lattice",
  "system": { "size": [12, 10, 20], "temperature": 4.2, "coupling": -1, "random_field": 0.5, "start": "random",
              "shares": "equal" },
  "run": { "equilibration": 7, "sweeps": 24, "measure_every": 3, "correlation_every": 2, "correlation_max": 4 },
  "tuning": { "halo_sweeps": 2 }, "output": { "snapshots": 2 } }
JOB
expect 0 "$ERGOCL" run bytes.json -o planes --device "$pocl" --quiet --set /distribute=points
expect 0 ranks 2 run bytes.json -o planes2 --device "$pocl" --quiet --set /system/shares=2,1
same_points planes planes2
expect 0 ranks 5 run bytes.json -o planes5 --device "$pocl" --quiet --set /tuning/halo_colours=1
same_points planes planes5
expect 0 ranks 3 run bytes.json -o planes3 --device "$pocl,$other" --quiet
same_points planes planes3

# Couplings and fields of each site, a function of the site in the lattice, whoever has it; bits of
# bytes are more than eight to a word.
sed 's/"coupling": -1, "random_field": 0.5/"disorder": "gaussian", "random_field": 0.5/' bytes.json >bonds.json
expect 0 "$ERGOCL" run bonds.json -o bonds --device "$pocl" --quiet --set /distribute=points
expect 0 ranks 3 run bonds.json -o bonds3 --device "$pocl" --quiet --set /system/shares=2,1,2
same_points bonds bonds3

# Unit vectors: halos that last for a part of a sweep, with over-relaxation, couplings and fields of
# each site.
cat >vectors.json <<'JOB'
{ "sampler": "spin-lattice", "seed": "99", "distribute": "lattice",
  "system": { "model": "heisenberg", "size": [6, 4, 24], "temperature": 1.2, "over_relaxation": 1, "disorder": "gaussian",
              "random_field": 0.7, "field_distribution": "gaussian", "start": "random", "shares": "equal" },
  "run": { "equilibration": 7, "sweeps": 24, "measure_every": 3, "correlation_every": 2 },
  "scan": { "/system/temperature": [1.2, 0.8] }, "output": { "snapshots": 2 } }
JOB
expect 0 "$ERGOCL" run vectors.json -o vectors --device "$pocl" --quiet --set /distribute=points
expect 0 ranks 2 run vectors.json -o vectors2 --device "$pocl,$other" --quiet --set /tuning/halo_sweeps=1
same_points vectors vectors2
expect 0 ranks 3 run vectors.json -o vectors3 --device "$pocl" --quiet --set /system/shares=3,2,4 --set /tuning/halo_colours=1
same_points vectors vectors3
# made longer by another number of ranks
expect 0 ranks 2 run vectors.json -o shorter --device "$pocl" --quiet --set /run/sweeps=15
expect 0 ranks 3 resume shorter --device "$pocl" --quiet --set /run/sweeps=24
same_points vectors shorter

# Stopped, and resumed on other numbers of ranks and without mpirun.
long=(--set /run/sweeps=1500 --set /run/measure_every=30 --set /run/correlation_every=0
    --set /checkpoint/every_seconds=0.1 --quiet)
mv whole first
goes_on_elsewhere ising.json "${long[@]}"
# kill -9 of a rank between two messages ends the others; what was saved goes on on fewer
FAULT_RANK=1 FAULT="MPI_Isend kill 300" expect 137 timeout -s KILL 400 mpirun -np 3 env LD_PRELOAD=./faults.so \
    "$ERGOCL" run ising.json -o killed --device "$pocl" "${long[@]}"
expect 0 ranks 2 resume killed --device "$pocl" --quiet
same_points whole killed
faults_end_all ising.json

# What cannot be cut is refused, with the key.
expect 2 ranks 5 run ising.json -o small --device "$pocl" --quiet --set "/system/size=[256,8]"
says err /distribute "cannot be cut over 5 ranks"
expect 2 ranks 2 run ising.json -o small --device "$pocl" --quiet --set "/system/size=[64,34]"
says err /system/size/1 "a multiple of 4"
expect 2 ranks 5 run ising.json -o small --device "$pocl" --quiet --set /run/correlation_max=20
says err /run/correlation_max "that correlations are measured over"
expect 2 "$ERGOCL" validate ising.json --set /system/shares=3,0
says err /system/shares
expect 2 ranks 5 run vectors.json -o small --device "$pocl" --quiet --set "/system/size=[6,4,8]"
says err /distribute "cannot be cut over 5 ranks"
expect 2 "$ERGOCL" validate vectors.json --set "/system/size=[64]"
says err /distribute "chain of spins"
expect 2 "$ERGOCL" validate bytes.json --set "/system/size=[64]"
says err /distribute "chain of spins"
# small lattices are not cut unless the job says so
expect 0 ranks 3 run ising.json -o auto --device "$pocl" --verbose --set /distribute=auto
says_not err "of the lattice"
same_points first auto

# Configurations: one file, the same to the byte, whether ranks have points or slabs. (Four rows share random numbers.)
cat >frames.json <<'JOB'
{ "sampler": "spin-lattice", "seed": "5", "replicas": 2, "system": { "model": "ising", "size": [64, 48] },
  "run": { "equilibration": 30, "sweeps": 180, "measure_every": 3, "correlation_every": 0 }, "scan": { "/system/temperature": [2.2, 3.4] },
  "output": { "snapshots": 0, "configurations_every": 6 } }
JOB
for how in points lattice; do
    expect 0 "$ERGOCL" run frames.json -o "one-$how" --device "$pocl" --quiet --set /distribute=$how
    expect 0 ranks 3 run frames.json -o "three-$how" --device "$pocl" --quiet --set /distribute=$how
    cmp "one-$how/configurations.h5" "three-$how/configurations.h5" || fail "$how: other frames over ranks"
done
