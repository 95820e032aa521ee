/*
 * What a run has measured, into the result of a job that goes further: longer, with more replicas,
 * with more points. Samples and the sums of estimators do not depend on how long a run was to be.
 * What does is made again, left out until its time has come, or refused.
 */
#include <stdlib.h>
#include <string.h>

#include "job/schedule.h"
#include "result/store.h"

/* A point of the run, and where it goes. */
struct carried {
    struct ergo_stored *stored;
    struct ergo_member_result *from, *to;
    struct ergo_point_progress *was, *is;
    struct ergo_schedule old, now;
    bool ended, longer; /* in the run; in the job */
};

static enum ergo_status no_memory(const struct ergo_stored *stored) {
    return ERGO_FAIL(stored->ctx, ERGO_E_MEMORY, "no memory for the points of an extension");
}

/* ---- what cannot be -------------------------------------------------------------------------- */

static enum ergo_status check_length(const struct carried *c) {
    const uint64_t equilibration = (uint64_t)c->to->point->parameters->equilibration;
    const uint64_t done = c->was->step > equilibration ? c->was->step - equilibration : 0;
    if (c->now.total > c->was->step || (c->ended && c->now.total == c->was->step))
        return ERGO_OK;
    return ergo_job_error(c->stored->ctx, "/run/sweeps",
                          "found %lld, but the run has done %llu %ss%s",
                          (long long)c->to->point->parameters->sweeps, (unsigned long long)done,
                          c->to->point->job->sampler->step_name,
                          c->ended ? "" : ", and is not at its end: give more");
}

/* Averages over blocks of a run's length are made of samples. */
static enum ergo_status check_kept(const struct carried *c) {
    const bool other_blocks = c->to->n_blocks && (c->from->n_blocks != c->to->n_blocks ||
                                                  c->from->n_measured != c->to->n_measured);
    if (c->from->series || !c->was->step)
        return ERGO_OK;
    if (c->to->series)
        return ergo_job_error(c->stored->ctx, "/output/series",
                              "\"full\" is not possible: the run has not kept its samples");
    if (other_blocks)
        return ergo_job_error(c->stored->ctx, "/output/blocks",
                              "%lld blocks of another length cannot be made: the run has not kept "
                              "its samples (/output/series). 0: none",
                              (long long)c->to->point->parameters->blocks);
    return ERGO_OK;
}

/* The state in which the point has ended is there, and it is that one. */
static enum ergo_status check_state(const struct carried *c) {
    struct ergo_stored *stored = c->stored;
    const struct ergo_job *job = c->from->point->job;
    uint64_t digest = 0;
    if (!c->ended || !c->longer)
        return ERGO_OK;
    if (!c->from->state)
        return ergo_job_error(stored->ctx, "/run/sweeps",
                              "cannot become more: the states in which the chains have ended were "
                              "not kept (/checkpoint/final_states \"keep\" keeps any)");
    if (!ergo_state_digest(job, c->from->steps, c->from->state, c->from->state_length, &digest))
        return no_memory(stored);
    return digest == c->from->digest
               ? ERGO_OK
               : ergo_stored_damaged(stored, ERGO_CHECKPOINT, "the state of a point");
}

static enum ergo_status check_model(const struct carried *c) {
    const struct ergo_model *model = c->to->point->job->model;
    return model->extends && c->was->step && c->now.total != c->old.total
               ? model->extends(c->stored->ctx, c->from->point, c->to->point)
               : ERGO_OK;
}

/* Files of configurations have the numbers of points in their names. */
static enum ergo_status check_number(const struct carried *c) {
    const struct ergo_point *point = c->to->point;
    if (c->from->point->index == point->index || !c->was->step || !point->job->model->trajectory ||
        !ergo_point_has_frames(point) || !c->from->point->parameters->trajectory_every)
        return ERGO_OK;
    const bool replicas = c->from->point->parameters->replicas != point->parameters->replicas;
    return ergo_job_error(
        c->stored->ctx, replicas ? "/replicas" : "/scan",
        "point %zu would become point %zu, but the files in trajectory are named "
        "by these numbers (/output/trajectory_every): only points behind all others can "
        "be added",
        c->from->point->index, point->index);
}

