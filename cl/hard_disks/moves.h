/*
 * A cell's update in registers: lines 5 to 12 of Algorithm 1. DISKS_SPACE as in cell.h.
 *
 * The fast way decides by r^2 in fp32 (neighbours.h). If a pair comes closer to contact than 2^-20,
 * disks_update_slowly() does the cell again and decides exactly where it must; near melting this is
 * about one cell in ten thousand. The filter is conservative, so a device's rounding cannot change
 * the chain.
 *
 * The slow way also takes cells of more than two disks (one in 1400, with cells of about one disk;
 * but see DISKS_THIRD) and cells with two neighbours of more than two disks. Handling them among
 * the fast trials would cost registers and instructions for all cells. If cells are so large that
 * nearly every row of 32 has a crowded one (DISKS_FULL), all take the slow way at once.
 */
#ifndef ERGO_CL_HARD_DISKS_MOVES_H
#define ERGO_CL_HARD_DISKS_MOVES_H

#include "hard_disks/confined.h"
#include "hard_disks/draws.h"
#include "hard_disks/neighbours.h"

#define DISKS_NO_UNROLL _Pragma("unroll 1")
#ifdef DISKS_REFLECT
#include "hard_disks/reflect.h"
#endif

ERGO_INLINE uint disks_inside(float x, float y, float leave) {
#ifdef DISKS_LEAVE
    return (uint)(x + leave >= 0.0f) & (uint)(x < DISKS_WF + leave) & (uint)(y + leave >= 0.0f) &
           (uint)(y < DISKS_WF + leave);
#else
    return disks_here(x, y);
#endif
}

/* ---- the slow way --------------------------------------------------------------------------- */

/*
 * r^2 - contact, with an exact sign; negative is an overlap. The differences are whole numbers
 * below 2^26. Squares and their sum are split into a float and its error, which is a whole number
 * too (Dekker, Numer. Math. 18, 224 (1971); Knuth's two-sum).
 *
 * Near contact, s - high is exact, because s and high are within a factor of two. The errors are
 * below 2^21, so their sum is below 2^24 and exact. The last sum is correctly rounded and so has
 * the right sign. Elsewhere s - high is rounded, but larger than all errors.
 */
#define DISKS_DEFINE_GAP(name, type)                                                               \
    ERGO_INLINE type name(type dx, type dy, float high, float low) {                               \
        const type a = dx * dx, b = dy * dy, s = a + b;                                            \
        const type ea = fma(dx, dx, -a), eb = fma(dy, dy, -b);                                     \
        const type t = s - a, es = (a - (s - t)) + (b - t);                                        \
        return (s - high) + ((es + ea) + (eb - low));                                              \
    }
DISKS_DEFINE_GAP(disks_gap8, float8)
DISKS_DEFINE_GAP(disks_gap4, float4)

#ifdef DISKS_RECTANGULAR
/* The smaller of `least` and r^2 to lanes i of x and y, in whole numbers. */
#define DISKS_EXACTLY(x, y, i)                                                                     \
    least = min(least, disks_r2((long)((x).i - qx), (long)((y).i - qy), member->ratio))
#define DISKS_EXACTLY4(x, y, a, b, c, d)                                                           \
    DISKS_EXACTLY(x, y, a);                                                                        \
    DISKS_EXACTLY(x, y, b);                                                                        \
    DISKS_EXACTLY(x, y, c);                                                                        \
    DISKS_EXACTLY(x, y, d)

/* The sign of the smallest r^2 - contact between (px, py), the others of its cell at (ox, oy), and
 * the disks around. */
ERGO_INLINE float disks_gap_of(DISKS_SPACE const DISKS_RAW *cells, struct disks_place place,
                               struct disks_around around, float4 ox, float4 oy, float px, float py,
                               __global const struct disks_member *member) {
    const float qx = px - 0.5f * DISKS_WF, qy = py - 0.5f * DISKS_WF;
    const float4 own_x = ox - 0.5f * DISKS_WF, own_y = oy - 0.5f * DISKS_WF;
    ulong least = ~0UL;
    DISKS_EXACTLY4(own_x, own_y, s0, s1, s2, s3);
    DISKS_EXACTLY4(around.a.x, around.a.y, s0, s1, s2, s3);
    DISKS_EXACTLY4(around.a.x, around.a.y, s4, s5, s6, s7);
    DISKS_EXACTLY4(around.b.x, around.b.y, s0, s1, s2, s3);
    DISKS_EXACTLY4(around.b.x, around.b.y, s4, s5, s6, s7);
    for (uint k = 0u, left = around.fuller; left; k++, left >>= 1)
        if (left & 1u) {
            const float4 r = disks_rest(cells, place, k);
            DISKS_EXACTLY(r.s01, r.s23, s0);
            DISKS_EXACTLY(r.s01, r.s23, s1);
        }
    return least < member->contact ? -1.0f : 1.0f;
}
#else
/* Smallest r^2 - contact between (px, py), the others of its cell at (ox, oy), and the disks
 * around. Its sign is exact. */
