/* Grand canonical Lennard-Jones chains on a device. Internal to the sampler; the layout of the
 * device's memory is in cl/lj_gcmc/gather.h, the chain's definition in cl/lj_gcmc/core.h. */
#ifndef ERGO_SAMPLERS_LJ_GCMC_LJ_H
#define ERGO_SAMPLERS_LJ_GCMC_LJ_H

#include "engine/engine.h"
#include "samplers/sampler.h"

#include "lj_gcmc/params.h"

/* Particles a chain can have: /tuning/capacity allows no more, either. */
enum { LJ_MOST_PARTICLES = 1 << 26 };
enum lj_curve { LJ_CURVE_GR, LJ_CURVE_PAIR_DENSITY, LJ_CURVE_HISTOGRAM, LJ_CURVES };
enum lj_column {
    LJ_COLUMN_PARTICLES,
    LJ_COLUMN_ENERGY,
    LJ_COLUMN_VIRIAL,
    LJ_COLUMN_IMPULSIVE, /* virial of the jump at the cutoff: lj_jump_of */
    LJ_COLUMN_TRIED,     /* displacement, insertion, deletion */
    LJ_COLUMN_ACCEPTED = LJ_COLUMN_TRIED + 3,
    LJ_COLUMNS = LJ_COLUMN_ACCEPTED + 3
};

/* What a job says, in its own units unless told otherwise. */
struct lj_system {
    double box[3], volume, temperature, epsilon, sigma, cutoff;
    double activity;         /* z, 1/length^3; 0 when there are no insertions */
    double max_displacement; /* 0: anywhere */
    bool shifted, tail;
    uint32_t period, trials; /* of a checkerboard: cells from one active cell to the next, and
                                trials of an activation in each; 0: none */
};

/* Cells and the offsets of those within the cutoff, nearest first; each cell comes once. */
struct lj_grid {
    uint32_t n[3];
    uint64_t cells;
    uint32_t n_offsets, near; /* near: offsets that touch the particle's own cell */
    bool cull;                /* offsets may be culled by distance in the kernel */
    uint32_t *offsets;        /* malloc'ed: dx, dy, dz in bytes 0, 1, 2 */
    uint32_t parts;           /* of half a cell along an axis; each part has a list */
};

/* Cells along the axes that are within a distance of a particle: from low to high further, or the
 * whole ring, each once. */
struct lj_reach {
    int low[3], high[3];
    bool ring[3];
};

/* Virial of the jump at the cutoff, an energy, of a pair in the outer and the inner shell. */
struct lj_jump {
    double outer, inner;
};

struct lj_launch {
    uint32_t group, teams;    /* teams: moves that a group looks at at once */
    uint32_t slots, capacity; /* at the start; they grow */
    uint32_t bins;            /* of g(r); 0: not measured */
    uint32_t total_group, total_parts;
    bool vector;        /* eight particles at once, by one work-item */
    bool slotted;       /* a cell's particles are together in memory */
    bool energies;      /* each particle's pair energy is kept (cl/lj_gcmc/gather.h) */
    uint32_t tile;      /* checkerboard: room around an active cell, at the start */
    uint32_t end_group; /* of what ends an activation */
    uint64_t board_blocks;
    uint64_t launch_steps;
    double step_seconds; /* of one chain, roughly */
};

/* What stands on the device. */
enum lj_buffer {
    LJ_MEMBERS,
    LJ_CHAINS,
    LJ_PARTICLES,
    LJ_CELLS,
    LJ_PAIR_ENERGIES, /* where launch.energies */
    LJ_OFFSETS,       /* of cells within the cutoff */
    LJ_EDGES,         /* of the bins of g(r) */
    LJ_SHARES,        /* of sums from scratch */
    LJ_SAMPLES,
    LJ_COUNTS,       /* of pairs, for g(r) */
    LJ_BOUNDS,       /* checkerboard: of cells */
    LJ_ACTIVE_CELLS, /* what they did in an activation */
    LJ_FULL          /* that one of them lacked room */
};
enum lj_kernel { LJ_RUN, LJ_TOTAL, LJ_PAIRS, LJ_BOARD, LJ_BOARD_END, LJ_BOARD_LIST };

/* Totals of a member from scratch. */
struct lj_totals {
    int64_t energy, virial, contacts;
    uint64_t overlaps;
    uint64_t others; /* particles whose pair energy that is kept is another */
};

