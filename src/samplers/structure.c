#include "samplers/structure.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "stats/fourier.h"
#include "base/memory.h"

static const double pi = 3.14159265358979323846;

size_t ergo_structure_parts(double side, double most) {
    size_t n = 4;
    while (side > (double)n * most && n < (size_t)1 << 28)
        n *= 2;
    return n;
}

struct ergo_structure ergo_structure_plan(unsigned dimensions, const double *side, size_t shells,
                                          double most, double finer) {
    struct ergo_structure p = {.dimensions = dimensions,
                               .mesh = {1, 1, 1},
                               .shells = shells,
                               .wave = most / (double)shells};
    for (unsigned a = 0; a < dimensions; a++)
        p.mesh[a] = ergo_structure_parts(side[a], 2 * pi / (finer * most));
    return p;
}

uint64_t ergo_structure_bytes(const struct ergo_structure *p) {
    return 16 * (uint64_t)p->mesh[0] * p->mesh[1] * p->mesh[2]; /* and half of its transform */
}

/* Weights of the four points around a place, the second of which is below it: cubic B-splines. */
static void spline(double t, double w[4]) {
    const double u = 1 - t;
    w[0] = u * u * u / 6;
    w[1] = (4 - 6 * t * t + 3 * t * t * t) / 6;
    w[2] = (4 - 6 * u * u + 3 * u * u * u) / 6;
    w[3] = t * t * t / 6;
}

static void spread(const struct ergo_structure *p, const struct ergo_places *places,
                   double *density) {
    const size_t *mesh = p->mesh, deep = p->dimensions == 3 ? 4 : 1;
    memset(density, 0, mesh[0] * mesh[1] * mesh[2] * sizeof *density);
    for (size_t i = 0; i < places->n; i++) {
        double w[3][4] = {{1}, {1}, {1}};
        size_t first[3] = {0, 0, 0};
        for (unsigned a = 0; a < p->dimensions; a++) {
            const double x = places->at[a][i] * ((double)mesh[a] / places->side[a]);
            first[a] = (size_t)x + mesh[a] - 1;
            spline(x - floor(x), w[a]);
        }
        for (size_t k = 0; k < deep; k++)
            for (size_t v = 0; v < 4; v++) {
                const size_t y = (first[1] + v) & (mesh[1] - 1), z = (first[2] + k) & (mesh[2] - 1);
                double *row = density + (z * mesh[1] + y) * mesh[0];
                const double weight = w[1][v] * w[2][k];
                for (size_t u = 0; u < 4; u++)
                    row[(first[0] + u) & (mesh[0] - 1)] += w[0][u] * weight;
            }
    }
}

/* 1 over the square of what the spline makes of wave k <= m / 2 of a mesh with m points. */
static double sharpened(size_t k, size_t m) {
    const double x = pi * (double)k / (double)m;
    return k ? pow(x / sin(x), 8) : 1;
}

double ergo_structure_at(const struct ergo_places *places, unsigned dimensions, const double *k) {
    double re = 0, im = 0;
    for (size_t i = 0; i < places->n; i++) {
        double phase = 0;
        for (unsigned a = 0; a < dimensions; a++)
            phase += k[a] * places->at[a][i];
        re += cos(phase);
        im += sin(phase);
    }
    return (re * re + im * im) / (double)places->n;
}

/* What is known so far, and arrays. */
struct sums {
    const struct ergo_structure *plan;
    const struct ergo_places *places;
    double *half;        /* the transform */
    double *sharp;       /* sharpened(kx) */
    double *sk, *weight; /* [shells] */
    double most, *peak;  /* the largest S, and its vector */
};

/* All wave vectors with this ky and kz. */
static void add_row(struct sums *s, size_t y, size_t z) {
    const struct ergo_structure *p = s->plan;
    const size_t *m = p->mesh, columns = m[0] / 2 + 1, at[2] = {y, z};
    const double end = p->wave * ((double)p->shells + 1), n = (double)s->places->n;
    double k[3] = {0, 0, 0}, each = 1;
    for (unsigned a = 1; a < 3 && a < p->dimensions; a++) {
        const size_t from = at[a - 1], up = from <= m[a] / 2 ? from : m[a] - from;
        k[a] = 2 * pi * (double)up / s->places->side[a] * (from <= m[a] / 2 ? 1 : -1);
        each *= sharpened(up, m[a]);
    }
    each /= n;
    if (k[1] * k[1] + k[2] * k[2] >= end * end)
        return;
    for (size_t x = 0; x < columns; x++) {
        k[0] = 2 * pi * (double)x / s->places->side[0];
        const double q = sqrt(k[0] * k[0] + k[1] * k[1] + k[2] * k[2]);
        const size_t bin = (size_t)(q / p->wave + 0.5);
        const double *f = s->half + 2 * ((z * m[1] + y) * columns + x);
        const double here = (f[0] * f[0] + f[1] * f[1]) * each * s->sharp[x];
        const double both = x ? 2 : 1; /* the column -kx */
        if (here > s->most && fabs(q - p->lattice) < 0.2 * p->lattice) {
            s->most = here;
            memcpy(s->peak, k, p->dimensions * sizeof *k);
        }
        if (bin > p->shells || !bin)
            continue;
        s->sk[bin - 1] += both * here;
        s->weight[bin - 1] += both;
    }
}

bool ergo_structure_analyse(const struct ergo_structure *p, const struct ergo_places *places,
                            double *sk, double *peak) {
    const size_t *m = p->mesh, columns = m[0] / 2 + 1;
    double *mesh = malloc(m[0] * m[1] * m[2] * sizeof *mesh);
    struct sums s = {.plan = p, .places = places, .sk = sk, .most = -1, .peak = peak};
    s.half = malloc(2 * columns * m[1] * m[2] * sizeof *s.half);
    s.weight = calloc(p->shells, sizeof *s.weight);
    s.sharp = malloc(columns * sizeof *s.sharp);
    bool ok = mesh && s.half && s.weight && s.sharp;
    for (size_t k = 0; k < columns && ok; k++)
        s.sharp[k] = sharpened(k, m[0]);
    if (ok)
        spread(p, places, mesh);
    ok = ok && ergo_fourier_real(mesh, m, s.half);
    memset(sk, 0, p->shells * sizeof *sk);
    memset(peak, 0, p->dimensions * sizeof *peak);
    for (size_t z = 0; z < m[2] && ok; z++)
        for (size_t y = 0; y < m[1]; y++)
            add_row(&s, y, z);
    for (size_t i = 0; i < p->shells && ok; i++)
        sk[i] = s.weight[i] > 0 ? sk[i] / s.weight[i] : 0;
    free(mesh);
    free(s.half);
    free(s.weight);
    free(s.sharp);
    return ok;
}
