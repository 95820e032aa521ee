/* May an error be shown? And two tests that need more than the statistics of one series. */
#include <math.h>
#include <stddef.h>

#include "stats/covariance.h"

enum { DRIFT_VALUES = 1024, DRIFT_LEAST = 64 /* values that are compared: at most, at least */ };
static const double FAR_MOST = 64;

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

/* Of t with dof degrees of freedom: the normal number that chance exceeds as rarely (Wallace 1959).
 */
static double normal_of(double t, double dof) {
    return sqrt(dof * log1p(t * t / dof));
}

/* Of the first n deviations those that lie beyond all of the last half, from low to high, on the
 * side of the very first: how many, and in *far what their distance says, of tails as heavy as 1/r
 * that one value alone is no proof of. */
static size_t beyond(const double *x, size_t n, double mean, double low, double high, double *far) {
    const double end = (x[0] > mean ? high : low) - mean;
    size_t k = 0;
    for (*far = 0; k < n && (x[k] - mean) / end > 1; k++)
        *far += log(fmin((x[k] - mean) / end, FAR_MOST));
    return k;
}

/* The values are nearly independent. *z: the result; false: they are not. */
static bool drift_of(const double *x, size_t n, double *z) {
    const size_t half = n / 2, late = n - half, early = n / 5;
    const double *end = x + half, mean = ergo_stats_mean(end, late);
    double low = INFINITY, high = -INFINITY, typical = 0, d[DRIFT_VALUES];
    for (size_t i = 0; i < late; i++) {
        d[i] = end[i] - mean;
        low = fmin(low, end[i]);
        high = fmax(high, end[i]);
        typical += fabs(d[i]) / (double)late;
    }
    const double own = ergo_stats_covariance(d, late, 0), next = ergo_stats_covariance(d, late, 1);
    for (size_t i = 0; i < late; i++) /* few large values hide what the others have in common */
        d[i] = fmin(fmax(d[i], -typical), typical);
    if (!(next < 0.25 * own &&
          ergo_stats_covariance(d, late, 1) < 0.25 * ergo_stats_covariance(d, late, 0)))
        return false;
    for (size_t i = 0; i < early; i++)
        d[i] = fmin(fmax(x[i], low), high);
    const double count = (double)late, off = ergo_stats_mean(d, early) - mean;
    const double error =
        sqrt((own + 2 * fmax(next, 0)) / (count - 1) * (1 + count / (double)early));
    double far;
    const double first = (double)beyond(x, early, mean, low, high, &far);
    /* by chance the first k of n + k are the largest, or the least, in 2 of n + k over k cases */
    const double chance =
        log(2) + lgamma(first + 1) + lgamma(count + 1) - lgamma(count + first + 1);
    const double size = fmax(normal_of(off / error, count / 3), sqrt(fmax(2 * (far - chance), 0)));
    *z = copysign(size, first > 0 ? x[0] - mean : off);
    return true;
}

double ergo_stats_drift(const double *x, size_t n) {
    double means[DRIFT_VALUES], z = 0;
    const size_t together = (n + DRIFT_VALUES - 1) / DRIFT_VALUES;
    size_t m = n ? n / together : 0;
    for (size_t i = 0; i < m; i++)
        means[i] = ergo_stats_mean(x + i * together, together);
    while (m >= DRIFT_LEAST && !drift_of(means, m, &z))
        m = ergo_stats_join_pairs(means, m);
    return z;
}

double ergo_stats_drift_of_bins(const double *x, size_t n) {
    double z = 0;
    return n >= DRIFT_LEAST / 2 && drift_of(x, n, &z) ? z : 0;
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
