/* Spins on graphs: kernels, launch sizes, memory. They change the speed and never the chain. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "samplers/spin_lattice/graph/graph.h"
#include "samplers/spin_lattice/graph/parameters.h"
#include "samplers/spin_lattice/models.h"

/* members[rungs], of temperatures t[rungs]; the second is for other temperatures later. */
static void graph_member_fill(const struct ergo_point *point, const struct graph_problem *p,
                              double unit, const double *t, struct graph_member *members) {
    const uint32_t rungs = graph_chains_of(point).rungs;
    int64_t goal = INT64_MAX;
    if (graph_has_target(point)) { /* a sum is -2 (E - offset) */
        const double exact = 2 * (p->offset - of_graph(point)->target_energy.real) / unit;
        const double least = ceil(exact - 1e-9 * fabs(exact)); /* couplings are rounded */
        goal = least >= 0x1p62 ? INT64_MAX : least <= -0x1p62 ? INT64_MIN : (int64_t)least;
    }
    for (uint32_t i = 0; i < rungs; i++)
        members[i] = (struct graph_member){
            .goal = goal, .key0 = (uint32_t)point->stream, .key1 = (uint32_t)(point->stream >> 32)};
    graph_member_heat(t, rungs, unit, members);
}

void graph_member_heat(const double *t, uint32_t rungs, double unit, struct graph_member *members) {
    for (uint32_t i = 0; i < rungs; i++) {
        members[i].scale = (float)(0.5 * t[i] / unit);
        members[i].slope = ergo_ladder_slope(t, rungs, i, unit / 2);
    }
}

struct graph_chains graph_chains_of(const struct ergo_point *point) {
    struct graph_chains c = {.population = graph_is_population(point),
                             .swap_every = ergo_ladder_every(point)};
    c.rungs = graph_is_sampled(point) ? ergo_ladder_rungs(point) : 1;
    if (graph_has_clusters(point))
        c.cluster_every = (uint64_t)of_lattice(point)->cluster_every.integer;
    c.copies = c.population ? (uint32_t)of_graph(point)->population : c.cluster_every ? 2 : 1;
    c.width = c.rungs * c.copies;
    return c;
}

void graph_release(void *state) {
    struct graph_state *s = state;
    graph_problem_free(&s->problem);
    graph_network_free(&s->net);
    graph_levels_free(&s->levels);
    free(s->schedule.factors);
    free(s->schedule.slopes);
    s->schedule.factors = s->schedule.slopes = NULL;
}

/* Of all vertices, or 0. Loops over so many neighbours are unrolled: on GPUs, where a program for
 * each number costs less than it gains. */
static uint32_t common_degree(const struct graph_network *net, bool gpu) {
    uint32_t degree = 0;
    for (uint32_t slot = 0; slot < net->slots && gpu; slot++) {
        const uint32_t own = net->first[slot + 1] - net->first[slot];
        if (net->vertex_of[slot] == GRAPH_PADDING)
            continue;
        if (own == 0 || own > 16 || (degree && own != degree))
            return 0;
        degree = own;
    }
    return degree;
}

