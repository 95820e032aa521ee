/* The Ising model: its tables, and what a job tells without a device. */
#include <math.h>

#include "engine/shares.h"
#include "samplers/lattice/keys.h"
#include "samplers/spin_lattice/bytes.h"
#include "samplers/spin_lattice/exact.h"
#include "samplers/spin_lattice/ising/ising.h"
#include "samplers/spin_lattice/models.h"
#include "samplers/spin_lattice/two_times.h"

/* ---- keys ------------------------------------------------------------------------------------ */

static const struct ergo_key keys[] = {
    {LATTICE_ENERGY_KEY(field, "/system/field", "0"),
     .help = "Magnetic field B: positive prefers up."},
};

/* Two dimensions, one coupling, a uniform field: one bit per spin. */
static bool is_plain(const struct ergo_point *point) {
    const struct lattice_parameters *p = of_lattice(point);
    return p->size.items == 2 && !p->couplings.present && !p->random_field.present &&
           !p->field_file.present && !p->disorder.present && !p->disorder_file.present;
}

/* ---- observables ----------------------------------------------------------------------------- */

/* Is the coupling negative along some direction? */
static bool is_antiferromagnet(const struct ergo_point *point) {
    return bytes_staggered_axes(point) != 0;
}

static bool has_column(const struct ergo_point *point, size_t c) {
    return c != COLUMN_STAGGERED || is_antiferromagnet(point);
}

static const struct ergo_column columns[ISING_COLUMNS] = {
    {"energy", "per site, in units of J = 1", "U/N = (-J sum s s - B sum s)/N"},
    {"magnetization", "per site", "sum s / N"},
    {"staggered_magnetization", "per site",
     "sum +-s / N, signs in turn along the directions with a negative coupling"},
};

static const struct ergo_observable observables[] = {
    LATTICE_ENERGY,
    {ERGO_NAMED("abs_staggered_magnetization", "per site"),
     .help = "with a negative coupling: mean |m_s|, m_s = sum over sites of (-1)^(the sum of the "
             "coordinates along the directions with a negative coupling) s / N: the order "
             "parameter of the antiferromagnet",
     ERGO_COLUMN(COLUMN_STAGGERED), .absolute = true, .applies = is_antiferromagnet},
    LATTICE_ORDER("abs_magnetization", "mean |m|", NULL),
    LATTICE_HEAT_CAPACITY(NULL),
    LATTICE_SUSCEPTIBILITY("abs_magnetization", "magnetization", NULL),
    LATTICE_BINDER("magnetization", NULL, ""),
    LATTICE_MAGNETIZATION(model_slow_sign, NULL),
    LATTICE_MOMENTS("magnetization", NULL),
    {ERGO_NAMED("staggered_susceptibility", "per site"),
     .help = "N (<m_s^2> - <|m_s|>^2) / T, the finite-lattice form",
     .inputs = {"abs_staggered_magnetization", "staggered_magnetization2"},
     .derive = lattice_susceptibility, .applies = is_antiferromagnet},
    {ERGO_NAMED("staggered_binder", ""), .help = "1 - <m_s^4> / (3 <m_s^2>^2)",
     .inputs = {"staggered_magnetization2", "staggered_magnetization4"}, .derive = lattice_binder,
     .applies = is_antiferromagnet},
    {ERGO_NAMED("staggered_magnetization2", "per site^2"),
     .help = "mean m_s^2; N times it is the structure factor at the wave vector of order, pi along "
             "the directions with a negative coupling",
     ERGO_POWER(COLUMN_STAGGERED, 2), .applies = is_antiferromagnet},
    {ERGO_NAMED("staggered_magnetization4", "per site^4"), .help = "mean m_s^4",
     ERGO_POWER(COLUMN_STAGGERED, 4), .applies = is_antiferromagnet},
    BYTES_CORRELATION_LENGTH,
    ERGO_LADDER_OBSERVABLES,
    LATTICE_ENERGY2,
};

/* ---- a point without a device -----------------------------------------------------------------
 */

