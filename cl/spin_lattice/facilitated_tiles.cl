/*
 * Facilitated dynamics with one word-lattice on many work-groups. It works in segments of attempts
 * (a sweep of a lattice of 512 x 512), and the result is that of the attempts' order.
 *
 * A work-group has a tile with a halo, in which it repeats the work of its neighbours.
 * facilitated_bin sorts the attempts of a segment into the tiles that need them. An attempt is
 * carried out as soon as no earlier one waits at its own site or its four neighbours. Attempts at
 * the outermost sites of the halo are never carried out, because the spins that they would read are
 * not here. Attempts that depend on these, directly or not, wait for ever too.
 *
 * From the edge such waiting spreads by one site per attempt in the right order. It spreads over k
 * sites in s sweeps with a probability of about s^k / k!. The host makes the halo so wide that an
 * attempt of the tile itself hardly ever waits at the end. If one does, or if a tile has more
 * attempts than room, the word-lattice is flagged. The segment is then repeated in windows
 * (facilitated_window with FAC_REDO) from the spins before it, which are still there.
 *
 * Compile-time: FAC_NX x FAC_NY tiles, where tile t along x begins at t FAC_LX / FAC_NX; FAC_HALO;
 * FAC_WIDE x FAC_HIGH, room for the largest tile with its halo; FAC_ROOM, entries of a tile, a
 * multiple of FAC_GROUP. Distances are counted in steps from neighbour to neighbour.
 */
#include "spin_lattice/facilitated.h"

#define FAC_TILES ((FAC_NX) * (FAC_NY))
#define FAC_FREE 0xffffffffu

ERGO_INLINE uint fac_edge_x(uint t) {
    return t * FAC_LX / FAC_NX;
}

ERGO_INLINE uint fac_edge_y(uint t) {
    return t * FAC_LY / FAC_NY;
}

/* Dimension 0: attempt; 1: word-lattice, of all members. counts must be zero at the start. */
__kernel void facilitated_bin(__global uint *bins, __global uint *counts,
                              __global const struct fac_member *members, ulong sweep, uint attempt,
                              uint count, uint words) {
    const uint offset = (uint)get_global_id(0);
    const ulong lattice = get_global_id(1);
    const uint index = (uint)lattice / words, word = (uint)lattice - index * words;
    if (offset >= count)
        return;
    const struct fac_member m = members[index];
    uint i = attempt + offset; /* below 2^30 + FAC_SEGMENT_MAX */
    while (i >= FAC_SITES) {
        i -= FAC_SITES;
        sweep++;
    }
    const struct fac_attempt a = fac_attempt(i, sweep, word, &m);
    const uint y = a.site / FAC_LX, x = a.site - y * FAC_LX;
    const uint tx = ((x + 1) * FAC_NX - 1) / FAC_LX, ty = ((y + 1) * FAC_NY - 1) / FAC_LY;
    /* for the tile before, its own, and the one after: which tile, how far outside of it, and the
     * place in it */
    const uint x0 = fac_edge_x(tx), x1 = fac_edge_x(tx + 1);
    const uint y0 = fac_edge_y(ty), y1 = fac_edge_y(ty + 1);
    const uint left = tx == 0 ? FAC_NX - 1 : tx - 1, up = ty == 0 ? FAC_NY - 1 : ty - 1;
    const uint tile_x[3] = {left, tx, tx + 1 == FAC_NX ? 0 : tx + 1};
    const uint tile_y[3] = {up, ty, ty + 1 == FAC_NY ? 0 : ty + 1};
    const uint away_x[3] = {x - x0 + 1, 0, x1 - x}, away_y[3] = {y - y0 + 1, 0, y1 - y};
    const uint at_x[3] = {FAC_HALO + fac_edge_x(left + 1) - fac_edge_x(left) + x - x0,
                          FAC_HALO + x - x0, FAC_HALO - (x1 - x)};
    const uint at_y[3] = {FAC_HALO + fac_edge_y(up + 1) - fac_edge_y(up) + y - y0,
                          FAC_HALO + y - y0, FAC_HALO - (y1 - y)};
    for (int v = 0; v < 3; v++)
        for (int u = 0; u < 3; u++) {
            if (away_x[u] + away_y[v] > FAC_HALO)
                continue;
            const ulong tile = lattice * FAC_TILES + tile_x[u] + FAC_NX * tile_y[v];
            const uint n = atomic_inc(&counts[tile * FAC_COUNTER_STRIDE]);
            if (n < FAC_ROOM)
                bins[tile * FAC_ROOM + n] =
                    offset << FAC_PLACE_BITS | (at_x[u] + FAC_WIDE * at_y[v]);
        }
}

/*
 * A tile's part of a segment. Dimension 0: tile; 1: word-lattice. spins, first: FAC_WIDE FAC_HIGH;
 * list: FAC_ROOM, of which each work-item has every FAC_GROUP-th entry for its own attempts.
 * first[place]: the earliest attempt that still waits there.
 */
