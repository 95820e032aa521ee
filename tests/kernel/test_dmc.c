/*
 * The kernels of helium-dmc against the oracle, bit for bit, through the sampler's own operations:
 * start, steps, the comb, records, samples, saved and loaded states, in groups of any size.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "dmc_bench.h"
#include "fixture.h"

static bool rusticl;

static void check(const char *system, int path, int group, int comb) {
    struct dmc_bench b = {.ctx = ctx, .device = device};
    char json[1024];
    snprintf(json, sizeof json,
             "{\"sampler\": \"helium-dmc\", \"seed\": \"18446744073709551557\", %s, \"run\": "
             "{\"equilibration\": 48, \"sweeps\": 9}, \"tuning\": "
             "{\"path\": %d, \"energy_group\": %d, \"comb_group\": %d}}",
             system, path, group, comb);
    dmc_bench_begin(&b, json);
    dmc_compare_states(&b);
    while (b.step < (small ? 3 : 12)) {
        const uint64_t steps = b.step < 2 ? 1 : 5;
        DMC_OK(&b, ergo_sampler_advance(ctx, b.ops, b.s, 0, 0, steps, 0));
        dmc_bench_steps(&b, steps);
        dmc_compare_states(&b);
        for (size_t m = 0; m < b.job->n_points && !small; m++) { /* saved and loaded */
            struct ergo_text text = {0};
            DMC_OK(&b, b.ops->save(ctx, b.s, m, &text));
            DMC_OK(&b, b.ops->load(ctx, b.s, m, b.step, text.data, text.length));
            ergo_text_free(&text);
        }
        dmc_compare_sample(&b, 2);
    }
    dmc_bench_end(&b);
}

/* Physics by name: tails of groups and blocks, two atoms, a box that is no cube, scans. */
static const char *const systems[] = {
    "\"system\": {\"n\": 13, \"b\": 2.3, \"walkers\": 9, \"time_step\": 0.004, \"forward_steps\": "
    "48}, \"scan\": {\"/system/time_step\": [0.004, 0.006]}",
    "\"system\": {\"n\": 71, \"aspect\": [1, 2, 1], \"b\": 2.6, \"walkers\": 3, \"time_step\": "
    "0.003, \"forward_steps\": 0}",
    "\"system\": {\"n\": 2, \"density\": 0.004, \"b\": 2.8, \"walkers\": 33, \"time_step\": 0.02, "
    "\"forward_steps\": 16}",
    "\"system\": {\"n\": 5, \"b\": 2, \"walkers\": 2, \"time_step\": 0.003, \"forward_steps\": 16}",
};

static void automatic(void **state) {
    (void)state;
    for (size_t i = small ? 3 : 0; i < (small ? 4 : rusticl ? 1 : 3); i++)
        check(systems[i], 0, 0, 0);
}

static void groups(void **state) {
    (void)state;
    check(systems[small ? 3 : 0], 1, 4, 4);
    if (small || rusticl) /* compiles for seconds */
        return;
    check(systems[1], 1, 32, 2);
    check(systems[2], 1, 8, 16);
}

/* Work-groups share walkers: three blocks of partners, of which the last is not full, for two
 * work-items an atom; two members, one work-item an atom. */
static void spread(void **state) {
    (void)state;
    check(systems[1], 2, 64, 0);
    if (small || rusticl)
        return;
    check(systems[0], 2, 0, 0);
}

static int open_device(void **unused) {
    const int failed = fixture_open(unused);
    rusticl = !failed && strstr(device->summary.platform, "rusticl") != NULL;
    return failed;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(automatic),
        cmocka_unit_test(groups),
        cmocka_unit_test(spread),
    };
    return cmocka_run_group_tests(tests, open_device, fixture_close);
}
