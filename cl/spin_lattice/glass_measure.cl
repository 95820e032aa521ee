/* Spin glasses: energies of each sample and slot, up spins, overlaps. */
#include "spin_lattice/glass_count.h"
#include "spin_lattice/glass_update.h"

#define GLASS_SLOTS (4 * GLASS_QUADS)
/* planes of the sums of a group of 2^LEVELS, at most 2^6 */
#define GLASS_ALL (GLASS_OWN + GLASS_LEVELS)
#define GLASS_GROUP (1u << GLASS_LEVELS)

/* Counter o of the 128 of a quad: slot o / 32 of the quad, sample o % 32. */
ERGO_INLINE uint glass_count_read(__local const uint4 *planes, uint o) {
    __local const uint *words = (__local const uint *)planes + o / 32;
    const uint bit = o & 31u;
#define GLASS_BIT(p) (((words[glass_plane(p, 4 * GLASS_GROUP)] >> bit) & 1u) << (p))
    uint sum = GLASS_BIT(0) + GLASS_BIT(1) + GLASS_BIT(2) + GLASS_BIT(3) + GLASS_BIT(4) +
               GLASS_BIT(5) + GLASS_BIT(6) + GLASS_BIT(7);
    ERGO_UNROLL
    for (uint p = GLASS_OWN; p < GLASS_ALL; p++)
        sum += GLASS_BIT(p);
    return sum;
}

#if !GLASS_REAL
/* Unsatisfied bonds of site h of colour 0, for a quad. */
ERGO_INLINE struct glass_sum glass_even_of(__global const uint4 *spins,
                                           __global const uint *couplings, uint h) {
    const struct glass_at a = glass_site(h, 0);
    uint4 x[7];
    GLASS_LOOK(x, spins[h * GLASS_QUADS], a, spins + GLASS_HALF * GLASS_QUADS, GLASS_QUADS)
    return glass_unsatisfied(x, couplings, h);
}

/* The same, counted over the sites begin, begin + step ... below GLASS_HALF, at most 42 of them.
 * Each bond has one end of colour 0. */
ERGO_INLINE struct glass_counter glass_even(__global const uint4 *spins,
                                            __global const uint *couplings, uint begin, uint step) {
    struct glass_counter counter = glass_count_zero();
    for (uint h = begin; h < GLASS_HALF; h += 2 * step) {
        const uint next = h + step;
        const struct glass_sum m = glass_even_of(spins, couplings, h);
        struct glass_sum n;
        n.m0 = n.m1 = n.m2 = (uint4)(0u);
        if (next < GLASS_HALF)
            n = glass_even_of(spins, couplings, next);
        counter = glass_count_add(counter, m, n);
    }
    return counter;
}
#endif

/*
 * energies[word-lattice][part][slot][32]: each bond has one end of colour 0. Dimension 0: one group
 * per (quad, part).
 */
__attribute__((reqd_work_group_size(GLASS_GROUP, 1, 1))) __kernel void
glass_energy(__global const uint4 *spins, __global const uint *couplings, __global long *energies,
             uint parts, __local uint4 *planes) {
    const uint item = (uint)get_local_id(0), group = (uint)get_group_id(0);
    const uint lattice = (uint)get_global_id(1);
    const uint part = group / GLASS_QUADS, quad = group - part * GLASS_QUADS;
    __global const uint4 *own = spins + (ulong)lattice * (GLASS_SITES * GLASS_QUADS) + quad;
    __global long *out = energies + (((ulong)lattice * parts + part) * GLASS_SLOTS + 4 * quad) * 32;
#if GLASS_REAL
    __global const uint4 *other = own + GLASS_HALF * GLASS_QUADS;
    /* a work-item has one sample and the group's share of sites divided by rows, for all four slots
     */
    __global const int *bonds =
        (__global const int *)couplings + (ulong)lattice * (GLASS_SITES * GLASS_BONDS * 32);
    const uint bit = item & 31u, row = item / 32, rows = GLASS_GROUP / 32;
    __local long *sums = (__local long *)planes;
    long4 sum = (long4)(0);
    for (uint h = part * rows + row; h < GLASS_HALF; h += parts * rows) {
        const struct glass_at a = glass_site(h, 0);
        const uint4 s = own[h * GLASS_QUADS];
        int4 cost = (int4)(0);
        ERGO_UNROLL
        for (uint d = 0; d < GLASS_Z; d++) {
            const int4 minus = -as_int4(((s ^ other[a.near[d] * GLASS_QUADS]) >> bit) & 1u);
            cost += ((int4)(bonds[(h * 32 + bit) * GLASS_BONDS + d]) ^ minus) - minus;
        }
#if GLASS_FIELD /* of this site, and of the one of the other colour */
        for (uint colour = 0; colour < 2; colour++) {
            const uint at = h + colour * GLASS_HALF;
            const int4 minus = -as_int4((~own[at * GLASS_QUADS] >> bit) & 1u);
            sum -= convert_long4(((int4)(bonds[(at * 32 + bit) * GLASS_BONDS + GLASS_Z]) ^ minus) -
                                 minus);
        }
#endif
        sum -= convert_long4(cost);
    }
    sums[item] = sum.x;
    sums[GLASS_GROUP + item] = sum.y;
    sums[2 * GLASS_GROUP + item] = sum.z;
    sums[3 * GLASS_GROUP + item] = sum.w;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint o = item; o < 128; o += GLASS_GROUP) {
        long total = 0;
        for (uint i = 0; i < rows; i++)
            total += sums[(o / 32) * GLASS_GROUP + 32 * i + (o & 31u)];
        out[o] = total;
    }
