/* Buffers and kernels of a batch on a device: planned, created, destroyed. */
#include "engine/engine.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "device/program.h"
#include "engine/slab.h"
#include "engine/temper.h"

/* ---- plan -------------------------------------------------------------------------------------
 */

static bool is_result(enum ergo_buffer_kind kind) {
    return kind == ERGO_BUFFER_SAMPLES || kind == ERGO_BUFFER_CURVES || kind == ERGO_BUFFER_HOST;
}

/* How many samples, or samples with curves, the slot of a result has room for. */
static uint64_t capacity_of(const struct ergo_engine *e, const struct ergo_engine_buffer *b) {
    return b->kind == ERGO_BUFFER_SAMPLES ? e->block_samples
           : is_result(b->kind)           ? e->curve_capacity
                                          : 1;
}

/* Take as many samples per block as fit the memory that blocks may use. */
static void choose_block(struct ergo_engine *e) {
    uint64_t sample = 1, curve = 0;
    for (size_t i = 0; i < ERGO_BUFFERS; i++) {
        const struct ergo_engine_buffer *b = &e->buffers[i];
        sample += b->kind == ERGO_BUFFER_SAMPLES ? b->bytes : 0;
        curve += b->kind == ERGO_BUFFER_CURVES || b->kind == ERGO_BUFFER_HOST ? b->bytes : 0;
    }
    const double interval = (double)e->curve_interval, most = ERGO_BLOCK_SAMPLES;
    double samples = fmin(most, fmax(1.0, ERGO_BLOCK_BYTES / (double)sample));
    if (curve && e->curve_interval)
        samples = fmin(samples, fmin(most, fmax(1.0, ERGO_BLOCK_BYTES / (double)curve)) * interval);
    if (!e->block_samples)
        e->block_samples = (size_t)samples;
    e->curve_capacity =
        e->curve_interval ? (size_t)((e->block_samples - 1) / e->curve_interval) + 1 : 0;
}

static enum ergo_status sum_memory(struct ergo_context *ctx, struct ergo_engine *e) {
    const struct ergo_device_summary *d = &e->device->summary;
    struct ergo_plan *plan = &e->plan;
    const char *largest = "";
    plan->block_samples = e->block_samples;
    if (e->curve_row_bytes)
        plan->host_bytes += ergo_engine_curve_rows(e) * e->curve_row_bytes;
    for (size_t i = 0; i < ERGO_BUFFERS; i++) {
        const struct ergo_engine_buffer *b = &e->buffers[i];
        const bool result = is_result(b->kind);
        const uint64_t bytes = b->bytes * capacity_of(e, b);
        if (result || b->ends)
            plan->host_bytes += 2 * bytes;
        if (b->kind == ERGO_BUFFER_HOST)
            continue;
        plan->device_bytes += (result ? 2 : 1) * bytes;
        if (e->temper && i == e->model->temper->counts)
            plan->device_bytes += b->bytes;
        plan->state_bytes += b->kind == ERGO_BUFFER_STATE ? bytes : 0;
        if (b->flags & ERGO_BUFFER_EACH)
            plan->device_bytes += (e->batch->count - 1) * bytes;
        if (b->flags & ERGO_BUFFER_HOSTED)
            plan->host_bytes += bytes;
        if (bytes > plan->largest_buffer) {
            plan->largest_buffer = bytes;
            largest = b->what;
        }
    }
    if (plan->largest_buffer <= d->largest_buffer && plan->device_bytes <= d->global_memory)
        return ERGO_OK;
    return ERGO_FAIL(ctx, ERGO_E_DEVICE,
                     "%s (%s) cannot hold this batch: its %s need a buffer of %.3g MiB, and all "
                     "together %.3g MiB; the device allows %.3g and has %.3g MiB. Use %s, fewer "
                     "replicas or scan points, or another device",
                     d->name, d->id, largest, (double)plan->largest_buffer / 1048576,
                     (double)plan->device_bytes / 1048576, (double)d->largest_buffer / 1048576,
                     (double)d->global_memory / 1048576, e->model->smaller);
}

/* Decide everything; nothing is on the device yet. */
static enum ergo_status declare(struct ergo_context *ctx, struct ergo_engine *e) {
    ergo_engine_begin(e, ctx);
    enum ergo_status status = e->model->configure(ctx, e);
    if (status == ERGO_OK && e->temper)
        ergo_temper_declare(e);
    ergo_engine_buffer(e, ERGO_ALIVE, "launches", ERGO_BUFFER_SCRATCH, sizeof e->alive);
    ergo_engine_ends(e, ERGO_ALIVE);
    ergo_engine_kernel(e, ERGO_ALIVE_KERNEL, "common/alive.cl", NULL, "alive");
    status = status == ERGO_OK ? ergo_engine_end(e) : status;
    if (status != ERGO_OK)
        return status;
    choose_block(e);
    if (e->model->slab && e->model->columns)
        e->totals.joined = ergo_engine_memory(e, e->block_samples * e->batch->count,
                                              8 * (e->totals.narrow + e->totals.wide));
    if (ergo_engine_end(e) != ERGO_OK) /* without it a rank would not meet the others */
        return ergo_engine_end(e);
    if (!e->pace.now)
        ergo_pace_start(&e->pace, e->plan.block_steps);
    return sum_memory(ctx, e);
}

