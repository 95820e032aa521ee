/* Several runs of a sampler in one figure for each observable. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "page/together.h"
#include "stats/stats.h"

enum { COLORS = 8 };

/* The axis of the figures: element `item` of key number `key`, which differs between points. */
struct axis {
    size_t key;
    int item;
    size_t distinct;
    bool log;
    double zero; /* log: where the value 0 is drawn; 0: there is none */
    char name[ERGO_CONCISE];
};

/* The results of one sampler. */
struct set {
    struct ergo_result **results;
    const char **directories; /* to distinguish runs with the same name */
    size_t count, n_members;
};

static double number_of(const struct ergo_point *point, size_t key, int item) {
    const struct ergo_value *value = &point->values[key];
    switch (ergo_value_type(point->job->keys[key], value)) {
    case ERGO_KEY_REAL:
        return value->present ? value->real : NAN;
    case ERGO_KEY_INT:
        return value->present ? (double)value->integer : NAN;
    case ERGO_KEY_SIZE:
        return item < value->items ? (double)value->size[item] : NAN;
    default:
        return NAN;
    }
}

/* Collects all values into `room`, sorted. Returns how many are different; 0: some point has none.
 */
static size_t sort_values(const struct set *set, size_t key, int item, double *room) {
    size_t n = 0, distinct = 0;
    for (size_t r = 0; r < set->count; r++)
        for (size_t m = 0; m < set->results[r]->n_members; m++) {
            const double v = number_of(set->results[r]->members[m].point, key, item);
            if (isnan(v))
                return 0;
            room[n++] = v;
        }
    ergo_stats_sort(room, n);
    for (size_t i = 0; i < n; i++)
        distinct += i == 0 || room[i] != room[i - 1];
    return distinct;
}

/* Does a run scan this key? */
static bool is_scanned(const struct set *set, size_t key) {
    for (size_t r = 0; r < set->count; r++) {
        const struct ergo_point *point = set->results[r]->members[0].point;
        const char *pointer = point->job->keys[key]->pointer;
        for (size_t i = 0; i < point->n_scanned; i++)
            if (strncmp(point->scanned[i].pointer, pointer, strlen(pointer)) == 0)
                return true;
    }
    return false;
}

/* Chooses the number of /system with the most values, of those that runs scan if they scan any:
 * what differs from run to run then tells curves apart. False: all numbers are the same in all
 * runs. */
static bool choose_axis(const struct set *set, double *room, struct axis *axis) {
    const struct ergo_job *job = set->results[0]->job;
    bool scanned = false;
    *axis = (struct axis){.distinct = 1};
    for (size_t k = 0; k < job->n_keys; k++) {
        if (strncmp(job->keys[k]->pointer, "/system/", 8) != 0)
            continue;
        for (int item = 0; item < ERGO_DIM_MAX; item++) {
            const size_t distinct = sort_values(set, k, item, room);
            const bool inside = distinct > 1 && is_scanned(set, k);
            if ((inside && !scanned) || (inside == scanned && distinct > axis->distinct)) {
                scanned = inside;
                axis->key = k;
                axis->item = item;
                axis->distinct = distinct;
            }
            if (job->keys[k]->type != ERGO_KEY_SIZE)
                break;
        }
    }
    if (axis->distinct < 2)
        return false;
    if (job->keys[axis->key]->type == ERGO_KEY_SIZE)
        snprintf(axis->name, sizeof axis->name, "L");
    else
        ergo_report_key_name(axis->name, set->results[0], job->keys[axis->key]->pointer);
    (void)sort_values(set, axis->key, axis->item, room);
    axis->log = ergo_report_goes_in_factors(room, set->n_members, &axis->zero);
    return true;
}

/* Points of all runs that differ in nothing but the axis, and what they share. */
struct together {
    size_t count;
    struct ergo_report_item *items; /* by increasing axis */
    char label[96];
};

static bool same_value(const struct ergo_point *a, const struct ergo_point *b, size_t key) {
    return ergo_value_same(a->job->keys[key], &a->values[key], &b->values[key]);
}

/* Is it a key of the system that tells points apart? Not the seed of a disorder. */
static bool tells_apart(const struct ergo_job *job, const struct axis *axis, size_t key) {
    return key != axis->key && job->keys[key]->type != ERGO_KEY_SEED &&
           strncmp(job->keys[key]->pointer, "/system/", 8) == 0;
}

