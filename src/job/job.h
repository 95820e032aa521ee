/*
 * A job: JSON text, checked against key tables, expanded into points.
 *
 * The tables are the only place where a key is described: checking, defaults, the JSON schema,
 * `ergocl help` and the documentation are all made from them.
 */
#ifndef ERGO_JOB_JOB_H
#define ERGO_JOB_JOB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/error.h"
#include "job/parameters.h"

enum { ERGO_SCAN_MAX = 4 };

enum ergo_key_type {
    ERGO_KEY_REAL, /* finite double */
    ERGO_KEY_INT,  /* signed 64-bit; JSON integer or exact integer string */
    ERGO_KEY_SEED, /* unsigned 64-bit; string of decimal digits, or an integer up to 2^53 */
    ERGO_KEY_BOOL,
    ERGO_KEY_ENUM,   /* one of `choices` */
    ERGO_KEY_STRING, /* free text (may also be restricted by the sampler's check) */
    ERGO_KEY_SIZE,   /* array of min_items..max_items positive integers */
    ERGO_KEY_REALS,  /* array of min_items..max_items finite doubles; not scanned */
    ERGO_KEY_TIME,   /* "HH:MM:SS" or seconds as a number; stored as real seconds */
};

enum ergo_key_flags {
    ERGO_KEY_REQUIRED = 1,
    ERGO_KEY_SCAN = 2,  /* may be scanned (any numeric key that describes physics or length) */
    ERGO_KEY_SHAPE = 4, /* batch members must agree on it: a scan over it makes several batches */
    ERGO_KEY_CHAIN = 8, /* part of the chain's identity: enters the random stream of a point */
    ERGO_KEY_EXCLUDES_MIN = 16, /* the range is open at min (value > min) */
    ERGO_KEY_AUTO = 32,         /* INT: or "auto", which counts as min until a run has chosen */
    ERGO_KEY_FILE = 64,   /* STRING: name of a file that the chain depends on: a run keeps it */
    ERGO_KEY_WORD = 128,  /* of these: a text without a dot and a slash is a word and names no
                           * file */
    ERGO_KEY_LIST = 512,  /* ENUM: or an array of up to max_items of them, whose text has commas;
                           * REAL: or an array of min_items..max_items of them, not scanned */
    ERGO_KEY_HOW = 256,   /* how a run is made, written and watched: an extension may change it */
    ERGO_KEY_FORM = 1024, /* a state fits only points that agree on it: no chain starts from one of
                           * another value */
};

struct ergo_point;

/* What a parameter struct's member is, and so which part of a value goes there. A text is NULL, a
 * number 0 where the key has no value; a member that has to say more than that is a struct
 * ergo_value. */
enum ergo_holds {
    ERGO_HOLDS_NOTHING, /* nobody asks for the key's value */
    ERGO_HOLDS_VALUE,
    ERGO_HOLDS_REAL,
    ERGO_HOLDS_INT,
    ERGO_HOLDS_BOOL,
    ERGO_HOLDS_TEXT
};

struct ergo_key {
    const char *pointer; /* "/system/temperature" */
    enum ergo_key_type type;
    size_t at; /* of the member in the model's parameter struct that has the value (ERGO_AT) */
    enum ergo_holds holds;
    unsigned flags;
    const char *fallback;       /* default as JSON text; NULL and not required: absent by default */
    const char *stream;         /* CHAIN: what counts in the stream where the job does not give the
                                 * key, "" nothing; NULL: the default */
    double min, max;            /* inclusive range of numbers (each array element); both 0: none */
    int min_items, max_items;   /* ERGO_KEY_SIZE, ERGO_KEY_REALS, ERGO_KEY_LIST */
    const char *const *choices; /* ERGO_KEY_ENUM: NULL-terminated */
    /* ENUM: the choice at a point whose job gives none, if not `fallback` (NULL, also the function:
     * that one); `help` says where. */
    const char *(*instead)(const struct ergo_point *point);
    const char *unit; /* "" when dimensionless */
    const char *help; /* one sentence; names paper and equation where it has one */
    /* Where the key has an effect: true at such a point; NULL: everywhere. A job that gives the key
     * and has no such point is refused. (A key that refines a measurement also acts where its
     * interval is 0: that says by itself that no such measurement is wanted.) `where` says the same
     * in words, after "acts only ": "in models ising and potts", "where swap_every ..." */
    bool (*acts)(const struct ergo_point *point);
    const char *where;
};

