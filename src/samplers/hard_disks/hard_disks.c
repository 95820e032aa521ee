/* hard-disks: the tables of the sampler, and functions of a job that need no device. */
#include "samplers/hard_disks/hard_disks.h"

#include <math.h>
#include <string.h>

#include "samplers/hard_disks/hexatic.h"
#include "samplers/hard_disks/order.h"

static const struct ergo_column columns[DISKS_COLUMNS] = {
    {"psi6_re", "", "real part of the mean over all disks of psi_6"},
    {"psi6_im", "", "imaginary part"},
    {"acceptance", "", "accepted share of the trial moves of the last sweep"},
    {"occupied", "", "share of cells that hold a disk"},
    {"field_energy", "k_B T", "mean of beta u over disks"},
    {"density", "1/sigma^2", "number density"},
    {"volume_step", "", "largest trial change of ln V"},
    {"volume_acceptance", "", "1 if the last volume move was accepted"},
    {"limited", "", "1 if the last volume move was refused because of the cells"},
    {"aspect", "", "Ly / Lx"},
};

static double sample_psi6(const struct ergo_point *point, const double *c) {
    (void)point;
    return hypot(c[DISKS_PSI6_RE], c[DISKS_PSI6_IM]);
}

static double sample_packing(const struct ergo_point *point, const double *c) {
    (void)point;
    return c[DISKS_DENSITY] * DISKS_PI / 4.0;
}

static double sample_compressibility(const struct ergo_point *point, const double *c) {
    return of_particle(point)->pressure / c[DISKS_DENSITY];
}

static bool has_column(const struct ergo_point *point, size_t c) {
    if (c == DISKS_FIELD_ENERGY)
        return !ergo_is_isobaric(point) && ergo_confined_has_field(point);
    if (c == DISKS_VOLUME_STEP)
        return ergo_isobaric_tuned(point);
    return c != DISKS_ASPECT || ergo_isobaric_per_axis(point);
}

static double phi_of(const struct ergo_point *point) {
    struct disks_shape s;
    char reason[300];
    return disks_shape_of(point, &s, reason) ? s.density * DISKS_PI / 4.0 : NAN;
}

static const char *slow_psi6(const struct ergo_point *point) {
    const bool slow =
        ergo_is_isobaric(point) ? of_particle(point)->pressure > 8.5 : phi_of(point) > 0.69;
    return slow ? "near melting the orientation of the whole system takes 10^5 "
                  "sweeps and more to change"
                : NULL;
}

/* At constant volume both are what the job says. */
static double sample_fixed_packing(const struct ergo_point *point, const double *c) {
    const struct ergo_value *phi = &of_particle(point)->packing_fraction;
    (void)c;
    if (phi->present)
        return phi->real;
    const double *box = of_particle(point)->box.reals;
    return (double)of_particle(point)->n * DISKS_PI / 4.0 / (box[0] * box[1]);
}

static double sample_fixed_density(const struct ergo_point *point, const double *c) {
    return sample_fixed_packing(point, c) * 4.0 / DISKS_PI;
}

/* clang-format off */
#define DENSITIES(density, packing)                                                                \
    {ERGO_NAMED("density", "1/sigma^2"), .help = "number density rho = N / V", density},           \
    {ERGO_NAMED("packing_fraction", ""), .help = "phi = pi rho / 4", .sample = (packing)}

/* psi_6 and moves, of both ensembles. */
#define ORDER                                                                                      \
    {ERGO_NAMED("psi6", ""),                                                                       \
     .help = "global orientational order |Psi_6|: modulus of the mean over disks of psi_6, the "   \
             "mean of exp(6 i theta) over a disk's bonds (neighbour_cutoff; 0 without bonds)",     \
     .sample = sample_psi6, .merit = true, .slow = slow_psi6},                                     \
    ERGO_HARD_MOVES(DISKS_ACCEPTANCE, DISKS_OCCUPIED, "disk"),                                     \
    {ERGO_NAMED("psi6_re", ""), .help = "real part of Psi_6", ERGO_COLUMN(DISKS_PSI6_RE),          \
     .hidden = true}

