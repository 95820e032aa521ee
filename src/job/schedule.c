/* When a job samples. */
#include "job/schedule.h"

struct ergo_schedule ergo_schedule_of(const struct ergo_point *point) {
    const uint64_t equilibration = (uint64_t)ergo_point_int(point, "/run/equilibration");
    const uint64_t sweeps = (uint64_t)ergo_point_int(point, "/run/sweeps");
    struct ergo_schedule s = {.every = (uint64_t)ergo_point_int(point, "/run/measure_every")};
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

/* Of multiples within one measurement the first counts. */
static uint64_t apart(const struct ergo_schedule *s, uint64_t interval) {
    return interval > s->every ? interval : s->every;
}

size_t ergo_schedule_frames(const struct ergo_schedule *s, uint64_t interval) {
    const uint64_t steps = (s->n_samples - s->n_equilibration) * s->every;
    return interval ? (size_t)(steps / apart(s, interval)) : 0;
}

size_t ergo_schedule_frame(const struct ergo_schedule *s, uint64_t interval, size_t k) {
    const uint64_t due = (k + 1) * apart(s, interval);
    return s->n_equilibration + (size_t)((due + s->every - 1) / s->every);
}

size_t ergo_schedule_next_frame(const struct ergo_schedule *s, uint64_t interval, size_t samples) {
    const uint64_t measured = samples > s->n_equilibration ? samples - s->n_equilibration : 0;
    const size_t k = interval ? (size_t)(measured * s->every / apart(s, interval)) : 0;
    return k < ergo_schedule_frames(s, interval) ? k : SIZE_MAX;
}
