/*
 * What a device did, kernel by kernel: launches, seconds, bytes; and, when asked, what each launch
 * left in every buffer. A device without a profile (device->profile NULL) is not slowed down.
 */
#ifndef ERGO_DEVICE_PROFILE_H
#define ERGO_DEVICE_PROFILE_H

#include "device/device.h"

enum { ERGO_PROFILE_KERNELS = 64, ERGO_PROFILE_BUFFERS = 128, ERGO_PROFILE_LAUNCHES = 4096 };

struct ergo_profile_kernel {
    char name[64];
    uint64_t launches;
    double seconds; /* of all launches */
    double bytes;   /* of all buffers that launches were given; transfers: the bytes */
    bool transfer;  /* no kernel but reading back, or writing */
};

/* Hash of each buffer after a launch (traces). */
struct ergo_profile_launch {
    unsigned kernel; /* index */
    unsigned n_buffers;
    uint64_t *hashes; /* owned, [n_buffers] */
};

struct ergo_profile_buffer {
    cl_mem mem; /* retained by traces, else only a number */
    size_t bytes;
    char what[48];
};

struct ergo_profile {
    bool waits; /* launches are timed one by one with the host's clock: no event times there */
    size_t n_kernels;
    struct ergo_profile_kernel kernels[ERGO_PROFILE_KERNELS];
    uint64_t missed; /* launches and buffers beyond the tables */
    size_t n_buffers;
    struct ergo_profile_buffer buffers[ERGO_PROFILE_BUFFERS];
    /* commands whose times are still to be asked for */
    size_t n_pending;
    struct {
        cl_event event;
        unsigned kernel;
    } pending[1024];
    double begun; /* waits: when the command was enqueued */
    /* trace: the last ERGO_PROFILE_LAUNCHES launches, in order from n_launches % that on */
    bool trace;
    size_t n_launches;
    uint64_t hashed_bytes; /* a trace ends when too much was read */
    struct ergo_profile_launch *launches;
};

/* From here on until the device is closed, or the profile is taken. */
enum ergo_status ergo_profile_start(struct ergo_context *ctx, struct ergo_device *device,
                                    bool trace);
/* Complete, no longer the device's; NULL: it had none. The caller destroys it. */
struct ergo_profile *ergo_profile_take(struct ergo_device *device);
void ergo_profile_destroy(struct ergo_profile *profile); /* NULL-safe */

/* For src/device alone; nothing happens without a profile. Around each command: before gives the
 * event to enqueue with (the caller's, or one of the profile's own). */
cl_event *ergo_profile_before(struct ergo_device *device, cl_event *callers, cl_event *own);
void ergo_profile_after_launch(struct ergo_device *device, const char *name,
                               const struct ergo_arg *args, size_t n_args, cl_event event,
                               bool own);
void ergo_profile_after_transfer(struct ergo_device *device, const char *name, size_t bytes,
                                 cl_event event, bool own);
void ergo_profile_add_buffer(struct ergo_device *device, const char *what, cl_mem mem,
                             size_t bytes);

/* Bytes a second that the device copies from one of its buffers to another, read and written bytes
 * both counted: the best of some copies far larger than caches, where memory allows. */
enum ergo_status ergo_device_copy_rate(struct ergo_context *ctx, struct ergo_device *device,
                                       double *bytes_per_second);

#endif
