/*
 * Tables that kernels look up: a pair potential from a file, and the field of a slit behind it.
 *
 * A file has lines "r u(r)", r in sigma and u in epsilon. Between its points u is a cubic spline in
 * r (samplers/radial.h). The chain takes it from LJ_PAIR_CELLS cubics in r^2, equally wide from the
 * first point to the cutoff, that have the spline's values and slopes at their ends. Pairs nearer
 * than the first point, or than where u first is below 100 T, overlap.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "samplers/lj_gcmc/lj.h"

bool lj_is_table(const struct ergo_point *point) {
    const char *name = of_lj(point)->potential; /* lj-gcmc has no such key */
    return name && strpbrk(name, "./") != NULL;
}

/* u/(4 epsilon) and its slope in s = (r/sigma)^2. */
static double at_square(const struct ergo_radial *pair, double square, double *slope) {
    double u[3];
    const double r = sqrt(square);
    ergo_radial_at(pair, r, u);
    *slope = u[1] / (8 * r);
    return u[0] / 4;
}

/* The first cell's beginning is a float, so that no distance of a pair is before it. */
static double first_square(const struct ergo_radial *pair) {
    const double square = pair->r[0] * pair->r[0];
    float begin = (float)square;
    while ((double)begin < square)
        begin = nextafterf(begin, INFINITY);
    return begin;
}

static double square_at(const struct lj_system *s, double cell) {
    const double begin = first_square(s->pair), rc = s->cutoff / s->sigma;
    return begin + (rc * rc - begin) * cell / LJ_PAIR_CELLS;
}

double lj_table_energy(const struct lj_system *s, double r) {
    double u[3];
    ergo_radial_at(s->pair, r / s->sigma, u);
    return u[0] / 4;
}

double lj_table_core2(const struct lj_system *s) {
    const double most = 100 * s->temperature / s->unit;
    double low = square_at(s, 0), slope;
    if (at_square(s->pair, low, &slope) <= most)
        return low;
    uint32_t cell = 1;
    while (cell < LJ_PAIR_CELLS && at_square(s->pair, square_at(s, cell), &slope) > most)
        cell++;
    low = square_at(s, cell - 1.0);
    double high = square_at(s, cell);
    for (int i = 0; i < 60; i++) {
        const double middle = low + (high - low) / 2;
        *(at_square(s->pair, middle, &slope) > most ? &low : &high) = middle;
    }
    return high;
}

static void pair_table(const struct lj_system *s, float *table) {
    const double begin = square_at(s, 0), h = square_at(s, 1) - begin;
    double slope, end_slope, u = at_square(s->pair, begin, &slope);
    memset(table, 0, 4 * sizeof *table);
    table[0] = (float)begin;
    table[1] = (float)(1 / h);
    for (uint32_t k = 0; k < LJ_PAIR_CELLS; k++, slope = end_slope) {
        const double end = at_square(s->pair, square_at(s, k + 1.0), &end_slope);
        table += 4;
        table[0] = (float)u;
        table[1] = (float)(slope * h);
        table[2] = (float)(3 * (end - u) - (2 * slope + end_slope) * h);
        table[3] = (float)(2 * (u - end) + (slope + end_slope) * h);
        u = end;
    }
}

static enum ergo_status read_pair(struct ergo_context *ctx, const struct ergo_point *point,
                                  struct ergo_radial **pair) {
    *pair = NULL;
    return lj_is_table(point) ? ergo_radial_read(ctx, point, "/system/potential", pair) : ERGO_OK;
}

enum ergo_status lj_tables_read(struct ergo_context *ctx, const struct ergo_point *point,
                                struct lj_tables *tables) {
    const struct lj_system s = lj_system_of(point);
    enum ergo_status status = read_pair(ctx, point, &tables->pair);
    if (status == ERGO_OK)
        status = lj_voxels_read(ctx, point, &s, &tables->voxels);
    if (status == ERGO_OK)
        status = lj_atoms_read(ctx, point, &s, &tables->atoms);
    return status;
}

