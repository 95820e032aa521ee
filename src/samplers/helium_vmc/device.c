/* Helium on a device: build, start, launch. */
#include <stdlib.h>
#include <string.h>

#include "device/program.h"
#include "helium_vmc/params.h"
#include "samplers/helium_vmc/helium.h"

_Static_assert(sizeof(struct helium_member) == HELIUM_MEMBER_BYTES, "no padding");
_Static_assert(sizeof(struct helium_walker) == HELIUM_WALKER_BYTES, "no padding");
_Static_assert(sizeof(struct helium_sums) == HELIUM_SUMS_BYTES, "no padding");
_Static_assert(sizeof(struct helium_cubic_host) == 16, "a float4");

static void slot_release(struct helium_slot *slot) {
    if (slot->sums_ready)
        clReleaseEvent(slot->sums_ready);
    if (slot->positions_ready)
        clReleaseEvent(slot->positions_ready);
    ergo_buffer_release(&slot->sums);
    free(slot->host_sums);
    free(slot->host_positions);
}

void helium_destroy(void *opaque) {
    struct helium_state *s = opaque;
    if (!s)
        return;
    if (s->device)
        (void)ergo_queue_finish(s->device,
                                s->device->queue); /* reads into our slots may be under way */
    const cl_kernel kernels[] = {s->walk,  s->sum,  s->attempt,  s->decide,    s->energy,
                                 s->start, s->tune, s->multiply, s->energy_add};
    for (size_t i = 0; i < sizeof kernels / sizeof kernels[0]; i++)
        if (kernels[i])
            clReleaseKernel(kernels[i]);
    const cl_program programs[] = {s->walk_program, s->energy_program, s->start_program};
    for (size_t i = 0; i < sizeof programs / sizeof programs[0]; i++)
        if (programs[i])
            clReleaseProgram(programs[i]);
    cl_mem *const buffers[] = {&s->positions, &s->walkers,   &s->member_buffer, &s->factors,
                               &s->u_tables,  &s->e_tables,  &s->random,        &s->atom_sums,
                               &s->attempts,  &s->decisions, &s->energy_parts};
    for (size_t i = 0; i < sizeof buffers / sizeof buffers[0]; i++)
        ergo_buffer_release(buffers[i]);
    slot_release(&s->slots[0]);
    slot_release(&s->slots[1]);
    for (size_t i = 0; s->models && i < s->batch->count; i++)
        helium_model_free(&s->models[i]);
    free(s->members);
    free(s->models);
    free(s);
}

/* Build `path` with the batch's macros and take one kernel from it. */
static enum ergo_status build_one(struct ergo_context *ctx, struct helium_state *s,
                                  const char *path, uint32_t group, bool local, const char *name,
                                  cl_program *program, cl_kernel *kernel) {
    const struct helium_launch *l = &s->launch;
    struct ergo_text o = {0};
    if (s->device->type == CL_DEVICE_TYPE_CPU) /* registers are not what it has */
        ergo_text_append(&o, "-DHELIUM_NO_UNROLL ");
    ergo_text_append(&o,
                     "-DHELIUM_N=%uu -DHELIUM_GROUP=%u -DHELIUM_U_BASE=%uu -DHELIUM_U_SIZE=%u "
                     "-DHELIUM_E_BASE=%uu -DHELIUM_E_SIZE=%u -DHELIUM_LOCAL=%d -DHELIUM_CUBE=%d "
                     "-DHELIUM_E_LOCAL=%d -DHELIUM_LANES=%u -DHELIUM_MATES=%u -DHELIUM_COPIES=%u "
                     "-DHELIUM_TILE=%u%s",
                     s->shape.n, group, (127 - l->binades) << HELIUM_U_PIECES,
                     l->binades << HELIUM_U_PIECES, (127 - l->binades) << HELIUM_E_PIECES,
                     helium_energy_pieces(l->binades), local, l->cube, l->tables_local, l->group,
                     l->mates, l->copies, l->tile, l->warp ? " -DHELIUM_WARP" : "");
    enum ergo_status status = o.failed
                                  ? ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for build options")
                                  : ergo_program_build(ctx, s->device, path, o.data, program);
    ergo_text_free(&o);
    return status == ERGO_OK ? ergo_kernel_create(ctx, s->device, *program, name, kernel) : status;
}

