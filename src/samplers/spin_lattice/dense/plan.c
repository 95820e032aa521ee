/* Fully connected spin glasses: how a batch runs on a device. */
#include <math.h>
#include <stdio.h>

#include "samplers/spin_lattice/dense/dense.h"

size_t dense_padded(const struct dense_state *s) {
    return (size_t)8 * s->group * s->eights;
}

size_t dense_piles(const struct dense_state *s) {
    return s->e.batch->count * s->shape.samples;
}

size_t dense_chains(const struct dense_state *s) {
    return dense_piles(s) * s->shape.slots;
}

/* ---- plan ------------------------------------------------------------------------------------ */

enum {
    EIGHTS_GPU = 16, /* most vectors of a GPU's work-item: its registers */
    GROUP_GPU = 8    /* least work-items there: llvmpipe, which has eight in a vector, does not run
                      * fewer of these kernels right (22.3.6; audits find it) */
};

/* Iterations of the loops of a work-item in a sweep, if each spin flips. */
static double loops_of(const struct dense_state *s) {
    return ((double)s->shape.n + 1) * (2.0 * s->eights + 1) + s->eights;
}

static enum ergo_status choose_launch(struct ergo_context *ctx, struct dense_state *s) {
    const struct ergo_device *device = s->e.device;
    const struct ergo_device_summary *d = &device->summary;
    const int64_t wish = s->e.batch->points[0]->parameters->work_group;
    const double limit = (double)device->quirks.loop_limit;
    const uint32_t n = s->shape.n,
                   most = ergo_power_of_two_down(d->largest_group < 1024 ? d->largest_group : 1024);
    /* A group of one makes vectors of its loops. Where loops are limited it would be at the limit
     * soon. */
    const bool single = device->type == CL_DEVICE_TYPE_CPU && !device->quirks.loop_limit;
    const uint32_t least = single ? 1 : GROUP_GPU;
    uint32_t group = least;
    while (!single && group < most && 8 * group < n)
        group *= 2;
    if (wish)
        group = wish > most ? most : wish > least ? (uint32_t)wish : least;
    while (!single && group < most && 8 * EIGHTS_GPU * group < n)
        group *= 2;
    while (group > least && 8 * (group / 2) >= n) /* some would have no spins */
        group /= 2;
    s->group = group;
    s->eights = (n + 8 * group - 1) / (8 * group);
    s->launch_sweeps = 1024;
    if (!single && s->eights > EIGHTS_GPU)
        return ERGO_FAIL(ctx, ERGO_E_DEVICE,
                         "%s runs work-groups of up to %u, with %d spins for each work-item; "
                         "/system/n is %u",
                         d->name, most, 8 * EIGHTS_GPU, n);
    if (limit > 0 && loops_of(s) > limit)
        return ERGO_FAIL(ctx, ERGO_E_DEVICE,
                         "%s stops loops after %.0f iterations; a sweep of %u spins may need %.0f",
                         d->name, limit, n, loops_of(s));
    if (limit > 0)
        s->launch_sweeps = (uint64_t)fmax(1, floor(limit / loops_of(s)));
    return ERGO_OK;
}

