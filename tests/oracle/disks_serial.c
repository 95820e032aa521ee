#include "oracle/disks_serial.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "oracle/philox_ref.h"

/* ---- the chain --------------------------------------------------------------------------------
 */

enum { PURPOSE_GRID = 1, PURPOSE_CELL = 2, PURPOSE_VOLUME = 5, PURPOSE_FIELD = 6 };

static void draw(const struct ergo_oracle_disks *o, uint32_t entity, uint64_t step,
                 uint32_t purpose, uint32_t number, uint32_t out[4]) {
    const uint32_t counter[4] = {entity, (uint32_t)step, (uint32_t)(step >> 32),
                                 purpose << 24 | number};
    ergo_oracle_philox(counter, o->key, out);
}

static uint32_t below(uint32_t word, uint32_t n) {
    return (uint32_t)((uint64_t)word * n >> 32);
}

static int64_t mod(int64_t a, int64_t m) {
    return (a % m + m) % m;
}

static struct ergo_oracle_cell *cell_at(const struct ergo_oracle_disks *o, int64_t cx, int64_t cy) {
    return &o->cell[mod(cy, o->rows) * o->cells + mod(cx, o->cells)];
}

/* Hastings' sine of a quarter turn, in single precision with fused steps: part of the definition.
 */
static float quarter_sine(float t) {
    static const float c[5] = {1.57079631847f, -0.64596371106f, 0.07968967928f, -0.00467376557f,
                               0.00015148419f};
    float p = c[4];
    for (int i = 3; i >= 0; i--)
        p = fmaf(t * t, p, c[i]);
    return t * p;
}

static void displacement(const struct ergo_oracle_disks *o, uint32_t a, uint32_t b, int64_t *dx,
                         int64_t *dy) {
    const uint32_t u = a >> 16, v = a & 0xffff, q = (b >> 2) & 0x3fffff;
    const float size = (float)(2 * (u > v ? u : v) + 1);
    const float t = (float)(2 * q + 1) / 8388608.0f;
    *dx = (int64_t)rintf(size * o->step * quarter_sine(1.0f - t)) * (b & 1 ? -1 : 1);
    *dy = (int64_t)rintf(size * o->step_y * quarter_sine(t)) * (b & 2 ? -1 : 1);
}

/* r^2 in units of x, rounded down. */
static uint64_t length2(const struct ergo_oracle_disks *o, int64_t dx, int64_t dy) {
    __extension__ typedef unsigned __int128 wide;
    return (uint64_t)(dx * dx) + (uint64_t)((wide)(uint64_t)(dy * dy) * o->ratio >> 62);
}

static bool meets(const struct ergo_oracle_disks *o, int64_t cx, int64_t cy, int self, int64_t x,
                  int64_t y) {
    for (int64_t v = -1; v <= 1; v++)
        for (int64_t u = -1; u <= 1; u++) {
            const struct ergo_oracle_cell *c = cell_at(o, cx + u, cy + v);
            for (int j = 0; j < c->n; j++) {
                const int64_t dx = c->x[j] + u * o->width - x, dy = c->y[j] + v * o->width - y;
                if (!(u == 0 && v == 0 && j == self) && length2(o, dx, dy) < o->contact)
                    return true;
            }
        }
    return false;
}

/* How much of a line another disk blocks to either side, `across` from it: a reciprocal square root
 * by bits, and one step of Newton, in single precision: part of the definition. */
static float chord(const struct ergo_oracle_disks *o, float across) {
    /* at constant pressure with a wider margin, rounded twice; wider still where sides differ */
    const bool differ = o->cells != o->rows && !(o->pressure > 0);
    const float margin = (differ || o->ratio != UINT64_C(1) << 62 ? 9.0f
                          : o->pressure > 0                       ? 1.25f
                                                                  : 1.125f) /
                         1048576.0f;
    const float contact = o->pressure > 0 ? (float)o->contact * (1.0f - margin)
                                          : (float)((double)o->contact * (1.0 - (double)margin));
    const float h = fmaf(-across, across, contact);
    uint32_t bits;
    float r;
    if (!(h > 0))
        return 0;
    memcpy(&bits, &h, sizeof bits);
    bits = 0x5f0b2c22 - bits / 2;
    memcpy(&r, &bits, sizeof r);
    const float a = h * r;
    return a * fmaf(-a, r, 1.8898777f);
}

