/*
 * Exact results for the two-dimensional Ising model, H = -J sum_<ij> s_i s_j - B sum_i s_i, k_B =
 * 1, on a periodic Lx x Ly lattice: energy per site u = U/N and heat capacity per site c = (<E^2> -
 * <E>^2) / (N T^2).
 *
 * Bonds: each site has one bond to its right and one to its lower neighbour, 2N in all, at every
 * size. With a side of 2 the two bonds of a pair are both there (the pair counts twice), with a
 * side of 1 the site is its own neighbour (a constant). Kaufman's formula means just that: it
 * agrees with the enumeration below at 2 x 2, 2 x n and 1 x n.
 */
#ifndef ERGO_SAMPLERS_SPIN_LATTICE_EXACT_H
#define ERGO_SAMPLERS_SPIN_LATTICE_EXACT_H

#include <stdbool.h>
#include <stdint.h>

struct ergo_ising_exact {
    double energy;        /* u, in the unit of J */
    double heat_capacity; /* c, in k_B */
};

/*
 * Any torus without a field (B. Kaufman, Phys. Rev. 76, 1232 (1949), in the form of A. E. Ferdinand
 * and M. E. Fisher, Phys. Rev. 185, 832 (1969)), with analytic derivatives, in cost
 * O(min(Lx, Ly)). J < 0 needs both sides even, where it equals J > 0. T > 0 and finite. With an
 * 80-bit long double both are right to the last digit or two (checked with 60 digits up to
 * 256 x 256, at Tc too); where u or c is very small there
 * remain absolute errors below 1e-17 (in J). False: no such lattice or argument; *out is NAN.
 */
bool ergo_ising_exact_torus(int64_t Lx, int64_t Ly, double T, double J,
                            struct ergo_ising_exact *out);

/* m = sum s / N. */
struct ergo_ising_moments {
    double energy, heat_capacity;
    double magnetization, abs_magnetization, magnetization2, magnetization4;
    double binder; /* U4 = 1 - <m^4> / (3 <m^2>^2) */
};

enum { ERGO_ISING_ENUMERATE_MAX = 24 };

/* The same, and the moments of m, in any field by enumeration of all 2^(Lx Ly) states, in integers
 * up to the last sum. Lx Ly <= ERGO_ISING_ENUMERATE_MAX (0.1 s there); false otherwise, *out NAN.
 */
bool ergo_ising_enumerate(int Lx, int Ly, double T, double J, double B,
                          struct ergo_ising_moments *out);

#endif
