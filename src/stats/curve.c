#include "stats/stats.h"
#include "base/memory.h"

#include <math.h>
#include <stdlib.h>

enum { CURVE_LEAST = 8 /* joined bins that an error is of */ };

bool ergo_curve_init(struct ergo_curve *curve, size_t size) {
    *curve = (struct ergo_curve){.size = size, .bin_length = 1};
    if (size > SIZE_MAX / (ERGO_CURVE_BINS * sizeof *curve->bins))
        return false;
    /* at least one element: malloc(0) may return NULL, which would mean "out of memory" */
    curve->bins = calloc(ERGO_CURVE_BINS * (size > 0 ? size : 1), sizeof *curve->bins);
    return curve->bins != NULL;
}

bool ergo_curve_init_sum(struct ergo_curve *curve, size_t size) {
    *curve = (struct ergo_curve){.size = size, .bin_length = 1, .sum = true};
    curve->bins = calloc(size > 0 ? size : 1, sizeof *curve->bins);
    return curve->bins != NULL;
}

void ergo_curve_add_sum(struct ergo_curve *curve, const double *sum, uint64_t samples) {
    for (size_t i = 0; i < curve->size; i++)
        curve->bins[i] += sum[i];
    curve->count += samples;
    curve->bin_length = curve->count ? curve->count : 1;
}

void ergo_curve_free(struct ergo_curve *curve) {
    free(curve->bins);
    *curve = (struct ergo_curve){.bin_length = 1};
}

static void merge(struct ergo_curve *curve) {
    size_t size = curve->size;
    for (size_t b = 0; b < ERGO_CURVE_BINS / 2; b++) {
        for (size_t i = 0; i < size; i++)
            curve->bins[b * size + i] =
                curve->bins[2 * b * size + i] + curve->bins[(2 * b + 1) * size + i];
    }
    for (size_t i = ERGO_CURVE_BINS / 2 * size; i < ERGO_CURVE_BINS * size; i++)
        curve->bins[i] = 0;
    curve->bin_length *= 2;
}

/* The bin of the next sample. */
static double *next_bin(struct ergo_curve *curve) {
    if (curve->count == ERGO_CURVE_BINS * curve->bin_length)
        merge(curve);
    return curve->bins + (size_t)(curve->count++ / curve->bin_length) * curve->size;
}

void ergo_curve_add(struct ergo_curve *curve, const double *sample) {
    double *bin = next_bin(curve);
    for (size_t i = 0; i < curve->size; i++)
        bin[i] += sample[i];
}

void ergo_curve_add_rows(struct ergo_curve *curve, const double *rows, size_t count) {
    for (size_t k = 0; k < count; k++)
        ergo_curve_add(curve, rows + k * curve->size);
}

void ergo_curve_add_at(struct ergo_curve *curve, size_t at, double value) {
    double *bin = next_bin(curve);
    if (at < curve->size)
        bin[at] += value;
}

/* Point i of the mean over `joined` full bins from bin b on. */
static double mean_of_bins(const struct ergo_curve *curve, size_t b, size_t joined, size_t i) {
    const double length = (double)curve->bin_length;
    double sum = 0;
    for (size_t k = 0; k < joined; k++)
        sum += curve->bins[(b + k) * curve->size + i] / length;
    return sum / (double)joined;
}

/* Means, and errors by `joined` bins together; neighbours: their covariance counts, too. Returns
 * the neighbours' correlation, over all points. */
static double errors_of(const struct ergo_curve *curve, size_t joined, bool neighbours,
                        double *mean, double *error) {
    const size_t size = curve->size, full = (size_t)(curve->count / curve->bin_length) / joined;
    const size_t used = (size_t)((curve->count + curve->bin_length - 1) / curve->bin_length);
    double correlation = 0, varying = 0;
    for (size_t i = 0; i < size; i++) {
        double sum = 0, binned = 0, before = 0, squares = 0, products = 0;
        for (size_t b = 0; b < used; b++)
            sum += curve->bins[b * size + i];
        for (size_t b = 0; b < full; b++)
            binned += mean_of_bins(curve, b * joined, joined, i);
        mean[i] = curve->count > 0 ? sum / (double)curve->count : NAN;
        error[i] = NAN;
        if (full < 2)
            continue;
        for (size_t b = 0; b < full; b++) {
            const double d = mean_of_bins(curve, b * joined, joined, i) - binned / (double)full;
            squares += d * d;
            products += d * before;
            before = d;
        }
        correlation += squares > 0 ? products / squares : 0;
        varying += squares > 0;
        squares += neighbours ? 2 * fmax(products, 0) : 0;
        error[i] = sqrt(squares / ((double)full * (double)(full - 1)));
    }
    return varying > 0 ? correlation / varying : 0;
}

