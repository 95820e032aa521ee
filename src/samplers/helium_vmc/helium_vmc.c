/* helium-vmc: tables of the sampler, and what a job tells without a device. */
#include "samplers/helium_vmc/helium_vmc.h"

#include <math.h>
#include <string.h>

#include "helium_vmc/params.h"
#include "samplers/helium_vmc/helium.h"

static const char *const optimisations[] = {"none", "b", "all", NULL};

#define SHAPE_CHAIN (ERGO_KEY_SHAPE | ERGO_KEY_CHAIN)

static bool has_start_steps(const struct ergo_point *point) {
    return of_vmc(point)->start_steps > 0;
}

static bool optimises_all(const struct ergo_point *point) {
    return ergo_says(of_vmc(point)->optimise, "all");
}

#define WITH_ALL .acts = optimises_all, .where = "with optimise all"

static const struct ergo_key keys[] = {
    {QUANTUM_KEY(walkers, "/system/walkers", INT), .flags = ERGO_KEY_FORM | SHAPE_CHAIN,
     .fallback = "16", .min = 1, .max = 1048576, .unit = "",
     .help = "Independent chains of a point, averaged in every sample. A device wants several for "
             "each of its multiprocessors."},
    {VMC_KEY(displacement, "/system/displacement", REAL),
     .flags = ERGO_KEY_SCAN | ERGO_KEY_CHAIN | ERGO_KEY_EXCLUDES_MIN, .fallback = "0.4", .min = 0,
     .max = 10, .unit = "density^(-1/3)",
     .help = "Root mean square of the Gaussian displacement (of all components together); "
             "0.4 gives an acceptance of 0.37 in liquid helium. In two dimensions the unit is "
             "density^(-1/2). In a trap the unit is c^(-1/2), c "
             "being the localisation."},
    {VMC_KEY(target_acceptance, "/system/target_acceptance", REAL),
     .flags = ERGO_KEY_CHAIN | ERGO_KEY_EXCLUDES_MIN, .min = 0, .max = 0.99, .unit = "",
     .help = "Tune the displacement to this acceptance during /system/start_steps, at least 16, "
             "every 16 "
             "macroupdates; absent: it stays as given."},
    {QUANTUM_KEY(start, "/system/start", STRING), .flags = SHAPE_CHAIN | ERGO_KEY_FILE, .unit = "",
     .help = "Extended XYZ file whose frames are the walkers' first configurations (in turn, where "
             "there are fewer frames), in the job's box: snapshots of an earlier run, for instance "
             "(/run/frame_walkers). Absent: a lattice."},
    {VMC_KEY(start_walkers, "/system/start_walkers", INT), .flags = SHAPE_CHAIN, .fallback = "0",
     .min = 0, .max = 1048576, .unit = "",
     .help = "Walkers that equilibrate during /system/start_steps; the others are then copies of "
             "them (section 4.4). 0: all.",
     .acts = has_start_steps, .where = "with start_steps above 0"},
    {VMC_KEY(start_steps, "/system/start_steps", INT), .flags = SHAPE_CHAIN, .fallback = "0",
     .min = 0, .max = 1e9, .unit = "macroupdates",
     .help = "First part of the equilibration: fewer walkers, tuned displacement. At most "
             "/run/equilibration; copies need some macroupdates more to forget each other."},
    {VMC_KEY(optimise, "/run/optimise", ENUM), .flags = ERGO_KEY_SHAPE, .fallback = "\"none\"",
     .choices = optimisations, .unit = "",
     .help =
         "b: energy as function of b near the job's b by correlated sampling, and the b of its "
         "minimum: observables b_optimum and energy_minimum, from every "
         "/run/structure_every-th measurement of all walkers. all: during the equilibration, by "
         "stochastic reconfiguration (Sorella, Phys. Rev. Lett. 80, 4558 (1998)): b, a spline "
         "that is added to u, and what /system/triplet has; what is measured is of the "
         "optimised wave function."},
    {VMC_KEY(optimise_updates, "/run/optimise_updates", INT), .flags = SHAPE_CHAIN,
     .fallback = "200", .stream = "", .min = 1, .max = 100000, .unit = "",
     .help = "Changes of the parameters. A quarter as many times before, walkers forget the start, "
             "then the first energy is measured, and at the end walkers forget the changes: "
             "/run/equilibration has to be start_steps + 1.75 updates times optimise_every.",
     WITH_ALL},
    {VMC_KEY(optimise_every, "/run/optimise_every", INT), .flags = SHAPE_CHAIN, .fallback = "5",
     .stream = "", .min = 1, .max = 1e6, .unit = "macroupdates", .help = "Between two changes.",
     WITH_ALL},
    {VMC_KEY(optimise_rate, "/run/optimise_rate", REAL),
     .flags = ERGO_KEY_SCAN | ERGO_KEY_CHAIN | ERGO_KEY_EXCLUDES_MIN, .fallback = "0.002",
     .stream = "", .min = 0, .max = 1, .unit = "1/K",
     .help = "Imaginary time of a change: longer ones converge sooner, until they diverge.",
     WITH_ALL},
    {VMC_KEY(optimise_knots, "/run/optimise_knots", INT), .flags = SHAPE_CHAIN, .fallback = "10",
     .stream = "", .min = 0, .max = HELIUM_MOST_KNOTS, .unit = "",
     .help = "Coefficients of the spline: cubic, on equal knots from where u is -4 to half the "
             "shortest side, where it ends with two derivatives.",
     WITH_ALL},
};

