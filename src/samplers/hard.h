/*
 * Hard particles in the cells of a checkerboard: what hard-disks and hard-spheres share on the
 * host. Shapes, configurations and their canonical bytes, the way to a device and back, starts from
 * places. What differs is in a table, struct ergo_hard_kind.
 */
#ifndef ERGO_SAMPLERS_HARD_H
#define ERGO_SAMPLERS_HARD_H

#include "engine/engine.h"
#include "samplers/confined.h"
#include "samplers/isobaric.h"
#include "samplers/particle_parameters.h"

/* A shape begins with these (ERGO_HARD): numbers that follow from the job. At constant pressure
 * box, density, sigma and contact are those of the start. */
/* clang-format off */
#define ERGO_HARD_SHAPE                                                                            \
    const struct ergo_hard_kind *kind;                                                             \
    uint64_t n, all;   /* particles, cells */                                                      \
    double box[3];     /* sides in sigma, between the faces of walls */                            \
    double density;    /* rho sigma^d */                                                           \
    double sigma;      /* in units of x */                                                         \
    double unit[3];    /* units of sigma along each axis */                                        \
    double length[3];  /* of a unit along each axis, in units of x */                              \
    struct ergo_confinement confined;                                                              \
    uint32_t cells[3]; /* along the axes; 1 where there is none */                                 \
    uint32_t width[3]; /* units of a cell's side */                                                \
    uint64_t side[3];  /* of the checkerboard's box, in units: it may go on in walls */            \
    uint64_t contact;  /* overlap: r^2 < contact, in units^2 */                                    \
    unsigned slots;    /* of a cell */                                                             \
    unsigned planes;   /* of a device's cells, 16 bytes in each */                                 \
    uint32_t moves_per_cell, volume_every; /* sweeps from one volume move to the next */           \
    bool npt, per_axis;                    /* the volume changes; by one side at a time */         \
    struct ergo_volume volume;             /* of the start */                                      \
    struct ergo_volume_rules isobaric      /* of volume moves */
/* clang-format on */
struct ergo_hard {
    ERGO_HARD_SHAPE;
};
/* The same members by both names. */
#define ERGO_HARD                                                                                  \
    union {                                                                                        \
        struct ergo_hard hard;                                                                     \
        struct {                                                                                   \
            ERGO_HARD_SHAPE;                                                                       \
        };                                                                                         \
    }

/* A configuration. Cells by x, then y, then z; places are local to the cell. */
struct ergo_hard_cells {
    const struct ergo_hard *shape;
    uint64_t grid[3];   /* where the first cell is in the box, in units */
    uint64_t contact;   /* at its volume, */
    uint64_t metric[2]; /* squared lengths of units of y and z there, in 2^-62 */
    struct ergo_volume volume;
    uint8_t *count; /* [cells] */
    uint32_t *at;   /* [cells][kind->most][dimensions] */
};

enum { ERGO_HARD_BYTES = 16 }; /* of a cell in a plane */

struct ergo_hard_kind {
    unsigned dimensions, most; /* most: slots of any cell */
    const char *one, *many;    /* "disk", "disks" */
    unsigned cells, grids;     /* the model's buffers */
    /* A member's shape; its first cell in the planes of a device, and how many these have. */
    const struct ergo_hard *(*of)(const void *state, size_t member, size_t *first, size_t *plane);
    uint64_t (*r2)(const int64_t d[3], const uint64_t metric[2]);
    /* The metric at c->volume; constant pressure: which r^2 of contact its cells allow there. */
    void (*resize)(struct ergo_hard_cells *c, uint64_t allowed[2]);
    /* Constant pressure: sides in sigma. */
    void (*box)(const struct ergo_hard *shape, const struct ergo_volume *volume, double box[3]);
    /* The device's layout (params.h of the kernels), where a configuration begins with cell `first`
     * of planes that are `plane` cells apart. */
    void (*to_raw)(const struct ergo_hard_cells *c, void *raw, size_t first, size_t plane);
    void (*from_raw)(struct ergo_hard_cells *c, const void *raw, size_t first, size_t plane);
    /* Constant pressure: a member's volume, from a device, and to it; those of all starts. */
    void (*read_size)(void *state, size_t member, struct ergo_hard_cells *c);
    void (*write_size)(void *state, size_t member, const struct ergo_hard_cells *c);
    void (*start_sizes)(void *state);
    /* Any start but a random one. */
    enum ergo_status (*start)(struct ergo_context *ctx, const struct ergo_point *point,
                              const struct ergo_hard *shape, struct ergo_hard_cells *c);
    /* A sweep of a random start; take the members that have finished; release what it has (NULL:
     * nothing). What a start may be instead; the sweep at which particles are grown. */
    enum ergo_status (*grow)(struct ergo_context *ctx, void *state);
    enum ergo_status (*take)(struct ergo_context *ctx, void *state);
    void (*grown)(void *state);
    const char *lattice;
    uint32_t grow_sweeps;
    /* A file's box is the job's to within so many sigma, sides L_x and roundings of the file; off
     * the diagonal to within this part of that. */
    double near, near_sides, near_roundings, near_off;
};

