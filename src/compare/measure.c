/* Times of kernels on each device, from a second's worth of the same job with profiling. */
#include <math.h>
#include <stdlib.h>

#include "compare/compare.h"
#include "base/file.h"

static enum ergo_status copy_rate(struct ergo_context *ctx, struct ergo_compared_device *d) {
    struct ergo_device *device = NULL;
    enum ergo_status status = ergo_device_open(ctx, d->selector, &device);
    if (status == ERGO_OK)
        status = ergo_device_copy_rate(ctx, device, &d->copy_rate);
    ergo_device_close(device);
    return status;
}

/* Profiling slows a run down, so rates come from the run before. */
static enum ergo_status profile(struct ergo_context *ctx, const struct ergo_comparison *c,
                                struct ergo_compared_device *d, const char *folder) {
    const struct ergo_run_watch watch = {.profile = &d->profile};
    const struct ergo_point *point = &ergo_comparison_job(c)->points[0];
    const uint64_t equilibration = (uint64_t)point->parameters->equilibration;
    const uint64_t sweeps = (uint64_t)point->parameters->sweeps;
    const double part = d->result->seconds > 1 ? 1 / d->result->seconds : 1;
    const double before = floor((double)equilibration * part);
    /* at least one measurement */
    const double steps = fmax(ceil((double)(equilibration + sweeps) * part),
                              before + (double)point->parameters->measure_every.integer);
    const struct ergo_run_options options = {
        .directory = folder, .device = d->selector, .overwrite = true, .watch = &watch};
    struct ergo_job *job = NULL;
    struct ergo_result *result = NULL;
    enum ergo_status status =
        ergo_comparison_short_job(ctx, c, (uint64_t)fmax(1, steps), (uint64_t)before, &job);
    if (status == ERGO_OK)
        status = ergo_run(ctx, job, &options, &result);
    ergo_result_destroy(result);
    ergo_job_destroy(job);
    return status;
}

enum ergo_status ergo_comparison_measure(struct ergo_context *ctx, struct ergo_comparison *c,
                                         const char *directory) {
    char *folder = NULL;
    enum ergo_status status = ergo_folder_within(ctx, directory, "profile", &folder);
    for (size_t i = 0; i < c->n_devices && status == ERGO_OK; i++) {
        struct ergo_compared_device *d = &c->devices[i];
        if (!d->result)
            continue;
        status = copy_rate(ctx, d);
        if (status == ERGO_OK)
            status = profile(ctx, c, d, folder);
        if (status != ERGO_OK && status != ERGO_STOPPED) {
            ergo_log(ctx, ERGO_LOG_WARNING, "the kernels on %s were not timed: %s",
                     ergo_comparison_name(d), ergo_error_message(ctx));
            ergo_error_clear(ctx);
            status = ERGO_OK;
        }
    }
    free(folder);
    return status;
}
