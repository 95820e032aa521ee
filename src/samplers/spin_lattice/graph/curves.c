/*
 * Spins on graphs: what is measured at each temperature of a ladder or of a population, and what is
 * told at the end of a run.
 *
 * Of a ladder each sample has the moments of each temperature, in bins of time (the curve
 * `ladder_moments`). The bins are the units of errors: quantities that are no means are added as
 * the jackknife's pseudo-values. Of a population a sample is a temperature's: its moments are means
 * over the members, added up over the run, in which each is measured once (the curve `census`).
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "samplers/spin_lattice/graph/graph.h"
#include "samplers/spin_lattice/graph/lowest.h"
#include "samplers/spin_lattice/graph/parameters.h"
#include "samplers/tempered.h"

/* ---- samples --------------------------------------------------------------------------------- */

/* Adds to row[GRAPH_MOMENTS] the mean of chains first to first + count - 1. */
static void add_moments(const struct graph_state *s, const uint32_t *numbers, size_t first,
                        size_t count, double *row) {
    for (size_t w = first; w < first + count; w++) {
        double c[GRAPH_COLUMNS];
        graph_columns(s, numbers + GRAPH_NUMBERS * w, c);
        const double e = c[COLUMN_TOTAL] / s->net.n, m = c[COLUMN_GRAPH_M],
                     share = 1.0 / (double)count;
        row[GRAPH_E] += e * share;
        row[GRAPH_E2] += e * e * share;
        row[GRAPH_ABS_M] += fabs(m) * share;
        row[GRAPH_M2] += m * m * share;
        row[GRAPH_M4] += m * m * m * m * share;
    }
}

bool graph_curve_row(const void *state, unsigned slot, const struct ergo_row *row) {
    const struct graph_state *s = state;
    const size_t width = s->chains.width, copies = s->chains.copies;
    const size_t length = (size_t)s->chains.rungs * GRAPH_MOMENTS;
    if (!row->curves[CURVE_CHAIN_MOMENTS] || s->chains.rungs < 2)
        return true;
    double *to = row->curves[CURVE_CHAIN_MOMENTS] + row->number * length;
    const uint32_t *numbers = ergo_engine_host(&s->e, GRAPH_COUNTS, slot, row->sample);
    memset(to, 0, length * sizeof *to);
    for (size_t t = 0; t < s->chains.rungs; t++)
        add_moments(s, numbers + GRAPH_NUMBERS * width * row->member, t * copies, copies,
                    to + t * GRAPH_MOMENTS);
    return true;
}

/* Families of a population of so many; count[width] is scratch. */
static void add_families(const uint32_t *families, size_t width, uint32_t *count, double *row) {
    memset(count, 0, width * sizeof *count);
    for (size_t w = 0; w < width; w++)
        count[families[w] < width ? families[w] : 0]++;
    for (size_t f = 0; f < width; f++) {
        const double share = (double)count[f] / (double)width;
        if (!count[f])
            continue;
        row[GRAPH_FAMILIES]++;
        row[GRAPH_SQUARES] += (double)width * share * share;
        row[GRAPH_ENTROPY] -= share * log(share);
    }
}

/* The population of a member at its temperature number `stage`, from sample `at` of the slot. */
static void add_census(const struct graph_state *s, unsigned slot, size_t at, size_t member,
                       size_t stage, uint32_t *count, double *row) {
    const size_t width = s->chains.width;
    const uint32_t *numbers = ergo_engine_host(&s->e, GRAPH_COUNTS, slot, at);
    const uint32_t *families = ergo_engine_host(&s->e, GRAPH_FAMILIES_SAMPLES, slot, at);
    const struct graph_totals *totals = ergo_engine_host(&s->e, GRAPH_TOTALS_SAMPLES, slot, at);
    const double slope = s->schedule.slopes[stage];
    const double mean = (double)totals[member].weights / ((double)width * 0x1p31);
    add_moments(s, numbers + GRAPH_NUMBERS * width * member, 0, width, row);
    add_families(families + width * member, width, count, row);
    /* a sum is -2 (E - offset) in the unit of couplings */
    row[GRAPH_LN_WEIGHT] += log(mean) + slope * (double)totals[member].best -
                            2 * slope / s->net.unit * s->problem.offset;
}

