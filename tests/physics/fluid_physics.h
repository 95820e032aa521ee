/* Runs of lj-fluid compared with exact values: what the physics test and the mutants share. */
#ifndef ERGO_TESTS_PHYSICS_FLUID_PHYSICS_H
#define ERGO_TESTS_PHYSICS_FLUID_PHYSICS_H

#include "oracle/lj_serial.h"
#include "physics/lj_physics.h"
#include "table_file.h"

static inline double fluid_volume(const struct ergo_point *point, const double *c) {
    (void)point;
    return c[LJ_COLUMN_VOLUME];
}

static inline double fluid_volume_squared(const struct ergo_point *point, const double *c) {
    (void)point;
    return c[LJ_COLUMN_VOLUME] * c[LJ_COLUMN_VOLUME];
}

static inline double fluid_weight(const struct ergo_point *point, const double *c) {
    (void)point;
    return c[LJ_COLUMN_GHOSTS];
}

static inline double fluid_weight_volume(const struct ergo_point *point, const double *c) {
    (void)point;
    return c[LJ_COLUMN_GHOSTS] * c[LJ_COLUMN_VOLUME];
}

/* N and U of the serial program, of each 20th of so many moves after 20,000. Frees its particles.
 */
static inline void fluid_serial(struct ergo_oracle_lj *o, uint64_t seed, unsigned moves,
                                struct ergo_estimate *n, struct ergo_estimate *u) {
    enum { EVERY = 20, FIRST = 20000 };
    const size_t samples = moves / EVERY;
    double *series = malloc(2 * samples * sizeof *series);
    assert_non_null(series);
    ergo_oracle_lj_seed(o, seed);
    for (unsigned i = 0; i < FIRST + moves; i++) {
        assert_true(ergo_oracle_lj_move(o));
        if (i >= FIRST && (i - FIRST) % EVERY == EVERY - 1) {
            series[(i - FIRST) / EVERY] = (double)o->n;
            series[samples + (i - FIRST) / EVERY] = o->energy;
        }
    }
    ergo_stats_estimate(series, samples, n);
    ergo_stats_estimate(series + samples, samples, u);
    free(series);
    free(o->r);
}

/* One particle and test insertions, exact: <exp(-dU/T)> = 1 - 2 B2/V, times that of the tails of
 * one and two particles, a (4 - 1)/V. */
static inline void fluid_expect_insertion(struct lj_run *r, bool tail, const char *what) {
    struct lj_series s = {0};
    char job[600];
    const double v = 5.0 * 5.2 * 5.1, t = 1.35, rc = 2.5, b2 = lj_second_virial(rc, t, false);
    const double a = tail ? 8 * 3.14159265358979323846 / 3 * (pow(rc, -9) / 3 - pow(rc, -3)) : 0;
    snprintf(job, sizeof job,
             "{'sampler': 'lj-fluid', 'seed': '61', 'replicas': 4, 'system': {'box': [5, 5.2, "
             "5.1], 'temperature': 1.35, 'tail_correction': %s, 'particles': 1}, 'run': "
             "{'equilibration': 10, 'sweeps': 2000, 'measure_every': 2, 'curve_every': 0, "
             "'insertions': 100}}",
             tail ? "true" : "false");
    lj_run_job(r, job, &s);
    lj_expect(r, &s, 0, what, "<exp(-dU/T)>", fluid_weight, NULL,
              (1 - 2 * b2 / v) * exp(-3 * a / v / t), 0);
    lj_series_free(&s);
}

/* Two particles with Lennard-Jones from a file, exact: the pressure needs the slope of the table.
 */
static inline void fluid_expect_table(struct lj_run *r, const char *what) {
    struct lj_series s = {0};
    const double v = 5.0 * 5.2 * 5.1, t = 1.35, b2 = lj_second_virial(2.5, t, false);
    const struct table_file table = table_enter(table_lennard_jones, 0.005);
    lj_run_job(r,
               "{'sampler': 'lj-fluid', 'seed': '68', 'replicas': 4, 'system': {'box': [5, 5.2, "
               "5.1], 'temperature': 1.35, 'particles': 2, 'potential': '" TABLE_FILE
               "', 'max_displacement': 2}, "
               "'run': {'equilibration': 100, 'sweeps': 300000, 'measure_every': 6, 'curve_every': "
               "0, 'insertions': 0}}",
               &s);
    table_leave(&table);
    lj_expect(r, &s, 0, what, "P", lj_pressure, NULL, t / v + t / (v - 2 * b2), 0);
    lj_series_free(&s);
}

/* The same of a Mie potential, with B2 by quadrature of its definition. */
static inline void fluid_expect_mie(struct lj_run *r, int n, int m, const char *what) {
    struct lj_series s = {0};
    char job[600];
    const double pi = 3.14159265358979323846, v = 5.0 * 5.2 * 5.1, t = 1.35, rc = 2.5, h = 1e-4;
    const double c = (double)n / (n - m) * pow((double)n / m, (double)m / (n - m));
    double b2 = 0;
    for (double x = h / 2; x < rc; x += h)
        b2 -= 2 * pi * x * x * h * expm1(fmax(-700, -c * (pow(x, -n) - pow(x, -m)) / t));
    snprintf(job, sizeof job,
             "{'sampler': 'lj-fluid', 'seed': '67', 'replicas': 4, 'system': {'box': [5, 5.2, "
             "5.1], 'temperature': 1.35, 'particles': 1, 'potential': 'mie', 'repulsive_exponent': "
             "%d, 'attractive_exponent': %d}, 'run': {'equilibration': 10, 'sweeps': 2000, "
             "'measure_every': 2, 'curve_every': 0, 'insertions': 100}}",
             n, m);
    lj_run_job(r, job, &s);
    lj_expect(r, &s, 0, what, "<exp(-dU/T)>", fluid_weight, NULL, 1 - 2 * b2 / v, 0);
    lj_series_free(&s);
}

