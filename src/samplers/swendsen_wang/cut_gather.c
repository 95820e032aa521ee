/*
 * Clusters across ranks on the devices: each rank's pairs of parts go to all, and every device
 * joins them for itself (cl/swendsen_wang/cut_pairs.cl, cut_gather.cl). The hosts only carry
 * messages. For sweeps without measurement: ways around the lattice and sizes are known to the tree
 * alone.
 *
 * What neighbours tell each other, spins and parts in tiles on common edges, is known before a
 * device joins its tiles, and travels meanwhile. So a device waits for hosts once in a sweep: until
 * all pairs are there.
 */
#include <stdlib.h>
#include <string.h>

#include "samplers/swendsen_wang/cut.h"

/* Whose parts a pair can name: of one rank below, three on the right, and this one. */
enum { NEIGHBOURS = 5, HERE = 4, PAIR_BYTES = 8 };

static uint64_t entries_of(const struct ergo_rectangle *p) {
    return 32ull * p->words + p->rows;
}

static uint64_t most_entries(const struct ergo_layout *l) {
    uint64_t most = 0;
    for (int r = 0; r < l->ranks; r++)
        if (entries_of(&l->rectangles[r]) > most)
            most = entries_of(&l->rectangles[r]);
    return most;
}

static uint64_t most_words(const struct ergo_layout *l) {
    uint64_t most = 0;
    for (int r = 0; r < l->ranks; r++)
        if (ergo_rectangle_words(&l->rectangles[r]) > most)
            most = ergo_rectangle_words(&l->rectangles[r]);
    return most;
}

/* Places for a rank's parts on its edges and their roots: one for each entry of both edges, and a
 * root for each of the upper and left one, at the most. */
static uint32_t slots_of(const struct ergo_layout *l) {
    return ergo_power_of_two_up(4 * most_entries(l), 64, 1u << 31);
}

/* Ranks below and on the right; false: more than a pair can name. */
static bool neighbours_of(const struct ergo_layout *l, int rank, struct ergo_link *beside,
                          uint32_t *neighbours) {
    size_t n = 0;
    ergo_layout_beside(l, rank, true, beside, &n);
    neighbours[0] = (uint32_t)ergo_layout_below(l, rank).rank;
    for (size_t k = 0; k < n && k + 1 < HERE; k++)
        neighbours[1 + k] = (uint32_t)beside[k].rank;
    neighbours[HERE] = (uint32_t)rank;
    return n + 1 <= HERE;
}

/*
 * What joining costs a sweep of a single chain, in microseconds, beside what both ways cost: as
 * measured on H200s and H100s and their hosts, and between hosts 3 us a message (bench/NOTES.md).
 * All pairs of all ranks cost each device 0.001 us a site of their edges. Bridges and rounds cost a
 * host 0.02 us a site of its own edge. Most of that comes while devices label, 5 us for 2^20 sites,
 * and of the rest with its messages, one after the other, 0.7 while they draw (counted, not yet
 * measured).
 */
static double gather_costs(const struct ergo_layout *l) {
    return 0.001 * (l->ranks - 1) * (double)most_entries(l);
}

static double rounds_cost(const struct ergo_layout *l) {
    const double edge = (double)most_entries(l), sites = 32 * (double)most_words(l) / 1048576;
    int steps = 0;
    for (int reached = 1; reached < l->ranks; reached *= SW_JOINING_FAN)
        steps++;
    const double early = 0.012 * edge - 5 * sites;
    const double late =
        0.008 * edge + 3.0 * (steps + (int)sw_joining_rounds(l->ranks)) - 0.7 * sites;
    return (early > 0 ? early : 0) + (late > 0 ? late : 0) + 3;
}

bool sw_gather_wanted(const struct sw_cut *s, const char *merge) {
    const struct ergo_layout *l = &s->layout;
    /* Ranks of 6 and 2 cores of a Xeon (PoCL 5.0): 2048 x 2048 sites 18.5 ms a sweep by gather
     * and 16.6 by rounds, 8192 x 8192 sites 285 and 263. */
    bool wanted =
        strcmp(merge, "gather") == 0 || (strcmp(merge, "auto") == 0 && !s->in_flight &&
                                         !s->of_cpus && gather_costs(l) <= rounds_cost(l));
    struct ergo_link *beside = calloc((size_t)l->ranks, sizeof *beside);
    uint32_t neighbours[NEIGHBOURS];
    wanted = wanted && beside && (uint64_t)l->ranks * 4 * most_entries(l) < UINT64_C(1) << 30;
    for (int r = 0; r < l->ranks && wanted; r++)
        wanted = neighbours_of(l, r, beside, neighbours) &&
                 ergo_rectangle_words(&l->rectangles[r]) <= UINT64_C(1)
                                                                << 25; /* two bits of a part's */
    free(beside);
    return wanted;
}

