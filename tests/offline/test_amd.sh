#!/usr/bin/env bash
# Programs of the golden jobs, compiled for AMD GPUs: on each push, of those that differ in options alone, one for gfx942
# and another one for gfx1100; with $ERGOCL_TEST_FULL, and to write the table, all of them for all. No error, no vector
# register spilled, no more local memory than there is, and no wavefront lost against the table of bench/results/offline.
set -u
: "${ERGOCL:?run me through tests/run-all}" "${ERGOCL_ROOT:?run me through tests/run-all}"
table=$ERGOCL_ROOT/bench/results/offline/amd-clang-19.txt
offline=$ERGOCL_ROOT/tools/offline.py

for need in clang-19 ld.lld-19 llvm-readelf-19; do
    command -v $need >/dev/null || {
        echo "no $need (Debian 12: clang-19, lld-19, llvm-19)"
        exit 77
    }
done
[ -e /usr/lib/clc/amdgcn--amdhsa.bc ] || {
    echo "no libclc for amdgcn (Debian 12: libclc-15)"
    exit 77
}
version="clang $(clang-19 --version | sed -n 's/.*version \([0-9.]*\).*/\1/p')"

targets=gfx942 one=(--which 1) other=(--which 2)
[ -z "${ERGOCL_TEST_FULL:-}" ] && [ "${1-}" != --write ] || targets=gfx90a,gfx942 one=() other=()

{
    "$offline" programs gfx9 --ergocl "$ERGOCL" --pretend mi300x &&
        "$offline" programs gfx11 --ergocl "$ERGOCL" --pretend rx7900 &&
        "$offline" compile gfx9 --with clang-19 --for $targets "${one[@]}" --json gfx9.json &&
        "$offline" compile gfx11 --with clang-19 --for gfx1100 "${other[@]}" --json gfx11.json
} || exit 1
if [ "${1-}" = --write ]; then
    "$offline" table gfx9.json gfx11.json --write "$table" --said "tests/offline/test_amd.sh --write" \
        --said "$(date +%F), $version, libclc, -O3, programs of the golden jobs as on mi300x (gfx90a, gfx942) and rx7900 (gfx1100)" \
        --said "the largest of all programs that have the kernel; registers, scalars (with spills) of a work-item, wavefronts of a SIMD" \
        --said "that fit into its registers, bytes of scratch a work-item and of local memory that is not an argument a work-group"
    exit
fi
"$offline" check gfx9.json gfx11.json --against "$table" --version "$version" --all
