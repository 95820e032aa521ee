/*
 * Transition matrices without a device: probabilities of insertions and deletions of a made-up
 * distribution with two peaks, and what an analysis finds in them. Seeds are fixed.
 */
#include "analyse_results.h"

enum { MOST = 60 };

static double gas_at = 6; /* the vapour's peak */

/* ln Pi(N) at the runs' activity; at coexistence both peaks weigh the same. */
static double log_pi(double n) {
    const double gas = exp(-(n - gas_at) * (n - gas_at) / 20) / sqrt(20),
                 liquid = exp(-(n - 42) * (n - 42) / 40) / sqrt(40);
    return log(gas + liquid + 1e-7) - 0.25 * n;
}

static size_t column(const struct ergo_point *point, const char *name) {
    for (size_t c = 0; c < point->job->model->n_columns; c++)
        if (strcmp(point->job->model->columns[c].name, name) == 0)
            return c;
    fail_msg("no column %s", name);
    return 0;
}

/* About 1, with a standard deviation of 0.2. */
static double noise(void) {
    return 1 + 0.2 * sqrt(12) * (uniform() - 0.5);
}

static double moved = 0.3; /* share of displacements that are accepted from 40 particles on */

/* The same of so few that many trials would have nobody to move. */
static const double moved_few = 0.02;

/* Of a larger box (test_boxes) insertions are accepted more often. */
static double rises(const struct ergo_point *point) {
    const struct ergo_value *box = ergo_point_value(point, "/system/box");
    return (box->items ? box->reals[0] : box->real) > 5 ? 1.2 : 1;
}

static void fill(const struct ergo_point *point, size_t n, size_t n_columns, double *rows) {
    const double particles = (double)ergo_point_int(point, "/system/particles");
    const double ratio = exp(log_pi(particles + 1) - log_pi(particles));
    seed = point->stream;
    for (size_t s = 0; s < n; s++) {
        double *c = rows + s * n_columns;
        c[column(point, "particles")] = particles;
        c[column(point, "tried_displacement")] = 1e6 * (double)(s + 1);
        c[column(point, "accepted_displacement")] = 1e6 * (double)(s + 1) *
                                                    (particles < 8    ? moved_few
                                                     : particles < 40 ? 0.3
                                                                      : moved);
        c[column(point, "insertion_probability")] = 0.1 * ratio * noise() * rises(point);
        c[column(point, "deletion_probability")] = 0.1 * noise();
    }
}

#define RUNS(last)                                                                                 \
    "{\"sampler\":\"lj-fluid\",\"seed\":\"%u\",\"replicas\":2,\"system\":{\"ensemble\":\"muvt\","  \
    "\"box\":[5,5,5],\"temperature\":1.5,\"beta_mu\":-3,\"particles\":0},\"run\":{\"method\":"     \
    "\"transition-matrix\",\"equilibration\":0,\"sweeps\":400,\"measure_every\":1,\"curve_"        \
    "every\":"                                                                                     \
    "0},\"scan\":{\"/system/particles\":{\"from\":0,\"to\":" last                                  \
    ",\"step\":1}},\"output\":{\"series\":\"full\"}}"

/* By plain sums over N on either side of the valley, at ln z increased by `shift`. */
static void sides(double shift, double weight[2], double mean[2]) {
    for (int side = 0; side < 2; side++)
        weight[side] = mean[side] = 0;
    for (int n = 0; n <= MOST; n++) {
        const double w = exp(log_pi(n) + n * shift);
        weight[n >= 22] += w;
        mean[n >= 22] += w * n;
    }
    for (int side = 0; side < 2; side++)
        mean[side] /= weight[side];
}

static double z_of(struct ergo_valued v, double truth) {
    assert_true(v.error > 0);
    return (v.value - truth) / v.error;
}

/* ln z, densities and pressure at coexistence, and errors that cover: of 160 values 89 to 127
 * within one (four standard deviations; densities and pressure of one run go together). */
static void test_phases(void **state) {
    double low = -1, high = 1, weight[2], mean[2];
    unsigned inside = 0, all = 0;
    (void)state;
    for (int i = 0; i < 60; i++) {
        sides(0.5 * (low + high), weight, mean);
        *(weight[1] > weight[0] ? &high : &low) = 0.5 * (low + high);
    }
    const double pressure = 1.5 / 125 * (log(weight[0]) - log_pi(0));
    for (unsigned s = 0; s < 40; s++) {
        char text[600];
        snprintf(text, sizeof text, RUNS("60"), s);
        struct ergo_result *result = make_result(text, fill);
        struct ergo_analysis *a = analyse(&result, 1, &(struct ergo_analyse_options){0}, ERGO_OK);
        assert_int_equal(a->n_matrices, 1);
        const struct ergo_matrix *m = &a->matrices[0];
        assert_null(m->why_not);
        assert_int_equal(m->count, MOST + 1);
        assert_near(m->volume, 125, 1e-9);
        const double z[] = {z_of(m->log_coexistence, low - 3), z_of(m->density[0], mean[0] / 125),
                            z_of(m->density[1], mean[1] / 125), z_of(m->pressure, pressure)};
        for (int i = 0; i < 4; i++, all++) {
            inside += fabs(z[i]) < 1;
            assert_true(fabs(z[i]) < 5);
        }
        ergo_analysis_destroy(a);
    }
    printf("%u of %u within one error\n", inside, all);
    assert_in_range(inside, 89, 127);
}

