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
 *
 * Where a trial would put a particle is known before the first one is made, unless it is a
 * displacement in steps. So all these places are compared with the neighbourhood at once, and most
 * have an overlap there, which ends a trial that has not begun. Also the pairs of each particle in
 * the cell are summed, and kept while others come and go. Then a trial has only to look at the
 * cell's own particles, and a deletion at none.
 */
#include "lj_gcmc/tile.h"

/* Places whose pairs are kept: that of each trial, and then the cell's own particles, so many at
 * most. */
#define LJ_OWN (LJ_TILE / 8u + 8u)
#define LJ_PLACES (LJ_TRIALS + LJ_OWN)

struct lj_kept {
    __local long *energy, *virial; /* energy LJ_NOWHERE: an overlap with the neighbourhood */
    __local uint *contacts;
};
#define LJ_NOWHERE 0x7fffffffffffffffL

ERGO_INLINE void lj_keep(const struct lj_kept *kept, uint i, const struct lj_near *sum) {
    kept->energy[i] = sum->energy;
    kept->virial[i] = sum->virial;
    kept->contacts[i] = sum->contacts;
}

ERGO_INLINE struct lj_near lj_kept_at(const struct lj_kept *kept, uint i) {
    const struct lj_near sum = {kept->energy[i], kept->virial[i], kept->contacts[i], 0u};
    return sum;
}

/* Place i of those that are kept, and what it is compared with: the neighbourhood; or, if it is a
 * particle's, everything but this particle. */
ERGO_INLINE lj_position lj_kept_place(const struct lj_tile *t, __local const uint4 *draws, uint i,
                                      lj_position low, lj_position width, uint *me, uint *end) {
    const uint own = t->env + i - LJ_TRIALS;
    *me = i < LJ_TRIALS ? 0xffffffffu : own;
    *end = i < LJ_TRIALS ? t->env : t->env + t->n;
    return i < LJ_TRIALS ? lj_board_place(draws[2u * i + 1u], low, width) : lj_tile_get(t, own);
}

#ifdef LJ_VECTOR
#define LJ_KEEP_ROOM 1u
#define LJ_COARSE_ROOM 1u
#else
#define LJ_KEEP_ROOM (LJ_WORDS * LJ_AT_ONCE)
#define LJ_COARSE_ROOM LJ_TILE
#endif

/* Sum the pairs of `count` places, which `list` has. near: one bit for each place of the tile;
 * word: its coarse places. */
ERGO_INLINE void lj_keep_all(const struct lj_tile *t, __local const uint4 *draws,
                             __local const uint *list, uint count, lj_position low,
                             lj_position width, const struct lj_member *m, uint item,
                             __local uint *near, __local uint *word, __local uint *order,
                             __local uint *clear, __local struct lj_tile_room *room,
                             const struct lj_kept *kept) {
    uint me, end;
#ifdef LJ_VECTOR
    for (uint k = 0u; k < count; k++) {
        struct lj_near sum = {0, 0, 0u, 0u};
        const lj_position at = lj_kept_place(t, draws, list[k], low, width, &me, &end);
        lj_tile_sum(t, 0u, end, at, me, item, m, &sum);
        sum.energy = sum.overlap && list[k] < LJ_TRIALS ? LJ_NOWHERE : sum.energy;
        lj_keep(kept, list[k], &sum);
    }
#else
    const struct lj_coarse_tile coarse = lj_coarse_tile_of(m, low, width, word);
    for (uint i = item; i < LJ_TILE; i += LJ_GROUP)
        word[i] = i < t->env + t->n ? lj_coarse_in(&coarse, lj_tile_get(t, i), 0.0f) : 0u;
    LJ_BARRIER();
    for (uint base = 0u; base < count; base += LJ_AT_ONCE) {
        const uint here = count - base < LJ_AT_ONCE ? count - base : LJ_AT_ONCE;
        /* as many work-items for each place as there are */
        const uint wide = LJ_GROUP / here, which = item / wide;
        if (item == 0u)
            *clear = 0u;
        if (which < here) {
            const uint i = list[base + which];
            const lj_position at = lj_kept_place(t, draws, i, low, width, &me, &end);
            const uint centre = lj_coarse_in(&coarse, at, -0.5f);
            uint overlap = 0u;
            for (uint q = item % wide; 32u * q < end; q += wide)
                near[q * LJ_AT_ONCE + which] =
                    lj_tile_look(t, &coarse, 32u * q, end, at, centre, me, m, &overlap);
            if (overlap && i < LJ_TRIALS)
                kept->energy[i] = LJ_NOWHERE;
        }
        LJ_BARRIER();
        if (item < here && kept->energy[list[base + item]] != LJ_NOWHERE)
            order[atomic_inc(clear)] = item;
        LJ_BARRIER();
        /* the same with those that have no overlap */
        const uint left = *clear, wider = LJ_GROUP / (left ? left : 1u), one = item / wider;
        struct lj_near sum = {0, 0, 0u, 0u};
        if (one < left) {
            const uint from = order[one];
            const lj_position at =
                lj_kept_place(t, draws, list[base + from], low, width, &me, &end);
            /* one loop over all words, so that work-items do not wait for each other in each */
            uint q = item % wider, rest = 32u * q < end ? near[q * LJ_AT_ONCE + from] : 0u;
            while (32u * q < end) {
                const uint empty = rest == 0u ? 1u : 0u;
                q += empty ? wider : 0u;
                const uint more = 32u * q < end ? 1u : 0u,
                           word_of = near[(more ? q : 0u) * LJ_AT_ONCE + from];
                rest = !empty ? rest : more ? word_of : 0u;
                if (rest != 0u) {
                    lj_tile_pair(t, 32u * q + clz(rest), at, 1, m, &sum);
                    rest &= ~(0x80000000u >> clz(rest));
                }
            }
        }
        lj_tile_share(&sum, room, item);
        LJ_BARRIER();
        if (one < left && item % wider == 0u) {
            sum = lj_tile_total(room, item, item + wider, 1u);
            lj_keep(kept, list[base + order[one]], &sum);
        }
        LJ_BARRIER();
    }
#endif
}

