/*
 * The JSON schema of jobs, from the key tables. One object schema serves all samplers: a sampler's
 * own keys are in `if sampler is X then`.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/entry.h"
#include "base/json_out.h"
#include "job/build.h"

static void put_range(struct ergo_json_out *out, const struct ergo_key *key) {
    if (!ergo_key_has_range(key))
        return;
    if (isfinite(key->min))
        ergo_out_number(out, key->flags & ERGO_KEY_EXCLUDES_MIN ? "exclusiveMinimum" : "minimum",
                        key->min);
    if (isfinite(key->max))
        ergo_out_number(out, "maximum", key->max);
}

static void put_integer(struct ergo_json_out *out, const struct ergo_key *key) {
    struct ergo_key exact = *key;
    const double most = (double)ERGO_EXACT_MAX;
    if (!ergo_key_has_range(key) || key->min < -most)
        exact.min = -most;
    if (!ergo_key_has_range(key) || key->max > most)
        exact.max = most;
    ergo_out_object(out, NULL);
    ergo_out_text(out, "type", "integer");
    put_range(out, &exact);
    ergo_out_close(out, 1);
    ergo_out_parsed(out, NULL, "{\"type\":\"string\",\"pattern\":\"^-?[0-9]{1,40}$\"}");
}

static void put_choices(struct ergo_json_out *out, const struct ergo_key *key) {
    ergo_out_array(out, "enum");
    for (size_t i = 0; ergo_key_choice(key, i); i++)
        ergo_out_text(out, NULL, ergo_key_choice(key, i));
    ergo_out_close(out, 1);
}

static void put_number(struct ergo_json_out *out, const struct ergo_key *key) {
    ergo_out_text(out, "type", "number");
    put_range(out, key);
}

/* A value, or also an array of them where the key says so. */
static void put_one_or_list(struct ergo_json_out *out, const struct ergo_key *key,
                            void (*put)(struct ergo_json_out *out, const struct ergo_key *key),
                            int least) {
    if (!(key->flags & ERGO_KEY_LIST)) {
        put(out, key);
        return;
    }
    ergo_out_array(out, "anyOf");
    ergo_out_object(out, NULL);
    put(out, key);
    ergo_out_close(out, 1);
    ergo_out_object(out, NULL);
    ergo_out_text(out, "type", "array");
    ergo_out_raw(out, "minItems", "%d", least);
    ergo_out_raw(out, "maxItems", "%d", key->max_items);
    ergo_out_object(out, "items");
    put(out, key);
    ergo_out_close(out, 3);
}

/* The members of a schema that describe a value of the key. */
static void put_type(struct ergo_json_out *out, const struct ergo_key *key) {
    switch (key->type) {
    case ERGO_KEY_REAL:
        put_one_or_list(out, key, put_number, key->min_items);
        break;
    case ERGO_KEY_INT:
        ergo_out_array(out, "anyOf");
        if (!strncmp(key->pointer, "/tuning/", 8))
            ergo_out_parsed(out, NULL, "{\"const\":0}");
        if (key->flags & ERGO_KEY_AUTO)
            ergo_out_parsed(out, NULL, "{\"const\":\"auto\"}");
        put_integer(out, key);
        ergo_out_close(out, 1);
        break;
    case ERGO_KEY_SEED: {
        const struct ergo_key exact = {.min = 0, .max = (double)ERGO_EXACT_MAX};
        ergo_out_array(out, "anyOf");
        ergo_out_parsed(out, NULL, "{\"type\":\"string\",\"pattern\":\"^[0-9]{1,40}$\"}");
        ergo_out_object(out, NULL);
        ergo_out_text(out, "type", "integer");
        put_range(out, &exact);
        ergo_out_close(out, 2);
        break;
    }
    case ERGO_KEY_BOOL:
        ergo_out_text(out, "type", "boolean");
        break;
    case ERGO_KEY_ENUM:
        put_one_or_list(out, key, put_choices, 1);
        break;
    case ERGO_KEY_STRING:
        ergo_out_text(out, "type", "string");
        break;
    case ERGO_KEY_SIZE:
    case ERGO_KEY_REALS: {
        const struct ergo_key element = ergo_key_element(key);
        ergo_out_text(out, "type", "array");
        ergo_out_raw(out, "minItems", "%d", key->min_items);
        ergo_out_raw(out, "maxItems", "%d", key->max_items);
        ergo_out_object(out, "items");
        put_type(out, &element);
        ergo_out_close(out, 1);
        break;
    }
    case ERGO_KEY_TIME:
        ergo_out_array(out, "anyOf");
        ergo_out_parsed(out, NULL,
                        "{\"type\":\"string\",\"pattern\":"
                        "\"^[0-9]{1,7}:[0-5][0-9]:[0-5][0-9]$\"}");
        ergo_out_object(out, NULL);
        ergo_out_text(out, "type", "number");
        put_range(out, key);
        ergo_out_close(out, 2);
        break;
    }
}

