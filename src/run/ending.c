/*
 * What the end of a run does beside its estimates and files, which need not wait for it: the last
 * checkpoint is written (60 MB take 0.1 s, on a disk of a network more), and the device closes
 * (0.08 s on an H200).
 */
#include <signal.h>

#include "dist/dist.h"
#include "run/ending.h"

static void *end(void *ending) {
    struct ergo_ending *e = ending;
    if (e->blobs.count)
        e->status = ergo_checkpoint_write(e->ctx, &e->folder, ERGO_CHECKPOINT, &e->blobs);
    ergo_device_close(e->device);
    e->device = NULL;
    return NULL;
}

enum ergo_status ergo_ending_begin(struct ergo_work *work, bool saved, struct ergo_ending *e) {
    enum ergo_status status = ERGO_OK;
    sigset_t all, before;
    *e = (struct ergo_ending){.folder = {.fd = -1}};
    if (work->state || work->spread || !work->device)
        return ERGO_OK;
    if (!saved && ergo_ranks_rank() == 0) {
        e->ctx = ergo_context_create();
        status = e->ctx ? ergo_session_hold_folder(work->session)
                        : ERGO_FAIL(work->ctx, ERGO_E_MEMORY, "no memory for a context");
        if (status == ERGO_OK)
            status = ergo_folder_open(work->ctx, work->session->folder.path, &e->folder);
        if (status == ERGO_OK)
            status = ergo_work_finished(work, &e->blobs);
        if (status != ERGO_OK)
            return status;
    }
    e->device = work->device;
    work->device = NULL;
    sigfillset(&all); /* signals go to the threads of the program, which expect them */
    pthread_sigmask(SIG_BLOCK, &all, &before);
    e->beside = pthread_create(&e->thread, NULL, end, e) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (!e->beside)
        end(e);
    return ERGO_OK;
}

enum ergo_status ergo_ending_wait(struct ergo_context *ctx, struct ergo_ending *e) {
    if (e->beside)
        pthread_join(e->thread, NULL);
    const enum ergo_status status =
        e->status == ERGO_OK ? ERGO_OK
                             : ERGO_FAIL(ctx, e->status, "%s", ergo_error_message(e->ctx));
    ergo_blobs_free(&e->blobs);
    ergo_folder_close(&e->folder);
    ergo_context_destroy(e->ctx);
    return status;
}
