/* spin-lattice: what a run measures, and what is made of it. */
#include <math.h>
#include <string.h>

#include "samplers/spin_lattice/bytes.h"
#include "samplers/spin_lattice/exact.h"
#include "samplers/spin_lattice/facilitated.h"
#include "samplers/spin_lattice/glass.h"
#include "samplers/spin_lattice/spin_lattice.h"

const struct ergo_column spin_lattice_columns[COLUMNS] = {
    {"energy", "per site, in units of J = 1", "U/N = (-J sum s s - B sum s)/N"},
    {"magnetization", "per site", "sum s / N; potts: the order parameter"},
    {"staggered_magnetization", "per site",
     "sum +-s / N, signs in turn along the directions with a negative coupling"},
};

static bool is_potts(const struct ergo_point *point) {
    return strcmp(ergo_point_text(point, "/system/model"), "potts") == 0;
}

static bool is_equilibrium(const struct ergo_point *point) {
    return !model_is_facilitated(point) && !glass_is(point);
}

/* Ising models with a negative coupling. */
static bool is_antiferromagnet(const struct ergo_point *point) {
    return !is_potts(point) && bytes_staggered_axes(point) != 0;
}

static bool is_staggered_potts(const struct ergo_point *point) {
    return is_potts(point) && bytes_staggered_axes(point) != 0 && bytes_has_structure(point);
}

bool spin_lattice_has_column(const struct ergo_point *point, size_t c) {
    return c != COLUMN_STAGGERED || is_antiferromagnet(point);
}

static double sites(const struct ergo_point *point) {
    const struct ergo_value *size = ergo_point_value(point, "/system/size");
    double n = 1;
    for (int k = 0; k < size->items; k++)
        n *= (double)size->size[k];
    return n;
}

static double sample_energy(const struct ergo_point *point, const double *c) {
    (void)point;
    return c[0];
}

static double sample_energy2(const struct ergo_point *point, const double *c) {
    (void)point;
    return c[0] * c[0];
}

static double sample_m(const struct ergo_point *point, const double *c) {
    (void)point;
    return c[1];
}

static const char *slow_energy(const struct ergo_point *point) {
    return model_is_facilitated(point)
               ? "frozen spins never change, and slow ones hardly; up_density has honest errors, "
                 "from independent realisations"
               : NULL;
}

/* To change sign a lattice has to pass through a domain wall across it: the free energy of the wall
 * grows with its side below Tc. Near above, finite lattices do the same, only more often. */
static const char *slow_m(const struct ergo_point *point) {
    if (model_is_facilitated(point))
        return slow_energy(point);
    if (glass_is(point))
        return NULL;
    if (!ergo_point_value(point, "/system/temperature")->present)
        return NULL;
    const double t = ergo_point_real(point, "/system/temperature");
    const double j = ergo_point_real(point, "/system/coupling");
    if (is_potts(point) || bytes_is(point))
        return NULL;
    const bool ordered = j > 0 && t < 1.1 * ergo_ising_critical_temperature(j);
    return ordered && ergo_point_real(point, "/system/field") == 0.0
               ? "near and below Tc a lattice without a field changes sign only as a whole, too "
                 "rarely to average over; use abs_magnetization"
               : NULL;
}

static double sample_abs_m(const struct ergo_point *point, const double *c) {
    (void)point;
    return fabs(c[1]);
}

static double sample_m2(const struct ergo_point *point, const double *c) {
    (void)point;
    return c[1] * c[1];
}

static double sample_m4(const struct ergo_point *point, const double *c) {
    (void)point;
    return c[1] * c[1] * c[1] * c[1];
}

static double sample_abs_staggered(const struct ergo_point *point, const double *c) {
    (void)point;
    return fabs(c[COLUMN_STAGGERED]);
}

static double sample_staggered2(const struct ergo_point *point, const double *c) {
    (void)point;
    return c[COLUMN_STAGGERED] * c[COLUMN_STAGGERED];
}

