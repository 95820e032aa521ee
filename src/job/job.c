/* Jobs from file or memory, and the values of their points. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/entry.h"
#include "base/utf8.h"
#include "job/build.h"

/* ---- errors ---------------------------------------------------------------------------------- */

static char *format_message(const char *format, va_list args) {
    char *message = NULL;
    const bool good = vasprintf(&message, format, args) >= 0;
    ergo_memory_set_failed(ergo_memory_failed() || !good);
    return good ? message : NULL;
}

enum ergo_status ergo_job_error(struct ergo_context *ctx, const char *pointer, const char *format,
                                ...) {
    va_list args;
    va_start(args, format);
    char *message = format_message(format, args);
    va_end(args);
    const bool place = pointer && *pointer;
    ERGO_FAIL(ctx, ERGO_E_JOB, "%s%s%s", place ? pointer : "", place ? ": " : "",
              message ? message : "out of memory");
    free(message);
    return ERGO_E_JOB;
}

bool ergo_build_full(struct ergo_build *build) {
    const bool full = build->errors >= ERGO_ERRORS_MAX;
    build->errors += full;
    return full;
}

void ergo_build_no_memory(struct ergo_build *build) {
    if (build->status == ERGO_OK)
        build->status = ERGO_FAIL(build->ctx, ERGO_E_MEMORY, "%s: memory ran out", build->name);
}

void ergo_build_error(struct ergo_build *build, const char *pointer, const struct ergo_json *node,
                      const char *format, ...) {
    if (build->errors++ >= ERGO_ERRORS_MAX)
        return;
    struct ergo_text place = {0};
    if (pointer && *pointer) {
        ergo_utf8_append_word(&place, pointer, ERGO_SHOWN_MAX);
        ergo_text_append(&place, ": ");
    }
    va_list args;
    va_start(args, format);
    char *message = format_message(format, args);
    va_end(args);
    struct ergo_text origin = {0};
    if (node && node->origin) {
        ergo_text_append(&origin, " (from --set \"");
        ergo_utf8_append_word(&origin, node->origin, ERGO_SHOWN_MAX);
        ergo_text_append(&origin, "\")");
    }
    ERGO_FAIL(build->ctx, ERGO_E_JOB, "%s: %s%s%s", build->name, place.data ? place.data : "",
              message ? message : "out of memory", origin.data ? origin.data : "");
    free(message);
    ergo_text_free(&place);
    ergo_text_free(&origin);
}

void ergo_build_found(struct ergo_build *build, const char *pointer, const struct ergo_json *node,
                      const char *rest) {
    struct ergo_text found = {0};
    ergo_value_found(&found, node);
    ergo_build_error(build, pointer, node, "found %s%s", found.data ? found.data : "", rest);
    ergo_text_free(&found);
}

/* ---- making ---------------------------------------------------------------------------------- */

/* "runs/ising.json" is the job "ising", and so is "ising.json.json". */
static char *job_name(const char *path) {
    const char *base = strrchr(path, '/');
    base = base ? base + 1 : path;
    size_t length = strlen(base);
    while (length > 5 && !strncmp(base + length - 5, ".json", 5))
        length -= 5;
    if (length == 0 || (base[0] == '.' && (length == 1 || (length == 2 && base[1] == '.'))))
        return strdup("job");
    return strndup(base, length);
}

static const struct ergo_sampler *find_sampler(const struct ergo_json *root) {
    const struct ergo_json *node = ergo_json_member(root, "sampler");
    return node && node->kind == ERGO_JSON_STRING ? ergo_sampler_find(node->text) : NULL;
}

/* What the job says of the model, else the default; a wrong name is told of with its key. */
static const struct ergo_model *find_model(const struct ergo_build *build) {
    const struct ergo_sampler *sampler = build->sampler;
    struct ergo_json *node = NULL;
    if (!sampler || !sampler->model_key)
        return sampler ? sampler->models[0] : NULL;
    const struct ergo_key *key = sampler->model_key;
    const struct ergo_json *given = ergo_json_find(build->root, key->pointer);
    if (!given && ergo_json_parse(NULL, "", key->fallback, strlen(key->fallback), build->arena,
                                  &node) == ERGO_OK)
        given = node;
    return given && given->kind == ERGO_JSON_STRING ? ergo_model_find(sampler, given->text) : NULL;
}

