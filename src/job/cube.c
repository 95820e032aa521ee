#include "job/cube.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "job/input.h"

#define FILE_MOST ((size_t)4 << 30)

struct reader {
    struct ergo_context *ctx;
    const char *name, *at, *end;
    size_t line; /* of `at` */
};

static bool blank(char c) {
    return c == ' ' || c == '\t' || c == '\r';
}

/* Go to the beginning of the next line. False: there is none. */
static bool skip_line(struct reader *r) {
    const char *stop = memchr(r->at, '\n', (size_t)(r->end - r->at));
    r->at = stop ? stop + 1 : r->end;
    r->line++;
    return stop != NULL;
}

/* The next number; of this line, or of any. A word that is none ends the search. */
static bool next_number(struct reader *r, bool here, double *value) {
    while (r->at < r->end && (blank(*r->at) || (!here && *r->at == '\n')))
        r->line += *r->at++ == '\n';
    const char *word = r->at;
    while (r->at < r->end && !blank(*r->at) && *r->at != '\n')
        r->at++;
    return ergo_text_real(word, (size_t)(r->at - word), value);
}

static bool nothing_left(struct reader *r) {
    while (r->at < r->end && blank(*r->at))
        r->at++;
    return r->at == r->end || *r->at == '\n';
}

/* A count and three finite numbers. */
static enum ergo_status read_row(struct reader *r, const char *what, double *count, double x[3]) {
    if (!next_number(r, true, count) || !next_number(r, true, &x[0]) ||
        !next_number(r, true, &x[1]) || !next_number(r, true, &x[2]) || *count != floor(*count) ||
        fabs(*count) > 1e9 || !isfinite(x[0] + x[1] + x[2]))
        return ERGO_FAIL(r->ctx, ERGO_E_IO,
                         "%s, line %zu: expected a whole number and three numbers, %s", r->name,
                         r->line, what);
    return ERGO_OK;
}

static enum ergo_status read_axis(struct reader *r, struct ergo_cube *c, int k) {
    double count = 0, vector[3] = {0, 0, 0};
    const enum ergo_status status =
        read_row(r, "the points along an axis and the vector between two of them", &count, vector);
    if (status != ERGO_OK)
        return status;
    count = fabs(count); /* a negative one says that lengths are in angstrom: of no matter here */
    if (count < 2 || count > 65536)
        return ERGO_FAIL(r->ctx, ERGO_E_IO,
                         "%s, line %zu: the points along axis %d have to be 2 to 65536", r->name,
                         r->line, k + 1);
    for (int i = 0; i < 3; i++)
        if (i == k ? vector[i] <= 0 : fabs(vector[i]) > 1e-6 * fabs(vector[k]))
            return ERGO_FAIL(
                r->ctx, ERGO_E_IO,
                "%s, line %zu: axis %d: the box is rectangular, axes are those of x, y and z",
                r->name, r->line, k + 1);
    c->n[k] = (size_t)count;
    c->side[k] = count * vector[k];
    return ERGO_OK;
}

static enum ergo_status read_head(struct reader *r, struct ergo_cube *c, size_t *atoms) {
    double count = 0, origin[3], extent = 0, each = 1;
    for (int line = 0; line < 2; line++)
        if (!skip_line(r))
            return ERGO_FAIL(r->ctx, ERGO_E_IO, "%s ends before its third line", r->name);
    enum ergo_status status =
        read_row(r, "the number of atoms and the first point", &count, origin);
    if (status != ERGO_OK)
        return status;
    if (count < 0 || (!nothing_left(r) && (!next_number(r, true, &each) || each != 1)))
        return ERGO_FAIL(r->ctx, ERGO_E_IO,
                         "%s, line %zu: several values for each point (orbitals) are no field",
                         r->name, r->line);
    const size_t line = r->line;
    *atoms = (size_t)count;
    for (int k = 0; k < 3 && status == ERGO_OK; k++) {
        skip_line(r);
        status = read_axis(r, c, k);
    }
    skip_line(r);
    for (int k = 0; k < 3 && status == ERGO_OK; k++)
        extent = fmax(extent, c->side[k]);
    for (int k = 0; k < 3 && status == ERGO_OK; k++)
        if (fabs(origin[k]) > 1e-6 * extent)
            status = ERGO_FAIL(r->ctx, ERGO_E_IO,
                               "%s, line %zu: the first point has to be the box's corner, 0 0 0",
                               r->name, line);
    return status;
}

