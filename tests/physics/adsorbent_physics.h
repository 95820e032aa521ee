/* An atom that does not move, and a field from a file, against exact values of one and two
 * particles and the serial oracle: what the physics test and the mutants share. */
#ifndef ERGO_TESTS_PHYSICS_ADSORBENT_PHYSICS_H
#define ERGO_TESTS_PHYSICS_ADSORBENT_PHYSICS_H

#include "physics/fluid_physics.h"

enum { ADSORBENT_X = 6, ADSORBENT_Y = 5, ADSORBENT_Z = 7 };

static const double adsorbent_side[3] = {5, 5.2, 5.1}, adsorbent_t = 1.35, adsorbent_cutoff = 1.6;
/* epsilon 2 and sigma 1.2 of the atom, by the rules of Lorentz and Berthelot with 1 and 1 */
static const double adsorbent_atom[1][5] = {{4.9, 0.1, 2.3, 1.4142135623730951, 1.1}};

/* What the file has at a point; one is a wall, and nothing with a small unit. */
static inline double adsorbent_value(int x, int y, int z) {
    x %= ADSORBENT_X;
    y %= ADSORBENT_Y;
    z %= ADSORBENT_Z;
    if (x == 2 && y == 3 && z == 6)
        return 400;
    return 1.4 * sin(x + 0.3) - 1.1 * cos(1.7 * y) + 0.1 * (z - 3) * (z - 2) - 0.02 * x * y * z;
}

/* 0.7 times the value between the points, linear along each axis. */
static inline double adsorbent_field(const double at[3]) {
    static const int n[3] = {ADSORBENT_X, ADSORBENT_Y, ADSORBENT_Z};
    double t[3], sum = 0;
    int low[3];
    for (int k = 0; k < 3; k++) {
        const double place = (at[k] / adsorbent_side[k] - floor(at[k] / adsorbent_side[k])) * n[k];
        low[k] = (int)fmin(floor(place), n[k] - 1);
        t[k] = place - low[k];
    }
    for (int i = 0; i < 8; i++)
        sum += (i & 1 ? t[0] : 1 - t[0]) * (i & 2 ? t[1] : 1 - t[1]) * (i & 4 ? t[2] : 1 - t[2]) *
               adsorbent_value(low[0] + (i & 1), low[1] + (i >> 1 & 1), low[2] + (i >> 2));
    return 0.7 * sum;
}

static inline struct table_file adsorbent_enter(void) {
    static const int n[3] = {ADSORBENT_X, ADSORBENT_Y, ADSORBENT_Z};
    const struct table_file t = table_folder();
    FILE *atoms = fopen("atom.xyz", "w"), *field = fopen("field.cube", "w");
    assert_true(atoms && field);
    const double *a = adsorbent_atom[0];
    fprintf(atoms, "1\natom\nC %g %g %g\n", a[0], a[1], a[2] - adsorbent_side[2]);
    fprintf(field, "a field\n\n0 0 0 0\n");
    for (int k = 0; k < 3; k++)
        fprintf(field, "%d %.17g %.17g %.17g\n", n[k], k == 0 ? adsorbent_side[0] / n[0] : 0,
                k == 1 ? adsorbent_side[1] / n[1] : 0, k == 2 ? adsorbent_side[2] / n[2] : 0);
    for (int i = 0; i < n[0] * n[1] * n[2]; i++) {
        const double u = adsorbent_value(i / n[2] / n[1], i / n[2] % n[1], i % n[2]);
        fprintf(field, "%.9g%c", u, i % 6 == 5 ? '\n' : ' ');
    }
    assert_int_equal(fclose(atoms) + fclose(field), 0);
    return t;
}

static inline void adsorbent_leave(const struct table_file *t) {
    assert_int_equal(unlink("atom.xyz") + unlink("field.cube"), 0);
    table_back(t);
}

/* Mayer's functions f of two particles and g of a particle and the atom, and with them the
 * integrals over one and two particles in a volume V: Z1 = V + G and Z2 = Z1^2 + V F + 2 F G + D,
 * where D is the integral of g g f over both places. The box is three cutoffs wide, so that no
 * images meet. Z[2]: the integral of u exp(-u/T) over one place. */
