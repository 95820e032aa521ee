/* Clusters of slabs from pairs of their parts: against labels that are lowered until nothing
 * changes; names of the own parts alone, in any order of pairs, with memory of larger sweeps. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "samplers/swendsen_wang/sites/slab_pairs.h"

enum { NAMES = 600, BONDS = 250, NONE = -1, LARGE = 1u << 28 };

static uint32_t found[NAMES], times[NAMES];

static void take(void *user, uint32_t part, uint32_t name) {
    const uint32_t *first = user;
    assert_in_range(part - LARGE, *first, *first + NAMES / 3 - 1);
    found[part - LARGE] = name - LARGE;
    times[part - LARGE]++;
}

static uint64_t state = 1;
static uint32_t below(uint32_t n) {
    state = state * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return (uint32_t)(state >> 33) % n;
}

static void test_joined(void **unused) {
    struct sw_slab_pairs p = {0};
    (void)unused;
    for (int round = 0; round < 40; round++) {
        uint32_t near[BONDS], far[BONDS], expected[NAMES];
        const size_t bonds = round ? below(BONDS) : BONDS;
        for (size_t k = 0; k < bonds; k++) {
            near[k] = below(8) ? LARGE + below(NAMES) : (uint32_t)NONE;
            far[k] = LARGE + below(NAMES);
            if (k > 0 && below(3) == 0) { /* the same pair again */
                near[k] = near[k - 1];
                far[k] = far[k - 1];
            }
        }
        for (uint32_t i = 0; i < NAMES; i++)
            expected[i] = i;
        for (int changed = 1; changed;) {
            changed = 0;
            for (size_t k = 0; k < bonds; k++) {
                if (near[k] == (uint32_t)NONE)
                    continue;
                uint32_t *a = &expected[near[k] - LARGE], *b = &expected[far[k] - LARGE];
                changed |= *a != *b;
                *a = *b = *a < *b ? *a : *b;
            }
        }
        assert_true(sw_pairs_find(&p, near, far, bonds, (uint32_t)NONE));
        for (size_t i = 0; i < p.n; i++)
            for (size_t k = 0; k < i; k++)
                assert_false(p.pairs[i].a == p.pairs[k].a && p.pairs[i].b == p.pairs[k].b);
        struct sw_slab_pair pairs[BONDS];
        const size_t n = p.n;
        for (size_t i = 0; i < n; i++)
            pairs[i] = p.pairs[n - 1 - i];
        assert_true(sw_pairs_join(&p, pairs, n));
        for (uint32_t i = 0; i < NAMES; i++) {
            found[i] = i;
            times[i] = 0;
        }
        for (uint32_t rank = 0; rank < 3; rank++) {
            uint32_t first = rank * (NAMES / 3);
            sw_pairs_renamed(&p, LARGE + (uint64_t)first, NAMES / 3, take, &first);
        }
        assert_memory_equal(found, expected, sizeof found);
        for (uint32_t i = 0; i < NAMES; i++)
            assert_int_equal(times[i], expected[i] != i);
    }
    sw_pairs_free(&p);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_joined)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
