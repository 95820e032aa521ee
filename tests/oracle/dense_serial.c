#include "oracle/dense_serial.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "oracle/philox_ref.h"

static void words(uint64_t key, uint32_t entity, uint64_t step, uint32_t purpose, uint32_t draw,
                  uint32_t out[4]) {
    const uint32_t counter[4] = {entity, (uint32_t)step, (uint32_t)(step >> 32),
                                 purpose << 24 | draw};
    const uint32_t k[2] = {(uint32_t)key, (uint32_t)(key >> 32)};
    ergo_oracle_philox(counter, k, out);
}

/* ---- couplings ------------------------------------------------------------------------------- */

/* Ratio of uniforms; rounded to 2^-24. */
static double draw_normal(const struct dense_oracle *o, uint32_t entity, int sample) {
    for (uint32_t attempt = 0;; attempt++) {
        uint32_t r[4];
        words(o->key, entity, (uint64_t)sample, 4, 32 * attempt, r);
        const double u = (r[0] + (r[1] + 0.5) / 4294967296.0) / 4294967296.0;
        const double v = (r[2] + (r[3] + 0.5) / 4294967296.0) / 4294967296.0;
        const double x = sqrt(2 / exp(1)) * (2 * v - 1) / u;
        if (fabs(x) < 8 && u <= exp(-x * x / 4))
            return floor(x * 16777216 + 0.5) / 16777216;
    }
}

static double rounded(const struct dense_oracle *o, double j) {
    const double unit = 1 / (4096 * sqrt(o->n));
    return fmin(fmax(floor(j / unit + 0.5), -32767), 32767) * unit;
}

/* a[k][k] x = b, by elimination; a is positive definite. b[k][columns] becomes x. */
static void solve(double *a, double *b, int k, int columns) {
    for (int p = 0; p < k; p++)
        for (int row = 0; row < k; row++) {
            const double f = row == p ? 0 : a[row * k + p] / a[p * k + p];
            for (int c = 0; c < k && f != 0; c++)
                a[row * k + c] -= f * a[p * k + c];
            for (int c = 0; c < columns && f != 0; c++)
                b[row * columns + c] -= f * b[p * columns + c];
        }
    for (int row = 0; row < k; row++)
        for (int c = 0; c < columns; c++)
            b[row * columns + c] /= a[row * k + row];
}

/* J = 2 P - 1, with P = V^T (V V^T)^-1 V the projector on the rows of V, n/2 random vectors. */
static void orthogonal(const struct dense_oracle *o, int sample, double *j) {
    const int n = o->n, k = n / 2;
    double *v = malloc(sizeof *v * (size_t)(k * n)), *w = malloc(sizeof *w * (size_t)(k * n));
    double *a = calloc((size_t)(k * k), sizeof *a);
    if (!v || !w || !a)
        abort();
    for (int i = 0; i < k * n; i++)
        v[i] = w[i] = draw_normal(o, (uint32_t)i, sample);
    for (int p = 0; p < k; p++)
        for (int q = 0; q < k; q++)
            for (int i = 0; i < n; i++)
                a[p * k + q] += v[p * n + i] * v[q * n + i];
    solve(a, w, k, n);
    for (int x = 0; x < n; x++)
        for (int y = 0; y < n; y++) {
            double sum = 0;
            for (int p = 0; p < k; p++)
                sum += v[p * n + x] * w[p * n + y];
            j[x * n + y] = x == y ? 0 : rounded(o, 2 * sum);
        }
    free(v);
    free(w);
    free(a);
}

void dense_oracle_couplings(const struct dense_oracle *o, int sample, double *j) {
    const int n = o->n;
    memset(j, 0, sizeof *j * (size_t)(n * n));
    if (o->disorder == DENSE_ORACLE_ORTHOGONAL) {
        orthogonal(o, sample, j);
        return;
    }
    for (int y = 1; y < n; y++)
        for (int x = 0; x < y; x++) {
            const uint32_t pair = (uint32_t)(y * (y - 1) / 2 + x);
            uint32_t r[4];
            words(o->key, pair / 128, (uint64_t)sample, 4, 0, r);
            const double z = o->disorder == DENSE_ORACLE_GAUSSIAN  ? draw_normal(o, pair, sample)
                             : r[pair % 128 / 32] >> pair % 32 & 1 ? -1
                                                                   : 1;
            j[x * n + y] = j[y * n + x] = rounded(o, z / sqrt(n));
        }
}

/* ---- the chain ------------------------------------------------------------------------------- */

static double field_of(const struct dense_oracle *o) {
    const double unit = 1 / (4096 * sqrt(o->n));
    return floor(o->h / unit + 0.5) * unit;
}

void dense_oracle_start(const struct dense_oracle *o, int sample, int *spins) {
    for (int slot = 0; slot < o->temperatures * o->copies; slot++)
        for (int i = 0; i < o->n; i++) {
            uint32_t r[4];
            words(o->stream, (uint32_t)(sample * ((o->n + 3) / 4) + i / 4), 0, 1, (uint32_t)slot,
                  r);
            spins[slot * o->n + i] = r[i % 4] >> 31 ? 1 : -1;
        }
}

