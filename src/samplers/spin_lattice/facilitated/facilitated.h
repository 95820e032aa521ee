/* Facilitated dynamics on a device: shape, launch, buffers. Internal to the sampler. */
#ifndef ERGO_SAMPLERS_SPIN_LATTICE_FACILITATED_FACILITATED_H
#define ERGO_SAMPLERS_SPIN_LATTICE_FACILITATED_FACILITATED_H

#include "engine/engine.h"
#include "samplers/sampler.h"
#include "spin_lattice/facilitated_params.h"

/* The constraint table: a spin may flip when at least `needed` of the neighbours in `directions` (1
 * north, 2 east, 4 south, 8 west) are up. */
struct fac_rule {
    const char *model;
    unsigned directions;
    unsigned needed; /* 0: /system/facilitation */
};

struct fac_shape {
    uint32_t lx, ly;
    uint64_t sites;
    uint32_t words, lanes; /* word-lattices per member, realisations in each (1 or 32) */
    unsigned directions, needed;
    bool coupled; /* J != 0 */
    /* method lambda: picks at a time (0: the exact order), and how the lattice is divided (see
     * cl/spin_lattice/facilitated_lambda.h) */
    uint32_t lambda;
    enum { FAC_SHIFTED, FAC_FIXED, FAC_COLOURED } division;
};

/* Energies in units of k_B T = 1, or as the job has them. */
struct fac_physics {
    double t, j, b;
    double c;     /* density of up spins of the uncoupled model */
    double ratio; /* exp(2 B / T) = (1 - c) / c */
};

/* How attempts are brought onto the device. */
enum fac_mode {
    FAC_MODE_SERIAL,  /* a work-item per word-lattice */
    FAC_MODE_WINDOWS, /* a work-group per word-lattice */
    FAC_MODE_TILES,   /* many work-groups per word-lattice: cl/spin_lattice/facilitated_tiles.cl */
    FAC_MODE_LAMBDA,  /* another chain: cl/spin_lattice/facilitated_lambda.cl */
};

struct fac_tiles {
    uint32_t nx, ny, halo;
    uint32_t wide, high; /* of the largest tile with its halo */
    uint32_t room;       /* attempts a tile has place for */
    uint32_t group;
    uint32_t segment;   /* attempts between two exchanges */
    size_t local_bytes; /* of facilitated_tiles */
    double load;        /* sites that are worked on, for each of the lattice */
};

struct fac_launch {
    enum fac_mode mode;
    struct fac_tiles tiles;
    uint32_t window;        /* attempts at a time, one work-item each; 0: one after the other */
    uint32_t parts;         /* partial sums per word-lattice */
    uint32_t group;         /* work-items per group that measures */
    uint64_t attempts;      /* per launch at most */
    uint64_t block_sweeps;  /* of roughly 0.1 s */
    uint64_t counts_length; /* numbers per sample of the batch */
};

enum fac_buffer {
    FAC_SPINS,
    FAC_FIRST, /* spins at t = 0 */
    FAC_FLIPPED,
    /* Tiles: a segment goes from spins and flipped to the others, which then change places with
     * them. So do the spins in half a sweep of method lambda. */
    FAC_OTHER_SPINS,
    FAC_OTHER_FLIPPED,
    FAC_BINS, /* attempts by tile, and how many */
    FAC_BIN_COUNTS,
    FAC_AGAIN, /* FAC_FLAGS of each word-lattice */
    FAC_MEMBERS,
    FAC_RECORD, /* counts at a time of the curves */
    FAC_SAMPLES
};
enum fac_kernel { FAC_SWEEP, FAC_BIN, FAC_PART, FAC_START, FAC_REFERENCE, FAC_MEASURE };

struct fac_state {
    struct ergo_engine e;
    struct fac_shape shape;
    struct fac_launch launch;
    struct fac_member *members;
    uint32_t segments; /* of tiles, of each word-lattice so far, as the device counts them too */
    struct ergo_constants reference_kept; /* spins at t = 0, once an audit after it has seen them */
    uint64_t origin;                      /* where t = 0 */
    /* Counts at the times of the curves. Those of this session as the device wrote them,
     * [time][member][word][part][FAC_COUNTS], and those that were loaded, [time][member][word]
     * [FAC_COUNTS]; a number is in one of them, and the other is zero. */
    size_t n_times;
    double *times; /* in sweeps */
    uint32_t *recorded;
    uint64_t *loaded;
};

static inline size_t fac_lattices(const struct fac_state *s) {
    return s->e.batch->count * s->shape.words;
}

