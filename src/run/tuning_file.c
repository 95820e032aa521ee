/* Tuning profiles as JSON. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "result/format.h"
#include "job/json.h"
#include "run/tuning.h"

enum { FILE_MAX = 4 << 20 };

void ergo_tuning_list_free(struct ergo_tuning_list *list) {
    free(list->entries);
    *list = (struct ergo_tuning_list){0};
}

char *ergo_tuning_user_path(void) {
    const struct {
        const char *variable, *suffix;
    } places[] = {{"ERGOCL_CONFIG_DIR", "/tuning.json"},
                  {"XDG_CONFIG_HOME", "/ergocl/tuning.json"},
                  {"HOME", "/.config/ergocl/tuning.json"}};
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        const char *base = getenv(places[i].variable);
        struct ergo_text path = {0};
        if (i == 0 && base && !*base)
            return NULL;
        if (!base || !*base || (i == 1 && *base != '/'))
            continue;
        ergo_text_append(&path, "%s%s", base, places[i].suffix);
        return ergo_text_take(&path);
    }
    return NULL;
}

bool ergo_tuning_same(const struct ergo_tuning_entry *a, const struct ergo_tuning_entry *b) {
    return strcmp(a->device, b->device) == 0 && strcmp(a->family, b->family) == 0 &&
           strcmp(a->sampler, b->sampler) == 0 && strcmp(a->model, b->model) == 0 &&
           strcmp(a->path, b->path) == 0 && a->members == b->members &&
           a->work_per_step == b->work_per_step &&
           (*a->device || *a->family || strcmp(a->type, b->type) == 0);
}

/* ---- reading --------------------------------------------------------------------------------- */

/* A text member, cut at nothing: one that is too long is wrong. Absent: "". */
static bool take_text(const struct ergo_json *object, const char *key, char *out, size_t size) {
    const struct ergo_json *value = ergo_json_member(object, key);
    out[0] = '\0';
    if (!value)
        return true;
    if (value->kind != ERGO_JSON_STRING || strlen(value->text) >= size)
        return false;
    snprintf(out, size, "%s", value->text);
    return true;
}

static bool take_number(const struct ergo_json *object, const char *key, double *out) {
    const struct ergo_json *value = ergo_json_member(object, key);
    return value && value->kind == ERGO_JSON_NUMBER && ergo_json_real(value->text, out) && *out > 0;
}

static bool allowed(const struct ergo_tunable *tunable, uint64_t value) {
    return value >= (uint64_t)tunable->min && value <= (uint64_t)tunable->max &&
           !(tunable->power_of_two && (value & (value - 1)) != 0);
}

size_t ergo_tuning_values(const struct ergo_tunable *tunable, int64_t values[ERGO_TUNING_VALUES]) {
    size_t n = 0;
    for (int64_t v = 1; v <= tunable->max && v <= 4096 && n < ERGO_TUNING_VALUES;
         v = tunable->max <= 8 ? v + 1 : 2 * v)
        if (allowed(tunable, (uint64_t)v))
            values[n++] = v;
    return n;
}

/* Settings that the job checker would accept. */
static bool take_settings(const struct ergo_json *object, struct ergo_tuning_entry *entry) {
    const struct ergo_json *tuning = ergo_json_member(object, "tuning");
    const struct ergo_sampler *sampler = ergo_sampler_find(entry->sampler);
    if (!sampler || !tuning || tuning->kind != ERGO_JSON_OBJECT ||
        tuning->count > ERGO_TUNING_SETTINGS)
        return false;
    const struct ergo_sampler_info *info = sampler->info;
    for (const struct ergo_json *at = tuning->child; at; at = at->next) {
        const struct ergo_tunable *tunable = NULL;
        uint64_t value = 0;
        bool negative = false;
        for (size_t t = 0; t < info->n_tunables; t++)
            if (strcmp(info->tunables[t].name, at->key) == 0)
                tunable = &info->tunables[t];
        if (!tunable || at->kind != ERGO_JSON_NUMBER ||
            ergo_json_integer(at->text, &negative, &value) != ERGO_JSON_INTEGER || negative ||
            !allowed(tunable, value))
            return false;
        struct ergo_tuning_setting *s = &entry->settings[entry->n_settings++];
        snprintf(s->name, sizeof s->name, "%s", tunable->name);
        s->value = (int64_t)value;
    }
    return true;
}

