/* Models with a byte per spin on a device: plan, build, start, advance, collect. */
#include "samplers/spin_lattice/bytes.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "samplers/spin_lattice/models.h"

/* ---- plan ------------------------------------------------------------------------------------ */

/* Rows of a work-item. With more rows fewer bytes are read twice, but all units must stay busy.
 * On large lattices 4 and 8 are equally fast (H200). */
static uint32_t strip_of(const struct bytes_shape *s, double members, bool gpu) {
    uint32_t strip = 1;
    const double blocks = (double)s->colour / 16 * members;
    while (gpu && strip < 4 && s->d > 1 && s->l[1] % (2 * strip) == 0 &&
           blocks / (2 * strip) >= 0x1p18)
        strip *= 2;
    return strip;
}

static void declare(struct bytes_state *s) {
    static const char *const path = "spin_lattice/bytes.cl";
    struct ergo_engine *e = &s->e;
    const struct bytes_shape *h = &s->shape;
    const uint64_t members = e->batch->count;
    char options[400];
    ergo_engine_buffer(e, BYTES_SPINS, "spins", ERGO_BUFFER_STATE, 2 * h->colour * members);
    ergo_engine_buffer(e, BYTES_MEMBERS, "members", ERGO_BUFFER_CONSTANT,
                       members * sizeof *s->members);
    ergo_engine_buffer(e, BYTES_TERMS, "fields and couplings", ERGO_BUFFER_CONSTANT,
                       4 * bytes_terms_length(h) * members);
    ergo_engine_buffer(e, BYTES_CHANCES, "choices", ERGO_BUFFER_CONSTANT,
                       4 * bytes_choices_length(h) * members);
    ergo_engine_sums(e, BYTES_COUNTS, "samples", ERGO_BUFFER_SAMPLES, 4 * members * h->numbers);
    ergo_engine_sums(e, BYTES_CURVE_COUNTS, "curves", ERGO_BUFFER_CURVES,
                     4 * members * s->launch.curve_length);
    snprintf(
        options, sizeof options,
        "-DBYTES_D=%u -DBYTES_LX=%uu -DBYTES_LY=%uu -DBYTES_LZ=%uu -DBYTES_Q=%uu "
        "-DBYTES_MODEL=%d -DBYTES_FIELDS=%d -DBYTES_GENERAL=%d -DBYTES_BONDS=%d -DBYTES_HEAT=%d "
        "-DBYTES_STRIP=%uu -DBYTES_CHOICES=%uu",
        h->d, h->l[0], h->l[1], h->l[2], h->q, (int)h->kind, (int)s->fields, (int)h->general,
        (int)h->bonds, (int)h->heat_bath, s->launch.strip, bytes_choices(h));
    ergo_engine_kernel(e, BYTES_SWEEP, path, options,
                       h->general ? "bytes_general_sweep" : "bytes_sweep");
    ergo_engine_kernel(e, BYTES_START, path, options, "bytes_start_all");
    ergo_engine_kernel(e, BYTES_MEASURE, path, options, "bytes_measure");
    ergo_engine_kernel(e, BYTES_CORRELATE, path, options, "bytes_correlate");
    ergo_engine_kernel(e, BYTES_PLANES, path, options, "bytes_planes");
    if (h->general)
        ergo_engine_kernel(e, BYTES_ENERGY, path, options, "bytes_general_energy");
}

