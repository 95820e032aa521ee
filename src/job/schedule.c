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
