/* Spins on any graph: tables. */
#include <math.h>

#include "samplers/spin_lattice/graph/graph.h"
#include "samplers/spin_lattice/models.h"
#include "samplers/spin_lattice/wang_landau/walk.h"

static const char *const formats[] = {"auto", "edges", "maxcut", "qubo", NULL};
const char *const graph_methods[] = {"sample", "anneal", "population-annealing", "wang-landau",
                                     NULL};
static const char *const schedules[] = {"geometric", "linear", "inverse", NULL};
static const char *const scales[] = {"couplings", "forces", NULL};

static bool is_file(const struct ergo_point *point) {
    return !graph_is_named(point);
}

static bool is_lattice(const struct ergo_point *point) {
    return graph_is_named(point) && !graph_is_complete(point);
}

static bool has_short_range(const struct ergo_point *point) {
    return is_lattice(point) && !model_has(point, "/system/long_range");
}

static bool has_one_coupling(const struct ergo_point *point) {
    return is_lattice(point) && !model_has(point, "/system/couplings");
}

static bool has_last_temperature(const struct ergo_point *point) {
    return graph_is_annealed(point) || graph_is_population(point);
}

static bool begins_by_itself(const struct ergo_point *point) {
    return graph_is_annealed(point) && !graph_is_complete(point) &&
           !model_has(point, "/run/temperature_initial");
}

static bool may_be_disordered(const struct ergo_point *point) {
    return is_lattice(point) || graph_has_disorder(point);
}

static bool is_drawn(const struct ergo_point *point) {
    return graph_is_complete(point) || graph_is_disordered(point);
}

/* Chains with a temperature, which keep their lowest states. */
static bool is_thermal(const struct ergo_point *point) {
    return !graph_is_walk(point);
}

#define THERMAL .acts = is_thermal, .where = "with other methods than wang-landau"

#define COMPLETE "where graph is sherrington-kirkpatrick or random-orthogonal"
#define DRAWN COMPLETE ", or a lattice with disorder"

