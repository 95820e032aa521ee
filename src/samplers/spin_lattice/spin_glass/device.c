/* Spin glasses on a device: build, start, collect. */
#include "samplers/spin_lattice/spin_glass/glass.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "device/program.h"
#include "samplers/spin_lattice/models.h"

enum { WAVE_UNIT = 4096 };

/* ---- create ---------------------------------------------------------------------------------- */

void glass_destroy(void *opaque) {
    struct glass_state *s = opaque;
    if (!s)
        return;
    if (s->device)
        (void)ergo_queue_finish(s->device,
                                s->device->queue); /* reads into our memory may be under way */
    const cl_kernel kernels[] = {s->sweep,  s->start,  s->swap,    s->exchange,
                                 s->ladder, s->energy, s->overlap, s->record};
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
    cl_mem *const buffers[] = {&s->spins,    &s->couplings,        &s->tables,
                               &s->keys,     &s->slopes,           &s->waves,
                               &s->energies, &s->counts,           &s->masks,
                               &s->from_hot, &s->accepted,         &s->trips,
                               &s->moves,    &s->slots[0].records, &s->slots[1].records};
    for (size_t i = 0; i < sizeof buffers / sizeof buffers[0]; i++)
        ergo_buffer_release(buffers[i]);
    for (int i = 0; i < 2; i++) {
        if (s->slots[i].ready)
            clReleaseEvent(s->slots[i].ready);
        free(s->slots[i].host);
        free(s->slots[i].counts);
    }
    glass_border_destroy(s->border);
    free(s->shares);
    free(s->units);
    free(s->sums);
    free(s->moved);
    free(s->hashes);
    free(s);
}

void glass_options(const struct glass_state *s, struct ergo_text *o) {
    const struct glass_shape *h = &s->shape;
    ergo_text_append(o,
                     "-DGLASS_LX=%uu -DGLASS_LY=%uu -DGLASS_LZ=%uu -DGLASS_D=%u -DGLASS_HEAT=%d "
                     "-DGLASS_REAL=%d -DGLASS_T=%u -DGLASS_COPIES=%uu -DGLASS_LEVELS=%u "
                     "-DGLASS_COUNT_LEVELS=%u -DGLASS_LADDER_LANES=%u "
                     "-DGLASS_LADDER_ROOM=%zu",
                     h->lx, h->ly, h->lz, h->d, h->heat, h->real, h->temperatures, h->copies,
                     s->launch.levels, s->launch.count_levels, s->launch.ladder_lanes,
                     s->launch.ladder_room);
    if (s->launch.local)
        ergo_text_append(o, " -DGLASS_LOCAL");
}

static enum ergo_status build(struct ergo_context *ctx, struct glass_state *s) {
    const struct glass_shape *h = &s->shape;
    struct ergo_text o = {0};
    glass_options(s, &o);
    /* what counts does not ask where on the ladder it is: one program for all ranks */
    enum ergo_status status =
        o.failed ? ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for build options")
                 : ergo_program_build(ctx, s->device, "spin_lattice/glass_measure.cl", o.data,
                                      &s->measure_program);
    if (glass_shares_ladder(h))
        ergo_text_append(&o, " -DGLASS_RUNG=%uu -DGLASS_RUNGS=%uu", h->rung, h->rungs);
    if (status == ERGO_OK && o.failed)
        status = ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for build options");
    if (status == ERGO_OK)
        status = ergo_program_build(ctx, s->device, "spin_lattice/glass.cl", o.data, &s->program);
    const bool ladder = h->temperatures > 1, whole = s->launch.whole;
    if (status == ERGO_OK && ladder)
        status = ergo_program_build(ctx, s->device, "spin_lattice/glass_temper.cl", o.data,
                                    &s->temper_program);
    if (status == ERGO_OK && whole)
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
                   {s->local_program, &s->ladder, "glass_local_ladder", whole},
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

/* What depends on the members: couplings, acceptance, keys, slopes. */
static enum ergo_status fill(struct ergo_context *ctx, struct glass_state *s) {
    const struct glass_shape *h = &s->shape;
    const size_t members = s->batch->count, length = glass_packed_length(h);
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
        glass_tables(point, h, tables + m * table, slopes + m * h->temperatures);
        keys[2 * m] = (uint32_t)point->stream;
        keys[2 * m + 1] = (uint32_t)(point->stream >> 32);
    }
    const struct {
        const char *what;
        size_t bytes;
        const void *data;
        cl_mem *mem;
    } constants[] = {{"couplings", 4 * length * h->words * members, packed, &s->couplings},
                     {"acceptance", 4 * table * members, tables, &s->tables},
                     {"keys", 8 * members, keys, &s->keys},
                     {"slopes", 4 * members * h->temperatures, slopes, &s->slopes}};
    for (size_t i = 0; i < sizeof constants / sizeof constants[0] && status == ERGO_OK; i++)
        status = ergo_constant_create(ctx, s->device, &s->constants, constants[i].what,
                                      constants[i].bytes, constants[i].data, constants[i].mem);
    free(couplings);
    free(packed);
    free(tables);
    free(keys);
    free(slopes);
    return status;
}

