/*
 * Facilitated dynamics on the square lattice, random-sequential: pure functions (Levy, Cohen,
 * Rabani 2010, section III.2; the table in job.c has the constraints). A chain is a lattice of one
 * row, whose sites are their own north and south. Cubic lattices have no coupling.
 *
 * Layout. A word is one site of up to 32 realisations, with a bit for each (1: up). A word-lattice
 * has FAC_LX x FAC_LY words, site = x + FAC_LX y. North of y is y - 1, east of x is x + 1. (Cubic:
 * site = x + FAC_LX (y + FAC_LY z), above z is z - 1.) All
 * realisations of a word-lattice share the sequence of sites, but have their own starting states
 * and acceptances.
 *
 * Time. A sweep is N = FAC_LX FAC_LY attempts. Each attempt takes a site uniformly from all N and,
 * if the constraint holds, flips it with the probability of its rule. Counter: entity = attempt,
 * step = sweep, draw = 16 * word-lattice + block of random words.
 *
 * Compile-time: FAC_LX, FAC_LY, with FAC_D 3 also FAC_LZ, FAC_DIRECTIONS (1 north, 2 east, 4 south,
 * 8 west, 16 above, 32 below), FAC_NEEDED (how
 * many of these neighbours must be up), FAC_COUPLED (0: J = 0), FAC_LANES (mask of the
 * realisations).
 */
#ifndef ERGO_CL_SPIN_LATTICE_FACILITATED_H
#define ERGO_CL_SPIN_LATTICE_FACILITATED_H

#include "common/rng.h"
#include "spin_lattice/facilitated_params.h"

#ifndef FAC_D
#define FAC_D 2
#define FAC_LZ 1
#endif
#define FAC_LAYER ((uint)(FAC_LX) * (uint)(FAC_LY))
#define FAC_SITES (FAC_LAYER * (uint)(FAC_LZ))

struct fac_around {
    uint north, east, south, west; /* sites */
#if FAC_D == 3
    uint above, below;
#endif
};

ERGO_INLINE struct fac_around fac_neighbours(uint site) {
    struct fac_around a;
#if FAC_D == 3
    const uint row = site / FAC_LX, x = site - row * FAC_LX;
    const uint z = row / FAC_LY, y = row - z * FAC_LY;
    a.above = z == 0 ? site + FAC_SITES - FAC_LAYER : site - FAC_LAYER;
    a.below = z + 1 == FAC_LZ ? site - (FAC_SITES - FAC_LAYER) : site + FAC_LAYER;
#else
    const uint y = site / FAC_LX, x = site - y * FAC_LX;
#endif
    a.north = y == 0 ? site + FAC_LAYER - FAC_LX : site - FAC_LX;
    a.south = y + 1 == FAC_LY ? site - (FAC_LAYER - FAC_LX) : site + FAC_LX;
    a.west = x == 0 ? site + FAC_LX - 1 : site - 1;
    a.east = x + 1 == FAC_LX ? site - (FAC_LX - 1) : site + 1;
    return a;
}

/* Uniform below FAC_SITES, from 64 random bits. The relative error of a probability is below 2^-32.
 */
ERGO_INLINE uint fac_site(uint high, uint low) {
    const ulong sites = FAC_SITES;
    return (uint)((high * sites + ((low * sites) >> 32)) >> 32);
}

/* The realisations whose constraint holds, from the neighbours' spins. */
ERGO_INLINE uint fac_allowed(uint north, uint east, uint south, uint west) {
    const uint a = (FAC_DIRECTIONS)&1 ? north : 0u, b = (FAC_DIRECTIONS)&2 ? east : 0u;
    const uint c = (FAC_DIRECTIONS)&4 ? south : 0u, d = (FAC_DIRECTIONS)&8 ? west : 0u;
    const uint one_ab = a | b, two_ab = a & b, one_cd = c | d, two_cd = c & d;
    if ((FAC_NEEDED) == 1)
        return one_ab | one_cd;
    if ((FAC_NEEDED) == 2)
        return two_ab | two_cd | (one_ab & one_cd);
    if ((FAC_NEEDED) == 3)
        return (two_ab & one_cd) | (two_cd & one_ab);
    return two_ab & two_cd;
}

