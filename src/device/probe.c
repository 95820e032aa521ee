/*
 * The start-up probe: a device has to prove what it claims. It runs cl/common/probe.cl;
 * probe_expect.c has the right answers. A pass is remembered per device, driver, options and
 * program.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/cache.h"
#include "device/probe.h"
#include "device/program.h"

/* Raises the error of a check, and keeps its sentence for the verdict. */
static enum ergo_status fail_check(struct ergo_context *ctx, struct ergo_device *device,
                                   char *verdict, size_t size, const char *check, size_t item,
                                   uint64_t got, uint64_t expected) {
    snprintf(verdict, size,
             "the probe's check of %s failed at item %zu: got 0x%llx, expected 0x%llx; results on "
             "this device and driver would be wrong (update the driver, or take another device)",
             check, item, (unsigned long long)got, (unsigned long long)expected);
    return ERGO_FAIL(ctx, ERGO_E_DEVICE, "Device %s (%s, driver %s): %s", device->summary.id,
                     device->summary.name, device->summary.driver, verdict);
}

/* ---- the checks ------------------------------------------------------------------------------ */

struct probe {
    struct ergo_context *ctx;
    struct ergo_device *device;
    cl_program program;
    char *verdict;
    size_t verdict_size;
};

static enum ergo_status fail_memory(struct probe *p) {
    return ERGO_FAIL(p->ctx, ERGO_E_MEMORY, "No memory to probe device %s", p->device->summary.id);
}

static enum ergo_status check_arithmetic(struct probe *p) {
    const size_t n_in = (size_t)PROBE_ITEMS * PROBE_INPUTS;
    const size_t n_out = (size_t)PROBE_ITEMS * PROBE_COLUMNS;
    const size_t global[2] = {PROBE_ITEMS, 1}, local[2] = {PROBE_GROUP, 1};
    enum ergo_status status = ERGO_OK;
    cl_kernel kernel = NULL;
    cl_mem in_mem = NULL, out_mem = NULL;
    bool exact = true;
    uint32_t *in = malloc(n_in * sizeof *in), *got = malloc(n_out * sizeof *got);
    uint32_t *expected = malloc(n_out * sizeof *expected);
    if (!in || !got || !expected) {
        status = fail_memory(p);
        goto out;
    }
    ergo_probe_make_inputs(in);
    ergo_probe_expect_arithmetic(in, expected);
    status = ergo_kernel_create(p->ctx, p->device, p->program, "probe_arithmetic", &kernel);
    if (status == ERGO_OK)
        status =
            ergo_buffer_create(p->ctx, p->device, "probe inputs", n_in * sizeof *in, in, &in_mem);
    if (status == ERGO_OK)
        status = ergo_buffer_create(p->ctx, p->device, "probe results", n_out * sizeof *got, NULL,
                                    &out_mem);
    if (status != ERGO_OK)
        goto out;
    const struct ergo_arg args[] = {ERGO_ARG(in_mem), ERGO_ARG(out_mem)};
    status = ergo_kernel_launch(p->ctx, p->device, kernel, "probe_arithmetic", args, 2, 1, global,
                                local, NULL);
    if (status == ERGO_OK)
        status = ergo_buffer_read(p->ctx, p->device, out_mem, 0, n_out * sizeof *got, got);
    if (status != ERGO_OK)
        goto out;
    for (size_t i = 0; i < n_out; i++) {
        const unsigned column = (unsigned)(i % PROBE_COLUMNS);
        if (got[i] == expected[i])
            continue;
        if (column >= PROBE_SQRT) {
            exact = false; /* not an error: samplers have their own division by fma and Newton
                            * steps */
            continue;
        }
        status = fail_check(p->ctx, p->device, p->verdict, p->verdict_size,
                            ergo_probe_column_name(column), i / PROBE_COLUMNS, got[i], expected[i]);
        goto out;
    }
    p->device->exact_division = exact;
out:
    if (kernel)
        (void)clReleaseKernel(kernel);
    ergo_buffer_release(&in_mem);
    ergo_buffer_release(&out_mem);
    free(in);
    free(got);
    free(expected);
    return status;
}

static const char *cell_name(size_t cell) {
    static const char *const names[CELL_WORDS] = {
        "atomic_add",     "atomic_sub",       "atomic_min",       "atomic_max",
        "atomic_cmpxchg", "local atomic_add", "local atomic_min", "local atomic_or"};
    if (cell < CELL_WORDS)
        return names[cell];
    return cell < CELL_WORDS + PROBE_CONTENDERS / 32 ? "atomic_or" : "atomic_xor";
}

