/* A result as numbers, for the public API: parts are counted, named and handed out. */
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "base/entry.h"
#include "base/text.h"
#include "job/schedule.h"
#include "result/format.h"

static const char *const part_names[] = {
    [ERGO_RESULT_POINTS] = "point",         [ERGO_RESULT_MEANS] = "mean",
    [ERGO_RESULT_PARAMETERS] = "parameter", [ERGO_RESULT_OBSERVABLES] = "observable",
    [ERGO_RESULT_CURVES] = "curve",         [ERGO_RESULT_COLUMNS] = "column",
    [ERGO_RESULT_DEVICES] = "device",       [ERGO_RESULT_WARNINGS] = "warning",
};

/* Two rows of a model's table may share a name, of which a point has one at most: they are one
 * observable here. */
static bool is_listed(const struct ergo_model *model, size_t o) {
    for (size_t before = 0; before < o; before++)
        if (!model->observables[before].hidden &&
            strcmp(model->observables[before].name, model->observables[o].name) == 0)
            return false;
    return !model->observables[o].hidden;
}

/* How many observables or curves there are; *row: of the model's table, for the k-th of them. */
static size_t list(const struct ergo_model *model, enum ergo_result_part part, size_t k,
                   size_t *row) {
    const bool curves = part == ERGO_RESULT_CURVES;
    const size_t n = curves ? model->n_curves : model->n_observables;
    size_t count = 0;
    for (size_t i = 0; i < n; i++) {
        if (curves ? model->curves_hidden >> i & 1 : !is_listed(model, i))
            continue;
        if (count++ == k)
            *row = i;
    }
    return count;
}

size_t ergo_result_count(const struct ergo_result *result, enum ergo_result_part part) {
    size_t row;
    if (!result)
        return 0;
    switch (part) {
    case ERGO_RESULT_POINTS:
        return result->n_members;
    case ERGO_RESULT_MEANS:
        return result->n_means;
    case ERGO_RESULT_PARAMETERS:
        return result->n_members ? result->members[0].point->n_scanned : 0;
    case ERGO_RESULT_OBSERVABLES:
    case ERGO_RESULT_CURVES:
        return list(result->job->model, part, SIZE_MAX, &row);
    case ERGO_RESULT_COLUMNS:
        return result->job->model->n_columns;
    case ERGO_RESULT_DEVICES:
        return result->n_devices ? result->n_devices : 1;
    case ERGO_RESULT_WARNINGS:
        return result->n_warnings;
    }
    return 0;
}

static enum ergo_status check_index(struct ergo_context *ctx, const struct ergo_result *result,
                                    enum ergo_result_part part, size_t index) {
    const size_t count = ergo_result_count(result, part);
    return index < count ? ERGO_OK
                         : ERGO_FAIL(ctx, ERGO_E_JOB, "%s %zu: the result has %zu, from 0",
                                     part_names[part], index, count);
}

/* One of the others of a point. */
static enum ergo_status check_of_point(struct ergo_context *ctx, const struct ergo_result *result,
                                       size_t point, enum ergo_result_part part, size_t index) {
    const enum ergo_status status = check_index(ctx, result, ERGO_RESULT_POINTS, point);
    return status == ERGO_OK ? check_index(ctx, result, part, index) : status;
}

static enum ergo_status check_part(struct ergo_context *ctx, enum ergo_result_part part,
                                   enum ergo_result_part first, enum ergo_result_part last) {
    return part >= first && part <= last
               ? ERGO_OK
               : ERGO_FAIL(ctx, ERGO_E_JOB, "part %d of a result: allowed here: %d to %d",
                           (int)part, (int)first, (int)last);
}

/* Of an index that is right. */
static struct ergo_result_name name_of(const struct ergo_result *result, enum ergo_result_part part,
                                       size_t index) {
    const struct ergo_model *model = result->job->model;
    size_t row = index;
    if (part == ERGO_RESULT_PARAMETERS) {
        const char *pointer = result->members[0].point->scanned[index].pointer;
        const struct ergo_key *key = ergo_format_key(result->job, pointer);
        return (struct ergo_result_name){pointer, key ? key->unit : "", key ? key->help : "", NULL};
    }
    if (part == ERGO_RESULT_COLUMNS) {
        const struct ergo_column *c = &model->columns[index];
        return (struct ergo_result_name){c->name, c->unit, c->help, NULL};
    }
    list(model, part, index, &row);
    if (part == ERGO_RESULT_CURVES) {
        const struct ergo_curve_info *c = &model->curves[row];
        return (struct ergo_result_name){c->name, c->unit, c->help, c->x_label ? c->x_label : ""};
    }
    const struct ergo_observable *o = &model->observables[row];
    return (struct ergo_result_name){o->name, o->unit, o->help, NULL};
}

