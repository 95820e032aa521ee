/* The lowest states that a chain has seen. */
#ifndef ERGO_SAMPLERS_SPIN_LATTICE_GRAPH_LOWEST_H
#define ERGO_SAMPLERS_SPIN_LATTICE_GRAPH_LOWEST_H

#include "samplers/spin_lattice/graph/graph.h"

struct graph_lowest_state {
    double energy; /* by the problem's own couplings */
    uint64_t step;
    uint32_t replica;
    const uint8_t *bits; /* of vertices */
};

struct graph_lowest {
    size_t count, bytes; /* bytes: of a configuration */
    struct graph_lowest_state *states;
    char *state; /* the member's, where the bits are */
    uint64_t hit;
};

/* Of a member, in order of energies, then of bits. */
enum ergo_status graph_lowest_read(struct ergo_context *ctx, struct graph_state *s, size_t member,
                                   struct graph_lowest *low);
/* In order, each configuration once; states[n], returns how many are left. */
size_t graph_lowest_unite(struct graph_lowest_state *states, size_t n, size_t bytes);
void graph_lowest_free(struct graph_lowest *low);

#endif
