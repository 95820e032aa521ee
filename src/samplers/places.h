/* Checks of configurations that a job brings from a file. */
#ifndef ERGO_SAMPLERS_PLACES_H
#define ERGO_SAMPLERS_PLACES_H

#include "job/xyz.h"

/* Is every coordinate along the first `dimensions` axes within a million sides of the box? Farther
 * out its digits no longer tell the place in the box. ERGO_E_JOB names the line (of the frame). And
 * is the box periodic along those that have no walls (walled; NULL: none has)? */
enum ergo_status ergo_places_near(struct ergo_context *ctx, const char *name,
                                  const struct ergo_xyz *frame, const double *side,
                                  size_t dimensions, const bool *walled);

/* Are particles a and b too close to each other? Their coordinates are in units of 2^-32 of the
 * sides. */
typedef bool ergo_places_close(const void *user, const uint32_t a[3], const uint32_t b[3]);

/*
 * Find two of n particles, [n][3], that are too close: pair[0] > pair[1]; SIZE_MAX if there are
 * none. Pairs farther apart than `reach` along some axis (in the same units) are not tested. Uses
 * cells, so the time grows as n wherever the particles are.
 */
enum ergo_status ergo_places_pair(struct ergo_context *ctx, const uint32_t *words, size_t n,
                                  const uint32_t reach[3], ergo_places_close *close,
                                  const void *user, size_t pair[2]);

/*
 * Move hard particles apart that a rounding has brought a little too near, by whole units: at[n][3]
 * within side[3], where a unit of each axis has that length, until no two are nearer than `least`,
 * or as far as it comes in some hundred rounds. What is pushed depends on nothing but the places.
 * low, high (NULL: there are no walls): coordinates stay within.
 */
enum ergo_status ergo_places_part(struct ergo_context *ctx, uint64_t (*at)[3], size_t n,
                                  const uint64_t side[3], const double length[3], double least,
                                  const uint64_t low[3], const uint64_t high[3]);

#endif
