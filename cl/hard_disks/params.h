/* Structs of the hard-disk kernels that host and device share, and the constants that fix the
 * chain. */
#ifndef ERGO_CL_HARD_DISKS_PARAMS_H
#define ERGO_CL_HARD_DISKS_PARAMS_H

#include "common/volume.h"

/*
 * Coordinates are integers local to the cell, 0 <= x < DISKS_W. The unit of length is w/DISKS_W.
 *   wide     DISKS_W = 2^22, two floats per disk (integers below 2^24 are exact in fp32)
 *   packed   DISKS_W = 65535, two 16-bit halves of a word per disk; 65535 marks an empty slot
 *
 * A cell has four slots. Its disks fill the first ones, in an order that is part of the
 * state. In memory:
 *   wide     16 bytes x0 x1 y0 y1 of each cell; then, in a second plane, x2 x3 y2 y3. The second
 *            plane is read only if DISKS_MORE has been added to y1. With about one disk per cell
 *            that is seldom
 *   packed   16 bytes, four words x | y << 16
 */
#define DISKS_W_WIDE 4194304
#define DISKS_W_PACKED 65535
#define DISKS_SLOTS 4
/* Coordinates of an empty slot in registers: out of reach of any disk. */
#define DISKS_FAR 67108864.0f
/* The mark of a full second plane: for -W/4 < y1 < 5/4 W the sum y1 + DISKS_MORE is exact and above
 * half of DISKS_MORE. */
#define DISKS_MORE 10485760.0f

#define DISKS_PURPOSE_GRID                                                                         \
    1 /* entity 0: order of the sub-sweeps, direction and distance of the shift */
#define DISKS_PURPOSE_CELL 2   /* entity = cell: a draw has two moves, 16 bits for the shuffle */
#define DISKS_PURPOSE_VOLUME 5 /* entity 0: draw 0 the step, draw 1 whether it is accepted */
#define DISKS_PURPOSE_FIELD 6  /* entity = cell: a draw decides on four moves in a field */
/* Random starts (disks_start.cl). Their step counts the sweeps of the start. */
#define DISKS_PURPOSE_START_GRID 3 /* entity 0, as DISKS_PURPOSE_GRID */
#define DISKS_PURPOSE_START_CELL 4 /* entity = cell: a draw has two moves and their disks */

/*
 * Random starts: a lattice of small disks melts, and then the disks grow to their diameter while
 * they move. MELT sweeps are at the first diameter. GROW sweeps grow linearly in the packing
 * fraction. Further sweeps follow until nothing overlaps.
 */
#define DISKS_START_MELT 512u
#define DISKS_START_GROW 512u
#define DISKS_START_MOVES 4u /* trials of a cell in a sub-sweep */

/* A sweep's plan in one word: the order of the four sub-sweeps (2 bits each, the first one lowest),
 * then 2 bits of direction, then the distance. */
#define DISKS_PLAN_DIRECTION 8
#define DISKS_PLAN_DISTANCE 10

/*
 * Boxes with different sides (DISKS_RECTANGULAR). The unit of length along y is w_y/DISKS_W, that
 * along x w_x/DISKS_W, and r^2 = dx^2 + (w_y/w_x)^2 dy^2 is in units of x, rounded down to a whole
 * number (disks_r2 in core.h). Numbers of an axis are in [2]; a kernel for square boxes reads those
 * of x for both.
 */
#define DISKS_SQUARE ERGO_VOLUME_ONE /* (w_y/w_x)^2 in 2^-62 */
#define DISKS_MARGIN 0x1.2p-17f      /* of contact, for the filter in fp32 (neighbours.h) */
#ifdef DISKS_RECTANGULAR
#define DISKS_Y 1
#else
#define DISKS_Y 0
#endif

struct disks_member {
    uint key0, key1; /* Philox key: the member's stream */
    uint cells[2];   /* cells a side (even), */
    uint columns[2]; /* and half of it */
    uint first;      /* where its cells begin among those of all members */
    uint block;      /* density histogram: cells along a sub-block's side */
    uint reach[2];   /* cells to look at in each direction: contact histogram, g(r) */
    float step[2];   /* displacement: step times an odd number below 2^17 */
    float leave;     /* how far a disk may leave its cell: 0, unless wrong on purpose */
    float low, high; /* r^2 in fp32: up to low an overlap, from high on none; between: */
    float contact_high, contact_low; /* exactly: r^2 < contact_high + contact_low is an overlap */
    float inverse;                   /* 1/sigma in units */
    float neighbour; /* psi_6: disks with r^2 <= neighbour are neighbours (sigma^2) */
    float aspect[2]; /* w_y/w_x, and one over it */
    float square;    /* (w_y/w_x)^2 */
    ulong ratio;     /* the same in 2^-62 */
    ulong contact;   /* overlap: r^2 < contact */
};
#define DISKS_MEMBER_BYTES 104

/* Of a member's volume moves. */
struct disks_rules {
    struct ergo_volume_rules volume;
    ergo_long first;    /* ln V of the start, */
    ergo_long aspect;   /* and ln (w_y/w_x)^2 there, in 2^-36 */
    ergo_long per_axis; /* a move changes one side alone */
};
#define DISKS_RULES_BYTES 88

/* A member's size at constant pressure. */
struct disks_size {
    struct ergo_volume volume;
    ulong contact; /* overlap: r^2 < contact */
    ulong growth;  /* (L_x / L_x of the start)^2, in 2^-62 */
    ulong ratio;   /* (w_y/w_x)^2, in 2^-62 */
};
#define DISKS_SIZE_BYTES 72

/* A member while its random start is made. */
struct disks_growth {
    uint key0, key1; /* Philox key */
    uint cells[2];   /* as above; this grid may differ from the chain's */
    uint columns[2];
    uint first, unused;
    float step[2];
    ulong contact[2]; /* r^2 of disks that touch: at the first diameter, at the final one */
    ulong ratio;      /* as above */
};
#define DISKS_GROWTH_BYTES 64

#ifdef __OPENCL_VERSION__
typedef long disks_long;
#else
typedef int64_t disks_long;
#endif

/* Local psi_6 is summed in integers of 1/DISKS_PSI6_UNIT. */
#define DISKS_PSI6_UNIT 16777216.0f

/* One partial sum of a measurement. */
struct disks_sum {
    disks_long re, im;     /* sums of local psi_6, in 2^-24 */
    ulong disks, occupied; /* disks, and cells that hold any */
    uint accepted, tried;  /* accepted moves of the last sweep, and cells that had disks to move */
};
#define DISKS_SUM_BYTES 40

#endif
