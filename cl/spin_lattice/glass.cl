/*
 * Spin glasses: start, half a sweep of all word-lattices, sweeps of a quad in local memory, and
 * parallel tempering. Dimension 1 is the word-lattice: member * words + word.
 */
#include "spin_lattice/glass.h"

#define GLASS_SITES (2 * GLASS_HALF)

/* Samples in use of a word. */
#define GLASS_LANES(word, words, last) ((word) + 1 == (words) ? (last) : 0xffffffffu)

ERGO_INLINE uint4 glass_draw(uint site, ulong step, uint purpose, uint draw, uint2 key) {
    return ergo_philox((uint4)(site, (uint)step, (uint)(step >> 32), ERGO_DRAW(purpose, draw)),
                       key.x, key.y);
}

/* What does not change along a lattice. */
struct glass_place {
    uint2 key;
    ulong sweep;
    uint draw, lanes;               /* word << 8 | quad; samples in use */
    __global const uint4 *table;    /* +-1: hi and lo of the classes; else scales */
    __global const uint *couplings; /* of the word-lattice */
};

#if GLASS_REAL
/* Couplings as they are: bit by bit. bonds: [32][directions]. */
ERGO_INLINE uint4 glass_real_flips(const uint4 x[6], __global const int *bonds, uint4 r,
                                   float4 scale) {
    const int4 limit = (int4)(glass_limit(r.x, scale.x), glass_limit(r.y, scale.y),
                              glass_limit(r.z, scale.z), glass_limit(r.w, scale.w));
    uint4 flip = (uint4)(0u);
    for (uint b = 0; b < 32; b++) {
        int4 cost = (int4)(0);
        ERGO_UNROLL
        for (uint d = 0; d < GLASS_Z; d++) {
            const int4 minus = -as_int4((x[d] >> b) & 1u);
            cost += ((int4)(bonds[b * GLASS_Z + d]) ^ minus) - minus;
        }
        flip |= as_uint4(cost < limit) & (1u << b);
    }
    return flip;
}
#endif

/* One site of four slots. `spins`: of the word-lattice, STRIDE quads apart. */
#define GLASS_UPDATE(NAME, SPACE, STRIDE)                                                          \
    ERGO_INLINE void NAME(SPACE uint4 *spins, struct glass_place p, uint colour, uint h) {         \
        const struct glass_at a = glass_site(h, colour);                                           \
        const uint own_at = colour * GLASS_HALF + h;                                               \
        SPACE const uint4 *other = spins + (1 - colour) * GLASS_HALF * (STRIDE);                   \
        const uint4 own = spins[own_at * (STRIDE)];                                                \
        uint4 x[6];                                                                                \
        ERGO_UNROLL                                                                                \
        for (uint d = 0; d < GLASS_Z; d++)                                                         \
            x[d] = own ^ other[a.near[d] * (STRIDE)];                                              \
        const uint4 r = glass_draw(a.site, p.sweep, GLASS_PURPOSE_UPDATE, p.draw, p.key);          \
        GLASS_DECIDE                                                                               \
        spins[own_at * (STRIDE)] = own ^ (flip & p.lanes);                                         \
    }

#if GLASS_REAL
#define GLASS_DECIDE                                                                               \
    const uint4 flip = glass_real_flips(                                                           \
        x, (__global const int *)p.couplings + own_at * (32 * GLASS_Z), r, as_float4(p.table[0]));
#else
#define GLASS_DECIDE                                                                               \
    __global const uint2 *bonds = (__global const uint2 *)(p.couplings + own_at * GLASS_Z);        \
    ERGO_UNROLL                                                                                    \
    for (uint d = 0; d < GLASS_Z / 2; d++) {                                                       \
        const uint2 pair = bonds[d];                                                               \
        x[2 * d] ^= pair.x;                                                                        \
        x[2 * d + 1] ^= pair.y;                                                                    \
    }                                                                                              \
    const uint tie = r.x == 0 || r.y == 0 || r.z == 0 || r.w == 0;                                 \
    uint4 low = (uint4)(0u);                                                                       \
    if (tie)                                                                                       \
        low = glass_draw(a.site, p.sweep, GLASS_PURPOSE_TIE, p.draw, p.key);                       \
    const uint4 flip = glass_flips(glass_add(x), p.table, r, tie, low);
#endif

GLASS_UPDATE(glass_update_global, __global, GLASS_QUADS)

