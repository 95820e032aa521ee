/* Launch shapes and memory of a batch on a device. They change the speed and never the chain. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "samplers/lj_gcmc/cut.h"

/* Bins of g(r), or of a density profile in a field. Of g(r) their number up to the cutoff is an
 * integer, so that the cutoff is an edge. Beyond it they reach to twice the cutoff or to half the
 * shortest side. */
uint32_t lj_bins(const struct ergo_point *point) {
    const struct lj_system s = lj_system_of(point);
    const uint32_t to_cutoff = lj_curve_every(point) ? lj_gr_bins(point) : 0;
    if (to_cutoff && s.field)
        return (uint32_t)of_particle(point)->profile_bins;
    const double shortest = fmin(s.box[0], fmin(s.box[1], s.box[2]));
    if (to_cutoff == 0)
        return 0;
    const double bins = floor(fmin(2.0, shortest / 2 / s.cutoff) * to_cutoff * (1 + 1e-12));
    return (uint32_t)bins;
}

/* Bins of P(N): N up to 1.2 per sigma^3, at most LJ_MOST_PARTICLES, in at most 1024 bins. */
size_t lj_histogram_size(const struct lj_system *s, uint32_t *width) {
    const double dense =
        fmin(1.2 * s->volume / (s->sigma * s->sigma * s->sigma), LJ_MOST_PARTICLES) + 16;
    *width = (uint32_t)ceil(dense / 1024);
    return (size_t)ceil(dense / *width);
}

static double largest_start(const struct ergo_batch *batch) {
    double n = 0;
    for (size_t i = 0; i < batch->count; i++) {
        double all = 0; /* of both boxes, because each may get all */
        for (unsigned b = 0; b < lj_boxes_of(batch->points[i]); b++)
            all += lj_box_particles(batch->points[i], b);
        n = fmax(n, all);
    }
    return n;
}

/* The most cells of a dilute gas, and places for particles at first: 64 for each particle that is
 * to be expected. Open boxes may condense, and how many a file has is known when it is read. */
static double most_cells(const struct ergo_batch *batch) {
    double n = fmax(1 << 10, largest_start(batch));
    for (size_t i = 0; i < batch->count; i++) {
        const struct ergo_point *point = batch->points[i];
        const struct lj_system s = lj_system_of(point);
        const double least = lj_start_file(point) || lj_is_open(point) ? 1 << 14 : 0;
        n = fmax(n, fmax(least, s.activity * s.volume));
    }
    return 64 * n;
}

/* If no member has pairs: the most particles of a chain to be expected; else 0. Then no cell has to
 * be as wide as the cutoff, and density has no bound. */
static double ideal_particles(const struct ergo_batch *batch) {
    double n = largest_start(batch);
    for (size_t i = 0; i < batch->count; i++) {
        const struct lj_system s = lj_system_of(batch->points[i]);
        if (s.epsilon != 0 || s.period)
            return 0;
        n = fmax(n, s.activity * s.volume);
    }
    return n;
}

/* Seconds of a move, roughly. Only the length of launches depends on it. */
static double move_seconds(const struct lj_system *s, const struct lj_grid *grid,
                           const struct ergo_device *device, const struct lj_launch *l,
                           size_t members) {
    const double units = device->summary.compute_units ? device->summary.compute_units : 1;
    const double cutoff = s->cutoff / s->sigma;
    const double looked_at = grid->n_offsets;
    const double pairs = fmin(0.7 * 4.19 * cutoff * cutoff * cutoff, 0.7 * s->volume) + l->atoms;
    if (device->type == CL_DEVICE_TYPE_CPU)
        return (2e-7 + 4e-9 * looked_at + 5e-9 * pairs) * ceil((double)members / units);
    const double rounds = ceil((double)members / (units * 16));
    if (l->whole)
        return rounds * (1e-6 + 2e-8 * l->whole / l->group);
    return rounds * (1e-6 + 5e-8 * (looked_at + pairs) / l->group);
}

/* Some devices end loops after a number of iterations (struct ergo_quirks). A launch must stay
 * far below it. Here: the most loop iterations of a work-item in one move. */
