/* Wang-Landau walks: what a job tells without a device. */
#include <math.h>
#include <stdlib.h>

#include "base/divisor.h"
#include "samplers/spin_lattice/graph/graph.h"
#include "samplers/spin_lattice/graph/parameters.h"
#include "samplers/spin_lattice/models.h"
#include "samplers/spin_lattice/wang_landau/walk.h"

/* At the end of a run, of a member: a minute or two of a core. */
#define EXPONENTIALS_MOST 1e10

#define WALKS .acts = graph_is_walk, .where = "with method wang-landau"

const struct ergo_key walk_keys[WALK_KEYS] = {
    {GRAPH_KEY(estimates, "/run/estimates", INT),
     .flags = ERGO_KEY_FORM | ERGO_KEY_CHAIN | ERGO_KEY_SHAPE, .fallback = "20", .stream = "",
     .min = 1, .max = 4096, .unit = "",
     .help =
         "Independent estimates of ln g, each with walkers of its own; the result is their "
         "mean, and their scatter its error. More of them do not reduce the bias of ln g, about "
         "half of its variance between estimates: only more sweeps do. A work-group makes one: "
         "have some hundreds on GPUs.",
     WALKS},
    {GRAPH_KEY(walkers, "/run/walkers", INT),
     .flags = ERGO_KEY_FORM | ERGO_KEY_CHAIN | ERGO_KEY_SHAPE, .fallback = "32", .stream = "",
     .min = 1, .max = WALK_WALKERS_MAX, .unit = "",
     .help = "Walkers that share an estimate of ln g. A sweep is a move per vertex of each.",
     WALKS},
    {GRAPH_KEY(check_every, "/run/check_every", INT), .flags = ERGO_KEY_CHAIN | ERGO_KEY_SHAPE,
     .fallback = "10", .stream = "", .min = 1, .max = 1000000, .unit = "sweeps",
     .help =
         "Sweeps from one decision on ln f to the next, no more than /run/sweeps; between them it "
         "is constant.",
     WALKS},
    {GRAPH_KEY(flatness, "/run/flatness", REAL), .flags = ERGO_KEY_CHAIN | ERGO_KEY_SHAPE,
     .fallback = "0.5", .stream = "", .min = 0, .max = 0.95, .unit = "",
     .help = "ln f, 1 at first, is halved when no level that was ever found has fewer visits than "
             "this share of their mean since it was changed (in steps of 0.001; 0: when each has "
             "one; Wang, Landau, PRL 86, 2050 (2001)); and once it is below 1/t, t the moves per "
             "level, it is 1/t (Belardinelli, Pereyra, PRE 75, 046701 (2007)).",
     WALKS},
    {GRAPH_KEY(walk_min, "/run/temperature_min", REAL),
     .flags = ERGO_KEY_SHAPE | ERGO_KEY_EXCLUDES_MIN, .min = 0, .max = 1e12, .unit = "J/k_B",
     .help =
         "The lowest temperature at which energy, heat capacity, free energy and entropy are "
         "told; if not given a tenth of the largest |h| + sum of |J| of a vertex. The walk does "
         "not depend on it.",
     WALKS},
    {GRAPH_KEY(walk_max, "/run/temperature_max", REAL),
     .flags = ERGO_KEY_SHAPE | ERGO_KEY_EXCLUDES_MIN, .min = 0, .max = 1e12, .unit = "J/k_B",
     .help = "The highest of them, if there are several; if not given the largest |h| + sum of |J| "
             "of a vertex.",
     WALKS},
    {GRAPH_KEY(temperature_points, "/run/temperature_points", INT), .flags = ERGO_KEY_SHAPE,
     .fallback = "50", .min = 1, .max = 10000, .unit = "",
     .help = "How many of them, at equal distances; with estimates and levels at most 1e10 in all, "
             "of which each takes an exponential at the end of the run.",
     WALKS},
};

