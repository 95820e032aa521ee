#include "oracle/bytes_serial.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "oracle/philox_ref.h"

__extension__ typedef unsigned __int128 u128;

int bytes_oracle_sites(const struct bytes_oracle *o) {
    return o->l[0] * o->l[1] * o->l[2];
}

static void words(uint64_t key_of, uint32_t entity, uint64_t step, uint32_t purpose, uint32_t draw,
                  uint32_t out[4]) {
    const uint32_t counter[4] = {entity, (uint32_t)step, (uint32_t)(step >> 32),
                                 purpose << 24 | draw};
    const uint32_t key[2] = {(uint32_t)key_of, (uint32_t)(key_of >> 32)};
    ergo_oracle_philox(counter, key, out);
}

/* Site i's neighbour along k, forth (1) or back (-1). */
static int neighbour(const struct bytes_oracle *o, int i, int k, int way) {
    int at[3] = {i % o->l[0], i / o->l[0] % o->l[1], i / o->l[0] / o->l[1]};
    at[k] = (at[k] + way + o->l[k]) % o->l[k];
    return at[0] + o->l[0] * (at[1] + o->l[1] * at[2]);
}

static int colour_of(const struct bytes_oracle *o, int i) {
    return (i % o->l[0] + i / o->l[0] % o->l[1] + i / o->l[0] / o->l[1]) % 2;
}

/* The word of a site that shares a counter with three others of its row and colour. */
static uint32_t word_of(const struct bytes_oracle *o, uint64_t key, int i, uint64_t step,
                        uint32_t purpose) {
    const uint32_t row = (uint32_t)(i / o->l[0]), h = (uint32_t)(i % o->l[0] / 2);
    const uint32_t fours = ((uint32_t)o->l[0] / 2 + 3) / 4;
    uint32_t r[4];
    words(key, row * fours + h / 4, step, purpose, (uint32_t)colour_of(o, i), r);
    return r[h % 4];
}

/* Ratio of uniforms; rounded to 2^-24. */
static double normal(const struct bytes_oracle *o, int i, int state) {
    for (uint32_t attempt = 0;; attempt++) {
        uint32_t r[4];
        words(o->field, (uint32_t)i, 1 + (uint64_t)state, 14, 32 * attempt, r);
        const double u = (r[0] + (r[1] + 0.5) / 4294967296.0) / 4294967296.0;
        const double v = (r[2] + (r[3] + 0.5) / 4294967296.0) / 4294967296.0;
        const double x = sqrt(2 / exp(1)) * (2 * v - 1) / u;
        if (fabs(x) < 8 && u <= exp(-x * x / 4))
            return floor(x * 16777216 + 0.5) / 16777216;
    }
}

static bool is_potts(const struct bytes_oracle *o) {
    return o->q != 0 && !o->capel;
}

int bytes_oracle_numbers(const struct bytes_oracle *o) {
    return bytes_oracle_sites(o) * (is_potts(o) ? o->q : 1);
}

/* One of n, at random. */
static int one_of(const struct bytes_oracle *o, int i, int n) {
    uint32_t r[4];
    words(o->field, (uint32_t)i, 0, 14, 2, r);
    return (int)(r[0] * 0x1p-32 * n);
}

void bytes_oracle_fields(const struct bytes_oracle *o, double *f) {
    for (int i = 0; i < bytes_oracle_numbers(o) && o->q != 0; i++) {
        const int site = is_potts(o) ? i / o->q : i, state = is_potts(o) ? i % o->q : 0;
        f[i] = o->given      ? o->given[i]
               : o->normal   ? normal(o, site, state)
               : is_potts(o) ? one_of(o, site, o->q) == state
                             : 2 * one_of(o, site, 2) - 1;
    }
    for (int i = 0; i < bytes_oracle_sites(o) && o->q == 0; i++)
        f[i] = o->given                                        ? o->given[i]
               : o->normal                                     ? normal(o, i, 0)
               : word_of(o, o->field, i, 0, 14) >= 0x80000000u ? 1
                                                               : -1;
}

void bytes_oracle_start(const struct bytes_oracle *o, uint8_t *sites) {
    for (int i = 0; i < bytes_oracle_sites(o); i++)
        sites[i] = (uint8_t)(word_of(o, o->stream, i, 0, 13) * 0x1p-32 * (o->q == 0 ? 2 : o->q));
}

