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

/* Ranks up to which "auto" gathers: beyond, all pairs are many for each. Whose parts a pair can
 * name: of one rank below, three on the right, and this one. */
enum { MOST_RANKS = 64, NEIGHBOURS = 5, HERE = 4, PAIR_BYTES = 8 };

static uint64_t entries_of(const struct sw_piece *p) {
    return 32ull * p->words + p->rows;
}

static uint64_t most_entries(const struct sw_layout *l) {
    uint64_t most = 0;
    for (int r = 0; r < l->ranks; r++)
        if (entries_of(&l->pieces[r]) > most)
            most = entries_of(&l->pieces[r]);
    return most;
}

/* Places for a rank's parts on its edges and their roots: one for each entry of both edges, and a
 * root for each of the upper and left one, at the most. */
static uint32_t slots_of(const struct sw_layout *l) {
    return ergo_power_of_two_up(4 * most_entries(l), 64, 1u << 31);
}

/* Ranks below and on the right; false: more than a pair can name. */
static bool neighbours_of(const struct sw_layout *l, int rank, struct sw_link *beside,
                          uint32_t *neighbours) {
    size_t n = 0;
    sw_layout_beside(l, rank, true, beside, &n);
    neighbours[0] = (uint32_t)sw_layout_below(l, rank).rank;
    for (size_t k = 0; k < n && k + 1 < HERE; k++)
        neighbours[1 + k] = (uint32_t)beside[k].rank;
    neighbours[HERE] = (uint32_t)rank;
    return n + 1 <= HERE;
}

bool sw_gather_wanted(const char *merge, const struct sw_layout *l) {
    bool wanted =
        strcmp(merge, "gather") == 0 || (strcmp(merge, "auto") == 0 && l->ranks <= MOST_RANKS);
    struct sw_link *beside = calloc((size_t)l->ranks, sizeof *beside);
    uint32_t neighbours[NEIGHBOURS];
    wanted = wanted && beside && (uint64_t)l->ranks * 4 * most_entries(l) < UINT64_C(1) << 30;
    for (int r = 0; r < l->ranks && wanted; r++)
        wanted = neighbours_of(l, r, beside, neighbours) &&
                 sw_piece_words(&l->pieces[r]) <= UINT64_C(1) << 25; /* two bits of a part's */
    free(beside);
    return wanted;
}

uint64_t sw_gather_bytes(const struct sw_layout *l) {
    const uint64_t ranks = (uint64_t)l->ranks;
    return ranks * (16 * (uint64_t)slots_of(l) + 32 * most_entries(l)) + 32 * most_entries(l);
}

/* Bytes of parts and states on an edge: near and far (cut_pairs.cl). */
static size_t edge_bytes(uint64_t entries) {
    return 5 * (size_t)entries;
}

/* A rank's part of the memory that ranks of one host share: what is near on its first row and
 * column, then the number of its pairs, and these. */
static size_t shared_near_bytes(const struct sw_layout *l) {
    return (edge_bytes(most_entries(l)) + 7) / 8 * 8;
}

static char *shared_near(const struct sw_gather *g, int rank) {
    return ergo_dist_shared_of(g->shared, rank);
}

static uint64_t *shared_pairs(const struct sw_gather *g, const struct sw_layout *l, int rank) {
    return (uint64_t *)(void *)(shared_near(g, rank) + shared_near_bytes(l));
}

/* Of all ranks: rectangles and neighbours. */
static enum ergo_status create_tables(struct ergo_context *ctx, struct sw_cut *s) {
    struct sw_gather *g = &s->gather;
    const struct sw_layout *l = &s->layout;
    const size_t ranks = (size_t)l->ranks;
    struct sw_rect *rects = calloc(ranks, sizeof *rects);
    struct sw_link *beside = calloc(ranks, sizeof *beside);
    uint32_t *neighbours = calloc(NEIGHBOURS * ranks, sizeof *neighbours);
    enum ergo_status status =
        rects && beside && neighbours
            ? ERGO_OK
            : ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for the edges of %zu ranks", ranks);
    for (size_t r = 0; r < ranks && status == ERGO_OK; r++) {
        rects[r] = sw_cut_rect(s, &l->pieces[r]);
        neighbours_of(l, (int)r, beside, neighbours + NEIGHBOURS * r);
    }
    if (status == ERGO_OK)
        status = ergo_constant_create(ctx, s->device, &s->constants, "rectangles",
                                      ranks * sizeof *rects, rects, &g->rects);
    if (status == ERGO_OK)
        status = ergo_constant_create(ctx, s->device, &s->constants, "neighbours",
                                      4 * NEIGHBOURS * ranks, neighbours, &g->neighbours);
    free(rects);
    free(beside);
    free(neighbours);
    return status;
}

