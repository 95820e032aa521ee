/* Memory that is freed all at once: everything a job owns lives in one of these. */
#ifndef ERGO_JOB_ARENA_H
#define ERGO_JOB_ARENA_H

#include <stdbool.h>
#include <stddef.h>

struct ergo_arena_chunk;

/* Zero-initialise. `failed` is set when memory ran out. */
struct ergo_arena {
    struct ergo_arena_chunk *chunks;
    bool failed;
};

/* Zeroed and aligned for any type; NULL when memory ran out. */
void *ergo_arena_alloc(struct ergo_arena *arena, size_t count, size_t size);
/* `length` bytes with a zero behind them. */
char *ergo_arena_copy(struct ergo_arena *arena, const char *bytes, size_t length);
void ergo_arena_free(struct ergo_arena *arena);

#endif
