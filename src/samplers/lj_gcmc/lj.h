/* Lennard-Jones chains on a device, of lj-gcmc and lj-fluid. Internal to these samplers.
 * cl/lj_gcmc/gather.h describes the layout of device memory, cl/lj_gcmc/core.h the chain. */
#ifndef ERGO_SAMPLERS_LJ_GCMC_LJ_H
#define ERGO_SAMPLERS_LJ_GCMC_LJ_H

#include "engine/engine.h"
#include "engine/slab.h"
#include "job/cube.h"
#include "job/xyz.h"
#include "samplers/isobaric.h"
#include "samplers/radial.h"
#include "samplers/sampler.h"

#include "lj_gcmc/gibbs.h"
#include "lj_gcmc/params.h"
#include "samplers/lj_gcmc/parameters.h"

/* Most particles of a chain; also the limit of /tuning/capacity. */
enum { LJ_MOST_PARTICLES = 1 << 27 };
enum lj_curve {
    LJ_CURVE_GR,
    LJ_CURVE_PAIR_DENSITY,
    LJ_CURVE_HISTOGRAM,
    LJ_CURVE_PROFILE, /* in a field, in place of the first two */
    /* of a mixture: of each pair of species, 1-1, 1-2, 2-2, 1-3, ... */
    LJ_CURVE_GR_OF,
    LJ_CURVE_DENSITY_OF = LJ_CURVE_GR_OF + LJ_MOST_SPECIES * (LJ_MOST_SPECIES + 1) / 2,
    LJ_CURVES = LJ_CURVE_DENSITY_OF + LJ_MOST_SPECIES * (LJ_MOST_SPECIES + 1) / 2
};
enum lj_column {
    LJ_COLUMN_PARTICLES,
    LJ_COLUMN_ENERGY,
    LJ_COLUMN_VIRIAL,
    LJ_COLUMN_IMPULSIVE, /* virial of the jump at the cutoff: lj_jump_of */
    LJ_COLUMN_TRIED,     /* displacement, insertion, deletion */
    LJ_COLUMN_ACCEPTED = LJ_COLUMN_TRIED + 3,
    LJ_COLUMN_GHOSTS = LJ_COLUMN_ACCEPTED + 3, /* mean weight of test insertions */
    LJ_COLUMN_VOLUME,
    LJ_COLUMN_VOLUME_ACCEPTED, /* of the last volume move: 1 or 0 */
    LJ_COLUMN_VOLUME_LIMITED,
    LJ_COLUMN_VOLUME_STEP,
    LJ_COLUMN_RISES,   /* of a transition matrix: probability of an insertion's acceptance */
    LJ_COLUMN_FALLS,   /* of a deletion's */
    LJ_COLUMN_SPECIES, /* of a mixture: particles of each species, and weights of their insertions
                        */
    LJ_COLUMN_GHOSTS_OF = LJ_COLUMN_SPECIES + LJ_MOST_SPECIES,
    LJ_COLUMNS = LJ_COLUMN_GHOSTS_OF + LJ_MOST_SPECIES
};
/* Columns of a Gibbs ensemble: first those of the liquid, which is the denser box of the sample,
 * then the same of the other one. */
enum lj_phase_column {
    LJ_PHASE_PARTICLES,
    LJ_PHASE_VOLUME,
    LJ_PHASE_ENERGY,
    LJ_PHASE_VIRIAL, /* with that of the jump at the cutoff */
    LJ_PHASE_GHOSTS, /* V/(N + 1) times the mean weight of test insertions, of the first species */
    LJ_PHASE_COLUMNS
};
enum { LJ_GIBBS_SPECIES = 3 }; /* the most of a mixture in two boxes */
enum lj_gibbs_column {
    LJ_GIBBS_LIQUID,
    LJ_GIBBS_VAPOUR = LJ_GIBBS_LIQUID + LJ_PHASE_COLUMNS,
    LJ_GIBBS_FIRST = LJ_GIBBS_VAPOUR + LJ_PHASE_COLUMNS, /* 1: the first box is the liquid */
    LJ_GIBBS_DISPLACED, /* share of displacements that were accepted, in the liquid */
    LJ_GIBBS_TRIED,     /* transfers */
    LJ_GIBBS_ACCEPTED,
    LJ_GIBBS_VOLUME_ACCEPTED,
    LJ_GIBBS_VOLUME_LIMITED,
    LJ_GIBBS_VOLUME_STEP,
    /* of a mixture: particles of the second and third species, in the liquid and the vapour */
    LJ_GIBBS_LIQUID_SPECIES,
    LJ_GIBBS_VAPOUR_SPECIES = LJ_GIBBS_LIQUID_SPECIES + LJ_GIBBS_SPECIES - 1,
    /* and what LJ_PHASE_GHOSTS is, of these */
    LJ_GIBBS_LIQUID_GHOSTS = LJ_GIBBS_VAPOUR_SPECIES + LJ_GIBBS_SPECIES - 1,
    LJ_GIBBS_VAPOUR_GHOSTS = LJ_GIBBS_LIQUID_GHOSTS + LJ_GIBBS_SPECIES - 1,
    LJ_GIBBS_COLUMNS = LJ_GIBBS_VAPOUR_GHOSTS + LJ_GIBBS_SPECIES - 1
};
_Static_assert((int)LJ_GIBBS_COLUMNS == (int)LJ_COLUMNS, "rows of samples are equally long");
_Static_assert((int)LJ_COLUMNS <= (int)ERGO_COLUMNS_MAX && (int)LJ_CURVES <= (int)ERGO_CURVES_MAX,
               "room for them in what reads samples");
