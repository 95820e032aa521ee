/*
 * Checkpoints: 512 bytes of text, then named blobs in an HDF5 file (which may begin at offset 512:
 * readers look there). The header is a function of the rest of the file, so a reader makes it
 * again and compares: no bit of the file is unchecked.
 *
 * Not HDF5's own user block: H5Fget_file_image (1.10.8) returns such a file without its superblock.
 */
#include "io/hdf5.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HEADER = 512, VERSION = 1 };

static const char magic[] = "ergocl checkpoint\n";

bool ergo_blobs_add(struct ergo_blobs *blobs, const char *name, const void *data, size_t length) {
    if (strlen(name) >= sizeof blobs->blobs->name)
        return false;
    if (blobs->count == blobs->capacity) {
        size_t capacity = blobs->capacity ? 2 * blobs->capacity : 16;
        struct ergo_blob *larger = realloc(blobs->blobs, capacity * sizeof *larger);
        if (!larger)
            return false;
        blobs->blobs = larger;
        blobs->capacity = capacity;
    }
    struct ergo_blob *blob = &blobs->blobs[blobs->count];
    memset(blob, 0, sizeof *blob);
    uint8_t *copy = malloc(length + 1);
    if (!copy)
        return false;
    if (length)
        memcpy(copy, data, length);
    copy[length] = 0; /* blobs that are text can be used as such */
    snprintf(blob->name, sizeof blob->name, "%s", name);
    blob->data = copy;
    blob->length = length;
    blobs->count++;
    return true;
}

const struct ergo_blob *ergo_blobs_find(const struct ergo_blobs *blobs, const char *name) {
    for (size_t i = 0; i < blobs->count; i++)
        if (strcmp(blobs->blobs[i].name, name) == 0)
            return &blobs->blobs[i];
    return NULL;
}

void ergo_blobs_free(struct ergo_blobs *blobs) {
    for (size_t i = 0; i < blobs->count; i++)
        free(blobs->blobs[i].data);
    free(blobs->blobs);
    memset(blobs, 0, sizeof *blobs);
}

static void make_header(char header[HEADER + 1], const uint8_t *payload, size_t length) {
    uint8_t sha[32];
    char hex[65], text[HEADER];
    ergo_sha256(payload, length, sha);
    for (size_t i = 0; i < 32; i++)
        snprintf(hex + 2 * i, 3, "%02x", (unsigned)sha[i]);
    memset(header, ' ', HEADER);
    header[HEADER] = '\0';
    int used = snprintf(text, sizeof text,
                        "%sversion %d\npayload %zu bytes\nsha256 %s\n"
                        "This is an HDF5 file behind 512 bytes of text: h5py.File(path) opens it.\n"
                        "To continue the run: ergocl resume FOLDER\n",
                        magic, VERSION, length, hex);
    memcpy(header, text, (size_t)used);
    header[HEADER - 1] = '\n';
}

static bool write_blob(hid_t file, hid_t links, hid_t creation, const struct ergo_blob *blob) {
    bool ok = false;
    hsize_t size = blob->length;
    hid_t set = -1;
    hid_t space = H5Screate_simple(1, &size, NULL);
    if (space < 0)
        goto out;
    set = H5Dcreate2(file, blob->name, H5T_STD_U8LE, space, links, creation, H5P_DEFAULT);
    if (set < 0)
        goto out;
    if (size && H5Dwrite(set, H5T_NATIVE_UINT8, H5S_ALL, H5S_ALL, H5P_DEFAULT, blob->data) < 0)
        goto out;
    ok = true;
out:
    if (set >= 0 && H5Dclose(set) < 0)
        ok = false;
    if (space >= 0)
        H5Sclose(space);
    return ok;
}

