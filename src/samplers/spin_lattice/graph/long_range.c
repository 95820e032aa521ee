/*
 * Lattices all pairs of whose sites are coupled, by J / r^a. Across a periodic side the nearest of
 * a site's images counts, and no other (the minimum image convention); two images at the same
 * distance count once. Sites are numbered as in lattice.c.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/portable.h"
#include "samplers/spin_lattice/graph/problem.h"
#include "base/memory.h"

/* ln x, x > 0, by Halley's iteration of exp: libm's may differ in the last bit from machine to
 * machine. From a guess that is off by less than 0.35 three steps reach the last bits. */
static double logarithm(double x) {
    int exponent = 0;
    const double part = frexp(x, &exponent);                           /* in [1/2, 1) */
    double y = 2 * (part - 0.75) / (part + 0.75) - 0.2876820724517809; /* ln 3/4 */
    for (int i = 0; i < 3; i++) {
        const double e = ergo_portable_exp(y);
        y += 2 * (part - e) / (part + e);
    }
    return y + exponent * 0.69314718055994531;
}

/* The square of the distance to the nearest image. cells: from one cell to the other. */
static double nearest(const struct graph_lattice *l, const int64_t *size,
                      const enum graph_side *sides, uint32_t from, uint32_t to,
                      const int64_t cells[4]) {
    double least = INFINITY;
    for (int code = 0; code < 81; code++) {
        int image[4] = {0, 0, 0, 0}, rest = code;
        bool there = true;
        for (uint32_t k = 0; k < 4; k++, rest /= 3) {
            const int turn = rest % 3 - 1;
            if (k >= l->d || sides[k] == GRAPH_OPEN)
                there = there && turn == 0;
            if (k < l->d)
                image[k] = (int)(cells[k] + turn * size[k]);
        }
        if (there)
            least = fmin(least, graph_lattice_square(l, from, to, image));
    }
    return least;
}

/* J / r^a over displacements: [cell][from][to], cells by how much each coordinate is ahead, from
 * -(size - 1) to size - 1; NaN: not known yet. */
struct table {
    const struct graph_lattice *l;
    const int64_t *size;
    const enum graph_side *sides;
    double j, exponent, unit, *values; /* unit: square of the nearest neighbours' distance */
};

static double coupling(struct table *t, uint32_t from, uint32_t to, const int64_t cells[4]) {
    size_t at = 0;
    for (uint32_t k = t->l->d; k-- > 0;)
        at = at * (size_t)(2 * t->size[k] - 1) + (size_t)(cells[k] + t->size[k] - 1);
    double *value = &t->values[(at * t->l->sites + from) * t->l->sites + to];
    if (isnan(*value))
        *value = t->j * ergo_portable_exp(
                            -0.5 * t->exponent *
                            logarithm(nearest(t->l, t->size, t->sides, from, to, cells) / t->unit));
    return *value;
}

bool graph_long_range_make(const struct graph_lattice *l, const int64_t *size,
                           const enum graph_side *sides, double j, double exponent,
                           struct graph_problem *p, char wrong[GRAPH_WRONG]) {
    const double sites = graph_lattice_sites(l, size);
    size_t displacements = (size_t)l->sites * l->sites;
    *p = (struct graph_problem){.format = GRAPH_AUTO};
    if (sites > GRAPH_LONG_SITES_MAX) {
        snprintf(wrong, GRAPH_WRONG, "%.4g sites, all pairs of which are coupled; at most %d",
                 sites, GRAPH_LONG_SITES_MAX);
        return false;
    }
    for (uint32_t k = 0; k < l->d; k++)
        displacements *= (size_t)(2 * size[k] - 1);
    struct table t = {l,
                      size,
                      sides,
                      j,
                      exponent,
                      graph_lattice_nearest(l),
                      malloc(displacements * sizeof(double))};
    p->n = (uint32_t)sites;
    p->fields = calloc(p->n, sizeof *p->fields);
    p->edges = malloc(((size_t)p->n * (p->n - 1) / 2 + 1) * sizeof *p->edges);
    const bool good = t.values && p->fields && p->edges;
    snprintf(wrong, GRAPH_WRONG, "no memory for the couplings of %u sites", p->n);
    for (size_t i = 0; i < displacements && good; i++)
        t.values[i] = NAN;
    for (uint32_t a = 0; a < p->n && good; a++)
        for (uint32_t b = a + 1; b < p->n; b++) {
            int64_t cells[4] = {0, 0, 0, 0}, from = a / l->sites, to = b / l->sites;
            for (uint32_t k = 0; k < l->d; from /= size[k], to /= size[k], k++)
                cells[k] = to % size[k] - from % size[k];
            p->edges[p->m++] =
                (struct graph_edge){a, b, coupling(&t, a % l->sites, b % l->sites, cells)};
        }
    free(t.values);
    if (!good)
        graph_problem_free(p);
    return good;
}
