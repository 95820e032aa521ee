/* Times of kernels from events, or by the host's clock where a device has no event times. */
#include "device/profile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

static const uint64_t trace_bytes_max = 2000000000;

enum ergo_status ergo_profile_start(struct ergo_context *ctx, struct ergo_device *device,
                                    bool trace) {
    struct ergo_profile *p = calloc(1, sizeof *p);
    if (p && trace)
        p->launches = calloc(ERGO_PROFILE_LAUNCHES, sizeof *p->launches);
    if (!p || (trace && !p->launches)) {
        free(p);
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for a profile");
    }
    p->trace = trace;
    p->waits = trace || device->quirks.no_profiling;
    device->profile = p;
    return ERGO_OK;
}

/* Asks for the time of a pending command; waits for it. */
static void ask(struct ergo_profile *p, size_t at) {
    cl_ulong start = 0, end = 0;
    cl_event event = p->pending[at].event;
    if (clWaitForEvents(1, &event) == CL_SUCCESS &&
        clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, sizeof start, &start, NULL) ==
            CL_SUCCESS &&
        clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof end, &end, NULL) ==
            CL_SUCCESS &&
        end > start)
        p->kernels[p->pending[at].kernel].seconds += 1e-9 * (double)(end - start);
    (void)clReleaseEvent(event);
}

struct ergo_profile *ergo_profile_take(struct ergo_device *device) {
    struct ergo_profile *p = device->profile;
    device->profile = NULL;
    if (!p)
        return NULL;
    (void)ergo_queue_finish(device, device->queue);
    for (size_t i = 0; i < p->n_pending; i++)
        ask(p, i);
    p->n_pending = 0;
    for (size_t i = 0; i < p->n_buffers && p->trace; i++)
        (void)clReleaseMemObject(p->buffers[i].mem);
    return p;
}

void ergo_profile_destroy(struct ergo_profile *p) {
    if (!p)
        return;
    for (size_t i = 0; p->launches && i < ERGO_PROFILE_LAUNCHES; i++)
        free(p->launches[i].hashes);
    free(p->launches);
    free(p);
}

void ergo_profile_add_buffer(struct ergo_device *device, const char *what, cl_mem mem,
                             size_t bytes) {
    struct ergo_profile *p = device->profile;
    size_t at = 0;
    if (!p)
        return;
    /* a handle may be used again: then its entry is overwritten */
    while (at < p->n_buffers && p->buffers[at].mem != mem)
        at++;
    if (at == ERGO_PROFILE_BUFFERS) {
        p->missed++;
        return;
    }
    p->n_buffers += at == p->n_buffers;
    p->buffers[at].mem = mem;
    p->buffers[at].bytes = bytes;
    snprintf(p->buffers[at].what, sizeof p->buffers[at].what, "%s", what);
    if (p->trace) /* a trace reads the buffer after later launches, when its owner may have
                   * released it */
        (void)clRetainMemObject(mem);
}

cl_event *ergo_profile_before(struct ergo_device *device, cl_event *callers, cl_event *own) {
    struct ergo_profile *p = device->profile;
    *own = NULL;
    if (!p)
        return callers;
    if (p->waits) {
        (void)ergo_queue_finish(device, device->queue);
        p->begun = ergo_clock();
        return callers;
    }
    return callers ? callers : own;
}

/* Entry of that name, made if new; ERGO_PROFILE_KERNELS: no more room. */
static unsigned find_kernel(struct ergo_profile *p, const char *name) {
    size_t k = 0;
    while (k < p->n_kernels && strcmp(p->kernels[k].name, name) != 0)
        k++;
    if (k == p->n_kernels && k < ERGO_PROFILE_KERNELS)
        snprintf(p->kernels[p->n_kernels++].name, sizeof p->kernels[k].name, "%s", name);
    return (unsigned)k;
}

/* Notes an enqueued command; false: it cannot be counted. */
static bool note(struct ergo_device *device, unsigned k, double bytes, cl_event event, bool own) {
    struct ergo_profile *p = device->profile;
    if (k == ERGO_PROFILE_KERNELS) {
        p->missed++;
        if (own && event)
            (void)clReleaseEvent(event);
        return false;
    }
    p->kernels[k].launches++;
    p->kernels[k].bytes += bytes;
    if (p->waits) {
        (void)ergo_queue_finish(device, device->queue);
        p->kernels[k].seconds += ergo_clock() - p->begun;
        return true;
    }
    const size_t room = sizeof p->pending / sizeof *p->pending;
    if (!event || (!own && clRetainEvent(event) != CL_SUCCESS))
        return true;
    if (p->n_pending == room) { /* the older half has completed long ago */
        for (size_t i = 0; i < room / 2; i++)
            ask(p, i);
        memmove(p->pending, p->pending + room / 2, room / 2 * sizeof *p->pending);
        p->n_pending = room / 2;
    }
    p->pending[p->n_pending].event = event;
    p->pending[p->n_pending++].kernel = k;
    return true;
}

/* Hashes of all buffers, as the launch left them. */
static void trace(struct ergo_device *device, unsigned kernel) {
    struct ergo_profile *p = device->profile;
    struct ergo_profile_launch *launch = &p->launches[p->n_launches % ERGO_PROFILE_LAUNCHES];
    if (p->hashed_bytes > trace_bytes_max)
        return;
    free(launch->hashes);
    launch->kernel = kernel;
    launch->n_buffers = 0;
    launch->hashes = calloc(p->n_buffers + 1, sizeof *launch->hashes);
    p->n_launches++;
    for (size_t b = 0; launch->hashes && b < p->n_buffers; b++) {
        const size_t bytes = p->buffers[b].bytes;
        void *data = malloc(bytes);
        launch->n_buffers = (unsigned)b + 1;
        if (data && clEnqueueReadBuffer(device->queue, p->buffers[b].mem, CL_TRUE, 0, bytes, data,
                                        0, NULL, NULL) == CL_SUCCESS)
            launch->hashes[b] = ergo_hash64(data, bytes);
        free(data);
        p->hashed_bytes += bytes;
    }
}

void ergo_profile_after_launch(struct ergo_device *device, const char *name,
                               const struct ergo_arg *args, size_t n_args, cl_event event,
                               bool own) {
    struct ergo_profile *p = device->profile;
    bool seen[ERGO_PROFILE_BUFFERS] = {false};
    double bytes = 0;
    if (!p)
        return;
    for (size_t i = 0; i < n_args; i++) {
        cl_mem mem = NULL;
        if (args[i].size != sizeof mem || !args[i].value)
            continue;
        memcpy(&mem, args[i].value, sizeof mem); /* a buffer, if its number is one of ours */
        for (size_t b = 0; b < p->n_buffers; b++)
            if (p->buffers[b].mem == mem && !seen[b]) {
                seen[b] = true;
                bytes += (double)p->buffers[b].bytes;
            }
    }
    const unsigned k = find_kernel(p, name);
    if (note(device, k, bytes, event, own) && p->trace)
        trace(device, k);
}

void ergo_profile_after_transfer(struct ergo_device *device, const char *name, size_t bytes,
                                 cl_event event, bool own) {
    struct ergo_profile *p = device->profile;
    if (!p)
        return;
    const unsigned k = find_kernel(p, name);
    if (note(device, k, (double)bytes, event, own))
        p->kernels[k].transfer = true;
}