static const struct ergo_key keys[] = {
    {ERGO_KEY("/system/graph", STRING),
     .flags = ERGO_KEY_FORM | ERGO_KEY_REQUIRED | ERGO_KEY_SHAPE | ERGO_KEY_FILE | ERGO_KEY_WORD,
     .unit = "",
     .help =
         "A lattice: chain, square, triangular, honeycomb, kagome, cubic, bcc, fcc, diamond, "
         "hypercubic (four dimensions). A complete graph with random couplings, "
         "sherrington-kirkpatrick or random-orthogonal: a realisation of the model of that "
         "name, with the methods of this one; each vertex is a colour of its own, so that for "
         "equilibria that model is faster. Or a file, whose name has a dot or a slash; its format "
         "is seen from its first line. A list of edges: lines \"i j J\", and \"h i H\" for "
         "fields; vertices are numbered from 0, or from 1 where no 0 occurs; \"n COUNT\" where "
         "some have no edge; # a comment. Gset and MaxCut: \"n m\", then m lines \"i j w\" "
         "(w 1 if missing), vertices from 1. QUBO as of qbsolv: \"p qubo 0 SIZE NODES "
         "COUPLERS\", then \"i i Q\" and \"i j Q\", from 0. Loops and second edges are "
         "refused."},
    {ERGO_KEY("/system/graph_format", ENUM), .flags = ERGO_KEY_SHAPE, .fallback = "\"auto\"",
     .choices = formats, .unit = "",
     .help = "How the file is read; auto: as its first line says. edges: H = -sum J s s - sum H s. "
             "maxcut: the energy is minus the weight of the cut. qubo: the energy is the sum of "
             "Q x x, x = 0 or 1.",
     .acts = is_file, .where = "where graph is a file"},
    {ERGO_KEY("/system/size", SIZE),
     .flags = ERGO_KEY_FORM | ERGO_KEY_SCAN | ERGO_KEY_SHAPE | ERGO_KEY_CHAIN, .min = 1,
     .max = 134217728, .min_items = 1, .max_items = 4, .unit = "cells",
     .help = "Cells along each direction, odd or even: of one site (chain, square, triangular, "
             "cubic, hypercubic: these are sides), two (honeycomb; bcc, whose cell is a cube), "
             "three (kagome), four (fcc, a cube), eight (diamond, a cube). A short side has "
             "several bonds between the same neighbours, as one with their sum.",
     .acts = is_lattice, .where = "where graph is a lattice"},
    {ERGO_KEY("/system/boundary", ENUM), .flags = ERGO_KEY_SHAPE | ERGO_KEY_CHAIN | ERGO_KEY_LIST,
     .fallback = "\"periodic\"", .choices = graph_boundaries, .max_items = 4, .unit = "",
     .help = "Boundary conditions: periodic, open or antiperiodic (couplings across it have the "
             "other sign), or an array with one for each direction.",
     .acts = is_lattice, .where = "where graph is a lattice"},
    {ERGO_KEY("/system/temperature", REAL),
     .flags = ERGO_KEY_SCAN | ERGO_KEY_CHAIN | ERGO_KEY_EXCLUDES_MIN, .min = 0, .max = 1e12,
     .unit = "J/k_B",
     .help = "Temperature T in the energy unit of the couplings (k_B = 1); of a ladder the "
             "lowest.",
     .acts = graph_is_sampled, .where = "with method sample, which needs it"},
    {ERGO_KEY("/system/coupling", REAL), .flags = ERGO_KEY_SCAN | ERGO_KEY_SHAPE | ERGO_KEY_CHAIN,
     .fallback = "1", .min = -1e6, .max = 1e6, .unit = "J",
     .help = "Coupling J of nearest neighbours: positive is ferromagnetic, negative "
             "antiferromagnetic.",
     .acts = has_one_coupling, .where = "where graph is a lattice, without couplings"},
    {ERGO_KEY("/system/couplings", REALS), .flags = ERGO_KEY_SHAPE | ERGO_KEY_CHAIN, .min = -1e6,
     .max = 1e6, .min_items = 1, .max_items = 3, .unit = "J",
     .help =
         "Couplings to nearest, second and third neighbours, [J1, J2, J3], by distance, instead "
         "of one.",
     .acts = has_short_range, .where = "where graph is a lattice, without long_range"},
    {ERGO_KEY("/system/long_range", REAL), .flags = ERGO_KEY_SCAN | ERGO_KEY_SHAPE | ERGO_KEY_CHAIN,
     .min = 0, .max = 100, .unit = "",
     .help = "Exponent a: all pairs of sites are coupled by coupling / r^a, r in units of the "
             "distance of nearest neighbours, across periodic sides to the nearest image alone "
             "(minimum image). a = 0 with coupling 1/N is the Curie-Weiss model. At most 4,096 "
             "sites; each is a colour of its own, so that a sweep is a launch for each site.",
     .acts = is_lattice, .where = "where graph is a lattice"},
    {ERGO_KEY("/system/n", INT),
     .flags = ERGO_KEY_FORM | ERGO_KEY_SCAN | ERGO_KEY_SHAPE | ERGO_KEY_CHAIN, .min = 4,
     .max = GRAPH_LONG_SITES_MAX, .unit = "spins",
     .help = "Number of spins of a complete graph, all coupled to all; of random-orthogonal even, "
             "and to draw its couplings takes some n^3 operations.",
     .acts = graph_is_complete, .where = COMPLETE},
    {ERGO_KEY("/system/disorder", ENUM), .flags = ERGO_KEY_CHAIN | ERGO_KEY_SHAPE,
     .fallback = "\"bimodal\"", .stream = "", .choices = model_disorders, .unit = "",
     .help = "Random couplings J_ij of sherrington-kirkpatrick, of mean 0 and variance 1/n: "
             "bimodal, +1/sqrt(n) or -1/sqrt(n); gaussian. Of a lattice, if given: its couplings, "
             "each times +1 or -1, or times a normal number (a spin glass of any of these "
             "lattices, boundaries and dimensions).",
     .acts = may_be_disordered, .where = "where graph is sherrington-kirkpatrick or a lattice"},
    {ERGO_KEY("/system/disorder_seed", SEED), .flags = ERGO_KEY_SHAPE, .unit = "",
     .help = "The seed of the couplings; /seed if not given.", .acts = is_drawn, .where = DRAWN},
    {ERGO_KEY("/system/realisation", INT), .flags = ERGO_KEY_SCAN | ERGO_KEY_SHAPE | ERGO_KEY_CHAIN,
     .fallback = "0", .stream = "", .min = 0, .max = 1048575, .unit = "",
     .help = "Which sample of the couplings: number k is the k-th of /system/samples of the model "
             "sherrington-kirkpatrick or random-orthogonal with this seed, of its replica 0. All "
             "replicas have this one.",
     .acts = is_drawn, .where = DRAWN},
    {ERGO_KEY("/system/field", REAL), .flags = ERGO_KEY_SCAN | ERGO_KEY_SHAPE | ERGO_KEY_CHAIN,
     .fallback = "0", .min = -1e6, .max = 1e6, .unit = "J",
     .help = "Magnetic field B on all spins, beside the fields of a file: positive prefers up."},
    {ERGO_KEY("/system/dynamics", ENUM), .flags = ERGO_KEY_CHAIN | ERGO_KEY_SHAPE,
     .fallback = "\"metropolis\"", .choices = model_dynamics, .unit = "",
     .help = "Single-spin rule: metropolis, flip with min(1, exp(-dE/T)); heat-bath, flip with "
             "1/(1 + exp(dE/T)). Vertices of one colour go together; no neighbours have one "
             "colour. Metropolis flips all spins that feel no force: small systems of few colours "
             "can be caught in a cycle of such flips, which heat-bath never is.",
     THERMAL},
    {ERGO_KEY("/system/start", ENUM), .flags = ERGO_KEY_CHAIN | ERGO_KEY_SHAPE,
     .fallback = "\"random\"", .choices = model_starts, .unit = "",
     .help = "Starting configuration."},
};

