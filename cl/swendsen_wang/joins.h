/*
 * Labels in global memory by union-find. A label leads to a smaller index of the same cluster; a
 * root's label leads to itself. A join only ever lowers labels, by atomic_min. So any order of
 * work-items ends with the same sets, and the root of each set is its smallest index.
 *
 * With SW_LABEL_BITS above 0 a label also records whether the path to the index that it leads to
 * crosses the lattice's edges: a bit for each direction, in the lowest bits, set if the path goes
 * around an odd number of times in it. With two directions the label is 4 times the index, plus 1
 * for right, plus 2 for down. Joins inside the lattice have no such bits. If a join meets two sites
 * of one root, by another path, then the bits that differ are those of a closed path. All labels
 * are true at all times and no join is lost, so the directions in which some closed path of a
 * cluster goes around an odd number of times are found in any order. In two dimensions a closed
 * path that crosses no bond twice goes around an odd number of times in one of the directions, or
 * not at all: there the bits differ exactly if a cluster leads around the lattice (J. Machta et
 * al., Phys. Rev. E 54, 1332 (1996), keep the distances).
 */
#ifndef ERGO_CL_SWENDSEN_WANG_JOINS_H
#define ERGO_CL_SWENDSEN_WANG_JOINS_H

#include "swendsen_wang/relaxed.h"

#ifndef SW_LABEL_BITS
#define SW_LABEL_BITS 0u
#endif
#define SW_LABEL(index) ((index) << SW_LABEL_BITS)
#define SW_LEADS(label) ((label) >> SW_LABEL_BITS)
#define SW_ODD(label) ((label) & ((1u << SW_LABEL_BITS) - 1u))

/* The root of i. *odd is changed by the bits of the path there. */
ERGO_INLINE uint sw_find(__global uint *labels, uint i, uint *odd) {
    uint next = SW_READ(&labels[i]);
    while (SW_LEADS(next) != i) {
        const uint after = SW_READ(&labels[SW_LEADS(next)]), both = after ^ SW_ODD(next);
        *odd ^= SW_ODD(both); /* a root's own label has no bits */
        if (SW_LEADS(after) == SW_LEADS(next))
            return SW_LEADS(next);
        SW_LOWER(&labels[i], both); /* halves the path */
        i = SW_LEADS(after);
        next = SW_READ(&labels[i]);
    }
    return i;
}

/* The root of i in a later kernel, when nothing is joined any more. */
ERGO_INLINE uint sw_find_still(__global const uint *labels, uint i) {
    uint next = SW_LEADS(labels[i]);
    while (next != i) {
        i = next;
        next = SW_LEADS(labels[i]);
    }
    return i;
}

/* The same with the bits of the path there, by which *odd is changed. */
ERGO_INLINE uint sw_find_still_odd(__global const uint *labels, uint i, uint *odd) {
    uint next = labels[i];
    while (SW_LEADS(next) != i) {
        *odd ^= SW_ODD(next);
        i = SW_LEADS(next);
        next = labels[i];
    }
    return i;
}

/* Join a and b. odd: the bits of the path from a to b. Returns nonzero if they contradict earlier
 * joins, that is, if the cluster leads around the lattice. */
ERGO_INLINE uint sw_join(__global uint *labels, uint a, uint b, uint odd) {
    while (1) {
        a = sw_find(labels, a, &odd);
        b = sw_find(labels, b, &odd);
        if (a == b)
            return odd;
        const uint small = a < b ? a : b, large = a < b ? b : a;
        const uint before = atomic_min(&labels[large], SW_LABEL(small) | odd);
        if (before == SW_LABEL(large))
            return 0u;
        /* its label changed meanwhile, so the index that it led to has to be joined too */
        a = SW_LEADS(before);
        b = small;
        odd ^= SW_ODD(before);
    }
}

#endif
