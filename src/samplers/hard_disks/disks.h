/* Hard disks on host and device: shape, configuration, launch, buffers. Internal to the sampler. */
#ifndef ERGO_SAMPLERS_HARD_DISKS_DISKS_H
#define ERGO_SAMPLERS_HARD_DISKS_DISKS_H

#include "engine/engine.h"
#include "hard_disks/params.h"
#include "samplers/hard.h"
#include "samplers/hard_disks/parameters.h"
#include "samplers/sampler.h"

#define DISKS_PI 3.14159265358979323846
#define DISKS_BOX_MAX 1e6                /* sigma */
#define DISKS_CELLS_MAX (UINT32_MAX / 8) /* per member: they are numbered with 32 bits */
#define DISKS_RANDOM_MAX                                                                           \
    0.76 /* packing fraction of random starts: the crystal's, 0.72, and more                       \
          */

/* ---- keys.c -----------------------------------------------------------------------------------
 */

/* Of both ensembles, of constant volume, of constant pressure. */
enum { DISKS_KEYS = 15, DISKS_KEYS_NVT = 5, DISKS_KEYS_NPT = 1 };
extern const struct ergo_key disks_keys[DISKS_KEYS];
extern const struct ergo_key disks_keys_nvt[DISKS_KEYS_NVT];
extern const struct ergo_key disks_keys_npt[DISKS_KEYS_NPT];
bool disks_is_bulk(const struct ergo_point *point); /* no walls and no field */
/* At constant volume: are there walls along the axis of profiles; and no field? */
bool disks_is_walled(const struct ergo_point *point);
bool disks_is_slit(const struct ergo_point *point);

/* ---- shape.c: numbers that follow from the job ---------------------------------------------- */

struct disks_shape {
    ERGO_HARD;
    double board[2];  /* sides of the checkerboard in sigma, which goes on within walls */
    uint32_t half[2]; /* of the cells of a side */
    bool rectangular; /* sides differ, and with them the units along x and y: */
    double aspect;    /* w_y/w_x, */
    uint64_t ratio;   /* and its square in 2^-62 */
    /* constant volume alone has these: */
    uint32_t block; /* cells along a sub-block of the density histogram */
    bool leave, shuffle, shuffle_sets;
    struct disks_rules rules; /* and these constant pressure */
};

/* Geometry of a point. False: no checkerboard fits, and *reason (300 bytes) tells which boxes do.
 */
bool disks_shape_of(const struct ergo_point *point, struct disks_shape *shape, char *reason);
bool disks_reflects(const struct ergo_point *point); /* moves are reflections */
bool disks_confined(const struct ergo_point *point); /* walls or a field */
/* Parameters of the kernels. The caller sets `first`. */
void disks_member_fill(const struct ergo_point *point, const struct disks_shape *shape,
                       struct disks_member *member);

/* The first are counted on the device; the others come from cells that are read back (order.c). */
enum {
    DISKS_CURVE_CONTACT,
    DISKS_CURVE_GR,
    DISKS_CURVE_DENSITY,
    DISKS_CURVES,
    DISKS_CURVE_NUMBERS = DISKS_CURVES,
    DISKS_CURVE_LAST = DISKS_CURVE_NUMBERS + 5, /* in the order of hexatic.h */
    DISKS_CURVE_CONFINED,                       /* from here on enum ergo_confined_curve */
    DISKS_CURVES_ALL = DISKS_CURVE_CONFINED + ERGO_CONFINED_CURVES
};
/* Columns of a sample; from DISKS_DENSITY on only those of constant pressure. */
enum {
    DISKS_PSI6_RE,
    DISKS_PSI6_IM,
    DISKS_ACCEPTANCE,
    DISKS_OCCUPIED,
    DISKS_FIELD_ENERGY,
    DISKS_DENSITY,
    DISKS_VOLUME_STEP,
    DISKS_VOLUME_ACCEPTANCE,
    DISKS_LIMITED,
    DISKS_ASPECT,
    DISKS_COLUMNS
};
size_t disks_n_columns(const struct disks_shape *shape);
/* Samples from one with curves to the next; 0: none has. */
uint64_t disks_curve_every(const struct ergo_point *point);
size_t disks_curve_size(const struct ergo_point *point, size_t curve);
void disks_curve_x(const struct ergo_point *point, size_t curve, double *x);
/* Squared distances, in units and rounded up, at which the bins of the two pair histograms begin,
 * and where the last one ends: curve size + 1 values. */
void disks_limits(const struct ergo_point *point, const struct disks_shape *shape, size_t curve,
                  uint64_t *limits);
