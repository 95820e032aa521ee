/*
 * Analyses of results without a device: jobs of real models, whose series a plain chain on the host
 * fills, against enumeration. Seeds are fixed; budgets were set before the first run.
 */
#include "analyse_results.h"

static size_t find(const struct ergo_analysis *a, const char *name) {
    for (size_t o = 0; o < a->n_observables; o++)
        if (strcmp(a->model->observables[a->observables[o]].name, name) == 0)
            return o;
    fail_msg("no %s", name);
    return 0;
}

/* Errors of reweighted energies, heat capacities and Binder's cumulants, between and beyond three
 * temperatures, are as large as they say: of 200 seeds 60 to 76% are within one (68.3% expected,
 * with a standard deviation of 3.3%). */
static void test_coverage(void **state) {
    static const char *const names[] = {"energy", "heat_capacity", "binder", "abs_magnetization"};
    const char *reweight[] = {"temperature=2.0,2.6,3.4"};
    const struct ergo_analyse_options o = {.reweight = reweight, .n_reweight = 1};
    unsigned inside[4][3] = {{0}};
    double sum[4][3] = {{0}};
    (void)state;
    for (unsigned s = 0; s < 200; s++) {
        char text[512];
        snprintf(text, sizeof text, ISING("", "6000", "\"/system/temperature\":[2.2,2.5,3]"), s);
        struct ergo_result *result = make_result(text, fill_ising);
        struct ergo_analysis *a = analyse(&result, 1, &o, ERGO_OK);
        assert_int_equal(a->n_rows, 3);
        for (size_t i = 0; i < 3; i++) {
            struct ergo_ising_moments exact;
            assert_true(ergo_ising_enumerate(4, 4, a->rows[i].at[0], 1, 0, &exact));
            const double truth[] = {exact.energy, exact.heat_capacity, exact.binder,
                                    exact.abs_magnetization};
            for (size_t k = 0; k < 4; k++) {
                const struct ergo_valued v = a->rows[i].values[find(a, names[k])];
                assert_true(v.error > 0);
                inside[k][i] += fabs(v.value - truth[k]) < v.error;
                sum[k][i] += (v.value - truth[k]) / v.error / sqrt(200);
            }
        }
        ergo_analysis_destroy(a);
    }
    for (size_t k = 0; k < 4; k++)
        for (size_t i = 0; i < 3; i++) {
            printf("%s %zu: %.1f%%, z of the mean %.2f\n", names[k], i, inside[k][i] / 2.0,
                   sum[k][i]);
            assert_in_range(inside[k][i], 120, 152);
            assert_true(fabs(sum[k][i]) < 4);
        }
}

/* Samples of two fields and two temperatures, for others: the energy has the field in it. */
static void test_field(void **state) {
    const char *reweight[] = {"/system/temperature=2.7", "field=0.1,0.25,0.4"};
    const struct ergo_analyse_options o = {.reweight = reweight, .n_reweight = 2};
    char text[512];
    (void)state;
    snprintf(text, sizeof text,
             ISING("", "100000", "\"/system/temperature\":[2.2,3.6],\"/system/field\":[0,0.6]"),
             3u);
    struct ergo_result *result = make_result(text, fill_ising);
    struct ergo_analysis *a = analyse(&result, 1, &o, ERGO_OK);
    assert_int_equal(a->n_systems, 1);
    assert_int_equal(a->systems[0].n_states, 4);
    assert_int_equal(a->n_rows, 3);
    for (size_t i = 0; i < 3; i++) {
        struct ergo_ising_moments exact;
        assert_true(ergo_ising_enumerate(4, 4, 2.7, 1, a->rows[i].at[1], &exact));
        const struct ergo_valued *v = a->rows[i].values;
        const struct ergo_valued e = v[find(a, "energy")], m = v[find(a, "magnetization2")];
        assert_true(e.error > 0 && e.error < 0.02);
        assert_near(e.value, exact.energy, 4 * e.error);
        assert_near(m.value, exact.magnetization2, 4 * m.error);
        const struct ergo_valued c = v[find(a, "heat_capacity")];
        assert_near(c.value, exact.heat_capacity, 4 * c.error);
    }
    ergo_analysis_destroy(a);
}

/* ---- refusals -------------------------------------------------------------------------------- */

