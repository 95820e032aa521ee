/* The pair function that makes the local energy of a pair flat: the state of two atoms alone. */
#include <math.h>
#include <stdlib.h>

#include "samplers/helium/model.h"

/* Width of a step, A, and the steepest ln f that it follows, 1/A. Nearer, exp(2 u) is below 1e-12
 * for helium's potentials, and u keeps its value. */
static const double width = 0.0025, steepest = 100;

struct radial {
    size_t steps;
    double r, h;    /* beginning and width of the steps */
    double lambda2; /* 2 lambda */
    double around;  /* dimensions - 1 */
    double *v;      /* [2 steps + 1]: V at ends and middles of the steps */
};

/* With y = f'/f the equation is y' = (V - e) / (2 lambda) - y^2 - (d - 1) y / r in d dimensions. */
static double slope_of(const struct radial *s, double e, size_t half, double y) {
    const double r = s->r + 0.5 * s->h * (double)half;
    return (s->v[half] - e) / s->lambda2 - y * y - s->around * y / r;
}

/* y at the end, by Runge and Kutta's rule of fourth order from the wall on, where y has become
 * independent of its beginning; after a node -steepest. y: [steps + 1], or NULL. */
static double outward(const struct radial *s, double e, double *all) {
    const double begin = (s->v[0] - e) / s->lambda2, h = s->h;
    double y = begin > 0 ? sqrt(begin) : 0;
    for (size_t k = 0; k < s->steps; k++) {
        if (all)
            all[k] = y;
        const double a = slope_of(s, e, 2 * k, y);
        const double b = slope_of(s, e, 2 * k + 1, y + 0.5 * h * a);
        const double c = slope_of(s, e, 2 * k + 1, y + 0.5 * h * b);
        const double d = slope_of(s, e, 2 * k + 2, y + h * c);
        y += h / 6 * (a + 2 * (b + c) + d);
        if (!(y > -steepest))
            return -steepest;
    }
    if (all)
        all[s->steps] = y;
    return y;
}

/* The energy for which y is 0 at the end, from below. */
static double ground(const struct radial *s) {
    double low = s->v[0], apart = 1;
    for (size_t k = 0; k <= 2 * s->steps; k++)
        low = s->v[k] < low ? s->v[k] : low;
    while (outward(s, low + apart, NULL) > 0)
        apart *= 2;
    double high = low + apart;
    for (int i = 0; i < 60; i++) {
        const double middle = 0.5 * (low + high);
        *(outward(s, middle, NULL) > 0 ? &low : &high) = middle;
    }
    return low;
}

enum ergo_status helium_two_body(struct ergo_context *ctx, const struct helium_model *m,
                                 double healing, struct ergo_radial **curve) {
    struct radial s = {.r = m->core, .lambda2 = 2 * m->lambda, .around = m->dimensions - 1.0};
    double v[2];
    *curve = NULL;
    for (helium_model_v(m, s.r, v); s.r < healing && v[0] / s.lambda2 > steepest * steepest;
         helium_model_v(m, s.r, v))
        s.r += width;
    if (healing < s.r + 8 * width)
        return ergo_job_error(
            ctx, "/system/healing",
            "%.4g A (or half the shortest side): a pair function begins at %.4g A, where "
            "the potential's wall is steep; use a larger one",
            healing, s.r);
    s.steps = (size_t)((healing - s.r) / width) + 1;
    s.h = (healing - s.r) / (double)s.steps;
    double *room = calloc(5 * s.steps + 4, sizeof *room);
    if (!room)
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for a pair function");
    double *r = room + 2 * s.steps + 1, *u = r + s.steps + 1, *y = u + s.steps + 1;
    s.v = room;
    for (size_t k = 0; k <= 2 * s.steps; k++) {
        helium_model_v(m, s.r + 0.5 * s.h * (double)k, v);
        s.v[k] = v[0];
    }
    const double e = ground(&s);
    outward(&s, e, y);
    u[s.steps] = 0;
    for (size_t k = s.steps; k-- > 0;) { /* integrals of y, with its slopes: fourth order */
        const double a = slope_of(&s, e, 2 * k, y[k]), b = slope_of(&s, e, 2 * k + 2, y[k + 1]);
        u[k] = u[k + 1] - s.h * (0.5 * (y[k] + y[k + 1]) + s.h / 12 * (a - b));
    }
    for (size_t k = 0; k <= s.steps; k++)
        r[k] = s.r + s.h * (double)k;
    r[s.steps] = healing;
    const enum ergo_status status = ergo_radial_of(ctx, s.steps + 1, r, u, curve);
    free(room);
    return status;
}
