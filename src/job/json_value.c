/* JSON values after reading: numbers from their text, building, and as text again. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_out.h"
#include "job/json.h"

struct ergo_json *ergo_json_create(struct ergo_arena *arena, enum ergo_json_kind kind) {
    struct ergo_json *value = ergo_arena_alloc(arena, 1, sizeof *value);
    if (value)
        value->kind = kind;
    return value;
}

void ergo_json_add(struct ergo_json *parent, struct ergo_json *child) {
    if (parent->last)
        parent->last->next = child;
    else
        parent->child = child;
    parent->last = child;
    parent->count++;
}

void ergo_json_remove(struct ergo_json *parent, const struct ergo_json *child) {
    struct ergo_json **link = &parent->child, *before = NULL;
    for (; *link != child; link = &before->next)
        before = *link;
    *link = child->next;
    parent->last = child->next ? parent->last : before;
    parent->count--;
}

struct ergo_json *ergo_json_member(const struct ergo_json *object, const char *key) {
    if (!object || object->kind != ERGO_JSON_OBJECT)
        return NULL;
    for (struct ergo_json *member = object->child; member; member = member->next)
        if (!strcmp(member->key, key))
            return member;
    return NULL;
}

const struct ergo_json *ergo_json_find(const struct ergo_json *root, const char *pointer) {
    const struct ergo_json *at = root;
    for (const char *p = pointer; at && *p;) {
        char token[128];
        size_t length = strcspn(++p, "/");
        if (length >= sizeof token || at->kind != ERGO_JSON_OBJECT)
            return NULL;
        memcpy(token, p, length);
        token[length] = '\0';
        at = ergo_json_member(at, token);
        p += length;
    }
    return at;
}

/* Digits d and exponent e of the token, value = d * 10^e, with d free of outer zeros. */
enum ergo_json_integer ergo_json_integer(const char *token, bool *negative, uint64_t *magnitude) {
    char digits[ERGO_JSON_NUMBER_MAX + 1] = "";
    size_t n = 0;
    long exponent = 0;
    const char *p = token;
    *magnitude = 0;
    *negative = *p == '-';
    if (*negative)
        p++;
    bool fraction = false;
    for (; (*p >= '0' && *p <= '9') || *p == '.'; p++) {
        if (*p == '.') {
            fraction = true;
            continue;
        }
        if (fraction)
            exponent--;
        if ((n || *p != '0') && n < sizeof digits)
            digits[n++] = *p;
    }
    if (*p == 'e' || *p == 'E') {
        bool minus = p[1] == '-';
        p += p[1] == '-' || p[1] == '+' ? 2 : 1;
        long written = 0;
        for (; *p >= '0' && *p <= '9'; p++)
            if (written < 100000000) /* digits beyond this change no answer, and the count cannot
                                      * overflow */
                written = written * 10 + (*p - '0');
        exponent += minus ? -written : written;
    }
    while (n && digits[n - 1] == '0') {
        n--;
        exponent++;
    }
    if (n == 0) {
        *negative = false;
        return ERGO_JSON_INTEGER;
    }
    if (exponent < 0)
        return ERGO_JSON_NO_INTEGER;
    if ((long)n + exponent > 20)
        return ERGO_JSON_BIG_INTEGER;
    uint64_t value = 0;
    for (size_t i = 0; i < n + (size_t)exponent; i++) {
        unsigned digit = i < n ? (unsigned)(digits[i] - '0') : 0;
        if (value > (UINT64_MAX - digit) / 10)
            return ERGO_JSON_BIG_INTEGER;
        value = value * 10 + digit;
    }
    *magnitude = value;
    return ERGO_JSON_INTEGER;
}

bool ergo_json_real(const char *token, double *real) {
    double value = strtod(token, NULL);
    *real = value == 0 ? 0.0 : value;
    if (!isfinite(value))
        return false;
    return value != 0 || strcspn(token, "123456789") >= strcspn(token, "eE");
}

void ergo_json_pointer(struct ergo_text *out, const char *key) {
    ergo_text_append_bytes(out, "/", 1);
    for (const char *p = key; *p;) {
        size_t plain = strcspn(p, "~/");
        ergo_text_append_bytes(out, p, plain);
        p += plain;
        if (*p)
            ergo_text_append_bytes(out, *p++ == '~' ? "~0" : "~1", 2);
    }
}

static void put(struct ergo_json_out *out, const struct ergo_json *value) {
    switch (value->kind) {
    case ERGO_JSON_NULL:
        ergo_out_text(out, value->key, NULL);
        return;
    case ERGO_JSON_BOOL:
        ergo_out_bool(out, value->key, value->boolean);
        return;
    case ERGO_JSON_NUMBER:
        ergo_out_raw(out, value->key, "%s", value->text);
        return;
    case ERGO_JSON_STRING:
        ergo_out_text(out, value->key, value->text);
        return;
    case ERGO_JSON_ARRAY:
        ergo_out_array(out, value->key);
        break;
    case ERGO_JSON_OBJECT:
        ergo_out_object(out, value->key);
        break;
    }
    for (const struct ergo_json *item = value->child; item; item = item->next)
        put(out, item);
    ergo_out_close(out, 1);
}

char *ergo_json_text(const struct ergo_json *value, bool compact) {
    struct ergo_json_out out = {0};
    put(&out, value);
    return ergo_out_take(&out, compact);
}

char *ergo_json_pretty(const char *json) {
    struct ergo_arena arena = {0};
    struct ergo_json *root = NULL;
    char *text = NULL;
    if (ergo_json_parse(NULL, "", json, strlen(json), &arena, &root) == ERGO_OK)
        text = ergo_json_text(root, false);
    ergo_arena_free(&arena);
    return text;
}
