/* Spins on any graph: tables. */
#include <math.h>

#include "samplers/spin_lattice/graph/graph.h"
#include "samplers/spin_lattice/graph/parameters.h"
#include "samplers/spin_lattice/models.h"
#include "samplers/spin_lattice/wang_landau/walk.h"

static const struct ergo_column columns[GRAPH_COLUMNS] = {
    {"total_energy", "in units of J = 1", "U, with the offset of the file"},
    {"magnetization", "per site", "sum s / N"},
    {"sites", "", "N"},
    {"levels", "", "wang-landau: levels of energy that were visited, mean over the estimates"},
    {"ln_f", "", "wang-landau: ln f, by which a visit increases ln g, mean over the estimates"},
};

/* ---- observables ----------------------------------------------------------------------------- */

static double sample_energy(const struct ergo_point *point, const double *c) {
    (void)point;
    return c[COLUMN_TOTAL] / c[COLUMN_SITES];
}

static double sample_energy2(const struct ergo_point *point, const double *c) {
    const double e = sample_energy(point, c);
    return e * e;
}

/* Means of the energy, its square, N. */
static double heat_capacity(const struct ergo_point *point, const double *m) {
    const double t = point->parameters->temperature;
    return m[2] * (m[1] - m[0] * m[0]) / (t * t);
}

static double susceptibility(const struct ergo_point *point, const double *m) {
    return m[2] * (m[1] - m[0] * m[0]) / point->parameters->temperature;
}

static const char *slow_m(const struct ergo_point *point) {
    return of_lattice(point)->field.real == 0.0
               ? "near and below a transition a system without a field changes sign only as a "
                 "whole, too rarely to average over; use order_parameter"
               : NULL;
}

static double minus_first(const struct ergo_point *point, const double *mean, size_t size) {
    (void)point, (void)size;
    return -mean[0];
}

static double entropic_size(const struct ergo_point *point, const double *mean, size_t size) {
    return (double)of_graph(point)->population / exp(mean[size - 1]);
}

/* Sweeps until one of several runs has found it, with a probability of 99%. */
static double time_to_solution(const struct ergo_point *point, double share) {
    const double sweeps = (double)point->parameters->sweeps;
    return share < 0.99 ? sweeps * log(0.01) / log1p(-share) : sweeps;
}

#define AT_END(CURVE, FACT) .curve = (CURVE), .independent = true, .fact = (FACT)
#define AT_LAST(CURVE, FACT) AT_END(CURVE, FACT), .element = -1

