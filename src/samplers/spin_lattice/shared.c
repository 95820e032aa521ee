/* What the tables of several models of spin-lattice have in common. */
#include <math.h>
#include <stdio.h>

#include "samplers/lattice/keys.h"
#include "samplers/spin_lattice/ergodic.h"
#include "samplers/spin_lattice/overlaps.h"
#include "samplers/spin_lattice/two_times.h"

const char *const model_dynamics[] = {"metropolis", "heat-bath", NULL};
const char *const model_starts[] = {"up", "down", "random", NULL};
const char *const model_disorders[] = {"bimodal", "gaussian", NULL};
static const char *const spacings[] = {"geometric", "linear", "inverse", "auto", NULL};

const struct ergo_tunable bytes_tunables[BYTES_TUNABLES] = {
    {ERGO_TUNABLE_GROUP},
    {ERGO_TUNABLE(lattice_parameters, tile_rows), "path 3: rows per work-item, 1, 2, 4 or 8", 0,
     4096, false},
    {ERGO_TUNABLE(ergo_parameters, path),
     "0 automatic, 1 one member per work-group in local memory, 3 half a sweep per launch", 0, 3,
     false},
    {ERGO_TUNABLE(lattice_parameters, tile_sweeps),
     "path 1: sweeps whose random words are drawn ahead, by a launch of their own (GPUs: automatic "
     "where lattices are few)",
     0, 16, false},
    SLAB_TUNABLES,
};

static bool has_one_coupling(const struct ergo_point *point) {
    return !of_lattice(point)->couplings.present;
}

const struct ergo_key lattice_keys[LATTICE_KEYS] = {
    {LATTICE_SIZE(1, 3, 1048576),
     .help = "Lattice sides, periodic: [Lx], [Lx, Ly] or [Lx, Ly, Lz], all even (the checkerboard "
             "needs it). A side of 2 has two bonds between the same neighbours."},
    {LATTICE_TEMPERATURE(ERGO_KEY_REQUIRED),
     .help = "Temperature T in the energy unit of the coupling (k_B = 1). For J = 1 the infinite "
             "square lattice is critical at 2/ln(1 + sqrt 2) = 2.269185 (ising), 1/ln(1 + sqrt q) "
             "(potts). By Metropolis at most 1000 times the largest energy of a flip (ising)."},
    {LATTICE_ENERGY_KEY(coupling, "/system/coupling", "1"),
     .help = "Coupling J: positive is ferromagnetic, negative antiferromagnetic.",
     .acts = has_one_coupling, .where = "without couplings"},
    {LATTICE_KEY(couplings, "/system/couplings", REALS), .flags = ERGO_KEY_CHAIN, .min = -1e6,
     .max = 1e6, .min_items = 1, .max_items = 3, .unit = "J",
     .help = "A coupling for each direction, [Jx, Jy, Jz], instead of one."},
    {LATTICE_DYNAMICS(model_dynamics),
     .help = "Single-spin rule: metropolis, flip with min(1, exp(-dE/T)); heat-bath, flip with "
             "1/(1 + exp(dE/T)). Sites of one colour of the checkerboard go together. With two "
             "states " ERGODIC_WORDS,
     .instead = model_dynamics_instead},
    {LATTICE_START(model_starts),
     .help = "Starting configuration. Below the critical temperature a random start can end in "
             "stripes that live very long: prefer up."},
};

const struct ergo_key lattice_run_keys[LATTICE_RUN_KEYS] = {
    {LATTICE_KEY(correlation_every, "/run/correlation_every", INT), .flags = ERGO_KEY_SHAPE,
     .fallback = "10", .min = 0, .max = 1e12, .unit = "measurements",
     .help = "Measure the spin-spin correlation with every so many measurements; 0: never. With a "
             "ladder at its lowest temperature, and 0 if not given; its curves (ladder_energy ...) "
             "are made of the same measurements, with 0 of all."},
    {LATTICE_KEY(correlation_max, "/run/correlation_max", INT), .flags = ERGO_KEY_SHAPE,
     .fallback = "64", .min = 1, .max = 4096, .unit = "sites",
     .help = "Largest distance of the correlation; never more than half the shorter side."},
    TIMED_KEY,
};

/* ---- random fields and couplings ------------------------------------------------------------- */

bool model_draws_fields(const struct ergo_point *point) {
    return of_lattice(point)->random_field.present && !of_lattice(point)->field_file.present;
}

static bool draws_couplings(const struct ergo_point *point) {
    return of_lattice(point)->disorder.present && !of_lattice(point)->disorder_file.present;
}

