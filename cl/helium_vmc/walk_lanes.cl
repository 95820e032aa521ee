/*
 * Macroupdates for CPUs: one work-item per walker, and eight partners at a time in explicit
 * vectors. The chain, the arguments and the macros are those of walk_registers.cl, with
 * HELIUM_GROUP 1.
 *
 * A vector of pairs takes some 50 instructions (distance, piece, coefficients, cubic) that depend
 * on each other, about 70 cycles. One vector after the other would leave a core waiting. So a chunk
 * of vectors is first located in the table and then looked up: 1.1 times as fast at 512 atoms, 1.2
 * times at 64.
 *
 * Coefficients are fetched as eight loads of four floats and transposed. This takes two
 * instructions per pair, and four gathers of single floats take eight.
 */
#include "helium/site.h"
#include "helium_vmc/core.h"

/* Builtins, because PoCL 3.1 converts and shuffles element by element, at 0.6 and 0.7 of the speed.
 */
#ifdef __clang__
#define HELIUM_TRUNCATE(x) __builtin_convertvector(x, int8)
#define HELIUM_FLOAT(x) __builtin_convertvector(x, float8)
#define HELIUM_SHUFFLE(x, y, ...) __builtin_shufflevector(x, y, __VA_ARGS__)
#else
#define HELIUM_TRUNCATE(x) convert_int8_rtz(x)
#define HELIUM_FLOAT(x) convert_float8(x)
#define HELIUM_SHUFFLE(x, y, ...) shuffle2(x, y, (uint8)(__VA_ARGS__))
#endif

/* Places are padded to whole vectors. Lanes beyond the last atom are masked. */
#define HELIUM_VECTORS ((HELIUM_N + 7) / 8)

/* ---- tables ---------------------------------------------------------------------------------- */

/* The pieces of a table that contain eight x, and the distances from their starts. `base`: number
 * of the table's first piece. */
ERGO_INLINE float8 helium_locate(float8 x, uint pieces, uint base, __local uint8 *at) {
    const uint8 start = as_uint8(x) & (0xffffffffu << (23 - pieces));
    /* in bytes, because x86 cannot scale an index by 16 */
    *at = (start >> (19 - pieces)) - (base << 4);
    return x - as_float8(start);
}

#define HELIUM_LOAD(lane)                                                                          \
    (*(__global const helium_cubic *)((__global const char *)table + single[lane]))

/* The values of these cubics. */
ERGO_INLINE float8 helium_look_up(__global const helium_cubic *table, __local const uint8 *at,
                                  float8 t) {
    /* volatile makes the compiler load the indices, 1.15 times as fast: load ports are idle. If it
     * saw the store, it would extract the lanes instead */
    __local const volatile uint *single = (__local const volatile uint *)at;
    const float4 a = HELIUM_LOAD(0), b = HELIUM_LOAD(1), c = HELIUM_LOAD(2), d = HELIUM_LOAD(3);
    const float4 e = HELIUM_LOAD(4), f = HELIUM_LOAD(5), g = HELIUM_LOAD(6), h = HELIUM_LOAD(7);
    const float8 ae = (float8)(a, e), bf = (float8)(b, f), cg = (float8)(c, g), dh = (float8)(d, h);
    /* transpose within each half: first pairs of rows, then four */
    const float8 p = HELIUM_SHUFFLE(ae, bf, 0, 8, 1, 9, 4, 12, 5, 13);
    const float8 q = HELIUM_SHUFFLE(ae, bf, 2, 10, 3, 11, 6, 14, 7, 15);
    const float8 r = HELIUM_SHUFFLE(cg, dh, 0, 8, 1, 9, 4, 12, 5, 13);
    const float8 s = HELIUM_SHUFFLE(cg, dh, 2, 10, 3, 11, 6, 14, 7, 15);
    const float8 c0 = HELIUM_SHUFFLE(p, r, 0, 1, 8, 9, 4, 5, 12, 13);
    const float8 c1 = HELIUM_SHUFFLE(p, r, 2, 3, 10, 11, 6, 7, 14, 15);
    const float8 c2 = HELIUM_SHUFFLE(q, s, 0, 1, 8, 9, 4, 5, 12, 13);
    const float8 c3 = HELIUM_SHUFFLE(q, s, 2, 3, 10, 11, 6, 7, 14, 15);
    return fma(fma(fma(c3, t, c2), t, c1), t, c0);
}

/* ---- moves ----------------------------------------------------------------------------------- */

ERGO_INLINE float8 helium_random_lanes(__global const helium_cubic *table, float8 x,
                                       __local uint8 *at) {
    const float8 t = helium_locate(x, HELIUM_R_PIECES, HELIUM_R_LOWEST << HELIUM_R_PIECES, at);
    return helium_look_up(table, at, t);
}

