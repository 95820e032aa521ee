/* The probe and its remembered verdict. */
#ifndef ERGO_CORE_PROBE_H
#define ERGO_CORE_PROBE_H

#include "core/device.h"

/* As ergo_device_probe, but a pass remembered in the cache folder for this device, driver, options
 * and probe program is taken for an answer. Failures are never remembered: they may pass. */
enum ergo_status ergo_probe_ensure(struct ergo_context *ctx, struct ergo_device *device,
                                   char *verdict, size_t size);
/* Is a pass remembered? Sets the same fields of the device; runs nothing, raises nothing. */
bool ergo_probe_recall(struct ergo_context *ctx, struct ergo_device *device);

#endif
