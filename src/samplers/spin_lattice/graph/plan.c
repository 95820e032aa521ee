/* Spins on graphs: kernels, launch sizes, memory. They change the speed and never the chain. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "samplers/spin_lattice/graph/graph.h"
#include "samplers/spin_lattice/models.h"

void graph_release(void *state) {
    struct graph_state *s = state;
    graph_problem_free(&s->problem);
    graph_network_free(&s->net);
    free(s->schedule.factors);
    s->schedule.factors = NULL;
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

static void declare(struct graph_state *s, bool gpu) {
    static const char *const path = "spin_lattice/graph.cl";
    struct ergo_engine *e = &s->e;
    const struct graph_network *net = &s->net;
    const uint64_t members = e->batch->count, spins = members * net->slots;
    char options[300];
    ergo_engine_buffer(e, GRAPH_SPINS, "spins", ERGO_BUFFER_STATE, spins);
    ergo_engine_buffer(e, GRAPH_FIRST, "lists of neighbours", ERGO_BUFFER_CONSTANT,
                       4 * ((uint64_t)net->slots + 1));
    ergo_engine_buffer(e, GRAPH_BONDS, "couplings", ERGO_BUFFER_CONSTANT,
                       sizeof *net->bonds * ((uint64_t)net->first[net->slots] + 1));
    ergo_engine_buffer(e, GRAPH_TERMS, "fields", ERGO_BUFFER_CONSTANT, 8 * (uint64_t)net->slots);
    ergo_engine_buffer(e, GRAPH_VERTICES, "vertices", ERGO_BUFFER_CONSTANT,
                       4 * (uint64_t)net->slots);
    ergo_engine_buffer(e, GRAPH_MEMBERS_ROW, "members", ERGO_BUFFER_CONSTANT,
                       members * sizeof *s->members);
    ergo_engine_sums(e, GRAPH_COUNTS, "samples", ERGO_BUFFER_SAMPLES, 4 * GRAPH_NUMBERS * members);
    ergo_engine_buffer(e, GRAPH_FOUND, "lowest energies", ERGO_BUFFER_STATE,
                       sizeof(struct graph_found) * s->keep * members);
    ergo_engine_buffer(e, GRAPH_HITS, "times of the target", ERGO_BUFFER_STATE, 8 * members);
    ergo_engine_buffer(e, GRAPH_NOW, "numbers of a look", ERGO_BUFFER_STATE,
                       4 * GRAPH_NUMBERS * members);
    ergo_engine_buffer(e, GRAPH_LOOKS, "looks", ERGO_BUFFER_RESULT, 4 * GRAPH_LOOK_WORDS * members);
    ergo_engine_buffer(e, GRAPH_KEPT, "lowest states", ERGO_BUFFER_STATE, s->keep * spins);
    ergo_engine_buffer(e, GRAPH_PACKED, "packed states", ERGO_BUFFER_SCRATCH,
                       4 * (uint64_t)graph_words_of(s));
    snprintf(options, sizeof options,
             "-DGRAPH_MEMBERS=%lluu -DGRAPH_HEAT=%uu -DGRAPH_KEEP=%uu "
             "-DGRAPH_DEGREE=%u -DGRAPH_INDEX=%s",
             (unsigned long long)members, s->heat_bath, s->keep, common_degree(net, gpu),
             spins < UINT32_MAX ? "uint" : "ulong");
    ergo_engine_kernel(e, GRAPH_SWEEP, path, options, "graph_sweep");
    ergo_engine_kernel(e, GRAPH_START, path, options, "graph_start");
    ergo_engine_kernel(e, GRAPH_MEASURE, path, options, "graph_measure");
    ergo_engine_kernel(e, GRAPH_LOOK, path, options, "graph_look");
    ergo_engine_kernel(e, GRAPH_KEEP_KERNEL, path, options, "graph_keep");
    ergo_engine_kernel(e, GRAPH_PACK, path, options, "graph_pack");
    ergo_engine_kernel(e, GRAPH_UNPACK, path, options, "graph_unpack");
}

/* Vertices of a stripe: so few that all units are busy, so many that sums are worth it. */
static uint32_t stripes_of(const struct graph_state *s, bool gpu, unsigned units) {
    const double wanted = gpu ? 512.0 * units : 4.0 * units, members = (double)s->e.batch->count;
    return (uint32_t)fmax(1, fmin(s->net.slots / 4.0, wanted / members));
}

static enum ergo_status make_network(struct ergo_context *ctx, struct graph_state *s) {
    const struct ergo_point *first = s->e.batch->points[0];
    graph_release(s);
    enum ergo_status status = graph_problem_of(ctx, first, &s->problem);
    if (status == ERGO_OK && !graph_network_make(&s->problem, &s->net))
        status = ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for a graph of %u vertices and %zu edges",
                           s->problem.n, s->problem.m);
    if (status == ERGO_OK)
        status = graph_schedule_of(ctx, first, &s->problem, &s->schedule);
    return status;
}

enum ergo_status graph_configure(struct ergo_context *ctx, void *state) {
    struct graph_state *s = state;
    const struct ergo_batch *batch = s->e.batch;
    const struct ergo_device *device = s->e.device;
    const struct ergo_point *first = batch->points[0];
    struct ergo_plan *plan = &s->e.plan;
    const bool gpu = device->type != CL_DEVICE_TYPE_CPU;
    const unsigned units = device->summary.compute_units ? device->summary.compute_units : 1;
    const int64_t wish = ergo_point_int(first, "/tuning/work_group");
    s->members = ergo_engine_memory(&s->e, batch->count, sizeof *s->members);
    if (ergo_engine_end(&s->e) != ERGO_OK)
        return ergo_engine_end(&s->e);
    enum ergo_status status = make_network(ctx, s);
    if (status != ERGO_OK)
        return status;
    for (size_t m = 0; m < batch->count; m++)
        graph_member_fill(batch->points[m], &s->problem, s->net.unit, &s->members[m]);
    s->heat_bath = model_says(first, "/system/dynamics", "heat-bath");
    s->keep = (uint32_t)ergo_point_int(first, "/run/lowest_states");
    s->look_every = graph_look_every(first);
    s->group = wish ? (uint32_t)wish : gpu ? 128 : 16;
    while (s->group > device->summary.largest_group)
        s->group /= 2;
    s->stripes = stripes_of(s, gpu, units);
    const double spins = (double)s->net.slots * (double)batch->count;
    if (spins / 4 + s->group >= 0x1p32)
        return ERGO_FAIL(ctx, ERGO_E_DEVICE,
                         "%.4g spins; kernels number fewer than 2^34: use fewer replicas or scan "
                         "points",
                         spins);
    const double edges = 2.0 * (double)s->problem.m * (double)batch->count;
    const double seconds =
        (spins + edges) / (gpu ? 2e11 : 1e8 * units) + s->net.colours * (gpu ? 5e-6 : 2e-5);
    plan->work_per_step = (double)s->net.n * (double)batch->count;
    plan->block_steps = fmax(1, floor(0.1 / seconds));
    plan->launches_per_step = s->net.colours;
    plan->host_bytes =
        24 * (uint64_t)s->problem.m + 40 * (uint64_t)s->net.slots + (uint64_t)spins * (1 + s->keep);
    snprintf(plan->path, sizeof plan->path, "graph");
    snprintf(plan->launch, sizeof plan->launch,
             "a launch for each of %u colours: four vertices of a member per work-item, "
             "work-groups of %u",
             s->net.colours, s->group);
    declare(s, gpu);
    return ERGO_OK;
}
