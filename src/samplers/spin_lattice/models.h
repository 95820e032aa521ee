/* The models of spin-lattice: each is a set of ops over the tables of the sampler (spin_lattice.c),
 * which chooses by /system/model. A state begins with a pointer to its model's ops. */
#ifndef ERGO_SAMPLERS_SPIN_LATTICE_MODELS_H
#define ERGO_SAMPLERS_SPIN_LATTICE_MODELS_H

#include <string.h>

#include "samplers/sampler.h"

/* Frames (.vti) of lattices beyond that many sites would fill disks: none is written. */
enum { MODEL_FRAME_SITES = 1 << 22 };

extern const struct ergo_sampler_ops ising_ops, facilitated_ops, bytes_ops, glass_ops;
extern const struct ergo_sampler_ops glass_cut_ops; /* spin glasses over ranks */

/* Curves and columns, in the order of the tables. */
enum {
    CURVE_CORRELATION,
    CURVE_CORRELATION_X,
    CURVE_CORRELATION_Y,
    CURVE_PHI,
    CURVE_AUTOCORRELATION,
    CURVE_PERSISTENCE,
    CURVE_UP_DENSITY,
    CURVE_FROZEN,
    CURVE_CORRELATION_Z,
    CURVE_STRUCTURE,
    CURVE_LADDER_ENERGY,
    CURVE_LADDER_HEAT,
    CURVE_LADDER_Q2,
    CURVE_LADDER_BINDER,
    CURVE_LADDER_XI,
    CURVE_LADDER_SWAPS,
    CURVE_OVERLAP,
    CURVE_MOMENTS,
    CURVE_HALVES,
    CURVE_SAMPLES,
    CURVE_EXCHANGES,
    CURVE_ROUND_TRIPS,
    CURVES
};
enum { COLUMN_ENERGY, COLUMN_MAGNETIZATION, COLUMN_STAGGERED, COLUMNS };

static inline bool model_is_facilitated(const struct ergo_point *point) {
    const char *model = ergo_point_text(point, "/system/model");
    return strcmp(model, "north-east") == 0 || strcmp(model, "east") == 0 ||
           strcmp(model, "fredrickson-andersen") == 0;
}

/* Is the value of a key written in the job, or scanned? */
static inline bool model_given(const struct ergo_point *point, const char *pointer) {
    return ergo_point_value(point, pointer)->given;
}

#endif
