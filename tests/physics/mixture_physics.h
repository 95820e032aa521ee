/* Mixtures of lj-fluid compared with exact values: what the physics test and the mutants share. */
#ifndef ERGO_TESTS_PHYSICS_MIXTURE_PHYSICS_H
#define ERGO_TESTS_PHYSICS_MIXTURE_PHYSICS_H

#include "oracle/mixture_serial.h"
#include "physics/fluid_physics.h"
#include "physics/gibbs_physics.h"

static inline double mixture_one(const double *c) {
    return c[LJ_COLUMN_SPECIES];
}

static inline double mixture_other(const double *c) {
    return c[LJ_COLUMN_SPECIES + 1];
}

#define MIXTURE_SAMPLE(name, expression)                                                           \
    static inline double mixture_##name(const struct ergo_point *point, const double *c) {         \
        (void)point;                                                                               \
        return expression;                                                                         \
    }
MIXTURE_SAMPLE(a, mixture_one(c))
MIXTURE_SAMPLE(b, mixture_other(c))
MIXTURE_SAMPLE(aa, mixture_one(c) * mixture_one(c))
MIXTURE_SAMPLE(ab, mixture_one(c) * mixture_other(c))
MIXTURE_SAMPLE(is_00, mixture_one(c) == 0 && mixture_other(c) == 0)
MIXTURE_SAMPLE(is_10, mixture_one(c) == 1 && mixture_other(c) == 0)
MIXTURE_SAMPLE(is_01, mixture_one(c) == 0 && mixture_other(c) == 1)
MIXTURE_SAMPLE(is_20, mixture_one(c) == 2 && mixture_other(c) == 0)
MIXTURE_SAMPLE(is_11, mixture_one(c) == 1 && mixture_other(c) == 1)
MIXTURE_SAMPLE(is_02, mixture_one(c) == 0 && mixture_other(c) == 2)
MIXTURE_SAMPLE(volume, c[LJ_COLUMN_VOLUME])
MIXTURE_SAMPLE(is_53, mixture_one(c) == 5 && mixture_other(c) == 3)
MIXTURE_SAMPLE(is_63, mixture_one(c) == 6 && mixture_other(c) == 3)
MIXTURE_SAMPLE(is_54, mixture_one(c) == 5 && mixture_other(c) == 4)
MIXTURE_SAMPLE(u_53, c[LJ_COLUMN_ENERGY] * mixture_is_53(point, c))
MIXTURE_SAMPLE(p_53, lj_pressure(point, c) * mixture_is_53(point, c))
MIXTURE_SAMPLE(only_a, c[LJ_COLUMN_GHOSTS_OF])
MIXTURE_SAMPLE(only_b, c[LJ_COLUMN_GHOSTS_OF + 1])
MIXTURE_SAMPLE(weight_a, c[LJ_COLUMN_GHOSTS_OF] * c[LJ_COLUMN_VOLUME])
MIXTURE_SAMPLE(weight_b, c[LJ_COLUMN_GHOSTS_OF + 1] * c[LJ_COLUMN_VOLUME])

/* Two species whose pairs are far from the rules of Lorentz and Berthelot. */
#define MIXTURE_PAIRS                                                                              \
    "'names': 'A B', 'epsilon': [1, 0.5], 'sigma': [1, 0.88], 'pair_epsilon': [1.5], "             \
    "'pair_sigma': [0.8], 'cutoff_in_sigma': true"

static inline struct ergo_oracle_mixture mixture_pairs(double temperature) {
    struct ergo_oracle_mixture o = {.temperature = temperature, .species = 2};
    static const double epsilon[3] = {1, 1.5, 0.5}, sigma[3] = {1, 0.8, 0.88};
    for (size_t a = 0; a < 2; a++)
        for (size_t b = 0; b < 2; b++) {
            o.epsilon[a][b] = epsilon[a + b];
            o.sigma[a][b] = sigma[a + b];
            o.cutoff[a][b] = 2.5 * sigma[a + b];
        }
    return o;
}

/* Ideal gases: Poisson, each for itself, with changes of species and shares of moves that differ.
 */
