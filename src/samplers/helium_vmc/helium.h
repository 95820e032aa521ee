/* Variational Monte Carlo of helium on a device: shape, launches, buffers. Internal. */
#ifndef ERGO_SAMPLERS_HELIUM_VMC_HELIUM_H
#define ERGO_SAMPLERS_HELIUM_VMC_HELIUM_H

#include "engine/engine.h"
#include "samplers/helium_vmc/model.h"
#include "samplers/sampler.h"

struct helium_member;
struct helium_walker;
struct helium_sums;

/* What members of a batch have in common. */
struct helium_shape {
    uint32_t n, walkers;
    uint32_t active;      /* walkers while starting; then they are multiplied */
    uint64_t start_steps; /* macroupdates of the start */
    uint32_t sites[4];    /* lattice of the starting configuration */
    uint64_t walker_bytes;
    uint32_t structure_walkers; /* of each member, for g(r) and S(k); 0: none */
};

/* 1 and 2, a work-group a walker with positions in local or global memory, are gone. */
enum helium_path {
    HELIUM_PATH_AUTO = 0,
    HELIUM_PATH_LANES = 3,     /* CPUs: a work-item a walker, explicit vectors */
    HELIUM_PATH_REGISTERS = 4, /* a work-group a walker, positions in registers */
    HELIUM_PATH_BLOCKS = 5,    /* many work-groups a walker: trials decided block by block */
};

struct helium_launch {
    enum helium_path path;
    uint32_t group;  /* work-items of a walker; blocks: of a work-group, and trials of a block */
    uint32_t mates;  /* registers: walkers of a work-group */
    uint32_t copies; /* registers: of the table of u */
    uint32_t tile;   /* blocks: partners of a work-group */
    bool warp;       /* registers: 32 items in step add by one instruction */
    bool places_local, tables_local;                     /* energies: what is in local memory */
    uint32_t energy_group, energy_groups, energy_pieces; /* groups that share a walker's atoms */
    bool cube;                                           /* all sides of all members equal */
    unsigned binades;      /* of the pair tables: most of all members */
    uint64_t launch_steps; /* macroupdates per launch at most */
};

enum helium_buffer {
    HELIUM_POSITIONS,
    HELIUM_WALKERS,
    HELIUM_FACTORS,
    HELIUM_ATOM_SUMS, /* [walkers of all members][n]: derived from the positions */
    HELIUM_ATTEMPTS,  /* blocks: between launches */
    HELIUM_DECISIONS, /* likewise */
    HELIUM_PARTS,     /* of energies, where several groups share a walker */
    HELIUM_MEMBERS,
    HELIUM_U_TABLES,
    HELIUM_E_TABLES,
    HELIUM_RANDOM,
    HELIUM_SUMS,  /* [members][walkers] of a sample */
    HELIUM_PLACES /* [members][structure_walkers][3][n] of a sample with curves */
};
enum helium_kernel {
    HELIUM_WALK,
    HELIUM_SUM, /* blocks, with the next two, instead of walk */
    HELIUM_ATTEMPT,
    HELIUM_DECIDE,
    HELIUM_ENERGY,
    HELIUM_ENERGY_ADD,
    HELIUM_START,
    HELIUM_TUNE,
    HELIUM_MULTIPLY
};

struct helium_state {
    struct ergo_engine e;
    struct helium_shape shape;
    struct helium_launch launch;
    struct helium_model *models;   /* [members] */
    struct helium_member *members; /* [members] */
    bool rebuild;                  /* sums of atoms have to be made anew */
    uint32_t tuned_as; /* of an audit: its window's macroupdates, if all were as is wanted */
};

struct helium_shape helium_shape_of(const struct ergo_point *point);
void helium_member_fill(const struct ergo_point *point, const struct helium_model *model,
                        struct helium_member *member);

/* check.c */
enum ergo_status helium_check(struct ergo_context *ctx, const struct ergo_point *point);
/* plan.c */
enum ergo_status helium_configure(struct ergo_context *ctx, void *state);
/* device.c */
extern const struct ergo_engine_model helium_engine;
enum ergo_status helium_init(struct ergo_context *ctx, void *state);
/* advance.c */
/* Macroupdates of all walkers from the engine's step on, through start, tuning, multiplication. */
void helium_steps(void *state, uint64_t steps);
/* Sums of all walkers as sample `row`; psi: ln psi from scratch, else the running one. */
void helium_energy(struct helium_state *s, size_t row, bool psi);
void helium_measure(void *state, size_t sample);
void helium_measure_curves(void *state, size_t curve);
enum ergo_status helium_convert(struct ergo_context *ctx, void *state, unsigned slot,
                                struct ergo_samples *samples);
/* What a walker's sums say, K per atom: over pairs with both tails; -lambda lap ln psi; lambda
 * |grad ln psi|^2. */
