/*
 * Configurations as text (extended XYZ, or what the sampler writes), one file each, so that a kill
 * leaves whole files. A resumed run writes the files after its checkpoint again. `cat
 * DIR/trajectory/p0000-*.xyz` is a trajectory of the first point for every reader of the format. Or
 * a trajectory is one file of GSD a point (result/gsd.h).
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "dist/dist.h"
#include "result/gsd.h"
#include "run/work.h"

static struct ergo_frame_times times_of(const struct ergo_work *work) {
    return (struct ergo_frame_times){
        work->job->model->trajectory ? (uint64_t)work->job->points[0].parameters->trajectory_every
                                     : 0,
        false};
}

size_t ergo_work_next_frame(const struct ergo_work *work, size_t samples) {
    const struct ergo_frame_times times = times_of(work);
    const size_t k = ergo_schedule_next_frame(&work->schedule, times, samples);
    return k == SIZE_MAX ? k : ergo_schedule_frame(&work->schedule, times, k);
}

enum ergo_status ergo_work_write_frames(struct ergo_work *work, const char *kind, size_t stride) {
    const struct ergo_batch *batch = &work->batches[work->batch];
    const char *suffix = work->job->model->frame_suffix;
    const char *format = work->job->points[0].parameters->trajectory_format;
    const bool gsd = strcmp(kind, "trajectory") == 0 && strcmp(format, "gsd") == 0;
    struct ergo_folder folder = {.fd = -1};
    const bool writer = !work->cut || ergo_ranks_rank() == 0; /* the others only take part */
    enum ergo_status status = writer ? ergo_session_hold_folder(work->session) : ERGO_OK;
    if (status == ERGO_OK && writer)
        status = ergo_folder_inner(work->ctx, &work->session->folder, kind, &folder);
    for (size_t m = 0; m < batch->count && status == ERGO_OK; m++) {
        const size_t index = batch->points[m]->index;
        struct ergo_text text = {0};
        char name[64];
        if (index % stride || !ergo_point_has_frames(batch->points[m]))
            continue;
        if (gsd)
            snprintf(name, sizeof name, "p%04zu.gsd", index);
        else
            snprintf(name, sizeof name, "p%04zu-%015" PRIu64 ".%.8s", index, work->step,
                     suffix ? suffix : "xyz");
        status = ergo_sampler_frame(work->ctx, work->ops, work->state, m, &text);
        if (status == ERGO_OK && text.failed)
            status = ERGO_FAIL(work->ctx, ERGO_E_MEMORY, "no memory for a configuration");
        if (status == ERGO_OK && writer && text.length)
            status =
                gsd ? ergo_gsd_write(work->ctx, &folder, name, work->step, text.data, text.length)
                    : ergo_file_write(work->ctx, &folder, name, text.data, text.length);
        ergo_text_free(&text);
    }
    ergo_folder_close(&folder);
    return status;
}

/* Replicas of a scan point that are in one batch share a file, named by the first of them. */
enum ergo_status ergo_work_write_states(struct ergo_work *work) {
    const struct ergo_batch *batch = &work->batches[work->batch];
    struct ergo_folder folder = {.fd = -1};
    if (!work->ops->states)
        return ERGO_OK;
    enum ergo_status status = ergo_session_hold_folder(work->session);
    if (status == ERGO_OK)
        status = ergo_folder_inner(work->ctx, &work->session->folder, "states", &folder);
    for (size_t m = 0, n = 0; m < batch->count && status == ERGO_OK; m += n) {
        struct ergo_text text = {0};
        char name[64];
        for (n = 1; m + n < batch->count &&
                    batch->points[m + n]->scan_index == batch->points[m]->scan_index;)
            n++;
        snprintf(name, sizeof name, "p%04zu.txt", batch->points[m]->index);
        status = work->ops->states(work->ctx, work->state, m, n, &text);
        if (status == ERGO_OK && text.failed)
            status = ERGO_FAIL(work->ctx, ERGO_E_MEMORY, "no memory for the states found");
        if (status == ERGO_OK)
            status = ergo_file_write(work->ctx, &folder, name, text.data, text.length);
        ergo_text_free(&text);
    }
    ergo_folder_close(&folder);
    return status;
}

/* ---- snapshots ------------------------------------------------------------------------------- */

size_t ergo_work_snapshots(const struct ergo_work *work) {
    return work->ops->picture || work->ops->view || work->ops->frame
               ? (size_t)work->job->points[0].parameters->snapshots.integer
               : 0;
}

/* Pictures are kept in memory and in checkpoints: of at most 512 / n members, spread evenly.
 * Without a request, of one member, for the report. */
enum ergo_status ergo_work_take_snapshots(struct ergo_work *work) {
    const struct ergo_batch *batch = &work->batches[work->batch];
    const size_t n = ergo_work_snapshots(work) ? ergo_work_snapshots(work) : 1,
                 all = 512 / n ? 512 / n : 1;
    const struct ergo_value *asked = &work->job->points[0].parameters->snapshots;
    const bool painted = work->ops->picture || work->ops->view;
    const size_t most = asked->given ? all : 48;
    const size_t stride = (work->job->n_points + most - 1) / most;
    enum ergo_status status =
        work->job->model->trajectory ? ergo_work_write_frames(work, "snapshots", stride) : ERGO_OK;
    for (size_t m = 0; painted && m < batch->count && status == ERGO_OK; m++) {
        struct ergo_member_result *result = ergo_work_member(work, m);
        const size_t have = result->n_pictures; /* those of before a resume, or an extension */
        if (result->point->index % stride || have == ERGO_RESULT_PICTURES ||
            (have && result->picture_steps[have - 1] >= work->step))
            continue;
        struct ergo_picture picture;
        status = ergo_sampler_picture(work->ctx, work->ops, work->state, m, &picture);
        if (status != ERGO_OK)
            break;
        result->picture_steps[result->n_pictures] = work->step;
        result->pictures[result->n_pictures++] = picture;
    }
    return status;
}
