/* Tuning profiles as JSON. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "result/format.h"
#include "job/json.h"
#include "base/json_in.h"
#include "base/json_out.h"
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

/* A text member; one that is too long is an error. Absent: "". */
static bool take_text(const cJSON *object, const char *key, char *out, size_t size) {
    const char *text = ergo_in_text(object, key, NULL);
    snprintf(out, size, "%s", text ? text : "");
    return text ? strlen(text) < size : !cJSON_GetObjectItemCaseSensitive(object, key);
}

static bool take_number(const cJSON *object, const char *key, double *out) {
    *out = ergo_in_number(object, key);
    return *out > 0;
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

/* Of any model. */
static const struct ergo_tunable *find_tunable(const struct ergo_sampler *sampler,
                                               const char *name) {
    for (size_t m = 0; m < sampler->n_models; m++)
        for (size_t t = 0; t < sampler->models[m]->n_tunables; t++)
            if (strcmp(sampler->models[m]->tunables[t].name, name) == 0)
                return &sampler->models[m]->tunables[t];
    return NULL;
}

/* Without a model it is the first: what profiles say that are older than a sampler's second. */
static void take_first_model(const struct ergo_sampler *sampler, struct ergo_tuning_entry *entry) {
    const char *name = sampler->models[0]->name;
    if (!*entry->model)
        snprintf(entry->model, sizeof entry->model, "%s", name ? name : "");
}

/* Settings that the job checker would accept. */
static bool take_settings(const cJSON *object, struct ergo_tuning_entry *entry) {
    const cJSON *tuning = ergo_in_member(object, "tuning", cJSON_Object), *at;
    const struct ergo_sampler *sampler = ergo_sampler_find(entry->sampler);
    if (!sampler || !tuning || cJSON_GetArraySize(tuning) > ERGO_TUNING_SETTINGS)
        return false;
    cJSON_ArrayForEach(at, tuning) {
        const struct ergo_tunable *tunable = find_tunable(sampler, at->string);
        const double value = cJSON_IsNumber(at) ? at->valuedouble : -1;
        if (!tunable || !(value >= 0 && value < 0x1p53) || value != floor(value) ||
            !allowed(tunable, (uint64_t)value))
            return false;
        struct ergo_tuning_setting *s = &entry->settings[entry->n_settings++];
        snprintf(s->name, sizeof s->name, "%s", tunable->name);
        s->value = (int64_t)value;
    }
    take_first_model(sampler, entry);
    return true;
}

static bool take_entry(const cJSON *object, struct ergo_tuning_entry *entry) {
    memset(entry, 0, sizeof *entry);
    return cJSON_IsObject(object) &&
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
    cJSON *root = NULL;
    enum ergo_status status = ergo_json_in(ctx, name, text, length, &root);
    const cJSON *profiles = ergo_in_member(root, "profiles", cJSON_Array), *at;
    if (status == ERGO_OK && !profiles)
        status = ERGO_FAIL(ctx, ERGO_E_IO, "%s has no list \"profiles\"", name);
    size_t index = 0;
    cJSON_ArrayForEach(at, profiles) {
        struct ergo_tuning_entry *grown =
            realloc(list->entries, (list->count + 1) * sizeof *list->entries);
        if (!grown) {
            status = ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for tuning profiles");
            break;
        }
        list->entries = grown;
        if (!take_entry(at, &grown[list->count]))
            status = ERGO_FAIL(ctx, ERGO_E_IO,
                               "%s: /profiles/%zu is not a profile that this ergocl knows: correct "
                               "it, or remove the file and tune again",
                               name, index);
        if (status != ERGO_OK)
            break;
        list->count++;
        index++;
    }
    cJSON_Delete(root);
    return status;
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

static void put_text(struct ergo_json_out *out, const char *key, const char *value) {
    if (*value)
        ergo_out_text(out, key, value);
}

static void put_entry(struct ergo_json_out *out, const struct ergo_tuning_entry *e) {
    ergo_out_object(out, NULL);
    put_text(out, "device", e->device);
    put_text(out, "family", e->family);
    put_text(out, "type", e->type);
    put_text(out, "driver", e->driver);
    put_text(out, "date", e->date);
    put_text(out, "sampler", e->sampler);
    put_text(out, "model", e->model);
    put_text(out, "path", e->path);
    ergo_out_number(out, "members", e->members);
    ergo_out_number(out, "work_per_step", e->work_per_step);
    ergo_out_object(out, "tuning");
    for (size_t s = 0; s < e->n_settings; s++)
        ergo_out_raw(out, e->settings[s].name, "%" PRId64, e->settings[s].value);
    ergo_out_close(out, 1);
    ergo_out_raw(out, "gain", "%.3f", e->gain);
    ergo_out_close(out, 1);
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
    struct ergo_json_out out = {0};
    enum ergo_status status = make_folder(ctx, path);
    if (status != ERGO_OK)
        return status;
    ergo_out_object(&out, NULL);
    ergo_out_text(&out, "ergocl", ERGO_VERSION);
    ergo_out_array(&out, "profiles");
    for (size_t i = 0; i < list->count; i++)
        put_entry(&out, &list->entries[i]);
    char *text = ergo_out_take(&out, false);
    status = text ? ergo_file_write(ctx, NULL, path, text, strlen(text))
                  : ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for tuning profiles");
    free(text);
    return status;
}

/* Locks the file until *fd is closed, for as long as a write takes; other processes wait. The lock
 * file is not removed: another process may already have locked it. */
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
        return ERGO_OK; /* nothing to remove */
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
