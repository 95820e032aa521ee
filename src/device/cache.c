/* The cache folder and its records. A cache never fails a run: every defect is a reason to redo. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "device/cache.h"
#include "device/program.h"

enum { MAGIC = 8, VERSION = 4, KEY = 32, LENGTH = 8, CHECKSUM = 32 };
enum { HEADER = MAGIC + VERSION + KEY + LENGTH + CHECKSUM };

static const char magic[MAGIC] = {'E', 'R', 'G', 'O', 'C', 'A', 'C', 'H'};
static const uint32_t version = 1;

/* ---- the folder ------------------------------------------------------------------------------ */

static bool make_folders(char *path) {
    for (char *at = path + 1; *at; at++) {
        if (*at != '/')
            continue;
        *at = '\0';
        bool made = mkdir(path, 0777) == 0 || errno == EEXIST;
        *at = '/';
        if (!made)
            return false;
    }
    return (mkdir(path, 0777) == 0 || errno == EEXIST) && access(path, W_OK | X_OK) == 0;
}

char *ergo_cache_folder(struct ergo_context *ctx) {
    const struct {
        const char *variable, *suffix;
    } places[] = {
        {"ERGOCL_CACHE_DIR", ""}, {"XDG_CACHE_HOME", "/ergocl"}, {"HOME", "/.cache/ergocl"}};
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        const char *base = getenv(places[i].variable);
        if (i == 0 && base && !*base)
            return NULL; /* set and empty: the user wants none */
        /* The XDG standard: relative paths are to be ignored. */
        if (!base || !*base || (i == 1 && *base != '/'))
            continue;
        struct ergo_text path = {0};
        ergo_text_append(&path, "%s%s", base, places[i].suffix);
        char *folder = ergo_text_take(&path);
        if (folder && make_folders(folder))
            return folder;
        ergo_log(ctx, ERGO_LOG_INFO, "no cache in %s: %s", folder ? folder : base, strerror(errno));
        if (!folder) {
            errno = ENOMEM;
            return NULL;
        }
        free(folder);
    }
    return NULL;
}

/* ---- records --------------------------------------------------------------------------------- */

static void put_number(uint8_t *to, uint64_t value, int bytes) {
    for (int i = 0; i < bytes; i++)
        to[i] = (uint8_t)(value >> (8 * i));
}

static uint64_t get_number(const uint8_t *from, int bytes) {
    uint64_t value = 0;
    for (int i = 0; i < bytes; i++)
        value |= (uint64_t)from[i] << (8 * i);
    return value;
}

static void make_header(uint8_t header[HEADER], const uint8_t key[32], const void *payload,
                        size_t length) {
    uint8_t *at = header;
    memcpy(at, magic, MAGIC);
    at += MAGIC;
    put_number(at, version, VERSION);
    at += VERSION;
    memcpy(at, key, KEY);
    at += KEY;
    put_number(at, length, LENGTH);
    at += LENGTH;
    ergo_sha256(payload, length, at);
}

char *ergo_cache_path(const char *folder, const char *kind, const uint8_t key[32]) {
    struct ergo_text path = {0};
    ergo_text_append(&path, "%s/", folder);
    for (int i = 0; i < 16; i++)
        ergo_text_append(&path, "%02x", key[i]);
    ergo_text_append(&path, ".%s", kind);
    return ergo_text_take(&path);
}

static bool read_all(int fd, uint8_t *to, size_t length) {
    while (length) {
        ssize_t got = read(fd, to, length);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return false;
        to += got;
        length -= (size_t)got;
    }
    return true;
}

static bool write_all(int fd, const void *data, size_t length) {
    const uint8_t *from = data;
    while (length) {
        ssize_t put = write(fd, from, length);
        if (put < 0 && errno == EINTR)
            continue;
        if (put <= 0)
            return false;
        from += put;
        length -= (size_t)put;
    }
    return true;
}

enum ergo_cache_state ergo_cache_read(const char *folder, const char *kind, const uint8_t key[32],
                                      uint8_t **payload, size_t *length, const char **reason) {
    enum ergo_cache_state state = ERGO_CACHE_DEFECT;
    uint8_t header[HEADER], expected[HEADER];
    uint8_t *data = NULL;
    size_t size = 0;
    struct stat info;
    int fd = -1;
    char *path = ergo_cache_path(folder, kind, key);

    *payload = NULL;
    *length = 0;
    *reason = "no memory";
    if (!path) {
        state = ERGO_CACHE_NO_MEMORY;
        goto out;
    }
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        *reason = strerror(errno);
        state = errno == ENOENT ? ERGO_CACHE_MISS : ERGO_CACHE_DEFECT;
        goto out;
    }
    *reason = "not a regular file";
    if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode))
        goto out;
    *reason = "cut short";
    if (info.st_size < HEADER || !read_all(fd, header, HEADER))
        goto out;
    *reason = "not a cache file";
    if (memcmp(header, magic, MAGIC) != 0)
        goto out;
    *reason = "of another version";
    if (get_number(header + MAGIC, VERSION) != version)
        goto out;
    *reason = "of another key";
    if (memcmp(header + MAGIC + VERSION, key, KEY) != 0)
        goto out;
    *reason = "of the wrong length";
    size = (size_t)info.st_size - HEADER;
    if (get_number(header + MAGIC + VERSION + KEY, LENGTH) != size)
        goto out;
    *reason = "no memory";
    data = malloc(size + 1);
    if (!data) {
        state = ERGO_CACHE_NO_MEMORY;
        goto out;
    }
    *reason = "cut short";
    if (!read_all(fd, data, size))
        goto out;
    data[size] = '\0'; /* text payloads are used as text */
    *reason = "damaged (its checksum differs)";
    make_header(expected, key, data, size);
    if (memcmp(header, expected, HEADER) != 0)
        goto out;
    *reason = "";
    *payload = data;
    *length = size;
    data = NULL;
    state = ERGO_CACHE_HIT;
out:
    if (fd >= 0)
        close(fd);
    free(data);
    free(path);
    return state;
}

bool ergo_cache_write(const char *folder, const char *kind, const uint8_t key[32],
                      const void *payload, size_t length, const char **reason) {
    bool written = false;
    uint8_t header[HEADER];
    struct ergo_text name = {0};
    int fd = -1, closed = 0;
    char *path = ergo_cache_path(folder, kind, key);
    char *temporary = NULL;

    *reason = "no memory";
    if (!path)
        goto out;
    /* The process id is not enough: two threads may build the same program. */
    ergo_text_append(&name, "%s.%ld.XXXXXX", path, (long)getpid());
    temporary = ergo_text_take(&name);
    if (!temporary)
        goto out;
    fd = mkstemp(temporary);
    if (fd < 0) {
        *reason = strerror(errno);
        goto out;
    }
    make_header(header, key, payload, length);
    if (!write_all(fd, header, HEADER) || !write_all(fd, payload, length) || fsync(fd) != 0) {
        *reason = strerror(errno);
        goto out;
    }
    closed = close(fd);
    fd = -1;
    if (closed != 0 || rename(temporary, path) != 0) {
        *reason = strerror(errno);
        goto out;
    }
    *reason = "";
    written = true;
out:
    if (fd >= 0)
        close(fd);
    if (!written && temporary)
        (void)unlink(temporary);
    free(temporary);
    free(path);
    return written;
}