/* ---- carrying -------------------------------------------------------------------------------- */

static bool carry_series(const struct carried *c) {
    const struct ergo_model *model = c->to->point->job->model;
    const size_t width = model->n_columns;
    enum { ROWS = 4096 };
    double *rows = malloc((ROWS * width + 1) * sizeof *rows);
    bool ok = rows != NULL;
    for (size_t first = 0; first < c->from->n_samples && ok; first += ROWS) {
        const size_t rest = c->from->n_samples - first, count = rest < ROWS ? rest : ROWS;
        for (size_t k = 0; k < width; k++)
            for (size_t i = 0; i < count; i++)
                rows[i * width + k] = c->from->series[k] ? c->from->series[k][first + i] : 0;
        ok = ergo_member_add(c->to, first, count, rows);
    }
    free(rows);
    return ok;
}

static bool carry_sums(const struct carried *c) {
    const size_t size = ergo_member_state_size(c->from, c->from->n_samples);
    double *state = malloc((size + 1) * sizeof *state);
    c->to->n_samples = c->from->n_samples;
    if (state)
        ergo_member_save(c->from, state);
    const bool ok = state && ergo_member_load(c->to, c->from->n_samples, state);
    free(state);
    return ok;
}

static void carry_curves(const struct carried *c) {
    const struct ergo_model *model = c->to->point->job->model;
    const uint32_t made_at_end = model->curves_at_end & ~model->curves_sums;
    for (size_t k = 0; k < model->n_curves; k++) {
        struct ergo_curve *from = &c->from->binned[k], *to = &c->to->binned[k];
        if ((made_at_end >> k & 1 && c->longer) || from->size != to->size)
            continue;
        const struct ergo_curve empty = *to;
        *to = *from;
        *from = empty;
    }
}

/* Pictures that the longer run would have, too. */
static void carry_pictures(const struct carried *c) {
    const size_t n = (size_t)c->to->point->parameters->snapshots.integer;
    for (size_t i = 0; i < c->from->n_pictures; i++) {
        if (c->longer && !ergo_schedule_has_snapshot(&c->now, n, c->from->picture_steps[i]))
            continue;
        c->to->pictures[c->to->n_pictures] = c->from->pictures[i];
        c->to->picture_steps[c->to->n_pictures++] = c->from->picture_steps[i];
        c->from->pictures[i].rgb = NULL;
    }
}

/* A state with room for the longer run's times. */
static bool fit_state(const struct carried *c, char **state, uint64_t *length) {
    const struct ergo_model *model = c->to->point->job->model;
    if (!model->state_tail)
        return true;
    const size_t was = model->state_tail(c->from->point), is = model->state_tail(c->to->point);
    if (*length < was)
        return false;
    char *fitting = realloc(*state, (size_t)*length - was + is + 1);
    if (!fitting)
        return false;
    if (is > was)
        memset(fitting + *length, 0, is - was);
    *state = fitting;
    *length = *length - was + is;
    return true;
}

/* Hands over the state with which the point goes on, or in which it stays. */
static bool carry_state(const struct carried *c, struct ergo_result *result) {
    struct ergo_point_progress *was = c->was, *is = c->is;
    is->step = was->step;
    is->samples = was->samples;
    if (c->ended && !c->longer) {
        if (c->from->state)
            ergo_result_keep_state(result, c->to, c->from->state, c->from->state_length);
        c->from->state = NULL;
        return true;
    }
    is->state = c->ended ? c->from->state : was->state;
    is->length = c->ended ? c->from->state_length : was->length;
    c->from->state = was->state = NULL;
    return fit_state(c, &is->state, &is->length);
}

