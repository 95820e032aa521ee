/* Kernels and launch sizes of a batch on a device. They change the speed and never the chain. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "samplers/spin_lattice/bytes.h"
#include "samplers/spin_lattice/ising/ising.h"
#include "samplers/spin_lattice/models.h"
#include "spin_lattice/params.h"

struct ising_shape ising_shape_of(const struct ergo_point *point) {
    const struct ergo_value *size = &of_lattice(point)->size;
    struct ising_shape s = {.lx = size->size[0], .ly = size->size[1]};
    const uint64_t h = (uint64_t)s.lx / 2;
    s.row_words = (uint32_t)((h + 31) / 32);
    s.tail = (uint32_t)(h - 32 * ((uint64_t)s.row_words - 1));
    s.words = s.row_words * (uint64_t)s.ly;
    s.blocks = s.all = (s.words + 3) / 4;
    s.member_bytes = s.blocks * 32;
    return s;
}

uint32_t ising_granule(const struct ising_shape *whole) {
    return whole->row_words % 2 ? 4 : 2;
}

struct ising_shape ising_shape_of_rows(const struct ising_shape *whole, uint64_t first,
                                       uint64_t rows) {
    struct ising_shape s = *whole;
    s.ly = (int64_t)rows;
    s.words = s.row_words * rows;
    s.blocks = s.words / 4;
    s.member_bytes = s.blocks * 32;
    s.first = first % (uint64_t)whole->ly * s.row_words / 4;
    return s;
}

bool ising_needs_field(const struct ergo_point *point) {
    return of_lattice(point)->field.real != 0.0 ||
           !ergo_says(of_lattice(point)->dynamics, "metropolis");
}

uint32_t ising_reach(const struct ergo_point *point) {
    const struct ergo_value *size = &of_lattice(point)->size;
    int64_t reach = of_lattice(point)->correlation_max;
    for (int i = 0; i < 2; i++)
        if (reach > size->size[i] / 2)
            reach = size->size[i] / 2;
    return (uint32_t)reach;
}

/* Does the device's compiler turn a vector of eight into one instruction? CPU compilers with
 * LLVM's code generator do. Mesa's and Oclgrind's split it into scalars, which is slow, and Mesa
 * 22.3 compiles such a kernel for 5 to 45 s. GPUs never get these kernels: NVIDIA's driver
 * 580.159 miscompiles the local one with ten classes (a wrong energy at 64 x 8; 2026-11-21). */
static bool explicit_vectors(const struct ergo_device *device, int64_t wish) {
    if (device->type != CL_DEVICE_TYPE_CPU || wish)
        return device->type == CL_DEVICE_TYPE_CPU && wish == 1;
    return strstr(device->summary.platform, "Portable Computing Language") ||
           strstr(device->summary.platform, "Intel");
}

static uint64_t local_bytes(const struct ising_shape *s, uint32_t group,
                            const struct ising_launch *l) {
    const uint64_t chunks = (s->words + 31) / 32;
    return l->lanes ? 4 * 2 * (32 * chunks + 2 * (s->row_words + 2))
                    : s->blocks * 32 + 4 * (uint64_t)l->sums * group;
}

static uint64_t tile_bytes(const struct ising_shape *s, uint32_t rows, uint32_t sweeps) {
    return 8 * (uint64_t)s->row_words * (rows + 4 * sweeps);
}

/* Rows in a chunk of the vector kernels. 0: a chunk is no integer number of rows, nor a row of
 * chunks. */
static uint32_t chunk_rows(const struct ising_shape *s) {
    if (s->row_words % 32 == 0)
        return 1;
    const uint32_t rows = 32 % s->row_words ? 0 : 32 / s->row_words;
    return rows && s->ly % rows == 0 ? rows : 0;
}

/* Work-items of a group that has half a block each. */
static uint32_t ahead_group(const struct ising_shape *s, const struct ergo_device *device) {
    return ergo_power_of_two_up(2 * s->blocks, ergo_device_least_group(device), 1024);
}

