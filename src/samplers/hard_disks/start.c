/* Starting configurations: lattices, files, and the first configuration of random starts. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hard_disks/core.h"
#include "job/xyz.h"
#include "samplers/hard_disks/disks.h"
#include "samplers/places.h"

enum lattice_kind { HEXAGONAL, TURNED, SQUARE, OBLIQUE };

/* A lattice of at least n sites in a box, and the smallest distance of its sites in sigma. TURNED
 * is hexagonal with rows along y, for boxes with different sides. */
struct lattice {
    enum lattice_kind kind;
    uint64_t columns, rows;
    double distance;
};

static bool walled(const struct disks_shape *s, int axis) {
    return s->confined.is && s->confined.walls.low[axis];
}

/* The distance of sites along an axis; between walls the first and the last ones, which are all but
 * `less` of the spacings apart, touch them. */
static double spacing(const struct disks_shape *s, int axis, double sites, double less) {
    if (!walled(s, axis))
        return s->box[axis] / sites;
    const struct ergo_walls *w = &s->confined.walls;
    return (double)(w->high[axis] - w->low[axis] - 2) / s->unit[axis] / fmax(sites - less, 0.5);
}

/* The place of site number i, where the first one in a periodic box is `shift` spacings from its
 * edge, and the least of all shifts is `least`. */
static double site_at(const struct disks_shape *s, int axis, double i, double shift, double least,
                      double distance) {
    if (!walled(s, axis))
        return (i + shift) * distance;
    return (double)(s->confined.walls.low[axis] + 1) / s->unit[axis] +
           (i + shift - least) * distance;
}

/* Do sites that are `apart` spacings apart along an axis meet, of which there are so many? Between
 * walls there are no images. */
static bool meet(const struct disks_shape *s, int axis, uint64_t sites, uint64_t apart) {
    return !walled(s, axis) || sites > apart;
}

/* The smallest distance with `rows` rows of `columns` sites, every other row shifted half a site to
 * the right. */
static double hexagonal_distance(const struct disks_shape *s, bool turned, uint64_t columns,
                                 uint64_t rows) {
    const double a = spacing(s, turned, (double)columns, 0.5);
    const double h = spacing(s, !turned, (double)rows, 1);
    double least = meet(s, turned, columns, 1) ? a : INFINITY;
    if (meet(s, !turned, rows, 1))
        least = fmin(least, sqrt(0.25 * a * a + h * h));
    return meet(s, !turned, rows, 2) ? fmin(least, 2.0 * h) : least;
}

static double square_distance(const struct disks_shape *s, uint64_t columns, uint64_t rows) {
    const double x = meet(s, 0, columns, 1) ? spacing(s, 0, (double)columns, 1) : INFINITY;
    return meet(s, 1, rows, 1) ? fmin(x, spacing(s, 1, (double)rows, 1)) : x;
}

/* The same with site i at (i, 2 i) / n. In boxes of four cells, no other lattice keeps five or six
 * disks as far apart. */
static double oblique_distance(const double box[2], uint64_t n) {
    double least = fmin(box[0], box[1]);
    for (uint64_t i = 1; i < n; i++) {
        double x = (double)i / (double)n, y = (double)(2 * i % n) / (double)n;
        x = fmin(x, 1.0 - x) * box[0];
        y = fmin(y, 1.0 - y) * box[1];
        least = fmin(least, sqrt(x * x + y * y));
    }
    return least;
}