static bool take_entry(const struct ergo_json *object, struct ergo_tuning_entry *entry) {
    memset(entry, 0, sizeof *entry);
    return object->kind == ERGO_JSON_OBJECT &&
           take_text(object, "device", entry->device, sizeof entry->device) &&
           take_text(object, "family", entry->family, sizeof entry->family) &&
           take_text(object, "type", entry->type, sizeof entry->type) &&
           take_text(object, "driver", entry->driver, sizeof entry->driver) &&
           take_text(object, "sampler", entry->sampler, sizeof entry->sampler) &&
           take_text(object, "model", entry->model, sizeof entry->model) &&
           take_text(object, "path", entry->path, sizeof entry->path) &&
           take_text(object, "date", entry->date, sizeof entry->date) &&
           take_number(object, "members", &entry->members) &&
           take_number(object, "work_per_step", &entry->work_per_step) &&
           take_number(object, "gain", &entry->gain) &&
           (*entry->device || *entry->family || *entry->type) && take_settings(object, entry);
}

enum ergo_status ergo_tuning_parse(struct ergo_context *ctx, const char *name, const char *text,
                                   size_t length, struct ergo_tuning_list *list) {
    struct ergo_arena arena = {0};
    struct ergo_json *root = NULL;
    enum ergo_status status = ergo_json_parse(ctx, name, text, length, &arena, &root);
    const struct ergo_json *profiles = status == ERGO_OK && root->kind == ERGO_JSON_OBJECT
                                           ? ergo_json_member(root, "profiles")
                                           : NULL;
    if (status == ERGO_OK && (!profiles || profiles->kind != ERGO_JSON_ARRAY))
        status = ERGO_FAIL(ctx, ERGO_E_IO, "%s has no list \"profiles\"", name);
    size_t index = 0;
    for (const struct ergo_json *at = profiles ? profiles->child : NULL; at && status == ERGO_OK;
         at = at->next, index++) {
        struct ergo_tuning_entry *grown =
            realloc(list->entries, (list->count + 1) * sizeof *list->entries);
        if (!grown) {
            status = ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for tuning profiles");
            break;
        }
        list->entries = grown;
        if (!take_entry(at, &grown[list->count]))
            status =
                ERGO_FAIL(ctx, ERGO_E_IO,
                          "%s: /profiles/%zu is no profile that this ergocl knows: mend it, or "
                          "remove the file and tune again",
                          name, index);
        else
            list->count++;
    }
    ergo_arena_free(&arena);
    return status == ERGO_E_JOB ? ERGO_E_IO : status;
}

enum ergo_status ergo_tuning_read(struct ergo_context *ctx, const char *path,
                                  struct ergo_tuning_list *list) {
    char *text = NULL;
    size_t length = 0;
    if (access(path, F_OK) != 0)
        return ERGO_OK;
    enum ergo_status status = ergo_file_read(ctx, NULL, path, FILE_MAX, &text, &length);
    if (status == ERGO_OK)
        status = ergo_tuning_parse(ctx, path, text, length, list);
    free(text);
    return status;
}

/* ---- writing --------------------------------------------------------------------------------- */

static void put_text(struct ergo_text *t, const char *key, const char *value) {
    if (*value)
        ergo_json_pair(t, key, value);
}

static void put_entry(struct ergo_text *t, const struct ergo_tuning_entry *e) {
    ergo_text_append(t, "    { ");
    put_text(t, "device", e->device);
    put_text(t, "family", e->family);
    put_text(t, "type", e->type);
    put_text(t, "driver", e->driver);
    put_text(t, "date", e->date);
    put_text(t, "sampler", e->sampler);
    put_text(t, "model", e->model);
    put_text(t, "path", e->path);
    ergo_json_pair_number(t, "members", e->members);
    ergo_json_pair_number(t, "work_per_step", e->work_per_step);
    ergo_text_append(t, ",\n      \"tuning\": {");
    for (size_t s = 0; s < e->n_settings; s++)
        ergo_text_append(t, "%s\"%s\": %" PRId64, s ? ", " : " ", e->settings[s].name,
                         e->settings[s].value);
    ergo_text_append(t, " }, \"gain\": %.3f }", e->gain);
}

