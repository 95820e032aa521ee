/* spin-lattice: the tables of the sampler, and what can be said of a job without a device. */
#include "samplers/spin_lattice/spin_lattice.h"

#include <math.h>
#include <string.h>

#include "samplers/spin_lattice/bytes.h"
#include "samplers/spin_lattice/exact.h"
#include "samplers/spin_lattice/facilitated.h"
#include "samplers/spin_lattice/glass.h"
#include "samplers/spin_lattice/models.h"

static const char *const models[] = {
    "ising", "north-east", "fredrickson-andersen", "east", "potts", "spin-glass", NULL};
static const char *const methods[] = {"exact", "serial", "lambda", NULL};
static const char *const divisions[] = {"shifted", "fixed", "coloured", NULL};
static const char *const dynamics[] = {"metropolis", "heat-bath", NULL};
static const char *const disorders[] = {"bimodal", "gaussian", NULL};
static const char *const spacings[] = {"geometric", "linear", "inverse", NULL};
static const char *const starts[] = {"up", "down", "random", NULL};

static const struct ergo_key keys[] = {
    {.pointer = "/system/model",
     .type = ERGO_KEY_ENUM,
     .flags = ERGO_KEY_SHAPE | ERGO_KEY_CHAIN,
     .fallback = "\"ising\"",
     .choices = models,
     .unit = "",
     .help = "Model. ising: H = -J sum s_i s_j - B sum s_i over nearest neighbours, s = +-1 (Levy, "
             "Cohen, Rabani 2010, Eq. 2; their Eq. 1 has the opposite sign). Facilitated dynamics, "
             "H = J sum s_i s_j + B sum s_i (Eq. 1's signs) with J = 0 by default: north-east, a "
             "spin may flip while its north and east neighbours are up (section III.2); east, "
             "while its east neighbour is up, each row a chain of its own (Jackle, Eisinger 1991); "
             "fredrickson-andersen, while at least /system/facilitation of its four neighbours are "
             "up (Fredrickson, Andersen 1984). potts: H = -J sum (delta(s_i, s_j) - 1), s = 0 .. q "
             "- 1, by single spins (swendsen-wang has clusters). spin-glass: H = -sum J_ij s_i s_j "
             "with random J_ij in two or three dimensions (Edwards, Anderson 1975)."},
    {.pointer = "/system/q",
     .type = ERGO_KEY_INT,
     .flags = ERGO_KEY_SCAN | ERGO_KEY_SHAPE | ERGO_KEY_CHAIN,
     .min = 2,
     .max = 256,
     .unit = "states",
     .help = "Model potts: number of states; 3 if not given. The infinite square lattice is "
             "critical at T = 1/ln(1 + sqrt q)."},
    {.pointer = "/system/size",
     .type = ERGO_KEY_SIZE,
     .flags = ERGO_KEY_REQUIRED | ERGO_KEY_SCAN | ERGO_KEY_SHAPE | ERGO_KEY_CHAIN,
     .min = 2,
     .max = 1048576,
     .min_items = 1,
     .max_items = 3,
     .unit = "sites",
     .help =
         "Lattice sides, periodic: ising and potts [Lx], [Lx, Ly] or [Lx, Ly, Lz], all even (the "
         "checkerboard needs it); spin-glass [Lx, Ly] or [Lx, Ly, Lz], even; facilitated dynamics "
         "[Lx, Ly]. A "
         "side of 2 has two bonds between the same neighbours."},
    {.pointer = "/system/temperature",
     .type = ERGO_KEY_REAL,
     .flags = ERGO_KEY_SCAN | ERGO_KEY_CHAIN | ERGO_KEY_EXCLUDES_MIN,
     .min = 0,
     .max = 1e12,
     .unit = "J/k_B",
     .help = "Temperature T in the energy unit of coupling and field (k_B = 1). The infinite "
             "Ising lattice is critical at 2/ln(1+sqrt 2) = 2.269185 for J = 1. Needed, but for "
             "facilitated dynamics with up_density."},
    {.pointer = "/system/up_density",
     .type = ERGO_KEY_REAL,
     .flags = ERGO_KEY_SCAN | ERGO_KEY_CHAIN | ERGO_KEY_EXCLUDES_MIN,
     .min = 0,
     .max = 1,
     .unit = "per site",
     .help = "Facilitated dynamics: density c of up spins, instead of temperature and field; c = "
             "1/(1 + exp(2 B/T)). Without a temperature T = 1, so that energies are in k_B T. The "
             "infinite north-east model has frozen spins below c* = 0.294515 (directed site "
             "percolation)."},
    {.pointer = "/system/coupling",
     .type = ERGO_KEY_REAL,
     .flags = ERGO_KEY_SCAN | ERGO_KEY_CHAIN,
     .fallback = "1",
     .min = -1e6,
     .max = 1e6,
     .unit = "J",
     .help = "Coupling J: for ising positive is ferromagnetic, negative antiferromagnetic, for "
             "facilitated dynamics the other way round (see model), and 0 unless it is given."},
    {.pointer = "/system/field",
     .type = ERGO_KEY_REAL,
     .flags = ERGO_KEY_SCAN | ERGO_KEY_CHAIN,
     .fallback = "0",
     .min = -1e6,
     .max = 1e6,
     .unit = "J",
     .help = "Magnetic field B: for ising positive prefers up, for facilitated dynamics down."},
    {.pointer = "/system/couplings",
     .type = ERGO_KEY_REALS,
     .flags = ERGO_KEY_CHAIN,
     .min = -1e6,
     .max = 1e6,
     .min_items = 1,
     .max_items = 3,
     .unit = "J",
     .help =
         "Models ising and potts: a coupling for each direction, [Jx, Jy, Jz], instead of one."},
    {.pointer = "/system/random_field",
     .type = ERGO_KEY_REAL,
     .flags = ERGO_KEY_SCAN | ERGO_KEY_CHAIN,
     .min = 0,
     .max = 1e6,
     .unit = "J",
     .help =
         "Model ising: h of a random field h f_i beside the uniform one (Imry, Ma 1975); f_i by "
         "field_distribution, or from field_file (h is 1 then, if not given). It depends on "
         "seed (or disorder_seed) and replica, not on the temperature."},
    {.pointer = "/system/field_distribution",
     .type = ERGO_KEY_ENUM,
     .flags = ERGO_KEY_SHAPE | ERGO_KEY_CHAIN,
     .choices = disorders,
     .unit = "",
     .help = "Model ising: f_i of the random field: bimodal (if not given), +1 or -1 with "
             "probability 1/2; gaussian, of mean 0 and variance 1."},
    {.pointer = "/system/field_file",
     .type = ERGO_KEY_STRING,
     .flags = ERGO_KEY_SHAPE | ERGO_KEY_FILE,
     .unit = "",
     .help = "Model ising: a file with f_i of each site, numbers up to 1e6 in the order x fastest, "
             "then y, then z, with blanks or ends of lines between them; # a comment. Fields and "
             "couplings are rounded to 2^-28 of the largest force on a spin, or finer."},
    {.pointer = "/system/dynamics",
     .type = ERGO_KEY_ENUM,
     .flags = ERGO_KEY_CHAIN | ERGO_KEY_SHAPE,
     .fallback = "\"metropolis\"",
     .choices = dynamics,
     .unit = "",
     .help = "Single-spin rule: metropolis, flip with min(1, exp(-dE/T)); heat-bath, flip with "
             "1/(1 + exp(dE/T)). ising: sites of one colour of the checkerboard together; "
             "facilitated: one site after the other, in random order. Ising Metropolis "
             "without a field never leaves, and never enters, configurations in which every spin "
             "has two up and two down neighbours: of any weight only on lattices of a side up to "
             "4 (2e-4 at T = 4 on 4 x 4)."},
    {.pointer = "/system/start",
     .type = ERGO_KEY_ENUM,
     .flags = ERGO_KEY_CHAIN | ERGO_KEY_SHAPE,
     .fallback = "\"random\"",
     .choices = starts,
     .unit = "",
     .help = "Starting configuration. Below the critical temperature a random start can end in "
             "stripes that live very long: prefer up. Facilitated dynamics: random is every spin "
             "up with probability c, which is stationary without a coupling."},
    {.pointer = "/system/method",
     .type = ERGO_KEY_ENUM,
     .flags = ERGO_KEY_SHAPE,
     .fallback = "\"exact\"",
     .choices = methods,
     .unit = "",
     .help = "Facilitated dynamics, how: serial, each realisation with its own random sequence of "
             "sites; exact, 32 realisations share a sequence of sites, with their own starts and "
             "acceptances, and attempts that do not meet go in parallel. Each realisation alone is "
             "exactly random-sequential in both (the first of 32 is even the same chain); errors "
             "come from groups of 32, which are independent. exact is some 32 times faster. lambda "
             "is the paper's approximation (section III.2), picks at a time in sub-lattices, for "
             "32 realisations as in exact."},
    {.pointer = "/system/lambda",
     .type = ERGO_KEY_INT,
     .flags = ERGO_KEY_SCAN | ERGO_KEY_SHAPE | ERGO_KEY_CHAIN,
     .min = 0,
     .max = 512,
     .unit = "picks",
     .help = "Method lambda: picks at the same time in each sub-lattice of 32 x 32, a power of "
             "two; 16 if not given (Levy, Cohen, Rabani 2010, Fig. 5). 0: the exact order. A scan "
             "that includes 0 is a calibration: the others are compared with it."},
    {.pointer = "/system/sublattices",
     .type = ERGO_KEY_ENUM,
     .flags = ERGO_KEY_SHAPE,
     .choices = divisions,
     .unit = "",
     .help = "Method lambda: how the lattice is divided. shifted (if not given): at another random "
             "place twice per sweep; fixed: always the same (the paper's); coloured: sub-lattices "
             "that do not touch, and in them sites of one colour, so that balance is kept (the "
             "paper's slower variant; sides are multiples of 64)."},
    {.pointer = "/system/realisations",
     .type = ERGO_KEY_INT,
     .flags = ERGO_KEY_SCAN | ERGO_KEY_SHAPE,
     .fallback = "1024",
     .min = 1,
     .max = 33554432,
     .unit = "",
     .help = "Facilitated dynamics: realisations to average over within a chain of the job, a "
             "multiple of 32 for method exact. Honest errors of the relaxation time need 20 "
             "groups, that is 640; serial: 20. More keep the first ones as they were."},
    {.pointer = "/system/waiting_time",
     .type = ERGO_KEY_INT,
     .flags = ERGO_KEY_SCAN | ERGO_KEY_SHAPE,
     .min = 0,
     .max = 9007199254740992,
     .unit = "sweeps",
     .help = "Facilitated dynamics: sweeps before t = 0 of the curves (0 if not given): to "
             "equilibrate a model with a coupling, or for its ageing."},
    {.pointer = "/system/facilitation",
     .type = ERGO_KEY_INT,
     .flags = ERGO_KEY_SCAN | ERGO_KEY_SHAPE | ERGO_KEY_CHAIN,
     .min = 1,
     .max = 4,
     .unit = "neighbours",
     .help = "Model fredrickson-andersen: neighbours that have to be up; 1 if not given (their "
             "paper of 1984 looks at 2 on the square lattice)."},
    {.pointer = "/system/disorder",
     .type = ERGO_KEY_ENUM,
     .flags = ERGO_KEY_CHAIN | ERGO_KEY_SHAPE,
     .choices = disorders,
     .unit = "",
     .help = "Models spin-glass and ising: random couplings J_ij, in units of /system/coupling "
             "(ising: or of couplings): bimodal (spin-glass: if not given), +1 or -1; gaussian, of "
             "mean 0 and variance 1. Both may come from a file. ising has one sample, the first "
             "of the spin glass with the same seed."},
    {.pointer = "/system/disorder_file",
     .type = ERGO_KEY_STRING,
     .flags = ERGO_KEY_SHAPE | ERGO_KEY_FILE,
     .unit = "",
     .help = "Models spin-glass and ising: a file with the couplings: lines \"x y [z] axis J\" for "
             "the bond "
             "from a site to its neighbour in the positive direction of axis x, y or z, each bond "
             "once; \"sample\" begins the next sample; # a comment. Couplings other than 1 and -1 "
             "need disorder gaussian, and are rounded to 2^-24; ising: none does, see field_file."},
    {.pointer = "/system/disorder_seed",
     .type = ERGO_KEY_SEED,
     .flags = ERGO_KEY_SHAPE,
     .unit = "",
     .help =
         "Model spin-glass, and ising: the seed of the couplings (ising: of random fields, too); "
         "/seed if not given. Couplings depend on it and on the replica, not on the temperature: a "
         "scan over it has the same samples."},
    {.pointer = "/system/negative_fraction",
     .type = ERGO_KEY_REAL,
     .flags = ERGO_KEY_SCAN | ERGO_KEY_CHAIN,
     .min = 0,
     .max = 1,
     .unit = "",
     .help = "Models spin-glass and ising, bimodal: the probability of J = -1; 0.5 if not given. 0 "
             "is the "
             "ferromagnet."},
    {.pointer = "/system/samples",
     .type = ERGO_KEY_INT,
     .flags = ERGO_KEY_SCAN | ERGO_KEY_SHAPE,
     .min = 1,
     .max = 2097152,
     .unit = "",
     .help = "Model spin-glass: samples of the disorder within a chain of the job, a multiple of "
             "32, which share a word and random numbers; 32 if not given, from a file 1. Words are "
             "independent: their spread gives the errors of the curves, honestly from 20 words on "
             "(640 samples). More keep the first ones as they were."},
    {.pointer = "/system/copies",
     .type = ERGO_KEY_INT,
     .flags = ERGO_KEY_SHAPE | ERGO_KEY_CHAIN,
     .min = 1,
     .max = 4,
     .unit = "",
     .help = "Model spin-glass: independent copies (replicas) of each sample at each temperature, "
             "1, 2 (if not given) or 4; overlaps need 2."},
    {.pointer = "/system/ladder",
     .type = ERGO_KEY_INT,
     .flags = ERGO_KEY_SHAPE | ERGO_KEY_CHAIN,
     .min = 1,
     .max = 128,
     .unit = "temperatures",
     .help = "Model spin-glass: temperatures of parallel tempering (Hukushima, Nemoto 1996), from "
             "temperature to temperature_max; 1 if not given."},
    {.pointer = "/system/temperature_max",
     .type = ERGO_KEY_REAL,
     .flags = ERGO_KEY_SHAPE | ERGO_KEY_CHAIN | ERGO_KEY_EXCLUDES_MIN,
     .min = 0,
     .max = 1e12,
     .unit = "J/k_B",
     .help = "Model spin-glass: the hottest temperature of the ladder."},
    {.pointer = "/system/ladder_spacing",
     .type = ERGO_KEY_ENUM,
     .flags = ERGO_KEY_SHAPE | ERGO_KEY_CHAIN,
     .choices = spacings,
     .unit = "",
     .help = "Model spin-glass: the ladder's temperatures: geometric (if not given), a constant "
             "ratio; linear, a constant difference; inverse, constant in 1/T."},
    {.pointer = "/system/swap_every",
     .type = ERGO_KEY_INT,
     .flags = ERGO_KEY_SHAPE | ERGO_KEY_CHAIN,
     .min = 1,
     .max = 1000000,
     .unit = "sweeps",
     .help = "Model spin-glass: sweeps between exchanges along the ladder, of pairs (0, 1), (2, 3) "
             "... and (1, 2), (3, 4) ... in turn; 10 if not given."},
    {.pointer = "/run/correlation_every",
     .type = ERGO_KEY_INT,
     .flags = ERGO_KEY_SHAPE,
     .fallback = "10",
     .min = 0,
     .max = 1e12,
     .unit = "measurements",
     .help = "Measure the spin-spin correlation with every so many measurements; 0: never."},
    {.pointer = "/run/correlation_max",
     .type = ERGO_KEY_INT,
     .flags = ERGO_KEY_SHAPE,
     .fallback = "64",
     .min = 1,
     .max = 4096,
     .unit = "sites",
     .help = "Largest distance of the correlation; never more than half the shorter side."},
};

