/* Hard walls and external fields: what the samplers of hard particles share on the host. What
 * kernels do is in cl/common/walls.h. */
#ifndef ERGO_SAMPLERS_CONFINED_H
#define ERGO_SAMPLERS_CONFINED_H

#include "common/walls.h"
#include "job/job.h"

/* Keys of models that have these: walls, the axis, fields, bins of the profile. */
enum { ERGO_CONFINED_KEYS = 6 };
extern const struct ergo_key ergo_confined_keys_2d[ERGO_CONFINED_KEYS];
extern const struct ergo_key ergo_confined_keys_3d[ERGO_CONFINED_KEYS];

/* Predicates of points that have these keys. */
bool ergo_confined_walled(const struct ergo_point *point, unsigned axis);
bool ergo_confined_has_walls(const struct ergo_point *point);
bool ergo_confined_has_field(const struct ergo_point *point);
bool ergo_confined_has_gravity(const struct ergo_point *point);
bool ergo_confined(const struct ergo_point *point); /* walls or a field */
/* The axis of the field and of profiles. Are there walls, and no field, along it? */
unsigned ergo_confined_axis(const struct ergo_point *point, unsigned dimensions);

/* Walls of a box with these sides, `wall` sigma from wall to wall where there are walls, and
 * side[k] units around. range: of the histograms next to walls, in sigma. */
struct ergo_walls ergo_confined_walls(const struct ergo_point *point, unsigned dimensions,
                                      const double *wall, const uint64_t *side, double sigma,
                                      double range);
/* Units of places that centres can have along the axis of profiles. */
uint64_t ergo_confined_length(const struct ergo_walls *walls);
/* Is a centre at that place in no wall? */
bool ergo_confined_free(const struct ergo_walls *walls, unsigned dimensions, const uint64_t *place);

/* The nodes of a point's field, nodes[ERGO_FIELD_NODES]. ERGO_E_JOB, by ergo_job_error, for fields
 * that cannot be had: no wall below gravity, files, too steep. */
enum ergo_status ergo_confined_nodes(struct ergo_context *ctx, const struct ergo_point *point,
                                     const struct ergo_walls *walls, const uint64_t *side,
                                     double sigma, uint64_t n, int64_t *nodes);
/* The same, without the nodes, and what cannot be said in the tables of keys. */
enum ergo_status ergo_confined_check(struct ergo_context *ctx, const struct ergo_point *point,
                                     unsigned dimensions, const struct ergo_walls *walls,
                                     const uint64_t *side, double sigma, uint64_t n);

/* ---- curves over one axis ---------------------------------------------------------------------
 *
 * Counts of centres in equal bins: of all places (profile), and of those up to `range` from the
 * lower and the upper wall. */
enum ergo_confined_curve {
    ERGO_CONFINED_PROFILE,
    ERGO_CONFINED_LOW,
    ERGO_CONFINED_HIGH,
    ERGO_CONFINED_COUNTED,
    ERGO_CONFINED_WEIGHT = ERGO_CONFINED_COUNTED, /* from the profile's counts */
    ERGO_CONFINED_CURVES
};
/* Adds a centre at that place along the axis; bins[], counts[]: of each counted curve. */
void ergo_confined_count(const struct ergo_walls *walls, uint64_t place, const uint32_t *bins,
                         uint32_t *const *counts);
/* Number of bins at a point, 0: no such curve. */
size_t ergo_confined_size(const struct ergo_point *point, unsigned dimensions, unsigned curve);
/* The middles of bins: height over the lower face, or distance from the wall, in sigma. */
void ergo_confined_x(const struct ergo_walls *walls, double sigma, unsigned curve, size_t bins,
                     double *x);
/* Counts to densities, or to the weight over an area; area: of the other sides, in sigma. */
void ergo_confined_convert(const struct ergo_point *point, const struct ergo_walls *walls,
                           double sigma, double area, unsigned curve, size_t bins,
                           const uint32_t *counts, double *values);
/* The density at the wall, which is beta P there, from such a curve. */
double ergo_confined_contact(const struct ergo_point *point, const struct ergo_walls *walls,
                             double sigma, const double *curve, size_t bins);
/* The mean of the profile in the middle fifth. */
double ergo_confined_central(const double *profile, size_t bins);

#endif
