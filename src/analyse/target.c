/* Points at other values of keys, and the words of options. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/analyse.h"
#include "base/utf8.h"
#include "result/format.h"

enum { VALUES_MAX = 10000, NAMES_MAX = 128 };

/* ---- points ---------------------------------------------------------------------------------- */

void ergo_target_of(const struct ergo_system *system, const struct ergo_point *point,
                    double coefficients[ERGO_CONJUGATES_MAX], double shift[ERGO_CONJUGATES_MAX]) {
    const struct ergo_point *base = system->states[0].point;
    const struct ergo_model *model = point->job->model;
    for (size_t c = 0; c < model->n_conjugates; c++) {
        const struct ergo_conjugate *row = &model->conjugates[c];
        shift[c] = row->in_energy ? row->in_energy(point) - row->in_energy(base) : 0;
        coefficients[c] = row->coefficient ? row->coefficient(point) : 0;
        if (c) /* what the energy has of this column acts with the energy's coefficient */
            coefficients[c] += coefficients[0] * shift[c];
    }
}

bool ergo_target_create(const struct ergo_analysis *a, const struct ergo_system *system,
                        const double *at, struct ergo_target *target) {
    const struct ergo_point *base = system->states[0].point;
    if (!ergo_point_copy(base, &target->point))
        return false;
    for (size_t w = 0; w < a->n_wanted; w++)
        target->point.values[a->wanted[w].key].real = at[w];
    ergo_point_fill(&target->point);
    ergo_target_of(system, &target->point, target->a, target->shift);
    return true;
}

void ergo_target_free(struct ergo_target *target) {
    free(target->point.values);
    target->point.values = NULL;
}

/* ---- options --------------------------------------------------------------------------------- */

static const char *word_of(const char *pointer) {
    const char *slash = strrchr(pointer, '/');
    return slash ? slash + 1 : pointer;
}

/* The key of that pointer, or of that last word. */
static enum ergo_status find_key(struct ergo_context *ctx, const struct ergo_analysis *a,
                                 const char *option, const char *name, size_t *key) {
    const char *names[NAMES_MAX];
    struct ergo_text list = {0};
    size_t n = 0;
    for (size_t k = 0; k < a->job->n_keys; k++) {
        const char *pointer = a->job->keys[k]->pointer;
        if (!ergo_analysis_is_conjugate(a, k))
            continue;
        if (strcmp(name, pointer) == 0 || strcmp(name, word_of(pointer)) == 0) {
            *key = k;
            ergo_text_free(&list);
            return ERGO_OK;
        }
        ergo_text_append(&list, "%s%s", n ? ", " : "", pointer);
        if (n < NAMES_MAX)
            names[n++] = word_of(pointer);
    }
    const char *near = n ? ergo_text_nearest(word_of(name), names, n) : NULL;
    enum ergo_status status =
        n ? ERGO_FAIL(ctx, ERGO_E_JOB,
                      "%s: \"%.60s\" is no key by which samples of %s can be weighted%s%s%s; these "
                      "are %s",
                      option, name, a->job->sampler->name, ERGO_MEANT(near),
                      list.data ? list.data : "")
          : ERGO_FAIL(ctx, ERGO_E_JOB, "%s: samples of %s%s%s cannot be weighted for other points",
                      option, a->job->sampler->name, a->model->name ? " " : "",
                      a->model->name ? a->model->name : "");
    ergo_text_free(&list);
    return status;
}

/* Reads a number up to one of the ends; NULL: it is none. */
static const char *read_number(const char *at, const char *ends, double *value) {
    char *end;
    *value = strtod(at, &end);
    return end != at && isfinite(*value) && (!*end || strchr(ends, *end)) ? end : NULL;
}

/* "a,b,c" or "a:b:step"; false: neither. */
static bool read_values(const char *text, double *values, size_t *n) {
    double from, to, step;
    const char *at = read_number(text, ":,", &from);
    *n = 0;
    if (at && *at == ':') {
        at = read_number(at + 1, ":", &to);
        at = at && *at == ':' ? read_number(at + 1, "", &step) : NULL;
        const double count = at && step != 0 ? floor((to - from) / step + 1e-9) + 1 : 0;
        if (!(count >= 1 && count <= VALUES_MAX))
            return false;
        for (; *n < (size_t)count; (*n)++)
            values[*n] = from + (double)*n * step;
        return true;
    }
    for (at = text; at && *n < VALUES_MAX; at++) {
        at = read_number(at, ",", &values[*n]);
        *n += at != NULL;
        if (at && !*at)
            return true;
    }
    return false;
}

