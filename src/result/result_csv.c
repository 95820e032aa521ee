/* Points and means of one result or several as CSV (RFC 4180). */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/entry.h"
#include "base/utf8.h"
#include "result/format.h"

/* A parameter or an observable. Results that have it under the same name and unit share it. */
struct column {
    char *name; /* owned */
    const char *unit;
    bool exact, reference; /* of an observable: some point has one */
};

struct columns {
    size_t count;
    struct column *columns; /* owned */
};

struct csv {
    struct ergo_context *ctx;
    const struct ergo_result *const *results;
    const char *const *names;
    size_t n_results;
    struct columns parameters, observables;
    struct ergo_text text;
};

/* ---- cells; each begins with its comma ------------------------------------------------------- */

static void put_text(struct ergo_text *text, const char *cell) {
    ergo_text_append(text, ",");
    ergo_text_append_cell(text, cell);
}

/* ",energy.error [J per site]" */
static void put_title(struct ergo_text *text, const char *name, const char *suffix,
                      const char *unit) {
    struct ergo_text title = {0};
    ergo_text_append(&title, "%s%s", name, suffix);
    if (*unit)
        ergo_text_append(&title, " [%s]", unit);
    text->failed = text->failed || title.failed;
    put_text(text, title.failed ? "" : title.data);
    ergo_text_free(&title);
}

/* The value of a key at a point; nothing where the job has no such key. */
static enum ergo_status put_value(struct csv *csv, struct ergo_text *text,
                                  const struct ergo_result *r, enum ergo_result_part part,
                                  size_t row, const char *pointer) {
    struct ergo_result_value value = {.number = NAN};
    enum ergo_status status = ERGO_OK;
    if (ergo_format_key(r->job, pointer))
        status = ergo_result_get_value(csv->ctx, r, part, row, pointer, &value);
    if (status != ERGO_OK)
        return status;
    if (value.kind == ERGO_VALUE_SEED)
        ergo_text_append(text, ",%" PRIu64, value.seed);
    else if (value.kind == ERGO_VALUE_TEXT)
        put_text(text, value.text);
    else
        ergo_text_append_cell_number(text, value.number);
    return ERGO_OK;
}

/* ---- which columns --------------------------------------------------------------------------- */

/* NULL: no memory, and the text has failed. */
static struct column *add(struct csv *csv, struct columns *list, const char *name,
                          const char *unit) {
    unit = unit ? unit : "";
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->columns[i].name, name) == 0 && strcmp(list->columns[i].unit, unit) == 0)
            return &list->columns[i];
    struct column *grown = realloc(list->columns, (list->count + 1) * sizeof *grown);
    char *copy = grown ? strdup(name) : NULL;
    list->columns = grown ? grown : list->columns;
    csv->text.failed = csv->text.failed || !copy;
    if (!copy)
        return NULL;
    grown[list->count] = (struct column){.name = copy, .unit = unit};
    return &grown[list->count++];
}

/* Adds the key as a parameter if the first points of a result and of the first one differ by it. */
static enum ergo_status add_difference(struct csv *csv, const struct ergo_result *r,
                                       const struct ergo_key *key, const char *pointer) {
    struct ergo_text here = {0}, first = {0};
    enum ergo_status status = put_value(csv, &here, r, ERGO_RESULT_POINTS, 0, pointer);
    if (status == ERGO_OK)
        status = put_value(csv, &first, csv->results[0], ERGO_RESULT_POINTS, 0, pointer);
    csv->text.failed = csv->text.failed || here.failed || first.failed;
    if (status == ERGO_OK && !csv->text.failed && strcmp(here.data, first.data) != 0)
        add(csv, &csv->parameters, pointer, key->unit);
    ergo_text_free(&here);
    ergo_text_free(&first);
    return status;
}

/* What is scanned, and what else makes the chains of the results differ. */
static enum ergo_status add_parameters(struct csv *csv, const struct ergo_result *r) {
    const struct ergo_job *job = r->job;
    enum ergo_status status = ERGO_OK;
    for (size_t i = 0; i < ergo_result_count(r, ERGO_RESULT_PARAMETERS) && status == ERGO_OK; i++) {
        struct ergo_result_name name;
        status = ergo_result_get_name(csv->ctx, r, ERGO_RESULT_PARAMETERS, i, &name);
        if (status == ERGO_OK)
            add(csv, &csv->parameters, name.name, name.unit);
    }
    if (!r->n_members || !csv->results[0]->n_members)
        return status;
    for (size_t k = 0; k < job->n_keys && status == ERGO_OK; k++) {
        const struct ergo_key *key = job->keys[k];
        const enum ergo_key_type type = ergo_value_type(key, &r->members[0].point->values[k]);
        const bool list = type == ERGO_KEY_SIZE || type == ERGO_KEY_REALS;
        if (!(key->flags & ERGO_KEY_CHAIN) && strcmp(key->pointer, "/seed") != 0)
            continue;
        for (int i = 0; i < (list ? ERGO_DIM_MAX : 1) && status == ERGO_OK; i++) {
            char pointer[128];
            snprintf(pointer, sizeof pointer, list ? "%s/%d" : "%s", key->pointer, i);
            status = add_difference(csv, r, key, pointer);
        }
    }
    return status;
}

