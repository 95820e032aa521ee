#include "oracle/mixture_serial.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "oracle/xoshiro.h"

static const double PI = 3.14159265358979323846;

static double uniform(struct ergo_oracle_mixture *o) {
    return ergo_oracle_xoshiro_uniform(o->random);
}

static double volume(const struct ergo_oracle_mixture *o) {
    return o->side[0] * o->side[1] * o->side[2];
}

double ergo_oracle_mixture_pair(const struct ergo_oracle_mixture *o, size_t a, size_t b, double r2,
                                double *virial) {
    const double sigma = o->sigma[a][b], cutoff = o->cutoff[a][b];
    *virial = 0;
    if (r2 >= cutoff * cutoff)
        return 0;
    const double s6 = pow(sigma * sigma / r2, 3);
    *virial = 24 * o->epsilon[a][b] * (2 * s6 * s6 - s6);
    return 4 * o->epsilon[a][b] * (s6 * s6 - s6);
}

double ergo_oracle_mixture_b2(const struct ergo_oracle_mixture *o, size_t a, size_t b) {
    enum { N = 20000 };
    const double h = o->cutoff[a][b] / N;
    double sum = 0, w;
    for (int i = 0; i < N; i++) {
        const double r = (i + 0.5) * h;
        const double u = ergo_oracle_mixture_pair(o, a, b, r * r, &w);
        sum -= 2 * PI * r * r * h * expm1(fmax(-700, -u / o->temperature));
    }
    return sum;
}

double ergo_oracle_mixture_tail(const struct ergo_oracle_mixture *o, size_t a, size_t b) {
    const double sigma = o->sigma[a][b], x3 = pow(sigma / o->cutoff[a][b], 3);
    return o->tail ? 8 * PI / 3 * o->epsilon[a][b] * pow(sigma, 3) * (x3 * x3 * x3 / 3 - x3) : 0;
}

static double distance2(const struct ergo_oracle_mixture *o, const double *a, const double *b) {
    double sum = 0;
    for (int k = 0; k < 3; k++) {
        const double d = a[k] - b[k], nearest = d - o->side[k] * nearbyint(d / o->side[k]);
        sum += nearest * nearest;
    }
    return sum;
}

double ergo_oracle_mixture_total(const struct ergo_oracle_mixture *o, double *virial, double width,
                                 double near[ERGO_ORACLE_SPECIES][ERGO_ORACLE_SPECIES]) {
    double sum = 0, w;
    *virial = 0;
    for (size_t a = 0; a < o->species; a++)
        for (size_t b = a; b < o->species; b++)
            for (size_t i = 0; i < o->n[a]; i++)
                for (size_t j = 0; j < (a == b ? i : o->n[b]); j++) {
                    const double r2 = distance2(o, o->r[a][i], o->r[b][j]);
                    const double inner = o->cutoff[a][b] - width;
                    sum += ergo_oracle_mixture_pair(o, a, b, r2, &w);
                    *virial += w;
                    near[a][b] += r2 < pow(o->cutoff[a][b], 2) && r2 >= inner * inner;
                }
    return sum;
}

void ergo_oracle_mixture_pairs(const struct ergo_oracle_mixture *o, size_t a, size_t b,
                               double width, size_t bins, size_t *counts) {
    for (size_t i = 0; i < o->n[a]; i++)
        for (size_t j = 0; j < (a == b ? i : o->n[b]); j++) {
            const size_t bin = (size_t)(sqrt(distance2(o, o->r[a][i], o->r[b][j])) / width);
            if (bin < bins)
                counts[bin]++;
        }
}

/* Energy of a particle of species `a` at `at` with all others; skip: that one of its species. */
static double one(const struct ergo_oracle_mixture *o, size_t a, const double at[3], size_t skip) {
    double sum = 0, w;
    for (size_t b = 0; b < o->species; b++)
        for (size_t j = 0; j < o->n[b]; j++)
            if (a != b || j != skip)
                sum += ergo_oracle_mixture_pair(o, a, b, distance2(o, at, o->r[b][j]), &w);
    return sum;
}

static double tail(const struct ergo_oracle_mixture *o) {
    double sum = 0;
    for (size_t a = 0; a < o->species; a++)
        for (size_t b = 0; b < o->species; b++)
            sum += (double)o->n[a] * (double)o->n[b] * ergo_oracle_mixture_tail(o, a, b);
    return sum / volume(o);
}

bool ergo_oracle_mixture_start(struct ergo_oracle_mixture *o, uint64_t seed) {
    ergo_oracle_xoshiro_seed(o->random, seed);
    o->energy = 0;
    for (size_t a = 0; a < o->species; a++) {
        o->n[a] = 0;
        o->r[a] = calloc(ERGO_ORACLE_MIXTURE, sizeof *o->r[a]);
        if (!o->r[a])
            return false;
    }
    return true;
}

void ergo_oracle_mixture_free(struct ergo_oracle_mixture *o) {
    for (size_t a = 0; a < o->species; a++)
        free(o->r[a]);
}

static void displace(struct ergo_oracle_mixture *o, size_t a, const double to[3]) {
    const size_t i = (size_t)(uniform(o) * (double)o->n[a]);
    if (o->n[a] == 0)
        return;
    const double change = one(o, a, to, i) - one(o, a, o->r[a][i], i);
    if (uniform(o) < exp(-change / o->temperature)) {
        memcpy(o->r[a][i], to, 3 * sizeof *to);
        o->energy += change;
    }
}

static void insert(struct ergo_oracle_mixture *o, size_t a, const double to[3]) {
    const double before = tail(o), change = one(o, a, to, SIZE_MAX);
    if (o->n[a] == ERGO_ORACLE_MIXTURE)
        return;
    o->n[a]++;
    const double all = change + tail(o) - before;
    const double ratio = o->activity[a] * volume(o) / (double)o->n[a];
    if (uniform(o) < ratio * exp(-all / o->temperature)) {
        memcpy(o->r[a][o->n[a] - 1], to, 3 * sizeof *to);
        o->energy += change;
    } else {
        o->n[a]--;
    }
}

static void delete (struct ergo_oracle_mixture *o, size_t a) {
    const size_t i = (size_t)(uniform(o) * (double)o->n[a]);
    if (o->n[a] == 0)
        return;
    const double before = tail(o), change = -one(o, a, o->r[a][i], i);
    const double ratio = (double)o->n[a] / (o->activity[a] * volume(o));
    o->n[a]--;
    if (uniform(o) < ratio * exp(-(change + tail(o) - before) / o->temperature)) {
        memmove(o->r[a][i], o->r[a][o->n[a]], sizeof o->r[a][i]);
        o->energy += change;
    } else {
        o->n[a]++;
    }
}

void ergo_oracle_mixture_move(struct ergo_oracle_mixture *o) {
    const double kind = uniform(o);
    const size_t a = (size_t)(uniform(o) * (double)o->species);
    double to[3];
    for (int k = 0; k < 3; k++)
        to[k] = uniform(o) * o->side[k];
    if (kind < 0.3)
        displace(o, a, to);
    else if (kind < 0.65)
        insert(o, a, to);
    else
        delete (o, a);
}
