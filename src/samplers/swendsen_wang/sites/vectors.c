/* Unit vectors by clusters: tables of the models xy, clock and heisenberg, and columns of their
 * samples. Observables have the names and definitions of spin-lattice. */
#include <math.h>

#include "samplers/lattice/keys.h"
#include "samplers/swendsen_wang/sites/sites.h"
#include "samplers/swendsen_wang/tables.h"

static struct sw_sites_shape shape_of(const struct ergo_point *point) {
    return sw_sites_shape_of(point);
}

/* ---- columns --------------------------------------------------------------------------------- */

void sw_vectors_convert(const struct sw_sites_shape *h, struct sw_unit unit, const int64_t *sums,
                        const struct sw_found *found, double *columns) {
    const double n = (double)h->sites, one = 0x1p-30 / n;
    const double components = h->model == SW_MODEL_HEISENBERG ? 3 : 2;
    double wave2 = 0;
    for (size_t k = 0; k < 6; k++) {
        const double wave = (double)sums[SW_NUMBER_WAVES + k] * 0x1p-30;
        wave2 += wave * wave;
    }
    for (size_t k = 0; k < 3; k++)
        columns[SW_VECTOR_X + k] = (double)sums[SW_NUMBER_TOTAL + k] * one;
    columns[SW_VECTOR_ALIGNMENT] = (double)sums[SW_NUMBER_BONDS] * one;
    columns[SW_VECTOR_ENERGY] = -unit.coupling * columns[SW_VECTOR_ALIGNMENT];
    columns[SW_VECTOR_CURRENT2] =
        lattice_current2(sums + SW_NUMBER_CURRENTS, 3, 3, h->lattice == SW_LATTICE_TRIANGULAR) / n;
    columns[SW_VECTOR_VORTICES] = (double)sums[SW_NUMBER_VORTICES] / n;
    columns[SW_VECTOR_WAVE2] = wave2 / n;
    columns[SW_VECTOR_GROWN] = (double)found->grown / n;
    /* <(M.r)^2> = N <(sum of parts in Wolff's cluster)^2 / its size>, and r is any direction */
    const double parts = (double)found->parts * 0x1p-30;
    columns[SW_VECTOR_IMPROVED2] =
        found->grown ? components * parts * parts / ((double)found->grown * n) : 0;
    columns[SW_VECTOR_CHANCE] = (double)found->chance * 0x1p-24;
    columns[SW_VECTOR_POWER0] = components * found->powers[1] * 0x1p-30 / n;
    columns[SW_VECTOR_POWER] = components * found->powers[0] * 0x1p-30 / n;
    for (size_t k = 0; k < 2; k++)
        columns[SW_VECTOR_HALF + k] =
            components * (double)found->pairs[k] * one / (h->lz > 1 ? 3 : 2);
}

static const struct ergo_column columns[SW_VECTOR_COLUMNS] = {
    LATTICE_VECTOR_COLUMN_ROWS("U/N = -J sum s.s' / N"),
    {"vortices", "per site", "plaquettes with a vortex of either sense / N"},
    {"wave2", "", "|sum s exp(i k r)|^2 / N, k = 2 pi / L along the last dimension"},
    {"cluster_size", "", "sites of Wolff's cluster / N"},
    {"improved2", "", "components (sum of |s.r| in Wolff's cluster)^2 / (N sites of the cluster)"},
    {"inverse_temperature", "1/J", "J/T of the step before the sample"},
    {"correlation_half", "",
     "components times the mean of |s.r| |s'.r| over pairs of sites half a side apart, 0 for those "
     "in two clusters"},
    {"correlation_quarter", "", "the same, a quarter of a side apart"},
    {"structure0_improved", "",
     "components times sum_c (sum of |s.r| over sites of c)^2 / N over clusters"},
    {"structure_improved", "",
     "components times sum_c |sum of |s.r| exp(i k r) over sites of c|^2 / N, k as in wave2"},
};

static bool is_wolff(const struct ergo_point *point) {
    return shape_of(point).wolff;
}

static bool has_vortices(const struct ergo_point *point) {
    const struct sw_sites_shape h = shape_of(point);
    return h.model != SW_MODEL_HEISENBERG && h.lz == 1 && h.lattice == SW_LATTICE_SQUARE &&
           sw_is_periodic(point);
}