static enum ergo_status choose_launch(struct ergo_context *ctx, struct bytes_state *s) {
    const struct ergo_device *device = s->e.device;
    const struct ergo_device_summary *d = &device->summary;
    const struct ergo_point *first = s->e.batch->points[0];
    const struct bytes_shape *h = &s->shape;
    struct bytes_launch *l = &s->launch;
    const bool gpu = device->type != CL_DEVICE_TYPE_CPU;
    const double members = (double)s->e.batch->count,
                 units = d->compute_units ? d->compute_units : 1;
    const int64_t wish = ergo_point_int(first, "/tuning/work_group");
    const int64_t rows = ergo_point_int(first, "/tuning/tile_rows");
    const uint64_t blocks = 2 * h->colour / 16;
    l->group = wish ? (uint32_t)wish : gpu ? 128 : 16;
    l->strip = rows ? (uint32_t)rows : h->general ? 1 : strip_of(h, members, gpu);
    if (rows > 8 || (rows & (rows - 1)) || h->l[1] % l->strip || (h->general && rows > 1))
        return ERGO_FAIL(ctx, ERGO_E_DEVICE,
                         "/tuning/tile_rows %u: 1, 2, 4 or 8 that divide the %u rows of a plane; "
                         "with general fields or couplings 1",
                         l->strip, h->l[1]);
    if (l->group > d->largest_group)
        return ERGO_FAIL(ctx, ERGO_E_DEVICE, "/tuning/work_group %u: %s (%s) has %llu at most",
                         l->group, d->name, d->id, (unsigned long long)d->largest_group);
    /* a work-item of the measuring kernel has some 50 loop iterations for a block */
    const double wanted = gpu ? 16 * units : 4 * units;
    const double least =
        device->quirks.loop_limit
            ? 64.0 * (double)blocks / (double)device->quirks.loop_limit / l->group + 1
            : 1;
    const uint64_t fill_groups = blocks / l->group + 1;
    l->measure_groups = (uint32_t)fmax(least, fmin((double)fill_groups, wanted / members + 1));
    l->reach = bytes_reach(first);
    l->planes = bytes_has_structure(first) ? h->l[h->d - 1] : 0;
    l->curve_length = h->d * l->reach + h->q * l->planes;
    if (members * h->numbers > 0x1p31 || members * l->curve_length > 0x1p31 ||
        (double)h->colour / 16 > 0x1p32)
        return ERGO_FAIL(ctx, ERGO_E_DEVICE,
                         "this batch has more spins or measured numbers than kernels can "
                         "number: use a smaller lattice, fewer replicas or scan points, or a "
                         "smaller /run/correlation_max");
    return ERGO_OK;
}

static enum ergo_status configure(struct ergo_context *ctx, void *state) {
    struct bytes_state *s = state;
    const struct ergo_batch *batch = s->e.batch;
    const struct ergo_device *device = s->e.device;
    struct ergo_plan *plan = &s->e.plan;
    const bool gpu = device->type != CL_DEVICE_TYPE_CPU;
    s->shape = bytes_shape_of(batch->points[0]);
    s->members = ergo_engine_memory(&s->e, batch->count, sizeof *s->members);
    s->field_sums = ergo_engine_memory(&s->e, batch->count, sizeof *s->field_sums);
    s->physics = ergo_engine_memory(&s->e, batch->count, sizeof *s->physics);
    s->units = ergo_engine_memory(&s->e, batch->count, sizeof *s->units);
    s->wave = ergo_engine_memory(&s->e, s->shape.l[s->shape.d - 1], 2 * sizeof *s->wave);
    if (ergo_engine_end(&s->e) != ERGO_OK)
        return ergo_engine_end(&s->e);
    bytes_wave(&s->shape, s->wave);
    for (size_t i = 0; i < batch->count; i++) {
        bytes_member_fill(batch->points[i], &s->members[i]);
        s->physics[i] = bytes_physics_of(batch->points[i]);
        s->fields = s->fields || (!s->shape.general && s->physics[i].h != 0);
    }
    enum ergo_status status = choose_launch(ctx, s);
    if (status != ERGO_OK)
        return status;

    const struct bytes_shape *h = &s->shape;
    const unsigned units = device->summary.compute_units;
    const double rate = gpu ? 2e11 : 1e8 * (units ? units : 1);
    plan->work_per_step = (double)h->sites * (double)batch->count;
    plan->launches_per_step = 2;
    /* a launch costs more than the spins of a small lattice */
    plan->block_steps = fmax(1, floor(0.1 / (plan->work_per_step / rate + (gpu ? 1e-5 : 2e-5))));
    s->launch.block_sweeps = (uint64_t)fmin(plan->block_steps, 1e6);
    plan->host_bytes = (h->general ? 20 + (h->bonds ? 20 * h->d : 0) : 4) * h->sites +
                       batch->count * (2 * h->colour + 4 * bytes_terms_length(h));
    snprintf(plan->path, sizeof plan->path, "bytes");
    snprintf(plan->launch, sizeof plan->launch,
             "a launch for each colour: 16 x %u spins per work-item, work-groups of %u",
             s->launch.strip, s->launch.group);
    if (s->launch.curve_length)
        s->e.curve_interval = (uint64_t)ergo_point_int(batch->points[0], "/run/correlation_every");
    declare(s);
    return ERGO_OK;
}

/* ---- constants, start ------------------------------------------------------------------------ */