/* What a ladder and a population have besides. */
static void declare_methods(struct graph_state *s, uint64_t chains, uint64_t spins) {
    static const char *const path = "spin_lattice/graph_methods.cl";
    struct ergo_engine *e = &s->e;
    const struct graph_chains *c = &s->chains;
    const uint64_t members = e->batch->count;
    char options[300];
    s->words = ergo_engine_memory(e, graph_words_of(s), sizeof *s->words);
    snprintf(options, sizeof options,
             "-DGRAPH_CHAINS=%lluu -DGRAPH_RUNGS=%uu -DGRAPH_COPIES=%uu -DGRAPH_INDEX=%s "
             "-DGRAPH_KEEP=%uu -DGRAPH_COMB=%uu",
             (unsigned long long)chains, c->rungs, c->copies, spins < UINT32_MAX ? "uint" : "ulong",
             s->keep, s->comb);
    if (c->width > 1)
        ergo_engine_kernel(e, GRAPH_LOOK_ALL, path, options, "graph_look_all");
    if (c->rungs > 1) {
        ergo_engine_buffer(e, GRAPH_PLACES, "places", ERGO_BUFFER_STATE, 4 * chains);
        ergo_engine_buffer(e, GRAPH_CAME, "walkers", ERGO_BUFFER_STATE, 4 * chains);
        ergo_engine_buffer(e, GRAPH_MOVES, "accepted exchanges", ERGO_BUFFER_STATE, 8 * chains);
        ergo_engine_kernel(e, GRAPH_SWAP, path, options, "graph_swap");
    }
    if (c->cluster_every) {
        ergo_engine_buffer(e, GRAPH_QUEUE, "clusters", ERGO_BUFFER_SCRATCH,
                           4 * members * c->rungs * s->net.slots);
        ergo_engine_kernel(e, GRAPH_CLUSTER, path, options, "graph_cluster");
    }
    if (!c->population)
        return;
    ergo_engine_buffer(e, GRAPH_FAMILIES_ROW, "families", ERGO_BUFFER_STATE, 4 * chains);
    ergo_engine_buffer(e, GRAPH_TOTALS, "sums of weights", ERGO_BUFFER_STATE,
                       sizeof(struct graph_totals) * members);
    ergo_engine_buffer(e, GRAPH_NEXT, "next spins", ERGO_BUFFER_STATE, spins);
    ergo_engine_buffer(e, GRAPH_NEXT_FAMILIES, "next families", ERGO_BUFFER_STATE, 4 * chains);
    ergo_engine_buffer(e, GRAPH_WEIGHTS, "weights", ERGO_BUFFER_SCRATCH, 8 * chains);
    ergo_engine_buffer(e, GRAPH_PARENTS, "parents", ERGO_BUFFER_SCRATCH, 4 * chains);
    ergo_engine_buffer(e, GRAPH_FAMILIES_SAMPLES, "families of samples", ERGO_BUFFER_SAMPLES,
                       4 * chains);
    ergo_engine_buffer(e, GRAPH_TOTALS_SAMPLES, "sums of weights of samples", ERGO_BUFFER_SAMPLES,
                       sizeof(struct graph_totals) * members);
    ergo_engine_kernel(e, GRAPH_COMB, path, options, "graph_comb");
    ergo_engine_kernel(e, GRAPH_BRANCH, path, options, "graph_branch");
    ergo_engine_kernel(e, GRAPH_CENSUS, path, options, "graph_census");
}

/* Chains in local memory, many sweeps a launch. */
static void declare_levels(struct graph_state *s, const char *options) {
    struct ergo_engine *e = &s->e;
    const struct graph_levels *v = &s->levels;
    const bool vectors = s->sweeps_group == 1;
    char all[500];
    snprintf(all, sizeof all, "%s -DGRAPH_LANES=%uu -DGRAPH_LEVELS=%u -DGRAPH_HEAT=%u", options,
             s->lanes, v->most, s->heat_bath);
    /* one more, zeros: no buffer is empty, and Mesa's llvmpipe reads it (src/device/quirks.c) */
    ergo_engine_buffer(e, GRAPH_LISTS, "lists of fours", ERGO_BUFFER_CONSTANT,
                       8 * ((uint64_t)v->elements + 1));
    ergo_engine_buffer(e, GRAPH_VALUES, "couplings of fours", ERGO_BUFFER_CONSTANT,
                       v->values ? 16 * ((uint64_t)v->elements + 1) : 0);
    ergo_engine_buffer(e, GRAPH_HEADS, "heads of lists", ERGO_BUFFER_CONSTANT,
                       sizeof *v->heads * (uint64_t)s->net.slots);
    ergo_engine_buffer(e, GRAPH_COLOURS, "colours", ERGO_BUFFER_CONSTANT,
                       8 * (uint64_t)s->net.colours);
    ergo_engine_buffer(e, GRAPH_TABLES, "acceptance", ERGO_BUFFER_CONSTANT,
                       4 * GRAPH_LEVEL_WORDS((uint64_t)v->most) * v->tables);
    ergo_engine_buffer(e, GRAPH_TABLE_OF, "temperatures", ERGO_BUFFER_CONSTANT,
                       4 * e->batch->count * s->chains.rungs);
    ergo_engine_kernel(e, GRAPH_SWEEPS,
                       vectors ? "spin_lattice/graph_lanes.cl" : "spin_lattice/graph_local.cl", all,
                       vectors ? "graph_lanes" : "graph_local");
}