ERGO_INLINE float disks_gap_of(DISKS_SPACE const DISKS_RAW *cells, struct disks_place place,
                               struct disks_around around, float4 ox, float4 oy, float px, float py,
                               __global const struct disks_member *member) {
    const float qx = px - 0.5f * DISKS_WF, qy = py - 0.5f * DISKS_WF;
    const float high = member->contact_high, low = member->contact_low;
    const float8 a = disks_gap8(around.a.x - qx, around.a.y - qy, high, low);
    const float8 b = disks_gap8(around.b.x - qx, around.b.y - qy, high, low);
    float gap = DISKS_LESS(disks_least4(disks_gap4(ox - px, oy - py, high, low)),
                           disks_least8(DISKS_LESS(a, b)));
    for (uint k = 0u, left = around.fuller; left; k++, left >>= 1)
        if (left & 1u) {
            const float4 r = disks_rest(cells, place, k);
            gap = DISKS_LESS(
                gap, disks_least4(disks_gap4((float4)(r.s0, r.s1, r.s0, r.s1) - qx,
                                             (float4)(r.s2, r.s3, r.s2, r.s3) - qy, high, low)));
        }
    return gap;
}
#endif

/* Smallest r^2 in fp32 between (px, py), the others of its cell, and all disks around. */
ERGO_INLINE float disks_nearest_of_all(DISKS_SPACE const DISKS_RAW *cells, struct disks_place place,
                                       struct disks_around around, float4 ox, float4 oy, float px,
                                       float py, float square) {
    const float4 ux = ox - px, uy = oy - py;
    float least = DISKS_LESS(disks_nearest(around, px, py, square),
                             disks_least4(DISKS_LENGTH2(ux, uy, square)));
    uint left = around.fuller;
    while (left & (left - 1u)) { /* the last of them is in around.rest and has been seen */
        const uint k = 31u - clz(left & (0u - left));
        const float4 r = disks_rest(cells, place, k);
        const float2 x = r.s01 - (px - 0.5f * DISKS_WF), y = r.s23 - (py - 0.5f * DISKS_WF);
        const float2 r2 = DISKS_LENGTH2(x, y, square);
        least = DISKS_LESS(least, DISKS_LESS(r2.x, r2.y));
        left &= left - 1u;
    }
    return least;
}

/*
 * A cell's trials, whatever the cell holds and however close a disk comes: exact, and slow. It
 * starts from the beginning and not where the fast trials ended, so it reads the cell again.
 * Returns the number of accepted moves.
 */
ERGO_INLINE uint disks_update_slowly(DISKS_SPACE DISKS_RAW *cells, struct disks_place place,
                                     struct disks_around around, uint entity, ulong step,
                                     __global const struct disks_member *member,
                                     const struct disks_confined *confined) {
    const uint at = place.row[1] + place.col[1];
    uint accepted = 0u, slot = 0u;
    struct disks_cell all = disks_load(cells, place.second, at);
    const uint n = disks_count(all);
    if (n == 0u) /* GPUs come here with an empty cell that has two fuller neighbours */
        return 0u;
    DISKS_NO_UNROLL
    for (uint done = 0u; done < (uint)DISKS_MOVES; done += 4u) {
        struct disks_four four = disks_four_from(member, entity, step, done);
#ifndef DISKS_NO_SHUFFLE
        if (done == 0u)
            all = disks_shuffle(all, n, four.spare);
#endif
        DISKS_NO_UNROLL
        for (uint s = done; s < done + 4u && s < (uint)DISKS_MOVES; s++) {
            const int4 me = (int4)(0, 1, 2, 3) == (int4)((int)slot);
            const float4 ox = select(all.x, (float4)(DISKS_FAR), me);
            const float4 mx = select((float4)(0.0f), all.x, me);
            const float4 my = select((float4)(0.0f), all.y, me);
            float px = mx.s0 + mx.s1 + mx.s2 + mx.s3, py = my.s0 + my.s1 + my.s2 + my.s3;
#ifdef DISKS_REFLECT
            disks_reflect_slowly(cells, place, around, disks_along_y(step, s), ox, all.y,
                                 four.bits.s0, member, &px, &py);
            uint good = 1u;
#else
            px += four.dx.s0;
            py += four.dy.s0;
            uint good = disks_inside(px, py, member->leave);
#endif
            if (good) {
                const float least =
                    disks_nearest_of_all(cells, place, around, ox, all.y, px, py, member->square);
                good = (uint)(least > member->low);
                if (good && least < member->high)
                    good = (uint)(disks_gap_of(cells, place, around, ox, all.y, px, py, member) >=
                                  0.0f);
            }
            DISKS_LET(good, confined, mx.s0 + mx.s1 + mx.s2 + mx.s3, my.s0 + my.s1 + my.s2 + my.s3,
                      px, py, DISKS_FATE(four, s0));
            if (good) {
                all.x = select(all.x, (float4)(px), me);
                all.y = select(all.y, (float4)(py), me);
                accepted++;
            }
            slot = slot + 1u < n ? slot + 1u : 0u;
#ifdef DISKS_REFLECT
            four.bits = four.bits.s1230;
#else
            four.dx = four.dx.s1230;
            four.dy = four.dy.s1230;
#endif
#ifdef DISKS_FIELD
            four.fates = four.fates.s1230;
#endif
        }
    }
    disks_store(cells, place.second, at, all);
    return accepted;
}