enum ergo_status graph_convert(struct ergo_context *ctx, void *state, unsigned slot,
                               struct ergo_samples *samples) {
    const struct graph_state *s = state;
    const struct graph_schedule *schedule = &s->schedule;
    const struct ergo_engine_slot *block = &s->e.slots[slot];
    const size_t members = s->e.batch->count;
    const size_t length = schedule->stages * GRAPH_CENSUS_MOMENTS;
    double *all = samples->curves[CURVE_CENSUS];
    if (!s->chains.population || !all)
        return ERGO_OK;
    uint32_t *count = malloc(s->chains.width * sizeof *count);
    if (!count)
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for the families of a population");
    memset(all, 0, members * length * sizeof *all);
    for (size_t i = 0; i < samples->count; i++) {
        const uint64_t step = block->step + (i + 1) * block->every - 1; /* its last sweep */
        const size_t stage = (size_t)((step - schedule->begin) / schedule->per);
        for (size_t m = 0; m < members && stage < schedule->stages; m++)
            add_census(s, slot, i, m, stage, count,
                       all + m * length + stage * GRAPH_CENSUS_MOMENTS);
    }
    free(count);
    return ERGO_OK;
}

/* ---- the job --------------------------------------------------------------------------------- */

static size_t temperatures_of(const struct ergo_point *point) {
    return graph_is_population(point) ? (size_t)of_graph(point)->temperatures
                                      : graph_chains_of(point).rungs;
}

size_t graph_curve_size(const struct ergo_point *point, size_t c) {
    const struct graph_chains chains = graph_chains_of(point);
    const bool ladder = chains.rungs > 1;
    const size_t n = temperatures_of(point);
    switch (c) {
    case CURVE_LOWEST:
        return (size_t)of_graph(point)->lowest_states;
    case CURVE_REACHED:
        return 2 * (size_t)graph_has_target(point);
    case CURVE_CHAIN_ENERGY:
    case CURVE_CHAIN_HEAT:
    case CURVE_CHAIN_ORDER:
    case CURVE_CHAIN_BINDER:
        return ladder || chains.population ? n : 0;
    case CURVE_FREE_ENERGY:
    case CURVE_FAMILIES:
    case CURVE_FAMILY_SIZE:
    case CURVE_FAMILY_ENTROPY:
        return chains.population ? n : 0;
    case CURVE_CHAIN_SWAPS:
        return ladder ? n - 1 : 0;
    case CURVE_TRIPS:
        return ladder;
    case CURVE_CHAIN_TEMPERATURES:
        return ergo_feedback_of(point).automatic ? n : 0;
    case CURVE_CHAIN_MOMENTS:
        return ladder ? n * GRAPH_MOMENTS : 0;
    case CURVE_ANNEALING:
        return 2 * (size_t)graph_is_annealed(point);
    case CURVE_CENSUS:
        return chains.population ? n * GRAPH_CENSUS_MOMENTS : 0;
    default:
        return 0;
    }
}

/* Temperature i of a ladder, from the coldest on, or of a population, from the hottest. */
static double temperature_of(const struct ergo_point *point, const double *ladder, size_t i) {
    const double n = (double)temperatures_of(point);
    return graph_is_population(point)
               ? of_graph(point)->temperature_final.real * n / (double)(i + 1)
               : ladder[i];
}

void graph_curve_x(const struct ergo_point *point, size_t c, double *x) {
    const bool plain = c <= CURVE_REACHED || c == CURVE_TRIPS || c >= CURVE_CHAIN_MOMENTS;
    double ladder[ERGO_LADDER_MAX] = {0};
    if (!plain && !graph_is_population(point))
        ergo_ladder_temperatures(point, ladder);
    for (size_t i = 0; i < graph_curve_size(point, c); i++)
        x[i] = plain ? (double)i : temperature_of(point, ladder, i);
}

