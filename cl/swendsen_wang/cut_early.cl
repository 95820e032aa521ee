/*
 * Edges first: what of clusters is on a rectangle's edges as far as tiles alone know it, for hosts
 * that join it while the inside is labelled. Included by cut_tiles.cl.
 *
 * early[2 (32 words + rows)]: entries as in sw_cut_edge. A part is numbered by its first entry.
 */

/* The roots of parts in tiles. claims[root]: free. */
__kernel void sw_cut_early(__global const uint *spins, __global const struct sw_member *member,
                           SW_RECT rect, __global const uint *halo, __global const uint *right,
                           __global const uint *runs, __global uint *early, __global uint *claims,
                           ulong step) {
    const uint item = (uint)get_global_id(0);
    if (item >= 2u * (32u * rect->words + rect->rows))
        return;
    const struct sw_edge at = sw_cut_edge(spins, member, rect, halo, item, step);
    early[item] = at.wanted ? sw_cut_part(rect, right, runs, at.i, at.y, at.bit) : SW_CUT_NO_BOND;
    if (at.wanted)
        claims[early[item]] = SW_CUT_NO_BOND;
}

__kernel void sw_cut_claim(SW_RECT rect, __global const uint *early,
                           volatile __global uint *claims) {
    const uint item = (uint)get_global_id(0);
    if (item < 2u * (32u * rect->words + rect->rows) && early[item] != SW_CUT_NO_BOND)
        atomic_min(&claims[early[item]], item);
}

/* Numbers instead of roots; roots[number]: the root, or SW_CUT_NO_BOND. */
__kernel void sw_cut_number(SW_RECT rect, __global uint *early, __global const uint *claims,
                            __global uint *roots) {
    const uint item = (uint)get_global_id(0);
    if (item >= 2u * (32u * rect->words + rect->rows))
        return;
    const uint root = early[item], number = root == SW_CUT_NO_BOND ? root : claims[root];
    early[item] = number;
    roots[item] = number == item ? root : SW_CUT_NO_BOND;
}

/* When tiles are joined: the roots that those have become. Then sw_cut_parts. */
__kernel void sw_cut_late(SW_RECT rect, __global const uint *roots, __global const uint *labels,
                          __global uint *edges) {
    const uint item = (uint)get_global_id(0);
    if (item < 2u * (32u * rect->words + rect->rows))
        edges[item] =
            roots[item] == SW_CUT_NO_BOND ? SW_CUT_NO_BOND : sw_find_still(labels, roots[item]);
}
