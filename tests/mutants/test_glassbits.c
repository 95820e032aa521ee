/* One job of a spin glass against the plain oracle, bit for bit: test_glassbits 'JOB', with ' for
 * ". What kills a mutant of kind "glassbits". */
#include "kernel/glass_bench.h"
#include "mutants/bits.h"

int main(int argc, char **argv) {
    return mutant_bits(argc, argv, glass_bench_case, UINT64_C(0x1fffffffd));
}