static double sample_staggered4(const struct ergo_point *point, const double *c) {
    return sample_staggered2(point, c) * sample_staggered2(point, c);
}

/* S(Q) / N */
static double curve_staggered2(const struct ergo_point *point, const double *mean, size_t size) {
    (void)size;
    return mean[0] / sites(point);
}

static double derive_heat_capacity(const struct ergo_point *point, const double *m) {
    const double t = ergo_point_real(point, "/system/temperature");
    return sites(point) * (m[1] - m[0] * m[0]) / (t * t);
}

static double derive_susceptibility(const struct ergo_point *point, const double *m) {
    return sites(point) * (m[1] - m[0] * m[0]) / ergo_point_real(point, "/system/temperature");
}

static double derive_binder(const struct ergo_point *point, const double *m) {
    (void)point;
    return 1.0 - m[1] / (3.0 * m[0] * m[0]);
}

static bool is_not_glass(const struct ergo_point *point) {
    return !glass_is(point);
}

static bool is_neither(const struct ergo_point *point) { /* Potts, nor a glass */
    return !is_potts(point) && !glass_is(point);
}

static bool is_ising(const struct ergo_point *point) {
    return is_equilibrium(point) && !is_potts(point);
}

static double curve_first(const struct ergo_point *point, const double *mean, size_t size) {
    (void)point, (void)size;
    return mean[0];
}

static double curve_mean(const struct ergo_point *point, const double *mean, size_t size) {
    double sum = 0;
    (void)point;
    for (size_t i = 0; i < size; i++)
        sum += mean[i];
    return sum / (double)size;
}

static bool is_glass_pair(const struct ergo_point *point) {
    const struct ergo_value *copies = ergo_point_value(point, "/system/copies");
    return glass_is(point) && !(copies->present && copies->integer == 1);
}

static bool is_ladder(const struct ergo_point *point) {
    const struct ergo_value *ladder = ergo_point_value(point, "/system/ladder");
    return glass_is(point) && ladder->present && ladder->integer > 1;
}

#define GLASS_MOMENT(NAME)                                                                         \
    static double glass_##NAME(const struct ergo_point *point, const double *mean, size_t size) {  \
        (void)size;                                                                                \
        return glass_moment(point, #NAME, mean);                                                   \
    }
GLASS_MOMENT(energy)
GLASS_MOMENT(magnetization)
GLASS_MOMENT(overlap_abs)
GLASS_MOMENT(overlap2)
GLASS_MOMENT(overlap4)
GLASS_MOMENT(overlap_binder)
GLASS_MOMENT(overlap_length)
GLASS_MOMENT(glass_heat_capacity)
GLASS_MOMENT(glass_magnetization2)

/* An average over the samples of a spin glass. */
#define GLASS_AVERAGE(CURVE, FROM, APPLIES)                                                        \
    .curve = (CURVE), .from_curve = (FROM), .independent = true, .more = "/system/samples",        \
    .applies = (APPLIES)

