/*
 * Swendsen-Wang: bonds and labels in tiles, joins between tiles, new spins. Dimension 1 is
 * always the member.
 *
 * spins: [member][plane][word]; right, down: active bonds, [member][word]; roots, open: the first
 * sites of clusters' parts in tiles, and those of them that have labels, [member][word]; runs,
 * labels: labels.h. See core.h for words and indices.
 */
#include "swendsen_wang/bonds.h"
#include "swendsen_wang/clusters.h"
#include "swendsen_wang/core.h"
#include "swendsen_wang/labels.h"
#include "swendsen_wang/spins.h"
#include "swendsen_wang/tile.h"

#define SW_SITES (32UL * SW_PLANE_WORDS)

/* Open parts of a tile at the most: one for each site at its edge. */
#define SW_MOST_OPEN (64u * SW_TILE_WORDS + 2u * SW_TILE_ROWS)

/* Where clusters between tiles are counted, parts are, and their joins (sw_flip_sizes). */
#ifdef SW_OPEN_SUMS
#define SW_OPEN_COUNT 1
#else
#define SW_OPEN_COUNT 0
#endif

/* A group's sums to their place: sums[sample][member][place][SW_CLUSTER_FIELDS]. */
#define SW_SUMS_END                                                                                \
    SW_SYNC;                                                                                       \
    const ulong member_at = (ulong)sample * get_global_size(1) + index;                            \
    sw_count_end(sums + (member_at * SW_SUM_SLOTS + tile_id % SW_SUM_SLOTS) * SW_CLUSTER_FIELDS,   \
                 fields, first, SW_GROUP);

/* A tile is a work-group: SW_GROUP items in dimension 0. Item's word k of SW_PER. */
#define SW_TILE                                                                                    \
    const uint first = (uint)get_local_id(0), tile_id = (uint)get_group_id(0);                     \
    const uint index = (uint)get_global_id(1);                                                     \
    const uint tile_x = tile_id % SW_TILES_X, tile_y = tile_id / SW_TILES_X;                       \
    const ulong plane = (ulong)index * SW_PLANE_WORDS;
#define SW_WORD                                                                                    \
    const uint item = first + k * SW_GROUP;                                                        \
    const uint i = tile_x * SW_TILE_WORDS + item % SW_TILE_WORDS;                                  \
    const uint y = tile_y * SW_TILE_ROWS + item / SW_TILE_WORDS;                                   \
    const bool inside = i < SW_WORDS && y < SW_LY;                                                 \
    const uint word = inside ? y * SW_WORDS + i : 0u;                                              \
    const uint valid = inside ? sw_valid(i) : 0u;

/* Bonds of a tile, and its runs' labels in it. SIZES: also the sizes of the clusters' parts, to
 * the sums, and to `sizes` where they are open. Two thirds of the clusters are sites alone, which
 * are counted by words. */
