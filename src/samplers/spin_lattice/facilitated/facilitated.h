/* Facilitated dynamics on a device: shape, launch, buffers. Internal to the sampler. */
#ifndef ERGO_SAMPLERS_SPIN_LATTICE_FACILITATED_FACILITATED_H
#define ERGO_SAMPLERS_SPIN_LATTICE_FACILITATED_FACILITATED_H

#include "engine/engine.h"
#include "samplers/sampler.h"
#include "spin_lattice/facilitated_params.h"

/* The kinetic constraint: a spin may flip if at least `needed` of the neighbours in `directions`
 * (1 north, 2 east, 4 south, 8 west, 16 above, 32 below) are up. */
struct fac_rule {
    unsigned directions;
    unsigned needed;       /* 0: the key /system/facilitation */
    unsigned fewest, most; /* sides of the lattice */
};

struct fac_shape {
    unsigned d; /* 1: a chain, which is a lattice of one row; 3: sites / (lx ly) layers */
    uint32_t lx, ly;
    uint64_t sites;
    uint32_t words, lanes; /* word-lattices per member, and realisations in each (1 or 32) */
    unsigned directions, needed;
    bool coupled; /* J != 0 */
    /* Method lambda: picks at a time (0: the exact order), and the division of the lattice (see
     * cl/spin_lattice/facilitated_lambda.h). */
    uint32_t lambda;
    enum { FAC_SHIFTED, FAC_FIXED, FAC_COLOURED } division;
};

/* Energies in units of k_B T, or in the units of the job. */
struct fac_physics {
    double t, j, b;
    double c;     /* density of up spins without coupling */
    double ratio; /* exp(2 B / T) = (1 - c) / c */
};

/* Launch modes. All but lambda give the same chain. */
enum fac_mode {
    FAC_MODE_SERIAL,  /* a work-item per word-lattice */
    FAC_MODE_WINDOWS, /* a work-group per word-lattice */
    FAC_MODE_TILES,   /* many work-groups per word-lattice: cl/spin_lattice/facilitated_tiles.cl */
    /* the paper's approximation, which is another chain: cl/spin_lattice/facilitated_lambda.cl */
    FAC_MODE_LAMBDA,
};

struct fac_tiles {
    uint32_t nx, ny, halo;
    uint32_t wide, high;    /* sides of the largest tile with its halo */
    uint32_t most_attempts; /* most attempts of a tile in a segment */
    uint32_t group;
    uint32_t segment;   /* attempts between two exchanges of halos */
    size_t local_bytes; /* local memory of facilitated_tiles */
    double load;        /* sites of all tiles with halos, divided by those of the lattice */
};

struct fac_launch {
    enum fac_mode mode;
    struct fac_tiles tiles;
    /* attempts that a group tests at once, one per work-item; 0: one after the other */
    uint32_t window;
    uint32_t parts;         /* partial sums per word-lattice */
    uint32_t group;         /* work-items per group of the measuring kernel */
    uint64_t attempts;      /* of a launch; of serial and windows an estimate */
    uint64_t most_attempts; /* of those two: the most that a launch may have */
    uint64_t counts_length; /* counts per sample of the batch */
};

enum fac_buffer {
    FAC_SPINS,
    FAC_FIRST, /* spins at t = 0 */
    FAC_FLIPPED,
    /* Tiles read spins and flips from one pair of buffers and write to the other; then the pairs
     * are swapped. Half a sweep of method lambda does so with the spins. */
    FAC_OTHER_SPINS,
    FAC_OTHER_FLIPPED,
    FAC_BINS, /* attempts sorted by tile, and their numbers */
    FAC_BIN_COUNTS,
    FAC_AGAIN, /* of each word-lattice: its segment must be done again */
    FAC_MEMBERS,
    FAC_RECORD, /* counts at a time of the curves */
    FAC_LANES,  /* and of single realisations */
    FAC_SAMPLES
};
enum fac_kernel { FAC_SWEEP, FAC_BIN, FAC_PART, FAC_START, FAC_REFERENCE, FAC_MEASURE, FAC_EACH };

