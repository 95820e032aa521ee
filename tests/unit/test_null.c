/*
 * Every pointer argument of every public function, as NULL: an error or nothing, never a crash. A
 * function of the header that has no row here fails the test.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "ergocl/ergocl.h"

static struct ergo_context *ctx;
static struct ergo_job *job;

/* Never looked into: what is NULL is asked before. */
static const void *const thing = "thing";
#define RESULT ((const struct ergo_result *)thing)
#define DEVICES ((const struct ergo_device_summary *)thing)
#define ANALYSIS ((const struct ergo_analysis *)thing)
#define COMPARISON ((const struct ergo_comparison *)thing)

/* Set to something before each call, to see them become NULL. */
static char *text;
static struct ergo_job *made;
static struct ergo_result *result;
static struct ergo_comparison *comparison;
static struct ergo_analysis *analysis;
static struct ergo_device_summary *list;
static size_t count;

static const char job_text[] = "{ \"sampler\": \"spin-lattice\", \"system\": { \"model\": "
                               "\"ising\", \"size\": [16, 16], \"temperature\": 2.5 }, "
                               "\"run\": { \"sweeps\": 10 } }";
static const char *const no_texts[] = {"/seed=\"1\"", NULL};
static const struct ergo_run_options run_options = {.directory = "/nonexistent/run"};
static const struct ergo_tune_options tune_options = {.seconds = 1};
static bool agreed;
static const char *const folders[] = {"/nonexistent/run"};
static const struct ergo_analyse_options no_reweight = {.reweight = no_texts, .n_reweight = 2};
static const struct ergo_compare_options no_device = {.devices = no_texts, .n_devices = 2};
static const struct ergo_compare_options no_devices = {.n_devices = 2};

static const struct ergo_result *const some_result = (const struct ergo_result *)&thing;
static const struct ergo_result *const results[] = {NULL, NULL};
static union {
    struct ergo_result_info info;
    struct ergo_result_name name;
    struct ergo_result_point point;
    struct ergo_result_value value;
    struct ergo_result_estimate estimate;
    struct ergo_result_curve curve;
    struct ergo_result_series series;
    struct ergo_device_summary device;
    size_t index;
} out;

/* The k-th pointer argument, or NULL in its turn. */
#define P(k, pointer) (turn == (k) ? NULL : (pointer))
#define CALL(name, ...)                                                                            \
    static enum ergo_status call_##name(int turn) {                                                \
        (void)turn;                                                                                \
        return name(__VA_ARGS__);                                                                  \
    }

CALL(ergo_job_load, P(0, ctx), P(1, "/nonexistent.json"), no_texts, turn == 3 ? 2 : 0, P(2, &made))
CALL(ergo_job_parse, P(0, ctx), P(1, job_text), sizeof job_text - 1, P(2, "job"),
     turn == 5 ? NULL : no_texts, turn >= 4 ? 2 : 0, P(3, &made))
CALL(ergo_schema_text, P(0, ctx), P(1, &text))
CALL(ergo_help_text, P(0, ctx), "job", P(1, &text))
CALL(ergo_help_search, P(0, ctx), P(1, "temperature"), P(2, &text))
CALL(ergo_new_text, P(0, ctx), NULL, P(1, &text))
CALL(ergo_device_list, P(0, ctx), false, P(1, &list), P(2, &count))
CALL(ergo_device_json, P(0, ctx), P(1, DEVICES), 1, P(2, &text))
CALL(ergo_ranks_start, P(0, ctx))
CALL(ergo_ranks_share_job, P(0, ctx), P(1, &job))
CALL(ergo_run, P(0, ctx), P(1, job), &run_options, P(2, &result))
CALL(ergo_resume, P(0, ctx), P(1, "/nonexistent"), &run_options, P(2, &result))
CALL(ergo_extend, P(0, ctx), P(1, "/nonexistent"), turn == 3 ? NULL : no_texts, turn >= 3 ? 2 : 0,
     &run_options, P(2, &result))
