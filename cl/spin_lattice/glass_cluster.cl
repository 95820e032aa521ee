/*
 * Spin glasses: cluster moves (Houdayer 2001). Of two copies of a sample at one temperature, a
 * cluster of connected sites at which they differ changes sides, from a random one of these sites
 * on. The sum of their energies stays. 32 samples of a word have a cluster each.
 *
 * room[word-lattice][pair][site]: x, the samples in which the copies differ there; y, those of them
 * in which it is in the cluster. Clusters grow from one colour of the checkerboard to the other
 * until nothing is added: what they end as does not depend on the order.
 */
#include "spin_lattice/glass_update.h"

#define GLASS_EACH_T ((GLASS_COPIES) / 2)      /* pairs of a temperature */
#define GLASS_SLOTS (4 * (ulong)(GLASS_QUADS)) /* times sites: 2^32 words and more */

/* The samples of `want` that have a neighbour in the cluster. of: the other colour. */
ERGO_INLINE uint glass_reached(__global const uint2 *of, uint h, uint colour, uint want) {
    const struct glass_at a = glass_site(h, colour);
    uint near = 0;
    ERGO_UNROLL
    for (uint d = 0; d < GLASS_Z; d++)
        near |= of[a.near[d]].y;
    return near & want;
}

/* Dimension 0: a group for each pair of copies, of 32 n work-items; part: one number each. turn: of
 * four copies, which are pairs: (01)(23), (02)(13), (03)(12). */
__kernel void glass_cluster(__global uint *spins, __global uint2 *room, __global const uint2 *keys,
                            ulong step, uint turn, uint2 words, __local uint *part) {
    __local uint seeds[32], grown[2];
    const uint item = (uint)get_local_id(0), size = (uint)get_local_size(0);
    const uint pair = (uint)get_group_id(0), pairs = (uint)get_num_groups(0);
    const uint lattice = (uint)get_global_id(1), member = lattice / words.x;
    const uint word = words.y + lattice - member * words.x;
    const uint t = pair / GLASS_EACH_T, second = pair - t * GLASS_EACH_T;
    const uint one = second == 0 ? 0u : turn == 0 ? 2u : 1u;
    const uint two = second == 0 ? 1 + turn : turn == 2 ? 2u : 3u;
    __global uint *a =
        spins + (ulong)lattice * (GLASS_SITES * GLASS_SLOTS) + t * GLASS_COPIES + one;
    __global uint *b = a + two - one;
    __global uint2 *mine = room + ((ulong)lattice * pairs + pair) * GLASS_SITES;
    for (uint i = item; i < GLASS_SITES; i += size)
        mine[i] = (uint2)(a[i * GLASS_SLOTS] ^ b[i * GLASS_SLOTS], 0u);
    if (item < 32)
        seeds[item] = GLASS_SITES;
    if (item < 2)
        grown[item] = 0;
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    /* sites are divided among the work-items of a sample */
    const uint bit = item & 31u, n = size / 32, share = (GLASS_SITES + n - 1) / n;
    const uint begin = min(item / 32 * share, GLASS_SITES), end = min(begin + share, GLASS_SITES);
    uint own = 0, before = 0, all = 0;
    for (uint i = begin; i < end; i++)
        own += mine[i].x >> bit & 1u;
    part[item] = own;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint k = bit; k < size; k += 32) {
        before += k < item ? part[k] : 0u;
        all += part[k];
    }
    const uint4 r =
        ergo_philox((uint4)(32 * word + bit, (uint)step, (uint)(step >> 32),
                            ERGO_DRAW(GLASS_PURPOSE_CLUSTER, GLASS_RUNG * GLASS_EACH_T + pair)),
                    keys[member].x, keys[member].y);
    /* sites to go to the seed; in parts that have been passed it is beyond all of them */
    uint left = ergo_below(r.x, all) - before;
    for (uint i = begin; i < end; i++) {
        const uint differs = mine[i].x >> bit & 1u;
        if (differs & (uint)(left == 0))
            seeds[bit] = i;
        left -= differs;
    }
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    for (uint k = 0; k < 32 && item == 0; k++)
        if (seeds[k] < GLASS_SITES)
            mine[seeds[k]].y |= 1u << k;
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    uint more = 1;
    for (uint round = 0; more; round++) {
        uint grew = 0;
        for (uint colour = 0; colour < 2; colour++) {
            __global uint2 *of = mine + colour * GLASS_HALF;
            for (uint h = item; h < GLASS_HALF; h += size) {
                const uint2 here = of[h];
                const uint want = here.x & ~here.y;
                const uint added =
                    want ? glass_reached(mine + (1 - colour) * GLASS_HALF, h, colour, want) : 0u;
                if (added)
                    of[h].y = here.y | added;
                grew |= added;
            }
            barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
        }
        if (grew)
            atomic_or(&grown[round & 1], 1u);
        barrier(CLK_LOCAL_MEM_FENCE);
        more = grown[round & 1];
        if (item == 0) /* nobody looks at it before the next round's barriers */
            grown[(round + 1) & 1] = 0;
    }
    for (uint i = item; i < GLASS_SITES; i += size) {
        const uint flip = mine[i].y;
        if (flip) {
            a[i * GLASS_SLOTS] ^= flip;
            b[i * GLASS_SLOTS] ^= flip;
        }
    }
}
