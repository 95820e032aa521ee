/* The bonds of a word, from its spins. */
#ifndef ERGO_CL_SWENDSEN_WANG_BONDS_H
#define ERGO_CL_SWENDSEN_WANG_BONDS_H

#include "swendsen_wang/core.h"

/* Which neighbours to the right and below have an equal spin, with periodic boundaries. */
ERGO_INLINE void sw_equal(SW_SHAPE __global const uint *planes, uint i, uint y, uint *right,
                          uint *down) {
    const uint word = y * SW_WORDS + i;
    const uint next = i + 1u == SW_WORDS ? word - i : word + 1u;
    const uint below = y + 1u == SW_LY ? i : word + SW_WORDS;
    uint side = sw_valid(SW_HERE i), under = side;
    for (uint p = 0; p < SW_PLANES; p++) {
        const uint spin = planes[p * SW_PLANE_WORDS + word];
        const uint shifted = spin >> 1 | (planes[p * SW_PLANE_WORDS + next] & 1u)
                                             << sw_last_bit(SW_HERE i);
        side &= ~(spin ^ shifted);
        under &= ~(spin ^ planes[p * SW_PLANE_WORDS + below]);
    }
    *right = side;
    *down = under;
}

/* Keep those of these bonds that are active. */
ERGO_INLINE void sw_activate(SW_SHAPE const struct sw_member *m, uint i, uint y, ulong step,
                             uint *right, uint *down) {
    sw_bonds_both(right, down, sw_global_word(SW_HERE i, y), (uint)step, (uint)(step >> 32),
                  m->key0, m->key1, m->high, m->low, m->always);
}

/* The same in one direction. */
ERGO_INLINE uint sw_activate_one(SW_SHAPE const struct sw_member *m, uint i, uint y, ulong step,
                                 uint open, uint direction) {
    return sw_bonds(open, sw_global_word(SW_HERE i, y), direction, (uint)step, (uint)(step >> 32),
                    m->key0, m->key1, m->high, m->low, m->always);
}

#endif
