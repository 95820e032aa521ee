/*
 * Analyses of results without a device: jobs of real models, whose series a plain chain on the host
 * fills, against enumeration. Seeds are fixed; budgets were set before the first run.
 */
#include "random_series.h"

#include <stdio.h>
#include <string.h>

#include "analyse/analyse.h"
#include "context.h"
#include "job/schedule.h"
#include "samplers/spin_lattice/exact.h"

#define assert_near(x, y, tolerance) assert_true(fabs((x) - (y)) <= (tolerance))

/* ---- results --------------------------------------------------------------------------------- */

typedef void (*fill_function)(const struct ergo_point *point, size_t n, size_t n_columns,
                              double *rows);

static struct ergo_result *make_result(const char *text, fill_function fill) {
    struct ergo_job *job = NULL;
    struct ergo_result *result = NULL;
    assert_int_equal(ergo_job_parse(ctx, text, strlen(text), "job.json", NULL, 0, &job), ERGO_OK);
    assert_int_equal(ergo_result_create(ctx, job, &result), ERGO_OK);
    for (size_t m = 0; m < result->n_members; m++) {
        const struct ergo_schedule s = ergo_schedule_of(&job->points[m]);
        double *rows = numbers(s.n_samples * job->model->n_columns);
        memset(rows, 0, s.n_samples * job->model->n_columns * sizeof *rows);
        fill(&job->points[m], s.n_samples, job->model->n_columns, rows);
        assert_true(ergo_member_add(&result->members[m], 0, s.n_samples, rows));
        result->members[m].steps = s.total;
        free(rows);
    }
    result->status = "complete";
    assert_int_equal(ergo_result_evaluate(ctx, result), ERGO_OK);
    ergo_result_drop_binned(result);
    return result;
}

/* Takes the results. */
static struct ergo_analysis *analyse(struct ergo_result **results, size_t n,
                                     const struct ergo_analyse_options *o,
                                     enum ergo_status expected) {
    struct ergo_analysis *a = calloc(1, sizeof *a);
    assert_non_null(a);
    a->n_runs = n;
    a->names = calloc(n, sizeof *a->names);
    a->results = calloc(n, sizeof *a->results);
    assert_true(a->names && a->results);
    for (size_t r = 0; r < n; r++) {
        a->names[r] = malloc(8);
        assert_non_null(a->names[r]);
        snprintf(a->names[r], 8, "run%zu", r);
        a->results[r] = results[r];
    }
    const enum ergo_status status = ergo_analysis_make(ctx, a, o);
    if (status != expected)
        fprintf(stderr, "%s\n", ergo_error_message(ctx));
    assert_int_equal(status, expected);
    return a;
}

/* ---- small Ising lattices -------------------------------------------------------------------- */

/* Heat bath at random sites, a quarter of the lattice between samples. A side of 2 has two bonds
 * between the same neighbours. */
static void fill_ising(const struct ergo_point *point, size_t n, size_t n_columns, double *rows) {
    const double t = ergo_point_real(point, "/system/temperature");
    const double b = ergo_point_real(point, "/system/field");
    const int l = (int)ergo_point_value(point, "/system/size")->size[0], sites = l * l;
    double up[5];
    int spin[16];
    seed = point->stream;
    assert_true(sites <= 16);
    for (int k = 0; k < 5; k++)
        up[k] = 1 / (1 + exp(-2 * (2 * k - 4 + b) / t));
    for (int i = 0; i < 16; i++)
        spin[i] = 1;
    for (size_t s = 0; s < n; s++) {
        int e = 0, m = 0;
        for (int k = 0; k < (sites + 3) / 4; k++) {
            const int i = (int)(uniform() * sites), x = i % l, y = i / l;
            const int sum = spin[y * l + (x + 1) % l] + spin[y * l + (x + l - 1) % l] +
                            spin[(y + 1) % l * l + x] + spin[(y + l - 1) % l * l + x];
            spin[i] = uniform() < up[(sum + 4) / 2] ? 1 : -1;
        }
        for (int i = 0; i < sites; i++) {
            e -= spin[i] * (spin[i / l * l + (i % l + 1) % l] + spin[(i / l + 1) % l * l + i % l]);
            m += spin[i];
        }
        rows[s * n_columns] = (e - b * m) / sites;
        rows[s * n_columns + 1] = (double)m / sites;
    }
}

