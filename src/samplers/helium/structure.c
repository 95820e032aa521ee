/* Curves from positions, on the host while the device works: g(r), S(k). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "samplers/helium/liquid.h"

#define PI 3.14159265358979323846

uint64_t helium_curve_every(const struct ergo_point *point) {
    const int64_t every = of_quantum(point)->structure_every;
    return every > 0 ? (uint64_t)every : 1;
}

uint32_t helium_structure_walkers(const struct ergo_point *point) {
    const struct quantum_parameters *p = of_quantum(point);
    const int64_t most = p->structure_walkers < p->walkers ? p->structure_walkers : p->walkers;
    return p->structure_every ? (uint32_t)most : 0;
}

/* ---- g(r) ------------------------------------------------------------------------------------ */

size_t helium_gr_size(const struct ergo_point *point) {
    return (size_t)of_quantum(point)->gr_bins;
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
    const double volume =
        model->side[0] * model->side[1] * (model->dimensions == 2 ? 1 : model->side[2]);
    const double h = model->half / (double)bins;
    for (size_t i = 0; i < bins; i++) {
        const double a = h * (double)i, b = h * (double)(i + 1);
        const double shell = helium_shell(model->dimensions, a, b);
        gr[i] /= 0.5 * (double)n * (double)(n - 1) * shell / volume * walkers;
    }
}

/* ---- by vectors ------------------------------------------------------------------------------ */

static size_t map_bins(const struct ergo_point *point) {
    return of_quantum(point)->structure_every ? (size_t)of_quantum(point)->pair_map_bins : 0;
}

size_t helium_pair_map_size(const struct ergo_point *point) {
    return map_bins(point) * map_bins(point);
}

void helium_pair_map_x(const struct ergo_point *point, double *x) {
    for (size_t i = 0; i < helium_pair_map_size(point); i++)
        x[i] = (double)i;
}

/* The cell of a difference in 2^-32 of the sides; `bins`^2: none. */
static size_t map_cell(const struct helium_model *m, const int32_t d[3], size_t bins) {
    if (m->dimensions == 2) {
        const uint64_t x = (uint32_t)d[0] + UINT32_C(0x80000000),
                       y = (uint32_t)d[1] + UINT32_C(0x80000000);
        return ((uint32_t)y * (uint64_t)bins >> 32) * bins + ((uint32_t)x * (uint64_t)bins >> 32);
    }
    const double x = m->side[0] * 0x1p-32 * d[0], y = m->side[1] * 0x1p-32 * d[1];
    const double reach = fmin(m->side[0], m->side[1]) / 2, rho = sqrt(x * x + y * y) / reach;
    const uint64_t z = d[2] < 0 ? 0 - (uint64_t)d[2] : (uint64_t)d[2]; /* up to 2^31 */
    const size_t row = z >> 31 ? bins - 1 : (size_t)(z * bins >> 31);
    return rho < 1 ? row * bins + (size_t)(rho * (double)bins) : bins * bins;
}

void helium_pair_map(const struct ergo_point *point, const struct helium_model *m,
                     const int32_t *places, uint32_t walkers, double *map) {
    const size_t bins = map_bins(point), n = m->n;
    memset(map, 0, bins * bins * sizeof *map);
    for (uint32_t w = 0; w < walkers; w++) {
        const int32_t *place = places + 3 * n * w;
        for (size_t i = 1; i < n; i++)
            for (size_t j = 0; j < i; j++) {
                uint32_t d[3];
                for (size_t k = 0; k < 3; k++)
                    d[k] = (uint32_t)place[k * n + i] - (uint32_t)place[k * n + j];
                for (int side = 0; side < 2; side++) { /* a vector and its negative */
                    const int32_t by[3] = {(int32_t)d[0], (int32_t)d[1], (int32_t)d[2]};
                    const size_t cell = map_cell(m, by, bins);
                    if (cell < bins * bins)
                        map[cell] += 1;
                    for (size_t k = 0; k < 3; k++)
                        d[k] = 0 - d[k];
                }
            }
    }
    const double reach = fmin(m->side[0], m->side[1]) / 2, all = (double)n * (double)(n - 1);
    for (size_t i = 0; i < bins * bins; i++) {
        const double a = reach / (double)bins * (double)(i % bins), b = a + reach / (double)bins;
        const double part = m->dimensions == 2 ? 1 / (double)bins
                                               : helium_shell(2, a, b) / (m->side[0] * m->side[1]);
        map[i] /= all * walkers * part / (double)bins;
    }
}