const struct ergo_observable spin_lattice_observables[SPIN_LATTICE_OBSERVABLES] = {
    {.name = "energy",
     .unit = "J per site",
     .help = "mean energy per site",
     .sample = sample_energy,
     .applies = is_not_glass,
     .slow = slow_energy},
    {.name = "energy",
     .unit = "J per site",
     .help = "spin glass: mean energy per site at the lowest temperature. Errors of spin glasses "
             "are those of averages over the disorder, from the spread of the samples (a single "
             "sample: its thermal error)",
     GLASS_AVERAGE("moments", glass_energy, glass_is)},
    {.name = "order_parameter",
     .unit = "",
     .help = "potts: mean m = (q max_k n_k / N - 1) / (q - 1), as in swendsen-wang",
     .sample = sample_m,
     .applies = is_potts},
    {.name = "order_parameter2",
     .unit = "",
     .help = "potts: mean m^2",
     .sample = sample_m2,
     .applies = is_potts},
    {.name = "order_parameter4",
     .unit = "",
     .help = "potts: mean m^4",
     .sample = sample_m4,
     .applies = is_potts},
    {.name = "abs_staggered_magnetization",
     .unit = "per site",
     .help = "ising with a negative coupling: mean |m_s|, m_s = sum over sites of (-1)^(the sum of "
             "the coordinates along the directions with a negative coupling) s / N: the order "
             "parameter of the antiferromagnet",
     .sample = sample_abs_staggered,
     .applies = is_antiferromagnet},
    {.name = "abs_magnetization",
     .unit = "per site",
     .help = "mean |m|",
     .sample = sample_abs_m,
     .applies = is_ising},
    {.name = "heat_capacity",
     .unit = "k_B per site",
     .help = "N (<e^2> - <e>^2) / T^2",
     .inputs = {"energy", "energy2"},
     .derive = derive_heat_capacity,
     .applies = is_equilibrium},
    {.name = "susceptibility",
     .unit = "per site",
     .help = "N (<m^2> - <|m|>^2) / T, m the magnetization, of potts the order parameter, the "
             "finite-lattice form; as in swendsen-wang. Where nothing orders (an antiferromagnet "
             "without a field) it is N magnetization2 / T",
     .inputs = {"abs_magnetization", "magnetization2"},
     .derive = derive_susceptibility,
     .applies = is_equilibrium},
    {.name = "binder",
     .unit = "",
     .help = "Binder's cumulant 1 - <m^4> / (3 <m^2>^2), m as in susceptibility",
     .inputs = {"magnetization2", "magnetization4"},
     .derive = derive_binder,
     .applies = is_equilibrium},
    {.name = "magnetization",
     .unit = "per site",
     .help = "mean m",
     .sample = sample_m,
     .applies = is_neither,
     .slow = slow_m},
    {.name = "magnetization",
     .unit = "per site",
     .help = "spin glass: mean m at the lowest temperature",
     GLASS_AVERAGE("moments", glass_magnetization, glass_is)},
    {.name = "magnetization2",
     .unit = "per site^2",
     .help = "mean m^2",
     .sample = sample_m2,
     .applies = is_ising},
    {.name = "magnetization4",
     .unit = "per site^4",
     .help = "mean m^4",
     .sample = sample_m4,
     .applies = is_ising},
    {.name = "staggered_susceptibility",
     .unit = "per site",
     .help = "N (<m_s^2> - <|m_s|>^2) / T, the finite-lattice form",
     .inputs = {"abs_staggered_magnetization", "staggered_magnetization2"},
     .derive = derive_susceptibility,
     .applies = is_antiferromagnet},
    {.name = "staggered_binder",
     .unit = "",
     .help = "1 - <m_s^4> / (3 <m_s^2>^2)",
     .inputs = {"staggered_magnetization2", "staggered_magnetization4"},
     .derive = derive_binder,
     .applies = is_antiferromagnet},
    {.name = "staggered_magnetization2",
     .unit = "per site^2",
     .help = "mean m_s^2; N times it is the structure factor at the wave vector of order, pi along "
             "the directions with a negative coupling",
     .sample = sample_staggered2,
     .applies = is_antiferromagnet},
    {.name = "staggered_magnetization4",
     .unit = "per site^4",
     .help = "mean m_s^4",
     .sample = sample_staggered4,
     .applies = is_antiferromagnet},
    {.name = "staggered_order_parameter2",
     .unit = "",
     .help =
         "potts with a negative coupling, two dimensions or three: q / (q - 1) times the sum over "
         "states k of <(sum over sites of +-delta(s, k) / N)^2>, signs as of m_s; 3/4 for q = 3 "
         "where each sublattice has a state of its own",
     .curve = "structure_factor",
     .from_curve = curve_staggered2,
     .applies = is_staggered_potts},
    {.name = "up_density",
     .unit = "per site",
     .help = "facilitated dynamics: density of up spins, mean over the times of its curve, which "
             "crowd at the beginning: of one that still changes, take the curve; errors of this "
             "and the following from groups of 32 realisations, which are independent",
     .curve = "up_density",
     .from_curve = curve_mean,
     .independent = true,
     .more = "/system/realisations",
     .applies = model_is_facilitated},
    {.name = "frozen_fraction",
     .unit = "per site",
     .help = "facilitated dynamics: sites that can never flip, by the closure of the spins at "
             "t = 0 under the constraint",
     .curve = "frozen",
     .from_curve = curve_first,
     .independent = true,
     .more = "/system/realisations",
     .applies = model_is_facilitated},
    {.name = "relaxation_time",
     .unit = "sweeps",
     .help = "facilitated dynamics: where phi falls to 1/e, straight lines over log t between the "
             "curve's times",
     .curve = "phi",
     .from_curve = fac_relaxation_time,
     .independent = true,
     .more = "/system/realisations",
     .applies = fac_has_phi},
    {.name = "phi_mean",
     .unit = "",
     .help = "facilitated dynamics: mean of phi over the times of its curve, which crowd at the "
             "beginning",
     .curve = "phi",
     .from_curve = curve_mean,
     .independent = true,
     .more = "/system/realisations",
     .applies = fac_has_phi},
    {.name = "correlation_length",
     .unit = "sites",
     .help =
         "second moment, along the last dimension: sqrt(S(Q)/S(Q + k) - 1) / (2 sin(k/2)), k = 2 "
         "pi "
         "/ L, Q as in structure_factor. S(Q) = N <m^2> (antiferromagnets: m_s), from which "
         "nothing "
         "is subtracted: below the critical temperature this is no correlation length, but over L "
         "it crosses there for all L",
     .curve = "structure_factor",
     .from_curve = bytes_correlation_length,
     .applies = bytes_has_structure,
     .bound = bytes_longest_side,
     .beyond = "longer than the lattice: order"},
    {.name = "overlap_abs",
     .unit = "per site",
     .help = "spin glass: mean |q| of two copies at the lowest temperature",
     GLASS_AVERAGE("moments", glass_overlap_abs, is_glass_pair)},
    {.name = "overlap2",
     .unit = "per site^2",
     .help = "spin glass: mean q^2",
     GLASS_AVERAGE("moments", glass_overlap2, is_glass_pair)},
    {.name = "overlap4",
     .unit = "per site^4",
     .help = "spin glass: mean q^4",
     GLASS_AVERAGE("moments", glass_overlap4, is_glass_pair)},
    {.name = "overlap_binder",
     .unit = "",
     .help = "spin glass: (3 - [<q^4>] / [<q^2>]^2) / 2",
     GLASS_AVERAGE("moments", glass_overlap_binder, is_glass_pair)},
    {.name = "overlap_length",
     .unit = "sites",
     .help = "spin glass: second-moment correlation length of the overlap along the last direction",
     GLASS_AVERAGE("moments", glass_overlap_length, is_glass_pair)},
    {.name = "glass_heat_capacity",
     .unit = "k_B per site",
     .help = "spin glass: N [<e^2> - <e>^2] / T^2, <e>^2 from two copies",
     GLASS_AVERAGE("moments", glass_glass_heat_capacity, is_glass_pair)},
    {.name = "glass_magnetization2",
     .unit = "per site^2",
     .help = "spin glass: mean m^2",
     GLASS_AVERAGE("moments", glass_glass_magnetization2, glass_is)},
    {.name = "swap_acceptance",
     .unit = "",
     .help = "spin glass: accepted exchanges of tempering, mean over the ladder, from the start of "
             "the run",
     GLASS_AVERAGE("ladder_swaps", curve_mean, is_ladder)},
    {.name = "round_trips",
     .unit = "per million sweeps",
     .help = "spin glass: ways of a copy from the ladder's cold end to the hot one and back, from "
             "the start of the run",
     GLASS_AVERAGE("round_trips", curve_first, is_ladder)},
    {.name = "energy2",
     .unit = "J^2 per site^2",
     .help = "mean squared energy per site",
     .sample = sample_energy2,
     .hidden = true},
};

