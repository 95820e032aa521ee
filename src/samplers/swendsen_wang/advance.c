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

/* ---- tiles: slot NULL, sample SW_NO_SAMPLE where clusters are not measured ------------------ */

/* Measured: sizes of clusters; and of sample `before` of `of` (or SW_NO_SAMPLE), which has left the
 * spins, what they say. */
static enum ergo_status label_tiles(struct ergo_context *ctx, struct sw_state *s,
                                    const struct sw_slot *slot, cl_uint sample,
                                    const struct sw_slot *of, cl_uint before) {
    const size_t group = s->launch.tile_group, items = (size_t)s->launch.tiles * group;
    const struct sw_slot *to = slot ? slot : &s->slots[0];
    cl_mem clusters = to->results[SW_CLUSTERS], spins = (of ? of : to)->results[SW_SUMS];
    const cl_ulong step = s->step;
    const struct ergo_arg args[] = {ERGO_ARG(s->spins), ERGO_ARG(s->member_buffer),
                                    ERGO_ARG(s->right), ERGO_ARG(s->down),
                                    ERGO_ARG(s->runs),  ERGO_ARG(s->roots),
                                    ERGO_ARG(s->open),  ERGO_ARG(s->labels),
                                    ERGO_ARG(step),     ERGO_ARG(s->sizes),
                                    ERGO_ARG(clusters), ERGO_ARG(sample),
                                    ERGO_ARG(spins),    ERGO_ARG(before)};
    const struct ergo_arg with_spins[] = {args[0], args[1], args[2], args[3],  args[4], args[5],
                                          args[6], args[7], args[8], args[12], args[13]};
    if (slot)
        return launch(ctx, s, SW_LABEL_SIZES, "sw_label_sizes", args, 14, items, group);
    return before != SW_NO_SAMPLE
               ? launch(ctx, s, SW_LABEL_SPINS, "sw_label_spins", with_spins, 11, items, group)
               : launch(ctx, s, SW_LABEL, "sw_label", args, 9, items, group);
}

/* Edges of tiles, and those of the lattice itself. Measured: whether a cluster leads around it. */
static enum ergo_status join_tiles(struct ergo_context *ctx, struct sw_state *s,
                                   const struct sw_slot *slot, cl_uint sample) {
    const cl_uint first = 0;
    const cl_uint n_rows = ((cl_uint)s->shape.ly - 1) / s->launch.tile_rows + 1;
    const cl_uint n_columns = (s->shape.row_words - 1) / s->launch.tile_words + 1;
    const size_t items = 32 * (size_t)s->shape.row_words * n_rows + (size_t)s->shape.ly * n_columns;
    cl_mem wraps = (slot ? slot : &s->slots[0])->results[SW_WRAPS];
    const struct ergo_arg args[] = {ERGO_ARG(s->right),  ERGO_ARG(s->down),   ERGO_ARG(s->runs),
                                    ERGO_ARG(s->labels), ERGO_ARG(first),     ERGO_ARG(n_rows),
                                    ERGO_ARG(first),     ERGO_ARG(n_columns), ERGO_ARG(wraps),
                                    ERGO_ARG(sample)};
    return launch(ctx, s, SW_JOIN_TILES, "sw_join_tiles", args, 10, items, s->launch.group);
}

/* sized: sizes of clusters of several tiles, and which parts their roots are, for label_tiles or
 * count_roots. */
static enum ergo_status flip(struct ergo_context *ctx, struct sw_state *s, bool sized) {
    const size_t group = s->launch.tile_group, items = (size_t)s->launch.tiles * group;
    const cl_ulong step = s->step++;
    const struct ergo_arg args[] = {
        ERGO_ARG(s->spins), ERGO_ARG(s->member_buffer), ERGO_ARG(s->right),  ERGO_ARG(s->runs),
        ERGO_ARG(s->roots), ERGO_ARG(s->open),          ERGO_ARG(s->labels), ERGO_ARG(step),
        ERGO_ARG(s->sizes)};
    return sized ? launch(ctx, s, SW_FLIP_SIZES, "sw_flip_sizes", args, 9, items, group)
                 : launch(ctx, s, SW_FLIP, "sw_flip", args, 8, items, group);
}

