/* Potts models: what is measured of square lattices in words and of lattices of sites. */
#include <math.h>

#include "samplers/lattice/parameters.h"
#include "samplers/swendsen_wang/parameters.h"
#include "samplers/swendsen_wang/sites/sites.h"
#include "samplers/swendsen_wang/tables.h"

const struct ergo_column sw_columns[SW_COLUMNS] = {
    {"energy", "per site, in units of J = 1", "H/N, that of a field included"},
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
    {"bond_probability", "", "of the step before the sample, method probability-changing"},
    {"correlation_half", "", "share of pairs of sites half a side apart that are in one cluster"},
    {"correlation_quarter", "", "the same, a quarter of a side apart"},
    {"wave2", "",
     "sum_c |sum over sites of c of exp(i k r)|^2 / N over clusters, k = 2 pi / L along "
     "the last side"},
    {"first_state", "per site", "n_0 / N, with a field"},
};

static bool is_wolff(const struct ergo_point *point) {
    return ergo_says(of_sw(point)->update, "wolff");
}

static bool sweeps_all(const struct ergo_point *point) {
    return !is_wolff(point);
}

/* Are all spins of a cluster equal and all states as likely, so that sums of sizes are moments of
 * the order parameter? */
static bool is_symmetric(const struct ergo_point *point) {
    return sw_is_ferromagnetic(point) && !sw_has_field(point);
}

static bool has_moments(const struct ergo_point *point) {
    return sweeps_all(point) && is_symmetric(point);
}

static bool has_response(const struct ergo_point *point) {
    return sw_is_sampled(point) && is_symmetric(point);
}

static bool has_wrapping(const struct ergo_point *point) {
    return sweeps_all(point) && sw_is_sampled(point);
}

/* Directions of wrapping are told apart by sites/ alone, and pairs counted. */
static bool has_ways(const struct ergo_point *point) {
    return sweeps_all(point) && !sw_serves_square(point);
}

static bool has_depth(const struct ergo_point *point) {
    return has_ways(point) && of_lattice(point)->size.items > 2;
}

bool sw_wants_clusters(const struct ergo_point *point) {
    static const char *const of_clusters[] = {"psi2",          "psi4",
                                              "moment_ratio",  "cluster_susceptibility",
                                              "clusters",      "largest_cluster",
                                              "wrapping",      "wrapping_x",
                                              "wrapping_y",    "wrapping_z",
                                              "cluster_sizes", "fisher_exponent"};
    bool wanted = false;
    for (size_t i = 0; i < sizeof of_clusters / sizeof of_clusters[0]; i++)
        wanted = wanted || ergo_point_asks(point, of_clusters[i]);
    return wanted || sw_correlates(point);
}

static bool has_half(const struct ergo_point *point) {
    return (sw_serves_square(point) && sw_correlates(point)) ||
           (has_ways(point) && sw_may_correlate(point));
}

static bool has_quarter(const struct ergo_point *point) {
    return has_half(point) && sw_has_quarter(point);
}

bool sw_wants_pairs(const struct ergo_point *point) {
    return (sw_serves_square(point) && sw_correlates(point)) ||
           ergo_point_asks(point, "correlation_half") ||
           ergo_point_asks(point, "correlation_quarter") ||
           ergo_point_asks(point, "correlation_ratio");
}

/* All columns but those of spins need clusters. */
bool sw_has_column(const struct ergo_point *point, size_t c) {
    if (c == SW_COLUMN_FIRST_STATE)
        return sw_has_field(point);
    if (is_wolff(point))
        return c <= SW_COLUMN_IMPROVED;
    if (c == SW_COLUMN_WRAPS_Z && !has_depth(point))
        return false;
    if (c >= SW_COLUMN_WRAPS_X && c <= SW_COLUMN_WRAPS_Z && !has_ways(point))
        return false;
    if (c == SW_COLUMN_WAVE2)
        return sw_correlates(point);
    if (c == SW_COLUMN_CHANCE)
        return sw_adapts(point);
    if (c == SW_COLUMN_HALF || c == SW_COLUMN_QUARTER)
        return has_half(point) && sw_wants_pairs(point);
    return c == SW_COLUMN_ENERGY || c == SW_COLUMN_ORDER || c == SW_COLUMN_PSI2 ||
           sw_wants_clusters(point);
}

