/* Spin glasses on a device: plan, build, start, advance. */
#include "samplers/spin_lattice/glass.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/program.h"
#include "samplers/spin_lattice/models.h"

enum { PATH_LOCAL = 1, WAVE_UNIT = 4096 };

size_t glass_lattice_bytes(const struct glass_shape *s) {
    return 16 * s->quads * (size_t)s->sites;
}

static size_t packed_length(const struct glass_shape *s) {
    return 2 * s->d * (size_t)s->sites * (s->real ? 32 : 1);
}

/* Samples in use of the last word-lattice here. */
static uint32_t last_of(const struct glass_shape *s) {
    return glass_lanes(s, s->first + s->words - 1);
}

static cl_uint2 words_of(const struct glass_shape *s) {
    return (cl_uint2){{s->words, s->first}};
}

static size_t lattices_of(const struct glass_state *s) {
    return s->batch->count * s->shape.words;
}

/* ---- plan ------------------------------------------------------------------------------------ */

static uint32_t power_of_two_below(uint64_t n, uint32_t least, uint32_t most) {
    uint32_t p = least;
    while (2 * (uint64_t)p <= n && 2 * p <= most)
        p *= 2;
    return p;
}

/* Spin updates per ns, roughly: only the length of blocks and launches depends on it. */
static double rate_of(const struct glass_shape *s, bool gpu, double units) {
    return (gpu ? 1500.0 : 0.4 * units) * (s->real ? 0.1 : 1);
}

/* Local memory of the fused local path: the lattice, later the planes that are added up; and what
 * is always there. */
static size_t room_of(const struct glass_shape *s, const struct glass_launch *l) {
    const size_t planes = 16 * ((size_t)(8 + l->count_levels) << l->count_levels);
    const size_t lattice = 16 * (size_t)s->sites;
    return (planes > lattice ? planes : lattice) + 1024;
}

static enum ergo_status plan_launch(struct ergo_context *ctx, const struct glass_shape *s,
                                    const struct ergo_batch *batch,
                                    const struct ergo_device *device, struct glass_launch *l) {
    const struct ergo_device_summary *d = &device->summary;
    const int64_t path = ergo_point_int(batch->points[0], "/tuning/path");
    const int64_t wish = ergo_point_int(batch->points[0], "/tuning/work_group");
    const bool gpu = device->type != CL_DEVICE_TYPE_CPU;
    const double lattices = (double)batch->count * s->words;
    const uint32_t most = d->largest_group < 256 ? (uint32_t)d->largest_group : 256;
    const bool fits = 16 * s->sites + 64 <= d->local_memory;
    if (path == PATH_LOCAL && !fits)
        return ERGO_FAIL(ctx, ERGO_E_DEVICE,
                         "/tuning/path 1 keeps %llu sites of four slots in local memory, %llu "
                         "bytes; %s has %llu",
                         (unsigned long long)s->sites, (unsigned long long)(16 * s->sites), d->name,
                         (unsigned long long)d->local_memory);
    l->local = path ? path == PATH_LOCAL : fits;
    l->group = power_of_two_below(s->half, 1, gpu ? (l->local ? most : 128) : 16);
    if (wish && wish < l->group)
        l->group = (uint32_t)wish;
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
    /* Tempering: as many lanes as make a good group; where there are few work-items, few sites
     * each. Each costs its share of adding up, some 3 sites' work. */
    l->fused = !s->real && s->temperatures > 1 && (l->local || s->quads <= most);
    while (l->fused && (l->local ? 2u << l->count_levels <= fmin(64, l->group)
                                 : s->quads << (l->count_levels + 1) <= (gpu ? 128 : 32)))
        l->count_levels++;
    if (l->local && (s->half > 42u << l->count_levels || room_of(s, l) > d->local_memory))
        l->fused = false;
    const double items = half * s->quads * lattices;
    l->count_each = gpu ? 2 * (uint32_t)fmin(4, fmax(2, floor(items * 0x1p-17))) : 10;
    if (getenv("ERGO_K"))
        l->count_each = (uint32_t)atoi(getenv("ERGO_K"));
    if (getenv("ERGO_LV"))
        l->count_levels = (uint32_t)atoi(getenv("ERGO_LV"));
    if (getenv("ERGO_NOFUSE"))
        l->fused = false;
    /* iterations of all loops of a work-item in one launch */
    const double loops = 2 * (half / l->group + 2) * (s->real ? 33 * 2.0 * s->d : 1);
    l->launch_sweeps = 1024;
    if (device->quirks.loop_limit)
        l->launch_sweeps = (uint64_t)fmax(1, (double)device->quirks.loop_limit / 2 / loops);
    return ERGO_OK;
}

