/*
 * The JSON schema of jobs, from the key tables. One object schema for all samplers: what a sampler
 * adds hangs on `if sampler is X then`.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/entry.h"
#include "job/build.h"

static void put_number(struct ergo_text *out, const char *name, double number) {
    ergo_text_append(out, ",\"%s\":", name);
    ergo_value_real(out, number);
}

static void put_range(struct ergo_text *out, const struct ergo_key *key) {
    if (!ergo_key_has_range(key))
        return;
    if (isfinite(key->min))
        put_number(out, key->flags & ERGO_KEY_EXCLUDES_MIN ? "exclusiveMinimum" : "minimum",
                   key->min);
    if (isfinite(key->max))
        put_number(out, "maximum", key->max);
}

static void put_integer(struct ergo_text *out, const struct ergo_key *key) {
    struct ergo_key exact = *key;
    const double most = (double)ERGO_EXACT_MAX;
    if (!ergo_key_has_range(key) || key->min < -most)
        exact.min = -most;
    if (!ergo_key_has_range(key) || key->max > most)
        exact.max = most;
    ergo_text_append(out, "{\"type\":\"integer\"");
    put_range(out, &exact);
    ergo_text_append(out, "},{\"type\":\"string\",\"pattern\":\"^-?[0-9]{1,40}$\"}");
}

/* The members of a schema that describe a value of the key, after "{". */
static void put_type(struct ergo_text *out, const struct ergo_key *key) {
    switch (key->type) {
    case ERGO_KEY_REAL:
        ergo_text_append(out, "\"type\":\"number\"");
        put_range(out, key);
        break;
    case ERGO_KEY_INT:
        ergo_text_append(out, "\"anyOf\":[");
        if (!strncmp(key->pointer, "/tuning/", 8))
            ergo_text_append(out, "{\"const\":0},");
        if (key->flags & ERGO_KEY_AUTO)
            ergo_text_append(out, "{\"const\":\"auto\"},");
        put_integer(out, key);
        ergo_text_append(out, "]");
        break;
    case ERGO_KEY_SEED:
        ergo_text_append(out, "\"anyOf\":[{\"type\":\"string\",\"pattern\":\"^[0-9]{1,40}$\"},"
                              "{\"type\":\"integer\",\"minimum\":0,\"maximum\":9007199254740992}]");
        break;
    case ERGO_KEY_BOOL:
        ergo_text_append(out, "\"type\":\"boolean\"");
        break;
    case ERGO_KEY_ENUM:
        ergo_text_append(out, "\"enum\":[");
        for (size_t i = 0; ergo_key_choice(key, i); i++) {
            ergo_text_append(out, i ? "," : "");
            ergo_json_quote(out, ergo_key_choice(key, i));
        }
        ergo_text_append(out, "]");
        break;
    case ERGO_KEY_STRING:
        ergo_text_append(out, "\"type\":\"string\"");
        break;
    case ERGO_KEY_SIZE:
    case ERGO_KEY_REALS: {
        const struct ergo_key element = ergo_key_element(key);
        ergo_text_append(out, "\"type\":\"array\",\"minItems\":%d,\"maxItems\":%d,\"items\":{",
                         key->min_items, key->max_items);
        put_type(out, &element);
        ergo_text_append(out, "}");
        break;
    }
    case ERGO_KEY_TIME:
        ergo_text_append(out, "\"anyOf\":[{\"type\":\"string\",\"pattern\":"
                              "\"^[0-9]{1,7}:[0-5][0-9]:[0-5][0-9]$\"},{\"type\":\"number\"");
        put_range(out, key);
        ergo_text_append(out, "}]");
        break;
    }
}

static void put_key(struct ergo_text *out, const struct ergo_key *key) {
    struct ergo_text help = {0};
    ergo_text_append(&help, "%s", key->help ? key->help : "");
    if (key->acts)
        ergo_text_append(&help, " It acts only %s.", key->where);
    if (key->unit && *key->unit)
        ergo_text_append(&help, " Unit: %s.", key->unit);
    ergo_text_append(out, "{\"description\":");
    ergo_json_quote(out, help.data ? help.data : "");
    ergo_text_append(out, ",");
    put_type(out, key);
    if (key->fallback)
        ergo_text_append(out, ",\"default\":%s", key->fallback);
    ergo_text_append(out, "}");
    out->failed |= help.failed;
    ergo_text_free(&help);
}

