/*
 * Folders. A run folder is opened once, and its files are opened relative to its descriptor, by
 * name and never through a link. So a folder from anybody leads to nothing outside.
 */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

const char ergo_folder_no_link[] = "it is a symbolic link, which no run makes: remove it";

char *ergo_path_join(const char *folder, const char *name) {
    size_t length = strlen(folder);
    const char *slash = length && folder[length - 1] != '/' ? "/" : "";
    size_t size = length + strlen(slash) + strlen(name) + 1;
    char *path = malloc(size);
    if (path)
        snprintf(path, size, "%s%s%s", folder, slash, name);
    return path;
}

char *ergo_path_beside(const char *const *places, size_t count, int mode) {
    char own[4096], *path = NULL;
    const ssize_t length = readlink("/proc/self/exe", own, sizeof own);
    if (length <= 0 || (size_t)length == sizeof own)
        return NULL;
    own[length] = '\0';
    *strrchr(own, '/') = '\0';
    for (size_t i = 0; i < count && !path; i++) {
        path = ergo_path_join(own, places[i]);
        if (path && access(path, mode) != 0) {
            free(path);
            path = NULL;
        }
    }
    return path;
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
            /* Not only EEXIST: a folder in a read-only or unreadable parent is fine, too. */
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

/* ---- open folders ---------------------------------------------------------------------------- */

int ergo_folder_descriptor(int at, const char *path, int flags) {
    const int fd = openat(at, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | flags);
    if (fd >= 0 || errno != EACCES)
        return fd;
    /* a folder that may be written but not read */
    return openat(at, path, O_PATH | O_DIRECTORY | O_CLOEXEC | flags);
}

enum ergo_status ergo_folder_open(struct ergo_context *ctx, const char *path,
                                  struct ergo_folder *folder) {
    *folder = (struct ergo_folder){.fd = -1, .path = strdup(path)};
    if (!folder->path)
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "opening folder %s: out of memory", path);
    folder->fd = ergo_folder_descriptor(AT_FDCWD, path, 0);
    if (folder->fd >= 0)
        return ERGO_OK;
    return ERGO_FAIL(ctx, ERGO_E_IO, "cannot open the folder %s: %s", *path ? path : "\"\"",
                     errno == ENOTDIR ? "it is a file" : strerror(errno));
}

void ergo_folder_close(struct ergo_folder *folder) {
    if (folder->fd >= 0)
        close(folder->fd);
    free(folder->path);
    *folder = (struct ergo_folder){.fd = -1};
}

char *ergo_folder_path(const struct ergo_folder *in, const char *name) {
    return in ? ergo_path_join(in->path, name) : strdup(name);
}

bool ergo_folder_has(const struct ergo_folder *folder, const char *name) {
    struct stat info;
    return fstatat(folder->fd, name, &info, AT_SYMLINK_NOFOLLOW) == 0;
}

enum ergo_status ergo_folder_check(struct ergo_context *ctx, const struct ergo_folder *outer,
                                   const char *name) {
    struct stat info;
    if (fstatat(outer->fd, name, &info, AT_SYMLINK_NOFOLLOW) != 0 || S_ISDIR(info.st_mode))
        return ERGO_OK;
    return ERGO_FAIL(ctx, ERGO_E_IO, "cannot use the folder %s/%s: %s", outer->path, name,
                     S_ISLNK(info.st_mode) ? ergo_folder_no_link : "a file of this name is there");
}

enum ergo_status ergo_folder_inner(struct ergo_context *ctx, const struct ergo_folder *outer,
                                   const char *name, struct ergo_folder *inner) {
    *inner = (struct ergo_folder){.fd = -1, .path = ergo_path_join(outer->path, name)};
    if (!inner->path)
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "opening folder %s: out of memory", name);
    const enum ergo_status status = ergo_folder_check(ctx, outer, name);
    if (status != ERGO_OK)
        return status;
    inner->fd = ergo_folder_descriptor(outer->fd, name, O_NOFOLLOW);
    if (inner->fd < 0 && errno == ENOENT &&
        (mkdirat(outer->fd, name, 0777) == 0 || errno == EEXIST)) /* another rank makes it, too */
        inner->fd = ergo_folder_descriptor(outer->fd, name, O_NOFOLLOW);
    return inner->fd >= 0 ? ERGO_OK
                          : ERGO_FAIL(ctx, ERGO_E_IO, "cannot create folder %s: %s", inner->path,
                                      strerror(errno));
}

