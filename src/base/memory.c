#define ERGO_MEMORY_PLAIN
#include "base/memory.h"

#include <errno.h>

#include "base/error.h"

static _Thread_local bool failed;

static void *seen(void *memory, size_t size) {
    failed = failed || (!memory && size);
    return memory;
}

void *ergo_malloc(size_t size) {
    return seen(malloc(size), size);
}

void *ergo_calloc(size_t n, size_t size) {
    return seen(calloc(n, size), n * size);
}

void *ergo_realloc(void *old, size_t size) {
    return seen(realloc(old, size), size);
}

char *ergo_strdup(const char *text) {
    return seen(strdup(text), 1);
}

char *ergo_strndup(const char *text, size_t length) {
    return seen(strndup(text, length), 1);
}

void *ergo_memory_got(void *what) {
    return seen(what, errno == ENOMEM);
}

bool ergo_memory_failed(void) {
    return failed;
}

void ergo_memory_set_failed(bool now) {
    failed = now;
}

enum ergo_status ergo_memory_told(struct ergo_context *ctx, enum ergo_status status) {
    if (!failed || (status == ERGO_E_MEMORY && ctx && ergo_error_status(ctx) == status))
        return status;
    ergo_error_clear(ctx);
    return ERGO_FAIL(ctx, ERGO_E_MEMORY, "memory ran out");
}