static const struct ergo_key cluster_keys[] = {
    {ERGO_KEY("/system/cluster_every", INT), .flags = ERGO_KEY_SHAPE | ERGO_KEY_CHAIN, .min = 1,
     .max = 1000000, .unit = "sweeps",
     .help = "Sweeps between cluster moves of two copies at each temperature of a ladder (Houdayer "
             "2001; Zhu, Ochoa, Katzgraber 2015): connected vertices at which the copies differ "
             "change sides, at constant energy. If not given there is one copy, and no such moves. "
             "They pay below the percolation of such clusters, in two dimensions. One work-item "
             "makes a cluster: on GPUs have many temperatures and replicas.",
     .acts = graph_is_sampled, .where = "with method sample"},
};

static const struct ergo_key run_keys[] = {
    {ERGO_KEY("/run/method", ENUM), .flags = ERGO_KEY_CHAIN | ERGO_KEY_SHAPE,
     .fallback = "\"sample\"", .choices = graph_methods, .unit = "",
     .help = "sample: the equilibrium at a temperature. anneal: simulated annealing (Kirkpatrick, "
             "Gelatt, Vecchi 1983), each replica from its own random start; temperatures fall over "
             "the run's sweeps, in up to 65,536 steps, and equilibration is at the first. "
             "population-annealing: a population of configurations from infinite temperature to "
             "temperature_final, in equal steps of 1/T; at each its members are copied or end by "
             "their weights exp(-(1/T' - 1/T) E) (Hukushima, Iba 2003; Machta 2010), and then make "
             "their sweeps. Each replica is a run of its own: their scatter is the error. "
             "wang-landau: ln g(E), the density of states, by walks that are flat in the energy "
             "(Wang, Landau 2001), of graphs with few different energies; then energies, heat "
             "capacities, free energies and entropies at any temperature follow from it."},
    {ERGO_KEY("/run/population", INT), .flags = ERGO_KEY_FORM | ERGO_KEY_CHAIN | ERGO_KEY_SHAPE,
     .fallback = "1000", .stream = "", .min = 2, .max = GRAPH_POPULATION_MAX, .unit = "",
     .help = "Configurations of a population, the same number at each temperature.",
     .acts = graph_is_population, .where = "with method population-annealing"},
    {ERGO_KEY("/run/temperatures", INT), .flags = ERGO_KEY_CHAIN | ERGO_KEY_SHAPE,
     .fallback = "100", .stream = "", .min = 1, .max = GRAPH_STAGES, .unit = "",
     .help = "Temperatures T_k = temperature_final n/k, k = 1 to n; /run/sweeps are divided among "
             "them.",
     .acts = graph_is_population, .where = "with method population-annealing"},
    {ERGO_KEY("/run/schedule", ENUM), .flags = ERGO_KEY_CHAIN | ERGO_KEY_SHAPE,
     .fallback = "\"geometric\"", .stream = "", .choices = schedules, .unit = "",
     .help = "How temperatures fall: geometric, by a constant ratio (of T as of 1/T); linear in T; "
             "inverse, linear in 1/T.",
     .acts = graph_is_annealed, .where = "with method anneal"},
    {ERGO_KEY("/run/temperature_initial", REAL),
     .flags = ERGO_KEY_CHAIN | ERGO_KEY_SHAPE | ERGO_KEY_EXCLUDES_MIN, .min = 0, .max = 1e12,
     .unit = "J/k_B",
     .help = "Where annealing begins. If not given: as temperature_scale says; of "
             "sherrington-kirkpatrick and random-orthogonal 3, three times the spread of |H|. "
             "result.json has the temperatures that were taken.",
     .acts = graph_is_annealed, .where = "with method anneal"},
    {ERGO_KEY("/run/temperature_scale", ENUM), .flags = ERGO_KEY_SHAPE, .fallback = "\"couplings\"",
     .choices = scales, .unit = "",
     .help = "Where annealing begins by itself. couplings: where spins of frustrated graphs begin "
             "to freeze, twice the root of q = H^2 + sum of J^2 of a vertex, of q the mean "
             "weighted by q; or the mean sum of J over vertices (a ferromagnet's mean-field "
             "transition) if it is larger. forces: the largest |H| + sum of |J| of a vertex, above "
             "which mean-field theory knows no transition of any graph; couplings never begin "
             "above it.",
     .acts = begins_by_itself,
     .where = "with method anneal, where temperature_initial is not given "
              "and the graph is not complete"},
    {ERGO_KEY("/run/temperature_final", REAL),
     .flags = ERGO_KEY_CHAIN | ERGO_KEY_SHAPE | ERGO_KEY_EXCLUDES_MIN, .min = 0, .max = 1e12,
     .unit = "J/k_B",
     .help =
         "Where annealing ends. If not given: 2 J / ln 100, at which one flip in a hundred that "
         "costs 2 J is accepted, and beyond 1,000 vertices 2 J / ln(n/10), ten of n; J is the "
         "smallest, over vertices, of a vertex's strongest "
         "coupling or field, of sherrington-kirkpatrick and random-orthogonal 1/sqrt(n). A "
         "population needs it.",
     .acts = has_last_temperature, .where = "with methods anneal and population-annealing"},
    {ERGO_KEY("/run/lowest_states", INT), .flags = ERGO_KEY_SHAPE, .fallback = "1", .min = 1,
     .max = GRAPH_KEEP_MAX, .unit = "",
     .help = "Different configurations of lowest energy that each replica (of a ladder or a "
             "population all its chains together) keeps, of those that are looked at; the lowest "
             "of a point's replicas are written to states/. They are told "
             "apart by 64 bits.",
     THERMAL},
    {ERGO_KEY("/run/lowest_every", INT), .flags = ERGO_KEY_SHAPE, .min = 1, .max = 1e12,
     .unit = "sweeps",
     .help =
         "Sweeps from a look for lowest states to the next, from the start of the run on; 10 if "
         "not given, with method anneal the largest number up to 10 that divides all sweeps of "
         "the run, with population-annealing the sweeps at a temperature.",
     THERMAL},
    {ERGO_KEY("/run/target_energy", REAL), .flags = ERGO_KEY_SHAPE, .min = -1e18, .max = 1e18,
     .unit = "J",
     .help =
         "A total energy, with the file's offset (MaxCut: minus the cut): whether and when each "
         "chain has seen it or a lower one, and the time to solution.",
     THERMAL},
};

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

