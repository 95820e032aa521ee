/* The cache folder and its records. A cache never fails a run: every defect is a reason to redo. */
#include "device/cache.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"

enum { MAGIC = 8, KEY = 32, CHECKSUM = 32, HEADER = MAGIC + KEY + CHECKSUM };

static const char magic[MAGIC + 1] = "ERGOCAC2"; /* the last letter is the version */

char *ergo_cache_folder(struct ergo_context *ctx) {
    const struct {
        const char *variable, *below;
    } places[] = {
        {"ERGOCL_CACHE_DIR", ""}, {"XDG_CACHE_HOME", "ergocl"}, {"HOME", ".cache/ergocl"}};
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        const char *base = getenv(places[i].variable);
        if (i == 0 && base && !*base)
            return NULL; /* set and empty: the user wants none */
        /* The XDG standard: relative paths are to be ignored. */
        if (!base || !*base || (i == 1 && *base != '/'))
            continue;
        char *folder = *places[i].below ? ergo_path_join(base, places[i].below) : strdup(base);
        struct ergo_context *aside = ergo_context_create(); /* a failure is not the caller's */
        const bool room = folder && aside;
        const bool made = room && ergo_folder_create(aside, folder) == ERGO_OK &&
                          access(folder, W_OK | X_OK) == 0;
        if (!made)
            ergo_log(ctx, ERGO_LOG_INFO, "no cache in %s: %s", base,
                     !room                        ? "no memory"
                     : *ergo_error_message(aside) ? ergo_error_message(aside)
                                                  : strerror(errno));
        ergo_context_destroy(aside);
        if (made)
            return folder;
        free(folder);
        if (!room) {
            errno = ENOMEM;
            return NULL;
        }
    }
    return NULL;
}

void ergo_cache_name(const char *kind, const uint8_t key[32], char name[ERGO_CACHE_NAME]) {
    for (int i = 0; i < 16; i++)
        snprintf(name + 2 * i, 3, "%02x", key[i]);
    snprintf(name + 32, ERGO_CACHE_NAME - 32, ".%s", kind);
}

enum ergo_cache_state ergo_cache_read(const char *folder, const char *kind, const uint8_t key[32],
                                      char **payload, size_t *length, const char **reason) {
    enum ergo_cache_state state = ERGO_CACHE_NO_MEMORY;
    enum ergo_status status = ERGO_OK;
    struct ergo_context *aside = ergo_context_create();
    struct ergo_folder in = {.fd = -1};
    char name[ERGO_CACHE_NAME], *data = NULL;
    uint8_t checksum[CHECKSUM];
    size_t size = 0;

    *payload = NULL;
    *length = 0;
    *reason = "no memory";
    ergo_cache_name(kind, key, name);
    if (!aside)
        return state;
    status = ergo_folder_open(aside, folder, &in);
    if (status == ERGO_OK && !ergo_folder_has(&in, name)) {
        *reason = "not there";
        state = ERGO_CACHE_MISS;
        goto out;
    }
    if (status == ERGO_OK)
        status = ergo_file_read(aside, &in, name, SIZE_MAX - 1, &data, &size);
    if (status == ERGO_E_MEMORY)
        goto out;
    state = ERGO_CACHE_DEFECT;
    *reason = "unreadable";
    if (status != ERGO_OK)
        goto out;
    *reason = "cut short, or of another version";
    if (size < HEADER || memcmp(data, magic, MAGIC) != 0)
        goto out;
    *reason = "of another key";
    if (memcmp(data + MAGIC, key, KEY) != 0)
        goto out;
    *reason = "damaged (its checksum differs)";
    ergo_sha256(data + HEADER, size - HEADER, checksum);
    if (memcmp(data + MAGIC + KEY, checksum, CHECKSUM) != 0)
        goto out;
    *reason = "";
    *length = size - HEADER;
    memmove(data, data + HEADER, *length + 1);
    *payload = data;
    data = NULL;
    state = ERGO_CACHE_HIT;
out:
    free(data);
    ergo_folder_close(&in);
    ergo_context_destroy(aside);
    return state;
}

bool ergo_cache_write(struct ergo_context *ctx, const char *folder, const char *kind,
                      const uint8_t key[32], const char *what, const void *payload, size_t length) {
    struct ergo_context *aside = ergo_context_create();
    struct ergo_folder in = {.fd = -1};
    char name[ERGO_CACHE_NAME];
    uint8_t checksum[CHECKSUM];
    const struct ergo_piece pieces[] = {
        {magic, MAGIC}, {key, KEY}, {checksum, CHECKSUM}, {payload, length}};
    ergo_cache_name(kind, key, name);
    ergo_sha256(payload, length, checksum);
    const bool written = aside && ergo_folder_open(aside, folder, &in) == ERGO_OK &&
                         ergo_file_write_pieces(aside, &in, name, pieces, 4) == ERGO_OK;
    if (!written)
        ergo_log(ctx, ERGO_LOG_INFO, "%s is not cached: %s", what,
                 aside ? ergo_error_message(aside) : "no memory");
    ergo_folder_close(&in);
    ergo_context_destroy(aside);
    return written;
}

/* Sixteen locks for all records: a lock of each would stay beside it for ever. */
bool ergo_cache_claim(const char *folder, const uint8_t key[32], int *claim) {
    char name[32];
    snprintf(name, sizeof name, "making-%x.lock", key[0] & 15);
    char *path = ergo_path_join(folder, name);
    const int fd =
        path ? open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY, 0666) : -1;
    const double begun = ergo_clock();
    bool waited = false, busy = true;
    free(path);
    /* a compiler that never returns holds up no other process for ever */
    while (fd >= 0 && busy && ergo_clock() - begun < 120) {
        busy = flock(fd, LOCK_EX | LOCK_NB) && (errno == EWOULDBLOCK || errno == EINTR);
        waited |= busy;
        if (busy)
            nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    }
    *claim = fd + 1;
    return waited;
}

void ergo_cache_unclaim(int *claim) {
    if (*claim)
        close(*claim - 1);
    *claim = 0;
}
