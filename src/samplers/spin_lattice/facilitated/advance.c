/* Facilitated dynamics: launches of attempts and measurements, and samples made from their
 * counts. */
#include <string.h>

#include "samplers/spin_lattice/facilitated/facilitated.h"
#include "samplers/spin_lattice/models.h"

/* ---- attempts -------------------------------------------------------------------------------- */

/* A work-group, or without windows a work-item, for each word-lattice. */
static struct ergo_grid each_lattice(const struct fac_state *s) {
    const uint32_t window = s->launch.window;
    return ergo_grid_groups(s->shape.words, window ? window : 1, s->e.batch->count);
}

/* One segment of attempts, in tiles. The results go from the buffers SPINS and FLIPPED to the
 * OTHER ones. Word-lattices that FAC_PART gave up are done again by FAC_SWEEP, in windows. Then
 * the buffers are swapped. */
static void launch_segment(struct fac_state *s, uint64_t sweep, uint32_t from, uint64_t count) {
    const struct fac_tiles *t = &s->launch.tiles;
    const uint32_t window = s->launch.window;
    const size_t lattices = fac_lattices(s), places = (size_t)t->wide * t->high;
    ERGO_LAUNCH(&s->e, FAC_BIN, ergo_grid_items(count, t->group, lattices), BUFFER(FAC_BINS),
                BUFFER(FAC_BIN_COUNTS), BUFFER(FAC_MEMBERS), U64(sweep), U32(from), U32(count),
                U32(s->shape.words));
    ERGO_LAUNCH(&s->e, FAC_PART, ergo_grid_groups((size_t)t->nx * t->ny, t->group, lattices),
                BUFFER(FAC_SPINS), BUFFER(FAC_OTHER_SPINS), BUFFER(FAC_FLIPPED),
                BUFFER(FAC_OTHER_FLIPPED), BUFFER(FAC_BINS), BUFFER(FAC_BIN_COUNTS),
                BUFFER(FAC_AGAIN), BUFFER(FAC_MEMBERS), U64(sweep), U32(from), U32(s->shape.words),
                LOCAL(places * sizeof(cl_uint)), LOCAL(places * sizeof(cl_uint)),
                LOCAL(t->most_attempts * sizeof(cl_uint)), LOCAL(2 * sizeof(cl_uint)));
    ERGO_LAUNCH(&s->e, FAC_SWEEP, each_lattice(s), BUFFER(FAC_OTHER_SPINS),
                BUFFER(FAC_OTHER_FLIPPED), BUFFER(FAC_MEMBERS), U64(sweep), U32(from), U64(count),
                LOCAL(16 * window * sizeof(cl_uint)), LOCAL(2 * sizeof(cl_uint)), BUFFER(FAC_SPINS),
                BUFFER(FAC_FLIPPED), BUFFER(FAC_AGAIN));
    ergo_engine_swap(&s->e, FAC_SPINS, FAC_OTHER_SPINS);
    ergo_engine_swap(&s->e, FAC_FLIPPED, FAC_OTHER_FLIPPED);
}

static void launch_sweep(struct fac_state *s, uint64_t sweep, uint32_t from, uint64_t count) {
    const uint32_t window = s->launch.window;
    if (window)
        ERGO_LAUNCH(&s->e, FAC_SWEEP, each_lattice(s), BUFFER(FAC_SPINS), BUFFER(FAC_FLIPPED),
                    BUFFER(FAC_MEMBERS), U64(sweep), U32(from), U64(count),
                    LOCAL(16 * window * sizeof(cl_uint)), LOCAL(2 * sizeof(cl_uint)));
    else
        ERGO_LAUNCH(&s->e, FAC_SWEEP, each_lattice(s), BUFFER(FAC_SPINS), BUFFER(FAC_FLIPPED),
                    BUFFER(FAC_MEMBERS), U64(sweep), U32(from), U64(count));
}

/* Half a sweep of method lambda. With four classes no two neighbouring sub-lattices change in
 * one launch, so it is done in place. */
static void launch_half(struct fac_state *s, uint64_t sweep, uint32_t half) {
    const unsigned turns = s->shape.division == FAC_COLOURED ? 4 : 1,
                   to = turns == 4 ? FAC_SPINS : FAC_OTHER_SPINS;
    const struct ergo_grid grid =
        ergo_grid_groups(s->shape.sites / 1024 / turns, s->launch.window, fac_lattices(s));
    for (unsigned turn = 0; turn < turns; turn++)
        ERGO_LAUNCH(&s->e, FAC_PART, grid, BUFFER(FAC_SPINS), BUFFER(to), BUFFER(FAC_FLIPPED),
                    BUFFER(FAC_MEMBERS), U64(sweep), U32(half), U32(turn), U32(s->shape.words),
                    LOCAL(34 * 34 * sizeof(cl_uint)), LOCAL(2 * 1024 * sizeof(cl_uint)));
    if (turns == 1)
        ergo_engine_swap(&s->e, FAC_SPINS, FAC_OTHER_SPINS);
}