static enum ergo_status check_atomics(struct probe *p) {
    const size_t global[2] = {PROBE_CONTENDERS, 1}, local[2] = {PROBE_GROUP, 1};
    enum ergo_status status = ERGO_OK;
    cl_kernel kernel = NULL;
    cl_mem cells_mem = NULL, slots_mem = NULL;
    uint32_t cells[CELL_COUNT], expected[CELL_COUNT];
    uint32_t *slots = calloc(PROBE_CONTENDERS, sizeof *slots);
    if (!slots) {
        status = fail_memory(p);
        goto out;
    }
    ergo_probe_start_atomics(cells);
    ergo_probe_expect_atomics(expected);
    status = ergo_kernel_create(p->ctx, p->device, p->program, "probe_atomics", &kernel);
    if (status == ERGO_OK)
        status =
            ergo_buffer_create(p->ctx, p->device, "probe cells", sizeof cells, cells, &cells_mem);
    if (status == ERGO_OK)
        status = ergo_buffer_create(p->ctx, p->device, "probe slots",
                                    PROBE_CONTENDERS * sizeof *slots, NULL, &slots_mem);
    if (status != ERGO_OK)
        goto out;
    const struct ergo_arg args[] = {ERGO_ARG(cells_mem), ERGO_ARG(slots_mem)};
    status = ergo_kernel_launch(p->ctx, p->device, kernel, "probe_atomics", args, 2, 1, global,
                                local, NULL);
    if (status == ERGO_OK)
        status = ergo_buffer_read(p->ctx, p->device, cells_mem, 0, sizeof cells, cells);
    if (status == ERGO_OK)
        status = ergo_buffer_read(p->ctx, p->device, slots_mem, 0, PROBE_CONTENDERS * sizeof *slots,
                                  slots);
    for (size_t i = 0; i < CELL_COUNT && status == ERGO_OK; i++)
        if (cells[i] != expected[i])
            status = fail_check(p->ctx, p->device, p->verdict, p->verdict_size, cell_name(i), i,
                                cells[i], expected[i]);
    for (size_t i = 0; i < PROBE_CONTENDERS && status == ERGO_OK; i++)
        if (slots[i] != 1)
            status = fail_check(p->ctx, p->device, p->verdict, p->verdict_size,
                                "what atomic_add returns", i, slots[i], 1);
out:
    if (kernel)
        (void)clReleaseKernel(kernel);
    ergo_buffer_release(&cells_mem);
    ergo_buffer_release(&slots_mem);
    free(slots);
    return status;
}

static enum ergo_status check_barriers_at(struct probe *p, cl_kernel kernel, size_t group_size) {
    const size_t global[2] = {group_size * PROBE_GROUPS, 1}, local[2] = {group_size, 1};
    enum ergo_status status = ERGO_OK;
    cl_mem sums_mem = NULL;
    uint32_t sums[PROBE_GROUPS] = {0};
    char check[64];
    uint32_t *scratch = malloc(group_size * sizeof *scratch);
    if (!scratch) {
        status = fail_memory(p);
        goto out;
    }
    status = ergo_buffer_create(p->ctx, p->device, "probe sums", sizeof sums, NULL, &sums_mem);
    if (status != ERGO_OK)
        goto out;
    const struct ergo_arg args[] = {ERGO_ARG(sums_mem),
                                    ERGO_ARG_LOCAL(group_size * sizeof(uint32_t))};
    status = ergo_kernel_launch(p->ctx, p->device, kernel, "probe_barriers", args, 2, 1, global,
                                local, NULL);
    if (status == ERGO_OK)
        status = ergo_buffer_read(p->ctx, p->device, sums_mem, 0, sizeof sums, sums);
    snprintf(check, sizeof check, "barriers in work-groups of %zu", group_size);
    for (uint32_t g = 0; g < PROBE_GROUPS && status == ERGO_OK; g++) {
        uint32_t expected = ergo_probe_expect_barriers(g, (uint32_t)group_size, scratch);
        if (sums[g] != expected)
            status = fail_check(p->ctx, p->device, p->verdict, p->verdict_size, check, g, sums[g],
                                expected);
    }
out:
    ergo_buffer_release(&sums_mem);
    free(scratch);
    return status;
}

