#include "oracle/helium_dmc.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "oracle/helium_serial.h"
#include "oracle/xoshiro.h"

enum { TABLE = 16384, BLOCKS = 32 };

/* Of a pair as functions of r^2, from `low` to half^2 in TABLE steps: ln psi, u'/r, and V - 2
 * lambda lap u, to which the squares of gradients add. Parabolas leave 1e-9 of them. */
struct tables {
    double side, half, low, per, lambda;
    double u[TABLE + 2], slope[TABLE + 2], local[TABLE + 2];
};

struct walker {
    double *place, *gradient; /* [n][3] */
    double ln_psi, energy;
};

static void make_tables(struct tables *t, const struct ergo_oracle_dmc *d) {
    t->side = cbrt(d->n / d->density);
    t->half = t->side / 2;
    t->low = 1;
    t->per = TABLE / (t->half * t->half - t->low);
    t->lambda = d->lambda;
    for (int k = 0; k < TABLE + 2; k++) {
        const double r = fmin(sqrt(t->low + k / t->per), t->half);
        double u[3];
        ergo_oracle_helium_u(r, d->b, t->side, u);
        t->u[k] = u[0];
        t->slope[k] = u[1] / r;
        t->local[k] = ergo_oracle_helium_potential(r) - 2 * d->lambda * (u[2] + 2 * u[1] / r);
    }
}

static double look_up(const double *f, int k, double t) {
    return f[k] + 0.5 * t * (f[k + 1] - f[k - 1] + t * (f[k + 1] - 2 * f[k] + f[k - 1]));
}

/* Gradient, ln psi and local energy of a walker's places. */
static void evaluate(const struct tables *t, int n, struct walker *w) {
    double square = 0;
    w->ln_psi = w->energy = 0;
    memset(w->gradient, 0, 3 * (size_t)n * sizeof *w->gradient);
    for (int i = 0; i < n; i++)
        for (int j = i + 1; j < n; j++) {
            double x[3], r2 = 0;
            for (int k = 0; k < 3; k++) {
                x[k] = w->place[3 * i + k] - w->place[3 * j + k];
                x[k] -= t->side * round(x[k] / t->side);
                r2 += x[k] * x[k];
            }
            if (r2 >= t->half * t->half)
                continue;
            const double y = fmax(r2 - t->low, 0) * t->per;
            int k = (int)y;
            k = k < 1 ? 1 : k;
            w->ln_psi += look_up(t->u, k, y - k);
            w->energy += look_up(t->local, k, y - k);
            const double slope = look_up(t->slope, k, y - k);
            for (int c = 0; c < 3; c++) {
                w->gradient[3 * i + c] += slope * x[c];
                w->gradient[3 * j + c] -= slope * x[c];
            }
        }
    for (int i = 0; i < 3 * n; i++)
        square += w->gradient[i] * w->gradient[i];
    w->energy -= t->lambda * square;
}

/* One of the two of Box and Muller. */
static double normal(uint64_t rng[4]) {
    const double u = 1 - ergo_oracle_xoshiro_uniform(rng), v = ergo_oracle_xoshiro_uniform(rng);
    return sqrt(-2 * log(u)) * cos(6.283185307179586 * v);
}

/* The drift of a step, limited to 0.7 A a component: detailed balance does not mind. */
static double drift(const struct ergo_oracle_dmc *d, double gradient) {
    return fmax(-0.7, fmin(0.7, 2 * d->lambda * d->time_step * gradient));
}

static int step(const struct ergo_oracle_dmc *d, const struct tables *t, uint64_t rng[4],
                struct walker *w, struct walker *trial) {
    const double width = sqrt(2 * d->lambda * d->time_step);
    double forth = 0, back = 0;
    for (int i = 0; i < 3 * d->n; i++) {
        const double z = width * normal(rng);
        trial->place[i] = w->place[i] + drift(d, w->gradient[i]) + z;
        forth += z * z;
    }
    evaluate(t, d->n, trial);
    for (int i = 0; i < 3 * d->n; i++) {
        const double z = w->place[i] - trial->place[i] - drift(d, trial->gradient[i]);
        back += z * z;
    }
    const double bound = 2 * (trial->ln_psi - w->ln_psi) + (forth - back) / (2 * width * width);
    if (log(1 - ergo_oracle_xoshiro_uniform(rng)) >= bound)
        return 0;
    const struct walker old = *w;
    *w = *trial;
    *trial = old;
    return 1;
}

