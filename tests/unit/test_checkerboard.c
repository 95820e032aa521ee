/* Rows of bits and of bytes, as states have them, against their definition site by site. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/bits.h"
#include "engine/fields.h"

static void test_row_of_bits(void **state) {
    (void)state;
    const uint8_t row[5] = {0x01, 0x00, 0x80, 0x10, 0x00};
    uint32_t word;
    memcpy(&word, row, 4);
    for (size_t i = 0; i < 40; i++)
        assert_int_equal(ergo_bits_get(row, i), i == 0 || i == 23 || i == 28);
    for (size_t i = 0; i < 32; i++)
        assert_int_equal(ergo_bits_get(row, i), word >> i & 1);
    for (size_t n = 25; n <= 40; n++) {
        assert_int_equal(ergo_bits_bytes(n), n <= 32 ? 4 : 5);
        assert_int_equal(ergo_bits_clean(row, n), n > 28);
    }
    assert_true(ergo_bits_clean(row, 24)); /* what follows the row is not its own */
}

/* Random sites, or bytes. */
static unsigned value_of(size_t bits) {
    static uint32_t x = 1;
    x = x * 1664525 + 1013904223;
    return x >> 24 & (bits == 1 ? 1 : 255);
}

/* Row `row` of a lattice between `sites`, colours of `colour` bytes with rows `pitch` apart, and
 * `packed`. */
static struct ergo_field_row row_of(const struct ergo_extent *x, size_t row, uint8_t *sites,
                                    size_t pitch, size_t colour, uint8_t *packed) {
    return (struct ergo_field_row){.row = row,
                                   .x = x,
                                   .raw = sites + row * pitch,
                                   .plane = colour,
                                   .bytes = packed + row * x->bytes};
}

/* Every site at its place, and back; rows are apart by more than they hold. */
static void test_round_trip(void **state) {
    static const uint64_t sides[][3] = {{2, 2, 1},  {2, 4, 6},  {6, 1, 1},   {10, 4, 2}, {16, 2, 2},
                                        {64, 6, 1}, {66, 2, 4}, {126, 4, 1}, {130, 6, 2}};
    (void)state;
    for (size_t k = 0; k < 2 * sizeof sides / sizeof sides[0]; k++) {
        const uint64_t *l = sides[k / 2];
        const size_t bits = k % 2 ? 8 : 1, lx = (size_t)l[0], rows = (size_t)(l[1] * l[2]);
        const size_t pitch = ergo_bits_bytes(bits * lx / 2) + 3, colour = rows * pitch + 5;
        struct ergo_extent x = {0};
        if (bits == 8)
            ergo_extent_lattice(&x, l, 3, 1);
        else
            ergo_extent_bits(&x, l, 3);
        const size_t row_bytes = x.bytes;
        assert_int_equal(row_bytes, bits == 8 ? lx : (lx + 7) / 8);
        assert_int_equal(x.rows, rows);
        uint8_t *sites = calloc(2, colour), *back = calloc(2, colour);
        uint8_t *packed = malloc(rows * row_bytes), *plain = calloc(rows, row_bytes);
        assert_true(sites && back && packed && plain);
        for (size_t row = 0; row < rows; row++)
            for (size_t i = 0; i < lx; i++) {
                const unsigned value = value_of(bits);
                const size_t other = (i + row % l[1] + row / l[1]) & 1, at = bits * (i / 2);
                plain[row * row_bytes + bits * i / 8] |= (uint8_t)(value << (bits * i % 8));
                sites[other * colour + row * pitch + at / 8] |= (uint8_t)(value << (at % 8));
            }
        memset(packed, 0xaa, rows * row_bytes);
        for (size_t row = 0; row < rows; row++) {
            const struct ergo_field_row r = row_of(&x, row, sites, pitch, colour, packed);
            ergo_take_checkerboard(&r);
        }
        assert_memory_equal(packed, plain, rows * row_bytes);
        for (size_t row = 0; row < rows; row++) {
            const struct ergo_field_row r = row_of(&x, row, back, pitch, colour, packed);
            ergo_put_checkerboard(&r);
        }
        assert_memory_equal(back, sites, 2 * colour);
        free(sites);
        free(back);
        free(packed);
        free(plain);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_row_of_bits),
        cmocka_unit_test(test_round_trip),
    };
    return cmocka_run_group_tests_name("checkerboard", tests, NULL, NULL);
}
