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

/* A group's sums to their place: sums[sample][member][place][SW_CLUSTER_FIELDS]. */
#define SW_SUMS_END                                                                                \
    SW_SYNC;                                                                                       \
    const ulong member_at = (ulong)sample * get_global_size(1) + index;                            \
    sw_count_end(sums + (member_at * SW_SUM_SLOTS + tile_id % SW_SUM_SLOTS) * SW_CLUSTER_FIELDS,   \
                 fields, first, SW_GROUP);

/* A tile is a work-group: SW_GROUP items in dimension 0. Item's word k of SW_PER. */
#define SW_TILE                                                                                    \
    const uint first = (uint)get_local_id(0), tile_id = (uint)get_group_id(0);                     \
    const uint index = (uint)get_group_id(1);                                                      \
    const uint tile_x = tile_id % SW_TILES_X, tile_y = tile_id / SW_TILES_X;                       \
    const ulong plane = (ulong)index * SW_PLANE_WORDS;
#define SW_WORD                                                                                    \
    const uint item = first + k * SW_GROUP;                                                        \
    const uint i = tile_x * SW_TILE_WORDS + item % SW_TILE_WORDS;                                  \
    const uint y = tile_y * SW_TILE_ROWS + item / SW_TILE_WORDS;                                   \
    const bool inside = i < SW_WORDS && y < SW_LY;                                                 \
    const uint word = inside ? y * SW_WORDS + i : 0u;                                              \
    const uint valid = inside ? sw_valid(i) : 0u;

/* Sums over a word's spins, which sample `before` has left, and then of a work-item; after the
 * bonds, which take long, clusters of that sample. */
#define SW_SPINS_WORD_0
#define SW_SPINS_WORD_1                                                                            \
    if (before != SW_NO_SAMPLE)                                                                    \
        sw_spins_add(&own, spin_fields, spins + plane * SW_PLANES, i, y, side, under);
#define SW_SPINS_ITEM_0
#define SW_SPINS_ITEM_1                                                                            \
    for (uint k = 0; k < SW_SPIN_SUMS; k++)                                                        \
        SW_ADD_LOCAL(&lanes[32u * k + first % 32u], own.sums[k]);

#define SW_AFTER_BONDS_0
#define SW_AFTER_BONDS_1 SW_ROOTS_COUNT
/* sizes that were counted will be written over */
#define SW_AFTER_LINKS_0 SW_SYNC
#define SW_AFTER_LINKS_1 SW_SYNC_GLOBAL

/* Bonds of a tile, and its runs' labels in it. SIZES: also the sizes of the clusters' parts, to
 * the sums, or to `sizes` where they are open. Two thirds of the clusters are sites alone, which
 * are counted by words. */
