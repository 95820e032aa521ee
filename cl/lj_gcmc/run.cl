/*
 * One chain per work-group, many moves per launch: the paper's optimised version. A launch for each
 * move, as in the paper's first versions, was 20 to 30 times slower on an H200.
 *
 * Most trial moves are rejected, and a rejected move changes nothing. So LJ_TEAMS teams of
 * work-items evaluate as many consecutive moves at once, each as if the moves before it were
 * rejected. The chain advances to the first accepted one; moves after it are evaluated again. The
 * chain is the same, and a lone chain runs faster.
 *
 * LJ_WARP: 32 work-items with consecutive numbers run in step and can add by one instruction
 * (NVIDIA from compute capability 8.0 on), and a team is whole warps or narrow (LJ_WIDE).
 */
#include "lj_gcmc/chain.h"
#ifdef LJ_WARP
#include "common/warp.h"
#endif

#define LJ_WIDTH (LJ_GROUP / LJ_TEAMS)
/* Moves drawn at once. It must divide 1024. */
#define LJ_AHEAD (8u * LJ_TEAMS > 64u ? 8u * LJ_TEAMS : 64u)

/* A work-group of one needs no barrier, and PoCL's compiler splits kernels at barriers. */
#if LJ_GROUP == 1
#define LJ_BARRIER(flags)
#else
#define LJ_BARRIER(flags) barrier(flags)
#endif

/* Draw the words of the moves from step `first` on. */
ERGO_INLINE void lj_draw_ahead(const struct lj_member *m, ulong first, uint item,
                               __local uint4 *draws) {
    for (uint t = item; t < 2u * LJ_AHEAD; t += LJ_GROUP) {
        const ulong step = first + t / 2u;
        const struct ergo_words w =
            ergo_philox_words(0u, (uint)step, (uint)(step >> 32),
                              ERGO_DRAW(LJ_PURPOSE_MOVE, t % 2u), m->key0, m->key1);
        draws[t] = (uint4)(w.x, w.y, w.z, w.w);
    }
}

/* The move from these words, and the place of its particle. */
ERGO_INLINE struct lj_move lj_drawn(const struct lj_home *home, const struct lj_member *m,
                                    uint particles, uint step_size, __local const uint4 *draws,
                                    lj_position *from) {
    const uint4 a = draws[0], b = draws[1];
    const struct ergo_words wa = {a.x, a.y, a.z, a.w}, wb = {b.x, b.y, b.z, b.w};
    struct lj_move move = lj_move_of(m, particles, wa, wb);
    *from = lj_start(home, m, step_size, &move);
    return move;
}

/* How many consecutive moves to evaluate at once. It affects speed only: in a dense chain most are
 * rejected, in a dilute one few. */
ERGO_INLINE uint lj_likely(const struct lj_chain *c) {
    const uint a = c->last.accepted;
    return 1u + LJ_WINDOW / 2u / ((a & 0xffffu) + (a >> 16) + c->last.accepted_deletion + 1u);
}

/*
 * Sums over work-items in any order. The values are 64-bit integers, but the atomics have 32 bits,
 * so the lower 20 bits and the rest are added separately. The first word holds 4096 shares. The
 * second holds any sum below 2^51, and a particle whose neighbours are all outside the core has
 * less than a thousandth of that.
 */
ERGO_INLINE void lj_add(__local uint *sum, long value) {
#ifdef LJ_WARP /* 32 additions to one word wait for each other */
    value = ergo_warp_sum(value);
    value = get_local_id(0) % 32u == 0u ? value : 0;
#endif
#if LJ_GROUP == 1
    sum[0] += (uint)value & 0xfffffu;
    sum[1] += (uint)(value >> 20);
#else
    if (value != 0) {
        atomic_add(&sum[0], (uint)value & 0xfffffu);
        atomic_add(&sum[1], (uint)(value >> 20));
    }
#endif
}

ERGO_INLINE long lj_take(__local const uint *sum) {
    return (long)(int)sum[1] * 0x100000L + (long)sum[0];
}

/*
 * Moves until step `target`. Samples: `count` of them, each after `every` moves from step `start`
 * on; none if count is 0. A chain that needs more room stops before the move that needs it
 * (status). When the host has made room, the same launch again continues, and nothing is done
 * twice.
 */
