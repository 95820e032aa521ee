#!/usr/bin/env bash
# A build without MPI: it links, says so, gives the same results, and refuses to be several processes.
# shellcheck source=tests/cli/lib.sh
. "${0%/*}/lib.sh"

build=${ERGOCL%/*}
libraries=$(make -C "$ERGOCL_ROOT" --no-print-directory -s MPI=none BUILD="$PWD/build" print-libs)

# What make MPI=none would build, from the objects that are there.
cp "$build/libergocl.a" .
ar d libergocl.a mpi.o
expect 0 "${CC:-gcc}" -std=c11 -I"$ERGOCL_ROOT/src" -c "$ERGOCL_ROOT/src/dist/none.c"
ar r libergocl.a none.o
# shellcheck disable=SC2046,SC2086 # lists of words
expect 0 "${CC:-gcc}" -o alone "$build"/src/cli/*.o libergocl.a $libraries -pthread
expect 0 ldd ./alone
says_not out libmpi
expect 0 ./alone --version
says out "MPI: none"
expect 0 make -C "$ERGOCL_ROOT" --no-print-directory -n MPI=none BUILD="$PWD/build" all
says out src/dist/none.c
says_not out src/dist/mpi.c lmpi

cat >job.json <<'JOB'
{ "sampler": "spin-lattice", "seed": "7", "system": { "size": [32, 32], "temperature": 2 }, "run": { "sweeps": 200 } }
JOB
expect 0 "$ERGOCL" run job.json -o with --quiet
expect 0 ./alone run job.json -o without --quiet
same_digests with without

# Each would run the whole job: mpirun of Open MPI, of MPICH, srun.
for launcher in OMPI_COMM_WORLD_SIZE=2 PMI_SIZE=3 "PMIX_RANK=0 SLURM_STEP_NUM_TASKS=4"; do
    # shellcheck disable=SC2086 # one or two variables
    expect 3 env $launcher ./alone run job.json -o several --quiet
    says err "${launcher##*=} processes" "without MPI"
    [ ! -e several ] || fail "a folder was made"
done
expect 0 env PMI_SIZE=1 PMI_RANK=0 ./alone run job.json -o one --quiet
same_digests with one
exit 0
