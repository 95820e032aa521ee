/* What carries bytes between ranks, for dist.c and message.c: mpi.c has one, none.c, which stands
 * for it in a build without MPI, has none. */
#ifndef ERGO_DIST_WIRE_H
#define ERGO_DIST_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Messages under way. Zero-initialise; free(requests) when none is. */
struct ergo_wire_posts {
    size_t count, room;
    void *requests;
};

enum ergo_wire_sum { ERGO_WIRE_SUM, ERGO_WIRE_MAX, ERGO_WIRE_OR };

/*
 * All but `name` between a successful start and the end. Collective unless it says otherwise.
 * Lengths are in bytes; messages and `share` take any length, the others fewer than 2^31.
 */
struct ergo_wire {
    /* Of the library that is loaded: "Open MPI v4.1.4". Cut at `size`. */
    void (*name)(char *text, size_t size);
    bool (*start)(int *rank, int *count, int *node_rank, int *node_count);
    /* A word that the ranks of a host share, 0 at first. NULL: they have none. Not collective. */
    _Atomic int *(*word)(void);
    void (*end)(void);
    void (*abort)(int exit_code); /* ends all ranks; one calls it */

    void (*barrier)(void);
    void (*share)(void *data, size_t bytes);                            /* rank 0's, to all */
    void (*reduce)(enum ergo_wire_sum sum, uint64_t *values, size_t n); /* in place */
    void (*reduce_real)(enum ergo_wire_sum sum, double *value);         /* not OR */
    void (*collect)(bool of_node, const void *mine, size_t bytes,
                    void *all); /* in order of ranks */

    /* One rank to another, who receives in pieces of the same lengths. `arrived` does not wait. */
    bool (*arrived)(int from, int tag);
    void (*send)(int to, int tag, const void *data, size_t bytes);
    void (*receive)(int from, int tag, void *data, size_t bytes);

    /* The same, begun only. False: no memory. */
    bool (*post_send)(struct ergo_wire_posts *p, int to, int tag, const void *data, size_t bytes);
    bool (*post_receive)(struct ergo_wire_posts *p, int from, int tag, void *data, size_t bytes);
    bool (*post_barrier)(struct ergo_wire_posts *p);
    /* lengths[r] items of `bytes` of rank r, to place firsts[r] of `all` */
    bool (*post_collect)(struct ergo_wire_posts *p, const void *mine, int n, void *all,
                         size_t bytes, const int *lengths, const int *firsts);
    bool (*done)(struct ergo_wire_posts *p); /* all of them; does not wait */

    /* Empty messages without a receiver who waits. `heard`: has one of this tag come? */
    void (*tell)(int to, int tag);
    bool (*heard)(int tag);
};
extern const struct ergo_wire *const ergo_mpi; /* NULL: built without */
/* While ranks are started; NULL: there is one, without MPI. */
const struct ergo_wire *ergo_dist_wire(void);

#endif