#define HEXATIC(name_, unit_, number, help_)                                                       \
    {ERGO_NAMED(name_, unit_), .help = (help_), .curve = "order", .element = (number),             \
     .applies = disks_order_is_on}
/* clang-format on */

static const struct ergo_observable observables[] = {
    {ERGO_NAMED("pressure", "k_B T / sigma^2"),
     .help = "P* = beta P sigma^2, from g(r) extrapolated to contact (Eqs. 4 to 6). Not with walls "
             "or a field, where P has no one value",
     .curve = "contact", .from_curve = disks_pressure, .applies = disks_is_bulk},
    {ERGO_NAMED("compressibility_factor", ""), .help = "Z = P* / (rho sigma^2), likewise",
     .curve = "contact", .from_curve = disks_compressibility, .applies = disks_is_bulk},
    ERGO_CONFINED_OBSERVABLES("2", "1/sigma", "disks", disks_is_walled, disks_is_slit, disks_wall,
                              disks_excess, DISKS_FIELD_ENERGY),
    ORDER,
    HEXATIC("psi6_voronoi", "", HEXATIC_PSI,
            "|Psi_6|: modulus of the mean over disks of psi_6, which is the mean of exp(6 i theta) "
            "over the sides of a disk's Voronoi cell, weighed by their lengths (Mickel et al., J. "
            "Chem. Phys. 138, 044501 (2013)); theta: direction of the disk beyond"),
    HEXATIC("psi6_squared", "", HEXATIC_PSI2, "its square, |Psi_6|^2"),
    {ERGO_NAMED("chi6", ""), .help = "its susceptibility, N (<|Psi_6|^2> - <|Psi_6|>^2)",
     .curve = "order", .from_curve = disks_order_chi, .applies = disks_order_is_on},
    HEXATIC("psi6_local", "", HEXATIC_LOCAL, "mean over disks of the modulus of psi_6"),
    HEXATIC("defects", "", HEXATIC_DEFECTS, "share of disks whose Voronoi cell has not six sides"),
    HEXATIC("structure_peak", "", HEXATIC_PEAK,
            "S(q_0) = |sum over disks of exp(i q_0 r)|^2 / N, N in a crystal; q_0: of the box's "
            "wave vectors whose length is within a fifth of that of the triangular lattice at this "
            "density the one with the largest S, in each configuration"),
    HEXATIC("structure_peak_q", "1/sigma", HEXATIC_PEAK_Q, "its wave number |q_0|"),
    {ERGO_NAMED("packing_fraction_liquid", ""),
     .help = "packing fraction of the rarer of two coexisting phases: the lower maximum of "
             "local_density, where it has two, the smaller more than a quarter of the larger, that "
             "a valley below 0.7 of the smaller parts",
     .curve = "local_density", .from_curve = disks_order_liquid, .applies = disks_order_has_blocks},
    {ERGO_NAMED("packing_fraction_hexatic", ""), .help = "of the denser one: the upper",
     .curve = "local_density", .from_curve = disks_order_hexatic,
     .applies = disks_order_has_blocks},
    DENSITIES(.sample = sample_fixed_density, sample_fixed_packing),
};

