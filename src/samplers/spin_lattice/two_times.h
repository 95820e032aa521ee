/*
 * Two-time functions of lattices whose spins are numbers of states: C(t_w + t, t_w), the overlap
 * with the configuration at t_w, and chi_4, its fluctuations between realisations. The same keys,
 * curves, times and estimators as facilitated models have (facilitated/), which count on the device
 * because they have thousands of small lattices; here the host compares canonical states, a few for
 * each decade of time. What a model adds:
 *
 *     in its engine's table     .watched = &ops, its functions without this
 *     in its list of functions  ERGO_TIMED, in the place of its own
 *     in its keys               TIMED_KEY (and TIMED_CHI4_KEY, with several groups)
 *     in its curves             "autocorrelation" (and "chi4_overlap"), at the end of a run
 *     in its check, form        timed_check, timed_form; .state_tail = timed_tail
 */
#ifndef ERGO_SAMPLERS_SPIN_LATTICE_TWO_TIMES_H
#define ERGO_SAMPLERS_SPIN_LATTICE_TWO_TIMES_H

#include "samplers/lattice/parameters.h"
#include "samplers/sampler.h"

/* A copy keeps its spins: no ladder, and no clusters that copies exchange. */
bool timed_may(const struct ergo_point *point);
#define TIMED_KEY                                                                                  \
    {                                                                                              \
        LATTICE_KEY(waiting_time, "/system/waiting_time", INT),                                    \
            .flags = ERGO_KEY_SCAN | ERGO_KEY_SHAPE, .min = 0, .max = 9007199254740992,            \
            .unit = "sweeps",                                                                      \
            .help =                                                                                \
                "Measure a two-time function: the curve autocorrelation, of the configuration at " \
                "t = 0 with those after it. The first of /run/sweeps, before t = 0: the age at t " \
                "= 0, counted from the end of /run/equilibration. If not given nothing of it is "  \
                "measured. Scanned, it gives the same chains at each age.",                        \
            .acts = timed_may, .where = "without a ladder and without cluster moves"               \
    }
#define TIMED_CHI4_KEY                                                                             \
    {                                                                                              \
        LATTICE_KEY(chi4, "/run/chi4", BOOL),                                                      \
            .flags = ERGO_KEY_SHAPE, .fallback = "false", .unit = "",                              \
            .help =                                                                                \
                "With a waiting_time, fluctuations between samples, too: the curve chi4_overlap. " \
                "At least three words of 32 samples.",                                             \
            .acts = timed_is, .where = "with a waiting_time"                                       \
    }

/* Is /system/waiting_time given? */
bool timed_is(const struct ergo_point *point);
/* Timed systems are not cut over ranks; the time has to be in the run. */
enum ergo_status timed_check(struct ergo_context *ctx, const struct ergo_point *point);
/* Points of a curve over t (0: it is not timed), and t, after which it is true. */
size_t timed_size(const struct ergo_point *point);
bool timed_x(const struct ergo_point *point, double *x);
/* Adds to a form what states have behind the inner model's: the configuration at t_w, and the equal
 * sites of each system at each t, 8 bytes each; zeros until their time has come. */
enum ergo_status timed_form(struct ergo_context *ctx, const struct ergo_point *point,
                            struct ergo_form *form);
size_t timed_tail(const struct ergo_point *point); /* of these the second part */

enum ergo_status timed_init(struct ergo_context *ctx, void *state);
enum ergo_status timed_save(struct ergo_context *ctx, void *state, size_t member,
                            struct ergo_text *text);
enum ergo_status timed_load(struct ergo_context *ctx, void *state, size_t member, uint64_t step,
                            const void *bytes, size_t length);
enum ergo_status timed_carry(struct ergo_context *ctx, void *state, size_t member,
                             const void *bytes, size_t length);
enum ergo_status timed_end_curves(struct ergo_context *ctx, void *state, size_t member,
                                  struct ergo_curve *curves);

#define ERGO_TIMED                                                                                 \
    .init = timed_init, .save = timed_save, .load = timed_load, .carry = timed_carry,              \
    .end_curves = timed_end_curves

#endif