static struct lattice lattice_of(const struct disks_shape *s, enum lattice_kind kind) {
    const double box[2] = {s->box[kind == TURNED], s->box[kind != TURNED]};
    const uint64_t across = (uint64_t)ceil(sqrt((double)s->n * (box[0] / box[1])));
    const uint64_t side = (uint64_t)ceil(sqrt((double)s->n * (box[1] / box[0])));
    struct lattice l = {kind, across, (s->n + across - 1) / across, 0.0};
    l.distance = square_distance(s, l.columns, l.rows);
    for (int k = 0; k < 2; k++) { /* in narrow slits one row, along the walls */
        const uint64_t columns = k ? s->n : 1, rows = k ? 1 : s->n;
        const double d = walled(s, k) ? square_distance(s, columns, rows) : 0.0;
        if (d > l.distance)
            l = (struct lattice){kind, columns, rows, d};
    }
    if (kind == OBLIQUE)
        l.distance = s->n <= 64 ? oblique_distance(box, s->n) : 0.0;
    if (kind != HEXAGONAL && kind != TURNED)
        return l;
    l.distance = 0.0; /* choose the lattice whose sites are farthest apart in this box */
    for (uint64_t r = walled(s, kind != TURNED) ? 1 : 2; r <= 2 * side + 2; r += r > 1 ? 2 : 1) {
        const uint64_t k = (s->n + r - 1) / r;
        const double d = hexagonal_distance(s, kind == TURNED, k, r);
        if (d > l.distance) {
            l.distance = d;
            l.rows = r;
            l.columns = k;
        }
    }
    return l;
}

/* Do disks of that diameter in units fit, with room for rounding to whole units? */
static bool lattice_fits(const struct lattice *l, const struct disks_shape *s, double diameter) {
    return l->distance * s->sigma >= diameter + (s->rectangular ? 4.0 : 2.0);
}

/* The better one of both ways to lay the rows. */
static struct lattice hexagonal_of(const struct disks_shape *s) {
    const struct lattice l = lattice_of(s, HEXAGONAL), turned = lattice_of(s, TURNED);
    return s->rectangular && turned.distance > l.distance ? turned : l;
}

static void lattice_sites(const struct lattice *l, const struct disks_shape *s, double *x,
                          double *y) {
    const bool turned = l->kind == TURNED;
    const bool square = l->kind == SQUARE;
    const double a = spacing(s, turned, (double)l->columns, square ? 1 : 0.5);
    const double h = spacing(s, !turned, (double)l->rows, 1);
    const uint64_t sites = l->rows * l->columns;
    for (uint64_t i = 0; i < s->n; i++) {
        if (l->kind == OBLIQUE) {
            x[i] = ((double)i + 0.5) / (double)s->n * s->box[0];
            y[i] = ((double)(2 * i % s->n) + 0.5) / (double)s->n * s->box[1];
            continue;
        }
        /* spread vacancies evenly: site floor(i sites / n) */
        const uint64_t site = (uint64_t)((double)i * (double)sites / (double)s->n);
        const uint64_t row = site / l->columns;
        const double shift = square ? 0.5 : 0.25 + 0.5 * (double)(row % 2);
        (turned ? y : x)[i] =
            site_at(s, turned, (double)(site % l->columns), shift, square ? 0.5 : 0.25, a);
        (turned ? x : y)[i] = site_at(s, !turned, (double)row, 0.5, 0.5, h);
    }
}

bool disks_lattice(const struct disks_shape *s, bool hexagonal, double *x, double *y) {
    const struct lattice l = hexagonal ? hexagonal_of(s) : lattice_of(s, SQUARE);
    if (!lattice_fits(&l, s, s->sigma))
        return false;
    lattice_sites(&l, s, x, y);
    return true;
}

static enum ergo_status no_memory(struct ergo_context *ctx, const struct disks_shape *s) {
    return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory to start %llu disks", (unsigned long long)s->n);
}

/* A coordinate along an axis in whole units within the box. */
static uint64_t to_units(const struct disks_shape *s, int axis, double x) {
    const double side = (double)s->side[axis];
    double units = floor(x * s->unit[axis] + 0.5);
    units -= floor(units / side) * side;
    return units >= side ? 0 : (uint64_t)units;
}