uint64_t lj_launch_steps(const struct ergo_device *device, const struct lj_grid *grid,
                         const struct lj_launch *l, uint32_t slots) {
    if (l->board_blocks)
        return 1;
    if (!device->quirks.loop_limit)
        return l->launch_steps;
    const uint64_t loops = device->quirks.loop_limit, end = (grid->cells + l->whole) / l->group;
    if (l->whole)
        return loops < end ? 0 : (loops - end) / (3 * (l->whole / l->group + 1) + 350);
    const uint64_t items = l->group / l->teams;
    const uint64_t visits = (l->energies ? 3 : 2) * (grid->n_offsets / items + 2) * (1 + slots) +
                            3 * slots + 4 * (uint64_t)l->atoms;
    const uint64_t most = device->quirks.loop_limit / (visits + 301 + items + 4 * l->teams);
    return l->launch_steps < most ? l->launch_steps : most;
}

/* One wave for each active cell, because there are enough of them to fill a device. */
static void plan_board(const struct ergo_point *point, const struct lj_system *s,
                       const struct ergo_device *device, struct lj_launch *l) {
    uint32_t blocks[3];
    const bool cpu = device->type == CL_DEVICE_TYPE_CPU;
    if (!cpu && !point->parameters->work_group)
        l->group = ergo_device_least_group(device);
    l->tile = lj_board_tile(s, of_particle(point)->tile);
    l->board_blocks = lj_board_blocks(s, blocks);
}

static enum ergo_status check_board(struct ergo_context *ctx, const struct ergo_device *device,
                                    const struct lj_system *s, const struct lj_launch *l) {
    const struct ergo_device_summary *d = &device->summary;
    const uint64_t local = lj_board_local_bytes(s, l, l->tile);
    if (local > d->local_memory)
        return ERGO_FAIL(ctx, ERGO_E_DEVICE,
                         "%s (%s): the neighbourhood of an active cell needs %llu bytes of local "
                         "memory, the device has %llu: use a shorter cutoff, fewer "
                         "/system/cell_trials, a smaller /tuning/tile or /tuning/work_group (or "
                         "0), or another device",
                         d->name, d->id, (unsigned long long)local,
                         (unsigned long long)d->local_memory);
    const uint64_t limit = device->quirks.loop_limit;
    if (limit && lj_board_visits(s, l, l->slots, l->tile) > limit)
        return ERGO_FAIL(ctx, ERGO_E_DEVICE,
                         "%s (%s) ends a kernel's loops after %llu iterations, too few for an "
                         "activation: use fewer /system/cell_trials, a shorter cutoff, a smaller "
                         "/tuning/tile or /tuning/slots, a larger /tuning/work_group (or 0), or "
                         "another device",
                         d->name, d->id, (unsigned long long)limit);
    return ERGO_OK;
}

/* Choose the kernels, their launch shapes, and the initial sizes of cells and lists. */
static enum ergo_status choose_launch(struct ergo_context *ctx, struct lj_state *s) {
    const struct ergo_batch *batch = s->e.batch;
    const struct ergo_device *device = s->e.device;
    const struct ergo_device_summary *d = &device->summary;
    const struct ergo_point *first = batch->points[0];
    const struct lj_system *y = &s->system;
    struct lj_launch *l = &s->launch;
    l->atoms = s->tables.atoms ? lj_frozen_near(s->tables.atoms) : 0;
    l->group = lj_group(device, y, lj_chains(s), first->parameters->work_group);
    /* how many a file has is known when it is read */
    l->whole = lj_start_file(first) || l->atoms
                   ? 0
                   : lj_whole(device, y, largest_start(batch), of_lj(first)->all_pairs);
    if (!l->whole && of_lj(first)->all_pairs == 1)
        ergo_log(ctx, ERGO_LOG_WARNING,
                 "/tuning/all_pairs: 1 is not possible here, and cells are used: it needs a number "
                 "of particles that is constant, given by the job and not by a file, and has room "
                 "in local memory, and no frozen atoms");
    if (l->whole)
        l->group = lj_whole_group(device, lj_chains(s), l->whole, first->parameters->work_group);
    if (y->period)
        plan_board(first, y, device, l);
    l->vector = device->type == CL_DEVICE_TYPE_CPU && l->group == 1 && !l->whole;
    l->slotted = l->vector && !y->period;
    l->energies = !l->slotted && !y->period && !l->whole;
    l->teams = lj_teams(device, l, of_lj(first)->teams);
    if (y->ensemble == LJ_GIBBS && l->teams > 1 && l->teams == l->group)
        l->teams /=
            2; /* lj_transfer with teams of one work-item was seen to be wrong on PoCL 3.1 */
    /* explicit vectors prefer few long cells, work-items many small ones: see
     * cl/lj_gcmc/gather.h */
    const int64_t wish = of_lj(first)->microcell;
    const double cutoff = y->cutoff / y->sigma;
    const double wide = l->slotted ? cutoff : wish ? 0.01 * (double)wish : 1.0;
    const double volume = y->volume / (y->sigma * y->sigma * y->sigma);
    /* a cell is searched for the particle that leaves: hold few */
    const double ideal = ideal_particles(batch), most = most_cells(batch);
    const double side = ideal > 0 ? fmin(wide, cbrt(volume / ideal)) : wide;
    const double box[3] = {y->box[0] / y->sigma, y->box[1] / y->sigma, y->box[2] / y->sigma};
    if (!(y->period ? lj_grid_board(&s->grid, y)
                    : lj_grid_make(&s->grid, box, side < wide ? side : cutoff, side, most)))
        return ERGO_FAIL(ctx, ERGO_E_DEVICE,
                         "no cell grid for this cutoff: it spans more than 127 cells; use a larger "
                         "/tuning/microcell");

