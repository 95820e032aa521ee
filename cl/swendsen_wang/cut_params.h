/* Swendsen-Wang on a lattice that is cut into rectangles: what crosses to the device besides
 * params.h. */
#ifndef ERGO_CL_SWENDSEN_WANG_CUT_PARAMS_H
#define ERGO_CL_SWENDSEN_WANG_CUT_PARAMS_H

#include "swendsen_wang/params.h"

/* A rank's rectangle. Its shape is no macro: ranks of all shapes share one build. */
struct sw_rect {
    ulong row0, word0;       /* first row, first word of a row, in the whole lattice */
    ulong all_words, all_lx; /* words and sites in a row of that */
    uint words, rows, tail;  /* of the rectangle; tail: sites in the last word of its rows */
    uint pad;
};
#define SW_RECT_BYTES 48

/* Behind the labels of a rectangle's sites are those of the parts that reach its edges: the root of
 * part k leads to site index `sites` + k, a root, whose cluster's representative is in a list. */

/* Of sweeps that are not measured and gathered: a root whose cluster is in other rectangles too has
 * its cluster's new state for a label, from here on. (Sites and parts are fewer.) */
#define SW_CUT_STATES 0xffffff00u

/* A bond that does not lead out of the rectangle. */
#define SW_CUT_NO_BOND 0xffffffffu

#endif