/* Jobs of one model have the same keys; of two models they belong apart. */
static bool belong_together(const struct ergo_point *a, const struct ergo_point *b,
                            const struct axis *axis) {
    if (a->job->model != b->job->model)
        return false;
    for (size_t k = 0; k < a->job->n_keys; k++)
        if (tells_apart(a->job, axis, k) && !same_value(a, b, k))
            return false;
    return true;
}

/* "16" where all sides are the same, else "16 x 32". */
static void format_size(char *text, size_t size, const struct ergo_value *value) {
    bool same = true;
    for (int i = 1; i < value->items; i++)
        same = same && value->size[i] == value->size[0];
    text[0] = '\0';
    for (int i = 0; i < (same && value->items ? 1 : value->items); i++) {
        const size_t used = strlen(text);
        if (used + 1 < size)
            snprintf(text + used, size - used, "%s%" PRId64, i ? " x " : "", value->size[i]);
    }
}

/* "12 x 10.4" */
static void format_reals(char *text, size_t size, const struct ergo_value *value) {
    char number[ERGO_CONCISE];
    text[0] = '\0';
    for (int i = 0; i < value->items; i++) {
        const size_t used = strlen(text);
        if (used + 1 < size)
            snprintf(text + used, size - used, "%s%s", i ? " x " : "",
                     ergo_format_short(number, value->reals[i], 6));
    }
}

static void append_words(char *label, size_t size, const char *name, const char *value) {
    const size_t used = strlen(label);
    if (used + strlen(name) + strlen(value) + 6 < size)
        snprintf(label + used, size - used, "%s%s = %s", used ? ", " : "", name, value);
}

/* "L = 16, start = up": what differs between this point and some other. */
static void label_point(const struct set *set, const struct axis *axis,
                        const struct ergo_point *point, char *label, size_t size) {
    char name[ERGO_CONCISE], value[ERGO_CONCISE];
    label[0] = '\0';
    for (size_t k = 0; k < point->job->n_keys; k++) {
        const struct ergo_key *key = point->job->keys[k];
        const struct ergo_value *v = &point->values[k];
        bool differs = false;
        if (!tells_apart(point->job, axis, k))
            continue;
        for (size_t r = 0; r < set->count && !differs; r++)
            for (size_t m = 0; m < set->results[r]->n_members && !differs; m++) {
                const struct ergo_point *other = set->results[r]->members[m].point;
                differs = other->job->model == point->job->model && !same_value(point, other, k);
            }
        if (!differs)
            continue;
        if (ergo_value_type(key, v) == ERGO_KEY_REALS)
            format_reals(value, sizeof value, v);
        else if (key->type == ERGO_KEY_REAL)
            ergo_format_short(value, v->real, 6);
        else if (key->type == ERGO_KEY_INT)
            snprintf(value, sizeof value, "%" PRId64, v->integer);
        else if (key->type == ERGO_KEY_SIZE)
            format_size(value, sizeof value, v);
        else if (key->type == ERGO_KEY_BOOL)
            snprintf(value, sizeof value, "%s", v->boolean ? "true" : "false");
        else
            snprintf(value, sizeof value, "%.20s", v->text ? v->text : "");
        if (key->type == ERGO_KEY_SIZE)
            snprintf(name, sizeof name, "L");
        else
            ergo_report_key_name(name, set->results[0], key->pointer);
        append_words(label, size, name, v->present ? value : "-");
    }
    if (!*label && point->job->model->name)
        snprintf(label, size, "%s", point->job->model->name);
}

static void add_item(struct together *group, struct ergo_report_item item,
                     const struct axis *axis) {
    const double v = number_of(item.point, axis->key, axis->item);
    size_t at = group->count++;
    for (; at && number_of(group->items[at - 1].point, axis->key, axis->item) > v; at--)
        group->items[at] = group->items[at - 1];
    group->items[at] = item;
}

/* Returns the number of groups; *left: points of more groups than there are colours. room: a place
 * for each item and colour. */
static size_t make_groups(const struct set *set, const struct axis *axis, struct together *groups,
                          struct ergo_report_item *room, size_t *left) {
    size_t count = 0;
    *left = 0;
    for (size_t r = 0; r < set->count; r++)
        for (size_t i = 0; i < ergo_report_items(set->results[r]); i++) {
            const struct ergo_report_item item = ergo_report_item(set->results[r], i);
            size_t g = 0;
            while (g < count && !belong_together(groups[g].items[0].point, item.point, axis))
                g++;
            if (g == COLORS) {
                ++*left;
                continue;
            }
            if (g == count) {
                groups[g] = (struct together){.items = room + g * set->n_members};
                label_point(set, axis, item.point, groups[g].label, sizeof groups[g].label);
                count++;
            }
            add_item(&groups[g], item, axis);
        }
    return count;
}

