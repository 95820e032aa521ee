/* Spins on graphs: what a job tells without a device. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/portable.h"
#include "job/input.h"
#include "samplers/spin_lattice/ergodic.h"
#include "samplers/spin_lattice/graph/graph.h"
#include "samplers/spin_lattice/graph/parameters.h"
#include "samplers/spin_lattice/models.h"

_Static_assert(sizeof(struct graph_member) == GRAPH_MEMBER_BYTES, "graph_member has no padding");
_Static_assert(sizeof(struct graph_found) == GRAPH_FOUND_BYTES, "graph_found has no padding");

bool graph_is_annealed(const struct ergo_point *point) {
    return ergo_says(of_lattice(point)->run_method, "anneal");
}

bool graph_is_population(const struct ergo_point *point) {
    return ergo_says(of_lattice(point)->run_method, "population-annealing");
}

bool graph_is_walk(const struct ergo_point *point) {
    return ergo_says(of_lattice(point)->run_method, "wang-landau");
}

bool graph_is_sampled(const struct ergo_point *point) {
    return !graph_is_annealed(point) && !graph_is_population(point) && !graph_is_walk(point);
}

bool graph_has_clusters(const struct ergo_point *point) {
    return graph_is_sampled(point) && of_lattice(point)->cluster_every.present;
}

/* A name has no dot and no slash, a file has one (ERGO_KEY_WORD). */
bool graph_is_named(const struct ergo_point *point) {
    return !strpbrk(of_graph(point)->graph, "./");
}

bool graph_has_target(const struct ergo_point *point) {
    return of_graph(point)->target_energy.present;
}

/* ---- lattices -------------------------------------------------------------------------------- */

const char *const graph_boundaries[] = {"periodic", "open", "antiperiodic", NULL};

/* Boundaries of the job; returns how many. */
static int read_sides(const struct ergo_point *point, enum graph_side sides[ERGO_DIM_MAX]) {
    const char *at = of_lattice(point)->boundary;
    for (int n = 0; n < ERGO_DIM_MAX; n++) {
        const size_t length = strcspn(at, ",");
        for (int k = 0; graph_boundaries[k]; k++)
            if (strlen(graph_boundaries[k]) == length &&
                memcmp(graph_boundaries[k], at, length) == 0)
                sides[n] = (enum graph_side)k;
        at += length;
        if (*at == '\0')
            return n + 1;
        at++;
    }
    return 0;
}

/* Couplings of the lattice; returns how many. */
static uint32_t read_couplings(const struct ergo_point *point, double j[GRAPH_SHELLS_MAX]) {
    const struct ergo_value *all = &of_lattice(point)->couplings;
    j[0] = of_lattice(point)->coupling.real;
    for (int k = 0; k < all->items && all->present; k++)
        j[k] = all->reals[k];
    return all->present ? (uint32_t)all->items : 1;
}

/* The lattice, with sides of at most `longest` (0: any). */
static enum ergo_status make_lattice(struct ergo_context *ctx, const struct ergo_point *point,
                                     int64_t longest, struct graph_problem *p) {
    const struct graph_lattice *lattice = graph_lattice_find(of_graph(point)->graph);
    const struct ergo_value *size = &of_lattice(point)->size;
    enum graph_side sides[ERGO_DIM_MAX];
    double j[GRAPH_SHELLS_MAX];
    int64_t l[ERGO_DIM_MAX];
    char wrong[GRAPH_WRONG];
    const int n = read_sides(point, sides);
    for (uint32_t k = 0; k < lattice->d; k++) {
        l[k] = longest && size->size[k] > longest ? longest : size->size[k];
        sides[k] = n == 1 ? sides[0] : sides[k];
    }
    const uint32_t shells = read_couplings(point, j);
    if (of_graph(point)->long_range.present) /* of all sizes, which tell different things */
        return graph_long_range_make(lattice, size->size, sides, j[0],
                                     of_graph(point)->long_range.real, p, wrong)
                   ? ERGO_OK
                   : ERGO_FAIL(ctx, ERGO_E_JOB, "/system/size: %s", wrong);
    return graph_lattice_make(lattice, l, sides, j, shells, p, wrong)
               ? ERGO_OK
               : ERGO_FAIL(ctx, ERGO_E_JOB, "/system/size: %s", wrong);
}

