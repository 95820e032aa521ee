/* Columns that are recorded of a chain, and the observables made from them. */
#include <math.h>

#include "samplers/lj_gcmc/lj.h"
#include "samplers/lj_gcmc/tables.h"

#define RECENTLY " in the last 1024 to 2047 moves (checkerboard: in the last activation)"
#define BACK                                                                                       \
    "; a sample is of the last 1024 to 2047 moves (checkerboard: of one activation), and tau is "  \
    "mostly theirs"

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
    {"insertion_weight", "", "mean of exp(-dU/T) over the test insertions"},
    {"volume", "length^3", "V"},
    {"volume_accepted", "", "1 if the last volume move was accepted"},
    {"volume_limited", "", "1 if the last volume move was refused by the limits of the box"},
    {"volume_step", "", "largest trial change of ln V"},
    {"insertion_probability", "", "probability with which the tried insertions would be accepted"},
    {"deletion_probability", "", "the same of deletions, of all particles"},
    {"particles_1", "", "of a mixture: particles of the first species"},
    {"particles_2", "", "of the second"},
    {"particles_3", "", "of the third"},
    {"particles_4", "", "of the fourth"},
    {"insertion_weight_1", "", "of a mixture: insertion_weight of the first species"},
    {"insertion_weight_2", "", "of the second"},
    {"insertion_weight_3", "", "of the third"},
    {"insertion_weight_4", "", "of the fourth"},
};

#define SAMPLE(name, expression)                                                                   \
    static double name(const struct ergo_point *point, const double *c) {                          \
        (void)point;                                                                               \
        return expression;                                                                         \
    }
SAMPLE(particles_energy, c[LJ_COLUMN_PARTICLES] * c[LJ_COLUMN_ENERGY])
SAMPLE(tried, c[LJ_COLUMN_TRIED] + c[LJ_COLUMN_TRIED + 1] + c[LJ_COLUMN_TRIED + 2])
SAMPLE(accepted, c[LJ_COLUMN_ACCEPTED] + c[LJ_COLUMN_ACCEPTED + 1] + c[LJ_COLUMN_ACCEPTED + 2])

static double volume_of(const struct ergo_point *point, const double *c) {
    return lj_volume_at(point, c);
}

/* V exp(-dU/T): of a fluid of N particles, (N + 1)/z is its mean. */
static double insertion_volume(const struct ergo_point *point, const double *c) {
    return c[LJ_COLUMN_GHOSTS] * volume_of(point, c);
}

/* A slit's volume is that between its walls. */
static double density(const struct ergo_point *point, const double *c) {
    double share = 1, box[3];
    if (lj_has_slit(point)) {
        lj_sides_of(point, box);
        share = of_lj(point)->slit_width.real / box[2];
    }
    return c[LJ_COLUMN_PARTICLES] / (share * volume_of(point, c));
}

static double adsorption(const struct ergo_point *point, const double *c) {
    double box[3];
    lj_sides_of(point, box);
    return c[LJ_COLUMN_PARTICLES] / (box[0] * box[1]);
}

static double excess_adsorption(const struct ergo_point *point, const double *c) {
    const struct ergo_value *width = &of_lj(point)->slit_excess_width;
    return adsorption(point, c) -
           of_lj(point)->slit_bulk_density.real *
               (width->present ? width->real : of_lj(point)->slit_width.real);
}

/* Of a mixture: particles of a species, per volume, and as a share of all. */
#define SPECIES_SAMPLES(k)                                                                         \
    static double density_##k(const struct ergo_point *point, const double *c) {                   \
        return c[LJ_COLUMN_SPECIES + (k)-1] / volume_of(point, c);                                 \
    }                                                                                              \
    static double insertion_volume_##k(const struct ergo_point *point, const double *c) {          \
        return c[LJ_COLUMN_GHOSTS_OF + (k)-1] * volume_of(point, c);                               \
    }                                                                                              \
    static bool has_##k(const struct ergo_point *point) {                                          \
        return lj_is_open(point) && lj_species_number(point) >= (k);                               \
    }                                                                                              \
    static bool inserts_##k(const struct ergo_point *point) {                                      \
        return lj_ghosts_of(point) > 0 && lj_species_number(point) >= (k);                         \
    }
SPECIES_SAMPLES(1)
SPECIES_SAMPLES(2)
SPECIES_SAMPLES(3)
SPECIES_SAMPLES(4)

