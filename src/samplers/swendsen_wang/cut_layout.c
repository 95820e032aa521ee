/* The super-lattice of rectangles, from nothing but the sides and the shares. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "samplers/swendsen_wang/cut.h"

/* Bounds of n stretches of `length`, each 1 at least, in proportion to the weights. */
static void divide(uint64_t length, size_t n, const double *weights, uint64_t *bounds) {
    double total = 0, sum = 0;
    for (size_t k = 0; k < n; k++)
        total += weights[k];
    bounds[0] = 0;
    for (size_t k = 0; k < n; k++) {
        sum += weights[k];
        uint64_t end = (uint64_t)floor((double)length * (sum / total) + 0.5);
        const uint64_t least = bounds[k] + 1, most = length - (n - 1 - k);
        end = end < least ? least : end > most ? most : end;
        bounds[k + 1] = k + 1 == n ? length : end;
    }
}

/* Ranks in column c of `columns`: as even as can be. */
static size_t ranks_in(int ranks, size_t columns, size_t c) {
    return (size_t)ranks / columns + (c < (size_t)ranks % columns ? 1 : 0);
}

/* As few sites on edges as possible: `columns` vertical ones through the lattice, and ranks/columns
 * horizontal ones on average. 0: there is no way. */
static size_t choose_columns(const struct sw_layout *l) {
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

void sw_layout_free(struct sw_layout *layout) {
    free(layout->pieces);
    layout->pieces = NULL;
}

bool sw_layout_make(struct sw_layout *l, uint64_t lx, uint64_t ly, int ranks,
                    const double *weights) {
    const size_t n = (size_t)ranks;
    *l = (struct sw_layout){.ranks = ranks, .lx = lx, .ly = ly, .row_words = (lx + 31) / 32};
    l->pieces = calloc(n, sizeof *l->pieces);
    double *column_weights = calloc(n, sizeof *column_weights);
    uint64_t *across = calloc(n + 1, sizeof *across), *down = calloc(n + 1, sizeof *down);
    const size_t columns = choose_columns(l);
    const bool ok = l->pieces && column_weights && across && down && columns;
    for (size_t c = 0, r = 0; ok && c < columns; c++)
        for (size_t k = 0; k < ranks_in(ranks, columns, c); k++, r++)
            column_weights[c] += weights[r];
    if (ok)
        divide(l->row_words, columns, column_weights, across);
    for (size_t c = 0, r = 0; ok && c < columns; c++) {
        const size_t stack = ranks_in(ranks, columns, c);
        divide(ly, stack, weights + r, down);
        for (size_t k = 0; k < stack; k++, r++)
            l->pieces[r] = (struct sw_piece){
                .row0 = down[k],
                .word0 = across[c],
                .rows = (uint32_t)(down[k + 1] - down[k]),
                .words = (uint32_t)(across[c + 1] - across[c]),
                .tail =
                    across[c + 1] == l->row_words ? (uint32_t)(lx - 32 * (l->row_words - 1)) : 32,
                .column = (uint32_t)c,
            };
    }
    free(column_weights);
    free(across);
    free(down);
    if (!ok)
        sw_layout_free(l);
    return ok;
}

/* Next in the same column, around the lattice. */
static int next_in_column(const struct sw_layout *l, int rank, int step) {
    const uint32_t column = l->pieces[rank].column;
    int other = rank + step;
    if (other >= 0 && other < l->ranks && l->pieces[other].column == column)
        return other;
    for (other = rank;
         other - step >= 0 && other - step < l->ranks && l->pieces[other - step].column == column;)
        other -= step;
    return other;
}

struct sw_link sw_layout_below(const struct sw_layout *l, int rank) {
    const struct sw_piece *p = &l->pieces[rank];
    return (struct sw_link){next_in_column(l, rank, 1), 0, 0, p->words, p->row0 + p->rows == l->ly};
}

struct sw_link sw_layout_above(const struct sw_layout *l, int rank) {
    const struct sw_piece *p = &l->pieces[rank];
    return (struct sw_link){next_in_column(l, rank, -1), 0, 0, p->words, p->row0 == 0};
}

void sw_layout_beside(const struct sw_layout *l, int rank, bool right, struct sw_link *links,
                      size_t *n) {
    const struct sw_piece *piece = &l->pieces[rank];
    const uint32_t columns = l->pieces[l->ranks - 1].column + 1;
    const uint32_t beside = (piece->column + (right ? 1 : columns - 1)) % columns;
    const bool around = right ? beside == 0 : piece->column == 0;
    *n = 0;
    for (int r = 0; r < l->ranks; r++) {
        const struct sw_piece *p = &l->pieces[r];
        const uint64_t from = piece->row0 > p->row0 ? piece->row0 : p->row0;
        const uint64_t a = piece->row0 + piece->rows, b = p->row0 + p->rows, to = a < b ? a : b;
        if (p->column == beside && from < to)
            links[(*n)++] =
                (struct sw_link){r, (uint32_t)(from - piece->row0), (uint32_t)(from - p->row0),
                                 (uint32_t)(to - from), around};
    }
}

uint64_t sw_piece_site(const struct sw_layout *l, int rank, uint32_t index) {
    const struct sw_piece *p = &l->pieces[rank];
    const uint64_t y = index / (32 * (uint64_t)p->words), x = index % (32 * (uint64_t)p->words);
    return (y + p->row0) * l->lx + x + 32 * p->word0;
}

int sw_layout_owner(const struct sw_layout *l, uint64_t site) {
    const uint64_t y = site / l->lx, word = site % l->lx / 32;
    for (int r = 0; r < l->ranks; r++) {
        const struct sw_piece *p = &l->pieces[r];
        if (word - p->word0 < p->words && y - p->row0 < p->rows)
            return r;
    }
    return 0; /* not reached: the pieces are the lattice */
}
