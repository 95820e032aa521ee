/* Halos, and the pieces of a lattice over ranks: layout.h. */
#include <stdlib.h>
#include <string.h>

#include "engine/layout.h"

/* Above those of samplers, which have posts of their own under way. */
enum { TAG_ROW = ERGO_DIST_TAGS + 20, TAG_COLUMN, TAG_PIECE };

/* ---- halos ----------------------------------------------------------------------------------- */

enum ergo_status ergo_halo_make(struct ergo_context *ctx, struct ergo_halo *h,
                                const struct ergo_layout *l) {
    const int rank = ergo_ranks_rank();
    const size_t ranks = (size_t)l->ranks;
    ergo_halo_free(h);
    h->below = ergo_layout_below(l, rank);
    h->above = ergo_layout_above(l, rank);
    h->right = calloc(ranks, sizeof *h->right);
    h->left = calloc(ranks, sizeof *h->left);
    h->posts = ergo_dist_posts_create();
    if (!h->right || !h->left || !h->posts)
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for the neighbours of a rank");
    ergo_layout_beside(l, rank, true, h->right, &h->n_right);
    ergo_layout_beside(l, rank, false, h->left, &h->n_left);
    return ERGO_OK;
}

void ergo_halo_free(struct ergo_halo *h) {
    free(h->right);
    free(h->left);
    free(h->messages);
    ergo_dist_posts_destroy(h->posts);
    *h = (struct ergo_halo){0};
}

/* A message: `bytes`, then its number. */
enum { NUMBER = sizeof(uint32_t) };

static bool make_room(struct ergo_halo *h, size_t bytes) {
    if (bytes <= h->room)
        return true;
    free(h->messages);
    h->messages = malloc(bytes);
    h->room = h->messages ? bytes : 0;
    return h->messages;
}

static size_t bytes_of(const struct ergo_link *links, size_t n, size_t of_row) {
    size_t bytes = 0;
    for (size_t k = 0; k < n; k++)
        bytes += of_row * links[k].count + NUMBER;
    return bytes;
}

static enum ergo_status send(struct ergo_context *ctx, struct ergo_halo *h, int rank, int tag,
                             char **at, const char *data, size_t bytes) {
    char *message = *at;
    memcpy(message, data, bytes);
    memcpy(message + bytes, &h->sent, NUMBER);
    *at += bytes + NUMBER;
    return ergo_dist_post_send(ctx, h->posts, rank, tag, message, bytes + NUMBER);
}

static enum ergo_status receive(struct ergo_context *ctx, const struct ergo_halo *h, int rank,
                                int tag, char **at, size_t bytes) {
    char *message = *at;
    memset(message + bytes, 0xff, NUMBER); /* of no message */
    *at += bytes + NUMBER;
    return ergo_dist_post_receive(ctx, h->posts, rank, tag, message, bytes + NUMBER);
}

static enum ergo_status take(struct ergo_context *ctx, const struct ergo_halo *h, int rank,
                             char **at, char *data, size_t bytes) {
    uint32_t number;
    memcpy(data, *at, bytes);
    memcpy(&number, *at + bytes, NUMBER);
    *at += bytes + NUMBER;
    if (number == h->due)
        return ERGO_OK;
    return ERGO_FAIL(ctx, ERGO_E_DEVICE,
                     "rank %d got another message of rank %d's edges than the one that is due: the "
                     "ranks have lost step, or the network a message",
                     ergo_ranks_rank(), rank);
}

enum ergo_status ergo_halo_exchange(struct ergo_context *ctx, struct ergo_halo *h, const void *mine,
                                    void *theirs, size_t row, size_t of_row) {
    const char *out = mine;
    char *in = theirs;
    const size_t incoming = row + NUMBER + bytes_of(h->right, h->n_right, of_row);
    if (!make_room(h, incoming + row + NUMBER + bytes_of(h->left, h->n_left, of_row)))
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for the edges of neighbours");
    char *at = h->messages;
    enum ergo_status status = receive(ctx, h, h->below.rank, TAG_ROW, &at, row);
    for (const struct ergo_link *k = h->right; k < h->right + h->n_right && status == ERGO_OK; k++)
        status = receive(ctx, h, k->rank, TAG_COLUMN, &at, of_row * k->count);
    if (status == ERGO_OK)
        status = send(ctx, h, h->above.rank, TAG_ROW, &at, out, row);
    for (const struct ergo_link *k = h->left; k < h->left + h->n_left && status == ERGO_OK; k++)
        status = send(ctx, h, k->rank, TAG_COLUMN, &at, out + row + of_row * k->first,
                      of_row * k->count);
    if (status == ERGO_OK)
        ergo_dist_posts_wait(h->posts);
    at = h->messages;
    if (status == ERGO_OK)
        status = take(ctx, h, h->below.rank, &at, in, row);
    for (const struct ergo_link *k = h->right; k < h->right + h->n_right && status == ERGO_OK; k++)
        status = take(ctx, h, k->rank, &at, in + row + of_row * k->first, of_row * k->count);
    h->sent++;
    h->due++;
    return status;
}

