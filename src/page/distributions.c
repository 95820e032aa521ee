/* Sections of report.html made from whole series: autocorrelation and histograms. */
#include "page/sections.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/parallel.h"

enum {
    MEMBERS_MAX = 4,
    LAGS = 160,
    SUMS_LAGS = 128,
    BINS_MAX = 64,
    HISTOGRAMS_MAX = 6,
    TESTED_MAX = 1000000
};

/* Number of samples after equilibration; and the samples of an observable, malloc'ed (NULL: out of
 * memory, or it is not made of single samples). */
static double *ergo_report_series(const struct ergo_result *result,
                                  const struct ergo_member_result *member, size_t o) {
    const struct ergo_model *model = result->job->model;
    const size_t n = ergo_member_taken(member);
    double columns[ERGO_COLUMNS_MAX] = {0};
    double *series = ergo_observable_sampled(&model->observables[o]) && n && member->series
                         ? malloc(n * sizeof *series)
                         : NULL;
    for (size_t i = 0; series && i < n; i++) {
        for (size_t c = 0; c < model->n_columns; c++)
            columns[c] = member->series[c] ? member->series[c][member->n_equilibration + i] : 0;
        series[i] = ergo_observable_sample(&model->observables[o], member->point, columns);
    }
    return series;
}

/* Is the observable worth a figure: shown, made of single samples, and no power of another
 * ("magnetization2")? */
static bool worth_a_figure(const struct ergo_result *result, size_t o) {
    const struct ergo_observable *observable = &result->job->model->observables[o];
    const size_t length = strlen(observable->name);
    return ergo_observable_sampled(observable) &&
           ergo_observable_shown(observable, result->members[0].point) && length &&
           (observable->merit || !strchr("2345678", observable->name[length - 1]));
}

/* Lines of a figure with their memory. */
struct lines {
    struct ergo_plot_series series[MEMBERS_MAX];
    char labels[MEMBERS_MAX][96];
    double *x[MEMBERS_MAX], *y[MEMBERS_MAX];
    size_t count;
};

static bool lines_add(struct lines *lines, size_t n, const struct ergo_result *result,
                      const struct ergo_member_result *member) {
    const size_t k = lines->count;
    lines->x[k] = malloc((n + 1) * sizeof(double));
    lines->y[k] = malloc((n + 1) * sizeof(double));
    lines->count++;
    ergo_report_label(lines->labels[k], sizeof lines->labels[k], result, member);
    lines->series[k] =
        (struct ergo_plot_series){.mark = ERGO_MARK_CURVE,
                                  .color = (unsigned)k,
                                  .label = *lines->labels[k] ? lines->labels[k] : NULL,
                                  .n = n,
                                  .x = lines->x[k],
                                  .y = lines->y[k]};
    return lines->x[k] && lines->y[k];
}

static void lines_free(struct lines *lines) {
    for (size_t k = 0; k < lines->count; k++) {
        free(lines->x[k]);
        free(lines->y[k]);
    }
}

/* ---- autocorrelation --------------------------------------------------------------------------
 */

/* Where the samples were not kept: from the sums over them, of averages over 2^level samples so
 * that six autocorrelation times fit. */
static bool correlate_sums(struct lines *lines, const struct ergo_result *result,
                           const struct ergo_member_result *member, size_t o) {
    const double tau = member->observables[o].estimate.tau;
    const size_t n = ergo_member_taken(member);
    struct ergo_online online = {.plan = member->online.plan};
    size_t level = 0, s = 0;
    if (n <= 8 || !isfinite(tau))
        return true;
    while (s < online.plan->n_series && member->measured->observable[s] != o)
        s++;
    const double lags = fmin(fmax(12, 6 * tau), (double)n / 4);
    while (member->online.fixed && lags > (double)(SUMS_LAGS << level))
        level++;
    const size_t n_lags = ((size_t)lags >> level) + 1;
    bool ok =
        ergo_online_copy(&member->online, &online) && lines_add(lines, n_lags, result, member);
    const size_t k = lines->count - 1;
    if (ok)
        ergo_online_finish(&online);
    if (ok && !ergo_online_autocorrelation(&online, s, level, lines->y[k], n_lags))
        lines->series[k].n = 0;
    for (size_t i = 0; i < n_lags && ok; i++)
        lines->x[k][i] = (double)((i << level) * member->measure_every);
    ergo_online_free(&online);
    return ok;
}