    /* as many particles as a dense liquid has, or a dilute gas cells */
    const double in_cell = fmin(fmax(volume, ideal), most) / (double)s->grid.cells;
    const int64_t slots = of_lj(first)->slots;
    l->slots = slots ? (uint32_t)slots : (uint32_t)fmin(4096, ceil(1.2 * in_cell) + 3);
    if (l->slotted)
        l->slots = (l->slots + 7) / 8 * 8;
    const double start = 1.3 * fmax(largest_start(batch), ideal);
    l->capacity = (uint32_t)fmin(LJ_MOST_PARTICLES, fmax(fmax(fmin(volume, most), start), 64));
    const int64_t wish_capacity = of_lj(first)->capacity;
    if (wish_capacity)
        l->capacity = (uint32_t)fmax((double)wish_capacity, largest_start(batch));

    l->volume_every = lj_has_volume(first) ? (uint64_t)of_particle(first)->volume_every : 0;
    l->transfers = y->ensemble == LJ_GIBBS ? (uint32_t)of_lj(first)->transfers : 0;
    l->turns = 1 + l->transfers;
    const double units = d->compute_units ? d->compute_units : 1;
    l->end_group = device->type == CL_DEVICE_TYPE_CPU ? 1 : d->largest_group >= 1024 ? 1024 : 256;
    l->total_group = device->type == CL_DEVICE_TYPE_CPU ? 1 : 64;
    /* volume moves make these sums all the time, and have to fill the device */
    const bool fill = l->volume_every && device->type != CL_DEVICE_TYPE_CPU;
    const double groups = fill ? ceil((double)l->capacity / l->total_group) : 64;
    const double parts = ceil((fill ? 32 : 4) * units / (double)lj_chains(s));
    l->total_parts = (uint32_t)fmin(fmin(64, groups), fmax(1, parts));
    if (fill && l->whole) { /* rows of particles, each part as many */
        const double rows = fmax(1, ceil(largest_start(batch) / l->total_group));
        l->total_parts = (uint32_t)ceil(rows / ceil(rows / l->total_parts));
    }
    if (device->quirks.loop_limit) { /* one particle per work-item */
        l->total_group = 256;
        l->total_parts = 64;
    }
    while (l->end_group > d->largest_group)
        l->end_group /= 2;
    l->sum_group = l->end_group < 256 ? l->end_group : 256;
    l->shares = (uint32_t)fmin(16, ceil((double)l->board_blocks / (4.0 * l->sum_group)));
    if (device->type == CL_DEVICE_TYPE_CPU)
        l->shares = 1;
    while (l->total_group > d->largest_group)
        l->total_group /= 2;
    l->bins = lj_bins(first);
    l->ghosts = lj_ghosts_of(first);
    return ERGO_OK;
}

