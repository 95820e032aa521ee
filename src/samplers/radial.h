/* A function of distance from a user's file. */
#ifndef ERGO_SAMPLERS_RADIAL_H
#define ERGO_SAMPLERS_RADIAL_H

#include "base/error.h"
#include "job/job.h"

struct ergo_radial {
    size_t n;
    double *r, *value, *second; /* [n]; second derivatives at the points */
    uint64_t hash;              /* of the bytes of the file; 0: none */
};

/*
 * Parse lines "r value", blank lines, and comments that begin with #. Distances must increase,
 * all numbers must be finite, and there must be at least four points. Errors (ERGO_E_IO) name file
 * and line.
 *
 * Between the points: the cubic spline that is also continuous in the third derivative at the
 * second and the last but one point ("not a knot"). It is exact for cubics.
 */
enum ergo_status ergo_radial_parse(struct ergo_context *ctx, const char *name, const char *text,
                                   size_t length, struct ergo_radial **curve);
/* The same from n >= 4 points. */
enum ergo_status ergo_radial_of(struct ergo_context *ctx, size_t n, const double *r,
                                const double *value, struct ergo_radial **curve);
/* Read and parse the file that a key names. */
enum ergo_status ergo_radial_read(struct ergo_context *ctx, const struct ergo_point *point,
                                  const char *pointer, struct ergo_radial **curve);
/* The same along a line: places may be negative. */
enum ergo_status ergo_radial_read_line(struct ergo_context *ctx, const struct ergo_point *point,
                                       const char *pointer, struct ergo_radial **curve);
void ergo_radial_free(struct ergo_radial *curve); /* NULL-safe */
/* out: value, slope and second derivative. Outside the points: the value at the end, and 0, 0. */
void ergo_radial_at(const struct ergo_radial *curve, double r, double out[3]);

#endif
