/* The Potts model by single spins: its tables. */
#include "samplers/spin_lattice/bytes.h"
#include "samplers/spin_lattice/models.h"
#include "samplers/spin_lattice/two_times.h"

static const char *const distributions[] = {"one-state", "gaussian", NULL};

static const struct ergo_key keys[] = {
    {ERGO_KEY("/system/q", INT),
     .flags = ERGO_KEY_FORM | ERGO_KEY_SCAN | ERGO_KEY_SHAPE | ERGO_KEY_CHAIN, .fallback = "3",
     .stream = "", .min = 2, .max = 256, .unit = "states",
     .help = "Number of states. The infinite square lattice is critical at T = 1/ln(1 + sqrt q)."},
    {ERGO_KEY("/system/field", REAL), .flags = ERGO_KEY_SCAN | ERGO_KEY_CHAIN, .fallback = "0",
     .min = -1e6, .max = 1e6, .unit = "J",
     .help = "Field B on the first state, 0 (start up): -B for each site in it."},
};

static const struct ergo_key site_keys[] = {
    {ERGO_KEY("/system/field_distribution", ENUM), .flags = ERGO_KEY_SHAPE | ERGO_KEY_CHAIN,
     .choices = distributions, .unit = "",
     .help = "f_i(s) of the random field, -h f_i(s_i) for each site: one-state (if not given), 1 "
             "for a state drawn at each site and 0 for the others (Blankschtein, Shapir, Aharony, "
             "Phys. Rev. B 29, 1263 (1984)); gaussian, of mean 0 and variance 1 for each state of "
             "each site.",
     .acts = model_draws_fields, .where = "with random_field, without field_file"},
    {ERGO_KEY("/system/field_file", STRING), .flags = ERGO_KEY_SHAPE | ERGO_KEY_FILE, .unit = "",
     .help =
         "A file with f_i(s): q numbers up to 1e6 for each site, of states 0 to q - 1, sites in "
         "the order x fastest, then y, then z, with blanks or ends of lines between them; # a "
         "comment. Fields and couplings are rounded to 2^-28 of the largest energy of a move, "
         "or finer."},
};

enum { POTTS_COLUMNS = COLUMNS + 1 };
static const struct ergo_column columns[POTTS_COLUMNS] = {
    {"energy", "per site, in units of J = 1", "U/N = -(J sum (delta(s, s) - 1) + sum fields)/N"},
    {"magnetization", "per site", "the order parameter"},
    {"first_state", "per site", "n_0 / N, with a field"},
};

static bool has_field(const struct ergo_point *point) {
    return model_given(point, "/system/field") || model_has(point, "/system/random_field") ||
           model_has(point, "/system/field_file");
}

static bool has_column(const struct ergo_point *point, size_t c) {
    return c != COLUMN_FIRST_STATE || has_field(point);
}

static double sample_first_state(const struct ergo_point *point, const double *c) {
    (void)point;
    return c[COLUMN_FIRST_STATE];
}

static double sample_first_state2(const struct ergo_point *point, const double *c) {
    (void)point;
    return c[COLUMN_FIRST_STATE] * c[COLUMN_FIRST_STATE];
}

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
    {ERGO_NAMED("first_state", "per site"),
     .help = "with a field: the mean part of the sites in state 0, which /system/field prefers",
     .sample = sample_first_state, .applies = has_field},
    {ERGO_NAMED("first_state_susceptibility", "per site"),
     .help = "with a field: N (<n_0^2> - <n_0>^2) / T, n_0 as in first_state: how it answers to "
             "/system/field",
     .inputs = {"first_state", "first_state2"}, .derive = model_susceptibility,
     .applies = has_field},
    {ERGO_NAMED("first_state2", "per site^2"), .help = "with a field: mean n_0^2",
     .sample = sample_first_state2, .applies = has_field, .hidden = true},
    {ERGO_NAMED("staggered_order_parameter2", ""),
     .help = "with a negative coupling, two dimensions or three: q / (q - 1) times the sum over "
             "states k of <(sum over sites of +-delta(s, k) / N)^2>, signs as of m_s; 3/4 for q = "
             "3 where each sublattice has a state of its own",
     .curve = "structure_factor", .from_curve = curve_staggered2, .applies = is_staggered},
    BYTES_CORRELATION_LENGTH,
    ERGO_LADDER_OBSERVABLES,
    {ERGO_NAMED("energy2", "J^2 per site^2"), .help = "mean squared energy per site",
     .sample = model_energy2, .hidden = true},
};

static const char *const first_job[] = {"/system/size=[32, 32]",        "/system/q=3",
                                        "/system/temperature=0.994973", "/system/start=\"up\"",
                                        "/run/equilibration=1000",      "/run/sweeps=20000",
                                        "/run/measure_every=10",        NULL};

const struct ergo_model potts_model = {
    .name = "potts",
    .summary = "H = -J sum (delta(s_i, s_j) - 1), s = 0 .. q - 1, by single spins in one to three "
               "dimensions (sampler swendsen-wang has clusters); also with fields, random fields "
               "or random couplings.",
    .programs = {"spin_lattice/bytes.cl", "spin_lattice/bytes_local.cl",
                 "spin_lattice/bytes_draw.cl", "common/slab.cl", "common/ladder.cl"},
    .first = first_job,
    .keys = {{keys, sizeof keys / sizeof keys[0]},
             {lattice_keys, LATTICE_KEYS},
             {field_keys, 1},
             {site_keys, sizeof site_keys / sizeof site_keys[0]},
             {disorder_keys, DISORDER_KEYS},
             {slab_keys, SLAB_KEYS},
             {lattice_run_keys, LATTICE_RUN_KEYS},
             {ladder_keys, LADDER_KEYS}},
    .columns = columns,
    .n_columns = POTTS_COLUMNS,
    .has_column = has_column,
    .conjugates = lattice_conjugates,
    .n_conjugates = 1, /* at one field */
    .samples_disorder = model_samples_differ,
    .observables = observables,
    .n_observables = sizeof observables / sizeof observables[0],
    .curves = curves_of_potts,
    .n_curves = TEMPERED_CURVES,
    .curves_at_end = ERGO_LADDER_AT_END(TEMPERED_CURVES, CURVE_TWO_TIMES),
    .state_tail = timed_tail,
    .curves_hidden = ERGO_LADDER_HIDDEN(TEMPERED_CURVES),
    .x_from = ergo_tempered_x,
    .tunables = bytes_tunables,
    .n_tunables = BYTES_TUNABLES,
    .frame_suffix = "vti",
    .trajectory = "configurations as VTK image data, a state for each site, of lattices up to 2^22 "
                  "sites",
    .has_frames = model_has_frames,
    .check = bytes_check,
    .form = bytes_form,
    .curve_size = bytes_tempered_curve_size,
    .curve_x = bytes_curve_x,
    .curve_every = lattice_curve_every,
    .exact = bytes_exact,
    .remedy = bytes_remedy,
    .cuts = bytes_pays_to_cut,
    .ops = &bytes_ops,
    .cut = &bytes_cut_ops,
};
