/* What steps and measurements cost; how often to measure. */
#ifndef ERGO_RUN_COST_H
#define ERGO_RUN_COST_H

#include "run/session.h"
#include "samplers/sampler.h"

/* Seconds of a step of a batch, of a measurement on the device, and of its host work. */
struct ergo_cost {
    double step, measure, host;
};
/* Measured by a short trial. Without `measurements` only the seconds of a step. A state whose start
 * takes longer than `patience` seconds is not timed: ERGO_STOPPED, without a message. */
enum ergo_status ergo_cost_measure(struct ergo_context *ctx, const struct ergo_model *model,
                                   const struct ergo_batch *batch, struct ergo_device *device,
                                   const struct ergo_plan *plan, const struct ergo_stop *stop,
                                   double patience, bool measurements, struct ergo_cost *cost);
uint64_t ergo_cost_best_every(const struct ergo_cost *cost, double correlation);
/* /run/measure_every "auto": replaces it in the job by a number, which rank 0 chooses. */
enum ergo_status ergo_cost_choose_every(const struct ergo_session *session, struct ergo_job **job);
/* By this one. */
enum ergo_status ergo_cost_set_every(struct ergo_context *ctx, int64_t every,
                                     struct ergo_job **job);
/* The whole start of a state outside of a run's loop; ERGO_STOPPED when asked to stop, by the
 * handle (NULL: there is none) or as all of the process, or after `patience` seconds. */
enum ergo_status ergo_cost_start(struct ergo_context *ctx, const struct ergo_sampler_ops *ops,
                                 const struct ergo_stop *stop, double patience, void *state);

#endif