static const struct ergo_column columns[] = {
    {"energy", "per site, in units of J = 1", "U/N = (-J sum s s - B sum s)/N"},
    {"magnetization", "per site", "sum s / N"},
};

static bool is_facilitated(const struct ergo_point *point) {
    const char *model = ergo_point_text(point, "/system/model");
    return strcmp(model, "north-east") == 0 || strcmp(model, "east") == 0 ||
           strcmp(model, "fredrickson-andersen") == 0;
}

static bool is_potts(const struct ergo_point *point) {
    return strcmp(ergo_point_text(point, "/system/model"), "potts") == 0;
}

static double sites(const struct ergo_point *point) {
    const struct ergo_value *size = ergo_point_value(point, "/system/size");
    double n = 1;
    for (int k = 0; k < size->items; k++)
        n *= (double)size->size[k];
    return n;
}

static double sample_energy(const struct ergo_point *point, const double *c) {
    (void)point;
    return c[0];
}

static double sample_energy2(const struct ergo_point *point, const double *c) {
    (void)point;
    return c[0] * c[0];
}

static double sample_m(const struct ergo_point *point, const double *c) {
    (void)point;
    return c[1];
}

static const char *slow_energy(const struct ergo_point *point) {
    return is_facilitated(point)
               ? "frozen spins never change, and slow ones hardly; up_density has honest errors, "
                 "from independent realisations"
               : NULL;
}