/* An N that ends in the liquid's peak, too few N, and what is printed. */
static void test_refused(void **state) {
    static const char *const lasts[] = {"44", "5"};
    (void)state;
    for (int i = 0; i < 2; i++) {
        char text[600];
        if (i)
            snprintf(text, sizeof text, RUNS("5"), 1u);
        else
            snprintf(text, sizeof text, RUNS("44"), 1u);
        struct ergo_result *result = make_result(text, fill);
        struct ergo_analysis *a = analyse(&result, 1, &(struct ergo_analyse_options){0}, ERGO_OK);
        char *out = NULL;
        assert_int_equal(a->n_matrices, 1);
        assert_non_null(strstr(a->matrices[0].why_not, i ? "more than eight" : "scan particles"));
        assert_int_equal(ergo_analysis_table(ctx, a, &out), ERGO_OK);
        assert_non_null(strstr(out, lasts[i]));
        assert_non_null(strstr(out, a->matrices[0].why_not));
        free(out);
        ergo_analysis_destroy(a);
    }
}

/* An N without a run: what is on either side of it is told apart, and the gap by its number. */
static void test_gap(void **state) {
    (void)state;
    struct ergo_result *results[2];
    for (int i = 0; i < 2; i++) {
        char text[600];
        snprintf(text, sizeof text, RUNS("12"), 1u);
        char *from = i ? strstr(text, "\"from\":0,\"to\":12") : NULL;
        if (from)
            memcpy(from, "\"from\":14,\"to\":26,\"step\":1}},\"output\":{\"series\":\"full\"}}",
                   sizeof "\"from\":14,\"to\":26,\"step\":1}},\"output\":{\"series\":\"full\"}}");
        results[i] = make_result(text, fill);
    }
    struct ergo_analysis *a = analyse(results, 2, &(struct ergo_analyse_options){0}, ERGO_OK);
    char *out = NULL;
    assert_int_equal(a->n_matrices, 2);
    assert_int_equal(a->matrices[0].gap, 13);
    assert_int_equal(a->matrices[1].gap, 0);
    assert_int_equal(ergo_analysis_table(ctx, a, &out), ERGO_OK);
    assert_non_null(strstr(out, "no run of N = 13"));
    assert_null(strstr(out, "particles 5")); /* windows are not listed one by one */
    free(out);
    ergo_analysis_destroy(a);
}

