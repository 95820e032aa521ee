/* What the host decides of chains by clusters: steps of method probability-changing, sides, random
 * couplings, fields, and the exponent that is fitted to sizes of clusters. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "oracle/sites_serial.h"
#include "samplers/spin_lattice/spin_glass/glass.h"
#include "samplers/swendsen_wang/sites/sites.h"

static struct ergo_context *ctx;

static struct ergo_job *parse_of(const char *sampler, const char *system, const char *run) {
    char text[500];
    struct ergo_job *job = NULL;
    snprintf(text, sizeof text, "{'sampler': '%s', 'system': {%s}, 'run': {'sweeps': 100%s}}",
             sampler, system, run);
    for (char *c = text; *c; c++)
        *c = *c == '\'' ? '"' : *c;
    if (ergo_job_parse(ctx, text, strlen(text), "test", NULL, 0, &job) != ERGO_OK)
        fail_msg("%s", ergo_error_message(ctx));
    return job;
}

static struct ergo_job *parse(const char *system, const char *run) {
    return parse_of("swendsen-wang", system, run);
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

#define DISORDER "'disorder': 'bimodal', 'negative_fraction': 0.3, 'disorder_ratio': 0.25"

/* Chances of bonds; and the oracle's weak bonds, which kernels are compared with, are those of
 * spin-lattice's first sample. */
static void test_couplings(void **unused) {
    enum { N = 4 * 6 * 8 };
    const struct glass_shape g = {
        .d = 3, .lx = 4, .ly = 6, .lz = 8, .sites = N, .samples = 1, .real = true};
    struct sw_site_member m;
    double *j = malloc(3 * N * sizeof *j);
    (void)unused;
    struct ergo_job *job = parse(
        "'size': [4, 6, 8], 'temperature': 2, 'field': 0.5, 'disorder_seed': 7, " DISORDER, "");
    const struct ergo_point *point = &job->points[0];
    uint32_t key[2];
    glass_disorder_key(point, key);
    struct sites_oracle o = {.l = {4, 6, 8},
                             .q = 2,
                             .j = 1,
                             .t = 2,
                             .fraction = 0.3,
                             .ratio = 0.25,
                             .disorder = (uint64_t)key[1] << 32 | key[0]};
    assert_true(sites_oracle_init(&o));
    sw_sites_member_fill(point, &m);
    assert_int_equal(m.threshold, (uint32_t)floor((1 - exp(-0.5)) * 0x1p32 + 0.5));
    assert_int_equal(m.weak, (uint32_t)floor((1 - exp(-0.125)) * 0x1p32 + 0.5));
    assert_int_equal(m.ghost, (uint32_t)floor((1 - exp(-0.25)) * 0x1p32 + 0.5));
    assert_int_equal(m.share, (uint32_t)floor(0.3 * 0x1p32 + 0.5));
    assert_true(m.ratio == 0.25f && m.always == 0);
    struct ergo_job *single = parse_of(
        "spin-lattice", "'size': [4, 6, 8], 'temperature': 1, 'disorder_seed': 7, " DISORDER, "");
    assert_int_equal(glass_first_sample(ctx, &single->points[0], &g, (struct model_sites){0, N}, j),
                     ERGO_OK);
    ergo_job_destroy(single);
    assert_int_equal(o.n_bonds, 3 * N);
    for (int k = 0; k < o.n_bonds; k++)
        assert_int_equal(o.bonds[k].weak, j[o.bonds[k].direction * N + o.bonds[k].a] == 0.25);
    sites_oracle_free(&o);
    ergo_job_destroy(job);
    free(j);
    /* chances that round to 1; the whole lattice weak */
    job = parse("'size': [4, 6], 'temperature': 0.001, 'field': 1, 'disorder': 'bimodal', "
                "'negative_fraction': 1, 'disorder_ratio': 0.5",
                "");
    sw_sites_member_fill(&job->points[0], &m);
    assert_int_equal(m.always, SW_ALWAYS | SW_ALWAYS_WEAK | SW_ALWAYS_GHOST | SW_ALL_WEAK);
    ergo_job_destroy(job);
    /* a field of 0 that is given may be one of a scan */
    job = parse("'size': [4, 6], 'temperature': 1, 'field': 0", "");
    assert_true(!sw_serves_square(&job->points[0]) && sw_has_field(&job->points[0]));
    ergo_job_destroy(job);
    job = parse("'model': 'xy', 'size': [4, 6], 'temperature': 1", "");
    assert_true(sw_is_plain(&job->points[0]));
    ergo_job_destroy(job);
}

