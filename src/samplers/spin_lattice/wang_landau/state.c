/*
 * Wang-Landau walks: states. Canonical: of each walker of each estimate spins as bits in the order
 * of vertices; then of each estimate ln g of the levels, 8 bytes each, in units of 2^-32, visits in
 * this epoch and (with the highest bit: the level was ever visited) since ln f was changed, 4 bytes
 * each, ln f, 8 bytes, and whether it is 1/t, a byte.
 */
#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "base/bytes.h"
#include "samplers/spin_lattice/models.h"
#include "samplers/spin_lattice/wang_landau/walk.h"

bool walk_estimate_create(const struct walk_state *s, struct walk_estimate *a) {
    const size_t walkers = s->shape.walkers, levels = (size_t)s->graph.levels.count;
    *a = (struct walk_estimate){.spins = calloc(walkers * walk_words_of(s), sizeof *a->spins),
                                .at = calloc(walkers, sizeof *a->at),
                                .ln_g = calloc(levels, sizeof *a->ln_g),
                                .counts = calloc(levels, sizeof *a->counts),
                                .visited = calloc(levels, sizeof *a->visited)};
    return a->spins && a->at && a->ln_g && a->counts && a->visited;
}

void walk_estimate_free(struct walk_estimate *a) {
    free(a->spins);
    free(a->at);
    free(a->ln_g);
    free(a->counts);
    free(a->visited);
}

static void transfer(struct walk_state *s, size_t e, const struct walk_estimate *a, bool write) {
    const size_t walkers = s->shape.walkers, levels = (size_t)s->graph.levels.count;
    const struct {
        unsigned row;
        size_t bytes;
        void *data;
    } parts[] = {{WALK_SPINS, 4 * walkers * walk_words_of(s), a->spins},
                 {WALK_AT, 4 * walkers, a->at},
                 {WALK_LN_G, 8 * levels, a->ln_g},
                 {WALK_COUNTS, 4 * levels, a->counts},
                 {WALK_VISITED, 4 * levels, a->visited}};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        if (write)
            ergo_engine_write(&s->e, parts[i].row, e * parts[i].bytes, parts[i].bytes,
                              parts[i].data);
        else
            ergo_engine_read(&s->e, parts[i].row, e * parts[i].bytes, parts[i].bytes,
                             parts[i].data);
}

void walk_read(struct walk_state *s, size_t e, struct walk_estimate *a) {
    transfer(s, e, a, false);
    ergo_engine_read(&s->e, WALK_STATUS, e * sizeof a->status, sizeof a->status, &a->status);
}

void walk_write(struct walk_state *s, size_t e, const struct walk_estimate *a) {
    transfer(s, e, a, true);
    ergo_engine_write(&s->e, WALK_STATUS, e * sizeof a->status, sizeof a->status, &a->status);
}

/* ---- starts, levels ----------------------------------------------------------------------------
 */

static uint32_t is_up(const struct walk_state *s, const struct walk_estimate *a, uint32_t vertex,
                      uint32_t walker) {
    return a->spins[(size_t)(vertex / 32) * s->shape.walkers + walker] >> vertex % 32 & 1;
}

/* The field on a vertex, and what its neighbours add. */
static int32_t force_on(const struct walk_state *s, const struct walk_estimate *a, uint32_t vertex,
                        uint32_t walker) {
    const struct walk_graph *g = &s->graph;
    int32_t force = g->fields[vertex];
    for (uint32_t b = g->first[vertex]; b < g->first[vertex + 1]; b++)
        force += is_up(s, a, g->bonds[b].to, walker) ? g->bonds[b].j : -g->bonds[b].j;
    return force;
}

/* Levels from spins; false: one that cannot be. */
static bool find_levels(const struct walk_state *s, struct walk_estimate *a) {
    const struct walk_levels *levels = &s->graph.levels;
    for (uint32_t k = 0; k < s->shape.walkers; k++) {
        int64_t e = 0;
        for (uint32_t v = 0; v < s->graph.n; v++) {
            const int64_t both = (int64_t)force_on(s, a, v, k) + s->graph.fields[v];
            e += is_up(s, a, v, k) ? -both : both;
        }
        const int64_t above = e - levels->low, step = 4 * (int64_t)levels->step;
        if (above < 0 || above % step || (uint64_t)(above / step) >= levels->count)
            return false;
        a->at[k] = (uint32_t)(above / step);
    }
    return true;
}

void walk_start(const struct walk_state *s, const struct walk_member *member, uint32_t own,
                unsigned mode, struct walk_estimate *a) {
    const uint32_t walkers = s->shape.walkers, n = s->graph.n;
    const size_t words = walk_words_of(s), levels = s->graph.levels.count;
    for (size_t w = 0; w < words; w++)
        for (uint32_t k = 0; k < walkers; k++) {
            const struct ergo_words r = walk_words((uint32_t)w, 0, WALK_PURPOSE_START,
                                                   own * walkers + k, member->key0, member->key1);
            const uint32_t bits = n - 32 * w < 32 ? (1u << (n - 32 * w)) - 1 : UINT32_MAX;
            a->spins[w * walkers + k] = bits & (mode == 2 ? r.x : mode ? UINT32_MAX : 0);
        }
    memset(a->ln_g, 0, levels * sizeof *a->ln_g);
    memset(a->counts, 0, levels * sizeof *a->counts);
    memset(a->visited, 0, levels * sizeof *a->visited);
    a->status = (struct walk_status){WALK_ONE, 0, 0};
    find_levels(s, a);
}

/* ---- fields ---------------------------------------------------------------------------------- */

