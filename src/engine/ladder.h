/*
 * Parallel tempering on the host: a ladder's temperatures from the job, when exchanges are due,
 * what is made of their counts. The rule of an exchange, which kernels and their twins share, is
 * in common/ladder.h. Temperatures are rungs, 0 the coldest. In time, pairs (1, 2), (3, 4) ...
 * come first, then (0, 1), (2, 3) ..., and so on in turn.
 */
#ifndef ERGO_ENGINE_LADDER_H
#define ERGO_ENGINE_LADDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/text.h"
#include "common/ladder.h"
#include "job/job.h"
#include "stats/stats.h"

enum { ERGO_LADDER_MAX = 128 }; /* most temperatures */

struct ergo_field_row; /* fields.h */

/* ---- the job --------------------------------------------------------------------------------- */

/* How many temperatures: /system/ladder; "auto": 16. Are they found by feedback: "auto", or with
 * ladder_spacing "auto"? */
uint32_t ergo_ladder_rungs(const struct ergo_point *point);
bool ergo_ladder_automatic(const struct ergo_point *point);
/* The temperatures, coldest first, of /system/temperature, ladder, temperature_max and
 * ladder_spacing; returns how many. Those that feedback begins with are geometric. The same bits on
 * all machines. */
uint32_t ergo_ladder_temperatures(const struct ergo_point *point, double t[ERGO_LADDER_MAX]);
/* Steps from an exchange to the next: /system/swap_every, or 10. */
uint32_t ergo_ladder_every(const struct ergo_point *point);
/* A job error where temperature_max is missing, is not above temperature, or has no ladder. */
enum ergo_status ergo_ladder_check(struct ergo_context *ctx, const struct ergo_point *point);
/* What weighs an energy in exchanges of rungs t and t + 1 (ergo_ladder_accepts): 1/T - 1/T' times
 * `unit`, the energy that a count of 1 stands for; 0 for the hottest rung. all[rungs]: of
 * ergo_ladder_temperatures. */
float ergo_ladder_slope(const double *all, uint32_t rungs, uint32_t t, double unit);

/* ---- temperatures that are found by feedback --------------------------------------------------
 */

/* Puts the inner temperatures, all[rungs], to where each rung has an equal part of the sum of the
 * rejection rates, rejected[rungs - 1] > 0, which is taken as linear in 1/T between rungs. */
void ergo_ladder_feed_back(uint32_t rungs, const double *rejected, double *all);

/* When: after parts of the equilibration, 1/64, 1/32 ... 1/2, at whole exchanges. Moves are counted
 * anew from each of these on. */
struct ergo_feedback {
    bool automatic; /* else never */
    uint32_t rungs;
    uint64_t every, equilibration;
};
struct ergo_feedback ergo_feedback_of(const struct ergo_point *point);
/* A job error where the equilibration is too short for it. */
enum ergo_status ergo_feedback_check(struct ergo_context *ctx, const struct ergo_point *point);
/* The step from which on moves are counted, after so many steps; 0: from the start. */
uint64_t ergo_feedback_since(const struct ergo_feedback *f, uint64_t step);
/* Exchanges of a parity that are counted. */
uint64_t ergo_feedback_tries(const struct ergo_feedback *f, uint64_t step, uint32_t parity);
static inline bool ergo_feedback_due(const struct ergo_feedback *f, uint64_t step) {
    return f->automatic && ergo_feedback_since(f, step) == step;
}
/* The next step after which it is due; UINT64_MAX: never more. */
uint64_t ergo_feedback_next(const struct ergo_feedback *f, uint64_t step);
/* New temperatures all[rungs], where it is due; accepted[rungs - 1], of `each` pairs of copies that
 * have tried each time. */
void ergo_feedback_learn(const struct ergo_feedback *f, uint64_t step, uint64_t each,
                         const uint64_t *accepted, double *all);
/* Can feedback have found these? */
bool ergo_feedback_possible(const struct ergo_point *point, const double *all);

/* Temperatures of a batch's ladders, [members][rungs], as the job has them: what a model keeps that
 * tempers with kernels of its own. Its states end with those of the member where they are found by
 * feedback: so many bytes, little-endian. */
void ergo_feedback_begin(const struct ergo_batch *batch, double *ladders);
size_t ergo_feedback_bytes(const struct ergo_feedback *f);
bool ergo_feedback_valid(const struct ergo_field_row *r); /* of a field that is these (fields.h) */

/* ---- exchanges ------------------------------------------------------------------------------- */

/* After `step` (> 0) steps: is an exchange due; of which parity; the next step with one. */
static inline bool ergo_ladder_due(uint64_t step, uint64_t every) {
    return step % every == 0;
}
static inline uint32_t ergo_ladder_parity(uint64_t step, uint64_t every) {
    return (uint32_t)(step / every & 1);
}
static inline uint64_t ergo_ladder_next(uint64_t step, uint64_t every) {
    return (step / every + 1) * every;
}
/* Of a part of the ladder that begins with rung `first`: this parity, counted from there. */
static inline uint32_t ergo_ladder_own_parity(uint32_t first, uint32_t parity) {
    return (parity ^ first) & 1;
}
/* Exchanges of a parity up to `step`: how often each of its pairs has tried. */
uint64_t ergo_ladder_tries(uint64_t step, uint64_t every, uint32_t parity);

/* ---- counts ---------------------------------------------------------------------------------- */

/* Number t is of exchanges of rungs t and t + 1 that were accepted. That of the hottest rung, which
 * has none above it, is of round trips. */
struct ergo_ladder {
    uint32_t rungs, copies; /* copies: of a sample, at each temperature */
    uint64_t every, steps;  /* from an exchange to the next; since the start of the run */
    uint64_t since;         /* the step from which on moves are counted */
};

/* Of what a run has counted over time: these numbers for all samples together, then the tries of
 * pairs of parity 0 and 1. Without a ladder none. */
size_t ergo_ladder_counts(uint32_t rungs);
void ergo_ladder_count_tries(uint32_t rungs, uint64_t step, uint64_t every, double *counts);

/*
 * Makes number t of each sample, rates[samples], a rate: the acceptance (NAN without tries), or
 * round trips per copy and million steps. Returns the variance of their mean that their spread does
 * not show, because samples share random numbers; less than 0 where there is none. curve: means of
 * bins of time, of which those from `at` on are ergo_ladder_counts. The variance is that of their
 * growth, less what chance makes of independent decisions. It has some noise of each sample's own,
 * too, which is then counted twice: errors up to 1.4 times too large.
 */
double ergo_ladder_rates(const struct ergo_ladder *ladder, uint32_t t, double *rates,
                         size_t samples, const struct ergo_curve *curve, size_t at);

#endif