/* An odd size, a common one, and the largest: each costs PoCL a compilation of 50 to 150 ms. */
static enum ergo_status check_barriers(struct probe *p) {
    cl_kernel kernel = NULL;
    size_t largest = 0;
    enum ergo_status status =
        ergo_kernel_create(p->ctx, p->device, p->program, "probe_barriers", &kernel);
    if (status == ERGO_OK)
        status = ergo_kernel_largest_group(p->ctx, p->device, kernel, "probe_barriers", &largest);
    const size_t fits = (size_t)p->device->summary.local_memory / sizeof(uint32_t);
    largest = largest < fits ? largest : fits;
    const size_t sizes[] = {7, PROBE_GROUP, largest};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0] && status == ERGO_OK; i++)
        if (sizes[i] <= largest && (i == 2 || sizes[i] < largest))
            status = check_barriers_at(p, kernel, sizes[i]);
    if (kernel)
        (void)clReleaseKernel(kernel);
    return status;
}

/* In a context of its own: a device whose 64-bit atomics fail is used without them. */
static bool try_atomics64(struct ergo_device *device, struct ergo_context *scratch) {
    const size_t global[2] = {PROBE_CONTENDERS, 1}, local[2] = {PROBE_GROUP, 1};
    cl_program program = NULL;
    cl_kernel kernel = NULL;
    cl_mem mem = NULL;
    uint64_t cells[CELL64_COUNT], expected[CELL64_COUNT];
    ergo_probe_start_atomics64(cells);
    ergo_probe_expect_atomics64(expected);
    enum ergo_status status =
        ergo_program_build(scratch, device, "common/probe64.cl", "", &program);
    if (status == ERGO_OK)
        status = ergo_kernel_create(scratch, device, program, "probe_atomics64", &kernel);
    if (status == ERGO_OK)
        status = ergo_buffer_create(scratch, device, "probe cells", sizeof cells, cells, &mem);
    if (status == ERGO_OK) {
        const struct ergo_arg args[] = {ERGO_ARG(mem)};
        status = ergo_kernel_launch(scratch, device, kernel, "probe_atomics64", args, 1, 1, global,
                                    local, NULL);
    }
    if (status == ERGO_OK)
        status = ergo_buffer_read(scratch, device, mem, 0, sizeof cells, cells);
    ergo_buffer_release(&mem);
    if (kernel)
        (void)clReleaseKernel(kernel);
    if (program)
        (void)clReleaseProgram(program);
    return status == ERGO_OK && memcmp(cells, expected, sizeof cells) == 0;
}

static void check_atomics64(struct ergo_context *ctx, struct ergo_device *device) {
    if (!device->summary.atomics64)
        return;
    struct ergo_context *scratch = ergo_context_create();
    device->summary.atomics64 = scratch && try_atomics64(device, scratch);
    if (!device->summary.atomics64)
        ergo_log(ctx, ERGO_LOG_WARNING,
                 "device %s (%s) claims 64-bit atomics, but they fail the probe: not used. %s",
                 device->summary.id, device->summary.name,
                 scratch ? ergo_error_message(scratch) : "");
    ergo_context_destroy(scratch);
}

/* ---- memory ---------------------------------------------------------------------------------- */

void ergo_probe_identity(const struct ergo_device *device, struct ergo_text *text) {
    const struct ergo_device_summary *s = &device->summary;
    const char *const parts[] = {ERGO_VERSION, s->platform, s->name,
                                 s->driver,    s->version,  device->options};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        ergo_text_append(text, "%zu:%s;", strlen(parts[i]), parts[i]);
}

/* Key of everything on which a verdict depends; *folder NULL: there is no cache, or no program to
 * hash. */
static enum ergo_status find_memory(struct ergo_context *ctx, const struct ergo_device *device,
                                    uint8_t key[32], char **folder) {
    static const char *const paths[] = {"common/probe.cl", "common/probe64.cl",
                                        "common/probe_fma.cl"};
    struct ergo_text all = {0};
    /* The caller gets no errors from here: without a remembered verdict the probe runs, and reports
     * them itself. */
    struct ergo_context *scratch = ergo_context_create();
    enum ergo_status status = scratch ? ERGO_OK : ERGO_E_MEMORY;
    errno = 0;
    *folder = scratch ? ergo_cache_folder(scratch) : NULL;
    if (!*folder && errno == ENOMEM)
        status = ERGO_E_MEMORY;
    ergo_probe_identity(device, &all);
    for (size_t i = 0; i < sizeof paths / sizeof paths[0] && *folder && status == ERGO_OK; i++) {
        char *text = NULL;
        status = ergo_program_flatten(scratch, paths[i], &text);
        ergo_text_append(&all, "%s", text ? text : "");
        free(text);
    }
    if (all.failed)
        status = ERGO_E_MEMORY;
    if (status == ERGO_OK)
        ergo_sha256(all.data, all.length, key);
    else {
        free(*folder);
        *folder = NULL;
    }
    ergo_context_destroy(scratch);
    ergo_text_free(&all);
    return status == ERGO_E_MEMORY ? ERGO_FAIL(ctx, ERGO_E_MEMORY,
                                               "No memory to look for the "
                                               "remembered probe of device %s",
                                               device->summary.id)
                                   : ERGO_OK;
}

