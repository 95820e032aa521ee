/* A first job of a model, from what its table says of one (struct ergo_model, first). */
#include <string.h>

#include "base/entry.h"
#include "base/utf8.h"
#include "job/build.h"

/* "/system/size" of "/system/size=[64, 64]". */
static bool names(const char *first, const char *pointer) {
    const size_t length = strlen(pointer);
    return strncmp(first, pointer, length) == 0 && first[length] == '=';
}

static bool is_given(const struct ergo_model *model, const char *pointer) {
    for (size_t i = 0; model->first && model->first[i]; i++)
        if (names(model->first[i], pointer))
            return true;
    return false;
}

/* Members of the object `group` ("/system/"), in the order of the keys' table. */
static void put_group(struct ergo_text *out, const struct ergo_sampler *sampler,
                      const struct ergo_model *model, const struct ergo_key *const *keys,
                      size_t n_keys, const char *group) {
    const size_t length = strlen(group);
    const char *separator = " ";
    ergo_text_append(out, ",\n  \"%.*s\": {", (int)(length - 2), group + 1);
    for (size_t k = 0; k < n_keys; k++) {
        const char *pointer = keys[k]->pointer;
        if (strncmp(pointer, group, length) != 0)
            continue;
        const char *name = pointer + length, *value = NULL;
        if (sampler->model_key && strcmp(pointer, sampler->model_key->pointer) == 0) {
            ergo_text_append(out, "%s\"%s\": \"%s\"", separator, name, model->name);
            separator = ", ";
            continue;
        }
        for (size_t i = 0; model->first && model->first[i]; i++)
            if (names(model->first[i], pointer))
                value = strchr(model->first[i], '=') + 1;
        if (!value)
            continue;
        ergo_text_append(out, "%s\"%s\": %s", separator, name, value);
        separator = ", ";
    }
    ergo_text_append(out, " }");
}

/* others: samplers that have a model of this name, too. */
static void put_job(struct ergo_text *out, const struct ergo_sampler *sampler,
                    const struct ergo_model *model, const struct ergo_text *others,
                    struct ergo_arena *arena) {
    size_t n_keys = 0;
    const struct ergo_key **keys = ergo_keys_of(sampler, model, arena, &n_keys);
    if (!keys)
        return;
    ergo_text_append(out, "{\n  \"description\": \"A first job of %s%s%s; its keys: ergocl help %s",
                     sampler->name, model->name ? " " : "", model->name ? model->name : "",
                     sampler->name);
    ergo_text_append(out, "%s%s%s%s\",\n  \"sampler\": \"%s\",\n  \"seed\": \"1\"",
                     model->name ? " " : "", model->name ? model->name : "",
                     others->length ? "; other samplers have one, too: " : "",
                     others->length ? others->data : "", sampler->name);
    put_group(out, sampler, model, keys, n_keys, "/system/");
    put_group(out, sampler, model, keys, n_keys, "/run/");
    ergo_text_append(out, "\n}\n");
}

/* Has the table a value for every key that a job has to give? */
static enum ergo_status check_first(struct ergo_context *ctx, const struct ergo_sampler *sampler,
                                    const struct ergo_model *model, struct ergo_arena *arena) {
    size_t n_keys = 0;
    const struct ergo_key **keys = ergo_keys_of(sampler, model, arena, &n_keys);
    for (size_t k = 0; keys && k < n_keys; k++)
        if (keys[k]->flags & ERGO_KEY_REQUIRED && strcmp(keys[k]->pointer, "/sampler") != 0 &&
            !is_given(model, keys[k]->pointer))
            return ERGO_FAIL(ctx, ERGO_E_INTERNAL,
                             "the table of %s%s%s has no %s for a first job (first)", sampler->name,
                             model->name ? " " : "", model->name ? model->name : "",
                             keys[k]->pointer);
    return ERGO_OK;
}