/* Clusters of several tiles, by their sizes, where no label_tiles follows that counts them. */
static enum ergo_status count_roots(struct ergo_context *ctx, struct sw_state *s,
                                    const struct sw_slot *slot, cl_uint sample) {
    const size_t group = s->launch.tile_group, items = (size_t)s->launch.tiles * group;
    const struct ergo_arg args[] = {ERGO_ARG(s->roots), ERGO_ARG(s->sizes),
                                    ERGO_ARG(slot->results[SW_CLUSTERS]), ERGO_ARG(sample)};
    return launch(ctx, s, SW_COUNT_ROOTS, "sw_count_roots", args, 4, items, group);
}

/* ---- sweeps ---------------------------------------------------------------------------------- */

/* `sweeps` of a lattice in local memory. */
static enum ergo_status local_sweeps(struct ergo_context *ctx, struct sw_state *s,
                                     uint64_t sweeps) {
    enum ergo_status status = ERGO_OK;
    while (sweeps > 0 && status == ERGO_OK) {
        const uint64_t now = sweeps < s->launch.most_sweeps ? sweeps : s->launch.most_sweeps;
        const cl_ulong step = s->step;
        const cl_uint count = (cl_uint)now;
        const struct ergo_arg args[] = {ERGO_ARG(s->spins), ERGO_ARG(s->member_buffer),
                                        ERGO_ARG(step), ERGO_ARG(count)};
        status = launch(ctx, s, SW_LOCAL, "sw_local", args, 4, s->launch.tile_group,
                        s->launch.tile_group);
        s->step += now;
        sweeps -= now;
    }
    return status;
}

/* By tiles. of, before: a sample whose spins are to be looked at, or NULL, SW_NO_SAMPLE. */
static enum ergo_status sweep(struct ergo_context *ctx, struct sw_state *s,
                              const struct sw_slot *of, cl_uint before) {
    const cl_uint none = SW_NO_SAMPLE;
    enum ergo_status status = label_tiles(ctx, s, NULL, none, of, before);
    if (status == ERGO_OK)
        status = join_tiles(ctx, s, NULL, none);
    return status == ERGO_OK ? flip(ctx, s, false) : status;
}

static enum ergo_status measure(struct ergo_context *ctx, struct sw_state *s, struct sw_slot *slot,
                                cl_uint sample) {
    const size_t group = s->launch.group;
    const struct ergo_arg args[] = {ERGO_ARG(s->spins), ERGO_ARG(slot->results[SW_SUMS]),
                                    ERGO_ARG(sample)};
    return launch(ctx, s, SW_MEASURE, "sw_measure", args, 3, group * s->launch.sum_groups, group);
}

static enum ergo_status tiles_measured(struct ergo_context *ctx, struct sw_state *s,
                                       struct sw_slot *slot, cl_uint sample, cl_uint before) {
    enum ergo_status status = label_tiles(ctx, s, slot, sample, slot, before);
    if (status == ERGO_OK)
        status = join_tiles(ctx, s, slot, sample);
    return status == ERGO_OK ? flip(ctx, s, true) : status;
}

