/* ergo_tune: the launch shape that is fastest for a job's first batch, within a time budget. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/entry.h"
#include "base/utf8.h"
#include "result/format.h"
#include "job/schedule.h"
#include "result/result.h"
#include "run/cost.h"
#include "run/tuning.h"
#include "stats/stats.h"

enum { TUNABLES_MAX = ERGO_TUNING_SETTINGS };

static const double worthwhile = 1.03; /* smaller gains are noise */

struct tuner {
    struct ergo_context *ctx;
    const struct ergo_tune_options *options;
    struct ergo_job *job;
    const struct ergo_sampler *sampler;
    const struct ergo_model *model;
    const struct ergo_batch *batch;
    struct ergo_device *device;
    struct ergo_text *states; /* states of each member after the lead-in */
    uint64_t step;
    double begun;
    size_t tried, refused;
    int64_t best[TUNABLES_MAX];
    double best_rate; /* work per second */
    bool patient;     /* time slow candidates in full, too */
};

static bool time_is_up(const struct tuner *t) {
    return ergo_clock() - t->begun >= t->options->seconds || ergo_session_stop_is_requested(NULL);
}

static void report_progress(const struct tuner *t) {
    const double elapsed = ergo_clock() - t->begun;
    if (!t->options->progress)
        return;
    const struct ergo_progress p = {
        .done = fmin(elapsed, t->options->seconds),
        .total = t->options->seconds,
        .seconds = elapsed,
        .eta = fmax(0, t->options->seconds - elapsed),
        .rate = t->best_rate,
        .rate_unit = t->sampler->rate_unit,
        .phase = "tuning",
    };
    const unsigned depth = ergo_entry_lend();
    t->options->progress(t->options->user, &p);
    ergo_entry_take_back(depth);
}

static void set_all(const struct tuner *t, const int64_t *values) {
    for (size_t k = 0; k < t->model->n_tunables; k++)
        ergo_tuning_set(t->batch, t->model->tunables[k].name, values[k]);
}

static enum ergo_status steps(struct tuner *t, void *state, uint64_t count, double *seconds) {
    const double begin = ergo_clock();
    enum ergo_status status = ergo_sampler_advance(t->ctx, t->model->ops, state, 0, 0, count, 0);
    if (status == ERGO_OK)
        status = ergo_device_finish(t->ctx, t->device);
    *seconds = ergo_clock() - begin;
    return status;
}

/* Seconds of a step: the least of three passes of a twentieth of a second. Shorter passes come
 * first and grow to that. A candidate that is three times slower than the best is given up at once.
 */
static enum ergo_status time_state(struct tuner *t, void *state, const struct ergo_plan *plan,
                                   double limit, double *step) {
    enum ergo_status status = ERGO_OK;
    uint64_t count = 1;
    double seconds = 0;
    int full = 0;
    *step = INFINITY;
    for (int pass = 0; pass < 40 && full < 4 && status == ERGO_OK; pass++) {
        status = steps(t, state, count, &seconds);
        report_progress(t);
        if (status != ERGO_OK)
            break;
        const double each = seconds / (double)count;
        const double most = fmax(1, plan->block_steps);
        const bool long_enough = seconds >= 0.04 || (double)count >= most;
        if (long_enough && full++ > 0) /* the first of them warms caches up */
            *step = fmin(*step, each);
        if (long_enough && each > 3 * limit) {
            *step = fmin(*step, each);
            break;
        }
        if (!long_enough && pass > 0) /* the first pass may compile */
            count = (uint64_t)fmin(most, fmax(2 * (double)count, ceil(0.05 / fmax(each, 1e-9))));
    }
    return status;
}

/* The state from which all candidates begin, with these tunables. */
static enum ergo_status begin(struct tuner *t, const int64_t *values, struct ergo_plan *plan,
                              void **state) {
    *state = NULL;
    set_all(t, values);
    enum ergo_status status = ergo_sampler_plan(t->ctx, t->model->ops, t->batch, t->device, plan);
    if (status == ERGO_OK)
        status = ergo_sampler_create(t->ctx, t->model->ops, t->batch, t->device, state);
    for (size_t m = 0; m < t->batch->count && status == ERGO_OK && t->step; m++)
        status =
            t->model->ops->load(t->ctx, *state, m, t->step, t->states[m].data, t->states[m].length);
    if (status == ERGO_OK && !t->step)
        status = ergo_cost_start(t->ctx, t->model->ops, NULL, INFINITY, *state);
    return status;
}

