/*
 * Spin glasses: from the moments of samples to averages over the disorder, and their errors.
 *
 * The samples are the units of errors: each one's own mean over time counts once. Quantities that
 * are not means are added as the jackknife's pseudo-values, G f - (G - 1) f without the unit, whose
 * mean has no bias of order 1/G and whose spread is the jackknife's error.
 *
 * The 32 samples of a word share random numbers: noise that they have in common does not show in
 * their spread. It shows in time: with a and b the means over the even and the odd lanes (the curve
 * `halves`), their covariance over bins of time, by the number of these, is the part of the mean's
 * variance that is common. The spread's part and this one are added, by stretching the units'
 * values about their mean. Of exchanges and round trips only the words' counts are known over time:
 * ergo_ladder_rates says what is common of these.
 *
 * A single sample (from a file, say) has the bins of time as units, whose errors are thermal: those
 * of this disorder alone.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "samplers/spin_lattice/spin_glass/glass.h"
#include "samplers/spin_lattice/models.h"

/* ---- quantities ------------------------------------------------------------------------------ */

static double heat_of(const struct glass_shape *s, double t, const double *m) {
    return (double)s->sites * (m[GLASS_E2] - m[GLASS_EE]) / (t * t);
}

static double binder_of(const struct glass_shape *s, double t, const double *m) {
    (void)s, (void)t;
    return 0.5 * (3 - m[GLASS_Q4] / (m[GLASS_Q2] * m[GLASS_Q2]));
}

/* Second moment: 1 / (2 sin(pi / L)) sqrt(chi(0) / chi(k) - 1), 0 where the waves are no smaller.
 */
static double length_of(const struct glass_shape *s, double t, const double *m) {
    const double ratio = m[GLASS_Q2] / m[GLASS_QK2] - 1;
    (void)t;
    return ratio > 0 ? sqrt(ratio) / (2 * sin(3.14159265358979323846 / s->layers)) : 0;
}

/* N ([<q^2>] - [<q>^2]), of four copies. */
static double connected_of(const struct glass_shape *s, double t, const double *m) {
    (void)t;
    return (double)s->sites * (m[GLASS_Q2] - m[GLASS_QQ]);
}

/* A mean (function NULL), or a function of the moments of a temperature. */
struct quantity {
    double (*function)(const struct glass_shape *s, double t, const double *moments);
    int moment;
    uint32_t copies; /* at least */
};

/* Of the coldest temperature, and over the ladder. */
static const struct quantity results[GLASS_RESULTS] = {
    [OVERLAP_E] = {NULL, GLASS_E, 1},     [OVERLAP_M] = {NULL, GLASS_M, 1},
    [OVERLAP_M2] = {NULL, GLASS_M2, 1},   [OVERLAP_ABS_Q] = {NULL, GLASS_ABS_Q, 2},
    [OVERLAP_Q2] = {NULL, GLASS_Q2, 2},   [OVERLAP_Q4] = {NULL, GLASS_Q4, 2},
    [OVERLAP_BINDER] = {binder_of, 0, 2}, [GLASS_LENGTH] = {length_of, 0, 2},
    [GLASS_HEAT] = {heat_of, 0, 2},       [GLASS_CONNECTED] = {connected_of, 0, 4}};
static const struct {
    int curve, result;
} over_ladder[] = {{CURVE_LADDER_ENERGY, OVERLAP_E},
                   {CURVE_LADDER_Q2, OVERLAP_Q2},
                   {CURVE_LADDER_HEAT, GLASS_HEAT},
                   {CURVE_LADDER_BINDER, OVERLAP_BINDER},
                   {CURVE_LADDER_XI, GLASS_LENGTH}};

/* ---- units ----------------------------------------------------------------------------------- */

/* Samples, or bins of time, and the bins of time of both halves of the lanes. */
struct units {
    size_t count, size; /* size: of moments and P(q) */
    size_t bins;        /* of time; 0 where the units are these */
    double *value;      /* [count][size] */
    double *half;       /* [bins][2][size], less their means */
    double *mean;       /* [size], of the units */
    double *column;     /* [count] */
};

/* Samples in an order in which neighbours are of different words: a curve's bins have samples that
 * share nothing. */
static size_t sample_at(const struct glass_shape *s, size_t k) {
    const size_t full = s->samples / 32, rest = s->samples % 32, words = full + 1;
    if (k < rest * words)
        return k % words * 32 + k / words;
    return full ? (k - rest * words) % full * 32 + rest + (k - rest * words) / full : k;
}

static void take_samples(const struct glass_shape *s, const struct glass_units *of,
                         const struct ergo_curve *samples, struct units *u) {
    const double n = samples->count ? (double)samples->count : NAN;
    const double pairs = s->copies == 4 ? 4 : 1;
    const size_t moments = s->rungs * (size_t)GLASS_MOMENTS;
    for (size_t k = 0; k < u->count; k++)
        for (size_t i = 0; i < u->size; i++)
            u->value[k * u->size + i] = samples->bins[sample_at(s, k) * u->size + i] / n *
                                        (i < moments ? of->value[i % GLASS_MOMENTS] : 1 / pairs);
}

