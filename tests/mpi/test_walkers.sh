#!/usr/bin/env bash
# One population of helium-dmc over ranks by walkers: any number of them, even and uneven shares, through stops and kills and resumes on another number of ranks, is the one of a process alone. The job
# is contract's: so few walkers that most parents' children are elsewhere, records, growth, curves and displaced atoms.
# shellcheck source=tests/mpi/lib.sh
. "${0%/*}/lib.sh"
export POCL_MAX_PTHREAD_COUNT=1 # ranks are threads enough

cp "$ERGOCL_ROOT/tests/contract/jobs/helium-dmc.json" walkers.json
cut=(--set /distribute=lattice --set /system/shares=equal)
expect 0 "$ERGOCL" run walkers.json -o whole --device "$pocl" --quiet
expect 0 "$ERGOCL" run walkers.json -o lone --device "$pocl" --quiet "${cut[@]}"
same_points whole lone
expect 0 ranks 2 run walkers.json -o two --device "$pocl" --verbose "${cut[@]}"
same_points whole two
says err "rank 1 has walkers 4 to 6, 42.9 % of the population" "bytes of copies sent"
devices=$pocl # rusticl compiles for 20 s
[ -z "${ERGOCL_TEST_FULL:-}" ] || devices+=,$other
expect 0 ranks 4 run walkers.json -o four --device "$devices" --quiet --set /distribute=lattice --set /system/shares=1,2
same_points whole four
# work-groups that share walkers; shares by a trial
expect 0 ranks 3 run walkers.json -o spread --device "$pocl" --quiet --set /distribute=lattice --set /tuning/path=2
same_points whole spread
# ancestors of the ground state: two windows end, in equilibration and later
pure=(--set /system/forward_structure=true --set /run/structure_every=16 --set /run/sweeps=100 --quiet)
expect 0 "$ERGOCL" run walkers.json -o pure --device "$pocl" "${pure[@]}"
expect 0 ranks 3 run walkers.json -o pure3 --device "$pocl" "${pure[@]}" "${cut[@]}"
same_points pure pure3

# stopped, and resumed on other numbers of ranks and without mpirun
mv whole first
long=("${pure[@]}" "${cut[@]}" --set /run/sweeps=400 --set /replicas=1 --set /checkpoint/every_seconds=0.1)
goes_on_elsewhere walkers.json "${long[@]}"
# kill -9 of a rank between two messages ends the others; what was saved goes on on fewer
FAULT_RANK=1 FAULT="MPI_Isend kill 900" expect 137 timeout -s KILL 400 mpirun -np 3 env LD_PRELOAD=./faults.so \
    "$ERGOCL" run walkers.json -o killed --device "$pocl" "${long[@]}"
expect 0 ranks 2 resume killed --device "$pocl" --quiet
same_points whole killed
# a message with walkers that is lost
in_a_round "drop 60 1" 2 walkers.json -o dropped "${cut[@]}" && wait $child && fail "a lost message went unnoticed"
says err "another message of rank"
if [ -n "${ERGOCL_TEST_FULL:-}" ]; then
    faults_end_all walkers.json "${cut[@]}"
    cp "$ERGOCL_ROOT/tests/contract/jobs/helium-dmc-triplet.json" triplet.json
    expect 0 "$ERGOCL" run triplet.json -o triplet --device "$pocl" --quiet
    for path in 1 2; do
        expect 0 ranks 3 run triplet.json -o triplet$path --device "$pocl" --quiet "${cut[@]}" --set /tuning/path=$path
        same_points triplet triplet$path
    done
fi

# What cannot be cut is refused, with the key; small populations are not cut unless the job says so.
expect 2 ranks 8 run walkers.json -o small --device "$pocl" --quiet "${cut[@]}"
says err /distribute "7 walkers cannot be cut over 8 ranks"
expect 2 "$ERGOCL" validate walkers.json --set /system/shares=3,0
says err /system/shares
expect 0 ranks 3 run walkers.json -o auto --device "$pocl" --verbose --set /replicas=1 --set /run/sweeps=9
says_not err "of the population"
