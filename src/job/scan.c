/* "scan": pointers to lists or ranges, made into axes; several make a grid. */
#include <stdlib.h>
#include <string.h>

#include "job/build.h"

/* "/system/size/1" is element 1 of the SIZE key "/system/size". */
static size_t find_element(const struct ergo_build *build, const char *pointer, int *element) {
    const char *slash = strrchr(pointer, '/');
    if (!slash || slash[1] < '0' || slash[1] > '9' || slash[2])
        return SIZE_MAX;
    for (size_t k = 0; k < build->n_keys; k++) {
        const struct ergo_key *key = build->keys[k];
        if (key->type == ERGO_KEY_SIZE && strlen(key->pointer) == (size_t)(slash - pointer) &&
            !strncmp(key->pointer, pointer, (size_t)(slash - pointer)) &&
            slash[1] - '0' < key->max_items) {
            *element = slash[1] - '0';
            return k;
        }
    }
    return SIZE_MAX;
}

static void unknown_pointer(struct ergo_build *build, const char *where,
                            const struct ergo_json *node) {
    if (ergo_build_full(build))
        return;
    const char **names = ergo_arena_alloc(build->arena, build->n_keys, sizeof *names);
    if (!names) {
        ergo_build_no_memory(build);
        return;
    }
    size_t n = 0;
    struct ergo_text list = {0};
    for (size_t k = 0; k < build->n_keys; k++) {
        const struct ergo_key *key = build->keys[k];
        if (!(key->flags & ERGO_KEY_SCAN))
            continue;
        ergo_text_append(&list, "%s %s", n ? "," : "", key->pointer);
        names[n++] = key->pointer;
    }
    const char *near = strlen(node->key) <= 64 ? ergo_text_nearest(node->key, names, n) : NULL;
    bool known = ergo_keys_find(build->keys, build->n_keys, node->key) != SIZE_MAX;
    ergo_build_error(build, where, node, "%s;%s%s%s keys that can be scanned:%s",
                     !strcmp(node->key, "/seed") ? "a seed is not scanned (use \"replicas\" for "
                                                   "independent chains)"
                     : known                     ? "this key cannot be scanned"
                                                 : "no key has this pointer",
                     near && !known ? " did you mean \"" : "", near && !known ? near : "",
                     near && !known ? "\"?" : "", list.data ? list.data : " none");
    ergo_text_free(&list);
}

/* ---- the values of an axis ------------------------------------------------------------------- */

static bool too_large_to_scan(struct ergo_build *build, const char *where,
                              const struct ergo_json *node, int64_t integer) {
    if (integer <= (int64_t)ERGO_EXACT_MAX && integer >= -(int64_t)ERGO_EXACT_MAX)
        return false;
    ergo_build_error(build, where, node, "integers beyond 2^53 cannot be scanned");
    return true;
}

static bool read_list(struct ergo_build *build, const struct ergo_key *key, const char *where,
                      const struct ergo_json *list, struct ergo_axis *axis) {
    if (list->count == 0 || list->count > ERGO_SCAN_POINTS_MAX) {
        ergo_build_error(build, where, list, "a list of %zu values; allowed: 1 to %d", list->count,
                         ERGO_SCAN_POINTS_MAX);
        return false;
    }
    axis->count = list->count;
    axis->values = ergo_arena_alloc(build->arena, list->count * axis->width, sizeof *axis->values);
    if (!axis->values) {
        ergo_build_no_memory(build);
        return false;
    }
    const struct ergo_key one = ergo_key_scanned(key);
    bool good = true;
    size_t n = 0;
    struct ergo_text at = {0};
    for (const struct ergo_json *item = list->child; item; item = item->next, n++) {
        struct ergo_value value = {0};
        double *out = axis->values + n * axis->width;
        at.length = 0;
        ergo_text_append(&at, "%s/%zu", where, n);
        const char *place = at.data ? at.data : where;
        if (!ergo_value_read(build, &one, place, item, &value)) {
            good = false;
        } else if (key->type == ERGO_KEY_SIZE) {
            if ((size_t)value.items != axis->width) {
                ergo_build_error(build, place, item,
                                 "an array of %d beside one of %zu: all must "
                                 "have the same length",
                                 value.items, axis->width);
                good = false;
                continue;
            }
            for (size_t i = 0; i < axis->width; i++) {
                out[i] = (double)value.size[i];
                good &= !too_large_to_scan(build, place, item, value.size[i]);
            }
        } else {
            if (key->type == ERGO_KEY_INT && too_large_to_scan(build, place, item, value.integer))
                good = false;
            *out = value.real;
        }
    }
    ergo_text_free(&at);
    return good;
}

