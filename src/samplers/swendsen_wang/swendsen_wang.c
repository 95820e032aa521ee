/* swendsen-wang: the tables of the sampler, and what a job tells without a device. */
#include "samplers/swendsen_wang/swendsen_wang.h"

#include <math.h>
#include <string.h>

#include "samplers/spin_lattice/exact.h"
#include "samplers/swendsen_wang/cut.h"
#include "samplers/swendsen_wang/sites/sites.h"

static const char *const labellings[] = {"union-find", NULL};
static const char *const merges[] = {"auto", "rounds", "gather", NULL};
static const char *const starts[] = {"ordered", "random", NULL};
static const char *const hamiltonians[] = {"potts", "ising", NULL};

/* Keys of square lattices (sw.h) alone. */
#define OF_SQUARE                                                                                  \
    .acts = sw_serves_square,                                                                      \
    .where = "on square lattices of two dimensions with update swendsen-wang"

static const struct ergo_key q_keys[] = {
    {ERGO_KEY("/system/q", INT),
     .flags = ERGO_KEY_FORM | ERGO_KEY_SCAN | ERGO_KEY_SHAPE | ERGO_KEY_CHAIN, .fallback = "2",
     .min = 2, .max = SW_Q_MAX, .unit = "",
     .help = "Number of spin states q; 2 is the Ising model. The transition is of first order for "
             "q > 4."},
};

static const struct ergo_key keys[] = {
    {ERGO_KEY("/system/temperature", REAL),
     .flags = ERGO_KEY_REQUIRED | ERGO_KEY_SCAN | ERGO_KEY_CHAIN | ERGO_KEY_EXCLUDES_MIN, .min = 0,
     .max = 1e12, .unit = "J/k_B",
     .help =
         "Temperature T in the energy unit of the coupling (k_B = 1). The infinite lattice is "
         "critical at 1/ln(1 + sqrt q) for J = 1: 1.134593, 0.994973, 0.910239 for q = 2, 3, 4 "
         "(Komura and Okabe 2013, section 4); hamiltonian ising: 2.269185. Ising's, of triangular "
         "lattices: 4/ln 3 = 3.640957; honeycomb: 2/ln(2 + sqrt 3) = 1.518651; in three "
         "dimensions 4.511523 (Ferrenberg, Xu, Landau 2018)."},
    {ERGO_KEY("/system/coupling", REAL),
     .flags = ERGO_KEY_SCAN | ERGO_KEY_CHAIN | ERGO_KEY_EXCLUDES_MIN, .fallback = "1", .min = 0,
     .max = 1e6, .unit = "J",
     .help = "Ferromagnetic coupling J > 0. Bonds between equal neighbours are active with "
             "probability 1 - exp(-J/T)."},
    {ERGO_KEY("/system/hamiltonian", ENUM), .flags = ERGO_KEY_CHAIN | ERGO_KEY_SHAPE,
     .fallback = "\"potts\"", .choices = hamiltonians, .unit = "",
     .help = "Unit of coupling and energy. potts: H = -J sum (delta - 1) (Komura and Okabe 2013, "
             "Eq. 1); ising, for q = 2: H = -J sum s s, s = +-1, as in spin-lattice."},
    {ERGO_KEY("/system/labelling", ENUM), .flags = ERGO_KEY_SHAPE, .fallback = "\"union-find\"",
     .choices = labellings, .unit = "", OF_SQUARE,
     .help = "How clusters are labelled; the chain does not depend on it. union-find: tiles in "
             "local memory, then their edges, without iteration. (Label equivalence, the "
             "method of Komura and Okabe, is not offered: it is six to 35 times as slow.)"},
    {ERGO_KEY("/system/merge", ENUM), .flags = ERGO_KEY_SHAPE | ERGO_KEY_HOW,
     .fallback = "\"auto\"", .choices = merges, .unit = "", OF_SQUARE,
     .help =
         "How clusters of a lattice cut over ranks are joined; the chain does not depend on "
         "it. rounds: between neighbours, and what these leave by all; gather: all pairs of "
         "parts to all devices, which join them, in sweeps that are not measured, and rounds in "
         "those that are; auto: what a model predicts to be faster (result.json says which): "
         "gather for few ranks, rounds for many, or with several chains, whose joining is "
         "hidden behind each other's labels."},
    {ERGO_KEY("/system/shares", STRING), .flags = ERGO_KEY_HOW, .fallback = "\"measured\"",
     .unit = "", OF_SQUARE,
     .help = "Shares of the ranks in a lattice cut over them; the chain does not depend on it. "
             "measured: by a short trial at the start, and again where a rank falls behind; equal; "
             "or numbers > 0, \"3,1\", dealt out to the ranks in turn."},
    {ERGO_KEY("/system/start", ENUM), .flags = ERGO_KEY_CHAIN | ERGO_KEY_SHAPE,
     .fallback = "\"random\"", .choices = starts, .unit = "",
     .help = "Starting configuration: all spins in state 0, or uniform over the q states. At a "
             "transition of first order (q > 4) it decides in which phase a run begins."},
};

