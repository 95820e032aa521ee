/* Spins on graphs: the chain in C, a byte per slot. Of a large graph all cores have some slots of a
 * colour. */
#include "spin_lattice/graph.h"

#include <pthread.h>
#include <string.h>

#include "base/parallel.h"
#include "samplers/spin_lattice/graph/graph.h"

enum { WORTHWHILE = 1 << 14 }; /* slots that are worth waking a core; a multiple of 4 */

static uint32_t word_of(struct ergo_words r, uint32_t slot) {
    const uint32_t words[4] = {r.x, r.y, r.z, r.w};
    return words[slot % 4];
}

struct starting {
    const struct graph_network *net;
    const struct graph_member *row;
    uint32_t own;
    unsigned mode;
    uint8_t *spins;
};

static void start_slots(size_t begin, size_t end, void *user) {
    const struct starting *a = user;
    for (uint32_t slot = (uint32_t)begin; slot < end; slot++) {
        const uint32_t random = word_of(
            graph_words(slot / 4, 0, GRAPH_PURPOSE_START, a->own, a->row->key0, a->row->key1),
            slot);
        a->spins[slot] = a->net->vertex_of[slot] == GRAPH_PADDING ? 0
                         : a->mode == 2                           ? (uint8_t)(random >> 31)
                                                                  : (uint8_t)a->mode;
    }
}

void graph_twin_start(const struct graph_network *net, const struct graph_member *row, uint32_t own,
                      /* NOLINTNEXTLINE(readability-non-const-parameter): start_slots writes */
                      unsigned mode, uint8_t *spins) {
    struct starting a = {net, row, own, mode, spins};
    ergo_parallel_ranges(net->slots, WORTHWHILE, start_slots, &a);
}

static int32_t force_of(const struct graph_network *net, const uint8_t *spins, uint32_t slot) {
    int32_t force = net->fields[slot];
    for (uint32_t k = net->first[slot]; k < net->first[slot + 1]; k++)
        force += spins[net->bonds[k].to] ? net->bonds[k].j : -net->bonds[k].j;
    return force;
}

struct sweeping {
    const struct graph_state *s;
    const struct graph_member *row;
    uint32_t own, first; /* slot of the colour */
    uint64_t step;
    float scale;
    uint8_t *spins;
};

static void sweep_slots(size_t begin, size_t end, void *user) {
    const struct sweeping *a = user;
    const struct graph_network *net = &a->s->net;
    struct ergo_words r = {0, 0, 0, 0};
    for (size_t i = begin; i < end; i++) {
        const uint32_t slot = a->first + (uint32_t)i;
        if (slot % 4 == 0 || i == begin)
            r = graph_words(slot / 4, a->step, GRAPH_PURPOSE_SWEEP, a->own, a->row->key0,
                            a->row->key1);
        if (net->vertex_of[slot] == GRAPH_PADDING)
            continue;
        a->spins[slot] ^= (uint8_t)graph_flips(a->spins[slot], force_of(net, a->spins, slot),
                                               word_of(r, slot), a->scale, a->s->heat_bath,
                                               net->first[slot + 1] - net->first[slot]);
    }
}

void graph_twin_sweep(const struct graph_state *s, const struct graph_member *row, uint32_t own,
                      /* NOLINTNEXTLINE(readability-non-const-parameter): sweep_slots writes */
                      uint64_t step, uint8_t *spins) {
    const struct graph_network *net = &s->net;
    struct sweeping a = {s,    row, own, 0, step, row->scale * graph_factor(&s->schedule, step),
                         spins};
    /* no two vertices of a colour are neighbours */
    for (uint32_t c = 0; c < net->colours; c++) {
        a.first = net->colour_first[c];
        ergo_parallel_ranges(net->colour_first[c + 1] - a.first, WORTHWHILE, sweep_slots, &a);
    }
}

struct measuring {
    const struct graph_network *net;
    const uint8_t *spins;
    int64_t sum;
    uint64_t mark;
    uint32_t up;
    pthread_mutex_t lock; /* of the sums */
};

static void measure_slots(size_t begin, size_t end, void *user) {
    struct measuring *a = user;
    const struct graph_network *net = a->net;
    int64_t sum = 0;
    uint64_t mark = 0;
    uint32_t up = 0;
    for (uint32_t slot = (uint32_t)begin; slot < end; slot++) {
        if (net->vertex_of[slot] == GRAPH_PADDING)
            continue;
        const int64_t both = (int64_t)force_of(net, a->spins, slot) + net->fields[slot];
        sum += a->spins[slot] ? both : -both;
        mark += a->spins[slot] ? graph_mark(slot) : 0;
        up += a->spins[slot];
    }
    pthread_mutex_lock(&a->lock);
    a->sum += sum;
    a->mark += mark;
    a->up += up;
    pthread_mutex_unlock(&a->lock);
}

void graph_twin_measure(const struct graph_network *net, const uint8_t *spins,
                        uint32_t numbers[GRAPH_NUMBERS]) {
    struct measuring a = {.net = net, .spins = spins, .lock = PTHREAD_MUTEX_INITIALIZER};
    ergo_parallel_ranges(net->slots, WORTHWHILE, measure_slots, &a);
    memset(numbers, 0, GRAPH_NUMBERS * sizeof *numbers);
    numbers[GRAPH_UP] = a.up;
    numbers[GRAPH_SUM] = (uint32_t)a.sum;
    numbers[GRAPH_SUM + 1] = (uint32_t)((uint64_t)a.sum >> 32);
    numbers[GRAPH_MARK] = (uint32_t)a.mark;
    numbers[GRAPH_MARK + 1] = (uint32_t)(a.mark >> 32);
}