static inline void mixture_expect_ideal(struct lj_run *r, const char *what) {
    struct lj_series s = {0};
    lj_run_job(r,
               "{'sampler': 'lj-fluid', 'seed': '71', 'replicas': 4, 'system': {'ensemble': "
               "'muvt', 'box': [5, 6, 7], 'cutoff': 2, 'temperature': 1.7, 'activity': 0.1, "
               "'moves': {'displacement': 1, 'insertion': 1, 'deletion': 2}, 'species': {'names': "
               "'A B', 'epsilon': [0, 0], 'sigma': [1, 1.2], 'activity': [1, 0.4], "
               "'identity_changes': 0.3}}, 'run': {'equilibration': 2000, 'sweeps': 200000, "
               "'measure_every': 10, 'curve_every': 0}}",
               &s);
    lj_expect(r, &s, 0, what, "<N_A>", mixture_a, NULL, 21, 0);
    lj_expect(r, &s, 0, what, "<N_B>", mixture_b, NULL, 8.4, 0);
    lj_expect(r, &s, 0, what, "<N_A^2>", mixture_aa, NULL, 21 * 22, 0);
    lj_expect(r, &s, 0, what, "<N_A N_B>", mixture_ab, NULL, 21 * 8.4, 0);
    lj_expect(r, &s, 0, what, "P", lj_pressure, NULL, 1.4 * 0.1 * 1.7, 0);
    lj_series_free(&s);
}

/* Weights of no, one and two particles, exact at any activities: z_A V, z_A^2 V (V - 2 B_AA)/2, z_A
 * z_B V (V - 2 B_AB), ...; with tails times exp(-sum of N_s N_t a_st/(V T)), and then cut at
 * sigma_st in a small box, so that they are strong. */
static inline void mixture_expect_few(struct lj_run *r, bool tail, double identity,
                                      const char *what) {
    struct lj_series s = {0};
    struct ergo_oracle_mixture o = mixture_pairs(tail ? 1 : 1.5);
    char job[900];
    const double v = tail ? 4 * 4.2 * 4.1 : 5 * 5.2 * 5.1, zv = 1.3, za = zv / v, zb = 0.6 * za;
    double volumes[2][2], tails[2][2];
    o.tail = tail;
    for (size_t a = 0; a < 2; a++)
        for (size_t b = 0; b < 2; b++) {
            o.cutoff[a][b] = tail ? o.sigma[a][b] : 2.5 * o.sigma[a][b];
            volumes[a][b] = v - 2 * ergo_oracle_mixture_b2(&o, a, b);
            tails[a][b] = ergo_oracle_mixture_tail(&o, a, b) / v / o.temperature;
        }
    snprintf(job, sizeof job,
             "{'sampler': 'lj-fluid', 'seed': '72', 'replicas': 4, 'system': {'ensemble': 'muvt', "
             "'box': %s, 'temperature': %g, 'cutoff': %g, 'activity': %.17g, 'tail_correction': "
             "%s, 'species': {" MIXTURE_PAIRS
             ", 'activity': [0.5, 0.3], 'identity_changes': %g}}, 'run': {'equilibration': 1000, "
             "'sweeps': 300000, 'measure_every': 5, 'curve_every': 0}}",
             tail ? "[4, 4.2, 4.1]" : "[5, 5.2, 5.1]", o.temperature, tail ? 1 : 2.5, 2 * za,
             tail ? "true" : "false", identity);
    lj_run_job(r, job, &s);
    lj_expect(r, &s, 0, what, "P(1,0)/P(0,0)", mixture_is_10, mixture_is_00,
              za * v * exp(-tails[0][0]), 0);
    lj_expect(r, &s, 0, what, "P(0,1)/P(1,0)", mixture_is_01, mixture_is_10,
              zb / za * exp(tails[0][0] - tails[1][1]), 0);
    lj_expect(r, &s, 0, what, "P(2,0)/P(1,0)", mixture_is_20, mixture_is_10,
              za * volumes[0][0] / 2 * exp(-3 * tails[0][0]), 0);
    lj_expect(r, &s, 0, what, "P(1,1)/P(1,0)", mixture_is_11, mixture_is_10,
              zb * volumes[0][1] * exp(-2 * tails[0][1] - tails[1][1]), 0);
    lj_expect(r, &s, 0, what, "P(0,2)/P(0,1)", mixture_is_02, mixture_is_01,
              zb * volumes[1][1] / 2 * exp(-3 * tails[1][1]), 0);
    lj_series_free(&s);
}