#define ISING(more, sweeps, scan)                                                                  \
    "{\"sampler\":\"spin-lattice\",\"seed\":\"%u\",\"system\":{\"model\":\"ising\",\"size\":[4,4]" \
    ","                                                                                            \
    "\"temperature\":2.5" more "},\"run\":{\"equilibration\":200,\"sweeps\":" sweeps               \
    ",\"measure_every\":1,\"correlation_every\":0},\"scan\":{" scan                                \
    "},\"output\":{\"series\":\"full\"}}"

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
    const char *reweight[] = {"/system/temperature=2.7", "field=-0.1,0,0.15"};
    const struct ergo_analyse_options o = {.reweight = reweight, .n_reweight = 2};
    char text[512];
    (void)state;
    snprintf(text, sizeof text,
             ISING("", "40000", "\"/system/temperature\":[2.5,3],\"/system/field\":[0,0.3]"), 3u);
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

/* ---- sizes ----------------------------------------------------------------------------------- */

static double binder_of(int l, double t) {
    struct ergo_ising_moments exact;
    assert_true(ergo_ising_enumerate(l, l, t, 1, 0, &exact));
    return exact.binder;
}

/* Binder's cumulants of 2 x 2 and 4 x 4, which cross where enumeration says. */
static void test_crossing(void **state) {
    double low = 1.5, high = 4, squares = 0;
    (void)state;
    for (int i = 0; i < 60; i++) {
        const double t = (low + high) / 2;
        *(binder_of(2, t) < binder_of(4, t) ? &low : &high) = t;
    }
    for (unsigned k = 0; k < 20; k++) {
        char text[512];
        snprintf(text, sizeof text,
                 ISING("", "20000",
                       "\"/system/size\":[[2,2],[4,4]],\"/system/temperature\":[1.8,2.2,2.6]"),
                 100 + k);
        struct ergo_result *result = make_result(text, fill_ising);
        struct ergo_analysis *a = analyse(&result, 1, &(struct ergo_analyse_options){0}, ERGO_OK);
        assert_int_equal(a->n_crossings, 1); /* Binder's, by itself */
        const struct ergo_crossing *c = &a->crossings[0];
        assert_null(c->why_not);
        assert_true(c->x_error > 0 && c->x_error < 0.2);
        squares += pow((c->x - low) / c->x_error, 2);
        assert_near(c->y, binder_of(2, low), 4 * c->y_error);
        assert_false(a->extrapolation.done);
        ergo_analysis_destroy(a);
    }
    printf("chi2 of 20 crossings: %.1f\n", squares);
    assert_true(squares > 5.9 && squares < 45.3); /* 0.1% on either side */
}

static void fill_nothing(const struct ergo_point *point, size_t n, size_t n_columns, double *rows) {
    (void)point;
    seed = 1;
    for (size_t i = 0; i < n * n_columns; i++)
        rows[i] = normal();
}

/* Puts values that scale, with noise, in the place of estimates: y = L^power F((T - 2.3) L^0.9),
 * and where `drift` is set a correction L^-1.5. */
static void put_scaling(struct ergo_result *result, const char *name, double power, double drift,
                        double error) {
    const struct ergo_model *model = result->job->model;
    seed = 77;
    for (size_t m = 0; m < result->n_members; m++)
        for (size_t o = 0; o < model->n_observables; o++) {
            struct ergo_observable_result *r = &result->members[m].observables[o];
            const struct ergo_point *point = result->members[m].point;
            const double l = (double)ergo_point_value(point, "/system/size")->size[1];
            const double u = (ergo_point_real(point, "/system/temperature") - 2.3) * pow(l, 0.9);
            if (strcmp(model->observables[o].name, name) != 0)
                continue;
            r->trust = ERGO_TRUST_FULL;
            r->estimate.error = error * pow(l, power);
            r->estimate.mean =
                pow(l, power) * (0.6 - 0.3 * u + 0.08 * u * u + drift * pow(l, -1.5)) +
                r->estimate.error * normal();
        }
}

