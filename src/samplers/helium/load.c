/* The functions of a model: from files, or made from the potential. */
#include <math.h>
#include <string.h>

#include "base/portable.h"
#include "samplers/helium/liquid.h"

bool helium_is_file(const char *text) {
    return strpbrk(text, "./") != NULL;
}

/* Read the potential from a file, and check that it reaches half the shortest side. */
static enum ergo_status load_potential(struct ergo_context *ctx, const struct ergo_point *point,
                                       const char *path, struct helium_model *m) {
    enum ergo_status status = ergo_radial_read(ctx, point, "/system/potential", &m->v_curve);
    if (status == ERGO_OK && m->v_curve->r[m->v_curve->n - 1] < m->half)
        status = ergo_job_error(ctx, "/system/potential",
                                "%s ends at %.6g A; up to half the shortest side, %.6g A, is "
                                "needed",
                                path, m->v_curve->r[m->v_curve->n - 1], m->half);
    return status;
}

/* Where u ends with a slope, lap u has a delta function that no local energy sees: per atom lambda
 * density 4 pi L^2/4 |u'| (in two dimensions 2 pi L/2) if pairs come there, which |psi|^2 of a
 * bound pair prevents. In units of lambda density^(2/d) this much passes; kinetic_difference of
 * helium-vmc tells of less. */
#define SLOPE_MOST 0.1

static enum ergo_status check_end(struct ergo_context *ctx, const char *path,
                                  const struct helium_model *m) {
    const double pi = 3.14159265358979323846, h = m->half;
    double end[3], most = 0;
    for (int k = 0; k <= 256; k++) {
        double u[3];
        helium_model_pair_u(m, m->core + (h - m->core) * k / 256, u);
        most = fmax(most, u[0]);
    }
    helium_model_pair_u(m, h * (1 - 1e-12), end);
    const double around = m->dimensions == 2 ? 2 * pi * h : 4 * pi * h * h;
    const double surface = around * m->density * fabs(end[1]);
    const double weight = ergo_portable_exp(-2 * most);
    const double apart = helium_apart(m->dimensions, m->density);
    if (surface * weight <= SLOPE_MOST / (apart * apart))
        return ERGO_OK;
    return ergo_job_error(ctx, "/system/symmetrised",
                          "false: f of %s has the slope %.3g per A at half the shortest side, %.4g "
                          "A, where u ends: energies would be wrong by %.2g K per atom. Let f "
                          "become flat there, or use true",
                          path, end[1], h, surface * weight * m->lambda);
}

static enum ergo_status load_wave_function(struct ergo_context *ctx, const struct ergo_point *point,
                                           const char *path, struct helium_model *m) {
    enum ergo_status status = ergo_radial_read(ctx, point, "/system/wave_function", &m->f_curve);
    if (status != ERGO_OK)
        return status;
    const struct ergo_radial *f = m->f_curve;
    const double first = f->r[0], last = f->r[f->n - 1];
    m->core = m->core > first ? m->core : first;
    const double need = m->symmetrised ? 2 * m->half - m->core : m->half;
    if (last < need * (1 - 1e-9))
        return ergo_job_error(ctx, "/system/wave_function",
                              "%s ends at %.6g A; up to %.6g A is needed%s", path, last, need,
                              m->symmetrised ? " for f(L - r), or /system/symmetrised false" : "");
    helium_model_core(m);
    /* runs that are there already can be read */
    const bool ends = !m->symmetrised && !helium_is_confined(point) && !point->job->again;
    return ends ? check_end(ctx, path, m) : ERGO_OK;
}

/* The healing distance with the smallest spread of energies of 64 atoms at 0.02186 A^-3, A. */
#define HEALING 5.5

/* Between two atoms only, so that it is the same for every number of them. */
static enum ergo_status make_wave_function(struct ergo_context *ctx, const struct ergo_point *point,
                                           struct helium_model *m) {
    const double wish = of_quantum(point)->healing;
    const double usual = HEALING < m->half ? HEALING : m->half;
    if (wish > m->half)
        return ergo_job_error(ctx, "/system/healing",
                              "%g A; at most half the shortest side of the box, %.6g A", wish,
                              m->half);
    m->symmetrised = false;
    enum ergo_status status = helium_two_body(ctx, m, wish > 0 ? wish : usual, &m->f_curve);
    if (status == ERGO_OK) {
        const double first = m->f_curve->r[0];
        m->core = m->core > first ? m->core : first;
        helium_model_core(m);
    }
    return status;
}

static enum ergo_status choose_units(struct ergo_context *ctx, struct helium_model *m) {
    double most = 0, usual = 0;
    int kind = 0;
    if (helium_fixed_point(m, &kind, &most, &usual))
        return ERGO_OK;
    const bool kinetic = kind > 1, light = kinetic && m->lambda > 1e6;
    return ergo_job_error(
        ctx,
        light     ? "/system/mass"
        : kinetic ? "/system/wave_function"
                  : "/system/potential",
        "the %s energy of an atom can come to %.3g K (usual are %.3g K): the fixed-point sums hold "
        "1e27 K at most, with units that are then too coarse for the usual ones. %s",
        kinetic ? "kinetic" : "potential", most, usual,
        light     ? "Use a larger mass"
        : kinetic ? "Use a wave function that is less steep at short distances"
                  : "Use a potential that is lower at short distances, smaller /system/epsilon or "
                    "/system/sigma of lennard-jones, or a larger /system/b");
}

static uint64_t hash_of(const struct helium_model *m) {
    const struct ergo_radial *curves[] = {m->v_curve, m->f_curve, m->external.v, m->external.w};
    uint64_t hash = 0;
    for (unsigned k = 0; k < 4; k++)
        hash += curves[k] ? (2 * k + 1) * curves[k]->hash : 0;
    return hash;
}

enum ergo_status helium_model_load(struct ergo_context *ctx, const struct ergo_point *point,
                                   uint32_t added, struct helium_model *m) {
    const char *potential = of_quantum(point)->potential;
    const char *wave_function = of_quantum(point)->wave_function;
    helium_model_of(point, m);
    m->added = added;
    enum ergo_status status = ERGO_OK;
    if (helium_is_file(potential))
        status = load_potential(ctx, point, potential, m);
    if (status == ERGO_OK && helium_is_file(wave_function))
        status = load_wave_function(ctx, point, wave_function, m);
    if (status == ERGO_OK && helium_is_two_body(point))
        status = make_wave_function(ctx, point, m);
    if (status == ERGO_OK)
        status = helium_external_load(ctx, point, m);
    if (status == ERGO_OK)
        status = choose_units(ctx, m);
    m->hash = hash_of(m);
    if (status != ERGO_OK)
        helium_model_free(m);
    return status;
}

void helium_model_free(struct helium_model *m) {
    ergo_radial_free(m->v_curve);
    ergo_radial_free(m->f_curve);
    m->v_curve = m->f_curve = NULL;
    helium_external_free(m);
}