/* Keep the sums of the cell's own particles, when one of them moved, came or went. me: its place in
 * the tile, or none; sum: its new pairs. `last` takes the place of one that goes. Each work-item
 * changes its particles and reads no others. */
ERGO_INLINE void lj_keep_up(const struct lj_tile *t, const struct lj_move *move, lj_position from,
                            uint me, const struct lj_near *sum, const struct lj_member *m,
                            uint item, const struct lj_kept *kept) {
    const uint out = move->kind != (uint)LJ_INSERTION, in = move->kind != (uint)LJ_DELETION;
    for (uint j = item; j < t->n; j += LJ_GROUP) {
        if (t->env + j == me)
            continue;
        struct lj_near now = lj_kept_at(kept, LJ_TRIALS + j);
        if (out)
            lj_tile_pair(t, t->env + j, from, -1, m, &now);
        if (in)
            lj_tile_pair(t, t->env + j, move->to, 1, m, &now);
        lj_keep(kept, LJ_TRIALS + (!in && j == t->n - 1u ? move->index : j), &now);
    }
    if (in && item == 0u)
        lj_keep(kept, LJ_TRIALS + (out ? move->index : t->n), sum);
}

#define LAYER(z) (int)lj_layer((uint)lj_wrap(z, LJ_NZ), LJ_LOW(&m))
/* The t-th cell of an active cell with its neighbourhood. */
#define NEIGHBOUR(t)                                                                               \
    ((LAYER(cz + (int)((t) / LJ_SPAN / LJ_SPAN) - (int)LJ_GAP) * LJ_NY +                           \
      lj_wrap(cy + (int)((t) / LJ_SPAN % LJ_SPAN) - (int)LJ_GAP, LJ_NY)) *                         \
         LJ_NX +                                                                                   \
     lj_wrap(cx + (int)((t) % LJ_SPAN) - (int)LJ_GAP, LJ_NX))
/* Cells of an active cell, and where the u-th is in memory. */
#define LJ_CELLS (LJ_ACTIVE * LJ_ACTIVE * LJ_ACTIVE)
#define CELL_OF(u)                                                                                 \
    ((LAYER(cz + (int)((u) / (LJ_ACTIVE * LJ_ACTIVE))) * LJ_NY +                                   \
      lj_wrap(cy + (int)((u) / LJ_ACTIVE % LJ_ACTIVE), LJ_NY)) *                                   \
         LJ_NX +                                                                                   \
     lj_wrap(cx + (int)((u) % LJ_ACTIVE), LJ_NX))

