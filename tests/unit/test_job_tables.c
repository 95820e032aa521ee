/* The key tables of all real samplers: every error that a table can contain by itself. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "job/job.h"
#include "samplers/sampler.h"

static void check_key(const char *owner, const struct ergo_key *key) {
    if (key->pointer[0] != '/' || strpbrk(key->pointer, "~\"\\ ") || !key->help || !*key->help ||
        !key->unit)
        fail_msg("%s: %s needs a plain pointer, help, and a unit (\"\" for none)", owner,
                 key->pointer);
    const bool number = key->type == ERGO_KEY_REAL || key->type == ERGO_KEY_INT ||
                        key->type == ERGO_KEY_SIZE || key->type == ERGO_KEY_TIME ||
                        key->type == ERGO_KEY_REALS;
    if (key->flags & ERGO_KEY_SCAN &&
        (!number || key->type == ERGO_KEY_TIME || key->type == ERGO_KEY_REALS))
        fail_msg("%s: %s is no number and cannot be scanned", owner, key->pointer);
    if (key->flags & ERGO_KEY_REQUIRED && key->fallback)
        fail_msg("%s: %s is required and has a default", owner, key->pointer);
    if (number && key->min > key->max)
        fail_msg("%s: %s has an empty range", owner, key->pointer);
    if ((key->type == ERGO_KEY_SIZE || key->type == ERGO_KEY_REALS) &&
        (key->min_items < 1 || key->min_items > key->max_items || key->max_items > ERGO_DIM_MAX))
        fail_msg("%s: %s has bad numbers of items", owner, key->pointer);
    if (key->type == ERGO_KEY_ENUM && strcmp(key->pointer, "/sampler") != 0 &&
        (!key->choices || !key->choices[0]))
        fail_msg("%s: %s has no choices", owner, key->pointer);
}

/* No two keys alike, and none that is the object around another. */
static void check_pair(const char *owner, const struct ergo_key *a, const struct ergo_key *b) {
    size_t length = strlen(a->pointer);
    if (!strncmp(a->pointer, b->pointer, length) &&
        (b->pointer[length] == '\0' || b->pointer[length] == '/'))
        fail_msg("%s: %s and %s cannot both be keys", owner, a->pointer, b->pointer);
}

static const size_t bytes_of[] = {[ERGO_HOLDS_VALUE] = sizeof(struct ergo_value),
                                  [ERGO_HOLDS_REAL] = sizeof(double),
                                  [ERGO_HOLDS_INT] = sizeof(int64_t),
                                  [ERGO_HOLDS_BOOL] = sizeof(bool),
                                  [ERGO_HOLDS_TEXT] = sizeof(const char *)};

/* Nobody asks for the values of these. */
static const char *const unasked[] = {"/$schema", "/description", "/sampler", "/system/labelling",
                                      "/system/excess_volume"};

/* A value lives inside the model's parameter struct, in a member of its type. */
static void check_place(const char *owner, const struct ergo_key *key, size_t size) {
    const bool only = key->type == ERGO_KEY_ENUM && key->choices && !key->choices[1];
    bool asked = true;
    for (size_t i = 0; i < sizeof unasked / sizeof *unasked; i++)
        asked = asked && strcmp(key->pointer, unasked[i]) != 0;
    if (!only && asked != (key->holds != ERGO_HOLDS_NOTHING)) /* one choice: nobody asks which */
        fail_msg("%s: %s %s", owner, key->pointer,
                 asked ? "has no place, so it would always be 0" : "has a place");
    const enum ergo_holds wanted =
        key->type == ERGO_KEY_INT                                    ? ERGO_HOLDS_INT
        : key->type == ERGO_KEY_BOOL                                 ? ERGO_HOLDS_BOOL
        : key->type == ERGO_KEY_REAL || key->type == ERGO_KEY_TIME   ? ERGO_HOLDS_REAL
        : key->type == ERGO_KEY_ENUM || key->type == ERGO_KEY_STRING ? ERGO_HOLDS_TEXT
                                                                     : ERGO_HOLDS_VALUE;
    if (key->holds && key->holds != wanted && key->holds != ERGO_HOLDS_VALUE)
        fail_msg("%s: %s is put into a member of another type", owner, key->pointer);
    if (key->holds && key->at + bytes_of[key->holds] > size)
        fail_msg("%s: %s lives at %zu, behind the %zu bytes of the parameters", owner, key->pointer,
                 key->at, size);
}

/* No two values in one place. */
static void check_places(const char *owner, const struct ergo_key *a, const struct ergo_key *b) {
    if (a->holds && b->holds && a->at < b->at + bytes_of[b->holds] &&
        b->at < a->at + bytes_of[a->holds])
        fail_msg("%s: %s and %s live in one place", owner, a->pointer, b->pointer);
}

