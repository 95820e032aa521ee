/* Figures of observables over the points of a scan. */
#include "base/parallel.h"
#include "page/sections.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { GROUPS_MAX = 8, EXACT_POINTS = 200 };

/* Which scanned parameter is the x axis: the one with most values, the first of equals. room: a
 * number for each member. */
static size_t choose_axis(const struct ergo_result *result, double *room) {
    size_t n_scanned = result->members[0].point->n_scanned, best = 0, most = 0;
    for (size_t i = 0; i < n_scanned; i++) {
        size_t distinct = 0;
        for (size_t m = 0; m < result->n_members; m++)
            room[m] = result->members[m].point->scanned[i].value;
        ergo_stats_sort(room, result->n_members);
        for (size_t m = 0; m < result->n_members; m++)
            distinct += m == 0 || room[m] != room[m - 1];
        if (distinct > most) {
            most = distinct;
            best = i;
        }
    }
    return best;
}

/* The items that share all scanned values but the axis, by increasing axis value. */
struct group {
    size_t count;
    size_t *items;
    double *x, *y, *error, *exact, *z; /* of the observable plotted now */
    size_t n_line;
    double line_x[EXACT_POINTS + 1], line_y[EXACT_POINTS + 1];
    char label[96];
};

struct groups {
    const struct ergo_result *result;
    bool scan;  /* else: against the replica */
    bool sides; /* the axis is the length of all sides */
    size_t axis;
    bool log;    /* the axis is */
    double zero; /* log: where the value 0 is drawn; 0: there is none */
    size_t count;
    struct group *groups;
    size_t *indices; /* memory of all groups */
    double *numbers;
};

static const struct ergo_point *point_of(const struct groups *g, size_t item) {
    return ergo_report_item(g->result, item).point;
}

static double axis_value(const struct groups *g, size_t item) {
    const struct ergo_point *point = point_of(g, item);
    return g->scan ? point->scanned[g->axis].value : (double)point->replica;
}

/* Where an item is drawn: at its value, but for 0 on a logarithmic axis. */
static double axis_place(const struct groups *g, size_t item) {
    const double value = axis_value(g, item);
    return g->log && value == 0 ? g->zero : value;
}

static bool same_group(const struct groups *g, size_t a, size_t b) {
    const struct ergo_point *p = point_of(g, a), *q = point_of(g, b);
    for (size_t i = 0; i < p->n_scanned; i++)
        if (i != g->axis &&
            !(g->sides && strncmp(p->scanned[i].pointer, "/system/size/", 13) == 0) &&
            p->scanned[i].value != q->scanned[i].value)
            return false;
    return true;
}

static void label_group(struct groups *g, struct group *group) {
    const struct ergo_point *point = point_of(g, group->items[0]);
    group->label[0] = '\0';
    if (g->scan)
        ergo_report_scanned(group->label, sizeof group->label, g->result, point, g->axis);
}

static void groups_free(struct groups *g) {
    free(g->groups);
    free(g->indices);
    free(g->numbers);
    memset(g, 0, sizeof *g);
}

struct place {
    double value;
    size_t item;
};

static int by_value(const void *a, const void *b) {
    const struct place *x = a, *y = b;
    return x->value != y->value ? (x->value > y->value) - (x->value < y->value)
                                : (x->item > y->item) - (x->item < y->item);
}

/* By increasing axis value, items of one value in their order; room: a place for each item. */
static void sort_group(const struct groups *g, struct group *group, struct place *room) {
    for (size_t i = 0; i < group->count; i++)
        room[i] = (struct place){axis_value(g, group->items[i]), group->items[i]};
    qsort(room, group->count, sizeof *room, by_value);
    for (size_t i = 0; i < group->count; i++)
        group->items[i] = room[i].item;
}

static bool groups_make(struct groups *g, const struct ergo_result *result) {
    const size_t n = ergo_report_items(result);
    memset(g, 0, sizeof *g);
    g->result = result;
    g->scan = result->members[0].point->n_scanned > 0;
    g->groups = calloc(GROUPS_MAX, sizeof *g->groups);
    g->indices = calloc(n * GROUPS_MAX, sizeof *g->indices);
    g->numbers = calloc(result->n_members * GROUPS_MAX * 5, sizeof *g->numbers);
    struct place *room = malloc(n * sizeof *room);
    if (!g->groups || !g->indices || !g->numbers || !room) {
        free(room);
        groups_free(g);
        return false;
    }
    g->axis = g->scan ? choose_axis(result, g->numbers) : 0;
    g->sides =
        g->scan && ergo_report_same_sides(result) &&
        strncmp(result->members[0].point->scanned[g->axis].pointer, "/system/size/", 13) == 0;
    for (size_t m = 0; m < n; m++) {
        size_t k = 0;
        while (k < g->count && !same_group(g, m, g->groups[k].items[0]))
            k++;
        if (k == GROUPS_MAX) /* more would be unreadable; the table has them all */
            continue;
        struct group *group = &g->groups[k];
        if (k == g->count) {
            g->count++;
            group->items = g->indices + k * n;
            double *at = g->numbers + k * n * 5;
            group->x = at;
            group->y = at + n;
            group->error = at + 2 * n;
            group->exact = at + 3 * n;
            group->z = at + 4 * n;
        }
        group->items[group->count++] = m;
    }
    for (size_t k = 0; k < g->count; k++) {
        sort_group(g, &g->groups[k], room);
        label_group(g, &g->groups[k]);
    }
    free(room);
    for (size_t m = 0; m < n; m++) /* borrowed: filled for each figure */
        g->numbers[m] = axis_value(g, m);
    g->log = g->scan && ergo_report_goes_in_factors(g->numbers, n, &g->zero);
    return true;
}

