/* Spins that are unit vectors: tables of the models xy, clock and heisenberg. */
#include "samplers/lattice/keys.h"
#include "samplers/spin_lattice/models.h"
#include "samplers/spin_lattice/vector/parameters.h"
#include "samplers/spin_lattice/vector/vector.h"

/* ---- keys ------------------------------------------------------------------------------------ */

static const char *const lattices[] = {"chain", "square", "triangular", "cubic", NULL};
static const char *const starts[] = {"up", "random", NULL};

static bool is_metropolis(const struct ergo_point *point) {
    return !vector_shape_of(point).heat_bath;
}

static bool measures_structure(const struct ergo_point *point) {
    return model_correlation_every(point) != 0;
}

static const char *const distributions[] = {"direction", "gaussian", NULL};

enum { FIRST_KEYS = 8, LAST_KEYS = 3 };
static const struct ergo_key first_keys[FIRST_KEYS] = {
    {LATTICE_SIZE(1, 3, 1073741824),
     .help = "Lattice sides, periodic: [Lx], [Lx, Ly] or [Lx, Ly, Lz], all even (the checkerboard "
             "needs it); of the triangular lattice multiples of 3. A side of 2 has two bonds "
             "between the same neighbours."},
    {LATTICE_KEY(lattice, "/system/lattice", ENUM),
     .flags = ERGO_KEY_FORM | ERGO_KEY_SHAPE | ERGO_KEY_CHAIN, .stream = "", .choices = lattices,
     .unit = "",
     .help = "chain, square, cubic, or triangular; absent: chain, square or cubic, by the number "
             "of sides. triangular: the square lattice with bonds to (x + 1, y + 1), too."},
    {JOB_KEY(temperature, "/system/temperature", REAL),
     .flags = ERGO_KEY_REQUIRED | ERGO_KEY_SCAN | ERGO_KEY_CHAIN, .min = 1e-6, .max = 1e12,
     .unit = "J/k_B",
     .help = "Temperature T in the energy unit of the coupling (k_B = 1). For J = 1: xy, square, "
             "Kosterlitz-Thouless at 0.8929 (Hasenbusch 2005); xy, cubic, 2.2018 (Campostrini et "
             "al. 2006); heisenberg, cubic, 1.4430 (Peczak et al. 1991)."},
    {LATTICE_ENERGY_KEY(coupling, "/system/coupling", "1"),
     .help = "Coupling J: positive is ferromagnetic, negative antiferromagnetic. On chain, square "
             "and cubic without a field the sign only turns every second spin round: take J > 0 to "
             "see the order."},
    {LATTICE_ENERGY_KEY(field, "/system/field", "0"),
     .help = "Magnetic field B along z; xy and clock: along x, the angle 0."},
    {LATTICE_RANDOM_FIELD,
     .help = "h of a random field h n_i beside the uniform one (Imry, Ma 1975), n_i a vector at "
             "each site by field_distribution, or from field_file (h is 1 then, if not given). It "
             "depends on seed (or disorder_seed) and replica, not on the temperature."},
    {LATTICE_FIELD_DISTRIBUTION(distributions),
     .help = "n_i of the random field: direction (if not given), a unit vector of any direction; "
             "gaussian, each component of mean 0 and variance 1."},
    {LATTICE_FIELD_FILE,
     .help =
         "A file with n_i: x and y (heisenberg: x, y and z) of each site, numbers up to 1e6, sites "
         "in the order x fastest, then y, then z, with blanks or ends of lines between them; # a "
         "comment. Fields and random couplings are rounded to 2^-25 of the largest, or finer."},
};

static const struct ergo_key last_keys[LAST_KEYS] = {
    {LATTICE_START(starts),
     .help = "Starting configuration: up, all spins along z (xy, clock: x); random, any direction. "
             "In an ordered phase a random start can keep defects for very long: prefer up."},
    {LATTICE_KEY(correlation_every, "/run/correlation_every", INT), .flags = ERGO_KEY_SHAPE,
     .fallback = "10", .min = 0, .max = 1e12, .unit = "measurements",
     .help = "Measure the structure factor with every so many measurements; 0: never."},
    {VECTOR_KEY(wave_vectors, "/run/wave_vectors", STRING), .flags = ERGO_KEY_SHAPE, .unit = "2 pi",
     .help = "Further wave vectors of the structure factor, up to 16: a number for each dimension, "
             "; between vectors. \"0.5 0.5 0.5\" is (pi, pi, pi), the order of antiferromagnets; "
             "\"0.333333333 0.333333333\" that of 120 degrees on the triangular lattice.",
     .acts = measures_structure, .where = "where correlation_every is not 0"},
};

