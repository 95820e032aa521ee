/* How a job is made; shared by the files of this folder only. */
#ifndef ERGO_JOB_BUILD_H
#define ERGO_JOB_BUILD_H

#include <stdatomic.h>

#include "job/arena.h"
#include "job/job.h"
#include "job/json.h"
#include "job/model.h"

enum {
    ERGO_ERRORS_MAX = 100,         /* shown per job; the rest is counted */
    ERGO_SCAN_POINTS_MAX = 100000, /* each keeps its own values, about 3 kB */
    ERGO_POINTS_MAX = 1048576,     /* scan points times replicas */
    ERGO_SHOWN_MAX = 160,          /* bytes of a name or value repeated in a message */
};

/* Larger integers and seeds are strings in JSON: many readers keep doubles. */
#define ERGO_EXACT_MAX (UINT64_C(1) << 53)

/* One entry of "scan": a key, or one element of a SIZE key, or a SIZE key as a whole. */
struct ergo_axis {
    size_t key;     /* index in the job's keys */
    int element;    /* of a SIZE key; -1: the whole key */
    size_t count;   /* values */
    size_t width;   /* coordinates per value: 1, or the items of a whole SIZE */
    double *values; /* [count][width] */
    const char *pointers[ERGO_DIM_MAX];
};

struct ergo_job_storage {
    struct ergo_arena arena;
    atomic_uint users;           /* jobs that it is of, and copies of them */
    struct ergo_job_storage *of; /* of a copy: of the job that it was made from */
};

struct ergo_build {
    struct ergo_context *ctx;
    const char *name; /* of the file, in messages */
    struct ergo_arena *arena;
    struct ergo_json *root;
    const struct ergo_sampler *sampler; /* NULL: missing or unknown */
    const struct ergo_model *model;     /* NULL: missing or unknown, or its sampler is */
    const struct ergo_key **keys;
    size_t n_keys;
    struct ergo_value *base; /* parallel to keys, without the scan */
    size_t n_axes;
    struct ergo_axis axes[ERGO_SCAN_MAX];
    size_t n_scan; /* scan points */
    size_t errors;
    enum ergo_status status; /* the worst failure that is not the job's fault, e.g. memory */
};

/* Record "file: pointer: message"; node: where the value came from (NULL: nowhere). */
void ergo_build_error(struct ergo_build *build, const char *pointer, const struct ergo_json *node,
                      const char *format, ...) ERGO_PRINTF(4, 5);
void ergo_build_no_memory(struct ergo_build *build);
/* Are there so many errors that this one is only counted, and its message need not be made? */
bool ergo_build_full(struct ergo_build *build);
/* "found the string \"abc\"" and the rest. */
void ergo_build_found(struct ergo_build *build, const char *pointer, const struct ergo_json *node,
                      const char *rest);

/* keys.c */
/* The i-th name allowed for an ENUM key (NULL behind the last); /sampler asks the registry. */
const char *ergo_key_choice(const struct ergo_key *key, size_t i);
/* The keys of a job: the common ones, the one that chooses a model of `sampler`, those of `model`,
 * its tunables. NULL, also for the last two: unknown, none of them. Returns NULL without memory. */
const struct ergo_key **ergo_keys_of(const struct ergo_sampler *sampler,
                                     const struct ergo_model *model, struct ergo_arena *arena,
                                     size_t *n_keys);
/* Index of a key; SIZE_MAX: there is none. */
size_t ergo_keys_find(const struct ergo_key *const *keys, size_t n_keys, const char *pointer);
/* "a number > 0 in J/k_B": what a key takes. */
void ergo_key_allowed(struct ergo_text *out, const struct ergo_key *key);
/* The key that describes one element of a SIZE, REALS or REAL key. */
struct ergo_key ergo_key_element(const struct ergo_key *key);
/* The key that describes a value of a scan: of a REAL that may be an array, a number alone. */
struct ergo_key ergo_key_scanned(const struct ergo_key *key);
bool ergo_key_has_range(const struct ergo_key *key);
bool ergo_key_in_range(const struct ergo_key *key, double value);
bool ergo_key_in_range_int(const struct ergo_key *key, int64_t value);
/* The distinct next tokens below `prefix` ("" or "/run"), in table order. Returns their number. */
size_t ergo_keys_children(const struct ergo_key *const *keys, size_t n_keys, const char *prefix,
                          const char **names, size_t most, struct ergo_arena *arena);

