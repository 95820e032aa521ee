/*
 * Clusters across ranks on the devices: each rank's pairs of parts go to all, and every device
 * joins them for itself (cl/swendsen_wang/cut_gather.cl). The hosts only carry messages. For sweeps
 * without measurement: ways around the lattice and sizes are known to the tree alone.
 */
#include <stdlib.h>
#include <string.h>

#include "samplers/swendsen_wang/cut.h"

/* Ranks up to which "auto" gathers: beyond, all pairs are many for each. */
enum { MOST_RANKS = 64, PAIR_BYTES = 16 };

static uint64_t entries_of(const struct sw_piece *p) {
    return 32ull * p->words + p->rows;
}

/* Nodes of the ranks before `rank`. */
static uint64_t nodes_before(const struct sw_layout *l, int rank) {
    uint64_t n = 0;
    for (int r = 0; r < rank; r++)
        n += 2 * entries_of(&l->pieces[r]);
    return n;
}

bool sw_gather_wanted(const char *merge, const struct sw_layout *l) {
    const bool wanted =
        strcmp(merge, "gather") == 0 || (strcmp(merge, "auto") == 0 && l->ranks <= MOST_RANKS);
    return wanted && nodes_before(l, l->ranks) < UINT64_C(1) << 30;
}

uint64_t sw_gather_bytes(const struct sw_layout *l) {
    const uint64_t nodes = nodes_before(l, l->ranks);
    return 12 * nodes + PAIR_BYTES * (nodes / 2) + 32 * entries_of(&l->pieces[0]);
}

enum ergo_status sw_gather_create(struct ergo_context *ctx, struct sw_cut *s) {
    struct sw_gather *g = &s->gather;
    const struct sw_layout *l = &s->layout;
    const size_t ranks = (size_t)l->ranks, entries = (size_t)entries_of(&s->piece);
    const size_t nodes = (size_t)nodes_before(l, l->ranks);
    struct sw_rect *rects = calloc(ranks, sizeof *rects);
    uint32_t *firsts = calloc(ranks + 1, sizeof *firsts);
    g->counts = calloc(ranks, sizeof *g->counts);
    enum ergo_status status =
        rects && firsts && g->counts
            ? ERGO_OK
            : ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for the edges of %zu ranks", ranks);
    for (size_t r = 0; r < ranks && status == ERGO_OK; r++) {
        rects[r] = sw_cut_rect(s, &l->pieces[r]);
        firsts[r] = (uint32_t)nodes_before(l, (int)r);
    }
    g->first_node = (uint32_t)nodes_before(l, s->rank);
    g->guess = entries / 4;
    if (status == ERGO_OK)
        status = ergo_buffer_create(ctx, s->device, "rectangles", ranks * sizeof *rects, rects,
                                    &g->rects);
    if (status == ERGO_OK)
        status = ergo_buffer_create(ctx, s->device, "nodes of ranks", 4 * (ranks + 1), firsts,
                                    &g->first_nodes);
    if (status == ERGO_OK)
        status = ergo_buffer_create(ctx, s->device, "labels of parts", 4 * nodes, NULL, &g->labels);
    if (status == ERGO_OK)
        status = ergo_buffer_create(ctx, s->device, "names of parts", 8 * nodes, NULL, &g->names);
    if (status == ERGO_OK)
        status = sw_cut_buffer_create(ctx, s, "parts on edges", 8 * entries, &g->told);
    if (status == ERGO_OK)
        status = sw_cut_buffer_create(ctx, s, "neighbours' parts", 8 * entries, &g->far);
    if (status == ERGO_OK)
        status = sw_cut_buffer_create(ctx, s, "pairs", PAIR_BYTES * (entries + 1), &g->pairs);
    if (status == ERGO_OK)
        status = sw_cut_buffer_create(ctx, s, "all pairs", PAIR_BYTES * (nodes / 2), &g->all);
    free(rects);
    free(firsts);
    return status;
}

void sw_gather_release(struct sw_cut *s) {
    struct sw_gather *g = &s->gather;
    cl_mem *const mems[] = {&g->rects, &g->first_nodes, &g->labels, &g->names};
    struct sw_cut_buffer *const buffers[] = {&g->told, &g->far, &g->pairs, &g->all};
    for (size_t k = 0; k < sizeof mems / sizeof mems[0]; k++)
        ergo_buffer_release(mems[k]);
    for (size_t k = 0; k < sizeof buffers / sizeof buffers[0]; k++)
        sw_cut_buffer_release(s, buffers[k]);
    free(g->counts);
    g->counts = NULL;
}