enum ergo_status glass_launch_plan(struct ergo_context *ctx, const struct ergo_batch *batch,
                                   const struct ergo_device *device, const struct glass_shape *h,
                                   struct glass_launch *launch, struct ergo_plan *plan) {
    const struct ergo_device_summary *d = &device->summary;
    const struct glass_shape s = *h;
    const bool gpu = device->type != CL_DEVICE_TYPE_CPU;
    const double lattices = (double)batch->count * s.words, slots = 4.0 * s.quads;
    struct glass_launch l = {0};
    enum ergo_status status = plan_launch(ctx, &s, batch, device, &l);
    memset(plan, 0, sizeof *plan);
    if (status != ERGO_OK)
        return status;
    const double work = (double)s.sites * s.samples * s.slots * (double)batch->count;
    const double spins = (double)glass_lattice_bytes(&s) * lattices;
    const double couplings = 4 * (double)packed_length(&s) * lattices;
    const double records = lattices * slots * 32;
    const double energies = 8 * records * l.parts, counts = 8 * records * s.layers;
    l.records = (size_t)records;
    l.block_samples = (size_t)fmax(1, fmin(256, 0x1p26 / (GLASS_RECORD_BYTES * records)));
    plan->block_steps =
        fmax(1, floor(0.1e9 * rate_of(&s, gpu, d->compute_units) * s.all / (work * s.words)));
    if ((double)l.launch_sweeps > plan->block_steps)
        l.launch_sweeps = (uint64_t)plan->block_steps;
    plan->largest_buffer = (uint64_t)fmax(
        fmax(spins, couplings),
        fmax(fmax(energies, counts), GLASS_RECORD_BYTES * records * (double)l.block_samples));
    plan->device_bytes =
        (uint64_t)((l.local && l.fused ? 2 : 1) * spins + couplings + energies + counts +
                   2 * GLASS_RECORD_BYTES * records * (double)l.block_samples +
                   lattices * (276 * slots + 8.0 * s.slots + 32));
    plan->host_bytes = (uint64_t)(2 * GLASS_RECORD_BYTES * records * (double)l.block_samples +
                                  2 * spins + couplings);
    plan->block_samples = l.block_samples;
    plan->work_per_step = work;
    plan->launches_per_step = l.local ? 1.0 / s.swap_every : 2;
    snprintf(plan->path, sizeof plan->path, "%s", l.local ? "local" : "global");
    snprintf(plan->launch, sizeof plan->launch,
             "%.0f word-lattices of 32 samples, %u temperatures x %u copies, %s", lattices,
             s.temperatures, s.copies,
             l.local ? "a work-group for four slots" : "half a sweep per launch");
    if ((double)plan->largest_buffer > (double)d->largest_buffer ||
        (double)plan->device_bytes > (double)d->global_memory)
        return ERGO_FAIL(ctx, ERGO_E_DEVICE,
                         "%s (%s) cannot hold this batch: it needs %.3g MiB, the largest buffer "
                         "%.3g; the device has %.3g and allows %.3g MiB. Use a smaller lattice, "
                         "fewer samples, temperatures, replicas or scan points, or another device",
                         d->name, d->id, (double)plan->device_bytes / 1048576,
                         (double)plan->largest_buffer / 1048576, (double)d->global_memory / 1048576,
                         (double)d->largest_buffer / 1048576);
    *launch = l;
    return ERGO_OK;
}

static enum ergo_status plan(struct ergo_context *ctx, const struct ergo_batch *batch,
                             const struct ergo_device *device, struct ergo_plan *plan) {
    struct glass_launch launch;
    const struct glass_shape s = glass_shape_of(batch->points[0]);
    return glass_launch_plan(ctx, batch, device, &s, &launch, plan);
}

/* ---- create ---------------------------------------------------------------------------------- */

void glass_destroy(void *opaque) {
    struct glass_state *s = opaque;
    if (!s)
        return;
    if (s->device)
        clFinish(s->device->queue); /* reads into our memory may be under way */
    const cl_kernel kernels[] = {
        s->sweep,     s->start,    s->swap,   s->exchange, s->moving[0], s->moving[1], s->moving[2],
        s->moving[3], s->counting, s->ladder, s->energy,   s->overlap,   s->record};
    for (size_t i = 0; i < sizeof kernels / sizeof kernels[0]; i++)
        if (kernels[i])
            clReleaseKernel(kernels[i]);
    if (s->program)
        clReleaseProgram(s->program);
    if (s->measure_program)
        clReleaseProgram(s->measure_program);
    if (s->temper_program)
        clReleaseProgram(s->temper_program);
    if (s->local_program)
        clReleaseProgram(s->local_program);
    cl_mem *const buffers[] = {
        &s->spins,           &s->spare, &s->couplings, &s->tables, &s->keys,
        &s->slopes,          &s->waves, &s->energies,  &s->counts, &s->unsatisfied,
        &s->masks,           &s->came,  &s->accepted,  &s->trips,  &s->slots[0].records,
        &s->slots[1].records};
    for (size_t i = 0; i < sizeof buffers / sizeof buffers[0]; i++)
        ergo_buffer_release(buffers[i]);
    for (int i = 0; i < 2; i++) {
        if (s->slots[i].ready)
            clReleaseEvent(s->slots[i].ready);
        free(s->slots[i].host);
    }
    free(s->hashes);
    free(s);
}

