/*
 * Spin glasses: exchanges of two temperatures of a ladder that lie on neighbouring ranks. Each
 * rank counts the energies of its own, both send them to the other, with the word that says whose
 * walkers come from the hot end, and both draw the same decision. Where any sample exchanges, the
 * lattice of that temperature and copy goes there and back, and each rank keeps of it the samples
 * that were to move. What else there is to exchange, devices do meanwhile.
 */
#include "spin_lattice/glass_params.h"

#include <stdlib.h>

#include "common/rng.h"
#include "dist/dist.h"
#include "samplers/spin_lattice/spin_glass/glass.h"

enum { COLD, HOT, SIDES }; /* the neighbour is colder; hotter */
enum { TAG_LOOK = ERGO_DIST_TAGS, TAG_SPINS };
enum { LOOK = 33 }; /* of an entry (a word-lattice and a copy): energies and a word */

struct end {
    bool there;
    unsigned side; /* of its buffers */
    int peer;
    uint32_t slot, t;         /* slot of its first copy; the colder one of both temperatures */
    float *slopes;            /* [members] */
    int64_t *own, *theirs;    /* [entries][LOOK] */
    cl_uint4 *swap;           /* [entries] */
    uint32_t *entry, count;   /* entries with an exchange */
    uint32_t *away, *arrived; /* [count][sites] */
};

struct glass_border {
    struct ergo_dist_posts *posts;
    struct end end[SIDES];
};

static bool is_there(const struct glass_shape *h, unsigned side) {
    return !h->idle && (side == COLD ? h->rung > 0 : h->rung + h->temperatures < h->rungs);
}

/* Temperature t of the ladder and t + 1 are tried at exchanges of t's parity. */
static bool is_due(const struct end *e, uint32_t parity) {
    return e->there && e->t % 2 == parity;
}

bool glass_border_due(const struct glass_state *s, uint32_t parity) {
    return s->border &&
           (is_due(&s->border->end[COLD], parity) || is_due(&s->border->end[HOT], parity));
}

static size_t entries_of(const struct glass_state *s) {
    return glass_lattices(s) * s->shape.copies;
}

static size_t look_bytes(const struct glass_state *s) {
    return 8 * LOOK * entries_of(s);
}

static size_t spins_bytes(const struct glass_state *s, size_t entries) {
    return 4 * entries * s->shape.sites;
}

/* ---- create ---------------------------------------------------------------------------------- */

void glass_border_declare(struct glass_state *s, const char *options) {
    static const char *const path = "spin_lattice/glass_border.cl";
    struct ergo_engine *e = &s->e;
    const size_t entries = entries_of(s), spins = spins_bytes(s, entries);
    bool any = false;
    for (unsigned side = 0; side < SIDES; side++) {
        if (!is_there(&s->shape, side))
            continue;
        any = true;
        ergo_engine_buffer(e, GLASS_END_LOOK + side, "energies at an end", ERGO_BUFFER_SCRATCH,
                           look_bytes(s));
        ergo_engine_buffer(e, GLASS_END_SWAPS + side, "exchanges at an end", ERGO_BUFFER_SCRATCH,
                           entries * sizeof(cl_uint4));
        ergo_engine_buffer(e, GLASS_END_LIST + side, "lattices that exchange", ERGO_BUFFER_SCRATCH,
                           4 * entries);
        ergo_engine_buffer(e, GLASS_END_SPINS + side, "spins at an end", ERGO_BUFFER_SCRATCH,
                           spins);
        e->plan.host_bytes += 2 * (look_bytes(s) + spins) + entries * (sizeof(cl_uint4) + 4);
    }
    if (!any)
        return;
    ergo_engine_kernel(e, GLASS_BORDER_ENERGIES, path, options, "glass_border_energies");
    ergo_engine_kernel(e, GLASS_BORDER_RECORD, path, options, "glass_border_record");
    ergo_engine_kernel(e, GLASS_BORDER_PACK, path, options, "glass_border_pack");
    ergo_engine_kernel(e, GLASS_BORDER_MERGE, path, options, "glass_border_merge");
}

void glass_border_destroy(struct glass_border *border) {
    if (!border)
        return;
    for (unsigned side = 0; side < SIDES; side++) {
        struct end *e = &border->end[side];
        void *const rooms[] = {e->slopes, e->own,  e->theirs, e->swap,
                               e->entry,  e->away, e->arrived};
        for (size_t b = 0; b < sizeof rooms / sizeof rooms[0]; b++)
            free(rooms[b]);
    }
    ergo_dist_posts_destroy(border->posts);
    free(border);
}

