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

/* Rows of the slab and its halos in canonical form. */
static uint8_t *tall_rows(const struct ising_state *s, const uint32_t *words) {
    const struct ergo_checkerboard board = ising_board(&s->shape);
    uint8_t *rows = calloc(ergo_checkerboard_bytes(&board), 1);
    if (rows)
        ergo_checkerboard_pack(&board, words, rows);
    return rows;
}

/* ---- the whole ---------------------------------------------------------------------------------
 */

/* At rank 0 the whole lattice, as a device would have it. */
static enum ergo_status gather(struct ergo_context *ctx, const struct ising_state *s,
                               const uint8_t *tall, uint32_t **whole) {
    const struct ergo_checkerboard board = ising_board(&s->whole);
    const size_t row = ergo_checkerboard_row_bytes(&board);
    struct ergo_text all = {0};
    enum ergo_status status = ergo_slab_gather(ctx, &s->slab, tall, row, &all);
    *whole = NULL;
    if (status == ERGO_OK && ergo_ranks_rank() == 0) {
        *whole = malloc(s->whole.member_bytes);
        if (!*whole)
            status = no_memory(ctx);
        else if (all.length != ergo_checkerboard_bytes(&board) ||
                 !ergo_checkerboard_unpack(&board, (const uint8_t *)all.data, *whole))
            status = ERGO_FAIL(ctx, ERGO_E_INTERNAL, "the rows of all ranks are no lattice");
    }
    ergo_text_free(&all);
    return status;
}

static enum ergo_status compare_whole(struct ergo_context *ctx, const struct cut_stretch *c,
                                      const struct ising_state *s, size_t member,
                                      const uint8_t *kept, const uint8_t *found) {
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
                               const struct ising_state *s, size_t member, const uint8_t *kept,
                               const uint32_t *found) {
    const struct ergo_point *point = s->e.batch->points[member];
    const struct ergo_slab *slab = &s->slab;
    const uint64_t granule = slab->granule, count = slab->count, ly = (uint64_t)s->whole.ly;
    const uint64_t margin = round_down(2 * c->sweeps + granule - 1, granule);
    const struct ising_shape band =
        ising_shape_of_rows(&s->whole, slab->first + ly - margin, count + 2 * margin);
    const struct ergo_checkerboard board = ising_board(&band);
    const size_t bytes = ergo_checkerboard_row_bytes(&board);
    const uint64_t fit =
        round_down(replay_spins / ((uint64_t)s->whole.lx * c->sweeps * 2), granule);
    const uint64_t rows = fit < granule ? granule : fit;
    const bool all = 2 * (rows + 2 * margin) >= count;
    uint32_t *words = malloc(band.member_bytes);
    uint8_t *wide = NULL;
    bool same = true;
    enum ergo_status status =
        words ? ergo_slab_widen(ctx, slab, kept + slab->halo * bytes, bytes, (size_t)margin, &wide)
              : no_memory(ctx);
    if (status == ERGO_OK && !ergo_checkerboard_unpack(&board, wide, words))
        status = ERGO_FAIL(ctx, ERGO_E_INTERNAL, "the rows of neighbours are no lattice");
    for (int end = 0; end < (all ? 1 : 2) && status == ERGO_OK; end++) {
        const uint64_t some = all ? count : rows, first = end ? count - some : 0;
        ising_twin_rows(point, &band, words, c->t.r.step, c->sweeps, margin + first, some);
        same = same &&
               same_rows(&band, words, margin + first, &s->shape, found, slab->halo + first, some);
    }
    free(words);
    free(wide);
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

/* ---- together ----------------------------------------------------------------------------------
 */

static enum ergo_status compare_member(struct ergo_context *ctx, const struct cut_stretch *c,
                                       const struct ising_state *s, size_t member,
                                       const uint32_t *kept, const uint32_t *found) {
    const struct ergo_replay *r = &c->t.r;
    const struct ergo_slab *slab = &s->slab;
    const struct ergo_point *point = s->e.batch->points[member];
    const uint64_t blocks = s->shape.blocks, fit = c->whole ? blocks : replay_spins / 1024;
    const uint64_t some = fit < blocks ? fit : blocks;
    const size_t bytes = ergo_bits_bytes((size_t)s->whole.lx), margin = slab->halo;
    uint8_t *before = tall_rows(s, kept), *after = tall_rows(s, found), *wide = NULL;
    enum ergo_status status = before && after ? ERGO_OK : no_memory(ctx);
    if (status == ERGO_OK && r->step == 0 && !s->e.carried &&
        !(ising_twin_is_start(point, &s->shape, kept, 0, some) &&
          ising_twin_is_start(point, &s->shape, kept, blocks - some, blocks)))
        status = ergo_replay_differs(ctx, r, member, "the start");
    if (status == ERGO_OK)
        status = c->whole ? compare_whole(ctx, c, s, member, before, after)
                          : follow(ctx, c, s, member, before, found);
    if (status == ERGO_OK)
        status = ergo_slab_widen(ctx, slab, after + margin * bytes, bytes, margin, &wide);
    if (status == ERGO_OK && !ergo_slab_halos_agree(slab, after, wide, bytes, margin))
        status = ergo_replay_differs(ctx, r, member, "halos of a slab");
    if (status == ERGO_OK && !c->whole)
        status = count(ctx, c, s, member, wide, margin);
    free(before);
    free(after);
    free(wide);
    return status;
}

static enum ergo_status compare(struct ergo_context *ctx, const struct ergo_replay *r) {
    const struct cut_stretch *c = (const struct cut_stretch *)r;
    struct ising_state *s = r->state;
    const size_t bytes = s->shape.member_bytes;
    uint32_t *found = malloc(bytes), *kept = malloc(bytes);
    enum ergo_status status = found && kept ? ERGO_OK : no_memory(ctx);
    for (size_t m = 0; m < r->members && status == ERGO_OK; m++) {
        if (!ergo_replay_takes(r, c->t.members, m))
            continue;
        ergo_engine_begin(&s->e, ctx);
        ergo_engine_read(&s->e, ISING_SPINS, m * bytes, bytes, found);
        status = ergo_engine_end(&s->e);
        if (status == ERGO_OK)
            status = ergo_replay_before(ctx, r, ISING_SPINS, m * bytes, bytes, kept);
        if (status == ERGO_OK)
            status = compare_member(ctx, c, s, m, kept, found);
    }
    free(kept);
    free(found);
    return status;
}

static enum ergo_status advance(struct ergo_context *ctx, void *state, unsigned slot, size_t count,
                                uint64_t every, uint64_t first_sample) {
    struct ising_state *s = state;
    s->slab.valid = 2; /* fewer than are right */
    return ergo_engine_advance(ctx, state, slot, count, every, first_sample);
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
    ergo_slab_log(ctx, &s->slab);
    plan_stretch(&c, s);
    for (size_t k = 0; k < LATTICE_CURVES; k++)
        sizes[k] = ising_curve_size(s->e.batch->points[0], k);
    enum ergo_status status = ergo_engine_check_constants(ctx, &s->e);
    if (status == ERGO_OK)
        status = ergo_engine_replay(ctx, &s->e, &c.t.r, valid, 1);
    ergo_slab_log(NULL, &s->slab);
    return status;
}