#define SW_LABEL_BODY(SIZES)                                                                       \
    const struct sw_member m = members[index];                                                     \
    struct sw_tile_word words[SW_PER];                                                             \
    for (uint k = 0; k < SW_PER; k++) {                                                            \
        SW_WORD                                                                                    \
        uint side = 0u, under = 0u;                                                                \
        if (inside) {                                                                              \
            sw_equal(spins + plane * SW_PLANES, i, y, &side, &under);                              \
            sw_activate(&m, i, y, step, &side, &under);                                            \
            right[plane + word] = side;                                                            \
            down[plane + word] = under;                                                            \
        }                                                                                          \
        sides[item] = side;                                                                        \
        unders[item] = y + 1u < SW_LY ? under : 0u;                                                \
    }                                                                                              \
    if (SIZES)                                                                                     \
        sw_count_begin(fields, first, SW_GROUP);                                                   \
    SW_SYNC;                                                                                       \
    for (uint k = 0; k < SW_PER; k++) {                                                            \
        SW_WORD                                                                                    \
        sw_tile_link(tile, sides, unders, item, valid, &words[k]);                                 \
    }                                                                                              \
    SW_SYNC;                                                                                       \
    for (uint jump = 0; jump < SW_JUMPS; jump++)                                                   \
        for (uint k = 0; k < SW_PER; k++)                                                          \
            sw_tile_jump(tile, first + k * SW_GROUP, words[k].linked);                             \
    for (uint k = 0; k < SW_PER; k++)                                                              \
        sw_tile_join(tile, sides, first + k * SW_GROUP, &words[k]);                                \
    SW_SYNC;                                                                                       \
    __global uint *slab = runs + (ulong)index * SW_RUNS + tile_id * SW_SLAB;                       \
    for (uint k = 0; k < SW_PER; k++) {                                                            \
        SW_WORD                                                                                    \
        words[k].linked =                                                                          \
            sw_tile_roots(tile, item, &words[k], sw_last_bit(i) + 1u, slab + item, SIZES);         \
    }                                                                                              \
    SW_SYNC;                                                                                       \
    sw_tile_open_rows(tile, sides, first, tile_x, tile_y);                                         \
    for (uint k = 0; k < SW_PER; k++) {                                                            \
        SW_WORD                                                                                    \
        sw_tile_open_sides(tile, item, i, words[k].starts);                                        \
        if (SIZES)                                                                                 \
            words[k].alone = sw_tile_alone(sides, unders, item, i, y, valid);                      \
    }                                                                                              \
    SW_SYNC;                                                                                       \
    for (uint k = 0; k < SW_PER; k++) {                                                            \
        SW_WORD                                                                                    \
        const uint alone = SIZES ? words[k].alone : 0u;                                            \
        uint rest = words[k].linked & ~alone, leads_out = 0u;                                      \
        while (rest) {                                                                             \
            const uint low = rest & (0u - rest), bit = sw_bit_of(low);                             \
            const uint found = tile[bit * SW_TILE_ITEMS + item], size = found >> SW_SIZE_SHIFT;    \
            const bool is_open = found & SW_OPEN;                                                  \
            rest ^= low;                                                                           \
            if (is_open) {                                                                         \
                const ulong site = (ulong)index * SW_SITES + 32u * word + bit;                     \
                leads_out |= low;                                                                  \
                labels[site] = SW_LABEL(32u * word + bit);                                         \
                if (SIZES)                                                                         \
                    sizes[site] = size;                                                            \
            }                                                                                      \
            if (SIZES && (SW_OPEN_COUNT || !is_open))                                              \
                sw_count_or_list(fields, unders, listed, size);                                    \
        }                                                                                          \
        if (SIZES)                                                                                 \
            tile[item] = popcount(alone); /* the word's labels are not used any more */            \
        if (inside) {                                                                              \
            roots[plane + word] = words[k].linked;                                                 \
            open[plane + word] = leads_out;                                                        \
        }                                                                                          \
    }

__kernel __attribute__((reqd_work_group_size(SW_GROUP, 1, 1))) void
sw_label(__global const uint *spins, __global const struct sw_member *members, __global uint *right,
         __global uint *down, __global uint *runs, __global uint *roots, __global uint *open,
         __global uint *labels, ulong step) {
    __local uint tile[32 * SW_TILE_ITEMS], sides[SW_TILE_ITEMS], unders[SW_TILE_ITEMS];
    __local uint *fields = sides, *listed = sides; /* not used, as sizes */
    __global uint *sizes = labels;
    SW_TILE
    SW_LABEL_BODY(0)
}

/* spin_sums: as of sw_measure, of sample `before`, which has left these spins. */
__kernel __attribute__((reqd_work_group_size(SW_GROUP, 1, 1))) void
sw_label_sizes(__global const uint *spins, __global const struct sw_member *members,
               __global uint *right, __global uint *down, __global uint *runs, __global uint *roots,
               __global uint *open, __global uint *labels, ulong step, __global uint *sizes,
               __global uint *sums, uint sample, __global uint *spin_sums, uint before) {
    __local uint tile[32 * SW_TILE_ITEMS], sides[SW_TILE_ITEMS], unders[SW_TILE_ITEMS];
    __local uint fields[SW_CLUSTER_FIELDS], spin_fields[SW_Q], lanes[32 * SW_SPIN_SUMS];
    __local uint listed[1]; /* clusters in `unders`, which has room */
    struct sw_spins own;
    SW_TILE
    for (uint f = first; f < SW_Q; f += SW_GROUP)
        spin_fields[f] = 0u;
    for (uint f = first; f < 32u * SW_SPIN_SUMS; f += SW_GROUP)
        lanes[f] = 0u;
    if (first == 0u)
        listed[0] = 0u;
    sw_spins_begin(&own);
    SW_SYNC;
    for (uint k = 0; k < SW_PER && before != SW_NO_SAMPLE; k++) {
        SW_WORD
        __global const uint *planes = spins + plane * SW_PLANES;
        uint side, under;
        if (!inside)
            continue;
        sw_equal(planes, i, y, &side, &under);
        sw_spins_add(&own, spin_fields, planes, i, y, side, under);
    }
    for (uint k = 0; k < SW_SPIN_SUMS; k++)
        SW_ADD_LOCAL(&lanes[32u * k + first % 32u], own.sums[k]);
    SW_LABEL_BODY(1)
    SW_SYNC;
    for (uint lane = first; lane < 8u; lane += SW_GROUP) {
        uint alone = 0u;
        for (uint item = lane; item < SW_TILE_ITEMS; item += 8u)
            alone += tile[item];
        SW_ADD_LOCAL(&fields[SW_FIELD_SMALL], alone);
    }
    const uint large = listed[0];
    for (uint e = first; e < large; e += SW_GROUP)
        sw_count(fields, unders[e]);
    for (uint f = first; f < 32u * SW_SPIN_SUMS; f += SW_GROUP)
        SW_ADD_LOCAL(&spin_fields[f / 32u], lanes[f]);
    SW_SUMS_END
    if (before != SW_NO_SAMPLE)
        sw_spins_end(spin_sums + (((ulong)before * get_global_size(1) + index) * SW_SUM_SLOTS +
                                  tile_id % SW_SUM_SLOTS) *
                                     SW_Q,
                     spin_fields, first, SW_GROUP);
}

