/* The last checkpoint and the device's end, beside estimates and files (ending.c). */
#ifndef ERGO_RUN_ENDING_H
#define ERGO_RUN_ENDING_H

#include <pthread.h>

#include "run/work.h"

struct ergo_ending {
    struct ergo_context *ctx; /* of the thread */
    struct ergo_device *device;
    struct ergo_folder folder;
    struct ergo_blobs blobs; /* of the last checkpoint; none: it is not to be written */
    enum ergo_status status;
    pthread_t thread;
    bool beside; /* false: all was done at once */
};

/* Takes the work's device. saved: the last checkpoint has been written. */
enum ergo_status ergo_ending_begin(struct ergo_work *work, bool saved, struct ergo_ending *ending);
/* To be called after ergo_ending_begin, whatever that returned. */
enum ergo_status ergo_ending_wait(struct ergo_context *ctx, struct ergo_ending *ending);

#endif
