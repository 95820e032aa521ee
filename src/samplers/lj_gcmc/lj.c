/* Programs, buffers, and sums from scratch. */
#include "samplers/lj_gcmc/lj.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/program.h"

_Static_assert(sizeof(struct lj_member) == LJ_MEMBER_BYTES, "lj_member has no padding");
_Static_assert(sizeof(struct lj_chain) == LJ_CHAIN_BYTES, "lj_chain has no padding");
_Static_assert(sizeof(struct lj_sample) == LJ_SAMPLE_BYTES, "lj_sample has no padding");

static void slot_release(struct lj_slot *slot) {
    if (slot->ready)
        clReleaseEvent(slot->ready);
    ergo_buffer_release(&slot->samples);
    ergo_buffer_release(&slot->counts);
    free(slot->host_samples);
    free(slot->host_counts);
    free(slot->host_chains);
}

void lj_destroy(void *opaque) {
    struct lj_state *s = opaque;
    if (!s)
        return;
    if (s->device)
        (void)ergo_queue_finish(s->device,
                                s->device->queue); /* reads into our slots may be under way */
    const cl_kernel kernels[] = {s->run,   s->trial,    s->decide,    s->total,
                                 s->pairs, s->activate, s->board_end, s->list};
    for (size_t i = 0; i < sizeof kernels / sizeof kernels[0]; i++)
        if (kernels[i])
            clReleaseKernel(kernels[i]);
    const cl_program programs[] = {s->run_program, s->step_program, s->total_program,
                                   s->board_program, s->end_program};
    for (size_t i = 0; i < sizeof programs / sizeof programs[0]; i++)
        if (programs[i])
            clReleaseProgram(programs[i]);
    cl_mem *const buffers[] = {&s->member_buffer, &s->chain_buffer, &s->particles,   &s->cells,
                               &s->offsets,       &s->parts,        &s->total_parts, &s->edges,
                               &s->bounds,        &s->board_parts,  &s->full,        &s->own};
    for (size_t i = 0; i < sizeof buffers / sizeof buffers[0]; i++)
        ergo_buffer_release(buffers[i]);
    slot_release(&s->blocks[0]);
    slot_release(&s->blocks[1]);
    free(s->grid.offsets);
    free(s->members);
    free(s->bin_edges);
    free(s->jumps);
    free(s->chains);
    free(s);
}

/* The cells that the bins of g(r) reach to. */
static void append_reach(struct ergo_text *o, const struct lj_state *s) {
    static const char axes[] = "XYZ";
    double box[3];
    for (int k = 0; k < 3; k++)
        box[k] = s->system.box[k] / s->system.sigma;
    const struct lj_reach r =
        lj_grid_reach(&s->grid, box, lj_bin_width(s) / s->system.sigma * s->launch.bins);
    for (int k = 0; k < 3; k++)
        ergo_text_append(o, " -DLJ_LOW_%c=%d -DLJ_HIGH_%c=%d -DLJ_RING_%c=%d", axes[k], r.low[k],
                         axes[k], r.high[k], axes[k], r.ring[k]);
}

