/* Finds all devices of all platforms by queries alone, and describes each in a sentence. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/candidate.h"
#include "device/pretend.h"
#include "device/quirks.h"

#include <CL/cl_ext.h>

/* NVIDIA's older query for the PCI address (cl_nv_device_attribute_query). */
enum { NV_PCI_BUS_ID = 0x4008, NV_PCI_SLOT_ID = 0x4009, NV_PCI_DOMAIN_ID = 0x400A };
/* Who may know how many work-items run in step: OpenCL 3.0, cl_amd_device_attribute_query,
 * cl_nv_device_attribute_query. The first two give a size_t and a cl_uint. */
enum { PREFERRED_MULTIPLE = 0x1067, AMD_WAVEFRONT_WIDTH = 0x4043, NV_WARP_SIZE = 0x4003 };

/* cl_intel_device_attribute_query */
enum { INTEL_SLICES = 0x4252, INTEL_SUBSLICES_OF_SLICE = 0x4253 };

static cl_int get_info(cl_device_id device, cl_device_info what, size_t size, void *value) {
    memset(value, 0, size);
    return clGetDeviceInfo(device, what, size, value, NULL);
}

/* Drivers return odd things in names: line breaks, leading blanks, more than fits. */
static void tidy_copy(char *to, size_t size, const char *from) {
    size_t n = 0;
    for (; *from && n + 1 < size; from++) {
        bool blank = (unsigned char)*from <= ' ';
        if (blank && (n == 0 || to[n - 1] == ' '))
            continue;
        to[n++] = blank ? ' ' : *from;
    }
    while (n && to[n - 1] == ' ')
        n--;
    to[n] = '\0';
}

/* NULL: out of memory. */
static char *device_text(cl_device_id device, cl_device_info what) {
    size_t size = 0;
    if (clGetDeviceInfo(device, what, 0, NULL, &size) != CL_SUCCESS)
        size = 0;
    char *text = calloc(size + 1, 1);
    if (text && size && clGetDeviceInfo(device, what, size, text, NULL) != CL_SUCCESS)
        text[0] = '\0';
    return text;
}

static bool copy_device_text(cl_device_id device, cl_device_info what, char *to, size_t size) {
    char *text = device_text(device, what);
    char tidy[256];
    tidy_copy(tidy, sizeof tidy, text ? text : "");
    ergo_message_show(to, size, tidy);
    free(text);
    return text != NULL;
}

static void copy_platform_name(cl_platform_id platform, char *to, size_t size) {
    char text[256] = "", tidy[256];
    if (clGetPlatformInfo(platform, CL_PLATFORM_NAME, sizeof text - 1, text, NULL) != CL_SUCCESS)
        text[0] = '\0';
    tidy_copy(tidy, sizeof tidy, text);
    ergo_message_show(to, size, tidy);
}

bool ergo_candidate_has_word(const char *list, const char *word) {
    size_t length = strlen(word);
    for (const char *at = strstr(list, word); at; at = strstr(at + 1, word))
        if ((at == list || at[-1] == ' ') && (at[length] == ' ' || !at[length]))
            return true;
    return false;
}

static void find_pci(struct ergo_candidate *one, const char *extensions) {
    cl_device_pci_bus_info_khr info = {0};
    cl_uint bus = 0, slot = 0, domain = 0;
    if (ergo_candidate_has_word(extensions, "cl_khr_pci_bus_info") &&
        get_info(one->device, CL_DEVICE_PCI_BUS_INFO_KHR, sizeof info, &info) == CL_SUCCESS) {
        snprintf(one->pci, sizeof one->pci, "%04x:%02x:%02x.%x", info.pci_domain & 0xffff,
                 info.pci_bus & 0xff, info.pci_device & 0xff, info.pci_function & 0xf);
    } else if (ergo_candidate_has_word(extensions, "cl_nv_device_attribute_query") &&
               get_info(one->device, NV_PCI_BUS_ID, sizeof bus, &bus) == CL_SUCCESS &&
               get_info(one->device, NV_PCI_SLOT_ID, sizeof slot, &slot) == CL_SUCCESS) {
        if (get_info(one->device, NV_PCI_DOMAIN_ID, sizeof domain, &domain) != CL_SUCCESS)
            domain = 0; /* older drivers do not have it */
        /* The slot number holds device << 3 | function. */
        snprintf(one->pci, sizeof one->pci, "%04x:%02x:%02x.%x", domain & 0xffff, bus & 0xff,
                 slot >> 3 & 0x1f, slot & 7);
    }
}

