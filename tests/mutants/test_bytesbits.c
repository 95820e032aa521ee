/* One job with a byte per spin against the plain oracle, bit for bit: test_bytesbits 'JOB', with '
 * for ". What kills a mutant of kind "bytesbits". */
#include "kernel/bytes_bench.h"
#include "mutants/bits.h"

int main(int argc, char **argv) {
    return mutant_bits(argc, argv, bytes_bench_case, UINT64_C(0x1fffffffe));
}
