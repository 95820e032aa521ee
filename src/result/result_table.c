/* The table of results, for a terminal. */
#include "result/format.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/entry.h"
#include "base/utf8.h"

enum { ROWS_MAX = 40, COLUMNS_MAX = 32, WIDTH_MAX = 158, OBSERVABLES_MAX = 6 };

enum cell {
    CELL_SCANNED,
    CELL_REPLICA,
    CELL_VALUE,
    CELL_EXACT,
    CELL_Z,
    CELL_REFERENCE,
    CELL_REFERENCE_Z,
    CELL_TAU
};

struct column {
    enum cell cell;
    size_t index; /* of the scanned parameter or the observable */
    char title[ERGO_CONCISE];
    size_t width;
};

/* A chain, or the mean over the replicas of a point. */
struct row {
    const struct ergo_member_result *member; /* of a mean: its first member */
    const struct ergo_mean_result *mean;     /* NULL: a chain */
};

struct table {
    const struct ergo_result *result;
    size_t n_columns, n_rows;
    struct row rows[ROWS_MAX];
    struct column columns[COLUMNS_MAX];
};

static const char *format_cell(char buffer[ERGO_CONCISE], const struct column *column,
                               const struct row *row) {
    const struct ergo_member_result *member = row->member;
    const struct ergo_observable_result *o =
        row->mean ? &row->mean->observables[column->index] : &member->observables[column->index];
    switch (column->cell) {
    case CELL_SCANNED:
        return ergo_format_short(buffer, member->point->scanned[column->index].value, 9);
    case CELL_REPLICA:
        if (row->mean)
            return "mean";
        return ergo_format_short(buffer, (double)member->point->replica, 9);
    case CELL_VALUE:
        return ergo_format_concise(buffer, o->estimate.mean, o->estimate.error);
    case CELL_EXACT:
        return ergo_format_short(buffer, o->exact, 7);
    case CELL_Z:
        return ergo_format_fixed(buffer, o->z, 1);
    case CELL_REFERENCE:
        return o->reference_error > 0
                   ? ergo_format_concise(buffer, o->reference, o->reference_error)
                   : "-";
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
        length = strlen(format_cell(buffer, &column, &table->rows[m]));
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

/* An exact value that is not the job's own (the density where N and V are given): a test of the
 * run. */
static bool has_exact(const struct ergo_result *result, size_t o) {
    for (size_t m = 0; m < result->n_members; m++) {
        const struct ergo_observable_result *r = &result->members[m].observables[o];
        if (!isnan(r->exact) && !ergo_format_is_given(r))
            return true;
    }
    return false;
}

static bool has_reference(const struct ergo_result *result, size_t o) {
    for (size_t m = 0; m < result->n_members; m++)
        if (result->members[m].observables[o].reference_error > 0)
            return true;
    return false;
}

/* Has any row a value? What a curve that was not measured would tell has none. */
static bool has_value(const struct table *table, size_t o) {
    for (size_t r = 0; r < table->n_rows; r++) {
        const struct row *row = &table->rows[r];
        const struct ergo_observable_result *all =
            row->mean ? row->mean->observables : row->member->observables;
        if (!isnan(all[o].estimate.mean))
            return true;
    }
    return false;
}

/* Adds value, and where known the exact value and z, or z against a reference. Adds all of these or
 * none. width: the widest table. */
static bool add_observable(struct table *table, size_t o, bool exact, size_t width) {
    const char *name = table->result->job->model->observables[o].name;
    size_t before = table->n_columns;
    if (before + 4 > COLUMNS_MAX)
        return false;
    table->columns[table->n_columns++] = make_column(table, CELL_VALUE, o, name);
    if (exact) {
        table->columns[table->n_columns++] = make_column(table, CELL_EXACT, o, "exact");
        table->columns[table->n_columns++] = make_column(table, CELL_Z, o, "z");
    } else if (has_reference(table->result, o)) {
        table->columns[table->n_columns++] = make_column(table, CELL_REFERENCE, o, "reference");
        table->columns[table->n_columns++] = make_column(table, CELL_REFERENCE_Z, o, "z(ref)");
    }
    if (width_of(table) <= width)
        return true;
    table->n_columns = before;
    return false;
}

static bool has_tau(const struct table *table, size_t o) {
    const struct column column = {.cell = CELL_TAU, .index = o};
    char buffer[ERGO_CONCISE];
    for (size_t r = 0; r < table->n_rows; r++)
        if (strcmp(format_cell(buffer, &column, &table->rows[r]), "-") != 0)
            return true;
    return false;
}

/* tau of the first sampled observable that has one, usually the energy. */
static void add_tau(struct table *table) {
    const struct ergo_observable *observables = table->result->job->model->observables;
    char title[ERGO_CONCISE];
    size_t first = COLUMNS_MAX, of = COLUMNS_MAX;
    for (size_t c = table->n_columns; c-- > 0;) {
        if (table->columns[c].cell != CELL_VALUE ||
            !ergo_observable_sampled(&observables[table->columns[c].index]))
            continue;
        first = c;
        of = has_tau(table, table->columns[c].index) ? c : of;
    }
    of = of < COLUMNS_MAX ? of : first;
    if (of == COLUMNS_MAX || table->n_columns == COLUMNS_MAX)
        return;
    of = table->columns[of].index;
    snprintf(title, sizeof title, "tau(%.40s)", observables[of].name);
    table->columns[table->n_columns++] = make_column(table, CELL_TAU, of, title);
}

/* Of the names that were asked for all, else some of the model's first ones. */
static enum ergo_status choose_columns(struct ergo_context *ctx, struct table *table,
                                       const char *const *names, size_t n_names) {
    const struct ergo_result *result = table->result;
    const struct ergo_model *model = result->job->model;
    const struct ergo_point *first = result->members[0].point;
    char title[ERGO_CONCISE];
    size_t shown = 0;

    for (size_t i = 0; i < first->n_scanned && table->n_columns < COLUMNS_MAX; i++)
        table->columns[table->n_columns++] = make_column(
            table, CELL_SCANNED, i, ergo_format_pointer(title, first->scanned[i].pointer));
    if (result->n_means && table->n_columns < COLUMNS_MAX)
        table->columns[table->n_columns++] = make_column(table, CELL_REPLICA, 0, "replica");
    for (size_t k = 0; k < n_names; k++) {
        size_t o = 0;
        while (o < model->n_observables && strcmp(model->observables[o].name, names[k]) != 0)
            o++;
        for (size_t c = 0; c < model->n_curves && o == model->n_observables; c++)
            if (!strcmp(model->curves[c].name, names[k]))
                return ERGO_FAIL(ctx, ERGO_E_JOB,
                                 "--observable: \"%s\" is a curve: ergocl table DIR --curve %s",
                                 names[k], names[k]);
        if (o == model->n_observables || !ergo_observable_shown(&model->observables[o], first))
            return ERGO_FAIL(ctx, ERGO_E_JOB,
                             "--observable: the run has no observable \"%s\"; `ergocl help %s%s%s` "
                             "lists them",
                             names[k], result->job->sampler->name, model->name ? " " : "",
                             model->name ? model->name : "");
        if (!add_observable(table, o, has_exact(result, o), SIZE_MAX))
            return ERGO_FAIL(ctx, ERGO_E_JOB,
                             "--observable: too many for a table; --csv has all of them");
    }
    /* first what has an exact value, then what has a reference, then the others */
    for (int known = 2; known >= 0 && !n_names; known--) {
        for (size_t o = 0; o < model->n_observables && shown < OBSERVABLES_MAX; o++) {
            const int is = has_exact(result, o) ? 2 : has_reference(result, o);
            if (ergo_observable_shown(&model->observables[o], first) && is == known &&
                has_value(table, o) &&
                add_observable(table, o, known == 2, WIDTH_MAX - 24)) /* tau comes last */
                shown++;
        }
    }
    add_tau(table);
    return ERGO_OK;
}

/* What else was measured, by name: readers cannot ask for what they do not know of. */
static void append_others(struct ergo_text *text, const struct table *table) {
    const struct ergo_result *result = table->result;
    static const char first[] = "also measured (ergocl table DIR --observable NAME): ";
    const struct ergo_model *model = result->job->model;
    size_t width = 0;
    for (size_t o = 0; o < model->n_observables; o++) {
        const char *name = model->observables[o].name;
        bool shown = !ergo_observable_shown(&model->observables[o], result->members[0].point) ||
                     !has_value(table, o);
        for (size_t c = 0; c < table->n_columns && !shown; c++)
            shown = table->columns[c].cell == CELL_VALUE && table->columns[c].index == o;
        if (shown)
            continue;
        const char *before = width ? ", " : first;
        if (width && width + strlen(name) + 3 > WIDTH_MAX) {
            before = ",\n  ";
            width = 0;
        }
        ergo_text_append(text, "%s%s", before, name);
        width += strlen(before) + strlen(name);
    }
    ergo_text_append(text, "%s", width ? "\n" : "");
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
                             format_cell(buffer, &table->columns[c], &table->rows[m]));
        ergo_text_append(text, "\n");
    }
}

