/* Swendsen-Wang on a device: shape, launches, buffers. Internal to the sampler. */
#ifndef ERGO_SAMPLERS_SWENDSEN_WANG_SW_H
#define ERGO_SAMPLERS_SWENDSEN_WANG_SW_H

#include "engine/engine.h"
#include "samplers/sampler.h"
#include "samplers/swendsen_wang/parameters.h"
#include "swendsen_wang/correlate.h"
#include "swendsen_wang/params.h"

/* Layout of the lattice in words: see cl/swendsen_wang/core.h. */
struct sw_shape {
    int64_t lx, ly;
    uint32_t q, planes;
    uint32_t row_words, tail; /* words in a row; sites in its last word */
    uint64_t words;           /* of one plane */
    uint64_t sites;           /* lx ly */
    uint64_t member_bytes;    /* all planes */
};

struct sw_launch {
    bool local;                     /* one tile covers the lattice: whole sweeps in local memory */
    uint64_t most_sweeps;           /* if local: most sweeps per launch */
    uint32_t group;                 /* work-items per group, a power of two */
    uint32_t tile_words, tile_rows; /* of a tile */
    uint32_t
        tile_group; /* work-items for a tile: as many as words, or fewer; 2 or 4 times as many */
    uint64_t tiles; /* tiles of a member */
    uint64_t run_bytes;  /* labels of runs of a member */
    uint32_t label_bits; /* bits of a label for wrapping: 2, or 0 (labels.h) */
    uint32_t sum_groups; /* work-groups per member that count spins */
    uint32_t sum_slots;  /* partial sums per member */
};

/* Buffers on the device. Lattices in local memory have only spins, members and samples. */
enum sw_buffer {
    SW_SPINS,
    SW_MEMBERS,
    SW_RIGHT, /* bonds */
    SW_DOWN,
    SW_RUN_LABELS,
    SW_PARTS,
    SW_OPEN,
    SW_LABELS,
    SW_SIZES,
    /* samples: partial sums of spins, of clusters, and whether a cluster leads around the
     * lattice */
    SW_SUMS,
    SW_CLUSTERS,
    SW_WRAPS,
    /* correlations: sums over clusters; names of sites on lines; samples */
    SW_WAVES_INSIDE,
    SW_LINE_NAMES,
    SW_WAVES,
    SW_PAIRS
};

enum sw_kernel {
    SW_START,
    SW_MEASURE,
    SW_LABEL_TILES,
    SW_LABEL_SPINS,
    SW_LABEL_SIZES,
    SW_JOIN_TILES,
    SW_FLIP,
    SW_FLIP_SIZES,
    SW_COUNT_ROOTS,
    SW_LOCAL,
    SW_LOCAL_SAMPLES,
    SW_WAVE_TILES,
    SW_WAVE_ROOTS,
    SW_NAME_LINES,
    SW_COUNT_PAIRS
};

struct sw_state {
    struct ergo_engine e;
    struct sw_shape shape;
    struct sw_launch launch;
    bool clusters;             /* clusters are measured, not only spins */
    uint32_t distances;        /* of correlations (correlate.h); 0: they are not measured */
    bool started;              /* the spins are those of the start */
    struct sw_member *members; /* [batch->count] */
    struct sw_unit *units;
};

struct sw_shape sw_shape_of(const struct ergo_point *point);
/* 1 - exp(-J/T), J the coupling of H = -J sum (delta - 1) */
double sw_bond_probability(const struct ergo_point *point);
/* Philox key and bond probability of a member. */
void sw_member_fill(const struct ergo_point *point, struct sw_member *member);
/* Can a label on one device record whether a cluster leads around the lattice? */
bool sw_shape_counts_clusters(const struct sw_shape *shape);
/* Does the job ask for an observable that needs clusters? Or pairs of sites in one? */
bool sw_wants_clusters(const struct ergo_point *point);
bool sw_wants_pairs(const struct ergo_point *point);
/* Has the job a temperature? Method probability-changing begins at bond probability 1/2 or J/T = 1
 * without (sites/adapt.c); another one is refused. */
bool sw_has_temperature(const struct ergo_point *point);
enum ergo_status sw_temperature_check(struct ergo_context *ctx, const struct ergo_point *point);
/* Does it ask for correlations? sw_wants_clusters is then true, too. */
bool sw_correlates(const struct ergo_point *point);
/* Does /run/correlations act? sites/plan.c */
bool sw_may_correlate(const struct ergo_point *point);
/* Refuses the key where nothing needs it. */
enum ergo_status sw_correlate_check(struct ergo_context *ctx, const struct ergo_point *point);
uint32_t sw_distances_of(const struct ergo_point *point);
/* The `rule` of a model: what its spins are. */
struct sw_spins {
    uint32_t model, bytes; /* SW_MODEL_...; of a spin in the state of sites/ */
};
static inline const struct sw_spins *sw_spins_of(const struct ergo_point *point) {
    return point->job->model->rule;
}
static inline bool sw_is_potts(const struct ergo_point *point) {
    return sw_spins_of(point)->model == SW_MODEL_POTTS;
}
/* Is the Hamiltonian -J sum s s instead of -J sum (delta - 1)? */
bool sw_is_ising(const struct ergo_point *point);

/* plan.c */
/* Choose the tile of a lattice or a rectangle: sets the fields from tile_words to run_bytes, and
 * most_sweeps. */
