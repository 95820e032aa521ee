/*
 * What several runs say together, from their checkpoints; no device.
 *
 *     gather.c     runs become systems (all that weights do not depend on is equal), their states
 *                  (equal weights) and chains
 *     target.c     points at other values of keys
 *     weights.c    the samples of a system, as MBAR needs them: parts whose states overlap
 *     overlap.c    which states overlap, and where samples are inside of the overlap
 *     evaluate.c   observables of a part at any point, with jackknife errors
 *     rows.c       the table of reweighted observables
 *     pool.c       chains of one state: means, errors, chi^2
 *     curve.c      an observable of a system along the axis, reweighted or interpolated
 *     cross.c      where curves of sizes cross, and where to for large sizes
 *     scale.c      fits of finite-size scaling
 *     coexist.c    where two phases have the same weight
 *     critical.c   where N - s E is distributed as an Ising model's magnetization
 *     matrix.c     ln Pi(N) of a transition matrix, and its two phases
 *     excess.c     adsorption beside the bulk fluid
 *     analysis.c   the public functions; table.c, json.c, page.c: what people and programs read
 */
#ifndef ERGO_ANALYSE_ANALYSE_H
#define ERGO_ANALYSE_ANALYSE_H

#include "result/result.h"
#include "stats/mbar.h"

/*
 * Blocks of the jackknife are at least BLOCK_TAU autocorrelation times of the slowest series long;
 * with fewer than BLOCKS_MIN of them there is no error. What is left of the correlation between
 * blocks makes errors 1 / (2 BLOCK_TAU) too small.
 */
enum {
    ERGO_ANALYSE_BLOCKS = 40,
    ERGO_ANALYSE_BLOCKS_MIN = 10,
    ERGO_ANALYSE_BLOCK_TAU = 10,
    ERGO_ANALYSE_CHAIN_TAU = 20 /* a single chain, or its tau is not known */
};
/*
 * Independent samples on which the error rests that a point needs to be inside of the overlap. Of a
 * Gaussian of n samples, shifted by s standard deviations, the mean rests on those near s, E =
 * n exp(-s^2/2) (the number by the entropy of the weights), but its variance, a mean over squared
 * weights, on those near 2s: n exp(-2 s^2), far fewer than Kish's number K = n exp(-s^2), and in
 * the terms of both K (K/E)^2. Where they are missing, the error is too small and K too large. At
 * ends of ranges by 100 of K the scatter over the quoted error is 1.6 of n = 340 and 2.6 of 6,660;
 * by 100 of these it is 1.2 to 1.4, up to n = 100,000 (tests/unit/test_analyse_ends.c
 * keeps 1,000 and 6,000 below 1.6).
 */
enum { ERGO_ANALYSE_INDEPENDENT = 100 };
/* The exponent of corrections to scaling where none is given: a small one (0.83 of the Ising model
 * in three dimensions, 0.8 of the Potts model with q = 3 in two), so that more is taken to be left.
 */
#define ERGO_ANALYSE_OMEGA 0.8

/* A chain of a state. */
struct ergo_chain {
    const struct ergo_member_result *member;
    size_t run;
    uint64_t disorder; /* the seed that its sample has beside the replica; 0: none is drawn */
    size_t draw;       /* the number of this sample among those of all systems */
    size_t n_columns;  /* that have a series, and the energy's */
    uint8_t columns[ERGO_COLUMNS_MAX];
};

/* Chains with the same weights. */
struct ergo_state {
    const struct ergo_point *point;
    size_t first, count; /* chains of the system; until they are sorted, which state it is */
    double x;            /* on the axis; NAN: there is none */
};

struct ergo_part; /* weights.c */

struct ergo_system {
    char label[160];                  /* "size 8 x 8"; "": the only one */
    double side;                      /* L: the last side; NAN: no such key */
    size_t n_states, n_chains, order; /* order: as the runs name them */
    struct ergo_state *states;        /* by increasing x */
    struct ergo_chain *chains;
    size_t n_parts; /* 0: samples are not weighted */
    struct ergo_part **parts;
};

/* A key whose values are asked for; n = 0: it is only the axis. */
struct ergo_wanted_key {
    const char *pointer; /* of the job's table */
    size_t key;          /* its number there */
    size_t n;
    double *values; /* owned */
};

/* An observable, and the power of L that it is divided by. */
struct ergo_quantity {
    size_t observable;
    double power;
    char name[96];
};

struct ergo_valued {
    double value, error; /* error NAN: none */
};

