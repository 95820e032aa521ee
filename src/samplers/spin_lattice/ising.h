/* The 2D Ising model on a device: shape, launch path, buffers. Internal to the sampler. */
#ifndef ERGO_SAMPLERS_SPIN_LATTICE_ISING_H
#define ERGO_SAMPLERS_SPIN_LATTICE_ISING_H

#include "engine/replay.h"
#include "samplers/sampler.h"

/* How sweeps are launched: speed, never bits. */
enum ising_path {
    ISING_PATH_AUTO = 0,
    ISING_PATH_LOCAL = 1,  /* a member per work-group, in local memory, many sweeps per launch */
    ISING_PATH_TILE = 2,   /* stripes with halos in local memory, several sweeps per launch */
    ISING_PATH_GLOBAL = 3, /* half a sweep per launch */
};

/* The lattice in words and blocks: see cl/spin_lattice/core.h. */
struct ising_shape {
    int64_t lx, ly;
    uint64_t words, blocks;   /* of one colour */
    uint32_t row_words, tail; /* words in a row of one colour, sites in its last word */
    uint64_t member_bytes;    /* both colours */
};

struct ising_launch {
    enum ising_path path;
    uint32_t group;          /* work-items per group */
    uint32_t sweeps, rows;   /* tile: sweeps per launch, rows per group */
    uint32_t measure_groups; /* partial sums per member; 1 on the local path */
    uint32_t sums;           /* ISING_SUMS: 3 where a member is an antiferromagnet */
    uint32_t correlate_parts;
    uint32_t reach;          /* largest correlation distance, 0: none */
    uint32_t rows_counted;   /* for the structure factor: all rows, or 0 */
    uint32_t curve_numbers;  /* per curve sample and member */
    uint32_t curve_capacity; /* curve samples per block */
    size_t block_samples;    /* samples per block */
    uint64_t launch_sweeps;  /* sweeps per launch at most: launches stay well below a second */
    bool lanes;              /* the kernels written for CPUs: eight blocks per work-item */
    int narrow;              /* ISING_NARROW: 0, 1 or 2 words a row */
    bool wide, full;         /* ISING_WIDE, ISING_FULL: see cl/spin_lattice/block.h, core.h */
    bool field;              /* ten classes */
    bool fixed;              /* one temperature: thresholds compiled in */
};

struct ising_slot {
    cl_mem sums, counts; /* device side of the samples */
    uint32_t *host_sums, *host_counts;
    cl_event sums_ready, counts_ready;
    size_t samples, curves;
};

struct ising_state {
    const struct ergo_batch *batch;
    struct ergo_device *device;
    struct ising_shape shape;
    struct ising_launch launch;
    struct ising_member *members; /* [batch->count] */
    cl_program global_program, fast_program;
    cl_kernel sweep, start, measure, correlate, row, fast; /* sweep: half a sweep of the lattice */
    size_t sweep_group, measure_group, correlate_group;    /* work-items; powers of two */
    cl_mem spins, scratch, member_buffer; /* scratch: the tile path's second lattice */
    struct ergo_constants constants;
    struct ising_slot slots[2];
    uint64_t step;
};

/* What is counted of a lattice. */
struct ising_counts {
    uint64_t up, unequal; /* spins; bonds */
    uint64_t first;       /* up spins of colour 0, x + y even */
};

struct ising_shape ising_shape_of(const struct ergo_point *point);
/* Acceptance thresholds and Philox key of a member. */
void ising_member_fill(const struct ergo_point *point, bool field, struct ising_member *member);
/* Does the point need the ten general classes (a field, or heat-bath dynamics)? */
bool ising_needs_field(const struct ergo_point *point);
uint32_t ising_reach(const struct ergo_point *point);

/* ising_plan.c: the path and its numbers for a batch on a device; ERGO_E_DEVICE when it cannot run.
 */