static void copy(int n, const struct walker *from, struct walker *to) {
    memcpy(to->place, from->place, 3 * (size_t)n * sizeof *to->place);
    memcpy(to->gradient, from->gradient, 3 * (size_t)n * sizeof *to->gradient);
    to->ln_psi = from->ln_psi;
    to->energy = from->energy;
}

struct ergo_oracle_dmc_energy ergo_oracle_dmc(const struct ergo_oracle_dmc *d) {
    struct ergo_oracle_dmc_energy result = {0, 0, -1};
    const int most = 2 * d->walkers + 1, n = d->n; /* the last is a trial */
    const long steps = lround((d->equilibration + d->time) / d->time_step);
    const long begin = lround(d->equilibration / d->time_step);
    struct tables *t = malloc(sizeof *t);
    struct walker *w = calloc((size_t)most, sizeof *w);
    double *room = malloc(6 * (size_t)n * (size_t)most * sizeof *room), sum[BLOCKS] = {0},
           norm[BLOCKS] = {0};
    uint64_t rng[4];
    double tried = 0, accepted = 0, best = 0;
    int count = d->walkers, sites = 1;
    if (!t || !w || !room)
        goto out;
    make_tables(t, d);
    ergo_oracle_xoshiro_seed(rng, d->seed);
    while (sites * sites * sites < n)
        sites++;
    for (int k = 0; k < most; k++) {
        w[k].place = room + 6 * (size_t)n * (size_t)k;
        w[k].gradient = w[k].place + 3 * n;
        for (int i = 0; i < n; i++) {
            const int site[3] = {i % sites, i / sites % sites, i / sites / sites};
            for (int c = 0; c < 3; c++)
                w[k].place[3 * i + c] =
                    (site[c] + 0.4 + 0.2 * ergo_oracle_xoshiro_uniform(rng)) * t->side / sites;
        }
        evaluate(t, n, &w[k]);
        best += w[k].energy / most;
    }
    for (long s = 0; s < steps; s++) {
        const double target = best - log((double)count / d->walkers) / (20 * d->time_step);
        const int before = count;
        double e = 0, all = 0;
        for (int k = 0; k < before; k++) {
            const double old = w[k].energy;
            accepted += step(d, t, rng, &w[k], &w[most - 1]);
            tried++;
            const double x = -d->time_step * (0.5 * (old + w[k].energy) - target);
            const double weight = exp(fmax(-20, fmin(2, x)));
            e += weight * w[k].energy;
            all += weight;
            int copies = (int)(weight + ergo_oracle_xoshiro_uniform(rng));
            if (copies == 0)
                w[k].ln_psi = NAN; /* ends */
            for (; copies > 1 && count < most - 1; copies--)
                copy(n, &w[k], &w[count++]);
        }
        for (int k = 0; k < count;) { /* the last takes the place of one that ended */
            if (!isnan(w[k].ln_psi)) {
                k++;
                continue;
            }
            const struct walker gone = w[k];
            w[k] = w[--count];
            w[count] = gone;
        }
        if (count == 0 || count == most - 1)
            goto out;
        best += 0.02 * (e / all - best);
        if (s >= begin) {
            const int block = (int)((s - begin) * BLOCKS / (steps - begin));
            sum[block] += e / all / n;
            norm[block]++;
        }
    }
    for (int k = 0; k < BLOCKS; k++)
        result.energy += sum[k] / norm[k] / BLOCKS;
    for (int k = 0; k < BLOCKS; k++)
        result.error += pow(sum[k] / norm[k] - result.energy, 2);
    result.error = sqrt(result.error / (BLOCKS * (BLOCKS - 1.0)));
    result.acceptance = accepted / tried;
out:
    free(t);
    free(w);
    free(room);
    return result;
}
