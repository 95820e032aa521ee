/* JSON values after reading: numbers from their text, building, printing. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

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
            if (written < 100000000) /* far beyond any answer, far from overflow */
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

/* Escape from `text` to `end` as in a JSON string. */
static void print_escaped(struct ergo_text *out, const char *text, const char *end, bool quotes) {
    const char *plain = text;
    for (const char *p = text; p < end; p++) {
        unsigned char c = (unsigned char)*p;
        bool c1 = c == 0xC2 && p + 1 < end && (unsigned char)p[1] < 0xA0;
        if (c >= 0x20 && c != 0x7F && !c1 && !(quotes && (c == '"' || c == '\\')))
            continue;
        ergo_text_append_bytes(out, plain, (size_t)(p - plain));
        if (c == '"' || c == '\\')
            ergo_text_append(out, "\\%c", c);
        else if (c == '\n')
            ergo_text_append(out, "\\n");
        else if (c == '\t')
            ergo_text_append(out, "\\t");
        else
            ergo_text_append(out, "\\u%04X", c1 ? (unsigned char)*++p : c);
        plain = p + 1;
    }
    ergo_text_append_bytes(out, plain, (size_t)(end - plain));
}

void ergo_json_quote(struct ergo_text *out, const char *text) {
    ergo_text_append_bytes(out, "\"", 1);
    print_escaped(out, text, text + strlen(text), true);
    ergo_text_append_bytes(out, "\"", 1);
}

void ergo_json_show(struct ergo_text *out, const char *text, size_t most) {
    size_t length = strlen(text);
    bool cut = length > most;
    if (cut) {
        length = most;
        while (length && ((unsigned char)text[length] & 0xC0) == 0x80)
            length--;
    }
    print_escaped(out, text, text + length, false);
    if (cut)
        ergo_text_append(out, "...");
}

static void print_break(struct ergo_text *out, int indent) {
    if (indent >= 0)
        ergo_text_append(out, "\n%*s", 2 * indent, "");
}

void ergo_json_print(struct ergo_text *out, const struct ergo_json *value, int indent) {
    switch (value->kind) {
    case ERGO_JSON_NULL:
        ergo_text_append(out, "null");
        return;
    case ERGO_JSON_BOOL:
        ergo_text_append(out, value->boolean ? "true" : "false");
        return;
    case ERGO_JSON_NUMBER:
        ergo_text_append_bytes(out, value->text, strlen(value->text));
        return;
    case ERGO_JSON_STRING:
        ergo_json_quote(out, value->text);
        return;
    case ERGO_JSON_ARRAY:
    case ERGO_JSON_OBJECT:
        break;
    }
    bool object = value->kind == ERGO_JSON_OBJECT;
    /* Arrays of plain values stay on one line. */
    bool flat = indent < 0;
    if (!object) {
        flat = true;
        for (const struct ergo_json *item = value->child; item; item = item->next)
            flat = flat && item->kind < ERGO_JSON_ARRAY;
    }
    int inner = indent < 0 ? -1 : indent + 1;
    ergo_text_append_bytes(out, object ? "{" : "[", 1);
    for (const struct ergo_json *item = value->child; item; item = item->next) {
        if (item != value->child)
            ergo_text_append(out, flat && indent >= 0 ? ", " : ",");
        if (!flat || (object && indent >= 0))
            print_break(out, inner);
        if (object) {
            ergo_json_quote(out, item->key);
            ergo_text_append(out, indent < 0 ? ":" : ": ");
        }
        ergo_json_print(out, item, inner);
    }
    if (value->child && (!flat || (object && indent >= 0)))
        print_break(out, indent);
    ergo_text_append_bytes(out, object ? "}" : "]", 1);
}
