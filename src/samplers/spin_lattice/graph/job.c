/* Spins on graphs: what a job tells without a device. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/portable.h"
#include "job/input.h"
#include "samplers/spin_lattice/graph/graph.h"
#include "samplers/spin_lattice/models.h"

_Static_assert(sizeof(struct graph_member) == GRAPH_MEMBER_BYTES, "graph_member has no padding");
_Static_assert(sizeof(struct graph_found) == GRAPH_FOUND_BYTES, "graph_found has no padding");

static const size_t file_most = (size_t)1 << 34; /* bytes: 10^9 edges */

bool graph_is_annealed(const struct ergo_point *point) {
    return model_says(point, "/run/method", "anneal");
}

bool graph_is_sampled(const struct ergo_point *point) {
    return !graph_is_annealed(point);
}

/* A name has no dot and no slash, a file has one (ERGO_KEY_WORD). */
bool graph_is_named(const struct ergo_point *point) {
    return !strpbrk(ergo_point_text(point, "/system/graph"), "./");
}

bool graph_has_target(const struct ergo_point *point) {
    return model_has(point, "/run/target_energy");
}

static enum graph_format format_of(const struct ergo_point *point) {
    return model_says(point, "/system/graph_format", "edges")    ? GRAPH_EDGES
           : model_says(point, "/system/graph_format", "maxcut") ? GRAPH_MAXCUT
           : model_says(point, "/system/graph_format", "qubo")   ? GRAPH_QUBO
                                                                 : GRAPH_AUTO;
}

/* From the beginning of the file, which a run has kept. */
bool graph_has_cut(const struct ergo_point *point) {
    const struct ergo_job_files *kept = &point->job->files;
    if (graph_is_named(point))
        return false;
    for (size_t i = 0; i < kept->count; i++)
        if (strcmp(kept->files[i].pointer, "/system/graph") == 0)
            return graph_format_of(kept->files[i].text, format_of(point)) == GRAPH_MAXCUT;
    return false;
}

/* ---- lattices -------------------------------------------------------------------------------- */

const char *const graph_boundaries[] = {"periodic", "open", "antiperiodic", NULL};

/* Boundaries of the job; returns how many. */
static int read_sides(const struct ergo_point *point, enum graph_side sides[ERGO_DIM_MAX]) {
    const char *at = ergo_point_text(point, "/system/boundary");
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
    const struct ergo_value *all = ergo_point_value(point, "/system/couplings");
    j[0] = ergo_point_real(point, "/system/coupling");
    for (int k = 0; k < all->items && all->present; k++)
        j[k] = all->reals[k];
    return all->present ? (uint32_t)all->items : 1;
}

/* The lattice, with sides of at most `longest` (0: any). */
static enum ergo_status make_lattice(struct ergo_context *ctx, const struct ergo_point *point,
                                     int64_t longest, struct graph_problem *p) {
    const struct graph_lattice *lattice =
        graph_lattice_find(ergo_point_text(point, "/system/graph"));
    const struct ergo_value *size = ergo_point_value(point, "/system/size");
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
    if (model_has(point, "/system/long_range")) /* of all sizes, which tell different things */
        return graph_long_range_make(lattice, size->size, sides, j[0],
                                     ergo_point_real(point, "/system/long_range"), p, wrong)
                   ? ERGO_OK
                   : ERGO_FAIL(ctx, ERGO_E_JOB, "/system/size: %s", wrong);
    return graph_lattice_make(lattice, l, sides, j, shells, p, wrong)
               ? ERGO_OK
               : ERGO_FAIL(ctx, ERGO_E_JOB, "/system/size: %s", wrong);
}

