/* Cluster updates of a spin for each site, on lattices of two and three dimensions
 * (cl/swendsen_wang/sites.h). Internal to the sampler. */
#ifndef ERGO_SAMPLERS_SWENDSEN_WANG_SITES_SITES_H
#define ERGO_SAMPLERS_SWENDSEN_WANG_SITES_SITES_H

#include "dist/dist.h"
#include "engine/slab.h"
#include "samplers/swendsen_wang/counts.h"
#include "samplers/swendsen_wang/rounds.h"
#include "samplers/swendsen_wang/sw.h"

struct sw_sites_shape {
    uint32_t lx, ly, lz; /* lz 1: two dimensions */
    uint32_t lattice;    /* SW_LATTICE_... */
    uint32_t directions; /* in which a site owns bonds */
    uint32_t model;      /* SW_MODEL_... */
    uint32_t q;          /* of potts and clock; others 2 */
    uint32_t open, anti; /* sides, by bits SW_AROUND_... */
    uint32_t sites;
    uint32_t spin_bytes; /* of a site, in one or three words */
    bool wolff;
    bool adapts;     /* method probability-changing */
    bool waved;      /* correlations are measured by clusters */
    bool disordered; /* random couplings */
    bool field;
};

/* Columns of unit vectors. */
enum {
    SW_VECTOR_ENERGY,
    SW_VECTOR_X,
    SW_VECTOR_Y,
    SW_VECTOR_Z,
    SW_VECTOR_ALIGNMENT,
    SW_VECTOR_CURRENT2,
    SW_VECTOR_VORTICES,
    SW_VECTOR_WAVE2,
    SW_VECTOR_GROWN,
    SW_VECTOR_IMPROVED2,
    SW_VECTOR_CHANCE,
    SW_VECTOR_HALF,
    SW_VECTOR_QUARTER,
    SW_VECTOR_POWER0,
    SW_VECTOR_POWER,
    SW_VECTOR_COLUMNS
};

/* Of a step's clusters: the directions in which one leads around (SW_AROUND_... by bits); the
 * sites of Wolff's, and the sum of the sizes of their parts along the mirror in units of 2^-30; the
 * chance with which bonds were drawn (cl/swendsen_wang/sites.h); pairs of sites half and a quarter
 * of a side apart (sites.cl); squares of waves, and of unit vectors those of parts
 * (sites_waves.cl), in units of 2^-30; of weak bonds, which disorder has, the unequal ones and all.
 */
enum { SW_POWERS = 2 };
struct sw_found {
    uint32_t wraps;
    uint32_t grown;
    uint64_t parts;
    uint32_t chance;
    uint64_t pairs[2];
    double powers[SW_POWERS];
    uint32_t weak[2];
};

struct sw_sites_launch {
    uint32_t group;      /* work-items per group of kernels without tiles, a power of two */
    uint32_t tx, ty, tz; /* sides of a tile, powers of two */
    uint32_t tile_group; /* work-items for a tile */
    uint32_t tiles;      /* of a member */
    uint32_t inside;     /* of a slab: tiles before those that need the next rank's layer */
    uint32_t sum_groups; /* work-groups per member that add up */
    uint32_t sum_slots;  /* partial sums per member */
};

enum sw_sites_buffer {
    SITES_SPINS,
    SITES_MEMBERS,
    SITES_BONDS,
    SITES_FIRSTS, /* of each site the place in its tile of the first site of its part */
    SITES_LABELS,
    SITES_SIZES,
    SITES_WEAK, /* bonds, of each site by bits */
    SITES_HELD, /* with a field: 1 at roots of clusters that stay as they are */
    SITES_CHANCES,
    SITES_WAYS, /* directions in which a cluster of this step leads around */
    /* samples: partial sums of spins, of clusters, directions in which a cluster leads around, and
     * Wolff's cluster; chances and ways */
    SITES_SUMS,
    SITES_WEAK_SUMS,
    SITES_CLUSTERS,
    SITES_WRAPS,
    SITES_GROWN,
    SITES_RECORD,
    SITES_PAIRS,
    SITES_WAVES, /* sums over clusters; samples of their squares */
    SITES_POWERS,
    /* of a slab (slab.c); SITES_SIZES then has numbers of parts on its edges, later names: the
     * first layer and the next rank's; parts there, their roots, which lie on both;
     * as ranks tell them, and those of other ranks; bonds
     * across the cuts, and what these connect; of this, what hosts join, and its names; sums of
     * parts, of other ranks' parts, and of bridges */
    SITES_LAYER,
    SITES_NEXT_LAYER,
    SITES_EDGES,
    SITES_ROOTS,
    SITES_CLAIMS,
    SITES_FACES,
    SITES_FAR_FACES,
    SITES_LINKS,
    SITES_BRIDGES,
    SITES_LIST,
    SITES_RENAMED,
    SITES_NEW_NAMES,
    SITES_PART_SUMS,
    SITES_FAR_SUMS,
    SITES_TOTALS,
    SITES_SEEDS,     /* names of the clusters of Wolff's seeds */
    SITES_FAR_LAYERS /* layers of other ranks, for pairs (slab_pairs.c) */
};

