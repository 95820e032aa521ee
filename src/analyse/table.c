/* An analysis for a terminal. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/analyse.h"
#include "base/entry.h"
#include "base/utf8.h"
#include "result/format.h"

enum { WIDTH = 120, ROWS_MAX = 60 };

/* Name of the axis, "temperature", or "". */
static const char *ergo_analysis_axis(const struct ergo_analysis *a, char buffer[64]) {
    return a->axis < a->job->n_keys ? ergo_format_pointer(buffer, a->job->keys[a->axis]->pointer)
                                    : "";
}

static const char *label_of(const struct ergo_analysis *a, size_t system) {
    return *a->systems[system].label ? a->systems[system].label : "all points";
}

/* Cells of a column are as wide as the widest. */
static size_t width_of(size_t width, const char *cell) {
    return strlen(cell) > width ? strlen(cell) : width;
}

static void append_systems(struct ergo_text *text, const struct ergo_analysis *a) {
    char axis[64];
    (void)ergo_analysis_axis(a, axis);
    /* windows of a transition matrix, a system each, are told as one below */
    for (size_t s = 0; s < a->n_systems && !a->n_matrices; s++) {
        const struct ergo_system *system = &a->systems[s];
        ergo_text_append(text, "%s: %zu point%s, %zu chain%s", label_of(a, s), system->n_states,
                         system->n_states == 1 ? "" : "s", system->n_chains,
                         system->n_chains == 1 ? "" : "s");
        for (size_t p = 0; p < system->n_parts; p++) {
            const struct ergo_part *part = system->parts[p];
            ergo_text_append(text, "%s %zu blocks", p ? "; and" : "; weighted, with",
                             part->n_blocks);
            if (part->n_ranges)
                ergo_text_append(text, ", %s inside ", axis);
            ergo_part_append_ranges(text, part);
        }
        ergo_text_append(text, "\n");
    }
}

/* ---- pooled ---------------------------------------------------------------------------------- */

static void append_pooled(struct ergo_text *text, const struct ergo_analysis *a) {
    char axis[64], x[ERGO_CONCISE], value[ERGO_CONCISE], chi2[ERGO_CONCISE], tail[ERGO_CONCISE];
    /* hundreds of windows of a transition matrix are there for what follows */
    if (!a->n_pooled || a->n_matrices)
        return;
    ergo_text_append(text,
                     "\nChains of the same physics together (weights: %s)\n"
                     "%-24s %12s  %-26s %6s  %-18s %8s %8s\n",
                     a->pooled[0].samples ? "equal, of samples of a disorder" : "their lengths",
                     "system", ergo_analysis_axis(a, axis), "observable", "chains", "mean",
                     "chi2/dof", "p");
    for (size_t i = 0; i < a->n_pooled && i < ROWS_MAX; i++) {
        const struct ergo_pooled *p = &a->pooled[i];
        const struct ergo_system *system = &a->systems[p->system];
        ergo_text_append(text, "%-24s %12s  %-26s %6zu  %-18s %8s %8s%s%s\n",
                         label_of(a, p->system),
                         ergo_format_short(x, system->states[p->state].x, 9),
                         a->model->observables[p->observable].name, p->n,
                         ergo_format_concise(value, p->mean, p->error),
                         ergo_format_short(chi2, p->chi2 / (double)(p->n - 1), 3),
                         ergo_format_short(tail, p->tail, 2), p->disagree || p->why_not ? "  " : "",
                         p->disagree  ? "the chains disagree"
                         : p->why_not ? p->why_not
                                      : "");
    }
    if (a->n_pooled > ROWS_MAX)
        ergo_text_append(text, "... %zu more by --observable, --json or --csv\n",
                         a->n_pooled - ROWS_MAX);
}

/* ---- reweighted ------------------------------------------------------------------------------ */

static void append_cell(struct ergo_text *text, size_t width, const char *cell) {
    ergo_text_append(text, "  %*s", (int)width, cell);
}

static const char *format_value(char buffer[ERGO_CONCISE], const struct ergo_reweighted *row,
                                size_t o) {
    return row->independent >= ERGO_ANALYSE_INDEPENDENT
               ? ergo_format_concise(buffer, row->values[o].value, row->values[o].error)
               : "-";
}

