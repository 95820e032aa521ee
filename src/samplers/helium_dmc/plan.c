/* Shape and launches of a batch on a device. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "samplers/helium_dmc/dmc.h"

/* The drift of half a step is at most this part of the atoms' spacing along each axis. */
#define DRIFT_MOST 0.1

struct dmc_shape dmc_shape_of(const struct ergo_point *point) {
    struct dmc_shape s = {0};
    s.n = (uint32_t)of_quantum(point)->n;
    s.walkers = (uint32_t)of_quantum(point)->walkers;
    s.every = (uint32_t)of_dmc(point)->forward_steps.integer / (HELIUM_DMC_RECORDS - 1);
    s.remember = (uint32_t)of_dmc(point)->correction_steps.integer;
    helium_lattice_sites(point, s.sites);
    s.walker_bytes = 12 * (uint64_t)s.n;
    s.structure_walkers = helium_structure_walkers(point);
    if (s.every && of_dmc(point)->forward_structure)
        s.chosen = s.structure_walkers;
    s.window = s.every * (HELIUM_DMC_RECORDS - 1);
    s.points = helium_density_points(point);
    return s;
}

bool dmc_model_shared(const struct ergo_batch *batch, size_t member) {
    return member > 0 && batch->points[member]->scan_index == batch->points[member - 1]->scan_index;
}

/* ---- members ----------------------------------------------------------------------------------
 */

/* Diffusion in a step tau: each component has the variance 2 lambda tau. */
static enum ergo_status dmc_model_load(struct ergo_context *ctx, const struct ergo_point *point,
                                       struct helium_model *model) {
    /* twice: the energy of a walker is itself a sum of three */
    const uint32_t added = 2 * (uint32_t)of_quantum(point)->walkers;
    const double tau = of_dmc(point)->time_step;
    const enum ergo_status status = helium_model_load(ctx, point, added, model);
    if (status == ERGO_OK)
        helium_model_step(model, sqrt(2.0 * model->dimensions * model->lambda * tau), 1.0);
    return status;
}

static void dmc_step_of(const struct ergo_point *point, const struct helium_model *model,
                        struct helium_dmc *dmc, double *unit) {
    const double tau = of_dmc(point)->time_step;
    const double spacing = helium_model_spacing(model);
    /* the potential counts each pair twice, so its unit is half as large */
    const int bits[3] = {model->bits[0] + 1, model->bits[2], model->bits[3]};
    int least = bits[0];
    memset(dmc, 0, sizeof *dmc);
    for (int k = 1; k < 3; k++)
        least = bits[k] < least ? bits[k] : least;
    for (int k = 0; k < 3; k++) {
        dmc->shift[k] = (uint32_t)(bits[k] - least);
        dmc->most[k] = (float)(DRIFT_MOST * spacing / model->side[k] * 0x1p32);
    }
    dmc->drift = (float)(sqrt(model->lambda) * tau);
    dmc->every = dmc_shape_of(point).every;
    *unit = ldexp(1, -least);
    dmc->tau = (float)(tau * *unit);
}

static enum ergo_status load_members(struct ergo_context *ctx, struct dmc_state *s) {
    const struct ergo_batch *batch = s->e.batch;
    struct dmc_launch *l = &s->launch;
    s->models = ergo_engine_memory(&s->e, batch->count, sizeof *s->models);
    s->members = ergo_engine_table(&s->e, DMC_MEMBERS, "members", batch->count, sizeof *s->members);
    s->triplets = ergo_engine_memory(&s->e, batch->count, sizeof *s->triplets);
    s->steps = ergo_engine_table(&s->e, DMC_STEPS, "time steps", batch->count, sizeof *s->steps);
    s->unit = ergo_engine_memory(&s->e, batch->count, sizeof *s->unit);
    enum ergo_status status = ergo_engine_end(&s->e);
    l->cube = true;
    l->binades = 1;
    for (size_t i = 0; i < batch->count && status == ERGO_OK; i++) {
        struct helium_model *model = &s->models[i];
        if (dmc_model_shared(batch, i))
            *model = model[-1];
        else
            status = dmc_model_load(ctx, batch->points[i], model);
        if (status != ERGO_OK)
            break;
        const unsigned binades = helium_model_binades(model);
        l->binades = binades > l->binades ? binades : l->binades;
        l->cube = l->cube && model->side[0] == model->side[1] && model->side[1] == model->side[2];
        helium_member_of(batch->points[i], model, &s->members[i]);
        helium_triplet_fill(model, &s->members[i], &s->triplets[i]);
        l->triplet = l->triplet || model->triplet.strength != 0;
        dmc_step_of(batch->points[i], model, &s->steps[i], &s->unit[i]);
    }
    return status;
}

