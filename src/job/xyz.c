/* Reads extended XYZ files. */
#include "job/xyz.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/text.h"
#include "job/input.h"

#define FILE_MOST ((size_t)16 << 30)

struct reader {
    struct ergo_context *ctx;
    const char *name, *at, *end;
    size_t line;
};

/* The next line without its end, as [*from, *to); false at the end of the text. */
static bool next_line(struct reader *r, const char **from, const char **to) {
    if (r->at >= r->end)
        return false;
    const char *stop = memchr(r->at, '\n', (size_t)(r->end - r->at));
    *from = r->at;
    *to = stop ? stop : r->end;
    r->at = stop ? stop + 1 : r->end;
    if (*to > *from && (*to)[-1] == '\r')
        --*to;
    r->line++;
    return true;
}

static bool blank(char c) {
    return c == ' ' || c == '\t';
}

/* The next word of a line; false: there is none. */
static bool next_word(const char **at, const char *end, const char **word, size_t *length) {
    while (*at < end && blank(**at))
        ++*at;
    *word = *at;
    while (*at < end && !blank(**at))
        ++*at;
    *length = (size_t)(*at - *word);
    return *length > 0;
}

/* Fortran's double precision has D for the exponent. */
static bool read_real(const char *word, size_t length, double *value) {
    char copy[64];
    for (size_t i = 0; i < length && i < sizeof copy; i++)
        copy[i] = word[i] == 'D' || word[i] == 'd' ? 'e' : word[i];
    return length <= sizeof copy && ergo_text_real(copy, length, value) && isfinite(*value);
}

bool ergo_xyz_value(const char *from, const char *to, const char *key, const char **value,
                    size_t *length) {
    const size_t size = strlen(key);
    bool quoted = false;
    for (const char *at = from; at + size < to; at++) {
        quoted = *at == '"' ? !quoted : quoted;
        if (quoted || (at > from && !blank(at[-1])) || strncasecmp(at, key, size) != 0 ||
            at[size] != '=')
            continue;
        const char *start = at + size + 1;
        const bool quotes = start < to && *start == '"';
        start += quotes;
        const char *stop = start;
        while (stop < to && (quotes ? *stop != '"' : !blank(*stop)))
            stop++;
        *value = start;
        *length = (size_t)(stop - start);
        return true;
    }
    return false;
}

bool ergo_xyz_lattice(const char *from, const char *to, double lattice[9]) {
    const char *at, *word = NULL;
    size_t length, size = 0, n = 0;
    if (!ergo_xyz_value(from, to, "Lattice", &at, &length))
        return false;
    for (const char *end = at + length; next_word(&at, end, &word, &size); n++)
        if (n == 9 || !read_real(word, size, &lattice[n]))
            return false;
    return n == 9;
}

static const size_t no_column = SIZE_MAX;

/* Numbers of the words at which x, y, z begin, and of the species: Properties=name:type:columns:...
 */
static enum ergo_status find_columns(struct reader *r, const char *value, size_t length,
                                     size_t *column, size_t *species) {
    const char *at = value, *end = value + length;
    size_t before = 0;
    *column = *species = no_column;
    while (at < end) {
        const char *fields[3];
        size_t sizes[3];
        for (int i = 0; i < 3; i++) {
            fields[i] = at;
            while (at < end && *at != ':')
                at++;
            sizes[i] = (size_t)(at - fields[i]);
            at += at < end;
        }
        if (sizes[2] == 0 || sizes[2] > 3 || !isdigit((unsigned char)fields[2][0]))
            break;
        const size_t n = (size_t)strtoul(fields[2], NULL, 10);
        if (*column == no_column && sizes[0] == 3 && strncmp(fields[0], "pos", 3) == 0 && n == 3)
            *column = before;
        if (*species == no_column && sizes[0] == 7 && strncmp(fields[0], "species", 7) == 0)
            *species = before;
        before += n;
    }
    if (*column != no_column)
        return ERGO_OK;
    return ERGO_FAIL(r->ctx, ERGO_E_IO, "%s, line 2: Properties must name pos:R:3, the positions",
                     r->name);
}

static uint8_t species_of(struct ergo_xyz *frame, const char *word, size_t size) {
    const int length = size < ERGO_XYZ_NAME ? (int)size : ERGO_XYZ_NAME - 1;
    char name[ERGO_XYZ_NAME];
    snprintf(name, sizeof name, "%.*s", length, word);
    for (size_t k = 0; k < frame->n_species && k < ERGO_XYZ_SPECIES; k++)
        if (strcmp(frame->names[k], name) == 0)
            return (uint8_t)k;
    if (frame->n_species >= ERGO_XYZ_SPECIES) {
        frame->n_species = ERGO_XYZ_SPECIES + 1;
        return 0;
    }
    memcpy(frame->names[frame->n_species], name, sizeof name);
    return (uint8_t)frame->n_species++;
}

