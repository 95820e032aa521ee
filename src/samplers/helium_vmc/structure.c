/* Curves from positions, on the host while the device works: g(r), S(k), E(b). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "samplers/helium_vmc/helium.h"

#define PI 3.14159265358979323846

/* ---- g(r) ------------------------------------------------------------------------------------ */

size_t helium_gr_size(const struct ergo_point *point) {
    return (size_t)ergo_point_int(point, "/run/gr_bins");
}

void helium_gr_x(const struct ergo_point *point, double *x) {
    struct helium_model model;
    helium_model_box(point, &model);
    const size_t bins = helium_gr_size(point);
    for (size_t i = 0; i < bins; i++)
        x[i] = model.half * ((double)i + 0.5) / (double)bins;
}

void helium_gr(const struct ergo_point *point, const struct helium_model *model,
               const int32_t *places, uint32_t walkers, double *gr) {
    const size_t bins = helium_gr_size(point), n = model->n;
    double unit[3];
    for (int k = 0; k < 3; k++)
        unit[k] = model->side[k] * 0x1p-32 / model->half;
    memset(gr, 0, bins * sizeof *gr);
    for (uint32_t w = 0; w < walkers; w++) {
        const int32_t *x = places + 3 * n * w, *y = x + n, *z = y + n;
        for (size_t i = 1; i < n; i++)
            for (size_t j = 0; j < i; j++) {
                const double dx = unit[0] * (int32_t)((uint32_t)x[i] - (uint32_t)x[j]);
                const double dy = unit[1] * (int32_t)((uint32_t)y[i] - (uint32_t)y[j]);
                const double dz = unit[2] * (int32_t)((uint32_t)z[i] - (uint32_t)z[j]);
                const double r2 = dx * dx + dy * dy + dz * dz;
                if (r2 < 1.0)
                    gr[(size_t)(sqrt(r2) * (double)bins)] += 1.0;
            }
    }
    /* the pairs of an ideal gas of n atoms in each shell, so that g tends to 1 */
    const double volume = model->side[0] * model->side[1] * model->side[2];
    const double h = model->half / (double)bins;
    for (size_t i = 0; i < bins; i++) {
        const double a = h * (double)i, b = h * (double)(i + 1);
        const double shell = 4 * PI / 3 * (b * b * b - a * a * a);
        gr[i] /= 0.5 * (double)n * (double)(n - 1) * shell / volume * walkers;
    }
}

/* ---- S(k) ------------------------------------------------------------------------------------ */

/* Sides are proportional to integers a. So k = 2 pi m (h_x a_x / side_x, ...) = (2 pi m / c)
 * (h_x, ...), where c = side / a is the same for all axes. Directions h of the three kinds: */
static const int directions[13][3] = {{1, 0, 0},  {0, 1, 0},  {0, 0, 1}, {1, 1, 0},  {1, -1, 0},
                                      {1, 0, 1},  {1, 0, -1}, {0, 1, 1}, {0, 1, -1}, {1, 1, 1},
                                      {1, 1, -1}, {1, -1, 1}, {-1, 1, 1}};
static const int kinds[13] = {0, 0, 0, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2};
static const int members_of[3] = {3, 6, 4};

static size_t longest(const struct ergo_point *point, int kind) {
    struct helium_model model;
    helium_model_box(point, &model);
    const double c = model.side[0] / (double)ergo_point_value(point, "/system/aspect")->size[0];
    const double unit = 2 * PI / c * sqrt(kind + 1.0);
    const double most = ergo_point_real(point, "/run/sk_max") / unit;
    return most < 1 ? 1 : most > 4096 ? 4096 : (size_t)most;
}

/* Members may differ in density, but their curves must have equal sizes. The grid is given by
 * the numbers m of the job's first point. */
static const struct ergo_point *grid_of(const struct ergo_point *point) {
    return &point->job->points[0];
}

struct wave {
    double k;
    int kind;
    size_t m;
};

static int compare_waves(const void *a, const void *b) {
    const double x = ((const struct wave *)a)->k, y = ((const struct wave *)b)->k;
    return (x > y) - (x < y);
}

size_t helium_sk_size(const struct ergo_point *point) {
    const struct ergo_point *grid = grid_of(point);
    return longest(grid, 0) + longest(grid, 1) + longest(grid, 2);
}

/* All wave vectors in order of k, each with its kind and number m. NULL: no memory. */
static struct wave *waves_of(const struct ergo_point *point, double cell) {
    struct wave *waves = malloc(helium_sk_size(point) * sizeof *waves);
    size_t n = 0;
    for (int kind = 0; kind < 3 && waves; kind++)
        for (size_t m = 1; m <= longest(grid_of(point), kind); m++)
            waves[n++] = (struct wave){2 * PI / cell * (double)m * sqrt(kind + 1.0), kind, m};
    if (waves)
        qsort(waves, n, sizeof *waves, compare_waves);
    return waves;
}

static double cell_of(const struct ergo_point *point, const struct helium_model *model) {
    return model->side[0] / (double)ergo_point_value(point, "/system/aspect")->size[0];
}

void helium_sk_x(const struct ergo_point *point, double *x) {
    struct helium_model model;
    helium_model_box(point, &model);
    struct wave *waves = waves_of(point, cell_of(point, &model));
    for (size_t i = 0; i < helium_sk_size(point); i++)
        x[i] = waves ? waves[i].k : NAN;
    free(waves);
}