/* Up to six autocorrelation times, in at most LAGS lags: of a long time every s-th sample alone. */
static bool correlate(struct lines *lines, const struct ergo_result *result,
                      const struct ergo_member_result *member, size_t o) {
    const size_t n = ergo_member_taken(member);
    const double tau = member->observables[o].estimate.tau;
    if (!member->series)
        return correlate_sums(lines, result, member, o);
    double *series = n > 8 && isfinite(tau) ? ergo_report_series(result, member, o) : NULL;
    if (!series)
        return n <= 8 || !isfinite(tau);
    double lags = fmin(fmax(12, 6 * tau), (double)n / 4);
    const size_t stride = (size_t)fmax(1, ceil(lags / LAGS));
    const size_t n_lags = (size_t)lags / stride + 1;
    size_t thinned = 0;
    for (size_t i = 0; i < n && thinned < TESTED_MAX; i += stride)
        series[thinned++] = series[i];
    bool ok = lines_add(lines, n_lags, result, member);
    const size_t k = lines->count - 1;
    if (ok) {
        ergo_stats_autocorrelation(series, thinned, lines->y[k], n_lags);
        for (size_t i = 0; i < n_lags; i++)
            lines->x[k][i] = (double)(i * stride * member->measure_every);
    }
    free(series);
    return ok;
}

/* "5800 ± 2400", "2.3 ± 0.4": to two digits of the error. */
static void append_time(char *out, size_t size, double time, double error) {
    const double unit = error >= 100 ? pow(10, floor(log10(error)) - 1) : 0;
    if (!isfinite(time) || !isfinite(error))
        snprintf(out, size, "not known");
    else if (unit > 0)
        snprintf(out, size, "%.0f ± %.0f", round(time / unit) * unit, round(error / unit) * unit);
    else
        snprintf(out, size, "%.3g ± %.2g", time, error);
}

static bool append_autocorrelation(struct ergo_text *text, const struct ergo_result *result,
                                   size_t o) {
    const struct ergo_model *model = result->job->model;
    struct lines lines = {.count = 0};
    size_t members[MEMBERS_MAX];
    const size_t count = ergo_report_members(result, MEMBERS_MAX, members);
    char small[160], alt[160], lag[64], time[64];
    double most = 0, most_error = 0;
    bool ok = true;
    for (size_t i = 0; i < count && ok; i++)
        ok = correlate(&lines, result, &result->members[members[i]], o);
    for (size_t m = 0; m < result->n_members; m++) {
        const struct ergo_estimate *e = &result->members[m].observables[o].estimate;
        const double every = (double)result->members[m].measure_every;
        if (e->tau * every > most) {
            most = e->tau * every;
            most_error = e->tau_error * every;
        }
    }
    append_time(time, sizeof time, most, most_error);
    snprintf(small, sizeof small, "integrated time %s %ss%s", time, result->job->sampler->step_name,
             result->n_members > 1 ? ", the longest of all points" : "");
    snprintf(alt, sizeof alt, "autocorrelation function of %s", model->observables[o].name);
    snprintf(lag, sizeof lag, "lag in %ss", result->job->sampler->step_name);
    const struct ergo_plot plot = {.alt = alt,
                                   .x_name = lag,
                                   .x_unit = "",
                                   .y_name = "autocorrelation",
                                   .y_unit = "",
                                   .shade = NAN,
                                   .height = 170,
                                   .n_series = lines.count,
                                   .series = lines.series};
    if (ok)
        ergo_report_figure(text, &plot, model->observables[o].name, small);
    lines_free(&lines);
    return ok;
}

/* ---- histograms -------------------------------------------------------------------------------
 */

/* Bin width for sorted values, from their number. For discrete values it is a multiple of the
 * smallest step: bins with unequal numbers of values would look like structure. */
static double bin_width(const double *sorted, size_t n, double *first) {
    const double range = sorted[n - 1] - sorted[0];
    const double bins = fmin(BINS_MAX, fmax(8, 2 * cbrt((double)n)));
    double width = range / bins, gap = INFINITY;
    *first = sorted[0];
    for (size_t i = 1; i < n; i++)
        if (sorted[i] - sorted[i - 1] > 1e-9 * range)
            gap = fmin(gap, sorted[i] - sorted[i - 1]);
    if (range < 4000 * gap && range > 0) {
        width = ceil(width / gap - 1e-6) * gap;
        *first -= 0.5 * gap;
    }
    return width;
}

/* The outline of a histogram, as a density. */
static bool count_values(struct lines *lines, const struct ergo_result *result,
                         const struct ergo_member_result *member, size_t o) {
    enum { ENOUGH = 20000 }; /* their noise is below a line's width; more take long to sort */
    const size_t all = ergo_member_taken(member), every = (all + ENOUGH - 1) / ENOUGH;
    size_t counts[BINS_MAX + 3] = {0};
    double first = 0;
    double *series = all >= 16 ? ergo_report_series(result, member, o) : NULL;
    if (!series)
        return all < 16;
    const size_t n = (all + every - 1) / every;
    for (size_t i = 0; i < n; i++)
        series[i] = series[i * every];
    bool ok = true, finite = true;
    for (size_t i = 0; i < n; i++) /* large values could make differences or bins infinite */
        finite = finite && fabs(series[i]) <= 1e300;
    if (finite)
        ergo_stats_sort(series, n);
    const double width = finite && series[n - 1] > series[0] ? bin_width(series, n, &first) : 0;
    if (width > 0) {
        size_t bins = (size_t)ceil((series[n - 1] - first) / width + 1e-9);
        bins = bins < 1 ? 1 : bins > BINS_MAX + 2 ? BINS_MAX + 2 : bins;
        for (size_t i = 0; i < n; i++) {
            const size_t b = (size_t)((series[i] - first) / width);
            counts[b < bins ? b : bins - 1]++;
        }
        ok = lines_add(lines, 2 * bins + 2, result, member);
        const size_t k = lines->count - 1;
        for (size_t b = 0; b <= bins && ok; b++) { /* both corners at an edge, from axis to axis */
            const double scale = 1 / ((double)n * width);
            lines->x[k][2 * b] = lines->x[k][2 * b + 1] = first + width * (double)b;
            lines->y[k][2 * b] = b ? scale * (double)counts[b - 1] : 0;
            lines->y[k][2 * b + 1] = b < bins ? scale * (double)counts[b] : 0;
        }
        lines->series[k].mark = ERGO_MARK_OUTLINE;
    }
    free(series);
    return ok;
}

