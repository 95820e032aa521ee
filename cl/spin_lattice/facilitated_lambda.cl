/*
 * Facilitated dynamics by concurrent picks: half a sweep of a sub-lattice (all of them, or those of
 * one class) in local memory. Compile-time, besides those of facilitated.h: FAC_DIVISION,
 * FAC_LAMBDA, FAC_GROUP.
 */
#include "spin_lattice/facilitated_lambda.h"

#define FAC_FREE 0xffffffffu
#define FAC_ROW 34 /* a row of a sub-lattice with one site more on each side */
#define FAC_EACH (((FAC_LAMBDA) + (FAC_GROUP)-1) / (FAC_GROUP))
#define FAC_SUBS_X (FAC_LX / 32)

/*
 * Dimension 0: sub-lattices, all or one in four; 1: word-lattices. from: the spins at the beginning
 * of the half sweep. With classes it may be the same array as `to`, because sub-lattices of one
 * class are not neighbours. spins: FAC_ROW^2; claims: 2 x 1024, the first pick of each site in this
 * round and in the next.
 */
__attribute__((reqd_work_group_size(FAC_GROUP, 1, 1))) __kernel void
facilitated_lambda(__global const uint *from, __global uint *to, __global uint *flipped,
                   __global const struct fac_member *members, ulong sweep, uint part, uint turn,
                   uint words, __local uint *spins, __local uint *claims) {
    const uint item = (uint)get_local_id(0), group = (uint)get_group_id(0);
    const ulong lattice = get_global_id(1), base = lattice * FAC_SITES;
    const uint index = (uint)lattice / words, word = (uint)lattice - index * words;
    const struct fac_member m = members[index];
    const struct fac_division d = fac_divide(part, sweep, word, &m);
    uint sx = group % FAC_SUBS_X, sy = group / FAC_SUBS_X;
    if (FAC_DIVISION == 2) {
        const uint class = fac_class_of_turn(d.order, turn);
        sx = 2 * (group % (FAC_SUBS_X / 2)) + (class & 1);
        sy = 2 * (group / (FAC_SUBS_X / 2)) + (class >> 1);
    }
    const uint first = 1024 * (sx + FAC_SUBS_X * sy) + 512 * part;
    const uint x0 = 32 * sx + d.x, y0 = 32 * sy + d.y;

    for (uint p = item; p < FAC_ROW * FAC_ROW; p += FAC_GROUP) {
        const uint py = p / FAC_ROW, px = p - py * FAC_ROW;
        uint x = x0 + FAC_LX - 1 + px, y = y0 + FAC_LY - 1 + py;
        x = x >= 2 * FAC_LX ? x - 2 * FAC_LX : x >= FAC_LX ? x - FAC_LX : x;
        y = y >= 2 * FAC_LY ? y - 2 * FAC_LY : y >= FAC_LY ? y - FAC_LY : y;
        spins[p] = from[base + x + FAC_LX * y];
    }
    for (uint p = item; p < 2 * 1024; p += FAC_GROUP)
        claims[p] = FAC_FREE;
    barrier(CLK_LOCAL_MEM_FENCE);

    struct ergo_words random[FAC_EACH];
    uint place[FAC_EACH], flip[FAC_EACH], won[FAC_EACH];
    for (uint e = 0; e < FAC_EACH; e++)
        won[e] = 0;
    const uint rounds = 512 / FAC_LAMBDA;
    for (uint r = 0; r <= rounds; r++) {
        /* apply the last round's decisions, and claim sites for this round */
        for (uint e = 0; e < FAC_EACH; e++) {
            const uint k = item + e * FAC_GROUP;
            if (won[e]) {
                const uint py = place[e] / 32, px = place[e] % 32;
                claims[1024 * ((r + 1) & 1) + place[e]] = FAC_FREE;
                spins[px + 1 + FAC_ROW * (py + 1)] ^= flip[e];
                if (flip[e]) {
                    const uint x = (x0 + px) % FAC_LX, y = (y0 + py) % FAC_LY;
                    atomic_or(&flipped[base + x + FAC_LX * y], flip[e]);
                }
            }
            won[e] = k < FAC_LAMBDA && r < rounds;
            if (won[e]) {
                const uint pick = r * FAC_LAMBDA + k;
                random[e] = fac_attempt(first + pick, sweep, word, &m).random;
                place[e] = fac_place(random[e].x, pick, FAC_LAMBDA);
                atomic_min(&claims[1024 * (r & 1) + place[e]], k);
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint e = 0; e < FAC_EACH; e++) {
            const uint k = item + e * FAC_GROUP;
            if (won[e]) {
                won[e] = claims[1024 * (r & 1) + place[e]] == k;
                const uint at = place[e] % 32 + 1 + FAC_ROW * (place[e] / 32 + 1);
                flip[e] = 0;
                if (won[e])
                    flip[e] = fac_decide(spins[at], spins[at - FAC_ROW], spins[at + 1],
                                         spins[at + FAC_ROW], spins[at - 1], random[e],
                                         first + r * FAC_LAMBDA + k, sweep, word, &m);
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    for (uint p = item; p < 1024; p += FAC_GROUP) {
        const uint py = p / 32, px = p % 32;
        const uint x = (x0 + px) % FAC_LX, y = (y0 + py) % FAC_LY;
        to[base + x + FAC_LX * y] = spins[px + 1 + FAC_ROW * (py + 1)];
    }
}