ERGO_INLINE struct glass_place glass_place(__global const uint *couplings,
                                           __global const uint4 *tables, __global const uint2 *keys,
                                           ulong sweep, uint words, uint last, uint lattice,
                                           uint quad) {
    struct glass_place p;
    const uint member = lattice / words, word = lattice - member * words;
    p.key = keys[member];
    p.sweep = sweep;
    p.draw = word << 8 | quad;
    p.lanes = GLASS_LANES(word, words, last);
    p.table = tables + (member * GLASS_QUADS + quad) * (2 * GLASS_CLASSES);
    p.couplings = couplings + (ulong)lattice * (GLASS_SITES * GLASS_Z * (GLASS_REAL ? 32u : 1u));
    return p;
}

/* Half a sweep. Dimension 0: quad + QUADS * h. */
__kernel void glass_sweep(__global uint4 *spins, __global const uint *couplings,
                          __global const uint4 *tables, __global const uint2 *keys, ulong sweep,
                          uint colour, uint words, uint last) {
    const uint i = (uint)get_global_id(0), lattice = (uint)get_global_id(1);
    if (i >= GLASS_HALF * GLASS_QUADS)
        return;
    const uint h = i / GLASS_QUADS, quad = i - h * GLASS_QUADS;
    const struct glass_place p =
        glass_place(couplings, tables, keys, sweep, words, last, lattice, quad);
    glass_update_global(spins + (ulong)lattice * (GLASS_SITES * GLASS_QUADS) + quad, p, colour, h);
}

#ifdef GLASS_LOCAL
GLASS_UPDATE(glass_update_local, __local, 1u)

/* `sweeps` sweeps of a quad in local memory. Dimension 0: one group per quad. */
__kernel void glass_local(__global uint4 *spins, __global const uint *couplings,
                          __global const uint4 *tables, __global const uint2 *keys, ulong sweep,
                          uint sweeps, uint words, uint last, __local uint4 *lattice_spins) {
    const uint item = (uint)get_local_id(0), size = (uint)get_local_size(0);
    const uint quad = (uint)get_group_id(0), lattice = (uint)get_global_id(1);
    struct glass_place p = glass_place(couplings, tables, keys, sweep, words, last, lattice, quad);
    __global uint4 *mine = spins + (ulong)lattice * (GLASS_SITES * GLASS_QUADS) + quad;
    for (uint i = item; i < GLASS_SITES; i += size)
        lattice_spins[i] = mine[i * GLASS_QUADS];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint t = 0; t < sweeps; t++) {
        for (uint colour = 0; colour < 2; colour++) {
            for (uint h = item; h < GLASS_HALF; h += size)
                glass_update_local(lattice_spins, p, colour, h);
            barrier(CLK_LOCAL_MEM_FENCE);
        }
        p.sweep++;
    }
    for (uint i = item; i < GLASS_SITES; i += size)
        mine[i * GLASS_QUADS] = lattice_spins[i];
}
#endif

/* mode 0 down, 1 up, 2 random. Dimension 0: quad + QUADS * (h + HALF * colour). */
__kernel void glass_start(__global uint4 *spins, __global const uint2 *keys, uint mode, uint words,
                          uint last) {
    const uint i = (uint)get_global_id(0), lattice = (uint)get_global_id(1);
    if (i >= GLASS_SITES * GLASS_QUADS)
        return;
    const uint at = i / GLASS_QUADS, quad = i - at * GLASS_QUADS;
    const uint colour = at >= GLASS_HALF;
    const struct glass_at a = glass_site(at - colour * GLASS_HALF, colour);
    const uint member = lattice / words, word = lattice - member * words;
    uint4 up = mode ? (uint4)(0xffffffffu) : (uint4)(0u);
    if (mode == 2)
        up = glass_draw(a.site, 0, GLASS_PURPOSE_START, word << 8 | quad, keys[member]);
    spins[(ulong)lattice * (GLASS_SITES * GLASS_QUADS) + i] = up & GLASS_LANES(word, words, last);
}

/* ---- parallel tempering ---------------------------------------------------------------------- */

#if GLASS_T > 1
/* Pairs of neighbours on the ladder by parity: (0, 1), (2, 3) ... or (1, 2), (3, 4) ... */
#define GLASS_PAIRS(parity) ((parity) ? ((uint)(GLASS_T)-1) / 2 : (uint)(GLASS_T) / 2)
#define GLASS_SLOTS (4 * GLASS_QUADS)