/* `count` attempts on all word-lattices, from number `attempt` of sweep `step` on (method lambda:
 * whole halves of a sweep). Records nothing. */
static void attempts(struct fac_state *s, uint64_t step, uint32_t attempt, uint64_t count) {
    while (count && s->e.status == ERGO_OK) {
        const bool paced = s->launch.mode < FAC_MODE_TILES;
        uint64_t now = count < s->launch.attempts ? count : s->launch.attempts;
        if (paced)
            now = ergo_engine_next(&s->e, &s->e.pace, count, s->launch.most_attempts);
        if (s->launch.mode == FAC_MODE_TILES)
            launch_segment(s, step, attempt, now);
        else if (s->launch.mode == FAC_MODE_LAMBDA)
            launch_half(s, step, attempt != 0);
        else
            launch_sweep(s, step, attempt, now);
        if (paced)
            ergo_engine_made(&s->e, &s->e.pace, now);
        const uint64_t end = attempt + now;
        step += end / s->shape.sites;
        attempt = (uint32_t)(end % s->shape.sites);
        count -= now;
    }
}

/* ---- measurements ---------------------------------------------------------------------------- */

/* Count into row `sample` of the buffer `counts`. */
static void count_spins(struct fac_state *s, unsigned counts, size_t sample) {
    const size_t group = s->launch.group;
    ERGO_LAUNCH(
        &s->e, FAC_MEASURE,
        ergo_grid_groups((size_t)s->shape.words * s->launch.parts, group, s->e.batch->count),
        BUFFER(FAC_SPINS), BUFFER(FAC_FIRST), BUFFER(FAC_FLIPPED), BUFFER(counts), U32(sample),
        U32(s->shape.words), U32(s->launch.parts), LOCAL(FAC_COUNTS * 4 * group));
}

void fac_measure(void *state, size_t sample) {
    count_spins(state, FAC_SAMPLES, sample);
}

void fac_event(struct fac_state *s) {
    if (s->e.step < s->origin)
        return;
    if (s->e.step == s->origin)
        ERGO_LAUNCH(&s->e, FAC_REFERENCE,
                    ergo_grid_items(s->shape.sites, s->launch.group, s->e.batch->count),
                    BUFFER(FAC_SPINS), BUFFER(FAC_FIRST), BUFFER(FAC_FLIPPED), U32(s->shape.words));
    for (size_t k = 0; k < s->n_times; k++) {
        if (s->origin + (uint64_t)s->times[k] != s->e.step)
            continue;
        const size_t length = s->launch.counts_length, lattices = fac_lattices(s);
        memset(s->loaded + k * lattices * FAC_COUNTS, 0, lattices * FAC_COUNTS * sizeof *s->loaded);
        count_spins(s, FAC_RECORD, 0);
        ergo_engine_fetch(&s->e, FAC_RECORD, 0, 4 * length, s->recorded + k * length);
        fac_lanes_record(s, k);
    }
}

void fac_steps(void *state, uint64_t sweeps) {
    struct fac_state *s = state;
    const uint64_t end = s->e.step + sweeps;
    while (s->e.step < end && s->e.status == ERGO_OK) {
        uint64_t until = end;
        for (size_t k = 0; k < s->n_times; k++) {
            const uint64_t at = s->origin + (uint64_t)s->times[k];
            until = at > s->e.step && at < until ? at : until;
        }
        /* counts of attempts have 64 bits: at most 2^30 sweeps of 2^30 sites */
        until = until - s->e.step > 1u << 30 ? s->e.step + (1u << 30) : until;
        attempts(s, s->e.step, 0, (until - s->e.step) * s->shape.sites);
        s->e.step = until;
        fac_event(s);
    }
}

/* ---- what comes of them ---------------------------------------------------------------------- */

/* Sum of a count of one word-lattice over its parts. */
static uint64_t sum_parts(const struct fac_state *s, const uint32_t *counts, size_t lattice,
                          unsigned count) {
    uint64_t sum = 0;
    for (size_t p = 0; p < s->launch.parts; p++)
        sum += counts[(lattice * s->launch.parts + p) * FAC_COUNTS + count];
    return sum;
}

uint64_t fac_record(const struct fac_state *s, size_t time, size_t member, size_t word,
                    unsigned count) {
    const size_t lattice = member * s->shape.words + word;
    return s->loaded[(time * fac_lattices(s) + lattice) * FAC_COUNTS + count] +
           sum_parts(s, s->recorded + time * s->launch.counts_length, lattice, count);
}

void fac_columns(const void *state, size_t member, const uint64_t *sums, double *columns) {
    const struct fac_state *s = state;
    const struct fac_physics p = s->physics[member];
    const double spins = (double)s->shape.sites * s->shape.words * s->shape.lanes;
    const double up = (double)sums[0], unequal = (double)sums[3]; /* spins; bonds */
    const double magnetization = 2 * up / spins - 1;
    columns[COLUMN_MAGNETIZATION] = magnetization;
    columns[COLUMN_ENERGY] = p.j * (s->shape.d - 2 * unequal / spins) + p.b * magnetization;
}
