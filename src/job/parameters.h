/* Values of keys at a point: what all models have, and what the engine looks at: ladders, shares,
 * launches. Where each comes from is in the rows of its keys. */
#ifndef ERGO_JOB_PARAMETERS_H
#define ERGO_JOB_PARAMETERS_H

#include <stdbool.h>
#include <stdint.h>

enum { ERGO_DIM_MAX = 4 };

/* A key's value at a point, with all that is known of it. */
struct ergo_value {
    bool present;   /* has a value: given or default */
    bool given;     /* written in the job */
    bool automatic; /* "auto" */
    double real;    /* REAL, TIME; also INT as double */
    int64_t integer;
    uint64_t seed;
    bool boolean;
    const char *text; /* ENUM, STRING; owned by the job */
    int items;        /* SIZE, REALS, REAL that is an array */
    int64_t size[ERGO_DIM_MAX];
    double reals[ERGO_DIM_MAX];
};

static inline double ergo_real_or(const struct ergo_value *value, double otherwise) {
    return value->present ? value->real : otherwise;
}

static inline int64_t ergo_int_or(const struct ergo_value *value, int64_t otherwise) {
    return value->present ? value->integer : otherwise;
}

struct ergo_parameters {
    const char *audit_device, *configurations_spacing, *device, *distribute, *final_states,
        *observables, *series, *trajectory_format;
    struct ergo_value anneal, ladder, ladder_spacing, ladder_temperatures, measure_every, seed,
        shares, snapshots, start_frame, start_point, start_run, swap_every, temperature_max,
        wall_time;
    double audit_every, checkpoint_every, temperature;
    int64_t blocks, configurations_every, equilibration, halo_colours, halo_sweeps, path, replicas,
        sweeps, trajectory_every, work_group;
};

#define JOB_KEY(field_, pointer_, type_)                                                           \
    ERGO_KEY(pointer_, type_), ERGO_AT(struct ergo_parameters, field_)
/* Of what is cut over ranks: how large the part of each is. */
#define JOB_SHARES JOB_KEY(shares, "/system/shares", STRING), .flags = ERGO_KEY_HOW, .unit = ""

#endif
