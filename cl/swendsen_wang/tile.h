/*
 * Labels within a tile, in local memory. A tile has SW_TILE_WORDS x SW_TILE_ROWS words, and each of
 * the SW_GROUP work-items has SW_PER of them. A label is kept at its site's node, SW_NODE(item,
 * bit) (labels.h), and its value is a node too.
 *
 * A small lattice has too few words to fill a GPU, and then SW_SPLIT work-items share a word, 2 or
 * 4: each has one of its pieces of equal length, and the runs that begin there.
 */
#ifndef ERGO_CL_SWENDSEN_WANG_TILE_H
#define ERGO_CL_SWENDSEN_WANG_TILE_H

#include "swendsen_wang/bonds.h"
#include "swendsen_wang/core.h"
#include "swendsen_wang/group.h"
#include "swendsen_wang/labels.h"

#if SW_GROUP > SW_TILE_ITEMS
#define SW_SPLIT (SW_GROUP / SW_TILE_ITEMS)
#define SW_PER 1u
#else
#define SW_SPLIT 1u
#define SW_PER (SW_TILE_ITEMS / SW_GROUP)
#endif
#define SW_PIECE (32u / SW_SPLIT) /* sites of a piece */
#define SW_NODES (SW_NODE_ROW * SW_TILE_ITEMS)

/* When all is joined, a root's label has its own node in these bits, and above them the size of its
 * part. */
#ifndef SW_INDEX
#define SW_INDEX 0xffffu
#endif
#define SW_SIZE_SHIFT 16

/* How often labels are replaced by the labels that they lead to, before the joins that need
 * atomics. */
#ifndef SW_JUMPS
#define SW_JUMPS (SW_GROUP == 1 ? 1 : 2)
#endif

/* A tile, handled by a work-group of SW_GROUP work-items in dimension 0. Dimension 1 is the member.
 * Each function asks for it again. A tile that is passed from step to step takes registers: a
 * measured sweep was 8% slower by that (NVIDIA H200). */
struct sw_tile {
    uint id, x, y;
    uint index;  /* of the member */
    ulong plane; /* the member's first word in arrays of words */
    uint first;  /* this work-item in the group */
};

ERGO_INLINE struct sw_tile sw_tile_of_group(SW_SHAPE_ALONE) {
    struct sw_tile t;
#ifdef SW_OF_RECT /* a list of tiles follows the shape (cut_params.h) */
    const uint2 place = ((__global const uint2 *)(rect + 1))[get_group_id(0) + rect->first_tile];
    t.x = place.x;
    t.y = place.y;
    t.id = place.y * SW_TILES_X + place.x;
#else
    t.id = SW_TILES_X * SW_TILES_Y > 1u ? (uint)get_group_id(0) : 0u;
    t.x = t.id % SW_TILES_X;
    t.y = t.id / SW_TILES_X;
#endif
    t.index = (uint)get_group_id(1);
    t.plane = (ulong)t.index * SW_PLANE_WORDS;
    t.first = (uint)get_local_id(0);
    return t;
}

/* Word k of a work-item's SW_PER words: its place in the tile and in the lattice. Neighbouring
 * work-items have the same piece of neighbouring words. */
struct sw_place {
    uint item;
    uint mine;   /* bits of the piece; bit 0 is set for one work-item of a word alone */
    uint i, y;   /* in the lattice; beyond it if the tile reaches over its end */
    uint inside; /* 1: in the lattice */
    uint word;   /* in a plane; 0 if not in the lattice */
    uint valid;  /* bits that are sites */
};

ERGO_INLINE struct sw_place sw_place_of(SW_SHAPE uint k) {
    const struct sw_tile t = sw_tile_of_group(SW_HERE_ALONE);
    struct sw_place at;
    at.item = SW_SPLIT > 1u ? t.first % SW_TILE_ITEMS : t.first + k * SW_GROUP;
    at.mine = SW_SPLIT > 1u ? ((1u << (SW_PIECE & 31u)) - 1u) << t.first / SW_TILE_ITEMS * SW_PIECE
                            : 0xffffffffu;
    at.i = t.x * SW_TILE_WORDS + at.item % SW_TILE_WORDS;
    at.y = t.y * SW_TILE_ROWS + at.item / SW_TILE_WORDS;
    at.inside = at.i < SW_WORDS && at.y < SW_LY ? 1u : 0u;
    at.word = at.inside ? at.y * SW_WORDS + at.i : 0u;
    at.valid = at.inside ? sw_valid(SW_HERE at.i) : 0u;
    return at;
}

/* Write this work-item's piece of a word to *word, in local or global memory. All devices are
 * little-endian (src/device/query.c). */
