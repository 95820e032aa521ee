/* Facilitated dynamics on a device: plan, build, start, advance, collect. */
#include "samplers/spin_lattice/facilitated.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/program.h"
#include "samplers/spin_lattice/models.h"

static enum ergo_status plan(struct ergo_context *ctx, const struct ergo_batch *batch,
                             const struct ergo_device *device, struct ergo_plan *plan) {
    struct fac_launch launch;
    return fac_launch_plan(ctx, batch, device, &launch, plan);
}

/* ---- create ---------------------------------------------------------------------------------- */

static void destroy(void *opaque) {
    struct fac_state *s = opaque;
    if (!s)
        return;
    if (s->device)
        (void)ergo_queue_finish(s->device,
                                s->device->queue); /* reads into our memory may be under way */
    fac_launch_destroy(s);
    cl_mem *const buffers[] = {&s->spins,          &s->first,  &s->flipped,
                               &s->member_buffer,  &s->record, &s->slots[0].counts,
                               &s->slots[1].counts};
    for (size_t i = 0; i < sizeof buffers / sizeof buffers[0]; i++)
        ergo_buffer_release(buffers[i]);
    for (int i = 0; i < 2; i++) {
        if (s->slots[i].ready)
            clReleaseEvent(s->slots[i].ready);
        free(s->slots[i].host);
    }
    free(s->members);
    free(s->times);
    free(s->recorded);
    free(s->loaded);
    free(s);
}

static enum ergo_status allocate(struct ergo_context *ctx, struct fac_state *s) {
    const size_t lattices = fac_lattices(s), bytes = 4 * s->shape.sites * lattices;
    const size_t counts = 4 * (size_t)s->launch.counts_length;
    const struct {
        cl_mem *mem;
        const char *name;
        size_t bytes;
    } buffers[] = {{&s->spins, "spins", bytes},
                   {&s->first, "spins at t = 0", bytes},
                   {&s->flipped, "flipped since t = 0", bytes},
                   {&s->record, "counts", counts},
                   {&s->slots[0].counts, "samples", counts * s->launch.block_samples},
                   {&s->slots[1].counts, "samples", counts * s->launch.block_samples}};
    enum ergo_status status =
        ergo_constant_create(ctx, s->device, &s->constants, "members",
                             s->batch->count * sizeof *s->members, s->members, &s->member_buffer);
    for (size_t i = 0; i < sizeof buffers / sizeof buffers[0] && status == ERGO_OK; i++)
        status = ergo_buffer_create(ctx, s->device, buffers[i].name, buffers[i].bytes, NULL,
                                    buffers[i].mem);
    s->recorded = calloc(s->n_times, counts);
    s->loaded = calloc(s->n_times * lattices, FAC_COUNTS * sizeof *s->loaded);
    s->slots[0].host = malloc(counts * s->launch.block_samples);
    s->slots[1].host = malloc(counts * s->launch.block_samples);
    if (status == ERGO_OK && (!s->recorded || !s->loaded || !s->slots[0].host || !s->slots[1].host))
        status = ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for the counts of %zu word-lattices",
                           lattices);
    return status;
}

static enum ergo_status create(struct ergo_context *ctx, const struct ergo_batch *batch,
                               struct ergo_device *device, void **state) {
    const struct ergo_point *first = batch->points[0];
    const uint64_t sweeps = fac_length(first);
    struct ergo_plan unused;
    struct fac_state *s = calloc(1, sizeof *s);
    if (!s)
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for the spin-lattice state");
    s->ops = &facilitated_ops;
    s->batch = batch;
    s->device = device;
    s->shape = fac_shape_of(first);
    s->origin = fac_origin(first);
    s->n_times = fac_times(sweeps, NULL);
    s->times = malloc(s->n_times * sizeof *s->times);
    s->members = calloc(batch->count, sizeof *s->members);
    enum ergo_status status = fac_launch_plan(ctx, batch, device, &s->launch, &unused);
    if (status == ERGO_OK && (!s->times || !s->members))
        status = ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for %zu batch members", batch->count);
    if (status == ERGO_OK) {
        fac_times(sweeps, s->times);
        for (size_t i = 0; i < batch->count; i++) {
            fac_member_fill(batch->points[i], &s->members[i]);
            /* shape is a batch's, but whether a coupling is zero may differ within it */
            s->shape.coupled = s->shape.coupled || fac_physics_of(batch->points[i]).j != 0;
        }
        status = fac_launch_create(ctx, s);
    }
    if (status == ERGO_OK)
        status = allocate(ctx, s);
    if (status != ERGO_OK) {
        destroy(s);
        s = NULL;
    }
    *state = s;
    return status;
}

