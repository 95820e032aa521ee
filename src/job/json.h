/*
 * A strict JSON reader (RFC 8259) for what people write by hand.
 *
 * Ours and not cJSON's, because a job must not change while it is read: cJSON 1.7.15 accepts
 * trailing garbage and duplicate keys, ignores case, turns 1e999 into infinity and 2^53+1 into
 * 2^53. Here numbers keep their text, so that integers stay exact, and everything doubtful is
 * refused with line and column. What we write and read back ourselves goes through cJSON
 * (json_out.h, json_in.h).
 */
#ifndef ERGO_JOB_JSON_H
#define ERGO_JOB_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/text.h"
#include "job/arena.h"

enum {
    ERGO_JSON_BYTES_MAX = 16 << 20,
    ERGO_JSON_VALUES_MAX = 1 << 20, /* bounds memory: a value takes less than 100 bytes */
    ERGO_JSON_DEPTH_MAX = 64,
    ERGO_JSON_NUMBER_MAX = 1000, /* characters of one number */
};

enum ergo_json_kind {
    ERGO_JSON_NULL,
    ERGO_JSON_BOOL,
    ERGO_JSON_NUMBER,
    ERGO_JSON_STRING,
    ERGO_JSON_ARRAY,
    ERGO_JSON_OBJECT,
};

struct ergo_json {
    enum ergo_json_kind kind;
    bool boolean;
    const char *key;    /* the name of an object's member, else NULL */
    const char *text;   /* STRING: decoded, no zero inside; NUMBER: as written */
    const char *origin; /* the --set text it came from; NULL: the file */
    size_t offset;      /* of the value, or of the member's name, in the text */
    struct ergo_json *child, *last, *next;
    size_t count; /* children */
};

/*
 * Read `text`; the tree lives in `arena`. Messages are "name:line:column: reason". Reading
 * continues after duplicate keys: the status is ERGO_E_JOB and *root is set all the same, so that
 * the rest can be checked too. ctx == NULL: be silent.
 */
enum ergo_status ergo_json_parse(struct ergo_context *ctx, const char *name, const char *text,
                                 size_t length, struct ergo_arena *arena, struct ergo_json **root);

/* A new value without content, e.g. an empty object. NULL: out of memory. */
struct ergo_json *ergo_json_create(struct ergo_arena *arena, enum ergo_json_kind kind);
void ergo_json_add(struct ergo_json *parent, struct ergo_json *child);
/* The child has to be one of the parent's. */
void ergo_json_remove(struct ergo_json *parent, const struct ergo_json *child);
/* Member of an object by its exact name, or NULL. */
struct ergo_json *ergo_json_member(const struct ergo_json *object, const char *key);
/* The value at a JSON pointer without escapes, as those of keys are, or NULL. */
const struct ergo_json *ergo_json_find(const struct ergo_json *root, const char *pointer);

/* What a number token means as an integer, decided on its digits and never through a double. */
enum ergo_json_integer {
    ERGO_JSON_INTEGER,     /* exact: 20000, 2e4, 2.5e1, -0 */
    ERGO_JSON_NO_INTEGER,  /* 2.5, 1e-3 */
    ERGO_JSON_BIG_INTEGER, /* an integer of more than 64 bits */
};
enum ergo_json_integer ergo_json_integer(const char *token, bool *negative, uint64_t *magnitude);
/* The nearest double. False: too large, or so small that it would become zero. -0 becomes 0. */
bool ergo_json_real(const char *token, double *real);

/* The value as JSON again, numbers as they were written; NULL: memory ran out. */
char *ergo_json_text(const struct ergo_json *value, bool compact);
/* A job's text once more, with line breaks; NULL: memory ran out, or it is none. */
char *ergo_json_pretty(const char *json);
/* Append "/" and the key as a token of a JSON pointer (RFC 6901: ~ is ~0, / is ~1). */
void ergo_json_pointer(struct ergo_text *out, const char *key);

#endif
