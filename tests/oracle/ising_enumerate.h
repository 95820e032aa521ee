/*
 * Every state of a small Ising lattice, summed by the definition: H = -J sum_<ij> s_i s_j - B sum_i
 * s_i, k_B = 1, periodic, each site with one bond to its right and one to its lower neighbour. A
 * state is a word, where site (x, y) is bit x + Lx y, and neighbours are rotated words. It shares
 * nothing with src/samplers/spin_lattice/exact.c.
 */
#ifndef ERGO_ORACLE_ISING_ENUMERATE_H
#define ERGO_ORACLE_ISING_ENUMERATE_H

#include <stdbool.h>
#include <stdint.h>

enum { ERGO_ORACLE_SITES_MAX = 24, ERGO_ORACLE_REACH_MAX = 3 };

/* All states with one sum of bonds and one magnetization: their number, and the sums over them of
 * sum_i s_i s_(i + r along x or y). */
struct ergo_oracle_level {
    uint64_t states;
    int64_t pairs[2][ERGO_ORACLE_REACH_MAX + 1];
    uint64_t staggered[3]; /* sums of |M|, M^2, M^4, M = sum_i (-1)^(x + y) s_i */
};

struct ergo_oracle_levels {
    int Lx, Ly;
    struct ergo_oracle_level *levels; /* by bonds and up spins */
};

struct ergo_oracle_averages {
    double energy, heat_capacity; /* per site */
    double magnetization, abs_magnetization, magnetization2, magnetization4;
    double susceptibility; /* N (<m^2> - <|m|>^2) / T */
    double binder;
    double correlation[2][ERGO_ORACLE_REACH_MAX + 1]; /* <s(0) s(r)> along x, y */
    double staggered[3];                              /* <|m|>, <m^2>, <m^4> of m = M / N */
};

/* Sides from 2; Lx Ly <= ERGO_ORACLE_SITES_MAX. False: wrong arguments or out of memory. */
bool ergo_oracle_levels_init(struct ergo_oracle_levels *levels, int Lx, int Ly);
void ergo_oracle_levels_free(struct ergo_oracle_levels *levels);
struct ergo_oracle_averages ergo_oracle_average(const struct ergo_oracle_levels *levels, double T,
                                                double J, double B);

#endif