/* ---- S(k) ------------------------------------------------------------------------------------ */

/* Sides are proportional to integers a, times the edges e of a lattice's cell (1 but for hcp and
 * triangular). So k
 * = 2 pi m (h_x a_x / side_x, ...) = (2 pi m / c) (h_x / e_x, ...), where c = side / (a e) is the
 * same for all axes. Directions h of three kinds, each of one length: of the cube, along axes and
 * diagonals; of hcp, to the reciprocal lattice's points 10.0, 00.1 and 10.1; in two dimensions two
 * kinds, of the triangular lattice to its points 10 and 11. */
enum { KINDS = 3 };
struct family {
    int members, h[6][3];
};
static const struct family cubic[KINDS] = {
    {3, {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}},
    {6, {{1, 1, 0}, {1, -1, 0}, {1, 0, 1}, {1, 0, -1}, {0, 1, 1}, {0, 1, -1}}},
    {4, {{1, 1, 1}, {1, 1, -1}, {1, -1, 1}, {-1, 1, 1}}}};
static const struct family hexagonal[KINDS] = {
    {3, {{1, 1, 0}, {1, -1, 0}, {0, 2, 0}}},
    {1, {{0, 0, 1}}},
    {6, {{1, 1, 1}, {1, 1, -1}, {1, -1, 1}, {1, -1, -1}, {0, 2, 1}, {0, 2, -1}}}};

static const struct family planar[KINDS] = {
    {2, {{1, 0, 0}, {0, 1, 0}}}, {2, {{1, 1, 0}, {1, -1, 0}}}, {0, {{0}}}};
static const struct family triangular[KINDS] = {
    {3, {{1, 1, 0}, {1, -1, 0}, {0, 2, 0}}}, {3, {{2, 0, 0}, {1, 3, 0}, {1, -3, 0}}}, {0, {{0}}}};

static const struct family *families_of(const struct helium_model *model) {
    return model->one.kind == HELIUM_TRIANGULAR ? triangular
           : model->dimensions == 2             ? planar
           : model->one.kind == HELIUM_HCP      ? hexagonal
                                                : cubic;
}

/* |(h_x / e_x, ...)| */
static double length_of(const struct helium_model *model, int kind) {
    const double *edge = model->one.edge;
    const int *h = families_of(model)[kind].h[0];
    double square = 0;
    for (int k = 0; k < 3; k++)
        square += h[k] * h[k] / (edge[k] * edge[k]);
    return sqrt(square);
}

static double cell_of(const struct ergo_point *point, const struct helium_model *model) {
    return model->side[0] / (double)of_quantum(point)->aspect.size[0];
}

/* Members may differ in density, but their curves must have equal sizes. The grid is given by
 * the numbers m of the job's first point. */
static const struct ergo_point *grid_of(const struct ergo_point *point) {
    return &point->job->points[0];
}

/* The largest numbers m of each kind. */
static void longest(const struct ergo_point *point, size_t most[KINDS]) {
    const struct ergo_point *grid = grid_of(point);
    struct helium_model model;
    helium_model_box(grid, &model);
    for (int kind = 0; kind < KINDS; kind++) {
        const double unit = 2 * PI / cell_of(grid, &model) * length_of(&model, kind);
        const double found = of_quantum(grid)->sk_max / unit;
        most[kind] = families_of(&model)[kind].members == 0 ? 0
                     : found < 1                            ? 1
                     : found > 4096                         ? 4096
                                                            : (size_t)found;
    }
}

struct wave {
    double k;
    int kind;
    size_t m;
};

static int compare_waves(const void *a, const void *b) {
    const struct wave *x = a, *y = b; /* no direction has two of one length */
    return x->k != y->k ? (x->k > y->k) - (x->k < y->k) : x->kind - y->kind;
}

size_t helium_sk_size(const struct ergo_point *point) {
    size_t most[KINDS];
    longest(point, most);
    return most[0] + most[1] + most[2];
}

