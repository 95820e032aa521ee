/*
 * Energy counters, if a driver has a readable one: NVIDIA's management library (opened at run time,
 * Volta and later), and Intel's and AMD's package counters as Linux shows them (RAPL; often for
 * root only, and absent in virtual machines).
 */
#include <dlfcn.h>
#include <errno.h>
#include <glob.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
    struct package *packages; /* of a CPU */
    size_t n_packages;
    double joules; /* of them, since the counter was opened */
    bool lost;     /* the counter was lost: no number any more */
};

/* A counter of microjoules that wraps around at `range` (262 kJ: half an hour at 150 W). */
struct package {
    char *energy; /* its file */
    unsigned long long last, range;
};

static bool find_function(void *library, const char *name, void *function, size_t size) {
    void *found = dlsym(library, name);
    if (found) /* ISO C has no cast from an object's pointer to a function's */
        __builtin_memcpy(function, &found, size);
    return found != NULL;
}

/* Finds the device by its place on the bus: names are not unique. */
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
    /* the slot number contains device and function */
    snprintf(place, sizeof place, "%08x:%02x:%02x.%x", domain, bus, slot >> 3, slot & 7);
    if (by_bus(place, &e->device) == 0)
        return true;
    snprintf(place, sizeof place, "%08x:%02x:%02x.0", domain, bus, slot);
    return by_bus(place, &e->device) == 0;
}

/* A number of a file; false: there is none. */
static bool read_number(const char *path, unsigned long long *number) {
    char digits[32] = "", *end = digits;
    FILE *file = ergo_memory_got(fopen(path, "re"));
    const bool ok = file && fgets(digits, sizeof digits, file);
    if (file)
        fclose(file);
    if (!ok || *digits < '0' || *digits > '9')
        return false;
    errno = 0;
    *number = strtoull(digits, &end, 10);
    return errno == 0 && (*end == '\n' || *end == '\0');
}

static bool open_package(struct package *p, const char *path) {
    struct ergo_text range = {0};
    const char *slash = strrchr(path, '/');
    ergo_text_append(&range, "%.*s/max_energy_range_uj", (int)(slash - path), path);
    p->energy = strdup(path);
    if (!p->energy || range.failed || !read_number(range.data, &p->range))
        p->range = 0; /* without a range a counter that goes back is lost */
    ergo_text_free(&range);
    return p->energy && read_number(p->energy, &p->last);
}

struct ergo_energy *ergo_energy_open_packages(const char *folder) {
    struct ergo_energy *e = calloc(1, sizeof *e);
    struct ergo_text pattern = {0};
    glob_t found = {0};
    bool good = e != NULL;
    ergo_text_append(&pattern, "%s/*rapl:[0-9]/energy_uj", folder);
    good = good && !pattern.failed && glob(pattern.data, 0, NULL, &found) == 0 && found.gl_pathc;
    if (good)
        e->packages = calloc(found.gl_pathc, sizeof *e->packages);
    good = good && e->packages;
    for (size_t i = 0; good && i < found.gl_pathc; i++)
        good = open_package(&e->packages[e->n_packages++], found.gl_pathv[i]);
    globfree(&found);
    ergo_text_free(&pattern);
    if (good)
        return e;
    ergo_energy_close(e);
    return NULL;
}

bool ergo_energy_wanted = true;

struct ergo_energy *ergo_energy_open(const struct ergo_device *device) {
    if (!ergo_energy_wanted)
        return NULL;
    if (device->type == CL_DEVICE_TYPE_CPU)
        return ergo_energy_open_packages("/sys/class/powercap");
    struct ergo_energy *e = calloc(1, sizeof *e);
    if (!e)
        return NULL;
    if (open_nvidia(e, device) && isfinite(ergo_energy_joules(e)))
        return e;
    ergo_energy_close(e);
    return NULL;
}

double ergo_energy_joules(struct ergo_energy *e) {
    unsigned long long millijoules = 0;
    if (!e || e->lost)
        return NAN;
    if (e->device)
        return e->total(e->device, &millijoules) == 0 ? 1e-3 * (double)millijoules : NAN;
    for (size_t i = 0; i < e->n_packages; i++) {
        struct package *p = &e->packages[i];
        unsigned long long now = 0;
        if (!read_number(p->energy, &now))
            return NAN;
        if (now < p->last && p->last > p->range) {
            e->lost = true;
            return NAN;
        }
        e->joules += 1e-6 * (double)(now < p->last ? p->range - p->last + now : now - p->last);
        p->last = now;
    }
    return e->joules;
}

void ergo_energy_close(struct ergo_energy *e) {
    if (!e)
        return;
    for (size_t i = 0; i < e->n_packages; i++)
        free(e->packages[i].energy);
    free(e->packages);
    if (e->shutdown)
        (void)e->shutdown();
    if (e->library)
        (void)dlclose(e->library);
    free(e);
}
