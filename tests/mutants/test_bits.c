/*
 * One job against the serial oracle, bit for bit: test_bits 'JOB', with ' for ". What kills a
 * mutant of kind "bits"; the comparisons are those of tests/kernel/test_ising.c.
 */
#include "kernel/ising_bench.h"
#include "mutants/mutant.h"

static void test_job(void **state) {
    (void)state;
    struct ising_bench bench;
    assert_int_equal(ising_bench_open(&bench), 0);
    ising_begin(&bench, mutant_job);
    ising_run_case(&bench);
    /* and where the sweep number fills more than 32 bits */
    struct ising_state *s = bench.state;
    bench.step = s->e.step = UINT64_C(0x1fffffffe);
    ising_sweeps(&bench, 8);
    ising_end(&bench);
    ising_bench_close(&bench);
}

int main(int argc, char **argv) {
    return mutant_main(argc, argv, test_job);
}