static void refused(const char *job, const struct ergo_analyse_options *o, const char *first,
                    const char *second) {
    char text[512];
    snprintf(text, sizeof text, job, 1u);
    struct ergo_result *result = make_result(text, fill_ising);
    struct ergo_analysis *a = analyse(&result, 1, o, ERGO_E_JOB);
    const char *message = ergo_error_message(ctx);
    if (!strstr(message, first) || !strstr(message, second))
        fprintf(stderr, "%s\n", message);
    assert_non_null(strstr(message, first));
    assert_non_null(strstr(message, second));
    ergo_error_clear(ctx);
    ergo_analysis_destroy(a);
}

static void test_refusals(void **state) {
    static const char job[] = ISING("", "4000", "\"/system/temperature\":[2.4,2.6]");
    const char *far[] = {"temperature=9"}, *wrong[] = {"tempetarure=2.5"},
               *none[] = {"temperature"};
    const char *low[] = {"temperature=-1"}, *field[] = {"field=0.1"};
    const char *misspelled[] = {"enrgy"};
    (void)state;
    refused(job, &(struct ergo_analyse_options){.reweight = far, .n_reweight = 1},
            "outside of the overlap", "allowed: 1.73742 to 3.");
    refused(job, &(struct ergo_analyse_options){.reweight = wrong, .n_reweight = 1},
            "did you mean \"temperature\"?", "/system/field");
    refused(job, &(struct ergo_analyse_options){.reweight = none, .n_reweight = 1},
            "gives no values", "temperature=FROM:TO:STEP");
    refused(job, &(struct ergo_analyse_options){.reweight = low, .n_reweight = 1},
            "/system/temperature is -1", "range");
    refused(job, &(struct ergo_analyse_options){.reweight = field, .n_reweight = 1},
            "points differ in /system/temperature", "--reweight");
    refused(job, &(struct ergo_analyse_options){.crossing = "binder"}, "two sizes", "");
    refused(job, &(struct ergo_analyse_options){.fit = "binder"}, "two sizes", "");
    refused(job, &(struct ergo_analyse_options){.observables = misspelled, .n_observables = 1},
            "did you mean \"energy\"?", "");
    refused(ISING("", "4000", "\"/system/temperature\":[2.4,2.6]") " ",
            &(struct ergo_analyse_options){.window = "2:1", .fit = "binder"}, "--window", "");
    refused(
        "{\"sampler\":\"spin-lattice\",\"seed\":\"%u\",\"system\":{\"size\":[4,4],\"temperature\":"
        "2.5},\"run\":{\"sweeps\":1000},\"output\":{\"series\":\"blocks\"}}",
        &(struct ergo_analyse_options){.reweight = far, .n_reweight = 1},
        "/output/series is \"blocks\"", "--set /output/series=full");
    refused(
        "{\"sampler\":\"spin-lattice\",\"seed\":\"%u\",\"system\":{\"size\":[4,4],\"temperature\":"
        "2.5,\"disorder\":\"bimodal\"},\"run\":{\"sweeps\":1000}}",
        &(struct ergo_analyse_options){.reweight = far, .n_reweight = 1},
        "couplings or fields are drawn", "");
    refused(
        "{\"sampler\":\"spin-lattice\",\"seed\":\"%u\",\"system\":{\"model\":\"xy\",\"size\":[4,"
        "4],\"temperature\":2.5},\"scan\":{\"/system/random_field\":[0,1]},\"run\":{\"sweeps\":"
        "1000}}",
        &(struct ergo_analyse_options){.reweight = far, .n_reweight = 1},
        "couplings or fields are drawn", "");
}

/* Values that are partly inside: a note with the range, no number outside, and no error from a run
 * that is too short. */
