/*
 * The chains of the contract jobs, as they have always been: data/reference/digests.json. On every
 * implementation the same; under Oclgrind ($ERGOCL_TEST_SMALL) the tiny jobs. TEST_SHARE=2/3 does
 * the second third of them: three processes compile three kernels at once. TEST_GOLDEN="-tiny
 * +potts" does those whose names have one of the words.
 *
 *     build/tests/contract/test_golden --write
 *
 * writes the file anew, with TEST_GOLDEN only those jobs' lines. Of swendsen-wang, whose kernels
 * measure what no oracle of the tests does, also a digest of the samples and curves of each job.
 * That is for a new job, or for a change that breaks chains on purpose and says so in CHANGELOG.md;
 * nothing calls it.
 */
#define CONTRACT_SERIES
#include "contract.h"

static const char file[] = "data/reference/digests.json";

static uint64_t add_numbers(uint64_t digest, const double *numbers, size_t count) {
    const uint64_t both[2] = {digest, ergo_hash64(numbers, count * sizeof *numbers)};
    return count ? ergo_hash64(both, sizeof both) : digest;
}

static cJSON *text_of(uint64_t digest) {
    char text[20];
    snprintf(text, sizeof text, "%016llx", (unsigned long long)digest);
    return cJSON_CreateString(text);
}

/* Of all samples and the means of all curves. */
static cJSON *samples_of(const struct ergo_result *result) {
    const struct ergo_model *model = result->job->model;
    uint64_t digest = 0;
    for (size_t i = 0; i < result->n_members; i++) {
        const struct ergo_member_result *m = &result->members[i];
        for (size_t k = 0; k < model->n_columns; k++)
            digest = add_numbers(digest, m->series[k], m->series[k] ? m->n_samples : 0);
        for (size_t k = 0; k < model->n_curves; k++)
            digest = add_numbers(digest, m->curves[k].mean, m->curves[k].size);
    }
    return text_of(digest);
}

/* The digests of a job file as it is run now: an array of strings, in the order of its points; and
 * of the samples, or NULL. */
static cJSON *digests_of(const char *path, cJSON **samples) {
    cJSON *job = contract_read(path), *list = cJSON_CreateArray();
    if (!job)
        fail_msg("%s cannot be read", path);
    struct ergo_result *result = contract_run(job, NULL, NULL);
    for (size_t i = 0; i < result->n_members; i++)
        cJSON_AddItemToArray(list, text_of(result->members[i].digest));
    const char *sampler = cJSON_GetStringValue(cJSON_GetObjectItem(job, "sampler"));
    *samples = sampler && strcmp(sampler, "swendsen-wang") == 0 ? samples_of(result) : NULL;
    ergo_result_destroy(result);
    cJSON_Delete(job);
    return list;
}

/* Whether a job's name has one of the words of $TEST_GOLDEN, if that is set. */
static bool chosen(const char *path) {
    const char *words = getenv("TEST_GOLDEN");
    char list[256];
    snprintf(list, sizeof list, "%s", words ? words : "");
    bool any = !words;
    for (char *rest = list, *word = strsep(&rest, " "); word; word = strsep(&rest, " "))
        any = any || (*word && strstr(path, word));
    return any;
}

/* 0; or 1 where they do, and both are said with the command that does this job alone. */
static size_t differs(const char *path, const char *what, const cJSON *expected,
                      const cJSON *found) {
    if (cJSON_Compare(expected, found, true))
        return 0;
    char *was = cJSON_PrintUnformatted(expected), *is = cJSON_PrintUnformatted(found);
    print_error("%s ends in other %s than it used to: %s, and now %s\n"
                "alone: TEST_GOLDEN=%s build/tests/contract/test_golden\n",
                path, what, was, is, path + strlen(CONTRACT_JOBS));
    free(was);
    free(is);
    return 1;
}

