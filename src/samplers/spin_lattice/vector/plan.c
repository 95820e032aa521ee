/* Spins that are unit vectors: kernels and launch sizes. They change the speed and never the
 * chain. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "samplers/spin_lattice/models.h"
#include "samplers/spin_lattice/vector/parameters.h"
#include "samplers/spin_lattice/vector/vector.h"

static void declare(struct vector_state *s) {
    static const char *const path = "spin_lattice/vector.cl";
    struct ergo_engine *e = &s->e;
    const struct vector_shape *h = &s->shape;
    const uint64_t members = e->batch->count;
    char options[340];
    ergo_engine_buffer(e, VECTOR_SPINS, "spins", ERGO_BUFFER_STATE,
                       4 * h->components * h->sites * members);
    ergo_engine_buffer(e, VECTOR_NUMBERS_OF_SITES, "couplings and fields", ERGO_BUFFER_CONSTANT,
                       4 * vector_terms_length(h) * members);
    ergo_engine_totals(e, VECTOR_COUNTS, 0, h->numbers, 0);
    ergo_engine_buffer(e, VECTOR_WAVES, "wave vectors", ERGO_BUFFER_CONSTANT,
                       s->waves.n * sizeof s->waves.k[0]);
    ergo_engine_sums(e, VECTOR_WAVE_COUNTS, "waves", ERGO_BUFFER_CURVES,
                     8 * VECTOR_WAVE_NUMBERS * members * s->waves.n);
    snprintf(
        options, sizeof options,
        "-DVECTOR_D=%u -DVECTOR_LX=%uu -DVECTOR_LY=%uu -DVECTOR_LZ=%uu -DVECTOR_TRIANGULAR=%d "
        "-DVECTOR_SPACE=%d -DVECTOR_Q=%uu -DVECTOR_HEAT=%d -DVECTOR_RANDOM=%d -DVECTOR_RUN=%uu "
        "-DVECTOR_COUPLED=%d",
        h->d, h->l[0], h->l[1], h->l[2], (int)h->triangular, (int)h->space, h->q, (int)h->heat_bath,
        h->stored ? 2 : (int)h->random, s->run, (int)h->coupled);
    const size_t length = strlen(options);
    if (s->cut)
        snprintf(options + length, sizeof options - length, " -DVECTOR_CUT -DVECTOR_ALL=%uu",
                 vector_layers(&s->whole));
    ergo_engine_kernel(e, VECTOR_START, path, options, "vector_start_all");
    ergo_engine_kernel(e, VECTOR_SWEEP, path, options, "vector_sweep");
    if (h->relax && s->wide > 1) {
        /* with a cache of 50 MiB: 3% faster at 200 MB, 3% slower at 1.6 GB (H100, H200) */
        const bool back = e->buffers[VECTOR_SPINS].bytes <= 1 << 28;
        char wide[sizeof options + 50];
        snprintf(wide, sizeof wide, "%s -DVECTOR_WIDE=%u -DVECTOR_BACK=%du", options, s->wide,
                 (int)back);
        ergo_engine_kernel(e, VECTOR_RELAX, "spin_lattice/vector_wide.cl", wide,
                           "vector_relax_wide");
    } else if (h->relax)
        ergo_engine_kernel(e, VECTOR_RELAX, path, options, "vector_relax");
    ergo_engine_kernel(e, VECTOR_MEASURE, path, options, "vector_measure");
    if (s->waves.n)
        ergo_engine_kernel(e, VECTOR_COUNT_WAVES, path, options, "vector_waves");
}

void vector_fill(void *state) {
    struct vector_state *s = state;
    const struct ergo_batch *batch = s->e.batch;
    const struct vector_shape *h = &s->shape;
    for (size_t i = 0; i < batch->count; i++) {
        vector_member_fill(batch->points[i], &s->members[i]);
        s->members[i].first = (uint32_t)(s->first / (h->sites / vector_layers(h)));
        s->physics[i] = vector_physics_of(batch->points[i]);
    }
}

/* Layers of a work-item that has `wide` sites in each: the more, the fewer spins are loaded twice,
 * but all units must stay busy. */
static uint32_t depth_of(const struct vector_shape *s, double members, bool gpu, uint32_t wide) {
    const double items = (double)s->sites * members / (s->colours * wide);
    uint32_t depth = 1;
    while (depth < (gpu && s->d == 2 ? 16 : 4) && 2 * depth <= vector_layers(s) &&
           items / (2 * depth) >= (gpu ? 0x1p20 : 0x1p10))
        depth *= 2;
    return depth;
}

