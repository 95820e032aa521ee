/* Random series for tests of estimates: the same from the same `seed` (splitmix64). */
#ifndef ERGO_TESTS_UNIT_RANDOM_SERIES_H
#define ERGO_TESTS_UNIT_RANDOM_SERIES_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

static uint64_t seed;

static double uniform(void) {
    seed += UINT64_C(0x9E3779B97F4A7C15);
    uint64_t z = seed;
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return ((double)((z ^ (z >> 31)) >> 11) + 0.5) * 0x1p-53;
}

static double normal(void) {
    return sqrt(-2 * log(uniform())) * cos(6.283185307179586 * uniform());
}

/* x' = phi x + sqrt(1 - phi^2) g: autocorrelation phi^t, tau = (1 + phi) / (2 (1 - phi)). */
static inline void fill_ar1(double *x, size_t n, double phi) {
    double v = normal(), g = sqrt(1 - phi * phi);
    for (size_t i = 0; i < n; i++) {
        x[i] = v;
        v = phi * v + g * normal();
    }
}

/* Room for n numbers, and one. */
static inline double *numbers(size_t n) {
    double *x = malloc((n + 1) * sizeof *x);
    assert_non_null(x);
    return x;
}

#endif
