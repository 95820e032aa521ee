/*
 * One large system on the whole device. The box is a checkerboard of active cells, which are at
 * least a cutoff apart. Everything else stands still during an activation, so what happens in one
 * active cell does not matter to another. The places of the active cells, and the number and kinds
 * of their trials, do not depend on the configuration. So every activation, and any sequence of
 * them, leaves the grand canonical distribution unchanged.
 *
 * A trial in an active cell with n_c particles and volume V_c is an insertion at a uniform place in
 * the cell, a deletion of a uniform member, or a displacement within the cell. It is accepted as
 * core.h says, with n_c and zV_c in place of N and zV. A displacement that leaves the cell is
 * rejected, and so is a deletion from an empty cell. The tail's energy, which goes with N^2, is
 * made one of each particle for the time of an activation: lj_board_tail.
 */
#include "lj_gcmc/tile.h"

/* The i-th cell of the active one that begins at x, y, z. */
ERGO_INLINE uint lj_active_cell(const struct lj_shape *g, int x, int y, int z, uint i, uint low) {
    return lj_cell_around(g, x + (int)(i % LJ_ACTIVE), y + (int)(i / LJ_ACTIVE % LJ_ACTIVE),
                          z + (int)(i / (LJ_ACTIVE * LJ_ACTIVE)), low);
}

/*
 * LJ_TRIALS trials in every active cell, for chains that have not reached step `target`. Dimension
 * 0: blocks, beginning with `from`; dimension 1: chains. parts: the changes that a block made,
 * stamped with the step. If some block lacks room (*full), the activation is launched again, and by
 * the stamp the blocks that have finished do nothing. bounds: first positions of the cells along x,
 * then y, then z.
 */
