/* Tuning profiles as files: shipped ones, what was written is read, everything doubtful is refused.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "device/program.h"
#include "base/file.h"
#include "run/tuning.h"
#include "samplers/sampler.h"

#include "context.h"

extern const struct ergo_embedded ergo_tuning_files[];
extern const size_t ergo_tuning_file_count;

static enum ergo_status parse(const char *text, struct ergo_tuning_list *list) {
    *list = (struct ergo_tuning_list){0};
    ergo_error_clear(ctx);
    return ergo_tuning_parse(ctx, "profiles", text, strlen(text), list);
}

static void test_shipped(void **state) {
    (void)state;
    for (size_t i = 0; i < ergo_tuning_file_count; i++) {
        struct ergo_tuning_list list;
        if (parse(ergo_tuning_files[i].text, &list) != ERGO_OK)
            fail_msg("%s", ergo_error_message(ctx));
        for (size_t k = 0; k < list.count; k++) {
            assert_true(list.entries[k].n_settings > 0);
            assert_true(list.entries[k].gain >= 1.03);
            for (size_t other = 0; other < k; other++)
                assert_false(ergo_tuning_same(&list.entries[k], &list.entries[other]));
        }
        ergo_tuning_list_free(&list);
    }
}

/* What is tried can be kept: jobs take every value, and so do profiles. */
static void test_values(void **state) {
    size_t tried = 0;
    (void)state;
    for (size_t i = 0; i < ergo_n_samplers; i++) {
        const struct ergo_sampler *sampler = ergo_samplers[i];
        const struct ergo_model *model = sampler->models[0];
        char path[100], *job = NULL;
        size_t length = 0;
        snprintf(path, sizeof path, "tests/contract/jobs/%s.json", sampler->name);
        assert_int_equal(ergo_file_read(ctx, NULL, path, 1 << 20, &job, &length), ERGO_OK);
        for (size_t t = 0; t < model->n_tunables; t++) {
            int64_t values[ERGO_TUNING_VALUES];
            const size_t n = ergo_tuning_values(&model->tunables[t], values);
            assert_true(n > 0);
            for (size_t k = 0; k < n; k++, tried++) {
                char set[80], text[400];
                const char *const sets[] = {set};
                struct ergo_job *parsed = NULL;
                struct ergo_tuning_list list;
                const long long value = values[k];
                snprintf(set, sizeof set, "/tuning/%s=%lld", model->tunables[t].name, value);
                if (ergo_job_parse(ctx, job, length, path, sets, 1, &parsed) != ERGO_OK)
                    fail_msg("%s: %s: %s", sampler->name, set, ergo_error_message(ctx));
                ergo_job_destroy(parsed);
                snprintf(text, sizeof text,
                         "{\"profiles\": [{\"type\": \"gpu\", \"sampler\": \"%s\", \"members\": 1, "
                         "\"work_per_step\": 1, \"gain\": 2, \"tuning\": {\"%s\": %lld}}]}",
                         sampler->name, model->tunables[t].name, value);
                if (parse(text, &list) != ERGO_OK)
                    fail_msg("%s", ergo_error_message(ctx));
                assert_int_equal(list.entries[0].settings[0].value, value);
                ergo_tuning_list_free(&list);
            }
        }
        free(job);
    }
    assert_true(tried > 100);
}

static const char good[] =
    "{\"profiles\": [{\"device\": \"A \\\"b\\\" <c>\", \"driver\": \"1\", \"sampler\": "
    "\"hard-disks\", "
    "\"path\": \"tile\", \"members\": 3, \"work_per_step\": 12.5, \"tuning\": {\"work_group\": 64, "
    "\"tile\": 8}, \"gain\": 1.25, \"date\": \"2026-11-21\"}]}";

static void test_round_trip(void **state) {
    struct ergo_tuning_list list, again = {0};
    (void)state;
    assert_int_equal(parse(good, &list), ERGO_OK);
    assert_int_equal(list.count, 1);
    assert_int_equal(list.entries[0].n_settings, 2);
    assert_string_equal(list.entries[0].model, "nvt"); /* the profile is older than models of it */
    char folder[] = "/tmp/ergocl-tuning-XXXXXX", inner[64], path[96];
    assert_non_null(mkdtemp(folder));
    snprintf(inner, sizeof inner, "%s/new folder", folder);
    snprintf(path, sizeof path, "%s/tuning.json", inner);
    assert_int_equal(ergo_tuning_write(ctx, path, &list), ERGO_OK);
    assert_int_equal(ergo_tuning_read(ctx, path, &again), ERGO_OK);
    assert_int_equal(unlink(path) | rmdir(inner) | rmdir(folder), 0);
    assert_int_equal(again.count, 1);
    assert_memory_equal(&again.entries[0], &list.entries[0], sizeof *list.entries);
    assert_true(ergo_tuning_same(&again.entries[0], &list.entries[0]));
    again.entries[0].members = 4;
    assert_false(ergo_tuning_same(&again.entries[0], &list.entries[0]));
    ergo_tuning_list_free(&again);
    ergo_tuning_list_free(&list);
    assert_int_equal(ergo_tuning_read(ctx, "no such file", &again), ERGO_OK);
    assert_int_equal(again.count, 0);
}