static void test_edges(void **state) {
    const char *reweight[] = {"temperature=2.5,9"};
    const struct ergo_analyse_options o = {.reweight = reweight, .n_reweight = 1};
    char text[512];
    (void)state;
    snprintf(text, sizeof text, ISING("", "4000", "\"/system/temperature\":[2.4,2.6]"), 1u);
    struct ergo_result *result = make_result(text, fill_ising);
    struct ergo_analysis *a = analyse(&result, 1, &o, ERGO_OK);
    assert_true(a->rows[0].independent >= 100 && a->rows[1].independent < 100);
    assert_int_equal(a->n_notes, 1);
    assert_non_null(strstr(a->notes[0], "1 of 2 values"));
    const struct ergo_part *part = a->systems[0].parts[0];
    assert_true(part->low < 2.4 && part->high > 2.6 && part->high < 9);
    ergo_analysis_destroy(a);
    snprintf(text, sizeof text, ISING("", "500", "\"/system/temperature\":[2.4,2.45]"), 1u);
    result = make_result(text, fill_ising);
    a = analyse(&result, 1, &(struct ergo_analyse_options){0}, ERGO_OK);
    assert_int_equal(a->systems[0].parts[0]->n_blocks, 0);
    assert_true(a->n_notes >= 1);
    assert_non_null(strstr(a->notes[0], "too short for errors"));
    for (size_t i = 0; i < a->n_rows; i++)
        if (a->rows[i].independent >= 100)
            assert_true(isnan(a->rows[i].values[0].error));
    ergo_analysis_destroy(a);
}

/* Two seeds of one physics: a mean with their lengths as weights, chi^2; a third that disagrees. */
static void fill_shifted(const struct ergo_point *point, size_t n, size_t n_columns, double *rows) {
    fill_ising(point, n, n_columns, rows);
    for (size_t s = 0; s < n; s++)
        rows[s * n_columns] += 0.5;
}

static void test_pool(void **state) {
    struct ergo_result *results[3];
    char text[512];
    (void)state;
    snprintf(text, sizeof text, ISING("", "4000", "\"/system/temperature\":[2.5]"), 1u);
    results[0] = make_result(text, fill_ising);
    snprintf(text, sizeof text, ISING("", "12000", "\"/system/temperature\":[2.5]"), 2u);
    results[1] = make_result(text, fill_ising);
    struct ergo_analysis *a = analyse(results, 2, &(struct ergo_analyse_options){0}, ERGO_OK);
    const struct ergo_pooled *p = &a->pooled[0];
    const struct ergo_observable_result *r = &results[0]->members[0].observables[0];
    const struct ergo_observable_result *q = &results[1]->members[0].observables[0];
    assert_int_equal(p->n, 2);
    assert_near(p->weights[0], 0.25, 1e-12);
    assert_near(p->mean, 0.25 * r->estimate.mean + 0.75 * q->estimate.mean, 1e-12);
    assert_near(p->error, hypot(0.25 * r->estimate.error, 0.75 * q->estimate.error), 1e-12);
    const double variance =
        r->estimate.error * r->estimate.error + q->estimate.error * q->estimate.error;
    assert_near(p->chi2, pow(r->estimate.mean - q->estimate.mean, 2) / variance, 1e-9);
    assert_false(p->disagree);
    ergo_analysis_destroy(a);
    snprintf(text, sizeof text, ISING("", "4000", "\"/system/temperature\":[2.5]"), 1u);
    results[0] = make_result(text, fill_ising);
    snprintf(text, sizeof text, ISING("", "4000", "\"/system/temperature\":[2.5]"), 2u);
    results[1] = make_result(text, fill_ising);
    snprintf(text, sizeof text, ISING("", "4000", "\"/system/temperature\":[2.5]"), 3u);
    results[2] = make_result(text, fill_shifted);
    a = analyse(results, 3, &(struct ergo_analyse_options){0}, ERGO_OK);
    assert_true(a->pooled[0].disagree && isnan(a->pooled[0].error));
    ergo_analysis_destroy(a);
}

/* Means of samples of a disorder: 0, 1, 2 in turn, of a second seed 10 more. */
static void fill_sample(const struct ergo_point *point, size_t n, size_t n_columns, double *rows) {
    const double other = ergo_point_value(point, "/seed")->seed == 2 ? 10 : 0;
    seed = point->stream;
    for (size_t s = 0; s < n; s++)
        rows[s * n_columns] = point->replica % 3 + other + 0.01 * (uniform() - 0.5);
}

static struct ergo_result *make_samples(unsigned seed_of, unsigned replicas, unsigned sweeps,
                                        const char *more) {
    char text[512];
    snprintf(text, sizeof text,
             "{\"sampler\":\"spin-lattice\",\"seed\":\"%u\",\"replicas\":%u,\"system\":{"
             "\"model\":\"ising\",\"size\":[4,4],\"temperature\":2.5,\"disorder\":\"bimodal\"%s},"
             "\"run\":{\"sweeps\":%u,\"measure_every\":1,\"correlation_every\":0}}",
             seed_of, replicas, more, sweeps);
    return make_result(text, fill_sample);
}

