/*
 * Constants are buffers that are written once and read by all chains: parameters, tables,
 * couplings, thresholds. A hash of the written data is kept. An audit reads the buffers back and
 * compares.
 */
#ifndef ERGO_ENGINE_CONSTANTS_H
#define ERGO_ENGINE_CONSTANTS_H

#include "device/device.h"

enum { ERGO_CONSTANTS = 24 };
struct ergo_constants {
    size_t n;
    struct ergo_constant {
        const char *what;
        cl_mem mem;
        size_t bytes;
        uint64_t hash;
    } rows[ERGO_CONSTANTS];
};

/* Like ergo_buffer_create, but also notes the hash; `data` is never NULL. The buffer is released
 * like any other. Where *mem is there, it gets other data of the same size. */
enum ergo_status ergo_constant_create(struct ergo_context *ctx, struct ergo_device *device,
                                      struct ergo_constants *constants, const char *what,
                                      size_t bytes, const void *data, cl_mem *mem);
/* ERGO_E_AUDIT, naming the first constant that has changed. only: this one, or NULL for all. */
enum ergo_status ergo_constants_check(struct ergo_context *ctx, struct ergo_device *device,
                                      const struct ergo_constants *constants, cl_mem only,
                                      const char *sampler);

#endif