/* All wave vectors in order of k, each with its kind and number m. NULL: no memory. */
static struct wave *waves_of(const struct ergo_point *point, const struct helium_model *model,
                             const size_t most[KINDS]) {
    struct wave *waves = malloc((most[0] + most[1] + most[2]) * sizeof *waves);
    const double unit = 2 * PI / cell_of(point, model);
    size_t n = 0;
    for (int kind = 0; kind < KINDS && waves; kind++)
        for (size_t m = 1; m <= most[kind]; m++)
            waves[n++] = (struct wave){unit * (double)m * length_of(model, kind), kind, m};
    if (waves)
        qsort(waves, n, sizeof *waves, compare_waves);
    return waves;
}

void helium_sk_x(const struct ergo_point *point, double *x) {
    struct helium_model model;
    size_t most[KINDS];
    helium_model_box(point, &model);
    longest(point, most);
    struct wave *waves = waves_of(point, &model, most);
    for (size_t i = 0; i < most[0] + most[1] + most[2]; i++)
        x[i] = waves ? waves[i].k : NAN;
    free(waves);
}

/* Sums over places [3][n] of weight exp(i m phase) for m = 1..most, to re and im. weights NULL: 1.
 */
static void sum_direction(const int64_t *aspect, const int *h, const int32_t *place, size_t n,
                          const double *weights, size_t most, double *re, double *im) {
    memset(re, 0, most * sizeof *re);
    memset(im, 0, most * sizeof *im);
    for (size_t i = 0; i < n; i++) {
        uint32_t phase = 0; /* modulo one turn */
        for (int k = 0; k < 3; k++)
            phase += (uint32_t)(h[k] * (int)aspect[k]) * (uint32_t)place[(size_t)k * n + i];
        const double angle = 2 * PI * 0x1p-32 * phase, c = cos(angle), s = sin(angle);
        double x = weights ? weights[i] : 1, y = 0;
        for (size_t m = 0; m < most; m++) {
            const double next = x * c - y * s;
            y = x * s + y * c;
            x = next;
            re[m] += x;
            im[m] += y;
        }
    }
}

/* Means over each kind's directions. weights NULL: of |sum exp(i k r)|^2 / n over the walkers;
 * else of the sum of weights times cos(k r). */
static void wave_means(const struct ergo_point *point, const struct helium_model *model,
                       const int32_t *places, size_t n, uint32_t walkers, const double *weights,
                       double *out) {
    const struct family *families = families_of(model);
    int64_t aspect[3];
    size_t most[KINDS], top = 0;
    helium_aspect(point, aspect);
    longest(point, most);
    for (int kind = 0; kind < KINDS; kind++)
        top = most[kind] > top ? most[kind] : top;
    const size_t size = most[0] + most[1] + most[2];
    double *sums = calloc((2 + KINDS) * top, sizeof *sums); /* re, im, and a sum for each kind */
    struct wave *waves = waves_of(point, model, most);
    for (size_t i = 0; i < size; i++)
        out[i] = NAN; /* if memory runs out */
    if (sums && waves) {
        double *re = sums, *im = sums + top;
        for (uint32_t w = 0; w < walkers; w++)
            for (int kind = 0; kind < KINDS; kind++)
                for (int d = 0; d < families[kind].members; d++) {
                    double *sum = sums + (2 + (size_t)kind) * top;
                    sum_direction(aspect, families[kind].h[d], places + 3 * n * w, n, weights,
                                  most[kind], re, im);
                    for (size_t m = 0; m < most[kind]; m++)
                        sum[m] += weights ? re[m] : (re[m] * re[m] + im[m] * im[m]) / (double)n;
                }
        for (size_t i = 0; i < size; i++)
            out[i] = sums[(2 + (size_t)waves[i].kind) * top + waves[i].m - 1] /
                     (families[waves[i].kind].members * (double)walkers);
    }
    free(sums);
    free(waves);
}

void helium_sk(const struct ergo_point *point, const struct helium_model *model,
               const int32_t *places, uint32_t walkers, double *sk) {
    wave_means(point, model, places, model->n, walkers, NULL, sk);
}

void helium_cosines(const struct ergo_point *point, const struct helium_model *model,
                    const int32_t *d, size_t count, const double *weights, double *out) {
    wave_means(point, model, d, count, 1, weights, out);
}