/* Bytes of parts and states on an edge: near and far (cut_pairs.cl). */
static size_t edge_bytes(uint64_t entries) {
    return 5 * (size_t)entries;
}

/* A rank's part of the memory that ranks of one host share: what is near on its first row and
 * column, then the number of its pairs, and these. */
static size_t shared_near_bytes(const struct ergo_layout *l) {
    return (edge_bytes(most_entries(l)) + 7) / 8 * 8;
}

static char *shared_near(const struct sw_gather *g, int rank) {
    return ergo_dist_shared_of(g->shared, rank);
}

static uint64_t *shared_pairs(const struct sw_gather *g, const struct ergo_layout *l, int rank) {
    return (uint64_t *)(void *)(shared_near(g, rank) + shared_near_bytes(l));
}

void sw_gather_declare(struct sw_cut *s) {
    struct sw_gather *g = &s->gather;
    struct ergo_engine *e = &s->e;
    const struct ergo_layout *l = &s->layout;
    const size_t ranks = (size_t)l->ranks, entries = (size_t)entries_of(&s->piece);
    size_t all = 0;
    for (size_t r = 0; r < ranks; r++)
        all += 2 * (size_t)entries_of(&l->rectangles[r]);
    g->slots = slots_of(l);
    g->nodes = ranks * g->slots;
    g->head = ranks / 2 + 1;
    g->guess = entries / 2;
    g->second = s->halo.n_right > 1 ? s->halo.right[1].first : UINT32_MAX;
    g->third = s->halo.n_right > 2 ? s->halo.right[2].first : UINT32_MAX;
    g->counts = ergo_engine_memory(e, ranks, sizeof *g->counts);
    ergo_engine_buffer(e, SW_CUT_RECTS, "rectangles", ERGO_BUFFER_CONSTANT,
                       ranks * sizeof(struct sw_rect));
    ergo_engine_buffer(e, SW_CUT_NEIGHBOURS, "neighbours", ERGO_BUFFER_CONSTANT,
                       4 * NEIGHBOURS * ranks);
    ergo_engine_buffer(e, SW_CUT_KEYS, "roots of parts", ERGO_BUFFER_SCRATCH, 4 * g->nodes);
    ergo_engine_buffer(e, SW_CUT_NODE_LABELS, "labels of parts", ERGO_BUFFER_SCRATCH, 4 * g->nodes);
    ergo_engine_buffer(e, SW_CUT_NODE_NAMES, "names of parts", ERGO_BUFFER_SCRATCH, 8 * g->nodes);
    ergo_engine_buffer(e, SW_CUT_PAIR_NODES, "nodes of pairs", ERGO_BUFFER_SCRATCH, 8 * all);
    ergo_engine_buffer(e, SW_CUT_NEAR, "parts on edges", ERGO_BUFFER_SCRATCH, edge_bytes(entries));
    ergo_engine_buffer(e, SW_CUT_FAR, "neighbours' parts", ERGO_BUFFER_SCRATCH,
                       edge_bytes(entries));
    ergo_engine_buffer(e, SW_CUT_PAIRS, "pairs", ERGO_BUFFER_SCRATCH,
                       PAIR_BYTES * (2 * entries + 1));
    ergo_engine_buffer(e, SW_CUT_ALL_PAIRS, "all pairs", ERGO_BUFFER_SCRATCH,
                       PAIR_BYTES * (g->head + all));
    /* edges travel while tiles are joined */
    ergo_engine_flag(e, SW_CUT_NEAR, ERGO_BUFFER_HOSTED | ERGO_BUFFER_BESIDE);
    ergo_engine_flag(e, SW_CUT_FAR, ERGO_BUFFER_HOSTED | ERGO_BUFFER_BESIDE);
    ergo_engine_flag(e, SW_CUT_PAIRS, ERGO_BUFFER_HOSTED);
    ergo_engine_flag(e, SW_CUT_ALL_PAIRS, ERGO_BUFFER_HOSTED);
}

/* Of all ranks: rectangles and neighbours. */
enum ergo_status sw_gather_prepare(struct ergo_context *ctx, struct sw_cut *s) {
    const struct ergo_layout *l = &s->layout;
    const size_t ranks = (size_t)l->ranks;
    struct sw_rect *rects = calloc(ranks, sizeof *rects);
    struct ergo_link *beside = calloc(ranks, sizeof *beside);
    uint32_t *neighbours = calloc(NEIGHBOURS * ranks, sizeof *neighbours);
    const bool ok = rects && beside && neighbours;
    for (size_t r = 0; r < ranks && ok; r++) {
        rects[r] = sw_cut_rect(s, &l->rectangles[r]);
        neighbours_of(l, (int)r, beside, neighbours + NEIGHBOURS * r);
    }
    if (ok) {
        ergo_engine_constant(&s->e, SW_CUT_RECTS, rects);
        ergo_engine_constant(&s->e, SW_CUT_NEIGHBOURS, neighbours);
    }
    free(rects);
    free(beside);
    free(neighbours);
    return ok ? ERGO_OK
              : ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for the edges of %zu ranks", ranks);
}

