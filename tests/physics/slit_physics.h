/* Slits between Steele's walls against exact values of the ideal gas, and against the serial
 * oracle: what the physics test and the mutants share. */
#ifndef ERGO_TESTS_PHYSICS_SLIT_PHYSICS_H
#define ERGO_TESTS_PHYSICS_SLIT_PHYSICS_H

#include "physics/fluid_physics.h"

#define SLIT_KEYS                                                                                  \
    "'slit': {'width': 4.4, 'epsilon': 0.12, 'sigma': 0.95, 'density': 5, 'spacing': 0.9}"

static inline struct ergo_oracle_lj slit_oracle(void) {
    return (struct ergo_oracle_lj){.side = {5, 5.5, 7},
                                   .cutoff = 2.5,
                                   .temperature = 1.4,
                                   .activity = 0.03,
                                   .slit = {4.4, 0.12, 0.95, 5, 0.9}};
}

/* Integrals of exp(-u/T) and of u exp(-u/T) over the slit. */
static inline void slit_integrals(double out[2]) {
    enum { N = 200000 };
    const struct ergo_oracle_lj o = slit_oracle();
    out[0] = out[1] = 0;
    for (int i = 0; i < N; i++) {
        const double u = ergo_oracle_lj_wall(&o, 4.4 * (i + 0.5) / N), t = o.temperature;
        const double weight = u < 100 * t ? exp(-u / t) * 4.4 / N : 0;
        out[0] += weight;
        out[1] += weight > 0 ? weight * u : 0;
    }
}

/* Slits, in one job: the ideal gas is Poisson with z A times Henry's integral, and Lennard-Jones
 * particles are those of the serial program, of which there are `moves` (0: the ideal gas alone).
 * The latter's potential is from a file. */
static inline void slit_expect(struct lj_run *r, const char *what, unsigned moves) {
    struct ergo_oracle_lj o = slit_oracle();
    struct lj_series s = {0};
    double henry[2];
    const struct table_file table = table_enter(table_lennard_jones, 0.005);
    lj_run_job(r,
               "{'sampler': 'lj-fluid', 'seed': '71', 'replicas': 4, 'system': {'ensemble': "
               "'muvt', 'box': [5, 5.5, 7], 'temperature': 1.4, 'activity': 0.03, 'potential': "
               "'" TABLE_FILE "', 'moves': {'deletion': 0.25}, " SLIT_KEYS
               "}, 'scan': {'/system/epsilon': [0, "
               "1]}, 'run': {'equilibration': 10000, 'sweeps': 200000, 'measure_every': 20, "
               "'curve_every': 0}}",
               &s);
    table_leave(&table);
    slit_integrals(henry);
    const double mean = 0.03 * 5 * 5.5 * henry[0];
    lj_expect(r, &s, 0, what, "<N>, ideal", lj_particles, NULL, mean, 0);
    lj_expect(r, &s, 0, what, "<N^2>, ideal", lj_particles_squared, NULL, mean * mean + mean, 0);
    lj_expect(r, &s, 0, what, "<U>/<N>, ideal", lj_energy, lj_particles, henry[1] / henry[0], 0);
    if (moves) {
        struct ergo_estimate n, u;
        fluid_serial(&o, 73, moves, &n, &u);
        lj_expect(r, &s, 1, what, "<N>", lj_particles, NULL, n.mean, n.error);
        lj_expect(r, &s, 1, what, "<U>", lj_energy, NULL, u.mean, u.error);
    }
    lj_series_free(&s);
}

#define SLIT_GAS 2 /* epsilon of a rare gas, so that pairs matter */

/* The integral of exp(-u/T) over both places of two particles, beyond its square over one, per
 * area: of f = exp(-u12/T) - 1 over the planes, 2 pi times that of f r over the distances r between
 * the difference in height and the cutoff. With Henry's constant it is the second virial
 * coefficient of gas and surface. */