/* job.c: what can be said of a point without a device. */
struct fac_shape fac_shape_of(const struct ergo_point *point);
struct fac_physics fac_physics_of(const struct ergo_point *point);
void fac_member_fill(const struct ergo_point *point, struct fac_member *member);
/* Sweeps before t = 0 of the curves: equilibration, then /system/waiting_time. */
uint64_t fac_origin(const struct ergo_point *point);
/* Sweeps from t = 0 to the end of the run; 0: it never comes. */
uint64_t fac_length(const struct ergo_point *point);
/* The start is the stationary measure: <s> = 2c - 1 at all times. */
bool fac_is_stationary(const struct ergo_point *point);
/* A model of facilitated dynamics whose spins are not all alike at t = 0: phi is defined. */
bool fac_has_phi(const struct ergo_point *point);
/* Times t = 0, 1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 25, 30, 40 ... up to `sweeps` (the rounded
 * Renard series R''10 of ISO 3); times may be NULL. Returns how many. */
size_t fac_times(uint64_t sweeps, double *times);
enum ergo_status fac_check(struct ergo_context *ctx, const struct ergo_point *point);
size_t fac_curve_size(const struct ergo_point *point, size_t c);
void fac_curve_x(const struct ergo_point *point, size_t c, double *x);
const char *fac_reference(const struct ergo_point *point);
double fac_exact(const struct ergo_point *point, const char *observable);
double fac_relaxation_time(const struct ergo_point *point, const double *mean, size_t size);

/* plan.c */
enum ergo_status fac_configure(struct ergo_context *ctx, void *state);

/* advance.c: what the engine calls. */
void fac_steps(void *state, uint64_t sweeps);
void fac_measure(void *state, size_t sample);
enum ergo_status fac_convert(struct ergo_context *ctx, void *state, unsigned slot,
                             struct ergo_samples *samples);
/* Attempts (of method lambda: whole halves) `attempt` and following of sweep `step` on all
 * word-lattices; nothing is recorded. */
void fac_attempts(struct fac_state *s, uint64_t step, uint32_t attempt, uint64_t count);
/* What happens at the step that has been reached: the reference at t = 0, counts for the curves. */
void fac_event(struct fac_state *s);
/* Whether the device has done all segments it was given. */
enum ergo_status fac_segments_done(struct ergo_context *ctx, struct fac_state *s, bool *done);
/* A number of one word-lattice from those of its parts. */
uint64_t fac_sum_parts(const struct fac_state *s, const uint32_t *counts, size_t lattice,
                       unsigned count);
/* Columns of a member with so many up spins and unequal bonds. */
void fac_columns(const struct fac_state *s, size_t member, uint64_t up, uint64_t unequal,
                 double *columns);
/* A number of the curves, after the queue has finished. */
uint64_t fac_record(const struct fac_state *s, size_t time, size_t member, size_t word,
                    unsigned count);

/* audit.c */
enum ergo_status fac_audit(struct ergo_context *ctx, void *state);

/* state.c */
enum ergo_status fac_save(struct ergo_context *ctx, void *state, size_t member,
                          struct ergo_text *text);
enum ergo_status fac_load(struct ergo_context *ctx, void *state, size_t member, uint64_t step,
                          const void *bytes, size_t length);
enum ergo_status fac_view(struct ergo_context *ctx, void *state, size_t member,
                          struct ergo_view *view);
enum ergo_status fac_end_curves(struct ergo_context *ctx, void *state, size_t member,
                                struct ergo_curve *curves);

/* twin.c: the host's twin of the kernels, on one word-lattice of shape->sites words. */
void fac_twin_start(const struct fac_shape *shape, const struct fac_member *member, uint32_t word,
                    unsigned mode, uint32_t *spins);
void fac_twin_attempts(const struct fac_shape *shape, const struct fac_member *member,
                       uint32_t word, uint64_t step, uint32_t attempt, uint64_t count,
                       uint32_t *spins, uint32_t *flipped);
/* Half a sweep of method lambda; false: no memory. */
bool fac_twin_half(const struct fac_shape *shape, const struct fac_member *member, uint32_t word,
                   uint64_t step, uint32_t half, uint32_t *spins, uint32_t *flipped);
void fac_twin_count(const struct fac_shape *shape, const uint32_t *spins, const uint32_t *first,
                    const uint32_t *flipped, uint64_t counts[FAC_COUNTS]);
/* Sites that can never flip, of each realisation: raise every site that may be raised until none
 * can (`raised`); where the constraint fails even then it fails for ever. */
void fac_twin_frozen(const struct fac_shape *shape, const uint32_t *spins, uint32_t *raised,
                     uint32_t *frozen);

#endif
