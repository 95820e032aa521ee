/*
 * What of clusters reaches the edges of a rectangle: its parts, from the device; pairs of them that
 * a bond between rectangles joins, each known to both sides in one order; names of parts, when
 * ranks have joined them (cut_merge.c).
 */
#include <string.h>

#include "samplers/swendsen_wang/cut.h"

enum { TAG_PAIRS = ERGO_DIST_TAGS + 4 };

static size_t row_sites(const struct sw_cut *s) {
    return 32 * (size_t)s->piece.words;
}

static size_t edge_sites(const struct sw_cut *s) {
    return row_sites(s) + s->piece.rows;
}

/* To the host; enqueued only. */
static void fetch(struct sw_cut *s, unsigned row, size_t bytes) {
    ergo_engine_fetch(&s->e, row, 0, bytes, ergo_engine_host(&s->e, row, 0, 0));
}

void sw_cut_find_parts(struct sw_cut *s, bool counted) {
    const size_t items = 2 * edge_sites(s);
    ERGO_LAUNCH(&s->e, SW_CUT_TILE_EDGES, sw_cut_over(s, items), BUFFER(SW_CUT_SPINS),
                BUFFER(SW_CUT_MEMBER), BUFFER(SW_CUT_RECT), BUFFER(SW_CUT_HALO),
                BUFFER(SW_CUT_RIGHT), BUFFER(SW_CUT_RUN_LABELS), BUFFER(SW_CUT_LABELS),
                BUFFER(SW_CUT_EDGES), U64(s->e.step));
    ERGO_LAUNCH(&s->e, SW_CUT_PARTS, sw_cut_over(s, items), BUFFER(SW_CUT_RECT),
                BUFFER(SW_CUT_LABELS), BUFFER(SW_CUT_EDGES), BUFFER(SW_CUT_ROOTS),
                BUFFER(SW_CUT_NAMES));
    if (counted) {
        ERGO_LAUNCH(&s->e, SW_CUT_PART_SIZES, sw_cut_over(s, items), BUFFER(SW_CUT_SIZES),
                    BUFFER(SW_CUT_ROOTS), BUFFER(SW_CUT_ROOT_SIZES), U32(items));
        ERGO_LAUNCH(&s->e, SW_CUT_TILE_SUMS, ergo_grid_groups(s->sum_groups, s->group_size, 1),
                    BUFFER(SW_CUT_OPEN), BUFFER(SW_CUT_LABELS), BUFFER(SW_CUT_SIZES),
                    BUFFER(SW_CUT_CLUSTERS));
        fetch(s, SW_CUT_ROOT_SIZES, 4 * items);
        fetch(s, SW_CUT_CLUSTERS, (size_t)s->e.buffers[SW_CUT_CLUSTERS].bytes);
    }
    fetch(s, SW_CUT_ROOTS, 4 * items);
    fetch(s, SW_CUT_EDGES, 4 * items);
    ergo_engine_await(&s->e, SW_CUT_EDGES); /* and what was asked for before */
}

/* The distinct pairs of a stretch of an edge; all but a few of those that come again are left out.
 */
static void find_pairs(const uint32_t *near, const uint32_t *far, size_t count, uint32_t *pairs) {
    enum { SEEN = 4096 };
    uint64_t seen[SEEN];
    uint32_t n = 0;
    memset(seen, 0xff, sizeof seen);
    for (size_t k = 0; k < count; k++) {
        if (near[k] == SW_CUT_NO_BOND)
            continue;
        const uint64_t key = (uint64_t)near[k] << 32 | far[k];
        uint64_t *slot = &seen[(key * UINT64_C(0x9E3779B97F4A7C15)) >> 52];
        if (*slot == key)
            continue;
        *slot = key;
        pairs[1 + 2 * n] = near[k];
        pairs[2 + 2 * n] = far[k];
        n++;
    }
    pairs[0] = n;
}

/* Where the pairs of a link are: behind those of the row below (or above), as many sites further.
 */
static uint32_t *pairs_of(const struct sw_cut *s, uint32_t *pairs, size_t link, size_t first) {
    return link == 0 ? pairs : pairs + 1 + 2 * row_sites(s) + (link - 1) + 2 * first;
}