/*
 * Who exchanges: one group per (pair, copy), one work-item per sample. masks[word-lattice][pair *
 * copies + copy]. came[word-lattice][slot]: those that have been at the hottest end since they were
 * at the coldest; trips: their arrivals there. energies: [word-lattice][part][slot][32].
 */
__attribute__((reqd_work_group_size(32, 1, 1))) __kernel void
glass_swap(__global const long *energies, __global const float *slopes, __global const uint2 *keys,
           __global uint *masks, __global uint *came, __global ulong *accepted,
           __global ulong *trips, ulong step, uint parity, uint parts, uint words, uint last) {
    __local uint4 mine[8]; /* a word of each work-item */
    const uint bit = (uint)get_local_id(0), group = (uint)get_group_id(0);
    const uint lattice = (uint)get_global_id(1);
    const uint member = lattice / words, word = lattice - member * words;
    const uint t = 2 * (group / GLASS_COPIES) + parity, copy = group % GLASS_COPIES;
    const uint a = t * GLASS_COPIES + copy, b = a + GLASS_COPIES;
    /* all loads on their way together: latency counts here, and nothing else */
    __global uint *c = came + lattice * GLASS_SLOTS;
    const uint number = (lattice * (GLASS_T) + t) * GLASS_COPIES + copy;
    uint from = 0, to = 0;
    ulong before = 0;
    if (bit == 0) {
        from = c[a];
        to = c[b];
        before = accepted[number];
    }
    long worse = 0;
    __global const long *e = energies + (ulong)lattice * parts * (GLASS_SLOTS * 32) + bit;
    for (uint part = 0; part < parts; part++)
        worse += e[(part * GLASS_SLOTS + b) * 32] - e[(part * GLASS_SLOTS + a) * 32];
    const uint4 r = glass_draw(32 * word + bit, step, GLASS_PURPOSE_SWAP, a, keys[member]);
    const uint yes = glass_exchanges(worse, slopes[member * (GLASS_T) + t], r.x);
    ((__local uint *)mine)[bit] = yes << bit;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (bit == 0) {
        const uint4 all =
            (mine[0] | mine[1]) | (mine[2] | mine[3]) | (mine[4] | mine[5]) | (mine[6] | mine[7]);
        const uint lanes = GLASS_LANES(word, words, last);
        const uint m = (all.x | all.y | all.z | all.w) & lanes;
        const uint move = (from ^ to) & m;
        const uint cold = from ^ move;
        if (t == 0)
            trips[lattice * GLASS_COPIES + copy] += ERGO_POPCOUNT(cold);
        c[a] = t == 0 ? 0u : cold;
        c[b] = t + 2 == GLASS_T ? lanes : to ^ move;
        masks[lattice * ((uint)(GLASS_T)*GLASS_COPIES) + group] = m;
        accepted[number] = before + ERGO_POPCOUNT(m);
    }
}

/* The copies of a temperature together. */
#if GLASS_COPIES == 1
typedef uint glass_copies;
#define GLASS_NONE(m) ((m) == 0)
#elif GLASS_COPIES == 2
typedef uint2 glass_copies;
#define GLASS_NONE(m) (((m).x | (m).y) == 0)
#else
typedef uint4 glass_copies;
#define GLASS_NONE(m) (((m).x | (m).y | (m).z | (m).w) == 0)
#endif

/* Configurations change places. Dimension 0: pair + PAIRS * site. */
__kernel void glass_exchange(__global glass_copies *spins, __global const glass_copies *masks,
                             uint parity) {
    const uint i = (uint)get_global_id(0), lattice = (uint)get_global_id(1);
    const uint n = GLASS_PAIRS(parity);
    const uint at = parity ? i / (GLASS_PAIRS(1) + !GLASS_PAIRS(1)) : i / GLASS_PAIRS(0);
    if (at >= GLASS_SITES)
        return;
    const uint pair = i - at * n;
    const glass_copies m = masks[lattice * (GLASS_T) + pair];
    if (GLASS_NONE(m))
        return;
    __global glass_copies *s = spins +
                               ((ulong)lattice * GLASS_SITES + at) * (GLASS_SLOTS / GLASS_COPIES) +
                               2 * pair + parity;
    const glass_copies cold = s[0], hot = s[1], x = (cold ^ hot) & m;
    s[0] = cold ^ x;
    s[1] = hot ^ x;
}
#endif