/* The energy of an unequal bond over T is -ln(1 - p). */
static double derive_critical(const struct ergo_point *point, const double *m) {
    const double j = of_lattice(point)->coupling.real;
    return (sw_is_ising(point) ? 2 : 1) * j / -log1p(-m[0]);
}

static double derive_critical_width(const struct ergo_point *point, const double *m) {
    return derive_critical(point, m) / (-log1p(-m[0]) * (1 - m[0])) * ergo_mean_width(point, m);
}

/* inputs: first_state */
static double derive_magnetization(const struct ergo_point *point, const double *m) {
    const double q = (double)of_lattice(point)->q;
    return (q * m[0] - 1) / (q - 1);
}

static double derive_ratio(const struct ergo_point *point, const double *m) {
    (void)point;
    return m[0] * m[0] / m[1];
}

/* Between rows along the last side, in lengths of a bond. */
static double row_spacing(const struct ergo_point *point) {
    const uint32_t lattice = sw_sites_shape_of(point).lattice;
    return lattice == SW_LATTICE_TRIANGULAR  ? sqrt(0.75)
           : lattice == SW_LATTICE_HONEYCOMB ? 1.5
                                             : 1;
}

double sw_second_moment(const struct ergo_point *point, double s0, double sk) {
    const struct ergo_value *size = &of_lattice(point)->size;
    const double half_k = acos(-1) / (double)size->size[size->items - 1];
    return s0 > sk ? row_spacing(point) * sqrt(s0 / sk - 1) / (2 * sin(half_k)) : NAN;
}

double sw_longest_side(const struct ergo_point *point) {
    const struct ergo_value *size = &of_lattice(point)->size;
    double longest = 0;
    for (int k = 0; k < size->items; k++)
        longest =
            fmax(longest, (double)size->size[k] * (k == size->items - 1 ? row_spacing(point) : 1));
    return longest;
}

double sw_correlation_length(const struct ergo_point *point, const double *m) {
    return sw_second_moment(point, lattice_sites(point) * m[0], m[1]);
}

/* The first and the last bin of cluster_sizes in the fit: from N^(1/3) sites (and 16) to N^(2/3).
 * The lattice's bonds show in smaller clusters, and that it is finite in the largest ones, of some
 * N^(y/d) sites. */
static size_t first_bin(const struct ergo_point *point) {
    return (size_t)fmax(4, ceil(log2(lattice_sites(point)) / 3));
}

static size_t last_bin(const struct ergo_point *point) {
    const double most = floor(2.0 / 3.0 * log2(lattice_sites(point)));
    return most > 1 ? (size_t)most - 1 : 0;
}

static bool has_exponent(const struct ergo_point *point) {
    return sweeps_all(point) && last_bin(point) >= first_bin(point) + 2;
}

/* Clusters of s .. 2 s - 1 sites are as s^(1 - tau): the slope of their logarithms. */
static double fisher_exponent(const struct ergo_point *point, const double *mean, size_t size) {
    double n = 0, sx = 0, sy = 0, sxx = 0, sxy = 0;
    for (size_t b = first_bin(point); b <= last_bin(point) && b < size; b++) {
        const double x = (double)b, y = log2(mean[b]);
        if (!(mean[b] > 0))
            return NAN;
        n += 1;
        sx += x;
        sy += y;
        sxx += x * x;
        sxy += x * y;
    }
    return 1 - (n * sxy - sx * sy) / (n * sxx - sx * sx);
}

