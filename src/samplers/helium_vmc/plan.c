/* Shape and launches of a batch on a device. */
#include <math.h>
#include <stdio.h>

#include "helium/triplet.h"
#include "helium_vmc/params.h"
#include "samplers/helium_vmc/helium.h"

static struct helium_shape helium_shape_of(const struct ergo_point *point) {
    struct helium_shape s = {0};
    s.n = (uint32_t)of_quantum(point)->n;
    s.walkers = (uint32_t)of_quantum(point)->walkers;
    s.start_steps = (uint64_t)of_vmc(point)->start_steps;
    s.active = (uint32_t)of_vmc(point)->start_walkers;
    if (s.active == 0 || s.start_steps == 0)
        s.active = s.walkers;
    helium_lattice_sites(point, s.sites);
    s.walker_bytes = 12 * (uint64_t)s.n;
    s.structure_walkers = helium_structure_walkers(point);
    s.points = helium_density_points(point);
    return s;
}

uint32_t helium_active(const struct helium_shape *shape, uint64_t step) {
    return step < shape->start_steps ? shape->active : shape->walkers;
}

void helium_member_fill(const struct ergo_point *point, const struct helium_model *model,
                        struct helium_member *member) {
    const struct ergo_value *target = &of_vmc(point)->target_acceptance;
    helium_member_of(point, model, member);
    member->target = target->present ? (uint32_t)(target->real * 65536.0 + 0.5) : 0;
}

/* Upper bounds of loop iterations of a work-item: one macroupdate; before and after all of them;
 * the energies. */
static void count_loops(const struct helium_shape *s, const struct helium_launch *l,
                        uint64_t counts[3]) {
    const uint64_t share = (s->n + l->group - 1) / l->group;
    const uint64_t sums = l->group == 1 ? 2 : l->group / 8 + 24;
    counts[0] = s->n * (3 * share + share / 8 + sums);
    if (l->path == HELIUM_PATH_PAIRS)
        counts[0] = (uint64_t)s->n * (s->n + 64);
    counts[1] = share * (s->n + 4) + 1024;
    const uint64_t atoms = (s->n + l->energy_group - 1) / l->energy_group;
    counts[2] = atoms * ((l->triplet ? 4 : 2) * s->n + s->n / 32 + 2) + 4096 +
                7 * (uint64_t)l->energy_group;
}

/* ---- declarations -----------------------------------------------------------------------------
 */