void glass_wave(const struct glass_shape *s, uint32_t layer, int32_t wave[2]) {
    const double phase = 2 * 3.14159265358979323846 * layer / s->layers;
    wave[0] = (int32_t)floor(WAVE_UNIT * cos(phase) + 0.5);
    wave[1] = (int32_t)floor(WAVE_UNIT * sin(phase) + 0.5);
}

static enum ergo_status allocate(struct ergo_context *ctx, struct glass_state *s) {
    const struct glass_shape *h = &s->shape;
    const size_t lattices = glass_lattices(s), records = s->launch.records;
    const size_t samples = GLASS_RECORD_BYTES * records * s->launch.block_samples;
    int32_t *waves = malloc(8 * (size_t)h->layers);
    void *zero = calloc(records, 8); /* exchanges leave them so */
    for (uint32_t i = 0; i < h->layers && waves; i++)
        glass_wave(h, i, waves + (size_t)2 * i);
    s->hashes = calloc(s->batch->count, sizeof *s->hashes);
    s->slots[0].host = malloc(samples);
    s->slots[1].host = malloc(samples);
    for (int i = 0; i < 2; i++)
        s->slots[i].counts = calloc(s->launch.block_samples * lattices, 8 * glass_move_rows(h));
    const struct {
        cl_mem *mem;
        const char *name;
        size_t bytes;
        const void *data;
    } buffers[] = {{&s->spins, "spins", glass_lattice_bytes(h) * lattices, NULL},
                   {&s->energies, "energies", 8 * records * s->launch.parts, NULL},
                   {&s->counts, "counts", 8 * records * h->layers, NULL},
                   {&s->masks, "exchanges", 32 * lattices * h->quads, zero},
                   {&s->from_hot, "walkers", 16 * lattices * h->quads, NULL},
                   {&s->accepted, "accepted exchanges", 8 * lattices * h->slots, NULL},
                   {&s->trips, "round trips", 8 * lattices * h->copies, NULL},
                   {&s->moves, "exchanges of samples", 128 * lattices * glass_move_rows(h), NULL},
                   {&s->slots[0].records, "samples", samples, NULL},
                   {&s->slots[1].records, "samples", samples, NULL}};
    enum ergo_status status =
        waves && zero && s->hashes && s->slots[0].host && s->slots[1].host && s->slots[0].counts &&
                s->slots[1].counts
            ? ERGO_OK
            : ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for %zu word-lattices", lattices);
    for (size_t i = 0; i < sizeof buffers / sizeof buffers[0] && status == ERGO_OK; i++)
        status = ergo_buffer_create(ctx, s->device, buffers[i].name, buffers[i].bytes,
                                    buffers[i].data, buffers[i].mem);
    if (status == ERGO_OK)
        status = ergo_constant_create(ctx, s->device, &s->constants, "waves", 8 * (size_t)h->layers,
                                      waves, &s->waves);
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
            s->launch.group = glass_power_of_two(largest, 1, s->launch.group);
    }
    if (status == ERGO_OK)
        status = allocate(ctx, s);
    if (status == ERGO_OK)
        status = glass_sums_create(ctx, s);
    if (status == ERGO_OK)
        status = glass_border_create(ctx, s);
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

/* ---- ops ------------------------------------------------------------------------------------- */