/* A copy of a point in which one scanned parameter can be set. */
struct moved_point {
    struct ergo_point point;  /* a copy (ergo_point_copy) */
    struct ergo_value *value; /* the one moved */
    enum ergo_key_type type;
    size_t item;
    size_t scanned;
};

static bool moved_point_make(struct moved_point *moved, const struct ergo_point *point,
                             size_t scanned) {
    const char *pointer = point->scanned[scanned].pointer;
    const struct ergo_key *key = ergo_format_key(point->job, pointer);
    memset(moved, 0, sizeof *moved);
    if (!key ||
        (key->type != ERGO_KEY_REAL && key->type != ERGO_KEY_INT && key->type != ERGO_KEY_SIZE))
        return false;
    size_t length = strlen(key->pointer);
    if (key->type == ERGO_KEY_SIZE) {
        if (!pointer[length])
            return false;
        moved->item = (size_t)strtoul(pointer + length + 1, NULL, 10);
        if (moved->item >= ERGO_DIM_MAX)
            return false;
    }
    if (!ergo_point_copy(point, &moved->point))
        return false;
    moved->type = key->type;
    moved->scanned = scanned;
    for (size_t i = 0; i < point->job->n_keys; i++)
        if (point->job->keys[i] == key)
            moved->value = &moved->point.values[i];
    return moved->value != NULL;
}

static void moved_point_set(struct moved_point *moved, double x) {
    if (moved->type == ERGO_KEY_SIZE) {
        moved->value->size[moved->item] = llround(x);
    } else {
        moved->value->real = x;
        moved->value->integer = moved->type == ERGO_KEY_INT ? llround(x) : 0;
    }
    moved->point.scanned[moved->scanned].value = x;
    ergo_point_fill(&moved->point);
}

/* Places of an exact line, whose values take milliseconds each on large lattices: by all cores. */
struct line_call {
    const struct groups *g;
    struct group *group;
    const char *name;
};

static void make_line_value(size_t i, void *user) {
    const struct line_call *call = user;
    const struct groups *g = call->g;
    struct moved_point moved = {.value = NULL};
    call->group->line_y[i] = NAN;
    if (moved_point_make(&moved, point_of(g, call->group->items[0]), g->axis)) {
        moved_point_set(&moved, call->group->line_x[i]);
        call->group->line_y[i] = ergo_point_exact(&moved.point, call->name);
    }
    free(moved.point.values);
}

/* The exact value as a function of the axis, from the sampler's own formula. */
static void make_exact_line(const struct groups *g, struct group *group, size_t o) {
    const struct ergo_model *model = g->result->job->model;
    const char *name = model->observables[o].name;
    struct moved_point moved = {.value = NULL};
    size_t n = EXACT_POINTS;

    group->n_line = 0;
    double first = axis_value(g, group->items[0]);
    double last = axis_value(g, group->items[group->count - 1]);
    if (!g->scan || !model->exact || !(last > first))
        return;
    if (g->log && g->zero > 0) /* no line over the break in the axis */
        return;
    if (!moved_point_make(&moved, point_of(g, group->items[0]), g->axis))
        goto out;
    /* Where the copy does not give what the run found, the formula depends on more than is moved.
     */
    double known = ergo_report_item(g->result, group->items[0]).observables[o].exact;
    moved_point_set(&moved, first);
    clock_t begin = clock();
    double again = ergo_point_exact(&moved.point, name);
    double cost = (double)(clock() - begin) / CLOCKS_PER_SEC;
    if (!(fabs(again - known) <= 1e-9 * fmax(1, fabs(known))))
        goto out;
    if (cost > 0.002) /* large lattices: a report is worth half a second a line */
        n = cost > 0.02 ? 25 : 60;
    double previous = NAN;
    for (size_t i = 0; i <= n; i++) {
        double t = (double)i / (double)n;
        double x = g->log ? first * pow(last / first, t) : first + (last - first) * t;
        x = i == n ? last : x;
        if (moved.type != ERGO_KEY_REAL)
            x = round(x);
        if (x == previous)
            continue;
        previous = x;
        group->line_x[group->n_line++] = x;
    }
    struct line_call call = {g, group, name};
    ergo_parallel(group->n_line, group->n_line + 1, make_line_value, &call);
out:
    free(moved.point.values);
}