static inline void adsorbent_integrals(double Z[3]) {
    enum { N = 1600 };
    static double f[2 * N], g[N], k[2 * N + 1];
    const double h = adsorbent_cutoff / N, pi = 3.14159265358979323846, t = adsorbent_t;
    const double v = adsorbent_side[0] * adsorbent_side[1] * adsorbent_side[2];
    double F = 0, G = 0, D = 0, U = 0, w;
    for (int i = 0; i < N; i++) {
        const double r = (i + 0.5) * h, sigma = adsorbent_atom[0][4];
        const double u =
            adsorbent_atom[0][3] * ergo_oracle_lj_pair(r * r / (sigma * sigma), 1e9, &w);
        f[i] = expm1(fmax(-700, -ergo_oracle_lj_pair(r * r, 1e9, &w) / t));
        g[i] = expm1(fmax(-700, -u / t));
        F += 4 * pi * r * r * h * f[i];
        G += 4 * pi * r * r * h * g[i];
        U += 4 * pi * r * r * h * (g[i] > -1 ? u * (1 + g[i]) : 0);
    }
    for (int i = 0; i < 2 * N; i++) /* of r12 from 0 to i h */
        k[i + 1] = k[i] + (i < N ? (i + 0.5) * h * h * f[i] : 0);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            const double r1 = (i + 0.5) * h, r2 = (j + 0.5) * h;
            D += 8 * pi * pi * r1 * r2 * h * h * g[i] * g[j] * (k[i + j + 1] - k[abs(i - j)]);
        }
    Z[0] = v + G;
    Z[1] = Z[0] * Z[0] + v * F + 2 * F * G + D;
    Z[2] = U;
}

/* The integrals of exp(-u/T) and u exp(-u/T) over one place with atom and field. */
static inline void adsorbent_one(const struct ergo_oracle_lj *o, double out[2]) {
    enum { N = 96 };
    const double cell = o->side[0] * o->side[1] * o->side[2] / ((double)N * N * N);
    out[0] = out[1] = 0;
    for (int i = 0; i < N * N * N; i++) {
        const double at[3] = {(i % N + 0.5) / N * o->side[0], (i / N % N + 0.5) / N * o->side[1],
                              (i / N / N + 0.5) / N * o->side[2]};
        const double u = ergo_oracle_lj_outside(o, at);
        const double weight = u < 100 * o->temperature ? exp(-u / o->temperature) * cell : 0;
        out[0] += weight;
        out[1] += weight > 0 ? weight * u : 0;
    }
}

static inline double adsorbent_energy_of_one(const struct ergo_point *point, const double *c) {
    return lj_is_1(point, c) > 0 ? c[LJ_COLUMN_ENERGY] : 0;
}

enum { ADSORBENT_N = 72 };

static inline double adsorbent_is_n(const struct ergo_point *point, const double *c) {
    (void)point;
    return c[LJ_COLUMN_PARTICLES] == ADSORBENT_N;
}

static inline double adsorbent_is_more(const struct ergo_point *point, const double *c) {
    (void)point;
    return c[LJ_COLUMN_PARTICLES] == ADSORBENT_N + 1;
}

#define ADSORBENT_KEYS                                                                             \
    "'box': [5, 5.2, 5.1], 'cutoff': 1.6, 'temperature': 1.35, 'field': 'field.cube', 'frozen': "  \
    "{'file': 'atom.xyz', 'epsilon': 2, 'sigma': 1.2}"

/* NVT = muVT among many particles: the ratio of P(N + 1) and P(N) in the one is zV/(N + 1) times
 * the mean weight of a test insertion in the other. Henry's constant is V/T times that weight in
 * the empty box; the heat at no loading T less the energy of one particle: of their integrals
 * `one`. */
