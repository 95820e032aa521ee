/*
 * One job of hard disks against the serial oracle, bit for bit: test_disks 'JOB', with ' for ".
 * What kills a mutant of kind "disks"; the comparisons are those of tests/kernel/test_disks.c.
 */
#include "kernel/disks_bench.h"
#include "mutants/mutant.h"

static void test_job(void **state) {
    (void)state;
    struct disks_bench bench;
    assert_int_equal(disks_bench_open(&bench), 0);
    disks_run_case(&bench, mutant_job, 20);
    disks_bench_close(&bench);
}

int main(int argc, char **argv) {
    return mutant_main(argc, argv, test_job);
}
