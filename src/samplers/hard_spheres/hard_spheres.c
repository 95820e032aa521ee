/* hard-spheres: the tables of the sampler, and functions of a job that need no device. */
#include "samplers/hard_spheres/hard_spheres.h"

#include <math.h>
#include <string.h>

#include "samplers/hard_spheres/order.h"

static const struct ergo_key keys[] = {
    ERGO_HARD_N("spheres"),
    {PARTICLE_KEY(packing_fraction, "/system/packing_fraction", REAL),
     .flags = ERGO_KEY_FORM | ERGO_KEY_SCAN | ERGO_KEY_CHAIN | ERGO_KEY_EXCLUDES_MIN, .min = 0,
     .max = 0.7405, .unit = "",
     .help =
         "Share of a cubic box that is filled, eta = N pi / (6 V); only where a checkerboard of "
         "cells fits the box. This or box, not both. The "
         "fluid freezes at 0.492, the crystal melts at 0.545. At constant pressure that of the "
         "start."},
    {PARTICLE_KEY(box, "/system/box", REALS),
     .flags = ERGO_KEY_FORM | ERGO_KEY_CHAIN | ERGO_KEY_SHAPE, .min = 1.01, .max = SPHERES_BOX_MAX,
     .min_items = 3, .max_items = 3, .unit = "sigma",
     .help = "Sides [Lx, Ly, Lz] of the box. The checkerboard needs 2 to 2.82, 4 to 5.65, or 6 and "
             "more along each axis without walls; other than cubic ones are rounded by up to 5e-7. "
             "At constant pressure those of the start."},
    {PARTICLE_KEY(max_displacement, "/system/max_displacement", REAL),
     .flags = ERGO_KEY_SCAN | ERGO_KEY_CHAIN | ERGO_KEY_EXCLUDES_MIN, .fallback = "0.1", .min = 0,
     .max = 1, .unit = "sigma",
     .help =
         "Largest trial displacement d along each axis: they are uniform in a cube of side 2 d. "
         "At constant pressure it grows and shrinks with the box: sigma is that of the start."},
    {PARTICLE_KEY(moves_per_cell, "/system/moves_per_cell", INT),
     .flags = ERGO_KEY_SCAN | ERGO_KEY_SHAPE | ERGO_KEY_CHAIN, .fallback = "4", .min = 1, .max = 64,
     .unit = "",
     .help = "Trial moves of a cell in a sub-sweep, each of one of its spheres, drawn at random."},
    {PARTICLE_KEY(start, "/system/start", STRING),
     .flags = ERGO_KEY_SHAPE | ERGO_KEY_CHAIN | ERGO_KEY_FILE | ERGO_KEY_WORD,
     .fallback = "\"fcc\"", .unit = "",
     .help =
         "Starting configuration: fcc (the face-centred lattice of cubes whose sites are "
         "farthest apart in this box; if N is not the number of sites, vacancies are spread "
         "evenly), random (a lattice of smaller spheres that melts, and grows while they move; up "
         "to a packing fraction of 0.58), or the name of an extended XYZ file (with a dot or a "
         "slash in it) whose box is the job's."},
};

static const struct ergo_key keys_npt[] = {
    ERGO_HARD_PRESSURE("3", "beta P sigma^3 of the npt ensemble."),
};

static bool is_bulk(const struct ergo_point *point) {
    return !ergo_confined(point);
}

static bool is_walled(const struct ergo_point *point) {
    return ergo_confined_walled(point, ergo_confined_axis(point, 3));
}

/* Is there a density at contact, of two spheres or at a wall? */
static bool has_contact(const struct ergo_point *point) {
    return is_bulk(point) || is_walled(point);
}

static bool is_slit(const struct ergo_point *point) {
    return is_walled(point) && !ergo_confined_has_field(point);
}

static const struct ergo_key keys_curves[] = {
    ERGO_HARD_CURVE_KEYS("sphere", "0.04", "0.0002", "3", "", "2.5", 50, has_contact, is_bulk),
};

