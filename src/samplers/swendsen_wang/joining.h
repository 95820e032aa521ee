/*
 * Clusters of a lattice in rectangles, joined by rounds between neighbours. Pure: knows neither MPI
 * nor devices. A caller carries the messages: rounds.c over ranks, tests and bench/joining.c in
 * one process.
 *
 * A part is what of a cluster lies in one rectangle. A bridge: all parts that bonds across one side
 * of a rectangle connect with each other. Both rectangles know it by the same number; each knows
 * its own parts in it. Parts of a rectangle that bridges connect are one cluster there, with the
 * smallest of their names for a label. In a round ranks tell each other over bridges the labels
 * that have become smaller. Clusters that reach no further than there were rounds are then
 * finished. Of the others few are left: where a label changed in the last round, it and the one
 * that the far side still has are of one cluster. Each rank joins its own such pairs; then ranks
 * hand on what they know (joining_rest.c): in step k all of it to those 4^k, 2 4^k and 3 4^k
 * further. A label that many pairs have is told once.
 *
 * So any number of rounds gives the same labels; more rounds leave fewer labels. Numbers of sites
 * travel back over the bridges by which labels came. With a label goes how often the way to its
 * owner crosses each side of the lattice, odd or even. Two ways that differ in this close one that
 * leads around the lattice (cl/swendsen_wang/joins.h).
 */
#ifndef ERGO_SAMPLERS_SWENDSEN_WANG_JOINING_H
#define ERGO_SAMPLERS_SWENDSEN_WANG_JOINING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Sides of the lattice that a way crosses an odd number of times, by bits: SW_AROUND_... */
enum { SW_ODD_BITS = 3 };

/* An end of a bond, and a part in a bridge: its number, below 2^29; of the way from there to the
 * part's first site the sides across the cut, which a part can lead around by itself; is it the
 * last part of its bridge? */
#define SW_PART_BITS 29
#define SW_PART_NUMBER 0x1fffffffu
#define SW_BRIDGE_END 0x80000000u
static inline uint32_t sw_part_odd(uint32_t item) {
    return item >> SW_PART_BITS & 3u;
}
/* links: 4 times the parent, and of the way there what sw_part_odd has, by which *odd is changed.
 */
static inline uint32_t sw_root_of(uint32_t *links, uint32_t i, uint32_t *odd) {
    uint32_t link = links[i];
    while (link >> 2 != i) {
        link = links[i] = links[link >> 2] ^ (link & 3u); /* a root's has no bits */
        *odd ^= link & 3u;
        i = link >> 2;
        link = links[i];
    }
    return i;
}

/* A side of a rectangle on one neighbour. */
struct sw_side {
    uint32_t odd; /* sides of the lattice that its bonds cross */
    size_t n_items;
    const uint32_t *items; /* parts, bridge by bridge; a part is in one bridge of a side at most */
    /* ---- from here on of the joining ---- */
    size_t first, n_bridges; /* bridges of this side */
    uint32_t *out, *in;      /* messages: [sw_joining_room(n_bridges)] */
    size_t out_words;
};

struct sw_parts {
    bool narrow; /* all names of all ranks are below 2^32, with ways 2^29: half of them is sent */
    bool ways;   /* around the lattice are asked for; with sizes they always are */
    size_t n_parts;
    const uint64_t *names; /* [n_parts] */
    const uint32_t *sizes; /* [n_parts]; NULL: sizes are not asked for */
    size_t n_waves;        /* at most SW_SUM_WAVES, with sizes; 0: not asked for */
    const uint64_t *waves; /* [n_parts][n_waves] */
    size_t n_sides;
    struct sw_side *sides;
};

/* What is added up over the parts of a cluster, modulo 2^64: sites; cos and sin of a wave over
 * these; of unit vectors also what the wave multiplies. */
enum { SW_SUM_WAVES = 3 };
struct sw_sum {
    uint64_t sites, waves[SW_SUM_WAVES];
};
enum { SW_SUM_NUMBERS = sizeof(struct sw_sum) / sizeof(uint64_t) };

