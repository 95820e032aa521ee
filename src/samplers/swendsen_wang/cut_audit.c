/*
 * Audit of a cut lattice: a stretch of the run, by its kernels and messages. Where the whole
 * lattice is small enough, rank 0 makes the same with the host's twin, and compares all columns and
 * histograms, and the labels and spins that the last sweep has left.
 *
 * Of larger ones each rank looks at the last member's next sweep, measured: it draws the bonds of
 * some of its rows and of its edges again; their two ends have to have the same representative, and
 * sites the state that this one draws. All spins are counted again; of the sums over clusters only
 * what any lattice fulfils (audit_rows.c). A sweep that is not measured has to leave the same
 * spins.
 */
#include <stdlib.h>
#include <string.h>

#include "samplers/swendsen_wang/cut.h"
#include "samplers/swendsen_wang/tables.h"

/* Sites of a whole lattice for the twin. */
static const uint64_t most_sites = SW_CUT_WHOLE_SITES;

static enum ergo_status no_memory(struct ergo_context *ctx) {
    return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for an audit");
}

/* ---- the whole ---------------------------------------------------------------------------------
 */

/* Of all sites, rows of 32 row_words, at rank 0. */
static enum ergo_status gather_names(struct ergo_context *ctx, struct sw_cut_audit *a,
                                     void **names) {
    const size_t words = ergo_rectangle_words(&a->s->piece);
    uint64_t *mine = malloc(256 * words);
    enum ergo_status status = mine ? sw_cut_audit_names(ctx, a, 0, 1, words, mine) : no_memory(ctx);
    if (status == ERGO_OK)
        status = ergo_layout_gather(ctx, &a->s->layout, 256, 1, mine, names);
    free(mine);
    return status;
}

/* At rank 0: the stretch by the twin, from t's planes on. names: NULL where the last sweep has left
 * none. */
static enum ergo_status compare_twin(struct ergo_context *ctx, const struct ergo_replay *r,
                                     size_t member, struct sw_twin *t, const uint32_t *after,
                                     const uint64_t *names) {
    const struct sw_cut *s = r->state;
    const struct sw_shape *shape = &s->shape;
    const size_t row = 32 * (size_t)shape->row_words, lx = (size_t)shape->lx;
    const struct ergo_point *point = s->e.batch->points[member];
    const char *wrong = NULL;
    enum ergo_status status = ERGO_OK;
    uint64_t step = r->step;
    for (uint64_t e = 0; e < r->lead; e++)
        sw_twin_sweep(point, shape, step++, false, t);
    for (size_t i = 0; i < r->samples && !wrong && status == ERGO_OK; i++) {
        for (uint64_t e = 1; e <= r->every; e++)
            sw_twin_sweep(point, shape, step++, e == r->every, t);
        status = sw_sample_differs(ctx, shape, point, s->of_clusters, s->distances, t, r,
                                   i * r->members + member, &wrong);
    }
    if (!wrong && memcmp(after, t->planes, (size_t)shape->member_bytes) != 0)
        wrong = "new spins";
    for (size_t i = 0; names && !wrong && i < row * (size_t)shape->ly; i++)
        if (i % row < lx && names[i] != t->labels[i] / row * (uint64_t)lx + t->labels[i] % row)
            wrong = "labels of the last sweep";
    return status == ERGO_OK && wrong ? ergo_replay_differs(ctx, r, member, wrong) : status;
}

static enum ergo_status compare_member(struct ergo_context *ctx, const struct ergo_replay *r,
                                       struct sw_cut_audit *a) {
    struct sw_cut *s = a->s;
    const size_t bytes = sw_cut_piece_bytes(s, &s->piece);
    void *before = NULL, *names = NULL;
    uint32_t *after = NULL;
    struct sw_twin t = {0};
    /* labels are those of the last one that was swept */
    const bool named = a->member + 1 == r->members && (s->of_clusters || !ergo_dist_or(s->gathers));
    enum ergo_status status =
        ergo_layout_gather(ctx, &s->layout, 4, s->shape.planes,
                           (const char *)r->kept[SW_CUT_SPINS] + a->member * bytes, &before);
    if (status == ERGO_OK)
        status = sw_cut_gather(ctx, s, a->member, &after);
    if (status == ERGO_OK && named)
        status = gather_names(ctx, a, &names);
    if (status == ERGO_OK && s->rank == 0) {
        if (sw_twin_open(&t, &s->shape)) {
            memcpy(t.planes, before, (size_t)s->shape.member_bytes);
            status = compare_twin(ctx, r, a->member, &t, after, names);
        } else {
            status = no_memory(ctx);
        }
        sw_twin_close(&t);
    }
    free(names);
    free(before);
    free(after);
    return status;
}

/* From the last member on; as many as the budget allows. */
static enum ergo_status compare_whole(struct ergo_context *ctx, const struct ergo_replay *r) {
    struct sw_cut_audit *a = r->user;
    const uint64_t sweeps = r->lead + r->samples * r->every;
    enum ergo_status status = ERGO_OK;
    uint64_t done = 0;
    for (size_t m = r->members; m-- > 0 && done < most_sites && status == ERGO_OK;
         done += sweeps * a->s->shape.sites) {
        a->member = m;
        status = compare_member(ctx, r, a);
    }
    return status;
}