#if SW_GROUP == 4 * SW_TILE_ITEMS
#define SW_PUT_PIECE(space, word, bits)                                                            \
    (((space uchar *)(word))[get_local_id(0) / SW_TILE_ITEMS] =                                    \
         (uchar)((bits) >> (uint)(get_local_id(0) / SW_TILE_ITEMS * SW_PIECE)))
#elif SW_GROUP == 2 * SW_TILE_ITEMS
#define SW_PUT_PIECE(space, word, bits)                                                            \
    (((space ushort *)(word))[get_local_id(0) / SW_TILE_ITEMS] =                                   \
         (ushort)((bits) >> (uint)(get_local_id(0) / SW_TILE_ITEMS * SW_PIECE)))
#else
#define SW_PUT_PIECE(space, word, bits) (*(word) = (bits))
#endif

/* What a work-item remembers of a word: of its own piece, except for `starts`. */
struct sw_tile_word {
    uint starts; /* first sites of the word's runs; 0 if not in the lattice */
    uint links;  /* bonds to the row above that are still to be joined by atomics */
    uint linked; /* first sites of runs whose label leads to another node */
    uint left;   /* 1: the bond from bit 0 to the left is still to be joined by atomics */
    uint alone;  /* in measured sweeps: sw_tile_alone() */
};

/* The sites of the runs that begin in the piece `mine`. */
ERGO_INLINE uint sw_piece_runs(uint starts, uint mine) {
    const uint own = starts & mine, below = (mine & (0u - mine)) - 1u,
               after = starts & ~(mine | below);
    if (SW_SPLIT == 1u)
        return 0xffffffffu;
    return own ? ((after & (0u - after)) - 1u) & ~((own & (0u - own)) - 1u) : 0u;
}

/* Each of two work-items that share a word draws its bonds in one direction. */
#define SW_DRAWS_RIGHT(at) (((at).mine & 1u) != 0u)
#define SW_DRAWS_DOWN(at) (((at).mine >> (SW_SPLIT > 1u ? SW_PIECE : 0u) & 1u) != 0u)

ERGO_INLINE void sw_tile_activate(SW_SHAPE struct sw_place at, const struct sw_member *m,
                                  ulong step, uint *right, uint *down) {
    if (SW_SPLIT == 1u)
        sw_activate(SW_HERE m, at.i, at.y, step, right, down);
    else if (SW_DRAWS_RIGHT(at) || SW_DRAWS_DOWN(at)) {
        const uint direction = SW_DRAWS_RIGHT(at) ? 0u : 1u;
        const uint active =
            sw_activate_one(SW_HERE m, at.i, at.y, step, direction ? *down : *right, direction);
        *right = *down = active;
    }
}

ERGO_INLINE uint sw_bit_of(uint low) {
    return 31u - ERGO_CLZ(low);
}

/* Number of the lowest bit, or 32 if there is none. */
ERGO_INLINE uint sw_first_bit(uint set) {
    return popcount(~set & (set - 1u));
}

/* Give each run its first label without atomics: the first bond to the row above, or else the bond
 * to the left. Nothing else writes these labels yet. The other bonds are left to sw_tile_join.
 * sides, unders: bonds of all words, without bonds down that lead around the lattice. */
ERGO_INLINE void sw_tile_link(__local uint *labels, __local const uint *sides,
                              __local const uint *unders, uint item, uint valid, uint mine,
                              struct sw_tile_word *w) {
    const uint side = sides[item], tx = item % SW_TILE_WORDS, ty = item / SW_TILE_WORDS;
    const uint starts = sw_starts(side, valid);
    const uint first = SW_NODE(item, SW_SPLIT > 1u ? sw_first_bit(mine) : 0u);
    for (uint bit = 0; bit < SW_PIECE; bit++)
        labels[first + bit] = first + bit;
    w->starts = starts;
    w->links = w->linked = w->left = 0u;
    if (ty > 0u && valid) {
        const uint up = item - SW_TILE_WORDS, side_up = sides[up], starts_up = ~(side_up << 1);
        /* keep one bond for each pair of runs */
        const uint links = unders[up] & ~sw_later_in_run(unders[up], starts | starts_up);
        const uint runs = sw_piece_runs(starts, mine);
        w->links = sw_later_in_run(links, starts) & runs;
        uint rest = links & ~w->links & runs;
        while (rest) {
            const uint low = rest & (0u - rest), bit = sw_bit_of(low);
            const uint start = sw_start_of(starts, bit);
            rest ^= low;
            w->linked |= 1u << start;
            labels[SW_NODE(item, start)] = SW_NODE(up, sw_start_of(starts_up, bit));
        }
    }
    if (tx > 0u && valid && mine & 1u) {
        const uint side_left = sides[item - 1u];
        w->left = side_left >> 31;
        if (w->left && !(w->linked & 1u)) {
            labels[SW_NODE(item, 0u)] = SW_NODE(item - 1u, sw_start_of(~(side_left << 1), 31u));
            w->linked |= 1u;
            w->left = 0u;
        }
    }
}