/* ---- where they are ---------------------------------------------------------------------------
 */

static bool is_canonical(const struct ergo_point *point) {
    return !lj_is_open(point);
}

/* In a field N fluctuates as the field says; that of a mixture also with its composition, by what
 * its species' partial volumes differ (A. B. Bhatia, D. E. Thornton, Phys. Rev. B 2, 3004 (1970)).
 */
static bool has_compressibility(const struct ergo_point *point) {
    return lj_is_open(point) && !lj_has_field(point) && !lj_has_species(point);
}

static bool has_excess(const struct ergo_point *point) {
    return lj_has_slit(point) && of_lj(point)->slit_bulk_density.present;
}

static bool has_uniform_ghosts(const struct ergo_point *point) {
    return lj_ghosts_of(point) > 0 && !lj_has_field(point) && !lj_has_species(point);
}

static bool has_ghosts(const struct ergo_point *point) {
    return lj_ghosts_of(point) > 0 && !lj_has_species(point);
}

/* Is there a point with n particles in a field? All points have the same columns in tables; the
 * first and the last point differ in all that is scanned. */
static bool some_have(const struct ergo_point *point, int64_t n) {
    const struct ergo_job *job = point->job;
    const struct ergo_point *last = &job->points[job->n_points - 1];
    bool some = lj_has_field(point) && lj_has_fixed(point, n);
    if (lj_has_field(point) &&
        of_lj(&job->points[0])->particles.integer != of_lj(last)->particles.integer)
        for (size_t i = 0; i < job->n_points && !some; i++)
            some = !job->points[i].replica && lj_has_fixed(&job->points[i], n);
    return some;
}

static bool has_henry(const struct ergo_point *point) {
    return has_ghosts(point) && some_have(point, 0);
}

static bool has_first_heat(const struct ergo_point *point) {
    return some_have(point, 1);
}

/* If the cutoff lies within the core, too few pairs are near it to measure the jump. In a field it
 * is a tensor, which depends on the place. */
bool lj_has_pressure(const struct ergo_point *point) {
    const struct lj_system s = lj_system_of(point);
    if (s.field)
        return false;
    return s.shifted || s.epsilon == 0 || lj_jumps_beyond_sigma(&s);
}

static bool has_impulsive(const struct ergo_point *point) {
    const struct lj_system s = lj_system_of(point);
    return !s.shifted && !s.field && s.epsilon != 0 && lj_jumps_beyond_sigma(&s);
}

static bool has_tail(const struct ergo_point *point) {
    return lj_system_of(point).tail;
}

/* Beyond the cutoff a table has no potential. */
static bool has_corrected(const struct ergo_point *point) {
    return has_impulsive(point) && !lj_is_table(point);
}

bool lj_has_column(const struct ergo_point *point, size_t c) {
    switch (c) {
    case LJ_COLUMN_IMPULSIVE:
        return has_impulsive(point);
    case LJ_COLUMN_TRIED:
    case LJ_COLUMN_ACCEPTED:
        return lj_has_displacements(point);
    case LJ_COLUMN_TRIED + 1:
    case LJ_COLUMN_TRIED + 2:
    case LJ_COLUMN_ACCEPTED + 1:
    case LJ_COLUMN_ACCEPTED + 2:
        return lj_is_open(point);
    case LJ_COLUMN_GHOSTS:
        return has_ghosts(point);
    case LJ_COLUMN_RISES:
    case LJ_COLUMN_FALLS:
        return lj_is_matrix(point);
    case LJ_COLUMN_VOLUME:
    case LJ_COLUMN_VOLUME_ACCEPTED:
    case LJ_COLUMN_VOLUME_LIMITED:
        return lj_ensemble_of(point) == LJ_NPT;
    case LJ_COLUMN_VOLUME_STEP:
        return lj_ensemble_of(point) == LJ_NPT && ergo_isobaric_tuned(point);
    case LJ_COLUMN_GHOSTS_OF:
    case LJ_COLUMN_GHOSTS_OF + 1:
    case LJ_COLUMN_GHOSTS_OF + 2:
    case LJ_COLUMN_GHOSTS_OF + 3:
        return lj_ghosts_of(point) > 0 &&
               c < LJ_COLUMN_GHOSTS_OF + (size_t)lj_species_number(point);
    case LJ_COLUMN_SPECIES:
    case LJ_COLUMN_SPECIES + 1:
    case LJ_COLUMN_SPECIES + 2:
    case LJ_COLUMN_SPECIES + 3:
        return c < LJ_COLUMN_SPECIES + (size_t)lj_species_number(point);
    default:
        return true;
    }
}

