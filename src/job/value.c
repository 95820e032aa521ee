/* One JSON value against one key. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "job/build.h"

void ergo_value_found(struct ergo_text *out, const struct ergo_json *node) {
    switch (node->kind) {
    case ERGO_JSON_NULL:
        ergo_text_append(out, "null");
        break;
    case ERGO_JSON_BOOL:
        ergo_text_append(out, node->boolean ? "true" : "false");
        break;
    case ERGO_JSON_NUMBER:
        ergo_utf8_append_word(out, node->text, 40);
        break;
    case ERGO_JSON_STRING:
        ergo_text_append(out, "the string \"");
        ergo_utf8_append_word(out, node->text, ERGO_SHOWN_MAX);
        ergo_text_append(out, "\"");
        break;
    case ERGO_JSON_ARRAY:
        ergo_text_append(out, "an array of %zu", node->count);
        break;
    case ERGO_JSON_OBJECT:
        ergo_text_append(out, "an object");
        break;
    }
}

/* "found X{, why}; allowed: Y" */
static bool refuse(struct ergo_build *build, const struct ergo_key *key, const char *pointer,
                   const struct ergo_json *node, const char *why) {
    if (ergo_build_full(build))
        return false;
    struct ergo_text rest = {0};
    ergo_text_append(&rest, "%s%s; allowed: ", *why ? ", " : "", why);
    ergo_key_allowed(&rest, key);
    ergo_build_found(build, pointer, node, rest.data ? rest.data : "");
    ergo_text_free(&rest);
    return false;
}

/* Decimal digits with an optional sign, and nothing else. */
static bool is_integer_text(const char *text, bool sign) {
    if (sign && *text == '-')
        text++;
    size_t digits = strspn(text, "0123456789");
    return digits > 0 && digits <= 40 && text[digits] == '\0';
}

/* A whole number from a number token or a string of digits. */
static bool read_whole(struct ergo_build *build, const struct ergo_key *key, const char *pointer,
                       const struct ergo_json *node, bool *negative, uint64_t *magnitude) {
    const bool sign = key->type != ERGO_KEY_SEED;
    const bool string = node->kind == ERGO_JSON_STRING;
    if (string ? !is_integer_text(node->text, sign) : node->kind != ERGO_JSON_NUMBER)
        return refuse(build, key, pointer, node, "");
    enum ergo_json_integer what = ergo_json_integer(node->text, negative, magnitude);
    if (what == ERGO_JSON_NO_INTEGER)
        return refuse(build, key, pointer, node, "which is no integer");
    if (what == ERGO_JSON_BIG_INTEGER)
        return refuse(build, key, pointer, node, "which does not fit into 64 bits");
    /* A program that wrote the JSON may have rounded such a number: only a string is safe. */
    if (!string && *magnitude > ERGO_EXACT_MAX) {
        char why[160];
        snprintf(why, sizeof why,
                 "which is beyond 2^53 where JSON programs round; write it as the string "
                 "\"%s%llu\"",
                 *negative ? "-" : "", (unsigned long long)*magnitude);
        return refuse(build, key, pointer, node, why);
    }
    return true;
}

static bool read_int(struct ergo_build *build, const struct ergo_key *key, const char *pointer,
                     const struct ergo_json *node, int64_t *integer) {
    bool negative = false;
    uint64_t magnitude = 0;
    if (!read_whole(build, key, pointer, node, &negative, &magnitude))
        return false;
    if (magnitude > (uint64_t)INT64_MAX + negative)
        return refuse(build, key, pointer, node, "which does not fit into 64 bits");
    *integer = negative ? (int64_t)(~magnitude + 1) : (int64_t)magnitude;
    if (!ergo_key_in_range_int(key, *integer))
        return refuse(build, key, pointer, node, "which is out of range");
    return true;
}

static bool read_seed(struct ergo_build *build, const struct ergo_key *key, const char *pointer,
                      const struct ergo_json *node, uint64_t *seed) {
    bool negative = false;
    if (!read_whole(build, key, pointer, node, &negative, seed))
        return false;
    return negative ? refuse(build, key, pointer, node, "which is negative") : true;
}

static bool read_real(struct ergo_build *build, const struct ergo_key *key, const char *pointer,
                      const struct ergo_json *node, double *real) {
    if (node->kind != ERGO_JSON_NUMBER)
        return refuse(build, key, pointer, node, "");
    if (!ergo_json_real(node->text, real))
        return refuse(build, key, pointer, node, "which a double cannot hold");
    if (!ergo_key_in_range(key, *real))
        return refuse(build, key, pointer, node, "which is out of range");
    return true;
}

/* Digits of at most 7 places, `width` of them if it is not 0, and what follows them. */
static bool read_field(const char **at, size_t width, char end, double *field) {
    size_t digits = strspn(*at, "0123456789");
    if (digits == 0 || digits > 7 || (width && digits != width) || (*at)[digits] != end)
        return false;
    *field = strtod(*at, NULL);
    *at += digits + (end != '\0');
    return true;
}

