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