/* A chance is a multiple of 2^-32, at most 1 - 2^-32. */
static bool happens(double p, uint32_t random) {
    const double scaled = floor(p * 0x1p32 + 0.5);
    return random < fmin(scaled, 4294967295.0);
}

/* Of the bond from i along k, forth or back. */
static double coupling(const struct bytes_oracle *o, int i, int k, int way) {
    const int owner = way > 0 ? i : neighbour(o, i, k, -1);
    return o->bonds ? o->j[k] * o->bonds[k * bytes_oracle_sites(o) + owner] : o->j[k];
}

static void flip(const struct bytes_oracle *o, double f, uint64_t step, int i, uint8_t *sites) {
    double force = o->b + f * o->h;
    for (int k = 0; k < o->d; k++)
        for (int way = -1; way < 2; way += 2)
            force += coupling(o, i, k, way) * (2.0 * sites[neighbour(o, i, k, way)] - 1);
    const double cost = 2 * (2.0 * sites[i] - 1) * force / o->t;
    if (o->general) {
        const double u = (word_of(o, o->stream, i, step, 12) + 0.5) / 4294967296.0;
        if (cost < (o->heat_bath ? log(1 / u - 1) : -log(u)) || (cost <= 0 && !o->heat_bath))
            sites[i] = !sites[i];
        return;
    }
    const double p = o->heat_bath ? 1 / (1 + exp(cost)) : cost <= 0 ? 1 : exp(-cost);
    if (happens(p, word_of(o, o->stream, i, step, 12)))
        sites[i] = !sites[i];
}

/* -energy of a state of potts or blume-capel in the fields of site i. */
static double in_field(const struct bytes_oracle *o, const double *f, int i, int state) {
    const int s = 1 - state;
    if (o->capel)
        return s * (o->b + (f ? f[i] * o->h : 0)) - o->crystal * s * s;
    return (state == 0 ? o->b : 0) + (f ? f[i * o->q + state] * o->h : 0);
}

/* -energy / T of site i in a state. */
static double exponent(const struct bytes_oracle *o, const double *f, int i, int state,
                       const uint8_t *sites) {
    double sum = in_field(o, f, i, state) / o->t;
    for (int k = 0; k < o->d; k++)
        for (int way = -1; way < 2; way += 2) {
            const int other = sites[neighbour(o, i, k, way)];
            sum += coupling(o, i, k, way) / o->t *
                   (o->capel ? (1 - state) * (1 - other) : other == state);
        }
    return sum;
}

static void propose(const struct bytes_oracle *o, const double *f, uint64_t step, int i,
                    uint8_t *sites) {
    const uint64_t product = (uint64_t)word_of(o, o->stream, i, step, 12) * (uint64_t)(o->q - 1);
    const int state = (sites[i] + 1 + (int)(product >> 32)) % o->q;
    const double gain = exponent(o, f, i, state, sites) - exponent(o, f, i, sites[i], sites);
    const double u = ((uint32_t)product + 0.5) / 4294967296.0;
    if (o->general ? gain >= 0 || -gain < -log(u)
                   : happens(gain >= 0 ? 1 : exp(gain), (uint32_t)product))
        sites[i] = (uint8_t)state;
}

/* States of the neighbours, along x, y and z the one before and the one after; then all others.
 * Weights in units of 2^-40, none 0. */
