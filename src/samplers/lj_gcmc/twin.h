/*
 * The chain on the host, serial, from its definition (the sampler's README): for audits and tests.
 * Of the kernels it shares the words of random numbers, the layout of what is compared, and the
 * reciprocal and the exponential to the bit; neighbours, moves, sums and counts are its own.
 */
#ifndef ERGO_SAMPLERS_LJ_GCMC_TWIN_H
#define ERGO_SAMPLERS_LJ_GCMC_TWIN_H

#include "samplers/lj_gcmc/lj.h"

/* Sums over pairs; core: one of them is inside the core, and there are no sums. */
struct lj_twin_sums {
    int64_t energy, virial, contacts;
    bool core;
};

struct lj_twin_board;

struct lj_twin {
    struct lj_member m;
    uint32_t (*p)[3]; /* positions, in the chain's order */
    uint32_t n, room, step_size;
    uint64_t step;
    int64_t energy, virial, contacts;
    uint32_t tried[2][LJ_KINDS], accepted[2][LJ_KINDS]; /* of this window and the last; [0] alone on
                                                           a checkerboard: of the last activation */
    /* Cells of its own, at least a cutoff wide: lists of particles. */
    uint32_t grid[3], *first, *next;
    struct lj_twin_board *board; /* NULL: none */
};

/* A chain that stands at `chain` with these positions; room for `more` particles. blocks: active
 * cells of an activation that are followed, at most; UINT64_MAX: all. false: no memory. */
bool lj_twin_init(struct lj_twin *t, const struct ergo_point *point, const struct lj_chain *chain,
                  const uint32_t *words, uint32_t more, uint64_t blocks);
void lj_twin_free(struct lj_twin *t);
/* A move, or an activation. false: no memory. */
bool lj_twin_step(struct lj_twin *t);
/* As the device has them. */
struct lj_chain lj_twin_chain(const struct lj_twin *t);
struct lj_sample lj_twin_sample(const struct lj_twin *t);
/* Twice the sums over all pairs of particles i with i / group % parts == part (lj_total); not of a
 * checkerboard that has moved. */
struct lj_twin_sums lj_twin_total(const struct lj_twin *t, uint32_t group, uint32_t parts,
                                  uint32_t part);
/* Ordered pairs of the particles below `end` with all others by distance: edges[bins + 1], squares
 * in sigma^2. */
void lj_twin_pairs(const struct lj_twin *t, uint32_t end, const float *edges, uint32_t bins,
                   uint64_t *counts);
float lj_twin_distance2(const struct lj_member *m, const uint32_t a[3], const uint32_t b[3]);
void lj_twin_pair(const struct lj_member *m, float r2, int64_t sign, struct lj_twin_sums *to);
bool lj_twin_accepts(const struct lj_member *m, enum lj_kind kind, uint32_t word, uint32_t n,
                     int64_t change);
/* What the eight words of a trial say of one of n particles. */
struct lj_twin_move {
    enum lj_kind kind;
    uint32_t index, word, to[3];
    bool nobody;
};
struct lj_twin_move lj_twin_move_of(const struct lj_member *m, uint32_t n, struct ergo_words a,
                                    struct ergo_words b);
void lj_twin_shift(const struct lj_member *m, uint32_t step_size, const uint32_t from[3],
                   uint32_t to[3]);
uint32_t lj_twin_tuned(const struct lj_twin *t);

/* twin_board.c. Active cells that are not followed leave cells behind of which nothing is known;
 * then only those that see none of them are followed. */
bool lj_twin_board_init(struct lj_twin *t, const struct ergo_point *point, uint64_t blocks);
void lj_twin_board_free(struct lj_twin *t);
bool lj_twin_activate(struct lj_twin *t);
/* A chain of which not all was followed: what the device says of a sample's counts (the largest
 * displacement goes by them). */
void lj_twin_board_told(struct lj_twin *t, const struct lj_sample *sample);
/* Whether the particles, cell by cell, are those of the cells that are known. */
bool lj_twin_board_same(const struct lj_twin *t, const uint32_t *words, uint32_t n);
/* What active cell `block` did in the last activation; false: not followed. */
bool lj_twin_board_part(const struct lj_twin *t, uint64_t block, struct lj_part *part);

#endif