/* "spin-lattice", "spin-lattice potts", "potts"; NULL, *model too: unknown. */
static const struct ergo_sampler *find(const char *topic, const struct ergo_model **model) {
    const size_t word = strcspn(topic, " ");
    *model = NULL;
    for (size_t i = 0; i < ergo_n_samplers; i++) {
        const struct ergo_sampler *s = ergo_samplers[i];
        const bool is = strlen(s->name) == word && strncmp(s->name, topic, word) == 0;
        if (is && topic[word])
            *model = ergo_model_find(s, topic + word + 1);
        else if (is && s->model_key) /* "\"ising\"" of the key's table, without quotes */
            for (size_t m = 0; m < s->n_models && !*model; m++)
                *model = strncmp(s->model_key->fallback + 1, s->models[m]->name,
                                 strlen(s->models[m]->name)) == 0
                             ? s->models[m]
                             : NULL;
        else if (is)
            *model = s->models[0];
        else
            *model = ergo_model_find(s, topic);
        if (*model || is)
            return *model ? s : NULL;
    }
    return NULL;
}

static enum ergo_status unknown(struct ergo_context *ctx, const char *topic,
                                struct ergo_arena *arena) {
    struct ergo_text shown = {0}, list = {0};
    size_t n = 0;
    const char **all = ergo_help_names(arena, 0, &n);
    const char *near = NULL;
    size_t kept = 0;
    for (size_t i = 0; all && i < n; i++) { /* of the names only samplers and models */
        const struct ergo_model *model = NULL;
        if (find(all[i], &model))
            all[kept++] = all[i];
    }
    if (all && strlen(topic) <= 64)
        near = ergo_text_nearest(topic, all, kept);
    for (size_t i = 0; i < ergo_n_samplers; i++) {
        const struct ergo_sampler *s = ergo_samplers[i];
        ergo_text_append(&list, "%s%s", i ? ", " : "", s->name);
        for (size_t m = 0; s->model_key && m < s->n_models; m++)
            if (!ergo_model_repeats(s, m))
                ergo_text_append(&list, "%s%s", m ? ", " : " (", s->models[m]->name);
        ergo_text_append(&list, "%s", s->model_key ? ")" : "");
    }
    ergo_utf8_append_word(&shown, topic, 64);
    const enum ergo_status status =
        ERGO_FAIL(ctx, ERGO_E_JOB, "no sampler or model \"%s\"%s%s%s; there are %s",
                  shown.data ? shown.data : "", ERGO_MEANT(near), list.data ? list.data : "");
    ergo_text_free(&shown);
    ergo_text_free(&list);
    return status;
}

enum ergo_status ergo_new_text(struct ergo_context *ctx, const char *topic, char **text) {
    ERGO_CLEAR(text);
    ERGO_ENTRY(ctx, text);
    struct ergo_arena arena = {0};
    struct ergo_text out = {0}, others = {0};
    const struct ergo_model *model = NULL;
    const struct ergo_sampler *sampler = find(topic ? topic : "spin-lattice", &model);
    /* "nvt" alone is the first sampler's that has it */
    for (size_t i = 0; sampler && topic && model->name && i < ergo_n_samplers; i++)
        if (strcmp(topic, model->name) == 0 && ergo_samplers[i] != sampler &&
            ergo_model_find(ergo_samplers[i], topic))
            ergo_text_append(&others, "%s%s", others.length ? ", " : "", ergo_samplers[i]->name);
    enum ergo_status status =
        sampler ? check_first(ctx, sampler, model, &arena) : unknown(ctx, topic, &arena);
    if (status == ERGO_OK) {
        put_job(&out, sampler, model, &others, &arena);
        if (arena.failed || others.failed || !(*text = ergo_text_take(&out)))
            status = ERGO_FAIL(ctx, ERGO_E_MEMORY, "memory ran out while writing a job");
    }
    ergo_text_free(&out);
    ergo_text_free(&others);
    ergo_arena_free(&arena);
    return ergo_memory_told(ctx, status);
}