/* Sums of test insertions of a box, LJ_GHOST_WORDS of each species. */
enum { LJ_GHOST_SUMS = LJ_MOST_SPECIES * LJ_GHOST_WORDS };
/* Species of a mixture: species.c. */
struct lj_species {
    uint32_t n; /* 0: one species, which has no such keys */
    /* of pairs, in the job's units */
    double epsilon[LJ_MOST_SPECIES][LJ_MOST_SPECIES], sigma[LJ_MOST_SPECIES][LJ_MOST_SPECIES],
        cutoff[LJ_MOST_SPECIES][LJ_MOST_SPECIES];
    double activity[LJ_MOST_SPECIES]; /* in units of lj_system.activity */
    double share[LJ_MOST_SPECIES];    /* of all particles, at the start or where N is fixed */
};

/* The `rule` of the models of lj-fluid; lj-gcmc has none, and is the first. */
enum lj_ensemble { LJ_MUVT, LJ_NVT, LJ_NPT, LJ_GIBBS };

/* Two walls of a layered solid: field.c. */
struct lj_slit {
    double width; /* between the walls; 0: there are none */
    double epsilon, sigma, density, spacing;
    double unit; /* of the energy: 2 pi density epsilon sigma^2 spacing */
};

/* Atoms that do not move: frozen.c. */
struct lj_atoms {
    uint32_t n, n_species;
    double epsilon[LJ_MOST_SPECIES], sigma[LJ_MOST_SPECIES]; /* of an atom, in the job's units */
    uint32_t *words;   /* [n][3], in units of 2^-32 of the sides */
    uint8_t *species;  /* [n] */
    uint32_t cells[3]; /* of their table */
    /* linked lists of the atoms in these cells, for the host: the first of each cell, and who
     * follows; UINT32_MAX: nobody */
    uint32_t *first, *next;
};

/* Tables of potentials: table.c. */
struct lj_tables {
    struct ergo_radial *pair; /* from a file; NULL: none */
    struct ergo_cube *voxels; /* NULL: none */
    struct lj_atoms *atoms;   /* NULL: none */
    float *words;             /* as on the device; NULL: none */
    size_t bytes;
    float *field; /* of a slit, among the words */
    /* where these begin, in 16 bytes: a grid, atoms, and what makes pairs with them (struct
     * lj_frozen) of each chain and species; or struct lj_mixture of each chain */
    uint32_t voxels_at, atoms_at, rows_at;
};

/* The physics of a job, in the job's units. Of a mixture epsilon and cutoff are the largest of a
 * pair, and sigma that of the first species. */
struct lj_system {
    double box[3], volume, temperature, epsilon, sigma, cutoff;
    double unit;                    /* energy of a pair: unit [(sigma/r)^n - (sigma/r)^m] */
    uint32_t repulsion, attraction; /* n, m */
    bool mie;
    bool tabulated;                 /* the potential is from a file: */
    const struct ergo_radial *pair; /* where it has been read; the reader's. Else NULL */
    double activity;                /* z, 1/length^3; 0 if there are no insertions */
    double max_displacement;        /* 0: to anywhere in the box */
    double pressure;                /* of the npt ensemble */
    enum lj_ensemble ensemble;
    bool shifted, tail;
    bool field;    /* a slit, a grid or atoms that do not move */
    int axis;      /* of the density profile, */
    double length; /* and how long it is */
    /* checkerboard: cells from one active cell to the next, and trial moves of an active cell in
     * an activation; 0: no checkerboard */
    uint32_t period, trials;
    struct lj_slit slit;
    struct lj_species species;
};

/* The cell grid, and offsets of the cells within the cutoff, nearest first. Each cell comes
 * once. */