static void append_figure(struct ergo_text *text, const struct set *set, const struct axis *axis,
                          size_t o, const struct together *groups, size_t count, double *room) {
    const struct ergo_job *job = set->results[0]->job;
    const struct ergo_observable *observable = &job->model->observables[o];
    struct ergo_plot_series series[COLORS];
    char alt[160];
    size_t used = 0;
    struct ergo_plot plot = {.alt = alt,
                             .x_name = axis->name,
                             .x_unit = job->keys[axis->key]->unit,
                             .x_log = axis->log,
                             .x_zero = axis->zero,
                             .y_name = ergo_report_axis_name(observable->name),
                             .y_unit = observable->unit,
                             .shade = NAN,
                             .series = series};
    for (size_t g = 0; g < count; g++) {
        double *x = room + used, *y = x + set->n_members, *error = y + set->n_members;
        for (size_t i = 0; i < groups[g].count; i++) {
            const struct ergo_report_item item = groups[g].items[i];
            const double v = number_of(item.point, axis->key, axis->item);
            if (item.point->job->model != job->model) { /* it measures other things */
                x[i] = y[i] = error[i] = NAN;
                continue;
            }
            x[i] = axis->log && v == 0 ? axis->zero : v;
            y[i] = ergo_report_mean(item, o);
            error[i] = item.observables[o].estimate.error;
        }
        used += groups[g].count;
        series[plot.n_series++] =
            (struct ergo_plot_series){.mark = ERGO_MARK_POINTS,
                                      .color = (unsigned)g,
                                      .label = count > 1 ? groups[g].label : NULL,
                                      .guide = count > 1,
                                      .n = groups[g].count,
                                      .x = x,
                                      .y = y,
                                      .error = error};
    }
    snprintf(alt, sizeof alt, "%s against %s, %zu runs", observable->name, axis->name, set->count);
    ergo_report_figure(text, &plot, observable->name, NULL);
}

static enum ergo_status append_set(struct ergo_context *ctx, struct ergo_text *text,
                                   const struct set *set) {
    const struct ergo_model *model = set->results[0]->job->model;
    struct axis axis;
    /* x of all points, then y of all, then their errors */
    double *room = calloc(3 * set->n_members, sizeof *room);
    struct ergo_report_item *items = calloc(COLORS * set->n_members, sizeof *items);
    struct together groups[COLORS];
    size_t left = 0;
    const bool ok = room && items;
    if (ok && choose_axis(set, room, &axis)) {
        const size_t count = make_groups(set, &axis, groups, items, &left);
        ergo_text_append(text, "<h2>%zu runs of %s together</h2>\n", set->count,
                         set->results[0]->job->sampler->name);
        if (left)
            ergo_text_append(
                text, "<p class=\"soft\">%zu points that differ in more are not drawn.</p>\n",
                left);
        ergo_text_append(text, "<div class=\"grid\">\n");
        for (int kind = ERGO_REPORT_RESULT; kind <= ERGO_REPORT_MOMENT; kind++)
            for (size_t o = 0; o < model->n_observables; o++)
                if (ergo_report_kind(&model->observables[o]) == (enum ergo_report_kind)kind &&
                    ergo_observable_shown(&model->observables[o],
                                          set->results[0]->members[0].point))
                    append_figure(text, set, &axis, o, groups, count, room);
        ergo_text_append(text, "</div>\n");
    }
    free(items);
    free(room);
    return ok ? ERGO_OK : ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for a report");
}

enum ergo_status ergo_report_together(struct ergo_context *ctx, struct ergo_text *text,
                                      struct ergo_result *const *results,
                                      const char *const *directories, size_t count) {
    enum ergo_status status = ERGO_OK;
    struct set set = {.results = calloc(count + 1, sizeof(struct ergo_result *)),
                      .directories = calloc(count + 1, sizeof(const char *))};
    if (!set.results || !set.directories)
        status = ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for a report");
    for (size_t s = 0; s < ergo_n_samplers && status == ERGO_OK; s++) {
        set.count = set.n_members = 0;
        for (size_t r = 0; r < count; r++)
            if (results[r]->job->sampler == ergo_samplers[s] && results[r]->n_members) {
                set.directories[set.count] = directories[r];
                set.results[set.count++] = results[r];
                set.n_members += results[r]->n_members;
            }
        if (set.count > 1)
            status = append_set(ctx, text, &set);
    }
    free(set.directories);
    free(set.results);
    return status;
}