static enum ergo_status check_lattice(struct ergo_context *ctx, const struct ergo_point *point) {
    const char *name = of_graph(point)->graph;
    const struct graph_lattice *lattice = graph_lattice_find(name);
    const struct ergo_value *size = &of_lattice(point)->size;
    const struct ergo_value *couplings = &of_lattice(point)->couplings;
    enum graph_side sides[ERGO_DIM_MAX];
    const int n = read_sides(point, sides);
    if (!lattice)
        return ergo_job_error(ctx, "/system/graph",
                              "\"%s\" is no lattice (chain, square, triangular, honeycomb, kagome, "
                              "cubic, bcc, fcc, diamond, hypercubic) and no complete graph "
                              "(sherrington-kirkpatrick, random-orthogonal); a file's name has a "
                              "dot or a slash, \"./%s\"",
                              name, name);
    if (!size->present || size->items != (int)lattice->d)
        return ergo_job_error(ctx, "/system/size", "%s; a %s lattice has %u",
                              size->present ? "another number of sides" : "missing", name,
                              lattice->d);
    if (graph_lattice_sites(lattice, size->size) > GRAPH_VERTICES_MAX)
        return ergo_job_error(ctx, "/system/size", "%.4g sites; at most 2^27",
                              graph_lattice_sites(lattice, size->size));
    if (n != 1 && n != (int)lattice->d)
        return ergo_job_error(ctx, "/system/boundary",
                              "%d of them; one word, or one for each of the %u directions", n,
                              lattice->d);
    for (int k = 0; k < n && of_graph(point)->long_range.present; k++)
        if (sides[k] == GRAPH_ANTIPERIODIC)
            return ergo_job_error(ctx, "/system/boundary",
                                  "antiperiodic with long_range: the nearest image has no sign of "
                                  "its own where two are equally near; periodic and open are "
                                  "possible");
    if (of_graph(point)->long_range.present &&
        graph_lattice_sites(lattice, size->size) > GRAPH_LONG_SITES_MAX)
        return ergo_job_error(ctx, "/system/size",
                              "%.4g sites, all pairs of which are coupled; at most %d",
                              graph_lattice_sites(lattice, size->size), GRAPH_LONG_SITES_MAX);
    if (couplings->present && couplings->items > (int)lattice->shells)
        return ergo_job_error(ctx, "/system/couplings",
                              "%d numbers; at most %u kinds of neighbours", couplings->items,
                              lattice->shells);
    return ERGO_OK;
}

/* So many sites that 16 cells a side say as much of what acts on a spin. */
static bool is_large(const struct ergo_point *point) {
    return !of_graph(point)->long_range.present &&
           graph_lattice_sites(graph_lattice_find(of_graph(point)->graph),
                               of_lattice(point)->size.size) > 1e5;
}

/* ---- problems -------------------------------------------------------------------------------- */

static void add_field(const struct ergo_point *point, struct graph_problem *p) {
    const double b = of_lattice(point)->field.real;
    for (uint32_t v = 0; v < p->n && b != 0; v++)
        p->fields[v] += b;
}

enum ergo_status graph_problem_of(struct ergo_context *ctx, const struct ergo_point *point,
                                  struct graph_problem *p) {
    *p = (struct graph_problem){0};
    const enum ergo_status status = graph_is_complete(point) ? graph_complete_make(ctx, point, p)
                                    : graph_is_named(point)  ? make_lattice(ctx, point, 0, p)
                                                             : graph_read(ctx, point, p);
    if (status == ERGO_OK && graph_is_disordered(point))
        graph_disorder(point, p);
    if (status == ERGO_OK)
        add_field(point, p);
    return status;
}

/* ---- schedules ------------------------------------------------------------------------------- */

/* ln x, by bisection: libm's logarithm may differ in the last bit from machine to machine. */
static double logarithm(double x) {
    double low = -745, high = 709;
    for (int i = 0; i < 200; i++) {
        const double middle = 0.5 * (low + high);
        if (ergo_portable_exp(middle) > x)
            high = middle;
        else
            low = middle;
    }
    return 0.5 * (low + high);
}

/* What temperatures follow from; false: no memory. p: of a complete graph not needed. */
static bool scales_of(const struct ergo_point *point, const struct graph_problem *p,
                      struct graph_scales *scales) {
    if (!graph_is_complete(point))
        return graph_problem_scales(p, scales);
    *scales = graph_complete_scales(point);
    return true;
}

/* First and last temperature, given or by default (model.c says how). */
static void ends_of(const struct ergo_point *point, const struct graph_scales *scales,
                    double t[2]) {
    const struct ergo_value *first = &of_graph(point)->temperature_initial;
    const struct ergo_value *last = &of_graph(point)->temperature_final;
    t[0] = first->present                                            ? first->real
           : ergo_says(of_graph(point)->temperature_scale, "forces") ? scales->largest
                                                                     : scales->spread;
    const double ln =
        scales->weak > 10 ? logarithm(10 * scales->weak) : 4.605170185988092; /* ln 100 */
    t[1] = last->present ? last->real : 2 * scales->smallest / ln;
    if (!last->present && t[1] > t[0])
        t[1] = t[0];
}