enum sw_sites_kernel {
    SITES_START,
    SITES_MEASURE,
    SITES_COUNT,
    SITES_LABEL,
    SITES_LABEL_END,
    SITES_JOIN,
    SITES_FLIP,
    SITES_FLIP_REST,
    SITES_PACK,
    SITES_UNPACK,
    SITES_FLIP_SIZES,
    SITES_FLIP_ONE,
    SITES_ADAPT,
    SITES_COUPLE,
    SITES_HOLD,
    SITES_NAME_ROOTS,
    SITES_NAME,
    SITES_PAIR,
    SITES_PAIR_FAR,
    SITES_CLAIM,
    SITES_MARK,
    SITES_SETTLE,
    SITES_NUMBER,
    SITES_FACE,
    SITES_BRIDGE,
    SITES_GATHER,
    SITES_LISTING,
    SITES_RENAME,
    SITES_PART_NAMES,
    SITES_PARTS_SIZE,
    SITES_PARTS_WAVE,
    SITES_TOTAL,
    SITES_TOTAL_FAR,
    SITES_COUNT_BRIDGES,
    SITES_GIVE_WAVES,
    SITES_SEED,
    SITES_WAVE,
    SITES_WAVE_ROOTS
};

struct sw_sites_state {
    struct ergo_engine e;
    struct sw_sites_shape whole;
    struct sw_sites_shape shape; /* whole, or this rank's slab of it */
    struct sw_sites_launch launch;
    bool clusters;                  /* clusters are measured, not only spins */
    bool pairs;                     /* of sites in one cluster are counted */
    bool started;                   /* the spins are those of the start */
    bool coupled;                   /* SITES_WEAK is there */
    struct sw_site_member *members; /* [batch->count] */
    struct sw_unit *units;
    /* ---- slab.c ---- */
    bool cut;
    struct ergo_slab slab;
    uint64_t *joined;   /* [samples][members][numbers], sums of all ranks (slab_counts.c) */
    bool under_way;     /* the next rank's layer */
    uint32_t exchanges; /* between slabs, so far */
    struct sw_rounds rounds;
    uint32_t *items;      /* [2][2 sites of a layer]: of the sides of rounds */
    uint64_t *part_names; /* [4 sites of a layer]: of what hosts join */
    uint32_t *part_sizes;
    size_t n_renamed; /* listed bridges */
    struct sw_slab_times {
        uint64_t steps; /* since the last save; then seconds of waiting and working */
        double layer, parts, faces, listing, joining, sums;
        double listed; /* entries */
    } times;
    uint64_t *seeds; /* [members]: as SITES_SEEDS, plus 1 */
    uint64_t *part_waves;
    /* [samples][members]: of a slot, clusters that reach edges; with all others, of all ranks */
    struct sw_cut_counts *edge_counts[2], *counts;
    uint64_t *ways;   /* [members][3]: a step's directions around, method probability-changing */
    uint64_t *firsts; /* [ranks + 1]: layers with which slabs begin, and all */
    char *pairs_out;  /* messages of a piece */
    uint32_t pair_messages; /* their number */
};

extern const struct ergo_sampler_ops sw_sites_ops, sw_slab_ops;

/* Waves of a cluster that are added up, and sums of their squares. */
static inline size_t sw_sites_waves(const struct sw_sites_shape *h) {
    return !h->waved ? 0 : h->model == SW_MODEL_POTTS ? 2 : 3;
}
/* Words of a spin, and bytes of a word. */
static inline size_t sw_sites_words(const struct sw_sites_shape *h) {
    return h->model == SW_MODEL_HEISENBERG ? 3 : 1;
}
static inline size_t sw_sites_word(const struct sw_sites_shape *h) {
    return h->spin_bytes / sw_sites_words(h);
}
/* Of a lattice in slabs: layers, in two dimensions rows; the sites of one. */
static inline uint32_t sw_sites_layers(const struct sw_sites_shape *h) {
    return h->lz > 1 ? h->lz : h->ly;
}
static inline size_t sw_sites_layer(const struct sw_sites_shape *h) {
    return h->lz > 1 ? (size_t)h->lx * h->ly : h->lx;
}
/* Sites of a member in the device's memory of spins; of each word of a spin. */
static inline size_t sw_sites_span(const struct sw_sites_state *s) {
    return (size_t)s->shape.sites + (s->cut ? sw_sites_layer(&s->whole) : 0);
}

