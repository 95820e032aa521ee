/* Spin glasses: how a batch runs on a device. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "samplers/spin_lattice/spin_glass/glass.h"

enum { PATH_LOCAL = 1 };

size_t glass_lattice_bytes(const struct glass_shape *s) {
    return 16 * s->quads * (size_t)s->sites;
}

size_t glass_packed_length(const struct glass_shape *s) {
    return (2 * s->d + (size_t)s->field) * (size_t)s->sites * (s->real ? 32 : 1);
}

uint64_t glass_place_of(const struct glass_shape *s, uint64_t site) {
    const uint64_t x = site % s->lx, row = site / s->lx, y = row % s->ly, z = row / s->ly;
    return ((x + y + z) & 1) * s->half + x / 2 + s->lx / 2 * row;
}

static uint64_t neighbour(const struct glass_shape *s, uint64_t site, uint32_t direction) {
    const uint64_t side[3] = {s->lx, s->ly, s->lz};
    uint64_t at[3] = {site % s->lx, site / s->lx % s->ly, site / s->lx / s->ly};
    const uint32_t axis = direction / 2;
    at[axis] = (at[axis] + (direction % 2 ? side[axis] - 1 : 1)) % side[axis];
    return at[0] + s->lx * (at[1] + s->ly * at[2]);
}

void glass_pack_couplings(const struct glass_shape *s, const uint32_t *couplings,
                          uint32_t *packed) {
    const size_t lanes = s->real ? 32 : 1;
    const uint32_t z = 2 * s->d + s->field;
    for (uint64_t site = 0; site < s->sites; site++)
        for (uint32_t direction = 0; direction < z; direction++) {
            const bool before = direction % 2; /* fields, the last direction, are the site's own */
            const uint64_t owner = before ? neighbour(s, site, direction) : site;
            const uint32_t *from = couplings + (direction / 2 * s->sites + owner) * lanes;
            for (size_t b = 0; b < lanes; b++)
                packed[(glass_place_of(s, site) * lanes + b) * z + direction] = from[b];
        }
}

size_t glass_lattices(const struct glass_state *s) {
    return s->e.batch->count * s->shape.words;
}

/* ---- plan ------------------------------------------------------------------------------------ */

/* Spin updates per ns, roughly: only the length of blocks and launches depends on it. */
static double rate_of(const struct glass_shape *s, bool gpu, double units) {
    return (gpu ? 1500.0 : 0.4 * units) * (s->real ? 0.1 : 1);
}

/* Local memory of a whole ladder: room, and a number and a word for each sample of each slot. */
size_t glass_ladder_bytes(const struct glass_shape *s, const struct glass_launch *l) {
    return 16 * l->ladder_room + 8 * 32 * 4 * (size_t)s->quads;
}

/* May a group have the whole ladder? Work-items have five sites of a colour at most (their counters
 * begin with five planes), groups 512: with 1,024, registers are short and it is slower (H200). */
static bool plan_ladder(const struct glass_shape *s, const struct ergo_device_summary *d,
                        struct glass_launch *l) {
    const uint64_t most = d->largest_group < 512 ? d->largest_group : 512;
    const uint64_t each = (s->half * s->quads + most - 1) / most;
    if (each > 5 || s->half > 512)
        return false;
    l->ladder_lanes = (uint32_t)((s->half + each - 1) / each);
    l->count_levels = 0;
    while (l->count_levels < 4 && 2u << l->count_levels <= l->ladder_lanes)
        l->count_levels++;
    /* one colour; planes that the lower lanes are given; planes of the last ones, added up */
    const size_t sums = (size_t)GLASS_ROOM_8 << l->count_levels;
    size_t room = (size_t)s->half > sums ? (size_t)s->half : sums;
    size_t planes = each == 1 ? 3 : each == 2 ? 4 : 5;
    for (size_t width = l->ladder_lanes; width > (size_t)1 << l->count_levels; width -= width / 2) {
        if (planes * (width / 2) > room)
            room = planes * (width / 2);
        planes++;
    }
    l->ladder_room = room * s->quads;
    return glass_ladder_bytes(s, l) + 32 * s->quads <= d->local_memory;
}

