/* Launches and transfers of a batch. The first error sticks: later calls do nothing. */
#include <stdlib.h>
#include <string.h>

#include "engine/engine.h"

static const struct ergo_engine_buffer *declared(struct ergo_engine *e, unsigned row,
                                                 const char *what) {
    const struct ergo_engine_buffer *b = row < ERGO_BUFFERS ? &e->buffers[row] : NULL;
    if (e->status != ERGO_OK)
        return NULL;
    if (b && b->mem[0])
        return b;
    ERGO_ENGINE_FAIL(e, ERGO_E_INTERNAL, "%s: %s buffer %u, which is not there", e->model->sampler,
                     what, row);
    return NULL;
}

static cl_mem memory_of(const struct ergo_engine *e, const struct ergo_engine_buffer *b) {
    return b->mem[1] ? b->mem[e->slot] : b->mem[0];
}

/* A buffer was changed in another way: what has been read ahead is old. */
static void ergo_engine_changed(struct ergo_engine *e) {
    e->changes++;
    for (size_t i = 0; e->ahead && i < ERGO_WINDOWS; i++)
        e->ahead->windows[i].mem = NULL;
}

void ergo_engine_read_ahead(struct ergo_engine *e, bool on) {
    for (size_t i = 0; e->ahead && i < ERGO_WINDOWS; i++)
        free(e->ahead->windows[i].data);
    free(e->ahead);
    e->ahead = on ? calloc(1, sizeof *e->ahead) : NULL; /* without memory it is slower */
}

static struct ergo_window *known(struct ergo_ahead *ahead, cl_mem mem, size_t offset,
                                 size_t bytes) {
    for (size_t i = 0; i < ERGO_WINDOWS; i++) {
        struct ergo_window *w = &ahead->windows[i];
        if (w->mem == mem && offset >= w->offset && offset + bytes <= w->offset + w->bytes)
            return w;
    }
    return NULL;
}

/* False: it is to be read by itself. */
static bool read_ahead(struct ergo_engine *e, cl_mem mem, size_t offset, size_t bytes, void *to) {
    size_t all = 0;
    if (!e->ahead || bytes > ERGO_WINDOW / 4)
        return false;
    struct ergo_window *w = known(e->ahead, mem, offset, bytes);
    if (!w) {
        w = &e->ahead->windows[e->ahead->next++ % ERGO_WINDOWS];
        w->mem = NULL;
        if (clGetMemObjectInfo(mem, CL_MEM_SIZE, sizeof all, &all, NULL) != CL_SUCCESS ||
            offset + bytes > all || (!w->data && !(w->data = malloc(ERGO_WINDOW))))
            return false;
        w->offset = offset - offset % (ERGO_WINDOW / 2); /* some go from the last member down */
        w->bytes = all - w->offset < ERGO_WINDOW ? all - w->offset : ERGO_WINDOW;
        e->status = ergo_buffer_read(e->ctx, e->device, mem, w->offset, w->bytes, w->data);
        if (e->status != ERGO_OK)
            return true;
        w->mem = mem;
    }
    memcpy(to, w->data + (offset - w->offset), bytes);
    return true;
}

void ergo_engine_launch(struct ergo_engine *e, unsigned kernel, struct ergo_grid grid,
                        const struct ergo_arg *args, size_t n_args) {
    struct ergo_arg resolved[ERGO_ARGS];
    cl_mem buffers[ERGO_ARGS];
    if (e->status != ERGO_OK)
        return;
    const struct ergo_engine_kernel *k = kernel < ERGO_KERNELS ? &e->kernels[kernel] : NULL;
    if (!k || !k->kernel || n_args > ERGO_ARGS) {
        e->status =
            ERGO_FAIL(e->ctx, ERGO_E_INTERNAL, "%s: launch of kernel %u (%s), %zu arguments",
                      e->model->sampler, kernel, k && k->name ? k->name : "not there", n_args);
        return;
    }
    for (size_t i = 0; i < n_args; i++) {
        resolved[i] = args[i];
        if (args[i].size == ERGO_ARG_BUFFER) {
            const unsigned row = *(const unsigned *)args[i].value;
            buffers[i] = row < ERGO_BUFFERS ? memory_of(e, &e->buffers[row]) : NULL;
            resolved[i] = (struct ergo_arg){sizeof(cl_mem), &buffers[i]};
        }
    }
    ergo_engine_changed(e);
    e->status = ergo_kernel_launch(e->ctx, e->device, k->kernel, k->name, resolved, n_args,
                                   grid.dims, grid.items, grid.group, NULL);
}

/* Seconds from one timing of settled launches to the next. */
static const double AGAIN = 2;