static void test_refused(void **unused) {
    static const struct {
        const char *system, *run, *more, *says;
    } jobs[] = {
        {"'size': [8, 8], 'temperature': 1, 'disorder': 'bimodal'", "", "",
         "/system/disorder_ratio: missing"},
        {"'size': [8, 8], 'temperature': 1, 'disorder_ratio': 0.5", "", "",
         "/system/disorder_ratio: has no effect in this job of model \"potts\"; it acts only with "
         "disorder"},
        {"'size': [8, 8], 'temperature': 1, 'disorder': 'bimodal', 'disorder_ratio': -1", "", "",
         "/system/disorder_ratio: found -1"},
        {"'size': [8, 8], 'temperature': 1, 'field': -1", "", "", "/system/field: found -1"},
        {"'model': 'xy', 'size': [8, 8], 'temperature': 1, 'field': 1", "", "", "/system/field"},
        {"'size': [8, 8], 'field': 1", ", 'method': 'probability-changing'", "",
         "it acts only with method sample"},
        {"'size': [8, 8], " DISORDER, ", 'method': 'probability-changing'", "",
         "/system/disorder_ratio: 0.25, and method probability-changing"},
        {"'size': [8, 8], 'temperature': 1, 'field': 1", ", 'correlations': true", "",
         "/run/correlations: has no effect"},
        {"'size': [8, 8, 8], 'temperature': 1, 'field': 1", "", ", 'distribute': 'lattice'",
         "/distribute: \"lattice\" cuts lattices without a field"},
        {"'size': [8, 8], 'temperature': 1, " DISORDER, "", ", 'distribute': 'lattice'",
         "/distribute: \"lattice\" cuts lattices without disorder"},
        {"'size': [8, 8], 'temperature': 1, 'field': 1, 'merge': 'rounds'", "", "",
         "/system/merge: has no effect"}};
    (void)unused;
    for (size_t k = 0; k < sizeof jobs / sizeof jobs[0]; k++) {
        char text[500];
        struct ergo_job *job = NULL;
        struct ergo_context *own = ergo_context_create();
        snprintf(text, sizeof text,
                 "{'sampler': 'swendsen-wang', 'system': {%s}, 'run': {'sweeps': 100%s}%s}",
                 jobs[k].system, jobs[k].run, jobs[k].more);
        for (char *c = text; *c; c++)
            *c = *c == '\'' ? '"' : *c;
        if (ergo_job_parse(own, text, strlen(text), "test", NULL, 0, &job) == ERGO_OK ||
            !strstr(ergo_error_message(own), jobs[k].says))
            fail_msg("%s: \"%s\", not \"%s\"", text, ergo_error_message(own), jobs[k].says);
        ergo_context_destroy(own);
    }
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
    const double tau = ergo_observable_of_curve(&model->observables[k], &job->points[0], mean, 17);
    assert_true(fabs(tau - 2.2) < 1e-12);
    mean[7] = 0;
    assert_true(isnan(ergo_observable_of_curve(&model->observables[k], &job->points[0], mean, 17)));
    ergo_job_destroy(job);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_steps),     cmocka_unit_test(test_share),
        cmocka_unit_test(test_sides),     cmocka_unit_test(test_exponent),
        cmocka_unit_test(test_couplings), cmocka_unit_test(test_refused),
    };
    ctx = ergo_context_create();
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    ergo_context_destroy(ctx);
    return failed;
}
