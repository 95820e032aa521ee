/* One lattice cut over ranks: plan, create, start. */
#include "samplers/swendsen_wang/cut.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/program.h"

_Static_assert(sizeof(struct sw_rect) == SW_RECT_BYTES, "sw_rect has explicit padding only");

/* ---- shares ---------------------------------------------------------------------------------- */

static bool is_word(const char *text) {
    return strcmp(text, "measured") == 0 || strcmp(text, "equal") == 0;
}

/* The k-th of the numbers in the text, in turn; 0: it has none, or one that is not positive. */
static double share_of(const char *text, size_t k) {
    double first[256];
    size_t n = 0;
    for (const char *at = text; n < 256;) {
        char *end = NULL;
        const double value = strtod(at, &end);
        if (end == at || !(value > 0) || value > 1e9 || (*end && *end != ','))
            return 0;
        first[n++] = value;
        if (!*end)
            return first[k % n];
        at = end + 1;
    }
    return 0;
}

bool sw_shares_valid(const char *text) {
    return is_word(text) || share_of(text, 0) > 0;
}

/* ---- launch shapes --------------------------------------------------------------------------- */

static size_t samples_of_block(size_t members) {
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
    return 8 * words + 256 * words + s->batch->count * 4 * words * s->shape.planes + 64 * edges +
           (s->gathers ? sw_gather_bytes(&s->layout) : 0);
}

/* Words of a rectangle from which on a build for its shape pays. */
enum { TILES_FROM = 8192 };

static void choose_launch(struct sw_cut *s) {
    const struct ergo_point *first = s->batch->points[0];
    const struct ergo_device_summary *d = &s->device->summary;
    const bool gpu = s->device->type != CL_DEVICE_TYPE_CPU;
    const uint32_t wish_words = (uint32_t)ergo_point_int(first, "/tuning/tile_words");
    const uint32_t wish_rows = (uint32_t)ergo_point_int(first, "/tuning/tile_rows");
    const uint32_t wish = (uint32_t)ergo_point_int(first, "/tuning/work_group");
    /* whatever the rectangle's shape: one build for all ranks with such a device */
    s->tile_words = wish_words ? wish_words : gpu ? 2 : 4;
    s->tile_rows = wish_rows ? wish_rows : 32;
    while (s->tile_rows > 1 && (260ull * s->tile_words * s->tile_rows + 256 > d->local_memory ||
                                s->tile_words * s->tile_rows > d->largest_group))
        s->tile_rows /= 2;
    s->group_size = wish ? wish : gpu ? 128 : 32;
    while (s->group_size > 1 && s->group_size > d->largest_group)
        s->group_size /= 2;
    const struct sw_shape shape = {.row_words = s->piece.words, .ly = s->piece.rows};
    sw_choose_tile(first, &shape, gpu, s->device, &s->tiles);
    s->by_tiles = !s->equivalence && (sw_piece_words(&s->piece) >= TILES_FROM ||
                                      ergo_point_int(first, "/tuning/tile_group") > 0);
    s->gathers = sw_gather_wanted(ergo_point_text(first, "/system/merge"), &s->layout);
    const uint64_t words = sw_piece_words(&s->piece), each = (gpu ? 4ull : 64ull) * s->group_size;
    const uint64_t enough = (gpu ? 8ull : 2ull) * (d->compute_units ? d->compute_units : 1);
    const uint64_t groups = (words + each - 1) / each, least = words / (1u << 15) + 1;
    const uint64_t some = groups > enough ? enough : groups;
    s->sum_groups = (uint32_t)(some < least ? least : some);
}

/* ---- pieces ---------------------------------------------------------------------------------- */

static enum ergo_status refuse(struct ergo_context *ctx, const struct sw_cut *s, const char *why) {
    return ERGO_FAIL(ctx, ERGO_E_DEVICE, "a lattice of %lld x %lld cannot be cut over %d ranks: %s",
                     (long long)s->shape.lx, (long long)s->shape.ly, ergo_dist_count(), why);
}

