/* Starting configurations: fcc lattices, and files. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "job/xyz.h"
#include "samplers/hard_spheres/spheres.h"
#include "samplers/places.h"

bool spheres_start_is_file(const char *start) {
    return strchr(start, '.') || strchr(start, '/');
}

static const double random_most = 0.58; /* packing fraction */

/* A face-centred lattice of at least n sites: cubes along each axis, and the smallest distance of
 * its sites in sigma. */
struct lattice {
    uint64_t cubes[3];
    double distance;
};

static bool walled(const struct spheres_shape *s, int k) {
    return s->confined.is && s->confined.walls.low[k];
}

/* A cube's side along an axis. Between walls the first and the last layer of sites touch them: two
 * layers of a cube are half a side apart. */
static double cube_along(const struct spheres_shape *s, int k, uint64_t cubes) {
    if (!walled(s, k))
        return s->box[k] / (double)cubes;
    return 2.0 * (double)(s->confined.walls.high[k] - s->confined.walls.low[k] - 2) / s->sigma /
           (2.0 * (double)cubes - 1.0);
}

static double distance_of(const struct spheres_shape *s, const uint64_t cubes[3]) {
    double a[3], least = INFINITY;
    for (int k = 0; k < 3; k++) {
        a[k] = cube_along(s, k, cubes[k]);
        if (cubes[k] > 1 || !walled(s, k)) /* else a layer meets no image of itself */
            least = fmin(least, a[k]);
    }
    for (int k = 0; k < 3; k++)
        least = fmin(least, 0.5 * hypot(a[k], a[(k + 1) % 3]));
    return least;
}

/* The one whose sites are farthest apart in this box. */
static struct lattice lattice_of(const struct spheres_shape *s) {
    struct lattice best = {.distance = 0.0};
    const uint64_t need = (s->n + 3) / 4;
    for (uint64_t x = 1; x <= need && (double)x <= s->box[0]; x++)
        for (uint64_t y = 1; y <= (need + x - 1) / x && (double)y <= s->box[1]; y++) {
            const struct lattice l = {.cubes = {x, y, (need + x * y - 1) / (x * y)}};
            const double distance = distance_of(s, l.cubes);
            if (distance > best.distance) {
                best = l;
                best.distance = distance;
            }
        }
    return best;
}

/* With room for rounding to whole units. */
static bool lattice_fits(const struct lattice *l, const struct spheres_shape *s, double diameter) {
    return l->distance * s->sigma >= diameter + 2.0;
}

bool spheres_start_is_random(const struct ergo_point *point) {
    return ergo_says(of_particle(point)->start.text, "random");
}

uint64_t spheres_start_contact(const struct spheres_shape *s) {
    const uint64_t w = SPHERES_W; /* see SPHERES_FEW */
    const uint64_t first = s->slots == SPHERES_FEW ? w * w / 4 * 3 + 3 : w * w / 2 + 1;
    return first < s->contact ? first : s->contact;
}

static void lattice_sites(const struct lattice *l, const struct spheres_shape *s, double (*at)[3]) {
    static const double sites[4][3] = {
        {0.25, 0.25, 0.25}, {0.75, 0.75, 0.25}, {0.75, 0.25, 0.75}, {0.25, 0.75, 0.75}};
    const uint64_t all = 4 * l->cubes[0] * l->cubes[1] * l->cubes[2];
    for (uint64_t i = 0; i < s->n; i++) {
        /* spread vacancies evenly: site floor(i sites / n) */
        const uint64_t site = (uint64_t)((double)i * (double)all / (double)s->n), cube = site / 4;
        const uint64_t c[3] = {cube % l->cubes[0], cube / l->cubes[0] % l->cubes[1],
                               cube / l->cubes[0] / l->cubes[1]};
        for (int k = 0; k < 3; k++) {
            const double x = (double)c[k] + sites[site % 4][k];
            at[i][k] = walled(s, k) ? (double)(s->confined.walls.low[k] + 1) / s->sigma +
                                          (x - 0.25) * cube_along(s, k, l->cubes[k])
                                    : x * s->box[k] / (double)l->cubes[k];
        }
    }
}

static enum ergo_status no_memory(struct ergo_context *ctx, const struct spheres_shape *s) {
    return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory to start %llu spheres",
                     (unsigned long long)s->n);
}

