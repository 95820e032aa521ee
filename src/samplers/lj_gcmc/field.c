/*
 * The field of a slit between two walls of a layered solid, at z = 0 and z = H (W. A. Steele, Surf.
 * Sci. 36, 317 (1973)): u(z) = w(z) + w(H - z) with the 10-4-3 potential of one wall,
 *
 *     w(z) = 2 pi rho_s epsilon sigma^2 Delta [2/5 (sigma/z)^10 - (sigma/z)^4
 *                                              - sigma^4/(3 Delta (z + 0.61 Delta)^3)].
 *
 * The chain takes it from a table (cl/lj_gcmc/params.h), in units of the factor before the brackets
 * and made with IEEE basic operations alone.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "samplers/lj_gcmc/lj.h"

static const double PI = 3.14159265358979323846;

/* Energies beyond this, in units of the walls', are a wall. */
static const double HIGHEST = 1e6;

/* The thickest layer of the table, in diameters of the walls': cubics of thicker ones have wells
 * next to a wall that are not in the potential. */
static const double THICKEST = 0.02;

bool lj_takes_fields(const struct ergo_point *point) {
    const enum lj_ensemble *of = point->job->model->rule;
    return of && (*of == LJ_NVT || *of == LJ_MUVT);
}

bool lj_has_slit(const struct ergo_point *point) {
    return lj_takes_fields(point) && of_lj(point)->slit_width.present;
}

bool lj_has_field(const struct ergo_point *point) {
    return lj_has_slit(point) || lj_has_voxels(point) || lj_has_frozen(point);
}

void lj_field_of(const struct ergo_point *point, struct lj_system *s) {
    s->field = lj_has_field(point);
    s->axis = 2;
    if (s->field)
        s->axis = of_lj(point)->profile_axis[0] - 'x';
    s->length = s->axis == 2 && s->slit.width > 0 ? s->slit.width : s->box[s->axis];
}

void lj_slit_of(const struct ergo_point *point, struct lj_slit *slit) {
    memset(slit, 0, sizeof *slit);
    if (!lj_has_slit(point))
        return;
    slit->width = of_lj(point)->slit_width.real;
    slit->epsilon = of_lj(point)->slit_epsilon.real;
    slit->sigma = of_lj(point)->slit_sigma.real;
    slit->density = of_lj(point)->slit_density.real;
    slit->spacing = of_lj(point)->slit_spacing.real;
    slit->unit = 2 * PI * slit->density * slit->epsilon * slit->sigma * slit->sigma * slit->spacing;
}

/* w at z > 0 and its slope, in units of slit->unit. */
static double wall(const struct lj_slit *slit, double z, double *slope) {
    const double x = slit->sigma / z, x2 = x * x, x4 = x2 * x2, x10 = x4 * x4 * x2;
    const double y = slit->sigma / (z + 0.61 * slit->spacing), y3 = y * y * y;
    const double third = y3 * slit->sigma / (3 * slit->spacing);
    *slope = 4 * (x4 - x10) / z + 3 * third * y / slit->sigma;
    return 0.4 * x10 - x4 - third;
}

/* The same of both walls; HIGHEST and more where there is one. */
static double between(const struct lj_slit *slit, double z, double *slope) {
    double lower, upper;
    *slope = 0;
    if (z <= 0 || z >= slit->width)
        return 2 * HIGHEST;
    const double u = wall(slit, z, &lower) + wall(slit, slit->width - z, &upper);
    *slope = lower - upper;
    return u;
}

double lj_slit_energy(const struct lj_slit *slit, double z) {
    double slope;
    return slit->unit * between(slit, z, &slope);
}

static double height_of(const struct lj_system *s, double layer) {
    return s->box[2] * layer / LJ_FIELD_LAYERS;
}

void lj_field_table(const struct lj_system *s, float *table) {
    const double h = height_of(s, 1);
    for (uint32_t k = 0; k < LJ_FIELD_LAYERS; k++, table += 4) {
        double slope, end_slope;
        const double u = between(&s->slit, height_of(s, k), &slope);
        const double end = between(&s->slit, height_of(s, k + 1.0), &end_slope);
        memset(table, 0, 4 * sizeof *table);
        if (u > HIGHEST || end > HIGHEST) {
            table[0] = LJ_WALL;
            continue;
        }
        slope *= h;
        end_slope *= h;
        table[0] = (float)u;
        table[1] = (float)slope;
        table[2] = (float)(3 * (end - u) - 2 * slope - end_slope);
        table[3] = (float)(2 * (u - end) + slope + end_slope);
    }
}