static void take_times(const struct ergo_curve *halves, struct units *u) {
    const double length = (double)halves->bin_length;
    for (size_t k = 0; k < u->count; k++)
        for (size_t i = 0; i < u->size; i++)
            u->value[k * u->size + i] = halves->bins[k * halves->size + i] / length; /* even ones */
}

static void take_halves(const struct ergo_curve *halves, struct units *u) {
    for (size_t i = 0; i < 2 * u->size; i++) {
        double sum = 0;
        for (size_t b = 0; b < u->bins; b++)
            sum += halves->bins[b * halves->size + i];
        for (size_t b = 0; b < u->bins; b++)
            u->half[b * 2 * u->size + i] =
                (halves->bins[b * halves->size + i] - sum / (double)u->bins) /
                (double)halves->bin_length;
    }
}

static bool units_of(const struct glass_shape *s, const struct glass_units *of,
                     const struct ergo_curve *curves, struct units *u) {
    const struct ergo_curve *halves = &curves[CURVE_HALVES];
    const size_t bins = (size_t)(halves->count / halves->bin_length);
    u->size = (halves->size - ergo_ladder_counts(s->rungs)) / 2;
    u->count = s->samples > 1 ? s->samples : bins;
    u->bins = s->samples > 1 ? bins : 0;
    u->value = malloc((u->count + 1) * u->size * sizeof *u->value);
    u->half = malloc((u->bins + 1) * 2 * u->size * sizeof *u->half);
    u->mean = calloc(u->size, sizeof *u->mean);
    u->column = malloc((u->count + 1) * sizeof *u->column);
    if (!u->value || !u->half || !u->mean || !u->column)
        return false;
    if (s->samples > 1) {
        take_samples(s, of, &curves[CURVE_SAMPLES], u);
        take_halves(halves, u);
    } else {
        take_times(halves, u);
    }
    for (size_t k = 0; k < u->count; k++)
        for (size_t i = 0; i < u->size; i++)
            u->mean[i] += u->value[k * u->size + i] / (double)u->count;
    return true;
}

static void units_free(struct units *u) {
    free(u->value);
    free(u->half);
    free(u->mean);
    free(u->column);
}

/* Quantity q at temperature i, of the mean moments and `part` of what a unit or a bin is off. */
static double evaluate(const struct glass_shape *s, const struct units *u, const struct quantity *q,
                       size_t i, double t, const double *off, double part) {
    double m[GLASS_MOMENTS];
    for (size_t k = 0; k < GLASS_MOMENTS; k++)
        m[k] = u->mean[i * GLASS_MOMENTS + k] + part * off[k];
    return q->function(s, t, m);
}

/* The common part of the variance of the mean; per: what a bin of time says of both halves. */
static double common(const struct units *u, double (*per)[2]) {
    const double n = (double)u->bins;
    double a = 0, b = 0, ab = 0;
    if (u->bins < 2)
        return 0;
    for (size_t k = 0; k < u->bins; k++) {
        a += per[k][0] / n;
        b += per[k][1] / n;
        ab += per[k][0] * per[k][1];
    }
    return fmax(0, (ab - n * a * b) / (n * (n - 1)));
}

/* u->column is stretched about its mean, so that its spread says the variance `more`, too. */
static void stretch(struct units *u, double more) {
    const double n = (double)u->count;
    double mean = 0, squares = 0;
    for (size_t k = 0; k < u->count; k++)
        mean += u->column[k] / n;
    for (size_t k = 0; k < u->count; k++)
        squares += (u->column[k] - mean) * (u->column[k] - mean);
    const double spread = squares / (n * (n - 1));
    if (!(more > 0) || !(spread > 0))
        return;
    const double factor = sqrt(1 + more / spread);
    for (size_t k = 0; k < u->count; k++)
        u->column[k] = mean + factor * (u->column[k] - mean);
}

/* u->column: entry `at` of the units' values. */
static void column_of(struct units *u, size_t at) {
    double per[ERGO_CURVE_BINS][2];
    for (size_t k = 0; k < u->count; k++)
        u->column[k] = u->value[k * u->size + at];
    for (size_t b = 0; b < u->bins; b++)
        for (int h = 0; h < 2; h++)
            per[b][h] = u->half[(2 * b + (size_t)h) * u->size + at];
    stretch(u, common(u, per));
}

/* u->column: quantity q at temperature i, as values or pseudo-values. */
static void quantity_of(const struct glass_shape *s, struct units *u, const struct quantity *q,
                        size_t i, double t) {
    static const double none[GLASS_MOMENTS];
    const size_t at = i * GLASS_MOMENTS;
    const double n = (double)u->count, bins = (double)u->bins;
    double per[ERGO_CURVE_BINS][2], off[GLASS_MOMENTS];
    if (!q->function) {
        column_of(u, at + (size_t)q->moment);
        return;
    }
    const double all = evaluate(s, u, q, i, t, none, 0);
    for (size_t k = 0; k < u->count; k++) {
        for (size_t j = 0; j < GLASS_MOMENTS; j++)
            off[j] = u->value[k * u->size + at + j] - u->mean[at + j];
        u->column[k] = n > 1 ? n * all - (n - 1) * evaluate(s, u, q, i, t, off, -1 / (n - 1)) : all;
    }
    for (size_t b = 0; b < u->bins; b++)
        for (int h = 0; h < 2; h++) /* to first order in what a bin is off */
            per[b][h] = bins * (evaluate(s, u, q, i, t,
                                         u->half + (2 * b + (size_t)h) * u->size + at, 1 / bins) -
                                all);
    stretch(u, common(u, per));
}