enum ergo_status sw_gather_create(struct ergo_context *ctx, struct sw_cut *s) {
    struct sw_gather *g = &s->gather;
    const struct sw_layout *l = &s->layout;
    const size_t ranks = (size_t)l->ranks, entries = (size_t)entries_of(&s->piece);
    size_t all = 0;
    for (size_t r = 0; r < ranks; r++)
        all += 2 * (size_t)entries_of(&l->pieces[r]);
    g->slots = slots_of(l);
    g->nodes = ranks * g->slots;
    g->head = ranks / 2 + 1;
    g->guess = entries / 2;
    g->second = s->n_right > 1 ? s->right[1].first : UINT32_MAX;
    g->third = s->n_right > 2 ? s->right[2].first : UINT32_MAX;
    g->counts = calloc(ranks, sizeof *g->counts);
    enum ergo_status status =
        g->counts ? create_tables(ctx, s)
                  : ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for the edges of %zu ranks", ranks);
    const struct {
        const char *what;
        size_t bytes;
        cl_mem *mem;
    } mems[] = {{"roots of parts", 4 * g->nodes, &g->keys},
                {"labels of parts", 4 * g->nodes, &g->labels},
                {"names of parts", 8 * g->nodes, &g->names},
                {"nodes of pairs", 8 * all, &g->pair_nodes}};
    for (size_t k = 0; k < sizeof mems / sizeof mems[0] && status == ERGO_OK; k++)
        status = ergo_buffer_create(ctx, s->device, mems[k].what, mems[k].bytes, NULL, mems[k].mem);
    if (status == ERGO_OK)
        status = sw_cut_buffer_create(ctx, s, "parts on edges", edge_bytes(entries), &g->near);
    if (status == ERGO_OK)
        status = sw_cut_buffer_create(ctx, s, "neighbours' parts", edge_bytes(entries), &g->far);
    if (status == ERGO_OK)
        status = sw_cut_buffer_create(ctx, s, "pairs", PAIR_BYTES * (2 * entries + 1), &g->pairs);
    if (status == ERGO_OK)
        status = sw_cut_buffer_create(ctx, s, "all pairs", PAIR_BYTES * (g->head + all), &g->all);
    /* a CPU has nothing that copies beside its kernels (PoCL, 512 x 512: 3,500 us a sweep, not
     * 3,000) */
    if (s->device->type != CL_DEVICE_TYPE_CPU)
        g->copies = clCreateCommandQueue(s->device->context, s->device->device, 0, NULL);
    if (status == ERGO_OK && ranks > 1)
        g->shared = ergo_dist_shared_create(shared_near_bytes(l) + 8 +
                                            2 * PAIR_BYTES * (size_t)most_entries(l));
    return status;
}

void sw_gather_release(struct sw_cut *s) {
    struct sw_gather *g = &s->gather;
    cl_mem *const mems[] = {&g->rects,  &g->neighbours, &g->keys,
                            &g->labels, &g->names,      &g->pair_nodes};
    struct sw_cut_buffer *const buffers[] = {&g->near, &g->far, &g->pairs, &g->all};
    if (g->copies)
        (void)ergo_queue_finish(s->device, g->copies);
    for (size_t k = 0; k < sizeof mems / sizeof mems[0]; k++)
        ergo_buffer_release(mems[k]);
    for (size_t k = 0; k < sizeof buffers / sizeof buffers[0]; k++)
        sw_cut_buffer_release(s, buffers[k]);
    if (g->copies)
        clReleaseCommandQueue(g->copies);
    g->copies = NULL;
    free(g->counts);
    g->counts = NULL;
    ergo_dist_shared_destroy(g->shared);
    g->shared = NULL;
}

#define LAUNCH(kernel, items, ...)                                                                 \
    do {                                                                                           \
        const struct ergo_arg arguments[] = {__VA_ARGS__};                                         \
        if (status == ERGO_OK)                                                                     \
            status =                                                                               \
                sw_cut_launch(ctx, s, kernel, arguments, sizeof arguments / sizeof arguments[0],   \
                              (items), s->group_size);                                             \
    } while (0)