struct lj_grid {
    uint32_t n[3];
    uint64_t cells;
    uint32_t n_offsets, near; /* near: the first offsets, of cells that touch the particle's cell */
    bool cull;                /* the kernel may skip offsets by their distance */
    uint32_t *offsets;        /* malloc'ed: dx, dy, dz in bytes 0, 1, 2 */
    uint32_t parts;           /* parts of half a cell along an axis; each has its list of offsets */
};

/* Offsets of cells along each axis within a distance of a particle: low to high. ring: these are
 * all cells of the axis, each once. */
struct lj_reach {
    int low[3], high[3];
    bool ring[3];
};

/* Virial of the jump at the cutoff (an energy) per pair in the outer and in the inner shell. */
struct lj_jump {
    double outer, inner;
};

/* What makes columns of a member's samples. */
struct lj_physics {
    struct lj_system system;
    struct lj_jump jump;
};

struct lj_launch {
    uint32_t group, teams;    /* teams: trial moves that a group evaluates at once */
    uint32_t whole;           /* particles that local memory has room for; 0: cells instead */
    uint32_t slots, capacity; /* at the start; they grow */
    uint32_t bins;            /* of g(r); 0: not measured */
    uint64_t volume_every;    /* moves from one volume move to the next; 0: constant volume */
    uint32_t transfers;       /* trials of a transfer with each volume move */
    uint64_t turns;           /* volume moves and transfers each time */
    uint32_t ghosts;          /* test insertions of a sample; 0: none */
    uint32_t atoms;           /* that do not move, in the cells that are read for a place */
    uint32_t atoms_near;      /* cells of theirs along an axis within which their cores reach */
    uint32_t total_group, total_parts;
    bool vector;   /* one work-item handles eight particles at once */
    bool slotted;  /* the slots of a cell are together in memory; otherwise in planes */
    bool energies; /* the pair energy of each particle is stored (cl/lj_gcmc/gather.h) */
    /* checkerboard: particles around an active cell that local memory holds at first */
    uint32_t tile;
    uint32_t end_group; /* work-items of the kernel that lists a checkerboard's particles */
    /* The same of those that end an activation; work-groups that share a chain's active cells. */
    uint32_t sum_group, shares;
    uint64_t board_blocks;
    uint64_t launch_steps; /* the most of a launch */
    double step_seconds;   /* of one chain, estimated */
};

/* Buffers on the device. */
enum lj_buffer {
    LJ_MEMBERS,
    LJ_CHAINS,
    LJ_PARTICLES,
    LJ_CELLS,
    LJ_PAIR_ENERGIES, /* if launch.energies */
    LJ_OFFSETS,       /* lists of cells within the cutoff */
    LJ_EDGES,         /* edges of the bins of g(r) */
    LJ_SHARES,        /* partial sums over all pairs */
    LJ_SAMPLES,
    LJ_COUNTS,       /* pairs per bin of g(r) */
    LJ_BOUNDS,       /* checkerboard: bounds of cells */
    LJ_ACTIVE_CELLS, /* results of the active cells */
    LJ_FULL,         /* set if an active cell ran out of memory */
    LJ_GHOSTS,       /* weights of test insertions */
    LJ_RULES,        /* of volume moves */
    LJ_TRIALS,       /* partial sums over all pairs in the boxes of trials */
    LJ_TABLES,       /* of potentials, where there are any */
    /* of a box that is cut over ranks: */
    LJ_LISTED, /* the chains with the particles of the list */
    LJ_TURNS,  /* what active cells did in an activation */
    LJ_CUT_EDGES,
    LJ_CUT_HALOS
};
enum lj_kernel {
    LJ_RUN,
    LJ_TOTAL,
    LJ_PAIRS,
    LJ_BOARD,
    LJ_BOARD_SUM,
    LJ_BOARD_END,
    LJ_BOARD_LIST,
    LJ_GHOST,
    LJ_VOLUME_SUMS,
    LJ_VOLUME_MOVE,
    LJ_TRANSFER,
    LJ_CUT_PACK,
    LJ_CUT_UNPACK,
    LJ_CUT_SUM,
    LJ_CUT_JOIN
};

/* Sums over all pairs of a chain. */
struct lj_totals {
    int64_t energy, virial, contacts;
    uint64_t overlaps;
    uint64_t mismatches; /* particles whose stored pair energy is wrong */
};

