/* Wang-Landau walks of spins on graphs: what the job says, the batch on a device. The
 * second implementation of the model graph, of one of its methods. Internal to it. */
#ifndef ERGO_SAMPLERS_SPIN_LATTICE_WANG_LANDAU_WALK_H
#define ERGO_SAMPLERS_SPIN_LATTICE_WANG_LANDAU_WALK_H

#include "engine/engine.h"
#include "samplers/sampler.h"
#include "samplers/spin_lattice/graph/network.h"
#include "spin_lattice/walk.h"

enum walk_buffer {
    WALK_SPINS, /* [member][estimate][word][walker] */
    WALK_AT,    /* [member][estimate][walker], levels */
    WALK_LN_G,  /* [member][estimate][level], and these */
    WALK_COUNTS,
    WALK_VISITED,
    WALK_STATUS, /* [member][estimate] */
    WALK_FIRST,
    WALK_BONDS,
    WALK_FIELDS,
    WALK_MEMBERS,
    WALK_SAMPLES
};
enum { WALK_SWEEPS, WALK_MEASURE };

/*
 * Energies of a graph as levels. In the unit of couplings twice the energy is
 * e = -sum over i of s_i (force_i + h_i); flips change it by multiples of 4 `step`, and level l is
 * e = low + 4 step l. Not all levels have configurations.
 */
struct walk_levels {
    int64_t low;
    uint64_t count; /* may be above WALK_LEVELS_MAX, which a job may not have */
    uint32_t step;  /* what the half of a flip's cost is a multiple of; 0: nothing is coupled */
};

/* A graph by vertices, couplings and fields in one unit. */
struct walk_graph {
    uint32_t n;
    uint32_t *first; /* [n + 1] */
    struct walk_bond *bonds;
    int32_t *fields; /* [n] */
    double unit, offset;
    struct walk_levels levels;
};

/* Sizes of a member, the same for all of a batch. */
struct walk_shape {
    uint32_t estimates, walkers, check, flatness; /* flatness: per mille */
};

/* What an estimate has, on the host. */
struct walk_estimate {
    uint32_t *spins;            /* [words][walkers] */
    uint32_t *at;               /* [walkers] */
    int64_t *ln_g;              /* [levels] */
    uint32_t *counts, *visited; /* [levels] */
    struct walk_status status;
};

struct walk_state {
    struct ergo_engine e;
    struct walk_graph graph;
    struct walk_shape shape;
    struct walk_member *members;
    uint32_t group;
    uint64_t launch_sweeps;
    bool local;
};

static inline size_t walk_words_of(const struct walk_state *s) {
    return ((size_t)s->graph.n + 31) / 32;
}

extern const struct ergo_sampler_ops walk_ops;
/* Keys beside those of the model's other methods. */
enum { WALK_KEYS = 7 };
extern const struct ergo_key walk_keys[WALK_KEYS];

/* ---- job.c ----------------------------------------------------------------------------------- */

struct walk_shape walk_shape_of(const struct ergo_point *point);
/* The graph of a point; ERGO_E_MEMORY. */
enum ergo_status walk_graph_of(struct ergo_context *ctx, const struct ergo_point *point,
                               struct walk_graph *graph);
void walk_graph_free(struct walk_graph *graph);
enum ergo_status walk_check(struct ergo_context *ctx, const struct ergo_point *point);
uint64_t walk_measure_every(const struct ergo_point *point);
size_t walk_curve_size(const struct ergo_point *point, size_t c);
void walk_curve_x(const struct ergo_point *point, size_t c, double *x);
/* Energy of a level. */
static inline double walk_energy(const struct walk_graph *g, size_t level) {
    return g->offset +
           0.5 * g->unit * (double)(g->levels.low + 4 * (int64_t)g->levels.step * (int64_t)level);
}
/*
 * Facts of an estimate at the end of a run, the curve CURVE_WALK: levels found; ln f, and whether
 * it is 1/t; has it found all levels that any has; the pseudo-value of ln g of the lowest of these,
 * NAN where this estimate has not found it; of all estimates WALK_BIAS, half of the variance of
 * their ln g in units of the error of its mean, at the level where that is largest.
 */
enum { WALK_FOUND, WALK_LN_F, WALK_INVERSE, WALK_COMPLETE, WALK_GROUND, WALK_BIAS, WALK_FACTS };
/* Facts as observables, and what their means say. */
const char *walk_not_converged(const struct ergo_point *point, double share);
const char *walk_not_complete(const struct ergo_point *point, double share);
const char *walk_biased(const struct ergo_point *point, double errors);
/* The lowest and the highest temperature at which energies and so on are told, and number i. */
void walk_range(const struct ergo_point *point, const struct walk_graph *g, double t[2]);
double walk_temperature(const struct ergo_point *point, const double range[2], size_t i);

/* ---- plan.c ---------------------------------------------------------------------------------- */

enum ergo_status walk_configure(struct ergo_context *ctx, void *state);

/* ---- state.c: estimates, in their canonical form too ------------------------------------------
 */

bool walk_estimate_create(const struct walk_state *s, struct walk_estimate *a);
void walk_estimate_free(struct walk_estimate *a);
/* Estimate number e of the batch from the device, and to it; after ergo_engine_begin. */
void walk_read(struct walk_state *s, size_t e, struct walk_estimate *a);
void walk_write(struct walk_state *s, size_t e, const struct walk_estimate *a);
/* Start of estimate number `own` of its member; mode: lattice_start. */
void walk_start(const struct walk_state *s, const struct walk_member *member, uint32_t own,
                unsigned mode, struct walk_estimate *a);
extern const struct ergo_fields walk_fields;
enum ergo_status walk_form(struct ergo_context *ctx, const struct ergo_point *point,
                           struct ergo_form *form);

/* ---- curves.c -------------------------------------------------------------------------------- */

enum ergo_status walk_end_curves(struct ergo_context *ctx, void *state, size_t member,
                                 struct ergo_curve *curves);
/* all[estimates][levels] are ln g (NAN: not found): adds to the member's curves, and to
 * facts[estimates][WALK_FACTS] from WALK_COMPLETE on. False: no memory. */
bool walk_add_means(const struct walk_state *s, size_t member, const double *all, double *facts,
                    struct ergo_curve *curves);

#endif
