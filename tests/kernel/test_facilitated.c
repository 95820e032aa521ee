/*
 * Facilitated dynamics: the kernels against the plain oracle of tests/oracle/facilitated.c, bit for
 * bit. Every model, one attempt after the other, and in windows far too large for their lattices,
 * so that most attempts wait for others.
 */
#include "facilitated_bench.h"
#include "fixture.h"

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
        {"\"model\": \"east\", \"size\": [61], \"up_density\": 0.4", false, false, true},
        {"\"model\": \"fredrickson-andersen\", \"size\": [23], \"temperature\": 2, "
         "\"coupling\": 0.7, \"field\": 0.2",
         false, false, false},
        {"\"model\": \"fredrickson-andersen\", \"facilitation\": 2, \"size\": [7, 3, 4], "
         "\"up_density\": 0.4",
         true, true, false},
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

static void run_case(const char *system, const char *tuning, int replicas, int sweeps) {
    char job[600];
    snprintf(job, sizeof job,
             "{\"sampler\": \"spin-lattice\", \"seed\": \"9\", \"replicas\": %d, \"system\": {%s}, "
             "\"run\": {\"sweeps\": %d}, \"tuning\": {%s}}",
             replicas, system, sweeps, tuning);
    fac_bench_case(ctx, device, job, 0);
    if (!small)
        fac_bench_case(ctx, device, job, UINT64_C(0x1fffffffe));
}

/* Tiles of unequal sides, across the lattice's edges; segments that end within a sweep; halos that
 * are too small, so that all or some is done again. */
static void test_tiles(void **state) {
    (void)state;
    if (small) {
        run_case("\"model\": \"north-east\", \"size\": [19, 18], \"up_density\": 0.6, "
                 "\"realisations\": 32",
                 "\"path\": 2, \"tile_columns\": 8, \"tile_rows\": 8, \"halo\": 5, \"work_group\": "
                 "8, \"segment\": 150",
                 1, 1);
        return;
    }
    run_case(
        "\"model\": \"north-east\", \"size\": [61, 50], \"up_density\": 0.42, \"realisations\": 64",
        "\"path\": 2, \"tile_columns\": 16, \"tile_rows\": 16", 2, 3);
    run_case(
        "\"model\": \"north-east\", \"size\": [61, 50], \"up_density\": 0.42, \"realisations\": 64",
        "\"path\": 2, \"tile_columns\": 20, \"tile_rows\": 10, \"halo\": 4, \"segment\": 1400", 1,
        3);
    run_case("\"model\": \"fredrickson-andersen\", \"facilitation\": 2, \"size\": [40, 43], "
             "\"temperature\": 2, \"coupling\": -0.5, \"method\": \"serial\", \"realisations\": 2",
             "\"path\": 2, \"tile_columns\": 14, \"tile_rows\": 9, \"halo\": 8, \"work_group\": 32",
             1, 2);
}

static void test_lambda(void **state) {
    (void)state;
    if (small) {
        run_case("\"model\": \"north-east\", \"size\": [64, 64], \"up_density\": 0.6, \"method\": "
                 "\"lambda\", \"lambda\": 256, \"realisations\": 32",
                 "\"work_group\": 8", 1, 1);
        return;
    }
    run_case("\"model\": \"north-east\", \"size\": [64, 64], \"up_density\": 0.42, \"method\": "
             "\"lambda\", \"realisations\": 64",
             "", 2, 2);
    run_case(
        "\"model\": \"fredrickson-andersen\", \"size\": [96, 64], \"temperature\": 2, "
        "\"coupling\": -0.5, \"method\": \"lambda\", \"lambda\": 128, \"sublattices\": \"fixed\", "
        "\"realisations\": 32",
        "\"work_group\": 4", 1, 2);
    run_case("\"model\": \"north-east\", \"size\": [128, 64], \"up_density\": 0.42, \"method\": "
             "\"lambda\", \"lambda\": 64, \"sublattices\": \"coloured\", \"realisations\": 32",
             "", 1, 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_serial),
        cmocka_unit_test(test_windows),
        cmocka_unit_test(test_tiles),
        cmocka_unit_test(test_lambda),
    };
    return cmocka_run_group_tests(tests, fixture_open, fixture_close);
}
