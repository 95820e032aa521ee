/*
 * Blocks of samples: enqueue, wait, and repeat for chains that stopped because their memory was
 * full.
 *
 * A launch gets the step at which it ends, not a number of moves. So enqueueing a block again moves
 * only the chains that stopped earlier, and they make the same moves and samples as if they had
 * never stopped.
 */
#include <stdlib.h>
#include <string.h>

#include "samplers/lj_gcmc/cut.h"

/* ---- launches ---------------------------------------------------------------------------------
 */

/* Move all chains to step `to`. Samples go to the slot's block, if it has any. */
static void launch(struct lj_state *s, const struct ergo_engine_slot *slot, uint64_t to) {
    const struct lj_launch *l = &s->launch;
    if (l->board_blocks)
        lj_board_launch(s, slot, to);
    else
        ERGO_LAUNCH(&s->e, LJ_RUN, ergo_grid_groups(lj_chains(s), l->group, 1), BUFFER(LJ_MEMBERS),
                    BUFFER(LJ_CHAINS), BUFFER(LJ_PARTICLES), BUFFER(LJ_CELLS), BUFFER(LJ_OFFSETS),
                    BUFFER(LJ_SAMPLES), U64(slot->step), U64(to),
                    U64(slot->every ? slot->every : 1), U32(slot->samples), U32(s->capacity),
                    U32(s->slots), BUFFER(LJ_PAIR_ENERGIES), BUFFER(LJ_TABLES), VALUE(s->shape));
}

/* Move all chains to step `to`. `from`: the smallest step of a chain. */
static void launch_to(struct lj_state *s, const struct ergo_engine_slot *slot, uint64_t from,
                      uint64_t to) {
    const uint64_t most = lj_launch_steps(s->e.device, &s->grid, &s->launch, s->slots);
    if (s->stale)
        lj_refresh_energies(s);
    if (most == 0)
        ERGO_ENGINE_FAIL(&s->e, ERGO_E_DEVICE,
                         "%s ends a kernel's loops too early for a chain that has become this "
                         "dense: use another device",
                         s->e.device->summary.name);
    while (from < to && s->e.status == ERGO_OK) {
        uint64_t limit = most;
        if (s->launch.volume_every) {
            const uint64_t until = s->launch.volume_every - from % s->launch.volume_every;
            limit = until < most ? until : most;
            lj_volume_launch(s, from);
        }
        const uint64_t now = ergo_engine_next(&s->e, &s->e.pace, to - from, limit);
        from += now;
        launch(s, slot, from);
        ergo_engine_made(&s->e, &s->e.pace, now);
    }
}

static uint64_t end_of(const struct ergo_engine_slot *slot) {
    return slot->step + slot->samples * slot->every;
}

/* Enqueue all launches of a slot's block, for chains at step `from` or later. Where g(r) or test
 * insertions are due, chains that are not at that step keep the counts they have. */
static void launch_block(struct lj_state *s, unsigned which, uint64_t from) {
    const struct ergo_engine_slot *slot = &s->e.slots[which];
    size_t curve = 0;
    s->e.slot = which;
    for (size_t i = 0; i < slot->samples && s->e.status == ERGO_OK; i++) {
        const uint64_t at = slot->step + (i + 1) * slot->every;
        const bool due = ergo_engine_curve_due(&s->e, i);
        if (!due && !s->launch.ghosts)
            continue;
        launch_to(s, slot, from, at);
        if (due)
            lj_pairs_count(s, curve++, at);
        lj_ghosts_count(s, i, at);
        from = at > from ? at : from;
    }
    launch_to(s, slot, from, end_of(slot));
}

void lj_steps(void *state, uint64_t steps) {
    struct lj_state *s = state;
    const uint64_t from = s->e.step;
    s->e.step += steps;
    launch_to(s, &s->e.slots[s->e.slot], from, s->e.step);
}

void lj_block(void *state, size_t count, uint64_t every) {
    struct lj_state *s = state;
    const uint64_t from = s->e.step;
    s->e.step += count * every;
    launch_block(s, s->e.slot, from);
}

/* ---- chains that stopped --------------------------------------------------------------------- */

static bool all_running(const struct lj_state *s, const struct lj_chain *chains) {
    for (size_t m = 0; m < lj_chains(s); m++)
        if (chains[m].status != LJ_RUNNING)
            return false;
    return true;
}

static uint64_t furthest_behind(const struct lj_state *s) {
    uint64_t step = UINT64_MAX;
    for (size_t m = 0; m < lj_chains(s); m++)
        step = s->chains[m].step < step ? s->chains[m].step : step;
    return step;
}

