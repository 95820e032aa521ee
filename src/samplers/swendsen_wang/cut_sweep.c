/*
 * A sweep of one rectangle of a cut lattice.
 *
 * While the device labels the inside of its rectangle, the spins beyond its lower and right edge
 * come from the neighbours. Then the device lists the roots on the edges; the neighbours' come in
 * exchange, and make pairs of parts where a bond leads across. Parts get their names over ranks
 * (cut_merge.c, cut_neighbour.c), and all clusters their new states.
 */
#include <stdlib.h>
#include <string.h>

#include "samplers/swendsen_wang/cut.h"

enum { TAG_ROW = ERGO_DIST_TAGS + 2, TAG_COLUMN, TAG_PAIRS };

const char *const sw_cut_kernel_names[SW_CUT_KERNELS] = {
    [SW_CUT_START] = "sw_cut_start",
    [SW_CUT_PACK] = "sw_cut_pack",
    [SW_CUT_BONDS] = "sw_cut_bonds",
    [SW_CUT_NEAR] = "sw_cut_near",
    [SW_CUT_PAIRS] = "sw_cut_pairs",
    [SW_CUT_EDGES] = "sw_cut_edges",
    [SW_CUT_PARTS] = "sw_cut_parts",
    [SW_CUT_PART_SIZES] = "sw_cut_part_sizes",
    [SW_CUT_RENAME] = "sw_cut_rename",
    [SW_CUT_FLIP] = "sw_cut_flip",
    [SW_CUT_MEASURE] = "sw_cut_measure",
    [SW_CUT_NAME] = "sw_cut_name",
    [SW_CUT_LABEL_TILE] = "sw_cut_label_tile",
    [SW_CUT_LABEL_TILE_SIZES] = "sw_cut_label_tile_sizes",
    [SW_CUT_JOIN_TILES] = "sw_cut_join_tiles",
    [SW_CUT_ADD_SIZES] = "sw_cut_add_sizes",
    [SW_CUT_SUM_CLUSTERS] = "sw_cut_sum_clusters",
    [SW_CUT_EQ_START] = "sw_cut_equivalence_start",
    [SW_CUT_EQ_SCAN] = "sw_cut_equivalence_scan",
    [SW_CUT_EQ_ANALYSE] = "sw_cut_equivalence_analyse",
    [SW_CUT_EQ_SIZES] = "sw_cut_equivalence_sizes",
    [SW_CUT_NODES] = "sw_cut_nodes",
    [SW_CUT_JOIN_NODES] = "sw_cut_join_nodes",
    [SW_CUT_TAKE_STATES] = "sw_cut_take_states",
    [SW_CUT_TILE_LABEL_ALL] = "sw_label",
    [SW_CUT_TILE_LABEL_SIZES] = "sw_label_sizes",
    [SW_CUT_TILE_JOIN] = "sw_join_tiles",
    [SW_CUT_TILE_NEAR] = "sw_cut_near",
    [SW_CUT_TILE_PAIRS] = "sw_cut_pairs",
    [SW_CUT_TILE_EDGES] = "sw_cut_tile_edges",
    [SW_CUT_TILE_CLEAR] = "sw_cut_tile_clear",
    [SW_CUT_TILE_SIZES] = "sw_cut_tile_sizes",
    [SW_CUT_TILE_SUMS] = "sw_cut_tile_sums",
    [SW_CUT_TILE_NAME] = "sw_cut_tile_name",
    [SW_CUT_TILE_FLIP] = "sw_cut_tile_flip",
};

enum ergo_status sw_cut_launch(struct ergo_context *ctx, struct sw_cut *s,
                               enum sw_cut_kernel kernel, const struct ergo_arg *args,
                               size_t n_args, size_t items, size_t group) {
    const size_t local[2] = {group, 1}, global[2] = {ergo_round_up(items, group), 1};
    return ergo_kernel_launch(ctx, s->device, s->kernels[kernel], sw_cut_kernel_names[kernel], args,
                              n_args, 1, global, local, NULL);
}