static enum ergo_status check_lattice(struct ergo_context *ctx, const struct ergo_point *point) {
    const char *name = ergo_point_text(point, "/system/graph");
    const struct graph_lattice *lattice = graph_lattice_find(name);
    const struct ergo_value *size = ergo_point_value(point, "/system/size");
    const struct ergo_value *couplings = ergo_point_value(point, "/system/couplings");
    enum graph_side sides[ERGO_DIM_MAX];
    const int n = read_sides(point, sides);
    if (!lattice)
        return ergo_job_error(ctx, "/system/graph",
                              "\"%s\" is no lattice (chain, square, triangular, honeycomb, kagome, "
                              "cubic, bcc, fcc, diamond, hypercubic); a file's name has a dot or a "
                              "slash, \"./%s\"",
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
    for (int k = 0; k < n && model_has(point, "/system/long_range"); k++)
        if (sides[k] == GRAPH_ANTIPERIODIC)
            return ergo_job_error(ctx, "/system/boundary",
                                  "antiperiodic with long_range: the nearest image has no sign of "
                                  "its own where two are equally near; periodic and open are "
                                  "possible");
    if (model_has(point, "/system/long_range") &&
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

/* ---- problems -------------------------------------------------------------------------------- */

static enum ergo_status read_graph(struct ergo_context *ctx, const struct ergo_point *point,
                                   struct graph_problem *p) {
    const char *path = ergo_point_text(point, "/system/graph");
    char *text = NULL, wrong[GRAPH_WRONG];
    size_t length = 0;
    enum ergo_status status =
        ergo_input_read(ctx, point, "/system/graph", file_most, &text, &length);
    if (status == ERGO_OK && !graph_parse(text, length, format_of(point), p, wrong))
        status = ERGO_FAIL(ctx, ERGO_E_JOB, "%s is not a graph: %s", path, wrong);
    free(text);
    return status;
}

static void add_field(const struct ergo_point *point, struct graph_problem *p) {
    const double b = ergo_point_real(point, "/system/field");
    for (uint32_t v = 0; v < p->n && b != 0; v++)
        p->fields[v] += b;
}

enum ergo_status graph_problem_of(struct ergo_context *ctx, const struct ergo_point *point,
                                  struct graph_problem *p) {
    *p = (struct graph_problem){0};
    const enum ergo_status status =
        graph_is_named(point) ? make_lattice(ctx, point, 0, p) : read_graph(ctx, point, p);
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

/* First and last temperature, given or by default (model.c says how). */
static void ends_of(const struct ergo_point *point, const struct graph_scales *scales,
                    double t[2]) {
    const struct ergo_value *first = ergo_point_value(point, "/run/temperature_initial");
    const struct ergo_value *last = ergo_point_value(point, "/run/temperature_final");
    t[0] = first->present ? first->real : scales->largest;
    t[1] = last->present ? last->real : 2 * scales->smallest / 4.605170185988092; /* ln 100 */
    if (!last->present && t[1] > t[0])
        t[1] = t[0];
    if (!first->present && t[0] < t[1])
        t[0] = t[1];
}

enum ergo_status graph_schedule_of(struct ergo_context *ctx, const struct ergo_point *point,
                                   const struct graph_problem *p, struct graph_schedule *schedule) {
    const bool anneals = graph_is_annealed(point);
    const uint64_t sweeps = (uint64_t)ergo_point_int(point, "/run/sweeps");
    struct graph_scales scales = {0};
    double t[2] = {1, 1};
    *schedule = (struct graph_schedule){
        .begin = (uint64_t)ergo_point_int(point, "/run/equilibration"), .per = 1, .stages = 1};
    if (anneals) {
        schedule->per = (sweeps + GRAPH_STAGES - 1) / GRAPH_STAGES;
        schedule->stages = (size_t)((sweeps + schedule->per - 1) / schedule->per);
        if (!graph_problem_scales(p, &scales))
            return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for the temperatures");
        ends_of(point, &scales, t);
    }
    schedule->factors = malloc(schedule->stages * sizeof *schedule->factors);
    if (!schedule->factors)
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for the temperatures");
    const bool linear = model_says(point, "/run/schedule", "linear");
    const bool inverse = model_says(point, "/run/schedule", "inverse");
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

void graph_member_fill(const struct ergo_point *point, const struct graph_problem *p, double unit,
                       struct graph_member *member) {
    const double t = graph_is_annealed(point) ? 1 : ergo_point_real(point, "/system/temperature");
    memset(member, 0, sizeof *member);
    member->key0 = (uint32_t)point->stream;
    member->key1 = (uint32_t)(point->stream >> 32);
    member->scale = (float)(0.5 * t / unit);
    member->goal = INT64_MAX;
    if (graph_has_target(point)) { /* a sum is -2 (E - offset) */
        const double goal = 2 * (p->offset - ergo_point_real(point, "/run/target_energy")) / unit;
        const double least = ceil(goal - 1e-9 * fabs(goal)); /* couplings are rounded */
        member->goal = least >= 0x1p62 ? INT64_MAX : least <= -0x1p62 ? INT64_MIN : (int64_t)least;
    }
}

/* ---- checks ---------------------------------------------------------------------------------- */

static enum ergo_status check_temperatures(struct ergo_context *ctx, const struct ergo_point *point,
                                           const struct graph_problem *p) {
    struct graph_scales scales;
    double t[2];
    if (!graph_problem_scales(p, &scales))
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for a graph of %u vertices", p->n);
    if (graph_is_sampled(point)) {
        const double hot = ergo_point_real(point, "/system/temperature");
        return 2 * scales.largest >= 1e-3 * hot ||
                       !model_says(point, "/system/dynamics", "metropolis")
                   ? ERGO_OK
                   : ergo_job_error(ctx, "/system/temperature",
                                    "%g is more than 1000 times the largest energy of a flip: "
                                    "Metropolis would accept nearly every one; use dynamics "
                                    "\"heat-bath\"",
                                    hot);
    }
    if (scales.largest == 0)
        return ergo_job_error(ctx, "/system/graph",
                              "no couplings and no fields: nothing to anneal");
    ends_of(point, &scales, t);
    return t[0] >= t[1] ? ERGO_OK
                        : ergo_job_error(ctx, "/run/temperature_initial",
                                         "%g is below temperature_final, %g", t[0], t[1]);
}

static int64_t all_sweeps(const struct ergo_point *point) {
    return ergo_point_int(point, "/run/equilibration") + ergo_point_int(point, "/run/sweeps");
}

/* The largest divisor up to 10. */
static uint64_t divisor(int64_t sweeps) {
    int64_t every = 10;
    while (sweeps % every)
        every--;
    return (uint64_t)every;
}

uint64_t graph_measure_every(const struct ergo_point *point) {
    return graph_is_annealed(point) ? divisor(ergo_point_int(point, "/run/sweeps")) : 1;
}

uint64_t graph_look_every(const struct ergo_point *point) {
    const struct ergo_value *every = ergo_point_value(point, "/run/lowest_every");
    return every->present             ? (uint64_t)every->integer
           : graph_is_annealed(point) ? divisor(all_sweeps(point))
                                      : 10;
}

enum ergo_status graph_check(struct ergo_context *ctx, const struct ergo_point *point) {
    const struct ergo_value *temperature = ergo_point_value(point, "/system/temperature");
    const bool named = graph_is_named(point);
    struct graph_problem p = {0};
    enum ergo_status status = ERGO_OK;
    if (graph_is_sampled(point) && !temperature->present)
        status = ergo_job_error(ctx, "/system/temperature", "missing; method sample needs one");
    if (status == ERGO_OK && named)
        status = check_lattice(ctx, point);
    if (status != ERGO_OK)
        return status;
    if (graph_is_annealed(point) && all_sweeps(point) % (int64_t)graph_look_every(point))
        return ergo_job_error(ctx, "/run/lowest_every",
                              "%lld does not divide the %lld sweeps of the run, whose last states "
                              "would not be looked at",
                              (long long)graph_look_every(point), (long long)all_sweeps(point));
    /* so many cells a side tell the same as more */
    status = named ? make_lattice(ctx, point, 2 * GRAPH_REACH + 1, &p) : read_graph(ctx, point, &p);
    if (status == ERGO_OK) {
        add_field(point, &p);
        status = check_temperatures(ctx, point, &p);
    } else if (!named) {
        char message[400];
        snprintf(message, sizeof message, "%s", ergo_error_message(ctx));
        ergo_error_clear(ctx);
        status = ERGO_FAIL(ctx, status, "/system/graph: %s", message);
    }
    graph_problem_free(&p);
    return status;
}

enum ergo_status graph_extends(struct ergo_context *ctx, const struct ergo_point *from,
                               const struct ergo_point *to) {
    if (graph_is_sampled(from) ||
        ergo_point_int(from, "/run/sweeps") == ergo_point_int(to, "/run/sweeps"))
        return ERGO_OK;
    return ergo_job_error(ctx, "/run/sweeps",
                          "%lld instead of %lld: temperatures of method anneal are spread over all "
                          "sweeps; make another run",
                          (long long)ergo_point_int(to, "/run/sweeps"),
                          (long long)ergo_point_int(from, "/run/sweeps"));
}
