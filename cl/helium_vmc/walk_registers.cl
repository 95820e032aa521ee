/*
 * Macroupdates: one work-group keeps one walker for a whole launch, with the atoms of each
 * work-item in its registers.
 *
 * All work-items together try atom i, each with its own partners. Sums are integers. Each atom's
 * sum of u over its partners is kept, so a trial needs the new distances only. An accepted move
 * changes the sums of all partners.
 *
 * From the host:
 *   HELIUM_N        atoms
 *   HELIUM_GROUP    work-items of a work-group
 *   HELIUM_U_BASE   number of the first piece of the table of u (helium_piece)
 *   HELIUM_U_SIZE   its number of pieces
 *   HELIUM_CUBE     all sides are equal: scale[0] serves for all
 *   HELIUM_LANES    work-items of a walker, a power of two
 *   HELIUM_MATES    walkers of a work-group, all of one member: HELIUM_GROUP = LANES * MATES
 *   HELIUM_COPIES   copies of the table, a power of two up to 8; work-item i reads copy i % COPIES.
 *                   With 8, the eight work-items that are served together never wait for each
 *                   other's bank of local memory
 *   HELIUM_WARP     32 work-items with consecutive numbers run in step and can add by one
 *                   instruction (NVIDIA from compute capability 8.0 on); else not defined
 *
 * A work-item keeps rows of atoms: item, item + LANES, ... A batch of LANES trials takes one row.
 * Each work-item has one atom of it and draws that atom's move. Rows rotate after every batch, so
 * that the batch's row is always the first one, because registers cannot be indexed at run time.
 *
 * A trial reads only the table and the move from local memory. Walkers of one group share nothing
 * but the table and have no common barrier, so each proceeds on its own (only with HELIUM_WARP).
 */
#include "helium_vmc/pair.h"
#ifdef HELIUM_WARP
#include "common/warp.h"
#endif

#define HELIUM_ROWS ((HELIUM_N + HELIUM_LANES - 1) / HELIUM_LANES)
#define HELIUM_REST (HELIUM_N % HELIUM_LANES) /* atoms of the last row; 0 if it is full */
#define HELIUM_SUMS_HERE (HELIUM_ROWS <= 4)   /* the atoms' sums are in registers too */

#if HELIUM_ROWS > HELIUM_CHUNK
#error "an item's partial sum would overflow"
#endif
#if HELIUM_MATES > 1 && (!defined(HELIUM_WARP) || HELIUM_LANES != 32)
#error "walkers of a group would meet in barriers"
#endif

/* What all work-items of a walker read of a trial. */
struct helium_try {
    int4 old; /* x, y, z, bound */
    int4 new; /* x, y, z, the atom's part of ln psi by its site */
};

#if HELIUM_MATES > 1 || (defined(HELIUM_WARP) && HELIUM_LANES == 32)
#define HELIUM_MEET __asm__ volatile("bar.warp.sync 0xffffffff;" ::: "memory")
#define HELIUM_MEET_GLOBAL HELIUM_MEET
#else
#define HELIUM_MEET barrier(CLK_LOCAL_MEM_FENCE)
#define HELIUM_MEET_GLOBAL barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)
#endif

#define HELIUM_HEADS (HELIUM_LANES >= 256 ? 16 : HELIUM_LANES >= 32 ? 8 : 1)

/* The sum of `mine` over the walker's work-items, returned to each. `turn` alternates between 0 and
 * 1: with two sets of entries one barrier is enough, because an entry is only written again after
 * the next call's barrier. */
