/* Spin glasses: their tables. */
#include "samplers/lattice/keys.h"
#include "samplers/spin_lattice/ergodic.h"
#include "samplers/spin_lattice/spin_glass/glass.h"
#include "samplers/spin_lattice/two_times.h"

/* ---- keys ------------------------------------------------------------------------------------ */

static bool draws_disorder(const struct ergo_point *point) {
    return !of_lattice(point)->disorder_file.present || model_draws_fields(point);
}

static bool draws_signs(const struct ergo_point *point) {
    return !of_lattice(point)->disorder_file.present &&
           !ergo_says(of_lattice(point)->disorder.text, "gaussian");
}

static const struct ergo_key keys[] = {
    {LATTICE_SIZE(2, 3, 1048576),
     .help = "Lattice sides, periodic: [Lx, Ly] or [Lx, Ly, Lz], all even (the checkerboard needs "
             "it). A side of 2 has two bonds between the same neighbours."},
    {LATTICE_TEMPERATURE(ERGO_KEY_REQUIRED),
     .help = "Temperature T in the energy unit of the coupling (k_B = 1); of a ladder the lowest. "
             "By Metropolis at most 1000 bonds of a spin."},
    {LATTICE_ENERGY_KEY(coupling, "/system/coupling", "1"),
     .help = "The unit of the couplings J_ij."},
    {LATTICE_ENERGY_KEY(field, "/system/field", "0"),
     .help = "Magnetic field B: positive prefers up; at most what all forces below 63 couplings "
             "allow. With fields of any kind couplings and fields are counted for each sample, as "
             "gaussian ones are, which takes longer."},
    {LATTICE_RANDOM_FIELD,
     .help =
         "h of a random field h f_i beside the uniform one, both together below 63 couplings; f_i "
         "by field_distribution, or from field_file (h is 1 then, if not given). Each sample has "
         "its own, which depends on disorder_seed and replica, not on the temperature."},
    {LATTICE_FIELD_DISTRIBUTION(model_disorders),
     .help = "f_i of the random field: bimodal (if not given), +1 or -1 with probability 1/2; "
             "gaussian, of mean 0 and variance 1."},
    {LATTICE_FIELD_FILE,
     .help = "A file with f_i: for each site, x fastest, then y, then z, a number for each of the "
             "samples, up to 1e6, with blanks or ends of lines between them; # a comment. Fields "
             "are rounded to 2^-24 of the coupling."},
    {LATTICE_DYNAMICS(model_dynamics),
     .help = "Single-spin rule: metropolis, flip with min(1, exp(-dE/T)); heat-bath, flip with "
             "1/(1 + exp(dE/T)). Sites of one colour of the checkerboard go together. With "
             "couplings +1 and -1 " ERGODIC_WORDS,
     .instead = glass_instead},
    {LATTICE_START(model_starts), .help = "Starting configuration."},
    {LATTICE_DISORDER(model_disorders), .fallback = "\"bimodal\"", .stream = "",
     .help = "Random couplings J_ij, in units of /system/coupling: bimodal, +1 or -1; gaussian, of "
             "mean 0 and variance 1. Both may come from a file."},
    {LATTICE_KEY(disorder_file, "/system/disorder_file", STRING),
     .flags = ERGO_KEY_SHAPE | ERGO_KEY_FILE, .unit = "",
     .help = "A file with the couplings: lines \"x y [z] axis J\" for the bond from a site to its "
             "neighbour in the positive direction of axis x, y or z, each bond once; \"sample\" "
             "begins the next sample; # a comment. Couplings other than 1 and -1 need disorder "
             "gaussian, and are rounded to 2^-24."},
    {LATTICE_DISORDER_SEED,
     .help = "The seed of couplings and random fields; /seed if not given. They depend on it and "
             "on the replica, not on the temperature: a scan over it has the same samples.",
     .acts = draws_disorder, .where = "where couplings or fields are drawn, without their files"},
    {LATTICE_KEY(negative_fraction, "/system/negative_fraction", REAL),
     .flags = ERGO_KEY_FORM | ERGO_KEY_SCAN | ERGO_KEY_CHAIN, .min = 0, .max = 1, .unit = "",
     .help = "Bimodal disorder: the probability of J = -1; 0.5 if not given. 0 is the ferromagnet.",
     .acts = draws_signs,
     .where =
         "where couplings are drawn as +1 and -1: with disorder bimodal, without disorder_file"},
    {LATTICE_KEY(samples, "/system/samples", INT),
     .flags = ERGO_KEY_FORM | ERGO_KEY_SCAN | ERGO_KEY_SHAPE, .min = 1, .max = 2097152, .unit = "",
     .help = "Samples of the disorder within a chain of the job, a multiple of 32, which share a "
             "word and random numbers; 32 if not given, from a file 1. Their spread gives the "
             "errors of averages over the disorder, and what the samples of a word fluctuate "
             "together is added; from 20 samples on. A single sample has thermal errors. More keep "
             "the first ones as they were."},
    {LATTICE_KEY(copies, "/system/copies", INT),
     .flags = ERGO_KEY_FORM | ERGO_KEY_SHAPE | ERGO_KEY_CHAIN, .fallback = "2", .stream = "",
     .min = 1, .max = 4, .unit = "",
     .help = "Independent copies (replicas) of each sample at each temperature, 1, 2 or 4; "
             "overlaps need 2."},
};