/* Samples whose sums wait until they are added, where a work-group has a unit to itself: 2,048
 * parts. */
static uint32_t kept_samples(uint32_t group) {
    return 2048 / group;
}

/* Seconds per sweep where each lattice has a unit of its own, and bits are drawn ahead or by the
 * sweep (H200, 2026-11-23). */
static double seconds_alone(const struct ising_shape *s, double members, unsigned units,
                            bool ahead) {
    const double blocks = (double)s->blocks, work = (double)s->lx * (double)s->ly * members;
    return ahead ? 0.5e-6 + 0.25e-6 * ceil(blocks / 64) + work / (1.7e10 * units)
                 : 2 * fmax(0.92e-6, 0.6e-6 * blocks / 128);
}

/*
 * Local path: sweeps whose random bits a launch of their own draws; 0: none. On GPUs where this is
 * clearly faster: lattices leave units idle, and each has so few blocks that a group has a
 * work-item for half of each. On CPUs only if the job says for how many sweeps.
 */
static uint32_t sweeps_ahead(const struct ergo_batch *batch, const struct ergo_device *device,
                             const struct ising_shape *s, const struct ising_launch *l) {
    const struct ergo_device_summary *d = &device->summary;
    const struct ergo_point *first = batch->points[0];
    const uint32_t wish = (uint32_t)of_lattice(first)->tile_sweeps;
    const uint32_t group = ahead_group(s, device);
    const uint64_t bytes =
        52 * s->blocks + 4 * (uint64_t)l->sums * kept_samples(group) * (group + 16);
    /* the seconds are a GPU's, and not those of PoCL that pretends to be one */
    const bool slow = device->type == CL_DEVICE_TYPE_CPU || device->quirks.many_barriers_unreliable;
    const unsigned units = d->compute_units ? d->compute_units : 1;
    const double members = (double)batch->count;
    const bool few =
        batch->count <= units && !first->parameters->work_group &&
        1.2 * seconds_alone(s, members, units, true) < seconds_alone(s, members, units, false);
    if (l->field || l->lanes || device->quirks.loop_limit || 2 * s->blocks > group ||
        group > d->largest_group || bytes > d->local_memory || (slow ? !wish : !few))
        return 0;
    /* so few that their bits stay in a cache of 50 MB */
    const double drawn = 160.0 * (double)s->blocks * (double)batch->count;
    return wish ? wish : (uint32_t)fmin(fmax(0x1p25 / drawn, 16), 1024);
}

/* Tile path: sweeps and rows from the job, or automatic. false: the device cannot run it. */
static bool choose_tile(const struct ergo_point *point, const struct ising_shape *s, size_t members,
                        const struct ergo_device_summary *d, struct ising_launch *l) {
    l->sweeps = (uint32_t)of_lattice(point)->tile_sweeps;
    l->rows = (uint32_t)of_lattice(point)->tile_rows;
    if (!l->lanes) {
        l->sweeps = l->sweeps ? l->sweeps : 4;
        /* a stripe for each unit, or for each half; more rows leave units idle (H200) */
        const double each = (double)s->ly * (double)members / fmax(1, d->compute_units);
        if (!l->rows)
            l->rows = each > 16 && tile_bytes(s, 32, l->sweeps) <= d->local_memory ? 32 : 16;
        return l->wide && s->ly > (int64_t)(4 * l->sweeps) &&
               tile_bytes(s, l->rows, l->sweeps) <= d->local_memory;
    }
    /* on CPUs a stripe for each core, so high that halos are a small part of it */
    const uint32_t step = chunk_rows(s);
    if (step == 0)
        return false;
    const uint64_t cores = d->compute_units ? d->compute_units : 1;
    const uint64_t most = d->local_memory / (8 * (uint64_t)s->row_words);
    if (!l->sweeps)
        l->sweeps = 8;
    if (!l->rows) {
        const uint64_t each = ((uint64_t)s->ly * members + cores - 1) / cores;
        l->rows = (uint32_t)fmin(fmin((double)each, (double)s->ly), 4096);
    }
    const uint64_t together = s->row_words < 4 ? 4 / s->row_words : 1; /* rows of a block */
    const uint64_t halo = 2 * (2 * together * l->sweeps + step + 2);   /* with margins */
    if (l->rows + halo > most)
        l->rows = most > halo ? (uint32_t)(most - halo) : 0;
    l->rows = l->rows / step * step;
    return l->rows >= step;
}