struct lj_state {
    struct ergo_engine e;
    struct lj_system system; /* of the first member: what is shape */
    struct lj_grid grid;
    struct lj_launch launch;
    struct lj_member *members;
    struct lj_chain *chains; /* host copy, for settling and audits */
    float *bin_edges;        /* squares, in sigma^2: bins + 1 */
    struct lj_jump *jumps;   /* of each member */
    uint32_t slots, capacity, tile;
    uint32_t pairs_end, pairs_each; /* g(r) is of the particles below, so many in a launch: all, and
                                       0 for what suits the device, but in audits */
    uint64_t grown;
    bool stale; /* the host has placed particles: pair energies and contacts are not theirs yet */
};

/* Functions that return nothing leave their error in s->e. */

/* member.c */
struct lj_system lj_system_of(const struct ergo_point *point);
bool lj_is_open(const struct ergo_point *point); /* insertions and deletions: N changes */
void lj_member_fill(const struct ergo_point *point, struct lj_member *member);
/* The radius inside which a pair counts as an overlap, in sigma, squared. */
double lj_core2(double epsilon, double temperature, double cutoff_in_sigma);
/* Largest displacement at the start, in units of shortest side / 2^32. */
uint32_t lj_step_size(const struct lj_system *s);
/* Sites, by axis, of the cubic lattice that has room for `count`; and so many positions on it, 3
 * words each. */
void lj_lattice_sites(const struct lj_system *s, uint32_t count, uint32_t n[3]);
void lj_lattice(const struct lj_system *s, uint32_t count, uint32_t *words);
/* Energy of `fixed` (units of the fixed point) in the job's unit, and virial. */
double lj_energy_of(double epsilon, int64_t fixed);
double lj_virial_of(double epsilon, int64_t fixed);
double lj_tail_energy(const struct lj_system *s, double n);
/* The shells of contacts are so wide, in the job's unit. */
double lj_contact_width(const struct lj_system *s);
struct lj_jump lj_jump_of(const struct lj_system *s);
double lj_impulsive_of(const struct lj_jump *jump, int64_t contacts);

/* grid.c: lengths in sigma; side: of a cell, at least. false: no memory, or too many cells within
 * the cutoff. */
bool lj_grid_make(struct lj_grid *grid, const double box[3], double cutoff, double side);
bool lj_grid_board(struct lj_grid *grid, const struct lj_system *s);
/* Lists of offsets as the kernels read them (cl/lj_gcmc/planes.h), of at most so many bytes,
 * malloc'ed; *count: of four words. core: radius inside which a move is refused. NULL: no memory.
 */
size_t lj_grid_list_bytes(const struct lj_grid *grid);
uint32_t *lj_grid_lists(const struct lj_grid *grid, const double box[3], double cutoff, double core,
                        size_t *count);
/* distance and box in sigma */
struct lj_reach lj_grid_reach(const struct lj_grid *grid, const double box[3], double distance);
uint64_t lj_grid_cell(const struct lj_grid *grid, const uint32_t *words);

/* plan.c */
enum ergo_status lj_configure(struct ergo_context *ctx, void *state);
/* Most moves of a launch with room for `slots` particles in a cell. */
uint64_t lj_launch_steps(const struct ergo_device *device, const struct lj_grid *grid,
                         const struct lj_launch *l, uint32_t slots);
uint32_t lj_bins(const struct ergo_point *point);
size_t lj_histogram_size(const struct lj_system *s, uint32_t *width);

/* device.c */
extern const struct ergo_engine_model lj_model;

/* advance.c */
void lj_steps(void *state, uint64_t steps);
void lj_block(void *state, size_t count, uint64_t every);
enum ergo_status lj_convert(struct ergo_context *ctx, void *state, unsigned slot,
                            struct ergo_samples *samples);
/* The columns of a member's sample at `step`. */
void lj_columns_of(const struct lj_state *s, const struct lj_system *system,
                   const struct lj_jump *jump, const struct lj_sample *from, uint64_t step,
                   double *to);
/* Every chain at e.step, with room made where it was missing; s->chains is up to date. */
enum ergo_status lj_settle(struct ergo_context *ctx, struct lj_state *s);

