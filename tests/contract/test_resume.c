/*
 * A run may be stopped after any block, or killed, and continued, on any device: states, samples,
 * curves and estimates are those of a run that was not.
 */
#include "sessions.h"

/* The first session is of `steps`. */
static size_t run_in_sessions(const cJSON *job, uint64_t steps, uint64_t growth,
                              struct ergo_result **result) {
    contract.stop_after = steps;
    return continue_in_sessions(contract_try(job, NULL, 0, result), growth, result);
}

static void sessions(void) {
    struct ergo_result *whole = contract_run(contract.job, NULL, NULL), *result = NULL;
    const uint64_t total = whole->members[0].steps;
    const struct {
        size_t block;
        uint64_t steps, growth;
    } cases[] = {{1, 1, 5},         {1, 2, 3},         {1, total / 12 + 1, 1},
                 {3, total / 7, 1}, {7, total / 3, 1}, {1, total - 1, 1}};
    char what[100];
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i += contract_brief()  ? 3
                                                                : contract_part() ? 2
                                                                                  : 1) {
        at_home = contract_part() && (i > 0 || contract.another);
        contract.block_samples = cases[i].block;
        contract.block_steps = (double)cases[i].block;
        const size_t n = run_in_sessions(contract.job, cases[i].steps, cases[i].growth, &result);
        snprintf(what, sizeof what, "%zu sessions, from %llu steps on, blocks of %zu", n,
                 (unsigned long long)cases[i].steps, cases[i].block);
        assert_true(n > 1);
        contract_same(what, whole, result);
        ergo_result_destroy(result);
    }
    at_home = false;
    contract.block_samples = 0;
    contract.block_steps = 0;

    /* asked before it began: a checkpoint of nothing */
    ergo_run_request_stop();
    assert_int_equal(contract_try(contract.job, NULL, 0, &result), ERGO_STOPPED);
    assert_int_equal(contract.steps, 0);
    ergo_result_destroy(result);
    ergo_run_withdraw_stop();
    const struct ergo_run_options options = contract_options(NULL);
    for (int again = 0; again < 2; again++) { /* the second only reports */
        contract.steps = 0;
        contract_ok(ergo_resume(contract.ctx, contract.folder, &options, &result), "resume");
        contract_same(again ? "a report of a finished run" : "stopped at once", whole, result);
        assert_true(again ? contract.steps == 0 : contract.steps == total);
        ergo_result_destroy(result);
    }
    ergo_result_destroy(whole);
}

static void test_sessions(void **state) {
    (void)state;
    contract_each_model(sessions);
}

static void stop_on_progress(void *stop, const struct ergo_progress *progress) {
    (void)progress;
    ergo_stop_request(stop);
}

/* The run is asked, whatever its sampler: the first one's is enough. */
static void own_stops(void) {
    if (contract.sampler != contract_registered(ergo_samplers[0]->name))
        return;
    struct ergo_result *whole = contract_run(contract.job, NULL, NULL), *result = NULL;
    struct ergo_stop *stop = ergo_stop_create(), *other = ergo_stop_create();
    struct ergo_job *job = NULL;
    assert_true(stop && other);
    struct ergo_run_options options = contract_options(NULL);
    contract_ok(contract_parse(contract.job, NULL, 0, &job), "the job");
    contract.block_samples = 1;
    contract.block_steps = 1;
    contract.steps = 0;
    options.stop = options.user = stop;
    options.progress = stop_on_progress;
    assert_int_equal(ergo_run(contract.ctx, job, &options, &result), ERGO_STOPPED);
    assert_true(contract.steps < whole->members[0].steps);
    ergo_result_destroy(result);
    /* asked already */
    options.progress = NULL;
    contract.steps = 0;
    assert_int_equal(ergo_resume(contract.ctx, contract.folder, &options, &result), ERGO_STOPPED);
    assert_int_equal(contract.steps, 0);
    ergo_result_destroy(result);
    /* another's is none of this run's */
    options.stop = other;
    contract_ok(ergo_resume(contract.ctx, contract.folder, &options, &result), "resume");
    contract_same("stopped by its own handle", whole, result);
    ergo_result_destroy(result);
    contract_ok(ergo_result_load(contract.ctx, contract.folder, &result), "load");
    contract_same("loaded from its folder", whole, result);
    ergo_result_destroy(result);
    ergo_result_destroy(whole);
    ergo_job_destroy(job);
    ergo_stop_destroy(other);
    ergo_stop_destroy(stop);
}