enum ergo_status ergo_probe_recall(struct ergo_context *ctx, struct ergo_device *device,
                                   bool *known) {
    uint8_t key[32];
    char *folder = NULL;
    char *payload = NULL;
    size_t length = 0;
    const char *reason = "";
    unsigned exact = 0, atomics64 = 0, software_fma = 0;
    *known = false;
    enum ergo_status status = find_memory(ctx, device, key, &folder);
    if (status != ERGO_OK || !folder)
        return status;
    enum ergo_cache_state state = ergo_cache_read(folder, "probe", key, &payload, &length, &reason);
    if (state == ERGO_CACHE_NO_MEMORY) {
        status = ERGO_FAIL(ctx, ERGO_E_MEMORY,
                           "No memory to read the remembered probe of device "
                           "%s",
                           device->summary.id);
    } else if (state == ERGO_CACHE_HIT &&
               sscanf(payload, "passed exact_division=%u atomics64=%u software_fma=%u", &exact,
                      &atomics64, &software_fma) == 3) {
        device->probed = *known = true;
        device->exact_division = exact != 0;
        device->software_fma = software_fma != 0;
        device->summary.atomics64 = device->summary.atomics64 && atomics64 != 0;
    } else if (state != ERGO_CACHE_MISS) {
        ergo_log(ctx, ERGO_LOG_INFO, "remembered probe of device %s is %s: probing again",
                 device->summary.id, *reason ? reason : "not understood");
    }
    free(payload);
    free(folder);
    return status;
}

static void remember(struct ergo_context *ctx, struct ergo_device *device) {
    uint8_t key[32];
    char *folder = NULL;
    struct ergo_text text = {0};
    if (find_memory(ctx, device, key, &folder) != ERGO_OK)
        ergo_error_clear(ctx); /* then it is probed again next time */
    if (!folder)
        return;
    ergo_text_append(&text,
                     "passed exact_division=%d atomics64=%d software_fma=%d\n%s, driver %s\n",
                     device->exact_division, device->summary.atomics64, device->software_fma,
                     device->summary.name, device->summary.driver);
    if (!text.failed)
        (void)ergo_cache_write(ctx, folder, "probe", key, "the probe", text.data, text.length);
    ergo_text_free(&text);
    free(folder);
}

/* ---- the whole ------------------------------------------------------------------------------- */

enum ergo_status ergo_device_probe(struct ergo_context *ctx, struct ergo_device *device,
                                   char *verdict, size_t size) {
    struct probe p = {.ctx = ctx, .device = device, .verdict = verdict, .verdict_size = size};
    if (size)
        verdict[0] = '\0';
    device->probed = false;
    ergo_probe_fma(ctx, device); /* the checks are of the fma that kernels get */
    enum ergo_status status = ergo_program_build(ctx, device, "common/probe.cl", "", &p.program);
    if (status == ERGO_OK)
        status = check_arithmetic(&p);
    if (status == ERGO_OK)
        status = check_atomics(&p);
    if (status == ERGO_OK)
        status = check_barriers(&p);
    if (status == ERGO_OK) {
        check_atomics64(ctx, device);
        device->probed = true;
        remember(ctx, device);
        snprintf(verdict, size, "passed: division and square root %scorrectly rounded",
                 device->exact_division ? "" : "not ");
    } else if (size && !verdict[0]) {
        snprintf(verdict, size, "the probe could not be run: %s", ergo_error_message(ctx));
    }
    if (p.program)
        (void)clReleaseProgram(p.program);
    return status;
}

enum ergo_status ergo_probe_ensure(struct ergo_context *ctx, struct ergo_device *device,
                                   char *verdict, size_t size) {
    bool known = false;
    if (size)
        verdict[0] = '\0';
    enum ergo_status status = ergo_probe_recall(ctx, device, &known);
    if (status == ERGO_OK && !known)
        status = ergo_device_probe(ctx, device, verdict, size);
    return status;
}