struct lj_state {
    struct ergo_engine e;
    struct lj_system system; /* of the first member; fields that all members share */
    size_t boxes; /* of a member, each a chain on the device: two in a Gibbs ensemble, else one */
    struct lj_grid grid;
    struct lj_shape shape; /* of the cells, as kernels get it */
    struct lj_launch launch;
    struct lj_member *members;     /* [chains] */
    struct lj_chain *chains;       /* host copy, for lj_settle */
    uint32_t *step_sizes;          /* [chains], largest displacements, 0 until they are tuned */
    float *bin_edges;              /* [bins + 1], squared distances in sigma^2 */
    struct lj_physics *physics;    /* [members] */
    struct lj_volume_rules *rules; /* [chains], where volumes change */
    struct lj_tables tables;
    /* where volumes change: lists of cells for several volumes, until they are on the device */
    uint32_t *lists;
    size_t list_bytes;
    uint32_t slots, capacity, tile;
    uint64_t grown;
    /* the host has placed particles, and their pair energies and contacts are not computed yet */
    bool stale;
    size_t curve_sizes[LJ_CURVES]; /* 0: not measured; the histogram is the run's */
    uint64_t settled;              /* e.changes when lj_settle was last through; 0: never */
    bool cut;                      /* the box is cut over ranks, and this is a slab of it: cut.c */
    struct lj_cut {
        struct ergo_slab slab;
        uint32_t planes;                /* of cells in a message */
        uint32_t plane;                 /* the first one of the next message */
        uint64_t to;                    /* where the activation's launch ends */
        struct lj_turn *turns, *shares; /* [members] of all ranks, and this rank's in parts */
        struct lj_chain *listed;        /* LJ_LISTED, of the last list */
        /* of the chain that lj_fetch read last: this rank's particles in the list of all */
        uint64_t first, count;
        struct lj_cut_slab { /* [ranks] */
            uint64_t layer, particles;
        } * slabs;
        uint64_t *pairs; /* of g(r), of all ranks: [curves][members][bins] */
    } at;
};

static inline size_t lj_chains(const struct lj_state *s) {
    return s->e.batch->count * s->boxes;
}

/* Cells in memory. */
static inline size_t lj_cells(const struct lj_state *s) {
    return s->cut ? (size_t)s->grid.n[0] * s->grid.n[1] * s->at.slab.tall : s->grid.cells;
}

/* Species that are inserted apart, */
static inline uint32_t lj_ghost_kinds(const struct lj_system *s) {
    return s->species.n ? s->species.n : 1;
}

/* and what pairs are counted apart: those of each two species, like or unlike. */
static inline size_t lj_pair_kinds(const struct lj_system *s) {
    return s->species.n ? (size_t)s->species.n * (s->species.n + 1) / 2 : 1;
}

/* Functions that return void record errors in s->e. In what follows `chain` is a box of a member
 * where it has two: 2 member + box. */

/* member.c */
struct lj_system lj_system_of(const struct ergo_point *point);
/* Boxes of a point: 2 in the Gibbs ensemble. The second one has a volume of its own at the start,
 * and the shape of the first. */
unsigned lj_boxes_of(const struct ergo_point *point);
struct lj_system lj_box_system(const struct ergo_point *point, size_t box);
/* nvt and npt: does the job say that there are always n particles? */
bool lj_has_fixed(const struct ergo_point *point, int64_t n);
/* Is /system/density given? Then the box or the particles of the first box come from it. */
bool lj_takes_density(const struct ergo_point *point); /* has its model the key? */
bool lj_has_density(const struct ergo_point *point);
/* Sides, and particles of the first box at the start. */
void lj_sides_of(const struct ergo_point *point, double box[3]);
int64_t lj_particles_of(const struct ergo_point *point);
/* The key that says how densely they are, or how many. */
const char *lj_number_key(const struct ergo_point *point);
uint32_t lj_box_particles(const struct ergo_point *point,
                          size_t box);              /* on a lattice at the start */
bool lj_has_volume(const struct ergo_point *point); /* do volumes change? */
enum lj_ensemble lj_ensemble_of(const struct ergo_point *point);
/* /run/method transition-matrix of muvt: N is fixed, insertions and deletions are tried and not
 * made. Its ensemble is LJ_NVT. */
bool lj_is_matrix(const struct ergo_point *point);
bool lj_is_open(const struct ergo_point *point); /* N changes by insertions and deletions */
/* Values of keys that some ensembles do not have. */
bool lj_has_displacements(const struct ergo_point *point);
uint64_t lj_curve_every(const struct ergo_point *point); /* 0: no g(r), no P(N) */
uint32_t lj_gr_bins(const struct ergo_point *point);     /* up to the cutoff */
uint32_t lj_ghosts_of(const struct ergo_point *point);
/* pair: of a potential from a file, else NULL */
void lj_member_fill(const struct ergo_point *point, size_t box, const struct ergo_radial *pair,
                    struct lj_member *member);
/* x^(1/3) by Newton's method, because cbrt of libm differs between hosts. */
double lj_cube_root(double x);
double lj_widest_core(const struct lj_state *s); /* of the members, in sigma */
/* Largest displacement at the start, in units of the shortest side / 2^32. */
uint32_t lj_step_size(const struct lj_system *s);
/* Sites along each axis of a cubic lattice with at least `count` sites, and their distances; and
 * `count` positions on it, 3 words each. */