enum ergo_status sw_gather_near(struct ergo_context *ctx, struct sw_cut *s,
                                const struct sw_cut_member *m, cl_event *ready) {
    struct sw_gather *g = &s->gather;
    const cl_uint nodes = (cl_uint)g->nodes;
    enum ergo_status status = ERGO_OK;
    LAUNCH(SW_CUT_TILE_NEAR, nodes, ERGO_ARG(m->spins), ERGO_ARG(s->rect), ERGO_ARG(s->right_bonds),
           ERGO_ARG(s->runs), ERGO_ARG(g->near.mem), ERGO_ARG(g->keys), ERGO_ARG(nodes),
           ERGO_ARG(g->pairs.mem));
    if (status != ERGO_OK)
        return status;
    cl_event made = g->copies ? ergo_device_mark(s->device) : NULL;
    if (!made)
        return ergo_buffer_read_later(ctx, s->device, g->near.mem, 0, g->near.bytes, g->near.host,
                                      ready);
    clFlush(s->device->queue); /* another queue waits for it */
    const cl_int code = clEnqueueReadBuffer(g->copies, g->near.mem, CL_FALSE, 0, g->near.bytes,
                                            g->near.host, 1, &made, ready);
    clReleaseEvent(made);
    clFlush(g->copies);
    return code == CL_SUCCESS
               ? ERGO_OK
               : ERGO_FAIL_CL(ctx, code, "Reading %zu bytes from device %s (%s) failed",
                              g->near.bytes, s->device->summary.id, s->device->summary.name);
}

/* Of `size` bytes an entry, `before` bytes behind what precedes them for an entry. */
static void copy_across(const struct sw_cut *s, size_t before, size_t size) {
    const struct sw_gather *g = &s->gather;
    const size_t row = 32 * (size_t)s->piece.words;
    char *far = (char *)g->far.host + before * (size_t)entries_of(&s->piece);
    const struct sw_piece *below = &s->layout.pieces[s->below.rank];
    memcpy(far, shared_near(g, s->below.rank) + before * (size_t)entries_of(below), size * row);
    for (size_t k = 0; k < s->n_right; k++) {
        const struct sw_link *link = &s->right[k];
        const struct sw_piece *p = &s->layout.pieces[link->rank];
        memcpy(far + size * (row + link->first),
               shared_near(g, link->rank) + before * (size_t)entries_of(p) +
                   size * (32 * (size_t)p->words + link->far_first),
               size * (size_t)link->count);
    }
}

/* What is across the lower and right edge: from memory that all see, or by messages. */
static enum ergo_status edges_across(struct ergo_context *ctx, struct sw_cut *s) {
    struct sw_gather *g = &s->gather;
    const size_t entries = (size_t)entries_of(&s->piece), row = 32 * (size_t)s->piece.words;
    const char *near = g->near.host;
    char *far = g->far.host;
    if (g->shared) {
        memcpy(shared_near(g, s->rank), near, g->near.bytes);
        ergo_dist_shared_meet();
        copy_across(s, 0, 4);
        copy_across(s, 4, 1);
        return ERGO_OK;
    }
    enum ergo_status status = sw_cut_exchange(ctx, s, near, far, 4 * row, 4);
    return status == ERGO_OK
               ? sw_cut_exchange(ctx, s, near + 4 * entries, far + 4 * entries, row, 1)
               : status;
}

static enum ergo_status tell(struct ergo_context *ctx, struct sw_cut *s, cl_event *ready) {
    const double started = ergo_clock();
    enum ergo_status status = ergo_event_wait(ctx, s->device, ready, NULL);
    s->times.busy += ergo_clock() - started;
    if (status == ERGO_OK)
        status = edges_across(ctx, s);
    const struct sw_cut_buffer *far = &s->gather.far;
    s->times.edge_bytes += s->gather.near.bytes;
    if (status != ERGO_OK || !s->gather.copies)
        return status == ERGO_OK ? sw_cut_write_later(ctx, s, far, far->bytes) : status;
    const cl_int code = clEnqueueWriteBuffer(s->gather.copies, far->mem, CL_TRUE, 0, far->bytes,
                                             far->host, 0, NULL, NULL);
    return code == CL_SUCCESS
               ? ERGO_OK
               : ERGO_FAIL_CL(ctx, code, "Writing %zu bytes to device %s (%s) failed", far->bytes,
                              s->device->summary.id, s->device->summary.name);
}