/* Each sample counts once, though some are in two runs (a quarter and three, by their lengths), and
 * the error is of their scatter: 0, 1, 2 four times. Few have none. Where all replicas have the
 * same couplings they are chains. */
static void test_samples(void **state) {
    (void)state;
    struct ergo_result *results[2] = {make_samples(1, 12, 4000, ""), make_samples(1, 4, 12000, "")};
    struct ergo_analysis *a = analyse(results, 2, &(struct ergo_analyse_options){0}, ERGO_OK);
    const struct ergo_pooled *p = &a->pooled[0];
    assert_true(p->n == 16 && p->samples == 12);
    assert_near(p->mean, 1, 1e-3);
    assert_near(p->error, sqrt(8.0 / 11 / 12), 1e-3);
    assert_true(!p->disagree && !p->why_not && isnan(p->chi2) && isnan(p->tail));
    double sum = 0, least = 1;
    for (size_t c = 0; c < p->n; c++) {
        sum += p->weights[c];
        least = fmin(least, p->weights[c]);
    }
    assert_near(sum, 1, 1e-12);
    assert_near(least, 1.0 / 48, 1e-12);
    ergo_analysis_destroy(a);
    for (int k = 0; k < 2; k++) { /* 0, 1, 2, 0, 1 twice; samples of another seed are others */
        results[0] = make_samples(1, 5, 4000, k ? ",\"disorder_seed\":\"7\"" : "");
        results[1] = make_samples(2, 5, 4000, k ? ",\"disorder_seed\":\"7\"" : "");
        a = analyse(results, 2, &(struct ergo_analyse_options){0}, ERGO_OK);
        p = &a->pooled[0];
        assert_int_equal(p->samples, k ? 5 : 10);
        assert_near(p->mean, 5.8, 1e-3);
        assert_true(isfinite(p->error) == !k && !p->why_not == !k);
        ergo_analysis_destroy(a);
    }
    results[0] = make_samples(1, 12, 4000, ",\"negative_fraction\":0");
    a = analyse(results, 1, &(struct ergo_analyse_options){0}, ERGO_OK);
    assert_true(a->pooled[0].samples == 0 && a->pooled[0].disagree);
    ergo_analysis_destroy(a);
}

/* ---- gaps ------------------------------------------------------------------------------------ */

/* An ideal gas: Poisson's distribution of N, mean z V. */
static void fill_poisson(const struct ergo_point *point, size_t n, size_t n_columns, double *rows) {
    const double mean = ergo_point_real(point, "/system/activity") * 125;
    seed = point->stream;
    for (size_t s = 0; s < n; s++) {
        double rest = mean, k = 0;
        for (; (rest += log(uniform())) > 0; k++)
            continue;
        rows[s * n_columns] = k;
    }
}

/* Activities in ratios of two overlap by so little that few samples are left between some of them.
 * What is said to be inside is; rows are at all points, and as many between any two. */
static void test_gaps(void **state) {
    (void)state;
    struct ergo_result *r = make_result(
        "{\"sampler\":\"lj-gcmc\",\"seed\":\"5\",\"system\":{\"box\":[5,5,5],\"temperature\":1,"
        "\"activity\":1},\"run\":{\"equilibration\":0,\"sweeps\":300,\"measure_every\":1,"
        "\"curve_every\":0},\"scan\":{\"/system/activity\":[0.1,0.2,0.4,0.8,1.6]},"
        "\"output\":{\"series\":\"full\"}}",
        fill_poisson);
    struct ergo_analysis *a = analyse(&r, 1, &(struct ergo_analyse_options){0}, ERGO_OK);
    const struct ergo_system *system = &a->systems[0];
    size_t ranges = 0, at_points = 0, inside = 0;
    for (size_t p = 0; p < system->n_parts; p++)
        ranges += system->parts[p]->n_ranges;
    printf("%zu parts, %zu ranges\n", system->n_parts, ranges);
    assert_true(ranges >= 3);
    assert_int_equal(a->n_rows, 21);
    for (size_t i = 0; i < a->n_rows; i++) {
        const double x = a->rows[i].at[0];
        bool said = false;
        for (size_t p = 0; p < system->n_parts; p++)
            for (size_t k = 0; k < system->parts[p]->n_ranges; k++)
                said = said || (x >= system->parts[p]->ranges[k].low &&
                                x <= system->parts[p]->ranges[k].high);
        assert_true(said == (a->rows[i].independent >= ERGO_ANALYSE_INDEPENDENT));
        inside += said;
        for (size_t s = 0; s < system->n_states; s++)
            at_points += said && x == system->states[s].x;
    }
    assert_true(at_points == 5 && inside < 21);
    char *text = NULL;
    assert_int_equal(ergo_analysis_table(ctx, a, &text), ERGO_OK);
    assert_non_null(strstr(text, "activity inside 0.0"));
    free(text);
    ergo_analysis_destroy(a);
}

