/*
 * Audit of a cut lattice: what a rank can say of its own rectangle (cut_audit.c).
 */
#include <stdlib.h>
#include <string.h>

#include "samplers/swendsen_wang/cut.h"

static _Thread_local uint32_t audited_q;
#define SW_Q audited_q
#include "swendsen_wang/cut.h"

/* Sites that a rank looks at: of its last rows. */
static const uint64_t band_sites = SW_CUT_BAND_SITES;

static const struct sw_member *params_of(const struct sw_cut_audit *a) {
    return &a->s->members[a->member].params;
}

static enum ergo_status no_memory(struct ergo_context *ctx) {
    return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for an audit");
}

enum ergo_status sw_cut_audit_differs(struct ergo_context *ctx, const struct sw_cut_audit *a,
                                      const char *what) {
    const struct ergo_device_summary *d = &a->s->e.device->summary;
    return ERGO_FAIL(ctx, ERGO_E_AUDIT,
                     "audit of swendsen-wang failed on %s (%s) at rank %d: %s in sweep %llu of "
                     "member %zu. The device's compiler or hardware is wrong for these kernels, or "
                     "a message between ranks was: try other devices, or another /system/labelling "
                     "or /system/merge",
                     d->name, d->driver, a->s->rank, what, (unsigned long long)a->step, a->member);
}

/* Representatives of the sites of words first, first + stride, ... */
enum ergo_status sw_cut_audit_names(struct ergo_context *ctx, struct sw_cut_audit *a, size_t first,
                                    size_t stride, size_t count, uint64_t *names) {
    struct sw_cut *s = a->s;
    memset(names, 0xff, 256 * count); /* what is not found stays no name */
    ergo_engine_begin(&s->e, ctx);
    for (size_t at = 0; at < count; at += SW_NAMES_AT_ONCE) {
        const size_t n = count - at < SW_NAMES_AT_ONCE ? count - at : SW_NAMES_AT_ONCE;
        ergo_engine_write(&s->e, SW_CUT_AUDITED, 0, 256 * n, names + 32 * at);
        ERGO_LAUNCH(&s->e, SW_CUT_TILE_NAME, sw_cut_over(s, n), BUFFER(SW_CUT_RECT),
                    BUFFER(SW_CUT_RIGHT), BUFFER(SW_CUT_RUN_LABELS), BUFFER(SW_CUT_OPEN),
                    BUFFER(SW_CUT_LABELS), BUFFER(SW_CUT_NAMES), BUFFER(SW_CUT_AUDITED),
                    U32(first + at * stride), U32(stride), U32(n));
        ergo_engine_read(&s->e, SW_CUT_AUDITED, 0, 256 * n, names + 32 * at);
    }
    return ergo_engine_end(&s->e);
}

static uint32_t word_of(const struct sw_cut_audit *a, const uint32_t *spins, uint32_t plane,
                        uint32_t i, uint32_t y) {
    return spins[plane * ergo_rectangle_words(&a->s->piece) + (size_t)y * a->s->piece.words + i];
}

static uint32_t draw(const struct sw_cut_audit *a, uint32_t open, uint32_t i, uint32_t y,
                     uint32_t direction) {
    const struct sw_member *m = params_of(a);
    return sw_bonds(open, sw_global_word(&a->rect, i, y), direction, (uint32_t)a->step,
                    (uint32_t)(a->step >> 32), m->key0, m->key1, m->high, m->low, m->always);
}

/* ---- rows of the inside ------------------------------------------------------------------------
 */

/* names: NULL where each site has its own state, of a random start. */
static bool states_agree(const struct sw_cut_audit *a, uint32_t i, uint32_t y,
                         const uint64_t *names) {
    const struct sw_member *m = params_of(a);
    for (uint32_t bit = 0; bit <= sw_last_bit(&a->rect, i); bit++) {
        const uint64_t site =
            names ? names[bit] : sw_global_site(&a->rect, 32 * (y * a->rect.words + i) + bit);
        const uint32_t state =
            sw_state(site, names ? SW_PURPOSE_SPIN : SW_PURPOSE_START, (uint32_t)a->step,
                     (uint32_t)(a->step >> 32), m->key0, m->key1);
        for (uint32_t p = 0; p < a->s->shape.planes; p++)
            if ((word_of(a, a->after, p, i, y) >> bit & 1u) != (state >> p & 1u))
                return false;
    }
    return true;
}

static bool same_clusters(uint32_t bonds, const uint64_t *names, const uint64_t *others) {
    for (; bonds; bonds &= bonds - 1) {
        const int bit = __builtin_ctz(bonds);
        if (names[bit] != others[bit])
            return false;
    }
    return true;
}

static uint32_t band_rows(const struct ergo_rectangle *p) {
    const uint64_t fit = band_sites / (32 * (uint64_t)p->words) + 1;
    return fit < p->rows ? (uint32_t)fit : p->rows;
}

