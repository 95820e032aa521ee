/* The end of a run: digests, estimates, files. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run/run.h"

/*
 * A member's digest: the first 8 bytes of SHA-256 over the line
 * "ergocl state 1 <sampler> <state version> <step>\n" and the canonical state. It depends on the
 * chain alone.
 */
enum ergo_status ergo_run_digest_members(struct ergo_run *run) {
    enum ergo_status status = ERGO_OK;
    for (size_t m = 0; m < run->job->batches[run->batch].count && status == ERGO_OK; m++) {
        struct ergo_member_result *result = ergo_run_member(run, run->batch, m);
        struct ergo_text text = {0};
        ergo_text_append(&text, "ergocl state 1 %s %u %llu\n", run->sampler->info->name,
                         run->sampler->info->state_version, (unsigned long long)run->step);
        status = run->ops->save(run->ctx, run->state, m, &text);
        if (status == ERGO_OK && text.failed)
            status = ERGO_FAIL(run->ctx, ERGO_E_MEMORY, "no memory for a digest");
        if (status == ERGO_OK) {
            result->digest = ergo_hash64(text.data, text.length);
            result->steps = run->step;
        }
        if (status == ERGO_OK && run->options->watch && run->options->watch->states) {
            free(result->state);
            result->state_length = text.length;
            result->state = ergo_text_take(&text);
        }
        ergo_text_free(&text);
    }
    return status;
}

/* ---- estimates ------------------------------------------------------------------------------- */

/* The sample series of every observable of a member, after equilibration: [n_observables][n]. */
static double **observable_series(const struct ergo_sampler_info *info,
                                  const struct ergo_member_result *m, size_t n) {
    double **series = calloc(info->n_observables, sizeof *series);
    double columns[ERGO_COLUMNS_MAX];
    bool ok = series != NULL;
    for (size_t o = 0; o < info->n_observables && ok; o++) {
        if (!info->observables[o].sample)
            continue;
        series[o] = malloc((n + 1) * sizeof(double)); /* also without samples */
        ok = series[o] != NULL;
        for (size_t i = 0; i < n && ok; i++) {
            for (size_t c = 0; c < info->n_columns; c++)
                columns[c] = m->series[c][m->n_equilibration + i];
            series[o][i] = info->observables[o].sample(m->point, columns);
        }
    }
    if (!ok && series) {
        for (size_t o = 0; o < info->n_observables; o++)
            free(series[o]);
        free(series);
        series = NULL;
    }
    return series;
}

struct derive_call {
    const struct ergo_observable *observable;
    const struct ergo_point *point;
};

static double call_derive(const double *means, void *user) {
    const struct derive_call *call = user;
    return call->observable->derive(call->point, means);
}

static void derive(const struct ergo_sampler_info *info, const struct ergo_member_result *m,
                   double **series, size_t n, struct ergo_observable_result *result) {
    const struct ergo_observable *observable = result->observable;
    const double *inputs[8];
    size_t n_inputs = 0;
    for (size_t k = 0; k < 8 && observable->inputs[k]; k++)
        for (size_t o = 0; o < info->n_observables; o++)
            if (series[o] && strcmp(info->observables[o].name, observable->inputs[k]) == 0)
                inputs[n_inputs++] = series[o];
    struct derive_call call = {observable, m->point};
    ergo_stats_derived(inputs, n_inputs, n, call_derive, &call, &result->estimate);
}

static double call_from_curve(const double *mean, size_t size, void *user) {
    const struct derive_call *call = user;
    return call->observable->from_curve(call->point, mean, size);
}

static void from_curve(struct ergo_run *run, const struct ergo_member_result *m,
                       struct ergo_observable_result *result) {
    const struct ergo_sampler_info *info = run->sampler->info;
    struct derive_call call = {result->observable, m->point};
    for (size_t c = 0; c < info->n_curves; c++) {
        const struct ergo_curve *curve = &run->curves[m->point->index][c];
        if (strcmp(info->curves[c].name, result->observable->curve) != 0 || !curve->size)
            continue;
        /* in samples of the series, as everywhere */
        const double every = (double)run->ops->curve_every(m->point);
        ergo_curve_derived(curve, call_from_curve, &call, &result->estimate);
        result->estimate.tau *= every;
        result->estimate.tau_error *= every;
        if (result->observable->independent)
            result->estimate.tau = result->estimate.tau_error = NAN;
    }
}

static enum ergo_status warn(struct ergo_run *run, const char *text) {
    struct ergo_result *r = run->result;
    char **warnings = realloc(r->warnings, (r->n_warnings + 1) * sizeof *warnings);
    if (warnings)
        r->warnings = warnings;
    char *copy = warnings ? malloc(strlen(text) + 1) : NULL;
    if (!copy)
        return ERGO_FAIL(run->ctx, ERGO_E_MEMORY, "no memory for a warning");
    strcpy(copy, text);
    r->warnings[r->n_warnings++] = copy;
    return ERGO_OK;
}

