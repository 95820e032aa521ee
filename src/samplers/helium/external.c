/* External potentials and one-body factors from tables. */
#include "samplers/helium/external.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/portable.h"
#include "helium/params.h"
#include "samplers/helium/liquid.h"
#include "job/input.h"

bool helium_external_is_harmonic(const struct ergo_point *point) {
    return ergo_says(of_quantum(point)->external, "harmonic");
}

bool helium_factor_is_gaussian(const struct ergo_point *point) {
    return ergo_says(of_quantum(point)->one_body_factor, "gaussian");
}

uint32_t helium_one_table(const struct ergo_point *point) {
    const bool plain = helium_external_is_harmonic(point) && helium_factor_is_gaussian(point);
    return !helium_has_sites(point)                         ? HELIUM_ONE_NONE
           : plain || !helium_is_confined(point)            ? HELIUM_ONE_SITES
           : ergo_says(of_quantum(point)->one_body, "slab") ? HELIUM_ONE_SLAB
                                                            : HELIUM_ONE_TRAP;
}

void helium_external_at(const struct helium_model *m, double x, double v[3], double w[3]) {
    const struct helium_external *e = &m->external;
    const double k = m->one.spring, c = m->one.c;
    if (e->v)
        ergo_radial_at(e->v, x, v);
    else
        v[0] = k * x * x, v[1] = 2 * k * x, v[2] = 2 * k;
    if (e->w)
        ergo_radial_at(e->w, x, w);
    else
        w[0] = -c / 2 * x * x, w[1] = -c * x, w[2] = -c;
}

/* ---- pieces ---------------------------------------------------------------------------------- */

/* Pieces per A, or per A^2. */
static double pieces_per(const struct helium_model *m) {
    const struct helium_external *e = &m->external;
    return HELIUM_ONE_PIECES / (m->one.kind == HELIUM_SLAB ? e->end - e->begin : e->end * e->end);
}

/* V, ln phi and its slope (of a trap over x) on piece k. */
static void cubics_of(const struct helium_model *m, unsigned k, struct helium_cubic_host out[3]) {
    const bool slab = m->one.kind == HELIUM_SLAB;
    const double per = pieces_per(m), scale = ldexp(1, HELIUM_U_BITS);
    double f[3][4];
    for (int i = 0; i < 4; i++) {
        const double q = m->external.begin + helium_cubic_node(k, 1, i) / per;
        const double x = slab ? q : sqrt(q);
        double v[3] = {x * x}, w[3] = {-x * x / 2, -x}; /* members have strengths of their own */
        if (m->external.v)
            ergo_radial_at(m->external.v, x, v);
        if (m->external.w) {
            ergo_radial_at(m->external.w, x, w);
            w[0] = fmax(w[0], -4 * (double)HELIUM_SITE_LIMIT / scale);
        }
        f[0][i] = v[0];
        f[1][i] = scale * w[0];
        f[2][i] = slab ? w[1] : w[1] / x;
    }
    for (unsigned which = 0; which < 3; which++)
        out[which] = helium_cubic_fit(f[which], 1);
}

/* ---- files ----------------------------------------------------------------------------------- */

#define V_MOST 1e6        /* K, where an atom comes */
#define RARE 32.0         /* atoms do not come where ln phi is so far below its largest value */
#define CONFINED 6.0      /* and this far where it would see others' images */
#define MISSED 1e-3       /* of an atom's energy by the cubics, on average, */
#define MISSED_THERE 0.05 /* and on any piece */
enum { GRID = 4096 };

/* Middle of cell i of the table's range. */
static double grid_at(const struct helium_model *m, int i) {
    return m->external.begin + (m->external.end - m->external.begin) * (i + 0.5) / GRID;
}

/* The volume of a cell at x, in any unit. */
static double grid_volume(const struct helium_model *m, double x) {
    return m->one.kind == HELIUM_SLAB ? 1 : m->dimensions == 2 ? x : x * x;
}

static double largest_w(const struct helium_model *m) {
    double most = -INFINITY, v[3], w[3];
    for (int i = 0; i < GRID; i++) {
        helium_external_at(m, grid_at(m, i), v, w);
        most = w[0] > most ? w[0] : most;
    }
    return most;
}

