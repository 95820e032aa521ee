/* Figures of curves: several points in each. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "page/sections.h"

enum { CURVES_MAX = 6 };

/* Values that span decades: none is negative, and the first is not 0; later zeros are gaps. */
static bool spans(const double *v, size_t n, double factor) {
    double low = INFINITY, high = 0;
    for (size_t i = 0; i < n; i++) {
        if (!isfinite(v[i]))
            continue;
        if (v[i] < 0 || (i == 0 && v[i] == 0))
            return false;
        low = v[i] > 0 ? fmin(low, v[i]) : low;
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

/* The first half over the second, where that is what the curve tells; malloc'ed, NULL: no memory.
 */
static double *ratio_of(const struct ergo_curve_result *curve) {
    const size_t half = curve->size / 2;
    double *ratio = malloc((half + 1) * sizeof *ratio);
    for (size_t i = 0; ratio && i < half; i++)
        ratio[i] = curve->mean[half + i] > 0 ? curve->mean[i] / curve->mean[half + i] : NAN;
    return ratio;
}

/* What is told below a figure; with the first of its curves whose errors are not trusted. */
static void append_figure(struct ergo_text *text, const struct ergo_plot *plot, const char *name,
                          const char *help, const struct ergo_curve_result *untrusted) {
    struct ergo_text small = {0};
    ergo_text_append(&small, "%s", help);
    if (untrusted) {
        ergo_text_append(&small, ". (?): errors that are not trusted, ");
        ergo_report_why(&small, untrusted->trust, untrusted->because);
    }
    ergo_report_figure(text, plot, name, small.data);
    text->failed |= small.failed;
    ergo_text_free(&small);
}

static void append_curve(struct ergo_text *text, const struct ergo_result *result, size_t c,
                         const size_t *members, size_t count) {
    struct ergo_plot_series series[CURVES_MAX];
    const struct ergo_curve_result *untrusted = NULL;
    char labels[CURVES_MAX][96], alt[160];
    double *ratios[CURVES_MAX];
    const struct ergo_curve_info *info = &result->job->model->curves[c];
    const struct ergo_curve_ratio *ratio = result->job->model->ratio;
    if (ratio && strcmp(ratio->curve, info->name) != 0)
        ratio = NULL;
    struct ergo_plot plot = {.x_name = info->x_label,
                             .y_name = ratio ? ratio->name : ergo_report_axis_name(info->name),
                             .y_unit = ratio ? ratio->unit : info->unit,
                             .x_unit = "",
                             .shade = NAN,
                             .alt = alt,
                             .series = series,
                             .x_log = !(result->job->model->curves_linear >> c & 1),
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
        const size_t size = ratio ? curve->size / 2 : longest < curve->size ? longest : curve->size;
        ratios[plot.n_series] = ratio ? ratio_of(curve) : NULL;
        text->failed |= ratio && !ratios[plot.n_series];
        char *label = labels[plot.n_series];
        ergo_report_label(label, sizeof labels[0], result, &result->members[members[i]]);
        if (curve->trust && !ratio) {
            untrusted = untrusted ? untrusted : curve;
            const size_t used = strlen(label);
            snprintf(label + used, sizeof labels[0] - used, used ? " (?)" : "(?)");
        }
        series[plot.n_series] =
            (struct ergo_plot_series){.mark = ERGO_MARK_CURVE,
                                      .color = (unsigned)plot.n_series,
                                      .label = *label ? label : NULL,
                                      .n = size,
                                      .x = curve->x,
                                      .y = ratio ? ratios[plot.n_series] : curve->mean,
                                      .error = ratio || curve->trust ? NULL : curve->error};
        if (ratio && !ratios[plot.n_series])
            series[plot.n_series].n = 0;
        plot.n_series++;
        /* logarithmic when the longest curve asks for it, and every curve can be shown so */
        const bool shorter = !ratio && size < longest;
        plot.x_log &= spans(curve->x, size, shorter ? 1 : 500);
        plot.y_log &= !ratio && spans(curve->mean, size, shorter ? 1 : 300);
    }
    size_t unit = strcspn(info->x_label, "/("); /* where it begins */
    while (unit && info->x_label[unit - 1] == ' ')
        unit--;
    snprintf(alt, sizeof alt, "%s against %.*s", ratio ? ratio->name : info->name, (int)unit,
             info->x_label);
    append_figure(text, &plot, ratio ? alt : info->name, ratio ? ratio->help : info->help,
                  untrusted);
    for (size_t i = 0; i < plot.n_series; i++)
        free(ratios[i]);
}

enum ergo_status ergo_report_curves(struct ergo_context *ctx, struct ergo_text *text,
                                    const struct ergo_result *result) {
    size_t members[CURVES_MAX];
    size_t count = ergo_report_members(result, CURVES_MAX, members);
    struct ergo_text figures = {0};
    enum ergo_status status = ERGO_OK;
    const struct ergo_model *model = result->job->model;
    for (size_t c = 0; c < model->n_curves; c++)
        if (!((model->curves_hidden | model->curves_grids) >> c & 1))
            append_curve(&figures, result, c, members, count);
    ergo_report_section(text, "Curves", NULL, &figures);
    for (size_t c = 0; c < model->n_curves && status == ERGO_OK; c++)
        if (model->curves_grids >> c & 1)
            status = ergo_report_map(ctx, text, result, c);
    return status;
}
