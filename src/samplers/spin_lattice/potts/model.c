/* The Potts model by single spins: its tables. */
#include "samplers/spin_lattice/bytes.h"
#include "samplers/spin_lattice/models.h"
#include "samplers/spin_lattice/two_times.h"

static const char *const distributions[] = {"one-state", "gaussian", NULL};

static const struct ergo_key keys[] = {
    {LATTICE_Q("3", 256), .stream = "",
     .help = "Number of states. The infinite square lattice is critical at T = 1/ln(1 + sqrt q)."},
    {LATTICE_ENERGY_KEY(field, "/system/field", "0"),
     .help = "Field B on the first state, 0 (start up): -B for each site in it."},
};

static const struct ergo_key site_keys[] = {
    {LATTICE_FIELD_DISTRIBUTION(distributions),
     .help =
         "f_i(s) of the random field, -h f_i(s_i) for each site: one-state (if not given), 1 for a "
         "state drawn at each site and 0 for the others (Blankschtein, Shapir, Aharony, Phys. Rev. "
         "B 29, 1263 (1984)); gaussian, of mean 0 and variance 1 for each state of each site."},
    {LATTICE_FIELD_FILE,
     .help = "A file with f_i(s): q numbers up to 1e6 for each site, of states 0 to q - 1, sites "
             "in the order x fastest, then y, then z, with blanks or ends of lines between them; # "
             "a comment. Fields and couplings are rounded to 2^-28 of the largest energy of a "
             "move, or finer."},
};

enum { POTTS_COLUMNS = COLUMNS + 1 };
static const struct ergo_column columns[POTTS_COLUMNS] = {
    {"energy", "per site, in units of J = 1", "U/N = -(J sum (delta(s, s) - 1) + sum fields)/N"},
    {"magnetization", "per site", "the order parameter"},
    {"first_state", "per site", "n_0 / N, with a field"},
};

static bool has_field(const struct ergo_point *point) {
    return of_lattice(point)->field.given || of_lattice(point)->random_field.present ||
           of_lattice(point)->field_file.present;
}

static bool has_column(const struct ergo_point *point, size_t c) {
    return c != COLUMN_FIRST_STATE || has_field(point);
}

static bool is_staggered(const struct ergo_point *point) {
    return bytes_staggered_axes(point) != 0 && bytes_has_structure(point);
}

/* S(Q) / N */
static double curve_staggered2(const struct ergo_point *point, const double *mean, size_t size) {
    (void)size;
    return mean[0] / lattice_sites(point);
}

static const struct ergo_observable observables[] = {
    LATTICE_ENERGY,
    POTTS_ORDER,
    POTTS_ORDER_MOMENTS,
    LATTICE_HEAT_CAPACITY(NULL),
    LATTICE_SUSCEPTIBILITY("order_parameter", "order_parameter", NULL),
    LATTICE_BINDER("order_parameter", NULL, ""),
    POTTS_FIRST_STATE(COLUMN_FIRST_STATE, has_field),
    {ERGO_NAMED("staggered_order_parameter2", ""),
     .help = "with a negative coupling, two dimensions or three: q / (q - 1) times the sum over "
             "states k of <(sum over sites of +-delta(s, k) / N)^2>, signs as of m_s; 3/4 for q = "
             "3 where each sublattice has a state of its own",
     .curve = "structure_factor", .from_curve = curve_staggered2, .applies = is_staggered},
    BYTES_CORRELATION_LENGTH,
    ERGO_LADDER_OBSERVABLES,
    LATTICE_ENERGY2,
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
    .parameters = sizeof(struct lattice_parameters),
    .keys = {{keys, sizeof keys / sizeof keys[0]},
             {lattice_keys, LATTICE_KEYS},
             {field_keys, 1},
             {site_keys, sizeof site_keys / sizeof site_keys[0]},
             {disorder_keys, DISORDER_KEYS},
             {slab_keys, SLAB_KEYS},
             {lattice_run_keys, LATTICE_RUN_KEYS},
             {ladder_keys, LADDER_KEYS}},
    ERGO_TABLE(columns, columns),
    .has_column = has_column,
    .conjugates = lattice_conjugates,
    .n_conjugates = 1, /* at one field */
    .samples_disorder = model_samples_differ,
    ERGO_TABLE(observables, observables),
    ERGO_TABLE(curves, curves_of_potts),
    .curves_at_end = ERGO_LADDER_AT_END(TEMPERED_CURVES, CURVE_TWO_TIMES),
    .state_tail = timed_tail,
    .curves_hidden = ERGO_LADDER_HIDDEN(TEMPERED_CURVES),
    .x_from = ergo_tempered_x,
    ERGO_TABLE(tunables, bytes_tunables),
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
