/*
 * What the contract tests share: the job file of a sampler, runs of it in a scratch folder, and
 * comparisons of results. No sampler is named here or in the tests.
 *
 * The registry is replaced: in it are the real samplers with two functions looked after, so that a
 * test says how long blocks are and after which step a run is asked to stop. Everything else is as
 * in the program.
 */
#ifndef ERGO_TESTS_CONTRACT_H
#define ERGO_TESTS_CONTRACT_H

#include <errno.h>
#include <ftw.h>
#include <glob.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cjson/cJSON.h>
#include <cmocka.h>

#include "result/checkpoint.h"
#include "result/result.h"
#include "run/tuning.h"
#include "samplers/sampler.h"

#define CONTRACT_JOBS "tests/contract/jobs/"

static struct contract {
    struct ergo_context *ctx;
    char folder[64];                    /* run folder, replaced by every run */
    const struct ergo_sampler *sampler; /* the one under test, and the model of its job */
    const struct ergo_model *model;
    cJSON *job;           /* its job file */
    size_t block_samples; /* most samples of a block, 0: as planned */
    double block_steps;   /* most steps of an unsampled block, 0: as planned */
    uint64_t stop_after;  /* ask to stop after so many steps, 0: never */
    uint64_t steps;       /* of the session */
    uint64_t keep_at;     /* keep the checkpoint that is there at this step, 0: none */
    char *kept;           /* its bytes; the test frees them */
    size_t kept_length;
    bool another; /* its job is of another model than the sampler's own job */
    bool lazy;    /* launches with a tunable set do nothing, in no time */
    bool idle;    /* this is one */
    bool audits;  /* runs have them; elsewhere they would make most programs twice */
} contract;

static inline void contract_ok(enum ergo_status status, const char *what) {
    if (status != ERGO_OK)
        fail_msg("%s: %s", what, ergo_error_message(contract.ctx));
}

/* ---- the sampler, looked after --------------------------------------------------------------- */

static const struct ergo_sampler *const *contract_real; /* the program's registry */

static inline const struct ergo_sampler *contract_registered(const char *name) {
    for (size_t i = 0; i < ergo_n_samplers; i++)
        if (strcmp(contract_real[i]->name, name) == 0)
            return contract_real[i];
    return NULL;
}

/* The registered model behind a job's, which is looked after. */
static const struct ergo_model *contract_model_of(const struct ergo_job *job) {
    size_t m = 0;
    while (job->sampler->models[m] != job->model)
        m++;
    return contract_registered(job->sampler->name)->models[m];
}

/* The run's; replays have another (run/audit.h), and are not looked after. */
static pthread_t contract_thread;
static bool contract_replays(void) {
    return !pthread_equal(pthread_self(), contract_thread);
}

static enum ergo_status contract_plan(struct ergo_context *ctx, const struct ergo_batch *batch,
                                      const struct ergo_device *device, struct ergo_plan *plan) {
    if (contract_replays())
        return ergo_sampler_plan(ctx, contract_model_of(batch->job)->ops, batch, device, plan);
    contract.sampler = contract_registered(batch->job->sampler->name);
    contract.model = contract_model_of(batch->job);
    const enum ergo_status status =
        ergo_sampler_plan(ctx, contract.model->ops, batch, device, plan);
    contract.idle = contract.lazy && ergo_tuning_given(batch);
    if (contract.block_samples && plan->block_samples > contract.block_samples)
        plan->block_samples = contract.block_samples;
    if (contract.block_steps > 0)
        plan->block_steps = fmin(plan->block_steps, contract.block_steps);
    return status;
}

static enum ergo_status contract_advance(struct ergo_context *ctx, void *state, unsigned slot,
                                         size_t count, uint64_t every, uint64_t first) {
    if (contract_replays())
        return ergo_sampler_advance(ctx, contract.model->ops, state, slot, count, every, first);
    if (contract.keep_at && !contract.kept && contract.steps >= contract.keep_at) {
        char *path = ergo_path_join(contract.folder, "checkpoint");
        contract_ok(ergo_file_read(ctx, NULL, path, 1 << 26, &contract.kept, &contract.kept_length),
                    "keeping a checkpoint");
        free(path);
    }
    if (contract.idle)
        return ERGO_OK;
    contract.steps += every * (count ? count : 1);
    if (contract.stop_after && contract.steps >= contract.stop_after)
        ergo_run_request_stop();
    return ergo_sampler_advance(ctx, contract.model->ops, state, slot, count, every, first);
}