static void declare(struct graph_state *s, bool gpu) {
    static const char *const path = "spin_lattice/graph.cl";
    struct ergo_engine *e = &s->e;
    const struct graph_network *net = &s->net;
    const uint64_t members = e->batch->count, chains = members * s->chains.width;
    const uint64_t spins = chains * net->slots;
    char options[400];
    ergo_engine_buffer(e, GRAPH_SPINS, "spins", ERGO_BUFFER_STATE, spins);
    ergo_engine_buffer(e, GRAPH_FIRST, "lists of neighbours", ERGO_BUFFER_CONSTANT,
                       4 * ((uint64_t)net->slots + 1));
    ergo_engine_buffer(e, GRAPH_BONDS, "couplings", ERGO_BUFFER_CONSTANT,
                       sizeof *net->bonds * ((uint64_t)net->first[net->slots] + 1));
    ergo_engine_buffer(e, GRAPH_TERMS, "fields", ERGO_BUFFER_CONSTANT, 8 * (uint64_t)net->slots);
    ergo_engine_buffer(e, GRAPH_VERTICES, "vertices", ERGO_BUFFER_CONSTANT,
                       4 * (uint64_t)net->slots);
    ergo_engine_buffer(e, GRAPH_MEMBERS_ROW, "members", ERGO_BUFFER_CONSTANT,
                       members * s->chains.rungs * sizeof *s->members);
    ergo_engine_sums(e, GRAPH_COUNTS, "samples", ERGO_BUFFER_SAMPLES, 4 * GRAPH_NUMBERS * chains);
    ergo_engine_buffer(e, GRAPH_FOUND, "lowest energies", ERGO_BUFFER_STATE,
                       sizeof(struct graph_found) * s->keep * members);
    ergo_engine_buffer(e, GRAPH_HITS, "times of the target", ERGO_BUFFER_STATE, 8 * members);
    ergo_engine_buffer(e, GRAPH_NOW, "numbers of a look", ERGO_BUFFER_STATE,
                       4 * GRAPH_NUMBERS * chains);
    ergo_engine_buffer(e, GRAPH_LOOKS, "looks", ERGO_BUFFER_SCRATCH, 4 * (size_t)s->keep * members);
    ergo_engine_buffer(e, GRAPH_KEPT, "lowest states", ERGO_BUFFER_STATE,
                       s->keep * members * net->slots);
    ergo_engine_buffer(e, GRAPH_PACKED, "packed states", ERGO_BUFFER_SCRATCH,
                       4 * (uint64_t)graph_words_of(s));
    snprintf(options, sizeof options,
             "-DGRAPH_CHAINS=%lluu -DGRAPH_RUNGS=%uu -DGRAPH_COPIES=%uu -DGRAPH_INDEX=%s",
             (unsigned long long)chains, s->chains.rungs, s->chains.copies,
             spins < UINT32_MAX ? "uint" : "ulong");
    if (s->lanes)
        declare_levels(s, options);
    const size_t length = strlen(options);
    snprintf(options + length, sizeof options - length,
             " -DGRAPH_HEAT=%uu -DGRAPH_KEEP=%uu -DGRAPH_DEGREE=%u", s->heat_bath, s->keep,
             common_degree(net, gpu));
    if (!s->lanes)
        ergo_engine_kernel(e, GRAPH_SWEEP, path, options, "graph_sweep");
    ergo_engine_kernel(e, GRAPH_START, path, options, "graph_start");
    ergo_engine_kernel(e, GRAPH_MEASURE, path, options, "graph_measure");
    if (chains == members)
        ergo_engine_kernel(e, GRAPH_LOOK, path, options, "graph_look");
    ergo_engine_kernel(e, GRAPH_KEEP_KERNEL, path, options, "graph_keep");
    ergo_engine_kernel(e, GRAPH_PACK, path, options, "graph_pack");
    ergo_engine_kernel(e, GRAPH_UNPACK, path, options, "graph_unpack");
    declare_methods(s, chains, spins);
}

