/* Runs the job on each device, compares the bits, and searches for the first step that differs. */
#include "compare/compare.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/entry.h"
#include "base/text.h"
#include "base/file.h"
#include "device/candidate.h"
#include "run/watch.h"

/* What failed is no reason to lose the rest. */
static void warn(struct ergo_context *ctx, const char *what) {
    ergo_log(ctx, ERGO_LOG_WARNING, "%s: %s", what, ergo_error_message(ctx));
    ergo_error_clear(ctx);
}

/* ---- which devices ----------------------------------------------------------------------------
 */

static enum ergo_status add_device(struct ergo_context *ctx, struct ergo_comparison *c,
                                   const char *selector) {
    struct ergo_compared_device *grown =
        realloc(c->devices, (c->n_devices + 1) * sizeof *c->devices);
    if (grown) {
        c->devices = grown;
        grown[c->n_devices] = (struct ergo_compared_device){.selector = strdup(selector)};
        if (grown[c->n_devices++].selector)
            return ERGO_OK;
    }
    return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for a list of devices");
}

static enum ergo_status add_all(struct ergo_context *ctx, struct ergo_comparison *c) {
    struct ergo_device_summary *list = NULL;
    size_t count = 0;
    enum ergo_status status = ergo_device_list(ctx, true, &list, &count);
    for (size_t i = 0; i < count && status == ERGO_OK; i++)
        if (list[i].usable)
            status = add_device(ctx, c, list[i].id);
    free(list);
    return status;
}

/* A device that is not there is no disagreement: nothing runs, and the message is that of a run. */
static enum ergo_status refuse_missing(struct ergo_context *ctx, const struct ergo_comparison *c) {
    struct ergo_candidate *list = NULL;
    size_t count = 0, index = 0;
    enum ergo_status status = ergo_candidate_list(ctx, &list, &count);
    for (size_t i = 0; i < c->n_devices && status == ERGO_OK; i++) {
        const enum ergo_choice choice =
            ergo_candidate_choose(c->devices[i].selector, list, count, &index, NULL);
        struct ergo_device *device = NULL;
        if (choice == ERGO_CHOICE_NONE || choice == ERGO_CHOICE_MALFORMED)
            status = ergo_device_open(ctx, c->devices[i].selector, &device);
        ergo_device_close(device);
    }
    free(list);
    return status;
}

static enum ergo_status choose_devices(struct ergo_context *ctx, struct ergo_comparison *c,
                                       const struct ergo_compare_options *options) {
    enum ergo_status status = options->n_devices ? ERGO_OK : add_all(ctx, c);
    for (size_t i = 0; i < options->n_devices && status == ERGO_OK; i++)
        status = add_device(ctx, c, options->devices[i]);
    if (status == ERGO_OK && c->n_devices < (options->n_devices ? 2 : 1))
        return ERGO_FAIL(ctx, ERGO_E_DEVICE, "%s; \"ergocl devices\" lists those of this machine",
                         options->n_devices ? "a comparison needs two devices, and one is named"
                                            : "no device is usable here");
    if (status == ERGO_OK && options->n_devices)
        status = refuse_missing(ctx, c);
    if (status == ERGO_OK && c->n_devices == 1)
        ergo_log(ctx, ERGO_LOG_WARNING,
                 "one device is usable here, and there is no other to compare it with: its run is "
                 "audited against the host, and gets its rates");
    return status;
}

/* ---- energy ------------------------------------------------------------------------------------
 */

/* Reads an energy counter during a run, and passes its progress on. */
struct watcher {
    struct ergo_energy *energy;
    const struct ergo_compare_options *asked;
    double first, last; /* joules */
    double first_done, last_done, begun;
    bool counting;
};

static void watch_progress(void *user, const struct ergo_progress *progress) {
    struct watcher *w = user;
    if (w->asked->progress)
        w->asked->progress(w->asked->user, progress);
    if (!w->energy || strcmp(progress->phase, "writing") == 0)
        return;
    const double joules = ergo_energy_joules(w->energy);
    if (!w->counting) {
        w->begun = ergo_clock();
        w->first = joules;
        w->first_done = progress->done;
        w->counting = true;
    }
    w->last = joules;
    w->last_done = progress->done;
}

/* Counters are read with each progress message, a fifth of a second apart: less than a second gives
 * no usable number. */
static void note_energy(const struct watcher *w, struct ergo_compared_device *d) {
    const double joules = w->last - w->first, work = w->last_done - w->first_done;
    if (!w->counting || ergo_clock() - w->begun < 1 || !(joules > 0) || !(work > 0))
        return;
    d->joules = joules;
    d->joules_work = work;
}

static struct ergo_energy *open_energy(struct ergo_context *ctx, const char *selector) {
    struct ergo_device *device = NULL;
    struct ergo_energy *energy = NULL;
    if (ergo_device_open(ctx, selector, &device) == ERGO_OK)
        energy = ergo_energy_open(device);
    else
        ergo_error_clear(ctx); /* the run itself reports this error */
    ergo_device_close(device);
    return energy;
}

/* ---- runs -------------------------------------------------------------------------------------
 */

