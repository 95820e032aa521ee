/* Spin glasses: their tables. */
#include "samplers/spin_lattice/ergodic.h"
#include "samplers/spin_lattice/spin_glass/glass.h"
#include "samplers/spin_lattice/models.h"
#include "samplers/spin_lattice/two_times.h"

/* ---- keys ------------------------------------------------------------------------------------ */

static bool draws_disorder(const struct ergo_point *point) {
    return !model_has(point, "/system/disorder_file") || model_draws_fields(point);
}

static bool draws_signs(const struct ergo_point *point) {
    return !model_has(point, "/system/disorder_file") &&
           !model_says(point, "/system/disorder", "gaussian");
}

static const struct ergo_key keys[] = {
    {ERGO_KEY("/system/size", SIZE),
     .flags = ERGO_KEY_FORM | ERGO_KEY_REQUIRED | ERGO_KEY_SCAN | ERGO_KEY_SHAPE | ERGO_KEY_CHAIN,
     .min = 2, .max = 1048576, .min_items = 2, .max_items = 3, .unit = "sites",
     .help = "Lattice sides, periodic: [Lx, Ly] or [Lx, Ly, Lz], all even (the checkerboard needs "
             "it). A side of 2 has two bonds between the same neighbours."},
    {ERGO_KEY("/system/temperature", REAL),
     .flags = ERGO_KEY_REQUIRED | ERGO_KEY_SCAN | ERGO_KEY_CHAIN | ERGO_KEY_EXCLUDES_MIN, .min = 0,
     .max = 1e12, .unit = "J/k_B",
     .help =
         "Temperature T in the energy unit of the coupling (k_B = 1); of a ladder the lowest. By "
         "Metropolis at most 1000 bonds of a spin."},
    {ERGO_KEY("/system/coupling", REAL), .flags = ERGO_KEY_SCAN | ERGO_KEY_CHAIN, .fallback = "1",
     .min = -1e6, .max = 1e6, .unit = "J", .help = "The unit of the couplings J_ij."},
    {ERGO_KEY("/system/field", REAL), .flags = ERGO_KEY_SCAN | ERGO_KEY_CHAIN, .fallback = "0",
     .min = -1e6, .max = 1e6, .unit = "J",
     .help = "Magnetic field B: positive prefers up; at most what all forces below 63 couplings "
             "allow. With fields of any kind couplings and fields "
             "are counted for each sample, as gaussian ones are, which takes longer."},
    {ERGO_KEY("/system/random_field", REAL), .flags = ERGO_KEY_SCAN | ERGO_KEY_CHAIN, .min = 0,
     .max = 1e6, .unit = "J",
     .help = "h of a random field h f_i beside the uniform one, both together below 63 couplings; "
             "f_i by field_distribution, or from "
             "field_file (h is 1 then, if not given). Each sample has its own, which depends on "
             "disorder_seed and replica, not on the temperature."},
    {ERGO_KEY("/system/field_distribution", ENUM), .flags = ERGO_KEY_SHAPE | ERGO_KEY_CHAIN,
     .choices = model_disorders, .unit = "",
     .help = "f_i of the random field: bimodal (if not given), +1 or -1 with probability 1/2; "
             "gaussian, of mean 0 and variance 1.",
     .acts = model_draws_fields, .where = "with random_field, without field_file"},
    {ERGO_KEY("/system/field_file", STRING), .flags = ERGO_KEY_SHAPE | ERGO_KEY_FILE, .unit = "",
     .help = "A file with f_i: for each site, x fastest, then y, then z, a number for each of the "
             "samples, up to 1e6, with blanks or ends of lines between them; # a comment. Fields "
             "are rounded to 2^-24 of the coupling."},
    {ERGO_KEY("/system/dynamics", ENUM), .flags = ERGO_KEY_CHAIN | ERGO_KEY_SHAPE,
     .fallback = "\"metropolis\"", .choices = model_dynamics, .unit = "",
     .help = "Single-spin rule: metropolis, flip with min(1, exp(-dE/T)); heat-bath, flip with "
             "1/(1 + exp(dE/T)). Sites of one colour of the checkerboard go together. "
             "With couplings +1 and -1 " ERGODIC_WORDS,
     .instead = glass_instead},
    {ERGO_KEY("/system/start", ENUM), .flags = ERGO_KEY_CHAIN | ERGO_KEY_SHAPE,
     .fallback = "\"random\"", .choices = model_starts, .unit = "",
     .help = "Starting configuration."},
    {ERGO_KEY("/system/disorder", ENUM), .flags = ERGO_KEY_CHAIN | ERGO_KEY_SHAPE,
     .fallback = "\"bimodal\"", .stream = "", .choices = model_disorders, .unit = "",
     .help = "Random couplings J_ij, in units of /system/coupling: bimodal, +1 or -1; gaussian, of "
             "mean 0 and variance 1. Both may come from a file."},
    {ERGO_KEY("/system/disorder_file", STRING), .flags = ERGO_KEY_SHAPE | ERGO_KEY_FILE, .unit = "",
     .help = "A file with the couplings: lines \"x y [z] axis J\" for the bond from a site to its "
             "neighbour in the positive direction of axis x, y or z, each bond once; \"sample\" "
             "begins the next sample; # a comment. Couplings other than 1 and -1 need disorder "
             "gaussian, and are rounded to 2^-24."},
    {ERGO_KEY("/system/disorder_seed", SEED), .flags = ERGO_KEY_SHAPE, .unit = "",
     .help =
         "The seed of couplings and random fields; /seed if not given. They depend on it and on "
         "the replica, not on the temperature: a scan over it has the same samples.",
     .acts = draws_disorder, .where = "where couplings or fields are drawn, without their files"},
    {ERGO_KEY("/system/negative_fraction", REAL),
     .flags = ERGO_KEY_FORM | ERGO_KEY_SCAN | ERGO_KEY_CHAIN, .min = 0, .max = 1, .unit = "",
     .help = "Bimodal disorder: the probability of J = -1; 0.5 if not given. 0 is the ferromagnet.",
     .acts = draws_signs,
     .where =
         "where couplings are drawn as +1 and -1: with disorder bimodal, without disorder_file"},
    {ERGO_KEY("/system/samples", INT), .flags = ERGO_KEY_FORM | ERGO_KEY_SCAN | ERGO_KEY_SHAPE,
     .min = 1, .max = 2097152, .unit = "",
     .help = "Samples of the disorder within a chain of the job, a multiple of 32, which share a "
             "word and random numbers; 32 if not given, from a file 1. Their spread gives the "
             "errors of averages over the disorder, and what the samples of a word fluctuate "
             "together is added; from 20 samples on. A single sample has thermal errors. More keep "
             "the first ones as they were."},
    {ERGO_KEY("/system/copies", INT), .flags = ERGO_KEY_FORM | ERGO_KEY_SHAPE | ERGO_KEY_CHAIN,
     .fallback = "2", .stream = "", .min = 1, .max = 4, .unit = "",
     .help = "Independent copies (replicas) of each sample at each temperature, 1, 2 or 4; "
             "overlaps need 2."},
};

