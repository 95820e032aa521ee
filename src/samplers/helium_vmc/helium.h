/* Variational Monte Carlo of helium on a device: shape, launches, buffers. Internal to the
 * sampler. */
#ifndef ERGO_SAMPLERS_HELIUM_VMC_HELIUM_H
#define ERGO_SAMPLERS_HELIUM_VMC_HELIUM_H

#include "engine/engine.h"
#include "samplers/helium/density.h"
#include "samplers/helium_vmc/descent.h"
#include "samplers/helium_vmc/parameters.h"

struct helium_walker;

/* What the members of a batch share. */
struct helium_shape {
    uint32_t n, walkers;
    uint32_t active;      /* walkers that move during the start; then they are copied */
    uint64_t start_steps; /* macroupdates of the start */
    uint32_t sites[4];    /* sites of the starting lattice along each axis */
    uint64_t walker_bytes;
    /* walkers of a member that g(r) and S(k) are computed from; 0: none */
    uint32_t structure_walkers;
    uint32_t points; /* of the one-body density matrix; 0: none */
};

/* Values of /tuning/path. 1 and 2 existed in earlier versions. */
enum helium_path {
    HELIUM_PATH_AUTO = 0,
    HELIUM_PATH_LANES = 3,     /* CPUs: a work-item a walker, explicit vectors */
    HELIUM_PATH_REGISTERS = 4, /* a work-group a walker, positions in registers */
    HELIUM_PATH_BLOCKS = 5,    /* many work-groups a walker: trials decided block by block */
    HELIUM_PATH_PAIRS = 6,     /* a work-group a walker: all pairs first, then the decisions */
    HELIUM_PATH_TRIPLET = 7    /* with a triplet factor, always */
};

struct helium_launch {
    enum helium_path path;
    uint32_t group;  /* work-items per walker; blocks: per work-group, and trials of a block */
    uint32_t mates;  /* registers: walkers that share a work-group */
    uint32_t copies; /* registers, pairs: copies of the table of u */
    uint32_t tile;   /* blocks: partners that a work-group adds up */
    bool warp;       /* registers: sums by one instruction of a warp; pairs: verdicts */
    bool places_local, tables_local; /* energies: data in local memory */
    /* energies: work-items of a walker, walkers of a work-group, groups that share a walker */
    uint32_t energy_group, energy_mates, energy_pieces;
    bool triplet;    /* a member has a triplet factor */
    bool walk_local; /* triplet: places and G in local memory */
    struct helium_density_launch density;
    bool cube;             /* the box of every member is a cube */
    unsigned binades;      /* of the pair tables, the most of all members */
    uint64_t launch_steps; /* most macroupdates per launch */
};

enum helium_buffer {
    HELIUM_POSITIONS,
    HELIUM_WALKERS,
    HELIUM_FACTORS,
    HELIUM_ATOM_SUMS, /* [walkers of all members][n], sums of u; they follow from the positions */
    HELIUM_ATTEMPTS,  /* blocks: sums of the trials */
    HELIUM_DECISIONS, /* blocks: accepted moves */
    HELIUM_PARTS,     /* partial energies, where several groups share a walker */
    HELIUM_MEMBERS,
    HELIUM_U_TABLES,
    HELIUM_E_TABLES,
    HELIUM_RANDOM,
    HELIUM_SITES,    /* [3][n] of the one-body factor */
    HELIUM_TRIPLETS, /* triplet: of the members */
    HELIUM_T_TABLES,
    HELIUM_FIELDS,     /* triplet: G of all atoms, [walkers of all members][3][n] */
    HELIUM_EVENT_SUMS, /* optimisation of all parameters: energies at an event */
    HELIUM_SUMS,       /* [members][walkers] of a sample */
    HELIUM_PLACES,     /* [members][structure_walkers][3][n] of a sample with curves */
    HELIUM_RATIOS      /* [members][structure_walkers][2 points] of a sample with curves */
};
enum helium_kernel {
    HELIUM_WALK,
    HELIUM_SUM, /* blocks: this and the next two replace HELIUM_WALK */
    HELIUM_ATTEMPT,
    HELIUM_DECIDE,
    HELIUM_ENERGY,
    HELIUM_ENERGY_ADD,
    HELIUM_START,
    HELIUM_TUNE,
    HELIUM_MULTIPLY,
    HELIUM_DISPLACE
};

/* Of all parameters; see descent.h. [members] */
struct helium_optimisation {
    struct helium_schedule schedule;
    struct helium_parameters *which;
    double **numbers; /* all in one piece of memory */
};

struct helium_state {
    struct ergo_engine e;
    struct helium_shape shape;
    struct helium_launch launch;
    struct helium_model *models;     /* [members] */
    struct helium_member *members;   /* [members] */
    struct helium_triplet *triplets; /* [members] */
    int32_t *sites;                  /* [3][n] of the one-body factor */
    struct helium_optimisation optimisation;
    bool rebuild;  /* the sums of u must be computed from the positions */
    bool unproven; /* ln psi was loaded, and has to be that of the positions */
};

