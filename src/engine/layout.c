/* Rectangles of a lattice, from nothing but the sides and the shares: layout.h. */
#include "engine/layout.h"

#include <math.h>
#include <stdlib.h>

#include "engine/shares.h"

/* Ranks in column c of `columns`: as even as can be. */
static size_t ranks_in(int ranks, size_t columns, size_t c) {
    return (size_t)ranks / columns + (c < (size_t)ranks % columns ? 1 : 0);
}

/* As few sites on edges as possible: `columns` vertical ones through the lattice, and ranks/columns
 * horizontal ones on average. 0: there is no way. */
static size_t choose_columns(const struct ergo_layout *l) {
    size_t best = 0;
    double least = INFINITY;
    for (size_t c = 1; c <= (size_t)l->ranks && c <= l->row_words; c++) {
        const double edges =
            (double)c * (double)l->ly + (double)l->ranks / (double)c * (double)l->lx;
        if (ranks_in(l->ranks, c, 0) <= l->ly && edges < least) {
            least = edges;
            best = c;
        }
    }
    return best;
}

void ergo_layout_free(struct ergo_layout *layout) {
    free(layout->rectangles);
    layout->rectangles = NULL;
}

bool ergo_layout_make(struct ergo_layout *l, uint64_t lx, uint64_t ly, int ranks,
                      const double *weights) {
    const size_t n = (size_t)ranks;
    *l = (struct ergo_layout){.ranks = ranks, .lx = lx, .ly = ly, .row_words = (lx + 31) / 32};
    l->rectangles = calloc(n, sizeof *l->rectangles);
    double *column_weights = calloc(n, sizeof *column_weights);
    const size_t columns = choose_columns(l);
    const bool ok = l->rectangles && column_weights && columns;
    for (size_t c = 0, r = 0; ok && c < columns; c++)
        for (size_t k = 0; k < ranks_in(ranks, columns, c); k++, r++)
            column_weights[c] += weights[r];
    for (size_t c = 0, first = 0; ok && c < columns; c++) {
        const size_t stack = ranks_in(ranks, columns, c);
        const uint64_t left = ergo_share_before(l->row_words, column_weights, columns, c);
        const uint64_t right = ergo_share_before(l->row_words, column_weights, columns, c + 1);
        for (size_t k = 0; k < stack; k++) {
            const uint64_t top = ergo_share_before(ly, weights + first, stack, k);
            const uint64_t bottom = ergo_share_before(ly, weights + first, stack, k + 1);
            l->rectangles[first + k] = (struct ergo_rectangle){
                .row0 = top,
                .word0 = left,
                .rows = (uint32_t)(bottom - top),
                .words = (uint32_t)(right - left),
                .tail = right == l->row_words ? (uint32_t)(lx - 32 * (l->row_words - 1)) : 32,
                .column = (uint32_t)c,
            };
        }
        first += stack;
    }
    free(column_weights);
    if (!ok)
        ergo_layout_free(l);
    return ok;
}

size_t ergo_rectangle_words(const struct ergo_rectangle *rectangle) {
    return (size_t)rectangle->words * rectangle->rows;
}

/* Next in the same column, around the lattice. */
static int next_in_column(const struct ergo_layout *l, int rank, int step) {
    const uint32_t column = l->rectangles[rank].column;
    int other = rank + step;
    if (other >= 0 && other < l->ranks && l->rectangles[other].column == column)
        return other;
    for (other = rank; other - step >= 0 && other - step < l->ranks &&
                       l->rectangles[other - step].column == column;)
        other -= step;
    return other;
}

struct ergo_link ergo_layout_below(const struct ergo_layout *l, int rank) {
    const struct ergo_rectangle *p = &l->rectangles[rank];
    return (struct ergo_link){next_in_column(l, rank, 1), 0, 0, p->words,
                              p->row0 + p->rows == l->ly};
}

struct ergo_link ergo_layout_above(const struct ergo_layout *l, int rank) {
    const struct ergo_rectangle *p = &l->rectangles[rank];
    return (struct ergo_link){next_in_column(l, rank, -1), 0, 0, p->words, p->row0 == 0};
}

void ergo_layout_beside(const struct ergo_layout *l, int rank, bool right, struct ergo_link *links,
                        size_t *n) {
    const struct ergo_rectangle *piece = &l->rectangles[rank];
    const uint32_t columns = l->rectangles[l->ranks - 1].column + 1;
    const uint32_t beside = (piece->column + (right ? 1 : columns - 1)) % columns;
    const bool around = right ? beside == 0 : piece->column == 0;
    *n = 0;
    for (int r = 0; r < l->ranks; r++) {
        const struct ergo_rectangle *p = &l->rectangles[r];
        const uint64_t from = piece->row0 > p->row0 ? piece->row0 : p->row0;
        const uint64_t a = piece->row0 + piece->rows, b = p->row0 + p->rows, to = a < b ? a : b;
        if (p->column == beside && from < to)
            links[(*n)++] =
                (struct ergo_link){r, (uint32_t)(from - piece->row0), (uint32_t)(from - p->row0),
                                   (uint32_t)(to - from), around};
    }
}

uint64_t ergo_layout_site(const struct ergo_layout *l, int rank, uint32_t index) {
    const struct ergo_rectangle *p = &l->rectangles[rank];
    const uint64_t y = index / (32 * (uint64_t)p->words), x = index % (32 * (uint64_t)p->words);
    return (y + p->row0) * l->lx + x + 32 * p->word0;
}