/* How a key's row begins: ERGO_KEY("/system/temperature", REAL). */
#define ERGO_KEY(pointer_, type_) .pointer = (pointer_), .type = ERGO_KEY_##type_

/* Where the value lives: ERGO_AT(struct lattice_parameters, coupling). */
#define ERGO_AT(type_, member_)                                                                    \
    .at = offsetof(type_, member_), .holds = _Generic(((type_ *)0)->member_,                       \
                                                      struct ergo_value: ERGO_HOLDS_VALUE,         \
                                                      double: ERGO_HOLDS_REAL,                     \
                                                      int64_t: ERGO_HOLDS_INT,                     \
                                                      bool: ERGO_HOLDS_BOOL,                       \
                                                      const char *: ERGO_HOLDS_TEXT)

/* Do two points have the same, or neither of them any? */
bool ergo_value_same(const struct ergo_key *key, const struct ergo_value *a,
                     const struct ergo_value *b);
/* What a value is read as: REALS where a REAL was given as an array (ERGO_KEY_LIST). */
static inline enum ergo_key_type ergo_value_type(const struct ergo_key *key,
                                                 const struct ergo_value *value) {
    return key->type == ERGO_KEY_REAL && value->items > 0 ? ERGO_KEY_REALS : key->type;
}

/* One scanned coordinate of a point: "/system/temperature" = 2.3, or "/system/size/0" = 64. A scan
 * over a whole SIZE, "/system/size": [[16, 16], [32, 32]], gives one coordinate per element. */
struct ergo_scanned {
    const char *pointer; /* owned by the job */
    double value;
};

/* One scan point of one replica: a batch member. Values are resolved (defaults filled in). */
struct ergo_point {
    const struct ergo_job *job;
    struct ergo_value *values; /* parallel to the job's keys */
    /* The same by their names: the first member of the model's parameter struct, which the rows of
     * its keys fill. */
    struct ergo_parameters *parameters;
    size_t index; /* position in the job's list of points: scan index * replicas + r */
    size_t scan_index;
    uint32_t replica;
    size_t n_scanned;
    struct ergo_scanned scanned[ERGO_SCAN_MAX];
    /* /anneal: the chain whose last state this one starts from, and the one that starts from this
     * one's; NULL: none. */
    const struct ergo_point *previous, *next;
    /* Philox key. First 8 bytes of SHA-256 over the sampler's name, the seed, the replica and all
     * CHAIN keys in canonical form: a point's chain depends on its own physics alone, not on the
     * scan or batch it is part of, nor on how long it runs. */
    uint64_t stream;
};

/* A maximal set of points that agree on all SHAPE keys, in job order. */
struct ergo_batch {
    const struct ergo_job *job;
    size_t count;
    struct ergo_point **points;
};

/* Contents of the files that keys name (ERGO_KEY_FILE). */
struct ergo_job_file {
    char *pointer; /* of the key */
    char *text;    /* with a terminating zero beyond length */
    size_t length;
};
struct ergo_job_files {
    size_t count, capacity;
    struct ergo_job_file *files;
    bool all; /* complete, from a checkpoint: no file is opened */
};
/* Adds a copy; false: no memory. */
bool ergo_job_files_add(struct ergo_job_files *list, const char *pointer, const char *text,
                        size_t length);
void ergo_job_files_free(struct ergo_job_files *list);
/* The file of a key, NULL: there is none. */
const struct ergo_job_file *ergo_job_files_find(const struct ergo_job_files *list,
                                                const char *pointer);

struct ergo_job {
    char *name;
    char *canonical; /* the whole job after --set, as compact JSON: what a checkpoint stores */
    /* A copy, or parsed again from its canonical text, as by a resume: files that only a start
     * needs are not looked at again. */
    bool again;
    const struct ergo_sampler *sampler;
    const struct ergo_model *model; /* of the sampler (job/model.h) */
    size_t n_keys;
    const struct ergo_key *const *keys; /* common keys, then the sampler's */
    size_t n_points;
    struct ergo_point *points;
    size_t n_batches;
    struct ergo_batch *batches;
    struct ergo_job_files files;      /* contents of files: read once by a run, and in its
                                       * checkpoints */
    struct ergo_job_storage *storage; /* memory that the above points into */
};

