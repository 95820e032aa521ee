/*
 * Reflections: a cell's update by moves along lines. DISKS_SPACE as in cell.h.
 *
 * A move takes one disk along x or y, at u on that line, where all other disks stand still. Each
 * other disk within reach blocks a part of the line: nothing nearer to it than disks_chord(), which
 * is a little less than where they would touch. Between the nearest such part below u, the nearest
 * above, and the cell's walls lie the whole numbers low to high. The disk goes to low + high - u,
 * or, one time in four, anywhere from low to high. The move is accepted if nothing overlaps.
 *
 * Balance: low and high follow from the other disks and from which of them are below u, and these
 * are the same for every place between low and high. So the reflection undoes itself, a place drawn
 * at random is as likely from each of them, and refusing overlaps leaves all places without one
 * equally likely. How near disks_chord() comes to the true length decides how many moves are
 * refused, and nothing else; but it may not be longer, or u itself could lie outside (core.h). All
 * of it is pinned fp32, so it needs no exact way.
 */
#ifndef ERGO_CL_HARD_DISKS_REFLECT_H
#define ERGO_CL_HARD_DISKS_REFLECT_H

/* The ends of the free part, from the middle of the cell; each is negated where that makes it a
 * maximum. */
struct disks_free {
    float low, minus_high;
};

/* What a line along x or y needs of the member. Where units differ along x and y, a distance across
 * the line goes into units of x, and a chord from there into those of the line. */
struct disks_line {
    float contact, across, along;
};

ERGO_INLINE struct disks_line disks_line_of(__global const struct disks_member *member, uint axis) {
    const struct disks_line line = {member->low, axis ? 1.0f : member->aspect[0],
                                    axis ? member->aspect[1] : 1.0f};
    return line;
}
#ifdef DISKS_RECTANGULAR
#define DISKS_CHORD(name, across_, line)                                                           \
    (name((across_) * (line).across, (line).contact) * (line).along)
#else
#define DISKS_CHORD(name, across_, line) name(across_, (line).contact)
#endif

DISKS_DEFINE_CHORD(disks_chord4, float4, uint4, as_uint4, as_float4)
DISKS_DEFINE_CHORD(disks_chord2, float2, uint2, as_uint2, as_float2)

/* The largest of disks_chord() - |u| over six disks of one side. All of them are outside of the
 * cell, where |u| has the sign of its side. An empty slot is far away, along or across. */
ERGO_INLINE float disks_side(float4 u4, float2 u2, float4 v4, float2 v2, float v,
                             struct disks_line line) {
    const float4 a = DISKS_CHORD(disks_chord4, v4 - v, line) - fabs(u4);
    const float2 b =
        DISKS_LARGER(DISKS_LARGER(a.lo, a.hi), DISKS_CHORD(disks_chord2, v2 - v, line) - fabs(u2));
    return DISKS_LARGER(b.x, b.y);
}

/* A disk that may be on either side. */
ERGO_INLINE struct disks_free disks_beside(struct disks_free f, float u, float v, float pu,
                                           float pv, struct disks_line line) {
    const float chord = DISKS_CHORD(disks_chord, v - pv, line);
    const float low = u + chord, minus_high = chord - u;
    const uint blocks = (uint)(chord > 0.0f), below = (uint)(u < pu);
    f.low = blocks & below && low > f.low ? low : f.low;
    f.minus_high = blocks & ~below && minus_high > f.minus_high ? minus_high : f.minus_high;
    return f;
}

/* Free part of the line through (px, py), from the middle of the cell, as far as slots 0 and 1 of
 * the neighbours block it. */
ERGO_INLINE struct disks_free disks_free_x(struct disks_around n, float px, float py,
                                           struct disks_line line) {
    struct disks_free f;
    f.low = disks_side(n.a.x.s0123, n.a.x.s45, n.a.y.s0123, n.a.y.s45, py, line);
    f.minus_high = disks_side(n.b.x.s0123, n.b.x.s45, n.b.y.s0123, n.b.y.s45, py, line);
    f = disks_beside(f, n.a.x.s6, n.a.y.s6, px, py, line);
    f = disks_beside(f, n.a.x.s7, n.a.y.s7, px, py, line);
    f = disks_beside(f, n.b.x.s6, n.b.y.s6, px, py, line);
    return disks_beside(f, n.b.x.s7, n.b.y.s7, px, py, line);
}

