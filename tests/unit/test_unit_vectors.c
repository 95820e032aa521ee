/* cl/common/unit.h, exp.h and log.h as C against the C library's doubles: the errors that their
 * comments state, and what is exact. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "common/log.h"
#include "common/unit.h"

static const double turn = 6.283185307179586 / 4294967296.0; /* radians of an angle's unit */

static uint32_t draw(uint64_t *state) { /* splitmix64 */
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return (uint32_t)((z ^ (z >> 31)) >> 32);
}

/* 2^-reach to 2^reach */
static float number(uint64_t *state, uint32_t reach) {
    return ergo_as_float((draw(state) & 0x7fffffu) | (127 - reach + draw(state) % (2 * reach))
                                                         << 23);
}

static float with_sign(uint64_t *state, float x) {
    return draw(state) & 1 ? x : -x;
}

static ergo_vector random_unit(uint64_t *state) {
    const uint32_t height = draw(state), around = draw(state);
    return ergo_unit_of(ergo_unit_random(height, around));
}

static ergo_vector random_field(uint64_t *state, uint32_t reach) {
    ergo_vector h;
    h.x = with_sign(state, number(state, reach));
    h.y = with_sign(state, number(state, reach));
    h.z = with_sign(state, number(state, reach));
    return h;
}

static void test_roots(void **unused) {
    (void)unused;
    uint64_t state = 1;
    double inverse = 0, root = 0, logarithm = 0;
    for (int i = 0; i < 2000000; i++) {
        const float x = number(&state, 100);
        const double exact = sqrt((double)x), ln = log((double)x);
        inverse = fmax(inverse, fabs((double)ergo_rsqrt(x) * exact - 1));
        root = fmax(root, fabs((double)ergo_sqrt(x) / exact - 1));
        logarithm = fmax(logarithm, fabs((double)ergo_ln(x) - ln) / fmax(1, fabs(ln)));
    }
    print_message("rsqrt %.2g, sqrt %.2g, log %.2g\n", inverse, root, logarithm);
    assert_true(inverse < 1.5e-7 && root < 1.2e-7 && logarithm < 2e-7);
    assert_true(ergo_sqrt(0) == 0 && ergo_rsqrt(0) > 1e18f && ergo_ln(1) == 0);
}

static void test_sines(void **unused) {
    (void)unused;
    double worst = 0;
    for (uint64_t a = 0; a < UINT64_C(1) << 32; a += 1999) {
        const uint32_t angle = (uint32_t)a;
        worst = fmax(worst, fabs((double)ergo_sin(angle) - sin(turn * (double)a)));
        worst = fmax(worst, fabs((double)ergo_cos(angle) - cos(turn * (double)a)));
        assert_true(ergo_sin(0u - angle) == -ergo_sin(angle));
        assert_true(ergo_cos(angle + 0x80000000u) == -ergo_cos(angle));
    }
    print_message("sine %.2g\n", worst);
    assert_true(worst < 2e-7);
    static const float quarters[5] = {0, 1, 0, -1, 0};
    for (uint32_t k = 0; k < 4; k++) {
        assert_true(ergo_sin(k << 30) == quarters[k]);
        assert_true(ergo_cos(k << 30) == quarters[k + 1] || k == 3);
    }
    assert_true(ergo_cos(3u << 30) == 0 && ergo_cos(0) == 1);
}

static void test_angle(void **unused) {
    (void)unused;
    uint64_t state = 2;
    double worst = 0;
    for (int i = 0; i < 2000000; i++) {
        const float scale = number(&state, 40);
        const float x = scale * (float)(int32_t)draw(&state) * 0x1p-31f;
        const float y = scale * (float)(int32_t)draw(&state) * 0x1p-31f;
        const double exact = atan2((double)y, (double)x) / turn;
        worst = fmax(worst, fabs(remainder((double)ergo_angle(x, y) - exact, 4294967296.0)));
    }
    print_message("angle %.2g\n", worst * turn);
    assert_true(worst * turn < 3e-7);
    assert_true(ergo_angle(0, 0) == 0 && ergo_angle(3, 0) == 0 && ergo_angle(0, 2) == 1u << 30);
    assert_true(ergo_angle(-1, 0) == 1u << 31 && ergo_angle(0, -1) == 3u << 30);
}

