/* Helium on a device: launches. */
#include "helium_vmc/params.h"
#include "samplers/helium_vmc/helium.h"

/* One work-group or more a walker, for all macroupdates. */
static enum ergo_status walk_groups(struct ergo_context *ctx, struct helium_state *s, cl_ulong step,
                                    cl_uint steps) {
    const struct helium_launch *l = &s->launch;
    const cl_uint count = s->shape.walkers, active = helium_active(&s->shape, step);
    const size_t crews = ((size_t)active + l->mates - 1) / l->mates;
    const size_t global[2] = {s->batch->count * crews * l->mates * l->group, 1};
    const size_t local[2] = {(size_t)l->mates * l->group, 1};
    const cl_uint rebuild = s->rebuild;
    const struct ergo_arg args[] = {ERGO_ARG(s->positions), ERGO_ARG(s->atom_sums),
                                    ERGO_ARG(s->walkers),   ERGO_ARG(s->member_buffer),
                                    ERGO_ARG(s->factors),   ERGO_ARG(s->u_tables),
                                    ERGO_ARG(s->random),    ERGO_ARG(step),
                                    ERGO_ARG(steps),        ERGO_ARG(count),
                                    ERGO_ARG(active),       ERGO_ARG(rebuild)};
    return ergo_kernel_launch(ctx, s->device, s->walk, "helium_walk", args, 12, 1, global, local,
                              NULL);
}

/* Blocks of trials, a launch for their sums and one for their decisions. What the last block
 * accepted is applied with the next one, or at the end. */
static enum ergo_status walk_blocks(struct ergo_context *ctx, struct helium_state *s, cl_ulong step,
                                    cl_uint steps) {
    const struct helium_launch *l = &s->launch;
    const cl_uint count = s->shape.walkers, active = helium_active(&s->shape, step);
    const size_t walkers = s->batch->count * active, group = l->group;
    const size_t atoms[2] = {ergo_round_up(s->shape.n, group), walkers};
    const size_t tiles[2] = {(s->shape.n + l->tile - 1) / l->tile * group, walkers};
    const size_t one[2] = {walkers * group, 1};
    const size_t local[2] = {group, 1};
    cl_uint apply = 0, first = 0;
    const struct ergo_arg sum[] = {
        ERGO_ARG(s->positions), ERGO_ARG(s->atom_sums), ERGO_ARG(s->member_buffer),
        ERGO_ARG(s->u_tables),  ERGO_ARG(count),        ERGO_ARG(active)};
    const struct ergo_arg attempt[] = {
        ERGO_ARG(s->positions), ERGO_ARG(s->atom_sums), ERGO_ARG(s->member_buffer),
        ERGO_ARG(s->factors),   ERGO_ARG(s->u_tables),  ERGO_ARG(s->random),
        ERGO_ARG(step),         ERGO_ARG(first),        ERGO_ARG(count),
        ERGO_ARG(active),       ERGO_ARG(apply),        ERGO_ARG(s->decisions),
        ERGO_ARG(s->attempts)};
    const struct ergo_arg decide[] = {ERGO_ARG(s->positions), ERGO_ARG(s->atom_sums),
                                      ERGO_ARG(s->walkers),   ERGO_ARG(s->member_buffer),
                                      ERGO_ARG(s->factors),   ERGO_ARG(s->u_tables),
                                      ERGO_ARG(s->random),    ERGO_ARG(step),
                                      ERGO_ARG(first),        ERGO_ARG(count),
                                      ERGO_ARG(active),       ERGO_ARG(s->decisions),
                                      ERGO_ARG(s->attempts)};
    enum ergo_status status = ERGO_OK;
    if (s->rebuild)
        status =
            ergo_kernel_launch(ctx, s->device, s->sum, "helium_sum", sum, 6, 2, atoms, local, NULL);
    for (const cl_ulong end = step + steps; step < end && status == ERGO_OK; step++)
        for (first = 0; first < s->shape.n && status == ERGO_OK; first += l->group) {
            status = ergo_kernel_launch(ctx, s->device, s->attempt, "helium_attempt", attempt, 13,
                                        2, tiles, local, NULL);
            if (status == ERGO_OK)
                status = ergo_kernel_launch(ctx, s->device, s->decide, "helium_decide", decide, 13,
                                            1, one, local, NULL);
            apply = 1;
        }
    first = s->shape.n;
    if (status == ERGO_OK && apply)
        status = ergo_kernel_launch(ctx, s->device, s->attempt, "helium_attempt", attempt, 13, 2,
                                    tiles, local, NULL);
    return status;
}

/* Macroupdates from s->step on, of the walkers that are active then. */
static enum ergo_status launch_walk(struct ergo_context *ctx, struct helium_state *s,
                                    uint32_t steps) {
    const enum ergo_status status = s->launch.path == HELIUM_PATH_BLOCKS
                                        ? walk_blocks(ctx, s, s->step, steps)
                                        : walk_groups(ctx, s, s->step, steps);
    s->step += steps;
    s->rebuild = false;
    return status;
}