/* ---- joining_rest.c --------------------------------------------------------------------------
 */

/* Two labels of one cluster; odd: of the way between their owners. */
struct sw_pair {
    uint64_t labels[2];
    uint32_t odd;
};

/* A label of a cluster that goes on where rounds did not reach. */
struct sw_label {
    uint64_t label;
    uint32_t leader; /* the smallest label of the cluster that is known here */
    uint32_t number; /* of a leader among leaders */
    uint32_t odd;    /* of the way to the leader's owner */
};

/* All that a rank knows of them. */
struct sw_rest {
    uint32_t wraps; /* ways around the lattice that were found, as odd */
    size_t n;
    struct sw_label *labels; /* [n], the smallest first */
    uint32_t n_leaders;
    struct sw_sum *sums; /* [n_leaders]: of clusters, for the caller */
    /* ---- scratch ---- */
    struct sw_label *spare, *heard;
    struct sw_pair *pairs;
    uint32_t *places, *slots;
    size_t n_slots, rooms[7];
};
/* Room for n items of `item` bytes at least; what is there is lost. NULL: no memory. (joining.c) */
void *sw_reserve(void *array, size_t item, size_t *room, size_t n);
void sw_rest_free(struct sw_rest *r);
/* For so many pairs; NULL: no memory. */
struct sw_pair *sw_rest_pairs(struct sw_rest *r, size_t most);
/* From the first n of these. False: no memory. */
bool sw_rest_begin(struct sw_rest *r, size_t n_pairs);
/* All of it as a message: its bytes, of which it needs sw_rest_room at the most. */
size_t sw_rest_room(const struct sw_rest *r);
size_t sw_rest_hand(const struct sw_rest *r, bool ways, uint32_t serial, unsigned char *message);
/* Of another rank's: how many bytes, from its head. */
enum { SW_REST_HEAD = 12 };
size_t sw_rest_length(const unsigned char *message);
/* Makes room for what it has. False: no memory. */
bool sw_rest_expect(struct sw_rest *r, const unsigned char *message);
/* Takes it. False: not the message that is due. */
bool sw_rest_unite(struct sw_rest *r, bool ways, uint32_t serial, const unsigned char *message);
/* When all is there: labels are looked up, sums are 0. False: no memory. */
bool sw_rest_end(struct sw_rest *r);
/* The smallest label of its cluster; NULL: rounds have finished that. */
const struct sw_label *sw_rest_leader(const struct sw_rest *r, uint64_t label);

/* ---- joining -----------------------------------------------------------------------------------
 */

/* What a rank knows of a cluster in its rectangle. */
struct sw_cluster {
    uint64_t name;       /* smallest of its own parts' */
    uint64_t label;      /* smallest that is known */
    struct sw_sum sum;   /* in the end what nobody else counts */
    uint32_t from, when; /* the bridge and the round of the label; 0: its own */
    uint32_t bridges;    /* the first of a list */
    uint32_t last;       /* of these */
    uint32_t parent;     /* another cluster that this one is part of, or itself */
    uint8_t odd;         /* of the way from the label's owner */
    bool changed;
};

struct sw_bridge {
    uint64_t label; /* what both sides know */
    uint32_t cluster, next, side;
    uint8_t odd;   /* as the cluster's, by what both sides know */
    uint8_t apart; /* the way from the bridge to the cluster's first part */
};