static const struct ergo_column columns[] = {
    {"potential", "K per atom",
     "V/N, cut at half the shortest side, and what is beyond with tail_correction"},
    {"kinetic_laplacian", "K per atom", "-lambda/N sum (lap ln psi + (grad ln psi)^2)"},
    {"kinetic_gradient", "K per atom", "lambda/N sum (grad ln psi)^2"},
    {"acceptance", "", "accepted moves of the macroupdate before the measurement"},
    {"virial", "K per atom",
     "1/N sum_{i<j} r V'(r), cut at half the shortest side, and what is beyond with "
     "tail_correction"},
    {"ln_psi", "per atom", "ln psi / N"},
    {"energy2", "K^2", "squared energy of a walker"},
    {"energy_ln_psi", "K per atom", "energy times ln psi / N of a walker"},
};

static double sample_energy(const struct ergo_point *point, const double *c) {
    (void)point;
    return c[0] + c[1];
}

static double sample_kinetic(const struct ergo_point *point, const double *c) {
    (void)point;
    return 0.5 * (c[1] + c[2]);
}

static double sample_difference(const struct ergo_point *point, const double *c) {
    (void)point;
    return c[1] - c[2];
}

#define BAR 138.0649 /* 1 K/A^3 */

/* u and both cuts are functions of r / L, so the jump of V at L/2 adds nothing. */
static double sample_pressure(const struct ergo_point *point, const double *c) {
    const double density = of_quantum(point)->density;
    return BAR * density * ((c[1] + c[2]) - c[4]) / 3.0;
}

/* Likewise, with rho/2 for rho/3. */
static double sample_spreading(const struct ergo_point *point, const double *c) {
    return of_quantum(point)->density * ((c[1] + c[2]) - c[4]) / 2.0;
}

static bool has_b(const struct ergo_point *point) {
    return helium_dimensions(point) == 3 && helium_is_schiff_verlet(point) &&
           of_quantum(point)->b > 0 && !helium_has_triplet(point) && !helium_has_sites(point) &&
           !optimises_all(point);
}

static bool has_pressure(const struct ergo_point *point) {
    return !helium_is_confined(point) && helium_dimensions(point) == 3;
}

static bool has_spreading(const struct ergo_point *point) {
    return !helium_is_confined(point) && helium_dimensions(point) == 2;
}

/* The README derives both pressures. inputs: pressure, e, ln psi / N, e ln psi / N. */
static double derive_fixed(const struct ergo_point *point, const double *m) {
    const double density = of_quantum(point)->density;
    const double n = (double)of_quantum(point)->n;
    return m[0] + BAR * density * n * (m[3] - m[1] * m[2]) * 10.0 / 3.0;
}

static double curve_b(const struct ergo_point *point, const double *mean, size_t size) {
    return helium_b_minimum(point, mean, size, false);
}

static double curve_energy(const struct ergo_point *point, const double *mean, size_t size) {
    return helium_b_minimum(point, mean, size, true);
}