static void test_golden(void **state) {
    (void)state;
    glob_t jobs = {0};
    size_t compared = 0, differ = 0;
    unsigned share = 1, shares = 1;
    const char *text = getenv("TEST_SHARE");
    if (text && (sscanf(text, "%u/%u", &share, &shares) != 2 || share < 1 || share > shares))
        fail_msg("TEST_SHARE is \"%s\", not like 2/3", text);
    cJSON *golden = contract_read(file);
    assert_non_null(golden);
    const cJSON *known = cJSON_GetObjectItem(golden, "digests"),
                *samples = cJSON_GetObjectItem(golden, "samples");
    assert_int_equal(glob(CONTRACT_JOBS "*.json", 0, NULL, &jobs), 0);
    for (size_t i = 0; i < jobs.gl_pathc; i++) {
        const char *path = jobs.gl_pathv[i];
        const cJSON *expected = cJSON_GetObjectItemCaseSensitive(known, path);
        if (!expected)
            fail_msg("%s has no digests in %s: see tests/README.md", path, file);
        if ((getenv("ERGOCL_TEST_SMALL") && !strstr(path, "-tiny.json")) || !contract_about(path) ||
            !chosen(path) || i % shares != share - 1)
            continue;
        print_message("%s\n", path); /* where it was, if it is killed */
        cJSON *measured = NULL, *found = digests_of(path, &measured);
        differ += differs(path, "states", expected, found);
        if (measured)
            differ +=
                differs(path, "samples", cJSON_GetObjectItemCaseSensitive(samples, path), measured);
        cJSON_Delete(measured);
        compared += (size_t)cJSON_GetArraySize(found);
        cJSON_Delete(found);
    }
    print_message("%zu digests\n", compared);
    if (differ)
        fail_msg("%zu of the digests above are not those of %s", differ, file);
    assert_true(compared > 0 || shares > 1);
    globfree(&jobs);
    cJSON_Delete(golden);
}

/* A job per line: what a change breaks is then seen at once. */
static void test_write(void **state) {
    (void)state;
    glob_t jobs = {0};
    struct ergo_text text = {0};
    cJSON *golden = contract_read(file);
    const cJSON *known = cJSON_GetObjectItem(golden, "digests"),
                *had = cJSON_GetObjectItem(golden, "samples");
    struct ergo_text others = {0}; /* of samples */
    assert_int_equal(glob(CONTRACT_JOBS "*.json", 0, NULL, &jobs), 0);
    ergo_text_append(&text,
                     "{\n  \"description\": \"Digests of the contract jobs, point by point.\",\n"
                     "  \"made_by\": \"build/tests/contract/test_golden --write\",\n"
                     "  \"ergocl\": \"%s\",\n",
                     ERGO_VERSION);
    for (size_t i = 0; i < jobs.gl_pathc; i++) {
        const cJSON *old = cJSON_GetObjectItemCaseSensitive(known, jobs.gl_pathv[i]);
        const bool kept = old && !chosen(jobs.gl_pathv[i]);
        cJSON *samples =
                  cJSON_Duplicate(cJSON_GetObjectItemCaseSensitive(had, jobs.gl_pathv[i]), true),
              *found = kept ? cJSON_Duplicate(old, true) : NULL;
        if (!kept) {
            cJSON_Delete(samples);
            found = digests_of(jobs.gl_pathv[i], &samples);
        }
        if (samples)
            ergo_text_append(&others, "%s    \"%s\": \"%s\"",
                             others.length ? ",\n" : "\n  },\n  \"samples\": {\n", jobs.gl_pathv[i],
                             samples->valuestring);
        cJSON_Delete(samples);
        char *list = cJSON_Print(found);
        ergo_text_append(&text, "%s    \"%s\": %s", i ? ",\n" : "  \"digests\": {\n",
                         jobs.gl_pathv[i], list);
        free(list);
        cJSON_Delete(found);
    }
    ergo_text_append(&text, "%s\n  }\n}\n", others.length ? others.data : "");
    ergo_text_free(&others);
    contract_ok(ergo_file_write(contract.ctx, NULL, file, text.data, text.length), file);
    ergo_text_free(&text);
    globfree(&jobs);
    cJSON_Delete(golden);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_golden)};
    const struct CMUnitTest write[] = {cmocka_unit_test(test_write)};
    if (argc == 2 && strcmp(argv[1], "--write") == 0)
        return cmocka_run_group_tests(write, contract_set_up, contract_tear_down);
    return cmocka_run_group_tests(tests, contract_set_up, contract_tear_down);
}
