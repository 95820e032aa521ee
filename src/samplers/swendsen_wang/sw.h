/* Swendsen-Wang on a device: shape, launches, buffers. Internal to the sampler. */
#ifndef ERGO_SAMPLERS_SWENDSEN_WANG_SW_H
#define ERGO_SAMPLERS_SWENDSEN_WANG_SW_H

#include "engine/engine.h"
#include "samplers/sampler.h"
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
    SW_NAMES, /* representatives of sites, for audits */
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
enum { SW_NAMES_AT_ONCE = 4096 }; /* words per launch of sw_audit_names */

enum sw_kernel {
    SW_START,
    SW_MEASURE,
    SW_NAME_SITES,
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
enum ergo_status sw_init(struct ergo_context *ctx, void *state);

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
bool sw_rows(const void *state, unsigned slot, size_t begin, size_t end,
             const struct ergo_samples *samples);

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

/* wraps.c: Does a cluster lead around the lattice? For audits, and for whole lattices over many
 * ranks. pairs: labels that bonds around the lattice join, first `rows` entries across the right
 * edge, then those across the lower edge. Two times SW_NO_BOND means no bond. */
struct sw_wraps;
struct sw_wraps *sw_wraps_create(size_t most_pairs); /* NULL: no memory */
void sw_wraps_destroy(struct sw_wraps *wraps);
void sw_wraps_find(struct sw_wraps *wraps, const uint32_t *pairs, size_t rows, size_t count,
                   bool *around_x, bool *around_y);

/* state.c: the canonical state. For each row, for each bit-plane from the lowest on, (lx + 7) /
 * 8 bytes. Bit x % 8 of byte x / 8 is that bit of the state (0 .. q - 1) at (x, y). Unused bits
 * are 0. */
enum ergo_status sw_form(struct ergo_context *ctx, const struct ergo_point *point,
                         struct ergo_form *form);
enum ergo_status sw_save(struct ergo_context *ctx, void *state, size_t member,
                         struct ergo_text *text);
enum ergo_status sw_load(struct ergo_context *ctx, void *state, size_t member, uint64_t step,
                         const void *bytes, size_t length);
enum ergo_status sw_view(struct ergo_context *ctx, void *state, size_t member,
                         struct ergo_view *view);
/* The planes of a whole member, packed, after the text; and from what was saved, checked, into an
 * array that the caller frees. */
enum ergo_status sw_append_state(struct ergo_context *ctx, const struct sw_shape *shape,
                                 const uint32_t *planes, struct ergo_text *text);
enum ergo_status sw_read_state(struct ergo_context *ctx, const struct sw_shape *shape,
                               size_t member, const void *bytes, size_t length, uint32_t **planes);

/* A lattice for people; its sites, planes as on the device, are the caller's to set. */
struct ergo_view sw_view_of(const struct sw_shape *shape);

/* cut.h: the same sampler with one lattice over all ranks. */
extern const struct ergo_sampler_ops ergo_swendsen_wang_cut;

/* audit.c */
enum ergo_status sw_audit(struct ergo_context *ctx, void *state);
/* audit_rows.c: the audit of some rows of a lattice; not for lattices in local memory. */
enum ergo_status sw_audit_rows(struct ergo_context *ctx, struct sw_state *s);
/* Representatives of the sites of the words first .. first + count - 1 of a member after a
 * sweep: names[32 count]. Not for lattices in local memory. */
enum ergo_status sw_audit_names(struct ergo_context *ctx, struct sw_state *s, size_t member,
                                uint64_t first, uint64_t count, uint32_t *names);

/* twin.c: a sweep of one member on the host, in the device's layout, with labels by Hoshen and
 * Kopelman. labels[32 words]: the root of each site. After a counted sweep also the counts, and
 * whether a cluster leads around the lattice. */
struct sw_twin {
    uint32_t *planes, *right, *down, *labels, *sizes;
    uint32_t *around_pairs; /* labels that each bond around the lattice joins, before it does */
    uint8_t *states;        /* of sites */
    struct sw_wraps *wraps;
    struct sw_counts counts;
    bool around;
};
bool sw_twin_open(struct sw_twin *twin, const struct sw_shape *shape); /* false: no memory */
void sw_twin_close(struct sw_twin *twin);
void sw_twin_start(const struct ergo_point *point, const struct sw_shape *shape,
                   struct sw_twin *twin);
void sw_twin_sweep(const struct ergo_point *point, const struct sw_shape *shape, uint64_t step,
                   bool counted, struct sw_twin *twin);
/* Add n^4, from n^2 below 2^64, to a sum of 128 bits; and its value, rounded as in advance.c. */
void sw_add_fourth(uint64_t sum[2], uint64_t square);
double sw_fourths_value(const uint64_t sum[2]);
/* Bits of the sites of a word whose neighbour to the right (side), or below (under), is equal. */
void sw_twin_equal(const struct sw_shape *shape, const uint32_t *planes, uint32_t i, uint32_t y,
                   uint32_t *side, uint32_t *under);
/* Count clusters, and find whether one leads around the lattice, from the twin's bonds. */
void sw_twin_count_clusters(const struct sw_shape *shape, struct sw_twin *twin);
/* After a counted sweep, its correlations. False: no memory. */
bool sw_twin_correlate(const struct sw_shape *shape, uint32_t distances, const struct sw_twin *twin,
                       struct sw_correlations *c);
/* audit.c: what of a replay's row `at` (a sample times the members plus a member) differs from the
 * twin's counts: *wrong, or NULL. */
enum ergo_status sw_sample_differs(struct ergo_context *ctx, const struct sw_shape *shape,
                                   const struct ergo_point *point, bool clusters,
                                   uint32_t distances, const struct sw_twin *twin,
                                   const struct ergo_replay *r, size_t at, const char **wrong);
/* Sizes of a replay's SW_CURVES curves. */
void sw_replay_curves(const struct sw_shape *shape, bool clusters, uint32_t distances,
                      size_t *sizes);
/* audit_rows.c: Are these possible sums over the clusters of `sites` sites? Sums of powers are
 * in limbs of 16 bits. */
bool sw_clusters_fit(uint64_t sites, const uint64_t *bins, size_t n_bins, uint64_t largest,
                     const uint64_t *squares, size_t n_squares, const uint64_t *fourths,
                     size_t n_fourths);
/* Count spins and unequal bonds. */
void sw_twin_count_spins(const struct sw_shape *shape, const uint32_t *planes,
                         struct sw_counts *counts);

#endif
