/* Hard walls and external fields: what the samplers of hard particles share on the host. What
 * kernels do is in cl/common/walls.h. */
#ifndef ERGO_SAMPLERS_CONFINED_H
#define ERGO_SAMPLERS_CONFINED_H

#include "common/walls.h"
#include "engine/engine.h"
#include "job/job.h"

/* Keys of models that have these: walls, the axis, fields, bins of the profile. */
enum { ERGO_CONFINED_KEYS = 6 };
extern const struct ergo_key ergo_confined_keys_2d[ERGO_CONFINED_KEYS];
extern const struct ergo_key ergo_confined_keys_3d[ERGO_CONFINED_KEYS];

/* Predicates of points that have these keys. */
bool ergo_confined_walled(const struct ergo_point *point, unsigned axis);
bool ergo_confined_has_walls(const struct ergo_point *point);
bool ergo_confined_has_field(const struct ergo_point *point);
bool ergo_confined(const struct ergo_point *point); /* walls or a field */
/* The axis of the field and of profiles. */
unsigned ergo_confined_axis(const struct ergo_point *point, unsigned dimensions);

/* The side of a checkerboard around walls that far apart: an even number of cells of 1.06 sigma.
 * What is more than the distance of the walls belongs to them. */
double ergo_confined_board(double wall);

/* What follows from a point: where centres may be, and what profiles are counted by. */
struct ergo_confinement {
    bool is, field;          /* walls or a field; a field */
    struct ergo_walls walls; /* all else is along the axis of profiles: */
    double sigma;            /* in units */
    uint64_t side;           /* of the checkerboard's box, in units */
    double length, area;     /* of the box, and of its cross-section, in sigma */
    uint64_t n;
};
/* box[]: sides in sigma, from face to face where there are walls; sides of the checkerboard's box
 * in units, and units of sigma. */
struct ergo_confinement ergo_confined_of(const struct ergo_point *point, unsigned dimensions,
                                         const double *box, const uint64_t *side,
                                         const double *sigma, uint64_t n);
/* Is a centre at that place in no wall? */
bool ergo_confined_free(const struct ergo_confinement *confined, unsigned dimensions,
                        const uint64_t *place);

/* The nodes of a point's field, nodes[ERGO_FIELD_NODES] (NULL: not wanted). ERGO_E_JOB for fields
 * that cannot be had: no wall below gravity, files that end too early, too steep. */
enum ergo_status ergo_confined_nodes(struct ergo_context *ctx, const struct ergo_point *point,
                                     const struct ergo_confinement *confined, int64_t *nodes);
/* What the tables of keys cannot say. */
enum ergo_status ergo_confined_check(struct ergo_context *ctx, const struct ergo_point *point,
                                     unsigned dimensions, const struct ergo_confinement *confined);
/* Make the constants of a batch, whose confinements are `stride` bytes apart: declared buffers for
 * walls and fields. */
void ergo_confined_declare(struct ergo_engine *e, unsigned walls, unsigned fields,
                           const struct ergo_confinement *first);
enum ergo_status ergo_confined_create(struct ergo_context *ctx, struct ergo_engine *e,
                                      unsigned walls, unsigned fields,
                                      const struct ergo_confinement *first, size_t stride);

/* ---- curves over one axis ---------------------------------------------------------------------
 *
 * Counts of centres in equal bins: of all places (profile), and of those up to contact_range from
 * the lower and the upper wall. */
enum ergo_confined_curve {
    ERGO_CONFINED_PROFILE,
    ERGO_CONFINED_LOW,
    ERGO_CONFINED_HIGH,
    ERGO_CONFINED_COUNTED,
    ERGO_CONFINED_WEIGHT = ERGO_CONFINED_COUNTED, /* from the profile's counts */
    ERGO_CONFINED_CURVES
};
/* From which counts a curve is made. */
unsigned ergo_confined_counts(unsigned curve);
/* Number of bins at a point, 0: no such curve. */
size_t ergo_confined_size(const struct ergo_point *point, unsigned dimensions, unsigned curve);
/* The middles of bins: height over the lower face, or distance from the wall, in sigma. */
void ergo_confined_x(const struct ergo_confinement *confined, unsigned curve, size_t bins,
                     double *x);
