/*
 * Energy counters, where a driver has one that may be read: NVIDIA's management library (opened at
 * run time, Volta and later), and Intel's and AMD's package counters as Linux shows them (RAPL;
 * often root's alone, and absent in virtual machines).
 */
#include <dlfcn.h>
#include <glob.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "compare/compare.h"

enum {
    PCI_BUS = 0x4008,
    PCI_SLOT = 0x4009,
    PCI_DOMAIN = 0x400A
}; /* cl_nv_device_attribute_query */

struct ergo_energy {
    void *library, *device; /* NVIDIA's */
    int (*shutdown)(void);
    int (*total)(void *device, unsigned long long *millijoules);
    glob_t packages; /* files of microjoules; used when has_packages */
    bool has_packages;
};

static bool find_function(void *library, const char *name, void *function, size_t size) {
    void *found = dlsym(library, name);
    if (found) /* ISO C has no cast from an object's pointer to a function's */
        __builtin_memcpy(function, &found, size);
    return found != NULL;
}

/* By its place on the bus: names are not unique. */
static bool open_nvidia(struct ergo_energy *e, const struct ergo_device *device) {
    int (*init)(void) = NULL;
    int (*by_bus)(const char *, void **) = NULL;
    cl_uint bus = 0, slot = 0, domain = 0;
    char place[32];
    if (clGetDeviceInfo(device->device, PCI_BUS, sizeof bus, &bus, NULL) != CL_SUCCESS ||
        clGetDeviceInfo(device->device, PCI_SLOT, sizeof slot, &slot, NULL) != CL_SUCCESS)
        return false;
    if (clGetDeviceInfo(device->device, PCI_DOMAIN, sizeof domain, &domain, NULL) != CL_SUCCESS)
        domain = 0;
    e->library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!e->library || !find_function(e->library, "nvmlInit_v2", &init, sizeof init) ||
        !find_function(e->library, "nvmlDeviceGetHandleByPciBusId_v2", &by_bus, sizeof by_bus) ||
        !find_function(e->library, "nvmlShutdown", &e->shutdown, sizeof e->shutdown) ||
        !find_function(e->library, "nvmlDeviceGetTotalEnergyConsumption", &e->total,
                       sizeof e->total) ||
        init() != 0) {
        e->shutdown = NULL;
        return false;
    }
    /* the slot's number holds device and function */
    snprintf(place, sizeof place, "%08x:%02x:%02x.%x", domain, bus, slot >> 3, slot & 7);
    if (by_bus(place, &e->device) == 0)
        return true;
    snprintf(place, sizeof place, "%08x:%02x:%02x.0", domain, bus, slot);
    return by_bus(place, &e->device) == 0;
}

struct ergo_energy *ergo_energy_open(const struct ergo_device *device) {
    struct ergo_energy *e = calloc(1, sizeof *e);
    if (!e)
        return NULL;
    if (device->type == CL_DEVICE_TYPE_CPU)
        e->has_packages =
            glob("/sys/class/powercap/*rapl:[0-9]/energy_uj", 0, NULL, &e->packages) == 0;
    else if (!open_nvidia(e, device))
        e->device = NULL;
    if (isfinite(ergo_energy_joules(e)))
        return e;
    ergo_energy_close(e);
    return NULL;
}

double ergo_energy_joules(const struct ergo_energy *e) {
    unsigned long long millijoules = 0;
    double sum = 0;
    if (e && e->device)
        return e->total(e->device, &millijoules) == 0 ? 1e-3 * (double)millijoules : NAN;
    if (!e || !e->has_packages || !e->packages.gl_pathc)
        return NAN;
    for (size_t i = 0; i < e->packages.gl_pathc; i++) {
        char digits[32] = "";
        FILE *file = fopen(e->packages.gl_pathv[i], "re");
        const bool ok = file && fgets(digits, sizeof digits, file);
        if (file)
            fclose(file);
        if (!ok)
            return NAN;
        sum += 1e-6 * strtod(digits, NULL);
    }
    return sum;
}

void ergo_energy_close(struct ergo_energy *e) {
    if (!e)
        return;
    if (e->has_packages)
        globfree(&e->packages);
    if (e->shutdown)
        (void)e->shutdown();
    if (e->library)
        (void)dlclose(e->library);
    free(e);
}
