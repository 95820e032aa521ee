/*
 * The serial oracle of Swendsen and Wang's cluster updates (Phys. Rev. Lett. 58, 86 (1987)) of the
 * q-state Potts model, H = -J sum_<ij> (delta(s_i, s_j) - 1), k_B = 1, on a periodic Lx x Ly
 * lattice; steps as in Y. Komura and Y. Okabe, Comput. Phys. Commun. 184, 40 (2013), section 2.
 * Labels by J. Hoshen and R. Kopelman, Phys. Rev. B 14, 3438 (1976). One byte a spin.
 *
 * Site (x, y) has the id y Lx + x and owns two bonds: to (x + 1, y) and to (x, y + 1), both modulo
 * the side; on a side of 2 a pair of sites has two bonds. A cluster's representative is its
 * smallest site id.
 *
 * With a counter-based `block` function the chain is ergocl's own, bit for bit. Key: (stream low,
 * stream high). Counter: (entity, t low, t high, purpose << 24 | draw), t the sweep, from 0.
 *
 *   Bonds, purpose 1. Entity: word w = y ceil(Lx/32) + floor(x/32), and bit k = x % 32 of it. The
 *   bond of direction d (0 right, 1 down) between equal spins is active iff the 40-bit number
 *   a b < round((1 - exp(-J/T)) 2^40); a is 8 bits, the most significant one first: bit k of words
 *   0 .. 3 of draw 2 d, then of words 0 .. 3 of draw 2 d + 1; b is word k % 4 of draw
 *   4 + 8 d + floor(k/4).
 *   New spins, purpose 2. Entity and draw: lower 32 and upper bits of the representative's id.
 *   s = floor(q (2^32 r_0 + r_1) / 2^64) from the words r_0, r_1: all q states alike, the old one
 *   included.
 *   Random start, purpose 3: the same for each site, t = 0.
 *
 * Without one (block == NULL) every random number is a 53-bit one of SplitMix64: a statistical
 * reference that shares none of the above.
 */
#ifndef ERGO_ORACLE_POTTS_SERIAL_H
#define ERGO_ORACLE_POTTS_SERIAL_H

#include <stdbool.h>
#include <stdint.h>

typedef void (*ergo_oracle_potts_block)(const uint32_t counter[4], const uint32_t key[2],
                                        uint32_t out[4]);

struct ergo_oracle_potts {
    int Lx, Ly, q;
    double J, T;
    ergo_oracle_potts_block block;
    uint32_t key[2];
    uint64_t sequential; /* state of SplitMix64 */
    uint8_t *spins;      /* [Ly][Lx], 0 .. q - 1 */
    uint8_t *bonds;      /* of the latest sweep: bit d of a site */
    int64_t *labels;     /* of the latest sweep: the representative's id */
    int64_t *sizes;      /* by id; 0 where it represents nothing */
};

struct ergo_oracle_potts_clusters {
    int64_t clusters, largest;
    double sum_squares; /* sum n_c^2: an integer, exact below 2^53 */
    bool wraps_x, wraps_y;
};

/* Sides >= 2; 2 <= q <= 256; J >= 0, T > 0. False: wrong arguments or out of memory. */
bool ergo_oracle_potts_init(struct ergo_oracle_potts *potts, int Lx, int Ly, int q, double J,
                            double T, bool random_start, ergo_oracle_potts_block block,
                            uint64_t stream);
void ergo_oracle_potts_free(struct ergo_oracle_potts *potts);
/* Sweep number t; the first is 0. */
void ergo_oracle_potts_sweep(struct ergo_oracle_potts *potts, uint64_t t);
/* Bonds of 2 Lx Ly between unequal spins: energy per site e = J unequal / N. */
int64_t ergo_oracle_potts_unequal(const struct ergo_oracle_potts *potts);
/* Sites in each state: counts[q]. */
void ergo_oracle_potts_counts(const struct ergo_oracle_potts *potts, int64_t *counts);
/* Of the clusters of the latest sweep. A cluster wraps along x when a closed path inside it goes
 * around the lattice in x a number of times other than 0 (found by walking it). */
struct ergo_oracle_potts_clusters ergo_oracle_potts_clusters(const struct ergo_oracle_potts *potts);

#endif
