/* The table a terminal shows after a run. */
#include "io/format.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS_MAX = 40, COLUMNS_MAX = 32, WIDTH_MAX = 158, OBSERVABLES_MAX = 6 };

enum cell {
    CELL_SCANNED,
    CELL_REPLICA,
    CELL_VALUE,
    CELL_EXACT,
    CELL_Z,
    CELL_REFERENCE_Z,
    CELL_TAU
};

struct column {
    enum cell cell;
    size_t index; /* of the scanned parameter or the observable */
    char title[ERGO_CONCISE];
    size_t width;
};

struct table {
    const struct ergo_result *result;
    size_t n_columns, n_rows;
    struct column columns[COLUMNS_MAX];
};

static const char *format_cell(char buffer[ERGO_CONCISE], const struct column *column,
                               const struct ergo_member_result *member) {
    const struct ergo_observable_result *o = &member->observables[column->index];
    switch (column->cell) {
    case CELL_SCANNED:
        return ergo_format_short(buffer, member->point->scanned[column->index].value, 9);
    case CELL_REPLICA:
        return ergo_format_short(buffer, (double)member->point->replica, 9);
    case CELL_VALUE:
        return ergo_format_concise(buffer, o->estimate.mean, o->estimate.error);
    case CELL_EXACT:
        return ergo_format_short(buffer, o->exact, 7);
    case CELL_Z:
        return ergo_format_fixed(buffer, o->z, 1);
    case CELL_REFERENCE_Z:
        return o->reference_error > 0 ? ergo_format_fixed(buffer, o->reference_z, 1) : "-";
    case CELL_TAU:
        break;
    }
    const double every = (double)member->measure_every;
    return ergo_format_concise(buffer, o->estimate.tau * every, o->estimate.tau_error * every);
}

/* A column as wide as its widest cell among the rows shown. */
static struct column make_column(const struct table *table, enum cell cell, size_t index,
                                 const char *title) {
    struct column column = {.cell = cell, .index = index};
    char buffer[ERGO_CONCISE];
    size_t length = strlen(title) < ERGO_CONCISE ? strlen(title) : ERGO_CONCISE - 1;
    memcpy(column.title, title, length);
    column.width = length;
    for (size_t m = 0; m < table->n_rows; m++) {
        length = strlen(format_cell(buffer, &column, &table->result->members[m]));
        column.width = length > column.width ? length : column.width;
    }
    return column;
}

static size_t width_of(const struct table *table) {
    size_t width = 0;
    for (size_t c = 0; c < table->n_columns; c++)
        width += table->columns[c].width + 2;
    return width;
}

static bool has_exact(const struct ergo_result *result, size_t o) {
    for (size_t m = 0; m < result->n_members; m++)
        if (!isnan(result->members[m].observables[o].exact))
            return true;
    return false;
}

static bool has_reference(const struct ergo_result *result, size_t o) {
    for (size_t m = 0; m < result->n_members; m++)
        if (result->members[m].observables[o].reference_error > 0)
            return true;
    return false;
}

/* Value, and where known exact and z, or z against a reference: all or nothing. */
static bool add_observable(struct table *table, size_t o, bool exact) {
    const char *name = table->result->job->sampler->info->observables[o].name;
    size_t before = table->n_columns;
    if (before + 4 > COLUMNS_MAX)
        return false;
    table->columns[table->n_columns++] = make_column(table, CELL_VALUE, o, name);
    if (exact) {
        table->columns[table->n_columns++] = make_column(table, CELL_EXACT, o, "exact");
        table->columns[table->n_columns++] = make_column(table, CELL_Z, o, "z");
    } else if (has_reference(table->result, o)) {
        table->columns[table->n_columns++] = make_column(table, CELL_REFERENCE_Z, o, "z(ref)");
    }
    if (width_of(table) <= WIDTH_MAX - 24) /* tau comes last */
        return true;
    table->n_columns = before;
    return false;
}

