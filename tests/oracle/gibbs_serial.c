#include "oracle/gibbs_serial.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "oracle/xoshiro.h"

static const double PI = 3.14159265358979323846;

static double uniform(struct ergo_oracle_gibbs *g) {
    return ergo_oracle_xoshiro_uniform(g->random);
}

static double volume(const struct ergo_oracle_lj *o) {
    return o->side[0] * o->side[1] * o->side[2];
}

double ergo_oracle_gibbs_volume(const struct ergo_oracle_gibbs *g, int box) {
    return volume(&g->box[box]);
}

/* N rho (8 pi/3) (rc^-9/3 - rc^-3) */
static double tail(const struct ergo_oracle_gibbs *g, double n, double v) {
    const double r3 = pow(g->box[0].cutoff, -3);
    return g->box[0].tail ? n * n / v * 8 * PI / 3 * (r3 * r3 * r3 / 3 - r3) : 0;
}

bool ergo_oracle_gibbs_start(struct ergo_oracle_gibbs *g, const size_t particles[2],
                             const double volumes[2], uint64_t seed) {
    const size_t all = particles[0] + particles[1];
    ergo_oracle_xoshiro_seed(g->random, seed);
    for (int b = 0; b < 2; b++) {
        struct ergo_oracle_lj *o = &g->box[b];
        const size_t rows = (size_t)ceil(cbrt((double)particles[b]) - 1e-9);
        o->cutoff = g->box[0].cutoff;
        o->r = calloc(all, sizeof *o->r);
        if (!o->r)
            return false;
        o->n = particles[b];
        o->room = all;
        for (int k = 0; k < 3; k++)
            o->side[k] = cbrt(volumes[b]);
        for (size_t i = 0; i < o->n; i++) {
            const size_t at[3] = {i % rows, i / rows % rows, i / rows / rows};
            for (int k = 0; k < 3; k++)
                o->r[i][k] = ((double)at[k] + 0.5) * o->side[k] / (double)rows;
        }
        o->energy = ergo_oracle_lj_total(o, &(double){0});
    }
    return true;
}

void ergo_oracle_gibbs_free(struct ergo_oracle_gibbs *g) {
    free(g->box[0].r);
    free(g->box[1].r);
}

static void displace(struct ergo_oracle_gibbs *g) {
    const size_t all = g->box[0].n + g->box[1].n;
    size_t i = (size_t)(uniform(g) * (double)all);
    struct ergo_oracle_lj *o = &g->box[i >= g->box[0].n];
    double to[3];
    i -= o == &g->box[1] ? g->box[0].n : 0;
    for (int k = 0; k < 3; k++)
        to[k] = o->r[i][k] + (2 * uniform(g) - 1) * g->step;
    const double change = ergo_oracle_lj_one(o, to, i) - ergo_oracle_lj_one(o, o->r[i], i);
    if (uniform(g) < exp(-change / g->box[0].temperature)) {
        memcpy(o->r[i], to, sizeof to);
        o->energy += change;
    }
}

static void transfer(struct ergo_oracle_gibbs *g) {
    const int which = uniform(g) < 0.5;
    struct ergo_oracle_lj *from = &g->box[which], *to = &g->box[!which];
    const double n = (double)from->n, n_to = (double)to->n, v = volume(from), v_to = volume(to);
    double place[3];
    for (int k = 0; k < 3; k++)
        place[k] = uniform(g) * to->side[k];
    const size_t i = (size_t)(uniform(g) * n);
    if (from->n == 0)
        return;
    const double gain = ergo_oracle_lj_one(to, place, to->n);
    const double loss = -ergo_oracle_lj_one(from, from->r[i], i);
    const double all = gain + loss + tail(g, n_to + 1, v_to) - tail(g, n_to, v_to) +
                       tail(g, n - 1, v) - tail(g, n, v);
    if (uniform(g) < n * v_to / ((n_to + 1) * v) * exp(-all / g->box[0].temperature)) {
        memmove(from->r[i], from->r[from->n - 1], sizeof from->r[i]);
        from->n--;
        memcpy(to->r[to->n++], place, sizeof place);
        from->energy += loss;
        to->energy += gain;
    }
}

static void scale(struct ergo_oracle_lj *o, double factor) {
    for (int k = 0; k < 3; k++) {
        o->side[k] *= factor;
        for (size_t i = 0; i < o->n; i++)
            o->r[i][k] *= factor;
    }
}

static void exchange(struct ergo_oracle_gibbs *g) {
    const double v[2] = {volume(&g->box[0]), volume(&g->box[1])}, all = v[0] + v[1];
    const double x = log(v[0] / v[1]) + (2 * uniform(g) - 1) * g->change;
    const double to[2] = {all / (1 + exp(-x)), all / (1 + exp(x))};
    double exponent = 0, energies[2];
    if (fmin(to[0], to[1]) < g->smallest)
        return;
    for (int b = 0; b < 2; b++) {
        const double n = (double)g->box[b].n;
        scale(&g->box[b], cbrt(to[b] / v[b]));
        energies[b] = ergo_oracle_lj_total(&g->box[b], &(double){0});
        exponent += (n + 1) * log(to[b] / v[b]) -
                    (energies[b] - g->box[b].energy + tail(g, n, to[b]) - tail(g, n, v[b])) /
                        g->box[0].temperature;
    }
    const bool accepted = uniform(g) < exp(exponent);
    for (int b = 0; b < 2; b++) {
        if (accepted)
            g->box[b].energy = energies[b];
        else
            scale(&g->box[b], cbrt(v[b] / to[b]));
    }
}

void ergo_oracle_gibbs_move(struct ergo_oracle_gibbs *g) {
    const double kind = uniform(g);
    if (kind < 0.6)
        displace(g);
    else if (kind < 0.95)
        transfer(g);
    else
        exchange(g);
}
