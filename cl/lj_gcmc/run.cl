/*
 * One chain per work-group, many moves per launch: the paper's optimised version. A launch for each
 * move, as in the paper's first versions, was 20 to 30 times slower on an H200.
 *
 * Moves wait for each other, but what costs time can be done ahead: in a round LJ_TEAMS teams of
 * work-items find the pair energies at the new places of as many consecutive moves, in the
 * configuration of that moment. Then the moves are judged in their order, one work-item each. Most
 * are rejected and change nothing. After an accepted one the others are judged again: their pair
 * energies change by the pairs with the particle that moved, exactly, because they are integers.
 * Where that is not enough (a core is involved, or a displacement in steps got another particle),
 * the round ends, and the next one begins with that move. The chain is that of one move after the
 * other.
 *
 * LJ_WARP: 32 work-items with consecutive numbers run in step and can add by one instruction
 * (NVIDIA from compute capability 8.0 on).
 */
#include "lj_gcmc/draws.h"
#include "lj_gcmc/group.h"

/* The move from these words, and the place of its particle. */
ERGO_INLINE struct lj_move lj_drawn(const struct lj_home *home, const struct lj_member *m,
                                    uint particles, uint step_size, __local const uint4 *draws,
                                    lj_position *from) {
    struct lj_move move = lj_move_of_words(m, particles, draws);
    *from = lj_start(home, m, step_size, &move);
    return move;
}

#ifdef LJ_ENERGIES
/* So many work-items add up the pair energies of a move that hit no core. */
#define LJ_CREW (LJ_GROUP < 128u ? LJ_GROUP : 128u)

/* Does the new place of a displacement depend on that of its particle? */
#ifdef LJ_SPECIES
#define LJ_OF_PARTICLE(m) 1u
#else
#define LJ_OF_PARTICLE(m) ((m).local_moves)
#endif

/* What is known of a move that waits for its turn: `hit`, a core is at the new place; `stale`, its
 * pair energy is not known any more. */
#define LJ_HIT 1u
#define LJ_STALE 2u

