/* The Gibbs ensemble: columns of a sample of both boxes, and the observables made from them. */
#include <math.h>

#include "samplers/lj_gcmc/lj.h"
#include "samplers/lj_gcmc/tables.h"

#define RECENTLY " in the last 1024 to 2047 moves of each box"
#define PHASE(name)                                                                                \
    {"particles_" name, "", "N of the " name}, {"volume_" name, "length^3", "V of the " name},     \
        {"energy_" name, "energy", "U of the " name ", with the tail correction if any"},          \
        {"virial_" name, "energy",                                                                 \
         "W of the " name ": sum of r f over the pairs within the cutoff, and what the jump of "   \
         "the pair energy there adds"},                                                            \
    {                                                                                              \
        "insertion_" name, "length^3",                                                             \
            "V/(N + 1) times the mean of exp(-dU/T) over the test insertions, in the " name        \
    }

const struct ergo_column lj_gibbs_columns[LJ_GIBBS_COLUMNS] = {
    PHASE("liquid"),
    PHASE("vapour"),
    {"first_is_liquid", "", "1 if the first box is the denser one"},
    {"displaced", "", "share of the displacements that were accepted in the liquid" RECENTLY},
    {"tried_transfer", "", "transfers tried" RECENTLY},
    {"accepted_transfer", "", "transfers accepted" RECENTLY},
    {"volume_accepted", "", "1 if the last exchange of volume was accepted"},
    {"volume_limited", "", "1 if the last exchange of volume was refused by the limits of a box"},
    {"volume_step", "", "largest trial change of ln(V1/V2)"},
    {"particles_2_liquid", "", "of a mixture: particles of the second species, in the liquid"},
    {"particles_3_liquid", "", "of the third"},
    {"particles_2_vapour", "", "of the second, in the vapour"},
    {"particles_3_vapour", "", "of the third"},
    {"insertion_2_liquid", "length^3",
     "of a mixture: V/(N + 1) exp(-dU/T) of the second species, in the liquid; insertion_liquid is "
     "of the first"},
    {"insertion_3_liquid", "length^3", "of the third"},
    {"insertion_2_vapour", "length^3", "of the second, in the vapour"},
    {"insertion_3_vapour", "length^3", "of the third"},
};

bool lj_gibbs_has_column(const struct ergo_point *point, size_t c) {
    const bool ghosts = c == (size_t)LJ_GIBBS_LIQUID + LJ_PHASE_GHOSTS ||
                        c == (size_t)LJ_GIBBS_VAPOUR + LJ_PHASE_GHOSTS;
    if (c >= LJ_GIBBS_LIQUID_SPECIES)
        return lj_species_number(point) >=
                   2 + (c - LJ_GIBBS_LIQUID_SPECIES) % (LJ_GIBBS_SPECIES - 1) &&
               (c < LJ_GIBBS_LIQUID_GHOSTS || lj_ghosts_of(point) > 0);
    if (c == LJ_GIBBS_VOLUME_STEP)
        return ergo_isobaric_tuned(point);
    return !ghosts || lj_ghosts_of(point) > 0;
}

/* ---- a sample ---------------------------------------------------------------------------------
 */

static void phase_columns(const struct lj_state *s, size_t member, const struct lj_sample *from,
                          const int64_t *ghosts, double *to) {
    const struct lj_physics *physics = &s->physics[member];
    struct lj_system at = physics->system;
    at.volume = lj_volume_of(&at, from->size);
    to[LJ_PHASE_PARTICLES] = from->particles;
    to[LJ_PHASE_VOLUME] = at.volume;
    to[LJ_PHASE_ENERGY] = lj_energy_of(&at, from->energy) + lj_tail_energy(&at, from->particles);
    to[LJ_PHASE_VIRIAL] = lj_virial_of(&at, from->virial) +
                          (at.species.n ? lj_virial_of(&at, from->contacts)
                                        : lj_impulsive_of(&physics->jump, from->contacts));
    const uint32_t n = at.species.n ? from->numbers[0] : from->particles;
    to[LJ_PHASE_GHOSTS] = ghosts ? lj_ghosts_mean(s, ghosts) * at.volume / (n + 1.0) : 0;
}

/* The same of the other species of a mixture, and their particles. */
static void species_columns(const struct lj_state *s, const struct lj_sample *from,
                            const int64_t *ghosts, double volume, double *particles,
                            double *inserted) {
    for (size_t k = 1; k < LJ_GIBBS_SPECIES; k++) {
        particles[k - 1] = from->numbers[k];
        inserted[k - 1] = ghosts ? lj_ghosts_mean(s, ghosts + k * LJ_GHOST_WORDS) * volume /
                                       (from->numbers[k] + 1.0)
                                 : 0;
    }
}

