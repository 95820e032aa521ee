/* One lattice cut over ranks: this rank's rectangle, launch shapes, memory, kernels. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "samplers/swendsen_wang/cut.h"

/* Bytes of a device for all chains on their way. */
static const uint64_t most_in_flight = UINT64_C(1) << 33;

size_t sw_cut_piece_bytes(const struct sw_cut *s, const struct ergo_rectangle *piece) {
    return 4 * (size_t)s->shape.planes * ergo_rectangle_words(piece);
}

struct sw_rect sw_cut_rect(const struct sw_cut *s, const struct ergo_rectangle *p) {
    return (struct sw_rect){.row0 = p->row0,
                            .word0 = p->word0,
                            .all_words = s->shape.row_words,
                            .all_lx = (uint64_t)s->shape.lx,
                            .words = p->words,
                            .rows = p->rows,
                            .tail = p->tail,
                            .sum_slots = s->sum_groups};
}

/* Of a chain from its labels to its new spins: bonds, runs, parts, labels, about. */
static uint64_t bytes_in_flight(const struct ergo_rectangle *p) {
    return 220 * ergo_rectangle_words(p) + 60 * (32 * (uint64_t)p->words + p->rows);
}

/* All ranks choose alike: how clusters are joined, and whether several chains are on their way at
 * once, for which they need more memory. */
static void choose_merge(struct sw_cut *s, const char *merge) {
    const size_t members = s->e.batch->count;
    uint64_t most = 0;
    for (int r = 0; r < s->layout.ranks; r++)
        if (bytes_in_flight(&s->layout.rectangles[r]) > most)
            most = bytes_in_flight(&s->layout.rectangles[r]);
    s->in_flight = members > 1 && s->layout.ranks > 1 && most * members <= most_in_flight;
    s->gathers = sw_gather_wanted(s, merge);
    s->in_flight = s->in_flight && !s->gathers;
    s->ahead = members == 1 && !s->gathers;
    s->drawn = 0;
}

static void choose_launch(struct sw_cut *s) {
    const struct ergo_point *first = s->e.batch->points[0];
    const struct ergo_device_summary *d = &s->e.device->summary;
    const bool gpu = s->e.device->type != CL_DEVICE_TYPE_CPU;
    const uint32_t wish = (uint32_t)first->parameters->work_group;
    s->group_size = wish ? wish : gpu ? 128 : 32;
    while (s->group_size > 1 && s->group_size > d->largest_group)
        s->group_size /= 2;
    const struct sw_shape shape = {.row_words = s->piece.words, .ly = s->piece.rows};
    sw_choose_tile(first, &shape, 1, s->e.device, &s->tiles);
    choose_merge(s, of_sw(first)->merge);
    const uint64_t words = ergo_rectangle_words(&s->piece);
    const uint64_t each = (gpu ? 4ull : 64ull) * s->group_size;
    const uint64_t enough = (gpu ? 8ull : 2ull) * (d->compute_units ? d->compute_units : 1);
    const uint64_t groups = (words + each - 1) / each, least = words / (1u << 15) + 1;
    const uint64_t some = groups > enough ? enough : groups;
    s->sum_groups = (uint32_t)(some < least ? least : some);
}

static enum ergo_status refuse(struct ergo_context *ctx, const struct sw_cut *s, const char *why) {
    return ERGO_FAIL(ctx, ERGO_E_JOB,
                     "/system/size: a lattice of %lld x %lld cannot be cut over %d ranks: %s",
                     (long long)s->shape.lx, (long long)s->shape.ly, ergo_dist_count(), why);
}