/* To change sign a lattice has to pass through a domain wall across it: the free energy of the wall
 * grows with its side below Tc. Near above, finite lattices do the same, only more often. */
static const char *slow_m(const struct ergo_point *point) {
    if (is_facilitated(point))
        return slow_energy(point);
    if (glass_is(point))
        return NULL;
    if (!ergo_point_value(point, "/system/temperature")->present)
        return NULL;
    const double t = ergo_point_real(point, "/system/temperature");
    const double j = ergo_point_real(point, "/system/coupling");
    if (is_potts(point) || bytes_is(point))
        return NULL;
    const bool ordered = j > 0 && t < 1.1 * ergo_ising_critical_temperature(j);
    return ordered && ergo_point_real(point, "/system/field") == 0.0
               ? "near and below Tc a lattice without a field changes sign only as a whole, too "
                 "rarely to average over; use abs_magnetization"
               : NULL;
}

static double sample_abs_m(const struct ergo_point *point, const double *c) {
    (void)point;
    return fabs(c[1]);
}

static double sample_m2(const struct ergo_point *point, const double *c) {
    (void)point;
    return c[1] * c[1];
}

static double sample_m4(const struct ergo_point *point, const double *c) {
    (void)point;
    return c[1] * c[1] * c[1] * c[1];
}