/* The power of two that is not above `most` and, if it can be, not below n. */
static uint32_t power_for(uint32_t n, uint32_t most) {
    uint32_t power = 1;
    while (power < n && 2 * power <= most)
        power *= 2;
    return power;
}

/* Vertices of a stripe: so few that all units are busy, so many that sums are worth it. */
static uint32_t stripes_of(const struct graph_state *s, bool gpu, unsigned units) {
    const double wanted = gpu ? 512.0 * units : 4.0 * units;
    const double chains = (double)s->e.batch->count * s->chains.width;
    return (uint32_t)fmax(1, fmin(s->net.slots / 4.0, wanted / chains));
}

static enum ergo_status make_network(struct ergo_context *ctx, struct graph_state *s) {
    const struct ergo_point *first = s->e.batch->points[0];
    graph_release(s);
    enum ergo_status status = graph_problem_of(ctx, first, &s->problem);
    if (status == ERGO_OK && !graph_network_make(&s->problem, &s->net))
        status = ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for a graph of %u vertices and %zu edges",
                           s->problem.n, s->problem.m);
    if (status == ERGO_OK)
        status = graph_schedule_of(ctx, first, &s->problem, s->net.unit, &s->schedule);
    return status;
}

/* ---- chains in local memory ------------------------------------------------------------------ */

enum { PATH_LAUNCHES = 1, PATH_LOCAL = 2, VECTOR = 32 /* chains of graph_lanes */ };

size_t graph_local_bytes(const struct graph_state *s) {
    const size_t most = s->levels.most, rows = GRAPH_ROWS((size_t)s->net.slots);
    const size_t widest = (s->levels.widest + (size_t)3) / 4 * 4;
    if (s->sweeps_group == 1) /* tables by bytes */
        return s->lanes * (rows + (most ? 2 * most + 1 : 0));
    return s->lanes * (rows + widest * (most ? 1 : 4)); /* counts, or forces */
}

static bool fits(const struct graph_state *s) {
    return graph_local_bytes(s) + 64 <= s->e.device->summary.local_memory;
}

/* Chains of a group and its work-items; lanes 0: they do not fit. A GPU's group has so few chains
 * that all units have one, and work-items for all decisions of a colour. */
static void shape_groups(struct graph_state *s, double chains) {
    const struct ergo_point *point = s->e.batch->points[0];
    const struct ergo_device_summary *d = &s->e.device->summary;
    const double quads = s->net.slots / (4.0 * s->net.colours);
    const uint32_t lanes = (uint32_t)of_lattice(point)->lanes;
    const uint32_t group = (uint32_t)point->parameters->work_group;
    s->sweeps_group = 1;
    s->lanes = VECTOR;
    if (s->e.device->type != CL_DEVICE_TYPE_CPU) {
        const uint32_t most =
            ergo_power_of_two_down(d->largest_group < 256 ? d->largest_group : 256);
        s->lanes = lanes ? lanes : 16;
        s->sweeps_group = most;
        while (!lanes && s->lanes > 4 && (!fits(s) || chains / s->lanes < d->compute_units))
            s->lanes /= 2;
        while (!group && s->sweeps_group > 32 && s->sweeps_group >= 2 * quads * s->lanes)
            s->sweeps_group /= 2;
        if (group && group < most)
            s->sweeps_group = group;
        if (s->sweeps_group < s->lanes)
            s->sweeps_group = s->lanes;
        if (s->lanes < 4 || s->sweeps_group > most)
            s->lanes = 0;
    }
    if (!fits(s))
        s->lanes = 0;
}