#ifndef CONTRACT_SERIES
/* A third of a short run's time is that of HDF5. What series.h5 holds is for test_result, that
 * every job has one for test_golden; the others compare samples in memory. */
enum ergo_status ergo_result_write_series(struct ergo_context *ctx,
                                          const struct ergo_folder *folder,
                                          const struct ergo_result *result) {
    (void)ctx, (void)folder, (void)result;
    return ERGO_OK;
}
#endif

/* Before main. */
__attribute__((constructor)) static void contract_look_after(void) {
    enum { MANY = 32 };
    static struct {
        struct ergo_sampler sampler;
        struct ergo_sampler_ops ops[MANY];
        struct ergo_model models[MANY];
        const struct ergo_model *list[MANY];
    } looked_after[MANY];
    static const struct ergo_sampler *registry[MANY];
    contract_thread = pthread_self();
    if (ergo_n_samplers > MANY)
        abort();
    contract_real = ergo_samplers;
    for (size_t i = 0; i < ergo_n_samplers; i++) {
        const struct ergo_sampler *real = contract_real[i];
        if (real->n_models > MANY)
            abort();
        for (size_t m = 0; m < real->n_models; m++) {
            looked_after[i].ops[m] = *real->models[m]->ops;
            looked_after[i].ops[m].plan = contract_plan;
            looked_after[i].ops[m].advance = contract_advance;
            looked_after[i].models[m] = *real->models[m];
            looked_after[i].models[m].ops = &looked_after[i].ops[m];
            looked_after[i].list[m] = &looked_after[i].models[m];
        }
        looked_after[i].sampler = *real;
        looked_after[i].sampler.models = looked_after[i].list;
        registry[i] = &looked_after[i].sampler;
    }
    ergo_samplers = registry;
}

/* ---- jobs ------------------------------------------------------------------------------------ */

/* In make test ($ERGOCL_TEST_BRIEF, tests/run-all) every sampler's own job goes through most points
 * of a test, and the jobs of its other models through the first of each sort, each model in every
 * other test, each test with every other model. */
static inline bool contract_part(void) {
    return getenv("ERGOCL_TEST_BRIEF") != NULL;
}
static inline bool contract_brief(void) {
    return contract_part() && contract.another;
}

/* Whether a job file is of $TEST_SAMPLER, if that is set. */
static inline bool contract_about(const char *path) {
    const char *name = getenv("TEST_SAMPLER");
    return !name || !*name || strncmp(path + strlen(CONTRACT_JOBS), name, strlen(name)) == 0;
}

/* A JSON file of the repository; NULL when there is none or it is not JSON. */
static inline cJSON *contract_read(const char *path) {
    char *text = NULL;
    size_t length = 0;
    if (access(path, R_OK) != 0 ||
        ergo_file_read(contract.ctx, NULL, path, 1 << 24, &text, &length) != ERGO_OK)
        return NULL;
    cJSON *tree = cJSON_Parse(text);
    free(text);
    return tree;
}

static inline enum ergo_status contract_parse(const cJSON *tree, const char *const *sets, size_t n,
                                              struct ergo_job **job) {
    char *text = cJSON_PrintUnformatted(tree);
    assert_non_null(text);
    ergo_error_clear(contract.ctx);
    const enum ergo_status status =
        ergo_job_parse(contract.ctx, text, strlen(text), "contract", sets, n, job);
    free(text);
    return status;
}

/* The one scanned key of the job file, and its list of values. */
static inline cJSON *contract_scan(const cJSON *tree) {
    cJSON *scan = cJSON_GetObjectItem(tree, "scan");
    return scan ? scan->child : NULL;
}

/* ---- runs ------------------------------------------------------------------------------------ */

