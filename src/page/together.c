/* Several runs of a sampler in one figure for each observable. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "page/together.h"
#include "stats/stats.h"

enum { COLORS = 8 };

/* The number along which the points of all runs spread: element `item` of key number `key`. */
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
    const char **directories; /* which tell runs of one name apart */
    size_t count, n_members;
};

static double number_of(const struct ergo_point *point, size_t key, int item) {
    const struct ergo_value *value = &point->values[key];
    switch (point->job->keys[key]->type) {
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

/* All values in `room`, sorted; returns how many different ones, 0: some point has none. */
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

/* Of the numbers of the system the one with most values. False: the runs differ in none. */
static bool choose_axis(const struct set *set, double *room, struct axis *axis) {
    const struct ergo_job *job = set->results[0]->job;
    *axis = (struct axis){.distinct = 1};
    for (size_t k = 0; k < job->n_keys; k++) {
        if (strncmp(job->keys[k]->pointer, "/system/", 8) != 0)
            continue;
        for (int item = 0; item < ERGO_DIM_MAX; item++) {
            const size_t distinct = sort_values(set, k, item, room);
            if (distinct > axis->distinct) {
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
    ergo_format_pointer(axis->name, job->keys[axis->key]->pointer);
    (void)sort_values(set, axis->key, axis->item, room);
    axis->log = ergo_report_goes_in_factors(room, set->n_members, &axis->zero);
    return true;
}

/* Points of a run by increasing x; x, y and error have room for all. */
static size_t fill(const struct ergo_result *result, const struct axis *axis, size_t o, double *x,
                   double *y, double *error) {
    size_t n = 0;
    for (size_t m = 0; m < result->n_members; m++) {
        const struct ergo_member_result *member = &result->members[m];
        const double v = number_of(member->point, axis->key, axis->item);
        size_t at = n++;
        for (; at && x[at - 1] > v; at--) {
            x[at] = x[at - 1];
            y[at] = y[at - 1];
            error[at] = error[at - 1];
        }
        x[at] = v;
        y[at] = ergo_report_mean(member, o);
        error[at] = member->observables[o].estimate.error;
    }
    for (size_t i = 0; i < n && axis->log; i++)
        x[i] = x[i] == 0 ? axis->zero : x[i];
    return n;
}

static void append_figure(struct ergo_text *text, const struct set *set, const struct axis *axis,
                          size_t o, double *room) {
    const struct ergo_job *job = set->results[0]->job;
    const struct ergo_observable *observable = &job->sampler->info->observables[o];
    struct ergo_plot_series series[COLORS];
    char alt[160];
    const size_t all = set->n_members;
    size_t used = 0;
    struct ergo_plot plot = {.alt = alt,
                             .x_name = axis->name,
                             .x_unit = job->keys[axis->key]->unit,
                             .x_log = axis->log,
                             .x_zero = axis->zero,
                             .y_name = observable->name,
                             .y_unit = observable->unit,
                             .shade = NAN,
                             .series = series};
    /* more runs than colours, or one point in each: one colour for all of them */
    const bool apart = set->count <= COLORS && all > set->count;
    for (size_t r = 0; r < set->count; r++) {
        double *x = room + used, *y = x + all, *error = y + all;
        const size_t n = fill(set->results[r], axis, o, x, y, error);
        used += n;
        if (apart || r == 0)
            series[plot.n_series++] =
                (struct ergo_plot_series){.mark = ERGO_MARK_POINTS,
                                          .color = (unsigned)r,
                                          .label = apart ? set->directories[r] : NULL,
                                          .n = n,
                                          .x = x,
                                          .y = y,
                                          .error = error};
        else
            series[0].n += n;
    }
    snprintf(alt, sizeof alt, "%s against %s, %zu runs", observable->name, axis->name, set->count);
    ergo_report_figure(text, &plot, observable->name, NULL);
}

static enum ergo_status append_set(struct ergo_context *ctx, struct ergo_text *text,
                                   const struct set *set) {
    const struct ergo_sampler_info *info = set->results[0]->job->sampler->info;
    struct axis axis;
    /* x of all points, then y of all, then their errors */
    double *room = calloc(3 * set->n_members, sizeof *room);
    if (!room)
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for a report");
    if (choose_axis(set, room, &axis)) {
        ergo_text_append(text, "<h2>%zu runs of %s together</h2>\n<div class=\"grid\">\n",
                         set->count, info->name);
        for (size_t o = 0; o < info->n_observables; o++)
            if (ergo_observable_shown(&info->observables[o], set->results[0]->members[0].point))
                append_figure(text, set, &axis, o, room);
        ergo_text_append(text, "</div>\n");
    }
    free(room);
    return ERGO_OK;
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