enum ergo_status ergo_result_get_name(struct ergo_context *ctx, const struct ergo_result *result,
                                      enum ergo_result_part part, size_t index,
                                      struct ergo_result_name *name) {
    ERGO_CLEAR(name);
    ERGO_ENTRY(ctx, result, name);
    enum ergo_status status = check_part(ctx, part, ERGO_RESULT_PARAMETERS, ERGO_RESULT_COLUMNS);
    if (status == ERGO_OK)
        status = check_index(ctx, result, part, index);
    if (status != ERGO_OK)
        return status;
    *name = name_of(result, part, index);
    name->unit = name->unit ? name->unit : "";
    name->help = name->help ? name->help : "";
    return ERGO_OK;
}

enum ergo_status ergo_result_find(struct ergo_context *ctx, const struct ergo_result *result,
                                  enum ergo_result_part part, const char *name, size_t *index) {
    enum { NAMES_MAX = 128 };
    const char *names[NAMES_MAX] = {NULL};
    ERGO_CLEAR(index);
    ERGO_ENTRY(ctx, result, name, index);
    const enum ergo_status status =
        check_part(ctx, part, ERGO_RESULT_PARAMETERS, ERGO_RESULT_COLUMNS);
    if (status != ERGO_OK)
        return status;
    const size_t count = ergo_result_count(result, part);
    for (size_t i = 0; i < count; i++) {
        const char *known = name_of(result, part, i).name;
        if (strcmp(known, name) == 0) {
            *index = i;
            return ERGO_OK;
        }
        if (i < NAMES_MAX)
            names[i] = known;
    }
    const char *near = ergo_text_nearest(name, names, count < NAMES_MAX ? count : NAMES_MAX);
    return ERGO_FAIL(ctx, ERGO_E_JOB, "the result has no %s \"%s\"%s%s%s", part_names[part], name,
                     ERGO_MEANT(near));
}

enum ergo_status ergo_result_get_info(struct ergo_context *ctx, const struct ergo_result *result,
                                      struct ergo_result_info *info) {
    ERGO_CLEAR(info);
    ERGO_ENTRY(ctx, result, info);
    const struct ergo_job *job = result->job;
    const struct ergo_value *seed =
        result->n_members ? ergo_format_value(result->members[0].point, "/seed") : NULL;
    *info = (struct ergo_result_info){
        .name = job->name,
        .job = job->canonical,
        .sampler = job->sampler->name,
        .model = job->model->name,
        .status = result->status,
        .started = result->started,
        .step_unit = job->sampler->step_name,
        .rate_unit = job->sampler->rate_unit,
        .series = ergo_kept_name(result->kept),
        .seed = seed ? seed->seed : 0,
        .rate = result->rate,
        .seconds = result->seconds,
    };
    return ERGO_OK;
}

/* ---- points and means ------------------------------------------------------------------------ */

/* A row of a table: a point, or a mean over `count` of them. */
struct row {
    const struct ergo_member_result *members; /* the first one */
    size_t count;
    const struct ergo_mean_result *mean; /* NULL: a point */
};

static enum ergo_status find_row(struct ergo_context *ctx, const struct ergo_result *result,
                                 enum ergo_result_part part, size_t index, struct row *row) {
    enum ergo_status status = check_part(ctx, part, ERGO_RESULT_POINTS, ERGO_RESULT_MEANS);
    if (status == ERGO_OK)
        status = check_index(ctx, result, part, index);
    if (status != ERGO_OK)
        return status;
    if (part == ERGO_RESULT_POINTS) {
        *row = (struct row){&result->members[index], 1, NULL};
    } else {
        const struct ergo_mean_result *mean = &result->means[index];
        *row = (struct row){&result->members[mean->first], mean->replicas, mean};
    }
    return ERGO_OK;
}

/* Those of a batch that goes on are counted when it ends or stops; till then its samples tell. */
static uint64_t steps_of(const struct ergo_member_result *m) {
    const uint64_t sampled = m->n_samples ? m->lead + m->n_samples * m->measure_every : 0;
    return m->steps > sampled ? m->steps : sampled;
}