struct ergo_pooled {
    size_t system, state, observable, n;
    double mean, error, chi2, tail; /* n = 1: the chain's; tail NAN: nothing to compare */
    bool disagree;                  /* hence no error */
    size_t samples;                 /* of a disorder, whose scatter is the error; 0: one system */
    const char *why_not;            /* samples have no error; NULL: they have */
    double *weights;                /* owned, [n]: of the chains, sum 1; NULL for n = 1 */
};

/* A row of the table of reweighted observables. */
struct ergo_reweighted {
    size_t system;
    double at[ERGO_SCAN_MAX];   /* the keys' values */
    bool simulated;             /* some state is there */
    double independent;         /* samples; below ERGO_ANALYSE_INDEPENDENT no values */
    struct ergo_valued *values; /* owned, [n_observables of the analysis] */
};

struct ergo_crossing {
    size_t a, b;         /* systems */
    const char *why_not; /* NULL: found */
    double x, x_error, y, y_error;
    double *delta; /* owned: of x, for each piece of the analysis */
};

/* x(L) = x + amplitude L^-exponent of the crossings of L and the next size. Without an exponent
 * (NAN) the crossing of the largest sizes. */
struct ergo_extrapolation {
    bool done, fixed; /* fixed: the exponent was given */
    double x, x_error, amplitude, exponent, exponent_error, chi2, tail;
    size_t dof, used; /* used: of the crossings the last */
};

/* y = L^power (sum_k c_k u^k + d L^-correction), u = (x - x_c) L^inverse_nu. */
struct ergo_scaling {
    char *why_not; /* owned; NULL: done */
    size_t n, degree, dof;
    double low, high; /* the window */
    struct ergo_valued x, inverse_nu, power;
    bool power_free;
    double correction, amplitude; /* NAN: none; d */
    /* of the sizes used; the next smaller one, and what x is more without it; NAN: none */
    double smallest, without, shift;
    double coefficients[6], chi2, tail;
};

struct ergo_coexisting {
    double x, x_error;          /* the column of the key, as recorded */
    struct ergo_valued *values; /* owned, [n_observables] */
};

struct ergo_coexistence {
    size_t system;
    char *why_not; /* owned; NULL: found */
    double at, at_error, split;
    double barrier; /* ln of the peaks' mean height over the valley */
    struct ergo_coexisting phases[2];
    size_t n_bins;
    double *bins, *density; /* owned: of the histogram at coexistence */
};

/* A fluid's critical point by mixed-field finite-size scaling, as one box has it. */
struct ergo_critical {
    size_t system;
    double side;                                                   /* of the box, a cube */
    const char *why_not;                                           /* NULL: found */
    struct ergo_valued temperature, log_activity, density, mixing; /* ln z, <N>/V, s */
};

/* ln Pi(N) at one temperature, from runs with N, N + 1, ... particles. */
struct ergo_matrix {
    const struct ergo_point *point; /* of one of its runs */
    char label[160];                /* "box 8 x 8 x 8", in what matrices differ; "": in nothing */
    double temperature, log_activity, volume; /* log_activity: ln z of the runs */
    size_t first, count;                      /* N */
    size_t gap; /* N of which there is no run, between these and the next; 0: none */
    double *log_pi, *step_error; /* owned, [count]; the error of log_pi[k + 1] - [k] */
    size_t unresolved;           /* steps whose runs are too short for an error of their own */
    size_t unmoved;              /* N at which next to no displacement is accepted */
    const char *why_not;         /* NULL: there are two phases */
    double split, barrier;
    struct ergo_valued log_coexistence, density[2], pressure; /* ln z; vapour and liquid */
    double missing[2];       /* what the densities lack of the N beyond the ends, at most */
    const char *no_pressure; /* NULL: there is one */
};

/* Adsorption less what the bulk fluid would have in the same room. */
struct ergo_excess {
    size_t system;
    double temperature, log_activity;
    bool per_area; /* of a slit, whose room is a height; else a number of particles, and a volume */
    double room;
    struct ergo_valued loading, bulk, excess; /* bulk: its density */
};

struct ergo_analysis {
    size_t n_runs;
    char **names;                 /* owned: folders */
    struct ergo_result **results; /* owned */
    const struct ergo_model *model;
    const struct ergo_job *job; /* of the first run */
    char *unweighted;           /* owned: why samples are not weighted; NULL: they are */
    size_t n_systems;
    struct ergo_system *systems;
    size_t n_draws; /* samples of a disorder, which points of all systems may share */
    size_t axis;    /* key number; of the job's n_keys: there is none */
    size_t n_wanted;
    struct ergo_wanted_key wanted[ERGO_SCAN_MAX]; /* the first is the axis */
    size_t n_observables;                         /* that can be weighted, and are asked for */
    size_t *observables;
    bool *asked; /* [model's]: by name, weighted or not; NULL: all */