/* Clusters: a group for two copies. On a device that ends long loops, its work-items have to be
 * through before that even if a cluster winds through half of the lattice. */
static bool plan_clusters(struct ergo_context *ctx, const struct glass_shape *s,
                          const struct ergo_device *device, uint32_t most, struct glass_launch *l) {
    const bool gpu = device->type != CL_DEVICE_TYPE_CPU;
    const uint64_t limit = device->quirks.loop_limit;
    l->cluster_group = ergo_power_of_two_within(s->half, 32, gpu || limit ? most : 64);
    const double turn = 2 * (double)s->half / l->cluster_group + 4; /* of all loops together */
    if (!s->cluster_every || !limit || (double)s->half / 2 * turn < (double)limit)
        return true;
    ERGO_FAIL(ctx, ERGO_E_DEVICE,
              "/system/cluster_every: %s ends loops after %llu turns, and a cluster of %llu sites "
              "may need more; use another device, or no cluster moves",
              device->summary.name, (unsigned long long)limit, (unsigned long long)s->half);
    return false;
}

static enum ergo_status choose_launch(struct ergo_context *ctx, struct glass_state *state) {
    const struct glass_shape *s = &state->shape;
    struct glass_launch *l = &state->launch;
    const struct ergo_batch *batch = state->e.batch;
    const struct ergo_device *device = state->e.device;
    const struct ergo_device_summary *d = &device->summary;
    const int64_t path = batch->points[0]->parameters->path;
    const int64_t wish = batch->points[0]->parameters->work_group;
    const bool gpu = device->type != CL_DEVICE_TYPE_CPU;
    const double lattices = (double)batch->count * s->words;
    *l = (struct glass_launch){0};
    const uint32_t most = d->largest_group < 256 ? ergo_power_of_two_down(d->largest_group) : 256;
    const bool fits = 16 * s->sites + 64 <= d->local_memory;
    if (path == PATH_LOCAL && !fits)
        return ERGO_FAIL(ctx, ERGO_E_DEVICE,
                         "/tuning/path 1 keeps %llu sites of four slots in local memory, %llu "
                         "bytes; %s has %llu",
                         (unsigned long long)s->sites, (unsigned long long)(16 * s->sites), d->name,
                         (unsigned long long)d->local_memory);
    l->local = path ? path == PATH_LOCAL : fits;
    l->group =
        ergo_power_of_two_within(s->half, 1, gpu ? (l->local || most < 128 ? most : 128) : 16);
    if (wish && wish < l->group)
        l->group = (uint32_t)wish;
    l->site_group = gpu ? (most < 128 ? most : 128) : 16;
    l->words = (cl_uint2){{s->words, s->first}};
    l->last = glass_lanes(s, s->first + s->words - 1);
    l->records = glass_lattices(state) * 128 * s->quads;
    l->levels = gpu ? 6 : 5; /* at least 32: real couplings have a work-item per sample */
    if (d->largest_group < 64)
        return ERGO_FAIL(ctx, ERGO_E_DEVICE,
                         "%s runs work-groups of up to %llu; spin glasses need 64", d->name,
                         (unsigned long long)d->largest_group);
    /* Adding up a group's counters costs as much as some 10 sites of each work-item: so many
     * work-items that all units are busy, and no more; of 42 sites at most (255 / 6). */
    const double size = (double)(1u << l->levels), half = (double)s->half;
    const double share = (gpu ? 0x1p15 : 1) / (lattices * s->quads * size);
    const double many = fmax(1, fmin(ceil(share), floor(half / (4 * size))));
    l->parts = (uint32_t)fmax(many, s->real ? 1 : ceil(half / (42 * size)));
    /* Whole ladders: a group for each, where that keeps the device busy or local memory is asked
     * for. */
    l->whole = l->local && !s->real && s->temperatures > 1 && !glass_shares_ladder(s) &&
               (path == PATH_LOCAL || lattices >= 0.75 * d->compute_units) &&
               !device->quirks.many_barriers_unreliable && plan_ladder(s, d, l);
    /* iterations of all loops of a work-item in one launch */
    const double loops = l->whole ? 128 /* exchanges in every sweep */
                                  : 2 * (half / l->group + 2) * (s->real ? 33 * 2.0 * s->d : 1);
    if (!plan_clusters(ctx, s, device, most, l))
        return ERGO_E_DEVICE;
    l->launch_sweeps = 1024;
    if (device->quirks.loop_limit)
        l->launch_sweeps = (uint64_t)fmax(1, (double)device->quirks.loop_limit / 2 / loops);
    return ERGO_OK;
}

