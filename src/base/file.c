/* Files: written whole, and read. Those of a run folder by its descriptor (folders.c). */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Some file systems (FUSE, pipes behind /proc) have no fsync: that does not fail a write. */
bool ergo_file_sync(int fd) {
    int result;
    do
        result = fsync(fd);
    while (result && errno == EINTR);
    return result == 0 || errno == EINVAL || errno == ENOTSUP || errno == ENOSYS;
}

static bool write_all(int fd, const char *data, size_t length) {
    enum { PIECE = 1 << 30 }; /* Linux moves at most 2 GiB - 4 KiB at once */
    while (length) {
        ssize_t n = write(fd, data, length < PIECE ? length : PIECE);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return false;
        if (n == 0) {
            errno = EIO;
            return false;
        }
        data += n;
        length -= (size_t)n;
    }
    return true;
}

/* ---- where a file goes ----------------------------------------------------------------------- */

struct target {
    char *path;       /* for messages */
    char *real;       /* of a file outside of run folders: its path after all links */
    const char *name; /* in the folder */
    int folder;
    bool own;     /* the folder was opened here and has to be closed */
    bool special; /* a terminal, a pipe, a file without a name: written to, never replaced */
};

static void free_target(struct target *t) {
    if (t->own)
        close(t->folder);
    free(t->real);
    free(t->path);
}

/* The file to which a user's path leads, links followed as by `cp`. */
static enum ergo_status follow(struct ergo_context *ctx, const char *path, struct target *t) {
    struct stat info;
    if (stat(path, &info) == 0) {
        if (S_ISDIR(info.st_mode))
            return ERGO_FAIL(ctx, ERGO_E_IO, "cannot write %s: it is a folder", path);
        t->real = S_ISREG(info.st_mode) ? ergo_memory_got(realpath(path, NULL)) : NULL;
        t->special = !t->real;
        return t->special && S_ISREG(info.st_mode) && errno == ENOMEM
                   ? ERGO_FAIL(ctx, ERGO_E_MEMORY, "writing %s: out of memory", path)
                   : ERGO_OK;
    }
    if (lstat(path, &info) == 0)
        return ERGO_FAIL(ctx, ERGO_E_IO, "cannot write %s: it is a link that leads nowhere", path);
    t->real = strdup(path);
    return t->real ? ERGO_OK : ERGO_FAIL(ctx, ERGO_E_MEMORY, "writing %s: out of memory", path);
}

static enum ergo_status find_target(struct ergo_context *ctx, const struct ergo_folder *in,
                                    const char *name, struct target *t) {
    *t = (struct target){.name = name, .folder = -1};
    t->path = ergo_folder_path(in, name);
    if (!t->path)
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "writing %s: out of memory", name);
    if (in) {
        t->folder = in->fd;
        return ERGO_OK;
    }
    const enum ergo_status status = follow(ctx, name, t);
    if (status != ERGO_OK || t->special)
        return status;
    char *slash = strrchr(t->real, '/');
    const char *folder = slash == t->real ? "/" : slash ? t->real : ".";
    t->name = slash ? slash + 1 : t->real;
    if (slash)
        *slash = '\0';
    t->folder = ergo_folder_descriptor(AT_FDCWD, folder, 0);
    t->own = t->folder >= 0;
    return t->own ? ERGO_OK
                  : ERGO_FAIL(ctx, ERGO_E_IO, "cannot write %s: %s", t->path, strerror(errno));
}

/* ---- writing --------------------------------------------------------------------------------- */

/* The new contents of a file. */
struct contents {
    const struct ergo_piece *pieces;
    size_t count;
};

/* Closes fd; a file that is synced must be on the disk. */
static enum ergo_status fill(struct ergo_context *ctx, const char *path, int fd,
                             struct contents contents, bool synced) {
    enum ergo_status status = ERGO_OK;
    size_t length = 0;
    for (size_t i = 0; i < contents.count; i++)
        length += contents.pieces[i].length;
    for (size_t i = 0; i < contents.count && status == ERGO_OK; i++)
        if (!write_all(fd, contents.pieces[i].data, contents.pieces[i].length))
            status = ERGO_FAIL(ctx, ERGO_E_IO, "cannot write %s (%zu bytes): %s", path, length,
                               strerror(errno));
    if (status == ERGO_OK && synced && !ergo_file_sync(fd))
        status =
            ERGO_FAIL(ctx, ERGO_E_IO, "cannot write %s to the disk: %s", path, strerror(errno));
    /* network file systems report a full disk here */
    if (close(fd) && status == ERGO_OK)
        status =
            ERGO_FAIL(ctx, ERGO_E_IO, "cannot write %s: closing it: %s", path, strerror(errno));
    return status;
}

static enum ergo_status write_special(struct ergo_context *ctx, const char *path,
                                      struct contents contents) {
    const int fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC | O_NOCTTY);
    return fd < 0 ? ERGO_FAIL(ctx, ERGO_E_IO, "cannot write %s: %s", path, strerror(errno))
                  : fill(ctx, path, fd, contents, false);
}