    size_t n_pooled;
    struct ergo_pooled *pooled;
    size_t n_rows;
    struct ergo_reweighted *rows;
    bool crosses, scales; /* are asked for, or offer themselves: */
    struct ergo_quantity crossing, scaling_of;
    size_t n_crossings;
    struct ergo_crossing *crossings;
    struct ergo_extrapolation extrapolation;
    struct ergo_scaling scaling;
    const struct ergo_conjugate *coexisting; /* whose column has two peaks */
    size_t n_coexistences;                   /* one for each system */
    struct ergo_coexistence *coexistences;
    bool critical;         /* is asked for */
    size_t n_criticals;    /* one for each system */
    size_t critical_sizes; /* of them found; of two or more: */
    struct ergo_critical *criticals;
    struct ergo_valued critical_temperature, critical_density; /* of an infinite box */
    double critical_chi2[2];
    size_t n_matrices;
    struct ergo_matrix *matrices;
    size_t n_excesses;
    struct ergo_excess *excesses;
    size_t n_notes;
    char **notes; /* owned sentences: what was not done, and why */
};

/* ---- analysis.c ----------------------------------------------------------------------------- */

/* All of it, from n_runs, names and results. */
enum ergo_status ergo_analysis_make(struct ergo_context *ctx, struct ergo_analysis *a,
                                    const struct ergo_analyse_options *o);

enum ergo_status ergo_analysis_no_memory(struct ergo_context *ctx);

/* ---- rows.c --------------------------------------------------------------------------------- */

enum ergo_status ergo_analysis_reweight(struct ergo_context *ctx, struct ergo_analysis *a);

/* ---- gather.c ------------------------------------------------------------------------------- */

/* Sorts the members of all results into systems. */
enum ergo_status ergo_analysis_gather(struct ergo_context *ctx, struct ergo_analysis *a);
/* Columns of sample i of a chain's measured samples; those without a series stay as they are. */
void ergo_chain_columns(const struct ergo_chain *chain, size_t i, double *columns);
/* The number that a key has at a point, NAN: none (not a number, or not given). */
double ergo_point_number(const struct ergo_point *point, size_t key);
/* Sides of the box of a fluid (/system/box: three, or a cube's). */
void ergo_point_sides(const struct ergo_point *point, double sides[3]);
/* The number of a key; SIZE_MAX: the model has none of this name. */
size_t ergo_analysis_key(const struct ergo_analysis *a, const char *pointer);
/* Its value; NAN also if there is no such key. */
double ergo_analysis_number(const struct ergo_analysis *a, const struct ergo_point *point,
                            const char *pointer);
/* Adds a sentence to the notes. */
enum ergo_status ergo_analysis_note(struct ergo_context *ctx, struct ergo_analysis *a,
                                    const char *format, ...) ERGO_PRINTF(3, 4);
bool ergo_analysis_is_conjugate(const struct ergo_analysis *a, size_t key);
/* Do chains depend on the key, is it none of `but` (NULL at its end), and differs it between the
 * points? */
bool ergo_analysis_differs(const struct ergo_analysis *a, const struct ergo_point *p,
                           const struct ergo_point *q, size_t key, const char *const *but);
/* Do they differ in no such key? */
bool ergo_analysis_alike(const struct ergo_analysis *a, const struct ergo_point *p,
                         const struct ergo_point *q, const char *const *but);
/* Appends a key of a point: "box 8 x 8 x 8". */
void ergo_analysis_append_value(const struct ergo_analysis *a, struct ergo_text *text,
                                const struct ergo_point *point, size_t key);

/* ---- target.c ------------------------------------------------------------------------------- */

/* A point of a system with other values of some keys, and what samples weigh there. Columns are
 * those of the system's first point ("base"): the energy is what it would be there. */
struct ergo_target {
    struct ergo_point point;           /* a copy (ergo_point_copy) */
    double a[ERGO_CONJUGATES_MAX];     /* coefficients of the base columns */
    double shift[ERGO_CONJUGATES_MAX]; /* energy = base energy + sum shift_r column_r */
};
/* n values of wanted keys, in order. False: out of memory. */
bool ergo_target_create(const struct ergo_analysis *a, const struct ergo_system *system,
                        const double *at, struct ergo_target *target);