/* Is a sweep faster in local memory than by launches? Nanoseconds, roughly: an EPYC core (PoCL 3.1)
 * and an H100, bench/NOTES.md, 2026-11-26. */
static bool is_faster(const struct graph_state *s, const struct ergo_device *device,
                      double chains) {
    const double units = device->summary.compute_units ? device->summary.compute_units : 1;
    const double slots = s->net.slots, neighbours = s->net.first[s->net.slots] / slots;
    const double groups = ceil(chains / s->lanes), colours = s->net.colours;
    const double updates = chains * slots / units, whole = s->levels.most ? 1.0 : 3.0;
    if (s->sweeps_group == 1)
        return ceil(groups / units) * slots * (50 + 0.5 * whole * neighbours) <
               colours * 2e4 + updates * (60 + 0.7 * neighbours);
    const double rounds = ceil(slots / colours * 0.25 * s->lanes / s->sweeps_group);
    const double latency = colours * rounds * (1500 + 15 * neighbours);
    return fmax(latency, updates * (10 + neighbours) * 0.0225 * whole) <
           colours * (5e3 + 360 * neighbours) + updates * (8 + neighbours) / 16;
}

/* Sweeps that a launch may have, because some devices stop loops. */
static uint64_t most_sweeps(const struct graph_state *s) {
    const double limit = (double)s->e.device->quirks.loop_limit, slots = s->net.slots;
    const double loops = s->sweeps_group == 1 ? s->net.first[s->net.slots] / 4.0 + 200 * slots
                                              : s->net.colours * 60.0 * s->lanes;
    return limit > 0 ? (uint64_t)(limit / loops) : 1024;
}

static enum ergo_status choose_path(struct ergo_context *ctx, struct graph_state *s) {
    const struct ergo_device *device = s->e.device;
    const int64_t path = s->e.batch->points[0]->parameters->path;
    const double chains = (double)s->e.batch->count * s->chains.width;
    s->lanes = 0;
    if (path == PATH_LAUNCHES)
        return ERGO_OK;
    if (!graph_levels_make(s, &s->levels))
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for the lists of %u vertices", s->net.n);
    if (s->levels.possible)
        shape_groups(s, chains);
    s->launch_sweeps = s->lanes ? most_sweeps(s) : 1;
    const bool asked = path == PATH_LOCAL || (device->type != CL_DEVICE_TYPE_CPU &&
                                              of_lattice(s->e.batch->points[0])->lanes);
    if (!s->launch_sweeps || (!asked && s->lanes && !is_faster(s, device, chains)))
        s->lanes = 0;
    if (asked && !s->launch_sweeps)
        return ERGO_FAIL(ctx, ERGO_E_DEVICE,
                         "/tuning/path 2 makes a sweep of %u vertices in one launch; %s stops "
                         "loops before that",
                         s->net.n, device->summary.name);
    if (asked && !s->lanes)
        return ERGO_FAIL(
            ctx, ERGO_E_DEVICE,
            "/tuning/path 2 needs at most 1020 neighbours a vertex, and local memory for a byte of "
            "each of %u vertices in /tuning/lanes chains (4 and more, at most as many as a "
            "work-group has work-items); %s has %llu bytes",
            s->net.n, device->summary.name, (unsigned long long)device->summary.local_memory);
    return ERGO_OK;
}