void lj_gibbs_columns_of(const struct lj_state *s, size_t member, const struct lj_sample *from,
                         const int64_t *ghosts, uint64_t step, double *to) {
    double phases[2][LJ_PHASE_COLUMNS];
    for (size_t b = 0; b < 2; b++)
        phase_columns(s, member, &from[b], ghosts ? ghosts + b * LJ_GHOST_SUMS : NULL, phases[b]);
    /* boxes of one density: the first counts as liquid */
    const size_t liquid = phases[1][LJ_PHASE_PARTICLES] * phases[0][LJ_PHASE_VOLUME] >
                          phases[0][LJ_PHASE_PARTICLES] * phases[1][LJ_PHASE_VOLUME];
    for (size_t k = 0; k < LJ_PHASE_COLUMNS; k++) {
        to[LJ_GIBBS_LIQUID + k] = phases[liquid][k];
        to[LJ_GIBBS_VAPOUR + k] = phases[1 - liquid][k];
    }
    const bool last = step >= LJ_WINDOW;
    const struct lj_counts *const now = &from[liquid].now, *const before = &from[liquid].last;
    const double moves = (double)(step % LJ_WINDOW) + (last ? LJ_WINDOW : 0);
    to[LJ_GIBBS_FIRST] = liquid == 0;
    to[LJ_GIBBS_DISPLACED] =
        moves > 0 ? ((now->accepted & 0xffff) + (last ? before->accepted & 0xffff : 0)) / moves : 0;
    to[LJ_GIBBS_TRIED] = to[LJ_GIBBS_ACCEPTED] = 0;
    for (size_t b = 0; b < 2; b++) {
        to[LJ_GIBBS_TRIED] += (from[b].now.tried >> 16) + (last ? from[b].last.tried >> 16 : 0);
        to[LJ_GIBBS_ACCEPTED] +=
            (from[b].now.accepted >> 16) + (last ? from[b].last.accepted >> 16 : 0);
    }
    to[LJ_GIBBS_VOLUME_ACCEPTED] = from->moved & 1;
    to[LJ_GIBBS_VOLUME_LIMITED] = from->moved >> 1 & 1;
    to[LJ_GIBBS_VOLUME_STEP] = (double)lj_volume_step(&s->rules[2 * member], from->moved) * 0x1p-36;
    species_columns(s, &from[liquid], ghosts ? ghosts + liquid * LJ_GHOST_SUMS : NULL,
                    phases[liquid][LJ_PHASE_VOLUME], to + LJ_GIBBS_LIQUID_SPECIES,
                    to + LJ_GIBBS_LIQUID_GHOSTS);
    species_columns(s, &from[1 - liquid], ghosts ? ghosts + (1 - liquid) * LJ_GHOST_SUMS : NULL,
                    phases[1 - liquid][LJ_PHASE_VOLUME], to + LJ_GIBBS_VAPOUR_SPECIES,
                    to + LJ_GIBBS_VAPOUR_GHOSTS);
}

/* ---- observables ------------------------------------------------------------------------------
 */

#define SAMPLE(name, expression)                                                                   \
    static double name(const struct ergo_point *point, const double *c) {                          \
        (void)point;                                                                               \
        return expression;                                                                         \
    }
#define AT(phase) c[LJ_GIBBS_##phase + LJ_PHASE_PARTICLES] / c[LJ_GIBBS_##phase + LJ_PHASE_VOLUME]
SAMPLE(density_liquid, AT(LIQUID))
SAMPLE(density_vapour, AT(VAPOUR))

/* Of a mixture: particles of the first species. */
#define FIRST(phase)                                                                               \
    c[LJ_GIBBS_##phase + LJ_PHASE_PARTICLES] - c[LJ_GIBBS_##phase##_SPECIES] -                     \
        c[LJ_GIBBS_##phase##_SPECIES + 1]
SAMPLE(first_liquid, FIRST(LIQUID))
SAMPLE(first_vapour, FIRST(VAPOUR))
_Static_assert(LJ_GIBBS_SPECIES == 3, "of which two have columns");

#define SPECIES(k)                                                                                 \
    static bool has_##k(const struct ergo_point *point) {                                          \
        return lj_species_number(point) >= (k);                                                    \
    }                                                                                              \
    static bool inserts_##k(const struct ergo_point *point) {                                      \
        return lj_ghosts_of(point) > 0 && has_##k(point);                                          \
    }
