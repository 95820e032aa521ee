/*
 * Trajectories in GSD (https://gsd.readthedocs.io: file layer 2.0, schema "hoomd" 1.4), a file a
 * point, to which frames are appended. Written here and not by GSD's own library, because that
 * appends without asking what is there: a resumed run writes the frames after its checkpoint again,
 * each into its old place, and none is twice in the file or missing.
 */
#ifndef ERGO_RESULT_GSD_H
#define ERGO_RESULT_GSD_H

#include "base/file.h"
#include "base/text.h"

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

/* ---- between the files of this module ---------------------------------------------------------
 */

/* Bytes of names of chunks, with a zero behind the last; a multiple of 64. */
enum { ERGO_GSD_NAMES = 1024 };

/* gsd_type */
enum {
    ERGO_GSD_UINT8 = 1,
    ERGO_GSD_UINT32 = 3,
    ERGO_GSD_UINT64 = 4,
    ERGO_GSD_INT8 = 5,
    ERGO_GSD_FLOAT32 = 9,
    ERGO_GSD_FLOAT64 = 10
};

struct ergo_gsd_chunk {
    uint64_t rows, at; /* at: in the data of the frames */
    uint32_t columns;
    uint16_t id; /* of its name */
    uint8_t type;
};

/* Frames as they go into a file. */
struct ergo_gsd_frames {
    struct ergo_text names; /* of the first frame's chunks, each with its zero */
    struct ergo_text data;
    size_t n, n_chunks; /* frames, chunks of each */
    struct ergo_gsd_chunk *chunks;
};

/* All frames of the text, which ends with a zero. */
enum ergo_status ergo_gsd_frames_read(struct ergo_context *ctx, const char *name, uint64_t step,
                                      const char *text, size_t length, struct ergo_gsd_frames *to);
enum ergo_status ergo_gsd_no_memory(struct ergo_context *ctx);

#endif
