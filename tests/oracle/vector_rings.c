/* Spins that are unit vectors: closed chains, by transfer matrices on grids of directions. */
#include "oracle/vector_serial.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double pi = 3.14159265358979323846;

enum { POINTS = 28, CIRCLE = 64 };

/* Gauss-Legendre nodes and weights on [-1, 1], by Newton from Tricomi's guess. */
static void legendre(double x[POINTS], double w[POINTS]) {
    for (int i = 0; i < POINTS; i++) {
        double t = cos(pi * (i + 0.75) / (POINTS + 0.5)), slope = 1;
        for (int step = 0; step < 100; step++) {
            double p = 1, last = 0;
            for (int k = 1; k <= POINTS; k++) {
                const double next = ((2 * k - 1) * t * p - (k - 1) * last) / k;
                last = p;
                p = next;
            }
            slope = POINTS * (t * p - last) / (t * t - 1);
            t -= p / slope;
        }
        x[i] = t;
        w[i] = 2 / ((1 - t * t) * slope * slope);
    }
}

/* exp(-|z|) I_m(z) as an integral over the circle, exact for equidistant points. */
static double bessel(int m, double z) {
    double sum = 0;
    for (int i = 0; i < 128; i++)
        sum += exp(z * cos(2 * pi * i / 128) - fabs(z)) * cos(2 * pi * ((m * i) % 128) / 128);
    return sum / 128;
}

/* ln of the trace of the n-th power of a symmetric matrix with positive entries at its diagonal:
 * squared again and again, n = a power of two times an odd number. */
static double log_trace(int size, double *a, int n) {
    double *b = malloc(sizeof *b * (size_t)size * (size_t)size),
           *result = calloc((size_t)size * (size_t)size, sizeof *result), ln = 0, scale = 0;
    for (int i = 0; i < size; i++)
        result[i * size + i] = 1;
    for (int left = n; left; left >>= 1) {
        for (int times = left & 1 ? 0 : 1; times < 2; times++) { /* result *= a; a *= a */
            double *to = times ? a : result, most = 0;
            for (int i = 0; i < size; i++)
                for (int k = 0; k < size; k++) {
                    double sum = 0;
                    for (int m = 0; m < size; m++)
                        sum += to[i * size + m] * a[m * size + k];
                    b[i * size + k] = sum;
                    most = fmax(most, fabs(sum));
                }
            for (int i = 0; i < size * size; i++)
                to[i] = b[i] / most;
            if (times)
                scale = 2 * scale + log(most);
            else
                ln += scale + log(most);
        }
    }
    double trace = 0;
    for (int i = 0; i < size; i++)
        trace += result[i * size + i];
    free(b);
    free(result);
    return ln + log(trace);
}

/* ln Z of a ring, weights K = J/T, B/T, D/T. */
static double log_partition(const struct vector_oracle *o, int n, double k, double b, double d) {
    if (!o->space) {
        const int size = o->q ? o->q : CIRCLE;
        double *a = malloc(sizeof *a * (size_t)size * (size_t)size);
        for (int i = 0; i < size; i++)
            for (int m = 0; m < size; m++)
                a[i * size + m] = exp(k * cos(2 * pi * (i - m) / size) +
                                      b / 2 * (cos(2 * pi * i / size) + cos(2 * pi * m / size))) /
                                  size;
        const double ln = log_trace(size, a, n);
        free(a);
        return ln;
    }
    double x[POINTS], w[POINTS], a[POINTS * POINTS], total = 0, first = 0;
    legendre(x, w);
    for (int m = 0; m < 40; m++) { /* angular momentum around z; m and -m alike */
        for (int i = 0; i < POINTS; i++)
            for (int l = 0; l < POINTS; l++) {
                const double s = sqrt((1 - x[i] * x[i]) * (1 - x[l] * x[l]));
                a[i * POINTS + l] = sqrt(w[i] * w[l]) / 2 * bessel(m, k * s) *
                                    exp(fabs(k) * s + k * x[i] * x[l] + b / 2 * (x[i] + x[l]) +
                                        d / 2 * (x[i] * x[i] + x[l] * x[l]));
            }
        const double ln = log_trace(POINTS, a, n);
        if (m == 0)
            first = ln;
        else if (!(ln - first > -40))
            break;
        total += (m ? 2 : 1) * exp(ln - first);
    }
    return first + log(total);
}

struct vector_oracle_ring vector_oracle_ring(const struct vector_oracle *o, int n) {
    const double beta = 1 / o->t, h = 1e-3;
    double ln[5];
    for (int i = -2; i <= 2; i++) { /* over beta */
        const double now = beta * (1 + i * h);
        ln[i + 2] = log_partition(o, n, now * o->j, now * o->b, now * o->anisotropy);
    }
    const double step = beta * h, b = beta * o->b, d = beta * o->anisotropy, k = beta * o->j;
    const double slope = (8 * (ln[3] - ln[1]) - (ln[4] - ln[0])) / (12 * step);
    const double bend = (16 * (ln[3] + ln[1]) - (ln[4] + ln[0]) - 30 * ln[2]) / (12 * step * step);
    return (struct vector_oracle_ring){
        .energy = -slope / n,
        .heat = beta * beta * bend / n,
        .along = (8 * (log_partition(o, n, k, b + h, d) - log_partition(o, n, k, b - h, d)) -
                  (log_partition(o, n, k, b + 2 * h, d) - log_partition(o, n, k, b - 2 * h, d))) /
                 (12 * h * n),
        .z2 =
            !o->space
                ? 0
                : (8 * (log_partition(o, n, k, b, d + h) - log_partition(o, n, k, b, d - h)) -
                   (log_partition(o, n, k, b, d + 2 * h) - log_partition(o, n, k, b, d - 2 * h))) /
                      (12 * h * n)};
}
