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
    size_t member;
    uint32_t *before, *after; /* this rank's spins of that member */
    uint64_t *names;          /* of a stretch of words */
    struct sw_rect rect;
    uint64_t step; /* of the sweep that is looked at */
    cl_mem buffer;
};

/* Words whose labels are asked for at once. */
enum { NAMES_AT_ONCE = 4096 };

static const struct sw_member *params_of(const struct audit *a) {
    return &a->s->members[a->member].params;
}

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
    memset(names, 0xff, 256 * count); /* what is not found stays no name */
    for (size_t at = 0; at < count && status == ERGO_OK; at += NAMES_AT_ONCE) {
        const size_t n = count - at < NAMES_AT_ONCE ? count - at : NAMES_AT_ONCE;
        const cl_uint from = (cl_uint)(first + at * stride), step = (cl_uint)stride,
                      items = (cl_uint)n;
        const struct ergo_arg args[] = {
            ERGO_ARG(s->rect),   ERGO_ARG(s->right_bonds), ERGO_ARG(s->labels), ERGO_ARG(s->names),
            ERGO_ARG(a->buffer), ERGO_ARG(from),           ERGO_ARG(step),      ERGO_ARG(items)};
        const struct ergo_arg by_tiles[] = {
            ERGO_ARG(s->rect),   ERGO_ARG(s->right_bonds), ERGO_ARG(s->runs),   ERGO_ARG(s->open),
            ERGO_ARG(s->labels), ERGO_ARG(s->names),       ERGO_ARG(a->buffer), ERGO_ARG(from),
            ERGO_ARG(step),      ERGO_ARG(items)};
        status = ergo_buffer_write(ctx, s->device, a->buffer, 0, 256 * n, names + 32 * at);
        if (status == ERGO_OK)
            status = s->by_tiles ? sw_cut_launch(ctx, a->s, SW_CUT_TILE_NAME, by_tiles, 10, n,
                                                 s->group_size)
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
    const struct sw_member *m = params_of(a);
    return sw_bonds(open, sw_rect_entity(&a->rect, i, y), direction, (uint32_t)a->step,
                    (uint32_t)(a->step >> 32), m->key0, m->key1, m->high, m->low, m->always);
}

/* ---- rows of the inside ------------------------------------------------------------------------
 */

