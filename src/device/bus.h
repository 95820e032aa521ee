/* GPUs on the PCI bus that no OpenCL driver shows. */
#ifndef ERGO_DEVICE_BUS_H
#define ERGO_DEVICE_BUS_H

#include "device/candidate.h"

#define ERGO_PCI_FOLDER "/sys/bus/pci/devices"

/*
 * Appends a sentence per vendor (AMD, Intel, NVIDIA) with GPUs on the bus and none in `list`, which
 * begins with a blank: the address of one, and which Debian package has the driver. folder:
 * ERGO_PCI_FOLDER, each device in a folder of its own with files `vendor` and `class`; without that
 * folder nothing is said. A GPU of the list that does not give its address counts as all of them.
 */
void ergo_bus_explain(struct ergo_text *text, const char *folder, const struct ergo_candidate *list,
                      size_t count);
/* The same for somebody who wants a GPU where none can be used: where nothing is said above, that
 * the bus has none of these vendors. */
void ergo_bus_explain_none(struct ergo_text *text, const char *folder,
                           const struct ergo_candidate *list, size_t count);

#endif
