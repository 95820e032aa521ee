/* Stretches of the run made again: the other device, in its thread. */
#include "run/replay.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/entry.h"
#include "run/known.h"
#include "run/tuning.h"

/* Seconds of a run that is worth kernels for groups of another size. */
static const double long_run = 10;
/* Bytes of states per second that are read, checked as they are loaded, and compared (hard disks,
 * on a host of 16 cores). */
static const double state_rate = 2.5e7;

/* No more audits. The reason is for people. */
static void give_up(struct ergo_audit *a, const char *what) {
    snprintf(a->facts->reason, sizeof a->facts->reason, "%s: %s", what, ergo_error_message(a->ctx));
    ergo_error_clear(a->ctx);
}

static enum ergo_status open_first(struct ergo_audit *a, const struct ergo_device_summary *list,
                                   size_t n, bool cpu) {
    const struct ergo_device_summary *own = &a->work->device->summary;
    for (size_t i = 0; i < n && !a->device; i++)
        if (list[i].usable && (strcmp(list[i].type, "cpu") == 0) == cpu &&
            strcmp(list[i].platform, own->platform) != 0 &&
            ergo_device_open(a->ctx, list[i].id, &a->device) != ERGO_OK)
            ergo_error_clear(a->ctx);
    return a->device ? ERGO_OK : ERGO_E_DEVICE;
}

/* Another implementation, a CPU's first; else the run's own device once more. */
static enum ergo_status open_device(struct ergo_audit *a, const char *asked) {
    const struct ergo_device_summary *own = &a->work->device->summary;
    struct ergo_device_summary *list = NULL;
    size_t n = 0;
    enum ergo_status status;
    if (strcmp(asked, "auto") != 0) {
        status = ergo_device_open(a->ctx, asked, &a->device);
    } else {
        status = ergo_device_list(a->ctx, false, &list, &n);
        if (status == ERGO_OK)
            status = open_first(a, list, n, true);
        if (status == ERGO_E_DEVICE)
            status = open_first(a, list, n, false);
        if (status == ERGO_E_DEVICE)
            status = ergo_device_open(a->ctx, own->id, &a->device);
        free(list);
    }
    if (status != ERGO_OK)
        return status;
    const struct ergo_device_summary *d = &a->device->summary;
    a->other = strcmp(d->platform, own->platform) != 0 || strcmp(d->name, own->name) != 0 ||
               strcmp(d->driver, own->driver) != 0;
    snprintf(a->facts->device, sizeof a->facts->device, "%s (%s, %s)", d->name, d->platform,
             d->driver);
    return ERGO_OK;
}

void ergo_replay_forget(struct ergo_audit *a) {
    ergo_engine_destroy(a->state);
    a->state = NULL;
    for (size_t i = 0; i < a->some.count; i++) {
        if (a->points)
            free(a->points[i].values);
        if (a->before)
            ergo_text_free(&a->before[i]);
        if (a->after)
            ergo_text_free(&a->after[i]);
    }
    free(a->points);
    free(a->some.points);
    free(a->members);
    free(a->before);
    free(a->after);
    ergo_samples_free(&a->given);
    ergo_samples_free(&a->found);
    a->points = NULL;
    a->members = NULL;
    a->before = a->after = NULL;
    a->some = (struct ergo_batch){0};
}

/* Copies of `count` points of the batch, evenly spread and with the last one, whose launches are
 * automatic. */
enum ergo_status ergo_replay_take(struct ergo_audit *a, size_t count) {
    const size_t all = a->whole->count;
    ergo_replay_forget(a);
    a->some.job = a->work->job;
    a->points = calloc(count, sizeof *a->points);
    a->some.points = calloc(count, sizeof(struct ergo_point *));
    a->members = calloc(count, sizeof *a->members);
    a->before = calloc(count, sizeof *a->before);
    a->after = calloc(count, sizeof *a->after);
    bool ok = a->points && a->some.points && a->members && a->before && a->after;
    for (size_t i = 0; i < count && ok; i++) {
        a->members[i] = (i + 1) * all / count - 1;
        a->some.points[i] = &a->points[i];
        a->some.count = i + 1;
        ok = ergo_point_copy(a->whole->points[a->members[i]], &a->points[i]);
    }
    if (!ok)
        return ERGO_FAIL(a->ctx, ERGO_E_MEMORY, "no memory for an audit's members");
    if (a->other)
        ergo_tuning_clear(&a->some);
    return ERGO_OK;
}