static enum ergo_status build(struct ergo_context *ctx, struct glass_state *s) {
    const struct glass_shape *h = &s->shape;
    struct ergo_text o = {0};
    ergo_text_append(&o,
                     "-DGLASS_LX=%uu -DGLASS_LY=%uu -DGLASS_LZ=%uu -DGLASS_D=%u -DGLASS_HEAT=%d "
                     "-DGLASS_REAL=%d -DGLASS_T=%u -DGLASS_COPIES=%uu -DGLASS_LEVELS=%u "
                     "-DGLASS_COUNT_LEVELS=%u",
                     h->lx, h->ly, h->lz, h->d, h->heat, h->real, h->temperatures, h->copies,
                     s->launch.levels, s->launch.count_levels);
    if (s->launch.local)
        ergo_text_append(&o, " -DGLASS_LOCAL");
    if (getenv("ERGO_X"))
        ergo_text_append(&o, "%s", getenv("ERGO_X"));
    enum ergo_status status =
        o.failed ? ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for build options")
                 : ergo_program_build(ctx, s->device, "spin_lattice/glass.cl", o.data, &s->program);
    if (status == ERGO_OK)
        status = ergo_program_build(ctx, s->device, "spin_lattice/glass_measure.cl", o.data,
                                    &s->measure_program);
    const bool ladder = h->temperatures > 1, local = s->launch.local;
    const bool fused = s->launch.fused;
    if (status == ERGO_OK && ladder)
        status = ergo_program_build(ctx, s->device, "spin_lattice/glass_temper.cl", o.data,
                                    &s->temper_program);
    if (status == ERGO_OK && fused && local)
        status = ergo_program_build(ctx, s->device, "spin_lattice/glass_local.cl", o.data,
                                    &s->local_program);
    const struct {
        cl_program program;
        cl_kernel *kernel;
        const char *name;
        bool wanted;
    } kernels[] = {{s->program, &s->sweep, s->launch.local ? "glass_local" : "glass_sweep", true},
                   {s->program, &s->start, "glass_start", true},
                   {s->temper_program, &s->swap, "glass_swap", ladder},
                   {s->temper_program, &s->exchange, "glass_exchange", ladder},
                   {s->temper_program, &s->moving[0], "glass_moving_00", fused && !local},
                   {s->temper_program, &s->moving[1], "glass_moving_01", fused && !local},
                   {s->temper_program, &s->moving[2], "glass_moving_10", fused && !local},
                   {s->temper_program, &s->moving[3], "glass_moving_11", fused && !local},
                   {s->temper_program, &s->counting, "glass_sweep_counting", fused && !local},
                   {s->local_program, &s->ladder, "glass_local_ladder", fused && local},
                   {s->measure_program, &s->energy, "glass_energy", true},
                   {s->measure_program, &s->overlap, "glass_overlap", true},
                   {s->measure_program, &s->record, "glass_record", true}};
    for (size_t i = 0; i < sizeof kernels / sizeof kernels[0] && status == ERGO_OK; i++)
        if (kernels[i].wanted)
            status = ergo_kernel_create(ctx, s->device, kernels[i].program, kernels[i].name,
                                        kernels[i].kernel);
    ergo_text_free(&o);
    return status;
}

/* What depends on the members: couplings, acceptance, keys, slopes. In whole buffers:
 * Oclgrind 21.10 takes what was written at an offset for uninitialised. */
static enum ergo_status fill(struct ergo_context *ctx, struct glass_state *s) {
    const struct glass_shape *h = &s->shape;
    const size_t members = s->batch->count, length = packed_length(h);
    const size_t table = (size_t)h->quads * 2 * GLASS_CLASSES * 4;
    const size_t plain = glass_couplings_length(h);
    uint32_t *couplings = malloc(4 * plain * h->all);
    uint32_t *packed = malloc(4 * length * h->words * members);
    uint32_t *tables = malloc(4 * table * members), *keys = malloc(8 * members);
    float *slopes = malloc(4 * members * h->temperatures);
    enum ergo_status status = couplings && packed && tables && keys && slopes
                                  ? ERGO_OK
                                  : ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for couplings");
    for (size_t m = 0; m < members && status == ERGO_OK; m++) {
        const struct ergo_point *point = s->batch->points[m];
        for (uint32_t w = 0; w < h->all && status == ERGO_OK; w++) {
            status = glass_couplings(ctx, point, h, w, couplings + w * plain);
            if (status == ERGO_OK && w - h->first < h->words)
                glass_pack_couplings(h, couplings + w * plain,
                                     packed + (m * h->words + w - h->first) * length);
        }
        s->hashes[m] = ergo_hash64(couplings, 4 * plain * h->all);
        glass_tables(point, tables + m * table, slopes + m * h->temperatures);
        keys[2 * m] = (uint32_t)point->stream;
        keys[2 * m + 1] = (uint32_t)(point->stream >> 32);
    }
    if (status == ERGO_OK)
        status = ergo_buffer_write(ctx, s->device, s->couplings, 0, 4 * length * h->words * members,
                                   packed);
    if (status == ERGO_OK)
        status = ergo_buffer_write(ctx, s->device, s->tables, 0, 4 * table * members, tables);
    if (status == ERGO_OK)
        status = ergo_buffer_write(ctx, s->device, s->keys, 0, 8 * members, keys);
    if (status == ERGO_OK)
        status =
            ergo_buffer_write(ctx, s->device, s->slopes, 0, 4 * members * h->temperatures, slopes);
    free(couplings);
    free(packed);
    free(tables);
    free(keys);
    free(slopes);
    return status;
}