/* Rate with these tunables; 0: refused. Other failures are no refusal. */
static enum ergo_status try_values(struct tuner *t, const int64_t *values, double *rate) {
    struct ergo_plan plan;
    void *state;
    double step = INFINITY;
    *rate = 0;
    enum ergo_status status = begin(t, values, &plan, &state);
    if (status == ERGO_OK) {
        const double limit =
            t->best_rate > 0 && !t->patient ? plan.work_per_step / t->best_rate : INFINITY;
        status = time_state(t, state, &plan, limit, &step);
    }
    if (state)
        ergo_engine_destroy(state);
    if (status == ERGO_OK) {
        *rate = plan.work_per_step / step;
        t->tried++;
    } else if (status == ERGO_E_JOB || status == ERGO_E_DEVICE) {
        ergo_log(t->ctx, ERGO_LOG_DEBUG, "%s", ergo_error_message(t->ctx));
        ergo_error_clear(t->ctx);
        t->refused++;
        status = ERGO_OK;
    }
    return status;
}

/* Steps at the start may be cheaper than later ones. So run some of the equilibration, a tenth of
 * the time at most: all candidates begin from the state at its end. */
static enum ergo_status lead_in(struct tuner *t, const struct ergo_plan *plan) {
    const double end = ergo_clock() + fmin(0.1 * t->options->seconds, 10);
    uint64_t rest = (uint64_t)t->batch->points[0]->parameters->equilibration;
    void *state = NULL;
    double seconds;
    enum ergo_status status =
        ergo_sampler_create(t->ctx, t->model->ops, t->batch, t->device, &state);
    if (status == ERGO_OK)
        status = ergo_cost_start(t->ctx, t->model->ops, NULL, INFINITY, state);
    while (rest && status == ERGO_OK && ergo_clock() < end) {
        const uint64_t count =
            (double)rest < plan->block_steps ? rest : (uint64_t)fmax(1, plan->block_steps);
        status = steps(t, state, count, &seconds);
        t->step += count;
        rest -= count;
        report_progress(t);
    }
    for (size_t m = 0; m < t->batch->count && status == ERGO_OK && t->step; m++) {
        status = t->model->ops->save(t->ctx, state, m, &t->states[m]);
        if (status == ERGO_OK && t->states[m].failed)
            status = ERGO_FAIL(t->ctx, ERGO_E_MEMORY, "no memory for a state");
    }
    if (state)
        ergo_engine_destroy(state);
    return status;
}

/* Rounds over the tunables: the best value of each, with the others as they are. */
static enum ergo_status search(struct tuner *t) {
    const struct ergo_model *model = t->model;
    enum ergo_status status = ERGO_OK;
    bool better = true;
    while (better && status == ERGO_OK && !time_is_up(t)) {
        better = false;
        for (size_t k = 0; k < model->n_tunables && status == ERGO_OK; k++) {
            int64_t values[ERGO_TUNING_VALUES];
            if (model->tunables_room >> k & 1)
                continue;
            const size_t n = ergo_tuning_values(&model->tunables[k], values);
            for (size_t i = 0; i <= n && status == ERGO_OK && !time_is_up(t); i++) {
                int64_t row[TUNABLES_MAX];
                double rate = 0;
                memcpy(row, t->best, sizeof row);
                row[k] = i < n ? values[i] : 0;
                if (row[k] == t->best[k])
                    continue;
                status = try_values(t, row, &rate);
                if (rate > 1.01 * t->best_rate) {
                    t->best_rate = rate;
                    memcpy(t->best, row, sizeof row);
                    better = true;
                }
            }
        }
    }
    return status;
}

/* Times what was found and the automatic launch in turns: medians, and whether it was faster in
 * every turn. On a busy machine the luckiest of many candidates looks better than it is. */
static enum ergo_status confirm(struct tuner *t, double *plain, double *tuned, bool *sure) {
    enum { TURNS = 7 };
    static const int64_t automatic[TUNABLES_MAX] = {0};
    double rates[2][TURNS];
    int wins = 0;
    enum ergo_status status = ERGO_OK;
    t->patient = true;
    for (int i = 0; i < TURNS && status == ERGO_OK; i++) {
        status = try_values(t, automatic, &rates[0][i]);
        if (status == ERGO_OK)
            status = try_values(t, t->best, &rates[1][i]);
        wins += status == ERGO_OK && rates[1][i] > rates[0][i];
    }
    if (status != ERGO_OK)
        return status;
    ergo_stats_sort(rates[0], TURNS);
    ergo_stats_sort(rates[1], TURNS);
    *plain = rates[0][TURNS / 2];
    *tuned = rates[1][TURNS / 2];
    *sure = wins == TURNS && *tuned >= worthwhile * *plain;
    return ERGO_OK;
}

