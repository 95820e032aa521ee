/*
 * Audit of a cut lattice: one more measured sweep by the kernels and messages of the run. Each rank
 * draws the bonds of some of its rows and of its edges again: their two ends have to have the same
 * representative, and sites the state that this one draws. Where the whole lattice is small enough,
 * rank 0 also makes the sweep with the host's twin, labels by Hoshen and Kopelman, and compares all
 * labels, spins and counts. Afterwards the ranks have their spins back.
 */
#include <stdlib.h>
#include <string.h>

#include "samplers/swendsen_wang/cut.h"

/* core.h as C: the number of states is all of its shape that is used here. */
static _Thread_local uint32_t audited_q;
#define SW_Q audited_q
#define SW_WORDS 1u
#define SW_LY 1u
#define SW_TAIL 32u
#define SW_ROW0 0u
#define SW_WORD0 0u
#define SW_ALL_WORDS 1u
#define SW_ALL_LX 32u
#include "swendsen_wang/cut.h"

/* Sites: of a whole lattice for the twin; of the rows that a rank looks at. */
static const uint64_t most_sites = 1u << 22, band_sites = 1u << 19;

struct audit {
    struct sw_cut *s;
    struct sw_cut_member *m;
    size_t member;
    uint32_t *before, *after; /* this rank's spins */
    uint64_t *names;          /* of a stretch of words */
    struct sw_rect rect;
    uint64_t step;
    cl_mem buffer;
    size_t buffer_words;
};

static enum ergo_status no_memory(struct ergo_context *ctx) {
    return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for an audit");
}

static enum ergo_status differ(struct ergo_context *ctx, const struct audit *a, const char *what) {
    const struct ergo_device_summary *d = &a->s->device->summary;
    return ERGO_FAIL(ctx, ERGO_E_AUDIT,
                     "audit of swendsen-wang failed at rank %d on %s (%s): %s in sweep %llu of "
                     "member %zu. The device's compiler or hardware is wrong for these kernels, or "
                     "a message between ranks was: try other devices, or another /system/labelling "
                     "or /system/merge",
                     a->s->rank, d->name, d->driver, what, (unsigned long long)a->step, a->member);
}

/* Representatives of the sites of words first, first + stride, ... */
static enum ergo_status read_names(struct ergo_context *ctx, struct audit *a, size_t first,
                                   size_t stride, size_t count, uint64_t *names) {
    const struct sw_cut *s = a->s;
    enum ergo_status status = ERGO_OK;
    for (size_t at = 0; at < count && status == ERGO_OK; at += a->buffer_words) {
        const size_t n = count - at < a->buffer_words ? count - at : a->buffer_words;
        const cl_uint from = (cl_uint)(first + at * stride), step = (cl_uint)stride,
                      items = (cl_uint)n;
        const struct ergo_arg args[] = {
            ERGO_ARG(s->rect),   ERGO_ARG(s->right_bonds), ERGO_ARG(s->labels), ERGO_ARG(s->names),
            ERGO_ARG(a->buffer), ERGO_ARG(from),           ERGO_ARG(step),      ERGO_ARG(items)};
        const struct ergo_arg by_tiles[] = {
            ERGO_ARG(s->rect),   ERGO_ARG(s->right_bonds), ERGO_ARG(s->runs),   ERGO_ARG(s->open),
            ERGO_ARG(s->labels), ERGO_ARG(s->names),       ERGO_ARG(a->buffer), ERGO_ARG(from),
            ERGO_ARG(step),      ERGO_ARG(items)};
        status = s->by_tiles
                     ? sw_cut_launch(ctx, a->s, SW_CUT_TILE_NAME, by_tiles, 10, n, s->group_size)
                     : sw_cut_launch(ctx, a->s, SW_CUT_NAME, args, 8, n, s->group_size);
        if (status == ERGO_OK)
            status = ergo_buffer_read(ctx, s->device, a->buffer, 0, 256 * n, names + 32 * at);
    }
    return status;
}

