/* Work by all cores: every piece once, whatever the number of pieces. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include <cmocka.h>

#include "base/parallel.h"
#include "base/text.h"

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

/* Rows in order, whatever their number; a row that has no memory is told. */
static void append_row(struct ergo_text *text, size_t row, const void *user) {
    ergo_text_append(text, "%zu of %s\n", row, (const char *)user);
}

static void rows_in_order(void **state) {
    static const size_t counts[] = {0, 1, 4096, 4097, 100000, 4096 * 256 + 7};
    (void)state;
    for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++) {
        struct ergo_text rows = {0}, expected = {0};
        ergo_text_append(&rows, "head\n");
        ergo_text_append(&expected, "head\n");
        ergo_text_append_rows(&rows, counts[c], append_row, "all");
        for (size_t i = 0; i < counts[c]; i++)
            append_row(&expected, i, "all");
        assert_false(rows.failed);
        assert_int_equal(rows.length, expected.length);
        assert_memory_equal(rows.data, expected.data, rows.length + 1);
        ergo_text_free(&rows);
        ergo_text_free(&expected);
    }
}

/* Every number once, in ranges that are not shorter than asked. */
static atomic_size_t shortest;

static void range(size_t begin, size_t end, void *user) {
    assert_true(begin < end && end <= 3000);
    for (size_t i = begin; i < end; i++)
        atomic_fetch_add(&done[i], 1);
    size_t before = shortest;
    while (end < *(size_t *)user && end - begin < before &&
           !atomic_compare_exchange_weak(&shortest, &before, end - begin))
        ;
}

static void ranges_of_a_length(void **state) {
    static const size_t counts[] = {0, 1, 99, 100, 101, 2999}, least[] = {1, 100, 2000};
    (void)state;
    for (size_t c = 0; c < 18; c++) {
        size_t n = counts[c / 3];
        for (size_t i = 0; i < 3000; i++)
            done[i] = 0;
        shortest = SIZE_MAX;
        ergo_parallel_ranges(n, least[c % 3], range, &n);
        assert_true(shortest >= least[c % 3]);
        for (size_t i = 0; i < 3000; i++)
            assert_int_equal(done[i], i < n);
    }
}

/* Work within work is done, by one core. */
static void inner(size_t i, void *user) {
    (void)i;
    ergo_parallel(100, SIZE_MAX, work, user);
}

static void within_work(void **state) {
    int one = 1;
    (void)state;
    for (size_t i = 0; i < 3000; i++)
        done[i] = 0;
    ergo_parallel(8, SIZE_MAX, inner, &one);
    for (size_t i = 0; i < 3000; i++)
        assert_int_equal(done[i], i < 100 ? 8 : 0);
}

static void count(size_t i, void *user) {
    atomic_fetch_add(&done[i], *(int *)user);
}

/* The second call has the same threads, and many follow each other at once. */
static void many_calls(void **state) {
    int one = 1;
    (void)state;
    for (size_t i = 0; i < 3000; i++)
        done[i] = 0;
    for (int k = 0; k < 20000; k++)
        ergo_parallel(3, SIZE_MAX, count, &one);
    assert_int_equal(done[0] + done[1] + done[2], 60000);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_piece_once),
                                       cmocka_unit_test(rows_in_order),
                                       cmocka_unit_test(ranges_of_a_length),
                                       cmocka_unit_test(within_work), cmocka_unit_test(many_calls)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
