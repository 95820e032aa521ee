/* Kernels: create, launch, wait. Every return code is checked; messages name kernel and device. */

#include "device/profile.h"
#include "device/program.h"

enum ergo_status ergo_kernel_create(struct ergo_context *ctx, struct ergo_device *device,
                                    cl_program program, const char *name, cl_kernel *kernel) {
    cl_int code = CL_SUCCESS;
    *kernel = clCreateKernel(program, name, &code);
    if (code == CL_SUCCESS)
        return ERGO_OK;
    *kernel = NULL;
    return ERGO_FAIL_CL(ctx, code, "Creating kernel %s on device %s (%s) failed%s", name,
                        device->summary.id, device->summary.name,
                        code == CL_INVALID_KERNEL_NAME ? ": the program has no kernel of that name"
                                                       : "");
}

enum ergo_status ergo_kernel_largest_group(struct ergo_context *ctx, struct ergo_device *device,
                                           cl_kernel kernel, const char *name, size_t *largest) {
    size_t group = 0;
    *largest = 1;
    cl_int code = clGetKernelWorkGroupInfo(kernel, device->device, CL_KERNEL_WORK_GROUP_SIZE,
                                           sizeof group, &group, NULL);
    if (code != CL_SUCCESS)
        return ERGO_FAIL_CL(ctx, code,
                            "Asking for the largest work-group of kernel %s on device %s (%s) "
                            "failed",
                            name, device->summary.id, device->summary.name);
    if (device->quirks.group_limit_unreliable || group > device->summary.largest_group)
        group = (size_t)device->summary.largest_group;
    *largest = group ? group : 1;
    return ERGO_OK;
}

static const char *advise(cl_int code) {
    switch (code) {
    case CL_INVALID_KERNEL_ARGS:
        return "; an argument was not set (a bug in ergocl)";
    case CL_INVALID_WORK_GROUP_SIZE:
    case CL_INVALID_WORK_ITEM_SIZE:
        return "; take a smaller work-group";
    case CL_OUT_OF_RESOURCES:
        return "; take a smaller work-group, or an earlier kernel failed";
    case CL_MEM_OBJECT_ALLOCATION_FAILURE:
        return "; the device's memory is full: make the system or the batch smaller";
    default:
        return "";
    }
}

enum ergo_status ergo_kernel_launch(struct ergo_context *ctx, struct ergo_device *device,
                                    cl_kernel kernel, const char *name, const struct ergo_arg *args,
                                    size_t n_args, unsigned dims, const size_t *global,
                                    const size_t *local, cl_event *event) {
    const struct ergo_device_summary *s = &device->summary;
    cl_int code = CL_SUCCESS;
    cl_event own = NULL;
    if (event)
        *event = NULL;
    if (dims < 1 || dims > 3)
        return ERGO_FAIL(ctx, ERGO_E_INTERNAL, "Kernel %s launched over %u dimensions", name, dims);
    for (unsigned d = 0; d < dims; d++)
        if (global[d] == 0 || (local && (local[d] == 0 || global[d] % local[d] != 0)))
            return ERGO_FAIL(ctx, ERGO_E_INTERNAL,
                             "Kernel %s launched over %zu items in groups of %zu (dimension %u): "
                             "not a multiple",
                             name, global[d], local ? local[d] : 0, d);
    for (size_t i = 0; i < n_args; i++) {
        code = clSetKernelArg(kernel, (cl_uint)i, args[i].size, args[i].value);
        if (code != CL_SUCCESS)
            return ERGO_FAIL_CL(ctx, code,
                                "Setting argument %zu (%zu bytes) of kernel %s on device %s (%s) "
                                "failed (a bug in ergocl)",
                                i, args[i].size, name, s->id, s->name);
    }
    cl_event *wanted = ergo_profile_before(device, event, &own);
    code =
        clEnqueueNDRangeKernel(device->queue, kernel, dims, NULL, global, local, 0, NULL, wanted);
    if (code == CL_SUCCESS) {
        ergo_profile_after_launch(device, name, args, n_args, wanted ? *wanted : NULL,
                                  wanted == &own);
        return ERGO_OK;
    }
    if (event)
        *event = NULL;
    return ERGO_FAIL_CL(ctx, code,
                        "Launching kernel %s on device %s (%s) over %zu x %zu x %zu items in "
                        "groups of %zu x %zu x %zu failed%s",
                        name, s->id, s->name, global[0], dims > 1 ? global[1] : 1,
                        dims > 2 ? global[2] : 1, local ? local[0] : 0,
                        local && dims > 1 ? local[1] : 1, local && dims > 2 ? local[2] : 1,
                        advise(code));
}

enum ergo_status ergo_device_finish(struct ergo_context *ctx, struct ergo_device *device) {
    const cl_int code = ergo_queue_finish(device, device->queue);
    if (code == CL_SUCCESS)
        return ERGO_OK;
    return ERGO_FAIL_CL(ctx, code,
                        "Waiting for device %s (%s) failed: a kernel launched before it failed on "
                        "the device (illegal access, watchdog or memory)",
                        device->summary.id, device->summary.name);
}

cl_event ergo_device_mark(struct ergo_device *device) {
    cl_event mark = NULL;
    return clEnqueueMarkerWithWaitList(device->queue, 0, NULL, &mark) == CL_SUCCESS ? mark : NULL;
}

bool ergo_mark_done(cl_event *mark) {
    cl_int state = CL_COMPLETE;
    if (*mark) {
        if (clGetEventInfo(*mark, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof state, &state, NULL) !=
            CL_SUCCESS)
            state = CL_COMPLETE;
        (void)clReleaseEvent(*mark);
    }
    *mark = NULL;
    return state <= CL_COMPLETE; /* complete or failed */
}

enum ergo_status ergo_event_wait(struct ergo_context *ctx, struct ergo_device *device,
                                 cl_event *event, double *seconds) {
    enum ergo_status status = ERGO_OK;
    cl_ulong start = 0, end = 0;
    if (seconds)
        *seconds = -1.0;
    if (!*event)
        return ERGO_FAIL(ctx, ERGO_E_INTERNAL, "Waiting for no event");
    cl_int code = clFlush(device->queue);
    const double begin = ergo_clock();
    if (code == CL_SUCCESS)
        code = clWaitForEvents(1, event);
    device->waited += ergo_clock() - begin;
    if (code != CL_SUCCESS) {
        status = ERGO_FAIL_CL(ctx, code,
                              "Waiting for a kernel on device %s (%s) failed: it failed on the "
                              "device (illegal access, watchdog or memory)",
                              device->summary.id, device->summary.name);
    } else if (seconds && !device->quirks.no_profiling &&
               clGetEventProfilingInfo(*event, CL_PROFILING_COMMAND_START, sizeof start, &start,
                                       NULL) == CL_SUCCESS &&
               clGetEventProfilingInfo(*event, CL_PROFILING_COMMAND_END, sizeof end, &end, NULL) ==
                   CL_SUCCESS &&
               end > start) {
        *seconds = (double)(end - start) * 1e-9;
    }
    (void)clReleaseEvent(*event);
    *event = NULL;
    return status;
}