void graph_twin_look(const struct graph_state *s, const struct graph_member *rows,
                     const uint32_t *numbers, uint64_t step, struct graph_found *found,
                     uint64_t *hit, uint32_t *look) {
    const uint32_t width = s->chains.width, keep = s->keep;
    for (uint32_t w = 0; w < width; w++) {
        const uint32_t *own = numbers + (size_t)w * GRAPH_NUMBERS;
        look[GRAPH_LOOK_TRACE(keep)] += graph_trace(graph_sum(own), graph_mark_of(own));
        if (graph_sum(own) >= rows->goal && *hit == GRAPH_NEVER)
            *hit = step;
    }
    for (uint32_t k = 0; k < keep; k++)
        look[GRAPH_LOOK_CHOICE + k] = GRAPH_NOTHING;
    for (uint32_t round = 0; round < keep; round++) { /* the lowest that is not kept */
        uint32_t best = GRAPH_NOTHING;
        for (uint32_t w = 0; w < width; w++) {
            const uint32_t *own = numbers + (size_t)w * GRAPH_NUMBERS;
            if ((best == GRAPH_NOTHING ||
                 graph_sum(own) > graph_sum(numbers + (size_t)best * GRAPH_NUMBERS)) &&
                graph_choose(found, keep, graph_sum(own), graph_mark_of(own)) != GRAPH_NOTHING)
                best = w;
        }
        if (best == GRAPH_NOTHING)
            break;
        const uint32_t *own = numbers + (size_t)best * GRAPH_NUMBERS;
        const uint32_t place = graph_choose(found, keep, graph_sum(own), graph_mark_of(own));
        found[place] = (struct graph_found){graph_sum(own), graph_mark_of(own), step};
        look[GRAPH_LOOK_CHOICE + place] = best;
    }
    look[GRAPH_LOOK_TIMES(keep)]++;
}

void graph_twin_swap(const struct graph_state *s, const struct graph_member *rows, uint64_t step,
                     uint32_t *places, uint32_t *numbers, uint32_t *came, uint64_t *moves) {
    const uint32_t rungs = s->chains.rungs, copies = s->chains.copies;
    const uint32_t parity = ergo_ladder_parity(step, s->chains.swap_every);
    for (uint32_t t = 0; t < rungs; t++)
        for (uint32_t copy = 0; copy < copies && ergo_ladder_colder(t, rungs, parity); copy++) {
            const uint32_t cold = t * copies + copy, hot = cold + copies;
            uint32_t *one = numbers + (size_t)cold * GRAPH_NUMBERS, kept[GRAPH_NUMBERS];
            uint32_t *other = numbers + (size_t)hot * GRAPH_NUMBERS;
            const uint32_t yes = graph_exchange(graph_sum(one), graph_sum(other), rows[t].slope,
                                                cold, step, rows[t].key0, rows[t].key1);
            const uint32_t arrived = ergo_ladder_walk(&came[cold], &came[hot], yes, 1, t, rungs);
            if (t == 0)
                moves[(rungs - 1) * copies + copy] += arrived;
            if (!yes)
                continue;
            const uint32_t place = places[cold];
            places[cold] = places[hot];
            places[hot] = place;
            memcpy(kept, one, sizeof kept);
            memcpy(one, other, sizeof kept);
            memcpy(other, kept, sizeof kept);
            moves[cold]++;
        }
}

void graph_twin_cluster(const struct graph_network *net, const struct graph_member *row, uint32_t t,
                        uint64_t step, uint8_t *a, uint8_t *b, uint32_t *queue) {
    uint32_t differ = 0, size = 0, done = 0;
    for (uint32_t slot = 0; slot < net->slots; slot++)
        if (a[slot] != b[slot])
            queue[differ++] = slot;
    if (!differ)
        return;
    queue[0] = queue[graph_seed(differ, step, t, row->key0, row->key1)];
    a[queue[0]] |= 2; /* in the cluster */
    for (size = 1; size > done; done++)
        for (uint32_t k = net->first[queue[done]]; k < net->first[queue[done] + 1]; k++) {
            const uint32_t to = net->bonds[k].to;
            if ((a[to] ^ b[to]) == 1) {
                a[to] |= 2;
                queue[size++] = to;
            }
        }
    for (uint32_t i = 0; i < size; i++) {
        a[queue[i]] ^= 3;
        b[queue[i]] ^= 1;
    }
}

void graph_twin_comb(const struct graph_state *s, const struct graph_member *rows, float slope,
                     uint64_t step, const uint32_t *numbers, uint32_t *parents,
                     struct graph_totals *totals) {
    const uint32_t width = s->chains.width, word = graph_comb_word(step, rows->key0, rows->key1);
    uint64_t below = 0;
    uint32_t k = 0;
    *totals = (struct graph_totals){0, GRAPH_EMPTY};
    for (uint32_t w = 0; w < width; w++) {
        const int64_t sum = graph_sum(numbers + (size_t)w * GRAPH_NUMBERS);
        totals->best = sum > totals->best ? sum : totals->best;
    }
    for (int turn = 0; turn < 2; turn++)
        for (uint32_t w = 0; w < width; w++) {
            *(turn ? &below : &totals->weights) +=
                graph_weight(graph_sum(numbers + (size_t)w * GRAPH_NUMBERS), totals->best, slope);
            while (turn && k < width && ergo_comb_tooth(k, totals->weights, width, word) < below)
                parents[k++] = w;
        }
}