static bool read_time(struct ergo_build *build, const struct ergo_key *key, const char *pointer,
                      const struct ergo_json *node, double *seconds) {
    if (node->kind != ERGO_JSON_STRING)
        return read_real(build, key, pointer, node, seconds);
    const char *at = node->text;
    double h = 0, m = 0, s = 0;
    bool good = strspn(at, "0123456789:") == strlen(at) && read_field(&at, 0, ':', &h) &&
                read_field(&at, 2, ':', &m) && read_field(&at, 2, '\0', &s) && m < 60 && s < 60;
    if (!good)
        return refuse(build, key, pointer, node, "");
    *seconds = 3600 * h + 60 * m + s;
    if (!ergo_key_in_range(key, *seconds))
        return refuse(build, key, pointer, node, "which is out of range");
    return true;
}

static bool read_enum(struct ergo_build *build, const struct ergo_key *key, const char *pointer,
                      const struct ergo_json *node, const char **text) {
    if (node->kind != ERGO_JSON_STRING)
        return refuse(build, key, pointer, node, "");
    const char *nearest = NULL;
    size_t best = 0;
    for (size_t i = 0; ergo_key_choice(key, i); i++) {
        const char *choice = ergo_key_choice(key, i);
        if (!strcmp(choice, node->text)) {
            *text = choice;
            return true;
        }
        const char *near = strlen(node->text) <= 64 && build->errors < ERGO_ERRORS_MAX
                               ? ergo_text_nearest(node->text, &choice, 1)
                               : NULL;
        size_t distance = near ? ergo_text_distance(node->text, near) : 0;
        if (near && (!nearest || distance < best)) {
            nearest = near;
            best = distance;
        }
    }
    const char *word, *begun = NULL;
    bool several = false;
    for (size_t i = 0; ergo_key_choice(key, i); i++) {
        const char *choice = ergo_key_choice(key, i);
        for (size_t k = 0; (word = ergo_word_meant(node->text, k)) != NULL; k++)
            if (!strcmp(word, choice))
                nearest = choice;
        if (ergo_word_begun(node->text, &choice, 1)) {
            several = begun != NULL;
            begun = choice;
        }
    }
    if (begun && !several)
        nearest = begun;
    char why[256] = "";
    const struct ergo_model *model = NULL;
    for (size_t i = 0; !key->choices && i < ergo_n_samplers && !model; i++) /* /sampler */
        if ((model = ergo_model_find(ergo_samplers[i], node->text)) != NULL)
            snprintf(why, sizeof why,
                     "%.32s is a model of %.32s: write \"sampler\": \"%.32s\" and, in \"system\", "
                     "\"model\": \"%.32s\"",
                     model->name, ergo_samplers[i]->name, ergo_samplers[i]->name, model->name);
    if (!model && nearest)
        snprintf(why, sizeof why, "did you mean \"%.64s\"?", nearest);
    return refuse(build, key, pointer, node, why);
}

/* An array of choices, as one text. */
static bool read_enums(struct ergo_build *build, const struct ergo_key *key, const char *pointer,
                       const struct ergo_json *node, const char **text) {
    struct ergo_text all = {0};
    bool good = node->count > 0 && node->count <= (size_t)key->max_items;
    if (!good)
        return refuse(build, key, pointer, node, "");
    for (const struct ergo_json *item = node->child; item && good; item = item->next) {
        const char *one = NULL;
        good = read_enum(build, key, pointer, item, &one);
        ergo_text_append(&all, "%s%s", item == node->child ? "" : ",", one ? one : "");
    }
    *text = good && !all.failed ? ergo_arena_copy(build->arena, all.data, all.length) : NULL;
    ergo_text_free(&all);
    return *text || (good && refuse(build, key, pointer, node, "and there is no memory"));
}

/* Sizes or real numbers: an array of the key's elements. */
static bool read_list(struct ergo_build *build, const struct ergo_key *key, const char *pointer,
                      const struct ergo_json *node, struct ergo_value *value) {
    if (node->kind != ERGO_JSON_ARRAY || node->count < (size_t)key->min_items ||
        node->count > (size_t)key->max_items || node->count > ERGO_DIM_MAX)
        return refuse(build, key, pointer, node, "");
    const struct ergo_key element = ergo_key_element(key);
    bool good = true;
    value->items = 0;
    for (const struct ergo_json *item = node->child; item; item = item->next) {
        struct ergo_text where = {0};
        ergo_text_append(&where, "%s/%d", pointer, value->items);
        const char *at = where.data ? where.data : pointer;
        good &= element.type == ERGO_KEY_REAL
                    ? read_real(build, &element, at, item, &value->reals[value->items])
                    : read_int(build, &element, at, item, &value->size[value->items]);
        value->items++;
        ergo_text_free(&where);
    }
    return good;
}

