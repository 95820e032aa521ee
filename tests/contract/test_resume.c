/*
 * A run may be stopped after any block and continued, on any device: states, samples, curves and
 * estimates are those of a run that was not. And a checkpoint that is not what a run has written is
 * refused, also when its checksum is right.
 */
#include "contract.h"

/* Devices to resume on. */
static struct ergo_device_summary *devices;
static size_t n_devices;

/* Where the resumed sessions take place: on each usable device once, then on the test's own (some
 * compile for seconds, every time). */
static const char *device_of(size_t resumed) {
    for (size_t i = 0; i < n_devices; i++)
        if (devices[i].usable && resumed-- == 0)
            return devices[i].id;
    return NULL;
}

static char *checkpoint_path(void) {
    char *path = ergo_path_join(contract.folder, "checkpoint.h5");
    assert_non_null(path);
    return path;
}

/* After a first session that ended with `status`: sessions that are stopped until the run is
 * complete, each one `growth` times as long as the one before. The number of all. */
static size_t continue_in_sessions(enum ergo_status status, uint64_t growth,
                                   struct ergo_result **result) {
    size_t sessions = 1;
    while (status == ERGO_STOPPED && sessions < 1000) {
        assert_string_equal((*result)->status, "stopped");
        ergo_result_destroy(*result);
        ergo_run_withdraw_stop();
        const struct ergo_run_options options = contract_options(device_of(sessions - 1));
        contract.steps = 0;
        contract.stop_after *= growth;
        ergo_error_clear(contract.ctx);
        status = ergo_resume(contract.ctx, contract.folder, &options, result);
        sessions++;
    }
    ergo_run_withdraw_stop();
    contract.stop_after = 0;
    contract_ok(status, "a session");
    assert_string_equal((*result)->status, "complete");
    return sessions;
}

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
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        contract.block_samples = cases[i].block;
        contract.block_steps = (double)cases[i].block;
        const size_t n = run_in_sessions(contract.job, cases[i].steps, cases[i].growth, &result);
        snprintf(what, sizeof what, "%zu sessions, from %llu steps on, blocks of %zu", n,
                 (unsigned long long)cases[i].steps, cases[i].block);
        assert_true(n > 1);
        contract_same(what, whole, result);
        ergo_result_destroy(result);
    }
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