static uint32_t word_of(const struct audit *a, const uint32_t *spins, uint32_t plane, uint32_t i,
                        uint32_t y) {
    return spins[plane * sw_piece_words(&a->s->piece) + (size_t)y * a->s->piece.words + i];
}

static uint32_t draw(const struct audit *a, uint32_t open, uint32_t i, uint32_t y,
                     uint32_t direction) {
    const struct sw_member *m = &a->m->params;
    return sw_bonds(open, sw_rect_entity(&a->rect, i, y), direction, (uint32_t)a->step,
                    (uint32_t)(a->step >> 32), m->key0, m->key1, m->high, m->low, m->always);
}

/* ---- rows of the inside ------------------------------------------------------------------------
 */

static bool states_agree(const struct audit *a, uint32_t i, uint32_t y, const uint64_t *names) {
    for (uint32_t bit = 0; bit <= sw_rect_last(&a->rect, i); bit++) {
        const uint32_t state =
            sw_state(names[bit], SW_PURPOSE_SPIN, (uint32_t)a->step, (uint32_t)(a->step >> 32),
                     a->m->params.key0, a->m->params.key1);
        for (uint32_t p = 0; p < a->s->shape.planes; p++)
            if ((word_of(a, a->after, p, i, y) >> bit & 1u) != (state >> p & 1u))
                return false;
    }
    return true;
}

static bool ends_agree(uint32_t bonds, const uint64_t *names, const uint64_t *others) {
    for (; bonds; bonds &= bonds - 1) {
        const int bit = __builtin_ctz(bonds);
        if (names[bit] != others[bit])
            return false;
    }
    return true;
}

static enum ergo_status check_rows(struct ergo_context *ctx, struct audit *a) {
    const struct sw_piece *p = &a->s->piece;
    const uint64_t fit = band_sites / (32 * (uint64_t)p->words) + 1;
    const uint32_t rows = fit < p->rows ? (uint32_t)fit : p->rows;
    const uint32_t first = p->rows - rows; /* the last ones: their chains are the longest */
    enum ergo_status status =
        read_names(ctx, a, (size_t)first * p->words, 1, (size_t)rows * p->words, a->names);
    bool bonds = true, states = true;
    for (uint32_t y = first; y < p->rows && status == ERGO_OK && bonds && states; y++)
        for (uint32_t i = 0; i < p->words && bonds && states; i++) {
            const uint64_t *names = a->names + 32 * ((size_t)(y - first) * p->words + i);
            const uint32_t valid = sw_rect_valid(&a->rect, i);
            const bool last_word = i + 1 == p->words, last_row = y + 1 == p->rows;
            uint32_t side = last_word ? valid >> 1 : valid, under = last_row ? 0 : valid;
            for (uint32_t b = 0; b < a->s->shape.planes; b++) {
                const uint32_t own = word_of(a, a->before, b, i, y);
                const uint32_t next = last_word ? 0 : word_of(a, a->before, b, i + 1, y);
                side &= ~(own ^ (own >> 1 | next << 31));
                under &= last_row ? 0 : ~(own ^ word_of(a, a->before, b, i, y + 1));
            }
            bonds = ends_agree(draw(a, side, i, y, 0), names, names + 1) &&
                    ends_agree(draw(a, under, i, y, 1), names, names + 32 * (size_t)p->words);
            states = states_agree(a, i, y, names);
        }
    if (status == ERGO_OK && !bonds)
        status = differ(ctx, a, "labels at the two ends of a bond differ");
    if (status == ERGO_OK && !states)
        status = differ(ctx, a, "a site has not the state of its cluster");
    return status;
}

/* ---- edges -------------------------------------------------------------------------------------
 */

/* Names across the lower and the right edge; the neighbours' spins of before the sweep are the halo
 * that `in` holds. */
