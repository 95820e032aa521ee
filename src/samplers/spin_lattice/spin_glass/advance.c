/* Spin glasses: sweeps, exchanges and measurements of all word-lattices. */
#include "samplers/spin_lattice/spin_glass/glass.h"

#include <stdlib.h>

/* Half a sweep of all word-lattices. */
static enum ergo_status launch_half(struct ergo_context *ctx, struct glass_state *s, uint64_t step,
                                    cl_uint colour) {
    const struct glass_shape *h = &s->shape;
    const size_t group = s->launch.group;
    const size_t local[2] = {group, 1};
    const size_t global[2] = {ergo_round_up((size_t)h->half * h->quads, group), glass_lattices(s)};
    const cl_uint2 words = glass_words_here(h);
    const cl_uint last = glass_last(h);
    const cl_ulong sweep = step;
    const struct ergo_arg args[] = {ERGO_ARG(s->spins), ERGO_ARG(s->couplings), ERGO_ARG(s->tables),
                                    ERGO_ARG(s->keys),  ERGO_ARG(sweep),        ERGO_ARG(colour),
                                    ERGO_ARG(words),    ERGO_ARG(last)};
    return ergo_kernel_launch(ctx, s->device, s->sweep, "glass_sweep", args, 8, 2, global, local,
                              NULL);
}

static enum ergo_status launch_sweeps(struct ergo_context *ctx, struct glass_state *s,
                                      uint64_t step, uint64_t sweeps) {
    const struct glass_shape *h = &s->shape;
    const size_t group = s->launch.group;
    const size_t global[2] = {h->quads * group, glass_lattices(s)}, local[2] = {group, 1};
    const cl_uint2 words = glass_words_here(h);
    const cl_uint last = glass_last(h);
    enum ergo_status status = ERGO_OK;
    for (uint64_t done = 0; done < sweeps && status == ERGO_OK;) {
        const cl_ulong sweep = step + done;
        const uint64_t rest = sweeps - done;
        const cl_uint now =
            (cl_uint)(rest < s->launch.launch_sweeps ? rest : s->launch.launch_sweeps);
        if (!s->launch.local) {
            for (cl_uint colour = 0; colour < 2 && status == ERGO_OK; colour++)
                status = launch_half(ctx, s, sweep, colour);
            done++;
            continue;
        }
        const struct ergo_arg args[] = {
            ERGO_ARG(s->spins), ERGO_ARG(s->couplings), ERGO_ARG(s->tables),
            ERGO_ARG(s->keys),  ERGO_ARG(sweep),        ERGO_ARG(now),
            ERGO_ARG(words),    ERGO_ARG(last),         ERGO_ARG_LOCAL(16 * h->sites)};
        status = ergo_kernel_launch(ctx, s->device, s->sweep, "glass_local", args, 9, 2, global,
                                    local, NULL);
        done += now;
    }
    return status;
}

static enum ergo_status launch_energy(struct ergo_context *ctx, struct glass_state *s) {
    const size_t group = (size_t)1 << s->launch.levels;
    const cl_uint parts = s->launch.parts;
    const size_t global[2] = {group * s->shape.quads * parts, glass_lattices(s)};
    const size_t local[2] = {group, 1};
    const struct ergo_arg args[] = {ERGO_ARG(s->spins), ERGO_ARG(s->couplings),
                                    ERGO_ARG(s->energies), ERGO_ARG(parts),
                                    ERGO_ARG_LOCAL(16 * group * GLASS_ROOM_8)};
    return ergo_kernel_launch(ctx, s->device, s->energy, "glass_energy", args, 5, 2, global, local,
                              NULL);
}

static size_t pairs_of(const struct glass_shape *h, uint32_t parity) {
    return (parity ? (h->temperatures - 1) / 2 : h->temperatures / 2) * h->copies;
}

