/* How fast a device copies. */
#include "device/profile.h"

enum ergo_status ergo_device_copy_rate(struct ergo_context *ctx, struct ergo_device *device,
                                       double *bytes_per_second) {
    const struct ergo_device_summary *s = &device->summary;
    size_t bytes = (size_t)1 << (device->type == CL_DEVICE_TYPE_CPU ? 26 : 28);
    cl_mem from = NULL, to = NULL;
    cl_int code = CL_SUCCESS;
    *bytes_per_second = 0;
    while (bytes > 4096 && (bytes > s->largest_buffer || 4 * (uint64_t)bytes > s->global_memory))
        bytes /= 2;
    enum ergo_status status = ergo_buffer_create(ctx, device, "copied from", bytes, NULL, &from);
    if (status == ERGO_OK)
        status = ergo_buffer_create(ctx, device, "copied to", bytes, NULL, &to);
    for (int pass = 0; pass < 6 && status == ERGO_OK && code == CL_SUCCESS; pass++) {
        const int copies = 4;
        const double begun = ergo_clock();
        for (int i = 0; i < copies && code == CL_SUCCESS; i++)
            code = clEnqueueCopyBuffer(device->queue, from, to, 0, 0, bytes, 0, NULL, NULL);
        if (code == CL_SUCCESS)
            code = ergo_queue_finish(device, device->queue);
        const double rate = 2 * copies * (double)bytes / (ergo_clock() - begun);
        if (pass > 0 && rate > *bytes_per_second) /* the first warms up */
            *bytes_per_second = rate;
    }
    ergo_buffer_release(&from);
    ergo_buffer_release(&to);
    if (status == ERGO_OK && code != CL_SUCCESS)
        status = ERGO_FAIL_CL(ctx, code, "Copying %zu bytes on device %s (%s) failed", bytes, s->id,
                              s->name);
    return status;
}