static enum ergo_status check_edges(struct ergo_context *ctx, struct audit *a,
                                    const uint8_t *halo) {
    struct sw_cut *s = a->s;
    const struct sw_piece *p = &s->piece;
    const size_t row = 32 * (size_t)p->words, entries = row + p->rows;
    uint64_t *mine = malloc(8 * entries), *theirs = malloc(8 * entries);
    uint64_t *column = malloc(256 * (size_t)p->rows), *last = malloc(8 * row);
    enum ergo_status status = mine && theirs && column && last ? ERGO_OK : no_memory(ctx);
    if (status == ERGO_OK)
        status = read_names(ctx, a, 0, 1, p->words, mine);
    if (status == ERGO_OK)
        status = read_names(ctx, a, 0, p->words, p->rows, column);
    for (size_t y = 0; y < p->rows && status == ERGO_OK; y++)
        mine[row + y] = column[32 * y];
    if (status == ERGO_OK)
        status = sw_cut_exchange(ctx, s, mine, theirs, 8 * row, 8);
    if (status == ERGO_OK)
        status = read_names(ctx, a, (size_t)(p->rows - 1) * p->words, 1, p->words, last);
    if (status == ERGO_OK)
        status = read_names(ctx, a, p->words - 1, p->words, p->rows, column);
    bool ok = true;
    for (uint32_t i = 0; i < p->words && status == ERGO_OK && ok; i++) {
        uint32_t under = sw_rect_valid(&a->rect, i);
        for (uint32_t b = 0; b < s->shape.planes; b++) {
            uint32_t other;
            memcpy(&other, halo + 4 * (b * (size_t)p->words + i), 4);
            under &= ~(word_of(a, a->before, b, i, p->rows - 1) ^ other);
        }
        ok = ends_agree(draw(a, under, i, p->rows - 1, 1), last + 32 * (size_t)i,
                        theirs + 32 * (size_t)i);
    }
    const uint8_t *states = halo + 4 * (size_t)s->shape.planes * p->words;
    for (uint32_t y = 0; y < p->rows && status == ERGO_OK && ok; y++) {
        const uint32_t bit = p->tail - 1;
        uint32_t side = 1u << bit;
        for (uint32_t b = 0; b < s->shape.planes; b++)
            side &= ~(word_of(a, a->before, b, p->words - 1, y) ^ (states[y] >> b & 1u) << bit);
        if (draw(a, side, p->words - 1, y, 0))
            ok = column[32 * (size_t)y + bit] == theirs[row + y];
    }
    if (status == ERGO_OK && !ok)
        status = differ(ctx, a, "labels on the two sides of a bond between rectangles differ");
    free(mine);
    free(theirs);
    free(column);
    free(last);
    return status;
}

/* ---- the whole ---------------------------------------------------------------------------------
 */

struct whole {
    struct ergo_context *ctx;
    struct audit *a;
    uint64_t *names; /* of all sites, rows of 32 row_words */
    uint32_t *before, *after;
};

static void place_names(const struct whole *w, int rank, const uint64_t *names) {
    const struct sw_piece *p = &w->a->s->layout.pieces[rank];
    for (size_t y = 0; y < p->rows; y++)
        memcpy(w->names + 32 * ((y + p->row0) * w->a->s->shape.row_words + p->word0),
               names + 32 * y * p->words, 256 * (size_t)p->words);
}

static enum ergo_status take_names(void *user, int rank, const char *data, size_t length) {
    const struct whole *w = user;
    if (length != 256 * sw_piece_words(&w->a->s->layout.pieces[rank]))
        return ERGO_FAIL(w->ctx, ERGO_E_INTERNAL, "the labels of rank %d have %zu bytes", rank,
                         length);
    place_names(w, rank, (const uint64_t *)(const void *)data);
    return ERGO_OK;
}

