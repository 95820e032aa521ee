/* OpenCL devices: find, choose, open, probe. */
#ifndef ERGO_DEVICE_DEVICE_H
#define ERGO_DEVICE_DEVICE_H

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include "base/error.h"

/* "CL_OUT_OF_RESOURCES" for -5; "unknown OpenCL error" otherwise. */
const char *ergo_cl_name(int cl_code);
/* With its number, "CL_OUT_OF_RESOURCES (-5)", in `text`; NULL where the code is no error. */
enum { ERGO_CL_CAUSE = 64 };
const char *ergo_cl_cause(int cl_code, char text[ERGO_CL_CAUSE]);
/* A failure of an OpenCL call. */
#define ERGO_FAIL_CL(ctx, cl_code, ...)                                                            \
    ergo_error_raised(ergo_error_raise((ctx), ERGO_E_DEVICE,                                       \
                                       ergo_cl_cause((cl_code), (char[ERGO_CL_CAUSE]){0}),         \
                                       __FILE__, __LINE__, __VA_ARGS__))

/* Known defects of implementations, as named effects; the table is in quirks.c. */
struct ergo_quirks {
    bool no_profiling;             /* event times are missing or zero: use the host clock */
    bool no_binary_cache;          /* program binaries of this implementation cannot be trusted */
    bool no_fill;                  /* zero buffers by writes, not by clEnqueueFillBuffer */
    bool whole_writes;             /* write a buffer as a whole: after a write of a part the device
                                    * takes the rest as uninitialised */
    bool group_limit_unreliable;   /* CL_KERNEL_WORK_GROUP_SIZE is too small: use the device's
                                    * limit */
    bool many_barriers_unreliable; /* kernels with dozens of barriers give wrong answers */
    bool finish_forgets;       /* clFinish does not wait for commands that were flushed before it */
    bool build_again;          /* a build may fail because another process makes the same one */
    bool one_thread;           /* wrong answers when two threads use it, each by itself */
    bool binaries_compile;     /* asked for a binary, it compiles kernels that nothing launches */
    const char *build_options; /* extra build options, "" for none */
    /* build options with which kernels read and write atomically without changing anything
     * (cl/swendsen_wang/relaxed.h), "" where that needs OpenCL 1.2's atomics */
    const char *relaxed_atomics;
    uint64_t host_buffer_limit; /* largest usable buffer, 0: as reported */
    uint64_t loop_limit;        /* iterations of all loops of a work-item together after which
                                 * its loops end early; 0: no limit */
};

/* An opened device with one context and one in-order queue (profiling enabled where it works). */
struct ergo_device {
    struct ergo_device_summary summary;
    cl_platform_id platform;
    cl_device_id device;
    cl_context context;
    cl_command_queue queue;
    cl_device_type type;
    char vendor[64]; /* CL_DEVICE_VENDOR */
    unsigned wave;   /* work-items that run in step: groups of fewer leave lanes idle */
    struct ergo_quirks quirks;
    char options[256];            /* of every build: language version, rounding, quirks */
    bool probed;                  /* this device and driver passed the probe, now or earlier */
    double waited;                /* seconds that the host has waited for events */
    double build_seconds;         /* in building programs, or loading them */
    unsigned built, loaded;       /* programs: from source, from the cache of binaries */
    struct ergo_profile *profile; /* profile.h; owned; NULL: no profiling */
    bool exact_division;          /* probed: fp32 division and square root are correctly rounded */
    bool software_fma;            /* probed: its own fma() is slow, or there is none */
    int claim;                    /* claim.h; 0: none */
};

/*
 * Open one device. selector: "auto" (best GPU, else CPU), "P:D" by index, a PCI address
 * ("01:00.0"), a type ("gpu", "cpu", "accelerator"), or part of the device's or platform's name
 * (case-insensitive; a whole name goes before a part). NULL: $ERGOCL_DEVICE, else "auto".
 * A name or type that fits several devices is an error that lists them ("gpu" and "cpu" too, unless
 * all but one are refused). Equal devices will do all the same: of those it takes the first that no
 * other process has opened (claim.h). Refused devices are skipped by auto and are an error with the
 * reason otherwise. The probe runs at first use of a device and driver, its verdict is cached.
 */
enum ergo_status ergo_device_open(struct ergo_context *ctx, const char *selector,
                                  struct ergo_device **device);
void ergo_device_close(struct ergo_device *device); /* NULL-safe */
/* Has the device warps of 32 that add by one instruction? NVIDIA from compute capability 8.0 on. */
bool ergo_device_adds_in_warps(const struct ergo_device *device);

/*
 * For ranks that share a host. If `selector` ("gpu", "cpu", "accelerator" or a name) fits several
 * devices that pass the probe, and a name only devices of one model and platform, `text` becomes
 * the index "P:D" of the device for this turn (0, 1, ... in cycles). Else `text` becomes the
 * selector, which ergo_device_open accepts or refuses. "auto": as "gpu" if that can be dealt out.
 */
enum ergo_status ergo_device_deal(struct ergo_context *ctx, const char *selector, size_t turn,
                                  char *text, size_t size);

/* The probe alone, always run: arithmetic, rounding, atomics, barriers, Philox known answers.
 * ERGO_OK (sets probed and exact_division, corrects summary.atomics64), or the error with a
 * sentence in `verdict` that names the check, got and expected. */