/* From the tree to points; all errors are recorded. */
static void build_job(struct ergo_build *build, const char *const *sets, size_t n_sets,
                      struct ergo_job *job) {
    if (build->root->kind != ERGO_JSON_OBJECT) {
        ergo_build_found(build, NULL, build->root, "; a job is an object: {\"sampler\": ...}");
        return;
    }
    ergo_set_apply(build, sets, n_sets);
    build->sampler = find_sampler(build->root);
    build->model = find_model(build);
    build->keys = ergo_keys_of(build->sampler, build->model, build->arena, &build->n_keys);
    if (build->keys)
        build->base = ergo_arena_alloc(build->arena, build->n_keys, sizeof *build->base);
    if (!build->base) {
        ergo_build_no_memory(build);
        return;
    }
    ergo_check_tree(build);
    ergo_scan_read(build);
    ergo_check_required(build);
    if (build->errors || build->status != ERGO_OK)
        return;
    job->sampler = build->sampler;
    job->model = build->model;
    job->keys = build->keys;
    job->n_keys = build->n_keys;
    job->canonical = ergo_json_text(build->root, true);
    if (!job->canonical)
        ergo_build_no_memory(build);
    else
        ergo_points_make(build, job);
}

/* of: what its keys and texts are in, where it is a copy. */
static bool add_storage(struct ergo_job *job, struct ergo_job_storage *of) {
    job->storage = calloc(1, sizeof *job->storage);
    if (!job->storage)
        return false;
    job->storage->users = 1;
    job->storage->of = of;
    if (of)
        of->users++;
    return true;
}

static void release(struct ergo_job_storage *storage) {
    if (!storage || --storage->users)
        return;
    release(storage->of);
    ergo_arena_free(&storage->arena);
    free(storage);
}

static enum ergo_status parse(struct ergo_context *ctx, const char *text, size_t length,
                              const char *name, const char *const *sets, size_t n_sets,
                              struct ergo_job_files *files, struct ergo_job **job) {
    enum ergo_status status = ERGO_E_MEMORY;
    struct ergo_job *made = calloc(1, sizeof *made);
    if (!made || !add_storage(made, NULL) || !(made->name = job_name(name))) {
        ERGO_FAIL(ctx, ERGO_E_MEMORY, "%s: memory ran out", name);
        goto out;
    }
    if (files) {
        made->again = true;
        made->files = *files;
        *files = (struct ergo_job_files){0};
    }
    struct ergo_build build = {.ctx = ctx, .name = name, .arena = &made->storage->arena};
    status = ergo_json_parse(ctx, name, text, length, build.arena, &build.root);
    if (!build.root)
        goto out;
    build.errors = status != ERGO_OK; /* duplicate keys: continue, to find the other errors, too */
    build_job(&build, sets, n_sets, made);
    if (build.arena->failed)
        ergo_build_no_memory(&build);
    if (build.errors > ERGO_ERRORS_MAX)
        ERGO_FAIL(ctx, ERGO_E_JOB, "%s: and %zu more errors", name, build.errors - ERGO_ERRORS_MAX);
    status = build.status != ERGO_OK ? build.status : build.errors ? ERGO_E_JOB : ERGO_OK;
out:
    status = ergo_memory_told(ctx, status);
    if (status == ERGO_OK)
        *job = made;
    else
        ergo_job_destroy(made);
    return status;
}

enum ergo_status ergo_job_parse(struct ergo_context *ctx, const char *text, size_t length,
                                const char *name, const char *const *sets, size_t n_sets,
                                struct ergo_job **job) {
    ERGO_CLEAR(job);
    ERGO_ENTRY(ctx, text, name, job);
    const enum ergo_status status = ergo_entry_texts(ctx, __func__, "sets", sets, n_sets);
    return status == ERGO_OK ? parse(ctx, text, length, name, sets, n_sets, NULL, job) : status;
}

enum ergo_status ergo_job_parse_stored(struct ergo_context *ctx, const char *text, size_t length,
                                       const char *name, const char *const *sets, size_t n_sets,
                                       struct ergo_job_files *files, struct ergo_job **job) {
    files->all = true;
    return parse(ctx, text, length, name, sets, n_sets, files, job);
}

bool ergo_job_files_add(struct ergo_job_files *list, const char *pointer, const char *text,
                        size_t length) {
    if (list->count == list->capacity) {
        const size_t capacity = list->capacity ? 2 * list->capacity : 4;
        struct ergo_job_file *grown = realloc(list->files, capacity * sizeof *grown);
        if (!grown)
            return false;
        list->files = grown;
        list->capacity = capacity;
    }
    struct ergo_job_file *file = &list->files[list->count];
    *file = (struct ergo_job_file){strdup(pointer), malloc(length + 1), length};
    list->count++;
    if (!file->pointer || !file->text)
        return false;
    memcpy(file->text, text, length);
    file->text[length] = '\0';
    return true;
}

static bool copy_files(struct ergo_job_files *list, const struct ergo_job_files *from) {
    bool ok = true;
    list->all = from->all;
    for (size_t i = 0; i < from->count && ok; i++)
        ok = ergo_job_files_add(list, from->files[i].pointer, from->files[i].text,
                                from->files[i].length);
    return ok;
}

