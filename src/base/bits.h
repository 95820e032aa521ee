/*
 * Lattices as saved states have them: rows of bits, or of bytes. Bit i of a row is bit i % 8 of
 * byte i / 8, and the unused bits of its last byte are zero. Hosts are little-endian (see
 * device/device.c), so it is bit i % 32 of word i / 32, too.
 */
#ifndef ERGO_BASE_BITS_H
#define ERGO_BASE_BITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes of a row of n bits. */
static inline size_t ergo_bits_bytes(size_t n) {
    return (n + 7) / 8;
}

static inline unsigned ergo_bits_get(const void *row, size_t i) {
    return (unsigned)((const uint8_t *)row)[i / 8] >> (i % 8) & 1u;
}

/* Are the unused bits of a row of n zero? If not, it is damaged. */
static inline bool ergo_bits_clean(const void *row, size_t n) {
    return n % 8 == 0 || (unsigned)((const uint8_t *)row)[n / 8] >> (n % 8) == 0;
}

/* A row of a checkerboard, of sites of `bits`, 1 or 8, in `bytes` bytes: from the sites with even
 * and those with odd x, which a device has apart, to natural order, and back. What is beyond the
 * row's end there is written as far as its last byte reaches. */
void ergo_bits_join(unsigned bits, const void *even, const void *odd, size_t bytes, void *row);
void ergo_bits_part(unsigned bits, const void *row, size_t bytes, void *even, void *odd);

#endif
