/*
 * A run is never finished: lengthened, with more replicas, with more points, after a stop or not,
 * twice; or made in parts that are united. States, samples, curves and estimates are those of a run
 * that asked for all of it at once. What would make another run of it is refused with the key, and
 * nothing is touched.
 */
#include "contract.h"
#include "records.h"

static uint64_t sweeps_of(const cJSON *job) {
    const cJSON *run = cJSON_GetObjectItem(job, "run");
    return (uint64_t)cJSON_GetObjectItem(run, "sweeps")->valuedouble;
}

static const char *length(uint64_t sweeps) {
    static char set[4][64];
    static unsigned next;
    char *to = set[next++ % 4];
    snprintf(to, sizeof set[0], "/run/sweeps=%llu", (unsigned long long)sweeps);
    return to;
}

/* The job's scan, of its first or second value alone, or both in another order. */
static const char *scan(const char *of) {
    static char set[3][512];
    static unsigned next;
    char *to = set[next++ % 3];
    const cJSON *axis = contract_scan(contract.job);
    char *a = cJSON_PrintUnformatted(cJSON_GetArrayItem(axis, 0));
    char *b = cJSON_PrintUnformatted(cJSON_GetArrayItem(axis, 1));
    int n = snprintf(to, sizeof set[0], "/scan={\"%s\":[", axis->string);
    for (; *of; of++)
        n += snprintf(to + n, sizeof set[0] - (size_t)n, "%s%s", *of == 'a' ? a : b,
                      of[1] ? "," : "");
    snprintf(to + n, sizeof set[0] - (size_t)n, "]}");
    free(a);
    free(b);
    return to;
}

/* Pictures at the end alone, and no files with the numbers of points in their names. */
static void plain_output(void) {
    cJSON *output = cJSON_CreateObject();
    cJSON_AddNumberToObject(output, "snapshots", 1);
    cJSON_DeleteItemFromObject(contract.job, "output");
    cJSON_AddItemToObject(contract.job, "output", output);
}

static enum ergo_status extend(const char *const *sets, size_t n, struct ergo_result **result) {
    const struct ergo_run_options options = contract_options(NULL);
    ergo_error_clear(contract.ctx);
    contract.steps = 0;
    *result = NULL;
    return ergo_extend(contract.ctx, contract.folder, sets, n, &options, result);
}

static void extend_by(const char *a, const char *b, const char *c) {
    const char *sets[] = {a, b, c};
    struct ergo_result *result = NULL;
    contract_ok(extend(sets, (size_t)(a != NULL) + (b != NULL) + (c != NULL), &result), a);
    ergo_result_destroy(result);
}

static void run(const char *a, const char *b, const char *c) {
    const char *sets[] = {a, b, c};
    struct ergo_result *result = NULL;
    contract_ok(
        contract_try(contract.job, sets, (size_t)(a != NULL) + (b != NULL) + (c != NULL), &result),
        a);
    ergo_result_destroy(result);
}

/* The run in the folder, as a resume reports it: without a step. */
static void same_as(const char *what, const struct ergo_result *whole) {
    const struct ergo_run_options options = contract_options(NULL);
    struct ergo_result *result = NULL;
    contract.steps = 0;
    contract_ok(ergo_resume(contract.ctx, contract.folder, &options, &result), what);
    assert_int_equal(contract.steps, 0);
    assert_string_equal(result->status, "complete");
    contract_same(what, whole, result);
    ergo_result_destroy(result);
}

/* One bit of a record of a checkpoint; at: from its begin, or below 0 from its end. */
static void forge(const char *folder, const char *file, const char *record, long at) {
    struct ergo_folder in;
    struct ergo_blobs blobs = {0};
    contract_ok(ergo_folder_open(contract.ctx, folder, &in), folder);
    contract_ok(records_read(contract.ctx, &in, file, 1 << 28, &blobs), folder);
    const struct ergo_blob *blob = ergo_blobs_find(&blobs, record);
    assert_non_null(blob);
    ((char *)blob->data)[at < 0 ? (long)blob->length + at : at] ^= 1;
    contract_ok(ergo_checkpoint_write(contract.ctx, &in, file, &blobs), folder);
    ergo_blobs_free(&blobs);
    ergo_folder_close(&in);
}

/* ---- longer ---------------------------------------------------------------------------------- */