/* ---- the end --------------------------------------------------------------------------------- */

static bool wanted(const struct glass_shape *s, const struct quantity *q) {
    return s->copies >= q->copies;
}

static void add_results(const struct glass_shape *s, struct units *u, const double *ladder,
                        struct ergo_curve *curves, double *rows) {
    for (size_t i = 0; i < GLASS_RESULTS; i++) {
        if (wanted(s, &results[i]))
            quantity_of(s, u, &results[i], 0, ladder[0]);
        for (size_t k = 0; k < u->count; k++)
            rows[k * GLASS_RESULTS + i] = wanted(s, &results[i]) ? u->column[k] : 0;
    }
    ergo_curve_add_rows(&curves[CURVE_MOMENTS], rows, u->count);
    for (size_t c = 0; c < sizeof over_ladder / sizeof over_ladder[0]; c++) {
        const struct quantity *q = &results[over_ladder[c].result];
        for (size_t t = 0; t < s->rungs && wanted(s, q); t++) {
            quantity_of(s, u, q, t, ladder[t]);
            for (size_t k = 0; k < u->count; k++)
                rows[k * s->rungs + t] = u->column[k];
        }
        if (wanted(s, q))
            ergo_curve_add_rows(&curves[over_ladder[c].curve], rows, u->count);
    }
    if (s->copies < 2)
        return;
    /* a density: bins differ by one in the overlaps that fall into them, 2/N apart */
    const size_t bins = glass_q_bins(s);
    size_t inside[130] = {0};
    for (uint64_t n = 0; n <= s->sites; n++)
        inside[bins - 1 - glass_q_bin(s, n)]++;
    for (size_t i = 0; i < bins; i++) {
        column_of(u, u->size - bins + i);
        for (size_t k = 0; k < u->count; k++)
            rows[k * bins + i] = u->column[k] * (double)s->sites / (2 * (double)inside[i]);
    }
    ergo_curve_add_rows(&curves[CURVE_OVERLAP], rows, u->count);
}

/* Acceptance of each pair of neighbours, and round trips per copy and million sweeps, of each
 * sample, since the start of the run or the last feedback. rows: [samples][rungs]. */
static void add_exchanges(const struct glass_state *s, const struct glass_shape *h, struct units *u,
                          struct ergo_curve *curves, double *rows) {
    const struct ergo_curve *counts = &curves[CURVE_EXCHANGES], *halves = &curves[CURVE_HALVES];
    const struct ergo_ladder ladder = {h->rungs, h->copies, h->swap_every, s->e.step,
                                       ergo_feedback_since(&s->feedback, s->e.step)};
    u->count = h->samples;
    for (uint32_t t = 0; t < h->rungs && counts->count; t++) {
        for (size_t k = 0; k < u->count; k++)
            u->column[k] = counts->bins[sample_at(h, k) * h->rungs + t];
        stretch(u, ergo_ladder_rates(&ladder, t, u->column, u->count, halves, 2 * u->size));
        for (size_t k = 0; k < u->count; k++)
            rows[k * h->rungs + t] = u->column[k];
    }
    for (size_t k = 0; k < h->samples && counts->count; k++) {
        ergo_curve_add(&curves[CURVE_LADDER_SWAPS], rows + k * h->rungs);
        ergo_curve_add(&curves[CURVE_ROUND_TRIPS], rows + k * h->rungs + h->rungs - 1);
    }
}

enum ergo_status glass_end_curves(struct ergo_context *ctx, void *opaque, size_t member,
                                  struct ergo_curve *curves) {
    struct glass_state *s = opaque;
    const struct glass_shape whole = glass_shape_of(s->e.batch->points[member]);
    struct units u = {0};
    double *ladder = s->ladders + member * whole.rungs, *rows = NULL;
    enum ergo_status status = ERGO_OK;
    if (s->feedback.automatic)
        ergo_curve_add(&curves[CURVE_LADDER_TEMPERATURES], ladder);
    if (units_of(&whole, &s->units[member], curves, &u)) {
        const size_t bins = glass_q_bins(&whole);
        const size_t width = whole.rungs > bins ? whole.rungs : bins;
        rows =
            malloc((u.count + 1) * (width > GLASS_RESULTS ? width : GLASS_RESULTS) * sizeof *rows);
    }
    if (rows)
        add_results(&whole, &u, ladder, curves, rows);
    else
        status = ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for curves");
    if (status == ERGO_OK && whole.rungs > 1)
        add_exchanges(s, &whole, &u, curves, rows);
    units_free(&u);
    free(rows);
    return status;
}
