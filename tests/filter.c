/*
 * Linked into every test program: of its tests those that $TEST_CASE names, a pattern with * and ?.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

static void __attribute__((constructor)) filter(void) {
    const char *pattern = getenv("TEST_CASE");
    if (pattern && *pattern)
        cmocka_set_test_filter(pattern);
}
