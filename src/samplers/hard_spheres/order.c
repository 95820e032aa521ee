#include "samplers/hard_spheres/order.h"

#include <math.h>
#include <stdlib.h>

#include "job/schedule.h"
#include "samplers/bonds.h"
#include "samplers/structure.h"

enum { NEIGHBOURS = 12, CONNECTED = 7 };
enum { LEAST_K = 10 }; /* so that the first peak is below, at any density */

const struct ergo_key spheres_order_keys[SPHERES_ORDER_KEYS] = {
    {SPHERES_KEY(order_every, "/run/order_every", INT), .flags = ERGO_KEY_SHAPE, .fallback = "0",
     .min = 0, .max = 1e12, .unit = "measurements",
     .help =
         "Analysis of order at every so many measurements, at constant volume a multiple of "
         "curves_every: S(k), Q_6 and solid-like spheres, on the host, about 2 ms of a core for "
         "256 spheres, a second for 32,000, for a million 6 s and 2.4 GB of memory; 0: never."},
    {SPHERES_KEY(sk_max, "/run/sk_max", REAL), .flags = ERGO_KEY_SHAPE, .fallback = "10",
     .min = LEAST_K, .max = 60, .unit = "1/sigma",
     .help = "Largest wave number of S(k). Memory and time of its mesh grow with the third power.",
     .acts = spheres_order_is_on, .where = "where /run/order_every is not 0"},
};

uint64_t spheres_order_every(const struct ergo_point *point) {
    return (uint64_t)of_spheres(point)->order_every;
}

bool spheres_order_is_on(const struct ergo_point *point) {
    return spheres_order_every(point) > 0;
}

size_t spheres_order_first(const struct ergo_point *point) {
    return ergo_is_isobaric(point) ? 0 : SPHERES_CURVES;
}

/* From n alone, because points of a batch have equally many: no shell is without a multiple of the
 * vector along the longest side, at any density. */
static size_t shells_of(const struct ergo_point *point) {
    const double n = (double)of_particle(point)->n;
    return (size_t)fmax(1, fmin(160, of_spheres(point)->sk_max * cbrt(n) / 7.1));
}

static struct ergo_structure plan_of(const struct ergo_point *point,
                                     const struct spheres_shape *shape) {
    double longest[3];
    for (int k = 0; k < 3; k++) /* cells are narrower than sqrt(2) sigma */
        longest[k] = shape->npt ? 1.4143 * shape->cells[k] : shape->box[k];
    return ergo_structure_plan(3, longest, shells_of(point), of_spheres(point)->sk_max, 3);
}

enum ergo_status spheres_order_check(struct ergo_context *ctx, const struct ergo_point *point,
                                     const struct spheres_shape *shape) {
    static const uint64_t most_bytes = UINT64_C(16) << 30;
    const uint64_t every = spheres_order_every(point);
    const int64_t curves = shape->npt ? 0 : of_particle(point)->curves_every;
    if (!every)
        return ERGO_OK;
    if (curves && every % (uint64_t)curves)
        return ergo_job_error(ctx, "/run/order_every",
                              "%llu is no multiple of /run/curves_every, %lld",
                              (unsigned long long)every, (long long)curves);
    if (shape->confined.is)
        return ergo_job_error(ctx, "/run/order_every",
                              "the analysis is of a periodic crystal or fluid: leave it out with "
                              "walls or a field");
    const struct ergo_structure plan = plan_of(point, shape);
    const uint64_t bytes = ergo_structure_bytes(&plan);
    const double most = of_spheres(point)->sk_max;
    if (bytes > most_bytes)
        return ergo_job_error(ctx, most > LEAST_K ? "/run/sk_max" : "/run/order_every",
                              "the transform of %llu spheres in a box of %.6g x %.6g x %.6g sigma "
                              "up to k = %g needs %.3g GB of memory, at most %.3g are possible: %s",
                              (unsigned long long)shape->n, shape->box[0], shape->box[1],
                              shape->box[2], most, 1e-9 * (double)bytes, 1e-9 * (double)most_bytes,
                              most > LEAST_K ? "take a smaller one, or leave order_every out"
                                             : "leave it out, or take a smaller box");
    return ERGO_OK;
}