/* Sums are added to what is there; of flags only those of clusters around are set. */
static enum ergo_status clear_sums(struct ergo_context *ctx, struct sw_state *s,
                                   struct sw_slot *slot, size_t samples, bool clusters) {
    size_t bytes[SW_RESULTS];
    cl_uint counts[SW_RESULTS];
    size_t most = 0;
    sw_result_bytes(s, samples, clusters, bytes);
    for (int r = 0; r < SW_RESULTS; r++) {
        counts[r] = (cl_uint)(bytes[r] / sizeof(cl_uint));
        most = counts[r] > most ? counts[r] : most;
    }
    const struct ergo_arg args[] = {
        ERGO_ARG(slot->results[SW_SUMS]),     ERGO_ARG(counts[SW_SUMS]),
        ERGO_ARG(slot->results[SW_CLUSTERS]), ERGO_ARG(counts[SW_CLUSTERS]),
        ERGO_ARG(slot->results[SW_WRAPS]),    ERGO_ARG(counts[SW_WRAPS])};
    const size_t local = s->launch.group, global = ergo_round_up(most, local);
    return ergo_kernel_launch(ctx, s->device, s->kernels[SW_CLEAR], "sw_clear", args, 6, 1, &global,
                              &local, NULL);
}

static enum ergo_status local_measured(struct ergo_context *ctx, struct sw_state *s,
                                       struct sw_slot *slot, cl_uint sample) {
    const cl_ulong step = s->step++;
    const struct ergo_arg args[] = {ERGO_ARG(s->spins),
                                    ERGO_ARG(s->member_buffer),
                                    ERGO_ARG(step),
                                    ERGO_ARG(slot->results[SW_CLUSTERS]),
                                    ERGO_ARG(slot->results[SW_WRAPS]),
                                    ERGO_ARG(sample)};
    return launch(ctx, s, SW_LOCAL_SIZES, "sw_local_sizes", args, 6, s->launch.tile_group,
                  s->launch.tile_group);
}

/* before: the sample whose spins have not been looked at, or SW_NO_SAMPLE; later: those of this one
 * will be by the next. Without clusters a sweep is one that is not measured. */
static enum ergo_status measured(struct ergo_context *ctx, struct sw_state *s, struct sw_slot *slot,
                                 cl_uint sample, bool clusters, cl_uint before, bool later) {
    const bool local = s->launch.local;
    enum ergo_status status = !clusters
                                  ? (local ? local_sweeps(ctx, s, 1) : sweep(ctx, s, slot, before))
                              : local ? local_measured(ctx, s, slot, sample)
                                      : tiles_measured(ctx, s, slot, sample, before);
    if (status == ERGO_OK && !later && clusters && !local)
        status = count_roots(ctx, s, slot, sample);
    return status == ERGO_OK && !later ? measure(ctx, s, slot, sample) : status;
}

enum ergo_status sw_advance(struct ergo_context *ctx, void *opaque, unsigned which, size_t count,
                            uint64_t every, uint64_t first_sample) {
    struct sw_state *s = opaque;
    struct sw_slot *slot = &s->slots[which];
    enum ergo_status status = count ? clear_sums(ctx, s, slot, count, s->clusters) : ERGO_OK;
    (void)first_sample;
    slot->samples = count;
    for (size_t i = 0; i < (count ? count : 1) && status == ERGO_OK; i++) {
        const uint64_t alone = count ? every - 1 : every;
        const bool rides = !s->launch.local && alone == 0; /* spins of samples, on the next sweep */
        if (s->launch.local)
            status = local_sweeps(ctx, s, alone);
        for (uint64_t e = 0; e < alone && !s->launch.local && status == ERGO_OK; e++)
            status = sweep(ctx, s, NULL, SW_NO_SAMPLE);
        if (count && status == ERGO_OK)
            status =
                measured(ctx, s, slot, (cl_uint)i, s->clusters,
                         rides && i > 0 ? (cl_uint)i - 1 : SW_NO_SAMPLE, rides && i + 1 < count);
    }
    size_t bytes[SW_RESULTS];
    sw_result_bytes(s, count, s->clusters, bytes);
    for (int r = 0; r < SW_RESULTS && count && status == ERGO_OK; r++)
        if (bytes[r])
            status =
                ergo_buffer_read_later(ctx, s->device, slot->results[r], 0, bytes[r], slot->host[r],
                                       r + 1 == SW_RESULTS ? &slot->ready : NULL);
    if (status == ERGO_OK)
        clFlush(s->device->queue);
    return status;
}