static double sample_sites(const struct ergo_point *point, const double *c) {
    (void)point;
    return c[COLUMN_SITES];
}

/* Means of the energy, its square, N. */
static double heat_capacity(const struct ergo_point *point, const double *m) {
    const double t = ergo_point_real(point, "/system/temperature");
    return m[2] * (m[1] - m[0] * m[0]) / (t * t);
}

static double susceptibility(const struct ergo_point *point, const double *m) {
    return m[2] * (m[1] - m[0] * m[0]) / ergo_point_real(point, "/system/temperature");
}

static const char *slow_m(const struct ergo_point *point) {
    return ergo_point_real(point, "/system/field") == 0.0
               ? "near and below a transition a system without a field changes sign only as a "
                 "whole, too rarely to average over; use order_parameter"
               : NULL;
}

static double minus_first(const struct ergo_point *point, const double *mean, size_t size) {
    (void)point, (void)size;
    return -mean[0];
}

static double second(const struct ergo_point *point, const double *mean, size_t size) {
    (void)point, (void)size;
    return mean[1];
}

static double last(const struct ergo_point *point, const double *mean, size_t size) {
    (void)point;
    return mean[size - 1];
}

static double entropic_size(const struct ergo_point *point, const double *mean, size_t size) {
    return (double)ergo_point_int(point, "/run/population") / exp(mean[size - 1]);
}

