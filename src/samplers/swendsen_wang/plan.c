/* Launch shapes of a batch on a device. Choices here change the speed and never the chain. */
#include <math.h>
#include <stdio.h>

#include "samplers/swendsen_wang/sw.h"

struct sw_shape sw_shape_of(const struct ergo_point *point) {
    const struct ergo_value *size = &of_lattice(point)->size;
    struct sw_shape s = {
        .lx = size->size[0], .ly = size->size[1], .q = (uint32_t)of_lattice(point)->q};
    while (1u << s.planes < s.q)
        s.planes++;
    s.row_words = (uint32_t)((s.lx + 31) / 32);
    s.tail = (uint32_t)(s.lx - 32 * ((int64_t)s.row_words - 1));
    s.words = s.row_words * (uint64_t)s.ly;
    s.sites = (uint64_t)s.lx * (uint64_t)s.ly;
    s.member_bytes = 4 * s.words * s.planes;
    return s;
}

/* Bytes of local memory. WORD_BYTES, per word of a tile: 33 labels, bonds in both directions,
 * open parts. PLANE_BYTES: spins. */
enum { WORD_BYTES = 144, PLANE_BYTES = 4, SUM_BYTES = 4 * (SW_CLUSTER_FIELDS + SW_Q_MAX + 256) };

enum { PATH_LOCAL = 1, PATH_TILES = 2 }; /* values of /tuning/path */
/* Most words of a lattice that makes whole sweeps in local memory. In larger ones, labels have
 * no bits left for wrapping (local.cl), and tiles are as fast (PoCL 3.1). */
enum { MOST_LOCAL_WORDS = 256 };

bool sw_shape_counts_clusters(const struct sw_shape *s) {
    return s->words <= UINT64_C(1) << 25;
}

static unsigned units_of(const struct ergo_device_summary *d) {
    return d->compute_units ? d->compute_units : 1;
}

static uint64_t parts(uint64_t n, uint32_t size) {
    return size ? (n + size - 1) / size : 0;
}

/* Local memory of a tile: for its labels, or for its new spins (states, roots, a list of 16-bit
 * indices, and 8 bytes for each part that may continue beyond the tile; 4 beside labels). */
static uint64_t tile_bytes(const struct sw_shape *s, uint32_t words, uint32_t rows) {
    const uint64_t items = (uint64_t)words * rows, most_open = 64 * (uint64_t)words + 2 * rows;
    const uint64_t label = WORD_BYTES * items + 4 * most_open + 4 * SW_CLUSTER_FIELDS;
    const uint64_t states = 4 * s->planes * ((SW_NODE_ROW * items + 31) / 32);
    const uint64_t flip = 68 * items + states + 8 * most_open;
    return (label > flip ? label : flip) + SUM_BYTES + 64;
}

/* Work-items for a word. On GPUs a word has one, but two or four where there are few words for each
 * compute unit: there loops over the runs of a word take long, and nothing else is to be done
 * meanwhile. */
static uint32_t items_of_word(const struct sw_shape *s, size_t members,
                              const struct ergo_device_summary *d) {
    const uint64_t words = members * (uint64_t)s->row_words * (uint64_t)s->ly / units_of(d);
    return words <= 256 ? 4 : words <= 512 ? 2 : 1;
}

/*
 * Tile size. On CPUs one work-item does the whole tile, because it needs no atomics, which are
 * slow. Labels in a tile have 15 bits. Tiles get fewer rows if local memory is too small.
 */
