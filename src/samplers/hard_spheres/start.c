/* Starting configurations: fcc lattices, and files. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "samplers/hard_spheres/spheres.h"

static const double random_most = 0.58; /* packing fraction */

/* A face-centred lattice of at least n sites: cubes along each axis, and the smallest distance of
 * its sites in sigma. */
struct lattice {
    uint64_t cubes[3];
    double distance;
};

static bool walled(const struct spheres_shape *s, int k) {
    return ergo_hard_walled(&s->hard, k);
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

static void lattice_sites(const struct lattice *l, const struct spheres_shape *s, double *at) {
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
            at[(size_t)k * s->n + i] = walled(s, k)
                                           ? (double)(s->confined.walls.low[k] + 1) / s->sigma +
                                                 (x - 0.25) * cube_along(s, k, l->cubes[k])
                                           : x * s->box[k] / (double)l->cubes[k];
        }
    }
}

bool spheres_start_fits(const struct ergo_point *point, const struct spheres_shape *s,
                        char *reason) {
    if (ergo_hard_start_is_file(of_particle(point)->start.text))
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
                               const struct ergo_hard *shape, struct ergo_hard_cells *c) {
    const struct spheres_shape *s = (const struct spheres_shape *)shape;
    const char *start = of_particle(point)->start.text;
    if (ergo_hard_start_is_file(start))
        return ergo_hard_start_file(ctx, point, c);
    double *at = malloc(3 * s->n * sizeof *at);
    if (!at)
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory to start %llu spheres",
                         (unsigned long long)s->n);
    const struct lattice l = lattice_of(s);
    lattice_sites(&l, s, at);
    const enum ergo_status status = ergo_hard_put(
        ctx, start, spheres_start_is_random(point) ? spheres_start_contact(s) : s->contact, 0, at,
        c);
    free(at);
    return status;
}