void sw_gather_share(struct sw_cut *s) {
    const struct ergo_layout *l = &s->layout;
    if (s->gathers && l->ranks > 1)
        s->gather.shared = ergo_dist_shared_create(shared_near_bytes(l) + 8 +
                                                   2 * PAIR_BYTES * (size_t)most_entries(l));
}

void sw_gather_near(struct sw_cut *s) {
    const size_t nodes = s->gather.nodes;
    ERGO_LAUNCH(&s->e, SW_CUT_TILE_NEAR, sw_cut_over(s, nodes), BUFFER(SW_CUT_SPINS),
                BUFFER(SW_CUT_RECT), BUFFER(SW_CUT_RIGHT), BUFFER(SW_CUT_RUN_LABELS),
                BUFFER(SW_CUT_NEAR), BUFFER(SW_CUT_KEYS), U32(nodes), BUFFER(SW_CUT_PAIRS));
    ergo_engine_fetch(&s->e, SW_CUT_NEAR, 0, edge_bytes(entries_of(&s->piece)),
                      ergo_engine_host(&s->e, SW_CUT_NEAR, 0, 0));
}

/* Of `size` bytes an entry, `before` bytes behind what precedes them for an entry. */
static void copy_across(const struct sw_cut *s, size_t before, size_t size) {
    const struct sw_gather *g = &s->gather;
    const size_t row = 32 * (size_t)s->piece.words;
    char *far =
        (char *)ergo_engine_host(&s->e, SW_CUT_FAR, 0, 0) + before * (size_t)entries_of(&s->piece);
    const struct ergo_rectangle *below = &s->layout.rectangles[s->halo.below.rank];
    memcpy(far, shared_near(g, s->halo.below.rank) + before * (size_t)entries_of(below),
           size * row);
    for (size_t k = 0; k < s->halo.n_right; k++) {
        const struct ergo_link *link = &s->halo.right[k];
        const struct ergo_rectangle *p = &s->layout.rectangles[link->rank];
        memcpy(far + size * (row + link->first),
               shared_near(g, link->rank) + before * (size_t)entries_of(p) +
                   size * (32 * (size_t)p->words + link->far_first),
               size * (size_t)link->count);
    }
}

/* What is across the lower and right edge: from memory that all see, or by messages. */
static void edges_across(struct sw_cut *s) {
    const struct sw_gather *g = &s->gather;
    const size_t entries = (size_t)entries_of(&s->piece), row = 32 * (size_t)s->piece.words;
    const char *near = ergo_engine_host(&s->e, SW_CUT_NEAR, 0, 0);
    char *far = ergo_engine_host(&s->e, SW_CUT_FAR, 0, 0);
    if (s->e.status != ERGO_OK)
        return;
    if (g->shared) {
        memcpy(shared_near(g, s->rank), near, edge_bytes(entries));
        ergo_dist_shared_meet();
        copy_across(s, 0, 4);
        copy_across(s, 4, 1);
        return;
    }
    sw_cut_exchange(s, near, far, 4 * row, 4);
    sw_cut_exchange(s, near + 4 * entries, far + 4 * entries, row, 1);
}

static void tell(struct sw_cut *s) {
    const double waited = s->e.device->waited;
    const size_t bytes = edge_bytes(entries_of(&s->piece));
    ergo_engine_await(&s->e, SW_CUT_NEAR);
    s->times.busy += s->e.device->waited - waited;
    edges_across(s);
    s->times.edge_bytes += bytes;
    ergo_engine_send(&s->e, SW_CUT_FAR, bytes);
}

/* So many are found here. */
static size_t pairs(struct sw_cut *s) {
    struct sw_gather *g = &s->gather;
    const size_t most = 2 * (size_t)entries_of(&s->piece);
    uint32_t *found = ergo_engine_host(&s->e, SW_CUT_PAIRS, 0, 0);
    ERGO_LAUNCH(&s->e, SW_CUT_TILE_PAIRS, sw_cut_over(s, most), BUFFER(SW_CUT_SPINS),
                BUFFER(SW_CUT_MEMBER), BUFFER(SW_CUT_RECT), BUFFER(SW_CUT_RIGHT),
                BUFFER(SW_CUT_RUN_LABELS), BUFFER(SW_CUT_LABELS), BUFFER(SW_CUT_NEAR),
                BUFFER(SW_CUT_FAR), BUFFER(SW_CUT_PAIRS), U32(g->second), U32(g->third),
                U64(s->e.step));
    /* about as many as last time, and the others when it is known how many */
    const size_t guess = g->guess < most ? g->guess : most;
    ergo_engine_fetch(&s->e, SW_CUT_PAIRS, 0, PAIR_BYTES * (1 + guess), found);
    ergo_engine_await(&s->e, SW_CUT_PAIRS);
    if (s->e.status != ERGO_OK)
        return 0;
    const size_t count = found[0];
    g->guess = count + count / 8 + 64;
    s->times.pair_bytes += PAIR_BYTES * (uint64_t)count;
    if (count > guess)
        ergo_engine_read(&s->e, SW_CUT_PAIRS, PAIR_BYTES * (1 + guess),
                         PAIR_BYTES * (count - guess), (char *)found + PAIR_BYTES * (1 + guess));
    return count;
}

