/* Functions of distance from files, and their cubic splines. Only IEEE basic operations, so that
 * all hosts agree. */
#include "samplers/radial.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "job/input.h"
#include "job/rows.h"

#define FILE_MOST ((size_t)64 << 20)

void ergo_radial_free(struct ergo_radial *curve) {
    if (!curve)
        return;
    free(curve->r);
    free(curve);
}

/* ---- spline ---------------------------------------------------------------------------------- */

/* Second derivatives by tridiagonal elimination for the inner points; the outer two follow from
 * the "not a knot" conditions. work: [2 n]. */
static void solve(struct ergo_radial *s, double *work) {
    const size_t n = s->n, last = n - 1;
    const double *r = s->r, *f = s->value;
    double *m = s->second, *diagonal = work, *upper = work + n;
    for (size_t i = 1; i < last; i++) {
        const double a = r[i] - r[i - 1], b = r[i + 1] - r[i];
        double low = a, high = b, middle = 2 * (a + b);
        double right = 6 * ((f[i + 1] - f[i]) / b - (f[i] - f[i - 1]) / a);
        if (i == 1) { /* m[0] = ((a + b) m[1] - a m[2]) / b */
            middle += a * (a + b) / b;
            high -= a * a / b;
            low = 0;
        }
        if (i == last - 1) { /* m[last] = ((a + b) m[i] - b m[i - 1]) / a */
            middle += b * (a + b) / a;
            low -= b * b / a;
            high = 0;
        }
        if (i > 1) {
            const double factor = low / diagonal[i - 1];
            middle -= factor * upper[i - 1];
            right -= factor * m[i - 1];
        }
        diagonal[i] = middle;
        upper[i] = high;
        m[i] = right;
    }
    for (size_t i = last - 1; i >= 1; i--)
        m[i] = (m[i] - (i + 1 < last ? upper[i] * m[i + 1] : 0)) / diagonal[i];
    const double a = r[1] - r[0], b = r[2] - r[1];
    m[0] = ((a + b) * m[1] - a * m[2]) / b;
    const double c = r[last - 1] - r[last - 2], d = r[last] - r[last - 1];
    m[last] = ((c + d) * m[last - 1] - d * m[last - 2]) / c;
}

void ergo_radial_at(const struct ergo_radial *s, double r, double out[3]) {
    size_t low = 0, high = s->n - 1;
    out[1] = out[2] = 0;
    if (r < s->r[low] || r > s->r[high]) {
        out[0] = s->value[r < s->r[low] ? low : high];
        return;
    }
    while (high - low > 1) {
        const size_t middle = low + (high - low) / 2;
        if (s->r[middle] <= r)
            low = middle;
        else
            high = middle;
    }
    const double h = s->r[high] - s->r[low], a = (s->r[high] - r) / h, b = (r - s->r[low]) / h;
    const double ma = s->second[low], mb = s->second[high];
    out[0] = a * s->value[low] + b * s->value[high] +
             ((a * a * a - a) * ma + (b * b * b - b) * mb) * h * h / 6;
    out[1] = (s->value[high] - s->value[low]) / h +
             ((3 * b * b - 1) * mb - (3 * a * a - 1) * ma) * h / 6;
    out[2] = a * ma + b * mb;
}

/* ---- both ------------------------------------------------------------------------------------ */

/* Without points, but with memory for so many, and for the spline's work behind them. */
static struct ergo_radial *new_curve(size_t most) {
    struct ergo_radial *s = calloc(1, sizeof *s);
    double *values = malloc(5 * most * sizeof *values);
    if (!s || !values) {
        free(values);
        free(s);
        return NULL;
    }
    s->r = values;
    s->value = values + most;
    s->second = values + 2 * most;
    return s;
}

enum ergo_status ergo_radial_of(struct ergo_context *ctx, size_t n, const double *r,
                                const double *value, struct ergo_radial **curve) {
    struct ergo_radial *s = *curve = new_curve(n);
    if (!s)
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for a curve of %zu points", n);
    s->n = n;
    memcpy(s->r, r, n * sizeof *r);
    memcpy(s->value, value, n * sizeof *value);
    solve(s, s->r + 3 * n);
    return ERGO_OK;
}

static enum ergo_status parse(struct ergo_context *ctx, const char *name, const char *text,
                              size_t length, double above, struct ergo_radial **curve) {
    static const char *const what[2] = {"a distance and the function's value", "distance"};
    const size_t lines = ergo_rows_most(text, length);
    struct ergo_radial *s = new_curve(lines);
    *curve = NULL;
    if (!s)
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory to read %s", name);
    s->hash = ergo_hash64(text, length);
    enum ergo_status status =
        ergo_rows_parse(ctx, name, text, length, what, above, s->r, s->value, &s->n);
    if (status == ERGO_OK && s->n < 4)
        status = ERGO_FAIL(ctx, ERGO_E_IO,
                           "%s has %zu points; a spline needs four, an accurate one hundreds", name,
                           s->n);
    if (status != ERGO_OK) {
        ergo_radial_free(s);
        return status;
    }
    solve(s, s->r + 3 * lines);
    *curve = s;
    return ERGO_OK;
}

enum ergo_status ergo_radial_parse(struct ergo_context *ctx, const char *name, const char *text,
                                   size_t length, struct ergo_radial **curve) {
    return parse(ctx, name, text, length, 0, curve);
}

static enum ergo_status read_above(struct ergo_context *ctx, const struct ergo_point *point,
                                   const char *pointer, double above, struct ergo_radial **curve) {
    char *text = NULL;
    size_t length = 0;
    *curve = NULL;
    enum ergo_status status = ergo_input_read(ctx, point, pointer, FILE_MOST, &text, &length);
    if (status == ERGO_OK)
        status = parse(ctx, ergo_input_name(point, pointer), text, length, above, curve);
    free(text);
    return ergo_error_at(ctx, status, pointer);
}

enum ergo_status ergo_radial_read(struct ergo_context *ctx, const struct ergo_point *point,
                                  const char *pointer, struct ergo_radial **curve) {
    return read_above(ctx, point, pointer, 0, curve);
}

enum ergo_status ergo_radial_read_line(struct ergo_context *ctx, const struct ergo_point *point,
                                       const char *pointer, struct ergo_radial **curve) {
    return read_above(ctx, point, pointer, -INFINITY, curve);
}