void sw_choose_tile(const struct ergo_point *point, const struct sw_shape *shape, size_t members,
                    const struct ergo_device *device, struct sw_launch *launch);
enum ergo_status sw_configure(struct ergo_context *ctx, void *state);

/* device.c */
extern const struct ergo_engine_model sw_model;

/* advance.c */
void sw_steps(void *state, uint64_t sweeps);
void sw_block(void *state, size_t count, uint64_t every);
/* Counts of a sample of one member. They are exact, except that the sum of n^4 is rounded. (The
 * device's numbers cannot hold one cluster of 2^32 sites, but if clusters == 1 they are known.) */
struct sw_counts {
    uint64_t unequal, states[SW_Q_MAX];
    uint64_t clusters, largest, squares, bins[SW_CLUSTER_BINS];
    double fourths;
};
/* Add one partial sum of clusters. Carries stay in the limbs of squares and fourths. */
void sw_add_clusters(const uint32_t *fields, uint64_t *largest, uint64_t *bins, uint64_t *squares,
                     uint64_t *fourths);
/* Add up the partial sums of a sample of one member, each of q numbers and of SW_CLUSTER_FIELDS.
 * clusters NULL: not measured. */
void sw_add_partial_sums(uint32_t q, uint64_t sites, size_t slots, const uint32_t *sums,
                         const uint32_t *clusters, struct sw_counts *counts);
enum {
    SW_COLUMN_ENERGY,
    SW_COLUMN_ORDER,
    SW_COLUMN_PSI2,
    SW_COLUMN_IMPROVED,
    SW_COLUMN_CLUSTERS,
    SW_COLUMN_LARGEST,
    SW_COLUMN_WRAPS,
    SW_COLUMN_IMPROVED4,
    /* of sites/ alone */
    SW_COLUMN_WRAPS_X,
    SW_COLUMN_WRAPS_Y,
    SW_COLUMN_WRAPS_Z,
    SW_COLUMN_CHANCE,
    /* correlations */
    SW_COLUMN_HALF,
    SW_COLUMN_QUARTER,
    SW_COLUMN_WAVE2,
    SW_COLUMN_FIRST_STATE,
    SW_COLUMNS
};
/* Columns of the improved estimators, from sums of n^2 and n^4 over clusters. */
void sw_improve(const struct sw_shape *shape, uint64_t clusters, double squares, double fourths,
                double *columns);
/* Unit of the energy, so that it is read from the job only once for many samples. */
struct sw_unit {
    double coupling;
    double bonds; /* per site */
    bool ising;
    double ratio, field; /* of sites/disorder.c */
};
struct sw_unit sw_unit_of(const struct ergo_point *point);
/* Value of a sum in limbs of 16 bits, after its carries. Limbs are added from the lowest on, so
 * that rounding is the same everywhere. low (may be NULL): the sum modulo 2^64. */
double sw_limbs_value(const uint64_t *sums, size_t limbs, uint64_t *low);
/* Columns of a sample, except the wrapping and correlations; other columns are 0. */
void sw_convert(const struct sw_shape *shape, struct sw_unit unit, const struct sw_counts *counts,
                double *columns);
bool sw_row(const void *state, unsigned slot, const struct ergo_row *row);

/* correlate.c: sums of a sample of one member, as numbers that add up in any order: pairs in one
 * cluster, along rows and columns, by distance; the squares of waves, in limbs of 16 bits. */
enum { SW_WAVES_LIMBS = 9 };
struct sw_correlations {
    uint64_t pairs[2][SW_DISTANCES], waves[SW_WAVES_LIMBS];
};
/* The square of a cluster's sum of cos or sin; those that a device has added up. */
void sw_waves_add(uint64_t limbs[SW_WAVES_LIMBS], int64_t value);
void sw_waves_take(uint64_t limbs[SW_WAVES_LIMBS], const uint32_t *words);
/* Columns, and the curve (NULL: none). */
void sw_correlate_convert(const struct sw_shape *shape, uint32_t distances,
                          const struct sw_correlations *c, double *columns, double *curve);
/* Adds a line's pairs of sites of the same name. */
void sw_correlate_line(const uint64_t *names, uint32_t side, uint32_t distances, uint64_t *pairs);

/* state.c: the canonical state. For each row, for each bit-plane from the lowest on, (lx + 7) /
 * 8 bytes. Bit x % 8 of byte x / 8 is that bit of the state (0 .. q - 1) at (x, y). Unused bits
 * are 0. */
enum ergo_status sw_form(struct ergo_context *ctx, const struct ergo_point *point,
                         struct ergo_form *form);
extern const struct ergo_fields sw_fields;
/* The planes of a whole member, packed, after the text; and from what was saved, checked, into an
 * array that the caller frees. */
enum ergo_status sw_append_state(struct ergo_context *ctx, const struct sw_shape *shape,
                                 const uint32_t *planes, struct ergo_text *text);
enum ergo_status sw_read_state(struct ergo_context *ctx, const struct sw_shape *shape,
                               size_t member, const void *bytes, size_t length, uint32_t **planes);

/* A lattice for people, of a canonical state. */
void sw_look(const struct sw_shape *shape, struct ergo_view *view);

/* cut.h: the same sampler with one lattice over all ranks. */
extern const struct ergo_sampler_ops ergo_swendsen_wang_cut;

#endif
