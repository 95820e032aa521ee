/* swendsen-wang: the tables of the sampler, and what a job tells without a device. */
#include "samplers/swendsen_wang/swendsen_wang.h"

#include <math.h>
#include <string.h>

#include "samplers/spin_lattice/exact.h"
#include "samplers/swendsen_wang/cut.h"
#include "samplers/swendsen_wang/sites/sites.h"
#include "samplers/swendsen_wang/tables.h"

static const char *const labellings[] = {"union-find", NULL};
static const char *const merges[] = {"auto", "rounds", "gather", NULL};
static const char *const starts[] = {"ordered", "random", NULL};
static const char *const hamiltonians[] = {"potts", "ising", NULL};

/* Keys of square lattices (sw.h) alone. */
#define OF_SQUARE                                                                                  \
    .acts = sw_serves_square,                                                                      \
    .where = "on square lattices of two dimensions with update swendsen-wang, without disorder "   \
             "and field"

static const struct ergo_key q_keys[] = {
    {LATTICE_Q("2", SW_Q_MAX), .help = "Number of spin states q; 2 is the Ising model. The "
                                       "transition is of first order for q > 4."},
};

static const struct ergo_key keys[] = {
    {LATTICE_TEMPERATURE(0), .stream = "",
     .help = "Temperature T in the energy unit of the coupling (k_B = 1). Required with method "
             "sample; method probability-changing may begin there, else with bond probability 1/2. "
             "The infinite lattice is critical at 1/ln(1 + sqrt q) for J = 1: 1.134593, 0.994973, "
             "0.910239 for q = 2, 3, 4 (Komura and Okabe 2013, section 4); hamiltonian ising: "
             "2.269185. Ising's, of triangular lattices: 4/ln 3 = 3.640957; honeycomb: 2/ln(2 + "
             "sqrt 3) = 1.518651; in three dimensions 4.511523 (Ferrenberg, Xu, Landau 2018). "
             "Method probability-changing finds it and only begins here."},
    {LATTICE_KEY(coupling, "/system/coupling", REAL),
     .flags = ERGO_KEY_SCAN | ERGO_KEY_CHAIN | ERGO_KEY_EXCLUDES_MIN, .fallback = "1", .min = 0,
     .max = 1e6, .unit = "J",
     .help = "Ferromagnetic coupling J > 0. Bonds between equal neighbours are active with "
             "probability 1 - exp(-J/T)."},
    {SW_KEY(hamiltonian, "/system/hamiltonian", ENUM), .flags = ERGO_KEY_CHAIN | ERGO_KEY_SHAPE,
     .fallback = "\"potts\"", .choices = hamiltonians, .unit = "",
     .help = "Unit of coupling and energy. potts: H = -J sum (delta - 1) (Komura and Okabe 2013, "
             "Eq. 1); ising, for q = 2: H = -J sum s s, s = +-1, as in spin-lattice."},
    {ERGO_KEY("/system/labelling", ENUM), .flags = ERGO_KEY_SHAPE, .fallback = "\"union-find\"",
     .choices = labellings, .unit = "", OF_SQUARE,
     .help = "How clusters are labelled; the chain does not depend on it. union-find: tiles in "
             "local memory, then their edges, without iteration. (Label equivalence, the "
             "method of Komura and Okabe, is not offered: it passes over the lattice many times.)"},
    {SW_KEY(merge, "/system/merge", ENUM), .flags = ERGO_KEY_SHAPE | ERGO_KEY_HOW,
     .fallback = "\"auto\"", .choices = merges, .unit = "", OF_SQUARE,
     .help =
         "How clusters of a lattice cut over ranks are joined; the chain does not depend on "
         "it. rounds: between neighbours, and what these leave by all; gather: all pairs of "
         "parts to all devices, which join them, in sweeps that are not measured, and rounds in "
         "those that are; auto: what a model predicts to be faster (result.json says which): "
         "gather for few ranks, rounds for many, or with several chains, whose joining is "
         "hidden behind each other's labels."},
    {JOB_KEY(shares, "/system/shares", STRING), .flags = ERGO_KEY_HOW, .fallback = "\"measured\"",
     .unit = "", OF_SQUARE,
     .help = "Shares of the ranks in a lattice cut over them; the chain does not depend on it. "
             "measured: by a short trial at the start, and again where a rank falls behind; equal; "
             "or numbers > 0, \"3,1\", dealt out to the ranks in turn."},
    {LATTICE_START(starts),
     .help = "Starting configuration: all spins in state 0, or uniform over the q states. At a "
             "transition of first order (q > 4) it decides in which phase a run begins."},
};

static enum ergo_status check_unit(struct ergo_context *ctx, const struct ergo_point *point) {
    if (!sw_is_ising(point) || of_lattice(point)->q == 2)
        return ERGO_OK;
    return ergo_job_error(ctx, "/system/hamiltonian",
                          "\"ising\" means q = 2, and /system/q is %lld; use \"potts\"",
                          (long long)of_lattice(point)->q);
}

static enum ergo_status check_sites(struct ergo_context *ctx, const struct ergo_point *point) {
    const enum ergo_status unit = check_unit(ctx, point);
    const enum ergo_status status = sw_sites_check(ctx, point);
    return unit != ERGO_OK ? unit : status;
}

