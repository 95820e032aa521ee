/* What is measured of atoms and their sites, on the host while the device works. */
#include <math.h>
#include <string.h>

#include "helium/params.h"
#include "samplers/helium/liquid.h"

/* The difference of atom i from its site along each axis, A. */
static void from_site(const struct helium_model *m, const int32_t *place, uint32_t i, double d[3]) {
    uint32_t site[3];
    helium_site_of(&m->one, i, site);
    for (uint32_t k = 0; k < 3; k++)
        d[k] = m->side[k] * 0x1p-32 * (int32_t)((uint32_t)place[k * m->n + i] - site[k]);
}

/* Of a solid, without the motion of all atoms together: the Hamiltonian does not know the sites, so
 * in the ground state the crystal is anywhere. n/(n - 1), as of any sample variance: of atoms that
 * move independently it is the whole spread. In a trap the middle is given. */
static void spread_of(const struct helium_model *m, const int32_t *places, uint32_t walkers,
                      double *spread) {
    const bool solid = helium_one_is_solid(&m->one);
    const double n = m->n, all = (solid ? n - 1 : n) * walkers;
    double sum[3] = {0};
    for (uint32_t w = 0; w < walkers; w++) {
        double shift[3] = {0};
        for (uint32_t i = 0; i < m->n; i++) {
            double d[3];
            from_site(m, places + 3 * (size_t)m->n * w, i, d);
            for (int k = 0; k < 3; k++) {
                sum[k] += d[k] * d[k];
                shift[k] += d[k];
            }
        }
        for (int k = 0; k < 3 && solid; k++)
            sum[k] -= shift[k] * shift[k] / n;
    }
    for (uint32_t k = 0; k < m->dimensions; k++)
        spread[k] = sum[k] / all;
}

/* A profile's bins: `h` wide from `from` on. A slab whose two sides may differ has them of heights.
 */
struct bins {
    size_t count;
    double from, h;
};

static struct bins bins_of(const struct ergo_point *point, const struct helium_model *m) {
    const bool slab = m->one.kind == HELIUM_SLAB;
    const double reach = slab ? m->side[2] / 2 : m->half;
    struct bins b = {helium_gr_size(point), 0, 0};
    b.from = helium_one_table(point) == HELIUM_ONE_SLAB ? -reach : 0;
    b.h = (reach - b.from) / (double)b.count;
    return b;
}

static void profile_of(const struct ergo_point *point, const struct helium_model *m,
                       const int32_t *places, uint32_t walkers, double *profile) {
    const struct bins b = bins_of(point, m);
    memset(profile, 0, b.count * sizeof *profile);
    for (uint32_t w = 0; w < walkers; w++)
        for (uint32_t i = 0; i < m->n; i++) {
            double d[3];
            from_site(m, places + 3 * (size_t)m->n * w, i, d);
            const double *along = m->one.along;
            const double r =
                sqrt(along[0] * d[0] * d[0] + along[1] * d[1] * d[1] + along[2] * d[2] * d[2]);
            const double x = ((b.from < 0 ? d[2] : r) - b.from) / b.h;
            if (x < (double)b.count)
                profile[(size_t)x] += 1;
        }
    for (size_t i = 0; i < b.count; i++) {
        const double at = b.h * (double)i, area = (b.from < 0 ? 1 : 2) * m->side[0] * m->side[1];
        const double shell = m->one.kind == HELIUM_SLAB
                                 ? area * b.h
                                 : helium_shell(m->dimensions, at, b.h * (double)(i + 1));
        profile[i] /= shell * m->n * walkers;
    }
}

bool helium_measures_solid(const struct ergo_point *point) {
    return helium_is_solid(point) && of_quantum(point)->structure_every > 0;
}

double helium_lindemann(const struct ergo_point *point, const double *spread, size_t size) {
    struct helium_model model;
    double sum = 0;
    helium_model_box(point, &model);
    for (size_t k = 0; k < size; k++)
        sum += spread[k];
    return sqrt(sum) / helium_nearest_sites(&model);
}

size_t helium_site_curve_size(const struct ergo_point *point, size_t curve) {
    return !helium_has_sites(point) || !of_quantum(point)->structure_every ? 0
           : curve == HELIUM_SPREAD ? helium_dimensions(point)
                                    : helium_gr_size(point);
}

void helium_site_curve_x(const struct ergo_point *point, size_t curve, double *x) {
    struct helium_model model;
    helium_model_box(point, &model);
    const struct bins b = bins_of(point, &model);
    for (size_t i = 0; curve == HELIUM_PROFILE && i < b.count; i++)
        x[i] = b.from + b.h * ((double)i + 0.5);
    for (uint32_t k = 0; curve == HELIUM_SPREAD && k < model.dimensions; k++)
        x[k] = k + 1;
}

void helium_site_curve(const struct ergo_point *point, const struct helium_model *model,
                       size_t curve, const int32_t *places, uint32_t walkers, double *out) {
    if (helium_site_curve_size(point, curve) == 0)
        return;
    if (curve == HELIUM_SPREAD)
        spread_of(model, places, walkers, out);
    else
        profile_of(point, model, places, walkers, out);
}