/* ---- at the end ------------------------------------------------------------------------------ */

static double heat_of(double n, double t, const double *m) {
    return n * (m[GRAPH_E2] - m[GRAPH_E] * m[GRAPH_E]) / (t * t);
}

static double binder_of(double n, double t, const double *m) {
    (void)n, (void)t;
    return 1 - m[GRAPH_M4] / (3 * m[GRAPH_M2] * m[GRAPH_M2]);
}

/* A mean (function NULL), or a function of the moments. */
static const struct quantity {
    int curve;
    double (*function)(double n, double t, const double *moments);
    int moment;
} quantities[] = {
    {CURVE_CHAIN_ENERGY, NULL, GRAPH_E},         {CURVE_CHAIN_HEAT, heat_of, 0},
    {CURVE_CHAIN_ORDER, NULL, GRAPH_ABS_M},      {CURVE_CHAIN_BINDER, binder_of, 0},
    {CURVE_FAMILIES, NULL, GRAPH_FAMILIES},      {CURVE_FAMILY_SIZE, NULL, GRAPH_SQUARES},
    {CURVE_FAMILY_ENTROPY, NULL, GRAPH_ENTROPY},
};

/* Means of the moments [temperatures][each] in `count` units of the run, and of all of them. */
struct units {
    size_t count, temperatures, each;
    double *value, *mean;
};

/* Adds the values of a quantity, or pseudo-values, of each unit. */
static void add_quantity(const struct units *u, const struct quantity *q, double n, const double *t,
                         struct ergo_curve *curve, double *row) {
    const size_t size = u->temperatures * u->each;
    const double g = (double)u->count;
    double without[GRAPH_CENSUS_MOMENTS];
    for (size_t k = 0; k < u->count && curve->size; k++) {
        for (size_t i = 0; i < u->temperatures; i++) {
            const double *mean = u->mean + i * u->each, *own = u->value + k * size + i * u->each;
            if (!q->function) {
                row[i] = own[q->moment];
                continue;
            }
            const double all = q->function(n, t[i], mean);
            for (size_t m = 0; m < u->each && g > 1; m++)
                without[m] = mean[m] - (own[m] - mean[m]) / (g - 1);
            row[i] = g > 1 ? g * all - (g - 1) * q->function(n, t[i], without) : all;
        }
        ergo_curve_add(curve, row);
    }
}

/* -ln Z at infinite temperature is -N ln 2. */
static void add_free_energy(const struct units *u, double n, const double *t,
                            struct ergo_curve *curve, double *row) {
    double ln_z = n * 0.693147180559945309417;
    for (size_t i = 0; i < u->temperatures; i++) {
        ln_z += u->mean[i * u->each + GRAPH_LN_WEIGHT];
        row[i] = -t[i] * ln_z / n;
    }
    ergo_curve_add(curve, row);
}

static enum ergo_status add_temperatures(struct ergo_context *ctx, const struct graph_state *s,
                                         size_t member, struct ergo_curve *curves) {
    const struct ergo_point *point = s->e.batch->points[member];
    const bool population = s->chains.population;
    const struct ergo_curve *from = &curves[population ? CURVE_CENSUS : CURVE_CHAIN_MOMENTS];
    struct units u = {.temperatures = temperatures_of(point),
                      .each = population ? GRAPH_CENSUS_MOMENTS : GRAPH_MOMENTS};
    const size_t size = u.temperatures * u.each;
    const double length = population ? 1 : (double)from->bin_length;
    u.count = population ? from->count > 0 : (size_t)(from->count / from->bin_length);
    if (!u.count)
        return ERGO_OK;
    u.value = malloc(u.count * size * sizeof *u.value);
    u.mean = calloc(size, sizeof *u.mean);
    double *t = malloc(2 * u.temperatures * sizeof *t);
    const bool ok = u.value && u.mean && t;
    for (size_t i = 0; i < u.temperatures && ok; i++)
        t[i] = temperature_of(point, s->ladders + member * s->chains.rungs, i);
    for (size_t i = 0; i < u.count * size && ok; i++) {
        u.value[i] = from->bins[i] / length;
        u.mean[i % size] += u.value[i] / (double)u.count;
    }
    for (size_t k = 0; k < sizeof quantities / sizeof quantities[0] && ok; k++)
        add_quantity(&u, &quantities[k], s->net.n, t, &curves[quantities[k].curve],
                     t + u.temperatures);
    if (ok && population)
        add_free_energy(&u, s->net.n, t, &curves[CURVE_FREE_ENERGY], t + u.temperatures);
    free(u.value);
    free(u.mean);
    free(t);
    return ok ? ERGO_OK : ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for curves over temperatures");
}

