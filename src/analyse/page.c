/* An analysis as a page: curves of all systems, crossings, data collapse, histograms of phases. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/analyse.h"
#include "base/entry.h"
#include "page/sections.h"

enum { COLORS = 8 };

struct drawing {
    const struct ergo_analysis *a;
    struct ergo_text *text;
    char axis[ERGO_CONCISE];                                  /* its sign: T */
    const char *unit;                                         /* of the axis */
    char (*labels)[sizeof(((struct ergo_system *)0)->label)]; /* of systems; owned */
    struct ergo_plot_series *series;
    size_t n_series; /* x, y and errors of each are owned, in one piece */
};

/* A series with room for n points; NULL: no memory. */
static struct ergo_plot_series *begin_series(struct drawing *d, enum ergo_mark mark, size_t color,
                                             const char *label, size_t n) {
    struct ergo_plot_series *series = realloc(d->series, (d->n_series + 1) * sizeof *d->series);
    if (!series || !n) {
        d->text->failed |= !series;
        d->series = series ? series : d->series;
        return NULL;
    }
    double *points = calloc(3 * n, sizeof *points);
    d->series = series;
    d->text->failed |= !points;
    if (!points)
        return NULL;
    series = &d->series[d->n_series++];
    *series =
        (struct ergo_plot_series){.mark = mark,
                                  .color = (unsigned)(color == ERGO_INK ? color : color % COLORS),
                                  .label = label,
                                  .x = points,
                                  .y = points + n,
                                  .error = points + 2 * n};
    return series;
}

static void add_point(struct ergo_plot_series *series, double x, double y, double error) {
    ((double *)series->x)[series->n] = x;
    ((double *)series->y)[series->n] = y;
    ((double *)series->error)[series->n++] = error;
}

static void end_figure(struct drawing *d, const char *x, const char *x_unit, const char *y,
                       const char *y_unit, const char *small) {
    char alt[320];
    snprintf(alt, sizeof alt, "%s over %s", y, x);
    const struct ergo_plot plot = {.alt = alt,
                                   .x_name = x,
                                   .x_unit = x_unit,
                                   .y_name = ergo_report_axis_name(y),
                                   .y_unit = y_unit,
                                   .shade = NAN,
                                   .n_series = d->n_series,
                                   .series = d->series};
    ergo_report_figure(d->text, &plot, y, small);
    for (size_t s = 0; s < d->n_series; s++)
        free((double *)d->series[s].x);
    d->n_series = 0;
}

static const char *label_of(const struct drawing *d, size_t s) {
    return d->a->n_systems > 1 ? d->labels[s] : NULL;
}

/* "L = 8" where systems differ in nothing but a size with equal sides; else as in tables. */
static bool make_labels(struct drawing *d) {
    d->labels = calloc(d->a->n_systems + 1, sizeof *d->labels);
    for (size_t s = 0; d->labels && s < d->a->n_systems; s++) {
        const struct ergo_system *system = &d->a->systems[s];
        const struct ergo_value *size = ergo_format_value(system->states[0].point, "/system/size");
        bool same = size && strncmp(system->label, "size ", 5) == 0 && !strchr(system->label, ',');
        for (int i = 1; same && i < size->items; i++)
            same = size->size[i] == size->size[0];
        if (same)
            snprintf(d->labels[s], sizeof d->labels[s], "L = %.0f", system->side);
        else
            snprintf(d->labels[s], sizeof d->labels[s], "%s", system->label);
    }
    return d->labels != NULL;
}

static void draw_observable(struct drawing *d, size_t number) {
    const struct ergo_analysis *a = d->a;
    const struct ergo_observable *o = &a->model->observables[a->observables[number]];
    struct ergo_plot_series *series = NULL;
    for (size_t s = 0; s < a->n_systems; s++) {
        size_t n = 0;
        for (size_t i = 0; i < a->n_rows; i++)
            n += a->rows[i].system == s;
        /* with several keys the first runs slowest: points instead of a line */
        const enum ergo_mark mark = a->n_wanted > 1 ? ERGO_MARK_POINTS : ERGO_MARK_CURVE;
        series = begin_series(d, mark, s, label_of(d, s), n);
        for (size_t i = 0; series && i < a->n_rows; i++)
            if (a->rows[i].system == s && a->rows[i].independent >= ERGO_ANALYSE_INDEPENDENT)
                add_point(series, a->rows[i].at[0], a->rows[i].values[number].value,
                          a->rows[i].values[number].error);
        series = begin_series(d, ERGO_MARK_POINTS, s, NULL, a->systems[s].n_states);
        for (size_t k = 0; series && k < a->systems[s].n_states; k++) {
            const struct ergo_pooled p =
                ergo_state_pool(&a->systems[s], k, a->observables[number], NULL);
            add_point(series, a->systems[s].states[k].x, p.mean, p.error);
        }
    }
    end_figure(d, d->axis, d->unit, o->name, o->unit,
               "lines: all samples reweighted, with one standard error; points: simulated");
}

