/* What the tables of several models of spin-lattice have in common. */
#include <math.h>
#include <stdio.h>

#include "samplers/spin_lattice/ergodic.h"
#include "samplers/spin_lattice/models.h"
#include "samplers/spin_lattice/two_times.h"

const char *const model_dynamics[] = {"metropolis", "heat-bath", NULL};
const char *const model_starts[] = {"up", "down", "random", NULL};
const char *const model_disorders[] = {"bimodal", "gaussian", NULL};
static const char *const spacings[] = {"geometric", "linear", "inverse", "auto", NULL};

const struct ergo_tunable bytes_tunables[BYTES_TUNABLES] = {
    {"work_group", "work-items per group (a power of two)", 0, 1024, true},
    {"tile_rows", "path 3: rows per work-item, 1, 2, 4 or 8", 0, 4096, false},
    {"path", "0 automatic, 1 one member per work-group in local memory, 3 half a sweep per launch",
     0, 3, false},
    {"tile_sweeps",
     "path 1: sweeps whose random words are drawn ahead, by a launch of their own (GPUs: automatic "
     "where lattices are few)",
     0, 16, false},
    {"halo_sweeps", "cut over ranks: sweeps from one exchange of halos to the next", 0, 256, false},
    {"halo_colours",
     "cut over ranks: 1 an exchange of halos after each colour, 2 after sweeps, 0 automatic", 0, 2,
     false},
};

static bool has_one_coupling(const struct ergo_point *point) {
    return !model_has(point, "/system/couplings");
}

const struct ergo_key lattice_keys[LATTICE_KEYS] = {
    {ERGO_KEY("/system/size", SIZE),
     .flags = ERGO_KEY_FORM | ERGO_KEY_REQUIRED | ERGO_KEY_SCAN | ERGO_KEY_SHAPE | ERGO_KEY_CHAIN,
     .min = 2, .max = 1048576, .min_items = 1, .max_items = 3, .unit = "sites",
     .help = "Lattice sides, periodic: [Lx], [Lx, Ly] or [Lx, Ly, Lz], all even (the checkerboard "
             "needs it). A side of 2 has two bonds between the same neighbours."},
    {ERGO_KEY("/system/temperature", REAL),
     .flags = ERGO_KEY_REQUIRED | ERGO_KEY_SCAN | ERGO_KEY_CHAIN | ERGO_KEY_EXCLUDES_MIN, .min = 0,
     .max = 1e12, .unit = "J/k_B",
     .help = "Temperature T in the energy unit of the coupling (k_B = 1). For J = 1 the infinite "
             "square lattice is critical at 2/ln(1 + sqrt 2) = 2.269185 (ising), 1/ln(1 + sqrt q) "
             "(potts). By Metropolis at most 1000 times the largest energy of a flip (ising)."},
    {ERGO_KEY("/system/coupling", REAL), .flags = ERGO_KEY_SCAN | ERGO_KEY_CHAIN, .fallback = "1",
     .min = -1e6, .max = 1e6, .unit = "J",
     .help = "Coupling J: positive is ferromagnetic, negative antiferromagnetic.",
     .acts = has_one_coupling, .where = "without couplings"},
    {ERGO_KEY("/system/couplings", REALS), .flags = ERGO_KEY_CHAIN, .min = -1e6, .max = 1e6,
     .min_items = 1, .max_items = 3, .unit = "J",
     .help = "A coupling for each direction, [Jx, Jy, Jz], instead of one."},
    {ERGO_KEY("/system/dynamics", ENUM), .flags = ERGO_KEY_CHAIN | ERGO_KEY_SHAPE,
     .fallback = "\"metropolis\"", .choices = model_dynamics, .unit = "",
     .help = "Single-spin rule: metropolis, flip with min(1, exp(-dE/T)); heat-bath, flip with "
             "1/(1 + exp(dE/T)). Sites of one colour of the checkerboard go together. With two "
             "states " ERGODIC_WORDS,
     .instead = model_dynamics_instead},
    {ERGO_KEY("/system/start", ENUM), .flags = ERGO_KEY_CHAIN | ERGO_KEY_SHAPE,
     .fallback = "\"random\"", .choices = model_starts, .unit = "",
     .help = "Starting configuration. Below the critical temperature a random start can end in "
             "stripes that live very long: prefer up."},
};

