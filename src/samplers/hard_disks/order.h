/* Hexatic analysis within the sampler: keys, observables, curves; configurations that are read back
 * for it. At constant volume. */
#ifndef ERGO_SAMPLERS_HARD_DISKS_ORDER_H
#define ERGO_SAMPLERS_HARD_DISKS_ORDER_H

#include "samplers/hard_disks/disks.h"

enum { DISKS_ORDER_KEYS = 2 };
extern const struct ergo_key disks_order_keys[DISKS_ORDER_KEYS];

/* Measurements from one that is analysed to the next; 0: none is. */
uint64_t disks_order_every(const struct ergo_point *point);
enum ergo_status disks_order_check(struct ergo_context *ctx, const struct ergo_point *point,
                                   const struct disks_shape *shape);

/* Of curves from DISKS_CURVE_NUMBERS on. */
size_t disks_order_size(const struct ergo_point *point, size_t curve);
void disks_order_x(const struct ergo_point *point, size_t curve, double *x);

/* Host memory of one analysis. */
uint64_t disks_order_bytes(const struct ergo_point *point);
/* Curves of a row, if it is one. False: no memory. */
bool disks_order_row(const struct disks_state *s, unsigned slot, const struct ergo_row *row);

double disks_order_chi(const struct ergo_point *point, const double *numbers, size_t size);
double disks_order_liquid(const struct ergo_point *point, const double *shares, size_t size);
double disks_order_hexatic(const struct ergo_point *point, const double *shares, size_t size);
bool disks_order_is_on(const struct ergo_point *point);
bool disks_order_has_blocks(const struct ergo_point *point);

#define DISKS_ORDER_CURVES                                                                         \
    {"order", "number", "", "numbers of the hexatic analysis"},                                    \
        {"g6", "distance / sigma", "",                                                             \
         "orientational correlation g_6(r): mean of Re psi_6(i)* psi_6(j), as in psi6_voronoi, "   \
         "over all pairs at that distance, as far as a mesh of cells of at most a bin tells it"},  \
        {"gq", "distance / sigma", "",                                                             \
         "positional correlation: mean of cos q_0 (r_i - r_j), q_0 as in structure_peak, over "    \
         "the same pairs"},                                                                        \
        {"lattice_gr", "distance / sigma", "",                                                     \
         "g(x, 0), 1 in an ideal gas, x along a bond of the crystal whose orientation is "         \
         "Psi_6's: density of disks in a strip of 0.2 sigma, mean of the six directions, from "    \
         "4096 disks at most"},                                                                    \
        {"sk", "wave number * sigma", "",                                                          \
         "structure factor S(q), mean over the box's wave vectors in each ring"},                  \
    {                                                                                              \
        "local_density", "packing fraction", "",                                                   \
            "shares of the boxes (hexatic_block) that hold disks, by packing fraction: area of "   \
            "the disks whose centre is in a box over that of their Voronoi cells"                  \
    }

#endif
