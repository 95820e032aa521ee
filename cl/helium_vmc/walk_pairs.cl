/*
 * Macroupdates of few walkers: one work-group per walker, whose work-items share the pairs of many
 * trials. The chain, the arguments and the macros are those of walk_registers.cl.
 *
 * Trial after trial leaves a multiprocessor waiting. But moves do not depend on decisions, so a
 * block of trials is taken at once. All work-items find what each move adds to u with the atoms as
 * they are before the block, and what an accepted move of the block changes in that of a later
 * trial. Then one warp (HELIUM_WARP), or one work-item, decides trial by trial by additions alone.
 * Meanwhile the others draw moves and begin the next block: what its moves add with all atoms but
 * those that are decided. All sums are integers, so the decisions are the same as with one trial
 * after the other.
 */
#include "helium_vmc/pair.h"

#define HELIUM_BLOCK 32
#ifdef HELIUM_WARP
#define HELIUM_JUDGES HELIUM_BLOCK
#define HELIUM_UNROLL_FOUR _Pragma("unroll 4")
#else
#define HELIUM_JUDGES 1
#define HELIUM_UNROLL_FOUR
#endif
#define HELIUM_TRIALS (HELIUM_BLOCK / HELIUM_JUDGES) /* of a judge */
#define HELIUM_PARTS (HELIUM_GROUP / HELIUM_BLOCK)   /* work-items that share a trial */
#define HELIUM_BLOCKS ((HELIUM_N + HELIUM_BLOCK - 1) / HELIUM_BLOCK)
#define HELIUM_ATOMS (HELIUM_BLOCKS * HELIUM_BLOCK) /* rounded up */
#define HELIUM_STRIDE (HELIUM_BLOCK + 1)            /* no bank conflicts in a column */
#if HELIUM_PARTS < 2
#error "too few work-items"
#endif

struct helium_judged {
    long change; /* of ln psi by the judge's own atoms */
    uint accepted;
};

#ifdef HELIUM_WARP
/* If the margin of work-item `judge` is not negative, its move is taken, and each work-item's
 * margin becomes `then`. `then` is ready before the verdict is known. */
ERGO_INLINE uint helium_verdict(long *margin, long then, uint judge) {
    uint taken;
    long next;
    __asm__ volatile("{ .reg .pred p; .reg .b32 v; setp.ge.s64 p, %2, 0;"
                     "vote.sync.ballot.b32 v, p, 0xffffffff; and.b32 v, v, %4; setp.ne.b32 p, v, 0;"
                     "selp.b64 %0, %3, %2, p; selp.b32 %1, 1, 0, p; }"
                     : "=&l"(next), "=&r"(taken)
                     : "l"(*margin), "l"(then), "r"(1u << judge));
    *margin = next;
    return taken;
}
#endif

/* Decide the trials of `end` atoms, and move these. gains: of u, in parts. mixed: in row i what
 * atom j adds to u of a moved i by its move (j < i), or what the move of i adds to u of an unmoved
 * j. */
ERGO_INLINE void helium_judge(uint judge, uint end, __local const long *gains,
                              __local const int *mixed, __local const struct helium_move *moves,
                              __local int4 *places, struct helium_judged *judged) {
    long margin[HELIUM_TRIALS] = {0}; /* gains above their bounds */
    for (uint q = 0; q < HELIUM_TRIALS && q + judge < end; q++) {
        margin[q] = -(long)moves[q + judge].bound;
        ERGO_UNROLL
        for (uint p = 0; p < HELIUM_PARTS; p++)
            margin[q] += gains[p * HELIUM_BLOCK + q + judge];
    }
#ifdef HELIUM_WARP
    _Pragma("unroll 8") for (uint m = 0; m < end; m++) {
        const int change = mixed[judge * HELIUM_STRIDE + m] - mixed[m * HELIUM_STRIDE + judge];
        judged->accepted += helium_verdict(&margin[0], margin[0] + (m < judge ? change : 0), m);
    }
#else
    for (uint m = 0; m < end; m++)
        if (margin[m] >= 0) {
            judged->accepted++;
            for (uint q = m + 1; q < end; q++)
                margin[q] += mixed[q * HELIUM_STRIDE + m] - mixed[m * HELIUM_STRIDE + q];
        }
#endif
    for (uint q = 0; q < HELIUM_TRIALS && q + judge < end; q++)
        if (margin[q] >= 0) {
            places[q + judge] = helium_moved(places[q + judge], moves[q + judge]);
            judged->change += margin[q] + moves[q + judge].bound;
        }
}