__kernel __attribute__((reqd_work_group_size(LJ_GROUP, 1, 1))) void
lj_board(__global const struct lj_member *members, __global const struct lj_chain *chains,
         __global uint4 *cells, __global const uint *bounds, __global struct lj_part *parts,
         __global uint *full, ulong target, uint slots, __global const float4 *tables, uint from,
         struct lj_shape shape) {
    __local uint tile_x[LJ_TILE], tile_y[LJ_TILE], tile_z[LJ_TILE];
    __local uint4 draws[2 * LJ_TRIALS];
    __local long all[LJ_GROUP], firsts[8];
    __local uint overlaps[2], found[2], failed;
    __local float tail[1]; /* here, because it lasts for all trials and registers are few */
    const uint item = (uint)get_local_id(0), block = from + (uint)get_group_id(0);
    const uint chain = (uint)get_group_id(1), n_chains = (uint)get_num_groups(1);
    struct lj_member m = members[chain];
    const struct lj_chain c = chains[chain];
    lj_tables_at(&m, tables);
    __global struct lj_part *part = parts + (ulong)chain * shape.active + block;
    const uint runs =
        c.status == (uint)LJ_RUNNING && c.step < target && part->stamp != c.step + 1UL;
    const uint trials = runs ? (uint)LJ_TRIALS : 0u;

    /* the active cell */
    const struct ergo_words offset = lj_board_offset(&m, c.step, shape.period);
    const uint bx = shape.blocks[0], by = shape.blocks[1];
    const int cx = (int)(block % bx * shape.period + offset.x),
              cy = (int)(block / bx % by * shape.period + offset.y),
              cz = (int)(block / bx / by * shape.period + offset.z);
    __global const uint *bound_y = bounds + shape.n[0], *bound_z = bound_y + shape.n[1];
    const lj_position low = (uint4)(bounds[cx], bound_y[cy], bound_z[cz], 0u);
    const lj_position width = (uint4)(bounds[lj_wrap(cx + (int)LJ_ACTIVE, (int)shape.n[0])],
                                      bound_y[lj_wrap(cy + (int)LJ_ACTIVE, (int)shape.n[1])],
                                      bound_z[lj_wrap(cz + (int)LJ_ACTIVE, (int)shape.n[2])], 0u) -
                              low;
    __global uint4 *mine = cells + (ulong)chain * shape.cells;
    const ulong plane = (ulong)n_chains * shape.cells;

    if (item == 0u)
        overlaps[0] = overlaps[1] = found[0] = found[1] = failed = 0u;
    if (item == 0u)
        tail[0] = m.tail < 0.0f ? lj_board_tail(&m, c.step, c.particles) : 0.0f;
    for (uint t = item; t < 2u * trials; t += LJ_GROUP) {
        const struct ergo_words w = lj_board_words(&m, c.step, block, t / 2u, t % 2u);
        draws[t] = (uint4)(w.x, w.y, w.z, w.w);
    }
    LJ_BARRIER();

    /* the tile's neighbours, in any order, because integer sums do not depend on it */
    struct lj_tile tile = {tile_x, tile_y, tile_z, 0u, 0u};
    const uint gap = shape.period - LJ_ACTIVE, span = LJ_ACTIVE + 2u * gap;
    const uint look = runs && !m.ideal ? span * span * span : 0u;
    for (uint t = item; t < look; t += LJ_GROUP) {
        const uint row = mul_hi(t, shape.by_span), z = mul_hi(row, shape.by_span);
        const uint x = t - row * span, y = row - z * span;
        if (x - gap < LJ_ACTIVE && y - gap < LJ_ACTIVE && z - gap < LJ_ACTIVE)
            continue;
        __global const uint4 *cell =
            mine + lj_cell_around(&shape, cx + (int)(x - gap), cy + (int)(y - gap),
                                  cz + (int)(z - gap), LJ_LOW(&m));
        uint4 p = cell[0];
        const uint count = p.w;
        for (uint s = 0u; s < count; s++) {
            if (s > 0u)
                p = cell[s * plane];
            if (lj_tile_needs(p, low, width, &m)) {
                const uint at = atomic_inc(&found[0]);
                if (at < LJ_TILE)
                    lj_tile_put(&tile, at, p);
            }
        }
    }
    LJ_BARRIER();
    tile.env = found[0];
    /* the cell's own particles, cell by cell, because their order is part of the chain */
    for (uint t = item; runs && t < LJ_ACTIVE * LJ_ACTIVE * LJ_ACTIVE; t += LJ_GROUP) {
        uint at = tile.env;
        for (uint u = 0u; u <= t; u++) {
            __global const uint4 *cell = mine + lj_active_cell(&shape, cx, cy, cz, u, LJ_LOW(&m));
            const uint count = cell[0].w;
            for (uint s = 0u; u == t && s < count && at + s < LJ_TILE; s++)
                lj_tile_put(&tile, at + s, cell[s * plane]);
            if (u == t)
                atomic_add(&found[1], count);
            at += count;
        }
    }
    LJ_BARRIER();
    tile.n = found[1];
    uint dead = tile.env + tile.n > LJ_TILE ? 1u : 0u, changed = 0u;
    if (dead)
        tile.env = tile.n = 0u;

    uint tried = 0u, accepts = 0u, deleted = 0u;
    const uint before = tile.n;
    long energy = 0, virial = 0, contacts = 0; /* virial and contacts: this work-item's share */
    for (uint k = 0u; k < trials; k++) {
        const uint4 a = draws[2u * k], b = draws[2u * k + 1u];
        const struct ergo_words wa = {a.x, a.y, a.z, a.w}, wb = {b.x, b.y, b.z, b.w};
        struct lj_move move = lj_move_of(&m, tile.n, wa, wb);
        const uint out = move.kind != (uint)LJ_INSERTION, in = move.kind != (uint)LJ_DELETION;
        const uint me = out && !move.idle ? tile.env + move.index : 0xffffffffu;
        lj_position from = (uint4)(0u);
        if (out && !move.idle && !dead)
            from = lj_tile_get(&tile, me);
        if (move.kind == (uint)LJ_DISPLACEMENT && m.local_moves)
            lj_local_target(&m, from, c.step_size, &move);
        else
            move.to = lj_board_place(move.to, low, width);
        const uint skip = move.idle || dead || (in && !lj_board_inside(move.to, low, width));
        struct lj_sum sum = {0, 0, 0, 0u};
#ifdef LJ_VECTOR
        if (!skip && !m.ideal) {
            if (out) {
                lj_tile_sum(&tile, from, me, &m, &sum);
                sum.energy = -sum.energy;
                sum.virial = -sum.virial;
                sum.contacts = -sum.contacts;
            }
            if (in)
                lj_tile_sum(&tile, move.to, me, &m, &sum);
        }
        const uint overlap = sum.overlap;
#else
        struct lj_seen seen;
        if (!skip && !m.ideal && in && lj_tile_look(&tile, move.to, me, item, &m, &seen))
            atomic_or(&overlaps[k & 1u], 1u);
        LJ_BARRIER();
        const uint overlap = overlaps[k & 1u];
        if (!skip && !m.ideal && !overlap) {
            if (in)
                lj_tile_pairs(&tile, move.to, 1u, item, &m, &seen, &sum);
            if (out) {
                lj_tile_look(&tile, from, me, item, &m, &seen);
                lj_tile_pairs(&tile, from, 0u, item, &m, &seen, &sum);
            }
        }
        if (item == 0u)
            overlaps[(k + 1u) & 1u] = 0u;
#endif
        const long change = lj_tile_reduce(sum.energy, all, firsts, item);
        const float x = ERGO_FMA(-(float)change, m.beta4, !out ? tail[0] : in ? 0.0f : -tail[0]);
        const uint accepted = !skip && !overlap && lj_decide(&m, move.kind, move.word, tile.n, x);
        if (accepted && !out && tile.env + tile.n >= LJ_TILE)
            dead = 1u;
        tried += !out ? 0x10000u : in ? 1u : 0u;
        if (accepted && !dead) {
            energy += change;
            virial += sum.virial;
            contacts += sum.contacts;
            changed = 1u;
            accepts += !out ? 0x10000u : in ? 1u : 0u;
            deleted += in ? 0u : 1u;
            const uint last = tile.env + tile.n - 1u;
            if (item == 0u)
                lj_tile_put(&tile, out ? me : last + 1u, in ? move.to : lj_tile_get(&tile, last));
            tile.n += out ? 0u : 1u;
            tile.n -= in ? 0u : 1u;
        }
        LJ_BARRIER();
    }

    /* write back to the cells, if they have room */
    virial = lj_tile_reduce(virial, all, firsts, item);
    LJ_BARRIER();
    contacts = lj_tile_reduce(contacts, all, firsts, item);
    for (uint t = item; changed && !dead && t < LJ_ACTIVE * LJ_ACTIVE * LJ_ACTIVE; t += LJ_GROUP) {
        const uint cell = lj_active_cell(&shape, cx, cy, cz, t, LJ_LOW(&m));
        uint count = 0u;
        for (uint i = 0u; i < tile.n; i++)
            count +=
                lj_cell_in(&shape, lj_tile_get(&tile, tile.env + i), LJ_LOW(&m)) == cell ? 1u : 0u;
        if (count > slots)
            atomic_or(&failed, 1u);
    }
    LJ_BARRIER_ALL(); /* all work-items have read the cells and the stamp */
    const uint lost = failed;
    for (uint t = item; changed && !dead && !lost && t < LJ_ACTIVE * LJ_ACTIVE * LJ_ACTIVE;
         t += LJ_GROUP) {
        const uint cell = lj_active_cell(&shape, cx, cy, cz, t, LJ_LOW(&m));
        uint count = 0u;
        for (uint i = 0u; i < tile.n; i++) {
            const lj_position p = lj_tile_get(&tile, tile.env + i);
            if (lj_cell_in(&shape, p, LJ_LOW(&m)) == cell)
                mine[cell + plane * count++] = (uint4)(p.x, p.y, p.z, 0u);
        }
        mine[cell].w = count;
    }
    if (item == 0u && runs) {
        if (dead || lost) {
            atomic_or(&full[chain], dead ? 2u : 1u);
        } else {
            struct lj_part p;
            p.stamp = c.step + 1UL;
            p.energy = energy;
            p.virial = virial;
            p.contacts = contacts;
            p.particles = (int)(tile.n - before);
            p.tried = tried;
            p.accepted = accepts;
            p.accepted_deletion = deleted;
            *part = p;
        }
    }
}
