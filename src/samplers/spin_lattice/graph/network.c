/* Colours, slots and integers of a graph. */
#include "samplers/spin_lattice/graph/network.h"
#include "base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void graph_lists_free(struct graph_lists *l) {
    free(l->first);
    free(l->to);
    free(l->w);
}

bool graph_lists_make(const struct graph_problem *p, struct graph_lists *l) {
    l->first = calloc((size_t)p->n + 2, sizeof *l->first);
    l->to = malloc((2 * p->m + 1) * sizeof *l->to);
    l->w = malloc((2 * p->m + 1) * sizeof *l->w);
    if (!l->first || !l->to || !l->w)
        return false;
    for (size_t e = 0; e < p->m; e++) {
        l->first[p->edges[e].i + 2]++;
        l->first[p->edges[e].j + 2]++;
    }
    for (size_t i = 2; i < (size_t)p->n + 2; i++)
        l->first[i] += l->first[i - 1];
    for (size_t e = 0; e < p->m; e++) {
        const uint32_t ends[2] = {p->edges[e].i, p->edges[e].j};
        for (int k = 0; k < 2; k++) {
            const size_t at = l->first[ends[k] + 1]++;
            l->to[at] = ends[1 - k];
            l->w[at] = p->edges[e].w;
        }
    }
    return true;
}

/* ---- colours --------------------------------------------------------------------------------- */

/* order: [n] vertices; colour: [n], set; seen: [n + 1] zeros. Returns the number of colours. */
static uint32_t paint(const struct graph_lists *l, uint32_t n, const uint32_t *order,
                      uint32_t *colour, uint32_t *seen) {
    uint32_t colours = 0;
    memset(colour, 0xff, n * sizeof *colour);
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t v = order[i];
        uint32_t c = 0;
        for (size_t k = l->first[v]; k < l->first[v + 1]; k++)
            if (colour[l->to[k]] != UINT32_MAX)
                seen[colour[l->to[k]]] = i + 1;
        while (seen[c] == i + 1)
            c++;
        colour[v] = c;
        colours = c + 1 > colours ? c + 1 : colours;
    }
    return colours;
}

/* Vertices with many neighbours first, those with equally many in order. counts: [n + 1]. */
static void by_degree(const struct graph_lists *l, uint32_t n, uint32_t *order, uint32_t *counts) {
    memset(counts, 0, ((size_t)n + 1) * sizeof *counts);
    for (uint32_t v = 0; v < n; v++) /* a degree is below n */
        counts[n - 1 - (l->first[v + 1] - l->first[v])]++;
    for (uint32_t d = 0, sum = 0; d < n; d++) {
        const uint32_t own = counts[d];
        counts[d] = sum;
        sum += own;
    }
    for (uint32_t v = 0; v < n; v++)
        order[counts[n - 1 - (l->first[v + 1] - l->first[v])]++] = v;
}

/* Have all vertices equally many neighbours? */
static bool are_alike(const struct graph_lists *l, uint32_t n) {
    for (uint32_t v = 1; v < n; v++)
        if (l->first[v + 1] - l->first[v] != l->first[1])
            return false;
    return true;
}

/* Sets colour: [n]; 0: no memory. */
static uint32_t colour_all(const struct graph_lists *l, uint32_t n, uint32_t *colour) {
    uint32_t *order = malloc(n * sizeof *order), *seen = calloc((size_t)n + 1, sizeof *seen);
    uint32_t *other = malloc(n * sizeof *other), colours = 0;
    if (order && seen && other) {
        for (uint32_t v = 0; v < n; v++)
            order[v] = v;
        colours = paint(l, n, order, colour, seen);
        if (colours > 2 && !are_alike(l, n)) { /* else the other order is the same, or no better */
            by_degree(l, n, order, seen);
            memset(seen, 0, ((size_t)n + 1) * sizeof *seen);
            const uint32_t others = paint(l, n, order, other, seen);
            if (others < colours) {
                memcpy(colour, other, n * sizeof *colour);
                colours = others;
            }
        }
    }
    free(order);
    free(seen);
    free(other);
    return colours;
}

/* ---- slots ----------------------------------------------------------------------------------- */

