/* Diffusion Monte Carlo of helium on a device: shape, launches, buffers. Internal to the sampler.
 */
#ifndef ERGO_SAMPLERS_HELIUM_DMC_DMC_H
#define ERGO_SAMPLERS_HELIUM_DMC_DMC_H

#include "engine/engine.h"
#include "helium/triplet.h"
#include "helium_dmc/params.h"
#include "samplers/helium/density.h"
#include "samplers/helium_dmc/parameters.h"

/* What the members of a batch share. */
struct dmc_shape {
    uint32_t n, walkers;
    uint32_t sites[4]; /* of the starting lattice */
    uint32_t remember; /* steps whose growth is kept; 0: none */
    uint32_t every;    /* steps between records of V; 0: no forward walking */
    uint64_t walker_bytes;
    uint32_t structure_walkers; /* walkers of a member that curves are computed from; 0: none */
    uint32_t chosen, window;    /* the same of pure curves, and the steps of their forward walks */
    uint32_t points;            /* of the one-body density matrix; 0: none */
};

struct dmc_launch {
    uint32_t group, mates; /* work-items of a walker, walkers of a work-group */
    uint32_t lanes;        /* work-groups share walkers, and so many work-items an atom; 0: not */
    uint32_t shares;       /* then: work-groups of a walker */
    uint32_t comb;         /* work-items that comb a member's walkers */
    bool places_local, tables_local, triplets_local;
    struct helium_density_launch density;
    bool triplet;     /* a member has a triplet factor */
    bool cube;        /* the box of every member is a cube */
    unsigned binades; /* of the tables, the most of all members */
};

enum dmc_buffer {
    DMC_POSITIONS, /* [walkers of all members][3][n], before the parents are taken */
    DMC_NEXT,
    DMC_PARENTS, /* [members][walkers]: whose places a walker continues, less its own number */
    DMC_RECORDS, /* [walkers of all members][HELIUM_DMC_RECORDS] of V; likewise */
    DMC_NEXT_RECORDS,
    DMC_EULER,   /* a guess of the places in the middle, where local memory does not hold it */
    DMC_PARTS,   /* [walkers of all members][shares] of DMC_SUMS, where work-groups share walkers */
    DMC_MIDDLE,  /* places in the middle of the last step, where energies are measured */
    DMC_SUMS,    /* energies there */
    DMC_GROWN,   /* [members][remember][2]: mean energy and sum of weights of step s at s % remember
                  */
    DMC_WEIGHTS, /* sums of the walkers' weights */
    DMC_MEMBERS,
    DMC_STEPS,
    DMC_E_TABLES,
    DMC_RANDOM,
    DMC_SITES,    /* [3][n] of the one-body factor */
    DMC_TRIPLETS, /* with a triplet factor */
    DMC_T_TABLES,
    DMC_FIELDS,    /* likewise: G of all atoms */
    DMC_SAMPLE,    /* DMC_SUMS of a sample */
    DMC_HISTORY,   /* DMC_GROWN of a sample */
    DMC_FORWARD,   /* [members][HELIUM_DMC_RECORDS] of a sample: sums of the records */
    DMC_PLACES,    /* [members][structure_walkers][3][n] of a sample with curves */
    DMC_ANCESTORS, /* pure curves: [members][walkers]; numbers of walkers in DMC_TAGS */
    DMC_NEXT_ANCESTORS,
    DMC_TAGS,        /* pure curves: places of all walkers when the window began */
    DMC_PURE_PLACES, /* [members][chosen][3][n], when the last window ended */
    DMC_PURE_SAMPLE, /* the same of a sample with curves */
    DMC_U_TABLES,    /* for displaced atoms alone */
    DMC_RATIOS       /* [members][structure_walkers][2 points] of a sample with curves */
};

enum dmc_kernel {
    DMC_START,
    DMC_STEP,
    DMC_DIFFUSE, /* and the next ones: a step where work-groups share walkers */
    DMC_FIELD,
    DMC_DRIFT_HALF,
    DMC_DRIFT_WHOLE,
    DMC_COLLECT,
    DMC_COMB,
    DMC_KEEP,
    DMC_SUM_RECORDS,
    DMC_TRACE,
    DMC_TAG,
    DMC_HARVEST,
    DMC_DISPLACE
};

struct dmc_state {
    struct ergo_engine e;
    struct dmc_shape shape;
    struct dmc_launch launch;
    struct helium_model *models;     /* [members] */
    struct helium_member *members;   /* [members] */
    struct helium_triplet *triplets; /* [members] */
    struct helium_dmc *steps;        /* [members] */
    int32_t *sites;                  /* [3][n] of the one-body factor */
    double *unit;                    /* [members] of energies, K */
    uint32_t *parents;               /* of a member's walkers, while it is saved or loaded */
    uint32_t begin, end; /* walkers of each member that are this rank's; all, unless cut */
    struct dmc_cut *cut; /* cut.c; NULL: all walkers are here */
};

