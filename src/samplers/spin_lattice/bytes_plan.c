/* Kernels and launch sizes of models with a byte per spin. They change the speed and never the
 * chain. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "samplers/spin_lattice/bytes.h"
#include "samplers/spin_lattice/models.h"

enum { PATH_LOCAL = 1, PATH_GLOBAL = 3 }; /* values of /tuning/path */

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

/* ---- lattices in local memory ---------------------------------------------------------------- */

/* Sums of which each work-item has a part, as BYTES_OWN in bytes_local.cl. */
static uint64_t local_bytes(const struct bytes_shape *s, uint32_t group) {
    const uint64_t parts = s->states <= 4 ? 8 : 3, choices = 4 * bytes_choices_length(s);
    return 2 * s->colour + (choices ? choices : 8 * BYTES_TABLE) + 4 * parts * group +
           4 * (s->states + 2);
}

/*
 * Most sweeps of a launch if the device ends loops early, counted as if no compiler unrolled a
 * loop: a block's update has 4 fours of sites, each with some 25 iterations, or 4 choices by
 * weights of 130 each; a measurement, which may follow each sweep, 80 a block, and a step of its
 * sums some 30. 0: not one.
 */
static uint64_t loop_limited(const struct bytes_shape *s, uint32_t group, uint64_t limit) {
    const bool weights = s->kind == BYTES_POTTS_HEAT && !bytes_choices(s);
    const uint64_t blocks = (s->colour / 16 + group - 1) / group;
    const uint64_t fill = 4 * blocks + bytes_choices_length(s) / group + 2 * BYTES_TABLE / group;
    const bool by_site = s->general && s->kind != BYTES_ISING; /* each with all its neighbours */
    const uint64_t sweep = 2 * blocks *
                               (weights   ? 2200
                                : by_site ? 700
                                          : 120) +
                           2 * blocks *
                               (by_site      ? 500
                                : s->general ? 120
                                             : 80) +
                           2 * s->numbers + 150;
    return limit > fill ? (limit - fill) / sweep : 0;
}

uint64_t bytes_fours(const struct bytes_shape *s) {
    const uint32_t fours = (s->l[0] / 2 + 3) / 4;
    return s->colour / 16 * (fours < 4 ? fours : 4);
}

/* Sweeps of a launch with words drawn ahead: so many that the words, 16 bytes for each four sites
 * of a block, stay in a cache of 50 MB. */
static double sweeps_ahead(const struct bytes_shape *s, double members) {
    return fmin(fmax(0x1p25 / (2 * 16.0 * (double)bytes_fours(s) * members), 16), 1024);
}

/*
 * Seconds per sweep of lattices that have a unit each (H200, 2026-11-24). A unit decides four sites
 * in 0.6 ns, and half of it draws their words. All units draw 1.5e12 words a second; a pair of
 * launches takes 8 us more.
 */
static double seconds_local(const struct bytes_shape *s, double members, unsigned units,
                            bool ahead) {
    const double fours = (double)s->sites / 8, work = (double)s->sites * members;
    if (ahead)
        return 2 * (0.15e-6 + 0.3e-9 * fours) + work / (1.1e10 * units) +
               8e-6 / sweeps_ahead(s, members);
    return fmax(2 * (0.15e-6 + 0.6e-9 * fours), work / (6e9 * units));
}

static double seconds_global(const struct bytes_shape *s, double members, unsigned units) {
    return fmax(9.5e-6, 3e-6 + (double)s->sites * members / (6.4e9 * units));
}

