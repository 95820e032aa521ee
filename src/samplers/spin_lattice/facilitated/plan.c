/* Facilitated dynamics: launch modes and their sizes. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "samplers/spin_lattice/facilitated/facilitated.h"
#include "samplers/spin_lattice/facilitated/parameters.h"
#include "samplers/spin_lattice/models.h"

/* ---- tiles ----------------------------------------------------------------------------------- */

/* Tile edges are products in 32 bits. */
enum { TILES_SIDE_MAX = 1 << 15 };

/*
 * Halo for segments of s = `sweeps` sweeps and tiles with `edges` edge sites in all. A tile is
 * wrong only if attempts on a path of neighbours, in the order of time, lead from outside the halo
 * into the tile. The expected number of paths that advance by k in one direction, with any number
 * of steps aside, back or on the spot, is exp(3 s) I_k(2 s) per edge site (rate 1 per sweep and
 * direction), roughly exp(3 s) s^k / k!. Such segments are detected and repeated. Paths come in
 * bunches, so that repeats are some hundred times rarer than paths (measured at 128 x 128, s = 1).
 * A repeat takes as long as a hundred segments. With the limit below it happens once in 25000.
 */
static uint32_t halo_for(double sweeps, double edges) {
    double expected = edges * exp(3 * sweeps);
    uint32_t k = 0;
    while (expected > 4e-3 && k < 64)
        expected *= sweeps / ++k;
    return k < 2 ? 2 : k;
}

/* Tiles of about tx x ty. false: the lattice or the device's memory is too small for them. */
static bool shape_tiles(const struct fac_shape *s, const struct ergo_device_summary *d, uint32_t tx,
                        uint32_t ty, uint32_t halo, double lattices, struct fac_tiles *t) {
    const double sweeps = (double)t->segment / (double)s->sites;
    t->nx = (s->lx + tx - 1) / tx;
    t->ny = (s->ly + ty - 1) / ty;
    const uint32_t w = (s->lx + t->nx - 1) / t->nx, h = (s->ly + t->ny - 1) / t->ny;
    const double tiles = (double)t->nx * t->ny;
    t->halo = halo ? halo : halo_for(sweeps, lattices * tiles * 2 * (w + h));
    t->wide = w + 2 * t->halo;
    t->high = h + 2 * t->halo;
    const double sites = (double)w * h + 2.0 * t->halo * (w + h) + 2.0 * t->halo * t->halo;
    const double mean = sites * sweeps, most_attempts = mean + 9 * sqrt(mean) + 16;
    t->load = sites * tiles / (double)s->sites;
    if (most_attempts > 1e6 || t->wide > s->lx || t->high > s->ly || s->lx / t->nx < t->halo ||
        s->ly / t->ny < t->halo || s->lx > TILES_SIDE_MAX || s->ly > TILES_SIDE_MAX ||
        t->wide * t->high >= 1u << FAC_PLACE_BITS)
        return false;
    t->most_attempts = ((uint32_t)most_attempts + t->group - 1) / t->group * t->group;
    t->local_bytes = 8 * (size_t)t->wide * t->high + 4 * (size_t)t->most_attempts;
    return t->local_bytes + 64 <= d->local_memory;
}

