/* spin-lattice: what a job may say. */
#include "samplers/spin_lattice/spin_lattice.h"

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

/* ---- where keys act -------------------------------------------------------------------------- */

static bool is(const struct ergo_point *point, const char *pointer, const char *what) {
    const struct ergo_value *value = ergo_point_value(point, pointer);
    return value->present && strcmp(value->text, what) == 0;
}

static bool has(const struct ergo_point *point, const char *pointer) {
    return ergo_point_value(point, pointer)->present;
}

static bool is_ising(const struct ergo_point *point) {
    return is(point, "/system/model", "ising");
}

static bool is_potts(const struct ergo_point *point) {
    return is(point, "/system/model", "potts");
}

static bool is_equilibrium(const struct ergo_point *point) {
    return is_ising(point) || is_potts(point);
}

static bool is_fredrickson_andersen(const struct ergo_point *point) {
    return is(point, "/system/model", "fredrickson-andersen");
}

static bool is_lambda(const struct ergo_point *point) {
    return model_is_facilitated(point) && is(point, "/system/method", "lambda");
}

static bool has_one_coupling(const struct ergo_point *point) {
    return !has(point, "/system/couplings");
}

static bool has_field(const struct ergo_point *point) {
    return is_ising(point) || model_is_facilitated(point);
}

static bool draws_fields(const struct ergo_point *point) {
    return is_ising(point) && has(point, "/system/random_field") &&
           !has(point, "/system/field_file");
}

static bool has_disorder(const struct ergo_point *point) {
    return glass_is(point) || is_ising(point);
}

static bool draws_couplings(const struct ergo_point *point) {
    return !has(point, "/system/disorder_file") &&
           (glass_is(point) || (is_ising(point) && has(point, "/system/disorder")));
}

static bool draws_disorder(const struct ergo_point *point) {
    return draws_couplings(point) || draws_fields(point);
}

static bool draws_signs(const struct ergo_point *point) {
    return draws_couplings(point) && !is(point, "/system/disorder", "gaussian");
}

static bool has_ladder(const struct ergo_point *point) {
    const struct ergo_value *ladder = ergo_point_value(point, "/system/ladder");
    return glass_is(point) && ladder->present && ladder->integer > 1;
}

/* ---- the table ------------------------------------------------------------------------------- */

