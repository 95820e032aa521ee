/* What is said when memory has run out: that alone, not what came of it. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/error.h"

static void expect_told(struct ergo_context *ctx, enum ergo_status status, const char *message) {
    assert_int_equal(ergo_memory_told(ctx, status), ERGO_E_MEMORY);
    assert_string_equal(ergo_error_message(ctx), message);
    ergo_error_clear(ctx);
}

static void test_reasons(void **state) {
    (void)state;
    struct ergo_context *ctx = ergo_context_create();
    /* a reason made of a NULL, and what failed above it */
    ergo_memory_set_failed(true);
    ERGO_FAIL(ctx, ERGO_E_JOB, "this is not a graph");
    ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for a plan");
    expect_told(ctx, ERGO_E_MEMORY, "memory ran out");
    expect_told(ctx, ERGO_E_MEMORY, "memory ran out"); /* nobody said anything */
    expect_told(ctx, ERGO_OK, "memory ran out");
    expect_told(ctx, ERGO_E_DEVICE, "memory ran out");
    /* what is missing or wrong because of it */
    ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for a key");
    ERGO_FAIL(ctx, ERGO_E_JOB, "/system/size: missing");
    ERGO_FAIL(ctx, ERGO_E_DEVICE, "no device");
    ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for a job");
    expect_told(ctx, ERGO_E_MEMORY, "no memory for a key\nno memory for a job");
    /* a limit that is no failed allocation: other errors are told beside it */
    ergo_memory_set_failed(false);
    ERGO_FAIL(ctx, ERGO_E_MEMORY, "too large for this machine");
    ERGO_FAIL(ctx, ERGO_E_JOB, "/system/size: missing");
    assert_int_equal(ergo_memory_told(ctx, ERGO_E_JOB), ERGO_E_JOB);
    assert_string_equal(ergo_error_message(ctx),
                        "too large for this machine\n/system/size: missing");
    ergo_context_destroy(ctx);
}

static void test_system(void **state) {
    (void)state;
    int there = 0;
    errno = ENOENT;
    assert_null(ergo_memory_got(NULL));
    assert_false(ergo_memory_failed());
    errno = ENOMEM;
    assert_ptr_equal(ergo_memory_got(&there), &there);
    assert_false(ergo_memory_failed());
    assert_null(ergo_memory_got(NULL));
    assert_true(ergo_memory_failed());
    ergo_memory_set_failed(false);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reasons),
        cmocka_unit_test(test_system),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