static inline double slit_second(void) {
    enum { N = 1760, REACH = 1000 }; /* steps of 0.0025 */
    const struct ergo_oracle_lj o = slit_oracle();
    const double h = 4.4 / N, pi = 3.14159265358979323846, t = o.temperature;
    double above[REACH + 1], weight[N], sum = 0, w;
    above[REACH] = 0;
    for (int i = REACH; i-- > 0;) {
        const double r = (i + 0.5) * h, u = SLIT_GAS * ergo_oracle_lj_pair(r * r, 1e9, &w);
        above[i] = above[i + 1] + 2 * pi * r * h * expm1(fmax(-700, -u / t));
    }
    for (int i = 0; i < N; i++) {
        const double u = ergo_oracle_lj_wall(&o, h * (i + 0.5));
        weight[i] = u < 100 * t ? exp(-u / t) * h : 0;
    }
    for (int i = 0; i < N; i++)
        for (int j = i > REACH ? i - REACH : 0; j < N && j <= i + REACH; j++)
            sum += weight[i] * weight[j] * above[abs(i - j)];
    return sum;
}

/* ln z at which there are exp(at) particles: a cubic through four points. */
static inline double slit_log_activity(const double log_n[4], const double *log_z, double at) {
    double sum = 0;
    for (int i = 0; i < 4; i++) {
        double share = log_z[i];
        for (int j = 0; j < 4; j++)
            share *= j == i ? 1 : (at - log_n[j]) / (log_n[i] - log_n[j]);
        sum += share;
    }
    return sum;
}

/* Means of N and U at a point of a scan, and T - (<NU> - <N><U>)/(<N^2> - <N>^2) with the error
 * that its linearised series have. */
static inline void slit_heat(const struct lj_series *s, size_t scan, struct ergo_estimate *n,
                             struct ergo_estimate *q) {
    double sum[5] = {0}, mean[2], errors[2] = {0}, t = 0;
    double *series = malloc(2 * s->samples * sizeof *series);
    assert_non_null(series);
    for (int pass = 0; pass < 2; pass++) {
        const double a = mean[0] = sum[1] / sum[0], b = mean[1] = sum[2] / sum[0];
        const double variance = sum[3] / sum[0] - a * a;
        const double slope = (sum[4] / sum[0] - a * b) / variance;
        unsigned replicas = 0;
        for (size_t m = 0; m < s->batch->count; m++) {
            struct ergo_estimate e[2];
            if (s->batch->points[m]->scan_index != scan)
                continue;
            t = ergo_point_real(s->batch->points[m], "/system/temperature");
            for (size_t i = 0; i < s->samples; i++) {
                const double *c = s->columns + (i * s->batch->count + m) * LJ_COLUMNS;
                const double N = c[LJ_COLUMN_PARTICLES], U = c[LJ_COLUMN_ENERGY];
                const double add[5] = {1, N, U, N * N, N * U};
                for (int k = 0; k < 5 && pass == 0; k++)
                    sum[k] += add[k];
                series[i] = N;
                series[s->samples + i] = (N - a) * (U - b - slope * (N - a)) / variance;
            }
            for (int k = 0; k < 2 && pass == 1; k++) {
                ergo_stats_estimate(series + (size_t)k * s->samples, s->samples, &e[k]);
                errors[k] = hypot(errors[k], e[k].error);
            }
            replicas++;
        }
        *n = (struct ergo_estimate){.mean = a, .error = errors[0] / replicas};
        *q = (struct ergo_estimate){.mean = t - slope, .error = errors[1] / replicas};
    }
    free(series);
}

/* Lennard-Jones particles of a rare gas in the slit, exact: the ratios of P(N) of one and two
 * particles at four activities. And the isosteric heat of fluctuations is the slope of ln p, p = z
 * T, over 1/T at the same loading (Clausius and Clapeyron), by other runs of the same scan at two
 * temperatures, whose inverses are as far away. */
