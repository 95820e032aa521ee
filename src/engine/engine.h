/*
 * One batch on one device: buffers, kernels, launches, blocks of samples. What every model does on
 * a device is written here once; a model says what is its own.
 *
 * A model's state begins with `struct ergo_engine e`. Its `configure` declares the buffers and
 * kernels of the batch, with their sizes, before anything is allocated: the plan's memory is their
 * sum, create makes them, destroy releases them.
 *
 * The first error sticks: from there on launches, reads and writes do nothing, and whoever began
 * (ergo_engine_begin) asks at the end (ergo_engine_end). So a model's code has no checks between
 * its launches.
 *
 * Samples leave the device in blocks. Two blocks may be in flight, each with its own copy ("slot")
 * of the buffers that hold results.
 */
#ifndef ERGO_ENGINE_ENGINE_H
#define ERGO_ENGINE_ENGINE_H

#include "device/device.h"
#include "engine/plan.h"
#include "engine/replay.h"
#include "job/job.h"

enum ergo_buffer_kind {
    ERGO_BUFFER_NONE,     /* not declared: this batch does not need it */
    ERGO_BUFFER_STATE,    /* what the chains go on from; an audit keeps it and puts it back */
    ERGO_BUFFER_SCRATCH,  /* of no meaning from one step to the next */
    ERGO_BUFFER_RESULT,   /* written anew by each step, and read by measurements */
    ERGO_BUFFER_CONSTANT, /* written once by ergo_engine_constant; an audit checks it */
    ERGO_BUFFER_SAMPLES,  /* bytes of one sample of the batch; a block has many, in two slots */
    ERGO_BUFFER_CURVES,   /* bytes of one sample that carries curves; likewise */
    ERGO_BUFFER_BLOCK,    /* bytes of a whole block; likewise */
    ERGO_BUFFER_HOST      /* as ERGO_BUFFER_CURVES, but in host memory alone: what is read back from
                           * the state (ergo_engine_read_curve) */
};

enum {
    ERGO_BUFFERS = 40,
    ERGO_KERNELS = 40,
    ERGO_PROGRAMS = 12,
    ERGO_ARGS = 24,
    ERGO_MEMORIES = 24 /* pieces of host memory */
};

/* What a declared buffer is besides (ergo_engine_flag). */
enum ergo_buffer_flag {
    ERGO_BUFFER_EACH = 1,   /* one for each member: ergo_engine_choose says whose is meant */
    ERGO_BUFFER_HOSTED = 2, /* no result, and has host memory of its size: ergo_engine_host(..., 0,
                             * 0), of all members the same */
    ERGO_BUFFER_BESIDE = 4  /* hosted; its transfers go beside launches, where the device can */
};

struct ergo_engine_buffer {
    const char *what; /* "cells", for messages */
    enum ergo_buffer_kind kind;
    unsigned flags;
    bool zeroed; /* results: zeros when a block begins, for kernels that add */
    uint64_t bytes;
    cl_mem mem[2];  /* of results one for each slot, else the first alone */
    cl_mem *each;   /* [members] of ERGO_BUFFER_EACH; mem[0] is the chosen one */
    void *host[2];  /* of results; of hosted ones the first alone */
    cl_mem pins[2]; /* behind `host`, where the driver has such memory */
    cl_event read;  /* of ergo_engine_fetch */
    /* Of huge systems an audit keeps only these pieces of a state, window_bytes each; NULL: all. */
    struct ergo_replay_part *window;
    size_t window_bytes;
};

struct ergo_engine_kernel {
    const char *name; /* NULL: not declared */
    unsigned program;
    cl_kernel kernel;
};

struct ergo_engine_program {
    const char *path;
    char *options;
    cl_program program;
};

/* A block of samples on its way. */
struct ergo_engine_slot {
    size_t samples, curves; /* curves: samples that carry them */
    uint64_t step;          /* before the block's first step */
    uint64_t every, first_sample;
    cl_event ready;
    bool busy;
};

