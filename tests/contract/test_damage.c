/*
 * A checkpoint that no run has written is refused, even if its checksum is right. A run whose
 * checkpoint is just before 2^32 steps continues beyond them.
 */
#include "records.h"
#include "sessions.h"

#include "result/store.h"

#include <sys/stat.h>

/* Write `blobs` with a right checksum and resume. */
static enum ergo_status resume_from(struct ergo_blobs *blobs, struct ergo_result **result) {
    char *path = checkpoint_path();
    const struct ergo_run_options options = contract_options(NULL);
    contract_ok(ergo_checkpoint_write(contract.ctx, NULL, path, blobs), "writing a checkpoint");
    free(path);
    ergo_error_clear(contract.ctx);
    return ergo_resume(contract.ctx, contract.folder, &options, result);
}

static void taken(struct ergo_blobs *blobs, const char *what) {
    struct ergo_result *result = NULL;
    contract_ok(resume_from(blobs, &result), what);
    ergo_result_destroy(result);
}

static void refused(struct ergo_blobs *blobs, const char *name, const char *how) {
    struct ergo_result *result = NULL;
    const enum ergo_status status = resume_from(blobs, &result);
    ergo_result_destroy(result);
    if (status != ERGO_E_IO && status != ERGO_E_JOB)
        fail_msg("%s: a checkpoint whose blob \"%s\" is %s is not refused (status %d): %s",
                 contract.sampler->name, name, how, (int)status, ergo_error_message(contract.ctx));
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
    contract_ok(records_read(contract.ctx, NULL, path, 1 << 30, &blobs), "reading a checkpoint");
    free(path);
    return blobs;
}