static void append_chi2(struct ergo_text *text, const struct ergo_result *result) {
    const struct ergo_model *model = result->job->model;
    struct ergo_text list = {0};
    bool any_exact = false, any_published = false, exact, published;
    for (size_t o = 0; o < model->n_observables; o++) {
        double chi2;
        size_t count = ergo_format_chi2(result, o, &chi2, &exact, &published);
        if (!count || !ergo_observable_shown(&model->observables[o], result->members[0].point))
            continue;
        ergo_text_append(&list, "%s%s %.1f/%zu", list.length ? ", " : "",
                         model->observables[o].name, chi2, count);
        any_exact |= exact;
        any_published |= published;
    }
    if (list.length)
        ergo_text_append(text, "chi2/dof against %s%s%s values: %s\n", any_exact ? "exact" : "",
                         any_exact && any_published ? " and " : "",
                         any_published ? "reference" : "", list.data);
    text->failed |= list.failed;
    ergo_text_free(&list);
}

static void append_merit(struct ergo_text *text, const struct ergo_result *result) {
    const char *step = result->job->sampler->step_name;
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

/* Rows: the chains of a point, then their mean; if they do not fit, the means alone. Returns how
 * many there would be. */
static size_t choose_rows(struct table *table) {
    const struct ergo_result *result = table->result;
    const bool chains = !result->n_means || result->n_members + result->n_means <= ROWS_MAX;
    size_t n = 0, next = 0;
    for (size_t m = 0; m < result->n_members; m++) {
        const struct ergo_mean_result *mean = next < result->n_means ? &result->means[next] : NULL;
        if (chains && ergo_result_has(result, m) && n++ < ROWS_MAX)
            table->rows[table->n_rows++] = (struct row){&result->members[m], NULL};
        if (!mean || m + 1 < mean->first + mean->replicas)
            continue;
        next++;
        if ((mean->measured || !result->n_parts) && n++ < ROWS_MAX)
            table->rows[table->n_rows++] = (struct row){&result->members[mean->first], mean};
    }
    return n;
}

/* Is anything measured? Else the table is left out, and a warning says what happened. */
static bool is_measured(const struct ergo_result *result) {
    for (size_t m = 0; m < result->n_members; m++)
        if (ergo_member_measured(&result->members[m]))
            return true;
    return false;
}

static enum ergo_status make_table(struct ergo_context *ctx, const struct ergo_result *result,
                                   const char *const *names, size_t n_names, char **text) {
    struct ergo_text out = {0};
    struct table table = {.result = result};
    if (!result->n_members) {
        ergo_text_append(&out, "no points\n");
    } else if (is_measured(result)) {
        const size_t rows = choose_rows(&table);
        const enum ergo_status status = choose_columns(ctx, &table, names, n_names);
        if (status != ERGO_OK)
            return status;
        append_rows(&out, &table);
        if (rows > table.n_rows)
            ergo_text_append(&out, "... %zu more in result.json\n", rows - table.n_rows);
        if (result->n_means && !table.rows[0].mean)
            ergo_text_append(&out, "mean: over the replicas of a point\n");
        else if (result->n_means)
            ergo_text_append(&out, "means over the replicas of each point, which are in "
                                   "result.json\n");
        if (!n_names)
            append_others(&out, &table);
        append_chi2(&out, result);
        append_merit(&out, result);
        if (result->comparison)
            ergo_text_append(&out, "%s\n", result->comparison);
    }
    for (size_t w = 0; w < result->n_warnings; w++)
        ergo_text_append(&out, "warning: %s\n", result->warnings[w]);
    *text = ergo_utf8_take_shown(&out);
    if (!*text)
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "making the table of results: out of memory");
    return ERGO_OK;
}

enum ergo_status ergo_result_table(struct ergo_context *ctx, const struct ergo_result *result,
                                   char **text) {
    ERGO_CLEAR(text);
    ERGO_ENTRY(ctx, result, text);
    return make_table(ctx, result, NULL, 0, text);
}

enum ergo_status ergo_result_table_of(struct ergo_context *ctx, const struct ergo_result *result,
                                      const char *const *names, size_t n_names, char **text) {
    ERGO_CLEAR(text);
    ERGO_ENTRY(ctx, result, names, text);
    const enum ergo_status status = ergo_entry_texts(ctx, __func__, "names", names, n_names);
    return status == ERGO_OK ? make_table(ctx, result, names, n_names, text) : status;
}
