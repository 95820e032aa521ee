/* Defaults for functions that a model leaves out, a start in one go, and observables from curves.
 */
#include "engine/slab.h"
#include "samplers/sampler.h"

/* What states have that a device has not: counts of times, and the configuration that others are
 * compared with. The host has it. */
static enum ergo_status add_tails(struct ergo_context *ctx, const struct ergo_batch *batch,
                                  struct ergo_plan *plan) {
    const struct ergo_model *model = batch->job->model;
    const uint64_t on_device = plan->state_bytes;
    enum ergo_status status = ERGO_OK;
    uint64_t saved = 0;
    for (size_t i = 0; model->state_tail && i < batch->count && status == ERGO_OK; i++) {
        struct ergo_form form;
        status = model->form(ctx, batch->points[i], &form);
        saved += status == ERGO_OK ? form.bytes : 0;
        plan->state_bytes += model->state_tail(batch->points[i]);
    }
    if (saved > plan->state_bytes)
        plan->state_bytes = saved;
    plan->host_bytes += plan->state_bytes - on_device;
    return status;
}

bool ergo_sampler_has_slabs(const struct ergo_sampler_ops *ops) {
    return ops->engine && ops->engine->slab;
}

enum ergo_status ergo_sampler_plan(struct ergo_context *ctx, const struct ergo_sampler_ops *ops,
                                   const struct ergo_batch *batch, const struct ergo_device *device,
                                   struct ergo_plan *plan) {
    const enum ergo_status status = ops->plan ? ops->plan(ctx, batch, device, plan)
                                    : ergo_sampler_has_slabs(ops)
                                        ? ergo_slab_plan(ctx, ops->engine, batch, device, plan)
                                        : ergo_engine_plan(ctx, ops->engine, batch, device, plan);
    return status == ERGO_OK ? add_tails(ctx, batch, plan) : status;
}

enum ergo_status ergo_sampler_planned(struct ergo_context *ctx, const struct ergo_sampler_ops *ops,
                                      const void *state, struct ergo_plan *plan) {
    const struct ergo_engine *e = state;
    if (ops->plan || ergo_sampler_has_slabs(ops))
        return ergo_sampler_plan(ctx, ops, e->batch, e->device, plan);
    *plan = e->plan;
    return add_tails(ctx, e->batch, plan);
}

enum ergo_status ergo_sampler_create(struct ergo_context *ctx, const struct ergo_sampler_ops *ops,
                                     const struct ergo_batch *batch, struct ergo_device *device,
                                     void **state) {
    return ops->create ? ops->create(ctx, batch, device, state)
           : ergo_sampler_has_slabs(ops)
               ? ergo_slab_create(ctx, ops->engine, batch, device, state)
               : ergo_engine_create(ctx, ops->engine, batch, device, state);
}

enum ergo_status ergo_sampler_advance(struct ergo_context *ctx, const struct ergo_sampler_ops *ops,
                                      void *state, unsigned slot, size_t count, uint64_t every,
                                      uint64_t first_sample) {
    return (ops->advance ? ops->advance : ergo_engine_advance)(ctx, state, slot, count, every,
                                                               first_sample);
}

enum ergo_status ergo_sampler_collect(struct ergo_context *ctx, const struct ergo_sampler_ops *ops,
                                      void *state, unsigned slot, struct ergo_samples *samples) {
    return (ops->collect ? ops->collect : ergo_engine_collect)(ctx, state, slot, samples);
}

enum ergo_status ergo_sampler_start_piece(struct ergo_context *ctx,
                                          const struct ergo_sampler_ops *ops, void *state,
                                          bool *done) {
    *done = ops->start == NULL;
    return *done ? ERGO_OK : ops->start(ctx, state, done);
}

enum ergo_status ergo_sampler_count(struct ergo_context *ctx, const struct ergo_sampler_ops *ops,
                                    void *state, size_t member, struct ergo_curve *curves) {
    return ops->count ? ops->count(ctx, state, member, curves) : ERGO_OK;
}

enum ergo_status ergo_sampler_end_curves(struct ergo_context *ctx,
                                         const struct ergo_sampler_ops *ops, void *state,
                                         size_t member, struct ergo_curve *curves) {
    return ops->end_curves ? ops->end_curves(ctx, state, member, curves) : ERGO_OK;
}

enum ergo_status ergo_sampler_carry(struct ergo_context *ctx, const struct ergo_sampler_ops *ops,
                                    void *state, size_t members,
                                    const struct ergo_carried *states) {
    enum ergo_status status = ops->carry ? ops->init(ctx, state) : ERGO_OK;
    for (size_t m = 0; m < members && status == ERGO_OK; m++)
        status = ops->carry ? ops->carry(ctx, state, m, states[m].bytes, states[m].length)
                            : ops->load(ctx, state, m, 0, states[m].bytes, states[m].length);
    return status;
}

double ergo_mean_ratio(const struct ergo_point *point, const double *m) {
    (void)point;
    return m[0] / m[1];
}

double ergo_mean_variance(const struct ergo_point *point, const double *m) {
    (void)point;
    return m[1] - m[0] * m[0];
}

double ergo_mean_width(const struct ergo_point *point, const double *m) {
    return sqrt(fmax(0, ergo_mean_variance(point, m)));
}

double ergo_curve_mean(const struct ergo_point *point, const double *mean, size_t size) {
    double sum = 0;
    (void)point;
    for (size_t i = 0; i < size; i++)
        sum += mean[i];
    return sum / (double)size;
}