uint64_t ergo_engine_next(struct ergo_engine *e, struct ergo_pace *pace, uint64_t left,
                          uint64_t most) {
    const uint64_t all = left < most ? left : most, units = all < pace->now ? all : pace->now;
    if (!pace->settled)
        pace->timing = units < all;
    else /* a launch that is short for other reasons tells little */
        pace->timing = units >= pace->now / 4 && ergo_clock() - pace->last > AGAIN;
    if (pace->timing) {
        ergo_engine_finish(e);
        pace->begun = ergo_clock();
    }
    return units;
}

void ergo_engine_made(struct ergo_engine *e, struct ergo_pace *pace, uint64_t units) {
    if (!pace->timing)
        return;
    pace->timing = false;
    ergo_engine_finish(e);
    pace->last = ergo_clock();
    if (e->status != ERGO_OK)
        return;
    const bool settled = pace->settled;
    const double seconds = pace->last - pace->begun;
    ergo_pace_note(pace, units, seconds);
    if (pace->settled && !settled)
        ergo_log(e->ctx, ERGO_LOG_INFO, "%s: launches settle at size %llu, after %u timings",
                 e->model->sampler, (unsigned long long)pace->now, pace->noted);
}

size_t ergo_engine_group(struct ergo_engine *e, unsigned kernel, size_t wish) {
    const struct ergo_engine_kernel *k = &e->kernels[kernel];
    size_t largest = wish;
    if (e->status == ERGO_OK && k->kernel)
        e->status = ergo_kernel_largest_group(e->ctx, e->device, k->kernel, k->name, &largest);
    while (wish > largest)
        wish /= 2;
    return wish;
}

void ergo_engine_need_group(struct ergo_engine *e, unsigned kernel, size_t group) {
    if (e->kernels[kernel].name && ergo_engine_group(e, kernel, group) < group)
        ERGO_ENGINE_FAIL(e, ERGO_E_DEVICE,
                         "%s does not run %s in groups of %zu: set a smaller /tuning/work_group",
                         e->device->summary.name, e->kernels[kernel].name, group);
}

void ergo_engine_swap(struct ergo_engine *e, unsigned a, unsigned b) {
    cl_mem other = e->buffers[a].mem[0];
    e->buffers[a].mem[0] = e->buffers[b].mem[0];
    e->buffers[b].mem[0] = other;
}

void ergo_engine_read(struct ergo_engine *e, unsigned row, size_t offset, size_t bytes, void *to) {
    const struct ergo_engine_buffer *b = declared(e, row, "reads");
    if (b && !read_ahead(e, memory_of(e, b), offset, bytes, to))
        e->status = ergo_buffer_read(e->ctx, e->device, memory_of(e, b), offset, bytes, to);
}

void ergo_engine_write(struct ergo_engine *e, unsigned row, size_t offset, size_t bytes,
                       const void *from) {
    const struct ergo_engine_buffer *b = declared(e, row, "writes");
    ergo_engine_changed(e);
    if (b)
        e->status = ergo_buffer_write(e->ctx, e->device, memory_of(e, b), offset, bytes, from);
}

void ergo_engine_fill(struct ergo_engine *e, unsigned row, uint8_t byte) {
    const struct ergo_engine_buffer *b = declared(e, row, "fills");
    ergo_engine_changed(e);
    if (b)
        e->status = ergo_buffer_fill(e->ctx, e->device, memory_of(e, b), 0, (size_t)b->bytes, byte);
}

/* Enqueued too. Devices without a fill get zeros from host memory that results are read into later;
 * the queue keeps the order. */
void ergo_engine_zero(struct ergo_engine *e, unsigned row, size_t bytes) {
    const struct ergo_engine_buffer *b = declared(e, row, "clears");
    cl_int code = CL_SUCCESS;
    ergo_engine_changed(e);
    if (!b || !bytes)
        return;
    void *host = b->host[b->mem[1] ? e->slot : 0];
    if (!e->device->quirks.no_fill) {
        code = ergo_buffer_fill_later(e->device, memory_of(e, b), 0, bytes, 0);
    } else {
        memset(host, 0, bytes);
        code = clEnqueueWriteBuffer(e->device->queue, memory_of(e, b), CL_FALSE, 0, bytes, host, 0,
                                    NULL, NULL);
    }
    if (code != CL_SUCCESS)
        ergo_engine_note(e, ERGO_FAIL_CL(e->ctx, code, "clearing the %s on %s failed", b->what,
                                         e->device->summary.name));
}

/* Read by a queue that waits for what has been launched, but not for what follows. */
static cl_int fetch_beside(struct ergo_engine *e, struct ergo_engine_buffer *b, size_t offset,
                           size_t bytes, void *to) {
    cl_event made = ergo_device_mark(e->device);
    if (!made)
        return CL_OUT_OF_RESOURCES;
    if (b->read)
        clReleaseEvent(b->read);
    b->read = NULL;
    clFlush(e->device->queue); /* another queue waits for it */
    const cl_int code = clEnqueueReadBuffer(e->beside, memory_of(e, b), CL_FALSE, offset, bytes, to,
                                            1, &made, &b->read);
    clReleaseEvent(made);
    clFlush(e->beside);
    return code;
}