static const struct ergo_key cluster_keys[] = {
    {LATTICE_KEY(cluster_every, "/system/cluster_every", INT),
     .flags = ERGO_KEY_SHAPE | ERGO_KEY_CHAIN, .min = 1, .max = 1000000, .unit = "sweeps",
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
    {JOB_SHARES,
     .help =
         "Shares of the ranks in a ladder that is divided over them; the chain does not depend on "
         "it. measured (if not given): by a short trial at the start, and again when the run has "
         "become slower; equal; or numbers > 0, \"3,1\", dealt out to the ranks in turn.",
     .acts = model_has_ladder, .where = "with a ladder"},
};

/* ---- observables ----------------------------------------------------------------------------- */

static const struct ergo_column columns[COLUMNS] = {
    {"energy", "per site, in units of J = 1", "U/N, mean over samples, at the lowest temperature"},
    {"magnetization", "per site", "sum s / N, mean over samples, at the lowest temperature"},
};

static bool has_four(const struct ergo_point *point) {
    return of_lattice(point)->copies == 4;
}

static const struct ergo_observable observables[] = {
    OVERLAP_OBSERVABLES("J per site", "N", GLASS_HEAT, "", ""),
    OVERLAP_AVERAGE("overlap_length", "sites", GLASS_LENGTH, overlap_has_pairs,
                    "second-moment correlation length of the overlap along the last direction"),
    OVERLAP_AVERAGE(
        "overlap_susceptibility", "per site", GLASS_CONNECTED, has_four,
        "with four copies: N ([<q^2>] - [<q>^2]), <q>^2 without bias, as the product of the "
        "overlaps of two pairs that have no copy in common: the spin glass susceptibility, also "
        "in a field, where <q> is not 0. Without one and in equilibrium over all signs <q> is 0, "
        "and this N [<q^2>]"),
};

static const struct ergo_curve_info curves[GLASS_CURVES] = {
    OVERLAP_LADDER_CURVES("J per site", "N"),
    {"ladder_length", "temperature", "sites", "second-moment correlation length of the overlap"},
    ERGO_LADDER_SWAPS,
    OVERLAP_DISTRIBUTION,
    {"moments", "observable", "",
     "lowest temperature: energy, m, m^2, |q|, q^2, q^4, Binder's, length, heat capacity, overlap "
     "susceptibility, by pseudo-values of samples"},
    {"halves", "moment", "",
     "means over the even lanes of words, then over the odd ones: at each temperature e, e^2, e "
     "e', |q|, q^2, q^4, |q_k|^2, |m|, m^2, m^4, m, q q' of four copies; the bins of P(q); then "
     "exchanges and round trips of all samples since the start, and tries"},
    {"samples", "moment", "", "sample by sample, as halves, in whole numbers (glass_units_of)"},
    {"exchanges", "pair of temperatures", "",
     "sample by sample: exchanges of each temperature with the next, of all copies; round trips; "
     "from the start of the run, or since feedback moved the temperatures"},
    ERGO_LADDER_TRIPS,
    ERGO_LADDER_TEMPERATURES,
    {"autocorrelation", "time (sweeps)", "",
     "with a waiting_time: [<s(0) s(t)>] of a site, of the first copy; errors from the spread of "
     "words of 32 samples"},
    {"chi4_overlap", "time (sweeps)", "",
     "N (<q^2> - <q>^2) over samples of the overlap q = sum s(0) s(t) / N, <q>^2 from pairs of "
     "different words"},
};

/* ---- the model ------------------------------------------------------------------------------- */

static const struct ergo_tunable tunables[] = {
    {ERGO_TUNABLE(ergo_parameters, path),
     "0 automatic, 1 a quad of copies per work-group in local memory, 2 and 3 half a sweep per "
     "launch",
     0, 3, false},
    {ERGO_TUNABLE_GROUP},
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
    .parameters = sizeof(struct lattice_parameters),
    .keys = {{keys, sizeof keys / sizeof keys[0]},
             {ladder_keys, LADDER_KEYS},
             {cluster_keys, sizeof cluster_keys / sizeof cluster_keys[0]},
             {more_keys, sizeof more_keys / sizeof more_keys[0]},
             {share_keys, sizeof share_keys / sizeof share_keys[0]}},
    ERGO_TABLE(columns, columns),
    ERGO_TABLE(observables, observables),
    ERGO_TABLE(curves, curves),
    .curves_at_end = ((1u << CURVE_HALVES) - 1) | 1u << CURVE_EXCHANGES | 1u << CURVE_ROUND_TRIPS |
                     1u << CURVE_LADDER_TEMPERATURES | 1u << CURVE_GLASS_TWO_TIMES |
                     1u << CURVE_GLASS_CHI4,
    .state_tail = timed_tail,
    .cuts = glass_may_be_cut,
    .curves_hidden = 1u << CURVE_MOMENTS | 1u << CURVE_HALVES | 1u << CURVE_SAMPLES |
                     1u << CURVE_EXCHANGES | 1u << CURVE_ROUND_TRIPS,
    .curves_sums = 1u << CURVE_SAMPLES | 1u << CURVE_EXCHANGES,
    ERGO_TABLE(tunables, tunables),
    .unweighted = overlap_unweighted,
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