void lj_lattice_sites(const struct lj_system *s, uint32_t count, uint32_t n[3], double spacing[3]);
void lj_lattice(const struct lj_system *s, uint32_t count, uint32_t *words);

/* Sides of a chain's box, in the job's unit, and its volume. */
void lj_box_of(const struct lj_system *s, const struct lj_chain *chain, double box[3]);
double lj_volume_of(const struct lj_system *s, int64_t size);

/* potential.c */
bool lj_is_mie(const struct ergo_point *point);
/* Sets unit, repulsion, attraction, mie. */
void lj_potential_of(const struct ergo_point *point, struct lj_system *s);
/* Squared radius inside which a pair counts as an overlap, in sigma^2. */
double lj_core2(const struct lj_system *s);
double lj_pair_at_cutoff(const struct lj_system *s); /* in units of `unit` */
/* U_tail = coefficient N^2/V, the energy of a uniform fluid beyond the cutoff. */
double lj_tail_coefficient(const struct lj_system *s);
double lj_tail_energy(const struct lj_system *s, double n); /* 0 without /system/tail_correction */
/* Energy, in the job's unit, of a fixed-point sum in units of 2^-30 `unit`; also virials. */
double lj_energy_of(const struct lj_system *s, int64_t fixed);
double lj_virial_of(const struct lj_system *s, int64_t fixed);
/* Width of each of the two shells inside the cutoff, in the job's unit. */
double lj_contact_width(const struct lj_system *s);
struct lj_jump lj_jump_of(const struct lj_system *s);
double lj_impulsive_of(const struct lj_jump *jump, int64_t contacts);

/* table.c. With s->pair, r in the job's unit. */
bool lj_is_table(const struct ergo_point *point);
double lj_table_energy(const struct lj_system *s, double r); /* in units of `unit` */
double lj_table_core2(const struct lj_system *s);
/* Reads the files that a job names for potentials and fields: pair, voxels, atoms. */
enum ergo_status lj_tables_read(struct ergo_context *ctx, const struct ergo_point *point,
                                struct lj_tables *tables);
/* The words of tables, for so many chains; those of lj_tables_rows are left to the caller. s->pair
 * is in tables already. false: no memory. */
bool lj_tables_make(const struct lj_system *s, size_t chains, struct lj_tables *tables);
/* [n_species] of a chain; NULL: there are no atoms. */
struct lj_frozen *lj_tables_rows(const struct lj_tables *tables, size_t chain);
void lj_tables_free(struct lj_tables *tables);
/* tables->pair has afterwards what was read. */
enum ergo_status lj_check_table(struct ergo_context *ctx, const struct ergo_point *point,
                                struct lj_tables *tables);

/* frozen.c. NULL: there are no atoms. */
bool lj_has_frozen(const struct ergo_point *point);
enum ergo_status lj_atoms_read(struct ergo_context *ctx, const struct ergo_point *point,
                               const struct lj_system *s, struct lj_atoms **atoms);
void lj_atoms_free(struct lj_atoms *atoms); /* NULL-safe */
void lj_frozen_of(const struct lj_system *s, const struct lj_atoms *atoms,
                  struct lj_frozen rows[LJ_MOST_SPECIES]);
/* Of a batch: rows of the tables, once the members' physics is there; cells along an axis within
 * which atoms' cores reach; atoms in the cells that are read for a place; build options. */
void lj_frozen_fill(struct lj_state *s);
uint32_t lj_frozen_reach(const struct lj_state *s);
uint32_t lj_frozen_near(const struct lj_atoms *atoms);
void lj_field_options(const struct lj_state *s, struct ergo_text *options);
size_t lj_atoms_bytes(const struct lj_atoms *atoms);
void lj_atoms_table(const struct lj_atoms *atoms, uint32_t *table);

/* species.c */
struct ergo_xyz;
bool lj_has_species(const struct ergo_point *point);
bool lj_species_needs_fractions(const struct ergo_point *point);
/* Their names; returns how many the job has, of which a name that is too long is "". */
uint32_t lj_species_names(const struct ergo_point *point,
                          char names[LJ_MOST_SPECIES][ERGO_XYZ_NAME]);
uint32_t lj_species_number(const struct ergo_point *point); /* as in lj_system.species */
/* Sets species, epsilon, sigma, cutoff, where there are species. */
void lj_species_of(const struct ergo_point *point, struct lj_system *s);
/* The system of one species whose pairs are those of a and b. */
struct lj_system lj_species_pair(const struct lj_system *s, uint32_t a, uint32_t b);
/* m: of the same box, filled but for `mixture`. */
void lj_mixture_of(const struct ergo_point *point, const struct lj_system *s,
                   const struct lj_member *m, struct lj_mixture *mixture);
