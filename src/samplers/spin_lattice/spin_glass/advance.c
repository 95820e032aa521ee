/* Spin glasses: sweeps, exchanges, clusters, feedback and measurements of all word-lattices. */
#include <stdlib.h>

#include "dist/dist.h"
#include "samplers/spin_lattice/spin_glass/glass.h"

/* Half a sweep of all word-lattices. */
static void launch_half(struct glass_state *s, uint64_t step, unsigned colour) {
    const struct glass_shape *h = &s->shape;
    ERGO_LAUNCH(&s->e, GLASS_SWEEP,
                ergo_grid_items((size_t)h->half * h->quads, s->launch.group, glass_lattices(s)),
                BUFFER(GLASS_SPINS), BUFFER(GLASS_COUPLINGS), BUFFER(GLASS_TABLES),
                BUFFER(GLASS_KEYS), U64(step), U32(colour), VALUE(s->launch.words),
                U32(s->launch.last));
}

/* So many at once in local memory. */
static void launch_local(struct glass_state *s, uint64_t step, uint64_t sweeps) {
    const struct glass_shape *h = &s->shape;
    ERGO_LAUNCH(&s->e, GLASS_SWEEP, ergo_grid_groups(h->quads, s->launch.group, glass_lattices(s)),
                BUFFER(GLASS_SPINS), BUFFER(GLASS_COUPLINGS), BUFFER(GLASS_TABLES),
                BUFFER(GLASS_KEYS), U64(step), U32(sweeps), VALUE(s->launch.words),
                U32(s->launch.last), LOCAL(16 * h->sites));
}

static void sweeps_to(struct glass_state *s, uint64_t end) {
    while (s->e.step < end && s->e.status == ERGO_OK) {
        uint64_t now = 1;
        if (s->launch.local) {
            now = ergo_engine_next(&s->e, &s->e.pace, end - s->e.step, s->launch.launch_sweeps);
            launch_local(s, s->e.step, now);
            ergo_engine_made(&s->e, &s->e.pace, now);
        } else {
            launch_half(s, s->e.step, 0);
            launch_half(s, s->e.step, 1);
        }
        s->e.step += now;
    }
}

/* ---- exchanges ------------------------------------------------------------------------------- */

static void launch_energy(struct glass_state *s) {
    const size_t group = (size_t)1 << s->launch.levels;
    const uint32_t parts = s->launch.parts;
    ERGO_LAUNCH(&s->e, GLASS_ENERGY,
                ergo_grid_groups((size_t)s->shape.quads * parts, group, glass_lattices(s)),
                BUFFER(GLASS_SPINS), BUFFER(GLASS_COUPLINGS), BUFFER(GLASS_ENERGIES), U32(parts),
                LOCAL(16 * group * GLASS_ROOM_8));
}

static size_t pairs_of(const struct glass_shape *h, uint32_t parity) {
    return ergo_ladder_pairs(h->temperatures, parity);
}

/* Who exchanges. */
static void launch_decision(struct glass_state *s, uint32_t parity) {
    const struct glass_shape *h = &s->shape;
    ERGO_LAUNCH(&s->e, GLASS_SWAP,
                ergo_grid_groups(pairs_of(h, parity) * h->copies, 32, glass_lattices(s)),
                BUFFER(GLASS_ENERGIES), BUFFER(GLASS_SLOPES), BUFFER(GLASS_KEYS),
                BUFFER(GLASS_MASKS), U64(s->e.step), U32(parity), U32(s->launch.parts),
                VALUE(s->launch.words), U32(s->launch.last));
}

static void launch_exchange(struct glass_state *s, uint32_t parity) {
    const struct glass_shape *h = &s->shape;
    ERGO_LAUNCH(&s->e, GLASS_EXCHANGE,
                ergo_grid_items(pairs_of(h, parity) * (size_t)h->sites, s->launch.site_group,
                                glass_lattices(s)),
                BUFFER(GLASS_SPINS), BUFFER(GLASS_MASKS), BUFFER(GLASS_FROM_HOT),
                BUFFER(GLASS_ACCEPTED), BUFFER(GLASS_ROUND_TRIPS), BUFFER(GLASS_MOVED), U32(parity),
                VALUE(s->launch.words), U32(s->launch.last));
}

