#include "oracle/spheres_serial.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "oracle/philox_ref.h"
#include "oracle/xoshiro.h"

/* ---- the chain ------------------------------------------------------------------------------- */

enum { PURPOSE_GRID = 1, PURPOSE_CELL = 2, PURPOSE_FIELD = 6 };

static void draw(const struct ergo_oracle_spheres *o, uint32_t entity, uint64_t step,
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

static int64_t number_of(const struct ergo_oracle_spheres *o, const int64_t c[3]) {
    return (mod(c[2], o->cells[2]) * o->cells[1] + mod(c[1], o->cells[1])) * o->cells[0] +
           mod(c[0], o->cells[0]);
}

static int64_t all_cells(const struct ergo_oracle_spheres *o) {
    return o->cells[0] * o->cells[1] * o->cells[2];
}

/* Squared distance to the nearest image. */
static uint64_t distance2(const struct ergo_oracle_spheres *o, const int64_t a[3],
                          const int64_t b[3]) {
    uint64_t sum = 0;
    for (int k = 0; k < 3; k++) {
        const int64_t side = o->cells[k] * o->width[k], d = mod(a[k] - b[k], side);
        const int64_t nearest = d < side - d ? d : side - d;
        sum += (uint64_t)(nearest * nearest);
    }
    return sum;
}

/* Place j of a cell in the box, from the grid's origin. */
static void in_box(const struct ergo_oracle_spheres *o, int64_t cell, const int64_t at[3],
                   int64_t out[3]) {
    const int64_t c[3] = {cell % o->cells[0], cell / o->cells[0] % o->cells[1],
                          cell / o->cells[0] / o->cells[1]};
    for (int k = 0; k < 3; k++)
        out[k] = c[k] * o->width[k] + at[k];
}

static bool meets(const struct ergo_oracle_spheres *o, int64_t own, int self, const int64_t to[3]) {
    int64_t here[3], there[3];
    in_box(o, own, to, here);
    for (int64_t cell = 0; cell < all_cells(o); cell++)
        for (int j = 0; j < o->cube[cell].n; j++) {
            in_box(o, cell, o->cube[cell].at[j], there);
            if (!(cell == own && j == self) && distance2(o, here, there) < o->contact)
                return true;
        }
    return false;
}

/* Where something is in the box that does not move with the grid. */
static void in_walls(const struct ergo_oracle_spheres *o, int64_t cell, const int64_t at[3],
                     int64_t out[3]) {
    in_box(o, cell, at, out);
    for (int k = 0; k < 3; k++)
        out[k] = mod(out[k] + o->grid[k], o->cells[k] * o->width[k]);
}

double ergo_oracle_spheres_energy(const struct ergo_oracle_spheres *o, int64_t place) {
    const double z = (double)place / o->sigma;
    return o->gravity * z + o->harmonic * (z - o->middle) * (z - o->middle) / 2;
}

/* Do walls and the field let move s of a cell happen? */
static bool lets(const struct ergo_oracle_spheres *o, int64_t own, uint64_t step, int s,
                 const int64_t from[3], const int64_t to[3]) {
    int64_t now[3], then[3];
    uint32_t words[4];
    in_walls(o, own, from, now);
    in_walls(o, own, to, then);
    for (int k = 0; k < 3; k++)
        if (o->last[k] && (then[k] < o->first[k] || then[k] > o->last[k]))
            return false;
    if (o->gravity == 0 && o->harmonic == 0)
        return true;
    draw(o, (uint32_t)own, step, PURPOSE_FIELD, (uint32_t)(s / 4), words);
    const double rise =
        ergo_oracle_spheres_energy(o, then[o->axis]) - ergo_oracle_spheres_energy(o, now[o->axis]);
    return (double)words[s % 4] < exp(-rise) * 0x1p32;
}

static void update(struct ergo_oracle_spheres *o, const int64_t c[3], uint64_t step) {
    const int64_t own = number_of(o, c);
    struct ergo_oracle_cube *cube = &o->cube[own];
    if (!cube->n)
        return;
    o->tried++;
    for (int s = 0; s < o->moves; s++) {
        uint32_t choice[4], words[4];
        draw(o, (uint32_t)own, step, PURPOSE_CELL, (uint32_t)(s / 4 * 3), choice);
        draw(o, (uint32_t)own, step, PURPOSE_CELL, (uint32_t)(s / 4 * 3 + 1 + s / 2 % 2), words);
        const int i = (int)below(choice[s % 4], (uint32_t)cube->n);
        uint64_t bits = words[s % 2 * 2] | (uint64_t)words[s % 2 * 2 + 1] << 32;
        int64_t to[3];
        bool inside = true;
        for (int k = 0; k < 3; k++, bits >>= 21) {
            const int64_t size = (int64_t)((bits >> 1 & 0xfffff) * (uint64_t)(o->step + 1) >> 20);
            to[k] = cube->at[i][k] + (bits & 1 ? size : -size);
            inside = inside && to[k] >= 0 && to[k] < o->width[k];
        }
        if (!inside || meets(o, own, i, to) || !lets(o, own, step, s, cube->at[i], to))
            continue;
        memcpy(cube->at[i], to, sizeof to);
        o->accepted++;
    }
}

/* Spheres that stay come first in a cell, in their order. */
static void shift(struct ergo_oracle_spheres *o, int axis, int64_t by) {
    const int64_t all = all_cells(o), width = o->width[axis];
    struct ergo_oracle_cube *old = malloc((size_t)all * sizeof *old);
    if (!old)
        abort();
    memcpy(old, o->cube, (size_t)all * sizeof *old);
    for (int64_t cell = 0; cell < all; cell++)
        o->cube[cell].n = 0;
    for (int round = 0; round < 2; round++)
        for (int64_t cell = 0; cell < all; cell++)
            for (int j = 0; j < old[cell].n; j++) {
                int64_t c[3] = {cell % o->cells[0], cell / o->cells[0] % o->cells[1],
                                cell / o->cells[0] / o->cells[1]};
                int64_t at[3];
                memcpy(at, old[cell].at[j], sizeof at);
                const int64_t x = at[axis] - by;
                const int moves = x < 0 ? -1 : x >= width ? 1 : 0;
                if ((moves != 0) != round)
                    continue;
                at[axis] = x - moves * width;
                c[axis] += moves;
                struct ergo_oracle_cube *to = &o->cube[number_of(o, c)];
                if (to->n == ERGO_ORACLE_SLOTS) {
                    o->lost = true;
                    continue;
                }
                memcpy(to->at[to->n++], at, sizeof at);
            }
    free(old);
    o->grid[axis] = mod(o->grid[axis] + by, o->cells[axis] * width);
}

void ergo_oracle_spheres_sweep(struct ergo_oracle_spheres *o, uint64_t step) {
    uint32_t plan[4];
    int order[8] = {0, 1, 2, 3, 4, 5, 6, 7};
    draw(o, 0, step, PURPOSE_GRID, 0, plan);
    uint32_t k = below(plan[0], 40320);
    for (int i = 7; i > 0; i--) {
        const int j = (int)(k % (uint32_t)(i + 1)), kept = order[i];
        k /= (uint32_t)(i + 1);
        order[i] = order[j];
        order[j] = kept;
    }
    o->accepted = o->tried = 0;
    for (int sub = 0; sub < 8; sub++)
        for (int64_t z = order[sub] >> 2; z < o->cells[2]; z += 2)
            for (int64_t y = order[sub] >> 1 & 1; y < o->cells[1]; y += 2)
                for (int64_t x = order[sub] & 1; x < o->cells[0]; x += 2)
                    update(o, (const int64_t[3]){x, y, z}, step);
    const int axis = (int)below(plan[1], 3);
    const int64_t by = below(plan[3], (uint32_t)o->width[axis] / 2);
    shift(o, axis, plan[2] >> 31 ? by : -by);
}

/* Calls visit(r^2) for each pair. */
static void each_pair(const struct ergo_oracle_spheres *o, void (*visit)(uint64_t r2, void *user),
                      void *user) {
    for (int64_t a = 0; a < all_cells(o); a++)
        for (int i = 0; i < o->cube[a].n; i++)
            for (int64_t b = a; b < all_cells(o); b++)
                for (int j = b == a ? i + 1 : 0; j < o->cube[b].n; j++) {
                    int64_t one[3], two[3];
                    in_box(o, a, o->cube[a].at[i], one);
                    in_box(o, b, o->cube[b].at[j], two);
                    visit(distance2(o, one, two), user);
                }
}

struct histogram {
    const uint64_t *limits;
    size_t bins;
    uint64_t *counts;
};

static void count(uint64_t r2, void *user) {
    const struct histogram *h = user;
    for (size_t b = 0; b < h->bins; b++)
        h->counts[b] += r2 >= h->limits[b] && r2 < h->limits[b + 1];
}

void ergo_oracle_spheres_pairs(const struct ergo_oracle_spheres *o, const uint64_t *limits,
                               size_t bins, uint64_t *counts) {
    struct histogram h = {limits, bins, counts};
    memset(counts, 0, bins * sizeof *counts);
    each_pair(o, count, &h);
}

size_t ergo_oracle_spheres_places(const struct ergo_oracle_spheres *o, int64_t *places) {
    size_t n = 0;
    int64_t at[3];
    for (int64_t cell = 0; cell < all_cells(o); cell++)
        for (int j = 0; j < o->cube[cell].n; j++) {
            in_walls(o, cell, o->cube[cell].at[j], at);
            places[n++] = at[o->axis];
        }
    return n;
}

static void closest(uint64_t r2, void *user) {
    uint64_t *least = user;
    if (r2 < *least)
        *least = r2;
}

uint64_t ergo_oracle_spheres_closest(const struct ergo_oracle_spheres *o) {
    uint64_t least = UINT64_MAX;
    each_pair(o, closest, &least);
    return least;
}

/* ---- plain Metropolis ------------------------------------------------------------------------ */

static double nearest2(const struct ergo_oracle_balls *b, const double *one, const double *two,
                       double scale) {
    double sum = 0;
    for (int k = 0; k < 3; k++) {
        double d = one[k] - two[k];
        d -= b->side[k] * rint(d / b->side[k]);
        sum += d * d * scale * scale;
    }
    return sum;
}

void ergo_oracle_balls_sweep(struct ergo_oracle_balls *b) {
    for (size_t t = 0; t < b->n; t++) {
        const size_t i = (size_t)(ergo_oracle_xoshiro_uniform(b->random) * (double)b->n);
        double to[3];
        bool free = true;
        for (int k = 0; k < 3; k++)
            to[k] = b->at[i][k] + b->step * (2 * ergo_oracle_xoshiro_uniform(b->random) - 1);
        for (size_t j = 0; j < b->n && free; j++)
            free = j == i || nearest2(b, to, b->at[j], 1) >= 1;
        if (free)
            memcpy(b->at[i], to, sizeof to);
    }
}

bool ergo_oracle_balls_volume(struct ergo_oracle_balls *b, double pressure, double most) {
    const double change = most * (2 * ergo_oracle_xoshiro_uniform(b->random) - 1);
    const double scale = exp(change / 3), volume = b->side[0] * b->side[1] * b->side[2];
    const double weight = exp((double)(b->n + 1) * change - pressure * volume * (exp(change) - 1));
    if (ergo_oracle_xoshiro_uniform(b->random) >= weight)
        return false;
    for (size_t i = 0; i < b->n; i++)
        for (size_t j = 0; j < i; j++)
            if (nearest2(b, b->at[i], b->at[j], scale) < 1)
                return false;
    for (int k = 0; k < 3; k++)
        b->side[k] *= scale;
    for (size_t i = 0; i < b->n; i++)
        for (int k = 0; k < 3; k++)
            b->at[i][k] *= scale;
    return true;
}

void ergo_oracle_balls_contacts(const struct ergo_oracle_balls *b, double range, size_t bins,
                                uint64_t *counts) {
    for (size_t i = 0; i < b->n; i++)
        for (size_t j = 0; j < i; j++) {
            const double r = sqrt(nearest2(b, b->at[i], b->at[j], 1)) - 1;
            if (r < range)
                counts[(size_t)(r / range * (double)bins)]++;
        }
}