/* Walkers of a member that are this rank's; and as arguments of kernels. */
static inline uint32_t dmc_own(const struct dmc_state *s) {
    return s->end - s->begin;
}
#define WALKERS(s) U32((s)->shape.walkers), U32((s)->begin), U32((s)->end)

/* The columns of a sample. */
enum dmc_column {
    DMC_ENERGY,
    DMC_POTENTIAL,
    DMC_GROWTH,
    DMC_SQUARE,
    DMC_EFFECTIVE,
    DMC_PURE,
    DMC_LATE, /* ln of the weights of the newer half of the steps that are remembered */
    DMC_LONG, /* of all of them */
    DMC_COLUMNS
};
/* Curves. */
enum {
    DMC_GR,
    DMC_SK,
    DMC_WALK,
    DMC_SITE_CURVES,
    DMC_GR_PURE = DMC_SITE_CURVES + HELIUM_SITE_CURVE_COUNT,
    DMC_SK_PURE,
    DMC_SPREAD_PURE,
    DMC_OF_DENSITY,
    DMC_MAP = DMC_OF_DENSITY + HELIUM_DENSITY_CURVE_COUNT,
    DMC_CURVES
};

/* plan.c */
struct dmc_shape dmc_shape_of(const struct ergo_point *point);
bool dmc_model_shared(const struct ergo_batch *batch, size_t member);
enum ergo_status dmc_configure(struct ergo_context *ctx, void *state);
/* device.c */
/* The engine's table but for `configure` and `release`, which cut.c has of its own. */
#define DMC_ENGINE                                                                                 \
    .sampler = "helium-dmc", .smaller = "fewer walkers or atoms",                                  \
    .state_bytes = sizeof(struct dmc_state), .fields = &dmc_fields, .prepare = dmc_prepare,        \
    ERGO_ENGINE_ROWS(dmc)
extern const struct ergo_engine_model dmc_engine;
enum ergo_status dmc_prepare(struct ergo_context *ctx, void *state);
void dmc_release(void *state);
enum ergo_status dmc_init(struct ergo_context *ctx, void *state);
/* advance.c, mixed.c */
ERGO_ENGINE_FUNCTIONS(dmc);
/* mixed.c: samples from the sums of all walkers */
/* The columns up to DMC_PURE, which is 0, from a step's sums of a member's walkers. unit: K; of
 * energies. */
void dmc_estimate(const struct helium_model *model, const struct helium_dmc *dmc, double tau,
                  double unit, const struct helium_sums *sums, uint32_t walkers,
                  double columns[DMC_COLUMNS]);
/* Of a step's exponents: their spread, few of which may be far away, how many are at a limit (none
 * or the most), the effective part of the population (sum w)^2 / (P sum w^2); and the mean kinetic
 * energy of a walker, K. */
struct dmc_spread {
    double deviation, effective, kinetic;
    uint32_t limited;
};
struct dmc_spread dmc_spread_of(const struct helium_model *model, const struct helium_dmc *dmc,
                                const struct helium_sums *sums, uint32_t walkers);
/* Is the step too long? The branching is no small correction (many weights at a limit, or hardly
 * any walkers left), or walkers are where no state is. */
bool dmc_runs_away(const struct dmc_spread *spread, uint32_t walkers, double tau);
/* ln of the product of the mean weights of the last `steps` steps, whose newest, number `step`, was
 * measured in its middle and counts by half. grown: as in DMC_GROWN, of one member. Energies are
 * from 0. */
double dmc_log_weight(const struct dmc_shape *shape, double tau, double unit, uint64_t step,
                      const uint64_t *grown, uint32_t steps);
/* state.c */
extern const struct ergo_fields dmc_fields;
enum ergo_status dmc_frame(struct ergo_context *ctx, void *state, size_t member,
                           struct ergo_text *text);
/*
 * cut.c: the walkers of a member over ranks. Buffers have room for all walkers everywhere, each at
 * its number; a rank steps its own, and has besides what their parents left. All ranks call these
 * together.
 */
enum { DMC_ALL = -1 }; /* members */
/* Walkers `from` to `to` - 1 of a buffer, of one member or all, from whose they are to all ranks.
 */
void dmc_cut_share(struct dmc_state *s, unsigned row, int member, uint32_t from, uint32_t to);
/* Sums of a sample's records, which each rank has of its own walkers, become those of all. */
void dmc_cut_sum(struct dmc_state *s, size_t sample);
/* The comb of a step, and copies of walkers whose children are elsewhere. */
void dmc_cut_comb(struct dmc_state *s);
bool dmc_pays_to_cut(const struct ergo_point *point, size_t ranks);
extern const struct ergo_sampler_ops dmc_cut_ops;

/* forward.c: pure curves by forward walking */
void dmc_forward_declare(struct dmc_state *s);
/* Enqueue what a step does, after the walkers' step and before the comb. */
void dmc_forward_step(struct dmc_state *s);
/* Enqueue the read of a sample with curves. */
void dmc_forward_curve(struct dmc_state *s, size_t curve);

#endif
