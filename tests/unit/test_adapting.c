/* What the host decides of chains by clusters: steps of method probability-changing, sides, and the
 * exponent that is fitted to sizes of clusters. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "samplers/swendsen_wang/sites/sites.h"

static struct ergo_context *ctx;

static struct ergo_job *parse(const char *system, const char *run) {
    char text[500];
    struct ergo_job *job = NULL;
    snprintf(text, sizeof text,
             "{'sampler': 'swendsen-wang', 'system': {%s}, 'run': {'sweeps': 100%s}}", system, run);
    for (char *c = text; *c; c++)
        *c = *c == '\'' ? '"' : *c;
    if (ergo_job_parse(ctx, text, strlen(text), "test", NULL, 0, &job) != ERGO_OK)
        fail_msg("%s", ergo_error_message(ctx));
    return job;
}

/* 0.008, and halves of it, in four equal parts of the equilibration. */
static void test_steps(void **unused) {
    static const uint32_t shifts[18] = {3, 3, 3, 3, 2, 2, 2, 2, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0};
    (void)unused;
    struct ergo_job *job = parse("'size': [8, 8], 'temperature': 1, 'q': 3",
                                 ", 'equilibration': 16, 'method': 'probability-changing', "
                                 "'probability_step': 0.001, 'probability_step_first': 0.008");
    for (uint64_t t = 0; t < 18; t++)
        assert_int_equal(sw_adapt_shift(&job->points[0], t), shifts[t]);
    assert_int_equal(sw_adapt_shift(&job->points[0], UINT64_MAX), 0);
    ergo_job_destroy(job);
}

/* Up and down as a quarter to three: a cluster leads around in a quarter of the sweeps. */
static void test_share(void **unused) {
    struct sw_site_member m;
    (void)unused;
    struct ergo_job *job = parse("'size': [8, 8], 'temperature': 1",
                                 ", 'method': 'probability-changing', 'wrapping_share': 0.25, "
                                 "'probability_step': 0.0009765625");
    sw_sites_member_fill(&job->points[0], &m);
    assert_int_equal(m.up, 1u << 21);
    assert_int_equal(m.down, 3u << 21);
    /* 1 - 1/e */
    assert_int_equal(sw_adapt_start(&job->points[0], &m), 2714937127u);
    ergo_job_destroy(job);
    job = parse("'model': 'xy', 'size': [8, 8], 'temperature': 0.5",
                ", 'method': 'probability-changing', 'probability_step': 1e-9");
    sw_sites_member_fill(&job->points[0], &m);
    assert_true(m.up == 1 && m.down == 1);
    assert_int_equal(sw_adapt_start(&job->points[0], &m), 1u << 25);
    ergo_job_destroy(job);
}

static void test_sides(void **unused) {
    (void)unused;
    struct ergo_job *job =
        parse("'size': [8, 8, 8], 'temperature': 1, 'boundary': ['open', 'periodic', "
              "'antiperiodic']",
              "");
    const struct sw_sites_shape h = sw_sites_shape_of(&job->points[0]);
    assert_true(h.open == 1 && h.anti == 4);
    assert_false(sw_is_periodic(&job->points[0]) || sw_is_ferromagnetic(&job->points[0]));
    ergo_job_destroy(job);
    job = parse("'size': [8, 8], 'temperature': 1, 'boundary': 'open'", "");
    assert_int_equal(sw_sites_shape_of(&job->points[0]).open, 3);
    assert_false(sw_serves_square(&job->points[0]));
    ergo_job_destroy(job);
}

/* A histogram of s^-2.2 from the first bin of the fit to the last, and anything beside them. */
static void test_exponent(void **unused) {
    double mean[33];
    (void)unused;
    struct ergo_job *job = parse("'size': [256, 256], 'temperature': 1", "");
    const struct ergo_model *model = job->model;
    size_t k = 0;
    while (strcmp(model->observables[k].name, "fisher_exponent") != 0)
        k++;
    for (size_t b = 0; b < 17; b++)
        mean[b] = b < 6 || b > 9 ? 0.5 : 3 * exp2(-1.2 * (double)b);
    const double tau = model->observables[k].from_curve(&job->points[0], mean, 17);
    assert_true(fabs(tau - 2.2) < 1e-12);
    mean[7] = 0;
    assert_true(isnan(model->observables[k].from_curve(&job->points[0], mean, 17)));
    ergo_job_destroy(job);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_steps),
        cmocka_unit_test(test_share),
        cmocka_unit_test(test_sides),
        cmocka_unit_test(test_exponent),
    };
    ctx = ergo_context_create();
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    ergo_context_destroy(ctx);
    return failed;
}
