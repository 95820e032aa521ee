/*
 * Chains of a batch of graphs, and where their spins are.
 *
 * Compile-time: GRAPH_CHAINS, of all members; GRAPH_RUNGS, temperatures of a member's ladder;
 * GRAPH_COPIES, chains of a member at each temperature; GRAPH_INDEX (uint, or ulong where there are
 * 2^32 spins). places[chain]: with a ladder, the number of the column that has the configuration of
 * a chain, among its member's; elsewhere a chain's column is its own.
 */
#ifndef ERGO_CL_SPIN_LATTICE_GRAPH_CHAINS_H
#define ERGO_CL_SPIN_LATTICE_GRAPH_CHAINS_H

#define GRAPH_WIDTH (GRAPH_RUNGS * GRAPH_COPIES)
#define GRAPH_MEMBERS (GRAPH_CHAINS / GRAPH_WIDTH)
#define GRAPH_ROW(chain) ((chain) / GRAPH_COPIES) /* of struct graph_member */
#define GRAPH_OWN(chain) ((chain) % GRAPH_WIDTH)  /* its number in its member */
#define GRAPH_AT(slot, column) ((GRAPH_INDEX)(slot)*GRAPH_CHAINS + (column))

#define GRAPH_COLUMN(chain) (GRAPH_RUNGS > 1 ? (chain)-GRAPH_OWN(chain) + places[chain] : (chain))

/* Of a configuration that is kept, of number `row` of a member's. */
#define GRAPH_KEPT_ROW(kept)                                                                       \
    ((kept) + (ulong)(row < GRAPH_WIDTH ? 0 : row - GRAPH_WIDTH) * slots * GRAPH_MEMBERS)

ERGO_INLINE long graph_long(__global const uint *words) {
    return (long)((ulong)words[1] << 32 | words[0]);
}

#endif
