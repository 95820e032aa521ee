/*
 * Parallel tempering of any model that has one temperature for each member of a batch: the engine
 * makes the rungs of each ladder members of a batch of its own, and the model advances and measures
 * them as it does scan points. Between sweeps its measurement gives the energies, and the engine's
 * kernels exchange configurations (common/ladder.cl); parameters and random streams stay.
 *
 * Rows of results are those of the outer batch, whose members are ladders: columns and curves of
 * the coldest rung, and of all rungs the means of which the ladder's curves are made
 * (samplers/tempered.h).
 *
 * "auto": temperatures of equal rejection (S. Syed et al., J. R. Stat. Soc. B 84, 321 (2022)). At
 * some steps in the first half of the equilibration the ladder's barrier, the sum of the rejection
 * rates since the last such step, is taken as linear in 1/T between rungs, and the inner rungs go
 * to where it is divided into equal parts. Then counts begin again.
 */
#ifndef ERGO_ENGINE_TEMPER_H
#define ERGO_ENGINE_TEMPER_H

#include "engine/engine.h"
#include "engine/ladder.h"

/* What a model says to be tempered (ergo_engine_model's `temper`). It has `measure`, which may be
 * called at any time. */
struct ergo_temper_model {
    unsigned spins;  /* the buffer with the configurations, of one member after the other */
    unsigned counts; /* the samples that `measure` writes, of one member after the other */
    /* The host's parameters of all members, for the temperatures that e.batch has now; `prepare`
     * then writes them to the device, at first or anew. */
    void (*fill)(void *state);
    /* The terms of a member's energy, at most ERGO_LADDER_TERMS; returns how many. The same at all
     * rungs. Asked after `prepare`. */
    uint32_t (*terms)(const void *state, size_t member, struct ergo_ladder_term *terms);
};

/* Rows of buffers and kernels that the engine takes for it. */
enum {
    ERGO_TEMPER_TERMS = ERGO_MODEL_BUFFERS,
    ERGO_TEMPER_RUNGS,
    ERGO_TEMPER_CAME,
    ERGO_TEMPER_MOVES,
    ERGO_TEMPER_DECISIONS,
    ERGO_TEMPER_BUFFERS
};
enum { ERGO_TEMPER_DECIDE = ERGO_MODEL_KERNELS, ERGO_TEMPER_EXCHANGE, ERGO_TEMPER_KERNELS };
_Static_assert((int)ERGO_TEMPER_BUFFERS <= (int)ERGO_ALIVE, "rows of buffers");
_Static_assert((int)ERGO_TEMPER_KERNELS <= (int)ERGO_ALIVE_KERNEL, "rows of kernels");
/* Slot of the counts that exchanges look at. */
enum { ERGO_TEMPER_SLOT = 2 };

struct ergo_temper {
    uint32_t rungs;
    uint64_t every;
    size_t ladders;
    struct ergo_feedback feedback;
    const struct ergo_batch *outer;
    struct ergo_batch inner;
    struct ergo_point *points; /* [ladders rungs], whose temperatures are the ladders' */
    struct ergo_point **list;
    char *parameters; /* of the rungs */
    uint32_t *came;   /* [ladders rungs], room for what the host reads */
    uint64_t *moves;
};

/* NULL: no ladder. */
static inline struct ergo_temper *ergo_temper_of(const void *state) {
    return ((const struct ergo_engine *)state)->temper;
}

/* ---- for the engine --------------------------------------------------------------------------
 */

/* If the batch has ladders, makes that of their rungs e->batch. */
enum ergo_status ergo_temper_expand(struct ergo_context *ctx, struct ergo_engine *e);
void ergo_temper_free(struct ergo_engine *e);
/* After the model's configure and prepare. */
void ergo_temper_declare(struct ergo_engine *e);
void ergo_temper_prepare(struct ergo_engine *e);
/* The model's steps, and exchanges where they are due. */
void ergo_temper_steps(struct ergo_engine *e, uint64_t steps);
/* Samples of the outer batch, made by `convert` of those of the inner one. */
enum ergo_status
ergo_temper_collect(struct ergo_context *ctx, struct ergo_engine *e, unsigned slot,
                    struct ergo_samples *samples,
                    enum ergo_status (*convert)(struct ergo_context *ctx, struct ergo_engine *e,
                                                unsigned slot, struct ergo_samples *samples));

/* ---- for samplers/tempered.c -----------------------------------------------------------------
 */

/* Walkers where they start, counts at 0, temperatures of the job. */
void ergo_temper_reset(struct ergo_engine *e);
/* came, moves: [rungs], of a ladder. */
void ergo_temper_read(struct ergo_engine *e, size_t ladder, uint32_t *came, uint64_t *moves);
void ergo_temper_write(struct ergo_engine *e, size_t ladder, const uint32_t *came,
                       const uint64_t *moves);
/* Temperatures of a ladder, [rungs]. */
void ergo_temper_temperatures(const struct ergo_temper *t, size_t ladder, double *all);
void ergo_temper_set(struct ergo_engine *e, size_t ladder, const double *temperatures);
/* Observables whose samples the moments have, [rung][observable], in the order of the table:
 * those with a function of a sample. */
size_t ergo_temper_moments(const struct ergo_model *model);
/* Index of the curve of that name; n_curves: there is none. */
size_t ergo_temper_curve(const struct ergo_model *model, const char *name);

#endif
