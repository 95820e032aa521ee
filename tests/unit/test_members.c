/* What members keep of their samples: the same estimates whether the series is kept or not, however
 * samples come in, and after a way through a file. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "job/schedule.h"
#include "result/store.h"

enum { EQUILIBRATION = 150, MEASURED = 4001, SAMPLES = EQUILIBRATION + MEASURED, BLOCKS = 7 };

static struct ergo_result *make_of(struct ergo_context *ctx, const char *kept, size_t sweeps,
                                   const char *observables) {
    char text[512];
    struct ergo_job *job = NULL;
    struct ergo_result *result = NULL;
    const int length = snprintf(
        text, sizeof text,
        "{\"sampler\":\"spin-lattice\",\"system\":{\"model\":\"ising\",\"size\":[16,16],"
        "\"temperature\":2.3},\"run\":{\"equilibration\":%d,\"sweeps\":%zu,\"observables\":\"%s\"},"
        "\"output\":{\"blocks\":%d,\"series\":\"%s\"}}",
        EQUILIBRATION, sweeps, observables, BLOCKS, kept);
    assert_int_equal(ergo_job_parse(ctx, text, (size_t)length, "job.json", NULL, 0, &job), ERGO_OK);
    assert_int_equal(ergo_result_create(ctx, job, &result), ERGO_OK);
    result->status = "stopped";
    return result;
}

static struct ergo_result *make(struct ergo_context *ctx, const char *kept, size_t sweeps) {
    return make_of(ctx, kept, sweeps, "all");
}

/* Rows of columns; before measuring they are far off. */
static double *rows_of(const struct ergo_result *result) {
    const size_t n = result->job->model->n_columns;
    double *rows = malloc(SAMPLES * n * sizeof *rows);
    uint64_t z = 5;
    assert_non_null(rows);
    for (size_t i = 0; i < SAMPLES * n; i++) {
        z = z * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        rows[i] = (double)(int64_t)z * 0x1p-63 + (i < EQUILIBRATION * n ? 1000 : 0);
    }
    return rows;
}

static void add(struct ergo_member_result *m, const double *rows, size_t from, size_t to,
                size_t at_once) {
    const size_t n = m->point->job->model->n_columns;
    for (size_t i = from; i < to; i += at_once) {
        const size_t count = at_once < to - i ? at_once : to - i;
        assert_true(ergo_member_add(m, i, count, rows + i * n));
    }
}

static void same_estimates(struct ergo_context *ctx, struct ergo_result *a, struct ergo_result *b) {
    const struct ergo_model *model = a->job->model;
    assert_int_equal(ergo_result_evaluate(ctx, a), ERGO_OK);
    assert_int_equal(ergo_result_evaluate(ctx, b), ERGO_OK);
    for (size_t o = 0; o < model->n_observables; o++) {
        const struct ergo_observable_result *x = &a->members[0].observables[o];
        const struct ergo_observable_result *y = &b->members[0].observables[o];
        assert_memory_equal(&x->estimate.mean, &y->estimate.mean, sizeof(double));
        assert_memory_equal(&x->estimate.error, &y->estimate.error, sizeof(double));
        assert_memory_equal(&x->estimate.tau, &y->estimate.tau, sizeof(double));
        assert_memory_equal(&x->drift, &y->drift, sizeof(double));
        assert_int_equal(x->trust, y->trust);
        if (!ergo_observable_sampled(&model->observables[o]))
            continue;
        for (size_t k = 0; k < ergo_blocks_count(&a->members[0]); k++) {
            const double p = ergo_blocks_mean(model, &a->members[0], x->observable, k);
            const double q = ergo_blocks_mean(model, &b->members[0], x->observable, k);
            assert_memory_equal(&p, &q, sizeof p);
        }
    }
}

/* Averages of blocks b n / count to (b + 1) n / count; of a run that was stopped those that have
 * begun. */
