/*
 * One-body factors: psi has exp(-c/2 |r_i - R_i|^2) for each atom. A solid (Nosanow) has the sites
 * R of a lattice, a trap the middle of the box, and a harmonic potential; a slab has both along the
 * third axis alone.
 */
#ifndef ERGO_SAMPLERS_HELIUM_ONE_BODY_H
#define ERGO_SAMPLERS_HELIUM_ONE_BODY_H

#include <stdbool.h>
#include <stdint.h>

#include "job/job.h"

struct helium_model;
struct helium_member;

enum helium_one_kind {
    HELIUM_NO_SITES,
    HELIUM_HCP,
    HELIUM_FCC,
    HELIUM_BCC,
    HELIUM_TRIANGULAR, /* in two dimensions */
    HELIUM_TRAP,
    HELIUM_SLAB
};

struct helium_one_body {
    enum helium_one_kind kind;
    uint32_t dimensions;
    double c;          /* 1/A^2; 0: no factor */
    double spring;     /* external potential: spring |r - R|^2, K/A^2 */
    double along[3];   /* 1, or 0 of axes along which neither acts */
    double edge[3];    /* proportions of the lattice's rectangular cell; 1 of others */
    uint32_t cells[3]; /* of the box */
};

enum { HELIUM_N_ONE_BODY_KEYS = 5 };
extern const struct ergo_key helium_one_body_keys[HELIUM_N_ONE_BODY_KEYS];
#define HELIUM_ONE_BODY_KEYS                                                                       \
    { helium_one_body_keys, HELIUM_N_ONE_BODY_KEYS }
bool helium_has_sites(const struct ergo_point *point);
bool helium_is_solid(const struct ergo_point *point);
/* A trap or a slab: the density is not uniform, and the box is not full. */
bool helium_is_confined(const struct ergo_point *point);

/* The factor of a point whose model has n, density and lambda. */
struct helium_one_body helium_one_body_of(const struct ergo_point *point,
                                          const struct helium_model *model);
/* n, aspect and sides fit the factor. */
enum ergo_status helium_check_one_body(struct ergo_context *ctx, const struct ergo_point *point,
                                       const struct helium_model *model);
bool helium_one_is_solid(const struct helium_one_body *one);
/* The site of atom i, in 2^-32 of the sides. */
void helium_site_of(const struct helium_one_body *one, uint32_t i, uint32_t site[3]);
/* Words of the sites of all atoms, and of a table behind them. */
size_t helium_sites_words(const struct ergo_point *point);
/* The sites, [3][n], zeros without any; and the table. */
void helium_sites(const struct helium_model *model, int32_t *sites);
/* The distance of nearest sites of a lattice, A. */
double helium_nearest_sites(const struct helium_model *model);
/* The length that displacements are told in: density^(-1/d), in a trap c^(-1/2); A. */
double helium_model_spacing(const struct helium_model *model);
/* What kernels get of it. */
void helium_member_sites(const struct helium_model *model, struct helium_member *member);
/* Add the usual and the largest share of an atom in |V|, |r V'|, lambda |lap ln psi|, and
 * sqrt(lambda) |grad ln psi|. */
void helium_site_shares(const struct helium_model *model, double usual[4], double largest[4]);
/* The start of a walker with sites: near these, and in a trap spread over it. */
void helium_sites_start(const struct helium_model *model, const uint32_t lattice[4],
                        const struct helium_member *member, uint32_t walker, int32_t *place);

/* ---- sites.c: what is measured ----------------------------------------------------------------
 */

/* Curves of points with sites: the mean square displacement along each axis, A^2, and the density
 * of an atom around its site, 1/A^d, at gr_bins distances up to half the shortest side. */
enum { HELIUM_SPREAD, HELIUM_PROFILE, HELIUM_SITE_CURVE_COUNT };
#define HELIUM_SITE_CURVES                                                                         \
    {"spread", "axis (1, 2, 3)", "A^2",                                                            \
     "with a one_body factor: mean square distance of atoms from their sites along x, y, z (of a " \
     "slab z alone says something, in two dimensions there is no z); of a solid less the mean "    \
     "displacement of a walker's atoms, "                                                          \
     "times n/(n-1)"},                                                                             \
    {                                                                                              \
        "profile", "r / A", "1/A^3",                                                               \
            "with a one_body factor: density of an atom around its site, or (times n) of a trap, " \
            "or of a "                                                                             \
            "slab by the distance from its middle plane (by the height over it where there is a "  \
            "table of /system/external or /system/one_body_factor); 1/A^2 in two dimensions"       \
    }
#define HELIUM_LINDEMANN                                                                           \
    {                                                                                              \
        ERGO_NAMED("lindemann", ""),                                                               \
            .help = "of a solid: root of the mean square distance of atoms from their sites "      \
                    "(curve spread, summed), over the distance of nearest sites",                  \
            .curve = "spread", .from_curve = helium_lindemann, .applies = helium_measures_solid    \
    }
bool helium_measures_solid(const struct ergo_point *point);
double helium_lindemann(const struct ergo_point *point, const double *spread, size_t size);
size_t helium_site_curve_size(const struct ergo_point *point, size_t curve);
void helium_site_curve_x(const struct ergo_point *point, size_t curve, double *x);
/* A curve from positions [walkers][3][n]. */
void helium_site_curve(const struct ergo_point *point, const struct helium_model *model,
                       size_t curve, const int32_t *places, uint32_t walkers, double *out);

#endif