double lj_species_core2(const struct lj_system *s); /* the widest, in units of s->sigma^2 */
/* Are there pairs near the cutoff, so that the jump there can be measured? Also of one species. */
bool lj_jumps_beyond_sigma(const struct lj_system *s);
/* V times the energy of the tails of so many particles of each species. */
double lj_species_tail(const struct lj_system *s, const double *numbers);
/* lj_tail_energy of n particles, of which so many are of each species. */
double lj_tail_of(const struct lj_system *s, uint32_t n, const uint32_t *numbers);
/* n particles in shares of whole ones. */
void lj_species_split(const struct lj_system *s, uint32_t n, uint32_t numbers[LJ_MOST_SPECIES]);
/* Give n particles on a lattice, three words each, their species. */
void lj_species_assign(const struct lj_system *s, uint32_t n, uint32_t *words);
/* Particles of each species; all 0 where there are none. false: one is of none. */
bool lj_species_count(const struct lj_system *s, const uint32_t *words, uint32_t n,
                      uint32_t numbers[LJ_MOST_SPECIES]);
/* Give the particles of a file their species. */
enum ergo_status lj_species_read(struct ergo_context *ctx, const struct ergo_point *point,
                                 const struct lj_system *s, const struct ergo_xyz *frame,
                                 uint32_t *words);
void lj_species_fill(struct lj_state *s); /* of a batch, whose members are filled */
enum ergo_status lj_check_species(struct ergo_context *ctx, const struct ergo_point *point,
                                  const struct lj_system *s);

/* voxels.c. NULL: there is no grid. */
bool lj_has_voxels(const struct ergo_point *point);
enum ergo_status lj_voxels_read(struct ergo_context *ctx, const struct ergo_point *point,
                                const struct lj_system *s, struct ergo_cube **cube);
size_t lj_voxels_points(const struct ergo_cube *cube);
void lj_voxels_table(const struct ergo_cube *cube, float *table);

/* outside.c: the energy of a particle at `at` in all that does not move. false: it is in a core
 * or a wall. rows: of the member, if there are atoms. */
bool lj_field_at(const struct lj_member *m, const struct lj_tables *tables,
                 const struct lj_frozen *rows, const uint32_t at[3], int64_t *energy);
/* Squared distance as the kernels have it, of places in words. */
float lj_words_distance2(const struct lj_member *m, const uint32_t a[3], const uint32_t b[3]);

/* field.c: slits. Energies in the job's unit; s->slit.width > 0. */
bool lj_takes_fields(const struct ergo_point *point); /* has its model keys of fields? */
bool lj_has_field(const struct ergo_point *point);    /* of any kind */
bool lj_has_slit(const struct ergo_point *point);
void lj_slit_of(const struct ergo_point *point, struct lj_slit *slit);
double lj_slit_energy(const struct lj_slit *slit, double z);
/* Where particles on a lattice are at the start: from z = range[0] to range[1]. */
void lj_slit_free(const struct lj_system *s, double range[2]);
/* Integral of exp(-u(z)/T) over the slit: an ideal gas has z times as many particles per area. */
double lj_slit_henry(const struct lj_system *s);
/* table: 4 LJ_FIELD_LAYERS */
void lj_field_table(const struct lj_system *s, float *table);
/* Density in layers of the slit, from the particles in each. */
uint32_t lj_profile_bins(const struct lj_state *s);
void lj_profile_convert(const struct lj_state *s, const uint64_t *counts, double *density);
/* Sets field, axis, length. */
void lj_field_of(const struct ergo_point *point, struct lj_system *s);
/* most: the most particles to be expected. tables->voxels and atoms have afterwards what was read:
 * at the first point of a scan. */
enum ergo_status lj_check_field(struct ergo_context *ctx, const struct ergo_point *point,
                                const struct lj_system *s, double most, struct lj_tables *tables);

/* volume.c: volumes that change */
struct lj_volume_rules lj_rules_of(const struct ergo_point *point, size_t box);
/* Is this a chain's `moved`, with a step that is tuned, or none? */
bool lj_volume_right(const struct lj_volume_rules *rules, uint32_t moved);
/* ln V of a box at the start. rules: of the member's boxes. */
int64_t lj_volume_start(const struct lj_volume_rules *rules, size_t boxes, size_t box);
/* lj_chain.volumes before what is made at step `step`. */
uint64_t lj_volumes_before(const struct lj_launch *l, uint64_t step);
/* Lists of cells for all volumes that the limits allow: s->lists. core: radius of overlaps, in
 * sigma. */
bool lj_volume_lists(struct lj_state *s, double core);
/* Enqueue the volume moves of the chains that are at `step`, and transfers, if it is time for them.
 */
void lj_volume_launch(struct lj_state *s, uint64_t step);