SPECIES(1)
SPECIES(2)
SPECIES(3)

/* -dF/dV of a box, as `pressure` of the other ensembles (observables.c). */
static double pressure_of(const struct ergo_point *point, const double *c) {
    const double v = c[LJ_PHASE_VOLUME];
    double tail = 0;
    if (of_lj(point)->tail_correction) {
        struct lj_system s = lj_system_of(point);
        s.volume = v;
        tail = lj_tail_energy(&s, c[LJ_PHASE_PARTICLES]) / v;
    }
    return c[LJ_PHASE_PARTICLES] * point->parameters->temperature / v +
           c[LJ_PHASE_VIRIAL] / (3 * v) + tail;
}
SAMPLE(pressure_liquid, pressure_of(point, c + LJ_GIBBS_LIQUID))
SAMPLE(pressure_vapour, pressure_of(point, c + LJ_GIBBS_VAPOUR))

static double derive_chemical(const struct ergo_point *point, const double *m) {
    return -point->parameters->temperature * log(m[0]);
}

static bool has_ghosts(const struct ergo_point *point) {
    return lj_ghosts_of(point) > 0;
}

static bool is_pure(const struct ergo_point *point) {
    return has_ghosts(point) && !lj_has_species(point);
}

static const char *swaps(const struct ergo_point *point, double mean) {
    (void)point;
    return mean > 0.02 && mean < 0.98
               ? "the boxes changed roles: each was the denser one, which counts as liquid, at "
                 "some measurements. Once in a long run is no harm; where they do so often, near "
                 "the critical temperature, their densities overlap, and those told are too far "
                 "apart: take more particles, or a transition matrix"
               : NULL;
}

static const char *limits(const struct ergo_point *point, double mean) {
    (void)point;
    return mean > 0 ? "exchanges of volume were refused because a side would be below two cutoffs "
                      "or half of the smaller box's at the start: the volumes are those between "
                      "these limits. Take more particles, or starts nearer to what comes out"
                    : NULL;
}

/* clang-format off */
#define CHEMICAL(name_, of, input, where)                                                          \
    {ERGO_NAMED(name_, "energy"),                                                                  \
     .help = "mu - 3 T ln Lambda of " of ": -T ln <V/(N + 1) exp(-dU/T)>, by test "                \
             "insertions (B. Smit, D. Frenkel, Mol. Phys. 68, 951 (1989)); both boxes have the "   \
             "same, within errors",                                                                \
     .inputs = {input}, .derive = derive_chemical, .applies = (where)}
