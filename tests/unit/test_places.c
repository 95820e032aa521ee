/* Starts of jobs: pairs that are too close are found as by looking at all pairs; places far away.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "samplers/places.h"

#include "context.h"

/* A ball of a radius in the unit of sides, in a box of sides 1, 2, 3 times that unit. */
struct ball {
    double radius;
};

static bool within(const void *user, const uint32_t a[3], const uint32_t b[3]) {
    const struct ball *ball = user;
    double r2 = 0;
    for (int k = 0; k < 3; k++) {
        const double d = (double)(int32_t)(a[k] - b[k]) * 0x1p-32 * (k + 1);
        r2 += d * d;
    }
    return r2 < ball->radius * ball->radius;
}

static void reach_of(const struct ball *ball, uint32_t reach[3]) {
    for (int k = 0; k < 3; k++)
        reach[k] = (uint32_t)fmin(ball->radius / (k + 1) * 0x1p32 + 1, 0xffffffffp0);
}

static uint64_t random_word(uint64_t *state) { /* splitmix64 */
    uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* Dense cells and hashed ones, few cells a side, pairs across the box's faces: there is a pair when
 * there is one, and it is the first particle's that has one before it. */
static void pairs_are_those_of_all(void **state) {
    static const double radii[] = {1e-9, 1e-3, 0.02, 0.1, 0.3, 0.6, 0.9};
    uint64_t seed = 1;
    size_t found = 0;
    (void)state;
    for (int round = 0; round < 400; round++) {
        const struct ball ball = {.radius = radii[round % 7]};
        uint32_t words[3 * 40], reach[3];
        const size_t n = 2 + random_word(&seed) % 39;
        size_t pair[2], first = SIZE_MAX;
        for (size_t i = 0; i < 3 * n; i++)
            words[i] = (uint32_t)random_word(&seed);
        if (round % 3 == 0) /* a neighbour, often behind a face of the box */
            for (size_t k = 0; k < 3; k++) {
                const uint64_t off = random_word(&seed) % (uint64_t)(ball.radius * 0x1p30 + 1);
                words[k] = (uint32_t)(random_word(&seed) % 3 ? words[k] : -(uint32_t)(off / 2));
                words[3 * (n - 1) + k] = words[k] + (uint32_t)(off / (k + 1));
            }
        for (size_t i = 0; i < n && first == SIZE_MAX; i++)
            for (size_t j = 0; j < i; j++)
                if (within(&ball, words + 3 * i, words + 3 * j))
                    first = i;
        reach_of(&ball, reach);
        assert_int_equal(ergo_places_pair(ctx, words, n, reach, within, &ball, pair), ERGO_OK);
        assert_true(pair[0] == first);
        if (first == SIZE_MAX)
            continue;
        assert_true(pair[1] < first && within(&ball, words + 3 * first, words + 3 * pair[1]));
        found++;
    }
    assert_true(found > 100 && found < 390);
}

/* All in a corner of a large box: cells there share chains with none. */
static void a_droplet_takes_no_longer(void **state) {
    enum { SIDE = 50, N = SIDE * SIDE * SIDE };
    const struct ball ball = {.radius = 1e-6};
    uint32_t reach[3], *words = malloc(12 * (size_t)N);
    size_t pair[2];
    (void)state;
    assert_non_null(words);
    for (uint32_t i = 0; i < N; i++) {
        words[3 * i] = i % SIDE * 4400;
        words[3 * i + 1] = i / SIDE % SIDE * 2200;
        words[3 * i + 2] = i / SIDE / SIDE * 1500;
    }
    reach_of(&ball, reach);
    const clock_t begun = clock();
    assert_int_equal(ergo_places_pair(ctx, words, N, reach, within, &ball, pair), ERGO_OK);
    assert_true(clock() - begun < 8 * CLOCKS_PER_SEC); /* all pairs: minutes under sanitizers */
    assert_true(pair[0] == SIZE_MAX);
    words[3 * (N - 1)] = words[3 * (N - 2)] + 100;
    assert_int_equal(ergo_places_pair(ctx, words, N, reach, within, &ball, pair), ERGO_OK);
    assert_true(pair[0] == N - 1 && pair[1] == N - 2);
    free(words);
}

static void a_million_sides_are_too_far(void **state) {
    static const double side[3] = {2, 3, 4};
    double places[6] = {2e6, -3e6, 4e6, 0, 0, 0};
    struct ergo_xyz frame = {.n = 2, .positions = places};
    (void)state;
    assert_int_equal(ergo_places_near(ctx, "f", &frame, side, 3, NULL), ERGO_OK);
    places[4] = -3.1e6;
    assert_int_equal(ergo_places_near(ctx, "f", &frame, side, 3, NULL), ERGO_E_JOB);
    assert_non_null(strstr(ergo_error_message(ctx), "f, line 4: -3100000"));
    ergo_error_clear(ctx);
    assert_int_equal(ergo_places_near(ctx, "f", &frame, side, 1, NULL), ERGO_OK);
    const bool walls[3] = {false, true, false};
    frame.open[1] = true;
    assert_int_equal(ergo_places_near(ctx, "f", &frame, side, 1, NULL), ERGO_OK);
    places[4] = 0;
    assert_int_equal(ergo_places_near(ctx, "f", &frame, side, 3, walls), ERGO_OK);
    assert_int_equal(ergo_places_near(ctx, "f", &frame, side, 3, NULL), ERGO_E_JOB);
    assert_non_null(strstr(ergo_error_message(ctx), "not periodic along y"));
    ergo_error_clear(ctx);
}

/* Three by three by three particles that touch, each rounded by up to two units, in a long box: no
 * two are nearer afterwards, and none is far from where it was. At once, and across a side. */
static void touching_ones_part(void **state) {
    enum { N = 27, D = 1000003 };
    static const uint64_t side[3] = {4 * D, 5 * D, 6 * D};
    static const double length[3] = {1, 1.1, 0.9};
    uint64_t at[N][3], before[N][3];
    (void)state;
    for (uint64_t i = 0; i < N; i++) {
        const uint64_t site[3] = {i % 3, i / 3 % 3, i / 9};
        for (size_t k = 0; k < 3; k++)
            at[i][k] = (uint64_t)((double)(site[k] * D) / length[k]) + i * (k + 1) % 3 + side[k] -
                       D - D / 2;
    }
    for (size_t i = 0; i < 3 * (size_t)N; i++) /* the cluster lies across all sides */
        at[i / 3][i % 3] %= side[i % 3];
    memcpy(before, at, sizeof at);
    assert_int_equal(ergo_places_part(ctx, at, N, side, length, D, NULL, NULL), ERGO_OK);
    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j <= i; j++) {
            double r2 = 0;
            for (size_t k = 0; k < 3; k++) {
                const int64_t whole = (int64_t)at[i][k] - (int64_t)(j < i ? at : before)[j][k];
                const int64_t most = (int64_t)side[k];
                const double d = (double)(whole - (2 * whole > most    ? most
                                                   : 2 * whole < -most ? -most
                                                                       : 0));
                r2 += d * d * length[k] * length[k];
            }
            assert_true(j < i ? r2 >= (double)D * D : r2 < 64 * 64);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pairs_are_those_of_all),
        cmocka_unit_test(a_droplet_takes_no_longer),
        cmocka_unit_test(a_million_sides_are_too_far),
        cmocka_unit_test(touching_ones_part),
    };
    return cmocka_run_group_tests(tests, context_open, context_close);
}
