/* configurations.h5 while a run writes it (result/configurations.h). */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "dist/dist.h"
#include "run/work.h"

size_t ergo_work_next_configuration(const struct ergo_work *work, size_t samples) {
    const struct ergo_frame_times times = ergo_schedule_configurations(work->job);
    const size_t k = ergo_schedule_next_frame(&work->schedule, times, samples);
    return k == SIZE_MAX ? k : ergo_schedule_frame(&work->schedule, times, k);
}

size_t ergo_work_configuration_due(const struct ergo_work *work, size_t samples) {
    const struct ergo_frame_times times = ergo_schedule_configurations(work->job);
    const size_t k =
        samples ? ergo_schedule_next_frame(&work->schedule, times, samples - 1) : SIZE_MAX;
    return k != SIZE_MAX && ergo_schedule_frame(&work->schedule, times, k) == samples ? k
                                                                                      : SIZE_MAX;
}

enum ergo_status ergo_work_prepare_configurations(struct ergo_work *work, bool fresh) {
    if (!ergo_configurations_wanted(work->job))
        return ERGO_OK;
    ergo_configurations_free(&work->configurations);
    const enum ergo_status status = ergo_session_hold_folder(work->session);
    if (status == ERGO_OK && fresh)
        unlinkat(work->session->folder.fd, ERGO_CONFIGURATIONS, 0);
    return status == ERGO_OK
               ? ergo_configurations_prepare(work->ctx, &work->session->folder, work->job,
                                             ergo_ranks_rank() == 0, &work->configurations)
               : status;
}

/* The file, which is looked for again: the folder may have been removed meanwhile. */
static enum ergo_status open_file(struct ergo_work *work, int *fd) {
    const struct ergo_folder *folder = &work->session->folder;
    enum ergo_status status = ergo_session_hold_folder(work->session);
    if (status != ERGO_OK || ergo_configurations_open(&work->configurations, work->ctx, folder, fd))
        return status;
    status = ergo_work_prepare_configurations(work, false);
    if (status == ERGO_OK &&
        !ergo_configurations_open(&work->configurations, work->ctx, folder, fd))
        status = ERGO_FAIL(work->ctx, ERGO_E_IO, "cannot write %s/%s: it cannot be opened again",
                           folder->path, ERGO_CONFIGURATIONS);
    return status;
}

enum ergo_status ergo_work_write_configurations(struct ergo_work *work, size_t frame) {
    const struct ergo_batch *batch = &work->batches[work->batch];
    const bool writer = !work->cut || ergo_ranks_rank() == 0; /* the others only take part */
    int fd = -1;
    enum ergo_status status = writer ? open_file(work, &fd) : ERGO_OK;
    ergo_engine_read_ahead(work->state, true);
    for (size_t m = 0; m < batch->count && status == ERGO_OK; m++) {
        struct ergo_text state = {0};
        status = work->ops->save(work->ctx, work->state, m, &state);
        if (status == ERGO_OK && state.failed)
            status = ERGO_FAIL(work->ctx, ERGO_E_MEMORY, "no memory for a configuration");
        if (status == ERGO_OK && writer)
            status = ergo_configurations_write(&work->configurations, work->ctx, fd,
                                               batch->points[m]->index, frame, work->step,
                                               state.data, state.length);
        ergo_text_free(&state);
    }
    ergo_engine_read_ahead(work->state, false);
    work->unsynced = work->unsynced || writer;
    /* network file systems report a full disk here */
    if (fd >= 0 && close(fd) != 0 && status == ERGO_OK)
        status = ERGO_FAIL(work->ctx, ERGO_E_IO, "cannot write %s/%s: closing it: %s",
                           work->session->folder.path, ERGO_CONFIGURATIONS, strerror(errno));
    return status;
}

enum ergo_status ergo_work_sync_configurations(struct ergo_work *work) {
    int fd = -1;
    if (!work->unsynced)
        return ERGO_OK;
    enum ergo_status status = open_file(work, &fd);
    if (status == ERGO_OK && !ergo_file_sync(fd))
        status = ERGO_FAIL(work->ctx, ERGO_E_IO, "cannot write %s/%s to the disk: %s",
                           work->session->folder.path, ERGO_CONFIGURATIONS, strerror(errno));
    if (fd >= 0)
        close(fd);
    work->unsynced = status != ERGO_OK;
    return status;
}

enum ergo_status ergo_work_copy_configurations(struct ergo_work *work,
                                               const struct ergo_folder *from) {
    int fd = -1;
    if (!ergo_configurations_wanted(work->job))
        return ERGO_OK;
    enum ergo_status status = open_file(work, &fd);
    if (status == ERGO_OK)
        status = ergo_configurations_copy(&work->configurations, work->ctx, fd, from);
    if (fd >= 0)
        close(fd);
    return status;
}

enum ergo_status ergo_work_check_configurations(struct ergo_work *work) {
    uint64_t missing = 0;
    int fd = -1;
    if (!ergo_configurations_wanted(work->job))
        return ERGO_OK;
    enum ergo_status status = open_file(work, &fd);
    if (status == ERGO_OK)
        status = ergo_configurations_missing(&work->configurations, work->ctx, fd, &missing);
    if (fd >= 0)
        close(fd);
    if (missing)
        ergo_log(work->ctx, ERGO_LOG_WARNING,
                 "%s lacks %" PRIu64
                 " frames (their step is -1): those of before an extension that "
                 "asked for more of them, or the file was removed meanwhile",
                 ERGO_CONFIGURATIONS, missing);
    return status;
}
