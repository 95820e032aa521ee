/* Fully connected spin glasses (Sherrington-Kirkpatrick, random orthogonal model) on a device:
 * shape, launch, buffers. Internal to the models. */
#ifndef ERGO_SAMPLERS_SPIN_LATTICE_DENSE_DENSE_H
#define ERGO_SAMPLERS_SPIN_LATTICE_DENSE_DENSE_H

#include "engine/engine.h"
#include "engine/ladder.h"
#include "samplers/spin_lattice/overlaps.h"
#include "spin_lattice/dense_params.h"

/* Moments of a realisation at one temperature: means over its copies. */
enum {
    DENSE_E,  /* energy per site */
    DENSE_E2, /* its square */
    DENSE_EE, /* product of both copies' */
    DENSE_ABS_Q,
    DENSE_Q2,
    DENSE_Q4,
    DENSE_M,
    DENSE_M2,
    DENSE_MOMENTS
};

/* What is told of the coldest temperature: the curve `moments`. */
enum { DENSE_HEAT = OVERLAP_NUMBERS, DENSE_RESULTS };
enum {
    DENSE_CURVE_ENERGY,
    DENSE_CURVE_HEAT,
    DENSE_CURVE_Q2,
    DENSE_CURVE_BINDER,
    DENSE_CURVE_ACCEPTANCE,
    DENSE_CURVE_SWAPS,
    DENSE_CURVE_OVERLAP,
    DENSE_CURVE_MOMENTS,
    DENSE_CURVE_SAMPLES,
    DENSE_CURVE_TIMES,
    DENSE_CURVE_ROUND_TRIPS,
    DENSE_CURVE_TEMPERATURES,
    DENSE_CURVES
};

enum dense_disorder { DENSE_BIMODAL, DENSE_GAUSSIAN, DENSE_ORTHOGONAL };

/* Of a batch; padded and each belong to a launch and are 0 until there is one. */
struct dense_shape {
    enum dense_disorder disorder;
    uint32_t n;
    uint32_t samples, rungs, copies, slots; /* slots: of a realisation */
    uint32_t swap_every;
    bool heat;
};

enum dense_buffer {
    DENSE_SPINS,
    DENSE_FIELDS,
    DENSE_PLACES,
    DENSE_COUPLINGS,
    DENSE_KEYS,
    DENSE_SCALES,
    DENSE_SLOPES,
    DENSE_EXTERNAL,
    DENSE_ENERGIES,
    DENSE_FLIPS,
    DENSE_CAME,
    DENSE_ACCEPTED,
    DENSE_TRIPS,
    DENSE_RECORDS
};
enum dense_kernel { DENSE_START, DENSE_FIELDS_OF, DENSE_SWEEP, DENSE_SWAP, DENSE_MEASURE };

struct dense_state {
    struct ergo_engine e;
    struct dense_shape shape;
    uint32_t group, eights; /* work-items of a chain; vectors of eight sites of each */
    uint64_t launch_sweeps; /* at most */
    uint64_t *hashes;       /* of each member's couplings */
    struct ergo_feedback feedback;
    double *ladders;  /* temperatures, [member][rung] */
    uint32_t *places; /* of a member's slots, while it is saved or loaded */
};

/* job.c: what can be said of a point without a device. */
struct dense_shape dense_shape_of(const struct ergo_point *point);
/* The energy that a count of 1 stands for: 2^-12 / sqrt(n). */
double dense_unit(const struct dense_shape *s);
/* The field h in that unit. */
int32_t dense_external(const struct ergo_point *point, const struct dense_shape *s);
/* Of temperatures t; t, scales, slopes: [rungs]. */
void dense_tables(const struct dense_shape *s, const double *t, float *scales, float *slopes);
enum ergo_status dense_check(struct ergo_context *ctx, const struct ergo_point *point);
size_t dense_bins(const struct dense_shape *s); /* of P(q); 0: one copy */
size_t dense_bin(const struct dense_shape *s, uint32_t unequal);
size_t dense_row_length(const struct dense_shape *s); /* a realisation's moments, and P(q) */
size_t dense_curve_size(const struct ergo_point *point, size_t c);
void dense_curve_x(const struct ergo_point *point, size_t c, double *x);

/* couplings.c: the key of the realisations of a model and replica. */
void dense_key(const struct ergo_point *point, const char *name, uint32_t replica, uint32_t key[2]);
/* Realisation `sample`, rows of `stride` numbers, zeros beyond n and on the diagonal. Of the shape
 * n and disorder count. False: no memory. */
bool dense_couplings(const uint32_t key[2], const struct dense_shape *s, uint32_t sample,
                     size_t stride, int16_t *couplings);

/* plan.c */
enum ergo_status dense_configure(struct ergo_context *ctx, void *state);
size_t dense_padded(const struct dense_state *s); /* sites of a work-group */
size_t dense_piles(const struct dense_state *s);  /* realisations of all members */
size_t dense_chains(const struct dense_state *s);

/* advance.c */
/* Local fields of `count` chains from `begin` on, whose places are their slots. */
void dense_launch_fields(struct dense_state *s, size_t begin, size_t count);
/* device.c: s->ladders to the device. */
void dense_write_ladders(struct dense_state *s);
void dense_steps(void *state, uint64_t sweeps);
void dense_measure(void *state, size_t sample);

/* sums.c */
enum ergo_status dense_convert(struct ergo_context *ctx, void *state, unsigned slot,
                               struct ergo_samples *samples);
/* curves.c */
enum ergo_status dense_end_curves(struct ergo_context *ctx, void *state, size_t member,
                                  struct ergo_curve *curves);

/* state.c */
enum ergo_status dense_form(struct ergo_context *ctx, const struct ergo_point *point,
                            struct ergo_form *form);
extern const struct ergo_fields dense_fields;
/* Counters of all chains at 0, walkers where they start. */
void dense_clear(struct dense_state *s);

/* The default of /system/dynamics where it is not metropolis, else NULL (job.c). */
const char *dense_instead(const struct ergo_point *point);

#endif