#define LAUNCH(kernel, items, ...)                                                                 \
    do {                                                                                           \
        const struct ergo_arg arguments[] = {__VA_ARGS__};                                         \
        if (status == ERGO_OK)                                                                     \
            status =                                                                               \
                sw_cut_launch(ctx, s, kernel, arguments, sizeof arguments / sizeof arguments[0],   \
                              (items), s->group_size);                                             \
    } while (0)

size_t sw_piece_words(const struct sw_piece *piece) {
    return (size_t)piece->words * piece->rows;
}

enum ergo_status sw_cut_write_later(struct ergo_context *ctx, const struct sw_cut *s,
                                    const struct sw_cut_buffer *b, size_t bytes) {
    const cl_int code = bytes ? clEnqueueWriteBuffer(s->device->queue, b->mem, CL_FALSE, 0, bytes,
                                                     b->host, 0, NULL, NULL)
                              : CL_SUCCESS;
    return code == CL_SUCCESS
               ? ERGO_OK
               : ERGO_FAIL_CL(ctx, code, "Writing %zu bytes to device %s (%s) failed", bytes,
                              s->device->summary.id, s->device->summary.name);
}

/* ---- inside ---------------------------------------------------------------------------------- */

static enum ergo_status equivalence(struct ergo_context *ctx, struct sw_cut *s, bool sized) {
    const size_t words = sw_piece_words(&s->piece), sites = 32 * words;
    enum ergo_status status = ERGO_OK;
    LAUNCH(SW_CUT_EQ_START, sites, ERGO_ARG(s->rect), ERGO_ARG(s->labels), ERGO_ARG(s->sizes));
    for (cl_uint changed = 1; changed && status == ERGO_OK;) {
        changed = 0;
        status = ergo_buffer_write(ctx, s->device, s->changed, 0, sizeof changed, &changed);
        LAUNCH(SW_CUT_EQ_SCAN, sites, ERGO_ARG(s->rect), ERGO_ARG(s->right_bonds),
               ERGO_ARG(s->down_bonds), ERGO_ARG(s->labels), ERGO_ARG(s->changed));
        LAUNCH(SW_CUT_EQ_ANALYSE, sites, ERGO_ARG(s->rect), ERGO_ARG(s->labels));
        if (status == ERGO_OK)
            status = ergo_buffer_read(ctx, s->device, s->changed, 0, sizeof changed, &changed);
    }
    if (sized)
        LAUNCH(SW_CUT_EQ_SIZES, words, ERGO_ARG(s->rect), ERGO_ARG(s->right_bonds),
               ERGO_ARG(s->labels), ERGO_ARG(s->sizes));
    return status;
}

static enum ergo_status union_find(struct ergo_context *ctx, struct sw_cut *s, bool sized) {
    const struct sw_piece *p = &s->piece;
    const size_t items = (size_t)s->tile_words * s->tile_rows;
    const size_t tiles = ((p->words + s->tile_words - 1) / s->tile_words) *
                         (((size_t)p->rows + s->tile_rows - 1) / s->tile_rows);
    const cl_uint n_rows = (p->rows - 1) / s->tile_rows;
    const cl_uint n_columns = (p->words - 1) / s->tile_words;
    const size_t joins = (size_t)p->words * n_rows + (size_t)p->rows * n_columns;
    const struct ergo_arg args[] = {ERGO_ARG(s->rect), ERGO_ARG(s->right_bonds),
                                    ERGO_ARG(s->down_bonds), ERGO_ARG(s->labels),
                                    ERGO_ARG(s->sizes)};
    enum ergo_status status =
        sw_cut_launch(ctx, s, sized ? SW_CUT_LABEL_TILE_SIZES : SW_CUT_LABEL_TILE, args,
                      sized ? 5 : 4, tiles * items, items);
    if (joins)
        LAUNCH(SW_CUT_JOIN_TILES, joins, ERGO_ARG(s->rect), ERGO_ARG(s->right_bonds),
               ERGO_ARG(s->down_bonds), ERGO_ARG(s->labels), ERGO_ARG(n_rows), ERGO_ARG(n_columns));
    if (sized)
        LAUNCH(SW_CUT_ADD_SIZES, sw_piece_words(p), ERGO_ARG(s->rect), ERGO_ARG(s->right_bonds),
               ERGO_ARG(s->labels), ERGO_ARG(s->sizes));
    return status;
}