static void draw_observables(struct drawing *d) {
    if (!d->a->n_rows)
        return;
    ergo_text_append(d->text, "<h2>Reweighted</h2>\n<div class=\"grid\">\n");
    for (size_t o = 0; o < d->a->n_observables; o++)
        draw_observable(d, o);
    ergo_text_append(d->text, "</div>\n");
}

/* ---- crossings ------------------------------------------------------------------------------- */

static void draw_crossings(struct drawing *d) {
    enum { GRID = 61 };
    const struct ergo_analysis *a = d->a;
    double low = INFINITY, high = -INFINITY;
    if (!a->n_crossings)
        return;
    ergo_text_append(d->text, "<h2>Crossings</h2>\n<div class=\"grid\">\n");
    for (size_t s = 0; s < a->n_systems; s++)
        for (size_t k = 0; k < a->systems[s].n_states; k++) {
            low = fmin(low, a->systems[s].states[k].x);
            high = fmax(high, a->systems[s].states[k].x);
        }
    for (size_t s = 0; s < a->n_systems; s++) {
        double from, to, y;
        if (!ergo_curve_range(a, &a->systems[s], &a->crossing, &from, &to))
            continue;
        if (high > low) { /* not far beyond what was simulated */
            from = fmax(from, low);
            to = fmin(to, high);
        }
        struct ergo_plot_series *series =
            begin_series(d, ERGO_MARK_OUTLINE, s, label_of(d, s), GRID);
        for (size_t i = 0; series && i < GRID; i++) {
            const double x = from + (to - from) * (double)i / (GRID - 1);
            if (ergo_curve_at(a, &a->systems[s], &a->crossing, x, &y, NULL))
                add_point(series, x, y, NAN);
        }
    }
    struct ergo_plot_series *found =
        begin_series(d, ERGO_MARK_POINTS, COLORS - 1, "crossings", a->n_crossings);
    for (size_t i = 0; found && i < a->n_crossings; i++)
        if (!a->crossings[i].why_not)
            add_point(found, a->crossings[i].x, a->crossings[i].y, a->crossings[i].y_error);
    end_figure(d, d->axis, d->unit, a->crossing.name, "", NULL);
    const struct ergo_extrapolation *e = &a->extrapolation;
    const double w = isnan(e->exponent) ? 1 : e->exponent;
    found = begin_series(d, ERGO_MARK_POINTS, 0, "crossings", a->n_crossings);
    for (size_t i = 0; found && i < a->n_crossings; i++)
        if (!a->crossings[i].why_not && a->systems[a->crossings[i].a].side > 0)
            add_point(found, pow(a->systems[a->crossings[i].a].side, -w), a->crossings[i].x,
                      a->crossings[i].x_error);
    if (e->done && (found = begin_series(d, ERGO_MARK_POINTS, 1, "large sizes", 1)) != NULL)
        add_point(found, 0, e->x, e->x_error);
    char name[64];
    if (w == 1)
        snprintf(name, sizeof name, "1/L");
    else
        snprintf(name, sizeof name, "L to the power -%.3g", w);
    end_figure(d, name, "", d->axis, d->unit, "where curves of L and the next size cross");
    ergo_text_append(d->text, "</div>\n");
}

/* ---- data collapse --------------------------------------------------------------------------- */