ERGO_INLINE struct disks_free disks_free_y(struct disks_around n, float px, float py,
                                           struct disks_line line) {
    const float4 below_x = (float4)(n.a.x.s0, n.a.x.s1, n.a.x.s6, n.a.x.s7);
    const float4 below_y = (float4)(n.a.y.s0, n.a.y.s1, n.a.y.s6, n.a.y.s7);
    const float4 above_x = (float4)(n.a.x.s4, n.a.x.s5, n.b.x.s6, n.b.x.s7);
    const float4 above_y = (float4)(n.a.y.s4, n.a.y.s5, n.b.y.s6, n.b.y.s7);
    struct disks_free f;
    f.low = disks_side(below_y, n.b.y.s01, below_x, n.b.x.s01, px, line);
    f.minus_high = disks_side(above_y, n.b.y.s45, above_x, n.b.x.s45, px, line);
    f = disks_beside(f, n.a.y.s2, n.a.x.s2, py, px, line);
    f = disks_beside(f, n.a.y.s3, n.a.x.s3, py, px, line);
    f = disks_beside(f, n.b.y.s2, n.b.x.s2, py, px, line);
    return disks_beside(f, n.b.y.s3, n.b.x.s3, py, px, line);
}

/* As far as slots 0 and 1 of the neighbours block the line through (px, py) of the cell. */
ERGO_INLINE struct disks_free disks_free_of_two(struct disks_around n, uint axis, float px,
                                                float py, struct disks_line line) {
    const float qx = px - 0.5f * DISKS_WF, qy = py - 0.5f * DISKS_WF;
    if (axis)
        return disks_free_y(n, qx, qy, line);
    return disks_free_x(n, qx, qy, line);
}

/* And as far as a disk at (x, y) from the middle does, anywhere. */
ERGO_INLINE struct disks_free disks_free_of(struct disks_free f, uint axis, float x, float y,
                                            float px, float py, struct disks_line line) {
    const float qx = px - 0.5f * DISKS_WF, qy = py - 0.5f * DISKS_WF;
    return disks_beside(f, axis ? y : x, axis ? x : y, axis ? qy : qx, axis ? qx : qy, line);
}

/* Move a disk at (*px, *py) in its cell along the line. */
ERGO_INLINE void disks_reflect(struct disks_free f, uint axis, uint bits, float *px, float *py) {
    const float low = disks_round(DISKS_LARGER(f.low + 0.5f * DISKS_WF, 0.0f));
    const float high = disks_round(DISKS_LESS(0.5f * DISKS_WF - f.minus_high, DISKS_WF - 1.0f));
    const float to = disks_reflection(axis ? *py : *px, low, high, bits);
    *px = axis ? *px : to;
    *py = axis ? to : *py;
}

/* The same where any neighbour may be fuller; the others of the cell at (ox, oy). */
ERGO_INLINE void disks_reflect_slowly(DISKS_SPACE const DISKS_RAW *cells, struct disks_place place,
                                      struct disks_around around, uint axis, float4 ox, float4 oy,
                                      uint bits, __global const struct disks_member *member,
                                      float *px, float *py) {
    const float4 x = ox - 0.5f * DISKS_WF, y = oy - 0.5f * DISKS_WF;
    const struct disks_line line = disks_line_of(member, axis);
    struct disks_free f = disks_free_of_two(around, axis, *px, *py, line);
    f = disks_free_of(f, axis, x.s0, y.s0, *px, *py, line);
    f = disks_free_of(f, axis, x.s1, y.s1, *px, *py, line);
    f = disks_free_of(f, axis, x.s2, y.s2, *px, *py, line);
    f = disks_free_of(f, axis, x.s3, y.s3, *px, *py, line);
    for (uint k = 0u, left = around.fuller; left; k++, left >>= 1)
        if (left & 1u) {
            const float4 r = disks_rest(cells, place, k);
            f = disks_free_of(f, axis, r.s0, r.s2, *px, *py, line);
            f = disks_free_of(f, axis, r.s1, r.s3, *px, *py, line);
        }
    disks_reflect(f, axis, bits, px, py);
}

#endif