static const struct ergo_observable observables_npt[] = {
    DENSITIES(ERGO_COLUMN(DISKS_DENSITY), sample_packing),
    {ERGO_NAMED("compressibility_factor", ""), .help = "Z = beta P <V> / N",
     .sample = sample_compressibility},
    {ERGO_NAMED("pressure", "k_B T / sigma^2"),
     .help = "P* from g(r) at contact, of each configuration at its own density: a check, because "
             "its mean is /system/pressure in equilibrium, whatever N is",
     .curve = "contact", .from_curve = disks_pressure},
    ORDER,
    {ERGO_NAMED("aspect_ratio", ""), .help = "Ly / Lx, where volume_moves is per-axis",
     ERGO_COLUMN(DISKS_ASPECT), .applies = ergo_isobaric_per_axis},
    ERGO_ISOBARIC_OBSERVABLES(DISKS_VOLUME_STEP, DISKS_VOLUME_ACCEPTANCE, DISKS_LIMITED,
                              "cells would be narrower than sigma or hold too many disks", "cells"),
};

static const struct ergo_curve_info curves[] = {
    {"contact", "distance / sigma", "", "g(r) next to contact (Eqs. 5 and 6), 1 in an ideal gas"},
    {"gr", "distance / sigma", "", "pair distribution g(r), 1 in an ideal gas"},
    {"density_histogram", "packing fraction", "", "share of sub-blocks of that packing fraction"},
    DISKS_ORDER_CURVES,
    ERGO_CONFINED_CURVE_TABLE("2", "length"),
};

static const struct ergo_curve_info curves_npt[] = {
    {"contact", "distance / sigma", "k_B T / sigma^2",
     "rho + pi rho^2 (1 - 1/N) g(r) / 2 next to contact, where it is the pressure; each "
     "configuration by its own rho"},
    {"gr", "distance / sigma", "",
     "pair distribution g(r), 1 in an ideal gas, each configuration by its own diameter and "
     "density"},
};

static const struct ergo_tunable tunables[] = {
    {ERGO_TUNABLE(ergo_parameters, path),
     "0 automatic, 1 a system per work-group in local memory, 2 tiles in local memory, a sweep per "
     "launch, 3 a sub-sweep per launch",
     0, 3, false},
    {ERGO_TUNABLE(particle_parameters, tile),
     "tile path: cells along a tile, even, without its rim of 4 (0 automatic)", 0, 64, false},
    {ERGO_TUNABLE_GROUP},
};

static enum ergo_status check_confined(struct ergo_context *ctx, const struct ergo_point *point,
                                       const struct disks_shape *shape) {
    if (shape->confined.is && shape->leave)
        return ergo_job_error(ctx, "/system/leave_cell",
                              "true is not possible with walls or a field");
    if (shape->confined.is && disks_order_every(point))
        return ergo_job_error(
            ctx, "/run/hexatic_every",
            "the hexatic analysis is of a periodic crystal or fluid: leave it out "
            "with walls or a field");
    return ergo_confined_check(ctx, point, 2, &shape->confined);
}

