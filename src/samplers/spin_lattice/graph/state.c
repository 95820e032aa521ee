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
#include "base/bytes.h"
#include "samplers/spin_lattice/graph/graph.h"
#include "samplers/spin_lattice/graph/lowest.h"
#include "spin_lattice/graph.h"

static size_t width_if(const struct graph_state *s, bool there) {
    return there ? s->chains.width : 0;
}

static uint64_t number_at(const uint8_t *bytes, size_t i) {
    return ergo_bytes_get(bytes + 8 * i, 8);
}

/* ---- spins: bits of slots in `words`, bits of vertices in the canonical form ----------------- */

static void bits_of(const struct graph_state *s, struct ergo_extent *x) {
    x->bits = s->net.n;
    x->bytes = ergo_bits_bytes(s->net.n);
    x->raw = 4 * graph_row_words(s);
}

static void spins(const void *state, struct ergo_extent *x) {
    const struct graph_state *s = state;
    bits_of(s, x);
    x->rows = s->chains.width;
    x->axes = "chain vertex";
    x->help = "1 up, 0 down; chains of a ladder temperature by temperature, the coldest first";
    ergo_extent_shape(x, (const uint64_t[]){x->rows, x->bytes}, 2);
}

static void *words_of(void *state, size_t member) {
    (void)member;
    return ((struct graph_state *)state)->words;
}

static void take_spins(const struct ergo_field_row *r) {
    const struct graph_network *net = &((const struct graph_state *)r->state)->net;
    memset(r->bytes, 0, r->x->bytes);
    for (uint32_t v = 0; v < net->n; v++)
        r->bytes[v / 8] |= (uint8_t)(ergo_bits_get(r->raw, net->slot_of[v]) << v % 8);
}

static void put_spins(const struct ergo_field_row *r) {
    const struct graph_network *net = &((const struct graph_state *)r->state)->net;
    uint8_t *slots = r->raw;
    memset(slots, 0, r->x->raw);
    for (uint32_t v = 0; v < net->n; v++)
        slots[net->slot_of[v] / 8] |= (uint8_t)(ergo_bits_get(r->bytes, v) << net->slot_of[v] % 8);
}

/* ---- what a ladder and a population have besides --------------------------------------------- */

static void came(const void *state, struct ergo_extent *x) {
    const struct graph_state *s = state;
    ergo_extent_numbers(x, width_if(s, s->chains.rungs > 1), 1);
    x->wide = 4;
    x->below = 2;
}

static void moves(const void *state, struct ergo_extent *x) {
    const struct graph_state *s = state;
    ergo_extent_numbers(x, width_if(s, s->chains.rungs > 1), 8);
}

static bool moves_valid(const struct ergo_field_row *r) {
    bool right = true;
    for (size_t w = 0; w < r->x->bytes / 8; w++)
        right = right && number_at(r->bytes, w) <= r->step;
    return right;
}

static void families(const void *state, struct ergo_extent *x) {
    const struct graph_state *s = state;
    ergo_extent_numbers(x, width_if(s, s->chains.population), 4);
    x->below = s->chains.width;
}

static void totals(const void *state, struct ergo_extent *x) {
    ergo_extent_numbers(x, ((const struct graph_state *)state)->chains.population ? 2 : 0, 8);
}

static bool totals_valid(const struct ergo_field_row *r) {
    const uint64_t width = ((const struct graph_state *)r->state)->chains.width;
    const uint64_t weights = number_at(r->bytes, 0);
    const int64_t best = (int64_t)number_at(r->bytes, 1), most = INT64_C(1) << 60;
    return weights <= width << GRAPH_WEIGHT_BITS && (weights > 0) == (r->step > 0) && best < most &&
           best > -most;
}

static void temperatures(const void *state, struct ergo_extent *x) {
    ergo_extent_numbers(x, ergo_feedback_bytes(&((const struct graph_state *)state)->feedback) / 8,
                        8);
}

static void *ladder_of(void *state, size_t member) {
    const struct graph_state *s = state;
    return s->ladders + member * s->chains.rungs;
}

/* ---- the target, the lowest states ----------------------------------------------------------- */

static void number(const void *state, struct ergo_extent *x) {
    (void)state;
    ergo_extent_numbers(x, 1, 8);
}

static bool seen_valid(const struct ergo_field_row *r) {
    const uint64_t seen = number_at(r->bytes, 0);
    return seen == GRAPH_NEVER || seen <= r->step;
}

static void seen(const void *state, struct ergo_extent *x) {
    number(state, x);
    x->pieces = ((const struct graph_state *)state)->keep;
    x->raw = sizeof(struct graph_found);
}

static void take_seen(const struct ergo_field_row *r) {
    const struct graph_found *found = r->raw;
    const uint64_t step = found->sum == GRAPH_EMPTY ? GRAPH_NEVER : found->step;
    memcpy(r->bytes, &step, 8);
}