static bool create_end(const struct glass_state *s, struct end *e, unsigned side) {
    const struct glass_shape *h = &s->shape;
    const size_t members = s->e.batch->count, entries = entries_of(s);
    e->there = is_there(h, side);
    if (!e->there)
        return true;
    e->side = side;
    e->peer = ergo_ranks_rank() + (side == COLD ? -1 : 1);
    e->slot = side == COLD ? 0 : h->slots - h->copies;
    e->t = side == COLD ? h->rung - 1 : h->rung + h->temperatures - 1;
    e->slopes = malloc(members * sizeof *e->slopes);
    e->own = malloc(look_bytes(s));
    e->theirs = malloc(look_bytes(s));
    e->swap = malloc(entries * sizeof *e->swap);
    e->entry = malloc(entries * sizeof *e->entry);
    e->away = malloc(spins_bytes(s, entries));
    e->arrived = malloc(spins_bytes(s, entries));
    return e->slopes && e->own && e->theirs && e->swap && e->entry && e->away && e->arrived;
}

void glass_border_heat(struct glass_state *s) {
    const uint32_t rungs = s->shape.rungs;
    for (unsigned side = 0; s->border && side < SIDES; side++) {
        struct end *e = &s->border->end[side];
        for (size_t m = 0; m < s->e.batch->count && e->there; m++)
            e->slopes[m] =
                glass_slope(s->e.batch->points[m], &s->shape, s->ladders + m * rungs, e->t);
    }
}

enum ergo_status glass_border_create(struct ergo_context *ctx, struct glass_state *s) {
    if (!is_there(&s->shape, COLD) && !is_there(&s->shape, HOT))
        return ERGO_OK;
    struct glass_border *border = s->border = calloc(1, sizeof *border);
    if (border)
        border->posts = ergo_dist_posts_create();
    if (!border || !border->posts || !create_end(s, &border->end[COLD], COLD) ||
        !create_end(s, &border->end[HOT], HOT))
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for exchanges between ranks");
    glass_border_heat(s);
    return ERGO_OK;
}

/* ---- decisions ------------------------------------------------------------------------------- */

/* Which samples of word-lattice `word` exchange temperatures t and t + 1 of the ladder. */
static uint32_t samples_that_exchange(const struct glass_shape *s, const uint32_t key[2],
                                      float slope, const int64_t *cold, const int64_t *hot,
                                      uint32_t word, uint64_t step, uint32_t t, uint32_t copy) {
    uint32_t mask = 0;
    const uint32_t draws = ERGO_DRAW(GLASS_PURPOSE_SWAP, t * s->copies + copy);
    for (uint32_t bit = 0; bit < 32; bit++)
        mask |= ergo_ladder_decides(hot[bit] - cold[bit], slope, 32 * word + bit, step, draws,
                                    key[0], key[1])
                << bit;
    return mask & glass_lanes(s, word);
}

/* An entry's samples that exchange, `from_hot` here from then on, samples whose exchanges and round
 * trips are to be counted: on the colder one's rank. */
static cl_uint4 decide(const struct glass_state *s, const struct end *e, size_t entry,
                       uint64_t step, const int64_t *own, const int64_t *theirs) {
    const struct glass_shape *h = &s->shape;
    const size_t member = entry / h->copies / h->words;
    const uint32_t copy = (uint32_t)(entry % h->copies);
    const uint32_t word = h->first + (uint32_t)(entry / h->copies % h->words);
    const struct ergo_point *point = s->e.batch->points[member];
    const uint32_t key[2] = {(uint32_t)point->stream, (uint32_t)(point->stream >> 32)};
    const bool colder = e->t >= h->rung;
    const int64_t *cold = colder ? own : theirs, *hot = colder ? theirs : own;
    uint32_t from = (uint32_t)cold[LOOK - 1], to = (uint32_t)hot[LOOK - 1];
    const uint32_t mask =
        samples_that_exchange(h, key, e->slopes[member], cold, hot, word, step, e->t, copy);
    const uint32_t arrived =
        ergo_ladder_walk(&from, &to, mask, glass_lanes(h, word), e->t, h->rungs);
    return (cl_uint4){{mask, colder ? from : to, colder ? mask : 0, colder ? arrived : 0}};
}

/* ---- on the device --------------------------------------------------------------------------- */

static struct ergo_grid grid_of(const struct glass_state *s, size_t items, size_t entries) {
    return ergo_grid_items(items, s->launch.site_group, entries);
}

