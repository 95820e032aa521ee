/* Structs and constants of Wang-Landau walks that host and device share. */
#ifndef ERGO_CL_SPIN_LATTICE_WALK_PARAMS_H
#define ERGO_CL_SPIN_LATTICE_WALK_PARAMS_H

#include "common/compat.h"

#define WALK_PURPOSE_MOVE 35
#define WALK_PURPOSE_SITE 36
#define WALK_PURPOSE_START 37

/* ln g and ln f are in units of 2^-32. ln g is at most 2^61 of them, and an epoch counts fewer than
 * 2^28 moves, so that no sum overflows. */
#define WALK_ONE 0x100000000UL
#define WALK_MOST 0x2000000000000000L
#define WALK_EPOCH_MOST 0x10000000UL

/* Of a level: was it ever visited; and visits since ln f was changed, up to 2^30. */
#define WALK_SEEN 0x80000000u
#define WALK_VISITS 0x7fffffffu
#define WALK_VISITS_MOST 0x40000000u

#define WALK_WALKERS_MAX 256
#define WALK_LEVELS_MAX 65536

/* Of an estimate of ln g. */
struct walk_status {
    ulong f;      /* ln f */
    uint levels;  /* that were visited */
    uint inverse; /* ln f = 1/t from now on */
};
#define WALK_STATUS_BYTES 16

/* What does not change: the stream of a member. */
struct walk_member {
    uint key0, key1;
};

/* A neighbour and its coupling. */
struct walk_bond {
    uint to;
    int j;
};

/* Words of a sample, of each estimate: the level of its first walker, levels that were visited, ln
 * f of two words. */
#define WALK_LEVEL 0
#define WALK_LEVELS 1
#define WALK_F 2
#define WALK_NUMBERS 4

#endif