/* Rectangle and neighbours of this rank. */
static enum ergo_status cut(struct ergo_context *ctx, struct sw_cut *s) {
    const int ranks = ergo_dist_count();
    s->rank = ergo_ranks_rank();
    if (s->shape.row_words * (uint64_t)s->shape.ly > UINT64_C(1) << 32)
        return refuse(ctx, s,
                      "it has more than 2^37 sites, more than random numbers of bonds have "
                      "addresses for");
    ergo_layout_free(&s->layout);
    if (!ergo_layout_make(&s->layout, (uint64_t)s->shape.lx, (uint64_t)s->shape.ly, ranks,
                          s->shares->weights))
        return refuse(ctx, s, "it has not a word of 32 sites and a row for each; use fewer ranks");
    uint64_t most = 0;
    for (int r = 0; r < ranks; r++) /* all ranks refuse, or none */
        if (ergo_rectangle_words(&s->layout.rectangles[r]) > most)
            most = ergo_rectangle_words(&s->layout.rectangles[r]);
    if (most > UINT64_C(1) << 26) /* labels of parts come behind those of sites */
        return refuse(ctx, s, "a rank's piece would have more than 2^31 sites; use more ranks");
    s->piece = s->layout.rectangles[s->rank];
    return ergo_halo_make(ctx, &s->halo, &s->layout);
}

/* ---- declarations ----------------------------------------------------------------------------
 */

static void declare(struct sw_cut *s, unsigned row, const char *what, unsigned flags,
                    uint64_t bytes) {
    ergo_engine_buffer(&s->e, row, what, ERGO_BUFFER_SCRATCH, bytes);
    ergo_engine_flag(&s->e, row, flags);
}

/* Written anew by sweeps, and read by the host. */
static void declare_result(struct sw_cut *s, unsigned row, const char *what, uint64_t bytes) {
    ergo_engine_buffer(&s->e, row, what, ERGO_BUFFER_SCRATCH, bytes);
    ergo_engine_flag(&s->e, row, ERGO_BUFFER_HOSTED);
}

static void declare_buffers(struct sw_cut *s) {
    /* what hosts tell each other travels while the device does what comes next */
    enum { EACH = ERGO_BUFFER_EACH, HOSTED = ERGO_BUFFER_HOSTED | ERGO_BUFFER_BESIDE };
    const unsigned own = s->in_flight ? EACH : 0;
    const struct ergo_rectangle *p = &s->piece;
    const uint64_t words = ergo_rectangle_words(p), entries = 32 * (uint64_t)p->words + p->rows;
    const uint64_t halo = 4 * (uint64_t)s->shape.planes * p->words + p->rows;
    ergo_engine_buffer(&s->e, SW_CUT_SPINS, "spins", ERGO_BUFFER_STATE, sw_cut_piece_bytes(s, p));
    ergo_engine_flag(&s->e, SW_CUT_SPINS, EACH);
    declare(s, SW_CUT_MEMBER, "member", EACH, sizeof(struct sw_member));
    declare(s, SW_CUT_HALO, "incoming halo", EACH | HOSTED, halo);
    declare(s, SW_CUT_HALO_OUT, "outgoing halo", HOSTED, halo);
    ergo_engine_buffer(&s->e, SW_CUT_RECT, "rectangle", ERGO_BUFFER_CONSTANT, sw_cut_rect_bytes(s));
    declare(s, SW_CUT_RIGHT, "bonds to the right", own, 4 * words);
    declare(s, SW_CUT_DOWN, "bonds down", own, 4 * words);
    declare(s, SW_CUT_RUN_LABELS, "runs' labels", own, s->tiles.run_bytes);
    declare(s, SW_CUT_TILE_PARTS, "clusters' parts", own, 4 * words);
    declare(s, SW_CUT_OPEN, "open parts", own, 4 * words);
    declare(s, SW_CUT_LABELS, "labels", own, 128 * words + 8 * entries); /* and of parts */
    declare(s, SW_CUT_SIZES, "cluster sizes", 0, 128 * words);
    declare(s, SW_CUT_NAMES, "names of parts", own, 16 * entries);
    declare(s, SW_CUT_EDGES, "edges", HOSTED, 8 * entries);
    declare(s, SW_CUT_ROOTS, "roots of parts", HOSTED, 8 * entries);
    declare_result(s, SW_CUT_ROOT_SIZES, "sizes of parts", 8 * entries);
    declare(s, SW_CUT_RENAMED, "parts with other names", HOSTED, 8 * entries);
    declare(s, SW_CUT_NEW_NAMES, "their names", HOSTED, 16 * entries);
    declare_result(s, SW_CUT_SUMS, "sums", 4 * (uint64_t)s->sum_groups * s->shape.q);
    declare_result(s, SW_CUT_CLUSTERS, "sums over clusters",
                   4 * (uint64_t)s->sum_groups * SW_CLUSTER_FIELDS);
    if (s->gathers)
        sw_gather_declare(s);
}

