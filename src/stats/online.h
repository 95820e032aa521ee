/*
 * Estimates on line: series of samples come in as they are measured, and nothing has to be kept of
 * them. What is kept are sums over products of samples up to ERGO_STATS_LAGS apart, at each level
 * of joined samples (ergo_stats_estimate needs no more), and averages over bins. The state depends
 * on the samples alone, not on the pieces that they come in. Some 25 ns for a sample and track on
 * one core; 3 KiB for a track and level.
 */
#ifndef ERGO_STATS_ONLINE_H
#define ERGO_STATS_ONLINE_H

#include "stats/stats.h"

/*
 * Series whose means are the arguments of one function. An error of the function needs the
 * covariances of all of them, and e and e^2 of a large lattice are the same series but for a part
 * in 10^5. So the series are made orthogonal, z_a = y_a - sum_{b < a} k_ab z_b, with k from the
 * first ERGO_STATS_WHOLE samples; then nothing cancels. Tracks: of z_a, and of z_a + z_b in units
 * of their sizes.
 */
struct ergo_online_group {
    size_t n;
    uint16_t series[ERGO_STATS_COLUMNS_MAX];
    uint16_t tracks[ERGO_STATS_COLUMNS_MAX]; /* of z_a; that of z_0 = y_0 is its series' own */
    uint16_t pairs;                          /* first of n (n - 1) / 2 tracks */
    size_t at;                               /* its numbers in the state */
};

/* What all states of one kind share. */
struct ergo_online_plan {
    size_t n_series, n_tracks, n_groups;
    uint16_t *own;  /* [n_series]: track of a series; ERGO_ONLINE_NONE: it is in group home[] */
    uint16_t *home; /* NULL: each series has the track of its number */
    struct ergo_online_group *groups;
    size_t n_fixed; /* numbers in the state that are there whatever its length */
};
enum { ERGO_ONLINE_NONE = 0xffff };

struct ergo_online {
    const struct ergo_online_plan *plan;
    uint64_t count; /* samples */
    /* Estimates sum correlations over so many samples and more where that changes the error by more
     * than its noise: the longest window of the series of a chain (ergo_estimate.window). */
    double window;
    size_t capacity;
    double *waiting; /* [n_series][capacity]: samples that are not in the sums yet; all of a short
                      * series */
    double *fixed;   /* NULL: a short series */
    size_t closed;   /* levels whose samples are gone */
    double **levels; /* [closed], each [n_tracks] */
    double *top;     /* [n_tracks][ERGO_STATS_WHOLE]: values of the first level that is kept */
};

/* Series that functions are made of; [n] pointers at lists of `lengths[i]` series. False: out of
 * memory. */
bool ergo_online_plan(struct ergo_online_plan *plan, size_t n_series, size_t n,
                      const size_t (*inputs)[ERGO_STATS_COLUMNS_MAX], const size_t *lengths);
void ergo_online_plan_free(struct ergo_online_plan *plan);

/* rows: [count][n_series]. False: out of memory, the state is as before or lost. A state that is
 * zero but for its plan is empty. */
bool ergo_online_add(struct ergo_online *online, const double *rows, size_t count);
void ergo_online_free(struct ergo_online *online);
bool ergo_online_copy(const struct ergo_online *from, struct ergo_online *to);
/* Nothing more will come; before any of the following. */
void ergo_online_finish(struct ergo_online *online);

/* As ergo_stats_estimate of a series, a function of the means of several that are in one list of
 * the plan (ergo_stats_function), ergo_stats_drift and ergo_stats_one_way (of averages over 256 to
 * 512 bins where the series is not short). */
void ergo_online_estimate(const struct ergo_online *online, size_t series,
                          struct ergo_estimate *estimate);
void ergo_online_derived(const struct ergo_online *online, const size_t *series, size_t n,
                         ergo_stats_function function, void *user, struct ergo_estimate *estimate);
double ergo_online_drift(const struct ergo_online *online, size_t series);
bool ergo_online_one_way(const struct ergo_online *online, size_t series, double *first,
                         double *last);

/* Autocorrelation function of averages over 2^level samples, at n_lags <= 129 lags; false: of so
 * few values that it is not known, or they are all the same. */
bool ergo_online_autocorrelation(const struct ergo_online *online, size_t series, size_t level,
                                 double *rho, size_t n_lags);

/* The state as `ergo_online_size(plan, count)` doubles; *rest behind it. */
size_t ergo_online_size(const struct ergo_online_plan *plan, uint64_t count);
double *ergo_online_save(const struct ergo_online *online, double *to);
/* Of an empty state, from a file. False: out of memory. Whatever the numbers are, estimates of them
 * are numbers. */
bool ergo_online_load(struct ergo_online *online, uint64_t count, const double *from);
/* Bytes in memory of a state with that many samples. */
double ergo_online_bytes(const struct ergo_online_plan *plan, double count);

#endif
