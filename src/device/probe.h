/* The probe, its expectations and its remembered verdict. */
#ifndef ERGO_DEVICE_PROBE_H
#define ERGO_DEVICE_PROBE_H

#include "base/text.h"
#include "common/probe_params.h"
#include "device/device.h"

/* As ergo_device_probe, but accepts a pass that the cache folder remembers for this device, driver,
 * options and probe program. Failures are never remembered, because they may be temporary. */
enum ergo_status ergo_probe_ensure(struct ergo_context *ctx, struct ergo_device *device,
                                   char *verdict, size_t size);
/* probe_fma.c: times the device's own fma(), and sets software_fma where ours is faster. */
void ergo_probe_fma(struct ergo_context *ctx, struct ergo_device *device);
/* On what all that is remembered of a device depends, appended to `text`: this version, platform,
 * device, driver and options. */
void ergo_probe_identity(const struct ergo_device *device, struct ergo_text *text);
/* Is a pass remembered? Sets the same fields of the device; runs nothing. */
enum ergo_status ergo_probe_recall(struct ergo_context *ctx, struct ergo_device *device,
                                   bool *known);

/* ---- what the host's own C computes (probe_expect.c) ------------------------------------------
 */

/* Inputs of the arithmetic probe: PROBE_ITEMS x PROBE_INPUTS words. */
void ergo_probe_make_inputs(uint32_t *inputs);
/* Its results: PROBE_ITEMS x PROBE_COLUMNS words. */
void ergo_probe_expect_arithmetic(const uint32_t *inputs, uint32_t *results);
/* What a column checks, in words for a message. */
const char *ergo_probe_column_name(unsigned column);

/* Start values and results of the atomics kernels: CELL_COUNT and CELL64_COUNT cells. */
void ergo_probe_start_atomics(uint32_t *cells);
void ergo_probe_expect_atomics(uint32_t *cells);
void ergo_probe_start_atomics64(uint64_t *cells);
void ergo_probe_expect_atomics64(uint64_t *cells);
/* Sum of work-group `group` of `size` items; scratch: size words. */
uint32_t ergo_probe_expect_barriers(uint32_t group, uint32_t size, uint32_t *scratch);

#endif
