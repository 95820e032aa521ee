/* Spins on graphs: what the job says, the batch on a device. Internal to the model. */
#ifndef ERGO_SAMPLERS_SPIN_LATTICE_GRAPH_GRAPH_H
#define ERGO_SAMPLERS_SPIN_LATTICE_GRAPH_GRAPH_H

#include "engine/engine.h"
#include "engine/ladder.h"
#include "samplers/sampler.h"
#include "samplers/spin_lattice/graph/network.h"
#include "spin_lattice/graph_levels.h"

enum {
    COLUMN_TOTAL,
    COLUMN_GRAPH_M,
    COLUMN_SITES,
    COLUMN_LEVELS, /* of wang-landau alone, from here */
    COLUMN_LN_F,
    GRAPH_COLUMNS
};
enum {
    CURVE_LOWEST,
    CURVE_REACHED,
    CURVE_CHAIN_ENERGY, /* at each temperature of a ladder or of a population, up to families */
    CURVE_CHAIN_HEAT,
    CURVE_CHAIN_ORDER,
    CURVE_CHAIN_BINDER,
    CURVE_FREE_ENERGY, /* of populations alone, from here */
    CURVE_FAMILIES,
    CURVE_FAMILY_SIZE,
    CURVE_FAMILY_ENTROPY,
    CURVE_CHAIN_SWAPS, /* of ladders alone, from here */
    CURVE_TRIPS,
    CURVE_CHAIN_MOMENTS, /* what these are made of: in bins of time, and of a population */
    CURVE_CENSUS,
    CURVE_CHAIN_TEMPERATURES,
    CURVE_ANNEALING,     /* hidden: the ends of a schedule */
    CURVE_CHAIN_ENTROPY, /* of wang-landau alone, from here */
    CURVE_LN_G,
    CURVE_WALK,
    GRAPH_CURVES
};
/* Moments at a temperature, of energies and magnetizations per site; and of a population: ln of the
 * mean weight that led there, families, their sum of squared shares times the population, their
 * entropy. */
enum {
    GRAPH_E,
    GRAPH_E2,
    GRAPH_ABS_M,
    GRAPH_M2,
    GRAPH_M4,
    GRAPH_MOMENTS,
    GRAPH_LN_WEIGHT = GRAPH_MOMENTS,
    GRAPH_FAMILIES,
    GRAPH_SQUARES,
    GRAPH_ENTROPY,
    GRAPH_CENSUS_MOMENTS
};
enum { GRAPH_STAGES = 65536 }; /* most temperatures of a schedule */

enum graph_buffer {
    GRAPH_SPINS,
    GRAPH_FIRST,
    GRAPH_BONDS,
    GRAPH_TERMS,
    GRAPH_VERTICES,
    GRAPH_MEMBERS_ROW,
    GRAPH_COUNTS,
    GRAPH_FOUND,
    GRAPH_HITS,
    GRAPH_NOW, /* numbers of a look, an exchange, a resampling */
    GRAPH_LOOKS,
    GRAPH_KEPT,
    GRAPH_PACKED,
    GRAPH_LISTS, /* of chains in local memory, from here */
    GRAPH_VALUES,
    GRAPH_HEADS,
    GRAPH_COLOURS,
    GRAPH_TABLES,
    GRAPH_TABLE_OF,
    GRAPH_PLACES, /* of ladders, from here */
    GRAPH_CAME,
    GRAPH_MOVES,
    GRAPH_QUEUE,
    GRAPH_FAMILIES_ROW, /* of populations, from here */
    GRAPH_TOTALS,
    GRAPH_NEXT,
    GRAPH_NEXT_FAMILIES,
    GRAPH_WEIGHTS,
    GRAPH_PARENTS,
    GRAPH_FAMILIES_SAMPLES,
    GRAPH_TOTALS_SAMPLES
};
enum graph_kernel {
    GRAPH_SWEEP,
    GRAPH_SWEEPS, /* many a launch */
    GRAPH_START,
    GRAPH_MEASURE,
    GRAPH_LOOK,
    GRAPH_KEEP_KERNEL,
    GRAPH_PACK,
    GRAPH_UNPACK,
    GRAPH_LOOK_ALL,
    GRAPH_SWAP,
    GRAPH_CLUSTER,
    GRAPH_COMB,
    GRAPH_BRANCH,
    GRAPH_CENSUS,
    GRAPH_KERNELS
};