static bool draws_disorder(const struct ergo_point *point) {
    return draws_couplings(point) || model_draws_fields(point);
}

static bool draws_signs(const struct ergo_point *point) {
    return draws_couplings(point) && !ergo_says(of_lattice(point)->disorder.text, "gaussian");
}

bool model_samples_differ(const struct ergo_point *point) {
    const struct ergo_value *field = &of_lattice(point)->random_field;
    if (model_draws_fields(point) && field->real != 0)
        return true;
    if (!draws_signs(point))
        return draws_couplings(point);
    const struct ergo_value *fraction = &of_lattice(point)->negative_fraction;
    const struct ergo_value *ratio = &of_lattice(point)->disorder_ratio;
    return !(ratio->present && ratio->real == 1) &&
           !(fraction->present && (fraction->real == 0 || fraction->real == 1));
}

const struct ergo_key field_keys[FIELD_KEYS] = {
    {LATTICE_RANDOM_FIELD,
     .help = "h of a random field h f_i beside the uniform one (Imry, Ma 1975); f_i by "
             "field_distribution, or from field_file (h is 1 then, if not given). It depends on "
             "seed (or disorder_seed) and replica, not on the temperature."},
    {LATTICE_FIELD_DISTRIBUTION(model_disorders),
     .help = "f_i of the random field: bimodal (if not given), +1 or -1 with probability 1/2; "
             "gaussian, of mean 0 and variance 1."},
    {LATTICE_FIELD_FILE,
     .help = "A file with f_i of each site, numbers up to 1e6 in the order x fastest, then y, then "
             "z, with blanks or ends of lines between them; # a comment. Fields and couplings are "
             "rounded to 2^-28 of the largest force on a spin, or finer."},
};

const struct ergo_key disorder_keys[DISORDER_KEYS] = {
    {LATTICE_DISORDER(model_disorders),
     .help = "Random couplings J_ij, in units of /system/coupling or of couplings: bimodal, +1 or "
             "-1 (or disorder_ratio); gaussian, of mean 0 and variance 1. There is one sample, the "
             "first of model spin-glass with the same seed."},
    {LATTICE_KEY(disorder_file, "/system/disorder_file", STRING),
     .flags = ERGO_KEY_SHAPE | ERGO_KEY_FILE, .unit = "",
     .help = "A file with the couplings: lines \"x y [z] axis J\" for the bond from a site to its "
             "neighbour in the positive direction of axis x, y or z, each bond once; # a comment. "
             "How they are rounded: see field_file."},
    {LATTICE_DISORDER_SEED,
     .help = "The seed of random couplings and fields; /seed if not given. They depend on it and "
             "on the replica, not on the temperature: a scan over it has the same ones.",
     .acts = draws_disorder,
     .where =
         "where couplings or fields are drawn: with disorder or random_field, without their files"},
    {LATTICE_KEY(negative_fraction, "/system/negative_fraction", REAL),
     .flags = ERGO_KEY_SCAN | ERGO_KEY_CHAIN, .min = 0, .max = 1, .unit = "",
     .help =
         "Bimodal disorder: the probability of J = -1 (or of disorder_ratio); 0.5 if not given. 0 "
         "is the ferromagnet.",
     .acts = draws_signs,
     .where =
         "where couplings are drawn as +1 and -1: with disorder bimodal, without disorder_file"},
    {LATTICE_KEY(disorder_ratio, "/system/disorder_ratio", REAL),
     .flags = ERGO_KEY_SCAN | ERGO_KEY_CHAIN, .min = -8, .max = 8, .unit = "",
     .help = "Bimodal disorder: the other coupling, drawn with negative_fraction, over the first; "
             "-1 if not given. Between 0 and 1 a random ferromagnet of strong and weak bonds, 0: "
             "bonds are missing.",
     .acts = draws_signs,
     .where =
         "where couplings are drawn as one of two: with disorder bimodal, without disorder_file"},
};

const struct ergo_key slab_keys[SLAB_KEYS] = {
    {JOB_SHARES,
     .help = "Shares of the ranks in a lattice cut over them (\"distribute\": \"lattice\"), slabs "
             "of rows or planes; the chain does not depend on it. measured (if not given): by a "
             "short trial at the start, and again when the run has become slower; equal; or "
             "numbers > 0, \"3,1\", dealt out to the ranks in turn."},
};

bool model_has_ladder(const struct ergo_point *point) {
    return ergo_ladder_rungs(point) > 1;
}

static bool has_spacing_of_its_own(const struct ergo_point *point) {
    return model_has_ladder(point) && !point->parameters->ladder_spacing.present;
}