const struct ergo_curve_info spin_lattice_curves[CURVES] = {
    {"correlation", "distance (sites)", "", "<s(0) s(r)> along the axes, mean of both"},
    {"correlation_x", "distance (sites)", "", "<s(0) s(r)> along x"},
    {"correlation_y", "distance (sites)", "", "<s(0) s(r)> along y"},
    {"phi", "time (sweeps)", "",
     "facilitated dynamics: (<s(0) s(t)> - <s(0)> <s(t)>) / (1 - <s(0)>^2), means over sites and "
     "realisations at fixed times, without their bias: in equilibrium Levy, Cohen, Rabani 2010, "
     "Eq. 4, with its missing 1/N; none where all spins are alike at t = 0"},
    {"autocorrelation", "time (sweeps)", "",
     "facilitated dynamics: <s(0) s(t)> of a site, from which nothing is subtracted"},
    {"persistence", "time (sweeps)", "per site",
     "facilitated dynamics: sites that have not flipped since t = 0"},
    {"up_density", "time (sweeps)", "per site", "facilitated dynamics: density of up spins"},
    {"frozen", "time (sweeps)", "per site",
     "facilitated dynamics: sites that can never flip, by the closure test"},
    {"correlation_z", "distance (sites)", "", "<s(0) s(r)> along z"},
    {"structure_factor", "k along the last dimension (1/site)", "",
     "per site, at the wave vector Q of order, pi along each direction with a negative coupling "
     "and 0 "
     "along the others (there N <m^2>, antiferromagnets N <m_s^2>), and at the next one along the "
     "last dimension; potts: of the q-state spins, as unit vectors"},
    {.name = "ladder_energy",
     .x_label = "temperature (J/k_B)",
     .unit = "J per site",
     .help = "spin glass: mean energy; errors of all ladder curves from the spread of samples"},
    {.name = "ladder_heat_capacity",
     .x_label = "temperature (J/k_B)",
     .unit = "k_B per site",
     .help = "spin glass: N [<e^2> - <e>^2] / T^2, <e>^2 from two copies"},
    {.name = "ladder_overlap2",
     .x_label = "temperature (J/k_B)",
     .unit = "per site^2",
     .help = "spin glass: [<q^2>]"},
    {.name = "ladder_binder",
     .x_label = "temperature (J/k_B)",
     .unit = "",
     .help = "spin glass: (3 - [<q^4>] / [<q^2>]^2) / 2"},
    {.name = "ladder_length",
     .x_label = "temperature (J/k_B)",
     .unit = "sites",
     .help = "spin glass: second-moment correlation length of the overlap"},
    {.name = "ladder_swaps",
     .x_label = "temperature (J/k_B)",
     .unit = "",
     .help = "spin glass: accepted exchanges with the next temperature, from the start of the run"},
    {.name = "overlap",
     .x_label = "q",
     .unit = "",
     .help = "spin glass: P(q) at the lowest temperature, a density"},
    {.name = "moments",
     .x_label = "observable",
     .unit = "",
     .help =
         "spin glass, lowest temperature: energy, m, m^2, |q|, q^2, q^4, Binder's, length, heat "
         "capacity, by pseudo-values of samples"},
    {.name = "halves",
     .x_label = "moment",
     .unit = "",
     .help =
         "spin glass, means over the even lanes of words, then over the odd ones: at each "
         "temperature e, e^2, e e', |q|, q^2, q^4, |q_k|^2, |m|, m^2, m^4, m; the bins of P(q); "
         "then exchanges and round trips of all samples since the start, and tries"},
    {.name = "samples",
     .x_label = "moment",
     .unit = "",
     .help = "spin glass, sample by sample, as halves, in whole numbers (glass_units_of)"},
    {.name = "exchanges",
     .x_label = "pair of temperatures",
     .unit = "",
     .help = "spin glass, sample by sample: exchanges of each temperature with the next, of all "
             "copies; round trips; from the start of the run"},
    {.name = "round_trips",
     .x_label = "once",
     .unit = "per million sweeps",
     .help = "spin glass: as the observable"},
};
