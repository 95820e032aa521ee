/*
 * Wang-Landau walks: states. Canonical: of each walker of each estimate spins as bits in the order
 * of vertices; then of each estimate ln g of the levels, 8 bytes each, in units of 2^-32, visits in
 * this epoch and (with the highest bit: the level was ever visited) since ln f was changed, 4 bytes
 * each, ln f, 8 bytes, and whether it is 1/t, a byte.
 */
#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
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

/* ---- canonical ------------------------------------------------------------------------------- */

/* Bytes of a walker's spins, of an estimate's, of what it has besides, of a member. */
static size_t one_of(const struct walk_state *s) {
    return ergo_bits_bytes(s->graph.n);
}

static size_t all_spins(const struct walk_state *s) {
    return one_of(s) * s->shape.walkers * s->shape.estimates;
}

static size_t besides(const struct walk_state *s) {
    return 16 * (size_t)s->graph.levels.count + 9;
}

static size_t bytes_of(const struct walk_state *s) {
    return all_spins(s) + s->shape.estimates * besides(s);
}

static enum ergo_status no_memory(struct ergo_context *ctx) {
    return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for a state");
}

static void put_estimate(const struct walk_state *s, const struct walk_estimate *a, uint8_t *spins,
                         uint8_t *rest) {
    const size_t walkers = s->shape.walkers, levels = (size_t)s->graph.levels.count;
    for (size_t k = 0; k < walkers; k++)
        for (size_t i = 0; i < one_of(s); i++)
            spins[k * one_of(s) + i] = (uint8_t)(a->spins[i / 4 * walkers + k] >> 8 * (i % 4));
    memcpy(rest, a->ln_g, 8 * levels);
    memcpy(rest + 8 * levels, a->counts, 4 * levels);
    memcpy(rest + 12 * levels, a->visited, 4 * levels);
    memcpy(rest + 16 * levels, &a->status.f, 8);
    rest[16 * levels + 8] = (uint8_t)a->status.inverse;
}

/* false: no state. moves: of all walkers in an epoch. */
static bool take_estimate(const struct walk_state *s, const uint8_t *spins, const uint8_t *rest,
                          uint64_t moves, struct walk_estimate *a) {
    const size_t walkers = s->shape.walkers, levels = (size_t)s->graph.levels.count;
    uint64_t counted = 0;
    bool good = true;
    memset(a->spins, 0, 4 * walkers * walk_words_of(s));
    for (size_t k = 0; k < walkers; k++) {
        good = good && ergo_bits_clean(spins + k * one_of(s), s->graph.n);
        for (size_t i = 0; i < one_of(s); i++)
            a->spins[i / 4 * walkers + k] |= (uint32_t)spins[k * one_of(s) + i] << 8 * (i % 4);
    }
    memcpy(a->ln_g, rest, 8 * levels);
    memcpy(a->counts, rest + 8 * levels, 4 * levels);
    memcpy(a->visited, rest + 12 * levels, 4 * levels);
    a->status = (struct walk_status){0, 0, rest[16 * levels + 8]};
    memcpy(&a->status.f, rest + 16 * levels, 8);
    for (size_t i = 0; i < levels; i++) {
        const bool seen = a->visited[i] & WALK_SEEN;
        a->status.levels += seen;
        counted += a->counts[i];
        good = good && a->ln_g[i] >= 0 && a->ln_g[i] <= WALK_MOST && (seen || a->ln_g[i] == 0) &&
               (a->visited[i] & WALK_VISITS) <= (seen ? WALK_VISITS_MOST : 0);
    }
    return good && counted <= moves && a->status.f > 0 && a->status.f <= WALK_ONE &&
           a->status.inverse < 2 && find_levels(s, a);
}

