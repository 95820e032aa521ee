/* Mixtures of lj-fluid compared with exact values: what the physics test and the mutants share. */
#ifndef ERGO_TESTS_PHYSICS_MIXTURE_PHYSICS_H
#define ERGO_TESTS_PHYSICS_MIXTURE_PHYSICS_H

#include "oracle/mixture_serial.h"
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
