/* Edges of a rectangle, whatever its labels: for cut.cl and cut_tiles.cl. */
#ifndef ERGO_CL_SWENDSEN_WANG_CUT_EDGES_H
#define ERGO_CL_SWENDSEN_WANG_CUT_EDGES_H

#include "swendsen_wang/cut.h"

/* The representative of a root (cut_params.h). */
#define SW_CUT_SITES (32u * rect->words * rect->rows)
#define SW_CUT_NAME(root)                                                                          \
    ((root) < SW_CUT_SITES ? sw_rect_site(rect, (root)) : names[(root)-SW_CUT_SITES])

/* Where the labels of a site lead: to a root, to the number of a part, or to a state. */
ERGO_INLINE uint sw_cut_lead(__global const uint *labels, uint i) {
    uint next = labels[i];
    while (next != i && next < SW_CUT_STATES) {
        i = next;
        next = labels[i];
    }
    return next;
}

/*
 * Entries for the neighbours: of the first row (32 words), of the first column (rows); then, where
 * a bond leads out of the rectangle, of the last row and of the last column. Entry `item` is of
 * site `bit` of word i in row y; wanted: it is a site, and in the second half has such a bond.
 */
#define SW_CUT_EDGE                                                                                \
    const uint item = (uint)get_global_id(0), entries = 32u * rect->words + rect->rows;            \
    if (item >= 2u * entries)                                                                      \
        return;                                                                                    \
    const bool outer = item >= entries; /* last row or column */                                   \
    const uint at = outer ? item - entries : item;                                                 \
    const bool in_row = at < 32u * rect->words;                                                    \
    const uint y = in_row ? (outer ? rect->rows - 1u : 0u) : at - 32u * rect->words;               \
    const uint i = in_row ? at >> 5 : outer ? rect->words - 1u : 0u;                               \
    const uint bit = in_row ? at & 31u : outer ? sw_rect_last(rect, i) : 0u;                       \
    uint entry = SW_CUT_NO_BOND;                                                                   \
    bool wanted = bit <= sw_rect_last(rect, i);                                                    \
    if (outer && wanted)                                                                           \
        wanted = sw_cut_leads_out(spins, member, rect, halo, i, y, bit, in_row, step);

/* Is the bond of this site to the rectangle below, or to that on the right, active? */
ERGO_INLINE bool sw_cut_leads_out(__global const uint *spins,
                                  __global const struct sw_member *member, SW_RECT rect,
                                  __global const uint *halo, uint i, uint y, uint bit, bool below,
                                  ulong step) {
    const uint words = rect->words, plane = words * rect->rows, word = y * words + i;
    const struct sw_member m = *member;
    __global const uchar *column = (__global const uchar *)(halo + SW_PLANES * words);
    uint open = 1u << bit;
    for (uint p = 0; p < SW_PLANES; p++) {
        const uint own = spins[p * plane + word];
        const uint other = below ? halo[p * words + i] : ((uint)column[y] >> p & 1u) << bit;
        open &= ~(own ^ other);
    }
    return sw_bonds(open, sw_rect_entity(rect, i, y), below ? 1u : 0u, (uint)step,
                    (uint)(step >> 32), m.key0, m.key1, m.high, m.low, m.always) != 0u;
}

#endif