/* Temperatures over time: `stages` of them, `per` sweeps each, from sweep `begin` on; before and
 * after it the first and the last. Without annealing there is one, 1, by which the members' own
 * temperatures are multiplied. */
struct graph_schedule {
    uint64_t begin, per;
    size_t stages;
    float *factors; /* owned */
    double ends[2]; /* first and last temperature, where annealed */
    /* of a population, owned: what weighs sums before each stage (graph_weight); NULL: none */
    float *slopes;
};

/* Chains of a member: one, or a ladder's, or a population. */
struct graph_chains {
    uint32_t rungs, copies, width;      /* copies at each temperature; width: rungs times copies */
    uint64_t swap_every, cluster_every; /* 0: no clusters */
    bool population;
};

/* What kernels have that keep chains in local memory (graph_levels.h). */
struct graph_levels {
    bool possible;
    uint32_t most;             /* neighbours of a vertex; 0: costs are no levels */
    uint32_t widest, elements; /* vertices of a colour; elements of all lists */
    int32_t j;
    uint16_t *lists;
    int32_t *values;          /* couplings of lists; NULL with levels */
    struct graph_head *heads; /* [slots] */
    cl_uint2 *colours;        /* first slot, vertices */
    size_t tables;            /* of all stages of the schedule, of each scale */
    float *scales;
    uint32_t *table_of; /* [members][rungs] */
};

struct graph_state {
    struct ergo_engine e;
    struct graph_problem problem;
    struct graph_network net;
    struct graph_schedule schedule;
    struct graph_chains chains;
    struct graph_member *members; /* [members][rungs] */
    struct graph_levels levels;
    struct ergo_feedback feedback;
    uint32_t *words; /* of a member, see graph_pack */
    double *ladders; /* temperatures of method sample, [members][rungs]; else 1 */
    uint32_t lanes;  /* chains of a work-group that keeps them in local memory; 0: none does */
    uint32_t sweeps_group; /* its work-items; 1: a CPU's, with vectors of chains */
    uint64_t launch_sweeps;
    bool heat_bath;
    uint32_t keep;           /* configurations kept */
    uint64_t look_every;     /* sweeps from a look for them to the next */
    uint32_t group, stripes; /* stripes: of a chain's slots, in measurements */
    uint32_t comb;           /* work-items of a member that looks or resamples */
};

/* ---- job.c: what a job tells without a device ------------------------------------------------ */

extern const char *const graph_boundaries[]; /* in the order of enum graph_side */
extern const char *const graph_methods[];
enum { GRAPH_KEYS = 15, GRAPH_CLUSTER_KEYS = 1, GRAPH_RUN_KEYS = 10 };
extern const struct ergo_key graph_keys[GRAPH_KEYS];
extern const struct ergo_key graph_cluster_keys[GRAPH_CLUSTER_KEYS];
extern const struct ergo_key graph_run_keys[GRAPH_RUN_KEYS];
bool graph_is_thermal(const struct ergo_point *point); /* other methods than wang-landau */
bool graph_is_annealed(const struct ergo_point *point);
bool graph_is_sampled(const struct ergo_point *point);
bool graph_is_population(const struct ergo_point *point);
bool graph_is_walk(const struct ergo_point *point); /* wang-landau */
bool graph_has_clusters(const struct ergo_point *point);
struct graph_chains graph_chains_of(const struct ergo_point *point);
bool graph_is_named(const struct ergo_point *point);
bool graph_has_target(const struct ergo_point *point);
/* complete.c: complete graphs with random couplings, by name. scales: those that temperatures
 * follow from, without the couplings. */
bool graph_is_complete(const struct ergo_point *point);
bool graph_has_disorder(const struct ergo_point *point); /* which has several kinds */
/* disorder.c: lattices with random couplings */
bool graph_is_disordered(const struct ergo_point *point);
void graph_disorder(const struct ergo_point *point, struct graph_problem *p);
enum ergo_status graph_complete_check(struct ergo_context *ctx, const struct ergo_point *point);
struct graph_scales graph_complete_scales(const struct ergo_point *point);
enum ergo_status graph_complete_make(struct ergo_context *ctx, const struct ergo_point *point,
                                     struct graph_problem *p);
bool graph_has_cut(const struct ergo_point *point);
enum ergo_status graph_check(struct ergo_context *ctx, const struct ergo_point *point);
enum ergo_status graph_extends(struct ergo_context *ctx, const struct ergo_point *from,
                               const struct ergo_point *to);