static enum ergo_status plan(struct ergo_audit *a, struct ergo_plan *p) {
    return ergo_sampler_plan(a->ctx, a->ops, &a->some, a->device, p);
}

/* On the run's own device: groups of another size, where the model lets them be chosen. Some
 * drivers compile kernels for each size, for seconds: a short run is made again in the same. */
static enum ergo_status vary(struct ergo_audit *a, struct ergo_plan *p) {
    const struct ergo_model *model = a->work->job->model;
    const struct ergo_schedule s = ergo_schedule_of(a->whole->points[0]);
    const double of_all = (double)a->whole->count / (double)a->some.count;
    if ((double)s.total * of_all * a->step_seconds < long_run)
        return ERGO_OK;
    char own[sizeof p->launch];
    int64_t values[ERGO_TUNING_VALUES];
    memcpy(own, p->launch, sizeof own);
    for (size_t t = 0; t < model->n_tunables; t++) {
        if (strcmp(model->tunables[t].name, "work_group") != 0)
            continue;
        for (size_t i = ergo_tuning_values(&model->tunables[t], values); i-- > 0;) {
            ergo_tuning_set(&a->some, "work_group", values[i]);
            a->varied = plan(a, p) == ERGO_OK && strcmp(own, p->launch) != 0;
            if (a->varied)
                return ERGO_OK;
            ergo_error_clear(a->ctx);
        }
        ergo_tuning_set(&a->some, "work_group", 0);
    }
    return plan(a, p);
}

static enum ergo_status create(struct ergo_audit *a) {
    return ergo_sampler_create(a->ctx, a->ops, &a->some, a->device, &a->state);
}

static void tell_planned(struct ergo_audit *a) {
    pthread_mutex_lock(&a->lock);
    a->planned = true;
    pthread_cond_broadcast(&a->told);
    pthread_mutex_unlock(&a->lock);
}

/* As many members as would make as many steps in the time of a stretch. */
static enum ergo_status plan_batch(struct ergo_audit *a) {
    struct ergo_plan p = {0};
    enum ergo_status status = ergo_replay_take(a, 1);
    if (status == ERGO_OK)
        status = plan(a, &p);
    const double steps = p.block_steps * ERGO_REPLAY_LEAST / 0.1;
    const double room = ERGO_REPLAY_LEAST * state_rate / fmax(1, (double)p.state_bytes);
    const size_t all = a->whole->count;
    const size_t few = (size_t)ceil(fmin(sqrt(fmax(1, steps)), fmax(1, room)));
    if (status == ERGO_OK)
        status = ergo_replay_take(a, few < all ? few : all);
    if (status == ERGO_OK)
        status = plan(a, &p);
    a->step_seconds = 0.1 / fmax(1, p.block_steps);
    a->state_seconds = (double)p.state_bytes / state_rate;
    return status == ERGO_OK && !a->other ? vary(a, &p) : status;
}

/* The run's device alone can be wrong always in the same way: it is asked for a known answer, once.
 * The program of that is built beside the run's. */
static void ask_known(struct ergo_audit *a) {
    a->asked = true;
    const enum ergo_status status =
        ergo_known_ask(a->ctx, a->device, a->work->job, &a->facts->known);
    if (status == ERGO_E_AUDIT)
        a->status = status;
    else
        ergo_error_clear(a->ctx);
    if (status != ERGO_OK)
        a->facts->known = NULL;
}

