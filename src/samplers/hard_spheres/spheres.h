/* Hard spheres on host and device. Internal to the sampler. */
#ifndef ERGO_SAMPLERS_HARD_SPHERES_SPHERES_H
#define ERGO_SAMPLERS_HARD_SPHERES_SPHERES_H

#include "engine/engine.h"
#include "hard_spheres/params.h"
#include "samplers/hard.h"
#include "samplers/hard_spheres/parameters.h"
#include "samplers/sampler.h"

#define SPHERES_PI 3.14159265358979323846
#define SPHERES_BOX_MAX 1e5 /* sigma */
/* Per member, because cells are numbered with 32 bits. */
#define SPHERES_CELLS_MAX (UINT32_MAX / 16)
#define SPHERES_CLOSEST 0.7404804896930611 /* packing fraction of close packing, pi / sqrt(18) */

/* ---- shape.c: numbers that follow from the job ---------------------------------------------- */

struct spheres_shape {
    ERGO_HARD;
};

/* Geometry of a point. False: no checkerboard fits, and *reason (300 bytes) tells which boxes do.
 */
bool spheres_shape_of(const struct ergo_point *point, struct spheres_shape *shape, char *reason);
/* Parameters of the kernels. The caller sets `first`. */
void spheres_member_fill(const struct ergo_point *point, const struct spheres_shape *shape,
                         struct spheres_member *member);
/* Sides of the box at that volume, in sigma. */
void spheres_box_at(const struct ergo_hard *shape, const struct ergo_volume *volume, double box[3]);
/* More spheres than mostly can touch one of a cell's from outside, and not many more. */
unsigned spheres_listed(const struct spheres_shape *shape);

/* ---- curve.c: pair histograms, and the pressure from them ----------------------------------- */

enum {
    SPHERES_CURVE_CONTACT,
    SPHERES_CURVE_GR,
    SPHERES_PAIR_CURVES,
    SPHERES_CURVE_PROFILE = SPHERES_PAIR_CURVES, /* from here on enum ergo_confined_curve */
    SPHERES_COUNTED = SPHERES_PAIR_CURVES + ERGO_CONFINED_COUNTED, /* these have counts */
    SPHERES_CURVES = SPHERES_PAIR_CURVES + ERGO_CONFINED_CURVES    /* then those of order.h */
};
/* Samples from one with curves to the next; 0: none has. */
uint64_t spheres_curve_every(const struct ergo_point *point);
size_t spheres_curve_size(const struct ergo_point *point, size_t curve);
void spheres_curve_x(const struct ergo_point *point, size_t curve, double *x);
/* The largest distance of a histogram of pairs, in sigma. */
double spheres_curve_end(const struct ergo_point *point, const struct spheres_shape *shape,
                         size_t curve);
/* Of a histogram of pairs: squared distances, in units and rounded up, at which bins begin, and
 * where the last one ends: curve size + 1 values. */
void spheres_limits(const struct ergo_point *point, const struct spheres_shape *shape, size_t curve,
                    uint64_t *limits);
/* Counts of a curve's bins to g(r), each pair once, or to a profile. */
void spheres_curve_convert(const struct ergo_point *point, const struct spheres_shape *shape,
                           size_t curve, const uint32_t *counts, double *values);
/* Z = 1 + 4 eta g(sigma+) and rho Z, from g(r) near contact. */
double spheres_compressibility(const struct ergo_point *point, const double *contact, size_t size);
double spheres_pressure(const struct ergo_point *point, const double *contact, size_t size);
/* Z of two spheres, exactly; NAN for others. */
double spheres_exact_compressibility(const struct ergo_point *point);
/* beta P on a wall, from the density next to it; of the profile the density in the middle fifth,
 * and the surface excess. */
double spheres_wall(const struct ergo_point *point, const double *curve, size_t size);
double spheres_excess(const struct ergo_point *point, const double *profile, size_t size);
double spheres_density(const struct ergo_point *point);
double spheres_packing(const struct ergo_point *point);

/* state.c */
extern const struct ergo_hard_kind spheres_kind;

/* ---- start.c --------------------------------------------------------------------------------- */

bool spheres_start_is_random(const struct ergo_point *point);
/* r^2 of contact of the spheres with which a random start begins. No more of them fit a cell than
 * it has slots. */
uint64_t spheres_start_contact(const struct spheres_shape *shape);
/* Does the lattice fit the box? False: *reason (400 bytes) tells up to where it does. */
bool spheres_start_fits(const struct ergo_point *point, const struct spheres_shape *shape,
                        char *reason);
enum ergo_status spheres_start(struct ergo_context *ctx, const struct ergo_point *point,
                               const struct ergo_hard *shape, struct ergo_hard_cells *c);

/* ---- device ---------------------------------------------------------------------------------- */