static void choose_tile(const struct ergo_point *point, const struct sw_shape *s, size_t members,
                        const struct ergo_device *device, uint32_t most_words, uint32_t most_rows,
                        struct sw_launch *l) {
    const struct ergo_device_summary *d = &device->summary;
    const bool gpu = device->type != CL_DEVICE_TYPE_CPU;
    const uint32_t wish_words = (uint32_t)of_sw(point)->tile_words;
    const uint32_t wish_rows = (uint32_t)of_lattice(point)->tile_rows;
    const uint32_t wish_group = (uint32_t)of_sw(point)->tile_group;
    /* by themselves only tiles with a work-item for each word */
    const bool asked = point->parameters->path == PATH_LOCAL;
    l->tile_words = ergo_power_of_two_up(s->row_words, 1, wish_words ? wish_words : most_words);
    l->tile_rows = ergo_power_of_two_up((uint64_t)s->ly, 1, wish_rows ? wish_rows : most_rows);
    while (l->tile_rows > 1 && (tile_bytes(s, l->tile_words, l->tile_rows) > d->local_memory ||
                                l->tile_words * l->tile_rows > 1024 ||
                                (gpu && !asked && l->tile_words * l->tile_rows > d->largest_group)))
        l->tile_rows /= 2;
    const uint32_t items = l->tile_words * l->tile_rows;
    const uint32_t group = gpu ? items * items_of_word(s, members, d) : 1;
    l->tile_group = ergo_power_of_two_up(4 * (uint64_t)items, 1, wish_group ? wish_group : group);
    /* a word takes up to some 500 loop iterations */
    while (device->quirks.loop_limit && l->tile_group < items &&
           500 * (uint64_t)items > device->quirks.loop_limit * l->tile_group)
        l->tile_group *= 2;
    while (l->tile_group > 1 && l->tile_group > d->largest_group)
        l->tile_group /= 2;
    l->tiles = parts(s->row_words, l->tile_words) * parts((uint64_t)s->ly, l->tile_rows);
    l->run_bytes = 64 * l->tiles * items;
    l->most_sweeps = device->quirks.loop_limit ? 1 + device->quirks.loop_limit * l->tile_group /
                                                         (500 * (uint64_t)items | 1)
                                               : 1000;
}

void sw_choose_tile(const struct ergo_point *point, const struct sw_shape *s, size_t members,
                    const struct ergo_device *device, struct sw_launch *l) {
    choose_tile(point, s, members, device, 4, 64, l);
}

/* Does one tile cover the lattice, and does local memory also hold its spins? Then it makes
 * whole sweeps there. */
static void choose_local(const struct ergo_point *point, const struct sw_shape *s, size_t members,
                         const struct ergo_device *device, struct sw_launch *l) {
    struct sw_launch one = *l;
    choose_tile(point, s, members, device, 32, MOST_LOCAL_WORDS, &one);
    if (device->quirks.many_barriers_unreliable)
        one.tile_group = 1; /* which needs none */
    const uint64_t items = (uint64_t)one.tile_words * one.tile_rows;
    one.local = one.tiles == 1 && items <= MOST_LOCAL_WORDS &&
                (WORD_BYTES + PLANE_BYTES * s->planes) * items + SUM_BYTES + 64 <=
                    device->summary.local_memory;
    if (one.local)
        *l = one;
}

/* ---- declarations ---------------------------------------------------------------------------- */

