/* What the kernels of helium-dmc share with the host besides cl/helium. */
#ifndef ERGO_CL_HELIUM_DMC_PARAMS_H
#define ERGO_CL_HELIUM_DMC_PARAMS_H

#include "helium/params.h"

#define HELIUM_PURPOSE_COMB 3

/* Records of a walker's potential energy, the newest first. The last is as old as the window of
 * forward walking. */
#define HELIUM_DMC_RECORDS 17

/* Weights are integers in units of 2^-24. Exponents -tau (E - mean) are limited: the largest weight
 * is below 2^31, so the weights of 2^31 walkers stay below 2^62. */
#define HELIUM_DMC_WEIGHT_BITS 24
#define HELIUM_DMC_LEAST (-16.0f)
#define HELIUM_DMC_MOST 2.0f

/* A member's time step. */
struct helium_dmc {
    /* displacement by the drift of half a time step, in 2^-32 of the sides, of a sum of
     * sqrt(lambda) u'/r times differences of places: sqrt(lambda) tau */
    float drift;
    float tau;     /* time step times the unit of energies, see helium_dmc_energy */
    float most[3]; /* largest displacement by the drift of half a step, 2^-32 of the sides, besides
                      what an atom's one-body factor adds */
    /* from the units of the sums to that of energies: potential (which counts pairs twice),
     * laplacian, gradient */
    uint shift[3];
    uint every; /* steps between records; 0: none */
    uint pad;
};
#define HELIUM_DMC_BYTES 40

#endif
