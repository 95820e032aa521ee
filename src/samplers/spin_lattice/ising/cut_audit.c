/*
 * Audit of a lattice that is cut over ranks: a stretch of the run, by its kernels and messages; it
 * begins with halos that last for one sweep, so that edges are exchanged in it. Of a small lattice
 * rank 0 makes the same with the host's twin, whole. Of a large one each rank follows the rows at
 * both ends of its slab, from the neighbours' rows before the stretch on, and counts the spins of
 * its rows after it. Halos have to be what the neighbours have.
 */
#include <stdlib.h>
#include <string.h>

#include "dist/dist.h"
#include "samplers/spin_lattice/ising/ising.h"
#include "samplers/spin_lattice/models.h"

/* A tenth of a second each on the host: as in audit.c. */
static const uint64_t replay_spins = UINT64_C(1) << 23, pair_words = UINT64_C(1) << 24;

struct cut_stretch {
    struct ising_stretch t; /* first, because compare gets its address */
    bool whole;
    uint64_t sweeps;
};

static enum ergo_status no_memory(struct ergo_context *ctx) {
    return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for an audit");
}

/* The same at all ranks. */
static void plan_stretch(struct cut_stretch *c, const struct ising_state *s) {
    struct ising_stretch *t = &c->t;
    const struct ergo_point *point = s->e.batch->points[0];
    const uint64_t sites = (uint64_t)s->whole.lx * (uint64_t)s->whole.ly;
    const uint64_t fit = replay_spins / sites / 2, most = fit < 2 ? 2 : fit < 64 ? fit : 64;
    t->r.lead = 2;
    ergo_replay_plan(&t->r, ergo_point_int(point, "/run/measure_every"), s->e.curve_interval, most,
                     s->e.block_samples);
    c->sweeps = t->r.lead + t->r.samples * t->r.every;
    c->whole = sites * c->sweeps <= 4 * replay_spins || 2 * c->sweeps + 4 > s->slab.least;
    const uint64_t members = replay_spins / (sites * c->sweeps);
    t->members = members < 1                   ? 1
                 : members < s->e.batch->count ? (size_t)members
                                               : s->e.batch->count;
    t->pair_stride = (size_t)(s->whole.words * s->launch.reach / pair_words) | 1;
    t->pair_first = 1;
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* The own rows in canonical form, of words as the device has them. */
static uint8_t *own_rows(const struct ising_state *s, const uint32_t *words) {
    const struct ergo_checkerboard board = ising_board(&s->shape);
    const size_t row = ergo_checkerboard_row_bytes(&board);
    uint8_t *rows = malloc(row * s->slab.count);
    for (size_t y = 0; y < s->slab.count && rows; y++) {
        memset(rows + y * row, 0, row);
        ergo_checkerboard_pack_row(&board, words, s->slab.halo + y, rows + y * row);
    }
    return rows;
}

/* Own rows with `margin` rows of the neighbours before and behind them. */
static enum ergo_status with_margins(struct ergo_context *ctx, const struct ising_state *s,
                                     const uint32_t *words, size_t margin, uint8_t **all) {
    const size_t row = ergo_bits_bytes((size_t)s->whole.lx), count = s->slab.count;
    uint8_t *own = own_rows(s, words);
    *all = malloc(row * (count + 2 * margin));
    enum ergo_status status = own && *all ? ERGO_OK : no_memory(ctx);
    if (status == ERGO_OK) {
        memcpy(*all + margin * row, own, count * row);
        status = ergo_slab_trade(ctx, &s->slab, own, own + (count - margin) * row, *all,
                                 *all + (margin + count) * row, margin * row);
    }
    free(own);
    return status;
}

/* ---- the whole ---------------------------------------------------------------------------------
 */

/* At rank 0 the whole lattice, as a device would have it. */
static enum ergo_status gather(struct ergo_context *ctx, const struct ising_state *s,
                               const uint32_t *words, uint32_t **whole) {
    const size_t row = ergo_bits_bytes((size_t)s->whole.lx);
    const struct ergo_checkerboard board = ising_board(&s->whole);
    uint8_t *own = own_rows(s, words);
    const struct ergo_text mine = {.data = (char *)own, .length = row * s->slab.count};
    struct ergo_text all = {0};
    enum ergo_status status = own ? ergo_slab_gather(ctx, &mine, &all) : no_memory(ctx);
    *whole = NULL;
    if (status == ERGO_OK && ergo_ranks_rank() == 0) {
        *whole = malloc(s->whole.member_bytes);
        if (!*whole)
            status = no_memory(ctx);
        else if (all.length != ergo_checkerboard_bytes(&board) ||
                 !ergo_checkerboard_unpack(&board, (const uint8_t *)all.data, *whole))
            status = ERGO_FAIL(ctx, ERGO_E_INTERNAL, "the rows of all ranks are no lattice");
    }
    free(own);
    ergo_text_free(&all);
    return status;
}

static enum ergo_status compare_whole(struct ergo_context *ctx, const struct cut_stretch *c,
                                      const struct ising_state *s, size_t member,
                                      const uint32_t *kept, const uint32_t *found) {
    struct ising_state alone = *s;
    uint32_t *before = NULL, *after = NULL;
    uint8_t *rows = malloc(ergo_bits_bytes((size_t)s->whole.lx) * (size_t)s->whole.ly);
    enum ergo_status status = rows ? gather(ctx, s, kept, &before) : no_memory(ctx);
    if (status == ERGO_OK)
        status = gather(ctx, s, found, &after);
    alone.shape = s->whole;
    alone.cut = false;
    if (status == ERGO_OK && before)
        status = ising_replay_whole(ctx, &c->t, &alone, member, before, after, rows);
    free(before);
    free(after);
    free(rows);
    return status;
}

/* ---- a slab ------------------------------------------------------------------------------------
 */

static uint64_t round_down(uint64_t n, uint64_t granule) {
    return n / granule * granule;
}

static bool same_rows(const struct ising_shape *a, const uint32_t *x, uint64_t x_row,
                      const struct ising_shape *b, const uint32_t *y, uint64_t y_row,
                      uint64_t rows) {
    bool same = true;
    for (size_t colour = 0; colour < 2; colour++)
        same = same && memcmp(x + colour * 4 * a->blocks + x_row * a->row_words,
                              y + colour * 4 * b->blocks + y_row * b->row_words,
                              4 * rows * a->row_words) == 0;
    return same;
}

/* The first and last rows of the slab, from before the stretch on. */
static enum ergo_status follow(struct ergo_context *ctx, const struct cut_stretch *c,
                               const struct ising_state *s, size_t member, const uint32_t *kept,
                               const uint32_t *found) {
    const struct ergo_point *point = s->e.batch->points[member];
    const uint64_t granule = s->slab.granule, count = s->slab.count, ly = (uint64_t)s->whole.ly;
    const uint64_t margin = round_down(2 * c->sweeps + granule - 1, granule);
    const struct ising_shape band =
        ising_shape_of_rows(&s->whole, s->slab.first + ly - margin, count + 2 * margin);
    const struct ergo_checkerboard board = ising_board(&band);
    const uint64_t fit =
        round_down(replay_spins / ((uint64_t)s->whole.lx * c->sweeps * 2), granule);
    const uint64_t rows = fit < granule ? granule : fit;
    const bool all = 2 * (rows + 2 * margin) >= count;
    uint32_t *words = malloc(band.member_bytes);
    uint8_t *lattice = NULL;
    bool same = true;
    enum ergo_status status =
        words ? with_margins(ctx, s, kept, (size_t)margin, &lattice) : no_memory(ctx);
    if (status == ERGO_OK && !ergo_checkerboard_unpack(&board, lattice, words))
        status = ERGO_FAIL(ctx, ERGO_E_INTERNAL, "the rows of neighbours are no lattice");
    for (int end = 0; end < (all ? 1 : 2) && status == ERGO_OK; end++) {
        const uint64_t some = all ? count : rows, first = end ? count - some : 0;
        ising_twin_rows(point, &band, words, c->t.r.step, c->sweeps, margin + first, some);
        same = same && same_rows(&band, words, margin + first, &s->shape, found,
                                 s->slab.halo + first, some);
    }
    free(words);
    free(lattice);
    return status != ERGO_OK || same ? status
                                     : ergo_replay_differs(ctx, &c->t.r, member, "the lattices");
}

/* The last sample: own rows counted, and those of all ranks added up. */
static enum ergo_status count(struct ergo_context *ctx, const struct cut_stretch *c,
                              const struct ising_state *s, size_t member, const uint8_t *rows,
                              size_t margin) {
    const struct ising_stretch *t = &c->t;
    const size_t members = s->e.batch->count, bytes = ergo_bits_bytes((size_t)s->whole.lx);
    const size_t reach = s->launch.reach, ly = (size_t)s->whole.ly, own = s->slab.count;
    const uint8_t *mine = rows + margin * bytes;
    struct ising_shape shape = s->whole;
    shape.ly = (int64_t)own;
    struct ising_counts counts = ising_count(&shape, mine, mine + own * bytes);
    ergo_dist_sum_counts(&counts.up, sizeof counts / sizeof counts.up);
    enum ergo_status status =
        ising_compare_counts(ctx, t, s, member, counts, (t->r.samples - 1) * members + member);
    if (status != ERGO_OK || !ergo_replay_has_curve(&t->r, s->e.curve_interval, t->r.samples - 1))
        return status;
    const bool anti = ergo_point_real(s->e.batch->points[member], "/system/coupling") < 0;
    uint64_t *pairs = calloc(2 * reach + ly, sizeof *pairs);
    uint32_t *planes = calloc(2 * ly, sizeof *planes);
    if (!pairs || !planes ||
        !ising_count_pairs(&shape, mine, own + margin, reach, t->pair_first, t->pair_stride, pairs))
        status = no_memory(ctx);
    if (status == ERGO_OK) {
        size_t curves = 0;
        ising_count_rows(&shape, mine, anti, planes);
        for (size_t y = 0; y < own; y++)
            pairs[2 * reach + s->slab.first + y] = planes[2 * y + 1];
        ergo_dist_sum_counts(pairs, 2 * reach + ly);
        for (size_t y = 0; y < ly; y++)
            planes[2 * y + 1] = (uint32_t)pairs[2 * reach + y];
        for (size_t i = 0; i + 1 < t->r.samples; i++)
            curves += ergo_replay_has_curve(&t->r, s->e.curve_interval, i);
        status = ising_compare_curves(ctx, t, s, member, pairs, planes, curves * members + member);
    }
    free(pairs);
    free(planes);
    return status;
}

/* Of halos what is said to be right. */
static bool halos_agree(const struct ising_state *s, const uint32_t *found, const uint8_t *rows,
                        size_t margin) {
    const size_t bytes = ergo_bits_bytes((size_t)s->whole.lx), own = s->slab.count;
    const struct ergo_checkerboard board = ising_board(&s->shape);
    uint8_t *row = malloc(bytes);
    bool same = row != NULL;
    for (size_t k = 1; k <= s->slab.valid && same; k++)
        for (int side = 0; side < 2; side++) {
            const size_t at = side ? own + k - 1 : (size_t)0 - k; /* from the first own row on */
            memset(row, 0, bytes);
            ergo_checkerboard_pack_row(&board, found, s->slab.halo + at, row);
            same = same && memcmp(row, rows + (margin + at) * bytes, bytes) == 0;
        }
    free(row);
    return same;
}

/* ---- together ----------------------------------------------------------------------------------
 */

static enum ergo_status compare_member(struct ergo_context *ctx, const struct cut_stretch *c,
                                       const struct ising_state *s, size_t member,
                                       const uint32_t *found) {
    const struct ergo_replay *r = &c->t.r;
    const struct ergo_point *point = s->e.batch->points[member];
    const uint32_t *kept =
        (const uint32_t *)r->kept[ISING_SPINS] + member * (s->shape.member_bytes / 4);
    const uint64_t some =
        c->whole ? s->shape.blocks
                 : (replay_spins / 1024 < s->shape.blocks ? replay_spins / 1024 : s->shape.blocks);
    const size_t margin = s->slab.halo;
    uint8_t *rows = NULL;
    enum ergo_status status = ERGO_OK;
    if (r->step == 0 &&
        !(ising_twin_is_start(point, &s->shape, kept, 0, some) &&
          ising_twin_is_start(point, &s->shape, kept, s->shape.blocks - some, s->shape.blocks)))
        status = ergo_replay_differs(ctx, r, member, "the start");
    if (status == ERGO_OK)
        status = c->whole ? compare_whole(ctx, c, s, member, kept, found)
                          : follow(ctx, c, s, member, kept, found);
    if (status == ERGO_OK)
        status = with_margins(ctx, s, found, margin, &rows);
    if (status == ERGO_OK && !halos_agree(s, found, rows, margin))
        status = ergo_replay_differs(ctx, r, member, "halos of a slab");
    if (status == ERGO_OK && !c->whole)
        status = count(ctx, c, s, member, rows, margin);
    free(rows);
    return status;
}

static enum ergo_status compare(struct ergo_context *ctx, const struct ergo_replay *r) {
    const struct cut_stretch *c = (const struct cut_stretch *)r;
    struct ising_state *s = r->state;
    const size_t bytes = s->shape.member_bytes;
    uint32_t *found = malloc(bytes);
    enum ergo_status status = found ? ERGO_OK : no_memory(ctx);
    for (size_t m = 0; m < r->members && status == ERGO_OK; m++) {
        if (!ergo_replay_takes(r, c->t.members, m))
            continue;
        ergo_engine_begin(&s->e, ctx);
        ergo_engine_read(&s->e, ISING_SPINS, m * bytes, bytes, found);
        status = ergo_engine_end(&s->e);
        if (status == ERGO_OK)
            status = compare_member(ctx, c, s, m, found);
    }
    free(found);
    return status;
}

static enum ergo_status advance(struct ergo_context *ctx, void *state, unsigned slot, size_t count,
                                uint64_t every, uint64_t first_sample) {
    struct ising_state *s = state;
    s->slab.valid = 2; /* fewer than are right */
    return ergo_engine_advance(ctx, state, slot, count, every, first_sample);
}

/* What messages have cost since the last audit; bench/scaling.py reads it. */
static void log_times(struct ergo_context *ctx, struct ising_state *s) {
    struct ergo_slab *slab = &s->slab;
    if (slab->exchanges)
        ergo_log(ctx, ERGO_LOG_INFO,
                 "rank %d of %d: %lld x %u sites, %llu exchanges of halos, %.0f bytes and %.1f us "
                 "of waiting each",
                 ergo_ranks_rank(), ergo_dist_count(), (long long)s->whole.lx, slab->count,
                 (unsigned long long)slab->exchanges, (double)slab->bytes / (double)slab->exchanges,
                 1e6 * slab->waited / (double)slab->exchanges);
}

enum ergo_status ising_cut_audit(struct ergo_context *ctx, void *state) {
    struct ising_state *s = state;
    size_t sizes[LATTICE_CURVES];
    const struct ergo_replay_row valid[] = {
        {"halos", ERGO_REPLAY_HOST, NULL, &s->slab.valid, sizeof s->slab.valid}};
    struct cut_stretch c = {.t = {.r = {.remedy = "/tuning/path or /tuning/lanes",
                                        .n_columns = ISING_COLUMNS,
                                        .n_curves = LATTICE_CURVES,
                                        .curve_sizes = sizes,
                                        .advance = advance,
                                        .compare = compare}}};
    log_times(ctx, s);
    plan_stretch(&c, s);
    for (size_t k = 0; k < LATTICE_CURVES; k++)
        sizes[k] = ising_curve_size(s->e.batch->points[0], k);
    enum ergo_status status = ergo_engine_check_constants(ctx, &s->e);
    if (status == ERGO_OK)
        status = ergo_engine_replay(ctx, &s->e, &c.t.r, valid, 1);
    s->slab.exchanges = s->slab.bytes = 0;
    s->slab.waited = 0;
    return status;
}
