/*
 * Spin glasses (Edwards, Anderson 1975), H = -sum J_ij s_i s_j, 32 samples per word: pure
 * functions.
 *
 * Packing. A word is one site of 32 samples, which differ in their couplings, with a bit for each
 * (1: up). Each slot = copies * temperature + copy has its own word. Four slots are a quad, the
 * share of one work-item and of one block of random words. So the slots of a sample never share a
 * random number, which tempering and overlaps need. The 32 samples of a word do share them. Each
 * sample alone is an exact chain, but fluctuations of samples in one word are correlated; only
 * words are independent.
 *
 * Layout. The colour of a site is (x + y + z) & 1. The sites of one colour in a row are k = 0 ..
 * LX/2 - 1 at x = 2k + ((y + z + colour) & 1), and h = k + LX/2 (y + LY z). Spins:
 * [word-lattice][colour][h][quad]. Couplings: [word-lattice][colour][h][direction], each stored
 * twice, once for each end. Directions: +x -x +y -y +z -z. With fields that of the site follows.
 *
 * Draws: entity = site x + LX (y + LY z), step = sweep, draw = word << 8 | quad of the whole
 * ladder. Word i of a block belongs to slot i of the quad. It is compared with a flip's probability
 * p in 64 bits: 1 <= r <= hi accepts, and so does r = 0 if a second draw is below lo. hi and lo are
 * the upper and lower 32 bits of p 2^64.
 *
 * Compile-time: GLASS_LX, GLASS_LY, GLASS_LZ, GLASS_D (2 or 3), GLASS_HEAT (heat bath), GLASS_REAL
 * (couplings are not +-1, or there are fields), GLASS_FIELD (fields), GLASS_T (temperatures on this
 * rank), GLASS_COPIES. With tempering GLASS_COUNT_LEVELS; if the ladder is divided over ranks,
 * GLASS_RUNG and GLASS_RUNGS.
 */
#ifndef ERGO_CL_SPIN_LATTICE_GLASS_H
#define ERGO_CL_SPIN_LATTICE_GLASS_H

#include "common/rng.h"
#include "spin_lattice/glass_params.h"
#include "spin_lattice/limit.h"

#define GLASS_ROW ((uint)(GLASS_LX) / 2)
#define GLASS_HALF (GLASS_ROW * (uint)(GLASS_LY) * (uint)(GLASS_LZ))
#define GLASS_Z (2u * (GLASS_D)) /* neighbours */
/* With fields each site has one more bond, to a spin that is always up; only with GLASS_REAL. */
#ifndef GLASS_FIELD
#define GLASS_FIELD 0
#endif
#define GLASS_BONDS (GLASS_Z + (GLASS_FIELD)) /* of a site */
#define GLASS_QUADS (((uint)(GLASS_T) * (GLASS_COPIES) + 3) / 4)

/* A ladder may be divided over ranks at whole quads. GLASS_RUNGS: all its temperatures; GLASS_RUNG:
 * those before the first one on this rank. */
#ifndef GLASS_RUNGS
#define GLASS_RUNGS (GLASS_T)
#define GLASS_RUNG 0u
#endif
#define GLASS_QUADS_BEFORE (GLASS_RUNG * (GLASS_COPIES) / 4)

/* Four slots on the device, one in C. */
#ifdef __OPENCL_VERSION__
typedef uint4 glass_vec;
#define GLASS_TABLE __global const
#define GLASS_BELOW(a, b) as_uint4((a) < (b))
#define GLASS_ZERO(a) as_uint4((a) == (uint4)(0u))
#else
typedef uint glass_vec;
#define GLASS_TABLE const
#define GLASS_BELOW(a, b) (0u - (uint)((a) < (b)))
#define GLASS_ZERO(a) (0u - (uint)((a) == 0))
#endif
#define GLASS_MUX(v, one, zero) (((v) & (one)) | (~(v) & (zero)))

/* ---- sites ----------------------------------------------------------------------------------- */

struct glass_at {
    uint site;    /* x + LX (y + LY z) */
    uint odd;     /* x = 2k + odd */
    uint near[6]; /* h of the neighbours, which have the other colour */
};