/* Moves the messages of a run that failed to its device. */
static void keep_message(struct ergo_context *ctx, struct ergo_compared_device *d) {
    d->message = strdup(ergo_error_message(ctx));
    ergo_error_clear(ctx);
}

static const struct ergo_run_watch unaudited = {.unaudited = true};

/* If the audit failed, the device runs once more without it, in another folder. These results are
 * compared, to find where they begin to be wrong. */
static void run_on(struct ergo_context *ctx, const struct ergo_job *job, const char *directory,
                   struct ergo_compared_device *d) {
    char *folder = NULL;
    enum ergo_status status = ergo_folder_within(ctx, directory, "bisection", &folder);
    const struct ergo_run_options options = {
        .directory = folder, .device = d->selector, .overwrite = true, .watch = &unaudited};
    if (status == ERGO_OK)
        status = ergo_run(ctx, job, &options, &d->result);
    if (status != ERGO_OK)
        ergo_error_clear(ctx);
    free(folder);
}

static enum ergo_status run_each(struct ergo_context *ctx, const struct ergo_job *job,
                                 struct ergo_comparison *c, const char *directory,
                                 const struct ergo_compare_options *asked) {
    c->reference = c->n_devices;
    for (size_t i = 0; i < c->n_devices; i++) {
        struct ergo_compared_device *d = &c->devices[i];
        char name[32];
        snprintf(name, sizeof name, "device-%zu", i);
        const enum ergo_status found = ergo_folder_within(ctx, directory, name, &d->folder);
        if (found != ERGO_OK)
            return found;
        struct watcher watcher = {.energy = open_energy(ctx, d->selector), .asked = asked};
        const struct ergo_run_watch watch = {.compared = c->n_devices > 1};
        const struct ergo_run_options options = {.directory = d->folder,
                                                 .device = d->selector,
                                                 .overwrite = asked->overwrite,
                                                 .watch = &watch,
                                                 .progress = watch_progress,
                                                 .user = &watcher};
        ergo_log(ctx, ERGO_LOG_INFO, "device %zu of %zu: %s", i + 1, c->n_devices, d->selector);
        const double begun = ergo_clock();
        d->status = ergo_run(ctx, job, &options, &d->result);
        d->seconds = ergo_clock() - begun;
        note_energy(&watcher, d);
        ergo_energy_close(watcher.energy);
        if (d->status == ERGO_STOPPED)
            return ERGO_STOPPED;
        if (d->status == ERGO_E_JOB || d->status == ERGO_E_IO)
            return d->status; /* not a device's fault */
        if (d->status != ERGO_OK)
            keep_message(ctx, d);
        else if (ergo_result_write_page(ctx, d->result, d->folder) != ERGO_OK)
            warn(ctx, "the report of a run was not written");
        if (d->status == ERGO_E_AUDIT)
            run_on(ctx, job, directory, d);
        else if (d->status == ERGO_OK && c->reference == c->n_devices)
            c->reference = i;
    }
    if (c->reference == c->n_devices)
        return ERGO_FAIL(ctx, ERGO_E_DEVICE, "the job ran on none of these devices; of %s: %s",
                         c->devices[0].selector,
                         c->devices[0].message ? c->devices[0].message : "nothing is known");
    return ERGO_OK;
}

static bool same_sums(const struct ergo_member_result *a, const struct ergo_member_result *b) {
    const size_t n = ergo_member_state_size(a, a->n_samples);
    double *x = malloc((n + 1) * sizeof *x), *y = malloc((n + 1) * sizeof *y);
    const bool there = x && y && ergo_member_state_size(b, b->n_samples) == n;
    if (there) {
        ergo_member_save(a, x);
        ergo_member_save(b, y);
    }
    const bool same = there && memcmp(x, y, n * sizeof *x) == 0;
    free(x);
    free(y);
    return same;
}

/* Were the same samples measured, to the bit? Where they are not kept: are all sums over them the
 * same? */
static bool same_samples(const struct ergo_member_result *a, const struct ergo_member_result *b,
                         size_t columns) {
    bool same = a->n_samples == b->n_samples;
    if (same && (!a->series || !b->series))
        return a->series == b->series && same_sums(a, b);
    for (size_t k = 0; k < columns && same && a->n_samples; k++)
        same =
            !a->series[k] || memcmp(a->series[k], b->series[k], a->n_samples * sizeof(double)) == 0;
    return same;
}

/* Number of points that end in different states; *first: the first of them. */
static size_t count_different(const struct ergo_result *a, const struct ergo_result *b,
                              size_t *first) {
    size_t different = 0;
    for (size_t m = 0; m < a->n_members; m++)
        if (a->members[m].digest != b->members[m].digest ||
            a->members[m].steps != b->members[m].steps) {
            if (!different++)
                *first = m;
        }
    return different;
}

