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

static bool sampler_knows(const struct ergo_sampler *sampler, const char *pointer) {
    for (size_t m = 0; m < sampler->n_models; m++)
        if (model_knows(sampler->models[m], pointer))
            return true;
    return false;
}

/* Whose key it is: other models of the sampler, else the other samplers that have it. */
static void put_owners(struct ergo_text *text, const struct ergo_build *build,
                       const char *pointer) {
    const struct ergo_sampler *sampler = build->sampler;
    size_t n = 0;
    for (size_t m = 0; m < sampler->n_models; m++)
        if (!ergo_model_repeats(sampler, m) && model_knows(sampler->models[m], pointer))
            ergo_text_append(text, "%s\"%s\"", n++ ? ", " : "a key of model ",
                             sampler->models[m]->name);
    const bool own = n > 0;
    for (size_t i = 0; i < ergo_n_samplers && !own; i++)
        if (ergo_samplers[i] != sampler && sampler_knows(ergo_samplers[i], pointer))
            ergo_text_append(text, "%s\"%s\"", n++ ? ", " : "a key of sampler ",
                             ergo_samplers[i]->name);
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

/* What begins so, or nearly has this name, in another place. Tuning is nobody's first thought, and
 * another place and more than one letter in four wrong is a guess. */
static const char *nearest_elsewhere(const struct ergo_build *build, const char *name) {
    const char *names[NAMES_MAX];
    size_t n = 0;
    for (size_t i = 0; i < build->n_keys && n < NAMES_MAX; i++)
        if (strncmp(build->keys[i]->pointer, "/tuning/", 8) != 0)
            names[n++] = leaf(build->keys[i]->pointer);
    const char *near = ergo_word_begun(name, names, n);
    if (!near)
        near = ergo_text_nearest(name, names, n);
    if (near && !ergo_word_begun(name, &near, 1) &&
        4 * ergo_text_distance(name, near) > strlen(name))
        return NULL;
    for (size_t i = 0; near && i < build->n_keys; i++)
        if (leaf(build->keys[i]->pointer) == near)
            return build->keys[i]->pointer;
    return NULL;
}

/* What other programs call so: one of the n names here, else the pointer of a key elsewhere. */
static const char *meant(const struct ergo_build *build, const char *name, const char *const *names,
                         size_t n) {
    const char *word;
    for (size_t i = 0; (word = ergo_word_meant(name, i)) != NULL; i++) {
        for (size_t k = 0; k < n; k++)
            if (!strcmp(names[k], word))
                return names[k];
        for (size_t k = 0; k < build->n_keys; k++) {
            const char *pointer = build->keys[k]->pointer;
            if (!strcmp(leaf(pointer), word) && strchr(pointer + 1, '/') == strrchr(pointer, '/'))
                return pointer;
        }
    }
    return NULL;
}

void ergo_suggest_key(struct ergo_build *build, const char *parent, const char *pointer,
                      const struct ergo_json *node) {
    if (ergo_build_full(build))
        return;
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
        const char *there = meant(build, name, names, n);
        /* where another model has the key, this one's of that name is another: a slit's density */
        if (!there && !(build->model && sampler_knows(build->sampler, pointer)))
            there = right_name_elsewhere(build, name);
        const char *near = there ? NULL : ergo_word_begun(name, names, n);
        if (!there && !near && strlen(name) > 1)
            near = ergo_text_nearest(name, names, n);
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
