/* What crosses between host and device, for the Lennard-Jones kernels. Fixed-width, explicit
 * padding, widest first. */
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

enum lj_purpose { LJ_PURPOSE_MOVE = 1, LJ_PURPOSE_CELL, LJ_PURPOSE_BOARD };
enum lj_kind { LJ_DISPLACEMENT, LJ_INSERTION, LJ_DELETION, LJ_KINDS };

/* Why a chain waits for the host. It stands exactly before a move that needs more room. */
enum lj_status { LJ_RUNNING, LJ_CELL_FULL, LJ_PARTICLES_FULL, LJ_TILE_FULL };

/* Moves are counted in windows of so many, which begin at multiples of it: what a sample says of
 * acceptances depends on the chain alone. Between two the largest displacement is adjusted. */
#define LJ_WINDOW 1024

/* A chain's parameters: constant during a run. Lengths in sigma. */
struct lj_member {
    lj_long shift;    /* pair energy at the cutoff that `shifted` takes off, fixed point; 0 */
    ulong tune_until; /* steps during which the largest displacement is tuned */
    uint key0, key1;  /* Philox key */
    float scale[3];   /* side / 2^32 */
    float cutoff2;
    float contact2[2]; /* squares of the inner edges of the two shells inside the cutoff */
    float core2;       /* closer pairs have infinite energy: see core.h */
    float beta4;       /* 4 epsilon / T in units of the fixed point */
    float zv;          /* activity x volume (of an active cell, on a checkerboard) x share of
                          deletions / share of insertions */
    float tail;        /* beta x (tail energy / N^2); 0: none */
    uint displacement; /* kind of move: upper 31 bits of a word below this */
    uint insertion;    /* else below this; else a deletion */
    uint ideal;        /* epsilon = 0: no pair is looked at */
    uint local_moves;  /* displacements by at most lj_chain.step_size, else to anywhere */
    uint ratio[3];     /* shortest side / side in units of 2^-32, 0: 1 */
    uint pad;
};
#define LJ_MEMBER_BYTES 96

/* Counts of a window, 16 bits each; deletions are what is left. */
struct lj_counts {
    uint tried;    /* displacements, insertions << 16 */
    uint accepted; /* the same */
    uint accepted_deletion;
};

/* A chain's state beside its particles. */
struct lj_chain {
    ulong step;       /* moves done */
    lj_long energy;   /* sum over pairs of s12 - s6 - shift */
    lj_long virial;   /* sum over pairs of 2 s12 - s6 */
    lj_long contacts; /* pairs in the two shells inside the cutoff: lj_contact of core.h */
    uint particles;   /* N */
    uint step_size;   /* largest displacement in units of shortest side / 2^32 */
    uint status;      /* enum lj_status */
    uint pad;
    /* On a checkerboard the six words are trials and acceptances of the last activation, by kind.
     */
    struct lj_counts now;  /* the window that has begun */
    struct lj_counts last; /* the one before */
};
#define LJ_CHAIN_BYTES 72

struct lj_sample {
    lj_long energy, virial, contacts;
    uint particles;
    struct lj_counts now, last;
    uint pad;
};
#define LJ_SAMPLE_BYTES 56

/* What one active cell of a checkerboard did in an activation. */
struct lj_part {
    ulong stamp; /* 1 + the step it belongs to */
    lj_long energy, virial, contacts;
    int particles;
    uint tried;    /* displacements, insertions << 16 */
    uint accepted; /* the same */
    uint accepted_deletion;
};
#define LJ_PART_BYTES 48

/* Words of a group's share of the sums from scratch (lj_total). */
#define LJ_TOTALS 5u

#endif
