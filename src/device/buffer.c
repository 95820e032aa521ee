/* Device memory. Every return code is checked; every message names buffer, size and device. */
#include <stdlib.h>
#include <string.h>

#include "device/profile.h"

static double mebibytes(uint64_t bytes) {
    return (double)bytes / (1024.0 * 1024.0);
}

/* Writes zeros, for drivers whose fill fails. */
static cl_int write_zeros(struct ergo_device *device, cl_mem mem, size_t bytes) {
    const size_t piece = bytes < ((size_t)1 << 20) ? bytes : (size_t)1 << 20;
    char *zeros = calloc(piece, 1);
    cl_int code = zeros ? CL_SUCCESS : CL_OUT_OF_HOST_MEMORY;
    for (size_t at = 0; at < bytes && code == CL_SUCCESS; at += piece) {
        size_t part = bytes - at < piece ? bytes - at : piece;
        code = clEnqueueWriteBuffer(device->queue, mem, CL_TRUE, at, part, zeros, 0, NULL, NULL);
    }
    free(zeros);
    return code;
}

/* A GiB, which is copied to the others: NVIDIA's driver 580 fails with CL_INVALID_COMMAND_QUEUE
 * when it fills words from 8 GiB on. */
cl_int ergo_buffer_fill_later(struct ergo_device *device, cl_mem mem, size_t offset, size_t bytes,
                              uint8_t byte) {
    const size_t piece = bytes < (size_t)1 << 30 ? bytes : (size_t)1 << 30;
    const cl_uint word = UINT32_C(0x01010101) * byte;
    const size_t unit = (offset | piece) % sizeof word == 0 ? sizeof word : 1;
    cl_int code =
        clEnqueueFillBuffer(device->queue, mem, &word, unit, offset, piece, 0, NULL, NULL);
    for (size_t at = piece; at < bytes && code == CL_SUCCESS; at += piece)
        code = clEnqueueCopyBuffer(device->queue, mem, mem, offset, offset + at,
                                   bytes - at < piece ? bytes - at : piece, 0, NULL, NULL);
    return code;
}

/* Fills by the device itself; false: it cannot. */
static bool fill(struct ergo_device *device, cl_mem mem, size_t offset, size_t bytes,
                 uint8_t byte) {
    /* wait, so that a failed fill is reported here with the buffer's name, and not at some later
     * call */
    return !device->quirks.no_fill &&
           ergo_buffer_fill_later(device, mem, offset, bytes, byte) == CL_SUCCESS &&
           ergo_queue_finish(device, device->queue) == CL_SUCCESS;
}

static cl_int fill_zeros(struct ergo_device *device, cl_mem mem, size_t bytes) {
    return fill(device, mem, 0, bytes, 0) ? CL_SUCCESS : write_zeros(device, mem, bytes);
}

enum ergo_status ergo_buffer_create(struct ergo_context *ctx, struct ergo_device *device,
                                    const char *what, size_t bytes, const void *data, cl_mem *mem) {
    const struct ergo_device_summary *s = &device->summary;
    cl_int code = CL_SUCCESS;
    *mem = NULL;
    if (bytes == 0)
        return ERGO_FAIL(ctx, ERGO_E_INTERNAL, "Buffer \"%s\" was asked for with 0 bytes", what);
    if (bytes > s->largest_buffer)
        return ERGO_FAIL(ctx, ERGO_E_DEVICE,
                         "Buffer \"%s\" needs %.1f MiB, but the largest allocation on device %s "
                         "(%s) is %.1f MiB: make the system or the batch smaller, or take another "
                         "device",
                         what, mebibytes(bytes), s->id, s->name, mebibytes(s->largest_buffer));
    *mem = clCreateBuffer(device->context, CL_MEM_READ_WRITE, bytes, NULL, &code);
    if (code == CL_SUCCESS)
        code =
            data ? clEnqueueWriteBuffer(device->queue, *mem, CL_TRUE, 0, bytes, data, 0, NULL, NULL)
                 : fill_zeros(device, *mem, bytes);
    if (code == CL_SUCCESS) {
        ergo_profile_add_buffer(device, what, *mem, bytes);
        return ERGO_OK;
    }
    ergo_buffer_release(mem);
    return ERGO_FAIL_CL(ctx, code,
                        "Allocating buffer \"%s\" of %.1f MiB on device %s (%s, %.1f MiB in all) "
                        "failed: make the system or the batch smaller, or see what else uses the "
                        "device",
                        what, mebibytes(bytes), s->id, s->name, mebibytes(s->global_memory));
}

void ergo_buffer_release(cl_mem *mem) {
    if (mem && *mem) {
        (void)clReleaseMemObject(*mem);
        *mem = NULL;
    }
}

