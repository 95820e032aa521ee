#include "job/json.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"

enum { DUPLICATES_SHOWN = 16 };

struct reader {
    struct ergo_context *ctx; /* NULL: silent */
    const char *name;
    const char *begin, *at, *end;
    struct ergo_arena *arena;
    size_t depth, values, duplicates;
    const struct ergo_json *path[ERGO_JSON_DEPTH_MAX + 1]; /* open arrays and objects */
    enum ergo_status status;
};

/* Line and column, both from 1; the column counts characters. Only errors need it, so it is found
 * by reading again and not carried along. */
static void reader_place(const struct reader *r, const char *where, size_t *line, size_t *column) {
    *line = 1;
    const char *start = r->begin;
    for (const char *p = r->begin; p < where; p++) {
        if (*p == '\n') {
            ++*line;
            start = p + 1;
        }
    }
    *column = 1;
    for (const char *p = start; p < where; p++)
        *column += ((unsigned char)*p & 0xC0) != 0x80;
}

ERGO_PRINTF(3, 4)
static struct ergo_json *reader_fail(struct reader *r, const char *where, const char *format, ...) {
    char message[512];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    r->status = ERGO_E_JOB;
    if (r->ctx) {
        size_t line, column;
        reader_place(r, where, &line, &column);
        ERGO_FAIL(r->ctx, ERGO_E_JOB, "%s:%zu:%zu: %s", r->name, line, column, message);
    }
    return NULL;
}

static struct ergo_json *reader_no_memory(struct reader *r) {
    r->status = ERGO_E_MEMORY;
    if (r->ctx)
        ERGO_FAIL(r->ctx, ERGO_E_MEMORY, "%s: memory ran out while reading", r->name);
    return NULL;
}

/* Name the character at `at` for a message. */
static const char *reader_char(const struct reader *r, const char *at, char name[32]) {
    if (at >= r->end)
        return "the end of the text";
    unsigned char c = (unsigned char)*at;
    size_t length = ergo_utf8_length(at, r->end);
    if (c == 0)
        return "a zero byte";
    if (length == 0)
        snprintf(name, 32, "byte 0x%02X, which is not UTF-8", c);
    else if (c < 0x20 || c == 0x7F || (c == 0xC2 && (unsigned char)at[1] < 0xA0))
        snprintf(name, 32, "a control character (0x%02X)", c == 0xC2 ? (unsigned char)at[1] : c);
    else
        snprintf(name, 32, "'%.*s'", (int)length, at);
    return name;
}

static void reader_blanks(struct reader *r) {
    while (r->at < r->end && (*r->at == ' ' || *r->at == '\t' || *r->at == '\n' || *r->at == '\r'))
        r->at++;
}

static bool is_digit(const char *at, const char *end) {
    return at < end && *at >= '0' && *at <= '9';
}

static bool is_word(char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
           c == '.' || c == '+' || c == '-';
}

static int hex4(const char *at, const char *end) {
    if (end - at < 4)
        return -1;
    int value = 0;
    for (int i = 0; i < 4; i++) {
        char c = at[i];
        int digit = c >= '0' && c <= '9'   ? c - '0'
                    : c >= 'a' && c <= 'f' ? c - 'a' + 10
                    : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                           : -1;
        if (digit < 0)
            return -1;
        value = value * 16 + digit;
    }
    return value;
}

static size_t put_utf8(char *out, unsigned code) {
    if (code < 0x80) {
        out[0] = (char)code;
        return 1;
    }
    if (code < 0x800) {
        out[0] = (char)(0xC0 | code >> 6);
        out[1] = (char)(0x80 | (code & 63));
        return 2;
    }
    if (code < 0x10000) {
        out[0] = (char)(0xE0 | code >> 12);
        out[1] = (char)(0x80 | (code >> 6 & 63));
        out[2] = (char)(0x80 | (code & 63));
        return 3;
    }
    out[0] = (char)(0xF0 | code >> 18);
    out[1] = (char)(0x80 | (code >> 12 & 63));
    out[2] = (char)(0x80 | (code >> 6 & 63));
    out[3] = (char)(0x80 | (code & 63));
    return 4;
}

