/* Shared by online.c, which makes a state, and online_estimate.c, which reads it. */
#ifndef ERGO_STATS_ONLINE_STATE_H
#define ERGO_STATS_ONLINE_STATE_H

#include "stats/covariance.h"
#include "stats/online.h"

enum {
    ERGO_ONLINE_CHUNK = 512, /* samples that go into the sums together */
    ERGO_ONLINE_BINS = 512,
};

/* Of a series; doubles alone, as they go into files. y = x - origin. */
struct ergo_online_series {
    double first, origin;
    double varies, broken; /* 0 or 1; broken: a value is not finite */
    double sum, lost;      /* of y, by Kahan */
};

/* Of a track, at a level. Values are in units of the track's (a power of two: no square over- or
 * underflows). */
struct ergo_online_level {
    double lagged[ERGO_STATS_LAGS + 1]; /* sum_i v[i] v[i + lag] */
    double sum;
    double head[ERGO_STATS_LAGS], tail[ERGO_STATS_LAGS]; /* first and last values */
};

/* Parts of online->fixed. */
static inline struct ergo_online_series *ergo_online_series_of(const struct ergo_online *o,
                                                               size_t s) {
    return (struct ergo_online_series *)(void *)o->fixed + s;
}
static inline double *ergo_online_bins_of(const struct ergo_online *o, size_t s) {
    return (double *)(void *)ergo_online_series_of(o, o->plan->n_series) + s * ERGO_ONLINE_BINS;
}
static inline double *ergo_online_units(const struct ergo_online *o) {
    return ergo_online_bins_of(o, o->plan->n_series);
}
/* Of a group: sizes[n] of z, then k_ab (row by row, b < a). */
static inline double *ergo_online_group_of(const struct ergo_online *o,
                                           const struct ergo_online_group *group) {
    return ergo_online_units(o) + o->plan->n_tracks + group->at;
}
static inline struct ergo_online_level *ergo_online_level_of(const struct ergo_online *o, size_t l,
                                                             size_t track) {
    return (struct ergo_online_level *)(void *)o->levels[l] + track;
}
/* Samples in the sums, and in a bin. */
static inline uint64_t ergo_online_fed(const struct ergo_online *o) {
    const uint64_t chunk = ERGO_ONLINE_CHUNK;
    return o->count < ERGO_STATS_WHOLE ? 0 : o->count / chunk * chunk;
}
static inline uint64_t ergo_online_bin(uint64_t fed) {
    uint64_t length = 1;
    while (fed > length * ERGO_ONLINE_BINS)
        length *= 2;
    return length;
}
/* The first group with all of these series; NULL: none has. */
const struct ergo_online_group *ergo_online_find(const struct ergo_online_plan *plan,
                                                 const size_t *series, size_t n);
static inline size_t ergo_online_pair(size_t a, size_t b) { /* b < a */
    return a * (a - 1) / 2 + b;
}

#endif
