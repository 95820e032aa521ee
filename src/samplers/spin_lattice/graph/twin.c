/* Spins on graphs: the chain in serial C, a byte per slot. */
#include "spin_lattice/graph.h"

#include <string.h>

#include "samplers/spin_lattice/graph/graph.h"

static uint32_t word_of(struct ergo_words r, uint32_t slot) {
    const uint32_t words[4] = {r.x, r.y, r.z, r.w};
    return words[slot % 4];
}

void graph_twin_start(const struct graph_network *net, const struct graph_member *member,
                      unsigned mode, uint8_t *spins) {
    for (uint32_t slot = 0; slot < net->slots; slot++) {
        const uint32_t random = word_of(
            graph_words(slot / 4, 0, GRAPH_PURPOSE_START, member->key0, member->key1), slot);
        spins[slot] = net->vertex_of[slot] == GRAPH_PADDING ? 0
                      : mode == 2                           ? (uint8_t)(random >> 31)
                                                            : (uint8_t)mode;
    }
}

static int32_t force_of(const struct graph_network *net, const uint8_t *spins, uint32_t slot) {
    int32_t force = net->fields[slot];
    for (uint32_t k = net->first[slot]; k < net->first[slot + 1]; k++)
        force += spins[net->bonds[k].to] ? net->bonds[k].j : -net->bonds[k].j;
    return force;
}

void graph_twin_sweep(const struct graph_state *s, const struct graph_member *member, uint64_t step,
                      uint8_t *spins) {
    const struct graph_network *net = &s->net;
    const float scale = member->scale * graph_factor(&s->schedule, step);
    struct ergo_words r = {0, 0, 0, 0};
    /* no two vertices of a colour are neighbours, so one after the other is all at once */
    for (uint32_t slot = 0; slot < net->slots; slot++) {
        if (slot % 4 == 0)
            r = graph_words(slot / 4, step, GRAPH_PURPOSE_SWEEP, member->key0, member->key1);
        if (net->vertex_of[slot] == GRAPH_PADDING)
            continue;
        spins[slot] ^=
            (uint8_t)graph_flips(spins[slot], force_of(net, spins, slot), word_of(r, slot), scale,
                                 s->heat_bath, net->first[slot + 1] - net->first[slot]);
    }
}

void graph_twin_measure(const struct graph_network *net, const uint8_t *spins,
                        uint32_t numbers[GRAPH_NUMBERS]) {
    int64_t sum = 0;
    uint64_t mark = 0;
    memset(numbers, 0, GRAPH_NUMBERS * sizeof *numbers);
    for (uint32_t slot = 0; slot < net->slots; slot++) {
        if (net->vertex_of[slot] == GRAPH_PADDING)
            continue;
        const int64_t both = (int64_t)force_of(net, spins, slot) + net->fields[slot];
        sum += spins[slot] ? both : -both;
        mark += spins[slot] ? graph_mark(slot) : 0;
        numbers[GRAPH_UP] += spins[slot];
    }
    numbers[GRAPH_SUM] = (uint32_t)sum;
    numbers[GRAPH_SUM + 1] = (uint32_t)((uint64_t)sum >> 32);
    numbers[GRAPH_MARK] = (uint32_t)mark;
    numbers[GRAPH_MARK + 1] = (uint32_t)(mark >> 32);
}

uint32_t graph_twin_look(const struct graph_state *s, const struct graph_member *member,
                         const uint32_t numbers[GRAPH_NUMBERS], uint64_t step,
                         struct graph_found *found, uint64_t *hit, uint32_t *trace) {
    const int64_t sum = graph_sum(numbers);
    const uint32_t place = graph_choose(found, s->keep, sum, graph_mark_of(numbers));
    if (place != GRAPH_NOTHING)
        found[place] = (struct graph_found){sum, graph_mark_of(numbers), step};
    *trace += graph_trace(sum, graph_mark_of(numbers));
    if (sum >= member->goal && *hit == GRAPH_NEVER)
        *hit = step;
    return place;
}
