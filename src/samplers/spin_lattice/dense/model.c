/* Fully connected spin glasses: their tables. */
#include "samplers/spin_lattice/ergodic.h"
#include "samplers/spin_lattice/dense/dense.h"
#include "samplers/spin_lattice/graph/graph.h"
#include "samplers/spin_lattice/models.h"

/* ---- keys ------------------------------------------------------------------------------------ */

#define SITES(MOST, NOTE)                                                                          \
    {                                                                                              \
        ERGO_KEY("/system/n", INT),                                                                \
            .flags = ERGO_KEY_FORM | ERGO_KEY_REQUIRED | ERGO_KEY_SCAN | ERGO_KEY_SHAPE |          \
                     ERGO_KEY_CHAIN,                                                               \
            .min = 4, .max = (MOST), .unit = "spins",                                              \
            .help = "Number of spins, all coupled to all. " NOTE                                   \
    }

static const struct ergo_key first_keys[] = {
    SITES(DENSE_SITES_MAX, "The couplings of a realisation take 2 n^2 bytes."),
    {ERGO_KEY("/system/disorder", ENUM), .flags = ERGO_KEY_CHAIN | ERGO_KEY_SHAPE,
     .fallback = "\"bimodal\"", .stream = "", .choices = model_disorders, .unit = "",
     .help = "Random couplings J_ij of mean 0 and variance 1/n: bimodal, +1/sqrt(n) or "
             "-1/sqrt(n); gaussian. They are rounded to multiples of 2^-12/sqrt(n)."},
};

static const struct ergo_key orthogonal_keys[] = {
    SITES(4096,
          "Even. The couplings of a realisation take 2 n^2 bytes, and to draw them takes some "
          "n^3 operations: half a second for 1024 spins."),
};

static const struct ergo_key keys[] = {
    {ERGO_KEY("/system/temperature", REAL),
     .flags = ERGO_KEY_SCAN | ERGO_KEY_CHAIN | ERGO_KEY_EXCLUDES_MIN, .min = 0, .max = 1e12,
     .unit = "1/k_B",
     .help = "Temperature T in the energy unit of H (k_B = 1), needed; of a ladder the lowest. Of "
             "infinite "
             "systems without a field: sherrington-kirkpatrick is critical at T = 1; "
             "random-orthogonal falls out of equilibrium at 0.134 and freezes at 0.065."},
    {ERGO_KEY("/system/field", REAL), .flags = ERGO_KEY_SCAN | ERGO_KEY_CHAIN, .fallback = "0",
     .min = -100, .max = 100, .unit = "",
     .help = "Field h, rounded to a multiple of 2^-12/sqrt(n)."},
    {ERGO_KEY("/system/dynamics", ENUM), .flags = ERGO_KEY_CHAIN | ERGO_KEY_SHAPE,
     .fallback = "\"metropolis\"", .choices = model_dynamics, .unit = "",
     .help = "Single-spin rule: metropolis, flip with min(1, exp(-dE/T)); heat-bath, flip with "
             "1/(1 + exp(dE/T)). A sweep tries the spins one after the other. With couplings "
             "+1 and -1, and where these and the field can cancel, " ERGODIC_WORDS,
     .instead = dense_instead},
    {ERGO_KEY("/system/start", ENUM), .flags = ERGO_KEY_CHAIN | ERGO_KEY_SHAPE,
     .fallback = "\"random\"", .choices = model_starts, .unit = "",
     .help = "Starting configuration."},
    {ERGO_KEY("/system/disorder_seed", SEED), .flags = ERGO_KEY_SHAPE, .unit = "",
     .help = "The seed of the couplings; /seed if not given. Couplings depend on it and on the "
             "replica, not on the temperature: a scan over it has the same samples."},
    {ERGO_KEY("/system/samples", INT), .flags = ERGO_KEY_FORM | ERGO_KEY_SCAN | ERGO_KEY_SHAPE,
     .fallback = "32", .min = 1, .max = 1048576, .unit = "",
     .help = "Samples (realisations) of the disorder within a chain of the job. Their spread gives "
             "the errors of averages over the disorder, from 20 samples on. A single sample has "
             "thermal errors. More keep the first ones as they were."},
    {ERGO_KEY("/system/copies", INT), .flags = ERGO_KEY_FORM | ERGO_KEY_SHAPE | ERGO_KEY_CHAIN,
     .fallback = "2", .stream = "", .min = 1, .max = 2, .unit = "",
     .help = "Independent copies (replicas) of each sample at each temperature; overlaps need 2."},
    {ERGO_KEY("/run/method", ENUM), .flags = ERGO_KEY_SHAPE, .fallback = "\"sample\"",
     .choices = graph_methods, .unit = "",
     .help = "sample. The others (lowest states of a realisation, free energies) are those of "
             "model graph, whose graph has the name of this model."},
};

/* ---- observables ----------------------------------------------------------------------------- */