/* An observable of a result, as some of its points or means have it. */
static enum ergo_status add_observable(struct csv *csv, const struct ergo_result *r,
                                       enum ergo_result_part part, size_t o) {
    struct ergo_result_name name;
    enum ergo_status status = ergo_result_get_name(csv->ctx, r, ERGO_RESULT_OBSERVABLES, o, &name);
    for (size_t row = 0; row < ergo_result_count(r, part) && status == ERGO_OK; row++) {
        struct ergo_result_estimate e;
        status = ergo_result_get_estimate(csv->ctx, r, part, row, o, &e);
        struct column *column =
            status == ERGO_OK && e.present ? add(csv, &csv->observables, name.name, e.unit) : NULL;
        if (!column)
            continue;
        column->exact = column->exact || !isnan(e.exact);
        column->reference = column->reference || !isnan(e.reference);
    }
    return status;
}

static enum ergo_status add_columns(struct csv *csv, const struct ergo_result *r) {
    enum ergo_status status = add_parameters(csv, r);
    for (size_t o = 0; o < ergo_result_count(r, ERGO_RESULT_OBSERVABLES) && status == ERGO_OK;
         o++) {
        status = add_observable(csv, r, ERGO_RESULT_POINTS, o);
        if (status == ERGO_OK)
            status = add_observable(csv, r, ERGO_RESULT_MEANS, o);
    }
    return status;
}

/* ---- lines ----------------------------------------------------------------------------------- */

/* The line that began there is whole: its first comma goes. */
static void end_line(struct ergo_text *text, size_t begin) {
    ergo_text_append(text, "\n");
    if (text->failed)
        return;
    memmove(text->data + begin, text->data + begin + 1, text->length - begin);
    text->length--;
}

/* Of all results, else "steps". */
static const char *step_unit(const struct csv *csv) {
    const char *unit = csv->results[0]->job->sampler->step_name;
    for (size_t i = 1; i < csv->n_results; i++)
        if (strcmp(csv->results[i]->job->sampler->step_name, unit) != 0)
            return "steps";
    return unit;
}

static void put_head(struct csv *csv) {
    struct ergo_text *text = &csv->text;
    const size_t begin = text->length;
    const char *steps = step_unit(csv);
    if (csv->names)
        put_text(text, "run");
    for (size_t i = 0; i < csv->parameters.count; i++)
        put_title(text, csv->parameters.columns[i].name, "", csv->parameters.columns[i].unit);
    put_text(text, "replica");
    put_title(text, "steps", "", steps);
    put_text(text, "digest");
    for (size_t i = 0; i < csv->observables.count; i++) {
        const struct column *c = &csv->observables.columns[i];
        put_title(text, c->name, "", c->unit);
        put_title(text, c->name, ".error", c->unit);
        put_title(text, c->name, ".tau", steps);
        put_title(text, c->name, ".untrusted", "");
        if (c->exact)
            put_title(text, c->name, ".exact", c->unit);
        if (c->reference) {
            put_title(text, c->name, ".reference", c->unit);
            put_title(text, c->name, ".reference_error", c->unit);
        }
    }
    end_line(text, begin);
}

static void put_estimate(struct ergo_text *text, const struct column *column,
                         const struct ergo_result_estimate *e) {
    ergo_text_append_cell_number(text, e->mean);
    ergo_text_append_cell_number(text, e->error);
    ergo_text_append_cell_number(text, e->tau);
    put_text(text, e->untrusted ? e->untrusted : "");
    if (column->exact)
        ergo_text_append_cell_number(text, e->exact);
    if (column->reference) {
        ergo_text_append_cell_number(text, e->reference);
        ergo_text_append_cell_number(text, e->reference_error);
    }
}

/* `number`: of the observable in this result; SIZE_MAX: it has none of this name. */
static enum ergo_status put_observable(struct csv *csv, const struct ergo_result *r,
                                       enum ergo_result_part part, size_t row,
                                       const struct column *column, size_t number) {
    struct ergo_result_estimate e = {.present = false};
    enum ergo_status status = ERGO_OK;
    if (number != SIZE_MAX)
        status = ergo_result_get_estimate(csv->ctx, r, part, row, number, &e);
    if (!e.present || strcmp(e.unit, column->unit) != 0)
        e = (struct ergo_result_estimate){.mean = NAN,
                                          .error = NAN,
                                          .tau = NAN,
                                          .exact = NAN,
                                          .reference = NAN,
                                          .reference_error = NAN};
    put_estimate(&csv->text, column, &e);
    return status;
}