static enum ergo_status check(struct ergo_context *ctx, const struct ergo_point *point) {
    enum ergo_status status = ERGO_OK;
    const struct ergo_value *size = &of_lattice(point)->size;
    const char *const side[] = {"/system/size/0", "/system/size/1"};
    for (int i = 0; i < size->items && i < 2; i++)
        if (size->size[i] % 2)
            status = ergo_job_error(ctx, side[i],
                                    "%lld is odd; the checkerboard update needs even sides, for "
                                    "example %lld or %lld",
                                    (long long)size->size[i], (long long)size->size[i] - 1,
                                    (long long)size->size[i] + 1);
    /* kernels number words with 32 bits, and the eight blocks of a work-item together */
    const struct ising_shape shape = ising_shape_of(point);
    if (shape.blocks >= 1u << 28)
        status = ergo_job_error(
            ctx, "/system/size",
            "%lld x %lld are %llu words of 32 sites of a colour; kernels number "
            "fewer than 2^30 of them: 2^36 sites",
            (long long)shape.lx, (long long)shape.ly, (unsigned long long)shape.words);
    /* the smallest acceptance is 1 - cost, and tau grows as 1 / cost */
    const double cost =
        8 * fabs(of_lattice(point)->coupling.real) + 2 * fabs(of_lattice(point)->field.real);
    const double t = point->parameters->temperature;
    if (cost > 0 && cost < 1e-3 * t && ergo_says(of_lattice(point)->dynamics, "metropolis"))
        status =
            ergo_job_error(ctx, "/system/temperature",
                           "%g is more than 1000 (8 |J| + 2 |B|): Metropolis would accept nearly "
                           "every flip, and the lattice only change its sign from sweep to sweep; "
                           "use dynamics \"heat-bath\"",
                           t);
    const enum ergo_status dynamics =
        model_dynamics_check(ctx, point, model_metropolis_samples(point));
    status = dynamics != ERGO_OK ? dynamics : status;
    const enum ergo_status shares = ergo_shares_check(ctx, point);
    const enum ergo_status ladder = ergo_tempered_check(ctx, point);
    const enum ergo_status timed = timed_check(ctx, point);
    status = timed != ERGO_OK ? timed : status;
    return shares != ERGO_OK ? shares : ladder != ERGO_OK ? ladder : status;
}

static size_t curve_size(const struct ergo_point *point, size_t c) {
    size_t size;
    if (ergo_tempered_curve_size(point, c, &size))
        return size;
    if (c == CURVE_STRUCTURE || c == CURVE_TWO_TIMES)
        return bytes_curve_size(point, c);
    return c <= CURVE_CORRELATION_Y && model_correlation_every(point) ? ising_reach(point) + 1 : 0;
}

static void curve_x(const struct ergo_point *point, size_t c, double *x) {
    if (c == CURVE_STRUCTURE || c == CURVE_TWO_TIMES)
        bytes_curve_x(point, c, x);
    else if (!ergo_tempered_curve_x(point, c, x))
        for (size_t i = 0; i < curve_size(point, c); i++)
            x[i] = (double)i;
}

static double exact(const struct ergo_point *point, const char *observable) {
    const bool energy = strcmp(observable, "energy") == 0;
    if (!energy && strcmp(observable, "heat_capacity") != 0)
        return NAN;
    if (of_lattice(point)->field.real != 0.0)
        return NAN;
    const struct ergo_value *size = &of_lattice(point)->size;
    struct ergo_ising_exact e;
    if (!ergo_ising_exact_torus(size->size[0], size->size[1], point->parameters->temperature,
                                of_lattice(point)->coupling.real, &e))
        return NAN;
    return energy ? e.energy : e.heat_capacity;
}

/* ---- the model ------------------------------------------------------------------------------- */

static const struct ergo_tunable tunables[] = {
    {ERGO_TUNABLE_GROUP},
    {ERGO_TUNABLE(lattice_parameters, tile_rows),
     "path 2: rows per work-group; a byte per spin: rows per work-item, 1, 2, 4 or 8", 0, 4096,
     false},
    {ERGO_TUNABLE(ergo_parameters, path),
     "0 automatic, 1 one member per work-group in local memory, 2 stripes with halos (not of a "
     "byte per spin), 3 half a sweep per launch",
     0, 3, false},
    {ERGO_TUNABLE(lattice_parameters, tile_sweeps),
     "path 2: sweeps per launch; path 1: sweeps whose random bits are drawn ahead, by a launch of "
     "their own (GPUs: automatic where lattices are few)",
     0, 16, false},
    SLAB_TUNABLES,
    {ERGO_TUNABLE(lattice_parameters, lanes),
     "kernels with explicit vectors of eight, on CPUs only: 0 automatic, 1 yes, 2 no", 0, 2, false},
};
enum { LATTICE_TUNABLES = 6 }; /* of a byte per spin: the first */