/* A ratio of units in single precision; where it changes, cut and not rounded. */
static float single(const struct ergo_oracle_disks *o, double x) {
    const float near = (float)x;
    return o->per_axis && (double)near > x ? nextafterf(near, 0) : near;
}

/* Where move s of a cell takes its disk i by a reflection: *u is its coordinate on the line. */
static void reflection(const struct ergo_oracle_disks *o, int64_t cx, int64_t cy, int i,
                       bool along_y, uint32_t bits, int64_t *u) {
    const struct ergo_oracle_cell *own = cell_at(o, cx, cy);
    const int64_t from = along_y ? own->y[i] : own->x[i], beside = along_y ? own->x[i] : own->y[i];
    const float middle = (float)o->width / 2;
    const double aspect = sqrt((double)o->ratio * 0x1p-62); /* w_y/w_x */
    int64_t low = 0, high = o->width - 1;
    for (int64_t b = -1; b <= 1; b++)
        for (int64_t a = -1; a <= 1; a++) {
            const struct ergo_oracle_cell *c = cell_at(o, cx + a, cy + b);
            for (int j = 0; j < c->n; j++) {
                const int64_t x = c->x[j] + a * o->width, y = c->y[j] + b * o->width;
                const int64_t at = along_y ? y : x;
                const float blocked = along_y
                                          ? chord(o, (float)(x - beside)) * single(o, 1 / aspect)
                                          : chord(o, (float)(y - beside) * single(o, aspect));
                if ((a == 0 && b == 0 && j == i) || blocked == 0)
                    continue;
                const float sign = at < from ? 1 : -1;
                float end = ((float)at - middle) + sign * blocked; /* from the cell's middle */
                end = end + middle;
                if (at < from && end > 0 && (int64_t)rintf(end) > low)
                    low = (int64_t)rintf(end);
                if (at >= from && end < (float)high && (int64_t)rintf(end) < high)
                    high = (int64_t)rintf(end);
            }
        }
    *u = bits % 4 ? low + high - from : low + below(bits, (uint32_t)(high - low + 1));
}

/* Where something at `at` in a cell is in the box that does not move with the grid. */
static int64_t in_box(const struct ergo_oracle_disks *o, int axis, int64_t cell, int64_t at) {
    return mod(cell * o->width + at + o->grid[axis], (axis ? o->rows : o->cells) * o->width);
}

double ergo_oracle_disks_energy(const struct ergo_oracle_disks *o, int64_t place) {
    const double z = (double)place / o->unit;
    return o->gravity * z + o->harmonic * (z - o->middle) * (z - o->middle) / 2;
}

/* Do walls and the field let move s of a cell, to (x, y), happen? */
static bool lets(const struct ergo_oracle_disks *o, const int64_t cell[2], uint64_t step, int s,
                 const int64_t from[2], const int64_t to[2]) {
    uint32_t words[4];
    for (int k = 0; k < 2; k++) {
        const int64_t then = in_box(o, k, cell[k], to[k]);
        if (o->last[k] && (then < o->first[k] || then > o->last[k]))
            return false;
    }
    if (o->gravity == 0 && o->harmonic == 0)
        return true;
    draw(o, (uint32_t)(cell[1] * o->cells + cell[0]), step, PURPOSE_FIELD, (uint32_t)(s / 4),
         words);
    const int k = o->axis;
    const double rise = ergo_oracle_disks_energy(o, in_box(o, k, cell[k], to[k])) -
                        ergo_oracle_disks_energy(o, in_box(o, k, cell[k], from[k]));
    return (double)words[s % 4] < exp(-rise) * 0x1p32;
}

size_t ergo_oracle_disks_places(const struct ergo_oracle_disks *o, int64_t *places) {
    size_t n = 0;
    for (int64_t i = 0; i < o->cells * o->rows; i++)
        for (int j = 0; j < o->cell[i].n; j++)
            places[n++] = o->axis ? in_box(o, 1, i / o->cells, o->cell[i].y[j])
                                  : in_box(o, 0, i % o->cells, o->cell[i].x[j]);
    return n;
}