struct tuple {
    const double *values;
    size_t width;
};

static int compare_tuples(const void *a, const void *b) {
    const struct tuple *x = a, *y = b;
    for (size_t i = 0; i < x->width; i++)
        if (x->values[i] != y->values[i])
            return x->values[i] < y->values[i] ? -1 : 1;
    return 0;
}

/* Equal values would be the same chain twice, with errors that pretend to be independent. */
static bool all_different(struct ergo_build *build, const char *where, const struct ergo_json *node,
                          const struct ergo_axis *axis) {
    struct tuple *tuples = malloc(axis->count * sizeof *tuples);
    if (!tuples) {
        ergo_build_no_memory(build);
        return false;
    }
    for (size_t i = 0; i < axis->count; i++)
        tuples[i] = (struct tuple){axis->values + i * axis->width, axis->width};
    qsort(tuples, axis->count, sizeof *tuples, compare_tuples);
    bool good = true;
    for (size_t i = 1; i < axis->count && good; i++) {
        if (compare_tuples(&tuples[i - 1], &tuples[i]) != 0)
            continue;
        good = false;
        struct ergo_text shown = {0};
        for (size_t j = 0; j < axis->width; j++) {
            ergo_text_append(&shown, j ? ", " : "");
            ergo_text_append_number(&shown, tuples[i].values[j]);
        }
        ergo_build_error(build, where, node, "the value %s occurs twice%s",
                         shown.data ? shown.data : "",
                         node->kind == ERGO_JSON_OBJECT
                             ? ": the range is finer than its values can show (12 digits, or "
                               "integers)"
                             : "; use \"replicas\" for independent chains at one point");
        ergo_text_free(&shown);
    }
    free(tuples);
    return good;
}

/* ---- one axis -------------------------------------------------------------------------------- */

static bool set_in_vain(struct ergo_build *build, const struct ergo_axis *axis,
                        const struct ergo_json *node) {
    const struct ergo_json *value = ergo_json_find(build->root, build->keys[axis->key]->pointer);
    if (value && axis->element >= 0 && value->kind == ERGO_JSON_ARRAY) {
        int i = axis->element;
        for (value = value->child; value && i--;)
            value = value->next;
    }
    if (!value || !value->origin || node->origin)
        return false;
    ergo_build_error(build, node->key, value,
                     "is scanned by the job, so setting it has no effect; "
                     "--set '/scan={}' ends the scan");
    return true;
}

static bool make_pointers(struct ergo_build *build, struct ergo_axis *axis, const char *pointer) {
    const bool whole_size = axis->element < 0 && build->keys[axis->key]->type == ERGO_KEY_SIZE;
    for (size_t i = 0; i < axis->width; i++) {
        struct ergo_text text = {0};
        if (whole_size)
            ergo_text_append(&text, "%s/%zu", pointer, i);
        else
            ergo_text_append(&text, "%s", pointer);
        axis->pointers[i] =
            text.data ? ergo_arena_copy(build->arena, text.data, text.length) : NULL;
        ergo_text_free(&text);
        if (!axis->pointers[i]) {
            ergo_build_no_memory(build);
            return false;
        }
    }
    return true;
}