#else
    __global const uint *bonds = couplings + (ulong)lattice * (GLASS_SITES * GLASS_Z);
    const struct glass_counter counter =
        glass_even(own, bonds, part * GLASS_GROUP + item, parts * GLASS_GROUP);
    glass_count_sum(counter, planes, item, GLASS_GROUP, GLASS_LEVELS, 1);
    for (uint o = item; o < 128; o += GLASS_GROUP)
        out[o] = (long)glass_count_read(planes, o);
#endif
}

/*
 * For each layer (z, in two dimensions y): up spins of the slots, and unequal sites of the pairs of
 * copies: counts[word-lattice][layer][2][slot][32]. With two copies slot 2i stands for the pair of
 * slots 2i, 2i + 1. With four copies slots 4i + (0, 1, 2, 3) stand for the pairs 01, 23, 02, 13.
 * Dimension 0: one group per (quad, layer).
 */
#define GLASS_LAYERS (GLASS_D == 3 ? (uint)(GLASS_LZ) : (uint)(GLASS_LY))
#define GLASS_LAYER (GLASS_HALF / GLASS_LAYERS) /* sites of one colour */

ERGO_INLINE uint4 glass_marks(uint4 v, uint what) {
    if (what == 0)
        return v;
    if (GLASS_COPIES == 4)
        return (uint4)(v.x ^ v.y, v.z ^ v.w, v.x ^ v.z, v.y ^ v.w);
    return GLASS_COPIES == 2 ? (uint4)(v.x ^ v.y, 0u, v.z ^ v.w, 0u) : (uint4)(0u);
}

__attribute__((reqd_work_group_size(GLASS_GROUP, 1, 1))) __kernel void
glass_overlap(__global const uint4 *spins, __global uint *counts, __local uint4 *planes) {
    const uint item = (uint)get_local_id(0), group = (uint)get_group_id(0);
    const uint lattice = (uint)get_global_id(1);
    const uint layer = group / GLASS_QUADS, quad = group - layer * GLASS_QUADS;
    const uint4 zero = (uint4)(0u);
    __global const uint4 *s = spins + (ulong)lattice * (GLASS_SITES * GLASS_QUADS) + quad;
    for (uint what = 0; what < 2; what++) {
        struct glass_counter counter = glass_count_zero();
        for (uint i = item; i < GLASS_LAYER; i += GLASS_GROUP) {
            const uint h = layer * GLASS_LAYER + i;
            struct glass_sum m, n;
            m.m0 = glass_marks(s[h * GLASS_QUADS], what);
            n.m0 = glass_marks(s[(GLASS_HALF + h) * GLASS_QUADS], what);
            m.m1 = m.m2 = n.m1 = n.m2 = zero;
            counter = glass_count_add(counter, m, n);
        }
        glass_count_sum(counter, planes, item, GLASS_GROUP, GLASS_LEVELS, 1);
        __global uint *out =
            counts +
            ((((ulong)lattice * GLASS_LAYERS + layer) * 2 + what) * GLASS_SLOTS + 4 * quad) * 32;
        for (uint o = item; o < 128; o += GLASS_GROUP)
            out[o] = glass_count_read(planes, o);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}

/* Write the records of a sample. waves[layer]: cosine and sine of the longest wave along the
 * layers, as integers. Dimension 0: slot * 32 + sample. */
__kernel void glass_record(__global const long *energies, __global const uint *counts,
                           __global const int2 *waves, __global struct glass_record *records,
                           uint parts, uint sample) {
    const uint i = (uint)get_global_id(0), lattice = (uint)get_global_id(1);
    if (i >= GLASS_SLOTS * 32)
        return;
    struct glass_record r;
    r.energy = r.cosine = r.sine = 0;
    r.up = r.unequal = 0;
    for (uint part = 0; part < parts; part++)
        r.energy += energies[((ulong)lattice * parts + part) * (GLASS_SLOTS * 32) + i];
    for (uint layer = 0; layer < GLASS_LAYERS; layer++) {
        __global const uint *c =
            counts + ((ulong)lattice * GLASS_LAYERS + layer) * (2 * GLASS_SLOTS * 32) + i;
        const uint unequal = c[GLASS_SLOTS * 32];
        r.up += c[0];
        r.unequal += unequal;
        r.cosine += (long)waves[layer].x * unequal;
        r.sine += (long)waves[layer].y * unequal;
    }
    records[((ulong)sample * get_global_size(1) + lattice) * (GLASS_SLOTS * 32) + i] = r;
}