/* Observables `first` on, as many as fit side by side; the number of the next. */
static size_t append_part(struct ergo_text *text, const struct ergo_analysis *a, size_t begin,
                          size_t end, size_t first) {
    char cell[ERGO_CONCISE];
    size_t widths[64], last = first, used = 14 * a->n_wanted + 13;
    for (; last < a->n_observables && last - first < 64; last++) {
        size_t width = strlen(a->model->observables[a->observables[last]].name);
        for (size_t i = begin; i < end; i++)
            width = width_of(width, format_value(cell, &a->rows[i], last));
        if (last > first && used + width + 2 > WIDTH)
            break;
        widths[last - first] = width;
        used += width + 2;
    }
    for (size_t w = 0; w < a->n_wanted; w++)
        append_cell(text, 12, ergo_format_pointer(cell, a->wanted[w].pointer));
    append_cell(text, 11, "independent");
    for (size_t o = first; o < last; o++)
        append_cell(text, widths[o - first], a->model->observables[a->observables[o]].name);
    ergo_text_append(text, "\n");
    for (size_t i = begin; i < end; i++) {
        for (size_t w = 0; w < a->n_wanted; w++)
            append_cell(text, 12, ergo_format_short(cell, a->rows[i].at[w], 9));
        snprintf(cell, sizeof cell, "%.0f", a->rows[i].independent);
        append_cell(text, 11, cell);
        for (size_t o = first; o < last; o++)
            append_cell(text, widths[o - first], format_value(cell, &a->rows[i], o));
        ergo_text_append(text, "\n");
    }
    return last;
}

static void append_rows(struct ergo_text *text, const struct ergo_analysis *a) {
    for (size_t begin = 0, end; begin < a->n_rows; begin = end) {
        end = begin;
        while (end < a->n_rows && a->rows[end].system == a->rows[begin].system)
            end++;
        const size_t shown = end - begin > ROWS_MAX ? begin + ROWS_MAX : end;
        ergo_text_append(text,
                         "\nReweighted, %s (independent: samples left for the error to rest on)\n",
                         label_of(a, a->rows[begin].system));
        for (size_t o = 0; o < a->n_observables;)
            o = append_part(text, a, begin, shown, o);
        if (shown < end)
            ergo_text_append(text, "... %zu more by --json or --csv\n", end - shown);
    }
}

/* ---- crossings, scaling, coexistence --------------------------------------------------------- */

static void append_crossings(struct ergo_text *text, const struct ergo_analysis *a) {
    const struct ergo_extrapolation *e = &a->extrapolation;
    char axis[64], x[ERGO_CONCISE], y[ERGO_CONCISE];
    if (!a->n_crossings)
        return;
    ergo_text_append(text, "\nCrossings of %s, curves %s\n", a->crossing.name,
                     ergo_curve_is_weighted(a, &a->systems[0], &a->crossing)
                         ? "reweighted"
                         : "interpolated between points");
    ergo_text_append(text, "  %-44s %-18s %s\n", "systems", ergo_analysis_axis(a, axis),
                     a->crossing.name);
    for (size_t i = 0; i < a->n_crossings; i++) {
        const struct ergo_crossing *c = &a->crossings[i];
        char pair[340];
        snprintf(pair, sizeof pair, "%s and %s", label_of(a, c->a), label_of(a, c->b));
        if (c->why_not)
            ergo_text_append(text, "  %-44s - (%s)\n", pair, c->why_not);
        else
            ergo_text_append(text, "  %-44s %-18s %s\n", pair,
                             ergo_format_concise(x, c->x, c->x_error),
                             ergo_format_concise(y, c->y, c->y_error));
    }
    if (!e->done)
        return;
    ergo_text_append(text, "  large sizes: %s %s", axis, ergo_format_concise(x, e->x, e->x_error));
    if (isnan(e->exponent)) {
        ergo_text_append(text, ", the crossing of the largest: a drift with size is not resolved, "
                               "or sizes are too few (--correction W gives its exponent)\n");
        return;
    }
    ergo_text_append(text, ", by %s + a L^-w from the last %zu, w %s%s", axis, e->used,
                     e->fixed ? ergo_format_short(y, e->exponent, 6)
                              : ergo_format_concise(y, e->exponent, e->exponent_error),
                     e->fixed ? " as given" : "");
    ergo_text_append(text, "; chi2 %.3g of %zu degrees of freedom, p %.2g%s\n", e->chi2, e->dof,
                     e->tail, e->tail < 0.01 ? ": too small, the error above means nothing" : "");
}