/*
 * Estimated seconds per sweep of the batch on each path. The numbers need only give the right order
 * of the paths, and a tuning key overrides the choice.
 *     GPU (H200, 2026-11-23): 3.4e12/s if full; half a sweep of one block per work-item in local
 *     memory 1.2 us; a pair of launches 9.5 us; of tiles a launch 2 us, 32 blocks 0.21 us.
 *     CPU (AVX-512): 8e9/s per core; a launch 20 us on 2 cores (PoCL 3.1), 40 us on 16 (PoCL 5.0).
 */
static double path_seconds(enum ising_path path, const struct ising_shape *s, size_t members,
                           const struct ising_launch *l, uint32_t group, unsigned units, bool gpu) {
    const double cpu_launch = 15e-6 + 1.5e-6 * units, cpu_rate = 8e9;
    const double spins = (double)s->lx * (double)s->ly, work = spins * (double)members;
    const double steps = ceil((double)s->blocks / group);
    switch (path) {
    case ISING_PATH_LOCAL: {
        const double rounds = ceil((double)members / units);
        if (gpu && l->ahead)
            return seconds_alone(s, (double)members, units, true);
        if (gpu)
            return fmax(2.4e-6 * steps, work / (2.6e10 * units));
        return rounds * spins / cpu_rate;
    }
    case ISING_PATH_TILE:
        if (gpu) { /* blocks of the stripes of a unit, with their halos */
            const double warps = (l->rows + 2.0 * l->sweeps - 1) * s->row_words / 128;
            const double groups = ceil(ceil((double)s->ly / l->rows) * (double)members / units);
            return 2e-6 / l->sweeps + 2 * fmax(0.9e-6, 0.21e-6 * warps * groups);
        }
        if (!l->lanes)
            return INFINITY;
        const double stripes = ceil((double)s->ly / l->rows) * (double)members;
        const double stripe = (double)s->lx * (l->rows + 2.0 * l->sweeps);
        return cpu_launch / l->sweeps + ceil(stripes / units) * stripe / cpu_rate;
    case ISING_PATH_GLOBAL:
    case ISING_PATH_AUTO:
        break;
    }
    return gpu ? fmax(9.5e-6, 3e-6 + work / (2.6e10 * units))
               : 2 * cpu_launch + work / (cpu_rate * units);
}