static const struct ergo_column columns[SPHERES_COLUMNS] = {
    {"acceptance", "", "accepted share of the trial moves of the last sweep"},
    {"occupied", "", "share of cells that hold a sphere"},
    {"density", "1/sigma^3", "number density"},
    {"volume_acceptance", "", "1 if the last volume move was accepted"},
    {"limited", "", "1 if the last volume move was refused because of the cells"},
    {"aspect_y", "", "Ly / Lx"},
    {"aspect_z", "", "Lz / Lx"},
    {"field_energy", "k_B T", "mean of beta u over spheres"},
    {"volume_step", "", "largest trial change of ln V"},
};

static double sample_packing(const struct ergo_point *point, const double *c) {
    (void)point;
    return c[SPHERES_DENSITY] * SPHERES_PI / 6.0;
}

static double sample_compressibility(const struct ergo_point *point, const double *c) {
    return of_particle(point)->pressure / c[SPHERES_DENSITY];
}

/* Of both ensembles. */
/* clang-format off */
#define DENSITIES                                                                                  \
    {ERGO_NAMED("density", "1/sigma^3"), .help = "number density rho = N / V",                     \
     ERGO_COLUMN(SPHERES_DENSITY)},                                                                \
    {ERGO_NAMED("packing_fraction", ""), .help = "eta = pi rho / 6", .sample = sample_packing}
#define MOVES ERGO_HARD_MOVES(SPHERES_ACCEPTANCE, SPHERES_OCCUPIED, "sphere")
/* clang-format on */

static const struct ergo_observable observables[] = {
    {ERGO_NAMED("pressure", "k_B T / sigma^3"),
     .help =
         "beta P sigma^3 = rho Z, from g(r) extrapolated to contact. Not with walls or a field, "
         "where P has no one value",
     .curve = "contact", .from_curve = spheres_pressure, .applies = is_bulk},
    {ERGO_NAMED("compressibility_factor", ""),
     .help = "Z = beta P / rho = 1 + 4 eta (1 - 1/N) g(sigma+), likewise", .curve = "contact",
     .from_curve = spheres_compressibility, .applies = is_bulk},
    DENSITIES,
    ERGO_CONFINED_OBSERVABLES("3", "1/sigma^2", "spheres", is_walled, is_slit, spheres_wall,
                              spheres_excess, SPHERES_FIELD_ENERGY),
    MOVES,
    SPHERES_ORDER_OBSERVABLES,
};

static const struct ergo_observable observables_npt[] = {
    DENSITIES,
    {ERGO_NAMED("compressibility_factor", ""), .help = "Z = beta P <V> / N",
     .sample = sample_compressibility},
    MOVES,
    SPHERES_ORDER_OBSERVABLES,
    {ERGO_NAMED("aspect_ratio_y", ""), .help = "Ly / Lx, where volume_moves is per-axis",
     ERGO_COLUMN(SPHERES_ASPECT_Y), .applies = ergo_isobaric_per_axis},
    {ERGO_NAMED("aspect_ratio_z", ""), .help = "Lz / Lx, likewise", ERGO_COLUMN(SPHERES_ASPECT_Z),
     .applies = ergo_isobaric_per_axis},
    ERGO_ISOBARIC_OBSERVABLES(SPHERES_VOLUME_STEP, SPHERES_VOLUME_ACCEPTANCE, SPHERES_LIMITED,
                              "cells would be narrower than sigma or hold too many spheres",
                              "cells"),
};

static const struct ergo_curve_info curves[] = {
    {"contact", "distance / sigma", "", "g(r) next to contact, 1 in an ideal gas"},
    {"gr", "distance / sigma", "", "pair distribution g(r), 1 in an ideal gas"},
    ERGO_CONFINED_CURVE_TABLE("3", "area"),
    SPHERES_ORDER_CURVE_TABLE,
};

static const struct ergo_curve_info curves_npt[] = {SPHERES_ORDER_CURVE_TABLE};

static const struct ergo_tunable tunables[] = {
    {ERGO_TUNABLE_GROUP},
    {ERGO_TUNABLE(spheres_parameters, team),
     "work-items that do the trials of a cell together (a power of two)", 0, 8, true},
    {ERGO_TUNABLE(spheres_parameters, listed),
     "spheres of a cell and around it that are kept at hand; more are looked up", 0, 128, false},
};

