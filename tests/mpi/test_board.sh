#!/usr/bin/env bash
# One box of lj-gcmc on a checkerboard, in slabs over ranks: any number of them, devices of two
# implementations, cells and neighbourhoods that lack room, stops and resumes on another number of
# ranks leave the same result as one process with the whole box.
# shellcheck source=tests/mpi/lib.sh
. "${0%/*}/lib.sh"
export POCL_MAX_PTHREAD_COUNT=1 # ranks are threads enough

# Eight layers of blocks. Tails need N of all ranks, tuned steps the counts of all, and g(r) reaches
# over two blocks. Cells and neighbourhoods of active cells lack room.
cat >board.json <<'JOB'
{ "sampler": "lj-gcmc", "seed": "40", "replicas": 2, "distribute": "lattice",
  "system": { "box": [5, 6, 20], "cutoff": 1.2, "temperature": 1.4, "activity": 0.3, "particles": 40,
              "tail_correction": true, "decomposition": "checkerboard", "cell_trials": 8, "max_displacement": 0.4, "tune_steps": 20 },
  "run": { "equilibration": 21, "sweeps": 42, "measure_every": 3, "curve_every": 5, "gr_bins": 10 },
  "tuning": { "slots": 1, "tile": 32, "capacity": 1 },
  "output": { "snapshots": 2, "trajectory_every": 21 } }
JOB
expect 0 "$ERGOCL" run board.json -o whole --device "$pocl" --quiet --set /distribute=points
expect 0 "$ERGOCL" run board.json -o one --device "$pocl" --quiet
same_points whole one
expect 0 ranks 2 run board.json -o two --device "$pocl" --verbose
same_points whole two
says err "rank 1 has layers 16 to 31, 50 % of the lattice"
diff -r two/trajectory whole/trajectory >/dev/null || fail "another trajectory over ranks"
expect 0 ranks 3 run board.json -o mixed --device "$pocl,$other" --quiet
same_points whole mixed
says mixed/result.json "$other_name" "$pocl_name"
# without g(r) a slab knows one block of its neighbours; and it may have one
expect 0 "$ERGOCL" run board.json -o plain --device "$pocl" --quiet --set /distribute=points --set /run/curve_every=0
expect 0 ranks 8 run board.json -o eight --device "$pocl" --quiet --set /run/curve_every=0
same_points plain eight

# Many trials in each active cell.
part=(--set "/system/box=[14.5,14.1,14.3]" --set /system/cutoff=1 --set /system/particles=1500 --set /system/cell_trials=64
    --set /system/tail_correction=false --set /run/curve_every=0 --set /run/sweeps=6 --set /run/equilibration=0 --set /system/tune_steps=0)
expect 0 "$ERGOCL" run board.json -o part --device "$pocl" --quiet "${part[@]}" --set /distribute=points
expect 0 ranks 2 run board.json -o part2 --device "$pocl" --quiet "${part[@]}"
same_points part part2

# Stopped, and resumed on other numbers of ranks and without mpirun.
mv whole first
goes_on_elsewhere board.json --set /run/sweeps=150 --set /run/curve_every=0 --set /checkpoint/every_seconds=0.1 --quiet
# made longer by another number of ranks
expect 0 ranks 2 run board.json -o shorter --device "$pocl" --quiet --set /run/sweeps=21
expect 0 ranks 3 resume shorter --device "$pocl" --quiet --set /run/sweeps=42
same_points first shorter
# what fails in a rank ends all
faults_end_all board.json --set /run/curve_every=0

# Kernels that are broken between ranks, which one slab by itself would not show: the audit of the start
# ends the run. A halo that is lost, edges of another block, a halo on one side alone.
cp -r "$ERGOCL_ROOT/cl" cl
while read -r what; do
    sed "$what" "$ERGOCL_ROOT/cl/lj_gcmc/board_cut.cl" >cl/lj_gcmc/board_cut.cl
    cmp -s cl/lj_gcmc/board_cut.cl "$ERGOCL_ROOT/cl/lj_gcmc/board_cut.cl" && fail "nothing is changed by $what"
    ERGOCL_CL_DIR=$PWD/cl expect 5 ranks 2 run board.json -o broken --overwrite --device "$pocl" --quiet --set /run/curve_every=0
    says err "audit of"
done <<'BROKEN'
s/if (cell \/ (shape.n\[0\] \* shape.n\[1\]) < last)/if (0)/
s/which ? first + count - deep + layer/which ? first + layer/
s/p >= slots || (which \&\& twice)/p >= slots || which/
BROKEN

# What cannot be cut is refused, with the key.
expect 2 ranks 5 run board.json -o small --device "$pocl" --quiet
says err /distribute "fewer than the 8 that neighbours need"
expect 2 ranks 5 run board.json -o small --device "$pocl" --quiet --set "/system/box=[5,6,9]"
says err /distribute "a box of 12 layers cannot be cut over 5 ranks"
sed 's/"decomposition": "checkerboard", "cell_trials": 8, //; s/"tile": 32, //' board.json >chain.json
expect 2 "$ERGOCL" validate chain.json
says err /distribute "this one has none"
# small boxes are not cut unless the job says so
expect 0 ranks 3 run board.json -o auto --device "$pocl" --verbose --set /distribute=auto
says_not err "of the lattice"
same_points first auto
