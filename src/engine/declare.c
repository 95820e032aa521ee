/* What a model declares: buffers, sums, tables, kernels, groups and rates. */
#include "engine/engine.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void too_many(struct ergo_engine *e, const char *what, const char *name) {
    ERGO_ENGINE_FAIL(e, ERGO_E_INTERNAL, "%s declares too many %s (\"%s\")", e->model->sampler,
                     what, name);
}

void ergo_engine_buffer(struct ergo_engine *e, unsigned row, const char *what,
                        enum ergo_buffer_kind kind, uint64_t bytes) {
    if (row >= ERGO_BUFFERS)
        too_many(e, "buffers", what);
    else if (bytes)
        e->buffers[row] = (struct ergo_engine_buffer){.what = what, .kind = kind, .bytes = bytes};
}

void ergo_engine_sums(struct ergo_engine *e, unsigned row, const char *what,
                      enum ergo_buffer_kind kind, uint64_t bytes) {
    ergo_engine_buffer(e, row, what, kind, bytes);
    if (row < ERGO_BUFFERS)
        e->buffers[row].zeroed = true;
}

void ergo_engine_totals(struct ergo_engine *e, unsigned row, uint32_t narrow, uint32_t wide,
                        uint32_t parts) {
    if (narrow + wide > ERGO_TOTALS)
        too_many(e, "numbers", "samples");
    e->totals = (struct ergo_totals){row, narrow, wide, parts + !parts, NULL};
    ergo_engine_buffer(e, row, "samples", ERGO_BUFFER_SAMPLES,
                       (uint64_t)e->batch->count * e->totals.parts * (4 * narrow + 8 * wide));
    if (row < ERGO_BUFFERS)
        e->buffers[row].zeroed = !parts;
}

void ergo_engine_ends(struct ergo_engine *e, unsigned row) {
    if (row < ERGO_BUFFERS)
        e->buffers[row].ends = e->buffers[row].kind != ERGO_BUFFER_NONE;
}

void ergo_engine_flag(struct ergo_engine *e, unsigned row, unsigned flags) {
    if (row < ERGO_BUFFERS && e->buffers[row].kind != ERGO_BUFFER_NONE)
        e->buffers[row].flags |= flags;
}

void ergo_engine_kernel(struct ergo_engine *e, unsigned kernel, const char *path,
                        const char *options, const char *name) {
    const char *o = options ? options : "";
    unsigned p = 0;
    while (p < ERGO_PROGRAMS && e->programs[p].path &&
           (strcmp(e->programs[p].path, path) != 0 || strcmp(e->programs[p].options, o) != 0))
        p++;
    if (kernel >= ERGO_KERNELS || p == ERGO_PROGRAMS) {
        too_many(e, "kernels", name);
        return;
    }
    if (!e->programs[p].path) {
        e->programs[p].options = strdup(o);
        if (!e->programs[p].options) {
            ERGO_ENGINE_FAIL(e, ERGO_E_MEMORY, "no memory for build options");
            return;
        }
        e->programs[p].path = path;
    }
    e->kernels[kernel] = (struct ergo_engine_kernel){.name = name, .program = p};
}

void *ergo_engine_memory(struct ergo_engine *e, size_t count, size_t size) {
    size_t i = 0;
    while (i < ERGO_MEMORIES && e->memories[i])
        i++;
    if (i < ERGO_MEMORIES)
        e->memories[i] = calloc(count + !count, size);
    if (i < ERGO_MEMORIES && e->memories[i])
        return e->memories[i];
    ERGO_ENGINE_FAIL(e, ERGO_E_MEMORY, "no memory for %zu members of a batch of %s",
                     e->batch->count, e->model->sampler);
    return NULL;
}

void *ergo_engine_table(struct ergo_engine *e, unsigned row, const char *what, size_t count,
                        size_t size) {
    void *table = ergo_engine_memory(e, count, size);
    ergo_engine_buffer(e, row, what, ERGO_BUFFER_CONSTANT, (uint64_t)count * size);
    if (row < ERGO_BUFFERS)
        e->buffers[row].table = table;
    return table;
}

void ergo_engine_groups(struct ergo_engine *e, uint32_t gpu, uint32_t cpu) {
    const int64_t wish = e->batch->points[0]->parameters->work_group;
    e->group = wish ? (uint32_t)wish : e->device->type != CL_DEVICE_TYPE_CPU ? gpu : cpu;
    while (e->group > e->device->summary.largest_group)
        e->group /= 2;
}

void ergo_engine_rates(struct ergo_engine *e, double work, double launches, double gpu,
                       double cpu) {
    const bool is_gpu = e->device->type != CL_DEVICE_TYPE_CPU;
    const unsigned units = e->device->summary.compute_units;
    const double rate = is_gpu ? gpu : cpu * (units ? units : 1);
    e->plan.work_per_step = work;
    e->plan.launches_per_step = launches;
    e->plan.block_steps = fmax(1, floor(0.1 / (work / rate + launches * (is_gpu ? 5e-6 : 1e-5))));
}