static void blocks_are(const struct ergo_member_result *m, const double *rows, size_t n,
                       size_t blocks) {
    const struct ergo_model *model = m->point->job->model;
    assert_int_equal(ergo_blocks_count(m), blocks);
    for (size_t b = 0; b < blocks; b++) {
        size_t end = (b + 1) * MEASURED / BLOCKS, begin = b * MEASURED / BLOCKS;
        double sum = 0;
        end = end < n ? end : n;
        for (size_t i = begin; i < end; i++)
            sum += rows[(EQUILIBRATION + i) * model->n_columns];
        assert_true(ergo_blocks_mean(model, m, &model->observables[0], b) ==
                    sum / (double)(end - begin));
    }
}

static void kept_or_not(void **state) {
    struct ergo_context *ctx = ergo_context_create();
    (void)state;
    struct ergo_result *a = make(ctx, "full", MEASURED), *b = make(ctx, "blocks", MEASURED);
    double *rows = rows_of(a);
    assert_int_equal(a->kept, ERGO_KEPT_FULL);
    assert_int_equal(b->kept, ERGO_KEPT_BLOCKS);
    assert_true(a->members[0].series && !b->members[0].series);
    assert_string_equal(a->job->model->observables[0].name, a->job->model->columns[0].name);
    add(&a->members[0], rows, 0, SAMPLES, SAMPLES);
    add(&b->members[0], rows, 0, 2000, 100);
    add(&b->members[0], rows, 2000, SAMPLES, 333);
    same_estimates(ctx, a, b);
    const struct ergo_estimate *energy = &b->members[0].observables[0].estimate;
    assert_int_equal(energy->samples, MEASURED);
    assert_true(fabs(energy->mean) < 0.05); /* without what came before */
    blocks_are(&a->members[0], rows, MEASURED, BLOCKS);
    blocks_are(&b->members[0], rows, MEASURED, BLOCKS);
    free(rows);
    ergo_result_destroy(a);
    ergo_result_destroy(b);
    ergo_context_destroy(ctx);
}

/* Stopped after n samples, evaluated, sent to another result, and gone on there. */
static void stopped_and_resumed(void **state) {
    static const size_t stops[] = {1,    10,   EQUILIBRATION, EQUILIBRATION + 5,
                                   1000, 3000, SAMPLES - 1};
    struct ergo_context *ctx = ergo_context_create();
    (void)state;
    for (size_t k = 0; k < 2 * sizeof stops / sizeof *stops; k++) {
        const size_t stop = stops[k / 2];
        const char *kept = k % 2 ? "full" : "none";
        struct ergo_result *whole = make(ctx, kept, MEASURED), *a = make(ctx, kept, MEASURED),
                           *b = make(ctx, kept, MEASURED);
        struct ergo_point_progress here = {.step = stop,
                                           .samples = stop,
                                           .state = "state",
                                           .length = 5},
                                   there = {0};
        struct ergo_text parcel = {0};
        double *rows = rows_of(a);
        add(&whole->members[0], rows, 0, SAMPLES, 1000);
        add(&a->members[0], rows, 0, stop, 77);
        assert_int_equal(ergo_result_evaluate(ctx, a), ERGO_OK);
        if (stop > EQUILIBRATION)
            blocks_are(&a->members[0], rows, stop - EQUILIBRATION,
                       ((stop - EQUILIBRATION) * BLOCKS - 1) / MEASURED + 1);
        ergo_point_pack(a, &here, 0, &parcel);
        assert_true(ergo_points_unpack(b, &there, parcel.data, parcel.length));
        for (size_t length = 1; length < parcel.length; length += 1 + length / 9)
            assert_false(ergo_points_unpack(b, &there, parcel.data, length));
        add(&b->members[0], rows, stop, SAMPLES, 500);
        add(&a->members[0], rows, stop, SAMPLES, 500); /* estimates left it as it was */
        same_estimates(ctx, whole, b);
        same_estimates(ctx, whole, a);
        ergo_text_free(&parcel);
        free(there.state);
        free(rows);
        ergo_result_destroy(whole);
        ergo_result_destroy(a);
        ergo_result_destroy(b);
    }
    ergo_context_destroy(ctx);
}