static enum ergo_status check(struct ergo_context *ctx, const struct ergo_point *point) {
    enum ergo_status status = ergo_hard_check_size(ctx, point);
    const struct ergo_value *box = &of_particle(point)->box;
    const char *start = of_particle(point)->start.text;
    struct disks_shape shape;
    char reason[400];
    if (status != ERGO_OK)
        return status;
    if (strcmp(start, "hexagonal") != 0 && strcmp(start, "square") != 0 &&
        strcmp(start, "random") != 0 && !ergo_hard_start_is_file(start))
        status = ergo_job_error(ctx, "/system/start",
                                "found \"%s\"; allowed: \"hexagonal\", \"square\", \"random\", or "
                                "the name of an extended XYZ file, with a dot or a slash in it",
                                start);
    if (box->present) {
        const double sides[2] = {box->items ? box->reals[0] : box->real,
                                 box->items ? box->reals[1] : box->real};
        const double most = (double)of_particle(point)->n * DISKS_PI / (4.0 * sides[0] * sides[1]);
        if (most > 0.9069)
            return ergo_job_error(ctx, "/system/box",
                                  "%lld disks would cover %.4g of a box of %g x %g sigma; no more "
                                  "than 0.9069 is possible",
                                  (long long)of_particle(point)->n, most, sides[0], sides[1]);
        if (sides[0] != sides[1] && of_disks(point)->cells)
            return ergo_job_error(ctx, "/system/cells",
                                  "found %lld; allowed: 0 where the sides of the box differ",
                                  (long long)of_disks(point)->cells);
    }
    if (!disks_shape_of(point, &shape, reason))
        status = ergo_job_error(ctx,
                                of_disks(point)->cells ? "/system/cells"
                                : box->present         ? "/system/box"
                                                       : "/system/packing_fraction",
                                "%s", reason);
    else if (shape.all > DISKS_CELLS_MAX)
        status = ergo_job_error(
            ctx, box->present ? "/system/box" : "/system/packing_fraction",
            "a box of %.6g x %.6g sigma has %llu cells: at most %u are possible, "
            "which is %d a side. Cells are below sqrt 2 sigma, also in a dilute gas, so that "
            "no five disks fit in one",
            shape.box[0], shape.box[1], (unsigned long long)shape.all, DISKS_CELLS_MAX, 23170);
    else if (shape.npt && ergo_isobaric_check(ctx, point, &shape.rules.volume,
                                              shape.box[0] * shape.box[1]) != ERGO_OK)
        status = ERGO_E_JOB;
    else if (!disks_start_fits(point, &shape, reason))
        status = ergo_job_error(ctx, "/system/start", "%s", reason);
    else if (shape.planes == 1 && shape.leave)
        status = ergo_job_error(ctx, "/system/leave_cell",
                                "true needs coordinates \"wide\": packed ones end at the cell");
    if (status == ERGO_OK && !shape.npt)
        status = check_confined(ctx, point, &shape);
    if (status == ERGO_OK)
        status = disks_order_check(ctx, point, &shape);
    if (ergo_hard_check_bins(ctx, point) != ERGO_OK)
        status = ERGO_E_JOB;
    if (status == ERGO_OK && ergo_hard_start_is_file(start) && !point->job->again)
        status = ergo_hard_start_check(ctx, point, &shape.hard);
    return status;
}

static size_t curve_size(const struct ergo_point *point, size_t curve) {
    return (curve >= DISKS_CURVE_NUMBERS && curve < DISKS_CURVE_CONFINED) ||
                   of_particle(point)->curves_every
               ? disks_curve_size(point, curve)
               : 0;
}

static uint64_t curve_every(const struct ergo_point *point) {
    const uint64_t every = disks_curve_every(point);
    return every ? every : 1;
}

static uint64_t every_of_curve(const struct ergo_point *point, size_t curve) {
    return curve >= DISKS_CURVE_NUMBERS && curve < DISKS_CURVE_CONFINED ? disks_order_every(point)
                                                                        : curve_every(point);
}

static double exact(const struct ergo_point *point, const char *observable) {
    if (strcmp(observable, "density") == 0)
        return sample_fixed_density(point, NULL);
    if (strcmp(observable, "packing_fraction") == 0)
        return sample_fixed_packing(point, NULL);
    if (strcmp(observable, "compressibility_factor") == 0)
        return disks_exact_pressure(point) * DISKS_PI / (4.0 * phi_of(point));
    return strcmp(observable, "pressure") == 0 ? disks_exact_pressure(point) : NAN;
}

static double published(const struct ergo_point *point, const char *observable, double *error) {
    return strcmp(observable, "pressure") == 0 ? disks_published_pressure(point, error) : NAN;
}

#define OPS                                                                                        \
    .engine = &disks_model, .init = disks_init, .start = ergo_hard_grow_piece,                     \
    .save = ergo_hard_save, .load = ergo_hard_load, .picture = disks_picture,                      \
    .frame = disks_frame,
static const struct ergo_sampler_ops ops = {OPS}, ops_npt = {OPS.carry = ergo_hard_carry};

static const char *const first_job[] = {"/system/n=256",          "/system/packing_fraction=0.6",
                                        "/run/equilibration=500", "/run/sweeps=5000",
                                        "/run/measure_every=10",  NULL};

