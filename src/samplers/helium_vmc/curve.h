/* A function of distance from a user's file, for pair functions. */
#ifndef ERGO_SAMPLERS_HELIUM_VMC_CURVE_H
#define ERGO_SAMPLERS_HELIUM_VMC_CURVE_H

#include "base/error.h"
#include "job/job.h"

struct helium_curve {
    size_t n;
    double *r, *value, *second; /* [n]; second derivatives at the points */
    uint64_t hash;              /* of the file's bytes */
};

/*
 * Lines "r value", blank lines, and comments that begin with #. Distances (A) have to grow, numbers
 * to be finite, and four points at least to be there; errors name file and line: ERGO_E_IO.
 * Between the points: the cubic spline with continuous second derivatives whose third derivative is
 * continuous, too, at the second and the last but one ("not a knot": exact for cubics).
 */
enum ergo_status helium_curve_parse(struct ergo_context *ctx, const char *name, const char *text,
                                    size_t length, struct helium_curve **curve);
/* Of the file that a key names. */
enum ergo_status helium_curve_read(struct ergo_context *ctx, const struct ergo_point *point,
                                   const char *pointer, struct helium_curve **curve);
void helium_curve_free(struct helium_curve *curve); /* NULL-safe */
/* Value, slope and second derivative. Outside the points: the value at the end, and no slope. */
void helium_curve_at(const struct helium_curve *curve, double r, double out[3]);

#endif