bool lj_tables_make(const struct lj_system *s, size_t chains, struct lj_tables *tables) {
    const size_t pair = s->pair ? (size_t)LJ_PAIR_CELLS + 1 : 0;
    const size_t field = s->slit.width > 0 ? LJ_FIELD_LAYERS : 0;
    const size_t voxels = tables->voxels ? (lj_voxels_points(tables->voxels) + 3) / 4 : 0;
    const size_t atoms = tables->atoms ? (lj_atoms_bytes(tables->atoms) + 15) / 16 : 0;
    const size_t rows = tables->atoms ? chains * tables->atoms->n_species : 0;
    const size_t mixtures = s->species.n ? chains * (LJ_MIXTURE_BYTES / 16) : 0;
    const size_t all =
        pair + field + voxels + atoms + rows * sizeof(struct lj_frozen) / 16 + mixtures;
    if (all == 0)
        return true;
    tables->words = calloc(all, 16);
    if (!tables->words)
        return false;
    tables->bytes = 16 * all;
    tables->field = tables->words + 4 * pair;
    tables->voxels_at = (uint32_t)(pair + field);
    tables->atoms_at = (uint32_t)(pair + field + voxels);
    tables->rows_at = (uint32_t)(pair + field + voxels + atoms);
    if (pair)
        pair_table(s, tables->words);
    if (field)
        lj_field_table(s, tables->field);
    if (voxels)
        lj_voxels_table(tables->voxels, tables->words + 4 * (size_t)tables->voxels_at);
    if (atoms)
        lj_atoms_table(tables->atoms,
                       (uint32_t *)(void *)(tables->words + 4 * (size_t)tables->atoms_at));
    return true;
}

struct lj_frozen *lj_tables_rows(const struct lj_tables *tables, size_t chain) {
    if (!tables->atoms)
        return NULL;
    void *rows = tables->words + 4 * (size_t)tables->rows_at;
    return (struct lj_frozen *)rows + chain * tables->atoms->n_species;
}

void lj_tables_free(struct lj_tables *tables) {
    ergo_radial_free(tables->pair);
    ergo_cube_free(tables->voxels);
    lj_atoms_free(tables->atoms);
    free(tables->words);
    memset(tables, 0, sizeof *tables);
}

/* ---- checks -----------------------------------------------------------------------------------
 */

/* At the first point the potential is this high at least (T), because the jump to infinity there is
 * a force that no virial has; and beyond the core it is nowhere higher than this (T), or lower than
 * this (epsilon): energies have to stay in the range of the arithmetic. */
static const double FIRST = 20, HIGHEST = 200, LOWEST = -20;

static enum ergo_status check_curve(struct ergo_context *ctx, const char *name,
                                    const struct lj_system *s) {
    const struct ergo_radial *pair = s->pair;
    const double first = pair->r[0] * s->sigma, last = pair->r[pair->n - 1] * s->sigma;
    const double t = s->temperature / s->epsilon;
    double slope;
    if (last < s->cutoff * (1 - 1e-12))
        return ergo_job_error(ctx, "/system/potential",
                              "%s ends at r = %.10g, before the cutoff of %.10g", name, last,
                              s->cutoff);
    if (first >= s->cutoff || pair->value[0] < FIRST * t)
        return ergo_job_error(ctx, "/system/potential",
                              "%s starts too late: at its first point, r = %.10g, u is %.4g T, and "
                              "nearer it is taken for infinite. It has to start where u is %g T or "
                              "more, so that no pair comes there",
                              name, first, pair->value[0] / t, FIRST);
    const double core2 = lj_table_core2(s);
    for (uint32_t k = 0; k <= LJ_PAIR_CELLS; k++) {
        const double square = square_at(s, k), u = 4 * at_square(pair, square, &slope);
        if (square > core2 && (u > HIGHEST * t || u < LOWEST))
            return ergo_job_error(ctx, "/system/potential",
                                  "%s has %.4g epsilon at r = %.6g; allowed beyond the core of "
                                  "r = %.6g are %g epsilon to %g T",
                                  name, u, sqrt(square) * s->sigma, sqrt(core2) * s->sigma, LOWEST,
                                  HIGHEST);
    }
    return ERGO_OK;
}

enum ergo_status lj_check_table(struct ergo_context *ctx, const struct ergo_point *point,
                                struct lj_tables *tables) {
    const char *name = of_lj(point)->potential;
    struct lj_system s = lj_system_of(point);
    if (!name || s.mie || strcmp(name, "lennard-jones") == 0)
        return ERGO_OK;
    if (!lj_is_table(point))
        return ergo_job_error(ctx, "/system/potential",
                              "found \"%s\"; allowed: \"lennard-jones\", \"mie\", or the name of a "
                              "file, with a dot or a slash in it",
                              name);
    if (s.tail)
        return ergo_job_error(
            ctx, "/system/tail_correction",
            "not with a potential from a file: what is beyond its end is unknown");
    if (point->job->again)
        return ERGO_OK;
    const enum ergo_status status = read_pair(ctx, point, &tables->pair);
    s.pair = tables->pair;
    return status == ERGO_OK && s.epsilon > 0 ? check_curve(ctx, name, &s) : status;
}