enum ergo_status ergo_engine_configure(struct ergo_context *ctx,
                                       const struct ergo_engine_model *model,
                                       const struct ergo_batch *batch,
                                       const struct ergo_device *device, void **state) {
    struct ergo_engine *e = *state = calloc(1, model->state_bytes);
    if (!e)
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for the state of %s", model->sampler);
    e->model = model;
    e->batch = batch;
    e->device = (struct ergo_device *)(uintptr_t)device; /* a plan only looks at it */
    const enum ergo_status status = ergo_temper_expand(ctx, e);
    return status == ERGO_OK ? declare(ctx, e) : status;
}

/* Free what configure has declared. */
static void undeclare(struct ergo_engine *e) {
    for (size_t p = 0; p < ERGO_PROGRAMS; p++)
        free(e->programs[p].options);
    for (size_t i = 0; i < ERGO_MEMORIES; i++)
        free(e->memories[i]);
    memset(e->programs, 0, sizeof e->programs);
    memset(e->memories, 0, sizeof e->memories);
    memset(e->kernels, 0, sizeof e->kernels);
    memset(e->buffers, 0, sizeof e->buffers);
    memset(&e->plan, 0, sizeof e->plan);
    e->constants.n = 0;
    e->block_samples = 0;
    e->group = 0;
    e->pace = e->curve_pace = (struct ergo_pace){0};
}

static void forget(struct ergo_engine *e) {
    if (e->model->release)
        e->model->release(e);
    if (e->model->slab)
        ergo_slab_release(ergo_slab_of(e));
    undeclare(e);
    ergo_temper_free(e);
    free(e);
}

enum ergo_status ergo_engine_plan(struct ergo_context *ctx, const struct ergo_engine_model *model,
                                  const struct ergo_batch *batch, const struct ergo_device *device,
                                  struct ergo_plan *plan) {
    void *state = NULL;
    const enum ergo_status status = ergo_engine_configure(ctx, model, batch, device, &state);
    memset(plan, 0, sizeof *plan);
    if (state) {
        *plan = ((struct ergo_engine *)state)->plan;
        forget(state);
    }
    return status;
}

enum ergo_status ergo_engine_declared(
    struct ergo_context *ctx, const struct ergo_engine_model *model, const struct ergo_batch *batch,
    const struct ergo_device *device,
    enum ergo_status (*look)(struct ergo_context *ctx, const struct ergo_engine *e, void *user),
    void *user) {
    void *state = NULL;
    enum ergo_status status = ergo_engine_configure(ctx, model, batch, device, &state);
    if (status == ERGO_OK)
        status = look(ctx, state, user);
    if (state)
        forget(state);
    return status;
}

/* ---- create -----------------------------------------------------------------------------------
 */

static enum ergo_status create_kernels(struct ergo_context *ctx, struct ergo_engine *e) {
    enum ergo_status status = ERGO_OK;
    for (size_t p = 0; p < ERGO_PROGRAMS && e->programs[p].path && status == ERGO_OK; p++)
        status = ergo_program_build(ctx, e->device, e->programs[p].path, e->programs[p].options,
                                    &e->programs[p].program);
    for (size_t k = 0; k < ERGO_KERNELS && status == ERGO_OK; k++)
        if (e->kernels[k].name)
            status = ergo_kernel_create(ctx, e->device, e->programs[e->kernels[k].program].program,
                                        e->kernels[k].name, &e->kernels[k].kernel);
    return status;
}

void ergo_engine_rebuild(struct ergo_engine *e, unsigned kernel, const char *options) {
    struct ergo_engine_kernel *k = &e->kernels[kernel];
    struct ergo_engine_program *p = &e->programs[k->program];
    cl_program program = NULL;
    cl_kernel made = NULL;
    if (e->status == ERGO_OK)
        e->status = ergo_program_build(e->ctx, e->device, p->path, options, &program);
    if (e->status == ERGO_OK)
        e->status = ergo_kernel_create(e->ctx, e->device, program, k->name, &made);
    if (e->status == ERGO_OK) {
        clReleaseKernel(k->kernel);
        k->kernel = made;
    }
    if (program) /* kernels keep it */
        clReleaseProgram(program);
}

