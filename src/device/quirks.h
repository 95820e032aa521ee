/* The one table of known defects of OpenCL implementations. */
#ifndef ERGO_DEVICE_QUIRKS_H
#define ERGO_DEVICE_QUIRKS_H

#include "device/device.h"

/* All matching entries, merged: flags by or, the lowest limit, the first build options. Needs
 * name, platform, driver and version of the summary. */
void ergo_quirks_find(const struct ergo_device_summary *summary, struct ergo_quirks *quirks);

#endif
