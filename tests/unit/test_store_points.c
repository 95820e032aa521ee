/* Points in transit between ranks: they arrive as they were sent, and bytes that no rank can have
 * sent are refused before they have any effect. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>

#include "job/schedule.h"
#include "result/store.h"

/* Words of a parcel's head, as of store_points.c; and of the state's, which is the last of it. */
enum { INDEX, STREAM, STEPS, DIGEST, STEP, SAMPLES, PICTURES, WORDS };
enum { STATE_INDEX, STATE_STEP, LENGTH, STATE_WORDS, STATE = 8 * STATE_WORDS + 5 };

static const char job_text[] =
    "{\"sampler\":\"spin-lattice\",\"system\":{\"model\":\"ising\",\"size\":[16,16],"
    "\"temperature\":"
    "2.3},\"run\":{\"equilibration\":3,\"sweeps\":20,\"measure_every\":2}}";

/* A result of one point; `of_curve` is the first curve it has. */
struct fixture {
    struct ergo_context *ctx;
    struct ergo_result *result;
    struct ergo_member_result *member;
    struct ergo_point_progress progress;
    size_t of_curve;
};

static void make(struct fixture *f) {
    memset(f, 0, sizeof *f);
    f->ctx = ergo_context_create();
    struct ergo_job *job = NULL;
    assert_int_equal(ergo_job_parse(f->ctx, job_text, strlen(job_text), "job.json", NULL, 0, &job),
                     ERGO_OK);
    assert_int_equal(ergo_result_create(f->ctx, job, &f->result), ERGO_OK);
    f->member = &f->result->members[0];
    while (!f->member->binned[f->of_curve].size)
        assert_true(++f->of_curve < job->model->n_curves);
}

static void unmake(struct fixture *f) {
    free(f->progress.state);
    free(f->progress.mark);
    ergo_result_destroy(f->result);
    ergo_context_destroy(f->ctx);
}

/* After 8 of 23 steps: a lead of 1, then three samples, and one step towards the fourth. */
static void advance(struct fixture *f) {
    struct ergo_point_progress *p = &f->progress;
    p->step = 8;
    p->samples = f->member->n_samples = 3;
    p->state = strdup("state");
    p->length = 5;
    for (size_t c = 0; c < f->result->job->model->n_columns; c++)
        for (size_t i = 0; i < 3 && f->member->series[c]; i++)
            f->member->series[c][i] = 0.5 * (double)(c + i);
}

static void what_was_sent_arrives(void **state) {
    struct fixture a, b;
    struct ergo_text parcel = {0};
    (void)state;
    make(&a);
    make(&b);
    advance(&a);
    ergo_point_pack(a.result, &a.progress, 0, &parcel);
    assert_true(ergo_points_unpack(b.result, &b.progress, parcel.data, parcel.length));
    const struct ergo_point_progress *p = &b.progress;
    assert_int_equal(p->step, 8);
    assert_int_equal(p->samples, 3);
    assert_int_equal(p->length, 5);
    assert_memory_equal(p->state, "state", 5);
    assert_int_equal(b.member->n_samples, 3);
    assert_memory_equal(b.member->series[0], a.member->series[0], 3 * sizeof(double));
    for (size_t length = 1; length < parcel.length; length++) /* cut anywhere */
        assert_false(ergo_points_unpack(b.result, &b.progress, parcel.data, length));
    ergo_text_free(&parcel);
    unmake(&a);
    unmake(&b);
}

/* A rank whose device fails as it leaves a point that has no checkpoint sends its beginning. */
static void what_has_not_begun_arrives(void **state) {
    struct fixture a, b;
    struct ergo_text parcel = {0};
    (void)state;
    make(&a);
    make(&b);
    ergo_point_pack(a.result, &a.progress, 0, &parcel);
    assert_true(ergo_points_unpack(b.result, &b.progress, parcel.data, parcel.length));
    assert_int_equal(b.progress.step, 0);
    assert_null(b.progress.state);
    ergo_text_free(&parcel);
    unmake(&a);
    unmake(&b);
}

/* Is a parcel taken of which `count` words are others? of_state: from the state's head on. Its
 * curve has so many samples. */
static bool arrives(size_t word, bool of_state, const uint64_t *values, size_t count,
                    uint64_t in_curve) {
    struct fixture a, b;
    struct ergo_text parcel = {0};
    make(&a);
    make(&b);
    advance(&a);
    a.member->binned[a.of_curve].count = in_curve;
    ergo_point_pack(a.result, &a.progress, 0, &parcel);
    assert_true(word + count <= parcel.length / 8);
    memcpy(parcel.data + (of_state ? parcel.length - STATE : 0) + 8 * word, values,
           count * sizeof *values);
    const bool taken = ergo_points_unpack(b.result, &b.progress, parcel.data, parcel.length);
    ergo_text_free(&parcel);
    unmake(&a);
    unmake(&b);
    return taken;
}

