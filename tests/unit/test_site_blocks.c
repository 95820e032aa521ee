/* Parts of clusters in a block of 16 sites (cl/swendsen_wang/sites_block.h), against labels that
 * are lowered along bonds until nothing changes: cubic, square, triangular; bits that bytes hold.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static struct { uint32_t lz, lattice, directions; } job;

#define SW_Q 2u
#define SW_LX 64u
#define SW_LY 64u
#define SW_LZ job.lz
#define SW_LATTICE job.lattice
#define SW_DIRECTIONS job.directions
#define SW_OPEN 0u
#define SW_ANTI 0u
#include "swendsen_wang/sites_block.h"

static uint64_t state = 7;
static uint32_t bits16(unsigned rare) { /* each set with probability 2^-rare */
    uint32_t word = 0xffff;
    for (unsigned k = 0; k < rare; k++) {
        state = state * UINT64_C(6364136223846793005) + 1442695040888963407u;
        word &= (uint32_t)(state >> 40);
    }
    return word;
}

/* By places in the block; 16: the next site lies in another one. */
static uint32_t next_of(uint32_t i, uint32_t d) {
    const uint32_t x = i % 4, y = job.lz > 1 ? i / 4 % 2 : i / 4, z = job.lz > 1 ? i / 8 : 0;
    const uint32_t diagonal = job.lattice == SW_LATTICE_TRIANGULAR && d == 2;
    const uint32_t nx = x + (d == 0 || diagonal), ny = y + (d == 1 || diagonal);
    const uint32_t nz = z + (d == 2 && !diagonal), sides = job.lz > 1 ? 2 : 4;
    if (nx > 3 || ny >= sides || nz > (job.lz > 1 ? 1u : 0u))
        return 16;
    return nx + 4 * ny + 8 * nz;
}

static void compare(uint32_t lz, uint32_t lattice, uint32_t directions) {
    job.lz = lz;
    job.lattice = lattice;
    job.directions = directions;
    for (int round = 0; round < 3000; round++) {
        const unsigned rare = (unsigned)round % 4;
        const uint32_t active[3] = {bits16(rare), bits16(rare), directions > 2 ? bits16(rare) : 0};
        uint32_t expected[16], firsts = 0;
        for (uint32_t i = 0; i < 16; i++)
            expected[i] = i;
        for (int changed = 1; changed;) {
            changed = 0;
            for (uint32_t k = 0; k < 48; k++) {
                const uint32_t i = k % 16, next = next_of(i, k / 16);
                if (next == 16 || !(active[k / 16] >> i & 1))
                    continue;
                changed |= expected[i] != expected[next];
                expected[i] = expected[next] =
                    expected[i] < expected[next] ? expected[i] : expected[next];
            }
        }
        const struct sw_block_parts parts = sw_parts_of(active[0], active[1], active[2]);
        for (uint32_t i = 0; i < 16; i++)
            assert_int_equal(sw_part_of(parts, i), expected[i]);
        for (uint32_t rest = sw_parts_firsts(parts); rest; rest &= rest - 1)
            firsts |= 1u << sw_first_site(rest);
        for (uint32_t i = 0; i < 16; i++)
            assert_int_equal(firsts >> i & 1, expected[i] == i);
    }
}

static void test_parts(void **unused) {
    (void)unused;
    compare(8, SW_LATTICE_SQUARE, 3);
    compare(1, SW_LATTICE_SQUARE, 2);
    compare(1, SW_LATTICE_TRIANGULAR, 3);
}

static void test_bits(void **unused) {
    (void)unused;
    for (uint32_t k = 0; k < 16; k++)
        assert_int_equal(sw_four_bits((k & 1) | (k >> 1 & 1) << 8 | (k >> 2 & 1) << 16 |
                                      k >> 3 << 24 | 0xf6f6f6f6),
                         k);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_parts), cmocka_unit_test(test_bits)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