static void draw_scaling(struct drawing *d) {
    enum { GRID = 101 };
    const struct ergo_analysis *a = d->a;
    const struct ergo_scaling *f = &a->scaling;
    double low = INFINITY, high = -INFINITY;
    char name[160], small[160], number[ERGO_CONCISE];
    if (!a->scales || f->why_not)
        return;
    ergo_text_append(d->text, "<h2>Data collapse</h2>\n<div class=\"grid\">\n");
    for (size_t s = 0; s < a->n_systems; s++) {
        const struct ergo_system *system = &a->systems[s];
        struct ergo_plot_series *series =
            begin_series(d, ERGO_MARK_POINTS, s, label_of(d, s), system->n_states);
        for (size_t k = 0; series && k < system->n_states; k++) {
            const struct ergo_pooled p = ergo_state_pool(system, k, a->scaling_of.observable, NULL);
            const double scale = pow(system->side, -a->scaling_of.power - f->power.value);
            const double x = system->states[k].x;
            if (x < f->low || x > f->high)
                continue;
            const double u = (x - f->x.value) * pow(system->side, f->inverse_nu.value);
            const double off =
                isnan(f->amplitude) ? 0 : f->amplitude * pow(system->side, -f->correction);
            add_point(series, u, p.mean * scale - off, p.error * scale);
            low = fmin(low, u);
            high = fmax(high, u);
        }
    }
    struct ergo_plot_series *fit = begin_series(d, ERGO_MARK_LINE, ERGO_INK, "fit", GRID);
    for (size_t i = 0; fit && i < GRID; i++) {
        const double u = low + (high - low) * (double)i / (GRID - 1);
        double y = 0;
        for (size_t k = f->degree + 1; k-- > 0;)
            y = y * u + f->coefficients[k];
        add_point(fit, u, y, NAN);
    }
    snprintf(name, sizeof name, "(%s − %s) L^(1/ν), 1/ν = %.4g", d->axis,
             ergo_format_short(number, f->x.value, 7), f->inverse_nu.value);
    snprintf(small, sizeof small, "χ² = %.3g of %zu degrees of freedom", f->chi2, f->dof);
    char y_name[160];
    if (f->power_free)
        snprintf(y_name, sizeof y_name, "%s over L^%.4g", a->scaling_of.name, f->power.value);
    else
        snprintf(y_name, sizeof y_name, "%s", a->scaling_of.name);
    end_figure(d, name, "", y_name, "", small);
    ergo_text_append(d->text, "</div>\n");
}

/* ---- phases ---------------------------------------------------------------------------------- */

static void draw_coexistence(struct drawing *d) {
    const struct ergo_analysis *a = d->a;
    bool any = false;
    for (size_t i = 0; i < a->n_coexistences; i++)
        any = any || !a->coexistences[i].why_not;
    if (!any)
        return;
    ergo_text_append(d->text, "<h2>Coexistence</h2>\n<div class=\"grid\">\n");
    for (size_t i = 0; i < a->n_coexistences; i++) {
        const struct ergo_coexistence *c = &a->coexistences[i];
        struct ergo_plot_series *series =
            begin_series(d, ERGO_MARK_OUTLINE, i, label_of(d, c->system), c->n_bins);
        for (size_t k = 0; series && k < c->n_bins; k++)
            add_point(series, c->bins[k], c->density[k], NAN);
    }
    const struct ergo_column *column = &a->model->columns[a->coexisting->column];
    end_figure(d, column->name, column->unit, "probability density", "",
               "where both phases have the same weight");
    ergo_text_append(d->text, "</div>\n");
}

enum ergo_status ergo_analysis_write_page(struct ergo_context *ctx,
                                          const struct ergo_analysis *analysis, const char *path,
                                          bool overwrite) {
    ERGO_ENTRY(ctx, analysis, path);
    const struct ergo_analysis *a = analysis;
    struct ergo_text text = {0};
    struct drawing d = {.a = a, .text = &text};
    char *table = NULL;
    enum ergo_status status = ergo_file_may_write(ctx, path, overwrite);
    if (status == ERGO_OK)
        status = ergo_analysis_table(ctx, a, &table);
    if (status != ERGO_OK)
        return status;
    if (a->axis < a->job->n_keys)
        ergo_report_key_name(d.axis, a->results[0], a->job->keys[a->axis]->pointer);
    text.failed = !make_labels(&d);
    d.unit = a->axis < a->job->n_keys ? a->job->keys[a->axis]->unit : "";
    ergo_report_begin(&text, "Analysis");
    ergo_text_append(&text, "<h1>Analysis</h1>\n<p class=\"soft\">%zu run%s of ", a->n_runs,
                     a->n_runs == 1 ? "" : "s");
    ergo_html_escape(&text, a->job->sampler->name);
    ergo_text_append(&text, a->model->name ? " " : "");
    ergo_html_escape(&text, a->model->name);
    ergo_text_append(&text, ": ");
    for (size_t r = 0; r < a->n_runs; r++) {
        ergo_text_append(&text, r ? ", " : "");
        ergo_html_escape(&text, a->names[r]);
    }
    ergo_text_append(&text,
                     ". Made by ergocl " ERGO_VERSION " from the runs&#39; checkpoints.</p>\n");
    draw_crossings(&d);
    draw_scaling(&d);
    draw_coexistence(&d);
    draw_observables(&d);
    ergo_text_append(&text, "<h2>Numbers</h2>\n<pre>");
    ergo_html_escape(&text, table);
    ergo_text_append(&text, "</pre>\n");
    ergo_report_end(&text);
    free(d.series);
    free(d.labels);
    free(table);
    status = text.failed || ergo_memory_failed()
                 ? ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for a page")
                 : ergo_file_write(ctx, NULL, path, text.data, text.length);
    ergo_text_free(&text);
    return status;
}