const struct ergo_observable sw_observables[SW_OBSERVABLES] = {
    LATTICE_ENERGY,
    /* it goes from step to step: with the spins the state, and all errors know its memory */
    {ERGO_NAMED("bond_probability", ""),
     .help = "mean p = 1 - exp(-J/T) of the steps; of Ising's units 1 - exp(-2 J/T)",
     ERGO_COLUMN(SW_COLUMN_CHANCE), .applies = sw_adapts},
    {ERGO_NAMED("bond_probability_width", ""),
     .help = "standard deviation of p over the steps, sqrt(<p^2> - <p>^2); small steps s: "
             "<p^2> - <p>^2 = s w (1 - w)/(dw/dp) for a share w of wrapping, if a sweep forgot the "
             "one before",
     .inputs = {"bond_probability", "bond_probability2"}, .derive = ergo_mean_width,
     .applies = sw_adapts},
    {ERGO_NAMED("critical_temperature", "J/k_B"),
     .help = "the temperature of the mean p, -J/ln(1 - <p>) (Ising's units: 2 J instead of J): "
             "that of this size at which a cluster leads around the lattice in the share "
             "wrapping_share of sweeps; it tends to T_c as L^(-1/nu)",
     .inputs = {"bond_probability"}, .derive = derive_critical, .applies = sw_adapts},
    {ERGO_NAMED("critical_temperature_width", "J/k_B"),
     .help = "bond_probability_width times dT/dp at the mean p",
     .inputs = {"bond_probability", "bond_probability2"}, .derive = derive_critical_width,
     .applies = sw_adapts},
    {ERGO_NAMED("bond_probability2", ""), .help = "mean p^2", ERGO_POWER(SW_COLUMN_CHANCE, 2),
     .of_moves = true, .hidden = true, .applies = sw_adapts},
    LATTICE_HEAT_CAPACITY(sw_is_sampled),
    POTTS_ORDER,
    {ERGO_NAMED("psi2", ""),
     .help = "<psi^2> by the improved estimator: mean sum_c n_c^2 / N^2 over clusters; with update "
             "wolff the mean size of its cluster / N",
     ERGO_COLUMN(SW_COLUMN_IMPROVED), .of_moves = true, .applies = is_symmetric},
    {ERGO_NAMED("psi2_plain", ""),
     .help = "<psi^2> from the spins: mean (q sum_k (n_k/N)^2 - 1)/(q - 1); equals psi2 within "
             "errors",
     ERGO_COLUMN(SW_COLUMN_PSI2)},
    LATTICE_SUSCEPTIBILITY("order_parameter", "order_parameter", sw_is_sampled),
    {ERGO_NAMED("cluster_susceptibility", "per site"),
     .help = "N <psi^2> / T by the improved estimator: mean sum_c n_c^2 / (N T) over clusters; the "
             "susceptibility above Tc, where nothing is to be subtracted",
     .inputs = {"psi2"}, .derive = lattice_cluster_susceptibility, .applies = has_response},
    {ERGO_NAMED("moment_ratio", ""),
     .help = "<psi^2>^2 / <psi^4>: 1 in order, (q - 1)/(q + 1) in disorder; curves of all sizes "
             "cross at Tc (what Komura and Okabe check their program with)",
     .inputs = {"psi2", "psi4"}, .derive = derive_ratio, .crosses = true, .applies = has_moments},
    LATTICE_BINDER("order_parameter", NULL,
                   ". Of psi, by the improved estimators, it is 1 - 1 / (3 moment_ratio)"),
    POTTS_ORDER_MOMENTS,
    {ERGO_NAMED("psi4", ""),
     .help = "<psi^4> by the improved estimator: mean ((q + 1) (sum_c n_c^2)^2 - 2 sum_c n_c^4) / "
             "((q - 1) N^4) over clusters",
     ERGO_COLUMN(SW_COLUMN_IMPROVED4), .of_moves = true, .applies = has_moments},
    {ERGO_NAMED("psi4_plain", ""), .help = "<psi^4> from the spins; equals psi4 within errors",
     ERGO_POWER(SW_COLUMN_PSI2, 2)},
    {ERGO_NAMED("clusters", "per site"), .help = "mean number of clusters / N",
     ERGO_COLUMN(SW_COLUMN_CLUSTERS), .of_moves = true, .applies = sweeps_all},
    {ERGO_NAMED("largest_cluster", ""), .help = "mean share of the largest cluster",
     ERGO_COLUMN(SW_COLUMN_LARGEST), .of_moves = true, .applies = sweeps_all},
    {ERGO_NAMED("wrapping", ""),
     .help = "probability that a cluster leads around the lattice, in either direction: curves of "
             "all sizes cross at the critical point. Not with method probability-changing, which "
             "holds it at wrapping_share",
     ERGO_COLUMN(SW_COLUMN_WRAPS), .of_moves = true, .crosses = true, .applies = has_wrapping},
    LATTICE_ENERGY2,
    {ERGO_NAMED("fisher_exponent", ""),
     .help = "tau of the number of clusters of s sites, s^-tau at the critical point: 1 minus the "
             "slope of a line through the logarithms of cluster_sizes over s, from N^(1/3) sites "
             "(and 16) to N^(2/3). An effective exponent: on 256 x 256, q = 2, some 2.1. tau = 1 "
             "+ d/y, y = d - beta/nu: 31/15 in two dimensions "
             "for q = 2, 29/14 for q = 3, 2.2088 in three for q = 2. On lattices of 1,449 sites "
             "and more",
     .curve = "cluster_sizes", .from_curve = fisher_exponent, .of_moves = true,
     .applies = has_exponent},
    SW_CORRELATION_RATIO(has_quarter),
    {ERGO_NAMED("correlation_half", ""),
     .help = "<(q delta - 1)/(q - 1)> of sites half a side apart (of an odd side the whole number "
             "below), mean over the sides, by the improved estimator: pairs in one cluster count "
             "1, others 0. With /run/correlations pairs are those in 64 rows and 64 columns at "
             "equal distances, or all of smaller sides",
     ERGO_COLUMN(SW_COLUMN_HALF), .of_moves = true, .applies = has_half},
    SW_CORRELATION_QUARTER(SW_COLUMN_QUARTER, has_quarter),
    {ERGO_NAMED("correlation_length", "sites"),
     .help =
         "second moment, along the last dimension, by improved estimators: a sqrt(S(0)/S(k) - 1) "
         "/ (2 sin(k/2)), k = 2 pi / L, a the spacing of rows in lengths of a bond: 1, "
         "triangular sqrt(3)/2, honeycomb 3/2; S(0) = N <psi^2>, S(k) = <sum_c |sum over sites r "
         "of c "
         "of exp(i k r)|^2> / N over clusters c. Nothing is subtracted: with order this is no "
         "correlation length, but over L it crosses at the transition for all L. With "
         "/run/correlations",
     .inputs = {"psi2", "wave2"}, .derive = sw_correlation_length, .bound = sw_longest_side,
     .beyond = "longer than the lattice: order", .applies = sw_correlates},
    {ERGO_NAMED("wave2", ""), .help = "S(k) by the improved estimator",
     ERGO_COLUMN(SW_COLUMN_WAVE2), .of_moves = true, .hidden = true, .applies = sw_correlates},
    POTTS_FIRST_STATE(SW_COLUMN_FIRST_STATE, sw_has_field),
    {ERGO_NAMED("magnetization", "per site"),
     .help = "with a field: along it, (q <n_0> - 1)/(q - 1), n_0 as in first_state; of q = 2 "
             "Ising's mean m",
     .inputs = {"first_state"}, .derive = derive_magnetization, .applies = sw_has_field},
    {ERGO_NAMED("wrapping_x", ""),
     .help = "probability that a closed path in a cluster goes around the lattice in x an odd "
             "number of times: curves of all sizes cross at the critical point",
     ERGO_COLUMN(SW_COLUMN_WRAPS_X), .of_moves = true, .crosses = true, .applies = has_ways},
    {ERGO_NAMED("wrapping_y", ""), .help = "the same in y", ERGO_COLUMN(SW_COLUMN_WRAPS_Y),
     .of_moves = true, .crosses = true, .applies = has_ways},
    {ERGO_NAMED("wrapping_z", ""), .help = "the same in z", ERGO_COLUMN(SW_COLUMN_WRAPS_Z),
     .of_moves = true, .crosses = true, .applies = has_depth},
};