enum ergo_status ergo_result_get_point(struct ergo_context *ctx, const struct ergo_result *result,
                                       enum ergo_result_part part, size_t index,
                                       struct ergo_result_point *point) {
    struct row row;
    ERGO_CLEAR(point);
    ERGO_ENTRY(ctx, result, point);
    const enum ergo_status status = find_row(ctx, result, part, index, &row);
    if (status != ERGO_OK)
        return status;
    const struct ergo_member_result *first = row.members;
    *point = (struct ergo_result_point){
        .scan_index = first->point->scan_index,
        .replica = first->point->replica,
        .replicas = (uint32_t)row.count,
        .steps = UINT64_MAX,
        .planned = UINT64_MAX,
    };
    bool begun = false, complete = true;
    for (const struct ergo_member_result *m = first; m < first + row.count; m++) {
        const uint64_t planned = ergo_schedule_of(m->point).total;
        const uint64_t steps = steps_of(m);
        point->measured += ergo_member_measured(m);
        point->steps = steps < point->steps ? steps : point->steps;
        point->planned = planned < point->planned ? planned : point->planned;
        begun = begun || steps;
        complete = complete && m->steps >= planned;
    }
    point->status = complete ? "complete" : begun ? "stopped" : "waiting";
    if (!row.mean) {
        point->digest = first->steps ? first->digest : 0;
        point->stream = first->point->stream;
    }
    return ERGO_OK;
}

static void set_value(struct ergo_result_value *to, const struct ergo_key *key,
                      const struct ergo_value *value) {
    to->number = value->real;
    switch (ergo_value_type(key, value)) {
    case ERGO_KEY_REAL:
    case ERGO_KEY_TIME:
        to->kind = ERGO_VALUE_NUMBER;
        break;
    case ERGO_KEY_INT:
        to->kind = ERGO_VALUE_NUMBER;
        to->number = (double)value->integer;
        break;
    case ERGO_KEY_SEED:
        to->kind = ERGO_VALUE_SEED;
        to->seed = value->seed;
        to->number = (double)value->seed;
        break;
    case ERGO_KEY_BOOL:
        to->kind = ERGO_VALUE_BOOL;
        to->number = value->boolean;
        break;
    case ERGO_KEY_ENUM:
    case ERGO_KEY_STRING:
        to->kind = ERGO_VALUE_TEXT;
        to->number = NAN;
        to->text = value->text;
        break;
    case ERGO_KEY_SIZE:
    case ERGO_KEY_REALS:
        to->kind = ERGO_VALUE_LIST;
        to->number = NAN;
        to->n_items = (size_t)value->items;
        for (size_t i = 0; i < to->n_items; i++)
            to->items[i] = key->type == ERGO_KEY_SIZE ? (double)value->size[i] : value->reals[i];
        break;
    }
}

enum ergo_status ergo_result_get_value(struct ergo_context *ctx, const struct ergo_result *result,
                                       enum ergo_result_part part, size_t index,
                                       const char *pointer, struct ergo_result_value *value) {
    _Static_assert(ERGO_DIM_MAX <= sizeof value->items / sizeof value->items[0], "room for lists");
    struct row row;
    ERGO_CLEAR(value);
    ERGO_ENTRY(ctx, result, pointer, value);
    const enum ergo_status status = find_row(ctx, result, part, index, &row);
    if (status != ERGO_OK)
        return status;
    const struct ergo_point *point = row.members->point;
    value->number = NAN;
    /* what was scanned is kept as it was */
    for (size_t i = 0; i < point->n_scanned; i++)
        if (strcmp(point->scanned[i].pointer, pointer) == 0) {
            value->kind = ERGO_VALUE_NUMBER;
            value->number = point->scanned[i].value;
            return ERGO_OK;
        }
    const struct ergo_key *key = ergo_format_key(result->job, pointer);
    const struct ergo_value *known = key ? ergo_format_value(point, key->pointer) : NULL;
    const bool element = key && strlen(pointer) > strlen(key->pointer);
    if (!known || (element && key->type != ERGO_KEY_SIZE && key->type != ERGO_KEY_REALS &&
                   !(key->flags & ERGO_KEY_LIST)))
        return ERGO_FAIL(ctx, ERGO_E_JOB, "%s is no key of this job", pointer);
    if (known->present)
        set_value(value, key, known);
    if (element && value->kind == ERGO_VALUE_LIST) {
        const size_t at = (size_t)(pointer[strlen(key->pointer) + 1] - '0');
        const bool there = at < value->n_items && !pointer[strlen(key->pointer) + 2];
        const double item = there ? value->items[at] : NAN;
        *value = (struct ergo_result_value){.kind = there ? ERGO_VALUE_NUMBER : ERGO_VALUE_ABSENT,
                                            .number = item};
    }
    return ERGO_OK;
}

/* The model's row by which a point has the observable that is listed as `row`. */
static bool shown_row(const struct ergo_model *model, const struct ergo_point *point, size_t row,
                      size_t *shown) {
    for (size_t o = row; o < model->n_observables; o++)
        if (strcmp(model->observables[o].name, model->observables[row].name) == 0 &&
            ergo_observable_shown(&model->observables[o], point)) {
            *shown = o;
            return true;
        }
    return false;
}