static enum ergo_status allocate(struct ergo_context *ctx, struct glass_state *s) {
    const struct glass_shape *h = &s->shape;
    const size_t lattices = lattices_of(s), records = s->launch.records;
    const size_t samples = GLASS_RECORD_BYTES * records * s->launch.block_samples;
    int32_t *waves = malloc(8 * (size_t)h->layers);
    void *zero = calloc(records, 8); /* exchanges leave them so */
    for (uint32_t i = 0; i < h->layers && waves; i++) {
        const double phase = 2 * 3.14159265358979323846 * i / h->layers;
        waves[2 * i] = (int32_t)floor(WAVE_UNIT * cos(phase) + 0.5);
        waves[2 * i + 1] = (int32_t)floor(WAVE_UNIT * sin(phase) + 0.5);
    }
    s->hashes = calloc(s->batch->count, sizeof *s->hashes);
    s->slots[0].host = malloc(samples);
    s->slots[1].host = malloc(samples);
    const struct {
        cl_mem *mem;
        const char *name;
        size_t bytes;
        const void *data;
    } buffers[] = {
        {&s->spins, "spins", glass_lattice_bytes(h) * lattices, NULL},
        {&s->spare, "spins, second copy",
         s->launch.local && s->launch.fused ? glass_lattice_bytes(h) * lattices : 16, NULL},
        {&s->couplings, "couplings", 4 * packed_length(h) * lattices, NULL},
        {&s->tables, "acceptance", s->batch->count * h->quads * 2 * GLASS_CLASSES * 16, NULL},
        {&s->keys, "keys", 8 * s->batch->count, NULL},
        {&s->slopes, "slopes", 4 * s->batch->count * h->temperatures, NULL},
        {&s->waves, "waves", 8 * (size_t)h->layers, waves},
        {&s->energies, "energies", 8 * records * s->launch.parts, NULL},
        {&s->counts, "counts", 8 * records * h->layers, NULL},
        {&s->unsatisfied, "unsatisfied bonds", 8 * records, zero},
        {&s->masks, "exchanges", 32 * lattices * h->quads, zero},
        {&s->came, "walkers", 16 * lattices * h->quads, NULL},
        {&s->accepted, "accepted exchanges", 8 * lattices * h->slots, NULL},
        {&s->trips, "round trips", 8 * lattices * h->copies, NULL},
        {&s->slots[0].records, "samples", samples, NULL},
        {&s->slots[1].records, "samples", samples, NULL}};
    enum ergo_status status =
        waves && zero && s->hashes && s->slots[0].host && s->slots[1].host
            ? ERGO_OK
            : ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for %zu word-lattices", lattices);
    for (size_t i = 0; i < sizeof buffers / sizeof buffers[0] && status == ERGO_OK; i++)
        status = ergo_buffer_create(ctx, s->device, buffers[i].name, buffers[i].bytes,
                                    buffers[i].data, buffers[i].mem);
    free(waves);
    free(zero);
    return status == ERGO_OK ? fill(ctx, s) : status;
}

enum ergo_status glass_create(struct ergo_context *ctx, const struct ergo_batch *batch,
                              struct ergo_device *device, const struct glass_shape *shape,
                              const struct glass_launch *launch, void **state) {
    struct glass_state *s = calloc(1, sizeof *s);
    if (!s)
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for the spin-lattice state");
    s->ops = &glass_ops;
    s->batch = batch;
    s->device = device;
    s->shape = *shape;
    s->launch = *launch;
    enum ergo_status status = build(ctx, s);
    if (status == ERGO_OK) {
        size_t largest = 0;
        status = ergo_kernel_largest_group(ctx, device, s->sweep, "sweep", &largest);
        if (status == ERGO_OK && s->launch.group > largest)
            s->launch.group = power_of_two_below(largest, 1, s->launch.group);
        if (status == ERGO_OK && s->ladder)
            status = ergo_kernel_largest_group(ctx, device, s->ladder, "ladder", &largest);
        if (s->ladder &&
            (s->launch.group > largest || s->launch.group >> s->launch.count_levels < 1))
            s->launch.fused = false;
    }
    if (status == ERGO_OK)
        status = allocate(ctx, s);
    if (status != ERGO_OK) {
        glass_destroy(s);
        s = NULL;
    }
    *state = s;
    return status;
}

static enum ergo_status create(struct ergo_context *ctx, const struct ergo_batch *batch,
                               struct ergo_device *device, void **state) {
    const struct glass_shape s = glass_shape_of(batch->points[0]);
    struct glass_launch launch;
    struct ergo_plan unused;
    *state = NULL;
    const enum ergo_status status = glass_launch_plan(ctx, batch, device, &s, &launch, &unused);
    return status == ERGO_OK ? glass_create(ctx, batch, device, &s, &launch, state) : status;
}

/* ---- launches -------------------------------------------------------------------------------- */

