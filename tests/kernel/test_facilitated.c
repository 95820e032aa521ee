/*
 * Facilitated dynamics: kernels against the plain oracle of tests/oracle/facilitated.c, bit for
 * bit: every model, one attempt after the other and in windows that are far too large for their
 * lattices, so that most attempts wait for others.
 */
#include "facilitated_bench.h"

static struct ergo_context *ctx;
static struct ergo_device *device;
static bool small;

/* Compilers take longer than the rest: the least of programs. */
enum { ALL, SOME };

static void cases(const char *tuning, int which) {
    static const struct {
        const char *system;
        bool tiny;    /* also where there is little time */
        bool windows; /* also in windows */
        bool methods; /* also with method serial */
    } systems[] = {
        {"\"model\": \"north-east\", \"size\": [9, 6], \"up_density\": 0.42", true, true, true},
        {"\"model\": \"north-east\", \"size\": [33, 31], \"up_density\": 0.42, \"dynamics\": "
         "\"heat-bath\"",
         false, true, false},
        {"\"model\": \"north-east\", \"size\": [3, 2], \"temperature\": 1, \"field\": -0.2, "
         "\"coupling\": 0.3",
         true, false, false},
        {"\"model\": \"east\", \"size\": [17, 3], \"up_density\": 0.3", false, false, true},
        {"\"model\": \"fredrickson-andersen\", \"size\": [12, 12], \"up_density\": 0.2", false,
         true, false},
        {"\"model\": \"fredrickson-andersen\", \"facilitation\": 2, \"size\": [12, 11], "
         "\"temperature\": 2, \"coupling\": -0.5, \"dynamics\": \"heat-bath\"",
         false, false, false},
    };
    for (size_t i = 0; i < sizeof systems / sizeof systems[0]; i++) {
        char job[600];
        if ((small && !systems[i].tiny) || (which == SOME && !systems[i].windows))
            continue;
        for (int serial = 0; serial < 1 + (which == ALL && systems[i].methods); serial++) {
            snprintf(job, sizeof job,
                     "{\"sampler\": \"spin-lattice\", \"seed\": \"5\", \"replicas\": %d, "
                     "\"system\": {%s, \"method\": \"%s\", \"realisations\": %d}, \"run\": "
                     "{\"sweeps\": %d}, \"tuning\": {%s}}",
                     small ? 1 : 2, systems[i].system, serial ? "serial" : "exact", serial ? 2 : 64,
                     small ? 1 : 3, tuning);
            fac_bench_case(ctx, device, job, 0);
            if (!small)
                fac_bench_case(ctx, device, job, UINT64_C(0x1fffffffe));
        }
    }
}

static void test_serial(void **state) {
    (void)state;
    cases("\"path\": 3", ALL);
}

static void test_windows(void **state) {
    (void)state;
    cases("\"path\": 1, \"work_group\": 8", SOME);
}

static int set_up(void **state) {
    (void)state;
    const char *little = getenv("ERGOCL_TEST_SMALL");
    small = little && *little && strcmp(little, "0") != 0;
    ctx = ergo_context_create();
    return ctx && ergo_device_open(ctx, NULL, &device) == ERGO_OK ? 0 : -1;
}

static int tear_down(void **state) {
    (void)state;
    ergo_device_close(device);
    ergo_context_destroy(ctx);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_serial),
        cmocka_unit_test(test_windows),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
