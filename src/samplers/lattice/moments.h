/*
 * Rows of observables and columns that models of spins share, each written once, and what they are
 * made of. A model names them and says what differs; where: .applies. Column 0 is the energy per
 * site; 1 is m, of unit vectors 1 to 3 are its components, and then the next ones of
 * enum lattice_vector_column. Tables have a size and a temperature.
 */
#ifndef ERGO_SAMPLERS_LATTICE_MOMENTS_H
#define ERGO_SAMPLERS_LATTICE_MOMENTS_H

#include "job/model.h"
#include "samplers/sampler.h"

enum lattice_vector_column {
    LATTICE_VECTOR_ENERGY,
    LATTICE_VECTOR_X,
    LATTICE_VECTOR_Y,
    LATTICE_VECTOR_Z,
    LATTICE_VECTOR_ALIGNMENT,
    LATTICE_VECTOR_CURRENT2,
    LATTICE_VECTOR_COLUMNS
};

/* Sites of a point's lattice. */
double lattice_sites(const struct ergo_point *point);
/* Rows of conjugates, and what they are made of: -N/T; -B. */
extern const struct ergo_conjugate lattice_conjugates[2];
double lattice_weight_of_energy(const struct ergo_point *point);
double lattice_field_in_energy(const struct ergo_point *point);
/* derive, of the means of x and x^2: N (<x^2> - <x>^2) / T^2, and by T; of m^2 and m^4. */
double lattice_heat_capacity(const struct ergo_point *point, const double *m);
double lattice_susceptibility(const struct ergo_point *point, const double *m);
/* N <m^2> / T: of an improved estimator, from which nothing is subtracted. */
double lattice_cluster_susceptibility(const struct ergo_point *point, const double *m);
double lattice_binder(const struct ergo_point *point, const double *m);
/* Of unit vectors. helicity: of alignment and current2, in a plane and in space. */
double lattice_vector_m(const struct ergo_point *point, const double *c);
double lattice_vector_m2(const struct ergo_point *point, const double *c);
double lattice_vector_m4(const struct ergo_point *point, const double *c);
double lattice_helicity_plane(const struct ergo_point *point, const double *m);
double lattice_helicity_space(const struct ergo_point *point, const double *m);
/* N current2, from currents of each axis of the twist along `directions` of bonds, in units of
 * 2^-30: currents[direction][each]. */
double lattice_current2(const int64_t *currents, uint32_t directions, uint32_t each,
                        bool triangular);

/* clang-format off */
#define LATTICE_ENERGY                                                                             \
    {ERGO_NAMED("energy", "J per site"), .help = "mean energy per site", ERGO_COLUMN(0)}
#define LATTICE_ENERGY2                                                                            \
    {ERGO_NAMED("energy2", "J^2 per site^2"), .help = "mean squared energy per site",              \
     ERGO_POWER(0, 2), .hidden = true}
#define LATTICE_HEAT_CAPACITY(where)                                                               \
    {ERGO_NAMED("heat_capacity", "k_B per site"), .help = "N (<e^2> - <e>^2) / T^2",               \
     .inputs = {"energy", "energy2"}, .derive = lattice_heat_capacity, .applies = (where)}
/* order: name of the mean |m|; m: of its powers, without the number. */
#define LATTICE_SUSCEPTIBILITY(order, m, where)                                                    \
    {ERGO_NAMED("susceptibility", "per site"),                                                     \
     .help = "N (<m^2> - <|m|>^2) / T, m as in " order ", the finite-lattice form. Where nothing " \
             "orders it is N <m^2> / T",                                                           \
     .inputs = {order, m "2"}, .derive = lattice_susceptibility, .applies = (where)}
#define LATTICE_BINDER(m, where, more)                                                             \
    {ERGO_NAMED("binder", ""), .help = "Binder's cumulant 1 - <m^4> / (3 <m^2>^2)" more,           \
     .inputs = {m "2", m "4"}, .derive = lattice_binder, .crosses = true, .applies = (where)}
#define LATTICE_MAGNETIZATION(slow_, where)                                                        \
    {ERGO_NAMED("magnetization", "per site"), .help = "mean m", ERGO_COLUMN(1), .slow = (slow_),   \
     .applies = (where)}
