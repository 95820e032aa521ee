/*
 * What of clusters reaches the edges of a rectangle: its parts, from the device; bridges, what
 * bonds to other rectangles connect, each known to both sides by the same number; names of parts,
 * when ranks have joined them (rounds.h).
 */
#include <stdlib.h>

#include "samplers/swendsen_wang/cut.h"

/* Sites of edges that are worth waking threads: some 40 us of work. */
enum { FOR_THREADS = 4096 };

static size_t row_sites(const struct sw_cut *s) {
    return 32 * (size_t)s->piece.words;
}

static size_t edge_sites(const struct sw_cut *s) {
    return row_sites(s) + s->piece.rows;
}

/* ---- sides ----------------------------------------------------------------------------------- */

/* Parts on a rectangle's edges are numbered below this. */
static size_t most_parts(const struct sw_cut *s, int rank) {
    const struct ergo_rectangle *p = &s->layout.rectangles[rank];
    return 2 * (32 * (size_t)p->words + p->rows);
}

static void add_border(const struct sw_cut *s, struct sw_border *borders, size_t *n,
                       const struct ergo_link *link, unsigned way) {
    const bool row = way <= SW_WAY_UP;
    borders[(*n)++] = (struct sw_border){.rank = link->rank,
                                         .way = way,
                                         .odd = !link->around ? 0
                                                : row         ? SW_AROUND_Y
                                                              : SW_AROUND_X,
                                         .first = row ? 0 : row_sites(s) + link->first,
                                         .sites = row ? row_sites(s) : link->count,
                                         .most_far = most_parts(s, link->rank)};
}

/* Below, above, right, left. Bridges are found from above and from the left. */
enum ergo_status sw_cut_make_sides(struct sw_cut *s) {
    const struct ergo_halo *h = &s->halo;
    size_t n = 0;
    struct sw_border *borders = calloc(2 + h->n_right + h->n_left, sizeof *borders);
    if (!borders)
        return ERGO_FAIL(s->e.ctx, ERGO_E_MEMORY, "no memory for a rectangle's sides");
    add_border(s, borders, &n, &h->below, SW_WAY_DOWN);
    add_border(s, borders, &n, &h->above, SW_WAY_UP);
    for (size_t k = 0; k < h->n_right; k++)
        add_border(s, borders, &n, &h->right[k], SW_WAY_EAST);
    for (size_t k = 0; k < h->n_left; k++)
        add_border(s, borders, &n, &h->left[k], SW_WAY_WEST);
    s->rounds.rank = s->rank;
    s->rounds.ranks = s->layout.ranks;
    s->rounds.posts = h->posts;
    const enum ergo_status status =
        sw_rounds_prepare(&s->e, &s->rounds, borders, n, most_parts(s, s->rank));
    free(borders);
    return status;
}

/* ---- from the device ---------------------------------------------------------------------------
 */

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
                    BUFFER(SW_CUT_RECT), BUFFER(SW_CUT_OPEN), BUFFER(SW_CUT_LABELS),
                    BUFFER(SW_CUT_SIZES), BUFFER(SW_CUT_CLUSTERS));
        if (s->distances)
            sw_lines_waves(s);
        fetch(s, SW_CUT_ROOT_SIZES, 4 * items);
        fetch(s, SW_CUT_CLUSTERS, (size_t)s->e.buffers[SW_CUT_CLUSTERS].bytes);
    }
    fetch(s, SW_CUT_ROOTS, 4 * items);
    fetch(s, SW_CUT_EDGES, 4 * items);
    clFlush(s->e.device->queue);
}

void sw_cut_await_parts(struct sw_cut *s) {
    ergo_engine_await(&s->e, SW_CUT_EDGES); /* and what was asked for before */
}

/* ---- names ----------------------------------------------------------------------------------- */

/* Names of parts that are in other rectangles: a list for the device. */
static void list_name(struct sw_cut *s, size_t i, uint32_t *entry) {
    uint32_t *parts = ergo_engine_host(&s->e, SW_CUT_RENAMED, 0, 0);
    uint64_t *names = ergo_engine_host(&s->e, SW_CUT_NEW_NAMES, 0, 0);
    const uint64_t name = sw_joining_name(&s->rounds.joining, i);
    if (*entry == SW_CUT_NO_BOND) {
        if (name == s->part_names[i])
            return;
        *entry = (uint32_t)s->n_renamed++;
    }
    parts[*entry] = s->rounds.parts[i];
    names[*entry] = name;
}

