/* The sites on the edges of a rectangle, and the bonds that lead out of it. */
#ifndef ERGO_CL_SWENDSEN_WANG_CUT_EDGES_H
#define ERGO_CL_SWENDSEN_WANG_CUT_EDGES_H

#include "swendsen_wang/cut.h"

/* Follow the labels of a site to a root, to the number of a part, or to a state. */
ERGO_INLINE uint sw_cut_lead(__global const uint *labels, uint i) {
    uint next = labels[i];
    while (next != i && next < SW_CUT_STATES) {
        i = next;
        next = labels[i];
    }
    return next;
}

/* The representative of a root, which is a site's index or `sites` plus a part's number
 * (cut_params.h). */
ERGO_INLINE ulong sw_cut_name(SW_RECT rect, __global const ulong *names, uint root) {
    const uint sites = 32u * rect->words * rect->rows;
    return root < sites ? sw_global_site(rect, root) : names[root - sites];
}

/* Is the bond from this site to the rectangle below (or to that on the right) active? */
ERGO_INLINE bool sw_cut_leads_out(__global const uint *spins,
                                  __global const struct sw_member *member, SW_RECT rect,
                                  __global const uint *halo, uint i, uint y, uint bit, bool below,
                                  ulong step) {
    const uint words = rect->words, plane = words * rect->rows, word = y * words + i;
    const struct sw_member m = *member;
    __global const uchar *column = (__global const uchar *)(halo + SW_PLANES * words);
    uint open = 1u << bit;
    for (uint p = 0; p < SW_PLANES; p++) {
        const uint spin = spins[p * plane + word];
        const uint other = below ? halo[p * words + i] : ((uint)column[y] >> p & 1u) << bit;
        open &= ~(spin ^ other);
    }
    return sw_bonds(open, sw_global_word(rect, i, y), below ? 1u : 0u, (uint)step,
                    (uint)(step >> 32), m.key0, m.key1, m.high, m.low, m.always) != 0u;
}

/* An edge entry: site `bit` of word i in row y. wanted: 1 if the entry is used. */
struct sw_edge {
    uint i, y, bit;
    uint wanted;
};

/*
 * Entries stand for the sites of the first row (32 words) and of the first column (rows), which the
 * neighbours need. Then follow the last row and the last column, where an entry is used only if a
 * bond leads out of the rectangle there.
 */
ERGO_INLINE struct sw_edge sw_cut_edge(__global const uint *spins,
                                       __global const struct sw_member *member, SW_RECT rect,
                                       __global const uint *halo, uint item, ulong step) {
    const uint entries = 32u * rect->words + rect->rows;
    const bool outer = item >= entries; /* of the last row or column */
    const uint index = outer ? item - entries : item;
    const bool in_row = index < 32u * rect->words;
    struct sw_edge at;
    at.y = in_row ? (outer ? rect->rows - 1u : 0u) : index - 32u * rect->words;
    at.i = in_row ? index >> 5 : outer ? rect->words - 1u : 0u;
    at.bit = in_row ? index & 31u : outer ? sw_last_bit(rect, at.i) : 0u;
    at.wanted = at.bit <= sw_last_bit(rect, at.i) ? 1u : 0u;
    if (outer && at.wanted)
        at.wanted = sw_cut_leads_out(spins, member, rect, halo, at.i, at.y, at.bit, in_row, step);
    return at;
}

#endif
