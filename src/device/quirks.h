/* The one table of known defects of OpenCL implementations. */
#ifndef ERGO_DEVICE_QUIRKS_H
#define ERGO_DEVICE_QUIRKS_H

#include "device/device.h"

/* What must be in the environment when the platforms load: PoCL's
 * POCL_FULL_REPLICATION_THRESHOLD = 1, which miscompiles groups of two otherwise (quirks.c). */
void ergo_quirks_load(void);

/* All matching entries, merged: flags by or, the lowest limit, the first build options. Needs
 * name, platform, driver and version of the summary. */
void ergo_quirks_find(const struct ergo_device_summary *summary, struct ergo_quirks *quirks);

#endif
