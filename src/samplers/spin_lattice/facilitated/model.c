/* Facilitated dynamics: the tables of three models. */
#include "samplers/spin_lattice/facilitated/facilitated.h"
#include "samplers/spin_lattice/facilitated/parameters.h"
#include "samplers/spin_lattice/models.h"

static const char *const methods[] = {"exact", "serial", "lambda", NULL};
static const char *const divisions[] = {"shifted", "fixed", "coloured", NULL};

static bool is_lambda(const struct ergo_point *point) {
    return ergo_says(of_facilitated(point)->method, "lambda");
}

static const struct ergo_key keys[] = {
    {LATTICE_SIZE(1, 3, 1048576),
     .help = "Lattice sides [Lx, Ly], periodic; of east and fredrickson-andersen also a chain, "
             "[Lx], of fredrickson-andersen without a coupling also [Lx, Ly, Lz]. A side of 2 has "
             "two bonds between the same neighbours."},
    {FACILITATED_KEY(up_density, "/system/up_density", REAL),
     .flags = ERGO_KEY_SCAN | ERGO_KEY_CHAIN, .min = 1e-12, .max = 1, .unit = "per site",
     .help = "Density c of up spins, below 1, instead of temperature and field; c = 1/(1 + "
             "exp(2 B/T)). Without a temperature T = 1, so that energies are in k_B T. The "
             "infinite north-east model has frozen spins below c* = 0.294515 (directed site "
             "percolation)."},
    {LATTICE_TEMPERATURE(0), .help = "Temperature T in the energy unit of coupling and field (k_B "
                                     "= 1). Needed, but with up_density."},
    {LATTICE_ENERGY_KEY(coupling, "/system/coupling", "0"), .stream = "1",
     .help = "Coupling J in H = J sum s_i s_j + B sum s_i, at most 50 T: positive is "
             "antiferromagnetic, negative ferromagnetic."},
    {LATTICE_ENERGY_KEY(field, "/system/field", "0"),
     .help = "Magnetic field B: positive prefers down. Only without up_density, which gives it."},
    {LATTICE_DYNAMICS(model_dynamics),
     .help = "Single-spin rule: metropolis, flip with min(1, exp(-dE/T)); heat-bath, flip with "
             "1/(1 + exp(dE/T)). One site goes after the other, in random order."},
    {LATTICE_START(model_starts), .help = "Starting configuration. random: every spin is up with "
                                          "probability c, which is stationary without a coupling."},
    {FACILITATED_KEY(method, "/system/method", ENUM), .flags = ERGO_KEY_FORM | ERGO_KEY_SHAPE,
     .fallback = "\"exact\"", .choices = methods, .unit = "",
     .help = "How: serial, each realisation with its own random sequence of sites; exact, 32 "
             "realisations share a sequence of sites, with their own starts and acceptances, and "
             "attempts that do not meet go in parallel. Each realisation alone is exactly "
             "random-sequential in both (the first of 32 is even the same chain); errors come from "
             "groups of 32, which are independent. exact is some 32 times faster. lambda is the "
             "paper's approximation (section III.2), picks at a time in sub-lattices, for 32 "
             "realisations as in exact."},
    {FACILITATED_KEY(lambda, "/system/lambda", INT),
     .flags = ERGO_KEY_SCAN | ERGO_KEY_SHAPE | ERGO_KEY_CHAIN, .min = 0, .max = 512,
     .unit = "picks",
     .help = "Method lambda: picks at the same time in each sub-lattice of 32 x 32, a power of "
             "two; 16 if not given (Levy, Cohen, Rabani 2010, Fig. 5). 0: the exact order. A scan "
             "that includes 0 is a calibration: the others are compared with it.",
     .acts = is_lambda, .where = "with method lambda"},
    {FACILITATED_KEY(sublattices, "/system/sublattices", ENUM), .flags = ERGO_KEY_SHAPE,
     .choices = divisions, .unit = "",
     .help = "Method lambda: how the lattice is divided. shifted (if not given): at another random "
             "place twice per sweep; fixed: always the same (the paper's); coloured: sub-lattices "
             "that do not touch, and in them sites of one colour, so that balance is kept (the "
             "paper's slower variant; sides are multiples of 64).",
     .acts = is_lambda, .where = "with method lambda"},
    {FACILITATED_KEY(realisations, "/system/realisations", INT),
     .flags = ERGO_KEY_FORM | ERGO_KEY_SCAN | ERGO_KEY_SHAPE, .fallback = "1024", .min = 1,
     .max = 33554432, .unit = "",
     .help = "Realisations to average over within a chain of the job, a multiple of 32 for method "
             "exact. Honest errors of the relaxation time need 20 groups, that is 640; serial: 20. "
             "More keep the first ones as they were."},
    {LATTICE_KEY(waiting_time, "/system/waiting_time", INT),
     .flags = ERGO_KEY_SCAN | ERGO_KEY_SHAPE, .fallback = "0", .min = 0, .max = 9007199254740992,
     .unit = "sweeps",
     .help =
         "The first of /run/sweeps, less than all, before t = 0 of the curves: the age at t = 0, "
         "counted from "
         "the end of /run/equilibration. Energy and magnetization are measured in them, too, "
         "frozen_fraction and the curves are of t >= 0. Scanned, it gives two-time functions: the "
         "same chains at each age."},
    {LATTICE_KEY(chi4, "/run/chi4", BOOL), .flags = ERGO_KEY_SHAPE, .fallback = "false", .unit = "",
     .help = "Measure fluctuations between realisations, too: the curves chi4 and chi4_overlap. At "
             "least three groups of them (/system/realisations). The chain is the same, but its "
             "state has more counts."},
};