/* Number (from 1) of the disk in a slot. */
static size_t disk_at(const struct disks_shape *s, const uint64_t *x, const uint64_t *y,
                      const struct disks_config *c, size_t cell, unsigned slot) {
    unsigned seen = 0;
    for (size_t i = 0; i < s->n; i++)
        if ((size_t)(y[i] / s->width) * c->cells[0] + (size_t)(x[i] / s->width) == cell &&
            seen++ == slot)
            return i + 1;
    return 0;
}

/* Squared distance in units. */
static uint64_t distance2_of(const struct disks_shape *s, const uint64_t *x, const uint64_t *y,
                             size_t i, size_t j) {
    uint64_t dx = x[i] < x[j] ? x[j] - x[i] : x[i] - x[j];
    uint64_t dy = y[i] < y[j] ? y[j] - y[i] : y[i] - y[j];
    dx = dx < s->side[0] - dx ? dx : s->side[0] - dx;
    dy = dy < s->side[1] - dy ? dy : s->side[1] - dy;
    return disks_r2((int64_t)dx, (int64_t)dy, s->ratio);
}

/* Report the pair that is too close, for five disks in a cell or an overlap. The message says by
 * how much, because units are so small that distances may look equal. */
static enum ergo_status refuse_overlap(struct ergo_context *ctx, const struct disks_shape *s,
                                       const char *start, const uint64_t *x, const uint64_t *y,
                                       size_t i, size_t j) {
    const uint64_t found2 = distance2_of(s, x, y, i - 1, j - 1);
    const double found = sqrt((double)found2), least = sqrt((double)s->contact);
    return ERGO_FAIL(ctx, ERGO_E_JOB,
                     "/system/start: in \"%s\" disks %zu and %zu overlap: their distance is %.9g "
                     "sigma, %.3g less than the %.9g that are allowed",
                     start, i < j ? i : j, i < j ? j : i, found / s->sigma,
                     (double)(s->contact - found2) / (found + least) / s->sigma, least / s->sigma);
}

static bool in_wall(const struct disks_shape *s, int axis, double x) {
    const double units = floor(x * s->unit[axis] + 0.5);
    return walled(s, axis) && (units < (double)s->confined.walls.low[axis] ||
                               units > (double)s->confined.walls.high[axis]);
}

static enum ergo_status refuse_wall(struct ergo_context *ctx, const struct disks_shape *s,
                                    const char *start, size_t i, int axis, double x) {
    return ERGO_FAIL(ctx, ERGO_E_JOB,
                     "/system/start: in \"%s\" disk %zu has %c = %.9g sigma, which is in a wall: "
                     "centres are at %.9g to %.9g sigma",
                     start, i, (int)"xy"[axis], x,
                     (double)s -> confined.walls.low[axis] / s->unit[axis],
                     (double)s->confined.walls.high[axis] / s->unit[axis]);
}

/* Places in whole units, third coordinate 0. A disk that touches a wall may be rounded into it. */
static enum ergo_status all_to_units(struct ergo_context *ctx, const struct disks_shape *s,
                                     const char *start, const double *x, const double *y,
                                     uint64_t (*at)[3]) {
    for (size_t i = 0; i < s->n; i++)
        for (int k = 0; k < 2; k++) {
            double from = (k ? y : x)[i];
            if (in_wall(s, k, from))
                from +=
                    (from * s->unit[k] < (double)s->confined.walls.low[k] ? 1 : -1) / s->unit[k];
            if (in_wall(s, k, from))
                return refuse_wall(ctx, s, start, i + 1, k, (k ? y : x)[i]);
            at[i][k] = to_units(s, k, from);
            at[i][2] = 0;
        }
    return ERGO_OK;
}

/* Places along each axis are right to half a unit, distances to the diagonal of a unit, and contact
 * is rounded up. `more`: what else the start is inexact by, in units. Disks that overlap by no more
 * are moved apart. */
