/*
 * Random couplings and stored fields of spins that are unit vectors. Couplings are those of the
 * first sample of a spin glass, see spin_glass/couplings.c; the third direction of the triangular
 * lattice draws those of z.
 *
 * Gaussian fields: key = that of the random field, entity = site, step = 1 + component, draw =
 * attempt, by glass_normal. Files of fields: fields.c, the components of a site one after the
 * other. All are functions of the site: a slab's rank makes those of its own.
 */
#include <math.h>
#include <stdlib.h>

#include "dist/dist.h"
#include "samplers/spin_lattice/models.h"
#include "samplers/spin_lattice/spin_glass/glass.h"
#include "samplers/spin_lattice/vector/vector.h"

/* Components of a field: those of a spin, in a plane x and y. */
static uint32_t components_of(const struct vector_shape *s) {
    return s->space ? 3 : 2;
}

static struct glass_shape glass_of(const struct vector_shape *s) {
    return (struct glass_shape){.d = s->directions,
                                .lx = s->l[0],
                                .ly = s->l[1],
                                .lz = s->l[2],
                                .sites = s->sites,
                                .samples = 1,
                                .real = true};
}

enum ergo_status vector_terms_check(struct ergo_context *ctx, const struct ergo_point *point) {
    const struct vector_shape s = vector_shape_of(point);
    const struct glass_shape g = glass_of(&s);
    const bool file = of_lattice(point)->disorder_file.present;
    enum ergo_status status = ERGO_OK;
    if (file && of_lattice(point)->disorder.present)
        status = ergo_job_error(ctx, "/system/disorder", "given together with disorder_file");
    if (file && s.triangular)
        status = ergo_job_error(ctx, "/system/disorder_file",
                                "the triangular lattice has a third direction, which files have no "
                                "name for: draw its couplings, or take model graph");
    if (s.coupled && s.sites > 1 << 30)
        status = ergo_job_error(ctx, "/system/size", "more than 2^30 sites with random couplings");
    if (status == ERGO_OK && of_lattice(point)->field_file.present)
        status = model_fields_check(ctx, point, s.sites, components_of(&s), "components", 24);
    if (status == ERGO_OK && file)
        status = glass_file_check(ctx, point, &g);
    return status;
}

void vector_terms_free(struct vector_terms *d) {
    free(d->bonds);
    free(d->fields);
    d->bonds = d->fields = NULL;
}

/* The least power of two that is no smaller than any of these, nor, where ranks ask together, of
 * those of others. */
static double unit_of(const double *numbers, size_t n, bool together) {
    double most = 0;
    int exponent = 0;
    for (size_t i = 0; i < n; i++)
        most = fmax(most, fabs(numbers[i]));
    most = together ? ergo_dist_max(most) : most;
    const double part = frexp(most, &exponent);
    return most > 0 ? ldexp(1, part > 0.5 ? exponent : exponent - 1) : 1;
}

static void round_to(const double *numbers, size_t n, double unit, float *to) {
    for (size_t i = 0; i < n; i++)
        to[i] = (float)(floor(numbers[i] / unit * 0x1p24 + 0.5) * 0x1p-24);
}

/* Finds the unit, unless it is known. */
static void round_all(const double *numbers, size_t n, bool together, double *unit, float *to) {
    if (*unit == 0)
        *unit = unit_of(numbers, n, together);
    round_to(numbers, n, *unit, to);
}

/* [component][site] */
static enum ergo_status fields_of(struct ergo_context *ctx, const struct ergo_point *point,
                                  const struct vector_shape *s, struct model_sites of,
                                  double *fields) {
    const uint64_t hash = model_field_key(point, true);
    const uint32_t key[2] = {(uint32_t)hash, (uint32_t)(hash >> 32)};
    if (of_lattice(point)->field_file.present)
        return model_fields_of(ctx, point, s->sites, components_of(s), "components", of, fields);
    for (uint32_t c = 0; c < components_of(s); c++)
        for (uint64_t i = 0; i < of.n; i++)
            fields[c * of.n + i] = glass_normal(key, (uint32_t)((of.first + i) % s->sites), 1 + c,
                                                VECTOR_PURPOSE_FIELD, 0) *
                                   0x1p-24;
    return ERGO_OK;
}

enum ergo_status vector_terms_make(struct ergo_context *ctx, const struct ergo_point *point,
                                   bool together, struct vector_terms *d) {
    const struct vector_shape s = vector_shape_of(point);
    const struct glass_shape g = glass_of(&s);
    const size_t n_bonds = s.coupled ? s.directions * (size_t)d->of.n : 0;
    const size_t n_fields = s.stored ? components_of(&s) * (size_t)d->of.n : 0;
    double *numbers = malloc(((n_bonds > n_fields ? n_bonds : n_fields) + 1) * sizeof *numbers);
    d->bonds = n_bonds ? malloc(n_bonds * sizeof *d->bonds) : NULL;
    d->fields = n_fields ? malloc(n_fields * sizeof *d->fields) : NULL;
    enum ergo_status status =
        numbers && (d->bonds || !n_bonds) && (d->fields || !n_fields)
            ? ERGO_OK
            : ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for couplings and fields of %.3g sites",
                        (double)d->of.n);
    if (status == ERGO_OK && n_bonds) {
        status = glass_first_sample(ctx, point, &g, d->of, numbers);
        if (status == ERGO_OK)
            round_all(numbers, n_bonds, together, &d->bond_unit, d->bonds);
    }
    if (status == ERGO_OK && n_fields) {
        status = fields_of(ctx, point, &s, d->of, numbers);
        if (status == ERGO_OK) /* s.f of a site stays below 2 units */
            round_all(numbers, n_fields, together, &d->field_unit, d->fields);
    }
    d->bond_unit = n_bonds ? d->bond_unit : 1;
    d->field_unit = n_fields ? d->field_unit : 1;
    free(numbers);
    if (status != ERGO_OK)
        vector_terms_free(d);
    return status;
}

/* ---- for the kernels ------------------------------------------------------------------------- */

static uint32_t bonds_of(const struct vector_shape *s) {
    return s->coupled ? s->directions : 0;
}

size_t vector_terms_length(const struct vector_shape *s) {
    return (bonds_of(s) + (s->stored ? components_of(s) : 0)) * (size_t)s->sites;
}

static size_t place_of(const struct vector_shape *s, size_t site) {
    const size_t row = site / s->l[0];
    return vector_place(s, (uint32_t)(site % s->l[0]), (uint32_t)(row % s->l[1]),
                        (uint32_t)(row / s->l[1]));
}

void vector_terms_pack(const struct vector_shape *s, const struct vector_terms *d, float *packed) {
    const size_t n = s->sites;
    for (size_t i = 0; i < n; i++) {
        float *to = packed + place_of(s, i);
        for (uint32_t k = 0; k < bonds_of(s); k++, to += n)
            *to = d->bonds[k * n + i];
        for (uint32_t c = 0; s->stored && c < components_of(s); c++, to += n)
            *to = d->fields[c * n + i];
    }
}