static const char *type_name(cl_device_type type) {
    /* Oclgrind claims to be of all types; a device that claims CPU runs on the CPU */
    if (type & CL_DEVICE_TYPE_CPU)
        return "cpu";
    return type & CL_DEVICE_TYPE_GPU ? "gpu" : "accelerator";
}

const char *ergo_profile_defect(const char *profile, const char *extensions,
                                cl_device_fp_config fp32) {
    if (strcmp(profile, "EMBEDDED_PROFILE") != 0)
        return NULL;
    if (!ergo_candidate_has_word(extensions, "cles_khr_int64"))
        return "it has only the embedded profile, and no 64-bit integers there (cles_khr_int64)";
    if (!(fp32 & CL_FP_ROUND_TO_NEAREST))
        return "it has only the embedded profile, and does not round to nearest there";
    return NULL;
}

/* Units that run work-groups and have local memory. Intel's driver for GPUs counts vector engines,
 * of which such a unit (a subslice, or Xe core) has 8 or 16. */
static cl_uint find_units(cl_device_id device, const char *extensions, cl_uint reported) {
    cl_uint slices = 0, each = 0;
    if (!ergo_candidate_has_word(extensions, "cl_intel_device_attribute_query") ||
        get_info(device, INTEL_SLICES, sizeof slices, &slices) != CL_SUCCESS ||
        get_info(device, INTEL_SUBSLICES_OF_SLICE, sizeof each, &each) != CL_SUCCESS)
        return reported;
    const cl_ulong units = (cl_ulong)slices * each;
    return units && units < reported ? (cl_uint)units : reported;
}

/* A power of two from 8 to 64; 32 where the driver does not say. */
static unsigned find_wave(cl_device_id device) {
    size_t multiple = 0;
    cl_uint width = 0;
    if (get_info(device, NV_WARP_SIZE, sizeof width, &width) != CL_SUCCESS || !width)
        (void)get_info(device, AMD_WAVEFRONT_WIDTH, sizeof width, &width);
    if (width || get_info(device, PREFERRED_MULTIPLE, sizeof multiple, &multiple) != CL_SUCCESS)
        multiple = width;
    return multiple >= 8 && multiple <= 64 && (multiple & (multiple - 1)) == 0 ? (unsigned)multiple
                                                                               : 32;
}

/* A reason to refuse the device from queries alone; NULL if there is none. */
static const char *find_defect(const struct ergo_candidate *one, const char *extensions,
                               cl_device_fp_config fp32) {
    cl_bool available = CL_FALSE, compiler = CL_FALSE, little = CL_FALSE;
    unsigned major = 0, minor = 0;
    char profile[64] = "";
    if (get_info(one->device, CL_DEVICE_AVAILABLE, sizeof available, &available) != CL_SUCCESS)
        return "it answers no queries";
    if (!available)
        return "the driver says it is not available";
    if (get_info(one->device, CL_DEVICE_COMPILER_AVAILABLE, sizeof compiler, &compiler) !=
            CL_SUCCESS ||
        !compiler)
        return "its driver has no compiler, and ergocl builds its kernels from source";
    if (get_info(one->device, CL_DEVICE_ENDIAN_LITTLE, sizeof little, &little) != CL_SUCCESS ||
        !little)
        return "it is not little-endian";
    if (sscanf(one->summary.version, "OpenCL %u.%u", &major, &minor) != 2)
        return "it does not report its OpenCL version";
    if (major < 1 || (major == 1 && minor < 2))
        return "it is older than OpenCL 1.2";
    (void)get_info(one->device, CL_DEVICE_PROFILE, sizeof profile, profile);
    const char *defect = ergo_profile_defect(profile, extensions, fp32);
    if (defect)
        return defect;
    if (!one->summary.compute_units || !one->summary.largest_group || !one->summary.largest_buffer)
        return "it reports no compute units, work-groups or memory";
    return NULL;
}

