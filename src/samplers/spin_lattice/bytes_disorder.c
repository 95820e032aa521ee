/*
 * General fields and couplings of the Ising model with a byte per spin, drawn or read from a file,
 * as integers. Couplings are those of the first sample of a spin glass, see spin_glass/couplings.c.
 *
 * Gaussian fields: key = that of the random field (seed and replica, not the temperature), entity =
 * site, step = 1, draw = attempt, by glass_normal. A file is text: a number for each site, x
 * fastest, then y, then z, separated by blanks or ends of lines. # begins a comment.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "job/input.h"
#include "samplers/spin_lattice/bytes.h"
#include "samplers/spin_lattice/spin_glass/glass.h"

/* ---- from a file ----------------------------------------------------------------------------- */

static const double file_most = 1e6; /* as the limits of the keys */

/* fields: [sites]. false: an error, which `wrong` describes with its line. */
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
        snprintf(wrong, 160,
                 "line %lu: the file ends after %llu numbers; the lattice has %llu sites", last,
                 (unsigned long long)n, (unsigned long long)sites);
    return n == sites;
}

static enum ergo_status read_file(struct ergo_context *ctx, const struct ergo_point *point,
                                  uint64_t sites, double *fields) {
    const char *path = ergo_point_text(point, "/system/field_file");
    char *text = NULL, wrong[160] = "";
    size_t length = 0;
    enum ergo_status status =
        ergo_input_read(ctx, point, "/system/field_file", (size_t)1 << 36, &text, &length);
    if (status == ERGO_OK && strlen(text) != length)
        status = ERGO_FAIL(ctx, ERGO_E_JOB, "%s is not a file of fields: it is not text", path);
    if (status == ERGO_OK && !read_numbers(text, sites, fields, wrong))
        status = ERGO_FAIL(ctx, ERGO_E_JOB, "%s is not a file of fields: %s", path, wrong);
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
    return ERGO_FAIL(ctx, status, "/system/field_file: %s", message);
}

static struct glass_shape glass_of(const struct bytes_shape *s) {
    const struct glass_shape g = {.d = s->d,
                                  .lx = s->l[0],
                                  .ly = s->l[1],
                                  .lz = s->l[2],
                                  .sites = s->sites,
                                  .samples = 1,
                                  .real = true};
    return g;
}

enum ergo_status bytes_bonds_check(struct ergo_context *ctx, const struct ergo_point *point) {
    const struct bytes_shape s = bytes_shape_of(point);
    const struct glass_shape g = glass_of(&s);
    return glass_file_check(ctx, point, &g);
}

/* ---- in integers ----------------------------------------------------------------------------- */

void bytes_disorder_free(struct bytes_disorder *d) {
    free(d->fields);
    free(d->bonds);
    memset(d, 0, sizeof *d);
}

/* f of all sites, from the file or drawn. */
static enum ergo_status fields_of(struct ergo_context *ctx, const struct ergo_point *point,
                                  const struct bytes_shape *s, double *fields) {
    const struct ergo_value *distribution = ergo_point_value(point, "/system/field_distribution");
    struct bytes_member m;
    bytes_member_fill(point, &m);
    const uint32_t key[2] = {m.field0, m.field1};
    if (ergo_point_value(point, "/system/field_file")->present)
        return read_file(ctx, point, s->sites, fields);
    if (distribution->present &&
        strcmp(ergo_point_text(point, "/system/field_distribution"), "gaussian") == 0) {
        for (uint64_t i = 0; i < s->sites; i++)
            fields[i] = glass_normal(key, (uint32_t)i, 1, BYTES_PURPOSE_FIELD, 0) * 0x1p-24;
        return ERGO_OK;
    }
    uint8_t *signs = calloc(s->sites, 1);
    if (!signs)
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for random fields");
    bytes_twin_fields(s, &m, signs);
    for (uint64_t i = 0; i < s->sites; i++)
        fields[i] = signs[i] ? 1 : -1;
    free(signs);
    return ERGO_OK;
}