CALL(ergo_merge, P(0, ctx), P(1, no_texts), 2, P(2, "/nonexistent/merged"), false, P(3, &result))
CALL(ergo_validate, P(0, ctx), P(1, job))
CALL(ergo_plan_text, P(0, ctx), P(1, job), NULL, P(2, &text))
CALL(ergo_result_json, P(0, ctx), P(1, RESULT), P(2, &text))
CALL(ergo_result_table, P(0, ctx), P(1, RESULT), P(2, &text))
CALL(ergo_result_table_of, P(0, ctx), P(1, RESULT), P(2, no_texts), turn == 4 ? 2 : 0, P(3, &text))
CALL(ergo_result_write_page, P(0, ctx), P(1, RESULT), P(2, "/nonexistent"))
CALL(ergo_result_load, P(0, ctx), P(1, "/nonexistent"), P(2, &result))
CALL(ergo_result_csv, P(0, ctx), P(1, turn == 4 ? results : &some_result),
     turn == 4 ? NULL : no_texts, turn >= 3 ? 2 : 1, P(2, &text))
CALL(ergo_result_get_info, P(0, ctx), P(1, RESULT), P(2, &out.info))
CALL(ergo_result_get_name, P(0, ctx), P(1, RESULT), ERGO_RESULT_CURVES, 0, P(2, &out.name))
CALL(ergo_result_find, P(0, ctx), P(1, RESULT), ERGO_RESULT_CURVES, P(2, "gr"), P(3, &out.index))
CALL(ergo_result_get_point, P(0, ctx), P(1, RESULT), ERGO_RESULT_POINTS, 0, P(2, &out.point))
CALL(ergo_result_get_value, P(0, ctx), P(1, RESULT), ERGO_RESULT_POINTS, 0, P(2, "/seed"),
     P(3, &out.value))
CALL(ergo_result_get_estimate, P(0, ctx), P(1, RESULT), ERGO_RESULT_POINTS, 0, 0,
     P(2, &out.estimate))
CALL(ergo_result_get_curve, P(0, ctx), P(1, RESULT), 0, 0, P(2, &out.curve))
CALL(ergo_result_get_series, P(0, ctx), P(1, RESULT), 0, 0, P(2, &out.series))
CALL(ergo_result_get_device, P(0, ctx), P(1, RESULT), 0, P(2, &out.device))
CALL(ergo_report, P(0, ctx), P(1, no_texts), 2, "/nonexistent/report.html", false)
CALL(ergo_analyse, P(0, ctx), P(1, turn == 3 ? no_texts : folders), turn == 3 ? 2 : 1,
     turn == 4 ? &no_reweight : NULL, P(2, &analysis))
CALL(ergo_analysis_table, P(0, ctx), P(1, ANALYSIS), P(2, &text))
CALL(ergo_analysis_json, P(0, ctx), P(1, ANALYSIS), P(2, &text))
CALL(ergo_analysis_csv, P(0, ctx), P(1, ANALYSIS), P(2, &text))
CALL(ergo_analysis_write_page, P(0, ctx), P(1, ANALYSIS), P(2, "/nonexistent/page.html"), false)
CALL(ergo_compare, P(0, ctx), P(1, job), turn == 3 ? &no_device : &no_devices, P(2, &comparison))
CALL(ergo_compare_merge, P(0, ctx), P(1, no_texts), 2, P(2, "/nonexistent/page.html"), false,
     P(3, &agreed), P(4, &text))
CALL(ergo_comparison_table, P(0, ctx), P(1, COMPARISON), P(2, &text))
CALL(ergo_comparison_json, P(0, ctx), P(1, COMPARISON), P(2, &text))
CALL(ergo_tune, P(0, ctx), P(1, job), P(2, &tune_options), P(3, &text))
CALL(ergo_kernels_text, P(0, ctx), NULL, P(1, &text))
CALL(ergo_kernels_write, P(0, ctx), P(1, job), NULL, P(2, "/nonexistent"), P(3, &text))

/* What is said when each argument in turn is NULL, behind the function's name; "": nothing can be,
 * for it is the context. Behind them: lists with a NULL. */