/* Two unlike particles, exact: P = T/V + T/(V - 2 B_AB), with the jump at the cutoff. */
static inline void mixture_expect_two(struct lj_run *r, const char *what) {
    struct lj_series s = {0};
    const struct ergo_oracle_mixture o = mixture_pairs(1.35);
    const double v = 5.0 * 5.2 * 5.1, t = 1.35, b2 = ergo_oracle_mixture_b2(&o, 0, 1);
    lj_run_job(r,
               "{'sampler': 'lj-fluid', 'seed': '73', 'replicas': 4, 'system': {'box': [5, 5.2, "
               "5.1], 'temperature': 1.35, 'particles': 2, 'max_displacement': 2, 'species': "
               "{" MIXTURE_PAIRS ", 'fractions': [0.5, 0.5]}}, 'run': {'equilibration': 100, "
               "'sweeps': 200000, 'measure_every': 6, 'curve_every': 0}}",
               &s);
    lj_expect(r, &s, 0, what, "P", lj_pressure, NULL, t / v + t / (v - 2 * b2), 0);
    lj_series_free(&s);
}

/* The same at constant pressure: V weighs V (V - 2 B_AB) exp(-P V/T), and the tails' energy
 * (a_AA + 2 a_AB + a_BB)/V; sides are no shorter than two of the largest cutoff. */
static inline void mixture_expect_volume(struct lj_run *r, const char *what) {
    enum { STEPS = 200000 };
    struct lj_series s = {0};
    struct ergo_oracle_mixture o = mixture_pairs(0.9);
    const double t = 0.9, p = 0.02, start = 5 * 5.2 * 5.1, b2 = ergo_oracle_mixture_b2(&o, 0, 1);
    o.tail = true;
    const double a = ergo_oracle_mixture_tail(&o, 0, 0) + 2 * ergo_oracle_mixture_tail(&o, 0, 1) +
                     ergo_oracle_mixture_tail(&o, 1, 1);
    const double low = start, high = start * exp(4); /* the shortest side is two cutoffs already */
    double sum = 0, mean = 0;
    for (int i = 0; i < STEPS; i++) {
        const double v = low + (i + 0.5) * (high - low) / STEPS;
        const double w = v * (v - 2 * b2) * exp(-(a / v + p * v) / t);
        sum += w;
        mean += w * v;
    }
    lj_run_job(r,
               "{'sampler': 'lj-fluid', 'seed': '74', 'replicas': 4, 'system': {'ensemble': 'npt', "
               "'box': [5, 5.2, 5.1], 'temperature': 0.9, 'particles': 2, 'pressure': 0.02, "
               "'volume_every': 2, 'max_volume_change': 0.5, 'max_displacement': 1.5, "
               "'tail_correction': true, 'species': {" MIXTURE_PAIRS
               ", 'fractions': [0.5, 0.5]}}, 'run': {'equilibration': 1000, 'sweeps': 100000, "
               "'measure_every': 10}}",
               &s);
    lj_expect(r, &s, 0, what, "<V>", mixture_volume, NULL, mean / sum, 0);
    lj_series_free(&s);
}

/* Means of what a member's samples are made of, over its replicas, with their error. */
static inline struct ergo_estimate mixture_mean(const struct lj_series *s, lj_function f) {
    struct ergo_estimate all = {0}, e;
    double *series = malloc(s->samples * sizeof *series);
    assert_non_null(series);
    for (size_t m = 0; m < s->batch->count; m++) {
        double sum = 0;
        for (size_t i = 0; i < s->samples; i++)
            sum += series[i] =
                f(s->batch->points[m], s->columns + (i * s->batch->count + m) * LJ_COLUMNS);
        ergo_stats_estimate(series, s->samples, &e);
        all.mean += sum / (double)s->samples / (double)s->batch->count;
        all.error = hypot(all.error, e.error / (double)s->batch->count);
    }
    free(series);
    return all;
}

/* One particle B and test insertions of each species, exact: <exp(-dU/T)> = 1 - 2 B_AB/V, or 1 - 2
 * B_BB/V, times that of the tails, (2 a_AB + a_AA)/V, or (4 - 1) a_BB/V. At constant pressure <V
 * exp(-dU/T)>/<V> with weights V exp(-(P V + a_BB/V)/T) of volumes. */