static void describe_point(const struct ergo_point *point, char *text, size_t size) {
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0; i < point->n_scanned && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%s = %.12g", i ? ", " : "",
                                 point->scanned[i].pointer, point->scanned[i].value);
    if (!point->n_scanned)
        snprintf(text, size, "the point");
}

/* A series that never changed has no error, and n samples cannot see what has a weight below 1/n:
 * as far off as that is a state that the chain did not leave. NAN: no exact value. */
static double frozen_z(const struct ergo_observable_result *r) {
    const double off = r->estimate.mean - r->exact;
    if (isnan(off))
        return NAN;
    return fabs(off) * (double)r->estimate.samples <= fabs(r->exact) ? 0
           : off > 0                                                 ? INFINITY
                                                                     : -INFINITY;
}

static enum ergo_status estimate_member(struct ergo_run *run, struct ergo_member_result *m) {
    const struct ergo_sampler_info *info = run->sampler->info;
    const size_t n = m->n_samples > m->n_equilibration ? m->n_samples - m->n_equilibration : 0;
    double **series = observable_series(info, m, n);
    if (!series)
        return ERGO_FAIL(run->ctx, ERGO_E_MEMORY, "no memory for the estimates");
    for (size_t o = 0; o < info->n_observables; o++) {
        struct ergo_observable_result *r = &m->observables[o];
        r->observable = &info->observables[o];
        r->exact = r->z = NAN;
        r->estimate = (struct ergo_estimate){NAN, NAN, NAN, NAN, NAN, 0, true};
        if (n == 0 || !ergo_point_asks(m->point, r->observable->name))
            continue;
        if (r->observable->sample)
            ergo_stats_estimate(series[o], n, &r->estimate);
        else if (r->observable->derive)
            derive(info, m, series, n, r);
        else
            from_curve(run, m, r);
        r->exact = run->ops->exact ? run->ops->exact(m->point, r->observable->name) : NAN;
        if (r->estimate.error > 0)
            r->z = (r->estimate.mean - r->exact) / r->estimate.error;
        else if (r->estimate.error == 0 && r->observable->sample)
            r->z = frozen_z(r);
    }
    for (size_t o = 0; o < info->n_observables; o++)
        free(series[o]);
    free(series);
    return ERGO_OK;
}

static enum ergo_status curves_of(struct ergo_run *run, struct ergo_member_result *m) {
    const struct ergo_sampler_info *info = run->sampler->info;
    for (size_t c = 0; c < info->n_curves; c++) {
        const struct ergo_curve *curve = &run->curves[m->point->index][c];
        struct ergo_curve_result *r = &m->curves[c];
        r->info = &info->curves[c];
        r->size = curve->count && ergo_point_asks(m->point, info->curves[c].name) ? curve->size : 0;
        if (!r->size)
            continue;
        r->x = malloc(r->size * sizeof(double));
        r->mean = malloc(r->size * sizeof(double));
        r->error = malloc(r->size * sizeof(double));
        if (!r->x || !r->mean || !r->error)
            return ERGO_FAIL(run->ctx, ERGO_E_MEMORY, "no memory for a curve");
        run->ops->curve_x(m->point, c, r->x);
        ergo_curve_result(curve, r->mean, r->error);
    }
    return ERGO_OK;
}

/* ---- warnings -------------------------------------------------------------------------------- */

static bool is_short(const struct ergo_member_result *m, size_t o) {
    const struct ergo_observable_result *r = &m->observables[o];
    const bool measured = !r->observable->curve || r->estimate.samples > 0; /* or not asked for */
    return r->estimate.too_short && measured && ergo_observable_shown(r->observable, m->point);
}

/* Whether all that is too short at this point is slow by its physics: running somewhat
 * longer would not help, and everything else has honest errors. */
static bool only_slow(const struct ergo_sampler_info *info, const struct ergo_member_result *m) {
    for (size_t o = 0; o < info->n_observables; o++)
        if (is_short(m, o) && !(info->observables[o].slow && info->observables[o].slow(m->point)))
            return false;
    return true;
}

/* Points (and the first of them) where one of the observables o .. end - 1 is too short. */
static size_t short_points(const struct ergo_run *run, bool slow, size_t o, size_t end,
                           const struct ergo_point **first) {
    size_t count = 0;
    for (size_t i = 0; i < run->result->n_members; i++) {
        const struct ergo_member_result *m = &run->result->members[i];
        bool any = false;
        for (size_t k = o; k < end && !any; k++)
            any = is_short(m, k);
        if (!any || only_slow(run->sampler->info, m) != slow)
            continue;
        if (count++ == 0)
            *first = m->point;
    }
    return count;
}