ERGO_INLINE void sw_tile_jump(__local uint *labels, uint item, uint linked) {
    while (linked) {
        const uint low = linked & (0u - linked);
        __local uint *label = &labels[SW_NODE(item, sw_bit_of(low))];
        const uint next = SW_READ_TILE(label), after = SW_READ_TILE(&labels[next]);
        SW_LOWER_TILE(label, after);
        linked ^= low;
    }
}

/* Join the other bonds of a word. One loop goes over the steps of all its joins. So work-items of a
 * GPU wait once for the one that has most steps, and not at each join for the longest. */
ERGO_INLINE void sw_tile_join(__local uint *labels, __local const uint *sides, uint item,
                              const struct sw_tile_word *w) {
    uint rest = w->links, a = 0u, b = 0u;
    if (w->left) {
        a = SW_NODE(item, 0u);
        b = SW_NODE(item - 1u, sw_start_of(~(sides[item - 1u] << 1), 31u));
    }
    while (rest || a != b) {
        if (a == b) {
            const uint low = rest & (0u - rest), bit = sw_bit_of(low), up = item - SW_TILE_WORDS;
            rest ^= low;
            a = SW_NODE(item, sw_start_of(w->starts, bit));
            b = SW_NODE(up, sw_start_of(~(sides[up] << 1), bit));
        }
        const uint small = a < b ? a : b;
        a = sw_step_local(labels, a < b ? b : a, small);
        b = small;
    }
}

/* sw_tile_link for all words. Needs a barrier before and after it. */
ERGO_INLINE void sw_tile_link_words(SW_SHAPE __local uint *labels, __local const uint *sides,
                                    __local const uint *unders, struct sw_tile_word *words) {
    for (uint k = 0; k < SW_PER; k++) {
        const struct sw_place at = sw_place_of(SW_HERE k);
        sw_tile_link(labels, sides, unders, at.item, at.valid, at.mine, &words[k]);
    }
}

/* Join what the links have left. */
ERGO_INLINE void sw_tile_join_words(SW_SHAPE __local uint *labels, __local const uint *sides,
                                    const struct sw_tile_word *words) {
    for (uint jump = 0; jump < SW_JUMPS; jump++)
        for (uint k = 0; k < SW_PER; k++)
            sw_tile_jump(labels, sw_place_of(SW_HERE k).item, words[k].linked);
    for (uint k = 0; k < SW_PER; k++)
        sw_tile_join(labels, sides, sw_place_of(SW_HERE k).item, &words[k]);
}

/* The root of the run that begins at n. */
ERGO_INLINE uint sw_tile_root(__local uint *labels, uint n) {
    uint root = n, next = SW_READ_TILE(&labels[n]) & SW_INDEX;
    if (next != n) {
        do {
            root = next;
            next = SW_READ_TILE(&labels[root]) & SW_INDEX;
        } while (next != root);
        SW_LOWER_TILE(&labels[n], root);
    }
    return root;
}

/* Add a run's sites to the size of its part, at the root. Adding up a word's runs of one root first
 * costs more, because such runs rarely follow each other. */
ERGO_INLINE void sw_tile_count(__local uint *labels, uint root, uint sites) {
    SW_ADD_LOCAL(&labels[root], sites << SW_SIZE_SHIFT);
}

/* Sites without any bond that are not at the tile's edge. */
ERGO_INLINE uint sw_tile_alone(SW_SHAPE __local const uint *sides, __local const uint *unders,
                               uint item, uint i, uint y, uint valid) {
    const uint tx = item % SW_TILE_WORDS, ty = item / SW_TILE_WORDS, side = sides[item];
    if (ty == 0u || y + 1u == SW_LY)
        return 0u;
    uint bonds = side | side << 1 | unders[item] | unders[item - SW_TILE_WORDS];
    bonds |= tx ? sides[item - 1u] >> 31 : 1u;
    if (i + 1u == SW_WORDS)
        bonds |= 1u << sw_last_bit(SW_HERE i);
    return ~bonds & valid;
}

/* Where a run ends if the next one begins at `next`, or at 32 if there is none. sites: of the word.
 */
#define SW_RUN_END(next, sites) (SW_TAIL == 32u ? (next) : min((next), (sites)))

/* Write each run's root, two runs per entry; this word's entries are SW_TILE_ITEMS apart. Returns
 * the roots among the piece's sites. sized: also add the sites of runs at their roots. */
