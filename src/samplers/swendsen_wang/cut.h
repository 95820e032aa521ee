/*
 * One lattice cut over ranks: the sampler's second table of operations. Internal to the sampler.
 *
 *     cut_plan.c       a rank's rectangle, launch shapes, memory, kernels
 *     cut_device.c     create, start, destroy
 *     cut_shares.c     rectangles as large as their ranks are fast (engine/shares.h)
 *     cut_advance.c    sweeps of a rank's rectangle, halos
 *     cut_lines.c      pairs of sites in one cluster, along lines
 *     cut_parts.c      parts of clusters on the edges, bridges to others
 *     cut_collect.c    samples from sums over ranks (counts.h)
 *     cut_early.c      edges labelled first, and joined meanwhile
 *     rounds.h         clusters of several rectangles, by rounds between neighbours (joining.h)
 *     cut_gather.c     the same by each device for itself
 *     cut_state.c      the canonical state from pieces and back; pictures
 *
 * A part: what of a cluster lies in one rectangle; its name is the smallest site id in it (64 bits,
 * in the whole lattice), and the smallest of all parts' names is the cluster's representative.
 * Every rank comes to the same representatives whatever the cut, so the chain is that of one
 * device.
 */
#ifndef ERGO_SAMPLERS_SWENDSEN_WANG_CUT_H
#define ERGO_SAMPLERS_SWENDSEN_WANG_CUT_H

#include "engine/layout.h"
#include "engine/shares.h"
#include "samplers/swendsen_wang/counts.h"
#include "samplers/swendsen_wang/rounds.h"
#include "samplers/swendsen_wang/sw.h"
#include "swendsen_wang/cut_params.h"

/* ---- a member ----------------------------------------------------------------------------------
 */

/* What stands on the device of a rank's rectangle. */
enum sw_cut_buffer {
    SW_CUT_SPINS,  /* of each member */
    SW_CUT_MEMBER, /* its parameters */
    SW_CUT_HALO,   /* incoming */
    SW_CUT_HALO_OUT,
    SW_CUT_RECT,
    SW_CUT_RIGHT, /* bonds */
    SW_CUT_DOWN,
    SW_CUT_RUN_LABELS,
    SW_CUT_TILE_PARTS,
    SW_CUT_OPEN,
    SW_CUT_LABELS,
    SW_CUT_SIZES,
    SW_CUT_NAMES, /* of parts */
    SW_CUT_EDGES, /* parts there; their roots and sizes */
    SW_CUT_ROOTS,
    SW_CUT_ROOT_SIZES,
    SW_CUT_RENAMED, /* parts with other names, and these */
    SW_CUT_NEW_NAMES,
    SW_CUT_SUMS,
    SW_CUT_CLUSTERS,
    /* edges first: bonds of the next sweep; parts in tiles; for launches over some tiles */
    SW_CUT_DRAWN,
    SW_CUT_EARLY,
    SW_CUT_EARLY_ROOTS,
    SW_CUT_RECT_INSIDE,
    SW_CUT_RECT_REST,
    /* pairs of parts of all ranks, joined on every device (cl/swendsen_wang/cut_gather.cl):
     * rectangles and neighbours of all ranks; of nodes; of pairs */
    SW_CUT_RECTS,
    SW_CUT_NEIGHBOURS,
    SW_CUT_KEYS,
    SW_CUT_NODE_LABELS,
    SW_CUT_NODE_NAMES,
    SW_CUT_PAIR_NODES,
    /* parts on this rank's edges, and on the neighbours'; pairs found here, and by all */
    SW_CUT_NEAR,
    SW_CUT_FAR,
    SW_CUT_PAIRS,
    SW_CUT_ALL_PAIRS,
    /* correlations: sums over clusters, inside and at edges; of squares; clusters on lines */
    SW_CUT_WAVES_INSIDE,
    SW_CUT_WAVES_EDGES,
    SW_CUT_WAVES,
    SW_CUT_LINES
};

enum sw_cut_kernel {
    SW_CUT_START,
    SW_CUT_PACK,
    SW_CUT_DRAW,
    SW_CUT_EARLY_PARTS,
    SW_CUT_CLAIM,
    SW_CUT_NUMBER,
    SW_CUT_LATE,
    SW_CUT_PARTS,
    SW_CUT_PART_SIZES,
    SW_CUT_RENAME,
    SW_CUT_MEASURE,
    SW_CUT_NODES,
    SW_CUT_JOIN_NODES,
    SW_CUT_TAKE_STATES,
    SW_CUT_TILE_LABEL,
    SW_CUT_TILE_LABEL_SIZES,
    SW_CUT_TILE_JOIN,
    SW_CUT_TILE_NEAR,
    SW_CUT_TILE_PAIRS,
    SW_CUT_TILE_EDGES,
    SW_CUT_TILE_SIZES,
    SW_CUT_TILE_SUMS,
    SW_CUT_TILE_FLIP,
    SW_CUT_WAVE_TILES,
    SW_CUT_WAVE_ROOTS,
    SW_CUT_NAME_LINES
};

