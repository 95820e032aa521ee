/*
 * A sweep of one rectangle of a cut lattice.
 *
 * While the device labels the inside of its rectangle, the spins beyond its lower and right edge
 * come from the neighbours. Then the device lists the roots on the edges; the neighbours' come in
 * exchange, and make bridges where bonds lead across (cut_parts.c). Parts get their names
 * over ranks (rounds.c, cut_gather.c), and all clusters their new states. While hosts join
 * parts, a device labels the next chain, or with a single chain its own inside (cut_early.c).
 */
#include "samplers/swendsen_wang/cut.h"

/* ---- inside ---------------------------------------------------------------------------------- */

void sw_cut_join_tiles(struct sw_cut *s) {
    const struct ergo_rectangle *p = &s->piece;
    const uint32_t rows = (p->rows - 1) / s->tiles.tile_rows;
    const uint32_t columns = (p->words - 1) / s->tiles.tile_words;
    const size_t joins = 32 * (size_t)p->words * rows + (size_t)p->rows * columns;
    if (joins)
        ERGO_LAUNCH(&s->e, SW_CUT_TILE_JOIN, sw_cut_over(s, joins), BUFFER(SW_CUT_RECT),
                    BUFFER(SW_CUT_RIGHT), BUFFER(SW_CUT_DOWN), BUFFER(SW_CUT_RUN_LABELS),
                    BUFFER(SW_CUT_LABELS), U32(0), U32(rows), U32(0), U32(columns),
                    BUFFER(SW_CUT_CLUSTERS), U32(SW_NO_SAMPLE));
}

void sw_cut_local(struct sw_cut *s, bool counted, bool near) {
    if (counted) {
        ergo_engine_zero(&s->e, SW_CUT_CLUSTERS, (size_t)s->e.buffers[SW_CUT_CLUSTERS].bytes);
        ERGO_LAUNCH(&s->e, SW_CUT_TILE_LABEL_SIZES, sw_cut_over_tiles(s), BUFFER(SW_CUT_RECT),
                    BUFFER(SW_CUT_SPINS), BUFFER(SW_CUT_MEMBER), BUFFER(SW_CUT_RIGHT),
                    BUFFER(SW_CUT_DOWN), BUFFER(SW_CUT_RUN_LABELS), BUFFER(SW_CUT_TILE_PARTS),
                    BUFFER(SW_CUT_OPEN), BUFFER(SW_CUT_LABELS), U64(s->e.step),
                    BUFFER(SW_CUT_SIZES), BUFFER(SW_CUT_CLUSTERS), U32(0), BUFFER(SW_CUT_SUMS),
                    U32(SW_NO_SAMPLE));
    } else if (s->ahead) {
        sw_early_label(s, 0, (uint32_t)s->tiles.tiles);
    } else {
        ERGO_LAUNCH(&s->e, SW_CUT_TILE_LABEL, sw_cut_over_tiles(s), BUFFER(SW_CUT_RECT),
                    BUFFER(SW_CUT_SPINS), BUFFER(SW_CUT_MEMBER), BUFFER(SW_CUT_RIGHT),
                    BUFFER(SW_CUT_DOWN), BUFFER(SW_CUT_RUN_LABELS), BUFFER(SW_CUT_TILE_PARTS),
                    BUFFER(SW_CUT_OPEN), BUFFER(SW_CUT_LABELS), U64(s->e.step));
    }
    if (near)
        sw_gather_near(s);
    sw_cut_join_tiles(s);
    if (counted)
        ERGO_LAUNCH(&s->e, SW_CUT_TILE_SIZES, sw_cut_over_tiles(s), BUFFER(SW_CUT_RECT),
                    BUFFER(SW_CUT_OPEN), BUFFER(SW_CUT_LABELS), BUFFER(SW_CUT_SIZES));
}