static void declare_buffers(struct sw_state *s) {
    struct ergo_engine *e = &s->e;
    const uint64_t members = e->batch->count, words = s->shape.words;
    const uint64_t tiles = s->launch.local && !s->distances ? 0 : members,
                   places = members * s->launch.sum_slots;
    ergo_engine_buffer(e, SW_SPINS, "spins", ERGO_BUFFER_STATE, s->shape.member_bytes * members);
    ergo_engine_buffer(e, SW_RIGHT, "bonds to the right", ERGO_BUFFER_SCRATCH, 4 * words * tiles);
    ergo_engine_buffer(e, SW_DOWN, "bonds down", ERGO_BUFFER_SCRATCH, 4 * words * tiles);
    ergo_engine_buffer(e, SW_RUN_LABELS, "runs' labels", ERGO_BUFFER_SCRATCH,
                       s->launch.run_bytes * tiles);
    ergo_engine_buffer(e, SW_PARTS, "clusters' parts", ERGO_BUFFER_SCRATCH, 4 * words * tiles);
    ergo_engine_buffer(e, SW_OPEN, "open parts", ERGO_BUFFER_SCRATCH, 4 * words * tiles);
    ergo_engine_buffer(e, SW_LABELS, "labels", ERGO_BUFFER_SCRATCH, 128 * words * tiles);
    ergo_engine_sums(e, SW_SUMS, "samples", ERGO_BUFFER_SAMPLES, 4 * places * s->shape.q);
    if (!s->clusters)
        return;
    ergo_engine_buffer(e, SW_SIZES, "cluster sizes", ERGO_BUFFER_SCRATCH, 128 * words * tiles);
    ergo_engine_sums(e, SW_CLUSTERS, "sums over clusters", ERGO_BUFFER_SAMPLES,
                     4 * places * SW_CLUSTER_FIELDS);
    ergo_engine_sums(e, SW_WRAPS, "clusters around the lattice", ERGO_BUFFER_SAMPLES, 4 * members);
    if (!s->distances)
        return;
    const uint64_t lx = (uint64_t)s->shape.lx, ly = (uint64_t)s->shape.ly;
    const uint64_t lines = sw_line_count((uint32_t)ly) * lx + sw_line_count((uint32_t)lx) * ly;
    ergo_engine_buffer(e, SW_WAVES_INSIDE, "waves of clusters", ERGO_BUFFER_SCRATCH,
                       512 * words * members);
    ergo_engine_buffer(e, SW_LINE_NAMES, "clusters on lines", ERGO_BUFFER_SCRATCH,
                       4 * lines * members);
    ergo_engine_sums(e, SW_WAVES, "structure factors", ERGO_BUFFER_SAMPLES,
                     8 * SW_WAVE_LIMBS * members);
    ergo_engine_sums(e, SW_PAIRS, "pairs in clusters", ERGO_BUFFER_SAMPLES,
                     8 * (uint64_t)s->distances * members);
}

static enum ergo_status declare_kernels(struct ergo_context *ctx, struct sw_state *s) {
    static const char *const measure = "swendsen_wang/measure.cl";
    static const char *const sweep = "swendsen_wang/sweep.cl";
    static const char *const local = "swendsen_wang/local.cl";
    static const char *const correlate = "swendsen_wang/correlate.cl";
    struct ergo_engine *e = &s->e;
    const struct sw_shape *shape = &s->shape;
    const struct sw_launch *l = &s->launch;
    struct ergo_text o = {0};
    ergo_text_append(&o,
                     "-DSW_Q=%uu -DSW_PLANES=%uu -DSW_WORDS=%uu -DSW_LY=%lldu -DSW_TAIL=%uu "
                     "-DSW_TILE_WORDS=%uu -DSW_TILE_ROWS=%uu -DSW_TILE_ITEMS=%uu -DSW_GROUP=%uu "
                     "-DSW_SUM_SLOTS=%uu -DSW_LABEL_BITS=%uu %s",
                     shape->q, shape->planes, shape->row_words, (long long)shape->ly, shape->tail,
                     l->tile_words, l->tile_rows, l->tile_words * l->tile_rows, l->tile_group,
                     l->sum_slots, l->label_bits, e->device->quirks.relaxed_atomics);
    ergo_engine_kernel(e, SW_START, measure, o.data, "sw_start");
    if (l->local) {
        ergo_engine_kernel(e, SW_LOCAL, local, o.data, "sw_local");
        ergo_engine_kernel(e, SW_LOCAL_SAMPLES, local, o.data, "sw_local_samples");
    }
    if (!l->local || s->distances) {
        ergo_engine_kernel(e, SW_MEASURE, measure, o.data, "sw_measure");
        ergo_engine_kernel(e, SW_LABEL_TILES, sweep, o.data, "sw_label");
        ergo_engine_kernel(e, SW_LABEL_SPINS, sweep, o.data, "sw_label_spins");
        ergo_engine_kernel(e, SW_LABEL_SIZES, sweep, o.data, "sw_label_sizes");
        ergo_engine_kernel(e, SW_JOIN_TILES, sweep, o.data, "sw_join_tiles");
        ergo_engine_kernel(e, SW_FLIP, sweep, o.data, "sw_flip");
        ergo_engine_kernel(e, SW_FLIP_SIZES, sweep, o.data, "sw_flip_sizes");
        ergo_engine_kernel(e, SW_COUNT_ROOTS, sweep, o.data, "sw_count_roots");
    }
    if (s->distances) {
        ergo_engine_kernel(e, SW_WAVE_TILES, correlate, o.data, "sw_waves");
        ergo_engine_kernel(e, SW_WAVE_ROOTS, correlate, o.data, "sw_wave_roots");
        ergo_engine_kernel(e, SW_NAME_LINES, correlate, o.data, "sw_line_names");
        ergo_engine_kernel(e, SW_COUNT_PAIRS, correlate, o.data, "sw_line_pairs");
    }
    const bool failed = o.failed;
    ergo_text_free(&o);
    return failed ? ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for build options") : ERGO_OK;
}