static bool read_axis(struct ergo_build *build, const char *where, const struct ergo_json *node,
                      struct ergo_axis *axis) {
    axis->element = -1;
    axis->width = 1;
    axis->key = ergo_keys_find(build->keys, build->n_keys, node->key);
    if (axis->key == SIZE_MAX)
        axis->key = find_element(build, node->key, &axis->element);
    if (axis->key == SIZE_MAX || !(build->keys[axis->key]->flags & ERGO_KEY_SCAN)) {
        if (build->model) /* an unknown one was reported already */
            unknown_pointer(build, where, node);
        return false;
    }
    struct ergo_key key = *build->keys[axis->key];
    const struct ergo_value *base = &build->base[axis->key];
    for (size_t a = 0; a < build->n_axes; a++) {
        const struct ergo_axis *other = &build->axes[a];
        if (other->key != axis->key ||
            (other->element >= 0 && axis->element >= 0 && other->element != axis->element))
            continue;
        ergo_build_error(build, where, node, "scanned twice");
        return false;
    }
    if (axis->element >= 0) {
        if (base->present && base->items <= axis->element) {
            ergo_build_error(build, where, node, "%s has %d elements, numbered from 0", key.pointer,
                             base->items);
            return false;
        }
        key = ergo_key_element(&key);
    }
    if (set_in_vain(build, axis, node))
        return false;
    if (key.type == ERGO_KEY_SIZE) {
        const struct ergo_json *first = node->kind == ERGO_JSON_ARRAY ? node->child : NULL;
        if (node->kind != ERGO_JSON_ARRAY) {
            ergo_build_error(build, where, node,
                             "allowed: a list of sizes such as [[16, 16], [32, "
                             "32]]; ranges go over one element, e.g. %s/0",
                             key.pointer);
            return false;
        }
        if (first && first->kind == ERGO_JSON_ARRAY && first->count >= 1 &&
            first->count <= ERGO_DIM_MAX)
            axis->width = first->count;
    }
    if (node->kind == ERGO_JSON_ARRAY) {
        if (!read_list(build, &key, where, node, axis))
            return false;
    } else if (node->kind == ERGO_JSON_OBJECT) {
        if (!ergo_scan_range(build, &key, where, node, axis))
            return false;
    } else {
        ergo_build_found(build, where, node,
                         "; allowed: a list of values, or a range {\"from\", \"to\", \"step\"} or "
                         "{\"from\", \"to\", \"count\"}");
        return false;
    }
    return all_different(build, where, node, axis) && make_pointers(build, axis, node->key);
}

void ergo_scan_read(struct ergo_build *build) {
    const struct ergo_json *scan = ergo_json_member(build->root, "scan");
    build->n_scan = 1;
    if (!scan)
        return;
    if (scan->kind != ERGO_JSON_OBJECT) {
        ergo_build_found(build, "/scan", scan,
                         "; allowed: an object such as {\"/system/temperature\": [2.1, 2.2]}");
        return;
    }
    size_t coordinates = 0;
    for (const struct ergo_json *node = scan->child; node; node = node->next) {
        struct ergo_axis axis = {0};
        struct ergo_text where = {0};
        ergo_text_append(&where, "/scan");
        ergo_json_pointer(&where, node->key);
        const bool good = read_axis(build, where.data ? where.data : "/scan", node, &axis);
        ergo_text_free(&where);
        if (!good)
            continue;
        coordinates += axis.width;
        if (coordinates > ERGO_SCAN_MAX) {
            ergo_build_error(build, "/scan", scan, "more than %d scanned values per point",
                             ERGO_SCAN_MAX);
            return;
        }
        if (axis.count > ERGO_SCAN_POINTS_MAX / build->n_scan) {
            ergo_build_error(build, "/scan", scan, "the grid has more than %d points",
                             ERGO_SCAN_POINTS_MAX);
            return;
        }
        build->n_scan *= axis.count;
        build->axes[build->n_axes++] = axis;
    }
}