static void what_no_rank_sends_is_refused(void **state) {
    static const struct {
        size_t word;
        uint64_t value;
        bool of_state;
    } wrong[] = {
        {INDEX, 1, false},          {STREAM, 1, false},        {STEPS, 9, false},
        {STEPS, 24, false},         {SAMPLES, 4, false},       {SAMPLES, 2, false},
        {PICTURES, 65, false},      {STEP, 6, false},          {STEP, 9, false},
        {STEP, 24, false},          {STATE_INDEX, 1, true},    {STATE_STEP, 9, true},
        {STATE_STEP, 0, true},      {LENGTH, 0, true},         {LENGTH, 6, true},
        {LENGTH, UINT64_MAX, true}, {STEP, UINT64_MAX, false},
    };
    (void)state;
    assert_true(arrives(STEPS, false, &(uint64_t){8}, 1, 0));
    assert_true(arrives(DIGEST, false, &(uint64_t){1}, 1, 0));
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        if (arrives(wrong[i].word, wrong[i].of_state, &wrong[i].value, 1, 0))
            fail_msg("taken: word %zu = %llu", wrong[i].word, (unsigned long long)wrong[i].value);
}

/* A chain that has ended has its digest of that step. */
static void ends_belong_to_their_step(void **state) {
    struct fixture a, b;
    (void)state;
    for (int steps = 22; steps <= 24; steps++) {
        struct ergo_text parcel = {0};
        make(&a);
        make(&b);
        a.progress.step = 23;
        a.progress.samples = a.member->n_samples = 11;
        for (size_t c = 0; c < a.result->job->model->n_columns; c++)
            for (size_t i = 0; i < 11 && a.member->series[c]; i++)
                a.member->series[c][i] = 1;
        a.member->steps = (uint64_t)steps;
        ergo_point_pack(a.result, &a.progress, 0, &parcel);
        assert_int_equal(ergo_points_unpack(b.result, &b.progress, parcel.data, parcel.length),
                         steps == 23);
        ergo_text_free(&parcel);
        unmake(&a);
        unmake(&b);
    }
}

/* A count and a length of bins that would be counted into memory behind them. */
static void bins_that_are_not_there_are_refused(void **state) {
    static const uint64_t counts[][2] = {{1, 0}, {4, 1}, {UINT64_MAX, 1}, {UINT64_MAX, UINT64_MAX},
                                         {3, 2}, {65, 1}};
    struct fixture f;
    (void)state;
    make(&f);
    /* behind the head, the series and the curves without points */
    size_t first = WORDS + 2 * f.of_curve;
    for (size_t c = 0; c < f.result->job->model->n_columns; c++)
        first += f.member->series[c] ? 3 : 0;
    unmake(&f);
    assert_true(arrives(first, false, &(uint64_t){3}, 1, 3)); /* three samples in bins of one */
    assert_false(arrives(first, false, &(uint64_t){3}, 1, 1));
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        if (arrives(first, false, counts[i], 2, 3))
            fail_msg("taken: %llu samples in bins of %llu", (unsigned long long)counts[i][0],
                     (unsigned long long)counts[i][1]);
}

/* Curves over the time of a run have no number of samples to be held to: counts whose sum with a
 * bin's length is beyond 2^64, and those after which a bin's number would be. */
static void counts_do_not_wrap(void **state) {
    static const struct ergo_model at_end = {.curves_at_end = 1},
                                   sums = {.curves_at_end = 1, .curves_sums = 1};
    static const uint64_t wrong[][2] = {{UINT64_MAX, 2},
                                        {UINT64_MAX, (uint64_t)1 << 59},
                                        {UINT64_MAX - 62, 64},
                                        {((uint64_t)1 << 53) + 1, (uint64_t)1 << 47}};
    (void)state;
    assert_true(ergo_point_curve_fits(&at_end, 0, 1000, 16, 10));
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_false(ergo_point_curve_fits(&at_end, 0, wrong[i][0], wrong[i][1], 10));
    assert_true(ergo_point_curve_fits(&sums, 0, 1000, 1000, 10));
    assert_false(ergo_point_curve_fits(&sums, 0, UINT64_MAX, UINT64_MAX, 10));
}