static enum ergo_status check(struct ergo_context *ctx, const struct ergo_point *point) {
    enum ergo_status status = ergo_hard_check_size(ctx, point);
    const struct ergo_value *box = &of_particle(point)->box;
    const char *start = of_particle(point)->start.text;
    const char *size = box->present ? "/system/box" : "/system/packing_fraction";
    const bool npt = ergo_is_isobaric(point);
    struct spheres_shape shape;
    char reason[400];
    if (status != ERGO_OK)
        return status;
    if (strcmp(start, "fcc") != 0 && !spheres_start_is_random(point) &&
        !ergo_hard_start_is_file(start))
        status = ergo_job_error(ctx, "/system/start",
                                "found \"%s\"; allowed: \"fcc\", \"random\", or the name of an "
                                "extended XYZ file, with a dot or a slash in it",
                                start);
    if (!spheres_shape_of(point, &shape, reason))
        return ergo_job_error(ctx, size, "%s", reason);
    const double filled = shape.density * SPHERES_PI / 6.0;
    if (filled > SPHERES_CLOSEST)
        status = ergo_job_error(ctx, size,
                                "%llu spheres would fill %.4g of the box; no more than 0.7404 is "
                                "possible",
                                (unsigned long long)shape.n, filled);
    else if (shape.all > SPHERES_CELLS_MAX)
        status = ergo_job_error(
            ctx, size,
            "a box of %llu cells; at most %u are possible. Cells are below 1.414 sigma, "
            "also in a dilute gas, so that few spheres fit in one",
            (unsigned long long)shape.all, SPHERES_CELLS_MAX);
    else if (npt && ergo_isobaric_check(ctx, point, &shape.isobaric,
                                        (double)shape.n / shape.density) != ERGO_OK)
        status = ERGO_E_JOB;
    else if (!spheres_start_fits(point, &shape, reason))
        status = ergo_job_error(ctx, "/system/start", "%s", reason);
    if (!npt && status == ERGO_OK)
        status = ergo_confined_check(ctx, point, 3, &shape.confined);
    if (status == ERGO_OK)
        status = spheres_order_check(ctx, point, &shape);
    if (ergo_hard_check_bins(ctx, point) != ERGO_OK)
        status = ERGO_E_JOB;
    if (status == ERGO_OK && ergo_hard_start_is_file(start) && !point->job->again)
        status = ergo_hard_start_check(ctx, point, &shape.hard);
    return status;
}

static uint64_t curve_every(const struct ergo_point *point) {
    const uint64_t every = spheres_curve_every(point);
    return every ? every : 1;
}

static uint64_t every_of_curve(const struct ergo_point *point, size_t curve) {
    return curve >= spheres_order_first(point) ? spheres_order_every(point) : curve_every(point);
}

static size_t curve_size(const struct ergo_point *point, size_t curve) {
    const size_t first = spheres_order_first(point);
    return curve >= first ? spheres_order_size(point, curve - first)
                          : spheres_curve_size(point, curve);
}

static void curve_x(const struct ergo_point *point, size_t curve, double *x) {
    const size_t first = spheres_order_first(point);
    if (curve >= first)
        spheres_order_x(point, curve - first, x);
    else
        spheres_curve_x(point, curve, x);
}

static bool has_column(const struct ergo_point *point, size_t c) {
    if (c == SPHERES_VOLUME_STEP)
        return ergo_is_isobaric(point) && ergo_isobaric_tuned(point);
    if (c == SPHERES_FIELD_ENERGY)
        return !ergo_is_isobaric(point) && ergo_confined_has_field(point);
    return c < SPHERES_ASPECT_Y ? c < SPHERES_VOLUME_ACCEPTANCE || ergo_is_isobaric(point)
                                : ergo_is_isobaric(point) && ergo_isobaric_per_axis(point);
}

static double exact(const struct ergo_point *point, const char *observable) {
    if (strcmp(observable, "density") == 0)
        return spheres_density(point);
    if (strcmp(observable, "packing_fraction") == 0)
        return spheres_packing(point);
    if (strcmp(observable, "compressibility_factor") == 0)
        return spheres_exact_compressibility(point);
    if (strcmp(observable, "pressure") == 0)
        return spheres_density(point) * spheres_exact_compressibility(point);
    return NAN;
}

#define OPS                                                                                        \
    .engine = &spheres_model, .init = spheres_init, .start = ergo_hard_grow_piece,                 \
    .save = ergo_hard_save, .load = ergo_hard_load, .frame = spheres_frame,