static bool optimises_b_too(const struct ergo_point *point) {
    return optimises_all(point) && helium_is_schiff_verlet(point);
}

static bool optimises_triplet(const struct ergo_point *point) {
    return optimises_all(point) && helium_has_triplet(point);
}

/* Numbers of an optimisation, which has no error of its own. */
/* clang-format off */
#define OPTIMISED_AS(FACT, NAME, UNIT, NUMBER, APPLIES, HELP)                                      \
    {ERGO_NAMED(NAME, UNIT), .help = (HELP), .curve = "parameters", .element = (NUMBER),           \
     .independent = true, .fact = (FACT), .applies = (APPLIES)}
/* clang-format on */
#define OPTIMISED(...) OPTIMISED_AS(ERGO_FACT_MEAN, __VA_ARGS__)

static const struct ergo_observable observables[] = {
    {ERGO_NAMED("energy", "K per atom"), .help = "local energy: potential + kinetic_laplacian",
     .sample = sample_energy},
    {ERGO_NAMED("potential", "K per atom"),
     .help = "mean V/N, cut at half the shortest side (/system/tail_correction)", ERGO_COLUMN(0)},
    {ERGO_NAMED("kinetic", "K per atom"),
     .help = "mean of both estimators, -lambda/(2N) sum lap ln psi: the least variance",
     .sample = sample_kinetic},
    {ERGO_NAMED("kinetic_laplacian", "K per atom"), .help = "kinetic part of the local energy",
     ERGO_COLUMN(1)},
    {ERGO_NAMED("kinetic_gradient", "K per atom"), .help = "lambda/N sum (grad ln psi)^2",
     ERGO_COLUMN(2)},
    {ERGO_NAMED("kinetic_difference", "K per atom"),
     .help = "kinetic_laplacian - kinetic_gradient: has to be 0", .sample = sample_difference},
    {ERGO_NAMED("pressure", "bar"),
     .help =
         "-dE/dV of N atoms whose psi is scaled with the box (b and the cut in proportion to "
         "density^(-1/3), localisation to density^(2/3)), exactly; at the best b of each density "
         "also of that energy. Virial: density (2 kinetic - 1/N sum r V')/3",
     .sample = sample_pressure, .applies = has_pressure},
    {ERGO_NAMED("spreading_pressure", "K/A^2"),
     .help = "two dimensions: -dE/dA of N atoms whose psi is scaled with the area A, as pressure "
             "(localisation in proportion to density). Virial: density (2 kinetic - 1/N sum r "
             "V')/2",
     .sample = sample_spreading, .applies = has_spreading},
    {ERGO_NAMED("pressure_fixed_b", "bar"),
     .help = "-dE/dV of N atoms at the job's b, as in a scan over density alone: pressure + 10/(3 "
             "V) times the covariance of E and ln psi",
     .inputs = {"pressure", "energy", "ln_psi", "energy_ln_psi"}, .derive = derive_fixed,
     .applies = has_b},
    {ERGO_NAMED("acceptance", ""), .help = "of single-atom moves", ERGO_COLUMN(3)},
    {ERGO_NAMED("energy_sigma", "K per atom"),
     .help = "sigma_0 of Eq. 10: spread of one walker's energy", .inputs = {"energy", "energy2"},
     .derive = ergo_mean_width},
    {ERGO_NAMED("ln_psi", "per atom"), .help = "mean ln psi / N", ERGO_COLUMN(5)},
    HELIUM_LINDEMANN,
    HELIUM_CONDENSATE(""),
    {ERGO_NAMED("b_optimum", "A"),
     .help =
         "b of the least energy, by correlated sampling (/run/optimise); at the end of the curve's "
         "range: run again from there",
     .curve = "b_moments", .from_curve = curve_b},
    {ERGO_NAMED("energy_minimum", "K per atom"), .help = "energy at b_optimum",
     .curve = "b_moments", .from_curve = curve_energy},
    OPTIMISED("energy_before", "K per atom", HELIUM_NUMBER_ENERGY, optimises_all,
              "energy of the job's wave function, before the first update (/run/optimise all)"),
    OPTIMISED_AS(ERGO_FACT_ERROR, "energy_before_error", "K per atom", HELIUM_NUMBER_ERROR,
                 optimises_all, "its standard error; of several replicas, that of their mean"),
    OPTIMISED("energy_before_sigma", "K per atom", HELIUM_NUMBER_SIGMA, optimises_all,
              "spread of one walker's energy then, as energy_sigma is now"),
    OPTIMISED("optimised_b", "A", HELIUM_NUMBER_B, optimises_b_too,
              "b of the optimised wave function"),
    OPTIMISED("optimised_strength", "1/A^2", HELIUM_NUMBER_STRENGTH, optimises_triplet,
              "/system/triplet/strength of it"),
    OPTIMISED("optimised_centre", "A", HELIUM_NUMBER_CENTRE, optimises_triplet,
              "/system/triplet/centre of it"),
    OPTIMISED("optimised_width", "A", HELIUM_NUMBER_WIDTH, optimises_triplet,
              "/system/triplet/width of it"),
    {ERGO_NAMED("energy2", "K^2"), .help = "input", ERGO_COLUMN(6), .hidden = true},
    {ERGO_NAMED("energy_ln_psi", "K per atom"), .help = "input", ERGO_COLUMN(7), .hidden = true},
};