static void declare_buffers(struct helium_state *s) {
    struct ergo_engine *e = &s->e;
    const struct helium_shape *h = &s->shape;
    const struct helium_launch *l = &s->launch;
    const uint64_t members = e->batch->count, all = members * h->walkers;
    const uint64_t tiles = (h->n + l->tile - 1) / l->tile, group = l->group;
    const bool blocks = l->path == HELIUM_PATH_BLOCKS;
    ergo_engine_buffer(e, HELIUM_POSITIONS, "walkers' atoms", ERGO_BUFFER_STATE,
                       all * h->walker_bytes);
    ergo_engine_buffer(e, HELIUM_WALKERS, "walkers", ERGO_BUFFER_STATE, all * HELIUM_WALKER_BYTES);
    ergo_engine_buffer(e, HELIUM_FACTORS, "displacements", ERGO_BUFFER_STATE, 4 * members);
    ergo_engine_buffer(e, HELIUM_ATOM_SUMS, "sums of atoms", ERGO_BUFFER_STATE,
                       l->triplet ? 0 : all * h->n * 8);
    ergo_engine_buffer(e, HELIUM_ATTEMPTS, "sums of trials", ERGO_BUFFER_SCRATCH,
                       blocks ? all * 8 * group * tiles : 0);
    ergo_engine_buffer(e, HELIUM_DECISIONS, "accepted moves", ERGO_BUFFER_SCRATCH,
                       blocks ? all * 16 * (1 + 2 * group) : 0);
    ergo_engine_buffer(e, HELIUM_PARTS, "parts of energies", ERGO_BUFFER_SCRATCH,
                       l->energy_pieces > 1 ? all * l->energy_pieces * HELIUM_SUMS_BYTES : 0);
    ergo_engine_buffer(e, HELIUM_MEMBERS, "members", ERGO_BUFFER_CONSTANT,
                       members * HELIUM_MEMBER_BYTES);
    ergo_engine_buffer(e, HELIUM_U_TABLES, "pair tables", ERGO_BUFFER_CONSTANT,
                       (members * 16 * l->binades) << HELIUM_U_PIECES);
    ergo_engine_buffer(e, HELIUM_E_TABLES, "energy tables", ERGO_BUFFER_CONSTANT,
                       members * 32 * helium_energy_pieces(l->binades));
    ergo_engine_buffer(e, HELIUM_RANDOM, "tables of random numbers", ERGO_BUFFER_CONSTANT,
                       (uint64_t)32 * HELIUM_R_SIZE);
    ergo_engine_buffer(e, HELIUM_SITES, "sites", ERGO_BUFFER_CONSTANT,
                       4 * helium_sites_words(e->batch->points[0]));
    ergo_engine_buffer(e, HELIUM_TRIPLETS, "triplet factors", ERGO_BUFFER_CONSTANT,
                       l->triplet ? members * HELIUM_TRIPLET_BYTES : 0);
    ergo_engine_buffer(e, HELIUM_T_TABLES, "triplet tables", ERGO_BUFFER_CONSTANT,
                       l->triplet ? (members * 32 * l->binades) << HELIUM_U_PIECES : 0);
    ergo_engine_buffer(e, HELIUM_FIELDS, "vectors of atoms", ERGO_BUFFER_SCRATCH,
                       l->triplet ? all * h->walker_bytes : 0);
    ergo_engine_buffer(e, HELIUM_EVENT_SUMS, "energies of an optimisation", ERGO_BUFFER_SCRATCH,
                       s->optimisation.schedule.all ? all * HELIUM_SUMS_BYTES : 0);
    ergo_engine_buffer(e, HELIUM_SUMS, "samples", ERGO_BUFFER_SAMPLES, all * HELIUM_SUMS_BYTES);
    ergo_engine_buffer(e, HELIUM_PLACES, "places for curves", ERGO_BUFFER_HOST,
                       members * h->structure_walkers * h->walker_bytes);
    ergo_engine_buffer(e, HELIUM_RATIOS, "displaced atoms", ERGO_BUFFER_CURVES,
                       members * h->structure_walkers * 16 * h->points);
}

/* Declare a kernel of the program `path`, built with the batch's macros. */
static void declare(struct helium_state *s, unsigned kernel, const char *path, uint32_t group,
                    bool local, const char *name) {
    const struct helium_launch *l = &s->launch;
    /* CPUs have few registers: no unrolling */
    const bool cpu = s->e.device->type == CL_DEVICE_TYPE_CPU;
    char options[500];
    snprintf(options, sizeof options,
             "%s-DHELIUM_N=%uu -DHELIUM_GROUP=%u -DHELIUM_U_BASE=%uu -DHELIUM_U_SIZE=%u "
             "-DHELIUM_E_BASE=%uu -DHELIUM_E_SIZE=%u -DHELIUM_LOCAL=%d -DHELIUM_CUBE=%d "
             "-DHELIUM_E_LOCAL=%d -DHELIUM_LANES=%u -DHELIUM_MATES=%u -DHELIUM_COPIES=%u "
             "-DHELIUM_TILE=%u -DHELIUM_E_MATES=%u -DHELIUM_ONE_BODY=%d%s%s",
             cpu ? "-DHELIUM_NO_UNROLL " : "", s->shape.n, group,
             (127 - l->binades) << HELIUM_U_PIECES, l->binades << HELIUM_U_PIECES,
             (127 - l->binades) << HELIUM_E_PIECES, helium_energy_pieces(l->binades), (int)local,
             (int)l->cube, (int)l->tables_local, l->group, l->mates, l->copies, l->tile,
             l->energy_mates, (int)helium_one_table(s->e.batch->points[0]),
             l->warp ? " -DHELIUM_WARP" : "", l->triplet ? " -DHELIUM_TRIPLET=1" : "");
    ergo_engine_kernel(&s->e, kernel, path, options, name);
}

