/*
 * Counts of what a run costs, beside any clock. Loaded before the program (LD_PRELOAD), this writes
 * to $COUNTS at the end: bytes that the program itself allocated (its libraries' are not counted),
 * bytes written to files, commands for devices.
 */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <dlfcn.h>
#include <link.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static atomic_uint_least64_t allocated, written, commands;
static uintptr_t begin, end; /* of the program's code */

static int find_program(struct dl_phdr_info *info, size_t size, void *user) {
    (void)size;
    (void)user;
    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_LOAD && info->dlpi_phdr[i].p_flags & PF_X) {
            begin = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
            end = begin + info->dlpi_phdr[i].p_memsz;
        }
    return 1; /* the first is the program */
}

__attribute__((constructor)) static void start(void) {
    dl_iterate_phdr(find_program, NULL);
}

static void *next(const char *name) {
    return dlsym(RTLD_NEXT, name);
}

static void count(const void *caller, size_t bytes) {
    if ((uintptr_t)caller >= begin && (uintptr_t)caller < end)
        allocated += bytes;
}

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);

void *malloc(size_t size) {
    count(__builtin_return_address(0), size);
    return __libc_malloc(size);
}

void *calloc(size_t n, size_t size) {
    count(__builtin_return_address(0), n * size);
    return __libc_calloc(n, size);
}

void *realloc(void *old, size_t size) {
    count(__builtin_return_address(0), size);
    return __libc_realloc(old, size);
}

ssize_t write(int fd, const void *data, size_t length) {
    static ssize_t (*real)(int, const void *, size_t);
    if (!real)
        real = (ssize_t(*)(int, const void *, size_t))next("write");
    written += length;
    return real(fd, data, length);
}

void _exit(int code) {
    static void (*real)(int);
    FILE *file = fopen(getenv("COUNTS"), "w");
    if (file) {
        fprintf(file, "%llu %llu %llu\n", (unsigned long long)allocated,
                (unsigned long long)written, (unsigned long long)commands);
        fclose(file);
    }
    real = (void (*)(int))next("_exit");
    real(code);
    for (;;)
        ;
}

/* All commands have their arguments in registers and on the stack, at most nine or so. */
#define COMMAND(name)                                                                              \
    cl_int count_##name(void *, void *, void *, void *, void *, void *, void *, void *,            \
                        void *) __asm__(#name);                                                    \
    cl_int count_##name(void *a, void *b, void *c, void *d, void *e, void *f, void *g, void *h,    \
                        void *i) {                                                                 \
        static cl_int (*real)(void *, void *, void *, void *, void *, void *, void *, void *,      \
                              void *);                                                             \
        if (!real)                                                                                 \
            real = (cl_int(*)(void *, void *, void *, void *, void *, void *, void *, void *,      \
                              void *))next(#name);                                                 \
        commands++;                                                                                \
        return real(a, b, c, d, e, f, g, h, i);                                                    \
    }
COMMAND(clEnqueueNDRangeKernel)
COMMAND(clEnqueueReadBuffer)
COMMAND(clEnqueueWriteBuffer)
COMMAND(clEnqueueFillBuffer)
COMMAND(clEnqueueCopyBuffer)