/* numbers: of each column's observable in result k. */
static enum ergo_status put_row(struct csv *csv, size_t k, enum ergo_result_part part, size_t row,
                                const size_t *numbers) {
    const struct ergo_result *r = csv->results[k];
    struct ergo_text *text = &csv->text;
    const size_t begin = text->length;
    struct ergo_result_point point;
    enum ergo_status status = ergo_result_get_point(csv->ctx, r, part, row, &point);
    if (status != ERGO_OK)
        return status;
    if (csv->names)
        put_text(text, csv->names[k]);
    for (size_t i = 0; i < csv->parameters.count && status == ERGO_OK; i++)
        status = put_value(csv, text, r, part, row, csv->parameters.columns[i].name);
    if (part == ERGO_RESULT_MEANS)
        put_text(text, "mean");
    else
        ergo_text_append(text, ",%" PRIu32, point.replica);
    ergo_text_append(text, ",%" PRIu64 ",", point.steps);
    if (point.digest)
        ergo_text_append(text, "%016" PRIx64, point.digest);
    for (size_t i = 0; i < csv->observables.count && status == ERGO_OK; i++)
        status = put_observable(csv, r, part, row, &csv->observables.columns[i], numbers[i]);
    end_line(text, begin);
    return status;
}

static void find_numbers(struct csv *csv, const struct ergo_result *r, size_t *numbers) {
    for (size_t i = 0; i < csv->observables.count; i++) {
        numbers[i] = SIZE_MAX;
        for (size_t o = 0; o < ergo_result_count(r, ERGO_RESULT_OBSERVABLES); o++) {
            struct ergo_result_name name;
            if (ergo_result_get_name(csv->ctx, r, ERGO_RESULT_OBSERVABLES, o, &name) == ERGO_OK &&
                strcmp(name.name, csv->observables.columns[i].name) == 0)
                numbers[i] = o;
        }
    }
}

/* The chains of a scan point, then their mean. */
static enum ergo_status put_result(struct csv *csv, size_t k) {
    const struct ergo_result *r = csv->results[k];
    size_t *numbers = malloc((csv->observables.count + 1) * sizeof *numbers);
    enum ergo_status status = ERGO_OK;
    size_t mean = 0;
    csv->text.failed = csv->text.failed || !numbers;
    if (!numbers)
        return ERGO_OK;
    find_numbers(csv, r, numbers);
    for (size_t i = 0; i < r->n_members && status == ERGO_OK; i++) {
        status = put_row(csv, k, ERGO_RESULT_POINTS, i, numbers);
        if (status == ERGO_OK && mean < r->n_means &&
            i + 1 == r->means[mean].first + r->means[mean].replicas)
            status = put_row(csv, k, ERGO_RESULT_MEANS, mean++, numbers);
    }
    free(numbers);
    return status;
}

static void free_columns(struct columns *list) {
    for (size_t i = 0; i < list->count; i++)
        free(list->columns[i].name);
    free(list->columns);
}

enum ergo_status ergo_result_csv(struct ergo_context *ctx, const struct ergo_result *const *results,
                                 const char *const *names, size_t n_results, char **text) {
    ERGO_CLEAR(text);
    ERGO_ENTRY(ctx, results, text);
    struct csv csv = {.ctx = ctx, .results = results, .names = names, .n_results = n_results};
    enum ergo_status status =
        names ? ergo_entry_texts(ctx, __func__, "names", names, n_results) : ERGO_OK;
    if (status == ERGO_OK && !n_results)
        status = ERGO_FAIL(ctx, ERGO_E_JOB, "a table needs at least one result");
    for (size_t k = 0; k < n_results && status == ERGO_OK; k++)
        status = results[k] ? add_columns(&csv, results[k])
                            : ERGO_FAIL(ctx, ERGO_E_JOB, "%s: results[%zu] is NULL", __func__, k);
    if (status == ERGO_OK)
        put_head(&csv);
    for (size_t k = 0; k < n_results && status == ERGO_OK; k++)
        status = put_result(&csv, k);
    if (status == ERGO_OK && !(*text = ergo_utf8_take_shown(&csv.text)))
        status = ERGO_FAIL(ctx, ERGO_E_MEMORY, "making a table of results: out of memory");
    ergo_text_free(&csv.text);
    free_columns(&csv.parameters);
    free_columns(&csv.observables);
    return status;
}