static const struct ergo_key cluster_keys[] = {
    {ERGO_KEY("/system/cluster_every", INT), .flags = ERGO_KEY_SHAPE | ERGO_KEY_CHAIN, .min = 1,
     .max = 1000000, .unit = "sweeps",
     .help =
         "Sweeps between cluster moves of two copies at each temperature (Houdayer 2001; Zhu, "
         "Ochoa, Katzgraber 2015): connected sites at which the copies differ change sides, at "
         "constant energy. If not given there are no such moves. They pay below the percolation "
         "of such clusters, in two dimensions; in three, only at temperatures so low that less "
         "than a third of the sites differ."},
};

static const struct ergo_key more_keys[] = {TIMED_KEY, TIMED_CHI4_KEY};

static bool glass_may_be_cut(const struct ergo_point *point, size_t ranks) {
    (void)ranks;
    return !timed_is(point);
}

static const struct ergo_key share_keys[] = {
    {ERGO_KEY("/system/shares", STRING), .flags = ERGO_KEY_HOW, .unit = "",
     .help =
         "Shares of the ranks in a ladder that is divided over them; the chain does not depend "
         "on it. measured (if not given): by a short trial at the start, and again when the run "
         "has become slower; equal; or numbers > "
         "0, \"3,1\", dealt out to the ranks in turn.",
     .acts = model_has_ladder, .where = "with a ladder"},
};

