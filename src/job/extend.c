/*
 * A job that goes on with what another has measured: longer, with more replicas, with more points.
 * Points are the same that agree in all keys but those that say how a run is made, and its length.
 */
#include <stdlib.h>
#include <string.h>

#include "job/build.h"

static bool is_length(const struct ergo_key *key) {
    return strcmp(key->pointer, "/run/sweeps") == 0;
}

/* ---- points by what they are ----------------------------------------------------------------- */

struct entry {
    uint64_t hash;
    size_t scan_index;
};

static int by_hash(const void *a, const void *b) {
    const struct entry *x = a, *y = b;
    return x->hash < y->hash ? -1 : x->hash > y->hash;
}

static size_t replicas_of(const struct ergo_job *job) {
    return (size_t)job->points[0].parameters->replicas;
}

/* The scan points of a job, by the hash of all that must stay, in order; NULL: no memory. */
static struct entry *entries_of(const struct ergo_job *job, size_t *count) {
    const size_t replicas = replicas_of(job), n = *count = job->n_points / replicas;
    struct entry *entries = malloc(n * sizeof *entries);
    struct ergo_text text = {0};
    for (size_t s = 0; entries && s < n && !text.failed; s++) {
        const struct ergo_point *point = &job->points[s * replicas];
        text.length = 0;
        for (size_t k = 0; k < job->n_keys; k++) {
            const struct ergo_key *key = job->keys[k];
            if (key->flags & ERGO_KEY_HOW || is_length(key) || !point->values[k].present ||
                strcmp(key->pointer, "/replicas") == 0)
                continue;
            ergo_text_append(&text, "%s=", key->pointer);
            ergo_value_canonical(&text, key, &point->values[k]);
            ergo_text_append(&text, "\n");
        }
        entries[s] = (struct entry){text.failed ? 0 : ergo_hash64(text.data, text.length), s};
    }
    const bool ok = entries && !text.failed;
    ergo_text_free(&text);
    if (ok)
        qsort(entries, n, sizeof *entries, by_hash);
    else
        free(entries);
    return ok ? entries : NULL;
}

static bool has_twins(const struct entry *entries, size_t n) {
    for (size_t i = 1; i < n; i++)
        if (entries[i].hash == entries[i - 1].hash)
            return true;
    return false;
}

/* ---- refusals -------------------------------------------------------------------------------- */

static void append_value(struct ergo_text *out, const struct ergo_key *key,
                         const struct ergo_value *value) {
    if (!value->present)
        ergo_text_append(out, "nothing");
    else if (value->automatic)
        ergo_text_append(out, "\"auto\"");
    else if (ergo_value_type(key, value) == ERGO_KEY_REAL || key->type == ERGO_KEY_TIME)
        ergo_text_append_number(out, value->real);
    else
        ergo_value_canonical(out, key, value);
}

static bool varies(const struct ergo_job *job, size_t k) {
    for (size_t i = 1; i < job->n_points && job->keys[k]->flags & ERGO_KEY_SCAN; i++)
        if (!ergo_value_same(job->keys[k], &job->points[0].values[k], &job->points[i].values[k]))
            return true;
    return false;
}

/* The first key whose value at this point no point of `to` has; else the scan as a whole. */
static enum ergo_status point_is_missing(struct ergo_context *ctx, const struct ergo_point *point,
                                         const struct ergo_job *to) {
    struct ergo_text there = {0}, here = {0};
    enum ergo_status status = ERGO_OK;
    for (size_t k = 0; k < to->n_keys && status == ERGO_OK; k++) {
        const struct ergo_key *key = to->keys[k];
        bool found = key->flags & ERGO_KEY_HOW || is_length(key);
        for (size_t i = 0; i < to->n_points && !found; i++)
            found = ergo_value_same(key, &point->values[k], &to->points[i].values[k]);
        if (found || strcmp(key->pointer, "/replicas") == 0)
            continue;
        append_value(&there, key, &point->values[k]);
        append_value(&here, key, &to->points[0].values[k]);
        status = varies(to, k) || varies(point->job, k)
                     ? ergo_job_error(ctx, key->pointer,
                                      "the run has a point with %s, which is not in the scan; "
                                      "an extension adds points and keeps those that are there",
                                      there.data ? there.data : "")
                     : ergo_job_error(ctx, key->pointer,
                                      "found %s, but the run has %s: it would be another run; "
                                      "an extension may change /run/sweeps, /replicas and /scan "
                                      "to more, and keys that no chain depends on",
                                      here.data ? here.data : "", there.data ? there.data : "");
    }
    if (status == ERGO_OK) {
        for (size_t i = 0; i < point->n_scanned; i++) {
            ergo_text_append(&there, "%s%s = ", i ? ", " : "", point->scanned[i].pointer);
            ergo_text_append_number(&there, point->scanned[i].value);
        }
        status = ergo_job_error(ctx, "/scan",
                                "the run has a point %s, which is not in it; an extension adds "
                                "points and keeps those that are there",
                                there.data ? there.data : "");
    }
    ergo_text_free(&there);
    ergo_text_free(&here);
    return status;
}

