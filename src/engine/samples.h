/* Samples as they come from a device. They belong to the engine because audits compare them. */
#ifndef ERGO_ENGINE_SAMPLES_H
#define ERGO_ENGINE_SAMPLES_H

#include <stddef.h>

enum { ERGO_CURVES_MAX = 24 }; /* most curves of one sampler */

/* The samples of a block, from `collect` to the run layer. */
struct ergo_samples {
    size_t count;    /* samples per member */
    double *columns; /* [count][members][n_columns] */
    /* Curves of samples whose index (counted from the first sample of the run) is a multiple of
     * the sampler's curve interval: [n_curve_samples][members][curve size], per curve. */
    size_t n_curve_samples;
    double *curves[ERGO_CURVES_MAX]; /* of curves_sums: [members][curve size] */
};

/* One member of a sample. */
struct ergo_row {
    size_t number; /* sample times the members plus the member */
    size_t sample; /* of the block; of curves, among those with curves */
    size_t taken;  /* of the block, also where it is of curves */
    size_t member;
    double *columns;       /* of the row; NULL where it is of curves */
    double *const *curves; /* curve c of the row: from number times its size on */
};

#endif
