/* Fully connected spin glasses: their tables. */
#include "samplers/lattice/keys.h"
#include "samplers/spin_lattice/dense/dense.h"
#include "samplers/spin_lattice/ergodic.h"
#include "samplers/spin_lattice/graph/graph.h"
#include "samplers/spin_lattice/models.h"

/* ---- keys ------------------------------------------------------------------------------------ */

#define SITES(MOST, NOTE)                                                                          \
    {                                                                                              \
        LATTICE_KEY(n, "/system/n", INT),                                                          \
            .flags = ERGO_KEY_FORM | ERGO_KEY_REQUIRED | ERGO_KEY_SCAN | ERGO_KEY_SHAPE |          \
                     ERGO_KEY_CHAIN,                                                               \
            .min = 4, .max = (MOST), .unit = "spins",                                              \
            .help = "Number of spins, all coupled to all. " NOTE                                   \
    }

static const struct ergo_key first_keys[] = {
    SITES(DENSE_SITES_MAX, "The couplings of a realisation take 2 n^2 bytes."),
    {LATTICE_DISORDER(model_disorders), .fallback = "\"bimodal\"", .stream = "",
     .help = "Random couplings J_ij of mean 0 and variance 1/n: bimodal, +1/sqrt(n) or -1/sqrt(n); "
             "gaussian. They are rounded to multiples of 2^-12/sqrt(n)."},
};

static const struct ergo_key orthogonal_keys[] = {
    SITES(4096,
          "Even. The couplings of a realisation take 2 n^2 bytes, and to draw them takes some "
          "n^3 operations: half a second for 1024 spins."),
};

static const struct ergo_key keys[] = {
    {JOB_KEY(temperature, "/system/temperature", REAL),
     .flags = ERGO_KEY_SCAN | ERGO_KEY_CHAIN | ERGO_KEY_EXCLUDES_MIN, .min = 0, .max = 1e12,
     .unit = "1/k_B",
     .help = "Temperature T in the energy unit of H (k_B = 1), needed; of a ladder the lowest. Of "
             "infinite "
             "systems without a field: sherrington-kirkpatrick is critical at T = 1; "
             "random-orthogonal falls out of equilibrium at 0.134 and freezes at 0.065."},
    {LATTICE_KEY(field, "/system/field", REAL), .flags = ERGO_KEY_SCAN | ERGO_KEY_CHAIN,
     .fallback = "0", .min = -100, .max = 100, .unit = "",
     .help = "Field h, rounded to a multiple of 2^-12/sqrt(n)."},
    {LATTICE_DYNAMICS(model_dynamics),
     .help = "Single-spin rule: metropolis, flip with min(1, exp(-dE/T)); heat-bath, flip with "
             "1/(1 + exp(dE/T)). A sweep tries the spins one after the other. With couplings +1 "
             "and -1, and where these and the field can cancel, " ERGODIC_WORDS,
     .instead = dense_instead},
    {LATTICE_START(model_starts), .help = "Starting configuration."},
    {LATTICE_DISORDER_SEED,
     .help = "The seed of the couplings; /seed if not given. Couplings depend on it and on the "
             "replica, not on the temperature: a scan over it has the same samples."},
    {LATTICE_KEY(samples, "/system/samples", INT),
     .flags = ERGO_KEY_FORM | ERGO_KEY_SCAN | ERGO_KEY_SHAPE, .fallback = "32", .min = 1,
     .max = 1048576, .unit = "",
     .help = "Samples (realisations) of the disorder within a chain of the job. Their spread gives "
             "the errors of averages over the disorder, from 20 samples on. A single sample has "
             "thermal errors. More keep the first ones as they were."},
    {LATTICE_KEY(copies, "/system/copies", INT),
     .flags = ERGO_KEY_FORM | ERGO_KEY_SHAPE | ERGO_KEY_CHAIN, .fallback = "2", .stream = "",
     .min = 1, .max = 2, .unit = "",
     .help = "Independent copies (replicas) of each sample at each temperature; overlaps need 2."},
    {LATTICE_KEY(run_method, "/run/method", ENUM), .flags = ERGO_KEY_SHAPE,
     .fallback = "\"sample\"", .choices = graph_methods, .unit = "",
     .help = "sample. The others (lowest states of a realisation, free energies) are those of "
             "model graph, whose graph has the name of this model."},
};

