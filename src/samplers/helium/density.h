/*
 * The one-body density matrix and the momentum distribution, from atoms that are displaced in
 * thought (cl/helium/density.h): the ratios that a kernel makes, and curves.
 */
#ifndef ERGO_SAMPLERS_HELIUM_DENSITY_H
#define ERGO_SAMPLERS_HELIUM_DENSITY_H

#include "engine/engine.h"
#include "samplers/helium/liquid.h"

enum { HELIUM_DENSITY_MATRIX, HELIUM_MOMENTUM, HELIUM_DENSITY_CURVE_COUNT };
#define HELIUM_DENSITY_CURVES(MIXED)                                                               \
    {"density_matrix", "r / A", "",                                                                \
     "rho_1(r) / density, 1 at 0: mean of psi(.., r_i + r, ..) / psi(R) over atoms and "           \
     "directions (density_matrix_points; McMillan 1965)" MIXED},                                   \
    {                                                                                              \
        "momentum", "k / (1/A)", "atoms",                                                          \
            "n(k), the mean number of atoms with a wave vector k of the box: the mean of N cos(k " \
            "d) psi(.., r_i + d, ..) / psi(R) over d in all of the box. The sum over all wave "    \
            "vectors is N, n(0) the condensate (density_matrix_points)" MIXED                      \
    }
#define HELIUM_CONDENSATE(MIXED)                                                                   \
    {ERGO_NAMED("condensate_fraction", ""),                                                        \
     .help = "n_0 = n(0) / N: part of the atoms with momentum 0 "                                  \
             "(/run/density_matrix_points), exactly for the box" MIXED,                            \
     .curve = "momentum", .from_curve = helium_condensate, .applies = helium_has_condensate},      \
    {                                                                                              \
        ERGO_NAMED("condensate_plateau", ""),                                                      \
            .help =                                                                                \
                "n_0 as the height of density_matrix far out: its mean, weighted by r^2 (in two "  \
                "dimensions r), from "                                                             \
                "3/4 of half the shortest side on. The excess of condensate_fraction, of "         \
                "what is near r = 0, falls as 1/N, and both become one number" MIXED,              \
            .curve = "density_matrix", .from_curve = helium_plateau,                               \
            .applies = helium_has_condensate                                                       \
    }

/* Displacements along a ray, and as many in all of the box; 0: none are made. */
uint32_t helium_density_points(const struct ergo_point *point);
bool helium_has_condensate(const struct ergo_point *point);
double helium_condensate(const struct ergo_point *point, const double *momentum, size_t size);
double helium_plateau(const struct ergo_point *point, const double *matrix, size_t size);
size_t helium_density_size(const struct ergo_point *point, size_t curve);
void helium_density_x(const struct ergo_point *point, size_t curve, double *x);
/* Add `weight` times a walker's curve to out. sums: [2 points], what the kernel found at `step`. */
bool helium_density_add(const struct ergo_point *point, const struct helium_model *model,
                        const struct helium_member *member, uint32_t walker, uint64_t step,
                        const int64_t *sums, size_t curve, double weight, double *out);

/* ---- launches ---------------------------------------------------------------------------------
 */

struct helium_density_launch {
    uint32_t group;        /* work-items of a walker */
    bool local;            /* places in local memory */
    struct ergo_pace pace; /* of launches, in work-groups */
};
/* wish: work-items; halved until they fit. triplet: with such a factor. */
struct helium_density_launch helium_density_choose(const struct ergo_device *device, uint32_t n,
                                                   uint32_t wish, bool triplet);
/* Iterations of a work-item's loops. */
uint64_t helium_density_loops(uint32_t n, uint32_t group, bool triplet);
/* The kernel, and rows of its buffers; those of the triplet factor only where there is one. */
struct helium_density_rows {
    unsigned kernel, places, members, u_tables, sites, sums, triplets, t_tables, fields;
};
/* Displace atoms of the first `chosen` of each member's walkers, for sample `curve` with curves. */
void helium_density_displace(struct ergo_engine *e, const struct helium_density_rows *rows,
                             struct helium_density_launch *launch, uint32_t n, uint32_t walkers,
                             uint32_t chosen, uint32_t points, bool triplet, size_t curve);

#endif