static bool has_helicity(const struct ergo_point *point) {
    const struct sw_sites_shape h = shape_of(point);
    return !h.adapts && sw_is_periodic(point) && h.model != SW_MODEL_CLOCK &&
           h.lattice != SW_LATTICE_HONEYCOMB;
}

static bool has_half(const struct ergo_point *point) {
    return !is_wolff(point) && sw_is_periodic(point);
}

/* A parallel cluster: <m^2> by its sum. */
static bool has_grown_moment(const struct ergo_point *point) {
    return is_wolff(point) && sw_is_ferromagnetic(point);
}

static bool has_column(const struct ergo_point *point, size_t c) {
    return c == SW_VECTOR_Z          ? shape_of(point).model == SW_MODEL_HEISENBERG
           : c == SW_VECTOR_VORTICES ? has_vortices(point)
           : c == SW_VECTOR_GROWN || c == SW_VECTOR_IMPROVED2 ? is_wolff(point)
           : c == SW_VECTOR_HALF || c == SW_VECTOR_QUARTER
               ? has_half(point) && sw_wants_pairs(point)
           : c == SW_VECTOR_POWER0 || c == SW_VECTOR_POWER ? sw_correlates(point)
           : c == SW_VECTOR_CHANCE                         ? sw_adapts(point)
                                                           : true;
}

/* ---- observables ----------------------------------------------------------------------------- */

static bool has_quarter(const struct ergo_point *point) {
    return has_half(point) && sw_has_quarter(point);
}

/* inputs: inverse_temperature, inverse_temperature2 */
static double critical(const struct ergo_point *point, const double *m) {
    return of_lattice(point)->coupling.real / m[0];
}

static double critical_width(const struct ergo_point *point, const double *m) {
    return critical(point, m) * ergo_mean_width(point, m) / m[0];
}

/* inputs: structure0_improved, structure_improved */
static double correlation_length_improved(const struct ergo_point *point, const double *m) {
    return sw_second_moment(point, m[0], m[1]);
}

/* clang-format off */
#define STEPS                                                                                      \
    {ERGO_NAMED("inverse_temperature", "1/J"), .help = "mean J/T of the steps",                    \
     ERGO_COLUMN(SW_VECTOR_CHANCE), .of_moves = true, .applies = sw_adapts},                       \
    {ERGO_NAMED("critical_temperature", "J/k_B"),                                                  \
     .help = "J/<J/T>: the temperature of this size at which a cluster of the mirror's Ising "     \
             "spins leads around the lattice in the share wrapping_share of sweeps",               \
     .inputs = {"inverse_temperature"}, .derive = critical, .applies = sw_adapts},                 \
    {ERGO_NAMED("critical_temperature_width", "J/k_B"),                                            \
     .help = "its standard deviation over the steps: T sqrt(<K^2> - <K>^2) / <K>, K = J/T",        \
     .inputs = {"inverse_temperature", "inverse_temperature2"}, .derive = critical_width,          \
     .applies = sw_adapts},                                                                        \
    {ERGO_NAMED("inverse_temperature2", "1/J^2"), .help = "mean (J/T)^2",                          \
     ERGO_POWER(SW_VECTOR_CHANCE, 2), .of_moves = true, .hidden = true, .applies = sw_adapts}
