/* The Potts model by single spins: its tables. */
#include "samplers/spin_lattice/bytes.h"
#include "samplers/spin_lattice/models.h"

static const struct ergo_key keys[] = {
    {ERGO_KEY("/system/q", INT),
     .flags = ERGO_KEY_FORM | ERGO_KEY_SCAN | ERGO_KEY_SHAPE | ERGO_KEY_CHAIN, .fallback = "3",
     .stream = "", .min = 2, .max = 256, .unit = "states",
     .help = "Number of states. The infinite square lattice is critical at T = 1/ln(1 + sqrt q)."},
};

static const struct ergo_column columns[COLUMNS] = {
    {"energy", "per site, in units of J = 1", "U/N = -J sum (delta(s, s) - 1)/N"},
    {"magnetization", "per site", "the order parameter"},
};

static bool is_staggered(const struct ergo_point *point) {
    return bytes_staggered_axes(point) != 0 && bytes_has_structure(point);
}

/* S(Q) / N */
static double curve_staggered2(const struct ergo_point *point, const double *mean, size_t size) {
    (void)size;
    return mean[0] / model_sites(point);
}

static const struct ergo_observable observables[] = {
    {ERGO_NAMED("energy", "J per site"), .help = "mean energy per site", .sample = model_energy},
    {ERGO_NAMED("order_parameter", ""),
     .help = "mean m = (q max_k n_k / N - 1) / (q - 1), as in swendsen-wang", .sample = model_m},
    {ERGO_NAMED("order_parameter2", ""), .help = "mean m^2", .sample = model_m2},
    {ERGO_NAMED("order_parameter4", ""), .help = "mean m^4", .sample = model_m4},
    {ERGO_NAMED("heat_capacity", "k_B per site"), .help = "N (<e^2> - <e>^2) / T^2",
     .inputs = {"energy", "energy2"}, .derive = model_heat_capacity},
    {ERGO_NAMED("susceptibility", "per site"),
     .help = "N (<m^2> - <|m|>^2) / T, m the order parameter, the finite-lattice form; as in "
             "swendsen-wang",
     .inputs = {"order_parameter", "order_parameter2"}, .derive = model_susceptibility},
    {ERGO_NAMED("binder", ""),
     .help = "Binder's cumulant 1 - <m^4> / (3 <m^2>^2), m as in susceptibility",
     .inputs = {"order_parameter2", "order_parameter4"}, .derive = model_binder, .crosses = true},
    {ERGO_NAMED("staggered_order_parameter2", ""),
     .help = "with a negative coupling, two dimensions or three: q / (q - 1) times the sum over "
             "states k of <(sum over sites of +-delta(s, k) / N)^2>, signs as of m_s; 3/4 for q = "
             "3 where each sublattice has a state of its own",
     .curve = "structure_factor", .from_curve = curve_staggered2, .applies = is_staggered},
    {ERGO_NAMED("correlation_length", "sites"),
     .help =
         "second moment, along the last dimension: sqrt(S(Q)/S(Q + k) - 1) / (2 sin(k/2)), k = 2 "
         "pi "
         "/ L, Q as in structure_factor. S(Q) = N <m^2> (antiferromagnets: m_s), from which "
         "nothing "
         "is subtracted: below the critical temperature this is no correlation length, but over L "
         "it crosses there for all L",
     .curve = "structure_factor", .from_curve = bytes_correlation_length,
     .applies = bytes_has_structure, .bound = bytes_longest_side,
     .beyond = "longer than the lattice: order"},
    {ERGO_NAMED("energy2", "J^2 per site^2"), .help = "mean squared energy per site",
     .sample = model_energy2, .hidden = true},
};

/* The field of other models, which chains had in their random streams from the beginning. */
static const char *const stream_lines[] = {"/system/field=0", NULL};

static const char *const first_job[] = {"/system/size=[32, 32]",        "/system/q=3",
                                        "/system/temperature=0.994973", "/system/start=\"up\"",
                                        "/run/equilibration=1000",      "/run/sweeps=20000",
                                        "/run/measure_every=10",        NULL};

const struct ergo_model potts_model = {
    .name = "potts",
    .summary = "H = -J sum (delta(s_i, s_j) - 1), s = 0 .. q - 1, by single spins in one to three "
               "dimensions (sampler swendsen-wang has clusters).",
    .programs = {"spin_lattice/bytes.cl", "spin_lattice/bytes_local.cl",
                 "spin_lattice/bytes_draw.cl", "common/slab.cl"},
    .first = first_job,
    .keys = {{keys, sizeof keys / sizeof keys[0]},
             {lattice_keys, LATTICE_KEYS},
             {slab_keys, SLAB_KEYS},
             {lattice_run_keys, LATTICE_RUN_KEYS}},
    .stream_lines = stream_lines,
    .columns = columns,
    .n_columns = COLUMNS,
    .conjugates = lattice_conjugates,
    .n_conjugates = 1, /* without a field */
    .observables = observables,
    .n_observables = sizeof observables / sizeof observables[0],
    .curves = lattice_curves,
    .n_curves = LATTICE_CURVES,
    .tunables = bytes_tunables,
    .n_tunables = BYTES_TUNABLES,
    .frame_suffix = "vti",
    .trajectory = "configurations as VTK image data, a state for each site, of lattices up to 2^22 "
                  "sites",
    .has_frames = model_has_frames,
    .check = bytes_check,
    .curve_size = bytes_curve_size,
    .curve_x = bytes_curve_x,
    .curve_every = lattice_curve_every,
    .exact = bytes_exact,
    .remedy = bytes_remedy,
    .cuts = bytes_pays_to_cut,
    .ops = &bytes_ops,
    .cut = &bytes_cut_ops,
};