static void declare_kernels(struct helium_state *s) {
    static const char *const blocks = "helium_vmc/blocks.cl",
                             *const energy = "helium_vmc/energy.cl",
                             *const start = "helium_vmc/start.cl",
                             *const lattice = "helium/lattice.cl";
    const struct helium_launch *l = &s->launch;
    const uint32_t group = l->group * l->mates, energy_group = l->energy_group * l->energy_mates;
    if (l->path == HELIUM_PATH_BLOCKS) {
        declare(s, HELIUM_SUM, blocks, group, false, "helium_sum");
        declare(s, HELIUM_ATTEMPT, blocks, group, false, "helium_attempt");
        declare(s, HELIUM_DECIDE, blocks, group, false, "helium_decide");
    } else if (l->triplet) {
        declare(s, HELIUM_WALK, "helium_vmc/walk_triplet.cl", group, l->walk_local, "helium_walk");
    } else {
        declare(s, HELIUM_WALK,
                l->path == HELIUM_PATH_LANES   ? "helium_vmc/walk_lanes.cl"
                : l->path == HELIUM_PATH_PAIRS ? "helium_vmc/walk_pairs.cl"
                                               : "helium_vmc/walk_registers.cl",
                group, false, "helium_walk");
    }
    declare(s, HELIUM_ENERGY, energy, energy_group, l->places_local, "helium_energy");
    if (l->energy_pieces > 1)
        declare(s, HELIUM_ENERGY_ADD, energy, energy_group, l->places_local, "helium_energy_add");
    declare(s, HELIUM_START, lattice, 1, false, "helium_start");
    declare(s, HELIUM_TUNE, start, 1, false, "helium_tune");
    declare(s, HELIUM_MULTIPLY, start, 1, false, "helium_multiply");
    if (s->shape.points)
        declare(s, HELIUM_DISPLACE, "helium/density.cl", l->density.group, l->density.local,
                "helium_density");
}

/* ---- configure --------------------------------------------------------------------------------
 */

/* Replicas of a scan point share its model; the first has it. */
bool helium_model_shared(const struct ergo_batch *batch, size_t member) {
    /* one that is optimised becomes a replica's own */
    return member > 0 && !helium_schedule_of(batch->points[member]).all &&
           batch->points[member]->scan_index == batch->points[member - 1]->scan_index;
}

static enum ergo_status load_models(struct ergo_context *ctx, struct helium_state *s) {
    const struct ergo_batch *batch = s->e.batch;
    struct helium_launch *l = &s->launch;
    s->models = ergo_engine_memory(&s->e, batch->count, sizeof *s->models);
    s->members = ergo_engine_memory(&s->e, batch->count, sizeof *s->members);
    s->triplets = ergo_engine_memory(&s->e, batch->count, sizeof *s->triplets);
    enum ergo_status status = ergo_engine_end(&s->e);
    l->cube = true;
    l->binades = 1;
    for (size_t i = 0; i < batch->count && status == ERGO_OK; i++) {
        struct helium_model *model = &s->models[i];
        if (helium_model_shared(batch, i))
            *model = model[-1];
        else
            status = helium_model_load(ctx, batch->points[i], 0, model);
        if (status != ERGO_OK)
            break;
        helium_model_step(model, of_vmc(batch->points[i])->displacement,
                          helium_model_spacing(model));
        const unsigned binades = helium_model_binades(model);
        l->binades = binades > l->binades ? binades : l->binades;
        l->cube = l->cube && model->side[0] == model->side[1] && model->side[1] == model->side[2];
        helium_member_fill(batch->points[i], model, &s->members[i]);
        helium_triplet_fill(model, &s->members[i], &s->triplets[i]);
        l->triplet = l->triplet || model->triplet.strength != 0;
    }
    return status == ERGO_OK ? helium_optimisation_configure(s) : status;
}