static void choose_path(const struct ising_state *state, struct ising_launch *l) {
    const struct ergo_batch *batch = state->e.batch;
    const struct ergo_device *device = state->e.device;
    const struct ising_shape *s = &state->shape;
    const struct ergo_device_summary *d = &device->summary;
    const struct ergo_point *first = batch->points[0];
    const bool gpu = device->type != CL_DEVICE_TYPE_CPU;
    const uint32_t most = d->largest_group < 256 ? ergo_power_of_two_down(d->largest_group) : 256;
    const uint32_t wish = (uint32_t)first->parameters->work_group;
    const unsigned units = d->compute_units ? d->compute_units : 1;

    uint32_t limit = 1;
    while (limit * 2 <= d->largest_group)
        limit *= 2;
    /* no more work-items than blocks need: PoCL 3.1 compiles idle ones for hours */
    const uint32_t useful = ergo_power_of_two_up(s->blocks, ergo_device_least_group(device), most);
    const uint32_t local_group = l->lanes ? 1 : wish && wish < useful ? wish : useful;

    const uint64_t local_memory = d->local_memory;
    /* PoCL 3.1 compiles ising_local.cl for minutes if the lattice has only a few blocks, also where
     * it pretends to be a GPU */
    const bool compiles =
        l->lanes || s->blocks >= 16 || !strstr(d->platform, "Portable Computing Language");
    const bool local_fits =
        !state->cut && compiles && local_bytes(s, local_group, l) <= local_memory;
    const bool tile_fits = !state->slab.by_colour && choose_tile(first, s, batch->count, d, l);

    l->path = (enum ising_path)first->parameters->path;
    l->ahead = local_fits ? sweeps_ahead(batch, device, s, l) : 0;
    if ((l->path == ISING_PATH_LOCAL && !local_fits) || (l->path == ISING_PATH_TILE && !tile_fits))
        l->path = ISING_PATH_AUTO;
    if (l->path == ISING_PATH_AUTO) {
        double best = INFINITY;
        const enum ising_path order[] = {ISING_PATH_GLOBAL, ISING_PATH_TILE, ISING_PATH_LOCAL};
        for (int i = 0; i < 3; i++) {
            if ((order[i] == ISING_PATH_LOCAL && !local_fits) ||
                (order[i] == ISING_PATH_TILE && !tile_fits))
                continue;
            const double t = path_seconds(order[i], s, batch->count, l, local_group, units, gpu);
            if (t < best) {
                best = t;
                l->path = order[i];
            }
        }
    }
    if (l->path != ISING_PATH_LOCAL)
        l->ahead = 0;
    switch (l->path) {
    case ISING_PATH_LOCAL:
        l->group = local_group;
        if (l->ahead)
            l->group = ahead_group(s, device);
        break;
    case ISING_PATH_TILE:
        l->group = l->lanes ? 1 : wish ? wish : 256;
        break;
    case ISING_PATH_GLOBAL:
    case ISING_PATH_AUTO: {
        const uint32_t items = ergo_power_of_two_up(s->blocks, 1, wish ? limit : gpu ? 128 : 16);
        l->group = wish && wish < items ? wish : items;
        break;
    }
    }
    if (l->group > limit)
        l->group = limit;
}

/*
 * Most sweeps of a launch of the local path if the device ends loops early, counted as if no
 * compiler unrolled a loop. A block's update has 8 draws of 10 rounds, and 4 words times 2 or 10
 * classes. The measurement, which may follow each sweep, has some 16 iterations per word.
 */
static uint64_t loop_limited(const struct ising_shape *s, const struct ising_launch *l,
                             uint64_t limit) {
    const uint64_t classes = l->field ? 10 : 2, update = 8 * (10 + 4 * classes) + 24 * classes;
    const uint64_t blocks = l->lanes ? s->words / 32 + 1 : (s->blocks + l->group - 1) / l->group;
    const uint64_t copy = (l->lanes ? 40 : 16) * blocks + 8 * (uint64_t)s->row_words;
    const uint64_t sweep = 2 * blocks * (update + 64) + blocks * 64 + 4 * s->row_words + 40;
    const uint64_t most_sweeps = limit > 2 * copy + sweep ? (limit - 2 * copy) / sweep : 1;
    return most_sweeps < l->launch_sweeps ? most_sweeps : l->launch_sweeps;
}

/* Properties that are compiled into the kernels. */
static void choose_kernels(const struct ergo_batch *batch, const struct ergo_device *device,
                           const struct ising_shape *s, struct ising_launch *l) {
    const struct ergo_point *first = batch->points[0];
    const bool cpu = device->type == CL_DEVICE_TYPE_CPU;
    l->lanes = explicit_vectors(device, of_lattice(first)->lanes);
    l->wide = s->row_words % 4 == 0;
    /* not on CPUs: with vectors in scalar kernels, PoCL 3.1 compiles for hours on tiny lattices */
    if (!cpu && ((s->row_words == 1 && s->ly % 4 == 0) || s->row_words == 2))
        l->narrow = (int)s->row_words;
    l->full = s->tail == 32 && s->words % 4 == 0;
    l->fixed = true; /* 9% on an H200 */
    l->sums = 2;
    for (size_t i = 0; i < batch->count; i++) {
        const struct ergo_point *point = batch->points[i];
        if (bytes_staggered_axes(point))
            l->sums = 3;
        l->field = l->field || ising_needs_field(point);
        l->fixed = l->fixed && point->parameters->temperature == first->parameters->temperature &&
                   of_lattice(point)->coupling.real == of_lattice(first)->coupling.real;
    }
    l->fixed = l->fixed && !l->field;
}

