/* Who makes which point: nobody has a point that can do nothing, no point is without a rank, and
 * the last rank ends about as soon as the sum of all speeds allows. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>

#include "run/deal.h"

enum { POINTS = 64, RANKS = 4 };
static const uint32_t NOBODY = ERGO_DEAL_NOBODY;

struct fixture {
    double work[POINTS], speeds[RANKS], starts[RANKS];
    uint32_t owners[POINTS];
    struct ergo_deal deal;
};

static void make(struct fixture *f, size_t points, size_t ranks) {
    *f = (struct fixture){.deal = {points, ranks, f->work, f->speeds, NULL, f->owners}};
    for (size_t i = 0; i < points; i++) {
        f->work[i] = 1;
        f->owners[i] = NOBODY;
    }
    for (size_t r = 0; r < ranks; r++)
        f->speeds[r] = 1;
}

static size_t count(const struct fixture *f, uint32_t rank) {
    size_t n = 0;
    for (size_t i = 0; i < f->deal.n_points; i++)
        n += f->work[i] > 0 && f->owners[i] == rank;
    return n;
}

static void deal(struct fixture *f) {
    assert_true(ergo_deal(&f->deal));
    for (size_t i = 0; i < f->deal.n_points; i++)
        assert_true(f->owners[i] < f->deal.ranks);
}

static void seconds_are_those_of_the_last(void **unused) {
    struct fixture f;
    (void)unused;
    make(&f, 3, 2);
    assert_true(isinf(ergo_deal_seconds(&f.deal))); /* nobody has them */
    f.owners[0] = f.owners[1] = 0;
    f.owners[2] = 1;
    f.speeds[1] = 0.25;
    assert_float_equal(ergo_deal_seconds(&f.deal), 4, 1e-12);
    f.speeds[1] = 0;
    assert_true(isinf(ergo_deal_seconds(&f.deal)));
    f.work[2] = 0; /* is done */
    assert_float_equal(ergo_deal_seconds(&f.deal), 2, 1e-12);
    f.owners[2] = NOBODY;
    f.deal.starts = f.starts;
    f.starts[0] = 3;
    f.starts[1] = 9; /* has nothing to begin */
    assert_float_equal(ergo_deal_seconds(&f.deal), 5, 1e-12);
}

static void shares_are_as_speeds(void **unused) {
    struct fixture f;
    (void)unused;
    make(&f, 64, 3);
    f.speeds[0] = 1;
    f.speeds[1] = 10;
    f.speeds[2] = 5;
    deal(&f);
    assert_int_equal(count(&f, 0), 4);
    assert_int_equal(count(&f, 1), 40);
    assert_int_equal(count(&f, 2), 20);
    for (size_t i = 1; i < 64; i++) /* neighbours stay together */
        assert_true(f.owners[i] >= f.owners[i - 1]);
    assert_float_equal(ergo_deal_seconds(&f.deal), 4, 1e-12);
}

/* A slow rank gets nothing that would end after all else. */
static void what_would_be_late_goes_elsewhere(void **unused) {
    struct fixture f;
    (void)unused;
    make(&f, 3, 2);
    f.speeds[0] = 8;
    f.speeds[1] = 1;
    deal(&f);
    assert_int_equal(count(&f, 0), 3);
    make(&f, 2, 2); /* one begins late */
    f.deal.starts = f.starts;
    f.starts[1] = 1.5;
    deal(&f);
    assert_int_equal(count(&f, 0), 2);
}

static void fewer_points_than_ranks(void **unused) {
    struct fixture f;
    (void)unused;
    make(&f, 2, 4);
    deal(&f);
    assert_true(f.owners[0] != f.owners[1]);
    assert_float_equal(ergo_deal_seconds(&f.deal), 1, 1e-12);
}

static void points_of_the_dead_are_rescued(void **unused) {
    struct fixture f;
    (void)unused;
    make(&f, 12, 3);
    deal(&f);
    assert_int_equal(count(&f, 1), 4);
    uint32_t before[POINTS];
    for (size_t i = 0; i < 12; i++)
        before[i] = f.owners[i];
    f.speeds[1] = 0;
    deal(&f);
    assert_int_equal(count(&f, 0), 6);
    assert_int_equal(count(&f, 1), 0);
    assert_int_equal(count(&f, 2), 6);
    for (size_t i = 0; i < 12; i++) /* others keep what they have */
        assert_true(before[i] == 1 || f.owners[i] == before[i]);
    f.speeds[0] = 0;
    deal(&f);
    assert_int_equal(count(&f, 2), 12);
}

static void a_rank_without_work_gets_some(void **unused) {
    struct fixture f;
    (void)unused;
    make(&f, 9, 2);
    for (size_t i = 0; i < 9; i++) {
        f.owners[i] = i < 5 || i == 8 ? 0 : 1;
        f.work[i] = i < 5 ? 1 : 0; /* the second has done all of its own */
    }
    f.work[0] = 0.125; /* the smallest moves first, and what is done stays where it is */
    f.speeds[1] = 1;
    deal(&f);
    assert_int_equal(f.owners[0], 1);
    assert_int_equal(count(&f, 1), 3);
    for (size_t i = 5; i < 9; i++)
        assert_int_equal(f.owners[i], i < 8);
    assert_float_equal(ergo_deal_seconds(&f.deal), 2.125, 1e-12);
}

/* Points of any size and order: at most one of the largest longer than it takes at best. */
static void any_sizes(void **unused) {
    struct fixture f;
    uint32_t random = 1;
    (void)unused;
    for (int round = 0; round < 200; round++) {
        double all = 0, speed = 0, slowest = 1e9;
        make(&f, POINTS, RANKS);
        for (size_t i = 0; i < POINTS; i++) {
            random = 1664525 * random + 1013904223;
            f.work[i] = 0.05 + (random >> 8) * 0x1p-24;
            if (round % 2)
                f.owners[i] = (random >> 4) % RANKS;
            all += f.work[i];
        }
        for (size_t r = 0; r < RANKS; r++) {
            random = 1664525 * random + 1013904223;
            f.speeds[r] = r && r == (size_t)round % 5 ? 0 : 0.2 + (random >> 8) * 0x1p-24;
            speed += f.speeds[r];
            slowest = f.speeds[r] > 0 && f.speeds[r] < slowest ? f.speeds[r] : slowest;
        }
        deal(&f);
        assert_true(ergo_deal_seconds(&f.deal) <= all / speed + 1.05 / slowest);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(seconds_are_those_of_the_last),
        cmocka_unit_test(shares_are_as_speeds),
        cmocka_unit_test(what_would_be_late_goes_elsewhere),
        cmocka_unit_test(fewer_points_than_ranks),
        cmocka_unit_test(points_of_the_dead_are_rescued),
        cmocka_unit_test(a_rank_without_work_gets_some),
        cmocka_unit_test(any_sizes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