static enum ergo_status read_table(struct ergo_context *ctx, const struct ergo_point *point,
                                   const char *key, struct helium_model *m,
                                   struct ergo_radial **curve) {
    struct helium_external *e = &m->external;
    const bool slab = m->one.kind == HELIUM_SLAB;
    const double half = slab ? m->side[2] / 2 : m->half, exact = 1 - 1e-9;
    enum ergo_status status = ergo_radial_read_line(ctx, point, key, curve);
    if (status != ERGO_OK)
        return status;
    const double first = (*curve)->r[0], last = (*curve)->r[(*curve)->n - 1];
    if (!slab && first < 0)
        return ergo_job_error(ctx, key,
                              "%s begins at %.6g A: distances from the trap's middle are "
                              "not negative",
                              ergo_input_name(point, key), first);
    if (last < half * exact || (slab && first > -half * exact))
        return ergo_job_error(ctx, key, "%s has %.6g to %.6g A; %s%.6g A, %s, %s needed",
                              ergo_input_name(point, key), first, last,
                              slab ? "all heights from minus half to half "
                                     "the third side of the box, "
                                   : "all distances up to half the shortest side of the box, ",
                              half, slab ? "0 being the middle plane" : "from its middle", "are");
    e->begin = slab ? fmax(e->begin, first) : 0;
    e->end = fmin(e->end, last);
    return ERGO_OK;
}

/* Half of the box, or to a corner of a trap's. */
static double farthest(const struct helium_model *m) {
    double corner2 = 0;
    for (uint32_t k = 0; k < m->dimensions; k++)
        corner2 += m->side[k] * m->side[k] / 4;
    return m->one.kind == HELIUM_SLAB ? m->side[2] / 2 : sqrt(corner2);
}

/* A bound state within the middle half of the box, or the half around a slab's mean height as far
 * as the box has it: beyond, and where the box ends, atoms do not come. */
static enum ergo_status check_factor(struct ergo_context *ctx, const struct ergo_point *point,
                                     struct helium_model *m) {
    const bool slab = m->one.kind == HELIUM_SLAB;
    const double top = m->external.top;
    double all = 0, mean = 0, square = 0, v[3], w[3], edge = -INFINITY, at = 0;
    for (int i = 0; i < GRID; i++) {
        const double x = grid_at(m, i);
        helium_external_at(m, x, v, w);
        const double weight = grid_volume(m, x) * ergo_portable_exp(2 * (w[0] - top));
        all += weight;
        mean += weight * x;
        square += weight * x * x;
    }
    mean = slab ? mean / all : 0;
    square = square / all - mean * mean;
    m->external.middle = mean;
    m->one.c = (slab ? 1 : m->dimensions) / (2 * square);
    const double half = slab ? m->side[2] / 2 : m->half;
    const double from = slab ? fmax(mean - half / 2, -half) : -1, to = fmin(mean + half / 2, half);
    for (int i = -2; i < GRID; i++) {
        const double x = i == -2 ? to : i == -1 ? (slab ? from : to) : grid_at(m, i);
        helium_external_at(m, x, v, w);
        if ((x <= from || x >= to) && w[0] > edge)
            edge = w[0], at = x;
    }
    if (edge <= top - CONFINED)
        return ERGO_OK;
    return ergo_job_error(
        ctx, "/system/one_body_factor",
        "%s: ln phi %.4g A from %s%s is only %.3g below its largest value; at least %g from %.4g A "
        "on, so that atoms do not see each other's images: use a larger box (/system/density%s), "
        "or a phi that falls sooner",
        of_quantum(point)->one_body_factor, fabs(at - mean),
        slab ? "its mean height" : "the middle",
        !slab || fabs(at) < half ? ""
        : at < 0                 ? ", at the lower end of the box,"
                                 : ", at the upper end of the box,",
        top - edge, CONFINED, at < mean ? mean - from : to - mean, slab ? ", /system/aspect" : "");
}

/* The value of a cubic, and its slope over t. */
static void cubic_at(const struct helium_cubic_host *cubic, double t, double out[2]) {
    const float *c = cubic->c;
    out[0] = (((double)c[3] * t + (double)c[2]) * t + (double)c[1]) * t + (double)c[0];
    out[1] = (3 * (double)c[3] * t + 2 * (double)c[2]) * t + (double)c[1];
}