static const char *const first_npt[] = {"/system/n=256",
                                        "/system/packing_fraction=0.55",
                                        "/system/pressure=4",
                                        "/run/equilibration=500",
                                        "/run/sweeps=5000",
                                        "/run/measure_every=10",
                                        NULL};

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define PROGRAMS                                                                                   \
    "hard_disks/disks_global.cl", "hard_disks/disks_local.cl", "hard_disks/disks_tile.cl",         \
        "hard_disks/disks_measure.cl", "hard_disks/disks_start.cl"

static const struct ergo_model nvt = {
    .name = "nvt",
    .summary = "Constant volume; the pressure from g(r) at contact. With hard walls and fields.",
    .programs = {PROGRAMS, "hard_disks/disks_confined.cl"},
    .first = first_job,
    .parameters = sizeof(struct disks_parameters),
    .keys = {{disks_keys, DISKS_KEYS},
             {disks_keys_nvt, DISKS_KEYS_NVT},
             {disks_order_keys, DISKS_ORDER_KEYS},
             {ergo_confined_keys_2d, ERGO_CONFINED_KEYS}},
    .columns = columns,
    .n_columns = DISKS_DENSITY,
    .has_column = has_column,
    ERGO_TABLE(observables, observables),
    ERGO_TABLE(curves, curves),
    .curves_hidden = 1u << DISKS_CURVE_NUMBERS,
    /* their peaks matter */
    .curves_linear = 1u << (DISKS_CURVE_NUMBERS + 1 + HEXATIC_CUT) |
                     1u << (DISKS_CURVE_NUMBERS + 1 + HEXATIC_LOCAL_DENSITY) |
                     ((1u << ERGO_CONFINED_CURVES) - 1) << DISKS_CURVE_CONFINED,
    ERGO_TABLE(tunables, tunables),
    .trajectory = "positions and local psi_6 of all disks",
    .check = check,
    .curve_size = curve_size,
    .curve_x = disks_curve_x,
    .curve_every = curve_every,
    .every_of_curve = every_of_curve,
    .exact = exact,
    .published = published,
    .ops = &ops,
};

static const struct ergo_model npt = {
    .name = "npt",
    .rule = &ergo_isobaric,
    .summary = "Constant pressure: the box grows and shrinks, and keeps its shape or finds it.",
    .programs = {PROGRAMS, "hard_disks/disks_volume.cl"},
    .first = first_npt,
    .parameters = sizeof(struct disks_parameters),
    .keys = {{disks_keys, DISKS_KEYS},
             {disks_keys_npt, DISKS_KEYS_NPT},
             {ergo_isobaric_keys, ERGO_ISOBARIC_KEYS}},
    ERGO_TABLE(columns, columns),
    .has_column = has_column,
    ERGO_TABLE(observables, observables_npt),
    .relation_x = "density",
    .relation_y = "pressure",
    .relation_help = "the equation of state",
    ERGO_TABLE(curves, curves_npt),
    ERGO_TABLE(tunables, tunables),
    .trajectory = "positions and local psi_6 of all disks, with the box",
    .check = check,
    .tuned = ergo_isobaric_tuned,
    .curve_size = curve_size,
    .curve_x = disks_curve_x,
    .curve_every = curve_every,
    .ops = &ops_npt,
};

static const struct ergo_model *const models[] = {&nvt, &npt};

/* Not of the stream: /system/pressure tells the ensembles apart, and chains at constant volume are
 * as they were before there was another ensemble. */
static const struct ergo_key model_key = ERGO_HARD_ENSEMBLE("hard-disks", ERGO_KEY_SHAPE);

const struct ergo_sampler ergo_hard_disks = {
    .name = "hard-disks",
    .summary = "Hard disks: massively parallel checkerboard Monte Carlo",
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