static void begin_batch(struct ergo_audit *a) {
    const char *asked = a->work->job->points[0].parameters->audit_device;
    if (!a->device && !ergo_audit_gave_up(a) && open_device(a, asked) != ERGO_OK)
        give_up(a, "no other device");
    if (!ergo_audit_gave_up(a) && plan_batch(a) != ERGO_OK)
        give_up(a, "no room for a replay");
    if (!ergo_audit_gave_up(a) && a->some.count > a->facts->members)
        a->facts->members = a->some.count;
    tell_planned(a);
    a->facts->varied = a->other || a->varied;
    if (a->device && !a->other && !a->asked)
        ask_known(a);
    /* its kernels are built beside the run's, if it will have work soon; the run's own device finds
     * them built */
    if (!ergo_audit_gave_up(a) && a->other &&
        a->state_seconds + a->step_seconds < ERGO_REPLAY_ALLOWED && create(a) != ERGO_OK)
        give_up(a, "no kernels for a replay");
}

/* "sample 3 (after step 40) of member 7: energy". */
static enum ergo_status differ(struct ergo_audit *a, size_t i, uint64_t step, const char *what) {
    const struct ergo_device_summary *own = &a->work->device->summary;
    const struct ergo_audit_block *b = &a->block;
    return ERGO_FAIL(
        a->ctx, ERGO_E_AUDIT,
        "audit of %s failed on %s (%s): made again by %s from the same state at step %llu, %s of "
        "member %zu after step %llu is not the same. One of the two computes these kernels wrongly "
        "(`ergocl compare JOB --all` tells which), or memory has changed: try another device",
        a->work->job->sampler->name, own->name, own->driver,
        a->other    ? a->facts->device
        : a->varied ? "the same device in groups of another size"
                    : "the same device",
        (unsigned long long)b->step, what, a->members[i], (unsigned long long)step);
}

/* Of a NaN, too. */
static bool same_bits(const double *a, const double *b, size_t n) {
    return n == 0 || memcmp(a, b, n * sizeof *a) == 0;
}

/* Those that ergo_work_store takes: others have no rows that count. */
static enum ergo_status compare_curves(struct ergo_audit *a) {
    const struct ergo_model *model = a->work->job->model;
    const struct ergo_point *point = a->some.points[0];
    const uint64_t every = ergo_point_curve_every(point);
    const size_t n = a->some.count;
    for (size_t c = 0; c < model->n_curves && a->measures; c++) {
        const size_t size = ergo_point_curve_size(point, c);
        const bool sums = model->curves_sums >> c & 1;
        const uint64_t own = size ? ergo_point_every_of_curve(point, c) : 1;
        for (size_t i = 0; a->found.curves[c] && i < (sums ? 1 : a->found.n_curve_samples) * n;
             i++) {
            const uint64_t sample = ((a->block.first + every - 1) / every + i / n) * every;
            if ((sums || sample % own == 0) &&
                !same_bits(a->given.curves[c] + i * size, a->found.curves[c] + i * size, size))
                return differ(a, i % n, ergo_audit_end(&a->block), model->curves[c].name);
        }
    }
    return ERGO_OK;
}

static enum ergo_status compare_samples(struct ergo_audit *a) {
    const struct ergo_model *model = a->work->job->model;
    const size_t n = a->some.count, width = model->n_columns;
    for (size_t s = 0; s < a->found.count; s++)
        for (size_t i = 0; i < n; i++)
            for (size_t c = 0; c < width; c++) {
                const size_t at = (s * n + i) * width + c;
                if (!same_bits(&a->given.columns[at], &a->found.columns[at], 1))
                    return differ(a, i, a->block.step + (s + 1) * a->block.every,
                                  model->columns[c].name);
            }
    return compare_curves(a);
}

/* The states that one has and the other should have. */
static enum ergo_status compare_states(struct ergo_audit *a, const struct ergo_text *given,
                                       uint64_t step, const char *what) {
    enum ergo_status status = ERGO_OK;
    for (size_t i = 0; i < a->some.count && status == ERGO_OK; i++) {
        struct ergo_text found = {0};
        status = a->ops->save(a->ctx, a->state, i, &found);
        if (status == ERGO_OK && (found.failed || given[i].failed))
            status = ERGO_FAIL(a->ctx, ERGO_E_MEMORY, "no memory for an audit's states");
        if (status == ERGO_OK && (found.length != given[i].length ||
                                  memcmp(found.data, given[i].data, found.length) != 0))
            status = differ(a, i, step, what);
        ergo_text_free(&found);
    }
    return status;
}

