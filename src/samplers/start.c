#include "samplers/sampler.h"

enum ergo_status ergo_sampler_start(struct ergo_context *ctx, const struct ergo_sampler_ops *ops,
                                    void *state) {
    bool done = ops->start == NULL;
    enum ergo_status status = ops->init(ctx, state);
    while (!done && status == ERGO_OK)
        status = ops->start(ctx, state, &done);
    return status;
}
