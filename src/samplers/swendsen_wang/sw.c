/* Swendsen-Wang on a device: build, allocate, start. */
#include "samplers/swendsen_wang/sw.h"

#include <stdlib.h>
#include <string.h>

#include "base/portable.h"
#include "device/program.h"

_Static_assert(sizeof(struct sw_member) == SW_MEMBER_BYTES, "sw_member has explicit padding only");

bool sw_is_ising(const struct ergo_point *point) {
    return strcmp(ergo_point_text(point, "/system/hamiltonian"), "ising") == 0;
}

void sw_member_fill(const struct ergo_point *point, struct sw_member *member) {
    const double t = ergo_point_real(point, "/system/temperature");
    const double j = ergo_point_real(point, "/system/coupling");
    /* -J s s is -2 J (delta - 1) and a constant */
    const double p = 1.0 - ergo_portable_exp(-(sw_is_ising(point) ? 2.0 : 1.0) * j / t);
    const double scaled = p * 0x1p40 + 0.5;
    memset(member, 0, sizeof *member);
    member->key0 = (uint32_t)point->stream;
    member->key1 = (uint32_t)(point->stream >> 32);
    if (scaled >= 0x1p40) {
        member->always = 1;
        return;
    }
    const uint64_t threshold = (uint64_t)scaled;
    member->high = (uint32_t)(threshold >> 32);
    member->low = (uint32_t)threshold;
}

