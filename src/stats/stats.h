/* Statistics of correlated time series. Pure functions of arrays; no I/O. */
#ifndef ERGO_STATS_STATS_H
#define ERGO_STATS_STATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * error = sqrt(2 tau sigma^2 / n), tau from the Gamma method (U. Wolff, Comput. Phys. Commun. 156,
 * 143 (2004), automatic windowing, S = 1.5, with its bias correction); error_binning from the
 * plateau of logarithmic binning (Flyvbjerg and Petersen 1989). Where the two differ by more than 4
 * of their combined uncertainty, the window is widened to the plateau's length. In samples: tau =
 * 1/2 means independent, less than 1/2 anticorrelated (or independent within tau_error). Wolff's
 * window is taken by |tau - 1/2|, so that anticorrelation counts; where that is extreme (tau <
 * 0.05) errors come out some 15% too large.
 */
struct ergo_estimate {
    double mean, error, error_binning;
    double tau, tau_error; /* in samples */
    double window;         /* samples over which correlations were summed; 0: none were */
    double drift;          /* of what is made from a curve: ergo_stats_drift_of_bins */
    /* Of a curve, too: too_short because its bins, 32 or more, remember each other for 2 of them
     * and more. So do 3e-4 of curves whose bins are independent. */
    bool slow;
    uint64_t samples;
    /* The errors cannot be trusted. Set when n < 100 max(tau, 1/2) (there the error itself is known
     * to about 23% only, and tau of a still shorter series comes out too small), when no window or
     * no plateau was found, or when the two errors still differ by more than 4 of their combined
     * uncertainty (a drift). One chain alone cannot show that it never left a metastable state. */
    bool too_short;
    bool apart;    /* too_short, for the last of these reasons */
    bool constant; /* every sample was the same, to the last bit: the error is unknown */
};

/*
 * May the error be shown? Decided once, by ergo_trust_of and by what the run knows beyond the
 * series. A refused error is NAN from then on, and null in files, with the reason by name. A series
 * that never changed: if none of n independent samples had another value, other values have a
 * weight below 3/n (with 95% confidence: the rule of three), but their distance is unknown. So its
 * error is not 0 but unknown, however long the series, unless theory says that the observable has
 * this value: then nothing can differ, and the error is 0.
 */
enum ergo_trust {
    ERGO_TRUST_FULL,
    ERGO_TRUST_NONE,      /* nothing measured */
    ERGO_TRUST_SHORT,     /* too_short; a longer run helps */
    ERGO_TRUST_DRIFT,     /* the beginning differs from the end: a longer equilibration helps */
    ERGO_TRUST_CONSTANT,  /* never changed, and no theory gives this value */
    ERGO_TRUST_FEW,       /* too few independent samples: more samples help, a longer run does
                           * not */
    ERGO_TRUST_SLOW,      /* too short for a physical reason: a longer run does not help soon */
    ERGO_TRUST_UNDEFINED, /* the mean has no finite value */
    ERGO_TRUST_REPLICAS,  /* of a mean: the replicas disagree */
    ERGO_TRUSTS
};
/* "too-short", "few-samples", ...: as in result.json; NULL for ERGO_TRUST_FULL. */
const char *ergo_trust_name(enum ergo_trust trust);
/* The verdict from one estimate. independent: its samples are, so that a longer run adds none.
 * known: the value by theory (NAN: none); a constant series is trusted where it is that value to 9
 * digits. */
enum ergo_trust ergo_trust_of(const struct ergo_estimate *estimate, bool independent, double known);

/*
 * Cost O(n), whatever tau is. n >= 1. A constant series has error 0, tau 1/2 and `constant` (n >=
 * 4; see ergo_trust). n < 4, or no memory for a copy of x: errors and tau NAN, too_short. A NaN or
 * infinity in x: all NAN, too_short. n == 0: all NAN, too_short.
 */
void ergo_stats_estimate(const double *x, size_t n, struct ergo_estimate *estimate);

/* The probability that the ratio of two independent estimates of one variance, with m and n degrees
 * of freedom, is above f: the upper tail of the F distribution. */
double ergo_stats_f_tail(double f, double m, double n);

/*
 * Does a series begin elsewhere than it ends? The difference of the means of its first fifth and
 * its last half, as a normal number of variance 1 in equilibrium: beyond z by chance in some
 * exp(-z^2 / 2). Values are joined until they are nearly independent, 64 at least (else: 0). So
 * that a rare large value is no drift wherever it falls, the first fifth counts as far as the last
 * half reaches; a start that is farther off is seen by its order, the first k values beyond all of
 * the last half.
 */
double ergo_stats_drift(const double *x, size_t n);
/* The same of a curve's 32 to 64 bins, which are not joined. Of 32 normal numbers 4.5 is exceeded
 * in 8e-5 of cases, of exp(0.7 x) in 2e-4; exp(-4.5^2 / 2) is 4e-5. */
double ergo_stats_drift_of_bins(const double *x, size_t n);

