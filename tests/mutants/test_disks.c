/*
 * One job of hard disks against the serial oracle, bit for bit: test_disks 'JOB', with ' for ".
 * What kills a mutant of kind "disks"; the comparisons are those of tests/kernel/test_disks.c.
 */
#include "kernel/disks_bench.h"

static char *job;

static void test_job(void **state) {
    (void)state;
    struct disks_bench bench;
    assert_int_equal(disks_bench_open(&bench), 0);
    disks_run_case(&bench, job, 20);
    disks_bench_close(&bench);
}

int main(int argc, char **argv) {
    if (argc != 2)
        return 2;
    job = argv[1];
    for (char *c = job; *c; c++)
        *c = *c == '\'' ? '"' : *c;
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_job)};
    return cmocka_run_group_tests(tests, NULL, NULL) ? 1 : 0;
}
