/* Rows that the models of averages over samples of a disorder share: spin_glass/ and dense/. The
 * curve `moments` begins with these numbers, of the coldest temperature. */
#ifndef ERGO_SAMPLERS_SPIN_LATTICE_OVERLAPS_H
#define ERGO_SAMPLERS_SPIN_LATTICE_OVERLAPS_H

#include "samplers/spin_lattice/models.h"

enum overlap_number {
    OVERLAP_E,
    OVERLAP_M,
    OVERLAP_M2,
    OVERLAP_ABS_Q,
    OVERLAP_Q2,
    OVERLAP_Q4,
    OVERLAP_BINDER,
    OVERLAP_NUMBERS
};

/* Are there two copies? */
bool overlap_has_pairs(const struct ergo_point *point);
/* Why samples cannot be weighted for another point. */
const char *overlap_unweighted(const struct ergo_point *point);

/* clang-format off */
/* An average over the samples. */
#define OVERLAP_AVERAGE(name_, unit_, number, where, help_)                                        \
    {ERGO_NAMED(name_, unit_), .help = (help_), .curve = "moments", .element = (number),             \
     .independent = true, .more = "/system/samples", .applies = (where)}
/* energy: its unit; n: sites as texts call them; heat: the number of the heat capacity; of_q, of_q2:
 * what more is known. */
#define OVERLAP_OBSERVABLES(energy, n, heat, of_q, of_q2)                                          \
    OVERLAP_AVERAGE("energy", energy, OVERLAP_E, NULL,                                             \
                    "mean energy per site at the lowest temperature. Errors are those of averages "\
                    "over the disorder, from the spread of the samples (a single sample: its "     \
                    "thermal error)"),                                                             \
    OVERLAP_AVERAGE("magnetization", "per site", OVERLAP_M, NULL,                                  \
                    "mean m at the lowest temperature"),                                           \
    OVERLAP_AVERAGE("overlap_abs", "per site", OVERLAP_ABS_Q, overlap_has_pairs,                   \
                    "mean |q| of two copies at the lowest temperature" of_q),                      \
    OVERLAP_AVERAGE("overlap2", "per site^2", OVERLAP_Q2, overlap_has_pairs, "mean q^2" of_q2),    \
    OVERLAP_AVERAGE("overlap4", "per site^4", OVERLAP_Q4, overlap_has_pairs, "mean q^4"),          \
    {ERGO_NAMED("overlap_binder", ""),                                                             \
     .help = "(3 - [<q^4>] / [<q^2>]^2) / 2: curves of all sizes cross at the critical point",     \
     .curve = "moments", .element = OVERLAP_BINDER, .independent = true,                           \
     .more = "/system/samples", .applies = overlap_has_pairs, .crosses = true},                    \
    OVERLAP_AVERAGE("glass_heat_capacity", "k_B per site", heat, overlap_has_pairs,                \
                    n " [<e^2> - <e>^2] / T^2, <e>^2 from two copies"),                            \
    OVERLAP_AVERAGE("glass_magnetization2", "per site^2", OVERLAP_M2, NULL, "mean m^2"),           \
    ERGO_LADDER_MOVES("copy", model_has_ladder, .more = "/system/samples")

#define OVERLAP_LADDER_CURVES(energy, n)                                                           \
    {"ladder_energy", "temperature", energy,                                                       \
     "mean energy; errors of all ladder curves from the spread of samples"},                       \
    {"ladder_heat_capacity", "temperature", "k_B per site",                                        \
     n " [<e^2> - <e>^2] / T^2, <e>^2 from two copies"},                                           \
    {"ladder_overlap2", "temperature", "per site^2", "[<q^2>]"},                                   \
    {"ladder_binder", "temperature", "", "(3 - [<q^4>] / [<q^2>]^2) / 2"}
#define OVERLAP_DISTRIBUTION {"overlap", "q", "", "P(q) at the lowest temperature, a density"}
/* clang-format on */

#endif
