/* Spins on any graph: keys of a job. */
#include "samplers/spin_lattice/graph/graph.h"
#include "samplers/spin_lattice/graph/parameters.h"
#include "samplers/spin_lattice/models.h"

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
    return is_lattice(point) && !of_graph(point)->long_range.present;
}

static bool has_one_coupling(const struct ergo_point *point) {
    return is_lattice(point) && !of_lattice(point)->couplings.present;
}

static bool has_last_temperature(const struct ergo_point *point) {
    return graph_is_annealed(point) || graph_is_population(point);
}

static bool begins_by_itself(const struct ergo_point *point) {
    return graph_is_annealed(point) && !graph_is_complete(point) &&
           !of_graph(point)->temperature_initial.present;
}

static bool may_be_disordered(const struct ergo_point *point) {
    return is_lattice(point) || graph_has_disorder(point);
}

static bool is_drawn(const struct ergo_point *point) {
    return graph_is_complete(point) || graph_is_disordered(point);
}

/* Chains with a temperature, which keep their lowest states. */
bool graph_is_thermal(const struct ergo_point *point) {
    return !graph_is_walk(point);
}

#define THERMAL .acts = graph_is_thermal, .where = "with other methods than wang-landau"

#define COMPLETE "where graph is sherrington-kirkpatrick or random-orthogonal"
#define DRAWN COMPLETE ", or a lattice with disorder"

