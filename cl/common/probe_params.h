/* Sizes and columns of the start-up probe, shared by host (src/device/probe.c) and device. */
#ifndef ERGO_CL_PROBE_PARAMS_H
#define ERGO_CL_PROBE_PARAMS_H

#include "common/compat.h"

/* Inputs of one item of probe_arithmetic, one word each. */
enum ergo_probe_input {
    PROBE_A, /* floats as bits, normal, magnitude 2^-20 to 2^20 */
    PROBE_B,
    PROBE_C,
    PROBE_X, /* any words */
    PROBE_Y,
    PROBE_Z,
    PROBE_W,
    PROBE_S, /* a shift, 0 to 31 */
    PROBE_COUNTER,
    PROBE_KEY = PROBE_COUNTER + 4,
    PROBE_INPUTS = PROBE_KEY + 2
};

/* Results of one item, one word each; 64-bit results take two, low word first. */
enum ergo_probe_column {
    PROBE_WIDTHS,
    PROBE_MUL_ADD,
    PROBE_MUL_SUB,
    PROBE_FMA,
    PROBE_COMPARE,
    PROBE_FLOOR,
    PROBE_TRUNCATE,
    PROBE_TO_INT,
    PROBE_TO_LONG,
    PROBE_TO_LONG_BIG = PROBE_TO_LONG + 2,
    PROBE_FROM_UINT = PROBE_TO_LONG_BIG + 2,
    PROBE_FROM_LONG,
    PROBE_MULTIPLY,
    PROBE_MUL_HI,
    PROBE_MULTIPLY64,
    PROBE_MUL_HI64 = PROBE_MULTIPLY64 + 2,
    PROBE_QUOTIENT = PROBE_MUL_HI64 + 2,
    PROBE_REMAINDER,
    PROBE_QUOTIENT64,
    PROBE_REMAINDER64 = PROBE_QUOTIENT64 + 2,
    PROBE_SHIFT_LEFT = PROBE_REMAINDER64 + 2,
    PROBE_SHIFT_RIGHT,
    PROBE_SHIFT_SIGNED,
    PROBE_SHIFT64,
    PROBE_ROTATE = PROBE_SHIFT64 + 2,
    PROBE_POPCOUNT_32,
    PROBE_POPCOUNT_64,
    PROBE_CLZ,
    PROBE_PHILOX,
    /* From here on a difference means a missing capability and no defect. */
    PROBE_SQRT = PROBE_PHILOX + 4,
    PROBE_DIVIDE,
    PROBE_INVERSE,
    PROBE_COLUMNS
};

enum ergo_probe_size {
    PROBE_ITEMS = 512,       /* of probe_arithmetic */
    PROBE_CONTENDERS = 2048, /* work-items of the atomics kernels */
    PROBE_GROUP = 64, /* work-group of the atomics kernels; every device must be able to run it */
    PROBE_ROUNDS = 3, /* exchanges of probe_barriers */
    PROBE_GROUPS = 2  /* work-groups of probe_barriers */
};

/* Cells of probe_atomics. The last ones hold a bit per work-item: one word per 32 items for `or`,
 * then as many for `xor`. */
enum ergo_probe_cell {
    CELL_ADD,
    CELL_SUB,
    CELL_MIN,
    CELL_MAX,
    CELL_EXCHANGE,
    CELL_LOCAL_ADD,
    CELL_LOCAL_MIN,
    CELL_LOCAL_OR,
    CELL_WORDS,
    CELL_COUNT = CELL_WORDS + 2 * (PROBE_CONTENDERS / 32)
};

/* Cells of probe_atomics64. */
enum ergo_probe_cell64 { CELL64_ADD, CELL64_MIN, CELL64_MAX, CELL64_OR, CELL64_COUNT };

/* A mixed word for item i. Small enough that it is right wherever 32-bit multiplication is. */
ERGO_INLINE uint ergo_probe_mix(uint i) {
    uint h = (i + 1u) * 0x9E3779B9u;
    h ^= h >> 16;
    return h * 0x85EBCA6Bu;
}

#endif
