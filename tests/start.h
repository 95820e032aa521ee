/* init and all of the start of a sampler's state, where nothing may stop it. */
#ifndef ERGO_TESTS_START_H
#define ERGO_TESTS_START_H

#include "samplers/sampler.h"

static inline enum ergo_status start_all(struct ergo_context *context,
                                         const struct ergo_sampler_ops *ops, void *state) {
    bool done = false;
    enum ergo_status status = ops->init(context, state);
    while (!done && status == ERGO_OK)
        status = ergo_sampler_start_piece(context, ops, state, &done);
    return status;
}

#endif