/* Estimated times, and from these the lengths of launches and blocks. */
static void plan_times(struct lj_state *s) {
    const struct ergo_device *device = s->e.device;
    const double members = (double)lj_chains(s);
    const double units = device->summary.compute_units ? device->summary.compute_units : 1;
    struct lj_launch *l = &s->launch;
    struct ergo_plan *plan = &s->e.plan;
    /* trial moves of a member in one step of the run */
    const double trials = l->board_blocks ? (double)l->board_blocks * s->system.trials
                          : l->transfers  ? 1 + 0.5 * l->transfers / (double)l->volume_every
                                          : 1;
    const double seconds = l->board_blocks
                               ? trials * members * 1e-6 / units + 1e-5
                               : move_seconds(&s->system, &s->grid, device, l, lj_chains(s));
    plan->block_steps = fmax(1, floor(0.1 / seconds));
    l->step_seconds =
        l->board_blocks ? seconds / members : move_seconds(&s->system, &s->grid, device, l, 1);
    l->launch_steps = l->board_blocks ? 1 : 1000000000;
    plan->work_per_step = members * trials;
    plan->launches_per_step =
        l->board_blocks ? 3 : 1.0 / (double)ergo_plan_launch(plan, l->launch_steps);
}

static void describe(const struct lj_state *s, struct ergo_plan *plan) {
    const struct lj_launch *l = &s->launch;
    const uint32_t *n = s->grid.n;
    snprintf(plan->path, sizeof plan->path, "%s",
             l->board_blocks ? "checkerboard, a launch per activation"
             : l->whole      ? "all pairs, many moves per launch"
             : l->slotted    ? "cells, many moves per launch"
                             : "microcells, many moves per launch");
    if (l->board_blocks)
        snprintf(plan->launch, sizeof plan->launch,
                 "%zu chains, %llu active cells of 2 x 2 x 2 cells among %u x %u x %u, one "
                 "work-group of %u and %u trial moves for each",
                 s->e.batch->count, (unsigned long long)l->board_blocks, n[0], n[1], n[2], l->group,
                 s->system.trials);
    else if (l->whole)
        snprintf(plan->launch, sizeof plan->launch,
                 "%zu chains, a work-group of %u each, with room for %u particles in local memory",
                 lj_chains(s), l->group, l->whole);
    else
        snprintf(plan->launch, sizeof plan->launch,
                 "%zu chains, a work-group of %u each, %u moves at once; %u x %u x %u cells, %u "
                 "visited for a particle, with %u slots each at first",
                 lj_chains(s), l->group, l->teams, n[0], n[1], n[2], s->grid.n_offsets, l->slots);
}

/* Refuse devices that end loops too early or have too little local memory. */
static enum ergo_status check_launch(struct ergo_context *ctx, const struct lj_state *s) {
    const struct ergo_device *device = s->e.device;
    const struct lj_launch *l = &s->launch;
    const uint64_t limit = device->quirks.loop_limit;
    if (l->board_blocks && check_board(ctx, device, &s->system, l) != ERGO_OK)
        return ERGO_E_DEVICE;
    if (lj_launch_steps(device, &s->grid, l, l->slots) == 0 ||
        (limit && l->capacity > l->total_group * l->total_parts))
        return ERGO_FAIL(
            ctx, ERGO_E_DEVICE,
            "%s (%s) ends a kernel's loops after %llu iterations, too few for this "
            "box: use a smaller one, a smaller /tuning/slots (or 0), /tuning/microcell or "
            "/tuning/capacity (or 0), or another device",
            device->summary.name, device->summary.id, (unsigned long long)limit);
    const uint64_t counters = 4 * l->bins * lj_pair_kinds(&s->system) + 1024;
    if (l->bins && counters > device->summary.local_memory)
        return ERGO_FAIL(
            ctx, ERGO_E_DEVICE,
            "%s (%s): the bins of g(r) need %llu bytes of local memory, the device has "
            "%llu: use a smaller /run/gr_bins, which each pair of species has for "
            "itself, or another device",
            device->summary.name, device->summary.id, (unsigned long long)counters,
            (unsigned long long)device->summary.local_memory);
    return ERGO_OK;
}

/* ---- declarations -----------------------------------------------------------------------------
 */

