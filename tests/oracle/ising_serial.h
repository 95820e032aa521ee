/*
 * The serial oracle of the 2D Ising model: checkerboard Metropolis (N. Metropolis et al., J. Chem.
 * Phys. 21, 1087 (1953)) or heat bath (R. J. Glauber, J. Math. Phys. 4, 294 (1963)) on a periodic
 * Lx x Ly lattice, H = -J sum_<ij> s_i s_j - B sum_i s_i, k_B = 1. One int8 a spin, no bit tricks.
 *
 * A sweep updates all sites of colour (x + y) & 1 = 0, then all of colour 1.
 *
 * Random numbers come in one of two ways. With a counter-based `block` function the chain is
 * ergocl's own, bit for bit:
 *
 *   Row y of colour c has h = Lx/2 sites, k = 0..h-1 at x = 2k + ((y + c) & 1), in W = ceil(h/32)
 *   words; site k is bit k % 32 of word i = y W + k/32. Block b = i/4 and lane l = i % 4.
 *   Counter (b, t low, t high, purpose << 24 | draw), key (stream low, stream high); purpose 1 for
 *   colour 0, 2 for colour 1, 3 for the initial state (there t = 0 and the draw is the colour).
 *   The site flips iff the 39-bit number r_0 .. r_6 u is below round(p 2^39); r_j is its bit in
 *   word l of draw j. u is needed only where r_0 .. r_6 equal the upper seven bits of the
 *   threshold: these sites of a block, counted in order of (lane, bit), take word n % 4 of draw
 *   7 + n/4, the n-th one from 0. Where p = 1 nothing is compared.
 *   p is computed in double: dE = 2 s (J nn + B), nn the sum of the four neighbours;
 *   Metropolis p = exp(-dE/T), 1 for dE <= 0; heat bath p = 1 / (1 + exp(dE/T)).
 *
 * Without one (block == NULL) every site compares a 53-bit uniform number of a sequential
 * generator (SplitMix64) with p: a statistical reference that shares none of the above.
 */
#ifndef ERGO_ORACLE_ISING_SERIAL_H
#define ERGO_ORACLE_ISING_SERIAL_H

#include <stdbool.h>
#include <stdint.h>

typedef void (*ergo_oracle_block)(const uint32_t counter[4], const uint32_t key[2],
                                  uint32_t out[4]);

enum ergo_oracle_start { ERGO_ORACLE_UP, ERGO_ORACLE_DOWN, ERGO_ORACLE_RANDOM };
enum ergo_oracle_dynamics { ERGO_ORACLE_METROPOLIS, ERGO_ORACLE_HEAT_BATH };

struct ergo_oracle_ising {
    int Lx, Ly;
    double J, B, T;
    enum ergo_oracle_dynamics dynamics;
    ergo_oracle_block block;
    uint32_t key[2];
    uint64_t sequential; /* state of SplitMix64 */
    int8_t *spins;       /* [Ly][Lx], +1 or -1 */
};

/* Lx and Ly even, >= 2; T > 0. stream: key of the counters, or seed of SplitMix64. False: wrong
 * arguments or out of memory. */
bool ergo_oracle_ising_init(struct ergo_oracle_ising *ising, int Lx, int Ly, double J, double B,
                            double T, enum ergo_oracle_dynamics dynamics,
                            enum ergo_oracle_start start, ergo_oracle_block block, uint64_t stream);
void ergo_oracle_ising_free(struct ergo_oracle_ising *ising);
/* Sweep number t; the first is 0. */
void ergo_oracle_ising_sweep(struct ergo_oracle_ising *ising, uint64_t t);
int ergo_oracle_ising_spin(const struct ergo_oracle_ising *ising, int x, int y);
/* sum_i s_i. */
int64_t ergo_oracle_ising_magnetization(const struct ergo_oracle_ising *ising);
/* sum over all 2 Lx Ly bonds of s_i s_j (right and lower neighbour of each site). */
int64_t ergo_oracle_ising_bonds(const struct ergo_oracle_ising *ising);
/* U/N. */
double ergo_oracle_ising_energy(const struct ergo_oracle_ising *ising);
/* round(p 2^39) of a spin s with the sum nn over its neighbours; 2^39 means always. */
uint64_t ergo_oracle_ising_threshold(const struct ergo_oracle_ising *ising, int s, int nn);

#endif
