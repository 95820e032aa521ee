/* Open, close and list devices; the choice is in select.c, the queries in query.c. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "device/bus.h"
#include "device/claim.h"
#include "base/entry.h"
#include "device/probe.h"
#include "device/profile.h"

/* OpenCL lets a/b and sqrt be wrong by 2.5 and 3 ulp unless asked; NVIDIA's differ from the correct
 * ones without the option and are correct with it (H200, driver 580). */
static void set_options(struct ergo_device *device, const struct ergo_candidate *from,
                        const char *of_quirks) {
    snprintf(device->options, sizeof device->options, "-cl-std=CL1.2%s%s%s",
             from->exact_option ? " -cl-fp32-correctly-rounded-divide-sqrt" : "",
             of_quirks[0] ? " " : "", of_quirks);
}

/* Fills in what is known before any OpenCL object is created; enough to recall a probe. */
static void describe_device(struct ergo_device *device, const struct ergo_candidate *from) {
    *device = (struct ergo_device){
        .summary = from->summary,
        .platform = from->platform,
        .device = from->device,
        .type = from->type,
        .wave = from->wave,
        .quirks = from->quirks,
    };
    memcpy(device->vendor, from->vendor, sizeof device->vendor);
    /* the probe runs on the device itself */
    set_options(device, from, from->own_options ? from->own_options : from->quirks.build_options);
}

static enum ergo_status open_candidate(struct ergo_context *ctx, const struct ergo_candidate *from,
                                       struct ergo_device **out) {
    enum ergo_status status = ERGO_OK;
    cl_int code = CL_SUCCESS;
    const struct ergo_device_summary *s = &from->summary;
    struct ergo_device *device = calloc(1, sizeof *device);
    *out = NULL;
    if (!device)
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "No memory to open device %s (%s)", s->id, s->name);
    describe_device(device, from);

    const cl_context_properties properties[] = {CL_CONTEXT_PLATFORM,
                                                (cl_context_properties)from->platform, 0};
    device->context = clCreateContext(properties, 1, &device->device, NULL, NULL, &code);
    if (code != CL_SUCCESS) {
        status = ERGO_FAIL_CL(ctx, code,
                              "Creating an OpenCL context on device %s (%s) failed; is the device "
                              "in use exclusively, or its memory full?",
                              s->id, s->name);
        goto out;
    }
    device->queue = clCreateCommandQueue(device->context, device->device,
                                         from->profiling ? CL_QUEUE_PROFILING_ENABLE : 0, &code);
    if (code != CL_SUCCESS && from->profiling) {
        ergo_log(ctx, ERGO_LOG_INFO, "device %s (%s) gave no queue with event times: %s", s->id,
                 s->name, ergo_cl_name(code));
        device->quirks.no_profiling = true;
        device->queue = clCreateCommandQueue(device->context, device->device, 0, &code);
    }
    if (code != CL_SUCCESS) {
        status = ERGO_FAIL_CL(ctx, code, "Creating a command queue on device %s (%s) failed", s->id,
                              s->name);
        goto out;
    }
    if (!from->profiling)
        device->quirks.no_profiling = true;
    *out = device;
    device = NULL;
out:
    ergo_device_close(device);
    return status;
}

bool ergo_device_adds_in_warps(const struct ergo_device *device) {
    enum { COMPUTE_CAPABILITY_MAJOR_NV = 0x4000 };
    cl_uint major = 0;
    return strstr(device->summary.platform, "NVIDIA") && strstr(device->vendor, "NVIDIA") &&
           clGetDeviceInfo(device->device, COMPUTE_CAPABILITY_MAJOR_NV, sizeof major, &major,
                           NULL) == CL_SUCCESS &&
           major >= 8;
}

void ergo_device_close(struct ergo_device *device) {
    if (!device)
        return;
    ergo_device_unclaim(&device->claim);
    ergo_profile_destroy(ergo_profile_take(device));
    if (device->queue) {
        /* after a release alone, commands in flight may still read host memory */
        (void)ergo_queue_finish(device, device->queue);
        (void)clReleaseCommandQueue(device->queue);
    }
    if (device->context)
        (void)clReleaseContext(device->context);
    free(device);
}

/* Copies as one line of at most `size` bytes, because verdicts are shown in tables. */
static void copy_line(char *to, size_t size, const char *prefix, const char *from) {
    int room = (int)(size - strlen(prefix)) - 1;
    snprintf(to, size, "%s%.*s", prefix, room, from);
    for (char *at = to; *at; at++)
        if (*at == '\n' || *at == '\t')
            *at = ' ';
}

