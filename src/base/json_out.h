/*
 * JSON that we write: a tree of cJSON's, printed once. Values go into the object or array that was
 * opened last. When memory runs out the writer fails once and for all, and ergo_out_take is NULL.
 *
 * Numbers are made here and not by cJSON: 1.7.15 takes 15 digits for enough when they are off by
 * one in the last bit of a double, and keeps integers as doubles. The decimal point is that of the
 * C locale, which is set at the entry to the library (entry.h).
 */
#ifndef ERGO_CORE_JSON_OUT_H
#define ERGO_CORE_JSON_OUT_H

#include <cjson/cJSON.h>

#include "base/text.h"

enum { ERGO_OUT_DEPTH = 80 };

/* Zero-initialise. */
struct ergo_json_out {
    cJSON *open[ERGO_OUT_DEPTH]; /* the first is the whole */
    size_t depth;
    bool failed;
};

/* `name` of a member of an object; not looked at in an array and for the outermost value. */
void ergo_out_object(struct ergo_json_out *out, const char *name);
void ergo_out_array(struct ergo_json_out *out, const char *name);
/* So many of them, the innermost first. */
void ergo_out_close(struct ergo_json_out *out, size_t levels);
void ergo_out_text(struct ergo_json_out *out, const char *name, const char *text); /* NULL: null */
void ergo_out_bool(struct ergo_json_out *out, const char *name, bool value);
/* The shortest text that reads back as the same double; null for NaN and infinities. */
void ergo_out_number(struct ergo_json_out *out, const char *name, double value);
void ergo_out_numbers(struct ergo_json_out *out, const char *name, const double *x, size_t n);
/* JSON as it is: integers of 64 bits, rounded numbers, texts without anything to
 * escape, JSON that was made before. */
void ergo_out_raw(struct ergo_json_out *out, const char *name, const char *format, ...)
    ERGO_PRINTF(3, 4);
/* The same of a long text, which is taken. */
void ergo_out_raw_text(struct ergo_json_out *out, const char *name, struct ergo_text *text);
/* The same, parsed, so that it is printed like the rest. */
void ergo_out_parsed(struct ergo_json_out *out, const char *name, const char *format, ...)
    ERGO_PRINTF(3, 4);
/* The text; frees the tree. Bytes that are no UTF-8 become U+FFFD; control characters are escaped,
 * also DEL and C1, which a terminal would obey. compact: on one line, else with its end.
 * NULL: memory ran out, or the text is longer than the 2 GiB of cJSON. */
char *ergo_out_take(struct ergo_json_out *out, bool compact);
/* The same for a caller of the library, with an error where it is NULL. */
enum ergo_status ergo_out_give(struct ergo_context *ctx, struct ergo_json_out *out, char **text);
void ergo_out_free(struct ergo_json_out *out);

#endif
