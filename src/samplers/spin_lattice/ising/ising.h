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

struct ising_state {
    struct ergo_engine e;
    struct ising_shape shape; /* of what is on this device */
    struct ising_shape whole; /* of the lattice */
    bool cut;                 /* what is here is a slab of it */
    struct ergo_slab slab;
    uint64_t *joined_curves; /* over all ranks: [curves][members][ising_joined_numbers()] */
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
void ising_fill(void *state); /* those of all members */
/* Does the point need ten acceptance classes (a field, or heat-bath dynamics)? */
bool ising_needs_field(const struct ergo_point *point);
uint32_t ising_reach(const struct ergo_point *point);

/* plan.c: path, launch sizes, buffers and kernels. ERGO_E_DEVICE if the device cannot run the
 * path that the job asks for. */
enum ergo_status ising_configure(struct ergo_context *ctx, void *state);

/* advance.c: functions of the engine's table */
void ising_steps(void *state, uint64_t sweeps);
/* A row of curve samples: pairs of opposite spins [axis][r - 1], then the spins of the rows here.
 */
void ising_add_curve_parts(const struct ising_state *s, unsigned slot, size_t row,
                           uint64_t *numbers);
void ising_block(void *state, size_t count, uint64_t every);
void ising_measure(void *state, size_t sample);
void ising_measure_curves(void *state, size_t curve);
void ising_columns(const void *state, size_t member, const uint64_t *sums, double *columns);
bool ising_curve_row(const void *state, unsigned slot, const struct ergo_row *row);
struct ising_physics ising_physics_of(const struct ergo_point *point);

/* state.c: the canonical state. Rows of (lx + 7) / 8 bytes in order of y. Bit x % 8 of byte x /
 * 8 is the spin at (x, y), 1 for up. Unused bits are zero. */
extern const struct ergo_fields ising_fields;
enum ergo_status ising_form(struct ergo_context *ctx, const struct ergo_point *point,
                            struct ergo_form *form);

/* device.c: the engine's functions of both tables. */
#define ISING_ENGINE                                                                               \
    .sampler = "spin-lattice", .smaller = "a smaller lattice",                                     \
    .state_bytes = sizeof(struct ising_state), .fields = &ising_fields, .start = ising_start,      \
    .steps = ising_steps, .block = ising_block, .columns = ising_columns,                          \
    .curve_row = ising_curve_row, .measure = ising_measure, .measure_curves = ising_measure_curves
enum ergo_status ising_prepare(struct ergo_context *ctx, void *state);
void ising_start(void *state);

size_t ising_joined_numbers(const struct ising_state *s); /* cut.c: a slab on each rank */

#endif