/* Random starts in progress, of all members at once. */
struct ergo_hard_growth {
    struct ergo_hard_cells *configs; /* [members]: those that have finished; NULL: none grows */
    size_t left;                     /* members that still grow */
    uint32_t sweep, piece;           /* piece: sweeps of one */
};

/* A state begins so. */
struct ergo_hard_state {
    struct ergo_engine e;
    const struct ergo_hard_kind *kind;
    struct ergo_hard_growth growth;
};

/* ---- hard.c: configurations ------------------------------------------------------------------ */

/* Empty cells, with the volume of the start. ERGO_E_MEMORY. The shape is not copied. */
enum ergo_status ergo_hard_create(struct ergo_context *ctx, const struct ergo_hard *shape,
                                  struct ergo_hard_cells *c);
void ergo_hard_free(struct ergo_hard_cells *c);
/* Of particle number i of a cell: its place in it, and in the box, in units. */
static inline uint32_t *ergo_hard_local(const struct ergo_hard_cells *c, size_t cell, size_t i) {
    const struct ergo_hard_kind *kind = c->shape->kind;
    return c->at + (cell * kind->most + i) * kind->dimensions;
}
/* Put particles at places in units, below the sides, into cells, in this order. Returns SIZE_MAX,
 * or the first one that finds its cell full. */
size_t ergo_hard_place(struct ergo_hard_cells *c, const uint64_t (*at)[3]);
/* Sides of the box; places in the order of the cells, [dimensions][n]; in sigma. */
void ergo_hard_box(const struct ergo_hard_cells *c, double box[3]);
void ergo_hard_positions(const struct ergo_hard_cells *c, double *at);
/* The smallest squared distance; cells and slots of the pair (NULL: not wanted). Of pairs in cells
 * that are no neighbours none is seen. */
uint64_t ergo_hard_closest(const struct ergo_hard_cells *c, size_t cell[2], unsigned slot[2]);
/* The canonical bytes (READMEs). False: not those of such a state; *reason says why. */
void ergo_hard_write(const struct ergo_hard_cells *c, struct ergo_text *text);
bool ergo_hard_read(struct ergo_hard_cells *c, const void *bytes, size_t length,
                    const char **reason);
/* Where a device has cell number `cell`: those of a checkerboard's set follow each other. */
size_t ergo_hard_raw_place(const struct ergo_hard *shape, size_t cell);

/* ---- states ---------------------------------------------------------------------------------- */

/* Make a configuration of what a device has, in a buffer of cells or as a member of a state, and
 * write one. */
enum ergo_status ergo_hard_fetch_cells(struct ergo_context *ctx, struct ergo_engine *e,
                                       unsigned buffer, const struct ergo_hard *shape, size_t first,
                                       size_t plane, struct ergo_hard_cells *c);
enum ergo_status ergo_hard_fetch(struct ergo_context *ctx, void *state, size_t member,
                                 struct ergo_hard_cells *c);
/* Is curve number `curve` of a block one of every so many measurements (0: of none)? If it is, read
 * the cells of all members back into `places`; a configuration from there. False: no memory. */
bool ergo_hard_due(const void *state, unsigned slot, size_t curve, uint64_t every);
void ergo_hard_read_curve(void *state, unsigned places, size_t curve, uint64_t every);
bool ergo_hard_of_curve(const void *state, unsigned places, unsigned slot, size_t curve,
                        size_t member, struct ergo_hard_cells *c);
enum ergo_status ergo_hard_store(struct ergo_context *ctx, void *state, size_t member,
                                 const struct ergo_hard_cells *c);
/* Write starts of all members at once: these, or (NULL) those that the job asks for. */
enum ergo_status ergo_hard_begin(struct ergo_context *ctx, void *state,
                                 const struct ergo_hard_cells *starts);
enum ergo_status ergo_hard_save(struct ergo_context *ctx, void *state, size_t member,
                                struct ergo_text *text);
enum ergo_status ergo_hard_load(struct ergo_context *ctx, void *state, size_t member, uint64_t step,
                                const void *bytes, size_t length);
enum ergo_status ergo_hard_carry(struct ergo_context *ctx, void *state, size_t member,
                                 const void *bytes, size_t length);

/* ---- rows of keys ---------------------------------------------------------------------------- */

/* clang-format off */
#define ERGO_HARD_ENSEMBLE(sampler, flags_)                                                        \
    {.pointer = "/system/ensemble", .type = ERGO_KEY_ENUM, .flags = (flags_),                      \
     .fallback = "\"nvt\"", .unit = "",                                                            \
     .help = "Ensemble: constant volume, nvt, or constant pressure, npt. `ergocl help " sampler    \
             " ENSEMBLE` lists its keys and observables."}
#define ERGO_HARD_N(many)                                                                          \
    {PARTICLE_KEY(n, "/system/n", INT),                                                            \
     .flags = ERGO_KEY_FORM | ERGO_KEY_REQUIRED | ERGO_KEY_SCAN | ERGO_KEY_SHAPE | ERGO_KEY_CHAIN, \
     .min = 2, .max = 1e9, .unit = (many),                                                         \
     .help = "Number of " many " N, of diameter sigma = 1, in a periodic box."}