#define LATTICE_MOMENT(name_, k, unit_, where)                                                     \
    {ERGO_NAMED(name_, unit_), .help = "mean m^" #k, ERGO_POWER(1, k), .applies = (where)}
#define LATTICE_MOMENTS(m, where)                                                                  \
    LATTICE_MOMENT(m "2", 2, "per site^2", where), LATTICE_MOMENT(m "4", 4, "per site^4", where)
#define LATTICE_ORDER(name_, help_, where)                                                         \
    {ERGO_NAMED(name_, "per site"), .help = (help_), ERGO_COLUMN(1), .absolute = true,             \
     .applies = (where)}

#define POTTS_ORDER                                                                                \
    {ERGO_NAMED("order_parameter", ""),                                                            \
     .help = "mean m = (q max_k n_k / N - 1) / (q - 1), the majority's excess; |m| of Ising for q "\
             "= 2", ERGO_COLUMN(1)}
#define POTTS_ORDER_MOMENTS                                                                        \
    LATTICE_MOMENT("order_parameter2", 2, "", NULL), LATTICE_MOMENT("order_parameter4", 4, "", NULL)
#define POTTS_FIRST_STATE(column, where)                                                           \
    {ERGO_NAMED("first_state", "per site"),                                                        \
     .help = "with a field: the mean part of the sites in state 0, which /system/field prefers",   \
     ERGO_COLUMN(column), .applies = (where)},                                                     \
    {ERGO_NAMED("first_state_susceptibility", "per site"),                                         \
     .help = "with a field: N (<n_0^2> - <n_0>^2) / T, n_0 as in first_state: how it answers to "  \
             "/system/field (swendsen-wang's with hamiltonian ising by twice this)",               \
     .inputs = {"first_state", "first_state2"}, .derive = lattice_susceptibility,                  \
     .applies = (where)},                                                                          \
    {ERGO_NAMED("first_state2", "per site^2"), .help = "with a field: mean n_0^2",                 \
     ERGO_POWER(column, 2), .applies = (where), .hidden = true}

#define LATTICE_VECTOR_COLUMN_ROWS(energy)                                                         \
    {"energy", "per site, in units of J = 1", energy},                                             \
    {"magnetization_x", "per site", "sum s_x / N"},                                                \
    {"magnetization_y", "per site", "sum s_y / N"},                                                \
    {"magnetization_z", "per site", "sum s_z / N (heisenberg)"},                                   \
    {"alignment", "per site", "sum over bonds of s.s' / N, with random couplings J_ij s.s' / J"},  \
    {"current2", "per site",                                                                       \
     "|sum over bonds of e (s x s')|^2 / N, e the unit vector along the bond"}
#define LATTICE_VECTOR_ORDER                                                                       \
    {ERGO_NAMED("order_parameter", "per site"), .help = "mean |m|, m = sum s / N, a vector",       \
     .sample = lattice_vector_m}
#define LATTICE_VECTOR_RESPONSES(where)                                                            \
    LATTICE_HEAT_CAPACITY(where),                                                                  \
    LATTICE_SUSCEPTIBILITY("order_parameter", "order_parameter", where),                           \
    LATTICE_BINDER("order_parameter", NULL, "; without order it is 1/3 in a plane, 4/9 in space")
#define LATTICE_VECTOR_MOMENTS                                                                     \
    {ERGO_NAMED("alignment", "per site"),                                                          \
     .help = "mean of s.s' summed over bonds, per site; with random couplings of J_ij s.s' / J",   \
     ERGO_COLUMN(LATTICE_VECTOR_ALIGNMENT)},                                                       \
    {ERGO_NAMED("order_parameter2", "per site^2"), .help = "mean m^2",                             \
     .sample = lattice_vector_m2},                                                                 \
    {ERGO_NAMED("order_parameter4", "per site^4"), .help = "mean m^4",                             \
     .sample = lattice_vector_m4},                                                                 \
    {ERGO_NAMED("current2", "per site"),                                                           \
     .help = "mean of |sum over bonds of e (s x s')|^2 / N, e the unit vector along the bond",     \
     ERGO_COLUMN(LATTICE_VECTOR_CURRENT2), .hidden = true}
#define LATTICE_HELICITY(text, derive_, where)                                                     \
    {ERGO_NAMED("helicity_modulus", "J"),                                                          \
     .help = "resistance to a twist: " text " (Fisher, Barber, Jasnow, Phys. Rev. A 8, 1111 "      \
             "(1973); Teitel, Jayaprakash, Phys. Rev. B 27, 598 (1983)). Without a field; not on " \
             "honeycomb lattices",                                                                 \
     .inputs = {"alignment", "current2"}, .derive = (derive_), .applies = (where)}
#define LATTICE_HELICITY_PLANE(where)                                                              \
    LATTICE_HELICITY("(J <sum cos> - J^2 <|sum e sin|^2> / T) / (N d), sums over bonds of the "    \
                     "angle's difference along them, e their unit vectors: the mean over the "     \
                     "directions. At the Kosterlitz-Thouless transition it jumps from 2 T / pi "   \
                     "to 0", lattice_helicity_plane, where)
#define LATTICE_HELICITY_SPACE(where)                                                              \
    LATTICE_HELICITY("(2 J <sum s.s'> - J^2 <|sum e (s x s')|^2> / T) / (3 N d), sums over bonds, "\
                     "e their unit vectors: the mean over the directions and the axes of the "     \
                     "twist", lattice_helicity_space, where)
#define LATTICE_VORTICES(column, where)                                                            \
    {ERGO_NAMED("vortex_density", "per site"),                                                     \
     .help = "plaquettes around which the angle turns by +-2 pi, each step by the shorter way; "   \
             "square lattice",                                                                     \
     ERGO_COLUMN(column), .applies = (where)}
/* clang-format on */

#endif