/* ---- pieces ---------------------------------------------------------------------------------- */

/* What is gathered, or scattered. */
struct pieces {
    struct ergo_context *ctx;
    const struct ergo_layout *layout;
    size_t of_word, planes;
    char *whole;
};

static size_t piece_bytes(const struct pieces *p, int rank) {
    return p->of_word * p->planes * ergo_rectangle_words(&p->layout->rectangles[rank]);
}

/* A rank's rows, between the whole and its piece. */
static void copy(const struct pieces *p, int rank, char *piece, bool to_whole) {
    const struct ergo_layout *l = p->layout;
    const struct ergo_rectangle *r = &l->rectangles[rank];
    const size_t bytes = p->of_word * r->words, stride = p->of_word * (size_t)l->row_words;
    for (size_t plane = 0; plane < p->planes; plane++) {
        char *row = p->whole + stride * (plane * (size_t)l->ly + (size_t)r->row0) +
                    p->of_word * (size_t)r->word0;
        for (size_t y = 0; y < r->rows; y++, row += stride, piece += bytes)
            memcpy(to_whole ? row : piece, to_whole ? piece : row, bytes);
    }
}

void ergo_layout_cut(const struct ergo_layout *layout, int rank, size_t of_word, size_t planes,
                     const void *whole, void *piece) {
    const struct pieces p = {
        .layout = layout, .of_word = of_word, .planes = planes, .whole = (char *)(uintptr_t)whole};
    copy(&p, rank, piece, false);
}

static enum ergo_status take_piece(void *user, int rank, const char *data, size_t length) {
    const struct pieces *p = user;
    if (length != piece_bytes(p, rank))
        return ERGO_FAIL(p->ctx, ERGO_E_INTERNAL, "the piece of rank %d has %zu bytes", rank,
                         length);
    copy(p, rank, (char *)(uintptr_t)data, true);
    return ERGO_OK;
}

enum ergo_status ergo_layout_gather(struct ergo_context *ctx, const struct ergo_layout *layout,
                                    size_t of_word, size_t planes, const void *mine, void **whole) {
    struct pieces p = {.ctx = ctx, .layout = layout, .of_word = of_word, .planes = planes};
    const int rank = ergo_ranks_rank();
    const struct ergo_text text = {.data = (char *)(uintptr_t)mine,
                                   .length = piece_bytes(&p, rank)};
    const size_t bytes = of_word * planes * (size_t)(layout->row_words * layout->ly);
    enum ergo_status status = ERGO_OK;
    *whole = NULL;
    if (rank == 0 && !(p.whole = malloc(bytes)))
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for a lattice of %zu bytes", bytes);
    if (rank == 0)
        status = take_piece(&p, 0, text.data, text.length);
    if (status == ERGO_OK)
        status = ergo_dist_gather(ctx, &text, take_piece, &p);
    if (status == ERGO_OK)
        *whole = p.whole;
    else
        free(p.whole);
    return status;
}

enum ergo_status ergo_layout_scatter(struct ergo_context *ctx, const struct ergo_layout *layout,
                                     size_t of_word, size_t planes, const void *whole,
                                     void **mine) {
    const struct pieces p = {ctx, layout, of_word, planes, (char *)(uintptr_t)whole};
    const int rank = ergo_ranks_rank();
    struct ergo_text piece = {0};
    enum ergo_status status = ERGO_OK;
    for (int r = layout->ranks - 1; rank == 0 && r >= 0 && status == ERGO_OK; r--) {
        free(piece.data);
        piece.length = piece_bytes(&p, r);
        piece.data = malloc(piece.length);
        if (!piece.data)
            status = ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for the piece of rank %d", r);
        else
            copy(&p, r, piece.data, false);
        if (r > 0 && status == ERGO_OK)
            status = ergo_dist_send(ctx, r, TAG_PIECE, piece.data, piece.length);
    }
    if (rank > 0)
        status = ergo_dist_receive(ctx, 0, TAG_PIECE, &piece);
    if (status == ERGO_OK && piece.length != piece_bytes(&p, rank))
        status = ERGO_FAIL(ctx, ERGO_E_INTERNAL, "the piece of rank %d has %zu bytes", rank,
                           piece.length);
    if (status != ERGO_OK)
        ergo_text_free(&piece);
    *mine = piece.data;
    return status;
}