enum ergo_status ergo_result_get_estimate(struct ergo_context *ctx,
                                          const struct ergo_result *result,
                                          enum ergo_result_part part, size_t index,
                                          size_t observable,
                                          struct ergo_result_estimate *estimate) {
    struct row row;
    size_t o = 0;
    ERGO_CLEAR(estimate);
    ERGO_ENTRY(ctx, result, estimate);
    enum ergo_status status = find_row(ctx, result, part, index, &row);
    if (status == ERGO_OK)
        status = check_index(ctx, result, ERGO_RESULT_OBSERVABLES, observable);
    if (status != ERGO_OK)
        return status;
    const struct ergo_model *model = result->job->model;
    const double every = (double)row.members->measure_every;
    list(model, ERGO_RESULT_OBSERVABLES, observable, &o);
    *estimate = (struct ergo_result_estimate){.unit = "",
                                              .mean = NAN,
                                              .error = NAN,
                                              .error_binning = NAN,
                                              .tau = NAN,
                                              .tau_error = NAN,
                                              .exact = NAN,
                                              .z = NAN,
                                              .reference = NAN,
                                              .reference_error = NAN,
                                              .reference_z = NAN,
                                              .error_chains = NAN,
                                              .error_scatter = NAN,
                                              .chi2 = NAN,
                                              .tail = NAN};
    if (!shown_row(model, row.members->point, o, &o))
        return ERGO_OK;
    const struct ergo_observable_result *r =
        row.mean ? &row.mean->observables[o] : &row.members->observables[o];
    estimate->present = true;
    estimate->unit = r->observable->unit ? r->observable->unit : "";
    estimate->mean = r->estimate.mean;
    estimate->error = r->estimate.error;
    estimate->untrusted = ergo_trust_name(r->trust);
    estimate->error_binning = row.mean ? NAN : r->estimate.error_binning;
    estimate->tau = r->estimate.tau * every;
    estimate->tau_error = r->estimate.tau_error * every;
    estimate->samples = r->estimate.samples;
    estimate->exact = r->exact;
    estimate->z = r->z;
    if (r->reference_error > 0) {
        estimate->reference = r->reference;
        estimate->reference_error = r->reference_error;
        estimate->reference_z = r->reference_z;
    }
    if (row.mean) {
        const struct ergo_scatter *s = &row.mean->scatters[o];
        estimate->error_chains = s->error_chains;
        estimate->error_scatter = s->error_scatter;
        estimate->chi2 = s->chi2;
        estimate->tail = s->tail;
        estimate->dof = s->dof;
    }
    return ERGO_OK;
}

/* ---- arrays, devices, warnings --------------------------------------------------------------- */

enum ergo_status ergo_result_get_curve(struct ergo_context *ctx, const struct ergo_result *result,
                                       size_t point, size_t curve,
                                       struct ergo_result_curve *values) {
    size_t c = 0;
    ERGO_CLEAR(values);
    ERGO_ENTRY(ctx, result, values);
    const enum ergo_status status = check_of_point(ctx, result, point, ERGO_RESULT_CURVES, curve);
    if (status != ERGO_OK)
        return status;
    list(result->job->model, ERGO_RESULT_CURVES, curve, &c);
    const struct ergo_curve_result *r = &result->members[point].curves[c];
    if (r->size)
        *values = (struct ergo_result_curve){r->size,  r->x,           r->mean,
                                             r->error, r->reference_z, ergo_trust_name(r->trust)};
    return ERGO_OK;
}

enum ergo_status ergo_result_get_series(struct ergo_context *ctx, const struct ergo_result *result,
                                        size_t point, size_t column,
                                        struct ergo_result_series *series) {
    ERGO_CLEAR(series);
    ERGO_ENTRY(ctx, result, series);
    const enum ergo_status status = check_of_point(ctx, result, point, ERGO_RESULT_COLUMNS, column);
    if (status != ERGO_OK)
        return status;
    const struct ergo_member_result *m = &result->members[point];
    *series = (struct ergo_result_series){
        .size = m->n_samples,
        .equilibration = m->n_equilibration < m->n_samples ? m->n_equilibration : m->n_samples,
        .samples = m->series ? m->series[column] : NULL,
        .lead = m->lead,
        .every = m->measure_every,
    };
    return ERGO_OK;
}

enum ergo_status ergo_result_get_device(struct ergo_context *ctx, const struct ergo_result *result,
                                        size_t index, struct ergo_device_summary *device) {
    ERGO_CLEAR(device);
    ERGO_ENTRY(ctx, result, device);
    const enum ergo_status status = check_index(ctx, result, ERGO_RESULT_DEVICES, index);
    if (status == ERGO_OK)
        *device = result->n_devices ? result->devices[index] : result->device;
    return status;
}

const char *ergo_result_warning(const struct ergo_result *result, size_t index) {
    return result && index < result->n_warnings ? result->warnings[index] : "";
}
