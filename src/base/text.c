#include "base/text.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/parallel.h"

static bool text_reserve(struct ergo_text *text, size_t extra) {
    if (text->failed)
        return false;
    size_t need = text->length + extra + 1;
    if (need <= text->capacity)
        return true;
    size_t capacity = text->capacity ? text->capacity : 256;
    while (capacity < need)
        capacity *= 2;
    char *data = realloc(text->data, capacity);
    if (!data) {
        text->failed = true;
        return false;
    }
    text->data = data;
    text->capacity = capacity;
    return true;
}

void ergo_text_append_va(struct ergo_text *text, const char *format, va_list args) {
    va_list again;
    va_copy(again, args);
    int length = vsnprintf(NULL, 0, format, args);
    text->failed |= length < 0;
    if (length >= 0 && text_reserve(text, (size_t)length)) {
        vsnprintf(text->data + text->length, (size_t)length + 1, format, again);
        text->length += (size_t)length;
    }
    va_end(again);
}

void ergo_text_append(struct ergo_text *text, const char *format, ...) {
    va_list args;
    va_start(args, format);
    ergo_text_append_va(text, format, args);
    va_end(args);
}

void ergo_text_append_number(struct ergo_text *text, double value) {
    char number[32] = "null";
    for (int digits = 15; isfinite(value) && digits <= 17; digits++) {
        snprintf(number, sizeof number, "%.*g", digits, value);
        if (strtod(number, NULL) == value)
            break;
    }
    ergo_text_append_bytes(text, number, strlen(number));
}

void ergo_text_append_cell(struct ergo_text *text, const char *cell) {
    const char *quote = cell[strcspn(cell, ",\"\r\n")] ? "\"" : "";
    ergo_text_append(text, "%s", quote);
    for (; *cell; cell++)
        ergo_text_append(text, "%s%c", *cell == '"' ? "\"" : "", *cell);
    ergo_text_append(text, "%s", quote);
}

void ergo_text_append_cell_number(struct ergo_text *text, double value) {
    ergo_text_append(text, ",");
    if (isfinite(value))
        ergo_text_append_number(text, value);
}

bool ergo_text_real(const char *word, size_t length, double *value) {
    char copy[64], *stop = NULL;
    if (length == 0 || length >= sizeof copy)
        return false;
    memcpy(copy, word, length);
    copy[length] = '\0';
    *value = strtod(copy, &stop);
    return stop == copy + length;
}

size_t ergo_text_plain(char *text, size_t length) {
    char *to = text;
    if (memchr(text, 0, length))
        return length;
    for (const char *at = text + (strncmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0); *at; at++)
        if (*at != '\r' || at[1] != '\n')
            *to++ = *at == '\r' ? '\n' : *at;
    *to = '\0';
    return (size_t)(to - text);
}

void *ergo_text_extend(struct ergo_text *text, size_t length) {
    if (!text_reserve(text, length))
        return NULL;
    void *at = text->data + text->length;
    text->length += length;
    text->data[text->length] = '\0';
    return at;
}

void ergo_text_append_bytes(struct ergo_text *text, const void *bytes, size_t length) {
    void *to = ergo_text_extend(text, length);
    if (to && length)
        memcpy(to, bytes, length);
}

/* Pieces of rows, of which as many at a time as keep the cores busy: the second copy of a text of
 * gigabytes is small. */
enum { PIECE_ROWS = 4096, PIECES = 256 };

struct rows {
    struct ergo_text pieces[PIECES];
    size_t begin, end; /* rows of these pieces */
    void (*append)(struct ergo_text *text, size_t row, const void *user);
    const void *user;
};

static void append_piece(size_t i, void *user) {
    struct rows *rows = user;
    const size_t begin = rows->begin + i * PIECE_ROWS, rest = rows->end - begin;
    for (size_t row = begin; row < begin + (rest < PIECE_ROWS ? rest : PIECE_ROWS); row++)
        rows->append(&rows->pieces[i], row, rows->user);
}

void ergo_text_append_rows(struct ergo_text *text, size_t n,
                           void (*append)(struct ergo_text *text, size_t row, const void *user),
                           const void *user) {
    const size_t most = (size_t)PIECE_ROWS * PIECES;
    for (size_t begin = 0; begin < n; begin += most) {
        struct rows rows = {.begin = begin,
                            .end = n - begin < most ? n : begin + most,
                            .append = append,
                            .user = user};
        const size_t pieces = (rows.end - begin + PIECE_ROWS - 1) / PIECE_ROWS;
        ergo_parallel(pieces, pieces, append_piece, &rows);
        for (size_t i = 0; i < pieces; i++) {
            text->failed |= rows.pieces[i].failed;
            ergo_text_append_bytes(text, rows.pieces[i].data, rows.pieces[i].length);
            ergo_text_free(&rows.pieces[i]);
        }
    }
}

char *ergo_text_take(struct ergo_text *text) {
    if (!text->data)
        ergo_text_append(text, "%s", "");
    char *data = text->failed ? NULL : text->data;
    if (text->failed)
        free(text->data);
    memset(text, 0, sizeof *text);
    return data;
}

void ergo_text_free(struct ergo_text *text) {
    free(text->data);
    memset(text, 0, sizeof *text);
}

/* Optimal string alignment; words longer than the table are cut, which only blunts suggestions. */
size_t ergo_text_distance(const char *a, const char *b) {
    enum { LONGEST = 64 };
    size_t d[LONGEST + 1][LONGEST + 1];
    size_t n = strlen(a), m = strlen(b);
    n = n > LONGEST ? LONGEST : n;
    m = m > LONGEST ? LONGEST : m;
    for (size_t i = 0; i <= n; i++)
        d[i][0] = i;
    for (size_t j = 0; j <= m; j++)
        d[0][j] = j;
    for (size_t i = 1; i <= n; i++) {
        for (size_t j = 1; j <= m; j++) {
            size_t cost = tolower((unsigned char)a[i - 1]) != tolower((unsigned char)b[j - 1]);
            size_t best = d[i - 1][j - 1] + cost;
            if (d[i - 1][j] + 1 < best)
                best = d[i - 1][j] + 1;
            if (d[i][j - 1] + 1 < best)
                best = d[i][j - 1] + 1;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
                d[i - 2][j - 2] + 1 < best)
                best = d[i - 2][j - 2] + 1;
            d[i][j] = best;
        }
    }
    return d[n][m];
}

const char *ergo_text_nearest(const char *word, const char *const *names, size_t count) {
    const char *nearest = NULL;
    size_t best = strlen(word) / 3 + 2; /* a larger distance is no misspelling */
    for (size_t i = 0; i < count; i++) {
        if (!names[i])
            continue;
        size_t distance = ergo_text_distance(word, names[i]);
        if (distance < best) {
            best = distance;
            nearest = names[i];
        }
    }
    return nearest;
}
