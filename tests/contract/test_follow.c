/*
 * Points that follow one another (/anneal), and starts from another run (/start/run): the first
 * point as alone, each other one as a run that starts in the last states of the one before; stopped
 * in any point, resumed, and with points added behind the last. A state that does not fit is
 * refused with the key.
 */
#include "start.h"
#include "contract.h"

#include "job/model.h"
#include "samplers/lj_gcmc/lj.h"
#include "samplers/spin_lattice/two_times.h"
#include "samplers/tempered.h"

static char path[128]; /* along which points follow */

static const char *along(double a, double b, unsigned of) {
    static char set[3][256];
    static unsigned next;
    char *to = set[next++ % 3];
    if (of == 2)
        snprintf(to, sizeof set[0], "/scan={\"%s\":[%.17g,%.17g]}", path, a, b);
    else
        snprintf(to, sizeof set[0], "/scan={\"%s\":[%.17g]}", path, of ? b : a);
    return to;
}

/* A run into this folder below the scratch folder; NULL: it was stopped. */
static struct ergo_result *run_in(const char *name, const char *const *sets, size_t n) {
    struct ergo_job *job = NULL;
    struct ergo_result *result = NULL;
    struct ergo_run_options options = contract_options(NULL);
    char folder[128];
    snprintf(folder, sizeof folder, "%s/%s", contract.folder, name);
    options.directory = folder;
    contract.steps = 0;
    contract_ok(contract_parse(contract.job, sets, n, &job), sets[0]);
    const enum ergo_status status = ergo_run(contract.ctx, job, &options, &result);
    ergo_job_destroy(job);
    if (status == ERGO_STOPPED) {
        ergo_result_destroy(result);
        ergo_run_withdraw_stop();
        return NULL;
    }
    contract_ok(status, sets[0]);
    return result;
}

static struct ergo_result *go_on(const char *name, const char *const *sets, size_t n) {
    const struct ergo_run_options options = contract_options(NULL);
    struct ergo_result *result = NULL;
    char folder[128];
    snprintf(folder, sizeof folder, "%s/%s", contract.folder, name);
    contract_ok(ergo_extend(contract.ctx, folder, sets, n, &options, &result), name);
    return result;
}

/* Members of `part`, which are those of `whole` from `first` on. */
static void same_members(const char *what, const struct ergo_result *whole, size_t first,
                         const struct ergo_result *part) {
    for (size_t i = 0; i < part->n_members; i++) {
        const struct ergo_member_result *x = &whole->members[first + i], *y = &part->members[i];
        contract_same_state(what, x, y);
        assert_int_equal(x->n_samples, y->n_samples);
        for (size_t c = 0; c < contract.model->n_columns; c++)
            if (x->series[c] && memcmp(x->series[c], y->series[c], 8 * x->n_samples) != 0)
                fail_msg("%s, %s: other samples", contract.sampler->name, what);
        for (size_t o = 0; o < contract.model->n_observables; o++) {
            const struct ergo_estimate *a = &x->observables[o].estimate,
                                       *b = &y->observables[o].estimate;
            if (memcmp(&a->mean, &b->mean, sizeof a->mean) != 0)
                fail_msg("%s, %s: %s differs", contract.sampler->name, what,
                         contract.model->observables[o].name);
        }
    }
}

