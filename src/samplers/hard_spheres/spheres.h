/* Hard spheres on host and device. Internal to the sampler. */
#ifndef ERGO_SAMPLERS_HARD_SPHERES_SPHERES_H
#define ERGO_SAMPLERS_HARD_SPHERES_SPHERES_H

#include "engine/engine.h"
#include "hard_spheres/params.h"
#include "samplers/confined.h"
#include "samplers/hard_spheres/parameters.h"
#include "samplers/isobaric.h"
#include "samplers/sampler.h"

#define SPHERES_PI 3.14159265358979323846
#define SPHERES_BOX_MAX 1e5 /* sigma */
/* Per member, because cells are numbered with 32 bits. */
#define SPHERES_CELLS_MAX (UINT32_MAX / 16)
#define SPHERES_CLOSEST 0.7404804896930611 /* packing fraction of close packing, pi / sqrt(18) */

/* ---- shape.c: numbers that follow from the job ---------------------------------------------- */

struct spheres_shape {
    uint64_t n;
    double box[3];  /* sides in sigma: as asked for, to half a unit a cell; between walls */
    double density; /* rho sigma^3 */
    struct ergo_confinement confined;
    uint32_t cells[3];
    uint32_t width[3]; /* units per cell side */
    uint64_t side[3];  /* of the box of the checkerboard, in units: beyond walls it may go on */
    uint64_t all;      /* cells */
    double sigma;      /* in units */
    uint64_t contact;  /* overlap: r^2 < contact, in units^2 */
    unsigned slots;    /* of a cell */
    uint32_t moves_per_cell;
    bool per_axis; /* by one side at a time */
    bool npt;      /* the volume changes; box, density, sigma and contact are those of the start */
    uint32_t volume_every;          /* sweeps from one volume move to the next */
    int64_t volume;                 /* ln V of the start; see common/volume.h */
    struct ergo_volume_rules rules; /* of the volume moves */
};

/* Geometry of a point. False: no checkerboard fits, and *reason (300 bytes) tells which boxes do.
 */
bool spheres_shape_of(const struct ergo_point *point, struct spheres_shape *shape, char *reason);
/* Parameters of the kernels. The caller sets `first`. */
void spheres_member_fill(const struct ergo_point *point, const struct spheres_shape *shape,
                         struct spheres_member *member);
/* Sides of the box at that volume, in sigma. */
void spheres_box_at(const struct spheres_shape *shape, const struct ergo_volume *volume,
                    double box[3]);
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

/* ---- state.c: a configuration on the host --------------------------------------------------- */

/* Cells by x, then y, then z; places local to the cell, SPHERES_MANY for each. */
struct spheres_place {
    uint32_t at[3];
};
struct spheres_config {
    uint32_t cells[3];
    uint64_t grid[3];          /* where cell (0, 0, 0) is in the box, in units */
    uint64_t contact;          /* overlap: r^2 < contact */
    struct ergo_volume volume; /* all 0 at constant volume */
    uint8_t *count;
    struct spheres_place *place; /* [cells][SPHERES_MANY] */
};

/* Empty cells. False: out of memory. */
bool spheres_config_init(struct spheres_config *config, const uint32_t cells[3]);
void spheres_config_free(struct spheres_config *config);
/* Put spheres at places in units, below shape->side, into cells. Returns SIZE_MAX, or the first
 * sphere that finds its cell full. */
size_t spheres_config_place(struct spheres_config *config, const struct spheres_shape *shape,
                            const uint64_t (*at)[3]);
/* Places in sigma, in the order of the cells. */
void spheres_config_positions(const struct spheres_config *config,
                              const struct spheres_shape *shape, double (*at)[3]);
/* The smallest squared distance of two spheres; cells and slots of the pair (NULL: not wanted). Of
 * pairs in cells that are no neighbours none is seen. */
uint64_t spheres_config_closest(const struct spheres_config *config,
                                const struct spheres_shape *shape, size_t cell[2],
                                unsigned slot[2]);
/* The place in the box, in units, of sphere number i of a cell. */
void spheres_config_at(const struct spheres_config *config, const struct spheres_shape *shape,
                       size_t cell, size_t i, uint64_t at[3]);
/* Is a sphere in a wall? */
bool spheres_config_crosses(const struct spheres_config *config, const struct spheres_shape *shape);
/* The canonical bytes (README). False: not those of such a state; *reason says why. */
void spheres_config_write(const struct spheres_config *config, const struct spheres_shape *shape,
                          struct ergo_text *text);