static inline struct ergo_run_options contract_options(const char *device) {
    return (struct ergo_run_options){
        .directory = contract.folder, .device = device, .overwrite = true};
}

static inline enum ergo_status contract_try(const cJSON *tree, const char *const *sets, size_t n,
                                            struct ergo_result **result) {
    struct ergo_job *job = NULL;
    const struct ergo_run_options options = contract_options(NULL);
    *result = NULL;
    contract.steps = 0;
    enum ergo_status status = contract_parse(tree, sets, n, &job);
    if (status == ERGO_OK)
        status = ergo_run(contract.ctx, job, &options, result);
    ergo_job_destroy(job);
    return status;
}

/* Samples that look back need an equilibration: without one they do not. */
static inline void contract_unlook(void) {
    cJSON *system = cJSON_GetObjectItem(contract.job, "system");
    cJSON_DeleteItemFromObject(system, "forward_steps");
    cJSON_DeleteItemFromObject(system, "correction_steps");
}

/* A run of the job with up to two changes (NULL: none), to its end. */
static inline struct ergo_result *contract_run(const cJSON *tree, const char *set,
                                               const char *another) {
    const char *sets[] = {set, another};
    struct ergo_result *result = NULL;
    contract_ok(contract_try(tree, sets, (set != NULL) + (size_t)(another != NULL), &result),
                set ? set : "the job as it is");
    return result;
}

/* ---- comparisons ----------------------------------------------------------------------------- */

static inline void contract_same_state(const char *what, const struct ergo_member_result *a,
                                       const struct ergo_member_result *b) {
    if (a->digest != b->digest || a->steps != b->steps)
        fail_msg("%s, %s: point %zu, replica %u: digest %016llx after %llu steps, but %016llx "
                 "after %llu",
                 contract.sampler->name, what, a->point->scan_index, a->point->replica,
                 (unsigned long long)a->digest, (unsigned long long)a->steps,
                 (unsigned long long)b->digest, (unsigned long long)b->steps);
}

/* The points of result.json, as text. */
static inline char *contract_points(const struct ergo_result *result) {
    char *json = NULL;
    contract_ok(ergo_result_json(contract.ctx, result, &json), "result.json");
    char *points = strstr(json, "\"points\": ["), *end = strstr(json, "\"rate\": {");
    assert_true(points && end && points < end);
    *end = '\0';
    memmove(json, points, strlen(points) + 1);
    return json;
}

/* States, every sample, curves, estimates, pictures: bit for bit. */
static inline void contract_same(const char *what, const struct ergo_result *a,
                                 const struct ergo_result *b) {
    const struct ergo_model *model = contract.model;
    assert_int_equal(a->n_members, b->n_members);
    for (size_t i = 0; i < a->n_members; i++) {
        const struct ergo_member_result *x = &a->members[i], *y = &b->members[i];
        contract_same_state(what, x, y);
        bool same = x->n_samples == y->n_samples && x->n_pictures == y->n_pictures &&
                    !x->series == !y->series;
        for (size_t c = 0; c < model->n_columns && x->series && same; c++)
            same = !x->series[c] == !y->series[c] &&
                   (!x->series[c] ||
                    memcmp(x->series[c], y->series[c], x->n_samples * sizeof(double)) == 0);
        if (!same)
            fail_msg("%s, %s: the states are the same, but not the samples of point %zu, replica "
                     "%u",
                     contract.sampler->name, what, x->point->scan_index, x->point->replica);
        for (size_t k = 0; k < x->n_pictures; k++)
            if (x->picture_steps[k] != y->picture_steps[k] ||
                memcmp(x->pictures[k].rgb, y->pictures[k].rgb,
                       3 * (size_t)x->pictures[k].width * x->pictures[k].height) != 0)
                fail_msg("%s, %s: picture %zu of point %zu differs", contract.sampler->name, what,
                         k, x->point->scan_index);
    }
    char *p = contract_points(a), *q = contract_points(b);
    if (strcmp(p, q) != 0)
        fail_msg("%s, %s: the points of result.json differ:\n%s\nand\n%s", contract.sampler->name,
                 what, p, q);
    free(p);
    free(q);
}