#define ERGO_HARD_PRESSURE(d, help_)                                                               \
    {PARTICLE_KEY(pressure, "/system/pressure", REAL),                                             \
     .flags = ERGO_KEY_REQUIRED | ERGO_KEY_SCAN | ERGO_KEY_CHAIN | ERGO_KEY_EXCLUDES_MIN,          \
     .min = 0, .max = 1e6, .unit = "k_B T / sigma^" d, .help = (help_)}
#define ERGO_HARD_WITH_CONTACT(contact_)                                                           \
    .acts = (contact_), .where = "without a field, or with walls along its axis"
/* Histograms of pairs. Defaults, what is known of the degree, the longest g(r); where the keys act.
 */
#define ERGO_HARD_CURVE_KEYS(one, range_, bin_, degree_, known, gr_, longest, contact_, bulk_)     \
    {PARTICLE_KEY(curves_every, "/run/curves_every", INT), .flags = ERGO_KEY_SHAPE,                \
     .fallback = "1", .min = 0, .max = 1e12, .unit = "measurements",                               \
     .help = "Measure the histograms, and with them the pressure, at every so many measurements; " \
             "0: never."},                                                                         \
    {PARTICLE_KEY(contact_range, "/run/contact_range", REAL),                                      \
     .flags = ERGO_KEY_SHAPE | ERGO_KEY_EXCLUDES_MIN, .fallback = (range_), .min = 0, .max = 0.5,  \
     .unit = "sigma",                                                                              \
     .help = "Range beyond contact of the histogram that gives the pressure, of two " one "s or, " \
             "with walls, of a " one " and a wall.",                                               \
     ERGO_HARD_WITH_CONTACT(contact_)},                                                            \
    {PARTICLE_KEY(contact_bin, "/run/contact_bin", REAL), .flags = ERGO_KEY_SHAPE,                 \
     .fallback = (bin_), .min = 0.00001, .max = 0.5, .unit = "sigma",                              \
     .help = "Width of its bins.", ERGO_HARD_WITH_CONTACT(contact_)},                              \
    {PARTICLE_KEY(contact_degree, "/run/contact_degree", INT), .flags = ERGO_KEY_SHAPE,            \
     .fallback = (degree_), .min = 0, .max = 8, .unit = "",                                        \
     .help = "Degree of the polynomial that extrapolates g(r), or the density, to contact. " known \
             "A lower degree is noisier by less and biased by more.",                              \
     ERGO_HARD_WITH_CONTACT(contact_)},                                                            \
    {PARTICLE_KEY(gr_max, "/run/gr_max", REAL), .flags = ERGO_KEY_SHAPE, .fallback = (gr_),        \
     .min = 0, .max = (longest), .unit = "sigma",                                                  \
     .help = "Largest distance of g(r), never more than half a side of the box; 0: no g(r).",      \
     .acts = (bulk_), .where = "without walls and fields"},                                        \
    {PARTICLE_KEY(gr_bin, "/run/gr_bin", REAL), .flags = ERGO_KEY_SHAPE, .fallback = "0.02",       \
     .min = 0.001, .max = 10, .unit = "sigma", .help = "Width of the bins of g(r).",               \
     .acts = (bulk_), .where = "without walls and fields"}
/* clang-format on */

/* ---- random starts, in pieces (hard_start.c) ------------------------------------------------- */

/* Sweeps from one question which members have finished to the next, and at most. */
enum { ERGO_HARD_ASK = 32, ERGO_HARD_GROW_MOST = 32768 };
enum ergo_status ergo_hard_grow_begin(struct ergo_context *ctx, void *state, uint32_t piece);
enum ergo_status ergo_hard_grow_piece(struct ergo_context *ctx, void *state, bool *done);
void ergo_hard_grow_end(void *state);

/* ---- hard_start.c ---------------------------------------------------------------------------- */

/* What these keys cannot say: one of packing_fraction and box; bins of the range. */
enum ergo_status ergo_hard_check_size(struct ergo_context *ctx, const struct ergo_point *point);
enum ergo_status ergo_hard_check_bins(struct ergo_context *ctx, const struct ergo_point *point);
bool ergo_hard_start_is_file(const char *start);
/* Is there a wall at the low end of an axis? */
static inline bool ergo_hard_walled(const struct ergo_hard *shape, int axis) {
    return shape->confined.is && shape->confined.walls.low[axis];
}
/* Particles at these places in sigma, [dimensions][n], of the start of that name, rounded to units,
 * so that r^2 is not below `contact`; more: what else they are inexact by, in units. */
enum ergo_status ergo_hard_put(struct ergo_context *ctx, const char *start, uint64_t contact,
                               double more, const double *from, struct ergo_hard_cells *c);
/* The same from the file that /system/start names. */
enum ergo_status ergo_hard_start_file(struct ergo_context *ctx, const struct ergo_point *point,
                                      struct ergo_hard_cells *c);
/* Check a start from a file, without using it. */
enum ergo_status ergo_hard_start_check(struct ergo_context *ctx, const struct ergo_point *point,
                                       const struct ergo_hard *shape);

#endif
