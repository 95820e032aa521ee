/* The same job on several devices: do they agree, from which step on not, and how fast is each? */
#ifndef ERGO_COMPARE_COMPARE_H
#define ERGO_COMPARE_COMPARE_H

#include "run/result.h"

struct ergo_compared_device {
    char *selector;             /* as asked for; owned */
    char *folder;               /* of its run; owned */
    enum ergo_status status;    /* of its run */
    char *message;              /* owned; what went wrong, NULL: nothing */
    struct ergo_result *result; /* owned; NULL when it failed */
    double seconds;             /* wall time of all of it, building included */
    /* beside the first device that finished: */
    size_t n_different; /* points that end in another state */
    bool same_samples;  /* of the points that end in the same one: all samples, bit for bit */
};

struct ergo_comparison {
    size_t n_devices, reference; /* the first device that finished; its result has the job */
    struct ergo_compared_device *devices;
    /* Where the first that differs begins to: after `last_same` steps (equilibration included)
     * states are equal, after first_step not. first_step 0: not known, or nothing differs. */
    size_t first_device, first_point;
    uint64_t last_same, first_step;
};

#endif
