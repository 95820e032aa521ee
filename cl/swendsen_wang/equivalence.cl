/*
 * Labels by label equivalence (K. A. Hawick, A. Leist, D. P. Playne, Parallel Computing 36, 655
 * (2010); O. Kalentev et al., J. Parallel Distrib. Comput. 71, 615 (2011)), as Komura and Okabe
 * (2013, section 2) use it: scanning and analysis in turn until scanning changes nothing. On single
 * sites, all of which have labels here. The labels are those of the union-find.
 */
#include "swendsen_wang/bonds.h"
#include "swendsen_wang/clusters.h"
#include "swendsen_wang/core.h"
#include "swendsen_wang/labels.h"

#define SW_SITES (32UL * SW_PLANE_WORDS)

__kernel void sw_equivalence_bonds(__global const uint *spins,
                                   __global const struct sw_member *members, __global uint *right,
                                   __global uint *down, ulong step) {
    const uint word = (uint)get_global_id(0), index = (uint)get_global_id(1);
    const ulong plane = (ulong)index * SW_PLANE_WORDS;
    if (word >= SW_PLANE_WORDS)
        return;
    const struct sw_member m = members[index];
    uint side, under;
    sw_equal(spins + plane * SW_PLANES, word % SW_WORDS, word / SW_WORDS, &side, &under);
    sw_activate(&m, word % SW_WORDS, word / SW_WORDS, step, &side, &under);
    right[plane + word] = side;
    down[plane + word] = under;
}

/* Every site its own label. */
__kernel void sw_equivalence_start(__global uint *labels) {
    const uint site = (uint)get_global_id(0);
    if (site < SW_SITES)
        labels[(ulong)get_global_id(1) * SW_SITES + site] = site;
}

/*
 * Scanning: where a neighbour across an active bond has a smaller label, the site's label becomes
 * equivalent to it. around: also bonds around the lattice. *changed: something was smaller.
 */
__kernel void sw_equivalence_scan(__global const uint *right, __global const uint *down,
                                  __global uint *labels, volatile __global uint *changed,
                                  uint around) {
    const uint site = (uint)get_global_id(0), index = (uint)get_global_id(1);
    if (site >= SW_SITES)
        return;
    const uint word = site >> 5, bit = site & 31u, i = word % SW_WORDS, y = word / SW_WORDS;
    volatile __global uint *own = labels + (ulong)index * SW_SITES;
    const ulong at = (ulong)index * SW_PLANE_WORDS + word;
    if (bit > sw_last_bit(i))
        return;
    const bool last = i + 1u == SW_WORDS && bit == sw_last_bit(i);
    for (uint direction = 0; direction < 2u; direction++) {
        const uint bonds = direction ? down[at] : right[at];
        const bool edge = direction ? y + 1u == SW_LY : last;
        if (!(bonds >> bit & 1u) || (edge && !around))
            continue;
        const uint next_row = edge ? 32u * i + bit : site + 32u * SW_WORDS;
        const uint next_site = edge ? 32u * (word - i) : site + 1u;
        const uint other = direction ? next_row : next_site;
        const uint a = SW_READ(&own[site]), b = SW_READ(&own[other]);
        if (a == b)
            continue;
        atomic_min(&own[a > b ? a : b], a > b ? b : a);
        atomic_or(changed, 1u);
    }
}

/* Analysis: follow the chain of equivalences to its end. */
__kernel void sw_equivalence_analyse(__global uint *labels) {
    const uint site = (uint)get_global_id(0);
    __global uint *own = labels + (ulong)get_global_id(1) * SW_SITES;
    if (site >= SW_SITES)
        return;
    uint odd = 0u;
    const uint root = sw_find(own, site, &odd);
    if (root != site)
        atomic_xchg(&own[site], root);
}

