/* What is counted of a lattice that is cut over ranks: numbers that add up in any order. */
#ifndef ERGO_SAMPLERS_SWENDSEN_WANG_COUNTS_H
#define ERGO_SAMPLERS_SWENDSEN_WANG_COUNTS_H

#include "samplers/swendsen_wang/joining.h"
#include "samplers/swendsen_wang/sw.h"

/* Limbs of 16 bits, the lowest first, each of which may have carries to give to the next; sizes
 * below 2^44, and fewer than 2^48 clusters. */
enum { SW_CUT_ALL_BINS = 48, SW_CUT_SQUARES = 6, SW_CUT_FOURTHS = 12 };

/* Sums over all ranks, as numbers that add up in any order: also those of n^2 and n^4. */
struct sw_cut_counts {
    uint64_t unequal, bins[SW_CUT_ALL_BINS];
    uint64_t squares[SW_CUT_SQUARES], fourths[SW_CUT_FOURTHS];
    uint64_t states[SW_Q_MAX];
    struct sw_correlations correlations;
    uint64_t parts[SW_WAVES_LIMBS]; /* of unit vectors: squares of the third of sw_sum's waves */
    uint64_t largest;               /* of all */
    uint64_t wraps; /* directions in which a cluster leads around, by bits SW_AROUND_... */
};
/* A cluster. */
void sw_cut_count(struct sw_cut_counts *counts, const struct sw_sum *sum);
/* The same, of a joining (sw_joining_take). */
void sw_cut_take(void *counts, const struct sw_sum *sum);
/* Carries to the next limbs. */
void sw_cut_count_carry(struct sw_cut_counts *counts);
/* Over all ranks. Collective. */
void sw_cut_count_reduce(struct sw_cut_counts *counts);

#endif