static const struct ergo_key facilitation_key = {
    FACILITATED_KEY(facilitation, "/system/facilitation", INT),
    .flags = ERGO_KEY_SCAN | ERGO_KEY_SHAPE | ERGO_KEY_CHAIN,
    .fallback = "1",
    .stream = "",
    .min = 1,
    .max = 6,
    .unit = "neighbours",
    .help = "Neighbours that have to be up, at most those that a site has (their paper of 1984 "
            "looks at 2 on the square lattice)."};

static const struct ergo_column columns[COLUMNS] = {
    {"energy", "per site", "U/N = (J sum s s + B sum s)/N, mean over realisations"},
    {"magnetization", "per site", "sum s / N, mean over realisations"},
};

static const char *slow_frozen(const struct ergo_point *point) {
    (void)point;
    return "frozen spins never change, and slow ones hardly; up_density has honest errors, from "
           "independent realisations";
}

static const struct ergo_observable observables[] = {
    {ERGO_NAMED("energy", "J per site"), .help = "mean energy per site", ERGO_COLUMN(COLUMN_ENERGY),
     .slow = slow_frozen},
    LATTICE_MAGNETIZATION(slow_frozen, NULL),
    {ERGO_NAMED("up_density", "per site"),
     .help = "density of up spins, mean over the times of its curve, which crowd at the beginning: "
             "of one that still changes, take the curve; errors of this and the following from "
             "groups of 32 realisations, which are independent",
     .curve = "up_density", .from_curve = ergo_curve_mean, .independent = true,
     .more = "/system/realisations"},
    {ERGO_NAMED("frozen_fraction", "per site"),
     .help = "sites that can never flip, by the closure of the spins at t = 0 under the constraint",
     .curve = "frozen", .independent = true, .more = "/system/realisations"},
    {ERGO_NAMED("relaxation_time", "sweeps"),
     .help = "where phi falls to 1/e, straight lines over log t between the curve's times",
     .curve = "phi", .from_curve = fac_relaxation_time, .independent = true,
     .more = "/system/realisations", .applies = fac_has_phi},
    {ERGO_NAMED("phi_mean", ""),
     .help = "mean of phi over the times of its curve, which crowd at the beginning",
     .curve = "phi", .from_curve = ergo_curve_mean, .independent = true,
     .more = "/system/realisations", .applies = fac_has_phi},
};

static const struct ergo_curve_info curves[FACILITATED_CURVES] = {
    {"phi", "time (sweeps)", "",
     "(<s(0) s(t)> - <s(0)> <s(t)>) / (1 - <s(0)>^2), means over sites and "
     "realisations at fixed times, without their bias: in equilibrium Levy, Cohen, Rabani 2010, "
     "Eq. 4, with its missing 1/N; none where all spins are alike at t = 0"},
    {"autocorrelation", "time (sweeps)", "",
     "<s(0) s(t)> of a site, from which nothing is subtracted"},
    {"persistence", "time (sweeps)", "per site", "sites that have not flipped since t = 0"},
    {"up_density", "time (sweeps)", "per site", "density of up spins"},
    {"frozen", "time (sweeps)", "per site", "sites that can never flip, by the closure test"},
    {"chi4", "time (sweeps)", "",
     "N (<p^2> - <p>^2) over realisations, p the share of a realisation's spins that have not "
     "flipped since t = 0, without bias (Toninelli, Wyart, Berthier, Biroli, Bouchaud 2005)"},
    {"chi4_overlap", "time (sweeps)", "",
     "N (<q^2> - <q>^2) over realisations of the overlap q = sum s(0) s(t) / N"},
};

