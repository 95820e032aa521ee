/* Spins on graphs: what the job says, the batch on a device, the twin. Internal to the model. */
#ifndef ERGO_SAMPLERS_SPIN_LATTICE_GRAPH_GRAPH_H
#define ERGO_SAMPLERS_SPIN_LATTICE_GRAPH_GRAPH_H

#include "engine/engine.h"
#include "samplers/sampler.h"
#include "samplers/spin_lattice/graph/network.h"
#include "spin_lattice/graph_params.h"

enum { COLUMN_TOTAL, COLUMN_GRAPH_M, COLUMN_SITES, GRAPH_COLUMNS };
enum { CURVE_LOWEST, CURVE_REACHED, GRAPH_CURVES };
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
    GRAPH_NOW, /* numbers of a look */
    GRAPH_LOOKS,
    GRAPH_KEPT,
    GRAPH_PACKED
};
enum graph_kernel {
    GRAPH_SWEEP,
    GRAPH_START,
    GRAPH_MEASURE,
    GRAPH_LOOK,
    GRAPH_KEEP_KERNEL,
    GRAPH_PACK,
    GRAPH_UNPACK,
    GRAPH_KERNELS
};

/* Temperatures over time: `stages` of them, `per` sweeps each, from sweep `begin` on; before and
 * after it the first and the last. Without annealing there is one, 1, by which the members' own
 * temperatures are multiplied. */
struct graph_schedule {
    uint64_t begin, per;
    size_t stages;
    float *factors; /* owned */
};

struct graph_state {
    struct ergo_engine e;
    struct graph_problem problem;
    struct graph_network net;
    struct graph_schedule schedule;
    struct graph_member *members;
    bool heat_bath;
    uint32_t keep;           /* configurations kept */
    uint64_t look_every;     /* sweeps from a look for them to the next */
    uint32_t group, stripes; /* stripes: of a member's slots, in measurements */
};

/* ---- job.c: what a job tells without a device ------------------------------------------------ */

extern const char *const graph_boundaries[]; /* in the order of enum graph_side */
bool graph_is_annealed(const struct ergo_point *point);
bool graph_is_sampled(const struct ergo_point *point);
bool graph_is_named(const struct ergo_point *point);
bool graph_has_target(const struct ergo_point *point);
bool graph_has_cut(const struct ergo_point *point);
enum ergo_status graph_check(struct ergo_context *ctx, const struct ergo_point *point);
enum ergo_status graph_extends(struct ergo_context *ctx, const struct ergo_point *from,
                               const struct ergo_point *to);
uint64_t graph_measure_every(const struct ergo_point *point);
uint64_t graph_look_every(const struct ergo_point *point);
/* The problem of a point: read or made. */
enum ergo_status graph_problem_of(struct ergo_context *ctx, const struct ergo_point *point,
                                  struct graph_problem *p);
enum ergo_status graph_schedule_of(struct ergo_context *ctx, const struct ergo_point *point,
                                   const struct graph_problem *p, struct graph_schedule *schedule);
static inline float graph_factor(const struct graph_schedule *s, uint64_t step) {
    const uint64_t stage = step < s->begin ? 0 : (step - s->begin) / s->per;
    return s->factors[stage < s->stages ? stage : s->stages - 1];
}
void graph_member_fill(const struct ergo_point *point, const struct graph_problem *p, double unit,
                       struct graph_member *member);

/* ---- plan.c, device.c ------------------------------------------------------------------------ */

enum ergo_status graph_configure(struct ergo_context *ctx, void *state);
void graph_release(void *state);
/* A slot's two numbers: base and field. */
void graph_terms(const struct graph_network *net, uint32_t slot, int32_t terms[2]);
/* Columns of a sample of `numbers` (GRAPH_NUMBERS). */
void graph_columns(const struct graph_state *s, const uint32_t *numbers, double *columns);

/* A member's spins and those of its kept configurations, as bits of slots: rows of
 * graph_row_words. After ergo_engine_begin. */
static inline size_t graph_row_words(const struct graph_state *s) {
    return ((size_t)s->net.slots + 31) / 32;
}
static inline size_t graph_words_of(const struct graph_state *s) {
    return (s->keep + 1) * graph_row_words(s);
}
void graph_read_member(struct graph_state *s, size_t member, uint32_t *words);
void graph_write_member(struct graph_state *s, size_t member, const uint32_t *words);

/* ---- state.c --------------------------------------------------------------------------------- */

/* Bits of slots as a byte each, and the reverse, of unused bits 0. */
void graph_spread(const struct graph_state *s, const uint32_t *words, uint8_t *spins);
void graph_gather(const struct graph_state *s, const uint8_t *spins, uint32_t *words);

enum ergo_status graph_save(struct ergo_context *ctx, void *state, size_t member,
                            struct ergo_text *text);
enum ergo_status graph_load(struct ergo_context *ctx, void *state, size_t member, uint64_t step,
                            const void *bytes, size_t length);
enum ergo_status graph_carry(struct ergo_context *ctx, void *state, size_t member,
                             const void *bytes, size_t length);
enum ergo_status graph_frame(struct ergo_context *ctx, void *state, size_t member,
                             struct ergo_text *text);
enum ergo_status graph_end_curves(struct ergo_context *ctx, void *state, size_t member,
                                  struct ergo_curve *curves);

/* lowest.c */
enum ergo_status graph_states(struct ergo_context *ctx, void *state, size_t first, size_t count,
                              struct ergo_text *text);

/* ---- twin.c: the chain on the host, a byte per slot ------------------------------------------ */

void graph_twin_start(const struct graph_network *net, const struct graph_member *member,
                      unsigned mode, uint8_t *spins);
void graph_twin_sweep(const struct graph_state *s, const struct graph_member *member, uint64_t step,
                      uint8_t *spins);
void graph_twin_measure(const struct graph_network *net, const uint8_t *spins,
                        uint32_t numbers[GRAPH_NUMBERS]);
static inline int64_t graph_sum(const uint32_t *numbers) {
    return (int64_t)((uint64_t)numbers[GRAPH_SUM + 1] << 32 | numbers[GRAPH_SUM]);
}
static inline uint64_t graph_mark_of(const uint32_t *numbers) {
    return (uint64_t)numbers[GRAPH_MARK + 1] << 32 | numbers[GRAPH_MARK];
}
/* Looks at a configuration after `step` sweeps: the place where it is kept, or GRAPH_NOTHING. */
uint32_t graph_twin_look(const struct graph_state *s, const struct graph_member *member,
                         const uint32_t numbers[GRAPH_NUMBERS], uint64_t step,
                         struct graph_found *found, uint64_t *hit, uint32_t *trace);

/* ---- audit.c --------------------------------------------------------------------------------- */

enum ergo_status graph_audit(struct ergo_context *ctx, void *state);

#endif
