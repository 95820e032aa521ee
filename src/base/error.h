/* The context and its errors. One message per failure, collected; `goto out` in the callers. */
#ifndef ERGO_BASE_ERROR_H
#define ERGO_BASE_ERROR_H

#include <assert.h>

#include "base/memory.h"
#include "ergocl/ergocl.h"

#if defined(__GNUC__)
#define ERGO_PRINTF(at, first) __attribute__((format(printf, at, first)))
#else
#define ERGO_PRINTF(at, first)
#endif

/* Record a failure and return `status`. `cause`: a library's name for it, NULL for none.
 * The message says what was attempted, on what, what failed, and what to do. */
enum ergo_status ergo_error_raise(struct ergo_context *ctx, enum ergo_status status,
                                  const char *cause, const char *file, int line, const char *format,
                                  ...) ERGO_PRINTF(6, 7);

/* Returns a status that is not ERGO_OK; inline, so that callers and the static analyser see that.
 */
static inline enum ergo_status ergo_error_raised(enum ergo_status status) {
    assert(status != ERGO_OK);
    return status;
}

#define ERGO_FAIL(ctx, status, ...)                                                                \
    ergo_error_raised(ergo_error_raise((ctx), (status), NULL, __FILE__, __LINE__, __VA_ARGS__))

/* Puts "WHERE: " before the latest message, unless it begins so: what failed below did not know
 * whose file it read. Returns `status`; ERGO_OK: nothing is done. */
enum ergo_status ergo_error_at(struct ergo_context *ctx, enum ergo_status status,
                               const char *where);

/* Status of the first failure since the last clear. */
enum ergo_status ergo_error_status(const struct ergo_context *ctx);

void ergo_log(struct ergo_context *ctx, enum ergo_log_level level, const char *format, ...)
    ERGO_PRINTF(3, 4);
/* A log function (ergo_context_set_log) that hands on to the context `user`. */
void ergo_log_forward(void *user, enum ergo_log_level level, const char *message);

double ergo_clock(void); /* monotonic seconds */

#endif
