/*
 * Makes all devices claim the embedded profile. Loaded before the program (LD_PRELOAD), with
 * EMBEDDED naming what they still have: "int64", "nearest"; "side": no group is longer than 16.
 */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

static int has(const char *word) {
    const char *list = getenv("EMBEDDED");
    return list && strstr(list, word) != NULL;
}

CL_API_ENTRY cl_int CL_API_CALL clGetDeviceInfo(cl_device_id device, cl_device_info what,
                                                size_t size, void *value, size_t *needed) {
    static const char profile[] = "EMBEDDED_PROFILE", int64[] = " cles_khr_int64";
    __typeof__(&clGetDeviceInfo) real =
        (__typeof__(&clGetDeviceInfo))dlsym(RTLD_NEXT, "clGetDeviceInfo");
    if (what == CL_DEVICE_PROFILE) {
        if (value && size < sizeof profile)
            return CL_INVALID_VALUE;
        if (value)
            memcpy(value, profile, sizeof profile);
        if (needed)
            *needed = sizeof profile;
        return CL_SUCCESS;
    }
    if (what == CL_DEVICE_EXTENSIONS && has("int64")) {
        size_t length = 0;
        cl_int code = real(device, what, 0, NULL, &length);
        if (code == CL_SUCCESS && value)
            code = size < length + sizeof int64 - 1 ? CL_INVALID_VALUE
                                                    : real(device, what, size, value, NULL);
        if (code == CL_SUCCESS && value)
            strcat(value, int64);
        if (needed)
            *needed = length + sizeof int64 - 1;
        return code;
    }
    const cl_int code = real(device, what, size, value, needed);
    if (code == CL_SUCCESS && what == CL_DEVICE_SINGLE_FP_CONFIG && value && !has("nearest"))
        *(cl_device_fp_config *)value &= ~(cl_device_fp_config)CL_FP_ROUND_TO_NEAREST;
    if (code == CL_SUCCESS && what == CL_DEVICE_MAX_WORK_ITEM_SIZES && value && has("side"))
        *(size_t *)value = 16;
    return code;
}
