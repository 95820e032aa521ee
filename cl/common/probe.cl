/*
 * The start-up probe computes everything that the samplers rely on. The host compares with values
 * from its own C, and refuses a device that differs.
 */
#include "common/compat.h"
#include "common/rng.h"
#include "common/probe_params.h"

ERGO_INLINE void probe_put64(__global uint *out, int column, ulong value) {
    out[column] = (uint)value;
    out[column + 1] = (uint)(value >> 32);
}

__kernel void probe_arithmetic(__global const uint *inputs, __global uint *results) {
    const uint item = (uint)get_global_id(0);
    __global const uint *in = inputs + item * PROBE_INPUTS;
    __global uint *out = results + item * PROBE_COLUMNS;
    const float a = as_float(in[PROBE_A]), b = as_float(in[PROBE_B]), c = as_float(in[PROBE_C]);
    const uint x = in[PROBE_X], y = in[PROBE_Y], s = in[PROBE_S];
    const ulong u = (ulong)x << 32 | in[PROBE_Z], v = (ulong)y << 32 | in[PROBE_W];

    out[PROBE_WIDTHS] = (uint)(sizeof(uchar) | sizeof(ushort) << 4 | sizeof(uint) << 8 |
                               sizeof(ulong) << 12 | sizeof(float) << 16);

    /* c is often -a*b rounded. A contraction to fma then gives the rounding error instead of 0. */
    out[PROBE_MUL_ADD] = as_uint(a * b + c);
    out[PROBE_MUL_SUB] = as_uint(a * b - c * b);
    out[PROBE_FMA] = as_uint(fma(a, b, c));
    out[PROBE_SQRT] = as_uint(sqrt(fabs(a)));
    out[PROBE_DIVIDE] = as_uint(a / b);
    out[PROBE_INVERSE] = as_uint(1.0f / b);
    out[PROBE_COMPARE] = (uint)(a < b) | (uint)(a <= c) << 1 | (uint)(b == c) << 2;
    out[PROBE_FLOOR] = as_uint(floor(a));
    out[PROBE_TRUNCATE] = (uint)(int)a;
    out[PROBE_TO_INT] = (uint)convert_int_rte(a);
    probe_put64(out, PROBE_TO_LONG, (ulong)convert_long_rte(a));
    probe_put64(out, PROBE_TO_LONG_BIG, (ulong)convert_long_rte(a * b * 1048576.0f));
    out[PROBE_FROM_UINT] = as_uint(convert_float_rte(x));
    out[PROBE_FROM_LONG] = as_uint(convert_float_rte((long)u));

    out[PROBE_MULTIPLY] = x * y;
    out[PROBE_MUL_HI] = mul_hi(x, y);
    probe_put64(out, PROBE_MULTIPLY64, u * v);
    probe_put64(out, PROBE_MUL_HI64, mul_hi(u, v));
    out[PROBE_QUOTIENT] = x / (y >> s | 1u);
    out[PROBE_REMAINDER] = x % (y >> s | 1u);
    probe_put64(out, PROBE_QUOTIENT64, u / (v >> 2 * s | 1UL));
    probe_put64(out, PROBE_REMAINDER64, u % (v >> 2 * s | 1UL));
    out[PROBE_SHIFT_LEFT] = x << s;
    out[PROBE_SHIFT_RIGHT] = x >> s;
    out[PROBE_SHIFT_SIGNED] = (uint)((int)x >> s);
    probe_put64(out, PROBE_SHIFT64, u << (s + 7u) ^ v >> (s + 32u));
    out[PROBE_ROTATE] = rotate(x, s);
    out[PROBE_POPCOUNT_32] = popcount(x);
    out[PROBE_POPCOUNT_64] = (uint)popcount(u);
    out[PROBE_CLZ] = clz(x >> s);

    const uint4 counter = (uint4)(in[PROBE_COUNTER], in[PROBE_COUNTER + 1], in[PROBE_COUNTER + 2],
                                  in[PROBE_COUNTER + 3]);
    const uint4 random = ergo_philox(counter, in[PROBE_KEY], in[PROBE_KEY + 1]);
    out[PROBE_PHILOX] = random.x;
    out[PROBE_PHILOX + 1] = random.y;
    out[PROBE_PHILOX + 2] = random.z;
    out[PROBE_PHILOX + 3] = random.w;
}

/* slots[i] counts how often an atomic_add returned i. Each value must occur exactly once. */
__kernel void probe_atomics(__global uint *cells, __global uint *slots) {
    __local uint mine[3];
    const uint item = (uint)get_global_id(0), local_item = (uint)get_local_id(0);
    const uint word = ergo_probe_mix(item), bit = 1u << (item & 31u);
    if (local_item == 0u) {
        mine[0] = 0u;
        mine[1] = 0xffffffffu;
        mine[2] = 0u;
    }
    barrier(CLK_LOCAL_MEM_FENCE);

    const uint ticket = atomic_add(&cells[CELL_ADD], 1u);
    if (ticket < (uint)PROBE_CONTENDERS)
        atomic_inc(&slots[ticket]);
    atomic_sub(&cells[CELL_SUB], word);
    atomic_min(&cells[CELL_MIN], word);
    atomic_max(&cells[CELL_MAX], word);
    if (word & 64u)
        atomic_or(&cells[CELL_WORDS + item / 32u], bit);
    if (word & 128u)
        atomic_xor(&cells[CELL_WORDS + PROBE_CONTENDERS / 32 + item / 32u], bit);
    /* The loop has a limit, so that a device whose exchange never succeeds fails instead of
     * hanging. */
    uint seen = 0u;
    for (uint trial = 0u; trial < 100000u; trial++) {
        const uint found = atomic_cmpxchg(&cells[CELL_EXCHANGE], seen, seen + word);
        if (found == seen)
            break;
        seen = found;
    }
    atomic_add(&mine[0], word);
    atomic_min(&mine[1], word);
    atomic_or(&mine[2], bit & word);
    barrier(CLK_LOCAL_MEM_FENCE);

    if (local_item == 0u) {
        atomic_add(&cells[CELL_LOCAL_ADD], mine[0]);
        atomic_min(&cells[CELL_LOCAL_MIN], mine[1]);
        atomic_or(&cells[CELL_LOCAL_OR], mine[2]);
    }
}

/*
 * Neighbours exchange words through local memory, then a tree adds them up. The sum depends on
 * every exchange, so a missing barrier shows. Ids are read once, before any loop, because PoCL 3.1
 * miscompiles loops with barriers that call get_local_id.
 */
__kernel void probe_barriers(__global uint *sums, __local uint *cells) {
    const uint item = (uint)get_local_id(0), size = (uint)get_local_size(0);
    const uint group = (uint)get_group_id(0);
    const uint next = item + 1u < size ? item + 1u : 0u;
    cells[item] = ergo_probe_mix(group * size + item);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint round = 0u; round < (uint)PROBE_ROUNDS; round++) {
        const uint word = cells[next];
        barrier(CLK_LOCAL_MEM_FENCE);
        cells[item] = word * 1664525u + item + round;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    for (uint width = size; width > 1u;) {
        const uint half_width = (width + 1u) / 2u;
        if (item + half_width < width)
            cells[item] += cells[item + half_width];
        barrier(CLK_LOCAL_MEM_FENCE);
        width = half_width;
    }
    if (item == 0u)
        sums[group] = cells[0];
}