static const struct ergo_column columns[] = {
    {"energy", "per site, in units of J = 1", "H/N"},
    {"order_parameter", "", "(q max_k n_k/N - 1)/(q - 1)"},
    {"psi2_plain", "", "(q sum_k (n_k/N)^2 - 1)/(q - 1)"},
    {"psi2", "", "sum_c n_c^2 / N^2 over the clusters of the sweep"},
    {"clusters", "per site", "number of clusters / N"},
    {"largest_cluster", "", "sites of the largest cluster / N"},
    {"wrapping", "", "1: a cluster leads around the lattice"},
    {"psi4", "", "((q + 1) (sum_c n_c^2)^2 - 2 sum_c n_c^4)/((q - 1) N^4) over the clusters"},
    {"wrapping_x", "", "1: a closed path in a cluster goes around in x an odd number of times"},
    {"wrapping_y", "", "the same in y"},
    {"wrapping_z", "", "the same in z"},
};
_Static_assert(sizeof columns / sizeof columns[0] == SW_SITES_COLUMNS, "columns as in sw.h");

static bool is_wolff(const struct ergo_point *point) {
    return strcmp(ergo_point_text(point, "/system/update"), "wolff") == 0;
}

static bool sweeps_all(const struct ergo_point *point) {
    return !is_wolff(point);
}

/* Directions of wrapping are told apart by sites/ alone. */
static bool has_ways(const struct ergo_point *point) {
    return sweeps_all(point) && !sw_serves_square(point);
}

static bool has_depth(const struct ergo_point *point) {
    return has_ways(point) && ergo_point_value(point, "/system/size")->items > 2;
}

bool sw_wants_clusters(const struct ergo_point *point) {
    static const char *const of_clusters[] = {"psi2",         "psi4",
                                              "moment_ratio", "cluster_susceptibility",
                                              "clusters",     "largest_cluster",
                                              "wrapping",     "wrapping_x",
                                              "wrapping_y",   "wrapping_z",
                                              "cluster_sizes"};
    bool wanted = false;
    for (size_t i = 0; i < sizeof of_clusters / sizeof of_clusters[0]; i++)
        wanted = wanted || ergo_point_asks(point, of_clusters[i]);
    return wanted;
}

/* All columns but those of spins need clusters. */
static bool has_column(const struct ergo_point *point, size_t c) {
    if (is_wolff(point))
        return c <= SW_COLUMN_IMPROVED;
    if (c == SW_COLUMN_WRAPS_Z && !has_depth(point))
        return false;
    return c == SW_COLUMN_ENERGY || c == SW_COLUMN_ORDER || c == SW_COLUMN_PSI2 ||
           sw_wants_clusters(point);
}

#define SAMPLE(name, expression)                                                                   \
    static double sample_##name(const struct ergo_point *point, const double *c) {                 \
        (void)point;                                                                               \
        return (expression);                                                                       \
    }
SAMPLE(energy, c[SW_COLUMN_ENERGY])
SAMPLE(energy2, c[SW_COLUMN_ENERGY] * c[SW_COLUMN_ENERGY])
SAMPLE(order, c[SW_COLUMN_ORDER])
SAMPLE(order2, c[SW_COLUMN_ORDER] * c[SW_COLUMN_ORDER])
SAMPLE(order4, c[SW_COLUMN_ORDER] * c[SW_COLUMN_ORDER] * c[SW_COLUMN_ORDER] * c[SW_COLUMN_ORDER])
SAMPLE(plain, c[SW_COLUMN_PSI2])
SAMPLE(plain4, c[SW_COLUMN_PSI2] * c[SW_COLUMN_PSI2])
SAMPLE(psi4, c[SW_COLUMN_IMPROVED4])
SAMPLE(psi2, c[SW_COLUMN_IMPROVED])
SAMPLE(clusters, c[SW_COLUMN_CLUSTERS])
SAMPLE(largest, c[SW_COLUMN_LARGEST])
SAMPLE(wrapping, c[SW_COLUMN_WRAPS])
SAMPLE(wrapping_x, c[SW_COLUMN_WRAPS_X])
SAMPLE(wrapping_y, c[SW_COLUMN_WRAPS_Y])
SAMPLE(wrapping_z, c[SW_COLUMN_WRAPS_Z])

