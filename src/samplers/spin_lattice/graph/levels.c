/* Graphs whose couplings are all +J or -J, without fields: lists and tables of graph_levels.h. */
#include <stdlib.h>
#include <string.h>

#include "samplers/spin_lattice/graph/graph.h"

enum { MOST_NEIGHBOURS = 126, /* counts are bytes, levels signed ones */
       MOST_SLOTS = 65535 };

/* The most neighbours of a vertex; 0: costs are no levels. */
static uint32_t most_neighbours(const struct graph_network *net, int32_t *j) {
    uint32_t most = 0;
    *j = net->first[net->slots] ? abs(net->bonds[0].j) : 0;
    for (uint32_t slot = 0; slot < net->slots; slot++) {
        const uint32_t degree = net->first[slot + 1] - net->first[slot];
        if (net->fields[slot])
            return 0;
        most = degree > most ? degree : most;
    }
    for (uint32_t k = 0; k < net->first[net->slots]; k++)
        if (abs(net->bonds[k].j) != *j)
            return 0;
    return *j > 0 && most <= MOST_NEIGHBOURS && net->slots < MOST_SLOTS ? most : 0;
}

/* Neighbours with this sign to `to`, if that is there, and the number of elements that they fill. */
static uint32_t list(const struct graph_network *net, uint32_t slot, bool plus, uint16_t *to) {
    uint32_t n = 0;
    for (uint32_t k = net->first[slot]; k < net->first[slot + 1]; k++)
        if ((net->bonds[k].j > 0) == plus) {
            if (to)
                to[n] = (uint16_t)net->bonds[k].to;
            n++;
        }
    for (; n % 4; n++)
        if (to)
            to[n] = (uint16_t)net->slots;
    return n / 4;
}

/* The number of a row's table among those of all scales. */
static bool number_tables(const struct graph_state *s, size_t rows, struct graph_levels *v) {
    v->scales = malloc(rows * sizeof *v->scales);
    v->table_of = malloc(rows * sizeof *v->table_of);
    if (!v->scales || !v->table_of)
        return false;
    size_t n = 0;
    const size_t rungs = s->chains.rungs;
    for (size_t row = 0; row < rows; row++) { /* replicas follow one another */
        const float scale = s->members[row].scale;
        if (row >= rungs && s->members[row - rungs].scale == scale)
            v->table_of[row] = v->table_of[row - rungs];
        else {
            v->scales[n] = scale;
            v->table_of[row] = (uint32_t)(n++ * s->schedule.stages);
        }
    }
    v->tables = n * s->schedule.stages;
    return true;
}

bool graph_levels_make(const struct graph_state *s, struct graph_levels *v) {
    const struct graph_network *net = &s->net;
    *v = (struct graph_levels){.most = most_neighbours(net, &v->j)};
    if (!v->most)
        return true;
    (void)most_neighbours(net, &v->j);
    v->heads = calloc(net->slots, sizeof *v->heads);
    v->colours = malloc(net->colours * sizeof *v->colours);
    if (!v->heads || !v->colours ||
        !number_tables(s, s->e.batch->count * s->chains.rungs, v))
        return false;
    for (uint32_t c = 0; c < net->colours; c++) {
        v->colours[c] = (cl_uint2){{net->colour_first[c], net->colour_count[c]}};
        if (net->colour_count[c] > v->widest)
            v->widest = net->colour_count[c];
    }
    for (uint32_t slot = 0; slot < net->slots; slot++)
        v->elements += list(net, slot, true, NULL) + list(net, slot, false, NULL);
    v->lists = malloc((v->elements + 1) * 8);
    if (!v->lists)
        return false;
    uint32_t at = 0;
    for (uint32_t slot = 0; slot < net->slots; slot++) {
        struct graph_head *h = &v->heads[slot];
        h->first = at;
        uint32_t numbers = 0;
        for (uint32_t minus = 0; minus < 2; minus++) {
            const uint32_t n = list(net, slot, !minus, v->lists + 4 * (size_t)at);
            numbers |= n << 8 * minus;
            at += n;
        }
        for (uint32_t k = net->first[slot]; k < net->first[slot + 1]; k++)
            numbers += (UINT32_C(1) << 16) + (net->bonds[k].j < 0 ? UINT32_C(1) << 24 : 0);
        h->numbers = numbers;
    }
    return true;
}

/* One table. */
static void fill(const struct graph_levels *v, float scale, uint32_t heat_bath, uint32_t *table) {
    const int most = (int)v->most;
    const uint64_t all = UINT64_C(1) << 32;
    int first = -most;
    uint64_t words = all;
    for (int m = -most; m <= most; m++) {
        if (words) /* none of the next level, if none of this one */
            words = graph_level_words(m, v->j, scale, heat_bath);
        if (words == all)
            first = m + 1;
        table[GRAPH_LEVEL_AT(most, m)] = (uint32_t)(words < all ? words : UINT32_MAX);
    }
    table[GRAPH_LEVEL_ALONE(most)] = (uint32_t)graph_level_words(0, v->j, scale, 1);
    table[GRAPH_LEVEL_FIRST(most)] = (uint32_t)first;
}

uint32_t *graph_levels_tables(const struct graph_state *s) {
    const struct graph_levels *v = &s->levels;
    const size_t stages = s->schedule.stages;
    uint32_t *tables = malloc(v->tables * GRAPH_LEVEL_WORDS(v->most) * sizeof *tables);
    for (size_t t = 0; t < v->tables && tables; t++)
        fill(v, v->scales[t / stages] * s->schedule.factors[t % stages], s->heat_bath,
             tables + t * GRAPH_LEVEL_WORDS(v->most));
    return tables;
}

void graph_levels_free(struct graph_levels *v) {
    free(v->scales);
    free(v->table_of);
    free(v->heads);
    free(v->colours);
    free(v->lists);
    *v = (struct graph_levels){0};
}