/* Counts to densities, or to the weight above. */
void ergo_confined_convert(const struct ergo_point *point, const struct ergo_confinement *confined,
                           unsigned curve, size_t bins, const uint32_t *counts, double *values);
/* The density at a wall, which is beta P there, from its curve. */
double ergo_confined_contact(const struct ergo_point *point,
                             const struct ergo_confinement *confined, const double *curve,
                             size_t bins);
/* The mean of the profile in the middle fifth (from_curve of an observable), and the surface excess
 * with it. */
double ergo_confined_central(const struct ergo_point *point, const double *profile, size_t bins);
double ergo_confined_excess(const struct ergo_confinement *confined, const double *profile,
                            size_t bins);

/* ---- tables of models ------------------------------------------------------------------------ */

/* dimensions: as text; per_area: unit of a number per area of the walls; things: "disks".
 * is_walled, is_slit: predicates; contact, excess: from_curve; energy: column. */
/* clang-format off */
#define ERGO_CONFINED_OBSERVABLES(dimensions, per_area, things, is_walled, is_slit, contact,       \
                                  excess, energy)                                                  \
    {ERGO_NAMED("wall_pressure_low", "k_B T / sigma^" dimensions),                                 \
     .help = "beta P sigma^" dimensions " on the lower wall, which is the density at contact, "    \
             "extrapolated (contact theorem)",                                                     \
     .curve = "wall_low", .from_curve = (contact), .applies = (is_walled)},                        \
    {ERGO_NAMED("wall_pressure_high", "k_B T / sigma^" dimensions),                                \
     .help = "the same on the upper wall", .curve = "wall_high", .from_curve = (contact),          \
     .applies = (is_walled)},                                                                      \
    {ERGO_NAMED("central_density", "1/sigma^" dimensions),                                         \
     .help = "rho_c, mean of the density profile over the middle fifth of the slit",               \
     .curve = "profile", .from_curve = ergo_confined_central, .applies = (is_slit)},               \
    {ERGO_NAMED("surface_excess", per_area),                                                       \
     .help = "excess adsorption on one wall, (N / A - rho_c L) / 2, L from face to face: "         \
             "particles beyond those of a fluid of density rho_c up to the wall",                  \
     .curve = "profile", .from_curve = (excess), .applies = (is_slit)},                            \
    {ERGO_NAMED("field_energy", "k_B T"), .help = "mean of beta u over all " things,               \
     ERGO_COLUMN(energy), .applies = ergo_confined_has_field}

/* Of trial moves, with walls or without. */
#define ERGO_HARD_MOVES(acceptance, occupied, thing)                                               \
    {ERGO_NAMED("acceptance", ""), .help = "accepted share of trial moves",                        \
     ERGO_COLUMN(acceptance), .of_moves = true},                                                   \
    {ERGO_NAMED("occupied", ""),                                                                   \
     .help = "share of cells that hold a " thing ": the rate counts trial moves for every cell",   \
     ERGO_COLUMN(occupied)}
/* clang-format on */

/* Curves in the order of enum ergo_confined_curve; across: what the cross-section is. */
#define ERGO_CONFINED_CURVE_TABLE(dimensions, across)                                              \
    {"profile", "height / sigma", "1/sigma^" dimensions,                                           \
     "density of centres over the cross-section of the box, by the height over its lower face"},   \
        {"wall_low", "distance / sigma", "1/sigma^" dimensions, "density next to the lower wall"}, \
        {"wall_high", "distance / sigma", "1/sigma^" dimensions,                                   \
         "density next to the upper wall"},                                                        \
    {                                                                                              \
        "weight_above", "height / sigma", "k_B T / sigma^" dimensions,                             \
            "gravity times the particles above that height, per " across                           \
            ": beta (P - P at the upper wall) there"                                               \
    }

#endif