/* names: NULL where each site has its own state, of a random start. */
static bool states_agree(const struct audit *a, uint32_t i, uint32_t y, const uint64_t *names) {
    const struct sw_member *m = params_of(a);
    for (uint32_t bit = 0; bit <= sw_rect_last(&a->rect, i); bit++) {
        const uint64_t site =
            names ? names[bit] : sw_rect_site(&a->rect, 32 * (y * a->rect.words + i) + bit);
        const uint32_t state =
            sw_state(site, names ? SW_PURPOSE_SPIN : SW_PURPOSE_START, (uint32_t)a->step,
                     (uint32_t)(a->step >> 32), m->key0, m->key1);
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

static uint32_t band_rows(const struct sw_piece *p) {
    const uint64_t fit = band_sites / (32 * (uint64_t)p->words) + 1;
    return fit < p->rows ? (uint32_t)fit : p->rows;
}

static enum ergo_status check_rows(struct ergo_context *ctx, struct audit *a) {
    const struct sw_piece *p = &a->s->piece;
    const uint32_t rows = band_rows(p), first = p->rows - rows; /* their chains are the longest */
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

/* The neighbours' spins below and on the right, as of the halo: from what is on the host, not from
 * what the device has packed. */
static enum ergo_status exchange_halo(struct ergo_context *ctx, const struct audit *a,
                                      const uint32_t *spins, uint8_t *halo) {
    const struct sw_piece *p = &a->s->piece;
    const size_t row = 4 * (size_t)a->s->shape.planes * p->words;
    uint8_t *mine = calloc(row + p->rows, 1);
    if (!mine)
        return no_memory(ctx);
    for (uint32_t b = 0; b < a->s->shape.planes; b++) {
        memcpy(mine + 4 * (size_t)b * p->words, spins + b * sw_piece_words(p), 4 * p->words);
        for (uint32_t y = 0; y < p->rows; y++)
            mine[row + y] |= (uint8_t)((word_of(a, spins, b, 0, y) & 1u) << b);
    }
    const enum ergo_status status = sw_cut_exchange(ctx, a->s, mine, halo, row, 1);
    free(mine);
    return status;
}

/* Names across the lower and the right edge; halo: the neighbours' spins before the sweep. */
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

/* ---- counts ------------------------------------------------------------------------------------
 */

/* The sample's sums over all spins, and what is known of those over clusters. */
static enum ergo_status check_counts(struct ergo_context *ctx, const struct audit *a,
                                     const struct sw_cut_counts *found, const uint8_t *halo) {
    const struct sw_cut *s = a->s;
    const struct sw_piece *p = &s->piece;
    const uint8_t *column = halo + 4 * (size_t)s->shape.planes * p->words;
    struct sw_cut_counts sums = {0};
    for (uint32_t y = 0; y < p->rows; y++)
        for (uint32_t i = 0; i < p->words; i++) {
            const uint32_t valid = sw_rect_valid(&a->rect, i), last = sw_rect_last(&a->rect, i);
            uint32_t side = 0, under = 0;
            for (uint32_t b = 0; b < s->shape.planes; b++) {
                const uint32_t own = word_of(a, a->after, b, i, y);
                uint32_t next = column[y] >> b & 1u, below;
                memcpy(&below, halo + 4 * (b * (size_t)p->words + i), 4);
                if (i + 1 < p->words)
                    next = word_of(a, a->after, b, i + 1, y) & 1u;
                if (y + 1 < p->rows)
                    below = word_of(a, a->after, b, i, y + 1);
                side |= own ^ ((own >> 1 & ~(1u << last)) | next << last);
                under |= own ^ below;
            }
            sums.unequal += (uint64_t)__builtin_popcount(side & valid) +
                            (uint64_t)__builtin_popcount(under & valid);
            for (uint32_t rest = valid; rest; rest &= rest - 1) {
                uint32_t state = 0;
                for (uint32_t b = 0; b < s->shape.planes; b++)
                    state |= (word_of(a, a->after, b, i, y) >> __builtin_ctz(rest) & 1u) << b;
                sums.states[state]++;
            }
        }
    sw_cut_count_reduce(&sums);
    if (sums.unequal != found->unequal ||
        memcmp(sums.states + 1, found->states + 1, 8 * (s->shape.q - (size_t)1)) != 0)
        return differ(ctx, a, "counts of spins and bonds are wrong");
    if (!sw_clusters_fit(s->shape.sites, found->bins, SW_CUT_ALL_BINS, found->largest,
                         found->squares, SW_CUT_SQUARES, found->fourths, SW_CUT_FOURTHS))
        return differ(ctx, a, "numbers and sizes of clusters are of no such lattice");
    return ERGO_OK;
}

/* ---- the whole ---------------------------------------------------------------------------------
 */

struct whole {
    struct ergo_context *ctx;
    struct audit *a;
    uint64_t *names; /* of all sites, rows of 32 row_words */
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

/* At rank 0: the stretch by the twin, from t's planes on; what is wrong, or NULL. names: NULL where
 * the last sweep has left none. */
static const char *whole_differs(const struct ergo_replay *r, size_t member, struct sw_twin *t,
                                 const uint32_t *after, const uint64_t *names) {
    const struct sw_cut *s = r->state;
    const struct sw_shape *shape = &s->shape;
    const size_t row = 32 * (size_t)shape->row_words, lx = (size_t)shape->lx;
    const struct ergo_point *point = s->batch->points[member];
    uint64_t step = r->step;
    for (uint64_t e = 0; e < r->lead; e++)
        sw_twin_sweep(point, shape, step++, false, t);
    for (size_t i = 0; i < r->samples; i++) {
        const size_t at = i * r->members + member, bins = r->curve_sizes[0];
        for (uint64_t e = 1; e <= r->every; e++)
            sw_twin_sweep(point, shape, step++, e == r->every, t);
        const char *wrong =
            sw_sample_differs(shape, point, s->of_clusters, t, r->found.columns + at * SW_COLUMNS,
                              bins ? r->found.curves[0] + at * bins : NULL, bins);
        if (wrong)
            return wrong;
    }
    if (memcmp(after, t->planes, (size_t)shape->member_bytes) != 0)
        return "new spins";
    for (size_t i = 0; names && i < row * (size_t)shape->ly; i++)
        if (i % row < lx && names[i] != t->labels[i] / row * (uint64_t)lx + t->labels[i] % row)
            return "labels of the last sweep";
    return NULL;
}

static enum ergo_status compare_member(struct ergo_context *ctx, const struct ergo_replay *r,
                                       struct audit *a) {
    struct sw_cut *s = a->s;
    struct whole w = {.ctx = ctx, .a = a};
    uint32_t *before = NULL, *after = NULL;
    struct sw_twin t = {0};
    /* labels are those of the last one that was swept */
    const bool named = a->member + 1 == r->members && (s->of_clusters || !ergo_dist_or(s->gathers));
    enum ergo_status status = sw_cut_gather_planes(ctx, s, r->kept[a->member], &before);
    if (status == ERGO_OK)
        status = sw_cut_gather(ctx, s, a->member, &after);
    if (status == ERGO_OK && named)
        status = gather_names(ctx, &w);
    if (status == ERGO_OK && s->rank == 0) {
        if (sw_twin_open(&t, &s->shape)) {
            memcpy(t.planes, before, (size_t)s->shape.member_bytes);
            const char *wrong = whole_differs(r, a->member, &t, after, w.names);
            status = wrong ? ergo_replay_differs(ctx, r, a->member, wrong) : ERGO_OK;
        } else {
            status = no_memory(ctx);
        }
        sw_twin_close(&t);
    }
    free(w.names);
    free(before);
    free(after);
    return status;
}

/* From the last member on; as many as the budget allows. */
static enum ergo_status compare_whole(struct ergo_context *ctx, const struct ergo_replay *r) {
    struct audit *a = r->user;
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

/* ---- pieces ------------------------------------------------------------------------------------
 */

static enum ergo_status compare_piece(struct ergo_context *ctx, const struct ergo_replay *r) {
    struct audit *a = r->user;
    struct sw_cut *s = a->s;
    uint8_t *halo = malloc(s->members[a->member].in.bytes);
    a->step = r->step;
    memcpy(a->before, r->kept[a->member], sw_cut_piece_bytes(s, &s->piece));
    enum ergo_status status = halo ? sw_cut_fetch(ctx, s, a->member, a->after) : no_memory(ctx);
    if (status == ERGO_OK)
        status = check_rows(ctx, a);
    if (status == ERGO_OK)
        status = exchange_halo(ctx, a, a->before, halo);
    if (status == ERGO_OK)
        status = check_edges(ctx, a, halo);
    if (status == ERGO_OK)
        status = exchange_halo(ctx, a, a->after, halo);
    if (status == ERGO_OK)
        status = check_counts(ctx, a, &s->slots[0][a->member], halo);
    free(halo);
    return status;
}

/* Sweeps that are not measured have other kernels, of large rectangles or of all: the same spins.
 */
static enum ergo_status compare_again(struct ergo_context *ctx, const struct ergo_replay *r) {
    const struct audit *a = r->user;
    const size_t bytes = sw_cut_piece_bytes(a->s, &a->s->piece);
    uint32_t *again = malloc(bytes);
    enum ergo_status status = again ? sw_cut_fetch(ctx, a->s, a->member, again) : no_memory(ctx);
    if (status == ERGO_OK && memcmp(again, a->after, bytes) != 0)
        status = differ(ctx, a, "new spins of sweeps with and without measurement differ");
    free(again);
    return status;
}

/* The start of this rank's rows, of as many members as the budget allows. */
static enum ergo_status check_start(struct ergo_context *ctx, struct audit *a) {
    struct sw_cut *s = a->s;
    const struct sw_piece *p = &s->piece;
    const size_t bytes = sw_cut_piece_bytes(s, p);
    const bool random =
        strcmp(ergo_point_text(s->batch->points[0], "/system/start"), "random") == 0;
    enum ergo_status status = ERGO_OK;
    bool same = true;
    uint64_t done = 0;
    a->step = 0;
    for (size_t m = s->batch->count; m-- > 0 && done < most_sites && status == ERGO_OK && same;
         done += s->shape.sites) {
        a->member = m;
        status = sw_cut_fetch(ctx, s, m, a->after);
        for (uint32_t y = p->rows - band_rows(p); y < p->rows && random; y++)
            for (uint32_t i = 0; i < p->words && status == ERGO_OK && same; i++)
                same = states_agree(a, i, y, NULL);
        for (size_t k = 0; k < bytes / 4 && status == ERGO_OK && same && !random; k++)
            same = a->after[k] == 0;
    }
    return same ? status : differ(ctx, a, "the spins of the start are wrong");
}

/* Parameters as the job says; rectangles as they were written. */
static enum ergo_status check_constants(struct ergo_context *ctx, const struct audit *a) {
    const struct sw_cut *s = a->s;
    enum ergo_status status = ergo_constants_check(ctx, s->device, &s->constants, "swendsen-wang");
    for (size_t m = 0; m < s->batch->count && status == ERGO_OK; m++) {
        struct sw_member found, expected;
        sw_member_fill(s->batch->points[m], &expected);
        expected.first_word = s->members[m].params.first_word;
        status =
            ergo_buffer_read(ctx, s->device, s->members[m].param_buffer, 0, sizeof found, &found);
        if (status == ERGO_OK && memcmp(&found, &expected, sizeof found) != 0)
            status = differ(ctx, a, "the parameters in the device's memory are not the job's");
    }
    return status;
}

/* ---- the replays -------------------------------------------------------------------------------
 */

/* Rectangles stay as they are meanwhile. */
static enum ergo_status advance(struct ergo_context *ctx, void *opaque, unsigned slot, size_t count,
                                uint64_t every, uint64_t first_sample) {
    struct sw_cut *s = opaque;
    const bool by_speed = s->by_speed;
    s->by_speed = false;
    const enum ergo_status status = sw_cut_advance(ctx, s, slot, count, every, first_sample);
    s->by_speed = by_speed;
    return status;
}

static enum ergo_status replay(struct ergo_context *ctx, struct audit *a, struct ergo_replay *r) {
    struct sw_cut *s = a->s;
    const size_t members = s->batch->count, bytes = sw_cut_piece_bytes(s, &s->piece);
    const size_t bins = s->of_clusters ? 64 - (size_t)__builtin_clzll(s->shape.sites) : 0;
    const struct ergo_replay_row more[] = {
        {"step", ERGO_REPLAY_HOST, NULL, &s->step, sizeof s->step},
        {"speed", ERGO_REPLAY_HOST, NULL, &s->busy, sizeof s->busy},
        {"speed", ERGO_REPLAY_HOST, NULL, &s->busy_sweeps, sizeof s->busy_sweeps},
        {"sums", ERGO_REPLAY_RESULT, &s->sums.mem, NULL, s->sums.bytes},
        {"sums over clusters", ERGO_REPLAY_RESULT, &s->clusters.mem, NULL, s->clusters.bytes},
        {"sizes of parts", ERGO_REPLAY_RESULT, &s->part_sizes.mem, NULL, s->part_sizes.bytes}};
    enum { MORE = sizeof more / sizeof more[0] };
    struct ergo_replay_row *rows = calloc(members + MORE, sizeof *rows);
    if (!rows)
        return no_memory(ctx);
    for (size_t m = 0; m < members; m++)
        rows[m] =
            (struct ergo_replay_row){"spins", ERGO_REPLAY_STATE, &s->members[m].spins, NULL, bytes};
    memcpy(rows + members, more, sizeof more);
    r->sampler = "swendsen-wang";
    r->remedy = "/system/labelling or /system/merge";
    r->device = s->device;
    r->state = s;
    r->user = a;
    r->rows = rows;
    r->n_rows = members + MORE;
    r->members = members;
    r->n_columns = SW_COLUMNS;
    r->n_curves = 1;
    r->curve_sizes = &bins;
    r->step = s->step;
    r->advance = advance;
    r->collect = sw_cut_collect;
    const enum ergo_status status = ergo_replay(ctx, r);
    for (size_t m = 0; m < members; m++)
        s->members[m].fresh = false;
    free(rows);
    return status;
}

static enum ergo_status replay_whole(struct ergo_context *ctx, struct audit *a) {
    const struct ergo_point *first = a->s->batch->points[0];
    const uint64_t every = (uint64_t)ergo_point_int(first, "/run/measure_every");
    const uint64_t most = most_sites / (4 * a->s->shape.sites) + 2;
    struct ergo_replay r = {.lead = 2,
                            .samples = a->s->block_samples > 1 ? 2 : 1,
                            .every = every < most ? every : most,
                            .compare = compare_whole};
    return replay(ctx, a, &r);
}

static enum ergo_status replay_pieces(struct ergo_context *ctx, struct audit *a) {
    struct sw_cut *s = a->s;
    const bool of_clusters = s->of_clusters;
    struct ergo_replay measured = {.samples = 1, .every = 1, .compare = compare_piece};
    struct ergo_replay again = {
        .samples = of_clusters ? 0 : 1, .every = 1, .compare = compare_again};
    a->member = s->batch->count - 1;
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
    struct audit a = {.s = s, .step = s->step};
    a.rect = sw_cut_rect(s, p);
    audited_q = s->shape.q;
    a.before = malloc(bytes);
    a.after = malloc(bytes);
    a.names = malloc(8 * band);
    enum ergo_status status = a.before && a.after && a.names ? ERGO_OK : no_memory(ctx);
    if (status == ERGO_OK)
        status = ergo_buffer_create(ctx, s->device, "audited labels", 256 * NAMES_AT_ONCE, NULL,
                                    &a.buffer);
    if (status == ERGO_OK)
        status = check_constants(ctx, &a);
    if (status == ERGO_OK && s->started && s->step == 0)
        status = check_start(ctx, &a);
    if (status == ERGO_OK)
        status = s->shape.sites <= most_sites ? replay_whole(ctx, &a) : replay_pieces(ctx, &a);
    s->times = (struct sw_cut_times){0};
    ergo_buffer_release(&a.buffer);
    free(a.before);
    free(a.after);
    free(a.names);
    return status;
}