static int32_t whole(double x) {
    return (int32_t)floor(x + 0.5);
}

enum ergo_status bytes_disorder_make(struct ergo_context *ctx, const struct ergo_point *point,
                                     struct bytes_disorder *d) {
    const struct bytes_shape s = bytes_shape_of(point);
    const struct bytes_physics p = bytes_physics_of(point);
    const struct glass_shape g = glass_of(&s);
    const size_t n = s.sites, n_bonds = s.bonds ? s.d * n : 0;
    double *fields = malloc(n * sizeof *fields), *bonds = malloc((n_bonds + 1) * sizeof *bonds);
    double most = 0;
    int exponent = 0;
    memset(d, 0, sizeof *d);
    d->fields = calloc(n, sizeof *d->fields);
    d->bonds = n_bonds ? malloc(n_bonds * sizeof *d->bonds) : NULL;
    enum ergo_status status =
        fields && bonds && d->fields && (d->bonds || !n_bonds)
            ? fields_of(ctx, point, &s, fields)
            : ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for fields and couplings of %zu sites", n);
    if (status == ERGO_OK && n_bonds)
        status = glass_first_sample(ctx, point, &g, bonds);
    if (status != ERGO_OK)
        goto out;
    for (size_t i = 0; i < n; i++) {
        fields[i] = p.b + p.h * fields[i];
        most = fmax(most, fabs(fields[i]));
    }
    for (uint32_t k = 0; k < s.d && k < 3; k++) {
        double largest = n_bonds ? 0 : fabs(p.j[k]);
        for (size_t i = k * n; i < (k + 1) * n && n_bonds; i++) {
            bonds[i] *= p.j[k];
            largest = fmax(largest, fabs(bonds[i]));
        }
        most += 2 * largest;
    }
    /* half the cost of a flip stays below 2^29, and below 2^30 after rounding */
    (void)frexp(most, &exponent);
    d->unit = ldexp(1, most > 0 ? exponent - 29 : 0);
    for (size_t i = 0; i < n; i++)
        d->fields[i] = whole(fields[i] / d->unit);
    for (size_t i = 0; i < n_bonds; i++)
        d->bonds[i] = whole(bonds[i] / d->unit);
    for (uint32_t k = 0; k < s.d && k < 3 && !n_bonds; k++)
        d->j[k] = whole(p.j[k] / d->unit);
out:
    free(fields);
    free(bonds);
    if (status != ERGO_OK)
        bytes_disorder_free(d);
    return status;
}

/* Half of the largest cost of a flip at this site, as an integer. Along a side of 2, both bonds
 * lead to one neighbour and may cancel. */
static int64_t most_force(const struct bytes_shape *s, const struct bytes_disorder *d,
                          uint64_t site) {
    const uint64_t stride[3] = {1, s->l[0], (uint64_t)s->l[0] * s->l[1]};
    int64_t sum = llabs((long long)d->fields[site]);
    for (uint32_t k = 0; k < s->d && k < 3; k++) {
        const uint64_t at = site / stride[k] % s->l[k];
        const uint64_t before = site - at * stride[k] + (at + s->l[k] - 1) % s->l[k] * stride[k];
        const long long one = d->bonds[k * s->sites + site], two = d->bonds[k * s->sites + before];
        sum += s->l[k] == 2 ? llabs(one + two) : llabs(one) + llabs(two);
    }
    return sum;
}