static void choose_columns(struct table *table) {
    const struct ergo_result *result = table->result;
    const struct ergo_sampler_info *info = result->job->sampler->info;
    const struct ergo_point *first = result->members[0].point;
    char title[ERGO_CONCISE];
    size_t shown = 0, tau_of = info->n_observables;
    bool replicas = false;

    for (size_t m = 0; m < result->n_members; m++)
        replicas |= result->members[m].point->replica > 0;
    for (size_t i = 0; i < first->n_scanned; i++)
        table->columns[table->n_columns++] = make_column(
            table, CELL_SCANNED, i, ergo_format_pointer(title, first->scanned[i].pointer));
    if (replicas)
        table->columns[table->n_columns++] = make_column(table, CELL_REPLICA, 0, "replica");
    /* what can be compared with an exact value, with a reference, with nothing */
    for (int known = 2; known >= 0; known--) {
        for (size_t o = 0; o < info->n_observables && shown < OBSERVABLES_MAX; o++) {
            const int is = has_exact(result, o) ? 2 : has_reference(result, o);
            if (!ergo_observable_shown(&info->observables[o], first) || is != known)
                continue;
            if (!add_observable(table, o, known == 2))
                continue;
            shown++;
            /* tau of the first one that is sampled, not derived: usually the energy */
            if (tau_of == info->n_observables && info->observables[o].sample)
                tau_of = o;
        }
    }
    if (tau_of < info->n_observables && table->n_columns < COLUMNS_MAX) {
        snprintf(title, sizeof title, "tau(%.40s)", info->observables[tau_of].name);
        table->columns[table->n_columns++] = make_column(table, CELL_TAU, tau_of, title);
    }
}

static void append_rows(struct ergo_text *text, const struct table *table) {
    char buffer[ERGO_CONCISE];
    for (size_t c = 0; c < table->n_columns; c++)
        ergo_text_append(text, "%s%*s", c ? "  " : "", (int)table->columns[c].width,
                         table->columns[c].title);
    ergo_text_append(text, "\n");
    for (size_t m = 0; m < table->n_rows; m++) {
        for (size_t c = 0; c < table->n_columns; c++)
            ergo_text_append(text, "%s%*s", c ? "  " : "", (int)table->columns[c].width,
                             format_cell(buffer, &table->columns[c], &table->result->members[m]));
        ergo_text_append(text, "\n");
    }
    if (table->n_rows < table->result->n_members)
        ergo_text_append(text, "... %zu more in result.json\n",
                         table->result->n_members - table->n_rows);
}

static void append_chi2(struct ergo_text *text, const struct ergo_result *result) {
    const struct ergo_sampler_info *info = result->job->sampler->info;
    const char *separator = "chi2/dof against exact values: ";
    bool any = false;
    for (size_t o = 0; o < info->n_observables; o++) {
        double chi2;
        size_t count = ergo_format_chi2(result, o, &chi2);
        if (!count || !ergo_observable_shown(&info->observables[o], result->members[0].point))
            continue;
        ergo_text_append(text, "%s%s %.1f/%zu", separator, info->observables[o].name, chi2, count);
        separator = ", ";
        any = true;
    }
    if (any)
        ergo_text_append(text, "\n");
}

static void append_merit(struct ergo_text *text, const struct ergo_result *result) {
    const char *step = result->job->sampler->info->step_name;
    struct ergo_merit merit;
    char value[ERGO_CONCISE], speed[ERGO_CONCISE], tau[ERGO_CONCISE];
    if (!ergo_format_merit(result, &merit))
        return;
    ergo_text_append(
        text, "independent samples of %s per second: %s%s (%s %ss per second, tau %s %ss)\n",
        merit.observable->name,
        ergo_format_concise(value, merit.independent, merit.independent_error),
        merit.too_short ? "(?)" : "", ergo_format_short(speed, merit.steps_per_second, 4), step,
        ergo_format_concise(tau, merit.tau, merit.tau_error), step);
}

