/* The 2D Ising model on a device: shape, launch path, buffers. Internal to the sampler. */
#ifndef ERGO_SAMPLERS_SPIN_LATTICE_ISING_ISING_H
#define ERGO_SAMPLERS_SPIN_LATTICE_ISING_ISING_H

#include "base/bits.h"
#include "engine/engine.h"
#include "engine/slab.h"
#include "samplers/sampler.h"
#include "samplers/spin_lattice/bytes.h"

/* Launch paths. They change the speed and never the chain. */
enum ising_path {
    ISING_PATH_AUTO = 0,
    ISING_PATH_LOCAL = 1, /* a work-group per member, in local memory, many sweeps per launch */
    /* stripes of rows with halos in local memory, several sweeps per launch */
    ISING_PATH_TILE = 2,
    ISING_PATH_GLOBAL = 3, /* half a sweep per launch */
};

/* cl/spin_lattice/core.h describes the layout in words and blocks. Of a lattice, or of rows of one,
 * which begin at its block `first`. */
struct ising_shape {
    int64_t lx, ly;
    uint64_t words, blocks;   /* of one colour */
    uint32_t row_words, tail; /* words in a row of one colour; sites in its last word */
    uint64_t member_bytes;    /* both colours */
    uint64_t first, all;      /* all: blocks of the whole lattice */
};

struct ising_launch {
    enum ising_path path;
    uint32_t group;          /* work-items per group */
    uint32_t sweeps, rows;   /* tile: sweeps per launch, rows per group */
    uint32_t measure_groups; /* partial sums per member; 1 on the local path */
    /* sums of a sample: 3 if a member is an antiferromagnet, otherwise 2 */
    uint32_t sums;
    uint32_t correlate_parts;
    uint32_t reach;         /* largest correlation distance; 0: none */
    uint32_t rows_counted;  /* for the structure factor: all rows; 0: none */
    uint32_t curve_numbers; /* counts per curve sample and member */
    /* Local path: lattices of samples with curves that a launch keeps; 0: it ends at such a sample.
     */
    uint32_t snapshots;
    uint64_t launch_sweeps; /* local path: the most of a launch, whatever its length */
    /* local: sweeps whose random bits a launch of their own draws before (cl/spin_lattice/ahead.h);
     * 0: the sweeps draw them */
    uint32_t ahead;
    /* kernels with explicit vectors, for CPUs: eight blocks per work-item */
    bool lanes;
    int narrow;        /* ISING_NARROW: 0, 1 or 2 words a row */
    bool wide, full;   /* ISING_WIDE, ISING_FULL: see cl/spin_lattice/block.h, core.h */
    bool field;        /* ten acceptance classes instead of the two without a field */
    bool fixed;        /* all members have one temperature: thresholds are compiled in */
    uint32_t from, to; /* blocks that are measured: of a slab, its own */
};

enum ising_buffer {
    ISING_SPINS,
    ISING_OTHER, /* tile path: second copy of the spins */
    ISING_MEMBERS,
    ISING_BITS,      /* local path: random bits drawn ahead */
    ISING_SNAPSHOTS, /* [number][member] */
    ISING_SAMPLES,   /* [member][part][launch.sums] */
    ISING_CURVES,    /* [member][launch.curve_numbers] */
    ISING_EDGES,     /* of a slab, both outgoing and incoming */
    ISING_HALOS
};
enum ising_kernel {
    ISING_SWEEP, /* half a sweep or several, by the path */
    ISING_DRAW,
    ISING_START,
    ISING_MEASURE,
    ISING_CORRELATE,
    ISING_COUNT_ROWS,
    ISING_PACK, /* of a slab */
    ISING_UNPACK
};

/* What the energy is made of: coupling and field. */
struct ising_physics {
    double j, b;
};

/* Counts of a lattice. */
struct ising_counts {
    uint64_t up, unequal; /* up spins; bonds between opposite spins */
    uint64_t first;       /* up spins of colour 0 (x + y even) */
};