enum ergo_status ergo_checkpoint_write(struct ergo_context *ctx, const struct ergo_folder *in,
                                       const char *name, const struct ergo_blobs *blobs) {
    enum ergo_status status = ERGO_OK;
    struct ergo_hdf5_session session;
    char *path = ergo_folder_path(in, name);
    if (!path)
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "writing %s: out of memory", name);
    char header[HEADER + 1];
    uint8_t *image = NULL;
    size_t length = 0, expected = 4096;
    hid_t file = -1, links = -1, creation = -1;

    ergo_hdf5_begin(&session);
    for (size_t i = 0; i < blobs->count; i++)
        expected += blobs->blobs[i].length + 512;
    file = ergo_hdf5_create(expected);
    links = H5Pcreate(H5P_LINK_CREATE);
    creation = H5Pcreate(H5P_DATASET_CREATE);
    /* No times inside: the same state gives the same bytes. */
    if (file < 0 || links < 0 || creation < 0 || H5Pset_create_intermediate_group(links, 1) < 0 ||
        H5Pset_obj_track_times(creation, 0) < 0) {
        status =
            ERGO_FAIL(ctx, ERGO_E_IO, "cannot make the checkpoint %s: %s", path, session.reason);
        goto out;
    }
    for (size_t i = 0; i < blobs->count; i++) {
        if (!write_blob(file, links, creation, &blobs->blobs[i])) {
            status = ERGO_FAIL(ctx, ERGO_E_IO,
                               "cannot make the checkpoint %s: putting '%s' (%zu bytes): %s", path,
                               blobs->blobs[i].name, blobs->blobs[i].length, session.reason);
            goto out;
        }
    }
    if (!ergo_hdf5_image(file, HEADER, &image, &length)) {
        status = ERGO_FAIL(ctx, ERGO_E_MEMORY,
                           "cannot make the checkpoint %s (%zu bytes, held twice): %s", path,
                           expected, session.reason);
        goto out;
    }
    H5Fclose(file); /* before writing: frees one of the copies */
    file = -1;
    make_header(header, image + HEADER, length - HEADER);
    memcpy(image, header, HEADER);
    status = ergo_file_write(ctx, in, name, image, length);
out:
    if (creation >= 0)
        H5Pclose(creation);
    if (links >= 0)
        H5Pclose(links);
    if (file >= 0)
        H5Fclose(file);
    ergo_hdf5_end(&session);
    free(image);
    free(path);
    return status;
}

/* NULL when the bytes are what was written, or what is wrong with them. */
static const char *find_damage(const char *bytes, size_t length, char *reason, size_t size) {
    char expected[HEADER + 1];
    int version = 0;
    size_t payload = 0;
    const char *at = bytes + sizeof magic - 1;

    if (length == 0)
        return "it is empty";
    if (memcmp(bytes, magic, length < sizeof magic - 1 ? length : sizeof magic - 1) != 0)
        return "it does not begin as a checkpoint of ergocl does";
    if (length < HEADER) {
        snprintf(reason, size, "it was cut short: %zu bytes of its %d-byte header are left", length,
                 HEADER);
        return reason;
    }
    if (bytes[HEADER - 1] != '\n' || memchr(bytes, '\0', HEADER))
        return "its header is damaged";
    /* The last byte ends every scan within the header: the numbers are in its first lines. */
    if (sscanf(at, "version %9d\n", &version) != 1)
        return "its header is damaged (no version)";
    if (version != VERSION) {
        snprintf(reason, size, "it is of version %d, this ergocl reads version %d", version,
                 VERSION);
        return reason;
    }
    if (sscanf(at, "version %*d\npayload %19zu bytes", &payload) != 1)
        return "its header is damaged (no length)";
    if (payload != length - HEADER) {
        snprintf(reason, size, "it %s: its header announces %zu bytes, %zu follow",
                 payload > length - HEADER ? "was cut short" : "is too long", payload,
                 length - HEADER);
        return reason;
    }
    make_header(expected, (const uint8_t *)bytes + HEADER, payload);
    if (memcmp(bytes, expected, HEADER) != 0)
        return "it is damaged (the SHA-256 of its contents is not the one in its header)";
    return NULL;
}