/* An estimate of the steps of a tenth of a second, and the most of a launch. */
static enum ergo_status choose_steps(struct ergo_context *ctx, struct helium_state *s) {
    const struct ergo_device *device = s->e.device;
    const struct ergo_device_summary *d = &device->summary;
    const struct helium_shape *h = &s->shape;
    struct helium_launch *l = &s->launch;
    struct ergo_plan *plan = &s->e.plan;
    const bool gpu = device->type != CL_DEVICE_TYPE_CPU, blocks = l->path == HELIUM_PATH_BLOCKS;
    const double all = (double)s->e.batch->count * h->walkers;
    const double units = d->compute_units ? d->compute_units : 1;
    const double busy = gpu && !blocks ? fmin(1.0, all * l->group / (units * 512)) : 1.0;
    plan->work_per_step = (double)h->n * (double)h->n * all;
    plan->block_steps =
        fmax(1.0, floor(0.1 * (gpu ? 2e9 : 2e8) * units * busy / plan->work_per_step));
    l->launch_steps = 1000000; /* kernels count with 32 bits */
    const uint64_t loops = device->quirks.loop_limit;
    if (loops) {
        uint64_t counts[3];
        count_loops(h, l, counts);
        const uint64_t displaced =
            h->points ? helium_density_loops(h->n, l->density.group, l->triplet) : 0;
        if (counts[0] + counts[1] > loops || counts[2] > loops || displaced > loops)
            return ERGO_FAIL(ctx, ERGO_E_DEVICE,
                             "%s (%s) ends loops after %llu iterations without an error; %u atoms "
                             "need more. Use fewer atoms, a larger /tuning/work_group, or another "
                             "device",
                             d->name, d->id, (unsigned long long)loops, h->n);
        const uint64_t most = counts[0] ? (loops - counts[1]) / counts[0] : loops;
        l->launch_steps = l->launch_steps < most ? l->launch_steps : most;
    }
    plan->launches_per_step = blocks ? 2.0 * ceil((double)h->n / l->group)
                                     : 1.0 / (double)ergo_plan_launch(plan, l->launch_steps);
    return ERGO_OK;
}

enum ergo_status helium_configure(struct ergo_context *ctx, void *state) {
    static const char *const names[] = {[HELIUM_PATH_LANES] = "lanes",
                                        [HELIUM_PATH_REGISTERS] = "registers",
                                        [HELIUM_PATH_PAIRS] = "pairs",
                                        [HELIUM_PATH_BLOCKS] = "blocks",
                                        [HELIUM_PATH_TRIPLET] = "triplet"};
    static const char *const where[] = {[HELIUM_PATH_LANES] = "local memory",
                                        [HELIUM_PATH_REGISTERS] = "registers",
                                        [HELIUM_PATH_PAIRS] = "local memory",
                                        [HELIUM_PATH_BLOCKS] = "global memory",
                                        [HELIUM_PATH_TRIPLET] = "local memory"};
    struct helium_state *s = state;
    const struct ergo_batch *batch = s->e.batch;
    struct ergo_plan *plan = &s->e.plan;
    const struct helium_shape *h = &s->shape;
    struct helium_launch *l = &s->launch;
    enum ergo_status status = load_models(ctx, s);
    if (status != ERGO_OK)
        return status;
    s->shape = helium_shape_of(batch->points[0]);
    s->sites = ergo_engine_memory(&s->e, helium_sites_words(batch->points[0]), sizeof *s->sites);
    status = ergo_engine_end(&s->e);
    if (status != ERGO_OK)
        return status;
    helium_sites(&s->models[0], s->sites);
    helium_choose_launch(batch, s->e.device, h, l);
    status = choose_steps(ctx, s);
    if (status != ERGO_OK)
        return status;

    const uint64_t all = batch->count * h->walkers;
    plan->host_bytes = 2 * batch->count * 32 * helium_energy_pieces(l->binades) +
                       2 * all * h->walker_bytes + all * h->n * 8;
    snprintf(plan->path, sizeof plan->path, "%s", names[l->path]);
    snprintf(plan->launch, sizeof plan->launch,
             "%llu walkers, %u work-items each (positions in %s), %u walkers a work-group%s, about "
             "%llu macroupdates a launch; energies by groups of %u",
             (unsigned long long)all, l->group, where[l->path], l->mates,
             l->warp ? ", sums by warps" : "",
             (unsigned long long)ergo_plan_launch(plan, l->launch_steps), l->energy_group);
    s->e.curve_interval = (uint64_t)of_quantum(batch->points[0])->structure_every;
    declare_buffers(s);
    declare_kernels(s);
    return ERGO_OK;
}