/* Sweeps until one of several runs has found it, with a probability of 99%. */
static double time_to_solution(const struct ergo_point *point, double share) {
    const double sweeps = (double)ergo_point_int(point, "/run/sweeps");
    return share < 0.99 ? sweeps * log(0.01) / log1p(-share) : sweeps;
}

#define AT_END(CURVE, FROM, FACT)                                                                  \
    .curve = (CURVE), .from_curve = (FROM), .independent = true, .fact = (FACT)

static const struct ergo_observable observables[] = {
    {ERGO_NAMED("energy", "J per site"), .help = "mean energy per site, with the file's offset",
     .sample = sample_energy, .applies = graph_is_sampled},
    {ERGO_NAMED("order_parameter", "per site"), .help = "mean |m|", .sample = model_abs_m,
     .applies = graph_is_sampled},
    {ERGO_NAMED("heat_capacity", "k_B per site"), .help = "N (<e^2> - <e>^2) / T^2",
     .inputs = {"energy", "energy2", "sites"}, .derive = heat_capacity,
     .applies = graph_is_sampled},
    {ERGO_NAMED("susceptibility", "per site"),
     .help = "N (<m^2> - <|m|>^2) / T, m the magnetization, the finite-lattice form",
     .inputs = {"order_parameter", "magnetization2", "sites"}, .derive = susceptibility,
     .applies = graph_is_sampled},
    {ERGO_NAMED("binder", ""), .help = "Binder's cumulant 1 - <m^4> / (3 <m^2>^2)",
     .inputs = {"magnetization2", "magnetization4"}, .derive = model_binder, .crosses = true,
     .applies = graph_is_sampled},
    {ERGO_NAMED("magnetization", "per site"), .help = "mean m", .sample = model_m, .slow = slow_m,
     .applies = graph_is_sampled},
    {ERGO_NAMED("magnetization2", "per site^2"), .help = "mean m^2", .sample = model_m2,
     .applies = graph_is_sampled},
    {ERGO_NAMED("magnetization4", "per site^4"), .help = "mean m^4", .sample = model_m4,
     .applies = graph_is_sampled},
    {ERGO_NAMED("lowest_energy", "J"),
     .help = "the lowest total energy of the configurations that were looked at (lowest_every), "
             "with the file's "
             "offset, from the couplings as they are given; of replicas the lowest of theirs",
     AT_END("lowest_states", ergo_curve_first, ERGO_FACT_LEAST)},
    {ERGO_NAMED("cut", ""), .help = "MaxCut files: the largest cut, minus lowest_energy",
     AT_END("lowest_states", minus_first, ERGO_FACT_MOST), .applies = graph_has_cut},
    {ERGO_NAMED("success", ""),
     .help = "with target_energy: 1 if the chain has seen it, else 0; of replicas their share",
     AT_END("target", ergo_curve_first, ERGO_FACT_MEAN), .applies = graph_has_target},
    {ERGO_NAMED("time_to_solution", "sweeps"),
     .help = "with target_energy: of a chain, the sweep after which it first saw it; of replicas, "
             "/run/sweeps ln 0.01 / ln(1 - success), the sweeps after which one of several such "
             "runs has seen it with a probability of 99%, and never less than those of one run",
     AT_END("target", last, ERGO_FACT_SHARE), .of_share = time_to_solution,
     .applies = graph_has_target},
    {ERGO_NAMED("temperature_initial", "J/k_B"), .help = "where annealing began, given or not",
     AT_END("annealing", ergo_curve_first, ERGO_FACT_MEAN), .applies = graph_is_annealed},
    {ERGO_NAMED("temperature_final", "J/k_B"), .help = "where annealing ended",
     AT_END("annealing", last, ERGO_FACT_MEAN), .applies = graph_is_annealed},
    {ERGO_NAMED("swap_acceptance", ""),
     .help = "accepted exchanges of tempering, mean over the ladder, from the start of the run, or "
             "since feedback moved the temperatures",
     AT_END("ladder_swaps", ergo_curve_mean, ERGO_FACT_MEAN), .of_moves = true,
     .applies = model_has_ladder},
    {ERGO_NAMED("round_trips", "per million sweeps"),
     .help = "ways of a configuration from the ladder's cold end to the hot one and back, from the "
             "start of the run, or since feedback moved the temperatures",
     AT_END("round_trips", ergo_curve_first, ERGO_FACT_MEAN), .of_moves = true,
     .applies = model_has_ladder},
    {ERGO_NAMED("free_energy", "J per site"),
     .help = "of a population at the last temperature, F = -T ln Z, with the file's offset; the "
             "error is of the scatter of replicas",
     .curve = "free_energy", .from_curve = last, .independent = true, .more = "/replicas",
     .applies = graph_is_population},
    {ERGO_NAMED("rho_t", ""),
     .help = "of a population at the last temperature: mean square family size, population times "
             "sum n_i^2, n_i the share of the descendants of member i of the start (Wang, Machta, "
             "Katzgraber, PRE 92, 063307 (2015)). About population / rho_t members are "
             "independent; for a trusted run it is at least some 100",
     AT_END("rho_t", last, ERGO_FACT_MEAN), .applies = graph_is_population},
    {ERGO_NAMED("rho_s", ""),
     .help = "likewise the entropic family size, population / exp(-sum n_i ln n_i)",
     AT_END("family_entropy", entropic_size, ERGO_FACT_MEAN), .applies = graph_is_population},
    {ERGO_NAMED("families", ""),
     .help = "of a population at the last temperature: families that are left",
     AT_END("families", last, ERGO_FACT_MEAN), .applies = graph_is_population},
    {ERGO_NAMED("ln_ground_states", ""),
     .help = "wang-landau: ln g of the lowest level that was found, N times the residual entropy; "
             "the error is of the scatter of the estimates",
     .curve = "ln_density_of_states", .from_curve = walk_lowest_ln_g, .independent = true,
     .more = "/run/estimates", .applies = graph_is_walk},
    {ERGO_NAMED("levels", ""),
     .help = "wang-landau: levels of energy that were visited, mean over the estimates",
     AT_END("walk", ergo_curve_first, ERGO_FACT_MEAN), .applies = graph_is_walk},
    {ERGO_NAMED("ln_f", ""),
     .help = "wang-landau: ln f at the end, by which a visit increases ln g; 1/t, t the moves per "
             "level, if the histogram was flat often enough",
     AT_END("walk", second, ERGO_FACT_MEAN), .applies = graph_is_walk},
    {ERGO_NAMED("converging", ""),
     .help = "wang-landau: share of the estimates whose ln f is 1/t, so that their error falls as "
             "1/sqrt(t)",
     AT_END("walk", last, ERGO_FACT_MEAN), .applies = graph_is_walk, .alarm = walk_not_converged},
    {ERGO_NAMED("energy2", "J^2 per site^2"), .help = "mean squared energy per site",
     .sample = sample_energy2, .hidden = true},
    {ERGO_NAMED("sites", ""), .help = "N", .sample = sample_sites, .hidden = true},
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
    {"ladder_swaps", "temperature", "",
     "accepted exchanges with the next temperature, from the start of the run, or since "
     "feedback moved the temperatures"},
    {"round_trips", "once", "per million sweeps", "as the observable"},
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
    {"walk", "fact", "", "levels found, ln f, is it 1/t"},
};