static void update_cell(struct ergo_oracle_disks *o, int64_t cx, int64_t cy, uint64_t step) {
    struct ergo_oracle_cell *c = cell_at(o, cx, cy);
    const uint32_t entity = (uint32_t)(cy * o->cells + cx);
    uint32_t r[2][4];
    if (c->n == 0)
        return;
    o->tried++;
    draw(o, entity, step, PURPOSE_CELL, 0, r[0]);
    draw(o, entity, step, PURPOSE_CELL, 1, r[1]);
    const uint32_t bits = o->reflect ? r[0][2]
                                     : r[0][1] >> 24 | (r[0][3] >> 24) << 8 |
                                           (r[1][1] >> 24) << 16 | (r[1][3] >> 24) << 24;
    uint32_t orders = 1;
    for (int i = 2; i <= c->n; i++)
        orders *= (uint32_t)i;
    uint32_t k = below(bits, orders);
    for (int i = c->n - 1; i > 0 && o->shuffle_particles; i--) {
        const int j = (int)(k % (uint32_t)(i + 1));
        const int64_t x = c->x[i], y = c->y[i];
        k /= (uint32_t)(i + 1);
        c->x[i] = c->x[j];
        c->y[i] = c->y[j];
        c->x[j] = x;
        c->y[j] = y;
    }
    for (int s = 0; s < o->moves; s++) {
        const int i = s % c->n;
        uint32_t w[4];
        int64_t x = c->x[i], y = c->y[i], dx = 0, dy = 0, high = o->width + o->leave;
        draw(o, entity, step, PURPOSE_CELL, (uint32_t)s / 2, w);
        if (o->reflect) {
            const bool along_y = (step + (uint64_t)s) % 2 == 1;
            reflection(o, cx, cy, i, along_y, w[s % 2], along_y ? &y : &x);
        } else {
            displacement(o, w[s % 2 * 2], w[s % 2 * 2 + 1], &dx, &dy);
        }
        x += dx;
        y += dy;
        if (x < -o->leave || y < -o->leave || x >= high || y >= high || meets(o, cx, cy, i, x, y) ||
            !lets(o, (const int64_t[2]){cx, cy}, step, s, (const int64_t[2]){c->x[i], c->y[i]},
                  (const int64_t[2]){x, y}))
            continue;
        c->x[i] = x;
        c->y[i] = y;
        o->accepted++;
    }
}

/* Every disk into the cell where it is now: those that stay first, then comers by the offset of the
 * cell they come from (rows of y), in the order they had there. */
static void shift(struct ergo_oracle_disks *o, int64_t fx, int64_t fy) {
    const size_t bytes = (size_t)(o->cells * o->rows) * sizeof *o->cell;
    struct ergo_oracle_cell *new = calloc(1, bytes);
    for (int pass = -1; pass < 9; pass++) {
        for (int64_t cell = 0; cell < o->cells * o->rows; cell++) {
            const struct ergo_oracle_cell *from = &o->cell[cell];
            for (int k = 0; k < from->n; k++) {
                const int64_t x = from->x[k] - fx, y = from->y[k] - fy;
                /* the offset from the new cell to the old one */
                const int64_t u = x < 0 ? 1 : x >= o->width ? -1 : 0;
                const int64_t v = y < 0 ? 1 : y >= o->width ? -1 : 0;
                const int64_t order = u == 0 && v == 0 ? -1 : (v + 1) * 3 + u + 1;
                if (order != pass)
                    continue;
                struct ergo_oracle_cell *to = &new[mod(cell / o->cells - v, o->rows) * o->cells +
                                                   mod(cell % o->cells - u, o->cells)];
                if (to->n == 4) {
                    o->lost = true;
                    continue;
                }
                to->x[to->n] = x + u * o->width;
                to->y[to->n++] = y + v * o->width;
            }
        }
    }
    memcpy(o->cell, new, bytes);
    free(new);
    o->grid[0] = mod(o->grid[0] + fx, o->cells * o->width);
    o->grid[1] = mod(o->grid[1] + fy, o->rows * o->width);
}

static long double volume_of(int64_t size) {
    return expl((long double)size * 0x1p-36L);
}

/* In long doubles what the chain does in whole numbers; r^2 of contact may differ by one in 10^13,
 * and chances by 10^-6 of themselves. */