static void fill_group(const struct groups *g, struct group *group, size_t o, bool *exact) {
    for (size_t i = 0; i < group->count; i++) {
        const struct ergo_report_item item = ergo_report_item(g->result, group->items[i]);
        const struct ergo_observable_result *r = &item.observables[o];
        group->x[i] = axis_place(g, group->items[i]);
        group->y[i] = ergo_report_mean(item, o);
        group->error[i] = r->estimate.error;
        group->exact[i] = r->exact;
        group->z[i] = r->z;
        *exact |= isfinite(r->exact);
    }
}

/* "; not drawn: 3 points, longer than the lattice: order". */
static void append_beyond(struct ergo_text *text, const struct ergo_result *result, size_t o) {
    size_t count = 0;
    for (size_t i = 0; i < ergo_report_items(result); i++) {
        const struct ergo_report_item item = ergo_report_item(result, i);
        count += isnan(ergo_report_mean(item, o)) && !isnan(item.observables[o].estimate.mean);
    }
    if (!count)
        return;
    ergo_text_append(text, "; not drawn: %zu point%s, ", count, count == 1 ? "" : "s");
    ergo_html_escape(text, result->job->model->observables[o].beyond);
}

static void append_observable(struct ergo_text *text, struct groups *g, size_t o) {
    const struct ergo_model *model = g->result->job->model;
    const struct ergo_observable *observable = &model->observables[o];
    struct ergo_plot_series series[2 * GROUPS_MAX + 1];
    struct ergo_text drawing = {0};
    char x_name[ERGO_CONCISE] = "replica", alt[160];
    bool exact = false, by_theory, published;
    size_t n = 0;
    double chi2;

    memset(series, 0, sizeof series);
    struct ergo_plot plot = {.x_name = x_name,
                             .x_unit = "",
                             .y_name = ergo_report_axis_name(observable->name),
                             .y_unit = observable->unit,
                             .shade = NAN,
                             .alt = alt,
                             .series = series};
    plot.x_log = g->log;
    plot.x_zero = g->zero;
    plot.x_integer = !g->scan;
    if (g->scan) {
        const char *pointer = g->result->members[0].point->scanned[g->axis].pointer;
        const struct ergo_key *key = ergo_format_key(g->result->job, pointer);
        ergo_report_key_name(x_name, g->result, pointer);
        plot.x_unit = key ? key->unit : "";
        plot.x_integer = key && key->type != ERGO_KEY_REAL;
    }
    for (size_t k = 0; k < g->count; k++)
        fill_group(g, &g->groups[k], o, &exact);
    /* One point says nothing in a plot, unless there is something to compare it with. */
    const bool alone = ergo_report_items(g->result) == 1;
    if (alone && !exact)
        return;
    const char *theory = g->count > 1 ? "lines: exact" : "exact";
    for (size_t k = 0; k < g->count; k++) {
        struct group *group = &g->groups[k];
        series[n++] = (struct ergo_plot_series){.mark = ERGO_MARK_POINTS,
                                                .color = (unsigned)k,
                                                .label = group->label[0] ? group->label
                                                         : exact         ? "simulation"
                                                                         : NULL,
                                                .guide = g->count > 1 && !exact,
                                                .n = group->count,
                                                .x = group->x,
                                                .y = group->y,
                                                .error = group->error,
                                                .z = exact && !alone ? group->z : NULL};
        if (!exact)
            continue;
        make_exact_line(g, group, o);
        bool line = group->n_line > 1;
        series[n++] =
            (struct ergo_plot_series){.mark = line ? ERGO_MARK_LINE : ERGO_MARK_TICK,
                                      .color = g->count > 1 ? (unsigned)k : (unsigned)ERGO_INK,
                                      .label = theory,
                                      .n = line ? group->n_line : group->count,
                                      .x = line ? group->line_x : group->x,
                                      .y = line ? group->line_y : group->exact};
        theory = NULL; /* once in the legend */
    }
    plot.n_series = n;
    plot.height = alone ? 170 : 0;
    plot.x_hidden = alone;
    snprintf(alt, sizeof alt, "%s against %s", observable->name, x_name);
    if (ergo_svg_plot(&drawing, &plot)) {
        ergo_report_caption(text, observable->name, "");
        size_t dof = ergo_format_chi2(g->result, o, &chi2, &by_theory, &published);
        if (dof && alone && by_theory)
            ergo_text_append(text, " &ensp;z = %.1f", g->groups[0].z[0]);
        else if (dof)
            ergo_text_append(text, " &ensp;χ² = %.1f over %zu %s%s%s", chi2, dof,
                             g->result->n_means ? "chain" : "point", dof == 1 ? "" : "s",
                             published ? ", against published values" : "");
        ergo_text_append(text, "<small>");
        ergo_html_prose(text, observable->help);
        append_beyond(text, g->result, o);
        ergo_text_append(text, "</small>");
        ergo_report_drawing(text, &plot, observable->name, &drawing);
    }
    text->failed |= drawing.failed;
    ergo_text_free(&drawing);
}