static const char *compare(const struct whole *w, const struct sw_twin *t,
                           const struct sw_cut_counts *c) {
    const struct sw_shape *shape = &w->a->s->shape;
    const size_t row = 32 * (size_t)shape->row_words, lx = (size_t)shape->lx;
    struct sw_cut_counts sums = {0};
    uint32_t *sizes = calloc(32 * (size_t)shape->words, sizeof *sizes);
    struct sw_wraps *wraps = sw_wraps_create((size_t)shape->ly + row);
    const char *wrong = sizes && wraps ? NULL : "(no memory)";
    bool x = false, y = false;
    for (size_t i = 0; i < row * (size_t)shape->ly && !wrong; i++) {
        const uint32_t root = t->labels[i];
        if (i % row >= lx)
            continue;
        sizes[root]++;
        if (w->names[i] != root / row * (uint64_t)lx + root % row)
            wrong = "labels are not those of Hoshen and Kopelman";
    }
    if (!wrong && memcmp(w->after, t->planes, (size_t)shape->member_bytes) != 0)
        wrong = "new spins are not the twin's";
    for (size_t i = 0; i < 32 * (size_t)shape->words && !wrong; i++)
        if (sizes[i])
            sw_cut_count(&sums, sizes[i]);
    if (!wrong && (c->unequal != t->unequal ||
                   memcmp(c->states + 1, t->counts + 1, 8 * (shape->q - (size_t)1)) != 0))
        wrong = "counts of spins and bonds are not the twin's";
    struct sw_cut_counts found = *c;
    sw_cut_count_carry(&found);
    sw_cut_count_carry(&sums);
    if (!wrong &&
        (memcmp(found.squares, sums.squares, sizeof sums.squares) != 0 ||
         memcmp(found.fourths, sums.fourths, sizeof sums.fourths) != 0 ||
         found.largest != sums.largest || memcmp(found.bins, sums.bins, sizeof sums.bins) != 0))
        wrong = "number and sizes of clusters are not the twin's";
    if (!wrong) {
        sw_wraps_find(wraps, t->seams, (size_t)shape->ly, (size_t)shape->ly + row, &x, &y);
        if ((x || y) != (c->wraps != 0))
            wrong = "clusters around the lattice are not the twin's";
    }
    free(sizes);
    sw_wraps_destroy(wraps);
    return wrong;
}

/* At rank 0: before, after and the labels of all are there. */
static enum ergo_status check_whole(struct ergo_context *ctx, const struct whole *w,
                                    const struct sw_cut_counts *counts) {
    const struct sw_shape *shape = &w->a->s->shape;
    const size_t words = (size_t)shape->words, entries = (size_t)shape->ly + 32 * shape->row_words;
    struct sw_twin t = {.planes = w->before,
                        .right = malloc(4 * words),
                        .down = malloc(4 * words),
                        .labels = malloc(128 * words),
                        .seams = malloc(8 * entries)};
    const bool ok = t.right && t.down && t.labels && t.seams &&
                    sw_twin_sweep(w->a->s->batch->points[w->a->member], shape, w->a->step, &t);
    const char *wrong = ok ? compare(w, &t, counts) : NULL;
    const enum ergo_status status = !ok     ? no_memory(ctx)
                                    : wrong ? differ(ctx, w->a, wrong)
                                            : ERGO_OK;
    free(t.right);
    free(t.down);
    free(t.labels);
    free(t.seams);
    return status;
}

static enum ergo_status gather_names(struct ergo_context *ctx, struct whole *w) {
    const size_t words = sw_piece_words(&w->a->s->piece);
    struct ergo_text own = {.data = malloc(256 * words), .length = 256 * words};
    w->names = w->a->s->rank == 0 ? malloc(256 * (size_t)w->a->s->shape.words) : NULL;
    enum ergo_status status =
        own.data && (w->names || w->a->s->rank > 0) ? ERGO_OK : no_memory(ctx);
    if (status == ERGO_OK)
        status = read_names(ctx, w->a, 0, 1, words, (uint64_t *)(void *)own.data);
    if (status == ERGO_OK && w->names)
        place_names(w, 0, (const uint64_t *)(const void *)own.data);
    if (status == ERGO_OK)
        status = ergo_dist_gather(ctx, &own, take_names, w);
    free(own.data);
    return status;
}

/* ---- a member ----------------------------------------------------------------------------------
 */