/* ---- two phases ------------------------------------------------------------------------------ */

/* Configurations of N particles weigh exp(log_g(N) + N ln z), with two peaks of different widths; U
 * = -N, whose weight at T = 1 is part of log_g. Independent samples. */
enum { MOST = 200 };
static double log_g(int n) {
    const double gas = -0.5 * pow((n - 30) / 8.0, 2),
                 liquid = -0.5 * pow((n - 130) / 14.0, 2) + 0.4;
    return fmax(gas, liquid) + log1p(exp(-fabs(gas - liquid)));
}

static void fill_gas(const struct ergo_point *point, size_t n, size_t n_columns, double *rows) {
    const double beta_mu = ergo_point_real(point, "/system/beta_mu");
    double p[MOST + 1], sum = 0;
    seed = point->stream;
    for (int k = 0; k <= MOST; k++)
        sum += p[k] = exp(log_g(k) + k * beta_mu);
    for (size_t s = 0; s < n; s++) {
        double rest = uniform() * sum;
        int k = 0;
        while (k < MOST && (rest -= p[k]) > 0)
            k++;
        rows[s * n_columns] = k;
        rows[s * n_columns + 1] = -k;
    }
}

/* Where both sides of `split` weigh the same, and the mean N of each side, by enumeration. */
static double balance(double split, double *low, double *high) {
    double from = -0.1, to = 0.1, at = 0;
    for (int i = 0; i < 100; i++) {
        double below = 0, above = 0;
        *low = *high = 0;
        at = (from + to) / 2;
        for (int k = 0; k <= MOST; k++) {
            const double w = exp(log_g(k) + k * at);
            *(k < split ? &below : &above) += w;
            *(k < split ? low : high) += w * k;
        }
        *low /= below;
        *high /= above;
        *(below > above ? &from : &to) = at;
    }
    return at;
}

#define GAS(beta_mu)                                                                               \
    "{\"sampler\":\"lj-gcmc\",\"seed\":\"5\",\"system\":{\"box\":[5,5,5],\"temperature\":1,"       \
    "\"beta_mu\":" beta_mu "},\"run\":{\"equilibration\":0,\"sweeps\":20000,\"measure_every\":1,"  \
    "\"curve_every\":0},\"output\":{\"series\":\"full\"}}"

static void test_coexistence(void **state) {
    const struct ergo_analyse_options o = {.coexistence = "beta_mu"};
    double low, high;
    (void)state;
    struct ergo_result *result = make_result(GAS("0.004"), fill_gas);
    struct ergo_analysis *a = analyse(&result, 1, &o, ERGO_OK);
    const struct ergo_coexistence *c = &a->coexistences[0];
    assert_null(c->why_not);
    assert_true(c->split > 60 && c->split < 90);
    const double at = balance(c->split, &low, &high);
    assert_true(c->at_error > 0 && c->at_error < 0.001);
    assert_near(c->at, at, 4 * c->at_error);
    assert_near(c->phases[0].x, low, 4 * c->phases[0].x_error);
    assert_near(c->phases[1].x, high, 4 * c->phases[1].x_error);
    assert_true(c->phases[0].x_error < 0.5 && c->phases[1].x_error < 0.5);
    /* densities of the phases: N/V, with errors of their own */
    const size_t d = find(a, "density");
    assert_near(c->phases[0].values[d].value * 125, c->phases[0].x, 0.01);
    assert_near(c->phases[1].values[d].error * 125, c->phases[1].x_error,
                0.1 * c->phases[1].x_error);
    assert_true(c->barrier > 1);
    ergo_analysis_destroy(a);
    result = make_result(GAS("-0.1"), fill_gas); /* gas alone */
    a = analyse(&result, 1, &o, ERGO_OK);
    assert_non_null(a->coexistences[0].why_not);
    ergo_analysis_destroy(a);
}