static bool plan_tiles(const struct ergo_point *point, const struct fac_shape *s,
                       const struct ergo_device *device, double lattices, struct fac_tiles *out) {
    static const uint32_t sides[][2] = {{64, 32}, {32, 32}, {32, 16}, {16, 16}, {16, 8}, {8, 8}};
    const struct ergo_device_summary *d = &device->summary;
    const uint32_t columns = (uint32_t)of_facilitated(point)->tile_columns;
    const uint32_t rows = (uint32_t)of_lattice(point)->tile_rows;
    const uint32_t halo = (uint32_t)of_facilitated(point)->halo;
    const uint32_t wish = (uint32_t)of_facilitated(point)->segment;
    const uint32_t group = (uint32_t)point->parameters->work_group;
    /* Short segments need smaller halos, but more launches. Small batches are fastest with half
     * a sweep or a whole one, large batches with a quarter (H200, 512 x 512, 32 and 1024
     * realisations). */
    const uint64_t most = FAC_SEGMENT_MAX / (lattices * (double)s->sites > 0x1p21 ? 4 : 2);
    const uint64_t pieces = (s->sites + most - 1) / most;
    const double units = d->compute_units ? d->compute_units : 1;
    bool found = false;
    struct fac_tiles t = {.group = group ? group : device->type == CL_DEVICE_TYPE_CPU ? 16 : 256};
    t.segment =
        wish && wish < FAC_SEGMENT_MAX ? wish : (uint32_t)((s->sites + pieces - 1) / pieces);
    while (t.group > d->largest_group)
        t.group /= 2;
    /* The largest tiles that fill the device with at least 1.5 work-groups for each compute
     * unit. Smaller ones are slower, because halos are a larger part of them (H200). */
    for (size_t i = 0; i < sizeof sides / sizeof sides[0]; i++) {
        if (found && (double)out->nx * out->ny * lattices >= 1.5 * units)
            break;
        if (found && (double)sides[i][0] * sides[i][1] < 512)
            break; /* halos would be larger than the tiles */
        if (!shape_tiles(s, d, columns ? columns : sides[i][0], rows ? rows : sides[i][1], halo,
                         lattices, &t))
            continue;
        *out = t;
        found = true;
    }
    return found;
}

/* ---- the launch ------------------------------------------------------------------------------ */

/* Attempts per second of one word-lattice, roughly. Only the length of launches depends on it. */
static double attempts_per_second(const struct fac_launch *l, const struct ergo_device *device) {
    if (device->type == CL_DEVICE_TYPE_CPU)
        return l->mode == FAC_MODE_SERIAL ? 1e7 : 1e6;
    if (l->mode == FAC_MODE_LAMBDA)
        return 2e9;
    return l->mode == FAC_MODE_TILES ? 2e9 : l->window ? 4e5 * l->window : 5e5;
}

static void describe(const struct fac_shape *s, const struct fac_launch *l, double lattices,
                     struct ergo_plan *plan) {
    const struct fac_tiles *t = &l->tiles;
    static const char *const names[] = {"serial", "windows", "tiles", "lambda"};
    snprintf(plan->path, sizeof plan->path, "%s", names[l->mode]);
    if (l->mode == FAC_MODE_TILES)
        snprintf(plan->launch, sizeof plan->launch,
                 "%.0f x %u work-groups of %u, for %u realisations each a tile of %u x %u with a "
                 "halo of %u, %u attempts at a time in their order",
                 lattices, t->nx * t->ny, t->group, s->lanes, t->wide - 2 * t->halo,
                 t->high - 2 * t->halo, t->halo, t->segment);
    else if (l->mode == FAC_MODE_LAMBDA)
        snprintf(
            plan->launch, sizeof plan->launch,
            "%.0f x %llu work-groups of %u, for %u realisations each a sub-lattice of 32 x 32, "
            "%u picks at a time",
            lattices, (unsigned long long)(s->sites / 1024), l->window, s->lanes, s->lambda);
    else if (l->mode == FAC_MODE_WINDOWS)
        snprintf(plan->launch, sizeof plan->launch,
                 "%.0f work-groups, one for %u realisations, %u attempts at a time in their order",
                 lattices, s->lanes, l->window);
    else
        snprintf(plan->launch, sizeof plan->launch, "%.0f work-items, one for %u realisations",
                 lattices, s->lanes);
}