static enum ergo_status launch_tune(struct ergo_context *ctx, struct helium_state *s) {
    const cl_uint members = (cl_uint)s->batch->count, count = s->shape.walkers;
    const cl_uint active = s->shape.active;
    const size_t global[2] = {s->batch->count, 1}, local[2] = {1, 1};
    const struct ergo_arg args[] = {ERGO_ARG(s->walkers), ERGO_ARG(s->member_buffer),
                                    ERGO_ARG(s->factors), ERGO_ARG(members),
                                    ERGO_ARG(count),      ERGO_ARG(active)};
    return ergo_kernel_launch(ctx, s->device, s->tune, "helium_tune", args, 6, 1, global, local,
                              NULL);
}

static enum ergo_status launch_multiply(struct ergo_context *ctx, struct helium_state *s) {
    const cl_uint count = s->shape.walkers, active = s->shape.active;
    const size_t global[2] = {ergo_round_up(3 * (size_t)s->shape.n, 32),
                              s->batch->count * (count - active)};
    const size_t local[2] = {32, 1};
    const struct ergo_arg args[] = {ERGO_ARG(s->positions), ERGO_ARG(s->walkers), ERGO_ARG(count),
                                    ERGO_ARG(active)};
    return ergo_kernel_launch(ctx, s->device, s->multiply, "helium_multiply", args, 4, 2, global,
                              local, NULL);
}

enum ergo_status helium_run_steps(struct ergo_context *ctx, struct helium_state *s,
                                  uint64_t steps) {
    const bool tunes = s->members[0].target != 0; /* not a scanned key: all or none */
    enum ergo_status status = ERGO_OK;
    while (steps && status == ERGO_OK) {
        uint64_t now = steps < s->launch.launch_steps ? steps : s->launch.launch_steps;
        const bool starting = s->step < s->shape.start_steps;
        if (starting && now > s->shape.start_steps - s->step)
            now = s->shape.start_steps - s->step;
        if (starting && tunes && now > HELIUM_TUNE_EVERY - s->step % HELIUM_TUNE_EVERY)
            now = HELIUM_TUNE_EVERY - s->step % HELIUM_TUNE_EVERY;
        status = launch_walk(ctx, s, (uint32_t)now);
        steps -= now;
        if (status == ERGO_OK && starting && tunes && s->step % HELIUM_TUNE_EVERY == 0)
            status = launch_tune(ctx, s);
        if (status == ERGO_OK && starting && s->step == s->shape.start_steps &&
            s->shape.active < s->shape.walkers)
            status = launch_multiply(ctx, s);
        if (starting && s->step == s->shape.start_steps)
            s->rebuild = true; /* for the copies */
    }
    return status;
}

enum ergo_status helium_run_energy(struct ergo_context *ctx, struct helium_state *s, cl_mem sums,
                                   size_t row, bool psi) {
    const cl_uint count = s->shape.walkers, pieces = s->launch.energy_pieces;
    const cl_uint all = (cl_uint)s->batch->count * count, at = (cl_uint)row;
    const cl_uint part_row = pieces > 1 ? 0 : at;
    cl_mem to = pieces > 1 ? s->energy_parts : sums;
    const cl_uint from_scratch = psi;
    const size_t groups = all < s->launch.energy_groups ? all : s->launch.energy_groups;
    const size_t global[2] = {groups * s->launch.energy_group, pieces};
    const size_t local[2] = {s->launch.energy_group, 1};
    const struct ergo_arg args[] = {ERGO_ARG(s->positions),
                                    ERGO_ARG(s->walkers),
                                    ERGO_ARG(s->member_buffer),
                                    ERGO_ARG(s->u_tables),
                                    ERGO_ARG(s->e_tables),
                                    ERGO_ARG(count),
                                    ERGO_ARG(all),
                                    ERGO_ARG(part_row),
                                    ERGO_ARG(from_scratch),
                                    ERGO_ARG(to)};
    const size_t add_global[2] = {ergo_round_up(all, 32), 1}, add_local[2] = {32, 1};
    const struct ergo_arg add[] = {ERGO_ARG(to), ERGO_ARG(pieces), ERGO_ARG(all), ERGO_ARG(at),
                                   ERGO_ARG(sums)};
    enum ergo_status status = ergo_kernel_launch(ctx, s->device, s->energy, "helium_energy", args,
                                                 10, 2, global, local, NULL);
    if (status == ERGO_OK && pieces > 1)
        status = ergo_kernel_launch(ctx, s->device, s->energy_add, "helium_energy_add", add, 5, 1,
                                    add_global, add_local, NULL);
    return status;
}