/* ---- every sampler --------------------------------------------------------------------------- */

static inline void contract_job(const char *name, const char *path, void (*test)(void)) {
    if (!contract_about(path))
        return;
    cJSON_Delete(contract.job);
    contract.job = contract_read(path);
    if (!contract.job)
        fail_msg("%s: no contract job %s (see tests/README.md)", name, path);
    if (!contract.audits && !cJSON_GetObjectItem(contract.job, "audit"))
        cJSON_AddStringToObject(cJSON_AddObjectToObject(contract.job, "audit"), "device", "none");
    contract.sampler = contract_registered(name);
    assert_non_null(contract.sampler);
    struct ergo_job *parsed = NULL;
    contract_ok(contract_parse(contract.job, NULL, 0, &parsed), path);
    contract.model = contract_model_of(parsed);
    contract.another = strchr(path, '+') != NULL;
    ergo_job_destroy(parsed);
    contract.block_samples = 0;
    contract.block_steps = 0;
    contract.stop_after = 0;
    contract.keep_at = 0;
    ergo_run_withdraw_stop(); /* of a test that failed */
    ergo_error_clear(contract.ctx);
    test();
}

/* Calls `test` for every sampler of the registry, with its job file in contract.job. */
static inline void contract_each(void (*test)(void)) {
    assert_true(ergo_n_samplers > 0);
    for (size_t i = 0; i < ergo_n_samplers; i++) {
        char path[160];
        snprintf(path, sizeof path, CONTRACT_JOBS "%s.json", ergo_samplers[i]->name);
        contract_job(ergo_samplers[i]->name, path, test);
    }
}

/* The same with the smallest jobs. */
static inline void contract_each_tiny(void (*test)(void)) {
    for (size_t i = 0; i < ergo_n_samplers; i++) {
        char path[160];
        snprintf(path, sizeof path, CONTRACT_JOBS "%s-tiny.json", ergo_samplers[i]->name);
        contract_job(ergo_samplers[i]->name, path, test);
    }
}

/* Whether the n-th of the models is for the test that now looks at models, `calls` before it. */
static inline bool contract_has_model(unsigned n, unsigned calls) {
    unsigned name = 0; /* half of the sum: 0 and 1 as often for the tests there are */
    for (const char *c = program_invocation_short_name; *c; c++)
        name += (unsigned char)*c;
    return !contract_part() || (n + calls + name / 2) % 2 == 0;
}

/* The same, and for the samplers' models that are programs of their own: NAME+MODEL.json. */
static inline void contract_each_model(void (*test)(void)) {
    static unsigned calls;
    unsigned n = 0;
    contract_each(test);
    for (size_t i = 0; i < ergo_n_samplers; i++) {
        char pattern[160];
        glob_t found = {0};
        snprintf(pattern, sizeof pattern, CONTRACT_JOBS "%s+*.json", ergo_samplers[i]->name);
        if (glob(pattern, 0, NULL, &found) == 0)
            for (size_t k = 0; k < found.gl_pathc; k++)
                if (contract_has_model(n++, calls))
                    contract_job(ergo_samplers[i]->name, found.gl_pathv[k], test);
        globfree(&found);
    }
    calls++;
}

static inline int contract_remove(const char *path, const struct stat *status, int type,
                                  struct FTW *at) {
    (void)status, (void)type, (void)at;
    return remove(path);
}

static inline int contract_set_up(void **state) {
    (void)state;
    /* half of the time of many short runs is that of disks that are to have written everything */
    snprintf(contract.folder, sizeof contract.folder, "%s/ergo-contract-XXXXXX",
             access("/dev/shm", W_OK | X_OK) == 0 ? "/dev/shm" : "/tmp");
    contract.ctx = ergo_context_create();
    return contract.ctx && mkdtemp(contract.folder) ? 0 : -1;
}

static inline int contract_tear_down(void **state) {
    (void)state;
    nftw(contract.folder, contract_remove, 8, FTW_DEPTH | FTW_PHYS);
    cJSON_Delete(contract.job);
    ergo_context_destroy(contract.ctx);
    return 0;
}

#endif