/* Memory for lattices of which correlations are counted later, in bytes. */
static const uint64_t most_snapshots = 1 << 24;

/* Sizes of the counts of a sample and of a sample with curves. */
static void choose_measurement(const struct ergo_batch *batch, const struct ergo_device *device,
                               const struct ising_shape *s, struct ising_launch *l) {
    const struct ergo_point *first = batch->points[0];
    const unsigned units = device->summary.compute_units;
    const bool gpu = device->type != CL_DEVICE_TYPE_CPU;
    l->reach = model_correlation_every(first) ? ising_reach(first) : 0;
    l->correlate_parts = (uint32_t)(s->words / (1u << 25) + 1); /* 2^25 words x 64 sites < 2^32 */
    if (device->quirks.loop_limit)
        l->correlate_parts = (uint32_t)(s->words / (1u << 13) + 1);
    else if (gpu) { /* all compute units, with some thousand words or more a group */
        const uint64_t most = s->words / 4096 + 1,
                       groups = (l->reach / ISING_AT_ONCE + 1) * 2 * batch->count;
        const uint64_t wish = 8 * (uint64_t)(units ? units : 1) / groups + 1;
        const uint32_t parts = (uint32_t)(wish < most ? wish : most);
        l->correlate_parts = parts > l->correlate_parts ? parts : l->correlate_parts;
    }
    l->measure_groups = 1;
    if (l->path != ISING_PATH_LOCAL) {
        /* on GPUs this short kernel needs all compute units */
        const uint64_t per_group = (gpu ? 1 : 64) * (uint64_t)l->group;
        const uint64_t least = s->blocks / (1u << 23) + 1; /* 2^23 blocks x 512 bonds fit 32 bits */
        const uint64_t enough = 8 * (uint64_t)(units ? units : 1);
        uint64_t groups = (s->blocks + per_group - 1) / per_group;
        groups = groups > enough ? enough : groups;
        l->measure_groups = (uint32_t)(groups < 2 * least ? 2 * least : groups);
    }
    l->rows_counted = bytes_has_structure(first) ? (uint32_t)s->ly : 0;
    if (l->path == ISING_PATH_LOCAL && !l->lanes && l->reach && !device->quirks.loop_limit) {
        const uint64_t fit = most_snapshots / (s->member_bytes * batch->count);
        l->snapshots = (uint32_t)(fit < 64 ? fit : 64);
    }
    l->curve_numbers = 2 * l->reach * l->correlate_parts + l->rows_counted;
}

static void describe(const struct ising_state *s, struct ergo_plan *plan) {
    static const char *const names[] = {"", "local", "tile", "global"};
    const struct ising_launch *l = &s->launch;
    const size_t members = s->e.batch->count, size = sizeof plan->launch;
    const uint64_t about = ergo_plan_launch(plan, l->launch_sweeps);
    snprintf(plan->path, sizeof plan->path, "%s", names[l->path]);
    plan->launches_per_step = l->path == ISING_PATH_GLOBAL ? 2.0
                              : l->path == ISING_PATH_TILE ? 1.0 / l->sweeps
                                                           : 1.0 / (double)about;
    if (l->path == ISING_PATH_LOCAL)
        snprintf(plan->launch, size,
                 "%zu work-groups of %u%s, one lattice each in local memory, about %llu sweeps a "
                 "launch%s",
                 members, l->group, l->lanes ? " (vectors of eight blocks)" : "",
                 (unsigned long long)about, l->ahead ? ", bits drawn ahead" : "");
    else if (l->path == ISING_PATH_TILE)
        snprintf(plan->launch, size, "stripes of %u rows, work-groups of %u, %u sweeps a launch",
                 l->rows, l->group, l->sweeps);
    else
        snprintf(plan->launch, size,
                 "%llu work-items of %d spins in groups of %u, half a sweep a launch",
                 (unsigned long long)((l->lanes ? (s->shape.blocks + 7) / 8 : s->shape.blocks) *
                                      members),
                 l->lanes ? 1024 : 128, l->group);
}

