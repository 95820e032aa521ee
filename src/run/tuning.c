/* Which profile a batch gets. */
#include "run/tuning.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/program.h"

/* data/tuning/: the files of that folder, embedded. */
extern const struct ergo_embedded ergo_tuning_files[];
extern const size_t ergo_tuning_file_count;

static struct ergo_value *find_value(const struct ergo_point *point, const char *name) {
    for (size_t k = 0; k < point->job->n_keys; k++) {
        const char *pointer = point->job->keys[k]->pointer;
        if (strncmp(pointer, "/tuning/", 8) == 0 && strcmp(pointer + 8, name) == 0)
            return &point->values[k];
    }
    return NULL;
}

void ergo_tuning_set(const struct ergo_batch *batch, const char *name, int64_t number) {
    for (size_t m = 0; m < batch->count; m++) {
        struct ergo_value *value = find_value(batch->points[m], name);
        if (!value || (m && batch->points[m]->values == batch->points[m - 1]->values))
            continue; /* replicas have theirs in common */
        value->present = true;
        value->integer = number;
        value->real = (double)number;
        ergo_point_fill(batch->points[m]);
    }
}

void ergo_tuning_clear(const struct ergo_batch *batch) {
    const struct ergo_model *model = batch->job->model;
    for (size_t t = 0; t < model->n_tunables; t++)
        ergo_tuning_set(batch, model->tunables[t].name, 0);
}

bool ergo_tuning_given(const struct ergo_batch *batch) {
    const struct ergo_model *model = batch->job->model;
    for (size_t t = 0; t < model->n_tunables; t++) {
        const struct ergo_value *value = find_value(batch->points[0], model->tunables[t].name);
        if (value && (value->given || value->integer))
            return true;
    }
    return false;
}

bool ergo_tuning_given_any(const struct ergo_job *job) {
    bool any = false;
    for (size_t b = 0; b < job->n_batches && !any; b++)
        any = ergo_tuning_given(&job->batches[b]);
    return any;
}

void ergo_tuning_identify(const struct ergo_batch *batch, const struct ergo_device *device,
                          const struct ergo_plan *plan, struct ergo_tuning_entry *entry) {
    memset(entry, 0, sizeof *entry);
    snprintf(entry->device, sizeof entry->device, "%s", device->summary.name);
    snprintf(entry->driver, sizeof entry->driver, "%s", device->summary.driver);
    snprintf(entry->type, sizeof entry->type, "%s", device->summary.type);
    snprintf(entry->sampler, sizeof entry->sampler, "%s", batch->job->sampler->name);
    const char *name = batch->job->model->name;
    snprintf(entry->model, sizeof entry->model, "%s", name ? name : "");
    snprintf(entry->path, sizeof entry->path, "%s", plan->path);
    entry->members = (double)batch->count;
    entry->work_per_step = plan->work_per_step;
}

/* Near enough: on an H200 stripes of an Ising lattice of 4096 x 4096 are 1.38 times as fast as
 * whole sub-sweeps, and with twice the sites no longer faster. */
static bool is_near(double a, double b) {
    return a <= 1.5 * b && b <= 1.5 * a;
}

/* How well an entry fits a device: 3 the very one, 2 its family, 1 its type, 0 not. */
static int fit(const struct ergo_tuning_entry *entry, const struct ergo_device_summary *device) {
    if (*entry->device)
        return strcmp(entry->device, device->name) == 0 ? 3 : 0;
    if (*entry->family)
        return strstr(device->name, entry->family) ? 2 : 0;
    return *entry->type && strcmp(entry->type, device->type) == 0 ? 1 : 0;
}

/* Removes entries of other models and devices. Most runs have none left and need no plan. */
static void keep_fitting(struct ergo_tuning_list *list, const struct ergo_job *job,
                         const struct ergo_device_summary *device) {
    const char *model = job->model->name ? job->model->name : "";
    size_t kept = 0;
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->entries[i].sampler, job->sampler->name) == 0 &&
            strcmp(list->entries[i].model, model) == 0 && fit(&list->entries[i], device))
            list->entries[kept++] = list->entries[i];
    list->count = kept;
}