struct walk_shape walk_shape_of(const struct ergo_point *point) {
    return (struct walk_shape){.estimates = (uint32_t)of_graph(point)->estimates,
                               .walkers = (uint32_t)of_graph(point)->walkers,
                               .check = (uint32_t)of_graph(point)->check_every,
                               .flatness = (uint32_t)lround(1000 * of_graph(point)->flatness)};
}

uint64_t walk_measure_every(const struct ergo_point *point) {
    return (uint64_t)of_graph(point)->check_every;
}

/* ---- levels ---------------------------------------------------------------------------------- */

/*
 * The force on a vertex is h + sum of J, of the configuration with all spins up, minus 2 J for each
 * neighbour that is down; so halves of costs are multiples of the greatest divisor of all of these.
 * Energies are between minus and plus the sum of |J| and |h|.
 */
static struct walk_levels levels_of(const struct walk_graph *g) {
    struct walk_levels levels = {0};
    uint64_t step = 0;
    int64_t most = 0, up = 0;
    for (uint32_t v = 0; v < g->n; v++) {
        int64_t force = g->fields[v];
        most += 2 * llabs(g->fields[v]);
        for (uint32_t b = g->first[v]; b < g->first[v + 1]; b++) {
            step = ergo_common_divisor(step, (uint64_t)(2 * llabs(g->bonds[b].j)));
            force += g->bonds[b].j;
            most += llabs(g->bonds[b].j);
        }
        step = ergo_common_divisor(step, (uint64_t)llabs(force));
        up -= force + g->fields[v];
    }
    if (!step)
        return levels;
    const int64_t apart = 4 * (int64_t)step;
    levels.step = (uint32_t)step;
    levels.low = up - apart * ((up + most) / apart);
    levels.count = (uint64_t)((most - levels.low) / apart) + 1;
    return levels;
}

void walk_graph_free(struct walk_graph *graph) {
    free(graph->first);
    free(graph->bonds);
    free(graph->fields);
    *graph = (struct walk_graph){0};
}

static bool fill(const struct graph_network *net, struct walk_graph *g) {
    g->n = net->n;
    g->unit = net->unit;
    g->first = calloc((size_t)net->n + 1, sizeof *g->first);
    g->fields = calloc(net->n, sizeof *g->fields);
    g->bonds = calloc((size_t)net->first[net->slots] + 1, sizeof *g->bonds);
    if (!g->first || !g->fields || !g->bonds)
        return false;
    for (uint32_t v = 0; v < g->n; v++) {
        const uint32_t slot = net->slot_of[v];
        uint32_t to = g->first[v];
        g->fields[v] = net->fields[slot];
        for (uint32_t k = net->first[slot]; k < net->first[slot + 1]; k++)
            g->bonds[to++] = (struct walk_bond){net->vertex_of[net->bonds[k].to], net->bonds[k].j};
        g->first[v + 1] = to;
    }
    g->levels = levels_of(g);
    return true;
}

enum ergo_status walk_graph_of(struct ergo_context *ctx, const struct ergo_point *point,
                               struct walk_graph *graph) {
    struct graph_problem p = {0};
    struct graph_network net = {0};
    *graph = (struct walk_graph){0};
    enum ergo_status status = graph_problem_of(ctx, point, &p);
    if (status != ERGO_OK)
        return status;
    graph->offset = p.offset;
    if (!graph_network_make(&p, &net)) {
        graph_problem_free(&p);
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for a graph");
    }
    if (!fill(&net, graph)) {
        walk_graph_free(graph);
        status = ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for a graph of %u vertices", net.n);
    }
    graph_network_free(&net);
    graph_problem_free(&p);
    return status;
}

/* ---- curves ---------------------------------------------------------------------------------- */

/* For functions without a context. False: no memory, or no graph. */
static bool quietly(const struct ergo_point *point, struct walk_graph *graph) {
    struct ergo_context *ctx = ergo_context_create();
    const bool ok = ctx && walk_graph_of(ctx, point, graph) == ERGO_OK;
    ergo_context_destroy(ctx);
    return ok;
}

