/* Columns that are recorded of a chain, and the observables made from them. */
#include <math.h>

#include "samplers/lj_gcmc/lj.h"
#include "samplers/lj_gcmc/tables.h"

#define RECENTLY " in the last 1024 to 2047 moves (checkerboard: in the last activation)"

const struct ergo_column lj_columns[LJ_COLUMNS] = {
    {"particles", "", "N"},
    {"energy", "energy", "U, with the tail correction where the job asks for it"},
    {"virial", "energy", "W = sum of r f over the pairs within the cutoff"},
    {"impulsive", "energy",
     "W_imp: what the jump of the pair energy at the cutoff adds to W, from pairs just inside it"},
    {"tried_displacement", "", "displacements tried" RECENTLY},
    {"tried_insertion", "", "insertions tried" RECENTLY},
    {"tried_deletion", "", "deletions tried" RECENTLY},
    {"accepted_displacement", "", "displacements accepted" RECENTLY},
    {"accepted_insertion", "", "insertions accepted" RECENTLY},
    {"accepted_deletion", "", "deletions accepted" RECENTLY},
};

#define SAMPLE(name, expression)                                                                   \
    static double name(const struct ergo_point *point, const double *c) {                          \
        (void)point;                                                                               \
        return expression;                                                                         \
    }
SAMPLE(particles, c[LJ_COLUMN_PARTICLES])
SAMPLE(particles2, c[LJ_COLUMN_PARTICLES] * c[LJ_COLUMN_PARTICLES])
SAMPLE(total_energy, c[LJ_COLUMN_ENERGY])
SAMPLE(total_energy2, c[LJ_COLUMN_ENERGY] * c[LJ_COLUMN_ENERGY])
SAMPLE(particles_energy, c[LJ_COLUMN_PARTICLES] * c[LJ_COLUMN_ENERGY])
SAMPLE(tried, c[LJ_COLUMN_TRIED] + c[LJ_COLUMN_TRIED + 1] + c[LJ_COLUMN_TRIED + 2])
SAMPLE(accepted, c[LJ_COLUMN_ACCEPTED] + c[LJ_COLUMN_ACCEPTED + 1] + c[LJ_COLUMN_ACCEPTED + 2])
SAMPLE(tried_displacement, c[LJ_COLUMN_TRIED])
SAMPLE(tried_insertion, c[LJ_COLUMN_TRIED + 1])
SAMPLE(tried_deletion, c[LJ_COLUMN_TRIED + 2])
SAMPLE(accepted_displacement, c[LJ_COLUMN_ACCEPTED])
SAMPLE(accepted_insertion, c[LJ_COLUMN_ACCEPTED + 1])
SAMPLE(accepted_deletion, c[LJ_COLUMN_ACCEPTED + 2])

/* Looked up alone, because a run asks for every sample. */
static double volume_of(const struct ergo_point *point) {
    const double *box = ergo_point_value(point, "/system/box")->reals;
    return box[0] * box[1] * box[2];
}

static double density(const struct ergo_point *point, const double *c) {
    return c[LJ_COLUMN_PARTICLES] / volume_of(point);
}

/* P = -dF/dV at fixed N and r_c for the energy that is simulated, term by term. Averages over N
 * at fixed z give T d ln Xi/dV. */
static double pressure_virial(const struct ergo_point *point, const double *c) {
    return c[LJ_COLUMN_VIRIAL] / (3 * volume_of(point));
}

/* lj_jump_of (member.c) derives W_imp. */
static double pressure_impulsive(const struct ergo_point *point, const double *c) {
    return c[LJ_COLUMN_IMPULSIVE] / (3 * volume_of(point));
}

/* -dU_tail/dV with U_tail = a N^2/V, the energy in the acceptances: U_tail/V. The usual P_tail,
 * (16 pi/3) rho^2 (2/3 r_c^-9 - r_c^-3) in reduced units, is this term plus the impulsive term
 * with g(r_c) = 1, to first order in u(r_c)/T. Here the impulsive term is measured. */
static double pressure_tail(const struct ergo_point *point, const double *c) {
    if (!ergo_point_bool(point, "/system/tail_correction"))
        return 0;
    const struct lj_system s = lj_system_of(point);
    return lj_tail_energy(&s, c[LJ_COLUMN_PARTICLES]) / s.volume;
}