static const struct ergo_observable observables[] = {
    {ERGO_NAMED("energy", "J per site"), .help = "mean energy per site, with the file's offset",
     .sample = sample_energy, .applies = graph_is_sampled},
    LATTICE_ORDER("order_parameter", "mean |m|", graph_is_sampled),
    {ERGO_NAMED("heat_capacity", "k_B per site"), .help = "N (<e^2> - <e>^2) / T^2",
     .inputs = {"energy", "energy2", "sites"}, .derive = heat_capacity,
     .applies = graph_is_sampled},
    {ERGO_NAMED("susceptibility", "per site"),
     .help = "N (<m^2> - <|m|>^2) / T, m the magnetization, the finite-lattice form",
     .inputs = {"order_parameter", "magnetization2", "sites"}, .derive = susceptibility,
     .applies = graph_is_sampled},
    LATTICE_BINDER("magnetization", graph_is_sampled, ""),
    LATTICE_MAGNETIZATION(slow_m, graph_is_sampled),
    LATTICE_MOMENTS("magnetization", graph_is_sampled),
    {ERGO_NAMED("lowest_energy", "J"),
     .help = "the lowest total energy of the configurations that were looked at (lowest_every), "
             "with the file's "
             "offset, from the couplings as they are given; of replicas the lowest of theirs",
     AT_END("lowest_states", ERGO_FACT_LEAST)},
    {ERGO_NAMED("cut", ""), .help = "MaxCut files: the largest cut, minus lowest_energy",
     AT_END("lowest_states", ERGO_FACT_MOST), .from_curve = minus_first, .applies = graph_has_cut},
    {ERGO_NAMED("success", ""),
     .help = "with target_energy: 1 if the chain has seen it, else 0; of replicas their share",
     AT_END("target", ERGO_FACT_MEAN), .applies = graph_has_target},
    {ERGO_NAMED("time_to_solution", "sweeps"),
     .help = "with target_energy: of a chain, the sweep after which it first saw it; of replicas, "
             "/run/sweeps ln 0.01 / ln(1 - success), the sweeps after which one of several such "
             "runs has seen it with a probability of 99%, and never less than those of one run",
     AT_LAST("target", ERGO_FACT_SHARE), .of_share = time_to_solution, .applies = graph_has_target},
    {ERGO_NAMED("temperature_initial", "J/k_B"), .help = "where annealing began, given or not",
     AT_END("annealing", ERGO_FACT_MEAN), .applies = graph_is_annealed},
    {ERGO_NAMED("temperature_final", "J/k_B"), .help = "where annealing ended",
     AT_LAST("annealing", ERGO_FACT_MEAN), .applies = graph_is_annealed},
    ERGO_LADDER_MOVES("configuration", model_has_ladder, .fact = ERGO_FACT_MEAN),
    {ERGO_NAMED("free_energy", "J per site"),
     .help = "of a population at the last temperature, F = -T ln Z, with the file's offset; the "
             "error is of the scatter of replicas",
     .curve = "free_energy", .element = -1, .independent = true, .more = "/replicas",
     .applies = graph_is_population},
    {ERGO_NAMED("rho_t", ""),
     .help = "of a population at the last temperature: mean square family size, population times "
             "sum n_i^2, n_i the share of the descendants of member i of the start (Wang, Machta, "
             "Katzgraber, PRE 92, 063307 (2015)). About population / rho_t members are "
             "independent; for a trusted run it is at least some 100",
     AT_LAST("rho_t", ERGO_FACT_MEAN), .applies = graph_is_population},
    {ERGO_NAMED("rho_s", ""),
     .help = "likewise the entropic family size, population / exp(-sum n_i ln n_i)",
     AT_END("family_entropy", ERGO_FACT_MEAN), .from_curve = entropic_size,
     .applies = graph_is_population},
    {ERGO_NAMED("families", ""),
     .help = "of a population at the last temperature: families that are left",
     AT_LAST("families", ERGO_FACT_MEAN), .applies = graph_is_population},
    {ERGO_NAMED("ln_ground_states", ""),
     .help =
         "wang-landau: ln g of the lowest level that any estimate has found, N times the "
         "residual entropy; none if some estimate has not found it; the error is of the scatter "
         "of the estimates",
     .curve = "walk", .element = WALK_GROUND, .independent = true, .more = "/run/estimates",
     .applies = graph_is_walk},
    {ERGO_NAMED("levels", ""),
     .help = "wang-landau: levels of energy that were visited, mean over the estimates",
     AT_END("walk", ERGO_FACT_MEAN), .applies = graph_is_walk},
    {ERGO_NAMED("ln_f", ""),
     .help = "wang-landau: ln f at the end, by which a visit increases ln g; 1/t, t the moves per "
             "level, if the histogram was flat often enough",
     AT_END("walk", ERGO_FACT_MEAN), .element = WALK_LN_F, .applies = graph_is_walk},
    {ERGO_NAMED("converging", ""),
     .help = "wang-landau: share of the estimates whose ln f is 1/t, so that their error falls as "
             "1/sqrt(t)",
     AT_END("walk", ERGO_FACT_MEAN), .element = WALK_INVERSE, .applies = graph_is_walk,
     .alarm = walk_not_converged},
    {ERGO_NAMED("complete", ""),
     .help = "wang-landau: share of the estimates that have found every level that any has",
     AT_END("walk", ERGO_FACT_MEAN), .element = WALK_COMPLETE, .applies = graph_is_walk,
     .alarm = walk_not_complete},
    {ERGO_NAMED("bias_ratio", ""),
     .help = "wang-landau: half of the variance of ln g between the estimates, about its bias, in "
             "units of the error that is quoted, at the level where that is largest; it grows with "
             "the root of the number of estimates. Above 1 only more sweeps help",
     AT_END("walk", ERGO_FACT_MEAN), .element = WALK_BIAS, .applies = graph_is_walk,
     .alarm = walk_biased},
    {ERGO_NAMED("energy2", "J^2 per site^2"), .help = "mean squared energy per site",
     .sample = sample_energy2, .hidden = true},
    {ERGO_NAMED("sites", ""), .help = "N", ERGO_COLUMN(COLUMN_SITES), .hidden = true},
};

