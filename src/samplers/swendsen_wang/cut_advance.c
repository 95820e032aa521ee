/*
 * A sweep of one rectangle of a cut lattice.
 *
 * While the device labels the inside of its rectangle, the spins beyond its lower and right edge
 * come from the neighbours. Then the device lists the roots on the edges; the neighbours' come in
 * exchange, and make pairs of parts where a bond leads across (cut_parts.c). Parts get their names
 * over ranks (cut_merge.c, cut_gather.c), and all clusters their new states.
 */
#include "samplers/swendsen_wang/cut.h"

enum { TAG_ROW = ERGO_DIST_TAGS + 2, TAG_COLUMN };

const char *const sw_cut_kernel_names[SW_CUT_KERNELS] = {
    [SW_CUT_START] = "sw_cut_start",
    [SW_CUT_PACK] = "sw_cut_pack",
    [SW_CUT_PARTS] = "sw_cut_parts",
    [SW_CUT_PART_SIZES] = "sw_cut_part_sizes",
    [SW_CUT_RENAME] = "sw_cut_rename",
    [SW_CUT_MEASURE] = "sw_cut_measure",
    [SW_CUT_NODES] = "sw_cut_nodes",
    [SW_CUT_JOIN_NODES] = "sw_cut_join_nodes",
    [SW_CUT_TAKE_STATES] = "sw_cut_take_states",
    [SW_CUT_TILE_LABEL] = "sw_label",
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

enum ergo_status sw_cut_local(struct ergo_context *ctx, struct sw_cut *s, struct sw_cut_member *m,
                              bool counted, cl_event *near) {
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
        status = sw_cut_launch(ctx, s, counted ? SW_CUT_TILE_LABEL_SIZES : SW_CUT_TILE_LABEL, args,
                               counted ? 14 : 9, items, group);
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

static enum ergo_status flip(struct ergo_context *ctx, struct sw_cut *s, struct sw_cut_member *m) {
    const cl_ulong step = s->step;
    const size_t group = s->tiles.tile_group;
    const struct ergo_arg args[] = {ERGO_ARG(m->spins), ERGO_ARG(m->param_buffer),
                                    ERGO_ARG(s->rect),  ERGO_ARG(s->right_bonds),
                                    ERGO_ARG(s->runs),  ERGO_ARG(s->tile_roots),
                                    ERGO_ARG(s->open),  ERGO_ARG(s->labels),
                                    ERGO_ARG(s->names), ERGO_ARG(step)};
    m->fresh = false;
    return sw_cut_launch(ctx, s, SW_CUT_TILE_FLIP, args, 10, (size_t)s->tiles.tiles * group, group);
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

/* ---- sweep ----------------------------------------------------------------------------------- */

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

double sw_cut_lap(double *started) {
    const double now = ergo_clock(), seconds = now - *started;
    *started = now;
    return seconds;
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
        status = sw_cut_find_parts(ctx, s, m, counts != NULL);
    const double waited = sw_cut_lap(&started);
    s->times.local += waited;
    s->times.busy += waited;
    if (status == ERGO_OK)
        status = sw_cut_join_parts(ctx, s, counts, &started);
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