static void append_scaling(struct ergo_text *text, const struct ergo_analysis *a) {
    const struct ergo_scaling *s = &a->scaling;
    char axis[64], value[ERGO_CONCISE];
    if (!a->scales)
        return;
    (void)ergo_analysis_axis(a, axis);
    ergo_text_append(text, "\nFinite-size scaling of %s\n", a->scaling_of.name);
    if (s->why_not) {
        ergo_text_append(text, "  no fit: %s\n", s->why_not);
        return;
    }
    ergo_text_append(text, "  %s_c  %s\n", axis,
                     ergo_format_concise(value, s->x.value, s->x.error));
    ergo_text_append(text, "  1/nu  %s",
                     ergo_format_concise(value, s->inverse_nu.value, s->inverse_nu.error));
    const double nu = 1 / s->inverse_nu.value;
    ergo_text_append(text, "  (nu %s)\n",
                     ergo_format_concise(value, nu, s->inverse_nu.error * nu * nu));
    if (s->power_free)
        ergo_text_append(text, "  power of L  %s\n",
                         ergo_format_concise(value, s->power.value, s->power.error));
    ergo_text_append(text,
                     "  chi2 %.4g of %zu degrees of freedom, p %.2g; %zu points, %s %.6g to %.6g, "
                     "polynomial of degree %zu\n",
                     s->chi2, s->dof, s->tail, s->n, axis, s->low, s->high, s->degree);
    if (!isnan(s->shift))
        ergo_text_append(text,
                         "  L of %g and more; %s_c is %.2g %s without L = %g, and this is in its "
                         "error\n",
                         s->smallest, axis, fabs(s->shift), s->shift < 0 ? "less" : "more",
                         s->without);
    if (s->tail < 0.01)
        ergo_text_append(text,
                         "  p is too small: the errors above mean nothing. A narrower --window, "
                         "larger sizes, or --correction\n");
}

static void append_coexistence(struct ergo_text *text, const struct ergo_analysis *a) {
    char axis[64], value[ERGO_CONCISE], other[ERGO_CONCISE];
    for (size_t i = 0; i < a->n_coexistences; i++) {
        const struct ergo_coexistence *c = &a->coexistences[i];
        const char *column = a->model->columns[a->coexisting->column].name;
        ergo_text_append(text, "\nCoexistence, %s\n", label_of(a, c->system));
        if (c->why_not) {
            ergo_text_append(text, "  none: %s\n", c->why_not);
            continue;
        }
        ergo_text_append(text, "  equal weights at %s %s; barrier %.3g kT\n",
                         ergo_analysis_axis(a, axis),
                         ergo_format_concise(value, c->at, c->at_error), c->barrier);
        char split[2][ERGO_CONCISE + 8];
        snprintf(split[0], sizeof split[0], "below %.6g", c->split);
        snprintf(split[1], sizeof split[1], "above %.6g", c->split);
        ergo_text_append(text, "  %-28s %-20s %s\n", column, split[0], split[1]);
        ergo_text_append(text, "  %-28s %-20s %s\n", column,
                         ergo_format_concise(value, c->phases[0].x, c->phases[0].x_error),
                         ergo_format_concise(other, c->phases[1].x, c->phases[1].x_error));
        for (size_t o = 0; o < a->n_observables; o++)
            ergo_text_append(text, "  %-28s %-20s %s\n",
                             a->model->observables[a->observables[o]].name,
                             ergo_format_concise(value, c->phases[0].values[o].value,
                                                 c->phases[0].values[o].error),
                             ergo_format_concise(other, c->phases[1].values[o].value,
                                                 c->phases[1].values[o].error));
    }
}

static void append_criticals(struct ergo_text *text, const struct ergo_analysis *a) {
    char v[4][ERGO_CONCISE];
    if (a->n_criticals)
        ergo_text_append(text,
                         "\nCritical point, by the distribution of N - s E in a cube\n"
                         "  %-12s %-16s %-16s %-16s %s\n",
                         "box", "temperature", "ln z", "density", "s");
    for (size_t i = 0; i < a->n_criticals; i++) {
        const struct ergo_critical *c = &a->criticals[i];
        if (c->why_not) {
            ergo_text_append(text, "  %-12.6g none: %s\n", c->side, c->why_not);
            continue;
        }
        ergo_text_append(text, "  %-12.6g %-16s %-16s %-16s %s\n", c->side,
                         ergo_format_concise(v[0], c->temperature.value, c->temperature.error),
                         ergo_format_concise(v[1], c->log_activity.value, c->log_activity.error),
                         ergo_format_concise(v[2], c->density.value, c->density.error),
                         ergo_format_concise(v[3], c->mixing.value, c->mixing.error));
    }
    if (a->critical_sizes >= 2)
        ergo_text_append(
            text, "  %-12s %-16s %-16s %-16s\n", "infinite",
            ergo_format_concise(v[0], a->critical_temperature.value, a->critical_temperature.error),
            "", ergo_format_concise(v[1], a->critical_density.value, a->critical_density.error));
    if (a->critical_sizes > 2)
        ergo_text_append(text, "  chi^2 of its lines %.3g (temperature) and %.3g, for %zu\n",
                         a->critical_chi2[0], a->critical_chi2[1], a->critical_sizes - 2);
}

