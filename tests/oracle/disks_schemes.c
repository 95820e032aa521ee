#include "oracle/disks_schemes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "oracle/xoshiro.h"

enum { SLOTS = ERGO_ORACLE_SCHEME_SLOTS };

static inline double uniform(struct ergo_oracle_chain *c) {
    return ergo_oracle_xoshiro_uniform(c->random);
}

static inline int below(struct ergo_oracle_chain *c, int n) {
    return (int)((ergo_oracle_xoshiro(c->random) >> 32) * (uint64_t)n >> 32);
}

/* ---- cells -------------------------------------------------------------------------------------
 */

/* One function decides where a disk is, for the lists and for a trial. */
static inline int column_of(const struct ergo_oracle_chain *c, double x) {
    const int i = (int)floor(x / c->width);
    return i < c->scheme.cells ? i : c->scheme.cells - 1; /* x / width may be rounded up */
}

static bool bin(struct ergo_oracle_chain *c) {
    const int m = c->scheme.cells;
    memset(c->count, 0, (size_t)(m * m) * sizeof *c->count);
    for (int i = 0; i < c->n; i++) {
        const int cell = column_of(c, c->y[i]) * m + column_of(c, c->x[i]);
        if (c->count[cell] == SLOTS)
            return false;
        c->list[cell * SLOTS + c->count[cell]++] = i;
    }
    return true;
}

static double wrap(double x, double box) {
    x -= box * floor(x / box);
    return x < box ? x : 0.0;
}

static void shift(struct ergo_oracle_chain *c) {
    double dx = 0.0, dy = 0.0;
    if (c->scheme.both) {
        dx = (uniform(c) - 0.5) * c->width;
        dy = (uniform(c) - 0.5) * c->width;
    } else {
        const double distance = 0.5 * c->width * uniform(c);
        const int direction = below(c, 4);
        *(direction < 2 ? &dx : &dy) = direction & 1 ? distance : -distance;
    }
    for (int i = 0; i < c->n; i++) {
        c->x[i] = wrap(c->x[i] - dx, c->box);
        c->y[i] = wrap(c->y[i] - dy, c->box);
    }
    bin(c); /* a hard disk has no room for SLOTS centres in a cell below 2.5: init */
}

/* ---- trials ------------------------------------------------------------------------------------
 */

static void displacement(struct ergo_oracle_chain *c, double *dx, double *dy) {
    do {
        *dx = 2.0 * uniform(c) - 1.0;
        *dy = 2.0 * uniform(c) - 1.0;
    } while (!c->scheme.square && *dx * *dx + *dy * *dy > 1.0);
    *dx *= c->scheme.d;
    *dy *= c->scheme.d;
}

/* The free part of a line along an axis through disk i, at u on it and v across, in a cell that
 * begins at `from`: its ends. */
static void free_part(const struct ergo_oracle_chain *c, const double *pu, const double *pv,
                      int all, int i, double from, double *low, double *high) {
    *low = from;
    *high = from + c->width;
    for (int k = 0; k < all; k++) {
        const double across = pv[k] - pv[i], h = 1.0 - across * across;
        if (k == i || h <= 0.0)
            continue;
        const double reach = sqrt(h);
        if (pu[k] < pu[i])
            *low = fmax(*low, pu[k] + reach);
        else
            *high = fmin(*high, pu[k] - reach);
    }
}

static void update_cell(struct ergo_oracle_chain *c, int cx, int cy) {
    const int m = c->scheme.cells, n = c->count[cy * m + cx];
    const int *own = c->list + (cy * m + cx) * SLOTS;
    double px[9 * SLOTS], py[9 * SLOTS]; /* the cell's disks, then its neighbours' */
    int order[SLOTS], all = 0;
    if (n == 0)
        return;
    for (int k = 0; k < 9; k++) {
        static const int offsets[9][2] = {{0, 0}, {-1, -1}, {0, -1}, {1, -1}, {-1, 0},
                                          {1, 0}, {-1, 1},  {0, 1},  {1, 1}};
        const int i = cx + offsets[k][0], j = cy + offsets[k][1];
        const double ox = i < 0 ? -c->box : i == m ? c->box : 0.0;
        const double oy = j < 0 ? -c->box : j == m ? c->box : 0.0;
        const int cell = (j + m) % m * m + (i + m) % m;
        for (int l = 0; l < c->count[cell]; l++, all++) {
            px[all] = c->x[c->list[cell * SLOTS + l]] + ox;
            py[all] = c->y[c->list[cell * SLOTS + l]] + oy;
        }
    }
    for (int i = 0; i < n; i++)
        order[i] = i;
    for (int i = n - 1; i > 0 && !c->scheme.drawn; i--) {
        const int j = below(c, i + 1), other = order[i];
        order[i] = order[j];
        order[j] = other;
    }
    const int axis = c->scheme.lines ? below(c, 2) : 0;
    for (int s = 0; s < c->scheme.moves; s++) {
        const int i = c->scheme.drawn ? below(c, n) : order[s % n];
        double dx, dy;
        if (c->scheme.lines) {
            const bool along_y = (axis + s + (n == 2 ? s / 2 : 0)) % 2;
            double *pu = along_y ? py : px, *pv = along_y ? px : py, low, high;
            free_part(c, pu, pv, all, i, (along_y ? cy : cx) * c->width, &low, &high);
            if (!(low <= pu[i] && pu[i] < high)) /* by rounding */
                continue;
            const double u = c->scheme.lines == 1 || (c->scheme.lines == 3 && below(c, 4) == 0)
                                 ? low + (high - low) * uniform(c)
                                 : low + (high - pu[i]);
            if (!(u < high) || column_of(c, u) != (along_y ? cy : cx))
                continue;
            (along_y ? c->uy : c->ux)[own[i]] += u - pu[i];
            pu[i] = u;
            c->accepted++;
            continue;
        }
        displacement(c, &dx, &dy);
        const double x = px[i] + dx, y = py[i] + dy;
        int close = 0; /* itself, where it was, among them: displacements are below 1 */
        for (int k = 0; k < all; k++)
            close += (px[k] - x) * (px[k] - x) + (py[k] - y) * (py[k] - y) < 1.0;
        if (close != 1 || x < 0.0 || y < 0.0 || x >= c->box || y >= c->box ||
            column_of(c, x) != cx || column_of(c, y) != cy)
            continue;
        px[i] = x;
        py[i] = y;
        c->ux[own[i]] += dx;
        c->uy[own[i]] += dy;
        c->accepted++;
    }
    for (int i = 0; i < n; i++) {
        c->x[own[i]] = px[i];
        c->y[own[i]] = py[i];
    }
    c->updates++;
    c->trials += (uint64_t)c->scheme.moves;
}