/* Bonds and labels by the kernels of sweep.cl; counted: with sizes at roots, and the clusters that
 * do not leave their tile in the sums. */
static enum ergo_status label_by_tiles(struct ergo_context *ctx, struct sw_cut *s,
                                       struct sw_cut_member *m, bool counted, cl_event *near) {
    const struct sw_piece *p = &s->piece;
    const cl_ulong step = s->step;
    const cl_uint first = 0, n_rows = (p->rows - 1) / s->tiles.tile_rows, none = SW_NO_SAMPLE;
    const cl_uint n_columns = (p->words - 1) / s->tiles.tile_words;
    const cl_uint fields = (cl_uint)(s->clusters.bytes / 4);
    const size_t joins = 32 * (size_t)p->words * n_rows + (size_t)p->rows * n_columns;
    const size_t group = s->tiles.tile_group, items = (size_t)s->tiles.tiles * group;
    const struct ergo_arg args[] = {ERGO_ARG(m->spins),
                                    ERGO_ARG(m->param_buffer),
                                    ERGO_ARG(s->right_bonds),
                                    ERGO_ARG(s->down_bonds),
                                    ERGO_ARG(s->runs),
                                    ERGO_ARG(s->tile_roots),
                                    ERGO_ARG(s->open),
                                    ERGO_ARG(s->labels),
                                    ERGO_ARG(step),
                                    ERGO_ARG(s->sizes),
                                    ERGO_ARG(s->clusters.mem),
                                    ERGO_ARG(first),
                                    ERGO_ARG(s->sums.mem),
                                    ERGO_ARG(none)};
    const struct ergo_arg sizes[] = {ERGO_ARG(s->open), ERGO_ARG(s->labels), ERGO_ARG(s->sizes)};
    enum ergo_status status = ERGO_OK;
    if (counted)
        LAUNCH(SW_CUT_TILE_CLEAR, fields, ERGO_ARG(s->clusters.mem), ERGO_ARG(fields));
    if (status == ERGO_OK)
        status = sw_cut_launch(ctx, s, counted ? SW_CUT_TILE_LABEL_SIZES : SW_CUT_TILE_LABEL_ALL,
                               args, counted ? 14 : 9, items, group);
    if (near && status == ERGO_OK)
        status = sw_gather_near(ctx, s, m, near);
    if (joins)
        LAUNCH(SW_CUT_TILE_JOIN, joins, ERGO_ARG(s->right_bonds), ERGO_ARG(s->down_bonds),
               ERGO_ARG(s->runs), ERGO_ARG(s->labels), ERGO_ARG(first), ERGO_ARG(n_rows),
               ERGO_ARG(first), ERGO_ARG(n_columns), ERGO_ARG(s->clusters.mem), ERGO_ARG(none));
    if (counted && status == ERGO_OK)
        status = sw_cut_launch(ctx, s, SW_CUT_TILE_SIZES, sizes, 3, items, group);
    return status;
}

enum ergo_status sw_cut_local(struct ergo_context *ctx, struct sw_cut *s, struct sw_cut_member *m,
                              bool counted, cl_event *near) {
    const cl_ulong step = s->step;
    enum ergo_status status = ERGO_OK;
    if (s->by_tiles)
        return label_by_tiles(ctx, s, m, counted, near);
    LAUNCH(SW_CUT_BONDS, sw_piece_words(&s->piece), ERGO_ARG(m->spins), ERGO_ARG(m->param_buffer),
           ERGO_ARG(s->rect), ERGO_ARG(s->right_bonds), ERGO_ARG(s->down_bonds), ERGO_ARG(step));
    if (status == ERGO_OK)
        status = s->equivalence ? equivalence(ctx, s, counted) : union_find(ctx, s, counted);
    return near && status == ERGO_OK ? sw_gather_near(ctx, s, m, near) : status;
}

