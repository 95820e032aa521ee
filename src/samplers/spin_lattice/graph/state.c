/*
 * Spins on graphs: the canonical state, files for people.
 *
 * Canonical state of a member: its spins, a bit for each vertex in the order of their numbers, the
 * lowest bit first, 1 up, unused bits 0; the sweep after which the target was first seen, 8 bytes,
 * lowest first (all ones: not yet); then for each of /run/lowest_states the sweep at which it was
 * seen (all ones: none yet) and its spins. Energies follow from the spins.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "samplers/spin_lattice/graph/graph.h"
#include "samplers/spin_lattice/graph/lowest.h"

void graph_spread(const struct graph_state *s, const uint32_t *words, uint8_t *spins) {
    for (uint32_t slot = 0; slot < s->net.slots; slot++)
        spins[slot] = words[slot / 32] >> slot % 32 & 1;
}

void graph_gather(const struct graph_state *s, const uint8_t *spins, uint32_t *words) {
    memset(words, 0, 4 * graph_row_words(s));
    for (uint32_t slot = 0; slot < s->net.slots; slot++)
        words[slot / 32] |= (uint32_t)spins[slot] << slot % 32;
}

/* Bits of slots to bits of vertices, and the reverse. */
static size_t bytes_of(const struct graph_state *s) {
    return ((size_t)s->net.n + 7) / 8;
}

static void to_vertices(const struct graph_state *s, const uint32_t *words, uint8_t *bits) {
    memset(bits, 0, bytes_of(s));
    for (uint32_t v = 0; v < s->net.n; v++) {
        const uint32_t slot = s->net.slot_of[v];
        bits[v / 8] |= (uint8_t)((words[slot / 32] >> slot % 32 & 1) << v % 8);
    }
}

static void to_slots(const struct graph_state *s, const uint8_t *bits, uint32_t *words) {
    memset(words, 0, 4 * graph_row_words(s));
    for (uint32_t v = 0; v < s->net.n; v++) {
        const uint32_t slot = s->net.slot_of[v];
        words[slot / 32] |= (uint32_t)(bits[v / 8] >> v % 8 & 1) << slot % 32;
    }
}

static void put_number(uint64_t number, uint8_t *bytes) {
    for (int i = 0; i < 8; i++)
        bytes[i] = (uint8_t)(number >> 8 * i);
}

static uint64_t number_at(const uint8_t *bytes) {
    uint64_t number = 0;
    for (int i = 0; i < 8; i++)
        number |= (uint64_t)bytes[i] << 8 * i;
    return number;
}

/* Reads what the device has of a member. */
static void fetch(struct graph_state *s, size_t member, uint32_t *words, struct graph_found *found,
                  uint64_t *hit) {
    graph_read_member(s, member, words);
    ergo_engine_read(&s->e, GRAPH_HITS, 8 * member, 8, hit);
    ergo_engine_read(&s->e, GRAPH_FOUND, member * s->keep * sizeof *found, s->keep * sizeof *found,
                     found);
}

static enum ergo_status no_memory(struct ergo_context *ctx) {
    return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for a state");
}

enum ergo_status graph_save(struct ergo_context *ctx, void *state, size_t member,
                            struct ergo_text *text) {
    struct graph_state *s = state;
    const size_t each = bytes_of(s) + 8;
    uint32_t *words = malloc(4 * graph_words_of(s));
    uint8_t *out = calloc(s->keep + 1, each);
    struct graph_found found[GRAPH_KEEP_MAX];
    uint64_t hit = GRAPH_NEVER;
    enum ergo_status status = words && out ? ergo_device_finish(ctx, s->e.device) : no_memory(ctx);
    if (status == ERGO_OK) {
        ergo_engine_begin(&s->e, ctx);
        fetch(s, member, words, found, &hit);
        status = ergo_engine_end(&s->e);
    }
    if (status == ERGO_OK) {
        to_vertices(s, words, out);
        put_number(hit, out + bytes_of(s));
        for (uint32_t k = 0; k < s->keep; k++) {
            const bool empty = found[k].sum == GRAPH_EMPTY;
            put_number(empty ? GRAPH_NEVER : found[k].step, out + (k + 1) * each);
            if (!empty)
                to_vertices(s, words + (k + 1) * graph_row_words(s), out + (k + 1) * each + 8);
        }
        ergo_text_append_bytes(text, out, (s->keep + 1) * each);
        if (text->failed)
            status = no_memory(ctx);
    }
    free(words);
    free(out);
    return status;
}

