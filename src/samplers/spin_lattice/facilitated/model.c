/* Facilitated dynamics: the tables of three models. */
#include "samplers/spin_lattice/facilitated/facilitated.h"
#include "samplers/spin_lattice/models.h"

static const char *const methods[] = {"exact", "serial", "lambda", NULL};
static const char *const divisions[] = {"shifted", "fixed", "coloured", NULL};

static bool is_lambda(const struct ergo_point *point) {
    return model_says(point, "/system/method", "lambda");
}

static const struct ergo_key keys[] = {
    {ERGO_KEY("/system/size", SIZE),
     .flags = ERGO_KEY_FORM | ERGO_KEY_REQUIRED | ERGO_KEY_SCAN | ERGO_KEY_SHAPE | ERGO_KEY_CHAIN,
     .min = 2, .max = 1048576, .min_items = 1, .max_items = 3, .unit = "sites",
     .help = "Lattice sides [Lx, Ly], periodic; of east and fredrickson-andersen also a chain, "
             "[Lx], of fredrickson-andersen without a coupling also [Lx, Ly, Lz]. A side of 2 has "
             "two bonds between the same neighbours."},
    {ERGO_KEY("/system/up_density", REAL),
     .flags = ERGO_KEY_SCAN | ERGO_KEY_CHAIN | ERGO_KEY_EXCLUDES_MIN, .min = 0, .max = 1,
     .unit = "per site",
     .help = "Density c of up spins, instead of temperature and field; c = 1/(1 + exp(2 B/T)). "
             "Without a temperature T = 1, so that energies are in k_B T. The infinite north-east "
             "model has frozen spins below c* = 0.294515 (directed site percolation)."},
    {ERGO_KEY("/system/temperature", REAL),
     .flags = ERGO_KEY_SCAN | ERGO_KEY_CHAIN | ERGO_KEY_EXCLUDES_MIN, .min = 0, .max = 1e12,
     .unit = "J/k_B",
     .help = "Temperature T in the energy unit of coupling and field (k_B = 1). Needed, but with "
             "up_density."},
    {ERGO_KEY("/system/coupling", REAL), .flags = ERGO_KEY_SCAN | ERGO_KEY_CHAIN, .fallback = "0",
     .stream = "1", .min = -1e6, .max = 1e6, .unit = "J",
     .help = "Coupling J in H = J sum s_i s_j + B sum s_i, at most 50 T: positive is "
             "antiferromagnetic, negative "
             "ferromagnetic."},
    {ERGO_KEY("/system/field", REAL), .flags = ERGO_KEY_SCAN | ERGO_KEY_CHAIN, .fallback = "0",
     .min = -1e6, .max = 1e6, .unit = "J",
     .help = "Magnetic field B: positive prefers down. Only without up_density, which gives it."},
    {ERGO_KEY("/system/dynamics", ENUM), .flags = ERGO_KEY_CHAIN | ERGO_KEY_SHAPE,
     .fallback = "\"metropolis\"", .choices = model_dynamics, .unit = "",
     .help = "Single-spin rule: metropolis, flip with min(1, exp(-dE/T)); heat-bath, flip with "
             "1/(1 + exp(dE/T)). One site goes after the other, in random order."},
    {ERGO_KEY("/system/start", ENUM), .flags = ERGO_KEY_CHAIN | ERGO_KEY_SHAPE,
     .fallback = "\"random\"", .choices = model_starts, .unit = "",
     .help = "Starting configuration. random: every spin is up with probability c, which is "
             "stationary without a coupling."},
    {ERGO_KEY("/system/method", ENUM), .flags = ERGO_KEY_FORM | ERGO_KEY_SHAPE,
     .fallback = "\"exact\"", .choices = methods, .unit = "",
     .help = "How: serial, each realisation with its own random sequence of sites; exact, 32 "
             "realisations share a sequence of sites, with their own starts and acceptances, and "
             "attempts that do not meet go in parallel. Each realisation alone is exactly "
             "random-sequential in both (the first of 32 is even the same chain); errors come from "
             "groups of 32, which are independent. exact is some 32 times faster. lambda is the "
             "paper's approximation (section III.2), picks at a time in sub-lattices, for 32 "
             "realisations as in exact."},
    {ERGO_KEY("/system/lambda", INT), .flags = ERGO_KEY_SCAN | ERGO_KEY_SHAPE | ERGO_KEY_CHAIN,
     .min = 0, .max = 512, .unit = "picks",
     .help = "Method lambda: picks at the same time in each sub-lattice of 32 x 32, a power of "
             "two; 16 if not given (Levy, Cohen, Rabani 2010, Fig. 5). 0: the exact order. A scan "
             "that includes 0 is a calibration: the others are compared with it.",
     .acts = is_lambda, .where = "with method lambda"},
    {ERGO_KEY("/system/sublattices", ENUM), .flags = ERGO_KEY_SHAPE, .choices = divisions,
     .unit = "",
     .help = "Method lambda: how the lattice is divided. shifted (if not given): at another random "
             "place twice per sweep; fixed: always the same (the paper's); coloured: sub-lattices "
             "that do not touch, and in them sites of one colour, so that balance is kept (the "
             "paper's slower variant; sides are multiples of 64).",
     .acts = is_lambda, .where = "with method lambda"},
    {ERGO_KEY("/system/realisations", INT), .flags = ERGO_KEY_FORM | ERGO_KEY_SCAN | ERGO_KEY_SHAPE,
     .fallback = "1024", .min = 1, .max = 33554432, .unit = "",
     .help = "Realisations to average over within a chain of the job, a multiple of 32 for method "
             "exact. Honest errors of the relaxation time need 20 groups, that is 640; serial: 20. "
             "More keep the first ones as they were."},
    {ERGO_KEY("/system/waiting_time", INT), .flags = ERGO_KEY_SCAN | ERGO_KEY_SHAPE,
     .fallback = "0", .min = 0, .max = 9007199254740992, .unit = "sweeps",
     .help =
         "The first of /run/sweeps, less than all, before t = 0 of the curves: the age at t = 0, "
         "counted from "
         "the end of /run/equilibration. Energy and magnetization are measured in them, too, "
         "frozen_fraction and the curves are of t >= 0. Scanned, it gives two-time functions: the "
         "same chains at each age."},
    {ERGO_KEY("/run/chi4", BOOL), .flags = ERGO_KEY_SHAPE, .fallback = "false", .unit = "",
     .help = "Measure fluctuations between realisations, too: the curves chi4 and chi4_overlap. At "
             "least three groups of them (/system/realisations). The chain is the same, but its "
             "state has more counts."},
};