static enum ergo_status flip(struct ergo_context *ctx, struct sw_cut *s, struct sw_cut_member *m) {
    const cl_ulong step = s->step;
    enum ergo_status status = ERGO_OK;
    const struct ergo_arg args[] = {ERGO_ARG(m->spins), ERGO_ARG(m->param_buffer),
                                    ERGO_ARG(s->rect),  ERGO_ARG(s->right_bonds),
                                    ERGO_ARG(s->runs),  ERGO_ARG(s->tile_roots),
                                    ERGO_ARG(s->open),  ERGO_ARG(s->labels),
                                    ERGO_ARG(s->names), ERGO_ARG(step)};
    m->fresh = false;
    if (s->by_tiles)
        return sw_cut_launch(ctx, s, SW_CUT_TILE_FLIP, args, 10,
                             (size_t)s->tiles.tiles * s->tiles.tile_group, s->tiles.tile_group);
    LAUNCH(SW_CUT_FLIP, sw_piece_words(&s->piece), ERGO_ARG(m->spins), ERGO_ARG(m->param_buffer),
           ERGO_ARG(s->rect), ERGO_ARG(s->right_bonds), ERGO_ARG(s->labels), ERGO_ARG(s->names),
           ERGO_ARG(step));
    return status;
}

/* ---- halo ------------------------------------------------------------------------------------ */

static size_t row_bytes(const struct sw_cut *s) {
    return 4 * (size_t)s->shape.planes * s->piece.words;
}

static enum ergo_status halo_start(struct ergo_context *ctx, struct sw_cut *s,
                                   struct sw_cut_member *m, cl_event *packed) {
    enum ergo_status status = ERGO_OK;
    LAUNCH(SW_CUT_PACK, (size_t)s->shape.planes * s->piece.words + s->piece.rows,
           ERGO_ARG(m->spins), ERGO_ARG(s->rect), ERGO_ARG(s->out.mem));
    if (status == ERGO_OK)
        status = ergo_buffer_read_later(ctx, s->device, s->out.mem, 0, row_bytes(s) + s->piece.rows,
                                        s->out.host, packed);
    if (status == ERGO_OK)
        clFlush(s->device->queue);
    return status;
}

enum ergo_status sw_cut_exchange(struct ergo_context *ctx, struct sw_cut *s, const void *mine,
                                 void *theirs, size_t row, size_t of_row) {
    const char *out = mine;
    char *in = theirs;
    enum ergo_status status =
        ergo_dist_post_receive(ctx, s->posts, s->below.rank, TAG_ROW, in, row);
    for (size_t k = 0; k < s->n_right && status == ERGO_OK; k++)
        status = ergo_dist_post_receive(ctx, s->posts, s->right[k].rank, TAG_COLUMN,
                                        in + row + of_row * s->right[k].first,
                                        of_row * s->right[k].count);
    if (status == ERGO_OK)
        status = ergo_dist_post_send(ctx, s->posts, s->above.rank, TAG_ROW, out, row);
    for (size_t k = 0; k < s->n_left && status == ERGO_OK; k++)
        status =
            ergo_dist_post_send(ctx, s->posts, s->left[k].rank, TAG_COLUMN,
                                out + row + of_row * s->left[k].first, of_row * s->left[k].count);
    if (status == ERGO_OK)
        ergo_dist_posts_wait(s->posts);
    return status;
}

static enum ergo_status halo_finish(struct ergo_context *ctx, struct sw_cut *s,
                                    struct sw_cut_member *m, cl_event *packed) {
    const double started = ergo_clock();
    enum ergo_status status = ergo_event_wait(ctx, s->device, packed, NULL);
    s->times.busy += ergo_clock() - started;
    if (status == ERGO_OK)
        status = sw_cut_exchange(ctx, s, s->out.host, m->in.host, row_bytes(s), 1);
    if (status == ERGO_OK)
        status = sw_cut_write_later(ctx, s, &m->in, row_bytes(s) + s->piece.rows);
    s->times.halo_bytes += row_bytes(s) + s->piece.rows;
    m->fresh = true;
    return status;
}

/* ---- parts ----------------------------------------------------------------------------------- */

static enum ergo_status no_memory(struct ergo_context *ctx) {
    return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for the clusters on a rectangle's edges");
}