/* Who exchanges. */
static enum ergo_status launch_decision(struct ergo_context *ctx, struct glass_state *s,
                                        uint64_t step, uint32_t parity) {
    const struct glass_shape *h = &s->shape;
    const cl_uint odd = parity, parts = s->launch.parts;
    const cl_uint2 words = glass_words_here(h);
    const cl_uint last = glass_last(h);
    const cl_ulong at = step;
    const struct ergo_arg args[] = {ERGO_ARG(s->energies), ERGO_ARG(s->slopes), ERGO_ARG(s->keys),
                                    ERGO_ARG(s->masks),    ERGO_ARG(at),        ERGO_ARG(odd),
                                    ERGO_ARG(parts),       ERGO_ARG(words),     ERGO_ARG(last)};
    const size_t global[2] = {32 * pairs_of(h, parity), glass_lattices(s)}, local[2] = {32, 1};
    return ergo_kernel_launch(ctx, s->device, s->swap, "glass_swap", args, 9, 2, global, local,
                              NULL);
}

static enum ergo_status launch_exchange(struct ergo_context *ctx, struct glass_state *s,
                                        uint32_t parity) {
    const struct glass_shape *h = &s->shape;
    const size_t group = s->device->type == CL_DEVICE_TYPE_CPU ? 16 : 128;
    const size_t items = pairs_of(h, parity) / h->copies * (size_t)h->sites;
    const size_t global[2] = {ergo_round_up(items, group), glass_lattices(s)},
                 local[2] = {group, 1};
    const cl_uint odd = parity;
    const cl_uint2 words = glass_words_here(h);
    const cl_uint last = glass_last(h);
    const struct ergo_arg args[] = {
        ERGO_ARG(s->spins),    ERGO_ARG(s->masks), ERGO_ARG(s->from_hot),
        ERGO_ARG(s->accepted), ERGO_ARG(s->trips), ERGO_ARG(s->moves),
        ERGO_ARG(odd),         ERGO_ARG(words),    ERGO_ARG(last)};
    return ergo_kernel_launch(ctx, s->device, s->exchange, "glass_exchange", args, 9, 2, global,
                              local, NULL);
}

static enum ergo_status launch_swap(struct ergo_context *ctx, struct glass_state *s, uint64_t step,
                                    uint32_t parity) {
    const uint32_t own = glass_own_parity(&s->shape, parity);
    const bool here = pairs_of(&s->shape, own) > 0, ends = glass_border_due(s, parity);
    enum ergo_status status = here || ends ? launch_energy(ctx, s) : ERGO_OK;
    if (ends && status == ERGO_OK)
        status = glass_border_begin(ctx, s, parity);
    if (here && status == ERGO_OK)
        status = launch_decision(ctx, s, step, own);
    if (here && status == ERGO_OK)
        status = launch_exchange(ctx, s, own);
    if (ends && status == ERGO_OK)
        status = glass_border_finish(ctx, s, step, parity);
    return status;
}

/* Rounds of sweeps from s->step on, an exchange at the end of each. */
static enum ergo_status launch_ladder(struct ergo_context *ctx, struct glass_state *s,
                                      uint64_t sweeps, uint64_t rounds) {
    const struct glass_shape *h = &s->shape;
    const size_t group = (size_t)h->quads * s->launch.ladder_lanes;
    const size_t global[2] = {group, glass_lattices(s)}, local[2] = {group, 1};
    const cl_uint2 words = glass_words_here(h);
    const cl_uint last = glass_last(h), all = (cl_uint)rounds, every = h->swap_every;
    const cl_uint first = (cl_uint)sweeps;
    const cl_uint parity = (cl_uint)((s->step + sweeps) / every & 1);
    const cl_ulong sweep = s->step;
    const struct ergo_arg args[] = {ERGO_ARG(s->spins),
                                    ERGO_ARG(s->couplings),
                                    ERGO_ARG(s->tables),
                                    ERGO_ARG(s->keys),
                                    ERGO_ARG(sweep),
                                    ERGO_ARG(all),
                                    ERGO_ARG(first),
                                    ERGO_ARG(every),
                                    ERGO_ARG(parity),
                                    ERGO_ARG(words),
                                    ERGO_ARG(last),
                                    ERGO_ARG(s->slopes),
                                    ERGO_ARG(s->from_hot),
                                    ERGO_ARG(s->accepted),
                                    ERGO_ARG(s->trips),
                                    ERGO_ARG(s->moves),
                                    ERGO_ARG_LOCAL(glass_ladder_bytes(h, &s->launch))};
    s->step += sweeps + (rounds - 1) * every;
    return ergo_kernel_launch(ctx, s->device, s->ladder, "glass_local_ladder", args, 17, 2, global,
                              local, NULL);
}