static void change_volume(struct ergo_oracle_disks *o, uint64_t step, uint32_t trial) {
    uint32_t one[4], two[4];
    draw(o, 0, step, PURPOSE_VOLUME, 2 * trial, one);
    draw(o, 0, step, PURPOSE_VOLUME, 2 * trial + 1, two);
    const uint64_t size = (uint64_t)one[0] << 32 | one[1], chance = (uint64_t)two[0] << 32 | two[1];
    __extension__ typedef unsigned __int128 wide;
    int64_t change = (int64_t)((wide)size * (uint64_t)(o->volume_step + 1) >> 64);
    change = one[2] >> 31 ? change : -change;
    /* Lx grows by half of the change of V, or, one side alone, by all or nothing of it */
    const bool along_y = o->per_axis && below(one[3], 2);
    const int64_t stretch = o->stretch + (!o->per_axis ? 0 : along_y ? change : -change);
    const long double units2 = volume_of(o->scale - (o->volume + change - stretch));
    const uint64_t contact = (uint64_t)ceill(units2);
    struct ergo_oracle_disks tried = *o;
    if (o->per_axis) /* in the chain's whole numbers of a logarithm */
        tried.ratio =
            (uint64_t)floorl(expl(o->stretched + 2 * (long double)stretch * 0x1p-36L) * 0x1p62L);
    const uint64_t w = length2(&tried, o->width, 0), h = length2(&tried, 0, o->width);
    o->volume_accepted = false;
    if (4 * contact <= w + h || contact > w || contact > h ||
        ergo_oracle_disks_closest(&tried) < contact)
        return;
    const long double grown = volume_of(o->volume + change) - volume_of(o->volume);
    const long double exponent =
        (long double)(o->n + 1) * (long double)change * 0x1p-36L - (long double)o->pressure * grown;
    if ((long double)chance * 0x1p-64L >= expl(exponent))
        return;
    o->volume_accepted = true;
    o->volume += change;
    o->stretch = stretch;
    o->ratio = tried.ratio;
    o->contact = contact;
}

/* All trials of a move. The step grows by 5 parts or shrinks by 2, in units of 17: of at least 8
 * and at most 256 parts. */
static void change_volumes(struct ergo_oracle_disks *o, uint64_t step) {
    const int64_t parts = step < 248 ? 8 + (int64_t)step : 256;
    for (uint32_t trial = 0; trial < (o->tuned && !o->per_axis ? 4 : 1); trial++) {
        change_volume(o, step, trial);
        if (step >= o->tuned)
            continue;
        const int64_t now = o->volume_step / 17, most = o->volume_most / 17;
        const int64_t next =
            o->volume_accepted ? now + (5 * now + parts - 1) / parts : now - 2 * now / parts;
        o->volume_step = 17 * (next < most ? next : most);
    }
}

void ergo_oracle_disks_sweep(struct ergo_oracle_disks *o, uint64_t step) {
    uint32_t r[4], order[4] = {0, 1, 2, 3};
    o->accepted = o->tried = 0;
    draw(o, 0, step, PURPOSE_GRID, 0, r);
    uint32_t k = below(r[0], 24);
    for (uint32_t i = 3; i > 0 && o->shuffle_checkerboard; i--) {
        const uint32_t j = k % (i + 1), other = order[i];
        k /= i + 1;
        order[i] = order[j];
        order[j] = other;
    }
    for (int sub = 0; sub < 4; sub++)
        for (int64_t cy = order[sub] / 2; cy < o->rows; cy += 2)
            for (int64_t cx = order[sub] % 2; cx < o->cells; cx += 2)
                update_cell(o, cx, cy, step);
    const int64_t distance = below(r[1], (uint32_t)(o->width / 2));
    static const int directions[4][2] = {{-1, 0}, {1, 0}, {0, -1}, {0, 1}};
    const int *d = directions[r[2] >> 30];
    shift(o, d[0] * distance, d[1] * distance);
    if (o->pressure > 0 && (step + 1) % o->volume_every == 0)
        change_volumes(o, step);
}

/* All disks in units of the box. */
static size_t collect(const struct ergo_oracle_disks *o, int64_t **x, int64_t **y) {
    size_t n = 0;
    *x = malloc((size_t)(o->cells * o->rows) * 4 * sizeof **x);
    *y = malloc((size_t)(o->cells * o->rows) * 4 * sizeof **y);
    for (int64_t cell = 0; cell < o->cells * o->rows; cell++)
        for (int k = 0; k < o->cell[cell].n; k++, n++) {
            (*x)[n] = cell % o->cells * o->width + o->cell[cell].x[k];
            (*y)[n] = cell / o->cells * o->width + o->cell[cell].y[k];
        }
    return n;
}

