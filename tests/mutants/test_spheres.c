/*
 * One job of hard spheres against the serial oracle, bit for bit: test_spheres 'JOB', with ' for ".
 * What kills a mutant of kind "spheres"; the comparisons are those of tests/kernel/test_spheres.c.
 */
#include "kernel/spheres_bench.h"
#include "mutants/mutant.h"

static void test_job(void **state) {
    (void)state;
    struct spheres_bench bench;
    assert_int_equal(spheres_bench_open(&bench), 0);
    spheres_run_case(&bench, mutant_job, 20);
    spheres_bench_close(&bench);
}

int main(int argc, char **argv) {
    return mutant_main(argc, argv, test_job);
}