static const struct ergo_tunable tunables[] = {
    {ERGO_TUNABLE(ergo_parameters, path),
     "0 automatic, 1 windows of attempts in a work-group, 2 many work-groups with tiles and halos, "
     "3 one work-item for each 32 realisations",
     0, 3, false},
    {ERGO_TUNABLE(ergo_parameters, work_group), "attempts per window (a power of two)", 0, 1024,
     true},
    {ERGO_TUNABLE(lattice_parameters, tile_rows), "path 2: rows per work-group", 0, 4096, false},
    {ERGO_TUNABLE(facilitated_parameters, tile_columns), "path 2: columns per work-group", 0, 4096,
     false},
    {ERGO_TUNABLE(facilitated_parameters, halo),
     "path 2: sites around a tile; where it was too small, work is repeated", 0, 64, false},
    {ERGO_TUNABLE(facilitated_parameters, segment), "path 2: attempts between exchanges of tiles",
     0, 262144, false},
};

#define FACILITATED_TABLES                                                                         \
    .programs = {"spin_lattice/facilitated.cl", "spin_lattice/facilitated_tiles.cl",               \
                 "spin_lattice/facilitated_lambda.cl"},                                            \
    ERGO_TABLE(columns, columns), ERGO_TABLE(observables, observables),                            \
    ERGO_TABLE(curves, curves), .curves_at_end = (1u << FACILITATED_CURVES) - 1,                   \
    ERGO_TABLE(tunables, tunables), .frame_suffix = "vti", .has_frames = model_has_frames,         \
    .trajectory = "configurations of the first realisation as VTK image data, a value for each "   \
                  "site, of lattices up to 2^22 sites",                                            \
    .check = fac_check, .form = fac_form, .curve_size = fac_curve_size, .curve_x = fac_curve_x,    \
    .exact = fac_exact, .reference = fac_reference, .state_tail = fac_state_tail,                  \
    .ops = &facilitated_ops

static const char *const first_job[] = {"/system/size=[64, 64]",   "/system/up_density=0.5",
                                        "/system/realisations=64", "/run/sweeps=500",
                                        "/run/measure_every=10",   NULL};

const struct ergo_model north_east_model = {
    FACILITATED_TABLES,
    .name = "north-east",
    .rule = &(const struct fac_rule){1 | 2, 2, .fewest = 2, .most = 2},
    .summary = "Facilitated dynamics, H = J sum s_i s_j + B sum s_i with J = 0 by default (Levy, "
               "Cohen, Rabani 2010, Eq. 1): a spin may flip while its north and east neighbours "
               "are up (section III.2).",
    .first = first_job,
    .parameters = sizeof(struct facilitated_parameters),
    .keys = {{keys, sizeof keys / sizeof keys[0]}},
};

const struct ergo_model north_or_east_model = {
    FACILITATED_TABLES,
    .name = "north-or-east",
    .rule = &(const struct fac_rule){1 | 2, 1, .fewest = 2, .most = 2},
    .summary =
        "Facilitated dynamics, energies as of north-east: a spin may flip while its north or "
        "its east neighbour is up, in two dimensions; nothing but the state of all spins "
        "down is frozen (Garrahan, Chandler 2003, have its like in three dimensions).",
    .first = first_job,
    .parameters = sizeof(struct facilitated_parameters),
    .keys = {{keys, sizeof keys / sizeof keys[0]}},
};

const struct ergo_model fredrickson_andersen_model = {
    FACILITATED_TABLES,
    .name = "fredrickson-andersen",
    .rule = &(const struct fac_rule){1 | 2 | 4 | 8, 0, .fewest = 1, .most = 3},
    .summary =
        "Facilitated dynamics, energies as of north-east: a spin may flip while at least "
        "/system/facilitation of its neighbours are up, in one to three dimensions (Fredrickson, "
        "Andersen 1984).",
    .first = first_job,
    .parameters = sizeof(struct facilitated_parameters),
    .keys = {{keys, sizeof keys / sizeof keys[0]}, {&facilitation_key, 1}},
};

const struct ergo_model east_model = {
    FACILITATED_TABLES,
    .name = "east",
    .rule = &(const struct fac_rule){2, 1, .fewest = 1, .most = 2},
    .summary = "Facilitated dynamics, energies as of north-east: a spin may flip while its east "
               "neighbour is up, on a chain, or each row a chain of its own (Jackle, Eisinger "
               "1991).",
    .first = first_job,
    .parameters = sizeof(struct facilitated_parameters),
    .keys = {{keys, sizeof keys / sizeof keys[0]}},
};