#define SW_LABEL_BODY(SIZES, SPINS)                                                                \
    const struct sw_member m = members[index];                                                     \
    struct sw_tile_word words[SW_PER];                                                             \
    for (uint k = 0; k < SW_PER; k++) {                                                            \
        SW_WORD                                                                                    \
        uint side = 0u, under = 0u;                                                                \
        if (inside) {                                                                              \
            sw_equal(spins + plane * SW_PLANES, i, y, &side, &under);                              \
            SW_SPINS_WORD_##SPINS;                                                                 \
            sw_activate(&m, i, y, step, &side, &under);                                            \
            right[plane + word] = side;                                                            \
            down[plane + word] = under;                                                            \
        }                                                                                          \
        sides[item] = side;                                                                        \
        opens[item] = 0u;                                                                          \
        unders[item] = y + 1u < SW_LY ? under : 0u;                                                \
    }                                                                                              \
    SW_SPINS_ITEM_##SPINS;                                                                         \
    if (SIZES)                                                                                     \
        sw_count_begin(fields, first, SW_GROUP);                                                   \
    SW_SYNC;                                                                                       \
    SW_AFTER_BONDS_##SIZES;                                                                        \
    for (uint k = 0; k < SW_PER; k++) {                                                            \
        SW_WORD                                                                                    \
        sw_tile_link(tile, sides, unders, item, valid, &words[k]);                                 \
    }                                                                                              \
    SW_AFTER_LINKS_##SIZES;                                                                        \
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
    sw_tile_open_rows(tile, sides, unders, opens, first, tile_x, tile_y);                          \
    for (uint k = 0; k < SW_PER; k++) {                                                            \
        SW_WORD                                                                                    \
        sw_tile_open_sides(tile, opens, item, i, words[k].starts, sides[item]);                    \
        if (SIZES)                                                                                 \
            words[k].alone = sw_tile_alone(sides, unders, item, i, y, valid);                      \
    }                                                                                              \
    SW_SYNC;                                                                                       \
    uint alone = 0u;                                                                               \
    for (uint k = 0; k < SW_PER; k++) {                                                            \
        SW_WORD                                                                                    \
        const uint leads_out = opens[item];                                                        \
        uint rest = leads_out;                                                                     \
        while (rest) {                                                                             \
            const uint low = rest & (0u - rest), bit = sw_bit_of(low);                             \
            const ulong site = (ulong)index * SW_SITES + 32u * word + bit;                         \
            rest ^= low;                                                                           \
            labels[site] = SW_LABEL(32u * word + bit);                                             \
            if (SIZES)                                                                             \
                sizes[site] = tile[SW_NODE(item, bit)] >> SW_SIZE_SHIFT;                           \
        }                                                                                          \
        rest = SIZES ? words[k].linked & ~(leads_out | words[k].alone) : 0u;                       \
        while (rest) {                                                                             \
            const uint low = rest & (0u - rest);                                                   \
            rest ^= low;                                                                           \
            sw_count_or_list(fields, unders, listed,                                               \
                             tile[SW_NODE(item, sw_bit_of(low))] >> SW_SIZE_SHIFT);                \
        }                                                                                          \
        if (SIZES)                                                                                 \
            alone += popcount(words[k].alone);                                                     \
        if (inside) {                                                                              \
            roots[plane + word] = words[k].linked;                                                 \
            open[plane + word] = leads_out;                                                        \
        }                                                                                          \
    }                                                                                              \
    if (SIZES)                                                                                     \
        SW_ADD_LOCAL(&fields[SW_FIELD_SMALL], alone);

__kernel __attribute__((reqd_work_group_size(SW_GROUP, 1, 1))) void
sw_label(__global const uint *spins, __global const struct sw_member *members, __global uint *right,
         __global uint *down, __global uint *runs, __global uint *roots, __global uint *open,
         __global uint *labels, ulong step) {
    __local uint tile[SW_NODES], sides[SW_TILE_ITEMS], unders[SW_TILE_ITEMS];
    __local uint opens[SW_TILE_ITEMS];
    __local uint *fields = sides, *listed = sides; /* not used, as sizes */
    __global uint *sizes = labels;
    SW_TILE
    SW_LABEL_BODY(0, 0)
}

/* spin_sums: as of sw_measure, of sample `before`, which has left these spins. */
#define SW_SPINS_BEGIN                                                                             \
    struct sw_spins own;                                                                           \
    for (uint f = first; f < SW_Q; f += SW_GROUP)                                                  \
        spin_fields[f] = 0u;                                                                       \
    for (uint f = first; f < 32u * SW_SPIN_SUMS; f += SW_GROUP)                                    \
        lanes[f] = 0u;                                                                             \
    if (first == 0u)                                                                               \
        listed[0] = 0u;                                                                            \
    sw_spins_begin(&own);                                                                          \
    SW_SYNC;
/* between these two: a barrier, as before what follows */
#define SW_SPINS_LANES                                                                             \
    for (uint f = first; f < 32u * SW_SPIN_SUMS; f += SW_GROUP)                                    \
        SW_ADD_LOCAL(&spin_fields[f / 32u], lanes[f]);
#define SW_SPINS_END                                                                               \
    if (before != SW_NO_SAMPLE)                                                                    \
        sw_spins_end(spin_sums + (((ulong)before * get_global_size(1) + index) * SW_SUM_SLOTS +    \
                                  tile_id % SW_SUM_SLOTS) *                                        \
                                     SW_Q,                                                         \
                     spin_fields, first, SW_GROUP);