void sw_cut_flip(struct sw_cut *s) {
    s->now->fresh = false;
    ERGO_LAUNCH(&s->e, SW_CUT_TILE_FLIP, sw_cut_over_tiles(s), BUFFER(SW_CUT_SPINS),
                BUFFER(SW_CUT_MEMBER), BUFFER(SW_CUT_RECT), BUFFER(SW_CUT_RIGHT),
                BUFFER(SW_CUT_RUN_LABELS), BUFFER(SW_CUT_TILE_PARTS), BUFFER(SW_CUT_OPEN),
                BUFFER(SW_CUT_LABELS), BUFFER(SW_CUT_NAMES), U64(s->e.step));
}

/* ---- halo ------------------------------------------------------------------------------------ */

static size_t row_bytes(const struct sw_cut *s) {
    return 4 * (size_t)s->shape.planes * s->piece.words;
}

void sw_cut_halo_start(struct sw_cut *s) {
    ERGO_LAUNCH(&s->e, SW_CUT_PACK,
                sw_cut_over(s, (size_t)s->shape.planes * s->piece.words + s->piece.rows),
                BUFFER(SW_CUT_SPINS), BUFFER(SW_CUT_RECT), BUFFER(SW_CUT_HALO_OUT));
    ergo_engine_fetch(&s->e, SW_CUT_HALO_OUT, 0, row_bytes(s) + s->piece.rows,
                      ergo_engine_host(&s->e, SW_CUT_HALO_OUT, 0, 0));
    clFlush(s->e.device->queue);
}

void sw_cut_halo_finish(struct sw_cut *s) {
    const double waited = s->e.device->waited;
    ergo_engine_await(&s->e, SW_CUT_HALO_OUT);
    s->times.busy += s->ahead ? 0 : s->e.device->waited - waited;
    sw_cut_exchange(s, ergo_engine_host(&s->e, SW_CUT_HALO_OUT, 0, 0),
                    ergo_engine_host(&s->e, SW_CUT_HALO, 0, 0), row_bytes(s), 1);
    ergo_engine_send(&s->e, SW_CUT_HALO, row_bytes(s) + s->piece.rows);
    s->times.halo_bytes += row_bytes(s) + s->piece.rows;
    s->now->fresh = true;
}

/* ---- sweep ----------------------------------------------------------------------------------- */

static void count_spins(struct sw_cut *s, struct sw_cut_counts *c) {
    const size_t q = s->shape.q, bytes = (size_t)s->e.buffers[SW_CUT_SUMS].bytes;
    uint32_t *sums = ergo_engine_host(&s->e, SW_CUT_SUMS, 0, 0);
    sw_cut_halo_start(s);
    sw_cut_halo_finish(s);
    ERGO_LAUNCH(&s->e, SW_CUT_MEASURE, ergo_grid_groups(s->sum_groups, s->group_size, 1),
                BUFFER(SW_CUT_SPINS), BUFFER(SW_CUT_RECT), BUFFER(SW_CUT_HALO),
                BUFFER(SW_CUT_SUMS));
    ergo_engine_read(&s->e, SW_CUT_SUMS, 0, bytes, sums);
    for (size_t g = 0; g < s->sum_groups && s->e.status == ERGO_OK; g++) {
        c->unequal += sums[g * q];
        for (size_t k = 1; k < q; k++)
            c->states[k] += sums[g * q + k];
    }
}

/* A sweep that is not measured, without other chains: parts are joined by the devices, or by hosts
 * meanwhile. plain: neither will the next one be measured. */
static void sweep_alone(struct sw_cut *s, bool plain) {
    if (s->gathers) {
        sw_gather_names(s);
        s->times.timed++;
    } else {
        sw_early_names(s, plain);
    }
    ergo_engine_lap(&s->e);
    sw_cut_flip(s);
    clFlush(s->e.device->queue);
    s->times.flip += ergo_engine_lap(&s->e);
    s->times.sweeps++;
}

/* The first half of a sweep: labels of the rectangle. */
static void label(struct sw_cut *s, bool counted) {
    const bool fresh = s->now->fresh;
    ergo_engine_lap(&s->e);
    if (!fresh)
        sw_cut_halo_start(s);
    sw_cut_local(s, counted, false);
    clFlush(s->e.device->queue);
    s->times.local += ergo_engine_lap(&s->e);
    if (!fresh)
        sw_cut_halo_finish(s);
    s->times.halo += ergo_engine_lap(&s->e);
}

