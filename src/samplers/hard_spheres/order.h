/* Fluid or crystal: the structure factor and bond-orientational order within the sampler. Keys,
 * observables, curves; configurations that are read back for them. */
#ifndef ERGO_SAMPLERS_HARD_SPHERES_ORDER_H
#define ERGO_SAMPLERS_HARD_SPHERES_ORDER_H

#include "samplers/hard_spheres/spheres.h"

enum { SPHERES_ORDER_KEYS = 2 };
extern const struct ergo_key spheres_order_keys[SPHERES_ORDER_KEYS];

/* Measurements from one that is analysed to the next; 0: none is. */
uint64_t spheres_order_every(const struct ergo_point *point);
bool spheres_order_is_on(const struct ergo_point *point);
enum ergo_status spheres_order_check(struct ergo_context *ctx, const struct ergo_point *point,
                                     const struct spheres_shape *shape);

/* The curves of the model from spheres_order_first on. */
enum { SPHERES_ORDER_NUMBERS, SPHERES_ORDER_SK, SPHERES_ORDER_CURVES };
size_t spheres_order_first(const struct ergo_point *point);
size_t spheres_order_size(const struct ergo_point *point, size_t curve);
void spheres_order_x(const struct ergo_point *point, size_t curve, double *x);

/* Host memory of one analysis. */
uint64_t spheres_order_bytes(const struct ergo_point *point);
/* Curves of a row, if it is one. False: no memory. */
bool spheres_order_row(const struct spheres_state *s, unsigned slot, const struct ergo_row *row);

/* Numbers of an analysis, curve "order". */
enum { SPHERES_PEAK, SPHERES_PEAK_K, SPHERES_Q6, SPHERES_AVERAGED, SPHERES_SOLID, SPHERES_NUMBERS };
/* clang-format off */
#define SPHERES_NUMBER(name_, unit_, number, help_)                                                \
    {ERGO_NAMED(name_, unit_), .help = (help_), .curve = "order", .element = (number),             \
     .applies = spheres_order_is_on}
#define SPHERES_ORDER_OBSERVABLES                                                                  \
    SPHERES_NUMBER("q6", "", SPHERES_Q6,                                                           \
                   "bond-orientational order Q_6 = sqrt(4 pi / 13 sum over m of |<Y_6m>|^2), the " \
                   "mean over the directions from all spheres to their 12 nearest neighbours "     \
                   "(Steinhardt, Nelson, Ronchetti, Phys. Rev. B 28, 784 (1983)): 0.57452 in a "   \
                   "perfect fcc crystal, 0.48476 in hcp, about 1 / sqrt(N) or less in a fluid"),   \
    SPHERES_NUMBER("q6_local", "", SPHERES_AVERAGED,                                               \
                   "mean over spheres of q_6 of the mean q_6m of a sphere and its 12 neighbours "  \
                   "(Lechner, Dellago, J. Chem. Phys. 129, 114707 (2008)): as q6 in a crystal, "   \
                   "also of several grains, where q6 is small"),                                   \
    SPHERES_NUMBER("solid_fraction", "", SPHERES_SOLID,                                            \
                   "share of solid-like spheres: with 7 and more of the 12 neighbours the "        \
                   "correlation of q_6m is above 0.7 (ten Wolde, Ruiz-Montero, Frenkel, J. Chem. " \
                   "Phys. 104, 9932 (1996), with 12 neighbours and normalised)"),                  \
    SPHERES_NUMBER("structure_peak", "", SPHERES_PEAK,                                             \
                   "S(k_0) = |sum over spheres of exp(i k_0 r)|^2 / N, N in a perfect crystal; "   \
                   "k_0: of the box's wave vectors whose length is within a fifth of (111) of "    \
                   "fcc at this density the one with the largest S, in each configuration"),       \
    SPHERES_NUMBER("structure_peak_k", "1/sigma", SPHERES_PEAK_K, "its wave number |k_0|")
/* clang-format on */

#define SPHERES_ORDER_CURVE_TABLE                                                                  \
    {"order", "number", "", "numbers of the analysis of order"}, {                                 \
        "sk", "wave number * sigma", "",                                                           \
            "structure factor S(k), mean over the box's wave vectors in each shell, as wide as "   \
            "the shortest of them is long in a cubic box of close packing; a mesh adds 0.004 at "  \
            "sk_max, 0.001 at nine tenths of it"                                                   \
    }

#endif