/* Lowest and highest temperature; without keys a tenth of the largest |h| + sum of |J|, and it. */
void walk_range(const struct ergo_point *point, const struct walk_graph *g, double t[2]) {
    const struct ergo_value *low = &of_graph(point)->walk_min;
    const struct ergo_value *high = &of_graph(point)->walk_max;
    int64_t most = 0;
    for (uint32_t v = 0; v < g->n; v++) {
        int64_t own = llabs(g->fields[v]);
        for (uint32_t b = g->first[v]; b < g->first[v + 1]; b++)
            own += llabs(g->bonds[b].j);
        most = own > most ? own : most;
    }
    t[1] = high->present ? high->real : g->unit * (double)most;
    t[0] = low->present ? low->real : 0.1 * g->unit * (double)most;
}

double walk_temperature(const struct ergo_point *point, const double range[2], size_t i) {
    const double n = (double)of_graph(point)->temperature_points;
    return n > 1 ? range[0] + (range[1] - range[0]) * (double)i / (n - 1) : range[0];
}

size_t walk_curve_size(const struct ergo_point *point, size_t c) {
    struct walk_graph g = {0};
    switch (c) {
    case CURVE_LOWEST:
        return 1;
    case CURVE_WALK:
        return WALK_FACTS;
    case CURVE_CHAIN_ENERGY:
    case CURVE_CHAIN_HEAT:
    case CURVE_FREE_ENERGY:
    case CURVE_CHAIN_ENTROPY:
        return (size_t)of_graph(point)->temperature_points;
    case CURVE_LN_G:
        quietly(point, &g);
        const uint64_t count = g.levels.count < WALK_LEVELS_MAX ? g.levels.count : WALK_LEVELS_MAX;
        walk_graph_free(&g);
        return (size_t)count;
    default:
        return 0;
    }
}

void walk_curve_x(const struct ergo_point *point, size_t c, double *x) {
    const size_t size = walk_curve_size(point, c);
    struct walk_graph g = {0};
    double range[2];
    quietly(point, &g);
    walk_range(point, &g, range);
    for (size_t i = 0; i < size; i++)
        x[i] = c == CURVE_LN_G                        ? walk_energy(&g, i)
               : c == CURVE_LOWEST || c == CURVE_WALK ? (double)i
                                                      : walk_temperature(point, range, i);
    walk_graph_free(&g);
}

/* ---- observables ----------------------------------------------------------------------------- */

const char *walk_not_converged(const struct ergo_point *point, double share) {
    (void)point;
    return share < 1 ? "ln g has not converged: the histogram was not yet flat often enough for ln "
                       "f = 1/t in all estimates (the column ln_f has its course); make the run "
                       "longer"
                     : NULL;
}

const char *walk_not_complete(const struct ergo_point *point, double share) {
    (void)point;
    return share < 1
               ? "some estimates of ln g have not found all levels of energy that others have "
                 "(complete): these levels have no ln g, all others are normalised without "
                 "them; make the run longer, or give more /run/walkers"
               : NULL;
}

const char *walk_biased(const struct ergo_point *point, double errors) {
    /* the error of the mean over replicas is smaller */
    return errors * sqrt((double)point->parameters->replicas) > 1
               ? "the bias of ln g, about half of its variance between estimates, is larger "
                 "than the error that is quoted (bias_ratio): give more /run/sweeps, with "
                 "which it falls faster than the error; more /run/estimates do not reduce it"
               : NULL;
}

/* ---- checks ---------------------------------------------------------------------------------- */