/* Half a sweep of all word-lattices. */
static enum ergo_status launch_half(struct ergo_context *ctx, struct glass_state *s, uint64_t step,
                                    cl_uint colour) {
    const struct glass_shape *h = &s->shape;
    const size_t group = s->launch.group;
    const size_t local[2] = {group, 1};
    const size_t global[2] = {ergo_round_up((size_t)h->half * h->quads, group), lattices_of(s)};
    const cl_uint2 words = words_of(h);
    const cl_uint last = last_of(h);
    const cl_ulong sweep = step;
    const struct ergo_arg args[] = {ERGO_ARG(s->spins), ERGO_ARG(s->couplings), ERGO_ARG(s->tables),
                                    ERGO_ARG(s->keys),  ERGO_ARG(sweep),        ERGO_ARG(colour),
                                    ERGO_ARG(words),    ERGO_ARG(last)};
    return ergo_kernel_launch(ctx, s->device, s->sweep, "glass_sweep", args, 8, 2, global, local,
                              NULL);
}

/* The same while configurations change places: groups have all quads of a site. */
static enum ergo_status launch_moving(struct ergo_context *ctx, struct glass_state *s,
                                      uint64_t step, uint32_t colour, uint32_t parity) {
    const struct glass_shape *h = &s->shape;
    const size_t quads = h->quads, wish = s->launch.group;
    const size_t group = quads > wish ? quads : wish / quads * quads;
    const size_t local[2] = {group, 1};
    const size_t global[2] = {(h->half * quads + group - 1) / group * group, lattices_of(s)};
    const cl_uint2 words = words_of(h);
    const cl_uint last = last_of(h);
    const cl_ulong sweep = step;
    const struct ergo_arg args[] = {ERGO_ARG(s->spins), ERGO_ARG(s->couplings), ERGO_ARG(s->tables),
                                    ERGO_ARG(s->keys),  ERGO_ARG(sweep),        ERGO_ARG(words),
                                    ERGO_ARG(last),     ERGO_ARG(s->masks)};
    return ergo_kernel_launch(ctx, s->device, s->moving[2 * colour + parity], "glass_moving", args,
                              8, 2, global, local, NULL);
}

/* Half a sweep of colour 1, and the energies for an exchange. */
static enum ergo_status launch_counting(struct ergo_context *ctx, struct glass_state *s,
                                        uint64_t step) {
    const struct glass_shape *h = &s->shape;
    const cl_uint2 words = words_of(h);
    const cl_uint last = last_of(h), each = s->launch.count_each;
    const cl_ulong sweep = step;
    const size_t lanes = (size_t)1 << s->launch.count_levels, group = lanes * h->quads;
    const size_t sites = lanes * each, groups = (h->half + sites - 1) / sites;
    const size_t global[2] = {groups * group, lattices_of(s)}, local[2] = {group, 1};
    const struct ergo_arg args[] = {
        ERGO_ARG(s->spins),  ERGO_ARG(s->couplings),
        ERGO_ARG(s->tables), ERGO_ARG(s->keys),
        ERGO_ARG(sweep),     ERGO_ARG(words),
        ERGO_ARG(last),      ERGO_ARG(s->unsatisfied),
        ERGO_ARG(each),      ERGO_ARG_LOCAL(16 * group * (6 + s->launch.count_levels))};
    return ergo_kernel_launch(ctx, s->device, s->counting, "glass_sweep_counting", args, 10, 2,
                              global, local, NULL);
}

enum ergo_status glass_launch_sweeps(struct ergo_context *ctx, struct glass_state *s, uint64_t step,
                                     uint64_t sweeps) {
    const struct glass_shape *h = &s->shape;
    const size_t group = s->launch.group;
    const size_t global[2] = {h->quads * group, lattices_of(s)}, local[2] = {group, 1};
    const cl_uint2 words = words_of(h);
    const cl_uint last = last_of(h);
    enum ergo_status status = ERGO_OK;
    for (uint64_t done = 0; done < sweeps && status == ERGO_OK;) {
        const cl_ulong sweep = step + done;
        const uint64_t rest = sweeps - done;
        const cl_uint now =
            (cl_uint)(rest < s->launch.launch_sweeps ? rest : s->launch.launch_sweeps);
        if (!s->launch.local) {
            for (cl_uint colour = 0; colour < 2 && status == ERGO_OK; colour++)
                status = launch_half(ctx, s, sweep, colour);
            done++;
            continue;
        }
        const struct ergo_arg args[] = {
            ERGO_ARG(s->spins), ERGO_ARG(s->couplings), ERGO_ARG(s->tables),
            ERGO_ARG(s->keys),  ERGO_ARG(sweep),        ERGO_ARG(now),
            ERGO_ARG(words),    ERGO_ARG(last),         ERGO_ARG_LOCAL(16 * h->sites)};
        status = ergo_kernel_launch(ctx, s->device, s->sweep, "glass_local", args, 9, 2, global,
                                    local, NULL);
        done += now;
    }
    return status;
}

static enum ergo_status launch_energy(struct ergo_context *ctx, struct glass_state *s) {
    const size_t group = (size_t)1 << s->launch.levels;
    const cl_uint parts = s->launch.parts;
    const size_t global[2] = {group * s->shape.quads * parts, lattices_of(s)};
    const size_t local[2] = {group, 1};
    const struct ergo_arg args[] = {ERGO_ARG(s->spins), ERGO_ARG(s->couplings),
                                    ERGO_ARG(s->energies), ERGO_ARG(parts),
                                    ERGO_ARG_LOCAL(16 * group * (8 + s->launch.levels))};
    return ergo_kernel_launch(ctx, s->device, s->energy, "glass_energy", args, 5, 2, global, local,
                              NULL);
}