/* Does a series go one way from its beginning to its end? The means of its fifths all rise or all
 * fall, and the first and the last are more than four standard deviations of the last fifth apart.
 * *first and *last are these means. Of equilibrium such a series knows next to nothing: it is no
 * test, and says what is seen. */
bool ergo_stats_one_way(const double *x, size_t n, double *first, double *last);

/* Sorts ascending, in place. With a NAN among the values the order is undefined. */
void ergo_stats_sort(double *x, size_t n);

/* Mean by compensated summation, about the first sample. NAN for n == 0. */
double ergo_stats_mean(const double *x, size_t n);

/* A quantity derived from means, e.g. heat capacity from <e>, <e^2>. */
typedef double (*ergo_stats_function)(const double *means, void *user);

/*
 * f(means of columns) with errors by linear propagation: the projected series
 * sum_a df/dm_a (x_a - m_a) goes through the same two estimators (Wolff 2004, section 3). The
 * mean is corrected for the bias of order 1/n by the jackknife over blocks longer than tau, its own
 * and, as far as n allows, the columns'; where that cannot be done (fewer than 8 such blocks, f not
 * finite on one) it is f of the means.
 *
 * Gradients are central differences with steps from the columns' standard errors, shrunk until two
 * steps agree and f is finite; they fail (error NAN, too_short) only where f has no derivative. f
 * is called up to 256 times plus 40 per column. Special cases as in ergo_stats_estimate; f(means)
 * not finite: all NAN, too_short.
 */
enum { ERGO_STATS_COLUMNS_MAX = 16 };

/*
 * Normalised autocorrelation function rho[0..n_lags-1] of x, for plots and tables. Direct sums,
 * cost O(n n_lags): a picture needs some hundred lags, and ergo_stats_estimate needs no FFT. Lags
 * beyond the series: 0. A constant series: rho[0] = 1, else 0. False (rho all NAN): n == 0, values
 * that are not finite, or out of memory.
 */
bool ergo_stats_autocorrelation(const double *x, size_t n, double *rho, size_t n_lags);

/*
 * A curve measured many times (g(r), spin correlation): means and errors from up to 64 bins, whose
 * length doubles as samples come in; serialisable as plain doubles for checkpoints.
 */
enum { ERGO_CURVE_BINS = 64 };
struct ergo_curve {
    size_t size;         /* points on the curve */
    uint64_t count;      /* samples added */
    uint64_t bin_length; /* samples per full bin */
    double *bins;        /* [ERGO_CURVE_BINS][size] sums of samples; of a sum: [1][size] */
    bool sum;            /* one bin, however many samples: bin_length is count, or 1 */
};
/*
 * Between 32 and 64 bins once there are that many samples. Errors are good to about 10%, and can be
 * trusted while samples further apart than bin_length are independent. To restore from a
 * checkpoint: init with size, then set count, bin_length and bins. Sample c goes into bin c /
 * bin_length; when all 64 are full, neighbours are added and bin_length doubles: the state is a
 * function of the samples alone.
 */
bool ergo_curve_init(struct ergo_curve *curve, size_t size); /* false: out of memory */
/* A curve that is kept as one sum, without bins and errors. add_sum: the sum of `samples` more. */
bool ergo_curve_init_sum(struct ergo_curve *curve, size_t size);
void ergo_curve_add_sum(struct ergo_curve *curve, const double *sum, uint64_t samples);
void ergo_curve_free(struct ergo_curve *curve);
void ergo_curve_add(struct ergo_curve *curve, const double *sample);
void ergo_curve_add_rows(struct ergo_curve *curve, const double *rows, size_t count);
/* The same for a sample that is `value` at one point and 0 at all others; at >= size: 0 everywhere.
 */
void ergo_curve_add_at(struct ergo_curve *curve, size_t at, double value);
/* mean[size] over all samples (NAN without any), error[size] from the full bins (NAN with fewer
 * than two). */
void ergo_curve_result(const struct ergo_curve *curve, double *mean, double *error);
/* The same of samples that are correlated over `least` of them: errors from neighbouring bins
 * joined to so many samples or more, until neighbours are nearly independent, and with the
 * covariance that these still have. False: of fewer than 8. */
bool ergo_curve_result_joined(const struct ergo_curve *curve, uint64_t least, double *mean,
                              double *error);

/* A quantity derived from a mean curve, e.g. a pressure from a histogram of distances. */
typedef double (*ergo_curve_function)(const double *mean, size_t size, void *user);

/*
 * f(mean curve), with the bias of order 1/n removed by the jackknife over full bins. error: from
 * the jackknife's pseudo-values as a series, so that neighbouring bins may be correlated
 * (ergo_stats_estimate); error_binning: the plain jackknife; tau and tau_error in curve samples, no
 * finer than half a bin; samples: curve samples. Where f is not finite without some bin, or there
 * are fewer than four: f(mean curve), errors NAN. too_short: fewer than 20 full bins, f not finite,
 * or bins still correlated (tau over 2 bins). f is called 65 times at most.
 */
void ergo_curve_derived(const struct ergo_curve *curve, ergo_curve_function function, void *user,
                        struct ergo_estimate *estimate);

#endif
