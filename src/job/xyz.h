/* Configurations of particles in files of others: extended XYZ, one line a particle; and GSD, as
 * trajectories have it. */
#ifndef ERGO_JOB_XYZ_H
#define ERGO_JOB_XYZ_H

#include "base/error.h"
#include "job/job.h"

/* Species that a frame tells apart, and the room for their names. */
enum { ERGO_XYZ_SPECIES = 16, ERGO_XYZ_NAME = 16 };

struct ergo_xyz {
    size_t n;
    bool has_lattice;
    double lattice[9]; /* three vectors, as in Lattice="..." */
    double *positions; /* [n][3] */
    double rounding;   /* of coordinates, which a format has; 0: they are as they were written */
    bool open[3];      /* no periodic boundary along that axis, as pbc="F T T" says */
    /* [n], numbers of names, which are in the order in which they come. With more of them than
     * ERGO_XYZ_SPECIES n_species is one more, and the others are not told apart. A file without
     * species has one, "". */
    uint8_t *species;
    size_t n_species;
    char names[ERGO_XYZ_SPECIES][ERGO_XYZ_NAME]; /* longer ones are cut */
};

/*
 * The first frame of the file that a key names. Line 1: the number of particles; line 2: key=value
 * pairs, of which Lattice and Properties are used (without Properties: species and x y z, as plain
 * XYZ); then a line a particle. Exponents may be Fortran's, 1.0D+00. Or a GSD file of schema hoomd,
 * whose places count from the middle of the box. Errors name file, line and what was expected:
 * ERGO_E_IO.
 */
enum ergo_status ergo_xyz_read(struct ergo_context *ctx, const struct ergo_point *point,
                               const char *pointer, struct ergo_xyz *frame);
/* The same from memory; `name` stands for the file in messages. */
enum ergo_status ergo_xyz_parse(struct ergo_context *ctx, const char *name, const char *text,
                                size_t length, struct ergo_xyz *frame);
void ergo_xyz_free(struct ergo_xyz *frame);

/* job/gsd.c: is that the beginning of such a file? Its first frame. */
bool ergo_gsd_is(const char *bytes, size_t length);
enum ergo_status ergo_gsd_parse(struct ergo_context *ctx, const char *name, const char *bytes,
                                size_t length, struct ergo_xyz *frame);

/* Of a frame's second line, [from, to): the value of KEY=VALUE or KEY="VALUE", without the quotes;
 * and the nine numbers of Lattice. False: there is none. */
bool ergo_xyz_value(const char *from, const char *to, const char *key, const char **value,
                    size_t *length);
bool ergo_xyz_lattice(const char *from, const char *to, double lattice[9]);

#endif