void ergo_target_free(struct ergo_target *target);
/* The same of a point that was simulated, without a copy of it. */
void ergo_target_of(const struct ergo_system *system, const struct ergo_point *point,
                    double coefficients[ERGO_CONJUGATES_MAX], double shift[ERGO_CONJUGATES_MAX]);
/* "/system/temperature=2.1:2.4:0.01", "temperature=2.2,2.3", or without values "temperature". */
enum ergo_status ergo_target_parse(struct ergo_context *ctx, const struct ergo_analysis *a,
                                   const char *option, const char *text, bool values,
                                   struct ergo_wanted_key *wanted);
/* "binder", "correlation_length/L", "order_parameter2/L^-0.25". */
enum ergo_status ergo_quantity_parse(struct ergo_context *ctx, const struct ergo_analysis *a,
                                     const char *option, const char *text,
                                     struct ergo_quantity *quantity);

/* ---- weights.c ------------------------------------------------------------------------------ */

struct ergo_range {
    double low, high;
};

/* States of a system that overlap, as MBAR and the jackknife need them. */
struct ergo_part {
    const struct ergo_system *system;
    size_t n_states, *states; /* of the system */
    double *inefficiency;     /* [n_states]: 2 tau, at least 1 */
    size_t slow_chain;        /* of the system: the slowest of the state with the fewest tau */
    size_t n_rows, rows[ERGO_CONJUGATES_MAX]; /* conjugates by which weights differ */
    struct ergo_mbar mbar;                    /* its arrays are owned; all samples */
    double *correlated; /* [n_values]: as mbar.count, each sample times its inefficiency */
    double *f;          /* [n_states] */
    double *log_sum;    /* [n_values] */
    /* samples with the same values in the same block */
    size_t n_entries;
    uint32_t *value_of, *block_of; /* [n_entries], entries by increasing value */
    double *entry_count;
    size_t n_samples;
    uint32_t *entry_of;    /* [n_samples], chains in order of the states */
    size_t n_blocks;       /* 0: too short for errors */
    double *block_log_sum; /* [n_blocks][n_values]: without the block */
    size_t n_ranges;       /* of the axis inside of the overlap: */
    struct ergo_range *ranges;
    double low, high;       /* the ends of all of them; NAN: there is none */
    struct ergo_sums *sums; /* owned; sums.c */
};
/* False: out of memory, or its points are too far apart for common weights. */
bool ergo_system_weigh(const struct ergo_analysis *a, struct ergo_system *system);
void ergo_part_destroy(struct ergo_part *part);

/* ---- overlap.c ------------------------------------------------------------------------------ */

/* Which of its states overlap, directly or by others: of[s] is the first of those. And the ranges
 * of the axis inside. False: out of memory. */
bool ergo_part_split(const struct ergo_part *whole, size_t *of);
bool ergo_part_find_ranges(const struct ergo_analysis *a, struct ergo_part *part);
/* "1.9 to 2.1, 2.2 to 2.4", of many the first; nothing where there is none. */
void ergo_part_append_ranges(struct ergo_text *text, const struct ergo_part *part);
/* Independent samples that these weights leave for the error to rest on, and where they have the
 * coefficients rows[n_rows]. weight: room for n_values. */
double ergo_part_left(const struct ergo_part *part, const double *weight);
double ergo_part_independent(const struct ergo_part *part, const double *rows, double *weight);
/* The part with the most independent samples there; their number. NULL: out of memory. */
const struct ergo_part *ergo_system_part(const struct ergo_system *system,
                                         const struct ergo_target *target, double *independent);
/* Of ergo_parallel: one core where all the work is so short (samples, or terms of sums) that
 * threads would take longer. */
static inline size_t ergo_analysis_cores(double work) {
    return work < 2e6 ? 1 : SIZE_MAX;
}

/* ---- sums.c --------------------------------------------------------------------------------- */

struct ergo_sums *ergo_sums_create(void);       /* NULL: out of memory */
void ergo_sums_destroy(struct ergo_sums *sums); /* NULL-safe */
/* [n_entries][n] sums of the samples of these observables, as they would be recorded at the target;
 * by several cores at a time. *own: NULL, or the caller frees it. NULL: out of memory. */
const double *ergo_sums_at(const struct ergo_part *part, const struct ergo_target *target,
                           const size_t *observables, size_t n, double **own);

/* ---- evaluate.c ----------------------------------------------------------------------------- */