static enum ergo_status build_programs(struct ergo_context *ctx, struct lj_state *s) {
    const struct lj_grid *g = &s->grid;
    struct ergo_text o = {0};
    ergo_text_append(&o, "-DLJ_GROUP=%u -DLJ_TEAMS=%u -DLJ_TOTAL_GROUP=%u -DLJ_BINS=%uu",
                     s->launch.group, s->launch.teams, s->launch.total_group,
                     s->launch.bins ? s->launch.bins : 1);
    if (s->system.neighbours != LJ_NONE)
        ergo_text_append(&o,
                         " -DLJ_CELLS=1 -DLJ_NX=%u -DLJ_NY=%u -DLJ_NZ=%u -DLJ_OFFSETS=%uu "
                         "-DLJ_NEAR=%uu -DLJ_LANES=%u -DLJ_CULL=%d -DLJ_PARTS=%uu",
                         g->n[0], g->n[1], g->n[2], g->n_offsets, g->near, s->launch.lanes, g->cull,
                         g->parts);
    if (s->launch.slotted)
        ergo_text_append(&o, " -DLJ_SLOTTED=1");
    if (s->launch.own)
        ergo_text_append(&o, " -DLJ_OWN=1");
    if (s->system.neighbours == LJ_NONE)
        ergo_text_append(&o, " -DLJ_CELLS=0");
    else
        append_reach(&o, s);
    if (o.failed)
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for build options");
    enum ergo_status status =
        ergo_program_build(ctx, s->device, "lj_gcmc/total.cl", o.data, &s->total_program);
    if (status == ERGO_OK)
        status = ergo_kernel_create(ctx, s->device, s->total_program, "lj_total", &s->total);
    if (status == ERGO_OK)
        status = ergo_kernel_create(ctx, s->device, s->total_program, "lj_pairs", &s->pairs);
    if (status == ERGO_OK && s->launch.board_blocks) {
        ergo_text_append(&o, " -DLJ_BLOCKS=%lluu -DLJ_TRIALS=%uu -DLJ_END_GROUP=%u",
                         (unsigned long long)s->launch.board_blocks, s->system.trials,
                         s->launch.end_group);
        status =
            ergo_program_build(ctx, s->device, "lj_gcmc/board_end.cl", o.data, &s->end_program);
        if (status == ERGO_OK)
            status =
                ergo_kernel_create(ctx, s->device, s->end_program, "lj_board_end", &s->board_end);
        if (status == ERGO_OK)
            status = ergo_kernel_create(ctx, s->device, s->end_program, "lj_board_list", &s->list);
    } else if (status == ERGO_OK && s->launch.per_move) {
        status = ergo_program_build(ctx, s->device, "lj_gcmc/step.cl", o.data, &s->step_program);
        if (status == ERGO_OK)
            status = ergo_kernel_create(ctx, s->device, s->step_program, "lj_trial", &s->trial);
        if (status == ERGO_OK)
            status = ergo_kernel_create(ctx, s->device, s->step_program, "lj_decide", &s->decide);
    } else if (status == ERGO_OK) {
        /* room in local memory: 16 bytes a work-item otherwise */
        const uint32_t queue = s->launch.group <= 256 ? 8 : s->launch.group <= 512 ? 4 : 0;
        if (s->launch.group >= 32 && queue)
            ergo_text_append(&o, " -DLJ_QUEUE=%uu", queue);
        status = ergo_program_build(ctx, s->device, "lj_gcmc/run.cl", o.data, &s->run_program);
        if (status == ERGO_OK)
            status = ergo_kernel_create(ctx, s->device, s->run_program, "lj_run", &s->run);
    }
    ergo_text_free(&o);
    return status;
}

static enum ergo_status create_slot(struct ergo_context *ctx, struct lj_state *s,
                                    struct lj_slot *slot) {
    const size_t members = s->batch->count;
    const size_t samples = s->launch.block_samples * members * sizeof(struct lj_sample);
    const size_t counts =
        (size_t)s->launch.curve_capacity * members * s->launch.total_parts * s->launch.bins * 4;
    slot->host_samples = malloc(samples);
    slot->host_counts = malloc(counts ? counts : 1);
    slot->host_chains = malloc(members * sizeof(struct lj_chain));
    if (!slot->host_samples || !slot->host_counts || !slot->host_chains)
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for a block of samples");
    enum ergo_status status =
        ergo_buffer_create(ctx, s->device, "samples", samples, NULL, &slot->samples);
    if (status == ERGO_OK && counts)
        status = ergo_buffer_create(ctx, s->device, "pair counts", counts, NULL, &slot->counts);
    return status;
}