static void append_matrices(struct ergo_text *text, const struct ergo_analysis *a) {
    char v[ERGO_CONCISE];
    for (size_t i = 0; i < a->n_matrices; i++) {
        const struct ergo_matrix *m = &a->matrices[i];
        ergo_text_append(text, "\nTransition matrix, temperature %.10g%s%s, N = %zu to %zu\n",
                         m->temperature, *m->label ? ", " : "", m->label, m->first,
                         m->first + m->count - 1);
        if (m->gap)
            ergo_text_append(
                text,
                "  there is no run of N = %zu: steps to larger N are unknown, and what "
                "follows is apart\n",
                m->gap);
        if (m->why_not) {
            ergo_text_append(text, "  %s\n", m->why_not);
            continue;
        }
        const struct {
            const char *name;
            const struct ergo_valued *value;
        } rows[] = {{"ln z at coexistence", &m->log_coexistence},
                    {"density_vapour", &m->density[0]},
                    {"density_liquid", &m->density[1]},
                    {"saturation_pressure", &m->pressure}};
        for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++)
            if (isfinite(rows[r].value->value))
                ergo_text_append(
                    text, "  %-28s %s\n", rows[r].name,
                    ergo_format_concise(v, rows[r].value->value, rows[r].value->error));
        if (m->no_pressure)
            ergo_text_append(text, "  %-28s %s\n", "saturation_pressure", m->no_pressure);
        ergo_text_append(text, "  %-28s %.3g kT, at N = %.10g\n", "barrier", m->barrier, m->split);
        for (int k = 0; k < 2; k++)
            if (fabs(m->missing[k]) > (isfinite(m->density[k].error) ? m->density[k].error / 2
                                                                     : 1e-4 * m->density[k].value))
                ergo_text_append(text,
                                 "  N = %zu, the %s, still has weight: density_%s is too %s by up "
                                 "to %.2g; scan particles %s\n",
                                 k ? m->first + m->count - 1 : m->first, k ? "last" : "first",
                                 k ? "liquid" : "vapour", k ? "low" : "high", fabs(m->missing[k]),
                                 k ? "further" : "from 0");
        if (m->unresolved)
            ergo_text_append(
                text,
                "  %zu of %zu steps in N are too short for errors of their own: errors above are "
                "rough, and less than what windows may still have of their starts: equilibrate and "
                "run longer\n",
                m->unresolved, m->count - 1);
    }
}

static void append_excesses(struct ergo_text *text, const struct ergo_analysis *a) {
    char loading[ERGO_CONCISE], bulk[ERGO_CONCISE], excess[ERGO_CONCISE];
    for (size_t i = 0; i < a->n_excesses; i++) {
        const struct ergo_excess *e = &a->excesses[i];
        if (i == 0 || e->system != e[-1].system || e->room != e[-1].room)
            ergo_text_append(text,
                             "\nExcess adsorption%s; the bulk fluid in a %s of %.10g\n"
                             "%-14s %-14s %-16s %-16s %s\n",
                             e->per_area ? " per area" : "", e->per_area ? "height" : "volume",
                             e->room, "temperature", "activity",
                             e->per_area ? "adsorption" : "particles", "bulk density", "excess");
        ergo_text_append(text, "%-14.10g %-14.8g %-16s %-16s %s\n", e->temperature,
                         exp(e->log_activity),
                         ergo_format_concise(loading, e->loading.value, e->loading.error),
                         ergo_format_concise(bulk, e->bulk.value, e->bulk.error),
                         ergo_format_concise(excess, e->excess.value, e->excess.error));
    }
}

enum ergo_status ergo_analysis_table(struct ergo_context *ctx, const struct ergo_analysis *analysis,
                                     char **text) {
    ERGO_CLEAR(text);
    ERGO_ENTRY(ctx, analysis, text);
    const struct ergo_analysis *a = analysis;
    struct ergo_text raw = {0};
    append_systems(&raw, a);
    append_pooled(&raw, a);
    append_rows(&raw, a);
    append_crossings(&raw, a);
    append_scaling(&raw, a);
    append_coexistence(&raw, a);
    append_criticals(&raw, a);
    append_matrices(&raw, a);
    append_excesses(&raw, a);
    for (size_t i = 0; i < a->n_notes; i++)
        ergo_text_append(&raw, "%snote: %s\n", i ? "" : "\n", a->notes[i]);
    *text = ergo_utf8_take_shown(&raw);
    return *text ? ERGO_OK : ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for a table");
}