__attribute__((reqd_work_group_size(FAC_GROUP, 1, 1))) __kernel void facilitated_tiles(
    __global const uint *from_spins, __global uint *to_spins, __global const uint *from_flipped,
    __global uint *to_flipped, __global const uint *bins, __global uint *counts,
    __global uint *flags, __global const struct fac_member *members, ulong sweep, uint attempt,
    uint words, __local uint *spins, __local uint *first, __local uint *list, __local uint *moved) {
    const uint item = (uint)get_local_id(0), tile = (uint)get_group_id(0);
    const ulong lattice = get_global_id(1);
    const uint index = (uint)lattice / words, word = (uint)lattice - index * words;
    const ulong base = lattice * FAC_SITES, bin = lattice * FAC_TILES + tile;
    const struct fac_member m = members[index];
    const uint ty = tile / FAC_NX, tx = tile - ty * FAC_NX;
    const uint x0 = fac_edge_x(tx), wide = fac_edge_x(tx + 1) - x0;
    const uint y0 = fac_edge_y(ty), high = fac_edge_y(ty + 1) - y0;
    const uint found = counts[bin * FAC_COUNTER_STRIDE];
    const uint n = found < FAC_ROOM ? found : FAC_ROOM;

    for (uint p = item; p < FAC_WIDE * FAC_HIGH; p += FAC_GROUP) {
        const uint py = p / FAC_WIDE, px = p - py * FAC_WIDE;
        if (px < wide + 2 * FAC_HALO && py < high + 2 * FAC_HALO) {
            uint x = x0 + FAC_LX - FAC_HALO + px, y = y0 + FAC_LY - FAC_HALO + py;
            x = x >= 2 * FAC_LX ? x - 2 * FAC_LX : x >= FAC_LX ? x - FAC_LX : x;
            y = y >= 2 * FAC_LY ? y - 2 * FAC_LY : y >= FAC_LY ? y - FAC_LY : y;
            const ulong site = base + x + FAC_LX * y;
            spins[p] = from_spins[site];
            if (px - FAC_HALO < wide && py - FAC_HALO < high)
                to_flipped[site] = from_flipped[site];
        }
        first[p] = FAC_FREE;
    }
    if (item == 0) {
        moved[0] = 0;
        moved[1] = 0;
    }
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    if (item == 0)
        counts[bin * FAC_COUNTER_STRIDE] = 0;
    uint mine = 0;
    for (uint e = item; e < n; e += FAC_GROUP) {
        const uint entry = bins[bin * FAC_ROOM + e], place = entry % (1u << FAC_PLACE_BITS);
        const uint py = place / FAC_WIDE, px = place - py * FAC_WIDE;
        const uint away_x = px < FAC_HALO          ? FAC_HALO - px
                            : px - FAC_HALO < wide ? 0
                                                   : px - FAC_HALO - wide + 1;
        const uint away_y = py < FAC_HALO          ? FAC_HALO - py
                            : py - FAC_HALO < high ? 0
                                                   : py - FAC_HALO - high + 1;
        atomic_min(&first[place], entry);
        if (away_x + away_y < FAC_HALO) {
            list[item + FAC_GROUP * mine] = entry;
            mine++;
        }
    }
    uint round = 0, more;
    do {
        barrier(CLK_LOCAL_MEM_FENCE);
        /* attempts that can go now move to the end of the work-item's list; those that wait stay at
         * its beginning */
        uint waiting = 0, going = mine;
        while (waiting < going) {
            const uint entry = list[item + FAC_GROUP * waiting];
            const uint place = entry % (1u << FAC_PLACE_BITS);
            if (first[place] == entry && first[place - FAC_WIDE] > entry &&
                first[place + 1] > entry && first[place + FAC_WIDE] > entry &&
                first[place - 1] > entry) {
                going--;
                list[item + FAC_GROUP * waiting] = list[item + FAC_GROUP * going];
                list[item + FAC_GROUP * going] = entry;
            } else {
                waiting++;
            }
        }
        if (item == 0)
            moved[(round + 1) & 1] = 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint e = going; e < mine; e++) {
            const uint entry = list[item + FAC_GROUP * e];
            const uint place = entry % (1u << FAC_PLACE_BITS);
            const uint py = place / FAC_WIDE, px = place - py * FAC_WIDE;
            uint i = attempt + (entry >> FAC_PLACE_BITS);
            ulong t = sweep;
            while (i >= FAC_SITES) {
                i -= FAC_SITES;
                t++;
            }
            const struct fac_attempt a = fac_attempt(i, t, word, &m);
            const uint up = spins[place];
            const uint flip =
                fac_decide(up, spins[place - FAC_WIDE], spins[place + 1], spins[place + FAC_WIDE],
                           spins[place - 1], a.random, i, t, word, &m);
            spins[place] = up ^ flip;
            first[place] = FAC_FREE;
            if (flip && px - FAC_HALO < wide && py - FAC_HALO < high)
                atomic_or(&to_flipped[base + a.site], flip);
        }
        if (going < mine)
            atomic_or(&moved[round & 1], 1u);
        mine = going;
        barrier(CLK_LOCAL_MEM_FENCE);
        more = moved[round & 1];
        for (uint e = 0; e < mine; e++) {
            const uint entry = list[item + FAC_GROUP * e];
            atomic_min(&first[entry % (1u << FAC_PLACE_BITS)], entry);
        }
        round++;
    } while (more);
    /* does an attempt of the tile itself still wait? */
    uint again = found > FAC_ROOM;
    for (uint e = 0; e < mine; e++) {
        const uint place = list[item + FAC_GROUP * e] % (1u << FAC_PLACE_BITS);
        const uint py = place / FAC_WIDE, px = place - py * FAC_WIDE;
        if (px - FAC_HALO < wide && py - FAC_HALO < high)
            again = 1;
    }
    if (again)
        atomic_or(&flags[lattice], 1u);
    for (uint p = item; p < wide * high; p += FAC_GROUP) {
        const uint py = p / wide, px = p - py * wide;
        to_spins[base + x0 + px + FAC_LX * (y0 + py)] =
            spins[FAC_HALO + px + FAC_WIDE * (FAC_HALO + py)];
    }
}
