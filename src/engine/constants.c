/* Constants in a device's memory, and whether they are still there. */
#include "engine/constants.h"

#include <stdlib.h>
#include <string.h>

/* Changes with any bit. It is fast (some GB/s), because couplings may be large. */
static uint64_t checksum(const void *data, size_t bytes) {
    const uint8_t *at = data;
    uint64_t sum = bytes;
    for (size_t left = bytes; left > 0;) {
        const size_t now = left < 8 ? left : 8;
        uint64_t word = 0;
        memcpy(&word, at, now);
        sum = (sum ^ word) * UINT64_C(0x9E3779B97F4A7C15);
        sum ^= sum >> 32;
        at += now;
        left -= now;
    }
    return sum;
}

static enum ergo_status note(struct ergo_context *ctx, struct ergo_constants *c, const char *what,
                             cl_mem mem, size_t bytes, uint64_t hash) {
    size_t i = 0;
    while (i < c->n && c->rows[i].mem != mem)
        i++;
    if (i == ERGO_CONSTANTS)
        return ERGO_FAIL(ctx, ERGO_E_INTERNAL, "more than %d constants", (int)ERGO_CONSTANTS);
    c->rows[i] = (struct ergo_constant){what, mem, bytes, hash};
    c->n += i == c->n;
    return ERGO_OK;
}

enum ergo_status ergo_constant_create(struct ergo_context *ctx, struct ergo_device *device,
                                      struct ergo_constants *constants, const char *what,
                                      size_t bytes, const void *data, cl_mem *mem) {
    const enum ergo_status status = *mem ? ergo_buffer_write(ctx, device, *mem, 0, bytes, data)
                                         : ergo_buffer_create(ctx, device, what, bytes, data, mem);
    return status == ERGO_OK ? note(ctx, constants, what, *mem, bytes, checksum(data, bytes))
                             : status;
}

static enum ergo_status hash_now(struct ergo_context *ctx, struct ergo_device *device, cl_mem mem,
                                 size_t bytes, uint64_t *hash) {
    void *found = malloc(bytes + !bytes);
    const enum ergo_status status =
        found ? ergo_buffer_read(ctx, device, mem, 0, bytes, found)
              : ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for an audit of %zu bytes", bytes);
    if (status == ERGO_OK)
        *hash = checksum(found, bytes);
    free(found);
    return status;
}

enum ergo_status ergo_constants_check(struct ergo_context *ctx, struct ergo_device *device,
                                      const struct ergo_constants *constants, cl_mem only,
                                      const char *sampler) {
    enum ergo_status status = ERGO_OK;
    for (size_t i = 0; i < constants->n && status == ERGO_OK; i++) {
        const struct ergo_constant *row = &constants->rows[i];
        uint64_t hash = 0;
        if (only && row->mem != only)
            continue;
        status = hash_now(ctx, device, row->mem, row->bytes, &hash);
        if (status == ERGO_OK && hash != row->hash)
            status = ERGO_FAIL(ctx, ERGO_E_AUDIT,
                               "audit of %s failed on %s (%s): the %s in the device's memory are "
                               "no longer what was written there",
                               sampler, device->summary.name, device->summary.driver, row->what);
    }
    return status;
}
