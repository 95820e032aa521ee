/* The result of a job: made empty, filled by a run, given away. */
#include "result/origin.h"
#include "result/result.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/entry.h"
#include "base/memory.h"
#include "job/schedule.h"

/* ---- memory ---------------------------------------------------------------------------------- */

/* rest: curves and estimators. */
static void host_bytes(const struct ergo_job *job, double *series, double *rest) {
    const struct ergo_model *model = job->model;
    const bool kept = ergo_result_kept(job) == ERGO_KEPT_FULL;
    struct ergo_measured *measured = NULL;
    const bool known = ergo_measured_create(&job->points[0], &measured);
    double one = 0;
    *rest = 0;
    /* a checkpoint's record, whose buffer grows by doubling, or an HDF5 file and its image in
     * memory */
    *series = kept ? 3 * ergo_result_series_bytes(job) : 0;
    for (size_t i = 0; i < job->n_points; i++) {
        if (job->points[i].replica) { /* as the one before it */
            *rest += one;
            continue;
        }
        const struct ergo_schedule s = ergo_schedule_of(&job->points[i]);
        double curves = 0;
        for (size_t c = 0; c < model->n_curves; c++)
            curves += (model->curves_sums >> c & 1 ? 1.0 : ERGO_CURVE_BINS) *
                      (double)ergo_point_curve_size(&job->points[i], c);
        one = 3 * 8 * curves;
        /* without series they are in the checkpoint */
        if (known)
            one += (kept ? 1 : 3) *
                   ergo_online_bytes(&measured->plan, (double)(s.n_samples - s.n_equilibration));
        *rest += one;
    }
    ergo_measured_destroy(measured);
}

double ergo_result_bytes(const struct ergo_job *job) {
    double series, rest;
    host_bytes(job, &series, &rest);
    return series + rest;
}

static enum ergo_status check_memory(struct ergo_context *ctx, const struct ergo_job *job) {
    const double have = ergo_memory();
    const double every = (double)job->points[0].parameters->measure_every.integer;
    double series, rest;
    host_bytes(job, &series, &rest);
    if (series + rest <= have)
        return ERGO_OK;
    char fits[128] = "switch curves off, or split the job";
    if (rest < have)
        snprintf(fits, sizeof fits, "%.0f and more would fit, or /output/series \"blocks\"",
                 ceil(every * series / (have - rest)));
    return ERGO_FAIL(ctx, ERGO_E_MEMORY,
                     "%s: /run/measure_every: found %.0f: the time series and curves of %zu points "
                     "need %.3g GiB to be kept and saved; this machine has %.3g GiB: %s",
                     job->name, every, job->n_points, (series + rest) / 0x1p30, have / 0x1p30,
                     fits);
}

enum ergo_status ergo_validate(struct ergo_context *ctx, const struct ergo_job *job) {
    ERGO_ENTRY(ctx, job);
    ergo_result_say_kept(ctx, job);
    const enum ergo_status status = check_memory(ctx, job);
    return ergo_memory_told(ctx, status == ERGO_OK ? ergo_origin_check(ctx, job) : status);
}

/* ---- a result ------------------------------------------------------------------------------- */

static enum ergo_status allocate_member(struct ergo_context *ctx, const struct ergo_result *result,
                                        struct ergo_member_result *m) {
    const struct ergo_model *model = m->point->job->model;
    const struct ergo_schedule s = ergo_schedule_of(m->point);
    m->lead = s.lead;
    m->measure_every = s.every;
    m->n_equilibration = s.n_equilibration;
    const bool kept = result->kept == ERGO_KEPT_FULL;
    m->series = kept ? calloc(model->n_columns + 1, sizeof *m->series) : NULL;
    m->observables = calloc(model->n_observables + 1, sizeof *m->observables);
    m->curves = calloc(model->n_curves + 1, sizeof *m->curves);
    m->pictures = calloc(ERGO_RESULT_PICTURES, sizeof *m->pictures);
    m->picture_steps = calloc(ERGO_RESULT_PICTURES, sizeof *m->picture_steps);
    m->binned = calloc(model->n_curves + 1, sizeof *m->binned);
    bool ok = (m->series || !kept) && m->observables && m->curves && m->pictures &&
              m->picture_steps && m->binned &&
              ergo_member_measures(m, result->measured, s.n_samples - s.n_equilibration);
    for (size_t c = 0; c < model->n_columns && ok && kept; c++) {
        if (!ergo_point_has_column(m->point, c))
            continue;
        m->series[c] = malloc((s.n_samples + 1) * sizeof(double));
        ok = m->series[c] != NULL;
    }
    for (size_t c = 0; c < model->n_curves && ok; c++)
        ok = (model->curves_sums >> c & 1 ? ergo_curve_init_sum : ergo_curve_init)(
            &m->binned[c], ergo_point_curve_size(m->point, c));
    return ok ? ERGO_OK
              : ERGO_FAIL(ctx, ERGO_E_MEMORY,
                          "no memory for the time series of %zu points; measure less often or "
                          "split the scan",
                          m->point->job->n_points);
}

