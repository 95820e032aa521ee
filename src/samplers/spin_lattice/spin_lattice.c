/* spin-lattice: the tables of the sampler, and what can be said of a job without a device. */
#include "samplers/spin_lattice/spin_lattice.h"

#include <math.h>
#include <string.h>

#include "samplers/spin_lattice/exact.h"
#include "samplers/spin_lattice/ising.h"

static const char *const models[] = {"ising", NULL};
static const char *const dynamics[] = {"metropolis", "heat-bath", NULL};
static const char *const starts[] = {"up", "down", "random", NULL};

static const struct ergo_key keys[] = {
    {.pointer = "/system/model",
     .type = ERGO_KEY_ENUM,
     .flags = ERGO_KEY_SHAPE | ERGO_KEY_CHAIN,
     .fallback = "\"ising\"",
     .choices = models,
     .unit = "",
     .help = "Model. ising: H = -J sum s_i s_j - B sum s_i over nearest neighbours, s = +-1 (Levy, "
             "Cohen, Rabani 2010, Eq. 2; their Eq. 1 has the opposite sign)."},
    {.pointer = "/system/size",
     .type = ERGO_KEY_SIZE,
     .flags = ERGO_KEY_REQUIRED | ERGO_KEY_SCAN | ERGO_KEY_SHAPE | ERGO_KEY_CHAIN,
     .min = 2,
     .max = 1048576,
     .min_items = 2,
     .max_items = 2,
     .unit = "sites",
     .help = "Lattice sides [Lx, Ly], periodic, both even (the checkerboard needs it). A side of "
             "2 has two bonds between the same neighbours."},
    {.pointer = "/system/temperature",
     .type = ERGO_KEY_REAL,
     .flags = ERGO_KEY_REQUIRED | ERGO_KEY_SCAN | ERGO_KEY_CHAIN | ERGO_KEY_EXCLUDES_MIN,
     .min = 0,
     .max = 1e12,
     .unit = "J/k_B",
     .help = "Temperature T in the energy unit of coupling and field (k_B = 1). The infinite "
             "lattice is critical at 2/ln(1+sqrt 2) = 2.269185 for J = 1."},
    {.pointer = "/system/coupling",
     .type = ERGO_KEY_REAL,
     .flags = ERGO_KEY_SCAN | ERGO_KEY_CHAIN,
     .fallback = "1",
     .min = -1e6,
     .max = 1e6,
     .unit = "J",
     .help = "Coupling J: positive ferromagnetic, negative antiferromagnetic."},
    {.pointer = "/system/field",
     .type = ERGO_KEY_REAL,
     .flags = ERGO_KEY_SCAN | ERGO_KEY_CHAIN,
     .fallback = "0",
     .min = -1e6,
     .max = 1e6,
     .unit = "J",
     .help = "Magnetic field B."},
    {.pointer = "/system/dynamics",
     .type = ERGO_KEY_ENUM,
     .flags = ERGO_KEY_CHAIN | ERGO_KEY_SHAPE,
     .fallback = "\"metropolis\"",
     .choices = dynamics,
     .unit = "",
     .help = "Single-spin rule: metropolis, flip with min(1, exp(-dE/T)); heat-bath, flip with "
             "1/(1 + exp(dE/T)). Sites of one colour of the checkerboard together. Metropolis "
             "without a field never leaves, and never enters, configurations in which every spin "
             "has two up and two down neighbours: of any weight only on lattices of a side up to "
             "4 (2e-4 at T = 4 on 4 x 4)."},
    {.pointer = "/system/start",
     .type = ERGO_KEY_ENUM,
     .flags = ERGO_KEY_CHAIN | ERGO_KEY_SHAPE,
     .fallback = "\"random\"",
     .choices = starts,
     .unit = "",
     .help = "Starting configuration. Below the critical temperature a random start can end in "
             "stripes that live very long: prefer up."},
    {.pointer = "/run/correlation_every",
     .type = ERGO_KEY_INT,
     .flags = ERGO_KEY_SHAPE,
     .fallback = "10",
     .min = 0,
     .max = 1e12,
     .unit = "measurements",
     .help = "Measure the spin-spin correlation with every so many measurements; 0: never."},
    {.pointer = "/run/correlation_max",
     .type = ERGO_KEY_INT,
     .flags = ERGO_KEY_SHAPE,
     .fallback = "64",
     .min = 1,
     .max = 4096,
     .unit = "sites",
     .help = "Largest distance of the correlation; never more than half the shorter side."},
};