/* Starts that take longer are left alone. */
static enum ergo_status start(struct ergo_audit *a) {
    const double begun = ergo_clock();
    bool done = false;
    enum ergo_status status = a->ops->init(a->ctx, a->state);
    while (status == ERGO_OK && !done && ergo_clock() - begun < ERGO_REPLAY_MOST)
        status = ergo_sampler_start_piece(a->ctx, a->ops, a->state, &done);
    return status == ERGO_OK && done ? compare_states(a, a->before, 0, "the start") : status;
}

static enum ergo_status load(struct ergo_audit *a) {
    enum ergo_status status = ERGO_OK;
    for (size_t i = 0; i < a->some.count && status == ERGO_OK; i++) {
        status = a->ops->load(a->ctx, a->state, i, a->block.step, a->before[i].data,
                              a->before[i].length);
        if (status != ERGO_E_IO)
            continue;
        char *why = strdup(ergo_error_message(a->ctx));
        ergo_error_clear(a->ctx);
        status = ERGO_FAIL(a->ctx, ERGO_E_AUDIT,
                           "audit of %s failed on %s (%s): after step %llu the state of member %zu "
                           "cannot be: %s",
                           a->work->job->sampler->name, a->work->device->summary.name,
                           a->work->device->summary.driver, (unsigned long long)a->block.step,
                           a->members[i], why ? why : "");
        free(why);
    }
    return status;
}

static enum ergo_status advance(struct ergo_audit *a) {
    const struct ergo_audit_block *b = &a->block;
    enum ergo_status status =
        ergo_sampler_advance(a->ctx, a->ops, a->state, 0, b->count, b->every, b->first);
    if (status != ERGO_OK || !b->count)
        return status == ERGO_OK ? ergo_device_finish(a->ctx, a->device) : status;
    status = ergo_sampler_collect(a->ctx, a->ops, a->state, 0, &a->found);
    if (status == ERGO_E_JOB) { /* the run took these numbers */
        ergo_error_clear(a->ctx);
        status = differ(a, 0, ergo_audit_end(b), "a sample");
    }
    return status;
}

static void replay(struct ergo_audit *a) {
    const struct ergo_audit_block *b = &a->block;
    const uint64_t steps = ergo_audit_end(b) - b->step;
    enum ergo_status status = a->state ? ERGO_OK : create(a);
    const double built = a->device->build_seconds;
    const double begun = ergo_clock();
    if (status == ERGO_OK && a->starts)
        status = start(a);
    if (status == ERGO_OK)
        status = load(a);
    const double loaded = ergo_clock();
    if (status == ERGO_OK)
        status = advance(a);
    const double advanced = ergo_clock(), each = (advanced - loaded) / (double)steps;
    if (status == ERGO_OK && b->count)
        status = compare_samples(a);
    if (status == ERGO_OK)
        status = compare_states(a, a->after, ergo_audit_end(b), "the state");
    /* the first launches of kernels take longer */
    a->step_seconds = a->measured ? each : fmax(a->step_seconds, 0.5 * each);
    a->measured = true;
    a->facts->stretches++;
    a->facts->steps += steps;
    a->state_seconds = loaded - begun + ergo_clock() - advanced;
    a->facts->seconds += ergo_clock() - begun - (a->device->build_seconds - built);
    if (status == ERGO_OK || status == ERGO_E_AUDIT)
        a->status = status;
    else
        give_up(a, "the replay failed");
}

void *ergo_replay_serve(void *user) {
    ERGO_C_LOCALE;
    struct ergo_audit *a = user;
    enum ergo_replay_task task = NOTHING;
    while (task != END) {
        pthread_mutex_lock(&a->lock);
        while (a->task == NOTHING)
            pthread_cond_wait(&a->told, &a->lock);
        task = a->task;
        pthread_mutex_unlock(&a->lock);
        if (task == BATCH)
            begin_batch(a);
        else if (task == REPLAY && !ergo_audit_gave_up(a))
            replay(a);
        else if (task == END)
            ergo_replay_forget(a);
        pthread_mutex_lock(&a->lock);
        a->task = NOTHING;
        pthread_cond_broadcast(&a->told);
        pthread_mutex_unlock(&a->lock);
    }
    ergo_device_close(a->device);
    return NULL;
}