size_t spheres_order_size(const struct ergo_point *point, size_t curve) {
    return !spheres_order_is_on(point) ? 0
           : curve == SPHERES_ORDER_SK ? shells_of(point)
                                       : SPHERES_NUMBERS;
}

void spheres_order_x(const struct ergo_point *point, size_t curve, double *x) {
    const size_t size = spheres_order_size(point, curve);
    const double wave = of_spheres(point)->sk_max / (double)size;
    for (size_t i = 0; i < size; i++)
        x[i] = curve == SPHERES_ORDER_SK ? wave * (double)(i + 1) : (double)i;
}

/* ---- configurations -------------------------------------------------------------------------- */

uint64_t spheres_order_bytes(const struct ergo_point *point) {
    struct spheres_shape shape;
    char reason[300];
    if (!spheres_shape_of(point, &shape, reason))
        return 0;
    const struct ergo_structure plan = plan_of(point, &shape);
    return 48 * shape.n + 170 * shape.all + ergo_bonds_bytes(shape.n) + ergo_structure_bytes(&plan);
}

/* Positions are relative to the cells, which nothing here notices. */
static bool analyse(const struct ergo_point *point, const struct spheres_shape *shape,
                    const struct ergo_hard_cells *config, double *numbers, double *sk) {
    const size_t n = (size_t)shape->n;
    double side[3], peak[3], *axes = malloc(3 * n * sizeof *axes);
    const double *const at[3] = {axes, axes + n, axes + 2 * n};
    const struct ergo_places places = {side, n, at};
    struct ergo_structure plan = plan_of(point, shape);
    struct ergo_bonds bonds;
    bool ok = axes != NULL;
    ergo_hard_box(config, side);
    plan.lattice = 2 * SPHERES_PI * sqrt(3) * cbrt((double)n / (4 * side[0] * side[1] * side[2]));
    if (ok)
        ergo_hard_positions(config, axes);
    ok = ok && ergo_structure_analyse(&plan, &places, sk, peak) &&
         ergo_bonds_analyse(&places, NEIGHBOURS, CONNECTED, &bonds);
    if (ok) {
        numbers[SPHERES_PEAK] = ergo_structure_at(&places, 3, peak);
        numbers[SPHERES_PEAK_K] = sqrt(peak[0] * peak[0] + peak[1] * peak[1] + peak[2] * peak[2]);
        numbers[SPHERES_Q6] = bonds.q6;
        numbers[SPHERES_AVERAGED] = bonds.averaged;
        numbers[SPHERES_SOLID] = bonds.solid;
    }
    free(axes);
    return ok;
}

bool spheres_order_row(const struct spheres_state *s, unsigned slot, const struct ergo_row *row) {
    const size_t member = row->member, curve = row->sample;
    const struct ergo_point *point = s->e.batch->points[member];
    const uint64_t sample = ergo_engine_curve_sample(&s->e, slot, curve);
    double *const *curves = row->curves + spheres_order_first(point);
    struct ergo_hard_cells config;
    /* what is measured during equilibration is dropped */
    if (!ergo_hard_due(s, slot, curve, spheres_order_every(point)) ||
        !curves[SPHERES_ORDER_NUMBERS] || sample < ergo_schedule_of(point).n_equilibration)
        return true;
    if (!ergo_hard_of_curve(s, SPHERES_PLACES, slot, curve, member, &config))
        return false;
    if (s->shapes[member].npt) {
        const struct ergo_volume *seen = ergo_engine_host(&s->e, SPHERES_SEEN, slot, row->taken);
        config.volume = seen[member];
    }
    const bool ok = analyse(point, &s->shapes[member], &config,
                            curves[SPHERES_ORDER_NUMBERS] + row->number * SPHERES_NUMBERS,
                            curves[SPHERES_ORDER_SK] + row->number * shells_of(point));
    ergo_hard_free(&config);
    return ok;
}
