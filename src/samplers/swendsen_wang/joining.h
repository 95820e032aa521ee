/*
 * Clusters of a lattice in rectangles, joined by rounds between neighbours. Pure: knows neither MPI
 * nor devices. A caller carries the messages: cut_rounds.c over ranks, tests and bench/joining.c in
 * one process.
 *
 * A part is what of a cluster lies in one rectangle. A bridge: all parts that bonds across one side
 * of a rectangle connect with each other. Both rectangles know it by the same number; each knows
 * its own parts in it. Parts of a rectangle that bridges connect are one cluster there, with the
 * smallest of their names for a label. In a round ranks tell each other over bridges the labels
 * that have become smaller. Clusters that reach no further than there were rounds are then
 * finished. Of the others few are left: where a label changed in the last round, it and the one
 * that the far side still has are of one cluster. These pairs go to all ranks, who join them, each
 * for itself: in step k a rank hands all that it has to the one 2^k further. The same pair from
 * several ranks stays one.
 *
 * So any number of rounds gives the same labels; more rounds leave fewer pairs. Numbers of sites
 * travel back over the bridges by which labels came. A label has a place, too: how many lattices
 * its owner lies away, by the bonds on the way. Two ways to different places lead around the
 * lattice.
 */
#ifndef ERGO_SAMPLERS_SWENDSEN_WANG_JOINING_H
#define ERGO_SAMPLERS_SWENDSEN_WANG_JOINING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The last part of a bridge in a list of parts; parts are numbered below this. */
#define SW_BRIDGE_END 0x80000000u

/* A side of a rectangle on one neighbour. Bonds to it lead (dx, dy) lattices further. */
struct sw_side {
    int dx, dy;
    size_t n_items;
    const uint32_t *items; /* parts, bridge by bridge; a part is in one bridge of a side at most */
    /* ---- from here on of the joining ---- */
    size_t first, n_bridges; /* bridges of this side */
    uint32_t *out, *in;      /* messages: [sw_joining_room(n_bridges)] */
    size_t out_words;
};

struct sw_parts {
    bool narrow; /* all names of all ranks are below 2^32: messages have half of them */
    size_t n_parts;
    const uint64_t *names; /* [n_parts] */
    const uint32_t *sizes; /* [n_parts]; NULL: sizes and ways around are not asked for */
    size_t n_sides;
    struct sw_side *sides;
};

/* What a rank knows of a cluster in its rectangle. */
struct sw_cluster {
    uint64_t name;       /* smallest of its own parts' */
    uint64_t label;      /* smallest that is known */
    uint64_t size;       /* sites; in the end those that nobody else counts */
    uint32_t from, when; /* the bridge and the round of the label; 0: its own */
    uint32_t bridges;    /* the first of a list */
    int16_t x, y;        /* its place seen from the label's owner */
    bool changed;
};

struct sw_bridge {
    uint64_t label; /* what both sides know */
    uint32_t cluster, next, side;
    int16_t x, y;
};

struct sw_joining {
    bool sized; /* sizes and ways around are asked for */
    bool wraps; /* a cluster leads around the lattice, as far as is known */
    bool narrow;
    uint32_t serial, round, rounds; /* of messages; of labels: done, and all */
    size_t n_parts, n_clusters, n_bridges, n_changed, n_told;
    uint32_t *cluster_of; /* [n_parts] */
    struct sw_cluster *clusters;
    struct sw_bridge *bridges;
    uint32_t *changed, *told;     /* clusters, of this round and of the one before */
    struct sw_rest *rest, *spare; /* in order */
    size_t n_rest, n_late;
    struct sw_late *late;
    struct sw_known *known; /* a hash table of labels in pairs */
    size_t slots;
    size_t part_rooms[4], bridge_room, rest_room, spare_room, late_room, word_room, known_room;
    uint32_t *words; /* of messages */
};

/* Two labels of one cluster; the second one's owner lies (x, y) lattices from the first's. */
struct sw_rest {
    uint64_t larger, smaller;
    int32_t x, y;
};