/* By itself on GPUs where it is faster, elsewhere if the job says so. */
static void choose_local(const struct bytes_state *s, struct bytes_launch *l) {
    const struct ergo_device *device = s->e.device;
    const struct ergo_device_summary *d = &device->summary;
    const struct ergo_point *first = s->e.batch->points[0];
    const struct bytes_shape *h = &s->shape;
    const bool gpu = device->type != CL_DEVICE_TYPE_CPU;
    const unsigned units = d->compute_units ? d->compute_units : 1;
    const double members = (double)s->e.batch->count;
    const uint32_t path = (uint32_t)first->parameters->path;
    const uint32_t wish = (uint32_t)first->parameters->work_group;
    const uint32_t sweeps = (uint32_t)of_lattice(first)->tile_sweeps;
    const uint64_t blocks = h->colour / 16;
    /* 1,024 work-items a unit, whose local memory is four times a group's (H200: 16^3 lattices at
     * 823 updates/ns with groups of 64, at 767 with 256) */
    const double beside =
        fmin(members / units, 4.0 * (double)d->local_memory / 2 / (double)h->colour);
    uint32_t most = gpu ? ergo_power_of_two_up((uint64_t)(1024 / fmax(1, beside)), 64, 256) : 16;
    while (most > d->largest_group)
        most /= 2;
    l->local_group = ergo_power_of_two_up(blocks, ergo_device_least_group(device), most);
    if (device->quirks.many_barriers_unreliable)
        l->local_group = 1;
    const bool ahead = !h->general && h->kind != BYTES_POTTS_HEAT && blocks <= l->local_group &&
                       members <= units &&
                       (gpu ? !wish && seconds_local(h, members, units, true) <
                                           seconds_local(h, members, units, false)
                            : sweeps > 0);
    if (wish && wish < l->local_group && !ahead)
        l->local_group = wish;
    l->launch_sweeps = 1000000; /* kernels count with 32 bits */
    if (device->quirks.loop_limit)
        l->launch_sweeps = loop_limited(h, l->local_group, device->quirks.loop_limit);
    if (s->cut || path == PATH_GLOBAL || l->launch_sweeps == 0 ||
        local_bytes(h, l->local_group) > d->local_memory)
        return;
    l->local = path == PATH_LOCAL ||
               (gpu && seconds_local(h, members, units, ahead) < seconds_global(h, members, units));
    if (l->local && ahead) {
        l->ahead = sweeps ? sweeps : (uint32_t)sweeps_ahead(h, members);
        if (l->ahead < l->launch_sweeps)
            l->launch_sweeps = l->ahead;
    }
}

/* ---- plan ------------------------------------------------------------------------------------ */

static void declare(struct bytes_state *s) {
    static const char *const path = "spin_lattice/bytes.cl";
    struct ergo_engine *e = &s->e;
    const struct bytes_shape *h = &s->shape;
    const uint64_t members = e->batch->count;
    const struct bytes_launch *l = &s->launch;
    char options[400], local[440];
    ergo_engine_buffer(e, BYTES_SPINS, "spins", ERGO_BUFFER_STATE, 2 * h->colour * members);
    ergo_engine_buffer(e, BYTES_TERMS, "fields and couplings", ERGO_BUFFER_CONSTANT,
                       4 * bytes_terms_length(h) * members);
    ergo_engine_buffer(e, BYTES_CHANCES, "choices", ERGO_BUFFER_CONSTANT,
                       4 * bytes_choices_length(h) * members);
    ergo_engine_buffer(e, BYTES_DRAWN, "random words", ERGO_BUFFER_SCRATCH,
                       2 * 16 * bytes_fours(h) * members * l->ahead);
    ergo_engine_totals(e, BYTES_COUNTS, h->counts, h->general, 0);
    ergo_engine_sums(e, BYTES_CURVE_COUNTS, "curves", ERGO_BUFFER_CURVES,
                     4 * members * s->launch.curve_length);
    snprintf(
        options, sizeof options,
        "-DBYTES_D=%u -DBYTES_LX=%uu -DBYTES_LY=%uu -DBYTES_LZ=%uu -DBYTES_Q=%uu "
        "-DBYTES_MODEL=%d -DBYTES_FIELDS=%d -DBYTES_GENERAL=%d -DBYTES_BONDS=%d -DBYTES_HEAT=%d "
        "-DBYTES_STRIP=%uu -DBYTES_CHOICES=%uu -DBYTES_FIELD_PLANES=%u",
        h->d, h->l[0], h->l[1], h->l[2], h->q, (int)h->kind, (int)s->fields, (int)h->general,
        (int)h->bonds, (int)h->heat_bath, l->strip, bytes_choices(h), h->fields);
    const size_t length = strlen(options);
    if (s->cut)
        snprintf(options + length, sizeof options - length, " -DBYTES_CUT -DBYTES_ALL_ROWS=%lluu",
                 (unsigned long long)s->whole.all_rows);
    snprintf(local, sizeof local, "%s -DBYTES_GROUP=%uu%s", options, l->local_group,
             l->ahead ? " -DBYTES_AHEAD" : "");
    if (l->local)
        ergo_engine_kernel(e, BYTES_SWEEP, "spin_lattice/bytes_local.cl", local,
                           "bytes_sweep_local");
    else
        ergo_engine_kernel(e, BYTES_SWEEP, path, options,
                           h->general ? "bytes_general_sweep" : "bytes_sweep");
    if (l->ahead)
        ergo_engine_kernel(e, BYTES_DRAW, "spin_lattice/bytes_draw.cl", options, "bytes_draw");
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
    const int64_t wish = first->parameters->work_group;
    const int64_t rows = of_lattice(first)->tile_rows;
    const uint64_t blocks = 2 * h->colour / 16;
    l->group = wish ? (uint32_t)wish : gpu ? 128 : 16;
    l->strip = rows ? (uint32_t)rows : h->general ? 1 : strip_of(h, members, gpu);
    if (rows > 8 || (rows & (rows - 1)) || h->l[1] % l->strip || (h->general && rows > 1))
        return ERGO_FAIL(ctx, ERGO_E_DEVICE,
                         "/tuning/tile_rows %u: 1, 2, 4 or 8 that divide the %u rows of a plane; "
                         "with general fields or couplings 1",
                         l->strip, h->l[1]);
    while (l->group > d->largest_group)
        l->group /= 2;
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
    choose_local(s, l);
    return ERGO_OK;
}