static void read_chains(struct lj_state *s) {
    ergo_engine_read(&s->e, LJ_CHAINS, 0, lj_chains(s) * sizeof *s->chains, s->chains);
}

/* While a chain has stopped: give it more memory and enqueue the busy blocks again, the older
 * one first. */
static void catch_up(struct lj_state *s) {
    const struct ergo_engine_slot *slots = s->e.slots, none = {.every = 1};
    const unsigned first = slots[1].busy && (!slots[0].busy || slots[1].step < slots[0].step);
    read_chains(s);
    while (s->e.status == ERGO_OK && !all_running(s, s->chains)) {
        lj_grow(s);
        if (s->launch.whole) /* fill the cells */
            launch(s, &none, 0);
        const uint64_t from = furthest_behind(s);
        uint64_t to = from;
        for (unsigned i = 0; i < 2; i++) {
            if (!slots[i ^ first].busy)
                continue;
            launch_block(s, i ^ first, from);
            to = end_of(&slots[i ^ first]);
        }
        launch_to(s, &none, to, s->e.step);
        read_chains(s);
    }
}

enum ergo_status lj_settle(struct ergo_context *ctx, struct lj_state *s) {
    ergo_engine_begin(&s->e, ctx);
    if (s->settled && s->settled == s->e.changes) /* states are saved member by member */
        return ERGO_OK;
    catch_up(s);
    if (s->launch.board_blocks)
        lj_board_list(s);
    s->settled = s->e.status == ERGO_OK ? s->e.changes : 0;
    return ergo_engine_end(&s->e);
}

/* ---- samples ----------------------------------------------------------------------------------
 */

static void add_counts(const struct lj_counts *c, uint64_t moves, double *to) {
    const uint32_t displacements = c->tried & 0xffff, insertions = c->tried >> 16;
    to[LJ_COLUMN_TRIED] += displacements;
    to[LJ_COLUMN_TRIED + 1] += insertions;
    to[LJ_COLUMN_TRIED + 2] += (double)(moves - displacements - insertions);
    to[LJ_COLUMN_ACCEPTED] += c->accepted & 0xffff;
    to[LJ_COLUMN_ACCEPTED + 1] += c->accepted >> 16;
    to[LJ_COLUMN_ACCEPTED + 2] += c->accepted_deletion;
}

/* Counts of the last activation of a checkerboard. */
static void add_activation(const struct lj_sample *from, double *to) {
    const uint32_t counts[6] = {
        from->now.tried,  from->now.accepted,  from->now.accepted_deletion,
        from->last.tried, from->last.accepted, from->last.accepted_deletion};
    for (int k = 0; k < 6; k++)
        to[LJ_COLUMN_TRIED + k] = counts[k];
}

double lj_ghosts_mean(const struct lj_state *s, const int64_t *sums) {
    return ((double)sums[0] * 0x1p-31 + (double)sums[1]) / s->launch.ghosts;
}

void lj_columns_of(const struct lj_state *s, size_t member, const struct lj_sample *from,
                   const int64_t *ghosts, uint64_t step, double *to) {
    if (s->boxes == 2) {
        lj_gibbs_columns_of(s, member, from, ghosts, step, to);
        return;
    }
    const struct lj_system *system = &s->physics[member].system;
    struct lj_system at = *system;
    if (s->launch.volume_every)
        at.volume = lj_volume_of(system, from->size);
    to[LJ_COLUMN_PARTICLES] = from->particles;
    to[LJ_COLUMN_ENERGY] =
        lj_energy_of(system, from->energy) + lj_tail_of(&at, from->particles, from->numbers);
    to[LJ_COLUMN_VIRIAL] = lj_virial_of(system, from->virial);
    to[LJ_COLUMN_IMPULSIVE] = system->species.n
                                  ? lj_virial_of(system, from->contacts)
                                  : lj_impulsive_of(&s->physics[member].jump, from->contacts);
    to[LJ_COLUMN_GHOSTS] = ghosts ? lj_ghosts_mean(s, ghosts) : 0;
    to[LJ_COLUMN_RISES] = ghosts ? (double)ghosts[2] * 0x1p-36 / s->launch.ghosts : 0;
    to[LJ_COLUMN_FALLS] =
        ghosts && from->particles ? (double)ghosts[3] * 0x1p-36 / from->particles : 0;
    to[LJ_COLUMN_VOLUME] = at.volume;
    to[LJ_COLUMN_VOLUME_ACCEPTED] = from->moved & 1;
    to[LJ_COLUMN_VOLUME_LIMITED] = from->moved >> 1 & 1;
    to[LJ_COLUMN_VOLUME_STEP] =
        s->rules ? (double)lj_volume_step(&s->rules[member], from->moved) * 0x1p-36 : 0;
    for (size_t k = 0; k < LJ_MOST_SPECIES; k++) {
        to[LJ_COLUMN_SPECIES + k] = from->numbers[k];
        to[LJ_COLUMN_GHOSTS_OF + k] = ghosts ? lj_ghosts_mean(s, ghosts + k * LJ_GHOST_WORDS) : 0;
    }
    for (int k = 0; k < 6; k++)
        to[LJ_COLUMN_TRIED + k] = 0;
    if (s->launch.board_blocks) {
        add_activation(from, to);
        return;
    }
    add_counts(&from->now, step % LJ_WINDOW, to);
    if (step >= LJ_WINDOW)
        add_counts(&from->last, LJ_WINDOW, to);
}

