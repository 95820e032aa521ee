/*
 * Facilitated dynamics with word-lattices in global memory, [member][word-lattice][site].
 *
 * Both kernels for sweeps carry out `count` attempts, in exactly this order, from attempt `attempt`
 * of sweep `sweep` on. Dimension 0 is the word-lattice, dimension 1 the member.
 */
#include "spin_lattice/facilitated.h"

/* One work-item per word-lattice makes the attempts one by one. For CPUs. */
__kernel void facilitated_serial(__global uint *spins, __global uint *flipped,
                                 __global const struct fac_member *members, ulong sweep,
                                 uint attempt, ulong count) {
    const uint word = (uint)get_global_id(0), index = (uint)get_global_id(1);
    const ulong lattice = (ulong)index * get_global_size(0) + word;
    __global uint *s = spins + lattice * FAC_SITES;
    __global uint *f = flipped + lattice * FAC_SITES;
    const struct fac_member m = members[index];
    uint i = attempt;
    for (ulong n = 0; n < count; n++) {
        const struct fac_attempt a = fac_attempt(i, sweep, word, &m);
        fac_update(s, f, a, fac_neighbours(a.site), i, sweep, word, &m);
        i++;
        if (i == FAC_SITES) {
            i = 0;
            sweep++;
        }
    }
}

#ifdef FAC_WINDOW
#define FAC_TABLE (8 * FAC_WINDOW) /* a power of two */
#define FAC_FREE 0xffffffffu
/* A site has an entry in each of two tables: one by its low bits, one by mixed bits. */
#define FAC_ENTRY(site) ((site) % FAC_TABLE)
#define FAC_OTHER(site) (FAC_TABLE + ((site)*0x9E3779B1u >> 12) % FAC_TABLE)
#if FAC_D == 3
#define FAC_LAYERS(at) (FAC_EARLIER((at).above) || FAC_EARLIER((at).below))
#else
#define FAC_LAYERS(at) false
#endif
#define FAC_EARLIER(site) (table[FAC_ENTRY(site)] < item && table[FAC_OTHER(site)] < item)

/*
 * One work-group per word-lattice makes FAC_WINDOW attempts at a time, one per work-item. An
 * attempt waits for earlier attempts of its window at its own site and at the four neighbours,
 * which are all the sites that it reads or that read it. So the result is that of the order,
 * whatever the window.
 *
 * Both tables hold, for each entry, the first waiting attempt of the sites that share the entry. An
 * attempt waits only if it finds an earlier one in both tables, so a collision in one table does no
 * harm. Two sites that share both entries only wait longer. The first waiting attempt never waits,
 * so each round makes progress; usually two rounds do. `table` has 2 FAC_TABLE entries.
 *
 * With FAC_REDO it repeats only the word-lattices that facilitated_tiles.cl gave up, from the spins
 * before.
 */
__attribute__((reqd_work_group_size(FAC_WINDOW, 1, 1))) __kernel void facilitated_window(
    __global uint *spins, __global uint *flipped, __global const struct fac_member *members,
    ulong sweep, uint attempt, ulong count, __local uint *table, __local uint *waiting
#ifdef FAC_REDO
    ,
    __global const uint *from_spins, __global const uint *from_flipped, __global uint *flags
#endif
) {
    const uint item = (uint)get_local_id(0), word = (uint)get_group_id(0);
    const uint index = (uint)get_global_id(1);
    const ulong lattice = (ulong)index * get_num_groups(0) + word;
    __global uint *s = spins + lattice * FAC_SITES;
    __global uint *f = flipped + lattice * FAC_SITES;
    const struct fac_member m = members[index];
    for (uint t = 0; t < 2 * FAC_TABLE / FAC_WINDOW; t++)
        table[t * FAC_WINDOW + item] = FAC_FREE;
    if (item == 0)
        waiting[0] = 0;
#ifdef FAC_REDO
    const uint again = flags[lattice]; /* its segment must be done again */
    for (uint site = item; site < FAC_SITES && again; site += FAC_WINDOW) {
        s[site] = from_spins[lattice * FAC_SITES + site];
        f[site] = from_flipped[lattice * FAC_SITES + site];
    }
    count = again ? count : 0;
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    if (item == 0)
        flags[lattice] = 0;
#else
    barrier(CLK_LOCAL_MEM_FENCE);
#endif
    uint i = attempt + item; /* below 2^31 + FAC_WINDOW */
    const ulong windows = (count + FAC_WINDOW - 1) / FAC_WINDOW;
    uint round = 0;
    for (ulong w = 0; w < windows; w++) {
        /* no loop: without its optimiser PoCL 3.1 then gives all items the sweep of one */
        const uint past = i / FAC_SITES;
        i -= past * FAC_SITES;
        sweep += past;
        const struct fac_attempt a = fac_attempt(i, sweep, word, &m);
        const struct fac_around at = fac_neighbours(a.site);
        bool waits = w * FAC_WINDOW + item < count;
        uint more;
        do {
            if (waits) {
                atomic_min(&table[FAC_ENTRY(a.site)], item);
                atomic_min(&table[FAC_OTHER(a.site)], item);
            }
            barrier(CLK_LOCAL_MEM_FENCE);
            const bool goes = waits && !FAC_LAYERS(at) && !FAC_EARLIER(a.site) &&
                              !FAC_EARLIER(at.north) && !FAC_EARLIER(at.east) &&
                              !FAC_EARLIER(at.south) && !FAC_EARLIER(at.west);
            if (item == 0)
                waiting[(round + 1) & 1] = 0;
            barrier(CLK_LOCAL_MEM_FENCE);
            if (waits) {
                atomic_xchg(&table[FAC_ENTRY(a.site)], FAC_FREE);
                atomic_xchg(&table[FAC_OTHER(a.site)], FAC_FREE);
            }
            if (goes)
                fac_update(s, f, a, at, i, sweep, word, &m);
            waits = waits && !goes;
            if (waits)
                atomic_or(&waiting[round & 1], 1u);
            barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
            more = waiting[round & 1];
            round++;
        } while (more);
        i += FAC_WINDOW;
    }
}
#endif