/* General fields and couplings of all members. */
static enum ergo_status create_terms(struct ergo_context *ctx, struct bytes_state *s) {
    const size_t length = bytes_terms_length(&s->shape), n = s->e.batch->count;
    int32_t *packed = malloc(n * length * sizeof *packed);
    enum ergo_status status =
        packed ? ERGO_OK : ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for general fields");
    for (size_t m = 0; m < n && status == ERGO_OK; m++) {
        struct bytes_disorder d;
        status = bytes_disorder_make(ctx, s->e.batch->points[m], &d);
        if (status != ERGO_OK)
            break;
        s->units[m] = d.unit;
        bytes_disorder_fill(s->e.batch->points[m], &d, &s->members[m]);
        bytes_terms_pack(&s->shape, &d, packed + length * m);
        bytes_disorder_free(&d);
    }
    if (status == ERGO_OK)
        ergo_engine_constant(&s->e, BYTES_TERMS, packed);
    free(packed);
    return status;
}

/* Heat bath of potts: choices of all members. */
static enum ergo_status create_choices(struct ergo_context *ctx, struct bytes_state *s) {
    const size_t length = bytes_choices_length(&s->shape), n = s->e.batch->count;
    uint32_t *words = malloc(4 * n * length);
    if (!words)
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for the choices of a heat bath");
    for (size_t m = 0; m < n; m++)
        bytes_choices_fill(&s->shape, &s->members[m], words + m * length);
    ergo_engine_constant(&s->e, BYTES_CHANCES, words);
    free(words);
    return ERGO_OK;
}

static enum ergo_status prepare(struct ergo_context *ctx, void *state) {
    struct bytes_state *s = state;
    struct ergo_engine *e = &s->e;
    for (unsigned k = 0; k < ERGO_KERNELS; k++)
        ergo_engine_need_group(e, k, s->launch.group);
    const enum ergo_status status = s->shape.general           ? create_terms(ctx, s)
                                    : bytes_choices(&s->shape) ? create_choices(ctx, s)
                                                               : ERGO_OK;
    ergo_engine_constant(e, BYTES_MEMBERS, s->members);
    return status;
}

static enum ergo_status init(struct ergo_context *ctx, void *opaque) {
    struct bytes_state *s = opaque;
    const unsigned mode = model_start(s->e.batch->points[0]);
    const size_t blocks = (size_t)(2 * s->shape.colour / 16);
    s->e.step = 0;
    memset(s->field_sums, 0, s->e.batch->count * sizeof *s->field_sums);
    ergo_engine_begin(&s->e, ctx);
    ERGO_LAUNCH(&s->e, BYTES_START, ergo_grid_items(blocks, s->launch.group, s->e.batch->count),
                BUFFER(BYTES_SPINS), BUFFER(BYTES_MEMBERS), U32(mode), U32(s->fields));
    ergo_engine_finish(&s->e);
    return ergo_engine_end(&s->e);
}

/* ---- sweeps and measurements ------------------------------------------------------------------
 */

static void steps(void *state, uint64_t sweeps) {
    struct bytes_state *s = state;
    const size_t items = (size_t)(s->shape.colour / 16 / s->launch.strip);
    const struct ergo_grid grid = ergo_grid_items(items, s->launch.group, s->e.batch->count);
    const size_t choices = 4 * bytes_choices_length(&s->shape);
    for (uint64_t i = 0; i < 2 * sweeps; i++) {
        const unsigned colour = i % 2;
        if (s->shape.general)
            ERGO_LAUNCH(&s->e, BYTES_SWEEP, grid, BUFFER(BYTES_SPINS), BUFFER(BYTES_MEMBERS),
                        U32(colour), U64(s->e.step), BUFFER(BYTES_TERMS));
        else if (choices)
            ERGO_LAUNCH(&s->e, BYTES_SWEEP, grid, BUFFER(BYTES_SPINS), BUFFER(BYTES_MEMBERS),
                        U32(colour), U64(s->e.step), LOCAL(choices), BUFFER(BYTES_CHANCES));
        else
            ERGO_LAUNCH(&s->e, BYTES_SWEEP, grid, BUFFER(BYTES_SPINS), BUFFER(BYTES_MEMBERS),
                        U32(colour), U64(s->e.step), LOCAL(2 * BYTES_TABLE * sizeof(cl_uint)));
        s->e.step += colour;
    }
}