static inline void mixture_expect_insertions(struct lj_run *r, bool tail, double pressure,
                                             const char *what) {
    enum { STEPS = 100000 };
    struct lj_series s = {0};
    char job[900], npt[200] = "";
    struct ergo_oracle_mixture o = mixture_pairs(0.9);
    const double t = 0.9, start = 5 * 5.2 * 5.1, high = pressure > 0 ? start * exp(4) : start;
    double sum = 0, means[2] = {0}, b2[2], a[3];
    o.tail = tail;
    for (size_t k = 0; k < 3; k++)
        a[k] = ergo_oracle_mixture_tail(&o, k / 2, (k + 1) / 2);
    for (size_t k = 0; k < 2; k++)
        b2[k] = ergo_oracle_mixture_b2(&o, k, 1);
    for (int i = 0; i < STEPS; i++) {
        const double v = start + (i + 0.5) / STEPS * (high - start);
        const double w = v * exp(-(pressure * v + a[2] / v) / t);
        sum += w * v;
        means[0] += w * (v - 2 * b2[0]) * exp(-(2 * a[1] + a[0]) / v / t);
        means[1] += w * (v - 2 * b2[1]) * exp(-3 * a[2] / v / t);
    }
    if (pressure > 0)
        snprintf(npt, sizeof npt,
                 "'ensemble': 'npt', 'pressure': %g, 'volume_every': 2, 'max_volume_change': 0.5, ",
                 pressure);
    snprintf(job, sizeof job,
             "{'sampler': 'lj-fluid', 'seed': '85', 'replicas': 4, 'system': {%s'box': [5, 5.2, "
             "5.1], 'temperature': 0.9, 'tail_correction': %s, 'particles': 1, "
             "'max_displacement': 2, 'species': {" MIXTURE_PAIRS
             ", 'fractions': [0, 1]}}, 'run': {'equilibration': 1000, 'sweeps': %d, "
             "'measure_every': %d, 'insertions': %d%s}}",
             npt, tail ? "true" : "false", pressure > 0 ? 40000 : 2000, pressure > 0 ? 10 : 2,
             pressure > 0 ? 20 : 100, pressure > 0 ? "" : ", 'curve_every': 0");
    lj_run_job(r, job, &s);
    lj_expect(r, &s, 0, what, "<V exp(-dU_A/T)>/<V>", mixture_weight_a, mixture_volume,
              means[0] / sum, 0);
    lj_expect(r, &s, 0, what, "<V exp(-dU_B/T)>/<V>", mixture_weight_b, mixture_volume,
              means[1] / sum, 0);
    lj_series_free(&s);
}

/* Two species that are one: the excess chemical potential of each, whatever there is of it, is that
 * of one species. The same job without /system/species comes first. */
static inline void mixture_expect_tracers(struct lj_run *r) {
    static const char *const fractions[] = {NULL, "[0.5, 0.5]", "[1, 0]"};
    struct ergo_estimate one = {0};
    for (size_t k = 0; k < 3; k++) {
        struct lj_series s = {0};
        char job[900], species[200] = "";
        if (k)
            snprintf(species, sizeof species,
                     ", 'species': {'names': 'A B', 'epsilon': [1, 1], 'sigma': [1, 1], "
                     "'fractions': %s}",
                     fractions[k]);
        snprintf(job, sizeof job,
                 "{'sampler': 'lj-fluid', 'seed': '86', 'replicas': 4, 'system': {'box': [5, 5.2, "
                 "5.1], 'temperature': 1.5, 'tail_correction': true, 'particles': 40, "
                 "'max_displacement': 1%s}, 'run': {'equilibration': 5000, 'sweeps': 100000, "
                 "'measure_every': 100, 'curve_every': 0, 'insertions': 50}}",
                 species);
        lj_run_job(r, job, &s);
        if (k == 0) {
            one = mixture_mean(&s, fluid_weight);
        } else {
            const char *what = k == 1 ? "equal species" : "all but one species";
            lj_expect(r, &s, 0, what, "<exp(-dU_A/T)>", mixture_only_a, NULL, one.mean, one.error);
            lj_expect(r, &s, 0, what, "<exp(-dU_B/T)>", mixture_only_b, NULL, one.mean, one.error);
        }
        lj_series_free(&s);
    }
}

/* What a grand canonical chain has where it has 5 particles A and 3 B is the canonical ensemble of
 * these, in a box of any size: <U>, P, and by test insertions
 *     P(N_A + 1, N_B)/P(N_A, N_B) = z_A V <exp(-dU_A/T)>/(N_A + 1). */
