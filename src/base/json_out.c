#include "base/json_out.h"

#include <stdarg.h>

#include "base/utf8.h"

/* Takes the item, which is NULL when memory ran out. */
static void add(struct ergo_json_out *out, const char *name, cJSON *item) {
    cJSON *parent = out->depth ? out->open[out->depth - 1] : NULL;
    if (!parent)
        out->open[0] = item;
    else if (item && !(cJSON_IsObject(parent) ? cJSON_AddItemToObject(parent, name, item)
                                              : cJSON_AddItemToArray(parent, item))) {
        cJSON_Delete(item);
        item = NULL;
    }
    out->failed |= !item;
}

static void open_item(struct ergo_json_out *out, const char *name, cJSON *item) {
    add(out, name, item);
    out->failed |= out->depth == ERGO_OUT_DEPTH;
    if (!out->failed)
        out->open[out->depth++] = item;
}

void ergo_out_object(struct ergo_json_out *out, const char *name) {
    if (!out->failed)
        open_item(out, name, cJSON_CreateObject());
}

void ergo_out_array(struct ergo_json_out *out, const char *name) {
    if (!out->failed)
        open_item(out, name, cJSON_CreateArray());
}

void ergo_out_close(struct ergo_json_out *out, size_t levels) {
    if (!out->failed)
        out->depth -= levels < out->depth ? levels : out->depth - 1; /* open[0] holds the rest */
}

void ergo_out_text(struct ergo_json_out *out, const char *name, const char *text) {
    if (!out->failed)
        add(out, name, text ? cJSON_CreateString(text) : cJSON_CreateNull());
}

void ergo_out_bool(struct ergo_json_out *out, const char *name, bool value) {
    if (!out->failed)
        add(out, name, cJSON_CreateBool(value));
}

/* Frees the text. */
static void add_text(struct ergo_json_out *out, const char *name, struct ergo_text *text,
                     cJSON *(*create)(const char *)) {
    if (text->failed)
        out->failed = true;
    else if (!out->failed)
        add(out, name, create(text->data ? text->data : ""));
    ergo_text_free(text);
}

void ergo_out_number(struct ergo_json_out *out, const char *name, double value) {
    struct ergo_text text = {0};
    ergo_text_append_number(&text, value);
    add_text(out, name, &text, cJSON_CreateRaw);
}

/* One item and not n of them: curves are long, and an item takes a hundred bytes. */
void ergo_out_numbers(struct ergo_json_out *out, const char *name, const double *x, size_t n) {
    struct ergo_text text = {0};
    ergo_text_append(&text, "[");
    for (size_t i = 0; i < n; i++) {
        if (i)
            ergo_text_append_bytes(&text, ", ", 2);
        ergo_text_append_number(&text, x[i]);
    }
    ergo_text_append(&text, "]");
    add_text(out, name, &text, cJSON_CreateRaw);
}

void ergo_out_raw(struct ergo_json_out *out, const char *name, const char *format, ...) {
    struct ergo_text text = {0};
    va_list args;
    va_start(args, format);
    ergo_text_append_va(&text, format, args);
    va_end(args);
    add_text(out, name, &text, cJSON_CreateRaw);
}

void ergo_out_raw_text(struct ergo_json_out *out, const char *name, struct ergo_text *text) {
    add_text(out, name, text, cJSON_CreateRaw);
}

void ergo_out_parsed(struct ergo_json_out *out, const char *name, const char *format, ...) {
    struct ergo_text text = {0};
    va_list args;
    va_start(args, format);
    ergo_text_append_va(&text, format, args);
    va_end(args);
    add_text(out, name, &text, cJSON_Parse);
}

char *ergo_out_take(struct ergo_json_out *out, bool compact) {
    struct ergo_text text = {0};
    char *printed = NULL;
    if (!out->failed && !ergo_memory_failed())
        printed = compact ? cJSON_PrintUnformatted(out->open[0]) : cJSON_Print(out->open[0]);
    ergo_out_free(out);
    text.failed = !printed;
    if (printed)
        ergo_utf8_append_json(&text, printed);
    cJSON_free(printed);
    if (!compact)
        ergo_text_append(&text, "\n");
    return ergo_text_take(&text);
}

enum ergo_status ergo_out_give(struct ergo_context *ctx, struct ergo_json_out *out, char **text) {
    *text = ergo_out_take(out, false);
    return *text ? ERGO_OK : ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for JSON");
}

void ergo_out_free(struct ergo_json_out *out) {
    cJSON_Delete(out->open[0]);
    *out = (struct ergo_json_out){0};
}