ERGO_INLINE struct glass_at glass_site(uint h, uint colour) {
    struct glass_at a;
    const uint row = h / GLASS_ROW, k = h - row * GLASS_ROW;
    const uint z = row / GLASS_LY, y = row - z * GLASS_LY;
    const uint layer = GLASS_ROW * (GLASS_LY);
    a.odd = (y + z + colour) & 1;
    a.site = 2 * k + a.odd + (GLASS_LX)*row;
    const uint right = k + 1 == GLASS_ROW ? h + 1 - GLASS_ROW : h + 1;
    const uint left = k == 0 ? h + GLASS_ROW - 1 : h - 1;
    a.near[0] = a.odd ? right : h;
    a.near[1] = a.odd ? h : left;
    a.near[2] = y + 1 == (GLASS_LY) ? h + GLASS_ROW - layer : h + GLASS_ROW;
    a.near[3] = y == 0 ? h + layer - GLASS_ROW : h - GLASS_ROW;
    if (GLASS_D == 3) {
        a.near[4] = z + 1 == (GLASS_LZ) ? h + layer - GLASS_HALF : h + layer;
        a.near[5] = z == 0 ? h + GLASS_HALF - layer : h - layer;
    } else {
        a.near[4] = a.near[5] = h;
    }
    return a;
}

/* ---- decisions ------------------------------------------------------------------------------- */

/* The number of unsatisfied bonds of each spin, as three bit-planes. x: for each bond, ones where
 * it is unsatisfied. */
struct glass_sum {
    glass_vec m0, m1, m2;
};

ERGO_INLINE struct glass_sum glass_add(const glass_vec x[6]) {
    struct glass_sum s;
    const glass_vec sum = x[0] ^ x[1] ^ x[2];
    const glass_vec carry = (x[0] & x[1]) | (x[2] & (x[0] | x[1]));
    if (GLASS_D == 3) {
        const glass_vec other = x[3] ^ x[4] ^ x[5];
        const glass_vec more = (x[3] & x[4]) | (x[5] & (x[3] | x[4]));
        const glass_vec both = sum & other;
        s.m0 = sum ^ other;
        s.m1 = carry ^ more ^ both;
        s.m2 = (carry & more) | (both & (carry | more));
    } else {
        const glass_vec both = sum & x[3];
        s.m0 = sum ^ x[3];
        s.m1 = carry ^ both;
        s.m2 = carry & both;
    }
    return s;
}

/* Is class m accepted? All ones or zero per slot, the same for all samples of a slot. `tie`: some
 * slot's draw is zero, and `low` holds its second draw. table: hi and lo of the classes. */
ERGO_INLINE glass_vec glass_accept(GLASS_TABLE glass_vec *table, uint m, glass_vec r, uint tie,
                                   glass_vec low) {
    glass_vec yes = GLASS_BELOW(r - 1u, table[2 * m]);
    if (tie)
        yes = GLASS_MUX(GLASS_ZERO(r), GLASS_BELOW(low, table[2 * m + 1]), yes);
    return yes;
}

/* The spins that flip. With Metropolis, always if half or more of the bonds are unsatisfied. */
ERGO_INLINE glass_vec glass_flips(struct glass_sum s, GLASS_TABLE glass_vec *table, glass_vec r,
                                  uint tie, glass_vec low) {
    const glass_vec p0 = glass_accept(table, 0, r, tie, low);
    const glass_vec p1 = glass_accept(table, 1, r, tie, low);
    if (!(GLASS_HEAT)) {
        if (GLASS_D == 2)
            return s.m2 | s.m1 | GLASS_MUX(s.m0, p1, p0);
        const glass_vec p2 = glass_accept(table, 2, r, tie, low);
        return s.m2 | GLASS_MUX(s.m1, s.m0 | p2, GLASS_MUX(s.m0, p1, p0));
    }
    const glass_vec p2 = glass_accept(table, 2, r, tie, low);
    const glass_vec p3 = glass_accept(table, 3, r, tie, low);
    const glass_vec p4 = glass_accept(table, 4, r, tie, low);
    const glass_vec few = GLASS_MUX(s.m1, GLASS_MUX(s.m0, p3, p2), GLASS_MUX(s.m0, p1, p0));
    if (GLASS_D == 2)
        return GLASS_MUX(s.m2, p4, few);
    const glass_vec p5 = glass_accept(table, 5, r, tie, low);
    const glass_vec p6 = glass_accept(table, 6, r, tie, low);
    return GLASS_MUX(s.m2, GLASS_MUX(s.m1, p6, GLASS_MUX(s.m0, p5, p4)), few);
}

/* The number of unsatisfied bonds after the flips: z - m in place of m. */
ERGO_INLINE struct glass_sum glass_after(struct glass_sum s, glass_vec flip) {
    struct glass_sum n;
    n.m0 = s.m0;
    n.m1 = s.m1 ^ (flip & (GLASS_D == 3 ? ~s.m0 : s.m0));
    n.m2 = GLASS_MUX(flip, ~(s.m2 | (GLASS_D == 3 ? s.m0 & s.m1 : s.m0 | s.m1)), s.m2);
    return n;
}

/* Couplings that are not +-1: the limit for half of a flip's cost, in units of 2^-24. */
ERGO_INLINE int glass_limit(uint r, float scale) {
    return spin_limit(r, scale, GLASS_HEAT);
}

#endif
