/* One job of spins on a graph against the plain oracle, bit for bit: test_graphbits 'JOB', with '
 * for ". What kills a mutant of kind "graphbits". */
#include "kernel/graph_bench.h"
#include "mutants/bits.h"

int main(int argc, char **argv) {
    return mutant_bits(argc, argv, graph_bench_case, UINT64_C(0x1fffffffe));
}