static double pressure(const struct ergo_point *point, const double *c) {
    const double v = volume_of(point);
    return c[LJ_COLUMN_PARTICLES] * ergo_point_real(point, "/system/temperature") / v +
           c[LJ_COLUMN_VIRIAL] / (3 * v) + c[LJ_COLUMN_IMPULSIVE] / (3 * v) +
           pressure_tail(point, c);
}

/* ---- where they are ---------------------------------------------------------------------------
 */

static bool is_canonical(const struct ergo_point *point) {
    return !lj_is_open(point);
}

static bool is_displaced(const struct ergo_point *point) {
    return ergo_point_real(point, "/system/moves/displacement") > 0;
}

/* If the cutoff lies within the core, too few pairs are near it to measure the jump. */
static bool has_pressure(const struct ergo_point *point) {
    const struct lj_system s = lj_system_of(point);
    return s.shifted || s.epsilon == 0 || s.cutoff >= s.sigma;
}

static bool has_impulsive(const struct ergo_point *point) {
    const struct lj_system s = lj_system_of(point);
    return !s.shifted && s.epsilon != 0 && s.cutoff >= s.sigma;
}

static bool has_tail(const struct ergo_point *point) {
    return lj_system_of(point).tail;
}

bool lj_has_column(const struct ergo_point *point, size_t c) {
    switch (c) {
    case LJ_COLUMN_IMPULSIVE:
        return has_impulsive(point);
    case LJ_COLUMN_TRIED:
    case LJ_COLUMN_ACCEPTED:
        return is_displaced(point);
    case LJ_COLUMN_TRIED + 1:
    case LJ_COLUMN_TRIED + 2:
    case LJ_COLUMN_ACCEPTED + 1:
    case LJ_COLUMN_ACCEPTED + 2:
        return lj_is_open(point);
    default:
        return true;
    }
}

static double weight_of_energy(const struct ergo_point *point) {
    return -1 / ergo_point_real(point, "/system/temperature");
}

/* ln z; positions of N particles weigh z^N exp(-U/T)/N!, and the factorial is of the configuration.
 */
static double weight_of_particle(const struct ergo_point *point) {
    return lj_is_open(point) ? log(lj_system_of(point).activity) : 0;
}

const struct ergo_conjugate lj_conjugates[LJ_CONJUGATES] = {
    {LJ_COLUMN_ENERGY, .coefficient = weight_of_energy, .keys = {"/system/temperature"}},
    {LJ_COLUMN_PARTICLES, .coefficient = weight_of_particle,
     .keys = {"/system/activity", "/system/beta_mu", "/system/mu", "/system/lambda"}},
};

static double derive_ratio(const struct ergo_point *point, const double *m) {
    (void)point;
    return m[0] / m[1];
}

static double derive_variance(const struct ergo_point *point, const double *m) {
    (void)point;
    return m[1] - m[0] * m[0];
}

/* V (<N^2> - <N>^2) / (<N>^2 T) */
static double derive_compressibility(const struct ergo_point *point, const double *m) {
    const struct lj_system s = lj_system_of(point);
    return s.volume * (m[1] - m[0] * m[0]) / (m[0] * m[0] * s.temperature);
}

static double derive_covariance(const struct ergo_point *point, const double *m) {
    (void)point;
    return m[2] - m[0] * m[1];
}

/* q = T - (<NU> - <N><U>) / (<N^2> - <N>^2) */
static double derive_heat(const struct ergo_point *point, const double *m) {
    return ergo_point_real(point, "/system/temperature") -
           (m[2] - m[0] * m[1]) / (m[3] - m[0] * m[0]);
}

/* (<U^2> - <U>^2)/(N T^2) */
static double derive_capacity(const struct ergo_point *point, const double *m) {
    const double t = ergo_point_real(point, "/system/temperature");
    return (m[1] - m[0] * m[0]) / (m[2] * t * t);
}