static const struct ergo_curve_info curves[] = {
    {"gr", "r / A", "", "pair distribution function g(r), 1 in an ideal gas"},
    {"sk", "k / (1/A)", "", "static structure factor S(k)"},
    {"b_moments", "b / A", "",
     "correlated sampling: energy times weight at each b, then the weights (/run/optimise)"},
    {"optimisation", "update", "K per atom",
     "energy as the parameters change, mean of the walkers at one macroupdate (/run/optimise all)"},
    {"wave_function", "r / A", "",
     "optimised u(r), without what /system/triplet adds to it: as a file of lines \"r u\" it is a "
     "/system/wave_function with symmetrised false"},
    {"parameters", "number", "", "inputs of observables (/run/optimise all)"},
    HELIUM_SITE_CURVES,
    HELIUM_DENSITY_CURVES(""),
    HELIUM_PAIR_MAP(""),
};

static const struct ergo_curve_ratio ratio = {
    "b_moments", "energy", "K per atom",
    "energy against b by correlated sampling of the chain at one b (/run/optimise): its minimum is "
    "b_optimum. Far from the chain's own b few samples carry the weight"};

static const struct ergo_tunable tunables[] = {
    {ERGO_TUNABLE(ergo_parameters, path),
     "0 automatic, 3 a walker per work-item with explicit vectors (CPUs), 4 a work-group a walker, "
     "positions in registers, 5 many work-groups a walker, 6 a work-group a walker, all pairs "
     "before "
     "the decisions",
     3, 6, false},
    {ERGO_TUNABLE(ergo_parameters, work_group), "work-items per walker (a power of two)", 0, 1024,
     true},
    {ERGO_TUNABLE(vmc_parameters, walkers_per_group),
     "path 4 with 32 work-items a walker in step: walkers of a work-group (a power of two)", 0, 16,
     true},
    {ERGO_TUNABLE(vmc_parameters, table_copies),
     "path 4: of the table of u, against bank conflicts (a power of two)", 0, 8, true},
    {ERGO_TUNABLE(vmc_parameters, warps),
     "path 4 on NVIDIA: 0 sums within warps by one instruction, 1 by barriers", 0, 1, false},
    {ERGO_TUNABLE(quantum_parameters, energy_group),
     "work-items that find a walker's energies (a power of two; not on CPUs)", 0, 1024, true},
    {ERGO_TUNABLE(vmc_parameters, tile), "path 5: partners per work-group (a power of two)", 0,
     4096, true},
};

static bool optimises(const struct ergo_point *point) {
    return ergo_says(of_vmc(point)->optimise, "b");
}