static void declare_kernels(struct ergo_engine *e, const struct ising_launch *l,
                            const char *options) {
    static const char *const global = "spin_lattice/ising_global.cl";
    static const struct {
        const char *path, *name;
    } sweeps[][2] = {
        /* without and with explicit vectors */
        [ISING_PATH_LOCAL] = {{"spin_lattice/ising_local.cl", "ising_sweep_local"},
                              {"spin_lattice/ising_lanes_local.cl", "ising_sweep_local"}},
        [ISING_PATH_TILE] = {{"spin_lattice/ising_tile.cl", "ising_sweep_tile"},
                             {"spin_lattice/ising_lanes_tile.cl", "ising_sweep_tile"}},
        [ISING_PATH_GLOBAL] = {{"spin_lattice/ising_global.cl", "ising_sweep"},
                               {"spin_lattice/ising_lanes_global.cl", "ising_sweep_lanes"}}};
    ergo_engine_kernel(e, ISING_START, global, options, "ising_start");
    if (l->ahead)
        ergo_engine_kernel(e, ISING_DRAW, "spin_lattice/ising_draw.cl", options, "ising_draw");
    ergo_engine_kernel(e, ISING_MEASURE, global, options, "ising_measure");
    ergo_engine_kernel(e, ISING_CORRELATE, global, options, "ising_correlate");
    ergo_engine_kernel(e, ISING_COUNT_ROWS, global, options, "ising_rows");
    ergo_engine_kernel(e, ISING_SWEEP, sweeps[l->path][l->lanes].path, options,
                       sweeps[l->path][l->lanes].name);
}

static enum ergo_status declare(struct ising_state *s) {
    struct ergo_engine *e = &s->e;
    const struct ising_launch *l = &s->launch;
    const struct ising_member *m = &s->members[0];
    const uint64_t members = e->batch->count, spins = s->shape.member_bytes * members;
    struct ergo_text o = {0};
    ergo_engine_buffer(e, ISING_SPINS, "spins", ERGO_BUFFER_STATE, spins);
    ergo_engine_buffer(e, ISING_OTHER, "second copy of the spins", ERGO_BUFFER_SCRATCH,
                       l->path == ISING_PATH_TILE ? spins : 0);
    ergo_engine_buffer(e, ISING_BITS, "random bits", ERGO_BUFFER_SCRATCH,
                       160 * s->shape.blocks * members * l->ahead);
    ergo_engine_buffer(e, ISING_SNAPSHOTS, "spins of samples with curves", ERGO_BUFFER_SCRATCH,
                       l->snapshots * spins);
    ergo_engine_totals(e, ISING_SAMPLES, l->sums, 0, l->measure_groups);
    ergo_engine_buffer(e, ISING_CURVES, "correlations", ERGO_BUFFER_CURVES,
                       4 * members * l->curve_numbers);