/* ---- buffers and kernels ----------------------------------------------------------------------
 */

static void declare_buffers(struct glass_state *s) {
    struct ergo_engine *e = &s->e;
    const struct glass_shape *h = &s->shape;
    const size_t lattices = glass_lattices(s), members = e->batch->count, rows = glass_move_rows(h);
    const size_t records = s->launch.records;
    const struct {
        enum glass_buffer row;
        const char *what;
        enum ergo_buffer_kind kind;
        size_t bytes;
    } buffers[] = {
        {GLASS_SPINS, "spins", ERGO_BUFFER_STATE, glass_lattice_bytes(h) * lattices},
        {GLASS_COUPLINGS, "couplings", ERGO_BUFFER_CONSTANT, 4 * glass_packed_length(h) * lattices},
        {GLASS_TABLES, "acceptance", ERGO_BUFFER_CONSTANT, 32 * members * h->quads * GLASS_CLASSES},
        {GLASS_KEYS, "keys", ERGO_BUFFER_CONSTANT, 8 * members},
        {GLASS_SLOPES, "slopes", ERGO_BUFFER_CONSTANT, 4 * members * h->temperatures},
        {GLASS_WAVES, "waves", ERGO_BUFFER_CONSTANT, 8 * (size_t)h->layers},
        {GLASS_ENERGIES, "energies", ERGO_BUFFER_SCRATCH, 8 * records * s->launch.parts},
        {GLASS_COUNTS, "counts", ERGO_BUFFER_SCRATCH, 8 * records * h->layers},
        /* what an exchange leaves for the next one, zeros at first */
        {GLASS_MASKS, "exchanges", ERGO_BUFFER_STATE, 32 * lattices * h->quads},
        {GLASS_FROM_HOT, "walkers", ERGO_BUFFER_STATE, 16 * lattices * h->quads},
        {GLASS_ACCEPTED, "accepted exchanges", ERGO_BUFFER_STATE, 8 * lattices * h->slots},
        {GLASS_ROUND_TRIPS, "round trips", ERGO_BUFFER_STATE, 8 * lattices * h->copies},
        {GLASS_MOVED, "exchanges of samples", ERGO_BUFFER_STATE, 128 * lattices * rows},
        {GLASS_ROOM, "clusters", ERGO_BUFFER_SCRATCH,
         h->cluster_every ? 4 * lattices * h->sites * h->slots : 0},
        {GLASS_RECORDS, "samples", ERGO_BUFFER_SAMPLES, GLASS_RECORD_BYTES * records},
        {GLASS_NUMBERS, "numbers of exchanges", ERGO_BUFFER_HOST,
         h->rungs > 1 ? 8 * lattices * rows : 0},
    };
    for (size_t i = 0; i < sizeof buffers / sizeof buffers[0]; i++)
        ergo_engine_buffer(e, buffers[i].row, buffers[i].what, buffers[i].kind, buffers[i].bytes);
}

