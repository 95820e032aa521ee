/*
 * General fields of the Ising model with a byte per spin: drawn, or from a file; in integers.
 *
 * Gaussian: key = the random field's (seed and replica: not the temperature), entity = site, step =
 * 1, draw = attempt, by glass_normal. A file is text: a number for each site, x fastest, then y,
 * then z, with blanks or ends of lines between them; # a comment, to the end of its line.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/io.h"
#include "samplers/spin_lattice/bytes.h"
#include "samplers/spin_lattice/glass.h"

/* ---- from a file ----------------------------------------------------------------------------- */

static const double file_most = 1e6; /* as of the keys */

/* fields: of all sites. False: wrong, what and where. */
static bool read_numbers(char *text, uint64_t sites, double *fields, char wrong[160]) {
    uint64_t n = 0;
    unsigned long line = 1, last = 1;
    for (char *at = text; *at != '\0';) {
        char *end = at;
        if (*at == '\n' || *at == ' ' || *at == '\t' || *at == '\r') {
            line += *at++ == '\n';
            continue;
        }
        if (*at == '#') {
            at += strcspn(at, "\n");
            continue;
        }
        const double number = strtod(at, &end);
        const size_t length = strcspn(at, " \t\r\n#");
        if (end != at + length || !isfinite(number)) {
            snprintf(wrong, 160, "line %lu: \"%.*s\" is not a number", line,
                     length < 40 ? (int)length : 40, at);
            return false;
        }
        if (fabs(number) > file_most) {
            snprintf(wrong, 160, "line %lu: %g is beyond %g", line, number, file_most);
            return false;
        }
        if (n == sites) {
            snprintf(wrong, 160, "line %lu: more numbers than the lattice's %llu sites", line,
                     (unsigned long long)sites);
            return false;
        }
        fields[n++] = number;
        last = line;
        at = end;
    }
    if (n < sites)
        snprintf(wrong, 160, "line %lu: after %llu numbers it ends; the lattice has %llu sites",
                 last, (unsigned long long)n, (unsigned long long)sites);
    return n == sites;
}

static enum ergo_status read_file(struct ergo_context *ctx, const struct ergo_point *point,
                                  uint64_t sites, double *fields) {
    const char *path = ergo_point_text(point, "/system/field_file");
    char *text = NULL, wrong[160] = "";
    size_t length = 0;
    enum ergo_status status = ergo_file_read(ctx, path, (size_t)1 << 36, &text, &length);
    if (status == ERGO_OK && strlen(text) != length)
        status = ERGO_FAIL(ctx, ERGO_E_IO, "%s is not a file of fields: it is not text", path);
    if (status == ERGO_OK && !read_numbers(text, sites, fields, wrong))
        status = ERGO_FAIL(ctx, ERGO_E_IO, "%s is not a file of fields: %s", path, wrong);
    free(text);
    return status;
}

enum ergo_status bytes_file_check(struct ergo_context *ctx, const struct ergo_point *point) {
    const struct bytes_shape s = bytes_shape_of(point);
    double *fields = malloc(s.sites * sizeof *fields);
    const enum ergo_status status =
        fields ? read_file(ctx, point, s.sites, fields)
               : ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for the fields of the file");
    free(fields);
    if (status == ERGO_OK)
        return ERGO_OK;
    char message[400];
    snprintf(message, sizeof message, "%s", ergo_error_message(ctx));
    ergo_error_clear(ctx);
    return ergo_job_error(ctx, "/system/field_file", "%s", message);
}

/* ---- in integers ----------------------------------------------------------------------------- */

void bytes_disorder_free(struct bytes_disorder *d) {
    free(d->fields);
    memset(d, 0, sizeof *d);
}

enum ergo_status bytes_disorder_make(struct ergo_context *ctx, const struct ergo_point *point,
                                     struct bytes_disorder *d) {
    const struct bytes_shape s = bytes_shape_of(point);
    const struct bytes_physics p = bytes_physics_of(point);
    double *fields = malloc(s.sites * sizeof *fields), most = 0;
    int exponent = 0;
    memset(d, 0, sizeof *d);
    d->fields = malloc(s.sites * sizeof *d->fields);
    enum ergo_status status =
        fields && d->fields
            ? ERGO_OK
            : ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for the fields of %llu sites",
                        (unsigned long long)s.sites);
    if (status == ERGO_OK && ergo_point_value(point, "/system/field_file")->present)
        status = read_file(ctx, point, s.sites, fields);
    else if (status == ERGO_OK) {
        struct bytes_member m;
        bytes_member_fill(point, &m);
        const uint32_t key[2] = {m.field0, m.field1};
        for (uint64_t i = 0; i < s.sites; i++)
            fields[i] = glass_normal(key, (uint32_t)i, 1, BYTES_PURPOSE_FIELD, 0) * 0x1p-24;
    }
    for (uint64_t i = 0; i < s.sites && status == ERGO_OK; i++) {
        fields[i] = p.b + p.h * fields[i];
        most = fmax(most, fabs(fields[i]));
    }
    for (uint32_t k = 0; k < s.d && k < 3; k++)
        most += 2 * fabs(p.j[k]);
    /* half of what a flip costs stays below 2^29, and below 2^30 after rounding */
    (void)frexp(most, &exponent);
    d->unit = ldexp(1, most > 0 ? exponent - 29 : 0);
    for (uint64_t i = 0; i < s.sites && status == ERGO_OK; i++)
        d->fields[i] = (int32_t)floor(fields[i] / d->unit + 0.5);
    for (uint32_t k = 0; k < s.d && k < 3; k++)
        d->j[k] = (int32_t)floor(p.j[k] / d->unit + 0.5);
    free(fields);
    if (status != ERGO_OK)
        bytes_disorder_free(d);
    return status;
}

void bytes_disorder_fill(const struct ergo_point *point, const struct bytes_disorder *d,
                         struct bytes_member *member) {
    member->scale = (float)(0.5 * ergo_point_real(point, "/system/temperature") / d->unit);
    memcpy(member->j, d->j, sizeof member->j);
}

size_t bytes_terms_length(const struct bytes_shape *s) {
    return s->general ? 2 * s->colour : 0;
}

void bytes_terms_pack(const struct bytes_shape *s, const struct bytes_disorder *d,
                      int32_t *packed) {
    memset(packed, 0, bytes_terms_length(s) * sizeof *packed);
    for (size_t row = 0; row < (size_t)s->l[1] * s->l[2]; row++)
        for (size_t x = 0; x < s->l[0]; x++) {
            const size_t colour = (x + row % s->l[1] + row / s->l[1]) & 1;
            packed[s->colour * colour + row * s->pitch + x / 2] = d->fields[row * s->l[0] + x];
        }
}