/* The second: names over ranks, new spins. counts: measured, NULL: not. */
static void join(struct sw_cut *s, struct sw_cut_counts *counts) {
    ergo_engine_lap(&s->e);
    sw_cut_await_parts(s);
    const double waited = ergo_engine_lap(&s->e);
    s->times.local += waited;
    s->times.busy += waited;
    s->times.timed++;
    sw_cut_join_parts(s, counts);
    if (counts && s->distances)
        sw_lines_count(s, counts);
    sw_cut_flip(s);
    if (counts)
        count_spins(s, counts);
    s->times.flip += ergo_engine_lap(&s->e);
    s->times.sweeps++;
}

static void sweep_joined(struct sw_cut *s, struct sw_cut_counts *counts) {
    label(s, counts != NULL);
    sw_cut_find_parts(s, counts != NULL);
    join(s, counts);
}

/* Sweeps of all members that nobody measures: while hosts join the clusters of one, devices label
 * the next. What a member needs until then is its own (ERGO_BUFFER_EACH); the hosts' memory is free
 * when the device has taken the one before's. */
static void sweeps_in_flight(struct sw_cut *s, uint64_t sweeps) {
    const size_t members = s->e.batch->count;
    const uint64_t first = s->e.step, all = sweeps * members;
    for (uint64_t k = 0; k <= all && s->e.status == ERGO_OK; k++) {
        if (k < all) {
            s->e.step = first + k / members;
            sw_cut_choose(s, k % members);
            label(s, false);
        }
        if (k > 0) {
            s->e.step = first + (k - 1) / members;
            sw_cut_choose(s, (k - 1) % members);
            join(s, NULL);
        }
        if (k < all) {
            s->e.step = first + k / members;
            sw_cut_choose(s, k % members);
            sw_cut_find_parts(s, false);
        }
    }
    s->e.step = first + sweeps;
}

/* One sweep of a member at e.step, which stays; counts: what is asked for, NULL: nothing; plain: of
 * the next sweep nothing. */
static void sweep(struct sw_cut *s, size_t member, struct sw_cut_counts *counts, bool plain) {
    sw_cut_choose(s, member);
    if (counts)
        *counts = (struct sw_cut_counts){0};
    if ((s->gathers || s->ahead) && (!counts || !s->of_clusters))
        sweep_alone(s, plain || !s->of_clusters);
    else
        sweep_joined(s, s->of_clusters ? counts : NULL);
    if (counts && !s->of_clusters)
        count_spins(s, counts);
}

/* ---- blocks ---------------------------------------------------------------------------------- */

enum ergo_status sw_cut_advance(struct ergo_context *ctx, void *opaque, unsigned which,
                                size_t count, uint64_t every, uint64_t first_sample) {
    struct sw_cut *s = opaque;
    const size_t members = s->e.batch->count;
    const double busy = s->times.busy;
    const uint64_t timed = s->times.timed;
    (void)first_sample;
    ergo_engine_begin(&s->e, ctx);
    if (s->distances && count) /* a sample leaves them so */
        ergo_engine_fill(&s->e, SW_CUT_WAVES_INSIDE, 0);
    s->slot_samples[which] = count;
    for (size_t i = 0; i < (count ? count : 1); i++) {
        const uint64_t plain = s->in_flight ? every - (count ? 1 : 0) : 0;
        if (plain)
            sweeps_in_flight(s, plain);
        for (uint64_t e = plain; e < every && s->e.status == ERGO_OK; e++, s->e.step++)
            for (size_t m = 0; m < members && s->e.status == ERGO_OK; m++)
                sweep(s, m, count && e + 1 == every ? &s->slots[which][i * members + m] : NULL,
                      !count || (e + 1) % every + 1 < every);
    }
    for (size_t row = 0; row < count * members && s->e.status == ERGO_OK; row++)
        sw_cut_count_reduce(&s->slots[which][row]);
    s->shares->busy += s->times.busy - busy;
    s->shares->sweeps += s->times.timed - timed;
    return s->e.status == ERGO_OK && s->shares->measured ? sw_cut_balance(ctx, s)
                                                         : ergo_engine_end(&s->e);
}
