#include "stats/fourier.h"
#include "base/memory.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* A transform of n points: radix 2, decimation in time. */
struct line {
    size_t n;
    double *roots;   /* exp(-2 pi i k / n) for k < n / 2 */
    uint32_t *order; /* bits of the index from the other end */
};

static void line_free(struct line *l) {
    free(l->roots);
    free(l->order);
}

static bool line_init(struct line *l, size_t n) {
    const double turn = 6.283185307179586;
    *l = (struct line){n, malloc((n + 2) * sizeof *l->roots), malloc(n * sizeof *l->order)};
    if (!l->roots || !l->order) {
        line_free(l);
        return false;
    }
    for (size_t k = 0; k < n / 2; k++) {
        l->roots[2 * k] = cos(turn * (double)k / (double)n);
        l->roots[2 * k + 1] = -sin(turn * (double)k / (double)n);
    }
    l->order[0] = 0;
    for (size_t half = n / 2, made = 1; half; half /= 2, made *= 2)
        for (size_t i = 0; i < made; i++)
            l->order[made + i] = l->order[i] + (uint32_t)half;
    return true;
}

/* to: another array than from; `stride` complex numbers from one point to the next of from. */
static void line_run(const struct line *l, const double *from, size_t stride, double *to) {
    for (size_t i = 0; i < l->n; i++)
        memcpy(to + 2 * i, from + 2 * stride * l->order[i], 2 * sizeof *to);
    for (size_t half = 1; half < l->n; half *= 2) {
        const size_t step = l->n / (2 * half);
        for (size_t first = 0; first < l->n; first += 2 * half)
            for (size_t k = 0; k < half; k++) {
                const double *root = l->roots + 2 * k * step;
                double *a = to + 2 * (first + k), *b = a + 2 * half;
                const double re = root[0] * b[0] - root[1] * b[1];
                const double im = root[0] * b[1] + root[1] * b[0];
                b[0] = a[0] - re;
                b[1] = a[1] - im;
                a[0] += re;
                a[1] += im;
            }
    }
}

/* Columns of a mesh of `columns` x l->n complex numbers, some at a time, because they share lines
 * of the cache. False: no memory. */
static bool transform_columns(const struct line *l, double *mesh, size_t columns) {
    enum { TOGETHER = 8 };
    double *in = malloc(2 * TOGETHER * l->n * sizeof *in), *out = malloc(2 * l->n * sizeof *out);
    for (size_t x = 0; x < columns && in && out; x += TOGETHER) {
        const size_t now = columns - x < TOGETHER ? columns - x : TOGETHER;
        for (size_t y = 0; y < l->n; y++)
            for (size_t i = 0; i < now; i++)
                memcpy(in + 2 * (i * l->n + y), mesh + 2 * (y * columns + x + i), 2 * sizeof *in);
        for (size_t i = 0; i < now; i++) {
            line_run(l, in + 2 * i * l->n, 1, out);
            memcpy(in + 2 * i * l->n, out, 2 * l->n * sizeof *in);
        }
        for (size_t y = 0; y < l->n; y++)
            for (size_t i = 0; i < now; i++)
                memcpy(mesh + 2 * (y * columns + x + i), in + 2 * (i * l->n + y), 2 * sizeof *in);
    }
    const bool ok = in && out;
    free(in);
    free(out);
    return ok;
}

bool ergo_fourier_plane(double *mesh, const size_t n[2]) {
    struct line l = {0};
    double *row = malloc(2 * n[0] * sizeof *row);
    bool ok = row && line_init(&l, n[0]);
    for (size_t y = 0; y < n[1] && ok; y++) {
        memcpy(row, mesh + 2 * y * n[0], 2 * n[0] * sizeof *row);
        line_run(&l, row, 1, mesh + 2 * y * n[0]);
    }
    free(row);
    if (!ok)
        return false;
    line_free(&l);
    if (!line_init(&l, n[1]))
        return false;
    ok = transform_columns(&l, mesh, n[0]);
    line_free(&l);
    return ok;
}

/* The transforms A and B of two real rows from Z of the first plus i times the second: A(k) is the
 * part of Z that is even under k to -k and conjugation, i B(k) the odd one. */
static void split(const double *z, size_t n, double *a, double *b) {
    for (size_t k = 0; k <= n / 2; k++) {
        const double *p = z + 2 * k, *q = z + 2 * ((n - k) % n);
        a[2 * k] = 0.5 * (p[0] + q[0]);
        a[2 * k + 1] = 0.5 * (p[1] - q[1]);
        b[2 * k] = 0.5 * (p[1] + q[1]);
        b[2 * k + 1] = 0.5 * (q[0] - p[0]);
    }
}

bool ergo_fourier_real(const double *mesh, const size_t n[3], double *half) {
    const size_t columns = n[0] / 2 + 1, rows = n[1] * n[2];
    struct line l = {0};
    double *in = malloc(2 * n[0] * sizeof *in), *out = malloc(2 * n[0] * sizeof *out);
    bool ok = in && out && line_init(&l, n[0]);
    for (size_t y = 0; y + 1 < rows && ok; y += 2) { /* two rows at a time */
        for (size_t x = 0; x < n[0]; x++) {
            in[2 * x] = mesh[y * n[0] + x];
            in[2 * x + 1] = mesh[(y + 1) * n[0] + x];
        }
        line_run(&l, in, 1, out);
        split(out, n[0], half + 2 * y * columns, half + 2 * (y + 1) * columns);
    }
    free(in);
    free(out);
    if (!ok)
        return false;
    line_free(&l);
    if (!line_init(&l, n[1]))
        return false;
    for (size_t z = 0; z < n[2] && ok; z++)
        ok = transform_columns(&l, half + 2 * z * n[1] * columns, columns);
    line_free(&l);
    if (!ok || n[2] == 1)
        return ok;
    if (!line_init(&l, n[2]))
        return false;
    ok = transform_columns(&l, half, n[1] * columns);
    line_free(&l);
    return ok;
}