const struct ergo_job_file *ergo_job_files_find(const struct ergo_job_files *list,
                                                const char *pointer) {
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->files[i].pointer, pointer) == 0)
            return &list->files[i];
    return NULL;
}

void ergo_job_files_free(struct ergo_job_files *list) {
    for (size_t i = 0; i < list->count; i++) {
        free(list->files[i].pointer);
        free(list->files[i].text);
    }
    free(list->files);
    *list = (struct ergo_job_files){0};
}

enum ergo_status ergo_job_load(struct ergo_context *ctx, const char *path, const char *const *sets,
                               size_t n_sets, struct ergo_job **job) {
    ERGO_CLEAR(job);
    ERGO_ENTRY(ctx, path, job);
    enum ergo_status status = ergo_entry_texts(ctx, __func__, "sets", sets, n_sets);
    if (status != ERGO_OK)
        return status;
    char *text = NULL;
    size_t length = 0, capacity = 0;
    const bool standard = strcmp(path, "-") == 0;
    FILE *file = standard ? stdin : ergo_memory_got(fopen(path, "rb"));
    if (standard)
        path = "stdin";
    if (!file) {
        status =
            ERGO_FAIL(ctx, ERGO_E_IO, "%s: the job cannot be opened: %s", path, strerror(errno));
        goto out;
    }
    /* Read up to one byte beyond the limit, which is then refused: pipes do not tell their size. */
    while (length <= ERGO_JSON_BYTES_MAX) {
        if (length == capacity) {
            capacity = capacity ? 4 * capacity : 65536;
            char *grown = realloc(text, capacity);
            if (!grown) {
                status = ERGO_FAIL(ctx, ERGO_E_MEMORY, "%s: memory ran out while reading", path);
                goto out;
            }
            text = grown;
        }
        size_t got = fread(text + length, 1, capacity - length, file);
        length += got;
        if (got == 0 && ferror(file)) {
            status =
                ERGO_FAIL(ctx, ERGO_E_IO, "%s: the job cannot be read: %s", path, strerror(errno));
            goto out;
        }
        if (got == 0)
            break;
    }
    status = ergo_job_parse(ctx, text, length, path, sets, n_sets, job);
out:
    if (file && !standard)
        fclose(file);
    free(text);
    return status;
}

enum ergo_status ergo_job_again(struct ergo_context *ctx, const struct ergo_job *job,
                                const char *const *sets, size_t n_sets, struct ergo_job **copy) {
    struct ergo_job_files files = {0};
    *copy = NULL;
    const enum ergo_status status =
        copy_files(&files, &job->files)
            ? parse(ctx, job->canonical, strlen(job->canonical), job->name, sets, n_sets, &files,
                    copy)
            : ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for the files of %s", job->name);
    ergo_job_files_free(&files);
    return status;
}

static const struct ergo_point *same_point(const struct ergo_job *job,
                                           const struct ergo_point *other) {
    return other ? &job->points[other->index] : NULL;
}

/* Replicas have their values in common. */
static bool copy_points(struct ergo_job *job, const struct ergo_job *from) {
    struct ergo_arena *arena = &job->storage->arena;
    const size_t n = job->n_points, bytes = ergo_job_parameters_size(job), width = job->n_keys;
    const size_t n_scan = from->points[n - 1].scan_index + 1;
    struct ergo_value *values = ergo_arena_alloc(arena, n_scan * width, sizeof *values);
    char *parameters = ergo_arena_alloc(arena, n_scan, bytes);
    struct ergo_point **members = ergo_arena_alloc(arena, n, sizeof(struct ergo_point *));
    job->points = ergo_arena_alloc(arena, n, sizeof *job->points);
    job->batches = ergo_arena_alloc(arena, job->n_batches, sizeof *job->batches);
    if (arena->failed)
        return false;
    for (size_t i = 0; i < n; i++) {
        struct ergo_point *point = &job->points[i];
        *point = from->points[i];
        point->job = job;
        point->values =
            memcpy(values + point->scan_index * width, point->values, width * sizeof *values);
        point->parameters =
            memcpy(parameters + point->scan_index * bytes, point->parameters, bytes);
        point->previous = same_point(job, point->previous);
        point->next = same_point(job, point->next);
    }
    for (size_t b = 0; b < job->n_batches; b++) {
        const struct ergo_batch *batch = &from->batches[b];
        job->batches[b] = (struct ergo_batch){job, batch->count, members};
        for (size_t m = 0; m < batch->count; m++)
            *members++ = &job->points[batch->points[m]->index];
    }
    return true;
}