/* One escape sequence; r->at is on the backslash. Returns the bytes written, 0 on failure. */
static size_t reader_escape(struct reader *r, char *out) {
    const char *start = r->at++;
    char c = '\0';
    if (r->at < r->end)
        c = *r->at++;
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    const char *found = c ? strchr(from, c) : NULL;
    if (found) {
        *out = to[found - from];
        return 1;
    }
    if (c != 'u') {
        reader_fail(r, start,
                    "unknown escape in a string; allowed: \\\" \\\\ \\/ \\b \\f \\n \\r "
                    "\\t \\uXXXX");
        return 0;
    }
    int code = hex4(r->at, r->end);
    if (code < 0) {
        reader_fail(r, start, "\\u needs four hexadecimal digits");
        return 0;
    }
    r->at += 4;
    if (code == 0) {
        reader_fail(r, start, "\\u0000 in a string: a name or value cannot hold a zero byte");
        return 0;
    }
    if (code >= 0xDC00 && code < 0xE000) {
        reader_fail(r, start, "\\u%04X is the second half of a surrogate pair without the first",
                    (unsigned)code);
        return 0;
    }
    unsigned full = (unsigned)code;
    if (code >= 0xD800 && code < 0xDC00) {
        int low = r->end - r->at >= 6 && r->at[0] == '\\' && r->at[1] == 'u'
                      ? hex4(r->at + 2, r->end)
                      : -1;
        if (low < 0xDC00 || low >= 0xE000) {
            reader_fail(r, start,
                        "\\u%04X is the first half of a surrogate pair without the "
                        "second",
                        (unsigned)code);
            return 0;
        }
        r->at += 6;
        full = 0x10000u + (((unsigned)code - 0xD800u) << 10) + ((unsigned)low - 0xDC00u);
    }
    return put_utf8(out, full);
}

/* The string at r->at (on its quote), decoded into the arena. */
static const char *reader_string(struct reader *r) {
    const char *start = r->at++;
    const char *p = r->at;
    while (p < r->end && *p != '"')
        p += *p == '\\' && p + 1 < r->end ? 2 : 1;
    /* decoding never makes a string longer */
    char *text = ergo_arena_alloc(r->arena, (size_t)(p - r->at) + 5, 1);
    if (!text) {
        reader_no_memory(r);
        return NULL;
    }
    char *out = text;
    while (r->at < r->end && *r->at != '"') {
        size_t length;
        if (*r->at == '\\') {
            length = reader_escape(r, out);
            if (length == 0)
                return NULL;
        } else {
            length = ergo_utf8_length(r->at, r->end);
            char name[32];
            if (length == 0) {
                reader_fail(r, r->at, "invalid UTF-8 in a string: found %s",
                            reader_char(r, r->at, name));
                return NULL;
            }
            if ((unsigned char)*r->at < 0x20) {
                reader_fail(r, r->at, "a string holds %s unescaped%s", reader_char(r, r->at, name),
                            *r->at == '\n' ? "; is a closing quote missing?" : "");
                return NULL;
            }
            memcpy(out, r->at, length);
            r->at += length;
        }
        out += length;
    }
    if (r->at >= r->end) {
        reader_fail(r, start, "this string has no closing quote");
        return NULL;
    }
    r->at++;
    return text;
}

static struct ergo_json *reader_word(struct reader *r, struct ergo_json *value) {
    const char *start = r->at, *p = start;
    while (p < r->end && is_word(*p))
        p++;
    size_t length = (size_t)(p - start);
    r->at = p;
    if (length == 4 && !memcmp(start, "null", 4))
        return value;
    value->kind = ERGO_JSON_BOOL;
    value->boolean = length == 4 && !memcmp(start, "true", 4);
    if (value->boolean || (length == 5 && !memcmp(start, "false", 5)))
        return value;
    char name[32];
    if (length == 0 && start < r->end && (*start == '/' || *start == '#'))
        return reader_fail(r, start, "JSON has no comments; put remarks into \"description\"");
    if (length == 0 && start < r->end && *start == '\'')
        return reader_fail(r, start, "strings stand in double quotes");
    if (length == 0)
        return reader_fail(r, start, "expected a value, found %s", reader_char(r, start, name));
    return reader_fail(r, start,
                       "'%.*s' is no JSON value (numbers are finite and decimal, words "
                       "are true, false, null, texts stand in double quotes)",
                       length > 40 ? 40 : (int)length, start);
}

