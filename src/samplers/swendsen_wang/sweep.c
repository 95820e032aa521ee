/* Swendsen-Wang on a device: sweeps, with and without measurement. */
#include "samplers/swendsen_wang/sw.h"

/* Launch over `items` of each member, in groups of `group`. */
static enum ergo_status launch(struct ergo_context *ctx, struct sw_state *s, enum sw_kernel kernel,
                               const char *name, const struct ergo_arg *args, size_t n_args,
                               size_t items, size_t group) {
    const size_t local[2] = {group, 1};
    const size_t global[2] = {ergo_round_up(items, group), s->batch->count};
    return ergo_kernel_launch(ctx, s->device, s->kernels[kernel], name, args, n_args, 2, global,
                              local, NULL);
}

/* Edges of tiles: the inner ones, and that of the lattice itself. */
enum edges { EDGES_INNER = 1, EDGES_AROUND = 2 };

static enum ergo_status join_tiles(struct ergo_context *ctx, struct sw_state *s, unsigned which) {
    const cl_uint inner_rows = ((cl_uint)s->shape.ly - 1) / s->launch.tile_rows;
    const cl_uint inner_columns = (s->shape.row_words - 1) / s->launch.tile_words;
    const cl_uint row_edge = which & EDGES_INNER ? 0 : inner_rows;
    const cl_uint column_edge = which & EDGES_INNER ? 0 : inner_columns;
    const cl_uint more = which & EDGES_AROUND ? 1 : 0;
    const cl_uint n_rows = inner_rows + more - row_edge;
    const cl_uint n_columns = inner_columns + more - column_edge;
    const size_t items = (size_t)s->shape.row_words * n_rows + (size_t)s->shape.ly * n_columns;
    const struct ergo_arg args[] = {ERGO_ARG(s->right), ERGO_ARG(s->down), ERGO_ARG(s->labels),
                                    ERGO_ARG(row_edge), ERGO_ARG(n_rows),  ERGO_ARG(column_edge),
                                    ERGO_ARG(n_columns)};
    return items ? launch(ctx, s, SW_JOIN_TILES, "sw_join_tiles", args, 7, items, s->launch.group)
                 : ERGO_OK;
}

static enum ergo_status draw_bonds(struct ergo_context *ctx, struct sw_state *s) {
    const cl_ulong step = s->step;
    const struct ergo_arg args[] = {ERGO_ARG(s->spins), ERGO_ARG(s->member_buffer),
                                    ERGO_ARG(s->right), ERGO_ARG(s->down), ERGO_ARG(step)};
    return launch(ctx, s, SW_DRAW_BONDS, "sw_draw_bonds", args, 5, (size_t)s->shape.words,
                  s->launch.group);
}

static enum ergo_status label_tiles(struct ergo_context *ctx, struct sw_state *s, bool sizes) {
    const size_t items = (size_t)s->launch.tile_words * s->launch.tile_rows;
    const size_t tiles = ((s->shape.row_words + s->launch.tile_words - 1) / s->launch.tile_words) *
                         (((size_t)s->shape.ly + s->launch.tile_rows - 1) / s->launch.tile_rows);
    const struct ergo_arg args[] = {ERGO_ARG(s->right), ERGO_ARG(s->down), ERGO_ARG(s->labels),
                                    ERGO_ARG(s->sizes)};
    return sizes ? launch(ctx, s, SW_LABEL_TILE_SIZES, "sw_label_tile_sizes", args, 4,
                          tiles * items, items)
                 : launch(ctx, s, SW_LABEL_TILE, "sw_label_tile", args, 3, tiles * items, items);
}

static enum ergo_status flip(struct ergo_context *ctx, struct sw_state *s) {
    const cl_ulong step = s->step;
    const struct ergo_arg args[] = {ERGO_ARG(s->spins), ERGO_ARG(s->member_buffer),
                                    ERGO_ARG(s->right), ERGO_ARG(s->labels), ERGO_ARG(step)};
    const enum ergo_status status =
        launch(ctx, s, SW_FLIP, "sw_flip", args, 5, (size_t)s->shape.words, s->launch.group);
    s->step++;
    return status;
}