static size_t pairs_of(const struct glass_shape *h, uint32_t parity) {
    return (parity ? (h->temperatures - 1) / 2 : h->temperatures / 2) * h->copies;
}

/* Who exchanges. counted: by a half sweep that counted. */
static enum ergo_status launch_decision(struct ergo_context *ctx, struct glass_state *s,
                                        uint64_t step, uint32_t parity, bool counted) {
    const struct glass_shape *h = &s->shape;
    const cl_uint odd = parity, parts = counted ? 0 : s->launch.parts;
    const cl_uint of = s->launch.local ? parity : 0;
    const cl_uint2 words = words_of(h);
    const cl_uint last = last_of(h);
    const cl_ulong at = step;
    const struct ergo_arg args[] = {ERGO_ARG(s->energies), ERGO_ARG(s->unsatisfied),
                                    ERGO_ARG(s->slopes),   ERGO_ARG(s->keys),
                                    ERGO_ARG(s->masks),    ERGO_ARG(s->came),
                                    ERGO_ARG(s->accepted), ERGO_ARG(s->trips),
                                    ERGO_ARG(at),          ERGO_ARG(odd),
                                    ERGO_ARG(parts),       ERGO_ARG(of),
                                    ERGO_ARG(words),       ERGO_ARG(last)};
    const size_t global[2] = {32 * pairs_of(h, parity), lattices_of(s)}, local[2] = {32, 1};
    return ergo_kernel_launch(ctx, s->device, s->swap, "glass_swap", args, 14, 2, global, local,
                              NULL);
}

static enum ergo_status launch_exchange(struct ergo_context *ctx, struct glass_state *s,
                                        uint32_t parity) {
    const struct glass_shape *h = &s->shape;
    const size_t group = s->device->type == CL_DEVICE_TYPE_CPU ? 16 : 128;
    const size_t items = pairs_of(h, parity) / h->copies * (size_t)h->sites;
    const size_t global[2] = {ergo_round_up(items, group), lattices_of(s)}, local[2] = {group, 1};
    const cl_uint odd = parity;
    const struct ergo_arg args[] = {ERGO_ARG(s->spins), ERGO_ARG(s->masks), ERGO_ARG(odd)};
    return ergo_kernel_launch(ctx, s->device, s->exchange, "glass_exchange", args, 3, 2, global,
                              local, NULL);
}

enum ergo_status glass_launch_swap(struct ergo_context *ctx, struct glass_state *s, uint64_t step,
                                   uint32_t parity) {
    if (pairs_of(&s->shape, parity) == 0)
        return ERGO_OK;
    enum ergo_status status = launch_energy(ctx, s);
    if (status == ERGO_OK)
        status = launch_decision(ctx, s, step, parity, false);
    return status == ERGO_OK ? launch_exchange(ctx, s, parity) : status;
}

/* The same in local memory. */
static enum ergo_status advance_ladder(struct ergo_context *ctx, struct glass_state *s,
                                       uint64_t until, bool due, uint32_t *moving) {
    const struct glass_shape *h = &s->shape;
    const size_t group = s->launch.group;
    const size_t global[2] = {h->quads * group, lattices_of(s)}, local[2] = {group, 1};
    const cl_uint2 words = words_of(h);
    const cl_uint last = last_of(h);
    const cl_uint parity = (cl_uint)(until / h->swap_every & 1);
    enum ergo_status status = ERGO_OK;
    due = due && pairs_of(h, parity);
    while (s->step < until && status == ERGO_OK) {
        const uint64_t rest = until - s->step;
        const cl_uint now =
            (cl_uint)(rest < s->launch.launch_sweeps ? rest : s->launch.launch_sweeps);
        const cl_uint before = *moving, next = due && now == rest ? parity : 2;
        const cl_ulong sweep = s->step;
        const struct ergo_arg args[] = {ERGO_ARG(s->spins),
                                        ERGO_ARG(s->spare),
                                        ERGO_ARG(s->couplings),
                                        ERGO_ARG(s->tables),
                                        ERGO_ARG(s->keys),
                                        ERGO_ARG(sweep),
                                        ERGO_ARG(now),
                                        ERGO_ARG(words),
                                        ERGO_ARG(last),
                                        ERGO_ARG(s->unsatisfied),
                                        ERGO_ARG(s->slopes),
                                        ERGO_ARG(s->came),
                                        ERGO_ARG(s->accepted),
                                        ERGO_ARG(s->trips),
                                        ERGO_ARG(before),
                                        ERGO_ARG(next),
                                        ERGO_ARG_LOCAL(room_of(h, &s->launch) - 1024)};
        status = ergo_kernel_launch(ctx, s->device, s->ladder, "glass_local_ladder", args, 17, 2,
                                    global, local, NULL);
        const cl_mem now_there = s->spare;
        s->spare = s->spins;
        s->spins = now_there;
        s->step += now;
        *moving = next;
    }
    return status;
}