static enum ergo_status pairs(struct ergo_context *ctx, struct sw_cut *s,
                              const struct sw_cut_member *m, size_t *count) {
    struct sw_gather *g = &s->gather;
    const size_t most = 2 * (size_t)entries_of(&s->piece);
    const cl_ulong step = s->step;
    const uint32_t *pairs = g->pairs.host;
    cl_event ready = NULL;
    enum ergo_status status = ERGO_OK;
    LAUNCH(SW_CUT_TILE_PAIRS, most, ERGO_ARG(m->spins), ERGO_ARG(m->param_buffer),
           ERGO_ARG(s->rect), ERGO_ARG(s->right_bonds), ERGO_ARG(s->runs), ERGO_ARG(s->labels),
           ERGO_ARG(g->near.mem), ERGO_ARG(g->far.mem), ERGO_ARG(g->pairs.mem), ERGO_ARG(g->second),
           ERGO_ARG(g->third), ERGO_ARG(step));
    /* about as many as last time, and the others when it is known how many */
    const size_t guess = g->guess < most ? g->guess : most;
    if (status == ERGO_OK)
        status = ergo_buffer_read_later(ctx, s->device, g->pairs.mem, 0, PAIR_BYTES * (1 + guess),
                                        g->pairs.host, &ready);
    if (status == ERGO_OK)
        status = ergo_event_wait(ctx, s->device, &ready, NULL);
    if (status != ERGO_OK)
        return status;
    *count = pairs[0];
    g->guess = *count + *count / 8 + 64;
    s->times.pair_bytes += PAIR_BYTES * (uint64_t)*count;
    return *count > guess ? ergo_buffer_read(ctx, s->device, g->pairs.mem, PAIR_BYTES * (1 + guess),
                                             PAIR_BYTES * (*count - guess),
                                             (char *)g->pairs.host + PAIR_BYTES * (1 + guess))
                          : ERGO_OK;
}

static enum ergo_status collect(struct ergo_context *ctx, struct sw_cut *s, size_t count,
                                size_t *all) {
    struct sw_gather *g = &s->gather;
    const uint64_t n = count;
    uint32_t *firsts = g->all.host;
    const char *pairs = (const char *)g->pairs.host + PAIR_BYTES;
    char *to = (char *)g->all.host + PAIR_BYTES * g->head;
    *all = 0;
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
        firsts[r] = (uint32_t)*all;
        *all += (size_t)g->counts[r];
    }
    firsts[s->layout.ranks] = (uint32_t)*all;
    if (!g->shared)
        return ergo_dist_collect_items(ctx, pairs, to, PAIR_BYTES, g->counts);
    for (int r = 0; r < s->layout.ranks; r++)
        memcpy(to + PAIR_BYTES * (size_t)firsts[r], shared_pairs(g, &s->layout, r) + 1,
               PAIR_BYTES * (size_t)g->counts[r]);
    return ERGO_OK;
}

static enum ergo_status join(struct ergo_context *ctx, struct sw_cut *s,
                             const struct sw_cut_member *m, size_t all) {
    struct sw_gather *g = &s->gather;
    const cl_uint ranks = (cl_uint)s->layout.ranks, n = (cl_uint)all, rank = (cl_uint)s->rank;
    const cl_ulong step = s->step;
    if (all == 0)
        return ERGO_OK;
    enum ergo_status status = sw_cut_write_later(ctx, s, &g->all, PAIR_BYTES * (g->head + all));
    clFlush(s->device->queue); /* the device has nothing else to do */
    LAUNCH(SW_CUT_NODES, 2 * all, ERGO_ARG(g->rects), ERGO_ARG(g->neighbours), ERGO_ARG(ranks),
           ERGO_ARG(g->all.mem), ERGO_ARG(n), ERGO_ARG(g->keys), ERGO_ARG(g->labels),
           ERGO_ARG(g->names), ERGO_ARG(g->pair_nodes), ERGO_ARG(g->slots));
    LAUNCH(SW_CUT_JOIN_NODES, all, ERGO_ARG(g->pair_nodes), ERGO_ARG(n), ERGO_ARG(g->labels),
           ERGO_ARG(g->names));
    LAUNCH(SW_CUT_TAKE_STATES, g->slots, ERGO_ARG(m->param_buffer), ERGO_ARG(g->keys),
           ERGO_ARG(g->labels), ERGO_ARG(g->names), ERGO_ARG(rank), ERGO_ARG(g->slots),
           ERGO_ARG(s->labels), ERGO_ARG(step));
    return status;
}

enum ergo_status sw_gather_names(struct ergo_context *ctx, struct sw_cut *s,
                                 struct sw_cut_member *m) {
    double started = ergo_clock();
    size_t count = 0, all = 0;
    cl_event near = NULL;
    enum ergo_status status = sw_cut_local(ctx, s, m, false, &near);
    s->times.local += sw_cut_lap(&started);
    if (status == ERGO_OK)
        status = tell(ctx, s, &near);
    s->times.halo += sw_cut_lap(&started);
    if (status == ERGO_OK)
        status = pairs(ctx, s, m, &count);
    const double waited = sw_cut_lap(&started);
    s->times.pairs += waited;
    s->times.busy += waited;
    s->n_parts = count;
    if (status == ERGO_OK)
        status = collect(ctx, s, count, &all);
    if (status == ERGO_OK)
        status = join(ctx, s, m, all);
    s->times.merge += sw_cut_lap(&started);
    return status;
}
