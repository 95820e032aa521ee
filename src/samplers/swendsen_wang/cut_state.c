/* The canonical state of a lattice in pieces: rank 0 makes it, and each takes its piece from it. */
#include <stdlib.h>
#include <string.h>

#include "samplers/swendsen_wang/cut.h"

enum { TAG_PIECE = ERGO_DIST_TAGS + 20 };

enum ergo_status sw_cut_fetch(struct ergo_context *ctx, struct sw_cut *s, size_t member,
                              uint32_t *planes) {
    ergo_engine_begin(&s->e, ctx);
    sw_cut_choose(s, member);
    ergo_engine_read(&s->e, SW_CUT_SPINS, 0, sw_cut_piece_bytes(s, &s->piece), planes);
    return ergo_engine_end(&s->e);
}

static enum ergo_status put(struct ergo_context *ctx, struct sw_cut *s, size_t member,
                            const uint32_t *planes) {
    ergo_engine_begin(&s->e, ctx);
    sw_cut_choose(s, member);
    s->now->fresh = false;
    ergo_engine_write(&s->e, SW_CUT_SPINS, 0, sw_cut_piece_bytes(s, &s->piece), planes);
    return ergo_engine_end(&s->e);
}

/* A piece and its place in the whole, word by word. */
static void copy_piece(const struct sw_cut *s, const struct sw_piece *p, uint32_t *piece,
                       uint32_t *whole, bool to_whole) {
    for (size_t b = 0; b < s->shape.planes; b++)
        for (size_t y = 0; y < p->rows; y++) {
            uint32_t *mine = piece + b * sw_piece_words(p) + y * p->words;
            uint32_t *all = whole + b * s->shape.words +
                            (y + (size_t)p->row0) * s->shape.row_words + (size_t)p->word0;
            memcpy(to_whole ? all : mine, to_whole ? mine : all, 4 * (size_t)p->words);
        }
}

struct gathering {
    struct ergo_context *ctx;
    const struct sw_cut *s;
    uint32_t *planes;
};

static enum ergo_status take_piece(void *user, int rank, const char *data, size_t length) {
    struct gathering *g = user;
    const struct sw_piece *p = &g->s->layout.pieces[rank];
    if (length != sw_cut_piece_bytes(g->s, p))
        return ERGO_FAIL(g->ctx, ERGO_E_INTERNAL, "the piece of rank %d has %zu bytes", rank,
                         length);
    copy_piece(g->s, p, (uint32_t *)(void *)(uintptr_t)data, g->planes, true);
    return ERGO_OK;
}

enum ergo_status sw_cut_gather_planes(struct ergo_context *ctx, struct sw_cut *s, const void *mine,
                                      uint32_t **planes) {
    struct gathering g = {.ctx = ctx, .s = s};
    struct ergo_text text = {0};
    *planes = NULL;
    ergo_text_append_bytes(&text, mine, sw_cut_piece_bytes(s, &s->piece));
    if (s->rank == 0)
        g.planes = malloc(s->shape.member_bytes);
    if (text.failed || (s->rank == 0 && !g.planes)) {
        ergo_text_free(&text);
        free(g.planes);
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for a lattice of %llu sites",
                         (unsigned long long)s->shape.sites);
    }
    if (s->rank == 0)
        copy_piece(s, &s->piece, (uint32_t *)(void *)text.data, g.planes, true);
    const enum ergo_status status = ergo_dist_gather(ctx, &text, take_piece, &g);
    ergo_text_free(&text);
    if (status == ERGO_OK)
        *planes = g.planes;
    else
        free(g.planes);
    return status;
}

enum ergo_status sw_cut_gather(struct ergo_context *ctx, struct sw_cut *s, size_t member,
                               uint32_t **planes) {
    uint32_t *mine = malloc(sw_cut_piece_bytes(s, &s->piece));
    enum ergo_status status = mine ? sw_cut_fetch(ctx, s, member, mine)
                                   : ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for a lattice");
    *planes = NULL;
    if (status == ERGO_OK)
        status = sw_cut_gather_planes(ctx, s, mine, planes);
    free(mine);
    return status;
}

enum ergo_status sw_cut_scatter(struct ergo_context *ctx, struct sw_cut *s, size_t member,
                                uint32_t *planes) {
    struct ergo_text piece = {0};
    enum ergo_status status = ERGO_OK;
    for (int r = s->layout.ranks - 1; s->rank == 0 && r >= 0 && status == ERGO_OK; r--) {
        const struct sw_piece *p = &s->layout.pieces[r];
        const size_t bytes = sw_cut_piece_bytes(s, p);
        char *more = realloc(piece.data, bytes);
        if (!more) {
            status = ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for the piece of rank %d", r);
            break;
        }
        piece.data = more;
        piece.length = piece.capacity = bytes;
        copy_piece(s, p, (uint32_t *)(void *)piece.data, planes, false);
        if (r > 0)
            status = ergo_dist_send(ctx, r, TAG_PIECE, piece.data, bytes);
    }
    if (s->rank > 0)
        status = ergo_dist_receive(ctx, 0, TAG_PIECE, &piece);
    if (status == ERGO_OK)
        status = put(ctx, s, member, (const uint32_t *)(const void *)piece.data);
    ergo_text_free(&piece);
    return status;
}

enum ergo_status sw_cut_save(struct ergo_context *ctx, void *opaque, size_t member,
                             struct ergo_text *text) {
    struct sw_cut *s = opaque;
    uint32_t *planes = NULL;
    enum ergo_status status = sw_cut_gather(ctx, s, member, &planes);
    if (status == ERGO_OK && planes)
        status = sw_append_state(ctx, &s->shape, planes, text);
    free(planes);
    return status;
}

enum ergo_status sw_cut_load(struct ergo_context *ctx, void *opaque, size_t member, uint64_t step,
                             const void *bytes, size_t length) {
    struct sw_cut *s = opaque;
    uint32_t *planes = NULL, *mine = NULL;
    enum ergo_status status = sw_read_state(ctx, &s->shape, member, bytes, length, &planes);
    if (status == ERGO_OK && !(mine = malloc(sw_cut_piece_bytes(s, &s->piece))))
        status = ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory to load a lattice");
    if (status == ERGO_OK) {
        copy_piece(s, &s->piece, mine, planes, false);
        status = put(ctx, s, member, mine);
    }
    s->e.step = step;
    s->started = false;
    free(planes);
    free(mine);
    return status;
}

enum ergo_status sw_cut_view(struct ergo_context *ctx, void *opaque, size_t member,
                             struct ergo_view *view) {
    struct sw_cut *s = opaque;
    uint32_t *planes = NULL;
    const enum ergo_status status = sw_cut_gather(ctx, s, member, &planes);
    *view = sw_view_of(&s->shape);
    view->sites = planes;
    return status;
}