static double weight_of_energy(const struct ergo_point *point) {
    return -1 / ergo_point_real(point, "/system/temperature");
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
    {"work_group", "work-items per group (a power of two)", 0, 1024, true},
    {"path", "0 automatic, 1 a launch for each colour, 2 chains in local memory", 0, 2, false},
    {"lanes", "path 2 on GPUs: chains per work-group (a power of two)", 0, 64, true},
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
    .keys = {{keys, sizeof keys / sizeof keys[0]},                                                 \
             {ladder_keys, LADDER_KEYS},                                                           \
             {cluster_keys, 1},                                                                    \
             {run_keys, sizeof run_keys / sizeof run_keys[0]},                                     \
             {walk_keys, WALK_KEYS}},                                                              \
    .first = first_job, .columns = columns, .n_columns = GRAPH_COLUMNS, .has_column = has_column,  \
    .observables = observables, .n_observables = sizeof observables / sizeof observables[0],       \
    .conjugates = conjugates, .n_conjugates = 1, .unweighted = unweighted, .curves = curves,       \
    .n_curves = GRAPH_CURVES, .curves_at_end = AT_THE_END, .curves_hidden = HIDDEN,                \
    .curves_sums = 1u << CURVE_CENSUS, .tunables = tunables, .extends = graph_extends,             \
    .x_from = ergo_tempered_x

const struct ergo_model graph_model = {
    GRAPH_TABLES,
    .serves = is_thermal,
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
