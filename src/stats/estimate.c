/*
 * Mean, error and autocorrelation time of one series.
 *
 * No FFT: the Gamma method needs rho(t) only up to its window W, and a long window is avoided by
 * adding neighbours in pairs until W fits into ERGO_STATS_LAGS. That leaves the variance of the
 * mean as it is, blurs the window by 1/ERGO_STATS_LAGS of itself, and makes the cost O(n) for any
 * tau.
 */
#include "stats/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "stats/covariance.h"
#include "stats/online.h"

enum {
    WINDOW_WIDENED = 8, /* shortest window, in joined samples, where binning sets its length */
    BINS_MIN = 4,       /* fewest bins that binning is read from */
};

/* Wolff's S: tau_exp / tau_int assumed by the automatic window; his recommendation is 1 to 2. */
static const double WINDOW_S = 1.5;
static const double TOO_SHORT_TAU = 100.0; /* n in units of tau */
static const double DISAGREE_SIGMA = 4.0;

static int ascending(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

void ergo_stats_sort(double *x, size_t n) {
    qsort(x, n, sizeof *x, ascending);
}

double ergo_stats_mean(const double *x, size_t n) {
    if (n == 0)
        return NAN;
    /* Kahan's sum of deviations from x[0]: a constant series gives its value exactly. */
    double sum = 0, lost = 0;
    for (size_t i = 0; i < n; i++) {
        double y = (x[i] - x[0]) - lost;
        double t = sum + y;
        lost = (t - sum) - y;
        sum = t;
    }
    return x[0] + sum / (double)n;
}

double ergo_stats_covariance(const double *d, size_t n, size_t lag) {
    /* Four partial sums: faster than one and, at a given n, always the same. */
    double s0 = 0, s1 = 0, s2 = 0, s3 = 0;
    size_t pairs = n - lag, i = 0;
    const double *e = d + lag;
    for (; i + 4 <= pairs; i += 4) {
        s0 += d[i] * e[i];
        s1 += d[i + 1] * e[i + 1];
        s2 += d[i + 2] * e[i + 2];
        s3 += d[i + 3] * e[i + 3];
    }
    for (; i < pairs; i++)
        s0 += d[i] * e[i];
    return ((s0 + s1) + (s2 + s3)) / (double)pairs;
}

size_t ergo_stats_join_pairs(double *d, size_t n) {
    for (size_t i = 0; i < n / 2; i++)
        d[i] = 0.5 * (d[2 * i] + d[2 * i + 1]);
    return n / 2;
}

/* What one of the two methods found: the variance of the mean and its relative uncertainty. */
struct variance_of_mean {
    double value, relative_error;
    double length; /* window, or bin, in samples */
    bool settled;  /* a window, or a plateau, was found */
};

struct window {
    struct variance_of_mean variance;
    double gamma0; /* variance of one sample, about the sample mean */
    double tau_relative_error;
};

static double covariance_of(const struct ergo_levels *levels, size_t level, size_t lag) {
    return level < levels->closed ? levels->gamma[level * (ERGO_STATS_LAGS + 1) + lag]
                                  : ergo_stats_covariance(levels->top, levels->n >> level, lag);
}

/* Gamma method with a window of `shortest` samples or more; hep-lat/0306017, sections 2 and 3. */
static struct window gamma_method(const struct ergo_levels *levels, double shortest) {
    struct window out = {.gamma0 = covariance_of(levels, 0, 0)};
    double joined = 1; /* samples */
    for (size_t level = 0;; level++, joined *= 2) {
        const size_t m = levels->n >> level;
        /* Joining pairs also removes alternation, which upsets any rule for stopping. */
        if (shortest > joined * WINDOW_WIDENED && level < levels->closed)
            continue;
        double g0 = covariance_of(levels, level, 0);
        double c = g0; /* C(W) = Gamma(0) + 2 sum_{t <= W} Gamma(t) */
        double tau = 0.5;
        size_t limit = m / 2 < ERGO_STATS_LAGS ? m / 2 : ERGO_STATS_LAGS;
        size_t window = 0;
        bool found = false;
        while (!found && window < limit && g0 > 0) {
            window++;
            c += 2 * covariance_of(levels, level, window);
            tau = c / (2 * g0);
            /* The decay time that an exponential of this tau has, times S. Anticorrelation is
             * taken by its size, as 1/2 - tau; Wolff stops at once, and the error is too large. */
            double size = fmax(fabs(tau - 0.5), 1e-12);
            double decay = WINDOW_S / log1p(1 / size);
            /* Stop where truncation and noise together are least: g(W) < 0. */
            double w = (double)window;
            found = w * joined >= shortest && exp(-w / decay) < decay / sqrt(w * (double)m);
        }
        if (!found && level < levels->closed)
            continue;
        if (c <= 0) {
            /* Strongly anticorrelated: the truncated sum means nothing. Without it the error is too
             * large, never too small. */
            c = g0;
            window = 0;
        }
        double w = (double)window, length = (double)m;
        /* Eq. 49: deviations from the sample mean lose C/m at every lag. */
        out.variance.value = c * (1 + (2 * w + 1) / length) / length;
        /* Eq. 42 for tau; C alone varies with 2 (2W + 1) / m, and its root with half of it. */
        out.variance.relative_error = sqrt((2 * w + 1) / (2 * length));
        out.variance.length = w * joined;
        out.variance.settled = found;
        out.tau_relative_error = 2 * sqrt(fmax(w + 0.5 - tau, 0.5) / length);
        return out;
    }
}

/*
 * Binning. Flyvbjerg and Petersen read the plateau by eye; here it
 * is the first bin length B with B^3 > 2 n (error_B / error_1)^4, where noise and the bias that
 * neighbouring bins' correlation leaves are in balance (Wolff 2004 on binning; R. M. Lee et al.,
 * Phys. Rev. E 83, 066706 (2011)), and whose successor agrees. Successive errors are nested, the
 * squares of their uncertainties double: the step between them has the uncertainty of the first.
 * `shortest`: of a bin, in samples.
 */
static struct variance_of_mean binning(const struct ergo_levels *levels, double shortest) {
    struct variance_of_mean out = {.value = 0};
    double first = 0, length = 1, d[ERGO_STATS_WHOLE];
    size_t m = levels->n;
    for (size_t level = 0; m >= BINS_MIN; level++, length *= 2, m /= 2) {
        double sum = 0;
        if (level < levels->closed) {
            sum = levels->squares[level];
        } else {
            if (level == levels->closed)
                memcpy(d, levels->top, m * sizeof *d);
            else
                (void)ergo_stats_join_pairs(d, 2 * m);
            double mean = ergo_stats_mean(d, m);
            for (size_t i = 0; i < m; i++)
                sum += (d[i] - mean) * (d[i] - mean);
        }
        double bins = (double)m;
        struct variance_of_mean now = {.value = sum / (bins * (bins - 1)),
                                       .relative_error = 1 / sqrt(2 * (bins - 1)),
                                       .length = length};
        if (out.settled && fabs(sqrt(now.value / out.value) - 1) < 2 * out.relative_error)
            return out;
        if (length == 1.0)
            first = now.value;
        double ratio = fmax(1, now.value / first); /* at least 1: anticorrelation needs long
                                                    * bins, too */
        now.settled =
            length >= shortest && length * length * length > 2 * (double)levels->n * ratio * ratio;
        out = now;
    }
    return out; /* the last bin length: a longer one would have too few bins to disagree */
}

/* Distance of the two errors, in units of their combined uncertainty. */
static double apart(const struct window *window, const struct variance_of_mean *bins) {
    const struct variance_of_mean *gamma = &window->variance;
    return fabs(1 - sqrt(bins->value / gamma->value)) /
           hypot(gamma->relative_error, bins->relative_error);
}

void ergo_stats_estimate_none(size_t n, struct ergo_estimate *estimate) {
    *estimate = (struct ergo_estimate){.mean = NAN,
                                       .error = NAN,
                                       .error_binning = NAN,
                                       .tau = NAN,
                                       .tau_error = NAN,
                                       .samples = n,
                                       .too_short = true};
}

void ergo_stats_estimate_constant(struct ergo_estimate *estimate) {
    estimate->error = estimate->error_binning = estimate->tau_error = 0;
    estimate->tau = 0.5;
    estimate->too_short = false;
    estimate->constant = true;
}

void ergo_stats_estimate_levels(const struct ergo_levels *levels, double scale,
                                struct ergo_estimate *estimate) {
    struct variance_of_mean bins = binning(levels, 1);
    struct window window = gamma_method(levels, 1);
    /*
     * The automatic window takes the decay for one exponential. A slow part of small weight, of
     * either sign, hides behind it (the magnetisation of an antiferromagnet: rho(1) = 0.02, then
     * -0.04 for tens of sweeps). Binning sees it, and its plateau tells how long the window must
     * be.
     */
    if (bins.settled && apart(&window, &bins) > DISAGREE_SIGMA)
        window = gamma_method(levels, bins.length / 2);
    /* One of so small a weight that binning does not see it either: another series of the chain
     * tells how long it lasts. Over so many samples the sum is noisier: it counts where it is
     * larger by more than its own uncertainty. */
    if (levels->window > window.variance.length) {
        const struct window wide = gamma_method(levels, levels->window);
        const struct variance_of_mean wide_bins = binning(levels, levels->window);
        const double narrow = window.variance.value, noise = wide.variance.relative_error;
        /* What takes a fluctuation back later, as the bond probability does that follows the
         * clusters, makes it smaller. Noise could bring the sum near 0, but not bins as long. */
        const double least = fmax(wide.variance.value, wide_bins.value);
        if (sqrt(wide.variance.value / narrow) > 1 + noise) {
            window = wide;
        } else if (wide_bins.settled && sqrt(least / narrow) < 1 - noise) {
            window = wide;
            window.variance.value = least;
            bins = wide_bins;
        }
    }

    double length = (double)levels->n;
    double variance = window.variance.value;
    double error = sqrt(variance), error_binning = sqrt(bins.value);
    estimate->error = scale * error;
    estimate->error_binning = scale * error_binning;
    /* sigma^2 = Gamma(0) + C/n (Eq. 49), so that error^2 = 2 tau sigma^2 / n holds exactly. */
    estimate->tau = variance * length / (2 * (window.gamma0 + variance));
    estimate->tau_error = estimate->tau * window.tau_relative_error;
    estimate->window = window.variance.length;
    estimate->apart = apart(&window, &bins) > DISAGREE_SIGMA;
    estimate->too_short = length < TOO_SHORT_TAU * fmax(estimate->tau, 0.5) ||
                          !window.variance.settled || !bins.settled || estimate->apart;
}

void ergo_stats_estimate(const double *x, size_t n, struct ergo_estimate *estimate) {
    const struct ergo_online_plan plan = {.n_series = 1, .n_tracks = 1};
    struct ergo_online online = {.plan = &plan};
    ergo_stats_estimate_none(n, estimate);
    if (ergo_online_add(&online, x, n)) {
        ergo_online_finish(&online);
        ergo_online_estimate(&online, 0, estimate);
    }
    ergo_online_free(&online);
}