void ergo_oracle_chain_sweep(struct ergo_oracle_chain *c) {
    int order[4] = {0, 1, 2, 3};
    for (int i = 3; i > 0; i--) {
        const int j = below(c, i + 1), other = order[i];
        order[i] = order[j];
        order[j] = other;
    }
    for (int round = 0; round < c->scheme.rounds; round++)
        for (int set = 0; set < 4; set++)
            for (int cy = order[set] / 2; cy < c->scheme.cells; cy += 2)
                for (int cx = order[set] % 2; cx < c->scheme.cells; cx += 2)
                    update_cell(c, cx, cy);
    shift(c);
    c->sweeps++;
}

/* ---- start and measurements --------------------------------------------------------------------
 */

bool ergo_oracle_chain_init(struct ergo_oracle_chain *c, struct ergo_oracle_scheme scheme, int rows,
                            double packing_fraction, uint64_t seed) {
    const int n = rows * rows, m = scheme.cells;
    *c = (struct ergo_oracle_chain){.scheme = scheme, .n = n};
    c->box = sqrt((double)n * acos(-1.0) / (4.0 * packing_fraction));
    c->width = c->box / m;
    const double spacing = c->box / rows;
    if (rows < 4 || rows % 2 || m < 2 || m % 2 || c->width < 1.0 || c->width > 2.5 ||
        spacing < 1.0 || scheme.d >= 0.7)
        return false;
    c->x = malloc((size_t)n * sizeof *c->x);
    c->y = malloc((size_t)n * sizeof *c->y);
    c->ux = calloc((size_t)n, sizeof *c->ux);
    c->uy = calloc((size_t)n, sizeof *c->uy);
    c->count = calloc((size_t)(m * m), sizeof *c->count);
    c->list = calloc((size_t)(m * m) * SLOTS, sizeof *c->list);
    bool ok = c->x && c->y && c->ux && c->uy && c->count && c->list;
    for (int i = 0; ok && i < n; i++) {
        c->x[i] = wrap((i % rows + 0.25 + 0.5 * (i / rows % 2)) * spacing, c->box);
        c->y[i] = (i / rows + 0.5) * spacing;
    }
    ergo_oracle_xoshiro_seed(c->random, seed);
    ok = ok && bin(c);
    if (!ok)
        ergo_oracle_chain_free(c);
    return ok;
}

void ergo_oracle_chain_free(struct ergo_oracle_chain *c) {
    free(c->x);
    free(c->y);
    free(c->ux);
    free(c->uy);
    free(c->count);
    free(c->list);
    memset(c, 0, sizeof *c);
}

static double near(double d, double box) {
    return d - box * rint(d / box);
}

double ergo_oracle_chain_psi6(const struct ergo_oracle_chain *c, double cutoff) {
    const int m = c->scheme.cells, reach = (int)ceil(cutoff / c->width);
    double re = 0.0, im = 0.0;
    for (int i = 0; i < c->n; i++) {
        const int cx = column_of(c, c->x[i]), cy = column_of(c, c->y[i]);
        double a = 0.0, b = 0.0;
        int neighbours = 0;
        for (int v = -reach; v <= reach; v++)
            for (int u = -reach; u <= reach; u++) {
                const int cell = (cy + v + m) % m * m + (cx + u + m) % m;
                for (int k = 0; k < c->count[cell]; k++) {
                    const int j = c->list[cell * SLOTS + k];
                    const double dx = near(c->x[j] - c->x[i], c->box);
                    const double dy = near(c->y[j] - c->y[i], c->box);
                    const double r2 = dx * dx + dy * dy;
                    if (j == i || r2 > cutoff * cutoff)
                        continue;
                    /* (z^2)^3 / |z|^6 */
                    const double s = (dx * dx - dy * dy) / r2, t = 2.0 * dx * dy / r2;
                    a += s * (s * s - 3.0 * t * t);
                    b += t * (3.0 * s * s - t * t);
                    neighbours++;
                }
            }
        re += neighbours ? a / neighbours : 0.0;
        im += neighbours ? b / neighbours : 0.0;
    }
    return hypot(re, im) / c->n;
}

size_t ergo_oracle_chain_pairs(const struct ergo_oracle_chain *c, double cutoff, size_t *overlaps) {
    size_t pairs = 0;
    *overlaps = 0;
    for (int i = 0; i < c->n; i++)
        for (int j = 0; j < i; j++) {
            const double dx = near(c->x[j] - c->x[i], c->box);
            const double dy = near(c->y[j] - c->y[i], c->box);
            const double r = hypot(dx, dy);
            pairs += r < cutoff;
            *overlaps += r < 1.0 - 1e-9;
        }
    return pairs;
}
