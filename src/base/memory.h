/* What of memory this machine has. */
#ifndef ERGO_BASE_MEMORY_H
#define ERGO_BASE_MEMORY_H

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "ergocl/ergocl.h"

/* Bytes. Asked before malloc: Linux promises more memory than there is, and kills the process that
 * uses it. */
double ergo_memory(void);

/*
 * Allocations that fail are remembered by the thread, from the beginning of the outermost public
 * function that it is in (base/entry.h). What those in between make of a NULL ("there is none",
 * "too short") does not matter then: functions that answer a question ask at their end, once, and
 * the answer is that there was no memory. Pieces of work of ergo_parallel tell the thread that
 * waits.
 */
void *ergo_malloc(size_t size);
void *ergo_calloc(size_t n, size_t size);
void *ergo_realloc(void *old, size_t size);
char *ergo_strdup(const char *text);
char *ergo_strndup(const char *text, size_t length);
/* `what` a function of the system gave, which allocates: opendir, realpath. */
void *ergo_memory_got(void *what);
bool ergo_memory_failed(void);
void ergo_memory_set_failed(bool failed);
/* ERGO_E_MEMORY where an allocation failed, with a message in the place of those that began with
 * another reason; else `status`. */
enum ergo_status ergo_memory_told(struct ergo_context *ctx, enum ergo_status status);

#ifndef ERGO_MEMORY_PLAIN
#undef strdup
#undef strndup
#define malloc(size) ergo_malloc(size)
#define calloc(n, size) ergo_calloc(n, size)
#define realloc(old, size) ergo_realloc(old, size)
#define strdup(text) ergo_strdup(text)
#define strndup(text, length) ergo_strndup(text, length)
#endif

#endif