/* The pair of places a and b, if it is within the cutoff. In the core, *what becomes stale. */
ERGO_INLINE long lj_between(lj_position a, lj_position b, const struct lj_member *m, uint *what) {
    const float r2 = lj_distance2(a, b, m->scale);
    long energy = 0, virial = 0, contact = 0;
    if (r2 < lj_core2_at(m, a, b))
        *what |= LJ_STALE;
    else if (r2 < lj_cutoff2_at(m, a, b))
        lj_pair_at(r2, a, b, m, &energy, &virial, &contact);
    return energy;
}
#endif

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
       uint capacity, uint slots, __global long *pair_energies, __global const float4 *tables,
       struct lj_shape shape) {
    __local uint4 draws[2u * LJ_AHEAD];
    const uint item = (uint)get_local_id(0), chain = (uint)get_group_id(0);
    const uint n_chains = (uint)get_num_groups(0);
    const struct lj_member m = lj_member_of(members, chains, tables, chain);
    struct lj_chain c = chains[chain];
    struct lj_home home;
    lj_home_of(&home, &shape, particles, cells, offsets, pair_energies, capacity, slots, chain,
               n_chains);
    lj_home_list(&home, c.list);
    ulong next = c.step >= start ? start + ((c.step - start) / every + 1UL) * every : start;
    lj_draw_ahead(&m, c.step - c.step % LJ_AHEAD, item, draws);

#ifdef LJ_ENERGIES
#ifdef LJ_QUEUE
    __local float queue[LJ_QUEUE * LJ_GROUP];
#endif
    /* of the round's moves: sums by lj_add; those with a core at the new place, and those without
     * a new place, as bits */
    __local uint energies[2u * LJ_TEAMS], hits, without;
    /* What is known of a move lies here from one barrier to the next. In an earlier form
     * work-items kept the old pair energy, and PoCL 3.1 gave other chains. Its compiler was wrong:
     * the same 2,100 moves were right on rusticl and on Oclgrind, which saw no race, and on PoCL
     * with one barrier more. */
    /* of the moves that wait: places (.w: slot in its cell), pair energies there, what is known,
     * and the verdict: 0 rejected, 1 accepted, 2 + status not judged */
    __local uint4 olds[LJ_TEAMS], news[LJ_TEAMS];
    __local long lefts[LJ_TEAMS], gains[LJ_TEAMS];
    __local uint known[LJ_TEAMS], verdicts[LJ_TEAMS];
    __local uint first; /* the first that is not rejected */
    __local uint virials[2], contacts[2], tried;
    const uint team = item / LJ_WIDTH, lane = item % LJ_WIDTH;
    /* the round: its moves, those that are done, the place of its first one in `draws` */
    uint moves = 0u, done = 0u, base = 0u;
    if (item < LJ_TEAMS)
        energies[2u * item] = energies[2u * item + 1u] = 0u;
    if (item == 0u)
        hits = without = 0u;
    while (c.step < target && c.status == (uint)LJ_RUNNING) {
        LJ_BARRIER(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
        if (item == 0u) {
            first = LJ_TEAMS;
            tried = virials[0] = virials[1] = contacts[0] = contacts[1] = 0u;
        }
        const uint fresh = done == moves;
        if (fresh) {
            const ulong goal = next < target && next > c.step ? next : target;
            base = (uint)c.step % LJ_AHEAD;
            moves = LJ_AHEAD - base < LJ_TEAMS ? LJ_AHEAD - base : LJ_TEAMS;
            moves = goal - c.step < (ulong)moves ? (uint)(goal - c.step) : moves;
            done = 0u;
        }
        struct lj_sum sum;
        sum.energy = sum.virial = sum.contacts = 0;
        sum.overlap = 0u;
#ifdef LJ_QUEUE
        sum.queued = 0u;
        sum.queue = queue + item;
#endif
        /* a new round: look for cores at the new places */
        if (fresh && team < moves) {
            lj_position place;
            const struct lj_move move =
                lj_drawn(&home, &m, c.particles, c.step_size, draws + 2u * (base + team), &place);
            lj_gather(&home, &move, place, 0u, lane, LJ_WIDTH, &m, &sum);
            if (sum.overlap)
                atomic_or(&hits, 1u << team);
            if (lane == 0u && (move.kind == (uint)LJ_DELETION || move.idle))
                atomic_or(&without, 1u << team);
        }
        LJ_BARRIER(CLK_LOCAL_MEM_FENCE);

        /* Which particle a move concerns, and its pair energy: after an accepted move the number
         * of a particle may mean another one. */
        const uint waits = item >= done && item < moves;
        if (waits) {
            lj_position now;
            const struct lj_move move =
                lj_drawn(&home, &m, c.particles, c.step_size, draws + 2u * (base + item), &now);
            long left = 0;
            if (move.kind != (uint)LJ_INSERTION && !move.idle) {
                const lj_position old = olds[item];
                now.w = lj_find(&home, now, &left);
                if (!fresh && move.kind == (uint)LJ_DISPLACEMENT && !lj_same(now, old)) {
                    uint what = known[item] | (LJ_OF_PARTICLE(m) ? LJ_STALE : 0u);
                    if (!m.ideal && !LJ_OF_PARTICLE(m))
                        gains[item] += lj_between(move.to, old, &m, &what) -
                                       lj_between(move.to, now, &m, &what);
                    known[item] = what;
                }
            }
#ifdef LJ_FIELD
            lefts[item] = left;
#else
            lefts[item] = m.ideal ? 0 : left;
#endif
            olds[item] = now;
            news[item] = move.to;
        }
        /* Few moves pass the test of the cores. Each crew adds up one such move after the other.
         * The last crew begins, because the first work-items were busy. */
        uint pass = fresh ? ~(hits | without) & (0xffffffffu >> (32u - moves)) : 0u;
        for (uint turn = item / LJ_CREW; pass != 0u; pass &= pass - 1u, turn++) {
            if (turn % (LJ_GROUP / LJ_CREW) != LJ_GROUP / LJ_CREW - 1u)
                continue;
            const uint j = 31u - clz(pass & (0u - pass));
            lj_position place;
            const struct lj_move move =
                lj_drawn(&home, &m, c.particles, c.step_size, draws + 2u * (base + j), &place);
            lj_gather(&home, &move, place, 1u, item % LJ_CREW, LJ_CREW, &m, &sum);
#ifdef LJ_QUEUE
            lj_visit_queued(&m, &sum);
#endif
            lj_add(&energies[2u * j], sum.energy);
            sum.energy = 0;
        }
        LJ_BARRIER(CLK_LOCAL_MEM_FENCE);

        /* judge the moves that wait */
        uint kind = (uint)LJ_DELETION;
        if (waits) {
            struct lj_move move = lj_move_of_words(&m, c.particles, draws + 2u * (base + item));
            const lj_position old = olds[item];
            move.to = news[item];
            kind = move.kind;
            if (fresh) {
                gains[item] = lj_take(&energies[2u * item]);
                known[item] = hits >> item & 1u ? LJ_HIT : 0u;
                energies[2u * item] = energies[2u * item + 1u] = 0u;
            }
            const uint what = known[item];
            const uint accepted = !move.idle && what == 0u &&
                                  lj_accept_move(&m, &c, &move, old, gains[item] - lefts[item]);
            uint verdict = accepted;
            if (what & LJ_STALE)
                verdict = 2u + (uint)LJ_RUNNING;
            else if (accepted && lj_room(&home, &move, old, c.particles) != (uint)LJ_RUNNING)
                verdict = 2u + lj_room(&home, &move, old, c.particles);
            if (move.idle)
                known[item] = what | LJ_STALE;
            verdicts[item] = verdict;
            if (verdict != 0u)
                atomic_min(&first, item);
        }
        LJ_BARRIER(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);

        /* carry out the first that is not rejected */
        const uint by = first, verdict = by < moves ? verdicts[by] : 0u;
        const uint accepted = verdict == 1u, end = by < moves ? by + accepted : moves;
        if (item == 0u)
            hits = without = 0u;
        if (waits && item < end)
            atomic_add(&tried, lj_one(kind));
        struct lj_move that;
        struct lj_exchange exchange;
        that.kind = (uint)LJ_DELETION;
        if (accepted) {
            that = lj_move_of_words(&m, c.particles, draws + 2u * (base + by));
            that.to = news[by];
            const lj_position old = olds[by];
            const uint leaves = that.kind != (uint)LJ_INSERTION;
            const uint arrives = that.kind != (uint)LJ_DELETION;
            long virial = 0, contact = 0;
            if (item == LJ_GROUP - 1u)
                exchange = lj_exchange_of(&home, &that, old, c.particles);
            if (!m.ideal) {
                if (waits && item > by && kind != (uint)LJ_DELETION) {
                    uint what = known[item];
                    const long more = arrives ? lj_between(news[item], that.to, &m, &what) : 0;
                    const long less = leaves ? lj_between(news[item], old, &m, &what) : 0;
                    gains[item] += more - less;
                    known[item] = what;
                }
                lj_update_neighbours(&home, old, leaves, that.to, arrives, item, &m, &virial,
                                     &contact);
                lj_add(virials, virial);
                lj_add(contacts, contact);
            }
        }
        LJ_BARRIER(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
        if (accepted) {
            c.virial += lj_take(virials);
            c.contacts += lj_take(contacts);
            if (item == LJ_GROUP - 1u)
                lj_exchange_do(&home, &exchange, &that, gains[by]);
            lj_count(&c, &that, olds[by], gains[by] - lefts[by]);
        } else if (verdict > 1u) {
            c.status = verdict - 2u;
        }
        lj_pass(&c, &m, tried, end - done);
        done = accepted ? end : moves;
#else
    while (c.step < target && c.status == (uint)LJ_RUNNING) {
        lj_position from;
        const struct lj_move move = lj_drawn(&home, &m, c.particles, c.step_size,
                                             draws + 2u * ((uint)c.step % LJ_AHEAD), &from);
        struct lj_sum sum;
        sum.energy = sum.virial = sum.contacts = 0;
        sum.overlap = 0u;
        lj_gather(&home, &move, from, 0u, 0u, 1u, &m, &sum);
        if (!sum.overlap)
            lj_gather(&home, &move, from, 1u, 0u, 1u, &m, &sum);
        const uint accepted =
            !move.idle && !sum.overlap && lj_accept_move(&m, &c, &move, from, sum.energy);
        if (accepted)
            c.status = lj_room(&home, &move, from, c.particles);
        if (c.status != (uint)LJ_RUNNING)
            break;
        if (accepted) {
            lj_apply(&home, &move, from, c.particles);
            c.virial += sum.virial;
            c.contacts += sum.contacts;
            lj_count(&c, &move, from, sum.energy);
        }
        lj_pass(&c, &m, lj_one(move.kind), 1u);
#endif
        if (c.step == next) {
            if (count && item == 0u && c.step > start)
                samples[((c.step - start) / every - 1UL) * n_chains + chain] = lj_sample_of(&c);
            next += every;
        }
        if (c.step % LJ_AHEAD == 0UL)
            lj_draw_ahead(&m, c.step, item, draws);
    }
    if (item == 0u)
        lj_chain_end(chains + chain, &c);
}