/* Those at which energies and so on are told, and the time that this takes at the end of a run. */
static enum ergo_status check_temperatures(struct ergo_context *ctx, const struct ergo_point *point,
                                           const struct walk_graph *g) {
    const struct ergo_value *low = &of_graph(point)->walk_min;
    const struct ergo_value *high = &of_graph(point)->walk_max;
    const int64_t points = of_graph(point)->temperature_points;
    const double each = (double)(g->levels.count * walk_shape_of(point).estimates);
    double t[2];
    if (points == 1 && high->present)
        return ergo_job_error(ctx, "/run/temperature_max",
                              "of one temperature (/run/temperature_points) there is no highest: "
                              "give temperature_min alone");
    walk_range(point, g, t);
    if (points > 1 && t[0] > t[1])
        return ergo_job_error(ctx, low->present ? "/run/temperature_min" : "/run/temperature_max",
                              "temperature_min, %g%s, is above temperature_max, %g%s", t[0],
                              low->present ? "" : " where it is not given", t[1],
                              high->present ? "" : " where it is not given");
    if (each * (double)points > EXPONENTIALS_MOST)
        return ergo_job_error(ctx, "/run/temperature_points",
                              "%lld temperatures of %u estimates of %llu levels are %.3g "
                              "exponentials at the end of the run; at most %.0e: %.0f temperatures",
                              (long long)points, walk_shape_of(point).estimates,
                              (unsigned long long)g->levels.count, each * (double)points,
                              EXPONENTIALS_MOST, floor(EXPONENTIALS_MOST / each));
    return ERGO_OK;
}

static enum ergo_status check_levels(struct ergo_context *ctx, const struct ergo_point *point,
                                     const struct walk_graph *g) {
    const struct walk_shape shape = walk_shape_of(point);
    const double moves = (double)g->n * shape.walkers;
    if (!g->levels.step)
        return ergo_job_error(ctx, "/system/graph", "no couplings and no fields: one energy");
    if (g->levels.count > WALK_LEVELS_MAX)
        return ergo_job_error(
            ctx, "/run/method",
            "wang-landau needs at most %d levels of energy; couplings and fields of this graph "
            "allow %llu, %.3g apart: it is for couplings and fields that are whole multiples of "
            "one energy (+-J, small integers), and for few vertices",
            WALK_LEVELS_MAX, (unsigned long long)g->levels.count, 2 * g->unit * g->levels.step);
    if (shape.check * moves >= (double)WALK_EPOCH_MOST)
        return ergo_job_error(ctx, "/run/check_every",
                              "%u sweeps of %u walkers and %u vertices are %.3g moves; fewer than "
                              "2^28 are counted between two decisions",
                              shape.check, shape.walkers, g->n, shape.check * moves);
    if ((double)point->parameters->sweeps * moves >= 0x1p62)
        return ergo_job_error(ctx, "/run/sweeps", "2^62 moves and more");
    return check_temperatures(ctx, point, g);
}

/* Tunables of the model's other methods. */
static const char *const others[] = {"/tuning/path", "/tuning/lanes"};

enum ergo_status walk_check(struct ergo_context *ctx, const struct ergo_point *point) {
    struct walk_graph g = {0};
    const int64_t sweeps = point->parameters->sweeps;
    enum ergo_status status = ERGO_OK;
    for (size_t k = 0; k < sizeof others / sizeof others[0]; k++)
        if (k ? of_lattice(point)->lanes : point->parameters->path)
            return ergo_job_error(ctx, others[k],
                                  "has no effect with method wang-landau: leave it "
                                  "out");
    if (sweeps && of_graph(point)->check_every > sweeps)
        return ergo_job_error(ctx, "/run/check_every",
                              "%lld sweeps are more than the run has, /run/sweeps %lld: ln f would "
                              "stay 1",
                              (long long)of_graph(point)->check_every, (long long)sweeps);
    if (point->parameters->equilibration)
        return ergo_job_error(ctx, "/run/equilibration",
                              "ln g is built from the first sweep on: leave it out");
    status = graph_check(ctx, point);
    if (status != ERGO_OK)
        return status;
    status = walk_graph_of(ctx, point, &g);
    if (status == ERGO_OK)
        status = check_levels(ctx, point, &g);
    walk_graph_free(&g);
    return status;
}