static size_t row_sites(const struct sw_cut *s) {
    return 32 * (size_t)s->piece.words;
}

static size_t edge_sites(const struct sw_cut *s) {
    return row_sites(s) + s->piece.rows;
}

/* Parts on the edges, from the device; counted: with their sizes, and sums over all other clusters.
 */
static enum ergo_status find_parts(struct ergo_context *ctx, struct sw_cut *s,
                                   struct sw_cut_member *m, bool counted) {
    const cl_ulong step = s->step;
    const size_t items = 2 * edge_sites(s);
    const cl_uint n = (cl_uint)items;
    enum ergo_status status = ERGO_OK;
    cl_event ready = NULL;
    if (s->by_tiles)
        LAUNCH(SW_CUT_TILE_EDGES, items, ERGO_ARG(m->spins), ERGO_ARG(m->param_buffer),
               ERGO_ARG(s->rect), ERGO_ARG(m->in.mem), ERGO_ARG(s->right_bonds), ERGO_ARG(s->runs),
               ERGO_ARG(s->labels), ERGO_ARG(s->edges.mem), ERGO_ARG(step));
    else
        LAUNCH(SW_CUT_EDGES, items, ERGO_ARG(m->spins), ERGO_ARG(m->param_buffer),
               ERGO_ARG(s->rect), ERGO_ARG(m->in.mem), ERGO_ARG(s->right_bonds),
               ERGO_ARG(s->labels), ERGO_ARG(s->edges.mem), ERGO_ARG(step));
    LAUNCH(SW_CUT_PARTS, items, ERGO_ARG(s->rect), ERGO_ARG(s->labels), ERGO_ARG(s->edges.mem),
           ERGO_ARG(s->roots.mem), ERGO_ARG(s->names));
    if (counted) {
        LAUNCH(SW_CUT_PART_SIZES, items, ERGO_ARG(s->sizes), ERGO_ARG(s->roots.mem),
               ERGO_ARG(s->part_sizes.mem), ERGO_ARG(n));
        if (s->by_tiles)
            LAUNCH(SW_CUT_TILE_SUMS, (size_t)s->group_size * s->sum_groups, ERGO_ARG(s->open),
                   ERGO_ARG(s->labels), ERGO_ARG(s->sizes), ERGO_ARG(s->clusters.mem));
        else
            LAUNCH(SW_CUT_SUM_CLUSTERS, (size_t)s->group_size * s->sum_groups, ERGO_ARG(s->rect),
                   ERGO_ARG(s->right_bonds), ERGO_ARG(s->labels), ERGO_ARG(s->sizes),
                   ERGO_ARG(s->clusters.mem));
    }
    if (status == ERGO_OK)
        status =
            ergo_buffer_read_later(ctx, s->device, s->roots.mem, 0, 4 * items, s->roots.host, NULL);
    if (counted && status == ERGO_OK)
        status = ergo_buffer_read_later(ctx, s->device, s->part_sizes.mem, 0, 4 * items,
                                        s->part_sizes.host, NULL);
    if (counted && status == ERGO_OK)
        status = ergo_buffer_read_later(ctx, s->device, s->clusters.mem, 0, s->clusters.bytes,
                                        s->clusters.host, NULL);
    if (status == ERGO_OK)
        status = ergo_buffer_read_later(ctx, s->device, s->edges.mem, 0, 4 * items, s->edges.host,
                                        &ready);
    return status == ERGO_OK ? ergo_event_wait(ctx, s->device, &ready, NULL) : status;
}

/* The distinct pairs of a stretch of an edge; all but a few of those that come again are left out.
 */