/* The cubics do not follow the splines: by this part of an atom's energy, most near x. */
static enum ergo_status misses(struct ergo_context *ctx, const struct ergo_point *point,
                               const struct helium_model *m, const char *key, double part,
                               double x) {
    const struct helium_external *e = &m->external;
    const bool slab = m->one.kind == HELIUM_SLAB;
    const double half = slab ? m->side[2] / 2 : m->half;
    char shorter[100] = "use a smaller box and files that end with it";
    if (e->end - e->begin > 1.5 * (slab ? 2 * half : half))
        snprintf(shorter, sizeof shorter, "end the files soon after half the box, %.6g A", half);
    return ergo_job_error(
        ctx, key,
        "%s: kernels read the files as %d cubics from %.6g to %.6g A, equal in "
        "%s, which miss %.2g of an atom's energy, most near %.4g A; at most %g on "
        "average, %g anywhere: %s, or make V and ln phi smoother",
        ergo_input_name(point, key), HELIUM_ONE_PIECES, e->begin, e->end, slab ? "z" : "r^2", part,
        x, MISSED, MISSED_THERE, shorter);
}

/* The cubics follow the splines: V, the kinetic energy and ln phi on average over an atom of phi,
 * and the energy on each piece where an atom comes, for others may push it there. */
static enum ergo_status check_pieces(struct ergo_context *ctx, const struct ergo_point *point,
                                     const struct helium_model *m) {
    enum { POINTS = 8 };
    static const char *const keys[] = {"/system/external", "/system/one_body_factor"};
    const struct helium_external *e = &m->external;
    const bool slab = m->one.kind == HELIUM_SLAB;
    const double per = pieces_per(m), top = m->external.top, reach = farthest(m);
    const double d = slab ? 1 : m->dimensions, unit = ldexp(1, -HELIUM_U_BITS);
    const double by_v = e->v ? 1 : m->one.spring, by_w = e->w ? 1 : m->one.c;
    double usual = 0, all = 0, wrong[3] = {0}, most[2] = {0}, most_at[2] = {0}, w[3], v[3];
    double size[HELIUM_ONE_PIECES] = {0}, error[HELIUM_ONE_PIECES][2] = {{0}};
    for (unsigned k = 0; k < HELIUM_ONE_PIECES; k++) {
        struct helium_cubic_host c[3];
        cubics_of(m, k, c);
        for (int i = 0; i < POINTS; i++) {
            const double t = (i + 0.5) / POINTS, q = e->begin + (k + t) / per;
            const double x = slab ? q : sqrt(q);
            double f[3][2];
            helium_external_at(m, x, v, w);
            if (fabs(x) > reach || w[0] <= top - RARE)
                continue;
            for (int which = 0; which < 3; which++)
                cubic_at(&c[which], t, f[which]);
            const double slope = by_w * f[2][0] * (slab ? 1 : x), bend = by_w * per * f[2][1];
            const double laplacian = slab ? bend : d * by_w * f[2][0] + 2 * q * bend;
            const double exact = w[2] + (d - 1) * w[1] / x;
            const double miss[2] = {fabs(by_v * f[0][0] - v[0]),
                                    m->lambda *
                                        fabs(laplacian + slope * slope - exact - w[1] * w[1])};
            /* pieces are equal in z or r^2, so a point has dz or r dr */
            const double weight =
                grid_volume(m, x) / (slab ? 1 : x) * ergo_portable_exp(2 * (w[0] - top));
            const double share = fabs(v[0]) + m->lambda * w[1] * w[1];
            /* few are near a trap's middle, where w'/r of a file may be large */
            const double near =
                slab ? 1 : fmin(1, grid_volume(m, x) / grid_volume(m, sqrt(d / (2 * m->one.c))));
            all += weight;
            usual += weight * share;
            size[k] += share + m->lambda * fabs(exact);
            for (int which = 0; which < 2; which++) {
                wrong[which] += weight * miss[which];
                error[k][which] += near * miss[which];
                if (weight * miss[which] > most[which])
                    most[which] = weight * miss[which], most_at[which] = x;
            }
            wrong[2] += weight * fabs(unit * by_w * f[1][0] - w[0]);
        }
    }
    for (int which = 0; which < 2; which++)
        if (!(wrong[which] <= MISSED * usual))
            return misses(ctx, point, m, keys[which], wrong[which] / usual, most_at[which]);
    if (!(wrong[2] <= MISSED * all))
        return misses(ctx, point, m, keys[1], wrong[2] / all, most_at[1]);
    for (unsigned k = 0; k < HELIUM_ONE_PIECES; k++)
        for (int which = 0; which < 2; which++) {
            const double there = size[k] + POINTS * usual / all, q = e->begin + (k + 0.5) / per;
            if (!(error[k][which] <= MISSED_THERE * there))
                return misses(ctx, point, m, keys[which], error[k][which] / there,
                              slab ? q : sqrt(q));
        }
    return ERGO_OK;
}