static void declare_buffers(struct lj_state *s) {
    struct ergo_engine *e = &s->e;
    const struct lj_launch *l = &s->launch;
    const uint64_t members = lj_chains(s), cells = lj_cells(s) * l->slots * members;
    const uint32_t *n = s->grid.n;
    ergo_engine_buffer(e, LJ_CHAINS, "chains", ERGO_BUFFER_STATE, members * sizeof *s->chains);
    ergo_engine_ends(e, LJ_CHAINS);
    /* on a checkerboard the list is made from the cells before each use */
    ergo_engine_buffer(e, LJ_PARTICLES, "particles",
                       l->board_blocks ? ERGO_BUFFER_SCRATCH : ERGO_BUFFER_STATE,
                       16 * members * l->capacity);
    ergo_engine_buffer(e, LJ_CELLS, "cells", ERGO_BUFFER_STATE, 16 * cells);
    ergo_engine_buffer(e, LJ_PAIR_ENERGIES, "pair energies", ERGO_BUFFER_STATE,
                       l->energies ? 8 * cells : 0);
    ergo_engine_buffer(e, LJ_OFFSETS, "lists of cells", ERGO_BUFFER_CONSTANT,
                       s->lists     ? s->list_bytes
                       : l->slotted ? 4 * (uint64_t)s->grid.n_offsets
                                    : lj_grid_list_bytes(&s->grid));
    if (l->volume_every) {
        ergo_engine_buffer(e, LJ_RULES, "rules of volume moves", ERGO_BUFFER_CONSTANT,
                           members * sizeof *s->rules);
        ergo_engine_buffer(e, LJ_TRIALS, "totals of volume moves", ERGO_BUFFER_SCRATCH,
                           8 * LJ_TOTALS * members * l->total_parts);
    }
    ergo_engine_buffer(e, LJ_SHARES, "totals", ERGO_BUFFER_SCRATCH,
                       8 * LJ_TOTALS * members * l->total_parts);
    ergo_engine_buffer(e, LJ_SAMPLES, "samples", ERGO_BUFFER_SAMPLES,
                       members * sizeof(struct lj_sample));
    ergo_engine_buffer(
        e, LJ_GHOSTS, "test insertions", ERGO_BUFFER_SAMPLES,
        l->ghosts ? 8 * LJ_GHOST_WORDS * members * l->total_parts * lj_ghost_kinds(&s->system) : 0);
    if (l->bins) {
        ergo_engine_buffer(e, LJ_EDGES, "edges of g(r)", ERGO_BUFFER_CONSTANT,
                           (l->bins + UINT64_C(1)) * sizeof *s->bin_edges);
        ergo_engine_buffer(e, LJ_COUNTS, "pair counts", ERGO_BUFFER_CURVES,
                           4 * members * l->total_parts * l->bins * lj_pair_kinds(&s->system));
    }
    if (s->tables.bytes)
        ergo_engine_buffer(e, LJ_TABLES, "tables of potentials", ERGO_BUFFER_CONSTANT,
                           s->tables.bytes);
    if (l->board_blocks) {
        ergo_engine_buffer(e, LJ_BOUNDS, "bounds of cells", ERGO_BUFFER_CONSTANT,
                           4 * ((uint64_t)n[0] + n[1] + n[2]));
        ergo_engine_buffer(e, LJ_ACTIVE_CELLS, "sums of active cells", ERGO_BUFFER_STATE,
                           LJ_PART_BYTES * l->board_blocks * members);
        ergo_engine_buffer(e, LJ_FULL, "full cells", ERGO_BUFFER_STATE, 4 * members);
        ergo_engine_buffer(e, LJ_TURNS, "sums of an activation", ERGO_BUFFER_SCRATCH,
                           LJ_TURN_BYTES * members * l->shares);
    }
    if (s->cut)
        lj_cut_declare(s);
}

void lj_potential_options(const struct lj_state *s, struct ergo_text *o) {
    if (s->system.tabulated)
        ergo_text_append(o, " -DLJ_TABLE=1");
    if (s->system.mie)
        ergo_text_append(o, " -DLJ_MIE_N=%uu -DLJ_MIE_M=%uu", s->system.repulsion,
                         s->system.attraction);
    if (s->system.species.n)
        ergo_text_append(o, " -DLJ_SPECIES=%uu", s->system.species.n);
}