/* Compares each device with the reference. Results of one job have the same members. */
static void judge(struct ergo_comparison *c) {
    const struct ergo_result *a = c->devices[c->reference].result;
    c->first_device = c->n_devices;
    for (size_t i = 0; i < c->n_devices; i++) {
        struct ergo_compared_device *d = &c->devices[i];
        size_t first = 0;
        if (!a || !d->result)
            continue;
        d->n_different = count_different(a, d->result, &first);
        d->same_samples = true;
        for (size_t m = 0; m < a->n_members && d->same_samples; m++)
            d->same_samples =
                a->members[m].digest != d->result->members[m].digest ||
                same_samples(&a->members[m], &d->result->members[m], a->job->model->n_columns);
        if (d->n_different && c->first_device == c->n_devices) {
            c->first_device = i;
            c->first_point = first;
        }
    }
}

/* ---- where it begins --------------------------------------------------------------------------
 */

/* Do both devices agree after `steps` steps, of which at most `most` are equilibration? Runs the
 * job shortened to that. */
static enum ergo_status agree_after(struct ergo_context *ctx, const struct ergo_comparison *c,
                                    const char *folder, uint64_t steps, uint64_t most,
                                    bool *agree) {
    struct ergo_result *results[2] = {NULL, NULL};
    struct ergo_job *job = NULL;
    size_t first = 0;
    enum ergo_status status = ergo_comparison_short_job(ctx, c, steps, most, &job);
    for (size_t i = 0; i < 2 && status == ERGO_OK; i++) {
        const size_t which = i ? c->first_device : c->reference;
        const struct ergo_run_options options = {.directory = folder,
                                                 .device = c->devices[which].selector,
                                                 .overwrite = true,
                                                 .watch = &unaudited};
        status = ergo_run(ctx, job, &options, &results[i]);
    }
    if (status == ERGO_OK)
        *agree = count_different(results[0], results[1], &first) == 0;
    for (size_t i = 0; i < 2; i++)
        ergo_result_destroy(results[i]);
    ergo_job_destroy(job);
    return status;
}

/* Bisection over the steps of measuring; if states differ before, over those of equilibration. */
static enum ergo_status find_first_step(struct ergo_context *ctx, struct ergo_comparison *c,
                                        const char *directory) {
    const struct ergo_point *point = c->devices[c->reference].result->members[c->first_point].point;
    const uint64_t equilibration = (uint64_t)point->parameters->equilibration;
    const uint64_t total = equilibration + (uint64_t)point->parameters->sweeps;
    char *folder = NULL;
    enum ergo_status status = ergo_folder_within(ctx, directory, "bisection", &folder);
    if (status != ERGO_OK)
        return status;
    uint64_t same = 0, differs = total; /* states are known to be the same after `same` steps and
                                         * to differ after `differs` */
    while (differs - same > 1 && status == ERGO_OK) {
        const uint64_t steps = same + (differs - same) / 2;
        bool agree = false;
        status = agree_after(ctx, c, folder, steps, equilibration, &agree);
        if (agree)
            same = steps;
        else
            differs = steps;
    }
    c->last_same = same;
    if (status == ERGO_OK)
        c->first_step = differs;
    free(folder);
    return status;
}

static enum ergo_status write_json(struct ergo_context *ctx, const struct ergo_comparison *c,
                                   const char *directory) {
    char *text = NULL;
    struct ergo_folder folder;
    enum ergo_status status = ergo_folder_open(ctx, directory, &folder);
    if (status == ERGO_OK)
        status = ergo_comparison_json(ctx, c, &text);
    if (status == ERGO_OK)
        status = ergo_file_write(ctx, &folder, "compare.json", text, strlen(text));
    free(text);
    ergo_folder_close(&folder);
    return status;
}

enum ergo_status ergo_compare(struct ergo_context *ctx, const struct ergo_job *job,
                              const struct ergo_compare_options *options,
                              struct ergo_comparison **comparison) {
    static const struct ergo_compare_options none = {0};
    ERGO_CLEAR(comparison);
    ERGO_ENTRY(ctx, job, comparison);
    options = options ? options : &none;
    enum ergo_status status =
        ergo_entry_texts(ctx, __func__, "options->devices", options->devices, options->n_devices);
    if (status != ERGO_OK)
        return status;
    struct ergo_comparison *c = calloc(1, sizeof *c);
    const char *directory = options->directory ? options->directory : job->name;
    if (!c)
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for a comparison");
    status = choose_devices(ctx, c, options);
    if (status == ERGO_OK)
        status = run_each(ctx, job, c, directory, options);
    if (status != ERGO_OK) {
        ergo_comparison_destroy(c);
        return status;
    }
    judge(c);
    if (c->first_device < c->n_devices) {
        status = find_first_step(ctx, c, directory);
        if (status != ERGO_OK && status != ERGO_STOPPED) /* what is known is worth telling */
            warn(ctx, "the first step that differs was not found");
    }
    if (status != ERGO_STOPPED)
        status = ergo_comparison_measure(ctx, c, directory);
    if (status == ERGO_OK && !ergo_comparison_agrees(c))
        status = ergo_comparison_diagnose(ctx, c, directory);
    if (status == ERGO_OK)
        status = write_json(ctx, c, directory);
    if (status == ERGO_OK)
        status = ergo_comparison_write_page(ctx, c, directory);
    *comparison = c;
    return status;
}