/* Offsets of neighbours, as the kernels read them. */
static enum ergo_status create_offsets(struct ergo_context *ctx, struct lj_state *s) {
    const double sigma = s->system.sigma, cutoff = s->system.cutoff / sigma;
    const double box[3] = {s->system.box[0] / sigma, s->system.box[1] / sigma,
                           s->system.box[2] / sigma};
    if (s->launch.slotted)
        return ergo_constant_create(ctx, s->device, &s->constants, "offsets of cells",
                                    4 * (size_t)s->grid.n_offsets, s->grid.offsets, &s->offsets);
    size_t count = 0;
    double core2 = 0;
    for (size_t m = 0; m < s->batch->count; m++)
        core2 = fmax(core2, (double)s->members[m].core2);
    uint32_t *lists = lj_grid_lists(&s->grid, box, cutoff, sqrt(core2), &count);
    if (!lists)
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for lists of cells");
    const enum ergo_status status = ergo_constant_create(
        ctx, s->device, &s->constants, "lists of cells", 16 * count, lists, &s->offsets);
    free(lists);
    return status;
}

static enum ergo_status create_buffers(struct ergo_context *ctx, struct lj_state *s) {
    const size_t members = s->batch->count;
    const bool cells = s->system.neighbours != LJ_NONE;
    const size_t plane = cells ? s->grid.cells * members : 1;
    const struct {
        const char *what;
        size_t bytes;
        const void *data;
        cl_mem *mem;
    } list[] = {
        {"chains", members * sizeof *s->chains, s->chains, &s->chain_buffer},
        {"particles", 16 * members * s->capacity, NULL, &s->particles},
        {"cells", 16 * plane * s->slots, NULL, &s->cells},
        {"pair energies", s->launch.own ? 8 * plane * s->slots : 8, NULL, &s->own},
        {"sums", 32 * members * s->launch.blocks, NULL, &s->parts},
        {"totals", 8 * LJ_TOTALS * members * s->launch.total_parts, NULL, &s->total_parts},
    };
    enum ergo_status status = lj_pairs_create(ctx, s);
    if (status == ERGO_OK)
        status = ergo_constant_create(ctx, s->device, &s->constants, "parameters of the chains",
                                      members * sizeof *s->members, s->members, &s->member_buffer);
    for (size_t i = 0; i < sizeof list / sizeof list[0] && status == ERGO_OK; i++)
        status = ergo_buffer_create(ctx, s->device, list[i].what, list[i].bytes, list[i].data,
                                    list[i].mem);
    for (int i = 0; i < 2 && status == ERGO_OK; i++)
        status = create_slot(ctx, s, &s->blocks[i]);
    return status;
}

enum ergo_status lj_create(struct ergo_context *ctx, const struct ergo_batch *batch,
                           struct ergo_device *device, void **state) {
    struct ergo_plan plan;
    struct lj_state *s = calloc(1, sizeof *s);
    *state = NULL;
    if (!s)
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for the lj-gcmc state");
    s->batch = batch;
    s->device = device;
    s->system = lj_system_on(batch->points[0], device);
    enum ergo_status status = lj_launch_plan(ctx, batch, device, &s->grid, &s->launch, &plan);
    s->slots = s->launch.slots;
    s->capacity = s->launch.capacity;
    s->tile = s->launch.tile;
    s->pairs_end = UINT32_MAX;
    if (status == ERGO_OK) {
        s->members = calloc(batch->count, sizeof *s->members);
        s->chains = calloc(batch->count, sizeof *s->chains);
        s->jumps = calloc(batch->count, sizeof *s->jumps);
        if (!s->members || !s->chains || !s->jumps)
            status = ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for %zu chains", batch->count);
    }
    for (size_t i = 0; i < batch->count && status == ERGO_OK; i++) {
        const struct lj_system system = lj_system_of(batch->points[i]);
        lj_member_fill(batch->points[i], &s->members[i]);
        s->jumps[i] = lj_jump_of(&system);
    }
    if (status == ERGO_OK)
        status = create_offsets(ctx, s);
    if (status == ERGO_OK)
        status = build_programs(ctx, s);
    if (status == ERGO_OK)
        status = create_buffers(ctx, s);
    if (status == ERGO_OK && s->launch.board_blocks)
        status = lj_board_create(ctx, s);
    if (status != ERGO_OK) {
        lj_destroy(s);
        return status;
    }
    *state = s;
    return ERGO_OK;
}

