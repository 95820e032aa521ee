/* cl/common/fma.h as C against the C library's fmaf, bit for bit. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "common/fma.h"

static float as_float(int32_t bits) {
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static int32_t as_int(float x) {
    int32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

ERGO_DEFINE_FMA(static, software_fma, float, int32_t, as_float, as_int)

static uint32_t draw(uint64_t *state) { /* splitmix64 */
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return (uint32_t)((z ^ (z >> 31)) >> 32);
}

/* Any sign and fraction, exponent from -reach to reach. */
static float number(uint64_t *state, uint32_t reach) {
    const uint32_t exponent = 127 - reach + draw(state) % (2 * reach + 1);
    return as_float((int32_t)((draw(state) & 0x807fffffu) | exponent << 23));
}

static void test_bits(void **unused) {
    (void)unused;
    uint64_t state = 1;
    size_t twice = 0; /* cases where rounding twice is wrong */
    for (int i = 0; i < 3000000; i++) {
        float a = number(&state, 20), b = number(&state, 20), c = number(&state, 40);
        if (i % 7 == 0) { /* few bits: products that are exact, or halfway */
            a = as_float(as_int(a) & ~0xfff);
            b = as_float(as_int(b) & ~0xfff);
        }
        if (i % 3 == 0) /* cancellation, all of it or nearly */
            c = as_float(as_int(-(a * b)) + (int32_t)(draw(&state) % 5) - 2);
        if (i % 5 == 0) { /* a product of half c's last bit, but for its own last ones */
            const float little = (float)(1 + draw(&state) % 30) * 0x1p-23f;
            const float half = as_float((as_int(c) & 0x7f800000) - 24 * 0x800000);
            a = 1.0f + little;
            b = (draw(&state) & 1u ? half : -half) * (1.0f - little);
        }
        if (i % 11 == 0)
            c = 0.0f;
        if (i % 13 == 0)
            a = 0.0f;
        twice += fmaf(a, b, c) != a * b + c;
        if (as_int(fmaf(a, b, c)) != as_int(software_fma(a, b, c)))
            fail_msg("fma(%a, %a, %a) is %a, not %a", (double)a, (double)b, (double)c,
                     (double)fmaf(a, b, c), (double)software_fma(a, b, c));
    }
    assert_true(twice > 500000);
}

static void test_extremes(void **unused) {
    (void)unused;
    assert_true(isnan(software_fma(NAN, 1.0f, 1.0f)));
    assert_true(isnan(software_fma(INFINITY, 1.0f, -INFINITY)));
    assert_true(software_fma(INFINITY, 2.0f, 1.0f) == INFINITY);
    assert_true(software_fma(1e30f, -1e30f, 1.0f) == -INFINITY);
    assert_true(software_fma(1.0f, 1.0f, 1e38f) == 1e38f);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_bits),
                                       cmocka_unit_test(test_extremes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
