/* Functions of means: value, bias, error. */
#include "stats/stats.h"

#include <math.h>
#include <stdlib.h>

enum {
    STEPS = 16,       /* smallest step: 4^-16 of the standard error */
    BLOCKS_MAX = 256, /* the jackknife's own noise is then 1/16 of a bias that is itself small */
    BLOCKS_MIN = 8,
};
static const double BLOCK_TAU = 20.0; /* block length: bias is found to about tau/length = 5% */

/*
 * df/dm_a by central differences. A step of one standard error is the range over which f matters,
 * and far above rounding even where f is a small difference such as e2 - e^2. Where f is too curved
 * for it, or not finite (log of a variance that a lone step makes negative), the step shrinks. D(h)
 * and D(h/4) give Richardson's (16 D(h/4) - D(h)) / 15, whose distance from D(h/4) tells its
 * accuracy; the best is taken. The search ends once that distance grows: at smaller steps rounding
 * dominates, until f does not change at all and a derivative of 0 would look perfect.
 */
static double derivative(ergo_stats_function function, void *user, double *at, size_t a,
                         double step) {
    double centre = at[a], best = NAN, best_doubt = INFINITY, last = NAN;
    for (int k = 0; k < STEPS && step > 0; k++, step *= 0.25) {
        volatile double up = centre + step, down = centre - step; /* the steps after rounding */
        at[a] = up;
        double f_up = function(at, user);
        at[a] = down;
        double f_down = function(at, user);
        double now = (f_up - f_down) / (up - down);
        double refined = (16 * now - last) / 15;
        double doubt = fabs(refined - now);
        if (isfinite(doubt) && doubt < best_doubt) {
            best = refined;
            best_doubt = doubt;
        }
        if (best_doubt <= 1e-10 * fabs(best) || (isfinite(doubt) && doubt > 8 * best_doubt))
            break;
        last = now;
    }
    at[a] = centre;
    return best;
}

/* f with its bias of order 1/n removed: B f - (B - 1) mean of f over all but one block. */
static double jackknife(const double *const *columns, size_t n_columns, size_t n,
                        ergo_stats_function function, void *user, const double *means, double tau,
                        double value) {
    double wanted = floor((double)n / fmax(1.0, ceil(BLOCK_TAU * tau)));
    size_t blocks = wanted > BLOCKS_MAX ? BLOCKS_MAX : (size_t)wanted;
    if (blocks < BLOCKS_MIN)
        return value;
    /* Sum of f_without_block - f: differences keep the digits; weighted so that blocks of unequal
     * length leave a linear f as it is. */
    double shift = 0;
    for (size_t b = 0; b < blocks; b++) {
        size_t begin = n / blocks * b + (b < n % blocks ? b : n % blocks);
        size_t count = n / blocks + (b < n % blocks ? 1 : 0);
        double without[ERGO_STATS_COLUMNS_MAX];
        for (size_t a = 0; a < n_columns; a++) {
            double deviation = ergo_stats_mean(columns[a] + begin, count) - means[a];
            without[a] = means[a] - deviation * (double)count / (double)(n - count);
        }
        shift += (function(without, user) - value) * (double)(n - count) / (double)n;
    }
    double corrected = value - shift;
    return isfinite(corrected) ? corrected : value;
}

void ergo_stats_derived(const double *const *columns, size_t n_columns, size_t n,
                        ergo_stats_function function, void *user, struct ergo_estimate *estimate) {
    struct ergo_estimate bad = {.mean = NAN,
                                .error = NAN,
                                .error_binning = NAN,
                                .tau = NAN,
                                .tau_error = NAN,
                                .samples = n,
                                .too_short = true};
    *estimate = bad;
    if (n == 0 || n_columns == 0 || n_columns > ERGO_STATS_COLUMNS_MAX)
        return;
    double means[ERGO_STATS_COLUMNS_MAX], gradient[ERGO_STATS_COLUMNS_MAX];
    for (size_t a = 0; a < n_columns; a++)
        means[a] = ergo_stats_mean(columns[a], n);
    double value = function(means, user);
    if (!isfinite(value))
        return;
    bad.mean = estimate->mean = value;
    if (n < 4)
        return;
    for (size_t a = 0; a < n_columns; a++) {
        double squares = 0;
        for (size_t i = 0; i < n; i++) {
            double d = columns[a][i] - means[a];
            squares += d * d;
        }
        double step = sqrt(squares) / (double)n; /* naive: correlations do not matter here */
        gradient[a] = step > 0 ? derivative(function, user, means, a, step) : 0;
    }
    double *projected = malloc(n * sizeof *projected);
    if (projected == NULL)
        return;
    for (size_t i = 0; i < n; i++) {
        double sum = 0;
        for (size_t a = 0; a < n_columns; a++)
            sum += gradient[a] * (columns[a][i] - means[a]);
        projected[i] = sum;
    }
    ergo_stats_estimate(projected, n, estimate);
    free(projected);
    if (isnan(estimate->error))
        *estimate = bad;
    else
        estimate->mean =
            jackknife(columns, n_columns, n, function, user, means, estimate->tau, value);
}