/* ---- launches ---------------------------------------------------------------------------------
 */

/* Work-groups: as many work-items as a walker has atoms, up to 256, and walkers that share a table
 * to fill them. A core of a CPU takes one walker. What local memory cannot hold is read from global
 * memory: first the tables go there, then the places. */
static void choose_groups(const struct ergo_batch *batch, const struct ergo_device *device,
                          const struct dmc_shape *s, struct dmc_launch *l) {
    const struct ergo_device_summary *d = &device->summary;
    const struct ergo_point *point = batch->points[0];
    const bool gpu = device->type != CL_DEVICE_TYPE_CPU, one = !gpu && !device->quirks.loop_limit;
    const uint32_t wish = (uint32_t)of_quantum(point)->energy_group;
    const uint32_t comb = (uint32_t)of_dmc(point)->comb_group;
    const uint32_t limit = d->largest_group && d->largest_group < 1024
                               ? ergo_power_of_two_down(d->largest_group)
                               : 1024;
    const uint64_t most = d->local_memory, places = 16 * (uint64_t)s->n;
    const uint64_t tables = 32 * (uint64_t)helium_energy_pieces(l->binades);
    l->group = wish  ? wish
               : one ? 1
               : gpu ? ergo_power_of_two_up(s->n, ergo_device_least_group(device), 256)
                     : ergo_power_of_two_up(s->n, 1, limit);
    while (l->group > 1 && (l->group > limit || 32 * (uint64_t)l->group + 512 > most))
        l->group /= 2;
    const uint64_t sums = 32 * (uint64_t)l->group + 320;
    l->tables_local = gpu && tables + sums <= most;
    l->places_local = places + sums + (l->tables_local ? tables : 0) <= most;
    if (l->tables_local && !l->places_local && places + sums <= most) {
        l->tables_local = false;
        l->places_local = true;
    }
    l->mates = 1;
    while (l->group > 1 && l->places_local && 2 * l->mates <= s->walkers &&
           2 * l->mates * l->group <= (limit < 256 ? limit : 256) &&
           (l->tables_local ? tables : 0) + 2 * l->mates * (places + sums) <= most)
        l->mates *= 2;
    const uint64_t used =
        (l->tables_local ? tables : 0) + l->mates * ((l->places_local ? places : 0) + sums);
    l->triplets_local = gpu && used + (((uint64_t)32 << HELIUM_U_PIECES) * l->binades) <= most;
    l->comb = comb ? comb : one ? 1 : limit;
    while (l->comb > 1 && (l->comb > limit || 8 * (uint64_t)l->comb + 64 > most ||
                           (!comb && l->comb >= 2 * s->walkers)))
        l->comb /= 2;
}

/* Work-items that share an atom: a block of partners each, and of atoms a group. A triplet factor's
 * sums have no blocks. */
static uint32_t spread_lanes(uint32_t group, uint32_t blocks, bool triplet) {
    uint32_t lanes = triplet ? 1 : 8;
    while (lanes > 1 && (lanes * HELIUM_E_BLOCK > group || lanes >= 2 * blocks))
        lanes /= 2;
    return lanes;
}

/* Local memory of a group without tables: sums of blocks, places, sums of atoms. */
static uint64_t spread_bytes(uint32_t group, uint32_t lanes) {
    return 28 * (uint64_t)group + 16 * HELIUM_E_BLOCK * (uint64_t)lanes +
           60 * (uint64_t)(group / lanes) + 128;
}

/* Few walkers of many atoms leave most of a GPU idle if each has one work-group: then work-groups
 * share walkers (cl/helium_dmc/spread.cl). own: walkers of a member that are here. */