const struct ergo_key lattice_run_keys[LATTICE_RUN_KEYS] = {
    {ERGO_KEY("/run/correlation_every", INT), .flags = ERGO_KEY_SHAPE, .fallback = "10", .min = 0,
     .max = 1e12, .unit = "measurements",
     .help = "Measure the spin-spin correlation with every so many measurements; 0: never. With a "
             "ladder at its lowest temperature, and 0 if not given; its curves (ladder_energy ...) "
             "are made of the same measurements, with 0 of all."},
    {ERGO_KEY("/run/correlation_max", INT), .flags = ERGO_KEY_SHAPE, .fallback = "64", .min = 1,
     .max = 4096, .unit = "sites",
     .help = "Largest distance of the correlation; never more than half the shorter side."},
    TIMED_KEY,
};

/* ---- random fields and couplings ------------------------------------------------------------- */

bool model_draws_fields(const struct ergo_point *point) {
    return model_has(point, "/system/random_field") && !model_has(point, "/system/field_file");
}

static bool draws_couplings(const struct ergo_point *point) {
    return model_has(point, "/system/disorder") && !model_has(point, "/system/disorder_file");
}

static bool draws_disorder(const struct ergo_point *point) {
    return draws_couplings(point) || model_draws_fields(point);
}

static bool draws_signs(const struct ergo_point *point) {
    return draws_couplings(point) && !model_says(point, "/system/disorder", "gaussian");
}

bool model_samples_differ(const struct ergo_point *point) {
    const struct ergo_value *field = ergo_point_value(point, "/system/random_field");
    if (model_draws_fields(point) && field->real != 0)
        return true;
    if (!draws_signs(point))
        return draws_couplings(point);
    const struct ergo_value *fraction = ergo_point_value(point, "/system/negative_fraction");
    const struct ergo_value *ratio = ergo_point_value(point, "/system/disorder_ratio");
    return !(ratio->present && ratio->real == 1) &&
           !(fraction->present && (fraction->real == 0 || fraction->real == 1));
}

const struct ergo_key field_keys[FIELD_KEYS] = {
    {ERGO_KEY("/system/random_field", REAL), .flags = ERGO_KEY_SCAN | ERGO_KEY_CHAIN, .min = 0,
     .max = 1e6, .unit = "J",
     .help = "h of a random field h f_i beside the uniform one (Imry, Ma 1975); f_i by "
             "field_distribution, or from field_file (h is 1 then, if not given). It depends on "
             "seed (or disorder_seed) and replica, not on the temperature."},
    {ERGO_KEY("/system/field_distribution", ENUM), .flags = ERGO_KEY_SHAPE | ERGO_KEY_CHAIN,
     .choices = model_disorders, .unit = "",
     .help = "f_i of the random field: bimodal (if not given), +1 or -1 with probability 1/2; "
             "gaussian, of mean 0 and variance 1.",
     .acts = model_draws_fields, .where = "with random_field, without field_file"},
    {ERGO_KEY("/system/field_file", STRING), .flags = ERGO_KEY_SHAPE | ERGO_KEY_FILE, .unit = "",
     .help = "A file with f_i of each site, numbers up to 1e6 in the order x fastest, then y, then "
             "z, with blanks or ends of lines between them; # a comment. Fields and couplings are "
             "rounded to 2^-28 of the largest force on a spin, or finer."},
};