static double derive_heat_capacity(const struct ergo_point *point, const double *m) {
    const double t = ergo_point_real(point, "/system/temperature");
    return sites(point) * (m[1] - m[0] * m[0]) / (t * t);
}

static double derive_susceptibility(const struct ergo_point *point, const double *m) {
    return sites(point) * (m[1] - m[0] * m[0]) / ergo_point_real(point, "/system/temperature");
}

static double derive_binder(const struct ergo_point *point, const double *m) {
    (void)point;
    return 1.0 - m[1] / (3.0 * m[0] * m[0]);
}

static bool is_equilibrium(const struct ergo_point *point) {
    return !is_facilitated(point) && !glass_is(point);
}

static bool is_not_potts(const struct ergo_point *point) {
    return !is_potts(point);
}

static bool is_ising(const struct ergo_point *point) {
    return is_equilibrium(point) && !is_potts(point);
}

static double curve_first(const struct ergo_point *point, const double *mean, size_t size) {
    (void)point, (void)size;
    return mean[0];
}

/* Over all times: the density is the same at each. */
static double curve_mean(const struct ergo_point *point, const double *mean, size_t size) {
    double sum = 0;
    (void)point;
    for (size_t i = 0; i < size; i++)
        sum += mean[i];
    return sum / (double)size;
}