static void choose_spread(const struct ergo_batch *batch, const struct ergo_device *device,
                          const struct dmc_shape *s, uint32_t own, struct dmc_launch *l) {
    const struct ergo_device_summary *d = &device->summary;
    const struct ergo_point *point = batch->points[0];
    const bool gpu = device->type != CL_DEVICE_TYPE_CPU;
    const int64_t path = point->parameters->path;
    const uint32_t wish = (uint32_t)of_quantum(point)->energy_group;
    const uint32_t blocks = (s->n + HELIUM_E_BLOCK - 1) / HELIUM_E_BLOCK;
    const uint64_t units = d->compute_units ? d->compute_units : 1, most = d->local_memory;
    const uint64_t crews = batch->count * ((own + l->mates - 1) / l->mates);
    const uint64_t tables = gpu ? 32 * (uint64_t)helium_energy_pieces(l->binades) : 0;
    if (path == 1 || (path == 0 && !(gpu && blocks >= 8 && crews < 3 * units)))
        return;
    l->group = wish         ? wish
               : l->triplet ? 2 * HELIUM_E_BLOCK
                            : HELIUM_E_BLOCK * spread_lanes(1024, blocks, false);
    if (!gpu && !wish)
        l->group = HELIUM_E_BLOCK;
    for (;; l->group /= 2) {
        l->lanes = spread_lanes(l->group, blocks, l->triplet);
        const uint64_t bytes = spread_bytes(l->group, l->lanes);
        l->tables_local = gpu && tables + bytes <= most;
        if (l->group == 1 || (l->group <= d->largest_group && bytes <= most &&
                              (l->tables_local || wish || l->group <= 128)))
            break;
    }
    l->shares = (s->n + l->group / l->lanes - 1) / (l->group / l->lanes);
    l->mates = 1;
    l->places_local = !l->triplet;
}

static void declare_buffers(struct dmc_state *s) {
    struct ergo_engine *e = &s->e;
    const struct dmc_shape *h = &s->shape;
    const uint64_t members = e->batch->count, all = members * h->walkers;
    const uint64_t records = h->every ? all * 8 * HELIUM_DMC_RECORDS : 8;
    ergo_engine_buffer(e, DMC_POSITIONS, "walkers' atoms", ERGO_BUFFER_STATE,
                       all * h->walker_bytes);
    ergo_engine_buffer(e, DMC_NEXT, "walkers' next places", ERGO_BUFFER_STATE,
                       all * h->walker_bytes);
    ergo_engine_buffer(e, DMC_PARENTS, "parents", ERGO_BUFFER_STATE, 4 * all);
    ergo_engine_buffer(e, DMC_RECORDS, "records of potential energies", ERGO_BUFFER_STATE, records);
    ergo_engine_buffer(e, DMC_NEXT_RECORDS, "next records", ERGO_BUFFER_STATE, records);
    ergo_engine_buffer(e, DMC_EULER, "guesses of places in the middle", ERGO_BUFFER_SCRATCH,
                       s->launch.places_local && !s->launch.lanes ? 4 : all * h->walker_bytes);
    ergo_engine_buffer(e, DMC_PARTS, "energies of work-groups", ERGO_BUFFER_SCRATCH,
                       all * s->launch.shares * HELIUM_SUMS_BYTES);
    ergo_engine_buffer(e, DMC_MIDDLE, "places of measurements", ERGO_BUFFER_SCRATCH,
                       all * h->walker_bytes);
    ergo_engine_buffer(e, DMC_SUMS, "energies", ERGO_BUFFER_SCRATCH, all * HELIUM_SUMS_BYTES);
    ergo_engine_buffer(e, DMC_GROWN, "growth of the last steps", ERGO_BUFFER_STATE,
                       h->remember ? members * 16 * h->remember : 16);
    ergo_engine_buffer(e, DMC_WEIGHTS, "weights", ERGO_BUFFER_SCRATCH, 8 * all);
    ergo_engine_buffer(e, DMC_E_TABLES, "energy tables", ERGO_BUFFER_CONSTANT,
                       members * 32 * helium_energy_pieces(s->launch.binades));
    ergo_engine_buffer(e, DMC_RANDOM, "tables of random numbers", ERGO_BUFFER_CONSTANT,
                       (uint64_t)32 * HELIUM_R_SIZE);
    ergo_engine_buffer(e, DMC_SITES, "sites", ERGO_BUFFER_CONSTANT,
                       4 * helium_sites_words(e->batch->points[0]));
    const bool triplet = s->launch.triplet;
    ergo_engine_buffer(e, DMC_TRIPLETS, "triplet factors", ERGO_BUFFER_CONSTANT,
                       triplet ? members * HELIUM_TRIPLET_BYTES : 0);
    ergo_engine_buffer(e, DMC_T_TABLES, "triplet tables", ERGO_BUFFER_CONSTANT,
                       triplet ? (members * 32 * s->launch.binades) << HELIUM_U_PIECES : 0);
    ergo_engine_buffer(e, DMC_FIELDS, "vectors of atoms", ERGO_BUFFER_SCRATCH,
                       triplet ? all * h->walker_bytes : 0);
    ergo_engine_buffer(e, DMC_SAMPLE, "samples", ERGO_BUFFER_SAMPLES, all * HELIUM_SUMS_BYTES);
    ergo_engine_buffer(e, DMC_HISTORY, "growth before samples", ERGO_BUFFER_SAMPLES,
                       members * 16 * h->remember);
    ergo_engine_buffer(e, DMC_FORWARD, "forward walks", ERGO_BUFFER_SAMPLES,
                       h->every ? members * 8 * HELIUM_DMC_RECORDS : 0);
    ergo_engine_buffer(e, DMC_PLACES, "places for curves", ERGO_BUFFER_HOST,
                       members * h->structure_walkers * h->walker_bytes);
    ergo_engine_buffer(e, DMC_U_TABLES, "pair tables", ERGO_BUFFER_CONSTANT,
                       h->points ? (members * 16 * s->launch.binades) << HELIUM_U_PIECES : 0);
    ergo_engine_buffer(e, DMC_RATIOS, "displaced atoms", ERGO_BUFFER_CURVES,
                       members * h->structure_walkers * 16 * h->points);
}