/* The name has the process number, so that files of dead processes can be removed (run/folder.c),
 * and a random part, so that nobody can put something else there first. */
static enum ergo_status begin_beside(struct ergo_context *ctx, const struct target *t,
                                     struct ergo_new_file *file) {
    uint64_t number = 0;
    const size_t size = strlen(t->name) + 64;
    *file = (struct ergo_new_file){-1, malloc(size)};
    if (!file->temporary)
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "writing %s: out of memory", t->path);
    randombytes_buf(&number, sizeof number);
    snprintf(file->temporary, size, "%s.tmp-%ld-%" PRIu64, t->name, (long)getpid(), number);
    file->fd = openat(t->folder, file->temporary,
                      O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    return file->fd < 0 ? ERGO_FAIL(ctx, ERGO_E_IO, "cannot write %s: creating %s beside it: %s",
                                    t->path, file->temporary, strerror(errno))
                        : ERGO_OK;
}

/* The file is synced and closed. */
static enum ergo_status put_in_place(struct ergo_context *ctx, const struct target *t,
                                     struct ergo_new_file *file, enum ergo_status status) {
    if (status == ERGO_OK && renameat(t->folder, file->temporary, t->folder, t->name))
        status = ERGO_FAIL(ctx, ERGO_E_IO, "cannot put %s in place: %s", t->path, strerror(errno));
    if (status != ERGO_OK && file->fd >= 0)
        unlinkat(t->folder, file->temporary, 0);
    free(file->temporary);
    *file = (struct ergo_new_file){-1, NULL};
    /* The rename is on disk only after the folder is synced. Otherwise a power cut could bring the
     * old file back, which is allowed, or leave no file at all, which is not. (EBADF: a folder that
     * may be written but not read.) */
    if (status == ERGO_OK && !ergo_file_sync(t->folder) && errno != EBADF)
        status = ERGO_FAIL(ctx, ERGO_E_IO, "cannot write the folder of %s to the disk: %s", t->path,
                           strerror(errno));
    return status;
}

static enum ergo_status write_beside(struct ergo_context *ctx, const struct target *t,
                                     struct contents contents) {
    struct ergo_new_file file;
    enum ergo_status status = begin_beside(ctx, t, &file);
    if (status == ERGO_OK)
        status = fill(ctx, t->path, file.fd, contents, true);
    return put_in_place(ctx, t, &file, status);
}

enum ergo_status ergo_file_begin(struct ergo_context *ctx, const struct ergo_folder *in,
                                 const char *name, struct ergo_new_file *file) {
    struct target t;
    *file = (struct ergo_new_file){-1, NULL};
    enum ergo_status status = find_target(ctx, in, name, &t);
    if (status == ERGO_OK)
        status = begin_beside(ctx, &t, file);
    free_target(&t);
    return status;
}

enum ergo_status ergo_file_finish(struct ergo_context *ctx, const struct ergo_folder *in,
                                  const char *name, struct ergo_new_file *file,
                                  enum ergo_status status) {
    const struct contents none = {NULL, 0};
    struct target t;
    const enum ergo_status found = find_target(ctx, in, name, &t);
    status = status == ERGO_OK ? found : status;
    if (file->fd >= 0) {
        const enum ergo_status closed = fill(ctx, t.path, file->fd, none, status == ERGO_OK);
        status = status == ERGO_OK ? closed : status;
    }
    status = put_in_place(ctx, &t, file, status);
    free_target(&t);
    return status;
}

static bool is_stdout(const struct ergo_folder *in, const char *name) {
    return !in && strcmp(name, "-") == 0;
}

enum ergo_status ergo_file_may_write(struct ergo_context *ctx, const char *path, bool overwrite) {
    return overwrite || is_stdout(NULL, path) || access(path, F_OK) != 0
               ? ERGO_OK
               : ERGO_FAIL(ctx, ERGO_E_IO,
                           "%s exists already: take another name, or replace it with --overwrite",
                           path);
}

enum ergo_status ergo_file_write(struct ergo_context *ctx, const struct ergo_folder *in,
                                 const char *name, const void *data, size_t length) {
    return ergo_file_write_pieces(ctx, in, name, &(struct ergo_piece){data, length}, 1);
}

enum ergo_status ergo_file_write_pieces(struct ergo_context *ctx, const struct ergo_folder *in,
                                        const char *name, const struct ergo_piece *pieces,
                                        size_t count) {
    const struct contents contents = {pieces, count};
    struct target t;
    if (is_stdout(in, name)) {
        for (size_t i = 0; i < count; i++)
            fwrite(pieces[i].data, 1, pieces[i].length, stdout);
        return ERGO_OK;
    }
    enum ergo_status status = find_target(ctx, in, name, &t);
    if (status == ERGO_OK)
        status = t.special ? write_special(ctx, name, contents) : write_beside(ctx, &t, contents);
    free_target(&t);
    return status;
}

/* ---- reading --------------------------------------------------------------------------------- */

