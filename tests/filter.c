/*
 * Linked into every test program: of its tests those that $TEST_CASE names, a pattern with * and ?,
 * and $TEST_SKIP does not.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

static void __attribute__((constructor)) filter(void) {
    const char *pattern = getenv("TEST_CASE"), *skip = getenv("TEST_SKIP");
    if (pattern && *pattern)
        cmocka_set_test_filter(pattern);
    if (skip && *skip)
        cmocka_set_skip_filter(skip);
}