static double lj_slit_least(const struct lj_system *s) {
    double least = 2 * HIGHEST, slope;
    for (uint32_t k = 0; k < LJ_FIELD_LAYERS; k++)
        least = fmin(least, between(&s->slit, height_of(s, k), &slope));
    return s->slit.unit * least;
}

void lj_slit_free(const struct lj_system *s, double range[2]) {
    /* where a particle at rest would stay; in a slit that only repels, near its middle */
    const double least = lj_slit_least(s), most = least < 0 ? 0 : least + s->temperature;
    range[0] = s->slit.width;
    range[1] = 0;
    for (uint32_t k = 0; k < LJ_FIELD_LAYERS; k++) {
        const double z = height_of(s, k);
        if (z <= 0 || z >= s->slit.width || lj_slit_energy(&s->slit, z) > most)
            continue;
        range[0] = fmin(range[0], z);
        range[1] = fmax(range[1], z);
    }
}

double lj_slit_henry(const struct lj_system *s) {
    enum { INTERVALS = 1 << 15 };
    double sum = 0;
    /* both ends of the interval have weight 0 */
    for (int i = 1; i < INTERVALS; i++) {
        const double u = lj_slit_energy(&s->slit, s->slit.width * i / INTERVALS);
        sum += (i % 2 ? 4.0 : 2.0) * (u > 100 * s->temperature ? 0 : exp(-u / s->temperature));
    }
    return s->slit.width / INTERVALS / 3 * sum;
}

/* Bins of the profile in the length of the box, in units of 2^-16. */
static double bins_of(const struct lj_system *y, double bins) {
    return floor(bins * y->box[y->axis] / y->length * 0x1p16 + 0.5);
}

uint32_t lj_profile_bins(const struct lj_state *s) {
    return (uint32_t)bins_of(&s->system, s->launch.bins);
}

void lj_profile_convert(const struct lj_state *s, const uint64_t *counts, double *density) {
    const struct lj_system *y = &s->system;
    const double height = y->slit.width > 0 ? y->slit.width : y->box[2];
    const double layer = y->box[0] * y->box[1] * height / s->launch.bins;
    for (size_t k = 0; k < s->launch.bins; k++)
        density[k] = (double)counts[k] / layer;
}

/* ---- checks -----------------------------------------------------------------------------------
 */

/* One bulk_density for points of a scan that have other reservoirs. Its first and last point differ
 * in all that is scanned. */
static enum ergo_status check_bulk(struct ergo_context *ctx, const struct ergo_point *point) {
    const struct ergo_job *job = point->job;
    const struct ergo_point *a = &job->points[0], *b = &job->points[job->n_points - 1];
    const struct lj_system x = lj_system_of(a), y = lj_system_of(b);
    const bool one = of_lj(a)->slit_bulk_density.real == of_lj(b)->slit_bulk_density.real;
    if (!of_lj(point)->slit_bulk_density.present || !one ||
        (x.temperature == y.temperature && x.activity == y.activity))
        return ERGO_OK;
    return ergo_job_error(
        ctx, "/system/slit/bulk_density",
        "%.10g is the bulk fluid's at one temperature and activity, but these are "
        "scanned: excess_adsorption would be wrong. Leave it out, and let `ergocl "
        "analyse` put this run and one of the bulk fluid at the same activities together",
        of_lj(point)->slit_bulk_density.real);
}

/* Of a box that is much higher than the slit. */
static enum ergo_status check_height(struct ergo_context *ctx, const struct ergo_point *point,
                                     const struct lj_system *s) {
    const struct lj_slit *slit = &s->slit;
    const double most = THICKEST * slit->sigma * LJ_FIELD_LAYERS;
    const double least = slit->width + s->cutoff;
    const int64_t bins = of_particle(point)->profile_bins;
    if (s->box[2] > most && least > most)
        return ergo_job_error(ctx, "/system/slit/width",
                              "%.10g and a cutoff of %.10g are more than %.10g, the highest box "
                              "for walls of that sigma: the field is a table of %u layers",
                              slit->width, s->cutoff, most, LJ_FIELD_LAYERS);
    if (s->box[2] > most)
        return ergo_job_error(ctx, "/system/box",
                              "the third side is %.10g, too long for a field of %u layers: use "
                              "%.10g, the slit's width and a cutoff; up to %.10g are possible",
                              s->box[2], LJ_FIELD_LAYERS, least, most);
    if (of_lj(point)->curve_every && bins_of(s, (double)bins) >= 0x1p32)
        return ergo_job_error(ctx, "/run/profile_bins",
                              "%lld, in a box %.4g times as high as the slit: at most %.0f, or use "
                              "%.10g, the slit's width and a cutoff, as third side of the box",
                              (long long)bins, s->box[2] / slit->width,
                              floor(65535 * slit->width / s->box[2]), least);
    return ERGO_OK;
}

