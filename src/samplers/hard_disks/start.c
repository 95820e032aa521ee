/* Starting configurations: lattices, compressed random points, files. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "io/xyz.h"
#include "samplers/hard_disks/disks.h"

/* Sites of `rows` rows of `columns`, every other row half a site to the right. */
static double hexagonal_distance(double box, uint64_t columns, uint64_t rows) {
    const double a = box / (double)columns, h = box / (double)rows;
    return fmin(a, fmin(sqrt(0.25 * a * a + h * h), 2.0 * h));
}

bool disks_lattice(const struct disks_shape *s, bool hexagonal, double *x, double *y) {
    uint64_t columns = (uint64_t)ceil(sqrt((double)s->n)), rows = (s->n + columns - 1) / columns;
    double distance = fmin(s->box / (double)columns, s->box / (double)rows);
    if (hexagonal) { /* the lattice in the box whose sites are the farthest from each other */
        distance = 0.0;
        const uint64_t most = 2 * columns + 2;
        for (uint64_t r = 2; r <= most; r += 2) {
            const uint64_t k = (s->n + r - 1) / r;
            const double d = hexagonal_distance(s->box, k, r);
            if (d > distance) {
                distance = d;
                rows = r;
                columns = k;
            }
        }
    }
    if (distance * s->sigma < s->sigma + 2.0) /* room to round to whole units */
        return false;
    const double a = s->box / (double)columns, h = s->box / (double)rows;
    const uint64_t sites = rows * columns;
    for (uint64_t i = 0; i < s->n; i++) {
        /* vacancies spread evenly: site floor(i sites / n) */
        const uint64_t site = (uint64_t)((double)i * (double)sites / (double)s->n);
        const uint64_t row = site / columns;
        const double shift = hexagonal ? 0.25 + 0.5 * (double)(row % 2) : 0.5;
        x[i] = ((double)(site % columns) + shift) * a;
        y[i] = ((double)row + 0.5) * h;
    }
    return true;
}

/* Whole units in the box. */
static uint64_t to_units(const struct disks_shape *s, double x) {
    double units = floor(x * s->sigma + 0.5);
    units -= floor(units / (double)s->side) * (double)s->side;
    return units >= (double)s->side ? 0 : (uint64_t)units;
}

/* Number (from 1) of the disk in a slot. */
static size_t disk_at(const struct disks_shape *s, const uint64_t *x, const uint64_t *y,
                      const struct disks_config *c, size_t cell, unsigned slot) {
    unsigned seen = 0;
    for (size_t i = 0; i < s->n; i++)
        if ((size_t)(y[i] / s->width) * c->cells + (size_t)(x[i] / s->width) == cell &&
            seen++ == slot)
            return i + 1;
    return 0;
}

static double distance_of(const struct disks_shape *s, const double *x, const double *y, size_t i,
                          size_t j) {
    double dx = fabs(fmod(x[i] - x[j], s->box)), dy = fabs(fmod(y[i] - y[j], s->box));
    dx = fmin(dx, s->box - dx);
    dy = fmin(dy, s->box - dy);
    return sqrt(dx * dx + dy * dy);
}

/* Five disks in a cell or an overlap: the pair that is too close. */
static enum ergo_status refuse_overlap(struct ergo_context *ctx, const struct disks_shape *s,
                                       const char *start, const double *x, const double *y,
                                       size_t i, size_t j) {
    return ERGO_FAIL(ctx, ERGO_E_JOB,
                     "/system/start: in \"%s\" disks %zu and %zu overlap: their distance is %.9g "
                     "sigma",
                     start, i < j ? i : j, i < j ? j : i, distance_of(s, x, y, i - 1, j - 1));
}