/* ---- configure ------------------------------------------------------------------------------- */

/* Choose the path. Refuse lattices that are too large for 32-bit labels, or for the path of the
 * job. */
static enum ergo_status choose_path(struct ergo_context *ctx, struct sw_state *s) {
    const struct ergo_device *device = s->e.device;
    const struct ergo_device_summary *d = &device->summary;
    const struct ergo_point *first = s->e.batch->points[0];
    const struct sw_shape *h = &s->shape;
    const size_t members = s->e.batch->count;
    const int64_t path = first->parameters->path;
    struct sw_launch *l = &s->launch;
    if (h->words > (uint64_t)1 << 27)
        return ERGO_FAIL(
            ctx, ERGO_E_DEVICE,
            "a lattice of %lld x %lld has more than 2^32 sites (rows count as multiples "
            "of 32); labels on one device have 32 bits. Use a smaller lattice",
            (long long)h->lx, (long long)h->ly);
    sw_choose_tile(first, h, members, device, l);
    if (path != PATH_TILES)
        choose_local(first, h, members, device, l);
    if (path == PATH_LOCAL && !l->local)
        return ERGO_FAIL(ctx, ERGO_E_DEVICE,
                         "/tuning/path 1 needs one tile in local memory for all of %lld x %lld "
                         "sites: at most %d words of 32, and %s (%s) has %.3g KiB and groups of "
                         "%llu. Use 2",
                         (long long)h->lx, (long long)h->ly, MOST_LOCAL_WORDS, d->name, d->id,
                         (double)d->local_memory / 1024, (unsigned long long)d->largest_group);
    if (s->clusters && !sw_shape_counts_clusters(h))
        return ERGO_FAIL(ctx, ERGO_E_DEVICE,
                         "a lattice of %lld x %lld has more than 2^30 sites (rows count as "
                         "multiples of 32), and the labels of one device cannot tell whether a "
                         "cluster leads around it. Cut it over ranks, which may share a device "
                         "(mpirun -np N, \"distribute\": \"lattice\"), or ask for \"observables\": "
                         "\"energy,order_parameter\" in run",
                         (long long)h->lx, (long long)h->ly);
    if ((!l->local || s->distances) && sw_shape_counts_clusters(h))
        l->label_bits = 2;
    return ERGO_OK;
}

