/* Configurations of lattices as files of VTK. */
#ifndef ERGO_SAMPLERS_VTI_H
#define ERGO_SAMPLERS_VTI_H

#include "base/text.h"

/* Append the sites of a lattice (x fastest) as VTK image data in text, one cell each, with values
 * below 256. */
void ergo_vti_append(struct ergo_text *text, const uint64_t size[3], const char *name,
                     const uint8_t *sites);

#endif
