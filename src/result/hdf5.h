/* HDF5 files made in memory, with its errors as our messages; none is ever read. Internal to
 * src/result.
 */
#ifndef ERGO_RESULT_HDF5_H
#define ERGO_RESULT_HDF5_H

#include <hdf5.h>
#include <hdf5_hl.h>

#include "base/file.h"

/*
 * Everything that touches HDF5 happens between begin and end: a process-wide lock is held (the
 * serial library is not thread-safe, our contexts are independent), and HDF5 prints nothing.
 */
struct ergo_hdf5_session {
    H5E_auto2_t print; /* the caller's settings */
    void *print_data;
    char reason[256]; /* the reason of the last failed call, in HDF5's words */
};
void ergo_hdf5_begin(struct ergo_hdf5_session *session);
void ergo_hdf5_end(struct ergo_hdf5_session *session);

/* A new file in memory. `expected`: rough size in bytes, so that memory grows in few steps.
 * Negative: failed. */
hid_t ergo_hdf5_create(size_t expected);
/* The file's bytes, malloc'ed. */
bool ergo_hdf5_image(hid_t file, uint8_t **image, size_t *length);

/*
 * arrays.c: datasets. An array is [rows, columns], or [columns] where rows is 0. fill makes
 * elements [begin, begin + count) of a row, by several threads at a time.
 */
enum ergo_array_kind { ERGO_ARRAY_REAL, ERGO_ARRAY_COUNT, ERGO_ARRAY_TEXTS };
enum { ERGO_ARRAY_TEXT = 16 }; /* bytes of a text; a real or a count has 8 */
struct ergo_array {
    enum ergo_array_kind kind;
    size_t rows, columns;
    void (*fill)(const void *from, size_t row, size_t begin, size_t count, void *to);
    const void *from;
};
/* The new dataset, which the caller closes; negative: failed. */
hid_t ergo_array_write(hid_t at, const char *name, hid_t links, const struct ergo_array *array);

#endif