static inline void slit_expect_gas(struct lj_run *r, const char *what) {
    static const double activity[4] = {0.001, 0.002, 0.004, 0.008}, inverse = 1 / 1.3 - 1 / 1.4;
    struct lj_series s = {0};
    double henry[2], log_z[4], log_n[2][4], noise[2][4], p[2], error = 0;
    struct ergo_estimate n, q, other;
    const struct table_file table = table_enter(table_lennard_jones, 0.005);
    lj_run_job(r,
               "{'sampler': 'lj-fluid', 'seed': '74', 'replicas': 4, 'system': {'ensemble': "
               "'muvt', 'box': [5, 5.5, 7], 'temperature': 1.4, 'activity': 0.03, 'epsilon': 2, "
               "'potential': '" TABLE_FILE "', 'moves': {'deletion': 0.25}, " SLIT_KEYS
               "}, 'scan': {'/system/temperature': [1.3, 1.4, 1.5166666666666667], "
               "'/system/activity': [0.001, 0.002, 0.004, 0.008]}, 'run': {'equilibration': 5000, "
               "'sweeps': 400000, 'measure_every': 20, 'curve_every': 0}}",
               &s);
    table_leave(&table);
    slit_integrals(henry);
    const double one = 5 * 5.5 * henry[0], two = one * one + 5 * 5.5 * slit_second();
    for (size_t i = 0; i < 4; i++) {
        const double z = activity[i];
        lj_expect(r, &s, 4 + i, what, "P(1)/P(0)", lj_is_1, lj_is_0, z * one, 0);
        lj_expect(r, &s, 4 + i, what, "P(2)/P(1)", lj_is_2, lj_is_1, z * two / (2 * one), 0);
        log_z[i] = log(z);
        for (size_t k = 0; k < 2; k++) {
            slit_heat(&s, 8 * k + i, &n, &other);
            log_n[k][i] = log(n.mean);
            noise[k][i] = n.error / n.mean;
        }
    }
    slit_heat(&s, 6, &n, &q);
    for (size_t k = 0; k < 2; k++)
        p[k] = slit_log_activity(log_n[k], log_z, log(n.mean)) + log(k ? 1.5166666666666667 : 1.3);
    for (size_t k = 0; k < 2; k++)
        for (size_t i = 0; i < 4; i++) {
            log_n[k][i] += noise[k][i];
            const double moved =
                slit_log_activity(log_n[k], log_z, log(n.mean)) + log(k ? 1.5166666666666667 : 1.3);
            error = hypot(error, (moved - p[k]) / (2 * inverse));
            log_n[k][i] -= noise[k][i];
        }
    lj_note(r, what, "isosteric heat", q.mean, q.error, (p[1] - p[0]) / (2 * inverse), error);
    lj_series_free(&s);
}

/* The weight of a test insertion into an ideal gas is Henry's integral. */
static inline void slit_expect_insertion(struct lj_run *r, const char *what) {
    struct lj_series s = {0};
    double henry[2];
    slit_integrals(henry);
    lj_run_job(
        r,
        "{'sampler': 'lj-fluid', 'seed': '72', 'replicas': 4, 'system': {'box': [5, 5.5, "
        "7], 'temperature': 1.4, 'epsilon': 0, 'particles': 9, 'max_displacement': 1.5, " SLIT_KEYS
        "}, 'run': {'equilibration': 1000, 'sweeps': 40000, 'measure_every': 20, "
        "'curve_every': 0, 'insertions': 100}}",
        &s);
    lj_expect(r, &s, 0, what, "<exp(-dU/T)>", fluid_weight, NULL, henry[0] / 7, 0);
    lj_expect(r, &s, 0, what, "<U>/<N>, fixed N", lj_energy, lj_particles, henry[1] / henry[0], 0);
    lj_series_free(&s);
}

#endif