#define LAUNCH(kernel, items, ...)                                                                 \
    do {                                                                                           \
        const struct ergo_arg arguments[] = {__VA_ARGS__};                                         \
        if (status == ERGO_OK)                                                                     \
            status =                                                                               \
                sw_cut_launch(ctx, s, kernel, arguments, sizeof arguments / sizeof arguments[0],   \
                              (items), s->group_size);                                             \
    } while (0)

enum ergo_status sw_gather_tell(struct ergo_context *ctx, struct sw_cut *s) {
    struct sw_gather *g = &s->gather;
    enum ergo_status status = ERGO_OK;
    cl_event ready = NULL;
    LAUNCH(SW_CUT_TELL, (size_t)entries_of(&s->piece), ERGO_ARG(s->rect), ERGO_ARG(s->edges.mem),
           ERGO_ARG(s->roots.mem), ERGO_ARG(g->told.mem), ERGO_ARG(g->pairs.mem),
           ERGO_ARG(g->first_node));
    if (status == ERGO_OK)
        status = ergo_buffer_read_later(ctx, s->device, g->told.mem, 0, g->told.bytes, g->told.host,
                                        &ready);
    return status == ERGO_OK ? ergo_event_wait(ctx, s->device, &ready, NULL) : status;
}

enum ergo_status sw_gather_pairs(struct ergo_context *ctx, struct sw_cut *s, size_t *count) {
    struct sw_gather *g = &s->gather;
    const size_t entries = (size_t)entries_of(&s->piece);
    const uint32_t *pairs = g->pairs.host;
    cl_event ready = NULL;
    enum ergo_status status =
        sw_cut_exchange(ctx, s, g->told.host, g->far.host, 8 * 32 * (size_t)s->piece.words, 8);
    if (status == ERGO_OK)
        status = sw_cut_write_later(ctx, s, &g->far, g->far.bytes);
    LAUNCH(SW_CUT_PAIRS, entries, ERGO_ARG(s->rect), ERGO_ARG(s->edges.mem), ERGO_ARG(s->roots.mem),
           ERGO_ARG(g->far.mem), ERGO_ARG(g->pairs.mem), ERGO_ARG(g->first_node));
    /* about as many as last time, and the others when it is known how many */
    const size_t guess = g->guess < entries ? g->guess : entries;
    if (status == ERGO_OK)
        status = ergo_buffer_read_later(ctx, s->device, g->pairs.mem, 0, PAIR_BYTES * (1 + guess),
                                        g->pairs.host, &ready);
    if (status == ERGO_OK)
        status = ergo_event_wait(ctx, s->device, &ready, NULL);
    if (status != ERGO_OK)
        return status;
    *count = pairs[0];
    g->guess = *count + *count / 8 + 64;
    return *count > guess ? ergo_buffer_read(ctx, s->device, g->pairs.mem, PAIR_BYTES * (1 + guess),
                                             PAIR_BYTES * (*count - guess),
                                             (char *)g->pairs.host + PAIR_BYTES * (1 + guess))
                          : ERGO_OK;
}

enum ergo_status sw_gather_collect(struct ergo_context *ctx, struct sw_cut *s, size_t count,
                                   size_t *all) {
    struct sw_gather *g = &s->gather;
    const uint64_t own = count;
    *all = 0;
    ergo_dist_collect(&own, sizeof own, g->counts);
    for (int r = 0; r < s->layout.ranks; r++)
        *all += (size_t)g->counts[r];
    return ergo_dist_collect_items(ctx, (const char *)g->pairs.host + PAIR_BYTES, g->all.host,
                                   PAIR_BYTES, g->counts);
}

enum ergo_status sw_gather_join(struct ergo_context *ctx, struct sw_cut *s, size_t all) {
    struct sw_gather *g = &s->gather;
    const cl_uint ranks = (cl_uint)s->layout.ranks, mine = (cl_uint)(2 * entries_of(&s->piece));
    const cl_uint n = (cl_uint)all;
    if (all == 0)
        return ERGO_OK;
    enum ergo_status status = sw_cut_write_later(ctx, s, &g->all, PAIR_BYTES * all);
    LAUNCH(SW_CUT_NODES, 2 * all, ERGO_ARG(g->rects), ERGO_ARG(g->first_nodes), ERGO_ARG(ranks),
           ERGO_ARG(g->all.mem), ERGO_ARG(n), ERGO_ARG(g->labels), ERGO_ARG(g->names));
    LAUNCH(SW_CUT_JOIN_NODES, all, ERGO_ARG(g->all.mem), ERGO_ARG(n), ERGO_ARG(g->labels),
           ERGO_ARG(g->names));
    LAUNCH(SW_CUT_TAKE_NAMES, 2 * all, ERGO_ARG(g->all.mem), ERGO_ARG(n), ERGO_ARG(g->labels),
           ERGO_ARG(g->names), ERGO_ARG(g->first_node), ERGO_ARG(mine), ERGO_ARG(s->names));
    return status;
}