/* The states of all members after `count` steps with these tunables, one after the other. */
static enum ergo_status states_after(struct tuner *t, const int64_t *values, uint64_t count,
                                     struct ergo_text *all) {
    struct ergo_plan plan;
    void *state;
    double seconds;
    enum ergo_status status = begin(t, values, &plan, &state);
    while (count && status == ERGO_OK) {
        const uint64_t block = (uint64_t)fmax(1, fmin((double)count, plan.block_steps));
        status = steps(t, state, block, &seconds);
        count -= block;
    }
    for (size_t m = 0; m < t->batch->count && status == ERGO_OK; m++) {
        struct ergo_text one = {0};
        status = t->model->ops->save(t->ctx, state, m, &one);
        if (status == ERGO_OK)
            ergo_text_append_bytes(all, one.data, one.length);
        if (status == ERGO_OK && (one.failed || all->failed))
            status = ERGO_FAIL(t->ctx, ERGO_E_MEMORY, "no memory for a state");
        ergo_text_free(&one);
    }
    if (state)
        ergo_engine_destroy(state);
    return status;
}

/* A launch that leads to other states is never kept, however fast. Takes a quarter of a second at
 * most. */
static enum ergo_status check_states(struct tuner *t, double steps_per_second) {
    static const int64_t automatic[TUNABLES_MAX] = {0};
    const uint64_t count = (uint64_t)fmax(1, fmin(64, steps_per_second / 4));
    struct ergo_text plain = {0}, tuned = {0};
    enum ergo_status status = states_after(t, automatic, count, &plain);
    if (status == ERGO_OK)
        status = states_after(t, t->best, count, &tuned);
    if (status == ERGO_OK && (!plain.data || !tuned.data || plain.length != tuned.length ||
                              memcmp(plain.data, tuned.data, plain.length) != 0)) {
        struct ergo_text launch = {0};
        for (size_t k = 0; k < t->model->n_tunables; k++)
            if (t->best[k])
                ergo_text_append(&launch, "%s/tuning/%s=%lld", launch.length ? " " : "",
                                 t->model->tunables[k].name, (long long)t->best[k]);
        status = ERGO_FAIL(t->ctx, ERGO_E_AUDIT,
                           "%s: the fastest launch that was found (%s) leads to other states than "
                           "the automatic one after %llu steps from step %llu on: a defect of %s's "
                           "compiler, or of ergocl, worth a report; nothing was kept",
                           t->job->name, launch.data ? launch.data : "", (unsigned long long)count,
                           (unsigned long long)t->step, t->device->summary.name);
        ergo_text_free(&launch);
    }
    ergo_text_free(&plain);
    ergo_text_free(&tuned);
    return status;
}

static void describe(const struct tuner *t, const struct ergo_tuning_entry *entry, double plain,
                     double tuned, const char *automatic, const char *path, struct ergo_text *out) {
    struct ergo_plan plan = {0};
    ergo_text_append(out, "%s on %s (%s), %s\n", t->job->name, t->device->summary.name,
                     t->device->summary.platform, entry->path);
    ergo_text_append(out, "  tried      %zu launch shapes, %zu more were refused\n", t->tried,
                     t->refused);
    ergo_text_append(out, "  automatic  %.4g %s\n             %s\n", plain, t->sampler->rate_unit,
                     automatic);
    if (!entry->n_settings) {
        ergo_text_append(out,
                         "  nothing is reliably faster by %.0f%%: the automatic launch stays\n",
                         100 * (worthwhile - 1));
        return;
    }
    set_all(t, t->best);
    if (ergo_sampler_plan(t->ctx, t->model->ops, t->batch, t->device, &plan) != ERGO_OK)
        ergo_error_clear(t->ctx);
    ergo_text_append(out, "  tuned      %.4g, %.2f times as fast\n             %s: %s\n", tuned,
                     tuned / plain, plan.path, plan.launch);
    for (size_t s = 0; s < entry->n_settings; s++)
        ergo_text_append(out, "             /tuning/%s = %lld\n", entry->settings[s].name,
                         (long long)entry->settings[s].value);
    ergo_text_append(out, "  profile    %s\n", path);
}