static const struct ergo_column columns[] = {
    {"energy", "per site, in units of J = 1", "U/N = (-J sum s s - B sum s)/N"},
    {"magnetization", "per site", "sum s / N"},
};

static double sites(const struct ergo_point *point) {
    const struct ergo_value *size = ergo_point_value(point, "/system/size");
    return (double)size->size[0] * (double)size->size[1];
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

/* To change sign a lattice has to pass through a domain wall across it: the free energy of the wall
 * grows with its side below Tc. Near above, finite lattices do the same, only more often. */
static const char *slow_m(const struct ergo_point *point) {
    const double t = ergo_point_real(point, "/system/temperature");
    const double j = ergo_point_real(point, "/system/coupling");
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

static const struct ergo_observable observables[] = {
    {.name = "energy",
     .unit = "J per site",
     .help = "mean energy per site",
     .sample = sample_energy},
    {.name = "abs_magnetization", .unit = "per site", .help = "mean |m|", .sample = sample_abs_m},
    {.name = "heat_capacity",
     .unit = "k_B per site",
     .help = "N (<e^2> - <e>^2) / T^2",
     .inputs = {"energy", "energy2"},
     .derive = derive_heat_capacity},
    {.name = "susceptibility",
     .unit = "per site",
     .help = "N (<m^2> - <|m|>^2) / T, the finite-lattice form",
     .inputs = {"abs_magnetization", "magnetization2"},
     .derive = derive_susceptibility},
    {.name = "binder",
     .unit = "",
     .help = "Binder's cumulant 1 - <m^4> / (3 <m^2>^2)",
     .inputs = {"magnetization2", "magnetization4"},
     .derive = derive_binder},
    {.name = "magnetization",
     .unit = "per site",
     .help = "mean m",
     .sample = sample_m,
     .slow = slow_m},
    {.name = "magnetization2", .unit = "per site^2", .help = "mean m^2", .sample = sample_m2},
    {.name = "magnetization4", .unit = "per site^4", .help = "mean m^4", .sample = sample_m4},
    {.name = "energy2",
     .unit = "J^2 per site^2",
     .help = "mean squared energy per site",
     .sample = sample_energy2,
     .hidden = true},
};

static const struct ergo_curve_info curves[] = {
    {"correlation", "distance", "", "<s(0) s(r)> along the axes, mean of both"},
    {"correlation_x", "distance", "", "<s(0) s(r)> along x"},
    {"correlation_y", "distance", "", "<s(0) s(r)> along y"},
};

static const struct ergo_tunable tunables[] = {
    {"path",
     "0 automatic, 1 one member per work-group in local memory, 2 stripes with halos, "
     "3 half a sweep per launch",
     0, 3},
    {"work_group", "work-items per group (a power of two)", 0, 1024},
    {"tile_sweeps", "path 2: sweeps per launch", 0, 16},
    {"tile_rows", "path 2: rows per work-group", 0, 4096},
    {"lanes", "kernels with explicit vectors of eight, for CPUs: 0 automatic, 1 yes, 2 no", 0, 2},
};

static const struct ergo_sampler_info info = {
    .name = "spin-lattice",
    .summary = "Lattice spin models at equilibrium: the 2D Ising model (Metropolis, heat bath)",
    .citation = "T. Levy, G. Cohen, E. Rabani, Simulating lattice spin models on GPUs, "
                "J. Chem. Theory Comput. 6, 3293 (2010)",
    .programs = {"spin_lattice/ising_global.cl", "spin_lattice/ising_local.cl",
                 "spin_lattice/ising_tile.cl", "spin_lattice/ising_lanes_local.cl",
                 "spin_lattice/ising_lanes_global.cl", "spin_lattice/ising_lanes_tile.cl"},
    .step_name = "sweep",
    .rate_unit = "spin updates per second",
    .keys = keys,
    .n_keys = sizeof keys / sizeof keys[0],
    .columns = columns,
    .n_columns = sizeof columns / sizeof columns[0],
    .observables = observables,
    .n_observables = sizeof observables / sizeof observables[0],
    .curves = curves,
    .n_curves = sizeof curves / sizeof curves[0],
    .tunables = tunables,
    .n_tunables = sizeof tunables / sizeof tunables[0],
    .state_version = 1,
};

static enum ergo_status check(struct ergo_context *ctx, const struct ergo_point *point) {
    enum ergo_status status = ERGO_OK;
    const struct ergo_value *size = ergo_point_value(point, "/system/size");
    const char *const side[] = {"/system/size/0", "/system/size/1"};
    for (int i = 0; i < size->items && i < 2; i++)
        if (size->size[i] % 2)
            status = ergo_job_error(ctx, side[i],
                                    "%lld is odd; the checkerboard update needs even sides, for "
                                    "example %lld or %lld",
                                    (long long)size->size[i], (long long)size->size[i] - 1,
                                    (long long)size->size[i] + 1);
    if (ergo_point_real(point, "/system/coupling") == 0.0 &&
        ergo_point_real(point, "/system/field") == 0.0 &&
        strcmp(ergo_point_text(point, "/system/dynamics"), "metropolis") == 0)
        status = ergo_job_error(ctx, "/system/coupling",
                                "0 with /system/field 0: every Metropolis flip would be accepted "
                                "and nothing sampled; give a coupling or a field, or use dynamics "
                                "\"heat-bath\"");
    /* with a field or without: the smallest acceptance is 1 - cost, and tau grows with 1 / cost */
    const double cost = 8 * fabs(ergo_point_real(point, "/system/coupling")) +
                        2 * fabs(ergo_point_real(point, "/system/field"));
    const double t = ergo_point_real(point, "/system/temperature");
    if (cost > 0 && cost < 1e-3 * t &&
        strcmp(ergo_point_text(point, "/system/dynamics"), "metropolis") == 0)
        status =
            ergo_job_error(ctx, "/system/temperature",
                           "%g is more than 1000 (8 |J| + 2 |B|): Metropolis would accept nearly "
                           "every flip, and the lattice only change its sign from sweep to sweep; "
                           "use dynamics \"heat-bath\"",
                           t);
    const int64_t group = ergo_point_int(point, "/tuning/work_group");
    if (group & (group - 1))
        status = ergo_job_error(ctx, "/tuning/work_group",
                                "%lld is not a power of two (0 chooses automatically)",
                                (long long)group);
    return status;
}

static enum ergo_status plan(struct ergo_context *ctx, const struct ergo_batch *batch,
                             const struct ergo_device *device, struct ergo_plan *plan) {
    struct ising_launch launch;
    return ising_launch_plan(ctx, batch, device, &launch, plan);
}

static size_t curve_size(const struct ergo_point *point, size_t c) {
    (void)c;
    return ergo_point_int(point, "/run/correlation_every") ? ising_reach(point) + 1 : 0;
}

static void curve_x(const struct ergo_point *point, size_t c, double *x) {
    for (size_t i = 0; i < curve_size(point, c); i++)
        x[i] = (double)i;
}

static uint64_t curve_every(const struct ergo_point *point) {
    const int64_t every = ergo_point_int(point, "/run/correlation_every");
    return every > 0 ? (uint64_t)every : 1;
}

static double exact(const struct ergo_point *point, const char *observable) {
    const bool energy = strcmp(observable, "energy") == 0;
    if (!energy && strcmp(observable, "heat_capacity") != 0)
        return NAN;
    if (ergo_point_real(point, "/system/field") != 0.0)
        return NAN;
    const struct ergo_value *size = ergo_point_value(point, "/system/size");
    struct ergo_ising_exact e;
    if (!ergo_ising_exact_torus(size->size[0], size->size[1],
                                ergo_point_real(point, "/system/temperature"),
                                ergo_point_real(point, "/system/coupling"), &e))
        return NAN;
    return energy ? e.energy : e.heat_capacity;
}

static const struct ergo_sampler_ops ops = {
    .check = check,
    .plan = plan,
    .create = ising_create,
    .init = ising_init,
    .advance = ising_advance,
    .collect = ising_collect,
    .curve_size = curve_size,
    .curve_x = curve_x,
    .curve_every = curve_every,
    .save = ising_save,
    .load = ising_load,
    .audit = ising_audit,
    .picture = ising_picture,
    .exact = exact,
    .destroy = ising_destroy,
};

const struct ergo_sampler ergo_spin_lattice = {&info, &ops};
