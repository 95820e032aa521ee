/* One job of facilitated dynamics against the plain oracle, bit for bit: test_facbits 'JOB', with '
 * for ". What kills a mutant of kind "facbits". */
#include "kernel/facilitated_bench.h"
#include "mutants/bits.h"

int main(int argc, char **argv) {
    return mutant_bits(argc, argv, fac_bench_case, UINT64_C(0x1fffffffe));
}
