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

/*
 * How a device has a checkerboard: two colours of `colour` bytes, in which rows are `pitch` bytes
 * apart. A row of one colour has every other site of the lattice's row; colour 0 has those with x +
 * y + z even. Row y + ly z is the lattice's row at y, z.
 */
struct ergo_checkerboard {
    size_t bits;         /* of a site: 1 or 8 */
    size_t lx, ly, rows; /* sites of a row, an even number; rows of a layer, and of all layers */
    size_t pitch, colour;
};

/* Bytes of a row in natural order, and of all rows. */
static inline size_t ergo_checkerboard_row_bytes(const struct ergo_checkerboard *s) {
    return ergo_bits_bytes(s->bits * s->lx);
}

static inline size_t ergo_checkerboard_bytes(const struct ergo_checkerboard *s) {
    return s->rows * ergo_checkerboard_row_bytes(s);
}

/* One row of a lattice as the device has it, or all, in natural order. */
void ergo_checkerboard_pack_row(const struct ergo_checkerboard *s, const void *sites, size_t row,
                                uint8_t *packed);
void ergo_checkerboard_pack(const struct ergo_checkerboard *s, const void *sites, uint8_t *rows);
/* And back; what is no site becomes zero. False: an unused bit of a row is set. */
bool ergo_checkerboard_unpack(const struct ergo_checkerboard *s, const uint8_t *rows, void *sites);

#endif
