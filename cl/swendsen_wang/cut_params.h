/* Swendsen-Wang on a lattice that is cut into rectangles: structs and constants that host and
 * device share, besides params.h. */
#ifndef ERGO_CL_SWENDSEN_WANG_CUT_PARAMS_H
#define ERGO_CL_SWENDSEN_WANG_CUT_PARAMS_H

#include "swendsen_wang/params.h"

/* A rank's rectangle. Its shape is an argument and no macro, so that ranks of all shapes share one
 * build. */
struct sw_rect {
    ulong row0, word0;       /* first row, first word of a row, in the whole lattice */
    ulong all_words, all_lx; /* words and sites in a row of the whole lattice */
    uint words, rows, tail;  /* of the rectangle; tail: sites in the last word of its rows */
    uint sum_slots;          /* of sums over its clusters, between which groups are spread */
    uint first_tile, pad;    /* of a launch: that of its first work-group */
};
/* For kernels on tiles their columns and rows (uint2) follow, those on edges first. */
#define SW_RECT_BYTES 56

/* Labels of parts that reach an edge follow those of the rectangle's sites. The label of part k's
 * root is `sites` + k. That entry is a root itself, and the representative of its cluster is in a
 * list of names. */

/* Sweeps that are not measured: if a root's cluster reaches other rectangles, its label is
 * SW_CUT_STATES plus the cluster's new state. Indices of sites and parts are smaller. */
#define SW_CUT_STATES 0xffffff00u

/* No bond leads out of the rectangle here. */
#define SW_CUT_NO_BOND 0xffffffffu

#endif
