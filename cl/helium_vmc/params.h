/* What the kernels of helium-vmc share with the host besides cl/helium. */
#ifndef ERGO_CL_HELIUM_VMC_PARAMS_H
#define ERGO_CL_HELIUM_VMC_PARAMS_H

#include "helium/params.h"

/* While displacements are tuned: macroupdates between changes. */
#define HELIUM_TUNE_EVERY 16

struct helium_walker {
    long ln_psi;   /* running, units of 2^-HELIUM_U_BITS */
    uint accepted; /* accepted moves of the last macroupdate */
    /* accepted moves since the displacement was last tuned, or in all; modulo 2^32 */
    uint window;
};
#define HELIUM_WALKER_BYTES 16

#endif