static enum ergo_status choose_mode(struct ergo_context *ctx, struct fac_state *state) {
    const struct fac_shape *s = &state->shape;
    struct fac_launch *l = &state->launch;
    const struct ergo_device *device = state->e.device;
    const struct ergo_device_summary *d = &device->summary;
    const struct ergo_point *first = state->e.batch->points[0];
    const bool gpu = device->type != CL_DEVICE_TYPE_CPU;
    const int64_t path = first->parameters->path;
    const int64_t wish = first->parameters->work_group;
    /* NVIDIA's driver 580 refuses more than 256 work-items for this kernel, even with the size
     * required */
    const uint32_t most = d->largest_group < 256 ? ergo_power_of_two_down(d->largest_group) : 256;
    l->group = ergo_power_of_two_within(s->sites, 1, gpu ? most : 16);
    if (s->lambda) {
        l->mode = FAC_MODE_LAMBDA;
        l->window =
            ergo_power_of_two_up(s->lambda, gpu ? (most < 64 ? most : 64) : 1, gpu ? most : 16);
        l->window = wish ? (uint32_t)wish : l->window;
        while (l->window > d->largest_group)
            l->window /= 2;
        return ERGO_OK;
    }
    l->mode = path == 1 || (path == 0 && gpu) ? FAC_MODE_WINDOWS : FAC_MODE_SERIAL;
    if ((path == 2 || (path == 0 && gpu)) && s->d == 2 &&
        plan_tiles(first, s, device, (double)fac_lattices(state), &l->tiles))
        l->mode = FAC_MODE_TILES;
    else if (path == 2)
        return ERGO_FAIL(ctx, ERGO_E_DEVICE,
                         "/tuning/path 2 needs two dimensions, tiles with halos in %.3g KiB of "
                         "local memory of %s "
                         "(%s), and sides of at least a tile and two halos: use another path, or "
                         "/tuning/tile_columns, /tuning/tile_rows, /tuning/halo, /tuning/segment, "
                         "/tuning/work_group",
                         (double)d->local_memory / 1024, d->name, d->id);
    if (l->mode != FAC_MODE_SERIAL) {
        /* Of W attempts in a window, some 5 W^2 / N wait for others. So windows have at most
         * N/32 attempts. Local memory holds the table and the flag. Method tiles uses windows
         * for repeated segments. */
        const uint32_t most_attempts =
            ergo_power_of_two_within((d->local_memory - 64) / 64, 1, 256);
        l->window = ergo_power_of_two_within(s->sites / 32, 32,
                                             most < most_attempts ? most : most_attempts);
        if (wish && wish < l->window)
            l->window = (uint32_t)wish;
    }
    return ERGO_OK;
}

/* Lengths of launches and blocks, and the number of partial sums. */
static void choose_lengths(struct fac_state *state) {
    const struct fac_shape *s = &state->shape;
    struct fac_launch *l = &state->launch;
    struct ergo_plan *plan = &state->e.plan;
    const struct ergo_device *device = state->e.device;
    const bool gpu = device->type != CL_DEVICE_TYPE_CPU;
    const double lattices = (double)fac_lattices(state);
    const uint64_t fill = gpu ? s->sites / (8 * (uint64_t)l->group) : s->sites >> 22;
    const uint64_t share = (uint64_t)(2048 / lattices) + (s->sites >> 22) + 1;
    l->parts = (uint32_t)((fill < share ? fill : share) + (s->sites >> 25) + 1);
    l->counts_length = fac_lattices(state) * l->parts * FAC_COUNTS;
    state->lanes_length = fac_lattices(state) * l->parts * 32 * FAC_SQUARES;

    const double rate = attempts_per_second(l, device);
    const double units = device->summary.compute_units ? device->summary.compute_units : 1;
    const double parallel = !gpu                          ? units
                            : l->mode >= FAC_MODE_TILES   ? 2
                            : l->mode == FAC_MODE_WINDOWS ? units
                                                          : 512 * units;
    const double waves = ceil(lattices / parallel);
    plan->block_steps = fmax(1, floor(0.1 * rate / waves / (double)s->sites));
    l->attempts = l->mode == FAC_MODE_TILES ? l->tiles.segment
                  : s->lambda               ? s->sites / 2
                                            : (uint64_t)fmax(1e3, 0.1 * rate / waves);
    /* an attempt, or a window, takes at most some 30 loop iterations */
    const uint64_t limit = device->quirks.loop_limit / 32 * (l->window ? l->window : 1);
    l->most_attempts = limit ? limit : UINT64_MAX;
    ergo_pace_start(&state->e.pace, (double)l->attempts);
    if (limit && l->attempts > limit && !s->lambda)
        l->attempts = limit;
    plan->work_per_step = (double)s->sites * lattices * s->lanes;
    plan->launches_per_step = (l->mode == FAC_MODE_TILES                  ? 3.0
                               : s->lambda && s->division == FAC_COLOURED ? 4.0
                                                                          : 1.0) *
                              (double)s->sites / (double)l->attempts;
    describe(s, l, lattices, plan);
}