static struct ergo_json *reader_number(struct reader *r, struct ergo_json *value) {
    const char *start = r->at, *p = start;
    if (*p == '-')
        p++;
    if (!is_digit(p, r->end))
        return reader_word(r, value); /* -Infinity, -.5 */
    if (*p == '0' && is_digit(p + 1, r->end))
        return reader_fail(r, start, "a number cannot start with a zero that means nothing");
    while (is_digit(p, r->end))
        p++;
    if (p < r->end && *p == '.') {
        p++;
        if (!is_digit(p, r->end))
            return reader_fail(r, start, "a number needs a digit after its point");
        while (is_digit(p, r->end))
            p++;
    }
    if (p < r->end && (*p == 'e' || *p == 'E')) {
        p++;
        if (p < r->end && (*p == '+' || *p == '-'))
            p++;
        if (!is_digit(p, r->end))
            return reader_fail(r, start, "a number needs a digit in its exponent");
        while (is_digit(p, r->end))
            p++;
    }
    if (p < r->end && is_word(*p))
        return reader_word(r, value); /* 0x10, 1.2.3 */
    if (p - start > ERGO_JSON_NUMBER_MAX)
        return reader_fail(r, start, "a number of more than %d characters", ERGO_JSON_NUMBER_MAX);
    r->at = p;
    value->kind = ERGO_JSON_NUMBER;
    value->text = ergo_arena_copy(r->arena, start, (size_t)(p - start));
    return value->text ? value : reader_no_memory(r);
}

/* ---- arrays and objects ---------------------------------------------------------------------- */

static int compare_members(const void *a, const void *b) {
    const struct ergo_json *x = *(struct ergo_json *const *)a, *y = *(struct ergo_json *const *)b;
    int order = strcmp(x->key, y->key);
    return order ? order : (x->offset > y->offset) - (x->offset < y->offset);
}

/* The pointer of a member of the innermost open object. */
static void reader_pointer(const struct reader *r, const char *key, struct ergo_text *out) {
    for (size_t i = 0; i + 1 < r->depth; i++) {
        const struct ergo_json *open = r->path[i];
        if (open->kind == ERGO_JSON_OBJECT)
            ergo_json_pointer(out, open->last->key);
        else
            ergo_text_append(out, "/%zu", open->count - 1);
    }
    ergo_json_pointer(out, key);
}

static bool reader_duplicates(struct reader *r, const struct ergo_json *object) {
    if (object->count < 2)
        return true;
    struct ergo_json **members = malloc(object->count * sizeof *members);
    if (!members) {
        reader_no_memory(r);
        return false;
    }
    size_t n = 0;
    for (struct ergo_json *member = object->child; member; member = member->next)
        members[n++] = member;
    qsort(members, n, sizeof *members, compare_members);
    for (size_t i = 1; i < n; i++) {
        if (strcmp(members[i - 1]->key, members[i]->key) != 0 ||
            r->duplicates++ >= DUPLICATES_SHOWN)
            continue;
        struct ergo_text pointer = {0}, shown = {0};
        reader_pointer(r, members[i]->key, &pointer);
        ergo_json_show(&shown, pointer.data ? pointer.data : "", 200);
        size_t line, column;
        reader_place(r, r->begin + members[i - 1]->offset, &line, &column);
        reader_fail(r, r->begin + members[i]->offset,
                    "%s: duplicate key, already given at line %zu, column %zu",
                    shown.data ? shown.data : "", line, column);
        ergo_text_free(&pointer);
        ergo_text_free(&shown);
    }
    free(members);
    return true;
}

static struct ergo_json *reader_value(struct reader *r, struct ergo_json *value);