/* A transfer can report the failure of an earlier kernel, whose enqueueing returned success. */
static const char *blame(cl_int code) {
    return code == CL_OUT_OF_RESOURCES || code == CL_INVALID_COMMAND_QUEUE || code == -9999
               ? "; the likely cause is a kernel launched before it, which failed on the device"
               : "";
}

enum ergo_status ergo_buffer_read(struct ergo_context *ctx, struct ergo_device *device, cl_mem mem,
                                  size_t offset, size_t bytes, void *data) {
    if (bytes == 0)
        return ERGO_OK;
    cl_event own = NULL, *wanted = ergo_profile_before(device, NULL, &own);
    cl_int code =
        clEnqueueReadBuffer(device->queue, mem, CL_TRUE, offset, bytes, data, 0, NULL, wanted);
    if (code == CL_SUCCESS) {
        ergo_profile_after_transfer(device, "(read)", bytes, own, true);
        return ERGO_OK;
    }
    return ERGO_FAIL_CL(ctx, code, "Reading %zu bytes at %zu from device %s (%s) failed%s", bytes,
                        offset, device->summary.id, device->summary.name, blame(code));
}

enum ergo_status ergo_buffer_read_later(struct ergo_context *ctx, struct ergo_device *device,
                                        cl_mem mem, size_t offset, size_t bytes, void *data,
                                        cl_event *event) {
    if (event && *event)
        clReleaseEvent(*event);
    if (event)
        *event = NULL;
    cl_event own = NULL, *wanted = ergo_profile_before(device, event, &own);
    const cl_int code =
        clEnqueueReadBuffer(device->queue, mem, CL_FALSE, offset, bytes, data, 0, NULL, wanted);
    if (code == CL_SUCCESS) {
        ergo_profile_after_transfer(device, "(read)", bytes, wanted ? *wanted : NULL,
                                    wanted == &own);
        return ERGO_OK;
    }
    return ERGO_FAIL_CL(ctx, code, "Reading %zu bytes at %zu from device %s (%s) failed%s", bytes,
                        offset, device->summary.id, device->summary.name, blame(code));
}

/* Writes a part of a buffer by writing all of it. */
static cl_int write_whole(struct ergo_device *device, cl_mem mem, size_t offset, size_t bytes,
                          const void *data) {
    size_t all = 0;
    cl_int code = clGetMemObjectInfo(mem, CL_MEM_SIZE, sizeof all, &all, NULL);
    char *copy = code == CL_SUCCESS && offset + bytes <= all ? malloc(all) : NULL;
    if (code == CL_SUCCESS && !copy)
        code = offset + bytes <= all ? CL_OUT_OF_HOST_MEMORY : CL_INVALID_VALUE;
    if (code == CL_SUCCESS)
        code = clEnqueueReadBuffer(device->queue, mem, CL_TRUE, 0, all, copy, 0, NULL, NULL);
    if (code == CL_SUCCESS) {
        memcpy(copy + offset, data, bytes);
        code = clEnqueueWriteBuffer(device->queue, mem, CL_TRUE, 0, all, copy, 0, NULL, NULL);
    }
    free(copy);
    return code;
}

enum ergo_status ergo_buffer_write(struct ergo_context *ctx, struct ergo_device *device, cl_mem mem,
                                   size_t offset, size_t bytes, const void *data) {
    if (bytes == 0)
        return ERGO_OK;
    cl_event own = NULL, *wanted = ergo_profile_before(device, NULL, &own);
    const cl_int code = device->quirks.whole_writes
                            ? write_whole(device, mem, offset, bytes, data)
                            : clEnqueueWriteBuffer(device->queue, mem, CL_TRUE, offset, bytes, data,
                                                   0, NULL, wanted);
    if (code == CL_SUCCESS) {
        ergo_profile_after_transfer(device, "(write)", bytes, own, true);
        return ERGO_OK;
    }
    return ERGO_FAIL_CL(ctx, code, "Writing %zu bytes at %zu to device %s (%s) failed%s", bytes,
                        offset, device->summary.id, device->summary.name, blame(code));
}

enum ergo_status ergo_buffer_fill(struct ergo_context *ctx, struct ergo_device *device, cl_mem mem,
                                  size_t offset, size_t bytes, uint8_t byte) {
    if (bytes == 0 || fill(device, mem, offset, bytes, byte))
        return ERGO_OK;
    void *copy = malloc(bytes);
    if (!copy)
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory to fill %zu bytes of a buffer", bytes);
    memset(copy, byte, bytes);
    const enum ergo_status status = ergo_buffer_write(ctx, device, mem, offset, bytes, copy);
    free(copy);
    return status;
}