/* Number (from 1) of the sphere in a slot: spheres of a cell are in their order. */
static size_t sphere_at(const struct spheres_shape *s, const uint64_t (*at)[3], size_t cell,
                        unsigned slot) {
    unsigned seen = 0;
    for (size_t i = 0; i < s->n; i++) {
        size_t in = 0;
        for (int k = 2; k >= 0; k--)
            in = in * s->cells[k] + (size_t)(at[i][k] / s->width[k]);
        if (in == cell && seen++ == slot)
            return i + 1;
    }
    return 0;
}

static bool in_wall(const struct spheres_shape *s, int k, double units) {
    return walled(s, k) &&
           (units < (double)s->confined.walls.low[k] || units > (double)s->confined.walls.high[k]);
}

/* Places in whole units. A sphere that touches a wall may be rounded into it. */
static enum ergo_status to_units(struct ergo_context *ctx, const struct spheres_shape *s,
                                 const char *start, const double (*from)[3], uint64_t (*at)[3]) {
    for (size_t i = 0; i < s->n; i++)
        for (int k = 0; k < 3; k++) {
            double units = floor(from[i][k] * s->sigma + 0.5);
            if (in_wall(s, k, units))
                units += units < (double)s->confined.walls.low[k] ? 1 : -1;
            if (in_wall(s, k, units))
                return ERGO_FAIL(
                    ctx, ERGO_E_JOB,
                    "/system/start: in \"%s\" sphere %zu has %c = %.9g sigma, which is "
                    "in a wall: centres are at %.9g to %.9g sigma",
                    start, i + 1, (int)"xyz"[k], from[i][k],
                    (double)s -> confined.walls.low[k] / s->sigma,
                    (double)s->confined.walls.high[k] / s->sigma);
            units -= floor(units / (double)s->side[k]) * (double)s->side[k];
            at[i][k] = units >= (double)s->side[k] ? 0 : (uint64_t)units;
        }
    return ERGO_OK;
}

static enum ergo_status refuse_overlap(struct ergo_context *ctx, const struct spheres_shape *s,
                                       const char *start, const uint64_t (*at)[3], uint64_t r2,
                                       double least, const size_t cell[2], const unsigned slot[2]) {
    const size_t a = sphere_at(s, at, cell[0], slot[0]), b = sphere_at(s, at, cell[1], slot[1]);
    const double found = sqrt((double)r2);
    return ERGO_FAIL(ctx, ERGO_E_JOB,
                     "/system/start: in \"%s\" spheres %zu and %zu overlap: their "
                     "distance is %.9g sigma, %.3g less than is allowed",
                     start, a < b ? a : b, a < b ? b : a, found / s->sigma,
                     (least - found) / s->sigma);
}

/* Places along each axis are right to half a unit, distances to sqrt(3), and contact is rounded up.
 * `more`: what else the start is inexact by, in units. Spheres that overlap by no more are moved
 * apart. */
static enum ergo_status place(struct ergo_context *ctx, const struct spheres_shape *s,
                              const char *start, uint64_t contact, double more,
                              const double (*from)[3], struct spheres_config *c) {
    const double length[3] = {1, 1, 1}, least = sqrt((double)contact);
    uint64_t(*at)[3] = malloc(s->n * sizeof *at);
    size_t cell[2] = {0, 0};
    unsigned slot[2] = {0, 0};
    enum ergo_status status = at ? to_units(ctx, s, start, from, at) : no_memory(ctx, s);
    for (int tries = 0; status == ERGO_OK; tries++) {
        const size_t crowded = spheres_config_place(c, s, (const uint64_t(*)[3])at);
        if (crowded != SIZE_MAX) {
            status = ERGO_FAIL(ctx, ERGO_E_JOB,
                               "/system/start: in \"%s\" sphere %zu is in a cube with side %.4g "
                               "sigma that holds %u others: some overlap",
                               start, crowded + 1, (double)SPHERES_W / s->sigma, s->slots);
            break;
        }
        const uint64_t r2 = spheres_config_closest(c, s, cell, slot);
        if (r2 >= contact)
            break;
        if (tries || sqrt((double)r2) < least - (sqrt(3.0) + 1 + more))
            status = refuse_overlap(ctx, s, start, (const uint64_t(*)[3])at, r2, least, cell, slot);
        else
            status = ergo_places_part(ctx, at, s->n, s->side, length, least,
                                      s->confined.is ? s->confined.walls.low : NULL,
                                      s->confined.walls.high);
    }
    free(at);
    return status;
}

