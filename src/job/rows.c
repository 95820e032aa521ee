#include "job/rows.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/text.h"

static bool blank(char c) {
    return c == ' ' || c == '\t' || c == '\r' || c == ',';
}

/* Read the next number of a line. false: there is none, or it is not a number. */
static bool next_number(const char **at, const char *end, double *value) {
    while (*at < end && blank(**at))
        ++*at;
    const char *word = *at;
    while (*at < end && !blank(**at) && **at != '#')
        ++*at;
    return ergo_text_real(word, (size_t)(*at - word), value);
}

static bool nothing_left(const char *at, const char *end) {
    while (at < end && blank(*at))
        at++;
    return at == end || *at == '#';
}

size_t ergo_rows_most(const char *text, size_t length) {
    size_t lines = 1;
    for (size_t i = 0; i < length; i++)
        lines += text[i] == '\n';
    return lines;
}

enum ergo_status ergo_rows_parse(struct ergo_context *ctx, const char *name, const char *text,
                                 size_t length, const char *const what[2], double above, double *x,
                                 double *f, size_t *n) {
    const char *end = text + length, *next = text;
    *n = 0;
    for (size_t line = 1; next < end; line++) {
        const char *at = next, *stop = memchr(at, '\n', (size_t)(end - at));
        double r = 0, value = 0;
        stop = stop ? stop : end;
        next = stop < end ? stop + 1 : end;
        if (nothing_left(at, stop))
            continue;
        if (!next_number(&at, stop, &r) || !next_number(&at, stop, &value) ||
            !nothing_left(at, stop))
            return ERGO_FAIL(ctx, ERGO_E_IO,
                             "%s, line %zu: expected two numbers, %s; comments begin with #", name,
                             line, what[0]);
        if (!isfinite(r) || !isfinite(value) || r <= above)
            return ERGO_FAIL(ctx, ERGO_E_IO,
                             "%s, line %zu: %ss have to be %s and all numbers finite", name, line,
                             what[1], isfinite(above) ? "positive" : "numbers");
        if (*n && r <= x[*n - 1])
            return ERGO_FAIL(ctx, ERGO_E_IO,
                             "%s, line %zu: the %s does not follow the one before it: %ss have to "
                             "grow",
                             name, line, what[1], what[1]);
        x[*n] = r;
        f[(*n)++] = value;
    }
    return ERGO_OK;
}