/* Macros of kernels that know walkers and pairs. tables: of u and the triplet factor too. */
static void options_of(const struct dmc_state *s, uint32_t group, bool local, bool tables,
                       char options[400]) {
    const struct dmc_launch *l = &s->launch;
    snprintf(options, 400,
             "-DHELIUM_N=%uu -DHELIUM_GROUP=%u -DHELIUM_E_MATES=%u -DHELIUM_E_BASE=%uu "
             "-DHELIUM_E_SIZE=%u -DHELIUM_LOCAL=%d -DHELIUM_CUBE=%d -DHELIUM_E_LOCAL=%d "
             "-DHELIUM_ONE_BODY=%d",
             s->shape.n, group, l->mates, (127 - l->binades) << HELIUM_E_PIECES,
             helium_energy_pieces(l->binades), (int)local, (int)l->cube, (int)l->tables_local,
             (int)helium_one_table(s->e.batch->points[0]));
    const size_t length = strlen(options);
    if (tables)
        snprintf(options + length, 400 - length, "%s -DHELIUM_U_BASE=%uu -DHELIUM_U_SIZE=%u",
                 l->triplet ? " -DHELIUM_TRIPLET=1" : "", (127 - l->binades) << HELIUM_U_PIECES,
                 l->binades << HELIUM_U_PIECES);
}

static void declare_spread(struct dmc_state *s, char options[400]) {
    static const char program[] = "helium_dmc/spread.cl";
    const size_t length = strlen(options);
    snprintf(options + length, 400 - length, " -DHELIUM_LANES=%u -DHELIUM_COLLECTORS=32",
             s->launch.lanes);
    ergo_engine_kernel(&s->e, DMC_DIFFUSE, program, options, "helium_dmc_diffuse");
    ergo_engine_kernel(&s->e, DMC_DRIFT_HALF, program, options, "helium_dmc_drift_half");
    ergo_engine_kernel(&s->e, DMC_DRIFT_WHOLE, program, options, "helium_dmc_drift_whole");
    ergo_engine_kernel(&s->e, DMC_COLLECT, program, options, "helium_dmc_collect");
    if (s->launch.triplet)
        ergo_engine_kernel(&s->e, DMC_FIELD, program, options, "helium_dmc_field");
}

static void declare_kernels(struct dmc_state *s) {
    const struct dmc_launch *l = &s->launch;
    char options[400];
    options_of(s, l->group * l->mates, l->places_local, l->triplet, options);
    if (l->lanes) {
        declare_spread(s, options);
    } else {
        if (l->triplet && l->triplets_local)
            strcat(options, " -DHELIUM_T_LOCAL=1");
        ergo_engine_kernel(&s->e, DMC_STEP, "helium_dmc/step.cl", options, "helium_dmc_step");
    }
    if (s->shape.points) {
        options_of(s, l->density.group, l->density.local, true, options);
        ergo_engine_kernel(&s->e, DMC_DISPLACE, "helium/density.cl", options, "helium_density");
    }
    snprintf(options, sizeof options, "-DHELIUM_N=%uu", s->shape.n);
    ergo_engine_kernel(&s->e, DMC_START, "helium/lattice.cl", options, "helium_start");
    snprintf(options, sizeof options, "-DHELIUM_COMB=%u", l->comb);
    ergo_engine_kernel(&s->e, DMC_COMB, "helium_dmc/comb.cl", options, "helium_dmc_comb");
    ergo_engine_kernel(&s->e, DMC_KEEP, "helium_dmc/comb.cl", options, "helium_dmc_keep");
    if (s->shape.every)
        ergo_engine_kernel(&s->e, DMC_SUM_RECORDS, "helium_dmc/comb.cl", options,
                           "helium_dmc_forward");
}