struct spheres_launch {
    uint32_t group;      /* work-items of a group, in the launch over a set of cells */
    uint32_t team;       /* work-items of each of these cells */
    bool local;          /* are lists in local memory? */
    uint32_t sum_group;  /* work-items that add up a partial sum of a measurement */
    uint32_t sums;       /* partial sums per member */
    uint32_t most_cells; /* of any member */
    uint64_t all_cells;  /* of all members */
    uint32_t plans;      /* sweeps planned by one launch */
    uint32_t bins[SPHERES_CURVES];
    uint32_t pair_layers;  /* pair histograms: most layers of cells per launch */
    unsigned slots;        /* of a cell, in all members */
    unsigned listed;       /* spheres of a cell and around it that a team lists */
    uint32_t start_sweeps; /* of a random start, per call */
};

enum spheres_buffer {
    SPHERES_CELLS,
    SPHERES_OTHER, /* the copy that the shift writes */
    SPHERES_GRIDS,
    SPHERES_CONTACTS, /* r^2 of contact of each member */
    SPHERES_TALLY,    /* moves of each cell in the last sweep */
    SPHERES_PLANS,    /* of the next sweeps */
    SPHERES_MEMBERS,
    SPHERES_GROWTH,  /* r^2 of contact while a random start grows */
    SPHERES_LEAST,   /* smallest r^2 of each member, in parts */
    SPHERES_VOLUMES, /* of each member, where they change, */
    SPHERES_RULES,   /* and how */
    SPHERES_WALLS,   /* walls of each member, */
    SPHERES_FIELDS,  /* and nodes of its field */
    SPHERES_LIMITS,  /* of both histograms of pairs */
    SPHERES_SUMS = SPHERES_LIMITS + SPHERES_PAIR_CURVES, /* samples, in partial sums */
    SPHERES_SEEN,                                        /* volumes of samples */
    SPHERES_ENERGIES,                                  /* energies in the field, in partial sums */
    SPHERES_COUNTS,                                    /* of all histograms */
    SPHERES_PLACES = SPHERES_COUNTS + SPHERES_COUNTED, /* cells for the analysis of order */
};
enum spheres_kernel {
    SPHERES_PLAN_SWEEPS,
    SPHERES_SUBSWEEP,
    SPHERES_SHIFT,
    SPHERES_MEASURE,
    SPHERES_PAIRS,
    SPHERES_CLOSEST_PAIR,
    SPHERES_VOLUME_MOVE,
    SPHERES_ENERGY,
    SPHERES_PROFILE
};

struct spheres_state {
    struct ergo_engine e;
    const struct ergo_hard_kind *kind;
    struct ergo_hard_growth growth;
    struct spheres_launch launch;
    struct spheres_shape *shapes;   /* [members] */
    struct spheres_member *members; /* [members] */
    uint64_t *contacts;             /* [members][contact_words] */
    size_t contact_words;           /* SPHERES_CONTACT_WORDS of the kernels */
    uint64_t *growing;              /* the same while a random start grows */
    uint64_t *least;                /* of its pairs: [members][sums] */
};

/* plan.c */
enum ergo_status spheres_configure(struct ergo_context *ctx, void *state);
/* device.c */
extern const struct ergo_engine_model spheres_model;
enum ergo_status spheres_init(struct ergo_context *ctx, void *state);
enum ergo_status spheres_frame(struct ergo_context *ctx, void *state, size_t member,
                               struct ergo_text *text);
/* random.c: random starts, from lattices on the device. */
enum ergo_status spheres_random_sweep(struct ergo_context *ctx, void *state);
enum ergo_status spheres_random_take(struct ergo_context *ctx, void *state);
/* advance.c */
/* `count` plans of sweeps from `step` on; then sweep k of these, with contacts of that buffer. */
void spheres_plan_sweeps(struct spheres_state *s, uint64_t step, uint32_t count, uint32_t purpose);
void spheres_sweep(struct spheres_state *s, uint64_t step, uint32_t k, bool note,
                   enum spheres_buffer contacts, uint32_t purpose);
/* The smallest r^2 of each member, into SPHERES_LEAST: tried: as the volume move of this step
 * proposes sides. */
void spheres_closest_pairs(struct spheres_state *s, bool tried);
/* Put r^2 of contact of a member into contacts, where all units are alike. */
void spheres_contact_put(const struct spheres_state *s, uint64_t *contacts, size_t member,
                         uint64_t contact);
ERGO_ENGINE_FUNCTIONS(spheres);
/* The columns of a sample. */
enum {
    SPHERES_ACCEPTANCE,
    SPHERES_OCCUPIED,
    SPHERES_DENSITY,
    SPHERES_VOLUME_ACCEPTANCE,
    SPHERES_LIMITED,
    SPHERES_ASPECT_Y,
    SPHERES_ASPECT_Z,
    SPHERES_FIELD_ENERGY,
    SPHERES_VOLUME_STEP,
    SPHERES_COLUMNS
};
struct spheres_total {
    uint64_t spheres, occupied, accepted, tried;
    int64_t energy; /* beta u in 2^-20 */
};

#endif
