/* Messages about a key that does not exist. */
#include <string.h>

#include "job/build.h"

enum { NAMES_MAX = 256, WORD_MAX = 64 };

static const char *leaf(const char *pointer) {
    const char *slash = strrchr(pointer, '/');
    return slash ? slash + 1 : pointer;
}

/* Does a job of `model` know the pointer, as a key or as the object around keys? */
static bool model_knows(const struct ergo_model *model, const char *pointer) {
    const size_t length = strlen(pointer);
    const struct ergo_key *key;
    for (size_t k = 0; (key = ergo_model_key(model, k)) != NULL; k++)
        if (!strncmp(key->pointer, pointer, length) &&
            (!key->pointer[length] || key->pointer[length] == '/'))
            return true;
    for (size_t i = 0; i < model->n_tunables; i++)
        if (!strncmp(pointer, "/tuning/", 8) && !strcmp(model->tunables[i].name, pointer + 8))
            return true;
    return false;
}

/* Whose key it is: other models of the sampler, else the first other sampler that has it. */
static void put_owners(struct ergo_text *text, const struct ergo_build *build,
                       const char *pointer) {
    const struct ergo_sampler *sampler = build->sampler;
    size_t n = 0;
    for (size_t m = 0; m < sampler->n_models; m++)
        if (!ergo_model_repeats(sampler, m) && model_knows(sampler->models[m], pointer))
            ergo_text_append(text, "%s\"%s\"", n++ ? ", " : "a key of model ",
                             sampler->models[m]->name);
    for (size_t i = 0; i < ergo_n_samplers && !n; i++)
        for (size_t m = 0; m < ergo_samplers[i]->n_models && !n; m++)
            if (ergo_samplers[i] != sampler && model_knows(ergo_samplers[i]->models[m], pointer)) {
                ergo_text_append(text, "a key of sampler \"%s\"", ergo_samplers[i]->name);
                n++;
            }
}

/* The right name in the wrong place: the only key elsewhere with this last token. */
static const char *right_name_elsewhere(const struct ergo_build *build, const char *name) {
    const char *found = NULL;
    for (size_t i = 0; i < build->n_keys; i++) {
        if (strcmp(leaf(build->keys[i]->pointer), name) != 0)
            continue;
        if (found)
            return NULL;
        found = build->keys[i]->pointer;
    }
    return found;
}

static const char *nearest_elsewhere(const struct ergo_build *build, const char *name) {
    const char *names[NAMES_MAX];
    size_t n = 0;
    for (size_t i = 0; i < build->n_keys && n < NAMES_MAX; i++)
        names[n++] = leaf(build->keys[i]->pointer);
    const char *near = ergo_text_nearest(name, names, n);
    for (size_t i = 0; near && i < n; i++)
        if (names[i] == near)
            return build->keys[i]->pointer;
    return NULL;
}

void ergo_suggest_key(struct ergo_build *build, const char *parent, const char *pointer,
                      const struct ergo_json *node) {
    if (ergo_build_full(build)) {
        build->errors++;
        return;
    }
    const struct ergo_model *model = build->model;
    for (size_t i = 0; model && i < model->n_gone; i++)
        if (!strcmp(model->gone[i].pointer, pointer)) {
            ergo_build_error(build, pointer, node, "this key is gone: %s", model->gone[i].instead);
            return;
        }
    const char *names[NAMES_MAX];
    size_t n =
        ergo_keys_children(build->keys, build->n_keys, parent, names, NAMES_MAX - 1, build->arena);
    if (!*parent)
        names[n++] = "scan";
    const char *name = node->key;
    struct ergo_text text = {0};
    ergo_text_append(&text, "unknown key");
    struct ergo_text owners = {0};
    if (build->model)
        put_owners(&owners, build, pointer);
    const bool told = owners.length > 0;
    if (told) {
        ergo_text_append(&text, " for ");
        ergo_model_title(&text, build->sampler, build->model);
        ergo_text_append(&text, " (it is %s)", owners.data);
    }
    text.failed |= owners.failed;
    ergo_text_free(&owners);
    /* Short words resemble many names: a place is only guessed for longer ones. */
    if (strlen(name) <= WORD_MAX) {
        const char *there = right_name_elsewhere(build, name);
        const char *near = there ? NULL : ergo_text_nearest(name, names, n);
        if (!there && !near && !told && strlen(name) > 3)
            there = nearest_elsewhere(build, name);
        if (there || near)
            ergo_text_append(&text, "; did you mean \"%s\"?", there ? there : near);
        else
            ergo_text_append(&text, ";");
    } else {
        ergo_text_append(&text, ";");
    }
    ergo_text_append(&text, " allowed here:");
    for (size_t i = 0; i < n; i++)
        ergo_text_append(&text, "%s %s", i ? "," : "", names[i]);
    if (text.failed || !text.data)
        ergo_build_no_memory(build);
    else
        ergo_build_error(build, pointer, node, "%s", text.data);
    ergo_text_free(&text);
}