/* ---- observables ----------------------------------------------------------------------------- */

static const struct ergo_column columns[COLUMNS] = {
    {"energy", "per site, in units of J = 1", "U/N, mean over samples, at the lowest temperature"},
    {"magnetization", "per site", "sum s / N, mean over samples, at the lowest temperature"},
};

static bool has_pairs(const struct ergo_point *point) {
    return ergo_point_int(point, "/system/copies") > 1;
}

static bool has_four(const struct ergo_point *point) {
    return ergo_point_int(point, "/system/copies") == 4;
}

#define GLASS_MOMENT(NAME)                                                                         \
    static double glass_##NAME(const struct ergo_point *point, const double *mean, size_t size) {  \
        (void)size;                                                                                \
        return glass_moment(point, #NAME, mean);                                                   \
    }
GLASS_MOMENT(energy)
GLASS_MOMENT(magnetization)
GLASS_MOMENT(overlap_abs)
GLASS_MOMENT(overlap2)
GLASS_MOMENT(overlap4)
GLASS_MOMENT(overlap_binder)
GLASS_MOMENT(overlap_length)
GLASS_MOMENT(glass_heat_capacity)
GLASS_MOMENT(overlap_susceptibility)
GLASS_MOMENT(glass_magnetization2)

/* An average over the samples of a spin glass. */
#define GLASS_AVERAGE(CURVE, FROM, APPLIES)                                                        \
    .curve = (CURVE), .from_curve = (FROM), .independent = true, .more = "/system/samples",        \
    .applies = (APPLIES)

static const struct ergo_observable observables[] = {
    {ERGO_NAMED("energy", "J per site"),
     .help = "mean energy per site at the lowest temperature. Errors of spin glasses are those of "
             "averages over the disorder, from the spread of the samples (a single sample: its "
             "thermal error)",
     GLASS_AVERAGE("moments", glass_energy, NULL)},
    {ERGO_NAMED("magnetization", "per site"), .help = "mean m at the lowest temperature",
     GLASS_AVERAGE("moments", glass_magnetization, NULL)},
    {ERGO_NAMED("overlap_abs", "per site"),
     .help = "mean |q| of two copies at the lowest temperature",
     GLASS_AVERAGE("moments", glass_overlap_abs, has_pairs)},
    {ERGO_NAMED("overlap2", "per site^2"), .help = "mean q^2",
     GLASS_AVERAGE("moments", glass_overlap2, has_pairs)},
    {ERGO_NAMED("overlap4", "per site^4"), .help = "mean q^4",
     GLASS_AVERAGE("moments", glass_overlap4, has_pairs)},
    {ERGO_NAMED("overlap_binder", ""),
     .help = "(3 - [<q^4>] / [<q^2>]^2) / 2: curves of all sizes cross at the critical point",
     GLASS_AVERAGE("moments", glass_overlap_binder, has_pairs), .crosses = true},
    {ERGO_NAMED("overlap_length", "sites"),
     .help = "second-moment correlation length of the overlap along the last direction",
     GLASS_AVERAGE("moments", glass_overlap_length, has_pairs)},
    {ERGO_NAMED("overlap_susceptibility", "per site"),
     .help =
         "with four copies: N ([<q^2>] - [<q>^2]), <q>^2 without bias, as the product of the "
         "overlaps of two pairs that have no copy in common: the spin glass susceptibility, also "
         "in a field, where <q> is not 0. Without one and in equilibrium over all signs <q> is "
         "0, and this N [<q^2>]",
     GLASS_AVERAGE("moments", glass_overlap_susceptibility, has_four)},
    {ERGO_NAMED("glass_heat_capacity", "k_B per site"),
     .help = "N [<e^2> - <e>^2] / T^2, <e>^2 from two copies",
     GLASS_AVERAGE("moments", glass_glass_heat_capacity, has_pairs)},
    {ERGO_NAMED("glass_magnetization2", "per site^2"), .help = "mean m^2",
     GLASS_AVERAGE("moments", glass_glass_magnetization2, NULL)},
    {ERGO_NAMED("swap_acceptance", ""),
     .help = "accepted exchanges of tempering, mean over the ladder, from the start of the run, or "
             "since feedback moved the temperatures",
     GLASS_AVERAGE("ladder_swaps", ergo_curve_mean, model_has_ladder)},
    {ERGO_NAMED("round_trips", "per million sweeps"),
     .help = "ways of a copy from the ladder's cold end to the hot one and back, from the start of "
             "the run, or since feedback moved the temperatures",
     GLASS_AVERAGE("round_trips", ergo_curve_first, model_has_ladder)},
};