const struct ergo_key spin_lattice_keys[SPIN_LATTICE_KEYS] = {
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
             "critical at T = 1/ln(1 + sqrt q).",
     .acts = is_potts,
     .where = "in model potts"},
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
             "percolation).",
     .acts = model_is_facilitated,
     .where = "in models north-east, east and fredrickson-andersen"},
    {.pointer = "/system/coupling",
     .type = ERGO_KEY_REAL,
     .flags = ERGO_KEY_SCAN | ERGO_KEY_CHAIN,
     .fallback = "1",
     .min = -1e6,
     .max = 1e6,
     .unit = "J",
     .help = "Coupling J: for ising positive is ferromagnetic, negative antiferromagnetic, for "
             "facilitated dynamics the other way round (see model), and 0 unless it is given.",
     .acts = has_one_coupling,
     .where = "without couplings"},
    {.pointer = "/system/field",
     .type = ERGO_KEY_REAL,
     .flags = ERGO_KEY_SCAN | ERGO_KEY_CHAIN,
     .fallback = "0",
     .min = -1e6,
     .max = 1e6,
     .unit = "J",
     .help = "Magnetic field B: for ising positive prefers up, for facilitated dynamics down.",
     .acts = has_field,
     .where = "in models ising, north-east, east and fredrickson-andersen"},
    {.pointer = "/system/couplings",
     .type = ERGO_KEY_REALS,
     .flags = ERGO_KEY_CHAIN,
     .min = -1e6,
     .max = 1e6,
     .min_items = 1,
     .max_items = 3,
     .unit = "J",
     .help = "Models ising and potts: a coupling for each direction, [Jx, Jy, Jz], instead of one.",
     .acts = is_equilibrium,
     .where = "in models ising and potts"},
    {.pointer = "/system/random_field",
     .type = ERGO_KEY_REAL,
     .flags = ERGO_KEY_SCAN | ERGO_KEY_CHAIN,
     .min = 0,
     .max = 1e6,
     .unit = "J",
     .help =
         "Model ising: h of a random field h f_i beside the uniform one (Imry, Ma 1975); f_i by "
         "field_distribution, or from field_file (h is 1 then, if not given). It depends on "
         "seed (or disorder_seed) and replica, not on the temperature.",
     .acts = is_ising,
     .where = "in model ising"},
    {.pointer = "/system/field_distribution",
     .type = ERGO_KEY_ENUM,
     .flags = ERGO_KEY_SHAPE | ERGO_KEY_CHAIN,
     .choices = disorders,
     .unit = "",
     .help = "Model ising: f_i of the random field: bimodal (if not given), +1 or -1 with "
             "probability 1/2; gaussian, of mean 0 and variance 1.",
     .acts = draws_fields,
     .where = "in model ising with random_field, without field_file"},
    {.pointer = "/system/field_file",
     .type = ERGO_KEY_STRING,
     .flags = ERGO_KEY_SHAPE | ERGO_KEY_FILE,
     .unit = "",
     .help = "Model ising: a file with f_i of each site, numbers up to 1e6 in the order x fastest, "
             "then y, then z, with blanks or ends of lines between them; # a comment. Fields and "
             "couplings are rounded to 2^-28 of the largest force on a spin, or finer.",
     .acts = is_ising,
     .where = "in model ising"},
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
             "32 realisations as in exact.",
     .acts = model_is_facilitated,
     .where = "in models north-east, east and fredrickson-andersen"},
    {.pointer = "/system/lambda",
     .type = ERGO_KEY_INT,
     .flags = ERGO_KEY_SCAN | ERGO_KEY_SHAPE | ERGO_KEY_CHAIN,
     .min = 0,
     .max = 512,
     .unit = "picks",
     .help = "Method lambda: picks at the same time in each sub-lattice of 32 x 32, a power of "
             "two; 16 if not given (Levy, Cohen, Rabani 2010, Fig. 5). 0: the exact order. A scan "
             "that includes 0 is a calibration: the others are compared with it.",
     .acts = is_lambda,
     .where = "with method lambda"},
    {.pointer = "/system/sublattices",
     .type = ERGO_KEY_ENUM,
     .flags = ERGO_KEY_SHAPE,
     .choices = divisions,
     .unit = "",
     .help = "Method lambda: how the lattice is divided. shifted (if not given): at another random "
             "place twice per sweep; fixed: always the same (the paper's); coloured: sub-lattices "
             "that do not touch, and in them sites of one colour, so that balance is kept (the "
             "paper's slower variant; sides are multiples of 64).",
     .acts = is_lambda,
     .where = "with method lambda"},
    {.pointer = "/system/realisations",
     .type = ERGO_KEY_INT,
     .flags = ERGO_KEY_SCAN | ERGO_KEY_SHAPE,
     .fallback = "1024",
     .min = 1,
     .max = 33554432,
     .unit = "",
     .help = "Facilitated dynamics: realisations to average over within a chain of the job, a "
             "multiple of 32 for method exact. Honest errors of the relaxation time need 20 "
             "groups, that is 640; serial: 20. More keep the first ones as they were.",
     .acts = model_is_facilitated,
     .where = "in models north-east, east and fredrickson-andersen"},
    {.pointer = "/system/waiting_time",
     .type = ERGO_KEY_INT,
     .flags = ERGO_KEY_SCAN | ERGO_KEY_SHAPE,
     .min = 0,
     .max = 9007199254740992,
     .unit = "sweeps",
     .help = "Facilitated dynamics: the first of /run/sweeps, before t = 0 of the curves (0 if not "
             "given): the age at t = 0, counted from the end of /run/equilibration. Energy and "
             "magnetization are measured in them, too, frozen_fraction and the curves are of t >= "
             "0.",
     .acts = model_is_facilitated,
     .where = "in models north-east, east and fredrickson-andersen"},
    {.pointer = "/system/facilitation",
     .type = ERGO_KEY_INT,
     .flags = ERGO_KEY_SCAN | ERGO_KEY_SHAPE | ERGO_KEY_CHAIN,
     .min = 1,
     .max = 4,
     .unit = "neighbours",
     .help = "Model fredrickson-andersen: neighbours that have to be up; 1 if not given (their "
             "paper of 1984 looks at 2 on the square lattice).",
     .acts = is_fredrickson_andersen,
     .where = "in model fredrickson-andersen"},
    {.pointer = "/system/disorder",
     .type = ERGO_KEY_ENUM,
     .flags = ERGO_KEY_CHAIN | ERGO_KEY_SHAPE,
     .choices = disorders,
     .unit = "",
     .help = "Models spin-glass and ising: random couplings J_ij, in units of /system/coupling "
             "(ising: or of couplings): bimodal (spin-glass: if not given), +1 or -1; gaussian, of "
             "mean 0 and variance 1. Both may come from a file. ising has one sample, the first "
             "of the spin glass with the same seed.",
     .acts = has_disorder,
     .where = "in models spin-glass and ising"},
    {.pointer = "/system/disorder_file",
     .type = ERGO_KEY_STRING,
     .flags = ERGO_KEY_SHAPE | ERGO_KEY_FILE,
     .unit = "",
     .help = "Models spin-glass and ising: a file with the couplings: lines \"x y [z] axis J\" for "
             "the bond "
             "from a site to its neighbour in the positive direction of axis x, y or z, each bond "
             "once; \"sample\" begins the next sample; # a comment. Couplings other than 1 and -1 "
             "need disorder gaussian, and are rounded to 2^-24; ising: none does, see field_file.",
     .acts = has_disorder,
     .where = "in models spin-glass and ising"},
    {.pointer = "/system/disorder_seed",
     .type = ERGO_KEY_SEED,
     .flags = ERGO_KEY_SHAPE,
     .unit = "",
     .help =
         "Model spin-glass, and ising: the seed of the couplings (ising: of random fields, too); "
         "/seed if not given. Couplings depend on it and on the replica, not on the temperature: a "
         "scan over it has the same samples.",
     .acts = draws_disorder,
     .where = "where couplings or fields are drawn: in model spin-glass without disorder_file, in "
              "model ising with disorder or random_field and without their files"},
    {.pointer = "/system/negative_fraction",
     .type = ERGO_KEY_REAL,
     .flags = ERGO_KEY_SCAN | ERGO_KEY_CHAIN,
     .min = 0,
     .max = 1,
     .unit = "",
     .help = "Models spin-glass and ising, bimodal: the probability of J = -1; 0.5 if not given. 0 "
             "is the "
             "ferromagnet.",
     .acts = draws_signs,
     .where = "where couplings are drawn as +1 and -1: in model spin-glass, and in model ising "
              "with disorder, bimodal and without disorder_file"},
    {.pointer = "/system/samples",
     .type = ERGO_KEY_INT,
     .flags = ERGO_KEY_SCAN | ERGO_KEY_SHAPE,
     .min = 1,
     .max = 2097152,
     .unit = "",
     .help = "Model spin-glass: samples of the disorder within a chain of the job, a multiple of "
             "32, which share a word and random numbers; 32 if not given, from a file 1. Their "
             "spread gives the errors of averages over the disorder, and what the samples of a "
             "word fluctuate together is added; from 20 samples on. A single sample has thermal "
             "errors. More keep the first ones as they were.",
     .acts = glass_is,
     .where = "in model spin-glass"},
    {.pointer = "/system/copies",
     .type = ERGO_KEY_INT,
     .flags = ERGO_KEY_SHAPE | ERGO_KEY_CHAIN,
     .min = 1,
     .max = 4,
     .unit = "",
     .help = "Model spin-glass: independent copies (replicas) of each sample at each temperature, "
             "1, 2 (if not given) or 4; overlaps need 2.",
     .acts = glass_is,
     .where = "in model spin-glass"},
    {.pointer = "/system/ladder",
     .type = ERGO_KEY_INT,
     .flags = ERGO_KEY_SHAPE | ERGO_KEY_CHAIN,
     .min = 1,
     .max = 128,
     .unit = "temperatures",
     .help = "Model spin-glass: temperatures of parallel tempering (Hukushima, Nemoto 1996), from "
             "temperature to temperature_max; 1 if not given.",
     .acts = glass_is,
     .where = "in model spin-glass"},
    {.pointer = "/system/temperature_max",
     .type = ERGO_KEY_REAL,
     .flags = ERGO_KEY_SHAPE | ERGO_KEY_CHAIN | ERGO_KEY_EXCLUDES_MIN,
     .min = 0,
     .max = 1e12,
     .unit = "J/k_B",
     .help = "Model spin-glass: the hottest temperature of the ladder.",
     .acts = glass_is,
     .where = "in model spin-glass"},
    {.pointer = "/system/ladder_spacing",
     .type = ERGO_KEY_ENUM,
     .flags = ERGO_KEY_SHAPE | ERGO_KEY_CHAIN,
     .choices = spacings,
     .unit = "",
     .help = "Model spin-glass: the ladder's temperatures: geometric (if not given), a constant "
             "ratio; linear, a constant difference; inverse, constant in 1/T.",
     .acts = has_ladder,
     .where = "in model spin-glass with a ladder"},
    {.pointer = "/system/swap_every",
     .type = ERGO_KEY_INT,
     .flags = ERGO_KEY_SHAPE | ERGO_KEY_CHAIN,
     .min = 1,
     .max = 1000000,
     .unit = "sweeps",
     .help = "Model spin-glass: sweeps between exchanges along the ladder, of pairs (0, 1), (2, 3) "
             "... and (1, 2), (3, 4) ... in turn; 10 if not given.",
     .acts = has_ladder,
     .where = "in model spin-glass with a ladder"},
    {.pointer = "/system/shares",
     .type = ERGO_KEY_STRING,
     .unit = "",
     .help = "Model spin-glass: shares of the ranks in a ladder that is divided over them; the "
             "chain does not depend on it. measured (if not given): by a short trial at the "
             "start; equal; or numbers > 0, \"3,1\", dealt out to the ranks in turn.",
     .acts = has_ladder,
     .where = "in model spin-glass with a ladder"},
    {.pointer = "/run/correlation_every",
     .type = ERGO_KEY_INT,
     .flags = ERGO_KEY_SHAPE,
     .fallback = "10",
     .min = 0,
     .max = 1e12,
     .unit = "measurements",
     .help = "Measure the spin-spin correlation with every so many measurements; 0: never.",
     .acts = is_equilibrium,
     .where = "in models ising and potts"},
    {.pointer = "/run/correlation_max",
     .type = ERGO_KEY_INT,
     .flags = ERGO_KEY_SHAPE,
     .fallback = "64",
     .min = 1,
     .max = 4096,
     .unit = "sites",
     .help = "Largest distance of the correlation; never more than half the shorter side.",
     .acts = is_equilibrium,
     .where = "in models ising and potts"},
};
