/* One job of a fully connected spin glass against the plain oracle, bit for bit: test_densebits
 * 'JOB', with ' for ". What kills a mutant of kind "densebits". */
#include "kernel/dense_bench.h"
#include "mutants/bits.h"

int main(int argc, char **argv) {
    return mutant_bits(argc, argv, dense_bench_case, UINT64_C(0x1fffffffd));
}
