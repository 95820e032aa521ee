/*
 * Macroupdates: one work-group keeps one walker for as long as a launch lasts.
 *
 * From the host:
 *   HELIUM_N        atoms
 *   HELIUM_GROUP    work-items, a power of two
 *   HELIUM_U_BASE   number of the first piece of the table of u (helium_piece)
 *   HELIUM_U_SIZE   its pieces
 *   HELIUM_LOCAL    positions in local memory; else they stay in global memory
 *   HELIUM_CUBE     all sides are equal: scale[0] serves for all
 *
 * Atom i is tried by all items together, each taking the partners item, item + HELIUM_GROUP, ...;
 * sums are integers. Each atom's sum of u over its partners is kept, so that a trial needs the new
 * distances alone; an accepted move changes the sums of all partners. Only its own item reads or
 * writes a partner's place and sum, so that neither needs a barrier; the place of the atom that
 * moves was last written HELIUM_N - 1 moves ago.
 */
#include "helium_vmc/core.h"

#if HELIUM_LOCAL
#define HELIUM_SPACE __local
#define HELIUM_FENCE CLK_LOCAL_MEM_FENCE
#else
#define HELIUM_SPACE __global
#define HELIUM_FENCE (CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)
#endif

#if HELIUM_GROUP >= 256
#define HELIUM_HEADS 16
#elif HELIUM_GROUP >= 32
#define HELIUM_HEADS 8
#else
#define HELIUM_HEADS 1
#endif

#ifdef HELIUM_NO_UNROLL
#define HELIUM_UNROLL
#else
#define HELIUM_UNROLL ERGO_UNROLL
#endif

/* Partners of an item. Few: their new u stay in registers until the move is decided; many: they are
 * computed again if it is accepted. */
#define HELIUM_SHARE ((HELIUM_N + HELIUM_GROUP - 1) / HELIUM_GROUP)
#define HELIUM_KEEPS (HELIUM_SHARE <= 32 && !defined(HELIUM_NO_UNROLL))

ERGO_INLINE int helium_u(__local const helium_cubic *table, int dx, int dy, int dz,
                         const struct helium_member *m) {
#if HELIUM_CUBE /* scale[0] is a power of two: the same bits as below */
    const float x = helium_distance2((float)dx, (float)dy, (float)dz) * (m->scale[0] * m->scale[0]);
#else
    const float x =
        helium_distance2((float)dx * m->scale[0], (float)dy * m->scale[1], (float)dz * m->scale[2]);
#endif
    const float y = helium_clamp(x, m->low);
    return (int)helium_poly(table[helium_piece(y, HELIUM_U_PIECES) - HELIUM_U_BASE],
                            helium_within(y, HELIUM_U_PIECES));
}

/* The sum of `mine` over the group, to every item. */
ERGO_INLINE long helium_sum(long mine, uint item, __local long *parts, __local long *heads) {
#if HELIUM_GROUP == 1
    return mine;
#else
    long sum = 0;
    parts[item] = mine;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (item < HELIUM_HEADS) {
        HELIUM_UNROLL
        for (uint k = 0; k < HELIUM_GROUP / HELIUM_HEADS; k++)
            sum += parts[item + k * HELIUM_HEADS];
        heads[item] = sum;
    }
    barrier(HELIUM_FENCE);
    sum = 0;
    HELIUM_UNROLL
    for (uint k = 0; k < HELIUM_HEADS; k++)
        sum += heads[k];
    return sum;
#endif
}

/* u of the pair (place of atom i or a trial place; atom j); 0 for the atom itself. */
ERGO_INLINE int helium_pair(__local const helium_cubic *table, HELIUM_SPACE const int *place,
                            uint j, uint i, int x, int y, int z, const struct helium_member *m) {
    const int u =
        helium_u(table, (int)((uint)x - (uint)place[j]), (int)((uint)y - (uint)place[HELIUM_N + j]),
                 (int)((uint)z - (uint)place[2 * HELIUM_N + j]), m);
    return j == i ? 0 : u;
}

/*
 * `steps` macroupdates from number `step` on of the first `active` walkers of each member.
 * positions: [member][walkers][3][HELIUM_N]; sums: [member][walkers][HELIUM_N], of u over an atom's
 * partners, made anew if `rebuild`; tables: [member][HELIUM_U_SIZE].
 */
