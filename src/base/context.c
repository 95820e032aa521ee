/* The context: collected errors and the log. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/entry.h"
#include "base/error.h"
#include "base/utf8.h"

struct ergo_context {
    struct ergo_text errors;
    char last[256];          /* holds a message when memory ran out */
    enum ergo_status status; /* of the first failure */
    enum ergo_log_level level;
    ergo_log_function log;
    void *log_user;
};

struct ergo_context *ergo_context_create(void) {
    struct ergo_context *ctx = calloc(1, sizeof *ctx);
    if (ctx)
        ctx->level = ERGO_LOG_WARNING;
    return ctx;
}

void ergo_context_destroy(struct ergo_context *ctx) {
    if (!ctx)
        return;
    ergo_text_free(&ctx->errors);
    free(ctx);
}

void ergo_context_set_log(struct ergo_context *ctx, enum ergo_log_level level,
                          ergo_log_function log, void *user) {
    if (!ctx)
        return;
    ctx->level = level;
    ctx->log = log;
    ctx->log_user = user;
}

const char *ergo_error_message(const struct ergo_context *ctx) {
    if (!ctx)
        return "";
    return ctx->errors.data ? ctx->errors.data : ctx->last;
}

enum ergo_status ergo_error_status(const struct ergo_context *ctx) {
    return ctx->status;
}

void ergo_error_clear(struct ergo_context *ctx) {
    if (!ctx)
        return;
    ergo_text_free(&ctx->errors);
    ctx->last[0] = '\0';
    ctx->status = ERGO_OK;
}

enum ergo_status ergo_error_raise(struct ergo_context *ctx, enum ergo_status status,
                                  const char *cause, const char *file, int line, const char *format,
                                  ...) {
    char stack[1024];
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int length = vsnprintf(stack, sizeof stack, format, args);
    va_end(args);
    char *message = stack;
    if (length >= (int)sizeof stack) { /* build logs are long */
        message = malloc((size_t)length + 1);
        if (message)
            vsnprintf(message, (size_t)length + 1, format, again);
        else
            message = stack;
    }
    va_end(again);
    /* Nobody is told of a piece of work that is done again to say what failed; nor of what is
     * missing or wrong because there was no memory for it. */
    const bool wrong = status == ERGO_E_JOB || status == ERGO_E_IO || status == ERGO_E_DEVICE;
    if (!ctx || (wrong && ctx->status == ERGO_E_MEMORY && ergo_memory_failed())) {
        if (message != stack)
            free(message);
        return status;
    }

    if (ctx->status == ERGO_OK)
        ctx->status = status;
    if (ctx->errors.length)
        ergo_text_append(&ctx->errors, "\n");
    ergo_utf8_append_shown(&ctx->errors, message);
    if (cause)
        ergo_text_append(&ctx->errors, " [%s]", cause);
    /* A source position helps who looks for a failure of ours or the driver's, and asked for more
     * than warnings; nobody with a typo in a job. */
    if (ctx->level >= ERGO_LOG_INFO && status != ERGO_E_JOB && status != ERGO_STOPPED) {
        const char *base = strstr(file, "src/");
        ergo_text_append(&ctx->errors, " (%s:%d)", base ? base : file, line);
    }
    if (!ctx->errors.data)
        ergo_message_show(ctx->last, sizeof ctx->last, message);
    if (message != stack)
        free(message);
    return status;
}

enum ergo_status ergo_error_at(struct ergo_context *ctx, enum ergo_status status,
                               const char *where) {
    if (status == ERGO_OK || !ctx || !ctx->errors.data)
        return status;
    char *before = strrchr(ctx->errors.data, '\n'),
         *latest = before ? before + 1 : ctx->errors.data;
    const size_t length = strlen(where);
    char *message =
        strncmp(latest, where, length) != 0 || latest[length] != ':' ? strdup(latest) : NULL;
    if (!message)
        return status;
    ctx->errors.length = (size_t)(latest - ctx->errors.data);
    ergo_text_append(&ctx->errors, "%s: %s", where, message);
    free(message);
    return status;
}

void ergo_log(struct ergo_context *ctx, enum ergo_log_level level, const char *format, ...) {
    if (level > ctx->level)
        return;
    char said[2048], message[2048];
    va_list args;
    va_start(args, format);
    vsnprintf(said, sizeof said, format, args);
    va_end(args);
    ergo_message_show(message, sizeof message, said);
    if (ctx->log) {
        const unsigned depth = ergo_entry_lend();
        ctx->log(ctx->log_user, level, message);
        ergo_entry_take_back(depth);
    } else {
        fprintf(stderr, "ergocl: %s\n", message);
    }
}

int ergo_status_exit_code(enum ergo_status status) {
    switch (status) {
    case ERGO_OK:
        return 0;
    case ERGO_E_JOB:
        return 2;
    case ERGO_E_DEVICE:
    case ERGO_E_MEMORY:
        return 3;
    case ERGO_E_IO:
        return 4;
    case ERGO_E_AUDIT:
        return 5;
    case ERGO_STOPPED:
        return 75;
    case ERGO_E_INTERNAL:
        break;
    }
    return 70;
}

double ergo_clock(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void ergo_log_forward(void *user, enum ergo_log_level level, const char *message) {
    ergo_log(user, level, "%s", message);
}
