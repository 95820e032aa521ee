/*
 * What a step and a measurement cost here, and how often to measure: Lutsyshyn, Comput. Phys.
 * Commun. 187, 162 (2015), section 4.3. Timings choose which states of the chain are measured; the
 * chain is the same.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "device/program.h"
#include "dist/dist.h"
#include "run/cost.h"

/* Room for the samples of a block of `count`. */
static bool allocate(const struct ergo_model *model, const struct ergo_batch *batch, size_t count,
                     struct ergo_samples *samples) {
    const struct ergo_point *first = batch->points[0];
    const size_t curves = (count - 1) / (size_t)ergo_point_curve_every(first) + 1;
    samples->columns = malloc(count * batch->count * model->n_columns * sizeof(double));
    bool ok = samples->columns != NULL;
    for (size_t c = 0; c < model->n_curves; c++) {
        const bool counted = model->histograms >> c & 1;
        const size_t size = counted ? 0 : ergo_point_curve_size(first, c);
        samples->curves[c] = size ? malloc(curves * batch->count * size * sizeof(double)) : NULL;
        ok = ok && (!size || samples->curves[c]);
    }
    return ok;
}

enum ergo_status ergo_cost_start(struct ergo_context *ctx, const struct ergo_sampler_ops *ops,
                                 const struct ergo_stop *stop, double patience, void *state) {
    const double start = ergo_clock();
    bool done = false;
    enum ergo_status status = ops->init(ctx, state);
    while (!done && status == ERGO_OK) {
        status = ergo_sampler_start_piece(ctx, ops, state, &done);
        if (status == ERGO_OK && !done &&
            (ergo_session_stop_is_requested(stop) || ergo_clock() - start > patience))
            status = ERGO_STOPPED;
    }
    return status;
}

/* Run some of the equilibration first, a second at most: steps at the start may be cheaper than
 * later ones. What is left of it is skipped where measure_every may be "auto", with what happens in
 * it now and then (helium's optimisation): what is timed is steps between samples. */
static enum ergo_status lead_in(struct ergo_context *ctx, const struct ergo_model *model,
                                const struct ergo_batch *batch, struct ergo_device *device,
                                const struct ergo_plan *plan, void *state) {
    const double start = ergo_clock();
    uint64_t rest = (uint64_t)batch->points[0]->parameters->equilibration;
    enum ergo_status status = ERGO_OK;
    while (rest && status == ERGO_OK && ergo_clock() - start < 1) {
        const uint64_t steps =
            (double)rest < plan->block_steps ? rest : (uint64_t)plan->block_steps;
        status = ergo_sampler_advance(ctx, model->ops, state, 0, 0, steps, 0);
        if (status == ERGO_OK)
            status = ergo_device_finish(ctx, device);
        rest -= steps;
    }
    if (model->correlation)
        ergo_engine_skip(state, rest);
    return status;
}

/* Seconds of a step: passes that grow to a tenth of a second. */
static enum ergo_status time_steps(struct ergo_context *ctx, const struct ergo_model *model,
                                   struct ergo_device *device, const struct ergo_plan *plan,
                                   void *state, double *seconds) {
    enum ergo_status status = ERGO_OK;
    uint64_t steps = 1;
    /* the first pass warms up (PoCL compiles at the first launch) */
    for (int pass = 0; pass < 4 && status == ERGO_OK; pass++) {
        const double start = ergo_clock();
        status = ergo_sampler_advance(ctx, model->ops, state, 0, 0, steps, 0);
        if (status == ERGO_OK)
            status = ergo_device_finish(ctx, device);
        *seconds = (ergo_clock() - start) / (double)steps;
        const double more = *seconds > 0 ? 0.1 / *seconds : plan->block_steps;
        steps = more < 1                   ? 1
                : more > plan->block_steps ? (uint64_t)plan->block_steps
                                           : (uint64_t)more;
    }
    return status;
}

/* The same of blocks with a measurement after each step; what is more than a step's is the
 * measurement's. most: samples that there is room for. */
static enum ergo_status time_samples(struct ergo_context *ctx, const struct ergo_model *model,
                                     struct ergo_device *device, size_t most, void *state,
                                     struct ergo_samples *samples, struct ergo_cost *cost) {
    enum ergo_status status = ERGO_OK;
    size_t count = 1;
    uint64_t done = 1; /* sample 0 may carry curves, which most do not */
    for (int pass = 0; pass < 4 && status == ERGO_OK; pass++) {
        const double start = ergo_clock(), before = device->waited;
        status = ergo_sampler_advance(ctx, model->ops, state, 0, count, 1, done);
        const double enqueued = ergo_clock();
        if (status == ERGO_OK)
            status = ergo_sampler_collect(ctx, model->ops, state, 0, samples);
        const double all = ergo_clock() - start, waited = device->waited - before;
        const double n = (double)count;
        cost->host = (all - (enqueued - start) - waited) / n;
        cost->measure = fmax(0, (all / n - cost->host) - cost->step);
        done += count;
        const double more = all > 0 ? floor(0.1 / all * n) : 1;
        count = more < 1 ? 1 : more > (double)most ? most : (size_t)more;
    }
    return status;
}

