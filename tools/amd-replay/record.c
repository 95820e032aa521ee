/*
 * Records launches of kernels, for replay.py. Loaded before the program (LD_PRELOAD), this writes
 * to the folder $RECORD_DIR
 *
 *     PROGRAM.cl, PROGRAM.options   each program that is built; PROGRAM is a hash of both
 *     PROCESS-N.launch              a launch: program, kernel, shape, arguments
 *     PROCESS-N.K.before, .after    the bytes of its Kth buffer
 *     PROCESS.skipped               kernels whose launches were too large, a line each
 *
 * Of each kernel of a program the first and the third launch are taken, if they have no more than
 * $RECORD_ITEMS work-items and $RECORD_BYTES bytes of buffers. What the program computes is left
 * alone. One thread may call OpenCL at a time.
 */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_ARGUMENTS = 64, MOST_VALUE = 256 };

struct argument {
    size_t size;
    bool local;
    unsigned char value[MOST_VALUE];
};

/* Everything ever made stays in these lists: a handle that is used again is found by its last. */
static struct program {
    cl_program handle;
    uint64_t hash;
    struct program *next;
} * programs;
static struct buffer {
    cl_mem handle;
    size_t bytes;
    struct buffer *next;
} * buffers;
static struct count { /* launches of a kernel of a program, whatever its handle */
    uint64_t program;
    unsigned launches;
    char name[64];
    struct count *next;
} * counts;
static struct kernel {
    cl_kernel handle;
    unsigned arguments;
    struct count *count;
    struct argument argument[MOST_ARGUMENTS];
    struct kernel *next;
} * kernels;

#define REAL(function)                                                                             \
    __typeof__(&function) real;                                                                    \
    *(void **)&real = dlsym(RTLD_NEXT, #function)

static void *wanted(void *memory) {
    if (!memory) {
        fputs("record.so: out of memory\n", stderr);
        abort();
    }
    return memory;
}

static FILE *opened(const char *name, const char *mode) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", getenv("RECORD_DIR"), name);
    FILE *file = fopen(path, mode);
    if (!file) {
        perror(path);
        abort();
    }
    return file;
}

static void closed(FILE *file) {
    if (ferror(file) || fclose(file)) {
        perror("record.so: write");
        abort();
    }
}

static size_t limit(const char *name, size_t otherwise) {
    const char *text = getenv(name);
    return text ? strtoull(text, NULL, 10) : otherwise;
}

static uint64_t hashed(const char *text, uint64_t hash) { /* FNV-1a */
    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * 0x100000001b3;
    return hash;
}

cl_int clBuildProgram(cl_program program, cl_uint n, const cl_device_id *devices,
                      const char *options, void (*notify)(cl_program, void *), void *user) {
    REAL(clBuildProgram);
    size_t bytes = 0;
    clGetProgramInfo(program, CL_PROGRAM_SOURCE, 0, NULL, &bytes);
    char *source = wanted(calloc(bytes + 1, 1)), name[64];
    clGetProgramInfo(program, CL_PROGRAM_SOURCE, bytes, source, NULL);
    struct program *p = wanted(calloc(1, sizeof *p));
    *p = (struct program){
        program, hashed(options ? options : "", hashed(source, 0xcbf29ce484222325)), programs};
    programs = p;
    snprintf(name, sizeof name, "%016llx.cl", (unsigned long long)p->hash);
    FILE *file = opened(name, "w");
    fputs(source, file);
    closed(file);
    snprintf(name, sizeof name, "%016llx.options", (unsigned long long)p->hash);
    file = opened(name, "w");
    fputs(options ? options : "", file);
    closed(file);
    free(source);
    return real(program, n, devices, options, notify, user);
}

/* A cached binary has no source. */
cl_program clCreateProgramWithBinary(cl_context context, cl_uint n, const cl_device_id *devices,
                                     const size_t *lengths, const unsigned char **binaries,
                                     cl_int *status, cl_int *code) {
    (void)context, (void)n, (void)devices, (void)lengths, (void)binaries, (void)status;
    if (code)
        *code = CL_INVALID_BINARY;
    return NULL;
}

cl_mem clCreateBuffer(cl_context context, cl_mem_flags flags, size_t bytes, void *host,
                      cl_int *code) {
    REAL(clCreateBuffer);
    const cl_mem handle = real(context, flags, bytes, host, code);
    if (handle) {
        struct buffer *b = wanted(calloc(1, sizeof *b));
        *b = (struct buffer){handle, bytes, buffers};
        buffers = b;
    }
    return handle;
}

cl_kernel clCreateKernel(cl_program program, const char *name, cl_int *code) {
    REAL(clCreateKernel);
    const cl_kernel handle = real(program, name, code);
    struct program *p = programs;
    while (p && p->handle != program)
        p = p->next;
    if (!handle || !p)
        return handle;
    struct count *c = counts;
    while (c && (c->program != p->hash || strcmp(c->name, name) != 0))
        c = c->next;
    if (!c) {
        c = wanted(calloc(1, sizeof *c));
        c->program = p->hash;
        snprintf(c->name, sizeof c->name, "%s", name);
        c->next = counts;
        counts = c;
    }
    struct kernel *k = wanted(calloc(1, sizeof *k));
    k->handle = handle;
    k->count = c;
    k->next = kernels;
    kernels = k;
    return handle;
}