/* What the host knows of them. */
struct sw_gather {
    uint32_t slots;                  /* nodes of a rank */
    size_t nodes, head;              /* head: entries before all pairs */
    uint32_t second, third;          /* rows from which on other neighbours are on the right */
    size_t guess;                    /* so many pairs, about */
    uint64_t *counts;                /* [ranks] */
    struct ergo_dist_shared *shared; /* of ranks on one host: what they tell, in no message */
};

/* Lines that a rank has a piece of: of both directions, first rows. */
struct sw_cut_lines {
    uint32_t first[2], count[2];
    uint64_t *all, *line; /* a batch of lines of all ranks; one of them */
};

/* One chain. */
struct sw_cut_member {
    struct sw_member params;
    bool fresh; /* the incoming halo is that of the spins */
};

/* Where the time went, of sampled and unsampled sweeps alike; for the log and bench/scaling. */
struct sw_cut_times {
    double local, halo, pairs, merge, flip; /* seconds of the host's clock */
    double busy; /* of the device alone, without waiting for others, in `timed` sweeps */
    uint64_t timed, sweeps, halo_bytes, edge_bytes, pair_bytes; /* pairs: bridges and rounds */
};

struct sw_cut {
    struct ergo_engine e;  /* of this rectangle: made anew for another */
    struct sw_shape shape; /* of the whole lattice */
    bool of_cpus;          /* at least one rank's device is one */
    bool of_clusters;      /* are measured, not only spins */
    uint32_t distances;    /* of correlations; 0: they are not measured */
    bool gathers;          /* sweeps that are not measured join parts on the devices */
    bool in_flight;        /* or hosts join those of one chain while devices label the next */
    bool ahead;            /* or edges are labelled first, and a next sweep's bonds drawn */
    uint64_t drawn;        /* 1 + the step for which bonds are drawn; 0: none */
    uint32_t group_size, sum_groups;
    int rank;
    struct ergo_layout layout;
    struct ergo_rectangle piece; /* this rank's */
    struct ergo_halo halo;
    struct sw_launch tiles;
    uint32_t *far_edges;           /* parts of the neighbours below and to the right, as in edges */
    struct sw_cut_member *members; /* [members] */
    struct sw_cut_member *now;     /* the chosen one */
    struct sw_gather gather;
    uint32_t *part_sizes; /* [parts in bridges]: sites */
    uint64_t *part_names;
    uint64_t (*part_waves)[2]; /* and lines (cut_lines.c): where correlations are measured */
    struct sw_cut_lines lines;
    bool started; /* the spins are those of the start */
    /* ---- from here on of the whole run ---- */
    struct sw_rounds rounds; /* but for its sides */
    /* blocks of samples, whole: [samples][members] */
    struct sw_cut_counts *slots[2];
    size_t slot_samples[2];
    struct sw_cut_times times;
    size_t n_renamed; /* parts with other names, in the list for the device */
    size_t n_parts;   /* in bridges, or pairs, of the latest sweep */
    struct ergo_shares *shares;
};

size_t sw_cut_piece_bytes(const struct sw_cut *s,
                          const struct ergo_rectangle *piece); /* of its spins */

/* cut_plan.c */
enum ergo_status sw_cut_configure(struct ergo_context *ctx, void *state);
enum ergo_status sw_cut_configure_of_cpus(struct ergo_context *ctx, void *state);
enum ergo_status sw_cut_plan(struct ergo_context *ctx, const struct ergo_batch *batch,
                             const struct ergo_device *device, struct ergo_plan *plan);
struct sw_rect sw_cut_rect(const struct sw_cut *s, const struct ergo_rectangle *piece);
/* This rank's, with the list of its tiles. */
static inline size_t sw_cut_rect_bytes(const struct sw_cut *s) {
    return sizeof(struct sw_rect) + 2 * sizeof(uint32_t) * s->tiles.tiles;
}
static inline struct ergo_grid sw_cut_over(const struct sw_cut *s, size_t items) {
    return ergo_grid_items(items, s->group_size, 1);
}
static inline struct ergo_grid sw_cut_over_tiles(const struct sw_cut *s) {
    return ergo_grid_groups((size_t)s->tiles.tiles, s->tiles.tile_group, 1);
}

/* cut_device.c */
extern const struct ergo_engine_model sw_cut_model;
/* Or that of ranks of which one has a CPU. Collective. */
const struct ergo_engine_model *sw_cut_model_for(const struct ergo_device *device);
enum ergo_status sw_cut_create(struct ergo_context *ctx, const struct ergo_batch *batch,
                               struct ergo_device *device, void **state);
/* Another rectangle, as the shares are now; nothing is known of its spins. Collective. */
enum ergo_status sw_cut_remake(struct ergo_context *ctx, struct sw_cut *s);
/* Launches and transfers are this member's from here on. */
void sw_cut_choose(struct sw_cut *s, size_t member);