static const struct ergo_column columns[COLUMNS] = {
    {"energy", "per site", "E/n, mean over samples, at the lowest temperature"},
    {"magnetization", "per site", "sum s / n, mean over samples, at the lowest temperature"},
};

static bool has_pairs(const struct ergo_point *point) {
    return ergo_point_int(point, "/system/copies") > 1;
}

#define DENSE_MOMENT(NAME)                                                                         \
    static double dense_##NAME(const struct ergo_point *point, const double *mean, size_t size) {  \
        (void)size;                                                                                \
        return dense_moment(point, #NAME, mean);                                                   \
    }
DENSE_MOMENT(energy)
DENSE_MOMENT(magnetization)
DENSE_MOMENT(overlap_abs)
DENSE_MOMENT(overlap2)
DENSE_MOMENT(overlap4)
DENSE_MOMENT(overlap_binder)
DENSE_MOMENT(glass_heat_capacity)
DENSE_MOMENT(glass_magnetization2)

/* An average over the samples. */
#define DENSE_AVERAGE(CURVE, FROM, APPLIES)                                                        \
    .curve = (CURVE), .from_curve = (FROM), .independent = true, .more = "/system/samples",        \
    .applies = (APPLIES)

static const struct ergo_observable observables[] = {
    {ERGO_NAMED("energy", "per site"),
     .help = "mean energy E/n at the lowest temperature. Errors are those of averages over the "
             "disorder, from the spread of the samples (a single sample: its thermal error)",
     DENSE_AVERAGE("moments", dense_energy, NULL)},
    {ERGO_NAMED("magnetization", "per site"), .help = "mean m at the lowest temperature",
     DENSE_AVERAGE("moments", dense_magnetization, NULL)},
    {ERGO_NAMED("overlap_abs", "per site"),
     .help = "mean |q| of two copies at the lowest temperature; infinite "
             "sherrington-kirkpatrick, below T = 1 without a field: 1 - T",
     DENSE_AVERAGE("moments", dense_overlap_abs, has_pairs)},
    {ERGO_NAMED("overlap2", "per site^2"),
     .help = "mean q^2. Gaussian couplings without a field, any n and T: [e] = -(1 - [q^2])/(2 T)",
     DENSE_AVERAGE("moments", dense_overlap2, has_pairs)},
    {ERGO_NAMED("overlap4", "per site^4"), .help = "mean q^4",
     DENSE_AVERAGE("moments", dense_overlap4, has_pairs)},
    {ERGO_NAMED("overlap_binder", ""),
     .help = "(3 - [<q^4>] / [<q^2>]^2) / 2: curves of all sizes cross at the critical point",
     DENSE_AVERAGE("moments", dense_overlap_binder, has_pairs), .crosses = true},
    {ERGO_NAMED("glass_heat_capacity", "k_B per site"),
     .help = "n [<e^2> - <e>^2] / T^2, <e>^2 from two copies",
     DENSE_AVERAGE("moments", dense_glass_heat_capacity, has_pairs)},
    {ERGO_NAMED("glass_magnetization2", "per site^2"), .help = "mean m^2",
     DENSE_AVERAGE("moments", dense_glass_magnetization2, NULL)},
    {ERGO_NAMED("acceptance", ""),
     .help = "flips per trial at the lowest temperature, from the start of the run. A flip visits "
             "n couplings",
     DENSE_AVERAGE("ladder_acceptance", ergo_curve_first, NULL), .of_moves = true},
    {ERGO_NAMED("swap_acceptance", ""),
     .help = "accepted exchanges of tempering, mean over the ladder, from the start of the run, or "
             "since feedback moved the temperatures",
     DENSE_AVERAGE("ladder_swaps", ergo_curve_mean, model_has_ladder), .of_moves = true},
    {ERGO_NAMED("round_trips", "per million sweeps"),
     .help = "ways of a copy from the ladder's cold end to the hot one and back, from the start of "
             "the run, or since feedback moved the temperatures",
     DENSE_AVERAGE("round_trips", ergo_curve_first, model_has_ladder), .of_moves = true},
};

static const struct ergo_curve_info curves[DENSE_CURVES] = {
    {.name = "ladder_energy",
     .x_label = "temperature",
     .unit = "per site",
     .help = "mean energy; errors of all ladder curves from the spread of samples"},
    {.name = "ladder_heat_capacity",
     .x_label = "temperature",
     .unit = "k_B per site",
     .help = "n [<e^2> - <e>^2] / T^2, <e>^2 from two copies"},
    {.name = "ladder_overlap2", .x_label = "temperature", .unit = "", .help = "[<q^2>]"},
    {.name = "ladder_binder",
     .x_label = "temperature",
     .unit = "",
     .help = "(3 - [<q^4>] / [<q^2>]^2) / 2"},
    {.name = "ladder_acceptance",
     .x_label = "temperature",
     .unit = "",
     .help = "flips per trial, from the start of the run"},
    {.name = "ladder_swaps",
     .x_label = "temperature",
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
     .help = "lowest temperature: energy, m, m^2, |q|, q^2, q^4, Binder's, heat capacity, by "
             "pseudo-values of samples"},
    {.name = "samples",
     .x_label = "moment",
     .unit = "",
     .help = "sample by sample: at each temperature e, e^2, e e', |q|, q^2, q^4, m, m^2 in units "
             "of 2^-28; counts of P(q)"},
    {.name = "times", .x_label = "moment", .unit = "", .help = "the same of a single sample"},
    {.name = "round_trips",
     .x_label = "once",
     .unit = "per million sweeps",
     .help = "as the observable"},
    ERGO_LADDER_TEMPERATURES,
};

