/* The program that judges a mutant: one job, in an argument, and one test. */
#ifndef ERGO_TESTS_MUTANTS_MUTANT_H
#define ERGO_TESTS_MUTANTS_MUTANT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static char *mutant_job; /* JSON, of the first argument with ' for " */

/* Exit code: 0 passed, 1 killed, 2 for another number of arguments. */
static inline int mutant_main(int argc, char **argv, CMUnitTestFunction test) {
    if (argc != 2)
        return 2;
    mutant_job = argv[1];
    for (char *c = mutant_job; *c; c++)
        *c = *c == '\'' ? '"' : *c;
    const struct CMUnitTest tests[] = {{"test_job", test, NULL, NULL, NULL}};
    return cmocka_run_group_tests(tests, NULL, NULL) ? 1 : 0;
}

#endif