static void check_model(const struct ergo_sampler *sampler, const struct ergo_model *model) {
    const struct ergo_key *key, *other;
    for (size_t i = 0; (key = ergo_model_key(model, i)) != NULL; i++) {
        check_key(sampler->name, key);
        check_place(sampler->name, key, model->parameters);
        if (!strncmp(key->pointer, "/tuning", 7) || !strncmp(key->pointer, "/scan", 5))
            fail_msg("%s: %s: tuning and scan are not for keys", sampler->name, key->pointer);
        for (size_t j = 0; (other = ergo_model_key(model, j)) != NULL; j++)
            if (j != i) {
                check_pair(sampler->name, key, other);
                check_places(sampler->name, key, other);
            }
        if (sampler->model_key) {
            check_pair(sampler->name, key, sampler->model_key);
            check_pair(sampler->name, sampler->model_key, key);
        }
        for (size_t c = 0; c < ergo_job_n_common_keys; c++) {
            check_pair(sampler->name, key, &ergo_job_common_keys[c]);
            check_places(sampler->name, key, &ergo_job_common_keys[c]);
            check_pair(sampler->name, &ergo_job_common_keys[c], key);
        }
    }
    for (size_t i = 0; i < model->n_observables; i++) {
        /* what crosses by its help, as it is and not over L, crosses for ergocl analyse */
        const struct ergo_observable *o = &model->observables[i];
        if (strstr(o->help, "sizes cross") && !o->crosses)
            fail_msg("%s: %s crosses by its help, and is not said to", sampler->name, o->name);
        if (o->crosses && !strstr(o->help, "cross") && !strstr(o->help, "Binder") &&
            strcmp(o->help, "the same in y") != 0 && strcmp(o->help, "the same in z") != 0)
            fail_msg("%s: %s crosses, and its help does not say so", sampler->name, o->name);
    }
    for (size_t i = 0; i < model->n_tunables; i++)
        assert_true(model->tunables[i].min <= model->tunables[i].max &&
                    model->tunables[i].min >= 0 && model->tunables[i].at > 0);
}

static void test_tables(void **state) {
    (void)state;
    for (size_t c = 0; c < ergo_job_n_common_keys; c++) {
        check_key("common", &ergo_job_common_keys[c]);
        check_place("common", &ergo_job_common_keys[c], sizeof(struct ergo_parameters));
        for (size_t d = 0; d < ergo_job_n_common_keys; d++)
            if (d != c)
                check_pair("common", &ergo_job_common_keys[c], &ergo_job_common_keys[d]);
    }
    for (size_t s = 0; s < ergo_n_samplers; s++) {
        const struct ergo_sampler *sampler = ergo_samplers[s];
        assert_ptr_equal(ergo_sampler_find(sampler->name), sampler);
        for (size_t m = 0; m < sampler->n_models; m++)
            check_model(sampler, sampler->models[m]);
    }
}

/* Defaults are read for every job: one that its own key refuses is an internal error. */
static void test_defaults(void **state) {
    (void)state;
    for (size_t s = 0; s < ergo_n_samplers; s++) {
        const struct ergo_sampler *sampler = ergo_samplers[s];
        for (size_t m = 0; m < sampler->n_models; m++) {
            struct ergo_context *ctx = ergo_context_create();
            struct ergo_job *job = NULL;
            char text[128], set[128];
            const char *const sets[] = {set};
            snprintf(text, sizeof text, "{\"sampler\":\"%s\"}", sampler->name);
            if (sampler->model_key)
                snprintf(set, sizeof set, "%s=%s", sampler->model_key->pointer,
                         sampler->models[m]->name);
            if (ergo_job_parse(ctx, text, strlen(text), "defaults", sets,
                               sampler->model_key != NULL, &job) != ERGO_E_JOB)
                fail_msg("%s", ergo_error_message(ctx));
            ergo_job_destroy(job);
            char *page = NULL;
            assert_int_equal(ergo_help_text(ctx, sampler->name, &page), ERGO_OK);
            free(page);
            ergo_context_destroy(ctx);
        }
    }
}

/* Powers of a column, and numbers of a curve from either end. */
static void test_declared(void **state) {
    static const double columns[] = {7, -3}, curve[] = {2, 4, 8};
    struct ergo_observable of = {ERGO_COLUMN(1)};
    (void)state;
    assert_true(ergo_observable_sampled(&of) && ergo_observable_sample(&of, NULL, columns) == -3);
    of.power = 3;
    assert_true(ergo_observable_sample(&of, NULL, columns) == -27);
    of.absolute = true;
    of.power = 1;
    assert_true(ergo_observable_sample(&of, NULL, columns) == 3);
    of = (struct ergo_observable){.curve = "curve"};
    assert_true(!ergo_observable_sampled(&of) &&
                ergo_observable_of_curve(&of, NULL, curve, 3) == 2);
    of.element = -1;
    assert_true(ergo_observable_of_curve(&of, NULL, curve, 3) == 8);
    of.element = 3;
    assert_true(isnan(ergo_observable_of_curve(&of, NULL, curve, 3)));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_declared),
        cmocka_unit_test(test_tables),
        cmocka_unit_test(test_defaults),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