struct ergo_engine {
    const struct ergo_engine_model *model;
    const struct ergo_batch *batch;
    struct ergo_device *device;
    struct ergo_context *ctx; /* of the call under way */
    enum ergo_status status;  /* its first error */
    const void *given;        /* by ergo_engine_create_with, for configure; else NULL */
    struct ergo_plan plan;
    struct ergo_engine_buffer buffers[ERGO_BUFFERS];
    struct ergo_engine_kernel kernels[ERGO_KERNELS];
    struct ergo_engine_program programs[ERGO_PROGRAMS];
    struct ergo_constants constants;
    void *memories[ERGO_MEMORIES];
    size_t block_samples;    /* 0 when configure ends: as many as fit ERGO_BLOCK_BYTES */
    uint64_t curve_interval; /* samples from one with curves to the next; 0: none has */
    size_t curve_capacity;   /* samples with curves of a block */
    struct ergo_engine_slot slots[2];
    unsigned slot;           /* whose results launches are given */
    uint64_t step;           /* of all chains */
    cl_command_queue beside; /* of ERGO_BUFFER_BESIDE; NULL: they go by the device's */
};

/* Results of a block, and of its curves, take about so much memory at most. */
enum { ERGO_BLOCK_BYTES = 1 << 26, ERGO_BLOCK_SAMPLES = 1024 };

struct ergo_engine_model {
    const char *sampler; /* "hard-disks", for messages */
    const char *smaller; /* what to make smaller where memory does not suffice: "fewer disks" */
    size_t state_bytes;  /* of the state, which begins with a struct ergo_engine */
    bool pinned;         /* results in memory that transfers do not wait for */
    /* Shapes and launches of the batch, buffers and kernels, e.plan's path, launch,
     * launches_per_step, block_steps and work_per_step, and what else it adds to host_bytes;
     * ERGO_E_DEVICE with the reason where it cannot run. No device memory yet: a plan ends here. */
    enum ergo_status (*configure)(struct ergo_context *ctx, void *state);
    /* When kernels and buffers are there: constants, groups of work-items. NULL: nothing. */
    enum ergo_status (*prepare)(struct ergo_context *ctx, void *state);
    /* Enqueue so many steps from e.step on, which it moves. */
    void (*steps)(void *state, uint64_t steps);
    /* Enqueue the measurement of sample `sample` of the slot; measure_curves: `curve` of it. */
    void (*measure)(void *state, size_t sample);
    void (*measure_curves)(void *state, size_t curve);
    /* Or, instead of these three: `count` times (`every` steps, measure). NULL: by them. */
    void (*block)(void *state, size_t count, uint64_t every);
    /* Samples of a slot whose results are on the host. */
    enum ergo_status (*convert)(struct ergo_context *ctx, void *state, unsigned slot,
                                struct ergo_samples *samples);
    /* What the state has beside ergo_engine_memory. NULL: nothing. */
    void (*release)(void *state);
};

/* ---- declared by configure --------------------------------------------------------------------
 */

/* bytes 0: not needed. Numbers of rows are the model's own enum. */
void ergo_engine_buffer(struct ergo_engine *e, unsigned row, const char *what,
                        enum ergo_buffer_kind kind, uint64_t bytes);
/* Results to which kernels add: zeros when a block begins. */
void ergo_engine_sums(struct ergo_engine *e, unsigned row, const char *what,
                      enum ergo_buffer_kind kind, uint64_t bytes);
void ergo_engine_flag(struct ergo_engine *e, unsigned row, unsigned flags);
/* A kernel of the program `path`, built with `options` (copied; NULL: none). */
void ergo_engine_kernel(struct ergo_engine *e, unsigned kernel, const char *path,
                        const char *options, const char *name);

/* Host memory of the state, zeros, freed with it. NULL: there is none, and the error is noted. */
void *ergo_engine_memory(struct ergo_engine *e, size_t count, size_t size);