/* Parameters as the job says; rectangles as they were written. */
static enum ergo_status check_constants(struct ergo_context *ctx, const struct sw_cut_audit *a) {
    struct sw_cut *s = a->s;
    enum ergo_status status = ergo_engine_check_constants(ctx, &s->e);
    for (size_t m = 0; m < s->e.batch->count && status == ERGO_OK; m++) {
        struct sw_member found, expected;
        sw_member_fill(s->e.batch->points[m], &expected);
        ergo_engine_begin(&s->e, ctx);
        sw_cut_choose(s, m);
        ergo_engine_read(&s->e, SW_CUT_MEMBER, 0, sizeof found, &found);
        status = ergo_engine_end(&s->e);
        if (status == ERGO_OK && memcmp(&found, &expected, sizeof found) != 0)
            status = sw_cut_audit_differs(
                ctx, a, "the parameters in the device's memory are not the job's");
    }
    return status;
}

/* ---- the replays -------------------------------------------------------------------------------
 */

/* Rectangles stay as they are meanwhile. */
static enum ergo_status advance(struct ergo_context *ctx, void *opaque, unsigned slot, size_t count,
                                uint64_t every, uint64_t first_sample) {
    struct sw_cut *s = opaque;
    const bool measured = s->shares->measured;
    s->shares->measured = false;
    const enum ergo_status status = sw_cut_advance(ctx, s, slot, count, every, first_sample);
    s->shares->measured = measured;
    return status;
}

static enum ergo_status replay(struct ergo_context *ctx, struct sw_cut_audit *a,
                               struct ergo_replay *r) {
    struct sw_cut *s = a->s;
    size_t sizes[SW_CURVES];
    const struct ergo_replay_row speed[] = {
        {"speed", ERGO_REPLAY_HOST, NULL, s->shares, sizeof *s->shares}};
    r->remedy = "/system/labelling or /system/merge";
    r->user = a;
    r->n_columns = SW_COLUMNS;
    r->n_curves = SW_CURVES;
    sw_replay_curves(&s->shape, s->of_clusters, s->distances, sizes);
    r->curve_sizes = sizes;
    r->advance = advance;
    r->collect = sw_cut_collect;
    const enum ergo_status status = ergo_engine_replay(ctx, &s->e, r, speed, 1);
    for (size_t m = 0; m < s->e.batch->count; m++)
        s->members[m].fresh = false;
    r->curve_sizes = NULL;
    return status;
}

static enum ergo_status replay_whole(struct ergo_context *ctx, struct sw_cut_audit *a) {
    const struct ergo_point *first = a->s->e.batch->points[0];
    const uint64_t every = (uint64_t)ergo_point_int(first, "/run/measure_every");
    const uint64_t most = most_sites / (4 * a->s->shape.sites) + 2;
    struct ergo_replay r = {.lead = 2,
                            .samples = a->s->e.block_samples > 1 ? 2 : 1,
                            .every = every < most ? every : most,
                            .compare = compare_whole};
    return replay(ctx, a, &r);
}

static enum ergo_status replay_pieces(struct ergo_context *ctx, struct sw_cut_audit *a) {
    struct sw_cut *s = a->s;
    const bool of_clusters = s->of_clusters;
    struct ergo_replay measured = {.samples = 1, .every = 1, .compare = sw_cut_compare_piece};
    struct ergo_replay again = {
        .samples = of_clusters ? 0 : 1, .every = 1, .compare = sw_cut_compare_again};
    a->member = s->e.batch->count - 1;
    s->of_clusters = true; /* else there are no labels to look at */
    enum ergo_status status = replay(ctx, a, &measured);
    s->of_clusters = of_clusters;
    return status == ERGO_OK ? replay(ctx, a, &again) : status;
}

/* Where the sweeps since the last audit spent their time; bench/scaling.py reads it. */
static void log_times(struct ergo_context *ctx, struct sw_cut *s) {
    const struct sw_cut_times *t = &s->times;
    const double n = t->sweeps ? 1e-6 * (double)t->sweeps : 1; /* of microseconds */
    if (t->sweeps)
        ergo_log(
            ctx, ERGO_LOG_INFO,
            "rank %d of %d: %u x %u sites, %llu sweeps; us a sweep: local %.1f halo %.1f pairs "
            "%.1f merge %.1f flip %.1f; bytes a sweep: halo %.0f edges %.0f pairs %.0f; parts "
            "%zu",
            s->rank, s->layout.ranks, 32 * s->piece.words, s->piece.rows,
            (unsigned long long)t->sweeps, t->local / n, t->halo / n, t->pairs / n, t->merge / n,
            t->flip / n, 1e-6 * (double)t->halo_bytes / n, 1e-6 * (double)t->edge_bytes / n,
            1e-6 * (double)t->pair_bytes / n, s->n_parts);
    s->times = (struct sw_cut_times){0};
}

enum ergo_status sw_cut_audit(struct ergo_context *ctx, void *opaque) {
    struct sw_cut *s = opaque;
    log_times(ctx, s);
    const struct ergo_rectangle *p = &s->piece;
    const size_t bytes = sw_cut_piece_bytes(s, p);
    const size_t band = 32 * (size_t)p->words + SW_CUT_BAND_SITES;
    struct sw_cut_audit a = {.s = s, .step = s->e.step};
    a.rect = sw_cut_rect(s, p);
    a.before = malloc(bytes);
    a.after = malloc(bytes);
    a.names = malloc(8 * band);
    enum ergo_status status = a.before && a.after && a.names ? ERGO_OK : no_memory(ctx);
    if (status == ERGO_OK)
        status = check_constants(ctx, &a);
    if (status == ERGO_OK && s->started && s->e.step == 0)
        status = sw_cut_check_start(ctx, &a);
    if (status == ERGO_OK)
        status = s->shape.sites <= most_sites ? replay_whole(ctx, &a) : replay_pieces(ctx, &a);
    s->times = (struct sw_cut_times){0};
    free(a.before);
    free(a.after);
    free(a.names);
    return status;
}
