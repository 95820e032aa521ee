/*
 * Lattices by name: a cell, its sites, and bonds to the neighbours of the first few distances.
 * Distances are compared as integers. Sites are numbered cell by cell, x fastest, and within a cell
 * one after the other.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "samplers/spin_lattice/graph/problem.h"
#include "base/memory.h"

enum { RIGHT, SIXTY }; /* angle between the edges of a cell */

static const struct graph_lattice lattices[] = {
    {"chain", 1, 1, 1, 3, RIGHT, {{0}}},
    {"square", 2, 1, 1, 3, RIGHT, {{0}}},
    {"triangular", 2, 1, 1, 3, SIXTY, {{0}}},
    {"honeycomb", 2, 2, 3, 3, SIXTY, {{0}, {1, 1}}},
    {"kagome", 2, 3, 2, 3, SIXTY, {{0}, {1, 0}, {0, 1}}},
    {"cubic", 3, 1, 1, 3, RIGHT, {{0}}},
    {"bcc", 3, 2, 2, 3, RIGHT, {{0}, {1, 1, 1}}},
    {"fcc", 3, 4, 2, 3, RIGHT, {{0}, {0, 1, 1}, {1, 0, 1}, {1, 1, 0}}},
    {"diamond",
     3,
     8,
     4,
     3,
     RIGHT,
     {{0}, {0, 2, 2}, {2, 0, 2}, {2, 2, 0}, {1, 1, 1}, {1, 3, 3}, {3, 1, 3}, {3, 3, 1}}},
    {"hypercubic", 4, 1, 1, 3, RIGHT, {{0}}},
};

const struct graph_lattice *graph_lattice_find(const char *name) {
    for (size_t i = 0; i < sizeof lattices / sizeof lattices[0]; i++)
        if (strcmp(lattices[i].name, name) == 0)
            return &lattices[i];
    return NULL;
}

double graph_lattice_sites(const struct graph_lattice *lattice, const int64_t *size) {
    double n = lattice->sites;
    for (uint32_t k = 0; k < lattice->d; k++)
        n *= (double)size[k];
    return n;
}

/* A bond of a cell: from one of its sites to one of the cell that is `cell` away. */
struct bond {
    uint32_t from, to;
    int cell[4];
    long square; /* of its length */
};

static long square_of(const struct graph_lattice *l, const struct bond *b) {
    long r[4] = {0, 0, 0, 0}, sum = 0;
    for (uint32_t k = 0; k < l->d; k++)
        r[k] = (long)b->cell[k] * (long)l->scale + l->at[b->to][k] - l->at[b->from][k];
    for (uint32_t a = 0; a < l->d; a++)
        for (uint32_t b2 = 0; b2 < l->d; b2++)
            sum += (a == b2 ? 2 : l->oblique) * r[a] * r[b2];
    return sum;
}

/* Does the bond lead forth? Of each bond and its reverse one does. */
static bool is_forward(const struct graph_lattice *l, const struct bond *b) {
    for (uint32_t k = l->d; k-- > 0;)
        if (b->cell[k] != 0)
            return b->cell[k] > 0;
    return b->to > b->from;
}

/* Cells in which neighbours are looked for: third ones of a chain are three away. */
enum { REACH = GRAPH_REACH, WIDTH = 2 * REACH + 1 };

/* All bonds up to the n-th distance, [n] of which the n-th distance is the last; returns how many.
 * bonds: room for sites^2 WIDTH^d. */
static size_t bonds_of(const struct graph_lattice *l, uint32_t n, struct bond *bonds,
                       long distances[GRAPH_SHELLS_MAX]) {
    size_t all = 0, kept = 0, cells = 1;
    for (uint32_t k = 0; k < l->d; k++)
        cells *= WIDTH;
    for (uint32_t pair = 0; pair < l->sites * l->sites; pair++)
        for (size_t c = 0; c < cells; c++) {
            struct bond b = {.from = pair / l->sites, .to = pair % l->sites};
            size_t rest = c;
            for (uint32_t k = 0; k < l->d; k++, rest /= WIDTH)
                b.cell[k] = (int)(rest % WIDTH) - REACH;
            b.square = square_of(l, &b);
            if (b.square > 0)
                bonds[all++] = b;
        }
    for (uint32_t shell = 0; shell < n; shell++) {
        distances[shell] = 0;
        for (size_t i = 0; i < all; i++)
            if ((shell == 0 || bonds[i].square > distances[shell - 1]) &&
                (distances[shell] == 0 || bonds[i].square < distances[shell]))
                distances[shell] = bonds[i].square;
    }
    for (size_t i = 0; i < all; i++)
        if (bonds[i].square <= distances[n - 1] && is_forward(l, &bonds[i]))
            bonds[kept++] = bonds[i];
    return kept;
}

double graph_lattice_square(const struct graph_lattice *l, uint32_t from, uint32_t to,
                            const int cell[4]) {
    struct bond b = {.from = from, .to = to};
    memcpy(b.cell, cell, sizeof b.cell);
    return (double)square_of(l, &b);
}