static double sites(const struct ergo_point *point) {
    const struct ergo_value *size = ergo_point_value(point, "/system/size");
    double n = 1;
    for (int k = 0; k < size->items; k++)
        n *= (double)size->size[k];
    return n;
}

static double derive_heat_capacity(const struct ergo_point *point, const double *m) {
    const double t = ergo_point_real(point, "/system/temperature");
    return sites(point) * (m[1] - m[0] * m[0]) / (t * t);
}

static double derive_susceptibility(const struct ergo_point *point, const double *m) {
    return sites(point) * (m[1] - m[0] * m[0]) / ergo_point_real(point, "/system/temperature");
}

static double derive_cluster_susceptibility(const struct ergo_point *point, const double *m) {
    return sites(point) * m[0] / ergo_point_real(point, "/system/temperature");
}

static double derive_ratio(const struct ergo_point *point, const double *m) {
    (void)point;
    return m[0] * m[0] / m[1];
}

static double derive_binder(const struct ergo_point *point, const double *m) {
    (void)point;
    return 1.0 - m[1] / (3.0 * m[0] * m[0]);
}

static double weight_of_energy(const struct ergo_point *point) {
    return -sites(point) / ergo_point_real(point, "/system/temperature");
}

static const struct ergo_conjugate conjugates[] = {
    {SW_COLUMN_ENERGY, .coefficient = weight_of_energy, .keys = {"/system/temperature"}},
};

static const struct ergo_observable observables[] = {
    {ERGO_NAMED("energy", "J per site"), .help = "mean energy per site", .sample = sample_energy},
    {ERGO_NAMED("heat_capacity", "k_B per site"), .help = "N (<e^2> - <e>^2) / T^2",
     .inputs = {"energy", "energy2"}, .derive = derive_heat_capacity},
    {ERGO_NAMED("order_parameter", ""),
     .help = "mean m = (q max_k n_k/N - 1)/(q - 1), the majority's excess; |m| of Ising for q = 2",
     .sample = sample_order},
    {ERGO_NAMED("psi2", ""),
     .help = "<psi^2> by the improved estimator: mean sum_c n_c^2 / N^2 over clusters; with update "
             "wolff the mean size of its cluster / N",
     .sample = sample_psi2, .of_moves = true},
    {ERGO_NAMED("psi2_plain", ""),
     .help = "<psi^2> from the spins: mean (q sum_k (n_k/N)^2 - 1)/(q - 1); equals psi2 within "
             "errors",
     .sample = sample_plain},
    {ERGO_NAMED("susceptibility", "per site"),
     .help = "N (<m^2> - <m>^2) / T, m the order parameter, the finite-lattice form; as in "
             "spin-lattice",
     .inputs = {"order_parameter", "order_parameter2"}, .derive = derive_susceptibility},
    {ERGO_NAMED("cluster_susceptibility", "per site"),
     .help = "N <psi^2> / T by the improved estimator: mean sum_c n_c^2 / (N T) over clusters; the "
             "susceptibility above Tc, where nothing is to be subtracted",
     .inputs = {"psi2"}, .derive = derive_cluster_susceptibility},
    {ERGO_NAMED("moment_ratio", ""),
     .help = "<psi^2>^2 / <psi^4>: 1 in order, (q - 1)/(q + 1) in disorder; curves of all sizes "
             "cross at Tc (what Komura and Okabe check their program with)",
     .inputs = {"psi2", "psi4"}, .derive = derive_ratio, .applies = sweeps_all},
    {ERGO_NAMED("binder", ""),
     .help =
         "Binder's cumulant 1 - <m^4> / (3 <m^2>^2), m the order parameter; as in spin-lattice. "
         "Of psi, by the improved estimators, it is 1 - 1 / (3 moment_ratio)",
     .inputs = {"order_parameter2", "order_parameter4"}, .derive = derive_binder, .crosses = true},
    {ERGO_NAMED("order_parameter2", ""), .help = "mean m^2", .sample = sample_order2},
    {ERGO_NAMED("order_parameter4", ""), .help = "mean m^4", .sample = sample_order4},
    {ERGO_NAMED("psi4", ""),
     .help = "<psi^4> by the improved estimator: mean ((q + 1) (sum_c n_c^2)^2 - 2 sum_c n_c^4) / "
             "((q - 1) N^4) over clusters",
     .sample = sample_psi4, .of_moves = true, .applies = sweeps_all},
    {ERGO_NAMED("psi4_plain", ""), .help = "<psi^4> from the spins; equals psi4 within errors",
     .sample = sample_plain4},
    {ERGO_NAMED("clusters", "per site"), .help = "mean number of clusters / N",
     .sample = sample_clusters, .of_moves = true, .applies = sweeps_all},
    {ERGO_NAMED("largest_cluster", ""), .help = "mean share of the largest cluster",
     .sample = sample_largest, .of_moves = true, .applies = sweeps_all},
    {ERGO_NAMED("wrapping", ""),
     .help = "probability that a cluster leads around the lattice, in either direction",
     .sample = sample_wrapping, .of_moves = true, .applies = sweeps_all},
    {ERGO_NAMED("energy2", "J^2 per site^2"), .help = "mean squared energy per site",
     .sample = sample_energy2, .hidden = true},
    {ERGO_NAMED("wrapping_x", ""),
     .help = "probability that a closed path in a cluster goes around the lattice in x an odd "
             "number of times",
     .sample = sample_wrapping_x, .of_moves = true, .applies = has_ways},
    {ERGO_NAMED("wrapping_y", ""), .help = "the same in y", .sample = sample_wrapping_y,
     .of_moves = true, .applies = has_ways},
    {ERGO_NAMED("wrapping_z", ""), .help = "the same in z", .sample = sample_wrapping_z,
     .of_moves = true, .applies = has_depth},
};

