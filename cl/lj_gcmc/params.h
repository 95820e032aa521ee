/* Structs and constants of the Lennard-Jones kernels that host and device share. Fixed widths,
 * explicit padding, widest first. */
#ifndef ERGO_CL_LJ_GCMC_PARAMS_H
#define ERGO_CL_LJ_GCMC_PARAMS_H

#include "common/compat.h"

#ifndef __OPENCL_VERSION__
typedef int64_t lj_long;
#else
typedef long lj_long;
#endif

/* Energies are sums of (sigma/r)^12 - (sigma/r)^6 in units of 2^-30; see core.h for the bound. */
#define LJ_ENERGY_BITS 30

enum lj_purpose {
    LJ_PURPOSE_MOVE = 1,
    LJ_PURPOSE_CELL,
    LJ_PURPOSE_BOARD,
    LJ_PURPOSE_GHOST,
    LJ_PURPOSE_VOLUME,
    LJ_PURPOSE_TRANSFER
};
enum lj_kind { LJ_DISPLACEMENT, LJ_INSERTION, LJ_DELETION, LJ_KINDS };

/* Why a chain waits for the host. It stands exactly before the move that needs more room. A box of
 * a Gibbs ensemble also waits for the other one. */
enum lj_status { LJ_RUNNING, LJ_CELL_FULL, LJ_PARTICLES_FULL, LJ_TILE_FULL, LJ_WAITS };

/* Moves are counted in windows of this many, which begin at its multiples. So the acceptances in a
 * sample depend on the chain alone. The largest displacement is adjusted between windows. */
#define LJ_WINDOW 1024

/* Test insertions of a sample: at most so many, and their weights are added up in two numbers:
 * those below 2^20 in units of 2^-31, and the others, up to 2^51, as whole numbers. Then follow, of
 * a transition matrix, the sums of the probabilities that these insertions, and deletions of each
 * particle, would be accepted with, in units of 2^-36. */
#define LJ_MOST_GHOSTS 4096
#define LJ_GHOST_WORDS 4u

/* A chain's parameters: constant during a run. Lengths in sigma. */
struct lj_member {
    lj_long shift;    /* pair energy at the cutoff that `shifted` subtracts, fixed point; else 0 */
    ulong tune_until; /* steps during which the largest displacement is tuned */
    ulong tables;     /* where the tables of potentials are, once a kernel has begun; else 0 */
    uint key0, key1;  /* Philox key */
    float scale[3];   /* side / 2^32 */
    float cutoff2;
    float contact2[2]; /* squares of the inner edges of the two shells inside the cutoff */
    float core2;       /* closer pairs have infinite energy: see core.h */
    float beta4;       /* 4 epsilon / T in units of the fixed point */
    /* activity x volume (of an active cell, on a checkerboard) x share of deletions / share of
     * insertions */
    float zv;
    float tail;        /* beta x (tail energy / N^2); 0: none */
    uint displacement; /* a displacement if the upper 31 bits of a word are below this */
    uint insertion;    /* else an insertion if below this; else a deletion */
    uint ideal;        /* 1: epsilon = 0, so pairs are not computed */
    uint local_moves;  /* 1: displacements by at most lj_chain.step_size; 0: to anywhere */
    uint ratio[3];     /* shortest side / side in units of 2^-32; 0 means 1 */
    uint box;          /* 1: the second box of a Gibbs ensemble, with random words of its own */
    uint exponents;    /* of a Mie potential n + 256 m, else 0; kernels have them as constants */
    float field;       /* unit of the slit's table in that of energies; 0: no slit */
    float voxels;      /* the same of the values of a grid; 0: no grid */
    uint frozen;  /* where the tables have this chain's struct lj_frozen, in 16 bytes; 0: none */
    uint low;     /* the first layer of cells in memory, of a box that is cut */
    uint mixture; /* where the tables have this chain's struct lj_mixture, in 16 bytes */
};
#define LJ_MEMBER_BYTES 128

/* The cells of a box, which all chains share. An argument of kernels, so that another size of the
 * box needs no other programs; the host divides. */
struct lj_shape {
    uint n[3];           /* cells along each axis */
    uint middle[3];      /* half a cell, in units of 2^-32 of the side */
    float width[3];      /* a cell, the same */
    uint cells;          /* in memory: all, or of a box that is cut over ranks those of a slab */
    uint offsets, near;  /* LJ_SLOTTED: cells within the cutoff, and those of them that touch; */
    uint cull;           /* 1: those of them that are farther from a particle may be left out */
    int low[3], high[3]; /* cells further along each axis that bins of g(r) reach */
    float reach[3];      /* as width; 0: they reach all cells along that axis, each once */
    uint bins;           /* of g(r) or of a density profile, */
    uint profile;        /* and of that in the length of the box, in units of 2^-16 */
    /* checkerboard: cells from one active cell to the next; active cells along each axis, and all
     */
    uint period, blocks[3], active;
    uint by_span; /* 2^32 over cells around an active one along an axis, rounded up */
};
#define LJ_SHAPE_BYTES 120

/* A pair potential from a file is a table of cubics in r^2: first its beginning and the number of
 * cells per sigma^2, then for each cell four coefficients, lowest first, of the cell's fraction. */
#define LJ_PAIR_CELLS 2048u

/* The field of a slit is a table of cubics in z, one for each of so many layers of the box: four
 * coefficients, lowest first, of the layer's fraction. A wall is a constant LJ_WALL. */
