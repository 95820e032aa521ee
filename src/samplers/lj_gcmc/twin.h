/*
 * The chain in serial C, written from its definition (the sampler's README), for audits and tests.
 * It shares with the kernels the random words, the layout of what is compared, and the reciprocal
 * and exponential, which agree bit by bit. Neighbour search, moves, sums and counters are written
 * separately.
 */
#ifndef ERGO_SAMPLERS_LJ_GCMC_TWIN_H
#define ERGO_SAMPLERS_LJ_GCMC_TWIN_H

#include "samplers/lj_gcmc/lj.h"

/* Sums over pairs, in fixed point. core: a pair is closer than the core, so the sums have no
 * meaning. */
struct lj_twin_sums {
    int64_t energy, virial, contacts;
    bool core;
};

struct lj_twin_board;

/* The part of a checkerboard that is followed: active cells of the blocks within `radius` of a
 * corner, which is that of the box in layer `begin` of the blocks. Their neighbourhoods, also where
 * an active cell changes these, are in blocks within LJ_WINDOW_EDGE more. */
enum { LJ_WINDOW_EDGE = 2 };
struct lj_window {
    uint32_t period, blocks[3], begin, radius;
};
/* With so many active cells at most. */
struct lj_window lj_window_of(const struct lj_system *s, uint64_t most, uint32_t begin);
/* Is a coordinate along axis k in these blocks? */
bool lj_window_has(const struct lj_window *w, int k, uint32_t word);

struct lj_twin {
    struct lj_member m;
    const struct lj_tables *tables;           /* those of the state that is followed */
    struct lj_frozen frozen[LJ_MOST_SPECIES]; /* if there are atoms */
    uint32_t species;                         /* of a mixture, else 0: */
    struct lj_mixture mixture;
    uint32_t numbers[LJ_MOST_SPECIES]; /* particles of each */
    uint32_t (*p)[3];                  /* positions in the order of the chain's particle list */
    uint32_t n, capacity, step_size;
    uint64_t step;
    /* where volumes change: moves from one volume move to the next, and of the chain what belongs
     * to its volume */
    uint64_t volume_every;
    /* In a Gibbs ensemble two twins, one behind the other, are the boxes; the steps of both are
     * made by the first. */
    size_t boxes;
    uint32_t transfers; /* trials with each volume move */
    struct lj_volume_rules rules;
    struct lj_chain box;
    float tail; /* lj_member.tail at the start's volume */
    int64_t energy, virial, contacts;
    /* of this window and the last; a checkerboard uses [0] alone, for the last activation */
    uint32_t tried[2][LJ_KINDS], accepted[2][LJ_KINDS];
    /* Linked lists of the particles in cells, whose sides are at least the cutoff; cells along an
     * axis, and the most of them. */
    uint32_t grid[3], most, *first, *next;
    struct lj_twin_board *board; /* NULL: no checkerboard */
};

/* Start box `box` at `chain` with these positions. `more`: particles that may be added. window: of
 * a checkerboard that moves, what is followed; the particles in it are enough. tables:
 * lj_state.tables, as long as the twin lives. false: no memory. */
bool lj_twin_init(struct lj_twin *t, const struct ergo_point *point, size_t box,
                  const struct lj_chain *chain, const uint32_t *words, uint32_t more,
                  const struct lj_window *window, const struct lj_tables *tables);
void lj_twin_free(struct lj_twin *t);
/* One trial move, of each box, or one activation of a checkerboard. false: no memory. */
bool lj_twin_step(struct lj_twin *t);
/* twin_gibbs.c: what is between the boxes before a step. false: no memory. */
bool lj_twin_exchange(struct lj_twin *t);
/* In the layout of the device. */
struct lj_chain lj_twin_chain(const struct lj_twin *t);
struct lj_sample lj_twin_sample(const struct lj_twin *t);
/* Give it the volume of this chain. */
void lj_twin_set_box(struct lj_twin *t, const struct lj_chain *chain);
/* Add the pairs of a particle at `at` with all particles but `skip` (UINT32_MAX: none); sign -1
 * subtracts them. */