/* One component of eight displacements: helium_normal, scaled, and helium_shift. */
ERGO_INLINE int8 helium_shift_lanes(__global const helium_cubic *random, uint8 word, float step,
                                    __local uint8 *at) {
    const float8 most = (float8)(2147483520.0f);
    const float8 x = convert_float8(as_int8(word & 0x7fffffffu)) + 0.5f;
    const uint8 z = as_uint8(helium_random_lanes(random, x, at));
    float8 d = as_float8(z ^ (word & 0x80000000u)) * step;
    d = d < -most ? -most : d;
    d = d < most ? d : most;
    return HELIUM_TRUNCATE(d);
}

/* helium_draw for eight entities from `first` on. moves gets dx, dy, dz, bound. */
ERGO_INLINE void helium_draw_lanes(__global const helium_cubic *random,
                                   const struct helium_member *member, uint factor, uint first,
                                   ulong step, __local int8 *moves, __local uint8 *at) {
    const float f = (float)factor * (1.0f / HELIUM_FACTOR_ONE);
    ulong8 words[ERGO_PHILOX_SIDES][2];
    ergo_philox_lanes((ulong8)((ulong)first) + (ulong8)(0, 1, 2, 3, 4, 5, 6, 7), step,
                      ERGO_DRAW(HELIUM_PURPOSE_MOVE, 0), member->key0, member->key1, words);
    const uint16 xy = as_uint16(words[0][0]), zw = as_uint16(words[0][1]);
    moves[0] = helium_shift_lanes(random, xy.even, member->step[0] * f, at);
    moves[1] = helium_shift_lanes(random, xy.odd, member->step[1] * f, at + 1);
    moves[2] = helium_shift_lanes(random, zw.even, member->step[2] * f, at + 2);
    moves[3] = HELIUM_TRUNCATE(
        helium_random_lanes(random + HELIUM_R_SIZE, HELIUM_FLOAT(zw.odd) + 0.5f, at + 3));
}

/* ---- pairs ----------------------------------------------------------------------------------- */

/* Vectors of places, and where their pairs with (x, y, z) lie in the table of u. */
struct helium_lanes {
    __local int8 *place;    /* [3 * HELIUM_VECTORS] */
    __local uint8 *at;      /* [HELIUM_CHUNK] */
    __local float8 *within; /* [HELIUM_CHUNK] */
    float low, sx, sy, sz;
};

ERGO_INLINE void helium_locate_chunk(const struct helium_lanes *l, uint begin, uint end, int x,
                                     int y, int z) {
    for (uint v = begin; v < end; v++) {
        const float8 ix = convert_float8(x - l->place[v]),
                     iy = convert_float8(y - l->place[HELIUM_VECTORS + v]),
                     iz = convert_float8(z - l->place[2 * HELIUM_VECTORS + v]);
#if HELIUM_CUBE /* sx is a power of two: the same bits as below */
        const float8 found = fma(ix, ix, fma(iy, iy, iz * iz)) * (l->sx * l->sx);
#else
        const float8 dx = ix * l->sx, dy = iy * l->sy, dz = iz * l->sz;
        const float8 found = fma(dx, dx, fma(dy, dy, dz * dz));
#endif
        /* Floats that are not negative have the order of their bits, and integers have vector
         * minima. */
        const int8 bits = min(max(as_int8(found), (int8)(as_int(l->low))), (int8)(0x3f7fffff));
        l->within[v - begin] =
            helium_locate(as_float8(bits), HELIUM_U_PIECES, HELIUM_U_BASE, l->at + (v - begin));
    }
}

/* u of the k-th vector of the chunk. */
ERGO_INLINE int8 helium_u_lanes(__global const helium_cubic *table, const struct helium_lanes *l,
                                uint k) {
    return HELIUM_TRUNCATE(helium_look_up(table, l->at + k, l->within[k]));
}

/* The sum of eight lanes. Each lane holds at most HELIUM_CHUNK pairs. */
ERGO_INLINE long helium_sum_lanes(int8 x) {
    const long4 wide = convert_long4(x.lo) + convert_long4(x.hi);
    return wide.x + wide.y + wide.z + wide.w;
}

/* The sum of u over all pairs with atom i if it were at (x, y, z). `row` gets u of each pair; its
 * entry for atom i itself (with its old place) has no meaning. */
ERGO_INLINE long helium_row(__global const helium_cubic *table, const struct helium_lanes *l,
                            uint i, int x, int y, int z, __local int8 *row) {
    const int8 lane = (int8)(0, 1, 2, 3, 4, 5, 6, 7);
    long total = 0;
    for (uint begin = 0; begin < HELIUM_VECTORS; begin += HELIUM_CHUNK) {
        const uint end = min(begin + HELIUM_CHUNK, (uint)HELIUM_VECTORS);
        int8 sum = 0;
        helium_locate_chunk(l, begin, end, x, y, z);
        for (uint v = begin; v < end; v++) {
            int8 u = helium_u_lanes(table, l, v - begin);
            if (HELIUM_N % 8 && v + 1 == HELIUM_VECTORS)
                u &= lane < (int8)((int)(HELIUM_N % 8));
            row[v] = u;
            sum += u;
        }
        total += helium_sum_lanes(sum);
    }
    return total - ((__local int *)row)[i];
}