const struct ergo_curve_info sw_curves[SW_CURVES] = {
    {"cluster_sizes", "size (lower edge of the bin)", "per site",
     "mean number of clusters of size s .. 2 s - 1, per site; s = 1, 2, 4, ..."},
    {"correlation", "r", "",
     "<(q delta - 1)/(q - 1)> of sites r apart along a side, mean over the sides, by the improved "
     "estimator, as correlation_half; r = 1, 2, 3, 4, 6, 8, 12, ... up to half of the least side. "
     "On square lattices with method sample and /run/correlations"},
};

size_t sw_curve_size(const struct ergo_point *point, size_t c) {
    const uint64_t n = (uint64_t)lattice_sites(point);
    size_t bins = 0;
    if (c == SW_CURVE_CORRELATION)
        return sw_serves_square(point) && sw_correlates(point)
                   ? sw_distances_of(point) - SW_DISTANCE_CURVE
                   : 0;
    while (bins < 64 && n >> bins && sweeps_all(point) &&
           sw_wants_clusters(point)) /* one device has at most SW_CLUSTER_BINS */
        bins++;
    return bins;
}

void sw_curve_x(const struct ergo_point *point, size_t c, double *x) {
    for (uint32_t i = 0; i < sw_curve_size(point, c); i++)
        x[i] = c == SW_CURVE_CORRELATION ? sw_distance(SW_DISTANCE_CURVE + i, 2)
                                         : (double)((uint64_t)1 << i);
}