static const struct ergo_curve_info curves[] = {
    {"cluster_sizes", "size (lower edge of the bin)", "per site",
     "mean number of clusters of size s .. 2 s - 1, per site; s = 1, 2, 4, ..."},
};

static enum ergo_status check_unit(struct ergo_context *ctx, const struct ergo_point *point) {
    if (!sw_is_ising(point) || ergo_point_int(point, "/system/q") == 2)
        return ERGO_OK;
    return ergo_job_error(ctx, "/system/hamiltonian",
                          "\"ising\" means q = 2, and /system/q is %lld; use \"potts\"",
                          (long long)ergo_point_int(point, "/system/q"));
}

static enum ergo_status check_sites(struct ergo_context *ctx, const struct ergo_point *point) {
    const enum ergo_status unit = check_unit(ctx, point), status = sw_sites_check(ctx, point);
    return unit != ERGO_OK ? unit : status;
}

static enum ergo_status check(struct ergo_context *ctx, const struct ergo_point *point) {
    enum ergo_status status = check_unit(ctx, point);
    /* Labels of one device have 32 bits; over ranks, random numbers number the words. With
     * "auto" the number of ranks decides, which is not known here. The run refuses a lattice
     * that is too large for one device. */
    const struct sw_shape shape = sw_shape_of(point);
    const bool alone = strcmp(ergo_point_text(point, "/distribute"), "points") == 0;
    if (shape.words > UINT64_C(1) << (alone ? 27 : 32))
        status =
            ergo_job_error(ctx, "/system/size",
                           "%lld x %lld are more than 2^%d sites (rows count as multiples of "
                           "32)%s",
                           (long long)shape.lx, (long long)shape.ly, alone ? 32 : 37,
                           alone ? ", too many for one device: \"distribute\": \"lattice\" cuts "
                                   "them over ranks"
                                 : "");
    else if (alone && sw_wants_clusters(point) && !sw_shape_counts_clusters(&shape))
        status = ergo_job_error(
            ctx, "/system/size",
            "%lld x %lld are more than 2^30 sites (rows count as multiples of 32), and the labels "
            "of one device cannot tell whether a cluster leads around the lattice: "
            "\"distribute\": \"lattice\" cuts them over ranks, which may share a device; or ask "
            "for "
            "\"observables\": "
            "\"energy,order_parameter\" in run",
            (long long)shape.lx, (long long)shape.ly);
    const enum ergo_status shares = ergo_shares_check(ctx, point);
    return shares != ERGO_OK ? shares : status;
}