enum ergo_status bytes_force_check(struct ergo_context *ctx, const struct ergo_point *point) {
    const struct bytes_shape s = bytes_shape_of(point);
    struct bytes_disorder d;
    enum ergo_status status = bytes_disorder_make(ctx, point, &d);
    for (uint64_t i = 0; i < s.sites && status == ERGO_OK && d.fields && d.bonds; i++)
        if (most_force(&s, &d, i) == 0)
            status = ergo_job_error(
                ctx, "/system/dynamics",
                "metropolis, and the couplings of the file leave site %llu, %llu, %llu without any "
                "force (those of a side of 2 may cancel): its spin would flip in every sweep; use "
                "\"heat-bath\"",
                (unsigned long long)(i % s.l[0]), (unsigned long long)(i / s.l[0] % s.l[1]),
                (unsigned long long)(i / s.l[0] / s.l[1]));
    bytes_disorder_free(&d);
    return status;
}

void bytes_disorder_fill(const struct ergo_point *point, const struct bytes_disorder *d,
                         struct bytes_member *member) {
    member->scale = (float)(0.5 * ergo_point_real(point, "/system/temperature") / d->unit);
    memcpy(member->j, d->j, sizeof member->j);
}

/* ---- for the kernels ------------------------------------------------------------------------- */

/* Numbers per site: the field, and the couplings to the neighbours. */
static size_t planes_of(const struct bytes_shape *s) {
    return s->bonds ? 1 + 2 * (size_t)s->d : 1;
}

size_t bytes_terms_length(const struct bytes_shape *s) {
    return s->general ? 2 * s->colour * planes_of(s) : 0;
}

/* cl/spin_lattice/bytes.cl describes the order. Couplings are those to the neighbour at the same
 * place in the row of the other colour, at the place beside it, and at y - 1, y + 1, z - 1 and z
 * + 1. */
void bytes_terms_pack(const struct bytes_shape *s, const struct bytes_disorder *d,
                      int32_t *packed) {
    const size_t lx = s->l[0], ly = s->l[1], lz = s->l[2], n = s->sites;
    memset(packed, 0, bytes_terms_length(s) * sizeof *packed);
    for (size_t row = 0; row < ly * lz; row++)
        for (size_t x = 0; x < lx; x++) {
            const size_t y = row % ly, z = row / ly, site = row * lx + x;
            int32_t *to =
                packed + ((x + y + z) & 1) * planes_of(s) * s->colour + row * s->pitch + x / 2;
            *to = d->fields[site];
            if (!s->bonds)
                continue;
            const int32_t before = d->bonds[row * lx + (x + lx - 1) % lx], after = d->bonds[site];
            to[s->colour] = x & 1 ? before : after;
            to[2 * s->colour] = x & 1 ? after : before;
            if (s->d > 1) {
                to[3 * s->colour] = d->bonds[n + (z * ly + (y + ly - 1) % ly) * lx + x];
                to[4 * s->colour] = d->bonds[n + site];
            }
            if (s->d > 2) {
                to[5 * s->colour] = d->bonds[2 * n + ((z + lz - 1) % lz * ly + y) * lx + x];
                to[6 * s->colour] = d->bonds[2 * n + site];
            }
        }
}

enum ergo_status bytes_terms_unpack(struct ergo_context *ctx, const struct bytes_shape *s,
                                    const int32_t *packed, struct bytes_disorder *d) {
    const size_t lx = s->l[0], ly = s->l[1], n = s->sites;
    memset(d, 0, sizeof *d);
    d->fields = malloc(n * sizeof *d->fields);
    d->bonds = s->bonds ? malloc(s->d * n * sizeof *d->bonds) : NULL;
    if (!d->fields || (s->bonds && !d->bonds)) {
        bytes_disorder_free(d);
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for fields and couplings of %zu sites", n);
    }
    for (size_t i = 0; i < n; i++) {
        const size_t x = i % lx, row = i / lx, y = row % ly, z = row / ly;
        const int32_t *from =
            packed + ((x + y + z) & 1) * planes_of(s) * s->colour + row * s->pitch + x / 2;
        d->fields[i] = from[0];
        for (uint32_t k = 0; k < s->d && s->bonds; k++)
            d->bonds[k * n + i] = from[(k == 0 ? 1 + (x & 1) : 2 * k + 2) * s->colour];
    }
    return ERGO_OK;
}
