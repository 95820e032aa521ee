/* When a job samples. */
#include "job/schedule.h"

#include <string.h>

#include "job/model.h"

struct ergo_schedule ergo_schedule_of(const struct ergo_point *point) {
    const uint64_t equilibration = (uint64_t)point->parameters->equilibration;
    const uint64_t sweeps = (uint64_t)point->parameters->sweeps;
    struct ergo_schedule s = {.every = (uint64_t)point->parameters->measure_every.integer};
    s.lead = equilibration % s.every;
    s.n_equilibration = (size_t)(equilibration / s.every);
    s.n_samples = s.n_equilibration + (size_t)(sweeps / s.every);
    s.tail = sweeps % s.every;
    s.total = equilibration + sweeps;
    return s;
}

bool ergo_schedule_allows(const struct ergo_schedule *s, uint64_t step, uint64_t samples) {
    const uint64_t sampled = s->lead + samples * s->every;
    return step <= s->total && samples <= s->n_samples && (!samples || step >= sampled) &&
           (samples == s->n_samples || step < sampled + s->every);
}

size_t ergo_schedule_snapshot(const struct ergo_schedule *s, size_t k, size_t n) {
    const size_t measured = s->n_samples - s->n_equilibration;
    return s->n_equilibration + (size_t)((double)measured * (double)(k + 1) / (double)n);
}

bool ergo_schedule_has_snapshot(const struct ergo_schedule *s, size_t n, uint64_t step) {
    bool has = n > 0 && step == s->total;
    for (size_t k = 0; k + 1 < n && !has; k++)
        has = step == s->lead + ergo_schedule_snapshot(s, k, n) * s->every;
    return has;
}

/* Of multiples within one measurement the first counts. */
static uint64_t apart(const struct ergo_schedule *s, struct ergo_frame_times times) {
    return times.steps > s->every ? times.steps : s->every;
}

/* Steps after which frame k is due, in units of the interval; UINT64_MAX: beyond all runs. */
static uint64_t multiple(struct ergo_frame_times times, size_t k) {
    static const uint64_t first[] = {1, 2, 3, 4, 5, 6, 8},
                          decade[] = {10, 12, 15, 20, 25, 30, 40, 50, 60, 80};
    enum { FIRST = sizeof first / sizeof *first, DECADE = sizeof decade / sizeof *decade };
    if (!times.logarithmic)
        return k + 1;
    if (k < FIRST)
        return first[k];
    uint64_t number = decade[(k - FIRST) % DECADE];
    for (size_t i = 0; i < (k - FIRST) / DECADE; i++) {
        if (number > UINT64_MAX / 10)
            return UINT64_MAX;
        number *= 10;
    }
    return number;
}

/* The first frame that is due after more than so many steps. */
static size_t after(const struct ergo_schedule *s, struct ergo_frame_times times, uint64_t steps) {
    const uint64_t units = steps / apart(s, times);
    size_t k = times.logarithmic ? 0 : (size_t)units;
    while (multiple(times, k) <= units)
        k++;
    return k;
}

size_t ergo_schedule_frames(const struct ergo_schedule *s, struct ergo_frame_times times) {
    return times.steps ? after(s, times, (s->n_samples - s->n_equilibration) * s->every) : 0;
}

size_t ergo_schedule_frame(const struct ergo_schedule *s, struct ergo_frame_times times, size_t k) {
    const uint64_t due = multiple(times, k) * apart(s, times);
    return s->n_equilibration + (size_t)((due + s->every - 1) / s->every);
}

size_t ergo_schedule_next_frame(const struct ergo_schedule *s, struct ergo_frame_times times,
                                size_t samples) {
    const uint64_t measured = samples > s->n_equilibration ? samples - s->n_equilibration : 0;
    const size_t k = times.steps ? after(s, times, measured * s->every) : 0;
    return k < ergo_schedule_frames(s, times) ? k : SIZE_MAX;
}

struct ergo_frame_times ergo_schedule_configurations(const struct ergo_job *job) {
    const struct ergo_point *point = &job->points[0];
    return (struct ergo_frame_times){
        job->model->form ? (uint64_t)point->parameters->configurations_every : 0,
        ergo_says(point->parameters->configurations_spacing, "logarithmic")};
}

/* ---- intervals in measurements ----------------------------------------------------------------
 */

/* Is none of the point's measurements that count one of each `every`? Numbers begin with the
 * equilibration's. */
static bool misses(const struct ergo_point *point, uint64_t every) {
    const struct ergo_schedule s = ergo_schedule_of(point);
    return (s.n_equilibration + every - 1) / every * every >= s.n_samples;
}

size_t ergo_schedule_missed(const struct ergo_job *job, size_t first) {
    for (size_t k = first; k < job->n_keys; k++) {
        const struct ergo_key *key = job->keys[k];
        const size_t length = strlen(key->pointer);
        if (!key->unit || strcmp(key->unit, "measurements") != 0 || length < 6 ||
            strcmp(key->pointer + length - 6, "_every") != 0)
            continue;
        bool given = false, meets = false;
        for (size_t p = 0; p < job->n_points && !meets; p++) {
            const struct ergo_point *point = &job->points[p];
            if (point->replica)
                continue;
            const int64_t every = point->values[k].given ? point->values[k].integer : 0;
            given = given || every > 0;
            meets = every > 0 &&
                    (point->parameters->measure_every.automatic || !misses(point, (uint64_t)every));
        }
        if (given && !meets)
            return k;
    }
    return job->n_keys;
}
