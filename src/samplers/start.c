/* Defaults for functions that a model leaves out, and a start in one go. */
#include "samplers/sampler.h"

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

enum ergo_status ergo_sampler_start(struct ergo_context *ctx, const struct ergo_sampler_ops *ops,
                                    void *state) {
    bool done = false;
    enum ergo_status status = ops->init(ctx, state);
    while (!done && status == ERGO_OK)
        status = ergo_sampler_start_piece(ctx, ops, state, &done);
    return status;
}
