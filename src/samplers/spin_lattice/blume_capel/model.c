/* The Blume-Capel model, spin 1 in a crystal field: its tables. */
#include "samplers/spin_lattice/bytes.h"
#include "samplers/spin_lattice/models.h"

static const struct ergo_key keys[] = {
    {LATTICE_ENERGY_KEY(coupling, "/system/coupling", "1"),
     .help = "Coupling J: positive is ferromagnetic, negative antiferromagnetic."},
    {LATTICE_ENERGY_KEY(crystal_field, "/system/crystal_field", "0"),
     .help = "Crystal field D: what a spin +1 or -1 costs over a spin 0. The square lattice at T = "
             "0 is all 0 from D = 2 J on, the cubic one from 3 J on; a little before, the "
             "transition is of first order."},
    {LATTICE_ENERGY_KEY(field, "/system/field", "0"),
     .help = "Magnetic field B: positive prefers up."},
};

static const struct ergo_column columns[] = {
    {"energy", "per site, in units of J = 1", "U/N = (-J sum s s + D sum s^2 - B sum s)/N"},
    {"magnetization", "per site", "sum s / N"},
    {"quadrupole", "per site", "sum s^2 / N"},
};

static const struct ergo_observable observables[] = {
    LATTICE_ENERGY,
    LATTICE_ORDER("abs_magnetization", "mean |m|", NULL),
    {ERGO_NAMED("quadrupole", "per site"), .help = "mean s^2: the density of spins that are not 0",
     ERGO_COLUMN(COLUMN_QUADRUPOLE)},
    LATTICE_HEAT_CAPACITY(NULL),
    LATTICE_SUSCEPTIBILITY("abs_magnetization", "magnetization", NULL),
    LATTICE_BINDER("magnetization", NULL, ""),
    LATTICE_MAGNETIZATION(model_slow_sign, NULL),
    LATTICE_MOMENTS("magnetization", NULL),
    LATTICE_ORDER("order_parameter",
                  "abs_magnetization by the name that it has in the models of unit vectors and "
                  "graphs",
                  NULL),
    ERGO_LADDER_OBSERVABLES,
    LATTICE_ENERGY2,
};

static double crystal_in_energy(const struct ergo_point *point) {
    return of_lattice(point)->crystal_field;
}

static const struct ergo_conjugate conjugates[] = {
    {COLUMN_ENERGY, .coefficient = lattice_weight_of_energy, .keys = {"/system/temperature"}},
    {COLUMN_MAGNETIZATION, .in_energy = lattice_field_in_energy, .keys = {"/system/field"}},
    {COLUMN_QUADRUPOLE, .in_energy = crystal_in_energy, .keys = {"/system/crystal_field"}},
};

static size_t curve_size(const struct ergo_point *point, size_t c) {
    size_t size = 0;
    (void)ergo_tempered_curve_size(point, c, &size);
    return size;
}

static void curve_x(const struct ergo_point *point, size_t c, double *x) {
    (void)ergo_tempered_curve_x(point, c, x);
}

/* Sums of s s' are counted modulo 2^32. */
static enum ergo_status check(struct ergo_context *ctx, const struct ergo_point *point) {
    const enum ergo_status status = lattice_check_size(ctx, point, 0x1p30);
    const enum ergo_status disorder = status == ERGO_OK ? bytes_check_disorder(ctx, point) : status;
    return disorder == ERGO_OK ? ergo_tempered_check(ctx, point) : disorder;
}

static const char *const first_job[] = {"/system/size=[32, 32]",   "/system/temperature=1",
                                        "/system/crystal_field=1", "/system/start=\"up\"",
                                        "/run/equilibration=500",  "/run/sweeps=20000",
                                        "/run/measure_every=10",   NULL};

static const enum bytes_kind kind = BYTES_BLUME_CAPEL;

const struct ergo_model blume_capel_model = {
    .rule = &kind,
    .name = "blume-capel",
    .summary =
        "H = -J sum s_i s_j + D sum s_i^2 - B sum s_i over nearest neighbours, s = 1, 0, -1, "
        "in one to three dimensions (Blume 1966, Capel 1966); also with random fields or random "
        "couplings.",
    .programs = {"spin_lattice/bytes.cl", "spin_lattice/bytes_local.cl",
                 "spin_lattice/bytes_draw.cl", "common/slab.cl", "common/ladder.cl"},
    .first = first_job,
    .parameters = sizeof(struct lattice_parameters),
    .keys = {{lattice_keys, 2},
             {keys, sizeof keys / sizeof keys[0]},
             {field_keys, FIELD_KEYS},
             {disorder_keys, DISORDER_KEYS},
             {&lattice_keys[LATTICE_KEYS - 1], 1},
             {slab_keys, SLAB_KEYS},
             {ladder_keys, LADDER_KEYS}},
    ERGO_TABLE(columns, columns),
    ERGO_TABLE(conjugates, conjugates),
    .samples_disorder = model_samples_differ,
    ERGO_TABLE(observables, observables),
    .curves = curves_of_ising + CURVE_TWO_TIMES + 1,
    .n_curves = ORDERED_CURVES,
    .curves_at_end = ERGO_LADDER_AT_END(ORDERED_CURVES, 0),
    .curves_hidden = ERGO_LADDER_HIDDEN(ORDERED_CURVES),
    .x_from = ergo_tempered_x,
    .curve_size = curve_size,
    .curve_x = curve_x,
    ERGO_TABLE(tunables, bytes_tunables),
    .frame_suffix = "vti",
    .trajectory = "configurations as VTK image data, 1 - s for each site, of lattices up to 2^22 "
                  "sites",
    .has_frames = model_has_frames,
    .check = check,
    .form = bytes_form,
    .cuts = bytes_pays_to_cut,
    .ops = &bytes_ops,
    .cut = &bytes_cut_ops,
};
