#include "oracle/glass_serial.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "oracle/philox_ref.h"

int glass_oracle_sites(const struct glass_oracle *o) {
    return o->l[0] * o->l[1] * o->l[2];
}

static void words(uint64_t key, uint32_t entity, uint64_t step, uint32_t purpose, uint32_t draw,
                  uint32_t out[4]) {
    const uint32_t counter[4] = {entity, (uint32_t)step, (uint32_t)(step >> 32),
                                 purpose << 24 | draw};
    const uint32_t k[2] = {(uint32_t)key, (uint32_t)(key >> 32)};
    ergo_oracle_philox(counter, k, out);
}

static int neighbour(const struct glass_oracle *o, int site, int axis, int by) {
    int at[3] = {site % o->l[0], site / o->l[0] % o->l[1], site / o->l[0] / o->l[1]};
    at[axis] = (at[axis] + by + o->l[axis]) % o->l[axis];
    return at[0] + o->l[0] * (at[1] + o->l[1] * at[2]);
}

/* Of 32 random bits, one from each word of as many as are needed, the number they make is compared
 * with the fraction's: below it the coupling is negative. */
static double draw_sign(const struct glass_oracle *o, int sample, uint32_t bond) {
    const double threshold = floor(o->fraction * 4294967296.0 + 0.5);
    double number = 0;
    for (uint32_t plane = 0; plane < 32; plane++) {
        uint32_t r[4];
        words(o->disorder, bond, (uint64_t)sample / 32, 6, plane / 4, r);
        number = 2 * number + (r[plane % 4] >> (sample % 32) & 1);
    }
    return number < threshold ? -1 : 1;
}

/* Ratio of uniforms; rounded to 2^-24. */
static double draw_normal(const struct glass_oracle *o, int sample, uint32_t entity,
                          uint32_t purpose) {
    for (uint32_t attempt = 0;; attempt++) {
        uint32_t r[4];
        words(o->disorder, entity, (uint64_t)sample / 32, purpose,
              32 * attempt + (uint32_t)sample % 32, r);
        const double u = (r[0] + (r[1] + 0.5) / 4294967296.0) / 4294967296.0;
        const double v = (r[2] + (r[3] + 0.5) / 4294967296.0) / 4294967296.0;
        const double x = sqrt(2 / exp(1)) * (2 * v - 1) / u;
        if (fabs(x) < 8 && u <= exp(-x * x / 4))
            return floor(x * 16777216 + 0.5) / 16777216;
    }
}

void glass_oracle_couplings(const struct glass_oracle *o, int sample, double *j) {
    const int n = glass_oracle_sites(o);
    for (int axis = 0; axis < o->d; axis++)
        for (int site = 0; site < n; site++) {
            const uint32_t bond = (uint32_t)(3 * site + axis);
            j[axis * n + site] =
                o->real ? draw_normal(o, sample, bond, 6) : draw_sign(o, sample, bond);
        }
}

void glass_oracle_fields(const struct glass_oracle *o, int sample, double *f) {
    for (int site = 0; site < glass_oracle_sites(o); site++) {
        uint32_t r[4];
        words(o->disorder, (uint32_t)site, (uint64_t)sample / 32, 11, 0, r);
        f[site] = o->b + o->h * (o->normal ? draw_normal(o, sample, (uint32_t)site, 11)
                                 : r[0] >> (sample % 32) & 1 ? 1
                                                             : -1);
    }
}

void glass_oracle_start(const struct glass_oracle *o, int sample, int *spins) {
    const int n = glass_oracle_sites(o);
    for (int slot = 0; slot < o->temperatures * o->copies; slot++)
        for (int site = 0; site < n; site++) {
            uint32_t r[4];
            words(o->stream, (uint32_t)site, 0, 7,
                  (uint32_t)(sample / 32) << 8 | (uint32_t)slot / 4, r);
            spins[slot * n + site] = r[slot % 4] >> (sample % 32) & 1 ? 1 : -1;
        }
}

/* sum_j J_ij s_i s_j, and with f_i s_i half of what a flip of i costs. */
static double bond_sum(const struct glass_oracle *o, const double *j, const int *spins, int i) {
    const int n = glass_oracle_sites(o);
    double sum = 0;
    for (int axis = 0; axis < o->d; axis++) {
        const int before = neighbour(o, i, axis, -1);
        sum += j[axis * n + i] * spins[i] * spins[neighbour(o, i, axis, 1)];
        sum += j[axis * n + before] * spins[i] * spins[before];
    }
    return sum;
}