static void longer(void) {
    static const char *const kept[] = {NULL, "/output/series=none"};
    const uint64_t sweeps = sweeps_of(contract.job);
    plain_output();
    for (size_t k = 0; k < 2; k++) {
        struct ergo_result *whole = contract_run(contract.job, kept[k], NULL);
        const uint64_t total = whole->members[0].steps;
        run(length(sweeps / 3 + 1), kept[k], NULL);
        extend_by(length(2 * sweeps / 3), NULL, NULL);
        extend_by(length(sweeps), NULL, NULL);
        /* no step is made twice */
        assert_int_equal(contract.steps, sweeps - 2 * sweeps / 3);
        same_as("extended twice", whole);

        /* stopped, extended, stopped, resumed */
        const char *sets[] = {length(sweeps / 2), kept[k]};
        struct ergo_result *result = NULL;
        contract.block_samples = 1;
        contract.block_steps = 1;
        contract.stop_after = (total - sweeps) + sweeps / 4;
        assert_int_equal(contract_try(contract.job, sets, 1 + (kept[k] != NULL), &result),
                         ERGO_STOPPED);
        ergo_result_destroy(result);
        ergo_run_withdraw_stop();
        contract.stop_after = sweeps / 2;
        const char *const all[] = {length(sweeps)};
        assert_int_equal(extend(all, 1, &result), ERGO_STOPPED);
        ergo_result_destroy(result);
        ergo_run_withdraw_stop();
        contract.stop_after = 0;
        contract.block_samples = 0;
        contract.block_steps = 0;
        extend_by(NULL, NULL, NULL); /* a resume */
        same_as("stopped, and extended", whole);
        ergo_result_destroy(whole);
    }
}

static void test_longer(void **state) {
    (void)state;
    contract_each_model(longer);
}

/* ---- more ------------------------------------------------------------------------------------ */

static void more(void) {
    const uint64_t sweeps = sweeps_of(contract.job);
    plain_output();
    struct ergo_result *whole = contract_run(contract.job, NULL, NULL);
    run("/replicas=1", scan("b"), NULL);
    extend_by("/replicas=2", NULL, NULL);
    extend_by(scan("ab"), NULL, NULL);
    same_as("more replicas, then more points", whole);
    extend_by("/output/blocks=5", NULL, NULL); /* says how, not what */
    assert_int_equal(contract.steps, 0);
    same_as("written in another way", whole);

    run(length(sweeps / 2), scan("a"), NULL);
    extend_by(length(sweeps), scan("ab"), NULL);
    same_as("longer, with more points", whole);
    ergo_result_destroy(whole);
}

static void test_more(void **state) {
    (void)state;
    contract_each_model(more);
}

/* ---- parts ----------------------------------------------------------------------------------- */

enum { PARTS = 3 };

/* stops: on the way, and whether it is resumed then. */
static void part_of(unsigned k, const char *folder, bool stops, bool resumed) {
    struct ergo_run_options options = contract_options(NULL);
    struct ergo_result *result = NULL;
    struct ergo_job *job = NULL;
    options.directory = folder;
    options.part = k;
    options.n_parts = PARTS;
    contract_ok(contract_parse(contract.job, NULL, 0, &job), "a part");
    contract.steps = 0;
    contract.stop_after = stops ? 2 * sweeps_of(contract.job) / 3 : 0;
    contract.block_samples = stops;
    contract.block_steps = stops;
    enum ergo_status status = ergo_run(contract.ctx, job, &options, &result);
    ergo_job_destroy(job);
    if (stops) {
        assert_int_equal(status, ERGO_STOPPED);
        ergo_result_destroy(result);
        ergo_run_withdraw_stop();
        contract.stop_after = 0;
        contract.block_samples = 0;
        contract.block_steps = 0;
        if (!resumed)
            return;
        status = ergo_resume(contract.ctx, folder, &options, &result);
    }
    contract_ok(status, "a part");
    assert_string_equal(result->status, "complete");
    size_t done = 0;
    for (size_t i = 0; i < result->n_members; i++)
        done += result->members[i].steps > 0;
    assert_true(done > 0 && done < result->n_members);
    ergo_result_destroy(result);
}

static void refuses(const char *const *list, size_t n, enum ergo_status status, const char *says) {
    struct ergo_result *result = NULL;
    ergo_error_clear(contract.ctx);
    assert_int_equal(ergo_merge(contract.ctx, list, n, contract.folder, true, &result), status);
    assert_null(result);
    if (!strstr(ergo_error_message(contract.ctx), says))
        fail_msg("%s: %s", contract.sampler->name, ergo_error_message(contract.ctx));
    ergo_error_clear(contract.ctx);
}