/* Accepted exchanges per try, and round trips, since the start of the run or the last feedback. */
static enum ergo_status add_moves(struct ergo_context *ctx, struct graph_state *s, size_t member,
                                  struct ergo_curve *curves) {
    const struct graph_chains *c = &s->chains;
    uint64_t *moves = calloc(c->width, sizeof *moves);
    ergo_engine_begin(&s->e, ctx);
    if (!moves)
        ERGO_ENGINE_FAIL(&s->e, ERGO_E_MEMORY, "no memory for numbers of exchanges");
    ergo_engine_read(&s->e, GRAPH_MOVES, 8 * (size_t)c->width * member, 8 * (size_t)c->width,
                     moves);
    if (ergo_engine_end(&s->e) == ERGO_OK) {
        ergo_ladder_add_moves(&s->feedback, s->e.step, c->rungs, c->copies, moves,
                              moves + (c->rungs - 1) * c->copies, &curves[CURVE_CHAIN_SWAPS],
                              &curves[CURVE_TRIPS]);
        if (s->feedback.automatic)
            ergo_curve_add(&curves[CURVE_CHAIN_TEMPERATURES], s->ladders + member * c->rungs);
    }
    free(moves);
    return ergo_engine_end(&s->e);
}

/* Energies of the lowest states, NAN where there are fewer; whether and when the target was seen.
 * Each twice, so that the error is 0: these are facts. */
static enum ergo_status add_lowest(struct ergo_context *ctx, struct graph_state *s, size_t member,
                                   struct ergo_curve *curves) {
    struct graph_lowest low;
    double energies[GRAPH_KEEP_MAX];
    const enum ergo_status status = graph_lowest_read(ctx, s, member, &low);
    if (status != ERGO_OK)
        return status;
    for (uint32_t k = 0; k < s->keep; k++)
        energies[k] = k < low.count ? low.states[k].energy : NAN;
    for (int i = 0; i < 2; i++)
        ergo_curve_add(&curves[CURVE_LOWEST], energies);
    for (int i = 0; i < 2 && curves[CURVE_REACHED].size; i++) {
        const double reached[2] = {low.hit != GRAPH_NEVER,
                                   low.hit != GRAPH_NEVER ? (double)low.hit : NAN};
        ergo_curve_add(&curves[CURVE_REACHED], reached);
    }
    for (int i = 0; i < 2 && curves[CURVE_ANNEALING].size; i++)
        ergo_curve_add(&curves[CURVE_ANNEALING], s->schedule.ends);
    graph_lowest_free(&low);
    return ERGO_OK;
}

enum ergo_status graph_end_curves(struct ergo_context *ctx, void *state, size_t member,
                                  struct ergo_curve *curves) {
    struct graph_state *s = state;
    enum ergo_status status = add_lowest(ctx, s, member, curves);
    if (status == ERGO_OK && s->chains.width > 1)
        status = add_temperatures(ctx, s, member, curves);
    if (status == ERGO_OK && s->chains.rungs > 1)
        status = add_moves(ctx, s, member, curves);
    return status;
}