static bool is_glass_pair(const struct ergo_point *point) {
    const struct ergo_value *copies = ergo_point_value(point, "/system/copies");
    return glass_is(point) && !(copies->present && copies->integer == 1);
}

static bool is_ladder(const struct ergo_point *point) {
    const struct ergo_value *ladder = ergo_point_value(point, "/system/ladder");
    return glass_is(point) && ladder->present && ladder->integer > 1;
}

#define GLASS_MOMENT(NAME)                                                                         \
    static double glass_##NAME(const struct ergo_point *point, const double *mean, size_t size) {  \
        (void)size;                                                                                \
        return glass_moment(point, #NAME, mean);                                                   \
    }
GLASS_MOMENT(overlap_abs)
GLASS_MOMENT(overlap2)
GLASS_MOMENT(overlap4)
GLASS_MOMENT(overlap_binder)
GLASS_MOMENT(overlap_length)
GLASS_MOMENT(glass_heat_capacity)
GLASS_MOMENT(glass_magnetization2)
GLASS_MOMENT(swap_acceptance)
GLASS_MOMENT(round_trips)

static const struct ergo_observable observables[] = {
    {.name = "energy",
     .unit = "J per site",
     .help = "mean energy per site",
     .sample = sample_energy,
     .slow = slow_energy},
    {.name = "order_parameter",
     .unit = "per site",
     .help = "potts: mean m = (q max_k n_k / N - 1) / (q - 1); magnetization in what follows",
     .sample = sample_m,
     .applies = is_potts},
    {.name = "abs_magnetization",
     .unit = "per site",
     .help = "mean |m|",
     .sample = sample_abs_m,
     .applies = is_ising},
    {.name = "heat_capacity",
     .unit = "k_B per site",
     .help = "N (<e^2> - <e>^2) / T^2",
     .inputs = {"energy", "energy2"},
     .derive = derive_heat_capacity,
     .applies = is_equilibrium},
    {.name = "susceptibility",
     .unit = "per site",
     .help = "N (<m^2> - <|m|>^2) / T, the finite-lattice form",
     .inputs = {"abs_magnetization", "magnetization2"},
     .derive = derive_susceptibility,
     .applies = is_equilibrium},
    {.name = "binder",
     .unit = "",
     .help = "Binder's cumulant 1 - <m^4> / (3 <m^2>^2)",
     .inputs = {"magnetization2", "magnetization4"},
     .derive = derive_binder,
     .applies = is_equilibrium},
    {.name = "magnetization",
     .unit = "per site",
     .help = "mean m",
     .sample = sample_m,
     .applies = is_not_potts,
     .slow = slow_m},
    {.name = "magnetization2",
     .unit = "per site^2",
     .help = "mean m^2",
     .sample = sample_m2,
     .applies = is_equilibrium},
    {.name = "magnetization4",
     .unit = "per site^4",
     .help = "mean m^4",
     .sample = sample_m4,
     .applies = is_equilibrium},
    {.name = "up_density",
     .unit = "per site",
     .help = "density of up spins, mean over the times of the curve",
     .curve = "up_density",
     .from_curve = curve_mean,
     .independent = true,
     .applies = is_facilitated},
    {.name = "frozen_fraction",
     .unit = "per site",
     .help = "sites that can never flip, by the closure of the start under the constraint",
     .curve = "frozen",
     .from_curve = curve_first,
     .independent = true,
     .applies = is_facilitated},
    {.name = "relaxation_time",
     .unit = "sweeps",
     .help = "where phi falls to 1/e, straight lines over log t between the curve's times",
     .curve = "phi",
     .from_curve = fac_relaxation_time,
     .independent = true,
     .applies = is_facilitated},
    {.name = "phi_mean",
     .unit = "",
     .help = "mean of phi over the times of its curve, which crowd at the beginning",
     .curve = "phi",
     .from_curve = curve_mean,
     .independent = true,
     .applies = is_facilitated},
    {.name = "correlation_length",
     .unit = "sites",
     .help =
         "second moment, along the last dimension: sqrt(S(0)/S(k) - 1) / (2 sin(k/2)), k = 2 pi "
         "/ L; above the critical temperature",
     .curve = "structure_factor",
     .from_curve = bytes_correlation_length,
     .applies = bytes_has_structure},
    {.name = "overlap_abs",
     .unit = "per site",
     .help = "spin glass: mean |q| of two copies at the lowest temperature; errors from words of "
             "32 samples",
     .curve = "moments",
     .from_curve = glass_overlap_abs,
     .independent = true,
     .applies = is_glass_pair},
    {.name = "overlap2",
     .unit = "per site^2",
     .help = "spin glass: mean q^2",
     .curve = "moments",
     .from_curve = glass_overlap2,
     .independent = true,
     .applies = is_glass_pair},
    {.name = "overlap4",
     .unit = "per site^4",
     .help = "spin glass: mean q^4",
     .curve = "moments",
     .from_curve = glass_overlap4,
     .independent = true,
     .applies = is_glass_pair},
    {.name = "overlap_binder",
     .unit = "",
     .help = "spin glass: (3 - [<q^4>] / [<q^2>]^2) / 2",
     .curve = "moments",
     .from_curve = glass_overlap_binder,
     .independent = true,
     .applies = is_glass_pair},
    {.name = "overlap_length",
     .unit = "sites",
     .help = "spin glass: second-moment correlation length of the overlap along the last direction",
     .curve = "moments",
     .from_curve = glass_overlap_length,
     .independent = true,
     .applies = is_glass_pair},
    {.name = "glass_heat_capacity",
     .unit = "k_B per site",
     .help = "spin glass: N [<e^2> - <e>^2] / T^2, <e>^2 from two copies",
     .curve = "moments",
     .from_curve = glass_glass_heat_capacity,
     .independent = true,
     .applies = is_glass_pair},
    {.name = "glass_magnetization2",
     .unit = "per site^2",
     .help = "spin glass: mean m^2",
     .curve = "moments",
     .from_curve = glass_glass_magnetization2,
     .independent = true,
     .applies = glass_is},
    {.name = "swap_acceptance",
     .unit = "",
     .help = "spin glass: accepted exchanges of tempering, mean over the ladder, from the start of "
             "the run",
     .curve = "moments",
     .from_curve = glass_swap_acceptance,
     .independent = true,
     .applies = is_ladder},
    {.name = "round_trips",
     .unit = "per million sweeps",
     .help = "spin glass: ways of a copy from the ladder's cold end to the hot one and back, from "
             "the start of the run",
     .curve = "moments",
     .from_curve = glass_round_trips,
     .independent = true,
     .applies = is_ladder},
    {.name = "energy2",
     .unit = "J^2 per site^2",
     .help = "mean squared energy per site",
     .sample = sample_energy2,
     .hidden = true},
};