static enum ergo_status check(struct ergo_context *ctx, const struct ergo_point *point) {
    enum ergo_status status = check_unit(ctx, point);
    /* Labels of one device have 32 bits; over ranks, random numbers number the words. With
     * "auto" the number of ranks decides, which is not known here. The run refuses a lattice
     * that is too large for one device. */
    const struct sw_shape shape = sw_shape_of(point);
    const bool alone = ergo_says(point->parameters->distribute, "points");
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
    if (status == ERGO_OK)
        status = sw_correlate_check(ctx, point);
    if (status == ERGO_OK)
        status = sw_temperature_check(ctx, point);
    const enum ergo_status shares = ergo_shares_check(ctx, point);
    return shares != ERGO_OK ? shares : status;
}

/* q = 2 is Ising with half the coupling. Moments are exact if all states can be enumerated. */
static double exact(const struct ergo_point *point, const char *observable) {
    const struct ergo_value *size = &of_lattice(point)->size;
    const double t = point->parameters->temperature;
    const double j = of_lattice(point)->coupling.real;
    const bool ising = sw_is_ising(point);
    const double ising_j = ising ? j : 0.5 * j, shift = ising ? 0.0 : j;
    if (of_lattice(point)->q != 2)
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
         lattice_sites(point) / t * (m.magnetization2 - m.abs_magnetization * m.abs_magnetization)},
        {"cluster_susceptibility", lattice_sites(point) / t * m.magnetization2}};
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
    const double q = (double)of_lattice(point)->q;
    const char *lattice = of_lattice(point)->lattice.text;
    if (of_lattice(point)->size.items > 2)
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
    const double tc =
        sw_is_plain(point) ? of_lattice(point)->coupling.real * first_order(point) : 0;
    if (tc == 0 || fabs(point->parameters->temperature / tc - 1) > 0.03)
        return NULL;
    return "two phases live side by side near this transition, of first order: chains that start "
           "\"ordered\" and \"random\" bound the truth, and each shows one of them only";
}

const struct ergo_sampler_ops ergo_swendsen_wang_cut = {
    .engine = &sw_cut_model,
    .plan = sw_cut_plan,
    .create = sw_cut_create,
    .init = ergo_engine_init,
    .advance = sw_cut_advance,
    .collect = sw_cut_collect,
    .save = sw_cut_save,
    .load = sw_cut_load,
    .view = sw_cut_view,
};

static const struct ergo_sampler_ops ops = {
    .engine = &sw_model,
    .init = ergo_engine_init,
    .save = ergo_fields_save,
    .load = ergo_fields_load,
    .view = ergo_fields_view,
};

static const char *const first_job[] = {"/system/size=[32, 32]", "/system/temperature=1.134593",
                                        "/run/equilibration=200", "/run/sweeps=5000", NULL};

/* Two implementations: sw.h's with a bit-plane for each bit of a spin, and sites/. */
#define POTTS_TABLES                                                                               \
    .name = "potts", .rule = &(const struct sw_spins){SW_MODEL_POTTS, 1},                          \
    .summary = "H = -J sum (delta(s_i, s_j) - 1), s = 0 .. q - 1, over nearest neighbours of "     \
               "square, triangular, honeycomb and simple cubic lattices.",                         \
    .first = first_job, .parameters = sizeof(struct sw_parameters),                                \
    .keys = {{q_keys, 1},                                                                          \
             {sw_size_keys, SW_SIZE_KEYS},                                                         \
             {keys, sizeof keys / sizeof keys[0]},                                                 \
             {sw_sites_keys, SW_SITES_KEYS},                                                       \
             {sw_disorder_keys, SW_DISORDER_KEYS},                                                 \
             {sw_field_keys, SW_FIELD_KEYS},                                                       \
             {sw_run_keys, SW_RUN_KEYS}},                                                          \
    .columns = sw_columns, .has_column = sw_has_column, .conjugates = lattice_conjugates,          \
    .n_conjugates = 1, .observables = sw_observables, .n_observables = SW_OBSERVABLES,             \
    .curves = sw_curves, .n_curves = SW_CURVES, .tunables = sw_tunables,                           \
    .n_tunables = SW_TUNABLES, .curve_size = sw_curve_size, .curve_x = sw_curve_x,                 \
    .remedy = remedy, .unweighted = sw_unweighted, .samples_disorder = sw_samples_differ

static const struct ergo_model square_model = {
    POTTS_TABLES,
    .serves = sw_serves_square,
    .programs = {"swendsen_wang/sweep.cl", "swendsen_wang/measure.cl", "swendsen_wang/local.cl",
                 "swendsen_wang/correlate.cl", "swendsen_wang/cut.cl",
                 "swendsen_wang/cut_correlate.cl", "swendsen_wang/cut_gather.cl",
                 "swendsen_wang/cut_tiles.cl"},
    .n_columns = SW_COLUMNS,
    .check = check,
    .form = sw_form,
    .exact = exact,
    .ops = &ops,
    .cut = &ergo_swendsen_wang_cut,
};

static const struct ergo_model sites_model = {
    POTTS_TABLES,
    .programs = {"swendsen_wang/sites.cl", "swendsen_wang/sites_measure.cl",
                 "swendsen_wang/sites_slab.cl", "swendsen_wang/sites_bridges.cl",
                 "swendsen_wang/sites_pairs.cl", "swendsen_wang/sites_waves.cl"},
    .n_columns = SW_COLUMNS,
    .check = check_sites,
    .form = sw_sites_form,
    .ops = &sw_sites_ops,
    .cut = &sw_slab_ops,
    .cuts = sw_slab_is_worth,
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
