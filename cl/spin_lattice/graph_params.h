/* Structs and constants of spins on graphs that host and device share. */
#ifndef ERGO_CL_SPIN_LATTICE_GRAPH_PARAMS_H
#define ERGO_CL_SPIN_LATTICE_GRAPH_PARAMS_H

#include "common/compat.h"

#define GRAPH_PURPOSE_SWEEP 30
#define GRAPH_PURPOSE_START 31
#define GRAPH_PURPOSE_SWAP 32
#define GRAPH_PURPOSE_COMB 33
#define GRAPH_PURPOSE_CLUSTER 34

/* Words of a sample: the sum of s (force + h), minus twice the energy, and the mark of the
 * configuration, of two words each; spins that are up. */
#define GRAPH_SUM 0
#define GRAPH_MARK 2
#define GRAPH_UP 4
#define GRAPH_NUMBERS 5

#define GRAPH_KEEP_MAX 64         /* most configurations kept */
#define GRAPH_NOTHING 0xffffffffu /* choice of a configuration that is not kept */
/* Weights of a population are integers, 2^31 of the lowest energy; so the sum over 2^24 members is
 * below 2^56. */
#define GRAPH_WEIGHT_BITS 31
#define GRAPH_POPULATION_MAX 1048576

/* A member at a temperature of its ladder. */
struct graph_member {
    long goal;       /* a sum from which on the target energy is reached */
    uint key0, key1; /* Philox key: the member's stream */
    float scale;     /* T/2 in the unit of couplings; annealing: 1/2 in that unit */
    float slope;     /* of exchanges with the next temperature (engine/ladder.h) */
};
#define GRAPH_MEMBER_BYTES 24

/* A configuration that is kept. */
struct graph_found {
    long sum; /* GRAPH_EMPTY: none yet */
    ulong mark, step;
};
#define GRAPH_FOUND_BYTES 24

/* What a population was resampled by: the sum of all weights, and what belongs to the largest. */
struct graph_totals {
    ulong weights;
    long best; /* a sum */
};
#define GRAPH_TOTALS_BYTES 16
#define GRAPH_EMPTY (-0x7fffffffffffffffL)
#define GRAPH_NEVER 0xffffffffffffffffUL /* of the step at which the target was reached */

#endif