static const struct ergo_curve_info curves[GRAPH_CURVES] = {
    {"lowest_states", "rank", "J",
     "total energies of the lowest different states that the chain has seen, with the file's "
     "offset; none where it has seen fewer"},
    {"target", "0: seen, 1: when", "",
     "with target_energy: 1 if the chain has seen it, else 0; and after which sweep, none if not"},
    {"temperature_energy", "temperature", "J per site",
     "mean energy per site at the temperatures of a ladder, a population or wang-landau, with the "
     "file's offset"},
    {"temperature_heat_capacity", "temperature", "k_B per site", "N (<e^2> - <e>^2) / T^2"},
    {"temperature_order", "temperature", "per site", "mean |m|"},
    {"temperature_binder", "temperature", "", "Binder's cumulant 1 - <m^4> / (3 <m^2>^2)"},
    {"free_energy", "temperature", "J per site",
     "-T ln Z; of a population from N ln 2 at infinite temperature and the mean weights of all "
     "steps, of wang-landau from ln g"},
    {"families", "temperature", "", "of a population: families that are left"},
    {"rho_t", "temperature", "", "of a population: mean square family size"},
    {"family_entropy", "temperature", "",
     "of a population: -sum n_i ln n_i, n_i the shares of families"},
    ERGO_LADDER_SWAPS,
    ERGO_LADDER_TRIPS,
    {"ladder_moments", "moment", "", "at each temperature of a ladder e, e^2, |m|, m^2, m^4"},
    {"census", "moment", "",
     "at each temperature of a population the same; ln of the mean weight of the step to it; "
     "families, rho_t, entropy of families"},
    ERGO_LADDER_TEMPERATURES,
    {"annealing", "0: first, 1: last", "J/k_B", "the temperatures of an annealed run"},
    {"temperature_entropy", "temperature", "k_B per site",
     "of wang-landau: (E - F)/T per site, ln 2 at infinite temperature"},
    {"ln_density_of_states", "energy", "",
     "of wang-landau: ln g(E), E the total energy with the file's offset, normalised by the sum of "
     "g(E), 2^N; mean and error of the estimates; none where no walker of some estimate was"},
    {"walk", "fact", "",
     "levels found, ln f, is it 1/t, are all levels found, ln g of the lowest, bias_ratio"},
};

static double weight_of_energy(const struct ergo_point *point) {
    return -1 / point->parameters->temperature;
}

static const struct ergo_conjugate conjugates[] = {
    {COLUMN_TOTAL, .coefficient = weight_of_energy, .keys = {"/system/temperature"}},
};

static const char *unweighted(const struct ergo_point *point) {
    return graph_is_sampled(point) ? NULL
           : graph_is_walk(point)  ? "a walk that is flat in the energy has no temperature"
                                   : "annealing has no temperature of its own";
}

static bool has_frames(const struct ergo_point *point) {
    (void)point;
    return true;
}

static const struct ergo_tunable tunables[] = {
    {ERGO_TUNABLE_GROUP},
    {ERGO_TUNABLE(ergo_parameters, path),
     "0 automatic, 1 a launch for each colour, 2 chains in local memory", 0, 2, false},
    {ERGO_TUNABLE(lattice_parameters, lanes),
     "path 2 on GPUs: chains per work-group (a power of two)", 0, 64, true},
};

static const char *const first_job[] = {"/system/graph=\"triangular\"",
                                        "/system/size=[12, 12]",
                                        "/system/temperature=3.6",
                                        "/run/equilibration=1000",
                                        "/run/sweeps=20000",
                                        "/run/measure_every=5",
                                        NULL};