/* The same of six neighbours. */
ERGO_INLINE uint fac_allowed_cubic(const uint n[6]) {
    uint at_least[7] = {0xffffffffu, 0, 0, 0, 0, 0, 0};
    ERGO_UNROLL
    for (uint d = 0; d < 6; d++) {
        ERGO_UNROLL
        for (uint k = 6; k > 0; k--)
            at_least[k] |= at_least[k - 1] & ((FAC_DIRECTIONS) >> d & 1 ? n[d] : 0u);
    }
    return at_least[FAC_NEEDED];
}

/* The realisations by class. Without a coupling only classes 0 (up) and 5 (down) are used. */
struct fac_classes {
    uint in[10];
};

ERGO_INLINE struct fac_classes fac_classify(uint up, uint a, uint b, uint c, uint d) {
    struct fac_classes k;
    const uint one_ab = a ^ b, two_ab = a & b, one_cd = c ^ d, two_cd = c & d;
    const uint none_ab = ~(a | b), none_cd = ~(c | d);
    uint n[5];
    n[0] = none_ab & none_cd;
    n[1] = (one_ab & none_cd) | (none_ab & one_cd);
    n[2] = (two_ab & none_cd) | (none_ab & two_cd) | (one_ab & one_cd);
    n[3] = (two_ab & one_cd) | (one_ab & two_cd);
    n[4] = two_ab & two_cd;
    ERGO_UNROLL
    for (int i = 0; i < 5; i++) {
        k.in[i] = up & n[i];
        k.in[5 + i] = ~up & n[i];
    }
    return k;
}

/* Bit `plane` (0: the highest) of a threshold, for all realisations. */
#define FAC_BIT(threshold, plane) (0u - (uint)(((threshold) >> (FAC_PLANES - 1 - (plane))) & 1))

/* Bit `plane` of each realisation's own threshold. */
ERGO_INLINE uint fac_threshold(const struct fac_classes *k, const struct fac_member *m, int plane) {
    if (!(FAC_COUPLED))
        return (k->in[0] & FAC_BIT(m->threshold[0], plane)) |
               (k->in[5] & FAC_BIT(m->threshold[5], plane));
    uint t = 0;
    ERGO_UNROLL
    for (int i = 0; i < 10; i++)
        t |= k->in[i] & FAC_BIT(m->threshold[i], plane);
    return t;
}

/* Compare one plane. Acceptance is decided where the random bit is 0 and the threshold's bit is 1.
 * Equal bits stay open. */
#define FAC_COMPARE(random, threshold)                                                             \
    {                                                                                              \
        const uint bits = (random), limit = (threshold);                                           \
        flip |= open & limit & ~bits;                                                              \
        open &= ~(bits ^ limit);                                                                   \
    }

/* The part of an attempt that does not depend on spins: its site, and its first random words. */
struct fac_attempt {
    uint site;
    struct ergo_words random;
};

ERGO_INLINE struct fac_attempt fac_attempt(uint i, ulong sweep, uint word,
                                           const struct fac_member *m) {
    struct fac_attempt a;
    a.random = ergo_philox_words(i, (uint)sweep, (uint)(sweep >> 32),
                                 ERGO_DRAW(FAC_PURPOSE_ATTEMPT, 16 * word), m->key0, m->key1);
    a.site = fac_site(a.random.x, a.random.y);
    return a;
}

/* The realisations that flip. `open`: those whose constraint holds. */
ERGO_INLINE uint fac_flips(uint open, struct fac_classes k, struct ergo_words random, uint i,
                           ulong sweep, uint word, const struct fac_member *m) {
    uint always = 0;
    if (!(FAC_COUPLED)) {
        always = (k.in[0] & (0u - (m->always & 1))) | (k.in[5] & (0u - (m->always >> 5 & 1)));
    } else {
        ERGO_UNROLL
        for (int c = 0; c < 10; c++)
            always |= k.in[c] & (0u - (m->always >> c & 1));
    }
    uint flip = open & always;
    open &= ~always;
    if (open == 0)
        return flip;
    FAC_COMPARE(random.z, fac_threshold(&k, m, 0))
    FAC_COMPARE(random.w, fac_threshold(&k, m, 1))
    for (int plane = 2; plane < FAC_PLANES && open != 0; plane += 4) {
        random =
            ergo_philox_words(i, (uint)sweep, (uint)(sweep >> 32),
                              ERGO_DRAW(FAC_PURPOSE_ATTEMPT, 16 * word + 1 + (uint)(plane - 2) / 4),
                              m->key0, m->key1);
        FAC_COMPARE(random.x, fac_threshold(&k, m, plane))
        if (plane + 1 < FAC_PLANES) { /* the last round has one plane only: 39 = 2 + 9 * 4 + 1 */
            FAC_COMPARE(random.y, fac_threshold(&k, m, plane + 1))
            FAC_COMPARE(random.z, fac_threshold(&k, m, plane + 2))
            FAC_COMPARE(random.w, fac_threshold(&k, m, plane + 3))
        }
    }
    return flip;
}

