/*
 * What the probe's kernels must answer, from the host's C alone: IEEE arithmetic without
 * contraction (this file is built with -ffp-contract=off), never another device's results.
 */
#include <math.h>
#include <string.h>

#include "common/rng.h"
#include "device/probe.h"

static const uint32_t philox_answers[3][10] = {
    /* counter, key, result: Random123's known-answer vectors for philox4x32-10 */
    {0, 0, 0, 0, 0, 0, 0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8},
    {0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0x408f276d, 0x41c83b0e,
     0xa20bc7c6, 0x6d5451fd},
    {0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344, 0xa4093822, 0x299f31d0, 0xd16cfe09, 0x94fdcceb,
     0x5001e420, 0x24126ea1},
};
enum { ANSWERS = sizeof philox_answers / sizeof philox_answers[0] };

static float as_float(uint32_t bits) {
    float value = 0.0F;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static uint32_t as_bits(float value) {
    uint32_t bits = 0;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* xorshift64*: any stream will do, but not the one under test. */
static uint32_t draw(uint64_t *state) {
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return (uint32_t)((*state * 0x2545F4914F6CDD1DULL) >> 32);
}

/* Magnitude 2^-20 to 2^20: no result is subnormal, no conversion overflows. */
static uint32_t draw_float(uint64_t *state) {
    uint32_t word = draw(state), exponent = 127 - 20 + draw(state) % 40;
    return (word & 0x807fffffu) | exponent << 23;
}

void ergo_probe_make_inputs(uint32_t *inputs) {
    uint64_t state = 0x9E3779B97F4A7C15ULL;
    for (size_t item = 0; item < PROBE_ITEMS; item++) {
        uint32_t *in = inputs + item * PROBE_INPUTS;
        for (int i = PROBE_A; i <= PROBE_C; i++)
            in[i] = draw_float(&state);
        for (int i = PROBE_X; i <= PROBE_W; i++)
            in[i] = draw(&state);
        in[PROBE_S] = draw(&state) & 31u;
        for (int i = PROBE_COUNTER; i < PROBE_INPUTS; i++)
            in[i] = draw(&state);
        if (item < ANSWERS)
            memcpy(in + PROBE_COUNTER, philox_answers[item], 6 * sizeof *in);
        if (item % 4 == 1) /* the difference between contracted and not */
            in[PROBE_C] = as_bits(-(as_float(in[PROBE_A]) * as_float(in[PROBE_B])));
        if (item % 4 == 2) /* ties of the conversions */
            in[PROBE_A] = as_bits((float)(int32_t)(draw(&state) % 4096) - 2048.0F + 0.5F);
        if (item % 4 == 3) {
            in[PROBE_X] |= in[PROBE_X] % 8 ? 0u : 0xffffff00u; /* rounds up to 2^32 */
            in[PROBE_Z] = 0x80000000u;
            in[PROBE_C] = in[PROBE_B];
        }
        if (item % 32 == 0) { /* smallest shift, largest words */
            in[PROBE_S] = 0;
            in[PROBE_X] = 0xffffffffu;
            in[PROBE_Y] = item % 64 ? 0xffffffffu : 0x80000000u;
        }
    }
}

static void put64(uint32_t *out, int column, uint64_t value) {
    out[column] = (uint32_t)value;
    out[column + 1] = (uint32_t)(value >> 32);
}

static uint64_t high_product(uint64_t a, uint64_t b) {
    uint64_t al = (uint32_t)a, ah = a >> 32, bl = (uint32_t)b, bh = b >> 32;
    uint64_t middle = (al * bl >> 32) + (uint32_t)(ah * bl);
    uint64_t middle2 = middle + al * bh; /* <= 2^33 + (2^32-1)^2 < 2^64 */
    return ah * bh + (ah * bl >> 32) + (middle2 >> 32);
}

static uint32_t count_bits(uint64_t word) {
    uint32_t count = 0;
    for (; word; word &= word - 1)
        count++;
    return count;
}

static uint32_t leading_zeros(uint32_t word) {
    uint32_t count = 0;
    while (count < 32 && !(word >> (31 - count) & 1u))
        count++;
    return count;
}

/* Shifts of negative numbers are the implementation's choice in C: spelled out. */
static uint32_t shift_signed(uint32_t word, uint32_t by) {
    uint32_t fill = word >> 31 && by ? ~(0xffffffffu >> by) : 0u;
    return word >> by | fill;
}

static int64_t to_signed(uint64_t word) {
    int64_t value = 0;
    memcpy(&value, &word, sizeof value);
    return value;
}

void ergo_probe_expect_arithmetic(const uint32_t *inputs, uint32_t *results) {
    for (size_t item = 0; item < PROBE_ITEMS; item++) {
        const uint32_t *in = inputs + item * PROBE_INPUTS;
        uint32_t *out = results + item * PROBE_COLUMNS;
        const float a = as_float(in[PROBE_A]), b = as_float(in[PROBE_B]), c = as_float(in[PROBE_C]);
        const uint32_t x = in[PROBE_X], y = in[PROBE_Y], s = in[PROBE_S];
        const uint64_t u = (uint64_t)x << 32 | in[PROBE_Z], v = (uint64_t)y << 32 | in[PROBE_W];
        const float ab = a * b, cb = c * b;

        out[PROBE_WIDTHS] = 1u | 2u << 4 | 4u << 8 | 8u << 12 | 4u << 16;
        out[PROBE_MUL_ADD] = as_bits(ab + c);
        out[PROBE_MUL_SUB] = as_bits(ab - cb);
        out[PROBE_FMA] = as_bits(fmaf(a, b, c));
        out[PROBE_SQRT] = as_bits(sqrtf(fabsf(a)));
        out[PROBE_DIVIDE] = as_bits(a / b);
        out[PROBE_INVERSE] = as_bits(1.0F / b);
        out[PROBE_COMPARE] = (uint32_t)(a < b) | (uint32_t)(a <= c) << 1 | (uint32_t)(b == c) << 2;
        out[PROBE_FLOOR] = as_bits(floorf(a));
        out[PROBE_TRUNCATE] = (uint32_t)(int32_t)a;
        out[PROBE_TO_INT] = (uint32_t)llrintf(a);
        put64(out, PROBE_TO_LONG, (uint64_t)llrintf(a));
        put64(out, PROBE_TO_LONG_BIG, (uint64_t)llrintf(ab * 1048576.0F));
        out[PROBE_FROM_UINT] = as_bits((float)x);
        out[PROBE_FROM_LONG] = as_bits((float)to_signed(u));
        out[PROBE_MULTIPLY] = x * y;
        out[PROBE_MUL_HI] = (uint32_t)((uint64_t)x * y >> 32);
        put64(out, PROBE_MULTIPLY64, u * v);
        put64(out, PROBE_MUL_HI64, high_product(u, v));
        out[PROBE_QUOTIENT] = x / (y >> s | 1u);
        out[PROBE_REMAINDER] = x % (y >> s | 1u);
        put64(out, PROBE_QUOTIENT64, u / (v >> 2 * s | 1u));
        put64(out, PROBE_REMAINDER64, u % (v >> 2 * s | 1u));
        out[PROBE_SHIFT_LEFT] = x << s;
        out[PROBE_SHIFT_RIGHT] = x >> s;
        out[PROBE_SHIFT_SIGNED] = shift_signed(x, s);
        put64(out, PROBE_SHIFT64, u << (s + 7u) ^ v >> (s + 32u));
        out[PROBE_ROTATE] = s ? x << s | x >> (32u - s) : x;
        out[PROBE_POPCOUNT_32] = count_bits(x);
        out[PROBE_POPCOUNT_64] = count_bits(u);
        out[PROBE_CLZ] = leading_zeros(x >> s);

        const uint32_t *k = in + PROBE_COUNTER;
        const struct ergo_words random = ergo_philox_words(k[0], k[1], k[2], k[3], k[4], k[5]);
        const uint32_t words[4] = {random.x, random.y, random.z, random.w};
        /* The published answers, not our own code's, where there are some. */
        memcpy(out + PROBE_PHILOX, item < ANSWERS ? philox_answers[item] + 6 : words, sizeof words);
    }
}

const char *ergo_probe_column_name(unsigned column) {
    static const struct {
        unsigned first;
        const char *name;
    } names[] = {
        {PROBE_WIDTHS, "integer widths"},
        {PROBE_MUL_ADD, "a*b+c without contraction"},
        {PROBE_MUL_SUB, "a*b-c*b without contraction"},
        {PROBE_FMA, "fma"},
        {PROBE_COMPARE, "float comparison"},
        {PROBE_FLOOR, "floor"},
        {PROBE_TRUNCATE, "float to int, truncated"},
        {PROBE_TO_INT, "convert_int_rte"},
        {PROBE_TO_LONG, "convert_long_rte"},
        {PROBE_TO_LONG_BIG, "convert_long_rte of large values"},
        {PROBE_FROM_UINT, "convert_float_rte of uint"},
        {PROBE_FROM_LONG, "convert_float_rte of long"},
        {PROBE_MULTIPLY, "32-bit multiplication"},
        {PROBE_MUL_HI, "mul_hi of uint"},
        {PROBE_MULTIPLY64, "64-bit multiplication"},
        {PROBE_MUL_HI64, "mul_hi of ulong"},
        {PROBE_QUOTIENT, "32-bit integer division"},
        {PROBE_REMAINDER, "32-bit remainder"},
        {PROBE_QUOTIENT64, "64-bit integer division"},
        {PROBE_REMAINDER64, "64-bit remainder"},
        {PROBE_SHIFT_LEFT, "shift left"},
        {PROBE_SHIFT_RIGHT, "shift right"},
        {PROBE_SHIFT_SIGNED, "shift right of signed"},
        {PROBE_SHIFT64, "64-bit shifts"},
        {PROBE_ROTATE, "rotate"},
        {PROBE_POPCOUNT_32, "popcount of uint"},
        {PROBE_POPCOUNT_64, "popcount of ulong"},
        {PROBE_CLZ, "clz"},
        {PROBE_PHILOX, "Philox4x32-10"},
        {PROBE_SQRT, "sqrt"},
        {PROBE_DIVIDE, "float division"},
        {PROBE_INVERSE, "float reciprocal"},
    };
    const char *name = "?";
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (names[i].first <= column)
            name = names[i].name;
    return name;
}

void ergo_probe_start_atomics(uint32_t *cells) {
    memset(cells, 0, CELL_COUNT * sizeof *cells);
    cells[CELL_MIN] = 0xffffffffu;
    cells[CELL_LOCAL_MIN] = 0xffffffffu;
}

void ergo_probe_expect_atomics(uint32_t *cells) {
    ergo_probe_start_atomics(cells);
    for (uint32_t item = 0; item < PROBE_CONTENDERS; item++) {
        const uint32_t word = ergo_probe_mix(item), bit = 1u << (item & 31u);
        cells[CELL_ADD] += 1;
        cells[CELL_SUB] -= word;
        cells[CELL_MIN] = word < cells[CELL_MIN] ? word : cells[CELL_MIN];
        cells[CELL_MAX] = word > cells[CELL_MAX] ? word : cells[CELL_MAX];
        cells[CELL_EXCHANGE] += word;
        cells[CELL_LOCAL_ADD] += word;
        cells[CELL_LOCAL_OR] |= bit & word;
        if (word & 64u)
            cells[CELL_WORDS + item / 32u] |= bit;
        if (word & 128u)
            cells[CELL_WORDS + PROBE_CONTENDERS / 32 + item / 32u] ^= bit;
    }
    cells[CELL_LOCAL_MIN] = cells[CELL_MIN];
}

void ergo_probe_start_atomics64(uint64_t *cells) {
    memset(cells, 0, CELL64_COUNT * sizeof *cells);
    cells[CELL64_MIN] = ~(uint64_t)0;
}

void ergo_probe_expect_atomics64(uint64_t *cells) {
    ergo_probe_start_atomics64(cells);
    for (uint32_t item = 0; item < PROBE_CONTENDERS; item++) {
        const uint64_t word = (uint64_t)ergo_probe_mix(item) << 32 | ergo_probe_mix(item + 77u);
        cells[CELL64_ADD] += word;
        cells[CELL64_MIN] = word < cells[CELL64_MIN] ? word : cells[CELL64_MIN];
        cells[CELL64_MAX] = word > cells[CELL64_MAX] ? word : cells[CELL64_MAX];
        cells[CELL64_OR] |= word & (uint64_t)1 << (item & 63u);
    }
}

uint32_t ergo_probe_expect_barriers(uint32_t group, uint32_t size, uint32_t *scratch) {
    uint32_t sum = 0;
    for (uint32_t i = 0; i < size; i++)
        scratch[i] = ergo_probe_mix(group * size + i);
    for (uint32_t round = 0; round < PROBE_ROUNDS; round++) {
        const uint32_t first = scratch[0];
        for (uint32_t i = 0; i < size; i++)
            scratch[i] = (i + 1 < size ? scratch[i + 1] : first) * 1664525u + i + round;
    }
    for (uint32_t i = 0; i < size; i++)
        sum += scratch[i];
    return sum;
}