static const struct ergo_curve_info curves[GLASS_CURVES] = {
    {.name = "ladder_energy",
     .x_label = "temperature (J/k_B)",
     .unit = "J per site",
     .help = "mean energy; errors of all ladder curves from the spread of samples"},
    {.name = "ladder_heat_capacity",
     .x_label = "temperature (J/k_B)",
     .unit = "k_B per site",
     .help = "N [<e^2> - <e>^2] / T^2, <e>^2 from two copies"},
    {.name = "ladder_overlap2",
     .x_label = "temperature (J/k_B)",
     .unit = "per site^2",
     .help = "[<q^2>]"},
    {.name = "ladder_binder",
     .x_label = "temperature (J/k_B)",
     .unit = "",
     .help = "(3 - [<q^4>] / [<q^2>]^2) / 2"},
    {.name = "ladder_length",
     .x_label = "temperature (J/k_B)",
     .unit = "sites",
     .help = "second-moment correlation length of the overlap"},
    {.name = "ladder_swaps",
     .x_label = "temperature (J/k_B)",
     .unit = "",
     .help = "accepted exchanges with the next temperature, from the start of the run, or since "
             "feedback moved the temperatures"},
    {.name = "overlap",
     .x_label = "q",
     .unit = "",
     .help = "P(q) at the lowest temperature, a density"},
    {.name = "moments",
     .x_label = "observable",
     .unit = "",
     .help = "lowest temperature: energy, m, m^2, |q|, q^2, q^4, Binder's, length, heat "
             "capacity, overlap susceptibility, by pseudo-values of samples"},
    {.name = "halves",
     .x_label = "moment",
     .unit = "",
     .help = "means over the even lanes of words, then over the odd ones: at each "
             "temperature e, e^2, e e', |q|, q^2, q^4, |q_k|^2, |m|, m^2, m^4, m, q q' of four "
             "copies; the bins of P(q); "
             "then exchanges and round trips of all samples since the start, and tries"},
    {.name = "samples",
     .x_label = "moment",
     .unit = "",
     .help = "sample by sample, as halves, in whole numbers (glass_units_of)"},
    {.name = "exchanges",
     .x_label = "pair of temperatures",
     .unit = "",
     .help = "sample by sample: exchanges of each temperature with the next, of all "
             "copies; round trips; from the start of the run, or since feedback moved the "
             "temperatures"},
    {.name = "round_trips",
     .x_label = "once",
     .unit = "per million sweeps",
     .help = "as the observable"},
    ERGO_LADDER_TEMPERATURES,
    {.name = "autocorrelation",
     .x_label = "time (sweeps)",
     .unit = "",
     .help = "with a waiting_time: [<s(0) s(t)>] of a site, of the first copy; errors from the "
             "spread of words of 32 samples"},
    {.name = "chi4_overlap",
     .x_label = "time (sweeps)",
     .unit = "",
     .help =
         "N (<q^2> - <q>^2) over samples of the overlap q = sum s(0) s(t) / N, <q>^2 from pairs "
         "of different words"},
};

