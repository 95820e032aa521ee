/* How ranks of a host divide its cores: a pure function, so no MPI is needed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "dist/dist.h"

enum { RANKS = 8 };

static void may_use(cpu_set_t *mask, size_t first, size_t count) {
    CPU_ZERO(mask);
    for (size_t core = first; core < first + count; core++)
        CPU_SET(core, mask);
}

static const bool all[RANKS] = {true, true, true, true, true, true, true, true};

static void test_not_bound(void **state) {
    static const unsigned cores[] = {1, 2, 6, 16, 64}, ranks[] = {1, 2, 3, 4, 8};
    static const unsigned expected[5][5] = {
        {1, 1, 1, 1, 1}, {2, 1, 1, 1, 1}, {6, 3, 2, 1, 1}, {16, 8, 5, 4, 2}, {64, 32, 21, 16, 8}};
    cpu_set_t masks[RANKS];
    (void)state;
    for (int c = 0; c < 5; c++)
        for (int r = 0; r < 5; r++) {
            for (size_t k = 0; k < RANKS; k++)
                may_use(&masks[k], 0, cores[c]);
            assert_int_equal(ergo_dist_threads(masks, all, (int)ranks[r], (int)ranks[r] - 1),
                             expected[c][r]);
        }
}

/* What a launcher has bound to different cores is divided already. */
static void test_bound(void **state) {
    cpu_set_t masks[RANKS];
    (void)state;
    for (size_t k = 0; k < RANKS; k++)
        may_use(&masks[k], 8 * (k / 2), 8); /* pairs in sockets of eight */
    for (size_t k = 0; k < RANKS; k++)
        assert_int_equal(ergo_dist_threads(masks, all, RANKS, (int)k), 4);
    for (size_t k = 0; k < RANKS; k++)
        may_use(&masks[k], 2 * k, 2);
    assert_int_equal(ergo_dist_threads(masks, all, RANKS, 5), 2);
}

/* Seven ranks drive GPUs, each from a core: the eighth has the others. */
static void test_others_have_gpus(void **state) {
    const bool one[RANKS] = {[7] = true}, two[RANKS] = {[6] = true, [7] = true};
    cpu_set_t masks[RANKS];
    (void)state;
    for (size_t k = 0; k < RANKS; k++)
        may_use(&masks[k], 3, 16);
    assert_int_equal(ergo_dist_threads(masks, one, RANKS, 7), 9);
    assert_int_equal(ergo_dist_threads(masks, two, RANKS, 7), 5); /* half of ten */
    for (size_t k = 0; k < 7; k++)
        may_use(&masks[k], k, 1); /* bound: cores 3 to 6 are this rank's too */
    assert_int_equal(ergo_dist_threads(masks, one, RANKS, 7), 12);
    for (size_t k = 0; k < RANKS; k++)
        may_use(&masks[k], 0, 4); /* more GPUs than cores */
    assert_int_equal(ergo_dist_threads(masks, one, RANKS, 7), 1);
}

static void test_not_known(void **state) {
    cpu_set_t masks[RANKS];
    (void)state;
    memset(masks, 0, sizeof masks);
    assert_int_equal(ergo_dist_threads(masks, all, RANKS, 0), 0);
}

/* Bound to one core of sixteen, of which two ranks might have eight each. */
static void test_bound_to_less(void **state) {
    (void)state;
    assert_true(ergo_dist_is_bound(1, 16, 2));
    assert_true(ergo_dist_is_bound(7, 16, 2));
    assert_false(ergo_dist_is_bound(8, 16, 2));  /* its share */
    assert_false(ergo_dist_is_bound(16, 16, 2)); /* not bound */
    assert_false(ergo_dist_is_bound(1, 2, 4));   /* more ranks than cores */
    assert_false(ergo_dist_is_bound(1, 16, 1));  /* the user's own wish */
    assert_false(ergo_dist_is_bound(0, 16, 2));  /* not known */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_not_bound),        cmocka_unit_test(test_bound),
        cmocka_unit_test(test_others_have_gpus), cmocka_unit_test(test_not_known),
        cmocka_unit_test(test_bound_to_less),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
