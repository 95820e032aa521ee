/* Decisions of helium-vmc. The physics is in cl/helium. */
#ifndef ERGO_CL_HELIUM_VMC_CORE_H
#define ERGO_CL_HELIUM_VMC_CORE_H

#include "helium/core.h"
#include "helium_vmc/params.h"

/* psi'/psi|^2 = exp(2 change) > uniform (Eqs. 5 and 7), as logarithms. The change is in units of
 * 2^-HELIUM_U_BITS; the unit of the bound contains the factor 2. */
ERGO_INLINE uint helium_accepts(long change, int bound) {
    return change >= (long)bound;
}

/* The next displacement factor, after `accepted` of `tried` moves. It changes by up to a quarter of
 * itself, in proportion to the error of the acceptance. */
ERGO_INLINE uint helium_tune_factor(uint factor, ulong accepted, ulong tried, uint target) {
    const long found = (long)(accepted * 65536 / tried);
    long next = (long)factor + (long)factor * (found - (long)target) / 65536;
    const long least = (long)factor * 3 / 4, most = (long)factor * 5 / 4;
    next = next < least ? least : next > most ? most : next;
    return (uint)(next < 64 ? 64 : next > 1048576 ? 1048576 : next);
}

#endif