static enum ergo_status audit_member(struct ergo_context *ctx, struct audit *a) {
    struct sw_cut *s = a->s;
    const bool small = s->shape.sites <= most_sites;
    const size_t halo_bytes = a->m->in.bytes;
    struct whole w = {.ctx = ctx, .a = a};
    struct sw_cut_counts counts;
    uint8_t *halo = malloc(halo_bytes);
    enum ergo_status status = halo ? sw_cut_fetch(ctx, s, a->member, a->before) : no_memory(ctx);
    const bool saved = status == ERGO_OK;
    if (status == ERGO_OK && small)
        status = sw_cut_gather(ctx, s, a->member, &w.before);
    if (status == ERGO_OK) {
        a->m->halo_copy = halo;
        status = sw_cut_sweep(ctx, s, a->m, &counts);
        a->m->halo_copy = NULL;
    }
    if (status == ERGO_OK)
        status = sw_cut_fetch(ctx, s, a->member, a->after);
    if (status == ERGO_OK)
        status = check_rows(ctx, a);
    if (status == ERGO_OK)
        status = check_edges(ctx, a, halo);
    if (status == ERGO_OK && small) {
        sw_cut_count_reduce(&counts);
        status = sw_cut_gather(ctx, s, a->member, &w.after);
        if (status == ERGO_OK)
            status = gather_names(ctx, &w);
        if (status == ERGO_OK && s->rank == 0)
            status = check_whole(ctx, &w, &counts);
    }
    /* sweeps that are not measured have other kernels, of large rectangles or of all: the same
     * spins
     */
    if (status == ERGO_OK && ergo_dist_or(s->by_tiles || s->gathers)) {
        status = sw_cut_put(ctx, s, a->member, a->before);
        if (status == ERGO_OK)
            status = sw_cut_sweep(ctx, s, a->m, NULL);
        uint32_t *again = malloc(sw_cut_piece_bytes(s, &s->piece));
        if (status == ERGO_OK)
            status = again ? sw_cut_fetch(ctx, s, a->member, again) : no_memory(ctx);
        if (status == ERGO_OK && memcmp(again, a->after, sw_cut_piece_bytes(s, &s->piece)) != 0)
            status = differ(ctx, a, "new spins of sweeps with and without measurement differ");
        free(again);
    }
    if (saved) {
        const enum ergo_status back = sw_cut_put(ctx, s, a->member, a->before);
        status = status == ERGO_OK ? back : status;
    }
    free(halo);
    free(w.names);
    free(w.before);
    free(w.after);
    return status;
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
            "%zu; rounds %.2f",
            s->rank, s->layout.ranks, 32 * s->piece.words, s->piece.rows,
            (unsigned long long)t->sweeps, t->local / n, t->halo / n, t->pairs / n, t->merge / n,
            t->flip / n, 1e-6 * (double)t->halo_bytes / n, 1e-6 * (double)t->edge_bytes / n,
            1e-6 * (double)t->pair_bytes / n, s->n_parts, 1e-6 * (double)t->rounds / n);
    s->times = (struct sw_cut_times){0};
}

enum ergo_status sw_cut_audit(struct ergo_context *ctx, void *opaque) {
    struct sw_cut *s = opaque;
    log_times(ctx, s);
    const struct sw_piece *p = &s->piece;
    const size_t bytes = sw_cut_piece_bytes(s, p);
    const size_t band = 32 * (size_t)p->words + (size_t)band_sites;
    struct audit a = {.s = s, .step = s->step, .buffer_words = 4096};
    a.rect = sw_cut_rect(s, p);
    audited_q = s->shape.q;
    a.before = malloc(bytes);
    a.after = malloc(bytes);
    a.names = malloc(8 * band);
    enum ergo_status status = a.before && a.after && a.names ? ERGO_OK : no_memory(ctx);
    if (status == ERGO_OK)
        status = ergo_buffer_create(ctx, s->device, "audited labels", 256 * a.buffer_words, NULL,
                                    &a.buffer);
    /* from the last member on; as many as make a whole lattice's budget */
    uint64_t sites = 0;
    for (size_t m = s->batch->count; m-- > 0 && sites < most_sites && status == ERGO_OK;
         sites += s->shape.sites) {
        a.m = &s->members[m];
        a.member = m;
        status = audit_member(ctx, &a);
    }
    s->times = (struct sw_cut_times){0};
    ergo_buffer_release(&a.buffer);
    free(a.before);
    free(a.after);
    free(a.names);
    return status;
}