void helium_member_fill(const struct ergo_point *point, const struct helium_model *model,
                        struct helium_member *member);

/* check.c */
enum ergo_status helium_check(struct ergo_context *ctx, const struct ergo_point *point);
/* choose.c: from what the batch's members have in common (triplet, cube, binades) */
void helium_choose_launch(const struct ergo_batch *batch, const struct ergo_device *device,
                          const struct helium_shape *shape, struct helium_launch *launch);
/* plan.c */
bool helium_model_shared(const struct ergo_batch *batch, size_t member);
enum ergo_status helium_configure(struct ergo_context *ctx, void *state);
/* device.c */
/* Write what follows from the models. */
void helium_write_tables(struct helium_state *s);
extern const struct ergo_engine_model helium_engine;
/* Compute ln psi of all walkers from all pairs. sums: [all of them], where it is twice. */
void helium_ln_psi(struct helium_state *s, struct helium_sums *sums);
enum ergo_status helium_begin_walkers(struct ergo_context *ctx, struct helium_state *s);
enum ergo_status helium_init(struct ergo_context *ctx, void *state);
/* advance.c */
/* Steps are macroupdates of all walkers, with tuning and copies at the start. */
ERGO_ENGINE_FUNCTIONS(helium);
/* Enqueue the sums of all walkers into sample `row` of a buffer. psi: compute ln psi from all
 * pairs; otherwise take the running one. */
void helium_energy(struct helium_state *s, unsigned buffer, size_t row, bool psi);
/* Number of walkers that move in step `step`. */
uint32_t helium_active(const struct helium_shape *shape, uint64_t step);

enum helium_curve_kind {
    HELIUM_GR,
    HELIUM_SK,
    HELIUM_B_MOMENTS,
    HELIUM_OPTIMISATION, /* energy at each event */
    HELIUM_OPTIMISED,    /* u */
    HELIUM_PARAMETERS,   /* HELIUM_NUMBERS */
    HELIUM_OF_SITES,     /* HELIUM_SITE_CURVE_COUNT of them */
    HELIUM_OF_DENSITY = HELIUM_OF_SITES + HELIUM_SITE_CURVE_COUNT,
    HELIUM_MAP = HELIUM_OF_DENSITY + HELIUM_DENSITY_CURVE_COUNT,
    HELIUM_CURVES
};
enum helium_number { /* the first three: before any update */
                     HELIUM_NUMBER_ENERGY,
                     HELIUM_NUMBER_ERROR,
                     HELIUM_NUMBER_SIGMA,
                     HELIUM_NUMBER_B,
                     HELIUM_NUMBER_STRENGTH,
                     HELIUM_NUMBER_CENTRE,
                     HELIUM_NUMBER_WIDTH,
                     HELIUM_NUMBERS
};

/* optimise_all.c: all parameters at once, during the equilibration */
enum ergo_status helium_optimisation_configure(struct helium_state *s);
/* Begin with the job's parameters again. */
void helium_optimisation_reset(struct helium_state *s);
/* Can a run have these numbers of a member, as they are saved? Continue from those it has now. */
bool helium_optimisation_may(const struct helium_state *s, size_t member, const void *numbers);
void helium_optimisation_use(struct helium_state *s, size_t member);
/* What is due at this step, if anything. */
void helium_optimise(struct helium_state *s);
size_t helium_optimisation_size(const struct ergo_point *point, size_t curve);
void helium_optimisation_x(const struct ergo_point *point, size_t curve, double *x);
void helium_optimisation_curve(const struct helium_state *s, size_t member, size_t curve,
                               double *y);

/* optimise.c: correlated sampling of E(b') at HELIUM_B_POINTS values b' near b; see the README. */
enum { HELIUM_B_POINTS = 9 };
void helium_b_x(const struct ergo_point *point, double *x);
/* Add w E and w of one walker's measurement at each b' to moments[2 HELIUM_B_POINTS]. */
void helium_b_add(const struct helium_model *model, double ln_psi, double potential,
                  double laplacian, double gradient, double *moments);
/* Minimum, within the grid of b', of a parabola through the reweighted energies. energy: return
 * its energy, otherwise b. */
double helium_b_minimum(const struct ergo_point *point, const double *moments, size_t size,
                        bool energy);

/* state.c: the README describes the canonical state. */
extern const struct ergo_fields helium_fields;
enum ergo_status helium_carry(struct ergo_context *ctx, void *state, size_t member,
                              const void *bytes, size_t length);
enum ergo_status helium_frame(struct ergo_context *ctx, void *state, size_t member,
                              struct ergo_text *text);

#endif