/* The configuration follows its sweep. The rest is what the device has measured of it. */
static void put_seen(const struct ergo_field_row *r) {
    const struct graph_network *net = &((const struct graph_state *)r->state)->net;
    const uint8_t *bits = r->bytes + 8;
    struct graph_found *found = r->raw;
    *found = (struct graph_found){0, 0, number_at(r->bytes, 0)};
    if (found->step == GRAPH_NEVER)
        *found = (struct graph_found){GRAPH_EMPTY, 0, 0};
    for (uint32_t v = 0; v < net->n && found->sum != GRAPH_EMPTY; v++) {
        const uint32_t slot = net->slot_of[v];
        int64_t both = 2 * (int64_t)net->fields[slot];
        for (uint32_t k = net->first[slot]; k < net->first[slot + 1]; k++)
            both += ergo_bits_get(bits, net->vertex_of[net->bonds[k].to]) ? net->bonds[k].j
                                                                          : -net->bonds[k].j;
        found->sum += ergo_bits_get(bits, v) ? both : -both;
        found->mark += ergo_bits_get(bits, v) ? graph_mark(slot) : 0;
    }
}

static void lowest(const void *state, struct ergo_extent *x) {
    bits_of(state, x);
    x->pieces = ((const struct graph_state *)state)->keep;
}

static void *lowest_of(void *state, size_t member) {
    const struct graph_state *s = state;
    (void)member;
    return s->words + s->chains.width * graph_row_words(s);
}

/* Where none was seen yet: of no meaning on the device, zero in the canonical form. */
static bool none_yet(const struct ergo_field_row *r) {
    return number_at(ergo_field_beside(r, GRAPH_FOUND), 0) == GRAPH_NEVER;
}

static void take_lowest(const struct ergo_field_row *r) {
    take_spins(r);
    if (none_yet(r))
        memset(r->bytes, 0, r->x->bytes);
}

static bool lowest_valid(const struct ergo_field_row *r) {
    bool zero = true;
    for (size_t i = 0; i < r->x->bytes; i++)
        zero = zero && r->bytes[i] == 0;
    return zero || !none_yet(r);
}

/* ---- states ---------------------------------------------------------------------------------- */

static const struct ergo_field field[] = {
    {ERGO_ON_HOST, "spins", spins, take_spins, put_spins, .host = words_of},
    {GRAPH_CAME, "walkers", .extent = came, .own = true},
    {GRAPH_MOVES, "exchanges", .extent = moves, .valid = moves_valid, .own = true},
    {GRAPH_FAMILIES_ROW, "families", .extent = families, .own = true},
    {GRAPH_TOTALS, "weights", .extent = totals, .valid = totals_valid, .own = true},
    {GRAPH_HITS, "times of the target", .extent = number, .valid = seen_valid, .own = true},
    {GRAPH_FOUND, "times of lowest states", seen, take_seen, put_seen, seen_valid, .own = true},
    {ERGO_ON_HOST, "lowest states", lowest, take_lowest, put_spins, lowest_valid, lowest_of,
     .beside = true, .own = true},
    {ERGO_ON_HOST, "temperatures", .extent = temperatures, .host = ladder_of,
     .valid = ergo_feedback_valid, .own = true},
};
const struct ergo_fields graph_fields = {.field = field,
                                         .n = sizeof field / sizeof *field,
                                         .saving = graph_pack,
                                         .loaded = graph_unpack};

enum ergo_status graph_form(struct ergo_context *ctx, const struct ergo_point *point,
                            struct ergo_form *form) {
    struct graph_state s = {.chains = graph_chains_of(point)};
    const enum ergo_status status = graph_problem_of(ctx, point, &s.problem);
    s.net.n = s.problem.n;
    ergo_fields_form(&graph_fields, &s, form);
    graph_problem_free(&s.problem);
    return status;
}

/* ---- for people ------------------------------------------------------------------------------ */

enum ergo_status graph_lowest_read(struct ergo_context *ctx, struct graph_state *s, size_t member,
                                   struct graph_lowest *low) {
    struct ergo_text text = {0};
    enum ergo_status status = ergo_fields_save(ctx, s, member, &text);
    *low = (struct graph_lowest){.bytes = ergo_bits_bytes(s->net.n), .state = text.data};
    low->states = calloc(s->keep, sizeof *low->states);
    if (status == ERGO_OK && !low->states)
        status = ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for the lowest states");
    if (status != ERGO_OK) {
        graph_lowest_free(low);
        return status;
    }
    const uint8_t *at = (const uint8_t *)text.data + text.length -
                        ergo_feedback_bytes(&s->feedback) - s->keep * (8 + low->bytes);
    low->hit = number_at(at - 8, 0);
    for (uint32_t k = 0; k < s->keep; k++, at += 8 + low->bytes)
        if (number_at(at, 0) != GRAPH_NEVER)
            low->states[low->count++] = (struct graph_lowest_state){
                graph_problem_energy(&s->problem, at + 8), number_at(at, 0), 0, at + 8};
    low->count = graph_lowest_unite(low->states, low->count, low->bytes);
    return ERGO_OK;
}

enum ergo_status graph_frame(struct ergo_context *ctx, void *state, size_t member,
                             struct ergo_text *text) {
    const struct graph_state *s = state;
    struct ergo_text saved = {0};
    const enum ergo_status status = ergo_fields_save(ctx, state, member, &saved);
    const uint8_t *bits = (const uint8_t *)saved.data;
    if (status == ERGO_OK) {
        ergo_text_append(text, "# energy %.15g\n", graph_problem_energy(&s->problem, bits));
        for (uint32_t v = 0; v < s->net.n; v++)
            ergo_text_append(text, "%u %d\n", v + s->problem.base, ergo_bits_get(bits, v) ? 1 : -1);
    }
    ergo_text_free(&saved);
    return status;
}
