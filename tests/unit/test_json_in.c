/* JSON of our own files, written and read by cJSON: what is refused, and memory that runs out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/json_in.h"
#include "base/json_out.h"

static struct ergo_context *ctx;

static enum ergo_status reads(const char *text, size_t length) {
    cJSON *root = NULL;
    char *copy = malloc(length ? length : 1); /* without a zero behind it */
    assert_non_null(copy);
    memcpy(copy, text, length);
    ergo_error_clear(ctx);
    const enum ergo_status status = ergo_json_in(ctx, "f", copy, length, &root);
    assert_true((status == ERGO_OK) == (root != NULL));
    cJSON_Delete(root);
    free(copy);
    return status;
}

static void refuse(const char *text, const char *message) {
    assert_int_equal(reads(text, strlen(text)), ERGO_E_IO);
    if (!strstr(ergo_error_message(ctx), message))
        fail_msg("\"%s\" without \"%s\"", ergo_error_message(ctx), message);
}

static void doubtful_texts_are_refused(void **state) {
    static const char good[] = " {\"a\": [1, {\"a\": 2}], \"A\": {}}\n";
    char deep[4002];
    (void)state;
    if (reads(good, sizeof good - 1) != ERGO_OK)
        fail_msg("%s", ergo_error_message(ctx));
    refuse("", "f:1: ");
    refuse("{\n\n1", "f:3: ");
    refuse("{\"1\":1,", "f:1: "); /* beyond whose end 1.7.15 reads */
    refuse("{} {}", "no JSON");
    refuse("{\"a\": 1,\n \"b\": {\"c\": 1, \"c\": 1}}", "a name twice");
    refuse("{\"a\":\n \"\xed\xa0\x80\"}", "f:2: ");
    assert_int_equal(reads("{}\0", 3), ERGO_E_IO);
    memset(deep, '[', sizeof deep);
    deep[sizeof deep - 1] = '\0';
    refuse(deep, "no JSON");
    /* so many names that each cannot be compared with each */
    struct ergo_text many = {0};
    for (int i = 0; i < 1000; i++)
        ergo_text_append(&many, "%c\"%d\":0", i ? ',' : '{', i);
    ergo_text_append(&many, "}");
    refuse(many.data, "too many");
    ergo_text_free(&many);
}

static void members_have_types(void **state) {
    static const char text[] = "{\"text\": \"x\", \"number\": 2.5, \"huge\": 1e999, \"list\": [1]}";
    cJSON *root = NULL;
    (void)state;
    assert_int_equal(ergo_json_in(ctx, "f", text, sizeof text - 1, &root), ERGO_OK);
    assert_string_equal(ergo_in_text(root, "text", "-"), "x");
    assert_string_equal(ergo_in_text(root, "TEXT", "-"), "-");
    assert_string_equal(ergo_in_text(root, "number", "-"), "-");
    assert_true(ergo_in_number(root, "number") == 2.5);
    assert_false(ergo_in_number(root, "huge") == ergo_in_number(root, "huge"));
    assert_false(ergo_in_number(root, "text") == ergo_in_number(root, "text"));
    assert_non_null(ergo_in_member(root, "list", cJSON_Array));
    assert_null(ergo_in_member(root, "list", cJSON_Object));
    assert_null(ergo_in_member(ergo_in_member(root, "list", cJSON_Array), "0", cJSON_Number));
    assert_null(ergo_in_member(NULL, "list", cJSON_Array));
    cJSON_Delete(root);
}

static char *write_all(void) {
    static const double x[] = {1, 0.5, 0.1 + 0.2};
    struct ergo_json_out out = {0};
    ergo_out_object(&out, NULL);
    ergo_out_text(&out, "text", "\"\t\x7f");
    ergo_out_text(&out, "nothing", NULL);
    ergo_out_bool(&out, "true", true);
    ergo_out_array(&out, "list");
    ergo_out_object(&out, "without a name");
    ergo_out_raw(&out, "integer", "%llu", 18446744073709551615ULL);
    ergo_out_parsed(&out, "parsed", "{\"a\": [%d]}", 7);
    ergo_out_close(&out, 2);
    ergo_out_numbers(&out, "x", x, 3);
    return ergo_out_take(&out, true);
}

static void all_is_written(void **state) {
    char *text = write_all();
    (void)state;
    assert_string_equal(text, "{\"text\":\"\\\"\\t\\u007f\",\"nothing\":null,\"true\":true,"
                              "\"list\":[{\"integer\":18446744073709551615,"
                              "\"parsed\":{\"a\":[7]}}],\"x\":[1, 0.5, 0.30000000000000004]}");
    free(text);
}

static void too_deep_is_no_text(void **state) {
    struct ergo_json_out out = {0};
    (void)state;
    for (int i = 0; i < 2 * ERGO_OUT_DEPTH; i++)
        ergo_out_array(&out, NULL);
    assert_null(ergo_out_take(&out, true));
}

static int left; /* allocations until one fails */

static void *fail_malloc(size_t size) {
    return left-- == 0 ? NULL : malloc(size);
}

/* Each allocation of cJSON's fails, alone: no text, and nothing is lost (the sanitizers' part). */
static void memory_may_run_out(void **state) {
    cJSON_Hooks hooks = {fail_malloc, free};
    int refused = 0;
    (void)state;
    for (int n = 0; n < 1000; n++) {
        cJSON_InitHooks(&hooks);
        left = n;
        char *text = write_all();
        const bool failed = left < 0;
        cJSON_InitHooks(NULL);
        assert_int_equal(text == NULL, failed);
        free(text);
        refused += failed;
    }
    assert_in_range(refused, 20, 100);
}

static int set_up(void **state) {
    (void)state;
    ctx = ergo_context_create();
    return ctx ? 0 : -1;
}

static int tear_down(void **state) {
    (void)state;
    ergo_context_destroy(ctx);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(doubtful_texts_are_refused),
        cmocka_unit_test(members_have_types),
        cmocka_unit_test(all_is_written),
        cmocka_unit_test(too_deep_is_no_text),
        cmocka_unit_test(memory_may_run_out),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