/* RUNS("60") with another text in the place of one that is as long or longer. */
static struct ergo_result *run_with(unsigned number, const char *from, const char *to) {
    char text[600], other[600];
    snprintf(text, sizeof text, RUNS("60"), number);
    char *at = strstr(text, from);
    assert_non_null(at);
    snprintf(other, sizeof other, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
    return make_result(other, fill);
}

/* Two boxes at one temperature and z are two matrices, with volumes of their own; shapes of one
 * volume too. Runs that differ in their steps are one, and an N that both have is their mean. */
static void test_boxes(void **state) {
    (void)state;
    struct ergo_result *results[] = {
        run_with(1, "[5,5,5]", "[6,6,6]"), run_with(2, "\"from\":0,", "\"from\":30,"),
        run_with(3, "\"particles\":0}", "\"particles\":0,\"max_displacement\":0.3}"),
        run_with(4, "[5,5,5]", "[6,7.2,5]")};
    const double volumes[] = {125, 216, 216};
    struct ergo_analysis *a = analyse(results, 4, &(struct ergo_analyse_options){0}, ERGO_OK);
    char *out = NULL;
    assert_int_equal(a->n_matrices, 3);
    for (size_t i = 0; i < 3; i++) {
        const struct ergo_matrix *m = &a->matrices[i];
        assert_int_equal(m->first, 0);
        assert_int_equal(m->count, MOST + 1);
        assert_int_equal(m->gap, 0);
        assert_near(m->volume, volumes[i], 1e-9);
        /* four standard deviations of 10 to 60 steps of 0.01 each */
        for (size_t n = 0; n <= MOST; n += 10)
            assert_near(m->log_pi[n],
                        log_pi((double)n) - log_pi(0) + (i ? (double)n * log(1.2) : 0),
                        0.045 * sqrt((double)n));
    }
    assert_true(a->matrices[0].step_error[50] < 0.85 * a->matrices[0].step_error[10]);
    assert_string_equal(a->matrices[0].label, "box 5 x 5 x 5");
    assert_string_equal(a->matrices[1].label, "box 6 x 6 x 6");
    assert_string_equal(a->matrices[2].label, "box 6 x 7.2 x 5");
    assert_int_equal(ergo_analysis_table(ctx, a, &out), ERGO_OK);
    assert_non_null(strstr(out, "temperature 1.5, box 6 x 7.2 x 5, N = 0 to 60"));
    free(out);
    assert_int_equal(ergo_analysis_csv(ctx, a, &out), ERGO_OK);
    assert_non_null(strstr(out, "saturation,\"box 6 x 6 x 6\",/system/temperature"));
    free(out);
    ergo_analysis_destroy(a);
}

/* A scan over the box of one run: a matrix of each. */
static void test_scanned_box(void **state) {
    (void)state;
    struct ergo_result *result = make_result(
        "{\"sampler\":\"lj-fluid\",\"seed\":\"1\",\"system\":{\"ensemble\":\"muvt\","
        "\"temperature\":1.5,\"beta_mu\":-3},\"run\":{\"method\":\"transition-matrix\","
        "\"equilibration\":0,\"sweeps\":100,\"measure_every\":1,\"curve_every\":0},\"scan\":{"
        "\"/system/box\":[5,6],\"/system/particles\":{\"from\":0,\"to\":60,\"step\":1}}}",
        fill);
    struct ergo_analysis *a = analyse(&result, 1, &(struct ergo_analyse_options){0}, ERGO_OK);
    assert_int_equal(a->n_matrices, 2);
    for (size_t i = 0; i < 2; i++) {
        char label[16];
        snprintf(label, sizeof label, "box %zu", 5 + i);
        assert_string_equal(a->matrices[i].label, label);
        assert_int_equal(a->matrices[i].count, MOST + 1);
        assert_near(a->matrices[i].volume, pow(5.0 + (double)i, 3), 1e-9);
        assert_null(a->matrices[i].why_not);
    }
    ergo_analysis_destroy(a);
}

/* Ends of N with weight: a first N in the vapour's peak is refused, as a last one in the liquid's
 * is; from N = 3 with nothing below there are densities and no pressure; what a density lacks of
 * the N beyond the last one is told where errors do not cover it. */
static void test_ends(void **state) {
    (void)state;
    char *out = NULL;
    double weight = 0, all = 0, sum = 0, sum_all = 0, low = -1, high = 1, w[2], mean[2];
    struct ergo_result *result = run_with(1, "\"from\":0,", "\"from\":1,");
    struct ergo_analysis *a = analyse(&result, 1, &(struct ergo_analyse_options){0}, ERGO_OK);
    assert_non_null(strstr(a->matrices[0].why_not, "scan particles from 0"));
    ergo_analysis_destroy(a);

    gas_at = 15;
    result = run_with(1, "\"from\":0,", "\"from\":3,");
    a = analyse(&result, 1, &(struct ergo_analyse_options){0}, ERGO_OK);
    assert_null(a->matrices[0].why_not);
    assert_true(isnan(a->matrices[0].pressure.value));
    assert_int_equal(ergo_analysis_table(ctx, a, &out), ERGO_OK);
    assert_non_null(strstr(out, "none, because it takes Pi(0): scan particles from 0"));
    free(out);
    assert_int_equal(ergo_analysis_csv(ctx, a, &out), ERGO_OK);
    assert_null(strstr(out, "saturation_pressure"));
    free(out);
    ergo_analysis_destroy(a);
    gas_at = 6;

    result = run_with(1, "\"to\":60", "\"to\":57");
    a = analyse(&result, 1, &(struct ergo_analyse_options){0}, ERGO_OK);
    assert_null(a->matrices[0].why_not);
    for (int i = 0; i < 60; i++) {
        sides(0.5 * (low + high), w, mean);
        *(w[1] > w[0] ? &high : &low) = 0.5 * (low + high);
    }
    for (int n = 22; n < 90; n++) {
        const double p = exp(log_pi(n) + n * low);
        all += p;
        sum_all += p * n;
        weight += n <= 57 ? p : 0;
        sum += n <= 57 ? p * n : 0;
    }
    const double truth = (sum_all / all - sum / weight) / 125;
    printf("missing %g, truth %g\n", a->matrices[0].missing[1], truth);
    assert_true(a->matrices[0].missing[1] > 0.8 * truth && a->matrices[0].missing[1] < 2 * truth);
    assert_true(a->matrices[0].missing[0] == 0);
    for (int k = 0; k < 2; k++) {
        a->matrices[0].density[1].error = k ? truth / 2 : 5 * truth;
        assert_int_equal(ergo_analysis_table(ctx, a, &out), ERGO_OK);
        assert_true((strstr(out, "N = 57, the last, still has weight: density_liquid is too low") !=
                     NULL) == (k == 1));
        free(out);
    }
    ergo_analysis_destroy(a);
}

#define MUVT                                                                                       \
    "{\"sampler\":\"lj-fluid\",\"seed\":\"1\",\"replicas\":2,\"system\":{\"ensemble\":\"muvt\","   \
    "\"box\":[3,3,3],\"cutoff\":1.5,\"temperature\":1.5,\"beta_mu\":3},\"run\":{"                  \
    "\"equilibration\":"                                                                           \
    "0,\"sweeps\":400,\"measure_every\":1},\"output\":{\"series\":\"full\"}}"

/* Two chains; the second one has N up to 39 + `more`. */
static struct ergo_result *open_result(size_t more) {
    struct ergo_job *job = NULL;
    struct ergo_result *result = NULL;
    double rows[400 * ERGO_COLUMNS_MAX] = {0};
    assert_int_equal(ergo_job_parse(ctx, MUVT, strlen(MUVT), "job.json", NULL, 0, &job), ERGO_OK);
    assert_int_equal(ergo_result_create(ctx, job, &result), ERGO_OK);
    const struct ergo_model *model = job->model;
    size_t c = 0;
    while (strcmp(model->curves[c].name, "particles_histogram") != 0)
        c++;
    for (size_t m = 0; m < 2; m++) {
        for (size_t s = 0; s < 400; s++) {
            double *columns = rows + s * model->n_columns, count;
            columns[column(&job->points[m], "particles")] = (double)(s % 40 + (m ? more : 0));
            const size_t at = model->histogram_bin(&job->points[m], c, columns, &count);
            ergo_curve_add_at(&result->members[m].binned[c], at, count);
        }
        assert_true(ergo_member_add(&result->members[m], 0, 400, rows));
        result->members[m].steps = 400;
    }
    result->status = "complete";
    assert_int_equal(ergo_result_evaluate(ctx, result), ERGO_OK);
    ergo_result_drop_binned(result);
    return result;
}

/* P(N) ends at 1.2 per sigma^3 and 16, here 48. Samples beyond are warned of, and an analysis says
 * so, too; where all are inside neither does. */
static void test_beyond(void **state) {
    static const char *const says = "particles_histogram ends at 48, and up to 5% of the samples";
    (void)state;
    for (size_t more = 9; more <= 11; more += 2) {
        struct ergo_result *result = open_result(more);
        size_t warned = 0, noted = 0;
        for (size_t w = 0; w < result->n_warnings; w++)
            warned += strstr(result->warnings[w], says) != NULL &&
                      strstr(result->warnings[w], "in 1 of 2 chains") != NULL;
        struct ergo_analysis *a = analyse(&result, 1, &(struct ergo_analyse_options){0}, ERGO_OK);
        for (size_t i = 0; i < a->n_notes; i++)
            noted += strstr(a->notes[i], "particles_histogram of run0 ends at 48") != NULL;
        assert_int_equal(warned, more > 9);
        assert_int_equal(noted, more > 9);
        ergo_analysis_destroy(a);
    }
}

/* Particles that keep their places: no densities, whatever the probabilities say; and a warning of
 * the run, but not for the few. */
static void test_unmoved(void **state) {
    (void)state;
    for (int i = 0; i < 2; i++) {
        char text[600];
        snprintf(text, sizeof text, RUNS("60"), 1u);
        moved = i ? 0.009 : 0.011;
        struct ergo_result *result = make_result(text, fill);
        size_t warned = 0;
        for (size_t w = 0; w < result->n_warnings; w++)
            warned += strstr(result->warnings[w], "acceptance_displacement is") != NULL
                          ? strstr(result->warnings[w], "at 42 of 122 chains") ? 1 : 100
                          : 0;
        assert_int_equal(warned, 1);
        struct ergo_analysis *a = analyse(&result, 1, &(struct ergo_analyse_options){0}, ERGO_OK);
        assert_int_equal(a->matrices[0].unmoved, i ? 21 : 0);
        assert_true(i ? strstr(a->matrices[0].why_not, "max_displacement") != NULL
                      : a->matrices[0].why_not == NULL);
        ergo_analysis_destroy(a);
    }
    moved = 0.3;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_phases), cmocka_unit_test(test_refused),
        cmocka_unit_test(test_gap),    cmocka_unit_test(test_unmoved),
        cmocka_unit_test(test_boxes),  cmocka_unit_test(test_scanned_box),
        cmocka_unit_test(test_ends),   cmocka_unit_test(test_beyond)};
    return cmocka_run_group_tests(tests, context_open, context_close);
}
