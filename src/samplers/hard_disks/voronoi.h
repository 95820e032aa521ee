/*
 * Voronoi cells of disks in a periodic rectangle, one at a time: the rectangle of a disk's own
 * images is cut by the bisectors towards its neighbours, near ones first, until none that is left
 * can reach it. There is no triangulation that rounding could make inconsistent: where four or more
 * disks lie on a circle (a square lattice), rounding decides who has a side of length 0, and what
 * is weighed by sides does not notice.
 */
#ifndef ERGO_SAMPLERS_HARD_DISKS_VORONOI_H
#define ERGO_SAMPLERS_HARD_DISKS_VORONOI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Positions, 0 <= x < side[0] and 0 <= y < side[1]. */
struct disks_plane {
    double side[2];
    size_t n;
    const double *x, *y;
};

/* The disks by square bins, about two in each. */
struct disks_bins {
    size_t bins[2];
    double width[2];
    uint32_t *first; /* [bins + 1], into the following: */
    uint32_t *disk;
    double *x, *y;
};
bool disks_bins_init(struct disks_bins *bins, const struct disks_plane *plane); /* false: no memory
                                                                                 */
void disks_bins_free(struct disks_bins *bins);

struct disks_voronoi {
    /* local psi_6: the sum of l exp(6 i theta) over the sides of the cell, divided by that of l; l
     * is the length of a side, theta the direction of the disk beyond it */
    double re, im;
    double area;
    unsigned sides; /* longer than 1e-6 of the circumference */
};

/* cells: [n], in the order of the plane. False: no memory. */
bool disks_voronoi_cells(const struct disks_plane *plane, const struct disks_bins *bins,
                         struct disks_voronoi *cells);

#endif
