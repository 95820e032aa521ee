/* When a job samples. */
#ifndef ERGO_JOB_SCHEDULE_H
#define ERGO_JOB_SCHEDULE_H

#include "job/job.h"

/* Length of a batch's run in steps and samples. Sample i (from 0) is taken after
 * lead + (i + 1) * every steps; the first n_equilibration samples are not used for estimates. */
struct ergo_schedule {
    uint64_t lead; /* unsampled steps first: equilibration % every */
    uint64_t every;
    size_t n_equilibration, n_samples;
    uint64_t tail;  /* unsampled steps last: sweeps % every */
    uint64_t total; /* steps */
};
struct ergo_schedule ergo_schedule_of(const struct ergo_point *point);
/* Can a run stand at that step with that many samples before it? */
bool ergo_schedule_allows(const struct ergo_schedule *s, uint64_t step, uint64_t samples);
/* Samples after which snapshot k (from 0) of n is taken; the last one comes at the end. */
size_t ergo_schedule_snapshot(const struct ergo_schedule *s, size_t k, size_t n);
/* Is one of n snapshots taken after so many steps? */
bool ergo_schedule_has_snapshot(const struct ergo_schedule *s, size_t n, uint64_t step);

/*
 * When frames are taken: at the first measurement at or after each multiple of `steps` steps of the
 * measured run, or, if `logarithmic`, after 1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 25 ... (the
 * rounded Renard series R''10) times as many. How many there are (steps 0: none); samples after
 * which frame k (from 0) is taken; the first frame that is taken after more than so many samples,
 * or SIZE_MAX.
 */
struct ergo_frame_times {
    uint64_t steps;
    bool logarithmic;
};
size_t ergo_schedule_frames(const struct ergo_schedule *s, struct ergo_frame_times times);
size_t ergo_schedule_frame(const struct ergo_schedule *s, struct ergo_frame_times times, size_t k);
size_t ergo_schedule_next_frame(const struct ergo_schedule *s, struct ergo_frame_times times,
                                size_t samples);
/* /output/configurations_every and _spacing; none of a model without forms. */
struct ergo_frame_times ergo_schedule_configurations(const struct ergo_job *job);

/* The first key from number `first` on that gives an interval in measurements ("..._every") which
 * no measurement of the job meets, so that nothing comes of it; n_keys: there is none. */
size_t ergo_schedule_missed(const struct ergo_job *job, size_t first);

#endif