struct helium_energies {
    double potential, virial, laplacian, gradient;
};
struct helium_energies helium_energies_of(const struct helium_model *model,
                                          const struct helium_sums *sums);
/* Walkers that move during step `step`. */
uint32_t helium_active(const struct helium_shape *shape, uint64_t step);

/* structure.c: curves; pure. `places` is [walkers][3][n]. */
size_t helium_gr_size(const struct ergo_point *point);
void helium_gr_x(const struct ergo_point *point, double *x);
void helium_gr(const struct ergo_point *point, const struct helium_model *model,
               const int32_t *places, uint32_t walkers, double *gr);
size_t helium_sk_size(const struct ergo_point *point);
void helium_sk_x(const struct ergo_point *point, double *x);
void helium_sk(const struct ergo_point *point, const struct helium_model *model,
               const int32_t *places, uint32_t walkers, double *sk);
/* Correlated sampling: b' = b (1 + ...) at HELIUM_B_POINTS points; see the README. */
enum { HELIUM_B_POINTS = 9 };
void helium_b_x(const struct ergo_point *point, double *x);
/* Adds w E and w of one walker's measurement at each b' to moments[2 HELIUM_B_POINTS]. */
void helium_b_add(const struct helium_model *model, double ln_psi, double potential,
                  double laplacian, double gradient, double *moments);
/* Minimum, within the grid, of the parabola through the reweighted energies: b, or the energy. */
double helium_b_minimum(const struct ergo_point *point, const double *moments, size_t size,
                        bool energy);

/* state.c: canonical state: see the README. */
enum ergo_status helium_save(struct ergo_context *ctx, void *state, size_t member,
                             struct ergo_text *text);
enum ergo_status helium_load(struct ergo_context *ctx, void *state, size_t member, uint64_t step,
                             const void *bytes, size_t length);
enum ergo_status helium_frame(struct ergo_context *ctx, void *state, size_t member,
                              struct ergo_text *text);
/* audit.c */
enum ergo_status helium_audit(struct ergo_context *ctx, void *state);
/* audit_compare.c: a stretch of the run against twins of its walkers. */
/* Pairs that the host looks at in a stretch, roughly, 10 ns each; and most of one walker. */
extern const double helium_audit_pairs, helium_most_pairs;
enum ergo_status helium_compare(struct ergo_context *ctx, const struct ergo_replay *r);
/* Is a tuning due, or are copies, when macroupdate step - 1 has been made? */
bool helium_tunes_at(const struct helium_state *s, uint64_t step);
bool helium_multiplies_at(const struct helium_state *s, uint64_t step);
/* ergo_engine_advance, as if much of a tuning's window had been made. */
enum ergo_status helium_advance_tuned(struct ergo_context *ctx, void *state, unsigned slot,
                                      size_t count, uint64_t every, uint64_t first_sample);

/* start.c: `walkers` walkers [3][n] from the frames of a file, in turn where these are fewer.
 * places NULL: they are looked at only. */
enum ergo_status helium_start_read(struct ergo_context *ctx, const struct ergo_point *point,
                                   const struct helium_model *model, uint32_t walkers,
                                   int32_t *places);
enum ergo_status helium_start_parse(struct ergo_context *ctx, const char *path, const char *text,
                                    size_t length, const struct helium_model *model,
                                    uint32_t walkers, int32_t *places);

/* twin.c: the chain and its measurement on the host. One walker; place is [3][n]. */
struct helium_twin {
    const struct helium_member *member;
    const struct helium_cubic_host *u_table, *e_table, *random; /* u, e: of `binades` */
    unsigned binades;
    uint32_t n, walker, factor;
    int32_t *place;
    int64_t ln_psi;
    uint32_t accepted;
};
/* The start on a lattice. */
void helium_twin_start(const struct helium_shape *shape, struct helium_twin *twin);
void helium_twin_steps(struct helium_twin *twin, uint64_t step, uint64_t steps);
/* The trial of atom i in macroupdate `step`: its place afterwards, and the change of ln psi. */
bool helium_twin_trial(const struct helium_twin *twin, uint32_t i, uint64_t step, int32_t to[3],
                       int64_t *change);
/* The sum of u over the pairs of atom i. */
int64_t helium_twin_atom(const struct helium_twin *twin, uint32_t i);
/* Twice ln psi, units of 2^-HELIUM_U_BITS: the sum over ordered pairs. */
int64_t helium_twin_ln_psi(const struct helium_twin *twin);
/* A measurement; `last`: accepted moves of the macroupdate before it. */
void helium_twin_energies(const struct helium_twin *twin, uint32_t last, struct helium_sums *sums);
/* The next displacement factor after so many of so many moves were accepted. */
uint32_t helium_twin_factor(const struct helium_member *member, uint32_t factor, uint64_t accepted,
                            uint64_t tried);

#endif
