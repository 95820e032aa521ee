/*
 * Labels by union-find. A label leads to a smaller index of the same cluster, a root to itself;
 * only first sites of runs (sw_starts) have labels. Joining never writes anything but a smaller
 * label by atomic_min, so all orders of all work-items end with the same sets, and the root of each
 * is its smallest index.
 */
#ifndef ERGO_CL_SWENDSEN_WANG_LABELS_H
#define ERGO_CL_SWENDSEN_WANG_LABELS_H

/* Reads beside atomic writes: plain ones see an old or a new label, and both lead on. Oclgrind
 * calls that a race (src/core/quirks.c defines the macro there). */
#ifdef ERGO_ATOMIC_READS
#define SW_READ(p) atomic_or((p), 0u)
#else
#define SW_READ(p) (*(p))
#endif

ERGO_INLINE uint sw_find(volatile __global uint *labels, uint i) {
    uint next = SW_READ(&labels[i]);
    while (next != i) {
        i = next;
        next = SW_READ(&labels[i]);
    }
    return i;
}

/* After a kernel's end, when nothing joins any more. */
ERGO_INLINE uint sw_find_still(__global const uint *labels, uint i) {
    uint next = labels[i];
    while (next != i) {
        i = next;
        next = labels[i];
    }
    return i;
}

ERGO_INLINE void sw_join(volatile __global uint *labels, uint a, uint b) {
    while (1) {
        a = sw_find(labels, a);
        b = sw_find(labels, b);
        if (a == b)
            break;
        const uint small = a < b ? a : b, large = a < b ? b : a;
        const uint before = atomic_min(&labels[large], small);
        if (before == large)
            break;
        /* it led elsewhere meanwhile: that has to be joined too */
        a = before;
        b = small;
    }
}

/* In a tile, bank by bank: label n (32 item + bit) is at [bit][item]. */
#define SW_AT(n) (((n)&31u) * SW_TILE_ITEMS + ((n) >> 5))

ERGO_INLINE uint sw_find_local(volatile __local uint *labels, uint i) {
    uint next = SW_READ(&labels[SW_AT(i)]);
    while (next != i) {
        i = next;
        next = SW_READ(&labels[SW_AT(i)]);
    }
    return i;
}

ERGO_INLINE void sw_join_local(volatile __local uint *labels, uint a, uint b) {
    while (1) {
        a = sw_find_local(labels, a);
        b = sw_find_local(labels, b);
        if (a == b)
            break;
        const uint small = a < b ? a : b, large = a < b ? b : a;
        const uint before = atomic_min(&labels[SW_AT(large)], small);
        if (before == large)
            break;
        a = before;
        b = small;
    }
}

#endif
