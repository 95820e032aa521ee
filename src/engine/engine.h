/*
 * One batch on one device: buffers, kernels, launches, blocks of samples. The work on a device that
 * all models share is written here once; a model adds its own parts.
 *
 * A model's state begins with `struct ergo_engine e`. Its `configure` declares the buffers and
 * kernels of the batch, with their sizes, before anything is allocated. The plan's memory is their
 * sum, create makes them, destroy releases them.
 *
 * The first error sticks: after it launches, reads and writes do nothing. The caller starts with
 * ergo_engine_begin and asks once, by ergo_engine_end. So a model's code has no checks between its
 * launches.
 *
 * Samples leave the device in blocks. Two blocks may be in flight, each with its own copy ("slot")
 * of the buffers that hold results.
 */
#ifndef ERGO_ENGINE_ENGINE_H
#define ERGO_ENGINE_ENGINE_H

#include "device/device.h"
#include "engine/constants.h"
#include "engine/pace.h"
#include "engine/plan.h"
#include "engine/samples.h"
#include "job/job.h"

enum ergo_buffer_kind {
    ERGO_BUFFER_NONE,     /* not declared: this batch does not need it */
    ERGO_BUFFER_STATE,    /* from which chains continue */
    ERGO_BUFFER_SCRATCH,  /* has no meaning from one step to the next */
    ERGO_BUFFER_CONSTANT, /* written once by ergo_engine_constant; an audit checks it */
    ERGO_BUFFER_SAMPLES,  /* bytes of one sample of the batch; a block has many, in two slots */
    ERGO_BUFFER_CURVES,   /* bytes of one sample that carries curves; likewise */
    /* as ERGO_BUFFER_CURVES, but only in host memory: for data that are read back from the state
     * (ergo_engine_read_curve) */
    ERGO_BUFFER_HOST
};

enum {
    ERGO_MODEL_BUFFERS = 40, /* rows of the model; behind them those of a ladder (temper.h) */
    ERGO_ALIVE = 45, /* the engine's: the number of the last launch before results are read */
    ERGO_BUFFERS,
    ERGO_MODEL_KERNELS = 40,
    ERGO_ALIVE_KERNEL = 42,
    ERGO_KERNELS,
    ERGO_PROGRAMS = 13,
    ERGO_ARGS = 24,
    ERGO_MEMORIES = 24 /* pieces of host memory */
};

/* Further properties of a declared buffer (ergo_engine_flag). */
enum ergo_buffer_flag {
    ERGO_BUFFER_EACH = 1, /* one for each member; ergo_engine_choose selects the member */
    /* no result; has host memory of its size, one for all members: ergo_engine_host(..., 0, 0) */
    ERGO_BUFFER_HOSTED = 2,
    ERGO_BUFFER_BESIDE = 4 /* hosted; transfers run beside launches if the device can do it */
};