static enum ergo_status place(struct ergo_context *ctx, const struct disks_shape *s,
                              const char *start, double more, const double *x, const double *y,
                              struct disks_config *c) {
    const double length[3] = {1, s->aspect, 1}, least = sqrt((double)s->contact);
    const uint64_t side[3] = {s->side[0], s->side[1], 1u << 31};
    const struct ergo_walls *walls = &s->confined.walls;
    uint64_t(*at)[3] = malloc(s->n * sizeof *at);
    uint64_t *ux = malloc(2 * s->n * sizeof *ux), *uy = ux ? ux + s->n : NULL;
    enum ergo_status status = at && ux ? all_to_units(ctx, s, start, x, y, at) : no_memory(ctx, s);
    for (int tries = 0; status == ERGO_OK; tries++) {
        size_t cell[2], closest = 0;
        unsigned slot[2];
        for (size_t i = 0; i < s->n; i++) {
            ux[i] = at[i][0];
            uy[i] = at[i][1];
        }
        const size_t fifth = disks_config_place(c, s, ux, uy);
        if (fifth != SIZE_MAX) { /* among five disks in a cell two overlap */
            for (size_t i = 0; i < fifth; i++)
                if (distance2_of(s, ux, uy, i, fifth) < distance2_of(s, ux, uy, closest, fifth))
                    closest = i;
            status = refuse_overlap(ctx, s, start, ux, uy, closest + 1, fifth + 1);
            break;
        }
        const uint64_t r2 = disks_config_closest(c, s, cell, slot);
        if (r2 >= s->contact)
            break;
        if (tries || sqrt((double)r2) < least - (hypot(1, s->aspect) + 1 + more))
            status = refuse_overlap(ctx, s, start, ux, uy, disk_at(s, ux, uy, c, cell[0], slot[0]),
                                    disk_at(s, ux, uy, c, cell[1], slot[1]));
        else
            status = ergo_places_part(ctx, at, s->n, side, length, least,
                                      s->confined.is ? walls->low : NULL, walls->high);
    }
    free(at);
    free(ux);
    return status;
}

static enum ergo_status read_file(struct ergo_context *ctx, const struct ergo_point *point,
                                  const struct disks_shape *s, double *x, double *y, double *more) {
    const char *path = of_particle(point)->start.text;
    struct ergo_xyz frame;
    enum ergo_status status = ergo_xyz_read(ctx, point, "/system/start", &frame);
    if (status != ERGO_OK)
        return status;
    const double *l = frame.lattice, near = 1e-6 + 2 * frame.rounding;
    const bool walls[2] = {walled(s, 0), walled(s, 1)};
    if (frame.n != s->n)
        status = ERGO_FAIL(ctx, ERGO_E_JOB, "/system/n: %llu, but %s has %zu disks",
                           (unsigned long long)s->n, path, frame.n);
    else if (frame.has_lattice && (fabs(l[0] - s->box[0]) > near || fabs(l[4] - s->box[1]) > near ||
                                   l[1] != 0.0 || l[3] != 0.0))
        status = ERGO_FAIL(ctx, ERGO_E_JOB,
                           "/system/box: the job's box is %.9f x %.9f sigma; that of %s is %.9f x "
                           "%.9f: set /system/box or /system/packing_fraction to it",
                           s->box[0], s->box[1], path, l[0], l[4]);
    if (status == ERGO_OK)
        status = ergo_places_near(ctx, path, &frame, s->box, 2, walls);
    *more = 2 * sqrt(2.0) * frame.rounding * s->sigma;
    for (int k = 0; k < 2 && frame.has_lattice; k++)
        *more += fabs(l[4 * k] - s->box[k]) * s->sigma;
    for (size_t i = 0; i < s->n && status == ERGO_OK; i++) {
        x[i] = frame.positions[3 * i];
        y[i] = frame.positions[3 * i + 1];
    }
    ergo_xyz_free(&frame);
    return status;
}