struct sw_joining {
    bool ways; /* around the lattice are asked for */
    bool narrow;
    size_t n_waves;
    uint32_t wraps;                 /* ways around the lattice that are known here, as odd */
    uint32_t serial, round, rounds; /* of messages; of labels: done, and all */
    size_t n_parts, n_clusters, n_bridges, n_changed, n_told;
    uint32_t *cluster_of; /* [n_parts] */
    uint8_t *odd;         /* [n_parts]: of the way to the cluster's first part */
    struct sw_cluster *clusters;
    struct sw_bridge *bridges;
    uint8_t *touched;         /* of clusters: another name since sw_joining_note */
    uint32_t *changed, *told; /* clusters, of this round and of the one before */
    struct sw_rest rest;
    size_t part_rooms[6], bridge_room, word_room;
    uint32_t *words; /* of messages */
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
    uint32_t *of[2], *parts, *numbers, *firsts;
    uint32_t *links; /* 4 times the parent, and of the way there what sw_part_odd has */
    size_t of_rooms[2], rooms[4];
    uint32_t wraps; /* of the last bridges: ways around that these close */
};
void sw_bridges_free(struct sw_bridges *b);
/* The bridges of a side, from `count` bonds in a row: near[k] and far[k] are the parts of their
 * ends, with numbers below n_near and n_far, or SW_NO_PART. Appends to both lists, in the same
 * order, as sw_side has them. False: no memory. */
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

/* Rounds that leave few labels to so many ranks: beyond four, a further one leaves 4 in 100 fewer
 * (bench/NOTES.md). */
static inline uint32_t sw_joining_rounds(int ranks) {
    uint32_t rounds = 1;
    for (int reached = 1; reached < ranks && rounds < 4; reached *= 4)
        rounds++;
    return rounds;
}

/* A round: fills all sides' `out` (out_words), and when messages have arrived in `in`, takes them.
 * `rounds` of these; with sizes, as many sw_joining_count after sw_joining_rest. */
void sw_joining_tell(struct sw_joining *j, struct sw_side *sides, size_t n_sides);
/* False: not the message that is due. */
bool sw_joining_hear(struct sw_joining *j, const struct sw_side *side);

/* Of parts in tiles, before what inside connects is known. */
enum { SW_ROUNDS_EARLY = 2 };
/* Between rounds: these two parts (or one) are of one cluster of the rectangle, too, which has a
 * site of this name. So parts can be joined over ranks before it is known what inside connects
 * them. Not with ways. */
void sw_joining_connect(struct sw_joining *j, uint32_t part, uint32_t other, uint64_t name);

/* What rounds have left here: j->rest. False: no memory. */
bool sw_joining_rest(struct sw_joining *j);
/* A step of handing it on: to the ranks k width further, k = 1 .. SW_JOINING_FAN - 1, as far as
 * there are so many, from width 1 on, each time SW_JOINING_FAN times as much. The message; its
 * bytes. sw_rest_expect before each that comes. */
enum { SW_JOINING_FAN = 4 };
size_t sw_joining_hand(struct sw_joining *j, unsigned char *message);
/* False: not the message that is due. */
bool sw_joining_unite(struct sw_joining *j, const unsigned char *message);
/* When all ranks' labels are there: clusters' labels become final. False: no memory. */
bool sw_joining_finish(struct sw_joining *j);

/* Sizes go back the way that labels came. */
void sw_joining_count(struct sw_joining *j, struct sw_side *sides, size_t n_sides);
bool sw_joining_counted(struct sw_joining *j, const struct sw_side *side);
/* After finish and counting: sums of clusters that rounds have not finished go to rest.sums, to be
 * added up over ranks. The others are counted here, by `take`. */
typedef void (*sw_joining_take)(void *user, const struct sw_sum *sum);
void sw_joining_late(struct sw_joining *j, sw_joining_take take, void *user);
/* From the sums over all ranks: those that are this rank's to count. */
void sw_joining_sum(const struct sw_joining *j, sw_joining_take take, void *user);

/* Has this part's cluster another name, or been connected, since the last note? */
void sw_joining_note(struct sw_joining *j);
static inline bool sw_joining_touched(const struct sw_joining *j, size_t part) {
    return j->touched[j->cluster_of[part]];
}

/* The name of a part's cluster. */
static inline uint64_t sw_joining_name(const struct sw_joining *j, size_t part) {
    return j->clusters[j->cluster_of[part]].label;
}

#endif