/* Update the sums of all other atoms after atom i has left (x, y, z) for the place of `row`. The
 * sum of atom i itself comes out wrong, and so do those beyond the last atom. */
ERGO_INLINE void helium_exchange(__global const helium_cubic *table, const struct helium_lanes *l,
                                 int x, int y, int z, __local const int8 *row, __local long8 *sum) {
    for (uint begin = 0; begin < HELIUM_VECTORS; begin += HELIUM_CHUNK) {
        const uint end = min(begin + HELIUM_CHUNK, (uint)HELIUM_VECTORS);
        helium_locate_chunk(l, begin, end, x, y, z);
        for (uint v = begin; v < end; v++)
            sum[v] += convert_long8(row[v] - helium_u_lanes(table, l, v - begin));
    }
}

__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void
helium_walk(__global int *positions, __global long *sums, __global struct helium_walker *walkers,
            __global const struct helium_member *members, __global const uint *factors,
            __global const helium_cubic *tables, __global const helium_cubic *random,
            __global const int *sites, ulong step, uint steps, uint count, uint active,
            uint rebuild) {
    __local int8 place[3 * HELIUM_VECTORS], after[HELIUM_VECTORS], moves[4];
    __local uint8 at[HELIUM_CHUNK];
    __local float8 within[HELIUM_CHUNK];
    __local long8 sum[HELIUM_VECTORS];
    const uint index = (uint)get_group_id(0), which = index / active;
    const uint walker = index - which * active;
    const ulong home = (ulong)which * count + walker;
    const struct helium_member member = members[which];
    const struct helium_lanes lanes = {
        place, at, within, member.low, member.scale[0], member.scale[1], member.scale[2]};
    const uint factor = factors[which];
    __global int *kept_place = positions + home * (3 * HELIUM_N);
    __global long *kept_sum = sums + home * HELIUM_N;
    __global const helium_cubic *table = tables + which * HELIUM_U_SIZE;
    __local int *single = (__local int *)place;
    __local long *single_sum = (__local long *)sum;
    long change = 0;
    uint accepted = 0, earlier = 0; /* earlier: accepted before the last macroupdate */

    for (uint k = 0; k < 3; k++)
        for (uint j = 0; j < 8 * HELIUM_VECTORS; j++)
            single[k * 8 * HELIUM_VECTORS + j] = j < HELIUM_N ? kept_place[k * HELIUM_N + j] : 0;
    for (uint j = 0; j < 8 * HELIUM_VECTORS; j++)
        single_sum[j] = j < HELIUM_N ? kept_sum[j] : 0;
    if (rebuild)
        for (uint i = 0; i < HELIUM_N; i++)
            single_sum[i] = helium_row(table, &lanes, i, single[i], single[8 * HELIUM_VECTORS + i],
                                       single[16 * HELIUM_VECTORS + i], after) +
                            helium_at_site((int4)(single[i], single[8 * HELIUM_VECTORS + i],
                                                  single[16 * HELIUM_VECTORS + i], 0),
                                           i, sites, &member);

    for (uint s = 0; s < steps; s++) {
        earlier = accepted;
        for (uint i = 0; i < HELIUM_N; i++) {
            if (i % 8 == 0)
                helium_draw_lanes(random, &member, factor, walker * HELIUM_N + i, step + s, moves,
                                  at);
            __local const int *move = (__local const int *)moves + i % 8;
            __local int *own = single + i;
            const int ox = own[0], oy = own[8 * HELIUM_VECTORS], oz = own[16 * HELIUM_VECTORS];
            const int nx = (int)((uint)ox + (uint)move[0]), ny = (int)((uint)oy + (uint)move[8]);
            const int nz = (int)((uint)oz + (uint)move[16]);
            const long own_sum = helium_row(table, &lanes, i, nx, ny, nz, after) +
                                 helium_at_site((int4)(nx, ny, nz, 0), i, sites, &member);
            const long difference = own_sum - single_sum[i];
            if (!helium_accepts(difference, move[24]))
                continue;
            change += difference;
            accepted++;
            helium_exchange(table, &lanes, ox, oy, oz, after, sum);
            single_sum[i] = own_sum;
            own[0] = nx;
            own[8 * HELIUM_VECTORS] = ny;
            own[16 * HELIUM_VECTORS] = nz;
        }
    }

    for (uint k = 0; k < 3; k++)
        for (uint j = 0; j < HELIUM_N; j++)
            kept_place[k * HELIUM_N + j] = single[k * 8 * HELIUM_VECTORS + j];
    for (uint j = 0; j < HELIUM_N; j++)
        kept_sum[j] = single_sum[j];
    walkers[home].ln_psi += change;
    walkers[home].accepted = accepted - earlier;
    walkers[home].window += accepted;
}
