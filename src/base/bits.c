/* Both colours of a checkerboard to rows in natural order and back, eight bytes at a time. */
#include "base/bits.h"

#include <string.h>

#include "base/parallel.h"

enum { WORTHWHILE = 1 << 18 }; /* bytes that are worth another core */

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
static inline void pack_some(size_t bits, const uint8_t *even, const uint8_t *odd, size_t n,
                             uint8_t *packed) {
    uint32_t a = 0, b = 0;
    memcpy(&a, even, (n + 1) / 2);
    memcpy(&b, odd, (n + 1) / 2);
    const uint64_t both =
        bits == 8 ? spread(a, 3) | spread(b, 3) << 8 : spread(a, 0) | spread(b, 0) << 1;
    memcpy(packed, &both, n);
}

static inline void unpack_some(size_t bits, const uint8_t *packed, size_t n, uint8_t *even,
                               uint8_t *odd) {
    uint64_t both = 0;
    memcpy(&both, packed, n);
    const uint32_t a = bits == 8 ? gather(both, 3) : gather(both, 0);
    const uint32_t b = bits == 8 ? gather(both >> 8, 3) : gather(both >> 1, 0);
    memcpy(even, &a, (n + 1) / 2);
    memcpy(odd, &b, (n + 1) / 2);
}

/* Where a row has its even x, odd = 0, or its odd x, 1. */
static size_t place_of(const struct ergo_checkerboard *s, size_t row, size_t odd) {
    return row * s->pitch + ((row % s->ly + row / s->ly + odd) & 1) * s->colour;
}

void ergo_checkerboard_pack_row(const struct ergo_checkerboard *s, const void *sites, size_t row,
                                uint8_t *packed) {
    const uint8_t *even = (const uint8_t *)sites + place_of(s, row, 0);
    const uint8_t *odd = (const uint8_t *)sites + place_of(s, row, 1);
    const size_t bytes = ergo_checkerboard_row_bytes(s), whole = bytes / 8 * 8;
    for (size_t at = 0; at < whole; at += 8)
        pack_some(s->bits, even + at / 2, odd + at / 2, 8, packed + at);
    pack_some(s->bits, even + whole / 2, odd + whole / 2, bytes - whole, packed + whole);
}

struct pack {
    const struct ergo_checkerboard *s;
    const void *sites;
    uint8_t *rows;
};

static void pack_rows(size_t begin, size_t end, void *user) {
    const struct pack *p = user;
    for (size_t row = begin; row < end; row++)
        ergo_checkerboard_pack_row(p->s, p->sites, row,
                                   p->rows + row * ergo_checkerboard_row_bytes(p->s));
}

void ergo_checkerboard_pack(const struct ergo_checkerboard *s, const void *sites, uint8_t *rows) {
    ergo_parallel_ranges(s->rows, WORTHWHILE / ergo_checkerboard_row_bytes(s) + 1, pack_rows,
                         &(struct pack){s, sites, rows});
}

bool ergo_checkerboard_unpack(const struct ergo_checkerboard *s, const uint8_t *rows, void *sites) {
    const size_t bytes = ergo_checkerboard_row_bytes(s), whole = bytes / 8 * 8;
    bool clean = true;
    memset(sites, 0, 2 * s->colour);
    for (size_t row = 0; row < s->rows; row++, rows += bytes) {
        uint8_t *even = (uint8_t *)sites + place_of(s, row, 0);
        uint8_t *odd = (uint8_t *)sites + place_of(s, row, 1);
        for (size_t at = 0; at < whole; at += 8)
            unpack_some(s->bits, rows + at, 8, even + at / 2, odd + at / 2);
        unpack_some(s->bits, rows + whole, bytes - whole, even + whole / 2, odd + whole / 2);
        clean = clean && ergo_bits_clean(rows, s->bits * s->lx);
    }
    return clean;
}
