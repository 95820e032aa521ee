/*
 * Blocks of samples: enqueue, wait, and go back for chains that had to stop for more room.
 *
 * Launches say where to go (a step), not how far: enqueueing a block again moves only the chains
 * that did not get there, through the same moves and samples as if they had never stopped.
 */
#include <stdlib.h>
#include <string.h>

#include "samplers/lj_gcmc/lj.h"

static enum ergo_status launch_run(struct ergo_context *ctx, struct lj_state *s,
                                   const struct lj_slot *slot, uint64_t to) {
    const cl_ulong start = slot->start, target = to, every = slot->every ? slot->every : 1;
    const cl_uint count = (cl_uint)slot->count;
    const cl_uint capacity = s->capacity, slots = s->slots;
    if (s->launch.board_blocks)
        return lj_board_launch(ctx, s, slot, to);
    const size_t global[2] = {s->batch->count * s->launch.group, 1},
                 local[2] = {s->launch.group, 1};
    const struct ergo_arg args[] = {ERGO_ARG(s->member_buffer),
                                    ERGO_ARG(s->chain_buffer),
                                    ERGO_ARG(s->particles),
                                    ERGO_ARG(s->cells),
                                    ERGO_ARG(s->offsets),
                                    ERGO_ARG(slot->samples),
                                    ERGO_ARG(start),
                                    ERGO_ARG(target),
                                    ERGO_ARG(every),
                                    ERGO_ARG(count),
                                    ERGO_ARG(capacity),
                                    ERGO_ARG(slots),
                                    ERGO_ARG(s->energies)};
    return ergo_kernel_launch(ctx, s->device, s->run, "lj_run", args, 13, 1, global, local, NULL);
}

/* From step `from` (of the chain that is furthest behind) to step `to`. */
static enum ergo_status launch_to(struct ergo_context *ctx, struct lj_state *s,
                                  const struct lj_slot *slot, uint64_t from, uint64_t to) {
    enum ergo_status status = ERGO_OK;
    const uint64_t most = lj_launch_steps(s->device, &s->grid, &s->launch, s->slots);
    enum ergo_status kept = s->stale ? lj_refresh_energies(ctx, s) : ERGO_OK;
    if (kept != ERGO_OK)
        return kept;
    if (most == 0)
        return ERGO_FAIL(ctx, ERGO_E_DEVICE,
                         "%s ends a kernel's loops too early for a chain that has become this "
                         "dense: use another device",
                         s->device->summary.name);
    while (from < to && status == ERGO_OK) {
        const uint64_t rest = to - from;
        from += rest < most ? rest : most;
        status = launch_run(ctx, s, slot, from);
    }
    return status;
}

/* Pair distances of the chains that stand at `step`; the others' counts stay as they are. */
static enum ergo_status launch_pairs(struct ergo_context *ctx, struct lj_state *s,
                                     const struct lj_slot *slot, size_t curve, uint64_t step) {
    if (s->launch.bins == 0)
        return ERGO_OK;
    enum ergo_status status = s->launch.board_blocks ? lj_board_list(ctx, s) : ERGO_OK;
    const uint32_t last = s->pairs_end < s->capacity ? s->pairs_end : s->capacity;
    for (uint32_t begin = 0; begin < last && status == ERGO_OK;) {
        const uint32_t rest = last - begin;
        const uint32_t most = s->pairs_each ? s->pairs_each : lj_pairs_at_once(s);
        const uint32_t end = begin + (rest < most ? rest : most);
        status = lj_pairs_launch(ctx, s, slot->counts, curve, step, begin, end);
        begin = end;
    }
    return status;
}

static uint64_t curve_interval(const struct lj_state *s) {
    return (uint64_t)ergo_point_int(s->batch->points[0], "/run/curve_every");
}

/* All launches of a block, for chains that stand at `from` or later. */
static enum ergo_status launch_block(struct ergo_context *ctx, struct lj_state *s,
                                     struct lj_slot *slot, uint64_t from) {
    const uint64_t interval = curve_interval(s);
    enum ergo_status status = ERGO_OK;
    slot->curves = 0;
    for (size_t i = 0; interval && i < slot->count && status == ERGO_OK; i++) {
        if ((slot->first_sample + i) % interval)
            continue;
        const uint64_t at = slot->start + (i + 1) * slot->every;
        status = launch_to(ctx, s, slot, from, at);
        if (status == ERGO_OK)
            status = launch_pairs(ctx, s, slot, slot->curves++, at);
        from = at > from ? at : from;
    }
    return status == ERGO_OK
               ? launch_to(ctx, s, slot, from, slot->start + slot->count * slot->every)
               : status;
}