/* Only samples whose value of conjugate `row` is in [low, high). */
struct ergo_window {
    size_t row;
    double low, high;
};

/* Values of observables at a target: value[n]; of each without a block, blocks[n_blocks][n] (NULL:
 * not asked for). window NULL: all samples; share (NULL: not asked for), of n_blocks + 1: the
 * weight of the window, and without each block. False: out of memory. */
bool ergo_part_values(const struct ergo_part *part, const struct ergo_target *target,
                      const struct ergo_window *window, const size_t *observables, size_t n,
                      double *value, double *blocks, double *share);
/* Value without its bias of order 1/n, error, and delta[n_blocks] (may be NULL), whose squares add
 * up to the error's. blocks: [n_blocks] at distance `stride`. */
struct ergo_valued ergo_jackknife(double value, const double *blocks, size_t n_blocks,
                                  size_t stride, double *delta);
/* Can the observable be weighted: is it made of samples that every system has? */
bool ergo_analysis_can_weigh(const struct ergo_analysis *a, size_t observable);

/* ---- pool.c --------------------------------------------------------------------------------- */

/* One observable of one state, over its chains. weights as in ergo_pooled, may be NULL. */
struct ergo_pooled ergo_state_pool(const struct ergo_system *system, size_t state, size_t o,
                                   double *weights);
enum ergo_status ergo_analysis_pool(struct ergo_context *ctx, struct ergo_analysis *a);
/*
 * Independent pieces that errors are made of: a number's error^2 is the sum of the squares of what
 * it owes to each, its delta. First the samples of a disorder, which all points share that have
 * them (each is taken from all of them at once, as a jackknife does); then of each system its
 * states, the way between them, and the blocks of its parts. The first that is the system's own;
 * NULL: how many there are.
 */
size_t ergo_analysis_pieces(const struct ergo_analysis *a, const struct ergo_system *system);
/* Adds to delta, for each piece, `factor` times what the mean of a state owes to it. */
void ergo_state_owe(const struct ergo_analysis *a, const struct ergo_system *system,
                    const struct ergo_pooled *p, double factor, double *delta);

/* ---- curve.c -------------------------------------------------------------------------------- */

bool ergo_curve_is_weighted(const struct ergo_analysis *a, const struct ergo_system *system,
                            const struct ergo_quantity *q);
/* Where the curve is known. False: nowhere. */
bool ergo_curve_range(const struct ergo_analysis *a, const struct ergo_system *system,
                      const struct ergo_quantity *q, double *low, double *high);
/* y at x, NAN outside of the range; delta: for each piece; NULL: y alone. False: out of memory. */
bool ergo_curve_at(const struct ergo_analysis *a, const struct ergo_system *system,
                   const struct ergo_quantity *q, double x, double *y, double *delta);

/* ---- table.c -------------------------------------------------------------------------------- */

/* ---- cross.c, scale.c, coexist.c, critical.c ------------------------------------------------ */

enum ergo_status ergo_analysis_cross(struct ergo_context *ctx, struct ergo_analysis *a,
                                     double correction);
enum ergo_status ergo_analysis_scale(struct ergo_context *ctx, struct ergo_analysis *a, double low,
                                     double high, double correction);
/* What is left of a correction L^-exponent beyond the larger size, over what it changes from the
 * smaller to the larger. */
double ergo_scaling_left(double smaller, double larger, double exponent);
enum ergo_status ergo_analysis_coexist(struct ergo_context *ctx, struct ergo_analysis *a);
enum ergo_status ergo_analysis_find_critical(struct ergo_context *ctx, struct ergo_analysis *a);

/* ---- matrix.c -------------------------------------------------------------------------------- */

enum ergo_status ergo_analysis_matrix(struct ergo_context *ctx, struct ergo_analysis *a);
void ergo_matrix_free(struct ergo_matrix *matrix);
/* The number of an observable; SIZE_MAX: the model has none of this name. */
size_t ergo_analysis_named(const struct ergo_analysis *a, const char *name);
/* ln z, in whichever way it was given. */
double ergo_analysis_log_activity(const struct ergo_analysis *a, const struct ergo_point *point);

/* ---- excess.c -------------------------------------------------------------------------------- */

/* The key by which a point's fluid is in a slit, in a field or among atoms; NULL: it is not. */
const char *ergo_analysis_confined_by(const struct ergo_analysis *a,
                                      const struct ergo_point *point);
enum ergo_status ergo_analysis_excess(struct ergo_context *ctx, struct ergo_analysis *a);

#endif
