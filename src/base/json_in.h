/*
 * JSON of our own files (tuning profiles, recorded results), read by cJSON: numbers are doubles. A
 * job must not change while it is read, and has a reader of its own (job/json.h).
 */
#ifndef ERGO_CORE_JSON_IN_H
#define ERGO_CORE_JSON_IN_H

#include <cjson/cJSON.h>

#include "base/error.h"

/* The text as a tree, for cJSON_Delete. ERGO_E_IO, with `name` and the line: it is no JSON (UTF-8,
 * nothing behind it), nested more deeply than cJSON allows, or an object has a name twice or too
 * many of them. */
enum ergo_status ergo_json_in(struct ergo_context *ctx, const char *name, const char *text,
                              size_t length, cJSON **root);
/* A member of that name and type (cJSON_String ...), or NULL. `object` may be anything. */
const cJSON *ergo_in_member(const cJSON *object, const char *name, int type);
/* A text, or `fallback`; a finite number, or NaN. */
const char *ergo_in_text(const cJSON *object, const char *name, const char *fallback);
double ergo_in_number(const cJSON *object, const char *name);

#endif