static const struct ergo_curve_info curves[] = {
    {"correlation", "distance", "", "<s(0) s(r)> along the axes, mean of both"},
    {"correlation_x", "distance", "", "<s(0) s(r)> along x"},
    {"correlation_y", "distance", "", "<s(0) s(r)> along y"},
    {"phi", "sweeps", "",
     "(<s(0) s(t)> - m^2) / (1 - m^2), m = 2c - 1, per site: Eq. 4 with its missing 1/N"},
    {"persistence", "sweeps", "per site", "sites that have not flipped since t = 0"},
    {"up_density", "sweeps", "per site", "density of up spins"},
    {"frozen", "sweeps", "per site", "sites that can never flip, by the closure test"},
    {"correlation_z", "distance", "", "<s(0) s(r)> along z"},
    {"structure_factor", "k along the last dimension", "",
     "N <m^2> and the structure factor of the smallest wave vector, per site; potts: of the "
     "q-state "
     "spins, as unit vectors"},
    {.name = "ladder_energy",
     .x_label = "temperature",
     .unit = "J per site",
     .help = "spin glass: mean energy; errors of all ladder curves from words of 32 samples"},
    {.name = "ladder_heat_capacity",
     .x_label = "temperature",
     .unit = "k_B per site",
     .help = "spin glass: N [<e^2> - <e>^2] / T^2, <e>^2 from two copies"},
    {.name = "ladder_overlap2",
     .x_label = "temperature",
     .unit = "per site^2",
     .help = "spin glass: [<q^2>]"},
    {.name = "ladder_binder",
     .x_label = "temperature",
     .unit = "",
     .help = "spin glass: (3 - [<q^4>] / [<q^2>]^2) / 2"},
    {.name = "ladder_length",
     .x_label = "temperature",
     .unit = "sites",
     .help = "spin glass: second-moment correlation length of the overlap"},
    {.name = "ladder_swaps",
     .x_label = "temperature",
     .unit = "",
     .help = "spin glass: accepted exchanges with the next temperature, from the start of the run"},
    {.name = "overlap",
     .x_label = "q",
     .unit = "",
     .help = "spin glass: P(q) at the lowest temperature, a density"},
    {.name = "moments",
     .x_label = "moment",
     .unit = "",
     .help = "spin glass, lowest temperature: e, e^2, e e', |q|, q^2, q^4, |q_k|^2, |m|, m^2, m^4, "
             "exchanges, round trips"},
    {.name = "groups",
     .x_label = "moment",
     .unit = "",
     .help = "spin glass: word by word, the moments of each temperature, and the bins of P(q)"},
};

