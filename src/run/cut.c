/*
 * Whether systems are cut over ranks. Pieces wait for each other in each step, and their devices
 * for the host between: a device that could do nearly all by itself does it faster alone.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "dist/dist.h"
#include "run/cost.h"
#include "run/work.h"

/* Of the speed of all. Two CPU ranks at 5 : 1 keep 0.74 to 0.78 of it when they cut a lattice
 * (bench/NOTES.md, unequal devices), an NVIDIA card and a CPU 0.07. */
static const double nearly_all = 0.8;

static bool is_worth_while(const struct ergo_job *job, size_t ranks) {
    bool worth = true;
    for (size_t p = 0; p < job->n_points && job->model->cuts; p++)
        worth = worth && job->model->cuts(&job->points[p], ranks);
    return worth;
}

bool ergo_work_cuts(const struct ergo_job *job) {
    const char *distribute = job->points[0].parameters->distribute;
    const size_t ranks = (size_t)ergo_dist_count();
    return job->model->cut && (strcmp(distribute, "lattice") == 0 ||
                               (strcmp(distribute, "auto") == 0 && ranks > 1 &&
                                job->n_points < ranks && is_worth_while(job, ranks)));
}

/* Work per second of the whole system on this rank's device; 0 where it is too large for it. */
static double speed_of(struct ergo_work *work, const struct ergo_job *job) {
    const struct ergo_batch *batch = &job->batches[0];
    struct ergo_plan plan;
    struct ergo_cost cost = {0};
    enum ergo_status status =
        ergo_sampler_plan(work->ctx, job->model->ops, batch, work->device, &plan);
    if (status == ERGO_OK)
        status = ergo_cost_measure(work->ctx, job->model, batch, work->device, &plan,
                                   work->session->options->stop, INFINITY, false, &cost);
    if (status != ERGO_OK)
        ergo_error_clear(work->ctx);
    return status == ERGO_OK && cost.step > 0 ? plan.work_per_step / cost.step : 0;
}

/* What a rank says of its device. */
struct offer {
    char name[sizeof((struct ergo_device_summary *)NULL)->name];
    double speed;
};

/* Equal devices are not tried: none of them has nearly all of the speed. */
static bool are_equal(const struct offer *offers, size_t ranks) {
    bool equal = true;
    for (size_t r = 1; r < ranks; r++)
        equal = equal && strcmp(offers[r].name, offers[0].name) == 0;
    return equal;
}

/* offers: of all ranks, afterwards; room for them before. */
static bool one_is_enough(struct ergo_work *work, const struct ergo_job *job,
                          struct offer *offers) {
    const size_t ranks = (size_t)ergo_dist_count();
    struct offer own = {.speed = 0};
    size_t fastest = 0;
    double all = 0;
    memcpy(own.name, work->device->summary.name, sizeof own.name);
    ergo_dist_collect(&own, sizeof own, offers);
    if (are_equal(offers, ranks))
        return false;
    own.speed = speed_of(work, job);
    ergo_dist_collect(&own, sizeof own, offers);
    for (size_t r = 0; r < ranks; r++) {
        all += offers[r].speed;
        if (offers[r].speed > offers[fastest].speed)
            fastest = r;
    }
    if (!(offers[fastest].speed > nearly_all * all))
        return false;
    if (ergo_ranks_rank() == 0)
        ergo_log(work->ctx, ERGO_LOG_INFO,
                 "not cut: rank %zu has %.3g %% of the speed of all ranks, and is faster alone "
                 "(\"distribute\": \"lattice\" cuts anyway)",
                 fastest, 100 * offers[fastest].speed / all);
    return true;
}

enum ergo_status ergo_work_choose_ops(struct ergo_work *work, const struct ergo_job *job) {
    const size_t ranks = (size_t)ergo_dist_count();
    enum ergo_status status = ERGO_OK;
    work->cut = ergo_work_cuts(job);
    if (work->cut && ergo_says(job->points[0].parameters->distribute, "auto")) {
        struct offer *offers = calloc(ranks, sizeof *offers);
        double *speeds = calloc(ranks, sizeof *speeds);
        status = offers && speeds
                     ? ergo_work_open_device(work, job)
                     : ERGO_FAIL(work->ctx, ERGO_E_MEMORY, "no memory for %zu ranks", ranks);
        if (status == ERGO_OK && one_is_enough(work, job, offers)) {
            for (size_t r = 0; r < ranks; r++)
                speeds[r] = offers[r].speed;
            work->speeds = speeds;
            work->cut = false;
        } else {
            free(speeds);
        }
        free(offers);
    }
    work->ops = work->cut ? job->model->cut : job->model->ops;
    return status;
}