static inline void mixture_expect_state(struct lj_run *r) {
    enum { N_A = 5, N_B = 3 };
    const double za = 0.018, zb = 0.012;
    static const char what[] = "NVT of muVT's N";
    struct lj_series s = {0};
    char job[900];
    lj_run_job(r,
               "{'sampler': 'lj-fluid', 'seed': '87', 'replicas': 4, 'system': {'box': [5, 5.2, "
               "5.1], 'temperature': 1, 'tail_correction': true, 'particles': 8, "
               "'max_displacement': 2, 'species': {" MIXTURE_PAIRS
               ", 'fractions': [0.625, 0.375]}}, 'run': {'equilibration': 5000, 'sweeps': 200000, "
               "'measure_every': 20, 'curve_every': 0, 'insertions': 20}}",
               &s);
    const struct ergo_estimate u = mixture_mean(&s, lj_energy), p = mixture_mean(&s, lj_pressure),
                               a = mixture_mean(&s, mixture_weight_a),
                               b = mixture_mean(&s, mixture_weight_b);
    lj_series_free(&s);
    snprintf(job, sizeof job,
             "{'sampler': 'lj-fluid', 'seed': '88', 'replicas': 4, 'system': {'ensemble': 'muvt', "
             "'box': [5, 5.2, 5.1], 'temperature': 1, 'tail_correction': true, 'activity': 1, "
             "'species': {" MIXTURE_PAIRS
             ", 'activity': [%g, %g], 'identity_changes': 0.3}}, 'run': {'equilibration': 5000, "
             "'sweeps': 1000000, 'measure_every': 10, 'curve_every': 0}}",
             za, zb);
    lj_run_job(r, job, &s);
    lj_expect(r, &s, 0, what, "<U>", mixture_u_53, mixture_is_53, u.mean, u.error);
    lj_expect(r, &s, 0, what, "P", mixture_p_53, mixture_is_53, p.mean, p.error);
    lj_expect(r, &s, 0, what, "P(6,3)/P(5,3)", mixture_is_63, mixture_is_53,
              za * a.mean / (N_A + 1), za * a.error / (N_A + 1));
    lj_expect(r, &s, 0, what, "P(5,4)/P(5,3)", mixture_is_54, mixture_is_53,
              zb * b.mean / (N_B + 1), zb * b.error / (N_B + 1));
    lj_series_free(&s);
}

/* A job whose samples all have curves, of the width MIXTURE_BINS. For each row of g(r) of samples
 * and members `look` is called; at the end the state is what the last sample was taken of. */
enum { MIXTURE_BINS = 10 };
struct mixture_curves {
    const struct ergo_batch *batch;
    void *state;
    double *curves[LJ_CURVES]; /* of all samples, [sample][member][MIXTURE_BINS] */
    struct ergo_job *job;
};

static inline void mixture_run_curves(struct lj_run *r, const char *text, size_t samples,
                                      struct mixture_curves *m) {
    char *json = strdup(text);
    memset(m, 0, sizeof *m);
    for (char *c = json; *c; c++)
        *c = *c == '\'' ? '"' : *c;
    if (ergo_job_parse(r->ctx, json, strlen(json), "physics", NULL, 0, &m->job) != ERGO_OK)
        fail_msg("%s", ergo_error_message(r->ctx));
    free(json);
    const struct ergo_sampler_ops *ops = m->job->model->ops;
    m->batch = &m->job->batches[0];
    const struct ergo_point *first = m->batch->points[0];
    const size_t members = m->batch->count;
    struct ergo_samples block = {.columns = calloc(samples * members * LJ_COLUMNS, sizeof(double))};
    for (size_t c = 0; c < LJ_CURVES; c++)
        if (ergo_point_curve_size(first, c) == MIXTURE_BINS && c != LJ_CURVE_HISTOGRAM)
            block.curves[c] = m->curves[c] =
                calloc(samples * members * MIXTURE_BINS, sizeof(double));
    assert_true(block.columns && m->curves[LJ_CURVE_GR] && lj_curve_every(first) == 1);
    enum ergo_status status = ergo_sampler_create(r->ctx, ops, m->batch, r->device, &m->state);
    if (status == ERGO_OK)
        status = ops->init(r->ctx, m->state);
    if (status == ERGO_OK)
        status = ergo_sampler_advance(r->ctx, ops, m->state, 0, 0,
                                      (uint64_t)ergo_point_int(first, "/run/equilibration"), 0);
    if (status == ERGO_OK)
        status = ergo_sampler_advance(r->ctx, ops, m->state, 0, samples,
                                      (uint64_t)ergo_point_int(first, "/run/measure_every"), 0);
    if (status == ERGO_OK)
        status = ergo_sampler_collect(r->ctx, ops, m->state, 0, &block);
    if (status != ERGO_OK)
        fail_msg("%s", ergo_error_message(r->ctx));
    free(block.columns);
}