static void exchange(struct glass_state *s) {
    const uint32_t parity = ergo_ladder_parity(s->e.step, s->shape.swap_every);
    const uint32_t own = ergo_ladder_own_parity(s->shape.rung, parity);
    const bool here = pairs_of(&s->shape, own) > 0, ends = glass_border_due(s, parity);
    if (here || ends)
        launch_energy(s);
    if (ends)
        glass_border_begin(s, parity);
    if (here) {
        launch_decision(s, own);
        launch_exchange(s, own);
    }
    if (ends)
        glass_border_finish(s, s->e.step, parity);
}

/* ---- clusters -------------------------------------------------------------------------------- */

static void move_clusters(struct glass_state *s) {
    const struct glass_shape *h = &s->shape;
    ERGO_LAUNCH(&s->e, GLASS_CLUSTER,
                ergo_grid_groups(h->temperatures * (size_t)h->copies / 2, s->launch.cluster_group,
                                 glass_lattices(s)),
                BUFFER(GLASS_SPINS), BUFFER(GLASS_ROOM), BUFFER(GLASS_KEYS), U64(s->e.step),
                U32(glass_cluster_turn(h, s->e.step)), VALUE(s->launch.words),
                LOCAL(4 * s->launch.cluster_group));
}

/* ---- whole ladders --------------------------------------------------------------------------- */

/* Rounds of sweeps, an exchange at the end of each. */
static void launch_ladder(struct glass_state *s, uint64_t sweeps, uint64_t rounds) {
    const struct glass_shape *h = &s->shape;
    const uint32_t every = h->swap_every;
    const uint32_t parity = ergo_ladder_parity(s->e.step + sweeps, every);
    ERGO_LAUNCH(&s->e, GLASS_WHOLE,
                ergo_grid_groups(1, (size_t)h->quads * s->launch.ladder_lanes, glass_lattices(s)),
                BUFFER(GLASS_SPINS), BUFFER(GLASS_COUPLINGS), BUFFER(GLASS_TABLES),
                BUFFER(GLASS_KEYS), U64(s->e.step), U32(rounds), U32(sweeps), U32(every),
                U32(parity), VALUE(s->launch.words), U32(s->launch.last), BUFFER(GLASS_SLOPES),
                BUFFER(GLASS_FROM_HOT), BUFFER(GLASS_ACCEPTED), BUFFER(GLASS_ROUND_TRIPS),
                BUFFER(GLASS_MOVED), LOCAL(glass_ladder_bytes(h, &s->launch)));
    s->e.step += sweeps + (rounds - 1) * every;
}

/* Sweeps and exchanges to `end`, as many to a launch as it may have. */
static void ladders_to(struct glass_state *s, uint64_t end) {
    const uint64_t every = s->shape.swap_every, most = s->launch.launch_sweeps;
    while (s->e.step < end && s->e.status == ERGO_OK) {
        const uint64_t rest = end - s->e.step, begun = s->e.step;
        const uint64_t round = ergo_ladder_next(s->e.step, every) - s->e.step;
        const uint64_t now = ergo_engine_next(&s->e, &s->e.pace, rest, most);
        if (round <= now) {
            launch_ladder(s, round, 1 + (now - round) / every);
            ergo_engine_made(&s->e, &s->e.pace, s->e.step - begun);
        } else /* no exchange within reach */
            sweeps_to(s, s->e.step + (rest < round - 1 ? rest : round - 1));
    }
}

/* ---- the engine's ---------------------------------------------------------------------------- */

/* ---- feedback -------------------------------------------------------------------------------- */

/* New temperatures from the exchanges of all samples and copies of a member, on all ranks; moves
 * are counted anew. */