#define LJ_FIELD_BITS 12
#define LJ_FIELD_LAYERS (1u << LJ_FIELD_BITS)
#define LJ_WALL 1e30f

/* A field from a file is a grid of values (float), along z fastest, linear along each axis between
 * neighbours. A value from LJ_WALL on is a wall. */

/*
 * Atoms that do not move are in cells at least half the cutoff wide, of each species for itself:
 * first where each cell begins (uint, with the end of the last one), then x, y and z of all atoms
 * in the order of the cells, with room for reading eight at once. In the tables also, for each
 * chain and species: what makes a pair of it.
 */
#define LJ_MOST_SPECIES 4
#define LJ_FROZEN_REACH 2
#define LJ_FROZEN_ROOM 8u
struct lj_frozen {
    lj_long shift;  /* as lj_member.shift */
    float inverse;  /* (sigma/sigma of the pair)^2 */
    float core2;    /* as lj_member.core2 */
    float strength; /* energy of the pair in units of the fixed point */
    uint pad[3];
};
#define LJ_FROZEN_BYTES 32

/*
 * Species of a mixture. The last two bits of a particle's x are its species: particles of each have
 * places of their own, 2^-30 of the side apart, and a change of species is a displacement to the
 * next such place. So lists, cells and states are those of one species.
 *
 * What makes a pair of two species, sigma and the unit of energies being those of lj_member. Within
 * the shells inside its cutoff a pair adds to lj_chain.contacts what the jump there adds to the
 * virial, in the virial's unit.
 */
#define LJ_SPECIES_MASK 3u
struct lj_rule {
    lj_long shift;        /* as lj_member.shift */
    lj_long outer, inner; /* virial of the jump, for a pair in each of the two shells */
    float inverse;        /* (sigma/sigma of the pair)^2 */
    float strength;       /* energy of the pair in units of the fixed point */
    float core2;          /* as lj_member.core2 */
    float cutoff2;        /* squared, in sigma; 0: no interaction */
    float contact2[2];    /* as lj_member.contact2 */
};
struct lj_mixture {
    struct lj_rule pairs[LJ_MOST_SPECIES * LJ_MOST_SPECIES];
    float zv[LJ_MOST_SPECIES]; /* as lj_member.zv, times the number of species */
    /* beta x tail energy of N_s N_t: a pair of unlike species counts twice */
    float tail[LJ_MOST_SPECIES * LJ_MOST_SPECIES];
    uint identity; /* a displacement is a change of species if a word is below this */
    uint pad[3];
};
#define LJ_RULE_BYTES 48
#define LJ_MIXTURE_BYTES 864

/* Counts of a window, 16 bits each. The other tried moves are deletions. */
struct lj_counts {
    uint tried;    /* displacements, insertions << 16 */
    uint accepted; /* the same */
    uint accepted_deletion;
};

/* A chain's state, besides its particles. */
struct lj_chain {
    ulong step;     /* moves done */
    lj_long energy; /* sum over pairs of s12 - s6 - shift */
    lj_long virial; /* sum over pairs of 2 s12 - s6 */
    /* pairs in the two shells inside the cutoff: lj_contact in core.h; of a mixture: lj_rule */
    lj_long contacts;
    /* Where volumes change, else 0: ln V in units of 2^-36 (common/volume.h), and volume moves that
     * were made; of a box of a Gibbs ensemble, volume moves and trials of a transfer. */
    lj_long size;
    ulong volumes;
    uint particles; /* N */
    uint step_size; /* largest displacement in units of shortest side / 2^32 */
    uint status;    /* enum lj_status */
    /* The last volume move: bit 0, accepted; bit 1, refused by the limits; the others, the largest
     * change of ln V that is tuned, in 2^-30, or 0. */
    uint moved;
    /* What follows from `size`: sides / 2^32 and the factor of lj_member.tail, as bits of floats,
     * so that chains are compared byte by byte; the list of cells. */
    uint scale[3], thinner;
    uint list;
    uint torn; /* 1: an activation of a checkerboard waits for room, and some cells are after it */
    /* On a checkerboard the six words are tried and accepted moves of the last activation, by kind.
     */
    struct lj_counts now;          /* the current window */
    struct lj_counts last;         /* the window before */
    uint numbers[LJ_MOST_SPECIES]; /* of a mixture: particles of each species; else 0 */
};
#define LJ_CHAIN_BYTES 128

struct lj_sample {
    lj_long energy, virial, contacts, size;
    uint particles;
    struct lj_counts now, last;
    uint moved;
    uint numbers[LJ_MOST_SPECIES];
};
#define LJ_SAMPLE_BYTES 80

/* The changes that one active cell of a checkerboard made in an activation. */
struct lj_part {
    ulong stamp; /* 1 + its step */
    lj_long energy, virial, contacts;
    int particles;
    uint tried;    /* displacements, insertions << 16 */
    uint accepted; /* the same */
    uint accepted_deletion;
};
#define LJ_PART_BYTES 48

/* What active cells did in an activation, those of a rank or all: whole numbers, which ranks add up
 * word by word. */
struct lj_turn {
    lj_long energy, virial, contacts;
    ulong particles;              /* modulo 2^64 */
    ulong tried[3], accepted[3];  /* by kind */
    ulong blocks;                 /* active cells that are done */
    ulong cells_full, tiles_full; /* ranks where one lacked room */
};
#define LJ_TURN_BYTES 104

/* Words of a work-group's share of the sums from scratch (lj_total). */
#define LJ_TOTALS 5u

#endif