enum ergo_status ergo_device_probe(struct ergo_context *ctx, struct ergo_device *device,
                                   char *verdict, size_t size);

/* ---- small wrappers: every one checks every return code and names device and purpose --------- */

/* `what` names the buffer in messages ("spins"). Zero-filled when data == NULL. */
enum ergo_status ergo_buffer_create(struct ergo_context *ctx, struct ergo_device *device,
                                    const char *what, size_t bytes, const void *data, cl_mem *mem);
void ergo_buffer_release(cl_mem *mem); /* NULL-safe, sets NULL */
/* Blocking transfers. */
enum ergo_status ergo_buffer_read(struct ergo_context *ctx, struct ergo_device *device, cl_mem mem,
                                  size_t offset, size_t bytes, void *data);
/* Enqueues the read and returns: `data` is valid when `event` is complete, or an event of a later
 * command of the device's queue. event: may be NULL; an event in it is released first. */
enum ergo_status ergo_buffer_read_later(struct ergo_context *ctx, struct ergo_device *device,
                                        cl_mem mem, size_t offset, size_t bytes, void *data,
                                        cl_event *event);
enum ergo_status ergo_buffer_write(struct ergo_context *ctx, struct ergo_device *device, cl_mem mem,
                                   size_t offset, size_t bytes, const void *data);
/* Enqueues that these bytes, at least one, are set to `byte`, on a device that can
 * (quirks.no_fill). */
cl_int ergo_buffer_fill_later(struct ergo_device *device, cl_mem mem, size_t offset, size_t bytes,
                              uint8_t byte);
/* Sets all of these bytes to `byte`; by the device, if it can. */
enum ergo_status ergo_buffer_fill(struct ergo_context *ctx, struct ergo_device *device, cl_mem mem,
                                  size_t offset, size_t bytes, uint8_t byte);

/* One argument of a launch: ERGO_ARG(value) by value, ERGO_ARG_LOCAL(bytes) for local memory. */
struct ergo_arg {
    size_t size;
    const void *value;
};
#define ERGO_ARG(lvalue) ((struct ergo_arg){sizeof(lvalue), &(lvalue)})
#define ERGO_ARG_LOCAL(bytes) ((struct ergo_arg){(bytes), NULL})

/* Set all arguments and enqueue over 1 to 3 dimensions; global sizes are multiples of the local
 * ones (the caller rounds up, kernels check bounds). local NULL: the driver's choice. event may be
 * NULL. */
enum ergo_status ergo_kernel_launch(struct ergo_context *ctx, struct ergo_device *device,
                                    cl_kernel kernel, const char *name, const struct ergo_arg *args,
                                    size_t n_args, unsigned dims, const size_t *global,
                                    const size_t *local, cl_event *event);
/* Largest work-group this kernel can be launched with on this device. */
enum ergo_status ergo_kernel_largest_group(struct ergo_context *ctx, struct ergo_device *device,
                                           cl_kernel kernel, const char *name, size_t *largest);
enum ergo_status ergo_device_finish(struct ergo_context *ctx, struct ergo_device *device);
/* clFinish of a queue of the device; for callers that report a failure themselves, or cannot. */
cl_int ergo_queue_finish(const struct ergo_device *device, cl_command_queue queue);
/* Flush, then wait for an event and release it. *seconds (may be NULL): its device time, or < 0
 * where the device has no event times. */
enum ergo_status ergo_event_wait(struct ergo_context *ctx, struct ergo_device *device,
                                 cl_event *event, double *seconds);

/* An event that is complete when all commands enqueued so far are. NULL if that fails: it serves
 * for polling only. */
cl_event ergo_device_mark(struct ergo_device *device);
/* Is it complete? Then releases it and sets NULL; true for NULL. */
bool ergo_mark_done(cl_event *mark);

/* Fewest work-items of a group that is filled: a wave, and no less than 32, on which all choices
 * were measured; as many as the device runs. A CPU has no such thing. */
static inline uint32_t ergo_device_least_group(const struct ergo_device *device) {
    uint32_t n = device->type == CL_DEVICE_TYPE_CPU ? 1 : device->wave > 32 ? device->wave : 32;
    while (n > 1 && n > device->summary.largest_group)
        n /= 2;
    return n;
}

/* The largest power of two that is at most n; 1 for 0. */
static inline uint32_t ergo_power_of_two_down(uint64_t n) {
    uint32_t p = 1;
    while (p < 1u << 31 && 2 * (uint64_t)p <= n)
        p *= 2;
    return p;
}

/* `least`, doubled as often as it stays within n and `most`. */
static inline uint32_t ergo_power_of_two_within(uint64_t n, uint32_t least, uint32_t most) {
    uint32_t p = least;
    while (2 * (uint64_t)p <= n && 2 * p <= most)
        p *= 2;
    return p;
}

/* Round n up to a multiple of step. */
static inline size_t ergo_round_up(size_t n, size_t step) {
    return (n + step - 1) / step * step;
}

/* `least`, doubled until it is n or `most` is reached. */
static inline uint32_t ergo_power_of_two_up(uint64_t n, uint32_t least, uint32_t most) {
    uint32_t p = least;
    while (p < n && p < most)
        p *= 2;
    return p;
}

#endif