static void measure(void *state, size_t sample) {
    struct bytes_state *s = state;
    const struct ergo_grid grid =
        ergo_grid_groups(s->launch.measure_groups, s->launch.group, s->e.batch->count);
    ERGO_LAUNCH(&s->e, BYTES_MEASURE, grid, BUFFER(BYTES_SPINS), BUFFER(BYTES_MEMBERS),
                BUFFER(BYTES_COUNTS), U32(sample), LOCAL(s->shape.counts * sizeof(cl_uint)));
    if (s->shape.general)
        ERGO_LAUNCH(&s->e, BYTES_ENERGY, grid, BUFFER(BYTES_SPINS), BUFFER(BYTES_MEMBERS),
                    BUFFER(BYTES_COUNTS), U32(sample), BUFFER(BYTES_TERMS),
                    LOCAL(2 * sizeof(cl_uint)));
}

static void measure_curves(void *state, size_t curve) {
    struct bytes_state *s = state;
    const struct bytes_launch *l = &s->launch;
    const uint32_t pairs = s->shape.d * l->reach;
    const size_t members = s->e.batch->count;
    if (pairs)
        ERGO_LAUNCH(&s->e, BYTES_CORRELATE,
                    ergo_grid_groups(l->measure_groups, l->group, members * pairs),
                    BUFFER(BYTES_SPINS), BUFFER(BYTES_CURVE_COUNTS), U32(curve), U32(l->reach),
                    U32(l->curve_length), LOCAL(sizeof(cl_uint)));
    if (l->planes)
        ERGO_LAUNCH(&s->e, BYTES_PLANES, ergo_grid_groups(l->planes, l->group, members),
                    BUFFER(BYTES_SPINS), BUFFER(BYTES_MEMBERS), BUFFER(BYTES_CURVE_COUNTS),
                    U32(curve), U32(pairs), U32(l->curve_length), LOCAL(s->shape.q * 4));
}

void bytes_curves(const struct bytes_state *s, size_t member, const uint32_t *counts, size_t row,
                  const struct ergo_samples *samples) {
    static const int curve[3] = {CURVE_CORRELATION_X, CURVE_CORRELATION_Y, CURVE_CORRELATION_Z};
    const size_t reach = s->launch.reach, size = reach + 1;
    const double q = s->shape.q, n = (double)s->shape.sites;
    if (s->launch.planes)
        bytes_structure(&s->shape, s->members[member].staggered != 0, s->wave,
                        counts + s->shape.d * reach, samples->curves[CURVE_STRUCTURE] + 2 * row);
    if (!reach)
        return;
    double *mean = samples->curves[CURVE_CORRELATION] + row * size;
    memset(mean, 0, size * sizeof *mean);
    for (uint32_t k = 0; k < s->shape.d; k++) {
        double *axis = samples->curves[curve[k]] + row * size;
        for (size_t r = 0; r <= reach; r++) {
            const double equal = r ? counts[k * reach + r - 1] / n : 1;
            axis[r] = (q * equal - 1) / (q - 1);
            mean[r] += axis[r] / s->shape.d;
        }
    }
}

static bool rows(const void *state, unsigned slot, size_t begin, size_t end,
                 const struct ergo_samples *samples) {
    const struct bytes_state *s = state;
    const size_t members = s->e.batch->count, columns = s->e.batch->job->model->n_columns;
    for (size_t row = begin; row < end; row++) {
        const uint32_t *counts = ergo_engine_host(&s->e, BYTES_COUNTS, slot, row / members);
        const size_t m = row % members;
        bytes_columns(&s->physics[m], &s->shape, s->units[m], counts + m * s->shape.numbers,
                      samples->columns + row * columns);
    }
    return true;
}

static bool curve_rows(const void *state, unsigned slot, size_t begin, size_t end,
                       const struct ergo_samples *samples) {
    const struct bytes_state *s = state;
    const size_t members = s->e.batch->count;
    for (size_t row = begin; row < end && s->launch.curve_length; row++) {
        const uint32_t *counts = ergo_engine_host(&s->e, BYTES_CURVE_COUNTS, slot, row / members);
        bytes_curves(s, row % members, counts + row % members * s->launch.curve_length, row,
                     samples);
    }
    return true;
}

static const struct ergo_engine_model model = {
    .sampler = "spin-lattice",
    .smaller = "a smaller lattice",
    .state_bytes = sizeof(struct bytes_state),
    .configure = configure,
    .prepare = prepare,
    .steps = steps,
    .measure = measure,
    .measure_curves = measure_curves,
    .rows = rows,
    .curve_rows = curve_rows,
};

const struct ergo_sampler_ops bytes_ops = {
    .engine = &model,
    .init = init,
    .save = bytes_save,
    .load = bytes_load,
    .audit = bytes_audit,
    .view = bytes_view,
};