/* grid.c, lengths in sigma. side: the least side of a cell; cells become wider where there would be
 * more than `most`, at least 1. false: no memory, or too many cells within the cutoff. */
bool lj_grid_make(struct lj_grid *grid, const double box[3], double cutoff, double side,
                  double most);
bool lj_grid_board(struct lj_grid *grid, const struct lj_system *s);
/* Lists of offsets in the format of the kernels (cl/lj_gcmc/planes.h), malloc'ed; *count:
 * entries of four words. core: radius of overlaps. NULL: no memory. Their size is at most
 * lj_grid_list_bytes. */
size_t lj_grid_list_bytes(const struct lj_grid *grid);
uint32_t *lj_grid_lists(const struct lj_grid *grid, const double box[3], double cutoff, double core,
                        size_t *count);
/* The offsets of the same cells for another box. */
bool lj_grid_scale(struct lj_grid *grid, const struct lj_grid *from, const double box[3],
                   double cutoff);
/* Distance and box in sigma. */
struct lj_reach lj_grid_reach(const struct lj_grid *grid, const double box[3], double distance);
uint64_t lj_grid_cell(const struct lj_grid *grid, const uint32_t *words);

/* groups.c; wish: what /tuning says, 0: automatic */
uint32_t lj_group(const struct ergo_device *device, const struct lj_system *s, size_t members,
                  int64_t wish);
/* Places that local memory has for all particles of a chain, `particles` at most; 0: cells. */
uint32_t lj_whole(const struct ergo_device *device, const struct lj_system *s, double particles,
                  int64_t wish);
uint32_t lj_whole_group(const struct ergo_device *device, size_t members, uint32_t whole,
                        int64_t wish);
uint32_t lj_teams(const struct ergo_device *device, const struct lj_launch *l, int64_t wish);

/* plan.c */
enum ergo_status lj_configure(struct ergo_context *ctx, void *state);
/* Most moves in a launch if cells have `slots` slots. */
uint64_t lj_launch_steps(const struct ergo_device *device, const struct lj_grid *grid,
                         const struct lj_launch *l, uint32_t slots);
uint32_t lj_bins(const struct ergo_point *point);
size_t lj_histogram_size(const struct lj_system *s, uint32_t *width);

/* device.c */
extern const struct ergo_engine_model lj_model, lj_fluid_engine;
enum ergo_status lj_prepare(struct ergo_context *ctx, void *state);
void lj_release(void *state);
/* What all tables of these samplers have. */
#define LJ_ENGINE(name)                                                                            \
    .sampler = (name), .smaller = "a smaller box, smaller /tuning/slots or /tuning/capacity",      \
    .state_bytes = sizeof(struct lj_state), .steps = lj_steps, .block = lj_block,                  \
    .convert = lj_convert, .row = lj_row, .curve_row = lj_curve_row

/* advance.c */
void lj_steps(void *state, uint64_t steps);
void lj_block(void *state, size_t count, uint64_t every);
enum ergo_status lj_convert(struct ergo_context *ctx, void *state, unsigned slot,
                            struct ergo_samples *samples);
bool lj_row(const void *state, unsigned slot, const struct ergo_row *row);
bool lj_curve_row(const void *state, unsigned slot, const struct ergo_row *row);
/* Columns of a member's sample, which was taken at `step`. from: one for each box. ghosts: sums of
 * weights of its test insertions, LJ_GHOST_SUMS for each box; NULL: there are none. */
void lj_columns_of(const struct lj_state *s, size_t member, const struct lj_sample *from,
                   const int64_t *ghosts, uint64_t step, double *to);
/* gibbs.c: the same of a Gibbs ensemble. */
void lj_gibbs_columns_of(const struct lj_state *s, size_t member, const struct lj_sample *from,
                         const int64_t *ghosts, uint64_t step, double *to);
/* The mean weight of a sample's test insertions. */
double lj_ghosts_mean(const struct lj_state *s, const int64_t *sums);
/* Wait until every chain is at e.step; chains that stopped get more memory. Updates s->chains. */
enum ergo_status lj_settle(struct ergo_context *ctx, struct lj_state *s);

/* measure.c: sums over all pairs */
/* Sums over all pairs. keep: also store the pair energies of the particles. */
void lj_total_sums(struct lj_state *s, bool keep, struct lj_totals *totals);
/* Compute pair energies and contacts of particles that the host has placed, and write the
 * chains. Their energies and virials have to be those of the particles. */
void lj_refresh_energies(struct lj_state *s);
/* Enqueue the pair counts of g(r) for the chains at `step`, as row `curve` of the slot. */
void lj_pairs_count(struct lj_state *s, size_t curve, uint64_t step);
/* Row `row` of each curve that is measured, else NULL. */
void lj_curve_rows_at(const struct lj_state *s, double *const curves[LJ_CURVES], size_t row,
                      double *rows[LJ_CURVES]);