/* The keys all samplers share (sampler, seed, replicas, run, scan, device, checkpoint, ...). */
extern const struct ergo_key ergo_job_common_keys[];
extern const size_t ergo_job_n_common_keys;

/* Values by pointer. An unknown pointer is a bug in the caller: it aborts with a message. */
const struct ergo_value *ergo_point_value(const struct ergo_point *point, const char *pointer);
double ergo_point_real(const struct ergo_point *point, const char *pointer);
int64_t ergo_point_int(const struct ergo_point *point, const char *pointer);
bool ergo_point_bool(const struct ergo_point *point, const char *pointer);
const char *ergo_point_text(const struct ergo_point *point, const char *pointer);

/* The point's parameters as its values say: after one has changed. */
void ergo_point_fill(const struct ergo_point *point);
/* A copy with values and parameters of its own, which free(copy->values) frees; false: no memory.
 */
bool ergo_point_copy(const struct ergo_point *point, struct ergo_point *copy);
/* Bytes of a point's parameters. */
size_t ergo_job_parameters_size(const struct ergo_job *job);

/* Is the value of a key this word? */
static inline bool ergo_says(const char *text, const char *word) {
    return text && strcmp(text, word) == 0;
}

/* Does /run/observables ask for this observable or curve? */
bool ergo_point_asks(const struct ergo_point *point, const char *name);

/* Record an error at a JSON pointer; a sampler's `check` uses it too. `check` is called once per
 * scan point, and only when every key is right by itself, so values are there and in range; equal
 * messages of several points are shown once, with the scan values when not all points have them.
 * The message should say what was found and what is allowed. Returns ERGO_E_JOB. */
enum ergo_status ergo_job_error(struct ergo_context *ctx, const char *pointer, const char *format,
                                ...) ERGO_PRINTF(3, 4);

struct ergo_text;
/* " (at POINTER = VALUE, ...)" of what is scanned, or "", appended to an empty text: the end of a
 * message about another point than the one that is checked. */
const char *ergo_point_place(const struct ergo_point *point, struct ergo_text *text);

/* A job from a checkpoint, with its files, which it takes over; and with other values for some
 * keys. */
enum ergo_status ergo_job_parse_stored(struct ergo_context *ctx, const char *text, size_t length,
                                       const char *name, const char *const *sets, size_t n_sets,
                                       struct ergo_job_files *files, struct ergo_job **job);

/* A copy of a job, of which values may change (ergo_point_fill); and one with other values for some
 * keys, which is checked anew. Both have the files that the job has. */
enum ergo_status ergo_job_copy(struct ergo_context *ctx, const struct ergo_job *job,
                               struct ergo_job **copy);
enum ergo_status ergo_job_again(struct ergo_context *ctx, const struct ergo_job *job,
                                const char *const *sets, size_t n_sets, struct ergo_job **copy);

/*
 * extend.c: does `to` go on with the points of `from`? All are in it, with the same values of all
 * keys but those that say how (ERGO_KEY_HOW) and /run/sweeps; it may have more points and replicas.
 * map[i], of each point of `to`: the number of the same one in `from`, or SIZE_MAX. ERGO_E_JOB with
 * the key and the reason.
 */
enum ergo_status ergo_job_extends(struct ergo_context *ctx, const struct ergo_job *from,
                                  const struct ergo_job *to, size_t *map);
/* Do states of one point fit the other, of another job? ERGO_E_JOB at `pointer` with both values of
 * the first key on which they depend and differ; whose: `from`'s folder. */
enum ergo_status ergo_job_fits(struct ergo_context *ctx, const struct ergo_point *from,
                               const struct ergo_point *to, const char *pointer, const char *whose);
/* The same points, as long, with nothing else than the device and the like of another value: parts
 * of one run. */
enum ergo_status ergo_job_same(struct ergo_context *ctx, const struct ergo_job *a,
                               const struct ergo_job *b);
/* Which of n parts each point is of, from 1 on, malloc'ed; NULL: no memory. The points of a batch,
 * which cost the same, are dealt out in turn; those that follow one another stay together. */
uint32_t *ergo_job_deal(const struct ergo_job *job, unsigned n);
#endif