static size_t find_observable(const struct ergo_result *result, const char *name) {
    const struct ergo_model *model = result->job->model;
    size_t o = 0;
    while (o < model->n_observables &&
           (strcmp(model->observables[o].name, name) != 0 ||
            !ergo_observable_shown(&model->observables[o], result->members[0].point)))
        o++;
    return o;
}

static void append_state(struct ergo_text *text, struct groups *g, size_t ox, size_t oy,
                         const char *help) {
    const struct ergo_observable *all = g->result->job->model->observables;
    struct ergo_plot_series series[GROUPS_MAX];
    char alt[160];
    struct ergo_plot plot = {.alt = alt,
                             .x_name = ergo_report_axis_name(all[ox].name),
                             .x_unit = all[ox].unit,
                             .y_name = ergo_report_axis_name(all[oy].name),
                             .y_unit = all[oy].unit,
                             .shade = NAN,
                             .n_series = g->count,
                             .series = series};
    for (size_t k = 0; k < g->count; k++) {
        struct group *group = &g->groups[k];
        bool exact = false;
        fill_group(g, group, oy, &exact);
        for (size_t i = 0; i < group->count; i++)
            group->x[i] =
                ergo_report_item(g->result, group->items[i]).observables[ox].estimate.mean;
        series[k] = (struct ergo_plot_series){.mark = ERGO_MARK_POINTS,
                                              .color = (unsigned)k,
                                              .label = group->label[0] ? group->label : NULL,
                                              .n = group->count,
                                              .x = group->x,
                                              .y = group->y,
                                              .error = group->error};
    }
    snprintf(alt, sizeof alt, "%s against %s", all[oy].name, all[ox].name);
    ergo_report_figure(text, &plot, alt, help);
}

/* What physicists plot against each other, though neither is a key. */
static void append_relation(struct ergo_text *text, struct groups *g) {
    const struct ergo_model *model = g->result->job->model;
    if (!g->scan || !model->relation_x)
        return;
    const size_t x = find_observable(g->result, model->relation_x);
    const size_t y = find_observable(g->result, model->relation_y);
    if (x < model->n_observables && y < model->n_observables)
        append_state(text, g, x, y, model->relation_help);
}

#define BARS                                                                                       \
    "Bars are one standard error, autocorrelation included; open symbols have none that can be "   \
    "trusted. Lines of theory are exact, broken ones only lead the eye."

enum ergo_status ergo_report_observables(struct ergo_context *ctx, struct ergo_text *text,
                                         const struct ergo_result *result,
                                         enum ergo_report_kind kind) {
    static const char *const heads[] = {
        [ERGO_REPORT_RESULT] = "Results",
        [ERGO_REPORT_CHECK] = "Checks",
        [ERGO_REPORT_MOMENT] = "Moments",
    };
    static const char *const words[] = {
        [ERGO_REPORT_RESULT] = BARS,
        [ERGO_REPORT_CHECK] = ("Whether the run went well: estimators that have to agree, "
                               "acceptances, parts of sums."),
        [ERGO_REPORT_MOMENT] = "What the results are made of.",
    };
    static const char *const of_means = BARS " Points are means over replicas.";
    struct groups groups;
    struct ergo_text figures = {0};
    if (!result->n_members)
        return ERGO_OK;
    if (!groups_make(&groups, result))
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "making report.html: out of memory");
    for (size_t o = 0; o < result->job->model->n_observables; o++)
        if (ergo_observable_shown(&result->job->model->observables[o], result->members[0].point) &&
            ergo_report_kind(&result->job->model->observables[o]) == kind)
            append_observable(&figures, &groups, o);
    if (kind == ERGO_REPORT_RESULT)
        append_relation(&figures, &groups);
    const bool means = ergo_report_items(result) < result->n_members;
    ergo_report_section(text, heads[kind],
                        kind == ERGO_REPORT_RESULT && means ? of_means : words[kind], &figures);
    groups_free(&groups);
    return ERGO_OK;
}
