/* The hard-sphere kernels against the serial oracle, bit for bit: boxes from two cells per side on,
 * cubic and not, narrow and wide cells, several work-groups, numbers of moves, walls and
 * fields. */
#include "kernel/spheres_bench.h"

static struct spheres_bench bench;

static const struct {
    bool small; /* also under Oclgrind */
    const char *system;
    unsigned group, listed, team;
} cases[] = {
    {true, "\"n\": 2, \"box\": [2.1, 2.3, 2.8]", 1, 0, 0},
    {false, "\"n\": 4, \"packing_fraction\": 0.2", 4, 0, 4},
    {true, "\"n\": 32, \"packing_fraction\": 0.25, \"moves_per_cell\": 1", 16, 0, 2},
    {false, "\"n\": 108, \"packing_fraction\": 0.5", 0, 0, 0}, /* two spheres a cell */
    {false, "\"n\": 256, \"packing_fraction\": 0.54, \"moves_per_cell\": 7", 8, 0, 2},
    {false, "\"n\": 230, \"box\": [6.1, 8.7, 4.6], \"max_displacement\": 0.3", 32, 0, 8},
    {true, "\"n\": 60, \"packing_fraction\": 0.4", 16, 3, 2}, /* lists too short for most */
    {true, "\"n\": 8, \"box\": [2.1, 2.3, 3.4], \"walls\": \"z\", \"gravity\": 1.5", 4, 0, 0},
    {false,
     "\"n\": 70, \"box\": [1.8, 9.1, 6.2], \"walls\": [\"x\", \"y\"], \"axis\": \"y\", "
     "\"harmonic\": 0.4, \"moves_per_cell\": 6",
     8, 0, 2},
    /* in corners one sphere beside a cell often fills the list */
    {false, "\"n\": 20, \"box\": [4.3, 3.3, 3.3], \"walls\": [\"y\", \"z\"]", 16, 3, 2},
};

static void test_cases(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char job[1024];
        if (getenv("ERGOCL_TEST_SMALL") && !cases[i].small)
            continue;
        snprintf(
            job, sizeof job,
            "{\"sampler\": \"hard-spheres\", \"seed\": \"1\", \"replicas\": 2, \"system\": {%s}, "
            "\"tuning\": {\"work_group\": %u, \"listed\": %u, \"team\": %u}, "
            "\"run\": {\"sweeps\": 1, \"contact_range\": 0.02, "
            "\"contact_bin\": 0.002, \"%s}}",
            cases[i].system, cases[i].group, cases[i].listed, cases[i].team,
            strstr(cases[i].system, "walls") ? "profile_bins\": 9" : "gr_max\": 2");
        spheres_run_case(&bench, job, getenv("ERGOCL_TEST_SMALL") ? 2 : 12);
    }
}

static int set_up(void **state) {
    (void)state;
    return spheres_bench_open(&bench);
}

static int tear_down(void **state) {
    (void)state;
    spheres_bench_close(&bench);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_cases)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
