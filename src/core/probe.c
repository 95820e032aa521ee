#include "core/probe.h"
enum ergo_status ergo_device_probe(struct ergo_context *ctx, struct ergo_device *device,
                                   char *verdict, size_t size) {
    (void)ctx;
    (void)device;
    (void)verdict;
    (void)size;
    return ERGO_OK;
}
enum ergo_status ergo_probe_ensure(struct ergo_context *ctx, struct ergo_device *device,
                                   char *verdict, size_t size) {
    return ergo_device_probe(ctx, device, verdict, size);
}
bool ergo_probe_recall(struct ergo_context *ctx, struct ergo_device *device) {
    (void)ctx;
    (void)device;
    return false;
}
