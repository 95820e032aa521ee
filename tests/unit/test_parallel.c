/* Work by all cores: every piece once, whatever the number of pieces. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/parallel.h"

static atomic_int done[3000];

static void work(size_t i, void *user) {
    atomic_fetch_add(&done[i], *(int *)user);
}

static void each_piece_once(void **state) {
    static const size_t counts[] = {0, 1, 2, 3, 100, 3000};
    int one = 1;
    (void)state;
    for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++) {
        for (size_t i = 0; i < 3000; i++)
            done[i] = 0;
        ergo_parallel(counts[c], work, &one);
        for (size_t i = 0; i < 3000; i++)
            assert_int_equal(done[i], i < counts[c]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_piece_once)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