/* One broad peak, of which half is on either side of its middle. */
static void fill_one_peak(const struct ergo_point *point, size_t n, size_t n_columns,
                          double *rows) {
    seed = point->stream;
    for (size_t s = 0; s < n; s++) {
        rows[s * n_columns] = round(80 + 20 * normal());
        rows[s * n_columns + 1] = -rows[s * n_columns];
    }
}

static void test_one_phase(void **state) {
    const struct ergo_analyse_options o = {.coexistence = "beta_mu"};
    (void)state;
    struct ergo_result *result = make_result(GAS("0.004"), fill_one_peak);
    struct ergo_analysis *a = analyse(&result, 1, &o, ERGO_OK);
    assert_non_null(a->coexistences[0].why_not);
    assert_non_null(strstr(a->coexistences[0].why_not, "one peak"));
    ergo_analysis_destroy(a);
}

/* A chain twice, by the public function: its samples would count twice. */
static void test_arguments(void **state) {
    const char *nowhere[] = {"/nonexistent/run"};
    struct ergo_analysis *a = NULL;
    (void)state;
    assert_int_equal(ergo_analyse(ctx, nowhere, 1, NULL, &a), ERGO_E_IO);
    assert_null(a);
    assert_int_equal(ergo_analyse(ctx, nowhere, 0, NULL, &a), ERGO_E_JOB);
    const struct ergo_analyse_options o = {.correction = -1};
    assert_int_equal(ergo_analyse(ctx, nowhere, 1, &o, &a), ERGO_E_JOB);
    ergo_analysis_destroy(NULL);
    ergo_error_clear(ctx);
}

/* Sums of samples are kept for each list of observables, and made for the caller where there are
 * too many. */
static void test_sums(void **state) {
    const char *reweight[] = {"temperature=2.3"};
    const struct ergo_analyse_options o = {.reweight = reweight, .n_reweight = 1};
    const double at[2][ERGO_SCAN_MAX] = {{2.3}, {2.4}};
    struct ergo_target target[2];
    char text[512];
    double *own = NULL;
    (void)state;
    snprintf(text, sizeof text, ISING("", "6000", "\"/system/temperature\":[2.2,2.5]"), 4u);
    struct ergo_result *result = make_result(text, fill_ising);
    struct ergo_analysis *a = analyse(&result, 1, &o, ERGO_OK);
    const struct ergo_part *part = a->systems[0].parts[0];
    const size_t lists[2] = {a->observables[find(a, "energy")],
                             a->observables[find(a, "magnetization2")]};
    for (size_t t = 0; t < 2; t++)
        assert_true(ergo_target_create(a, &a->systems[0], at[t], &target[t]));
    const double *energies = ergo_sums_at(part, &target[0], &lists[0], 1, &own);
    const double *squares = ergo_sums_at(part, &target[0], &lists[1], 1, &own);
    assert_true(energies[0] < 0 && squares[0] > 0);
    assert_ptr_equal(ergo_sums_at(part, &target[1], &lists[0], 1, &own), energies);
    assert_null(own);
    for (size_t n = 2; n < 12; n++) {
        size_t list[12];
        for (size_t i = 0; i < n; i++)
            list[i] = lists[i % 2];
        const double *sums = ergo_sums_at(part, &target[0], list, n, &own);
        assert_true(sums[0] == energies[0] && sums[1] == squares[0]);
        free(own);
    }
    assert_non_null(own);
    for (size_t t = 0; t < 2; t++)
        ergo_target_free(&target[t]);
    ergo_analysis_destroy(a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_coverage),    cmocka_unit_test(test_field),
        cmocka_unit_test(test_refusals),    cmocka_unit_test(test_edges),
        cmocka_unit_test(test_pool),        cmocka_unit_test(test_gaps),
        cmocka_unit_test(test_coexistence), cmocka_unit_test(test_one_phase),
        cmocka_unit_test(test_arguments),   cmocka_unit_test(test_sums),
        cmocka_unit_test(test_samples),
    };
    return cmocka_run_group_tests(tests, context_open, context_close);
}