static void damage(void) {
    static const char *const needed[] = {"job", "head", "points", "states"};
    const cJSON *run = cJSON_GetObjectItem(contract.job, "run");
    struct ergo_blobs blobs =
        stopped_after((uint64_t)cJSON_GetObjectItem(run, "sweeps")->valueint / 2, NULL, 0);
    taken(&blobs, "the same blobs again");
    for (size_t i = 0; i < sizeof needed / sizeof needed[0]; i++) {
        const struct ergo_blob *found = ergo_blobs_find(&blobs, needed[i]);
        assert_non_null(found);
        struct ergo_blob *blob = &blobs.blobs[found - blobs.blobs];
        const size_t length = blob->length;
        blob->length = length - 1;
        refused(&blobs, needed[i], "a byte too short");
        if (strcmp(needed[i], "job") != 0 && strcmp(needed[i], "head") != 0) {
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
    static const struct {
        const char *record;
        size_t words;   /* of its head, or that of its first entry */
        uint64_t any;   /* words that the run finds itself, or that may have any value: */
        uint64_t zeros; /* or 0 */
    } numbers[] = {
        {"head", 6, 1 << 1, 1 << 5},   /* the generation, of no ranks; seconds */
        {"points", 7, 1 << 3, 1 << 2}, /* digest; steps, of the digest */
        {"states", 3, 0, 0},
    };
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        const struct ergo_blob *blob = ergo_blobs_find(&blobs, numbers[i].record);
        for (size_t word = 0; word < numbers[i].words; word += contract_brief() ? 3 : 1)
            for (int value = 0; value >= -1; value--) {
                const size_t at = 8 * word;
                uint64_t before, wrong = (uint64_t)(int64_t)value;
                char how[80];
                memcpy(&before, (char *)blob->data + at, 8);
                if (before == wrong || numbers[i].any >> word & 1 ||
                    (!value && numbers[i].zeros >> word & 1))
                    continue;
                snprintf(how, sizeof how, "%lld at byte %zu", (long long)value, at);
                memcpy((char *)blob->data + at, &wrong, 8);
                refused(&blobs, numbers[i].record, how);
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
static struct ergo_result *run_from(struct ergo_blobs *blobs, uint64_t steps) {
    struct ergo_result *result = NULL;
    contract.steps = 0;
    contract.stop_after = steps;
    const enum ergo_status status = resume_from(blobs, &result);
    assert_true((continue_in_sessions(status, 1, &result) > 1) == (steps > 0));
    return result;
}

/* All points and their states, which have measured nothing yet, say that they are at that step. */
static void put_steps(struct ergo_blobs *blobs, uint64_t step) {
    enum { STATE_STEP = 8, STATE_LENGTH = 16, STATE = 24, POINT_STEP = 32 };
    const struct ergo_blob *states = ergo_blobs_find(blobs, "states"),
                           *points = ergo_blobs_find(blobs, "points");
    char *at = states->data;
    size_t count = 0;
    for (uint64_t length = 0; at < (char *)states->data + states->length; at += STATE + length) {
        memcpy(&length, at + STATE_LENGTH, sizeof length);
        memcpy(at + STATE_STEP, &step, sizeof step);
        count++;
    }
    assert_true(count && points->length % count == 0);
    for (size_t k = 0; k < count; k++)
        memcpy((char *)points->data + k * (points->length / count) + POINT_STEP, &step,
               sizeof step);
}

/* A checkpoint that says it is 50 steps before 2^32; the one sample and the end come after it. */
static void far(void) {
    static const char *const sets[] = {"/run/equilibration=0", "/run/sweeps=4294967496",
                                       "/run/measure_every=4294967396"};
    const uint64_t step = (UINT64_C(1) << 32) - 50;
    contract.block_steps = 1;
    contract_unlook();
    struct ergo_blobs blobs = stopped_after(4, sets, 3);
    contract.block_steps = 7;
    at_home = contract_part();
    put_steps(&blobs, step);
    struct ergo_result *whole = run_from(&blobs, 0), *parts = run_from(&blobs, 30);
    assert_true(whole->members[0].steps == (UINT64_C(1) << 32) + 200);
    assert_int_equal(whole->members[0].n_samples, 1);
    contract_same("across 2^32 steps in sessions", whole, parts);
    at_home = false;
    ergo_result_destroy(whole);
    ergo_result_destroy(parts);
    ergo_blobs_free(&blobs);
}

static void test_far(void **state) {
    (void)state;
    contract_each(far);
}

/* A folder from a stranger: of the files that its job names, what the checkpoint holds is all that
 * is read; here they are pipes, which would be waited for. */
static void test_strangers(void **state) {
    static const char text[] =
        "{ \"sampler\": \"spin-lattice\", \"seed\": \"5\", \"run\": { \"sweeps\": 4 }, \"system\": "
        "{ "
        "\"model\": \"ising\", \"size\": [4, 4], \"temperature\": 2, \"field_file\": \"%s\" } }";
    const struct ergo_run_options options = contract_options(NULL);
    struct ergo_result *result = NULL;
    struct ergo_job *job = NULL;
    struct ergo_blobs blobs;
    char *checkpoint = checkpoint_path();
    char fields[96], json[512];
    (void)state;
    snprintf(fields, sizeof fields, "%s-fields", contract.folder);
    snprintf(json, sizeof json, text, fields);
    contract_ok(ergo_file_write(contract.ctx, NULL, fields, "1 2 3 4 1 2 3 4 1 2 3 4 1 2 3 4", 31),
                "writing fields");
    contract_ok(ergo_job_parse(contract.ctx, json, strlen(json), "strangers", NULL, 0, &job), json);
    contract_ok(ergo_run(contract.ctx, job, &options, &result), "a run with fields");
    ergo_result_destroy(result);
    result = NULL;
    ergo_job_destroy(job);
    assert_int_equal(unlink(fields), 0);
    assert_int_equal(mkfifo(fields, 0600), 0);
    alarm(60);
    contract_ok(ergo_result_load(contract.ctx, contract.folder, &result), "without its file");
    ergo_result_destroy(result);
    contract_ok(records_read(contract.ctx, NULL, checkpoint, 1 << 30, &blobs), "the checkpoint");
    taken(&blobs, "resumed without its file");
    struct ergo_blob *kept = &blobs.blobs[ergo_blobs_find(&blobs, "files") - blobs.blobs];
    const size_t length = kept->length;
    assert_true(length > 31);
    kept->length = length - 1;
    refused(&blobs, "files", "a byte too short");
    kept->length = length;
    *(uint64_t *)kept->data += UINT64_C(1) << 40;
    refused(&blobs, "files", "with too long a name");
    *(uint64_t *)kept->data -= UINT64_C(1) << 40;
    const struct ergo_blob without = *kept;
    *kept = blobs.blobs[--blobs.count];
    refused(&blobs, "files", "not there");
    assert_non_null(strstr(ergo_error_message(contract.ctx), "does not hold the file"));
    free(without.data);
    alarm(0);
    ergo_blobs_free(&blobs);
    free(checkpoint);
    assert_int_equal(unlink(fields), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_damage),
        cmocka_unit_test(test_strangers),
        cmocka_unit_test(test_far),
    };
    return cmocka_run_group_tests(tests, sessions_set_up, sessions_tear_down);
}