static size_t sample_bytes(const struct lj_state *s, const struct lj_slot *slot) {
    return slot->count * s->batch->count * sizeof(struct lj_sample);
}

static size_t count_bytes(const struct lj_state *s, const struct lj_slot *slot) {
    return slot->curves * s->batch->count * s->launch.total_parts * s->launch.bins * 4;
}

static enum ergo_status read_back(struct ergo_context *ctx, struct lj_state *s,
                                  struct lj_slot *slot) {
    const size_t chains = s->batch->count * sizeof(struct lj_chain);
    enum ergo_status status = ergo_buffer_read_later(
        ctx, s->device, slot->samples, 0, sample_bytes(s, slot), slot->host_samples, NULL);
    if (status == ERGO_OK && count_bytes(s, slot))
        status = ergo_buffer_read_later(ctx, s->device, slot->counts, 0, count_bytes(s, slot),
                                        slot->host_counts, NULL);
    if (status == ERGO_OK)
        status = ergo_buffer_read_later(ctx, s->device, s->chain_buffer, 0, chains,
                                        slot->host_chains, &slot->ready);
    clFlush(s->device->queue);
    return status;
}

enum ergo_status lj_advance(struct ergo_context *ctx, void *opaque, unsigned which, size_t count,
                            uint64_t every, uint64_t first_sample) {
    struct lj_state *s = opaque;
    if (count == 0) {
        const struct lj_slot none = {.samples = s->blocks[0].samples, .every = every};
        const uint64_t from = s->step;
        s->step += every;
        const enum ergo_status status = launch_to(ctx, s, &none, from, s->step);
        clFlush(s->device->queue);
        return status;
    }
    struct lj_slot *slot = &s->blocks[which];
    slot->busy = true;
    slot->start = s->step;
    slot->every = every;
    slot->count = count;
    slot->first_sample = first_sample;
    s->step += count * every;
    enum ergo_status status = launch_block(ctx, s, slot, slot->start);
    return status == ERGO_OK ? read_back(ctx, s, slot) : status;
}

/* ---- chains that stopped --------------------------------------------------------------------- */

static bool all_running(const struct lj_state *s, const struct lj_chain *chains) {
    for (size_t m = 0; m < s->batch->count; m++)
        if (chains[m].status != LJ_RUNNING)
            return false;
    return true;
}

static uint64_t furthest_behind(const struct lj_state *s) {
    uint64_t step = UINT64_MAX;
    for (size_t m = 0; m < s->batch->count; m++)
        step = s->chains[m].step < step ? s->chains[m].step : step;
    return step;
}

static enum ergo_status read_chains(struct ergo_context *ctx, struct lj_state *s) {
    return ergo_buffer_read(ctx, s->device, s->chain_buffer, 0, s->batch->count * sizeof *s->chains,
                            s->chains);
}

/* Enqueue the blocks again, the older one first, until no chain needs more room. */
static enum ergo_status catch_up(struct ergo_context *ctx, struct lj_state *s) {
    enum ergo_status status = read_chains(ctx, s);
    while (status == ERGO_OK && !all_running(s, s->chains)) {
        status = lj_make_room(ctx, s);
        const uint64_t from = furthest_behind(s);
        struct lj_slot *order[2] = {&s->blocks[0], &s->blocks[1]};
        if (order[1]->busy && (!order[0]->busy || order[1]->start < order[0]->start)) {
            order[0] = &s->blocks[1];
            order[1] = &s->blocks[0];
        }
        uint64_t to = from;
        for (int i = 0; i < 2 && status == ERGO_OK; i++) {
            if (!order[i]->busy)
                continue;
            status = launch_block(ctx, s, order[i], from);
            to = order[i]->start + order[i]->count * order[i]->every;
        }
        const struct lj_slot none = {.samples = s->blocks[0].samples, .every = 1};
        if (status == ERGO_OK)
            status = launch_to(ctx, s, &none, to, s->step);
        if (status == ERGO_OK)
            status = read_chains(ctx, s);
    }
    return status;
}

enum ergo_status lj_settle(struct ergo_context *ctx, struct lj_state *s) {
    const enum ergo_status status = catch_up(ctx, s);
    return status == ERGO_OK && s->launch.board_blocks ? lj_board_list(ctx, s) : status;
}

/* ---- collect --------------------------------------------------------------------------------- */