/* Set the starting spins. Dimension 0: site. */
__kernel void facilitated_start(__global uint *spins, __global uint *first, __global uint *flipped,
                                __global const struct fac_member *members, uint words, uint mode) {
    const uint site = (uint)get_global_id(0), index = (uint)get_global_id(1);
    if (site >= FAC_SITES)
        return;
    const struct fac_member m = members[index];
    for (uint word = 0; word < words; word++) {
        const ulong at = ((ulong)index * words + word) * FAC_SITES + site;
        spins[at] = fac_start(site, word, mode, &m);
        first[at] = 0;
        flipped[at] = 0;
    }
}

/* Set t = 0, the reference of Phi and of persistence. */
__kernel void facilitated_reference(__global const uint *spins, __global uint *first,
                                    __global uint *flipped, uint words) {
    const uint site = (uint)get_global_id(0), index = (uint)get_global_id(1);
    if (site >= FAC_SITES)
        return;
    for (uint word = 0; word < words; word++) {
        const ulong at = ((ulong)index * words + word) * FAC_SITES + site;
        first[at] = spins[at];
        flipped[at] = 0;
    }
}

/*
 * counts[sample][member][word-lattice][part] of (up, equal, never flipped, unequal bonds), each
 * over all realisations. `parts` is the number of groups per word-lattice. The host bounds the
 * sites of a part, so a count stays below 2^32. Dimension 0: group = word-lattice * parts + part.
 */
__kernel void facilitated_measure(__global const uint *spins, __global const uint *first,
                                  __global const uint *flipped, __global uint *counts, uint sample,
                                  uint words, uint parts, __local uint *scratch) {
    const uint item = (uint)get_local_id(0), size = (uint)get_local_size(0);
    const uint group = (uint)get_group_id(0), index = (uint)get_global_id(1);
    const uint word = group / parts, part = group - word * parts;
    const ulong lattice = ((ulong)index * words + word) * FAC_SITES;
    uint up = 0, equal = 0, never = 0, unequal = 0;
    for (uint site = part * size + item; site < FAC_SITES; site += parts * size) {
        const struct fac_around at = fac_neighbours(site);
        const uint s = spins[lattice + site];
        up += ERGO_POPCOUNT(s);
        equal += ERGO_POPCOUNT(~(s ^ first[lattice + site]) & FAC_LANES);
        never += ERGO_POPCOUNT(~flipped[lattice + site] & FAC_LANES);
        unequal += ERGO_POPCOUNT(s ^ spins[lattice + at.east]) +
                   ERGO_POPCOUNT(s ^ spins[lattice + at.south]);
#if FAC_D == 3
        unequal += ERGO_POPCOUNT(s ^ spins[lattice + at.below]);
#endif
    }
    scratch[FAC_COUNTS * item] = up;
    scratch[FAC_COUNTS * item + 1] = equal;
    scratch[FAC_COUNTS * item + 2] = never;
    scratch[FAC_COUNTS * item + 3] = unequal;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint width = size / 2; width > 0; width /= 2) {
        if (item < width)
            for (uint c = 0; c < FAC_COUNTS; c++)
                scratch[FAC_COUNTS * item + c] += scratch[FAC_COUNTS * (item + width) + c];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (item == 0)
        for (uint c = 0; c < FAC_COUNTS; c++)
            counts[(((ulong)sample * get_global_size(1) + index) * get_num_groups(0) + group) *
                       FAC_COUNTS +
                   c] = scratch[c];
}

/*
 * counts[member][word-lattice][part][realisation] of (equal, never flipped), of each realisation of
 * 32 by itself: a work-item each, and those of a part read the same words. Dimension 0: (word-
 * lattice * parts + part) * 32 + realisation.
 */
__kernel void facilitated_lanes(__global const uint *spins, __global const uint *first,
                                __global const uint *flipped, __global uint *counts, uint words,
                                uint parts) {
    const uint id = (uint)get_global_id(0), index = (uint)get_global_id(1);
    const uint lane = id % 32u, part = id / 32u % parts, word = id / 32u / parts;
    if (word >= words)
        return;
    const ulong lattice = ((ulong)index * words + word) * FAC_SITES;
    uint equal = 0, never = 0;
    for (uint site = part; site < FAC_SITES; site += parts) {
        equal += ~(spins[lattice + site] ^ first[lattice + site]) >> lane & FAC_LANES >> lane & 1u;
        never += ~flipped[lattice + site] >> lane & FAC_LANES >> lane & 1u;
    }
    const ulong row = (ulong)index * words * parts * 32u + id;
    counts[2 * row] = equal;
    counts[2 * row + 1] = never;
}