/* Two processes keep entries of their own in one file, each as fast as it can: none is lost, and
 * what a third reads meanwhile is always whole. */
static void test_two_at_once(void **state) {
    enum { EACH = 25 };
    struct ergo_tuning_list list, all = {0};
    char folder[] = "/tmp/ergocl-tuning-XXXXXX", path[96], lock[112];
    pid_t children[2];
    int code = 0;
    (void)state;
    assert_int_equal(parse(good, &list), ERGO_OK);
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/tuning.json", folder);
    snprintf(lock, sizeof lock, "%s.lock", path);
    for (int c = 0; c < 2; c++)
        if ((children[c] = fork()) == 0) {
            bool kept = true;
            for (int i = 0; i < EACH && kept; i++) {
                list.entries[0].members = 1 + 2 * i + c;
                kept = ergo_tuning_keep(ctx, path, &list.entries[0]) == ERGO_OK;
            }
            _exit(!kept);
        }
    for (int i = 0; i < 100; i++) {
        struct ergo_tuning_list some = {0};
        if (ergo_tuning_read(ctx, path, &some) != ERGO_OK)
            fail_msg("%s", ergo_error_message(ctx));
        ergo_tuning_list_free(&some);
    }
    for (int c = 0; c < 2; c++)
        assert_true(waitpid(children[c], &code, 0) == children[c] && code == 0);
    assert_int_equal(ergo_tuning_read(ctx, path, &all), ERGO_OK);
    assert_int_equal(all.count, 2 * EACH);

    /* an entry without settings takes the older one out; where there is no file it makes none */
    list.entries[0].members = 1;
    list.entries[0].n_settings = 0;
    assert_int_equal(ergo_tuning_keep(ctx, path, &list.entries[0]), ERGO_OK);
    ergo_tuning_list_free(&all);
    assert_int_equal(ergo_tuning_read(ctx, path, &all), ERGO_OK);
    assert_int_equal(all.count, 2 * EACH - 1);
    assert_int_equal(unlink(path) | unlink(lock), 0);
    assert_int_equal(ergo_tuning_keep(ctx, path, &list.entries[0]), ERGO_OK);
    assert_int_equal(rmdir(folder), 0);
    ergo_tuning_list_free(&all);
    ergo_tuning_list_free(&list);
}

/* The good text with `from` replaced by `to`. */
static void refuse(const char *from, const char *to) {
    struct ergo_tuning_list list;
    char text[2048];
    const char *at = strstr(good, from);
    assert_non_null(at);
    snprintf(text, sizeof text, "%.*s%s%s", (int)(at - good), good, to, at + strlen(from));
    if (parse(text, &list) != ERGO_E_IO)
        fail_msg("taken: %s", text);
    assert_true(*ergo_error_message(ctx));
    ergo_tuning_list_free(&list);
}

static void test_refused(void **state) {
    struct ergo_tuning_list list;
    (void)state;
    refuse("hard-disks", "hard-disk");
    refuse("\"device\": \"A \\\"b\\\" <c>\", ", "");
    refuse("\"members\": 3", "\"members\": 0");
    refuse("\"members\": 3", "\"members\": \"3\"");
    refuse("12.5", "1e999");
    refuse("12.5", "-1");
    refuse("64", "48");   /* no power of two */
    refuse("64", "2048"); /* beyond the range */
    refuse("64", "64.5");
    refuse("64", "-64");
    refuse("64", "18446744073709551617");
    refuse("work_group", "voodoo");
    refuse("{\"work_group\": 64, \"tile\": 8}", "[64]");
    refuse("1.25", "null");
    refuse("\"profiles\"", "\"profile\"");
    refuse("\"gain\"", "\"tuning\": {}, \"gain\""); /* twice */
    /* cut anywhere */
    for (size_t n = 0; n + 1 < sizeof good; n++) {
        list = (struct ergo_tuning_list){0};
        assert_int_equal(ergo_tuning_parse(ctx, "cut", good, n, &list), ERGO_E_IO);
        ergo_tuning_list_free(&list);
        ergo_error_clear(ctx);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shipped), cmocka_unit_test(test_values),
        cmocka_unit_test(test_round_trip), cmocka_unit_test(test_two_at_once),
        cmocka_unit_test(test_refused)};
    return cmocka_run_group_tests(tests, context_open, context_close);
}
