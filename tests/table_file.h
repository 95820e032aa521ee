/* A file with a pair potential, "pair.table", in a folder of its own that becomes the working one:
 * its name enters the random stream of a job, so it has to be the same in each run. */
#ifndef ERGO_TESTS_TABLE_FILE_H
#define ERGO_TESTS_TABLE_FILE_H

#include <fcntl.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#define TABLE_FILE "pair.table"

struct table_file {
    char folder[40];
    int back; /* where we were */
};

static inline double table_lennard_jones(double r) {
    return 4 * (pow(r, -12) - pow(r, -6));
}

/* A wall, a well of 1 and a bump: nothing takes it for Lennard-Jones. */
static inline double table_bump(double r) {
    return 5.2 * (pow(r, -10) - pow(r, -6)) + 0.2 * exp(-20 * (r - 1.9) * (r - 1.9));
}

/* A folder that the environment names is still the same one from elsewhere. */
static inline void table_absolute(const char *variable) {
    char *full = getenv(variable) ? realpath(getenv(variable), NULL) : NULL;
    if (full)
        setenv(variable, full, 1);
    free(full);
}

static inline struct table_file table_folder(void) {
    table_absolute("ERGOCL_CL_DIR");
    table_absolute("ERGOCL_CACHE_DIR");
    struct table_file t = {.folder = "/tmp/ergocl-table-XXXXXX", .back = open(".", O_RDONLY)};
    assert_true(t.back >= 0 && mkdtemp(t.folder) && chdir(t.folder) == 0);
    return t;
}

static inline struct table_file table_enter(double (*u)(double), double step) {
    const struct table_file t = table_folder();
    FILE *file = fopen(TABLE_FILE, "w");
    assert_non_null(file);
    for (double r = 0.65; r < 2.6; r += step)
        fprintf(file, "%.17g %.17g\n", r, u(r));
    assert_int_equal(fclose(file), 0);
    return t;
}

static inline void table_back(const struct table_file *t) {
    assert_int_equal(fchdir(t->back), 0);
    assert_int_equal(rmdir(t->folder), 0);
    close(t->back);
}

static inline void table_leave(const struct table_file *t) {
    assert_int_equal(unlink(TABLE_FILE), 0);
    table_back(t);
}

#endif