#define SIZES(sizes)                                                                               \
    "{\"sampler\":\"spin-lattice\",\"seed\":\"1\",\"system\":{\"model\":\"ising\",\"size\":[4,4]," \
    "\"temperature\":2.5},\"run\":{\"sweeps\":300,\"measure_every\":1},\"scan\":{"                 \
    "\"/system/size\":[" sizes                                                                     \
    "],\"/system/temperature\":{\"from\":2.2,\"to\":2.4,\"step\":0.025}},"                         \
    "\"output\":{\"series\":\"blocks\"}}"

static void test_scaling(void **state) {
    static const struct {
        const char *name, *quantity;
        double power, free_power;
    } cases[] = {
        {"binder", "binder", 0, NAN},
        {"correlation_length", "correlation_length/L", 1, NAN},
        {"abs_magnetization", "abs_magnetization", -0.125, -0.125},
    };
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        struct ergo_result *result = make_result(SIZES("[8,8],[16,16],[32,32]"), fill_nothing);
        put_scaling(result, cases[i].name, cases[i].power, 0, 0.002);
        struct ergo_analysis *a =
            analyse(&result, 1, &(struct ergo_analyse_options){.fit = cases[i].quantity}, ERGO_OK);
        const struct ergo_scaling *s = &a->scaling;
        assert_null(s->why_not);
        assert_int_equal(s->n, 27);
        assert_near(s->x.value, 2.3, 4 * s->x.error);
        assert_near(s->inverse_nu.value, 0.9, 4 * s->inverse_nu.error);
        assert_true(s->x.error < 0.01 && s->inverse_nu.error < 0.1 && s->tail > 0.001);
        assert_true(s->power_free == !isnan(cases[i].free_power));
        if (s->power_free)
            assert_near(s->power.value, cases[i].free_power, 4 * s->power.error);
        ergo_analysis_destroy(a);
    }
    struct ergo_result *result = make_result(SIZES("[8,8],[16,16],[32,32]"), fill_nothing);
    put_scaling(result, "binder", 0, 0, 0.002);
    struct ergo_analysis *a =
        analyse(&result, 1, &(struct ergo_analyse_options){.fit = "binder", .window = "2.24:2.36"},
                ERGO_OK);
    assert_int_equal(a->scaling.n, 15);
    assert_near(a->scaling.x.value, 2.3, 4 * a->scaling.x.error);
    ergo_analysis_destroy(a);
}

/* Crossings of what cannot be reweighted, interpolated; they drift, and go to 2.3. */
static void test_extrapolation(void **state) {
    (void)state;
    for (int given = 0; given < 2; given++) {
        struct ergo_result *result =
            make_result(SIZES("[8,8],[16,16],[32,32],[64,64],[128,128]"), fill_nothing);
        put_scaling(result, "correlation_length", 1, 1, 1e-4);
        struct ergo_analysis *a =
            analyse(&result, 1,
                    &(struct ergo_analyse_options){.crossing = "correlation_length/L",
                                                   .correction = given ? 2.4 : 0},
                    ERGO_OK);
        const struct ergo_extrapolation *e = &a->extrapolation;
        assert_int_equal(a->n_crossings, 4);
        assert_true(2.3 - a->crossings[0].x > 50 * a->crossings[0].x_error); /* a drift */
        assert_true(e->done && e->fixed == given && e->tail > 0.001 && e->used >= 3);
        assert_true(e->x_error < 1e-3);
        assert_near(e->x, 2.3, 4 * e->x_error);
        assert_near(e->exponent, 2.4, 0.2); /* 1/nu + omega */
        ergo_analysis_destroy(a);
    }
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
    const char *far[] = {"temperature=9"}, *wrong[] = {"temperatur=2.5"}, *none[] = {"temperature"};
    const char *low[] = {"temperature=-1"}, *field[] = {"field=0.1"};
    const char *misspelled[] = {"enrgy"};
    (void)state;
    refused(job, &(struct ergo_analyse_options){.reweight = far, .n_reweight = 1},
            "outside of the overlap", "allowed: 0.24 to 3.");
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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_coverage),      cmocka_unit_test(test_field),
        cmocka_unit_test(test_crossing),      cmocka_unit_test(test_scaling),
        cmocka_unit_test(test_extrapolation), cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_edges),         cmocka_unit_test(test_pool),
        cmocka_unit_test(test_coexistence),   cmocka_unit_test(test_arguments),
    };
    return cmocka_run_group_tests(tests, context_open, context_close);
}
