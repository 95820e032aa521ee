/*
 * build PLATFORM FILE OPTIONS: builds an OpenCL program on the first device of the platform, and
 * prints of each kernel what the implementation tells, a JSON object a line. Nothing runs, so the
 * device may be one that only compiles (Mesa's drm-shim). Compiled by tools/offline-matrix.sh.
 */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 16 };

static void fail(const char *what, cl_int code) {
    fprintf(stderr, "%s: OpenCL error %d\n", what, (int)code);
    exit(1);
}

static cl_device_id find_device(const char *word) {
    cl_platform_id platforms[MOST];
    cl_uint n = 0;
    cl_int code = clGetPlatformIDs(MOST, platforms, &n);
    if (code != CL_SUCCESS)
        fail("no platform", code);
    for (cl_uint i = 0; i < n && i < MOST; i++) {
        char name[256] = "";
        cl_device_id device = NULL;
        clGetPlatformInfo(platforms[i], CL_PLATFORM_NAME, sizeof name, name, NULL);
        if (strstr(name, word) &&
            clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_ALL, 1, &device, NULL) == CL_SUCCESS)
            return device;
    }
    fprintf(stderr, "no device of a platform \"%s\"\n", word);
    exit(1);
}

static char *read_file(const char *path) {
    FILE *file = fopen(path, "rb");
    char *text = file ? calloc(1, 1 << 20) : NULL;
    if (!text || !fread(text, 1, (1 << 20) - 1, file)) {
        fprintf(stderr, "%s cannot be read\n", path);
        exit(1);
    }
    fclose(file);
    return text;
}

static void print_kernel(cl_kernel kernel, cl_device_id device) {
    char name[256] = "";
    cl_ulong local = 0, private = 0;
    size_t group = 0, multiple = 0;
    clGetKernelInfo(kernel, CL_KERNEL_FUNCTION_NAME, sizeof name, name, NULL);
    clGetKernelWorkGroupInfo(kernel, device, CL_KERNEL_LOCAL_MEM_SIZE, sizeof local, &local, NULL);
    clGetKernelWorkGroupInfo(kernel, device, CL_KERNEL_PRIVATE_MEM_SIZE, sizeof private, &private,
                             NULL);
    clGetKernelWorkGroupInfo(kernel, device, CL_KERNEL_WORK_GROUP_SIZE, sizeof group, &group, NULL);
    clGetKernelWorkGroupInfo(kernel, device, CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE,
                             sizeof multiple, &multiple, NULL);
    printf("{\"kernel\": \"%s\", \"local\": %llu, \"scratch\": %llu, \"lanes\": %zu, "
           "\"group\": %zu}\n",
           name, (unsigned long long)local, (unsigned long long)private, multiple, group);
}

int main(int argc, char **argv) {
    cl_int code = CL_SUCCESS;
    if (argc != 4)
        return 2;
    cl_device_id device = find_device(argv[1]);
    cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &code);
    if (code != CL_SUCCESS)
        fail("clCreateContext", code);
    const char *text = read_file(argv[2]);
    cl_program program = clCreateProgramWithSource(context, 1, &text, NULL, &code);
    if (code != CL_SUCCESS)
        fail("clCreateProgramWithSource", code);
    code = clBuildProgram(program, 1, &device, argv[3], NULL, NULL);
    if (code != CL_SUCCESS) {
        static char log[65536];
        clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, sizeof log - 1, log, NULL);
        fprintf(stderr, "%s\n", log);
        fail("clBuildProgram", code);
    }
    cl_kernel kernels[64];
    cl_uint n = 0;
    code = clCreateKernelsInProgram(program, 64, kernels, &n);
    if (code != CL_SUCCESS)
        fail("clCreateKernelsInProgram", code);
    for (cl_uint k = 0; k < n && k < 64; k++)
        print_kernel(kernels[k], device);
    return 0;
}
