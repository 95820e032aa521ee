/* Work by all cores: every piece once, whatever the number of pieces. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include <cmocka.h>

#include "base/parallel.h"

static atomic_int done[3000];
static atomic_size_t at_work, most_at_work;

static void work(size_t i, void *user) {
    const size_t now = atomic_fetch_add(&at_work, 1) + 1;
    size_t before = most_at_work;
    while (before < now && !atomic_compare_exchange_weak(&most_at_work, &before, now))
        ;
    if (i < 4) /* long enough for others to begin */
        nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
    atomic_fetch_add(&done[i], *(int *)user);
    atomic_fetch_sub(&at_work, 1);
}

static void each_piece_once(void **state) {
    static const size_t counts[] = {0, 1, 2, 3, 100, 3000}, most[] = {SIZE_MAX, 1, 2};
    int one = 1;
    (void)state;
    for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++) {
        for (size_t i = 0; i < 3000; i++)
            done[i] = 0;
        most_at_work = 0;
        ergo_parallel(counts[c], most[c % 3], work, &one);
        assert_true(most_at_work <= most[c % 3]);
        for (size_t i = 0; i < 3000; i++)
            assert_int_equal(done[i], i < counts[c]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_piece_once)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