static enum ergo_status tell(struct ergo_context *ctx, struct sw_cut *s,
                             const struct ergo_link *link, size_t k, bool row) {
    const uint32_t *pairs = pairs_of(s, s->found, k, link->first);
    const size_t bytes = 4 * (1 + 2 * (size_t)pairs[0]);
    s->times.pair_bytes += bytes;
    return ergo_dist_post_send(ctx, s->halo.posts, link->rank, row ? TAG_PAIRS : TAG_PAIRS + 1,
                               pairs, bytes);
}

/* Pairs across the lower and right edges, found here; those across the others, found by neighbours,
 * who have the same bonds. */
static void share_pairs(struct sw_cut *s) {
    const size_t row = row_sites(s), outer = edge_sites(s);
    const uint32_t *edges = ergo_engine_host(&s->e, SW_CUT_EDGES, 0, 0);
    struct ergo_context *ctx = s->e.ctx;
    if (s->e.status != ERGO_OK)
        return;
    enum ergo_status status =
        ergo_dist_post_receive(ctx, s->halo.posts, s->halo.above.rank, TAG_PAIRS,
                               pairs_of(s, s->told, 0, 0), 4 * (1 + 2 * row));
    for (size_t k = 0; k < s->halo.n_left && status == ERGO_OK; k++)
        status = ergo_dist_post_receive(ctx, s->halo.posts, s->halo.left[k].rank, TAG_PAIRS + 1,
                                        pairs_of(s, s->told, k + 1, s->halo.left[k].first),
                                        4 * (1 + 2 * (size_t)s->halo.left[k].count));
    find_pairs(edges + outer, s->far_edges, row, pairs_of(s, s->found, 0, 0));
    if (status == ERGO_OK)
        status = tell(ctx, s, &s->halo.below, 0, true);
    for (size_t k = 0; k < s->halo.n_right && status == ERGO_OK; k++) {
        const size_t at = row + s->halo.right[k].first;
        find_pairs(edges + outer + at, s->far_edges + at, s->halo.right[k].count,
                   pairs_of(s, s->found, k + 1, s->halo.right[k].first));
        status = tell(ctx, s, &s->halo.right[k], k + 1, false);
    }
    if (status == ERGO_OK)
        ergo_dist_posts_wait(s->halo.posts);
    s->e.status = status;
}

/* Ports of a link's bonds; which of a pair's parts is this rank's: 0 the first, 1 the second. */
static void add_block(struct sw_cut *s, const struct ergo_link *link, const uint32_t *pairs,
                      int which, int32_t dx, int32_t dy) {
    struct sw_group *g = &s->group;
    const size_t n = pairs[0];
    struct sw_port *ports = g->ports + g->n_ports;
    for (size_t k = 0; k < n; k++) {
        const uint32_t part = pairs[1 + 2 * k + (size_t)which];
        uint32_t *cluster = &s->cluster_of[part];
        if (*cluster == SW_CUT_NO_BOND) {
            s->group_parts[g->n_clusters] = part;
            *cluster = (uint32_t)g->n_clusters++;
        }
        ports[k] = (struct sw_port){*cluster, 0, 0};
    }
    g->n_ports += n;
    g->blocks[g->n_blocks++] = (struct sw_block){s->rank, link->rank, dx, dy, n};
}

/* The parts that have bonds to others, as clusters with ports. */
static void make_group(struct sw_cut *s, bool counted) {
    struct sw_group *g = &s->group;
    const size_t items = 2 * edge_sites(s);
    const uint32_t *roots = ergo_engine_host(&s->e, SW_CUT_ROOTS, 0, 0);
    const uint32_t *sizes = ergo_engine_host(&s->e, SW_CUT_ROOT_SIZES, 0, 0);
    if (s->e.status == ERGO_OK &&
        !sw_group_reserve(g, items, 2 + s->halo.n_right + s->halo.n_left, 2 * items))
        ERGO_ENGINE_FAIL(&s->e, ERGO_E_MEMORY, "no memory for the clusters on a rectangle's edges");
    if (s->e.status != ERGO_OK)
        return;
    g->n_clusters = g->n_blocks = g->n_ports = 0;
    memset(s->cluster_of, 0xff, items * sizeof *s->cluster_of);
    add_block(s, &s->halo.below, pairs_of(s, s->found, 0, 0), 0, 0, s->halo.below.around);
    add_block(s, &s->halo.above, pairs_of(s, s->told, 0, 0), 1, 0, s->halo.above.around ? -1 : 0);
    for (size_t k = 0; k < s->halo.n_right; k++)
        add_block(s, &s->halo.right[k], pairs_of(s, s->found, k + 1, s->halo.right[k].first), 0,
                  s->halo.right[k].around, 0);
    for (size_t k = 0; k < s->halo.n_left; k++)
        add_block(s, &s->halo.left[k], pairs_of(s, s->told, k + 1, s->halo.left[k].first), 1,
                  s->halo.left[k].around ? -1 : 0, 0);
    for (size_t c = 0; c < g->n_clusters; c++) {
        const uint32_t part = s->group_parts[c];
        g->names[c] = ergo_layout_site(&s->layout, s->rank, roots[part]);
        g->sizes[c] = counted ? sizes[part] : 0;
    }
}