/* ---- observables ----------------------------------------------------------------------------- */

static const struct ergo_column columns[COLUMNS] = {
    {"energy", "per site", "E/n, mean over samples, at the lowest temperature"},
    {"magnetization", "per site", "sum s / n, mean over samples, at the lowest temperature"},
};

static const struct ergo_observable observables[] = {
    OVERLAP_OBSERVABLES("per site", "n", DENSE_HEAT,
                        "; infinite sherrington-kirkpatrick, below T = 1 without a field: 1 - T",
                        ". Gaussian couplings without a field, any n and T: [e] = -(1 - [q^2])/(2 "
                        "T)"),
    {ERGO_NAMED("acceptance", ""),
     .help = "flips per trial at the lowest temperature, from the start of the run. A flip visits "
             "n couplings",
     .curve = "ladder_acceptance", .independent = true, .more = "/system/samples",
     .of_moves = true},
};

static const struct ergo_curve_info curves[DENSE_CURVES] = {
    OVERLAP_LADDER_CURVES("per site", "n"),
    {"ladder_acceptance", "temperature", "", "flips per trial, from the start of the run"},
    ERGO_LADDER_SWAPS,
    OVERLAP_DISTRIBUTION,
    {"moments", "observable", "",
     "lowest temperature: energy, m, m^2, |q|, q^2, q^4, Binder's, heat capacity, by pseudo-values "
     "of samples"},
    {"samples", "moment", "",
     "sample by sample: at each temperature e, e^2, e e', |q|, q^2, q^4, m, m^2 in units of 2^-28; "
     "counts of P(q)"},
    {"times", "moment", "", "the same of a single sample"},
    ERGO_LADDER_TRIPS,
    ERGO_LADDER_TEMPERATURES,
};

/* ---- the models ------------------------------------------------------------------------------ */

static const struct ergo_tunable tunables[] = {
    {ERGO_TUNABLE(ergo_parameters, work_group),
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
    .parameters = sizeof(struct lattice_parameters), \
    .keys = {{FIRST_KEYS, sizeof (FIRST_KEYS) / sizeof (FIRST_KEYS)[0]},                           \
             {keys, sizeof keys / sizeof keys[0]},                                                 \
             {ladder_keys, LADDER_KEYS}},                                                          \
    ERGO_TABLE(columns, columns),                                                                  \
    ERGO_TABLE(observables, observables),                                                          \
    ERGO_TABLE(curves, curves),                                                                    \
    .curves_at_end = ((1u << DENSE_CURVE_SAMPLES) - 1) | 1u << DENSE_CURVE_ROUND_TRIPS |           \
                     1u << DENSE_CURVE_TEMPERATURES,                                               \
    .curves_hidden = 1u << DENSE_CURVE_MOMENTS | 1u << DENSE_CURVE_SAMPLES |                       \
                     1u << DENSE_CURVE_TIMES | 1u << DENSE_CURVE_ROUND_TRIPS,                      \
    .curves_sums = 1u << DENSE_CURVE_SAMPLES,                                                      \
    ERGO_TABLE(tunables, tunables),                                                                \
    .unweighted = overlap_unweighted,                                                                      \
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

/* `rule`: what has one draws no disorder by a key. */
static const enum dense_disorder orthogonal = DENSE_ORTHOGONAL;

const struct ergo_model random_orthogonal_model = {
    .name = "random-orthogonal",
    .rule = &orthogonal,
    .summary = "H = -1/2 sum_{i != j} J_ij s_i s_j - h sum s_i, J = O^T D O, O a random orthogonal "
               "matrix, half of D's eigenvalues 1 and half -1, the diagonal of J left out "
               "(Marinari, Parisi, Ritort 1994), with parallel tempering. J_ij has variance 1/n. "
               "Infinite systems without a field: e = -(sqrt(1 + 4/T^2) - 1) T/4 above T = 0.065.",
    DENSE_MODEL(orthogonal_keys, first_rom),
};