/* clang-format off: its versions 14 and 18 disagree about these braces */
#define ACCEPTANCE(kind, where)                                                                    \
    {                                                                                              \
        .name = "acceptance_" #kind, .unit = "", .help = "accepted " #kind "s per tried one",      \
        .inputs = {"accepted_" #kind, "tried_" #kind}, .derive = derive_ratio, .applies = (where)  \
    }
#define HIDDEN(observable)                                                                         \
    {                                                                                              \
        .name = #observable, .unit = "", .help = "an input", .sample = (observable),               \
        .hidden = true, .of_moves = true                                                           \
    }
/* clang-format on */

const struct ergo_observable lj_observables[LJ_N_OBSERVABLES] = {
    {ERGO_NAMED("particles", ""), .help = "mean number of particles <N>", .sample = particles,
     .applies = lj_is_open},
    {ERGO_NAMED("density", "1/length^3"), .help = "rho = <N>/V", .sample = density},
    {ERGO_NAMED("energy", "energy per particle"),
     .help = "<U>/<N>, with the tail correction where the job asks for it",
     .inputs = {"total_energy", "particles"}, .derive = derive_ratio},
    {ERGO_NAMED("pressure", "energy/length^3"),
     .help = "pressure of the model that is simulated, -dF/dV at fixed N and r_c: <N> T/V, "
             "pressure_virial, pressure_impulsive unless shifted, pressure_tail with "
             "tail_correction; none with a cutoff below sigma, unless shifted",
     .sample = pressure, .applies = has_pressure, .recorded_at = "/system/temperature"},
    {ERGO_NAMED("pressure_virial", "energy/length^3"),
     .help = "of `pressure`: <W>/(3V), W = sum of r f over the pairs within the cutoff",
     .sample = pressure_virial, .applies = has_pressure},
    {ERGO_NAMED("pressure_impulsive", "energy/length^3"),
     .help = "of `pressure`: what the jump of the truncated potential at the cutoff adds, "
             "(2 pi/3) r_c^3 rho^2 g(r_c-) T (exp(u(r_c)/T) - 1), g(r_c-) from the pairs in two "
             "shells inside the cutoff",
     .sample = pressure_impulsive, .applies = has_impulsive, .recorded_at = "/system/temperature"},
    {ERGO_NAMED("pressure_tail", "energy/length^3"),
     .help = "of `pressure`: -dU_tail/dV of the tail's energy U_tail = N rho (8 pi/3) (r_c^-9/3 - "
             "r_c^-3) in reduced units, which is U_tail/V",
     .sample = pressure_tail, .applies = has_tail},
    {ERGO_NAMED("heat_capacity", "k_B per particle"),
     .help = "excess heat capacity at constant volume, (<U^2> - <U>^2)/(N T^2), where N is fixed; "
             "the ideal gas's 3/2 comes on top",
     .inputs = {"total_energy", "total_energy2", "particles"}, .derive = derive_capacity,
     .applies = is_canonical},
    {ERGO_NAMED("particles_variance", ""), .help = "<N^2> - <N>^2",
     .inputs = {"particles", "particles2"}, .derive = derive_variance, .applies = lj_is_open},
    {ERGO_NAMED("compressibility", "length^3/energy"),
     .help = "isothermal compressibility V (<N^2> - <N>^2) / (<N>^2 T)",
     .inputs = {"particles", "particles2"}, .derive = derive_compressibility,
     .applies = lj_is_open},
    {ERGO_NAMED("particles_energy_covariance", "energy"), .help = "<N U> - <N><U>",
     .inputs = {"particles", "total_energy", "particles_energy"}, .derive = derive_covariance,
     .applies = lj_is_open},
    {ERGO_NAMED("isosteric_heat", "energy"),
     .help = "T - (<N U> - <N><U>) / (<N^2> - <N>^2), of an ideal reservoir",
     .inputs = {"particles", "total_energy", "particles_energy", "particles2"},
     .derive = derive_heat, .applies = lj_is_open},
    {ERGO_NAMED("acceptance", ""), .help = "accepted moves per tried one",
     .inputs = {"accepted", "tried"}, .derive = derive_ratio},
    ACCEPTANCE(displacement, is_displaced),
    ACCEPTANCE(insertion, lj_is_open),
    ACCEPTANCE(deletion, lj_is_open),
    {ERGO_NAMED("particles2", ""), .help = "<N^2>", .sample = particles2, .applies = lj_is_open},
    {ERGO_NAMED("total_energy", "energy"), .help = "<U>", .sample = total_energy},
    {ERGO_NAMED("total_energy2", "energy^2"), .help = "<U^2>", .sample = total_energy2},
    {ERGO_NAMED("particles_energy", "energy"), .help = "<N U>", .sample = particles_energy,
     .applies = lj_is_open},
    HIDDEN(tried),
    HIDDEN(accepted),
    HIDDEN(tried_displacement),
    HIDDEN(tried_insertion),
    HIDDEN(tried_deletion),
    HIDDEN(accepted_displacement),
    HIDDEN(accepted_insertion),
    HIDDEN(accepted_deletion),
};