static const struct {
    const char *name;
    enum ergo_status (*call)(int turn);
    const void *output; /* what becomes NULL in each turn but its own; NULL: there is none */
    int own;
    const char *said[8];
} rows[] = {
    {"ergo_job_load",
     call_ergo_job_load,
     &made,
     2,
     {"", "path is NULL", "job is NULL", "sets[1] is NULL"}},
    {"ergo_job_parse",
     call_ergo_job_parse,
     &made,
     3,
     {"", "text is NULL", "name is NULL", "job is NULL", "sets[1] is NULL", "sets is NULL"}},
    {"ergo_schema_text", call_ergo_schema_text, &text, 1, {"", "text is NULL"}},
    {"ergo_help_text", call_ergo_help_text, &text, 1, {"", "text is NULL"}},
    {"ergo_help_search", call_ergo_help_search, &text, 2, {"", "words is NULL", "text is NULL"}},
    {"ergo_new_text", call_ergo_new_text, &text, 1, {"", "text is NULL"}},
    {"ergo_device_list", call_ergo_device_list, &list, 1, {"", "list is NULL", "count is NULL"}},
    {"ergo_device_json", call_ergo_device_json, &text, 2, {"", "list is NULL", "text is NULL"}},
    {"ergo_ranks_start", call_ergo_ranks_start, NULL, 0, {""}},
    {"ergo_ranks_share_job", call_ergo_ranks_share_job, NULL, 0, {"", "job is NULL"}},
    {"ergo_run", call_ergo_run, &result, 2, {"", "job is NULL", "result is NULL"}},
    {"ergo_resume", call_ergo_resume, &result, 2, {"", "directory is NULL", "result is NULL"}},
    {"ergo_extend",
     call_ergo_extend,
     &result,
     2,
     {"", "directory is NULL", "result is NULL", "sets is NULL", "sets[1] is NULL"}},
    {"ergo_merge",
     call_ergo_merge,
     &result,
     3,
     {"", "directories is NULL", "directory is NULL", "result is NULL", "directories[1] is NULL"}},
    {"ergo_validate", call_ergo_validate, NULL, 0, {"", "job is NULL"}},
    {"ergo_plan_text", call_ergo_plan_text, &text, 2, {"", "job is NULL", "text is NULL"}},
    {"ergo_result_json", call_ergo_result_json, &text, 2, {"", "result is NULL", "text is NULL"}},
    {"ergo_result_table", call_ergo_result_table, &text, 2, {"", "result is NULL", "text is NULL"}},
    {"ergo_result_table_of",
     call_ergo_result_table_of,
     &text,
     3,
     {"", "result is NULL", "names is NULL", "text is NULL", "names[1] is NULL"}},
    {"ergo_result_write_page",
     call_ergo_result_write_page,
     NULL,
     0,
     {"", "result is NULL", "directory is NULL"}},
    {"ergo_result_load",
     call_ergo_result_load,
     &result,
     2,
     {"", "directory is NULL", "result is NULL"}},
    {"ergo_result_csv",
     call_ergo_result_csv,
     &text,
     2,
     {"", "results is NULL", "text is NULL", "names[1] is NULL", "results[0] is NULL"}},
    {"ergo_result_get_info",
     call_ergo_result_get_info,
     NULL,
     0,
     {"", "result is NULL", "info is NULL"}},
    {"ergo_result_get_name",
     call_ergo_result_get_name,
     NULL,
     0,
     {"", "result is NULL", "name is NULL"}},
    {"ergo_result_find",
     call_ergo_result_find,
     NULL,
     0,
     {"", "result is NULL", "name is NULL", "index is NULL"}},
    {"ergo_result_get_point",
     call_ergo_result_get_point,
     NULL,
     0,
     {"", "result is NULL", "point is NULL"}},
    {"ergo_result_get_value",
     call_ergo_result_get_value,
     NULL,
     0,
     {"", "result is NULL", "pointer is NULL", "value is NULL"}},
    {"ergo_result_get_estimate",
     call_ergo_result_get_estimate,
     NULL,
     0,
     {"", "result is NULL", "estimate is NULL"}},
    {"ergo_result_get_curve",
     call_ergo_result_get_curve,
     NULL,
     0,
     {"", "result is NULL", "values is NULL"}},
    {"ergo_result_get_series",
     call_ergo_result_get_series,
     NULL,
     0,
     {"", "result is NULL", "series is NULL"}},
    {"ergo_result_get_device",
     call_ergo_result_get_device,
     NULL,
     0,
     {"", "result is NULL", "device is NULL"}},
    {"ergo_report",
     call_ergo_report,
     NULL,
     0,
     {"", "directories is NULL", "directories[1] is NULL"}},
    {"ergo_analyse",
     call_ergo_analyse,
     &analysis,
     2,
     {"", "directories is NULL", "analysis is NULL", "directories[1] is NULL",
      "options->reweight[1] is NULL"}},
    {"ergo_analysis_table",
     call_ergo_analysis_table,
     &text,
     2,
     {"", "analysis is NULL", "text is NULL"}},
    {"ergo_analysis_json",
     call_ergo_analysis_json,
     &text,
     2,
     {"", "analysis is NULL", "text is NULL"}},
    {"ergo_analysis_csv",
     call_ergo_analysis_csv,
     &text,
     2,
     {"", "analysis is NULL", "text is NULL"}},
    {"ergo_analysis_write_page",
     call_ergo_analysis_write_page,
     NULL,
     0,
     {"", "analysis is NULL", "path is NULL"}},
    {"ergo_compare",
     call_ergo_compare,
     &comparison,
     2,
     {"", "job is NULL", "comparison is NULL", "options->devices[1] is NULL",
      "options->devices is NULL"}},
    {"ergo_compare_merge",
     call_ergo_compare_merge,
     &text,
     4,
     {"", "files is NULL", "page is NULL", "agree is NULL", "table is NULL", "files[1] is NULL"}},
    {"ergo_comparison_table",
     call_ergo_comparison_table,
     &text,
     2,
     {"", "comparison is NULL", "text is NULL"}},
    {"ergo_comparison_json",
     call_ergo_comparison_json,
     &text,
     2,
     {"", "comparison is NULL", "text is NULL"}},
    {"ergo_tune", call_ergo_tune, &text, 3, {"", "job is NULL", "options is NULL", "text is NULL"}},
    {"ergo_kernels_text", call_ergo_kernels_text, &text, 1, {"", "text is NULL"}},
    {"ergo_kernels_write",
     call_ergo_kernels_write,
     &text,
     3,
     {"", "job is NULL", "directory is NULL", "text is NULL"}},
};
enum { N_ROWS = sizeof rows / sizeof rows[0] };