void ergo_candidate_describe(struct ergo_candidate *one) {
    const struct ergo_device_summary *s = &one->summary;
    snprintf(one->summary.verdict, sizeof one->summary.verdict,
             "usable: %u compute unit%s%s%s%s, %.1f GiB memory%s%s", s->compute_units,
             s->compute_units == 1 ? "" : "s", s->fp64 ? ", fp64" : ", no fp64",
             s->atomics64 ? ", 64-bit atomics" : ", no 64-bit atomics",
             !one->probed          ? ""
             : one->exact_division ? ", division and square root correctly rounded"
                                   : ", division and square root not correctly rounded",
             (double)s->global_memory / (1024.0 * 1024.0 * 1024.0),
             one->masked ? ", masked by ERGOCL_PRETEND" : "",
             one->probed ? "" : " (not probed yet)");
}

/* What ERGOCL_PRETEND says; `text` NULL: nothing. */
struct masking {
    const char *text;
    struct ergo_pretend mask;
};

/* false: out of memory. */
static bool query_device(const struct masking *masking, struct ergo_candidate *one) {
    struct ergo_device_summary *s = &one->summary;
    cl_ulong global = 0, local = 0, largest = 0;
    cl_uint units = 0, clock = 0;
    size_t group = 0, sides[16] = {0};
    cl_device_fp_config fp32 = 0;
    cl_command_queue_properties queue = 0;

    if (!copy_device_text(one->device, CL_DEVICE_NAME, s->name, sizeof s->name) ||
        !copy_device_text(one->device, CL_DRIVER_VERSION, s->driver, sizeof s->driver) ||
        !copy_device_text(one->device, CL_DEVICE_VERSION, s->version, sizeof s->version) ||
        !copy_device_text(one->device, CL_DEVICE_VENDOR, one->vendor, sizeof one->vendor))
        return false;
    if (!s->name[0])
        snprintf(s->name, sizeof s->name, "unnamed device");
    (void)get_info(one->device, CL_DEVICE_TYPE, sizeof one->type, &one->type);
    one->type &= ~(cl_device_type)CL_DEVICE_TYPE_DEFAULT; /* says nothing of what it is */
    snprintf(s->type, sizeof s->type, "%s", type_name(one->type));

    /* A query that fails leaves 0, which find_defect refuses where it matters. */
    (void)get_info(one->device, CL_DEVICE_MAX_COMPUTE_UNITS, sizeof units, &units);
    (void)get_info(one->device, CL_DEVICE_MAX_CLOCK_FREQUENCY, sizeof clock, &clock);
    (void)get_info(one->device, CL_DEVICE_GLOBAL_MEM_SIZE, sizeof global, &global);
    (void)get_info(one->device, CL_DEVICE_LOCAL_MEM_SIZE, sizeof local, &local);
    (void)get_info(one->device, CL_DEVICE_MAX_MEM_ALLOC_SIZE, sizeof largest, &largest);
    (void)get_info(one->device, CL_DEVICE_MAX_WORK_GROUP_SIZE, sizeof group, &group);
    (void)get_info(one->device, CL_DEVICE_MAX_WORK_ITEM_SIZES, sizeof sides, sides);
    (void)get_info(one->device, CL_DEVICE_SINGLE_FP_CONFIG, sizeof fp32, &fp32);
    (void)get_info(one->device, CL_DEVICE_QUEUE_PROPERTIES, sizeof queue, &queue);
    s->global_memory = global;
    s->local_memory = local;
    /* groups lie along the first two sides: Adreno has groups of 2,048 and sides of 1,024 */
    for (int d = 0; d < 2; d++)
        group = sides[d] && sides[d] < group ? sides[d] : group;
    s->largest_group = group;
    one->clock_mhz = clock;
    one->exact_option = (fp32 & CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT) != 0;
    ergo_quirks_find(s, &one->quirks);
    one->profiling = (queue & CL_QUEUE_PROFILING_ENABLE) && !one->quirks.no_profiling;
    s->largest_buffer = largest;
    if (one->quirks.host_buffer_limit && one->quirks.host_buffer_limit < largest)
        s->largest_buffer = one->quirks.host_buffer_limit;

    char *extensions = device_text(one->device, CL_DEVICE_EXTENSIONS);
    if (!extensions)
        return false;
    s->compute_units = find_units(one->device, extensions, units);
    s->fp64 = ergo_candidate_has_word(extensions, "cl_khr_fp64");
    s->atomics64 = ergo_candidate_has_word(extensions, "cl_khr_int64_base_atomics") &&
                   ergo_candidate_has_word(extensions, "cl_khr_int64_extended_atomics");
    find_pci(one, extensions);
    one->wave = find_wave(one->device);
    if (masking->text)
        ergo_pretend_apply(&masking->mask, masking->text, one);
    const char *defect = find_defect(one, extensions, fp32);
    free(extensions);
    s->usable = !defect;
    if (defect)
        snprintf(s->verdict, sizeof s->verdict, "refused: %s", defect);
    else
        ergo_candidate_describe(one);
    return true;
}

