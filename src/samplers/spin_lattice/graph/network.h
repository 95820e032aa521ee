/* A problem as kernels see it: vertices by colour, couplings and fields as integers. */
#ifndef ERGO_SAMPLERS_SPIN_LATTICE_GRAPH_NETWORK_H
#define ERGO_SAMPLERS_SPIN_LATTICE_GRAPH_NETWORK_H

#include "samplers/spin_lattice/graph/problem.h"

#define GRAPH_PADDING UINT32_MAX /* of vertex_of: no vertex */

struct graph_bond {
    uint32_t to; /* a slot */
    int32_t j;
};

/*
 * A slot is the place of a vertex. Vertices of one colour follow one another, in order of their
 * numbers; a colour begins at a multiple of four, because four slots share a random counter.
 */
struct graph_network {
    uint32_t n, slots, colours;
    uint32_t *colour_first; /* [colours + 1], slots */
    uint32_t *colour_count; /* [colours], vertices */
    uint32_t *vertex_of;    /* [slots] */
    uint32_t *slot_of;      /* [n] */
    uint32_t *first;        /* [slots + 1], bonds of a slot; none has coupling 0, so that a vertex
                             * that nothing acts on has no neighbours on any path */
    struct graph_bond *bonds;
    int32_t *fields; /* [slots] */
    double unit;     /* energy of 1, a power of two */
};

/*
 * Greedy colours: vertices in the order of their numbers take the first colour that no neighbour
 * has; likewise those with many neighbours first. The result with fewer colours is taken, the first
 * if they are equal. false: no memory, and nothing is left allocated.
 */
bool graph_network_make(const struct graph_problem *p, struct graph_network *net);
void graph_network_free(struct graph_network *net);

/* Neighbours of vertices in the order of the file. make: false: no memory. */
struct graph_lists {
    size_t *first; /* [n + 1] */
    uint32_t *to;
    double *w;
};
bool graph_lists_make(const struct graph_problem *p, struct graph_lists *l);
void graph_lists_free(struct graph_lists *l);
/* The root of a part, which is its own parent. */
static inline uint32_t graph_root(uint32_t *parent, uint32_t v) {
    while (parent[v] != v)
        v = parent[v] = parent[parent[v]];
    return v;
}

/* Energy of a configuration by the problem's own couplings, s as bits of vertices, lowest first. */
double graph_problem_energy(const struct graph_problem *p, const uint8_t *bits);

/* What temperatures follow from. */
struct graph_scales {
    double largest; /* of vertices' |h| + sum of |J| */
    /* Where order begins, about: twice the root of vertices' q = h^2 + sum of J^2, which is near
     * the largest eigenvalue of J where signs or frustration are random (a mean of q weighted by q:
     * few strong vertices count), or the mean sum of J, which is that of a ferromagnet, if it is
     * larger; never more than `largest`. */
    double spread;
    /* The smallest, over vertices that have any, of a vertex's largest |h| or |J|; and, of what
     * those that are at least as large join to one, of the largest |J| to others (or the root of
     * the sum of h^2), until all is joined. */
    double smallest;
    /* About how many vertices may have a flip that costs so little: the sum of smallest^2 / q, all
     * that feel one coupling alone, one in d of those with d equal ones of random signs. */
    double weak;
};
/* The unit of a graph's integers, whose largest |h| + sum of |J| of a vertex this is. */
double graph_unit(double largest);
/* false: no memory. Without couplings and fields both are 0. */
bool graph_problem_scales(const struct graph_problem *p, struct graph_scales *scales);

#endif