static bool place(struct graph_network *net, const uint32_t *colour) {
    net->colour_first = calloc((size_t)net->colours + 1, sizeof *net->colour_first);
    net->colour_count = calloc(net->colours, sizeof *net->colour_count);
    net->slot_of = malloc(net->n * sizeof *net->slot_of);
    if (!net->colour_first || !net->colour_count || !net->slot_of)
        return false;
    for (uint32_t v = 0; v < net->n; v++)
        net->slot_of[v] = net->colour_count[colour[v]]++;
    for (uint32_t c = 0; c < net->colours; c++)
        net->colour_first[c + 1] = net->colour_first[c] + (net->colour_count[c] + 3) / 4 * 4;
    net->slots = net->colour_first[net->colours];
    net->vertex_of = malloc(net->slots * sizeof *net->vertex_of);
    if (!net->vertex_of)
        return false;
    memset(net->vertex_of, 0xff, net->slots * sizeof *net->vertex_of);
    for (uint32_t v = 0; v < net->n; v++) {
        net->slot_of[v] += net->colour_first[colour[v]];
        net->vertex_of[net->slot_of[v]] = v;
    }
    return true;
}

static int32_t whole(double x) {
    return (int32_t)floor(x + 0.5);
}

/* Half the cost of a flip stays below 2^29, and below 2^30 after rounding. Couplings and fields
 * that are multiples of 2^-k with few bits are exact. */
double graph_unit(double largest) {
    int exponent = 0;
    (void)frexp(largest, &exponent);
    return ldexp(1, largest > 0 ? exponent - 29 : 0);
}

static double unit_of(const struct graph_problem *p, const struct graph_lists *l) {
    double most = 0;
    for (uint32_t v = 0; v < p->n; v++) {
        double sum = fabs(p->fields[v]);
        for (size_t k = l->first[v]; k < l->first[v + 1]; k++)
            sum += fabs(l->w[k]);
        most = fmax(most, sum);
    }
    return graph_unit(most);
}

static bool connect(struct graph_network *net, const struct graph_problem *p,
                    const struct graph_lists *l) {
    net->first = calloc((size_t)net->slots + 1, sizeof *net->first);
    net->fields = calloc(net->slots, sizeof *net->fields);
    net->bonds = malloc((2 * p->m + 1) * sizeof *net->bonds);
    if (!net->first || !net->fields || !net->bonds)
        return false;
    uint32_t at = 0;
    for (uint32_t s = 0; s < net->slots; s++) {
        const uint32_t v = net->vertex_of[s];
        net->first[s] = at;
        if (v == GRAPH_PADDING)
            continue;
        net->fields[s] = whole(p->fields[v] / net->unit);
        for (size_t k = l->first[v]; k < l->first[v + 1]; k++) {
            const int32_t j = whole(l->w[k] / net->unit);
            net->bonds[at] = (struct graph_bond){net->slot_of[l->to[k]], j};
            at += j != 0;
        }
    }
    net->first[net->slots] = at;
    return true;
}

bool graph_network_make(const struct graph_problem *p, struct graph_network *net) {
    struct graph_lists l = {0};
    uint32_t *colour = malloc(p->n * sizeof *colour);
    *net = (struct graph_network){.n = p->n};
    bool good = graph_lists_make(p, &l) && colour;
    if (good) {
        net->colours = colour_all(&l, p->n, colour);
        net->unit = unit_of(p, &l);
        good = net->colours && place(net, colour) && connect(net, p, &l);
    }
    free(colour);
    graph_lists_free(&l);
    if (!good)
        graph_network_free(net);
    return good;
}

void graph_network_free(struct graph_network *net) {
    free(net->colour_first);
    free(net->colour_count);
    free(net->vertex_of);
    free(net->slot_of);
    free(net->first);
    free(net->bonds);
    free(net->fields);
    *net = (struct graph_network){0};
}

/* ---- energies -------------------------------------------------------------------------------- */

static unsigned is_up(const uint8_t *bits, uint32_t v) {
    return bits[v / 8] >> (v % 8) & 1u;
}

double graph_problem_energy(const struct graph_problem *p, const uint8_t *bits) {
    static const double sign[2] = {-1, 1}; /* a branch would be guessed wrong every other time */
    double energy = p->offset;
    for (size_t e = 0; e < p->m; e++)
        energy -= p->edges[e].w * sign[1 ^ is_up(bits, p->edges[e].i) ^ is_up(bits, p->edges[e].j)];
    for (uint32_t v = 0; v < p->n; v++)
        energy -= p->fields[v] * sign[is_up(bits, v)];
    return energy;
}