const struct ergo_key disorder_keys[DISORDER_KEYS] = {
    {ERGO_KEY("/system/disorder", ENUM), .flags = ERGO_KEY_CHAIN | ERGO_KEY_SHAPE,
     .choices = model_disorders, .unit = "",
     .help = "Random couplings J_ij, in units of /system/coupling or of couplings: bimodal, +1 or "
             "-1 (or disorder_ratio); gaussian, of mean 0 and variance 1. There is one sample, the "
             "first of model "
             "spin-glass with the same seed."},
    {ERGO_KEY("/system/disorder_file", STRING), .flags = ERGO_KEY_SHAPE | ERGO_KEY_FILE, .unit = "",
     .help = "A file with the couplings: lines \"x y [z] axis J\" for the bond from a site to its "
             "neighbour in the positive direction of axis x, y or z, each bond once; # a comment. "
             "How they are rounded: see field_file."},
    {ERGO_KEY("/system/disorder_seed", SEED), .flags = ERGO_KEY_SHAPE, .unit = "",
     .help = "The seed of random couplings and fields; /seed if not given. They depend on it and "
             "on the replica, not on the temperature: a scan over it has the same ones.",
     .acts = draws_disorder,
     .where =
         "where couplings or fields are drawn: with disorder or random_field, without their files"},
    {ERGO_KEY("/system/negative_fraction", REAL), .flags = ERGO_KEY_SCAN | ERGO_KEY_CHAIN, .min = 0,
     .max = 1, .unit = "",
     .help =
         "Bimodal disorder: the probability of J = -1 (or of disorder_ratio); 0.5 if not given. 0 "
         "is the ferromagnet.",
     .acts = draws_signs,
     .where =
         "where couplings are drawn as +1 and -1: with disorder bimodal, without disorder_file"},
    {ERGO_KEY("/system/disorder_ratio", REAL), .flags = ERGO_KEY_SCAN | ERGO_KEY_CHAIN, .min = -8,
     .max = 8, .unit = "",
     .help = "Bimodal disorder: the other coupling, drawn with negative_fraction, over the first; "
             "-1 if not given. Between 0 and 1 a random ferromagnet of strong and weak bonds, 0: "
             "bonds are missing.",
     .acts = draws_signs,
     .where =
         "where couplings are drawn as one of two: with disorder bimodal, without disorder_file"},
};

const struct ergo_key slab_keys[SLAB_KEYS] = {
    {ERGO_KEY("/system/shares", STRING), .flags = ERGO_KEY_HOW, .unit = "",
     .help =
         "Shares of the ranks in a lattice cut over them (\"distribute\": \"lattice\"), slabs of "
         "rows or planes; the chain does not depend on it. measured (if not given): by a short "
         "trial at the start, and again when the run has become slower; equal; or numbers > 0, "
         "\"3,1\", dealt out to the ranks in turn."},
};

bool model_has_ladder(const struct ergo_point *point) {
    return ergo_ladder_rungs(point) > 1;
}

static bool has_spacing_of_its_own(const struct ergo_point *point) {
    return model_has_ladder(point) && !model_has(point, "/system/ladder_spacing");
}

