/*
 * Swendsen-Wang: new spins, and with them what becomes of open parts' sizes. Part of sweep.cl.
 */

/*
 * New spins, by tiles: roots draw states, runs look them up. The roots are listed first, because
 * some words have many and most have few: open ones from the list's end, so that those that have to
 * be followed through memory are together.
 */
#define SW_LIST_END (32u * SW_TILE_ITEMS - 1u)
#define SW_STATE_WORDS ((SW_NODE_ROW * SW_TILE_ITEMS + 31u) / 32u) /* a bit for each node */
#define SW_FLIP_DRAW                                                                               \
    SW_TILE                                                                                        \
    __global uint *own = labels + (ulong)index * SW_SITES;                                         \
    const uint key0 = members[index].key0, key1 = members[index].key1;                             \
    const uint corner = tile_y * SW_TILE_ROWS * SW_WORDS + tile_x * SW_TILE_WORDS;                 \
    if (first == 0u)                                                                               \
        listed[0] = listed[1] = 0u;                                                                \
    for (uint f = first; f < SW_PLANES * SW_STATE_WORDS; f += SW_GROUP)                            \
        states[f] = 0u;                                                                            \
    SW_SYNC;                                                                                       \
    for (uint k = 0; k < SW_PER; k++) {                                                            \
        SW_WORD                                                                                    \
        uint rest = inside ? roots[plane + word] : 0u;                                             \
        const uint labelled =                                                                      \
            inside ? open[plane + word] & rest : 0u; /* unless a launch was lost */                \
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
        const uint state = SW_FLIP_STATE(root), node = n + (n >> 5);                               \
        for (uint p = 0; p < SW_PLANES; p++)                                                       \
            if (state >> p & 1u)                                                                   \
                SW_OR_LOCAL(&states[p * SW_STATE_WORDS + (node >> 5)], 1u << (node & 31u));        \
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
                __local const uint *state = states + p * SW_STATE_WORDS;                           \
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
    __local uint states[SW_PLANES * SW_STATE_WORDS], listed[2];
    __local ushort list[32 * SW_TILE_ITEMS];
    SW_FLIP_DRAW
    SW_FLIP_SPINS
}
#undef SW_FLIP_PART
#undef SW_FLIP_FOUND

/*
 * The same, and sizes of open parts are added up at their clusters' roots; which parts those are is
 * left in `roots`, for who counts them (SW_ROOTS_COUNT). Many parts of a tile belong to the
 * lattice's largest cluster: those of the tile's least root are first added up here. Sizes are
 * asked for before roots are looked for.
 */
#define SW_FLIP_PART SW_READ(&counts[site]) /* changes meanwhile at roots, where it is not used */
#define SW_FLIP_FOUND                                                                              \
    found[j] = (uint2)(root, part);                                                                \
    SW_MIN_LOCAL(&common[0], root);                                                                \
    if (root == site)                                                                              \
        SW_OR_LOCAL(&tops[n >> 5], 1u << (n & 31u));
__kernel __attribute__((reqd_work_group_size(SW_GROUP, 1, 1))) void
sw_flip_sizes(__global uint *spins, __global const struct sw_member *members,
              __global const uint *right, __global const uint *runs, __global uint *roots,
              __global const uint *open, __global uint *labels, ulong step, __global uint *sizes) {
    __local uint states[SW_PLANES * SW_STATE_WORDS], tops[SW_TILE_ITEMS], listed[2];
    __local ushort list[32 * SW_TILE_ITEMS];
    __local uint2 found[SW_MOST_OPEN];
    __local uint common[2]; /* root, size */
    __global uint *counts = sizes + (ulong)(uint)get_group_id(1) * SW_SITES;
    for (uint item = (uint)get_local_id(0); item < SW_TILE_ITEMS; item += SW_GROUP)
        tops[item] = 0u;
    if (get_local_id(0) == 0) {
        common[0] = SW_NO_BOND;
        common[1] = 0u;
    }
    SW_FLIP_DRAW
    for (uint j = first; j < n_open; j += SW_GROUP) {
        const uint site = sw_tile_index(corner, list[SW_LIST_END - j]), root = found[j].x;
        if (root == common[0] && root != site)
            SW_ADD_LOCAL(&common[1], found[j].y);
        else if (root != site) /* its own part is there */
            atomic_add(&counts[root], found[j].y);
    }
    for (uint k = 0; k < SW_PER; k++) {
        SW_WORD
        if (inside)
            roots[plane + word] = tops[item];
        (void)valid;
    }
    SW_FLIP_SPINS
    SW_SYNC;
    if (first == 0u && common[1])
        atomic_add(&counts[common[0]], common[1]);
}
