/*
 * A device that is slow. Loaded before the program (LD_PRELOAD), this makes the monotonic clock go
 * forward by $SLOW seconds for each step (sweep, move, attempt, macroupdate) of a launch: the
 * program sees launches that last, and nobody waits. At the end it writes to $SLOW_LOG a line for
 * each kernel that makes several steps: name, launches, the most steps of one, those of the last.
 * With $SLICES it is a GPU of Intel's with so many slices, each of four subslices.
 * With $GROUP it says that kernels which were not compiled for a size run groups of so many at
 * most.
 */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { KERNELS = 256, ARGUMENTS = 16 };

/* What the arguments say of a launch's length. */
enum kind {
    COUNT,   /* `at`: steps */
    SAMPLES, /* `at`: samples, `at` + 1: steps of each; no samples: these steps */
    ROUNDS,  /* `at`: rounds, `at` + 1: steps of the first, `at` + 2: of each other */
    END      /* `at`: the step at which it ends */
};

static struct kernel {
    const char *name;
    enum kind kind;
    cl_uint at;
    unsigned long long launches, most, last, end;
} kernels[] = {
    {"ising_sweep_local", SAMPLES, 3, 0, 0, 0, 0}, {"bytes_sweep_local", SAMPLES, 3, 0, 0, 0, 0},
    {"facilitated_serial", COUNT, 5, 0, 0, 0, 0},  {"facilitated_window", COUNT, 5, 0, 0, 0, 0},
    {"glass_local", COUNT, 5, 0, 0, 0, 0},         {"disks_local", COUNT, 7, 0, 0, 0, 0},
    {"glass_local_ladder", ROUNDS, 5, 0, 0, 0, 0}, {"lj_run", END, 7, 0, 0, 0, 0},
    {"helium_walk", COUNT, 9, 0, 0, 0, 0},         {"sw_local", COUNT, 3, 0, 0, 0, 0},
    {"sw_local_samples", COUNT, 3, 0, 0, 0, 0},
};
enum { KINDS = sizeof kernels / sizeof kernels[0] };

/* Arguments as they were set. Launches come from one thread. */
static struct handle {
    cl_kernel kernel;
    struct kernel *is;
    uint64_t arguments[ARGUMENTS];
} handles[KERNELS];
static double ahead; /* seconds */

static void *next(const char *name) {
    return dlsym(RTLD_NEXT, name);
}
#define REAL(function) ((__typeof__(&(function)))next(#function))

/* NULL: a kernel that makes no steps. */
static struct handle *handle_of(cl_kernel kernel) {
    for (size_t i = 0; i < KERNELS && handles[i].kernel; i++)
        if (handles[i].kernel == kernel)
            return &handles[i];
    return NULL;
}

cl_kernel clCreateKernel(cl_program program, const char *name, cl_int *code) {
    const cl_kernel kernel = REAL(clCreateKernel)(program, name, code);
    struct kernel *is = NULL;
    size_t i = 0;
    for (size_t k = 0; k < KINDS; k++)
        is = strcmp(kernels[k].name, name) == 0 ? &kernels[k] : is;
    while (i < KERNELS - 1 && handles[i].kernel && handles[i].kernel != kernel)
        i++;
    if (is)
        handles[i] = (struct handle){.kernel = kernel, .is = is};
    return kernel;
}

cl_int clSetKernelArg(cl_kernel kernel, cl_uint at, size_t size, const void *value) {
    struct handle *h = handle_of(kernel);
    if (h && at < ARGUMENTS && value && size <= sizeof h->arguments[at]) {
        h->arguments[at] = 0;
        memcpy(&h->arguments[at], value, size); /* little-endian */
    }
    return REAL(clSetKernelArg)(kernel, at, size, value);
}