static enum ergo_status check_rows(struct ergo_context *ctx, struct sw_cut_audit *a) {
    const struct ergo_rectangle *p = &a->s->piece;
    const uint32_t rows = band_rows(p), first = p->rows - rows; /* their chains are the longest */
    enum ergo_status status =
        sw_cut_audit_names(ctx, a, (size_t)first * p->words, 1, (size_t)rows * p->words, a->names);
    bool bonds = true, states = true;
    for (uint32_t y = first; y < p->rows && status == ERGO_OK && bonds && states; y++)
        for (uint32_t i = 0; i < p->words && bonds && states; i++) {
            const uint64_t *names = a->names + 32 * ((size_t)(y - first) * p->words + i);
            const uint32_t valid = sw_valid(&a->rect, i);
            const bool last_word = i + 1 == p->words, last_row = y + 1 == p->rows;
            uint32_t side = last_word ? valid >> 1 : valid, under = last_row ? 0 : valid;
            for (uint32_t b = 0; b < a->s->shape.planes; b++) {
                const uint32_t spin = word_of(a, a->before, b, i, y);
                const uint32_t next = last_word ? 0 : word_of(a, a->before, b, i + 1, y);
                side &= ~(spin ^ (spin >> 1 | next << 31));
                under &= last_row ? 0 : ~(spin ^ word_of(a, a->before, b, i, y + 1));
            }
            bonds = same_clusters(draw(a, side, i, y, 0), names, names + 1) &&
                    same_clusters(draw(a, under, i, y, 1), names, names + 32 * (size_t)p->words);
            states = states_agree(a, i, y, names);
        }
    if (status == ERGO_OK && !bonds)
        status = sw_cut_audit_differs(ctx, a, "labels at the two ends of a bond differ");
    if (status == ERGO_OK && !states)
        status = sw_cut_audit_differs(ctx, a, "a site has not the state of its cluster");
    return status;
}

/* ---- edges -------------------------------------------------------------------------------------
 */

/* The neighbours' spins below and on the right, as of the halo: from what is on the host, not from
 * what the device has packed. */
static enum ergo_status exchange_halo(struct ergo_context *ctx, const struct sw_cut_audit *a,
                                      const uint32_t *spins, uint8_t *halo) {
    const struct ergo_rectangle *p = &a->s->piece;
    const size_t row = 4 * (size_t)a->s->shape.planes * p->words;
    uint8_t *mine = calloc(row + p->rows, 1);
    if (!mine)
        return no_memory(ctx);
    for (uint32_t b = 0; b < a->s->shape.planes; b++) {
        memcpy(mine + 4 * (size_t)b * p->words, spins + b * ergo_rectangle_words(p), 4 * p->words);
        for (uint32_t y = 0; y < p->rows; y++)
            mine[row + y] |= (uint8_t)((word_of(a, spins, b, 0, y) & 1u) << b);
    }
    ergo_engine_begin(&a->s->e, ctx);
    sw_cut_exchange(a->s, mine, halo, row, 1);
    free(mine);
    return ergo_engine_end(&a->s->e);
}