    ergo_text_append(&o, "-DISING_LX=%lldu -DISING_LY=%lldu -DISING_CLASSES=%d",
                     (long long)s->shape.lx, (long long)s->shape.ly,
                     l->field ? ISING_CLASSES_MAX : 2);
    if (l->wide)
        ergo_text_append(&o, " -DISING_WIDE");
    if (l->narrow)
        ergo_text_append(&o, " -DISING_NARROW=%d", l->narrow);
    if (l->full)
        ergo_text_append(&o, " -DISING_FULL");
    if (l->fixed)
        ergo_text_append(&o,
                         " -DISING_FIXED -DISING_HIGH0=%uu -DISING_LOW0=%uu -DISING_HIGH1=%uu "
                         "-DISING_LOW1=%uu",
                         m->high[0], m->low[0], m->high[1], m->low[1]);
    if (l->sums > 2)
        ergo_text_append(&o, " -DISING_SUMS=%u", l->sums);
    if (s->cut)
        ergo_text_append(&o, " -DISING_CUT -DISING_ALL=%lluu", (unsigned long long)s->whole.blocks);
    if (l->snapshots)
        ergo_text_append(&o, " -DISING_SNAPSHOTS");
    if (l->path != ISING_PATH_GLOBAL)
        ergo_text_append(&o, " -DISING_GROUP=%u", l->group);
    if (l->ahead)
        ergo_text_append(&o, " -DISING_AHEAD -DISING_KEPT=%u", kept_samples(l->group));
    if (l->path == ISING_PATH_TILE)
        ergo_text_append(&o, " -DISING_SWEEPS=%u -DISING_ROWS=%u", l->sweeps, l->rows);
    if (o.failed)
        ERGO_ENGINE_FAIL(e, ERGO_E_MEMORY, "no memory for build options");
    else
        declare_kernels(e, l, o.data);
    ergo_text_free(&o);
    return ergo_engine_end(e);
}

enum ergo_status ising_configure(struct ergo_context *ctx, void *state) {
    struct ising_state *s = state;
    const struct ergo_batch *batch = s->e.batch;
    const struct ergo_device *device = s->e.device;
    struct ergo_plan *plan = &s->e.plan;
    struct ising_launch *l = &s->launch;
    (void)ctx;
    if (!s->cut)
        s->shape = s->whole = ising_shape_of(batch->points[0]);
    *l = (struct ising_launch){.to = (uint32_t)s->shape.blocks};
    s->members =
        ergo_engine_table(&s->e, ISING_MEMBERS, "members", batch->count, sizeof *s->members);
    s->physics = ergo_engine_memory(&s->e, batch->count, sizeof *s->physics);
    s->planes = bytes_shape_of(batch->points[0]);
    s->wave = ergo_engine_memory(&s->e, (size_t)s->whole.ly, 2 * sizeof *s->wave);
    if (ergo_engine_end(&s->e) != ERGO_OK)
        return ergo_engine_end(&s->e);
    bytes_wave(&s->planes, s->wave);
    choose_kernels(batch, device, &s->shape, l);
    choose_path(s, l);
    ising_fill(s);
    l->fixed = l->fixed && s->members[0].always == 0;

    const double members = (double)batch->count,
                 spins = (double)s->whole.lx * (double)s->whole.ly * members;
    const unsigned units = device->summary.compute_units;
    const double per_second = (device->type != CL_DEVICE_TYPE_CPU ? 2e10
                               : l->lanes                         ? 2e9
                                                                  : 5e7) *
                              (units ? units : 1);
    plan->work_per_step = spins;
    plan->block_steps = fmax(1.0, floor(0.1 * per_second / spins));
    l->launch_sweeps = 1000000; /* kernels count with 32 bits */
    if (device->quirks.loop_limit && l->path == ISING_PATH_LOCAL)
        l->launch_sweeps = loop_limited(&s->shape, l, device->quirks.loop_limit);
    if (l->ahead && l->ahead < l->launch_sweeps)
        l->launch_sweeps = l->ahead;
    choose_measurement(batch, device, &s->shape, l);
    s->e.curve_interval = (uint64_t)model_correlation_every(batch->points[0]);
    plan->host_bytes = (1 + batch->count) * s->shape.member_bytes; /* states that are saved */
    describe(s, plan);
    return declare(s);
}