static unsigned long long steps_of(struct kernel *k, const uint64_t *a) {
    unsigned long long steps = a[0];
    switch (k->kind) {
    case COUNT:
        break;
    case SAMPLES:
        steps = (a[0] ? a[0] : 1) * a[1];
        break;
    case ROUNDS:
        steps = a[1] + (a[0] - 1) * a[2];
        break;
    case END: /* an audit goes back */
        steps = a[0] > k->end ? a[0] - k->end : 0;
        k->end = a[0];
        break;
    }
    return steps;
}

cl_int clEnqueueNDRangeKernel(cl_command_queue queue, cl_kernel kernel, cl_uint dims,
                              const size_t *offset, const size_t *global, const size_t *local,
                              cl_uint n, const cl_event *wait, cl_event *event) {
    const struct handle *h = handle_of(kernel);
    if (h) {
        struct kernel *k = h->is;
        const unsigned long long steps = steps_of(k, &h->arguments[k->at]);
        k->launches++;
        k->most = steps > k->most ? steps : k->most;
        k->last = steps;
        ahead += (double)steps * atof(getenv("SLOW"));
    }
    return REAL(clEnqueueNDRangeKernel)(queue, kernel, dims, offset, global, local, n, wait, event);
}

cl_int clGetDeviceInfo(cl_device_id device, cl_device_info what, size_t size, void *value,
                       size_t *needed) {
    const char *slices = getenv("SLICES");
    static const char more[] = " cl_intel_device_attribute_query";
    cl_uint number = 0;
    if (slices && what == CL_DEVICE_EXTENSIONS) {
        size_t length = 0;
        cl_int code = REAL(clGetDeviceInfo)(device, what, 0, NULL, &length);
        if (needed)
            *needed = length + sizeof more - 1;
        if (value && code == CL_SUCCESS)
            code = REAL(clGetDeviceInfo)(device, what, size, value, NULL);
        if (value && code == CL_SUCCESS)
            strcat(value, more);
        return code;
    }
    if (slices && (what == 0x4252 || what == 0x4253))
        number = what == 0x4252 ? (cl_uint)atoi(slices) : 4;
    if (slices && what == CL_DEVICE_MAX_COMPUTE_UNITS)
        number = 512;
    if (!number)
        return REAL(clGetDeviceInfo)(device, what, size, value, needed);
    memcpy(value, &number, sizeof number);
    return CL_SUCCESS;
}

cl_int clGetKernelWorkGroupInfo(cl_kernel kernel, cl_device_id device,
                                cl_kernel_work_group_info what, size_t size, void *value,
                                size_t *needed) {
    size_t compiled[3] = {0};
    const cl_int code = REAL(clGetKernelWorkGroupInfo)(kernel, device, what, size, value, needed);
    if (getenv("GROUP") && what == CL_KERNEL_WORK_GROUP_SIZE && code == CL_SUCCESS &&
        REAL(clGetKernelWorkGroupInfo)(kernel, device, CL_KERNEL_COMPILE_WORK_GROUP_SIZE,
                                       sizeof compiled, compiled, NULL) == CL_SUCCESS &&
        !compiled[0])
        *(size_t *)value = (size_t)atoi(getenv("GROUP"));
    return code;
}

int clock_gettime(clockid_t id, struct timespec *t) {
    const int result = REAL(clock_gettime)(id, t);
    if (id == CLOCK_MONOTONIC && result == 0) {
        const uint64_t ns = (uint64_t)t->tv_nsec + (uint64_t)(ahead * 1e9);
        t->tv_sec += (time_t)(ns / 1000000000u);
        t->tv_nsec = (long)(ns % 1000000000u);
    }
    return result;
}

void _exit(int code) {
    FILE *file = fopen(getenv("SLOW_LOG"), "w");
    for (size_t k = 0; k < KINDS && file; k++)
        if (kernels[k].launches)
            fprintf(file, "%s %llu %llu %llu\n", kernels[k].name, kernels[k].launches,
                    kernels[k].most, kernels[k].last);
    if (file)
        fclose(file);
    REAL(_exit)(code);
    for (;;)
        ;
}