enum ergo_status ergo_target_parse(struct ergo_context *ctx, const struct ergo_analysis *a,
                                   const char *option, const char *text, bool values,
                                   struct ergo_wanted_key *wanted) {
    const char *equals = strchr(text, '=');
    char name[128];
    snprintf(name, sizeof name, "%.*s", equals ? (int)(equals - text) : 127, text);
    *wanted = (struct ergo_wanted_key){0};
    const enum ergo_status status = find_key(ctx, a, option, name, &wanted->key);
    if (status != ERGO_OK)
        return status;
    const struct ergo_key *key = a->job->keys[wanted->key];
    wanted->pointer = key->pointer;
    if (!values)
        return ERGO_OK;
    wanted->values = malloc(VALUES_MAX * sizeof *wanted->values);
    if (!wanted->values)
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for an analysis");
    if (!equals || !read_values(equals + 1, wanted->values, &wanted->n))
        return ERGO_FAIL(ctx, ERGO_E_JOB,
                         "%s: \"%.80s\" gives no values; write %s=FROM:TO:STEP, or %s=VALUE,VALUE "
                         "(at most %d)",
                         option, text, word_of(key->pointer), word_of(key->pointer), VALUES_MAX);
    for (size_t i = 0; i < wanted->n; i++) {
        const double v = wanted->values[i];
        const bool low = key->flags & ERGO_KEY_EXCLUDES_MIN ? v <= key->min : v < key->min;
        if ((key->min != 0 || key->max != 0) && (low || v > key->max))
            return ERGO_FAIL(ctx, ERGO_E_JOB, "%s: %s is %.10g; the range of the key is %g to %g",
                             option, key->pointer, v, key->min, key->max);
    }
    return ERGO_OK;
}

enum ergo_status ergo_quantity_parse(struct ergo_context *ctx, const struct ergo_analysis *a,
                                     const char *option, const char *text,
                                     struct ergo_quantity *quantity) {
    const char *slash = strchr(text, '/'), *names[NAMES_MAX];
    const struct ergo_point *point = a->systems[0].states[0].point;
    const size_t length = slash ? (size_t)(slash - text) : strlen(text);
    size_t n = 0;
    *quantity = (struct ergo_quantity){.observable = a->model->n_observables};
    for (size_t o = 0; o < a->model->n_observables; o++) {
        const char *name = a->model->observables[o].name;
        if (!ergo_observable_shown(&a->model->observables[o], point))
            continue;
        if (n < NAMES_MAX)
            names[n++] = name;
        if (strlen(name) == length && strncmp(name, text, length) == 0)
            quantity->observable = o;
    }
    snprintf(quantity->name, sizeof quantity->name, "%s", text);
    if (quantity->observable == a->model->n_observables) {
        char word[64];
        snprintf(word, sizeof word, "%.*s", (int)(length < 63 ? length : 63), text);
        const char *near = ergo_text_nearest(word, names, n);
        return ERGO_FAIL(
            ctx, ERGO_E_JOB,
            "%s: the runs have no observable \"%s\"%s%s%s; `ergocl help %s` lists them", option,
            word, ERGO_MEANT(near), a->job->sampler->name);
    }
    if (!slash)
        return ERGO_OK;
    quantity->power = 1;
    if (strncmp(slash, "/L", 2) != 0 ||
        (slash[2] && (slash[2] != '^' || !read_number(slash + 3, "", &quantity->power))))
        return ERGO_FAIL(ctx, ERGO_E_JOB,
                         "%s: \"%.80s\" is no quantity; write NAME, NAME/L or NAME/L^POWER", option,
                         text);
    for (size_t s = 0; s < a->n_systems; s++)
        if (isnan(a->systems[s].side))
            return ERGO_FAIL(ctx, ERGO_E_JOB,
                             "%s: %s has no key with the sides of a lattice, so there is no L",
                             option, a->job->sampler->name);
    return ERGO_OK;
}