static inline double fluid_rises(const struct ergo_point *point, const double *c) {
    (void)point;
    return c[LJ_COLUMN_RISES];
}

static inline double fluid_falls(const struct ergo_point *point, const double *c) {
    (void)point;
    return c[LJ_COLUMN_FALLS];
}

/* A transition matrix of one and two particles, exact. At a small activity no insertion is certain:
 * the mean probability of one beside one particle is zV (1 - 2 B2/V)/2. At a large one most
 * deletions are not: of one of two, the mean of min(1, 2 exp(u/T)/(zV)) over their distance. */
static inline void fluid_expect_matrix(struct lj_run *r, bool large, const char *what) {
    struct lj_series s = {0};
    char job[700];
    const double v = 5.0 * 5.2 * 5.1, t = 1.35, rc = 2.5, b2 = lj_second_virial(rc, t, false);
    const double z = large ? 1 : 0.001, sphere = 4 * 3.14159265358979323846 / 3 * rc * rc * rc;
    double deletions = (v - sphere) * 2 / (z * v);
    for (int i = 0; i < 100000; i++) {
        const double distance = rc * (i + 0.5) / 100000,
                     u = 4 * (pow(distance, -12) - pow(distance, -6));
        deletions += 3 * sphere / rc * distance * distance / (rc * rc) * rc / 100000 *
                     fmin(exp(-u / t), 2 / (z * v));
    }
    snprintf(job, sizeof job,
             "{'sampler': 'lj-fluid', 'seed': '68', 'replicas': 4, 'system': {'ensemble': 'muvt', "
             "'box': [5, 5.2, 5.1], 'temperature': 1.35, 'activity': %g, 'particles': %d}, 'run': "
             "{'method': 'transition-matrix', 'equilibration': 10, 'sweeps': 8000, "
             "'measure_every': 4, 'curve_every': 0, 'insertions': 50}}",
             z, large ? 2 : 1);
    lj_run_job(r, job, &s);
    lj_expect(r, &s, 0, what, large ? "p(2 to 1)" : "p(1 to 2)", large ? fluid_falls : fluid_rises,
              NULL, large ? deletions / (v - 2 * b2) : z * (v - 2 * b2) / 2, 0);
    lj_series_free(&s);
}

/* The ideal gas at constant pressure: V has a gamma distribution, <V> = (N + 1)/(beta P). */
static inline void fluid_expect_ideal(struct lj_run *r, const char *what) {
    struct lj_series s = {0};
    const double n = 6, p = 0.1 / 1.7;
    lj_run_job(r,
               "{'sampler': 'lj-fluid', 'seed': '62', 'replicas': 4, 'system': {'ensemble': 'npt', "
               "'box': [4, 5, 3.5], 'cutoff': 0.7, 'temperature': 1.7, 'epsilon': 0, 'particles': "
               "6, 'pressure': 0.1, 'volume_every': 1, 'max_volume_change': 0.5}, 'run': "
               "{'equilibration': 1000, 'sweeps': 80000, 'measure_every': 8, 'insertions': 1}}",
               &s);
    lj_expect(r, &s, 0, what, "<V>", fluid_volume, NULL, (n + 1) / p, 0);
    lj_expect(r, &s, 0, what, "<V^2>", fluid_volume_squared, NULL, (n + 1) * (n + 2) / (p * p), 0);
    lj_expect(r, &s, 0, what, "P", lj_pressure, NULL, 0.1, 0);
    lj_series_free(&s);
}

static inline void fluid_expect_pressure(struct lj_run *r, const char *what) {
    lj_expect_given_pressure(r, "67", "'particles': 32", ", 'insertions': 0", what);
}

/* Two particles at constant pressure, exact: V weighs V (V - 2 B2) exp(-P V/T), and the tail's
 * energy 4 a/V; sides are no shorter than two cutoffs. */
static inline void fluid_expect_two(struct lj_run *r, bool tail, const char *what) {
    enum { STEPS = 200000 };
    struct lj_series s = {0};
    char job[700];
    const double t = 0.8, rc = 1.6, p = 0.02, b2 = lj_second_virial(rc, t, false);
    const double a = tail ? 8 * 3.14159265358979323846 / 3 * (pow(rc, -9) / 3 - pow(rc, -3)) : 0;
    const double start = 4 * 4.2 * 4.1, low = start * pow(2 * rc / 4, 3), high = start * exp(4);
    double sum = 0, mean = 0;
    for (int i = 0; i < STEPS; i++) {
        const double v = low + (i + 0.5) * (high - low) / STEPS;
        const double w = v * (v - 2 * b2) * exp(-(4 * a / v + p * v) / t);
        sum += w;
        mean += w * v;
    }
    snprintf(job, sizeof job,
             "{'sampler': 'lj-fluid', 'seed': '63', 'replicas': 4, 'system': {'ensemble': 'npt', "
             "'box': [4, 4.2, 4.1], 'temperature': 0.8, 'cutoff': 1.6, 'particles': 2, "
             "'pressure': 0.02, 'volume_every': 2, 'max_volume_change': 0.5, 'max_displacement': "
             "1.5, 'tail_correction': %s}, 'run': {'equilibration': 1000, 'sweeps': 150000, "
             "'measure_every': 10, 'insertions': 0}}",
             tail ? "true" : "false");
    lj_run_job(r, job, &s);
    lj_expect(r, &s, 0, what, "<V>", fluid_volume, NULL, mean / sum, 0);
    lj_series_free(&s);
}

#endif