static void rename_parts(struct sw_cut *s) {
    if (!s->n_renamed)
        return;
    ergo_engine_send(&s->e, SW_CUT_RENAMED, 4 * s->n_renamed);
    ergo_engine_send(&s->e, SW_CUT_NEW_NAMES, 8 * s->n_renamed);
    ERGO_LAUNCH(&s->e, SW_CUT_RENAME, sw_cut_over(s, s->n_renamed), BUFFER(SW_CUT_NAMES),
                BUFFER(SW_CUT_RENAMED), BUFFER(SW_CUT_NEW_NAMES), U32(s->n_renamed));
}

/* Of all parts; part_sizes are then free, and remember where these stand. */
static void list_names(struct sw_cut *s) {
    s->n_renamed = 0;
    for (size_t i = 0; i < s->n_parts; i++) {
        s->part_sizes[i] = SW_CUT_NO_BOND;
        list_name(s, i, &s->part_sizes[i]);
    }
}

/* Clusters of this rectangle alone: those inside, and parts without bonds to others. */
static void count_clusters(const struct sw_cut *s, struct sw_cut_counts *c) {
    const uint32_t *roots = ergo_engine_host(&s->e, SW_CUT_ROOTS, 0, 0);
    const uint32_t *sizes = ergo_engine_host(&s->e, SW_CUT_ROOT_SIZES, 0, 0);
    const uint32_t *clusters = ergo_engine_host(&s->e, SW_CUT_CLUSTERS, 0, 0);
    const uint64_t *waves = ergo_engine_host(&s->e, SW_CUT_WAVES_EDGES, 0, 0);
    for (size_t part = 0; part < 2 * edge_sites(s); part++)
        if (roots[part] != SW_CUT_NO_BOND && s->rounds.index_of[part] == SW_CUT_NO_BOND)
            sw_cut_count(c, &(struct sw_sum){sizes[part],
                                             {s->distances ? waves[2 * part] : 0,
                                              s->distances ? waves[2 * part + 1] : 0}});
    for (size_t g = 0; g < s->sum_groups; g++)
        sw_add_clusters(clusters + g * SW_CLUSTER_FIELDS, &c->largest, c->bins, c->squares,
                        c->fourths);
    if (s->distances)
        sw_waves_take(c->correlations.waves, ergo_engine_host(&s->e, SW_CUT_WAVES, 0, 0));
}

static void name_parts(struct sw_cut *s, const uint32_t *roots) {
    for (size_t i = 0; i < s->n_parts; i++)
        s->part_names[i] = ergo_layout_site(&s->layout, s->rank, roots[s->rounds.parts[i]]);
}

static void size_parts(struct sw_cut *s) {
    const uint32_t *sizes = ergo_engine_host(&s->e, SW_CUT_ROOT_SIZES, 0, 0);
    const uint64_t *waves = ergo_engine_host(&s->e, SW_CUT_WAVES_EDGES, 0, 0);
    for (size_t i = 0; i < s->n_parts; i++) {
        s->part_sizes[i] = sizes[s->rounds.parts[i]];
        for (size_t wave = 0; wave < 2 && s->distances; wave++)
            s->part_waves[i][wave] = waves[2 * s->rounds.parts[i] + wave];
    }
}

static void join_lap(struct sw_cut *s) {
    s->times.merge += ergo_engine_lap(&s->e);
    s->times.pair_bytes += s->rounds.bytes;
    s->rounds.bytes = 0;
}