static void put_key(struct ergo_json_out *out, const struct ergo_key *key, const char *name) {
    struct ergo_text help = {0};
    ergo_text_append(&help, "%s", key->help ? key->help : "");
    if (key->acts)
        ergo_text_append(&help, " It acts only %s.", key->where);
    if (key->unit && *key->unit)
        ergo_text_append(&help, " Unit: %s.", key->unit);
    ergo_out_object(out, name);
    ergo_out_text(out, "description", help.data ? help.data : "");
    put_type(out, key);
    if (key->fallback)
        ergo_out_raw(out, "default", "%s", key->fallback);
    ergo_out_close(out, 1);
    out->failed |= help.failed;
    ergo_text_free(&help);
}

/* Each child of `prefix` with its schema, objects with their own children inside. */
static void put_properties(struct ergo_json_out *out, const struct ergo_key *const *keys,
                           size_t n_keys, const char *prefix, struct ergo_arena *arena) {
    const char *names[256];
    size_t n = ergo_keys_children(keys, n_keys, prefix, names, 256, arena);
    ergo_out_object(out, "properties");
    for (size_t i = 0; i < n; i++) {
        struct ergo_text pointer = {0};
        ergo_text_append(&pointer, "%s/%s", prefix, names[i]);
        const char *at = pointer.data ? pointer.data : "";
        size_t k = ergo_keys_find(keys, n_keys, at);
        if (k != SIZE_MAX) {
            put_key(out, keys[k], names[i]);
        } else {
            ergo_out_object(out, names[i]);
            ergo_out_text(out, "type", "object");
            ergo_out_bool(out, "additionalProperties", false);
            put_properties(out, keys, n_keys, at, arena);
            ergo_out_close(out, 1);
        }
        out->failed |= pointer.failed;
        ergo_text_free(&pointer);
    }
    if (!*prefix)
        ergo_out_parsed(out, "scan", "{\"$ref\":\"#/$defs/scan\"}");
    ergo_out_close(out, 1);
}

/* What one entry of "scan" takes: a list of the key's values, or a range of numbers. */
static void put_scan_values(struct ergo_json_out *out, const struct ergo_key *key,
                            const char *name) {
    ergo_out_object(out, name);
    ergo_out_array(out, "anyOf");
    ergo_out_object(out, NULL);
    ergo_out_text(out, "type", "array");
    ergo_out_raw(out, "minItems", "1");
    ergo_out_bool(out, "uniqueItems", true);
    ergo_out_raw(out, "maxItems", "%d", ERGO_SCAN_POINTS_MAX);
    ergo_out_object(out, "items");
    const struct ergo_key one = ergo_key_scanned(key);
    put_type(out, &one);
    ergo_out_close(out, 2);
    if (key->type != ERGO_KEY_SIZE)
        ergo_out_parsed(out, NULL, "{\"$ref\":\"#/$defs/range\"}");
    ergo_out_close(out, 2);
}

/* Matches the elements of a scannable size; "" of other keys. */
static void element_pattern(const struct ergo_key *key, char pattern[128]) {
    pattern[0] = '\0';
    if (key->flags & ERGO_KEY_SCAN && key->type == ERGO_KEY_SIZE)
        snprintf(pattern, 128, "^%s/[0-%d]$", key->pointer, key->max_items - 1);
}

/* The scan of one sampler: names of scannable keys, and elements of scannable sizes. */
static void put_scan(struct ergo_json_out *out, const struct ergo_key *const *keys, size_t n_keys) {
    char pattern[128];
    ergo_out_object(out, "scan");
    ergo_out_text(out, "type", "object");
    ergo_out_raw(out, "maxProperties", "%d", ERGO_SCAN_MAX);
    ergo_out_object(out, "propertyNames");
    ergo_out_array(out, "anyOf");
    ergo_out_object(out, NULL);
    ergo_out_array(out, "enum");
    for (size_t k = 0; k < n_keys; k++)
        if (keys[k]->flags & ERGO_KEY_SCAN)
            ergo_out_text(out, NULL, keys[k]->pointer);
    ergo_out_close(out, 2);
    for (size_t k = 0; k < n_keys; k++) {
        element_pattern(keys[k], pattern);
        if (*pattern)
            ergo_out_parsed(out, NULL, "{\"pattern\":\"%s\"}", pattern);
    }
    ergo_out_close(out, 2);
    ergo_out_object(out, "properties");
    for (size_t k = 0; k < n_keys; k++)
        if (keys[k]->flags & ERGO_KEY_SCAN)
            put_scan_values(out, keys[k], keys[k]->pointer);
    ergo_out_close(out, 1);
    ergo_out_object(out, "patternProperties");
    for (size_t k = 0; k < n_keys; k++) {
        const struct ergo_key element = ergo_key_element(keys[k]);
        element_pattern(keys[k], pattern);
        if (*pattern)
            put_scan_values(out, &element, pattern);
    }
    ergo_out_close(out, 2);
}