enum ergo_status ergo_folder_within(struct ergo_context *ctx, const char *path, const char *name,
                                    char **inner) {
    struct stat info;
    *inner = ergo_path_join(path, name);
    if (!*inner)
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for a path");
    if (lstat(*inner, &info) != 0 || !S_ISLNK(info.st_mode))
        return ERGO_OK;
    const enum ergo_status status =
        ERGO_FAIL(ctx, ERGO_E_IO, "cannot use the folder %s: %s", *inner, ergo_folder_no_link);
    free(*inner);
    *inner = NULL;
    return status;
}

/* ---- the lock -------------------------------------------------------------------------------- */

/* 0, or why not. */
static int take_lock(int fd) {
    int result;
    do
        result = flock(fd, LOCK_EX | LOCK_NB);
    while (result && errno == EINTR);
    return result ? errno : 0;
}

/* The owner of a lock, as one line; "" if that is not written there. */
static void read_owner(int fd, char *owner, size_t size) {
    const ssize_t n = pread(fd, owner, size - 1, 0);
    owner[n > 0 ? n : 0] = '\0';
    owner[strcspn(owner, "\n")] = '\0';
}

enum ergo_status ergo_folder_lock(struct ergo_context *ctx, const struct ergo_folder *folder,
                                  int *fd) {
    enum ergo_status status = ERGO_OK;
    char owner[160] = "", host[80] = "";
    struct stat info;
    int lock = -1;

    *fd = -1;
    lock = openat(folder->fd, "lock",
                  O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0666);
    if (lock < 0) {
        status = ERGO_FAIL(ctx, ERGO_E_IO, "cannot lock the run folder: %s/lock: %s", folder->path,
                           errno == ELOOP ? ergo_folder_no_link : strerror(errno));
        goto out;
    }
    if (fstat(lock, &info) || !S_ISREG(info.st_mode)) {
        status = ERGO_FAIL(ctx, ERGO_E_IO,
                           "cannot lock the run folder: %s/lock is not a regular file: remove it",
                           folder->path);
        goto out;
    }
    if (gethostname(host, sizeof host - 1))
        host[0] = '\0';
    int error = take_lock(lock);
    /* A run that was killed is gone a moment later: its ranks end one by one, and a child that its
     * driver forked to start a compiler holds the lock, too. */
    for (int i = 0; error == EWOULDBLOCK && i < 100; i++) {
        nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
        error = take_lock(lock);
    }
    if (error == EWOULDBLOCK) {
        read_owner(lock, owner, sizeof owner);
        status = ERGO_FAIL(ctx, ERGO_E_IO,
                           "another ergocl works in %s%s%s%s: wait for it or choose another "
                           "folder with -o",
                           folder->path, *owner ? " (" : "", owner, *owner ? ")" : "");
        goto out;
    }
    enum { KERNEL_ENOTSUPP = 524 }; /* of Linux's own headers; some NFS servers let it out */
    if (error && error != ENOLCK && error != ENOSYS && error != ENOTSUP &&
        error != KERNEL_ENOTSUPP) {
        status =
            ERGO_FAIL(ctx, ERGO_E_IO, "cannot lock %s/lock: %s", folder->path, strerror(error));
        goto out;
    }
    if (error) /* some cluster file systems have no locks: work there without one */
        ergo_log(ctx, ERGO_LOG_WARNING,
                 "cannot lock %s/lock (%s): do not start another ergocl in this folder",
                 folder->path, strerror(error));
    /* The owner, for the message above. The lock holds whether or not this can be written. (Not
     * into a file that has another name too, which may be anywhere.) */
    int length = snprintf(owner, sizeof owner, "process %ld on %s\n", (long)getpid(), host);
    if (info.st_nlink == 1 &&
        (ftruncate(lock, 0) || pwrite(lock, owner, (size_t)length, 0) != length))
        ergo_log(ctx, ERGO_LOG_DEBUG, "could not write the owner into %s/lock: %s", folder->path,
                 strerror(errno));
    *fd = lock;
    lock = -1;
out:
    if (lock >= 0)
        close(lock);
    return status;
}