static enum ergo_status place(struct ergo_context *ctx, const struct disks_shape *s,
                              const char *start, const double *x, const double *y,
                              struct disks_config *c) {
    uint64_t *ux = malloc(2 * s->n * sizeof *ux), *uy = ux ? ux + s->n : NULL;
    size_t cell[2];
    unsigned slot[2];
    enum ergo_status status = ERGO_OK;
    if (!ux)
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory to start %llu disks",
                         (unsigned long long)s->n);
    for (size_t i = 0; i < s->n; i++) {
        ux[i] = to_units(s, x[i]);
        uy[i] = to_units(s, y[i]);
    }
    const size_t fifth = disks_config_place(c, s, ux, uy);
    if (fifth != SIZE_MAX) { /* among five disks in a cell two overlap */
        size_t closest = 0;
        for (size_t i = 0; i < fifth; i++)
            if (distance_of(s, x, y, i, fifth) < distance_of(s, x, y, closest, fifth))
                closest = i;
        status = refuse_overlap(ctx, s, start, x, y, closest + 1, fifth + 1);
    } else if (disks_config_overlap(c, s, cell, slot)) {
        status = refuse_overlap(ctx, s, start, x, y, disk_at(s, ux, uy, c, cell[0], slot[0]),
                                disk_at(s, ux, uy, c, cell[1], slot[1]));
    }
    free(ux);
    return status;
}

static enum ergo_status read_file(struct ergo_context *ctx, const struct disks_shape *s,
                                  const char *path, double *x, double *y) {
    struct ergo_xyz frame;
    enum ergo_status status = ergo_xyz_read(ctx, path, &frame);
    if (status != ERGO_OK)
        return status;
    const double *l = frame.lattice;
    if (frame.n != s->n)
        status = ERGO_FAIL(ctx, ERGO_E_JOB, "/system/n: %llu, but %s has %zu disks",
                           (unsigned long long)s->n, path, frame.n);
    else if (frame.has_lattice && (fabs(l[0] - s->box) > 1e-6 || fabs(l[4] - s->box) > 1e-6 ||
                                   l[1] != 0.0 || l[3] != 0.0))
        status = ERGO_FAIL(ctx, ERGO_E_JOB,
                           "/system/box: the job's box is %.9f sigma, square; that of %s is %.9f x "
                           "%.9f: set /system/box or /system/packing_fraction to it",
                           s->box, path, l[0], l[4]);
    for (size_t i = 0; i < s->n && status == ERGO_OK; i++) {
        x[i] = frame.positions[3 * i];
        y[i] = frame.positions[3 * i + 1];
    }
    ergo_xyz_free(&frame);
    return status;
}

enum ergo_status disks_start(struct ergo_context *ctx, const struct ergo_point *point,
                             const struct disks_shape *s, struct disks_config *c) {
    const char *start = ergo_point_text(point, "/system/start");
    double *x = malloc(2 * s->n * sizeof *x), *y = x ? x + s->n : NULL;
    enum ergo_status status = ERGO_OK;
    if (!x)
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory to start %llu disks",
                         (unsigned long long)s->n);
    const double phi = s->density * DISKS_PI / 4.0;
    if (strcmp(start, "hexagonal") == 0 || strcmp(start, "square") == 0) {
        if (!disks_lattice(s, *start == 'h', x, y))
            status = ERGO_FAIL(ctx, ERGO_E_JOB,
                               "/system/start: a %s lattice of %llu disks at packing fraction %.6g "
                               "does not fit the square box without overlaps%s",
                               start, (unsigned long long)s->n, phi,
                               *start == 's' ? "; \"hexagonal\" is denser" : "");
    } else if (strcmp(start, "random") == 0) {
        if (!disks_compress(s, point->stream, x, y))
            status = ERGO_FAIL(ctx, ERGO_E_JOB,
                               "/system/start: random disks could not be compressed to packing "
                               "fraction %.6g; start from \"hexagonal\" (always possible below "
                               "about 0.9), or from a file",
                               phi);
    } else {
        status = read_file(ctx, s, start, x, y);
    }
    if (status == ERGO_OK)
        status = place(ctx, s, start, x, y, c);
    free(x);
    return status;
}