static bool append_histogram(struct ergo_text *text, const struct ergo_result *result, size_t o,
                             const size_t *members, size_t count) {
    const struct ergo_observable *observable = &result->job->model->observables[o];
    struct lines lines = {.count = 0};
    char alt[160];
    bool ok = true;
    for (size_t i = 0; i < count && ok; i++)
        ok = count_values(&lines, result, &result->members[members[i]], o);
    snprintf(alt, sizeof alt, "histogram of %s", observable->name);
    const struct ergo_plot plot = {.alt = alt,
                                   .x_name = ergo_report_axis_name(observable->name),
                                   .x_unit = observable->unit,
                                   .y_name = "probability density",
                                   .y_unit = "",
                                   .shade = NAN,
                                   .height = 170,
                                   .n_series = lines.count,
                                   .series = lines.series};
    if (ok && count == 1)
        lines.series[0].label = NULL;
    if (ok)
        ergo_report_figure(text, &plot, count == 1 ? alt : observable->name, NULL);
    lines_free(&lines);
    return ok;
}

/* The figures of one observable. */
struct figures {
    const struct ergo_result *result;
    size_t observable;
    bool time; /* its autocorrelation, too */
    struct ergo_text times, histogram;
    bool ok;
};

static void draw(size_t i, void *user) {
    struct figures *f = (struct figures *)user + i;
    size_t members[MEMBERS_MAX];
    const size_t count = ergo_report_members(f->result, MEMBERS_MAX, members);
    f->ok = !f->time || append_autocorrelation(&f->times, f->result, f->observable);
    if (f->ok && f->result->kept == ERGO_KEPT_FULL)
        f->ok = append_histogram(&f->histogram, f->result, f->observable, members, count);
}

enum ergo_status ergo_report_histogram(struct ergo_context *ctx, struct ergo_text *text,
                                       const struct ergo_result *result, size_t member) {
    size_t o = 0;
    while (o < result->job->model->n_observables && !worth_a_figure(result, o))
        o++;
    if (o == result->job->model->n_observables || append_histogram(text, result, o, &member, 1))
        return ERGO_OK;
    return ERGO_FAIL(ctx, ERGO_E_MEMORY, "making report.html: out of memory");
}

enum ergo_status ergo_report_distributions(struct ergo_context *ctx, struct ergo_text *text,
                                           const struct ergo_result *result) {
    struct figures figures[HISTOGRAMS_MAX] = {0};
    struct ergo_text times = {0}, histograms = {0};
    const struct ergo_model *model = result->job->model;
    size_t drawn = 0;
    bool ok = true;
    for (size_t o = 0; o < model->n_observables && result->n_members && drawn < HISTOGRAMS_MAX; o++)
        if (worth_a_figure(result, o)) {
            figures[drawn] = (struct figures){.result = result,
                                              .observable = o,
                                              .time = drawn == 0 || model->observables[o].merit};
            drawn++;
        }
    ergo_parallel(drawn, drawn ? drawn : 1, draw, figures);
    for (size_t i = 0; i < drawn; i++) {
        ok = ok && figures[i].ok;
        ergo_text_append_bytes(&times, figures[i].times.data, figures[i].times.length);
        ergo_text_append_bytes(&histograms, figures[i].histogram.data, figures[i].histogram.length);
        ok = ok && !figures[i].times.failed && !figures[i].histogram.failed;
        ergo_text_free(&figures[i].times);
        ergo_text_free(&figures[i].histogram);
    }
    ergo_report_section(text, "Autocorrelation", NULL, &times);
    ergo_report_section(text, "Histograms",
                        "Of the samples after equilibration; of long series every k-th.",
                        &histograms);
    if (result->kept != ERGO_KEPT_FULL)
        ergo_text_append(text,
                         "<p class=\"soft\">No time series and no histograms: the samples were "
                         "not kept (/output/series: %s).</p>\n",
                         ergo_kept_name(result->kept));
    return ok ? ERGO_OK : ERGO_FAIL(ctx, ERGO_E_MEMORY, "making report.html: out of memory");
}