/* Pictures of no or too many pixels, or from beyond the end, behind the curves. */
static void pictures_that_are_none_are_refused(void **state) {
    static const uint64_t wrong[][3] = {{24, 4, 2},       {5, 0, 0},          {5, 0, 5},
                                        {5, 5, 0},        {5, 65536, 1},      {5, 1, 2049},
                                        {5, 1U << 31, 1}, {5, UINT64_MAX, 1}, {UINT64_MAX, 4, 2}};
    static const uint64_t good[3] = {5, 4, 2};
    enum { HEAD = sizeof good, PIXELS = 4 * 2 * 3 };
    struct fixture a, b;
    struct ergo_text parcel = {0};
    (void)state;
    make(&a);
    make(&b);
    advance(&a);
    a.member->n_pictures = 1;
    a.member->picture_steps[0] = good[0];
    a.member->pictures[0] = (struct ergo_picture){4, 2, calloc(PIXELS, 1)};
    ergo_point_pack(a.result, &a.progress, 0, &parcel);
    const size_t before = parcel.length - HEAD - PIXELS - STATE;
    assert_memory_equal(parcel.data + before, good, HEAD);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        /* with as many pixels as it says, where these are not too many for a test */
        const uint64_t pixels = wrong[i][1] * wrong[i][2] * 3;
        struct ergo_text odd = {0};
        ergo_text_append_bytes(&odd, parcel.data, before);
        ergo_text_append_bytes(&odd, wrong[i], HEAD);
        for (uint64_t k = 0; k < pixels && pixels < 1 << 20; k++)
            ergo_text_append_bytes(&odd, "x", 1);
        ergo_text_append_bytes(&odd, parcel.data + parcel.length - STATE, STATE);
        if (ergo_points_unpack(b.result, &b.progress, odd.data, odd.length))
            fail_msg("taken: %llu x %llu at step %llu", (unsigned long long)wrong[i][1],
                     (unsigned long long)wrong[i][2], (unsigned long long)wrong[i][0]);
        ergo_text_free(&odd);
    }
    assert_true(ergo_points_unpack(b.result, &b.progress, parcel.data, parcel.length));
    assert_int_equal(b.member->n_pictures, 1);
    ergo_text_free(&parcel);
    unmake(&a);
    unmake(&b);
}

/* All of a parcel arrives; one that is no further than what is known changes nothing; more pictures
 * than a run takes, and a chain on its way without a state, are refused. */
static void the_further_parcel_stays(void **state) {
    struct fixture a, b;
    struct ergo_text parcel = {0}, many = {0};
    enum { HEAD = 3 * 8, PIXELS = 3 };
    (void)state;
    make(&a);
    make(&b);
    advance(&a);
    struct ergo_curve *from = &a.member->binned[a.of_curve], *to = &b.member->binned[a.of_curve];
    from->count = 3;
    from->bins[from->size] = 7.5;
    a.member->digest = 99;
    a.member->n_pictures = 1;
    a.member->picture_steps[0] = 5;
    a.member->pictures[0] = (struct ergo_picture){1, 1, malloc(PIXELS)};
    memcpy(a.member->pictures[0].rgb, "rgb", PIXELS);
    ergo_point_pack(a.result, &a.progress, 0, &parcel);
    assert_true(ergo_points_unpack(b.result, &b.progress, parcel.data, parcel.length));
    assert_true(to->count == 3 && to->bins[to->size] == 7.5);
    assert_int_equal(b.member->digest, 99);
    assert_memory_equal(b.member->pictures[0].rgb, "rgb", PIXELS);

    a.member->digest = 100; /* at the same step */
    a.member->series[0][0] = from->bins[from->size] = -1;
    parcel.length = 0;
    ergo_point_pack(a.result, &a.progress, 0, &parcel);
    assert_true(ergo_points_unpack(b.result, &b.progress, parcel.data, parcel.length));
    assert_true(to->bins[to->size] == 7.5 && b.member->series[0][0] == 0);
    assert_int_equal(b.member->digest, 99);

    const size_t before = parcel.length - HEAD - PIXELS - STATE;
    const uint64_t pictures = ERGO_RESULT_PICTURES + 1;
    ergo_text_append_bytes(&many, parcel.data, before);
    for (uint64_t k = 0; k < pictures; k++)
        ergo_text_append_bytes(&many, parcel.data + before, HEAD + PIXELS);
    ergo_text_append_bytes(&many, parcel.data + parcel.length - STATE, STATE);
    memcpy(many.data + 8 * PICTURES, &pictures, sizeof pictures);
    assert_false(ergo_points_unpack(b.result, &b.progress, many.data, many.length));

    a.progress.length = 0;
    parcel.length = 0;
    ergo_point_pack(a.result, &a.progress, 0, &parcel);
    assert_false(ergo_points_unpack(b.result, &b.progress, parcel.data, parcel.length));
    ergo_text_free(&parcel);
    ergo_text_free(&many);
    unmake(&a);
    unmake(&b);
}