/* Deletions that would be rejected as things are, and trials with an overlap, change nothing. The
 * first other trial from `from` on; LJ_TRIALS: there is none. next: two words, that of this turn is
 * LJ_TRIALS. Which they are is found for many trials at once, because few are accepted. */
ERGO_INLINE uint lj_next_trial(const struct lj_tile *t, __local const uint4 *draws, uint from,
                               uint trials, float tail, const struct lj_member *m, uint item,
                               uint turn, __local uint *next, const struct lj_kept *kept) {
    for (uint k = from / LJ_GROUP * LJ_GROUP + item; k < trials; k += LJ_GROUP) {
        const uint4 a = draws[2u * k];
        const struct ergo_words wa = {a.x, a.y, a.z, a.w};
        const struct lj_move move = lj_move_of(m, t->n, wa, wa);
        uint may = kept->energy[k] != LJ_NOWHERE && !move.idle ? 1u : 0u;
        if (k >= from && may && move.kind == (uint)LJ_DELETION) {
            const long change = m->ideal ? 0 : -kept->energy[LJ_TRIALS + move.index];
            may =
                lj_decide(m, move.kind, move.word, t->n, ERGO_FMA(-(float)change, m->beta4, -tail));
        }
#if LJ_GROUP == 1
        if (may)
            return k;
    }
    (void)turn;
    (void)next;
    return LJ_TRIALS;
#else
        if (k >= from && may)
            atomic_min(&next[turn & 1u], k);
    }
    LJ_BARRIER();
    const uint found = next[turn & 1u];
    if (item == 0u)
        next[(turn + 1u) & 1u] = LJ_TRIALS;
    return found;