static const struct ergo_tunable tunables[] = {
    {"path",
     "0 automatic, 1 one member per work-group in local memory, 2 stripes with halos, "
     "3 half a sweep per launch. Facilitated dynamics: 1 windows of attempts in a work-group, "
     "2 many work-groups with tiles and halos, 3 one work-item for each 32 realisations",
     0, 3, false},
    {"work_group", "work-items per group (a power of two); facilitated: attempts per window", 0,
     1024, true},
    {"tile_sweeps", "path 2: sweeps per launch", 0, 16, false},
    {"tile_rows", "path 2: rows per work-group; a byte per spin: rows per work-item, 1, 2, 4 or 8",
     0, 4096, false},
    {"tile_columns", "path 2, facilitated: columns per work-group", 0, 4096, false},
    {"halo", "path 2, facilitated: sites around a tile; where it was too small, work is repeated",
     0, 64, false},
    {"segment", "path 2, facilitated: attempts between exchanges of tiles", 0, 262144, false},
    {"lanes", "kernels with explicit vectors of eight, on CPUs only: 0 automatic, 1 yes, 2 no", 0,
     2, false},
};

static const struct ergo_sampler_info info = {
    .name = "spin-lattice",
    .summary = "Lattice spin models: Ising and Potts models at equilibrium, facilitated dynamics "
               "near a glass transition",
    .citation = "T. Levy, G. Cohen, E. Rabani, Simulating lattice spin models on GPUs, "
                "J. Chem. Theory Comput. 6, 3293 (2010)",
    .programs = {"spin_lattice/ising_global.cl", "spin_lattice/ising_local.cl",
                 "spin_lattice/ising_tile.cl", "spin_lattice/ising_lanes_local.cl",
                 "spin_lattice/ising_lanes_global.cl", "spin_lattice/ising_lanes_tile.cl",
                 "spin_lattice/facilitated.cl", "spin_lattice/facilitated_tiles.cl",
                 "spin_lattice/facilitated_lambda.cl", "spin_lattice/bytes.cl",
                 "spin_lattice/glass.cl", "spin_lattice/glass_local.cl",
                 "spin_lattice/glass_temper.cl", "spin_lattice/glass_measure.cl"},
    .step_name = "sweep",
    .rate_unit = "spin updates per second",
    .keys = keys,
    .n_keys = sizeof keys / sizeof keys[0],
    .columns = columns,
    .n_columns = sizeof columns / sizeof columns[0],
    .observables = observables,
    .n_observables = sizeof observables / sizeof observables[0],
    .curves = curves,
    .n_curves = sizeof curves / sizeof curves[0],
    .curves_at_end = (1u << CURVE_GROUPS) - (1u << CURVE_LADDER_ENERGY),
    .curves_hidden = 1u << CURVE_MOMENTS | 1u << CURVE_GROUPS,
    .tunables = tunables,
    .n_tunables = sizeof tunables / sizeof tunables[0],
    .frame_suffix = "vti",
    .trajectory =
        "configurations as VTK image data, a value for each site (of facilitated dynamics the "
        "first realisation), of lattices up to 2^22 sites",
    .state_version = 1,
};

/* ---- models ---------------------------------------------------------------------------------- */

static const struct ergo_sampler_ops *model_of(const struct ergo_point *point) {
    return is_facilitated(point) ? &facilitated_ops
           : glass_is(point)     ? &glass_ops
           : bytes_is(point)     ? &bytes_ops
                                 : &ising_ops;
}

/* Every state begins with its model's ops. */
static const struct ergo_sampler_ops *model_in(const void *state) {
    return *(const struct ergo_sampler_ops *const *)state;
}