/* A picture of one pixel at that step. */
static void take_picture(struct fixture *f, uint64_t step) {
    struct ergo_member_result *m = f->member;
    m->picture_steps[m->n_pictures] = step;
    m->pictures[m->n_pictures++] = (struct ergo_picture){1, 1, calloc(3, 1)};
}

/* A point whose device failed stands where it was marked, as if nothing had come after it. */
static void back_to_the_mark(void **state) {
    const double rows[2 * ERGO_COLUMNS_MAX] = {4, 2, 1};
    struct fixture f;
    (void)state;
    make(&f);
    advance(&f);
    const size_t columns = f.result->job->model->n_columns,
                 size = f.member->binned[f.of_curve].size;
    struct ergo_curve *curve = &f.member->binned[f.of_curve];
    assert_true(columns <= ERGO_COLUMNS_MAX);
    curve->count = 3;
    curve->bins[size] = 7.5;
    f.member->steps = 8;
    f.member->digest = 99;
    take_picture(&f, 5);
    assert_true(ergo_member_catch_up(f.member));
    const uint64_t measured = f.member->online.count;
    assert_true(measured > 0);
    assert_true(ergo_point_mark(f.result, &f.progress, 0));

    assert_true(ergo_member_add(f.member, 3, 2, rows)); /* goes on, and fails */
    take_picture(&f, 11);
    curve->count = 5;
    curve->bins[size] = curve->bins[2 * size] = 1;
    f.member->steps = 12;
    f.member->digest = 100;
    assert_true(ergo_point_back(f.result, &f.progress, 0));
    assert_int_equal(f.member->n_samples, 3);
    assert_int_equal(f.member->n_pictures, 1);
    assert_int_equal(f.member->picture_steps[0], 5);
    assert_true(f.member->steps == 8 && f.member->digest == 99);
    assert_true(curve->count == 3 && curve->bins[size] == 7.5 && curve->bins[2 * size] == 0);
    assert_true(ergo_member_catch_up(f.member)); /* estimators see the series once */
    assert_int_equal(f.member->online.count, measured);

    f.progress.step = f.progress.samples = 0; /* from the beginning: whatever the mark says */
    assert_true(ergo_point_back(f.result, &f.progress, 0));
    assert_true(f.member->n_samples == 0 && f.member->n_pictures == 0 && f.member->steps == 0);
    assert_true(f.member->online.count == 0 && curve->count == 0 && curve->bins[size] == 0);
    unmake(&f);
}

/* Where a run of three samples, at 3, 5 and 7 of 9 steps, can stand. */
static void steps_and_samples_belong_together(void **state) {
    const struct ergo_schedule s = {.lead = 1, .every = 2, .n_samples = 3, .total = 9};
    static const struct ergo_model plain = {0};
    (void)state;
    for (uint64_t step = 0; step <= 12; step++)
        for (uint64_t samples = 0; samples <= 4; samples++) {
            const uint64_t taken = step < 3 ? 0 : step < 5 ? 1 : step < 7 ? 2 : 3;
            assert_int_equal(ergo_schedule_allows(&s, step, samples),
                             step <= 9 && samples == taken);
        }
    /* as many bins as there are, after the merges that made them as long */
    assert_true(ergo_point_curve_fits(&plain, 0, ERGO_CURVE_BINS, 1, 1000));
    assert_false(ergo_point_curve_fits(&plain, 0, ERGO_CURVE_BINS + 1, 1, 1000));
    assert_false(ergo_point_curve_fits(&plain, 0, 1000, 1, 1000));
    assert_false(ergo_point_curve_fits(&plain, 0, 3, 2, 1000));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_sent_arrives),
        cmocka_unit_test(what_has_not_begun_arrives),
        cmocka_unit_test(what_no_rank_sends_is_refused),
        cmocka_unit_test(ends_belong_to_their_step),
        cmocka_unit_test(bins_that_are_not_there_are_refused),
        cmocka_unit_test(counts_do_not_wrap),
        cmocka_unit_test(pictures_that_are_none_are_refused),
        cmocka_unit_test(the_further_parcel_stays),
        cmocka_unit_test(back_to_the_mark),
        cmocka_unit_test(steps_and_samples_belong_together),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