/* ---- label equivalence ----------------------------------------------------------------------- */

static enum ergo_status equivalence_start(struct ergo_context *ctx, struct sw_state *s) {
    const struct ergo_arg args[] = {ERGO_ARG(s->labels)};
    return launch(ctx, s, SW_EQ_START, "sw_equivalence_start", args, 1, 32 * (size_t)s->shape.words,
                  s->launch.group);
}

/* Scanning and analysis until nothing changes. The host has to see that: it waits each time. */
static enum ergo_status equivalence_iterate(struct ergo_context *ctx, struct sw_state *s,
                                            cl_uint around) {
    const size_t sites = 32 * (size_t)s->shape.words;
    enum ergo_status status = ERGO_OK;
    for (cl_uint changed = 1; changed && status == ERGO_OK;) {
        const struct ergo_arg scan[] = {ERGO_ARG(s->right), ERGO_ARG(s->down), ERGO_ARG(s->labels),
                                        ERGO_ARG(s->changed), ERGO_ARG(around)};
        const struct ergo_arg analyse[] = {ERGO_ARG(s->labels)};
        changed = 0;
        status = ergo_buffer_write(ctx, s->device, s->changed, 0, sizeof changed, &changed);
        if (status == ERGO_OK)
            status =
                launch(ctx, s, SW_EQ_SCAN, "sw_equivalence_scan", scan, 5, sites, s->launch.group);
        if (status == ERGO_OK)
            status = launch(ctx, s, SW_EQ_ANALYSE, "sw_equivalence_analyse", analyse, 1, sites,
                            s->launch.group);
        if (status == ERGO_OK)
            status = ergo_buffer_read(ctx, s->device, s->changed, 0, sizeof changed, &changed);
    }
    return status;
}

static enum ergo_status equivalence_sizes(struct ergo_context *ctx, struct sw_state *s) {
    const struct ergo_arg clear[] = {ERGO_ARG(s->sizes)};
    const struct ergo_arg sizes[] = {ERGO_ARG(s->right), ERGO_ARG(s->labels), ERGO_ARG(s->sizes)};
    enum ergo_status status = launch(ctx, s, SW_EQ_CLEAR, "sw_equivalence_clear", clear, 1,
                                     32 * (size_t)s->shape.words, s->launch.group);
    return status == ERGO_OK ? launch(ctx, s, SW_EQ_SIZES, "sw_equivalence_sizes", sizes, 3,
                                      (size_t)s->shape.words, s->launch.group)
                             : status;
}

/* ---- sweeps ---------------------------------------------------------------------------------- */

static enum ergo_status sweep(struct ergo_context *ctx, struct sw_state *s) {
    enum ergo_status status = draw_bonds(ctx, s);
    if (s->launch.equivalence) {
        if (status == ERGO_OK)
            status = equivalence_start(ctx, s);
        if (status == ERGO_OK)
            status = equivalence_iterate(ctx, s, 1);
    } else {
        if (status == ERGO_OK)
            status = label_tiles(ctx, s, false);
        if (status == ERGO_OK)
            status = join_tiles(ctx, s, EDGES_INNER | EDGES_AROUND);
    }
    return status == ERGO_OK ? flip(ctx, s) : status;
}

static enum ergo_status seams(struct ergo_context *ctx, struct sw_state *s, struct sw_slot *slot,
                              cl_uint sample) {
    const struct ergo_arg args[] = {ERGO_ARG(s->right), ERGO_ARG(s->down), ERGO_ARG(s->labels),
                                    ERGO_ARG(slot->results[SW_SEAM_PAIRS]), ERGO_ARG(sample)};
    return launch(ctx, s, SW_SEAMS, "sw_seams", args, 5, s->launch.seam_entries, s->launch.group);
}

