/* The strict reader: what it must refuse, where it points, and what it must keep exactly. */
#include "test_job_toy.h"

#include "job/json.h"

static enum ergo_status read_text(const char *text, size_t length, char message[1024]) {
    struct ergo_arena arena = {0};
    struct ergo_json *root = NULL;
    struct ergo_context *ctx = ergo_context_create();
    enum ergo_status status = ergo_json_parse(ctx, "f", text, length, &arena, &root);
    snprintf(message, 1024, "%s", ergo_error_message(ctx));
    ergo_context_destroy(ctx);
    ergo_arena_free(&arena);
    return status;
}

static void test_refuses(void **state) {
    (void)state;
    static const struct {
        const char *text, *place, *reason;
    } cases[] = {
        {"", "f:1:1:", "empty"},
        {" \n\t\r\n ", "f:3:2:", "empty"},
        {"{} x", "f:1:4:", "nothing may follow"},
        {"{}{}", "f:1:3:", "nothing may follow"},
        {"{}\n\n]", "f:3:1:", "nothing may follow"},
        {"\xEF\xBB\xBF{}", "f:1:1:", "byte order mark"},
        {"\xFF\xFE{", "f:1:1:", "UTF-16"},
        {"{\"a\":1,\"b\":2,\"a\":3}", "f:1:14:", "/a: duplicate key, already given at line 1, col"},
        {"{\"a\":{\"b/c\":[0,{\"x\":1,\"x\":1}]}}", "f:1:23:", "/a/b~1c/1/x: duplicate"},
        {"{\"a\":1,\"\\u0061\":3}", "f:1:8:", "/a: duplicate"},
        {"{\"a\":1,}", "f:1:8:", "a comma before '}'"},
        {"[1,2,]", "f:1:6:", "a comma before ']'"},
        {"[,1]", "f:1:2:", "expected a value, found ','"},
        {"[1 2]", "f:1:4:", "expected ',' or ']', found '2'"},
        {"{\"a\" 1}", "f:1:6:", "expected ':'"},
        {"{a:1}", "f:1:2:", "key in double quotes"},
        {"{'a':1}", "f:1:2:", "key in double quotes"},
        {"['a']", "f:1:2:", "double quotes"},
        {"[1, // one\n 2]", "f:1:5:", "no comments"},
        {"{ /* c */ \"a\":1}", "f:1:3:", "no comments"},
        {"{\"a\":1 # c\n}", "f:1:8:", "no comments"},
        {"[01]", "f:1:2:", "start with a zero"},
        {"[-01]", "f:1:2:", "start with a zero"},
        {"[+1]", "f:1:2:", "no JSON value"},
        {"[.5]", "f:1:2:", "no JSON value"},
        {"[5.]", "f:1:2:", "digit after its point"},
        {"[1e]", "f:1:2:", "exponent"},
        {"[1e+]", "f:1:2:", "exponent"},
        {"[0x10]", "f:1:2:", "'0x10' is no JSON value"},
        {"[1.2.3]", "f:1:2:", "no JSON value"},
        {"[1_000]", "f:1:2:", "no JSON value"},
        {"[NaN]", "f:1:2:", "'NaN' is no JSON value"},
        {"[nan]", "f:1:2:", "no JSON value"},
        {"[Infinity]", "f:1:2:", "no JSON value"},
        {"[-Infinity]", "f:1:2:", "no JSON value"},
        {"[-]", "f:1:2:", "no JSON value"},
        {"[True]", "f:1:2:", "no JSON value"},
        {"[nulll]", "f:1:2:", "no JSON value"},
        {"[\"a\nb\"]", "f:1:4:", "unescaped; is a closing quote missing?"},
        {"[\"a\tb\"]", "f:1:4:", "control character (0x09) unescaped"},
        {"[\"abc]", "f:1:2:", "no closing quote"},
        {"[\"a\\", "f:1:4:", "unknown escape"},
        {"[\"\\x41\"]", "f:1:3:", "unknown escape"},
        {"[\"\\u12G4\"]", "f:1:3:", "four hexadecimal"},
        {"[\"\\u0000\"]", "f:1:3:", "zero byte"},
        {"[\"\\uD800\"]", "f:1:3:", "surrogate"},
        {"[\"\\uD800\\u0041\"]", "f:1:3:", "surrogate"},
        {"[\"\\uDC00\"]", "f:1:3:", "surrogate"},
        {"[\"\xC0\x80\"]", "f:1:3:", "invalid UTF-8"},
        {"[\"\xE0\x80\x80\"]", "f:1:3:", "invalid UTF-8"},
        {"[\"\xED\xA0\x80\"]", "f:1:3:", "invalid UTF-8"},
        {"[\"\xF4\x90\x80\x80\"]", "f:1:3:", "invalid UTF-8"},
        {"[\"\xC3\"]", "f:1:3:", "invalid UTF-8"},
        {"[\"\xC3\xA9\xFF\"]", "f:1:4:", "byte 0xFF"}, /* columns count characters */
        {"[\xFF]", "f:1:2:", "byte 0xFF"},
        {"\x1B[2J", "f:1:1:", "control character (0x1B)"},
        {"[\n1,\n\n  oops]", "f:4:3:", "'oops'"},
        {"{", "f:1:2:", "found the end of the text"},
        {"[", "f:1:2:", "found the end of the text"},
        {"[1,", "f:1:4:", "found the end of the text"},
        {"{\"a\":", "f:1:6:", "found the end of the text"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char message[1024];
        if (read_text(cases[i].text, strlen(cases[i].text), message) != ERGO_E_JOB)
            fail_msg("accepted: %s", cases[i].text);
        if (strncmp(message, cases[i].place, strlen(cases[i].place)) != 0 ||
            !strstr(message, cases[i].reason) || strchr(message, '\n'))
            fail_msg("for %s expected %s ... %s, got %s", cases[i].text, cases[i].place,
                     cases[i].reason, message);
    }
}

static void test_zero_bytes(void **state) {
    (void)state;
    char message[1024];
    assert_int_equal(read_text("{}\0", 3, message), ERGO_E_JOB);
    expect_contains(message, "f:1:3: nothing may follow the JSON value, found a zero byte");
    assert_int_equal(read_text("{\"a\0b\":1}", 9, message), ERGO_E_JOB);
    expect_contains(message, "a zero byte");
    assert_int_equal(read_text("\0", 1, message), ERGO_E_JOB);
}

static void test_limits(void **state) {
    (void)state;
    char message[1024];
    char deep[2 * ERGO_JSON_DEPTH_MAX + 2];
    for (size_t depth = ERGO_JSON_DEPTH_MAX; depth <= ERGO_JSON_DEPTH_MAX + 1; depth++) {
        memset(deep, '[', depth);
        memset(deep + depth, ']', depth);
        enum ergo_status expected = depth > ERGO_JSON_DEPTH_MAX ? ERGO_E_JOB : ERGO_OK;
        assert_int_equal(read_text(deep, 2 * depth, message), expected);
    }
    expect_contains(message, "deeper than 64");
    char number[ERGO_JSON_NUMBER_MAX + 4];
    memset(number, '1', sizeof number);
    assert_int_equal(read_text(number, ERGO_JSON_NUMBER_MAX, message), ERGO_OK);
    assert_int_equal(read_text(number, ERGO_JSON_NUMBER_MAX + 1, message), ERGO_E_JOB);
    size_t many = 2 * (size_t)ERGO_JSON_VALUES_MAX + 3;
    char *list = malloc(many);
    for (size_t i = 0; i < many; i++)
        list[i] = i % 2 ? '1' : ',';
    list[0] = '[';
    list[many - 1] = ']';
    assert_int_equal(read_text(list, many, message), ERGO_E_JOB);
    expect_contains(message, "more than 1048576 values");
    free(list);
}

/* Reads `text`, prints it again, compares. */
static void round_trip(const char *text, const char *expected) {
    struct ergo_arena arena = {0};
    struct ergo_json *root = NULL;
    struct ergo_context *ctx = ergo_context_create();
    if (ergo_json_parse(ctx, "f", text, strlen(text), &arena, &root) != ERGO_OK)
        fail_msg("%s", ergo_error_message(ctx));
    char *out = ergo_json_text(root, true);
    assert_string_equal(out, expected);
    free(out);
    ergo_context_destroy(ctx);
    ergo_arena_free(&arena);
}

static void test_keeps(void **state) {
    (void)state;
    round_trip(" { \"b\" : [ 1 , -0, 2.50, 1E+5, 9007199254740993 ] , \"a\" : null } ",
               "{\"b\":[1,-0,2.50,1E+5,9007199254740993],\"a\":null}");
    round_trip("[\"\\u00e9\\ud83d\\ude00\\/\\\"\\\\\\n\\u001b\\u009b\", true, false, {}, []]",
               "[\"\xC3\xA9\xF0\x9F\x98\x80/\\\"\\\\\\n\\u001b\\u009b\",true,false,{},[]]");
    round_trip("\"\xEF\xBF\xBF\xF4\x8F\xBF\xBF\"", "\"\xEF\xBF\xBF\xF4\x8F\xBF\xBF\"");
    round_trip("{\"\": 1}", "{\"\":1}");
}

static void test_integers(void **state) {
    (void)state;
    static const struct {
        const char *token;
        enum ergo_json_integer what;
        bool negative;
        uint64_t magnitude;
    } cases[] = {
        {"0", ERGO_JSON_INTEGER, false, 0},
        {"-0", ERGO_JSON_INTEGER, false, 0},
        {"0e999999999999", ERGO_JSON_INTEGER, false, 0},
        {"0.000", ERGO_JSON_INTEGER, false, 0},
        {"20000", ERGO_JSON_INTEGER, false, 20000},
        {"2e4", ERGO_JSON_INTEGER, false, 20000},
        {"2.5e1", ERGO_JSON_INTEGER, false, 25},
        {"250e-1", ERGO_JSON_INTEGER, false, 25},
        {"-25.0", ERGO_JSON_INTEGER, true, 25},
        {"0.00025E+5", ERGO_JSON_INTEGER, false, 25},
        {"25e-1", ERGO_JSON_NO_INTEGER, false, 0},
        {"1e-999999999999", ERGO_JSON_NO_INTEGER, false, 0},
        {"9007199254740993", ERGO_JSON_INTEGER, false, 9007199254740993},
        {"9007199254740993.0000000000000000000001", ERGO_JSON_NO_INTEGER, false, 0},
        {"18446744073709551615", ERGO_JSON_INTEGER, false, UINT64_MAX},
        {"18446744073709551616", ERGO_JSON_BIG_INTEGER, false, 0},
        {"99999999999999999999", ERGO_JSON_BIG_INTEGER, false, 0},
        {"1e20", ERGO_JSON_BIG_INTEGER, false, 0},
        {"1e999999999999999999999", ERGO_JSON_BIG_INTEGER, false, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        bool negative;
        uint64_t magnitude;
        enum ergo_json_integer what = ergo_json_integer(cases[i].token, &negative, &magnitude);
        if (what != cases[i].what || (what == ERGO_JSON_INTEGER && negative != cases[i].negative) ||
            magnitude != cases[i].magnitude)
            fail_msg("%s", cases[i].token);
    }
}

static void test_reals(void **state) {
    (void)state;
    double real;
    assert_true(ergo_json_real("-0.0", &real) && real == 0 && !__builtin_signbit(real));
    assert_true(ergo_json_real("0e5", &real) && real == 0);
    assert_true(ergo_json_real("1.7976931348623157e308", &real) && real == DBL_MAX);
    assert_true(ergo_json_real("5e-324", &real) && real > 0);
    assert_false(ergo_json_real("1e309", &real));
    assert_false(ergo_json_real("-1e999", &real));
    assert_false(ergo_json_real("1e-400", &real));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refuses),  cmocka_unit_test(test_zero_bytes),
        cmocka_unit_test(test_limits),   cmocka_unit_test(test_keeps),
        cmocka_unit_test(test_integers), cmocka_unit_test(test_reals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