/* Lengths, and moments of the distribution on the sphere. */
static void test_sphere(void **unused) {
    (void)unused;
    enum { N = 1 << 20 };
    uint64_t state = 3;
    double length = 0, on_grid = 0, sum[3] = {0}, squares[3] = {0}, xy = 0;
    for (int i = 0; i < N; i++) {
        const uint32_t height = draw(&state), around = draw(&state);
        const ergo_vector v = ergo_unit_random(height, around), u = ergo_unit_of(v);
        const double c[3] = {(double)v.x, (double)v.y, (double)v.z};
        length = fmax(length, fabs(c[0] * c[0] + c[1] * c[1] + c[2] * c[2] - 1));
        on_grid = fmax(on_grid, fabs((double)u.x * (double)u.x + (double)u.y * (double)u.y +
                                     (double)u.z * (double)u.z - 1));
        assert_true(u.x * 0x1p21f == rintf(u.x * 0x1p21f) && u.z * 0x1p21f == rintf(u.z * 0x1p21f));
        for (int k = 0; k < 3; k++) {
            sum[k] += c[k];
            squares[k] += c[k] * c[k];
        }
        xy += c[0] * c[1];
    }
    print_message("length %.2g, on the grid %.2g\n", length / 2, on_grid / 2);
    assert_true(length / 2 < 3e-7 && on_grid / 2 < 6e-7);
    for (int k = 0; k < 3; k++) { /* <c^2> = 1/3, <c^4> = 1/5 */
        assert_true(fabs(sum[k] / N) < 5 * sqrt(1.0 / 3 / N));
        assert_true(fabs(squares[k] / N - 1.0 / 3) < 5 * sqrt((1.0 / 5 - 1.0 / 9) / N));
    }
    assert_true(fabs(xy / N) < 5 * sqrt(1.0 / 15 / N));
    const ergo_vector none = ergo_unit_of(ergo_vector_of(0, 0, 0));
    assert_true(none.x == 0 && none.y == 0 && none.z == 0);
}

static void test_beside(void **unused) {
    (void)unused;
    uint64_t state = 4;
    double worst = 0, length = 0;
    for (int i = 0; i < 500000; i++) {
        ergo_vector n = random_unit(&state);
        if (i % 100 == 0)
            n = ergo_vector_of(0, 0, i % 200 ? 1.0f : -1.0f);
        const float c = (float)(int32_t)draw(&state) * 0x1p-31f;
        const uint32_t around = draw(&state);
        const ergo_vector v = ergo_unit_beside(n, 1 - c, around);
        const ergo_vector w = ergo_unit_beside(n, 1 - c, around + 0x80000000u);
        worst = fmax(worst, fabs((double)ergo_dot(n, v) - (double)c));
        worst = fmax(worst, fabs((double)ergo_dot(n, w) - (double)c));
        length = fmax(length, fabs((double)ergo_dot(v, v) - 1) / 2);
        /* opposite sides: together 2 c n */
        worst = fmax(worst, fabs((double)(v.x + w.x - 2 * c * n.x)) / 2);
        worst = fmax(worst, fabs((double)(v.y + w.y - 2 * c * n.y)) / 2);
    }
    print_message("beside %.2g, length %.2g\n", worst, length);
    assert_true(worst < 3e-6 && length < 3e-6);
}

/* Turned by pi around h, and back to the bit. */
static void test_reflect(void **unused) {
    (void)unused;
    uint64_t state = 5;
    double worst = 0, length = 0;
    for (int i = 0; i < 1000000; i++) {
        ergo_vector h = random_field(&state, i % 2 ? 3 : 29), v = random_unit(&state);
        if (i % 10 == 0)
            h.x = 0;
        if (i % 20 == 0)
            h.y = 0;
        if (i % 300 == 0)
            h.z = 0;
        const ergo_vector w = ergo_unit_reflect(v, h), back = ergo_unit_reflect(w, h);
        assert_true(memcmp(&back, &v, 3 * sizeof(float)) == 0);
        const double hx = (double)h.x, hy = (double)h.y, hz = (double)h.z;
        const double h2 = hx * hx + hy * hy + hz * hz;
        const double a = hx * (double)v.x + hy * (double)v.y + hz * (double)v.z;
        const double scale = h2 > 0 ? 2 * a / h2 : 0;
        if (h2 > 0) {
            worst = fmax(worst, fabs((double)w.x + (double)v.x - scale * hx));
            worst = fmax(worst, fabs((double)w.y + (double)v.y - scale * hy));
            worst = fmax(worst, fabs((double)w.z + (double)v.z - scale * hz));
        }
        length = fmax(length, fabs((double)ergo_dot(w, w) - (double)ergo_dot(v, v)) / 2);
    }
    print_message("reflect %.2g, length %.2g\n", worst, length);
    assert_true(worst < 3e-6 && length < 3e-6);
    /* many times: lengths walk by chance and do not run away */
    ergo_vector v = random_unit(&state);
    for (int i = 0; i < 10000; i++)
        v = ergo_unit_reflect(v, random_field(&state, 2));
    assert_true(fabs((double)ergo_dot(v, v) - 1) < 2e-4);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_roots),  cmocka_unit_test(test_sines),
        cmocka_unit_test(test_angle),  cmocka_unit_test(test_sphere),
        cmocka_unit_test(test_beside), cmocka_unit_test(test_reflect),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
