/*
 * The entry to every public function that can fail. It checks that pointers are not NULL, and sets
 * the "C" locale, so that numbers have decimal points until the function returns, whatever the
 * locale of the calling program. No other code asks for a locale. Pieces of work that print numbers
 * (ergo_parallel) ask for it once more.
 */
#ifndef ERGO_BASE_ENTRY_H
#define ERGO_BASE_ENTRY_H

#include "base/error.h"

/* The locale of the calling thread is "C" from here on, to any return from the block. */
#define ERGO_C_LOCALE                                                                              \
    const struct ergo_entry ergo_entry __attribute__((cleanup(ergo_entry_leave), unused)) =        \
        ergo_entry_enter()

/* Comes before it, for the pointer through which a function returns its result, or NULL. */
#define ERGO_CLEAR(output) ergo_entry_clear((output), sizeof *(output))

/* The first statement of a public function. After ctx: the pointers that must not be NULL. If one
 * is, the function returns ERGO_E_JOB with a message that names it. */
#define ERGO_ENTRY(ctx, ...)                                                                       \
    ERGO_C_LOCALE;                                                                                 \
    const enum ergo_status ergo_refused = ergo_entry_check(                                        \
        (ctx), ergo_entry, __func__, #__VA_ARGS__, (const void *const[]){__VA_ARGS__},             \
        sizeof((const void *const[]){__VA_ARGS__}) / sizeof(void *));                              \
    if (ergo_refused != ERGO_OK)                                                                   \
    return ergo_refused

struct ergo_entry {
    bool ready; /* false: no memory for a locale */
};
void ergo_entry_clear(void *output, size_t size);
struct ergo_entry ergo_entry_enter(void);
void ergo_entry_leave(const struct ergo_entry *entry);
enum ergo_status ergo_entry_check(struct ergo_context *ctx, struct ergo_entry entry,
                                  const char *function, const char *names,
                                  const void *const *pointers, size_t count);
/* ERGO_E_JOB where one of `count` texts is NULL, or the list itself. */
enum ergo_status ergo_entry_texts(struct ergo_context *ctx, const char *function, const char *name,
                                  const char *const *texts, size_t count);

/* Around calls into the user's program (progress, log): there it has its own locale, may change it,
 * and may call public functions. */
unsigned ergo_entry_lend(void);
void ergo_entry_take_back(unsigned depth);

#endif
