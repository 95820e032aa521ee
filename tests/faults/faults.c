/*
 * Fault injection. Loaded before the program (LD_PRELOAD), this makes calls of one function fail.
 *
 *   FAULT="FUNCTION ACTION [AFTER [COUNT]]"   skip AFTER calls (0), then fail COUNT of them (all)
 *   FAULT_RANK=N                      only in this rank of mpirun
 *   FAULT_PATH=TEXT                   file functions: only for paths with this text; malloc: only
 *                                     for callers in programs or libraries with such a name
 *   FAULT_MARK=FILE                   file to make when the first call fails
 *
 * ACTION: a number: an error, of OpenCL (below 0) or an errno; drop: success, but nothing was done;
 * flip: done, with one wrong bit in the data returned; wait: done when FAULT_MARK is gone; hang:
 * never returns; kill: SIGKILL before it is done; back: a clock that shows an hour less; slowN: a
 * launch takes N nanoseconds more for each of its work-items, as on a slow device.
 */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum action { NOTHING, ERROR, DROP, FLIP, BACK, SLOW };
static int code; /* of ERROR, SLOW */

static bool meant(const char *function, const char *path) {
    const char *fault = getenv("FAULT"), *rank = getenv("FAULT_RANK"), *text = getenv("FAULT_PATH");
    const char *own = getenv("OMPI_COMM_WORLD_RANK");
    const size_t length = strlen(function);
    return fault && !strncmp(fault, function, length) && fault[length] == ' ' &&
           (!rank || (own && !strcmp(rank, own))) && (!path || !text || strstr(path, text));
}

/* What to do with this call. path: of the file it is about, or NULL. */
static enum action strike(const char *function, const char *path) {
    static atomic_uint calls;
    char action[16] = "";
    unsigned after = 0, count = UINT_MAX;
    const int error = errno;
    if (!meant(function, path))
        return NOTHING;
    sscanf(getenv("FAULT") + strlen(function), "%15s %u %u", action, &after, &count);
    const unsigned call = atomic_fetch_add(&calls, 1U);
    if (call < after || call - after >= count)
        return NOTHING;
    if (call == after && getenv("FAULT_MARK"))
        close(creat(getenv("FAULT_MARK"), 0666));
    errno = error;
    if (!strcmp(action, "kill"))
        raise(SIGKILL);
    while (!strcmp(action, "wait") && call == after && access(getenv("FAULT_MARK"), F_OK) == 0)
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    while (!strcmp(action, "hang"))
        pause();
    code = atoi(action + (strncmp(action, "slow", 4) ? 0 : 4));
    return !strcmp(action, "drop")   ? DROP
           : !strcmp(action, "flip") ? FLIP
           : !strcmp(action, "back") ? BACK
           : *action == 's'          ? SLOW
           : code                    ? ERROR
                                     : NOTHING;
}

/* POSIX's dlsym needs a conversion that ISO C lacks. */
#pragma GCC diagnostic ignored "-Wpedantic"
#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

/* ---- OpenCL ---------------------------------------------------------------------------------- */

