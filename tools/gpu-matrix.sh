#!/bin/bash
# On the GPU machine (tools/gpu-run.sh): contract and physics tests on NVIDIA and on PoCL, the golden
# digests first, one table; then the tests of ranks, with NVIDIA as second implementation.
#
#   tools/gpu-matrix.sh DEBS [SUITE...]      matrix and mpi if left out
#
# TEST_ON chooses implementations, TEST_JOBS how many tests at a time, TEST_SECONDS when to end.
set -euo pipefail
debs=${1:?usage: gpu-matrix.sh DEBS [SUITE...]}
shift
[ $# -gt 0 ] || set -- matrix mpi
export MAKE_TARGETS="all test-programs" TEST_ON="${TEST_ON:-nvidia pocl}"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
exec "$(dirname "$0")/gpu-run.sh" "$debs" tests/run-all "$@"