/* Host memory that transfers do not wait for: pinned if the driver has it, else ordinary memory.
 * A read into ordinary memory takes NVIDIA's driver two copies, and the thread that enqueues it
 * waits. On a CPU nothing is transferred. */
static void *pin(struct ergo_device *device, size_t bytes, cl_mem *pinned) {
    cl_int code = CL_SUCCESS;
    void *host = NULL;
    if (device->type == CL_DEVICE_TYPE_CPU)
        return malloc(bytes);
    *pinned = clCreateBuffer(device->context, CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR, bytes,
                             NULL, &code);
    if (code == CL_SUCCESS)
        host = clEnqueueMapBuffer(device->queue, *pinned, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0,
                                  bytes, 0, NULL, NULL, &code);
    else
        *pinned = NULL;
    if (code == CL_SUCCESS && host)
        return host;
    ergo_buffer_release(pinned);
    return malloc(bytes);
}

static void unpin(struct ergo_device *device, cl_mem *pinned, void **host) {
    if (*pinned && *host) {
        clEnqueueUnmapMemObject(device->queue, *pinned, *host, 0, NULL, NULL);
        (void)ergo_queue_finish(device, device->queue);
    } else {
        free(*host);
    }
    ergo_buffer_release(pinned);
    *host = NULL;
}

/* A result's buffer on the device, and its memory on the host. */
static enum ergo_status create_result(struct ergo_context *ctx, struct ergo_engine *e,
                                      struct ergo_engine_buffer *b, unsigned slot) {
    const size_t bytes = (size_t)(b->bytes * capacity_of(e, b));
    enum ergo_status status = ERGO_OK;
    if (!bytes)
        return ERGO_OK;
    if (b->kind != ERGO_BUFFER_HOST && !b->ends)
        status = ergo_buffer_create(ctx, e->device, b->what, bytes, NULL, &b->mem[slot]);
    if (status != ERGO_OK)
        return status;
    b->host[slot] = pin(e->device, bytes, &b->pins[slot]);
    return b->host[slot] ? ERGO_OK
                         : ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for a block of %s", b->what);
}

static enum ergo_status create_each(struct ergo_context *ctx, struct ergo_engine *e,
                                    struct ergo_engine_buffer *b) {
    enum ergo_status status = ERGO_OK;
    b->each = calloc(e->batch->count + 1, sizeof *b->each);
    if (!b->each)
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for %zu members", e->batch->count);
    for (size_t m = 0; m < e->batch->count && status == ERGO_OK; m++)
        status = ergo_buffer_create(ctx, e->device, b->what, (size_t)b->bytes, NULL, &b->each[m]);
    b->mem[0] = b->each[0];
    return status;
}

/* The host memory of a hosted buffer, and a queue for transfers beside launches. Not on a CPU,
 * which cannot copy beside its kernels (PoCL, a cut lattice of 512 x 512: 3,500 us per sweep with
 * it, 3,000 without). */
static enum ergo_status create_host(struct ergo_context *ctx, struct ergo_engine *e,
                                    struct ergo_engine_buffer *b) {
    const size_t bytes = (size_t)b->bytes;
    b->host[0] = pin(e->device, bytes, &b->pins[0]);
    if (!b->host[0])
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for %s", b->what);
    memset(b->host[0], 0, bytes);
    if (b->flags & ERGO_BUFFER_BESIDE && !e->beside && e->device->type != CL_DEVICE_TYPE_CPU)
        e->beside = clCreateCommandQueue(e->device->context, e->device->device, 0, NULL);
    return ERGO_OK;
}

/* A sample beside those of the slots, for exchanges of a ladder; zeros on the host to clear it. */
static enum ergo_status create_energies(struct ergo_context *ctx, struct ergo_engine *e,
                                        struct ergo_engine_buffer *b) {
    const size_t bytes = (size_t)b->bytes;
    b->host[ERGO_TEMPER_SLOT] = calloc(1, bytes);
    if (!b->host[ERGO_TEMPER_SLOT])
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for the energies of a ladder");
    return ergo_buffer_create(ctx, e->device, b->what, bytes, NULL, &b->mem[ERGO_TEMPER_SLOT]);
}

static enum ergo_status create_buffers(struct ergo_context *ctx, struct ergo_engine *e) {
    enum ergo_status status = ERGO_OK;
    for (size_t i = 0; i < ERGO_BUFFERS && status == ERGO_OK; i++) {
        struct ergo_engine_buffer *b = &e->buffers[i];
        const bool back = is_result(b->kind) || b->ends;
        for (unsigned slot = 0; slot < 2 && back && status == ERGO_OK; slot++)
            status = create_result(ctx, e, b, slot);
        if (e->temper && i == e->model->temper->counts && status == ERGO_OK)
            status = create_energies(ctx, e, b);
        if (status == ERGO_OK && b->flags & ERGO_BUFFER_EACH)
            status = create_each(ctx, e, b);
        else if (status == ERGO_OK &&
                 (b->kind == ERGO_BUFFER_STATE || b->kind == ERGO_BUFFER_SCRATCH))
            status =
                ergo_buffer_create(ctx, e->device, b->what, (size_t)b->bytes, NULL, &b->mem[0]);
        if (status == ERGO_OK && b->flags & ERGO_BUFFER_HOSTED)
            status = create_host(ctx, e, b);
    }
    return status;
}

