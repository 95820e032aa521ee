#include "serial_lj.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "oracle/xoshiro.h"

static const double CORE2 = 0.49; /* closer pairs have more than 200 epsilon: never accepted */

static double uniform(struct ergo_serial_lj *o) {
    return ergo_oracle_xoshiro_uniform(o->random);
}

static int cell_at(const struct ergo_serial_lj *s, const double r[3]) {
    int c[3];
    for (int k = 0; k < 3; k++) {
        c[k] = (int)(r[k] / s->side[k] * s->n[k]);
        c[k] = c[k] < s->n[k] ? c[k] : s->n[k] - 1;
    }
    return (c[2] * s->n[1] + c[1]) * s->n[0] + c[0];
}

/* Energy and virial at r with all but particle `skip`; false: an overlap, which ends the search. */
static bool sums(const struct ergo_serial_lj *s, const double r[3], int skip, double *energy,
                 double *virial) {
    const int home = cell_at(s, r), nx = s->n[0], ny = s->n[1], nz = s->n[2];
    const int cx = home % nx, cy = home / nx % ny, cz = home / nx / ny;
    double e = 0, w = 0;
    for (int dz = -1; dz <= 1; dz++) {
        const int z = (cz + dz + nz) % nz;
        const double pz = r[2] - (cz + dz < 0 ? -s->side[2] : cz + dz >= nz ? s->side[2] : 0);
        for (int dy = -1; dy <= 1; dy++) {
            const int y = (cy + dy + ny) % ny;
            const double py = r[1] - (cy + dy < 0 ? -s->side[1] : cy + dy >= ny ? s->side[1] : 0);
            for (int dx = -1; dx <= 1; dx++) {
                const int x = (cx + dx + nx) % nx;
                const double px = r[0] - (cx + dx < 0     ? -s->side[0]
                                          : cx + dx >= nx ? s->side[0]
                                                          : 0);
                const struct ergo_serial_lj_cell *c = &s->cells[(z * ny + y) * nx + x];
                for (int i = 0; i < c->n; i++) {
                    const double ax = c->x[i] - px, ay = c->y[i] - py, az = c->z[i] - pz;
                    const double r2 = ax * ax + ay * ay + az * az;
                    if (r2 >= s->cutoff2 || c->who[i] == skip)
                        continue;
                    if (r2 < CORE2)
                        return false;
                    const double i2 = 1 / r2, i6 = i2 * i2 * i2;
                    e += i6 * i6 - i6;
                    w += 2 * i6 * i6 - i6;
                }
            }
        }
    }
    *energy = 4 * e;
    *virial = 24 * w;
    return true;
}

static void add(struct ergo_serial_lj *s, const double r[3]) {
    const int at = cell_at(s, r);
    struct ergo_serial_lj_cell *c = &s->cells[at];
    if (c->n == ERGO_SERIAL_LJ_ROOM || s->count == s->room) {
        s->failed = true;
        return;
    }
    c->x[c->n] = r[0];
    c->y[c->n] = r[1];
    c->z[c->n] = r[2];
    c->who[c->n] = (int)s->count;
    s->particles[s->count].cell = at;
    s->particles[s->count++].slot = c->n++;
}

static void drop(struct ergo_serial_lj *s, size_t i) {
    struct ergo_serial_lj_cell *c = &s->cells[s->particles[i].cell];
    const int slot = s->particles[i].slot, last = --c->n;
    c->x[slot] = c->x[last];
    c->y[slot] = c->y[last];
    c->z[slot] = c->z[last];
    c->who[slot] = c->who[last];
    s->particles[c->who[slot]].slot = slot;
    s->particles[i] = s->particles[--s->count];
    if (i < s->count)
        s->cells[s->particles[i].cell].who[s->particles[i].slot] = (int)i;
}

void ergo_serial_lj_moves(struct ergo_serial_lj *s, uint64_t moves) {
    for (uint64_t m = 0; m < moves; m++) {
        const double kind = uniform(s), n = (double)s->count;
        double to[3], from[3] = {0, 0, 0}, e = 0, w = 0, e0 = 0, w0 = 0;
        const bool out = kind < 0.3 || kind >= 0.65, in = kind < 0.65;
        size_t i = 0;
        for (int k = 0; k < 3 && in; k++)
            to[k] = uniform(s) * s->side[k];
        if (out) {
            if (s->count == 0)
                continue;
            i = (size_t)(uniform(s) * n);
            const struct ergo_serial_lj_cell *c = &s->cells[s->particles[i].cell];
            const int slot = s->particles[i].slot;
            from[0] = c->x[slot];
            from[1] = c->y[slot];
            from[2] = c->z[slot];
        }
        if (in && !sums(s, to, out ? (int)i : -1, &e, &w))
            continue;
        if (out)
            sums(s, from, (int)i, &e0, &w0);
        const double weight = exp(-(e - e0) * s->beta);
        const double chance = !out ? s->zv / (n + 1) * weight : in ? weight : n / s->zv * weight;
        if (uniform(s) >= chance)
            continue;
        s->energy += e - e0;
        s->virial += w - w0;
        if (out)
            drop(s, i);
        if (in)
            add(s, to);
    }
}

double ergo_serial_lj_total(const struct ergo_serial_lj *s) {
    double sum = 0;
    for (size_t i = 0; i < s->count; i++) {
        const struct ergo_serial_lj_cell *c = &s->cells[s->particles[i].cell];
        const int k = s->particles[i].slot;
        double e = 0, w;
        if (!sums(s, (double[3]){c->x[k], c->y[k], c->z[k]}, (int)i, &e, &w))
            return NAN;
        sum += e / 2;
    }
    return sum;
}

bool ergo_serial_lj_start(struct ergo_serial_lj *s, const double side[3], double cutoff,
                          double temperature, double activity, size_t count, uint64_t seed) {
    size_t cells = 1, edge = 1;
    memset(s, 0, sizeof *s);
    for (int k = 0; k < 3; k++) {
        s->side[k] = side[k];
        s->n[k] = (int)(side[k] / cutoff);
        if (s->n[k] < 3)
            return false;
        cells *= (size_t)s->n[k];
    }
    s->cutoff2 = cutoff * cutoff;
    s->beta = 1 / temperature;
    s->zv = activity * side[0] * side[1] * side[2];
    s->room = (size_t)(side[0] * side[1] * side[2]) + count + 16;
    s->cells = calloc(cells, sizeof *s->cells);
    s->particles = calloc(s->room, sizeof *s->particles);
    if (!s->cells || !s->particles) {
        ergo_serial_lj_free(s);
        return false;
    }
    ergo_oracle_xoshiro_seed(s->random, seed);
    while (edge * edge * edge < count)
        edge++;
    for (size_t i = 0; i < count; i++) {
        const size_t at[3] = {i % edge, i / edge % edge, i / edge / edge};
        double r[3];
        for (int k = 0; k < 3; k++)
            r[k] = ((double)at[k] + 0.5) * side[k] / (double)edge;
        add(s, r);
    }
    s->energy = ergo_serial_lj_total(s);
    return !s->failed;
}

void ergo_serial_lj_free(struct ergo_serial_lj *s) {
    free(s->cells);
    free(s->particles);
    s->cells = NULL;
    s->particles = NULL;
}