/* Append the devices of one platform. Failures of the platform are logged, not returned: the
 * others may be fine (KataGo#798). */
static enum ergo_status add_platform(struct ergo_context *ctx, cl_platform_id platform,
                                     size_t number, const struct masking *masking,
                                     struct ergo_candidate **list, size_t *count) {
    enum ergo_status status = ERGO_OK;
    cl_device_id *devices = NULL;
    cl_uint n = 0;
    char name[128] = "";

    copy_platform_name(platform, name, sizeof name);
    /* Mesa's old state tracker, gone since Mesa 25; where it has devices at all, rusticl or the
     * vendor's platform shows the same ones, working. */
    if (strcmp(name, "Clover") == 0)
        goto out;
    cl_int code = clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, NULL, &n);
    if (code == CL_DEVICE_NOT_FOUND || (code == CL_SUCCESS && n == 0)) {
        ergo_log(ctx, ERGO_LOG_DEBUG, "platform %zu (%s) has no devices", number, name);
        goto out;
    }
    if (code == CL_SUCCESS) {
        devices = calloc(n, sizeof *devices);
        struct ergo_candidate *grown = realloc(*list, (*count + n) * sizeof **list);
        if (grown)
            *list = grown;
        if (!devices || !grown) {
            status = ERGO_FAIL(ctx, ERGO_E_MEMORY, "No memory to list %u devices of %s", n, name);
            goto out;
        }
        code = clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, n, devices, NULL);
    }
    if (code != CL_SUCCESS) {
        ergo_log(ctx, ERGO_LOG_WARNING, "platform %zu (%s) skipped: listing its devices failed: %s",
                 number, name, ergo_cl_name(code));
        goto out;
    }
    for (cl_uint i = 0; i < n; i++) {
        struct ergo_candidate *one = &(*list)[(*count)++];
        memset(one, 0, sizeof *one);
        one->platform = platform;
        one->device = devices[i];
        snprintf(one->summary.id, sizeof one->summary.id, "%zu:%u", number, i);
        memcpy(one->summary.platform, name, sizeof one->summary.platform);
        if (!query_device(masking, one)) {
            status = ERGO_FAIL(ctx, ERGO_E_MEMORY, "No memory to ask device %s of %s",
                               one->summary.id, name);
            goto out;
        }
    }
out:
    free(devices);
    return status;
}

enum ergo_status ergo_candidate_list(struct ergo_context *ctx, struct ergo_candidate **list,
                                     size_t *count) {
    enum ergo_status status = ERGO_OK;
    cl_platform_id *platforms = NULL;
    cl_uint n = 0;

    struct masking masking = {.text = getenv("ERGOCL_PRETEND")};

    *list = NULL;
    *count = 0;
    if (masking.text && !*masking.text)
        masking.text = NULL;
    if (masking.text)
        status = ergo_pretend_parse(ctx, masking.text, &masking.mask);
    if (status != ERGO_OK)
        return status;
    ergo_quirks_load();
    cl_int code = clGetPlatformIDs(0, NULL, &n);
    if (code == CL_PLATFORM_NOT_FOUND_KHR || (code == CL_SUCCESS && n == 0))
        goto out; /* without any driver the list is empty, which is no failure */
    if (code == CL_SUCCESS) {
        platforms = calloc(n, sizeof *platforms);
        if (!platforms) {
            status = ERGO_FAIL(ctx, ERGO_E_MEMORY, "No memory to list %u OpenCL platforms", n);
            goto out;
        }
        code = clGetPlatformIDs(n, platforms, NULL);
    }
    if (code != CL_SUCCESS) {
        status = ERGO_FAIL_CL(ctx, code, "Listing the OpenCL platforms failed; check with clinfo");
        goto out;
    }
    for (cl_uint i = 0; i < n && status == ERGO_OK; i++)
        status = add_platform(ctx, platforms[i], i, &masking, list, count);
out:
    free(platforms);
    if (status != ERGO_OK) {
        free(*list);
        *list = NULL;
        *count = 0;
    }
    return status;
}