#define RETURNS_CODE(name, parameters, arguments)                                                  \
    cl_int name parameters {                                                                       \
        const enum action action = strike(#name, NULL);                                            \
        return action == ERROR ? code : action == DROP ? CL_SUCCESS : REAL(name) arguments;        \
    }
#define RETURNS_OBJECT(type, name, parameters, arguments)                                          \
    type name parameters {                                                                         \
        if (strike(#name, NULL) != ERROR)                                                          \
            return REAL(name) arguments;                                                           \
        if (result)                                                                                \
            *result = code;                                                                        \
        return NULL;                                                                               \
    }

RETURNS_CODE(clGetDeviceIDs,
             (cl_platform_id p, cl_device_type t, cl_uint n, cl_device_id *d, cl_uint *found),
             (p, t, n, d, found))
RETURNS_CODE(clBuildProgram,
             (cl_program p, cl_uint n, const cl_device_id *d, const char *options,
              void(CL_CALLBACK *notify)(cl_program, void *), void *user),
             (p, n, d, options, notify, user))
RETURNS_CODE(clEnqueueWriteBuffer,
             (cl_command_queue q, cl_mem b, cl_bool wait, size_t offset, size_t size,
              const void *data, cl_uint n, const cl_event *list, cl_event *event),
             (q, b, wait, offset, size, data, n, list, event))
RETURNS_CODE(clFinish, (cl_command_queue q), (q))
RETURNS_CODE(clWaitForEvents, (cl_uint n, const cl_event *list), (n, list))
RETURNS_OBJECT(cl_context, clCreateContext,
               (const cl_context_properties *properties, cl_uint n, const cl_device_id *d,
                void(CL_CALLBACK *notify)(const char *, const void *, size_t, void *), void *user,
                cl_int *result),
               (properties, n, d, notify, user, result))
RETURNS_OBJECT(cl_command_queue, clCreateCommandQueue,
               (cl_context c, cl_device_id d, cl_command_queue_properties properties,
                cl_int *result),
               (c, d, properties, result))
RETURNS_OBJECT(cl_mem, clCreateBuffer,
               (cl_context c, cl_mem_flags flags, size_t size, void *data, cl_int *result),
               (c, flags, size, data, result))
RETURNS_OBJECT(cl_kernel, clCreateKernel, (cl_program p, const char *kernel, cl_int *result),
               (p, kernel, result))

cl_int clEnqueueNDRangeKernel(cl_command_queue q, cl_kernel k, cl_uint dims, const size_t *offset,
                              const size_t *global, const size_t *local, cl_uint n,
                              const cl_event *list, cl_event *event) {
    const enum action action = strike("clEnqueueNDRangeKernel", NULL);
    double seconds = 1e-9 * (action == SLOW ? code : 0);
    for (cl_uint d = 0; d < dims; d++)
        seconds *= (double)global[d];
    if (action == SLOW)
        nanosleep(
            &(struct timespec){(time_t)seconds, (long)(1e9 * (seconds - (double)(time_t)seconds))},
            NULL);
    return action == ERROR ? code
           : action == DROP
               ? CL_SUCCESS
               : REAL(clEnqueueNDRangeKernel)(q, k, dims, offset, global, local, n, list, event);
}

cl_int clEnqueueReadBuffer(cl_command_queue q, cl_mem b, cl_bool wait, size_t offset, size_t size,
                           void *data, cl_uint n, const cl_event *list, cl_event *event) {
    const enum action action = strike("clEnqueueReadBuffer", NULL);
    if (action == ERROR)
        return code;
    if (action == DROP)
        return CL_SUCCESS;
    const cl_int result = REAL(clEnqueueReadBuffer)(q, b, action == FLIP ? CL_TRUE : wait, offset,
                                                    size, data, n, list, event);
    if (action == FLIP && result == CL_SUCCESS && size)
        ((unsigned char *)data)[size / 2] ^= 4;
    return result;
}

/* ---- MPI ------------------------------------------------------------------------------------- */

/* Handles are pointers or numbers, by the library; as arguments both pass through a pointer. drop:
 * an empty message arrives; flip: one wrong bit in its last word. */
int MPI_Isend(const void *data, int count, void *type, int to, int tag, void *comm, void *request);
int MPI_Isend(const void *data, int count, void *type, int to, int tag, void *comm, void *request) {
    const enum action action = strike("MPI_Isend", NULL);
    int (*real)(const void *, int, void *, int, int, void *, void *) =
        dlsym(RTLD_NEXT, "MPI_Isend");
    char *other = action == FLIP && count > 4 ? malloc((size_t)count) : NULL; /* kept: under way */
    if (other) {
        memcpy(other, data, (size_t)count);
        other[count - 4] = (char)(other[count - 4] ^ 1);
    }
    return real(other ? other : data, action == DROP ? 0 : count, type, to, tag, comm, request);
}

/* ---- files: rename stands for renameat too, and so on -----------------------------------------
 */

static const char *path_in(int folder, const char *name) {
    static _Thread_local char path[8192];
    char link[40];
    snprintf(link, sizeof link, "/proc/self/fd/%d", folder);
    const ssize_t length = *name == '/' ? 0 : readlink(link, path, 4096);
    snprintf(path + (length > 0 ? length : 0), 4096, "%s%s", length > 0 && *name ? "/" : "", name);
    return path;
}

static const char *path_of(int fd) {
    return path_in(fd, "");
}

#define RETURNS_ERRNO(type, name, parameters, arguments, path)                                     \
    type name parameters {                                                                         \
        if (strike(#name, path) != ERROR)                                                          \
            return REAL(name) arguments;                                                           \
        errno = code;                                                                              \
        return -1;                                                                                 \
    }

RETURNS_ERRNO(ssize_t, write, (int fd, const void *data, size_t size), (fd, data, size),
              path_of(fd))
RETURNS_ERRNO(ssize_t, pwrite, (int fd, const void *data, size_t size, off_t at),
              (fd, data, size, at), path_of(fd))
RETURNS_ERRNO(int, fsync, (int fd), (fd), path_of(fd))
RETURNS_ERRNO(int, rename, (const char *from, const char *to), (from, to), to)
RETURNS_ERRNO(int, flock, (int fd, int what), (fd, what), path_of(fd))
RETURNS_ERRNO(int, mkdir, (const char *path, mode_t mode), (path, mode), path)

#define RETURNS_ERRNO_AT(name, parameters, arguments, path)                                        \
    int name##at parameters {                                                                      \
        if (strike(#name, path) != ERROR)                                                          \
            return REAL(name##at) arguments;                                                       \
        errno = code;                                                                              \
        return -1;                                                                                 \
    }

RETURNS_ERRNO_AT(rename, (int at, const char *from, int in, const char *to), (at, from, in, to),
                 path_in(in, to))
RETURNS_ERRNO_AT(mkdir, (int at, const char *path, mode_t mode), (at, path, mode),
                 path_in(at, path))
RETURNS_ERRNO_AT(unlink, (int at, const char *path, int flags), (at, path, flags),
                 path_in(at, path))

int openat(int at, const char *path, int flags, ...) {
    va_list rest;
    va_start(rest, flags);
    const mode_t mode = va_arg(rest, mode_t);
    va_end(rest);
    if ((flags & O_ACCMODE) == O_RDONLY || strike("open", path_in(at, path)) != ERROR)
        return REAL(openat)(at, path, flags, mode);
    errno = code;
    return -1;
}

int open(const char *path, int flags, ...) {
    va_list rest;
    va_start(rest, flags);
    const mode_t mode = va_arg(rest, mode_t);
    va_end(rest);
    /* reading stays possible, as on a file system that is mounted for reading */
    if ((flags & O_ACCMODE) == O_RDONLY || strike("open", path) != ERROR)
        return REAL(open)(path, flags, mode);
    errno = code;
    return -1;
}

/* ---- memory ---------------------------------------------------------------------------------- */

/* malloc stands for calloc and realloc, too. It is watched from the program's own first call on:
 * what libraries do before main is not the program's. */
extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t);
static bool watched, begun;
__attribute__((constructor)) static void watch_memory(void) {
    watched = meant("malloc", NULL);
}

/* The file of an address: dladdr looks for its symbol, too, which makes drivers' compilers ten
 * times slower. */
static const char *file_of(const void *caller) {
#if __GLIBC_PREREQ(2, 35)
    struct dl_find_object found;
    if (_dl_find_object((void *)(uintptr_t)caller, &found))
        return NULL;
    const char *name = found.dlfo_link_map->l_name;
    return *name ? name : program_invocation_name;
#else
    Dl_info found;
    return dladdr(caller, &found) ? found.dli_fname : NULL;
#endif
}

static bool no_memory(const void *caller) {
    static _Thread_local bool inside; /* what this here allocates */
    bool none = false;
    if (!watched || inside)
        return false;
    inside = true;
    const char *file = file_of(caller);
    if (file) {
        begun = begun || !strcmp(file, program_invocation_name);
        none = begun && strike("malloc", file) == ERROR;
    }
    inside = false;
    if (none)
        errno = code;
    return none;
}

void *malloc(size_t size) {
    return no_memory(__builtin_return_address(0)) ? NULL : __libc_malloc(size);
}
void *calloc(size_t n, size_t size) {
    return no_memory(__builtin_return_address(0)) ? NULL : __libc_calloc(n, size);
}
void *realloc(void *old, size_t size) {
    return no_memory(__builtin_return_address(0)) ? NULL : __libc_realloc(old, size);
}

/* ---- sorts ----------------------------------------------------------------------------------- */

/* qsort: other C libraries, or this one with little memory, leave equal elements in another order.
 */
void qsort(void *base, size_t n, size_t size, int (*compare)(const void *, const void *)) {
    char *low = base, *high = low + (n ? n - 1 : 0) * size;
    for (bool other = strike("qsort", NULL) == ERROR; other && low < high;
         low += size, high -= size)
        for (size_t i = 0; i < size; i++) {
            const char kept = low[i];
            low[i] = high[i];
            high[i] = kept;
        }
    REAL(qsort)(base, n, size, compare);
}

/* ---- clocks ---------------------------------------------------------------------------------- */

int clock_gettime(clockid_t id, struct timespec *t) {
    const int result = REAL(clock_gettime)(id, t);
    if (id != CLOCK_MONOTONIC && strike("clock_gettime", NULL) == BACK)
        t->tv_sec -= 3600;
    return result;
}

time_t time(time_t *t) {
    const time_t now = REAL(time)(NULL) - (strike("clock_gettime", NULL) == BACK ? 3600 : 0);
    if (t)
        *t = now;
    return now;
}