static enum ergo_status check_keys(struct ergo_context *ctx, const struct ergo_point *point) {
    static const char *const needed[] = {"/system/slit/epsilon", "/system/slit/sigma",
                                         "/system/slit/density", "/system/slit/spacing"};
    const struct lj_parameters *p = of_lj(point);
    const bool there[] = {p->slit_epsilon.present, p->slit_sigma.present, p->slit_density.present,
                          p->slit_spacing.present};
    for (size_t i = 0; i < sizeof needed / sizeof needed[0]; i++)
        if (!there[i])
            return ergo_job_error(
                ctx, needed[i],
                "missing: a slit has epsilon, sigma (particle and solid), density "
                "(atoms of the solid) and spacing (of its layers)");
    return ERGO_OK;
}

static enum ergo_status check_slit(struct ergo_context *ctx, const struct ergo_point *point,
                                   const struct lj_system *s, double most) {
    const struct lj_slit *slit = &s->slit;
    if (check_keys(ctx, point) != ERGO_OK)
        return ERGO_E_JOB;
    if (s->box[2] < slit->width + s->cutoff)
        return ergo_job_error(ctx, "/system/box",
                              "the third side is %.10g, less than a slit of %.10g and a cutoff of "
                              "%.10g: particles would interact across the walls",
                              s->box[2], slit->width, s->cutoff);
    if (!point->job->again &&
        (check_height(ctx, point, s) != ERGO_OK || check_bulk(ctx, point) != ERGO_OK))
        return ERGO_E_JOB;
    const double per_t = slit->unit / s->temperature, least = lj_slit_least(s) / s->temperature;
    if (!(per_t >= 1e-3 && per_t <= 1e5))
        return ergo_job_error(ctx, "/system/slit/epsilon",
                              "2 pi rho_s epsilon sigma^2 Delta is %.4g T; allowed: 0.001 to 1e5",
                              per_t);
    if (least > 50)
        return ergo_job_error(ctx, "/system/slit/width",
                              "%.10g is too narrow: the energy of a particle is nowhere below "
                              "%.4g T",
                              slit->width, least);
    const double area = s->box[0] * s->box[1];
    const double ideal = s->epsilon == 0 ? s->activity * area * lj_slit_henry(s) : 0;
    if (ideal > LJ_MOST_PARTICLES)
        return ergo_job_error(ctx, "/system/slit/epsilon",
                              "an ideal gas between these walls would have %.4g particles; at most "
                              "2^27",
                              ideal);
    if (fmax(most, ideal) * fabs(least) * s->temperature / s->unit > 0x1p32)
        return ergo_job_error(ctx, "/system/slit/epsilon",
                              "particles at the wall have an energy of %.4g T, too low for the "
                              "range of the arithmetic",
                              least);
    return ERGO_OK;
}

/* What the file of a field says; deep: the lowest energy that particles may have (T). */
static enum ergo_status check_voxels(struct ergo_context *ctx, const struct ergo_point *point,
                                     const struct lj_system *s, double deep,
                                     struct ergo_cube **cube) {
    /* a large file is not read for each point, and has the same values for all */
    if (!lj_has_voxels(point) || point->job->again || point->scan_index > 0)
        return ERGO_OK;
    const enum ergo_status status = lj_voxels_read(ctx, point, s, cube);
    if (status != ERGO_OK)
        return status;
    for (size_t i = 0; i < point->job->n_points; i++) {
        const struct ergo_point *at = &point->job->points[i];
        if (at->replica)
            continue;
        const double u = (*cube)->least * of_lj(at)->field_unit / at->parameters->temperature;
        if (u < 50 && u > deep)
            continue;
        struct ergo_text where = {0};
        ergo_job_error(ctx, "/system/field",
                       "its lowest energy is %.4g T; allowed: %g to 50. Is /system/field_unit "
                       "right?%s",
                       u, deep, ergo_point_place(at, &where));
        ergo_text_free(&where);
        return ERGO_E_JOB;
    }
    return ERGO_OK;
}