/* ---- a sampler's operations (samplers/sampler.h) ----------------------------------------------
 */

enum ergo_status ergo_engine_plan(struct ergo_context *ctx, const struct ergo_engine_model *model,
                                  const struct ergo_batch *batch, const struct ergo_device *device,
                                  struct ergo_plan *plan);
enum ergo_status ergo_engine_create(struct ergo_context *ctx, const struct ergo_engine_model *model,
                                    const struct ergo_batch *batch, struct ergo_device *device,
                                    void **state);
/* With what configure cannot know of the batch: shares of ranks, say, that a trial has measured. */
enum ergo_status ergo_engine_create_with(struct ergo_context *ctx,
                                         const struct ergo_engine_model *model,
                                         const struct ergo_batch *batch, struct ergo_device *device,
                                         const void *given, void **state);
/* All of it anew in the same state, because sizes and programs are others: what is declared goes,
 * with ergo_engine_memory; configure (with `given`), create and prepare follow. The step stays. */
enum ergo_status ergo_engine_remake(struct ergo_context *ctx, void *state, const void *given);
void ergo_engine_destroy(void *state); /* NULL-safe */
enum ergo_status ergo_engine_advance(struct ergo_context *ctx, void *state, unsigned slot,
                                     size_t count, uint64_t every, uint64_t first_sample);
enum ergo_status ergo_engine_collect(struct ergo_context *ctx, void *state, unsigned slot,
                                     struct ergo_samples *samples);

/* ---- work on the device -----------------------------------------------------------------------
 */

/* Errors of what follows go to ctx; end: the first one. */
static inline void ergo_engine_begin(struct ergo_engine *e, struct ergo_context *context) {
    e->ctx = context;
    e->status = ERGO_OK;
}
static inline enum ergo_status ergo_engine_end(const struct ergo_engine *e) {
    return e->status;
}
/* What is no launch but may fail, too: nothing follows it then. */
static inline void ergo_engine_note(struct ergo_engine *e, enum ergo_status status) {
    if (e->status == ERGO_OK)
        e->status = status;
}

struct ergo_grid {
    unsigned dims;
    size_t items[3], group[3];
};
/* So many items in groups of `group`, rounded up, for each of `members`. */
static inline struct ergo_grid ergo_grid_items(size_t items, size_t group, size_t members) {
    return (struct ergo_grid){2, {ergo_round_up(items, group), members, 1}, {group, 1, 1}};
}
static inline struct ergo_grid ergo_grid_groups(size_t groups, size_t group, size_t members) {
    return (struct ergo_grid){2, {groups * group, members, 1}, {group, 1, 1}};
}

/*
 * Arguments of ERGO_LAUNCH: a declared buffer (of results: the slot's), numbers, a plain value, and
 * local memory. BUFFER of one that is not declared is NULL in the kernel.
 */
#define ERGO_ARG_BUFFER SIZE_MAX /* the value is the row's number */
#define BUFFER(row) ((struct ergo_arg){ERGO_ARG_BUFFER, &(unsigned){row}})
#define U32(number) ((struct ergo_arg){sizeof(cl_uint), &(cl_uint){(cl_uint)(number)}})
#define U64(number) ((struct ergo_arg){sizeof(cl_ulong), &(cl_ulong){(cl_ulong)(number)}})
#define F32(number) ((struct ergo_arg){sizeof(cl_float), &(cl_float){(cl_float)(number)}})
#define VALUE(lvalue) ERGO_ARG(lvalue)
#define LOCAL(bytes) ERGO_ARG_LOCAL(bytes)

#define ERGO_LAUNCH(e, kernel, grid, ...)                                                          \
    ergo_engine_launch(e, kernel, grid, (const struct ergo_arg[]){__VA_ARGS__},                    \
                       sizeof((const struct ergo_arg[]){__VA_ARGS__}) / sizeof(struct ergo_arg))