enum ergo_status ergo_job_copy(struct ergo_context *ctx, const struct ergo_job *job,
                               struct ergo_job **copy) {
    struct ergo_job *made = malloc(sizeof *made);
    *copy = made;
    if (made) {
        *made = *job;
        made->name = strdup(job->name);
        made->canonical = strdup(job->canonical);
        made->files = (struct ergo_job_files){0};
        made->again = true;
    }
    if (made && add_storage(made, job->storage) && made->name && made->canonical &&
        copy_files(&made->files, &job->files) && copy_points(made, job))
        return ERGO_OK;
    ergo_job_destroy(made);
    *copy = NULL;
    return ERGO_FAIL(ctx, ERGO_E_MEMORY, "%s: memory ran out", job->name);
}

void ergo_job_destroy(struct ergo_job *job) {
    if (!job)
        return;
    ergo_job_files_free(&job->files);
    release(job->storage);
    free(job->canonical);
    free(job->name);
    free(job);
}

/* ---- reading --------------------------------------------------------------------------------- */

const char *ergo_job_name(const struct ergo_job *job) {
    return job ? job->name : "";
}

const char *ergo_job_sampler(const struct ergo_job *job) {
    return job ? job->sampler->name : "";
}

size_t ergo_job_count_points(const struct ergo_job *job) {
    return job ? job->n_points : 0;
}

const struct ergo_value *ergo_point_value(const struct ergo_point *point, const char *pointer) {
    size_t k = ergo_keys_find(point->job->keys, point->job->n_keys, pointer);
    if (k == SIZE_MAX) {
        const struct ergo_job *job = point->job;
        fprintf(stderr, "ergocl: bug: sampler %s%s%s has no job key %s\n", job->sampler->name,
                job->model->name ? ", model " : "", job->model->name ? job->model->name : "",
                pointer);
        abort();
    }
    return &point->values[k];
}

double ergo_point_real(const struct ergo_point *point, const char *pointer) {
    return ergo_point_value(point, pointer)->real;
}

int64_t ergo_point_int(const struct ergo_point *point, const char *pointer) {
    return ergo_point_value(point, pointer)->integer;
}

bool ergo_point_bool(const struct ergo_point *point, const char *pointer) {
    return ergo_point_value(point, pointer)->boolean;
}

const char *ergo_point_text(const struct ergo_point *point, const char *pointer) {
    return ergo_point_value(point, pointer)->text;
}

size_t ergo_job_parameters_size(const struct ergo_job *job) {
    const size_t own = job->model->parameters, least = sizeof(struct ergo_parameters);
    return own > least ? own : least;
}

void ergo_point_fill(const struct ergo_point *point) {
    /* keys that are not there have 0 */
    memset(point->parameters, 0, ergo_job_parameters_size(point->job));
    for (size_t k = 0; k < point->job->n_keys; k++) {
        const struct ergo_key *key = point->job->keys[k];
        const struct ergo_value *value = &point->values[k];
        const void *from[] = {[ERGO_HOLDS_VALUE] = value,
                              [ERGO_HOLDS_REAL] = &value->real,
                              [ERGO_HOLDS_INT] = &value->integer,
                              [ERGO_HOLDS_BOOL] = &value->boolean,
                              [ERGO_HOLDS_TEXT] = &value->text};
        static const size_t bytes[] = {[ERGO_HOLDS_VALUE] = sizeof *value,
                                       [ERGO_HOLDS_REAL] = sizeof value->real,
                                       [ERGO_HOLDS_INT] = sizeof value->integer,
                                       [ERGO_HOLDS_BOOL] = sizeof value->boolean,
                                       [ERGO_HOLDS_TEXT] = sizeof value->text};
        if (key->holds)
            memcpy((char *)point->parameters + key->at, from[key->holds], bytes[key->holds]);
    }
}

bool ergo_point_copy(const struct ergo_point *point, struct ergo_point *copy) {
    const size_t bytes = point->job->n_keys * sizeof *point->values;
    *copy = *point;
    copy->values = malloc(bytes + ergo_job_parameters_size(point->job));
    if (!copy->values)
        return false;
    memcpy(copy->values, point->values, bytes);
    copy->parameters = (void *)(copy->values + point->job->n_keys);
    ergo_point_fill(copy);
    return true;
}

bool ergo_point_asks(const struct ergo_point *point, const char *name) {
    const char *asked = point->parameters->observables;
    const size_t length = strlen(name);
    if (strcmp(asked, "all") == 0)
        return true;
    for (; *asked; asked += strcspn(asked, ","), asked += *asked == ',')
        if (strcspn(asked, ",") == length && strncmp(asked, name, length) == 0)
            return true;
    return false;
}
