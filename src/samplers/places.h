/* Configurations that a job brings: are they such as a run can begin with? */
#ifndef ERGO_SAMPLERS_PLACES_H
#define ERGO_SAMPLERS_PLACES_H

#include "job/xyz.h"

/* Every coordinate along the first `dimensions` axes within a million sides of the box: farther out
 * its digits no longer say where in the box it is. ERGO_E_JOB, with the line (of the frame). */
enum ergo_status ergo_places_near(struct ergo_context *ctx, const char *name,
                                  const struct ergo_xyz *frame, const double *side,
                                  size_t dimensions);

/* Are particles a and b too close to each other? Places are 2^-32 of the sides. */
typedef bool ergo_places_close(const void *user, const uint32_t a[3], const uint32_t b[3]);

/*
 * Two of n particles, [n][3], that are: pair[0] > pair[1]; SIZE_MAX: there are none. reach: pairs
 * are farther apart than that along some axis, or are asked about; in places. By cells, so in a
 * time that grows as n wherever the particles are.
 */
enum ergo_status ergo_places_pair(struct ergo_context *ctx, const uint32_t *words, size_t n,
                                  const uint32_t reach[3], ergo_places_close *close,
                                  const void *user, size_t pair[2]);

#endif
