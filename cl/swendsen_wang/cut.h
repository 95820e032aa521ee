/*
 * A rectangle of the lattice, like core.h but with the shape as an argument. Site index in the
 * rectangle: 32 word + bit, with word = y words + i. It grows with the site's id in the whole
 * lattice, so the smallest index of a cluster's part belongs to the part's smallest id.
 */
#ifndef ERGO_CL_SWENDSEN_WANG_CUT_H
#define ERGO_CL_SWENDSEN_WANG_CUT_H

#include "swendsen_wang/core.h"
#include "swendsen_wang/cut_params.h"

#ifdef __OPENCL_VERSION__
#define SW_RECT __global const struct sw_rect *
#else
#define SW_RECT const struct sw_rect *
#endif

/* The last bit of word i that is a site. Below: all bits that are. */
ERGO_INLINE uint sw_rect_last(SW_RECT rect, uint i) {
    return i + 1u == rect->words ? rect->tail - 1u : 31u;
}

ERGO_INLINE uint sw_rect_valid(SW_RECT rect, uint i) {
    return 0xffffffffu >> (31u - sw_rect_last(rect, i));
}

/* What addresses the draws of a word's bonds: its number in the whole lattice. The host refuses
 * lattices of 2^32 words or more. */
ERGO_INLINE uint sw_rect_entity(SW_RECT rect, uint i, uint y) {
    return (uint)((y + rect->row0) * rect->all_words + i + rect->word0);
}

ERGO_INLINE ulong sw_rect_site(SW_RECT rect, uint index) {
    const uint y = index / (32u * rect->words), x = index % (32u * rect->words);
    return (y + rect->row0) * rect->all_lx + (x + 32UL * rect->word0);
}

#endif