/* Tunes, once the device is open. */
static enum ergo_status tune(struct tuner *t, const char *path, struct ergo_text *out) {
    static const int64_t automatic[TUNABLES_MAX] = {0};
    const struct ergo_model *model = t->model;
    struct ergo_tuning_entry entry;
    struct ergo_plan plan;
    double plain = 0, tuned = 0;
    bool sure = false;
    ergo_tuning_clear(t->batch);
    enum ergo_status status = ergo_sampler_plan(t->ctx, t->model->ops, t->batch, t->device, &plan);
    if (status == ERGO_OK)
        status = lead_in(t, &plan);
    if (status == ERGO_OK)
        status = try_values(t, automatic, &t->best_rate);
    if (status == ERGO_OK && !(t->best_rate > 0))
        status = ERGO_FAIL(t->ctx, ERGO_E_DEVICE, "%s does not run on %s with its automatic launch",
                           t->job->name, t->device->summary.name);
    if (status == ERGO_OK)
        status = search(t);
    if (status == ERGO_OK && !ergo_session_stop_is_requested(NULL))
        status = confirm(t, &plain, &tuned, &sure);
    if (status == ERGO_OK && sure)
        status = check_states(t, plain / plan.work_per_step);
    if (status == ERGO_OK && ergo_session_stop_is_requested(NULL))
        status = ERGO_STOPPED;
    if (status != ERGO_OK)
        return status;
    ergo_tuning_clear(t->batch);
    ergo_tuning_identify(t->batch, t->device, &plan, &entry);
    entry.type[0] = '\0'; /* of this device alone */
    entry.gain = tuned / plain;
    const time_t now = time(NULL);
    struct tm utc;
    strftime(entry.date, sizeof entry.date, "%Y-%m-%d", gmtime_r(&now, &utc));
    for (size_t k = 0; k < model->n_tunables && sure; k++)
        if (t->best[k]) {
            struct ergo_tuning_setting *s = &entry.settings[entry.n_settings++];
            snprintf(s->name, sizeof s->name, "%s", model->tunables[k].name);
            s->value = t->best[k];
        }
    status = ergo_tuning_keep(t->ctx, path, &entry);
    if (status == ERGO_OK)
        describe(t, &entry, plain, tuned, plan.launch, path, out);
    return status;
}

enum ergo_status ergo_tune(struct ergo_context *ctx, const struct ergo_job *job,
                           const struct ergo_tune_options *options, char **text) {
    ERGO_CLEAR(text);
    ERGO_ENTRY(ctx, job, options, text);
    struct tuner t = {.ctx = ctx, .options = options, .begun = ergo_clock()};
    const struct ergo_run_options run_options = {.device = options->device};
    const struct ergo_session session = {.options = &run_options};
    struct ergo_text out = {0};
    char *path = options->path ? strdup(options->path) : ergo_tuning_user_path();
    enum ergo_status status = ERGO_OK;
    if (!path)
        status = ERGO_FAIL(ctx, ERGO_E_IO,
                           "there is no place for a profile: set ERGOCL_CONFIG_DIR "
                           "or HOME, or name a file (-o)");
    if (status == ERGO_OK)
        status = ergo_job_copy(ctx, job, &t.job);
    if (status == ERGO_OK) {
        t.sampler = t.job->sampler;
        t.model = t.job->model;
        t.batch = &t.job->batches[0];
        t.states = calloc(t.batch->count + 1, sizeof *t.states);
        status = !t.states ? ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for states")
                 : t.model->n_tunables > TUNABLES_MAX
                     ? ERGO_FAIL(ctx, ERGO_E_INTERNAL, "%s has too many tunables", t.sampler->name)
                     : ergo_device_open(ctx, ergo_session_device(&session, t.job), &t.device);
    }
    if (status == ERGO_OK)
        status = tune(&t, path, &out);
    if (status == ERGO_OK && !(*text = ergo_utf8_take_shown(&out)))
        status = ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for a text");
    ergo_text_free(&out);
    for (size_t m = 0; t.states && m < t.batch->count; m++)
        ergo_text_free(&t.states[m]);
    free(t.states);
    ergo_device_close(t.device);
    ergo_job_destroy(t.job);
    free(path);
    return status;
}