static const char *unweighted(const struct ergo_point *point) {
    (void)point;
    return "what is recorded is a mean over its samples of the disorder, and the ladder "
           "has other temperatures already";
}

/* ---- the models ------------------------------------------------------------------------------ */

static const struct ergo_tunable tunables[] = {
    {"work_group",
     "work-items of a chain (a power of two); automatic: a CPU core has a chain of its own, on "
     "GPUs eight spins for each",
     0, 1024, true},
};

static const char *const first_sk[] = {"/system/n=64",
                                       "/system/samples=32",
                                       "/system/ladder=8",
                                       "/system/temperature=0.4",
                                       "/system/temperature_max=1.4",
                                       "/run/equilibration=1000",
                                       "/run/sweeps=4000",
                                       "/run/measure_every=20",
                                       NULL};
static const char *const first_rom[] = {"/system/n=64",
                                        "/system/samples=32",
                                        "/system/ladder=8",
                                        "/system/temperature=0.15",
                                        "/system/temperature_max=0.6",
                                        "/run/equilibration=1000",
                                        "/run/sweeps=4000",
                                        "/run/measure_every=20",
                                        NULL};

/* clang-format off */
#define DENSE_MODEL(FIRST_KEYS, FIRST_JOB)                                                         \
    .programs = {"spin_lattice/dense.cl"},                                                         \
    .first = (FIRST_JOB),                                                                          \
    .keys = {{FIRST_KEYS, sizeof (FIRST_KEYS) / sizeof (FIRST_KEYS)[0]},                           \
             {keys, sizeof keys / sizeof keys[0]},                                                 \
             {ladder_keys, LADDER_KEYS}},                                                          \
    .columns = columns,                                                                            \
    .n_columns = COLUMNS,                                                                          \
    .observables = observables,                                                                    \
    .n_observables = sizeof observables / sizeof observables[0],                                   \
    .curves = curves,                                                                              \
    .n_curves = DENSE_CURVES,                                                                      \
    .curves_at_end = ((1u << DENSE_CURVE_SAMPLES) - 1) | 1u << DENSE_CURVE_ROUND_TRIPS |           \
                     1u << DENSE_CURVE_TEMPERATURES,                                               \
    .curves_hidden = 1u << DENSE_CURVE_MOMENTS | 1u << DENSE_CURVE_SAMPLES |                       \
                     1u << DENSE_CURVE_TIMES | 1u << DENSE_CURVE_ROUND_TRIPS,                      \
    .curves_sums = 1u << DENSE_CURVE_SAMPLES,                                                      \
    .tunables = tunables,                                                                          \
    .n_tunables = sizeof tunables / sizeof tunables[0],                                            \
    .unweighted = unweighted,                                                                      \
    .check = dense_check, .form = dense_form,                                                                          \
    .curve_size = dense_curve_size,                                                                \
    .curve_x = dense_curve_x, .x_from = ergo_tempered_x,                                            \
    .ops = &dense_ops
/* clang-format on */

const struct ergo_model sherrington_kirkpatrick_model = {
    .name = "sherrington-kirkpatrick",
    .summary = "H = -1/2 sum_{i != j} J_ij s_i s_j - h sum s_i, all pairs, J_ij = J_ji random of "
               "mean 0 and variance 1/n (Sherrington, Kirkpatrick 1975), with parallel tempering. "
               "Infinite systems without a field: T_c = 1, lowest energy -0.7632 per site.",
    DENSE_MODEL(first_keys, first_sk),
};

const struct ergo_model random_orthogonal_model = {
    .name = "random-orthogonal",
    .summary = "H = -1/2 sum_{i != j} J_ij s_i s_j - h sum s_i, J = O^T D O, O a random orthogonal "
               "matrix, half of D's eigenvalues 1 and half -1, the diagonal of J left out "
               "(Marinari, Parisi, Ritort 1994), with parallel tempering. J_ij has variance 1/n. "
               "Infinite systems without a field: e = -(sqrt(1 + 4/T^2) - 1) T/4 above T = 0.065.",
    DENSE_MODEL(orthogonal_keys, first_rom),
};
