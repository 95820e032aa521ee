/*
 * Macroupdates for CPUs: one work-item a walker, eight partners at a time in explicit vectors. The
 * same chain as walk.cl, and the same arguments and macros (HELIUM_GROUP is 1).
 *
 * Coefficients are gathered as eight loads of four floats and turned round: two instructions a
 * pair, where four gathers of single floats take eight.
 */
#include "helium_vmc/core.h"

/* Places are padded to whole vectors in private memory; the tail is masked by its number. */
#define HELIUM_VECTORS ((HELIUM_N + 7) / 8)

ERGO_INLINE int8 helium_u_lanes(__global const helium_cubic *table, int8 ix, int8 iy, int8 iz,
                                float low, float sx, float sy, float sz) {
    const float8 dx = convert_float8(ix) * sx, dy = convert_float8(iy) * sy,
                 dz = convert_float8(iz) * sz;
    float8 x = fma(dx, dx, fma(dy, dy, dz * dz));
    x = fmin(fmax(x, (float8)(low)), (float8)(as_float(0x3f7fffffu)));
    const uint8 bits = as_uint8(x);
    const uint8 k = (bits >> (23 - HELIUM_U_PIECES)) - HELIUM_U_BASE;
    const float8 t = x - as_float8(bits & (0xffffffffu << (23 - HELIUM_U_PIECES)));
    const float4 a = table[k.s0], b = table[k.s1], c = table[k.s2], d = table[k.s3];
    const float4 e = table[k.s4], f = table[k.s5], g = table[k.s6], h = table[k.s7];
    const float8 ae = (float8)(a, e), bf = (float8)(b, f), cg = (float8)(c, g), dh = (float8)(d, h);
    /* rows to columns, within each half: x y of two, then of four */
    const float8 p = shuffle2(ae, bf, (uint8)(0, 8, 1, 9, 4, 12, 5, 13));
    const float8 q = shuffle2(ae, bf, (uint8)(2, 10, 3, 11, 6, 14, 7, 15));
    const float8 r = shuffle2(cg, dh, (uint8)(0, 8, 1, 9, 4, 12, 5, 13));
    const float8 s = shuffle2(cg, dh, (uint8)(2, 10, 3, 11, 6, 14, 7, 15));
    const float8 c0 = shuffle2(p, r, (uint8)(0, 1, 8, 9, 4, 5, 12, 13));
    const float8 c1 = shuffle2(p, r, (uint8)(2, 3, 10, 11, 6, 7, 14, 15));
    const float8 c2 = shuffle2(q, s, (uint8)(0, 1, 8, 9, 4, 5, 12, 13));
    const float8 c3 = shuffle2(q, s, (uint8)(2, 3, 10, 11, 6, 7, 14, 15));
    return convert_int8_rtz(fma(fma(fma(c3, t, c2), t, c1), t, c0));
}

__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void
helium_walk(__global int *positions, __global struct helium_walker *walkers,
            __global const struct helium_member *members, __global const uint *factors,
            __global const helium_cubic *tables, __global const helium_cubic *random, ulong step,
            uint steps, uint count, uint active, uint fresh) {
    __local int8 place[3 * HELIUM_VECTORS];
    const uint index = (uint)get_group_id(0), which = index / active;
    const uint walker = index - which * active;
    const ulong home = (ulong)which * count + walker;
    const struct helium_member member = members[which];
    const float low = member.low, sx = member.scale[0], sy = member.scale[1], sz = member.scale[2];
    const uint factor = factors[which];
    __global int *kept = positions + home * (3 * HELIUM_N);
    __global const helium_cubic *table = tables + which * HELIUM_U_SIZE;
    __local int *single = (__local int *)place;
    const int8 lane = (int8)(0, 1, 2, 3, 4, 5, 6, 7);
    long change = 0;
    uint accepted = 0;

    for (uint k = 0; k < 3; k++)
        for (uint j = 0; j < 8 * HELIUM_VECTORS; j++)
            single[k * 8 * HELIUM_VECTORS + j] = j < HELIUM_N ? kept[k * HELIUM_N + j] : 0;

    for (uint s = 0; s < steps; s++) {
        for (uint i = 0; i < HELIUM_N; i++) {
            const struct helium_move move =
                helium_draw(random, &member, factor, walker * HELIUM_N + i, step + s);
            __local int *own = single + i;
            const int ox = own[0], oy = own[8 * HELIUM_VECTORS], oz = own[16 * HELIUM_VECTORS];
            const int nx = (int)((uint)ox + (uint)move.dx), ny = (int)((uint)oy + (uint)move.dy);
            const int nz = (int)((uint)oz + (uint)move.dz);
            long total = 0;
            for (uint begin = 0; begin < HELIUM_VECTORS; begin += HELIUM_CHUNK) {
                const uint end = min(begin + HELIUM_CHUNK, (uint)HELIUM_VECTORS);
                int8 sum = 0; /* of at most HELIUM_CHUNK pairs: cannot overflow */
                for (uint v = begin; v < end; v++) {
                    const int8 x = place[v], y = place[HELIUM_VECTORS + v],
                               z = place[2 * HELIUM_VECTORS + v];
                    const int8 after =
                        helium_u_lanes(table, nx - x, ny - y, nz - z, low, sx, sy, sz);
                    const int8 before =
                        helium_u_lanes(table, ox - x, oy - y, oz - z, low, sx, sy, sz);
                    int8 difference = after - before;
                    if (v == i / 8) /* itself */
                        difference &= lane != (int8)((int)(i & 7));
                    if (HELIUM_N % 8 && v + 1 == HELIUM_VECTORS)
                        difference &= lane < (int8)((int)(HELIUM_N % 8));
                    sum += difference;
                }
                const int4 half_sum = sum.lo;
                const long4 wide = convert_long4(half_sum) + convert_long4(sum.hi);
                total += wide.x + wide.y + wide.z + wide.w;
            }
            if (helium_accepts(total, move.bound)) {
                change += total;
                accepted++;
                own[0] = nx;
                own[8 * HELIUM_VECTORS] = ny;
                own[16 * HELIUM_VECTORS] = nz;
            }
        }
    }

    for (uint k = 0; k < 3; k++)
        for (uint j = 0; j < HELIUM_N; j++)
            kept[k * HELIUM_N + j] = single[k * 8 * HELIUM_VECTORS + j];
    walkers[home].ln_psi += change;
    walkers[home].accepted = (fresh ? 0 : walkers[home].accepted) + accepted;
    walkers[home].window += accepted;
}
