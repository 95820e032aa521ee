/*
 * A rectangle of a cut lattice with the kernels of sweep.cl: sw_label and sw_join_tiles (of its
 * inner edges) as they are, whose draws are addressed from the rectangle's first word on; of the
 * bonds around the rectangle, which sw_label draws too, nothing is used. Then roots on the edges,
 * parts (cut.cl), and new spins.
 */
#include "swendsen_wang/core.h"

#define sw_global_word(i, y) ((y)*SW_ALL_WORDS + (i) + m->first_word)
#include "swendsen_wang/sweep.cl"
#undef sw_global_word

#include "swendsen_wang/cut_edges.h"

__kernel void sw_cut_tile_edges(__global const uint *spins, __global const struct sw_member *member,
                                SW_RECT rect, __global const uint *halo, __global const uint *right,
                                __global const uint *runs, __global const uint *labels,
                                __global uint *edges, ulong step) {
    SW_CUT_EDGE
    if (wanted)
        entry = sw_find_still(labels, sw_part(runs, i, y, ~(right[y * SW_WORDS + i] << 1), bit));
    edges[item] = entry;
}

#define sw_global_site(root) SW_CUT_NAME(root)
#undef SW_FLIP_FOUND
#define SW_FLIP_FOUND
__kernel __attribute__((reqd_work_group_size(SW_GROUP, 1, 1))) void
sw_cut_tile_flip(__global uint *spins, __global const struct sw_member *members, SW_RECT rect,
                 __global const uint *right, __global const uint *runs, __global const uint *roots,
                 __global const uint *open, __global uint *labels, __global const ulong *names,
                 ulong step) {
    __local uint states[SW_PLANES * SW_TILE_ITEMS], listed[1];
    __local ushort list[32 * SW_TILE_ITEMS];
    SW_FLIP_DRAW
    SW_FLIP_SPINS
}
