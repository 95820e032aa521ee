/*
 * Orientational and positional order of a configuration, by the host: what hexatic phases are told
 * by (E. P. Bernard and W. Krauth, Phys. Rev. Lett. 107, 155704 (2011)). Lengths in sigma, for any
 * periodic rectangle. What each number is, is said once: in the help of hard_disks.c, which this
 * computes.
 */
#ifndef ERGO_SAMPLERS_HARD_DISKS_HEXATIC_H
#define ERGO_SAMPLERS_HARD_DISKS_HEXATIC_H

#include "samplers/hard_disks/voronoi.h"
#include "samplers/structure.h"

/* The numbers of a configuration. */
enum {
    HEXATIC_PSI,     /* |Psi_6| */
    HEXATIC_PSI2,    /* |Psi_6|^2 */
    HEXATIC_LOCAL,   /* mean of |psi_6| over the disks */
    HEXATIC_DEFECTS, /* share of cells without six sides */
    HEXATIC_PEAK,    /* S(q_0) */
    HEXATIC_PEAK_Q,  /* |q_0| */
    HEXATIC_NUMBERS
};

/* The curves. */
enum hexatic_curve {
    HEXATIC_G6,
    HEXATIC_GQ,
    HEXATIC_CUT,
    HEXATIC_SK,
    HEXATIC_LOCAL_DENSITY,
    HEXATIC_CURVES
};

#define HEXATIC_Q_MAX 8.0         /* of S(q), in 1/sigma: beyond the first peak of any density */
#define HEXATIC_CUT_WIDTH 0.2     /* of the strip of g along the lattice, in sigma */
#define HEXATIC_CUT_ORIGINS 4096u /* disks from which it is counted, at most */
#define HEXATIC_DENSITY_BIN 0.002 /* of packing fractions */

struct hexatic_plan {
    double side[2];
    size_t mesh[2]; /* for correlations: columns, rows */
    double bin;     /* of their distances */
    struct ergo_structure structure;
    double cut;      /* bins along the lattice */
    size_t boxes[2]; /* of local densities */
    size_t sizes[HEXATIC_CURVES];
};
/* block: wished side of the boxes of local densities; 0: none. The sizes of curves follow from n
 * alone, because points of a batch have the same; what bins they are follows from the box. */
struct hexatic_plan hexatic_plan_of(const double side[2], size_t n, double block);
void hexatic_x(const struct hexatic_plan *plan, enum hexatic_curve curve, double *x);

/* numbers: [HEXATIC_NUMBERS]; curves[c]: [sizes[c]]. False: no memory. */
bool hexatic_analyse(const struct hexatic_plan *plan, const struct disks_plane *plane,
                     double *numbers, double *const curves[HEXATIC_CURVES]);

/* The two maxima of a histogram of local densities (shares of bins from 0 on) that a valley parts:
 * lower than 0.7 of the lower one, after smoothing over some bins, and by more than numbers of
 * boxes scatter; the lower one is more than a quarter of the other. False: there are no two. */
bool hexatic_two_peaks(const double *shares, size_t size, double peaks[2]);

#endif