/* Iterations of a work-item's loops: in a step, and of the comb. */
static enum ergo_status check_loops(struct ergo_context *ctx, const struct dmc_state *s) {
    const struct ergo_device *device = s->e.device;
    const struct dmc_shape *h = &s->shape;
    const uint64_t limit = device->quirks.loop_limit, n = h->n, comb = s->launch.comb;
    const uint64_t items = s->launch.lanes ? 1 : (n + s->launch.group - 1) / s->launch.group;
    const uint64_t visits = s->launch.triplet ? 9 * n : 3 * n;
    const uint64_t step = items * (visits + n / 8 + 6) + 4096 + 7 * (uint64_t)s->launch.group;
    const uint64_t share = (h->walkers + comb - 1) / comb;
    const uint64_t displaced =
        h->points ? helium_density_loops(h->n, s->launch.density.group, s->launch.triplet) : 0;
    if (limit && (step > limit || share * 26 + 64 > limit || displaced > limit))
        return ERGO_FAIL(ctx, ERGO_E_DEVICE,
                         "%s (%s) ends loops after %llu iterations without an error; %u walkers of "
                         "%u atoms need more. Use fewer, a larger /tuning/energy_group or "
                         "/tuning/comb_group, or another device",
                         device->summary.name, device->summary.id, (unsigned long long)limit,
                         h->walkers, h->n);
    return ERGO_OK;
}

static void describe(struct dmc_state *s) {
    struct ergo_plan *plan = &s->e.plan;
    const struct dmc_launch *l = &s->launch;
    const double all = (double)s->e.batch->count * s->shape.walkers;
    const char *tables = l->tables_local ? "local" : "global";
    snprintf(plan->path, sizeof plan->path, "%s",
             l->lanes          ? "spread"
             : l->places_local ? "local"
                               : "global");
    if (l->lanes)
        snprintf(plan->launch, sizeof plan->launch,
                 "%.0f walkers, %u work-groups each, %u atoms a work-group, %u work-items an atom, "
                 "tables in %s memory; the comb by groups of %u",
                 all, l->shares, l->group / l->lanes, l->lanes, tables, l->comb);
    else
        snprintf(plan->launch, sizeof plan->launch,
                 "%.0f walkers, %u work-items each, %u walkers a work-group, tables in %s memory; "
                 "the comb by groups of %u",
                 all, l->group, l->mates, tables, l->comb);
}

enum ergo_status dmc_configure(struct ergo_context *ctx, void *state) {
    struct dmc_state *s = state;
    const struct ergo_batch *batch = s->e.batch;
    const struct ergo_device *device = s->e.device;
    struct ergo_plan *plan = &s->e.plan;
    const struct dmc_launch *l = &s->launch;
    enum ergo_status status = load_members(ctx, s);
    if (status != ERGO_OK)
        return status;
    s->shape = dmc_shape_of(batch->points[0]);
    s->sites = ergo_engine_memory(&s->e, helium_sites_words(batch->points[0]), sizeof *s->sites);
    s->parents = ergo_engine_memory(&s->e, s->shape.walkers, sizeof *s->parents);
    status = ergo_engine_end(&s->e);
    if (status != ERGO_OK)
        return status;
    helium_sites(&s->models[0], s->sites);
    if (!s->cut)
        s->end = s->shape.walkers;
    choose_groups(batch, device, &s->shape, &s->launch);
    choose_spread(batch, device, &s->shape, dmc_own(s), &s->launch);
    s->launch.density =
        helium_density_choose(device, s->shape.n, s->launch.group, s->launch.triplet);
    status = check_loops(ctx, s);
    const bool gpu = device->type != CL_DEVICE_TYPE_CPU;
    const double all = (double)batch->count * s->shape.walkers, n = s->shape.n;
    const double units = device->summary.compute_units ? device->summary.compute_units : 1;
    plan->work_per_step = 3 * n * n * all; /* three gradients */
    plan->block_steps =
        fmax(1.0, floor(0.1 * (gpu ? 1e9 : 5e7) * units *
                        (gpu && !l->lanes ? fmin(1, all / (4 * units)) : 1) / plan->work_per_step));
    plan->launches_per_step = !l->lanes ? 2 : l->triplet ? 9 : 6;
    plan->host_bytes = batch->count * 32 * helium_energy_pieces(l->binades) +
                       (uint64_t)all * (2 * s->shape.walker_bytes + 2 * HELIUM_SUMS_BYTES);
    describe(s);
    s->e.curve_interval = (uint64_t)of_quantum(batch->points[0])->structure_every;
    declare_buffers(s);
    declare_kernels(s);
    dmc_forward_declare(s);
    return status;
}
