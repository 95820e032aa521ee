/* Both colours of a checkerboard to a row in natural order and back, eight bytes at a time. */
#include "base/bits.h"

#include <string.h>

static const uint64_t masks[] = {UINT64_C(0x5555555555555555), UINT64_C(0x3333333333333333),
                                 UINT64_C(0x0f0f0f0f0f0f0f0f), UINT64_C(0x00ff00ff00ff00ff),
                                 UINT64_C(0x0000ffff0000ffff), UINT64_C(0x00000000ffffffff)};

/* Site i of a word, of 2^first bits (0 or 3), to site 2i, and back. */
static inline uint64_t spread(uint64_t x, int first) {
    for (int k = 4; k >= first; k--)
        x = (x | x << (1 << k)) & masks[k];
    return x;
}

static inline uint32_t gather(uint64_t x, int first) {
    x &= masks[first];
    for (int k = first; k < 5; k++)
        x = (x | x >> (1 << k)) & masks[k + 1];
    return (uint32_t)x;
}

/* `n` bytes of a row, up to eight, and half as many of each colour. */
static inline void join_some(unsigned bits, const uint8_t *even, const uint8_t *odd, size_t n,
                             uint8_t *packed) {
    uint32_t a = 0, b = 0;
    memcpy(&a, even, (n + 1) / 2);
    memcpy(&b, odd, (n + 1) / 2);
    const uint64_t both =
        bits == 8 ? spread(a, 3) | spread(b, 3) << 8 : spread(a, 0) | spread(b, 0) << 1;
    memcpy(packed, &both, n);
}

static inline void part_some(unsigned bits, const uint8_t *packed, size_t n, uint8_t *even,
                             uint8_t *odd) {
    uint64_t both = 0;
    memcpy(&both, packed, n);
    const uint32_t a = bits == 8 ? gather(both, 3) : gather(both, 0);
    const uint32_t b = bits == 8 ? gather(both >> 8, 3) : gather(both >> 1, 0);
    memcpy(even, &a, (n + 1) / 2);
    memcpy(odd, &b, (n + 1) / 2);
}

void ergo_bits_join(unsigned bits, const void *even, const void *odd, size_t bytes, void *row) {
    const uint8_t *a = even, *b = odd;
    uint8_t *to = row;
    size_t at = 0;
    for (; at + 8 <= bytes; at += 8)
        join_some(bits, a + at / 2, b + at / 2, 8, to + at);
    join_some(bits, a + at / 2, b + at / 2, bytes - at, to + at);
}

void ergo_bits_part(unsigned bits, const void *row, size_t bytes, void *even, void *odd) {
    const uint8_t *from = row;
    uint8_t *a = even, *b = odd;
    size_t at = 0;
    for (; at + 8 <= bytes; at += 8)
        part_some(bits, from + at, 8, a + at / 2, b + at / 2);
    part_some(bits, from + at, bytes - at, a + at / 2, b + at / 2);
}
