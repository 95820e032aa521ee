#include "io/hdf5.h"

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

bool ergo_hdf5_image(hid_t file, size_t lead, uint8_t **image, size_t *length) {
    *image = NULL;
    *length = 0;
    if (H5Fflush(file, H5F_SCOPE_GLOBAL) < 0)
        return false;
    ssize_t size = H5Fget_file_image(file, NULL, 0);
    if (size <= 0)
        return false;
    uint8_t *bytes = malloc(lead + (size_t)size);
    if (!bytes)
        return false;
    if (H5Fget_file_image(file, bytes + lead, (size_t)size) != size) {
        free(bytes);
        return false;
    }
    *image = bytes;
    *length = lead + (size_t)size;
    return true;
}

/*
 * By default HDF5 copies an image three times (into the property list, out of it, into the file).
 * A checkpoint can be most of the memory, so these callbacks hand the caller's bytes around.
 */
static void *image_malloc(size_t size, H5FD_file_image_op_t op, void *user) {
    (void)size, (void)op;
    return user;
}

static void *image_memcpy(void *to, const void *from, size_t size, H5FD_file_image_op_t op,
                          void *user) {
    (void)op, (void)user;
    return to == from ? to : memcpy(to, from, size);
}

static void *image_realloc(void *at, size_t size, H5FD_file_image_op_t op, void *user) {
    (void)at, (void)size, (void)op, (void)user;
    return NULL; /* opened read-only: it never grows */
}

static herr_t image_free(void *at, H5FD_file_image_op_t op, void *user) {
    (void)at, (void)op, (void)user;
    return 0;
}

static void *image_user_copy(void *user) {
    return user;
}

static herr_t image_user_free(void *user) {
    (void)user;
    return 0;
}

hid_t ergo_hdf5_open(const void *image, size_t length) {
    /* HDF5 wants a writable pointer but writes nothing into a file opened read-only. */
    union {
        const void *given;
        void *plain;
    } bytes = {image};
    H5FD_file_image_callbacks_t callbacks = {
        image_malloc,    image_memcpy,    image_realloc, image_free,
        image_user_copy, image_user_free, bytes.plain,
    };
    hid_t file = -1;
    hid_t fapl = H5Pcreate(H5P_FILE_ACCESS);
    if (fapl < 0)
        return -1;
    if (H5Pset_fapl_core(fapl, 65536, 0) >= 0 &&
        H5Pset_file_image_callbacks(fapl, &callbacks) >= 0 &&
        H5Pset_file_image(fapl, bytes.plain, length) >= 0)
        file = H5Fopen("ergocl-in-memory", H5F_ACC_RDONLY, fapl);
    H5Pclose(fapl);
    return file;
}
