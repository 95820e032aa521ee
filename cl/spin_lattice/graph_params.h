/* Structs and constants of spins on graphs that host and device share. */
#ifndef ERGO_CL_SPIN_LATTICE_GRAPH_PARAMS_H
#define ERGO_CL_SPIN_LATTICE_GRAPH_PARAMS_H

#include "common/compat.h"

#define GRAPH_PURPOSE_SWEEP 30
#define GRAPH_PURPOSE_START 31

/* Words of a sample: the sum of s (force + h), minus twice the energy, and the mark of the
 * configuration, of two words each; spins that are up. */
#define GRAPH_SUM 0
#define GRAPH_MARK 2
#define GRAPH_UP 4
#define GRAPH_NUMBERS 5

#define GRAPH_KEEP_MAX 64         /* most configurations kept */
#define GRAPH_NOTHING 0xffffffffu /* choice of a configuration that is not kept */
/* Words of a member when its lowest states are looked for: the choice, a trace of all that were
 * looked at, and how often what was chosen has been kept. Audits compare the last two. */
#define GRAPH_LOOK_CHOICE 0
#define GRAPH_LOOK_TRACE 1
#define GRAPH_LOOK_TIMES 2
#define GRAPH_LOOK_WORDS 3

struct graph_member {
    long goal;       /* a sum from which on the target energy is reached */
    uint key0, key1; /* Philox key: the member's stream */
    float scale;     /* T/2 in the unit of couplings; annealing: 1/2 in that unit */
    uint unused;
};
#define GRAPH_MEMBER_BYTES 24

/* A configuration that is kept. */
struct graph_found {
    long sum; /* GRAPH_EMPTY: none yet */
    ulong mark, step;
};
#define GRAPH_FOUND_BYTES 24
#define GRAPH_EMPTY (-0x7fffffffffffffffL)
#define GRAPH_NEVER 0xffffffffffffffffUL /* of the step at which the target was reached */

#endif