enum ergo_status ising_launch_plan(struct ergo_context *ctx, const struct ergo_batch *batch,
                                   const struct ergo_device *device, struct ising_launch *launch,
                                   struct ergo_plan *plan);

/* ising_job.c: what can be said of a point without a device. */
enum ergo_status ising_check(struct ergo_context *ctx, const struct ergo_point *point);
size_t ising_curve_size(const struct ergo_point *point, size_t c);
void ising_curve_x(const struct ergo_point *point, size_t c, double *x);
double ising_exact(const struct ergo_point *point, const char *observable);

/* ops */
enum ergo_status ising_create(struct ergo_context *ctx, const struct ergo_batch *batch,
                              struct ergo_device *device, void **state);
enum ergo_status ising_init(struct ergo_context *ctx, void *state);
enum ergo_status ising_advance(struct ergo_context *ctx, void *state, unsigned slot, size_t count,
                               uint64_t every, uint64_t first_sample);
enum ergo_status ising_collect(struct ergo_context *ctx, void *state, unsigned slot,
                               struct ergo_samples *samples);
void ising_destroy(void *state);
/* Columns of a sample, and curves of one (sample `row` of `samples`), from what was counted: pairs
 * [axis][r - 1], unequal ones at distance r; planes [y][2], whose second number is ising_rows'. */
void ising_columns(const struct ergo_point *point, const struct ising_shape *shape,
                   struct ising_counts counts, double *columns);
void ising_curves(const struct ising_state *state, size_t member, const uint64_t *pairs,
                  uint32_t *planes, size_t row, struct ergo_samples *samples);
/* Bytes of a slot that so many samples, and so many with curves, need. */
size_t ising_sums_bytes(const struct ising_state *state, size_t samples);
size_t ising_counts_bytes(const struct ising_state *state, size_t curves);

/* ising_state.c: the canonical state. Rows of (lx + 7) / 8 bytes, bit x % 8 of byte x / 8 is the
 * spin at (x, y), up = 1; rows in order of y; unused bits zero. */
enum ergo_status ising_save(struct ergo_context *ctx, void *state, size_t member,
                            struct ergo_text *text);
enum ergo_status ising_load(struct ergo_context *ctx, void *state, size_t member, uint64_t step,
                            const void *bytes, size_t length);
/* One member's canonical rows, malloc'ed. */
enum ergo_status ising_fetch(struct ergo_context *ctx, struct ising_state *s, size_t member,
                             uint8_t **rows, size_t *length);
enum ergo_status ising_audit(struct ergo_context *ctx, void *state);
enum ergo_status ising_frame(struct ergo_context *ctx, void *state, size_t member,
                             struct ergo_text *text);
enum ergo_status ising_picture(struct ergo_context *ctx, void *state, size_t member,
                               struct ergo_picture *picture);
/* Layout of one member to canonical bytes and back; pure, for tests. ising_unpack returns false
 * when an unused bit is set. */
void ising_pack(const struct ising_shape *shape, const uint32_t *words, uint8_t *rows);
bool ising_unpack(const struct ising_shape *shape, const uint8_t *rows, uint32_t *words);
/* Bytes of the canonical form. */
size_t ising_rows_bytes(const struct ising_shape *shape);
/* Counted from the canonical form, which is nothing like the kernels'. Unequal pairs at distances
 * r = first, first + stride ... up to reach: pairs [axis][r - 1]. Spins of each row, of staggered
 * ones those of colour 0 less those of colour 1: planes [y][2], the second number. */
struct ising_counts ising_count(const struct ising_shape *shape, const uint8_t *rows);
bool ising_count_pairs(const struct ising_shape *shape, const uint8_t *rows, size_t reach,
                       size_t first, size_t stride, uint64_t *pairs); /* false: no memory */
void ising_count_rows(const struct ising_shape *shape, const uint8_t *rows, bool staggered,
                      uint32_t *planes);

#endif