/* The best of the list; of equals the one whose work is nearest. */
static const struct ergo_tuning_entry *best_of(const struct ergo_tuning_list *list,
                                               const struct ergo_device_summary *device,
                                               const struct ergo_tuning_entry *batch) {
    const struct ergo_tuning_entry *best = NULL;
    int best_fit = 0;
    double best_ratio = 0;
    for (size_t i = 0; i < list->count; i++) {
        const struct ergo_tuning_entry *e = &list->entries[i];
        const int f = fit(e, device);
        if (strcmp(e->model, batch->model) != 0 || strcmp(e->path, batch->path) != 0 ||
            !is_near(e->members, batch->members) ||
            !is_near(e->work_per_step, batch->work_per_step))
            continue;
        const double ratio = e->work_per_step > batch->work_per_step
                                 ? e->work_per_step / batch->work_per_step
                                 : batch->work_per_step / e->work_per_step;
        if (f > best_fit || (f == best_fit && ratio < best_ratio)) {
            best = e;
            best_fit = f;
            best_ratio = ratio;
        }
    }
    return best;
}

static void read_all(struct ergo_context *ctx, struct ergo_tuning_list *user,
                     struct ergo_tuning_list *shipped) {
    char *path = ergo_tuning_user_path();
    if (path && ergo_tuning_read(ctx, path, user) != ERGO_OK) {
        ergo_log(ctx, ERGO_LOG_WARNING, "tuning profiles are not used: %s",
                 ergo_error_message(ctx));
        ergo_error_clear(ctx);
        ergo_tuning_list_free(user);
    }
    for (size_t i = 0; i < ergo_tuning_file_count; i++)
        if (ergo_tuning_parse(ctx, ergo_tuning_files[i].path, ergo_tuning_files[i].text,
                              ergo_tuning_files[i].length, shipped) != ERGO_OK)
            ergo_error_clear(ctx); /* embedded profiles cannot be wrong: a unit test reads them
                                    * all */
    free(path);
}

void ergo_tuning_apply(struct ergo_context *ctx, const struct ergo_job *job,
                       const struct ergo_device *device) {
    struct ergo_tuning_list user = {0}, shipped = {0};
    const char *folder = getenv("ERGOCL_CONFIG_DIR");
    if (folder && !*folder) /* set and empty: the user wants no profiles */
        return;
    read_all(ctx, &user, &shipped);
    keep_fitting(&user, job, &device->summary);
    keep_fitting(&shipped, job, &device->summary);
    for (size_t b = 0; b < job->n_batches && user.count + shipped.count; b++) {
        const struct ergo_batch *batch = &job->batches[b];
        struct ergo_tuning_entry mine;
        struct ergo_plan plan;
        if (ergo_sampler_plan(ctx, job->model->ops, batch, device, &plan) != ERGO_OK) {
            ergo_error_clear(ctx); /* whoever plans next says so */
            continue;
        }
        ergo_tuning_identify(batch, device, &plan, &mine);
        const struct ergo_tuning_entry *best = best_of(&user, &device->summary, &mine);
        if (!best)
            best = best_of(&shipped, &device->summary, &mine);
        for (size_t s = 0; best && s < best->n_settings; s++)
            ergo_tuning_set(batch, best->settings[s].name, best->settings[s].value);
        if (best && ergo_sampler_plan(ctx, job->model->ops, batch, device, &plan) != ERGO_OK) {
            ergo_log(ctx, ERGO_LOG_INFO, "batch %zu: the tuning profile does not fit: %s", b + 1,
                     ergo_error_message(ctx));
            ergo_error_clear(ctx);
            ergo_tuning_clear(batch);
        } else if (best) {
            ergo_log(ctx, ERGO_LOG_INFO, "batch %zu: launch from a tuning profile: %s, %s", b + 1,
                     plan.path, plan.launch);
        }
    }
    ergo_tuning_list_free(&user);
    ergo_tuning_list_free(&shipped);
}

enum ergo_status ergo_tuning_open(struct ergo_context *ctx, const struct ergo_job *job,
                                  const char *selector, struct ergo_job **own,
                                  struct ergo_device **device) {
    *device = NULL;
    enum ergo_status status = ergo_job_copy(ctx, job, own);
    if (status != ERGO_OK) {
        *own = NULL;
        return status;
    }
    if (!selector)
        selector = getenv("ERGOCL_DEVICE");
    if (!selector || !*selector)
        selector = (*own)->points[0].parameters->device;
    status = ergo_device_open(ctx, selector, device);
    if (status != ERGO_OK) {
        ergo_job_destroy(*own);
        *own = NULL;
        return status;
    }
    if (!ergo_tuning_given_any(*own))
        ergo_tuning_apply(ctx, *own, *device);
    return ERGO_OK;
}
