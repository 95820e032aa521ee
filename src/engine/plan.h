/* The needs of a batch on a device, decided before anything is allocated there. */
#ifndef ERGO_ENGINE_PLAN_H
#define ERGO_ENGINE_PLAN_H

#include <stddef.h>
#include <stdint.h>

struct ergo_plan {
    uint64_t device_bytes;   /* all buffers together */
    uint64_t largest_buffer; /* bytes */
    uint64_t host_bytes;
    uint64_t state_bytes; /* of what chains continue from: no less than the members' saved states */
    char path[64];        /* which kernels run: "local", "tile", "global" */
    char launch[256];     /* launch shape for people */
    double launches_per_step;
    size_t block_samples; /* most samples one advance block may have */
    double block_steps;   /* steps of a tenth of a second, as estimated: see engine/pace.h */
    double work_per_step; /* units of the rate per step of the whole batch */
};

/* Steps of a launch that may have `most`, as estimated. */
static inline uint64_t ergo_plan_launch(const struct ergo_plan *plan, uint64_t most) {
    return plan->block_steps < (double)most ? (uint64_t)plan->block_steps : most;
}

#endif
