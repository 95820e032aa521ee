/* The Gibbs ensemble without a device: volumes of two boxes, which of them is the liquid, and jobs
 * that are refused. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "samplers/lj_gcmc/lj.h"
#include "samplers/lj_gcmc/tables.h"

#include "context.h"

/* ln V1 and ln V2 are functions of x = ln V1 - ln V2, and V1 + V2 stays. */
static void test_volumes(void **state) {
    (void)state;
    const double all = 1234.5;
    const struct lj_volume_rules rules = {.total = ergo_volume_log(all)};
    for (double ratio = 1e-5; ratio < 1e5; ratio *= 1.37) {
        const int64_t x = (int64_t)(log(ratio) * 0x1p36);
        assert_true(fabs((double)lj_gibbs_log(x) - log1p(exp((double)x * 0x1p-36)) * 0x1p36) < 4);
        const int64_t one = lj_gibbs_size(&rules, x, 0), two = lj_gibbs_size(&rules, x, 1);
        assert_true(one - two == x);
        assert_true(fabs(exp((double)one * 0x1p-36) + exp((double)two * 0x1p-36) - all) < 1e-6);
    }
    assert_true(lj_gibbs_size(&rules, 0, 0) == lj_gibbs_size(&rules, 0, 1));
}

/* What is left of a volume move, and of the step that is tuned: any other bits are refused. */
static void test_moved(void **state) {
    (void)state;
    struct lj_volume_rules r = {.move = {.step = 5, .most = 100}};
    for (uint32_t moved = 0; moved < 500; moved++)
        for (r.move.tuned = 0; r.move.tuned < 2; r.move.tuned++) {
            const uint32_t step = moved / 4;
            const bool right = !step || (r.move.tuned && step % 17 == 0 && step <= 100);
            assert_int_equal(lj_volume_right(&r, moved), right && moved % 4 < 3);
            assert_int_equal(lj_volume_step(&r, moved), step ? 64 * step : 5);
        }
}

/* The denser box is the liquid, whichever it is. */
static void test_phases(void **state) {
    (void)state;
    struct lj_physics physics = {.system = {.epsilon = 1, .sigma = 1, .temperature = 1}};
    const struct ergo_batch batch = {.count = 1};
    struct lj_volume_rules rules[2] = {{.move = {.step = (uint64_t)1 << 33}}};
    const struct lj_state s = {.e = {.batch = &batch},
                               .boxes = 2,
                               .physics = &physics,
                               .rules = rules,
                               .launch = {.ghosts = 1}};
    struct lj_sample boxes[2] = {
        {.particles = 10, .size = ergo_volume_log(100), .now = {.tried = 3 << 16}},
        {.particles = 80, .size = ergo_volume_log(120), .now = {.accepted = 2 << 16 | 5}}};
    int64_t ghosts[2 * LJ_GHOST_SUMS] = {[0] = 1 << 30, [LJ_GHOST_SUMS] = 1 << 29};
    double c[LJ_GIBBS_COLUMNS];
    for (int turn = 0; turn < 2; turn++) {
        lj_gibbs_columns_of(&s, 0, boxes, ghosts, 10, c);
        assert_true(c[LJ_GIBBS_FIRST] == turn);
        assert_true(c[LJ_GIBBS_LIQUID + LJ_PHASE_PARTICLES] == 80);
        assert_true(c[LJ_GIBBS_VAPOUR + LJ_PHASE_PARTICLES] == 10);
        assert_true(fabs(c[LJ_GIBBS_LIQUID + LJ_PHASE_VOLUME] - 120) < 1e-6);
        assert_true(fabs(c[LJ_GIBBS_LIQUID + LJ_PHASE_GHOSTS] - 0.25 * 120 / 81) < 1e-6);
        assert_true(fabs(c[LJ_GIBBS_VAPOUR + LJ_PHASE_GHOSTS] - 0.5 * 100 / 11) < 1e-6);
        assert_true(c[LJ_GIBBS_DISPLACED] == 0.5 && c[LJ_GIBBS_VOLUME_STEP] == 0.125);
        assert_true(c[LJ_GIBBS_TRIED] == 3 && c[LJ_GIBBS_ACCEPTED] == 2);
        const struct lj_sample first = boxes[0];
        boxes[0] = boxes[1];
        boxes[1] = first;
        const int64_t weight = ghosts[0];
        ghosts[0] = ghosts[LJ_GHOST_SUMS];
        ghosts[LJ_GHOST_SUMS] = weight;
    }
}