static const struct ergo_key facilitation_key = {
    .pointer = "/system/facilitation",
    .type = ERGO_KEY_INT,
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
    {ERGO_NAMED("energy", "J per site"), .help = "mean energy per site", .sample = model_energy,
     .slow = slow_frozen},
    {ERGO_NAMED("magnetization", "per site"), .help = "mean m", .sample = model_m,
     .slow = slow_frozen},
    {ERGO_NAMED("up_density", "per site"),
     .help = "density of up spins, mean over the times of its curve, which crowd at the beginning: "
             "of one that still changes, take the curve; errors of this and the following from "
             "groups of 32 realisations, which are independent",
     .curve = "up_density", .from_curve = ergo_curve_mean, .independent = true,
     .more = "/system/realisations"},
    {ERGO_NAMED("frozen_fraction", "per site"),
     .help = "sites that can never flip, by the closure of the spins at t = 0 under the constraint",
     .curve = "frozen", .from_curve = ergo_curve_first, .independent = true,
     .more = "/system/realisations"},
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
    {"path",
     "0 automatic, 1 windows of attempts in a work-group, 2 many work-groups with tiles and halos, "
     "3 one work-item for each 32 realisations",
     0, 3, false},
    {"work_group", "attempts per window (a power of two)", 0, 1024, true},
    {"tile_rows", "path 2: rows per work-group", 0, 4096, false},
    {"tile_columns", "path 2: columns per work-group", 0, 4096, false},
    {"halo", "path 2: sites around a tile; where it was too small, work is repeated", 0, 64, false},
    {"segment", "path 2: attempts between exchanges of tiles", 0, 262144, false},
};

#define FACILITATED_TABLES                                                                         \
    .programs = {"spin_lattice/facilitated.cl", "spin_lattice/facilitated_tiles.cl",               \
                 "spin_lattice/facilitated_lambda.cl"},                                            \
    .columns = columns, .n_columns = COLUMNS, .observables = observables,                          \
    .n_observables = sizeof observables / sizeof observables[0], .curves = curves,                 \
    .n_curves = FACILITATED_CURVES, .curves_at_end = (1u << FACILITATED_CURVES) - 1,               \
    .tunables = tunables, .n_tunables = sizeof tunables / sizeof tunables[0],                      \
    .frame_suffix = "vti", .has_frames = model_has_frames,                                         \
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
    .summary = "Facilitated dynamics, H = J sum s_i s_j + B sum s_i with J = 0 by default (Levy, "
               "Cohen, Rabani 2010, Eq. 1): a spin may flip while its north and east neighbours "
               "are up (section III.2).",
    .first = first_job,
    .keys = {{keys, sizeof keys / sizeof keys[0]}},
};

const struct ergo_model north_or_east_model = {
    FACILITATED_TABLES,
    .name = "north-or-east",
    .summary =
        "Facilitated dynamics, energies as of north-east: a spin may flip while its north or "
        "its east neighbour is up, in two dimensions; nothing but the state of all spins "
        "down is frozen (Garrahan, Chandler 2003, have its like in three dimensions).",
    .first = first_job,
    .keys = {{keys, sizeof keys / sizeof keys[0]}},
};

const struct ergo_model fredrickson_andersen_model = {
    FACILITATED_TABLES,
    .name = "fredrickson-andersen",
    .summary =
        "Facilitated dynamics, energies as of north-east: a spin may flip while at least "
        "/system/facilitation of its neighbours are up, in one to three dimensions (Fredrickson, "
        "Andersen 1984).",
    .first = first_job,
    .keys = {{keys, sizeof keys / sizeof keys[0]}, {&facilitation_key, 1}},
};

const struct ergo_model east_model = {
    FACILITATED_TABLES,
    .name = "east",
    .summary = "Facilitated dynamics, energies as of north-east: a spin may flip while its east "
               "neighbour is up, on a chain, or each row a chain of its own (Jackle, Eisinger "
               "1991).",
    .first = first_job,
    .keys = {{keys, sizeof keys / sizeof keys[0]}},
};