/* measure.c: what is counted from scratch */
/* Sums over pairs; keep: and write the particles' pair energies. */
void lj_total_sums(struct lj_state *s, bool keep, struct lj_totals *totals);
/* The same by shares, as lj_total has them: LJ_TOTALS words of each of launch.total_parts groups of
 * each member, every pair from both its ends. */
void lj_total_shares(struct lj_state *s, bool keep, int64_t *shares);
struct lj_totals lj_totals_of(const struct lj_state *s, size_t member, const int64_t *shares);
/* Pair energies and contacts of particles that the host has placed; the chains' are written. */
void lj_refresh_energies(struct lj_state *s);
/* Enqueue the counts of g(r) of the chains that stand at `step`, as the slot's row `curve`. */
void lj_pairs_count(struct lj_state *s, size_t curve, uint64_t step);
double lj_bin_width(const struct lj_state *s); /* in the job's unit */
/* Of a sample with n particles and so many ordered pairs in the bins. */
void lj_pairs_convert(const struct lj_state *s, double n, const uint64_t *pairs, double *gr,
                      double *density);

/* board.c */
double lj_board_smallest(const struct lj_system *s); /* side of a box, in the job's unit */
double lj_board_cells(const struct lj_system *s);    /* more than 2^31 - 1: refused */
uint64_t lj_board_blocks(const struct lj_system *s, uint32_t blocks[3]);
uint32_t lj_board_tile(const struct lj_system *s, int64_t wish);
uint64_t lj_board_local_bytes(const struct lj_system *s, const struct lj_launch *l, uint32_t tile);
uint64_t lj_board_visits(const struct lj_system *s, const struct lj_launch *l, uint32_t slots,
                         uint32_t tile);
/* Build options of lj_board, with room for s->tile particles around an active cell. */
void lj_board_options(const struct lj_state *s, struct ergo_text *options);
/* The least positions of all cells, axis by axis; malloc'ed. NULL: no memory. */
uint32_t *lj_board_bounds(const struct lj_grid *grid);
/* Enqueue: one activation of the chains that stand before step `to`, with the slot's samples. */
void lj_board_launch(struct lj_state *s, const struct ergo_engine_slot *slot, uint64_t to);
/* Enqueue: the lists of particles from the cells. */
void lj_board_list(struct lj_state *s);

/* cells.c: cells from positions, and more room in them */
/* How a cell's words lie in the memory of a member's cells, as read by lj_cells_read. */
size_t lj_cell_word(const struct lj_state *s, uint64_t cell, uint32_t slot, int axis);
size_t lj_cell_count_word(const struct lj_state *s, uint64_t cell);
void lj_cells_read(struct lj_state *s, size_t member, uint32_t *words);
/* For the chains that stopped; all are running then. */
void lj_make_room(struct lj_state *s);
void lj_write_chains(struct lj_state *s);
/* Write a member's positions and fill its cells with them; room is made when needed. */
void lj_place(struct lj_state *s, size_t member, const uint32_t *words, uint32_t count);
/* A member's chain to s->chains, and its positions, 3 words each, malloc'ed. */
enum ergo_status lj_fetch(struct ergo_context *ctx, struct lj_state *s, size_t member,
                          uint32_t **words, uint32_t *count);

/* start.c: the members' first positions, 3 words each, malloc'ed; pairs too close are refused. */
const char *lj_start_file(const struct ergo_point *point); /* NULL: a lattice */
enum ergo_status lj_start(struct ergo_context *ctx, const struct ergo_point *point,
                          uint32_t **words, uint32_t *count);
enum ergo_status lj_start_check(struct ergo_context *ctx, const struct ergo_point *point);

/* state.c, audit.c */
enum ergo_status lj_init(struct ergo_context *ctx, void *state);
enum ergo_status lj_save(struct ergo_context *ctx, void *state, size_t member,
                         struct ergo_text *text);
enum ergo_status lj_load(struct ergo_context *ctx, void *state, size_t member, uint64_t step,
                         const void *bytes, size_t length);
enum ergo_status lj_frame(struct ergo_context *ctx, void *state, size_t member,
                          struct ergo_text *text);
enum ergo_status lj_audit(struct ergo_context *ctx, void *state);
/* Each particle once in its cell, and nobody else. */
enum ergo_status lj_check_cells(struct ergo_context *ctx, struct lj_state *s, size_t member);

#endif
