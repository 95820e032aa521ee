/* Ranks that join their clusters (samplers/swendsen_wang/joining.h), all in one process: messages
 * are copies. Counts what they would send. */
#ifndef ORACLE_JOINED_H
#define ORACLE_JOINED_H

#include "samplers/swendsen_wang/joining.h"

struct joined_rank {
    struct sw_parts parts;
    struct sw_joining joining;
    /* what inside connects, known after `early` rounds: parts of a group, below n_groups, and the
     * group's name; NULL: nothing */
    const uint32_t *groups;
    size_t n_groups;
    const uint64_t *group_names;
    uint64_t *noted;          /* [n_parts]: names before that; NULL: not asked for */
    int *far_rank, *far_side; /* [n_sides]: who is across, and which of their sides that is */
    uint64_t messages, bytes; /* told to neighbours */
    uint64_t hands, handed;   /* messages and bytes of labels that rounds have left, to others */
    uint64_t early_bytes;     /* of bytes: in early rounds */
    double early;             /* of this rank's own work in early rounds */
    double seconds, finish; /* of this rank's own work until labels are handed on, and with them */
};

struct joined {
    int ranks;
    uint32_t early;
    struct joined_rank *rank;
    /* the message of this round (from 1 on; beyond `rounds`: of sizes; beyond twice as many: handed
     * on, by the side-th partner) from this rank over this side is lost; 0: none */
    uint32_t lost_round;
    int lost_rank, lost_side;
    /* ---- what came of it ---- */
    uint64_t rest, late; /* labels that all get, clusters that these are of */
    uint32_t steps;      /* until all have them */
};

/* Joins. take: of the sizes of clusters. False: a message was not the one that was due. */
bool joined_run(struct joined *all, uint32_t rounds, sw_joining_take take, void *user);

#endif