/*
 * Opens and probes a candidate and sets its verdict. The errors of a device that is only looked at
 * are not the caller's: they go into its verdict, through a context of their own. opened: NULL to
 * close it again. remembered: accept a pass from the cache.
 */
static void try_candidate(struct ergo_context *ctx, struct ergo_candidate *one, bool remembered,
                          struct ergo_device **opened) {
    struct ergo_device *device = NULL;
    char verdict[sizeof one->summary.verdict] = "";
    struct ergo_context *scratch = ergo_context_create();
    enum ergo_status status = scratch ? ERGO_OK : ERGO_E_MEMORY;

    if (scratch) {
        ergo_context_set_log(scratch, ERGO_LOG_DEBUG, ergo_log_forward, ctx);
        status = open_candidate(scratch, one, &device);
    }
    if (status == ERGO_OK)
        status = remembered ? ergo_probe_ensure(scratch, device, verdict, sizeof verdict)
                            : ergo_device_probe(scratch, device, verdict, sizeof verdict);
    if (status == ERGO_OK) {
        set_options(device, one, one->quirks.build_options);
        one->probed = device->probed;
        one->exact_division = device->exact_division;
        one->summary.atomics64 = device->summary.atomics64;
        ergo_candidate_describe(one);
        device->summary = one->summary;
    } else {
        const char *why = verdict[0] ? verdict
                          : scratch  ? ergo_error_message(scratch)
                                     : "no host memory";
        one->summary.usable = false;
        copy_line(one->summary.verdict, sizeof one->summary.verdict, "refused: ", why);
        ergo_log(ctx, ERGO_LOG_INFO, "device %s (%s) refused: %s", one->summary.id,
                 one->summary.name, scratch ? ergo_error_message(scratch) : why);
    }
    if (opened && status == ERGO_OK)
        *opened = device;
    else
        ergo_device_close(device);
    ergo_context_destroy(scratch);
}

/* Below a list of devices, as a line of its own. */
static void explain_bus(struct ergo_text *message, const struct ergo_candidate *list, size_t count,
                        bool gpu) {
    struct ergo_text bus = {0};
    (gpu ? ergo_bus_explain_none : ergo_bus_explain)(&bus, ERGO_PCI_FOLDER, list, count);
    if (bus.data)
        ergo_text_append(message, "%s%s", count ? "\n" : " ", bus.data + 1);
    ergo_text_free(&bus);
}

/* A driver that is missing is worth a warning where no GPU can be used. */
static void warn_of_bus(struct ergo_context *ctx, const struct ergo_candidate *list, size_t count) {
    struct ergo_text bus = {0};
    bool gpu = false;
    for (size_t i = 0; i < count; i++)
        gpu |= list[i].summary.usable && strcmp(list[i].summary.type, "gpu") == 0;
    ergo_bus_explain(&bus, ERGO_PCI_FOLDER, list, count);
    if (bus.data)
        ergo_log(ctx, gpu ? ERGO_LOG_INFO : ERGO_LOG_WARNING, "%s", bus.data + 1);
    ergo_text_free(&bus);
}

/* Where there are other devices of this model, tell other processes that this one is in use. */
static void claim_among_equals(struct ergo_context *ctx, const struct ergo_candidate *list,
                               size_t count, size_t index, struct ergo_device *device) {
    for (size_t i = 0; i < count && !device->claim; i++)
        if (i != index && list[i].summary.usable && ergo_candidate_same(&list[i], &list[index])) {
            (void)ergo_device_claim(ctx, &list[index], &device->claim);
            return;
        }
}