static const char *unweighted(const struct ergo_point *point) {
    (void)point;
    return "what is recorded is a mean over its samples of the disorder, and the ladder "
           "has other temperatures already";
}

/* ---- the model ------------------------------------------------------------------------------- */

static const struct ergo_tunable tunables[] = {
    {"path",
     "0 automatic, 1 a quad of copies per work-group in local memory, 2 and 3 half a sweep per "
     "launch",
     0, 3, false},
    {"work_group", "work-items per group (a power of two)", 0, 1024, true},
};

static const char *const first_job[] = {"/system/size=[4, 4, 4]",    "/system/samples=64",
                                        "/system/temperature=1.1",   "/system/ladder=8",
                                        "/system/temperature_max=2", "/system/swap_every=10",
                                        "/run/equilibration=1000",   "/run/sweeps=4000",
                                        "/run/measure_every=20",     NULL};

const struct ergo_model spin_glass_model = {
    .name = "spin-glass",
    .summary =
        "H = -sum J_ij s_i s_j - sum (B + h f_i) s_i over nearest neighbours with random "
        "J_ij, in two or three dimensions (Edwards, Anderson 1975), with parallel tempering.",
    .programs = {"spin_lattice/glass.cl", "spin_lattice/glass_local.cl",
                 "spin_lattice/glass_temper.cl", "spin_lattice/glass_measure.cl",
                 "spin_lattice/glass_border.cl", "spin_lattice/glass_cluster.cl"},
    .first = first_job,
    .keys = {{keys, sizeof keys / sizeof keys[0]},
             {ladder_keys, LADDER_KEYS},
             {cluster_keys, sizeof cluster_keys / sizeof cluster_keys[0]},
             {more_keys, sizeof more_keys / sizeof more_keys[0]},
             {share_keys, sizeof share_keys / sizeof share_keys[0]}},
    .columns = columns,
    .n_columns = COLUMNS,
    .observables = observables,
    .n_observables = sizeof observables / sizeof observables[0],
    .curves = curves,
    .n_curves = GLASS_CURVES,
    .curves_at_end = ((1u << CURVE_HALVES) - 1) | 1u << CURVE_EXCHANGES | 1u << CURVE_ROUND_TRIPS |
                     1u << CURVE_LADDER_TEMPERATURES | 1u << CURVE_GLASS_TWO_TIMES |
                     1u << CURVE_GLASS_CHI4,
    .state_tail = timed_tail,
    .cuts = glass_may_be_cut,
    .curves_hidden = 1u << CURVE_MOMENTS | 1u << CURVE_HALVES | 1u << CURVE_SAMPLES |
                     1u << CURVE_EXCHANGES | 1u << CURVE_ROUND_TRIPS,
    .curves_sums = 1u << CURVE_SAMPLES | 1u << CURVE_EXCHANGES,
    .tunables = tunables,
    .n_tunables = sizeof tunables / sizeof tunables[0],
    .unweighted = unweighted,
    .extends = glass_extends,
    .check = glass_check,
    .form = glass_form,
    .curve_size = glass_curve_size,
    .curve_x = glass_curve_x,
    .x_from = ergo_tempered_x,
    .exact = glass_exact,
    .ops = &glass_ops,
    .cut = &glass_cut_ops,
};