static void null_is_refused(void **state) {
    static char something;
    (void)state;
    for (size_t r = 0; r < N_ROWS; r++)
        for (int turn = 0; turn < 8 && rows[r].said[turn]; turn++) {
            char said[128] = "";
            text = &something;
            made = (struct ergo_job *)(void *)&something;
            result = (struct ergo_result *)(void *)&something;
            comparison = (struct ergo_comparison *)(void *)&something;
            analysis = (struct ergo_analysis *)(void *)&something;
            list = (struct ergo_device_summary *)(void *)&something;
            count = 1;
            ergo_error_clear(ctx);
            const enum ergo_status status = rows[r].call(turn);
            if (*rows[r].said[turn])
                snprintf(said, sizeof said, "%s: %s", rows[r].name, rows[r].said[turn]);
            if (status != ERGO_E_JOB || strcmp(ergo_error_message(ctx), said) != 0)
                fail_msg("%s, argument %d: status %d, \"%s\" instead of \"%s\"", rows[r].name, turn,
                         (int)status, ergo_error_message(ctx), said);
            const void *left = NULL;
            if (rows[r].output)
                memcpy(&left, rows[r].output, sizeof left);
            if (left && turn != rows[r].own)
                fail_msg("%s, argument %d: its output was left as it was", rows[r].name, turn);
        }
}