static uint64_t distance2(const struct ergo_oracle_disks *o, const int64_t *x, const int64_t *y,
                          size_t i, size_t j) {
    const int64_t side = o->cells * o->width, high = o->rows * o->width;
    int64_t dx = mod(x[i] - x[j], side), dy = mod(y[i] - y[j], high);
    dx = dx > side - dx ? side - dx : dx;
    dy = dy > high - dy ? high - dy : dy;
    return length2(o, dx, dy);
}

void ergo_oracle_disks_pairs(const struct ergo_oracle_disks *o, const uint64_t *limits, size_t bins,
                             uint64_t *counts) {
    int64_t *x, *y;
    const size_t n = collect(o, &x, &y);
    memset(counts, 0, bins * sizeof *counts);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < i; j++) {
            const uint64_t r2 = distance2(o, x, y, i, j);
            for (size_t b = 0; b < bins; b++)
                counts[b] += r2 >= limits[b] && r2 < limits[b + 1];
        }
    free(x);
    free(y);
}

bool ergo_oracle_disks_overlap(const struct ergo_oracle_disks *o) {
    int64_t *x, *y;
    const size_t n = collect(o, &x, &y);
    bool found = false;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < i; j++)
            found = found || distance2(o, x, y, i, j) < o->contact;
    free(x);
    free(y);
    return found;
}

uint64_t ergo_oracle_disks_closest(const struct ergo_oracle_disks *o) {
    int64_t *x, *y;
    const size_t n = collect(o, &x, &y);
    uint64_t least = UINT64_MAX;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < i; j++)
            least = distance2(o, x, y, i, j) < least ? distance2(o, x, y, i, j) : least;
    free(x);
    free(y);
    return least;
}

/* ---- plain Monte Carlo ------------------------------------------------------------------------
 */

/* splitmix64 (Steele, Lea, Flood 2014) */
static double uniform(struct ergo_oracle_plain *p) {
    uint64_t z = p->random += UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    return (double)((z ^ z >> 31) >> 11) * 0x1p-53;
}

static size_t list_of(const struct ergo_oracle_plain *p, double x, double y) {
    const size_t i = (size_t)(x / p->box * (double)p->cells);
    const size_t j = (size_t)(y / p->box * (double)p->cells);
    return (j < p->cells ? j : p->cells - 1) * p->cells + (i < p->cells ? i : p->cells - 1);
}

static void link_in(struct ergo_oracle_plain *p, size_t i) {
    size_t *head = &p->head[list_of(p, p->x[i], p->y[i])];
    p->next[i] = *head;
    *head = i;
}

static void link_out(struct ergo_oracle_plain *p, size_t i) {
    size_t *at = &p->head[list_of(p, p->x[i], p->y[i])];
    while (*at != i)
        at = &p->next[*at];
    *at = p->next[i];
}

bool ergo_oracle_plain_init(struct ergo_oracle_plain *p, size_t n, double box, double step,
                            const double *x, const double *y, uint64_t seed) {
    *p = (struct ergo_oracle_plain){.n = n, .box = box, .step = step, .random = seed};
    p->cells = (size_t)(box / 1.05); /* contacts are looked for up to 1.05 */
    p->cells = p->cells < 3 ? 1 : p->cells;
    p->x = malloc(n * sizeof *p->x);
    p->y = malloc(n * sizeof *p->y);
    p->next = malloc(n * sizeof *p->next);
    p->head = malloc(p->cells * p->cells * sizeof *p->head);
    if (!p->x || !p->y || !p->next || !p->head)
        return false;
    for (size_t k = 0; k < p->cells * p->cells; k++)
        p->head[k] = SIZE_MAX;
    for (size_t i = 0; i < n; i++) {
        p->x[i] = x[i];
        p->y[i] = y[i];
        link_in(p, i);
    }
    return true;
}

void ergo_oracle_plain_free(struct ergo_oracle_plain *p) {
    free(p->x);
    free(p->y);
    free(p->next);
    free(p->head);
}

static double near(double d, double box) {
    return d - box * rint(d / box);
}

/* Calls of `each` with the distance of every other disk in the lists around (x, y). */
static bool clear(const struct ergo_oracle_plain *p, size_t i, double x, double y) {
    const size_t m = p->cells, at = list_of(p, x, y), span = m == 1 ? 1 : 3;
    for (size_t k = 0; k < span * span; k++) {
        const size_t column = (at % m + k % span + m - (span > 1)) % m;
        const size_t row = (at / m + k / span + m - (span > 1)) % m;
        for (size_t j = p->head[row * m + column]; j != SIZE_MAX; j = p->next[j]) {
            const double dx = near(p->x[j] - x, p->box), dy = near(p->y[j] - y, p->box);
            if (j != i && dx * dx + dy * dy < 1.0)
                return false;
        }
    }
    return true;
}