static enum ergo_status check_files(struct ergo_context *ctx, const struct ergo_job *from,
                                    const struct ergo_job *to) {
    for (size_t i = 0; i < from->files.count; i++) {
        const struct ergo_job_file *a = &from->files.files[i];
        const struct ergo_job_file *b = ergo_job_files_find(&to->files, a->pointer);
        if (b && (a->length != b->length || memcmp(a->text, b->text, a->length) != 0))
            return ergo_job_error(ctx, a->pointer,
                                  "the file %s is not what it was when the run began",
                                  ergo_point_text(&to->points[0], a->pointer));
    }
    return ERGO_OK;
}

/* Of points that follow one another: a chain begins in what the one before it has ended with, so
 * that stays, too. */
static enum ergo_status check_order(struct ergo_context *ctx, const struct ergo_job *from,
                                    const struct ergo_job *to, const size_t *map) {
    for (size_t i = 0; i < to->n_points; i++) {
        const struct ergo_point *now = &to->points[i];
        if (map[i] == SIZE_MAX)
            continue;
        const struct ergo_point *was = &from->points[map[i]];
        if (!now->previous != !was->previous ||
            (now->previous && map[now->previous->index] != was->previous->index))
            return ergo_job_error(ctx, "/scan",
                                  "has other points between those of the run, which follow one "
                                  "another (/anneal): more may only come after the last");
        if (now->next && now->parameters->sweeps != was->parameters->sweeps)
            return ergo_job_error(ctx, "/run/sweeps",
                                  "found %lld, but the run has %lld: points that others start from "
                                  "(/anneal) keep their length",
                                  (long long)now->parameters->sweeps,
                                  (long long)was->parameters->sweeps);
    }
    return ERGO_OK;
}

/* ---- both ------------------------------------------------------------------------------------ */

static enum ergo_status match(struct ergo_context *ctx, const struct ergo_job *from,
                              const struct ergo_job *to, const struct entry *a, size_t n_a,
                              const struct entry *b, size_t n_b, size_t *map) {
    const size_t old = replicas_of(from), replicas = replicas_of(to);
    if (has_twins(a, n_a) || has_twins(b, n_b))
        return ergo_job_error(ctx, "/scan",
                              "has points that differ in nothing but /run/sweeps: which is which "
                              "cannot be told");
    for (size_t i = 0; i < to->n_points; i++)
        map[i] = SIZE_MAX;
    for (size_t i = 0, k = 0; i < n_a; i++) {
        while (k < n_b && b[k].hash < a[i].hash)
            k++;
        if (k == n_b || b[k].hash != a[i].hash)
            return point_is_missing(ctx, &from->points[a[i].scan_index * old], to);
        for (size_t r = 0; r < old && r < replicas; r++)
            map[b[k].scan_index * replicas + r] = a[i].scan_index * old + r;
    }
    return ERGO_OK;
}