static void test_own_stops(void **state) {
    (void)state;
    contract_each(own_stops);
}

/* The sampler's other contract jobs, which may have several batches: about seven sessions; in make
 * test of every third job three. */
static void other_jobs(void) {
    char pattern[160];
    glob_t found = {0};
    snprintf(pattern, sizeof pattern, CONTRACT_JOBS "%s-*.json", contract.sampler->name);
    assert_int_equal(glob(pattern, 0, NULL, &found), 0);
    contract.block_samples = 1;
    contract.block_steps = 1;
    at_home = contract_part();
    const uint64_t sessions = at_home ? 3 : 7;
    for (size_t i = 0; i < found.gl_pathc; i += at_home ? 3 : 1) {
        struct ergo_result *result = NULL;
        print_message("%s\n", found.gl_pathv[i]); /* some drivers take seconds to open a device */
        fflush(stdout);
        cJSON *job = contract_read(found.gl_pathv[i]);
        if (cJSON_GetObjectItemCaseSensitive(job,
                                             "distribute")) { /* cut: tests/mpi resumes these */
            cJSON_Delete(job);
            continue;
        }
        struct ergo_result *whole = contract_run(job, NULL, NULL);
        assert_true(run_in_sessions(job, (contract.steps + sessions - 1) / sessions, 1, &result) >
                    1);
        contract_same(found.gl_pathv[i], whole, result);
        ergo_result_destroy(whole);
        ergo_result_destroy(result);
        cJSON_Delete(job);
    }
    at_home = false;
    globfree(&found);
}

static void test_other_jobs(void **state) {
    (void)state;
    contract_each(other_jobs);
}

/* Killed: what is left is the last checkpoint that was written on the way. */
static void kills(void) {
    static const char *const save[] = {"/checkpoint/every_seconds=1e-9"};
    struct ergo_result *whole = contract_run(contract.job, NULL, NULL), *result = NULL;
    const uint64_t total = whole->members[0].steps, at[] = {1, total / 3, total / 2, total - 7};
    const struct ergo_run_options options = contract_options(NULL);
    char *path = checkpoint_path();
    for (size_t i = 0; i < sizeof at / sizeof at[0]; i += contract_part() ? 3 : 1) {
        contract.block_samples = 2;
        contract.keep_at = at[i];
        contract_ok(contract_try(contract.job, save, 1, &result), "a run");
        ergo_result_destroy(result);
        assert_non_null(contract.kept);
        contract_ok(ergo_file_write(contract.ctx, NULL, path, contract.kept, contract.kept_length),
                    path);
        free(contract.kept);
        contract.kept = NULL;
        contract.keep_at = 0;
        contract.steps = 0;
        contract_ok(ergo_resume(contract.ctx, contract.folder, &options, &result), "resume");
        assert_true(contract.steps > 0);
        contract_same("resumed after a kill", whole, result);
        ergo_result_destroy(result);
    }
    free(path);
    ergo_result_destroy(whole);
}

static void test_kills(void **state) {
    (void)state;
    contract_each_model(kills);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sessions),
        cmocka_unit_test(test_own_stops),
        cmocka_unit_test(test_other_jobs),
        cmocka_unit_test(test_kills),
    };
    return cmocka_run_group_tests(tests, sessions_set_up, sessions_tear_down);
}