static enum ergo_status warn_text(struct ergo_run *run, struct ergo_text *text) {
    const enum ergo_status status =
        text->failed ? ERGO_FAIL(run->ctx, ERGO_E_MEMORY, "no memory for a warning")
                     : warn(run, text->data);
    ergo_text_free(text);
    return status;
}

/* One line for all that a longer run mends; one for each observable that is slow by its physics. */
static enum ergo_status warn_short(struct ergo_run *run) {
    const struct ergo_sampler_info *info = run->sampler->info;
    const size_t n = info->n_observables;
    const struct ergo_point *first = NULL, *any = NULL;
    enum ergo_status status = ERGO_OK;
    char where[256];
    size_t count = short_points(run, false, 0, n, &first);
    if (count) {
        struct ergo_text text = {0};
        describe_point(first, where, sizeof where);
        if (run->result->n_members == 1)
            ergo_text_append(&text,
                             "the run is too short, or too correlated, for honest errors of ");
        else
            ergo_text_append(&text,
                             "%zu of %zu points are too short, or too correlated, for honest "
                             "errors (first: %s) of ",
                             count, run->result->n_members, where);
        const char *separator = "";
        for (size_t o = 0; o < n; o++)
            if (short_points(run, false, o, o + 1, &any)) {
                ergo_text_append(&text, "%s%s", separator, info->observables[o].name);
                separator = ", ";
            }
        ergo_text_append(&text, ": run longer before trusting them");
        status = warn_text(run, &text);
    }
    for (size_t o = 0; o < n && status == ERGO_OK; o++) {
        count = short_points(run, true, o, o + 1, &first);
        if (!count)
            continue;
        struct ergo_text text = {0};
        describe_point(first, where, sizeof where);
        ergo_text_append(&text, "the error of %s cannot be trusted", info->observables[o].name);
        if (run->result->n_members > 1)
            ergo_text_append(&text, " at %zu of %zu points (first: %s)", count,
                             run->result->n_members, where);
        ergo_text_append(&text, ": %s. The other observables there are not affected",
                         info->observables[o].slow(first));
        status = warn_text(run, &text);
    }
    return status;
}

static bool is_frozen(const struct ergo_observable_result *r) {
    return r->observable->sample && !r->observable->hidden && r->estimate.samples > 3 &&
           r->estimate.error == 0 && r->z != 0;
}

/* Of the first observable, usually the energy: others may well be constant. */
static enum ergo_status warn_frozen(struct ergo_run *run) {
    const struct ergo_point *first = NULL;
    struct ergo_text text = {0};
    char where[256];
    size_t count = 0;
    for (size_t i = 0; i < run->result->n_members; i++) {
        const struct ergo_member_result *m = &run->result->members[i];
        if (is_frozen(&m->observables[0]) && count++ == 0)
            first = m->point;
    }
    if (!count)
        return ERGO_OK;
    describe_point(first, where, sizeof where);
    ergo_text_append(
        &text,
        "%s never changed at %zu of %zu points (first: %s): the chain is stuck, or too "
        "short to see a change; its error is not known",
        run->sampler->info->observables[0].name, count, run->result->n_members, where);
    return warn_text(run, &text);
}

enum ergo_status ergo_run_estimate(struct ergo_run *run) {
    enum ergo_status status = ERGO_OK;
    for (size_t i = 0; i < run->result->n_members && status == ERGO_OK; i++) {
        struct ergo_member_result *m = &run->result->members[i];
        status = estimate_member(run, m);
        if (status == ERGO_OK)
            status = curves_of(run, m);
    }
    if (status == ERGO_OK)
        status = ergo_run_compare(run);
    if (status == ERGO_OK)
        status = warn_frozen(run);
    return status == ERGO_OK ? warn_short(run) : status;
}

/* ---- files ----------------------------------------------------------------------------------- */

/* result.json last: where it stands, everything else does. */
enum ergo_status ergo_run_write(struct ergo_run *run) {
    enum ergo_status status = ergo_run_hold_folder(run);
    if (status == ERGO_OK)
        status = ergo_result_write_series(run->ctx, run->folder, run->result);
    if (status == ERGO_OK)
        status = ergo_result_write_blocks(run->ctx, run->folder, run->result);
    if (status == ERGO_OK)
        status = ergo_result_write_pictures(run->ctx, run->folder, run->result);
    if (status == ERGO_OK)
        status = ergo_result_write_report(run->ctx, run->folder, run->result);
    if (status == ERGO_OK)
        status = ergo_result_write_json(run->ctx, run->folder, run->result);
    return status;
}