/* The columns are x, y, z and, or not, the species'. */
static enum ergo_status read_particles(struct reader *r, size_t column, size_t species,
                                       struct ergo_xyz *frame) {
    for (size_t i = 0; i < frame->n; i++) {
        const char *from = NULL, *to = NULL, *word = NULL;
        size_t size = 0;
        if (!next_line(r, &from, &to))
            return ERGO_FAIL(r->ctx, ERGO_E_IO, "%s ends after %zu of its particles", r->name, i);
        const char *name = "";
        size_t length = 0;
        for (size_t k = 0; k < column && next_word(&from, to, &word, &size); k++)
            if (k == species) {
                name = word;
                length = size;
            }
        for (size_t k = 0; k < 3; k++)
            if (!next_word(&from, to, &word, &size) ||
                !read_real(word, size, &frame->positions[3 * i + k]))
                return ERGO_FAIL(r->ctx, ERGO_E_IO,
                                 "%s, line %zu: expected three coordinates from column %zu on",
                                 r->name, r->line, column + 1);
        for (size_t k = column + 3; k <= species && species != no_column; k++)
            if (next_word(&from, to, &word, &size) && k == species) {
                name = word;
                length = size;
            }
        frame->species[i] = species_of(frame, name, length);
    }
    return ERGO_OK;
}

static enum ergo_status read_frame(struct reader *r, struct ergo_xyz *frame) {
    const char *from = NULL, *to = NULL, *word = NULL, *value = NULL;
    size_t size = 0, length = 0, column = 1, species = 0, k = 0;
    double count = 0;
    if (!next_line(r, &from, &to) || !next_word(&from, to, &word, &size) ||
        !read_real(word, size, &count) || count < 1 || count > 1e10 || count != floor(count) ||
        next_word(&from, to, &word, &size))
        return ERGO_FAIL(r->ctx, ERGO_E_IO,
                         "%s, line 1: expected the number of particles, and nothing else", r->name);
    if (!next_line(r, &from, &to))
        return ERGO_FAIL(r->ctx, ERGO_E_IO, "%s ends before its second line", r->name);
    frame->n = (size_t)count;
    frame->has_lattice = ergo_xyz_lattice(from, to, frame->lattice);
    if (!frame->has_lattice && ergo_xyz_value(from, to, "Lattice", &value, &length))
        return ERGO_FAIL(r->ctx, ERGO_E_IO,
                         "%s, line 2: Lattice must be nine numbers, three vectors", r->name);
    if (ergo_xyz_value(from, to, "pbc", &value, &length))
        for (const char *end = value + length, *at = value;
             k < 3 && next_word(&at, end, &word, &size); k++)
            frame->open[k] = *word == 'F' || *word == 'f' || *word == '0';
    if (ergo_xyz_value(from, to, "Properties", &value, &length)) {
        const enum ergo_status status = find_columns(r, value, length, &column, &species);
        if (status != ERGO_OK)
            return status;
    }
    /* a line has at least six bytes ("0 0 0" and its end): a wrong count must not exhaust the
     * memory */
    if (frame->n == 0 || frame->n > (size_t)(r->end - r->at + 1) / 6)
        return ERGO_FAIL(r->ctx, ERGO_E_IO, "%s is too short for its particles", r->name);
    frame->positions = malloc(frame->n * 3 * sizeof *frame->positions);
    frame->species = malloc(frame->n);
    if (!frame->positions || !frame->species)
        return ERGO_FAIL(r->ctx, ERGO_E_MEMORY, "no memory for the %zu particles of %s", frame->n,
                         r->name);
    return read_particles(r, column, species, frame);
}

enum ergo_status ergo_xyz_parse(struct ergo_context *ctx, const char *name, const char *text,
                                size_t length, struct ergo_xyz *frame) {
    struct reader r = {ctx, name, text, text + length, 0};
    *frame = (struct ergo_xyz){0};
    const enum ergo_status status = ergo_gsd_is(text, length)
                                        ? ergo_gsd_parse(ctx, name, text, length, frame)
                                        : read_frame(&r, frame);
    if (status != ERGO_OK)
        ergo_xyz_free(frame);
    return status;
}

enum ergo_status ergo_xyz_read(struct ergo_context *ctx, const struct ergo_point *point,
                               const char *pointer, struct ergo_xyz *frame) {
    char *text = NULL;
    size_t length = 0;
    *frame = (struct ergo_xyz){0};
    enum ergo_status status = ergo_input_read(ctx, point, pointer, FILE_MOST, &text, &length);
    if (status == ERGO_OK)
        status = ergo_xyz_parse(ctx, ergo_point_text(point, pointer), text, length, frame);
    free(text);
    return ergo_error_at(ctx, status, pointer);
}

void ergo_xyz_free(struct ergo_xyz *frame) {
    free(frame->positions);
    free(frame->species);
    *frame = (struct ergo_xyz){0};
}
