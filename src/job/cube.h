/* A scalar on a regular grid over a box, from a Gaussian cube file. */
#ifndef ERGO_JOB_CUBE_H
#define ERGO_JOB_CUBE_H

#include "base/error.h"
#include "job/job.h"

/* Most points of a file. */
#define ERGO_CUBE_POINTS ((size_t)1 << 27)

struct ergo_cube {
    size_t n[3];    /* points along x, y, z */
    double side[3]; /* of the box that they fill, n times their distance, in the file's unit */
    float *values;  /* [n0][n1][n2]; HUGE_VALF: infinite */
    double least;   /* of the values */
};

/*
 * Two lines of comment; atoms and x, y, z of the first point; for each axis a line with the number
 * of points along it and the vector between two of them; a line an atom, which is skipped; then the
 * values, z fastest, apart by blanks and ends of lines. Axes are those of the box, and the first
 * point is its corner 0 0 0. The point after the last is the first one again, and is not in the
 * file. Values are numbers or "inf". Errors name file and line: ERGO_E_IO.
 */
enum ergo_status ergo_cube_read(struct ergo_context *ctx, const struct ergo_point *point,
                                const char *pointer, struct ergo_cube **cube);
/* The same from memory, a text with a zero behind it; `name` stands for the file in messages. */
enum ergo_status ergo_cube_parse(struct ergo_context *ctx, const char *name, const char *text,
                                 size_t length, struct ergo_cube **cube);
void ergo_cube_free(struct ergo_cube *cube); /* NULL-safe */

#endif