/* Areas of the rings between the limits, in sigma^2. Packed coordinates lie on such a coarse grid
 * that the contact histogram's rings hold 2e-4 more or fewer points than their area says. There the
 * points are counted (README). */
void disks_areas(const struct ergo_point *point, const struct disks_shape *shape, size_t curve,
                 const uint64_t *limits, double *areas);
/* Convert counts of a curve's bins, each pair once, to the curve: g(r) of an ideal gas is 1, and
 * the contact curve at constant pressure Eq. 4. areas: for pair histograms. density: of that
 * sample. */
void disks_curve_convert(const struct ergo_point *point, const struct disks_shape *shape,
                         double density, size_t curve, const double *areas, const uint32_t *counts,
                         double *values);

/* ---- pressure.c -------------------------------------------------------------------------------
 */

/* P* from g(r) near contact: Eq. 4 with the value of the polynomial at sigma. */
double disks_pressure(const struct ergo_point *point, const double *contact, size_t size);
double disks_compressibility(const struct ergo_point *point, const double *contact, size_t size);
/* beta P on a wall, from the density next to it; of the profile the density in the middle fifth,
 * and the surface excess. */
double disks_wall(const struct ergo_point *point, const double *curve, size_t size);
double disks_excess(const struct ergo_point *point, const double *profile, size_t size);
/* Known values of P*: exact ones for two disks; published ones for large systems, with the standard
 * error. NAN: not known. */
double disks_exact_pressure(const struct ergo_point *point);
double disks_published_pressure(const struct ergo_point *point, double *error);

/* state.c */
extern const struct ergo_hard_kind disks_kind;

/* ---- start.c ----------------------------------------------------------------------------------
 */

/* Positions (in sigma) of the first n sites of a lattice with at least n sites. False: the lattice
 * does not fit. */
bool disks_lattice(const struct disks_shape *shape, bool hexagonal, double *x, double *y);
bool disks_start_is_random(const struct ergo_point *point);
/* Does the lattice or random start fit the box? False: *reason (400 bytes) tells up to where it
 * does, or which start would. */
bool disks_start_fits(const struct ergo_point *point, const struct disks_shape *shape,
                      char *reason);
/* Make any start except a random one. */
enum ergo_status disks_start(struct ergo_context *ctx, const struct ergo_point *point,
                             const struct ergo_hard *shape, struct ergo_hard_cells *config);
/* The same disks in another grid of cells, that of c's shape. */
enum ergo_status disks_regrid(struct ergo_context *ctx, const struct ergo_hard_cells *from,
                              struct ergo_hard_cells *c);
/* The grid in which a random start grows, where shape->contact is the final one. The kernels'
 * parameters for it, except `first`. Its first configuration. */
void disks_growth_shape(const struct disks_shape *shape, struct disks_shape *grid);
void disks_growth_fill(const struct ergo_point *point, const struct disks_shape *grid,
                       struct disks_growth *growth);
enum ergo_status disks_growth_start(struct ergo_context *ctx, struct ergo_hard_cells *c);

/* ---- device -----------------------------------------------------------------------------------
 */

enum disks_path {
    DISKS_PATH_AUTO = 0,
    DISKS_PATH_LOCAL = 1,
    DISKS_PATH_TILE = 2,
    DISKS_PATH_GLOBAL = 3
};

struct disks_launch {
    enum disks_path path;
    uint32_t group;        /* work-items per work-group */
    uint32_t row, rows;    /* shape of a group, in kernels over the cells of a set */
    bool exact;            /* such groups exactly cover all members */
    uint32_t sum_group;    /* work-items that add up a partial sum of a measurement */
    uint32_t sums;         /* partial sums per member */
    uint32_t most_cells;   /* of any member */
    uint32_t most_half[2]; /* half of the most cells along a side */
    uint64_t all_cells;    /* of all members */
    uint32_t plans;        /* sweeps planned by one launch (tile and global path) */
    uint32_t tile[2];      /* tile path: most pairs of cells along a tile */
    uint32_t tiles;        /* of the largest member */
    uint32_t bins[DISKS_CURVES];
    uint32_t profile_bins[ERGO_CONFINED_CURVES];
    uint64_t launch_sweeps; /* local path: most sweeps per launch */
    uint32_t pair_rows;     /* pair histograms: most rows of cells per launch */
    uint64_t start_cells;   /* of all members while random starts grow; 0: none do */
    uint32_t start_sweeps;  /* sweeps of a start per call */
};