#define CORRELATIONS                                                                               \
    {ERGO_NAMED("correlation_length", "sites"),                                                    \
     .help = "second moment, along the last dimension: a sqrt(S(0)/S(k) - 1) / (2 sin(k/2)), a "   \
             "the spacing of rows in lengths of a bond (1, triangular sqrt(3)/2, honeycomb 3/2), " \
             "k = 2 pi / L. S(0) = N <m^2>, from which nothing is subtracted: with order this is " \
             "no correlation length, but over L it crosses at the transition for all L",           \
     .inputs = {"order_parameter2", "wave2"}, .derive = sw_correlation_length,                        \
     .applies = sw_is_periodic, .bound = sw_longest_side,                                          \
     .beyond = "longer than the lattice: order"},                                                  \
    {ERGO_NAMED("correlation_length_improved", "sites"),                                           \
     .help = "the same by improved estimators: S(k) = components <sum_c |sum over sites of c of "  \
             "|s.r| exp(i k r)|^2> / N over clusters c of the mirror r. With /run/correlations",   \
     .inputs = {"structure0_improved", "structure_improved"},                                      \
     .derive = correlation_length_improved, .applies = sw_correlates, .bound = sw_longest_side,    \
     .beyond = "longer than the lattice: order"},                                                  \
    {ERGO_NAMED("structure0_improved", ""), .help = "S(0) = N <m^2> by the improved estimator",    \
     ERGO_COLUMN(SW_VECTOR_POWER0), .of_moves = true, .hidden = true, .applies = sw_correlates},   \
    {ERGO_NAMED("structure_improved", ""), .help = "S(k) by the improved estimator",               \
     ERGO_COLUMN(SW_VECTOR_POWER), .of_moves = true, .hidden = true, .applies = sw_correlates},    \
    SW_CORRELATION_RATIO(has_quarter),                                                             \
    {ERGO_NAMED("correlation_half", ""),                                                           \
     .help = "<s.s'> of sites half a side apart (of an odd side the whole number below), mean "    \
             "over the sides, by the improved estimator: components times |s.r| |s'.r| of pairs "  \
             "in one cluster of the mirror r",                                                     \
     ERGO_COLUMN(SW_VECTOR_HALF), .of_moves = true, .applies = has_half},                          \
    SW_CORRELATION_QUARTER(SW_VECTOR_QUARTER, has_quarter)
#define OBSERVABLES_COMMON                                                                         \
    LATTICE_ENERGY, STEPS, LATTICE_VECTOR_ORDER, LATTICE_VECTOR_RESPONSES(sw_is_sampled),          \
    {ERGO_NAMED("cluster_susceptibility", "per site"),                                             \
     .help = "N <m^2> / T by the improved estimator (order_parameter2_improved); the one to use "  \
             "above the critical temperature. With update wolff",                                  \
     .inputs = {"order_parameter2_improved"}, .derive = lattice_cluster_susceptibility,                    \
     .applies = has_grown_moment},                                                                 \
    CORRELATIONS, LATTICE_VECTOR_MOMENTS,                                                          \
    {ERGO_NAMED("order_parameter2_improved", "per site^2"),                                        \
     .help = "<m^2> from Wolff's cluster: n <(sum of |s.r|)^2 / (N sites)>, n components, r the "  \
             "mirror",                                                                             \
     ERGO_COLUMN(SW_VECTOR_IMPROVED2), .of_moves = true, .applies = has_grown_moment},             \
    {ERGO_NAMED("cluster_size", ""), .help = "mean size of Wolff's cluster / N",                   \
     ERGO_COLUMN(SW_VECTOR_GROWN), .of_moves = true, .applies = is_wolff},                         \
    {ERGO_NAMED("wave2", ""),                                                                      \
     .help = "mean of |sum s exp(i k r)|^2 / N, k = 2 pi / L along the last dimension",            \
     ERGO_COLUMN(SW_VECTOR_WAVE2), .hidden = true},                                                \
    LATTICE_ENERGY2
/* clang-format on */

#define VORTICES LATTICE_VORTICES(SW_VECTOR_VORTICES, has_vortices)

static const struct ergo_observable xy_observables[] = {
    OBSERVABLES_COMMON,
    LATTICE_HELICITY_PLANE(has_helicity),
    VORTICES,
};
static const struct ergo_observable clock_observables[] = {OBSERVABLES_COMMON, VORTICES};
static const struct ergo_observable heisenberg_observables[] = {
    OBSERVABLES_COMMON,
    LATTICE_HELICITY_SPACE(has_helicity),
};

/* ---- keys and models ------------------------------------------------------------------------- */

static const char *const starts[] = {"ordered", "random", NULL};

