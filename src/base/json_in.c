#include "base/json_in.h"

#include <math.h>
#include <string.h>

#include "base/text.h"
#include "base/utf8.h"

enum { MEMBERS_MAX = 256 }; /* of one object: each is compared with each */

static bool names_differ(const cJSON *value) {
    size_t n = 0;
    const cJSON *at;
    cJSON_ArrayForEach(at, value) {
        if (cJSON_IsObject(value)) {
            if (++n > MEMBERS_MAX)
                return false;
            for (const cJSON *before = value->child; before != at; before = before->next)
                if (strcmp(before->string, at->string) == 0)
                    return false;
        }
        if (!names_differ(at))
            return false;
    }
    return true;
}

enum ergo_status ergo_json_in(struct ergo_context *ctx, const char *name, const char *text,
                              size_t length, cJSON **root) {
    struct ergo_text copy = {0};
    enum ergo_status status = ERGO_OK;
    const char *wrong = "is no JSON", *end = NULL;
    *root = NULL;
    /* with a zero behind: 1.7.15 reads beyond the end of "{\"1\":1," */
    ergo_text_append_bytes(&copy, text, length);
    if (copy.failed)
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "%s: no memory for its text", name);
    end = copy.data + ergo_utf8_prefix(copy.data, copy.data + strlen(copy.data));
    if (end == copy.data + length) /* UTF-8 without a zero in it */
        *root = cJSON_ParseWithOpts(copy.data, &end, true);
    if (*root && !names_differ(*root)) {
        wrong = "has an object with a name twice, or with too many of them";
        cJSON_Delete(*root);
        *root = NULL;
    }
    if (!*root) {
        size_t line = 1;
        for (const char *at = copy.data; at < end; at++)
            line += *at == '\n';
        status = ergo_memory_told(ctx, ERGO_FAIL(ctx, ERGO_E_IO, "%s:%zu: %s", name, line, wrong));
    }
    ergo_text_free(&copy);
    return status;
}

const cJSON *ergo_in_member(const cJSON *object, const char *name, int type) {
    const cJSON *value =
        cJSON_IsObject(object) ? cJSON_GetObjectItemCaseSensitive(object, name) : NULL;
    return value && (value->type & 0xFF) == type ? value : NULL;
}

const char *ergo_in_text(const cJSON *object, const char *name, const char *fallback) {
    const cJSON *value = ergo_in_member(object, name, cJSON_String);
    return value ? value->valuestring : fallback;
}

double ergo_in_number(const cJSON *object, const char *name) {
    const cJSON *value = ergo_in_member(object, name, cJSON_Number);
    return value && isfinite(value->valuedouble) ? value->valuedouble : NAN;
}
