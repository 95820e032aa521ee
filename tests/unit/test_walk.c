/*
 * Wang-Landau: what is told of made-up estimates of ln g, one of which outweighs the others at a
 * level and one of which lacks a level: means and jackknife errors against sums by hand, facts, and
 * what they say.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "context.h"
#include "samplers/spin_lattice/graph/graph.h"
#include "samplers/spin_lattice/models.h"
#include "samplers/spin_lattice/wang_landau/walk.h"

enum { ESTIMATES = 4, LEVELS = 3, POINTS = 5, ROOM = 8 };

/* A ring of four spins: E = -4, 0, 4. */
static const char text[] =
    "{\"sampler\": \"spin-lattice\", \"system\": {\"model\": \"graph\", \"graph\": \"chain\", "
    "\"size\": [4]}, \"run\": {\"method\": \"wang-landau\", \"sweeps\": 20, \"estimates\": 4, "
    "\"temperature_points\": 5}}";

struct told {
    double facts[ESTIMATES][WALK_FACTS];
    double mean[GRAPH_CURVES][ROOM], error[GRAPH_CURVES][ROOM];
    struct ergo_job *job;
};

static void tell(double all[ESTIMATES][LEVELS], struct told *t) {
    struct walk_state s = {0};
    struct ergo_curve curves[GRAPH_CURVES] = {0};
    memset(t, 0, sizeof *t);
    assert_int_equal(ergo_job_parse(ctx, text, sizeof text - 1, "walk", NULL, 0, &t->job), ERGO_OK);
    const struct ergo_point *point = &t->job->points[0];
    s.e.batch = &t->job->batches[0];
    s.shape = walk_shape_of(point);
    assert_int_equal(walk_graph_of(ctx, point, &s.graph), ERGO_OK);
    assert_int_equal(s.graph.levels.count, LEVELS);
    for (size_t c = 0; c < GRAPH_CURVES; c++)
        assert_true(ergo_curve_init(&curves[c], walk_curve_size(point, c)));
    assert_true(walk_add_means(&s, 0, all[0], t->facts[0], curves));
    for (size_t c = 0; c < GRAPH_CURVES; c++) {
        assert_true(curves[c].size <= ROOM);
        ergo_curve_result(&curves[c], t->mean[c], t->error[c]);
        ergo_curve_free(&curves[c]);
    }
    walk_graph_free(&s.graph);
}

/* ln of the mean g of the estimates but one, as it is defined. */
static double ln_mean(double all[ESTIMATES][LEVELS], size_t level, size_t without) {
    long double sum = 0, n = 0;
    for (size_t k = 0; k < ESTIMATES; k++)
        if (k != without && !isnan(all[k][level])) {
            sum += expl((long double)all[k][level]);
            n++;
        }
    return (double)logl(sum / n);
}

static void near(double found, double expected) {
    if (!(fabs(found - expected) <= 1e-10 * (1 + fabs(expected))))
        fail_msg("%.17g instead of %.17g", found, expected);
}

/* Mean and error of pseudo-values n f - (n - 1) f_k. */
static void jackknife(double all[ESTIMATES][LEVELS], size_t level, double *mean, double *error) {
    double pseudo[ESTIMATES], squares = 0;
    *mean = 0;
    for (size_t k = 0; k < ESTIMATES; k++) {
        pseudo[k] =
            ESTIMATES * ln_mean(all, level, SIZE_MAX) - (ESTIMATES - 1) * ln_mean(all, level, k);
        *mean += pseudo[k] / ESTIMATES;
    }
    for (size_t k = 0; k < ESTIMATES; k++)
        squares += pow(pseudo[k] - *mean, 2);
    *error = sqrt(squares / (ESTIMATES * (ESTIMATES - 1)));
}

static void test_means(void **state) {
    /* at level 2 the others are lost beside the second */
    double all[ESTIMATES][LEVELS] = {{0.6, 2.5, 0.7}, {0.8, 2.4, 60}, {0.7, 2.6, 1}, {0.5, 2.5, 2}};
    struct told t;
    double most = 0;
    (void)state;
    tell(all, &t);
    for (size_t i = 0; i < LEVELS; i++) {
        double mean, error;
        jackknife(all, i, &mean, &error);
        near(t.mean[CURVE_LN_G][i], mean);
        near(t.error[CURVE_LN_G][i], error);
        most = fmax(most, 0.5 * ESTIMATES * error);
    }
    near(t.mean[CURVE_WALK][WALK_GROUND], t.mean[CURVE_LN_G][0]);
    near(t.error[CURVE_WALK][WALK_GROUND], t.error[CURVE_LN_G][0]);
    near(t.mean[CURVE_WALK][WALK_COMPLETE], 1);
    near(t.facts[1][WALK_BIAS], most);
    assert_non_null(walk_biased(&t.job->points[0], most));
    assert_null(walk_not_complete(&t.job->points[0], 1));
    ergo_job_destroy(t.job);
}

/* The lowest level is lacked by one estimate: it has no value, but a mean for temperatures. */
static void test_lacking(void **state) {
    double all[ESTIMATES][LEVELS] = {
        {0.6, 2.5, 0.7}, {0.61, 2.5, 0.7}, {NAN, 2.51, 0.71}, {0.6, 2.5, 0.7}};
    struct told t;
    double mean, error, temperature = 0, z = 0, e = 0;
    (void)state;
    tell(all, &t);
    assert_true(isnan(t.mean[CURVE_LN_G][0]) && isnan(t.mean[CURVE_WALK][WALK_GROUND]));
    jackknife(all, 1, &mean, &error);
    near(t.mean[CURVE_LN_G][1], mean);
    near(t.error[CURVE_LN_G][1], error);
    near(t.mean[CURVE_WALK][WALK_COMPLETE], 0.75);
    assert_true(t.facts[2][WALK_COMPLETE] == 0);
    assert_non_null(walk_not_complete(&t.job->points[0], 0.75));
    assert_true(t.facts[0][WALK_BIAS] < 1 && !walk_biased(&t.job->points[0], 0.9));
    walk_curve_x(&t.job->points[0], CURVE_CHAIN_ENERGY, t.error[0]);
    temperature = t.error[0][POINTS - 1];
    for (size_t i = 0; i < LEVELS; i++) {
        const double energy = 4 * ((double)i - 1);
        const double w = exp(ln_mean(all, i, SIZE_MAX) - energy / temperature);
        z += w;
        e += w * energy;
    }
    /* pseudo-values are about it, by some squares of errors */
    assert_true(fabs(t.mean[CURVE_CHAIN_ENERGY][POINTS - 1] - e / z / 4) < 1e-3);
    assert_true(t.error[CURVE_CHAIN_ENERGY][POINTS - 1] > 0 &&
                t.error[CURVE_CHAIN_ENERGY][POINTS - 1] < 0.02);
    ergo_job_destroy(t.job);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_means),
                                       cmocka_unit_test(test_lacking)};
    return cmocka_run_group_tests(tests, context_open, context_close);
}
