/*
 * Fully connected spin glasses: averages over the disorder and their errors, at the end of a run.
 *
 * The realisations are the units of errors: each one's own mean over time counts once, and they
 * share nothing, random numbers included. Quantities that are not means are added as the
 * jackknife's pseudo-values, G f - (G - 1) f without the unit, whose mean has no bias of order 1/G
 * and whose spread is the jackknife's error. Of a single realisation the bins of time are the
 * units: its thermal error.
 */
#include <math.h>
#include <stdlib.h>

#include "samplers/spin_lattice/dense/dense.h"
#include "samplers/spin_lattice/models.h"

/* ---- quantities ------------------------------------------------------------------------------ */

static double heat_of(double n, double t, const double *m) {
    return n * (m[DENSE_E2] - m[DENSE_EE]) / (t * t);
}

static double binder_of(double n, double t, const double *m) {
    (void)n, (void)t;
    return 0.5 * (3 - m[DENSE_Q4] / (m[DENSE_Q2] * m[DENSE_Q2]));
}

/* A mean (function NULL), or a function of the moments of a temperature; and the curve over the
 * ladder, if it has one. */
static const struct quantity {
    double (*function)(double n, double t, const double *moments);
    int moment;
    bool pairs; /* of copies */
    int curve;
} results[DENSE_RESULTS] = {[OVERLAP_E] = {NULL, DENSE_E, false, DENSE_CURVE_ENERGY},
                            [OVERLAP_M] = {NULL, DENSE_M, false, -1},
                            [OVERLAP_M2] = {NULL, DENSE_M2, false, -1},
                            [OVERLAP_ABS_Q] = {NULL, DENSE_ABS_Q, true, -1},
                            [OVERLAP_Q2] = {NULL, DENSE_Q2, true, DENSE_CURVE_Q2},
                            [OVERLAP_Q4] = {NULL, DENSE_Q4, true, -1},
                            [OVERLAP_BINDER] = {binder_of, 0, true, DENSE_CURVE_BINDER},
                            [DENSE_HEAT] = {heat_of, 0, true, DENSE_CURVE_HEAT}};

/* ---- units ----------------------------------------------------------------------------------- */

struct units {
    const struct dense_shape *shape;
    size_t count, size; /* size: of moments and P(q) */
    double *value;      /* [count][size] */
    double *mean;       /* [size], of the units */
    double *column;     /* [count] */
};

static bool units_of(const struct dense_shape *h, const struct ergo_curve *curves,
                     struct units *u) {
    const bool single = h->samples == 1;
    const struct ergo_curve *from = &curves[single ? DENSE_CURVE_TIMES : DENSE_CURVE_SAMPLES];
    const size_t moments = h->rungs * (size_t)DENSE_MOMENTS;
    const double n = single ? (double)from->bin_length : from->count ? (double)from->count : NAN;
    u->shape = h;
    u->size = dense_row_length(h);
    u->count = single ? (size_t)(from->count / from->bin_length) : h->samples;
    u->value = malloc((u->count + 1) * u->size * sizeof *u->value);
    u->mean = calloc(u->size, sizeof *u->mean);
    u->column = malloc((u->count + 1) * sizeof *u->column);
    if (!u->value || !u->mean || !u->column)
        return false;
    for (size_t i = 0; i < u->count * u->size; i++) {
        u->value[i] = from->bins[i] / n * (i % u->size < moments ? 0x1p-28 : 1);
        u->mean[i % u->size] += u->value[i] / (double)u->count;
    }
    return true;
}

static void units_free(struct units *u) {
    free(u->value);
    free(u->mean);
    free(u->column);
}

/* u->column: quantity q at rung i of temperature t, as values or pseudo-values. */
static void quantity_of(struct units *u, const struct quantity *q, size_t i, double t) {
    const double g = (double)u->count, n = u->shape->n, *mean = u->mean + i * DENSE_MOMENTS;
    const double all = q->function ? q->function(n, t, mean) : 0;
    for (size_t k = 0; k < u->count; k++) {
        const double *own = u->value + k * u->size + i * DENSE_MOMENTS;
        double without[DENSE_MOMENTS];
        if (!q->function) {
            u->column[k] = own[q->moment];
            continue;
        }
        for (size_t m = 0; m < DENSE_MOMENTS; m++)
            without[m] = mean[m] - (own[m] - mean[m]) / (g - 1);
        u->column[k] = g > 1 ? g * all - (g - 1) * q->function(n, t, without) : all;
    }
}

/* ---- the end --------------------------------------------------------------------------------- */