#define RELAXATIONS                                                                                \
    {                                                                                              \
        VECTOR_KEY(over_relaxation, "/system/over_relaxation", INT),                               \
            .flags = ERGO_KEY_CHAIN | ERGO_KEY_SHAPE, .fallback = "0", .stream = "", .min = 0,     \
            .max = 1000, .unit = "per sweep",                                                      \
            .help =                                                                                \
                "Over-relaxation sweeps after each sweep: every spin is reflected at its local "   \
                "field, which costs no energy and no random numbers (Creutz, Phys. Rev. D 36, "    \
                "515 "                                                                             \
                "(1987)). They are no sweeps of their own in /run, and rates do not count them."   \
    }

static const struct ergo_key xy_keys[] = {
    {VECTOR_KEY(step, "/system/step", REAL), .flags = ERGO_KEY_SCAN | ERGO_KEY_CHAIN,
     .fallback = "1", .min = 1e-6, .max = 1, .unit = "pi",
     .help = "Metropolis: the new angle is uniform within this many pi on either side of the old "
             "one. 1: anywhere. At T = 0.9 on the square lattice 1 accepts 29% of the moves, 0.5 "
             "51%, 0.3 68%."},
    RELAXATIONS,
};

static const struct ergo_key clock_keys[] = {
    {LATTICE_Q("6", 256),
     .help = "Number of directions, at angles 2 pi k / q. q = 2 is the Ising model, q = 3 Potts "
             "with 2/3 of its temperature, q = 4 two Ising models with half of J."},
    {VECTOR_KEY(step, "/system/step", REAL),
     .flags = ERGO_KEY_SCAN | ERGO_KEY_CHAIN | ERGO_KEY_EXCLUDES_MIN, .fallback = "1", .min = 0,
     .max = 1, .unit = "pi",
     .help = "Metropolis: the new direction is within this many pi on either side of the old one, "
             "at least the next one; the old one may be drawn, too. 1: anywhere."},
};

static const char *const dynamics[] = {"metropolis", "heat-bath", NULL};
static const struct ergo_key heisenberg_keys[] = {
    {LATTICE_DYNAMICS(dynamics),
     .help = "Single-spin rule: metropolis; heat-bath, a new spin from the distribution in its "
             "local field, whatever the old one was, by the inverse of the distribution (Miyatake "
             "et al., J. Phys. C 19, 2539 (1986)). Sites of one colour go together."},
    {VECTOR_KEY(step, "/system/step", REAL), .flags = ERGO_KEY_SCAN | ERGO_KEY_CHAIN,
     .fallback = "1", .min = 1e-4, .max = 100, .unit = "",
     .help = "Metropolis: a random vector of this length is added to the spin, and the sum "
             "brought back to length 1; below 1 the new spin is in a cone whose half-angle has "
             "this sine. At T = 1.44 on the cubic lattice 1 accepts 65% of the moves, 2 53%.",
     .acts = is_metropolis, .where = "with dynamics metropolis"},
    {VECTOR_KEY(anisotropy, "/system/anisotropy", REAL), .flags = ERGO_KEY_SCAN | ERGO_KEY_CHAIN,
     .fallback = "0", .min = -1e6, .max = 1e6, .unit = "J",
     .help = "Anisotropy D of -D sum s_z^2: positive prefers the z axis, negative the plane."},
    RELAXATIONS,
};

/* ---- what is measured ------------------------------------------------------------------------ */

static const struct ergo_column columns[VECTOR_COLUMNS] = {
    LATTICE_VECTOR_COLUMN_ROWS("U/N = (-J sum s.s' - B sum s_n - D sum s_z^2)/N"),
    {"z2", "per site", "sum s_z^2 / N (heisenberg)"},
    {"vortices", "per site", "plaquettes with a vortex of either sense / N (xy, clock on square)"},
    {"chirality", "", "chirality, of either sign (xy, clock on triangular)"},
    {"random_alignment", "per site", "sum s.n / N, n of the site's random field h n"},
};