/* Sweeps from s->step to `until`, and the exchange there if `due`. *moving: the parity of an
 * exchange that is decided but not done, or 2; before and after. */
static enum ergo_status advance_fused(struct ergo_context *ctx, struct glass_state *s,
                                      uint64_t until, bool due, uint32_t *moving) {
    const uint32_t parity = (uint32_t)(until / s->shape.swap_every & 1);
    enum ergo_status status = ERGO_OK;
    due = due && pairs_of(&s->shape, parity);
    if (*moving < 2 && until - s->step == 1) { /* a sweep does not count and move */
        status = launch_exchange(ctx, s, *moving);
        *moving = 2;
    }
    if (*moving < 2 && status == ERGO_OK) {
        for (cl_uint colour = 0; colour < 2 && status == ERGO_OK; colour++)
            status = launch_moving(ctx, s, s->step, colour, *moving);
        s->step++;
        *moving = 2;
    }
    if (status == ERGO_OK)
        status = glass_launch_sweeps(ctx, s, s->step, until - s->step - due);
    if (due && status == ERGO_OK)
        status = launch_half(ctx, s, until - 1, 0);
    if (due && status == ERGO_OK)
        status = launch_counting(ctx, s, until - 1);
    if (due && status == ERGO_OK)
        status = launch_decision(ctx, s, until, parity, true);
    if (due)
        *moving = parity;
    s->step = until;
    return status;
}

enum ergo_status glass_advance_sweeps(struct ergo_context *ctx, struct glass_state *s,
                                      uint64_t sweeps) {
    const uint64_t end = s->step + sweeps, every = s->shape.swap_every;
    const bool ladder = s->shape.temperatures > 1;
    uint32_t moving = 2;
    enum ergo_status status = ERGO_OK;
    while (s->step < end && status == ERGO_OK) {
        uint64_t until = end;
        if (ladder && s->step / every * every + every < end)
            until = s->step / every * every + every;
        const bool due = ladder && until % every == 0;
        if (s->launch.fused) {
            status = s->launch.local ? advance_ladder(ctx, s, until, due, &moving)
                                     : advance_fused(ctx, s, until, due, &moving);
            continue;
        }
        status = glass_launch_sweeps(ctx, s, s->step, until - s->step);
        s->step = until;
        if (status == ERGO_OK && due)
            status = glass_launch_swap(ctx, s, until, (uint32_t)(until / every & 1));
    }
    if (moving < 2 && s->launch.local && status == ERGO_OK) /* counted, not decided */
        status = launch_decision(ctx, s, end, moving, true);
    return moving < 2 && status == ERGO_OK ? launch_exchange(ctx, s, moving) : status;
}

static enum ergo_status launch_record(struct ergo_context *ctx, struct glass_state *s,
                                      cl_mem records, size_t sample) {
    const size_t group = (size_t)1 << s->launch.levels, lattices = lattices_of(s);
    const size_t global[2] = {group * s->shape.quads * s->shape.layers, lattices};
    const size_t local[2] = {group, 1};
    const struct ergo_arg args[] = {ERGO_ARG(s->spins), ERGO_ARG(s->counts),
                                    ERGO_ARG_LOCAL(16 * group * (8 + s->launch.levels))};
    enum ergo_status status = launch_energy(ctx, s);
    if (status == ERGO_OK)
        status = ergo_kernel_launch(ctx, s->device, s->overlap, "glass_overlap", args, 3, 2, global,
                                    local, NULL);
    const cl_uint parts = s->launch.parts, at = (cl_uint)sample;
    const size_t all[2] = {(size_t)128 * s->shape.quads, lattices}, some[2] = {16, 1};
    const struct ergo_arg rest[] = {ERGO_ARG(s->energies), ERGO_ARG(s->counts), ERGO_ARG(s->waves),
                                    ERGO_ARG(records),     ERGO_ARG(parts),     ERGO_ARG(at)};
    if (status == ERGO_OK)
        status = ergo_kernel_launch(ctx, s->device, s->record, "glass_record", rest, 6, 2, all,
                                    some, NULL);
    return status;
}

/* ---- ops ------------------------------------------------------------------------------------- */

/* Nobody has been anywhere, but who is at the hot end has been there. */
static enum ergo_status clear_walkers(struct ergo_context *ctx, struct glass_state *s) {
    const struct glass_shape *h = &s->shape;
    const size_t lattices = lattices_of(s), stride = (size_t)4 * h->quads;
    const size_t bytes = 8 * lattices * (stride + h->slots);
    uint8_t *zero = calloc(1, bytes);
    if (!zero)
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for walkers");
    enum ergo_status status =
        ergo_buffer_write(ctx, s->device, s->accepted, 0, 8 * lattices * h->slots, zero);
    if (status == ERGO_OK)
        status = ergo_buffer_write(ctx, s->device, s->trips, 0, 8 * lattices * h->copies, zero);
    uint32_t *came = (uint32_t *)zero;
    for (size_t l = 0; l < lattices && h->temperatures > 1; l++)
        for (uint32_t copy = 0; copy < h->copies; copy++)
            came[l * stride + h->slots - h->copies + copy] =
                glass_lanes(h, h->first + (uint32_t)(l % h->words));
    if (status == ERGO_OK)
        status = ergo_buffer_write(ctx, s->device, s->came, 0, 4 * lattices * stride, came);
    free(zero);
    return status;
}

