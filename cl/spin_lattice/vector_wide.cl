/*
 * Over-relaxation of spins in space on cubic lattices, without random couplings or fields: a
 * work-item has VECTOR_WIDE successive sites, 2 or 4, of a row of the colour, a divisor of its
 * sites, in `depth` layers of those from `from` to `to` - 1. Loads are as wide, addresses are
 * shared, and of the other colour's sites along x there is one more. vector_relax of vector.cl
 * otherwise; the chain is the same. Dimensions: such parts of a row, y, and columns times members.
 *
 * The second colour goes through the columns from the last to the first: what the first has done
 * last is still in a cache.
 */
#include "spin_lattice/vector_sites.h"

#define WIDE VECTOR_WIDE
#if VECTOR_WIDE == 2
typedef float2 vector_wide;
#define VECTOR_WIDE_OF(v) ((float2)((v)[0], (v)[1]))
#else
typedef float4 vector_wide;
#define VECTOR_WIDE_OF(v) ((float4)((v)[0], (v)[1], (v)[2], (v)[3]))
#endif

/* `at` is aligned as such a vector is: a row has a multiple of its words. */
ERGO_INLINE void vector_wide_load(__global const float *at, float v[3][WIDE]) {
    ERGO_UNROLL
    for (uint c = 0; c < 3u; c++) {
        const vector_wide wide = *(__global const vector_wide *)(at + c * VECTOR_ROW);
        v[c][0] = wide.s0;
        v[c][1] = wide.s1;
#if VECTOR_WIDE == 4
        v[c][2] = wide.s2;
        v[c][3] = wide.s3;
#endif
    }
}

__kernel void vector_relax_wide(__global float *spins, __global const struct vector_member *members,
                                uint colour, uint from, uint to, uint depth) {
    const uint i = WIDE * (uint)get_global_id(0), y = (uint)get_global_id(1);
    const uint last = (uint)get_global_id(2), columns = (to - from + depth - 1u) / depth;
    const uint member = last / columns, number = last - member * columns;
    if (i >= VECTOR_ROW || y >= VECTOR_LY)
        return;
    const float coupling = members[member].coupling, field = members[member].field;
    const uint begin = from + depth * (colour ? columns - 1u - number : number);
    const uint end = min(begin + depth, to);
    __global const float *other = spins + (ulong)member * 3u * VECTOR_SITES + i;
    __global float *own = spins + (other - spins) + vector_row(colour, y, begin) * VECTOR_WORDS;
    const int layer = (int)(VECTOR_LY * VECTOR_WORDS), whole = (int)(VECTOR_LZ - 1u) * layer;
    /* to the rows beside, and to the sites beside the first and behind the last */
    const int y1 = (int)(vector_next(y, VECTOR_LY) - y) * (int)VECTOR_WORDS;
    const int y0 = (int)(vector_last(y, VECTOR_LY) - y) * (int)VECTOR_WORDS;
    const int x1 = i + WIDE < VECTOR_ROW ? (int)WIDE : -(int)i, x0 = i ? -1 : (int)VECTOR_ROW - 1;
    uint odd = (colour + y + begin) & 1u;
    float low[3][WIDE], here[3][WIDE], high[3][WIDE];
    other += vector_row(1u - colour, y, begin) * VECTOR_WORDS;
    vector_wide_load(other + (begin ? -layer : whole), here);
    vector_wide_load(other, high);
    for (uint z = begin; z < end; z++, odd ^= 1u, own += layer, other += layer) {
        float ahead[3][WIDE], behind[3][WIDE], old[3][WIDE], new[3][WIDE], beside[3];
        ERGO_UNROLL
        for (uint c = 0; c < 3u; c++) {
            ERGO_UNROLL
            for (uint k = 0; k < WIDE; k++) {
                low[c][k] = here[c][k];
                here[c][k] = high[c][k];
            }
            beside[c] = (other + (odd ? x1 : x0))[c * VECTOR_ROW];
        }
        vector_wide_load(other + (z + 1u < VECTOR_LZ ? layer : -whole), high);
        vector_wide_load(other + y1, ahead);
        vector_wide_load(other + y0, behind);
        vector_wide_load(own, old);
        ERGO_UNROLL
        for (uint k = 0; k < WIDE; k++) {
            float sum[3];
            ERGO_UNROLL
            for (uint c = 0; c < 3u; c++) {
                /* the sum of two does not depend on their order */
                const float right = k + 1u < WIDE ? here[c][(k + 1u) % WIDE] : beside[c];
                const float left = k ? here[c][(k + WIDE - 1u) % WIDE] : beside[c];
                sum[c] = here[c][k] + (odd ? right : left);
                sum[c] += ahead[c][k];
                sum[c] += behind[c][k];
                sum[c] += high[c][k];
                sum[c] += low[c][k];
            }
            const ergo_vector h = ergo_vector_of(vector_field(sum[0], coupling, 0.0f),
                                                 vector_field(sum[1], coupling, 0.0f),
                                                 vector_field(sum[2], coupling, field));
            const ergo_vector v =
                ergo_unit_reflect(ergo_vector_of(old[0][k], old[1][k], old[2][k]), h);
            new[0][k] = v.x;
            new[1][k] = v.y;
            new[2][k] = v.z;
        }
        ERGO_UNROLL
        for (uint c = 0; c < 3u; c++)
            *(__global vector_wide *)(own + c * VECTOR_ROW) = VECTOR_WIDE_OF(new[c]);
    }
}
