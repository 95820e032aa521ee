/*
 * Trajectories in GSD (https://gsd.readthedocs.io: file layer 2.0, schema "hoomd" 1.4), a file a
 * point, to which frames are appended. Written here and not by GSD's own library, because that
 * appends without asking what is there: a resumed run writes the frames after its checkpoint again,
 * each into its old place, and none is twice in the file or missing.
 */
#ifndef ERGO_RESULT_GSD_H
#define ERGO_RESULT_GSD_H

#include "base/file.h"

/*
 * Frames of one time as extended XYZ (job/xyz.h), one or several, in a box along the axes. step: of
 * all of them; times of a file grow. Box, dimensions, number, type and positions (from the middle
 * of the box, fp32 as the schema wants them; the diameter is the schema's 1); each number of line 2
 * becomes log/NAME; types="A B" of line 2, the names of types, makes a type for each particle. A
 * kill at any moment leaves whole frames; a frame is on the disk before the file says that it is
 * there. ERGO_E_IO: the file is not of this run, or cannot be written.
 */
enum ergo_status ergo_gsd_write(struct ergo_context *ctx, const struct ergo_folder *folder,
                                const char *name, uint64_t step, const char *frames, size_t length);

#endif