void ergo_engine_launch(struct ergo_engine *e, unsigned kernel, struct ergo_grid grid,
                        const struct ergo_arg *args, size_t n_args);
/* At most `wish` work-items a group, halved until the kernel can be launched with them. */
size_t ergo_engine_group(struct ergo_engine *e, unsigned kernel, size_t wish);

/* Two buffers of one kind and size change places. */
void ergo_engine_swap(struct ergo_engine *e, unsigned a, unsigned b);
/* Blocking transfers. */
void ergo_engine_read(struct ergo_engine *e, unsigned row, size_t offset, size_t bytes, void *to);
void ergo_engine_write(struct ergo_engine *e, unsigned row, size_t offset, size_t bytes,
                       const void *from);
void ergo_engine_fill(struct ergo_engine *e, unsigned row, uint8_t byte);
/* The first bytes of results of the slot, or of a hosted buffer: zeros, enqueued only. */
void ergo_engine_zero(struct ergo_engine *e, unsigned row, size_t bytes);
/* The first bytes of a hosted buffer from its host memory, enqueued only; the host keeps them until
 * a later command has ended. Beside launches: waits, and none under way may use the buffer. */
void ergo_engine_send(struct ergo_engine *e, unsigned row, size_t bytes);
/* Buffers of each member are this one's from here on. */
void ergo_engine_choose(struct ergo_engine *e, size_t member);
/* A read that is enqueued only, one at a time of a row: the bytes are there after the await, which
 * does not wait for what is launched in between. */
void ergo_engine_fetch(struct ergo_engine *e, unsigned row, size_t offset, size_t bytes, void *to);
void ergo_engine_await(struct ergo_engine *e, unsigned row);
/* Into ERGO_BUFFER_HOST row `to`, `at` bytes behind where `curve` begins: enqueued only. */
void ergo_engine_read_curve(struct ergo_engine *e, unsigned row, size_t offset, size_t bytes,
                            unsigned to, size_t curve, size_t at);
/* The data of a declared constant. */
void ergo_engine_constant(struct ergo_engine *e, unsigned row, const void *data);
/* Another size for a declared buffer, whose bytes are lost; zeros. */
void ergo_engine_resize(struct ergo_engine *e, unsigned row, uint64_t bytes);
void ergo_engine_finish(struct ergo_engine *e);

/* Results of a slot on the host: of a sample, a curve, or the block (0). Hosted buffers: slot 0. */
static inline void *ergo_engine_host(const struct ergo_engine *e, unsigned row, unsigned slot,
                                     size_t at) {
    const struct ergo_engine_buffer *b = &e->buffers[row];
    return (char *)b->host[slot] + at * b->bytes;
}

/* For a model's `block`: does sample `sample` of it carry curves? */
bool ergo_engine_curve_due(const struct ergo_engine *e, size_t sample);

/* ---- audit ------------------------------------------------------------------------------------
 */

/* Rows of a replay (engine/replay.h) of an engine's state: row i is buffer i, then the step, then
 * `extra` ones of the model's own. */
enum { ERGO_REPLAY_EXTRA = ERGO_BUFFERS + 1 };
/*
 * ergo_replay with this engine's buffers, samples and steps; the caller has set samples, lead,
 * every, first_sample, n_columns, n_curves, curve_sizes, compare, user, remedy. extra (NULL: none):
 * rows of kind ERGO_REPLAY_HOST. In compare, kept[BUFFER'S ROW] is a state before the stretch.
 */
enum ergo_status ergo_engine_replay(struct ergo_context *ctx, struct ergo_engine *e,
                                    struct ergo_replay *r, const struct ergo_replay_row *extra,
                                    size_t n_extra);
/* Are the constants what was written? */
enum ergo_status ergo_engine_check_constants(struct ergo_context *ctx, struct ergo_engine *e);

#endif
