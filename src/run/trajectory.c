/*
 * Configurations as text (extended XYZ, or what the sampler writes), a file each: a kill leaves
 * whole ones, and a resumed run writes the same files again from its checkpoint on. `cat
 * DIR/trajectory/p0000-*.xyz` is a trajectory of the first point for every reader of the format.
 */
#include <inttypes.h>
#include <stdio.h>

#include "dist/dist.h"
#include "run/run.h"

static uint64_t interval_of(const struct ergo_run *run) {
    return run->ops->frame
               ? (uint64_t)ergo_point_int(&run->job->points[0], "/output/trajectory_every")
               : 0;
}

size_t ergo_run_next_frame(const struct ergo_run *run, size_t samples) {
    const struct ergo_schedule *s = &run->schedule;
    const uint64_t interval = interval_of(run);
    if (!interval)
        return SIZE_MAX;
    const uint64_t steps =
        samples > s->n_equilibration ? (samples - s->n_equilibration) * s->every : 0;
    const uint64_t due = (steps / interval + 1) * interval;
    return s->n_equilibration + (size_t)((due + s->every - 1) / s->every);
}

enum ergo_status ergo_run_write_frames(struct ergo_run *run, const char *kind, size_t stride) {
    const struct ergo_batch *batch = &run->job->batches[run->batch];
    const char *suffix = run->job->model->frame_suffix;
    struct ergo_folder folder = {.fd = -1};
    const bool writer = !run->cut || ergo_ranks_rank() == 0; /* the others only take part */
    enum ergo_status status = writer ? ergo_run_hold_folder(run) : ERGO_OK;
    if (status == ERGO_OK && writer)
        status = ergo_folder_inner(run->ctx, &run->folder, kind, &folder);
    for (size_t m = 0; m < batch->count && status == ERGO_OK; m++) {
        const size_t index = batch->points[m]->index;
        struct ergo_text text = {0};
        char name[64];
        if (index % stride)
            continue;
        snprintf(name, sizeof name, "p%04zu-%015" PRIu64 ".%.8s", index, run->step,
                 suffix ? suffix : "xyz");
        status = run->ops->frame(run->ctx, run->state, m, &text);
        if (status == ERGO_OK && text.failed)
            status = ERGO_FAIL(run->ctx, ERGO_E_MEMORY, "no memory for a configuration");
        if (status == ERGO_OK && writer && text.length)
            status = ergo_file_write(run->ctx, &folder, name, text.data, text.length);
        ergo_text_free(&text);
    }
    ergo_folder_close(&folder);
    return status;
}
