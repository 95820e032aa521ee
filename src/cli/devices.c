/* ergocl devices */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/utsname.h>

#include "base/error.h"
#include "cli/cli.h"

static void format_bytes(uint64_t bytes, char *text, size_t size) {
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    double value = (double)bytes;
    size_t unit = 0;
    while (value >= 1024 && unit < 4) {
        value /= 1024;
        unit++;
    }
    snprintf(text, size, "%.4g %s", value, units[unit]);
}

static void print_table(const struct ergo_device_summary *list, size_t count) {
    for (size_t i = 0; i < count; i++) {
        const struct ergo_device_summary *device = &list[i];
        char global[32], local[32], buffer[32];
        format_bytes(device->global_memory, global, sizeof global);
        format_bytes(device->local_memory, local, sizeof local);
        format_bytes(device->largest_buffer, buffer, sizeof buffer);
        printf("%-5s %s (%s)\n", device->id, device->name, device->type);
        printf("      %s, %s, driver %s\n", device->platform, device->version, device->driver);
        printf("      %u compute units, %s memory, buffers to %s, %s local, groups to %" PRIu64
               ", fp64 %s, 64-bit atomics %s\n",
               device->compute_units, global, buffer, local, device->largest_group,
               device->fp64 ? "yes" : "no", device->atomics64 ? "yes" : "no");
        printf("      %s\n", device->verdict); /* begins with "usable:" or "refused:" */
    }
}

/* Nothing of it names the user or the host. */
static void print_report(const struct ergo_device_summary *list, size_t count, const char *json) {
    struct utsname system;
    printf("ergocl %s", ERGO_VERSION);
    if (uname(&system) == 0)
        printf(" on %s %s %s", system.sysname, system.release, system.machine);
    printf("\n\n");
    print_table(list, count);
    printf("\n%s\n"
           "This is what the probe says. Whether all chains are right on a device, and how fast it "
           "is,\ntools/first-contact.sh of the sources finds out in ten minutes.\n",
           json);
}

static enum ergo_status run(struct ergo_context *ctx, const struct cli_arguments *arguments) {
    struct ergo_device_summary *list = NULL;
    char *json = NULL;
    size_t count = 0, usable = 0;
    if (arguments->report && arguments->json) {
        cli_error("\"ergocl devices\" prints either --json or --report, which has the JSON in it");
        return ERGO_E_JOB;
    }
    enum ergo_status status =
        ergo_device_list(ctx, arguments->check || arguments->report, &list, &count);
    if (status != ERGO_OK)
        goto out;
    for (size_t i = 0; i < count; i++)
        usable += list[i].usable;
    if (arguments->json || arguments->report)
        status = ergo_device_json(ctx, list, count, &json);
    if (status != ERGO_OK)
        goto out;
    if (arguments->report)
        print_report(list, count, json);
    else if (arguments->json)
        fputs(json, stdout);
    else
        print_table(list, count);
    if (usable == 0) {
        status = ERGO_FAIL(
            ctx, ERGO_E_DEVICE,
            count ? "none of the %zu OpenCL devices is usable"
                  : "no OpenCL device found (%zu); a CPU becomes one with the package "
                    "pocl-opencl-icd, a GPU with its vendor's driver; a driver that is not in "
                    "/etc/OpenCL/vendors needs OCL_ICD_VENDORS=FOLDER of its .icd file",
            count);
    }
out:
    free(json);
    free(list);
    return status;
}

const struct cli_command cli_command_devices = {
    .name = "devices",
    .summary = "list the OpenCL devices, and with --check probe them",
    .details = "Exit code 3 when no device is usable.",
    .options = CLI_BIT(CLI_CHECK) | CLI_BIT(CLI_REPORT) | CLI_BIT(CLI_JSON),
    .run = run,
};