/* Sweeps and exchanges to `end`, as many to a launch as it may have. */
static enum ergo_status advance_ladder(struct ergo_context *ctx, struct glass_state *s,
                                       uint64_t end) {
    const uint64_t every = s->shape.swap_every, most = s->launch.launch_sweeps;
    enum ergo_status status = ERGO_OK;
    while (s->step < end && status == ERGO_OK) {
        const uint64_t rest = end - s->step, round = every - s->step % every;
        if (round <= rest && round <= most) {
            const uint64_t now = rest < most ? rest : most;
            status = launch_ladder(ctx, s, round, 1 + (now - round) / every);
        } else { /* no exchange within reach */
            const uint64_t now = rest < round - 1 ? rest : round - 1;
            status = launch_sweeps(ctx, s, s->step, now);
            s->step += now;
        }
    }
    return status;
}

enum ergo_status glass_advance_sweeps(struct ergo_context *ctx, struct glass_state *s,
                                      uint64_t sweeps) {
    const uint64_t end = s->step + sweeps, every = s->shape.swap_every;
    const bool ladder = s->shape.rungs > 1;
    enum ergo_status status = ERGO_OK;
    if (ladder && s->untaken >> 31) /* before counters of 32 planes are full */
        status = glass_moves_take(ctx, s);
    if (status != ERGO_OK)
        return status;
    s->untaken += sweeps;
    if (s->launch.whole)
        return advance_ladder(ctx, s, end);
    while (s->step < end && status == ERGO_OK) {
        uint64_t until = end;
        if (ladder && s->step / every * every + every < end)
            until = s->step / every * every + every;
        const bool due = ladder && until % every == 0;
        status = launch_sweeps(ctx, s, s->step, until - s->step);
        s->step = until;
        if (status == ERGO_OK && due)
            status = launch_swap(ctx, s, until, (uint32_t)(until / every & 1));
    }
    return status;
}

enum ergo_status glass_launch_record(struct ergo_context *ctx, struct glass_state *s,
                                     cl_mem records, size_t sample) {
    const size_t group = (size_t)1 << s->launch.levels, lattices = glass_lattices(s);
    const size_t global[2] = {group * s->shape.quads * s->shape.layers, lattices};
    const size_t local[2] = {group, 1};
    const struct ergo_arg args[] = {ERGO_ARG(s->spins), ERGO_ARG(s->counts),
                                    ERGO_ARG_LOCAL(16 * group * GLASS_ROOM_8)};
    enum ergo_status status = launch_energy(ctx, s);
    if (status == ERGO_OK)
        status = ergo_kernel_launch(ctx, s->device, s->overlap, "glass_overlap", args, 3, 2, global,
                                    local, NULL);
    const cl_uint parts = s->launch.parts, at = (cl_uint)sample;
    const size_t all[2] = {(size_t)128 * s->shape.quads, lattices}, some[2] = {16, 1};
    const struct ergo_arg rest[] = {ERGO_ARG(s->energies), ERGO_ARG(s->counts), ERGO_ARG(s->waves),
                                    ERGO_ARG(records),     ERGO_ARG(parts),     ERGO_ARG(at)};
    if (status == ERGO_OK)
        status = ergo_kernel_launch(ctx, s->device, s->record, "glass_record", rest, 6, 2, all,
                                    some, NULL);
    return status;
}