static size_t curve_size(const struct ergo_point *point, size_t c) {
    const uint64_t n = (uint64_t)sites(point);
    size_t bins = 0;
    (void)c;
    while (bins < 64 && n >> bins && sweeps_all(point) &&
           sw_wants_clusters(point)) /* one device has at most SW_CLUSTER_BINS */
        bins++;
    return bins;
}

static void curve_x(const struct ergo_point *point, size_t c, double *x) {
    for (size_t i = 0; i < curve_size(point, c); i++)
        x[i] = (double)((uint64_t)1 << i);
}

static uint64_t curve_every(const struct ergo_point *point) {
    (void)point;
    return 1;
}

/* q = 2 is Ising with half the coupling. Moments are exact if all states can be enumerated. */
static double exact(const struct ergo_point *point, const char *observable) {
    const struct ergo_value *size = ergo_point_value(point, "/system/size");
    const double t = ergo_point_real(point, "/system/temperature");
    const double j = ergo_point_real(point, "/system/coupling");
    const bool ising = sw_is_ising(point);
    const double ising_j = ising ? j : 0.5 * j, shift = ising ? 0.0 : j;
    if (ergo_point_int(point, "/system/q") != 2)
        return NAN;
    struct ergo_ising_exact e;
    if (!ergo_ising_exact_torus(size->size[0], size->size[1], t, ising_j, &e))
        return NAN;
    if (strcmp(observable, "energy") == 0)
        return e.energy + shift;
    if (strcmp(observable, "heat_capacity") == 0)
        return e.heat_capacity;
    struct ergo_ising_moments m;
    if (size->size[0] * size->size[1] > 16 ||
        !ergo_ising_enumerate((int)size->size[0], (int)size->size[1], t, ising_j, 0, &m))
        return NAN;
    const struct {
        const char *name;
        double value;
    } known[] = {
        {"order_parameter", m.abs_magnetization},
        {"order_parameter2", m.magnetization2},
        {"order_parameter4", m.magnetization4},
        {"psi2", m.magnetization2},
        {"psi2_plain", m.magnetization2},
        {"psi4", m.magnetization4},
        {"psi4_plain", m.magnetization4},
        {"binder", m.binder},
        {"susceptibility",
         sites(point) / t * (m.magnetization2 - m.abs_magnetization * m.abs_magnetization)},
        {"cluster_susceptibility", sites(point) / t * m.magnetization2}};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strcmp(observable, known[i].name) == 0)
            return known[i].value;
    return NAN;
}

/* The transition's temperature in units of J where it is of first order; 0: it is not, or it is not
 * known. Square: F. Y. Wu, Rev. Mod. Phys. 54, 235 (1982), who also has the roots v = exp(J/T) - 1
 * of v^3 + 3 v^2 = q (triangular) and v^3 - 3 q v = q^2 (honeycomb). Cubic: q = 3, W. Janke, R.
 * Villanova, Nucl. Phys. B 489, 679 (1997). */
static double first_order(const struct ergo_point *point) {
    const double q = (double)ergo_point_int(point, "/system/q");
    const char *lattice = ergo_point_text(point, "/system/lattice");
    if (ergo_point_value(point, "/system/size")->items > 2)
        return q == 3 ? 1 / 0.550565 : 0;
    if (q <= 4)
        return 0;
    if (strcmp(lattice, "square") == 0)
        return 1 / log1p(sqrt(q));
    const bool triangular = strcmp(lattice, "triangular") == 0;
    double low = 0, high = 3 * q;
    for (int k = 0; k < 60; k++) {
        const double v = 0.5 * (low + high);
        const double excess = triangular ? v * v * (v + 3) - q : v * (v * v - 3 * q) - q * q;
        *(excess > 0 ? &high : &low) = v;
    }
    return 1 / log1p(high);
}

/* At a first-order transition a large lattice never leaves the phase in which it began.
 * Metastable phases end within 3% of Tc (q = 20; closer to Tc for fewer states). */
