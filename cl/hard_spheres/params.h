/* Structs of the hard-sphere kernels that host and device share, and the constants that fix the
 * chain. */
#ifndef ERGO_CL_HARD_SPHERES_PARAMS_H
#define ERGO_CL_HARD_SPHERES_PARAMS_H

#include "common/volume.h"
#include "common/walls.h"

/*
 * Coordinates are integers local to the cell, 0 <= x < width of the cell along that axis. The
 * widest cells are SPHERES_W units wide; one unit is the same length along all axes.
 *
 * A sphere is one 64-bit word: x | y << 21 | z << 42. A cell's spheres fill its first slots, in an
 * order that is part of the state. Bit 63 of a slot tells that the next slot holds a sphere, too; a
 * cell without spheres has SPHERES_EMPTY in its first slot. In memory slots 0 and 1 of all cells
 * are one plane, slots 2 and 3 the next. Planes after the first are seldom read.
 */
#define SPHERES_W 2097151
#define SPHERES_EMPTY 0x7fffffffffffffffUL
#define SPHERES_NEXT 0x8000000000000000UL
#define SPHERES_AXIS 0x1fffffu
/* Slots of cells narrower than 2/sqrt(3) sigma, which hold no nine spheres (Schaer 1966); and of
 * those below sqrt(2), which hold no fourteen (Joos 2009). */
#define SPHERES_FEW 8
#define SPHERES_MANY 14

#define SPHERES_PURPOSE_GRID                                                                       \
    1 /* entity 0: order of the sets, direction and distance of the shift */
#define SPHERES_PURPOSE_CELL 2   /* entity = cell: three draws for four moves */
#define SPHERES_PURPOSE_VOLUME 5 /* entity 0: draw 0 the step, draw 1 whether it is accepted */
#define SPHERES_PURPOSE_FIELD 6  /* entity = cell: a draw decides on four moves in a field */
/* Random starts: the same as 1, 2 and 6, with steps that count the sweeps of the start. */
#define SPHERES_PURPOSE_START 2 /* added */

/*
 * Random starts: a lattice of small spheres melts, and then the spheres grow to their diameter
 * while they move. MELT sweeps are at the first diameter. In GROW sweeps its square grows linearly.
 * Further sweeps follow until nothing overlaps.
 */
#define SPHERES_START_MELT 256u
#define SPHERES_START_GROW 1024u

/* A sweep's plan: the order of the eight sets (3 bits each, the first one lowest), 2 bits for the
 * axis of the shift, 1 for its sense, and from bit 32 on the distance. */
#define SPHERES_PLAN_AXIS 24
#define SPHERES_PLAN_UP 26
#define SPHERES_PLAN_DISTANCE 32

/* r^2 of contact of each member; where sides change one by one (SPHERES_PER_AXIS) (w_y/w_x)^2 and
 * (w_z/w_x)^2 follow in 2^-62, of cells with as many units along all axes: r^2 = dx^2 + (w_y/w_x)^2
 * dy^2 + (w_z/w_x)^2 dz^2, rounded down for each axis. They begin as 1. */
#ifdef SPHERES_PER_AXIS
#define SPHERES_CONTACT_WORDS 3
#else
#define SPHERES_CONTACT_WORDS 1
#endif
#define SPHERES_MARGIN 0x1p-16f /* of contact, for the filter in fp32 */

struct spheres_member {
    uint key0, key1;  /* Philox key: the member's stream */
    uint cells[3];    /* along each axis, even */
    uint width[3];    /* of a cell, in units */
    uint first;       /* where its cells begin among those of all members */
    uint step;        /* largest displacement along an axis, in units */
    uint reach[2][3]; /* cells to look at along each axis: contact histogram, g(r) */
};
#define SPHERES_MEMBER_BYTES 64

/* One partial sum of a measurement. */
struct spheres_sum {
    uint spheres, occupied; /* spheres, and cells that hold any */
    uint accepted, tried; /* accepted moves of the last sweep, and cells that had spheres to move */
};
#define SPHERES_SUM_BYTES 16

#endif