static void declare(struct dense_state *s) {
    static const char *const path = "spin_lattice/dense.cl";
    struct ergo_engine *e = &s->e;
    const struct dense_shape *h = &s->shape;
    const size_t chains = dense_chains(s), members = e->batch->count, padded = dense_padded(s);
    const struct {
        enum dense_buffer row;
        const char *what;
        enum ergo_buffer_kind kind;
        size_t bytes;
    } buffers[] = {
        {DENSE_SPINS, "spins", ERGO_BUFFER_STATE, padded * chains},
        {DENSE_FIELDS, "local fields", ERGO_BUFFER_STATE, 4 * padded * chains},
        {DENSE_PLACES, "places", ERGO_BUFFER_STATE, 4 * chains},
        {DENSE_COUPLINGS, "couplings", ERGO_BUFFER_CONSTANT, 2 * padded * h->n * dense_piles(s)},
        {DENSE_KEYS, "keys", ERGO_BUFFER_CONSTANT, 8 * members},
        {DENSE_SCALES, "acceptance", ERGO_BUFFER_CONSTANT, 4 * members * h->rungs},
        {DENSE_SLOPES, "slopes", ERGO_BUFFER_CONSTANT, 4 * members * h->rungs},
        {DENSE_EXTERNAL, "fields", ERGO_BUFFER_CONSTANT, 4 * members},
        {DENSE_ENERGIES, "energies", ERGO_BUFFER_SCRATCH, 8 * chains},
        {DENSE_FLIPS, "flips", ERGO_BUFFER_STATE, 8 * chains},
        {DENSE_CAME, "walkers", ERGO_BUFFER_STATE, h->rungs > 1 ? 4 * chains : 0},
        {DENSE_ACCEPTED, "accepted exchanges", ERGO_BUFFER_STATE, h->rungs > 1 ? 8 * chains : 0},
        {DENSE_TRIPS, "round trips", ERGO_BUFFER_STATE,
         h->rungs > 1 ? 8 * dense_piles(s) * h->copies : 0},
        {DENSE_RECORDS, "samples", ERGO_BUFFER_SAMPLES, DENSE_RECORD_BYTES * chains},
    };
    char options[200];
    snprintf(options, sizeof options,
             "-DDENSE_N=%uu -DDENSE_GROUP=%uu -DDENSE_EIGHTS=%uu -DDENSE_HEAT=%d -DDENSE_RUNGS=%uu "
             "-DDENSE_COPIES=%uu",
             h->n, s->group, s->eights, h->heat, h->rungs, h->copies);
    for (size_t i = 0; i < sizeof buffers / sizeof buffers[0]; i++)
        ergo_engine_buffer(e, buffers[i].row, buffers[i].what, buffers[i].kind, buffers[i].bytes);
    ergo_engine_kernel(e, DENSE_START, path, options, "dense_start");
    ergo_engine_kernel(e, DENSE_FIELDS_OF, path, options, "dense_fields");
    ergo_engine_kernel(e, DENSE_SWEEP, path, options, "dense_sweep");
    ergo_engine_kernel(e, DENSE_MEASURE, path, options, "dense_measure");
    if (h->rungs > 1)
        ergo_engine_kernel(e, DENSE_SWAP, path, options, "dense_swap");
}

/* Trials per ns, roughly: only the length of blocks and launches depends on it. */
static double rate_of(const struct dense_state *s) {
    const struct ergo_device *d = s->e.device;
    const double flip = 0.2 * s->shape.n / 4; /* couplings of a trial, some at a time */
    return d->type == CL_DEVICE_TYPE_CPU ? 0.2 * d->summary.compute_units / (4 + flip)
                                         : 100 / (1 + flip / 8);
}

enum ergo_status dense_configure(struct ergo_context *ctx, void *state) {
    struct dense_state *s = state;
    struct ergo_plan *plan = &s->e.plan;
    s->shape = dense_shape_of(s->e.batch->points[0]);
    s->feedback = ergo_feedback_of(s->e.batch->points[0]);
    const struct dense_shape *h = &s->shape;
    const enum ergo_status status = choose_launch(ctx, s);
    if (status != ERGO_OK)
        return status;
    declare(s);
    const size_t chains = dense_chains(s), row = dense_row_length(h);
    s->e.curve_interval = 1; /* each sample carries the curves */
    plan->work_per_step = (double)h->n * (double)chains;
    plan->block_steps = fmax(1, floor(0.1e9 * rate_of(s) / plan->work_per_step));
    plan->launches_per_step = 1.0 / h->swap_every;
    /* couplings as they are drawn, a member's states to save and to audit, sums */
    plan->host_bytes += s->e.buffers[DENSE_COUPLINGS].bytes + 2 * s->e.buffers[DENSE_FIELDS].bytes +
                        16 * dense_piles(s) * row;
    snprintf(plan->path, sizeof plan->path, "rank one");
    snprintf(plan->launch, sizeof plan->launch,
             "%zu realisations, %u temperatures x %u copies, %u work-items a chain", dense_piles(s),
             h->rungs, h->copies, s->group);
    return ERGO_OK;
}