static void add_counts(const struct lj_counts *c, uint64_t moves, double *to) {
    const uint32_t displacements = c->tried & 0xffff, insertions = c->tried >> 16;
    to[LJ_COLUMN_TRIED] += displacements;
    to[LJ_COLUMN_TRIED + 1] += insertions;
    to[LJ_COLUMN_TRIED + 2] += (double)(moves - displacements - insertions);
    to[LJ_COLUMN_ACCEPTED] += c->accepted & 0xffff;
    to[LJ_COLUMN_ACCEPTED + 1] += c->accepted >> 16;
    to[LJ_COLUMN_ACCEPTED + 2] += c->accepted_deletion;
}

/* Of the last activation of a checkerboard. */
static void add_activation(const struct lj_sample *from, double *to) {
    const uint32_t counts[6] = {
        from->now.tried,  from->now.accepted,  from->now.accepted_deletion,
        from->last.tried, from->last.accepted, from->last.accepted_deletion};
    for (int k = 0; k < 6; k++)
        to[LJ_COLUMN_TRIED + k] = counts[k];
}

void lj_columns_of(const struct lj_state *s, const struct lj_system *system,
                   const struct lj_jump *jump, const struct lj_sample *from, uint64_t step,
                   double *to) {
    to[LJ_COLUMN_PARTICLES] = from->particles;
    to[LJ_COLUMN_ENERGY] =
        lj_energy_of(system->epsilon, from->energy) + lj_tail_energy(system, from->particles);
    to[LJ_COLUMN_VIRIAL] = lj_virial_of(system->epsilon, from->virial);
    to[LJ_COLUMN_IMPULSIVE] = lj_impulsive_of(jump, from->contacts);
    for (int k = 0; k < 6; k++)
        to[LJ_COLUMN_TRIED + k] = 0;
    if (s->launch.board_blocks) {
        add_activation(from, to);
        return;
    }
    add_counts(&from->now, step % LJ_WINDOW, to);
    if (step >= LJ_WINDOW)
        add_counts(&from->last, LJ_WINDOW, to);
}

static void convert_samples(const struct lj_state *s, const struct lj_slot *slot, double *columns) {
    const size_t members = s->batch->count;
    for (size_t m = 0; m < members; m++) {
        const struct lj_system system = lj_system_of(s->batch->points[m]);
        for (size_t i = m; i < slot->count * members; i += members)
            lj_columns_of(s, &system, &s->jumps[m], &slot->host_samples[i],
                          slot->start + (i / members + 1) * slot->every, columns + i * LJ_COLUMNS);
    }
}

static bool convert_curves(const struct lj_state *s, const struct lj_slot *slot,
                           struct ergo_samples *samples) {
    const size_t members = s->batch->count, bins = s->launch.bins, parts = s->launch.total_parts;
    const uint64_t interval = curve_interval(s);
    size_t i = (size_t)((interval - slot->first_sample % interval) % interval);
    uint64_t *pairs = malloc((bins + 1) * sizeof *pairs);
    for (size_t curve = 0; pairs && curve < slot->curves; curve++, i += (size_t)interval) {
        for (size_t m = 0; m < members; m++) {
            const size_t row = curve * members + m;
            memset(pairs, 0, bins * sizeof *pairs);
            for (size_t p = 0; p < parts; p++)
                for (size_t k = 0; k < bins; k++)
                    pairs[k] += slot->host_counts[(row * parts + p) * bins + k];
            lj_pairs_convert(s, slot->host_samples[i * members + m].particles, pairs,
                             samples->curves[LJ_CURVE_GR] + row * bins,
                             samples->curves[LJ_CURVE_PAIR_DENSITY] + row * bins);
        }
    }
    free(pairs);
    return pairs != NULL;
}

enum ergo_status lj_collect(struct ergo_context *ctx, void *opaque, unsigned which,
                            struct ergo_samples *samples) {
    struct lj_state *s = opaque;
    struct lj_slot *slot = &s->blocks[which];
    enum ergo_status status = ergo_event_wait(ctx, s->device, &slot->ready, NULL);
    if (status == ERGO_OK && !all_running(s, slot->host_chains)) {
        status = catch_up(ctx, s);
        for (int i = 0; i < 2 && status == ERGO_OK; i++) { /* what was read before is stale */
            struct lj_slot *stale = &s->blocks[i];
            if (!stale->busy)
                continue;
            if (stale->ready)
                clReleaseEvent(stale->ready);
            stale->ready = NULL;
            status = read_back(ctx, s, stale);
        }
        if (status == ERGO_OK)
            status = ergo_event_wait(ctx, s->device, &slot->ready, NULL);
    }
    slot->busy = false;
    samples->count = slot->count;
    samples->n_curve_samples = slot->curves;
    if (status != ERGO_OK)
        return status;
    convert_samples(s, slot, samples->columns);
    return !slot->curves || convert_curves(s, slot, samples)
               ? ERGO_OK
               : ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for the bins of g(r)");
}