static void declare_kernels(struct glass_state *s) {
    static const char *const sweep = "spin_lattice/glass.cl",
                             *const temper = "spin_lattice/glass_temper.cl",
                             *const count = "spin_lattice/glass_measure.cl";
    struct ergo_engine *e = &s->e;
    const struct glass_shape *h = &s->shape;
    const struct glass_launch *l = &s->launch;
    char options[400];
    const int n = snprintf(
        options, sizeof options,
        "-DGLASS_LX=%uu -DGLASS_LY=%uu -DGLASS_LZ=%uu -DGLASS_D=%u -DGLASS_HEAT=%d -DGLASS_REAL=%d "
        "-DGLASS_T=%u -DGLASS_COPIES=%uu -DGLASS_LEVELS=%u -DGLASS_COUNT_LEVELS=%u "
        "-DGLASS_LADDER_LANES=%u -DGLASS_LADDER_ROOM=%zu%s%s",
        h->lx, h->ly, h->lz, h->d, h->heat, h->real, h->temperatures, h->copies, l->levels,
        l->count_levels, l->ladder_lanes, l->ladder_room, l->local ? " -DGLASS_LOCAL" : "",
        h->field ? " -DGLASS_FIELD=1" : "");
    /* these do not ask where on the ladder they are: one program for all ranks */
    ergo_engine_kernel(e, GLASS_ENERGY, count, options, "glass_energy");
    ergo_engine_kernel(e, GLASS_OVERLAP, count, options, "glass_overlap");
    ergo_engine_kernel(e, GLASS_RECORD, count, options, "glass_record");
    glass_border_declare(s, options);
    if (glass_shares_ladder(h))
        snprintf(options + n, sizeof options - (size_t)n, " -DGLASS_RUNG=%uu -DGLASS_RUNGS=%uu",
                 h->rung, h->rungs);
    ergo_engine_kernel(e, GLASS_SWEEP, sweep, options, l->local ? "glass_local" : "glass_sweep");
    ergo_engine_kernel(e, GLASS_START, sweep, options, "glass_start");
    if (h->temperatures > 1) {
        ergo_engine_kernel(e, GLASS_SWAP, temper, options, "glass_swap");
        ergo_engine_kernel(e, GLASS_EXCHANGE, temper, options, "glass_exchange");
    }
    if (h->cluster_every)
        ergo_engine_kernel(e, GLASS_CLUSTER, "spin_lattice/glass_cluster.cl", options,
                           "glass_cluster");
    if (l->whole)
        ergo_engine_kernel(e, GLASS_WHOLE, "spin_lattice/glass_local.cl", options,
                           "glass_local_ladder");
}

enum ergo_status glass_configure(struct ergo_context *ctx, struct glass_state *s) {
    const struct ergo_device *device = s->e.device;
    const struct glass_shape *h = &s->shape;
    struct glass_launch *l = &s->launch;
    struct ergo_plan *plan = &s->e.plan;
    const size_t lattices = glass_lattices(s), members = s->e.batch->count;
    const enum ergo_status status = choose_launch(ctx, s);
    if (status != ERGO_OK)
        return status;
    declare_buffers(s);
    declare_kernels(s);
    const double samples = 0x1p26 / (GLASS_RECORD_BYTES * (double)l->records);
    s->e.block_samples = (size_t)fmax(1, fmin(256, samples));
    s->e.curve_interval = 1; /* each sample carries the curves */
    const double work = (double)h->sites * h->samples * glass_all_slots(h) * (double)members;
    const double own = work / ((double)h->all * glass_all_slots(h)) * h->words * h->slots;
    plan->block_steps = fmax(
        1,
        floor(0.1e9 *
              rate_of(h, device->type != CL_DEVICE_TYPE_CPU, device->summary.compute_units) / own));
    plan->work_per_step = work;
    plan->launches_per_step = l->local ? 1.0 / h->swap_every : 2;
    if (h->cluster_every)
        plan->launches_per_step += 1.0 / h->cluster_every;
    /* couplings as they are packed, a lattice to save, moments and exchanges */
    plan->host_bytes += 2 * s->e.buffers[GLASS_SPINS].bytes + s->e.buffers[GLASS_COUPLINGS].bytes +
                        3 * s->e.buffers[GLASS_MOVED].bytes + 16 * lattices * glass_sums_length(h);
    snprintf(plan->path, sizeof plan->path, "%s", l->local ? "local" : "global");
    snprintf(plan->launch, sizeof plan->launch,
             "%zu word-lattices of 32 samples, %u temperatures x %u copies, %s", lattices,
             h->temperatures, h->copies,
             l->local ? "a work-group for four slots" : "half a sweep per launch");
    return ERGO_OK;
}