bool ergo_value_read(struct ergo_build *build, const struct ergo_key *key, const char *pointer,
                     const struct ergo_json *node, struct ergo_value *value) {
    struct ergo_value read = {.present = true, .given = true};
    bool good = false;
    switch (key->type) {
    case ERGO_KEY_REAL:
        good = key->flags & ERGO_KEY_LIST && node->kind == ERGO_JSON_ARRAY
                   ? read_list(build, key, pointer, node, &read)
                   : read_real(build, key, pointer, node, &read.real);
        break;
    case ERGO_KEY_INT:
        if ((key->flags & ERGO_KEY_AUTO) && node->kind == ERGO_JSON_STRING &&
            strcmp(node->text, "auto") == 0) {
            good = read.automatic = true;
            read.integer = (int64_t)key->min;
        } else {
            good = read_int(build, key, pointer, node, &read.integer);
        }
        read.real = (double)read.integer;
        break;
    case ERGO_KEY_SEED:
        good = read_seed(build, key, pointer, node, &read.seed);
        break;
    case ERGO_KEY_BOOL:
        good = node->kind == ERGO_JSON_BOOL || refuse(build, key, pointer, node, "");
        read.boolean = node->boolean;
        break;
    case ERGO_KEY_ENUM:
        good = key->flags & ERGO_KEY_LIST && node->kind == ERGO_JSON_ARRAY
                   ? read_enums(build, key, pointer, node, &read.text)
                   : read_enum(build, key, pointer, node, &read.text);
        break;
    case ERGO_KEY_STRING:
        good = node->kind == ERGO_JSON_STRING || refuse(build, key, pointer, node, "");
        read.text = node->text;
        break;
    case ERGO_KEY_SIZE:
    case ERGO_KEY_REALS:
        good = read_list(build, key, pointer, node, &read);
        break;
    case ERGO_KEY_TIME:
        good = read_time(build, key, pointer, node, &read.real);
        break;
    }
    if (good)
        *value = read;
    return good;
}

void ergo_value_canonical(struct ergo_text *out, const struct ergo_key *key,
                          const struct ergo_value *value) {
    switch (ergo_value_type(key, value)) {
    case ERGO_KEY_REAL:
    case ERGO_KEY_TIME:
        ergo_text_append(out, "%.17g", value->real);
        break;
    case ERGO_KEY_INT:
        ergo_text_append(out, "%lld", (long long)value->integer);
        break;
    case ERGO_KEY_SEED:
        ergo_text_append(out, "%llu", (unsigned long long)value->seed);
        break;
    case ERGO_KEY_BOOL:
        ergo_text_append(out, value->boolean ? "true" : "false");
        break;
    case ERGO_KEY_ENUM:
    case ERGO_KEY_STRING:
        /* a line break in a free text must not look like the next key */
        for (const char *p = value->text; *p; p++) {
            if (*p == '\n')
                ergo_text_append(out, "\\n");
            else if (*p == '\\')
                ergo_text_append(out, "\\\\");
            else
                ergo_text_append_bytes(out, p, 1);
        }
        break;
    case ERGO_KEY_SIZE:
        for (int i = 0; i < value->items; i++)
            ergo_text_append(out, "%s%lld", i ? "," : "", (long long)value->size[i]);
        break;
    case ERGO_KEY_REALS:
        for (int i = 0; i < value->items; i++)
            ergo_text_append(out, "%s%.17g", i ? "," : "", value->reals[i]);
        break;
    }
}

bool ergo_value_same(const struct ergo_key *key, const struct ergo_value *a,
                     const struct ergo_value *b) {
    if (!a->present || !b->present)
        return !a->present && !b->present;
    if (a->items != b->items) /* 0.5 is [0.5] */
        return key->type == ERGO_KEY_REAL && a->items <= 1 && b->items <= 1 &&
               (a->items ? *a->reals : a->real) == (b->items ? *b->reals : b->real);
    switch (ergo_value_type(key, a)) {
    case ERGO_KEY_REAL:
    case ERGO_KEY_TIME:
        return a->real == b->real;
    case ERGO_KEY_INT:
        return a->integer == b->integer;
    case ERGO_KEY_SEED:
        return a->seed == b->seed;
    case ERGO_KEY_BOOL:
        return a->boolean == b->boolean;
    case ERGO_KEY_ENUM:
    case ERGO_KEY_STRING:
        return strcmp(a->text, b->text) == 0;
    case ERGO_KEY_SIZE:
        return memcmp(a->size, b->size, (size_t)a->items * sizeof *a->size) == 0;
    case ERGO_KEY_REALS:
        return memcmp(a->reals, b->reals, (size_t)a->items * sizeof *a->reals) == 0;
    }
    return false;
}