/* Names of parts that are in other rectangles, to the device. */
static void rename_parts(struct sw_cut *s, size_t clusters, const uint64_t *before) {
    uint32_t *parts = ergo_engine_host(&s->e, SW_CUT_RENAMED, 0, 0);
    uint64_t *names = ergo_engine_host(&s->e, SW_CUT_NEW_NAMES, 0, 0);
    size_t n = 0;
    for (size_t c = 0; c < clusters; c++)
        if (s->group_names[c] != before[c]) {
            parts[n] = s->group_parts[c];
            names[n++] = s->group_names[c];
        }
    if (!n)
        return;
    ergo_engine_send(&s->e, SW_CUT_RENAMED, 4 * n);
    ergo_engine_send(&s->e, SW_CUT_NEW_NAMES, 8 * n);
    ERGO_LAUNCH(&s->e, SW_CUT_RENAME, sw_cut_over(s, n), BUFFER(SW_CUT_NAMES),
                BUFFER(SW_CUT_RENAMED), BUFFER(SW_CUT_NEW_NAMES), U32(n));
}

/* Clusters of this rectangle alone: those inside, and parts without bonds to others. */
static void count_clusters(const struct sw_cut *s, struct sw_cut_counts *c) {
    const uint32_t *roots = ergo_engine_host(&s->e, SW_CUT_ROOTS, 0, 0);
    const uint32_t *sizes = ergo_engine_host(&s->e, SW_CUT_ROOT_SIZES, 0, 0);
    const uint32_t *clusters = ergo_engine_host(&s->e, SW_CUT_CLUSTERS, 0, 0);
    for (size_t part = 0; part < 2 * edge_sites(s); part++)
        if (roots[part] != SW_CUT_NO_BOND && s->cluster_of[part] == SW_CUT_NO_BOND)
            sw_cut_count(c, sizes[part]);
    for (size_t g = 0; g < s->sum_groups; g++)
        sw_add_clusters(clusters + g * SW_CLUSTER_FIELDS, &c->largest, c->bins, c->squares,
                        c->fourths);
}

/* Bonds between rectangles make their parts one cluster; names of all parts of this rank. */
static void merge(struct sw_cut *s, struct sw_cut_counts *counts) {
    const size_t n = s->group.n_clusters; /* merging changes it */
    uint64_t *before = s->group_names + 2 * edge_sites(s);
    if (s->e.status != ERGO_OK)
        return;
    if (n)
        memcpy(before, s->group.names, n * sizeof *before);
    s->n_parts = n;
    s->e.status = sw_merge_tree(s->e.ctx, s->merge, &s->group, s->group_names, counts);
    if (s->e.status == ERGO_OK)
        rename_parts(s, n, before);
}

void sw_cut_join_parts(struct sw_cut *s, struct sw_cut_counts *counts, double *started) {
    sw_cut_exchange(s, ergo_engine_host(&s->e, SW_CUT_EDGES, 0, 0), s->far_edges, 4 * row_sites(s),
                    4);
    s->times.edge_bytes += 4 * edge_sites(s);
    share_pairs(s);
    make_group(s, counts != NULL);
    s->times.pairs += sw_cut_lap(started);
    if (counts && s->e.status == ERGO_OK)
        count_clusters(s, counts);
    merge(s, counts);
    s->times.merge += sw_cut_lap(started);
}