/*
 * Join across the edges of tiles: n_rows of them from edge row_edge on, then n_columns from
 * column_edge on. Edge e lies below row (e + 1) SW_TILE_ROWS - 1, or right of such a word; the last
 * edges are the lattice's own and lead around it. An item for each site above an edge, then for
 * each word left of one: 32 SW_WORDS n_rows + SW_LY n_columns.
 *
 * wraps[sample][member]: 1 where a cluster leads around the lattice (0 before; SW_LABEL_BITS 2).
 */
__kernel void sw_join_tiles(__global const uint *right, __global const uint *down,
                            __global const uint *runs, __global uint *labels, uint row_edge,
                            uint n_rows, uint column_edge, uint n_columns, __global uint *wraps,
                            uint sample) {
    uint item = (uint)get_global_id(0);
    const uint index = (uint)get_global_id(1), below_edges = 32u * SW_WORDS * n_rows;
    __global const uint *sides = right + (ulong)index * SW_PLANE_WORDS;
    __global const uint *parts = runs + (ulong)index * SW_RUNS;
    __global uint *own = labels + (ulong)index * SW_SITES;
    uint odd = 0u;
    if (item < below_edges) {
        const uint bit = item & 31u, i = (item >> 5) % SW_WORDS;
        const uint row = (row_edge + (item >> 5) / SW_WORDS + 1u) * SW_TILE_ROWS;
        const uint y = row < SW_LY ? row - 1u : SW_LY - 1u;
        const uint y_below = y + 1u == SW_LY ? 0u : y + 1u;
        const uint word = y * SW_WORDS + i;
        const uint side = sides[word], side_below = sides[y_below * SW_WORDS + i];
        if (sw_prune(down[(ulong)index * SW_PLANE_WORDS + word], side, side_below) >> bit & 1u)
            odd = sw_join(own, sw_part(parts, i, y, ~(side << 1), bit),
                          sw_part(parts, i, y_below, ~(side_below << 1), bit),
                          SW_ODD(y_below ? 0u : 2u));
    } else if (item - below_edges < SW_LY * n_columns) {
        item -= below_edges;
        const uint y = item % SW_LY, column = (column_edge + item / SW_LY + 1u) * SW_TILE_WORDS;
        const uint i = column < SW_WORDS ? column - 1u : SW_WORDS - 1u;
        const uint next = i + 1u == SW_WORDS ? 0u : i + 1u;
        const uint side = sides[y * SW_WORDS + i], last = sw_last_bit(i);
        if (side >> last & 1u)
            odd = sw_join(own, sw_part(parts, i, y, ~(side << 1), last),
                          sw_part(parts, next, y, 1u, 0u), SW_ODD(next ? 0u : 1u));
    }
    if (odd && sample != SW_NO_SAMPLE)
        SW_PUT(&wraps[(ulong)sample * get_global_size(1) + index], 1u);
}

/*
 * New spins, by tiles: roots draw states, runs look them up. The roots are listed first, because
 * some words have many and most have few: open ones from the list's end, so that those that have to
 * be followed through memory are together.
 */