/* Does the first temperature follow from the graph, and the last not? The check then needs the
 * whole graph, as the run: the last may be above the first. */
static bool begins_by_graph(const struct ergo_point *point) {
    return graph_is_annealed(point) && of_graph(point)->temperature_final.present &&
           !of_graph(point)->temperature_initial.present;
}

/* Equal steps in 1/T from 0 on. */
static enum ergo_status schedule_population(struct ergo_context *ctx,
                                            const struct ergo_point *point, double unit,
                                            struct graph_schedule *schedule) {
    const size_t n = (size_t)of_graph(point)->temperatures;
    const double last = of_graph(point)->temperature_final.real;
    *schedule =
        (struct graph_schedule){.per = (uint64_t)point->parameters->sweeps / n, .stages = n};
    schedule->factors = malloc(n * sizeof *schedule->factors);
    schedule->slopes = malloc(n * sizeof *schedule->slopes);
    if (!schedule->factors || !schedule->slopes)
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for the temperatures");
    for (size_t k = 0; k < n; k++) {
        schedule->factors[k] = (float)(last * (double)n / (double)(k + 1));
        schedule->slopes[k] = (float)(0.5 * unit / (last * (double)n));
    }
    return ERGO_OK;
}

enum ergo_status graph_schedule_of(struct ergo_context *ctx, const struct ergo_point *point,
                                   const struct graph_problem *p, double unit,
                                   struct graph_schedule *schedule) {
    if (graph_is_population(point))
        return schedule_population(ctx, point, unit, schedule);
    const bool anneals = graph_is_annealed(point);
    const uint64_t sweeps = (uint64_t)point->parameters->sweeps;
    struct graph_scales scales = {0};
    double t[2] = {1, 1};
    *schedule = (struct graph_schedule){
        .begin = (uint64_t)point->parameters->equilibration, .per = 1, .stages = 1};
    if (anneals) {
        schedule->per = (sweeps + GRAPH_STAGES - 1) / GRAPH_STAGES;
        schedule->stages = (size_t)((sweeps + schedule->per - 1) / schedule->per);
        if (!scales_of(point, p, &scales))
            return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for the temperatures");
        ends_of(point, &scales, t);
        memcpy(schedule->ends, t, sizeof t);
    }
    schedule->factors = malloc(schedule->stages * sizeof *schedule->factors);
    if (!schedule->factors)
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for the temperatures");
    const bool linear = ergo_says(of_graph(point)->schedule, "linear");
    const bool inverse = ergo_says(of_graph(point)->schedule, "inverse");
    const double ratio = anneals && !linear && !inverse ? logarithm(t[1] / t[0]) : 0;
    const size_t n = schedule->stages;
    for (size_t k = 0; k < n; k++) {
        const double f = n > 1 ? (double)k / (double)(n - 1) : 1;
        const double now = linear    ? t[0] + f * (t[1] - t[0])
                           : inverse ? 1 / ((1 - f) / t[0] + f / t[1])
                                     : t[0] * ergo_portable_exp(f * ratio);
        schedule->factors[k] = (float)now;
    }
    return ERGO_OK;
}

/* ---- checks ---------------------------------------------------------------------------------- */

/* Couplings and fields are integers, of a unit that the strongest vertex sets. What is negligible
 * beside the lowest temperature, or beside what holds the graph together, may be rounded; annealing
 * has to tell low energies apart, no more. */
static enum ergo_status check_rounding(struct ergo_context *ctx, const struct ergo_point *point,
                                       const struct graph_problem *p,
                                       const struct graph_scales *scales) {
    const bool complete = graph_is_complete(point);
    const double joint = scales->smallest, field = fabs(of_lattice(point)->field.real);
    const double largest = complete ? field + 1 / joint : scales->largest;
    const double unit = graph_unit(largest);
    const double t = graph_is_population(point) ? of_graph(point)->temperature_final.real
                                                : point->parameters->temperature;
    const double negligible =
        graph_is_annealed(point) ? joint / 16 : fmax(0x1p-20 * joint, 0x1p-13 * t);
    double worst = complete && !model_rounds(joint, unit, negligible) ? joint : 0;
    for (size_t e = 0; e < p->m; e++)
        if (!model_rounds(p->edges[e].w, unit, negligible))
            worst = p->edges[e].w;
    for (uint32_t v = 0; v < p->n; v++)
        if (!model_rounds(p->fields[v], unit, negligible))
            worst = p->fields[v];
    if (worst == 0)
        return ERGO_OK;
    return ergo_job_error(
        ctx,
        !graph_is_named(point) ? "/system/graph"
        : field > 0            ? "/system/field"
                               : "/system/couplings",
        "a coupling or field of %g beside %.4g, the largest sum of |J| and |h| at "
        "a vertex: energies are rounded to 2^-29 of that, %.2g, and their ratio, "
        "%.2g, is too large",
        worst, largest, unit, largest / fabs(worst));
}