static double half_cost(const struct glass_oracle *o, const double *j, const int *spins, int i) {
    return bond_sum(o, j, spins, i) + (o->f ? o->f[i] * spins[i] : 0);
}

/* Is a draw of 64 bits, upper and lower, below p? Upper 0 stands for the highest of its range. */
static bool below(double p, uint32_t upper, uint32_t lower) {
    if (p >= 1)
        return true;
    const double hi = floor(p * 4294967296.0), lo = (p * 4294967296.0 - hi) * 4294967296.0;
    return upper ? upper <= hi : lower < floor(lo);
}

static bool flips(const struct glass_oracle *o, double cost, double t, uint32_t upper,
                  uint32_t lower) {
    const double u = (upper + 0.5) / 4294967296.0;
    if (!o->heat && cost <= 0)
        return true;
    if (o->logs)
        return cost < 0.5 * t * (o->heat ? log(1 / u - 1) : -log(u));
    const double weight = exp(-2 * cost / t);
    return below(o->heat ? weight / (1 + weight) : weight, upper, lower);
}

void glass_oracle_sweep(const struct glass_oracle *o, int sample, const double *j, uint64_t step,
                        int *spins) {
    const int n = glass_oracle_sites(o);
    for (int slot = 0; slot < o->temperatures * o->copies; slot++)
        for (int colour = 0; colour < 2; colour++)
            for (int i = 0; i < n; i++) {
                const int x = i % o->l[0], y = i / o->l[0] % o->l[1], z = i / o->l[0] / o->l[1];
                const uint32_t draw = (uint32_t)(sample / 32) << 8 | (uint32_t)slot / 4;
                uint32_t r[4], low[4];
                if ((x + y + z) % 2 != colour)
                    continue;
                words(o->stream, (uint32_t)i, step, 8, draw, r);
                words(o->stream, (uint32_t)i, step, 9, draw, low);
                if (flips(o, half_cost(o, j, spins + slot * n, i), o->t[slot / o->copies],
                          r[slot % 4], low[slot % 4]))
                    spins[slot * n + i] = -spins[slot * n + i];
            }
}

double glass_oracle_energy(const struct glass_oracle *o, const double *j, const int *spins) {
    double sum = 0;
    for (int i = 0; i < glass_oracle_sites(o); i++)
        sum -= 0.5 * bond_sum(o, j, spins, i) + (o->f ? o->f[i] * spins[i] : 0);
    return sum;
}

void glass_oracle_swap(const struct glass_oracle *o, int sample, const double *j, uint64_t step,
                       int parity, int *spins, int *came, uint64_t *moved) {
    const int n = glass_oracle_sites(o), top = o->temperatures - 1;
    for (int t = parity; t < top; t += 2)
        for (int copy = 0; copy < o->copies; copy++) {
            const int a = t * o->copies + copy, b = a + o->copies;
            const double worse =
                glass_oracle_energy(o, j, spins + b * n) - glass_oracle_energy(o, j, spins + a * n);
            uint32_t r[4];
            words(o->stream, (uint32_t)sample, step, 10, (uint32_t)a, r);
            const double u = (r[0] + 0.5) / 4294967296.0;
            if (u < exp(-(1 / o->t[t] - 1 / o->t[t + 1]) * worse)) {
                for (int i = 0; i < n; i++) {
                    const int s = spins[a * n + i];
                    spins[a * n + i] = spins[b * n + i];
                    spins[b * n + i] = s;
                }
                const int c = came[a];
                came[a] = came[b];
                came[b] = c;
                moved[a]++;
            }
            if (t == 0) {
                moved[o->temperatures * o->copies + copy] += (uint64_t)came[a];
                came[a] = 0;
            }
            if (t + 1 == top)
                came[b] = 1;
        }
}

/* Sites of one colour of the checkerboard come before the other, in the order of their numbers. */
static int colour_of(const struct glass_oracle *o, int site) {
    return (site % o->l[0] + site / o->l[0] % o->l[1] + site / o->l[0] / o->l[1]) & 1;
}

/* The cluster gets the number 2 in `differ`, as far as it is reached from `site`. */
static void walk(const struct glass_oracle *o, int *differ, int site) {
    differ[site] = 2;
    for (int k = 0; k < 2 * o->d; k++) {
        const int to = neighbour(o, site, k / 2, k % 2 ? 1 : -1);
        if (differ[to] == 1)
            walk(o, differ, to);
    }
}