/* Enqueue the test insertions of the chains at `step`, as row `sample` of the slot. */
void lj_ghosts_count(struct lj_state *s, size_t sample, uint64_t step);
double lj_bin_width(const struct lj_state *s);         /* in the job's unit */
struct lj_reach lj_gr_reach(const struct lj_state *s); /* cells that bins of g(r) reach */
/* The rows of g(r) and rho^2 g(r), also of each two species (NULL: not wanted), of a sample with n
 * particles, from its ordered pairs [lj_pair_kinds][bins]. numbers: of each species, if any. */
void lj_pairs_convert(const struct lj_state *s, double n, const uint32_t *numbers,
                      const uint64_t *pairs, double *const rows[LJ_CURVES]);

/* plan.c: build options of the potential */
void lj_potential_options(const struct lj_state *s, struct ergo_text *options);

/* board.c */
double lj_board_smallest(const struct lj_system *s); /* least side of a box, in the job's unit */
double lj_board_cells(const struct lj_system *s);    /* more than 2^31 - 1 are refused */
uint64_t lj_board_blocks(const struct lj_system *s, uint32_t blocks[3]);
uint32_t lj_board_tile(const struct lj_system *s, int64_t wish);
uint64_t lj_board_local_bytes(const struct lj_system *s, const struct lj_launch *l, uint32_t tile);
uint64_t lj_board_visits(const struct lj_system *s, const struct lj_launch *l, uint32_t slots,
                         uint32_t tile);
/* Build options of lj_board; local memory holds s->tile particles around an active cell. */
void lj_board_options(const struct lj_state *s, struct ergo_text *options);
/* The least coordinate of each cell, axis by axis; malloc'ed. NULL: no memory. */
uint32_t *lj_board_bounds(const struct lj_grid *grid);
/* Enqueue active cells `from` to `end` - 1 of the activation of chains that are before step `to`.
 */
void lj_board_activate(struct lj_state *s, uint64_t from, uint64_t end, uint64_t to);
/* Enqueue one activation of the chains that are before step `to`, with the slot's samples. */
void lj_board_launch(struct lj_state *s, const struct ergo_engine_slot *slot, uint64_t to);
/* Enqueue: make the particle lists from the cells. */
void lj_board_list(struct lj_state *s);

/* cells.c: cells from positions, and their growth */
void lj_grow_particles(struct lj_state *s, uint32_t least);
/* Enlarge the buffers that were full, and let the chains that stopped run again. */
void lj_grow(struct lj_state *s);
void lj_write_chains(struct lj_state *s);
/* Notes the largest displacement of s->chains[chain], if it is tuned, and so has to stay. */
void lj_note_step_size(struct lj_state *s, size_t chain);
/* Write a chain's positions and fill its cells with them; buffers grow if necessary. */
void lj_place(struct lj_state *s, size_t chain, const uint32_t *words, uint32_t count);
/* Read a chain to s->chains, and its positions, 3 words each, malloc'ed. */
enum ergo_status lj_fetch(struct ergo_context *ctx, struct lj_state *s, size_t chain,
                          uint32_t **words, uint32_t *count);

/* start.c: a starting configuration, 3 words per particle, malloc'ed. Overlapping pairs are
 * refused. */
const char *lj_start_file(const struct ergo_point *point); /* NULL: a lattice */
enum ergo_status lj_start(struct ergo_context *ctx, const struct ergo_point *point, size_t box,
                          const struct lj_tables *tables, uint32_t **words, uint32_t *count);
/* The first frame of the file that a key names, whose box is the job's, and its places in units of
 * 2^-32 of the sides, [n][3]. Both are the caller's, also after an error. */
enum ergo_status lj_xyz_read(struct ergo_context *ctx, const struct ergo_point *point,
                             const char *pointer, const struct lj_system *s, struct ergo_xyz *frame,
                             uint32_t **words);
/* tables: what the other checks have read. */
enum ergo_status lj_start_check(struct ergo_context *ctx, const struct ergo_point *point,
                                struct lj_tables *tables);

/* state.c */
enum ergo_status lj_init(struct ergo_context *ctx, void *state);
enum ergo_status lj_save(struct ergo_context *ctx, void *state, size_t member,
                         struct ergo_text *text);
enum ergo_status lj_load(struct ergo_context *ctx, void *state, size_t member, uint64_t step,
                         const void *bytes, size_t length);
enum ergo_status lj_carry(struct ergo_context *ctx, void *state, size_t member, const void *bytes,
                          size_t length);
enum ergo_status lj_frame(struct ergo_context *ctx, void *state, size_t member,
                          struct ergo_text *text);

#endif
