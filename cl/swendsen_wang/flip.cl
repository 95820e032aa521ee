/*
 * Swendsen-Wang: new spins, and with them what becomes of open parts' sizes. Part of sweep.cl.
 */

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
