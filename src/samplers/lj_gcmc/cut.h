/* A checkerboard over ranks. Internal to lj-gcmc and lj-fluid. */
#ifndef ERGO_SAMPLERS_LJ_GCMC_CUT_H
#define ERGO_SAMPLERS_LJ_GCMC_CUT_H

#include "samplers/lj_gcmc/lj.h"

extern const struct ergo_sampler_ops lj_cut_ops, lj_fluid_cut_ops;
bool lj_cut_is_worth(const struct ergo_point *point, size_t ranks);
enum ergo_status lj_cut_check(struct ergo_context *ctx, const struct ergo_point *point);
/* Of configure: which layers are here, once there is a grid; and, later, what is declared. */
enum ergo_status lj_cut_shape(struct ergo_context *ctx, struct lj_state *s);
void lj_cut_declare(struct lj_state *s);
void lj_cut_kernels(struct lj_state *s, const char *board); /* board: options of lj_board */
/* Are there other ranks? One that is alone has all cells: its halos are its own layers, and nothing
 * is exchanged. */
bool lj_cut_shares(const struct lj_state *s);
/* The layer of the box that is the first in memory. */
uint32_t lj_cut_low(const struct lj_state *s);
/* Make one activation. All ranks. */
void lj_cut_launch(struct lj_state *s, const struct ergo_engine_slot *slot, uint64_t to);
/* The list of this rank's particles, with as much room as they need. */
void lj_cut_list(struct lj_state *s);
/* Adds up the pair counts of a block. */
void lj_cut_join_pairs(struct lj_state *s, unsigned slot, size_t curves);
/* The chain and all its particles, on all ranks. */
enum ergo_status lj_cut_fetch(struct ergo_context *ctx, struct lj_state *s, size_t chain,
                              uint32_t **words, uint32_t *count);
/* The cell in memory of a position, also of a box that is not cut; UINT64_MAX: it is in a layer
 * that is not there. */
uint64_t lj_cut_cell(const struct lj_state *s, const uint32_t *words);

#endif