static enum ergo_status read_file(struct ergo_context *ctx, const struct ergo_point *point,
                                  const struct spheres_shape *s, double (*at)[3], double *more) {
    const char *path = of_particle(point)->start.text;
    struct ergo_xyz frame;
    enum ergo_status status = ergo_xyz_read(ctx, point, "/system/start", &frame);
    if (status != ERGO_OK)
        return status;
    const double *l = frame.lattice;
    const bool walls[3] = {walled(s, 0), walled(s, 1), walled(s, 2)};
    bool same = true;
    for (int k = 0; k < 9; k++)
        same = same && fabs(l[k] - (k % 4 == 0 ? s->box[k / 4] : 0.0)) <= 1e-6 * s->box[0] + 1e-9;
    if (frame.n != s->n)
        status = ERGO_FAIL(ctx, ERGO_E_JOB, "/system/n: %llu, but %s has %zu spheres",
                           (unsigned long long)s->n, path, frame.n);
    else if (frame.has_lattice && !same)
        status = ERGO_FAIL(ctx, ERGO_E_JOB,
                           "/system/box: the job's box is %.9f x %.9f x %.9f sigma; that of %s is "
                           "%.9f x %.9f x %.9f: set /system/box or /system/packing_fraction to it",
                           s->box[0], s->box[1], s->box[2], path, l[0], l[4], l[8]);
    if (status == ERGO_OK)
        status = ergo_places_near(ctx, path, &frame, s->box, 3, walls);
    /* the box is rounded, too, and so are pairs across its sides */
    *more = 2 * sqrt(3.0) * frame.rounding * s->sigma;
    for (int k = 0; k < 3 && frame.has_lattice; k++)
        *more += fabs(l[4 * k] - s->box[k]) * s->sigma;
    for (size_t i = 0; i < s->n && status == ERGO_OK; i++)
        for (int k = 0; k < 3; k++)
            at[i][k] = frame.positions[3 * i + (size_t)k];
    ergo_xyz_free(&frame);
    return status;
}

bool spheres_start_fits(const struct ergo_point *point, const struct spheres_shape *s,
                        char *reason) {
    if (spheres_start_is_file(of_particle(point)->start.text))
        return true;
    const struct lattice l = lattice_of(s);
    const double phi = s->density * SPHERES_PI / 6.0;
    if (spheres_start_is_random(point)) {
        if (phi > random_most + 1e-9)
            snprintf(reason, 400,
                     "spheres at random cannot be compressed to packing fraction %.6g; up to %g "
                     "they can. Start from \"fcc\" or from a file",
                     phi, random_most);
        else
            snprintf(reason, 400, "%llu random spheres do not fit this box: start from \"fcc\"",
                     (unsigned long long)s->n);
        return phi <= random_most + 1e-9 &&
               lattice_fits(&l, s, sqrt((double)spheres_start_contact(s)));
    }
    snprintf(reason, 400,
             "an fcc lattice with sites for %llu spheres does not fit the box at packing fraction "
             "%.6g; up to %.4f it does. All sites are filled where the number of spheres is four "
             "times that of cubes: 4 k^3 in a cubic box",
             (unsigned long long)s->n, phi, floor(1e4 * phi * pow(l.distance, 3)) * 1e-4);
    return lattice_fits(&l, s, s->sigma);
}

enum ergo_status spheres_start(struct ergo_context *ctx, const struct ergo_point *point,
                               const struct spheres_shape *s, struct spheres_config *c) {
    const char *start = of_particle(point)->start.text;
    double(*at)[3] = malloc(s->n * sizeof *at);
    enum ergo_status status = ERGO_OK;
    double more = 0;
    if (!at)
        return no_memory(ctx, s);
    if (spheres_start_is_file(start)) {
        status = read_file(ctx, point, s, at, &more);
    } else {
        const struct lattice l = lattice_of(s);
        lattice_sites(&l, s, at);
    }
    if (status == ERGO_OK)
        status = place(ctx, s, start,
                       spheres_start_is_random(point) ? spheres_start_contact(s) : s->contact, more,
                       (const double(*)[3])at, c);
    free(at);
    return status;
}

enum ergo_status spheres_start_check(struct ergo_context *ctx, const struct ergo_point *point,
                                     const struct spheres_shape *s) {
    struct spheres_config config;
    if (!spheres_config_init(&config, s->cells))
        return no_memory(ctx, s);
    const enum ergo_status status = spheres_start(ctx, point, s, &config);
    spheres_config_free(&config);
    return status;
}