#endif
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
         __global uint *full, ulong target, uint slots, __global const float4 *tables, uint from) {
    __local uint tile_x[LJ_TILE], tile_y[LJ_TILE], tile_z[LJ_TILE];
    __local uint4 draws[2 * LJ_TRIALS];
    __local long energies[LJ_PLACES], virials[LJ_PLACES];
    __local uint contacts_of[LJ_PLACES], list[LJ_PLACES];
    __local uint near[LJ_KEEP_ROOM], coarse[LJ_COARSE_ROOM], order[LJ_GROUP], inside[LJ_CELLS];
    __local struct lj_tile_room room;
    __local uint found, listed, clear, failed, kinds, following[2];
    __local float tail[1]; /* here, because it lasts for all trials and registers are few */
    const struct lj_kept kept = {energies, virials, contacts_of};
    const uint item = (uint)get_local_id(0), block = from + (uint)get_group_id(0);
    const uint chain = (uint)get_group_id(1), n_chains = (uint)get_num_groups(1);
    struct lj_member m = members[chain];
    const struct lj_chain c = chains[chain];
    lj_tables_at(&m, tables);
    __global struct lj_part *part = parts + (ulong)chain * LJ_BLOCKS + block;
    const uint runs =
        c.status == (uint)LJ_RUNNING && c.step < target && part->stamp != c.step + 1UL;
    const uint trials = runs ? (uint)LJ_TRIALS : 0u;

    /* the active cell */
    const struct ergo_words offset = lj_board_offset(&m, c.step, LJ_PERIOD);
    const uint bx = LJ_NX / LJ_PERIOD, by = LJ_NY / LJ_PERIOD;
    const int cx = (int)(block % bx * LJ_PERIOD + offset.x),
              cy = (int)(block / bx % by * LJ_PERIOD + offset.y),
              cz = (int)(block / bx / by * LJ_PERIOD + offset.z);
    __global const uint *bound_y = bounds + LJ_NX, *bound_z = bound_y + LJ_NY;
    const lj_position low = (uint4)(bounds[cx], bound_y[cy], bound_z[cz], 0u);
    const lj_position width = (uint4)(bounds[lj_wrap(cx + (int)LJ_ACTIVE, LJ_NX)],
                                      bound_y[lj_wrap(cy + (int)LJ_ACTIVE, LJ_NY)],
                                      bound_z[lj_wrap(cz + (int)LJ_ACTIVE, LJ_NZ)], 0u) -
                              low;
    __global uint4 *mine = cells + (ulong)chain * LJ_GRID;
    const ulong plane = (ulong)n_chains * LJ_GRID;

    if (item == 0u) {
        found = listed = failed = kinds = 0u;
        following[0] = LJ_TRIALS;
    }
    if (item == 0u)
        tail[0] = m.tail < 0.0f ? lj_board_tail(&m, c.step, c.particles) : 0.0f;
    for (uint t = item; t < 2u * trials; t += LJ_GROUP) {
        const struct ergo_words w = lj_board_words(&m, c.step, block, t / 2u, t % 2u);
        draws[t] = (uint4)(w.x, w.y, w.z, w.w);
    }
    LJ_BARRIER();

    /* the tile's neighbours, in any order, because integer sums do not depend on it */
    struct lj_tile tile = {tile_x, tile_y, tile_z, 0u, 0u};
    const uint look = runs ? LJ_SPAN * LJ_SPAN * LJ_SPAN : 0u;
    int ahead = NEIGHBOUR(item);
    uint4 next = (uint4)(0u);
    if (item < look)
        next = mine[ahead];
    for (uint t = item; t < look; t += LJ_GROUP) {
        const uint x = t % LJ_SPAN - LJ_GAP, y = t / LJ_SPAN % LJ_SPAN - LJ_GAP,
                   z = t / LJ_SPAN / LJ_SPAN - LJ_GAP;
        __global const uint4 *cell = mine + ahead;
        const uint4 first = next;
        const uint count = m.ideal ? 0u : first.w;
        uint4 p = first;
        if (count > 1u)
            p = cell[plane];
        ahead = NEIGHBOUR(t + LJ_GROUP);
        if (t + LJ_GROUP < look) /* asked for before what is here is looked at */
            next = mine[ahead];
        if (x < LJ_ACTIVE && y < LJ_ACTIVE && z < LJ_ACTIVE) {
            inside[(z * LJ_ACTIVE + y) * LJ_ACTIVE + x] = first.w;
            continue;
        }
        for (uint s = 0u; s < count; s++) {
            const uint4 at_hand = s == 0u ? first : p;
            if (s > 0u && s + 1u < count)
                p = cell[(s + 1u) * plane];
            if (lj_tile_needs(at_hand, low, width, &m)) {
                const uint at = atomic_inc(&found);
                if (at < LJ_TILE)
                    lj_tile_put(&tile, at, at_hand);
            }
        }
    }
    LJ_BARRIER();
    tile.env = found;
    /* the cell's own particles, cell by cell, because their order is part of the chain */
    for (uint u = 0u; runs && u < LJ_CELLS; u++)
        tile.n += inside[u];
    for (uint t = item; runs && t < LJ_CELLS * slots; t += LJ_GROUP) {
        const uint u = t % LJ_CELLS, s = t / LJ_CELLS;
        uint at = tile.env + s;
        for (uint v = 0u; v < u; v++)
            at += inside[v];
        if (s < inside[u] && at < LJ_TILE)
            lj_tile_put(&tile, at, mine[CELL_OF(u) + s * plane]);
    }
    uint dead = tile.env + tile.n > LJ_TILE || (!m.ideal && tile.n > LJ_OWN) ? 1u : 0u;
    uint changed = 0u;
    if (dead)
        tile.env = tile.n = 0u;

    /* the pairs of all places */
    const uint most = m.ideal ? LJ_TILE : LJ_OWN;
    for (uint t = item; t < trials; t += LJ_GROUP) {
        const uint kind = lj_kind_of(&m, draws[2u * t].x);
        energies[t] = virials[t] = 0;
        contacts_of[t] = 0u;
        if (kind != (uint)LJ_DELETION)
            atomic_add(&kinds, kind == (uint)LJ_INSERTION ? 0x10000u : 1u);
        if (!m.ideal &&
            (kind == (uint)LJ_INSERTION || (kind == (uint)LJ_DISPLACEMENT && !m.local_moves)))
            list[atomic_inc(&listed)] = t;
    }
    for (uint t = item; t < tile.n && !m.ideal; t += LJ_GROUP) {
        energies[LJ_TRIALS + t] = 0;
        list[atomic_inc(&listed)] = LJ_TRIALS + t;
    }
    LJ_BARRIER();
    lj_keep_all(&tile, draws, list, dead ? 0u : listed, low, width, &m, item, near, coarse, order,
                &clear, &room, &kept);

    uint accepts = 0u, deleted = 0u, turn = 0u;
    const uint before = tile.n, tried = kinds;
    long energy = 0, virial = 0, contacts = 0;
    uint k = lj_next_trial(&tile, draws, 0u, trials, tail[0], &m, item, turn, following, &kept);
    while (k < trials) {
        const uint4 a = draws[2u * k], b = draws[2u * k + 1u];
        const uint kind = lj_kind_of(&m, a.x);
        const struct ergo_words wa = {a.x, a.y, a.z, a.w}, wb = {b.x, b.y, b.z, b.w};
        struct lj_move move = lj_move_of(&m, tile.n, wa, wb);
        const uint out = kind != (uint)LJ_INSERTION, in = kind != (uint)LJ_DELETION;
        const uint steps = kind == (uint)LJ_DISPLACEMENT && m.local_moves ? 1u : 0u;
        const uint me = out && !move.idle ? tile.env + move.index : 0xffffffffu;
        lj_position from = (uint4)(0u);
        if (out && !move.idle && !dead)
            from = lj_tile_get(&tile, me);
        if (steps)
            lj_local_target(&m, from, c.step_size, &move);
        else
            move.to = lj_board_place(move.to, low, width);
        const uint skip = move.idle || dead || (in && !lj_board_inside(move.to, low, width));
        struct lj_near sum = {0, 0, 0u, 0u}, old = {0, 0, 0u, 0u};
        const uint looks = in && !skip && !m.ideal;
        if (out && !skip && !m.ideal)
            old = lj_kept_at(&kept, LJ_TRIALS + move.index);
        if (looks)
            lj_tile_sum(&tile, steps ? 0u : tile.env, tile.env + tile.n, move.to, me, item, &m,
                        &sum);
        if (looks | !LJ_IN_STEP)
            lj_tile_reduce(&sum, &room, item);
        if (looks) {
            sum.energy += energies[k];
            sum.virial += virials[k];
            sum.contacts += contacts_of[k];
        }
        const long change = sum.energy - old.energy;
        const float x = ERGO_FMA(-(float)change, m.beta4, !out ? tail[0] : in ? 0.0f : -tail[0]);
        const uint accepted = !skip && !sum.overlap && lj_decide(&m, kind, move.word, tile.n, x);
        if (accepted && !out && (tile.env + tile.n >= LJ_TILE || tile.n >= most))
            dead = 1u;
        if (accepted && !dead) {
            energy += change;
            virial += sum.virial - old.virial;
            contacts += lj_contacts_of(sum.contacts) - lj_contacts_of(old.contacts);
            changed = 1u;
            accepts += !out ? 0x10000u : in ? 1u : 0u;
            deleted += in ? 0u : 1u;
            const uint last = tile.env + tile.n - 1u;
            if (LJ_IN_STEP) /* else they have passed one in lj_tile_reduce */
                LJ_BARRIER();
            if (!m.ideal)
                lj_keep_up(&tile, &move, from, me, &sum, &m, item, &kept);
            if (item == 0u)
                lj_tile_put(&tile, out ? me : last + 1u, in ? move.to : lj_tile_get(&tile, last));
            tile.n += out ? 0u : 1u;
            tile.n -= in ? 0u : 1u;
        }
        LJ_BARRIER();
        turn++;
        k = lj_next_trial(&tile, draws, k + 1u, trials, tail[0], &m, item, turn, following, &kept);
    }

    /* write back to the cells, if they have room */
    for (uint t = item; changed && !dead && t < LJ_CELLS; t += LJ_GROUP) {
        const uint cell = (uint)CELL_OF(t);
        uint count = 0u;
        ERGO_ROLLED
        for (uint i = 0u; i < tile.n; i++)
            count += lj_cell_in(lj_tile_get(&tile, tile.env + i), LJ_LOW(&m)) == cell ? 1u : 0u;
        if (count > slots)
            atomic_or(&failed, 1u);
    }
    LJ_BARRIER_ALL(); /* all work-items have read the cells and the stamp */
    const uint lost = failed;
    for (uint t = item; changed && !dead && !lost && t < LJ_CELLS; t += LJ_GROUP) {
        const uint cell = (uint)CELL_OF(t);
        uint count = 0u;
        ERGO_ROLLED
        for (uint i = 0u; i < tile.n; i++) {
            const lj_position p = lj_tile_get(&tile, tile.env + i);
            if (lj_cell_in(p, LJ_LOW(&m)) == cell)
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