enum { VECTOR_KEYS = 3 };
static const struct ergo_key vector_keys[VECTOR_KEYS] = {
    {JOB_KEY(temperature, "/system/temperature", REAL), .flags = ERGO_KEY_SCAN | ERGO_KEY_CHAIN,
     .stream = "", .min = 1e-6, .max = 1e12, .unit = "J/k_B",
     .help = "Temperature T in the energy unit of the coupling (k_B = 1). Required with method "
             "sample; method probability-changing may begin there, else with J/T = 1. For J = 1: "
             "xy, square, "
             "Kosterlitz-Thouless at 0.8929 (Hasenbusch 2005); xy, cubic, 2.2018 (Campostrini et "
             "al. 2006); heisenberg, cubic, 1.4430 (Peczak et al. 1991). Method "
             "probability-changing finds it and only begins here."},
    {LATTICE_KEY(coupling, "/system/coupling", REAL),
     .flags = ERGO_KEY_SCAN | ERGO_KEY_CHAIN | ERGO_KEY_EXCLUDES_MIN, .fallback = "1", .min = 0,
     .max = 1e6, .unit = "J",
     .help = "Ferromagnetic coupling J > 0. A step has a random direction r. Bonds whose ends have "
             "s.r of the same sign are active with probability 1 - exp(-2 J (s.r)(s'.r)/T), and "
             "clusters are mirrored in the plane across r (Wolff 1989)."},
    {LATTICE_START(starts),
     .help = "Starting configuration: all spins in one direction, or any directions."},
};

static const struct ergo_key q_keys[] = {
    {LATTICE_Q("6", 256),
     .help = "Number of directions, at angles 2 pi k / q. q = 2 is the Ising model, q = 3 Potts "
             "with 2/3 of its temperature, q = 4 two Ising models with half of J."},
};

static const char *const first_plane[] = {"/system/size=[32, 32]", "/system/temperature=0.9",
                                          "/run/equilibration=200", "/run/sweeps=5000", NULL};
static const char *const first_space[] = {"/system/size=[12, 12, 12]", "/system/temperature=1.443",
                                          "/run/equilibration=200", "/run/sweeps=5000", NULL};

#define COUNT(rows) (sizeof(rows) / sizeof(rows)[0])
#define MODEL(name_, model_, bytes_, observables_, first_, ...) /* last rows of keys of its own */ \
    .name = (name_), .rule = &(const struct sw_spins){(model_), (bytes_)},                         \
    .programs = {"swendsen_wang/sites.cl",       "swendsen_wang/sites_vectors.cl",                 \
                 "swendsen_wang/sites_slab.cl",  "swendsen_wang/sites_bridges.cl",                 \
                 "swendsen_wang/sites_pairs.cl", "swendsen_wang/sites_waves.cl"},                  \
    .first = (first_), ERGO_TABLE(columns, columns), .has_column = has_column,                     \
    .conjugates = lattice_conjugates, .n_conjugates = 1, ERGO_TABLE(observables, observables_),    \
    .tunables = sw_tunables, .n_tunables = SW_TUNABLES, .check = sw_sites_check,                   \
    .form = sw_sites_form, .unweighted = sw_unweighted, .samples_disorder = sw_samples_differ,     \
    .ops = &sw_sites_ops, .cut = &sw_slab_ops, .cuts = sw_slab_is_worth,                           \
    .parameters = sizeof(struct sw_parameters),                                                    \
    .keys = {{sw_size_keys, SW_SIZE_KEYS},                                                         \
             __VA_ARGS__{vector_keys, VECTOR_KEYS},                                                \
             {sw_sites_keys, SW_SITES_KEYS},                                                       \
             {sw_disorder_keys, SW_DISORDER_KEYS},                                                 \
             {sw_run_keys, SW_RUN_KEYS}}

const struct ergo_model sw_xy_model = {
    MODEL("xy", SW_MODEL_XY, 4, xy_observables, first_plane, ),
    .summary = "H = -J sum cos(a_i - a_j) over nearest neighbours: spins in a plane, by clusters "
               "of their mirror images.",
};

const struct ergo_model sw_clock_model = {
    MODEL("clock", SW_MODEL_CLOCK, 1, clock_observables, first_plane, {q_keys, COUNT(q_keys)}, ),
    .summary = "H = -J sum cos(a_i - a_j) over nearest neighbours: spins in one of q directions of "
               "a plane, a = 2 pi k / q, by clusters of their mirror images.",
};

const struct ergo_model sw_heisenberg_model = {
    MODEL("heisenberg", SW_MODEL_HEISENBERG, 12, heisenberg_observables, first_space, ),
    .summary = "H = -J sum s_i.s_j over nearest neighbours: spins of three components and length "
               "1, by clusters of their mirror images.",
};