/* The sampler's other contract jobs, which may have several batches: about seven sessions. */
static void other_jobs(void) {
    char pattern[160];
    glob_t found = {0};
    snprintf(pattern, sizeof pattern, CONTRACT_JOBS "%s-*.json", contract.sampler->info->name);
    assert_int_equal(glob(pattern, 0, NULL, &found), 0);
    contract.block_samples = 1;
    contract.block_steps = 1;
    for (size_t i = 0; i < found.gl_pathc; i++) {
        struct ergo_result *result = NULL;
        print_message("%s\n", found.gl_pathv[i]); /* some drivers take seconds to open a device */
        fflush(stdout);
        cJSON *job = contract_read(found.gl_pathv[i]);
        struct ergo_result *whole = contract_run(job, NULL, NULL);
        assert_true(run_in_sessions(job, contract.steps / 7 + 1, 1, &result) > 1);
        contract_same(found.gl_pathv[i], whole, result);
        ergo_result_destroy(whole);
        ergo_result_destroy(result);
        cJSON_Delete(job);
    }
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
    for (size_t i = 0; i < sizeof at / sizeof at[0]; i++) {
        contract.block_samples = 2;
        contract.keep_at = at[i];
        contract_ok(contract_try(contract.job, save, 1, &result), "a run");
        ergo_result_destroy(result);
        assert_non_null(contract.kept);
        contract_ok(ergo_file_write(contract.ctx, path, contract.kept, contract.kept_length), path);
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

/* ---- checkpoints that no run has written ----------------------------------------------------- */

/* Write `blobs` with a right checksum and resume. */
static enum ergo_status resume_from(const struct ergo_blobs *blobs, struct ergo_result **result) {
    char *path = checkpoint_path();
    const struct ergo_run_options options = contract_options(NULL);
    contract_ok(ergo_checkpoint_write(contract.ctx, path, blobs), "writing a checkpoint");
    free(path);
    ergo_error_clear(contract.ctx);
    return ergo_resume(contract.ctx, contract.folder, &options, result);
}

static void taken(const struct ergo_blobs *blobs, const char *what) {
    struct ergo_result *result = NULL;
    contract_ok(resume_from(blobs, &result), what);
    ergo_result_destroy(result);
}

static void refused(const struct ergo_blobs *blobs, const char *name, const char *how) {
    struct ergo_result *result = NULL;
    const enum ergo_status status = resume_from(blobs, &result);
    ergo_result_destroy(result);
    if (status != ERGO_E_IO && status != ERGO_E_JOB)
        fail_msg("%s: a checkpoint whose blob \"%s\" is %s is not refused (status %d): %s",
                 contract.sampler->info->name, name, how, (int)status,
                 ergo_error_message(contract.ctx));
    assert_true(*ergo_error_message(contract.ctx));
}

/* Blobs of a checkpoint after `steps`. */
static struct ergo_blobs stopped_after(uint64_t steps, const char *const *sets, size_t n) {
    struct ergo_blobs blobs;
    struct ergo_result *result = NULL;
    char *path = checkpoint_path();
    contract.block_samples = 1;
    contract.stop_after = steps;
    assert_int_equal(contract_try(contract.job, sets, n, &result), ERGO_STOPPED);
    ergo_run_withdraw_stop();
    contract.stop_after = 0;
    contract.block_samples = 0;
    ergo_result_destroy(result);
    contract_ok(ergo_checkpoint_read(contract.ctx, path, &blobs), "reading a checkpoint");
    free(path);
    return blobs;
}

static void damage(void) {
    static const char *const needed[] = {"job",    "meta",          "members", "series",
                                         "states", "state_lengths", "curves"};
    const cJSON *run = cJSON_GetObjectItem(contract.job, "run");
    struct ergo_blobs blobs =
        stopped_after((uint64_t)cJSON_GetObjectItem(run, "sweeps")->valueint / 2, NULL, 0);
    taken(&blobs, "the same blobs again");
    for (size_t i = 0; i < sizeof needed / sizeof needed[0]; i++) {
        const struct ergo_blob *found = ergo_blobs_find(&blobs, needed[i]);
        assert_non_null(found);
        struct ergo_blob *blob = &blobs.blobs[found - blobs.blobs];
        const size_t length = blob->length;
        if (length == 0) /* no curves */
            continue;
        blob->length = length - 1;
        refused(&blobs, needed[i], "a byte too short");
        if (strcmp(needed[i], "job") != 0 && strcmp(needed[i], "meta") != 0) {
            /* a blob has room for one byte more */
            blob->length = length + 1;
            refused(&blobs, needed[i], "a byte too long");
        }
        blob->length = 0;
        refused(&blobs, needed[i], "empty");
        blob->length = length;
        blob->name[0] ^= 1;
        refused(&blobs, needed[i], "not there");
        blob->name[0] ^= 1;
    }
    /* numbers that would send the run out of its arrays, or on a chain from elsewhere */
    static const char *const numbers[] = {"meta", "members", "state_lengths", "curves"};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        const struct ergo_blob *blob = ergo_blobs_find(&blobs, numbers[i]);
        for (size_t at = 0; at + 8 <= blob->length && at < 48; at += 8)
            for (int value = 0; value >= -1; value--) {
                uint64_t before, wrong = (uint64_t)(int64_t)value;
                char how[80];
                memcpy(&before, (char *)blob->data + at, 8);
                /* digest and steps of a member, filled of a curve: the run finds them itself, or
                 * any value may be right */
                if (before == wrong || (i == 1 && at == 16) || (i == 1 && at == 8 && !wrong) ||
                    (i == 3 && (at >= 16 || (at == 0 && !wrong))))
                    continue;
                snprintf(how, sizeof how, "%lld at byte %zu", (long long)value, at);
                memcpy((char *)blob->data + at, &wrong, 8);
                refused(&blobs, numbers[i], how);
                memcpy((char *)blob->data + at, &before, 8);
            }
    }
    taken(&blobs, "the blobs mended");
    ergo_blobs_free(&blobs);
}

static void test_damage(void **state) {
    (void)state;
    contract_each_model(damage);
}

/* ---- longer than 32 bits count --------------------------------------------------------------- */

/* From a checkpoint on, in sessions of `steps` (0: in one). */
static struct ergo_result *run_from(const struct ergo_blobs *blobs, uint64_t steps) {
    struct ergo_result *result = NULL;
    contract.steps = 0;
    contract.stop_after = steps;
    const enum ergo_status status = resume_from(blobs, &result);
    assert_true((continue_in_sessions(status, 1, &result) > 1) == (steps > 0));
    return result;
}

/* A checkpoint that says it is 50 steps before 2^32; the one sample and the end come after it. */
static void far(void) {
    static const char *const sets[] = {"/run/equilibration=0", "/run/sweeps=4294967496",
                                       "/run/measure_every=4294967396"};
    const uint64_t step = (UINT64_C(1) << 32) - 50;
    enum { STEP_IN_META = 3 * sizeof step };
    contract.block_steps = 1;
    struct ergo_blobs blobs = stopped_after(4, sets, 3);
    contract.block_steps = 7;
    memcpy((char *)ergo_blobs_find(&blobs, "meta")->data + STEP_IN_META, &step, sizeof step);
    struct ergo_result *whole = run_from(&blobs, 0), *parts = run_from(&blobs, 30);
    assert_true(whole->members[0].steps == (UINT64_C(1) << 32) + 200);
    assert_int_equal(whole->members[0].n_samples, 1);
    contract_same("across 2^32 steps in sessions", whole, parts);
    ergo_result_destroy(whole);
    ergo_result_destroy(parts);
    ergo_blobs_free(&blobs);
}

static void test_far(void **state) {
    (void)state;
    contract_each(far);
}

static int set_up(void **state) {
    if (contract_set_up(state) != 0)
        return -1;
    bool usable = false;
    if (ergo_device_list(contract.ctx, true, &devices, &n_devices) != ERGO_OK)
        return -1;
    for (size_t i = 0; i < n_devices; i++)
        usable = usable || devices[i].usable;
    return usable ? 0 : -1;
}

static int tear_down(void **state) {
    free(devices);
    return contract_tear_down(state);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sessions), cmocka_unit_test(test_other_jobs),
        cmocka_unit_test(test_kills),    cmocka_unit_test(test_damage),
        cmocka_unit_test(test_far),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