static void choose(const struct bytes_oracle *o, uint64_t step, int i, uint8_t *sites) {
    uint32_t r[4];
    int states[256], n = 0;
    uint64_t weights[256], total = 0;
    double most = 0;
    for (int k = 0; k < o->d; k++)
        most += o->j[k] > 0 ? 2 * o->j[k] / o->t : 0;
    for (int k = 0; k < 2 * o->d + o->q; k++) {
        const int state =
            k < 2 * o->d ? sites[neighbour(o, i, k / 2, k % 2 ? 1 : -1)] : k - 2 * o->d;
        bool known = false;
        for (int m = 0; m < n; m++)
            known = known || states[m] == state;
        if (known)
            continue;
        states[n] = state;
        weights[n] = (uint64_t)(exp(exponent(o, NULL, i, state, sites) - most) * 0x1p40 + 1);
        total += weights[n++];
    }
    words(o->stream, (uint32_t)(i / o->l[0] * (o->l[0] / 2) + i % o->l[0] / 2), step, 12,
          (uint32_t)colour_of(o, i), r);
    const u128 random = (u128)((uint64_t)r[0] << 32 | r[1]);
    uint64_t target = (uint64_t)(random * total >> 64);
    int m = 0, among = 0;
    for (bool found = false; m < 2 * o->d && m < n && !found;) {
        bool near = false; /* a state that a neighbour has */
        for (int k = 0; k < o->d; k++)
            near = near || sites[neighbour(o, i, k, 1)] == states[m] ||
                   sites[neighbour(o, i, k, -1)] == states[m];
        if (!near)
            break;
        among++;
        found = target < weights[m];
        if (found) {
            sites[i] = (uint8_t)states[m];
            return;
        }
        target -= weights[m++];
    }
    /* the others are alike: the third word chooses, in the order of their numbers */
    sites[i] = (uint8_t)states[among + (int)((uint64_t)r[2] * (uint64_t)(n - among) >> 32)];
}

void bytes_oracle_sweep(const struct bytes_oracle *o, const double *f, uint64_t step,
                        uint8_t *sites) {
    for (int colour = 0; colour < 2; colour++)
        for (int i = 0; i < bytes_oracle_sites(o); i++) {
            if (colour_of(o, i) != colour)
                continue;
            if (o->q == 0)
                flip(o, f ? f[i] : 0, step, i, sites);
            else if (o->heat_bath)
                choose(o, step, i, sites);
            else
                propose(o, f, step, i, sites);
        }
}

double bytes_oracle_energy(const struct bytes_oracle *o, const double *f, const uint8_t *sites) {
    const int n = bytes_oracle_sites(o);
    double e = 0;
    for (int i = 0; i < n; i++) {
        const double s = 2.0 * sites[i] - 1;
        for (int k = 0; k < o->d; k++) {
            const int other = sites[neighbour(o, i, k, 1)];
            e -= o->capel    ? coupling(o, i, k, 1) * (1 - sites[i]) * (1 - other)
                 : o->q == 0 ? coupling(o, i, k, 1) * s * (2.0 * other - 1)
                             : coupling(o, i, k, 1) * ((sites[i] == other) - 1);
        }
        if (o->q == 0)
            e -= s * (o->b + (f ? f[i] * o->h : 0));
        else
            e -= in_field(o, f, i, sites[i]);
    }
    return e / n;
}

double bytes_oracle_order(const struct bytes_oracle *o, const uint8_t *sites) {
    const int n = bytes_oracle_sites(o);
    int counts[256] = {0}, most = 0;
    for (int i = 0; i < n; i++)
        counts[sites[i]]++;
    if (o->q == 0)
        return (double)(counts[1] - counts[0]) / n;
    if (o->capel)
        return (double)(counts[0] - counts[2]) / n;
    for (int k = 0; k < o->q; k++)
        most = counts[k] > most ? counts[k] : most;
    return ((double)o->q * most / n - 1) / (o->q - 1);
}

double bytes_oracle_third(const struct bytes_oracle *o, const uint8_t *sites) {
    const int n = bytes_oracle_sites(o);
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += o->capel ? sites[i] != 1 : sites[i] == 0;
    return sum / n;
}

struct bytes_oracle_means bytes_oracle_enumerate(const struct bytes_oracle *o, const double *f) {
    const int n = bytes_oracle_sites(o), q = o->q == 0 ? 2 : o->q;
    struct bytes_oracle_means m = {0, 0, 0, 0, 0};
    uint8_t sites[24] = {0};
    double z = 0;
    for (bool more = n <= 24; more;) {
        const double e = bytes_oracle_energy(o, f, sites), p = bytes_oracle_order(o, sites);
        const double w = exp(-n * e / o->t);
        z += w;
        m.energy += w * e;
        m.order += w * p;
        m.abs_order += w * fabs(p);
        m.order2 += w * p * p;
        m.third += w * bytes_oracle_third(o, sites);
        int i = 0;
        while (i < n && ++sites[i] == q)
            sites[i++] = 0;
        more = i < n;
    }
    m.energy /= z;
    m.order /= z;
    m.abs_order /= z;
    m.order2 /= z;
    m.third /= z;
    return m;
}