/* One of the lowest states: its spins as bits of slots; false: damaged. */
static bool load_lowest(const struct graph_state *s, const uint8_t *from, uint64_t step,
                        uint32_t *words, uint8_t *spins, struct graph_found *found) {
    const uint64_t seen = number_at(from);
    uint32_t numbers[GRAPH_NUMBERS];
    *found = (struct graph_found){GRAPH_EMPTY, 0, 0};
    if (!ergo_bits_clean(from + 8, s->net.n) || (seen != GRAPH_NEVER && seen > step))
        return false;
    to_slots(s, from + 8, words);
    if (seen == GRAPH_NEVER) {
        bool clean = true;
        for (size_t i = 0; i < graph_row_words(s); i++)
            clean = clean && words[i] == 0;
        return clean;
    }
    graph_spread(s, words, spins);
    graph_twin_measure(&s->net, spins, numbers);
    *found = (struct graph_found){graph_sum(numbers), graph_mark_of(numbers), seen};
    return true;
}

enum ergo_status graph_load(struct ergo_context *ctx, void *state, size_t member, uint64_t step,
                            const void *bytes, size_t length) {
    struct graph_state *s = state;
    const size_t one = bytes_of(s), each = one + 8;
    const uint8_t *from = bytes;
    struct graph_found found[GRAPH_KEEP_MAX];
    if (length != (s->keep + 1) * each)
        return ERGO_FAIL(ctx, ERGO_E_IO, "the saved state of member %zu has %zu bytes, not %zu",
                         member, length, (s->keep + 1) * each);
    uint32_t *words = malloc(4 * graph_words_of(s));
    uint8_t *spins = malloc(s->net.slots);
    const uint64_t hit = number_at(from + one);
    bool good = ergo_bits_clean(from, s->net.n) && (hit == GRAPH_NEVER || hit <= step);
    enum ergo_status status =
        words && spins ? ergo_device_finish(ctx, s->e.device) : no_memory(ctx);
    if (status == ERGO_OK)
        to_slots(s, from, words);
    for (uint32_t k = 0; k < s->keep && status == ERGO_OK; k++)
        good = load_lowest(s, from + (k + 1) * each, step, words + (k + 1) * graph_row_words(s),
                           spins, &found[k]) &&
               good;
    if (status == ERGO_OK && !good)
        status = ERGO_FAIL(ctx, ERGO_E_IO,
                           "the saved state of member %zu is damaged: bits beyond its spins, or "
                           "sweeps that are still to come",
                           member);
    if (status == ERGO_OK) {
        ergo_engine_begin(&s->e, ctx);
        graph_write_member(s, member, words);
        ergo_engine_write(&s->e, GRAPH_FOUND, member * s->keep * sizeof *found,
                          s->keep * sizeof *found, found);
        ergo_engine_write(&s->e, GRAPH_HITS, 8 * member, 8, &hit);
        status = ergo_engine_end(&s->e);
        s->e.step = step;
    }
    free(words);
    free(spins);
    return status;
}

/* Spins: nothing has been seen yet, however many lowest states either run keeps. */
enum ergo_status graph_carry(struct ergo_context *ctx, void *state, size_t member,
                             const void *bytes, size_t length) {
    const struct graph_state *s = state;
    const size_t one = bytes_of(s), each = one + 8;
    if (length % each || length < each)
        return ERGO_FAIL(ctx, ERGO_E_IO, "the saved state of member %zu has %zu bytes, not %zu",
                         member, length, (s->keep + 1) * each);
    uint8_t *start = calloc(s->keep + 1, each);
    if (!start)
        return no_memory(ctx);
    memcpy(start, bytes, one);
    put_number(GRAPH_NEVER, start + one);
    for (uint32_t k = 1; k <= s->keep; k++)
        put_number(GRAPH_NEVER, start + k * each);
    const enum ergo_status status = graph_load(ctx, state, member, 0, start, (s->keep + 1) * each);
    free(start);
    return status;
}

