/* May an error be shown? And two tests that need more than the statistics of one series. */
#include <math.h>
#include <stddef.h>

#include "stats/stats.h"

static const char *const names[ERGO_TRUSTS] = {
    [ERGO_TRUST_NONE] = "not-measured",   [ERGO_TRUST_SHORT] = "too-short",
    [ERGO_TRUST_DRIFT] = "drift",         [ERGO_TRUST_CONSTANT] = "constant",
    [ERGO_TRUST_FEW] = "few-samples",     [ERGO_TRUST_SLOW] = "slow",
    [ERGO_TRUST_UNDEFINED] = "undefined", [ERGO_TRUST_REPLICAS] = "replicas-disagree",
};

const char *ergo_trust_name(enum ergo_trust trust) {
    return names[trust];
}

enum ergo_trust ergo_trust_of(const struct ergo_estimate *estimate, bool independent,
                              double known) {
    if (!estimate->samples)
        return ERGO_TRUST_NONE;
    if (!isfinite(estimate->mean))
        return ERGO_TRUST_UNDEFINED;
    if (independent && estimate->too_short)
        return ERGO_TRUST_FEW;
    if (estimate->constant)
        return fabs(estimate->mean - known) <= 1e-9 * fabs(known) ? ERGO_TRUST_FULL
                                                                  : ERGO_TRUST_CONSTANT;
    return estimate->too_short || !isfinite(estimate->error) ? ERGO_TRUST_SHORT : ERGO_TRUST_FULL;
}

double ergo_stats_drift(const double *x, size_t n) {
    const size_t early = n / 5, late = n - n / 2;
    struct ergo_estimate end;
    if (!early)
        return 0;
    ergo_stats_estimate(x + n / 2, late, &end);
    const double error = end.error * sqrt(1 + (double)late / (double)early);
    return end.too_short || !(error > 0) ? 0 : fabs(ergo_stats_mean(x, early) - end.mean) / error;
}

bool ergo_stats_one_way(const double *x, size_t n, double *first, double *last) {
    const size_t fifth = n / 5;
    double mean[5] = {0}, sum = 0;
    if (fifth < 4)
        return false;
    for (size_t k = 0; k < 5; k++)
        mean[k] = ergo_stats_mean(x + k * fifth, fifth);
    for (size_t k = 2; k < 5; k++)
        if (!((mean[k] - mean[k - 1]) * (mean[1] - mean[0]) > 0))
            return false;
    for (size_t i = 4 * fifth; i < 5 * fifth; i++)
        sum += (x[i] - mean[4]) * (x[i] - mean[4]);
    *first = mean[0];
    *last = mean[4];
    return fabs(mean[4] - mean[0]) > 4 * sqrt(sum / (double)fifth);
}

/*
 * Continued fraction of the incomplete beta function I_x(a, b) by Lentz's method (Abramowitz and
 * Stegun 26.5.8); converges fast for x < (a + 1) / (a + b + 2).
 */
static double beta_fraction(double a, double b, double x) {
    const double tiny = 1e-300;
    double c = 1, d = 1 - (a + b) * x / (a + 1);
    d = 1 / (fabs(d) < tiny ? tiny : d);
    double h = d;
    for (int m = 1; m < 10000; m++) {
        const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
        d = 1 + even * d;
        c = 1 + even / c;
        d = 1 / (fabs(d) < tiny ? tiny : d);
        c = fabs(c) < tiny ? tiny : c;
        h *= d * c;
        const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
        d = 1 + odd * d;
        c = 1 + odd / c;
        d = 1 / (fabs(d) < tiny ? tiny : d);
        c = fabs(c) < tiny ? tiny : c;
        const double step = d * c;
        h *= step;
        if (fabs(step - 1) < 1e-13)
            break;
    }
    return h;
}

static double beta_incomplete(double a, double b, double x) {
    if (!(x > 0))
        return 0;
    if (x >= 1)
        return 1;
    const double front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x));
    return x < (a + 1) / (a + b + 2) ? front * beta_fraction(a, b, x) / a
                                     : 1 - front * beta_fraction(b, a, 1 - x) / b;
}

double ergo_stats_f_tail(double f, double m, double n) {
    if (isnan(f) || !(m > 0) || !(n > 0))
        return NAN;
    return isinf(f) ? 0 : beta_incomplete(n / 2, m / 2, n / (n + m * fmax(f, 0)));
}