/* "name": schema for each child of `prefix`, objects with their own children inside. */
static void put_properties(struct ergo_text *out, const struct ergo_key *const *keys, size_t n_keys,
                           const char *prefix, bool scan, struct ergo_arena *arena) {
    const char *names[256];
    size_t n = ergo_keys_children(keys, n_keys, prefix, names, 256, arena);
    ergo_text_append(out, "{");
    for (size_t i = 0; i < n; i++) {
        struct ergo_text pointer = {0};
        ergo_text_append(&pointer, "%s/%s", prefix, names[i]);
        const char *at = pointer.data ? pointer.data : "";
        size_t k = ergo_keys_find(keys, n_keys, at);
        ergo_text_append(out, "%s\"%s\":", i ? "," : "", names[i]);
        if (k != SIZE_MAX) {
            put_key(out, keys[k]);
        } else {
            ergo_text_append(out, "{\"type\":\"object\",\"additionalProperties\":false,"
                                  "\"properties\":");
            put_properties(out, keys, n_keys, at, false, arena);
            ergo_text_append(out, "}");
        }
        out->failed |= pointer.failed;
        ergo_text_free(&pointer);
    }
    if (scan)
        ergo_text_append(out, "%s\"scan\":{\"$ref\":\"#/$defs/scan\"}", n ? "," : "");
    ergo_text_append(out, "}");
}

/* What one entry of "scan" takes: a list of the key's values, or a range of numbers. */
static void put_scan_values(struct ergo_text *out, const struct ergo_key *key) {
    ergo_text_append(out,
                     "{\"anyOf\":[{\"type\":\"array\",\"minItems\":1,\"uniqueItems\":true,"
                     "\"maxItems\":%d,\"items\":{",
                     ERGO_SCAN_POINTS_MAX);
    put_type(out, key);
    ergo_text_append(out, "}}");
    if (key->type != ERGO_KEY_SIZE)
        ergo_text_append(out, ",{\"$ref\":\"#/$defs/range\"}");
    ergo_text_append(out, "]}");
}

/* The scan of one sampler: names of scannable keys, and elements of scannable sizes. */
static void put_scan(struct ergo_text *out, const struct ergo_key *const *keys, size_t n_keys) {
    ergo_text_append(out,
                     "{\"type\":\"object\",\"maxProperties\":%d,\"propertyNames\":{\"anyOf\":"
                     "[{\"enum\":[",
                     ERGO_SCAN_MAX);
    size_t n = 0;
    for (size_t k = 0; k < n_keys; k++)
        if (keys[k]->flags & ERGO_KEY_SCAN)
            ergo_text_append(out, "%s\"%s\"", n++ ? "," : "", keys[k]->pointer);
    ergo_text_append(out, "]}");
    for (size_t k = 0; k < n_keys; k++)
        if (keys[k]->flags & ERGO_KEY_SCAN && keys[k]->type == ERGO_KEY_SIZE)
            ergo_text_append(out, ",{\"pattern\":\"^%s/[0-%d]$\"}", keys[k]->pointer,
                             keys[k]->max_items - 1);
    ergo_text_append(out, "]},\"properties\":{");
    n = 0;
    for (size_t k = 0; k < n_keys; k++) {
        if (!(keys[k]->flags & ERGO_KEY_SCAN))
            continue;
        ergo_text_append(out, "%s\"%s\":", n++ ? "," : "", keys[k]->pointer);
        put_scan_values(out, keys[k]);
    }
    ergo_text_append(out, "},\"patternProperties\":{");
    n = 0;
    for (size_t k = 0; k < n_keys; k++) {
        if (!(keys[k]->flags & ERGO_KEY_SCAN) || keys[k]->type != ERGO_KEY_SIZE)
            continue;
        const struct ergo_key element = ergo_key_element(keys[k]);
        ergo_text_append(out, "%s\"^%s/[0-%d]$\":", n++ ? "," : "", keys[k]->pointer,
                         keys[k]->max_items - 1);
        put_scan_values(out, &element);
    }
    ergo_text_append(out, "}}");
}

/* {"required":["system"],"properties":{"system":{"required":["size"]}}} for "/system/size" */
static void put_presence(struct ergo_text *out, const char *pointer) {
    const char *token = pointer + 1;
    size_t length = strcspn(token, "/");
    ergo_text_append(out, "{\"required\":[\"%.*s\"]", (int)length, token);
    if (token[length]) {
        ergo_text_append(out, ",\"properties\":{\"%.*s\":", (int)length, token);
        put_presence(out, token + length);
        ergo_text_append(out, "}");
    }
    ergo_text_append(out, "}");
}