ERGO_INLINE long helium_sum(long mine, uint item, uint turn, __local long *parts,
                            __local long *heads) {
#if HELIUM_LANES == 1
    return mine;
#elif defined(HELIUM_WARP)
    const long sum = ergo_warp_sum(mine);
#if HELIUM_LANES == 32
    return sum;
#else
    __local long *head = heads + turn * (HELIUM_LANES / 32);
    if (item % 32 == 0)
        head[item / 32] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    long all = 0;
    ERGO_UNROLL
    for (uint k = 0; k < HELIUM_LANES / 32; k++)
        all += head[k];
    return all;
#endif
#else
    long sum = 0;
    parts[item] = mine;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (item < HELIUM_HEADS) {
        for (uint k = 0; k < HELIUM_LANES / HELIUM_HEADS; k++)
            sum += parts[item + k * HELIUM_HEADS];
        heads[item] = sum;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    sum = 0;
    for (uint k = 0; k < HELIUM_HEADS; k++)
        sum += heads[k];
    return sum;
#endif
}

/*
 * `steps` macroupdates, from number `step` on, of the first `active` walkers of each member.
 * positions: [member][walkers][3][HELIUM_N]. sums: [member][walkers][HELIUM_N], u summed over an
 * atom's partners, computed anew if `rebuild` is set. tables: [member][HELIUM_U_SIZE].
 */
__kernel __attribute__((reqd_work_group_size(HELIUM_GROUP, 1, 1))) void
helium_walk(__global int *positions, __global long *sums, __global struct helium_walker *walkers,
            __global const struct helium_member *members, __global const uint *factors,
            __global const helium_cubic *tables, __global const helium_cubic *random,
            __global const int *sites, ulong step, uint steps, uint count, uint active,
            uint rebuild) {
    __local helium_cubic table[HELIUM_U_SIZE * HELIUM_COPIES];
    __local struct helium_try all_tries[HELIUM_GROUP];
    __local long parts[HELIUM_LANES], heads[2 * HELIUM_HEADS + HELIUM_LANES / 16];
#if HELIUM_SUMS_HERE
    long sum[HELIUM_ROWS];
#else
    __local long all_sums[HELIUM_ROWS * HELIUM_GROUP];
#endif
    const uint id = (uint)get_local_id(0), item = id % HELIUM_LANES, mate = id / HELIUM_LANES;
    const uint group = (uint)get_group_id(0), crews = (active + HELIUM_MATES - 1) / HELIUM_MATES;
    const uint which = group / crews, walker = (group - which * crews) * HELIUM_MATES + mate;
    const ulong home = (ulong)which * count + walker;
    const struct helium_member member = members[which];
    const uint factor = factors[which];
    __global int *kept_place = positions + home * (3 * HELIUM_N);
    __global long *kept_sum = sums + home * HELIUM_N;
    __local struct helium_try *tries = all_tries + mate * HELIUM_LANES;
    long change = 0;
    uint accepted = 0, earlier = 0; /* earlier: accepted before the last macroupdate */

    for (uint k = id; k < HELIUM_U_SIZE * HELIUM_COPIES; k += HELIUM_GROUP)
        table[k] = tables[which * HELIUM_U_SIZE + k / HELIUM_COPIES];
    barrier(CLK_LOCAL_MEM_FENCE);
#if HELIUM_MATES > 1
    if (walker >= active)
        return; /* there is no barrier below */
#endif
    __local const helium_cubic *own_table = table + id % HELIUM_COPIES;
#if !HELIUM_SUMS_HERE
    __local long *sum = all_sums + id;
#define HELIUM_ROW(q) ((q)*HELIUM_GROUP)
#else
#define HELIUM_ROW(q) (q)
#endif

    int px[HELIUM_ROWS], py[HELIUM_ROWS], pz[HELIUM_ROWS];
    ERGO_UNROLL
    for (uint q = 0; q < HELIUM_ROWS; q++) {
        const uint j = min(q * HELIUM_LANES + item, (uint)HELIUM_N - 1);
        px[q] = kept_place[j];
        py[q] = kept_place[HELIUM_N + j];
        pz[q] = kept_place[2 * HELIUM_N + j];
        sum[HELIUM_ROW(q)] = kept_sum[j];
    }
    if (rebuild) {
        ERGO_UNROLL
        for (uint q = 0; q < HELIUM_ROWS; q++)
            sum[HELIUM_ROW(q)] =
                helium_at_site((int4)(px[q], py[q], pz[q], 0),
                               min(q * HELIUM_LANES + item, (uint)HELIUM_N - 1), sites, &member);
        for (uint i = 0; i < HELIUM_N; i++) { /* no atom has moved in this launch */
            const int4 a =
                (int4)(kept_place[i], kept_place[HELIUM_N + i], kept_place[2 * HELIUM_N + i], 0);
            ERGO_UNROLL
            for (uint q = 0; q < HELIUM_ROWS; q++) {
                const int u = helium_u_at(own_table, a, px[q], py[q], pz[q], &member);
                sum[HELIUM_ROW(q)] += q * HELIUM_LANES + item == i ? 0 : u;
            }
        }
    }

    HELIUM_MEET_GLOBAL; /* others have read these places, which are written at the end */
    for (uint s = 0; s < steps; s++) {
        earlier = accepted;
        for (uint batch = 0; batch < HELIUM_ROWS; batch++) {
            const uint first = batch * HELIUM_LANES;
            HELIUM_MEET; /* the last moves have been read */
            if (HELIUM_REST == 0 || first + item < HELIUM_N) {
                const struct helium_move move = helium_draw(
                    random, &member, factor, walker * HELIUM_N + first + item, step + s);
                tries[item].old = (int4)(px[0], py[0], pz[0], move.bound);
                const int4 new = helium_moved((int4)(px[0], py[0], pz[0], 0), move);
                tries[item].new =
                    (int4)(new.x, new.y, new.z, helium_at_site(new, first + item, sites, &member));
            }
            HELIUM_MEET;
#if HELIUM_REST /* the row that has no atom for this work-item */
            const uint gap = item >= HELIUM_REST ? HELIUM_ROWS - 1 - batch : HELIUM_ROWS;
#endif
            const uint end = min((uint)HELIUM_LANES, HELIUM_N - first);
            for (uint m = 0; m < end; m++) {
                const int4 old = tries[m].old, new = tries[m].new;
                const bool own = m == item;
                const int others = own ? 0 : -1; /* a mask, because a branch would be slower */
                int after[HELIUM_ROWS], part = 0;
                ERGO_UNROLL
                for (uint q = 0; q < HELIUM_ROWS; q++) {
                    after[q] = helium_u_at(own_table, new, px[q], py[q], pz[q], &member);
#if HELIUM_REST
                    after[q] = q == gap ? 0 : after[q];
#endif
                    if (q == 0)
                        after[q] &= others;
                    part += after[q];
                }
                const long difference =
                    helium_sum(own ? part - sum[0] + new.w : (long)part, item, m & 1, parts, heads);
                if (!helium_accepts(difference, old.w))
                    continue;
                change += difference;
                accepted++;
                /* first all loads of the table, because a store to `sum` would delay them */
                ERGO_UNROLL
                for (uint q = 0; q < HELIUM_ROWS; q++) {
                    const int before = helium_u_at(own_table, old, px[q], py[q], pz[q], &member);
                    after[q] -= q == 0 ? before & others : before;
                }
                sum[0] += own ? difference : 0;
                ERGO_UNROLL
                for (uint q = 0; q < HELIUM_ROWS; q++)
                    sum[HELIUM_ROW(q)] += after[q];
                px[0] = own ? new.x : px[0];
                py[0] = own ? new.y : py[0];
                pz[0] = own ? new.z : pz[0];
            }
            const int x = px[0], y = py[0], z = pz[0];
            const long first_sum = sum[0];
            ERGO_UNROLL
            for (uint q = 0; q + 1 < HELIUM_ROWS; q++) {
                px[q] = px[q + 1];
                py[q] = py[q + 1];
                pz[q] = pz[q + 1];
                sum[HELIUM_ROW(q)] = sum[HELIUM_ROW(q + 1)];
            }
            px[HELIUM_ROWS - 1] = x;
            py[HELIUM_ROWS - 1] = y;
            pz[HELIUM_ROWS - 1] = z;
            sum[HELIUM_ROW(HELIUM_ROWS - 1)] = first_sum;
        }
    }

    ERGO_UNROLL
    for (uint q = 0; q < HELIUM_ROWS; q++) {
        const uint j = q * HELIUM_LANES + item;
        if (j < HELIUM_N) {
            kept_place[j] = px[q];
            kept_place[HELIUM_N + j] = py[q];
            kept_place[2 * HELIUM_N + j] = pz[q];
            kept_sum[j] = sum[HELIUM_ROW(q)];
        }
    }
    if (item == 0) {
        walkers[home].ln_psi += change;
        walkers[home].accepted = accepted - earlier;
        walkers[home].window += accepted;
    }
}
