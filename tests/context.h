/* A context for all tests of a program. Included last: headers have arguments of its name. */
#ifndef ERGO_TESTS_CONTEXT_H
#define ERGO_TESTS_CONTEXT_H

#include "base/error.h"

static struct ergo_context *ctx;

static inline int context_open(void **state) {
    (void)state;
    ctx = ergo_context_create();
    return ctx ? 0 : -1;
}

static inline int context_close(void **state) {
    (void)state;
    ergo_context_destroy(ctx);
    return 0;
}

#endif
