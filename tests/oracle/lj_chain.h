/*
 * The chains of lj-gcmc and lj-fluid in serial C, bit for bit, written from their definition (the
 * sampler's README). They share with the kernels the random words, the layout of what is compared,
 * logarithms of volumes, and the reciprocal and exponential, which agree bit by bit. Neighbour
 * search, moves, acceptances, sums and counters are written separately.
 */
#ifndef ERGO_ORACLE_LJ_CHAIN_H
#define ERGO_ORACLE_LJ_CHAIN_H

#include "samplers/lj_gcmc/lj.h"

/* Sums over pairs, in fixed point. core: a pair is closer than the core, so the sums have no
 * meaning. */
struct lj_oracle_sums {
    int64_t energy, virial, contacts;
    bool core;
};

struct lj_oracle_board;

struct lj_oracle {
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
    /* In a Gibbs ensemble two of them, one behind the other, are the boxes; the steps of both are
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
    struct lj_oracle_board *board; /* NULL: no checkerboard */
};

/* Start box `box` at `chain` with these positions. `more`: particles that may be added. tables:
 * lj_state.tables, as long as the oracle lives. false: no memory. */
bool lj_oracle_init(struct lj_oracle *t, const struct ergo_point *point, size_t box,
                    const struct lj_chain *chain, const uint32_t *words, uint32_t more,
                    const struct lj_tables *tables);
void lj_oracle_free(struct lj_oracle *t);
/* One trial move, of each box, or one activation of a checkerboard. false: no memory. */
bool lj_oracle_step(struct lj_oracle *t);
/* lj_gibbs.c: what is between the boxes before a step. false: no memory. */
bool lj_oracle_exchange(struct lj_oracle *t);
/* In the layout of the device. */
struct lj_chain lj_oracle_chain(const struct lj_oracle *t);
struct lj_sample lj_oracle_sample(const struct lj_oracle *t);
/* Give it the volume of this chain. */
void lj_oracle_set_box(struct lj_oracle *t, const struct lj_chain *chain);
/* Add the pairs of a particle at `at` with all particles but `skip` (UINT32_MAX: none); sign -1
 * subtracts them. */
void lj_oracle_add_pairs(const struct lj_oracle *t, const uint32_t at[3], uint32_t skip,
                         int64_t sign, struct lj_oracle_sums *to);
/* Add `count` times the energy that a particle at `at` has in the field. */
void lj_oracle_add_field(const struct lj_oracle *t, const uint32_t at[3], int64_t count,
                         struct lj_oracle_sums *to);
/* Carry out a move; there is room. */
struct lj_oracle_move;
void lj_oracle_carry_out(struct lj_oracle *t, const struct lj_oracle_move *move);
/* lj_measure.c. Sums over all pairs. */
struct lj_oracle_sums lj_oracle_total(const struct lj_oracle *t);
/* Weights of `count` test insertions at the chain's step, of each species: sums[LJ_GHOST_SUMS]. */
void lj_oracle_ghosts(const struct lj_oracle *t, uint32_t count, int64_t *sums);
/* Adds to counts[lj_pair_kinds][bins] all ordered pairs. edges[bins + 1]: squared distances in
 * sigma^2. */
void lj_oracle_pairs(const struct lj_oracle *t, const float *edges, uint32_t bins,
                     uint64_t *counts);
/* counts[bins]: particles along an axis; per_box: lj_profile_bins. */
void lj_oracle_profile(const struct lj_oracle *t, int axis, uint32_t per_box, uint32_t bins,
                       uint64_t *counts);
float lj_oracle_distance2(const struct lj_member *m, const uint32_t a[3], const uint32_t b[3]);
void lj_oracle_pair(const struct lj_member *m, float r2, int64_t sign, struct lj_oracle_sums *to);
bool lj_oracle_accepts(const struct lj_member *m, enum lj_kind kind, uint32_t word, uint32_t n,
                       int64_t change);
/* exponent: -beta times the change of all energies. */
bool lj_oracle_decides(const struct lj_member *m, enum lj_kind kind, uint32_t word, uint32_t n,
                       float exponent);
/* The meaning of the eight random words of a trial for n particles. impossible: there is no
 * particle to move or delete. */
struct lj_oracle_move {
    enum lj_kind kind;
    uint32_t index, word, to[3];
    bool impossible;
};
struct lj_oracle_move lj_oracle_move_of(const struct lj_member *m, uint32_t n, struct ergo_words a,
                                        struct ergo_words b);
void lj_oracle_shift(const struct lj_member *m, uint32_t step_size, const uint32_t from[3],
                     uint32_t to[3]);
uint32_t lj_oracle_tuned(const struct lj_oracle *t);

/* Of volume moves: the exponent of an acceptance, in units of 2^-20, is in whole numbers; what a
 * box gives to it whose volume, energy and particles are these. */
int64_t lj_oracle_volume_part(const struct lj_oracle *t, int64_t size, int64_t energy);
/* Accept it? The random word is the step's. */
bool lj_oracle_volume_accepts(const struct lj_oracle *t, int64_t exponent);
void lj_oracle_end_volume(struct lj_oracle *t, const struct lj_chain *trial,
                          const struct lj_oracle_sums *sums, bool accepted, bool limited);

/* lj_board.c */
bool lj_oracle_board_init(struct lj_oracle *t, const struct ergo_point *point);
void lj_oracle_board_free(struct lj_oracle *t);
bool lj_oracle_activate(struct lj_oracle *t);

#endif