/* slab.c: a lattice over ranks. */
bool sw_slab_is_worth(const struct ergo_point *point, size_t ranks);
/* Refuses "distribute": "lattice" of what is not cut. */
enum ergo_status sw_slab_check(struct ergo_context *ctx, const struct ergo_point *point);
void sw_slab_declare(struct sw_sites_state *s);
/* A step, when parts of all tiles are joined: names of clusters of several slabs; then new spins.
 * sample: clusters are counted, too; SW_NO_SAMPLE: not. Collective. */
void sw_slab_join(struct sw_sites_state *s, uint32_t sample);
void sw_slab_flip(struct sw_sites_state *s, uint32_t sample);
/* Then, of unit vectors: their clusters are joined again, with waves of what spins are now.
 * Collective. */
void sw_slab_measure(struct sw_sites_state *s, uint32_t sample);
/* Method probability-changing: tells the device in which directions clusters of all ranks lead
 * around. Collective. */
void sw_slab_share_ways(struct sw_sites_state *s);
/* The next rank's layer, which has been under way since then; nothing if it is there. */
void sw_slab_take_layer(struct sw_sites_state *s);
struct ergo_grid sw_slab_over_edges(const struct sw_sites_state *s);
/* Scratch memory, with the host's if it is hosted. */
void sw_slab_buffer(struct sw_sites_state *s, unsigned row, const char *what, uint64_t bytes,
                    bool hosted);
/* Messages of `bytes` bytes each, whose last four are a number: to the next rank and the one before
 * this one, theirs[2] from these. Or only to the one before, and from the next. */
void sw_slab_swap(struct sw_sites_state *s, char *mine, char *theirs, size_t bytes);
void sw_slab_swap_back(struct sw_sites_state *s, void *mine, void *theirs, size_t bytes);
/* Words of an entry of SITES_LIST. */
size_t sw_slab_entry_words(const struct sw_sites_state *s);
/* slab_join.c: its buffers. */
void sw_slab_declare_join(struct sw_sites_state *s);
/* slab_counts.c: what is measured of it: memory of the host, and buffers. */
void sw_slab_open_counts(struct sw_sites_state *s);
void sw_slab_declare_counts(struct sw_sites_state *s);
/* Sums of a part: sites, and waves if there are any; 0: nothing of clusters is measured. */
size_t sw_slab_sums(const struct sw_sites_state *s);
/* Enqueues what a sample knows of parts on edges, whose numbers stand; then, of bridges; and when
 * hosts have joined theirs, counts the others, with what the next rank knows. The last is
 * collective. */
void sw_slab_measure_parts(struct sw_sites_state *s, uint32_t sample);
void sw_slab_total(struct sw_sites_state *s);
void sw_slab_count(struct sw_sites_state *s, uint32_t sample);
/* Sums of all ranks. Collective. */
enum ergo_status sw_slab_collect(struct ergo_context *ctx, void *state, unsigned slot,
                                 struct ergo_samples *samples);
/* Of a sample and member, after that: potts; what clusters are like; the numbers of unit vectors.
 */
void sw_slab_potts(const struct sw_sites_state *s, size_t row, struct sw_counts *counts);
struct sw_found sw_slab_found(const struct sw_sites_state *s, unsigned slot, size_t row);
const uint64_t *sw_slab_numbers(const struct sw_sites_state *s, size_t row);
/* slab_pairs.c: Layers in a row, of this rank, and of one rank that they are compared with. */
struct sw_slab_run {
    int rank;         /* the other */
    uint32_t layer;   /* the first, of this slab */
    uint32_t partner; /* of that one's slab */
    uint32_t layers;
};
/* The run from a layer of slab `own` on, of at most `most` layers, whose partners are `apart`
 * layers further, all around the lattice. firsts: the layers with which slabs begin, and behind
 * them how many there are. */
struct sw_slab_run sw_slab_run_of(const uint64_t *firsts, int ranks, int own, uint32_t layer,
                                  uint64_t apart, uint32_t most);
/* What of a run of own layers its rank asks for in the piece of `layers` layers from `begin` on of
 * its own. layers 0: nothing. */
struct sw_slab_run sw_slab_asked(struct sw_slab_run run, uint32_t begin, uint32_t layers);
/* Buffers, and memory of the host; of a sample, whose sizes have been counted. The last is
 * collective. */
void sw_slab_declare_pairs(struct sw_sites_state *s);
void sw_slab_open_pairs(struct sw_sites_state *s);
void sw_slab_pairs(struct sw_sites_state *s, uint32_t sample);
/* plan.c */
/* Does another engine (sw.h) make this job's sweeps: Swendsen-Wang on a plain square lattice? */
bool sw_serves_square(const struct ergo_point *point);
struct sw_sites_shape sw_sites_shape_of(const struct ergo_point *point);
/* Do all sides close as periodic ones? Is none antiperiodic? */
bool sw_is_periodic(const struct ergo_point *point);
bool sw_is_ferromagnetic(const struct ergo_point *point);
/* Observables of all models: the length of the second moment along the last side from S(0) and S(2
 * pi/L), and the longest side, in lengths of a bond (observables.c). */