/* Add |sum exp(i m phase)|^2 / n to out[m - 1] for m = 1..most. re, im: [most], scratch. */
static void add_direction(const struct helium_model *model, const int64_t *aspect, const int *h,
                          const int32_t *place, size_t most, double *re, double *im, double *out) {
    const size_t n = model->n;
    memset(re, 0, most * sizeof *re);
    memset(im, 0, most * sizeof *im);
    for (size_t i = 0; i < n; i++) {
        uint32_t phase = 0; /* modulo one turn */
        for (int k = 0; k < 3; k++)
            phase += (uint32_t)(h[k] * (int)aspect[k]) * (uint32_t)place[(size_t)k * n + i];
        const double angle = 2 * PI * 0x1p-32 * phase, c = cos(angle), s = sin(angle);
        double x = 1, y = 0;
        for (size_t m = 0; m < most; m++) {
            const double next = x * c - y * s;
            y = x * s + y * c;
            x = next;
            re[m] += x;
            im[m] += y;
        }
    }
    for (size_t m = 0; m < most; m++)
        out[m] += (re[m] * re[m] + im[m] * im[m]) / (double)n;
}

void helium_sk(const struct ergo_point *point, const struct helium_model *model,
               const int32_t *places, uint32_t walkers, double *sk) {
    const struct ergo_point *grid = grid_of(point);
    const size_t most = longest(grid, 0), size = helium_sk_size(point);
    const int64_t *aspect = ergo_point_value(point, "/system/aspect")->size;
    double *sums = calloc(5 * most, sizeof *sums); /* re, im, and a sum for each kind */
    struct wave *waves = waves_of(point, cell_of(point, model));
    for (size_t i = 0; i < size; i++)
        sk[i] = NAN; /* if memory runs out */
    if (sums && waves) {
        for (uint32_t w = 0; w < walkers; w++)
            for (int d = 0; d < 13; d++)
                add_direction(model, aspect, directions[d], places + 3 * (size_t)model->n * w,
                              longest(grid, kinds[d]), sums, sums + most,
                              sums + (2 + (size_t)kinds[d]) * most);
        for (size_t i = 0; i < size; i++)
            sk[i] = sums[(2 + (size_t)waves[i].kind) * most + waves[i].m - 1] /
                    (members_of[waves[i].kind] * (double)walkers);
    }
    free(sums);
    free(waves);
}

/* ---- E(b) by correlated sampling ------------------------------------------------------------- */

/*
 * u is proportional to b^5. With s = (b'/b)^5, on a configuration drawn from |psi_b|^2:
 *     ln psi' = s ln psi, lap ln psi' = s lap ln psi, (grad ln psi')^2 = s^2 (grad ln psi)^2,
 *     <E>_b' = <w E'> / <w>, w = |psi'/psi|^2 = exp(2 (s - 1) ln psi), E' = V + s A - s^2 B,
 * A = -lambda lap ln psi / N and B = lambda (grad ln psi)^2 / N. The grid spans a width in which
 * weights stay of order one: the spread of ln psi grows as sqrt(N).
 */
static double scale_of(uint32_t n, int k) {
    return 1.0 + 0.6 / sqrt((double)n) * (2.0 * k / (HELIUM_B_POINTS - 1) - 1.0);
}

void helium_b_x(const struct ergo_point *point, double *x) {
    const double b = ergo_point_real(point, "/system/b");
    for (int k = 0; k < HELIUM_B_POINTS; k++)
        x[k] = x[k + HELIUM_B_POINTS] =
            b * pow(scale_of((uint32_t)ergo_point_int(point, "/system/n"), k), 0.2);
}

void helium_b_add(const struct helium_model *model, double ln_psi, double potential,
                  double laplacian, double gradient, double *moments) {
    /* a constant factor of all weights cancels; this one keeps them near 1, as ln psi / N is
     * about -1.1 */
    const double relative = ln_psi + 1.1 * model->n;
    for (int k = 0; k < HELIUM_B_POINTS; k++) {
        const double s = scale_of(model->n, k);
        const double weight = exp(2 * (s - 1) * relative);
        moments[k] += weight * (potential + s * laplacian - s * s * gradient);
        moments[HELIUM_B_POINTS + k] += weight;
    }
}

double helium_b_minimum(const struct ergo_point *point, const double *moments, size_t size,
                        bool energy) {
    /* least squares of e = c0 + c1 t + c2 t^2 + c3 t^3 over t = -1 .. 1, where even and odd
     * powers separate by symmetry; then the minimum */
    double x[2 * HELIUM_B_POINTS], m[7] = {0}, y[4] = {0};
    if (size != 2 * HELIUM_B_POINTS)
        return NAN;
    helium_b_x(point, x);
    for (int k = 0; k < HELIUM_B_POINTS; k++) {
        const double t = 2.0 * k / (HELIUM_B_POINTS - 1) - 1.0;
        double power = 1;
        for (int p = 0; p < 7; p++, power *= t)
            m[p] += power;
        const double e = moments[k] / moments[HELIUM_B_POINTS + k];
        y[0] += e;
        y[1] += e * t;
        y[2] += e * t * t;
        y[3] += e * t * t * t;
    }
    const double even = m[0] * m[4] - m[2] * m[2];
    const double c0 = (m[4] * y[0] - m[2] * y[2]) / even, c2 = (m[0] * y[2] - m[2] * y[0]) / even;
    const double c1 = y[1] / m[2]; /* without c3, which would only amplify noise */
    /* only within the grid, because the weights mean nothing beyond; at its end the user runs
     * again from there */
    double t = c2 > 0 ? -c1 / (2 * c2) : c1 > 0 ? -1 : 1;
    t = t < -1 ? -1 : t > 1 ? 1 : t;
    const double s = 1.0 + 0.6 / sqrt((double)ergo_point_int(point, "/system/n")) * t;
    return energy ? c0 + c1 * t + c2 * t * t : ergo_point_real(point, "/system/b") * pow(s, 0.2);
}