/* Sites of a cluster that goes on where rounds did not reach. */
struct sw_late {
    uint64_t label, size;
};

/* ---- bridges.c -------------------------------------------------------------------------------
 */

/* No bond here. */
#define SW_NO_PART 0xffffffffu

struct sw_list {
    size_t n, room;
    uint32_t *items;
};

/* Scratch memory; zero-initialise. Of the parts on one side, near or far: their elements. */
struct sw_bridges {
    uint32_t *of[2], *parts, *parents, *numbers, *firsts;
    size_t of_rooms[2], rooms[4];
};
void sw_bridges_free(struct sw_bridges *b);
/* The bridges of a side, from `count` bonds in a row: near[k] and far[k] are the parts of their
 * ends, below n_near and n_far, or SW_NO_PART. Appends to both lists, in the same order, as sw_side
 * has them. False: no memory. */
bool sw_bridges_find(struct sw_bridges *b, const uint32_t *near, const uint32_t *far, size_t count,
                     size_t n_near, size_t n_far, struct sw_list *near_list,
                     struct sw_list *far_list);

/* ---- joining.c -------------------------------------------------------------------------------
 */

/* Zero-initialise before the first. Memory is kept for the next. */
void sw_joining_free(struct sw_joining *j);

/* Words that a message of a side needs at the most. */
size_t sw_joining_room(size_t n_bridges);

/* Numbers bridges and clusters. serial: of all messages of this joining, the same at all ranks.
 * rounds: at least 1. False: no memory. */
bool sw_joining_begin(struct sw_joining *j, struct sw_parts *parts, uint32_t serial,
                      uint32_t rounds);

/* Rounds that leave few pairs to so many ranks. */
static inline uint32_t sw_joining_rounds(int ranks) {
    uint32_t rounds = 1;
    for (int reached = 1; reached < ranks; reached *= 4)
        rounds++;
    return rounds;
}

/* A round: fills all sides' `out` (out_words), and when messages have arrived in `in`, takes them.
 * `rounds` of these; if sized, as many sw_joining_count after sw_joining_rest. */
void sw_joining_tell(struct sw_joining *j, struct sw_side *sides, size_t n_sides);
/* False: not the message that is due. */
bool sw_joining_hear(struct sw_joining *j, const struct sw_side *side);

/* The pairs of labels that rounds have left here: rest[n_rest]. False: no memory. */
bool sw_joining_rest(struct sw_joining *j);
/* Of a pair in messages. */
static inline size_t sw_rest_words(const struct sw_joining *j) {
    return (j->narrow ? 2u : 4u) + (j->sized ? 1u : 0u);
}
/* Pairs first .. first + n - 1 as words, and the others of such words. False: no memory. */
void sw_joining_hand(const struct sw_joining *j, size_t first, size_t n, uint32_t *words);
bool sw_joining_unite(struct sw_joining *j, const uint32_t *words, size_t n);
/* When all ranks' pairs are there: clusters' labels become final. False: no memory. */
bool sw_joining_finish(struct sw_joining *j);

/* Sizes go back the way that labels came. */
void sw_joining_count(struct sw_joining *j, struct sw_side *sides, size_t n_sides);
bool sw_joining_counted(struct sw_joining *j, const struct sw_side *side);
/* After finish and counting: sizes of clusters that rounds have not finished, late[n_late], for all
 * ranks. The others are counted here, by `take`. False: no memory. */
typedef void (*sw_joining_take)(void *user, uint64_t size);
bool sw_joining_late(struct sw_joining *j, sw_joining_take take, void *user);
/* Of all ranks' late ones, those that are this rank's to count. */
bool sw_joining_sum(struct sw_joining *j, const struct sw_late *all, size_t n, sw_joining_take take,
                    void *user);

/* The name of a part's cluster. */
static inline uint64_t sw_joining_name(const struct sw_joining *j, size_t part) {
    return j->clusters[j->cluster_of[part]].label;
}

#endif