static const char *remedy(const struct ergo_point *point) {
    const double tc = ergo_point_real(point, "/system/coupling") * first_order(point);
    if (tc == 0 || fabs(ergo_point_real(point, "/system/temperature") / tc - 1) > 0.03)
        return NULL;
    return "two phases live side by side near this transition, of first order: chains that start "
           "\"ordered\" and \"random\" bound the truth, and each shows one of them only";
}

const struct ergo_sampler_ops ergo_swendsen_wang_cut = {
    .engine = &sw_cut_model,
    .plan = sw_cut_plan,
    .create = sw_cut_create,
    .init = sw_cut_init,
    .advance = sw_cut_advance,
    .collect = sw_cut_collect,
    .save = sw_cut_save,
    .load = sw_cut_load,
    .audit = sw_cut_audit,
    .view = sw_cut_view,
};

static const struct ergo_sampler_ops ops = {
    .engine = &sw_model,
    .init = sw_init,
    .save = sw_save,
    .load = sw_load,
    .audit = sw_audit,
    .view = sw_view,
};

static const char *const first_job[] = {"/system/size=[32, 32]", "/system/temperature=1.134593",
                                        "/run/equilibration=200", "/run/sweeps=5000", NULL};

/* Two implementations: sw.h's with a bit-plane for each bit of a spin, and sites/. */
#define POTTS_TABLES                                                                               \
    .name = "potts",                                                                               \
    .summary = "H = -J sum (delta(s_i, s_j) - 1), s = 0 .. q - 1, over nearest neighbours of "     \
               "square, triangular, honeycomb and simple cubic lattices.",                         \
    .first = first_job,                                                                            \
    .keys = {{q_keys, 1},                                                                          \
             {sw_size_keys, SW_SIZE_KEYS},                                                         \
             {keys, sizeof keys / sizeof keys[0]},                                                 \
             {sw_sites_keys, SW_SITES_KEYS}},                                                      \
    .columns = columns, .has_column = has_column, .conjugates = conjugates, .n_conjugates = 1,     \
    .observables = observables, .n_observables = sizeof observables / sizeof observables[0],       \
    .curves = curves, .n_curves = sizeof curves / sizeof curves[0], .tunables = sw_tunables,       \
    .n_tunables = SW_TUNABLES, .curve_size = curve_size, .curve_x = curve_x,                       \
    .curve_every = curve_every, .remedy = remedy

static const struct ergo_model square_model = {
    POTTS_TABLES,
    .serves = sw_serves_square,
    .programs = {"swendsen_wang/sweep.cl", "swendsen_wang/measure.cl", "swendsen_wang/local.cl",
                 "swendsen_wang/cut.cl", "swendsen_wang/cut_gather.cl",
                 "swendsen_wang/cut_tiles.cl"},
    .n_columns = SW_COLUMNS,
    .check = check,
    .exact = exact,
    .ops = &ops,
    .cut = &ergo_swendsen_wang_cut,
};

static const struct ergo_model sites_model = {
    POTTS_TABLES,
    .programs = {"swendsen_wang/sites.cl", "swendsen_wang/sites_measure.cl"},
    .n_columns = SW_SITES_COLUMNS,
    .check = check_sites,
    .ops = &sw_sites_ops,
};

static const struct ergo_key model_key = {
    .pointer = "/system/model",
    .type = ERGO_KEY_ENUM,
    .flags = ERGO_KEY_SHAPE | ERGO_KEY_CHAIN,
    .fallback = "\"potts\"",
    .stream = "",
    .unit = "",
    .help = "Model; `ergocl help swendsen-wang MODEL` lists its keys, observables and curves.",
};

static const struct ergo_model *const models[] = {&square_model, &sites_model, &sw_xy_model,
                                                  &sw_clock_model, &sw_heisenberg_model};

const struct ergo_sampler ergo_swendsen_wang = {
    .name = "swendsen-wang",
    .summary = "Cluster updates (Swendsen and Wang, Wolff) of Potts, XY, clock, Heisenberg models",
    .citation =
        "Y. Komura, Y. Okabe, Multi-GPU-based Swendsen-Wang multi-cluster algorithm for the "
        "simulation of two-dimensional q-state Potts model, Comput. Phys. Commun. 184, 40 "
        "(2013)",
    .step_name = "sweep",
    .rate_unit = "spin updates per second",
    .state_version = 1,
    .model_key = &model_key,
    .models = models,
    .n_models = sizeof models / sizeof models[0],
};