enum ergo_status ergo_job_extends(struct ergo_context *ctx, const struct ergo_job *from,
                                  const struct ergo_job *to, size_t *map) {
    size_t n_a = 0, n_b = 0;
    if (from->sampler != to->sampler)
        return ergo_job_error(ctx, "/sampler", "found %s, but the run is of %s", to->sampler->name,
                              from->sampler->name);
    if (from->model != to->model) {
        const bool other =
            from->model->name && to->model->name && strcmp(from->model->name, to->model->name) != 0;
        return ergo_job_error(ctx, other ? from->sampler->model_key->pointer : "/system",
                              "the run is of another %s%s%s", other ? "model, " : "method",
                              other ? from->model->name : "", other ? "" : " of this model");
    }
    struct entry *a = entries_of(from, &n_a), *b = entries_of(to, &n_b);
    enum ergo_status status = ERGO_OK;
    if (!a || !b)
        status = ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory to compare jobs of %zu and %zu points",
                           from->n_points, to->n_points);
    if (status == ERGO_OK)
        status = match(ctx, from, to, a, n_a, b, n_b, map);
    if (status == ERGO_OK && replicas_of(to) < replicas_of(from))
        status = ergo_job_error(ctx, "/replicas", "found %zu, but the run has %zu: they stay",
                                replicas_of(to), replicas_of(from));
    if (status == ERGO_OK)
        status = check_order(ctx, from, to, map);
    if (status == ERGO_OK)
        status = check_files(ctx, from, to);
    free(a);
    free(b);
    return status;
}

enum ergo_status ergo_job_fits(struct ergo_context *ctx, const struct ergo_point *from,
                               const struct ergo_point *to, const char *pointer,
                               const char *whose) {
    const struct ergo_job *a = from->job, *b = to->job;
    if (a->sampler != b->sampler)
        return ergo_job_error(ctx, pointer, "the run in %s is of %s, and this job of %s", whose,
                              a->sampler->name, b->sampler->name);
    if (a->model != b->model && a->model->name && strcmp(a->model->name, b->model->name) != 0)
        return ergo_job_error(ctx, pointer, "the run in %s is of model %s, and this job of %s",
                              whose, a->model->name, b->model->name);
    for (size_t k = 0; k < b->n_keys; k++) {
        struct ergo_text there = {0}, here = {0};
        const size_t same = ergo_keys_find(a->keys, a->n_keys, b->keys[k]->pointer);
        if (!(b->keys[k]->flags & ERGO_KEY_FORM) || same == SIZE_MAX ||
            ergo_value_same(b->keys[k], &from->values[same], &to->values[k]))
            continue;
        append_value(&there, b->keys[k], &from->values[same]);
        append_value(&here, b->keys[k], &to->values[k]);
        const enum ergo_status status = ergo_job_error(
            ctx, pointer, "the run in %s has %s = %s, and this job %s: its states do not fit",
            whose, b->keys[k]->pointer, there.data ? there.data : "", here.data ? here.data : "");
        ergo_text_free(&there);
        ergo_text_free(&here);
        return status;
    }
    return a->model == b->model
               ? ERGO_OK
               : ergo_job_error(ctx, pointer,
                                "the run in %s keeps its states as another method of this model "
                                "does (one of both has random fields or bonds, say)",
                                whose);
}

/* Parts of a run may differ in where they ran, and how they were looked after. */
static bool may_differ(const struct ergo_key *key) {
    return key->flags & ERGO_KEY_HOW && strncmp(key->pointer, "/output/", 8) != 0;
}

enum ergo_status ergo_job_same(struct ergo_context *ctx, const struct ergo_job *a,
                               const struct ergo_job *b) {
    size_t *map = malloc((b->n_points + 1) * sizeof *map);
    enum ergo_status status =
        map ? ergo_job_extends(ctx, a, b, map)
            : ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory to compare %zu points", b->n_points);
    free(map);
    if (status == ERGO_OK && a->n_points != b->n_points)
        return ergo_job_error(ctx, replicas_of(a) != replicas_of(b) ? "/replicas" : "/scan",
                              "one job has %zu points, the other %zu", a->n_points, b->n_points);
    for (size_t k = 0; k < a->n_keys && status == ERGO_OK; k++)
        for (size_t i = 0; i < a->n_points && !may_differ(a->keys[k]) && status == ERGO_OK; i++)
            if (!ergo_value_same(a->keys[k], &a->points[i].values[k], &b->points[i].values[k]))
                status = ergo_job_error(ctx, a->keys[k]->pointer, "differs between the jobs");
    return status;
}

uint32_t *ergo_job_deal(const struct ergo_job *job, unsigned n) {
    uint32_t *parts = malloc((job->n_points + 1) * sizeof *parts), next = 0;
    for (size_t b = 0; parts && b < job->n_batches; b++)
        for (size_t m = 0; m < job->batches[b].count; m++) {
            const struct ergo_point *point = job->batches[b].points[m];
            parts[point->index] = point->previous ? parts[point->previous->index] : next + 1;
            next = point->previous ? next : (next + 1) % n;
        }
    return parts;
}
