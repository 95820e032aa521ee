/*
 * A checkerboard that is cut over ranks: each has a slab of whole blocks along z, and the active
 * cells of these, with a block of its neighbours before and behind it, or as many as g(r) reaches.
 * An active cell may reach over the end of its block into the first layer behind it. After an
 * activation ranks tell each other the cells that are active in their first and last blocks; in
 * all others the halos are as they were.
 */
#include "lj_gcmc/board_sums.h"

/* Cells that are active in a layer of blocks; along each axis two a block. */
#define LJ_EDGE (LJ_ACTIVE * LJ_ACTIVE * LJ_ACTIVE * shape.blocks[0] * shape.blocks[1])

/* Where the i-th active cell of this layer of blocks is in memory; with y and z of an index one
 * work-item beside the other reads along x. */
ERGO_INLINE uint lj_active(const struct lj_member *m, const struct lj_shape *g, ulong step,
                           uint layer, uint i) {
    const uint wide = LJ_ACTIVE * g->blocks[0], deep = LJ_ACTIVE * g->blocks[1];
    const struct ergo_words o = lj_board_offset(m, step, g->period);
    const uint x = i % wide, y = i / wide % deep, z = i / wide / deep;
    return lj_cell_around(g, (int)(x / LJ_ACTIVE * g->period + o.x + x % LJ_ACTIVE),
                          (int)(y / LJ_ACTIVE * g->period + o.y + y % LJ_ACTIVE),
                          (int)(layer * g->period + o.z + z), LJ_LOW(m));
}

/* Of the first and the last `deep` layers of blocks of a slab the active cells' planes from `plane`
 * on, `planes` of them: [edge][chain][plane][layer][cell]. first, count: in layers of blocks. */
__kernel void lj_cut_pack(__global const struct lj_member *members,
                          __global const struct lj_chain *chains, __global const uint4 *cells,
                          __global uint4 *out, uint first, uint count, uint deep, uint plane,
                          uint planes, uint slots, struct lj_shape shape) {
    const uint chain = (uint)get_global_id(1), n_chains = (uint)get_global_size(1);
    const ulong i = get_global_id(0), each = (ulong)LJ_EDGE * deep, edge = each * planes;
    const uint which = i < edge ? 0u : 1u;
    const ulong at = i - which * edge;
    const uint p = plane + (uint)(at / each), layer = (uint)(at % each / LJ_EDGE);
    if (i >= 2UL * edge || p >= slots)
        return;
    const struct lj_member m = members[chain];
    const uint cell =
        lj_active(&m, &shape, chains[chain].step,
                  which ? first + count - deep + layer : first + layer, (uint)(at % LJ_EDGE));
    out[((ulong)which * n_chains + chain) * edge + at] =
        cells[((ulong)p * n_chains + chain) * shape.cells + cell];
}

/* The reverse, of the blocks before and behind the slab; `last` layers of cells are in use. */
__kernel void lj_cut_unpack(__global const struct lj_member *members,
                            __global const struct lj_chain *chains, __global uint4 *cells,
                            __global const uint4 *in, uint first, uint count, uint deep, uint plane,
                            uint planes, uint slots, uint last, struct lj_shape shape) {
    const uint chain = (uint)get_global_id(1), n_chains = (uint)get_global_size(1);
    const ulong i = get_global_id(0), each = (ulong)LJ_EDGE * deep, edge = each * planes;
    const uint which = i < edge ? 0u : 1u;
    const ulong at = i - which * edge;
    const uint p = plane + (uint)(at / each), layer = (uint)(at % each / LJ_EDGE);
    const uint begin = first + shape.blocks[2] - deep; /* of those before */
    const uint block = (which ? first + count + layer : begin + layer) % shape.blocks[2];
    const uint twice = (block + shape.blocks[2] - begin % shape.blocks[2]) % shape.blocks[2] < deep;
    if (i >= 2UL * edge || p >= slots || (which && twice))
        return;
    const struct lj_member m = members[chain];
    const uint cell = lj_active(&m, &shape, chains[chain].step, block, (uint)(at % LJ_EDGE));
    if (cell / (shape.n[0] * shape.n[1]) < last)
        cells[((ulong)p * n_chains + chain) * shape.cells + cell] =
            in[((ulong)which * n_chains + chain) * edge + at];
}

/* Sums of shares of a slab's active cells, `from` to `to` - 1. Dimension 0: shares; dimension 1:
 * chains. */
__kernel __attribute__((reqd_work_group_size(LJ_SUM_GROUP, 1, 1))) void
lj_cut_sum(__global const struct lj_chain *chains, __global const struct lj_part *parts,
           __global const uint *full, __global struct lj_turn *turns, ulong target, uint from,
           uint to, struct lj_shape shape) {
    __local struct lj_board_room room;
    lj_board_share(chains, parts, full, turns, target, from, to, shape.active, &room);
}

/* One work-item per chain: the end of an activation whose changes ranks have added up. */
__kernel void lj_cut_join(__global const struct lj_member *members,
                          __global struct lj_chain *chains, __global const struct lj_turn *turns,
                          __global struct lj_sample *samples, ulong start, ulong target,
                          ulong every, uint count) {
    const uint chain = (uint)get_global_id(0), n_chains = (uint)get_global_size(0);
    struct lj_chain c = chains[chain];
    const struct lj_turn turn = turns[chain];
    if (c.step >= target)
        return;
    lj_board_next(&c, &turn, members[chain].tune_until);
    if (count && c.step > start && (c.step - start) % every == 0UL)
        samples[((c.step - start) / every - 1UL) * n_chains + chain] = lj_sample_of(&c);
    chains[chain] = c;
}

/* Lists the particles of a slab, cell by cell: `count` layers, the first of which is number `halo`
 * in memory. listed: the chains with these particles. One work-group per chain. */
__kernel __attribute__((reqd_work_group_size(LJ_END_GROUP, 1, 1))) void
lj_cut_list(__global const struct lj_chain *chains, __global const uint4 *cells,
            __global uint4 *particles, __global struct lj_chain *listed, uint capacity, uint halo,
            uint count, struct lj_shape shape) {
    __local uint counts[LJ_END_GROUP];
    const uint item = (uint)get_local_id(0), chain = (uint)get_group_id(0);
    const uint layer = shape.n[0] * shape.n[1], own = count * layer;
    __global const uint4 *mine = cells + (ulong)chain * shape.cells;
    const ulong plane = (ulong)get_num_groups(0) * shape.cells;
    const uint share = (own + LJ_END_GROUP - 1u) / LJ_END_GROUP;
    const uint first = item * share < own ? item * share : own;
    const uint last = first + share < own ? first + share : own;
    uint inside = 0u, at = 0u;
    for (uint i = first; i < last; i++)
        inside += mine[(halo + i / layer) % shape.n[2] * layer + i % layer].w;
    counts[item] = inside;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = 0u; i < item; i++)
        at += counts[i];
    if (item == LJ_END_GROUP - 1u) {
        struct lj_chain c = chains[chain];
        c.particles = at + inside;
        listed[chain] = c;
    }
    for (uint i = first; i < last; i++) {
        const uint cell = (halo + i / layer) % shape.n[2] * layer + i % layer;
        const uint n = mine[cell].w;
        for (uint s = 0u; s < n && at < capacity; s++, at++)
            particles[(ulong)chain * capacity + at] = mine[cell + s * plane];
    }
}