/* Names across the lower and the right edge; halo: the neighbours' spins before the sweep. */
static enum ergo_status check_edges(struct ergo_context *ctx, struct sw_cut_audit *a,
                                    const uint8_t *halo) {
    struct sw_cut *s = a->s;
    const struct ergo_rectangle *p = &s->piece;
    const size_t row = 32 * (size_t)p->words, entries = row + p->rows;
    uint64_t *mine = malloc(8 * entries), *theirs = malloc(8 * entries);
    uint64_t *column = malloc(256 * (size_t)p->rows), *last = malloc(8 * row);
    enum ergo_status status = mine && theirs && column && last ? ERGO_OK : no_memory(ctx);
    if (status == ERGO_OK)
        status = sw_cut_audit_names(ctx, a, 0, 1, p->words, mine);
    if (status == ERGO_OK)
        status = sw_cut_audit_names(ctx, a, 0, p->words, p->rows, column);
    for (size_t y = 0; y < p->rows && status == ERGO_OK; y++)
        mine[row + y] = column[32 * y];
    ergo_engine_begin(&s->e, ctx);
    ergo_engine_note(&s->e, status);
    sw_cut_exchange(s, mine, theirs, 8 * row, 8);
    status = ergo_engine_end(&s->e);
    if (status == ERGO_OK)
        status = sw_cut_audit_names(ctx, a, (size_t)(p->rows - 1) * p->words, 1, p->words, last);
    if (status == ERGO_OK)
        status = sw_cut_audit_names(ctx, a, p->words - 1, p->words, p->rows, column);
    bool ok = true;
    for (uint32_t i = 0; i < p->words && status == ERGO_OK && ok; i++) {
        uint32_t under = sw_valid(&a->rect, i);
        for (uint32_t b = 0; b < s->shape.planes; b++) {
            uint32_t other;
            memcpy(&other, halo + 4 * (b * (size_t)p->words + i), 4);
            under &= ~(word_of(a, a->before, b, i, p->rows - 1) ^ other);
        }
        ok = same_clusters(draw(a, under, i, p->rows - 1, 1), last + 32 * (size_t)i,
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
        status = sw_cut_audit_differs(
            ctx, a, "labels on the two sides of a bond between rectangles differ");
    free(mine);
    free(theirs);
    free(column);
    free(last);
    return status;
}

/* ---- counts ------------------------------------------------------------------------------------
 */

/* The sample's sums over all spins, and what is known of those over clusters. */
static enum ergo_status check_counts(struct ergo_context *ctx, const struct sw_cut_audit *a,
                                     const struct sw_cut_counts *found, const uint8_t *halo) {
    const struct sw_cut *s = a->s;
    const struct ergo_rectangle *p = &s->piece;
    const uint8_t *column = halo + 4 * (size_t)s->shape.planes * p->words;
    struct sw_cut_counts sums = {0};
    for (uint32_t y = 0; y < p->rows; y++)
        for (uint32_t i = 0; i < p->words; i++) {
            const uint32_t valid = sw_valid(&a->rect, i), last = sw_last_bit(&a->rect, i);
            uint32_t side = 0, under = 0;
            for (uint32_t b = 0; b < s->shape.planes; b++) {
                const uint32_t spin = word_of(a, a->after, b, i, y);
                uint32_t next = column[y] >> b & 1u, below;
                memcpy(&below, halo + 4 * (b * (size_t)p->words + i), 4);
                if (i + 1 < p->words)
                    next = word_of(a, a->after, b, i + 1, y) & 1u;
                if (y + 1 < p->rows)
                    below = word_of(a, a->after, b, i, y + 1);
                side |= spin ^ ((spin >> 1 & ~(1u << last)) | next << last);
                under |= spin ^ below;
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
        return sw_cut_audit_differs(ctx, a, "counts of spins and bonds are wrong");
    if (!sw_clusters_fit(s->shape.sites, found->bins, SW_CUT_ALL_BINS, found->largest,
                         found->squares, SW_CUT_SQUARES, found->fourths, SW_CUT_FOURTHS))
        return sw_cut_audit_differs(ctx, a, "numbers and sizes of clusters are of no such lattice");
    return ERGO_OK;
}

/* ---- pieces ------------------------------------------------------------------------------------
 */

enum ergo_status sw_cut_compare_piece(struct ergo_context *ctx, const struct ergo_replay *r) {
    struct sw_cut_audit *a = r->user;
    struct sw_cut *s = a->s;
    uint8_t *halo = malloc((size_t)s->e.buffers[SW_CUT_HALO].bytes);
    audited_q = s->shape.q;
    a->step = r->step;
    const size_t bytes = sw_cut_piece_bytes(s, &s->piece);
    memcpy(a->before, (const char *)r->kept[SW_CUT_SPINS] + a->member * bytes, bytes);
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
enum ergo_status sw_cut_compare_again(struct ergo_context *ctx, const struct ergo_replay *r) {
    const struct sw_cut_audit *a = r->user;
    const size_t bytes = sw_cut_piece_bytes(a->s, &a->s->piece);
    uint32_t *again = malloc(bytes);
    enum ergo_status status = again ? sw_cut_fetch(ctx, a->s, a->member, again) : no_memory(ctx);
    if (status == ERGO_OK && memcmp(again, a->after, bytes) != 0)
        status =
            sw_cut_audit_differs(ctx, a, "new spins of sweeps with and without measurement differ");
    free(again);
    return status;
}

/* The start of this rank's rows, of as many members as the budget allows. */
enum ergo_status sw_cut_check_start(struct ergo_context *ctx, struct sw_cut_audit *a) {
    struct sw_cut *s = a->s;
    const struct ergo_rectangle *p = &s->piece;
    const size_t bytes = sw_cut_piece_bytes(s, p);
    const bool random =
        strcmp(ergo_point_text(s->e.batch->points[0], "/system/start"), "random") == 0;
    enum ergo_status status = ERGO_OK;
    bool same = true;
    uint64_t done = 0;
    audited_q = s->shape.q;
    a->step = 0;
    for (size_t m = s->e.batch->count;
         m-- > 0 && done < SW_CUT_WHOLE_SITES && status == ERGO_OK && same;
         done += s->shape.sites) {
        a->member = m;
        status = sw_cut_fetch(ctx, s, m, a->after);
        for (uint32_t y = p->rows - band_rows(p); y < p->rows && random; y++)
            for (uint32_t i = 0; i < p->words && status == ERGO_OK && same; i++)
                same = states_agree(a, i, y, NULL);
        for (size_t k = 0; k < bytes / 4 && status == ERGO_OK && same && !random; k++)
            same = a->after[k] == 0;
    }
    return same ? status : sw_cut_audit_differs(ctx, a, "the spins of the start are wrong");
}