static size_t curve_size(const struct ergo_point *point, size_t c) {
    if (c == HELIUM_B_MOMENTS)
        return optimises(point) ? 2 * HELIUM_B_POINTS : 0;
    if (c == HELIUM_MAP)
        return helium_pair_map_size(point);
    if (c >= HELIUM_OF_DENSITY)
        return helium_density_size(point, c - HELIUM_OF_DENSITY);
    if (c >= HELIUM_OF_SITES)
        return helium_site_curve_size(point, c - HELIUM_OF_SITES);
    if (c > HELIUM_B_MOMENTS)
        return helium_optimisation_size(point, c);
    if (!of_quantum(point)->structure_every)
        return 0;
    return c == 0 ? helium_gr_size(point) : helium_sk_size(point);
}

static void curve_x(const struct ergo_point *point, size_t c, double *x) {
    if (c == 0)
        helium_gr_x(point, x);
    else if (c == 1)
        helium_sk_x(point, x);
    else if (c == HELIUM_B_MOMENTS)
        helium_b_x(point, x);
    else if (c == HELIUM_MAP)
        helium_pair_map_x(point, x);
    else if (c >= HELIUM_OF_DENSITY)
        helium_density_x(point, c - HELIUM_OF_DENSITY, x);
    else if (c >= HELIUM_OF_SITES)
        helium_site_curve_x(point, c - HELIUM_OF_SITES, x);
    else
        helium_optimisation_x(point, c, x);
}

/* kinetic_difference is 0 by partial integration if the slope of u has no jump. A function from
 * a file that is not symmetrised may have one. */
static double exact(const struct ergo_point *point, const char *observable) {
    const bool ideal =
        of_quantum(point)->b == 0.0 && !helium_has_sites(point) && !helium_has_triplet(point);
    if (strcmp(observable, "kinetic_difference") == 0 && !ideal && of_quantum(point)->symmetrised)
        return 0.0;
    return NAN;
}

/* m_c of the energy (Eq. 12) in liquid helium at an acceptance of 0.37. Measured with 64 atoms:
 * 0.74(2). */
static double correlation(const struct ergo_point *point) {
    (void)point;
    return 0.8;
}

static const struct ergo_sampler_ops ops = {
    .engine = &helium_engine,
    .init = helium_init,
    .save = ergo_fields_save,
    .load = ergo_fields_load,
    .carry = helium_carry,
    .frame = helium_frame,
};

static const char *const first_job[] = {"/system/n=32",           "/system/walkers=8",
                                        "/run/equilibration=200", "/run/sweeps=4000",
                                        "/run/measure_every=4",   NULL};

static const struct ergo_model model = {
    .programs = {"helium_vmc/energy.cl", "helium/lattice.cl", "helium_vmc/start.cl",
                 "helium_vmc/walk_lanes.cl", "helium_vmc/walk_registers.cl",
                 "helium_vmc/walk_pairs.cl", "helium_vmc/blocks.cl", "helium_vmc/walk_triplet.cl",
                 "helium/density.cl"},
    .first = first_job,
    .parameters = sizeof(struct vmc_parameters),
    .keys = {HELIUM_LIQUID_KEYS,
             HELIUM_ONE_BODY_KEYS,
             HELIUM_TRIPLET_KEYS,
             {keys, sizeof keys / sizeof keys[0]},
             HELIUM_STRUCTURE_KEYS},
    ERGO_TABLE(columns, columns),
    ERGO_TABLE(observables, observables),
    .ratio = &ratio,
    ERGO_TABLE(curves, curves),
    .curves_hidden = 1u << HELIUM_PARAMETERS,
    .curves_grids = 1u << HELIUM_MAP,
    ERGO_TABLE(tunables, tunables),
    .trajectory = "extended XYZ of the first walkers (/run/frame_walkers), a frame each",
    .check = helium_check,
    .curve_size = curve_size,
    .curve_x = curve_x,
    .curve_every = helium_curve_every,
    .exact = exact,
    .correlation = correlation,
    .ops = &ops,
};

static const struct ergo_model *const models[] = {&model};

const struct ergo_sampler ergo_helium_vmc = {
    .name = "helium-vmc",
    .summary = "Variational Monte Carlo of liquid helium-4: Jastrow wave function, Aziz potential",
    .citation = "Y. Lutsyshyn, Fast quantum Monte Carlo on a GPU, Comput. Phys. Commun. 187, 162 "
                "(2015)",
    .step_name = "macroupdate",
    .rate_unit = "pair visits per second",
    .state_version = 1,
    .models = models,
    .n_models = 1,
};