/* A key whose values share states: the job's own, or else one that says how the chain moves. */
static bool choose(double *a, double *b) {
    const cJSON *axis = contract_scan(contract.job);
    const struct ergo_key *key;
    struct ergo_job *job = NULL;
    contract_ok(contract_parse(contract.job, NULL, 0, &job), "the job");
    *path = '\0';
    for (size_t k = 0; (key = ergo_model_key(contract.model, k)) != NULL && !*path; k++) {
        const bool own = strcmp(key->pointer, axis->string) == 0;
        if (own && !(key->flags & ERGO_KEY_FORM)) {
            *a = cJSON_GetArrayItem(axis, 0)->valuedouble;
            *b = cJSON_GetArrayItem(axis, 1)->valuedouble;
            snprintf(path, sizeof path, "%s", key->pointer);
        }
    }
    for (size_t k = 0; (key = ergo_model_key(contract.model, k)) != NULL && !*path; k++) {
        const struct ergo_value *value = ergo_point_value(&job->points[0], key->pointer);
        if (key->flags & ERGO_KEY_FORM || !(key->flags & ERGO_KEY_SCAN) ||
            key->type != ERGO_KEY_REAL || !(value->real > 0))
            continue;
        *a = value->real;
        *b = 0.9 * value->real;
        snprintf(path, sizeof path, "%s", key->pointer);
    }
    ergo_job_destroy(job);
    if (strcmp(path, axis->string) != 0) { /* the job's key stays at its first value */
        cJSON *first = cJSON_Duplicate(cJSON_GetArrayItem(axis, 0), true);
        cJSON_DeleteItemFromObject(cJSON_GetObjectItem(contract.job, "system"),
                                   axis->string + strlen("/system/"));
        cJSON_AddItemToObject(cJSON_GetObjectItem(contract.job, "system"),
                              axis->string + strlen("/system/"), first);
    }
    return *path != '\0';
}

/* Saved states of all members; free() the texts. */
static void save_all(void *state, size_t members, struct ergo_text *texts) {
    for (size_t m = 0; m < members; m++) {
        texts[m] = (struct ergo_text){0};
        contract_ok(contract.model->ops->save(contract.ctx, state, m, &texts[m]), "save");
    }
}

/* A start in the last states of `from` is not the job's own. It is all of such a state, unless that
 * has a record of its run, which begins anew. */
static void carried(const struct ergo_result *from) {
    enum { MANY = 8 };
    const struct ergo_batch *batch = &from->job->batches[0];
    const struct ergo_sampler_ops *ops = contract.model->ops;
    struct ergo_carried states[MANY];
    struct ergo_text before[MANY], after[MANY];
    struct ergo_device *device = NULL;
    void *state = NULL;
    /* of models with ladders and two-time functions only these have a record, and tuned steps */
    const bool seldom = ops->carry == ergo_tempered_carry || ops->carry == timed_carry;
    const bool recorded = contract.model->tuned && ops->carry != lj_carry
                              ? contract.model->tuned(batch->points[0])
                              : ops->carry && (!seldom || ergo_is_tempered(batch->points[0]) ||
                                               timed_is(batch->points[0]));
    assert_true(batch->count <= MANY);
    for (size_t m = 0; m < batch->count; m++)
        states[m] = (struct ergo_carried){from->members[m].state, from->members[m].state_length};
    contract_ok(ergo_device_open(contract.ctx, "auto", &device), "a device");
    contract_ok(ergo_sampler_create(contract.ctx, ops, batch, device, &state), "create");
    contract_ok(start_all(contract.ctx, ops, state), "start");
    save_all(state, batch->count, before);
    contract_ok(ergo_sampler_carry(contract.ctx, ops, state, batch->count, states), "carry");
    save_all(state, batch->count, after);
    for (size_t m = 0; m < batch->count; m++) {
        const bool whole = after[m].length == states[m].length &&
                           memcmp(after[m].data, states[m].bytes, states[m].length) == 0;
        const bool nothing = after[m].length == before[m].length &&
                             memcmp(after[m].data, before[m].data, before[m].length) == 0;
        if (nothing || whole != !recorded)
            fail_msg("%s: a start in the last state of member %zu is %s", contract.sampler->name, m,
                     nothing ? "the job's own"
                     : whole ? "all of it"
                             : "another state");
        ergo_text_free(&before[m]);
        ergo_text_free(&after[m]);
    }
    ergo_engine_destroy(state);
    ergo_device_close(device);
}