/* Nobody has been anywhere, but who is at the hot end has been there. */
static enum ergo_status clear_walkers(struct ergo_context *ctx, struct glass_state *s) {
    const struct glass_shape *h = &s->shape;
    const size_t lattices = glass_lattices(s), stride = (size_t)4 * h->quads;
    const size_t bytes = 8 * lattices * (stride + h->slots);
    uint8_t *zero = calloc(1, bytes);
    if (!zero)
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for walkers");
    enum ergo_status status =
        ergo_buffer_write(ctx, s->device, s->accepted, 0, 8 * lattices * h->slots, zero);
    if (status == ERGO_OK)
        status = ergo_buffer_write(ctx, s->device, s->trips, 0, 8 * lattices * h->copies, zero);
    uint32_t *from_hot = (uint32_t *)zero;
    const bool hot = h->rungs > 1 && h->rung + h->temperatures == h->rungs;
    for (size_t l = 0; l < lattices && hot; l++)
        for (uint32_t copy = 0; copy < h->copies; copy++)
            from_hot[l * stride + h->slots - h->copies + copy] =
                glass_lanes(h, h->first + (uint32_t)(l % h->words));
    if (status == ERGO_OK)
        status = ergo_buffer_write(ctx, s->device, s->from_hot, 0, 4 * lattices * stride, from_hot);
    free(zero);
    return status == ERGO_OK ? glass_moves_clear(ctx, s) : status;
}

enum ergo_status glass_init(struct ergo_context *ctx, void *opaque) {
    struct glass_state *s = opaque;
    const char *start = ergo_point_text(s->batch->points[0], "/system/start");
    const cl_uint mode = strcmp(start, "random") == 0 ? 2 : strcmp(start, "up") == 0 ? 1 : 0;
    const cl_uint2 words = glass_words_here(&s->shape);
    const cl_uint last = glass_last(&s->shape);
    const size_t group = s->device->type == CL_DEVICE_TYPE_CPU ? 16 : 128;
    const size_t global[2] = {ergo_round_up((size_t)s->shape.sites * s->shape.quads, group),
                              glass_lattices(s)};
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

/* Exchanges and round trips of words up to now; there with the block's records. */
static enum ergo_status read_counts(struct ergo_context *ctx, struct glass_state *s,
                                    uint64_t *counts) {
    const size_t lattices = glass_lattices(s), accepted = lattices * s->shape.slots;
    const enum ergo_status status =
        ergo_buffer_read_later(ctx, s->device, s->accepted, 0, 8 * accepted, counts, NULL);
    return status == ERGO_OK
               ? ergo_buffer_read_later(ctx, s->device, s->trips, 0, 8 * lattices * s->shape.copies,
                                        counts + accepted, NULL)
               : status;
}

enum ergo_status glass_advance(struct ergo_context *ctx, void *opaque, unsigned which, size_t count,
                               uint64_t every, uint64_t first_sample) {
    struct glass_state *s = opaque;
    struct glass_slot *slot = &s->slots[which];
    const size_t counts = glass_lattices(s) * glass_move_rows(&s->shape);
    enum ergo_status status = ERGO_OK;
    (void)first_sample; /* each sample carries the curve */
    slot->samples = count;
    slot->step = s->step;
    slot->every = every;
    if (count == 0)
        status = glass_advance_sweeps(ctx, s, every);
    for (size_t i = 0; i < count && status == ERGO_OK; i++) {
        status = glass_advance_sweeps(ctx, s, every);
        if (status == ERGO_OK)
            status = glass_launch_record(ctx, s, slot->records, i);
        if (status == ERGO_OK && s->shape.rungs > 1)
            status = read_counts(ctx, s, slot->counts + i * counts);
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
    const size_t curve = glass_curve_size(s->batch->points[0], CURVE_HALVES);
    samples->count = samples->n_curve_samples = slot->samples;
    if (slot->samples == 0)
        return ERGO_OK;
    /* an idle one has none under way */
    enum ergo_status status =
        slot->ready ? ergo_event_wait(ctx, s->device, &slot->ready, NULL) : ERGO_OK;
    for (size_t i = 0; i < slot->samples && status == ERGO_OK; i++)
        status =
            glass_collect_sample(ctx, s, slot, i, samples->columns + i * s->batch->count * COLUMNS,
                                 samples->curves[CURVE_HALVES] + i * s->batch->count * curve);
    if (status == ERGO_OK)
        status = glass_hand_over(ctx, s, samples->curves[CURVE_SAMPLES]);
    return status; /* the other curves come at the end */
}

const struct ergo_sampler_ops glass_ops = {
    .plan = glass_plan,
    .create = create,
    .init = glass_init,
    .advance = glass_advance,
    .collect = glass_collect,
    .count = glass_count,
    .end_curves = glass_end_curves,
    .save = glass_save,
    .load = glass_load,
    .audit = glass_audit,
    .picture = glass_picture,
    .destroy = glass_destroy,
};