void ergo_oracle_plain_sweep(struct ergo_oracle_plain *p) {
    for (size_t t = 0; t < p->n; t++) {
        const size_t i = (size_t)(uniform(p) * (double)p->n);
        double dx, dy;
        do {
            dx = 2.0 * uniform(p) - 1.0;
            dy = 2.0 * uniform(p) - 1.0;
        } while (dx * dx + dy * dy > 1.0);
        double x = p->x[i] + p->step * dx, y = p->y[i] + p->step * dy;
        x -= p->box * floor(x / p->box);
        y -= p->box * floor(y / p->box);
        if (!clear(p, i, x, y))
            continue;
        link_out(p, i);
        p->x[i] = x;
        p->y[i] = y;
        link_in(p, i);
    }
}

/* By all pairs. The lists of cells shrink with the box, and have to stay wider than contacts are
 * looked for. */
bool ergo_oracle_plain_volume(struct ergo_oracle_plain *p, double pressure, double most) {
    const double change = most * (2 * uniform(p) - 1), scale = exp(0.5 * change);
    const double volume = p->box * p->box;
    const double weight = exp((double)(p->n + 1) * change - pressure * volume * (exp(change) - 1));
    if (uniform(p) >= weight)
        return false;
    for (size_t i = 0; i < p->n; i++)
        for (size_t j = 0; j < i; j++) {
            const double dx = scale * near(p->x[i] - p->x[j], p->box);
            const double dy = scale * near(p->y[i] - p->y[j], p->box);
            if (dx * dx + dy * dy < 1.0)
                return false;
        }
    p->box *= scale;
    for (size_t k = 0; k < p->cells * p->cells; k++)
        p->head[k] = SIZE_MAX;
    for (size_t i = 0; i < p->n; i++) { /* rounding may take a disk to another list */
        p->x[i] *= scale;
        p->y[i] *= scale;
        link_in(p, i);
    }
    return true;
}

void ergo_oracle_plain_contacts(const struct ergo_oracle_plain *p, double range, size_t bins,
                                uint64_t *counts) {
    const size_t m = p->cells, span = m == 1 ? 1 : 3;
    for (size_t i = 0; i < p->n; i++) {
        const size_t at = list_of(p, p->x[i], p->y[i]);
        for (size_t k = 0; k < span * span; k++) {
            const size_t column = (at % m + k % span + m - (span > 1)) % m;
            const size_t row = (at / m + k / span + m - (span > 1)) % m;
            for (size_t j = p->head[row * m + column]; j != SIZE_MAX; j = p->next[j]) {
                const double dx = near(p->x[j] - p->x[i], p->box);
                const double dy = near(p->y[j] - p->y[i], p->box);
                const double bin = (sqrt(dx * dx + dy * dy) - 1.0) / range * (double)bins;
                if (j < i && bin < (double)bins)
                    counts[bin > 0 ? (size_t)bin : 0]++;
            }
        }
    }
}

/* ---- psi_6 ----------------------------------------------------------------------------------- */

void ergo_oracle_psi6(size_t n, const double box[2], double cutoff, const double *x,
                      const double *y, double *re, double *im) {
    const int reach = (int)ceil(cutoff / fmin(box[0], box[1])) +
                      1; /* of images: two disks are a box apart at most */
    *re = *im = 0;
    for (size_t i = 0; i < n; i++) {
        double sum_re = 0, sum_im = 0, bonds = 0;
        for (size_t j = 0; j < n; j++)
            for (int a = -reach; a <= reach; a++)
                for (int b = -reach; b <= reach; b++) {
                    const double dx = x[j] - x[i] + a * box[0], dy = y[j] - y[i] + b * box[1];
                    if ((j == i && a == 0 && b == 0) || dx * dx + dy * dy > cutoff * cutoff)
                        continue;
                    sum_re += cos(6 * atan2(dy, dx));
                    sum_im += sin(6 * atan2(dy, dx));
                    bonds++;
                }
        *re += bonds > 0 ? sum_re / bonds / (double)n : 0;
        *im += bonds > 0 ? sum_im / bonds / (double)n : 0;
    }
}
