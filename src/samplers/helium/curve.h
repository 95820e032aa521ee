/* A function of distance from a user's file, for V or f. */
#ifndef ERGO_SAMPLERS_HELIUM_CURVE_H
#define ERGO_SAMPLERS_HELIUM_CURVE_H

#include "base/error.h"
#include "job/job.h"

struct helium_curve {
    size_t n;
    double *r, *value, *second; /* [n]; second derivatives at the points */
    uint64_t hash;              /* of the bytes of the file; 0: none */
};

/*
 * Parse lines "r value", blank lines, and comments that begin with #. Distances (A) must increase,
 * all numbers must be finite, and there must be at least four points. Errors (ERGO_E_IO) name file
 * and line.
 *
 * Between the points: the cubic spline that is also continuous in the third derivative at the
 * second and the last but one point ("not a knot"). It is exact for cubics.
 */
enum ergo_status helium_curve_parse(struct ergo_context *ctx, const char *name, const char *text,
                                    size_t length, struct helium_curve **curve);
/* The same from n >= 4 points. */
enum ergo_status helium_curve_of(struct ergo_context *ctx, size_t n, const double *r,
                                 const double *value, struct helium_curve **curve);
/* Read and parse the file that a key names. */
enum ergo_status helium_curve_read(struct ergo_context *ctx, const struct ergo_point *point,
                                   const char *pointer, struct helium_curve **curve);
void helium_curve_free(struct helium_curve *curve); /* NULL-safe */
/* out: value, slope and second derivative. Outside the points: the value at the end, and 0, 0. */
void helium_curve_at(const struct helium_curve *curve, double r, double out[3]);

#endif