/* A trial of atom i, whose block begins with atom `first`. */
struct helium_trial {
    int4 old, new;
    uint i, first;
};

ERGO_INLINE struct helium_trial helium_try(__local const int4 *places,
                                           __local const struct helium_move *moves, uint first,
                                           uint trial) {
    const int4 old = places[first + trial];
    const struct helium_trial t = {old, helium_moved(old, moves[trial]), first + trial, first};
    return t;
}

/* What the move adds to u with atom j. For two atoms of a block also notes in the trial's row of
 * `mixed` what helium_judge needs. */
ERGO_INLINE long helium_added(__local const helium_cubic *table, const struct helium_trial *t,
                              __local const int4 *places, uint j,
                              __local const struct helium_move *moves, __local int *row,
                              const struct helium_member *m) {
    const int after = helium_u(table, t->new, places[j], m);
    const int added = after - helium_u(table, t->old, places[j], m);
    const uint k = j - t->first;
    if (k < HELIUM_BLOCK)
        row[k] = j > t->i ? added
                          : helium_u(table, t->new, helium_moved(places[j], moves[k]), m) - after;
    return j == t->i ? 0 : added;
}

/* What a trial of the block at `first` adds to u with a part of all atoms but those of the block at
 * `busy`, which is decided meanwhile. The first part is the judges'. */
ERGO_INLINE long helium_begin(__local const helium_cubic *table, uint first, uint busy, uint trial,
                              uint part, __local const int4 *places,
                              __local const struct helium_move *moves, __local int *mixed,
                              const struct helium_member *m) {
    long gain = 0;
    if (first == busy || first + trial >= HELIUM_N)
        return 0;
    const struct helium_trial t = helium_try(places, moves, first, trial);
    HELIUM_UNROLL_FOUR
    for (uint j = part - 1; j < HELIUM_N; j += HELIUM_PARTS - 1)
        if (j - busy >= HELIUM_BLOCK)
            gain += helium_added(table, &t, places, j, moves, mixed + trial * HELIUM_STRIDE, m);
    return gain;
}

