#include "device/bus.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/file.h"

static const struct {
    unsigned vendor;
    const char *gpu, *install;
} vendors[] = {
    {0x1002, "an AMD GPU",
     "rocm-opencl-icd, or mesa-opencl-icd with RUSTICL_ENABLE=radeonsi; /dev/kfd and /dev/dri are "
     "open to the groups render and video"},
    {0x8086, "an Intel GPU",
     "intel-opencl-icd, or mesa-opencl-icd with RUSTICL_ENABLE=iris; /dev/dri is open to the "
     "groups render and video"},
    {0x10de, "an NVIDIA GPU", "nvidia-opencl-icd, with NVIDIA's kernel driver of the same version"},
};
enum { VENDORS = sizeof vendors / sizeof vendors[0] };

/* "0x1002" in the file FOLDER/ADDRESS/NAME; 0: none. */
static unsigned read_number(const char *folder, const char *address, const char *name) {
    unsigned number = 0;
    char *device = ergo_path_join(folder, address);
    char *path = device ? ergo_path_join(device, name) : NULL;
    FILE *file = path ? ergo_memory_got(fopen(path, "re")) : NULL;
    if (file) {
        if (fscanf(file, "%x", &number) != 1)
            number = 0;
        fclose(file);
    }
    free(path);
    free(device);
    return number;
}

/* Displays of all kinds (class 03), and accelerators (1200), as which AMD's Instinct come. */
static bool is_gpu(unsigned class) {
    return class >> 16 == 0x03 || class >> 8 == 0x1200;
}

/* Bus, device and function alone: some drivers number domains as they like (in VMs). */
static bool is_shown(const char *address, const struct ergo_candidate *list, size_t count) {
    const char *bus = strchr(address, ':');
    for (size_t i = 0; i < count; i++) {
        const char *own = strchr(list[i].pci, ':');
        if (own ? bus && strcasecmp(own, bus) == 0 : strcmp(list[i].summary.type, "gpu") == 0)
            return true;
    }
    return false;
}

void ergo_bus_explain(struct ergo_text *text, const char *folder, const struct ergo_candidate *list,
                      size_t count) {
    char first[VENDORS][16] = {{0}}; /* the lowest address of each vendor */
    bool shown[VENDORS] = {false}; /* its driver is there, and may hide others (CUDA_VISIBLE_..) */
    DIR *bus = ergo_memory_got(opendir(folder));
    if (!bus)
        return;
    for (const struct dirent *entry = readdir(bus); entry; entry = readdir(bus)) {
        const char *address = entry->d_name;
        if (address[0] == '.' || strlen(address) >= sizeof first[0] ||
            !is_gpu(read_number(folder, address, "class")))
            continue;
        const unsigned vendor = read_number(folder, address, "vendor");
        for (size_t v = 0; v < VENDORS; v++) {
            if (vendor != vendors[v].vendor)
                continue;
            shown[v] |= is_shown(address, list, count);
            if (!first[v][0] || strcmp(address, first[v]) < 0)
                snprintf(first[v], sizeof first[v], "%s", address);
        }
    }
    closedir(bus);
    for (size_t v = 0; v < VENDORS; v++)
        if (first[v][0] && !shown[v])
            ergo_text_append(text,
                             " On the PCI bus is %s (%s) that no OpenCL driver shows; Debian's "
                             "packages for it: %s.",
                             vendors[v].gpu, first[v], vendors[v].install);
}

void ergo_bus_explain_none(struct ergo_text *text, const char *folder,
                           const struct ergo_candidate *list, size_t count) {
    const size_t before = text->length;
    ergo_bus_explain(text, folder, list, count);
    if (text->length == before)
        ergo_text_append(text,
                         " %s of AMD, Intel or NVIDIA %s. A container or a batch job has to ask "
                         "for its GPU (docker run --gpus all, or --device /dev/dri; sbatch "
                         "--gpus=1). Without --device the job runs on what there is.",
                         count ? "No GPU" : "And no GPU",
                         access(folder, R_OK) == 0 ? "without a driver is on the PCI bus"
                                                   : "can be looked for on the PCI bus here");
}