ERGO_INLINE uint sw_tile_roots(SW_SHAPE __local uint *labels, uint item, uint mine,
                               const struct sw_tile_word *w, uint sites, __global uint *runs,
                               uint sized) {
    uint roots = 0u;
#if SW_GROUP > SW_TILE_ITEMS
    const uint first = mine & (0u - mine), own = w->starts & mine;
    uint rest = w->starts & ~(first - 1u), run = popcount(w->starts & (first - 1u));
    for (uint left = popcount(own); left > 0u; left--, run++) {
        const uint bit = sw_first_bit(rest), n = SW_NODE(item, bit), root = sw_tile_root(labels, n);
        rest &= rest - 1u;
        roots |= root == n ? 1u << bit : 0u;
        if (sized)
            sw_tile_count(labels, root, SW_RUN_END(sw_first_bit(rest), sites) - bit);
        ((__global ushort *)(runs + run / 2u * SW_TILE_ITEMS))[run & 1u] = (ushort)root;
    }
#else
    uint rest = w->starts, bit = sw_first_bit(rest);
    while (rest) {
        const uint n = SW_NODE(item, bit), root = sw_tile_root(labels, n);
        rest &= rest - 1u;
        const uint bit2 = sw_first_bit(rest);
        uint pair = root;
        roots |= root == n ? 1u << bit : 0u;
        if (sized)
            sw_tile_count(labels, root, SW_RUN_END(bit2, sites) - bit);
        if (rest) {
            const uint n2 = SW_NODE(item, bit2), root2 = sw_tile_root(labels, n2);
            rest &= rest - 1u;
            bit = sw_first_bit(rest);
            pair |= root2 << 16;
            roots |= root2 == n2 ? 1u << bit2 : 0u;
            if (sized)
                sw_tile_count(labels, root2, SW_RUN_END(bit, sites) - bit2);
        }
        *runs = pair;
        runs += SW_TILE_ITEMS;
    }
    (void)mine;
#endif
    return roots;
}

ERGO_INLINE void sw_tile_open_at(__local uint *labels, __local uint *opens, uint n) {
    uint root = n, next = SW_READ_TILE(&labels[n]) & SW_INDEX;
    while (next != root) {
        root = next;
        next = SW_READ_TILE(&labels[root]) & SW_INDEX;
    }
    const uint item = SW_NODE_ITEM(root);
    SW_OR_LOCAL(&opens[item], 1u << (root - SW_NODE_ROW * item));
}

/* Mark the open parts: those with runs in the first or last row of a tile (one work-item per site)
 * ... */
ERGO_INLINE void sw_tile_open_rows(SW_SHAPE __local uint *labels, __local const uint *sides,
                                   __local const uint *unders, __local uint *opens) {
    const struct sw_tile t = sw_tile_of_group(SW_HERE_ALONE);
    const uint below = SW_LY - 1u - t.y * SW_TILE_ROWS;
    const uint last = below < SW_TILE_ROWS - 1u ? below : SW_TILE_ROWS - 1u;
    for (uint e = t.first; e < 64u * SW_TILE_WORDS; e += SW_GROUP) {
        const uint tx = (e >> 5) % SW_TILE_WORDS, i = t.x * SW_TILE_WORDS + tx;
        const uint item = tx + ((e >> 5) < SW_TILE_WORDS ? 0u : last * SW_TILE_WORDS);
        if (i >= SW_WORDS)
            continue;
        const uint starts = sw_starts(sides[item], sw_valid(SW_HERE i)), bit = e & 31u;
        uint leads = starts;
        if ((e >> 5) >= SW_TILE_WORDS && below > SW_TILE_ROWS - 1u)
            leads = unders[item] & ~sw_later_in_run(unders[item], starts);
        if (leads >> bit & 1u)
            sw_tile_open_at(labels, opens, SW_NODE(item, sw_start_of(starts, bit)));
    }
}

/* ... and those with runs at its sides. */
ERGO_INLINE void sw_tile_open_sides(SW_SHAPE __local uint *labels, __local uint *opens, uint item,
                                    uint i, uint mine, uint starts, uint side) {
    const uint tx = item % SW_TILE_WORDS;
    if (starts && tx == 0u && mine & 1u)
        sw_tile_open_at(labels, opens, SW_NODE(item, 0u));
    if (starts && mine >> 31 && ((tx + 1u == SW_TILE_WORDS && side >> 31) || i + 1u == SW_WORDS))
        sw_tile_open_at(labels, opens, SW_NODE(item, sw_start_of(starts, sw_last_bit(SW_HERE i))));
}

#endif
