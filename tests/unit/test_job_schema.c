/* Schema and help from the toy's tables: what tests/cli/check_schema.py does not see, because no
 * real sampler has keys of every type. */
#include "test_job_toy.h"

#include "job/json.h"

static const struct ergo_json *at(const struct ergo_json *value, const char *const *path) {
    for (; value && *path; path++)
        value = ergo_json_member(value, *path);
    if (!value)
        fail_msg("the schema has no %s", *path ? *path : "value");
    return value;
}
#define AT(value, ...) at((value), (const char *const[]){__VA_ARGS__, NULL})

static void expect_json(const struct ergo_json *value, const char *expected) {
    char *text = ergo_json_text(value, true);
    assert_string_equal(text, expected);
    free(text);
}

static bool printed_contains(const struct ergo_json *value, const char *part) {
    char *text = ergo_json_text(value, true);
    const bool found = strstr(text, part) != NULL;
    free(text);
    return found;
}

static void test_schema(void **state) {
    (void)state;
    struct ergo_context *ctx = ergo_context_create();
    struct ergo_arena arena = {0};
    struct ergo_json *root = NULL;
    char *text = NULL;
    assert_int_equal(ergo_schema_text(ctx, &text), ERGO_OK);
    assert_int_equal(ergo_json_parse(ctx, "schema", text, strlen(text), &arena, &root), ERGO_OK);
    expect_json(AT(root, "properties", "sampler", "enum"), "[\"toy-lattice\",\"toy-gas\"]");
    expect_json(AT(root, "$schema"), "\"https://json-schema.org/draft/2020-12/schema\"");

    const struct ergo_json *branch = AT(root, "allOf")->child;
    while (branch && !ergo_json_member(branch, "if"))
        branch = branch->next;
    assert_non_null(branch);
    /* which models there are; then one that is not given; then one that is */
    static const char model_key[] = "{\"description\":\"Model.\",\"enum\":[\"alpha\",\"beta\"],"
                                    "\"default\":\"alpha\"}";
    expect_json(AT(branch, "if"), "{\"required\":[\"sampler\"],\"properties\":{\"sampler\":"
                                  "{\"const\":\"toy-lattice\"}}}");
    expect_json(AT(branch, "then", "properties", "system", "properties", "model"), model_key);
    branch = branch->next;
    expect_json(AT(branch, "if"), "{\"required\":[\"sampler\"],\"properties\":{\"sampler\":"
                                  "{\"const\":\"toy-lattice\"},\"system\":{\"properties\":{"
                                  "\"model\":{\"const\":\"alpha\"}}}}}");
    const struct ergo_json *beta = branch->next;
    expect_json(AT(beta, "if", "properties", "system", "properties", "model"),
                "{\"const\":\"beta\"}");
    expect_json(AT(beta, "if", "allOf"), "[{\"required\":[\"system\"],\"properties\":{\"system\":{"
                                         "\"required\":[\"model\"]}}}]");
    AT(beta, "then", "properties", "system", "properties", "depth");
    assert_null(
        ergo_json_member(AT(branch, "then", "properties", "system", "properties"), "depth"));
    const struct ergo_json *then = AT(branch, "then"), *keys = AT(then, "properties");
    const struct ergo_json *system = AT(keys, "system", "properties");
    expect_json(AT(then, "additionalProperties"), "false");
    expect_json(AT(keys, "system", "additionalProperties"), "false");
    expect_json(AT(system, "temperature"),
                "{\"description\":\"Temperature. Unit: J/k_B.\",\"type\":\"number\","
                "\"exclusiveMinimum\":0,\"maximum\":1.7976931348623157e+308}");
    expect_json(AT(system, "model"), model_key);
    expect_json(AT(system, "fast"),
                "{\"description\":\"Switch.\",\"type\":\"boolean\",\"default\":false}");
    expect_json(AT(system, "size", "minItems"), "1");
    expect_json(AT(system, "size", "maxItems"), "3");
    expect_json(AT(system, "moves", "properties", "displacement", "default"), "0.5");
    expect_json(AT(keys, "tuning", "properties", "block", "anyOf")->child, "{\"const\":0}");
    const struct ergo_json *scan = AT(AT(then, "allOf")->child, "properties", "scan");
    expect_json(AT(scan, "propertyNames"),
                "{\"anyOf\":[{\"enum\":[\"/run/equilibration\",\"/run/sweeps\","
                "\"/run/measure_every\",\"/system/size\",\"/system/temperature\","
                "\"/system/field\",\"/system/n\"]},{\"pattern\":\"^/system/size/"
                "[0-2]$\"}]}");
    /* 0 alone where no trajectory is written: for the gas, not for the lattice */
    static const char only_zero[] = "{\"properties\":{\"output\":{\"properties\":"
                                    "{\"trajectory_every\":{\"enum\":[0,\"0\"]}}}}}";
    assert_false(printed_contains(then, only_zero));
    assert_true(printed_contains(AT(beta->next, "then"), only_zero));
    free(text);
    ergo_arena_free(&arena);
    ergo_context_destroy(ctx);
}