static double weight_of_energy(const struct ergo_point *point) {
    return -1 / point->parameters->temperature;
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

const struct ergo_conjugate lj_conjugates_nvt[LJ_CONJUGATES_NVT] = {
    {LJ_COLUMN_ENERGY, .coefficient = weight_of_energy, .keys = {"/system/temperature"}},
};

static double weight_of_volume(const struct ergo_point *point) {
    return -of_particle(point)->pressure / point->parameters->temperature;
}

const struct ergo_conjugate lj_conjugates_npt[LJ_CONJUGATES_NPT] = {
    {LJ_COLUMN_ENERGY, .coefficient = weight_of_energy, .keys = {"/system/temperature"}},
    {LJ_COLUMN_VOLUME, .coefficient = weight_of_volume,
     .keys = {"/system/pressure", "/system/temperature"}},
};

/* Where there are no particles, none is moved. */
static double derive_acceptance(const struct ergo_point *point, const double *m) {
    return lj_has_fixed(point, 0) ? NAN : m[0] / m[1];
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
    return point->parameters->temperature - (m[2] - m[0] * m[1]) / (m[3] - m[0] * m[0]);
}

/* (<U^2> - <U>^2)/(N T^2) */
static double derive_capacity(const struct ergo_point *point, const double *m) {
    const double t = point->parameters->temperature;
    return (m[1] - m[0] * m[0]) / (m[2] * t * t);
}

/* T ln z, z = (N + 1)/<V exp(-dU/T)>: the free energy of one particle more than N. */
static double derive_chemical(const struct ergo_point *point, const double *m) {
    return point->parameters->temperature * log((m[1] + 1) / m[0]);
}

/* -T ln(<V exp(-dU/T)>/<V>) */
static double derive_excess(const struct ergo_point *point, const double *m) {
    return -point->parameters->temperature * log(m[0] / m[1]);
}

/* V <exp(-u/T)>/T: of an empty box, N/P at vanishing pressure P = z T. */
static double derive_henry(const struct ergo_point *point, const double *m) {
    return lj_has_fixed(point, 0) ? m[0] / point->parameters->temperature : NAN;
}

/* Of one particle there are no fluctuations of N, and (<N U> - <N><U>)/(<N^2> - <N>^2) at
 * vanishing loading is its <U>. */
static double derive_first_heat(const struct ergo_point *point, const double *m) {
    return lj_has_fixed(point, 1) ? point->parameters->temperature - m[0] : NAN;
}

/* (<V^2> - <V>^2)/(<V> T) */
static double derive_volume_compressibility(const struct ergo_point *point, const double *m) {
    return (m[1] - m[0] * m[0]) / (m[0] * point->parameters->temperature);
}

/* clang-format off */
#define ACCEPTANCE(kind, where)                                                                    \
    {ERGO_NAMED("acceptance_" #kind, ""), .help = "accepted " #kind "s per tried one" BACK,        \
     .inputs = {"accepted_" #kind, "tried_" #kind}, .derive = derive_acceptance,                   \
     .applies = (where)}
#define HIDDEN(name_, ...)                                                                         \
    {ERGO_NAMED(name_, ""), .help = "an input", __VA_ARGS__, .hidden = true, .of_moves = true}
#define TRIALS(kind, k)                                                                            \
    HIDDEN("tried_" kind, ERGO_COLUMN(LJ_COLUMN_TRIED + (k))),                                     \
    HIDDEN("accepted_" kind, ERGO_COLUMN(LJ_COLUMN_ACCEPTED + (k)))
#define TOTAL_ENERGY                                                                               \
    {ERGO_NAMED("total_energy", "energy"), .help = "<U>", ERGO_COLUMN(LJ_COLUMN_ENERGY)},          \
    {ERGO_NAMED("total_energy2", "energy^2"), .help = "<U^2>", ERGO_POWER(LJ_COLUMN_ENERGY, 2)}
/* clang-format on */

/* clang-format off */
#define ENERGY                                                                                     \
    {ERGO_NAMED("energy", "energy per particle"),                                                  \
     .help = "<U>/<N>, with the tail correction where the job asks for it",                        \
     .inputs = {"total_energy", "particles"}, .derive = ergo_mean_ratio}
#define PRESSURES                                                                                  \
    {ERGO_NAMED("pressure", "energy/length^3"),                                                    \
     .help = "pressure of the model that is simulated, -dF/dV at fixed N and r_c: <N> T/V, "       \
             "pressure_virial, pressure_impulsive unless shifted, pressure_tail with "             \
             "tail_correction; none with a cutoff below sigma, unless shifted",                    \
     .sample = lj_pressure_whole, .applies = lj_has_pressure, .recorded_at = "/system/temperature"},           \
    {ERGO_NAMED("pressure_virial", "energy/length^3"),                                             \
     .help = "of `pressure`: <W>/(3V), W = sum of r f over the pairs within the cutoff",           \
     .sample = lj_pressure_virial, .applies = lj_has_pressure},                                          \
    {ERGO_NAMED("pressure_impulsive", "energy/length^3"),                                          \
     .help = "of `pressure`: what the jump of the truncated potential at the cutoff adds, "        \
             "(2 pi/3) r_c^3 rho^2 g(r_c-) T (exp(u(r_c)/T) - 1), g(r_c-) from the pairs in two "  \
             "shells inside the cutoff",                                                           \
     .sample = lj_pressure_impulsive, .applies = has_impulsive, .recorded_at = "/system/temperature"},\
    {ERGO_NAMED("pressure_tail", "energy/length^3"),                                               \
     .help = "of `pressure`: -dU_tail/dV of the tail's energy U_tail = N rho (8 pi/3) (r_c^-9/3 - "\
             "r_c^-3) in reduced units, which is U_tail/V",                                        \
     .sample = lj_pressure_tail, .applies = has_tail},                                             \
    {ERGO_NAMED("pressure_corrected", "energy/length^3"),                                          \
     .help = "not of `pressure`, but in its place what NIST's tables of canonical Monte Carlo, "   \
             "GOMC and LAMMPS report: <N> T/V, pressure_virial, and the usual tail "               \
             "(16 pi/3) rho^2 (2/3 r_c^-9 - r_c^-3) in reduced units, with g(r) = 1 beyond the "   \
             "cutoff (of Mie: (2 pi/3) rho^2 times the integral of -r^3 du/dr from there on; of a "\
             "mixture for each pair), whether or not the job has tail_correction: an estimate for "\
             "the whole potential. Not if shifted, nor of a table",                                \
     .sample = lj_pressure_corrected, .applies = has_corrected,                                    \
     .recorded_at = "/system/temperature"}
#define CAPACITY                                                                                   \
    {ERGO_NAMED("heat_capacity", "k_B per particle"),                                              \
     .help = "excess heat capacity at constant volume, (<U^2> - <U>^2)/(N T^2), where N is fixed; "\
             "the ideal gas's 3/2 comes on top",                                                   \
     .inputs = {"total_energy", "total_energy2", "particles"}, .derive = derive_capacity,          \
     .applies = is_canonical}
#define CLOSED                                                                                     \
    {ERGO_NAMED("chemical_potential", "energy"),                                                   \
     .help = "mu - 3 T ln Lambda = T ln z, z the activity at which a particle more than N is as "  \
             "likely: T ln((N + 1)/<V exp(-dU/T)>), by test insertions",                           \
     .inputs = {"insertion_volume", "particles"}, .derive = derive_chemical,                       \
     .applies = has_ghosts},                                                                       \
    ACCEPTANCE(displacement, NULL),                                                                \
    TOTAL_ENERGY,                                                                                  \
    {ERGO_NAMED("particles", ""), .help = "an input", ERGO_COLUMN(LJ_COLUMN_PARTICLES),            \
     .hidden = true},                                                                              \
    {.name = "insertion_volume", .unit = "length^3", .help = "an input",                           \
     .sample = insertion_volume, .hidden = true, .applies = has_ghosts,                            \
     .recorded_at = "/system/temperature"},                                                        \
    TRIALS("displacement", 0)
/* clang-format on */

/* clang-format off */
#define OPEN                                                                                       \
    {ERGO_NAMED("particles", ""), .help = "mean number of particles <N>",                          \
     ERGO_COLUMN(LJ_COLUMN_PARTICLES),                                                             \
     .applies = lj_is_open},                                                                       \
    {ERGO_NAMED("density", "1/length^3"), .help = "rho = <N>/V", .sample = density},               \
    ENERGY,                                                                                        \
    PRESSURES,                                                                                     \
    CAPACITY,                                                                                      \
    {ERGO_NAMED("particles_variance", ""), .help = "<N^2> - <N>^2",                                \
     .inputs = {"particles", "particles2"}, .derive = ergo_mean_variance, .applies = lj_is_open},     \
    {ERGO_NAMED("compressibility", "length^3/energy"),                                             \
     .help = "isothermal compressibility V (<N^2> - <N>^2) / (<N>^2 T), of one species",           \
     .inputs = {"particles", "particles2"}, .derive = derive_compressibility,                      \
     .applies = has_compressibility},                                                              \
    {ERGO_NAMED("particles_energy_covariance", "energy"), .help = "<N U> - <N><U>",                \
     .inputs = {"particles", "total_energy", "particles_energy"}, .derive = derive_covariance,     \
     .applies = lj_is_open},                                                                       \
    {ERGO_NAMED("isosteric_heat", "energy"),                                                       \
     .help = "T - (<N U> - <N><U>) / (<N^2> - <N>^2), of an ideal reservoir",                      \
     .inputs = {"particles", "total_energy", "particles_energy", "particles2"},                    \
     .derive = derive_heat, .applies = lj_is_open},                                                \
    {ERGO_NAMED("acceptance", ""), .help = "accepted moves per tried one" BACK,                    \
     .inputs = {"accepted", "tried"}, .derive = ergo_mean_ratio},                                     \
    ACCEPTANCE(displacement, lj_has_displacements),                                                \
    ACCEPTANCE(insertion, lj_is_open),                                                             \
    ACCEPTANCE(deletion, lj_is_open),                                                              \
    {ERGO_NAMED("particles2", ""), .help = "<N^2>",                                                 \
     ERGO_POWER(LJ_COLUMN_PARTICLES, 2), .applies = lj_is_open},                                   \
    TOTAL_ENERGY,                                                                                  \
    {ERGO_NAMED("particles_energy", "energy"), .help = "<N U>", .sample = particles_energy,        \
     .applies = lj_is_open},                                                                       \
    HIDDEN("tried", .sample = tried), HIDDEN("accepted", .sample = accepted),                      \
    TRIALS("displacement", 0), TRIALS("insertion", 1), TRIALS("deletion", 2)
/* clang-format on */

const struct ergo_observable lj_observables[LJ_N_OBSERVABLES] = {OPEN};

/* clang-format off */
#define OF_SPECIES(k, which)                                                                       \
    {ERGO_NAMED("particles_" #k, ""),                                                              \
     .help = "of a mixture: mean number of particles of the " which " species of "                 \
             "/system/species/names",                                                              \
     ERGO_COLUMN(LJ_COLUMN_SPECIES + (k) - 1), .applies = has_##k},                                                 \
    {ERGO_NAMED("density_" #k, "1/length^3"), .help = "the same per volume",                       \
     .sample = density_##k, .applies = has_##k},                                                   \
    {ERGO_NAMED("fraction_" #k, ""), .help = "its mole fraction, particles_" #k "/particles",      \
     .inputs = {"particles_" #k, "particles"}, .derive = ergo_mean_ratio, .applies = has_##k}
/* clang-format on */

const struct ergo_observable lj_observables_muvt[LJ_N_OBSERVABLES_MUVT] = {
    OPEN,
    OF_SPECIES(1, "first"),
    OF_SPECIES(2, "second"),
    OF_SPECIES(3, "third"),
    OF_SPECIES(4, "fourth"),
    {ERGO_NAMED("adsorption", "1/length^2"), .help = "<N>/(Lx Ly), of a slit: both walls together",
     .sample = adsorption, .applies = lj_has_slit},
    {ERGO_NAMED("excess_adsorption", "1/length^2"),
     .help = "adsorption less what the bulk fluid would have between the walls, bulk_density times "
             "excess_width",
     .sample = excess_adsorption, .applies = has_excess, .of_moves = true},
    {ERGO_NAMED("insertion_probability", ""),
     .help = "probability with which an insertion into N particles would be accepted",
     ERGO_COLUMN(LJ_COLUMN_RISES), .applies = lj_is_matrix, .recorded_at = "/system/temperature"},
    {ERGO_NAMED("deletion_probability", ""),
     .help = "probability with which a deletion of one of N particles would be accepted",
     ERGO_COLUMN(LJ_COLUMN_FALLS), .applies = lj_is_matrix, .recorded_at = "/system/temperature"},
};

/* clang-format off */
#define INSERTED(k, which, volume)                                                                 \
    {ERGO_NAMED("excess_chemical_potential_" #k, "energy"),                                        \
     .help = "of a mixture: excess_chemical_potential of the " which " species of "                \
             "/system/species/names, by test insertions of its particles",                         \
     .inputs = {"insertion_volume_" #k, volume}, .derive = derive_excess,                          \
     .applies = inserts_##k},                                                                      \
    {ERGO_NAMED("chemical_potential_" #k, "energy"),                                               \
     .help = "mu - 3 T ln Lambda of that species: T ln z, z its activity, T ln((N_" #k             \
             " + 1)/<V exp(-dU/T)>)",                                                              \
     .inputs = {"insertion_volume_" #k, "particles_" #k}, .derive = derive_chemical,               \
     .applies = inserts_##k},                                                                      \
    {.name = "insertion_volume_" #k, .unit = "length^3", .help = "an input",                       \
     .sample = insertion_volume_##k, .hidden = true, .applies = inserts_##k,                       \
     .recorded_at = "/system/temperature"},                                                        \
    {.name = "particles_" #k, .unit = "", .help = "an input",                                      \
     ERGO_COLUMN(LJ_COLUMN_SPECIES + (k) - 1),                                                     \
     .hidden = true, .applies = inserts_##k}
#define INSERTIONS(volume)                                                                         \
    INSERTED(1, "first", volume), INSERTED(2, "second", volume), INSERTED(3, "third", volume),     \
    INSERTED(4, "fourth", volume)
/* clang-format on */

const struct ergo_observable lj_observables_nvt[LJ_N_OBSERVABLES_NVT] = {
    {ERGO_NAMED("density", "1/length^3"), .help = "rho = N/V", .sample = density},
    ENERGY,
    PRESSURES,
    CAPACITY,
    {ERGO_NAMED("excess_chemical_potential", "energy"),
     .help = "-T ln <exp(-dU/T)>, by test insertions; not in a slit or field",
     .inputs = {"insertion_volume", "box_volume"}, .derive = derive_excess,
     .applies = has_uniform_ghosts},
    {ERGO_NAMED("henry_constant", "length^3/energy"),
     .help = "Henry's constant K = V <exp(-u/T)>/T of a slit, field or frozen atoms without "
             "particles (particles 0), by test insertions: the box has K P particles in "
             "equilibrium with an ideal gas of low pressure P = z T",
     .inputs = {"insertion_volume"}, .derive = derive_henry, .applies = has_henry},
    {ERGO_NAMED("isosteric_heat", "energy"),
     .help = "isosteric heat at vanishing loading, T - <U> of one particle (particles 1) in a "
             "slit, field or among frozen atoms",
     .inputs = {"total_energy"}, .derive = derive_first_heat, .applies = has_first_heat},
    {ERGO_NAMED("box_volume", "length^3"), .help = "an input", .sample = volume_of, .hidden = true},
    CLOSED,
    INSERTIONS("box_volume"),
};

const struct ergo_observable lj_observables_npt[LJ_N_OBSERVABLES_NPT] = {
    {ERGO_NAMED("density", "1/length^3"), .help = "rho = <N/V>", .sample = density},
    {ERGO_NAMED("volume", "length^3"), .help = "<V>", ERGO_COLUMN(LJ_COLUMN_VOLUME)},
    ENERGY,
    PRESSURES,
    {ERGO_NAMED("compressibility", "length^3/energy"),
     .help = "isothermal compressibility (<V^2> - <V>^2)/(<V> T)", .inputs = {"volume", "volume2"},
     .derive = derive_volume_compressibility},
    {ERGO_NAMED("excess_chemical_potential", "energy"),
     .help = "-T ln(<V exp(-dU/T)>/<V>), by test insertions",
     .inputs = {"insertion_volume", "volume"}, .derive = derive_excess, .applies = has_ghosts},
    CLOSED,
    INSERTIONS("volume"),
    {ERGO_NAMED("volume2", "length^6"), .help = "<V^2>", ERGO_POWER(LJ_COLUMN_VOLUME, 2)},
    ERGO_ISOBARIC_OBSERVABLES(
        LJ_COLUMN_VOLUME_STEP, LJ_COLUMN_VOLUME_ACCEPTED, LJ_COLUMN_VOLUME_LIMITED,
        "a side would be below two cutoffs, or the box far from the start's", "box"),
};
