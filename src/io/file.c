/* Files, folders and the lock of a run folder. */
#include "io/io.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

char *ergo_path_join(const char *folder, const char *name) {
    size_t length = strlen(folder);
    const char *slash = length && folder[length - 1] != '/' ? "/" : "";
    size_t size = length + strlen(slash) + strlen(name) + 1;
    char *path = malloc(size);
    if (path)
        snprintf(path, size, "%s%s%s", folder, slash, name);
    return path;
}

/* Some file systems (FUSE, pipes behind /proc) have no fsync: not a reason to lose the file. */
static bool sync_fd(int fd) {
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

/* The rename is on disk only once the folder is: otherwise a power cut may bring the old file
 * back, which is allowed, or no file at all, which is not. */
static bool sync_folder_of(const char *path) {
    const char *slash = strrchr(path, '/');
    char *folder = slash == path ? strdup("/")
                   : slash       ? strndup(path, (size_t)(slash - path))
                                 : strdup(".");
    if (!folder)
        return false;
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    free(folder);
    if (fd < 0)
        return errno == EACCES; /* a folder may be writable but not readable: nothing to sync by */
    bool ok = sync_fd(fd);
    int error = errno;
    close(fd);
    errno = error;
    return ok;
}

enum ergo_status ergo_file_write(struct ergo_context *ctx, const char *path, const void *data,
                                 size_t length) {
    return ergo_file_write_pieces(ctx, path, &(struct ergo_piece){data, length}, 1);
}

enum ergo_status ergo_file_write_pieces(struct ergo_context *ctx, const char *path,
                                        const struct ergo_piece *pieces, size_t count) {
    static atomic_uint serial; /* contexts of several threads may write beside each other */
    enum ergo_status status = ERGO_OK;
    char *temporary = NULL;
    int fd = -1;
    bool created = false;
    size_t size = strlen(path) + 64, length = 0;
    struct stat info;

    temporary = malloc(size);
    if (!temporary) {
        status = ERGO_FAIL(ctx, ERGO_E_MEMORY, "writing %s: out of memory", path);
        goto out;
    }
    snprintf(temporary, size, "%s.tmp-%ld-%u", path, (long)getpid(), atomic_fetch_add(&serial, 1U));
    /* rename would replace /dev/full or a pipe by a file */
    if (stat(path, &info) == 0 && !S_ISREG(info.st_mode)) {
        status =
            ERGO_FAIL(ctx, ERGO_E_IO, "cannot write %s: it exists and is not a regular file", path);
        goto out;
    }
    fd = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd < 0) {
        status = ERGO_FAIL(ctx, ERGO_E_IO, "cannot write %s: creating %s: %s", path, temporary,
                           strerror(errno));
        goto out;
    }
    created = true;
    for (size_t i = 0; i < count; i++)
        length += pieces[i].length;
    for (size_t i = 0; i < count; i++) {
        if (!write_all(fd, pieces[i].data, pieces[i].length)) {
            status = ERGO_FAIL(ctx, ERGO_E_IO, "cannot write %s (%zu bytes): %s", path, length,
                               strerror(errno));
            goto out;
        }
    }
    if (!sync_fd(fd)) {
        status =
            ERGO_FAIL(ctx, ERGO_E_IO, "cannot write %s to the disk: %s", path, strerror(errno));
        goto out;
    }
    int closed = close(fd); /* network file systems report a full disk here */
    fd = -1;
    if (closed) {
        status =
            ERGO_FAIL(ctx, ERGO_E_IO, "cannot write %s: closing it: %s", path, strerror(errno));
        goto out;
    }
    if (rename(temporary, path)) {
        status = ERGO_FAIL(ctx, ERGO_E_IO, "cannot put %s in place: %s", path, strerror(errno));
        goto out;
    }
    created = false;
    if (!sync_folder_of(path))
        status = ERGO_FAIL(ctx, ERGO_E_IO, "cannot write the folder of %s to the disk: %s", path,
                           strerror(errno));
out:
    if (fd >= 0)
        close(fd);
    if (created)
        unlink(temporary);
    free(temporary);
    return status;
}

enum ergo_status ergo_file_open(struct ergo_context *ctx, const char *path, int *fd,
                                uint64_t *size) {
    enum ergo_status status = ERGO_OK;
    struct stat info;
    *size = 0;
    /* O_NONBLOCK: a named pipe given by mistake is refused below instead of waited for */
    *fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (*fd < 0)
        return ERGO_FAIL(ctx, ERGO_E_IO, "cannot read %s: %s", path, strerror(errno));
    if (fstat(*fd, &info))
        status = ERGO_FAIL(ctx, ERGO_E_IO, "cannot read %s: %s", path, strerror(errno));
    else if (!S_ISREG(info.st_mode))
        status = ERGO_FAIL(ctx, ERGO_E_IO, "cannot read %s: it is %s", path,
                           S_ISDIR(info.st_mode) ? "a folder" : "not a regular file");
    else
        *size = (uint64_t)info.st_size;
    if (status != ERGO_OK) {
        close(*fd);
        *fd = -1;
    }
    return status;
}