/* What is derived does not need its inputs in the result. */
static void one_of_all(void **state) {
    struct ergo_context *ctx = ergo_context_create();
    (void)state;
    struct ergo_result *a = make(ctx, "none", MEASURED),
                       *b = make_of(ctx, "none", MEASURED, "heat_capacity");
    const struct ergo_model *model = a->job->model;
    double *rows = rows_of(a);
    size_t o = 0;
    add(&a->members[0], rows, 0, SAMPLES, 1000);
    add(&b->members[0], rows, 0, SAMPLES, 1000);
    assert_int_equal(ergo_result_evaluate(ctx, a), ERGO_OK);
    assert_int_equal(ergo_result_evaluate(ctx, b), ERGO_OK);
    while (strcmp(model->observables[o].name, "heat_capacity") != 0)
        o++;
    assert_true(a->members[0].observables[o].estimate.error > 0);
    assert_true(a->members[0].observables[o].estimate.error ==
                b->members[0].observables[o].estimate.error);
    assert_true(a->members[0].observables[o].estimate.mean ==
                b->members[0].observables[o].estimate.mean);
    assert_true(b->measured->plan.n_series < a->measured->plan.n_series);
    free(rows);
    ergo_result_destroy(a);
    ergo_result_destroy(b);
    ergo_context_destroy(ctx);
}

/* 256 MB of samples are kept unless the job says otherwise, more are not. */
static void what_is_kept(void **state) {
    struct ergo_context *ctx = ergo_context_create();
    (void)state;
    struct ergo_result *a = make(ctx, "auto", 1000);
    const double bytes = ergo_result_series_bytes(a->job);
    const double a_sample = bytes / (1000 + EQUILIBRATION);
    assert_true(a_sample >= 8 && floor(a_sample / 8) == a_sample / 8);
    assert_int_equal(a->kept, ERGO_KEPT_FULL);
    const size_t most = (size_t)(256e6 / a_sample) - EQUILIBRATION;
    struct ergo_result *b = make(ctx, "auto", most), *c = make(ctx, "auto", most + 1),
                       *d = make(ctx, "none", 10);
    assert_int_equal(b->kept, ERGO_KEPT_FULL);
    assert_int_equal(c->kept, ERGO_KEPT_BLOCKS);
    assert_int_equal(d->kept, ERGO_KEPT_NONE);
    assert_true(ergo_result_bytes(c->job) < 0.01 * ergo_result_bytes(b->job));
    ergo_result_destroy(a);
    ergo_result_destroy(b);
    ergo_result_destroy(c);
    ergo_result_destroy(d);
    ergo_context_destroy(ctx);
}

/* Final states: all, up to 1 GB or none, none. Three copies while they are written. */
static void states_kept(void **state) {
    static const struct {
        const char *wish;
        double bytes, kept;
        const char *said;
    } cases[] = {
        {"auto", 0x1p20, 0x1p20, "up to 1 MiB kept (/checkpoint/final_states)"},
        {"auto", 2e9, 1e9, "kept, or none if they are more"},
        {"keep", 2e9, 2e9, "up to 1907 MiB kept (/"},
        {"drop", 2e9, 0, "up to 0 MiB kept (/"},
        {"keep", 0x1p70, 0x1p70, "this machine has"},
    };
    struct ergo_context *ctx = ergo_context_create();
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct ergo_job *job = NULL;
        struct ergo_text text = {0};
        char file[256];
        const int length = snprintf(
            file, sizeof file,
            "{\"sampler\":\"swendsen-wang\",\"system\":{\"size\":[16,16],"
            "\"temperature\":1},\"run\":{\"sweeps\":9},\"checkpoint\":{\"final_states\":\"%s\"}}",
            cases[i].wish);
        assert_int_equal(ergo_job_parse(ctx, file, (size_t)length, "job.json", NULL, 0, &job),
                         ERGO_OK);
        const double more = ergo_states_memory(job, cases[i].bytes) - ergo_states_memory(job, 0);
        assert_true(fabs(more - 3 * cases[i].kept) <= 1e-6 * cases[i].kept);
        ergo_states_say(job, cases[i].bytes, &text);
        if (!strstr(text.data, cases[i].said))
            fail_msg("%s, %g bytes: %s", cases[i].wish, cases[i].bytes, text.data);
        ergo_text_free(&text);
        ergo_job_destroy(job);
    }
    ergo_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kept_or_not), cmocka_unit_test(stopped_and_resumed),
        cmocka_unit_test(one_of_all),  cmocka_unit_test(what_is_kept),
        cmocka_unit_test(states_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