enum ergo_status graph_configure(struct ergo_context *ctx, void *state) {
    struct graph_state *s = state;
    const struct ergo_batch *batch = s->e.batch;
    const struct ergo_device *device = s->e.device;
    const struct ergo_point *first = batch->points[0];
    struct ergo_plan *plan = &s->e.plan;
    const bool gpu = device->type != CL_DEVICE_TYPE_CPU;
    const unsigned units = device->summary.compute_units ? device->summary.compute_units : 1;
    const int64_t wish = first->parameters->work_group;
    s->chains = graph_chains_of(first);
    const size_t width = s->chains.width, chains = batch->count * width, rungs = s->chains.rungs;
    s->members = ergo_engine_memory(&s->e, batch->count * rungs, sizeof *s->members);
    s->ladders = ergo_engine_memory(&s->e, batch->count * rungs, sizeof *s->ladders);
    s->feedback = ergo_feedback_of(first);
    if (ergo_engine_end(&s->e) != ERGO_OK)
        return ergo_engine_end(&s->e);
    enum ergo_status status = make_network(ctx, s);
    if (status != ERGO_OK)
        return status;
    if (graph_is_sampled(first))
        ergo_feedback_begin(batch, s->ladders);
    for (size_t m = 0; m < batch->count; m++) {
        double *t = &s->ladders[m * rungs];
        *t = graph_is_sampled(first) ? *t : 1;
        graph_member_fill(batch->points[m], &s->problem, s->net.unit, t, &s->members[m * rungs]);
    }
    s->heat_bath = ergo_says(of_lattice(first)->dynamics, "heat-bath");
    s->keep = (uint32_t)of_graph(first)->lowest_states;
    s->look_every = graph_look_every(first);
    s->group = wish ? (uint32_t)wish : gpu ? 128 : 16;
    while (s->group > device->summary.largest_group)
        s->group /= 2;
    status = choose_path(ctx, s);
    if (status != ERGO_OK)
        return status;
    s->stripes = stripes_of(s, gpu, units);
    s->comb = power_for((uint32_t)width, s->group);
    s->e.curve_interval = width > 1; /* each sample carries the curves */
    const double spins = (double)s->net.slots * (double)chains;
    if (spins / 4 + s->group >= 0x1p32)
        return ERGO_FAIL(ctx, ERGO_E_DEVICE,
                         "%.4g spins; kernels number fewer than 2^34: use fewer replicas, chains "
                         "of a replica or scan points",
                         spins);
    const double edges = 2.0 * (double)s->problem.m * (double)chains;
    const double seconds = (spins + edges) / (gpu ? 2e11 : (s->lanes ? 3e9 : 1e8) * units) +
                           s->net.colours * (gpu ? 5e-6 : 2e-5) / (s->lanes ? 10 : 1);
    plan->work_per_step = (double)s->net.n * (double)chains;
    plan->block_steps = fmax(1, floor(0.1 / seconds));
    plan->launches_per_step = s->lanes ? 1.0 / 64 : s->net.colours;
    plan->host_bytes = 24 * (uint64_t)s->problem.m + 40 * (uint64_t)s->net.slots +
                       (uint64_t)s->net.slots * (2 * width + s->keep) * 2;
    if (s->lanes)
        plan->host_bytes += 32 * (uint64_t)s->levels.elements +
                            4 * GRAPH_LEVEL_WORDS((uint64_t)s->levels.most) * s->levels.tables;
    snprintf(plan->path, sizeof plan->path, "%s", s->lanes ? "local" : "graph");
    /* 256 spins 5 times as fast, 1,024 40 times (PoCL): each vertex is a colour here */
    const char *better = graph_is_complete(first) && graph_is_sampled(first)
                             ? "; for equilibria the model of this graph's name is faster"
                             : "";
    if (s->lanes)
        snprintf(plan->launch, sizeof plan->launch,
                 "%u chains in local memory per work-group of %u, many sweeps a launch%s", s->lanes,
                 s->sweeps_group, better);
    else
        snprintf(plan->launch, sizeof plan->launch,
                 "a launch for each of %u colours: four vertices of a chain per work-item, "
                 "work-groups of %u%s",
                 s->net.colours, s->group, better);
    declare(s, gpu);
    return ERGO_OK;
}