/* The elements behind '[' or '{' up to the closing bracket. */
static struct ergo_json *reader_items(struct reader *r, struct ergo_json *value) {
    const bool object = *r->at == '{';
    const char close = object ? '}' : ']';
    const char *start = r->at++;
    char name[32];
    value->kind = object ? ERGO_JSON_OBJECT : ERGO_JSON_ARRAY;
    if (r->depth >= ERGO_JSON_DEPTH_MAX)
        return reader_fail(r, start, "nested deeper than %d levels", ERGO_JSON_DEPTH_MAX);
    r->path[r->depth++] = value;
    reader_blanks(r);
    bool more = !(r->at < r->end && *r->at == close);
    while (more) {
        reader_blanks(r);
        const char *key = NULL, *where = r->at;
        if (value->count && r->at < r->end && *r->at == close)
            return reader_fail(r, r->at, "a comma before '%c'", close);
        if (object) {
            if (r->at >= r->end || *r->at != '"')
                return reader_fail(r, r->at, "expected a key in double quotes, found %s%s",
                                   reader_char(r, r->at, name),
                                   r->at < r->end && (*r->at == '/' || *r->at == '#')
                                       ? " (JSON has no comments)"
                                       : "");
            key = reader_string(r);
            if (!key)
                return NULL;
            reader_blanks(r);
            if (r->at >= r->end || *r->at != ':')
                return reader_fail(r, r->at, "expected ':' after the key, found %s",
                                   reader_char(r, r->at, name));
            r->at++;
            reader_blanks(r);
        }
        /* The child is linked before it is read: pointers in messages follow the open path. */
        struct ergo_json *item = ergo_json_create(r->arena, ERGO_JSON_NULL);
        if (!item)
            return reader_no_memory(r);
        item->key = key;
        item->offset = (size_t)(where - r->begin);
        ergo_json_add(value, item);
        if (!reader_value(r, item))
            return NULL;
        reader_blanks(r);
        more = r->at < r->end && *r->at == ',';
        if (more)
            r->at++;
    }
    if (r->at >= r->end || *r->at != close)
        return reader_fail(
            r, r->at, "expected ',' or '%c', found %s%s", close, reader_char(r, r->at, name),
            r->at < r->end && (*r->at == '/' || *r->at == '#') ? " (JSON has no comments)" : "");
    r->at++;
    if (object && !reader_duplicates(r, value))
        return NULL;
    r->depth--;
    return value;
}

static struct ergo_json *reader_value(struct reader *r, struct ergo_json *value) {
    if (++r->values > ERGO_JSON_VALUES_MAX)
        return reader_fail(r, r->at, "more than %d values", ERGO_JSON_VALUES_MAX);
    if (r->at >= r->end)
        return reader_fail(r, r->at, "expected a value, found the end of the text");
    if (*r->at == '{' || *r->at == '[')
        return reader_items(r, value);
    if (*r->at == '"') {
        value->kind = ERGO_JSON_STRING;
        value->text = reader_string(r);
        return value->text ? value : NULL;
    }
    if (*r->at == '-' || is_digit(r->at, r->end))
        return reader_number(r, value);
    return reader_word(r, value);
}

enum ergo_status ergo_json_parse(struct ergo_context *ctx, const char *name, const char *text,
                                 size_t length, struct ergo_arena *arena, struct ergo_json **root) {
    struct reader r = {.ctx = ctx,
                       .name = name,
                       .begin = text,
                       .at = text,
                       .end = text + length,
                       .arena = arena,
                       .status = ERGO_OK};
    *root = NULL;
    if (length > ERGO_JSON_BYTES_MAX) {
        if (ctx)
            ERGO_FAIL(ctx, ERGO_E_JOB, "%s: larger than %d MiB; a job is a small text", name,
                      ERGO_JSON_BYTES_MAX >> 20);
        return ERGO_E_JOB;
    }
    if (length >= 3 && !memcmp(text, "\xEF\xBB\xBF", 3)) {
        reader_fail(&r, text, "starts with a byte order mark; save the file as UTF-8 without one");
        return r.status;
    }
    if (length >= 2 && (!memcmp(text, "\xFF\xFE", 2) || !memcmp(text, "\xFE\xFF", 2))) {
        reader_fail(&r, text, "is UTF-16; save the file as UTF-8");
        return r.status;
    }
    reader_blanks(&r);
    if (r.at >= r.end) {
        reader_fail(&r, r.at, "the text is empty; a job is a JSON object");
        return r.status;
    }
    struct ergo_json *value = ergo_json_create(arena, ERGO_JSON_NULL);
    if (!value)
        reader_no_memory(&r);
    if (!value || !reader_value(&r, value))
        return r.status;
    reader_blanks(&r);
    if (r.at < r.end) {
        char found[32];
        reader_fail(&r, r.at, "nothing may follow the JSON value, found %s",
                    reader_char(&r, r.at, found));
        return r.status;
    }
    *root = value;
    return r.status;
}