static inline void mixture_curves_free(struct mixture_curves *m) {
    for (size_t c = 0; c < LJ_CURVES; c++)
        free(m->curves[c]);
    ergo_engine_destroy(m->state);
    ergo_job_destroy(m->job);
}

#define MIXTURE_CURVES                                                                             \
    "'measure_every': 8, 'curve_every': 1, 'gr_bins': 10, 'equilibration': 100, 'sweeps': 100000"

/* g(r) of two unlike particles, exact: exp(-u_AB(r)/T) V/(V - 2 B_AB), averaged over a bin. */
static inline void mixture_expect_gr(struct lj_run *r, const char *what) {
    enum { SAMPLES = 1000, STEPS = 1000 };
    static const size_t bins[] = {3, 4, 7, 9};
    struct mixture_curves m;
    const struct ergo_oracle_mixture o = mixture_pairs(1.35);
    const double v = 5.0 * 5.2 * 5.1, t = 1.35, width = 2.5 / MIXTURE_BINS;
    const double b2 = ergo_oracle_mixture_b2(&o, 0, 1);
    mixture_run_curves(
        r,
        "{'sampler': 'lj-fluid', 'seed': '83', 'replicas': 64, 'system': {'box': [5, 5.2, 5.1], "
        "'temperature': 1.35, 'particles': 2, 'max_displacement': 2.5, 'species': {" MIXTURE_PAIRS
        ", 'fractions': [0.5, 0.5]}}, 'run': {" MIXTURE_CURVES "}}",
        SAMPLES, &m);
    const size_t members = m.batch->count;
    for (size_t i = 0; i < sizeof bins / sizeof bins[0]; i++) {
        double sum = 0, weight = 0, mean = 0, variance = 0;
        char name[40];
        for (int k = 0; k < STEPS; k++) {
            const double d = ((double)bins[i] + (k + 0.5) / STEPS) * width;
            double w;
            sum += d * d * exp(-ergo_oracle_mixture_pair(&o, 0, 1, d * d, &w) / t);
            weight += d * d;
        }
        for (size_t member = 0; member < members; member++) {
            double series[SAMPLES], own = 0;
            struct ergo_estimate e;
            for (size_t k = 0; k < SAMPLES; k++)
                own += series[k] =
                    m.curves[LJ_CURVE_GR_OF + 1][(k * members + member) * MIXTURE_BINS + bins[i]];
            ergo_stats_estimate(series, SAMPLES, &e);
            mean += own / SAMPLES / (double)members;
            variance += e.error * e.error / (double)(members * members);
        }
        snprintf(name, sizeof name, "g_AB(%g)", ((double)bins[i] + 0.5) * width);
        lj_note(r, what, name, mean, sqrt(variance), sum / weight * v / (v - 2 * b2), 0);
    }
    mixture_curves_free(&m);
}

/* Of one configuration: each g(r), and each rho_s rho_t g(r), is what the serial program counts, by
 * the definition of a pair's own concentrations; and weighted by these they add up to that of all.
 */