static enum ergo_status check_temperatures(struct ergo_context *ctx, const struct ergo_point *point,
                                           const struct graph_problem *p) {
    struct graph_scales scales;
    double t[2];
    if (!scales_of(point, p, &scales))
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for a graph of %u vertices", p->n);
    const enum ergo_status rounding = check_rounding(ctx, point, p, &scales);
    if (rounding != ERGO_OK)
        return rounding;
    if (graph_is_sampled(point)) {
        const struct ergo_value *top = &point->parameters->temperature_max;
        const double hot = top->present ? top->real : point->parameters->temperature;
        return 2 * scales.largest >= 1e-3 * hot ||
                       !ergo_says(of_lattice(point)->dynamics, "metropolis")
                   ? ERGO_OK
                   : ergo_job_error(
                         ctx, top->present ? "/system/temperature_max" : "/system/temperature",
                         "%g is more than 1000 times the largest energy of a flip: "
                         "Metropolis would accept nearly every one; use dynamics "
                         "\"heat-bath\"",
                         hot);
    }
    if (scales.largest == 0)
        return ergo_job_error(ctx, "/system/graph",
                              "no couplings and no fields: nothing to anneal");
    if (graph_is_population(point) || graph_is_walk(point))
        return ERGO_OK;
    ends_of(point, &scales, t);
    if (t[0] >= t[1])
        return ERGO_OK;
    if (begins_by_graph(point))
        return ergo_job_error(ctx, "/run/temperature_final",
                              "%g is above temperature_initial, which is not given and by itself "
                              "%g for this graph: give a higher one, or a lower temperature_final",
                              t[1], t[0]);
    return ergo_job_error(ctx, "/run/temperature_initial", "%g is below temperature_final, %g",
                          t[0], t[1]);
}

static int64_t all_sweeps(const struct ergo_point *point) {
    return point->parameters->equilibration + point->parameters->sweeps;
}

/* The largest divisor up to 10. */
static uint64_t divisor(int64_t sweeps) {
    int64_t every = 10;
    while (sweeps % every)
        every--;
    return (uint64_t)every;
}

/* Sweeps of a population at each temperature. */
static uint64_t sweeps_each(const struct ergo_point *point) {
    const int64_t each = point->parameters->sweeps / of_graph(point)->temperatures;
    return each > 0 ? (uint64_t)each : 1;
}

uint64_t graph_measure_every(const struct ergo_point *point) {
    if (graph_is_population(point))
        return sweeps_each(point);
    if (!graph_is_annealed(point))
        return 1;
    /* a time series to look at, no more: each sample counts all energies */
    const int64_t sweeps = point->parameters->sweeps;
    int64_t samples = 256;
    while (samples > 1 && sweeps % samples)
        samples--;
    return sweeps ? (uint64_t)(sweeps / samples) : 1;
}

uint64_t graph_look_every(const struct ergo_point *point) {
    const struct ergo_value *every = &of_graph(point)->lowest_every;
    return every->present               ? (uint64_t)every->integer
           : graph_is_population(point) ? sweeps_each(point)
           : graph_is_annealed(point)   ? divisor(all_sweeps(point))
                                        : 10;
}

static enum ergo_status check_population(struct ergo_context *ctx, const struct ergo_point *point) {
    const struct ergo_value *every = &point->parameters->measure_every;
    const int64_t sweeps = point->parameters->sweeps;
    const int64_t n = of_graph(point)->temperatures;
    if (!of_graph(point)->temperature_final.present)
        return ergo_job_error(ctx, "/run/temperature_final",
                              "missing; population-annealing goes from infinite temperature to it");
    if (sweeps % n || sweeps == 0)
        return ergo_job_error(ctx, "/run/sweeps", "%lld cannot be divided among %lld temperatures",
                              (long long)sweeps, (long long)n);
    if (point->parameters->equilibration)
        return ergo_job_error(ctx, "/run/equilibration",
                              "a population is in equilibrium at its start, at infinite "
                              "temperature: leave it out");
    if (!ergo_says(of_lattice(point)->start, "random"))
        return ergo_job_error(ctx, "/system/start",
                              "a population starts at infinite temperature: random");
    if (every->given && !every->automatic && every->integer != sweeps / n)
        return ergo_job_error(ctx, "/run/measure_every",
                              "a population is measured once at each temperature, every %lld "
                              "sweeps: leave it out",
                              (long long)(sweeps / n));
    return ERGO_OK;
}