static void find_pairs(const uint32_t *own, const uint32_t *far, size_t count, uint32_t *pairs) {
    enum { SEEN = 4096 };
    uint64_t seen[SEEN];
    uint32_t n = 0;
    memset(seen, 0xff, sizeof seen);
    for (size_t k = 0; k < count; k++) {
        if (own[k] == SW_CUT_NO_BOND)
            continue;
        const uint64_t key = (uint64_t)own[k] << 32 | far[k];
        uint64_t *slot = &seen[(key * UINT64_C(0x9E3779B97F4A7C15)) >> 52];
        if (*slot == key)
            continue;
        *slot = key;
        pairs[1 + 2 * n] = own[k];
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

static enum ergo_status tell(struct ergo_context *ctx, struct sw_cut *s, const struct sw_link *link,
                             size_t k, bool row) {
    const uint32_t *pairs = pairs_of(s, s->found, k, link->first);
    const size_t bytes = 4 * (1 + 2 * (size_t)pairs[0]);
    s->times.pair_bytes += bytes;
    return ergo_dist_post_send(ctx, s->posts, link->rank, row ? TAG_PAIRS : TAG_PAIRS + 1, pairs,
                               bytes);
}

/* Pairs across the lower and right edges, found here; those across the others, found by neighbours,
 * who have the same bonds. */
static enum ergo_status share_pairs(struct ergo_context *ctx, struct sw_cut *s) {
    const size_t row = row_sites(s), outer = edge_sites(s);
    const uint32_t *edges = s->edges.host;
    enum ergo_status status = ergo_dist_post_receive(ctx, s->posts, s->above.rank, TAG_PAIRS,
                                                     pairs_of(s, s->told, 0, 0), 4 * (1 + 2 * row));
    for (size_t k = 0; k < s->n_left && status == ERGO_OK; k++)
        status = ergo_dist_post_receive(ctx, s->posts, s->left[k].rank, TAG_PAIRS + 1,
                                        pairs_of(s, s->told, k + 1, s->left[k].first),
                                        4 * (1 + 2 * (size_t)s->left[k].count));
    find_pairs(edges + outer, s->far_edges, row, pairs_of(s, s->found, 0, 0));
    if (status == ERGO_OK)
        status = tell(ctx, s, &s->below, 0, true);
    for (size_t k = 0; k < s->n_right && status == ERGO_OK; k++) {
        const size_t at = row + s->right[k].first;
        find_pairs(edges + outer + at, s->far_edges + at, s->right[k].count,
                   pairs_of(s, s->found, k + 1, s->right[k].first));
        status = tell(ctx, s, &s->right[k], k + 1, false);
    }
    if (status == ERGO_OK)
        ergo_dist_posts_wait(s->posts);
    return status;
}

/* Ports of a link's bonds; which of a pair's parts is this rank's: 0 the first, 1 the second. */
static void add_block(struct sw_cut *s, const struct sw_link *link, const uint32_t *pairs,
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
static enum ergo_status make_group(struct ergo_context *ctx, struct sw_cut *s, bool counted) {
    struct sw_group *g = &s->group;
    const size_t items = 2 * edge_sites(s);
    const uint32_t *roots = s->roots.host, *sizes = s->part_sizes.host;
    if (!sw_group_room(g, items, 2 + s->n_right + s->n_left, 2 * items))
        return no_memory(ctx);
    g->n_clusters = g->n_blocks = g->n_ports = 0;
    memset(s->cluster_of, 0xff, items * sizeof *s->cluster_of);
    add_block(s, &s->below, pairs_of(s, s->found, 0, 0), 0, 0, s->below.around);
    add_block(s, &s->above, pairs_of(s, s->told, 0, 0), 1, 0, s->above.around ? -1 : 0);
    for (size_t k = 0; k < s->n_right; k++)
        add_block(s, &s->right[k], pairs_of(s, s->found, k + 1, s->right[k].first), 0,
                  s->right[k].around, 0);
    for (size_t k = 0; k < s->n_left; k++)
        add_block(s, &s->left[k], pairs_of(s, s->told, k + 1, s->left[k].first), 1,
                  s->left[k].around ? -1 : 0, 0);
    for (size_t c = 0; c < g->n_clusters; c++) {
        const uint32_t part = s->group_parts[c];
        g->names[c] = sw_piece_site(&s->layout, s->rank, roots[part]);
        g->sizes[c] = counted ? sizes[part] : 0;
    }
    return ERGO_OK;
}

/* ---- sweep ----------------------------------------------------------------------------------- */

/* Names of parts that are in other rectangles, to the device. */
static enum ergo_status rename_parts(struct ergo_context *ctx, struct sw_cut *s, size_t clusters,
                                     const uint64_t *before) {
    uint32_t *parts = s->parts.host;
    uint64_t *renamed = s->renamed.host;
    cl_uint n = 0;
    for (size_t c = 0; c < clusters; c++)
        if (s->group_names[c] != before[c]) {
            parts[n] = s->group_parts[c];
            renamed[n++] = s->group_names[c];
        }
    if (!n)
        return ERGO_OK;
    enum ergo_status status = sw_cut_write_later(ctx, s, &s->parts, 4 * (size_t)n);
    if (status == ERGO_OK)
        status = sw_cut_write_later(ctx, s, &s->renamed, 8 * (size_t)n);
    LAUNCH(SW_CUT_RENAME, n, ERGO_ARG(s->names), ERGO_ARG(s->parts.mem), ERGO_ARG(s->renamed.mem),
           ERGO_ARG(n));
    return status;
}

/* Clusters of this rectangle alone: those inside, and parts without bonds to others. */
static void count_clusters(const struct sw_cut *s, struct sw_cut_counts *c) {
    const uint32_t *roots = s->roots.host, *sizes = s->part_sizes.host;
    for (size_t part = 0; part < 2 * edge_sites(s); part++)
        if (roots[part] != SW_CUT_NO_BOND && s->cluster_of[part] == SW_CUT_NO_BOND)
            sw_cut_count(c, sizes[part]);
    for (size_t g = 0; g < s->sum_groups; g++)
        sw_add_clusters((const uint32_t *)s->clusters.host + g * SW_CLUSTER_FIELDS, &c->largest,
                        c->bins, c->squares, c->fourths);
}

static enum ergo_status count_spins(struct ergo_context *ctx, struct sw_cut *s,
                                    struct sw_cut_member *m, struct sw_cut_counts *c) {
    const size_t q = s->shape.q;
    cl_event packed = NULL;
    enum ergo_status status = halo_start(ctx, s, m, &packed);
    if (status == ERGO_OK)
        status = halo_finish(ctx, s, m, &packed);
    LAUNCH(SW_CUT_MEASURE, (size_t)s->group_size * s->sum_groups, ERGO_ARG(m->spins),
           ERGO_ARG(s->rect), ERGO_ARG(m->in.mem), ERGO_ARG(s->sums.mem));
    if (status == ERGO_OK)
        status = ergo_buffer_read(ctx, s->device, s->sums.mem, 0, s->sums.bytes, s->sums.host);
    for (size_t g = 0; g < s->sum_groups && status == ERGO_OK; g++) {
        const uint32_t *part = (const uint32_t *)s->sums.host + g * q;
        c->unequal += part[0];
        for (size_t k = 1; k < q; k++)
            c->states[k] += part[k];
    }
    return status;
}

/* Bonds between rectangles make their parts one cluster; names of all parts of this rank. */
static enum ergo_status merge(struct ergo_context *ctx, struct sw_cut *s,
                              struct sw_cut_counts *counts) {
    const size_t n = s->group.n_clusters; /* merging changes it */
    uint64_t *before = s->group_names + 2 * edge_sites(s);
    if (n)
        memcpy(before, s->group.names, n * sizeof *before);
    s->n_parts = n;
    enum ergo_status status =
        s->neighbour ? sw_merge_neighbours(ctx, s->merge, &s->layout, s->posts, &s->group,
                                           s->group_names, counts, &s->times.rounds)
                     : sw_merge_tree(ctx, s->merge, &s->group, s->group_names, counts);
    return status == ERGO_OK ? rename_parts(ctx, s, n, before) : status;
}

double sw_cut_lap(double *started) {
    const double now = ergo_clock(), seconds = now - *started;
    *started = now;
    return seconds;
}

static enum ergo_status by_hosts(struct ergo_context *ctx, struct sw_cut *s,
                                 struct sw_cut_counts *counts, double *started) {
    enum ergo_status status =
        sw_cut_exchange(ctx, s, s->edges.host, s->far_edges, 4 * row_sites(s), 4);
    s->times.edge_bytes += 4 * edge_sites(s);
    if (status == ERGO_OK)
        status = share_pairs(ctx, s);
    if (status == ERGO_OK)
        status = make_group(ctx, s, counts != NULL);
    s->times.pairs += sw_cut_lap(started);
    if (counts && status == ERGO_OK)
        count_clusters(s, counts);
    if (status == ERGO_OK)
        status = merge(ctx, s, counts);
    s->times.merge += sw_cut_lap(started);
    return status;
}

/* One sweep of a member at s->step, which stays; counts: measured, NULL: not. */
static enum ergo_status sweep(struct ergo_context *ctx, struct sw_cut *s, struct sw_cut_member *m,
                              struct sw_cut_counts *counts) {
    const bool fresh = m->fresh;
    cl_event packed = NULL;
    enum ergo_status status = ERGO_OK;
    double started = ergo_clock();
    if (s->gathers && !counts) {
        status = sw_gather_names(ctx, s, m);
        started = ergo_clock();
        if (status == ERGO_OK)
            status = flip(ctx, s, m);
        clFlush(s->device->queue);
        s->times.flip += sw_cut_lap(&started);
        s->times.sweeps++;
        return status;
    }
    if (counts)
        *counts = (struct sw_cut_counts){0};
    if (!fresh)
        status = halo_start(ctx, s, m, &packed);
    if (status == ERGO_OK)
        status = sw_cut_local(ctx, s, m, counts != NULL, NULL);
    if (status == ERGO_OK)
        clFlush(s->device->queue);
    s->times.local += sw_cut_lap(&started);
    if (!fresh && status == ERGO_OK)
        status = halo_finish(ctx, s, m, &packed);
    s->times.halo += sw_cut_lap(&started);
    if (status == ERGO_OK)
        status = find_parts(ctx, s, m, counts != NULL);
    const double waited = sw_cut_lap(&started);
    s->times.local += waited;
    s->times.busy += waited;
    if (status == ERGO_OK)
        status = by_hosts(ctx, s, counts, &started);
    if (status == ERGO_OK)
        status = flip(ctx, s, m);
    if (counts && status == ERGO_OK)
        status = count_spins(ctx, s, m, counts);
    s->times.flip += sw_cut_lap(&started);
    s->times.sweeps++;
    return status;
}

/* What is asked for; counts NULL: nothing. */
static enum ergo_status sweep_asked(struct ergo_context *ctx, struct sw_cut *s,
                                    struct sw_cut_member *m, struct sw_cut_counts *counts) {
    if (s->of_clusters || !counts)
        return sweep(ctx, s, m, counts);
    *counts = (struct sw_cut_counts){0};
    const enum ergo_status status = sweep(ctx, s, m, NULL);
    return status == ERGO_OK ? count_spins(ctx, s, m, counts) : status;
}

/* ---- blocks ---------------------------------------------------------------------------------- */

enum ergo_status sw_cut_advance(struct ergo_context *ctx, void *opaque, unsigned which,
                                size_t count, uint64_t every, uint64_t first_sample) {
    struct sw_cut *s = opaque;
    const size_t members = s->batch->count;
    const double busy = s->times.busy;
    const uint64_t step = s->step;
    enum ergo_status status = ERGO_OK;
    (void)first_sample;
    s->slot_samples[which] = count;
    for (size_t i = 0; i < (count ? count : 1) && status == ERGO_OK; i++)
        for (uint64_t e = 0; e < every && status == ERGO_OK; e++) {
            const bool measured = count && e + 1 == every;
            for (size_t m = 0; m < members && status == ERGO_OK; m++)
                status = sweep_asked(ctx, s, &s->members[m],
                                     measured ? &s->slots[which][i * members + m] : NULL);
            s->step++;
        }
    for (size_t row = 0; row < count * members && status == ERGO_OK; row++)
        sw_cut_count_reduce(&s->slots[which][row]);
    s->busy += s->times.busy - busy;
    s->busy_sweeps += s->step - step;
    return status == ERGO_OK && s->by_speed ? sw_cut_balance(ctx, s) : status;
}