/* Rectangle and neighbours of this rank. */
static enum ergo_status cut(struct ergo_context *ctx, struct sw_cut *s, const double *weights) {
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

static double *initial_weights(const struct ergo_batch *batch) {
    const char *text = ergo_point_text(batch->points[0], "/system/shares");
    const size_t ranks = (size_t)ergo_dist_count();
    double *weights = calloc(ranks, sizeof *weights);
    for (size_t r = 0; weights && r < ranks; r++)
        weights[r] = is_word(text) ? 1 : share_of(text, r);
    return weights;
}

void sw_cut_buffer_release(struct sw_cut *s, struct sw_cut_buffer *b) {
    sw_unpin(s->device, &b->pinned, &b->host);
    ergo_buffer_release(&b->mem);
}

enum ergo_status sw_cut_buffer_create(struct ergo_context *ctx, struct sw_cut *s, const char *what,
                                      size_t bytes, struct sw_cut_buffer *b) {
    b->bytes = bytes;
    enum ergo_status status = ergo_buffer_create(ctx, s->device, what, bytes, NULL, &b->mem);
    if (status != ERGO_OK)
        return status;
    b->host = sw_pin(s->device, bytes, &b->pinned);
    if (!b->host)
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for %s", what);
    memset(b->host, 0, bytes);
    return ERGO_OK;
}

/* What depends on the rectangle. */
static void release_piece(struct sw_cut *s) {
    if (s->device && s->device->queue)
        clFinish(s->device->queue);
    cl_mem *const mems[] = {&s->rect,  &s->right_bonds, &s->down_bonds, &s->labels, &s->sizes,
                            &s->names, &s->runs,        &s->tile_roots, &s->open};
    for (size_t k = 0; k < sizeof mems / sizeof mems[0]; k++)
        ergo_buffer_release(mems[k]);
    struct sw_cut_buffer *const buffers[] = {&s->out,   &s->edges,   &s->roots, &s->part_sizes,
                                             &s->parts, &s->renamed, &s->sums,  &s->clusters};
    for (size_t k = 0; k < sizeof buffers / sizeof buffers[0]; k++)
        sw_cut_buffer_release(s, buffers[k]);
    for (size_t m = 0; s->members && m < s->batch->count; m++) {
        ergo_buffer_release(&s->members[m].spins);
        sw_cut_buffer_release(s, &s->members[m].in);
        s->members[m].fresh = false;
    }
    uint32_t **const arrays[] = {&s->far_edges, &s->found, &s->told, &s->cluster_of,
                                 &s->group_parts};
    for (size_t k = 0; k < sizeof arrays / sizeof arrays[0]; k++) {
        free(*arrays[k]);
        *arrays[k] = NULL;
    }
    sw_gather_release(s);
    free(s->group_names);
    free(s->right);
    free(s->left);
    s->group_names = NULL;
    s->right = s->left = NULL;
    sw_layout_free(&s->layout);
}

struct sw_rect sw_cut_rect(const struct sw_cut *s, const struct sw_piece *p) {
    return (struct sw_rect){.row0 = p->row0,
                            .word0 = p->word0,
                            .all_words = s->shape.row_words,
                            .all_lx = (uint64_t)s->shape.lx,
                            .words = p->words,
                            .rows = p->rows,
                            .tail = p->tail};
}

static enum ergo_status create_piece(struct ergo_context *ctx, struct sw_cut *s,
                                     const double *weights) {
    enum ergo_status status = cut(ctx, s, weights);
    if (status != ERGO_OK)
        return status;
    const struct sw_piece *p = &s->piece;
    const size_t words = sw_piece_words(p), entries = 32 * (size_t)p->words + p->rows;
    const size_t halo = 4 * (size_t)s->shape.planes * p->words + p->rows;
    const struct sw_rect rect = sw_cut_rect(s, p);
    choose_launch(s);
    const size_t pairs =
        1 + 2 * entries + (size_t)s->layout.ranks; /* a number before each link's */
    s->far_edges = calloc(entries, sizeof *s->far_edges);
    s->found = calloc(pairs, sizeof *s->found);
    s->told = calloc(pairs, sizeof *s->told);
    s->cluster_of = calloc(2 * entries, sizeof *s->cluster_of);
    s->group_parts = calloc(2 * entries, sizeof *s->group_parts);
    s->group_names = calloc(4 * entries, sizeof *s->group_names);
    if (!s->far_edges || !s->found || !s->told || !s->cluster_of || !s->group_parts ||
        !s->group_names)
        status = ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for the edges of a rectangle");
    const struct {
        const char *what;
        size_t bytes;
        cl_mem *mem;
    } mems[] = {{"bonds to the right", 4 * words, &s->right_bonds},
                {"bonds down", 4 * words, &s->down_bonds},
                {"labels", 128 * words + 8 * entries, &s->labels}, /* and of parts */
                {"cluster sizes", 128 * words, &s->sizes},
                {"names of parts", 16 * entries, &s->names},
                {"runs' labels", s->by_tiles ? (size_t)s->tiles.run_bytes : 4, &s->runs},
                {"clusters' parts", s->by_tiles ? 4 * words : 4, &s->tile_roots},
                {"open parts", s->by_tiles ? 4 * words : 4, &s->open}};
    if (status == ERGO_OK)
        status = ergo_buffer_create(ctx, s->device, "rectangle", sizeof rect, &rect, &s->rect);
    for (size_t k = 0; k < sizeof mems / sizeof mems[0] && status == ERGO_OK; k++)
        status = ergo_buffer_create(ctx, s->device, mems[k].what, mems[k].bytes, NULL, mems[k].mem);
    const struct {
        const char *what;
        size_t bytes;
        struct sw_cut_buffer *buffer;
    } buffers[] = {
        {"outgoing halo", halo, &s->out},
        {"edges", 8 * entries, &s->edges},
        {"roots of parts", 8 * entries, &s->roots},
        {"sizes of parts", 8 * entries, &s->part_sizes},
        {"parts with other names", 8 * entries, &s->parts},
        {"their names", 16 * entries, &s->renamed},
        {"sums", 4 * (size_t)s->sum_groups * s->shape.q, &s->sums},
        {"sums over clusters", 4 * (size_t)s->sum_groups * SW_CLUSTER_FIELDS, &s->clusters}};
    for (size_t k = 0; k < sizeof buffers / sizeof buffers[0] && status == ERGO_OK; k++)
        status = sw_cut_buffer_create(ctx, s, buffers[k].what, buffers[k].bytes, buffers[k].buffer);
    if (status == ERGO_OK && s->gathers)
        status = sw_gather_create(ctx, s);
    for (size_t m = 0; m < s->batch->count && status == ERGO_OK; m++) {
        status = ergo_buffer_create(ctx, s->device, "spins", sw_cut_piece_bytes(s, p), NULL,
                                    &s->members[m].spins);
        s->members[m].params.first_word = (uint32_t)(p->row0 * s->shape.row_words + p->word0);
        if (status == ERGO_OK)
            status = ergo_buffer_write(ctx, s->device, s->members[m].param_buffer, 0,
                                       sizeof s->members[m].params, &s->members[m].params);
        if (status == ERGO_OK)
            status = sw_cut_buffer_create(ctx, s, "incoming halo", halo, &s->members[m].in);
    }
    return status;
}

size_t sw_cut_piece_bytes(const struct sw_cut *s, const struct sw_piece *piece) {
    return 4 * (size_t)s->shape.planes * sw_piece_words(piece);
}

/* ---- programs -------------------------------------------------------------------------------- */

static enum ergo_status build(struct ergo_context *ctx, struct sw_cut *s) {
    static const char *const paths[3] = {"swendsen_wang/cut.cl", "swendsen_wang/cut_labels.cl",
                                         "swendsen_wang/cut_gather.cl"};
    struct ergo_text o = {0};
    enum ergo_status status = ERGO_OK;
    /* core.h's own shape is not used: rectangles are arguments */
    ergo_text_append(&o,
                     "-DSW_Q=%uu -DSW_PLANES=%uu -DSW_WORDS=1u -DSW_LY=1u -DSW_TAIL=32u "
                     "-DSW_ROW0=0u -DSW_WORD0=0u -DSW_ALL_WORDS=1u -DSW_ALL_LX=32u "
                     "-DSW_TILE_WORDS=%uu -DSW_TILE_ROWS=%uu -DSW_TILE_ITEMS=%uu",
                     s->shape.q, s->shape.planes, s->tile_words, s->tile_rows,
                     s->tile_words * s->tile_rows);
    if (o.failed)
        status = ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for build options");
    for (int p = 0; p < 3 && status == ERGO_OK; p++)
        status = ergo_program_build(ctx, s->device, paths[p], o.data, &s->programs[p]);
    for (int k = 0; k < SW_CUT_TILE_LABEL_ALL && status == ERGO_OK; k++)
        status = ergo_kernel_create(ctx, s->device,
                                    s->programs[k < SW_CUT_LABEL_TILE ? 0
                                                : k < SW_CUT_TELL     ? 1
                                                                      : 2],
                                    sw_cut_kernel_names[k], &s->kernels[k]);
    ergo_text_free(&o);
    return status;
}

/* The kernels of sweep.cl, for this shape of a rectangle. */
static enum ergo_status build_tiles(struct ergo_context *ctx, struct sw_cut *s) {
    const struct sw_piece *p = &s->piece;
    struct ergo_text o = {0};
    enum ergo_status status = ERGO_OK;
    for (int k = SW_CUT_TILE_LABEL_ALL; k < SW_CUT_KERNELS; k++) {
        if (s->kernels[k])
            clReleaseKernel(s->kernels[k]);
        s->kernels[k] = NULL;
    }
    if (s->programs[3])
        clReleaseProgram(s->programs[3]);
    s->programs[3] = NULL;
    if (!s->by_tiles)
        return ERGO_OK;
    ergo_text_append(&o,
                     "-DSW_Q=%uu -DSW_PLANES=%uu -DSW_WORDS=%uu -DSW_LY=%uu -DSW_TAIL=%uu "
                     "-DSW_ROW0=0u -DSW_WORD0=0u -DSW_ALL_WORDS=%uu -DSW_ALL_LX=%lldu "
                     "-DSW_TILE_WORDS=%uu -DSW_TILE_ROWS=%uu -DSW_TILE_ITEMS=%uu -DSW_GROUP=%uu "
                     "-DSW_SUM_SLOTS=1u",
                     s->shape.q, s->shape.planes, p->words, p->rows, p->tail, s->shape.row_words,
                     (long long)s->shape.lx, s->tiles.tile_words, s->tiles.tile_rows,
                     s->tiles.tile_words * s->tiles.tile_rows, s->tiles.tile_group);
    status = o.failed ? ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for build options")
                      : ergo_program_build(ctx, s->device, "swendsen_wang/cut_tiles.cl", o.data,
                                           &s->programs[3]);
    for (int k = SW_CUT_TILE_LABEL_ALL; k < SW_CUT_KERNELS && status == ERGO_OK; k++)
        status = ergo_kernel_create(ctx, s->device, s->programs[3], sw_cut_kernel_names[k],
                                    &s->kernels[k]);
    ergo_text_free(&o);
    return status;
}

/* Drivers that compile at the first launch do so here, rank 0's before the others': theirs then
 * find its results in the caches. */
static enum ergo_status warm(struct ergo_context *ctx, struct sw_cut *s) {
    enum ergo_status status = sw_cut_local(ctx, s, &s->members[0], true);
    if (status == ERGO_OK)
        status = sw_cut_local(ctx, s, &s->members[0], false);
    return status == ERGO_OK ? ergo_device_finish(ctx, s->device) : status;
}

static enum ergo_status build_in_turn(struct ergo_context *ctx, struct sw_cut *s) {
    enum ergo_status status = ERGO_OK;
    if (s->rank == 0)
        status = build(ctx, s);
    if (s->rank == 0 && status == ERGO_OK)
        status = build_tiles(ctx, s);
    if (s->rank == 0 && status == ERGO_OK)
        status = warm(ctx, s);
    if (status != ERGO_OK)
        return status;
    ergo_dist_barrier();
    if (s->rank > 0)
        status = build(ctx, s);
    if (s->rank > 0 && status == ERGO_OK)
        status = build_tiles(ctx, s);
    return s->rank > 0 && status == ERGO_OK ? warm(ctx, s) : status;
}

/* ---- shares by speed ------------------------------------------------------------------------- */

enum { TRIAL_MS = 40 };

/* Sites per second of this rank's device, while all others work, too. */
static enum ergo_status measure_speed(struct ergo_context *ctx, struct sw_cut *s, double *speed) {
    double seconds = 0;
    uint64_t sweeps = 0;
    enum ergo_status status = ERGO_OK;
    ergo_dist_barrier();
    const double started = ergo_dist_clock();
    for (; seconds < 1e-3 * TRIAL_MS && status == ERGO_OK; sweeps++) {
        status = sw_cut_local(ctx, s, &s->members[0], false);
        if (status == ERGO_OK)
            status = ergo_device_finish(ctx, s->device);
        seconds = ergo_dist_clock() - started;
    }
    *speed = (double)sweeps * 32 * (double)sw_piece_words(&s->piece) / seconds;
    return status;
}

static void log_cut(struct ergo_context *ctx, const struct sw_cut *s) {
    const struct sw_piece *p = &s->piece;
    ergo_log(ctx, ERGO_LOG_INFO,
             "rank %d has rows %llu to %llu and sites %llu to %llu of them, %.3g %% of the lattice",
             s->rank, (unsigned long long)p->row0, (unsigned long long)(p->row0 + p->rows - 1),
             (unsigned long long)(32 * p->word0),
             (unsigned long long)(32 * (p->word0 + p->words - 1) + p->tail - 1),
             100.0 * (double)sw_piece_words(p) / (double)s->shape.words);
}

/* New shares where the speeds differ by more than a tenth. */
static enum ergo_status share_by_speed(struct ergo_context *ctx, struct sw_cut *s) {
    const size_t ranks = (size_t)s->layout.ranks;
    double own = 0, least = INFINITY, most = 0;
    double *speeds = calloc(ranks, sizeof *speeds);
    if (!speeds)
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for the shares of %zu ranks", ranks);
    enum ergo_status status = measure_speed(ctx, s, &own);
    if (status == ERGO_OK) {
        ergo_dist_collect(&own, sizeof own, speeds);
        for (size_t r = 0; r < ranks; r++) {
            least = speeds[r] < least ? speeds[r] : least;
            most = speeds[r] > most ? speeds[r] : most;
        }
        if (most > 1.1 * least) {
            release_piece(s);
            status = create_piece(ctx, s, speeds);
            if (status == ERGO_OK)
                status = build_tiles(ctx, s);
        }
    }
    free(speeds);
    return status;
}

enum ergo_status sw_cut_recut(struct ergo_context *ctx, struct sw_cut *s, const double *weights) {
    const size_t members = s->batch->count;
    uint32_t **planes = calloc(members, sizeof *planes);
    enum ergo_status status =
        planes ? ERGO_OK : ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for %zu lattices", members);
    for (size_t m = 0; m < members && status == ERGO_OK; m++)
        status = sw_cut_gather(ctx, s, m, &planes[m]);
    if (status == ERGO_OK) {
        release_piece(s);
        status = create_piece(ctx, s, weights);
    }
    if (status == ERGO_OK)
        status = build_tiles(ctx, s);
    for (size_t m = 0; m < members && status == ERGO_OK; m++)
        status = sw_cut_scatter(ctx, s, m, planes[m]);
    for (size_t m = 0; planes && m < members; m++)
        free(planes[m]);
    free(planes);
    return status;
}

/* Seconds between looks; how much longer than necessary the slowest may take. */
static const double look_every = 2, patience = 1.25;

enum ergo_status sw_cut_balance(struct ergo_context *ctx, struct sw_cut *s) {
    const size_t ranks = (size_t)s->layout.ranks;
    const double now = ergo_dist_clock();
    if (!ergo_dist_or(s->rank == 0 && now - s->looked > look_every && s->busy_sweeps > 3))
        return ERGO_OK;
    double *seconds = calloc(2 * ranks, sizeof *seconds);
    const double own = s->busy / (double)s->busy_sweeps;
    double slowest = 0, speed = 0, sites = 0;
    enum ergo_status status = ERGO_OK;
    if (!seconds)
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for the shares of %zu ranks", ranks);
    double *weights = seconds + ranks;
    ergo_dist_collect(&own, sizeof own, seconds);
    for (size_t r = 0; r < ranks; r++) {
        const double words = (double)sw_piece_words(&s->layout.pieces[r]);
        weights[r] = words / (seconds[r] > 0 ? seconds[r] : 1e-9);
        slowest = seconds[r] > slowest ? seconds[r] : slowest;
        speed += weights[r];
        sites += words;
    }
    if (slowest > patience * sites / speed) {
        status = sw_cut_recut(ctx, s, weights);
        if (status == ERGO_OK)
            log_cut(ctx, s);
    }
    free(seconds);
    s->busy = 0;
    s->busy_sweeps = 0;
    s->looked = ergo_dist_clock();
    return status;
}

/* ---- ops ------------------------------------------------------------------------------------- */

enum ergo_status sw_cut_plan(struct ergo_context *ctx, const struct ergo_batch *batch,
                             const struct ergo_device *device, struct ergo_plan *plan) {
    const struct ergo_point *first = batch->points[0];
    struct sw_cut s = {.batch = batch, .shape = sw_shape_of(first)};
    struct ergo_device copy = *device; /* only looked at */
    double *weights = initial_weights(batch);
    s.device = &copy;
    memset(plan, 0, sizeof *plan);
    enum ergo_status status =
        weights ? cut(ctx, &s, weights) : ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for a plan");
    free(weights);
    if (status == ERGO_OK) {
        choose_launch(&s);
        const double members = (double)batch->count;
        double *all = calloc((size_t)s.layout.ranks, sizeof *all);
        const double own =
            sites_of_block(device) / (32 * (double)sw_piece_words(&s.piece) * members);
        double steps = own;
        if (all) {
            ergo_dist_collect(&own, sizeof own, all);
            for (int r = 0; r < s.layout.ranks; r++)
                steps = all[r] < steps ? all[r] : steps;
        }
        free(all);
        plan->device_bytes = buffers_of(&s);
        plan->largest_buffer = 128 * sw_piece_words(&s.piece);
        plan->block_samples = samples_of_block(batch->count);
        plan->host_bytes = 2 * plan->block_samples * batch->count * sizeof(struct sw_cut_counts);
        plan->block_steps = fmin(fmax(1, floor(steps)), 200);
        plan->work_per_step = (double)s.shape.sites * members;
        plan->launches_per_step = 8;
        snprintf(plan->path, sizeof plan->path, "cut");
        snprintf(plan->launch, sizeof plan->launch,
                 "%d rectangles, this rank's %u x %u sites; labels in tiles of %u x %u sites",
                 s.layout.ranks, 32 * s.piece.words, s.piece.rows, 32 * s.tile_words, s.tile_rows);
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

void sw_cut_destroy(void *opaque) {
    struct sw_cut *s = opaque;
    if (!s)
        return;
    release_piece(s);
    for (int k = 0; k < SW_CUT_KERNELS; k++)
        if (s->kernels[k])
            clReleaseKernel(s->kernels[k]);
    for (int p = 0; p < 4; p++)
        if (s->programs[p])
            clReleaseProgram(s->programs[p]);
    for (size_t m = 0; s->members && m < s->batch->count; m++)
        ergo_buffer_release(&s->members[m].param_buffer);
    ergo_buffer_release(&s->changed);
    ergo_dist_posts_destroy(s->posts);
    sw_merge_destroy(s->merge);
    sw_group_free(&s->group);
    free(s->slots[0]);
    free(s->slots[1]);
    free(s->members);
    free(s);
}

static enum ergo_status allocate(struct ergo_context *ctx, struct sw_cut *s) {
    const size_t counts = samples_of_block(s->batch->count) * s->batch->count;
    s->members = calloc(s->batch->count, sizeof *s->members);
    s->posts = ergo_dist_posts_create();
    s->merge = sw_merge_create();
    s->slots[0] = calloc(counts, sizeof *s->slots[0]);
    s->slots[1] = calloc(counts, sizeof *s->slots[1]);
    if (!s->members || !s->posts || !s->merge || !s->slots[0] || !s->slots[1])
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for a cut lattice");
    enum ergo_status status = ergo_buffer_create(ctx, s->device, "changes", 4, NULL, &s->changed);
    for (size_t m = 0; m < s->batch->count && status == ERGO_OK; m++) {
        sw_member_fill(s->batch->points[m], &s->members[m].params);
        status = ergo_buffer_create(ctx, s->device, "member", sizeof s->members[m].params,
                                    &s->members[m].params, &s->members[m].param_buffer);
    }
    return status;
}

enum ergo_status sw_cut_create(struct ergo_context *ctx, const struct ergo_batch *batch,
                               struct ergo_device *device, void **state) {
    const struct ergo_point *first = batch->points[0];
    struct sw_cut *s = calloc(1, sizeof *s);
    double *weights = initial_weights(batch);
    *state = NULL;
    if (!s || !weights) {
        free(s);
        free(weights);
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for the swendsen-wang state");
    }
    s->batch = batch;
    s->device = device;
    s->shape = sw_shape_of(first);
    s->equivalence = strcmp(ergo_point_text(first, "/system/labelling"), "label-equivalence") == 0;
    s->neighbour = strcmp(ergo_point_text(first, "/system/merge"), "neighbour") == 0;
    enum ergo_status status = allocate(ctx, s);
    if (status == ERGO_OK)
        status = create_piece(ctx, s, weights);
    if (status == ERGO_OK)
        status = build_in_turn(ctx, s);
    s->by_speed =
        ergo_dist_count() > 1 && strcmp(ergo_point_text(first, "/system/shares"), "measured") == 0;
    if (status == ERGO_OK && s->by_speed)
        status = share_by_speed(ctx, s);
    s->looked = ergo_dist_clock();
    free(weights);
    if (status != ERGO_OK) {
        sw_cut_destroy(s);
        return status;
    }
    log_cut(ctx, s);
    *state = s;
    return ERGO_OK;
}

enum ergo_status sw_cut_init(struct ergo_context *ctx, void *opaque) {
    struct sw_cut *s = opaque;
    const cl_uint mode =
        strcmp(ergo_point_text(s->batch->points[0], "/system/start"), "random") == 0;
    enum ergo_status status = ERGO_OK;
    s->step = 0;
    for (size_t m = 0; m < s->batch->count && status == ERGO_OK; m++) {
        const struct ergo_arg args[] = {ERGO_ARG(s->members[m].spins),
                                        ERGO_ARG(s->members[m].param_buffer), ERGO_ARG(s->rect),
                                        ERGO_ARG(mode)};
        status =
            sw_cut_launch(ctx, s, SW_CUT_START, args, 4, sw_piece_words(&s->piece), s->group_size);
        s->members[m].fresh = false;
    }
    return status == ERGO_OK ? ergo_device_finish(ctx, s->device) : status;
}
