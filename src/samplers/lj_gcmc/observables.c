/* What is recorded of a chain, and what is made of it. */
#include <math.h>

#include "samplers/lj_gcmc/lj.h"
#include "samplers/lj_gcmc/tables.h"

static const double PI = 3.14159265358979323846;

#define RECENTLY " in the last 1024 to 2047 moves (checkerboard: in the last activation)"

const struct ergo_column lj_columns[LJ_COLUMNS] = {
    {"particles", "", "N"},
    {"energy", "energy", "U, with the tail correction where the job asks for it"},
    {"virial", "energy", "W = sum of r f over the pairs within the cutoff"},
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
SAMPLE(density, c[LJ_COLUMN_PARTICLES] / lj_system_of(point).volume)

static double pressure(const struct ergo_point *point, const double *c) {
    const struct lj_system s = lj_system_of(point);
    return (c[LJ_COLUMN_PARTICLES] * s.temperature + c[LJ_COLUMN_VIRIAL] / 3) / s.volume;
}

/* P_tail = (16 pi/3) rho^2 (2/3 r_c^-9 - r_c^-3) in reduced units. */
static double pressure_tail(const struct ergo_point *point, const double *c) {
    const struct lj_system s = lj_system_of(point);
    const double rho = c[LJ_COLUMN_PARTICLES] / s.volume, r3 = pow(s.sigma / s.cutoff, 3);
    return 16 * PI / 3 * rho * rho * s.epsilon * pow(s.sigma, 3) * (2.0 / 3.0 * r3 * r3 * r3 - r3);
}

/*
 * A truncated potential jumps at the cutoff by u_c = u(r_c): a force at one distance that no virial
 * sum sees. With y = rho^2 g(r) exp(beta u), continuous there, it adds
 * (2 pi/3) r_c^3 y T (1 - exp(-beta u_c)) = (2 pi/3) r_c^3 rho^2 g(r_c^-) T (exp(beta u_c) - 1).
 * rho^2 g is taken from inside, extrapolated from the last two bins.
 */
static double pressure_impulsive(const struct ergo_point *point, const double *mean, size_t size) {
    const struct lj_system s = lj_system_of(point);
    const size_t edge = (size_t)ergo_point_int(point, "/run/gr_bins");
    if (s.shifted || edge > size)
        return 0;
    const double inside = 1.5 * mean[edge - 1] - 0.5 * mean[edge - 2];
    const double s6 = pow(s.sigma / s.cutoff, 6), u = 4 * s.epsilon * (s6 * s6 - s6);
    return 2 * PI / 3 * pow(s.cutoff, 3) * inside * s.temperature * expm1(u / s.temperature);
}

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

/* clang-format off: its versions 14 and 18 disagree about these braces */
#define ACCEPTANCE(kind)                                                                           \
    {                                                                                              \
        .name = "acceptance_" #kind, .unit = "", .help = "accepted " #kind "s per tried one",      \
        .inputs = {"accepted_" #kind, "tried_" #kind}, .derive = derive_ratio                      \
    }
#define HIDDEN(observable)                                                                         \
    { .name = #observable, .unit = "", .help = "an input", .sample = (observable), .hidden = true }
/* clang-format on */

const struct ergo_observable lj_observables[LJ_N_OBSERVABLES] = {
    {.name = "particles", .unit = "", .help = "mean number of particles <N>", .sample = particles},
    {.name = "density", .unit = "1/length^3", .help = "rho = <N>/V", .sample = density},
    {.name = "energy",
     .unit = "energy per particle",
     .help = "<U>/<N>, with the tail correction where the job asks for it",
     .inputs = {"total_energy", "particles"},
     .derive = derive_ratio},
    {.name = "pressure",
     .unit = "energy/length^3",
     .help = "virial pressure <N T + W/3>/V, without impulsive and tail terms",
     .sample = pressure},
    {.name = "pressure_impulsive",
     .unit = "energy/length^3",
     .help = "what the jump of the truncated potential at the cutoff adds to the pressure",
     .curve = "pair_density",
     .from_curve = pressure_impulsive},
    {.name = "pressure_tail",
     .unit = "energy/length^3",
     .help = "what a uniform fluid beyond the cutoff adds to the pressure; it replaces the "
             "impulsive term where the tail is part of the model",
     .sample = pressure_tail},
    {.name = "particles_variance",
     .unit = "",
     .help = "<N^2> - <N>^2",
     .inputs = {"particles", "particles2"},
     .derive = derive_variance},
    {.name = "compressibility",
     .unit = "length^3/energy",
     .help = "isothermal compressibility V (<N^2> - <N>^2) / (<N>^2 T)",
     .inputs = {"particles", "particles2"},
     .derive = derive_compressibility},
    {.name = "particles_energy_covariance",
     .unit = "energy",
     .help = "<N U> - <N><U>",
     .inputs = {"particles", "total_energy", "particles_energy"},
     .derive = derive_covariance},
    {.name = "isosteric_heat",
     .unit = "energy",
     .help = "T - (<N U> - <N><U>) / (<N^2> - <N>^2), of an ideal reservoir",
     .inputs = {"particles", "total_energy", "particles_energy", "particles2"},
     .derive = derive_heat},
    {.name = "acceptance",
     .unit = "",
     .help = "accepted moves per tried one",
     .inputs = {"accepted", "tried"},
     .derive = derive_ratio},
    ACCEPTANCE(displacement),
    ACCEPTANCE(insertion),
    ACCEPTANCE(deletion),
    {.name = "particles2", .unit = "", .help = "<N^2>", .sample = particles2},
    {.name = "total_energy", .unit = "energy", .help = "<U>", .sample = total_energy},
    {.name = "total_energy2", .unit = "energy^2", .help = "<U^2>", .sample = total_energy2},
    {.name = "particles_energy", .unit = "energy", .help = "<N U>", .sample = particles_energy},
    HIDDEN(tried),
    HIDDEN(accepted),
    HIDDEN(tried_displacement),
    HIDDEN(tried_insertion),
    HIDDEN(tried_deletion),
    HIDDEN(accepted_displacement),
    HIDDEN(accepted_insertion),
    HIDDEN(accepted_deletion),
};