/* ---- a row for all replicas of a point ------------------------------------------------------- */

/* Means over `count` chains, which are independent: their spread is the error. */
static void merge(const struct ergo_member_result *from, size_t count, size_t o,
                  struct ergo_observable_result *to) {
    double mean = 0, tau = 0, tau_error2 = 0, spread = 0;
    for (size_t r = 0; r < count; r++) {
        const struct ergo_estimate *e = &from[r].observables[o].estimate;
        mean += e->mean / (double)count;
        tau += e->tau / (double)count;
        tau_error2 += e->tau_error * e->tau_error;
    }
    for (size_t r = 0; r < count; r++) {
        const double d = from[r].observables[o].estimate.mean - mean;
        spread += d * d;
    }
    *to = from[0].observables[o];
    to->estimate.mean = mean;
    to->estimate.error = sqrt(spread / ((double)count * (double)(count - 1)));
    to->estimate.tau = tau;
    to->estimate.tau_error = sqrt(tau_error2) / (double)count;
    to->z = (mean - to->exact) / to->estimate.error;
    to->reference_error = 0; /* each chain was compared by itself */
}

/* Where the rows do not fit and every point has as many replicas: a row each. false: not so, or no
 * memory. `merged` is for this table alone; its members and what they hold are in *members. */
static bool merge_replicas(const struct ergo_result *result, struct ergo_result *merged,
                           struct ergo_member_result **members) {
    const size_t n_observables = result->job->sampler->info->n_observables;
    size_t count = 0;
    while (count < result->n_members &&
           result->members[count].point->scan_index == result->members[0].point->scan_index)
        count++;
    if (result->n_members <= ROWS_MAX || count < 2 || result->n_members % count)
        return false;
    for (size_t m = 0; m < result->n_members; m++)
        if (result->members[m].point->scan_index !=
            result->members[m - m % count].point->scan_index)
            return false;
    const size_t n = result->n_members / count;
    *members = calloc(n, sizeof **members + n_observables * sizeof(struct ergo_observable_result));
    if (!*members)
        return false;
    struct ergo_observable_result *observables =
        (struct ergo_observable_result *)(void *)(*members + n);
    for (size_t m = 0; m < n; m++) {
        (*members)[m] = result->members[m * count];
        (*members)[m].observables = observables + m * n_observables;
        for (size_t o = 0; o < n_observables; o++)
            merge(&result->members[m * count], count, o, &(*members)[m].observables[o]);
    }
    *merged = *result;
    merged->n_members = n;
    merged->members = *members;
    return true;
}

enum ergo_status ergo_result_table(struct ergo_context *ctx, const struct ergo_result *result,
                                   char **out) {
    struct ergo_text text = {0};
    struct ergo_result merged;
    struct ergo_member_result *members = NULL;
    const bool merges = merge_replicas(result, &merged, &members);
    struct table table = {.result = merges ? &merged : result};
    const size_t rows = table.result->n_members;
    table.n_rows = rows < ROWS_MAX ? rows : ROWS_MAX;
    *out = NULL;
    if (result->n_members) {
        choose_columns(&table);
        append_rows(&text, &table);
        if (merges)
            ergo_text_append(&text,
                             "means of %zu replicas, errors from their spread; each in "
                             "result.json\n",
                             result->n_members / rows);
        append_chi2(&text, result);
        append_merit(&text, result);
        if (result->comparison)
            ergo_text_append(&text, "%s\n", result->comparison);
    } else {
        ergo_text_append(&text, "no points\n");
    }
    for (size_t w = 0; w < result->n_warnings; w++)
        ergo_text_append(&text, "warning: %s\n", result->warnings[w]);
    free(members);
    *out = ergo_text_take(&text);
    if (!*out)
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "making the table of results: out of memory");
    return ERGO_OK;
}
