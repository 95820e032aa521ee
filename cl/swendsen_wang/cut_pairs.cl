/*
 * Pairs of parts across the edges of a rectangle, for sweeps that are not measured (cut_gather.cl).
 * Included by cut_tiles.cl.
 *
 * near: the parts of the sites of the first row, then of the first column; after them the states of
 * these sites, as bytes. far: the same of the neighbours, for their sites below the last row and
 * right of the last column. So a bond between rectangles is drawn by the rank that has its upper or
 * left end. What the neighbours need for this is sent while they join parts.
 *
 * A pair is two parts of one cluster: a root of this rectangle, and another part. The upper two
 * bits of both words tell whose the other part is: 0 the rectangle's below; 1 .. 3 that of the k-th
 * rectangle on the right (which begin at rows 0, second, third); 4 this rectangle's own. The last
 * kind tells the neighbours the root of a part that they know from `near`. pairs[0].x is the number
 * of pairs that follow.
 */
#define SW_CUT_HERE 4u
#define SW_SEEN 512u
#define SW_CUT_MOST_GROUP 1024u

/* The part of a site before parts are joined, as the site index of the part's first site. */
ERGO_INLINE uint sw_cut_part(SW_RECT rect, __global const uint *right, __global const uint *runs,
                             uint i, uint y, uint bit) {
    return sw_part(rect, runs, i, y, ~(right[y * SW_WORDS + i] << 1), bit);
}

ERGO_INLINE uint sw_cut_state_at(__global const uint *spins, SW_RECT rect, uint i, uint y,
                                 uint bit) {
    const uint plane = rect->words * rect->rows;
    uint state = 0u;
    for (uint p = 0; p < SW_PLANES; p++)
        state |= (spins[p * plane + y * rect->words + i] >> bit & 1u) << p;
    return state;
}

/* Write `near`. Also empty the list of pairs, and the `count` keys of nodes. */
__kernel void sw_cut_near(__global const uint *spins, SW_RECT rect, __global const uint *right,
                          __global const uint *runs, __global uint *near, __global uint *keys,
                          uint count, __global uint2 *pairs) {
    const uint item = (uint)get_global_id(0), row = 32u * rect->words, entries = row + rect->rows;
    __global uchar *states = (__global uchar *)(near + entries);
    if (item == 0u)
        pairs[0] = (uint2)(0u, 0u);
    if (item < count)
        keys[item] = SW_CUT_NO_BOND;
    if (item >= entries)
        return;
    const bool in_row = item < row;
    const uint y = in_row ? 0u : item - row, i = in_row ? item >> 5 : 0u;
    const uint bit = in_row ? item & 31u : 0u;
    near[item] =
        bit <= sw_last_bit(rect, i) ? sw_cut_part(rect, right, runs, i, y, bit) : SW_CUT_NO_BOND;
    states[item] = (uchar)sw_cut_state_at(spins, rect, i, y, bit);
}

/* The pair of a work-item, or twice SW_CUT_NO_BOND. The first work-items have the sites in `near`,
 * the others the sites from which bonds may lead out. */
ERGO_INLINE uint2 sw_cut_pair(__global const uint *spins, __global const struct sw_member *member,
                              SW_RECT rect, __global const uint *right, __global const uint *runs,
                              __global const uint *labels, __global const uint *near,
                              __global const uint *far, uint second, uint third, ulong step,
                              uint item) {
    const uint row = 32u * rect->words, entries = row + rect->rows;
    const struct sw_member m = *member;
    uint2 pair = (uint2)(SW_CUT_NO_BOND, SW_CUT_NO_BOND);
    if (item < entries) {
        const uint part = near[item];
        const uint root = part == SW_CUT_NO_BOND ? part : sw_find_still(labels, part);
        if (root != part)
            pair = (uint2)(root | (SW_CUT_HERE & 3u) << 30, part | (SW_CUT_HERE >> 2) << 30);
    } else if (item < 2u * entries) {
        const uint at = item - entries, after = at - row;
        const bool below = at < row;
        const uint y = below ? rect->rows - 1u : after, i = below ? at >> 5 : rect->words - 1u;
        const uint last = sw_last_bit(rect, i), bit = below ? at & 31u : last;
        const uint to = below ? 0u : 1u + (after >= second ? 1u : 0u) + (after >= third ? 1u : 0u);
        const uint other = ((__global const uchar *)(far + entries))[at];
        if (bit <= last && sw_cut_state_at(spins, rect, i, y, bit) == other &&
            sw_bonds(1u << bit, sw_global_word(rect, i, y), below ? 1u : 0u, (uint)step,
                     (uint)(step >> 32), m.key0, m.key1, m.high, m.low, m.always)) {
            const uint part = sw_cut_part(rect, right, runs, i, y, bit);
            pair =
                (uint2)(sw_find_still(labels, part) | (to & 3u) << 30, far[at] | (to >> 2) << 30);
        }
    }
    return pair;
}

/* List the pairs, without most repetitions. Among a work-group's pairs that share a slot in `seen`,
 * the first one stays, and so do all that differ from it. */
__kernel void sw_cut_pairs(__global const uint *spins, __global const struct sw_member *member,
                           SW_RECT rect, __global const uint *right, __global const uint *runs,
                           __global const uint *labels, __global const uint *near,
                           __global const uint *far, __global uint2 *pairs, uint second, uint third,
                           ulong step) {
    __local uint2 listed[SW_CUT_MOST_GROUP];
    /* number of this group's pairs; index of its first pair */
    __local uint seen[SW_SEEN], found[2];
    const uint item = (uint)get_local_id(0), size = (uint)get_local_size(0);
    const uint2 pair = sw_cut_pair(spins, member, rect, right, runs, labels, near, far, second,
                                   third, step, (uint)get_global_id(0));
    const bool is_pair = pair.y != SW_CUT_NO_BOND;
    const uint place = (pair.x * 0x9e3779b1u ^ pair.y * 0x85ebca6bu) >> 23;
    for (uint k = item; k < SW_SEEN; k += size)
        seen[k] = SW_CUT_NO_BOND;
    listed[item] = pair;
    if (item == 0u)
        found[0] = 0u;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (is_pair)
        atomic_min(&seen[place], item);
    barrier(CLK_LOCAL_MEM_FENCE);
    bool kept = is_pair;
    if (is_pair && seen[place] != item) {
        const uint2 other = listed[seen[place]];
        kept = other.x != pair.x || other.y != pair.y;
    }
    const uint index = kept ? atomic_inc(&found[0]) : 0u;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (item == 0u)
        found[1] = found[0] ? atomic_add((volatile __global uint *)pairs, found[0]) : 0u;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (kept)
        pairs[1u + found[1] + index] = pair;
}