/* value.c */
/* Read a value of `key` at `pointer`; every complaint is recorded. Returns true when clean. */
bool ergo_value_read(struct ergo_build *build, const struct ergo_key *key, const char *pointer,
                     const struct ergo_json *node, struct ergo_value *value);
/* "the string \"abc\"", "an array of 3" */
void ergo_value_found(struct ergo_text *out, const struct ergo_json *node);
/* Append the value in the canonical form of streams. */
void ergo_value_canonical(struct ergo_text *out, const struct ergo_key *key,
                          const struct ergo_value *value);

/* check.c: the tree against the tables, defaults, then what is required and missing. */
void ergo_check_tree(struct ergo_build *build);
void ergo_check_required(struct ergo_build *build);
/* suggest.c: the message for a key that is not in the tables. */
void ergo_suggest_key(struct ergo_build *build, const char *parent, const char *pointer,
                      const struct ergo_json *node);
/* words.c: the i-th name that jobs have for a word of other programs or of papers ("r_cut",
 * "GCMC"); NULL: there are no more. And the only one of n names that begins with a word, in any
 * case. */
const char *ergo_word_meant(const char *word, size_t i);
const char *ergo_word_begun(const char *word, const char *const *names, size_t n);
/* set.c: apply the --set texts to the tree. */
void ergo_set_apply(struct ergo_build *build, const char *const *sets, size_t n_sets);
/* scan.c: the axes of the scan; range.c: the values of one axis. */
void ergo_scan_read(struct ergo_build *build);
bool ergo_scan_range(struct ergo_build *build, const struct ergo_key *key, const char *pointer,
                     const struct ergo_json *range, struct ergo_axis *axis);
/* search.c: does anything have these words? */
bool ergo_help_mentions(const char *words);
/* help_tables.c */
enum { ERGO_HELP_INDENT = 6 };
/* Append words filled to the width of a page, each line indented. */
void ergo_help_filled(struct ergo_text *out, int indent, const char *text);
void ergo_help_key(struct ergo_text *out, const struct ergo_key *key);
void ergo_help_named(struct ergo_text *out, const char *name, const char *unit, const char *help);
/* A whole page each. */
void ergo_help_sampler(struct ergo_text *out, const struct ergo_sampler *sampler,
                       struct ergo_arena *arena);
void ergo_help_model(struct ergo_text *out, const struct ergo_sampler *sampler,
                     const struct ergo_model *model, struct ergo_arena *arena);
/* Whatever is called so, of one sampler (NULL: of all): false: nothing. */
bool ergo_help_name(struct ergo_text *out, const char *name, const struct ergo_sampler *only,
                    struct ergo_arena *arena);
/* All names that there is help on, and room for `more`. NULL: no memory. */
const char **ergo_help_names(struct ergo_arena *arena, size_t more, size_t *n_names);

/* order.c: which points run together, and which one after the other. The axes' positions at a scan
 * point; the first axis varies slowest. */
void ergo_scan_positions(const struct ergo_build *build, size_t scan_index,
                         size_t positions[ERGO_SCAN_MAX]);
/* /anneal and /start beside the rest of the job. */
void ergo_order_check(struct ergo_build *build);
void ergo_order_make(struct ergo_build *build, struct ergo_job *job, size_t replicas);

/* points.c: all points with their values, streams and batches, checked by the sampler. */
void ergo_points_make(struct ergo_build *build, struct ergo_job *job);

#endif