enum ergo_status ergo_device_open(struct ergo_context *ctx, const char *selector,
                                  struct ergo_device **device) {
    enum ergo_status status = ERGO_OK;
    struct ergo_candidate *list = NULL;
    struct ergo_text message = {0};
    bool *matched = NULL;
    size_t count = 0, index = 0;
    int claim = 0;
    const char *source = "";

    *device = NULL;
    if (!selector) {
        const char *variable = getenv("ERGOCL_DEVICE");
        if (variable && *variable) {
            selector = variable;
            source = " (from ERGOCL_DEVICE)";
        } else {
            selector = "auto";
        }
    }
    status = ergo_candidate_list(ctx, &list, &count);
    if (status != ERGO_OK)
        goto out;
    matched = calloc(count + 1, sizeof *matched);
    if (!matched) {
        status = ERGO_FAIL(ctx, ERGO_E_MEMORY, "No memory to choose among %zu devices", count);
        goto out;
    }
    /* ends, because each round opens a device or refuses at least one more */
    for (;;) {
        enum ergo_choice choice = ergo_candidate_choose(selector, list, count, &index, matched);
        const bool equal =
            choice == ERGO_CHOICE_AMBIGUOUS && ergo_candidate_equal(selector, list, count, matched);
        if (equal)
            index = ergo_device_first_free(ctx, selector, list, count, matched, &claim);
        if (choice == ERGO_CHOICE_FOUND || equal) {
            try_candidate(ctx, &list[index], true, device);
            if (*device) {
                (*device)->claim = claim;
                if (!equal)
                    claim_among_equals(ctx, list, count, index, *device);
                break;
            }
            ergo_device_unclaim(&claim);
            continue;
        }
        bool refused_more = false;
        if (choice == ERGO_CHOICE_AMBIGUOUS) {
            /* Devices that fail the probe do not make a choice ambiguous. */
            for (size_t i = 0; i < count; i++) {
                if (!matched[i] || !list[i].summary.usable || list[i].probed)
                    continue;
                try_candidate(ctx, &list[i], true, NULL);
                refused_more |= !list[i].summary.usable;
            }
        }
        if (refused_more)
            continue;
        ergo_candidate_explain(&message, choice, selector, source, list, count, matched);
        if (choice == ERGO_CHOICE_NONE || choice == ERGO_CHOICE_REFUSED)
            explain_bus(&message, list, count, strcasecmp(selector, "gpu") == 0);
        status =
            ERGO_FAIL(ctx, ERGO_E_DEVICE, "%s", message.data ? message.data : "No usable device");
        break;
    }
    if (!*device) /* a device is not refused for what this process lacks */
        status = ergo_memory_told(ctx, status);
out:
    ergo_text_free(&message);
    free(matched);
    free(list);
    return status;
}

enum ergo_status ergo_device_deal(struct ergo_context *ctx, const char *selector, size_t turn,
                                  char *text, size_t size) {
    struct ergo_candidate *list = NULL;
    size_t count = 0, index = 0;
    const char *wanted = strcmp(selector, "auto") == 0 ? "gpu" : selector;
    snprintf(text, size, "%s", selector);
    enum ergo_status status = ergo_candidate_list(ctx, &list, &count);
    bool *fits = calloc(count + 1, sizeof *fits);
    if (status == ERGO_OK && !fits)
        status = ERGO_FAIL(ctx, ERGO_E_MEMORY, "No memory to choose among %zu devices", count);
    if (status == ERGO_OK &&
        ergo_candidate_choose(wanted, list, count, &index, fits) == ERGO_CHOICE_AMBIGUOUS) {
        /* every rank probes all of them, so that all agree which are left */
        for (size_t i = 0; i < count; i++)
            if (fits[i] && list[i].summary.usable)
                try_candidate(ctx, &list[i], true, NULL);
        if (ergo_candidate_deal(wanted, list, count, turn, &index))
            snprintf(text, size, "%s", list[index].summary.id);
    }
    status = ergo_memory_told(ctx, status);
    free(fits);
    free(list);
    return status;
}

enum ergo_status ergo_device_list(struct ergo_context *ctx, bool probe,
                                  struct ergo_device_summary **list, size_t *count) {
    ERGO_CLEAR(list);
    ERGO_CLEAR(count);
    ERGO_ENTRY(ctx, list, count);
    struct ergo_candidate *found = NULL;
    size_t n = 0;
    enum ergo_status status = ergo_candidate_list(ctx, &found, &n);
    if (status != ERGO_OK)
        goto out;
    *list = calloc(n + 1, sizeof **list);
    if (!*list) {
        status = ERGO_FAIL(ctx, ERGO_E_MEMORY, "No memory to list %zu devices", n);
        goto out;
    }
    for (size_t i = 0; i < n; i++) {
        struct ergo_candidate *one = &found[i];
        struct ergo_device device;
        describe_device(&device, one);
        if (one->summary.usable && probe) {
            try_candidate(ctx, one, false, NULL);
        } else if (one->summary.usable) {
            bool known = false;
            status = ergo_probe_recall(ctx, &device, &known);
            if (status != ERGO_OK)
                goto out;
            if (known) {
                one->probed = true;
                one->exact_division = device.exact_division;
                one->summary.atomics64 = device.summary.atomics64;
                ergo_candidate_describe(one);
            }
        }
        (*list)[i] = one->summary;
    }
    warn_of_bus(ctx, found, n);
    *count = n;
out:
    status = ergo_memory_told(ctx, status);
    if (status != ERGO_OK) {
        free(*list);
        *list = NULL;
    }
    free(found);
    return status;
}