static bool has_column(const struct ergo_point *point, size_t c) {
    return graph_is_walk(point) ? c != COLUMN_GRAPH_M : c < COLUMN_LEVELS;
}

#define AT_THE_END                                                                                 \
    (((1u << CURVE_CHAIN_MOMENTS) - 1) | 1u << CURVE_CHAIN_TEMPERATURES |                          \
     1u << CURVE_CHAIN_ENTROPY | 1u << CURVE_LN_G | 1u << CURVE_WALK | 1u << CURVE_ANNEALING)
#define HIDDEN                                                                                     \
    (1u << CURVE_ANNEALING | 1u << CURVE_REACHED | 1u << CURVE_TRIPS | 1u << CURVE_CHAIN_MOMENTS | \
     1u << CURVE_CENSUS | 1u << CURVE_WALK)
#define GRAPH_TABLES                                                                               \
    .name = "graph",                                                                               \
    .summary = "H = -sum J_ij s_i s_j - sum h_i s_i, s = +-1, on any graph: lattices of one to "   \
               "four dimensions with couplings to further neighbours and any boundaries, or a "    \
               "file (a list of edges, MaxCut, QUBO), or a complete one with random couplings; "   \
               "at a temperature, with parallel tempering, annealed to its lowest states, as an "  \
               "annealed population, or its density of states.",                                   \
    .parameters = sizeof(struct graph_parameters),                                                 \
    .keys = {{graph_keys, GRAPH_KEYS},                                                             \
             {ladder_keys, LADDER_KEYS},                                                           \
             {graph_cluster_keys, GRAPH_CLUSTER_KEYS},                                             \
             {graph_run_keys, GRAPH_RUN_KEYS},                                                     \
             {walk_keys, WALK_KEYS}},                                                              \
    .first = first_job, ERGO_TABLE(columns, columns), .has_column = has_column,                    \
    ERGO_TABLE(observables, observables), .conjugates = conjugates, .n_conjugates = 1,             \
    .unweighted = unweighted, ERGO_TABLE(curves, curves), .curves_at_end = AT_THE_END,             \
    .curves_hidden = HIDDEN, .curves_sums = 1u << CURVE_CENSUS, .tunables = tunables,              \
    .extends = graph_extends, .x_from = ergo_tempered_x

enum ergo_status graph_extends(struct ergo_context *ctx, const struct ergo_point *from,
                               const struct ergo_point *to) {
    if (graph_is_sampled(from) || graph_is_walk(from) ||
        from->parameters->sweeps == to->parameters->sweeps)
        return ERGO_OK;
    return ergo_job_error(
        ctx, "/run/sweeps",
        "%lld instead of %lld: temperatures of this method are spread over all sweeps; "
        "make another run",
        (long long)to->parameters->sweeps, (long long)from->parameters->sweeps);
}

const struct ergo_model graph_model = {
    GRAPH_TABLES,
    .serves = graph_is_thermal,
    .n_tunables = sizeof tunables / sizeof tunables[0],
    .programs = {"spin_lattice/graph.cl", "spin_lattice/graph_methods.cl",
                 "spin_lattice/graph_local.cl", "spin_lattice/graph_lanes.cl"},
    .frame_suffix = "txt",
    .has_frames = has_frames,
    .trajectory = "configurations as text: the total energy, then a vertex and its spin in each "
                  "line",
    .check = graph_check,
    .form = graph_form,
    .curve_size = graph_curve_size,
    .curve_x = graph_curve_x,
    .measure_every = graph_measure_every,
    .ops = &graph_ops,
};

const struct ergo_model graph_walk_model = {
    GRAPH_TABLES,
    .n_tunables = 1, /* work_group */
    .programs = {"spin_lattice/walk.cl"},
    .check = walk_check,
    .form = walk_form,
    .curve_size = walk_curve_size,
    .curve_x = walk_curve_x,
    .measure_every = walk_measure_every,
    .ops = &walk_ops,
};