const struct ergo_key graph_keys[GRAPH_KEYS] = {
    {GRAPH_KEY(graph, "/system/graph", STRING),
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
    {GRAPH_KEY(graph_format, "/system/graph_format", ENUM), .flags = ERGO_KEY_SHAPE,
     .fallback = "\"auto\"", .choices = formats, .unit = "",
     .help = "How the file is read; auto: as its first line says. edges: H = -sum J s s - sum H s. "
             "maxcut: the energy is minus the weight of the cut. qubo: the energy is the sum of "
             "Q x x, x = 0 or 1.",
     .acts = is_file, .where = "where graph is a file"},
    {LATTICE_KEY(size, "/system/size", SIZE),
     .flags = ERGO_KEY_FORM | ERGO_KEY_SCAN | ERGO_KEY_SHAPE | ERGO_KEY_CHAIN, .min = 1,
     .max = 134217728, .min_items = 1, .max_items = 4, .unit = "cells",
     .help = "Cells along each direction, odd or even: of one site (chain, square, triangular, "
             "cubic, hypercubic: these are sides), two (honeycomb; bcc, whose cell is a cube), "
             "three (kagome), four (fcc, a cube), eight (diamond, a cube). A short side has "
             "several bonds between the same neighbours, as one with their sum.",
     .acts = is_lattice, .where = "where graph is a lattice"},
    {LATTICE_KEY(boundary, "/system/boundary", ENUM),
     .flags = ERGO_KEY_SHAPE | ERGO_KEY_CHAIN | ERGO_KEY_LIST, .fallback = "\"periodic\"",
     .choices = graph_boundaries, .max_items = 4, .unit = "",
     .help = "Boundary conditions: periodic, open or antiperiodic (couplings across it have the "
             "other sign), or an array with one for each direction.",
     .acts = is_lattice, .where = "where graph is a lattice"},
    {LATTICE_TEMPERATURE(0),
     .help = "Temperature T in the energy unit of the couplings (k_B = 1); of a ladder the lowest.",
     .acts = graph_is_sampled, .where = "with method sample, which needs it"},
    {LATTICE_KEY(coupling, "/system/coupling", REAL),
     .flags = ERGO_KEY_SCAN | ERGO_KEY_SHAPE | ERGO_KEY_CHAIN, .fallback = "1", .min = -1e6,
     .max = 1e6, .unit = "J",
     .help = "Coupling J of nearest neighbours: positive is ferromagnetic, negative "
             "antiferromagnetic.",
     .acts = has_one_coupling, .where = "where graph is a lattice, without couplings"},
    {LATTICE_KEY(couplings, "/system/couplings", REALS), .flags = ERGO_KEY_SHAPE | ERGO_KEY_CHAIN,
     .min = -1e6, .max = 1e6, .min_items = 1, .max_items = 3, .unit = "J",
     .help =
         "Couplings to nearest, second and third neighbours, [J1, J2, J3], by distance, instead "
         "of one.",
     .acts = has_short_range, .where = "where graph is a lattice, without long_range"},
    {GRAPH_KEY(long_range, "/system/long_range", REAL),
     .flags = ERGO_KEY_SCAN | ERGO_KEY_SHAPE | ERGO_KEY_CHAIN, .min = 0, .max = 100, .unit = "",
     .help = "Exponent a: all pairs of sites are coupled by coupling / r^a, r in units of the "
             "distance of nearest neighbours, across periodic sides to the nearest image alone "
             "(minimum image). a = 0 with coupling 1/N is the Curie-Weiss model. At most 4,096 "
             "sites; each is a colour of its own, so that a sweep is a launch for each site.",
     .acts = is_lattice, .where = "where graph is a lattice"},
    {LATTICE_KEY(n, "/system/n", INT),
     .flags = ERGO_KEY_FORM | ERGO_KEY_SCAN | ERGO_KEY_SHAPE | ERGO_KEY_CHAIN, .min = 4,
     .max = GRAPH_LONG_SITES_MAX, .unit = "spins",
     .help = "Number of spins of a complete graph, all coupled to all; of random-orthogonal even, "
             "and to draw its couplings takes some n^3 operations.",
     .acts = graph_is_complete, .where = COMPLETE},
    {LATTICE_DISORDER(model_disorders), .fallback = "\"bimodal\"", .stream = "",
     .help = "Random couplings J_ij of sherrington-kirkpatrick, of mean 0 and variance 1/n: "
             "bimodal, +1/sqrt(n) or -1/sqrt(n); gaussian. Of a lattice, if given: its couplings, "
             "each times +1 or -1, or times a normal number (a spin glass of any of these "
             "lattices, boundaries and dimensions).",
     .acts = may_be_disordered, .where = "where graph is sherrington-kirkpatrick or a lattice"},
    {LATTICE_DISORDER_SEED, .help = "The seed of the couplings; /seed if not given.",
     .acts = is_drawn, .where = DRAWN},
    {GRAPH_KEY(realisation, "/system/realisation", INT),
     .flags = ERGO_KEY_SCAN | ERGO_KEY_SHAPE | ERGO_KEY_CHAIN, .fallback = "0", .stream = "",
     .min = 0, .max = 1048575, .unit = "",
     .help =
         "Which sample of the couplings; all replicas have this one. Of a complete graph number k "
         "is the k-th of /system/samples of the model sherrington-kirkpatrick or "
         "random-orthogonal with this seed, of its replica 0. Lattices with disorder have "
         "samples of their own, others than those of the model spin-glass.",
     .acts = is_drawn, .where = DRAWN},
    {LATTICE_KEY(field, "/system/field", REAL),
     .flags = ERGO_KEY_SCAN | ERGO_KEY_SHAPE | ERGO_KEY_CHAIN, .fallback = "0", .min = -1e6,
     .max = 1e6, .unit = "J",
     .help = "Magnetic field B on all spins, beside the fields of a file: positive prefers up."},
    {LATTICE_DYNAMICS(model_dynamics),
     .help = "Single-spin rule: metropolis, flip with min(1, exp(-dE/T)); heat-bath, flip with "
             "1/(1 + exp(dE/T)). Vertices of one colour go together; no neighbours have one "
             "colour. Metropolis flips all spins of a colour that feel no force, and can go in a "
             "cycle and not sample. It is safe in a part of the graph where couplings and field of "
             "some vertex never cancel (an odd number of them, all +1 or -1), and of 64 vertices "
             "and more, each with three neighbours and more. Elsewhere, as on rings, heat-bath is "
             "taken if not given, and metropolis refused.",
     THERMAL, .instead = graph_instead},
    {LATTICE_START(model_starts), .help = "Starting configuration."},
};

const struct ergo_key graph_cluster_keys[GRAPH_CLUSTER_KEYS] = {
    {LATTICE_KEY(cluster_every, "/system/cluster_every", INT),
     .flags = ERGO_KEY_SHAPE | ERGO_KEY_CHAIN, .min = 1, .max = 1000000, .unit = "sweeps",
     .help = "Sweeps between cluster moves of two copies at each temperature of a ladder (Houdayer "
             "2001; Zhu, Ochoa, Katzgraber 2015): connected vertices at which the copies differ "
             "change sides, at constant energy. If not given there is one copy, and no such moves. "
             "They pay below the percolation of such clusters, in two dimensions. One work-item "
             "makes a cluster: on GPUs have many temperatures and replicas.",
     .acts = graph_is_sampled, .where = "with method sample"},
};

const struct ergo_key graph_run_keys[GRAPH_RUN_KEYS] = {
    {LATTICE_KEY(run_method, "/run/method", ENUM), .flags = ERGO_KEY_CHAIN | ERGO_KEY_SHAPE,
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
    {GRAPH_KEY(population, "/run/population", INT),
     .flags = ERGO_KEY_FORM | ERGO_KEY_CHAIN | ERGO_KEY_SHAPE, .fallback = "1000", .stream = "",
     .min = 2, .max = GRAPH_POPULATION_MAX, .unit = "",
     .help = "Configurations of a population, the same number at each temperature.",
     .acts = graph_is_population, .where = "with method population-annealing"},
    {GRAPH_KEY(temperatures, "/run/temperatures", INT), .flags = ERGO_KEY_CHAIN | ERGO_KEY_SHAPE,
     .fallback = "100", .stream = "", .min = 1, .max = GRAPH_STAGES, .unit = "",
     .help = "Temperatures T_k = temperature_final n/k, k = 1 to n; /run/sweeps are divided among "
             "them.",
     .acts = graph_is_population, .where = "with method population-annealing"},
    {GRAPH_KEY(schedule, "/run/schedule", ENUM), .flags = ERGO_KEY_CHAIN | ERGO_KEY_SHAPE,
     .fallback = "\"geometric\"", .stream = "", .choices = schedules, .unit = "",
     .help = "How temperatures fall: geometric, by a constant ratio (of T as of 1/T); linear in T; "
             "inverse, linear in 1/T.",
     .acts = graph_is_annealed, .where = "with method anneal"},
    {GRAPH_KEY(temperature_initial, "/run/temperature_initial", REAL),
     .flags = ERGO_KEY_CHAIN | ERGO_KEY_SHAPE | ERGO_KEY_EXCLUDES_MIN, .min = 0, .max = 1e12,
     .unit = "J/k_B",
     .help = "Where annealing begins. If not given: as temperature_scale says; of "
             "sherrington-kirkpatrick and random-orthogonal 3, three times the spread of |H|. "
             "result.json has the temperatures that were taken.",
     .acts = graph_is_annealed, .where = "with method anneal"},
    {GRAPH_KEY(temperature_scale, "/run/temperature_scale", ENUM), .flags = ERGO_KEY_SHAPE,
     .fallback = "\"couplings\"", .choices = scales, .unit = "",
     .help = "Where annealing begins by itself. couplings: where spins of frustrated graphs begin "
             "to freeze, twice the root of q = H^2 + sum of J^2 of a vertex, of q the mean "
             "weighted by q; or the mean sum of J over vertices (a ferromagnet's mean-field "
             "transition) if it is larger. forces: the largest |H| + sum of |J| of a vertex, above "
             "which mean-field theory knows no transition of any graph; couplings never begin "
             "above it.",
     .acts = begins_by_itself,
     .where = "with method anneal, where temperature_initial is not given "
              "and the graph is not complete"},
    {GRAPH_KEY(temperature_final, "/run/temperature_final", REAL),
     .flags = ERGO_KEY_CHAIN | ERGO_KEY_SHAPE | ERGO_KEY_EXCLUDES_MIN, .min = 0, .max = 1e12,
     .unit = "J/k_B",
     .help =
         "Where annealing ends. If not given: 2 J / ln(10 n'), at which hardly a spin is out of "
         "its place: J is the smallest, over vertices, of a vertex's strongest coupling or field, "
         "or of the strongest that joins a cluster of stronger ones to others, and n' the sum over "
         "vertices of J^2 / (H^2 + sum of J^2), about how many flips cost "
         "2 J; at least 10. Of sherrington-kirkpatrick and random-orthogonal J is 1/sqrt(n) and "
         "n' 10. "
         "Not above temperature_initial, given or not. A population needs it.",
     .acts = has_last_temperature, .where = "with methods anneal and population-annealing"},
    {GRAPH_KEY(lowest_states, "/run/lowest_states", INT), .flags = ERGO_KEY_SHAPE, .fallback = "1",
     .min = 1, .max = GRAPH_KEEP_MAX, .unit = "",
     .help = "Different configurations of lowest energy that each replica (of a ladder or a "
             "population all its chains together) keeps, of those that are looked at; the lowest "
             "of a point's replicas are written to states/. They are told "
             "apart by 64 bits.",
     THERMAL},
    {GRAPH_KEY(lowest_every, "/run/lowest_every", INT), .flags = ERGO_KEY_SHAPE, .min = 1,
     .max = 1e12, .unit = "sweeps",
     .help =
         "Sweeps from a look for lowest states to the next, from the start of the run on; 10 if "
         "not given, with method anneal the largest number up to 10 that divides all sweeps of "
         "the run, with population-annealing the sweeps at a temperature.",
     THERMAL},
    {GRAPH_KEY(target_energy, "/run/target_energy", REAL), .flags = ERGO_KEY_SHAPE, .min = -1e18,
     .max = 1e18, .unit = "J",
     .help =
         "A total energy, with the file's offset (MaxCut: minus the cut): whether and when each "
         "chain has seen it or a lower one, and the time to solution.",
     THERMAL},
};