__kernel __attribute__((reqd_work_group_size(HELIUM_GROUP, 1, 1))) void
helium_walk(__global int *positions, __global long *sums, __global struct helium_walker *walkers,
            __global const struct helium_member *members, __global const uint *factors,
            __global const helium_cubic *tables, __global const helium_cubic *random, ulong step,
            uint steps, uint count, uint active, uint rebuild) {
    __local helium_cubic table[HELIUM_U_SIZE];
    __local struct helium_move moves[HELIUM_GROUP];
    __local long parts[HELIUM_GROUP], heads[HELIUM_HEADS];
    const uint item = (uint)get_local_id(0), index = (uint)get_group_id(0);
    const uint which = index / active, walker = index - which * active;
    const ulong home = (ulong)which * count + walker;
    const struct helium_member member = members[which];
    const uint factor = factors[which];
    __global int *kept_place = positions + home * (3 * HELIUM_N);
    __global long *kept_sum = sums + home * HELIUM_N;
    long change = 0;
    uint accepted = 0, earlier = 0; /* earlier: before the last macroupdate */

#if HELIUM_LOCAL
    __local long sum[HELIUM_N];
    __local int place[3 * HELIUM_N];
    for (uint j = item; j < HELIUM_N; j += HELIUM_GROUP) { /* as they are written back */
        place[j] = kept_place[j];
        place[HELIUM_N + j] = kept_place[HELIUM_N + j];
        place[2 * HELIUM_N + j] = kept_place[2 * HELIUM_N + j];
        sum[j] = kept_sum[j];
    }
#else
    __global long *sum = kept_sum;
    __global int *place = kept_place;
#endif
    for (uint k = item; k < HELIUM_U_SIZE; k += HELIUM_GROUP)
        table[k] = tables[which * HELIUM_U_SIZE + k];
    barrier(HELIUM_FENCE);
    if (rebuild)
        for (uint j = item; j < HELIUM_N; j += HELIUM_GROUP) {
            const int x = place[j], y = place[HELIUM_N + j], z = place[2 * HELIUM_N + j];
            long all = 0;
            for (uint i = 0; i < HELIUM_N; i++)
                all += helium_pair(table, place, i, j, x, y, z, &member);
            sum[j] = all;
        }

    for (uint s = 0; s < steps; s++) {
        earlier = accepted;
        for (uint first = 0; first < HELIUM_N; first += HELIUM_GROUP) {
            barrier(HELIUM_FENCE); /* the last moves were read; the places are there */
            if (first + item < HELIUM_N)
                moves[item] = helium_draw(random, &member, factor, walker * HELIUM_N + first + item,
                                          step + s);
            barrier(CLK_LOCAL_MEM_FENCE);
            const uint end = min((uint)HELIUM_GROUP, HELIUM_N - first);
            for (uint m = 0; m < end; m++) {
                const uint i = first + m;
                const struct helium_move move = moves[m];
                const int ox = place[i], oy = place[HELIUM_N + i], oz = place[2 * HELIUM_N + i];
                const int nx = (int)((uint)ox + (uint)move.dx);
                const int ny = (int)((uint)oy + (uint)move.dy);
                const int nz = (int)((uint)oz + (uint)move.dz);
                long mine = m == item ? -sum[i] : 0;
#if HELIUM_KEEPS
                int after[HELIUM_SHARE];
                int part = 0; /* of at most HELIUM_CHUNK pairs: cannot overflow */
                HELIUM_UNROLL
                for (uint q = 0; q < HELIUM_SHARE; q++) {
                    const uint j = q * HELIUM_GROUP + item;
                    const bool inside = HELIUM_N % HELIUM_GROUP == 0 || j < HELIUM_N;
                    after[q] = inside ? helium_pair(table, place, j, i, nx, ny, nz, &member) : 0;
                    part += after[q];
                    if (q % HELIUM_CHUNK == HELIUM_CHUNK - 1 || q + 1 == HELIUM_SHARE) {
                        mine += part;
                        part = 0;
                    }
                }
#else
                for (uint j = item; j < HELIUM_N;) {
                    int part = 0;
                    for (uint c = 0; c < HELIUM_CHUNK && j < HELIUM_N; c++, j += HELIUM_GROUP)
                        part += helium_pair(table, place, j, i, nx, ny, nz, &member);
                    mine += part;
                }
#endif
                const long difference = helium_sum(mine, item, parts, heads);
                if (!helium_accepts(difference, move.bound))
                    continue;
                change += difference;
                accepted++;
#if HELIUM_KEEPS
                HELIUM_UNROLL
                for (uint q = 0; q < HELIUM_SHARE; q++) {
                    const uint j = q * HELIUM_GROUP + item;
                    if (HELIUM_N % HELIUM_GROUP == 0 || j < HELIUM_N)
                        sum[j] += after[q] - helium_pair(table, place, j, i, ox, oy, oz, &member);
                }
#else
                for (uint j = item; j < HELIUM_N; j += HELIUM_GROUP)
                    sum[j] += helium_pair(table, place, j, i, nx, ny, nz, &member) -
                              helium_pair(table, place, j, i, ox, oy, oz, &member);
#endif
                if (m == item) {
                    sum[i] += difference;
                    place[i] = nx;
                    place[HELIUM_N + i] = ny;
                    place[2 * HELIUM_N + i] = nz;
                }
            }
        }
    }

#if HELIUM_LOCAL
    for (uint j = item; j < HELIUM_N; j += HELIUM_GROUP) {
        kept_place[j] = place[j];
        kept_place[HELIUM_N + j] = place[HELIUM_N + j];
        kept_place[2 * HELIUM_N + j] = place[2 * HELIUM_N + j];
        kept_sum[j] = sum[j];
    }
#endif
    if (item == 0) {
        walkers[home].ln_psi += change;
        walkers[home].accepted = accepted - earlier;
        walkers[home].window += accepted;
    }
}