static void declare_buffers(struct fac_state *s) {
    struct ergo_engine *e = &s->e;
    const struct fac_tiles *t = &s->launch.tiles;
    const uint64_t lattices = fac_lattices(s), bytes = 4 * s->shape.sites * lattices;
    const uint64_t tiles = lattices * t->nx * t->ny, counts = 4 * s->launch.counts_length;
    const bool tiled = s->launch.mode == FAC_MODE_TILES,
               moves = tiled || (s->shape.lambda && s->shape.division != FAC_COLOURED);
    ergo_engine_buffer(e, FAC_SPINS, "spins", ERGO_BUFFER_STATE, bytes);
    ergo_engine_buffer(e, FAC_FIRST, "spins at t = 0", ERGO_BUFFER_STATE, bytes);
    ergo_engine_buffer(e, FAC_FLIPPED, "flips since t = 0", ERGO_BUFFER_STATE, bytes);
    ergo_engine_buffer(e, FAC_OTHER_SPINS, "second copy of the spins", ERGO_BUFFER_SCRATCH,
                       moves ? bytes : 0);
    ergo_engine_buffer(e, FAC_OTHER_FLIPPED, "second copy of the flips", ERGO_BUFFER_SCRATCH,
                       tiled ? bytes : 0);
    ergo_engine_buffer(e, FAC_BINS, "attempts by tile", ERGO_BUFFER_SCRATCH,
                       4 * tiles * t->most_attempts);
    ergo_engine_buffer(e, FAC_BIN_COUNTS, "numbers of attempts", ERGO_BUFFER_STATE,
                       4 * FAC_COUNTER_STRIDE * tiles);
    ergo_engine_buffer(e, FAC_AGAIN, "flags", ERGO_BUFFER_STATE, tiled ? 4 * lattices : 0);
    ergo_engine_buffer(e, FAC_RECORD, "counts", ERGO_BUFFER_SCRATCH, counts);
    ergo_engine_buffer(e, FAC_LANES, "counts of realisations", ERGO_BUFFER_SCRATCH,
                       s->each ? 4 * s->lanes_length : 0);
    ergo_engine_totals(e, FAC_SAMPLES, FAC_COUNTS, 0, s->shape.words * s->launch.parts);
    e->plan.host_bytes = s->n_times * (counts + 8 * lattices * FAC_COUNTS) + 3 * bytes;
    if (s->each)
        e->plan.host_bytes += s->n_times * (4 * s->lanes_length + 8 * lattices * FAC_SQUARES);
}