enum ergo_status ergo_result_create(struct ergo_context *ctx, struct ergo_job *job,
                                    struct ergo_result **result) {
    struct ergo_result *r = *result = calloc(1, sizeof *r);
    if (!r) {
        ergo_job_destroy(job);
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for a result");
    }
    r->job = job;
    enum ergo_status status = check_memory(ctx, job);
    if (status != ERGO_OK)
        return status;
    r->members = calloc(job->n_points, sizeof *r->members);
    if (!r->members)
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for %zu points", job->n_points);
    r->n_members = job->n_points;
    r->kept = ergo_result_kept(job);
    if (!ergo_measured_create(&job->points[0], &r->measured))
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for %zu points", job->n_points);
    for (size_t i = 0; i < job->n_points && status == ERGO_OK; i++) {
        r->members[i].point = &job->points[i];
        status = allocate_member(ctx, r, &r->members[i]);
    }
    const time_t now = time(NULL);
    struct tm utc;
    strftime(r->started, sizeof r->started, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
    return status;
}

bool ergo_result_add_warning(struct ergo_result *r, const char *text, size_t length) {
    char *copy = strndup(text, length);
    char **warnings = copy ? realloc(r->warnings, (r->n_warnings + 1) * sizeof *warnings) : NULL;
    if (!warnings) {
        free(copy);
        return false;
    }
    r->warnings = warnings;
    r->warnings[r->n_warnings++] = copy;
    return true;
}

void ergo_result_set_rate(struct ergo_result *r, double work, double seconds) {
    r->seconds = seconds;
    r->rate = seconds > 0 ? work / seconds : 0;
    if (!isfinite(r->rate))
        r->rate = 0;
}

void ergo_result_drop_binned(struct ergo_result *r) {
    for (size_t i = 0; r->members && i < r->n_members; i++) {
        struct ergo_member_result *m = &r->members[i];
        for (size_t c = 0; c < r->job->model->n_curves && m->binned; c++)
            ergo_curve_free(&m->binned[c]);
        free(m->binned);
        m->binned = NULL;
    }
}

void ergo_result_destroy(struct ergo_result *r) {
    if (!r)
        return;
    if (r->job)
        ergo_result_drop_binned(r);
    const struct ergo_model *model = r->job ? r->job->model : NULL;
    for (size_t i = 0; model && r->members && i < r->n_members; i++) {
        struct ergo_member_result *m = &r->members[i];
        for (size_t c = 0; c < model->n_columns && m->series; c++)
            free(m->series[c]);
        for (size_t c = 0; c < model->n_curves && m->curves; c++) {
            free(m->curves[c].x);
            free(m->curves[c].mean);
            free(m->curves[c].error);
            free(m->curves[c].reference_z);
        }
        for (size_t k = 0; k < m->n_pictures; k++)
            free(m->pictures[k].rgb);
        free(m->series);
        ergo_member_forget(m);
        free(m->curves);
        free(m->observables);
        free(m->pictures);
        free(m->picture_steps);
        free(m->state);
    }
    free(r->devices);
    free(r->part_of);
    for (size_t i = 0; i < r->n_warnings; i++)
        free(r->warnings[i]);
    free(r->warnings);
    free(r->comparison);
    free(r->means);
    free(r->members);
    ergo_measured_destroy(r->measured);
    ergo_job_destroy(r->job);
    free(r);
}

/* ---- parts of a run, each made on its own, where no network joins the machines ----------------
 */

enum ergo_status ergo_result_set_part(struct ergo_context *ctx, struct ergo_result *result,
                                      unsigned part, unsigned n_parts) {
    if (!part || part > n_parts)
        return ERGO_FAIL(ctx, ERGO_E_JOB, "there is no part %u of %u: parts are numbered from 1 on",
                         part, n_parts);
    if (n_parts > result->n_members)
        return ERGO_FAIL(ctx, ERGO_E_JOB,
                         "part %u of %u: %s has %zu points and replicas, so that at most as many "
                         "parts have something to do",
                         part, n_parts, result->job->name, result->n_members);
    free(result->part_of);
    result->part = part;
    result->n_parts = n_parts;
    result->part_of = ergo_job_deal(result->job, n_parts);
    return result->part_of ? ERGO_OK
                           : ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for parts of %zu points",
                                       result->n_members);
}

bool ergo_result_has(const struct ergo_result *result, size_t i) {
    return !result->part_of || result->part_of[i] == result->part;
}

bool ergo_result_is_complete(const struct ergo_result *result) {
    for (size_t i = 0; i < result->n_members; i++)
        if (ergo_result_has(result, i) &&
            result->members[i].steps != ergo_schedule_of(result->members[i].point).total)
            return false;
    return true;
}