void glass_oracle_clusters(const struct glass_oracle *o, int sample, uint64_t step, uint64_t turn,
                           int *spins) {
    const int n = glass_oracle_sites(o), half = o->copies / 2;
    const int first_with = o->copies == 4 ? 1 + (int)(turn % 3) : 1;
    int *differ = malloc(sizeof *differ * (size_t)n);
    if (!differ)
        abort();
    for (int p = 0; p < o->temperatures * half; p++) {
        /* copy 0 and a second one; then the two that are left */
        int pair[2] = {0, first_with}, left[2] = {-1, -1};
        for (int c = 1, k = 0; c < o->copies; c++)
            if (c != first_with)
                left[k++] = c;
        const int *two = p % half ? left : pair, base = p / half * o->copies;
        int *a = spins + (base + two[0]) * n, *b = spins + (base + two[1]) * n, count = 0;
        uint32_t r[4];
        words(o->stream, (uint32_t)sample, step, 18, (uint32_t)p, r);
        for (int i = 0; i < n; i++)
            count += differ[i] = a[i] != b[i];
        int left_over = (int)floor(count * (r[0] / 4294967296.0));
        for (int k = 0; k < 2 * n && count; k++)
            if (colour_of(o, k % n) == k / n && differ[k % n] && left_over-- == 0) {
                walk(o, differ, k % n);
                break;
            }
        for (int i = 0; i < n; i++)
            if (differ[i] == 2) {
                a[i] = -a[i];
                b[i] = -b[i];
            }
    }
    free(differ);
}

/* ---- enumeration ----------------------------------------------------------------------------- */

static void walsh(double *f, int n) {
    for (int step = 1; step < n; step *= 2)
        for (int i = 0; i < n; i++)
            if (!(i & step)) {
                const double a = f[i], b = f[i + step];
                f[i] = a + b;
                f[i + step] = a - b;
            }
}

/* Weights of all pairs of states with the same product: the autocorrelation over exclusive or. */
void glass_oracle_exact(const struct glass_oracle *o, const double *j, double t, bool metropolis,
                        struct glass_exact *x) {
    const int n = glass_oracle_sites(o), states = 1 << n, layers = o->l[o->d - 1];
    double *w = malloc(sizeof *w * (size_t)states), *e = malloc(sizeof *e * (size_t)states);
    double z = 0, out = 0, ground = INFINITY;
    memset(x, 0, sizeof *x);
    if (!w || !e || n > GLASS_EXACT_SITES)
        abort();
    for (int s = 0; s < states; s++) {
        int spins[GLASS_EXACT_SITES];
        for (int i = 0; i < n; i++)
            spins[i] = s >> i & 1 ? 1 : -1;
        e[s] = glass_oracle_energy(o, j, spins);
        ground = e[s] < ground ? e[s] : ground;
    }
    for (int s = 0; s < states; s++) {
        int spins[GLASS_EXACT_SITES], free_sites = 0;
        for (int i = 0; i < n; i++)
            spins[i] = s >> i & 1 ? 1 : -1;
        for (int i = 0; i < n && metropolis; i++)
            free_sites += half_cost(o, j, spins, i) == 0;
        w[s] = exp(-(e[s] - ground) / t);
        if (free_sites == n) {
            out += w[s];
            w[s] = 0;
        }
        z += w[s];
    }
    x->ground = ground / n;
    x->left_out = out / (z + out);
    for (int s = 0; s < states; s++) {
        const double m = 2.0 * __builtin_popcount((unsigned)s) / n - 1;
        w[s] /= z;
        x->e += w[s] * e[s] / n;
        x->e2 += w[s] * e[s] * e[s] / n / n;
        x->m += w[s] * m;
        x->abs_m += w[s] * fabs(m);
        x->m2 += w[s] * m * m;
        x->m4 += w[s] * m * m * m * m;
    }
    walsh(w, states);
    for (int s = 0; s < states; s++)
        w[s] *= w[s];
    walsh(w, states);
    for (int s = 0; s < states; s++) {
        const double p = w[s] / states;
        const int unequal = __builtin_popcount((unsigned)s);
        const double q = 1 - 2.0 * unequal / n;
        double c = 0, d = 0;
        for (int i = 0; i < n; i++) {
            const double phase = 2 * M_PI * (double)(i / (n / layers)) / layers;
            c += (s >> i & 1) * cos(phase);
            d += (s >> i & 1) * sin(phase);
        }
        x->q += p * q;
        x->abs_q += p * fabs(q);
        x->q2 += p * q * q;
        x->q4 += p * q * q * q * q;
        x->qk2 += p * 4 * (c * c + d * d) / n / n;
        x->p[unequal] += p;
    }
    free(w);
    free(e);
}