static void spins(const void *state, struct ergo_extent *x) {
    const struct walk_state *s = state;
    const size_t bytes = ergo_bits_bytes(s->graph.n), walkers = s->shape.walkers;
    x->pieces = s->shape.estimates;
    x->rows = walkers;
    x->bytes = bytes;
    x->bits = s->graph.n;
    x->whole = 4 * walkers * walk_words_of(s);
    x->axes = "chain vertex";
    x->help = "1 up, 0 down; walkers of an estimate one after the other";
    ergo_extent_shape(x, (const uint64_t[]){walkers * s->shape.estimates, bytes}, 2);
}

/* A walker's words are `walkers` apart. */
static void take_spins(const struct ergo_field_row *r) {
    const uint32_t *from = (const uint32_t *)r->raw + r->row;
    for (size_t i = 0; i < r->x->bytes; i++)
        r->bytes[i] = (uint8_t)(from[i / 4 * r->x->rows] >> 8 * (i % 4));
}

static void put_spins(const struct ergo_field_row *r) {
    uint32_t *to = (uint32_t *)r->raw + r->row;
    for (size_t i = 0; i < r->x->bytes; i++)
        to[i / 4 * r->x->rows] |= (uint32_t)r->bytes[i] << 8 * (i % 4);
}

static void levels(const void *state, struct ergo_extent *x, size_t element) {
    const struct walk_state *s = state;
    ergo_extent_numbers(x, (size_t)s->graph.levels.count, element);
    x->pieces = s->shape.estimates;
}

static void ln_g(const void *state, struct ergo_extent *x) {
    levels(state, x, 8);
    x->below = WALK_MOST + UINT64_C(1);
}

static void counts(const void *state, struct ergo_extent *x) {
    levels(state, x, 4);
}

static bool counts_valid(const struct ergo_field_row *r) {
    const struct walk_state *s = r->state;
    uint64_t counted = 0;
    for (size_t i = 0; i < r->x->bytes; i += 4)
        counted += ergo_bytes_get(r->bytes + i, 4);
    return counted <= (uint64_t)s->shape.check * s->graph.n * s->shape.walkers; /* an epoch's */
}

static bool visited_valid(const struct ergo_field_row *r) {
    const uint8_t *ln_g = ergo_field_beside(r, WALK_LN_G);
    bool good = true;
    for (size_t i = 0; i < r->x->bytes / 4; i++) {
        const uint32_t visited = (uint32_t)ergo_bytes_get(r->bytes + 4 * i, 4);
        const bool seen = visited & WALK_SEEN;
        good = good && (seen || ergo_bytes_get(ln_g + 8 * i, 8) == 0) &&
               (visited & WALK_VISITS) <= (seen ? WALK_VISITS_MOST : 0);
    }
    return good;
}

/* ln f, and whether it is 1/t. */
static void status(const void *state, struct ergo_extent *x) {
    x->pieces = ((const struct walk_state *)state)->shape.estimates;
    x->bytes = 9;
    x->raw = WALK_STATUS_BYTES;
}

static void take_status(const struct ergo_field_row *r) {
    const struct walk_status *from = r->raw;
    memcpy(r->bytes, &from->f, 8);
    r->bytes[8] = (uint8_t)from->inverse;
}

static void put_status(const struct ergo_field_row *r) {
    struct walk_status *to = r->raw;
    memcpy(&to->f, r->bytes, 8);
    to->inverse = r->bytes[8];
}

static bool status_valid(const struct ergo_field_row *r) {
    const uint64_t f = ergo_bytes_get(r->bytes, 8);
    return f > 0 && f <= WALK_ONE && r->bytes[8] < 2;
}

/* Levels follow from spins, and how many were visited. */
static void loaded(void *state, size_t member) {
    struct walk_state *s = state;
    struct walk_estimate a;
    if (!walk_estimate_create(s, &a))
        ERGO_ENGINE_FAIL(&s->e, ERGO_E_MEMORY, "no memory for a state");
    for (size_t i = 0; i < s->shape.estimates && ergo_engine_end(&s->e) == ERGO_OK; i++) {
        walk_read(s, member * s->shape.estimates + i, &a);
        if (ergo_engine_end(&s->e) == ERGO_OK && !find_levels(s, &a))
            ERGO_ENGINE_FAIL(&s->e, ERGO_E_IO,
                             "the saved state of member %zu is damaged: its spins have an energy "
                             "that none can have",
                             member);
        a.status.levels = 0;
        for (size_t k = 0; k < (size_t)s->graph.levels.count; k++)
            a.status.levels += (a.visited[k] & WALK_SEEN) != 0;
        walk_write(s, member * s->shape.estimates + i, &a);
    }
    walk_estimate_free(&a);
}

static const struct ergo_field field[] = {
    {WALK_SPINS, "spins", .extent = spins, .take = take_spins, .put = put_spins},
    {WALK_LN_G, "ln g", .extent = ln_g, .own = true},
    {WALK_COUNTS, "visits of the epoch", .extent = counts, .valid = counts_valid, .beside = true},
    {WALK_VISITED, "visits", .extent = counts, .valid = visited_valid, .beside = true},
    {WALK_STATUS, "ln f", .extent = status, .take = take_status, .put = put_status,
     .valid = status_valid, .beside = true},
};
const struct ergo_fields walk_fields = {
    .field = field, .n = sizeof field / sizeof *field, .loaded = loaded};

enum ergo_status walk_form(struct ergo_context *ctx, const struct ergo_point *point,
                           struct ergo_form *form) {
    struct walk_state s = {.shape = walk_shape_of(point)};
    const enum ergo_status status = walk_graph_of(ctx, point, &s.graph);
    ergo_fields_form(&walk_fields, &s, form);
    walk_graph_free(&s.graph);
    return status;
}