#define INSERTED(k, which, phase, input)                                                           \
    CHEMICAL("chemical_potential_" #k "_" #phase,                                                  \
             "the " which " species of a mixture in the " #phase, input, inserts_##k)
#define INSERTIONS(k, which)                                                                       \
    INSERTED(k, which, vapour, "insertion_" #k "_vapour"),                                         \
    INSERTED(k, which, liquid, "insertion_" #k "_liquid")
#define INPUT(name_, column, where)                                                                \
    {ERGO_NAMED(name_, "length^3"), .help = "an input", ERGO_COLUMN(column), .hidden = true,       \
     .applies = (where)}
#define FRACTION(k, which, phase, ...)                                                             \
    {ERGO_NAMED("fraction_" #k "_" phase, ""),                                                     \
     .help = "of a mixture: mole fraction of the " which " species in the " phase,                 \
     .inputs = {"particles_" #k "_" phase, "particles_" phase}, .derive = ergo_mean_ratio,         \
     .applies = has_##k},                                                                          \
    {ERGO_NAMED("particles_" #k "_" phase, ""), .help = "an input", __VA_ARGS__, .hidden = true,   \
     .applies = has_##k}
#define FRACTIONS(k, which)                                                                        \
    FRACTION(k, which, "liquid", ERGO_COLUMN(LJ_GIBBS_LIQUID_SPECIES + (k) - 2)),                  \
    FRACTION(k, which, "vapour", ERGO_COLUMN(LJ_GIBBS_VAPOUR_SPECIES + (k) - 2))
#define BOTH(name_, unit_, what, column)                                                           \
    {ERGO_NAMED(name_ "_liquid", unit_), .help = what " of the liquid",                            \
     ERGO_COLUMN(LJ_GIBBS_LIQUID + (column))},                                                     \
    {ERGO_NAMED(name_ "_vapour", unit_), .help = what " of the vapour",                            \
     ERGO_COLUMN(LJ_GIBBS_VAPOUR + (column))}
#define ENERGY(phase)                                                                              \
    {ERGO_NAMED("energy_" phase, "energy per particle"),                                           \
     .help = "<U>/<N> of the " phase ", with the tail correction if any",                          \
     .inputs = {"total_energy_" phase, "particles_" phase}, .derive = ergo_mean_ratio}
#define MOVES(name_, help_, ...)                                                                   \
    {ERGO_NAMED(name_, ""), .help = (help_), .of_moves = true, __VA_ARGS__}

const struct ergo_observable lj_observables_gibbs[LJ_N_OBSERVABLES_GIBBS] = {
    {ERGO_NAMED("density_liquid", "1/length^3"),
     .help = "<N/V> of the liquid, which is the denser box of each measurement",
     .sample = density_liquid},
    {ERGO_NAMED("density_vapour", "1/length^3"), .help = "<N/V> of the other box",
     .sample = density_vapour},
    {ERGO_NAMED("pressure", "energy/length^3"),
     .help = "saturation pressure: that of the vapour, whose fluctuations are small. -dF/dV at "
             "fixed N and r_c, with the force of the jump at the cutoff unless shifted, and with "
             "the tail's with tail_correction (as in other ensembles)",
     .sample = pressure_vapour, .applies = lj_has_pressure},
    {ERGO_NAMED("pressure_liquid", "energy/length^3"),
     .help = "the same of the liquid; both are equal, within errors",
     .sample = pressure_liquid, .applies = lj_has_pressure},
    CHEMICAL("chemical_potential", "the vapour", "insertion_vapour", is_pure),
    CHEMICAL("chemical_potential_liquid", "the liquid", "insertion_liquid", is_pure),
    ENERGY("liquid"), ENERGY("vapour"),
    BOTH("particles", "", "<N>", LJ_PHASE_PARTICLES), BOTH("volume", "length^3", "<V>", LJ_PHASE_VOLUME),
    BOTH("total_energy", "energy", "<U>", LJ_PHASE_ENERGY),
    MOVES("acceptance_displacement", "accepted share of displacements in the liquid",
          ERGO_COLUMN(LJ_GIBBS_DISPLACED)),
    {ERGO_NAMED("acceptance_transfer", ""), .help = "accepted transfers per tried one",
     .inputs = {"accepted_transfer", "tried_transfer"}, .derive = ergo_mean_ratio},
    MOVES("volume_acceptance", "accepted share of exchanges of volume",
          ERGO_COLUMN(LJ_GIBBS_VOLUME_ACCEPTED)),
    MOVES("volume_limited",
          "share of exchanges of volume refused because a side would be below two cutoffs, or "
          "below half of the smaller box's at the start",
          ERGO_COLUMN(LJ_GIBBS_VOLUME_LIMITED), .alarm = limits),
    MOVES("volume_step", "largest trial change of ln(V1/V2), as it was tuned",
          ERGO_COLUMN(LJ_GIBBS_VOLUME_STEP), .applies = ergo_isobaric_tuned),
    {ERGO_NAMED("first_is_liquid", ""), .help = "for a warning", ERGO_COLUMN(LJ_GIBBS_FIRST),
     .hidden = true, .alarm = swaps},
    INPUT("insertion_liquid", LJ_GIBBS_LIQUID + LJ_PHASE_GHOSTS, has_ghosts),
    INPUT("insertion_vapour", LJ_GIBBS_VAPOUR + LJ_PHASE_GHOSTS, has_ghosts),
    MOVES("tried_transfer", "an input", ERGO_COLUMN(LJ_GIBBS_TRIED), .hidden = true),
    MOVES("accepted_transfer", "an input", ERGO_COLUMN(LJ_GIBBS_ACCEPTED), .hidden = true),
    FRACTION(1, "first", "liquid", .sample = first_liquid),
    FRACTION(1, "first", "vapour", .sample = first_vapour),
    FRACTIONS(2, "second"), FRACTIONS(3, "third"),
    INSERTED(1, "first", vapour, "insertion_vapour"),
    INSERTED(1, "first", liquid, "insertion_liquid"),
    INSERTIONS(2, "second"), INSERTIONS(3, "third"),
    INPUT("insertion_2_liquid", LJ_GIBBS_LIQUID_GHOSTS, inserts_2),
    INPUT("insertion_2_vapour", LJ_GIBBS_VAPOUR_GHOSTS, inserts_2),
    INPUT("insertion_3_liquid", LJ_GIBBS_LIQUID_GHOSTS + 1, inserts_3),
    INPUT("insertion_3_vapour", LJ_GIBBS_VAPOUR_GHOSTS + 1, inserts_3),
};
/* clang-format on */
