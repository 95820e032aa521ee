/*
 * Wang-Landau walks in the energy of spins on a graph: pure functions.
 *
 * Some walkers share an estimate of ln g. A move of all of them: a random site, the same for all,
 * and each accepts its flip with min(1, g(E)/g(E')), by the ln g of before the move. Then ln g of
 * the level of each, moved or not, is increased by ln f. So sums are of integers, and no order of
 * walkers matters. In an epoch, of so many sweeps, ln f is constant and visits are counted; ln g of
 * a level is what it was plus ln f times the visits.
 *
 * Per move of a walker with d neighbours: d + 1 words of spins, the levels' ln g and visits (24
 * bytes), a count (4 bytes), all in local memory; some 30 instructions of Philox, 30 of the
 * logarithm where ln g rises, 10 + 5 d of the force. The graph's 8 d + 8 bytes are loaded for all
 * walkers at once. What takes time on GPUs is latency: a move is two barriers and some 300 cycles.
 */
#ifndef ERGO_CL_SPIN_LATTICE_WALK_H
#define ERGO_CL_SPIN_LATTICE_WALK_H

#include "common/log.h"
#include "common/rng.h"
#include "spin_lattice/walk_params.h"

/* Words for four moves of a sweep, of walker number `own` of its member; the sites for all walkers
 * of estimate number `own`. */
ERGO_INLINE struct ergo_words walk_words(uint quad, ulong step, uint purpose, uint own, uint key0,
                                         uint key1) {
    return ergo_philox_words(quad, (uint)step, (uint)(step >> 32), ERGO_DRAW(purpose, own), key0,
                             key1);
}

/* ln g of a level within an epoch. */
ERGO_INLINE long walk_ln_g(long ln_g, ulong f, uint count) {
    return ln_g + (long)(f * count);
}

/* Does a walker leave a level of one ln g for one of another? */
ERGO_INLINE uint walk_accepts(long from, long to, uint random) {
    return (uint)(to <= from || ergo_minus_log(random) > (float)(to - from) * 0x1p-32f);
}

/* ---- at the end of an epoch ------------------------------------------------------------------
 */

/* A level's visits after an epoch that has counted so many. */
ERGO_INLINE uint walk_visits(uint visits, uint count) {
    const uint sum = (visits & WALK_VISITS) + count;
    return (visits & WALK_SEEN) | (count ? WALK_SEEN : 0u) |
           (sum < WALK_VISITS_MOST ? sum : WALK_VISITS_MOST);
}

/* Sums over the levels that were visited. */
struct walk_sums {
    ulong visits;
    long low;           /* the least ln g */
    uint levels, least; /* the fewest visits */
};
#define WALK_SUMS_BYTES 24

ERGO_INLINE struct walk_sums walk_no_sums(void) {
    const struct walk_sums none = {0, WALK_MOST, 0, WALK_VISITS};
    return none;
}

ERGO_INLINE struct walk_sums walk_add(struct walk_sums a, long ln_g, uint visits) {
    const uint n = visits & WALK_VISITS;
    if (!(visits & WALK_SEEN))
        return a;
    a.visits += n;
    a.low = ln_g < a.low ? ln_g : a.low;
    a.levels++;
    a.least = n < a.least ? n : a.least;
    return a;
}

ERGO_INLINE struct walk_sums walk_join(struct walk_sums a, struct walk_sums b) {
    a.visits += b.visits;
    a.low = b.low < a.low ? b.low : a.low;
    a.levels += b.levels;
    a.least = b.least < a.least ? b.least : a.least;
    return a;
}

/* ln g after an epoch: the least of a level that was visited is 0, and so is that of all others:
 * whoever finds one of these is not kept there. */
ERGO_INLINE long walk_lowered(long ln_g, uint visits, long low) {
    const long above = ln_g - low;
    return !(visits & WALK_SEEN) ? 0 : above < WALK_MOST ? above : WALK_MOST;
}

/*
 * ln f after an epoch. `moves`: of all walkers since the start. It is halved when the histogram is
 * flat: no level has fewer than flatness/1000 of the mean visits (Wang, Landau, PRL 86, 2050
 * (2001)); once that would be less than 1/t, t = moves per level, it is 1/t for the rest
 * (Belardinelli, Pereyra, PRE 75, 046701 (2007)). *anew: visits are counted from 0 on. So they are
 * when a level is found, because those of the others are of another time.
 */
ERGO_INLINE struct walk_status walk_decide(struct walk_status s, struct walk_sums sums,
                                           uint flatness, ulong moves, uint *anew) {
    const ulong inverse = ((ulong)sums.levels << 32) / moves;
    const uint found = (uint)(sums.levels > s.levels);
    const uint flat = (uint)(!found && sums.least > 0u &&
                             (ulong)sums.least * sums.levels * 1000u >= sums.visits * flatness);
    s.levels = sums.levels;
    if (!s.inverse && flat)
        s.f = s.f / 2 > 0 ? s.f / 2 : 1;
    s.inverse |= (uint)(s.f < WALK_ONE && s.f <= inverse);
    if (s.inverse)
        s.f = inverse > 0 ? inverse : 1;
    *anew = found | flat | s.inverse;
    return s;
}

#endif