struct ising_state {
    struct ergo_engine e;
    struct ising_shape shape; /* of what is on this device */
    struct ising_shape whole; /* of the lattice */
    bool cut;                 /* what is here is a slab of it */
    struct ergo_slab slab;
    struct ising_counts *joined; /* of a block, over all ranks: [samples][members] */
    uint64_t *joined_curves;     /* [curves][members][ising_joined_numbers()] */
    struct ising_launch launch;
    struct ising_member *members; /* [batch->count] */
    struct ising_physics *physics;
    struct bytes_shape planes; /* for the structure factor */
    double *wave;
    /* work-items; powers of two */
    size_t sweep_group, measure_group, correlate_group;
};

struct ising_shape ising_shape_of(const struct ergo_point *point);
/* Rows of that lattice: `rows` from row `first` on, around its end. Both are multiples of
 * ising_granule, so that they begin a block and an even row. */
struct ising_shape ising_shape_of_rows(const struct ising_shape *whole, uint64_t first,
                                       uint64_t rows);
uint32_t ising_granule(const struct ising_shape *whole);
/* device.c: acceptance thresholds and Philox key of a member. */
void ising_member_fill(const struct ergo_point *point, bool field, struct ising_member *member);
/* Does the point need ten acceptance classes (a field, or heat-bath dynamics)? */
bool ising_needs_field(const struct ergo_point *point);
uint32_t ising_reach(const struct ergo_point *point);

/* model.c */
size_t ising_curve_size(const struct ergo_point *point, size_t c);

/* plan.c: path, launch sizes, buffers and kernels. ERGO_E_DEVICE if the device cannot run the
 * path that the job asks for. */
enum ergo_status ising_configure(struct ergo_context *ctx, void *state);

/* advance.c: functions of the engine's table */
void ising_steps(void *state, uint64_t sweeps);
/* Partial counts of a row of samples (sample times members plus member), added up. */
struct ising_counts ising_add_parts(const struct ising_state *s, unsigned slot, size_t row);
/* A row of curve samples: pairs as below, then the spins of the rows here. */
void ising_add_curve_parts(const struct ising_state *s, unsigned slot, size_t row,
                           uint64_t *numbers);
void ising_block(void *state, size_t count, uint64_t every);
bool ising_rows(const void *state, unsigned slot, size_t begin, size_t end,
                const struct ergo_samples *samples);
bool ising_curve_rows(const void *state, unsigned slot, size_t begin, size_t end,
                      const struct ergo_samples *samples);
/* Columns of a sample, and its curves as row `row` of `samples`. pairs[axis][r - 1]: pairs of
 * opposite spins at distance r. planes[y][2]: the second number as from ising_count_rows. */
struct ising_physics ising_physics_of(const struct ergo_point *point);
void ising_columns(struct ising_physics physics, const struct ising_shape *shape,
                   struct ising_counts counts, double *columns);
void ising_curves(const struct ising_state *state, size_t member, const uint64_t *pairs,
                  uint32_t *planes, size_t row, const struct ergo_samples *samples);

/* state.c: the canonical state. Rows of (lx + 7) / 8 bytes in order of y. Bit x % 8 of byte x /
 * 8 is the spin at (x, y), 1 for up. Unused bits are zero. */
enum ergo_status ising_save(struct ergo_context *ctx, void *state, size_t member,
                            struct ergo_text *text);
enum ergo_status ising_form(struct ergo_context *ctx, const struct ergo_point *point,
                            struct ergo_form *form);
enum ergo_status ising_load(struct ergo_context *ctx, void *state, size_t member, uint64_t step,
                            const void *bytes, size_t length);
/* One member's canonical rows, malloc'ed. */
enum ergo_status ising_fetch(struct ergo_context *ctx, struct ising_state *s, size_t member,
                             uint8_t **rows, size_t *length);
enum ergo_status ising_view(struct ergo_context *ctx, void *state, size_t member,
                            struct ergo_view *view);