static void declare_kernels(struct fac_state *s) {
    static const char *const path = "spin_lattice/facilitated.cl";
    struct ergo_engine *e = &s->e;
    const struct fac_tiles *t = &s->launch.tiles;
    const uint32_t window = s->launch.window;
    char base[160], options[240], more[320];
    snprintf(base, sizeof base,
             "-DFAC_LX=%uu -DFAC_LY=%uu -DFAC_DIRECTIONS=%u -DFAC_NEEDED=%u -DFAC_COUPLED=%d "
             "-DFAC_LANES=%uu",
             s->shape.lx, s->shape.ly, s->shape.directions, s->shape.needed, s->shape.coupled,
             s->shape.lanes == 32 ? 0xffffffffu : 1u);
    if (s->shape.d == 3) {
        const size_t n = strlen(base);
        snprintf(base + n, sizeof base - n, " -DFAC_D=3 -DFAC_LZ=%uu",
                 (unsigned)(s->shape.sites / s->shape.lx / s->shape.ly));
    }
    snprintf(options, sizeof options, "%s", base);
    if (window && !s->shape.lambda)
        snprintf(options, sizeof options, "%s -DFAC_WINDOW=%uu%s", base, window,
                 s->launch.mode == FAC_MODE_TILES ? " -DFAC_REDO" : "");
    ergo_engine_kernel(e, FAC_START, path, options, "facilitated_start");
    ergo_engine_kernel(e, FAC_REFERENCE, path, options, "facilitated_reference");
    ergo_engine_kernel(e, FAC_MEASURE, path, options, "facilitated_measure");
    if (s->each)
        ergo_engine_kernel(e, FAC_EACH, path, options, "facilitated_lanes");
    if (s->launch.mode == FAC_MODE_LAMBDA) {
        snprintf(more, sizeof more, "%s -DFAC_LAMBDA=%uu -DFAC_DIVISION=%d -DFAC_GROUP=%uu", base,
                 s->shape.lambda, (int)s->shape.division, window);
        ergo_engine_kernel(e, FAC_PART, "spin_lattice/facilitated_lambda.cl", more,
                           "facilitated_lambda");
        return;
    }
    ergo_engine_kernel(e, FAC_SWEEP, path, options,
                       window ? "facilitated_window" : "facilitated_serial");
    if (s->launch.mode != FAC_MODE_TILES)
        return;
    snprintf(more, sizeof more,
             "%s -DFAC_NX=%uu -DFAC_NY=%uu -DFAC_HALO=%uu -DFAC_WIDE=%uu -DFAC_HIGH=%uu "
             "-DFAC_ROOM=%uu -DFAC_GROUP=%uu",
             base, t->nx, t->ny, t->halo, t->wide, t->high, t->most_attempts, t->group);
    ergo_engine_kernel(e, FAC_BIN, "spin_lattice/facilitated_tiles.cl", more, "facilitated_bin");
    ergo_engine_kernel(e, FAC_PART, "spin_lattice/facilitated_tiles.cl", more, "facilitated_tiles");
}

enum ergo_status fac_configure(struct ergo_context *ctx, void *state) {
    struct fac_state *s = state;
    const struct ergo_batch *batch = s->e.batch;
    const struct ergo_point *first = batch->points[0];
    const uint64_t sweeps = model_length(first);
    s->shape = fac_shape_of(first);
    s->origin = model_origin(first);
    s->each = fac_has_chi4(first);
    s->n_times = model_times(sweeps, NULL);
    s->times = ergo_engine_memory(&s->e, s->n_times, sizeof *s->times);
    s->members = ergo_engine_table(&s->e, FAC_MEMBERS, "members", batch->count, sizeof *s->members);
    s->physics = ergo_engine_memory(&s->e, batch->count, sizeof *s->physics);
    if (ergo_engine_end(&s->e) != ERGO_OK)
        return ergo_engine_end(&s->e);
    model_times(sweeps, s->times);
    for (size_t i = 0; i < batch->count; i++) {
        fac_member_fill(batch->points[i], &s->members[i]);
        s->physics[i] = fac_physics_of(batch->points[i]);
        /* members share a shape, but only some may have a coupling */
        s->shape.coupled = s->shape.coupled || s->physics[i].j != 0;
    }
    const enum ergo_status status = choose_mode(ctx, s);
    if (status != ERGO_OK)
        return status;
    choose_lengths(s);
    declare_buffers(s);
    declare_kernels(s);
    return ERGO_OK;
}
