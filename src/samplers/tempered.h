/*
 * A model whose ladders the engine tempers (engine/temper.h): its functions, curves and
 * observables, which are made of its own functions for a batch without ladders. What a model adds:
 *
 *     in its engine's table     .temper = &temper, .measure
 *     in its list of functions  ERGO_TEMPERED(model)
 *     in its keys               ladder_keys
 *     in its curves             ERGO_LADDER_CURVES, behind its own; "ladder_X" is of observable X
 *     in its observables        ERGO_LADDER_OBSERVABLES
 *     in its check, curve_size  ergo_tempered_check, ergo_tempered_curve_size
 */
#ifndef ERGO_SAMPLERS_TEMPERED_H
#define ERGO_SAMPLERS_TEMPERED_H

#include "engine/temper.h"
#include "samplers/sampler.h"

bool ergo_is_tempered(const struct ergo_point *point);
enum ergo_status ergo_tempered_check(struct ergo_context *ctx, const struct ergo_point *point);

/* Curves of ladders are the last of a model's, "ladder_X" and "round_trips", to "ladder_moments".
 * Their sizes and x; false: it is another curve. */
bool ergo_tempered_curve_size(const struct ergo_point *point, size_t c, size_t *size);
bool ergo_tempered_curve_x(const struct ergo_point *point, size_t c, double *x);

/* Of those, too: accepted exchanges per try, moves[rung][copy], and round trips, trips[copy], per
 * million sweeps, since the start of the run or the last feedback. */
void ergo_ladder_add_moves(const struct ergo_feedback *feedback, uint64_t step, uint32_t rungs,
                           uint32_t copies, const uint64_t *moves, const uint64_t *trips,
                           struct ergo_curve *swaps, struct ergo_curve *round_trips);

/* Rows, also of models with kernels of their own for exchanges. */
/* clang-format off */
#define ERGO_LADDER_SWAPS                                                                          \
    {"ladder_swaps", "temperature", "",                                                            \
     "accepted exchanges with the next temperature, from the start of the run, or since feedback " \
     "moved the temperatures"}
#define ERGO_LADDER_TRIPS {"round_trips", "once", "per million sweeps", "as the observable"}
#define ERGO_LADDER_TEMPERATURES                                                                   \
    {"ladder_temperatures", "rung", "",                                                            \
     "temperatures, as in /system/ladder_temperatures of a job that repeats them"}
#define ERGO_LADDER_CURVES                                                                         \
    {"ladder_energy", "temperature", "per site", "mean energy at each temperature"},               \
    {"ladder_heat_capacity", "temperature", "k_B per site", "N (<e^2> - <e>^2) / T^2"},            \
    ERGO_LADDER_SWAPS, ERGO_LADDER_TRIPS, ERGO_LADDER_TEMPERATURES,                                \
    {"ladder_moments", "moment", "", "at each temperature what observables are made of"}
/* Moves along the ladder of things; rest: whose samples they are. */
#define ERGO_LADDER_MOVES(things, where, ...)                                                      \
    {ERGO_NAMED("swap_acceptance", ""),                                                            \
     .help = "accepted exchanges of tempering, mean over the ladder, from the start of the run, "  \
             "or since feedback moved the temperatures",                                           \
     .curve = "ladder_swaps", .from_curve = ergo_curve_mean, .independent = true,                  \
     .of_moves = true, .applies = (where), __VA_ARGS__},                                           \
    {ERGO_NAMED("round_trips", "per million sweeps"),                                              \
     .help = "ways of a " things " from the ladder's cold end to the hot one and back, counted "   \
             "like swap_acceptance",                                                               \
     .curve = "round_trips", .independent = true, .of_moves = true, .applies = (where),            \
     __VA_ARGS__}
#define ERGO_LADDER_OBSERVABLES                                                                    \
    ERGO_LADDER_MOVES("configuration", ergo_is_tempered, .more = "/replicas",                      \
                      .fact = ERGO_FACT_MEAN)
/* clang-format on */
enum { ERGO_N_LADDER_CURVES = 6 };
/* Of a model with `n` curves: bits of those that are made at the end, and of the hidden one. */
#define ERGO_LADDER_AT_END(n, own) ((1u << ((n)-1)) - (1u << (own)))
#define ERGO_LADDER_HIDDEN(n) (1u << ((n)-1))

/* With feedback the x of curves over temperatures are those that were found: the curve that has
 * them. (ergo_model's x_from) */
size_t ergo_tempered_x(const struct ergo_point *point, size_t c);

/* Where a model has no ladder at a point these do what its plain functions do. */
enum ergo_status ergo_tempered_init(struct ergo_context *ctx, void *state);
enum ergo_status ergo_tempered_end_curves(struct ergo_context *ctx, void *state, size_t member,
                                          struct ergo_curve *curves);
/* Canonical state of a ladder: with feedback its temperatures, 8 bytes each; of each rung a byte,
 * was its walker at the hottest rung more recently than at the coldest; then 8 bytes, the accepted
 * exchanges with the next rung, of the hottest the round trips; then the states of the rungs, the
 * coldest first. Little-endian. */
enum ergo_status ergo_tempered_save(struct ergo_context *ctx, void *state, size_t member,
                                    struct ergo_text *text);
enum ergo_status ergo_tempered_load(struct ergo_context *ctx, void *state, size_t member,
                                    uint64_t step, const void *bytes, size_t length);
enum ergo_status ergo_tempered_carry(struct ergo_context *ctx, void *state, size_t member,
                                     const void *bytes, size_t length);

#define ERGO_TEMPERED(model)                                                                       \
    .engine = (model), .init = ergo_tempered_init, .save = ergo_tempered_save,                     \
    .load = ergo_tempered_load, .carry = ergo_tempered_carry, .view = ergo_fields_view,            \
    .end_curves = ergo_tempered_end_curves

#endif