/* Of a pair of a particle and each species of atoms. */
static enum ergo_status check_species(struct ergo_context *ctx, const struct ergo_point *point,
                                      const struct lj_atoms *atoms) {
    const struct lj_system s = lj_system_of(point);
    enum ergo_status status = ERGO_OK;
    struct ergo_text where = {0};
    const char *at = ergo_point_place(point, &where);
    for (uint32_t k = 0; k < atoms->n_species && s.epsilon > 0 && status == ERGO_OK; k++) {
        const double e = sqrt(s.epsilon * atoms->epsilon[k]) / s.epsilon;
        const double r = (s.sigma + atoms->sigma[k]) / 2;
        if (!(e >= 1e-3 && e <= 1e3))
            status = ergo_job_error(ctx, "/system/frozen/epsilon",
                                    "epsilon of a pair would be %.4g of that of two particles; "
                                    "allowed: 0.001 to 1000%s",
                                    e, at);
        else if (!(s.cutoff >= 0.2 * r))
            status = ergo_job_error(ctx, "/system/frozen/sigma",
                                    "sigma of a pair would be %.4g; the cutoff of %.10g is below a "
                                    "fifth of it%s",
                                    r, s.cutoff, at);
    }
    ergo_text_free(&where);
    return status;
}

static enum ergo_status check_frozen(struct ergo_context *ctx, const struct ergo_point *point,
                                     const struct lj_system *s, struct lj_atoms **atoms) {
    static const char *const needed[] = {"/system/frozen/epsilon", "/system/frozen/sigma"};
    const bool there[] = {of_lj(point)->frozen_epsilon.present, of_lj(point)->frozen_sigma.present};
    for (size_t i = 0; i < 2; i++)
        if (lj_has_frozen(point) && !there[i])
            return ergo_job_error(ctx, needed[i],
                                  "missing: atoms have epsilon and sigma, a number or a list for "
                                  "the species of the file");
    if (!lj_has_frozen(point))
        return ERGO_OK;
    if (s->epsilon == 0)
        return ergo_job_error(ctx, "/system/epsilon",
                              "with 0 particles would not meet the atoms of /system/frozen either: "
                              "epsilon of a pair is the root of the product. Take a field, or few "
                              "particles");
    if (s->tabulated)
        return ergo_job_error(ctx, "/system/frozen/file",
                              "not with a potential from a file, which is that of two particles: "
                              "make a field (/system/field) of what the atoms do");
    if (point->job->again || point->scan_index > 0)
        return ERGO_OK;
    enum ergo_status status = lj_atoms_read(ctx, point, s, atoms);
    for (size_t i = 0; i < point->job->n_points && status == ERGO_OK; i++)
        if (!point->job->points[i].replica)
            status = check_species(ctx, &point->job->points[i], *atoms);
    return status;
}

enum ergo_status lj_check_field(struct ergo_context *ctx, const struct ergo_point *point,
                                const struct lj_system *s, double most, struct lj_tables *tables) {
    const double deep = -1000;
    if (!s->field)
        return ERGO_OK;
    if (lj_is_matrix(point))
        return ergo_job_error(ctx, "/run/method",
                              "transition-matrix is not for slits, fields and frozen atoms: "
                              "`ergocl analyse` would take the whole box for the volume of the "
                              "fluid. Use method sample");
    if (of_lj(point)->tail_correction)
        return ergo_job_error(ctx, "/system/tail_correction",
                              "not in a slit or field: it is that of a uniform fluid");
    if (s->period)
        return ergo_job_error(ctx, "/system/decomposition",
                              "checkerboard is not for slits, fields and frozen atoms: leave it "
                              "out");
    if (lj_has_slit(point) && check_slit(ctx, point, s, most) != ERGO_OK)
        return ERGO_E_JOB;
    if (most * -deep * s->temperature / s->unit > 0x1p32)
        return ergo_job_error(ctx, "/system/box",
                              "a field with so many particles (%.4g) leaves the range of the "
                              "arithmetic",
                              most);
    const enum ergo_status status = check_voxels(ctx, point, s, deep, &tables->voxels);
    return status == ERGO_OK ? check_frozen(ctx, point, s, &tables->atoms) : status;
}