static void expect_help(const char *topic, const char *const *parts) {
    struct ergo_context *ctx = ergo_context_create();
    char *text = NULL;
    assert_int_equal(ergo_help_text(ctx, topic, &text), ERGO_OK);
    for (; *parts; parts++)
        expect_contains(text, *parts);
    size_t column = 0;
    for (const char *p = text; *p; p++) {
        column = *p == '\n' ? 0 : column + 1;
        if (column > 100)
            fail_msg("a line of more than 100 characters in help %s", topic ? topic : "");
    }
    free(text);
    ergo_context_destroy(ctx);
}
#define EXPECT_HELP(topic, ...) expect_help(topic, (const char *const[]){__VA_ARGS__, NULL})

static void test_help(void **state) {
    (void)state;
    EXPECT_HELP(NULL, "toy-lattice", "toy-gas", "exit-codes", "environment");
    EXPECT_HELP("toy-lattice", "Nobody, J. Irrepr. Res. 1 (2020).", "toys per second",
                "default \"alpha\"", "the first toy", "the second toy",
                "/system/depth\n      beta\n", "/system/temperature\n      alpha, beta\n");
    EXPECT_HELP("toy-lattice alpha", "/system/moves/displacement", "a number > 0 (in J/k_B)",
                "required", "can be scanned", "/tuning/block", "from 2 to 64, or 0 for automatic",
                "energy", "J per site", "toys per second");
    EXPECT_HELP("beta", "beta: the second toy", "A model of toy-lattice", "/system/depth",
                "It acts only with a field.");
    EXPECT_HELP("temperature", "key of toy-lattice, models alpha, beta", "takes a number > 0");
    EXPECT_HELP("/system/depth", "key of toy-lattice, models beta",
                "from 0 to 9 (in J); default 1");
    EXPECT_HELP("activity", "key of toy-gas\n");
    EXPECT_HELP("toy-lattice temperature", "key of toy-lattice");
    EXPECT_HELP("block", "/tuning/block");
    EXPECT_HELP("sweeps", "key of all samplers", "/run/sweeps");
    EXPECT_HELP("model", "key of toy-lattice\n", "\"alpha\", \"beta\"");
    EXPECT_HELP("energy", "observable of toy-lattice", "column of toy-lattice");
    EXPECT_HELP("job", "/run/sweeps", "to 2^53", "/scan", "--set");
    EXPECT_HELP("devices", "auto");
    EXPECT_HELP("result", "digest", "tau");
    EXPECT_HELP("exit-codes", "75");
    EXPECT_HELP("environment", "ERGOCL_DEVICE", "ERGOCL_CACHE_DIR", "ERGOCL_CL_DIR", "NO_COLOR",
                "XDG_CACHE_HOME");
    struct ergo_context *ctx = ergo_context_create();
    char *text = NULL;
    assert_int_equal(ergo_help_text(ctx, "toy-latice", &text), ERGO_E_JOB);
    assert_null(text);
    expect_contains(ergo_error_message(ctx), "did you mean \"toy-lattice\"?");
    ergo_error_clear(ctx);
    assert_int_equal(ergo_help_text(ctx, "tempereture", &text), ERGO_E_JOB);
    expect_contains(ergo_error_message(ctx), "did you mean \"temperature\"?");
    ergo_error_clear(ctx);
    assert_int_equal(ergo_help_text(ctx, "toy-gas depth", &text), ERGO_E_JOB);
    ergo_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_schema),
        cmocka_unit_test(test_help),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