/* Keys of ladders. */
const struct ergo_key ladder_keys[LADDER_KEYS] = {
    {ERGO_KEY("/system/ladder", INT),
     .flags = ERGO_KEY_FORM | ERGO_KEY_SHAPE | ERGO_KEY_CHAIN | ERGO_KEY_AUTO, .fallback = "1",
     .stream = "", .min = 1, .max = 128, .unit = "temperatures",
     .help = "Temperatures of parallel tempering (Hukushima, Nemoto 1996), from temperature to "
             "temperature_max, with method sample only; 1: no ladder. \"auto\": 16, with "
             "ladder_spacing auto."},
    {ERGO_KEY("/system/temperature_max", REAL),
     .flags = ERGO_KEY_SHAPE | ERGO_KEY_CHAIN | ERGO_KEY_EXCLUDES_MIN, .min = 0, .max = 1e12,
     .unit = "J/k_B",
     .help = "The hottest temperature of the ladder, above temperature. Method sample only."},
    {ERGO_KEY("/system/ladder_spacing", ENUM), .flags = ERGO_KEY_SHAPE | ERGO_KEY_CHAIN,
     .choices = spacings, .unit = "",
     .help = "The ladder's temperatures: geometric (if not given), a constant ratio; linear, a "
             "constant difference; inverse, constant in 1/T; auto, so that all exchanges are "
             "rejected equally often, by feedback during the first half of /run/equilibration "
             "(Syed et al., J. R. Stat. Soc. B 84, 321 (2022)): the curve ladder_temperatures has "
             "them.",
     .acts = model_has_ladder, .where = "with a ladder"},
    {ERGO_KEY("/system/ladder_temperatures", STRING), .flags = ERGO_KEY_SHAPE | ERGO_KEY_CHAIN,
     .unit = "J/k_B",
     .help =
         "All temperatures of the ladder with commas between them, \"1, 1.25, 1.6\", instead of "
         "a spacing: as many as /system/ladder says, from temperature to temperature_max.",
     .acts = has_spacing_of_its_own, .where = "with a ladder, without ladder_spacing"},
    {ERGO_KEY("/system/swap_every", INT), .flags = ERGO_KEY_SHAPE | ERGO_KEY_CHAIN, .min = 1,
     .max = 1000000, .unit = "sweeps",
     .help = "Sweeps between exchanges along the ladder, of pairs (0, 1), (2, 3) ... and (1, 2), "
             "(3, 4) ... in turn; 10 if not given.",
     .acts = model_has_ladder, .where = "with a ladder"},
};

#define OWN_CURVES                                                                                 \
    {"correlation", "distance (sites)", "", "<s(0) s(r)> along the axes, mean of both"},           \
        {"correlation_x", "distance (sites)", "", "<s(0) s(r)> along x"},                          \
        {"correlation_y", "distance (sites)", "", "<s(0) s(r)> along y"},                          \
        {"correlation_z", "distance (sites)", "", "<s(0) s(r)> along z"},                          \
        {"structure_factor", "k along the last dimension (1/site)", "",                            \
         "per site, at the wave vector Q of order, pi along each direction with a negative "       \
         "coupling "                                                                               \
         "and 0 "                                                                                  \
         "along the others (there N <m^2>, antiferromagnets N <m_s^2>), and at the next one "      \
         "along the "                                                                              \
         "last dimension; potts: of the q-state spins, as unit vectors"},                          \
    {                                                                                              \
        "autocorrelation", "time (sweeps)", "",                                                    \
            "with a waiting_time: <s(0) s(t)> of a site, from which nothing is subtracted; "       \
            "potts: "                                                                              \
            "(q <delta> - 1)/(q - 1). N times its variance over replicas is chi_4"                 \
    }

#define ORDER_CURVES(order, what)                                                                  \
    {"ladder_" order, "temperature", "", what " at each temperature"},                             \
        {"ladder_susceptibility", "temperature", "per site", "as the observable"}, {               \
        "ladder_binder", "temperature", "", "as the observable"                                    \
    }

const struct ergo_curve_info curves_of_ising[TEMPERED_CURVES] = {
    OWN_CURVES, ORDER_CURVES("abs_magnetization", "mean |m|"), ERGO_LADDER_CURVES};
const struct ergo_curve_info curves_of_potts[TEMPERED_CURVES] = {
    OWN_CURVES, ORDER_CURVES("order_parameter", "mean m"), ERGO_LADDER_CURVES};

/* Curves of a ladder are made of the samples that carry curves: of all, if the job does not ask for
 * correlations. */
int64_t model_correlation_every(const struct ergo_point *point) {
    const struct ergo_value *every = ergo_point_value(point, "/run/correlation_every");
    return every->given || !model_has_ladder(point) ? every->integer : 0;
}

uint64_t lattice_curve_every(const struct ergo_point *point) {
    const int64_t every = model_correlation_every(point);
    return every > 0 ? (uint64_t)every : 1;
}

unsigned model_start(const struct ergo_point *point) {
    return model_says(point, "/system/start", "random") ? 2
           : model_says(point, "/system/start", "up")   ? 1
                                                        : 0;
}