static void describe(const struct bytes_state *s, struct ergo_plan *plan) {
    const struct bytes_launch *l = &s->launch;
    const size_t size = sizeof plan->launch;
    snprintf(plan->path, sizeof plan->path, l->local ? "bytes, local" : "bytes");
    if (l->local)
        snprintf(plan->launch, size,
                 "%zu work-groups of %u, one lattice each in local memory, about %llu sweeps a "
                 "launch%s",
                 s->e.batch->count, l->local_group,
                 (unsigned long long)ergo_plan_launch(plan, l->launch_sweeps),
                 l->ahead ? ", words drawn ahead" : "");
    else
        snprintf(plan->launch, size,
                 "a launch for each colour: 16 x %u spins per work-item, work-groups of %u",
                 l->strip, l->group);
}

void bytes_fill(void *state) {
    struct bytes_state *s = state;
    const struct ergo_batch *batch = s->e.batch;
    for (size_t i = 0; i < batch->count; i++) {
        bytes_member_fill(batch->points[i], &s->members[i]);
        s->members[i].first_row = (uint32_t)s->shape.first_row;
        s->physics[i] = bytes_physics_of(batch->points[i]);
        s->fields = s->fields || (!s->shape.general && s->physics[i].h != 0);
    }
}

enum ergo_status bytes_configure(struct ergo_context *ctx, void *state) {
    struct bytes_state *s = state;
    const struct ergo_batch *batch = s->e.batch;
    const struct ergo_device *device = s->e.device;
    struct ergo_plan *plan = &s->e.plan;
    const bool gpu = device->type != CL_DEVICE_TYPE_CPU;
    if (!s->cut)
        s->shape = s->whole = bytes_shape_of(batch->points[0]);
    s->launch = (struct bytes_launch){.to = (uint32_t)(s->shape.l[1] * s->shape.l[2])};
    s->members =
        ergo_engine_table(&s->e, BYTES_MEMBERS, "members", batch->count, sizeof *s->members);
    s->physics = ergo_engine_memory(&s->e, batch->count, sizeof *s->physics);
    s->units = ergo_engine_memory(&s->e, batch->count, sizeof *s->units);
    s->wave = ergo_engine_memory(&s->e, bytes_layers(&s->whole), 2 * sizeof *s->wave);
    if (ergo_engine_end(&s->e) != ERGO_OK)
        return ergo_engine_end(&s->e);
    bytes_wave(&s->whole, s->wave);
    bytes_fill(s);
    enum ergo_status status = choose_launch(ctx, s);
    if (status != ERGO_OK)
        return status;

    const struct bytes_shape *h = &s->shape;
    struct bytes_launch *l = &s->launch;
    const unsigned units = device->summary.compute_units ? device->summary.compute_units : 1;
    const double members = (double)batch->count;
    ergo_engine_rates(&s->e, (double)h->sites * members, 2, 2e11, 1e8);
    plan->work_per_step = (double)s->whole.sites * members;
    if (l->local && gpu)
        plan->block_steps = fmax(1, floor(0.1 / seconds_local(h, members, units, l->ahead > 0)));
    if (l->local)
        plan->launches_per_step =
            (l->ahead ? 2.0 : 1.0) / (double)ergo_plan_launch(plan, l->launch_sweeps);
    plan->host_bytes =
        (h->general ? 6 + 12 * (uint64_t)h->fields + (h->bonds ? 20 * h->d : 0) : 2) * h->sites +
        batch->count * (2 * h->colour + 4 * bytes_terms_length(h));
    describe(s, plan);
    if (s->launch.curve_length)
        s->e.curve_interval = (uint64_t)model_correlation_every(batch->points[0]);
    declare(s);
    return ERGO_OK;
}