void *sw_pin(struct ergo_device *device, size_t bytes, cl_mem *pinned) {
    cl_int code = CL_SUCCESS;
    void *host = NULL;
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

void sw_unpin(struct ergo_device *device, cl_mem *pinned, void **host) {
    if (*pinned && *host) {
        clEnqueueUnmapMemObject(device->queue, *pinned, *host, 0, NULL, NULL);
        (void)ergo_queue_finish(device, device->queue);
    } else {
        free(*host);
    }
    ergo_buffer_release(pinned);
    *host = NULL;
}

static void slot_release(struct ergo_device *device, struct sw_slot *slot) {
    if (slot->ready)
        clReleaseEvent(slot->ready);
    for (int r = 0; r < SW_RESULTS; r++) {
        ergo_buffer_release(&slot->results[r]);
        sw_unpin(device, &slot->pinned[r], &slot->host[r]);
    }
}

void sw_destroy(void *opaque) {
    struct sw_state *s = opaque;
    if (!s)
        return;
    if (s->device)
        (void)ergo_queue_finish(s->device,
                                s->device->queue); /* reads into our slots may be under way */
    for (int k = 0; k < SW_KERNELS; k++)
        if (s->kernels[k])
            clReleaseKernel(s->kernels[k]);
    for (int p = 0; p < 4; p++)
        if (s->programs[p])
            clReleaseProgram(s->programs[p]);
    cl_mem *const buffers[] = {&s->spins, &s->right,         &s->down,   &s->runs,  &s->roots,
                               &s->open,  &s->labels,        &s->sizes,  &s->seams, &s->firsts,
                               &s->nodes, &s->member_buffer, &s->changed};
    for (size_t b = 0; b < sizeof buffers / sizeof buffers[0]; b++)
        ergo_buffer_release(buffers[b]);
    slot_release(s->device, &s->slots[0]);
    slot_release(s->device, &s->slots[1]);
    free(s->members);
    free(s);
}

static const struct {
    const char *path;
    enum sw_kernel first, end;
    const char *names[8];
} programs[4] = {
    {"swendsen_wang/measure.cl",
     SW_START,
     SW_LABEL,
     {"sw_start", "sw_clear", "sw_seams", "sw_seams_of", "sw_wraps", "sw_measure", "sw_names"}},
    {"swendsen_wang/sweep.cl",
     SW_LABEL,
     SW_EQ_BONDS,
     {"sw_label", "sw_label_spins", "sw_label_sizes", "sw_join_tiles", "sw_flip", "sw_flip_sizes",
      "sw_count_roots"}},
    {"swendsen_wang/equivalence.cl",
     SW_EQ_BONDS,
     SW_LOCAL,
     {"sw_equivalence_bonds", "sw_equivalence_start", "sw_equivalence_scan",
      "sw_equivalence_analyse", "sw_equivalence_sizes", "sw_equivalence_clear",
      "sw_equivalence_sums", "sw_equivalence_flip"}},
    {"swendsen_wang/local.cl", SW_LOCAL, SW_KERNELS, {"sw_local", "sw_local_sizes"}},
};

static enum ergo_status build_programs(struct ergo_context *ctx, struct sw_state *s) {
    const struct sw_shape *shape = &s->shape;
    struct ergo_text o = {0};
    enum ergo_status status = ERGO_OK;
    ergo_text_append(&o,
                     "-DSW_Q=%uu -DSW_PLANES=%uu -DSW_WORDS=%uu -DSW_LY=%lldu -DSW_TAIL=%uu "
                     "-DSW_ROW0=0u -DSW_WORD0=0u -DSW_ALL_WORDS=%uu -DSW_ALL_LX=%lldu "
                     "-DSW_TILE_WORDS=%uu -DSW_TILE_ROWS=%uu -DSW_TILE_ITEMS=%uu -DSW_GROUP=%uu "
                     "-DSW_SUM_SLOTS=%uu -DSW_LABEL_BITS=%uu%s %s",
                     shape->q, shape->planes, shape->row_words, (long long)shape->ly, shape->tail,
                     shape->row_words, (long long)shape->lx, s->launch.tile_words,
                     s->launch.tile_rows, s->launch.tile_words * s->launch.tile_rows,
                     s->launch.tile_group, s->launch.sum_slots, s->launch.label_bits,
                     s->launch.equivalence ? " -DSW_EQUIVALENCE"
                     : s->launch.local     ? ""
                                           : " -DSW_OPEN_SUMS",
                     s->device->quirks.relaxed_atomics);
    if (o.failed)
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for build options");
    const bool tiles = !s->launch.equivalence && !s->launch.local;
    const bool wanted[4] = {true, tiles, s->launch.equivalence, s->launch.local};
    for (int p = 0; p < 4 && status == ERGO_OK; p++) {
        if (!wanted[p])
            continue;
        status = ergo_program_build(ctx, s->device, programs[p].path, o.data, &s->programs[p]);
        for (int k = (int)programs[p].first; k < (int)programs[p].end && status == ERGO_OK; k++)
            status =
                ergo_kernel_create(ctx, s->device, s->programs[p],
                                   programs[p].names[k - (int)programs[p].first], &s->kernels[k]);
    }
    ergo_text_free(&o);
    return status;
}

static enum ergo_status allocate(struct ergo_context *ctx, struct sw_state *s) {
    const size_t count = s->batch->count, words = (size_t)s->shape.words;
    const size_t entries = s->launch.seam_entries;
    const bool tiles = !s->launch.equivalence && !s->launch.local, global = !s->launch.local;
    const bool seams = s->launch.label_bits == 0;
    const struct {
        const char *what;
        size_t bytes;
        cl_mem *mem;
    } buffers[] = {
        {"spins", (size_t)s->shape.member_bytes * count, &s->spins},
        {"bonds to the right", global ? 4 * words * count : 4, &s->right},
        {"bonds down", global ? 4 * words * count : 4, &s->down},
        {"runs' labels", tiles ? (size_t)s->launch.run_bytes * count : 4, &s->runs},
        {"clusters' parts", tiles ? 4 * words * count : 4, &s->roots},
        {"open parts", tiles ? 4 * words * count : 4, &s->open},
        {"labels", global ? 128 * words * count : 4, &s->labels},
        {"cluster sizes", global ? 128 * words * count : 4, &s->sizes},
        {"bonds around the lattice", seams ? 8 * entries * count : 4, &s->seams},
        {"labels at bonds around the lattice", seams ? 128 * words * count : 4, &s->firsts},
        {"clusters around the lattice", seams ? 8 * entries * count : 4, &s->nodes},
        {"changes", 4, &s->changed},
    };
    enum ergo_status status =
        ergo_constant_create(ctx, s->device, &s->constants, "parameters",
                             count * sizeof *s->members, s->members, &s->member_buffer);
    for (size_t b = 0; b < sizeof buffers / sizeof buffers[0] && status == ERGO_OK; b++)
        status = ergo_buffer_create(ctx, s->device, buffers[b].what, buffers[b].bytes, NULL,
                                    buffers[b].mem);
    size_t bytes[SW_RESULTS];
    sw_result_bytes(s, s->launch.block_samples, true, bytes);
    for (int i = 0; i < 2; i++)
        for (int r = 0; r < SW_RESULTS && status == ERGO_OK; r++) {
            struct sw_slot *slot = &s->slots[i];
            status =
                ergo_buffer_create(ctx, s->device, "samples", bytes[r], NULL, &slot->results[r]);
            if (status == ERGO_OK)
                slot->host[r] = sw_pin(s->device, bytes[r], &slot->pinned[r]);
            if (status == ERGO_OK && !slot->host[r])
                status = ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for a block of samples");
        }
    return status;
}

enum ergo_status sw_create(struct ergo_context *ctx, const struct ergo_batch *batch,
                           struct ergo_device *device, void **state) {
    struct ergo_plan plan;
    struct sw_state *s = calloc(1, sizeof *s);
    *state = NULL;
    if (!s)
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for the swendsen-wang state");
    s->batch = batch;
    s->device = device;
    s->shape = sw_shape_of(batch->points[0]);
    s->clusters = sw_wants_clusters(batch->points[0]);
    s->members = calloc(batch->count, sizeof *s->members);
    enum ergo_status status =
        s->members ? sw_launch_plan(ctx, batch, device, &s->launch, &plan)
                   : ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for %zu members", batch->count);
    for (size_t i = 0; i < batch->count && status == ERGO_OK; i++)
        sw_member_fill(batch->points[i], &s->members[i]);
    if (status == ERGO_OK)
        status = build_programs(ctx, s);
    if (status == ERGO_OK)
        status = allocate(ctx, s);
    if (status != ERGO_OK) {
        sw_destroy(s);
        return status;
    }
    *state = s;
    return ERGO_OK;
}

enum ergo_status sw_init(struct ergo_context *ctx, void *opaque) {
    struct sw_state *s = opaque;
    const cl_uint mode =
        strcmp(ergo_point_text(s->batch->points[0], "/system/start"), "random") == 0;
    const size_t local[2] = {s->launch.group, 1};
    const size_t global[2] = {ergo_round_up(s->shape.words, local[0]), s->batch->count};
    const struct ergo_arg args[] = {ERGO_ARG(s->spins), ERGO_ARG(s->member_buffer), ERGO_ARG(mode)};
    s->step = 0;
    s->started = true;
    enum ergo_status status = ergo_kernel_launch(ctx, s->device, s->kernels[SW_START], "sw_start",
                                                 args, 3, 2, global, local, NULL);
    return status == ERGO_OK ? ergo_device_finish(ctx, s->device) : status;
}