static const struct ergo_sampler_ops ops = {OPS}, ops_npt = {OPS.carry = ergo_hard_carry};

static const char *const first_job[] = {"/system/n=256",          "/system/packing_fraction=0.4",
                                        "/run/equilibration=200", "/run/sweeps=2000",
                                        "/run/measure_every=10",  NULL};

static const char *const first_npt[] = {"/system/n=256",
                                        "/system/packing_fraction=0.35",
                                        "/system/pressure=3",
                                        "/run/equilibration=500",
                                        "/run/sweeps=2000",
                                        "/run/measure_every=10",
                                        NULL};

#define COUNT(array) (sizeof(array) / sizeof *(array))

static const struct ergo_model nvt = {
    .name = "nvt",
    .summary = "Constant volume; the pressure from g(r) at contact. With hard walls and fields.",
    .programs = {"hard_spheres/spheres_sweep.cl", "hard_spheres/spheres_measure.cl",
                 "hard_spheres/spheres_confined.cl"},
    .first = first_job,
    .parameters = sizeof(struct spheres_parameters),
    .keys = {{keys, COUNT(keys)},
             {keys_curves, COUNT(keys_curves)},
             {spheres_order_keys, SPHERES_ORDER_KEYS},
             {ergo_confined_keys_3d, ERGO_CONFINED_KEYS}},
    ERGO_TABLE(columns, columns),
    .has_column = has_column,
    ERGO_TABLE(observables, observables),
    ERGO_TABLE(curves, curves),
    .curves_linear = 0x3c | 1u << (SPHERES_CURVES + SPHERES_ORDER_SK),
    .curves_hidden = 1u << (SPHERES_CURVES + SPHERES_ORDER_NUMBERS),
    ERGO_TABLE(tunables, tunables),
    .trajectory = "positions of all spheres",
    .check = check,
    .curve_size = curve_size,
    .curve_x = curve_x,
    .curve_every = curve_every,
    .every_of_curve = every_of_curve,
    .exact = exact,
    .ops = &ops,
};

static const struct ergo_model npt = {
    .name = "npt",
    .rule = &ergo_isobaric,
    .summary = "Constant pressure: the box grows and shrinks, and keeps its shape or finds it.",
    .programs = {"hard_spheres/spheres_sweep.cl", "hard_spheres/spheres_measure.cl",
                 "hard_spheres/spheres_volume.cl"},
    .first = first_npt,
    .parameters = sizeof(struct spheres_parameters),
    .keys = {{keys, COUNT(keys)},
             {keys_npt, COUNT(keys_npt)},
             {spheres_order_keys, SPHERES_ORDER_KEYS},
             {ergo_isobaric_keys, ERGO_ISOBARIC_KEYS}},
    ERGO_TABLE(columns, columns),
    .has_column = has_column,
    ERGO_TABLE(observables, observables_npt),
    ERGO_TABLE(curves, curves_npt),
    .curves_hidden = 1u << SPHERES_ORDER_NUMBERS,
    .curves_linear = 1u << SPHERES_ORDER_SK,
    ERGO_TABLE(tunables, tunables),
    .trajectory = "positions of all spheres, with the box",
    .check = check,
    .tuned = ergo_isobaric_tuned,
    .curve_size = curve_size,
    .curve_x = curve_x,
    .curve_every = curve_every,
    .ops = &ops_npt,
};

static const struct ergo_model *const models[] = {&nvt, &npt};

static const struct ergo_key model_key =
    ERGO_HARD_ENSEMBLE("hard-spheres", ERGO_KEY_SHAPE | ERGO_KEY_CHAIN);

const struct ergo_sampler ergo_hard_spheres = {
    .name = "hard-spheres",
    .summary = "Hard spheres: massively parallel checkerboard Monte Carlo in three dimensions",
    .citation = "J. A. Anderson, E. Jankowski, T. L. Grubb, M. Engel, S. C. Glotzer, Massively "
                "parallel Monte Carlo for many-particle simulations on GPUs, J. Comput. Phys. 254, "
                "27 (2013)",
    .step_name = "sweep",
    .rate_unit = "trial moves per second",
    .state_version = 1,
    .model_key = &model_key,
    .models = models,
    .n_models = COUNT(models),
};