enum ergo_status glass_init(struct ergo_context *ctx, void *opaque) {
    struct glass_state *s = opaque;
    const char *start = ergo_point_text(s->batch->points[0], "/system/start");
    const cl_uint mode = strcmp(start, "random") == 0 ? 2 : strcmp(start, "up") == 0 ? 1 : 0;
    const cl_uint2 words = words_of(&s->shape);
    const cl_uint last = last_of(&s->shape);
    const size_t group = s->device->type == CL_DEVICE_TYPE_CPU ? 16 : 128;
    const size_t global[2] = {ergo_round_up((size_t)s->shape.sites * s->shape.quads, group),
                              lattices_of(s)};
    const size_t local[2] = {group, 1};
    const struct ergo_arg args[] = {ERGO_ARG(s->spins), ERGO_ARG(s->keys), ERGO_ARG(mode),
                                    ERGO_ARG(words), ERGO_ARG(last)};
    s->step = 0;
    enum ergo_status status = clear_walkers(ctx, s);
    if (status == ERGO_OK)
        status = ergo_kernel_launch(ctx, s->device, s->start, "glass_start", args, 5, 2, global,
                                    local, NULL);
    return status == ERGO_OK ? ergo_device_finish(ctx, s->device) : status;
}

enum ergo_status glass_advance(struct ergo_context *ctx, void *opaque, unsigned which, size_t count,
                               uint64_t every, uint64_t first_sample) {
    struct glass_state *s = opaque;
    struct glass_slot *slot = &s->slots[which];
    enum ergo_status status = ERGO_OK;
    (void)first_sample; /* each sample carries the curve */
    slot->samples = count;
    if (count == 0)
        status = glass_advance_sweeps(ctx, s, every);
    for (size_t i = 0; i < count && status == ERGO_OK; i++) {
        status = glass_advance_sweeps(ctx, s, every);
        if (status == ERGO_OK)
            status = launch_record(ctx, s, slot->records, i);
    }
    if (status == ERGO_OK && count)
        status = ergo_buffer_read_later(ctx, s->device, slot->records, 0,
                                        GLASS_RECORD_BYTES * s->launch.records * count, slot->host,
                                        &slot->ready);
    if (status == ERGO_OK)
        clFlush(s->device->queue);
    return status;
}

enum ergo_status glass_collect(struct ergo_context *ctx, void *opaque, unsigned which,
                               struct ergo_samples *samples) {
    struct glass_state *s = opaque;
    struct glass_slot *slot = &s->slots[which];
    const size_t curve = glass_curve_size(s->batch->points[0], CURVE_GROUPS);
    samples->count = samples->n_curve_samples = slot->samples;
    if (slot->samples == 0)
        return ERGO_OK;
    /* an idle one has none under way */
    enum ergo_status status =
        slot->ready ? ergo_event_wait(ctx, s->device, &slot->ready, NULL) : ERGO_OK;
    for (size_t i = 0; i < slot->samples && status == ERGO_OK; i++)
        status = glass_collect_sample(ctx, s, slot->host + i * s->launch.records,
                                      samples->columns + i * s->batch->count * COLUMNS,
                                      samples->curves[CURVE_GROUPS] + i * s->batch->count * curve);
    return status; /* the other curves come at the end */
}

enum ergo_status glass_measure_now(struct ergo_context *ctx, struct glass_state *s,
                                   struct glass_record *records) {
    const size_t bytes = GLASS_RECORD_BYTES * s->launch.records;
    const size_t scrambled[3] = {8 * s->launch.records * s->launch.parts,
                                 8 * s->launch.records * s->shape.layers, bytes};
    const cl_mem buffers[3] = {s->energies, s->counts, s->slots[0].records};
    enum ergo_status status = ERGO_OK;
    for (int k = 0; k < 3 && status == ERGO_OK; k++) {
        void *bits = malloc(scrambled[k]); /* what is there may be the right answer */
        if (!bits)
            return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory to measure");
        memset(bits, 0x55, scrambled[k]);
        status = ergo_buffer_write(ctx, s->device, buffers[k], 0, scrambled[k], bits);
        free(bits);
    }
    if (status == ERGO_OK)
        status = launch_record(ctx, s, s->slots[0].records, 0);
    if (status == ERGO_OK)
        status = ergo_buffer_read(ctx, s->device, s->slots[0].records, 0, bytes, records);
    return status;
}

uint64_t glass_curve_every(const struct ergo_point *point) {
    (void)point;
    return 1;
}

const struct ergo_sampler_ops glass_ops = {
    .check = glass_check,
    .plan = plan,
    .create = create,
    .init = glass_init,
    .advance = glass_advance,
    .collect = glass_collect,
    .curve_size = glass_curve_size,
    .curve_x = glass_curve_x,
    .curve_every = glass_curve_every,
    .end_curves = glass_end_curves,
    .save = glass_save,
    .load = glass_load,
    .audit = glass_audit,
    .picture = glass_picture,
    .exact = glass_exact,
    .destroy = glass_destroy,
};