enum ergo_status disks_start(struct ergo_context *ctx, const struct ergo_point *point,
                             const struct disks_shape *s, struct disks_config *c) {
    const char *start = of_particle(point)->start.text;
    double *x = malloc(2 * s->n * sizeof *x), *y = x ? x + s->n : NULL;
    enum ergo_status status = ERGO_OK;
    char reason[400];
    double more = 0;
    if (!x)
        return no_memory(ctx, s);
    if (strcmp(start, "hexagonal") != 0 && strcmp(start, "square") != 0)
        status = read_file(ctx, point, s, x, y, &more);
    else if (!disks_lattice(s, *start == 'h', x, y)) /* check() has reported it */
        status = disks_start_fits(point, s, reason)
                     ? ERGO_OK
                     : ERGO_FAIL(ctx, ERGO_E_JOB, "/system/start: %s", reason);
    if (status == ERGO_OK)
        status = place(ctx, s, start, more, x, y, c);
    free(x);
    return status;
}

enum ergo_status disks_start_check(struct ergo_context *ctx, const struct ergo_point *point,
                                   const struct disks_shape *s) {
    struct disks_config config;
    if (!disks_config_init(&config, s->cells))
        return no_memory(ctx, s);
    const enum ergo_status status = disks_start(ctx, point, s, &config);
    disks_config_free(&config);
    return status;
}

enum ergo_status disks_regrid(struct ergo_context *ctx, const struct disks_shape *from_shape,
                              const struct disks_config *from, const struct disks_shape *s,
                              struct disks_config *c) {
    double *x = malloc(2 * s->n * sizeof *x), *y = x ? x + s->n : NULL;
    if (!x)
        return no_memory(ctx, s);
    disks_config_positions(from, from_shape, x, y);
    const enum ergo_status status = place(ctx, s, "random", 0, x, y, c);
    free(x);
    return status;
}

/* ---- random starts ----------------------------------------------------------------------------
 */

bool disks_start_is_random(const struct ergo_point *point) {
    return ergo_says(of_particle(point)->start.text, "random");
}

/* Lattices melt at once below this packing fraction (the liquid ends at 0.70). */
static const double melts_at = 0.45;

/*
 * Disks begin small, but five must not fit into a cell, so cells can hardly be wider than at the
 * end. The job's own cells are narrow enough unless it asks for others. Otherwise the start gets a
 * finer grid, and its result is rounded to the job's units. The contact distance has four units of
 * room for that.
 */
void disks_growth_shape(const struct disks_shape *s, struct disks_shape *grid) {
    const double w = s->box[0] / (double)s->cells[0], most = (double)s->width;
    *grid = *s;
    grid->npt = false; /* it is of one size */
    if (s->rectangular || 0.5 * w * w * s->density * DISKS_PI / 4.0 <= melts_at)
        return; /* with different sides, cells are automatic, and so narrow enough */
    for (uint32_t m = 2 * (uint32_t)floor(0.5 * s->box[0]); m > s->cells[0]; m -= 2) {
        const double sigma = most * (double)m / s->box[0], wide = sigma * (1.0 + 4.0 / s->sigma);
        if ((uint64_t)m * m > DISKS_CELLS_MAX || ceil(wide * wide) > most * most)
            continue;
        for (int k = 0; k < 2; k++) {
            grid->cells[k] = m;
            grid->half[k] = m / 2;
            grid->side[k] = (uint64_t)s->width * m;
        }
        grid->sigma = sigma;
        grid->unit[0] = grid->unit[1] = (double)grid->side[0] / s->box[0];
        grid->contact = (uint64_t)ceil(wide * wide);
        return;
    }
}

/* Two of five disks in a cell are nearer than this. */
static uint64_t growth_first(const struct disks_shape *grid) {
    const int64_t w = (int64_t)grid->width - 1;
    return disks_r2(w, w, grid->ratio) / 4 + 1;
}