/* All ranks' pairs, one rank after the other; their number. */
static size_t collect(struct sw_cut *s, size_t count) {
    struct sw_gather *g = &s->gather;
    const uint64_t n = count;
    uint32_t *firsts = ergo_engine_host(&s->e, SW_CUT_ALL_PAIRS, 0, 0);
    const char *pairs = (const char *)ergo_engine_host(&s->e, SW_CUT_PAIRS, 0, 0) + PAIR_BYTES;
    char *to = (char *)firsts + PAIR_BYTES * g->head;
    size_t all = 0;
    if (s->e.status != ERGO_OK)
        return 0;
    if (g->shared) {
        uint64_t *mine = shared_pairs(g, &s->layout, s->rank);
        mine[0] = n;
        memcpy(mine + 1, pairs, PAIR_BYTES * count);
        ergo_dist_shared_meet();
        for (int r = 0; r < s->layout.ranks; r++)
            g->counts[r] = shared_pairs(g, &s->layout, r)[0];
    } else {
        ergo_dist_collect(&n, sizeof n, g->counts);
    }
    for (int r = 0; r < s->layout.ranks; r++) {
        firsts[r] = (uint32_t)all;
        all += (size_t)g->counts[r];
    }
    firsts[s->layout.ranks] = (uint32_t)all;
    if (!g->shared)
        s->e.status = ergo_dist_collect_items(s->e.ctx, pairs, to, PAIR_BYTES, g->counts);
    for (int r = 0; r < s->layout.ranks && g->shared; r++)
        memcpy(to + PAIR_BYTES * (size_t)firsts[r], shared_pairs(g, &s->layout, r) + 1,
               PAIR_BYTES * (size_t)g->counts[r]);
    return all;
}

static void join(struct sw_cut *s, size_t all) {
    const struct sw_gather *g = &s->gather;
    if (all == 0)
        return;
    ergo_engine_send(&s->e, SW_CUT_ALL_PAIRS, PAIR_BYTES * (g->head + all));
    clFlush(s->e.device->queue); /* the device has nothing else to do */
    ERGO_LAUNCH(&s->e, SW_CUT_NODES, sw_cut_over(s, 2 * all), BUFFER(SW_CUT_RECTS),
                BUFFER(SW_CUT_NEIGHBOURS), U32(s->layout.ranks), BUFFER(SW_CUT_ALL_PAIRS), U32(all),
                BUFFER(SW_CUT_KEYS), BUFFER(SW_CUT_NODE_LABELS), BUFFER(SW_CUT_NODE_NAMES),
                BUFFER(SW_CUT_PAIR_NODES), U32(g->slots));
    ERGO_LAUNCH(&s->e, SW_CUT_JOIN_NODES, sw_cut_over(s, all), BUFFER(SW_CUT_PAIR_NODES), U32(all),
                BUFFER(SW_CUT_NODE_LABELS), BUFFER(SW_CUT_NODE_NAMES));
    ERGO_LAUNCH(&s->e, SW_CUT_TAKE_STATES, sw_cut_over(s, g->slots), BUFFER(SW_CUT_MEMBER),
                BUFFER(SW_CUT_KEYS), BUFFER(SW_CUT_NODE_LABELS), BUFFER(SW_CUT_NODE_NAMES),
                U32(s->rank), U32(g->slots), BUFFER(SW_CUT_LABELS), U64(s->e.step));
}

void sw_gather_names(struct sw_cut *s) {
    ergo_engine_lap(&s->e);
    sw_cut_local(s, false, true);
    const double issued = ergo_engine_lap(&s->e); /* some drivers work meanwhile */
    s->times.local += issued;
    s->times.busy += issued;
    tell(s);
    s->times.halo += ergo_engine_lap(&s->e);
    const size_t count = pairs(s);
    const double waited = ergo_engine_lap(&s->e);
    s->times.pairs += waited;
    s->times.busy += waited;
    s->n_parts = count;
    join(s, collect(s, count));
    s->times.merge += ergo_engine_lap(&s->e);
}
