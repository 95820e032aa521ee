/*
 * A lattice of rows of words, 32 sites each, in rectangles: one for each rank. Who borders on whom,
 * what neighbours tell each other (halos), and the whole from its pieces and back.
 */
#ifndef ERGO_ENGINE_LAYOUT_H
#define ERGO_ENGINE_LAYOUT_H

#include "dist/dist.h"

/* Rows row0 .. row0 + rows - 1 and words word0 .. word0 + words - 1 of each. */
struct ergo_rectangle {
    uint64_t row0, word0;
    uint32_t rows, words;
    uint32_t tail; /* sites in the last word of its rows */
    uint32_t column;
};

/* Ranks are in columns, in order, from top to bottom in each. Each column is cut into rows for
 * itself: a rank borders on one above and one below, on several beside it. */
struct ergo_layout {
    int ranks;
    uint64_t lx, ly, row_words;
    struct ergo_rectangle *rectangles; /* [ranks] */
};

/* A stretch of an edge: `count` words of a row, or rows of a column, from `first` on in this
 * rectangle and from `far_first` in the neighbour's. `around`: the bonds lead around the lattice.
 */
struct ergo_link {
    int rank;
    uint32_t first, far_first, count;
    bool around;
};

/* weights[ranks] > 0: the sites of each are about in proportion. False: no memory, or the lattice
 * has not a word and a row for each. */
bool ergo_layout_make(struct ergo_layout *layout, uint64_t lx, uint64_t ly, int ranks,
                      const double *weights);
void ergo_layout_free(struct ergo_layout *layout);
size_t ergo_rectangle_words(const struct ergo_rectangle *rectangle);
/* The neighbours of a rank: below, above (one each), right, left (up to `ranks` each; *n). */
struct ergo_link ergo_layout_below(const struct ergo_layout *layout, int rank);
struct ergo_link ergo_layout_above(const struct ergo_layout *layout, int rank);
void ergo_layout_beside(const struct ergo_layout *layout, int rank, bool right,
                        struct ergo_link *links, size_t *n);
/* The site, in the whole lattice, of one of a rectangle (32 a word). */
uint64_t ergo_layout_site(const struct ergo_layout *layout, int rank, uint32_t index);

/* ---- pieces.c: between ranks ------------------------------------------------------------------
 */

/* This rank's neighbours, and what is under way to them. */
struct ergo_halo {
    struct ergo_link below, above, *right, *left;
    size_t n_right, n_left;
    struct ergo_dist_posts *posts;
    /* Numbers of messages, so that one which is lost or old is noticed; messages with theirs. */
    uint32_t sent, due;
    char *messages;
    size_t room;
};
/* Replaces what is there. */
enum ergo_status ergo_halo_make(struct ergo_context *ctx, struct ergo_halo *halo,
                                const struct ergo_layout *layout);
void ergo_halo_free(struct ergo_halo *halo);
/* `mine`, this rank's first row and column, goes to the rank above and to those on the left;
 * `theirs` comes from below and the right. Both: `row` bytes, then `of_row` bytes a row.
 * Collective, as are the next two. Fails where a message is not the one that is due. */
enum ergo_status ergo_halo_exchange(struct ergo_context *ctx, struct ergo_halo *halo,
                                    const void *mine, void *theirs, size_t row, size_t of_row);

/* The lattice as rank 0 has it: in each of `planes`, row by row, of_word bytes a word. The piece
 * in a rank's rectangle: the same of its rows and words. */
void ergo_layout_cut(const struct ergo_layout *layout, int rank, size_t of_word, size_t planes,
                     const void *whole, void *piece);
/* Of all ranks' pieces the whole, to be freed; NULL on other ranks than the first, and after an
 * error. */
enum ergo_status ergo_layout_gather(struct ergo_context *ctx, const struct ergo_layout *layout,
                                    size_t of_word, size_t planes, const void *mine, void **whole);
/* The reverse: this rank's piece, to be freed. whole: of rank 0. */
enum ergo_status ergo_layout_scatter(struct ergo_context *ctx, const struct ergo_layout *layout,
                                     size_t of_word, size_t planes, const void *whole, void **mine);

#endif
