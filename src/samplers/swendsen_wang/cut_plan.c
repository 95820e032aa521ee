/* One lattice cut over ranks: this rank's rectangle, launch shapes, memory. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "samplers/swendsen_wang/cut.h"

void sw_piece_choose_launch(struct sw_cut *s) {
    const struct ergo_point *first = s->batch->points[0];
    const struct ergo_device_summary *d = &s->device->summary;
    const bool gpu = s->device->type != CL_DEVICE_TYPE_CPU;
    const uint32_t wish = (uint32_t)ergo_point_int(first, "/tuning/work_group");
    s->group_size = wish ? wish : gpu ? 128 : 32;
    while (s->group_size > 1 && s->group_size > d->largest_group)
        s->group_size /= 2;
    const struct sw_shape shape = {.row_words = s->piece.words, .ly = s->piece.rows};
    sw_choose_tile(first, &shape, gpu, s->device, &s->tiles);
    s->gathers = sw_gather_wanted(ergo_point_text(first, "/system/merge"), &s->layout);
    const uint64_t words = sw_piece_words(&s->piece), each = (gpu ? 4ull : 64ull) * s->group_size;
    const uint64_t enough = (gpu ? 8ull : 2ull) * (d->compute_units ? d->compute_units : 1);
    const uint64_t groups = (words + each - 1) / each, least = words / (1u << 15) + 1;
    const uint64_t some = groups > enough ? enough : groups;
    s->sum_groups = (uint32_t)(some < least ? least : some);
}

static enum ergo_status refuse(struct ergo_context *ctx, const struct sw_cut *s, const char *why) {
    return ERGO_FAIL(ctx, ERGO_E_DEVICE, "a lattice of %lld x %lld cannot be cut over %d ranks: %s",
                     (long long)s->shape.lx, (long long)s->shape.ly, ergo_dist_count(), why);
}

/* Rectangle and neighbours of this rank. */
enum ergo_status sw_piece_cut(struct ergo_context *ctx, struct sw_cut *s, const double *weights) {
    const int ranks = ergo_dist_count();
    s->rank = ergo_ranks_rank();
    if (s->shape.row_words * (uint64_t)s->shape.ly > UINT64_C(1) << 32)
        return refuse(ctx, s,
                      "it has more than 2^37 sites, more than random numbers of bonds have "
                      "addresses for");
    if (!sw_layout_make(&s->layout, (uint64_t)s->shape.lx, (uint64_t)s->shape.ly, ranks, weights))
        return refuse(ctx, s, "it has not a word of 32 sites and a row for each; use fewer ranks");
    uint64_t most = 0;
    for (int r = 0; r < ranks; r++) /* all ranks refuse, or none */
        if (sw_piece_words(&s->layout.pieces[r]) > most)
            most = sw_piece_words(&s->layout.pieces[r]);
    if (most > UINT64_C(1) << 26) /* labels of parts come behind those of sites */
        return refuse(ctx, s, "a rank's piece would have more than 2^31 sites; use more ranks");
    s->piece = s->layout.pieces[s->rank];
    s->below = sw_layout_below(&s->layout, s->rank);
    s->above = sw_layout_above(&s->layout, s->rank);
    const size_t n = (size_t)ranks;
    s->right = calloc(n, sizeof *s->right);
    s->left = calloc(n, sizeof *s->left);
    if (!s->right || !s->left)
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for neighbours");
    sw_layout_beside(&s->layout, s->rank, true, s->right, &s->n_right);
    sw_layout_beside(&s->layout, s->rank, false, s->left, &s->n_left);
    return ERGO_OK;
}

size_t sw_cut_block_samples(size_t members) {
    return members < 64 ? 64 / members : 1;
}

/* About as many sites as the device works on in a tenth of a second. */
static double sites_of_block(const struct ergo_device *device) {
    return device->type != CL_DEVICE_TYPE_CPU ? 2e9
                                              : 2e6 * (double)(device->summary.compute_units + 1);
}

static uint64_t buffers_of(const struct sw_cut *s) {
    const uint64_t words = sw_piece_words(&s->piece);
    const uint64_t edges = 32ull * s->piece.words + s->piece.rows;
    return 16 * words + 256 * words + s->tiles.run_bytes +
           s->batch->count * 4 * words * s->shape.planes + 64 * edges +
           (s->gathers ? sw_gather_bytes(&s->layout) : 0);
}

enum ergo_status sw_cut_plan(struct ergo_context *ctx, const struct ergo_batch *batch,
                             const struct ergo_device *device, struct ergo_plan *plan) {
    const struct ergo_point *first = batch->points[0];
    struct sw_cut s = {.batch = batch, .shape = sw_shape_of(first)};
    struct ergo_device copy = *device; /* only looked at */
    double *weights = sw_shares_initial(batch);
    s.device = &copy;
    memset(plan, 0, sizeof *plan);
    enum ergo_status status = weights ? sw_piece_cut(ctx, &s, weights)
                                      : ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for a plan");
    free(weights);
    if (status == ERGO_OK) {
        sw_piece_choose_launch(&s);
        const double members = (double)batch->count;
        double *all = calloc((size_t)s.layout.ranks, sizeof *all);
        const double here =
            sites_of_block(device) / (32 * (double)sw_piece_words(&s.piece) * members);
        double steps = here;
        if (all) {
            ergo_dist_collect(&here, sizeof here, all);
            for (int r = 0; r < s.layout.ranks; r++)
                steps = all[r] < steps ? all[r] : steps;
        }
        free(all);
        plan->device_bytes = buffers_of(&s);
        plan->largest_buffer = 128 * sw_piece_words(&s.piece);
        plan->block_samples = sw_cut_block_samples(batch->count);
        plan->host_bytes = 2 * plan->block_samples * batch->count * sizeof(struct sw_cut_counts);
        plan->block_steps = fmin(fmax(1, floor(steps)), 200);
        plan->work_per_step = (double)s.shape.sites * members;
        plan->launches_per_step = 8;
        snprintf(plan->path, sizeof plan->path, "cut");
        snprintf(plan->launch, sizeof plan->launch,
                 "%d rectangles, this rank's %u x %u sites; labels in tiles of %u x %u sites",
                 s.layout.ranks, 32 * s.piece.words, s.piece.rows, 32 * s.tiles.tile_words,
                 s.tiles.tile_rows);
        if (plan->largest_buffer > device->summary.largest_buffer ||
            plan->device_bytes > device->summary.global_memory)
            status = ERGO_FAIL(ctx, ERGO_E_DEVICE,
                               "%s (%s) cannot hold its piece of the lattice: %.3g MiB, and the "
                               "device has %.3g MiB. Use a smaller lattice or more ranks",
                               device->summary.name, device->summary.id,
                               (double)plan->device_bytes / 1048576,
                               (double)device->summary.global_memory / 1048576);
    }
    free(s.right);
    free(s.left);
    sw_layout_free(&s.layout);
    return status;
}