bool spheres_config_read(struct spheres_config *config, const struct spheres_shape *shape,
                         const void *bytes, size_t length, const char **reason);
/* The device's layout (params.h). The configuration begins at cell `first` of each plane, and
 * planes are `plane` cells apart. */
enum { SPHERES_PLANE_BYTES = 16 };
void spheres_config_to_raw(const struct spheres_config *config, unsigned slots, void *raw,
                           size_t first, size_t plane);
void spheres_config_from_raw(struct spheres_config *config, unsigned slots, const void *raw,
                             size_t first, size_t plane);
/* Where the device has cell number `cell`. */
size_t spheres_raw_place(const uint32_t cells[3], size_t cell);

/* ---- start.c --------------------------------------------------------------------------------- */

bool spheres_start_is_file(const char *start);
bool spheres_start_is_random(const struct ergo_point *point);
/* r^2 of contact of the spheres with which a random start begins. No more of them fit a cell than
 * it has slots. */
uint64_t spheres_start_contact(const struct spheres_shape *shape);
/* Does the lattice fit the box? False: *reason (400 bytes) tells up to where it does. */
bool spheres_start_fits(const struct ergo_point *point, const struct spheres_shape *shape,
                        char *reason);
enum ergo_status spheres_start(struct ergo_context *ctx, const struct ergo_point *point,
                               const struct spheres_shape *shape, struct spheres_config *config);
/* Check a start from a file, without using it. */
enum ergo_status spheres_start_check(struct ergo_context *ctx, const struct ergo_point *point,
                                     const struct spheres_shape *shape);

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
    struct spheres_launch launch;
    struct spheres_shape *shapes;    /* [members] */
    struct spheres_member *members;  /* [members] */
    uint64_t *contacts;              /* [members][contact_words] */
    size_t contact_words;            /* SPHERES_CONTACT_WORDS of the kernels */
    struct spheres_growing *growing; /* random starts in progress, or NULL */
};

/* Random starts in progress. */
struct spheres_growing {
    struct spheres_config *configs; /* [members]: those that have finished */
    uint64_t *first;                /* [members]: r^2 of contact at the beginning, */
    uint64_t *contacts;             /* and now, as those of the state */
    uint64_t *least;                /* [members][sums] */
    uint32_t sweep;
    size_t left; /* members that still grow */
};

/* plan.c */
enum ergo_status spheres_configure(struct ergo_context *ctx, void *state);
/* device.c */
extern const struct ergo_engine_model spheres_model;
enum ergo_status spheres_init(struct ergo_context *ctx, void *state);
enum ergo_status spheres_save(struct ergo_context *ctx, void *state, size_t member,
                              struct ergo_text *text);
enum ergo_status spheres_load(struct ergo_context *ctx, void *state, size_t member, uint64_t step,
                              const void *bytes, size_t length);
enum ergo_status spheres_carry(struct ergo_context *ctx, void *state, size_t member,
                               const void *bytes, size_t length);
enum ergo_status spheres_frame(struct ergo_context *ctx, void *state, size_t member,
                               struct ergo_text *text);
/* Read one member's configuration from the device; it is allocated. Write one. */
enum ergo_status spheres_fetch(struct ergo_context *ctx, struct spheres_state *s, size_t member,
                               struct spheres_config *config);
enum ergo_status spheres_store(struct ergo_context *ctx, struct spheres_state *s, size_t member,
                               const struct spheres_config *config);
/* random.c: random starts of all members at once, in pieces, from lattices on the device. */
enum ergo_status spheres_random_begin(struct ergo_context *ctx, struct spheres_state *s);
enum ergo_status spheres_random_piece(struct ergo_context *ctx, void *state, bool *done);
void spheres_random_destroy(struct spheres_state *s);
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
void spheres_steps(void *state, uint64_t sweeps);
void spheres_measure(void *state, size_t sample);
void spheres_measure_curves(void *state, size_t curve);
bool spheres_row(const void *state, unsigned slot, const struct ergo_row *row);
bool spheres_curve_row(const void *state, unsigned slot, const struct ergo_row *row);
enum ergo_status spheres_refuse(struct ergo_context *ctx, const void *state, unsigned slot,
                                const struct ergo_samples *samples);
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
void spheres_columns(const struct spheres_shape *shape, const struct spheres_total *total,
                     const struct ergo_volume *volume, double *columns);

#endif