/* cut_shares.c */
void sw_cut_log(struct ergo_context *ctx, const struct sw_cut *s);
/* Before the start: shares by a trial. */
enum ergo_status sw_cut_share_by_speed(struct ergo_context *ctx, struct sw_cut *s);
/* Rectangles as the shares are now, all spins as they were. Collective. */
enum ergo_status sw_cut_recut(struct ergo_context *ctx, struct sw_cut *s);
/* Between blocks: does a rank keep the others waiting? Then other rectangles. */
enum ergo_status sw_cut_balance(struct ergo_context *ctx, struct sw_cut *s);

/* cut_advance.c */
enum ergo_status sw_cut_advance(struct ergo_context *ctx, void *state, unsigned slot, size_t count,
                                uint64_t every, uint64_t first_sample);
static inline void sw_cut_exchange(struct sw_cut *s, const void *mine, void *theirs, size_t row,
                                   size_t of_row) {
    if (s->e.status == ERGO_OK)
        s->e.status = ergo_halo_exchange(s->e.ctx, &s->halo, mine, theirs, row, of_row);
}
/* What the sweep of a rectangle costs without the others, also for shares by speed. near: with
 * sw_gather_near. */
void sw_cut_local(struct sw_cut *s, bool counted, bool near);
/* New spins; clusters on edges by the names that they got. */
void sw_cut_flip(struct sw_cut *s);
void sw_cut_join_tiles(struct sw_cut *s);
/* Spins of edges to the neighbours, and theirs. */
void sw_cut_halo_start(struct sw_cut *s);
void sw_cut_halo_finish(struct sw_cut *s);

/* cut_parts.c: what is on the edges of a labelled rectangle, to its host; counted: with sizes, and
 * sums over all other clusters. */
enum ergo_status sw_cut_make_sides(struct sw_cut *s);
void sw_cut_find_parts(struct sw_cut *s, bool counted);
void sw_cut_await_parts(struct sw_cut *s);
/* Bonds between rectangles make their parts one cluster: names of all parts, to the device. counts
 * (NULL: none): of clusters. */
void sw_cut_join_parts(struct sw_cut *s, struct sw_cut_counts *counts);
/* The same in two steps, without counts: parts in tiles, and when what connects them is known. */
void sw_cut_join_early(struct sw_cut *s);
void sw_cut_join_late(struct sw_cut *s);

/* cut_early.c */
void sw_early_declare(struct sw_cut *s, const char *common, const char *tiles);
/* rect: as in SW_CUT_RECT. */
void sw_early_prepare(struct sw_cut *s, struct sw_rect *rect);
/* Labels in so many tiles: from the first on, or of those that are last. */
void sw_early_label(struct sw_cut *s, uint32_t first, uint32_t tiles);
/* A sweep but for the new spins. plain: the next one will not be measured. */
void sw_early_names(struct sw_cut *s, bool plain);

/* cut_gather.c */
/* The same at all ranks. auto: what is predicted to cost less; in_flight hides rounds. */
bool sw_gather_wanted(const struct sw_cut *s, const char *merge);
void sw_gather_declare(struct sw_cut *s);
enum ergo_status sw_gather_prepare(struct ergo_context *ctx, struct sw_cut *s);
/* Memory that ranks of one host share. Collective. */
void sw_gather_share(struct sw_cut *s);
/* When parts are known, before they are joined: those on the edges to the host. Does not wait. */
void sw_gather_near(struct sw_cut *s);
/* Labels inside, and states of the clusters that are in other rectangles too: a sweep but for the
 * new spins. */
void sw_gather_names(struct sw_cut *s);

/* cut_lines.c */
void sw_lines_declare(struct sw_cut *s, const char *tiles);
enum ergo_status sw_lines_prepare(struct sw_cut *s);
/* Of a labelled rectangle: sums of waves over its clusters, to the host with its parts. */
void sw_lines_waves(struct sw_cut *s);
/* When parts have their names over ranks, a measured sweep's pairs of sites. Collective. */
void sw_lines_count(struct sw_cut *s, struct sw_cut_counts *counts);

/* cut_collect.c */
enum ergo_status sw_cut_collect(struct ergo_context *ctx, void *state, unsigned slot,
                                struct ergo_samples *samples);

/* cut_state.c */
enum ergo_status sw_cut_save(struct ergo_context *ctx, void *state, size_t member,
                             struct ergo_text *text);
enum ergo_status sw_cut_load(struct ergo_context *ctx, void *state, size_t member, uint64_t step,
                             const void *bytes, size_t length);
enum ergo_status sw_cut_view(struct ergo_context *ctx, void *state, size_t member,
                             struct ergo_view *view);
/* The whole lattice in a device's layout (sw_shape), at rank 0; NULL elsewhere. */
enum ergo_status sw_cut_gather(struct ergo_context *ctx, struct sw_cut *s, size_t member,
                               uint32_t **planes);
/* The reverse: every rank takes its piece of the lattice that rank 0 has. */
enum ergo_status sw_cut_scatter(struct ergo_context *ctx, struct sw_cut *s, size_t member,
                                const uint32_t *planes);

#endif
