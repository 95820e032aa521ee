/* Sums of squares of waves over clusters (correlate.h), exact: of a work-item in 128 bits, of a
 * group and of a sample in SW_WAVE_LIMBS numbers of two words, each the sum of a limb of 32 bits.
 */
#ifndef ERGO_CL_SWENDSEN_WANG_WAVE_SUMS_H
#define ERGO_CL_SWENDSEN_WANG_WAVE_SUMS_H

#include "common/sum64.h"
#include "swendsen_wang/correlate.h"

struct sw_wave_sum {
    ulong low, high;
};

ERGO_INLINE void sw_wave_add(struct sw_wave_sum *sum, ulong value) {
    const ulong square = value * value;
    sum->low += square;
    sum->high += mul_hi(value, value) + (sum->low < square ? 1UL : 0UL);
}

#define SW_WAVE_WORDS (2u * SW_WAVE_LIMBS)

/* Of a work-item to its group. */
#define SW_WAVE_COLLECT(total, sum)                                                                \
    do {                                                                                           \
        ERGO_ADD_LONG((total), (uint)(sum).low, 0u);                                               \
        ERGO_ADD_LONG((total) + 2, (uint)((sum).low >> 32), 0u);                                   \
        ERGO_ADD_LONG((total) + 4, (uint)(sum).high, 0u);                                          \
        ERGO_ADD_LONG((total) + 6, (uint)((sum).high >> 32), 0u);                                  \
    } while (0)

#endif