static enum ergo_status make(struct ergo_context *ctx, struct ergo_engine *e) {
    enum ergo_status status = create_kernels(ctx, e);
    if (status == ERGO_OK)
        status = create_buffers(ctx, e);
    ergo_engine_begin(e, ctx);
    if (status == ERGO_OK && e->model->slab)
        ergo_slab_prepare(e, ergo_slab_of(e));
    for (unsigned k = 0; k < ERGO_KERNELS && e->group && status == ERGO_OK; k++)
        if (e->kernels[k].kernel)
            e->group = (uint32_t)ergo_engine_group(e, k, e->group);
    if (status == ERGO_OK && e->model->prepare)
        status = e->model->prepare(ctx, e);
    if (status == ERGO_OK)
        ergo_engine_constants(e);
    if (status == ERGO_OK && e->temper)
        ergo_temper_prepare(e);
    status = status == ERGO_OK ? ergo_engine_end(e) : status;
    return status;
}

enum ergo_status ergo_engine_make(struct ergo_context *ctx, void **state) {
    struct ergo_engine *e = *state;
    const enum ergo_status status = make(ctx, e);
    if (status == ERGO_OK) {
        ergo_log(ctx, ERGO_LOG_INFO, "%s: launches begin with size %llu", e->model->sampler,
                 (unsigned long long)e->pace.now);
        return ERGO_OK;
    }
    ergo_engine_destroy(e);
    *state = NULL;
    return status;
}

enum ergo_status ergo_engine_init(struct ergo_context *ctx, void *state) {
    struct ergo_engine *e = state;
    e->step = 0;
    ergo_engine_begin(e, ctx);
    e->model->start(state);
    ergo_engine_finish(e);
    return ergo_engine_end(e);
}

enum ergo_status ergo_engine_create(struct ergo_context *ctx, const struct ergo_engine_model *model,
                                    const struct ergo_batch *batch, struct ergo_device *device,
                                    void **state) {
    const enum ergo_status status = ergo_engine_configure(ctx, model, batch, device, state);
    if (status == ERGO_OK)
        return ergo_engine_make(ctx, state);
    ergo_engine_destroy(*state);
    *state = NULL;
    return status;
}

/* Release everything on the device, and its host memory. */
static void unmake(struct ergo_engine *e) {
    (void)ergo_queue_finish(e->device,
                            e->device->queue); /* reads into our slots may be under way */
    if (e->beside) {
        (void)ergo_queue_finish(e->device, e->beside);
        clReleaseCommandQueue(e->beside);
        e->beside = NULL;
    }
    for (size_t k = 0; k < ERGO_KERNELS; k++)
        if (e->kernels[k].kernel)
            clReleaseKernel(e->kernels[k].kernel);
    for (size_t p = 0; p < ERGO_PROGRAMS; p++)
        if (e->programs[p].program)
            clReleaseProgram(e->programs[p].program);
    for (size_t i = 0; i < ERGO_BUFFERS; i++) {
        struct ergo_engine_buffer *b = &e->buffers[i];
        for (size_t m = 0; b->each && m < e->batch->count; m++)
            ergo_buffer_release(&b->each[m]);
        if (b->each)
            b->mem[0] = NULL;
        free(b->each);
        for (unsigned slot = 0; slot <= ERGO_TEMPER_SLOT; slot++) {
            ergo_buffer_release(&b->mem[slot]);
            unpin(e->device, &b->pins[slot], &b->host[slot]);
        }
        if (b->read)
            clReleaseEvent(b->read);
    }
}

enum ergo_status ergo_engine_remake(struct ergo_context *ctx, void *state) {
    struct ergo_engine *e = state;
    unmake(e);
    undeclare(e);
    const enum ergo_status status = declare(ctx, e);
    return status == ERGO_OK ? make(ctx, e) : status;
}

void ergo_engine_destroy(void *state) {
    struct ergo_engine *e = state;
    if (!e)
        return;
    unmake(e);
    for (unsigned slot = 0; slot < 2; slot++)
        if (e->slots[slot].ready)
            clReleaseEvent(e->slots[slot].ready);
    forget(e);
}

void ergo_engine_skip(void *state, uint64_t steps) {
    struct ergo_engine *e = state;
    e->step += steps;
}
