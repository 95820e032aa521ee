/* Known answers: tiny jobs whose ends are known. */
#include "run/known.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_in.h"
#include "device/cache.h"
#include "device/probe.h"
#include "job/schedule.h"
#include "result/result.h"
#include "run/cost.h"

static const char kind[] = "known", folder_of_jobs[] = "tests/contract/jobs/";

static const struct ergo_embedded *file_named(const char *name) {
    for (size_t i = 0; i < ergo_known_file_count; i++)
        if (strcmp(ergo_known_files[i].path, name) == 0)
            return &ergo_known_files[i];
    return NULL;
}

static enum ergo_status digests_of(struct ergo_context *ctx, const char *name, char **digests) {
    const struct ergo_embedded *file = file_named("digests.json");
    struct ergo_text path = {0}, all = {0};
    cJSON *root = NULL;
    ergo_text_append(&path, "%s%s", folder_of_jobs, name);
    enum ergo_status status = ergo_json_in(ctx, file->path, file->text, file->length, &root);
    const cJSON *all_jobs = ergo_in_member(root, "digests", cJSON_Object);
    const cJSON *list = ergo_in_member(all_jobs, path.failed ? "" : path.data, cJSON_Array);
    for (const cJSON *each = list ? list->child : NULL; each; each = each->next)
        ergo_text_append(&all, "%s ", each->valuestring);
    if (status == ERGO_OK && (all.failed || path.failed))
        status = ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for known digests");
    *digests = status == ERGO_OK ? ergo_text_take(&all) : NULL;
    cJSON_Delete(root);
    ergo_text_free(&path);
    ergo_text_free(&all);
    return status;
}

enum ergo_status ergo_known_job(struct ergo_context *ctx, const struct ergo_job *job,
                                struct ergo_job **known, char **digests) {
    const char *sampler = job->sampler->name;
    enum ergo_status status = ERGO_OK;
    *known = NULL;
    *digests = NULL;
    for (size_t i = 0; i < ergo_known_file_count && status == ERGO_OK; i++) {
        const struct ergo_embedded *file = &ergo_known_files[i];
        if (strncmp(file->path, sampler, strlen(sampler)) != 0)
            continue;
        status = ergo_job_parse(ctx, file->text, file->length, file->path, NULL, 0, known);
        if (status == ERGO_OK && (*known)->model == job->model)
            return digests_of(ctx, file->path, digests);
        ergo_job_destroy(*known);
        *known = NULL;
    }
    return status;
}

static enum ergo_status compare(struct ergo_context *ctx, const struct ergo_device *device,
                                const struct ergo_point *point, uint64_t step,
                                const struct ergo_text *state, const char *digests) {
    enum { DIGITS = 16 };
    uint64_t found = 0;
    const char *right = digests + point->index * (DIGITS + 1);
    if (!ergo_state_digest(point->job, step, state->data, state->length, &found))
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for a digest");
    if (found == strtoull(right, NULL, 16))
        return ERGO_OK;
    return ERGO_FAIL(ctx, ERGO_E_AUDIT,
                     "audit of %s failed on %s (%s): it does not give the known answer of a small "
                     "job of this model. Point %zu of %s ends in the digest %016llx, and should in "
                     "%.*s. This device and driver compute these kernels wrongly: update the "
                     "driver, or take another device",
                     point->job->sampler->name, device->summary.name, device->summary.driver,
                     point->index, point->job->name, (unsigned long long)found, DIGITS, right);
}

/* No samples: measuring leaves the chain alone. */
static enum ergo_status run(struct ergo_context *ctx, struct ergo_device *device,
                            const struct ergo_batch *batch, const char *digests) {
    const struct ergo_sampler_ops *ops = batch->job->model->ops;
    const uint64_t steps = ergo_schedule_of(batch->points[0]).total;
    void *state = NULL;
    enum ergo_status status = ergo_sampler_create(ctx, ops, batch, device, &state);
    if (status == ERGO_OK)
        status = ergo_cost_start(ctx, ops, NULL, INFINITY, state);
    if (status == ERGO_OK)
        status = ergo_sampler_advance(ctx, ops, state, 0, 0, steps, 0);
    for (size_t m = 0; m < batch->count && status == ERGO_OK; m++) {
        struct ergo_text text = {0};
        status = ops->save(ctx, state, m, &text);
        if (status == ERGO_OK && text.failed)
            status = ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for a state");
        if (status == ERGO_OK)
            status = compare(ctx, device, batch->points[m], steps, &text, digests);
        ergo_text_free(&text);
    }
    ergo_engine_destroy(state);
    return status;
}

/* Where answers are remembered, and the key of this one; NULL: nowhere. Kernels of a folder are
 * edited while they are in use. */
static char *find_memory(struct ergo_context *ctx, const struct ergo_device *device,
                         const struct ergo_job *job, const char *digests, uint8_t key[32]) {
    const char *edited = getenv("ERGOCL_CL_DIR");
    char *folder = edited && *edited ? NULL : ergo_cache_folder(ctx);
    struct ergo_text all = {0};
    ergo_probe_identity(device, &all);
    ergo_text_append(&all, "%s%s", job->canonical, digests);
    for (size_t i = 0; i < ergo_embedded_count && folder; i++)
        ergo_text_append_bytes(&all, ergo_embedded_files[i].text, ergo_embedded_files[i].length);
    if (!all.failed)
        ergo_sha256(all.data, all.length, key);
    else {
        free(folder);
        folder = NULL;
    }
    ergo_text_free(&all);
    return folder;
}

static bool is_remembered(const char *folder, const uint8_t key[32]) {
    char *payload = NULL;
    size_t length = 0;
    const char *reason = "";
    const bool found =
        folder && ergo_cache_read(folder, kind, key, &payload, &length, &reason) == ERGO_CACHE_HIT;
    free(payload);
    return found;
}

enum ergo_status ergo_known_ask(struct ergo_context *ctx, struct ergo_device *device,
                                const struct ergo_job *job, const char **how) {
    struct ergo_job *known = NULL;
    struct ergo_text said = {0};
    char *digests = NULL, *folder = NULL;
    uint8_t key[32];
    *how = NULL;
    enum ergo_status status = ergo_known_job(ctx, job, &known, &digests);
    if (status != ERGO_OK || !known)
        goto out;
    folder = find_memory(ctx, device, known, digests, key);
    *how = "remembered";
    if (is_remembered(folder, key))
        goto out;
    *how = "asked";
    status = run(ctx, device, &known->batches[0], digests); /* others may be other programs */
    ergo_text_append(&said, "%s of %s, driver %s\n", known->name, device->summary.name,
                     device->summary.driver);
    if (status == ERGO_OK && folder && !said.failed)
        ergo_cache_write(ctx, folder, kind, key, "a known answer", said.data, said.length);
out:
    ergo_text_free(&said);
    free(folder);
    free(digests);
    ergo_job_destroy(known);
    return status;
}