/* {"required":["system"],"properties":{"system":{"required":["size"]}}} for "/system/size" */
static void put_presence(struct ergo_json_out *out, const char *pointer) {
    const int length = (int)strcspn(pointer + 1, "/");
    const char *rest = pointer + 1 + length;
    ergo_out_parsed(out, "required", "[\"%.*s\"]", length, pointer + 1);
    if (!*rest)
        return;
    char name[64];
    snprintf(name, sizeof name, "%.*s", length, pointer + 1);
    ergo_out_object(out, "properties");
    ergo_out_object(out, name);
    put_presence(out, rest);
    ergo_out_close(out, 2);
}

/* A required key stands in its place or, where it may, in the scan. */
static void put_required(struct ergo_json_out *out, const struct ergo_key *key) {
    ergo_out_object(out, NULL);
    if (key->flags & ERGO_KEY_SCAN) {
        ergo_out_array(out, "anyOf");
        ergo_out_object(out, NULL);
        put_presence(out, key->pointer);
        ergo_out_close(out, 1);
        ergo_out_parsed(
            out, NULL,
            "{\"required\":[\"scan\"],\"properties\":{\"scan\":{\"required\":[\"%s\"]}}}",
            key->pointer);
        ergo_out_close(out, 1);
    } else {
        put_presence(out, key->pointer);
    }
    ergo_out_close(out, 1);
}

/* "sampler is X", with the members of "if" open, and those of its "properties". */
static void put_if_sampler(struct ergo_json_out *out, const struct ergo_sampler *sampler) {
    ergo_out_object(out, NULL);
    ergo_out_object(out, "if");
    ergo_out_parsed(out, "required", "[\"sampler\"]");
    ergo_out_object(out, "properties");
    ergo_out_parsed(out, "sampler", "{\"const\":\"%s\"}", sampler->name);
}

/* Opens the properties around the key at `pointer`; *name is its own, and the number of objects to
 * close is returned. */
static unsigned open_nested(struct ergo_json_out *out, const char *pointer, const char **name) {
    unsigned opened = 0;
    const char *token = pointer + 1;
    for (size_t length; token[length = strcspn(token, "/")]; token += length + 1) {
        char object[64];
        snprintf(object, sizeof object, "%.*s", (int)length, token);
        ergo_out_object(out, object);
        ergo_out_object(out, "properties");
        opened += 2;
    }
    *name = token;
    return opened;
}

/* Which models there are: a job of another one meets none of the conditions below. */
static bool put_model_key(struct ergo_json_out *out, const struct ergo_sampler *sampler,
                          struct ergo_arena *arena) {
    size_t n_keys = 0;
    const char *name = NULL;
    const struct ergo_key **keys = ergo_keys_of(sampler, NULL, arena, &n_keys);
    if (!keys)
        return false;
    put_if_sampler(out, sampler);
    ergo_out_close(out, 2);
    ergo_out_object(out, "then");
    ergo_out_object(out, "properties");
    const unsigned opened = open_nested(out, sampler->model_key->pointer, &name);
    put_key(out, keys[ergo_job_n_common_keys], name);
    ergo_out_close(out, opened + 3);
    return true;
}

/* "and its model is Y": one that is not given is the default. Closes "if". */
static void put_if_model(struct ergo_json_out *out, const struct ergo_sampler *sampler,
                         const struct ergo_model *model) {
    const struct ergo_key *key = sampler->model_key;
    const size_t length = strlen(key->fallback) - 2; /* between quotes */
    const char *name = NULL;
    const unsigned opened = open_nested(out, key->pointer, &name);
    ergo_out_parsed(out, name, "{\"const\":\"%s\"}", model->name);
    ergo_out_close(out, opened + 1);
    if (strncmp(key->fallback + 1, model->name, length) != 0 || model->name[length]) {
        ergo_out_array(out, "allOf");
        ergo_out_object(out, NULL);
        put_presence(out, key->pointer);
        ergo_out_close(out, 2);
    }
    ergo_out_close(out, 1);
}