struct reading {
    const struct ergo_hdf5_session *session;
    struct ergo_blobs blobs;
    char reason[320];
};

/* Called for every link below the root; groups are passed by. */
static herr_t read_blob(hid_t root, const char *name, const H5L_info_t *info, void *user) {
    struct reading *reading = user;
    herr_t result = -1;
    hid_t space = -1;
    uint8_t *data = NULL;
    (void)info;

    hid_t object = H5Oopen(root, name, H5P_DEFAULT);
    if (object < 0) {
        snprintf(reading->reason, sizeof reading->reason, "opening '%.64s': %.200s", name,
                 reading->session->reason);
        return -1;
    }
    if (H5Iget_type(object) != H5I_DATASET) {
        result = 0;
        goto out;
    }
    space = H5Dget_space(object);
    hssize_t size = space < 0 ? -1 : H5Sget_simple_extent_npoints(space);
    data = size < 0 ? NULL : malloc((size_t)size + 1);
    if (!data ||
        (size && H5Dread(object, H5T_NATIVE_UINT8, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) < 0)) {
        snprintf(reading->reason, sizeof reading->reason, "reading '%.64s': %.200s", name,
                 data ? reading->session->reason : "out of memory");
        goto out;
    }
    /* An empty blob first, then its bytes: large states are not copied once more. */
    if (!ergo_blobs_add(&reading->blobs, name, NULL, 0)) {
        snprintf(reading->reason, sizeof reading->reason, "keeping '%.64s': out of memory", name);
        goto out;
    }
    struct ergo_blob *blob = &reading->blobs.blobs[reading->blobs.count - 1];
    data[size] = 0;
    free(blob->data);
    blob->data = data;
    blob->length = (size_t)size;
    data = NULL;
    result = 0;
out:
    free(data);
    if (space >= 0)
        H5Sclose(space);
    H5Oclose(object);
    return result;
}

enum ergo_status ergo_checkpoint_read(struct ergo_context *ctx, const struct ergo_folder *in,
                                      const char *name, struct ergo_blobs *blobs) {
    struct ergo_hdf5_session session;
    struct reading reading = {&session, {0, 0, NULL}, ""};
    char reason[256];
    char *bytes = NULL;
    size_t length = 0;
    hid_t file = -1;

    memset(blobs, 0, sizeof *blobs);
    enum ergo_status status = ergo_file_read(ctx, in, name, SIZE_MAX - 1, &bytes, &length);
    if (status != ERGO_OK)
        return status;
    char *path = ergo_folder_path(in, name);
    if (!path) {
        free(bytes);
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "reading %s: out of memory", name);
    }
    const char *damage = find_damage(bytes, length, reason, sizeof reason);
    if (damage) {
        status =
            ERGO_FAIL(ctx, ERGO_E_IO, "cannot continue from the checkpoint %s: %s", path, damage);
        free(bytes);
        free(path);
        return status;
    }
    ergo_hdf5_begin(&session);
    file = ergo_hdf5_open(bytes + HEADER, length - HEADER);
    if (file < 0) {
        status = ERGO_FAIL(ctx, ERGO_E_IO, "cannot continue from the checkpoint %s: %s", path,
                           session.reason);
        goto out;
    }
    if (H5Lvisit(file, H5_INDEX_NAME, H5_ITER_INC, read_blob, &reading) < 0) {
        status = ERGO_FAIL(ctx, ERGO_E_IO, "cannot continue from the checkpoint %s: %s", path,
                           reading.reason[0] ? reading.reason : session.reason);
        goto out;
    }
    *blobs = reading.blobs;
    memset(&reading.blobs, 0, sizeof reading.blobs);
out:
    if (file >= 0)
        H5Fclose(file);
    ergo_hdf5_end(&session);
    ergo_blobs_free(&reading.blobs);
    free(bytes);
    free(path);
    return status;
}