#define SW_LIST_END (32u * SW_TILE_ITEMS - 1u)
#define SW_FLIP_DRAW                                                                               \
    SW_TILE                                                                                        \
    __global uint *own = labels + (ulong)index * SW_SITES;                                         \
    const uint key0 = members[index].key0, key1 = members[index].key1;                             \
    const uint corner = tile_y * SW_TILE_ROWS * SW_WORDS + tile_x * SW_TILE_WORDS;                 \
    if (first == 0u)                                                                               \
        listed[0] = listed[1] = 0u;                                                                \
    SW_SYNC;                                                                                       \
    for (uint k = 0; k < SW_PER; k++) {                                                            \
        SW_WORD                                                                                    \
        const uint labelled = inside ? open[plane + word] : 0u;                                    \
        uint rest = inside ? roots[plane + word] : 0u;                                             \
        for (uint p = 0; p < SW_PLANES; p++)                                                       \
            states[p * SW_TILE_ITEMS + item] = 0u;                                                 \
        uint at = SW_ADD_LOCAL(&listed[0], popcount(rest & ~labelled));                            \
        uint at_open = labelled ? SW_ADD_LOCAL(&listed[1], popcount(labelled)) : 0u;               \
        while (rest) {                                                                             \
            const uint low = rest & (0u - rest), n = 32u * item + sw_bit_of(low);                  \
            rest ^= low;                                                                           \
            list[labelled & low ? SW_LIST_END - at_open++ : at++] = (ushort)n;                     \
        }                                                                                          \
    }                                                                                              \
    SW_SYNC;                                                                                       \
    const uint n_open = listed[1], total = listed[0] + n_open;                                     \
    for (uint j = first; j < total; j += SW_GROUP) {                                               \
        const uint n = list[j < n_open ? SW_LIST_END - j : j - n_open];                            \
        const uint site = sw_tile_index(corner, n);                                                \
        uint root = site;                                                                          \
        if (j < n_open) {                                                                          \
            const uint part = SW_FLIP_PART;                                                        \
            root = SW_FLIP_ROOT(site);                                                             \
            SW_FLIP_FOUND                                                                          \
        }                                                                                          \
        const uint state = SW_FLIP_STATE(root);                                                    \
        for (uint p = 0; p < SW_PLANES; p++)                                                       \
            if (state >> p & 1u)                                                                   \
                SW_OR_LOCAL(&states[p * SW_TILE_ITEMS + (n >> 5)], 1u << (n & 31u));               \
    }                                                                                              \
    SW_SYNC;

#define SW_FLIP_SPINS                                                                              \
    for (uint k = 0; k < SW_PER; k++) {                                                            \
        SW_WORD                                                                                    \
        __global const uint *part = runs + (ulong)index * SW_RUNS + tile_id * SW_SLAB + item;      \
        const uint starts = inside ? sw_starts(right[plane + word], valid) : 0u;                   \
        uint rest = starts, bits[SW_PLANES];                                                       \
        for (uint p = 0; p < SW_PLANES; p++)                                                       \
            bits[p] = 0u;                                                                          \
        const uint pairs = (popcount(starts) + 1u) / 2u;                                           \
        for (uint r = 0; r < pairs; r++) {                                                         \
            const uint pair = part[r * SW_TILE_ITEMS];                                             \
            const uint root = pair & 0xffffu, root2 = pair >> 16;                                  \
            const uint low = rest & (0u - rest);                                                   \
            rest ^= low;                                                                           \
            const uint low2 = rest & (0u - rest); /* 0: no second run, and root2 is 0 */           \
            rest ^= low2;                                                                          \
            for (uint p = 0; p < SW_PLANES; p++) {                                                 \
                __local const uint *state = states + p * SW_TILE_ITEMS;                            \
                bits[p] |= state[root >> 5] >> (root & 31u) & 1u ? low : 0u;                       \
                bits[p] |= state[root2 >> 5] >> (root2 & 31u) & 1u ? low2 : 0u;                    \
            }                                                                                      \
        }                                                                                          \
        for (uint p = 0; p < SW_PLANES && inside; p++)                                             \
            spins[plane * SW_PLANES + p * SW_PLANE_WORDS + word] =                                 \
                sw_fill(bits[p], starts) & valid;                                                  \
    }

/* State of the cluster that `name` represents; where a part's labels lead, and what that gets. */
#define SW_FLIP_DRAWN(name)                                                                        \
    sw_state((name), SW_PURPOSE_SPIN, (uint)step, (uint)(step >> 32), key0, key1)
