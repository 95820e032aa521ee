/* Configurations of lattices as files of VTK. */
#ifndef ERGO_SAMPLERS_VTI_H
#define ERGO_SAMPLERS_VTI_H

#include "base/text.h"

/* Sites of a lattice (x fastest) as VTK image data, one cell each, values below 256, as
 * text. */
void ergo_vti_append(struct ergo_text *text, const uint64_t size[3], const char *name,
                     const uint8_t *sites);

#endif
