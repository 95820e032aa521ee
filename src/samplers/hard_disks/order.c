#include "samplers/hard_disks/order.h"

#include <math.h>
#include <stdlib.h>

#include "job/schedule.h"
#include "samplers/hard_disks/hexatic.h"

const struct ergo_key disks_order_keys[DISKS_ORDER_KEYS] = {
    {DISKS_KEY(hexatic_every, "/run/hexatic_every", INT), .flags = ERGO_KEY_SHAPE, .fallback = "0",
     .min = 0, .max = 1e12, .unit = "measurements",
     .help = "Hexatic analysis at every so many measurements, a multiple of curves_every: psi_6 by "
             "Voronoi cells, its correlations, S(q), all on the host, about a second of a core for "
             "512^2 disks; 0: never."},
    {DISKS_KEY(hexatic_block, "/run/hexatic_block", REAL), .flags = ERGO_KEY_SHAPE, .fallback = "0",
     .min = 0, .max = 100000, .unit = "sigma",
     .help = "Side of the boxes of local_density, from whose two maxima the densities of "
             "coexisting phases come; 0: none. Boxes of some 20 sigma and more can tell 0.700 "
             "from 0.716.",
     .acts = disks_order_is_on, .where = "where /run/hexatic_every is not 0"},
};

uint64_t disks_order_every(const struct ergo_point *point) {
    return ergo_is_isobaric(point) ? 0 : (uint64_t)of_disks(point)->hexatic_every;
}

bool disks_order_is_on(const struct ergo_point *point) {
    return disks_order_every(point) > 0;
}

bool disks_order_has_blocks(const struct ergo_point *point) {
    return disks_order_is_on(point) && of_disks(point)->hexatic_block > 0;
}

static struct hexatic_plan plan_of(const struct ergo_point *point) {
    struct disks_shape shape;
    char reason[300];
    if (!disks_shape_of(point, &shape, reason))
        return (struct hexatic_plan){.sizes = {0}};
    return hexatic_plan_of(shape.box, (size_t)shape.n, of_disks(point)->hexatic_block);
}

/* Of the larger of both meshes. */
static const uint64_t most_bytes = UINT64_C(16) << 30;
static uint64_t mesh_bytes(const struct hexatic_plan *p) {
    const uint64_t waves = ergo_structure_bytes(&p->structure);
    const uint64_t mesh = 16 * (uint64_t)p->mesh[0] * p->mesh[1];
    return waves > mesh ? waves : mesh;
}

enum ergo_status disks_order_check(struct ergo_context *ctx, const struct ergo_point *point,
                                   const struct disks_shape *shape) {
    const uint64_t every = disks_order_every(point);
    const int64_t curves = of_particle(point)->curves_every;
    if (every && curves && every % (uint64_t)curves)
        return ergo_job_error(ctx, "/run/hexatic_every",
                              "%llu is no multiple of /run/curves_every, %lld",
                              (unsigned long long)every, (long long)curves);
    if (!every)
        return ERGO_OK;
    const struct hexatic_plan plan = plan_of(point);
    if (mesh_bytes(&plan) > most_bytes)
        return ergo_job_error(ctx, "/run/hexatic_every",
                              "transforms of %llu disks in a box of %.6g x %.6g sigma need %.3g GB "
                              "of memory, at most %.3g are possible: leave it out, or take a box "
                              "with less different sides",
                              (unsigned long long)shape->n, shape->box[0], shape->box[1],
                              1e-9 * (double)mesh_bytes(&plan), 1e-9 * (double)most_bytes);
    if (disks_order_has_blocks(point) &&
        of_disks(point)->hexatic_block > 0.5 * fmin(shape->box[0], shape->box[1]))
        return ergo_job_error(ctx, "/run/hexatic_block",
                              "found %g; at most half the box, %.6g sigma, so that there are "
                              "several",
                              of_disks(point)->hexatic_block,
                              0.5 * fmin(shape->box[0], shape->box[1]));
    return ERGO_OK;
}

/* ---- curves -----------------------------------------------------------------------------------
 */

size_t disks_order_size(const struct ergo_point *point, size_t curve) {
    if (!disks_order_is_on(point))
        return 0;
    if (curve == DISKS_CURVE_NUMBERS)
        return HEXATIC_NUMBERS;
    return plan_of(point).sizes[curve - DISKS_CURVE_NUMBERS - 1];
}

void disks_order_x(const struct ergo_point *point, size_t curve, double *x) {
    const struct hexatic_plan plan = plan_of(point);
    if (curve == DISKS_CURVE_NUMBERS)
        for (size_t i = 0; i < HEXATIC_NUMBERS; i++)
            x[i] = (double)i;
    else
        hexatic_x(&plan, (enum hexatic_curve)(curve - DISKS_CURVE_NUMBERS - 1), x);
}

/* ---- configurations ---------------------------------------------------------------------------
 */

uint64_t disks_order_bytes(const struct ergo_point *point) {
    const struct hexatic_plan p = plan_of(point);
    const uint64_t disk = 16 + sizeof(struct disks_voronoi) + 28 + 40; /* places, bins, cells */
    return disk * (uint64_t)of_particle(point)->n + mesh_bytes(&p);
}

/* Positions of disks are relative to the cells, which nothing here notices. */
bool disks_order_row(const struct disks_state *s, unsigned slot, const struct ergo_row *row) {
    const size_t member = row->member, curve = row->sample;
    const struct ergo_point *point = s->e.batch->points[member];
    const size_t n = (size_t)s->shapes[member].n;
    double *curves[HEXATIC_CURVES];
    struct ergo_hard_cells config;
    /* what is measured during equilibration is dropped */
    if (!ergo_hard_due(s, slot, curve, disks_order_every(point)) ||
        !row->curves[DISKS_CURVE_NUMBERS] ||
        ergo_engine_curve_sample(&s->e, slot, curve) < ergo_schedule_of(point).n_equilibration)
        return true;
    if (!ergo_hard_of_curve(s, DISKS_PLACES, slot, curve, member, &config))
        return false;
    const struct hexatic_plan plan = plan_of(point);
    double *places = malloc(2 * n * sizeof *places);
    bool ok = places != NULL;
    for (size_t c = 0; c < HEXATIC_CURVES; c++)
        curves[c] = plan.sizes[c]
                        ? row->curves[DISKS_CURVE_NUMBERS + 1 + c] + row->number * plan.sizes[c]
                        : NULL;
    if (ok) {
        ergo_hard_positions(&config, places);
        const struct disks_plane plane = {{plan.side[0], plan.side[1]}, n, places, places + n};
        ok = hexatic_analyse(&plan, &plane,
                             row->curves[DISKS_CURVE_NUMBERS] + row->number * HEXATIC_NUMBERS,
                             curves);
    }
    free(places);
    ergo_hard_free(&config);
    return ok;
}

/* ---- observables ------------------------------------------------------------------------------
 */

double disks_order_chi(const struct ergo_point *point, const double *numbers, size_t size) {
    (void)size;
    return (double)of_particle(point)->n *
           (numbers[HEXATIC_PSI2] - numbers[HEXATIC_PSI] * numbers[HEXATIC_PSI]);
}

static double peak_of(const double *shares, size_t size, int which) {
    double peaks[2];
    return hexatic_two_peaks(shares, size, peaks) ? peaks[which] : NAN;
}

double disks_order_liquid(const struct ergo_point *point, const double *shares, size_t size) {
    (void)point;
    return peak_of(shares, size, 0);
}

double disks_order_hexatic(const struct ergo_point *point, const double *shares, size_t size) {
    (void)point;
    return peak_of(shares, size, 1);
}