/* One for each box. */
static const struct lj_sample *sample_of(const struct lj_state *s, unsigned slot, size_t sample,
                                         size_t member) {
    return (const struct lj_sample *)ergo_engine_host(&s->e, LJ_SAMPLES, slot, sample) +
           s->boxes * member;
}

/* Sums over the groups of the kernel. */
static void ghosts_of(const struct lj_state *s, unsigned slot, size_t sample, size_t chain,
                      int64_t *sums) {
    const size_t parts = s->launch.total_parts, words = parts * LJ_GHOST_WORDS;
    const int64_t *of = s->launch.ghosts ? ergo_engine_host(&s->e, LJ_GHOSTS, slot, sample) : NULL;
    memset(sums, 0, LJ_GHOST_SUMS * sizeof *sums);
    for (size_t k = 0; of && k < lj_ghost_kinds(&s->system); k++)
        for (size_t i = 0; i < words; i++)
            sums[k * LJ_GHOST_WORDS + i % LJ_GHOST_WORDS] +=
                of[(k * lj_chains(s) + chain) * words + i];
}

bool lj_row(const void *state, unsigned slot, const struct ergo_row *row) {
    const struct lj_state *s = state;
    const struct ergo_engine_slot *block = &s->e.slots[slot];
    int64_t ghosts[2 * LJ_GHOST_SUMS];
    for (size_t b = 0; b < s->boxes; b++)
        ghosts_of(s, slot, row->sample, s->boxes * row->member + b, ghosts + b * LJ_GHOST_SUMS);
    lj_columns_of(s, row->member, sample_of(s, slot, row->sample, row->member),
                  s->launch.ghosts ? ghosts : NULL, block->step + (row->sample + 1) * block->every,
                  row->columns);
    return true;
}

bool lj_curve_row(const void *state, unsigned slot, const struct ergo_row *row) {
    const struct lj_state *s = state;
    const size_t bins = s->launch.bins, parts = s->launch.total_parts;
    const size_t all = bins * lj_pair_kinds(&s->system);
    const uint32_t *counts = ergo_engine_host(&s->e, LJ_COUNTS, slot, row->sample);
    const struct lj_sample *of = sample_of(s, slot, row->taken, row->member);
    uint64_t *pairs = calloc(all + 1, sizeof *pairs);
    double *rows[LJ_CURVES];
    if (!pairs)
        return false;
    if (s->cut)
        memcpy(pairs, s->at.pairs + row->number * bins, bins * sizeof *pairs);
    for (size_t p = 0; p < parts && !s->cut; p++)
        for (size_t k = 0; k < all; k++)
            pairs[k] += counts[(row->member * parts + p) * all + k];
    lj_curve_rows_at(s, row->curves, row->number, rows);
    if (s->system.field)
        lj_profile_convert(s, pairs, rows[LJ_CURVE_PROFILE]);
    else
        lj_pairs_convert(s, of->particles, of->numbers, pairs, rows);
    free(pairs);
    return true;
}

/* Before rows are made: results of chains that stopped are out of date. */
enum ergo_status lj_convert(struct ergo_context *ctx, void *state, unsigned slot,
                            struct ergo_samples *samples) {
    struct lj_state *s = state;
    (void)ctx;
    if (!all_running(s, ergo_engine_host(&s->e, LJ_CHAINS, slot, 0))) {
        catch_up(s);
        for (unsigned i = 0; i < 2; i++)
            if (s->e.slots[i].busy)
                ergo_engine_read_again(&s->e, i);
        ergo_engine_finish(&s->e);
    }
    if (s->cut && s->launch.bins)
        lj_cut_join_pairs(s, slot, samples->n_curve_samples);
    return ergo_engine_end(&s->e);
}