void disks_growth_fill(const struct ergo_point *point, const struct disks_shape *grid,
                       struct disks_growth *growth) {
    const double step = 0.16 * grid->sigma / 131072.0;
    *growth = (struct disks_growth){.key0 = (uint32_t)point->stream,
                                    .key1 = (uint32_t)(point->stream >> 32),
                                    .cells = {grid->cells[0], grid->cells[1]},
                                    .columns = {grid->half[0], grid->half[1]},
                                    .step = {(float)step, (float)(step / grid->aspect)},
                                    .contact = {growth_first(grid), grid->contact},
                                    .ratio = grid->ratio};
}

/* The first lattice that has enough distance. */
static bool growth_lattice(const struct disks_shape *grid, struct lattice *l) {
    static const enum lattice_kind kinds[] = {HEXAGONAL, TURNED, SQUARE, OBLIQUE};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (kinds[i] == TURNED && !grid->rectangular)
            continue;
        *l = lattice_of(grid, kinds[i]);
        if (lattice_fits(l, grid, sqrt((double)growth_first(grid))))
            return true;
    }
    return false;
}

enum ergo_status disks_growth_start(struct ergo_context *ctx, const struct disks_shape *grid,
                                    struct disks_config *c) {
    double *x = malloc(2 * grid->n * sizeof *x), *y = x ? x + grid->n : NULL;
    struct disks_shape small = *grid;
    struct lattice l;
    if (!x)
        return no_memory(ctx, grid);
    small.contact = growth_first(grid);
    enum ergo_status status =
        growth_lattice(grid, &l)
            ? ERGO_OK
            : ERGO_FAIL(ctx, ERGO_E_JOB, "/system/start: %llu random disks do not fit this box",
                        (unsigned long long)grid->n);
    if (status == ERGO_OK) {
        lattice_sites(&l, grid, x, y);
        status = place(ctx, &small, "random", 0, x, y, c);
    }
    free(x);
    return status;
}

bool disks_start_fits(const struct ergo_point *point, const struct disks_shape *s, char *reason) {
    const char *start = of_particle(point)->start.text;
    const double phi = s->density * DISKS_PI / 4.0;
    const bool square = strcmp(start, "square") == 0;
    struct disks_shape grid;
    struct lattice l;
    if (square || strcmp(start, "hexagonal") == 0) {
        l = square ? lattice_of(s, SQUARE) : hexagonal_of(s);
        /* two units less, for the rounding down */
        const double most = phi * l.distance * l.distance;
        snprintf(reason, 400,
                 "a %s lattice of %llu disks does not fit %s box at packing fraction %.6g; "
                 "up to %.4f it does%s",
                 start, (unsigned long long)s->n, s->rectangular ? "this" : "a square", phi,
                 floor(1e4 * (most - 1e-5)) * 1e-4,
                 square ? ", and \"hexagonal\" farther" : "; or take another number of disks");
        return lattice_fits(&l, s, s->sigma);
    }
    if (!disks_start_is_random(point))
        return true;
    if (s->confined.is && ergo_confined_has_walls(point)) {
        snprintf(reason, 400,
                 "random starts do not know walls: start from \"hexagonal\", \"square\" or a file");
        return false;
    }
    disks_growth_shape(s, &grid);
    if (phi > DISKS_RANDOM_MAX + 1e-9) /* phi comes from the box */
        snprintf(reason, 400,
                 "disks at random cannot be compressed to packing fraction %.6g; up to %g they "
                 "can. Start from \"hexagonal\" or from a file",
                 phi, DISKS_RANDOM_MAX);
    else
        snprintf(
            reason, 400,
            "%llu disks in a box of %.6g x %.6g sigma have no room to be at random; start from "
            "\"hexagonal\" or from a file, or take a larger box",
            (unsigned long long)s->n, s->box[0], s->box[1]);
    return phi <= DISKS_RANDOM_MAX + 1e-9 && growth_lattice(&grid, &l);
}