static enum ergo_status carry_point(const struct carried *c, struct ergo_result *result) {
    if (!c->was->step)
        return ERGO_OK;
    bool ok = c->from->series ? carry_series(c) : carry_sums(c);
    carry_curves(c);
    carry_pictures(c);
    c->to->steps = c->from->steps;
    c->to->digest = c->from->digest;
    ok = carry_state(c, result) && ok;
    return ok ? ERGO_OK : no_memory(c->stored);
}

static enum ergo_status check_point(const struct carried *c) {
    enum ergo_status status = check_length(c);
    if (status == ERGO_OK)
        status = check_kept(c);
    if (status == ERGO_OK)
        status = check_state(c);
    if (status == ERGO_OK)
        status = check_model(c);
    if (status == ERGO_OK)
        status = check_number(c);
    return status;
}

/* ---- all points ------------------------------------------------------------------------------ */

/* First all checks, then all points. */
static enum ergo_status carry_all(struct ergo_stored *stored, struct ergo_result *result,
                                  struct ergo_point_progress *progress, const size_t *map,
                                  bool *renumbered) {
    enum ergo_status status = ERGO_OK;
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < result->n_members && status == ERGO_OK; i++) {
            if (map[i] == SIZE_MAX)
                continue;
            struct carried c = {.stored = stored,
                                .from = &stored->result->members[map[i]],
                                .to = &result->members[i],
                                .was = &stored->progress[map[i]],
                                .is = &progress[i]};
            c.old = ergo_schedule_of(c.from->point);
            c.now = ergo_schedule_of(c.to->point);
            c.ended = c.was->step == c.old.total;
            c.longer = c.now.total > c.was->step;
            *renumbered = *renumbered || map[i] != i;
            status = pass ? carry_point(&c, result) : check_point(&c);
        }
    return status;
}

/* A part of a run stays the same part, so its points may become longer, no more. */
static enum ergo_status keep_part(struct ergo_stored *stored, struct ergo_result *result,
                                  const size_t *map) {
    const unsigned part = stored->result->part, n_parts = stored->result->n_parts;
    bool same = result->n_members == stored->result->n_members;
    for (size_t i = 0; i < result->n_members; i++)
        same = same && map[i] == i;
    return same ? ergo_result_set_part(stored->ctx, result, part, n_parts)
                : ergo_job_error(stored->ctx, "/scan",
                                 "this is part %u of %u of a run, whose points and replicas stay "
                                 "as they are: unite the parts (ergocl merge), and extend that",
                                 part, n_parts);
}

enum ergo_status ergo_stored_extend(struct ergo_stored *stored, struct ergo_job *job,
                                    bool *renumbered) {
    struct ergo_result *result = NULL;
    const size_t n = job->n_points, n_old = stored->n_progress;
    size_t *map = malloc((n + 1) * sizeof *map);
    struct ergo_point_progress *progress = calloc(n, sizeof *progress);
    *renumbered = false;
    enum ergo_status status = map && progress
                                  ? ergo_job_extends(stored->ctx, stored->result->job, job, map)
                                  : no_memory(stored);
    if (status == ERGO_OK)
        status = ergo_result_create(stored->ctx, job, &result);
    else
        ergo_job_destroy(job);
    if (status == ERGO_OK && stored->result->n_parts)
        status = keep_part(stored, result, map);
    if (status == ERGO_OK) {
        memcpy(result->started, stored->result->started, sizeof result->started);
        result->device = stored->result->device;
        status = carry_all(stored, result, progress, map, renumbered);
    }
    struct ergo_result *old = status == ERGO_OK ? stored->result : result;
    struct ergo_point_progress *left = status == ERGO_OK ? stored->progress : progress;
    const size_t n_left = status == ERGO_OK ? n_old : n;
    if (status == ERGO_OK) {
        stored->result = result;
        stored->progress = progress;
        stored->n_progress = n;
    }
    ergo_result_destroy(old);
    ergo_progress_free(left, n_left);
    free(map);
    return status;
}