static enum ergo_status declare_kernels(struct ergo_context *ctx, struct sw_cut *s) {
    static const char *const cut = "swendsen_wang/cut.cl";
    static const char *const gather = "swendsen_wang/cut_gather.cl";
    static const char *const tiles = "swendsen_wang/cut_tiles.cl";
    struct ergo_engine *e = &s->e;
    struct ergo_text all = {0}, labels = {0};
    ergo_text_append(&all, "-DSW_Q=%uu -DSW_PLANES=%uu %s", s->shape.q, s->shape.planes,
                     e->device->quirks.relaxed_atomics);
    ergo_text_append(&labels,
                     "%s -DSW_TILE_WORDS=%uu -DSW_TILE_ROWS=%uu -DSW_TILE_ITEMS=%uu -DSW_GROUP=%uu",
                     all.data ? all.data : "", s->tiles.tile_words, s->tiles.tile_rows,
                     s->tiles.tile_words * s->tiles.tile_rows, s->tiles.tile_group);
    /* PoCL builds for 10 s of a core. GPUs build sooner, and run slower where the shape is not
     * constant: 1,970 us a sweep of 16384 x 16384 sites, not 1,637 (NVIDIA H100). */
    if (e->device->type != CL_DEVICE_TYPE_CPU)
        ergo_text_append(&labels, " -DSW_LY=%uu", s->piece.rows);
    /* Of whole rows the width is the same for all shares; a build for it pays in large lattices. */
    if (e->device->type != CL_DEVICE_TYPE_CPU ||
        (s->piece.words == s->shape.row_words && s->piece.words >= 32))
        ergo_text_append(&labels, " -DSW_WORDS=%uu -DSW_TAIL=%uu", s->piece.words, s->piece.tail);
    ergo_engine_kernel(e, SW_CUT_START, cut, all.data, "sw_cut_start");
    ergo_engine_kernel(e, SW_CUT_PACK, cut, all.data, "sw_cut_pack");
    ergo_engine_kernel(e, SW_CUT_PARTS, cut, all.data, "sw_cut_parts");
    ergo_engine_kernel(e, SW_CUT_PART_SIZES, cut, all.data, "sw_cut_part_sizes");
    ergo_engine_kernel(e, SW_CUT_RENAME, cut, all.data, "sw_cut_rename");
    ergo_engine_kernel(e, SW_CUT_MEASURE, cut, all.data, "sw_cut_measure");
    if (s->gathers) {
        ergo_engine_kernel(e, SW_CUT_NODES, gather, all.data, "sw_cut_nodes");
        ergo_engine_kernel(e, SW_CUT_JOIN_NODES, gather, all.data, "sw_cut_join_nodes");
        ergo_engine_kernel(e, SW_CUT_TAKE_STATES, gather, all.data, "sw_cut_take_states");
    }
    if (s->distances)
        sw_lines_declare(s, labels.data);
    if (s->ahead)
        sw_early_declare(s, all.data, labels.data);
    ergo_engine_kernel(e, SW_CUT_TILE_LABEL, tiles, labels.data,
                       s->ahead ? "sw_cut_tile_label" : "sw_label");
    ergo_engine_kernel(e, SW_CUT_TILE_LABEL_SIZES, tiles, labels.data, "sw_label_sizes");
    ergo_engine_kernel(e, SW_CUT_TILE_JOIN, tiles, labels.data, "sw_join_tiles");
    ergo_engine_kernel(e, SW_CUT_TILE_NEAR, tiles, labels.data, "sw_cut_near");
    ergo_engine_kernel(e, SW_CUT_TILE_PAIRS, tiles, labels.data, "sw_cut_pairs");
    ergo_engine_kernel(e, SW_CUT_TILE_EDGES, tiles, labels.data, "sw_cut_tile_edges");
    ergo_engine_kernel(e, SW_CUT_TILE_SIZES, tiles, labels.data, "sw_cut_tile_sizes");
    ergo_engine_kernel(e, SW_CUT_TILE_SUMS, tiles, labels.data, "sw_cut_tile_sums");
    ergo_engine_kernel(e, SW_CUT_TILE_FLIP, tiles, labels.data, "sw_cut_tile_flip");
    const bool failed = all.failed || labels.failed;
    ergo_text_free(&all);
    ergo_text_free(&labels);
    return failed ? ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for build options") : ERGO_OK;
}