static void refused(const char *a, const char *b, const char *says) {
    const char *const sets[] = {a, b};
    struct ergo_job *job = NULL;
    enum ergo_status status = contract_parse(contract.job, sets, 2, &job);
    if (status == ERGO_OK)
        status = ergo_validate(contract.ctx, job);
    ergo_job_destroy(job);
    assert_int_equal(status, ERGO_E_JOB);
    if (!strstr(ergo_error_message(contract.ctx), says))
        fail_msg("%s, %s: %s", contract.sampler->name, b, ergo_error_message(contract.ctx));
}

static void follow(void) {
    double a = 0, b = 0;
    char anneal[160], origin[160], other[160];
    assert_true(choose(&a, &b));
    /* it is part of a chain's stream, and has no effect beside another run's states */
    cJSON_DeleteItemFromObject(cJSON_GetObjectItem(contract.job, "system"), "start");
    /* what is counted from some time on begins at once */
    cJSON_DeleteItemFromObject(cJSON_GetObjectItem(contract.job, "system"), "waiting_time");
    if (!contract.model->tuned) /* steps are tuned then */
        cJSON_DeleteItemFromObject(cJSON_GetObjectItem(contract.job, "run"), "equilibration");
    contract_unlook();
    snprintf(anneal, sizeof anneal, "/anneal=\"%s\"", path);
    snprintf(origin, sizeof origin, "/start/run=\"%s/one\"", contract.folder);
    const char *const both[] = {along(a, b, 2), anneal, "/output/series=full"};
    struct ergo_result *whole = run_in("whole", both, 3);
    const size_t replicas = whole->n_members / 2;
    const uint64_t each = whole->members[0].steps;

    /* each point by itself */
    const char *const one[] = {along(a, b, 0), anneal, "/output/series=full"};
    struct ergo_result *first = run_in("one", one, 3);
    same_members("the first point", whole, 0, first);
    carried(first);
    const char *const two[] = {along(a, b, 1), anneal, "/output/series=full", origin,
                               "/start/point=0"};
    struct ergo_result *second = run_in("two", two, 5);
    same_members("started in another run", whole, replicas, second);
    struct ergo_result *apart = run_in("apart", two, 3);
    assert_int_not_equal(apart->members[0].digest, second->members[0].digest);
    ergo_result_destroy(apart);
    snprintf(other, sizeof other, "/start/run=\"%s/nothing\"", contract.folder);
    struct ergo_job *job = NULL;
    const char *const missing[] = {other};
    contract_ok(contract_parse(contract.job, missing, 1, &job), other);
    assert_int_equal(ergo_validate(contract.ctx, job), ERGO_E_IO);
    ergo_job_destroy(job);
    refused(origin, "/start/point=9", "/start/point: found 9, but the run");
    refused("/anneal=\"/run/sweeps\"", "/replicas=1", "/anneal: found \"/run/sweeps\", which");

    /* stopped where the second begins, and in its midst */
    contract.block_samples = 1;
    contract.block_steps = 1;
    for (uint64_t stop = each; stop <= 3 * each / 2 + 1; stop += each / 2 + 1) {
        contract.stop_after = stop;
        assert_null(run_in("stopped", both, 3));
        contract.stop_after = 0;
        struct ergo_result *resumed = go_on("stopped", NULL, 0);
        same_members("stopped and resumed", whole, 0, resumed);
        ergo_result_destroy(resumed);
    }
    contract.block_samples = 0;
    contract.block_steps = 0;
    struct ergo_result *longer = go_on("one", both, 1);
    same_members("a point more", whole, 0, longer);
    ergo_result_destroy(longer);
    ergo_result_destroy(whole);
    ergo_result_destroy(first);
    ergo_result_destroy(second);
}

static void test_follow(void **state) {
    (void)state;
    contract_each_model(follow);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_follow)};
    return cmocka_run_group_tests(tests, contract_set_up, contract_tear_down);
}