/* ---- the fast way --------------------------------------------------------------------------- */

/* Nearly all crowded cells have three disks. With DISKS_WAITS a whole work-group waits at a barrier
 * while one cell takes the slow way, so there cells of three disks go the fast way too: 256^2 disks
 * are 6% faster on an H200. Elsewhere this would cost 3% in all cells. With more than four moves
 * the fast way would have to count whose turn it is, so these go the slow way. */
#if defined(DISKS_WAITS) && DISKS_MOVES <= 4
#define DISKS_THIRD(three, two) (three)
#else
#define DISKS_THIRD(three, two) (two)
#endif

/* Where move i of `four`, number s of the cell, takes a disk at (px, py) that has (ax, ay) and (bx,
 * by) beside it in its cell. */
#ifdef DISKS_REFLECT
#define DISKS_ALLOWED(px, py) ((uint)(own.s0 < DISKS_EMPTY))
#define DISKS_PROPOSE(s, i)                                                                        \
    const uint axis = disks_along_y(step, s);                                                      \
    const struct disks_line line = disks_line_of(member, axis);                                    \
    struct disks_free f = disks_free_of_two(around, axis, px, py, line);                           \
    f = disks_free_of(f, axis, ax - 0.5f * DISKS_WF, ay - 0.5f * DISKS_WF, px, py, line);          \
    if (DISKS_THIRD(three, 0u))                                                                    \
        f = disks_free_of(f, axis, bx - 0.5f * DISKS_WF, by - 0.5f * DISKS_WF, px, py, line);      \
    if (around.fuller) {                                                                           \
        f = disks_free_of(f, axis, around.rest.s0, around.rest.s2, px, py, line);                  \
        f = disks_free_of(f, axis, around.rest.s1, around.rest.s3, px, py, line);                  \
    }                                                                                              \
    disks_reflect(f, axis, four.bits.i, &px, &py)
#else
#define DISKS_ALLOWED(px, py) disks_inside(px, py, member->leave)
#define DISKS_PROPOSE(s, i)                                                                        \
    px += four.dx.i;                                                                               \
    py += four.dy.i
#endif

/* Where a field compares with. */
#ifdef DISKS_FIELD
#define DISKS_FROM(px, py) const float fx = px, fy = py
#else
#define DISKS_FROM(px, py)
#endif

/* A trial in a cell of up to three disks (x0 x1 y0 y1 in own, x2 y2 in x, y). It moves slot 1 if
 * `second`, slot 2 if `third`, else slot 0. */