/* V where an atom comes. */
static enum ergo_status check_potential(struct ergo_context *ctx, const struct ergo_point *point,
                                        const struct helium_model *m) {
    const double top = m->external.top;
    double v[3], w[3];
    for (int i = 0; i < GRID; i++) {
        helium_external_at(m, grid_at(m, i), v, w);
        if (w[0] > top - RARE && !(fabs(v[0]) <= V_MOST))
            return ergo_job_error(ctx, "/system/external",
                                  "%s: V is %.3g K at %.4g A, where psi lets atoms come; at most "
                                  "%g K: cut it there, or use a factor that vanishes",
                                  of_quantum(point)->external, v[0], grid_at(m, i), V_MOST);
    }
    return ERGO_OK;
}

enum ergo_status helium_external_load(struct ergo_context *ctx, const struct ergo_point *point,
                                      struct helium_model *m) {
    struct helium_external *e = &m->external;
    enum ergo_status status = ERGO_OK;
    *e = (struct helium_external){.begin = -INFINITY, .end = INFINITY};
    if (helium_one_table(point) < HELIUM_ONE_TRAP)
        return ERGO_OK;
    if (!helium_external_is_harmonic(point))
        status = read_table(ctx, point, "/system/external", m, &e->v);
    if (status == ERGO_OK && !helium_factor_is_gaussian(point))
        status = read_table(ctx, point, "/system/one_body_factor", m, &e->w);
    if (status == ERGO_OK)
        e->top = largest_w(m);
    if (status == ERGO_OK && e->w)
        status = check_factor(ctx, point, m);
    if (status == ERGO_OK)
        status = check_potential(ctx, point, m);
    return status == ERGO_OK ? check_pieces(ctx, point, m) : status;
}

void helium_external_free(struct helium_model *m) {
    ergo_radial_free(m->external.v);
    ergo_radial_free(m->external.w);
    m->external.v = m->external.w = NULL;
}

/* ---- for kernels ----------------------------------------------------------------------------- */

size_t helium_external_words(const struct ergo_point *point) {
    return helium_one_table(point) >= HELIUM_ONE_TRAP ? 4 * (size_t)HELIUM_ONE_CUBICS : 0;
}

void helium_external_table(const struct helium_model *m, int32_t *out) {
    for (unsigned k = 0; k < HELIUM_ONE_PIECES; k++) {
        struct helium_cubic_host c[3];
        cubics_of(m, k, c);
        for (unsigned which = 0; which < 3; which++)
            memcpy(out + 4 * (which * (size_t)HELIUM_ONE_PIECES + k), c[which].c,
                   sizeof c[which].c);
    }
}

void helium_external_member(const struct helium_model *m, struct helium_member *member) {
    const bool slab = m->one.kind == HELIUM_SLAB;
    const double per = pieces_per(m), root = sqrt(m->lambda);
    member->site_u = (float)per;
    member->site_v = (float)(slab ? -m->external.begin * per : 0);
    member->site_mean = (float)root;
    member->one_v = (float)(m->external.v ? 1 : m->one.spring);
    member->one_w = (float)(m->external.w ? 1 : m->one.c);
    for (int k = 0; k < 3; k++)
        member->site_force[k] = (float)(m->one.along[k] * root / (slab ? m->side[k] * 0x1p-32 : 1));
}

void helium_external_shares(const struct helium_model *m, double usual[4], double largest[4]) {
    const bool slab = m->one.kind == HELIUM_SLAB;
    const double top = m->external.top, around = slab ? 0 : m->dimensions - 1.0;
    double all = 0, sums[4] = {0}, most[4] = {0}, v[3], w[3];
    for (int i = 0; i < GRID; i++) {
        const double x = grid_at(m, i);
        helium_external_at(m, x, v, w);
        const double weight = grid_volume(m, x) * ergo_portable_exp(2 * (w[0] - top));
        const double f[4] = {fabs(v[0]), fabs(x * v[1]), m->lambda * fabs(w[2] + around * w[1] / x),
                             sqrt(m->lambda) * fabs(w[1])};
        all += weight;
        for (int k = 0; k < 4; k++) {
            sums[k] += weight * f[k];
            most[k] = w[0] > top - RARE ? fmax(most[k], f[k]) : most[k];
        }
    }
    for (int k = 0; k < 4; k++) {
        usual[k] += sums[k] / all;
        largest[k] += 2 * most[k];
    }
}