__kernel __attribute__((reqd_work_group_size(SW_GROUP, 1, 1))) void
sw_label_spins(__global const uint *spins, __global const struct sw_member *members,
               __global uint *right, __global uint *down, __global uint *runs, __global uint *roots,
               __global uint *open, __global uint *labels, ulong step, __global uint *spin_sums,
               uint before) {
    __local uint tile[SW_NODES], sides[SW_TILE_ITEMS], unders[SW_TILE_ITEMS];
    __local uint opens[SW_TILE_ITEMS];
    __local uint spin_fields[SW_Q], lanes[32 * SW_SPIN_SUMS], listed[1];
    __local uint *fields = sides; /* not used, as sizes */
    __global uint *sizes = labels;
    SW_TILE
    SW_SPINS_BEGIN
    SW_LABEL_BODY(0, 1)
    SW_SPINS_LANES
    SW_SYNC;
    SW_SPINS_END
}

/* Clusters of several tiles, of sample `before`: sw_flip_sizes has left their roots in `roots` and
 * their sizes in `sizes`. They are listed first, because some words have many and most none. */
#define SW_ROOTS_BEGIN                                                                             \
    sw_count_begin(late_fields, first, SW_GROUP);                                                  \
    if (first == 0u)                                                                               \
        n_late[0] = 0u;
#define SW_ROOTS_LIST                                                                              \
    for (uint k = 0; k < SW_PER; k++) {                                                            \
        SW_WORD                                                                                    \
        uint rest = inside ? roots[plane + word] & valid : 0u;                                     \
        uint at = rest ? SW_ADD_LOCAL(n_late, popcount(rest)) : 0u;                                \
        while (rest && at < SW_MOST_OPEN) { /* always, unless a launch was lost */                 \
            const uint low = rest & (0u - rest);                                                   \
            rest ^= low;                                                                           \
            late[at++] = 32u * word + sw_bit_of(low);                                              \
        }                                                                                          \
    }
#define SW_ROOTS_COUNT                                                                             \
    for (uint e = first; e < min(n_late[0], SW_MOST_OPEN); e += SW_GROUP)                          \
        sw_count(late_fields, sizes[(ulong)index * SW_SITES + late[e]]);
#define SW_ROOTS_END                                                                               \
    sw_count_end(sums + (((ulong)before * get_global_size(1) + index) * SW_SUM_SLOTS +             \
                         tile_id % SW_SUM_SLOTS) *                                                 \
                            SW_CLUSTER_FIELDS,                                                     \
                 late_fields, first, SW_GROUP);

__kernel __attribute__((reqd_work_group_size(SW_GROUP, 1, 1))) void
sw_label_sizes(__global const uint *spins, __global const struct sw_member *members,
               __global uint *right, __global uint *down, __global uint *runs, __global uint *roots,
               __global uint *open, __global uint *labels, ulong step, __global uint *sizes,
               __global uint *sums, uint sample, __global uint *spin_sums, uint before) {
    __local uint tile[SW_NODES], sides[SW_TILE_ITEMS], unders[SW_TILE_ITEMS];
    __local uint opens[SW_TILE_ITEMS];
    __local uint fields[SW_CLUSTER_FIELDS], spin_fields[SW_Q], lanes[32 * SW_SPIN_SUMS];
    __local uint listed[1]; /* clusters in `unders`, which has room */
    __local uint late_fields[SW_CLUSTER_FIELDS], late[SW_MOST_OPEN], n_late[1];
    SW_TILE
    SW_ROOTS_BEGIN
    SW_SPINS_BEGIN
    if (before != SW_NO_SAMPLE) {
        SW_ROOTS_LIST
    }
    SW_LABEL_BODY(1, 1)
    SW_SYNC;
    const uint large = listed[0];
    for (uint e = first; e < large; e += SW_GROUP)
        sw_count(fields, unders[e]);
    SW_SPINS_LANES
    SW_SUMS_END
    SW_SPINS_END
    if (before != SW_NO_SAMPLE) {
        SW_ROOTS_END
    }
}

/* The same by itself, where no sweep follows that could do it. */
__kernel __attribute__((reqd_work_group_size(SW_GROUP, 1, 1))) void
sw_count_roots(__global const uint *roots, __global const uint *sizes, __global uint *sums,
               uint before) {
    __local uint late_fields[SW_CLUSTER_FIELDS], late[SW_MOST_OPEN], n_late[1];
    SW_TILE
    SW_ROOTS_BEGIN
    SW_SYNC;
    SW_ROOTS_LIST
    SW_SYNC;
    SW_ROOTS_COUNT
    SW_SYNC;
    SW_ROOTS_END
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

#include "swendsen_wang/flip.cl"