struct fac_state {
    struct ergo_engine e;
    struct fac_shape shape;
    struct fac_launch launch;
    struct fac_member *members;
    struct fac_physics *physics;
    uint64_t origin; /* step of t = 0 */
    /* Counts at the times of the curves. `recorded` has those of this session as the device
     * wrote them, [time][member][word][part][FAC_COUNTS]. `loaded` has those of a checkpoint,
     * [time][member][word][FAC_COUNTS]. Each count is in one of them, and zero in the other. */
    size_t n_times;
    double *times; /* in sweeps */
    uint32_t *recorded;
    uint64_t *loaded;
    /* The same of single realisations, where /run/chi4 asks for them (lanes.c):
     * [time][member][word] [part][32][FAC_SQUARES], and of checkpoints sums of their squares,
     * [time][member][word] [FAC_SQUARES]. */
    bool each;
    size_t lanes_length;
    uint32_t *lanes;
    uint64_t *squares;
};

/* Of a realisation: spins equal to those at t = 0; spins that have not flipped. */
enum { FAC_SQUARES = 2 };

static inline size_t fac_lattices(const struct fac_state *s) {
    return s->e.batch->count * s->shape.words;
}

/* job.c: what a job tells without a device. */
struct fac_shape fac_shape_of(const struct ergo_point *point);
struct fac_physics fac_physics_of(const struct ergo_point *point);
void fac_member_fill(const struct ergo_point *point, struct fac_member *member);
/* Bytes of a state that count for the times of the curves. */
size_t fac_state_tail(const struct ergo_point *point);
/* Is the start drawn from the stationary distribution? Then <s> = 2c - 1 at all times. */
bool fac_is_stationary(const struct ergo_point *point);
/* Is phi defined? Not if all spins are alike at t = 0. */
bool fac_has_phi(const struct ergo_point *point);
enum ergo_status fac_check(struct ergo_context *ctx, const struct ergo_point *point);
size_t fac_curve_size(const struct ergo_point *point, size_t c);
void fac_curve_x(const struct ergo_point *point, size_t c, double *x);
const char *fac_reference(const struct ergo_point *point);
double fac_exact(const struct ergo_point *point, const char *observable);
double fac_relaxation_time(const struct ergo_point *point, const double *mean, size_t size);

/* Does /run/chi4 ask for fluctuations between realisations? Numbers of a word-lattice at a time of
 * the curves, in states. */
bool fac_has_chi4(const struct ergo_point *point);
size_t fac_numbers(const struct ergo_point *point);

/* lanes.c: sums over the realisations of a word-lattice of squared counts, and chi_4. */
enum ergo_status fac_lanes_prepare(struct fac_state *s);
void fac_lanes_clear(struct fac_state *s);
/* Of time k of the curves, which is now. */
void fac_lanes_record(struct fac_state *s, size_t k);
uint64_t fac_square(const struct fac_state *s, size_t time, size_t member, size_t word, unsigned c);
/* From a checkpoint. */
void fac_lanes_load(struct fac_state *s, size_t time, size_t member, size_t word,
                    const uint8_t *bytes);
/* Adds a sample of each word-lattice to the curves of chi_4. False: no memory. */
bool fac_lanes_curves(const struct fac_state *s, size_t member, struct ergo_curve *curves);

/* plan.c */
enum ergo_status fac_configure(struct ergo_context *ctx, void *state);

/* advance.c: functions of the engine's table. */
void fac_steps(void *state, uint64_t sweeps);
void fac_measure(void *state, size_t sample);
void fac_columns(const void *state, size_t member, const uint64_t *sums, double *columns);
/* Record what is due at the current step: the reference at t = 0, counts for the curves. */
void fac_event(struct fac_state *s);
/* A count of the curves. The queue must have finished. */
uint64_t fac_record(const struct fac_state *s, size_t time, size_t member, size_t word,
                    unsigned count);

/* state.c */
enum ergo_status fac_form(struct ergo_context *ctx, const struct ergo_point *point,
                          struct ergo_form *form);
extern const struct ergo_fields fac_fields;
enum ergo_status fac_carry(struct ergo_context *ctx, void *state, size_t member, const void *bytes,
                           size_t length);
enum ergo_status fac_view(struct ergo_context *ctx, void *state, size_t member,
                          struct ergo_view *view);
enum ergo_status fac_end_curves(struct ergo_context *ctx, void *state, size_t member,
                                struct ergo_curve *curves);
/* Closure test of each realisation: flip up every spin that its constraint allows, until none is
 * left (`raised`). Sites whose constraint fails even then can never flip (`frozen`). */
void fac_closure(const struct fac_shape *shape, const uint32_t *spins, uint32_t *raised,
                 uint32_t *frozen);

#endif