static enum ergo_status declare_kernels(struct ergo_context *ctx, struct lj_state *s) {
    static const char *const total = "lj_gcmc/total.cl", *const end = "lj_gcmc/board_end.cl";
    struct ergo_engine *e = &s->e;
    const struct lj_launch *l = &s->launch;
    struct ergo_text o = {0}, board = {0}, ghosts = {0};
    ergo_text_append(&o, "-DLJ_GROUP=%u -DLJ_TEAMS=%u -DLJ_TOTAL_GROUP=%u", l->group, l->teams,
                     l->total_group);
    ergo_text_append(&o, " -DLJ_PARTS=%uu%s%s%s", s->grid.parts, s->cut ? " -DLJ_CUT=1" : "",
                     l->slotted ? " -DLJ_SLOTTED=1" : "", l->energies ? " -DLJ_ENERGIES=1" : "");
    lj_potential_options(s, &o);
    if (l->volume_every)
        ergo_text_append(&o, l->transfers ? " -DLJ_NPT=1 -DLJ_GIBBS=1" : " -DLJ_NPT=1");
    if (s->system.field)
        lj_field_options(s, &o);
    ergo_engine_kernel(e, LJ_TOTAL, total, o.data, "lj_total");
    ergo_engine_kernel(e, LJ_PAIRS, total, o.data, s->system.field ? "lj_profile" : "lj_pairs");
    if (l->transfers)
        ergo_engine_kernel(e, LJ_TRANSFER, "lj_gcmc/transfer.cl", o.data, "lj_transfer");
    if (l->whole)
        ergo_text_append(&o, " -DLJ_WHOLE=%uu", l->whole);
    const bool warps = ergo_device_adds_in_warps(e->device);
    ergo_text_append(&ghosts, "%s%s", o.data ? o.data : "",
                     warps && l->total_group % 32 == 0 ? " -DLJ_WARP=1" : "");
    if (l->ghosts)
        ergo_engine_kernel(e, LJ_GHOST, "lj_gcmc/ghost.cl", ghosts.data, "lj_ghost");
    if (l->volume_every) {
        ergo_engine_kernel(e, LJ_VOLUME_SUMS, "lj_gcmc/volume.cl", ghosts.data, "lj_volume_sums");
        ergo_engine_kernel(e, LJ_VOLUME_MOVE, "lj_gcmc/volume.cl", ghosts.data, "lj_volume_move");
    }
    if (l->board_blocks) {
        ergo_text_append(&o, " -DLJ_TRIALS=%uu -DLJ_END_GROUP=%u -DLJ_SUM_GROUP=%u",
                         s->system.trials, l->end_group, l->sum_group);
        lj_board_options(s, &board);
        ergo_engine_kernel(e, LJ_BOARD, "lj_gcmc/board.cl", board.data, "lj_board");
        if (s->cut)
            lj_cut_kernels(s, board.data);
        if (!lj_cut_shares(s)) {
            ergo_engine_kernel(e, LJ_BOARD_SUM, end, o.data, "lj_board_sum");
            ergo_engine_kernel(e, LJ_BOARD_END, end, o.data, "lj_board_end");
        }
        if (!s->cut)
            ergo_engine_kernel(e, LJ_BOARD_LIST, end, o.data, "lj_board_list");
    } else {
        /* in larger groups a work-item finds hardly more than one pair of a move; a queue does not
         * know species */
        if (l->group >= 32 && l->group < 128 && !l->whole && !s->system.species.n)
            ergo_text_append(&o, " -DLJ_QUEUE=8u");
        if (warps && l->group % 32 == 0)
            ergo_text_append(&o, " -DLJ_WARP=1");
        ergo_engine_kernel(e, LJ_RUN, l->whole ? "lj_gcmc/whole.cl" : "lj_gcmc/run.cl", o.data,
                           "lj_run");
    }
    const bool failed = o.failed || board.failed || ghosts.failed;
    ergo_text_free(&o);
    ergo_text_free(&ghosts);
    ergo_text_free(&board);
    return failed ? ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for build options") : ERGO_OK;
}

/* ---- configure --------------------------------------------------------------------------------
 */

/* What volume moves need; true: there are none, or all is there. */
static bool fill_rules(struct lj_state *s) {
    const struct ergo_batch *batch = s->e.batch;
    if (!s->launch.volume_every)
        return true;
    s->rules = ergo_engine_memory(&s->e, lj_chains(s), sizeof *s->rules);
    for (size_t i = 0; s->rules && i < lj_chains(s); i++)
        s->rules[i] = lj_rules_of(batch->points[i / s->boxes], i % s->boxes);
    return s->rules && lj_volume_lists(s, lj_widest_core(s));
}