bool ergo_curve_result_joined(const struct ergo_curve *curve, uint64_t least, double *mean,
                              double *error) {
    const size_t bins = (size_t)(curve->count / curve->bin_length);
    size_t joined = (size_t)((least + curve->bin_length - 1) / curve->bin_length);
    while (errors_of(curve, joined, true, mean, error) >
               fmax(0.25, 2 / sqrt((double)bins / (double)joined)) &&
           bins / joined >= 2 * CURVE_LEAST)
        joined *= 2;
    return bins / joined >= CURVE_LEAST;
}

void ergo_curve_result(const struct ergo_curve *curve, double *mean, double *error) {
    (void)errors_of(curve, 1, false, mean, error);
}

/* f of all samples but those of full bin `skip`; skip == full bins: of all. mean: [size], scratch.
 */
static double without(const struct ergo_curve *curve, size_t skip, double *mean,
                      ergo_curve_function function, void *user) {
    const size_t used = (size_t)((curve->count + curve->bin_length - 1) / curve->bin_length);
    const size_t full = (size_t)(curve->count / curve->bin_length);
    const uint64_t count = skip < full ? curve->count - curve->bin_length : curve->count;
    for (size_t i = 0; i < curve->size; i++) {
        double sum = 0;
        for (size_t b = 0; b < used; b++)
            sum += b == skip && skip < full ? 0 : curve->bins[b * curve->size + i];
        mean[i] = sum / (double)count;
    }
    return function(mean, curve->size, user);
}

void ergo_curve_derived(const struct ergo_curve *curve, ergo_curve_function function, void *user,
                        struct ergo_estimate *estimate) {
    const size_t full = (size_t)(curve->count / curve->bin_length);
    const double n = (double)full;
    double pseudo[ERGO_CURVE_BINS], squares = 0, farthest = 0;
    double *mean = malloc((curve->size ? curve->size : 1) * sizeof *mean);
    *estimate = (struct ergo_estimate){.mean = NAN,
                                       .error = NAN,
                                       .error_binning = NAN,
                                       .tau = NAN,
                                       .tau_error = NAN,
                                       .samples = curve->count,
                                       .too_short = true};
    if (!mean || !curve->count)
        goto out;
    const double all = without(curve, full, mean, function, user);
    estimate->mean = all;
    if (full < 4)
        goto out;
    for (size_t b = 0; b < full; b++)
        pseudo[b] = n * all - (n - 1) * without(curve, b, mean, function, user);
    struct ergo_estimate e;
    ergo_stats_estimate(pseudo, full, &e);
    for (size_t b = 0; b < full; b++) {
        squares += (pseudo[b] - e.mean) * (pseudo[b] - e.mean);
        farthest = fmax(farthest, fabs(pseudo[b] - e.mean));
    }
    if (!isfinite(e.mean)) /* f is not finite without some bin: give f of all bins, without an
                            * error */
        goto out;
    estimate->mean = e.mean;
    estimate->error_binning = sqrt(squares / (n * (n - 1)));
    /* too few bins for the window to find anticorrelation in them */
    estimate->error = fmax(e.error, estimate->error_binning);
    estimate->tau = e.tau * (double)curve->bin_length;
    estimate->tau_error = e.tau_error * (double)curve->bin_length;
    /* equal but for the rounding of sums of bins */
    estimate->constant = farthest <= 1e-13 * n * fabs(all);
    estimate->apart = e.apart;
    estimate->drift = ergo_stats_drift_of_bins(pseudo, full);
    estimate->slow = full >= ERGO_CURVE_BINS / 2 && e.tau >= 2;
    estimate->too_short = full < 20 || !(e.tau < 2) || !isfinite(estimate->error);
out:
    free(mean);
}