/* scales->spread and weak. q: [n], written. In units of the largest force, so that no square
 * overflows. */
static void spread_of(const struct graph_problem *p, double *q, struct graph_scales *scales) {
    const double largest = scales->largest, least = scales->smallest / largest;
    double mean = 0, mean2 = 0, sum = 0, coupled = 0;
    for (uint32_t v = 0; v < p->n; v++)
        q[v] = p->fields[v] / largest * (p->fields[v] / largest);
    for (size_t e = 0; e < p->m; e++) {
        const double w = p->edges[e].w / largest;
        q[p->edges[e].i] += w * w;
        q[p->edges[e].j] += w * w;
        sum += 2 * w;
    }
    for (uint32_t v = 0; v < p->n; v++) {
        mean += q[v];
        mean2 += q[v] * q[v];
        coupled += q[v] > 0;
        scales->weak += q[v] > 0 ? least * least / q[v] : 0;
    }
    scales->spread = largest * fmin(1, fmax(2 * sqrt(mean2 / mean), sum / coupled));
}

/* scales->smallest: parts of a graph join by their strongest couplings, as in Boruvka's algorithm.
 * parent: [n + 1], each itself; vertex n stands for the fields. most, pull: [n + 1], written. */
static double joint_of(const struct graph_problem *p, uint32_t *parent, double *most,
                       double *pull) {
    double joint = 0;
    for (;;) {
        double least = INFINITY;
        memset(pull, 0, ((size_t)p->n + 1) * sizeof *pull);
        for (uint32_t v = 0; v < p->n; v++)
            pull[graph_root(parent, v)] += p->fields[v] * p->fields[v];
        pull[graph_root(parent, p->n)] = 0;
        for (uint32_t v = 0; v < p->n; v++)
            pull[v] = sqrt(pull[v]);
        memcpy(most, pull, ((size_t)p->n + 1) * sizeof *most);
        for (size_t e = 0; e < p->m; e++) {
            const uint32_t a = graph_root(parent, p->edges[e].i),
                           b = graph_root(parent, p->edges[e].j);
            most[a] = fmax(most[a], a != b ? fabs(p->edges[e].w) : 0);
            most[b] = fmax(most[b], a != b ? fabs(p->edges[e].w) : 0);
        }
        most[graph_root(parent, p->n)] = 0;
        for (uint32_t v = 0; v < p->n; v++)
            least = most[v] > 0 ? fmin(least, most[v]) : least;
        if (isinf(least))
            return joint;
        joint = joint > 0 ? fmin(joint, least) : least;
        for (size_t e = 0; e < p->m; e++)
            if (fabs(p->edges[e].w) >= least)
                parent[graph_root(parent, p->edges[e].i)] = graph_root(parent, p->edges[e].j);
        for (uint32_t v = 0; v < p->n; v++)
            if (pull[v] >= least)
                parent[graph_root(parent, v)] = graph_root(parent, p->n);
    }
}

bool graph_problem_scales(const struct graph_problem *p, struct graph_scales *scales) {
    const size_t n = (size_t)p->n + 1;
    double *sum = malloc(n * sizeof *sum), *most = malloc(n * sizeof *most);
    uint32_t *parent = malloc(n * sizeof *parent);
    const bool good = sum && most && parent;
    *scales = (struct graph_scales){0};
    for (uint32_t v = 0; v < n && good; v++) {
        sum[v] = v < p->n ? fabs(p->fields[v]) : 0;
        parent[v] = v;
    }
    for (size_t e = 0; e < p->m && good; e++) {
        sum[p->edges[e].i] += fabs(p->edges[e].w);
        sum[p->edges[e].j] += fabs(p->edges[e].w);
    }
    for (uint32_t v = 0; v < p->n && good; v++)
        scales->largest = fmax(scales->largest, sum[v]);
    if (good && scales->largest > 0) {
        scales->smallest = joint_of(p, parent, most, sum);
        spread_of(p, sum, scales);
    }
    free(sum);
    free(most);
    free(parent);
    return good;
}
