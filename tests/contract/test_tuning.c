/*
 * Tunables change the launch and never the chain: neither states nor samples. Row j gives every
 * tunable the value number j modulo the length of its list, shifted with every turn (and
 * differently for each tunable), so that values of different tunables meet in many combinations. A
 * value that a device cannot use has to be refused by a message that names the tunable; the row is
 * then run without it.
 */
#include "contract.h"

enum { MAX_TUNABLES = 16, MAX_VALUES = 16 };

struct values {
    size_t count;
    int64_t value[MAX_VALUES];
    bool accepted[MAX_VALUES];
};

/* All of a short range; of a long one its ends, and values that are powers of two or are not. */
static struct values values_of(const struct ergo_tunable *t) {
    static const int64_t some[] = {1, 2, 3, 7, 32, 49, 256};
    struct values v = {.count = 1}; /* the first is 0: automatic */
    for (int64_t x = t->min > 1 ? t->min : 1; t->max <= 4 && x <= t->max; x++)
        v.value[v.count++] = x;
    for (size_t i = 0; t->max > 4 && i < sizeof some / sizeof some[0]; i++)
        if (some[i] >= t->min && some[i] < t->max)
            v.value[v.count++] = some[i];
    if (t->max > 4)
        v.value[v.count++] = t->max;
    return v;
}

/* Runs the row; clears the tunables that were refused. NULL: even the plain job is refused. */
static struct ergo_result *run_row(const struct ergo_model *model, int64_t *row, char *description,
                                   size_t size) {
    struct ergo_result *result = NULL;
    for (size_t attempt = 0; attempt <= model->n_tunables; attempt++) {
        char sets[MAX_TUNABLES][80];
        const char *list[MAX_TUNABLES];
        size_t used = 0;
        for (size_t t = 0; t < model->n_tunables; t++) {
            snprintf(sets[t], sizeof sets[t], "/tuning/%s=%lld", model->tunables[t].name,
                     (long long)row[t]);
            list[t] = sets[t];
            used += (size_t)snprintf(description + used, size - used, " %s", sets[t]);
        }
        /* said before: a compiler may abort the process */
        print_message("%s:%s\n", contract.sampler->name, description);
        fflush(stdout);
        const enum ergo_status status =
            contract_try(contract.job, list, model->n_tunables, &result);
        if (status == ERGO_OK)
            return result;
        const char *message = ergo_error_message(contract.ctx);
        bool named = false;
        for (size_t t = 0; t < model->n_tunables; t++) {
            char pointer[80];
            snprintf(pointer, sizeof pointer, "/tuning/%s", model->tunables[t].name);
            if (row[t] && strstr(message, pointer)) {
                row[t] = 0;
                named = true;
            }
        }
        if ((status != ERGO_E_JOB && status != ERGO_E_DEVICE) || !named)
            fail_msg("%s:%s: neither done nor refused with a tunable's name, but: %s",
                     contract.sampler->name, description, message);
    }
    return NULL;
}

static void tuning(void) {
    const struct ergo_model *model = contract.model;
    struct values values[MAX_TUNABLES];
    struct ergo_result *base = contract_run(contract.job, NULL, NULL), *other;
    /* PoCL compiles for seconds, and Mesa for half a minute, what others do in a fraction of one */
    const char *platform = base->device.platform;
    const size_t rows = strstr(platform, "rusticl")                       ? 3
                        : contract_part()                                 ? 4
                        : strstr(platform, "Portable Computing Language") ? 8
                                                                          : 16;
    assert_true(model->n_tunables <= MAX_TUNABLES);
    for (size_t t = 0; t < model->n_tunables; t++)
        values[t] = values_of(&model->tunables[t]);
    /* (all automatic in the first, as in the job itself) */
    for (size_t j = contract_part() ? 1 : 0; j < rows && model->n_tunables; j++) {
        int64_t row[MAX_TUNABLES];
        size_t at[MAX_TUNABLES];
        char description[1024];
        for (size_t t = 0; t < model->n_tunables; t++) {
            at[t] = (j + (t + 1) * (j / values[t].count)) % values[t].count;
            row[t] = values[t].value[at[t]];
        }
        other = run_row(model, row, description, sizeof description);
        assert_non_null(other);
        contract_same(description, base, other);
        for (size_t t = 0; t < model->n_tunables; t++)
            if (row[t])
                values[t].accepted[at[t]] = true;
        ergo_result_destroy(other);
    }
    for (size_t t = 0; t < model->n_tunables; t++) {
        size_t accepted = 0;
        for (size_t i = 1; i < values[t].count; i++)
            accepted += values[t].accepted[i];
        print_message("%s: /tuning/%s: %zu of %zu values accepted\n", contract.sampler->name,
                      model->tunables[t].name, accepted, values[t].count - 1);
        assert_true(accepted > 0 || rows < values[t].count);
    }
    ergo_result_destroy(base);
}

/* Fast is not enough: a launch that leads to other states is no gain. */
static void lazy(void) {
    char *path = ergo_path_join(contract.folder, "profiles.json"), *text = NULL;
    const struct ergo_tune_options options = {.seconds = 10, .path = path};
    struct ergo_job *job = NULL;
    struct ergo_result *base = contract_run(contract.job, NULL, NULL);
    const bool slow = strstr(base->device.platform, "rusticl") != NULL; /* compiles for minutes */
    ergo_result_destroy(base);
    if (!slow) {
        contract_ok(contract_parse(contract.job, NULL, 0, &job), "the job");
        contract.lazy = true;
        const enum ergo_status status = ergo_tune(contract.ctx, job, &options, &text);
        contract.lazy = contract.idle = false;
        print_message("%s\n", ergo_error_message(contract.ctx));
        assert_int_equal(status, ERGO_E_AUDIT);
        assert_non_null(strstr(ergo_error_message(contract.ctx), "leads to other states"));
        assert_null(text);
        assert_int_not_equal(access(path, F_OK), 0);
        ergo_job_destroy(job);
    }
    free(path);
}

/* The host's doing: one sampler is enough. */
static void test_lazy(void **state) {
    char path[160];
    const char *name = ergo_samplers[0]->name;
    (void)state;
    snprintf(path, sizeof path, CONTRACT_JOBS "%s.json", name);
    contract_job(name, path, lazy);
}

static void test_tuning(void **state) {
    (void)state;
    if (contract_part()) /* other models have these tunables, or see test-long */
        contract_each(tuning);
    else
        contract_each_model(tuning);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_lazy), cmocka_unit_test(test_tuning)};
    return cmocka_run_group_tests(tests, contract_set_up, contract_tear_down);
}