uint64_t graph_measure_every(const struct ergo_point *point);
uint64_t graph_look_every(const struct ergo_point *point);
/* The problem of a point: read or made. */
/* From the file that the job names. */
enum ergo_status graph_read(struct ergo_context *ctx, const struct ergo_point *point,
                            struct graph_problem *p);
enum ergo_status graph_problem_of(struct ergo_context *ctx, const struct ergo_point *point,
                                  struct graph_problem *p);
enum ergo_status graph_schedule_of(struct ergo_context *ctx, const struct ergo_point *point,
                                   const struct graph_problem *p, double unit,
                                   struct graph_schedule *schedule);
static inline bool graph_clusters(const struct graph_chains *c, uint64_t step) {
    return c->cluster_every && step % c->cluster_every == 0;
}
static inline float graph_factor(const struct graph_schedule *s, uint64_t step) {
    const uint64_t stage = step < s->begin ? 0 : (step - s->begin) / s->per;
    return s->factors[stage < s->stages ? stage : s->stages - 1];
}
/* Is a population resampled before the sweep of `step`, and by the slope of which stage? */
static inline bool graph_resamples(const struct graph_schedule *s, uint64_t step, size_t *stage) {
    *stage = s->slopes && step >= s->begin ? (size_t)((step - s->begin) / s->per) : 0;
    return s->slopes && step >= s->begin && (step - s->begin) % s->per == 0 && *stage < s->stages;
}
void graph_member_heat(const double *t, uint32_t rungs, double unit, struct graph_member *members);
size_t graph_curve_size(const struct ergo_point *point, size_t c);
void graph_curve_x(const struct ergo_point *point, size_t c, double *x);

/* ---- plan.c, device.c ------------------------------------------------------------------------ */

enum ergo_status graph_configure(struct ergo_context *ctx, void *state);
void graph_release(void *state);
size_t graph_local_bytes(const struct graph_state *s); /* of a group with s->lanes chains */
/* A slot's two numbers: base and field. */
void graph_terms(const struct graph_network *net, uint32_t slot, int32_t terms[2]);
/* Columns of a sample of `numbers` (GRAPH_NUMBERS). */
void graph_columns(const struct graph_state *s, const uint32_t *numbers, double *columns);

/* Spins of a member's chains and of its kept configurations, as bits of slots: rows of
 * graph_row_words, from the device to s->words and back. After ergo_engine_begin. */
static inline size_t graph_row_words(const struct graph_state *s) {
    return ((size_t)s->net.slots + 31) / 32;
}
static inline size_t graph_words_of(const struct graph_state *s) {
    return (s->chains.width + (size_t)s->keep) * graph_row_words(s);
}
void graph_pack(void *state, size_t member);
void graph_unpack(void *state, size_t member);

/* ---- state.c --------------------------------------------------------------------------------- */

extern const struct ergo_fields graph_fields;
enum ergo_status graph_form(struct ergo_context *ctx, const struct ergo_point *point,
                            struct ergo_form *form);
enum ergo_status graph_frame(struct ergo_context *ctx, void *state, size_t member,
                             struct ergo_text *text);

/* curves.c */
bool graph_curve_row(const void *state, unsigned slot, const struct ergo_row *row);
enum ergo_status graph_convert(struct ergo_context *ctx, void *state, unsigned slot,
                               struct ergo_samples *samples);
enum ergo_status graph_end_curves(struct ergo_context *ctx, void *state, size_t member,
                                  struct ergo_curve *curves);

/* lowest.c */
enum ergo_status graph_states(struct ergo_context *ctx, void *state, size_t first, size_t count,
                              struct ergo_text *text);

/* ---- levels.c -------------------------------------------------------------------------------- */

/* false: no memory. Tables are apart, because a plan does not need them. */
bool graph_levels_make(const struct graph_state *s, struct graph_levels *levels);
/* table[GRAPH_LEVEL_WORDS], of a temperature, with levels; of all, owned by the caller (NULL: no
 * memory). */
void graph_levels_table(const struct graph_levels *levels, float scale, bool heat_bath,
                        uint32_t *table);
uint32_t *graph_levels_tables(const struct graph_state *s);
void graph_levels_free(struct graph_levels *levels);

/* The default of /system/dynamics where it is not metropolis, else NULL (job.c). */
const char *graph_instead(const struct ergo_point *point);

#endif
