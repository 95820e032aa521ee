#include "job/arena.h"
#include "base/memory.h"

#include <stdalign.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct ergo_arena_chunk {
    struct ergo_arena_chunk *next;
    size_t used, size;
    alignas(max_align_t) unsigned char bytes[];
};

enum { CHUNK_BYTES = 16384 };

void *ergo_arena_alloc(struct ergo_arena *arena, size_t count, size_t size) {
    const size_t align = alignof(max_align_t);
    if (size && count > (SIZE_MAX / 2 - sizeof(struct ergo_arena_chunk)) / size)
        return NULL;
    size_t need = (count * size + align - 1) / align * align;
    struct ergo_arena_chunk *chunk = arena->chunks;
    if (!chunk || chunk->size - chunk->used < need) {
        /* calloc gives fresh pages for a large block, so zeroing costs nothing */
        size_t room = need > CHUNK_BYTES ? need : CHUNK_BYTES;
        chunk = calloc(1, sizeof *chunk + room);
        if (!chunk) {
            arena->failed = true;
            return NULL;
        }
        chunk->size = room;
        if (need > CHUNK_BYTES && arena->chunks) { /* a large block goes behind the chunk in use,
                                                    * which is filled further */
            chunk->next = arena->chunks->next;
            arena->chunks->next = chunk;
        } else {
            chunk->next = arena->chunks;
            arena->chunks = chunk;
        }
    }
    void *memory = chunk->bytes + chunk->used;
    chunk->used += need;
    return memory;
}

char *ergo_arena_copy(struct ergo_arena *arena, const char *bytes, size_t length) {
    char *copy = ergo_arena_alloc(arena, length + 1, 1);
    if (copy && length)
        memcpy(copy, bytes, length);
    return copy;
}

void ergo_arena_free(struct ergo_arena *arena) {
    while (arena->chunks) {
        struct ergo_arena_chunk *next = arena->chunks->next;
        free(arena->chunks);
        arena->chunks = next;
    }
}