static struct lj_shape shape_of(const struct lj_state *s) {
    const struct lj_grid *g = &s->grid;
    const uint32_t period = s->system.period;
    const struct lj_reach r = lj_gr_reach(s);
    struct lj_shape shape = {.cells = (uint32_t)lj_cells(s),
                             .offsets = g->n_offsets,
                             .near = g->near,
                             .cull = g->cull,
                             .bins = s->launch.bins,
                             .profile = s->system.field ? lj_profile_bins(s) : 0,
                             .period = period,
                             .active = (uint32_t)s->launch.board_blocks};
    if (period)
        shape.by_span = UINT32_MAX / (2 * period - LJ_ACTIVE) + 1;
    for (int k = 0; k < 3; k++) {
        shape.n[k] = g->n[k];
        shape.middle[k] = UINT32_C(0x80000000) / g->n[k];
        shape.width[k] = 0x1p32f / (float)g->n[k];
        shape.low[k] = r.low[k];
        shape.high[k] = r.high[k];
        shape.reach[k] = r.ring[k] ? 0 : shape.width[k];
        shape.blocks[k] = period ? g->n[k] / period : 0;
    }
    return shape;
}

static enum ergo_status fill_members(struct lj_state *s) {
    const struct ergo_batch *batch = s->e.batch;
    const double width = lj_bin_width(s) / s->system.sigma;
    s->members = ergo_engine_table(&s->e, LJ_MEMBERS, "parameters of the chains", lj_chains(s),
                                   sizeof *s->members);
    s->chains = ergo_engine_memory(&s->e, lj_chains(s), sizeof *s->chains);
    s->step_sizes = ergo_engine_memory(&s->e, lj_chains(s), sizeof *s->step_sizes);
    s->physics = ergo_engine_memory(&s->e, batch->count, sizeof *s->physics);
    s->bin_edges = ergo_engine_memory(&s->e, s->launch.bins + (size_t)1, sizeof *s->bin_edges);
    if (ergo_engine_end(&s->e) != ERGO_OK)
        return ergo_engine_end(&s->e);
    for (size_t i = 0; i < lj_chains(s); i++)
        lj_member_fill(batch->points[i / s->boxes], i % s->boxes, s->tables.pair, &s->members[i]);
    for (size_t i = 0; i < lj_chains(s) && s->cut; i++)
        s->members[i].low = lj_cut_low(s);
    for (size_t i = 0; i < batch->count; i++) {
        s->physics[i].system = lj_system_of(batch->points[i]);
        s->physics[i].system.pair = s->tables.pair;
        s->physics[i].jump = lj_jump_of(&s->physics[i].system);
    }
    lj_frozen_fill(s);
    lj_species_fill(s);
    if (!fill_rules(s))
        return ERGO_FAIL(s->e.ctx, ERGO_E_MEMORY, "no memory for lists of cells");
    for (size_t k = 0; k <= s->launch.bins; k++)
        s->bin_edges[k] = (float)((double)k * width * (double)k * width);
    return ERGO_OK;
}

enum ergo_status lj_configure(struct ergo_context *ctx, void *state) {
    struct lj_state *s = state;
    const struct ergo_point *first = s->e.batch->points[0];
    s->boxes = lj_boxes_of(first);
    s->system = lj_system_of(first);
    /* cells are those of the smaller box */
    if (s->boxes == 2 && lj_box_system(first, 1).volume < s->system.volume)
        s->system = lj_box_system(first, 1);
    enum ergo_status status = lj_tables_read(ctx, first, &s->tables);
    s->system.pair = s->tables.pair;
    if (status == ERGO_OK && !lj_tables_make(&s->system, lj_chains(s), &s->tables))
        status = ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for tables of potentials");
    if (status == ERGO_OK)
        status = choose_launch(ctx, s);
    if (status == ERGO_OK && s->cut)
        status = lj_cut_shape(ctx, s);
    if (status != ERGO_OK)
        return status;
    plan_times(s);
    describe(s, &s->e.plan);
    s->launch.atoms_near = lj_frozen_reach(s);
    status = check_launch(ctx, s);
    if (status == ERGO_OK)
        status = fill_members(s);
    if (status != ERGO_OK)
        return status;
    s->slots = s->launch.slots;
    s->capacity = s->launch.capacity;
    s->tile = s->launch.tile;
    s->shape = shape_of(s);
    s->e.curve_interval = lj_curve_every(first);
    for (size_t c = 0; c < LJ_CURVES; c++)
        s->curve_sizes[c] =
            c == LJ_CURVE_HISTOGRAM || !s->launch.bins ? 0 : ergo_point_curve_size(first, c);
    declare_buffers(s);
    return declare_kernels(ctx, s);
}