uint32_t model_samples(const struct ergo_point *point) {
    const struct ergo_value *v = ergo_point_value(point, "/system/samples");
    return v->present ? (uint32_t)v->integer : model_has(point, "/system/disorder_file") ? 1 : 32;
}

double model_sites(const struct ergo_point *point) {
    const struct ergo_value *size = ergo_point_value(point, "/system/size");
    double n = 1;
    for (int k = 0; k < size->items; k++)
        n *= (double)size->size[k];
    return n;
}

uint64_t model_field_key(const struct ergo_point *point, bool seeded) {
    const struct ergo_value *own = seeded ? ergo_point_value(point, "/system/disorder_seed") : NULL;
    const uint64_t seed = own && own->present ? own->seed : ergo_point_value(point, "/seed")->seed;
    char line[128];
    const int n = snprintf(line, sizeof line, "ergocl random field %llu %u",
                           (unsigned long long)seed, point->replica);
    return ergo_hash64(line, (size_t)n);
}

const struct ergo_form_part model_couplings_form = {
    .name = "couplings",
    .axes = "byte",
    .help = "the first 8 bytes of the SHA-256 of the couplings",
    .element = 1,
    .n_dims = 1,
    .shape = {8}};

bool model_has_frames(const struct ergo_point *point) {
    return model_sites(point) <= 1 << 22; /* text of more sites would fill disks */
}

/* ---- weights ----------------------------------------------------------------------------------
 */

double model_weight_of_energy(const struct ergo_point *point) {
    return -model_sites(point) / ergo_point_real(point, "/system/temperature");
}

double model_field_in_energy(const struct ergo_point *point) {
    return -ergo_point_real(point, "/system/field");
}

const struct ergo_conjugate lattice_conjugates[2] = {
    {COLUMN_ENERGY, .coefficient = model_weight_of_energy, .keys = {"/system/temperature"}},
    {COLUMN_MAGNETIZATION, .in_energy = model_field_in_energy, .keys = {"/system/field"}},
};

/* ---- observables ----------------------------------------------------------------------------- */

double model_energy(const struct ergo_point *point, const double *c) {
    (void)point;
    return c[COLUMN_ENERGY];
}

double model_energy2(const struct ergo_point *point, const double *c) {
    (void)point;
    return c[COLUMN_ENERGY] * c[COLUMN_ENERGY];
}

double model_m(const struct ergo_point *point, const double *c) {
    (void)point;
    return c[COLUMN_MAGNETIZATION];
}

const char *model_slow_sign(const struct ergo_point *point) {
    const bool odd = ergo_point_real(point, "/system/field") == 0.0 &&
                     !model_has(point, "/system/random_field") &&
                     !model_has(point, "/system/field_file");
    return odd && ergo_point_real(point, "/system/coupling") > 0
               ? "without a field a lattice changes sign only as a whole, near and below Tc too "
                 "rarely to average over; use abs_magnetization"
               : NULL;
}

double model_abs_m(const struct ergo_point *point, const double *c) {
    (void)point;
    return fabs(c[COLUMN_MAGNETIZATION]);
}

double model_m2(const struct ergo_point *point, const double *c) {
    (void)point;
    return c[COLUMN_MAGNETIZATION] * c[COLUMN_MAGNETIZATION];
}

double model_m4(const struct ergo_point *point, const double *c) {
    (void)point;
    return c[1] * c[1] * c[1] * c[1];
}

double model_heat_capacity(const struct ergo_point *point, const double *m) {
    const double t = ergo_point_real(point, "/system/temperature");
    return model_sites(point) * (m[1] - m[0] * m[0]) / (t * t);
}

double model_susceptibility(const struct ergo_point *point, const double *m) {
    const double t = ergo_point_real(point, "/system/temperature");
    return model_sites(point) * (m[1] - m[0] * m[0]) / t;
}

double model_binder(const struct ergo_point *point, const double *m) {
    (void)point;
    return 1.0 - m[1] / (3.0 * m[0] * m[0]);
}
