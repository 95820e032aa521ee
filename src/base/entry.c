#include "base/entry.h"

#include <locale.h>
#include <pthread.h>
#include <string.h>

static locale_t c_locale;
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* per thread */
static _Thread_local unsigned depth;       /* public functions that the thread is in */
static _Thread_local bool failed_before;   /* an allocation, outside of them */
static _Thread_local locale_t host_locale; /* the program's locale; known if depth > 0 */

static void make_locale(void) {
    c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0); /* never freed */
}

void ergo_entry_clear(void *output, size_t size) {
    if (output)
        memset(output, 0, size);
}

struct ergo_entry ergo_entry_enter(void) {
    const struct ergo_entry entry = {pthread_once(&once, make_locale) == 0 &&
                                     c_locale != (locale_t)0};
    if (depth++ == 0) {
        host_locale = uselocale(c_locale); /* without one it only asks */
        failed_before = ergo_memory_failed();
        ergo_memory_set_failed(false);
    }
    return entry;
}

void ergo_entry_leave(const struct ergo_entry *entry) {
    (void)entry;
    if (--depth > 0)
        return;
    uselocale(host_locale);
    ergo_memory_set_failed(ergo_memory_failed() || failed_before);
}

unsigned ergo_entry_lend(void) {
    const unsigned before = depth;
    if (before)
        uselocale(host_locale);
    depth = 0;
    return before;
}

void ergo_entry_take_back(unsigned before) {
    if (before)
        host_locale = uselocale(c_locale);
    depth = before;
}

enum ergo_status ergo_entry_check(struct ergo_context *ctx, struct ergo_entry entry,
                                  const char *function, const char *names,
                                  const void *const *pointers, size_t count) {
    if (!ctx)
        return ERGO_E_JOB; /* no context for a message */
    if (!entry.ready)
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "%s: no memory for a locale", function);
    for (size_t i = 0; i < count; i++) {
        const size_t length = strcspn(names, ",");
        if (!pointers[i])
            return ERGO_FAIL(ctx, ERGO_E_JOB, "%s: %.*s is NULL", function, (int)length, names);
        names += length + strspn(names + length, ", ");
    }
    return ERGO_OK;
}

enum ergo_status ergo_entry_texts(struct ergo_context *ctx, const char *function, const char *name,
                                  const char *const *texts, size_t count) {
    if (count && !texts)
        return ERGO_FAIL(ctx, ERGO_E_JOB, "%s: %s is NULL", function, name);
    for (size_t i = 0; i < count; i++)
        if (!texts[i])
            return ERGO_FAIL(ctx, ERGO_E_JOB, "%s: %s[%zu] is NULL", function, name, i);
    return ERGO_OK;
}