__kernel __attribute__((reqd_work_group_size(LJ_GROUP, 1, 1))) void
lj_run(__global const struct lj_member *members, __global struct lj_chain *chains,
       __global uint4 *particles, __global uint4 *cells, __global const uint *offsets,
       __global struct lj_sample *samples, ulong start, ulong target, ulong every, uint count,
       uint capacity, uint slots, __global long *pair_energies) {
    __local uint4 draws[2u * LJ_AHEAD];
    /* of the energy; and the pair energies at the new and at the old place */
    __local long changes[LJ_TEAMS], arrivals[LJ_TEAMS];
#ifdef LJ_ENERGIES
    __local long lefts[LJ_TEAMS];
#endif
#ifdef LJ_QUEUE
    __local float queue[LJ_QUEUE * LJ_GROUP];
#endif
    /* sums by lj_add */
    __local uint energies[2u * LJ_TEAMS], virials[2u * LJ_TEAMS], contacts[2u * LJ_TEAMS];
    __local uint overlaps[LJ_TEAMS], verdicts[LJ_TEAMS]; /* verdict: 1 accepted, 2 + status */
    __local uint first;                                  /* team whose move is not rejected */
    const uint item = (uint)get_local_id(0), chain = (uint)get_group_id(0);
    const uint n_chains = (uint)get_num_groups(0);
    const uint team = item / LJ_WIDTH, lane = item % LJ_WIDTH;
    const struct lj_member m = members[chain];
    struct lj_chain c = chains[chain];
    struct lj_home home;
    lj_home_of(&home, particles, cells, offsets, capacity, slots, chain, n_chains);
#ifdef LJ_ENERGIES
    home.energies = pair_energies + (ulong)chain * LJ_GRID;
#else
    (void)pair_energies;
#endif
    ulong next = c.step >= start ? start + ((c.step - start) / every + 1UL) * every : start;
    lj_draw_ahead(&m, c.step - c.step % LJ_AHEAD, item, draws);

    if (lane == 0u)
        overlaps[team] = energies[2u * team] = energies[2u * team + 1u] = 0u;
    while (c.step < target && c.status == (uint)LJ_RUNNING) {
        LJ_BARRIER(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
        if (lane == 0u) {
            virials[2u * team] = virials[2u * team + 1u] = 0u;
            contacts[2u * team] = contacts[2u * team + 1u] = 0u;
        }
        const uint at = (uint)c.step % LJ_AHEAD;
        const ulong goal = next < target && next > c.step ? next : target;
        uint moves = LJ_AHEAD - at < LJ_TEAMS ? LJ_AHEAD - at : LJ_TEAMS;
        moves = goal - c.step < (ulong)moves ? (uint)(goal - c.step) : moves;
        const uint likely = lj_likely(&c);
        moves = moves < likely ? moves : likely;
        /* if there is only one move, all work-items evaluate it */
        const uint alone = moves == 1u, set = alone ? 0u : team, mine = set < moves ? 1u : 0u;
        const uint share = alone ? item : lane, shares = alone ? LJ_GROUP : LJ_WIDTH;
        const uint leads = lane == 0u && team < moves;

        struct lj_sum sum;
        sum.energy = sum.virial = sum.contacts = 0;
        sum.overlap = 0u;
#ifdef LJ_QUEUE
        sum.queued = 0u;
        sum.queue = queue + item;
#endif
        lj_position from;
        struct lj_move move = lj_drawn(&home, &m, c.particles, c.step_size,
                                       draws + 2u * (at + (mine ? set : 0u)), &from);
#ifdef LJ_ENERGIES
        const uint leaves = team < moves && move.kind != (uint)LJ_INSERTION && !move.idle;
        if (leaves && !m.ideal)
            lj_find_energy(&home, from, lane, LJ_WIDTH, &lefts[team]);
#endif
        if (mine)
            lj_gather(&home, &move, from, 0u, share, shares, &m, &sum);
        if (sum.overlap)
            atomic_or(&overlaps[set], 1u);
        LJ_BARRIER(CLK_LOCAL_MEM_FENCE);
#ifdef LJ_ENERGIES
        /* Few moves pass the test of the cores. All work-items add up the sums of one such move
         * after the other. If teams are large, each team adds up its own. */
        const uint wide = LJ_WIDTH >= LJ_WIDE && !alone;
        for (uint j = wide ? team : 0u; j < (wide && team < moves ? team + 1u : moves); j++) {
            if (overlaps[j] || lj_kind_of(&m, draws[2u * (at + j)].x) == (uint)LJ_DELETION)
                continue;
            lj_position away = from;
            struct lj_move that = move;
            if (!wide && !alone)
                that = lj_drawn(&home, &m, c.particles, c.step_size, draws + 2u * (at + j), &away);
            lj_gather(&home, &that, away, 1u, wide ? lane : item, wide ? LJ_WIDTH : LJ_GROUP, &m,
                      &sum);
#ifdef LJ_QUEUE
            lj_visit_queued(&m, &sum);
#endif
            lj_add(&energies[2u * j], sum.energy);
            sum.energy = 0;
        }
#else
        const uint hit = overlaps[set];
        if (mine && !hit) {
            lj_gather(&home, &move, from, 1u, share, shares, &m, &sum);
            lj_add(&energies[2u * set], sum.energy);
            lj_add(&virials[2u * set], sum.virial);
            lj_add(&contacts[2u * set], sum.contacts);
        }
        LJ_BARRIER(CLK_LOCAL_MEM_FENCE); /* all have read the flag of phase 0 */
        if (sum.overlap)
            atomic_or(&overlaps[set], 1u);
#endif
        LJ_BARRIER(CLK_LOCAL_MEM_FENCE);
        if (leads) {
#ifdef LJ_ENERGIES
            const long left = leaves && !m.ideal ? lefts[team] : 0;
#else
            const long left = 0;
#endif
            const long change = lj_take(&energies[2u * team]) - left;
            const uint accepted = !move.idle && !overlaps[team] &&
                                  lj_accept(&m, move.kind, move.word, c.particles, change);
            const uint room =
                accepted ? lj_room(&home, &move, from, c.particles) : (uint)LJ_RUNNING;
            changes[team] = change;
            arrivals[team] = change + left;
            verdicts[team] = room != (uint)LJ_RUNNING ? 2u + room : accepted;
        }
        LJ_BARRIER(CLK_LOCAL_MEM_FENCE);
        if (lane == 0u)
            overlaps[team] = energies[2u * team] = energies[2u * team + 1u] = 0u;

        const uint before = c.particles;
        const uint step_size = c.step_size;
        uint by = 0u, verdict = 0u, tried = 0u; /* by: the team whose move is not rejected */
        for (uint j = 0u; j < moves && verdict == 0u; j++) {
            by = j;
            verdict = verdicts[j];
            tried += verdict > 1u ? 0u : lj_one(lj_kind_of(&m, draws[2u * (at + j)].x));
        }
        const uint accepted = verdict == 1u;
        if (verdict > 1u)
            c.status = verdict - 2u;
        const long change = changes[accepted ? by : 0u];
        if (accepted)
            lj_count(&c, lj_kind_of(&m, draws[2u * (at + by)].x), change);
#ifdef LJ_ENERGIES
        /* all work-items update the neighbours' energies */
        lj_position old = from;
        struct lj_move done = move;
        if (!alone && accepted)
            done = lj_drawn(&home, &m, before, step_size, draws + 2u * (at + by), &old);
        const uint updates = accepted && !m.ideal;
        long virial = 0, contact = 0;
        if (updates && done.kind != (uint)LJ_INSERTION)
            lj_update_neighbours(&home, old, old, 1u, 0u, item, LJ_GROUP, &m, &virial, &contact);
        LJ_BARRIER(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
        if (updates && done.kind != (uint)LJ_DELETION)
            lj_update_neighbours(&home, done.to, old, done.kind != (uint)LJ_INSERTION, 1u, item,
                                 LJ_GROUP, &m, &virial, &contact);
        if (updates) {
            lj_add(&virials[2u * by], virial);
            lj_add(&contacts[2u * by], contact);
        }
#else
        (void)step_size;
#endif
        LJ_BARRIER(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
        if (accepted) {
            c.virial += lj_take(&virials[2u * by]);
            c.contacts += lj_take(&contacts[2u * by]);
            if (item == by * LJ_WIDTH)
                lj_apply(&home, &move, from, before, arrivals[by]);
        }
        lj_pass(&c, &m, tried, by + (verdict > 1u ? 0u : 1u));
        if (c.step == next) {
            if (count && item == 0u && c.step > start)
                samples[((c.step - start) / every - 1UL) * n_chains + chain] = lj_sample_of(&c);
            next += every;
        }
        if (c.step % LJ_AHEAD == 0UL)
            lj_draw_ahead(&m, c.step, item, draws);
    }
    if (item == 0u)
        chains[chain] = c;
}
