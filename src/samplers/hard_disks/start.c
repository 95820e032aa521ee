/* Starting configurations: lattices, files, and the first configuration of random starts. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hard_disks/core.h"
#include "samplers/hard_disks/disks.h"

enum lattice_kind { HEXAGONAL, TURNED, SQUARE, OBLIQUE };

/* A lattice of at least n sites in a box, and the smallest distance of its sites in sigma. TURNED
 * is hexagonal with rows along y, for boxes with different sides. */
struct lattice {
    enum lattice_kind kind;
    uint64_t columns, rows;
    double distance;
};

static bool walled(const struct disks_shape *s, int axis) {
    return ergo_hard_walled(&s->hard, axis);
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

enum ergo_status disks_start(struct ergo_context *ctx, const struct ergo_point *point,
                             const struct ergo_hard *shape, struct ergo_hard_cells *c) {
    const struct disks_shape *s = (const struct disks_shape *)shape;
    const char *start = of_particle(point)->start.text;
    char reason[400];
    if (strcmp(start, "hexagonal") != 0 && strcmp(start, "square") != 0)
        return ergo_hard_start_file(ctx, point, c);
    double *x = malloc(2 * s->n * sizeof *x);
    enum ergo_status status = x ? ERGO_OK : no_memory(ctx, s);
    if (x && !disks_lattice(s, *start == 'h', x, x + s->n)) /* check() has reported it */
        status = disks_start_fits(point, s, reason)
                     ? ERGO_OK
                     : ERGO_FAIL(ctx, ERGO_E_JOB, "/system/start: %s", reason);
    if (status == ERGO_OK)
        status = ergo_hard_put(ctx, start, s->contact, 0, x, c);
    free(x);
    return status;
}

enum ergo_status disks_regrid(struct ergo_context *ctx, const struct ergo_hard_cells *from,
                              struct ergo_hard_cells *c) {
    const struct disks_shape *s = (const struct disks_shape *)c->shape;
    double *x = malloc(2 * s->n * sizeof *x);
    if (!x)
        return no_memory(ctx, s);
    ergo_hard_positions(from, x);
    const enum ergo_status status = ergo_hard_put(ctx, "random", s->contact, 0, x, c);
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
    const double w = s->box[0] / (double)s->cells[0], most = (double)s->width[0];
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
            grid->side[k] = (uint64_t)s->width[0] * m;
        }
        grid->all = (uint64_t)m * m;
        grid->sigma = sigma;
        grid->unit[0] = grid->unit[1] = (double)grid->side[0] / s->box[0];
        grid->contact = (uint64_t)ceil(wide * wide);
        return;
    }
}

/* Two of five disks in a cell are nearer than this. */
static uint64_t growth_first(const struct disks_shape *grid) {
    const int64_t w = (int64_t)grid->width[0] - 1;
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

enum ergo_status disks_growth_start(struct ergo_context *ctx, struct ergo_hard_cells *c) {
    const struct disks_shape *grid = (const struct disks_shape *)c->shape;
    double *x = malloc(2 * grid->n * sizeof *x);
    struct lattice l;
    if (!x)
        return no_memory(ctx, grid);
    enum ergo_status status =
        growth_lattice(grid, &l)
            ? ERGO_OK
            : ERGO_FAIL(ctx, ERGO_E_JOB, "/system/start: %llu random disks do not fit this box",
                        (unsigned long long)grid->n);
    if (status == ERGO_OK) {
        lattice_sites(&l, grid, x, x + grid->n);
        status = ergo_hard_put(ctx, "random", growth_first(grid), 0, x, c);
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