/* Functions that return no status. */
static void null_is_nothing(void **state) {
    (void)state;
    ergo_context_destroy(NULL);
    ergo_context_set_log(NULL, ERGO_LOG_DEBUG, NULL, NULL);
    ergo_context_set_log(ctx, ERGO_LOG_WARNING, NULL, NULL);
    assert_string_equal(ergo_error_message(NULL), "");
    ergo_error_clear(NULL);
    assert_int_equal(ergo_message_show(NULL, 0, NULL), 0);
    ergo_job_destroy(NULL);
    assert_string_equal(ergo_job_name(NULL), "");
    assert_string_equal(ergo_job_sampler(NULL), "");
    assert_int_equal(ergo_job_count_points(NULL), 0);
    ergo_result_destroy(NULL);
    assert_int_equal(ergo_result_count(NULL, ERGO_RESULT_POINTS), 0);
    assert_string_equal(ergo_result_warning(NULL, 0), "");
    ergo_stop_request(NULL);
    assert_false(ergo_stop_is_requested(NULL));
    ergo_stop_destroy(NULL);
    ergo_comparison_destroy(NULL);
    ergo_analysis_destroy(NULL);
    assert_false(ergo_comparison_agrees(NULL));
}

/* What may be NULL, where no device is needed. */
static void null_is_allowed(void **state) {
    (void)state;
    assert_int_equal(ergo_help_text(ctx, NULL, &text), ERGO_OK);
    free(text);
    assert_int_equal(ergo_kernels_text(ctx, NULL, &text), ERGO_OK);
    free(text);
    assert_int_equal(ergo_job_parse(ctx, job_text, sizeof job_text - 1, "j", NULL, 0, &made),
                     ERGO_OK);
    ergo_job_destroy(made);
    assert_int_equal(ergo_job_load(ctx, "/nonexistent.json", NULL, 0, &made), ERGO_E_IO);
    assert_int_equal(ergo_report(ctx, no_texts, 1, NULL, false), ERGO_E_IO);
    ergo_error_clear(ctx);
}

/* The functions of the header with pointer arguments are in a row above, or named here. */
static void the_table_is_whole(void **state) {
    static const char *const others[] = {
        "ergo_context_create",     "ergo_context_destroy",   "ergo_context_set_log",
        "ergo_error_message",      "ergo_message_show",      "ergo_error_clear",
        "ergo_job_destroy",        "ergo_job_name",          "ergo_job_sampler",
        "ergo_job_count_points",   "ergo_result_destroy",    "ergo_comparison_destroy",
        "ergo_comparison_agrees",  "ergo_status_exit_code",  "ergo_ranks_rank",
        "ergo_ranks_finish",       "ergo_ranks_speak",       "ergo_run_request_stop",
        "ergo_run_has_checkpoint", "ergo_run_withdraw_stop", "ergo_ranks_library",
        "ergo_analysis_destroy",   "ergo_stop_create",       "ergo_ranks_first",
        "ergo_stop_destroy",       "ergo_stop_request",      "ergo_stop_is_requested",
        "ergo_result_count",       "ergo_result_warning",
    };
    FILE *header = fopen("include/ergocl/ergocl.h", "r");
    char line[512];
    size_t found = 0;
    (void)state;
    assert_non_null(header);
    while (fgets(line, sizeof line, header))
        for (char *at = line; (at = strstr(at, "ergo_")) != NULL;) {
            const size_t length = strspn(at, "abcdefghijklmnopqrstuvwxyz0123456789_");
            char name[64];
            snprintf(name, sizeof name, "%.*s", (int)length, at);
            at += length;
            if (*at != '(')
                continue;
            bool known = false;
            for (size_t r = 0; r < N_ROWS; r++)
                known = known || strcmp(rows[r].name, name) == 0;
            for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
                known = known || strcmp(others[i], name) == 0;
            if (!known)
                fail_msg("%s has no row", name);
            found++;
        }
    fclose(header);
    assert_int_equal(found, N_ROWS + sizeof others / sizeof others[0]);
}

static int set_up(void **state) {
    (void)state;
    ctx = ergo_context_create();
    return ctx && ergo_job_parse(ctx, job_text, sizeof job_text - 1, "job", NULL, 0, &job) ==
                       ERGO_OK
               ? 0
               : -1;
}

static int tear_down(void **state) {
    (void)state;
    ergo_job_destroy(job);
    ergo_context_destroy(ctx);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(null_is_refused),
        cmocka_unit_test(null_is_nothing),
        cmocka_unit_test(null_is_allowed),
        cmocka_unit_test(the_table_is_whole),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
