/* The time left: from what batches of each size have cost. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "run/eta.h"

/* Batches of sizes 1, 4, 16, ...; 100 steps each. */
static struct ergo_eta sizes(size_t n) {
    struct ergo_eta eta = {.share = 1};
    double work = 1;
    for (size_t i = 0; i < n; i++, work *= 4)
        assert_true(ergo_eta_add(&eta, work, 100));
    return eta;
}

static void close_to(double found, double wanted) {
    if (!(fabs(found - wanted) <= 1e-9 * fmax(1, fabs(wanted))))
        fail_msg("found %.12g, expected %.12g", found, wanted);
}

static void test_one_size(void **state) {
    (void)state;
    struct ergo_eta eta = {.share = 1};
    bool rough = true;
    for (int i = 0; i < 3; i++)
        assert_true(ergo_eta_add(&eta, 7, 100));
    assert_true(isnan(ergo_eta_left(&eta, &rough))); /* nothing is known */
    ergo_eta_begin(&eta, 0, 10);                     /* an earlier session sampled for 10 s */
    ergo_eta_step(&eta, 25, 15);
    close_to(ergo_eta_left(&eta, &rough), 15 + 20 + 20); /* 0.2 s a step */
    assert_false(rough);
    ergo_eta_step(&eta, 75, 30);
    ergo_eta_end(&eta, 4);
    close_to(ergo_eta_left(&eta, &rough), 2 * (20 + 4)); /* starts and audits count */
    ergo_eta_begin(&eta, 1, 30);
    ergo_eta_step(&eta, 100, 70); /* the same size, another temperature: twice as long */
    ergo_eta_end(&eta, 4);
    close_to(ergo_eta_left(&eta, &rough), 30 + 4); /* the mean of both */
    assert_false(rough);
    ergo_eta_begin(&eta, 2, 70);
    ergo_eta_step(&eta, 100, 80);
    ergo_eta_end(&eta, 4);
    close_to(ergo_eta_left(&eta, &rough), 0);
    ergo_eta_free(&eta);
}

/* Small lattices cost launches, not spins: in proportion to their work the first would say that
 * the last takes 64 times as long as it does. */
static void test_sizes(void **state) {
    (void)state;
    struct ergo_eta eta = sizes(4); /* 1, 4, 16, 64 */
    bool rough = false;
    ergo_eta_begin(&eta, 0, 0);
    ergo_eta_step(&eta, 100, 1);
    /* one size: between 1 s each, and 4, 16, 64 s */
    close_to(ergo_eta_left(&eta, &rough), 2 + 4 + 8);
    assert_true(rough);
    ergo_eta_begin(&eta, 1, 1);
    ergo_eta_step(&eta, 100, 2.3); /* 1.3 s: 0.9 s of launches, 0.1 s for each unit of work */
    close_to(ergo_eta_left(&eta, &rough), (0.9 + 1.6) + (0.9 + 6.4));
    assert_false(rough);
    ergo_eta_begin(&eta, 3, 2.3); /* the largest before the third */
    ergo_eta_step(&eta, 50, 2.3 + 3.65);
    close_to(ergo_eta_left(&eta, &rough), 3.65 + 2.5); /* on the line between its neighbours */
    assert_false(rough);
    ergo_eta_free(&eta);
}

/* What was measured in passing (a first launch that compiled) must not make larger ones cheaper,
 * nor dearer than in proportion. */
static void test_limits(void **state) {
    (void)state;
    struct ergo_eta eta = sizes(3); /* 1, 4, 16 */
    bool rough = false;
    ergo_eta_begin(&eta, 0, 0);
    ergo_eta_step(&eta, 100, 5);
    ergo_eta_begin(&eta, 1, 5);
    ergo_eta_step(&eta, 100, 6); /* larger and faster */
    close_to(ergo_eta_left(&eta, &rough), 1);
    ergo_eta_free(&eta);
    eta = sizes(3);
    ergo_eta_begin(&eta, 0, 0);
    ergo_eta_step(&eta, 100, 1);
    ergo_eta_begin(&eta, 1, 1);
    ergo_eta_step(&eta, 100, 11); /* beyond the caches: ten times for four times the work */
    close_to(ergo_eta_left(&eta, &rough), 40);
    ergo_eta_free(&eta);
    eta = sizes(3); /* from large to small */
    ergo_eta_begin(&eta, 2, 0);
    ergo_eta_step(&eta, 100, 16);
    ergo_eta_begin(&eta, 1, 16);
    ergo_eta_step(&eta, 100, 16 + 1);
    close_to(ergo_eta_left(&eta, &rough), 0.25); /* the line would be below 0 */
    ergo_eta_free(&eta);
}

/* A rank of four does a quarter of all pieces. */
static void test_share(void **state) {
    (void)state;
    struct ergo_eta eta = {.share = 0.25};
    bool rough = false;
    for (int i = 0; i < 8; i++)
        assert_true(ergo_eta_add(&eta, 3, 100));
    eta.first = 5;
    ergo_eta_begin(&eta, 0, 0);
    ergo_eta_step(&eta, 50, 1);
    close_to(ergo_eta_left(&eta, &rough), 2 * 2 - 1);
    assert_true(eta.batches[5].done > 0);
    ergo_eta_free(&eta);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_size),
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_share),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
