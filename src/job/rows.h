/* Text files of rows with two numbers, x and f(x), that jobs name. */
#ifndef ERGO_JOB_ROWS_H
#define ERGO_JOB_ROWS_H

#include <stddef.h>

#include "base/error.h"

/* Lines of a text: no more rows than that are in it. */
size_t ergo_rows_most(const char *text, size_t length);
/*
 * Reads rows of `text` into x[] and f[], n of them. Numbers are apart by blanks or commas; comments
 * begin with #. x is finite, above `above`, and grows from row to row; f is finite. ERGO_E_IO with
 * `name`, the line, and what was expected: what[0] "a distance in A and the function's value",
 * what[1] "distance".
 */
enum ergo_status ergo_rows_parse(struct ergo_context *ctx, const char *name, const char *text,
                                 size_t length, const char *const what[2], double above, double *x,
                                 double *f, size_t *n);

#endif