static inline void adsorbent_expect_ensembles(struct lj_run *r, const char *what,
                                              const struct lj_series *open, const double one[2]) {
    struct lj_series s = {0};
    double mean = 0, variance = 0;
    lj_run_job(r,
               "{'sampler': 'lj-fluid', 'seed': '82', 'replicas': 4, 'system': {" ADSORBENT_KEYS
               ", 'field_unit': 0.7, 'particles': 72, 'max_displacement': 0.5}, 'run': "
               "{'equilibration': 20000, 'sweeps': 200000, 'measure_every': 200, 'curve_every': 0, "
               "'insertions': 400}, 'scan': {'/system/particles': [72, 0, 1]}}",
               &s);
    lj_expect(r, &s, 1, what, "<exp(-u/T)>, empty", fluid_weight, NULL, one[0] / (5 * 5.2 * 5.1),
              0);
    lj_expect(r, &s, 2, what, "<U>, NVT of one", lj_energy, NULL, one[1] / one[0], 0);
    double *series = malloc(s.samples * sizeof *series);
    assert_non_null(series);
    for (size_t m = 0; m < s.batch->count; m++) {
        struct ergo_estimate e;
        if (s.batch->points[m]->scan_index > 0)
            continue;
        for (size_t i = 0; i < s.samples; i++)
            series[i] =
                fluid_weight(s.batch->points[m], s.columns + (i * s.batch->count + m) * LJ_COLUMNS);
        ergo_stats_estimate(series, s.samples, &e);
        mean += e.mean / 4;
        variance += e.error * e.error / 16;
    }
    const double factor = 0.5 * 5 * 5.2 * 5.1 / (ADSORBENT_N + 1);
    lj_expect(r, open, 3, what, "P(73)/P(72), NVT", adsorbent_is_more, adsorbent_is_n,
              factor * mean, factor * sqrt(variance));
    free(series);
    lj_series_free(&s);
}

/* One job: of few particles the ratios of P(N) with the atom alone (the field's unit is next to
 * nothing), and of P(1) with both; of many, those of the serial program with `moves` moves (0: the
 * few alone). */
static inline void adsorbent_expect(struct lj_run *r, const char *what, unsigned moves) {
    struct ergo_oracle_lj o = {.side = {5, 5.2, 5.1},
                               .cutoff = adsorbent_cutoff,
                               .temperature = adsorbent_t,
                               .activity = 0.5,
                               .frozen = adsorbent_atom,
                               .n_frozen = 1,
                               .field = adsorbent_field};
    struct lj_series s = {0};
    double Z[3], one[2];
    const struct table_file files = adsorbent_enter();
    lj_run_job(r,
               "{'sampler': 'lj-fluid', 'seed': '81', 'replicas': 4, 'system': {'ensemble': "
               "'muvt', 'activity': 0.01, 'moves': {'deletion': 0.25}, " ADSORBENT_KEYS
               "}, 'scan': {'/system/field_unit': [1e-9, 0.7], '/system/activity': [0.01, 0.5]}, "
               "'run': {'equilibration': 10000, 'sweeps': 200000, 'measure_every': 10, "
               "'curve_every': 0}}",
               &s);
    adsorbent_integrals(Z);
    adsorbent_one(&o, one);
    lj_expect(r, &s, 0, what, "P(1)/P(0)", lj_is_1, lj_is_0, 0.01 * Z[0], 0);
    lj_expect(r, &s, 0, what, "P(2)/P(1)", lj_is_2, lj_is_1, 0.01 * Z[1] / (2 * Z[0]), 0);
    lj_expect(r, &s, 0, what, "<U>, N = 1", adsorbent_energy_of_one, lj_is_1, Z[2] / Z[0], 0);
    lj_expect(r, &s, 2, what, "P(1)/P(0), both", lj_is_1, lj_is_0, 0.01 * one[0], 0);
    lj_expect(r, &s, 2, what, "<U>, N = 1, both", adsorbent_energy_of_one, lj_is_1, one[1] / one[0],
              0);
    if (moves) {
        struct ergo_estimate n, u;
        fluid_serial(&o, 83, moves, &n, &u);
        lj_expect(r, &s, 3, what, "<N>", lj_particles, NULL, n.mean, n.error);
        lj_expect(r, &s, 3, what, "<U>", lj_energy, NULL, u.mean, u.error);
        adsorbent_expect_ensembles(r, what, &s, one);
    }
    adsorbent_leave(&files);
    lj_series_free(&s);
}

#endif