static enum ergo_status check(struct ergo_context *ctx, const struct ergo_point *point) {
    static const char *const own[] = {"/system/q", "/system/couplings", "/system/random_field",
                                      "/system/field_distribution", "/system/field_file"};
    static const char *const glass[] = {/* four of the Ising model, too */
                                        "/system/disorder",        "/system/disorder_file",
                                        "/system/disorder_seed",   "/system/negative_fraction",
                                        "/system/samples",         "/system/copies",
                                        "/system/ladder",          "/system/ladder_spacing",
                                        "/system/temperature_max", "/system/swap_every"};
    enum ergo_status status = ERGO_OK;
    const bool ising = strcmp(ergo_point_text(point, "/system/model"), "ising") == 0;
    for (size_t i = ising ? 4 : 0; i < sizeof glass / sizeof glass[0] && !glass_is(point); i++)
        if (model_given(point, glass[i]))
            status = ergo_job_error(ctx, glass[i], "is of model spin-glass%s",
                                    i < 4 ? ", or ising" : "");
    if (is_facilitated(point) || glass_is(point)) {
        for (size_t i = 0; i < sizeof own / sizeof own[0]; i++)
            if (model_given(point, own[i]))
                status = ergo_job_error(ctx, own[i], "of models ising and potts");
        if (is_facilitated(point) && ergo_point_value(point, "/system/size")->items != 2)
            return ergo_job_error(ctx, "/system/size", "facilitated dynamics has two dimensions");
    } else if (!bytes_is(point) && model_given(point, own[0])) {
        status = ergo_job_error(ctx, own[0], "of model potts; the Ising model has 2");
    }
    if (!glass_is(point) && strcmp(ergo_point_text(point, "/distribute"), "lattice") == 0)
        status =
            ergo_job_error(ctx, "/distribute",
                           "\"lattice\": of the models only spin-glass can be cut into pieces");
    const enum ergo_status other = model_of(point)->check(ctx, point);
    return status == ERGO_OK ? other : status;
}

static enum ergo_status plan(struct ergo_context *ctx, const struct ergo_batch *batch,
                             const struct ergo_device *device, struct ergo_plan *plan) {
    return model_of(batch->points[0])->plan(ctx, batch, device, plan);
}

static enum ergo_status create(struct ergo_context *ctx, const struct ergo_batch *batch,
                               struct ergo_device *device, void **state) {
    return model_of(batch->points[0])->create(ctx, batch, device, state);
}

static enum ergo_status init(struct ergo_context *ctx, void *state) {
    return model_in(state)->init(ctx, state);
}

static enum ergo_status advance(struct ergo_context *ctx, void *state, unsigned slot, size_t count,
                                uint64_t every, uint64_t first_sample) {
    return model_in(state)->advance(ctx, state, slot, count, every, first_sample);
}

static enum ergo_status collect(struct ergo_context *ctx, void *state, unsigned slot,
                                struct ergo_samples *samples) {
    return model_in(state)->collect(ctx, state, slot, samples);
}

static size_t curve_size(const struct ergo_point *point, size_t c) {
    return model_of(point)->curve_size(point, c);
}

static void curve_x(const struct ergo_point *point, size_t c, double *x) {
    model_of(point)->curve_x(point, c, x);
}

static uint64_t curve_every(const struct ergo_point *point) {
    return model_of(point)->curve_every(point);
}

static enum ergo_status end_curves(struct ergo_context *ctx, void *state, size_t member,
                                   struct ergo_curve *own) {
    const struct ergo_sampler_ops *model = model_in(state);
    return model->end_curves ? model->end_curves(ctx, state, member, own) : ERGO_OK;
}

static enum ergo_status save(struct ergo_context *ctx, void *state, size_t member,
                             struct ergo_text *text) {
    return model_in(state)->save(ctx, state, member, text);
}

static enum ergo_status load(struct ergo_context *ctx, void *state, size_t member, uint64_t step,
                             const void *bytes, size_t length) {
    return model_in(state)->load(ctx, state, member, step, bytes, length);
}

static enum ergo_status audit(struct ergo_context *ctx, void *state) {
    return model_in(state)->audit(ctx, state);
}

static enum ergo_status picture(struct ergo_context *ctx, void *state, size_t member,
                                struct ergo_picture *picture) {
    return model_in(state)->picture(ctx, state, member, picture);
}

static enum ergo_status frame(struct ergo_context *ctx, void *state, size_t member,
                              struct ergo_text *text) {
    const struct ergo_sampler_ops *model = model_in(state);
    return model->frame ? model->frame(ctx, state, member, text) : ERGO_OK;
}

static double exact(const struct ergo_point *point, const char *observable) {
    return model_of(point)->exact(point, observable);
}

static const char *reference(const struct ergo_point *point) {
    return model_of(point)->reference ? model_of(point)->reference(point) : NULL;
}

static void destroy(void *state) {
    if (state)
        model_in(state)->destroy(state);
}

static const struct ergo_sampler_ops ops = {
    .check = check,
    .plan = plan,
    .create = create,
    .init = init,
    .advance = advance,
    .collect = collect,
    .curve_size = curve_size,
    .curve_x = curve_x,
    .curve_every = curve_every,
    .end_curves = end_curves,
    .save = save,
    .load = load,
    .audit = audit,
    .picture = picture,
    .frame = frame,
    .exact = exact,
    .reference = reference,
    .destroy = destroy,
    .cut = &glass_cut_ops,
    .can_cut = glass_is,
};

const struct ergo_sampler ergo_spin_lattice = {&info, &ops};