static enum ergo_status read_values(struct reader *r, struct ergo_cube *c, size_t points) {
    c->least = HUGE_VAL;
    for (size_t i = 0; i < points; i++) {
        double value = 0;
        if (!next_number(r, false, &value)) {
            while (r->at < r->end && (blank(*r->at) || *r->at == '\n'))
                r->at++;
            if (r->at == r->end)
                return ERGO_FAIL(r->ctx, ERGO_E_IO, "%s ends at line %zu, after %zu of its values",
                                 r->name, r->line, i);
            return ERGO_FAIL(r->ctx, ERGO_E_IO, "%s, line %zu: expected a number", r->name,
                             r->line);
        }
        if (isnan(value) || value < -1e30)
            return ERGO_FAIL(r->ctx, ERGO_E_IO,
                             "%s, line %zu: values are numbers, or inf where there is no place for "
                             "a particle",
                             r->name, r->line);
        c->values[i] = value < 1e30 ? (float)value : HUGE_VALF;
        c->least = fmin(c->least, value);
    }
    for (; r->at < r->end; r->at++)
        if (!blank(*r->at) && *r->at != '\n')
            return ERGO_FAIL(r->ctx, ERGO_E_IO, "%s, line %zu: more values than points of its grid",
                             r->name, r->line);
        else
            r->line += *r->at == '\n';
    return ERGO_OK;
}

static enum ergo_status read_cube(struct reader *r, struct ergo_cube *c) {
    size_t atoms = 0;
    const enum ergo_status status = read_head(r, c, &atoms);
    if (status != ERGO_OK)
        return status;
    for (size_t i = 0; i < atoms; i++)
        if (!skip_line(r))
            return ERGO_FAIL(r->ctx, ERGO_E_IO, "%s ends within its atoms", r->name);
    const double points = (double)c->n[0] * (double)c->n[1] * (double)c->n[2];
    if (points > (double)ERGO_CUBE_POINTS)
        return ERGO_FAIL(r->ctx, ERGO_E_IO, "%s has more than 2^27 points", r->name);
    /* a value has at least two bytes: a wrong count must not exhaust the memory */
    if (points > (double)(r->end - r->at + 1) / 2)
        return ERGO_FAIL(r->ctx, ERGO_E_IO, "%s is too short for the values of its grid", r->name);
    c->values = malloc((size_t)points * sizeof *c->values);
    if (!c->values)
        return ERGO_FAIL(r->ctx, ERGO_E_MEMORY, "no memory for the values of %s", r->name);
    return read_values(r, c, (size_t)points);
}

void ergo_cube_free(struct ergo_cube *cube) {
    if (!cube)
        return;
    free(cube->values);
    free(cube);
}

enum ergo_status ergo_cube_parse(struct ergo_context *ctx, const char *name, const char *text,
                                 size_t length, struct ergo_cube **cube) {
    struct reader r = {ctx, name, text, text + length, 1};
    struct ergo_cube *c = calloc(1, sizeof *c);
    *cube = NULL;
    if (!c)
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory to read %s", name);
    const enum ergo_status status = read_cube(&r, c);
    if (status != ERGO_OK)
        ergo_cube_free(c);
    else
        *cube = c;
    return status;
}

enum ergo_status ergo_cube_read(struct ergo_context *ctx, const struct ergo_point *point,
                                const char *pointer, struct ergo_cube **cube) {
    char *text = NULL;
    size_t length = 0;
    *cube = NULL;
    enum ergo_status status = ergo_input_read(ctx, point, pointer, FILE_MOST, &text, &length);
    if (status == ERGO_OK)
        status = ergo_cube_parse(ctx, ergo_point_text(point, pointer), text, length, cube);
    free(text);
    return ergo_error_at(ctx, status, pointer);
}
