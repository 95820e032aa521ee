/* The triplet factor: keys, checks, its functions in double precision, what kernels get of them. */
#include "samplers/helium/triplet.h"

#include <math.h>

#include "base/portable.h"
#include "helium/triplet.h"
#include "samplers/helium/liquid.h"

bool helium_has_triplet(const struct ergo_point *point) {
    return of_quantum(point)->triplet_strength != 0;
}

#define WHERE .acts = helium_has_triplet, .where = "with a triplet strength other than 0"

const struct ergo_key helium_triplet_keys[HELIUM_N_TRIPLET_KEYS] = {
    {QUANTUM_KEY(triplet_strength, "/system/triplet/strength", REAL),
     .flags = ERGO_KEY_SCAN | ERGO_KEY_CHAIN, .fallback = "0", .stream = "", .min = -10, .max = 10,
     .unit = "1/A^2",
     .help = "Three-body factor: ln psi gets -strength/4 sum_i G_i^2 + strength/2 sum_{i<j} xi^2 "
             "r^2, G_i = sum_j xi(r_ij) (r_i - r_j), xi = exp(-((r - centre)/width)^2) ((r - "
             "range)/range)^3 (Schmidt, Lee, Kalos, Chester, Phys. Rev. Lett. 47, 807 (1981)). 0: "
             "none; negative in liquid helium."},
    {QUANTUM_KEY(triplet_centre, "/system/triplet/centre", REAL),
     .flags = ERGO_KEY_SCAN | ERGO_KEY_CHAIN, .fallback = "2", .stream = "", .min = 0, .max = 100,
     .unit = "A", .help = "Place of xi's Gaussian.", WHERE},
    {QUANTUM_KEY(triplet_width, "/system/triplet/width", REAL),
     .flags = ERGO_KEY_SCAN | ERGO_KEY_CHAIN | ERGO_KEY_EXCLUDES_MIN, .fallback = "2", .stream = "",
     .min = 0, .max = 100, .unit = "A", .help = "Width of xi's Gaussian.", WHERE},
    {QUANTUM_KEY(triplet_range, "/system/triplet/range", REAL),
     .flags = ERGO_KEY_SCAN | ERGO_KEY_CHAIN, .fallback = "0", .stream = "", .min = 0, .max = 1000,
     .unit = "A",
     .help = "Distance at which xi ends, with its first two derivatives; at most half the shortest "
             "side. 0: that.",
     WHERE},
};

struct helium_triplet_model helium_triplet_of(const struct ergo_point *point, double half) {
    struct helium_triplet_model t = {
        .strength = of_quantum(point)->triplet_strength,
        .centre = of_quantum(point)->triplet_centre,
        .width = of_quantum(point)->triplet_width,
        .range = of_quantum(point)->triplet_range,
    };
    if (t.range == 0)
        t.range = half;
    return t;
}

/* ---- functions ------------------------------------------------------------------------------- */

void helium_triplet_xi(const struct helium_triplet_model *t, double r, double out[3]) {
    const double z = (r - t->centre) / t->width, y = (r - t->range) / t->range;
    out[0] = out[1] = out[2] = 0;
    if (r >= t->range || z * z > 700)
        return;
    const double g = ergo_portable_exp(-z * z), g1 = -2 * z / t->width * g;
    const double g2 = (4 * z * z - 2) / (t->width * t->width) * g;
    const double y1 = 3 * y * y / t->range, y2 = 6 * y / (t->range * t->range);
    out[0] = g * y * y * y;
    out[1] = g1 * y * y * y + g * y1;
    out[2] = g2 * y * y * y + 2 * g1 * y1 + g * y2;
}

void helium_triplet_pairs(const struct helium_triplet_model *t, double r, double u[3]) {
    double x[3];
    if (t->strength == 0)
        return;
    helium_triplet_xi(t, r, x);
    u[0] += 0.5 * t->strength * x[0] * x[0] * r * r;
    u[1] += t->strength * (x[0] * x[1] * r * r + x[0] * x[0] * r);
    u[2] += t->strength * ((x[1] * x[1] + x[0] * x[2]) * r * r + 4 * x[0] * x[1] * r + x[0] * x[0]);
}

void helium_triplet_scaled(const struct helium_triplet_model *t, double r, double out[2]) {
    const double scale = ldexp(0.5 * sqrt(fabs(t->strength)), (int)t->bits);
    double x[3];
    helium_triplet_xi(t, r, x);
    out[0] = scale * x[0];
    out[1] = scale * x[1] / r;
}

bool helium_triplet_bits(struct helium_triplet_model *t, uint32_t n) {
    enum { STEPS = 1024, LEAST = HELIUM_U_BITS / 2 + 1, MOST = 20 };
    double largest = 0;
    t->bits = 0;
    for (int i = 1; i < STEPS && t->strength != 0; i++) {
        double out[2];
        const double r = t->range * i / STEPS;
        helium_triplet_scaled(t, r, out);
        largest = fmax(largest, fabs(out[0]) * r);
    }
    t->bits = MOST;
    while (t->bits > LEAST && ldexp(1.1 * largest * n, (int)t->bits) > 0x1p30)
        t->bits--;
    return ldexp(1.1 * largest * n, (int)t->bits) <= 0x1p30;
}

enum ergo_status helium_triplet_check(struct ergo_context *ctx, const struct ergo_point *point,
                                      double half) {
    struct helium_triplet_model t = helium_triplet_of(point, half);
    const int64_t n = of_quantum(point)->n;
    if (t.strength == 0)
        return ERGO_OK;
    if (t.range > half)
        return ergo_job_error(ctx, "/system/triplet/range",
                              "%g A; at most half the shortest side of the box, %.6g A", t.range,
                              half);
    if (n > HELIUM_TRIPLET_ATOMS)
        return ergo_job_error(ctx, "/system/n",
                              "%lld atoms; at most %d with a triplet factor (/system/triplet)",
                              (long long)n, HELIUM_TRIPLET_ATOMS);
    if (!helium_triplet_bits(&t, (uint32_t)n))
        return ergo_job_error(ctx, "/system/triplet/strength",
                              "%g 1/A^2 is too much for xi of width %g A at %g A and %lld atoms: "
                              "the integers that sum it do not hold it. Use a smaller one",
                              t.strength, t.width, t.centre, (long long)n);
    return ERGO_OK;
}

/* ---- for kernels ----------------------------------------------------------------------------- */

/* ln psi = -sign 2^-(2 bits) sum G^2 with integers G; its derivatives have a factor 2. Gradients
 * are wanted as sqrt(lambda) d/dx over `length`, the laplacian as sqrt(lambda) / 2 of it. */
void helium_triplet_fill(const struct helium_model *model, const struct helium_member *member,
                         struct helium_triplet *out) {
    const struct helium_triplet_model *t = &model->triplet;
    const double unit = ldexp(t->strength < 0 ? 1 : -1, -2 * (int)t->bits);
    const double root = sqrt(model->lambda);
    *out = (struct helium_triplet){.sign = t->strength < 0 ? -1 : 1,
                                   .shift = 2 * t->bits - HELIUM_U_BITS,
                                   .slope = (float)(unit * root)};
    for (int k = 0; k < 3; k++)
        out->gradient[k] = (float)(2 * unit * root / (double)member->length[k]);
}