static enum ergo_status build_programs(struct ergo_context *ctx, struct helium_state *s) {
    const struct helium_launch *l = &s->launch;
    static const char *const paths[] = {
        "",
        "helium_vmc/walk.cl",
        "helium_vmc/walk.cl",
        "helium_vmc/walk_lanes.cl",
        "helium_vmc/walk_registers.cl",
        "helium_vmc/blocks.cl",
    };
    const bool blocks = l->path == HELIUM_PATH_BLOCKS;
    enum ergo_status status =
        build_one(ctx, s, paths[l->path], l->group * l->mates, l->path == HELIUM_PATH_LOCAL,
                  blocks ? "helium_attempt" : "helium_walk", &s->walk_program,
                  blocks ? &s->attempt : &s->walk);
    if (status == ERGO_OK && blocks)
        status = ergo_kernel_create(ctx, s->device, s->walk_program, "helium_sum", &s->sum);
    if (status == ERGO_OK && blocks)
        status = ergo_kernel_create(ctx, s->device, s->walk_program, "helium_decide", &s->decide);
    if (status == ERGO_OK)
        status = build_one(ctx, s, "helium_vmc/energy.cl", l->energy_group, l->places_local,
                           "helium_energy", &s->energy_program, &s->energy);
    if (status == ERGO_OK && l->energy_pieces > 1)
        status = ergo_kernel_create(ctx, s->device, s->energy_program, "helium_energy_add",
                                    &s->energy_add);
    if (status == ERGO_OK)
        status = build_one(ctx, s, "helium_vmc/start.cl", 1, false, "helium_start",
                           &s->start_program, &s->start);
    if (status == ERGO_OK)
        status = ergo_kernel_create(ctx, s->device, s->start_program, "helium_tune", &s->tune);
    if (status == ERGO_OK)
        status =
            ergo_kernel_create(ctx, s->device, s->start_program, "helium_multiply", &s->multiply);
    return status;
}

/* Tables and parameters of all members, to the device. */
static enum ergo_status fill_tables(struct ergo_context *ctx, struct helium_state *s) {
    const size_t members = s->batch->count;
    const size_t u_size = (size_t)s->launch.binades << HELIUM_U_PIECES;
    const size_t e_size = 4 * (size_t)helium_energy_pieces(s->launch.binades);
    struct helium_cubic_host *u = malloc(members * u_size * sizeof *u);
    struct helium_cubic_host *e = malloc(members * e_size * sizeof *e);
    struct helium_cubic_host *random = malloc(2 * HELIUM_R_SIZE * sizeof *random);
    uint32_t *factors = malloc(members * sizeof *factors);
    s->models = calloc(members, sizeof *s->models);
    s->members = calloc(members, sizeof *s->members);
    enum ergo_status status = ERGO_OK;
    if (!u || !e || !random || !factors || !s->models || !s->members) {
        status = ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for the tables of %zu members", members);
        goto out;
    }
    for (size_t i = 0; i < members; i++) {
        status = helium_model_load(ctx, s->batch->points[i], &s->models[i]);
        if (status != ERGO_OK)
            goto out;
        helium_member_fill(s->batch->points[i], &s->models[i], &s->members[i]);
        helium_table_u(&s->models[i], s->launch.binades, u + i * u_size);
        helium_table_energy(&s->models[i], s->launch.binades, e + i * e_size);
        factors[i] = HELIUM_FACTOR_ONE;
    }
    helium_table_random(random);
    const struct {
        const char *what;
        size_t bytes;
        const void *data;
        cl_mem *mem;
    } constants[] = {
        {"pair tables", members * u_size * sizeof *u, u, &s->u_tables},
        {"energy tables", members * e_size * sizeof *e, e, &s->e_tables},
        {"tables of random numbers", 2 * HELIUM_R_SIZE * sizeof *random, random, &s->random},
        {"members", members * sizeof *s->members, s->members, &s->member_buffer}};
    for (size_t i = 0; i < sizeof constants / sizeof constants[0] && status == ERGO_OK; i++)
        status = ergo_constant_create(ctx, s->device, &s->constants, constants[i].what,
                                      constants[i].bytes, constants[i].data, constants[i].mem);
    if (status == ERGO_OK)
        status = ergo_buffer_create(ctx, s->device, "displacement factors",
                                    members * sizeof *factors, factors, &s->factors);
out:
    free(u);
    free(e);
    free(random);
    free(factors);
    return status;
}

static enum ergo_status create_slot(struct ergo_context *ctx, struct helium_state *s,
                                    struct helium_slot *slot) {
    const size_t all = s->batch->count * s->shape.walkers;
    const size_t sums = all * s->launch.block_samples * HELIUM_SUMS_BYTES;
    size_t positions = 0;
    if (s->shape.structure_walkers) {
        const uint64_t every =
            (uint64_t)ergo_point_int(s->batch->points[0], "/run/structure_every");
        positions = s->batch->count * s->shape.structure_walkers * s->shape.walker_bytes *
                    ((s->launch.block_samples - 1) / every + 1);
    }
    slot->host_sums = malloc(sums);
    slot->host_positions = malloc(positions ? positions : 1);
    if (!slot->host_sums || !slot->host_positions)
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for a block of samples");
    return ergo_buffer_create(ctx, s->device, "samples", sums, NULL, &slot->sums);
}

