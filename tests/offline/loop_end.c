/*
 * loop_end PLATFORM: a fault of Mesa's llvmpipe (26.2.6), for its developers. When a loop has ended
 * its body is executed once more for no work-item. In a group of one the address of a load is
 * uniform, and such a load is made nevertheless. Here the loop over list[1], list[2], ...
 * list[list[0]] is never entered, list[0] being 0, and yet values[list[1]] is read, 1 GiB away from
 * a buffer of 4 KiB.
 *
 *     gcc -o loop_end tests/offline/loop_end.c -lOpenCL && RUSTICL_ENABLE=llvmpipe ./loop_end
 * rusticl
 *
 * Exit code: 0 right, 1 wrong or crashed, 2 no such platform. tools/offline-matrix.sh says which.
 */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WORDS = 1024, FAR = 0x10000000 };

static const char source[] = "__kernel __attribute__((reqd_work_group_size(1, 1, 1)))\n"
                             "void add(__global const uint *values, __global const uint *from,\n"
                             "         __global uint *out) {\n"
                             "    __local uint list[4];\n"
                             "    list[0] = from[0]; list[1] = from[1]; list[2] = from[2];\n"
                             "    for (uint e = 0; e < list[0]; e++)\n"
                             "        atomic_add(&out[values[list[1 + e]]], 1u);\n"
                             "}\n";

static cl_device_id find_device(const char *word) {
    cl_platform_id platforms[16];
    cl_uint n = 0;
    cl_device_id device = NULL;
    if (clGetPlatformIDs(16, platforms, &n) != CL_SUCCESS)
        return NULL;
    for (cl_uint i = 0; i < n && i < 16 && !device; i++) {
        char name[256] = "";
        clGetPlatformInfo(platforms[i], CL_PLATFORM_NAME, sizeof name, name, NULL);
        if (!strstr(name, word) ||
            clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_ALL, 1, &device, NULL) != CL_SUCCESS)
            device = NULL;
    }
    return device;
}

/* 0: right. Errors of OpenCL end as a wrong result. */
static int run(const char *word) {
    cl_uint zeros[WORDS] = {0}, list[WORDS] = {0, FAR}, out[WORDS] = {1};
    cl_device_id device = find_device(word);
    const char *text = source;
    const size_t one = 1;
    if (!device)
        return 2;
    cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, NULL);
    cl_command_queue queue = clCreateCommandQueue(context, device, 0, NULL);
    cl_program program = clCreateProgramWithSource(context, 1, &text, NULL, NULL);
    clBuildProgram(program, 1, &device, "", NULL, NULL);
    cl_kernel kernel = clCreateKernel(program, "add", NULL);
    const cl_mem_flags copied = CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR;
    cl_uint *const contents[3] = {zeros, list, zeros};
    cl_mem buffers[3];
    for (cl_uint i = 0; i < 3; i++) {
        buffers[i] = clCreateBuffer(context, copied, sizeof zeros, contents[i], NULL);
        clSetKernelArg(kernel, i, sizeof(cl_mem), &buffers[i]);
    }
    clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &one, &one, 0, NULL, NULL);
    clEnqueueReadBuffer(queue, buffers[2], CL_TRUE, 0, sizeof out, out, 0, NULL, NULL);
    return memcmp(out, zeros, sizeof out) != 0;
}

int main(int argc, char **argv) {
    int status = 0;
    if (argc != 2) {
        fprintf(stderr, "usage: loop_end PLATFORM\n");
        return 2;
    }
    const pid_t child = fork();
    if (child == 0)
        _exit(run(argv[1]));
    if (child < 0 || waitpid(child, &status, 0) != child)
        return 2;
    if (WIFEXITED(status)) {
        const int code = WEXITSTATUS(status);
        puts(code == 0 ? "right" : code == 1 ? "wrong" : "no such platform");
        return code;
    }
    printf("ended by signal %d: reads when a loop has ended\n", WTERMSIG(status));
    return 1;
}
