/* The context and its errors. One message per failure, collected; `goto out` in the callers. */
#ifndef ERGO_BASE_ERROR_H
#define ERGO_BASE_ERROR_H

#include <assert.h>

#include "ergocl/ergocl.h"

#if defined(__GNUC__)
#define ERGO_PRINTF(at, first) __attribute__((format(printf, at, first)))
#else
#define ERGO_PRINTF(at, first)
#endif

/* Record a failure and return `status`. `cl_code`: an OpenCL error (shown by name), 0 for none.
 * The message says what was attempted, on what, what failed, and what to do. */
enum ergo_status ergo_error_raise(struct ergo_context *ctx, enum ergo_status status, int cl_code,
                                  const char *file, int line, const char *format, ...)
    ERGO_PRINTF(6, 7);

/* A failure is not ERGO_OK: said in the header, where callers and the static analyser see it. */
static inline enum ergo_status ergo_error_raised(enum ergo_status status) {
    assert(status != ERGO_OK);
    return status;
}

#define ERGO_FAIL(ctx, status, ...)                                                                \
    ergo_error_raised(ergo_error_raise((ctx), (status), 0, __FILE__, __LINE__, __VA_ARGS__))
#define ERGO_FAIL_CL(ctx, cl_code, ...)                                                            \
    ergo_error_raised(                                                                             \
        ergo_error_raise((ctx), ERGO_E_DEVICE, (cl_code), __FILE__, __LINE__, __VA_ARGS__))

/* Status of the first failure since the last clear. */
enum ergo_status ergo_error_status(const struct ergo_context *ctx);
/* "CL_OUT_OF_RESOURCES" for -5; "unknown OpenCL error" otherwise. */
const char *ergo_error_cl_name(int cl_code);

void ergo_log(struct ergo_context *ctx, enum ergo_log_level level, const char *format, ...)
    ERGO_PRINTF(3, 4);

double ergo_clock(void); /* monotonic seconds */

#endif