static void choose_groups(struct sw_state *s) {
    const struct ergo_device_summary *d = &s->e.device->summary;
    const bool gpu = s->e.device->type != CL_DEVICE_TYPE_CPU;
    const uint32_t wish = (uint32_t)s->e.batch->points[0]->parameters->work_group;
    const uint64_t words = s->shape.words;
    struct sw_launch *l = &s->launch;
    l->group = ergo_power_of_two_up(words, 1, wish ? wish : gpu ? 128 : 32);
    while (l->group > 1 && l->group > d->largest_group)
        l->group /= 2;
    /* enough groups to use the device, few enough that the host adds little; and none has 2^26
     * words, whose counts would not fit 32 bits */
    const bool few = s->shape.q <= 8; /* numbers to sum up */
    const uint64_t enough = (gpu ? few ? 16 : 8 : 2) * (uint64_t)units_of(d);
    uint64_t groups = parts(words, (gpu ? few ? 1 : 4 : 64) * l->group);
    groups = groups > enough ? enough : groups;
    const uint64_t least = words / (1u << 25) + 1;
    l->sum_groups = (uint32_t)(groups < least ? least : groups);
    /* sums over clusters have several slots, so that not too many groups add to one (clusters.h) */
    const uint64_t most_slots = l->tiles / 16384 + 32;
    l->sum_slots = (uint32_t)(l->tiles / 32 < most_slots ? l->tiles / 32 + 1 : most_slots);
}

static void describe(const struct sw_state *s, struct ergo_plan *plan) {
    const struct sw_launch *l = &s->launch;
    plan->launches_per_step = l->local ? 1.0 / (double)ergo_plan_launch(plan, l->most_sweeps) : 3;
    snprintf(plan->path, sizeof plan->path, "%s", l->local ? "local" : "tiles");
    snprintf(plan->launch, sizeof plan->launch,
             "labels in tiles of %u x %u sites (work-groups of %u), then across them; other "
             "kernels in groups of %u",
             32 * l->tile_words, l->tile_rows, l->tile_group, l->group);
    if (l->local)
        snprintf(plan->launch, sizeof plan->launch,
                 "whole sweeps in local memory, a lattice to a work-group of %u%s", l->tile_group,
                 s->distances ? "; measured ones by launches" : "");
}

enum ergo_status sw_configure(struct ergo_context *ctx, void *state) {
    struct sw_state *s = state;
    const struct ergo_batch *batch = s->e.batch;
    const bool gpu = s->e.device->type != CL_DEVICE_TYPE_CPU;
    const unsigned units = units_of(&s->e.device->summary);
    struct ergo_plan *plan = &s->e.plan;
    s->shape = sw_shape_of(batch->points[0]);
    s->clusters = sw_wants_clusters(batch->points[0]);
    s->distances = sw_correlates(batch->points[0]) ? sw_distances_of(batch->points[0]) : 0;
    s->members =
        ergo_engine_table(&s->e, SW_MEMBERS, "parameters", batch->count, sizeof *s->members);
    s->units = ergo_engine_memory(&s->e, batch->count, sizeof *s->units);
    if (ergo_engine_end(&s->e) != ERGO_OK)
        return ergo_engine_end(&s->e);
    for (size_t i = 0; i < batch->count; i++) {
        sw_member_fill(batch->points[i], &s->members[i]);
        s->units[i] = sw_unit_of(batch->points[i]);
    }
    const enum ergo_status status = choose_path(ctx, s);
    if (status != ERGO_OK)
        return status;
    choose_groups(s);

    const double members = (double)batch->count, spins = (double)s->shape.sites * members;
    /* 132 units: 1.3e11 (H200) */
    const double per_second = !gpu ? 2e7 * units : fmax(2e10, 8e8 * units);
    plan->work_per_step = spins;
    plan->block_steps = fmax(1.0, floor(0.1 * per_second / spins));
    plan->block_steps = fmin(plan->block_steps, gpu ? 2000 : 500); /* launches take time, too */
    /* the host's work on the last block is not hidden, so no block may have too many samples */
    const double sample_bytes =
        members * (4.0 * s->launch.sum_slots * (s->shape.q + (double)SW_CLUSTER_FIELDS) + 4 +
                   8.0 * s->distances);
    s->e.block_samples =
        (size_t)fmax(1, fmin(fmax(64, plan->block_steps), ERGO_BLOCK_BYTES / sample_bytes));
    s->e.curve_interval = 1; /* curves come from the same sums */
    plan->host_bytes = s->shape.member_bytes * (1 + batch->count); /* a state that is saved */
    describe(s, plan);
    declare_buffers(s);
    return declare_kernels(ctx, s);
}