/* Sizes of clusters at their roots, which are 0 before; each run is added alone. */
__kernel void sw_equivalence_sizes(__global const uint *right, __global const uint *labels,
                                   volatile __global uint *sizes) {
    const uint word = (uint)get_global_id(0), index = (uint)get_global_id(1);
    if (word >= SW_PLANE_WORDS)
        return;
    const uint valid = sw_valid(word % SW_WORDS);
    const uint starts = sw_starts(right[(ulong)index * SW_PLANE_WORDS + word], valid);
    uint rest = starts;
    while (rest) {
        const uint bit = 31u - ERGO_CLZ(rest);
        rest ^= 1u << bit;
        const uint root = sw_find_still(labels + (ulong)index * SW_SITES, 32u * word + bit);
        atomic_add(&sizes[(ulong)index * SW_SITES + root], popcount(sw_run(starts, bit, valid)));
    }
}

__kernel void sw_equivalence_clear(__global uint *sizes) {
    const uint site = (uint)get_global_id(0);
    if (site < SW_SITES)
        sizes[(ulong)get_global_id(1) * SW_SITES + site] = 0u;
}

/* Sums over clusters; a work-group sees at most 2^15 words. */
__kernel void sw_equivalence_sums(__global const uint *right, __global const uint *labels,
                                  __global const uint *sizes, __global uint *sums, uint sample) {
    __local uint fields[SW_CLUSTER_FIELDS];
    const uint item = (uint)get_local_id(0), size = (uint)get_local_size(0);
    const uint group = (uint)get_group_id(0), index = (uint)get_global_id(1);
    __global const uint *own = labels + (ulong)index * SW_SITES;
    const uint word = (uint)get_global_id(0);
    sw_count_begin(fields, item, size);
    barrier(CLK_LOCAL_MEM_FENCE);
    uint rest = 0u;
    if (word < SW_PLANE_WORDS)
        rest = sw_starts(right[(ulong)index * SW_PLANE_WORDS + word], sw_valid(word % SW_WORDS));
    while (rest) {
        const uint bit = 31u - ERGO_CLZ(rest), site = 32u * word + bit;
        rest ^= 1u << bit;
        if (own[site] == site)
            sw_count(fields, sizes[(ulong)index * SW_SITES + site]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    const ulong member_at = (ulong)sample * get_global_size(1) + index;
    sw_count_end(sums + (member_at * SW_SUM_SLOTS + group % SW_SUM_SLOTS) * SW_CLUSTER_FIELDS,
                 fields, item, size);
}

/* Every word's runs take the state of their cluster's root. */
__kernel void sw_equivalence_flip(__global uint *spins, __global const struct sw_member *members,
                                  __global const uint *right, __global const uint *labels,
                                  ulong step) {
    const uint word = (uint)get_global_id(0), index = (uint)get_global_id(1);
    if (word >= SW_PLANE_WORDS)
        return;
    __global uint *planes = spins + (ulong)index * (SW_PLANES * SW_PLANE_WORDS);
    __global const uint *own = labels + (ulong)index * SW_SITES;
    const uint key0 = members[index].key0, key1 = members[index].key1;
    const uint valid = sw_valid(word % SW_WORDS);
    const uint starts = sw_starts(right[(ulong)index * SW_PLANE_WORDS + word], valid);
    uint bits[SW_PLANES];
    for (uint p = 0; p < SW_PLANES; p++)
        bits[p] = 0u;
    uint rest = starts;
    while (rest) {
        const uint bit = 31u - ERGO_CLZ(rest);
        rest ^= 1u << bit;
        const uint root = sw_find_still(own, 32u * word + bit);
        const uint state = sw_state(sw_global_site(root), SW_PURPOSE_SPIN, (uint)step,
                                    (uint)(step >> 32), key0, key1);
        const uint run = sw_run(starts, bit, valid);
        for (uint p = 0; p < SW_PLANES; p++)
            bits[p] |= state >> p & 1u ? run : 0u;
    }
    for (uint p = 0; p < SW_PLANES; p++)
        planes[p * SW_PLANE_WORDS + word] = bits[p];
}