static enum ergo_status make_folder(struct ergo_context *ctx, const char *path) {
    char *folder = strdup(path), *slash = folder ? strrchr(folder, '/') : NULL;
    enum ergo_status status =
        folder ? ERGO_OK : ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for a path");
    if (slash && slash != folder) {
        *slash = '\0';
        status = ergo_folder_create(ctx, folder);
    }
    free(folder);
    return status;
}

enum ergo_status ergo_tuning_write(struct ergo_context *ctx, const char *path,
                                   const struct ergo_tuning_list *list) {
    struct ergo_text t = {0};
    enum ergo_status status = make_folder(ctx, path);
    if (status != ERGO_OK)
        return status;
    ergo_text_append(&t, "{ \"ergocl\": \"" ERGO_VERSION "\", \"profiles\": [");
    for (size_t i = 0; i < list->count; i++) {
        ergo_text_append(&t, i ? ",\n" : "\n");
        put_entry(&t, &list->entries[i]);
    }
    ergo_text_append(&t, "\n] }\n");
    status = t.failed ? ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for tuning profiles")
                      : ergo_file_write(ctx, NULL, path, t.data, t.length);
    ergo_text_free(&t);
    return status;
}

/* Held until *fd is closed, for as long as it takes to write a file: the others wait. The file
 * stays: who removes it may take it from under another's lock. */
static enum ergo_status lock(struct ergo_context *ctx, const char *path, int *fd) {
    struct ergo_text name = {0};
    enum ergo_status status = make_folder(ctx, path);
    int error = 0;
    ergo_text_append(&name, "%s.lock", path);
    if (status == ERGO_OK && name.failed)
        status = ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for a path");
    if (status == ERGO_OK) {
        *fd = open(name.data, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0666);
        while (*fd >= 0 && flock(*fd, LOCK_EX) != 0 && (error = errno) == EINTR)
            error = 0;
        if (*fd < 0)
            status = ERGO_FAIL(ctx, ERGO_E_IO, "cannot open %s: %s", name.data, strerror(errno));
        else if (error) /* some cluster file systems have no locks */
            ergo_log(ctx, ERGO_LOG_WARNING, "cannot lock %s (%s): do not tune twice at once",
                     name.data, strerror(error));
    }
    ergo_text_free(&name);
    return status;
}

enum ergo_status ergo_tuning_keep(struct ergo_context *ctx, const char *path,
                                  const struct ergo_tuning_entry *entry) {
    struct ergo_tuning_list list = {0};
    int fd = -1;
    if (!entry->n_settings && access(path, F_OK) != 0)
        return ERGO_OK; /* nothing to take out */
    enum ergo_status status = lock(ctx, path, &fd);
    if (status == ERGO_OK)
        status = ergo_tuning_read(ctx, path, &list);
    size_t kept = 0, before = list.count;
    for (size_t i = 0; i < list.count && status == ERGO_OK; i++)
        if (!ergo_tuning_same(&list.entries[i], entry))
            list.entries[kept++] = list.entries[i];
    list.count = kept;
    if (status == ERGO_OK && entry->n_settings) {
        struct ergo_tuning_entry *grown = realloc(list.entries, (kept + 1) * sizeof *list.entries);
        if (grown) {
            list.entries = grown;
            list.entries[list.count++] = *entry;
        } else {
            status = ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for tuning profiles");
        }
    }
    if (status == ERGO_OK && (entry->n_settings || kept < before))
        status = ergo_tuning_write(ctx, path, &list);
    if (fd >= 0)
        close(fd);
    ergo_tuning_list_free(&list);
    return status;
}