static enum ergo_status launch_measure(struct ergo_context *ctx, struct fac_state *s, cl_mem counts,
                                       size_t sample) {
    const size_t group = s->launch.group;
    const cl_uint at = (cl_uint)sample, words = s->shape.words, parts = s->launch.parts;
    const size_t global[2] = {(size_t)words * parts * group, s->batch->count};
    const size_t local[2] = {group, 1};
    const struct ergo_arg args[] = {ERGO_ARG(s->spins),   ERGO_ARG(s->first),
                                    ERGO_ARG(s->flipped), ERGO_ARG(counts),
                                    ERGO_ARG(at),         ERGO_ARG(words),
                                    ERGO_ARG(parts),      ERGO_ARG_LOCAL(FAC_COUNTS * 4 * group)};
    return ergo_kernel_launch(ctx, s->device, s->measure, "facilitated_measure", args, 8, 2, global,
                              local, NULL);
}

enum ergo_status fac_event(struct ergo_context *ctx, struct fac_state *s) {
    enum ergo_status status = ERGO_OK;
    if (s->step < s->origin)
        return ERGO_OK;
    if (s->step == s->origin) {
        const cl_uint words = s->shape.words;
        const size_t group = s->launch.group;
        const size_t global[2] = {ergo_round_up(s->shape.sites, group), s->batch->count};
        const size_t local[2] = {group, 1};
        const struct ergo_arg args[] = {ERGO_ARG(s->spins), ERGO_ARG(s->first),
                                        ERGO_ARG(s->flipped), ERGO_ARG(words)};
        status = ergo_kernel_launch(ctx, s->device, s->reference, "facilitated_reference", args, 4,
                                    2, global, local, NULL);
    }
    for (size_t k = 0; k < s->n_times && status == ERGO_OK; k++) {
        if (s->origin + (uint64_t)s->times[k] != s->step)
            continue;
        const size_t length = s->launch.counts_length, lattices = fac_lattices(s);
        memset(s->loaded + k * lattices * FAC_COUNTS, 0, lattices * FAC_COUNTS * sizeof *s->loaded);
        status = launch_measure(ctx, s, s->record, 0);
        if (status == ERGO_OK)
            status = ergo_buffer_read_later(ctx, s->device, s->record, 0, 4 * length,
                                            s->recorded + k * length, NULL);
    }
    return status;
}

static enum ergo_status advance_sweeps(struct ergo_context *ctx, struct fac_state *s,
                                       uint64_t sweeps) {
    enum ergo_status status = ERGO_OK;
    const uint64_t end = s->step + sweeps;
    while (s->step < end && status == ERGO_OK) {
        uint64_t until = end;
        for (size_t k = 0; k < s->n_times; k++) {
            const uint64_t at = s->origin + (uint64_t)s->times[k];
            until = at > s->step && at < until ? at : until;
        }
        /* counts of attempts in 64 bits: at most 2^30 sweeps of 2^30 sites */
        until = until - s->step > 1u << 30 ? s->step + (1u << 30) : until;
        status = fac_launch_attempts(ctx, s, s->step, 0, (until - s->step) * s->shape.sites);
        s->step = until;
        if (status == ERGO_OK)
            status = fac_event(ctx, s);
    }
    return status;
}

/* ---- ops ------------------------------------------------------------------------------------- */

static enum ergo_status init(struct ergo_context *ctx, void *opaque) {
    struct fac_state *s = opaque;
    const char *start = ergo_point_text(s->batch->points[0], "/system/start");
    const cl_uint mode = strcmp(start, "random") == 0 ? 2 : strcmp(start, "up") == 0 ? 1 : 0;
    const cl_uint words = s->shape.words;
    const size_t group = s->launch.group;
    const size_t global[2] = {ergo_round_up(s->shape.sites, group), s->batch->count};
    const size_t local[2] = {group, 1};
    const struct ergo_arg args[] = {ERGO_ARG(s->spins),   ERGO_ARG(s->first),
                                    ERGO_ARG(s->flipped), ERGO_ARG(s->member_buffer),
                                    ERGO_ARG(words),      ERGO_ARG(mode)};
    const size_t lattices = fac_lattices(s);
    enum ergo_status status = ergo_device_finish(ctx, s->device); /* reads of an earlier run */
    memset(s->recorded, 0, 4 * s->n_times * (size_t)s->launch.counts_length);
    memset(s->loaded, 0, s->n_times * lattices * FAC_COUNTS * sizeof *s->loaded);
    s->step = 0;
    s->reference_kept.n = 0;
    if (status == ERGO_OK)
        status = ergo_kernel_launch(ctx, s->device, s->start, "facilitated_start", args, 6, 2,
                                    global, local, NULL);
    if (status == ERGO_OK)
        status = fac_event(ctx, s);
    return status == ERGO_OK ? ergo_device_finish(ctx, s->device) : status;
}