/* ---- configure -------------------------------------------------------------------------------
 */

/* About as many sites as the device works on in half a second: launches are of one sweep, and at
 * the end of a block it idles. */
static double sites_of_block(const struct ergo_device *device) {
    return device->type != CL_DEVICE_TYPE_CPU ? 1e10
                                              : 1e7 * (double)(device->summary.compute_units + 1);
}

enum ergo_status sw_cut_configure(struct ergo_context *ctx, void *state) {
    struct sw_cut *s = state;
    const struct ergo_batch *batch = s->e.batch;
    struct ergo_plan *plan = &s->e.plan;
    s->shape = sw_shape_of(batch->points[0]);
    s->of_clusters = sw_wants_clusters(batch->points[0]);
    s->distances = sw_correlates(batch->points[0]) ? sw_distances_of(batch->points[0]) : 0;
    if (!s->shares)
        s->shares = ergo_shares_create(ctx, batch->points[0]);
    const enum ergo_status status = s->shares ? cut(ctx, s) : ERGO_E_MEMORY;
    if (status != ERGO_OK)
        return status;
    choose_launch(s);
    const size_t members = batch->count;
    s->e.block_samples = members < 64 ? 64 / members : 1;
    plan->host_bytes = 2 * s->e.block_samples * members * sizeof(struct sw_cut_counts);
    plan->block_steps = sites_of_block(s->e.device) /
                        (32 * (double)ergo_rectangle_words(&s->piece) * (double)members);
    plan->work_per_step = (double)s->shape.sites * (double)members;
    plan->launches_per_step = 8;
    snprintf(plan->path, sizeof plan->path, "cut");
    snprintf(plan->merge, sizeof plan->merge, "%s", s->gathers ? "gather" : "rounds");
    snprintf(plan->launch, sizeof plan->launch,
             "%d rectangles, this rank's %u x %u sites; labels in tiles of %u x %u sites; clusters "
             "joined by %s%s",
             s->layout.ranks, 32 * s->piece.words, s->piece.rows, 32 * s->tiles.tile_words,
             s->tiles.tile_rows, plan->merge,
             s->in_flight ? ", behind the next chain's labels"
             : s->ahead   ? ", edges first"
                          : "");
    declare_buffers(s);
    return declare_kernels(ctx, s);
}

enum ergo_status sw_cut_configure_of_cpus(struct ergo_context *ctx, void *state) {
    struct sw_cut *s = state;
    s->of_cpus = true;
    return sw_cut_configure(ctx, s);
}

/* A block has as many steps as the slowest can make. */
enum ergo_status sw_cut_plan(struct ergo_context *ctx, const struct ergo_batch *batch,
                             const struct ergo_device *device, struct ergo_plan *plan) {
    const enum ergo_status status =
        ergo_engine_plan(ctx, sw_cut_model_for(device), batch, device, plan);
    const double least = ergo_dist_min(status == ERGO_OK ? plan->block_steps : 1);
    plan->block_steps = fmin(fmax(1, floor(least)), 200);
    return status;
}
