#!/usr/bin/env bash
# kill -9 of one of two ranks, at any moment of runs of all samplers: tests/cli/test_kill.sh.
# shellcheck source=tests/mpi/lib.sh
. "${0%/*}/lib.sh"
# shellcheck disable=SC2034 # for the script below
launcher=(timeout -k 5 120 mpirun -np 2) # 124, which is no kill, where they hang
export POCL_MAX_PTHREAD_COUNT=1 ERGOCL_DEVICE=$pocl KILLS=${KILLS:-1}
# shellcheck source=tests/cli/test_kill.sh
. "$ERGOCL_ROOT/tests/cli/test_kill.sh"