static enum ergo_status open_regular(struct ergo_context *ctx, const struct ergo_folder *in,
                                     const char *name, int access, int *fd, uint64_t *size) {
    enum ergo_status status = ERGO_OK;
    struct stat info;
    char *path = ergo_folder_path(in, name);
    *fd = -1;
    *size = 0;
    if (!path)
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "reading %s: out of memory", name);
    /* O_NONBLOCK: a named pipe is refused below instead of waited for */
    *fd = openat(in ? in->fd : AT_FDCWD, name,
                 access | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | (in ? O_NOFOLLOW : 0));
    if (*fd < 0)
        status = ERGO_FAIL(ctx, ERGO_E_IO, "cannot read %s: %s", path,
                           in && errno == ELOOP ? ergo_folder_no_link : strerror(errno));
    else if (fstat(*fd, &info))
        status = ERGO_FAIL(ctx, ERGO_E_IO, "cannot read %s: %s", path, strerror(errno));
    else if (!S_ISREG(info.st_mode))
        status = ERGO_FAIL(ctx, ERGO_E_IO, "cannot read %s: it is %s", path,
                           S_ISDIR(info.st_mode) ? "a folder" : "not a regular file");
    else if (access == O_RDWR && info.st_nlink > 1) /* which may be anywhere */
        status =
            ERGO_FAIL(ctx, ERGO_E_IO,
                      "cannot write to %s: it has another name, too (a hard link): copy it", path);
    else
        *size = (uint64_t)info.st_size;
    if (status != ERGO_OK && *fd >= 0) {
        close(*fd);
        *fd = -1;
    }
    free(path);
    return status;
}

enum ergo_status ergo_file_open(struct ergo_context *ctx, const struct ergo_folder *in,
                                const char *name, int *fd, uint64_t *size) {
    return open_regular(ctx, in, name, O_RDONLY, fd, size);
}

enum ergo_status ergo_file_update(struct ergo_context *ctx, const struct ergo_folder *in,
                                  const char *name, int *fd, uint64_t *size) {
    return open_regular(ctx, in, name, O_RDWR, fd, size);
}

enum { AT_ONCE = 1 << 30 };

bool ergo_file_read_at(int fd, uint64_t offset, void *data, size_t length) {
    for (char *at = data; length;) {
        const ssize_t n = pread(fd, at, length < AT_ONCE ? length : AT_ONCE, (off_t)offset);
        if (n < 0 && errno == EINTR)
            continue;
        if (n == 0)
            errno = 0;
        if (n <= 0)
            return false;
        at += n;
        offset += (uint64_t)n;
        length -= (size_t)n;
    }
    return true;
}

bool ergo_file_write_at(int fd, uint64_t offset, const void *data, size_t length) {
    for (const char *at = data; length;) {
        const ssize_t n = pwrite(fd, at, length < AT_ONCE ? length : AT_ONCE, (off_t)offset);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        at += n;
        offset += (uint64_t)n;
        length -= (size_t)n;
    }
    return true;
}

enum ergo_status ergo_file_read(struct ergo_context *ctx, const struct ergo_folder *in,
                                const char *name, size_t limit, char **data, size_t *length) {
    char *buffer = NULL;
    size_t filled = 0;
    uint64_t size = 0;
    int fd = -1;

    *data = NULL;
    *length = 0;
    enum ergo_status status = ergo_file_open(ctx, in, name, &fd, &size);
    if (status != ERGO_OK)
        return status;
    size_t capacity = (size_t)size;
    char *path = ergo_folder_path(in, name);
    if (!path) {
        status = ERGO_FAIL(ctx, ERGO_E_MEMORY, "reading %s: out of memory", name);
        goto out;
    }
    for (;;) {
        if (capacity > limit) {
            status = ERGO_FAIL(ctx, ERGO_E_IO,
                               "cannot read %s: it holds %zu bytes or more, at most %zu are taken",
                               path, capacity, limit);
            goto out;
        }
        char *larger = realloc(buffer, capacity + 1);
        if (!larger) {
            status = ERGO_FAIL(ctx, ERGO_E_MEMORY, "reading %s: no memory for its %zu bytes", path,
                               capacity);
            goto out;
        }
        buffer = larger;
        while (filled <= capacity) { /* one byte more, to see the end, or that the file grows */
            size_t rest = capacity + 1 - filled;
            ssize_t n = read(fd, buffer + filled, rest < 1 << 30 ? rest : 1 << 30);
            if (n < 0 && errno == EINTR)
                continue;
            if (n < 0) {
                status = ERGO_FAIL(ctx, ERGO_E_IO, "cannot read %s: %s", path, strerror(errno));
                goto out;
            }
            if (n == 0)
                break;
            filled += (size_t)n;
        }
        if (filled <= capacity)
            break;
        capacity = filled + filled / 2; /* it grew meanwhile, or is a file of /proc */
        if (capacity > limit && filled <= limit)
            capacity = limit;
    }
    buffer[filled] = '\0';
    *data = buffer;
    *length = filled;
    buffer = NULL;
out:
    free(buffer);
    free(path);
    if (fd >= 0)
        close(fd);
    return status;
}