__kernel __attribute__((reqd_work_group_size(HELIUM_GROUP, 1, 1))) void
helium_walk(__global int *positions, __global long *kept_sums,
            __global struct helium_walker *walkers, __global const struct helium_member *members,
            __global const uint *factors, __global const helium_cubic *tables,
            __global const helium_cubic *random, __global const int *sites, ulong step, uint steps,
            uint count, uint active, uint rebuild) {
    __local helium_cubic table[HELIUM_U_SIZE * HELIUM_COPIES];
    __local int4 places[HELIUM_N];
    /* of the block that is decided and of the next one; moves are drawn two blocks ahead */
    __local int mixed[2][HELIUM_BLOCK * HELIUM_STRIDE];
    __local struct helium_move moves[4][HELIUM_BLOCK];
    __local long gains[HELIUM_GROUP], changes[HELIUM_JUDGES];
    const uint item = (uint)get_local_id(0), index = (uint)get_group_id(0);
    const uint which = index / active, walker = index - which * active;
    const ulong home = (ulong)which * count + walker;
    const struct helium_member member = members[which];
    const uint factor = factors[which];
    __global int *place = positions + home * (3 * HELIUM_N);
    __local const helium_cubic *own_table = table + item % HELIUM_COPIES;
    const uint trial = item % HELIUM_BLOCK, part = item / HELIUM_BLOCK;
    struct helium_judged judged = {0, 0};
    uint earlier = 0; /* accepted before the last macroupdate */
    /* the block that is decided, and the one before it, whose atoms have moved meanwhile */
    uint first = 0, last = HELIUM_N;
    long gain = 0;

    for (uint k = item; k < HELIUM_U_SIZE * HELIUM_COPIES; k += HELIUM_GROUP)
        table[k] = tables[which * HELIUM_U_SIZE + k / HELIUM_COPIES];
    for (uint i = item; i < HELIUM_N; i += HELIUM_GROUP)
        places[i] = (int4)(place[i], place[HELIUM_N + i], place[2 * HELIUM_N + i], 0);
    if (part < 2 && part * HELIUM_BLOCK % HELIUM_ATOMS + trial < HELIUM_N) /* of two blocks */
        moves[part][trial] = helium_draw(
            random, &member, factor, walker * HELIUM_N + part * HELIUM_BLOCK % HELIUM_ATOMS + trial,
            step + part / HELIUM_BLOCKS);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (part)
        gain =
            helium_begin(own_table, 0, HELIUM_N, trial, part, places, moves[0], mixed[0], &member);
    for (uint b = 0; b < steps * HELIUM_BLOCKS; b++) {
        const uint end =
            HELIUM_N % HELIUM_BLOCK ? min((uint)HELIUM_BLOCK, HELIUM_N - first) : HELIUM_BLOCK;
        const uint next = (first + HELIUM_BLOCK) % HELIUM_ATOMS;
        __local int *row = mixed[b & 1] + trial * HELIUM_STRIDE;
        barrier(CLK_LOCAL_MEM_FENCE);
        if (trial < end) {
            const struct helium_trial t = helium_try(places, moves[b & 3], first, trial);
            HELIUM_UNROLL_FOUR
            for (uint j = last + part; j < min(last + HELIUM_BLOCK, (uint)HELIUM_N);
                 j += HELIUM_PARTS)
                gain += helium_added(own_table, &t, places, j, moves[b & 3], row, &member);
            if (part == 0)
                gain += helium_at_site(t.new, t.i, sites, &member) -
                        helium_at_site(t.old, t.i, sites, &member);
            gains[item] = gain;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        gain = 0;
        if (item < HELIUM_JUDGES) {
            earlier = first ? earlier : judged.accepted;
            helium_judge(item, end, gains, mixed[b & 1], moves[b & 3], places + first, &judged);
        } else if (part) {
            const uint other = (next + HELIUM_BLOCK) % HELIUM_ATOMS + trial;
            gain = helium_begin(own_table, next, first, trial, part, places, moves[(b + 1) & 3],
                                mixed[(b + 1) & 1], &member);
            if (part == HELIUM_PARTS - 1 && other < HELIUM_N)
                moves[(b + 2) & 3][trial] =
                    helium_draw(random, &member, factor, walker * HELIUM_N + other,
                                step + (b + 2) / HELIUM_BLOCKS);
        }
        last = first;
        first = next;
    }

    if (item < HELIUM_JUDGES)
        changes[item] = judged.change;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = item; i < HELIUM_N; i += HELIUM_GROUP) {
        const int4 own = places[i];
        long sum = helium_at_site(own, i, sites, &member);
        for (uint j = 0; j < HELIUM_N; j++) {
            const int u = helium_u(own_table, own, places[j], &member);
            sum += j == i ? 0 : u;
        }
        place[i] = own.x;
        place[HELIUM_N + i] = own.y;
        place[2 * HELIUM_N + i] = own.z;
        kept_sums[home * HELIUM_N + i] = sum;
    }
    if (item == 0) {
        long all = 0;
        for (uint k = 0; k < HELIUM_JUDGES; k++)
            all += changes[k];
        walkers[home].ln_psi += all;
        walkers[home].accepted = judged.accepted - earlier;
        walkers[home].window += judged.accepted;
    }
}