static inline void mixture_expect_counts(struct lj_run *r) {
    struct mixture_curves m;
    struct ergo_oracle_mixture o = mixture_pairs(2);
    const double side[3] = {5, 5.2, 5.1}, v = 5.0 * 5.2 * 5.1, width = 2.5 / MIXTURE_BINS;
    uint32_t *words, n;
    memcpy(o.side, side, sizeof side);
    assert_true(ergo_oracle_mixture_start(&o, 1));
    mixture_run_curves(
        r,
        "{'sampler': 'lj-fluid', 'seed': '84', 'system': {'ensemble': 'muvt', 'box': [5, 5.2, "
        "5.1], 'temperature': 2, 'particles': 40, 'activity': 0.3, 'species': {" MIXTURE_PAIRS
        ", 'activity': [1, 0.5], 'fractions': [0.5, 0.5]}}, 'run': {" MIXTURE_CURVES "}}",
        100, &m);
    if (lj_fetch(r->ctx, m.state, 0, &words, &n) != ERGO_OK)
        fail_msg("%s", ergo_error_message(r->ctx));
    for (uint32_t i = 0; i < n; i++) {
        const size_t s = words[3 * i] & LJ_SPECIES_MASK;
        for (size_t k = 0; k < 3; k++)
            o.r[s][o.n[s]][k] = words[3 * i + k] * 0x1p-32 * side[k];
        o.n[s]++;
    }
    const double na = (double)o.n[0], nb = (double)o.n[1];
    const size_t last = 99 * (size_t)MIXTURE_BINS;
    const double *const gr = m.curves[LJ_CURVE_GR] + last;
    assert_true(na > 2 && nb > 2);
    for (size_t k = 0; k < MIXTURE_BINS; k++) {
        const double from = (double)k * width, to = from + width,
                     shell = 4 * 3.14159265358979323846 / 3 * (to * to * to - from * from * from);
        const double ordered[3] = {na * (na - 1), na * nb, nb * (nb - 1)};
        double sum = 0;
        for (size_t p = 0; p < 3; p++) {
            size_t counts[MIXTURE_BINS] = {0};
            ergo_oracle_mixture_pairs(&o, p / 2, (p + 1) / 2, width, MIXTURE_BINS, counts);
            /* around each particle; like pairs are seen from both of theirs */
            const double around = (double)counts[k] * (p == 1 ? 1 : 2) / v / shell;
            const double found = m.curves[LJ_CURVE_GR_OF + p][last + k];
            assert_true(fabs(found - around * v * v / ordered[p]) < 1e-9);
            assert_true(fabs(m.curves[LJ_CURVE_DENSITY_OF + p][last + k] - around) < 1e-9);
            sum += found * ordered[p] * (p == 1 ? 2 : 1);
        }
        assert_true(fabs(sum / ((na + nb) * (na + nb - 1)) - gr[k]) < 1e-9);
    }
    free(words);
    ergo_oracle_mixture_free(&o);
    mixture_curves_free(&m);
}

static inline double mixture_b_liquid(const struct ergo_point *point, const double *c) {
    (void)point;
    return c[LJ_GIBBS_LIQUID_SPECIES];
}

/* Two unlike particles in two boxes, exact: as two of one species whose B2 is theirs. In the denser
 * box the second one is as often as the first. */
static inline void mixture_expect_gibbs(struct lj_run *r, const char *what) {
    struct lj_series s = {0};
    struct ergo_oracle_mixture o = mixture_pairs(0.8);
    const double small = 2.6 * 2.7 * 2.8, smallest = small * pow(2 * 1.1 / 2.6, 3);
    o.cutoff[0][1] = 1.1 * 0.8;
    gibbs_b2 = ergo_oracle_mixture_b2(&o, 0, 1);
    const struct gibbs_exact e = gibbs_average(2, small + 40, smallest, gibbs_two);
    lj_run_job(r,
               "{'sampler': 'lj-fluid', 'seed': '79', 'replicas': 4, 'system': {'ensemble': "
               "'gibbs', 'box': [2.6, 2.7, 2.8], 'temperature': 0.8, 'cutoff': 1.1, 'particles': "
               "2, 'second_particles': 0, 'second_volume': 40, 'volume_every': 2, 'transfers': 3, "
               "'max_volume_change': 0.5, 'max_displacement': 1.2, 'species': {" MIXTURE_PAIRS
               ", 'fractions': [0.5, 0.5]}}, 'run': {'equilibration': 1000, 'sweeps': 80000, "
               "'measure_every': 10}}",
               &s);
    lj_expect(r, &s, 0, what, "<N>", gibbs_particles, NULL, e.particles, 0);
    lj_expect(r, &s, 0, what, "<N_B>", mixture_b_liquid, NULL, e.particles / 2, 0);
    lj_expect(r, &s, 0, what, "<V>", gibbs_volume, NULL, e.volume, 0);
    lj_series_free(&s);
}

static inline void mixture_expect_pressure(struct lj_run *r, const char *what) {
    lj_expect_given_pressure(
        r, "77", "'particles': 40, 'species': {" MIXTURE_PAIRS ", 'fractions': [0.6, 0.4]}", "",
        what);
}

#endif
