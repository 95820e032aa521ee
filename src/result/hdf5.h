/* HDF5 files made in memory, with its errors as our messages; none is ever read. Internal to
 * src/result.
 */
#ifndef ERGO_RESULT_HDF5_H
#define ERGO_RESULT_HDF5_H

#include <hdf5.h>

#include "base/file.h"

/*
 * Everything that touches HDF5 happens between begin and end: a process-wide lock is held (the
 * serial library is not thread-safe, our contexts are independent), and HDF5 prints nothing.
 */
struct ergo_hdf5_session {
    H5E_auto2_t print; /* the caller's */
    void *print_data;
    char reason[256]; /* why the last HDF5 call that failed did so, in HDF5's words */
};
void ergo_hdf5_begin(struct ergo_hdf5_session *session);
void ergo_hdf5_end(struct ergo_hdf5_session *session);

/* A new file in memory. `expected`: rough size in bytes, so that memory grows in few steps.
 * Negative: failed. */
hid_t ergo_hdf5_create(size_t expected);
/* The file's bytes, malloc'ed. */
bool ergo_hdf5_image(hid_t file, uint8_t **image, size_t *length);

#endif
