/* The tree of a job against the key tables. */
#include <stdio.h>
#include <string.h>

#include "job/build.h"

/* Is there a key below `pointer`? */
static bool is_container(const struct ergo_build *build, const char *pointer) {
    size_t length = strlen(pointer);
    for (size_t i = 0; i < build->n_keys; i++)
        if (!strncmp(build->keys[i]->pointer, pointer, length) &&
            build->keys[i]->pointer[length] == '/')
            return true;
    return false;
}

/* While sampler or model are unknown, so are the keys of these. */
static bool is_models(const char *pointer) {
    return !strcmp(pointer, "/system") || !strncmp(pointer, "/system/", 8) ||
           !strcmp(pointer, "/tuning") || !strncmp(pointer, "/run/", 5);
}

static void not_an_object(struct ergo_build *build, const char *pointer,
                          const struct ergo_json *node) {
    const char *names[64];
    size_t n = ergo_keys_children(build->keys, build->n_keys, pointer, names, 64, build->arena);
    struct ergo_text rest = {0};
    for (size_t i = 0; i < n; i++)
        ergo_text_append(&rest, "%s%s", i ? ", " : "; allowed: an object with the keys ", names[i]);
    ergo_build_found(build, pointer, node, rest.data ? rest.data : "");
    ergo_text_free(&rest);
}

static void check_object(struct ergo_build *build, const char *parent,
                         const struct ergo_json *object) {
    struct ergo_text pointer = {0};
    for (const struct ergo_json *member = object->child; member; member = member->next) {
        pointer.length = 0;
        ergo_text_append(&pointer, "%s", parent);
        ergo_json_pointer(&pointer, member->key);
        if (pointer.failed) {
            ergo_build_no_memory(build);
            break;
        }
        if (!strcmp(pointer.data, "/scan"))
            continue;
        size_t k = ergo_keys_find(build->keys, build->n_keys, pointer.data);
        if (k != SIZE_MAX) {
            ergo_value_read(build, build->keys[k], pointer.data, member, &build->base[k]);
            build->base[k].given = true; /* a key with a wrong value is not missing */
        } else if (is_container(build, pointer.data)) {
            if (member->kind == ERGO_JSON_OBJECT)
                check_object(build, pointer.data, member);
            else
                not_an_object(build, pointer.data, member);
        } else if (build->model || !is_models(pointer.data)) {
            ergo_suggest_key(build, parent, pointer.data, member);
        }
    }
    ergo_text_free(&pointer);
}

/* A value that the model as a whole cannot serve. */
static void refuse_for_model(struct ergo_build *build, size_t k, const char *found, const char *why,
                             const char *allowed) {
    struct ergo_text title = {0};
    ergo_model_title(&title, build->sampler, build->model);
    ergo_build_error(build, build->keys[k]->pointer, NULL, "found %s, but %s %s; allowed: %s",
                     found, title.data ? title.data : "", why, allowed);
    ergo_text_free(&title);
}

/* A trajectory that the sampler would not write is refused. */
static void check_trajectory(struct ergo_build *build) {
    const size_t k = ergo_keys_find(build->keys, build->n_keys, "/output/trajectory_every");
    char found[32];
    snprintf(found, sizeof found, "%lld", (long long)build->base[k].integer);
    if (build->model && !build->model->trajectory && build->base[k].integer != 0)
        refuse_for_model(build, k, found, "writes no trajectory", "0");
}

static void check_distribution(struct ergo_build *build) {
    const size_t k = ergo_keys_find(build->keys, build->n_keys, "/distribute");
    const char *value = build->base[k].text;
    if (build->model && !build->model->cut && value && !strcmp(value, "lattice"))
        refuse_for_model(build, k, "\"lattice\"", "cannot cut its systems into pieces",
                         "\"points\", \"auto\"");
}

void ergo_check_tree(struct ergo_build *build) {
    for (size_t k = 0; k < build->n_keys; k++) {
        const struct ergo_key *key = build->keys[k];
        if (!key->fallback)
            continue;
        struct ergo_json *node = NULL;
        size_t errors = build->errors;
        if (ergo_json_parse(NULL, "", key->fallback, strlen(key->fallback), build->arena, &node) !=
                ERGO_OK ||
            !ergo_value_read(build, key, key->pointer, node, &build->base[k])) {
            build->status = ERGO_FAIL(build->ctx, ERGO_E_INTERNAL,
                                      "%s: the key table has the default %s, which the key does "
                                      "not take",
                                      key->pointer, key->fallback);
            build->errors = errors;
        }
        build->base[k].given = false;
    }
    check_object(build, "", build->root);
    check_trajectory(build);
    check_distribution(build);
}

void ergo_check_required(struct ergo_build *build) {
    for (size_t k = 0; k < build->n_keys; k++) {
        const struct ergo_key *key = build->keys[k];
        bool scanned = false;
        for (size_t a = 0; a < build->n_axes; a++)
            scanned = scanned || (build->axes[a].key == k && build->axes[a].element < 0);
        if (!(key->flags & ERGO_KEY_REQUIRED) || build->base[k].given || scanned)
            continue;
        struct ergo_text allowed = {0};
        ergo_key_allowed(&allowed, key);
        ergo_build_error(build, key->pointer, NULL, "missing; needed: %s. %s",
                         allowed.data ? allowed.data : "", key->help);
        ergo_text_free(&allowed);
    }
}
