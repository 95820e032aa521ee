/* Graphs in local memory: lists and tables of graph_levels.h. */
#include <math.h>
#include <stdlib.h>

#include "base/divisor.h"
#include "base/parallel.h"
#include "samplers/spin_lattice/graph/graph.h"

enum {
    MOST_LEVELS = 126,      /* counts are bytes, levels signed ones */
    MOST_NEIGHBOURS = 1020, /* a byte numbers elements of a list */
    MOST_SLOTS = 65533      /* with two rows below them, 16 bits number them */
};

/* Costs of a slot in units of j: the sum over its neighbours and of its field. */
static int64_t strength(const struct graph_network *net, uint32_t slot, int32_t j) {
    int64_t sum = abs(net->fields[slot] / j);
    for (uint32_t k = net->first[slot]; k < net->first[slot + 1]; k++)
        sum += abs(net->bonds[k].j / j);
    return sum;
}

/* The most neighbours of a vertex, as often as their couplings are worth; 0: costs are no levels.
 */
static uint32_t most_levels(const struct graph_network *net, int32_t *j) {
    int64_t most = 0;
    uint64_t unit = 0;
    for (uint32_t k = 0; k < net->first[net->slots]; k++)
        unit = ergo_common_divisor((uint64_t)abs(net->bonds[k].j), unit);
    for (uint32_t slot = 0; slot < net->slots; slot++)
        unit = ergo_common_divisor((uint64_t)abs(net->fields[slot]), unit);
    *j = (int32_t)unit;
    for (uint32_t slot = 0; slot < net->slots && *j; slot++) {
        const int64_t own = strength(net, slot, *j);
        const bool alone = net->first[slot] == net->first[slot + 1]; /* has a rule of its own */
        if (own > MOST_LEVELS || (alone && own))
            return 0;
        most = own > most ? own : most;
    }
    return (uint32_t)most;
}

/* Adds a row as often as a coupling is worth, if it has this sign. Returns the number of rows. */
static uint32_t add(uint16_t *to, uint32_t n, uint32_t row, int32_t j, bool plus) {
    for (int32_t k = 0; k < abs(j) && (j > 0) == plus; k++, n++)
        if (to)
            to[n] = (uint16_t)row;
    return n;
}

/* Neighbours with this sign to `to`, if that is there. Returns how often there are any. */
static uint32_t list(const struct graph_network *net, uint32_t slot, int32_t j, bool plus,
                     uint16_t *to) {
    uint32_t n = 0;
    for (uint32_t k = net->first[slot]; k < net->first[slot + 1]; k++)
        n = add(to, n, net->bonds[k].to, net->bonds[k].j / j, plus);
    n = add(to, n, GRAPH_ONES(net->slots), net->fields[slot] / j, plus);
    for (uint32_t k = n; k % 4 && to; k++)
        to[k] = (uint16_t)GRAPH_ZEROS(net->slots);
    return n;
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
        /* ladders with feedback go ways of their own */
        if (row >= rungs && s->members[row - rungs].scale == scale && !s->feedback.automatic)
            v->table_of[row] = v->table_of[row - rungs];
        else {
            v->scales[n] = scale;
            v->table_of[row] = (uint32_t)(n++ * s->schedule.stages);
        }
    }
    v->tables = n * s->schedule.stages;
    return true;
}

static bool is_possible(const struct graph_network *net) {
    bool good = net->slots <= MOST_SLOTS;
    for (uint32_t slot = 0; slot < net->slots && good; slot++)
        good = net->first[slot + 1] - net->first[slot] <= MOST_NEIGHBOURS;
    return good;
}

/* The lists of a vertex with levels. Returns the elements. */
static uint32_t list_levels(const struct graph_network *net, uint32_t slot, int32_t j, uint16_t *to,
                            struct graph_head *head) {
    uint32_t n[2] = {0, 0}, at = 0;
    for (int minus = 0; minus < 2; minus++) {
        n[minus] = list(net, slot, j, !minus, to ? to + 4 * (size_t)at : NULL);
        at += (n[minus] + 3) / 4;
    }
    head->numbers = (n[0] + 3) / 4 | (n[1] + 3) / 4 << 8 | (n[0] + n[1]) << 16 | n[1] << 24;
    return at;
}

/* The list of a vertex without levels. Returns the elements. */
static uint32_t list_values(const struct graph_network *net, uint32_t slot, uint16_t *to,
                            int32_t *values, struct graph_head *head) {
    const uint32_t begin = net->first[slot], n = net->first[slot + 1] - begin;
    for (uint32_t k = 0; k < (n + 3) / 4 * 4 && to && values; k++) {
        to[k] = (uint16_t)(k < n ? net->bonds[begin + k].to : GRAPH_ZEROS(net->slots));
        values[k] = k < n ? net->bonds[begin + k].j : 0;
    }
    head->numbers = (n + 3) / 4 | (n > 0 ? UINT32_C(1) << 16 : 0);
    return (n + 3) / 4;
}

