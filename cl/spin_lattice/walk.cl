/*
 * Wang-Landau walks: a work-group has an estimate of ln g and its walkers, for many sweeps a
 * launch.
 *
 * Compile-time: WALK_STEP (what a flip's cost is a multiple of), WALK_GROUP, WALK_LOCAL: ln g,
 * counts and spins in local memory, else where they are kept.
 */
#include "spin_lattice/walk.h"

#if WALK_LOCAL
#define WALK_SPACE __local
#else
#define WALK_SPACE __global
#endif
#if WALK_GROUP == 1
#define WALK_BARRIER
#else
#define WALK_BARRIER barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
#endif

/* Ends an epoch: changes ln g, counts, visits and status. */
ERGO_INLINE void walk_end_epoch(WALK_SPACE long *g, WALK_SPACE uint *counts, __global uint *visits,
                                __global struct walk_status *status, __local struct walk_sums *part,
                                uint levels, uint flatness, ulong moves, const uint id,
                                const uint size) {
    const struct walk_status before = *status;
    struct walk_sums sums = walk_no_sums();
    uint anew = 0;
    for (uint i = id; i < levels; i += size) {
        const uint now = walk_visits(visits[i], counts[i]);
        g[i] = walk_ln_g(g[i], before.f, counts[i]);
        sums = walk_add(sums, g[i], now);
        visits[i] = now;
        counts[i] = 0;
    }
    part[id] = sums;
    WALK_BARRIER
    sums = part[0];
    for (uint i = 1; i < size; i++)
        sums = walk_join(sums, part[i]);
    const struct walk_status after = walk_decide(before, sums, flatness, moves, &anew);
    for (uint i = id; i < levels; i += size) {
        g[i] = walk_lowered(g[i], visits[i], sums.low);
        visits[i] = anew ? visits[i] & WALK_SEEN : visits[i];
    }
    WALK_BARRIER /* all have read the status */
        if (id == 0) *status = after;
    WALK_BARRIER
}

/* all_spins: [estimate][word][walker]; all_levels: [estimate][walker]; all_g, all_counts,
 * all_visits: [estimate][level]. random: [walkers], part: [group]. estimates: of a member; check:
 * sweeps of an epoch; flatness: per mille. */
__kernel void
walk_sweeps(__global uint *all_spins, __global uint *all_levels, __global long *all_g,
            __global uint *all_counts, __global uint *all_visits,
            __global struct walk_status *all_status, __global const uint *restrict first,
            __global const struct walk_bond *restrict bonds, __global const int *restrict fields,
            __global const struct walk_member *restrict members, uint sites, uint walkers,
            uint estimates, uint n_levels, uint check, uint flatness, ulong step, uint sweeps,
            __local uint4 *random, __local struct walk_sums *part, __local uint *at,
            __local long *own_g, __local uint *own_counts, __local uint *own_spins) {
    const uint id = (uint)get_local_id(0), size = (uint)get_local_size(0);
    const uint n_words = (sites + 31) / 32;
    const ulong e = (ulong)get_group_id(0);
    const uint estimate = (uint)e % estimates;
    const struct walk_member member = members[e / estimates];
    __global uint *kept_spins = all_spins + e * n_words * walkers;
    __global long *kept_g = all_g + e * n_levels;
    __global uint *kept_counts = all_counts + e * n_levels;
    __global uint *visits = all_visits + e * n_levels;
    __global uint *levels = all_levels + e * walkers;
    __global struct walk_status *status = all_status + e;
#if WALK_LOCAL
    __local long *g = own_g;
    __local uint *counts = own_counts, *spins = own_spins;
    for (uint i = id; i < n_levels; i += size) {
        g[i] = kept_g[i];
        counts[i] = kept_counts[i];
    }
    for (uint i = id; i < n_words * walkers; i += size)
        spins[i] = kept_spins[i];
#else
    __global long *g = kept_g;
    __global uint *counts = kept_counts, *spins = kept_spins;
#endif
    for (uint k = id; k < walkers; k += size)
        at[k] = min(levels[k], n_levels - 1); /* memory may be damaged */
    WALK_BARRIER
    for (uint s = 0; s < sweeps; s++) {
        const ulong now = step + s, f = status->f;
        for (uint quad = 0; quad < (sites + 3) / 4; quad++) {
            const struct ergo_words w =
                walk_words(quad, now, WALK_PURPOSE_SITE, estimate, member.key0, member.key1);
            const uint picks[4] = {w.x, w.y, w.z, w.w};
            const uint moves = sites - 4 * quad < 4 ? sites - 4 * quad : 4;
            for (uint k = id; k < walkers; k += size) {
                const struct ergo_words r = walk_words(
                    quad, now, WALK_PURPOSE_MOVE, estimate * walkers + k, member.key0, member.key1);
                random[k] = (uint4)(r.x, r.y, r.z, r.w);
            }
            for (uint a = 0; a < moves; a++) {
                const uint site = ergo_below(picks[a], sites);
                const uint begin = first[site], end = first[site + 1], bit = site % 32;
                const int field = fields[site];
                for (uint k = id; k < walkers; k += size) {
                    const uint word = spins[site / 32 * walkers + k];
                    int force = field;
                    for (uint b = begin; b < end; b++) {
                        const uint to = bonds[b].to;
                        const uint up = spins[to / 32 * walkers + k] >> to % 32 & 1u;
                        force += up ? bonds[b].j : -bonds[b].j;
                    }
                    const int cost = (word >> bit & 1u ? force : -force) / WALK_STEP;
                    const uint from = at[k];
                    const uint to = min((uint)((int)from + cost), n_levels - 1);
                    const uint4 words = random[k];
                    const uint own = a == 0   ? words.x
                                     : a == 1 ? words.y
                                     : a == 2 ? words.z
                                              : words.w;
                    if (walk_accepts(walk_ln_g(g[from], f, counts[from]),
                                     walk_ln_g(g[to], f, counts[to]), own)) {
                        spins[site / 32 * walkers + k] = word ^ 1u << bit;
                        at[k] = to;
                    }
                }
                WALK_BARRIER
                for (uint k = id; k < walkers; k += size)
#if WALK_GROUP == 1
                    counts[at[k]]++;
#else
                    atomic_inc(&counts[at[k]]);
#endif
                WALK_BARRIER
            }
        }
        if ((now + 1) % check == 0)
            walk_end_epoch(g, counts, visits, status, part, n_levels, flatness,
                           (now + 1) * sites * walkers, id, size);
    }
    for (uint k = id; k < walkers; k += size)
        levels[k] = at[k];
#if WALK_LOCAL
    for (uint i = id; i < n_levels; i += size) {
        kept_g[i] = g[i];
        kept_counts[i] = counts[i];
    }
    for (uint i = id; i < n_words * walkers; i += size)
        kept_spins[i] = spins[i];
#endif
}

/* numbers: [sample][estimate][WALK_NUMBERS] */
__kernel void walk_measure(__global const uint *levels, __global const struct walk_status *status,
                           __global uint *numbers, uint sample, uint estimates, uint walkers) {
    const uint e = (uint)get_global_id(0);
    if (e >= estimates)
        return;
    const struct walk_status s = status[e];
    __global uint *to = numbers + ((ulong)sample * estimates + e) * WALK_NUMBERS;
    to[WALK_LEVEL] = levels[e * walkers];
    to[WALK_LEVELS] = s.levels;
    to[WALK_F] = (uint)s.f;
    to[WALK_F + 1] = (uint)(s.f >> 32);
}