void dense_oracle_sweep(const struct dense_oracle *o, int sample, const double *j, uint64_t step,
                        int *spins, uint64_t *flips) {
    for (int slot = 0; slot < o->temperatures * o->copies; slot++)
        for (int i = 0; i < o->n; i++) {
            int *s = spins + slot * o->n;
            const double t = o->t[slot / o->copies];
            double field = field_of(o);
            uint32_t r[4];
            words(o->stream, (uint32_t)(sample * ((o->n + 3) / 4) + i / 4), step, 2, (uint32_t)slot,
                  r);
            for (int k = 0; k < o->n; k++)
                field += j[i * o->n + k] * s[k];
            const double u = (r[i % 4] + 0.5) / 4294967296.0, cost = 2 * s[i] * field;
            if (u < (o->heat ? 1 / (1 + exp(cost / t)) : exp(-cost / t))) {
                s[i] = -s[i];
                flips[slot]++;
            }
        }
}

double dense_oracle_energy(const struct dense_oracle *o, const double *j, const int *spins) {
    double sum = 0;
    for (int x = 0; x < o->n; x++) {
        sum -= field_of(o) * spins[x];
        for (int y = 0; y < x; y++)
            sum -= j[x * o->n + y] * spins[x] * spins[y];
    }
    return sum;
}

void dense_oracle_swap(const struct dense_oracle *o, int sample, const double *j, uint64_t step,
                       int parity, int *spins, int *came, uint64_t *accepted, uint64_t *trips) {
    const int n = o->n, top = o->temperatures - 1;
    for (int t = parity; t < top; t += 2)
        for (int copy = 0; copy < o->copies; copy++) {
            const int a = t * o->copies + copy, b = a + o->copies;
            const double worse =
                dense_oracle_energy(o, j, spins + b * n) - dense_oracle_energy(o, j, spins + a * n);
            uint32_t r[4];
            words(o->stream, (uint32_t)sample, step, 3, (uint32_t)a, r);
            if ((r[0] + 0.5) / 4294967296.0 < exp(-(1 / o->t[t] - 1 / o->t[t + 1]) * worse)) {
                for (int i = 0; i < n; i++) {
                    const int s = spins[a * n + i];
                    spins[a * n + i] = spins[b * n + i];
                    spins[b * n + i] = s;
                }
                const int c = came[a];
                came[a] = came[b];
                came[b] = c;
                accepted[a]++;
            }
            if (t == 0) {
                trips[copy] += (uint64_t)came[a];
                came[a] = 0;
            }
            if (t + 1 == top)
                came[b] = 1;
        }
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

/* Energies of all states, each from the one that differs in its lowest bit. */
static void energies(const struct dense_oracle *o, const double *j, double *e) {
    int spins[DENSE_EXACT_SITES];
    for (int i = 0; i < o->n; i++)
        spins[i] = -1;
    e[0] = dense_oracle_energy(o, j, spins);
    for (int s = 1; s < 1 << o->n; s++) {
        int site = 0;
        double field = field_of(o);
        while (!(s >> site & 1))
            site++;
        for (int k = 0; k < o->n; k++)
            field += j[site * o->n + k] * ((s & (s - 1)) >> k & 1 ? 1 : -1);
        e[s] = e[s & (s - 1)] - 2 * field;
    }
}

static int bits_of(int s) {
    int count = 0;
    for (; s; s &= s - 1)
        count++;
    return count;
}

void dense_oracle_exact(const struct dense_oracle *o, const double *j, double t,
                        struct dense_exact *x) {
    const int n = o->n, states = 1 << n;
    double *e = malloc(sizeof *e * (size_t)states), *w = malloc(sizeof *w * (size_t)states);
    double z = 0;
    memset(x, 0, sizeof *x);
    if (!e || !w || n > DENSE_EXACT_SITES)
        abort();
    energies(o, j, e);
    double ground = e[0];
    for (int s = 0; s < states; s++)
        ground = fmin(ground, e[s]);
    for (int s = 0; s < states; s++)
        z += w[s] = exp(-(e[s] - ground) / t);
    x->ground = ground / n;
    for (int s = 0; s < states; s++) {
        const double m = (2.0 * bits_of(s) - n) / n, p = w[s] /= z;
        x->e += p * e[s] / n;
        x->e2 += p * e[s] * e[s] / n / n;
        x->m += p * m;
        x->m2 += p * m * m;
    }
    /* pairs of states by their product: the autocorrelation over exclusive or */
    walsh(w, states);
    for (int s = 0; s < states; s++)
        w[s] *= w[s];
    walsh(w, states);
    for (int s = 0; s < states; s++) {
        const int unequal = bits_of(s);
        const double p = w[s] / states, q = (n - 2.0 * unequal) / n;
        x->p[unequal] += p;
        x->abs_q += p * fabs(q);
        x->q2 += p * q * q;
        x->q4 += p * q * q * q * q;
    }
    free(e);
    free(w);
}