static enum ergo_status sum_clusters(struct ergo_context *ctx, struct sw_state *s,
                                     struct sw_slot *slot, cl_uint sample) {
    const size_t group = s->launch.group;
    const struct ergo_arg args[] = {ERGO_ARG(s->right), ERGO_ARG(s->labels),
                                    ERGO_ARG(s->sizes), ERGO_ARG(slot->results[SW_CLUSTERS]),
                                    ERGO_ARG(sample),   ERGO_ARG_LOCAL(8 * group)};
    return launch(ctx, s, SW_SUM_CLUSTERS, "sw_sum_clusters", args, 6, group * s->launch.sum_groups,
                  group);
}

static enum ergo_status measure(struct ergo_context *ctx, struct sw_state *s, struct sw_slot *slot,
                                cl_uint sample) {
    const size_t group = s->launch.group;
    const struct ergo_arg args[] = {ERGO_ARG(s->spins), ERGO_ARG(slot->results[SW_SUMS]),
                                    ERGO_ARG(sample)};
    return launch(ctx, s, SW_MEASURE, "sw_measure", args, 3, group * s->launch.sum_groups, group);
}

/* What is inside the lattice first: bonds around it then tell which clusters wrap. */
static enum ergo_status sweep_measured(struct ergo_context *ctx, struct sw_state *s,
                                       struct sw_slot *slot, cl_uint sample) {
    const bool equivalence = s->launch.equivalence;
    enum ergo_status status = draw_bonds(ctx, s);
    if (status == ERGO_OK)
        status = equivalence ? equivalence_start(ctx, s) : label_tiles(ctx, s, true);
    if (status == ERGO_OK)
        status = equivalence ? equivalence_iterate(ctx, s, 0) : join_tiles(ctx, s, EDGES_INNER);
    if (status == ERGO_OK)
        status = seams(ctx, s, slot, sample);
    if (status == ERGO_OK)
        status = equivalence ? equivalence_iterate(ctx, s, 1) : join_tiles(ctx, s, EDGES_AROUND);
    if (status == ERGO_OK && equivalence)
        status = equivalence_sizes(ctx, s);
    if (status == ERGO_OK && !equivalence) {
        const struct ergo_arg args[] = {ERGO_ARG(s->right), ERGO_ARG(s->labels),
                                        ERGO_ARG(s->sizes)};
        status = launch(ctx, s, SW_ADD_SIZES, "sw_add_sizes", args, 3, (size_t)s->shape.words,
                        s->launch.group);
    }
    if (status == ERGO_OK)
        status = sum_clusters(ctx, s, slot, sample);
    if (status == ERGO_OK)
        status = flip(ctx, s);
    return status == ERGO_OK ? measure(ctx, s, slot, sample) : status;
}

enum ergo_status sw_sweep_measured(struct ergo_context *ctx, struct sw_state *s) {
    return sweep_measured(ctx, s, &s->slots[0], 0);
}

enum ergo_status sw_advance(struct ergo_context *ctx, void *opaque, unsigned which, size_t count,
                            uint64_t every, uint64_t first_sample) {
    struct sw_state *s = opaque;
    struct sw_slot *slot = &s->slots[which];
    enum ergo_status status = ERGO_OK;
    (void)first_sample;
    slot->samples = count;
    for (size_t i = 0; i < (count ? count : 1) && status == ERGO_OK; i++) {
        for (uint64_t e = count ? 1 : 0; e < every && status == ERGO_OK; e++)
            status = sweep(ctx, s);
        if (count && status == ERGO_OK)
            status = sweep_measured(ctx, s, slot, (cl_uint)i);
    }
    const size_t rows = count * s->batch->count;
    const size_t bytes[SW_RESULTS] = {4 * rows * s->launch.sum_groups * s->shape.q,
                                      4 * rows * s->launch.sum_groups * SW_CLUSTER_FIELDS,
                                      8 * rows * s->launch.seam_entries};
    for (int r = 0; r < SW_RESULTS && count && status == ERGO_OK; r++)
        status = ergo_buffer_read_later(ctx, s->device, slot->results[r], 0, bytes[r],
                                        slot->host[r], r + 1 == SW_RESULTS ? &slot->ready : NULL);
    if (status == ERGO_OK)
        clFlush(s->device->queue);
    return status;
}