struct ergo_view ising_view_of(const struct ising_shape *shape); /* without sites */
/* One member on the device, of which the canonical form is made. */
struct ergo_checkerboard ising_board(const struct ising_shape *shape);
/* Counted from the canonical form, which is nothing like the kernels'. behind: the row after the
 * last one. around: rows after which they begin again. Unequal pairs at distances
 * r = first, first + stride ... up to reach: pairs [axis][r - 1]. Spins of each row, of staggered
 * ones those of colour 0 less those of colour 1: planes [y][2], the second number. */
struct ising_counts ising_count(const struct ising_shape *shape, const uint8_t *rows,
                                const uint8_t *behind);
bool ising_count_pairs(const struct ising_shape *shape, const uint8_t *rows, size_t around,
                       size_t reach, size_t first, size_t stride,
                       uint64_t *pairs); /* false: no memory */
void ising_count_rows(const struct ising_shape *shape, const uint8_t *rows, bool staggered,
                      uint32_t *planes);

/* twin.c: the chain on the host, for audits and tests. */
/* Advance one member, in the device's layout (both colours, shape->member_bytes), by the sweeps
 * `step` to `step + sweeps - 1`. Some 10 ns per spin and sweep. */
void ising_twin_sweeps(const struct ergo_point *point, const struct ising_shape *shape,
                       uint32_t *words, uint64_t step, uint64_t sweeps);
/* The same, but only `rows` rows from row `first` on (with periodic boundary) are right at the
 * end. Each half sweep needs one more row on either side; other rows are wrong. */
void ising_twin_rows(const struct ergo_point *point, const struct ising_shape *shape,
                     uint32_t *words, uint64_t step, uint64_t sweeps, uint64_t first,
                     uint64_t rows);
/* Are the blocks `from` to `to` - 1 of both colours those of the job's start? */
bool ising_twin_is_start(const struct ergo_point *point, const struct ising_shape *shape,
                         const uint32_t *words, uint64_t from, uint64_t to);

/* audit.c */
enum ergo_status ising_audit(struct ergo_context *ctx, void *state);
/* A stretch of an audit. */
struct ising_stretch {
    struct ergo_replay r; /* first, because compare gets its address */
    size_t members;       /* members that are replayed */
    uint64_t first, rows; /* of each replayed member: all rows, or some around the boundary */
    /* Distances of correlations that are compared: first, first + stride, ... On huge lattices
     * these are not all, and later audits take others. */
    size_t pair_first, pair_stride;
};
/* s: with the shape of a whole lattice, whose words before the stretch and after it are these;
 * the twin moves `words` to the end. rows: memory for its canonical form. */
enum ergo_status ising_replay_whole(struct ergo_context *ctx, const struct ising_stretch *t,
                                    const struct ising_state *s, size_t member, uint32_t *words,
                                    const uint32_t *after, uint8_t *rows);
/* What is counted of a lattice and its columns and curves, against row `row` of the samples found,
 * and of those with curves (SIZE_MAX: it has none). */
enum ergo_status ising_compare_counts(struct ergo_context *ctx, const struct ising_stretch *t,
                                      const struct ising_state *s, size_t member,
                                      struct ising_counts counts, size_t row);
enum ergo_status ising_compare_curves(struct ergo_context *ctx, const struct ising_stretch *t,
                                      const struct ising_state *s, size_t member,
                                      const uint64_t *pairs, uint32_t *planes, size_t row);

/* device.c: the engine's functions of both tables. */
#define ISING_ENGINE                                                                               \
    .sampler = "spin-lattice", .smaller = "a smaller lattice",                                     \
    .state_bytes = sizeof(struct ising_state), .steps = ising_steps, .block = ising_block,         \
    .rows = ising_rows, .curve_rows = ising_curve_rows
enum ergo_status ising_prepare(struct ergo_context *ctx, void *state);
enum ergo_status ising_init(struct ergo_context *ctx, void *state);

/* cut.c: a slab of a lattice on each rank. cut_audit.c: its audit. */
size_t ising_joined_numbers(const struct ising_state *s);
enum ergo_status ising_cut_audit(struct ergo_context *ctx, void *state);

#endif