void glass_border_begin(struct glass_state *s, uint32_t parity) {
    const size_t entries = entries_of(s);
    for (struct end *e = s->border->end; e < s->border->end + SIDES; e++) {
        if (!is_due(e, parity))
            continue;
        ERGO_LAUNCH(&s->e, GLASS_BORDER_ENERGIES, grid_of(s, 32 * entries, 1),
                    BUFFER(GLASS_ENERGIES), BUFFER(GLASS_FROM_HOT),
                    BUFFER(GLASS_END_LOOK + e->side), U32(s->launch.parts), U32(e->slot),
                    U32(entries));
        ergo_engine_fetch(&s->e, GLASS_END_LOOK + e->side, 0, look_bytes(s), e->own);
    }
}

/* Both ranks' decisions; configurations that exchange are on their way to the host. */
static void decide_all(struct glass_state *s, struct end *e, uint64_t step) {
    const size_t entries = entries_of(s);
    e->count = 0;
    for (size_t i = 0; i < entries; i++) {
        e->swap[i] = decide(s, e, i, step, e->own + i * LOOK, e->theirs + i * LOOK);
        if (e->swap[i].s[0])
            e->entry[e->count++] = (uint32_t)i;
    }
    ergo_engine_write(&s->e, GLASS_END_SWAPS + e->side, 0, entries * sizeof *e->swap, e->swap);
    ERGO_LAUNCH(&s->e, GLASS_BORDER_RECORD, grid_of(s, entries, 1),
                BUFFER(GLASS_END_SWAPS + e->side), BUFFER(GLASS_FROM_HOT), BUFFER(GLASS_ACCEPTED),
                BUFFER(GLASS_ROUND_TRIPS), BUFFER(GLASS_MOVED), U32(e->slot), U32(entries));
    if (!e->count)
        return;
    ergo_engine_write(&s->e, GLASS_END_LIST + e->side, 0, (size_t)4 * e->count, e->entry);
    ERGO_LAUNCH(&s->e, GLASS_BORDER_PACK, grid_of(s, s->shape.sites, e->count), BUFFER(GLASS_SPINS),
                BUFFER(GLASS_END_LIST + e->side), BUFFER(GLASS_END_SPINS + e->side), U32(e->slot));
    ergo_engine_fetch(&s->e, GLASS_END_SPINS + e->side, 0, spins_bytes(s, e->count), e->away);
}

static void merge(struct glass_state *s, const struct end *e) {
    ergo_engine_write(&s->e, GLASS_END_SPINS + e->side, 0, spins_bytes(s, e->count), e->arrived);
    ERGO_LAUNCH(&s->e, GLASS_BORDER_MERGE, grid_of(s, s->shape.sites, e->count),
                BUFFER(GLASS_SPINS), BUFFER(GLASS_END_LIST + e->side),
                BUFFER(GLASS_END_SPINS + e->side), BUFFER(GLASS_END_SWAPS + e->side), U32(e->slot));
}

/* ---- exchanges ------------------------------------------------------------------------------- */

/* What has been fetched of the ends that are due goes to their peers, and theirs comes: spins, or
 * energies. */
static void swap_with_peers(struct glass_state *s, uint32_t parity, bool spins) {
    struct ergo_dist_posts *posts = s->border->posts;
    struct ergo_context *ctx = s->e.ctx;
    for (struct end *e = s->border->end; e < s->border->end + SIDES; e++) {
        const size_t bytes = spins ? spins_bytes(s, e->count) : look_bytes(s);
        const int tag = spins ? TAG_SPINS : TAG_LOOK;
        if (!is_due(e, parity) || (spins && !e->count) || s->e.status != ERGO_OK)
            continue;
        ergo_engine_note(
            &s->e, ergo_dist_post_receive(ctx, posts, e->peer, tag,
                                          spins ? (void *)e->arrived : (void *)e->theirs, bytes));
        ergo_engine_await(&s->e, (spins ? GLASS_END_SPINS : GLASS_END_LOOK) + e->side);
        if (s->e.status == ERGO_OK)
            s->e.status = ergo_dist_post_send(ctx, posts, e->peer, tag,
                                              spins ? (void *)e->away : (void *)e->own, bytes);
    }
    if (s->e.status == ERGO_OK)
        ergo_dist_posts_wait(posts);
}

void glass_border_finish(struct glass_state *s, uint64_t step, uint32_t parity) {
    struct end *const begin = s->border->end, *const end = begin + SIDES;
    swap_with_peers(s, parity, false);
    for (struct end *e = begin; e < end && s->e.status == ERGO_OK; e++)
        if (is_due(e, parity))
            decide_all(s, e, step);
    swap_with_peers(s, parity, true);
    for (struct end *e = begin; e < end; e++)
        if (is_due(e, parity) && e->count)
            merge(s, e);
}