enum ergo_status lj_total_shares(struct ergo_context *ctx, struct lj_state *s, bool keep,
                                 int64_t *shares) {
    const size_t members = s->batch->count, parts = s->launch.total_parts;
    const size_t global[2] = {parts * s->launch.total_group, members};
    const size_t local[2] = {s->launch.total_group, 1};
    const cl_uint capacity = s->capacity, slots = s->slots, kept = keep;
    const struct ergo_arg args[] = {ERGO_ARG(s->member_buffer), ERGO_ARG(s->chain_buffer),
                                    ERGO_ARG(s->particles),     ERGO_ARG(s->cells),
                                    ERGO_ARG(s->offsets),       ERGO_ARG(s->total_parts),
                                    ERGO_ARG(capacity),         ERGO_ARG(slots),
                                    ERGO_ARG(s->own),           ERGO_ARG(kept)};
    const size_t bytes = 8 * LJ_TOTALS * members * parts;
    /* nothing that an earlier launch left may look like an answer */
    memset(shares, 0xff, bytes);
    enum ergo_status status = ergo_buffer_write(ctx, s->device, s->total_parts, 0, bytes, shares);
    if (status == ERGO_OK)
        status = ergo_kernel_launch(ctx, s->device, s->total, "lj_total", args, 10, 2, global,
                                    local, NULL);
    return status == ERGO_OK ? ergo_buffer_read(ctx, s->device, s->total_parts, 0, bytes, shares)
                             : status;
}

struct lj_totals lj_totals_of(const struct lj_state *s, size_t member, const int64_t *shares) {
    struct lj_totals t = {0};
    for (size_t p = 0; p < s->launch.total_parts; p++) {
        const int64_t *of = shares + LJ_TOTALS * (member * s->launch.total_parts + p);
        t.energy += of[0];
        t.virial += of[1];
        t.contacts += of[2];
        t.overlaps += (uint64_t)of[3];
        t.others += (uint64_t)of[4];
    }
    t.energy /= 2; /* every pair was counted from both its ends */
    t.virial /= 2;
    t.contacts /= 2;
    return t;
}

enum ergo_status lj_total_sums(struct ergo_context *ctx, struct lj_state *s, bool keep,
                               struct lj_totals *totals) {
    const size_t members = s->batch->count;
    int64_t *shares = malloc(8 * LJ_TOTALS * members * s->launch.total_parts);
    const enum ergo_status status =
        shares ? lj_total_shares(ctx, s, keep, shares)
               : ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for the energies");
    for (size_t m = 0; m < members && status == ERGO_OK; m++)
        totals[m] = lj_totals_of(s, m, shares);
    free(shares);
    if (keep && status == ERGO_OK)
        s->moved_in = false;
    return status;
}

enum ergo_status lj_keep(struct ergo_context *ctx, struct lj_state *s) {
    const size_t members = s->batch->count, bytes = members * sizeof *s->chains;
    struct lj_totals *totals = calloc(members, sizeof *totals);
    enum ergo_status status = totals ? lj_total_sums(ctx, s, true, totals)
                                     : ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for the energies");
    if (status == ERGO_OK)
        status = ergo_buffer_read(ctx, s->device, s->chain_buffer, 0, bytes, s->chains);
    for (size_t m = 0; m < members && status == ERGO_OK; m++)
        s->chains[m].contacts = totals[m].contacts;
    if (status == ERGO_OK)
        status = ergo_buffer_write(ctx, s->device, s->chain_buffer, 0, bytes, s->chains);
    free(totals);
    return status;
}