static void add_results(struct units *u, const double *ladder, struct ergo_curve *curves,
                        double *rows) {
    const struct dense_shape *h = u->shape;
    for (size_t i = 0; i < DENSE_RESULTS; i++) {
        const struct quantity *q = &results[i];
        const bool wanted = h->copies > 1 || !q->pairs;
        if (wanted)
            quantity_of(u, q, 0, ladder[0]);
        for (size_t k = 0; k < u->count; k++)
            rows[k * DENSE_RESULTS + i] = wanted ? u->column[k] : 0;
    }
    ergo_curve_add_rows(&curves[DENSE_CURVE_MOMENTS], rows, u->count);
    for (size_t i = 0; i < DENSE_RESULTS; i++) {
        const struct quantity *q = &results[i];
        if (q->curve < 0 || (h->copies < 2 && q->pairs))
            continue;
        for (size_t t = 0; t < h->rungs; t++) {
            quantity_of(u, q, t, ladder[t]);
            for (size_t k = 0; k < u->count; k++)
                rows[k * h->rungs + t] = u->column[k];
        }
        ergo_curve_add_rows(&curves[q->curve], rows, u->count);
    }
}

/* A density: bins differ by one in the overlaps that fall into them, 2/n apart. */
static void add_overlaps(const struct units *u, struct ergo_curve *curves, double *rows) {
    const struct dense_shape *h = u->shape;
    const size_t bins = dense_bins(h);
    size_t inside[130] = {0};
    for (uint32_t k = 0; k <= h->n && bins; k++)
        inside[dense_bin(h, k)]++;
    for (size_t k = 0; k < u->count; k++)
        for (size_t i = 0; i < bins; i++)
            rows[k * bins + i] =
                u->value[(k + 1) * u->size - bins + i] * (double)h->n / (2 * (double)inside[i]);
    if (bins)
        ergo_curve_add_rows(&curves[DENSE_CURVE_OVERLAP], rows, u->count);
}

/* Flips per trial, exchanges per try, round trips per copy and million sweeps of each realisation,
 * since the start of the run or the last feedback. */
static void add_moves(const struct dense_state *s, const uint64_t *flips, const uint64_t *accepted,
                      const uint64_t *trips, struct ergo_curve *curves) {
    const struct dense_shape *h = &s->shape;
    const uint64_t counted = s->e.step - ergo_feedback_since(&s->feedback, s->e.step);
    const double steps = counted ? (double)counted : 1, copies = h->copies;
    double rates[ERGO_LADDER_MAX];
    for (size_t k = 0; k < h->samples; k++) {
        for (size_t t = 0; t < h->rungs; t++) {
            rates[t] = 0;
            for (size_t c = 0; c < h->copies; c++)
                rates[t] +=
                    (double)flips[k * h->slots + t * h->copies + c] / (h->n * steps * copies);
        }
        ergo_curve_add(&curves[DENSE_CURVE_ACCEPTANCE], rates);
        if (h->rungs > 1)
            ergo_ladder_add_moves(&s->feedback, s->e.step, h->rungs, h->copies,
                                  accepted + k * h->slots, trips + k * h->copies,
                                  &curves[DENSE_CURVE_SWAPS], &curves[DENSE_CURVE_ROUND_TRIPS]);
    }
}

static enum ergo_status read_moves(struct ergo_context *ctx, struct dense_state *s, size_t member,
                                   struct ergo_curve *curves) {
    const struct dense_shape *h = &s->shape;
    const size_t chains = (size_t)h->samples * h->slots, copies = (size_t)h->samples * h->copies;
    uint64_t *numbers = calloc(2 * chains + copies, sizeof *numbers);
    ergo_engine_begin(&s->e, ctx);
    if (!numbers)
        ERGO_ENGINE_FAIL(&s->e, ERGO_E_MEMORY, "no memory for numbers of moves");
    ergo_engine_read(&s->e, DENSE_FLIPS, member * chains * 8, chains * 8, numbers);
    if (h->rungs > 1) {
        ergo_engine_read(&s->e, DENSE_ACCEPTED, member * chains * 8, chains * 8, numbers + chains);
        ergo_engine_read(&s->e, DENSE_TRIPS, member * copies * 8, copies * 8, numbers + 2 * chains);
    }
    if (ergo_engine_end(&s->e) == ERGO_OK)
        add_moves(s, numbers, numbers + chains, numbers + 2 * chains, curves);
    free(numbers);
    return ergo_engine_end(&s->e);
}

enum ergo_status dense_end_curves(struct ergo_context *ctx, void *state, size_t member,
                                  struct ergo_curve *curves) {
    struct dense_state *s = state;
    const struct dense_shape *h = &s->shape;
    const size_t bins = dense_bins(h);
    struct units u = {0};
    double *ladder = s->ladders + member * h->rungs, *rows = NULL;
    if (s->feedback.automatic)
        ergo_curve_add(&curves[DENSE_CURVE_TEMPERATURES], ladder);
    if (units_of(h, curves, &u)) {
        size_t width = h->rungs > bins ? h->rungs : bins;
        width = width > DENSE_RESULTS ? width : DENSE_RESULTS;
        rows = malloc((u.count + 1) * width * sizeof *rows);
    }
    if (rows) {
        add_results(&u, ladder, curves, rows);
        add_overlaps(&u, curves, rows);
    }
    const enum ergo_status status =
        rows ? read_moves(ctx, s, member, curves)
             : ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for averages over the disorder");
    units_free(&u);
    free(rows);
    return status;
}