/* A required key stands in its place or, where it may, in the scan. */
static void put_required(struct ergo_text *out, const struct ergo_key *key) {
    if (key->flags & ERGO_KEY_SCAN)
        ergo_text_append(out, "{\"anyOf\":[");
    put_presence(out, key->pointer);
    if (key->flags & ERGO_KEY_SCAN)
        ergo_text_append(out,
                         ",{\"required\":[\"scan\"],\"properties\":{\"scan\":{\"required\":"
                         "[\"%s\"]}}}]}",
                         key->pointer);
}

static bool put_sampler(struct ergo_text *out, const struct ergo_sampler *sampler,
                        struct ergo_arena *arena) {
    size_t n_keys = 0;
    const struct ergo_key **keys = ergo_keys_of(sampler, arena, &n_keys);
    if (!keys)
        return false;
    ergo_text_append(out,
                     ",{\"if\":{\"required\":[\"sampler\"],\"properties\":{\"sampler\":"
                     "{\"const\":\"%s\"}}},\"then\":{\"description\":",
                     sampler->info->name);
    ergo_json_quote(out, sampler->info->summary ? sampler->info->summary : "");
    ergo_text_append(out, ",\"additionalProperties\":false,\"properties\":");
    put_properties(out, keys, n_keys, "", true, arena);
    ergo_text_append(out, ",\"allOf\":[{\"properties\":{\"scan\":");
    put_scan(out, keys, n_keys);
    ergo_text_append(out, "}}");
    if (!sampler->info->trajectory)
        ergo_text_append(out, ",{\"properties\":{\"output\":{\"properties\":"
                              "{\"trajectory_every\":{\"enum\":[0,\"0\"]}}}}}");
    for (size_t k = ergo_job_n_common_keys; k < n_keys; k++) {
        if (!(keys[k]->flags & ERGO_KEY_REQUIRED))
            continue;
        ergo_text_append(out, ",");
        put_required(out, keys[k]);
    }
    ergo_text_append(out, "]}}");
    return true;
}

_Static_assert(ERGO_SCAN_POINTS_MAX == 100000, "the count of a range is written out here");
static const char definitions[] =
    "\"$defs\":{\"range\":{\"type\":\"object\",\"additionalProperties\":false,"
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
    enum ergo_status status = ERGO_OK;
    struct ergo_arena arena = {0};
    struct ergo_text out = {0}, pretty = {0};
    struct ergo_json *tree = NULL;
    const struct ergo_key **common = NULL;
    size_t n_common = 0;
    bool good = true;
    common = ergo_keys_of(NULL, &arena, &n_common);
    if (!common) {
        status = ERGO_FAIL(ctx, ERGO_E_MEMORY, "memory ran out while writing the schema");
        goto out;
    }
    ergo_text_append(&out,
                     "{\"$schema\":\"https://json-schema.org/draft/2020-12/schema\","
                     "\"title\":\"ergocl job\",\"description\":\"A job of ergocl " ERGO_VERSION
                     ".\",\"type\":\"object\",\"required\":[\"sampler\"],"
                     "\"properties\":{\"sampler\":");
    put_key(&out, common[ergo_keys_find(common, n_common, "/sampler")]);
    ergo_text_append(&out, "},\"allOf\":[");
    for (size_t k = 0, n = 0; k < n_common; k++) {
        if (!(common[k]->flags & ERGO_KEY_REQUIRED))
            continue;
        ergo_text_append(&out, n++ ? "," : "");
        put_required(&out, common[k]);
    }
    for (size_t i = 0; i < ergo_n_samplers; i++)
        good = good && put_sampler(&out, ergo_samplers[i], &arena);
    ergo_text_append(&out, "],%s}", definitions);

    /* Written compactly and printed again from the tree: the reader also proves it is JSON. */
    if (good && !out.failed && !arena.failed)
        status = ergo_json_parse(ctx, "schema", out.data, out.length, &arena, &tree);
    if (tree) {
        ergo_json_print(&pretty, tree, 0);
        ergo_text_append(&pretty, "\n");
        *text = ergo_text_take(&pretty);
    }
    if (status == ERGO_E_JOB)
        status = ERGO_FAIL(ctx, ERGO_E_INTERNAL, "the schema from the key tables is not JSON");
    else if (status == ERGO_OK && !*text)
        status = ERGO_FAIL(ctx, ERGO_E_MEMORY, "memory ran out while writing the schema");
out:
    ergo_text_free(&out);
    ergo_text_free(&pretty);
    ergo_arena_free(&arena);
    return status;
}