static enum ergo_status check_ladder(struct ergo_context *ctx, const struct ergo_point *point) {
    const bool ladder = model_has_ladder(point);
    if (graph_has_clusters(point) && !ladder)
        return ergo_job_error(ctx, "/system/cluster_every",
                              "needs a ladder of temperatures (/system/ladder)");
    if (graph_is_sampled(point)) {
        const enum ergo_status status = ergo_ladder_check(ctx, point);
        return status == ERGO_OK ? ergo_feedback_check(ctx, point) : status;
    }
    if (ladder || point->parameters->temperature_max.present)
        return ergo_job_error(ctx, ladder ? "/system/ladder" : "/system/temperature_max",
                              "parallel tempering belongs to method sample");
    return ERGO_OK;
}

/* Does Metropolis sample, if it is not known to be refused for another reason? */
static bool metropolis_samples(const struct ergo_point *point) {
    struct ergo_context *quiet = ergo_context_create(); /* the check says what is wrong */
    struct graph_problem p = {0};
    enum ergo_status status = quiet ? ERGO_OK : ERGO_E_MEMORY;
    bool samples = true;
    if (graph_is_complete(point))
        samples =
            ergo_says(of_graph(point)->graph, "random-orthogonal") ||
            !ergo_says(of_lattice(point)->disorder.text, "bimodal") ||
            !of_lattice(point)->n.present ||
            ergodic_complete((uint32_t)of_lattice(point)->n.integer, of_lattice(point)->field.real);
    else if (!graph_is_walk(point) && status == ERGO_OK) {
        status = graph_is_named(point) ? check_lattice(quiet, point) : ERGO_OK;
        const bool large = status == ERGO_OK && graph_is_named(point) && is_large(point);
        if (status == ERGO_OK)
            status =
                large ? make_lattice(quiet, point, 16, &p) : graph_problem_of(quiet, point, &p);
        if (status == ERGO_OK && large)
            add_field(point, &p);
        samples = status != ERGO_OK || ergodic_graph(&p) == p.n;
        graph_problem_free(&p);
    }
    ergo_context_destroy(quiet);
    return samples;
}

const char *graph_instead(const struct ergo_point *point) {
    return metropolis_samples(point) ? NULL : "heat-bath";
}

enum ergo_status graph_check(struct ergo_context *ctx, const struct ergo_point *point) {
    const bool named = graph_is_named(point);
    struct graph_problem p = {0};
    enum ergo_status status = ERGO_OK;
    if (graph_is_sampled(point) && !(point->parameters->temperature > 0))
        status = ergo_job_error(ctx, "/system/temperature", "missing; method sample needs one");
    if (status == ERGO_OK)
        status = check_ladder(ctx, point);
    if (status == ERGO_OK && graph_is_population(point))
        status = check_population(ctx, point);
    if (status == ERGO_OK && named)
        status =
            graph_is_complete(point) ? graph_complete_check(ctx, point) : check_lattice(ctx, point);
    if (status == ERGO_OK && ergo_says(of_lattice(point)->dynamics, "metropolis"))
        status = model_dynamics_check(ctx, point, metropolis_samples(point));
    if (status != ERGO_OK)
        return status;
    if (!graph_is_sampled(point) && !graph_is_walk(point) &&
        all_sweeps(point) % (int64_t)graph_look_every(point))
        return ergo_job_error(ctx, "/run/lowest_every",
                              "%lld does not divide the %lld sweeps of the run, whose last states "
                              "would not be looked at",
                              (long long)graph_look_every(point), (long long)all_sweeps(point));
    if (graph_is_complete(point))
        return check_temperatures(ctx, point, &p);
    /* so many cells a side tell the same as more, but for means over vertices */
    status = begins_by_graph(point) ? graph_problem_of(ctx, point, &p)
             : named                ? make_lattice(ctx, point, 2 * GRAPH_REACH + 1, &p)
                                    : graph_read(ctx, point, &p);
    if (status == ERGO_OK) {
        if (!begins_by_graph(point))
            add_field(point, &p);
        status = check_temperatures(ctx, point, &p);
    } else if (!named) {
        ergo_error_at(ctx, status, "/system/graph");
    }
    graph_problem_free(&p);
    return status;
}