enum ergo_status ergo_file_read(struct ergo_context *ctx, const char *path, size_t limit,
                                char **data, size_t *length) {
    char *buffer = NULL;
    size_t capacity = 0, filled = 0;
    uint64_t size = 0;
    int fd = -1;

    *data = NULL;
    *length = 0;
    enum ergo_status status = ergo_file_open(ctx, path, &fd, &size);
    if (status != ERGO_OK)
        return status;
    capacity = (size_t)size;
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
        while (filled <= capacity) { /* one byte beyond, to see the end or growth */
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
        capacity = filled + filled / 2; /* it grew while we read, or is one of /proc */
        if (capacity > limit && filled <= limit)
            capacity = limit;
    }
    buffer[filled] = '\0';
    *data = buffer;
    *length = filled;
    buffer = NULL;
out:
    free(buffer);
    if (fd >= 0)
        close(fd);
    return status;
}

enum ergo_status ergo_folder_create(struct ergo_context *ctx, const char *path) {
    enum ergo_status status = ERGO_OK;
    struct stat info;
    char *copy = strdup(path);
    if (!copy)
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "creating folder %s: out of memory", path);
    if (!*path) {
        status = ERGO_FAIL(ctx, ERGO_E_IO, "cannot create a folder without a name");
        goto out;
    }
    for (char *at = copy + 1;; at++) {
        if (*at != '/' && *at)
            continue;
        char kept = *at;
        *at = '\0';
        if (mkdir(copy, 0777)) {
            int error = errno;
            /* Not only EEXIST: a read-only or unreadable parent that is there is fine too. */
            if (stat(copy, &info) || !S_ISDIR(info.st_mode)) {
                status = ERGO_FAIL(ctx, ERGO_E_IO, "cannot create folder %s: %s%s%s", path,
                                   error == EEXIST ? "a file of this name is in the way: "
                                                   : strerror(error),
                                   error == EEXIST ? "" : ": ", copy);
                goto out;
            }
        }
        *at = kept;
        if (!kept)
            break;
    }
out:
    free(copy);
    return status;
}

/* 0, or why not. */
static int take_lock(int fd) {
    int result;
    do
        result = flock(fd, LOCK_EX | LOCK_NB);
    while (result && errno == EINTR);
    return result ? errno : 0;
}

/* Who holds a lock, a line; "" if that is not written there. */
static void read_owner(int fd, char *owner, size_t size) {
    const ssize_t n = pread(fd, owner, size - 1, 0);
    owner[n > 0 ? n : 0] = '\0';
    owner[strcspn(owner, "\n")] = '\0';
}

/* A process of this host that is no more? */
static bool is_dead(const char *owner, const char *host) {
    char on[80] = "";
    long pid = 0;
    return sscanf(owner, "process %ld on %79s", &pid, on) == 2 && pid > 0 &&
           strcmp(on, host) == 0 && kill((pid_t)pid, 0) != 0 && errno == ESRCH;
}

enum ergo_status ergo_folder_lock(struct ergo_context *ctx, const char *folder, int *fd) {
    enum ergo_status status = ERGO_OK;
    char owner[160] = "", host[80] = "";
    int lock = -1;

    *fd = -1;
    char *path = ergo_path_join(folder, "lock");
    if (!path)
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "locking %s: out of memory", folder);
    lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (lock < 0) {
        status =
            ERGO_FAIL(ctx, ERGO_E_IO, "cannot lock the run folder: %s: %s", path, strerror(errno));
        goto out;
    }
    if (gethostname(host, sizeof host - 1))
        host[0] = '\0';
    int error = take_lock(lock);
    /* A child that a killed run's driver has forked to start a compiler or linker holds the lock,
     * too, until it does so: moments. */
    for (int i = 0; error == EWOULDBLOCK; i++) {
        read_owner(lock, owner, sizeof owner);
        if (i == 100 || !is_dead(owner, host))
            break;
        nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
        error = take_lock(lock);
    }
    if (error == EWOULDBLOCK) {
        status = ERGO_FAIL(ctx, ERGO_E_IO,
                           "another ergocl works in %s%s%s%s: wait for it or choose another "
                           "folder with -o",
                           folder, *owner ? " (" : "", owner, *owner ? ")" : "");
        goto out;
    }
    if (error && error != ENOLCK && error != ENOSYS && error != ENOTSUP) {
        status = ERGO_FAIL(ctx, ERGO_E_IO, "cannot lock %s: %s", path, strerror(error));
        goto out;
    }
    if (error) /* some cluster file systems have no locks; that must not forbid work there */
        ergo_log(ctx, ERGO_LOG_WARNING,
                 "cannot lock %s (%s): do not start another ergocl in this folder", path,
                 strerror(error));
    /* Who holds it, for the message above. The lock holds whether or not this can be written. */
    int length = snprintf(owner, sizeof owner, "process %ld on %s\n", (long)getpid(), host);
    if (ftruncate(lock, 0) || pwrite(lock, owner, (size_t)length, 0) != length)
        ergo_log(ctx, ERGO_LOG_DEBUG, "could not write the owner into %s: %s", path,
                 strerror(errno));
    *fd = lock;
    lock = -1;
out:
    if (lock >= 0)
        close(lock);
    free(path);
    return status;
}
