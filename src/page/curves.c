/* Figures of single members: curves and time series. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "page/sections.h"

enum { CURVES_MAX = 6, TRACES_MAX = 4 };

/* Values that span decades. */
static bool spans(const double *v, size_t n, double factor) {
    double low = INFINITY, high = 0;
    for (size_t i = 0; i < n; i++) {
        if (!isfinite(v[i]))
            continue;
        if (v[i] <= 0)
            return false;
        low = fmin(low, v[i]);
        high = fmax(high, v[i]);
    }
    return high >= factor * low;
}

/* Points of a curve that are worth an axis: without the zeros at the end, but for one. */
static size_t size_with_values(const struct ergo_curve_result *curve) {
    size_t n = curve->size;
    while (n > 1 && curve->mean[n - 1] == 0 && curve->mean[n - 2] == 0)
        n--;
    return n;
}

static void append_curve(struct ergo_text *text, const struct ergo_result *result, size_t c,
                         const size_t *members, size_t count) {
    struct ergo_plot_series series[CURVES_MAX];
    char labels[CURVES_MAX][96], alt[160];
    const struct ergo_curve_info *info = &result->job->model->curves[c];
    struct ergo_plot plot = {.x_name = info->x_label,
                             .y_name = info->name,
                             .y_unit = info->unit,
                             .x_unit = "",
                             .shade = NAN,
                             .alt = alt,
                             .series = series,
                             .x_log = true,
                             .y_log = true};
    size_t longest = 0;
    for (size_t i = 0; i < count; i++) {
        const size_t size = size_with_values(&result->members[members[i]].curves[c]);
        longest = size > longest ? size : longest;
    }
    for (size_t i = 0; i < count; i++) {
        const struct ergo_curve_result *curve = &result->members[members[i]].curves[c];
        if (curve->size < 2) /* a number: among the observables */
            continue;
        const size_t size = longest < curve->size ? longest : curve->size;
        ergo_report_label(labels[plot.n_series], sizeof labels[0], result,
                          &result->members[members[i]]);
        series[plot.n_series] = (struct ergo_plot_series){
            .mark = ERGO_MARK_CURVE,
            .color = (unsigned)plot.n_series,
            .label = labels[plot.n_series][0] ? labels[plot.n_series] : NULL,
            .n = size,
            .x = curve->x,
            .y = curve->mean,
            .error = curve->error};
        plot.n_series++;
        /* logarithmic when every curve asks for it */
        plot.x_log &= spans(curve->x, size, 500);
        plot.y_log &= spans(curve->mean, size, 300);
    }
    snprintf(alt, sizeof alt, "%s against %s", info->name, info->x_label);
    ergo_report_figure(text, &plot, info->name, info->help);
}

enum ergo_status ergo_report_curves(struct ergo_context *ctx, struct ergo_text *text,
                                    const struct ergo_result *result) {
    size_t members[CURVES_MAX];
    size_t count = ergo_report_members(result, CURVES_MAX, members);
    struct ergo_text figures = {0};
    (void)ctx;
    const struct ergo_model *model = result->job->model;
    for (size_t c = 0; c < model->n_curves; c++)
        if (!(model->curves_hidden >> c & 1))
            append_curve(&figures, result, c, members, count);
    if (figures.length) {
        ergo_text_append(text, "<h2>Curves</h2>\n<div class=\"grid\">\n");
        ergo_text_append_bytes(text, figures.data, figures.length);
        ergo_text_append(text, "</div>\n");
    }
    text->failed |= figures.failed;
    ergo_text_free(&figures);
    return ERGO_OK;
}

/* The observable of the same name has the shorter unit; a column's may explain itself at length. */
static const char *trace_unit(const struct ergo_model *model) {
    for (size_t o = 0; o < model->n_observables; o++)
        if (strcmp(model->observables[o].name, model->columns[0].name) == 0)
            return model->observables[o].unit;
    return model->columns[0].unit;
}

static enum ergo_status append_trace(struct ergo_context *ctx, struct ergo_text *text,
                                     const struct ergo_result *result, size_t m) {
    const struct ergo_member_result *member = &result->members[m];
    const struct ergo_model *model = result->job->model;
    size_t n = member->n_samples;
    char label[96], alt[160];
    double sum = 0;
    double *steps = malloc((n + 1) * sizeof *steps);
    if (!steps)
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "making report.html: out of memory");
    for (size_t i = 0; i < n; i++) {
        steps[i] = (double)(member->lead + (i + 1) * member->measure_every);
        if (i >= member->n_equilibration)
            sum += member->series[0][i];
    }
    double mean = sum / (double)(n - member->n_equilibration);
    double mean_x[2] = {steps[member->n_equilibration < n ? member->n_equilibration : n - 1],
                        steps[n - 1]};
    double mean_y[2] = {mean, mean};
    struct ergo_plot_series series[2] = {
        {.mark = ERGO_MARK_TRACE, .color = 0, .n = n, .x = steps, .y = member->series[0]},
        {.mark = ERGO_MARK_LINE, .color = ERGO_INK, .n = 2, .x = mean_x, .y = mean_y},
    };
    struct ergo_plot plot = {.x_name = result->job->sampler->step_name,
                             .x_unit = "",
                             .alt = alt,
                             .y_name = model->columns[0].name,
                             .y_unit = trace_unit(model),
                             .height = 150,
                             .shade = NAN,
                             .shade_label = "equilibration",
                             .n_series = n > member->n_equilibration ? 2 : 1,
                             .series = series};
    if (member->n_equilibration)
        plot.shade = (double)(member->lead + member->n_equilibration * member->measure_every);
    ergo_report_label(label, sizeof label, result, member);
    snprintf(alt, sizeof alt, "time series of %s, %s", model->columns[0].name, label);
    if (label[0]) {
        ergo_text_append(text, "<figure><figcaption><b>");
        ergo_html_escape(text, label);
        ergo_text_append(text, "</b></figcaption>\n");
    } else {
        ergo_text_append(text, "<figure>");
    }
    if (!ergo_svg_plot(text, &plot))
        ergo_text_append(text, "<p class=\"soft\">No sample is a finite number.</p>");
    ergo_text_append(text, "</figure>\n");
    free(steps);
    return ERGO_OK;
}

enum ergo_status ergo_report_traces(struct ergo_context *ctx, struct ergo_text *text,
                                    const struct ergo_result *result) {
    const struct ergo_model *model = result->job->model;
    size_t members[TRACES_MAX];
    size_t count = ergo_report_members(result, TRACES_MAX, members);
    enum ergo_status status = ERGO_OK;
    if (!count || !model->n_columns || !result->members[members[0]].n_samples ||
        result->kept != ERGO_KEPT_FULL) /* ergo_report_distributions says so */
        return ERGO_OK;
    ergo_text_append(text, "<h2>Time series of ");
    ergo_html_name(text, model->columns[0].name, false);
    ergo_text_append(text,
                     "</h2>\n<p class=\"soft\">Every sample taken; the line is their mean, the "
                     "shaded part is equilibration and not in it.</p>\n<div class=\"grid\">\n");
    for (size_t i = 0; i < count && status == ERGO_OK; i++)
        if (result->members[members[i]].n_samples && result->members[members[i]].series &&
            result->members[members[i]].series[0])
            status = append_trace(ctx, text, result, members[i]);
    ergo_text_append(text, "</div>\n");
    return status;
}
