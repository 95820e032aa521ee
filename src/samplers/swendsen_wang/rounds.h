/*
 * What of clusters reaches the sides of a rank's piece of a lattice, joined over ranks: joining.h
 * with messages. A caller says which parts are at both ends of the bonds that lead out; sides.c
 * finds bridges, what bonds across one side connect, of which the other side is told; rounds.c
 * carries the messages of the joining. What a sweep needs is kept for the next.
 */
#ifndef ERGO_SAMPLERS_SWENDSEN_WANG_ROUNDS_H
#define ERGO_SAMPLERS_SWENDSEN_WANG_ROUNDS_H

#include "dist/dist.h"
#include "engine/engine.h"
#include "samplers/swendsen_wang/joining.h"

/* Where a message goes; ^ 1: the way back. */
enum sw_way { SW_WAY_DOWN, SW_WAY_UP, SW_WAY_EAST, SW_WAY_WEST, SW_WAYS };

/* A side of a piece on one neighbour, beside joining.h's. */
struct sw_border {
    int rank; /* across */
    unsigned way;
    uint32_t odd;        /* sides of the lattice that bonds to there cross */
    size_t first, sites; /* bonds that can cross it, among those in sw_rounds_bridge */
    size_t most_far;     /* parts across are numbered below this */
    /* ---- from here on of sides.c ---- */
    bool finds;          /* bridges are found here: the lower and right sides */
    bool found;          /* or none are sought */
    struct sw_list own;  /* parts in bridges, bridge by bridge; a message where others find them */
    struct sw_list told; /* the message for the neighbour */
};

/* A message of labels that are handed on. */
struct sw_hand {
    unsigned char *bytes;
    size_t room;
};

struct sw_rounds {
    int rank, ranks;
    struct ergo_dist_posts *posts;
    /* ---- of a piece ---- */
    size_t n_sides;
    struct sw_side *sides;
    struct sw_border *borders;
    size_t most_parts;  /* parts of this piece are numbered below this */
    uint32_t *index_of; /* [most_parts]: of a part in a bridge, or SW_NO_PART */
    uint32_t *parts;    /* [n_parts]: numbers of those */
    size_t n_parts;
    uint32_t wraps; /* ways around the lattice that bridges close, as odd */
    /* ---- of the whole run ---- */
    size_t n_bridges;
    struct sw_bridges *bridges; /* [n_bridges] */
    struct sw_joining joining;
    uint32_t joinings;
    struct sw_hand hands[SW_JOINING_FAN]; /* messages: the own one, and of partners */
    uint64_t bytes;                       /* sent */
};

/* ---- sides.c ---------------------------------------------------------------------------------
 */

/* A piece with these sides, whose own parts are numbered below most_parts; may replace another one
 * of the same run. rank, ranks and posts are set. Sides have no sites where the caller finds their
 * bridges. */
enum ergo_status sw_rounds_prepare(struct ergo_engine *e, struct sw_rounds *r,
                                   const struct sw_border *borders, size_t n_sides,
                                   size_t most_parts);
void sw_rounds_free(struct sw_rounds *r);
/* Bridges of all sides; their parts are r->parts. near, far: the parts at both ends of each bond
 * that leads out over the lower and right sides, or SW_NO_PART. threads: more than one where sides
 * are long. Collective. */
enum ergo_status sw_rounds_bridge(struct ergo_context *ctx, struct sw_rounds *r,
                                  const uint32_t *near, const uint32_t *far, bool threads);

/* ---- rounds.c --------------------------------------------------------------------------------
 */

/* Fails: a message between ranks is not the one that is due. */
enum ergo_status sw_rounds_lost(struct ergo_context *ctx, int rank);

/* Joins the parts of all ranks; joining.h has their names. take (NULL: sizes are not asked for): of
 * the clusters that are this rank's to count. Collective. */
enum ergo_status sw_rounds_join(struct ergo_context *ctx, struct sw_rounds *r,
                                struct sw_parts *parts, sw_joining_take take, void *user);
/* In two steps: the first rounds; when it is known what inside connects (sw_joining_connect), the
 * others. */
enum ergo_status sw_rounds_early(struct ergo_context *ctx, struct sw_rounds *r,
                                 struct sw_parts *parts);
enum ergo_status sw_rounds_late(struct ergo_context *ctx, struct sw_rounds *r);

#endif
