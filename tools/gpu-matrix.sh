#!/bin/bash
# On the GPU machine (tools/gpu-run.sh): contract and physics tests on NVIDIA and on PoCL, digests
# against the golden ones, one table; then the tests of ranks, with NVIDIA as second implementation.
#
#   tools/gpu-matrix.sh DEBS
set -euo pipefail
export MAKE_TARGETS="all test-programs" TEST_ON="${TEST_ON:-nvidia pocl}"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
exec "$(dirname "$0")/gpu-run.sh" "$@" tests/run-all matrix mpi