/* Elements of all lists; the lists, if they are there. */
static uint32_t list_all(const struct graph_network *net, struct graph_levels *v) {
    uint32_t at = 0;
    for (uint32_t slot = 0; slot < net->slots; slot++) {
        uint16_t *to = v->lists ? v->lists + 4 * (size_t)at : NULL;
        int32_t *values = v->values ? v->values + 4 * (size_t)at : NULL;
        v->heads[slot].first = at;
        at += v->most ? list_levels(net, slot, v->j, to, &v->heads[slot])
                      : list_values(net, slot, to, values, &v->heads[slot]);
    }
    return at;
}

bool graph_levels_make(const struct graph_state *s, struct graph_levels *v) {
    const struct graph_network *net = &s->net;
    *v = (struct graph_levels){0};
    v->possible = is_possible(net);
    if (!v->possible)
        return true;
    v->most = most_levels(net, &v->j);
    v->heads = calloc(net->slots, sizeof *v->heads);
    v->colours = malloc(net->colours * sizeof *v->colours);
    if (!v->heads || !v->colours || !number_tables(s, s->e.batch->count * s->chains.rungs, v))
        return false;
    for (uint32_t c = 0; c < net->colours; c++) {
        v->colours[c] = (cl_uint2){{net->colour_first[c], net->colour_count[c]}};
        if (net->colour_count[c] > v->widest)
            v->widest = net->colour_count[c];
    }
    v->elements = list_all(net, v);
    const size_t n = 4 * ((size_t)v->elements + 1); /* see GRAPH_LISTS in plan.c */
    v->lists = calloc(n, sizeof *v->lists);
    v->values = v->most ? NULL : calloc(n, sizeof *v->values);
    if (!v->lists || (!v->most && !v->values))
        return false;
    (void)list_all(net, v);
    return true;
}

/* How many words accept a flip of level m. Found near what arithmetic without rounding says. */
static uint64_t words_of(int m, const struct graph_levels *v, float scale, bool heat_bath) {
    if (graph_level_accepts(UINT32_MAX, m, v->j, scale, heat_bath))
        return UINT64_C(1) << 32;
    const double cost = ((double)m * v->j + 1) / (double)scale;
    const double guess = 0x1p32 * fmin(1, heat_bath ? 1 / (1 + exp(cost)) : exp(-cost));
    const double width = 1 + guess * 0x1p-20;
    uint32_t least = (uint32_t)fmax(0, guess - width);
    uint32_t most = (uint32_t)fmin(UINT32_MAX, guess + width);
    if (least && !graph_level_accepts(least - 1, m, v->j, scale, heat_bath))
        least = 0;
    if (graph_level_accepts(most, m, v->j, scale, heat_bath))
        most = UINT32_MAX;
    return graph_level_words(least, most, m, v->j, scale, heat_bath);
}

void graph_levels_table(const struct graph_levels *v, float scale, bool heat_bath,
                        uint32_t *table) {
    const int most = (int)v->most;
    const uint64_t all = UINT64_C(1) << 32;
    int first = -most;
    uint64_t words = all;
    for (int m = -most; m <= most; m++) {
        if (words) /* none of the next level, if none of this one */
            words = words_of(m, v, scale, heat_bath);
        if (words == all)
            first = m + 1;
        table[GRAPH_LEVEL_AT(most, m)] = (uint32_t)(words < all ? words : UINT32_MAX);
    }
    table[GRAPH_LEVEL_ALONE(most)] = (uint32_t)words_of(0, v, scale, true);
    table[GRAPH_LEVEL_FIRST(most)] = (uint32_t)first;
}

struct filling {
    const struct graph_state *s;
    uint32_t *tables;
};

static void fill(size_t begin, size_t end, void *user) {
    const struct filling *f = user;
    const struct graph_state *s = f->s;
    const size_t stages = s->schedule.stages;
    for (size_t t = begin; t < end; t++) {
        const float scale = s->levels.scales[t / stages] * s->schedule.factors[t % stages];
        if (s->levels.most)
            graph_levels_table(&s->levels, scale, s->heat_bath,
                               f->tables + t * GRAPH_LEVEL_WORDS((size_t)s->levels.most));
        else
            f->tables[t] = ergo_as_uint(scale);
    }
}

uint32_t *graph_levels_tables(const struct graph_state *s) {
    const struct graph_levels *v = &s->levels;
    uint32_t *tables = malloc(v->tables * GRAPH_LEVEL_WORDS((size_t)v->most) * sizeof *tables);
    struct filling f = {s, tables};
    if (tables)
        ergo_parallel_ranges(v->tables, 100, fill, &f);
    return tables;
}

void graph_levels_free(struct graph_levels *v) {
    free(v->scales);
    free(v->table_of);
    free(v->heads);
    free(v->colours);
    free(v->lists);
    free(v->values);
    *v = (struct graph_levels){0};
}