/* Sites of a row that a work-item over-relaxes. */
static uint32_t wide_of(const struct vector_shape *s, double members, bool gpu,
                        const struct ergo_point *point) {
    if (!s->space || s->d != 3 || s->random || s->coupled)
        return 1;
    const int64_t wish = of_vector(point)->tile_sites;
    /* H200: two 97.6, four 95.5 updates/ns; PoCL: 17 and 27 updates/us */
    const uint32_t row = s->l[0] / s->colours, most = wish ? (uint32_t)wish : gpu ? 2 : 4;
    uint32_t wide = 1;
    while (2 * wide <= most && row % (2 * wide) == 0 &&
           (wish || !gpu || (double)s->sites * members / (s->colours * 2 * wide) >= 0x1p17))
        wide *= 2;
    return wide;
}

enum ergo_status vector_configure(struct ergo_context *ctx, void *state) {
    struct vector_state *s = state;
    const struct ergo_batch *batch = s->e.batch;
    const struct ergo_device *device = s->e.device;
    const struct ergo_device_summary *d = &device->summary;
    const struct ergo_point *first = batch->points[0];
    struct ergo_plan *plan = &s->e.plan;
    const bool gpu = device->type != CL_DEVICE_TYPE_CPU;
    const int64_t wish = first->parameters->work_group;
    const double units = d->compute_units ? d->compute_units : 1, members = (double)batch->count;
    const struct vector_shape *h = &s->shape;
    if (!s->cut)
        s->shape = s->whole = vector_shape_of(first);
    vector_waves_of(first, &s->waves);
    s->members =
        ergo_engine_table(&s->e, VECTOR_MEMBERS, "members", batch->count, sizeof *s->members);
    s->physics = ergo_engine_memory(&s->e, batch->count, sizeof *s->physics);
    if (ergo_engine_end(&s->e) != ERGO_OK)
        return ergo_engine_end(&s->e);
    vector_fill(s);
    ergo_engine_groups(&s->e, 256, 64);
    /* more of its registers are in use so; four sites: 5% faster on an H100 */
    s->wide_group = wish ? s->e.group : 128;
    const int64_t depth = of_lattice(first)->tile_rows;
    s->wide = h->relax ? wide_of(h, members, gpu, first) : 1;
    s->depth = depth ? (uint32_t)depth : depth_of(h, members, gpu, 1);
    s->relax_depth = depth ? (uint32_t)depth : depth_of(h, members, gpu, s->wide);
    s->from = 0;
    s->to = vector_layers(h);
    if (members * h->l[2] > 0x1p30 || members * h->numbers > 0x1p30 ||
        members * s->waves.n > 0x1p27)
        return ERGO_FAIL(ctx, ERGO_E_DEVICE,
                         "this batch has more planes or measured numbers than kernels can number: "
                         "use fewer replicas or scan points");
    /* a work-item of the measuring kernel has one iteration for a site, with 30 of inner loops */
    const double least =
        device->quirks.loop_limit
            ? 40.0 * (double)h->sites / (double)device->quirks.loop_limit / s->e.group + 1
            : 1;
    const uint64_t fill_groups = h->sites / s->e.group + 1;
    const double wanted = (gpu ? 16 : 4) * units / members + 1;
    s->measure_groups = (uint32_t)fmax(least, fmin((double)fill_groups, wanted));
    const uint64_t items = (uint64_t)s->measure_groups * s->e.group;
    s->run = gpu ? 1 : (uint32_t)((h->sites + items - 1) / items);

    ergo_engine_rates(&s->e, (1 + 0.5 * h->relax) * (double)h->sites * members,
                      h->colours * (1.0 + h->relax), 3e10, 1e7);
    plan->work_per_step = (double)s->whole.sites * members;
    /* a state that is loaded; couplings and fields as they are made and packed */
    plan->host_bytes =
        4 * h->components * h->sites * 2 + 4 * vector_terms_length(h) * (2 + batch->count);
    snprintf(plan->path, sizeof plan->path, h->space ? "vectors" : "angles");
    snprintf(plan->launch, sizeof plan->launch,
             "a launch for each of %u colours: spins of %u layers per work-item, work-groups of %u",
             h->colours, s->depth, s->e.group);
    if (s->waves.n)
        s->e.curve_interval = (uint64_t)model_correlation_every(first);
    declare(s);
    return ERGO_OK;
}