/* Keys of ladders. */
const struct ergo_key ladder_keys[LADDER_KEYS] = {
    {JOB_KEY(ladder, "/system/ladder", INT),
     .flags = ERGO_KEY_FORM | ERGO_KEY_SHAPE | ERGO_KEY_CHAIN | ERGO_KEY_AUTO, .fallback = "1",
     .stream = "", .min = 1, .max = 128, .unit = "temperatures",
     .help = "Temperatures of parallel tempering (Hukushima, Nemoto 1996), from temperature to "
             "temperature_max, with method sample only; 1: no ladder. \"auto\": 16, with "
             "ladder_spacing auto."},
    {JOB_KEY(temperature_max, "/system/temperature_max", REAL),
     .flags = ERGO_KEY_SHAPE | ERGO_KEY_CHAIN | ERGO_KEY_EXCLUDES_MIN, .min = 0, .max = 1e12,
     .unit = "J/k_B",
     .help = "The hottest temperature of the ladder, above temperature. Method sample only."},
    {JOB_KEY(ladder_spacing, "/system/ladder_spacing", ENUM),
     .flags = ERGO_KEY_SHAPE | ERGO_KEY_CHAIN, .choices = spacings, .unit = "",
     .help = "The ladder's temperatures: geometric (if not given), a constant ratio; linear, a "
             "constant difference; inverse, constant in 1/T; auto, so that all exchanges are "
             "rejected equally often, by feedback during the first half of /run/equilibration "
             "(Syed et al., J. R. Stat. Soc. B 84, 321 (2022)): the curve ladder_temperatures has "
             "them.",
     .acts = model_has_ladder, .where = "with a ladder"},
    {JOB_KEY(ladder_temperatures, "/system/ladder_temperatures", STRING),
     .flags = ERGO_KEY_SHAPE | ERGO_KEY_CHAIN, .unit = "J/k_B",
     .help =
         "All temperatures of the ladder with commas between them, \"1, 1.25, 1.6\", instead of "
         "a spacing: as many as /system/ladder says, from temperature to temperature_max.",
     .acts = has_spacing_of_its_own, .where = "with a ladder, without ladder_spacing"},
    {JOB_KEY(swap_every, "/system/swap_every", INT), .flags = ERGO_KEY_SHAPE | ERGO_KEY_CHAIN,
     .min = 1, .max = 1000000, .unit = "sweeps",
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
    const struct ergo_value *every = &of_lattice(point)->correlation_every;
    return every->given || !model_has_ladder(point) ? every->integer : 0;
}

uint64_t lattice_curve_every(const struct ergo_point *point) {
    const int64_t every = model_correlation_every(point);
    return every > 0 ? (uint64_t)every : 1;
}

uint32_t model_samples(const struct ergo_point *point) {
    const struct ergo_value *v = &of_lattice(point)->samples;
    return v->present ? (uint32_t)v->integer : of_lattice(point)->disorder_file.present ? 1 : 32;
}

uint64_t model_field_key(const struct ergo_point *point, bool seeded) {
    const struct ergo_value *own = seeded ? &of_lattice(point)->disorder_seed : NULL;
    const uint64_t seed = own && own->present ? own->seed : point->parameters->seed.seed;
    char line[128];
    const int n = snprintf(line, sizeof line, "ergocl random field %llu %u",
                           (unsigned long long)seed, point->replica);
    return ergo_hash64(line, (size_t)n);
}

void model_couplings(const void *state, struct ergo_extent *x) {
    (void)state;
    ergo_extent_numbers(x, 8, 1);
    x->axes = "byte";
    x->help = "the first 8 bytes of the SHA-256 of the couplings";
    ergo_extent_shape(x, (const uint64_t[]){8}, 1);
}

bool model_has_frames(const struct ergo_point *point) {
    return lattice_sites(point) <= 1 << 22; /* text of more sites would fill disks */
}

const char *model_slow_sign(const struct ergo_point *point) {
    const bool odd = of_lattice(point)->field.real == 0.0 &&
                     !of_lattice(point)->random_field.present &&
                     !of_lattice(point)->field_file.present;
    return odd && of_lattice(point)->coupling.real > 0
               ? "without a field a lattice changes sign only as a whole, near and below Tc too "
                 "rarely to average over; use abs_magnetization"
               : NULL;
}

bool overlap_has_pairs(const struct ergo_point *point) {
    return of_lattice(point)->copies > 1;
}

const char *overlap_unweighted(const struct ergo_point *point) {
    (void)point;
    return "what is recorded is a mean over its samples of the disorder, and the ladder "
           "has other temperatures already";
}