static bool put_model(struct ergo_json_out *out, const struct ergo_sampler *sampler,
                      const struct ergo_model *model, struct ergo_arena *arena) {
    size_t n_keys = 0;
    const struct ergo_key **keys = ergo_keys_of(sampler, model, arena, &n_keys);
    const char *summary = model->summary ? model->summary : sampler->summary;
    if (!keys)
        return false;
    put_if_sampler(out, sampler);
    if (model->name)
        put_if_model(out, sampler, model);
    else
        ergo_out_close(out, 2);
    ergo_out_object(out, "then");
    ergo_out_text(out, "description", summary ? summary : "");
    ergo_out_bool(out, "additionalProperties", false);
    put_properties(out, keys, n_keys, "", arena);
    ergo_out_array(out, "allOf");
    ergo_out_object(out, NULL);
    ergo_out_object(out, "properties");
    put_scan(out, keys, n_keys);
    ergo_out_close(out, 2);
    if (!model->trajectory)
        ergo_out_parsed(out, NULL,
                        "{\"properties\":{\"output\":{\"properties\":"
                        "{\"trajectory_every\":{\"enum\":[0,\"0\"]}}}}}");
    for (size_t k = ergo_job_n_common_keys; k < n_keys; k++)
        if (keys[k]->flags & ERGO_KEY_REQUIRED)
            put_required(out, keys[k]);
    ergo_out_close(out, 3);
    return true;
}

static bool put_sampler(struct ergo_json_out *out, const struct ergo_sampler *sampler,
                        struct ergo_arena *arena) {
    bool good = !sampler->model_key || put_model_key(out, sampler, arena);
    for (size_t m = 0; m < sampler->n_models && good; m++)
        if (!ergo_model_repeats(sampler, m))
            good = put_model(out, sampler, sampler->models[m], arena);
    return good;
}

_Static_assert(ERGO_SCAN_POINTS_MAX == 100000, "the count of a range is written out here");
static const char definitions[] =
    "{\"range\":{\"type\":\"object\",\"additionalProperties\":false,"
    "\"description\":\"Values from one end to the other, both included: by step, or so many, "
    "spaced evenly or evenly in the logarithm.\","
    "\"required\":[\"from\",\"to\"],\"properties\":{"
    "\"from\":{\"type\":\"number\"},\"to\":{\"type\":\"number\"},"
    "\"step\":{\"type\":\"number\",\"not\":{\"const\":0}},"
    "\"count\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":100000},"
    "\"spacing\":{\"enum\":[\"linear\",\"log\"],\"default\":\"linear\"}},"
    "\"oneOf\":[{\"required\":[\"step\"],\"properties\":{\"spacing\":false}},"
    "{\"required\":[\"count\"]}]},"
    "\"scan\":{\"type\":\"object\",\"description\":\"JSON pointers of keys, each with a list of "
    "values or a range; several make a grid, the first varies slowest.\"}}";

enum ergo_status ergo_schema_text(struct ergo_context *ctx, char **text) {
    ERGO_CLEAR(text);
    ERGO_ENTRY(ctx, text);
    struct ergo_arena arena = {0};
    struct ergo_json_out out = {0};
    size_t n_common = 0;
    const struct ergo_key **common = ergo_keys_of(NULL, NULL, &arena, &n_common);
    bool good = common != NULL;
    ergo_out_object(&out, NULL);
    ergo_out_text(&out, "$schema", "https://json-schema.org/draft/2020-12/schema");
    ergo_out_text(&out, "$id", "urn:ergocl:job-schema:" ERGO_VERSION);
    ergo_out_text(&out, "title", "ergocl job");
    ergo_out_text(&out, "description", "A job of ergocl " ERGO_VERSION ".");
    ergo_out_text(&out, "type", "object");
    ergo_out_parsed(&out, "required", "[\"sampler\"]");
    ergo_out_object(&out, "properties");
    if (good)
        put_key(&out, common[ergo_keys_find(common, n_common, "/sampler")], "sampler");
    ergo_out_close(&out, 1);
    ergo_out_array(&out, "allOf");
    for (size_t k = 0; good && k < n_common; k++)
        if (common[k]->flags & ERGO_KEY_REQUIRED)
            put_required(&out, common[k]);
    for (size_t i = 0; i < ergo_n_samplers; i++)
        good = good && put_sampler(&out, ergo_samplers[i], &arena);
    ergo_out_close(&out, 1);
    ergo_out_parsed(&out, "$defs", "%s", definitions);
    if (good && !arena.failed)
        *text = ergo_out_take(&out, false);
    ergo_out_free(&out);
    ergo_arena_free(&arena);
    return *text ? ERGO_OK
                 : ERGO_FAIL(ctx, ERGO_E_MEMORY, "memory ran out while writing the schema");
}