/* Bridges between the parts in `edges`, which have these roots, and their names. */
static struct sw_parts bridge_parts(struct sw_cut *s, unsigned edges, unsigned roots) {
    const uint32_t *mine = ergo_engine_host(&s->e, edges, 0, 0);
    sw_cut_exchange(s, mine, s->far_edges, 4 * row_sites(s), 4);
    s->times.edge_bytes += 4 * edge_sites(s);
    if (s->e.status == ERGO_OK)
        s->e.status = sw_rounds_bridge(s->e.ctx, &s->rounds, mine + edge_sites(s), s->far_edges,
                                       edge_sites(s) >= FOR_THREADS && !ergo_dist_crowded());
    s->n_parts = s->rounds.n_parts;
    if (s->e.status == ERGO_OK)
        name_parts(s, ergo_engine_host(&s->e, roots, 0, 0));
    s->times.pairs += ergo_engine_lap(&s->e);
    return (struct sw_parts){.narrow = s->shape.sites <= UINT64_C(1) << 32,
                             .n_parts = s->n_parts,
                             .names = s->part_names,
                             .n_sides = s->rounds.n_sides,
                             .sides = s->rounds.sides};
}

void sw_cut_join_parts(struct sw_cut *s, struct sw_cut_counts *counts) {
    struct sw_parts parts = bridge_parts(s, SW_CUT_EDGES, SW_CUT_ROOTS);
    if (s->e.status != ERGO_OK)
        return;
    if (counts) {
        size_parts(s);
        parts.sizes = s->part_sizes;
        parts.narrow = s->shape.sites <= UINT64_C(1) << (32 - SW_ODD_BITS);
        parts.n_waves = s->distances ? 2 : 0;
        parts.waves = &s->part_waves[0][0];
        count_clusters(s, counts);
    }
    s->e.status = sw_rounds_join(s->e.ctx, &s->rounds, &parts, counts ? sw_cut_take : NULL, counts);
    if (counts)
        counts->wraps |= s->rounds.joining.wraps;
    if (s->e.status == ERGO_OK) {
        list_names(s);
        rename_parts(s);
    }
    join_lap(s);
}

/* ---- edges first ----------------------------------------------------------------------------- */

void sw_cut_join_early(struct sw_cut *s) {
    struct sw_parts parts = bridge_parts(s, SW_CUT_EARLY, SW_CUT_EARLY_ROOTS);
    if (s->e.status == ERGO_OK)
        s->e.status = sw_rounds_early(s->e.ctx, &s->rounds, &parts);
    if (s->e.status == ERGO_OK) {
        list_names(s);
        sw_joining_note(&s->rounds.joining);
    }
    join_lap(s);
}

/* Parts in tiles become those of the rectangle. Most stay as they are; of the others, those with
 * the same number are one. False: a number that cannot be. */
static bool connect_parts(struct sw_cut *s) {
    const uint32_t *edges = ergo_engine_host(&s->e, SW_CUT_EDGES, 0, 0);
    const uint32_t *roots = ergo_engine_host(&s->e, SW_CUT_ROOTS, 0, 0);
    const uint32_t *early = ergo_engine_host(&s->e, SW_CUT_EARLY_ROOTS, 0, 0);
    for (size_t i = 0; i < s->n_parts; i++) {
        const uint32_t before = s->rounds.parts[i], number = edges[before];
        if (number == before && roots[number] == early[before])
            continue;
        if (number >= 2 * edge_sites(s))
            return false;
        if (s->rounds.index_of[number] == SW_CUT_NO_BOND)
            s->rounds.index_of[number] = (uint32_t)i;
        s->rounds.parts[i] = number;
        s->part_names[i] = ergo_layout_site(&s->layout, s->rank, roots[number]);
        sw_joining_connect(&s->rounds.joining, (uint32_t)i, s->rounds.index_of[number],
                           s->part_names[i]);
    }
    return true;
}

void sw_cut_join_late(struct sw_cut *s) {
    if (s->e.status != ERGO_OK)
        return;
    if (!connect_parts(s))
        s->e.status = ERGO_FAIL(s->e.ctx, ERGO_E_DEVICE,
                                "rank %d: %s lost a part of a cluster on a rectangle's edge; try "
                                "another device, or another /system/merge",
                                s->rank, s->e.device->summary.name);
    if (s->e.status == ERGO_OK)
        s->e.status = sw_rounds_late(s->e.ctx, &s->rounds);
    for (size_t i = 0; i < s->n_parts && s->e.status == ERGO_OK; i++)
        if (sw_joining_touched(&s->rounds.joining, i))
            list_name(s, i, &s->part_sizes[i]);
    rename_parts(s);
    join_lap(s);
}