/* A site at the start: mode 0 down, 1 up, 2 up with the probability of FAC_CLASS_START. */
ERGO_INLINE uint fac_start(uint site, uint word, uint mode, const struct fac_member *m) {
    uint open = FAC_LANES, flip = 0;
    if (mode < 2)
        return mode ? open : 0u;
    for (int plane = 0; plane < FAC_PLANES && open != 0; plane += 4) {
        const struct ergo_words r =
            ergo_philox_words(site, 0, 0, ERGO_DRAW(FAC_PURPOSE_START, 16 * word + (uint)plane / 4),
                              m->key0, m->key1);
        const ulong t = m->threshold[FAC_CLASS_START];
        FAC_COMPARE(r.x, FAC_BIT(t, plane))
        FAC_COMPARE(r.y, FAC_BIT(t, plane + 1))
        FAC_COMPARE(r.z, FAC_BIT(t, plane + 2))
        if (plane + 3 < FAC_PLANES)
            FAC_COMPARE(r.w, FAC_BIT(t, plane + 3))
    }
    return flip;
}

/* The realisations that an attempt flips, for a site with these spins around it. */
ERGO_INLINE uint fac_decide(uint up, uint north, uint east, uint south, uint west,
                            struct ergo_words random, uint i, ulong sweep, uint word,
                            const struct fac_member *m) {
    const uint open = fac_allowed(north, east, south, west) & FAC_LANES;
    struct fac_classes k;
    if (open == 0)
        return 0;
    if (FAC_COUPLED) {
        k = fac_classify(up, north, east, south, west);
    } else {
        k.in[0] = up;
        k.in[5] = ~up;
    }
    return fac_flips(open, k, random, i, sweep, word, m);
}

/* One attempt on a word-lattice: in global memory, or anywhere in C. */
#ifdef __OPENCL_VERSION__
#define FAC_SPACE __global
#else
#define FAC_SPACE
#endif

ERGO_INLINE void fac_update(FAC_SPACE uint *spins, FAC_SPACE uint *flipped, struct fac_attempt a,
                            struct fac_around at, uint i, ulong sweep, uint word,
                            const struct fac_member *m) {
#if FAC_D == 3
    const uint n[6] = {spins[at.north], spins[at.east],  spins[at.south],
                       spins[at.west],  spins[at.above], spins[at.below]};
#else
    /* spins that neither the constraint nor the energy needs are not read */
    const uint wanted = (FAC_COUPLED) ? 15u : (uint)(FAC_DIRECTIONS);
    const uint north = wanted & 1 ? spins[at.north] : 0u, east = wanted & 2 ? spins[at.east] : 0u;
    const uint south = wanted & 4 ? spins[at.south] : 0u, west = wanted & 8 ? spins[at.west] : 0u;
#endif
    const uint up = spins[a.site];
#ifdef FAC_WINDOW
    /* loaded together with the others, because latency counts here */
    const uint before = flipped[a.site];
#define FAC_BEFORE before
#else
#define FAC_BEFORE flipped[a.site] /* loaded when needed, in one attempt of four */
#endif
#if FAC_D == 3
    struct fac_classes k;
    k.in[0] = up;
    k.in[5] = ~up;
    const uint open = fac_allowed_cubic(n) & FAC_LANES;
    const uint flip = open ? fac_flips(open, k, a.random, i, sweep, word, m) : 0u;
#else
    const uint flip = fac_decide(up, north, east, south, west, a.random, i, sweep, word, m);
#endif
    if (flip) {
        spins[a.site] = up ^ flip;
        flipped[a.site] = FAC_BEFORE | flip;
    }
}

#endif