double sw_second_moment(const struct ergo_point *point, double s0, double sk);
/* The same of the means of m^2 and S(k). */
double sw_correlation_length(const struct ergo_point *point, const double *m);
double sw_longest_side(const struct ergo_point *point);
/* Are all sides at least 4 long? */
bool sw_has_quarter(const struct ergo_point *point);
enum ergo_status sw_sites_check(struct ergo_context *ctx, const struct ergo_point *point);
enum ergo_status sw_sites_configure(struct ergo_context *ctx, void *state);
/* p in units of 2^-32; where it rounds to 1, 0, and `always` gets the bit. */
uint32_t sw_chance_of(double p, uint32_t bit, uint32_t *always);
/* Philox key and bond probability of a member. */
void sw_sites_member_fill(const struct ergo_point *point, struct sw_site_member *member);

/* advance.c */
void sw_sites_steps(void *state, uint64_t steps);
void sw_sites_block(void *state, size_t count, uint64_t every);
bool sw_sites_row(const void *state, unsigned slot, const struct ergo_row *row);

/* adapt.c: method probability-changing. */
bool sw_adapts(const struct ergo_point *point);
bool sw_is_sampled(const struct ergo_point *point); /* at its temperature */
const char *sw_unweighted(const struct ergo_point *point);
enum ergo_status sw_adapt_check(struct ergo_context *ctx, const struct ergo_point *point);
/* The member's steps, `up` and `down`. */
void sw_adapt_fill(const struct ergo_point *point, struct sw_site_member *member);
/* The chance of the first step, of the member that has been filled. */
uint32_t sw_adapt_start(const struct ergo_point *point, const struct sw_site_member *member);
/* How often a step's change is doubled. */
uint32_t sw_adapt_shift(const struct ergo_point *point, uint64_t step);

/* disorder.c: random couplings, and the field. */
bool sw_is_disordered(const struct ergo_point *point);
bool sw_samples_differ(const struct ergo_point *point); /* two couplings are drawn */
bool sw_has_field(const struct ergo_point *point);
bool sw_is_plain(const struct ergo_point *point); /* neither */
enum ergo_status sw_disorder_check(struct ergo_context *ctx, const struct ergo_point *point);
/* The member's parameters of both. */
void sw_disorder_fill(const struct ergo_point *point, struct sw_site_member *member);
void sw_disorder_unit(const struct ergo_point *point, struct sw_unit *unit);
/* To the columns of a sample of states what is of weak bonds and of the field. */
void sw_disorder_energy(const struct sw_sites_shape *shape, const struct sw_unit *unit,
                        const struct sw_counts *counts, const struct sw_found *found,
                        double *columns);

/* vectors.c: models of unit vectors. */
/* columns[SW_VECTOR_COLUMNS] from sums[SW_NUMBERS]. */
void sw_vectors_convert(const struct sw_sites_shape *shape, struct sw_unit unit,
                        const int64_t *sums, const struct sw_found *found, double *columns);
extern const struct ergo_model sw_xy_model, sw_clock_model, sw_heisenberg_model;
/* Keys of all models, in swendsen_wang.c. */
enum {
    SW_SIZE_KEYS = 1,
    SW_SITES_KEYS = 3,
    SW_RUN_KEYS = 5,
    SW_DISORDER_KEYS = 4,
    SW_FIELD_KEYS = 1
};
extern const struct ergo_key sw_size_keys[SW_SIZE_KEYS], sw_sites_keys[SW_SITES_KEYS];
extern const struct ergo_key sw_disorder_keys[SW_DISORDER_KEYS], sw_field_keys[SW_FIELD_KEYS];
extern const struct ergo_key sw_run_keys[SW_RUN_KEYS];
enum { SW_TUNABLES = 5 };
extern const struct ergo_tunable sw_tunables[SW_TUNABLES];

/* state.c: the canonical state, in the order of site indices. potts and clock: a byte for each
 * site, its state (0 .. q - 1); xy: the angle in units of 2 pi/2^32, four bytes, the lowest first;
 * heisenberg: x, y and z in units of 2^-21, each a signed number of four bytes, the lowest first.
 * Method probability-changing: then the chance, four bytes, the lowest first. */
void sw_sites_start(void *state);
extern const struct ergo_fields sw_sites_fields;
void sw_sites_look(const void *state, struct ergo_view *view);
enum ergo_status sw_sites_form(struct ergo_context *ctx, const struct ergo_point *point,
                               struct ergo_form *form);

#endif