#define ISING_TABLES                                                                               \
    .name = "ising",                                                                               \
    .summary = "H = -J sum s_i s_j - B sum s_i over nearest neighbours, s = +-1, in one to three " \
               "dimensions (Levy, Cohen, Rabani 2010, Eq. 2; their Eq. 1 has the opposite sign); " \
               "also with a coupling for each direction, random fields or random couplings.",      \
    .first = first_job, .parameters = sizeof(struct lattice_parameters),                           \
    .keys = {{lattice_keys, LATTICE_KEYS}, {keys, sizeof keys / sizeof keys[0]},                   \
             {field_keys, FIELD_KEYS},     {disorder_keys, DISORDER_KEYS},                         \
             {slab_keys, SLAB_KEYS},       {lattice_run_keys, LATTICE_RUN_KEYS},                   \
             {ladder_keys, LADDER_KEYS}},                                                          \
    ERGO_TABLE(columns, columns), .has_column = has_column, .conjugates = lattice_conjugates,      \
    .n_conjugates = 2, .samples_disorder = model_samples_differ,                                   \
    ERGO_TABLE(observables, observables), ERGO_TABLE(curves, curves_of_ising),                     \
    .curve_every = lattice_curve_every,                                                            \
    .curves_at_end = ERGO_LADDER_AT_END(TEMPERED_CURVES, CURVE_TWO_TIMES),                         \
    .state_tail = timed_tail, .curves_hidden = ERGO_LADDER_HIDDEN(TEMPERED_CURVES),                \
    .x_from = ergo_tempered_x, .frame_suffix = "vti", .has_frames = model_has_frames,              \
    .remedy = bytes_remedy,                                                                        \
    .trajectory = "configurations as VTK image data, a value for each site, of lattices up to "    \
                  "2^22 sites",                                                                    \
    .tunables = tunables

static const char *const first_job[] = {"/system/size=[32, 32]",
                                        "/system/temperature=2.269185",
                                        "/system/start=\"up\"",
                                        "/run/equilibration=1000",
                                        "/run/sweeps=50000",
                                        "/run/measure_every=10",
                                        NULL};

/* "auto": slabs of 2^26 sites take an H100 30 us a sweep and more, beside which what ranks exchange
 * is little; smaller lattices have faster kernels on one device. */
static bool ising_pays_to_cut(const struct ergo_point *point, size_t ranks) {
    return !model_has_ladder(point) && !timed_is(point) &&
           lattice_sites(point) >= 0x1p26 * (double)ranks &&
           of_lattice(point)->size.size[1] % 4 == 0;
}

const struct ergo_model ising_model = {
    ISING_TABLES,
    .n_tunables = sizeof tunables / sizeof tunables[0],
    .serves = is_plain,
    .programs = {"spin_lattice/ising_global.cl", "spin_lattice/ising_local.cl",
                 "spin_lattice/ising_tile.cl", "spin_lattice/ising_lanes_local.cl",
                 "spin_lattice/ising_lanes_global.cl", "spin_lattice/ising_lanes_tile.cl",
                 "common/slab.cl", "common/ladder.cl"},
    .check = check,
    .form = ising_form,
    .curve_size = curve_size,
    .curve_x = curve_x,
    .exact = exact,
    .cuts = ising_pays_to_cut,
    .ops = &ising_ops,
    .cut = &ising_cut_ops,
};

const struct ergo_model ising_lattice_model = {
    ISING_TABLES,
    .n_tunables = LATTICE_TUNABLES,
    .programs = {"spin_lattice/bytes.cl", "spin_lattice/bytes_local.cl",
                 "spin_lattice/bytes_draw.cl", "common/slab.cl", "common/ladder.cl"},
    .check = bytes_check,
    .form = bytes_form,
    .curve_size = bytes_tempered_curve_size,
    .curve_x = bytes_curve_x,
    .exact = bytes_exact,
    .cuts = bytes_pays_to_cut,
    .ops = &bytes_ops,
    .cut = &bytes_cut_ops,
};
