#include "oracle/lj_serial.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "oracle/xoshiro.h"

static const double PI = 3.14159265358979323846;

static double uniform(struct ergo_oracle_lj *o) {
    return ergo_oracle_xoshiro_uniform(o->random);
}

void ergo_oracle_lj_seed(struct ergo_oracle_lj *o, uint64_t seed) {
    ergo_oracle_xoshiro_seed(o->random, seed);
}

double ergo_oracle_lj_pair(double r2, double cutoff, double *virial) {
    *virial = 0;
    if (r2 >= cutoff * cutoff)
        return 0;
    const double s6 = 1 / (r2 * r2 * r2);
    *virial = 24 * (2 * s6 * s6 - s6);
    return 4 * (s6 * s6 - s6);
}

static double distance2(const struct ergo_oracle_lj *o, const double *a, const double *b) {
    double sum = 0;
    for (int k = 0; k < 3; k++) {
        double d = a[k] - b[k];
        if (k < 2 || o->slit[0] == 0)
            d -= o->side[k] * nearbyint(d / o->side[k]);
        sum += d * d;
    }
    return sum;
}

double ergo_oracle_lj_wall(const struct ergo_oracle_lj *o, double z) {
    const double width = o->slit[0], epsilon = o->slit[1], sigma = o->slit[2];
    const double rho = o->slit[3], delta = o->slit[4];
    double sum = 0;
    if (width == 0)
        return 0;
    if (z <= 0 || z >= width)
        return INFINITY;
    for (int side = 0; side < 2; side++) {
        const double d = side ? width - z : z;
        sum += 0.4 * pow(sigma / d, 10) - pow(sigma / d, 4) -
               pow(sigma, 4) / (3 * delta * pow(d + 0.61 * delta, 3));
    }
    return 2 * PI * rho * epsilon * sigma * sigma * delta * sum;
}

double ergo_oracle_lj_outside(const struct ergo_oracle_lj *o, const double at[3]) {
    double sum = ergo_oracle_lj_wall(o, at[2]), w;
    for (size_t j = 0; j < o->n_frozen; j++) {
        const double *atom = o->frozen[j], sigma = atom[4];
        sum += atom[3] *
               ergo_oracle_lj_pair(distance2(o, at, atom) / (sigma * sigma), o->cutoff / sigma, &w);
    }
    return sum + (o->field ? o->field(at) : 0);
}

double ergo_oracle_lj_one(const struct ergo_oracle_lj *o, const double at[3], size_t skip) {
    double sum = ergo_oracle_lj_outside(o, at), w;
    for (size_t j = 0; j < o->n; j++)
        if (j != skip)
            sum += ergo_oracle_lj_pair(distance2(o, at, o->r[j]), o->cutoff, &w);
    return sum;
}

double ergo_oracle_lj_total(const struct ergo_oracle_lj *o, double *virial) {
    double sum = 0, w;
    *virial = 0;
    for (size_t i = 0; i < o->n; i++) {
        for (size_t j = 0; j < i; j++) {
            sum += ergo_oracle_lj_pair(distance2(o, o->r[i], o->r[j]), o->cutoff, &w);
            *virial += w;
        }
    }
    return sum;
}

/* N rho (8 pi/3) (rc^-9/3 - rc^-3) */
static double tail(const struct ergo_oracle_lj *o, double n, double volume) {
    const double r3 = pow(o->cutoff, -3);
    return o->tail ? n * n / volume * 8 * PI / 3 * (r3 * r3 * r3 / 3 - r3) : 0;
}

bool ergo_oracle_lj_move(struct ergo_oracle_lj *o) {
    const double kind = uniform(o), volume = o->side[0] * o->side[1] * o->side[2];
    const double zv = o->activity * volume, n = (double)o->n;
    double to[3];
    for (int k = 0; k < 3; k++)
        to[k] = uniform(o) * o->side[k];
    if (kind < 0.65 && o->n == 0 && kind >= 0.3)
        return true;
    const size_t i = o->n ? (size_t)(uniform(o) * n) : 0;
    if (kind < 0.3) {
        if (o->n == 0)
            return true;
        const double change = ergo_oracle_lj_one(o, to, i) - ergo_oracle_lj_one(o, o->r[i], i);
        if (uniform(o) < exp(-change / o->temperature)) {
            memcpy(o->r[i], to, sizeof to);
            o->energy += change;
        }
    } else if (kind < 0.65) {
        const double change = -ergo_oracle_lj_one(o, o->r[i], i);
        const double all = change + tail(o, n - 1, volume) - tail(o, n, volume);
        if (uniform(o) < n / zv * exp(-all / o->temperature)) {
            memmove(o->r[i], o->r[o->n - 1], sizeof o->r[i]);
            o->n--;
            o->energy += change;
        }
    } else {
        const double change = ergo_oracle_lj_one(o, to, o->n);
        const double all = change + tail(o, n + 1, volume) - tail(o, n, volume);
        if (uniform(o) < zv / (n + 1) * exp(-all / o->temperature)) {
            if (o->n == o->room) {
                void *more = realloc(o->r, (2 * o->room + 16) * sizeof *o->r);
                if (!more)
                    return false;
                o->r = more;
                o->room = 2 * o->room + 16;
            }
            memcpy(o->r[o->n++], to, sizeof to);
            o->energy += change;
        }
    }
    return true;
}

void ergo_oracle_lj_static(int n, double side, double offset, double (*r)[3]) {
    const double a = side / n;
    for (int i = 0; i < n * n * n; i++) {
        const int at[3] = {i % n, i / n % n, i / n / n};
        const int factor[3] = {3, 5, 7};
        for (int k = 0; k < 3; k++) {
            const double x = (at[k] + 0.5) * a + offset + 0.1 * a * sin(k + 1 + factor[k] * i);
            r[i][k] = x - side * floor(x / side);
        }
    }
}