static struct kernel *kernel_of(cl_kernel handle) {
    struct kernel *k = kernels;
    while (k && k->handle != handle)
        k = k->next;
    return k;
}

static const struct buffer *buffer_of(const struct argument *a) {
    const struct buffer *b = buffers;
    while (b && (a->local || a->size != sizeof b->handle ||
                 memcmp(&b->handle, a->value, sizeof b->handle) != 0))
        b = b->next;
    return b;
}

cl_int clSetKernelArg(cl_kernel kernel, cl_uint i, size_t size, const void *value) {
    REAL(clSetKernelArg);
    struct kernel *k = kernel_of(kernel);
    if (k && i < MOST_ARGUMENTS && (!value || size <= MOST_VALUE)) {
        k->argument[i].size = size;
        k->argument[i].local = !value;
        if (value)
            memcpy(k->argument[i].value, value, size);
        if (k->arguments <= i)
            k->arguments = i + 1;
    }
    return real(kernel, i, size, value);
}

static void write_buffers(cl_command_queue queue, const struct kernel *k, const char *base,
                          const char *when) {
    for (unsigned i = 0; i < k->arguments; i++) {
        const struct buffer *b = buffer_of(&k->argument[i]);
        if (!b)
            continue;
        void *bytes = wanted(malloc(b->bytes));
        char name[128];
        if (clEnqueueReadBuffer(queue, b->handle, CL_TRUE, 0, b->bytes, bytes, 0, NULL, NULL)) {
            fputs("record.so: a buffer cannot be read\n", stderr);
            abort();
        }
        snprintf(name, sizeof name, "%s.%u.%s", base, i, when);
        FILE *file = opened(name, "wb");
        fwrite(bytes, 1, b->bytes, file);
        closed(file);
        free(bytes);
    }
}

static void write_launch(const struct kernel *k, const char *base, cl_uint dims,
                         const size_t *global, const size_t *local) {
    char name[128];
    snprintf(name, sizeof name, "%s.launch", base);
    FILE *file = opened(name, "w");
    fprintf(file, "program %016llx\nkernel %s\nordinal %u\ndims %u\nglobal",
            (unsigned long long)k->count->program, k->count->name, k->count->launches, dims);
    for (cl_uint d = 0; d < 3; d++)
        fprintf(file, " %zu", d < dims ? global[d] : 1);
    fprintf(file, "\nlocal");
    for (cl_uint d = 0; d < 3; d++)
        fprintf(file, " %zu", !local ? 0 : d < dims ? local[d] : 1);
    for (unsigned i = 0; i < k->arguments; i++) {
        const struct argument *a = &k->argument[i];
        const struct buffer *b = buffer_of(a);
        if (b)
            fprintf(file, "\narg buffer %p", (void *)b->handle);
        else if (a->local)
            fprintf(file, "\narg local %zu", a->size);
        else {
            fprintf(file, "\narg value ");
            for (size_t byte = 0; byte < a->size; byte++)
                fprintf(file, "%02x", a->value[byte]);
        }
    }
    fputc('\n', file);
    closed(file);
}

cl_int clEnqueueNDRangeKernel(cl_command_queue queue, cl_kernel kernel, cl_uint dims,
                              const size_t *offset, const size_t *global, const size_t *local,
                              cl_uint n, const cl_event *before, cl_event *event) {
    REAL(clEnqueueNDRangeKernel);
    static unsigned serial;
    const struct kernel *k = kernel_of(kernel);
    char base[64];
    bool taken = k && !offset && (++k->count->launches == 1 || k->count->launches == 3);
    if (taken) {
        size_t items = 1, bytes = 0;
        for (cl_uint d = 0; d < dims; d++)
            items *= global[d];
        for (unsigned i = 0; i < k->arguments; i++) {
            const struct buffer *b = buffer_of(&k->argument[i]);
            bytes += b ? b->bytes : 0;
        }
        taken = items <= limit("RECORD_ITEMS", 65536) && bytes <= limit("RECORD_BYTES", 32 << 20);
        if (!taken) {
            snprintf(base, sizeof base, "%d.skipped", (int)getpid());
            FILE *file = opened(base, "a");
            fprintf(file, "%016llx %s %zu %zu\n", (unsigned long long)k->count->program,
                    k->count->name, items, bytes);
            closed(file);
        }
    }
    if (taken) {
        snprintf(base, sizeof base, "%d-%u", (int)getpid(), ++serial);
        clFinish(queue);
        write_launch(k, base, dims, global, local);
        write_buffers(queue, k, base, "before");
    }
    const cl_int code = real(queue, kernel, dims, offset, global, local, n, before, event);
    if (taken && code == CL_SUCCESS) {
        clFinish(queue);
        write_buffers(queue, k, base, "after");
    }
    return code;
}
