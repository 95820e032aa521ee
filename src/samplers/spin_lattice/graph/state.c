/*
 * Spins on graphs: the canonical state, files for people.
 *
 * Canonical state of a member: the spins of its chains (one; or temperature by temperature, the
 * coldest first; or a population), a bit for each vertex in the order of their numbers, the lowest
 * bit first, 1 up, unused bits 0; with a ladder for each chain a byte, whether its walker has been
 * at the hot end since it was at the cold one, then for each 8 bytes, the accepted exchanges with
 * the next temperature (of the hottest: round trips); of a population for each chain 4 bytes, the
 * member of the start that it descends from, then of the last resampling the sum of weights and the
 * largest sum (graph_totals), 8 bytes each. Then the sweep after which the target was first seen,
 * 8 bytes (all ones: not yet); then for each of /run/lowest_states the sweep at which it was seen
 * (all ones: none yet) and its spins. Numbers have the lowest byte first. Energies follow from the
 * spins.
 */
#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "samplers/spin_lattice/graph/graph.h"
#include "samplers/spin_lattice/graph/lowest.h"
#include "spin_lattice/graph.h"

/* Bits of slots as a byte each. */
static void spread(const struct graph_state *s, const uint32_t *words, uint8_t *spins) {
    for (uint32_t slot = 0; slot < s->net.slots; slot++)
        spins[slot] = words[slot / 32] >> slot % 32 & 1;
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

/* ---- what a ladder and a population have besides spins --------------------------------------- */

struct besides {
    uint32_t *came, *families; /* [width] */
    uint64_t *moves;
    struct graph_totals totals;
};

static bool besides_create(const struct graph_state *s, struct besides *b) {
    const size_t width = s->chains.width;
    *b = (struct besides){.came = calloc(2 * width, sizeof *b->came),
                          .moves = calloc(width, sizeof *b->moves)};
    b->families = b->came ? b->came + width : NULL;
    return b->came && b->moves;
}

static void besides_free(struct besides *b) {
    free(b->came);
    free(b->moves);
}

static size_t besides_bytes(const struct graph_state *s) {
    return s->chains.width *
               (size_t)((s->chains.rungs > 1 ? 9 : 0) + (s->chains.population ? 4 : 0)) +
           (s->chains.population ? 16 : 0);
}

/* Reads or writes what the device has of a member. */
static void transfer(struct graph_state *s, size_t member, struct besides *b, bool write) {
    const size_t width = s->chains.width, each = sizeof b->totals;
    const struct {
        unsigned row;
        bool there;
        size_t bytes;
        void *data;
    } parts[] = {{GRAPH_CAME, s->chains.rungs > 1, 4 * width, b->came},
                 {GRAPH_MOVES, s->chains.rungs > 1, 8 * width, b->moves},
                 {GRAPH_FAMILIES_ROW, s->chains.population, 4 * width, b->families},
                 {GRAPH_TOTALS, s->chains.population, each, &b->totals}};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        if (parts[i].there && write)
            ergo_engine_write(&s->e, parts[i].row, member * parts[i].bytes, parts[i].bytes,
                              parts[i].data);
        else if (parts[i].there)
            ergo_engine_read(&s->e, parts[i].row, member * parts[i].bytes, parts[i].bytes,
                             parts[i].data);
}

static void put_besides(const struct graph_state *s, const struct besides *b, uint8_t *to) {
    const size_t width = s->chains.width;
    for (size_t w = 0; w < width && s->chains.rungs > 1; w++) {
        to[w] = (uint8_t)b->came[w];
        put_number(b->moves[w], to + width + 8 * w);
    }
    if (!s->chains.population)
        return;
    for (size_t w = 0; w < width; w++)
        for (int i = 0; i < 4; i++)
            to[4 * w + (size_t)i] = (uint8_t)(b->families[w] >> 8 * i);
    put_number(b->totals.weights, to + 4 * width);
    put_number((uint64_t)b->totals.best, to + 4 * width + 8);
}

/* false: it cannot be after `step` sweeps. */
static bool take_besides(const struct graph_state *s, uint64_t step, const uint8_t *from,
                         struct besides *b) {
    const size_t width = s->chains.width;
    bool good = true;
    for (size_t w = 0; w < width && s->chains.rungs > 1; w++) {
        b->came[w] = from[w];
        b->moves[w] = number_at(from + width + 8 * w);
        good = good && b->came[w] < 2 && b->moves[w] <= step;
    }
    if (!s->chains.population)
        return good;
    for (size_t w = 0; w < width; w++) {
        for (int i = 0; i < 4; i++)
            b->families[w] |= (uint32_t)from[4 * w + (size_t)i] << 8 * i;
        good = good && b->families[w] < width;
    }
    b->totals.weights = number_at(from + 4 * width);
    b->totals.best = (int64_t)number_at(from + 4 * width + 8);
    return good && b->totals.weights <= (uint64_t)width << GRAPH_WEIGHT_BITS &&
           (b->totals.weights > 0) == (step > 0) && b->totals.best < INT64_C(1) << 60 &&
           b->totals.best > -(INT64_C(1) << 60);
}

/* ---- states ---------------------------------------------------------------------------------- */

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

/* Where the parts of a state begin: after the spins, after what else chains have, temperatures that
 * feedback has found; its end. */
struct parts {
    size_t spins, hit, lowest, ladder, all;
};

static struct parts parts_of(const struct graph_state *s) {
    struct parts p = {.spins = bytes_of(s) * s->chains.width};
    p.hit = p.spins + besides_bytes(s);
    p.lowest = p.hit + 8;
    p.ladder = p.lowest + s->keep * (bytes_of(s) + 8);
    p.all = p.ladder + ergo_feedback_bytes(&s->feedback);
    return p;
}

enum ergo_status graph_save(struct ergo_context *ctx, void *state, size_t member,
                            struct ergo_text *text) {
    struct graph_state *s = state;
    const size_t one = bytes_of(s), row = graph_row_words(s), width = s->chains.width;
    const struct parts parts = parts_of(s);
    uint32_t *words = malloc(4 * graph_words_of(s));
    uint8_t *out = calloc(parts.all, 1);
    struct graph_found found[GRAPH_KEEP_MAX];
    struct besides b;
    const bool room = besides_create(s, &b);
    uint64_t hit = GRAPH_NEVER;
    enum ergo_status status =
        words && out && room ? ergo_device_finish(ctx, s->e.device) : no_memory(ctx);
    if (status == ERGO_OK) {
        ergo_engine_begin(&s->e, ctx);
        fetch(s, member, words, found, &hit);
        transfer(s, member, &b, false);
        status = ergo_engine_end(&s->e);
    }
    if (status == ERGO_OK) {
        for (size_t w = 0; w < width; w++)
            to_vertices(s, words + w * row, out + w * one);
        put_besides(s, &b, out + parts.spins);
        put_number(hit, out + parts.hit);
        for (uint32_t k = 0; k < s->keep; k++) {
            const bool empty = found[k].sum == GRAPH_EMPTY;
            uint8_t *to = out + parts.lowest + k * (one + 8);
            put_number(empty ? GRAPH_NEVER : found[k].step, to);
            if (!empty)
                to_vertices(s, words + (width + k) * row, to + 8);
        }
        ergo_text_append_bytes(text, out, parts.ladder);
        ergo_feedback_save(&s->feedback, s->ladders + member * s->chains.rungs, text);
        if (text->failed)
            status = no_memory(ctx);
    }
    besides_free(&b);
    free(words);
    free(out);
    return status;
}

/* A configuration as the device measures it; spins: a byte for each slot. */
static struct graph_found measured(const struct graph_network *net, const uint8_t *spins,
                                   uint64_t step) {
    struct graph_found found = {0, 0, step};
    for (uint32_t slot = 0; slot < net->slots; slot++) {
        int64_t both = 2 * (int64_t)net->fields[slot];
        if (net->vertex_of[slot] == GRAPH_PADDING)
            continue;
        for (uint32_t k = net->first[slot]; k < net->first[slot + 1]; k++)
            both += spins[net->bonds[k].to] ? net->bonds[k].j : -net->bonds[k].j;
        found.sum += spins[slot] ? both : -both;
        found.mark += spins[slot] ? graph_mark(slot) : 0;
    }
    return found;
}

/* One of the lowest states: its spins as bits of slots; false: damaged. */
static bool load_lowest(const struct graph_state *s, const uint8_t *from, uint64_t step,
                        uint32_t *words, uint8_t *spins, struct graph_found *found) {
    const uint64_t seen = number_at(from);
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
    spread(s, words, spins);
    *found = measured(&s->net, spins, seen);
    return true;
}

enum ergo_status graph_load(struct ergo_context *ctx, void *state, size_t member, uint64_t step,
                            const void *bytes, size_t length) {
    struct graph_state *s = state;
    const size_t one = bytes_of(s), row = graph_row_words(s), width = s->chains.width;
    const struct parts parts = parts_of(s);
    const uint8_t *from = bytes;
    struct graph_found found[GRAPH_KEEP_MAX];
    struct besides b;
    if (length != parts.all)
        return ERGO_FAIL(ctx, ERGO_E_IO, "the saved state of member %zu has %zu bytes, not %zu",
                         member, length, parts.all);
    uint32_t *words = malloc(4 * graph_words_of(s));
    uint8_t *spins = malloc(s->net.slots);
    const bool room = besides_create(s, &b);
    const uint64_t hit = number_at(from + parts.hit);
    bool good = hit == GRAPH_NEVER || hit <= step;
    enum ergo_status status =
        words && spins && room ? ergo_device_finish(ctx, s->e.device) : no_memory(ctx);
    for (size_t w = 0; w < width && status == ERGO_OK; w++) {
        good = ergo_bits_clean(from + w * one, s->net.n) && good;
        to_slots(s, from + w * one, words + w * row);
    }
    if (status == ERGO_OK)
        good = take_besides(s, step, from + parts.spins, &b) && good;
    for (uint32_t k = 0; k < s->keep && status == ERGO_OK; k++)
        good = load_lowest(s, from + parts.lowest + k * (one + 8), step, words + (width + k) * row,
                           spins, &found[k]) &&
               good;
    good = good && (status != ERGO_OK ||
                    ergo_feedback_load(&s->feedback, s->e.batch->points[member],
                                       from + parts.ladder, s->ladders + member * s->chains.rungs));
    if (status == ERGO_OK && !good)
        status =
            ERGO_FAIL(ctx, ERGO_E_IO,
                      "the saved state of member %zu is damaged: bits beyond its spins, "
                      "sweeps that are still to come, or chains or temperatures that cannot be",
                      member);
    if (status == ERGO_OK) {
        ergo_engine_begin(&s->e, ctx);
        graph_write_member(s, member, words);
        ergo_engine_write(&s->e, GRAPH_FOUND, member * s->keep * sizeof *found,
                          s->keep * sizeof *found, found);
        ergo_engine_write(&s->e, GRAPH_HITS, 8 * member, 8, &hit);
        transfer(s, member, &b, true);
        if (s->feedback.automatic)
            graph_write_ladders(s);
        status = ergo_engine_end(&s->e);
        s->e.step = step;
    }
    besides_free(&b);
    free(words);
    free(spins);
    return status;
}

enum ergo_status graph_form(struct ergo_context *ctx, const struct ergo_point *point,
                            struct ergo_form *form) {
    const struct graph_chains chains = graph_chains_of(point);
    struct graph_problem p = {0};
    const enum ergo_status status = graph_problem_of(ctx, point, &p);
    *form = (struct ergo_form){.bytes = chains.width * ergo_bits_bytes(p.n), .n_parts = 1};
    form->parts[0] = (struct ergo_form_part){
        .name = "spins",
        .axes = "chain vertex",
        .help = "1 up, 0 down; chains of a ladder temperature by temperature, the coldest first",
        .element = 1,
        .bits = p.n,
        .n_dims = 2,
        .shape = {chains.width, ergo_bits_bytes(p.n)}};
    graph_problem_free(&p);
    return status;
}

/* Spins of the chains; all else is as at any start. */
enum ergo_status graph_carry(struct ergo_context *ctx, void *state, size_t member,
                             const void *bytes, size_t length) {
    const struct graph_state *s = state;
    const struct parts parts = parts_of(s);
    struct ergo_text start = {0};
    if (length < parts.lowest && length != parts.spins)
        return ERGO_FAIL(ctx, ERGO_E_IO, "the saved state of member %zu has %zu bytes, not %zu",
                         member, length, parts.all);
    enum ergo_status status = graph_save(ctx, state, member, &start);
    if (status == ERGO_OK) {
        memcpy(start.data, bytes, parts.spins);
        status = graph_load(ctx, state, member, 0, start.data, start.length);
    }
    ergo_text_free(&start);
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
        to_vertices(s, words + (s->chains.width + k) * graph_row_words(s), bits);
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