#define SW_FLIP_ROOT(site) sw_find_still(own, (site))
#define SW_FLIP_STATE(root) SW_FLIP_DRAWN(sw_global_site(root))
#define SW_FLIP_PART 0u
#define SW_FLIP_FOUND
__kernel __attribute__((reqd_work_group_size(SW_GROUP, 1, 1))) void
sw_flip(__global uint *spins, __global const struct sw_member *members, __global const uint *right,
        __global const uint *runs, __global const uint *roots, __global const uint *open,
        __global uint *labels, ulong step) {
    __local uint states[SW_PLANES * SW_TILE_ITEMS], listed[2];
    __local ushort list[32 * SW_TILE_ITEMS];
    SW_FLIP_DRAW
    SW_FLIP_SPINS
}
#undef SW_FLIP_PART
#undef SW_FLIP_FOUND

/* A part that was joined with `before` sites (0: none): small ones at once, others to the list. */
ERGO_INLINE void sw_flip_joined(__local uint *fields, __local uint2 *joins, __local uint *n_joins,
                                uint before, uint part) {
    if (before && before + part - 1u < SW_SMALL)
        sw_count_joined(fields, before + part, before, part);
    else if (before)
        joins[SW_ADD_LOCAL(n_joins, 1u)] = (uint2)(before, part);
}

/*
 * The same, and sizes of open parts are added up at their clusters' roots, and joins counted. Many
 * parts of a tile belong to the lattice's largest cluster: those of the tile's least root are first
 * added up here. Nothing waits for memory: sizes are asked for before roots are looked for, and
 * what additions found is looked at after the new spins.
 */
#define SW_FLIP_PART SW_READ(&counts[site]) /* changes meanwhile at roots, where it is not used */
#define SW_FLIP_FOUND                                                                              \
    found[j] = (uint2)(root, part);                                                                \
    SW_MIN_LOCAL(&common[0], root);
__kernel __attribute__((reqd_work_group_size(SW_GROUP, 1, 1))) void
sw_flip_sizes(__global uint *spins, __global const struct sw_member *members,
              __global const uint *right, __global const uint *runs, __global const uint *roots,
              __global const uint *open, __global uint *labels, ulong step, __global uint *sizes,
              __global uint *sums, uint sample) {
    __local uint states[SW_PLANES * SW_TILE_ITEMS], listed[2];
    __local ushort list[32 * SW_TILE_ITEMS];
    __local uint2 found[SW_MOST_OPEN], joins[SW_MOST_OPEN];
    __local uint fields[SW_CLUSTER_FIELDS];
    __local uint common[4]; /* root, size; of its parts beyond SW_SMALL; number of joins */
    __global uint *counts = sizes + get_global_id(1) * SW_SITES;
    uint before = 0u, size = 0u;
    uint2 join = (uint2)(0u, 0u);
    sw_count_begin(fields, (uint)get_local_id(0), SW_GROUP);
    if (get_local_id(0) == 0) {
        common[0] = SW_NO_BOND;
        common[1] = common[2] = common[3] = 0u;
    }
    SW_FLIP_DRAW
    for (uint j = first; j < n_open; j += SW_GROUP) {
        const uint site = sw_tile_index(corner, list[SW_LIST_END - j]), root = found[j].x;
        sw_flip_joined(fields, joins, &common[3], before, size);
        before = 0u;
        size = found[j].y;
        if (root == site)
            continue; /* its own part is there */
        if (root != common[0]) {
            before = atomic_add(&counts[root], size);
            continue;
        }
        SW_ADD_LOCAL(&common[1], size);
        if (size > SW_SMALL)
            before = SW_ADD_LOCAL(&common[2], size);
        else
            atomic_dec(&fields[SW_FIELD_SMALL + size - 1u]);
    }
    SW_SYNC;
    if (first == 0u && common[1])
        join = (uint2)(atomic_add(&counts[common[0]], common[1]), common[2]);
    SW_FLIP_SPINS
    sw_flip_joined(fields, joins, &common[3], before, size);
    SW_SYNC;
    /* joins beyond SW_SMALL, a work-item each */
    const uint n_joins = common[3];
    for (uint e = first; e <= n_joins; e += SW_GROUP) {
        if (e > 0u)
            join = joins[e - 1u];
        if (join.x)
            sw_count_joined(fields, e > 0u ? join.x + join.y : join.x + common[1], join.x, join.y);
    }
    SW_SUMS_END
}