struct ergo_engine_buffer {
    const char *what; /* "cells", for messages */
    enum ergo_buffer_kind kind;
    unsigned flags;
    bool zeroed; /* results: zeroed when a block begins, because kernels add to them */
    bool ends;   /* read back when a block ends */
    uint64_t bytes;
    const void *table; /* what a constant holds, where configure makes it (ergo_engine_table) */
    /* results: one for each slot, and one for a ladder's energies (temper.h); else the first alone
     */
    cl_mem mem[3];
    cl_mem *each;   /* [members], ERGO_BUFFER_EACH; mem[0] is the chosen one */
    void *host[3];  /* for results and what `ends`; hosted buffers have the first alone */
    cl_mem pins[3]; /* behind `host`, where the driver has such memory */
    cl_event read;  /* of ergo_engine_fetch */
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

/* A block of samples in flight. */
struct ergo_engine_slot {
    size_t samples, curves; /* curves: number of samples that carry them */
    uint64_t step;          /* before the block's first step */
    uint64_t every, first_sample;
    cl_event ready;
    uint32_t alive; /* what ERGO_ALIVE has then */
    bool busy;
};

/* What ergo_engine_read_ahead has read: memories are read in several places, one after the other.
 */
enum { ERGO_WINDOWS = 32, ERGO_WINDOW = 1 << 18 };
struct ergo_ahead {
    struct ergo_window {
        cl_mem mem; /* NULL: nothing */
        size_t offset, bytes;
        char *data; /* owned */
    } windows[ERGO_WINDOWS];
    unsigned next; /* the one that is replaced */
};

/* Sums of a sample, of which columns are made: of each member `parts` times `narrow` numbers of 32
 * bits and then `wide` of 64, the lower half first. */
struct ergo_totals {
    unsigned row;
    uint32_t narrow, wide, parts;
    uint64_t *joined; /* of a lattice in slabs: [samples][members][narrow + wide], of all ranks */
};
enum { ERGO_TOTALS = 264 }; /* most numbers of a member */

/* Somebody looks at states after certain steps, and now and then waits for the device. */
struct ergo_engine;
struct ergo_engine_watch {
    uint64_t first; /* the first of these steps */
    uint64_t (*next)(const struct ergo_engine_watch *watch, uint64_t step); /* after `step` */
    /* e->step is one of them. The first one may come again, with the same state. */
    void (*event)(struct ergo_engine *e);
};

struct ergo_sampler_ops;
struct ergo_temper; /* engine/temper.h */
struct ergo_temper_model;
struct ergo_slab_model; /* engine/slab.h */
struct ergo_fields;     /* engine/fields.h */

struct ergo_engine {
    const struct ergo_engine_model *model;
    const struct ergo_batch *batch; /* of ladders that the engine tempers, the one of their rungs */
    struct ergo_temper *temper;     /* NULL: there are none */
    struct ergo_engine_watch *watch; /* NULL: nobody */
    struct ergo_device *device;
    struct ergo_context *ctx; /* of the current call */
    enum ergo_status status;  /* its first error */
    struct ergo_plan plan;
    struct ergo_engine_buffer buffers[ERGO_BUFFERS];
    struct ergo_engine_kernel kernels[ERGO_KERNELS];
    struct ergo_engine_program programs[ERGO_PROGRAMS];
    struct ergo_constants constants;
    struct ergo_totals totals;
    void *memories[ERGO_MEMORIES];
    size_t block_samples;     /* if 0 when configure ends: as many as fit ERGO_BLOCK_BYTES */
    uint64_t curve_interval;  /* samples from one with curves to the next; 0: none carries curves */
    uint64_t curve_row_bytes; /* host memory that makes a row of curves, where it is much */
    size_t curve_capacity;    /* most samples with curves in a block */
    struct ergo_engine_slot slots[2];
    unsigned slot; /* the slot whose results launches get */
    uint32_t alive;
    uint64_t step;  /* of all chains */
    uint32_t group; /* work-items, of ergo_engine_groups */
    /* Lengths of launches: of steps, if not started when configure ends from plan.block_steps; and
     * of what samples with curves take, in units of the model's, which starts it. */
    struct ergo_pace pace, curve_pace;
    struct ergo_ahead *ahead; /* ergo_engine_read_ahead; NULL: off */
    double lap;               /* of ergo_engine_lap */
    uint64_t changes;         /* grows with all that may change a buffer */
    cl_command_queue beside;  /* queue for ERGO_BUFFER_BESIDE; NULL: the device's queue is used */
};

/* About the most memory for the results of a block, and for those of its curves. */
enum { ERGO_BLOCK_BYTES = 1 << 26, ERGO_BLOCK_SAMPLES = 1024 };

struct ergo_engine_model {
    const char *sampler; /* "hard-disks", for messages */
    const char *smaller; /* what to make smaller if memory does not suffice: "fewer disks" */
    size_t state_bytes;  /* of the state, which begins with a struct ergo_engine */
    const struct ergo_fields *fields; /* its state; NULL: the model saves it by itself */
    /* Decide shapes and launches of the batch. Declare buffers and kernels. Set e.plan's path,
     * launch, launches_per_step, block_steps and work_per_step, and add to host_bytes. Return
     * ERGO_E_DEVICE with the reason if the batch cannot run. Allocate no device memory, because a
     * plan stops here. */
    enum ergo_status (*configure)(struct ergo_context *ctx, void *state);
    /* Called when kernels and buffers exist: constants, sizes of work-groups. NULL: nothing. */
    enum ergo_status (*prepare)(struct ergo_context *ctx, void *state);
    /* Enqueue the start of all members, for ergo_engine_init. */
    void (*start)(void *state);
    /* Enqueue this many steps from e.step on, and advance e.step. */
    void (*steps)(void *state, uint64_t steps);
    /* Enqueue the measurement of sample `sample` of the slot; measure_curves: its curves, as number
     * `curve`. */
    void (*measure)(void *state, size_t sample);
    void (*measure_curves)(void *state, size_t curve);
    /* Replaces these three: `count` times `every` steps and a measurement. NULL: they are used. */
    void (*block)(void *state, size_t count, uint64_t every);
    /* Make samples of a slot's results, which are on the host: first `convert`, by one core, then
     * `row` and `curve_row`, by many. NULL: nothing. */
    enum ergo_status (*convert)(struct ergo_context *ctx, void *state, unsigned slot,
                                struct ergo_samples *samples);
    /* The columns of a sample, of a member's sums (ergo_engine_totals); what has none has `row`. */
    void (*columns)(const void *state, size_t member, const uint64_t *sums, double *columns);
    /* The same of other results. False: those that cannot be, and `refuse` finds out which, or no
     * memory. */
    bool (*row)(const void *state, unsigned slot, const struct ergo_row *row);
    /* The curves of a sample that has some. */
    bool (*curve_row)(const void *state, unsigned slot, const struct ergo_row *row);
    /* Says what is wrong with a slot's results, if anything; NULL: nothing ever is. */
    enum ergo_status (*refuse)(struct ergo_context *ctx, const void *state, unsigned slot,
                               const struct ergo_samples *samples);
    /* Free what the state has besides ergo_engine_memory. NULL: nothing. */
    void (*release)(void *state);
    /* Where points have ladders of temperatures whose rungs are members; NULL: the model has no
     * ladders, or its own. */
    const struct ergo_temper_model *temper;
    const struct ergo_slab_model *slab; /* of lattices cut into slabs */
    /* The functions of a batch whose states are watched, as if they were not; NULL: none is. */
    const struct ergo_sampler_ops *watched;
};

/* ---- declared by configure --------------------------------------------------------------------
 */

/* bytes 0: not needed. The model's own enum numbers the rows. */
void ergo_engine_buffer(struct ergo_engine *e, unsigned row, const char *what,
                        enum ergo_buffer_kind kind, uint64_t bytes);
/* Results to which kernels add. They are zeroed when a block begins. */
void ergo_engine_sums(struct ergo_engine *e, unsigned row, const char *what,
                      enum ergo_buffer_kind kind, uint64_t bytes);
/* Sums of a sample, a buffer named "samples": `parts` of each member, which kernels write; 0: one,
 * to which they add. `columns` gets them added up, modulo 2^64, also over the ranks of a slab. */
void ergo_engine_totals(struct ergo_engine *e, unsigned row, uint32_t narrow, uint32_t wide,
                        uint32_t parts);
/* A declared buffer that is read back at the end of every block: ergo_engine_host(e, row, slot, 0).
 */
void ergo_engine_ends(struct ergo_engine *e, unsigned row);
void ergo_engine_flag(struct ergo_engine *e, unsigned row, unsigned flags);
/* A constant of `count` rows and the host memory for them, which configure fills: it is written
 * when `prepare` has ended. NULL: no memory, and the error is noted. */
void *ergo_engine_table(struct ergo_engine *e, unsigned row, const char *what, size_t count,
                        size_t size);
/* e->group: as the job says, else so many on a GPU or a CPU. When kernels exist it is halved until
 * each can be launched with it. */
void ergo_engine_groups(struct ergo_engine *e, uint32_t gpu, uint32_t cpu);
/* The plan of a step of `work` updates and so many launches: updates a second of a GPU, and of a
 * compute unit of a CPU. A launch costs 5 us and 10 us besides. */
void ergo_engine_rates(struct ergo_engine *e, double work, double launches, double gpu, double cpu);
/* A kernel of the program `path`, built with `options` (copied; NULL: none). */
void ergo_engine_kernel(struct ergo_engine *e, unsigned kernel, const char *path,
                        const char *options, const char *name);

/* Zeroed host memory that is freed with the state. NULL: there is none, and the error is noted. */
void *ergo_engine_memory(struct ergo_engine *e, size_t count, size_t size);

/* ---- a sampler's operations (samplers/sampler.h) ----------------------------------------------
 */

enum ergo_status ergo_engine_plan(struct ergo_context *ctx, const struct ergo_engine_model *model,
                                  const struct ergo_batch *batch, const struct ergo_device *device,
                                  struct ergo_plan *plan);
/* A state with everything decided and nothing on the device yet; NULL or to be destroyed when it
 * fails. ergo_engine_make makes the rest. */
enum ergo_status ergo_engine_configure(struct ergo_context *ctx,
                                       const struct ergo_engine_model *model,
                                       const struct ergo_batch *batch,
                                       const struct ergo_device *device, void **state);
/* Destroys the state when it fails. */
enum ergo_status ergo_engine_make(struct ergo_context *ctx, void **state);
/* Both. */
enum ergo_status ergo_engine_create(struct ergo_context *ctx, const struct ergo_engine_model *model,
                                    const struct ergo_batch *batch, struct ergo_device *device,
                                    void **state);
/* Configures the batch and shows what it has declared, programs and kernels too, to `look`; nothing
 * is on the device. */
enum ergo_status ergo_engine_declared(
    struct ergo_context *ctx, const struct ergo_engine_model *model, const struct ergo_batch *batch,
    const struct ergo_device *device,
    enum ergo_status (*look)(struct ergo_context *ctx, const struct ergo_engine *e, void *user),
    void *user);
/* Make everything anew in the same state, when sizes and programs change. Releases what is
 * declared, and ergo_engine_memory. Then configure and prepare follow, which find in the state what
 * is new, such as shares of ranks. The step stays. */
enum ergo_status ergo_engine_remake(struct ergo_context *ctx, void *state);
void ergo_engine_destroy(void *state); /* NULL-safe */
/* As if so many steps were made: for timings, which no chain follows. */
void ergo_engine_skip(void *state, uint64_t steps);
/* What the model's `start` enqueues, at step 0. */
enum ergo_status ergo_engine_init(struct ergo_context *ctx, void *state);
enum ergo_status ergo_engine_advance(struct ergo_context *ctx, void *state, unsigned slot,
                                     size_t count, uint64_t every, uint64_t first_sample);
enum ergo_status ergo_engine_collect(struct ergo_context *ctx, void *state, unsigned slot,
                                     struct ergo_samples *samples);

/* ---- work on the device -----------------------------------------------------------------------
 */

/* Errors from here on go to ctx. ergo_engine_end returns the first one. */
static inline void ergo_engine_begin(struct ergo_engine *e, struct ergo_context *context) {
    e->ctx = context;
    e->status = ERGO_OK;
}
static inline enum ergo_status ergo_engine_end(const struct ergo_engine *e) {
    return e->status;
}
/* For a step that is no launch but may fail: after an error nothing follows. */
static inline void ergo_engine_note(struct ergo_engine *e, enum ergo_status status) {
    if (e->status == ERGO_OK)
        e->status = status;
}
/* The same with a message, which is not made if another error came first. */
#define ERGO_ENGINE_FAIL(e, ...)                                                                   \
    ((e)->status == ERGO_OK ? (void)((e)->status = ERGO_FAIL((e)->ctx, __VA_ARGS__)) : (void)0)

struct ergo_grid {
    unsigned dims;
    size_t items[3], group[3];
};
/* `items` work-items in groups of `group`, rounded up, for each of `members`. */
static inline struct ergo_grid ergo_grid_items(size_t items, size_t group, size_t members) {
    return (struct ergo_grid){2, {ergo_round_up(items, group), members, 1}, {group, 1, 1}};
}
static inline struct ergo_grid ergo_grid_groups(size_t groups, size_t group, size_t members) {
    return (struct ergo_grid){2, {groups * group, members, 1}, {group, 1, 1}};
}

/* Arguments of ERGO_LAUNCH: a declared buffer (for results: that of the slot), numbers, a plain
 * value, and local memory. The kernel gets NULL for a buffer that is not declared. Numbers
 * are arrays of one: cppcheck 2.10 gives up on `&` among initialisers. */
#define ERGO_ARG_BUFFER SIZE_MAX /* the value is the row's number */
#define BUFFER(row) ((struct ergo_arg){ERGO_ARG_BUFFER, (unsigned[1]){row}})
#define U32(number) ((struct ergo_arg){sizeof(cl_uint), (cl_uint[1]){(cl_uint)(number)}})
#define U64(number) ((struct ergo_arg){sizeof(cl_ulong), (cl_ulong[1]){(cl_ulong)(number)}})
#define F32(number) ((struct ergo_arg){sizeof(cl_float), (cl_float[1]){(cl_float)(number)}})
#define VALUE(lvalue) ERGO_ARG(lvalue)
#define LOCAL(bytes) ERGO_ARG_LOCAL(bytes)

#define ERGO_LAUNCH(e, kernel, grid, ...)                                                          \
    ergo_engine_launch(e, kernel, grid, (const struct ergo_arg[]){__VA_ARGS__},                    \
                       sizeof((const struct ergo_arg[]){__VA_ARGS__}) / sizeof(struct ergo_arg))
void ergo_engine_launch(struct ergo_engine *e, unsigned kernel, struct ergo_grid grid,
                        const struct ergo_arg *args, size_t n_args);
/*
 * Units of work of the next launch, where `left` are to be made and `most` is the model's own
 * limit: so many that it is short, as `pace` has measured (engine/pace.h). The model launches them,
 * or fewer, and then says how many by ergo_engine_made. Until lengths have settled, and now and
 * then later, the two wait for the device to time that launch.
 */
uint64_t ergo_engine_next(struct ergo_engine *e, struct ergo_pace *pace, uint64_t left,
                          uint64_t most);
void ergo_engine_made(struct ergo_engine *e, struct ergo_pace *pace, uint64_t units);
/* At most `wish` work-items a group, halved until the kernel can be launched with them. */
size_t ergo_engine_group(struct ergo_engine *e, unsigned kernel, size_t wish);

/* For a kernel that was compiled for groups of `group`: ERGO_E_DEVICE if it cannot be launched with
 * them. One that is not declared passes. */
void ergo_engine_need_group(struct ergo_engine *e, unsigned kernel, size_t group);

/* Two buffers of one kind and size change places. */
void ergo_engine_swap(struct ergo_engine *e, unsigned a, unsigned b);
/* Blocking transfers. */
void ergo_engine_read(struct ergo_engine *e, unsigned row, size_t offset, size_t bytes, void *to);
/* From one call (on) to the next (off), small reads take along what follows: a device with states
 * of ten thousand members answers a few questions instead. Launches and writes through the engine
 * are noticed. */
void ergo_engine_read_ahead(struct ergo_engine *e, bool on);
void ergo_engine_write(struct ergo_engine *e, unsigned row, size_t offset, size_t bytes,
                       const void *from);
void ergo_engine_fill(struct ergo_engine *e, unsigned row, uint8_t byte);
/* Enqueue zeros for the first bytes of the slot's results, or of a hosted buffer. */
void ergo_engine_zero(struct ergo_engine *e, unsigned row, size_t bytes);
/* Enqueue a copy of the first bytes of a hosted buffer from its host memory, which must not change
 * until a later command has ended. For transfers beside launches it waits, and no running launch
 * may use the buffer. */
void ergo_engine_send(struct ergo_engine *e, unsigned row, size_t bytes);
/* From here on, buffers of each member mean those of this one. */
void ergo_engine_choose(struct ergo_engine *e, size_t member);
/* A read that is only enqueued, one at a time per row. The bytes are there after ergo_engine_await,
 * which does not wait for launches made in between. */
void ergo_engine_fetch(struct ergo_engine *e, unsigned row, size_t offset, size_t bytes, void *to);
void ergo_engine_await(struct ergo_engine *e, unsigned row);
/* Enqueue a read into ERGO_BUFFER_HOST row `to`, at offset `at` of curve number `curve`. */
void ergo_engine_read_curve(struct ergo_engine *e, unsigned row, size_t offset, size_t bytes,
                            unsigned to, size_t curve, size_t at);
/* Write the data of a declared constant, at first or anew; of all tables. */
void ergo_engine_constant(struct ergo_engine *e, unsigned row, const void *data);
void ergo_engine_constants(struct ergo_engine *e);
/* Enlarge a declared buffer. Its bytes stay: it has `pieces` equal pieces, and each is extended by
 * zeros. */
void ergo_engine_grow(struct ergo_engine *e, unsigned row, uint64_t bytes, size_t pieces);
/* Build a declared kernel again with other options. */
void ergo_engine_rebuild(struct ergo_engine *e, unsigned kernel, const char *options);
/*
 * For kernels that stop when they lack room. The model's `convert` sees this in what
 * ergo_engine_ends brought. The host makes room and enqueues the blocks again: for each busy slot,
 * the older block first, it sets e.slot, launches, and calls this to read the results again. This
 * only enqueues; ergo_engine_finish waits.
 */
void ergo_engine_read_again(struct ergo_engine *e, unsigned slot);
void ergo_engine_finish(struct ergo_engine *e);
/* Seconds since it was last called: for the log, and how fast a rank is. No chain depends on it. */
double ergo_engine_lap(struct ergo_engine *e);

/* Results of a slot on the host, for number `at` of its samples or curves. Hosted buffers: slot 0.
 */
static inline void *ergo_engine_host(const struct ergo_engine *e, unsigned row, unsigned slot,
                                     size_t at) {
    const struct ergo_engine_buffer *b = &e->buffers[row];
    return (char *)b->host[slot] + at * b->bytes;
}

/* The block of a model that has no `block` of its own. */
void ergo_engine_block(void *state, size_t count, uint64_t every);
/* For a model's `block`: does sample `sample` of the block carry curves? */
bool ergo_engine_curve_due(const struct ergo_engine *e, size_t sample);
/* How many of `count` samples from `first` on do. */
size_t ergo_engine_curves_due(const struct ergo_engine *e, size_t first, size_t count);
/* Samples from `sample` on until one carries curves; 0: it does. Only if any does. */
size_t ergo_engine_until_curve(const struct ergo_engine *e, size_t sample);
/* The sample, counted from the run's first one, that carries curve number `curve` of the block in a
 * slot. Only if any does. */
uint64_t ergo_engine_curve_sample(const struct ergo_engine *e, unsigned slot, size_t curve);
/* Rows of curves that are made at the same time, where each needs much memory: together no more
 * than a quarter of the machine's, but one at least. */
size_t ergo_engine_curve_rows(const struct ergo_engine *e);

/* A model whose functions have the table's names: it declares them, and its table has them. */
/* clang-format off */
#define ERGO_ENGINE_FUNCTIONS(name)                                                                \
    void name##_steps(void *state, uint64_t steps);                                                \
    void name##_measure(void *state, size_t sample);                                               \
    void name##_measure_curves(void *state, size_t curve);                                         \
    bool name##_row(const void *state, unsigned slot, const struct ergo_row *row);                 \
    bool name##_curve_row(const void *state, unsigned slot, const struct ergo_row *row);           \
    enum ergo_status name##_refuse(struct ergo_context *ctx, const void *state, unsigned slot,     \
                                   const struct ergo_samples *samples)
#define ERGO_ENGINE_ROWS(name)                                                                     \
    .steps = name##_steps, .measure = name##_measure, .measure_curves = name##_measure_curves,     \
    .row = name##_row, .curve_row = name##_curve_row, .refuse = name##_refuse
/* clang-format on */

/* Do the constants still hold what was written, and does the device make launches? (Blocks that
 * have no sample do not tell.) */
enum ergo_status ergo_engine_check(struct ergo_context *ctx, struct ergo_engine *e);

#endif