enum ergo_status ergo_cost_measure(struct ergo_context *ctx, const struct ergo_model *model,
                                   const struct ergo_batch *batch, struct ergo_device *device,
                                   const struct ergo_plan *plan, const struct ergo_stop *stop,
                                   double patience, bool measurements, struct ergo_cost *cost) {
    struct ergo_samples samples = {0};
    void *state = NULL;
    *cost = (struct ergo_cost){0};
    enum ergo_status status = ergo_sampler_create(ctx, model->ops, batch, device, &state);
    if (status == ERGO_OK)
        status = ergo_cost_start(ctx, model->ops, stop, patience, state);
    if (status == ERGO_OK && measurements)
        status = lead_in(ctx, model, batch, device, plan, state);
    if (status == ERGO_OK)
        status = time_steps(ctx, model, device, plan, state, &cost->step);
    const size_t most = plan->block_samples < 256 ? plan->block_samples : 256;
    if (status == ERGO_OK && measurements && !allocate(model, batch, most, &samples))
        status = ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory to time measurements");
    if (status == ERGO_OK && measurements)
        status = time_samples(ctx, model, device, most, state, &samples, cost);
    if (state)
        ergo_engine_destroy(state);
    free(samples.columns);
    for (size_t c = 0; c < ERGO_CURVES_MAX; c++)
        free(samples.curves[c]);
    return status;
}

/* Eq. 12, with the device's time for both costs; but not so often that the host's work takes longer
 * than the device's work that hides it (Eqs. 13 and 14). */
uint64_t ergo_cost_best_every(const struct ergo_cost *cost, double correlation) {
    if (!(cost->step > 0))
        return 1;
    const double both = sqrt(2 * correlation * cost->measure / cost->step);
    const double hidden = (cost->host - cost->measure) / cost->step;
    const double best = round(fmax(both, hidden));
    return best < 1 ? 1 : best > 1e6 ? 1000000 : (uint64_t)best;
}

/* ---- "auto" ---------------------------------------------------------------------------------- */

/* Errors can be trusted from some 100 samples on, so a run takes at least these, also where fewer
 * would be cheaper. */
enum { AUTO_SAMPLES = 100 };

static uint64_t fewest_sweeps(const struct ergo_job *job) {
    uint64_t fewest = UINT64_MAX;
    for (size_t i = 0; i < job->n_points; i++) {
        const uint64_t sweeps = (uint64_t)job->points[i].parameters->sweeps;
        fewest = sweeps < fewest ? sweeps : fewest;
    }
    return fewest;
}

static enum ergo_status measure(const struct ergo_session *session, const struct ergo_job *job,
                                uint64_t *every) {
    struct ergo_context *ctx = session->ctx;
    const struct ergo_model *model = job->model;
    const struct ergo_batch *batch = &job->batches[0];
    struct ergo_device *device = NULL;
    struct ergo_plan plan;
    struct ergo_cost cost;
    enum ergo_status status = ergo_device_open(ctx, ergo_session_device(session, job), &device);
    if (status == ERGO_OK)
        status = ergo_sampler_plan(ctx, model->ops, batch, device, &plan);
    if (status == ERGO_OK)
        status = ergo_cost_measure(ctx, model, batch, device, &plan, session->options->stop,
                                   INFINITY, true, &cost);
    ergo_device_close(device);
    if (status != ERGO_OK)
        return status;
    const uint64_t best = ergo_cost_best_every(&cost, model->correlation(batch->points[0]));
    const uint64_t most = fewest_sweeps(job) / AUTO_SAMPLES;
    *every = best < most ? best : most ? most : 1;
    if (*every < best)
        ergo_log(ctx, ERGO_LOG_WARNING,
                 "/run/measure_every: %llu would cost least, but of so few %ss it leaves less than "
                 "%d samples",
                 (unsigned long long)best, job->sampler->step_name, AUTO_SAMPLES);
    ergo_log(ctx, ERGO_LOG_WARNING,
             "/run/measure_every: %llu, chosen from timings (a %s takes %.3g s here, a measurement "
             "%.3g s and %.3g s of the host). Another machine, or another day, may choose "
             "otherwise: write \"measure_every\": %llu to get the same samples again",
             (unsigned long long)*every, job->sampler->step_name, cost.step, cost.measure,
             cost.host, (unsigned long long)*every);
    return ERGO_OK;
}

enum ergo_status ergo_cost_set_every(struct ergo_context *ctx, int64_t every,
                                     struct ergo_job **job) {
    char set[64];
    const char *const sets[] = {set};
    struct ergo_job *chosen = NULL;
    snprintf(set, sizeof set, "/run/measure_every=%lld", (long long)every);
    const enum ergo_status status = ergo_job_again(ctx, *job, sets, 1, &chosen);
    if (status == ERGO_OK) {
        ergo_job_destroy(*job);
        *job = chosen;
    }
    return status;
}

enum ergo_status ergo_cost_choose_every(const struct ergo_session *session, struct ergo_job **job) {
    struct ergo_context *ctx = session->ctx;
    const struct ergo_value *given = &(*job)->points[0].parameters->measure_every;
    struct {
        uint64_t every;
        int64_t status;
    } choice = {1, ERGO_OK};
    if (!given->automatic)
        return ERGO_OK;
    if (ergo_ranks_rank() == 0)
        choice.status = measure(session, *job, &choice.every);
    ergo_dist_share(&choice, sizeof choice);
    if (choice.status != ERGO_OK)
        return ergo_ranks_rank() == 0 ? (enum ergo_status)choice.status
                                      : ERGO_FAIL(ctx, (enum ergo_status)choice.status,
                                                  "rank 0 could not choose /run/measure_every");
    return ergo_cost_set_every(ctx, (int64_t)choice.every, job);
}
