/* The needs of a batch on a device, decided before anything is allocated there. */
#ifndef ERGO_ENGINE_PLAN_H
#define ERGO_ENGINE_PLAN_H

#include <stddef.h>
#include <stdint.h>

struct ergo_plan {
    uint64_t device_bytes;   /* all buffers together */
    uint64_t largest_buffer; /* bytes */
    uint64_t host_bytes;
    char path[64];    /* which kernels run: "local", "tile", "global" */
    char launch[256]; /* launch shape for people */
    double launches_per_step;
    size_t block_samples; /* most samples one advance block may have */
    double block_steps;   /* steps after which an advance block should end, roughly 0.1 s */
    double work_per_step; /* units of the rate per step of the whole batch */
};

#endif