void lj_twin_add_pairs(const struct lj_twin *t, const uint32_t at[3], uint32_t skip, int64_t sign,
                       struct lj_twin_sums *to);
/* Add `count` times the energy that a particle at `at` has in the field. */
void lj_twin_add_field(const struct lj_twin *t, const uint32_t at[3], int64_t count,
                       struct lj_twin_sums *to);
/* Carry out a move; there is room. */
struct lj_twin_move;
void lj_twin_carry_out(struct lj_twin *t, const struct lj_twin_move *move);
/* twin_measure.c. Of `count` particles from `first` on: twice the sums over the pairs of the i-th
 * of them with (i / group) % parts == part, as the kernel lj_total. Not for a checkerboard after
 * its first activation. */
struct lj_twin_sums lj_twin_total(const struct lj_twin *t, uint32_t first, uint32_t count,
                                  uint32_t group, uint32_t parts, uint32_t part);
/* Weights of `count` test insertions at the chain's step, of each species: sums[LJ_GHOST_SUMS]. */
void lj_twin_ghosts(const struct lj_twin *t, uint32_t count, int64_t *sums);
/* Adds to counts[lj_pair_kinds][bins] the ordered pairs of particles `first` to `end` - 1 with all
 * others.
 * edges[bins + 1]: squared distances in sigma^2. */
void lj_twin_pairs(const struct lj_twin *t, uint32_t first, uint32_t end, const float *edges,
                   uint32_t bins, uint64_t *counts);
/* counts[bins]: particles below `end` along an axis; per_box: lj_profile_bins. */
void lj_twin_profile(const struct lj_twin *t, uint32_t end, int axis, uint32_t per_box,
                     uint32_t bins, uint64_t *counts);
float lj_twin_distance2(const struct lj_member *m, const uint32_t a[3], const uint32_t b[3]);
void lj_twin_pair(const struct lj_member *m, float r2, int64_t sign, struct lj_twin_sums *to);
bool lj_twin_accepts(const struct lj_member *m, enum lj_kind kind, uint32_t word, uint32_t n,
                     int64_t change);
/* exponent: -beta times the change of all energies. */
bool lj_twin_decides(const struct lj_member *m, enum lj_kind kind, uint32_t word, uint32_t n,
                     float exponent);
/* The meaning of the eight random words of a trial for n particles. impossible: there is no
 * particle to move or delete. */
struct lj_twin_move {
    enum lj_kind kind;
    uint32_t index, word, to[3];
    bool impossible;
};
struct lj_twin_move lj_twin_move_of(const struct lj_member *m, uint32_t n, struct ergo_words a,
                                    struct ergo_words b);
void lj_twin_shift(const struct lj_member *m, uint32_t step_size, const uint32_t from[3],
                   uint32_t to[3]);
uint32_t lj_twin_tuned(const struct lj_twin *t);

/* twin_board.c. After an activation, the particles in active cells that were not followed are
 * unknown. Only active cells whose neighbourhoods are known are followed. */
bool lj_twin_board_init(struct lj_twin *t, const struct ergo_point *point,
                        const struct lj_window *window);
/* Particles of the whole box before the next activation, where only some are given. */
void lj_twin_board_count(struct lj_twin *t, uint32_t particles);
void lj_twin_board_free(struct lj_twin *t);
bool lj_twin_activate(struct lj_twin *t);
/* For a chain that is followed in part: take the counts from a sample of the device, because
 * tuning of the largest displacement needs the counts of all active cells. */
void lj_twin_board_set_counts(struct lj_twin *t, const struct lj_sample *sample);
/* Are the particles in the known cells equal to those of `words`, n positions ordered by cells, in
 * which those outside the window are of no matter? */
bool lj_twin_board_same(const struct lj_twin *t, const uint32_t *words, uint32_t n);
/* The result of active cell `block` in the last activation. false: not followed. */
bool lj_twin_board_part(const struct lj_twin *t, uint64_t block, struct lj_part *part);

#endif