#define DISKS_TRIAL(second, third, s, i)                                                           \
    do {                                                                                           \
        const uint is1 = (second), is2 = DISKS_THIRD(third, 0u), is0 = ~(is1 | is2) & 1u;          \
        float px = is2 ? x : is1 ? own.s1 : own.s0, py = is2 ? y : is1 ? own.s3 : own.s2;          \
        const float ax = is1 ? own.s0 : own.s1, ay = is1 ? own.s2 : own.s3;                        \
        const float bx = is2 ? own.s0 : x, by = is2 ? own.s2 : y;                                  \
        DISKS_FROM(px, py);                                                                        \
        DISKS_PROPOSE(s, i);                                                                       \
        const float ux = ax - px, uy = ay - py, vx = bx - px, vy = by - py;                        \
        const float u2 = DISKS_LENGTH2(ux, uy, member->square);                                    \
        const float own2 = DISKS_THIRD(DISKS_LESS(u2, DISKS_LENGTH2(vx, vy, member->square)), u2); \
        const float least = DISKS_LESS(disks_nearest(around, px, py, member->square), own2);       \
        uint good = DISKS_ALLOWED(px, py) & (uint)(least > member->low);                           \
        DISKS_LET(good, confined, fx, fy, px, py, DISKS_FATE(four, i));                            \
        close |= good & (uint)(least < member->high);                                              \
        accepted += good;                                                                          \
        own.s0 = good & is0 ? px : own.s0;                                                         \
        own.s2 = good & is0 ? py : own.s2;                                                         \
        own.s1 = good & is1 ? px : own.s1;                                                         \
        own.s3 = good & is1 ? py : own.s3;                                                         \
        x = good & is2 ? px : x;                                                                   \
        y = good & is2 ? py : y;                                                                   \
    } while (0)

/* The update of one cell in a sub-sweep. Returns accepted moves, plus 2^16 if the cell has disks.
 */
ERGO_INLINE uint disks_update(DISKS_SPACE DISKS_RAW *cells, struct disks_place place, uint entity,
                              ulong step, __global const struct disks_member *member,
                              const struct disks_confined *confined) {
    const uint at = place.row[1] + place.col[1];
    struct disks_around around;
    uint crowded, three = 0u, accepted = 0u, close = 0u;
    float x = DISKS_FAR, y = 0.0f;
    /* drawn here, while the loads are under way */
    const struct disks_four first = disks_four_from(member, entity, step, 0u);
    float4 own = disks_load_around(cells, place, member->square, &around, &crowded);
#if defined(DISKS_CPU) || defined(DISKS_FULL)
    /* Not elsewhere: there an empty cell waits for the others of its row of lanes anyway, and an
     * early return makes the compiler put the random numbers after the loads. */
    if (!(own.s0 < DISKS_EMPTY))
        return 0u;
#endif
#ifdef DISKS_FULL
    return disks_update_slowly(cells, place, around, entity, step, member, confined) + 0x10000u;
#else
    const uint two = (uint)(own.s1 < DISKS_EMPTY);
    if (DISKS_THIRD(crowded, 0u)) { /* seldom */
        const float4 rest = disks_second(cells[at], cells[DISKS_SECOND(place.second, at)]);
        crowded = (uint)(rest.s1 < DISKS_EMPTY);
        three = 1u;
        x = rest.s0;
        y = rest.s2;
    }
#ifndef DISKS_NO_SHUFFLE
    uint k = ergo_below(first.spare, three ? 6u : 2u); /* as disks_shuffle() */
    if (three) {
        const uint j = k % 3u;
        const float sx = x, sy = y;
        k /= 3u;
        x = j == 0u ? own.s0 : j == 1u ? own.s1 : x;
        y = j == 0u ? own.s2 : j == 1u ? own.s3 : y;
        own.s0 = j == 0u ? sx : own.s0;
        own.s2 = j == 0u ? sy : own.s2;
        own.s1 = j == 1u ? sx : own.s1;
        own.s3 = j == 1u ? sy : own.s3;
    }
    if (two && k == 0u)
        own = own.s1032;
#endif
    for (uint done = 0u; done < (uint)DISKS_MOVES; done += 4u) {
        const struct disks_four four = done ? disks_four_from(member, entity, step, done) : first;
        DISKS_TRIAL(0u, 0u, done, s0);
        if (done + 1u < (uint)DISKS_MOVES)
            DISKS_TRIAL(two, 0u, done + 1u, s1);
        if (done + 2u < (uint)DISKS_MOVES)
            DISKS_TRIAL(0u, three, done + 2u, s2);
        if (done + 3u < (uint)DISKS_MOVES)
            DISKS_TRIAL(two & ~three, 0u, done + 3u, s3);
    }
    if (crowded | close | (around.fuller & (around.fuller - 1u)))
        accepted = disks_update_slowly(cells, place, around, entity, step, member, confined);
    else if (three)
        disks_store(cells, place.second, at, disks_join(own, (float4)(x, DISKS_FAR, y, 0.0f)));
    else
        cells[at] = disks_raw(disks_join(own, DISKS_NOTHING));
    return own.s0 < DISKS_EMPTY ? accepted + 0x10000u : 0u;
#endif
}

#endif