enum ergo_status walk_save(struct ergo_context *ctx, void *state, size_t member,
                           struct ergo_text *text) {
    struct walk_state *s = state;
    uint8_t *out = calloc(bytes_of(s), 1);
    struct walk_estimate a;
    const bool room = walk_estimate_create(s, &a);
    enum ergo_status status = out && room ? ergo_device_finish(ctx, s->e.device) : no_memory(ctx);
    if (status == ERGO_OK) {
        ergo_engine_begin(&s->e, ctx);
        for (size_t i = 0; i < s->shape.estimates; i++) {
            walk_read(s, member * s->shape.estimates + i, &a);
            put_estimate(s, &a, out + i * s->shape.walkers * one_of(s),
                         out + all_spins(s) + i * besides(s));
        }
        status = ergo_engine_end(&s->e);
    }
    if (status == ERGO_OK) {
        ergo_text_append_bytes(text, out, bytes_of(s));
        if (text->failed)
            status = no_memory(ctx);
    }
    walk_estimate_free(&a);
    free(out);
    return status;
}

enum ergo_status walk_load(struct ergo_context *ctx, void *state, size_t member, uint64_t step,
                           const void *bytes, size_t length) {
    struct walk_state *s = state;
    const uint8_t *from = bytes;
    const uint64_t moves = (uint64_t)s->shape.check * s->graph.n * s->shape.walkers;
    struct walk_estimate a;
    bool good = true;
    if (length != bytes_of(s))
        return ERGO_FAIL(ctx, ERGO_E_IO, "the saved state of member %zu has %zu bytes, not %zu",
                         member, length, bytes_of(s));
    const bool room = walk_estimate_create(s, &a);
    enum ergo_status status = room ? ergo_device_finish(ctx, s->e.device) : no_memory(ctx);
    ergo_engine_begin(&s->e, ctx);
    for (size_t i = 0; i < s->shape.estimates && status == ERGO_OK; i++) {
        good = good && take_estimate(s, from + i * s->shape.walkers * one_of(s),
                                     from + all_spins(s) + i * besides(s), moves, &a);
        if (good)
            walk_write(s, member * s->shape.estimates + i, &a);
    }
    if (status == ERGO_OK && !good)
        status = ERGO_FAIL(ctx, ERGO_E_IO,
                           "the saved state of member %zu is damaged: bits beyond its spins, or "
                           "ln g, visits or ln f that cannot be",
                           member);
    if (status == ERGO_OK) {
        status = ergo_engine_end(&s->e);
        s->e.step = step;
    }
    walk_estimate_free(&a);
    return status;
}

/* Spins of the walkers; all else is as at any start. */
enum ergo_status walk_carry(struct ergo_context *ctx, void *state, size_t member, const void *bytes,
                            size_t length) {
    const struct walk_state *s = state;
    struct ergo_text start = {0};
    if (length < all_spins(s))
        return ERGO_FAIL(ctx, ERGO_E_IO, "the saved state of member %zu has %zu bytes, not %zu",
                         member, length, bytes_of(s));
    enum ergo_status status = walk_save(ctx, state, member, &start);
    if (status == ERGO_OK) {
        memcpy(start.data, bytes, all_spins(s));
        status = walk_load(ctx, state, member, 0, start.data, start.length);
    }
    ergo_text_free(&start);
    return status;
}

enum ergo_status walk_form(struct ergo_context *ctx, const struct ergo_point *point,
                           struct ergo_form *form) {
    const struct walk_shape shape = walk_shape_of(point);
    const size_t chains = (size_t)shape.walkers * shape.estimates;
    struct walk_graph g = {0};
    const enum ergo_status status = walk_graph_of(ctx, point, &g);
    *form = (struct ergo_form){.bytes = chains * ergo_bits_bytes(g.n), .n_parts = 1};
    form->parts[0] = (struct ergo_form_part){.name = "spins",
                                             .axes = "chain vertex",
                                             .help = "1 up, 0 down; walkers of an estimate one "
                                                     "after the other",
                                             .element = 1,
                                             .bits = g.n,
                                             .n_dims = 2,
                                             .shape = {chains, ergo_bits_bytes(g.n)}};
    walk_graph_free(&g);
    return status;
}