enum ergo_status helium_create(struct ergo_context *ctx, const struct ergo_batch *batch,
                               struct ergo_device *device, void **state) {
    struct ergo_plan plan;
    struct helium_state *s = calloc(1, sizeof *s);
    enum ergo_status status = ERGO_OK;
    *state = NULL;
    if (!s)
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for the helium-vmc state");
    s->batch = batch;
    s->device = device;
    s->shape = helium_shape_of(batch->points[0]);
    status = helium_launch_plan(ctx, batch, device, &s->launch, &plan);
    if (status == ERGO_OK)
        status = build_programs(ctx, s);
    if (status == ERGO_OK)
        status = fill_tables(ctx, s);
    const size_t all = batch->count * s->shape.walkers;
    if (status == ERGO_OK)
        status = ergo_buffer_create(ctx, device, "positions", all * s->shape.walker_bytes, NULL,
                                    &s->positions);
    if (status == ERGO_OK)
        status = ergo_buffer_create(ctx, device, "walkers", all * HELIUM_WALKER_BYTES, NULL,
                                    &s->walkers);
    if (status == ERGO_OK)
        status = ergo_buffer_create(ctx, device, "sums of atoms", all * s->shape.n * 8, NULL,
                                    &s->atom_sums);
    if (status == ERGO_OK && s->launch.energy_pieces > 1)
        status = ergo_buffer_create(ctx, device, "parts of energies",
                                    all * s->launch.energy_pieces * HELIUM_SUMS_BYTES, NULL,
                                    &s->energy_parts);
    if (status == ERGO_OK && s->launch.path == HELIUM_PATH_BLOCKS)
        status = ergo_buffer_create(ctx, device, "sums of trials",
                                    all * helium_attempt_bytes(&s->shape, &s->launch), NULL,
                                    &s->attempts);
    if (status == ERGO_OK && s->launch.path == HELIUM_PATH_BLOCKS)
        status = ergo_buffer_create(ctx, device, "accepted moves",
                                    all * helium_decision_bytes(&s->launch), NULL, &s->decisions);
    for (int i = 0; i < 2 && status == ERGO_OK; i++)
        status = create_slot(ctx, s, &s->slots[i]);
    if (status != ERGO_OK) {
        helium_destroy(s);
        return status;
    }
    *state = s;
    return ERGO_OK;
}

/* All walkers of all members from the job's file. */
static enum ergo_status start_from_file(struct ergo_context *ctx, struct helium_state *s) {
    const size_t bytes = s->shape.walkers * (size_t)s->shape.walker_bytes;
    int32_t *places = malloc(bytes);
    enum ergo_status status =
        places ? ERGO_OK
               : ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for %u walkers", s->shape.walkers);
    for (size_t i = 0; i < s->batch->count && status == ERGO_OK; i++) {
        status =
            helium_start_read(ctx, s->batch->points[i], &s->models[i], s->shape.walkers, places);
        if (status == ERGO_OK)
            status = ergo_buffer_write(ctx, s->device, s->positions, i * bytes, bytes, places);
    }
    free(places);
    return status;
}

enum ergo_status helium_init(struct ergo_context *ctx, void *opaque) {
    struct helium_state *s = opaque;
    const cl_uint count = s->shape.walkers;
    const size_t all = s->batch->count * s->shape.walkers;
    const size_t global[2] = {ergo_round_up((size_t)count * s->shape.n, 32), s->batch->count};
    const size_t local[2] = {32, 1};
    const uint32_t *sites = s->shape.sites;
    const struct ergo_arg args[] = {ERGO_ARG(s->positions), ERGO_ARG(s->member_buffer),
                                    ERGO_ARG(count),        ERGO_ARG(sites[0]),
                                    ERGO_ARG(sites[1]),     ERGO_ARG(sites[2])};
    s->step = 0;
    s->rebuild = true;
    const bool file = ergo_point_value(s->batch->points[0], "/system/start")->present;
    enum ergo_status status = file ? start_from_file(ctx, s)
                                   : ergo_kernel_launch(ctx, s->device, s->start, "helium_start",
                                                        args, 6, 2, global, local, NULL);
    /* ln psi runs along from here */
    struct helium_slot *slot = &s->slots[0];
    struct helium_walker *walkers = calloc(all, sizeof *walkers);
    if (status == ERGO_OK && !walkers)
        status = ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for %zu walkers", all);
    if (status == ERGO_OK)
        status = helium_run_energy(ctx, s, slot->sums, 0, true);
    if (status == ERGO_OK)
        status = ergo_buffer_read(ctx, s->device, slot->sums, 0, all * HELIUM_SUMS_BYTES,
                                  slot->host_sums);
    for (size_t i = 0; i < all && status == ERGO_OK; i++)
        walkers[i].ln_psi = slot->host_sums[i].ln_psi / 2;
    if (status == ERGO_OK)
        status =
            ergo_buffer_write(ctx, s->device, s->walkers, 0, all * HELIUM_WALKER_BYTES, walkers);
    free(walkers);
    return status;
}
