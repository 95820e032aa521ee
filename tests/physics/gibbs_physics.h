/* Runs of the Gibbs ensemble compared with exact values: what the physics test and the mutants share.
 */
#ifndef ERGO_TESTS_PHYSICS_GIBBS_PHYSICS_H
#define ERGO_TESTS_PHYSICS_GIBBS_PHYSICS_H

#include "oracle/gibbs_serial.h"
#include "physics/lj_physics.h"

#define GIBBS_COLUMN(name, column)                                                                 \
    static inline double name(const struct ergo_point *point, const double *c) {                   \
        (void)point;                                                                               \
        return c[column];                                                                          \
    }
GIBBS_COLUMN(gibbs_particles, LJ_GIBBS_LIQUID + LJ_PHASE_PARTICLES)
GIBBS_COLUMN(gibbs_volume, LJ_GIBBS_LIQUID + LJ_PHASE_VOLUME)
GIBBS_COLUMN(gibbs_insertion, LJ_GIBBS_LIQUID + LJ_PHASE_GHOSTS)

static inline double gibbs_density(const struct ergo_point *point, const double *c) {
    (void)point;
    return c[LJ_GIBBS_LIQUID + LJ_PHASE_PARTICLES] / c[LJ_GIBBS_LIQUID + LJ_PHASE_VOLUME];
}

static inline double gibbs_vapour_density(const struct ergo_point *point, const double *c) {
    (void)point;
    return c[LJ_GIBBS_VAPOUR + LJ_PHASE_PARTICLES] / c[LJ_GIBBS_VAPOUR + LJ_PHASE_VOLUME];
}

static inline double gibbs_pressure(const struct ergo_point *point, const double *c) {
    const double *const v = c + LJ_GIBBS_VAPOUR;
    struct lj_system s = lj_system_of(point);
    s.volume = v[LJ_PHASE_VOLUME];
    return (v[LJ_PHASE_PARTICLES] * s.temperature + v[LJ_PHASE_VIRIAL] / 3 +
            lj_tail_energy(&s, v[LJ_PHASE_PARTICLES])) /
           s.volume;
}

/* Exact averages over n and V1, where N - n and V - V1 are in the other box: both weigh
 * V1^n V2^(N - n)/(n! (N - n)!) times `weight`, of n particles in a volume. */
struct gibbs_exact {
    double particles, volume, density, insertion;
};

static inline struct gibbs_exact gibbs_average(int n, double all, double smallest,
                                               double (*weight)(int, double)) {
    enum { STEPS = 20000 };
    struct gibbs_exact sum = {0, 0, 0, 0};
    double norm = 0;
    for (int i = 0; i < STEPS; i++) {
        const double v1 = smallest + (i + 0.5) * (all - 2 * smallest) / STEPS, v2 = all - v1;
        for (int k = 0; k <= n; k++) {
            const double w = exp(k * log(v1) + (n - k) * log(v2) - lgamma(k + 1.0) -
                                 lgamma(n - k + 1.0)) *
                             weight(k, v1) * weight(n - k, v2);
            const bool first = k * v2 >= (n - k) * v1;
            const double nl = first ? k : n - k, vl = first ? v1 : v2;
            norm += w;
            sum.particles += w * nl;
            sum.volume += w * vl;
            sum.density += w * nl / vl;
            sum.insertion += w * vl / (nl + 1);
        }
    }
    return (struct gibbs_exact){sum.particles / norm, sum.volume / norm, sum.density / norm,
                                sum.insertion / norm};
}

static inline double gibbs_ideal(int n, double v) {
    (void)n;
    (void)v;
    return 1;
}

/* Five particles of an ideal gas: they are shared as if by chance, and V1 is as likely anywhere
 * between the limits. */
static inline void gibbs_expect_ideal(struct lj_run *r, const char *what) {
    struct lj_series s = {0};
    /* sides of two cutoffs */
    const double small = 4 * 5 * 3.5, smallest = small * pow(2 * 0.9 / 3.5, 3);
    const struct gibbs_exact e = gibbs_average(5, small + 90, smallest, gibbs_ideal);
    lj_run_job(r,
               "{'sampler': 'lj-fluid', 'seed': '71', 'replicas': 4, 'system': {'ensemble': "
               "'gibbs', 'box': [4, 5, 3.5], 'cutoff': 0.9, 'temperature': 1.7, 'epsilon': 0, "
               "'particles': 3, 'second_particles': 2, 'second_volume': 90, 'volume_every': 1, "
               "'transfers': 2, 'max_volume_change': 0.5}, 'run': {'equilibration': 1000, "
               "'sweeps': 40000, 'measure_every': 8, 'insertions': 1}}",
               &s);
    lj_expect(r, &s, 0, what, "<N>", gibbs_particles, NULL, e.particles, 0);
    lj_expect(r, &s, 0, what, "<V>", gibbs_volume, NULL, e.volume, 0);
    lj_expect(r, &s, 0, what, "<N/V>", gibbs_density, NULL, e.density, 0);
    lj_expect(r, &s, 0, what, "<V/(N + 1)>", gibbs_insertion, NULL, e.insertion, 0);
    lj_series_free(&s);
}

static const double gibbs_t = 0.8, gibbs_cutoff = 1.1;

static inline double gibbs_tail_of(int n, double v) {
    const double a =
        8 * 3.14159265358979323846 / 3 * (pow(gibbs_cutoff, -9) / 3 - pow(gibbs_cutoff, -3));
    return exp(-n * n * a / v / gibbs_t);
}

/* Of two particles in one box: 1 - 2 B2/V. */
static double gibbs_b2;
static inline double gibbs_two(int n, double v) {
    return n == 2 ? 1 - 2 * gibbs_b2 / v : 1;
}

static inline double gibbs_two_tails(int n, double v) {
    return gibbs_two(n, v) * gibbs_tail_of(n, v);
}

/* Two particles, exact. */
static inline void gibbs_expect_two(struct lj_run *r, bool tail, const char *what) {
    struct lj_series s = {0};
    char job[700];
    const double small = 2.6 * 2.7 * 2.8, smallest = small * pow(2 * gibbs_cutoff / 2.6, 3);
    gibbs_b2 = lj_second_virial(gibbs_cutoff, gibbs_t, false);
    const struct gibbs_exact e =
        gibbs_average(2, small + 40, smallest, tail ? gibbs_two_tails : gibbs_two);
    snprintf(job, sizeof job,
             "{'sampler': 'lj-fluid', 'seed': '72', 'replicas': 4, 'system': {'ensemble': 'gibbs', "
             "'box': [2.6, 2.7, 2.8], 'temperature': 0.8, 'cutoff': 1.1, 'particles': 2, "
             "'second_particles': 0, 'second_volume': 40, 'volume_every': 2, 'transfers': 3, "
             "'max_volume_change': 0.5, 'max_displacement': 1.2, 'tail_correction': %s}, 'run': "
             "{'equilibration': 1000, 'sweeps': 80000, 'measure_every': 10, 'insertions': 0}}",
             tail ? "true" : "false");
    lj_run_job(r, job, &s);
    lj_expect(r, &s, 0, what, "<N>", gibbs_particles, NULL, e.particles, 0);
    lj_expect(r, &s, 0, what, "<V>", gibbs_volume, NULL, e.volume, 0);
    lj_series_free(&s);
}

#endif