/* Of a mixture, V/(N_s + 1) times the weight of each species, in each box. */
static void test_species(void **state) {
    (void)state;
    struct lj_physics physics = {
        .system = {.epsilon = 1, .sigma = 1, .temperature = 1, .species = {.n = 3}}};
    const struct ergo_batch batch = {.count = 1};
    struct lj_volume_rules rules[2] = {{.turns = 1}};
    const struct lj_state s = {.e = {.batch = &batch},
                               .boxes = 2,
                               .physics = &physics,
                               .rules = rules,
                               .launch = {.ghosts = 2}};
    const struct lj_sample boxes[2] = {
        {.particles = 9, .size = ergo_volume_log(100), .numbers = {2, 3, 4}},
        {.particles = 90, .size = ergo_volume_log(120), .numbers = {50, 30, 10}}};
    int64_t ghosts[2 * LJ_GHOST_SUMS] = {0};
    double c[LJ_GIBBS_COLUMNS];
    for (int k = 0; k < 3; k++) {
        ghosts[k * (int)LJ_GHOST_WORDS] = (int64_t)(k + 1) << 31;
        ghosts[LJ_GHOST_SUMS + k * (int)LJ_GHOST_WORDS + 1] = 10 * (k + 1);
    }
    lj_gibbs_columns_of(&s, 0, boxes, ghosts, 10, c);
    assert_true(fabs(c[LJ_GIBBS_VAPOUR + LJ_PHASE_GHOSTS] - 0.5 * 100 / 3) < 1e-6);
    assert_true(fabs(c[LJ_GIBBS_VAPOUR_GHOSTS] - 1.0 * 100 / 4) < 1e-6);
    assert_true(fabs(c[LJ_GIBBS_VAPOUR_GHOSTS + 1] - 1.5 * 100 / 5) < 1e-6);
    assert_true(fabs(c[LJ_GIBBS_LIQUID + LJ_PHASE_GHOSTS] - 5.0 * 120 / 51) < 1e-6);
    assert_true(fabs(c[LJ_GIBBS_LIQUID_GHOSTS] - 10.0 * 120 / 31) < 1e-6);
    assert_true(fabs(c[LJ_GIBBS_LIQUID_GHOSTS + 1] - 15.0 * 120 / 11) < 1e-6);
    assert_true(c[LJ_GIBBS_LIQUID_SPECIES + 1] == 10 && c[LJ_GIBBS_VAPOUR_SPECIES] == 3);
}

static void test_alarms(void **state) {
    (void)state;
    size_t found = 0;
    for (size_t o = 0; o < LJ_N_OBSERVABLES_GIBBS; o++) {
        const struct ergo_observable *at = &lj_observables_gibbs[o];
        if (!at->alarm)
            continue;
        found++;
        assert_null(at->alarm(NULL, 0));
        assert_non_null(strcmp(at->name, "volume_limited") == 0 ? at->alarm(NULL, 1e-3)
                                                                : at->alarm(NULL, 0.4));
        if (strcmp(at->name, "first_is_liquid") == 0)
            assert_null(at->alarm(NULL, 1));
    }
    assert_int_equal(found, 2);
}

static void refused(const char *system, const char *message) {
    char text[1000];
    struct ergo_job *job = NULL;
    snprintf(text, sizeof text,
             "{'sampler': 'lj-fluid', 'system': {'ensemble': 'gibbs', 'temperature': 1, 'box': "
             "[6, 7, 8], 'volume_every': 10, %s}, 'run': {'sweeps': 100}}",
             system);
    for (char *c = text; *c; c++)
        *c = *c == '\'' ? '"' : *c;
    assert_int_not_equal(ergo_job_parse(ctx, text, strlen(text), "gibbs", NULL, 0, &job), ERGO_OK);
    if (!strstr(ergo_error_message(ctx), message))
        fail_msg("\"%s\" is not in: %s", message, ergo_error_message(ctx));
}

#define N "'particles': 100, 'second_particles': 20, 'transfers': 10"

static void test_jobs(void **state) {
    (void)state;
    refused("'particles': 1, 'second_particles': 0, 'transfers': 10", "1 in both boxes together");
    refused("'particles': 100, 'transfers': 10", "/system/second_particles");
    refused("'particles': 100, 'second_particles': 20", "/system/transfers");
    refused(N ", 'second_volume': 100", "less than two cutoffs of 2.5");
    refused(N ", 'second_volume': 1e6", "0.001 to 1000");
    refused(N ", 'start': 'a.xyz'", "/system/start");
    refused("'particles': 100, 'second_particles': 20, 'transfers': 6000", "65535 in 1024 moves");
    refused("'particles': 100, 'second_particles': 20, 'transfers': 637", "65535 in 1024 moves");
    /* 103 times 636 are counted: what is refused is something else */
    refused("'particles': 100, 'second_particles': 4000, 'transfers': 636",
            "/system/second_particles");
    refused(N ", 'max_displacement': 2.9, 'second_volume': 300",
            "half the shortest side of the second");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_volumes), cmocka_unit_test(test_moved),
        cmocka_unit_test(test_phases),  cmocka_unit_test(test_alarms),
        cmocka_unit_test(test_species), cmocka_unit_test(test_jobs)};
    return cmocka_run_group_tests_name("gibbs", tests, context_open, context_close);
}