/* ---- for people ------------------------------------------------------------------------------ */

enum ergo_status graph_lowest_read(struct ergo_context *ctx, struct graph_state *s, size_t member,
                                   struct graph_lowest *low) {
    struct graph_found found[GRAPH_KEEP_MAX];
    uint32_t *words = malloc(4 * graph_words_of(s));
    *low = (struct graph_lowest){.bytes = bytes_of(s), .hit = GRAPH_NEVER};
    low->states = calloc(s->keep, sizeof *low->states);
    low->bits = calloc(s->keep + 1, bytes_of(s));
    enum ergo_status status =
        words && low->states && low->bits ? ergo_device_finish(ctx, s->e.device) : no_memory(ctx);
    if (status == ERGO_OK) {
        ergo_engine_begin(&s->e, ctx);
        fetch(s, member, words, found, &low->hit);
        status = ergo_engine_end(&s->e);
    }
    if (status == ERGO_OK)
        to_vertices(s, words, low->bits + s->keep * bytes_of(s));
    for (uint32_t k = 0; k < s->keep && status == ERGO_OK; k++) {
        uint8_t *bits = low->bits + k * bytes_of(s);
        if (found[k].sum == GRAPH_EMPTY)
            continue;
        to_vertices(s, words + (k + 1) * graph_row_words(s), bits);
        low->states[low->count++] = (struct graph_lowest_state){
            graph_problem_energy(&s->problem, bits), found[k].step, 0, bits};
    }
    graph_lowest_sort(low);
    free(words);
    if (status != ERGO_OK)
        graph_lowest_free(low);
    return status;
}

enum ergo_status graph_frame(struct ergo_context *ctx, void *state, size_t member,
                             struct ergo_text *text) {
    struct graph_state *s = state;
    struct graph_lowest low;
    const enum ergo_status status = graph_lowest_read(ctx, s, member, &low);
    if (status != ERGO_OK)
        return status;
    const uint8_t *bits = low.bits + s->keep * low.bytes;
    ergo_text_append(text, "# energy %.15g\n", graph_problem_energy(&s->problem, bits));
    for (uint32_t v = 0; v < s->net.n; v++)
        ergo_text_append(text, "%u %d\n", v + s->problem.base, bits[v / 8] >> v % 8 & 1 ? 1 : -1);
    graph_lowest_free(&low);
    return ERGO_OK;
}

/* At the end: energies of the lowest states, NAN where there are fewer; whether and when the target
 * was seen. Each twice, so that the error is 0: these are facts. */
enum ergo_status graph_end_curves(struct ergo_context *ctx, void *state, size_t member,
                                  struct ergo_curve *curves) {
    struct graph_state *s = state;
    struct graph_lowest low;
    double energies[GRAPH_KEEP_MAX];
    const enum ergo_status status = graph_lowest_read(ctx, s, member, &low);
    if (status != ERGO_OK)
        return status;
    for (uint32_t k = 0; k < s->keep; k++)
        energies[k] = k < low.count ? low.states[k].energy : NAN;
    for (int i = 0; i < 2; i++)
        ergo_curve_add(&curves[CURVE_LOWEST], energies);
    for (int i = 0; i < 2 && curves[CURVE_REACHED].size; i++) {
        const double reached[2] = {low.hit != GRAPH_NEVER,
                                   low.hit != GRAPH_NEVER ? (double)low.hit : NAN};
        ergo_curve_add(&curves[CURVE_REACHED], reached);
    }
    graph_lowest_free(&low);
    return ERGO_OK;
}