double graph_lattice_nearest(const struct graph_lattice *l) {
    long nearest = 0;
    /* of one of the sites; all have neighbours at this distance, in a cell that is near */
    for (uint32_t code = 0; code < 81 * l->sites; code++) {
        struct bond near = {.from = 0, .to = code % l->sites};
        uint32_t rest = code / l->sites;
        for (uint32_t k = 0; k < 4; k++, rest /= 3)
            near.cell[k] = k < l->d ? (int)(rest % 3) - 1 : 0;
        const long square = square_of(l, &near);
        if (square > 0 && (nearest == 0 || square < nearest))
            nearest = square;
    }
    return (double)nearest;
}

/* The site to which a bond of the cell at x leads. False: there is none, beyond an open side. */
static bool follow(const struct graph_lattice *l, const int64_t *size, const enum graph_side *sides,
                   const struct bond *b, const int64_t x[4], uint32_t *to, double *sign) {
    uint64_t cell = 0, stride = 1;
    *sign = 1;
    for (uint32_t k = 0; k < l->d; k++) {
        int64_t at = x[k] + b->cell[k];
        while (at < 0 || at >= size[k]) {
            if (sides[k] == GRAPH_OPEN)
                return false;
            at += at < 0 ? size[k] : -size[k];
            *sign = sides[k] == GRAPH_ANTIPERIODIC ? -*sign : *sign;
        }
        cell += (uint64_t)at * stride;
        stride *= (uint64_t)size[k];
    }
    *to = (uint32_t)(cell * l->sites + b->to);
    return true;
}

static int by_ends(const void *a, const void *b) {
    const struct graph_edge *x = a, *y = b;
    if (x->i != y->i)
        return x->i < y->i ? -1 : 1;
    return x->j < y->j ? -1 : x->j > y->j;
}

/* On sides of up to 2 REACH cells a neighbour may be reached in several ways. */
static void unite(struct graph_problem *p) {
    size_t kept = 0;
    qsort(p->edges, p->m, sizeof *p->edges, by_ends);
    for (size_t e = 0; e < p->m; e++)
        if (kept && by_ends(&p->edges[kept - 1], &p->edges[e]) == 0)
            p->edges[kept - 1].w += p->edges[e].w;
        else
            p->edges[kept++] = p->edges[e];
    p->m = kept;
}

bool graph_lattice_make(const struct graph_lattice *l, const int64_t *size,
                        const enum graph_side *sides, const double *j, uint32_t n,
                        struct graph_problem *p, char wrong[GRAPH_WRONG]) {
    struct bond *bonds = malloc(64 * WIDTH * WIDTH * WIDTH * sizeof *bonds);
    long distances[GRAPH_SHELLS_MAX];
    const double sites = graph_lattice_sites(l, size);
    size_t per_cell = 0;
    bool small = false;
    *p = (struct graph_problem){.format = GRAPH_AUTO};
    snprintf(wrong, GRAPH_WRONG, "no memory for the lattice");
    if (bonds)
        per_cell = bonds_of(l, n, bonds, distances);
    if (sites > GRAPH_VERTICES_MAX || sites / l->sites * (double)per_cell > GRAPH_EDGES_MAX) {
        snprintf(wrong, GRAPH_WRONG, "%.4g sites with %.4g bonds; at most 2^27 and 2^29", sites,
                 sites / l->sites * (double)per_cell);
        free(bonds);
        return false;
    }
    p->n = (uint32_t)sites;
    const size_t cells = p->n / l->sites;
    p->fields = calloc(p->n, sizeof *p->fields);
    p->edges = malloc((cells * per_cell + 1) * sizeof *p->edges);
    for (uint32_t k = 0; k < l->d; k++)
        small = small || size[k] <= 2 * REACH;
    bool good = bonds && p->fields && p->edges;
    for (size_t c = 0; c < cells && good; c++) {
        int64_t x[4] = {0, 0, 0, 0};
        size_t rest = c;
        for (uint32_t k = 0; k < l->d; rest /= (size_t)size[k], k++)
            x[k] = (int64_t)(rest % (size_t)size[k]);
        for (size_t b = 0; b < per_cell && good; b++) {
            uint32_t shell = 0, to = 0;
            const uint32_t from = (uint32_t)(c * l->sites + bonds[b].from);
            double sign = 1;
            while (bonds[b].square > distances[shell])
                shell++;
            if (j[shell] == 0 || !follow(l, size, sides, &bonds[b], x, &to, &sign))
                continue;
            if (to == from) {
                snprintf(wrong, GRAPH_WRONG,
                         "a side is so short that a site is its own neighbour number %u; use "
                         "longer sides or open ones",
                         shell + 1);
                good = false;
            }
            p->edges[p->m++] =
                (struct graph_edge){from < to ? from : to, from < to ? to : from, sign * j[shell]};
        }
    }
    free(bonds);
    if (good && small)
        unite(p);
    if (!good)
        graph_problem_free(p);
    return good;
}
