/*
 * Variational Monte Carlo of helium as a good programmer writes it for one core: floats, arrays of
 * coordinates, loops that the compiler turns into vectors (sqrt and one division a pair).
 */
#include "serial_helium.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LANES = 16 };

bool ergo_serial_helium_init(struct ergo_serial_helium *s, size_t n, double density, double b,
                             double displacement, enum ergo_serial_helium_kind kind,
                             uint64_t seed) {
    const double side = cbrt((double)n / density);
    size_t sites = 1;
    memset(s, 0, sizeof *s);
    s->kind = kind;
    s->n = n;
    s->padded = (n + LANES - 1) / LANES * LANES;
    s->b = (float)(b / side);
    s->step = (float)(displacement / sqrt(3.0) * cbrt(1.0 / density) / side);
    s->state[0] = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
    s->state[1] = seed ^ UINT64_C(0xbf58476d1ce4e5b9);
    s->x = aligned_alloc(64, 6 * s->padded * sizeof(float));
    if (!s->x)
        return false;
    s->y = s->x + s->padded;
    s->z = s->x + 2 * s->padded;
    s->sum = s->x + 3 * s->padded;
    s->fresh = s->x + 4 * s->padded;
    s->old = s->x + 5 * s->padded;
    memset(s->x, 0, 6 * s->padded * sizeof(float));
    while (sites * sites * sites < n)
        sites++;
    for (size_t i = 0; i < n; i++) {
        s->x[i] = ((float)(i % sites) + 0.5f) / (float)sites;
        s->y[i] = ((float)(i / sites % sites) + 0.5f) / (float)sites;
        s->z[i] = ((float)(i / sites / sites) + 0.5f) / (float)sites;
    }
    return true;
}

void ergo_serial_helium_free(struct ergo_serial_helium *s) {
    free(s->x);
    s->x = NULL;
}

/* Uniform in (0, 1). */
static float uniform(struct ergo_serial_helium *s) {
    const uint64_t a = s->state[0], sum = a + s->state[1], b = s->state[1] ^ a;
    s->state[0] = ((a << 24) | (a >> 40)) ^ b ^ (b << 16);
    s->state[1] = (b << 37) | (b >> 27);
    return ((float)(sum >> 41) + 0.5f) * 0x1p-23f;
}

static float normal(struct ergo_serial_helium *s) {
    const float radius = sqrtf(-2 * logf(uniform(s)));
    return radius * cosf(6.2831853f * uniform(s));
}

/* u of a pair, squared distance in units of the box: f(r) + f(1 - r) - 2 f(1/2), f = -(b/r)^5/2. */
static inline float pair(float dx, float dy, float dz, float c) {
    dx -= rintf(dx);
    dy -= rintf(dy);
    dz -= rintf(dz);
    float r2 = dx * dx + dy * dy + dz * dz;
    r2 = r2 < 0.25f ? r2 : 0.25f;
    r2 = r2 > 1e-4f ? r2 : 1e-4f;
    const float r = __builtin_sqrtf(r2), s = 1 - r, s2 = s * s;
    const float r5 = r2 * r2 * r, s5 = s2 * s2 * s;
    return c * ((r5 + s5) / (r5 * s5) - 64);
}

/* u of all pairs with (x, y, z), 0 for atom i. */
static float row(const struct ergo_serial_helium *s, size_t i, float x, float y, float z,
                 float *restrict out) {
    const float c = -0.5f * s->b * s->b * s->b * s->b * s->b;
    const float *restrict px = s->x, *restrict py = s->y, *restrict pz = s->z;
    float lanes[LANES] = {0}, total = 0;
    for (size_t j = 0; j < s->n; j++)
        out[j] = pair(x - px[j], y - py[j], z - pz[j], c);
    out[i] = 0;
    for (size_t j = 0; j < s->padded; j += LANES)
        for (size_t k = 0; k < LANES; k++)
            lanes[k] += out[j + k];
    for (size_t k = 0; k < LANES; k++)
        total += lanes[k];
    return total;
}

void ergo_serial_helium_macroupdates(struct ergo_serial_helium *s, uint64_t count) {
    const bool cached = s->kind == ERGO_SERIAL_HELIUM_CACHED;
    for (uint64_t t = 0; t < count; t++) {
        for (size_t i = 0; i < s->n && cached; i++) /* sums of floats drift: make them anew */
            s->sum[i] = row(s, i, s->x[i], s->y[i], s->z[i], s->old);
        for (size_t trial = 0; trial < s->n; trial++) {
            const size_t i = (size_t)(uniform(s) * (float)s->n);
            const float x = s->x[i] + s->step * normal(s), y = s->y[i] + s->step * normal(s),
                        z = s->z[i] + s->step * normal(s);
            const float before = cached ? s->sum[i] : row(s, i, s->x[i], s->y[i], s->z[i], s->old);
            const float after = row(s, i, x, y, z, s->fresh);
            s->tried++;
            if (2 * (after - before) < logf(uniform(s)))
                continue;
            s->accepted++;
            if (cached) {
                row(s, i, s->x[i], s->y[i], s->z[i], s->old);
                for (size_t j = 0; j < s->n; j++)
                    s->sum[j] += s->fresh[j] - s->old[j];
                s->sum[i] = after;
            }
            s->x[i] = x - floorf(x);
            s->y[i] = y - floorf(y);
            s->z[i] = z - floorf(z);
        }
    }
}

double ergo_serial_helium_ln_psi(const struct ergo_serial_helium *s) {
    const double c = -0.5 * pow((double)s->b, 5);
    double sum = 0;
    for (size_t i = 0; i < s->n; i++)
        for (size_t j = 0; j < i; j++) {
            double d[3] = {(double)s->x[i] - (double)s->x[j], (double)s->y[i] - (double)s->y[j],
                           (double)s->z[i] - (double)s->z[j]};
            double r2 = 0;
            for (int k = 0; k < 3; k++) {
                d[k] -= rint(d[k]);
                r2 += d[k] * d[k];
            }
            const double r = sqrt(r2);
            if (r < 0.5)
                sum += c * (pow(r, -5) + pow(1 - r, -5) - 64);
        }
    return sum / (double)s->n;
}
