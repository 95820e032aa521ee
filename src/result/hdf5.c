#include "result/hdf5.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t hdf5_lock = PTHREAD_MUTEX_INITIALIZER;

static herr_t take_innermost(unsigned n, const H5E_error2_t *error, void *user) {
    struct ergo_hdf5_session *session = user;
    if (n == 0)
        snprintf(session->reason, sizeof session->reason, "%s (%s)",
                 error->desc ? error->desc : "no reason given",
                 error->func_name ? error->func_name : "HDF5");
    return 0;
}

/* HDF5 calls this when a call fails, instead of printing: later asking would be too late, since
 * every call, also the closing of things, clears its error stack. */
static herr_t record_error(hid_t stack, void *user) {
    H5Ewalk2(stack, H5E_WALK_UPWARD, take_innermost, user);
    return 0;
}

void ergo_hdf5_begin(struct ergo_hdf5_session *session) {
    pthread_mutex_lock(&hdf5_lock);
    memset(session, 0, sizeof *session);
    snprintf(session->reason, sizeof session->reason, "HDF5 gave no reason");
    /* A caller of libergocl may use HDF5 too: its printing is given back at the end. */
    H5Eget_auto2(H5E_DEFAULT, &session->print, &session->print_data);
    H5Eset_auto2(H5E_DEFAULT, record_error, session);
}

void ergo_hdf5_end(struct ergo_hdf5_session *session) {
    H5Eclear2(H5E_DEFAULT);
    H5Eset_auto2(H5E_DEFAULT, session->print, session->print_data);
    pthread_mutex_unlock(&hdf5_lock);
}

hid_t ergo_hdf5_create(size_t expected) {
    size_t increment = expected / 4;
    increment = increment < 65536 ? 65536 : increment;
    hid_t fapl = H5Pcreate(H5P_FILE_ACCESS);
    if (fapl < 0)
        return -1;
    hid_t file = -1;
    /* The name is never opened; HDF5 only wants the same file not to be created twice. */
    if (H5Pset_fapl_core(fapl, increment, 0) >= 0)
        file = H5Fcreate("ergocl-in-memory", H5F_ACC_TRUNC, H5P_DEFAULT, fapl);
    H5Pclose(fapl);
    return file;
}

bool ergo_hdf5_image(hid_t file, uint8_t **image, size_t *length) {
    *image = NULL;
    *length = 0;
    if (H5Fflush(file, H5F_SCOPE_GLOBAL) < 0)
        return false;
    ssize_t size = H5Fget_file_image(file, NULL, 0);
    if (size <= 0)
        return false;
    uint8_t *bytes = malloc((size_t)size);
    if (!bytes)
        return false;
    if (H5Fget_file_image(file, bytes, (size_t)size) != size) {
        free(bytes);
        return false;
    }
    *image = bytes;
    *length = (size_t)size;
    return true;
}
