/* A growing text, and small string helpers. */
#ifndef ERGO_BASE_TEXT_H
#define ERGO_BASE_TEXT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* Zero-initialise. `failed` is set when memory ran out; further appends do nothing. */
struct ergo_text {
    char *data;
    size_t length, capacity;
    bool failed;
};

void ergo_text_append(struct ergo_text *text, const char *format, ...) ERGO_PRINTF(2, 3);
void ergo_text_append_va(struct ergo_text *text, const char *format, va_list args);
/* The shortest decimal that reads back as the same double; "null" for NaN and infinities. */
void ergo_text_append_number(struct ergo_text *text, double value);
/* A cell of CSV (RFC 4180), in quotes where it needs them; and a comma with a number, or with
 * nothing where it is not finite. */
void ergo_text_append_cell(struct ergo_text *text, const char *cell);
void ergo_text_append_cell_number(struct ergo_text *text, double value);
void ergo_text_append_bytes(struct ergo_text *text, const void *bytes, size_t length);
/* Appends so many bytes, which the caller sets before it appends more; NULL: no memory. */
void *ergo_text_extend(struct ergo_text *text, size_t length);
/* Appends the rows 0 .. n - 1, each as `append` makes it, by all cores: their texts are put
 * together in order. `append` must not use a context. */
void ergo_text_append_rows(struct ergo_text *text, size_t n,
                           void (*append)(struct ergo_text *text, size_t row, const void *user),
                           const void *user);
/* Hand the text over (never NULL unless memory ran out) and reset. */
char *ergo_text_take(struct ergo_text *text);
void ergo_text_free(struct ergo_text *text);

/* The number that a word of a text is, from its first to its last character, of which there are at
 * most 63; also inf and nan. False: it is none. */
bool ergo_text_real(const char *word, size_t length, double *value);
/* Of a text of other programs, which ends with a zero: takes a byte order mark away, and ends lines
 * with \n that end with \r\n or \r. What is no text stays as it is. Returns the length. */
size_t ergo_text_plain(char *text, size_t length);

/* Levenshtein distance with transpositions; for "did you mean". */
size_t ergo_text_distance(const char *a, const char *b);
/* Three texts for %s%s%s: a question after what was wrong, or nothing. */
#define ERGO_MEANT(near)                                                                           \
    (near) ? "; did you mean \"" : "", (near) ? (near) : "", (near) ? "\"?" : ""
/* Nearest of `names` (NULL entries skipped), or NULL when nothing is near enough to suggest. */
const char *ergo_text_nearest(const char *word, const char *const *names, size_t count);

/* hash.c: SHA-256. out: 32 bytes. */
void ergo_sha256(const void *data, size_t length, uint8_t out[32]);
/* First 8 bytes of the SHA-256, big-endian. */
uint64_t ergo_hash64(const void *data, size_t length);

#endif
