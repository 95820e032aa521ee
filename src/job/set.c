/* --set "/json/pointer=value": changes to the tree before it is checked. */
#include <string.h>

#include "base/utf8.h"
#include "job/build.h"

static void complain(struct ergo_build *build, const char *set, const char *why) {
    struct ergo_text shown = {0};
    ergo_utf8_append_word(&shown, set, ERGO_SHOWN_MAX);
    ergo_build_error(build, NULL, NULL, "--set \"%s\": %s", shown.data ? shown.data : "", why);
    ergo_text_free(&shown);
}

/* What was meant by a text that is no /PTR=VALUE: with a slash in front, or a key's place. */
static void complain_form(struct ergo_build *build, const char *set) {
    const size_t name = strcspn(set, "=");
    const char *before = NULL;
    if (name && set[name] && *set != '/' && strlen(set) < 64)
        before = memchr(set, '/', name) ? "/" : "/system/";
    for (size_t k = 0; before && k < ergo_job_n_common_keys; k++) {
        const char *pointer = ergo_job_common_keys[k].pointer, *leaf = strrchr(pointer, '/') + 1;
        if (strlen(leaf) == name && !strncmp(leaf, set, name))
            before = leaf - pointer == 1 ? "/" : !strncmp(pointer, "/run/", 5) ? "/run/" : before;
    }
    struct ergo_text why = {0};
    ergo_text_append(&why, "write it as /json/pointer=value, e.g. %s", before ? before : "");
    if (before)
        ergo_utf8_append_word(&why, set, ERGO_SHOWN_MAX);
    else
        ergo_text_append(&why, "/system/temperature=2.3");
    complain(build, set, why.data ? why.data : "");
    ergo_text_free(&why);
}

static void mark(struct ergo_json *value, const char *origin) {
    value->origin = origin;
    for (struct ergo_json *child = value->child; child; child = child->next)
        mark(child, origin);
}

/* JSON if it is JSON, else the text itself: --set /device=gpu needs no quotes. */
static struct ergo_json *read_value(struct ergo_build *build, const char *set, const char *text) {
    struct ergo_json *value = NULL;
    size_t length = strlen(text);
    enum ergo_status status = ergo_json_parse(NULL, "", text, length, build->arena, &value);
    if (status != ERGO_OK || !value) {
        value = ergo_json_create(build->arena, ERGO_JSON_STRING);
        if (value)
            value->text = ergo_arena_copy(build->arena, text, length);
        if (!value || !value->text) {
            ergo_build_no_memory(build);
            return NULL;
        }
    }
    mark(value, set);
    return value;
}

/* One token of a pointer, unescaped. False: a ~ that is neither ~0 nor ~1. */
static bool read_token(const char **at, const char *end, char *token) {
    const char *p = *at;
    for (; p < end && *p != '/'; p++) {
        if (*p == '~' && (p + 1 >= end || (p[1] != '0' && p[1] != '1'))) {
            *at = p;
            return false;
        }
        *token++ = *p == '~' ? (*++p == '0' ? '~' : '/') : *p;
    }
    *token = '\0';
    *at = p;
    return true;
}

static struct ergo_json *element(const struct ergo_json *array, const char *token) {
    size_t digits = strspn(token, "0123456789");
    if (digits == 0 || token[digits] || digits > 7 || (digits > 1 && *token == '0'))
        return NULL;
    size_t index = 0;
    for (const char *p = token; *p; p++)
        index = index * 10 + (size_t)(*p - '0');
    struct ergo_json *item = array->child;
    while (item && index--)
        item = item->next;
    return item;
}

static void apply(struct ergo_build *build, const char *set) {
    const char *equals = strchr(set, '=');
    if (*set != '/' || !equals) {
        complain_form(build, set);
        return;
    }
    struct ergo_json *value = read_value(build, set, equals + 1);
    char *token = ergo_arena_alloc(build->arena, (size_t)(equals - set) + 1, 1);
    if (!token)
        ergo_build_no_memory(build);
    if (!value || !token)
        return;
    struct ergo_json *at = build->root, *parent = NULL;
    const char *p = set;
    for (size_t depth = 0; p < equals; depth++) {
        p++; /* the slash */
        if (!read_token(&p, equals, token) || *token == '\0') {
            complain(build, set,
                     *p == '~' ? "in a JSON pointer ~ is written ~0 and / is ~1"
                               : "the pointer has an empty name");
            return;
        }
        if (depth >= ERGO_JSON_DEPTH_MAX / 2) {
            complain(build, set, "the pointer is too deep");
            return;
        }
        struct ergo_json *next;
        parent = at;
        if (at->kind == ERGO_JSON_ARRAY) {
            next = element(at, token);
            if (!next) {
                complain(build, set, "the array has no such element");
                return;
            }
        } else if (at->kind == ERGO_JSON_OBJECT) {
            next = ergo_json_member(at, token);
            if (!next && value->kind == ERGO_JSON_NULL) {
                complain(build, set, "null takes a key away, and the job has none of this name");
                return;
            }
            if (!next) {
                next = ergo_json_create(build->arena, ERGO_JSON_OBJECT);
                if (next)
                    next->key = ergo_arena_copy(build->arena, token, strlen(token));
                if (!next || !next->key) {
                    ergo_build_no_memory(build);
                    return;
                }
                next->origin = set;
                ergo_json_add(at, next);
            }
        } else {
            complain(build, set, "the pointer goes through a value that is no object");
            return;
        }
        at = next;
    }
    if (parent && parent->kind == ERGO_JSON_OBJECT && value->kind == ERGO_JSON_NULL) {
        ergo_json_remove(parent, at);
        return;
    }
    /* Replace the content, keep the place among its siblings. */
    at->kind = value->kind;
    at->boolean = value->boolean;
    at->text = value->text;
    at->origin = set;
    at->child = value->child;
    at->last = value->last;
    at->count = value->count;
}

void ergo_set_apply(struct ergo_build *build, const char *const *sets, size_t n_sets) {
    for (size_t i = 0; i < n_sets; i++) {
        /* Checked here once, so that messages and the canonical job stay UTF-8. */
        const size_t length = strlen(sets[i]);
        const char *set = ergo_arena_copy(build->arena, sets[i], length);
        if (!set)
            ergo_build_no_memory(build);
        else if (ergo_utf8_prefix(set, set + length) < length)
            ergo_build_error(build, NULL, NULL, "--set number %zu is not valid UTF-8", i + 1);
        else
            apply(build, set);
    }
}