static void feed_back(struct glass_state *s) {
    const struct glass_shape *h = &s->shape;
    const size_t lattices = glass_lattices(s), members = s->e.batch->count, slots = h->slots;
    uint64_t *accepted = calloc(lattices, slots * sizeof *accepted);
    uint64_t *sums = calloc(members, h->rungs * sizeof *sums);
    if (!accepted || !sums)
        ERGO_ENGINE_FAIL(&s->e, ERGO_E_MEMORY, "no memory for exchanges of %zu lattices", lattices);
    ergo_engine_read(&s->e, GLASS_ACCEPTED, 0, 8 * lattices * slots, accepted);
    for (size_t i = 0; i < lattices * slots && s->e.status == ERGO_OK && !h->idle; i++)
        sums[i / slots / h->words * h->rungs + h->rung + i % slots / h->copies] += accepted[i];
    if (s->e.status == ERGO_OK) {
        if (s->shares)
            ergo_dist_sum_counts(sums, members * h->rungs);
        for (size_t m = 0; m < members; m++)
            ergo_feedback_learn(&s->feedback, s->e.step, (uint64_t)h->samples * h->copies,
                                sums + m * h->rungs, s->ladders + m * h->rungs);
    }
    glass_write_ladders(s);
    glass_clear_walkers(s);
    free(accepted);
    free(sums);
}

/* Sweeps and exchanges. */
static void chains_to(struct glass_state *s, uint64_t end) {
    const uint64_t every = s->shape.swap_every;
    const bool ladder = s->shape.rungs > 1;
    if (s->launch.whole)
        ladders_to(s, end);
    while (s->e.step < end && s->e.status == ERGO_OK) {
        const uint64_t next = ergo_ladder_next(s->e.step, every);
        sweeps_to(s, ladder && next < end ? next : end);
        if (ladder && ergo_ladder_due(s->e.step, every))
            exchange(s);
    }
}

void glass_steps(void *state, uint64_t sweeps) {
    struct glass_state *s = state;
    const uint64_t end = s->e.step + sweeps, every = s->shape.cluster_every;
    if (s->shape.rungs > 1 && s->untaken >> 31) /* before counters of 32 planes are full */
        glass_moves_take(s);
    s->untaken += sweeps;
    while (s->e.step < end && s->e.status == ERGO_OK) {
        const uint64_t learns = ergo_feedback_next(&s->feedback, s->e.step);
        uint64_t next = every ? (s->e.step / every + 1) * every : end;
        next = next < learns ? next : learns;
        next = next < end ? next : end;
        if (s->shape.idle)
            s->e.step = next;
        else
            chains_to(s, next);
        if (glass_clusters(&s->shape, s->e.step) && !s->shape.idle)
            move_clusters(s);
        if (s->e.step == learns)
            feed_back(s);
    }
}

void glass_measure(void *state, size_t sample) {
    struct glass_state *s = state;
    const struct glass_shape *h = &s->shape;
    const size_t group = (size_t)1 << s->launch.levels, lattices = glass_lattices(s);
    if (h->idle)
        return;
    launch_energy(s);
    ERGO_LAUNCH(&s->e, GLASS_OVERLAP,
                ergo_grid_groups((size_t)h->quads * h->layers, group, lattices),
                BUFFER(GLASS_SPINS), BUFFER(GLASS_COUNTS), LOCAL(16 * group * GLASS_ROOM_8));
    ERGO_LAUNCH(&s->e, GLASS_RECORD, ergo_grid_items((size_t)128 * h->quads, 16, lattices),
                BUFFER(GLASS_ENERGIES), BUFFER(GLASS_COUNTS), BUFFER(GLASS_WAVES),
                BUFFER(GLASS_RECORDS), U32(s->launch.parts), U32(sample));
}

/* Exchanges and round trips of words up to now. */
void glass_read_numbers(void *state, size_t sample) {
    struct glass_state *s = state;
    const size_t lattices = glass_lattices(s), accepted = 8 * lattices * s->shape.slots;
    if (s->shape.rungs < 2 || s->shape.idle)
        return;
    ergo_engine_read_curve(&s->e, GLASS_ACCEPTED, 0, accepted, GLASS_NUMBERS, sample, 0);
    ergo_engine_read_curve(&s->e, GLASS_ROUND_TRIPS, 0, 8 * lattices * s->shape.copies,
                           GLASS_NUMBERS, sample, accepted);
}