enum ergo_status fac_advance(struct ergo_context *ctx, void *opaque, unsigned which, size_t count,
                             uint64_t every, uint64_t first_sample) {
    struct fac_state *s = opaque;
    struct fac_slot *slot = &s->slots[which];
    enum ergo_status status = ERGO_OK;
    (void)first_sample; /* no sample carries a curve: they are measured in time */
    slot->samples = count;
    if (count == 0)
        status = advance_sweeps(ctx, s, every);
    for (size_t i = 0; i < count && status == ERGO_OK; i++) {
        status = advance_sweeps(ctx, s, every);
        if (status == ERGO_OK)
            status = launch_measure(ctx, s, slot->counts, i);
    }
    if (status == ERGO_OK && count)
        status =
            ergo_buffer_read_later(ctx, s->device, slot->counts, 0,
                                   4 * count * s->launch.counts_length, slot->host, &slot->ready);
    if (status == ERGO_OK)
        clFlush(s->device->queue);
    return status;
}

uint64_t fac_sum_parts(const struct fac_state *s, const uint32_t *counts, size_t lattice,
                       unsigned count) {
    uint64_t sum = 0;
    for (size_t p = 0; p < s->launch.parts; p++)
        sum += counts[(lattice * s->launch.parts + p) * FAC_COUNTS + count];
    return sum;
}

uint64_t fac_record(const struct fac_state *s, size_t time, size_t member, size_t word,
                    unsigned count) {
    const size_t lattice = member * s->shape.words + word;
    return s->loaded[(time * fac_lattices(s) + lattice) * FAC_COUNTS + count] +
           fac_sum_parts(s, s->recorded + time * s->launch.counts_length, lattice, count);
}

void fac_columns(const struct fac_state *s, size_t member, uint64_t up, uint64_t unequal,
                 double *columns) {
    const struct fac_physics p = fac_physics_of(s->batch->points[member]);
    const double spins = (double)s->shape.sites * s->shape.words * s->shape.lanes;
    const double magnetization = 2 * (double)up / spins - 1;
    columns[COLUMN_MAGNETIZATION] = magnetization;
    columns[COLUMN_ENERGY] = p.j * (2 - 2 * (double)unequal / spins) + p.b * magnetization;
}

enum ergo_status fac_collect(struct ergo_context *ctx, void *opaque, unsigned which,
                             struct ergo_samples *samples) {
    struct fac_state *s = opaque;
    struct fac_slot *slot = &s->slots[which];
    samples->count = slot->samples;
    samples->n_curve_samples = 0;
    if (slot->samples == 0)
        return ERGO_OK;
    enum ergo_status status = ergo_event_wait(ctx, s->device, &slot->ready, NULL);
    if (status != ERGO_OK)
        return status;
    const size_t members = s->batch->count;
    for (size_t m = 0; m < members; m++)
        for (size_t i = 0; i < slot->samples; i++) {
            uint64_t up = 0, unequal = 0;
            for (size_t w = 0; w < s->shape.words; w++) {
                const uint32_t *counts = slot->host + i * s->launch.counts_length;
                up += fac_sum_parts(s, counts, m * s->shape.words + w, 0);
                unequal += fac_sum_parts(s, counts, m * s->shape.words + w, 3);
            }
            fac_columns(s, m, up, unequal, samples->columns + (i * members + m) * COLUMNS);
        }
    return ERGO_OK;
}

static uint64_t curve_every(const struct ergo_point *point) {
    (void)point;
    return 1;
}

const struct ergo_sampler_ops facilitated_ops = {
    .check = fac_check,
    .plan = plan,
    .create = create,
    .init = init,
    .advance = fac_advance,
    .collect = fac_collect,
    .curve_size = fac_curve_size,
    .curve_x = fac_curve_x,
    .curve_every = curve_every,
    .end_curves = fac_end_curves,
    .save = fac_save,
    .load = fac_load,
    .audit = fac_audit,
    .picture = fac_picture,
    .frame = fac_frame,
    .exact = fac_exact,
    .reference = fac_reference,
    .destroy = destroy,
};