/* Buffers on the device. */
enum disks_buffer {
    DISKS_CELLS,
    DISKS_OTHER, /* the copy that shifts and tiles write */
    DISKS_GRIDS,
    DISKS_TALLY, /* moves of each cell in the last sweep */
    DISKS_PLANS, /* of the next sweeps: order of sets, and shift */
    DISKS_MEMBERS,
    DISKS_SIZES,                                /* constant pressure: of the members, */
    DISKS_RULES,                                /* what changes them, */
    DISKS_LEAST,                                /* closest pairs, in partial minima, */
    DISKS_SEEN,                                 /* and volumes of samples */
    DISKS_LIMITS,                               /* for both pair histograms */
    DISKS_SUMS = DISKS_LIMITS + 2,              /* samples, in partial sums */
    DISKS_COUNTS,                               /* of each curve */
    DISKS_PLACES = DISKS_COUNTS + DISKS_CURVES, /* cells for the hexatic analysis */
    DISKS_WALLS,                                /* of the members, */
    DISKS_FIELDS,                               /* and nodes of their fields */
    DISKS_ENERGIES,                             /* energies in the field, in partial sums */
    DISKS_PROFILES,                             /* counts of curves over one axis */
    DISKS_LAST_PROFILE = DISKS_PROFILES + ERGO_CONFINED_COUNTED - 1,
    DISKS_BUFFERS
};
enum disks_kernel {
    DISKS_SWEEPS_LOCAL,
    DISKS_PLAN_SWEEPS,
    DISKS_SUBSWEEP,
    DISKS_SHIFT,
    DISKS_SWEEP_TILE,
    DISKS_MEASURE,
    DISKS_PAIRS,
    DISKS_BLOCKS,
    DISKS_CLOSEST_PAIR,
    DISKS_VOLUME_MOVE,
    DISKS_ENERGY,
    DISKS_PROFILE
};

struct disks_state {
    struct ergo_engine e;
    const struct ergo_hard_kind *kind;
    struct ergo_hard_growth growth;
    struct disks_launch launch;
    struct disks_shape *shapes;    /* [members] */
    struct disks_member *members;  /* [members]; at constant pressure as they are at the start */
    double *areas[2];              /* of the pair histograms' bins: [members][bins] */
    struct disks_growing *growing; /* random starts in progress, or NULL */
};

/* Random starts in progress. They have an engine of their own. */
enum { DISKS_START_CELLS, DISKS_START_OTHER, DISKS_START_MEMBERS, DISKS_START_COUNTS };
enum { DISKS_START_SUBSWEEP, DISKS_START_SHIFT, DISKS_START_OVERLAPS };
struct disks_growing {
    struct ergo_engine e;
    struct disks_shape *shapes; /* [members]: the job's */
    struct disks_shape *grids;  /* the grids in which disks grow */
    struct disks_growth *growths;
    uint32_t *overlaps; /* number of disks that overlap, per member */
    uint64_t cells;     /* of all members */
    uint32_t most_cells;
};

/* plan.c */
/* Cells that a tile with that many pairs needs in each plane of local memory, including its rim. */
uint32_t disks_tile_room(const uint32_t tile[2]);
enum ergo_status disks_configure(struct ergo_context *ctx, void *state);
/* device.c */
extern const struct ergo_engine_model disks_model;
enum ergo_status disks_init(struct ergo_context *ctx, void *state);
/* A member's parameters at that volume. */
struct disks_member disks_member_at(const struct disks_state *s, size_t member,
                                    const struct ergo_volume *volume);
/* random.c: random starts. */
enum ergo_status disks_random_begin(struct ergo_context *ctx, struct disks_state *s);
enum ergo_status disks_random_sweep(struct ergo_context *ctx, void *state);
enum ergo_status disks_random_take(struct ergo_context *ctx, void *state);
void disks_random_end(void *state);
/* advance.c */
ERGO_ENGINE_FUNCTIONS(disks);
/* Counts of a sweep: accepted moves, and cells that had disks to move. */
struct disks_tally {
    uint64_t accepted, tried;
};
/* picture.c */
/* Local psi_6 of all disks in the order of the cells (n values each), in 1/DISKS_PSI6_UNIT, which
 * are the terms of the device's sums. False: no memory. */
bool disks_psi6(const struct disks_member *member, const struct disks_shape *shape,
                const struct ergo_hard_cells *config, int32_t *re, int32_t *im);
enum ergo_status disks_picture(struct ergo_context *ctx, void *state, size_t member,
                               struct ergo_picture *picture);
enum ergo_status disks_frame(struct ergo_context *ctx, void *state, size_t member,
                             struct ergo_text *text);

#endif