/* A twist costs nothing else: no field, no anisotropy; and no clock, whose spins cannot turn. */
static bool has_helicity(const struct ergo_point *point) {
    const struct vector_physics p = vector_physics_of(point);
    return p.b == 0 && p.anisotropy == 0 && p.random == 0;
}

static bool has_vortices(const struct ergo_point *point) {
    return vector_has_column(point, VECTOR_VORTICES);
}

static bool has_chirality(const struct ergo_point *point) {
    return vector_has_column(point, VECTOR_CHIRALITY);
}

static bool has_random(const struct ergo_point *point) {
    return vector_has_column(point, VECTOR_RANDOM_ALIGNMENT);
}

static size_t structure_size(const struct ergo_point *point) {
    struct vector_waves waves;
    vector_waves_of(point, &waves);
    return waves.n;
}

static bool has_structure(const struct ergo_point *point) {
    return structure_size(point) > 0;
}

/* From the waves along directions whose side is that of the last one: they have one length. On the
 * triangular lattice that is 2 / sqrt 3 times as large, because rows are nearer than sites. */
static double correlation_length(const struct ergo_point *point, const double *mean, size_t size) {
    const struct vector_shape s = vector_shape_of(point);
    double sum = 0, n = 0;
    (void)size;
    for (uint32_t k = 0; k < s.d; k++)
        if (s.l[k] == s.l[s.d - 1]) {
            sum += mean[1 + k];
            n++;
        }
    const double wave = 2 * sin(acos(-1) / s.l[s.d - 1]) * (s.triangular ? 2 / sqrt(3) : 1);
    return mean[0] > sum / n ? sqrt(mean[0] / (sum / n) - 1) / wave : NAN;
}

static double longest_side(const struct ergo_point *point) {
    const struct vector_shape s = vector_shape_of(point);
    const uint32_t a = s.l[0] > s.l[1] ? s.l[0] : s.l[1];
    return a > s.l[2] ? a : s.l[2];
}

static const char *slow_direction(const struct ergo_point *point) {
    const struct vector_physics p = vector_physics_of(point);
    return p.b == 0 && p.random == 0 ? "without a field the magnetization turns the more slowly "
                                       "the larger it is, and its mean is 0; use order_parameter"
                                     : NULL;
}

/* clang-format off */
#define OBSERVABLES_COMMON                                                                         \
    LATTICE_VECTOR_RESPONSES(NULL),                                                                \
    {ERGO_NAMED("correlation_length", "sites"),                                                    \
     .help = "second moment: sqrt(S(0)/S(k) - 1) / (2 sin(k/2)), k = 2 pi / L along the "          \
             "directions whose side is that of the last one. S(0) = N <m^2>, from which nothing "  \
             "is subtracted: with order this is no correlation length, but over L it crosses at "  \
             "the transition for all L",                                                           \
     .curve = "structure_factor", .from_curve = correlation_length, .applies = has_structure,      \
     .bound = longest_side, .beyond = "longer than the lattice: order"},                           \
    LATTICE_VECTOR_MOMENTS,                                                                        \
    COMPONENT(x, VECTOR_X), COMPONENT(y, VECTOR_Y),                                                \
    {ERGO_NAMED("random_alignment", "per site"),                                                   \
     .help = "mean s.n, n of the site's random field h n", ERGO_COLUMN(VECTOR_RANDOM_ALIGNMENT),   \
     .applies = has_random},                                                                       \
    ERGO_LADDER_OBSERVABLES, LATTICE_ENERGY2
