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
 * sums are integers. Only its own item reads a partner's place or writes it, so that a move needs
 * no barrier for that; the place of the atom that moves was last written HELIUM_N - 1 moves ago.
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

ERGO_INLINE int helium_u(__local const helium_cubic *table, int dx, int dy, int dz,
                         const struct helium_member *m) {
#if HELIUM_CUBE /* scale[0] is a power of two: the same bits as below */
    const float x = helium_distance2((float)dx, (float)dy, (float)dz) * (m->scale[0] * m->scale[0]);
#else
    const float x = helium_distance2((float)dx * m->scale[0], (float)dy * m->scale[1],
                                     (float)dz * m->scale[2]);
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
        ERGO_UNROLL
        for (uint k = 0; k < HELIUM_GROUP / HELIUM_HEADS; k++)
            sum += parts[item + k * HELIUM_HEADS];
        heads[item] = sum;
    }
    barrier(HELIUM_FENCE);
    sum = 0;
    ERGO_UNROLL
    for (uint k = 0; k < HELIUM_HEADS; k++)
        sum += heads[k];
    return sum;
#endif
}

/*
 * `steps` macroupdates from number `step` on of the first `active` walkers of each member.
 * positions: [member][walkers][3][HELIUM_N]; tables: [member][HELIUM_U_SIZE]; fresh: the count of
 * accepted moves starts anew.
 */
__kernel __attribute__((reqd_work_group_size(HELIUM_GROUP, 1, 1))) void
helium_walk(__global int *positions, __global struct helium_walker *walkers,
            __global const struct helium_member *members, __global const uint *factors,
            __global const helium_cubic *tables, __global const helium_cubic *random, ulong step,
            uint steps, uint count, uint active, uint fresh) {
    __local helium_cubic table[HELIUM_U_SIZE];
    __local struct helium_move moves[HELIUM_GROUP];
    __local long parts[HELIUM_GROUP], heads[HELIUM_HEADS];
    const uint item = (uint)get_local_id(0), index = (uint)get_group_id(0);
    const uint which = index / active, walker = index - which * active;
    const ulong home = (ulong)which * count + walker;
    const struct helium_member member = members[which];
    const uint factor = factors[which];
    __global int *kept = positions + home * (3 * HELIUM_N);
    long change = 0;
    uint accepted = 0;

#if HELIUM_LOCAL
    __local int place[3 * HELIUM_N];
    for (uint k = item; k < 3 * HELIUM_N; k += HELIUM_GROUP)
        place[k] = kept[k];
#else
    __global int *place = kept;
#endif
    for (uint k = item; k < HELIUM_U_SIZE; k += HELIUM_GROUP)
        table[k] = tables[which * HELIUM_U_SIZE + k];

    for (uint s = 0; s < steps; s++) {
        for (uint first = 0; first < HELIUM_N; first += HELIUM_GROUP) {
            barrier(HELIUM_FENCE); /* the last moves were read; the places are there */
            if (first + item < HELIUM_N)
                moves[item] = helium_draw(random, &member, factor,
                                          walker * HELIUM_N + first + item, step + s);
            barrier(CLK_LOCAL_MEM_FENCE);
            const uint end = min((uint)HELIUM_GROUP, HELIUM_N - first);
            for (uint m = 0; m < end; m++) {
                const uint i = first + m;
                const struct helium_move move = moves[m];
                const int ox = place[i], oy = place[HELIUM_N + i], oz = place[2 * HELIUM_N + i];
                const int nx = (int)((uint)ox + (uint)move.dx);
                const int ny = (int)((uint)oy + (uint)move.dy);
                const int nz = (int)((uint)oz + (uint)move.dz);
                long mine = 0;
                for (uint j = item; j < HELIUM_N;) {
                    int sum = 0; /* of at most HELIUM_CHUNK pairs: cannot overflow */
                    for (uint c = 0; c < HELIUM_CHUNK && j < HELIUM_N; c++, j += HELIUM_GROUP) {
                        const uint x = (uint)place[j], y = (uint)place[HELIUM_N + j],
                                   z = (uint)place[2 * HELIUM_N + j];
                        const int after = helium_u(table, (int)((uint)nx - x), (int)((uint)ny - y),
                                                   (int)((uint)nz - z), &member);
                        const int before = helium_u(table, (int)((uint)ox - x), (int)((uint)oy - y),
                                                    (int)((uint)oz - z), &member);
                        sum += j == i ? 0 : after - before;
                    }
                    mine += sum;
                }
                mine = helium_sum(mine, item, parts, heads);
                if (helium_accepts(mine, move.bound)) {
                    change += mine;
                    accepted++;
                    if (i % HELIUM_GROUP == item) {
                        place[i] = nx;
                        place[HELIUM_N + i] = ny;
                        place[2 * HELIUM_N + i] = nz;
                    }
                }
            }
        }
    }

#if HELIUM_LOCAL
    for (uint j = item; j < HELIUM_N; j += HELIUM_GROUP) {
        kept[j] = place[j];
        kept[HELIUM_N + j] = place[HELIUM_N + j];
        kept[2 * HELIUM_N + j] = place[2 * HELIUM_N + j];
    }
#endif
    if (item == 0) {
        walkers[home].ln_psi += change;
        walkers[home].accepted = (fresh ? 0 : walkers[home].accepted) + accepted;
        walkers[home].window += accepted;
    }
}