static void parts(void) {
    struct ergo_result *whole = contract_run(contract.job, NULL, NULL), *result = NULL;
    char folders[PARTS][80];
    const char *list[PARTS];
    for (unsigned k = 0; k < PARTS; k++) {
        snprintf(folders[k], sizeof folders[k], "%s/part%u", contract.folder, k);
        list[k] = folders[k];
        nftw(folders[k], contract_remove, 8, FTW_DEPTH | FTW_PHYS); /* of another model */
        part_of(k + 1, folders[k], k == 1, true);
    }
    refuses(list, PARTS - 1, ERGO_E_JOB, "part 3/3 is missing");
    const char *const whole_too[] = {contract.folder, list[0]};
    char united[80];
    snprintf(united, sizeof united, "%s/united", contract.folder);
    contract_ok(ergo_merge(contract.ctx, whole_too, 2, united, true, &result), "a point twice");
    contract_same("a point twice", whole, result);
    ergo_result_destroy(result);
    contract_ok(ergo_merge(contract.ctx, list, PARTS, contract.folder, true, &result), "a merge");
    contract_same("parts", whole, result);
    ergo_result_destroy(result);
    same_as("parts, as a run", whole);
    enum { DIGEST = 3 * 8 }; /* of a point: index, stream, steps, digest */
    forge(list[PARTS - 1], "checkpoint", "points", DIGEST);
    const char *const forged[] = {united, list[PARTS - 1]};
    refuses(forged, 2, ERGO_E_AUDIT, "disagree in a point that both have");
    part_of(1, list[0], true, false);
    refuses(list, PARTS, ERGO_E_JOB, "part 1/3 in ");
    ergo_result_destroy(whole);
    const uint64_t sweeps = 2 * sweeps_of(contract.job);
    extend_by(length(sweeps), "/output/snapshots=1", NULL);
    const struct ergo_run_options options = contract_options(NULL);
    contract_ok(ergo_resume(contract.ctx, contract.folder, &options, &result), "the extended");
    whole = contract_run(contract.job, length(sweeps), "/output/snapshots=1");
    contract_same("parts, extended", whole, result);
    ergo_result_destroy(result);
    ergo_result_destroy(whole);
}

static void test_parts(void **state) {
    (void)state;
    contract_each_model(parts);
}

/* ---- refused --------------------------------------------------------------------------------- */

static char *checkpoint(size_t *size) {
    char *path = ergo_path_join(contract.folder, "checkpoint"), *bytes = NULL;
    contract_ok(ergo_file_read(contract.ctx, NULL, path, 1 << 28, &bytes, size), path);
    free(path);
    return bytes;
}

static void refused(void) {
    const uint64_t sweeps = sweeps_of(contract.job);
    const struct {
        const char *set, *says;
    } cases[] = {
        {"/seed=987654321", "/seed: found 987654321, but the run has "},
        {"/replicas=1", "/replicas: found 1, but the run has 2"},
        {"/run/sweeps=5", "/run/sweeps: found 5, but the run has done "},
        {"/run/equilibration=97", "/run/equilibration: found 97, but the run has "},
        {"/run/measure_every=2", "/run/measure_every: found 2, but the run has "},
        {scan("a"), "which is not in the scan"},
        {"/run/observables=nothing", "/run/observables"},
        {"/no/such/key=1", "/no/such/key"},
        {"/output/series=full", "the run has not kept its samples"},
    };
    struct ergo_result *result = NULL;
    size_t before = 0, after = 0;
    plain_output();
    run("/output/series=none", "/run/measure_every=3", NULL);
    char *was = checkpoint(&before);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *const sets[] = {cases[i].set, length(2 * sweeps)};
        const bool shorter = strncmp(cases[i].set, "/run/sweeps", 11) == 0;
        assert_int_equal(extend(sets, shorter ? 1 : 2, &result), ERGO_E_JOB);
        const char *message = ergo_error_message(contract.ctx);
        if (!strstr(message, cases[i].says))
            fail_msg("%s, %s: %s", contract.sampler->name, cases[i].set, message);
        assert_null(result);
    }
    char *is = checkpoint(&after);
    assert_true(before == after && memcmp(was, is, after) == 0);
    assert_int_equal(contract.steps, 0);
    free(was);
    free(is);

    const char *const sets[] = {length(2 * sweeps)};
    forge(contract.folder, "checkpoint", "states", -1);
    assert_int_equal(extend(sets, 1, &result), ERGO_E_IO);
    assert_non_null(strstr(ergo_error_message(contract.ctx), "the state of a point"));

    run("/checkpoint/final_states=drop", NULL, NULL);
    assert_int_equal(extend(sets, 1, &result), ERGO_E_JOB);
    assert_non_null(strstr(ergo_error_message(contract.ctx), "were not kept"));
    extend_by("/replicas=3", NULL, NULL); /* which needs no state */
}

static void test_refused(void **state) {
    (void)state;
    contract_each(refused);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_longer),
        cmocka_unit_test(test_more),
        cmocka_unit_test(test_parts),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, contract_set_up, contract_tear_down);
}