#define COMPONENT(axis, column)                                                                    \
    {ERGO_NAMED("magnetization_" #axis, "per site"), .help = "mean m_" #axis, ERGO_COLUMN(column), \
     .slow = slow_direction}

#define VORTICES                                                                                   \
    LATTICE_VORTICES(VECTOR_VORTICES, has_vortices),                                               \
    {ERGO_NAMED("chirality", ""),                                                                  \
     .help = "mean |kappa|, kappa the sum of sin(a_j - a_i) around triangles that point up less "  \
             "those that point down, over 3 sqrt 3 N: 1 where the three sublattices are at 120 "   \
             "degrees; triangular lattice",                                                        \
     ERGO_COLUMN(VECTOR_CHIRALITY), .absolute = true, .applies = has_chirality}
/* clang-format on */

static const struct ergo_observable xy_observables[] = {
    LATTICE_ENERGY, LATTICE_VECTOR_ORDER, LATTICE_HELICITY_PLANE(has_helicity),
    VORTICES,       OBSERVABLES_COMMON,
};

static const struct ergo_observable clock_observables[] = {
    LATTICE_ENERGY,
    LATTICE_VECTOR_ORDER,
    VORTICES,
    OBSERVABLES_COMMON,
};

static const struct ergo_observable heisenberg_observables[] = {
    LATTICE_ENERGY,
    LATTICE_VECTOR_ORDER,
    LATTICE_HELICITY_SPACE(has_helicity),
    OBSERVABLES_COMMON,
    COMPONENT(z, VECTOR_Z),
    {ERGO_NAMED("z2", "per site"), .help = "mean s_z^2", ERGO_COLUMN(VECTOR_Z2)},
};

enum { ALL_CURVES = VECTOR_CURVES + 4 + ERGO_N_LADDER_CURVES };
static const struct ergo_curve_info curves[ALL_CURVES] = {
    {"structure_factor", "number of the wave vector", "",
     "per site, S(k) = |sum s exp(i k r)|^2 / N, r in lattice coordinates: number 0 at k = 0, "
     "where "
     "it is N <m^2>; from 1 on at 2 pi / L along x, y, z, as many as there are; then at "
     "/run/wave_vectors in their order"},
    {"ladder_order_parameter", "temperature", "per site", "mean |m| at each temperature"},
    {"ladder_susceptibility", "temperature", "per site", "as the observable"},
    {"ladder_binder", "temperature", "", "as the observable"},
    {"ladder_helicity_modulus", "temperature", "J", "as the observable"},
    ERGO_LADDER_CURVES,
};

static size_t curve_size(const struct ergo_point *point, size_t c) {
    size_t size;
    return ergo_tempered_curve_size(point, c, &size) ? size : structure_size(point);
}

static void curve_x(const struct ergo_point *point, size_t c, double *x) {
    if (!ergo_tempered_curve_x(point, c, x))
        for (size_t i = 0; i < curve_size(point, c); i++)
            x[i] = (double)i;
}

/* ---- weights --------------------------------------------------------------------------------- */

static double anisotropy_in_energy(const struct ergo_point *point) {
    return -of_vector(point)->anisotropy;
}

static double random_in_energy(const struct ergo_point *point) {
    return of_lattice(point)->random_field.present ? -of_lattice(point)->random_field.real
                                                   : -(double)of_lattice(point)->field_file.present;
}

static const struct ergo_conjugate plane_conjugates[] = {
    {VECTOR_ENERGY, .coefficient = lattice_weight_of_energy, .keys = {"/system/temperature"}},
    {VECTOR_X, .in_energy = lattice_field_in_energy, .keys = {"/system/field"}},
    {VECTOR_RANDOM_ALIGNMENT, .in_energy = random_in_energy, .keys = {"/system/random_field"}},
};
static const struct ergo_conjugate space_conjugates[] = {
    {VECTOR_ENERGY, .coefficient = lattice_weight_of_energy, .keys = {"/system/temperature"}},
    {VECTOR_Z, .in_energy = lattice_field_in_energy, .keys = {"/system/field"}},
    {VECTOR_RANDOM_ALIGNMENT, .in_energy = random_in_energy, .keys = {"/system/random_field"}},
    {VECTOR_Z2, .in_energy = anisotropy_in_energy, .keys = {"/system/anisotropy"}},
};

/* ---- the models ------------------------------------------------------------------------------ */

#define COUNT(rows) (sizeof(rows) / sizeof(rows)[0])

static const struct ergo_tunable tunables[] = {
    {ERGO_TUNABLE_GROUP},
    SLAB_TUNABLES,
    {ERGO_TUNABLE(lattice_parameters, tile_rows),
     "layers (rows, planes) whose spins a work-item updates one after the other", 0, 64, false},
    {ERGO_TUNABLE(vector_parameters, tile_sites),
     "most sites of a row that a work-item over-relaxes, 2 and 4 on cubic lattices "
     "whose half rows they divide, without random couplings and fields",
     0, 4, false},
};
/* all of them for heisenberg alone */
enum { PLANE_TUNABLES = 4 };

static const char *const first_plane[] = {"/system/size=[32, 32]",  "/system/temperature=0.9",
                                          "/run/equilibration=500", "/run/sweeps=20000",
                                          "/run/measure_every=10",  NULL};
static const char *const first_space[] = {"/system/size=[16, 16, 16]", "/system/temperature=1.443",
                                          "/run/equilibration=500",    "/run/sweeps=10000",
                                          "/run/measure_every=10",     NULL};

/* `rule`: have spins three components? */
static const bool plane = false, space = true;

#define MODEL_COMMON                                                                               \
    ERGO_TABLE(columns, columns), ERGO_TABLE(curves, curves),                                      \
        .x_from = ergo_tempered_x, .curves_at_end = ERGO_LADDER_AT_END(ALL_CURVES, VECTOR_CURVES), \
        .curves_hidden = ERGO_LADDER_HIDDEN(ALL_CURVES), .tunables = tunables,                     \
        .frame_suffix = "vti", .has_frames = model_has_frames, .check = vector_check,              \
        .form = vector_form, .has_column = vector_has_column, .curve_size = curve_size,            \
        .curve_x = curve_x, .curve_every = lattice_curve_every, .exact = vector_exact,             \
        .cuts = vector_pays_to_cut, .samples_disorder = model_samples_differ, .ops = &vector_ops,  \
        .cut = &vector_cut_ops

const struct ergo_model xy_model = {
    .name = "xy",
    .rule = &plane,
    .summary = "H = -J sum cos(a_i - a_j) - B sum cos(a_i) over nearest neighbours: spins in a "
               "plane, in one to three dimensions.",
    .first = first_plane,
    .parameters = sizeof(struct vector_parameters),
    .keys = {{first_keys, FIRST_KEYS},
             {disorder_keys, DISORDER_KEYS},
             {xy_keys, COUNT(xy_keys)},
             {slab_keys, SLAB_KEYS},
             {last_keys, LAST_KEYS},
             {ladder_keys, LADDER_KEYS}},
    ERGO_TABLE(observables, xy_observables),
    ERGO_TABLE(conjugates, plane_conjugates),
    .trajectory = "configurations as VTK image data, the angle of each site in 256 parts of a "
                  "turn, of lattices up to 2^22 sites",
    .programs = {"spin_lattice/vector.cl", "common/slab.cl", "common/ladder.cl"},
    .n_tunables = PLANE_TUNABLES,
    MODEL_COMMON,
};

const struct ergo_model clock_model = {
    .name = "clock",
    .rule = &plane,
    .summary = "H = -J sum cos(a_i - a_j) - B sum cos(a_i) over nearest neighbours: spins in one "
               "of q directions of a plane, a = 2 pi k / q, in one to three dimensions.",
    .first = first_plane,
    .parameters = sizeof(struct vector_parameters),
    .keys = {{first_keys, FIRST_KEYS},
             {disorder_keys, DISORDER_KEYS},
             {clock_keys, COUNT(clock_keys)},
             {slab_keys, SLAB_KEYS},
             {last_keys, LAST_KEYS},
             {ladder_keys, LADDER_KEYS}},
    ERGO_TABLE(observables, clock_observables),
    ERGO_TABLE(conjugates, plane_conjugates),
    .trajectory = "configurations as VTK image data, k of each site, of lattices up to 2^22 sites",
    .programs = {"spin_lattice/vector.cl", "common/slab.cl", "common/ladder.cl"},
    .n_tunables = PLANE_TUNABLES,
    MODEL_COMMON,
};

const struct ergo_model heisenberg_model = {
    .name = "heisenberg",
    .rule = &space,
    .summary = "H = -J sum s_i.s_j - B sum s_z - D sum s_z^2 over nearest neighbours: spins of "
               "three components and length 1, in one to three dimensions.",
    .first = first_space,
    .parameters = sizeof(struct vector_parameters),
    .keys = {{first_keys, FIRST_KEYS},
             {disorder_keys, DISORDER_KEYS},
             {heisenberg_keys, COUNT(heisenberg_keys)},
             {slab_keys, SLAB_KEYS},
             {last_keys, LAST_KEYS},
             {ladder_keys, LADDER_KEYS}},
    ERGO_TABLE(observables, heisenberg_observables),
    ERGO_TABLE(conjugates, space_conjugates),
    .trajectory = "configurations as VTK image data, s_z of each site in 256 steps from -1 to 1, "
                  "of lattices up to 2^22 sites",
    .programs = {"spin_lattice/vector.cl", "spin_lattice/vector_wide.cl", "common/slab.cl",
                 "common/ladder.cl"},
    .n_tunables = COUNT(tunables),
    MODEL_COMMON,
};