void ergo_engine_fetch(struct ergo_engine *e, unsigned row, size_t offset, size_t bytes, void *to) {
    struct ergo_engine_buffer *b = declared(e, row, "reads") ? &e->buffers[row] : NULL;
    if (b && (!(b->flags & ERGO_BUFFER_BESIDE) || !e->beside ||
              fetch_beside(e, b, offset, bytes, to) != CL_SUCCESS))
        e->status =
            ergo_buffer_read_later(e->ctx, e->device, memory_of(e, b), offset, bytes, to, &b->read);
}

void ergo_engine_send(struct ergo_engine *e, unsigned row, size_t bytes) {
    const struct ergo_engine_buffer *b = declared(e, row, "writes");
    ergo_engine_changed(e);
    if (!b || !bytes)
        return;
    const bool beside = b->flags & ERGO_BUFFER_BESIDE && e->beside;
    const cl_int code = clEnqueueWriteBuffer(beside ? e->beside : e->device->queue, memory_of(e, b),
                                             beside, 0, bytes, b->host[0], 0, NULL, NULL);
    if (code != CL_SUCCESS)
        e->status = ERGO_FAIL_CL(e->ctx, code, "writing the %s to %s failed", b->what,
                                 e->device->summary.name);
}

void ergo_engine_choose(struct ergo_engine *e, size_t member) {
    for (size_t i = 0; i < ERGO_BUFFERS; i++)
        if (e->buffers[i].each)
            e->buffers[i].mem[0] = e->buffers[i].each[member];
}

void ergo_engine_await(struct ergo_engine *e, unsigned row) {
    if (declared(e, row, "waits for"))
        e->status = ergo_event_wait(e->ctx, e->device, &e->buffers[row].read, NULL);
}

void ergo_engine_read_curve(struct ergo_engine *e, unsigned row, size_t offset, size_t bytes,
                            unsigned to, size_t curve, size_t at) {
    const struct ergo_engine_buffer *b = declared(e, row, "reads");
    if (b)
        e->status = ergo_buffer_read_later(e->ctx, e->device, memory_of(e, b), offset, bytes,
                                           (char *)ergo_engine_host(e, to, e->slot, curve) + at,
                                           &e->slots[e->slot].ready);
}

void ergo_engine_constant(struct ergo_engine *e, unsigned row, const void *data) {
    struct ergo_engine_buffer *b = &e->buffers[row];
    if (e->status == ERGO_OK && b->mem[0]) /* what chains have used until now */
        e->status =
            ergo_constants_check(e->ctx, e->device, &e->constants, b->mem[0], e->model->sampler);
    if (e->status == ERGO_OK && b->kind == ERGO_BUFFER_CONSTANT)
        e->status = ergo_constant_create(e->ctx, e->device, &e->constants, b->what,
                                         (size_t)b->bytes, data, &b->mem[0]);
}

void ergo_engine_constants(struct ergo_engine *e) {
    for (unsigned row = 0; row < ERGO_BUFFERS; row++)
        if (e->buffers[row].table)
            ergo_engine_constant(e, row, e->buffers[row].table);
}

void ergo_engine_grow(struct ergo_engine *e, unsigned row, uint64_t bytes, size_t pieces) {
    struct ergo_engine_buffer *b = declared(e, row, "grows") ? &e->buffers[row] : NULL;
    cl_mem grown = NULL;
    cl_int code = CL_SUCCESS;
    ergo_engine_changed(e);
    if (!b)
        return;
    const size_t from = (size_t)b->bytes / pieces, to = (size_t)bytes / pieces;
    e->status = ergo_buffer_create(e->ctx, e->device, b->what, (size_t)bytes, NULL, &grown);
    for (size_t i = 0; i < pieces && e->status == ERGO_OK && code == CL_SUCCESS; i++)
        code = clEnqueueCopyBuffer(e->device->queue, b->mem[0], grown, i * from, i * to, from, 0,
                                   NULL, NULL);
    if (code != CL_SUCCESS)
        ergo_engine_note(e, ERGO_FAIL_CL(e->ctx, code, "copying the %s on %s failed", b->what,
                                         e->device->summary.name));
    ergo_engine_finish(e);
    if (e->status != ERGO_OK) {
        ergo_buffer_release(&grown);
        return;
    }
    ergo_buffer_release(&b->mem[0]);
    b->mem[0] = grown;
    b->bytes = bytes;
}

double ergo_engine_lap(struct ergo_engine *e) {
    const double now = ergo_clock(), seconds = now - e->lap;
    e->lap = now;
    return seconds;
}

void ergo_engine_finish(struct ergo_engine *e) {
    if (e->status == ERGO_OK)
        e->status = ergo_device_finish(e->ctx, e->device);
}
