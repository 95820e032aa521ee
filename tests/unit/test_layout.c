/*
 * Rectangles of a lattice, without MPI: every site in one, neighbours on both sides, shares in
 * proportion; pieces of it; what a single rank tells itself across its edges.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "engine/layout.h"

#include "context.h"
#include "unit/layout_owner.h"

static const struct {
    uint64_t lx, ly;
    int ranks;
    double weights[12]; /* in turn; 0 ends */
} layouts[] = {
    {64, 2, 1, {1}},          {64, 2, 2, {1}},        {40, 7, 3, {1}},       {333, 150, 4, {1}},
    {333, 150, 7, {3, 1, 2}}, {512, 512, 9, {1}},     {512, 512, 6, {1, 9}}, {1000, 30, 5, {1}},
    {30, 1000, 5, {1, 1, 4}}, {256, 256, 12, {5, 1}}, {96, 3, 9, {1}},
};

static bool make(struct ergo_layout *l, size_t k) {
    double weights[16];
    size_t n = 0;
    while (layouts[k].weights[n] > 0)
        n++;
    for (size_t r = 0; r < 16; r++)
        weights[r] = layouts[k].weights[r % n];
    return ergo_layout_make(l, layouts[k].lx, layouts[k].ly, layouts[k].ranks, weights);
}

static void test_layouts(void **unused) {
    (void)unused;
    for (size_t k = 0; k < sizeof layouts / sizeof layouts[0]; k++) {
        struct ergo_layout l;
        assert_true(make(&l, k));
        uint64_t words = 0;
        for (int r = 0; r < l.ranks; r++) {
            const struct ergo_rectangle *p = &l.rectangles[r];
            assert_true(p->words > 0 && p->rows > 0);
            words += (uint64_t)p->words * p->rows;
            /* corners are the rank's, by site and back */
            const uint32_t last = 32 * (p->words * p->rows - 1) + p->tail - 1;
            assert_int_equal(layout_owner(&l, ergo_layout_site(&l, r, 0)), r);
            assert_int_equal(layout_owner(&l, ergo_layout_site(&l, r, last)), r);
            const int below = ergo_layout_below(&l, r).rank;
            assert_int_equal(l.rectangles[below].column, p->column);
            assert_int_equal(l.rectangles[below].row0, (p->row0 + p->rows) % l.ly);
            assert_int_equal(ergo_layout_above(&l, below).rank, r);
            /* what is on the right of one is on the left of the other, and nothing is left out */
            struct ergo_link right[16], left[16];
            size_t n_right, n_left;
            uint32_t rows = 0;
            ergo_layout_beside(&l, r, true, right, &n_right);
            for (size_t i = 0; i < n_right; i++) {
                bool found = false;
                assert_int_equal(right[i].first, rows);
                rows += right[i].count;
                ergo_layout_beside(&l, right[i].rank, false, left, &n_left);
                for (size_t j = 0; j < n_left; j++)
                    found = found ||
                            (left[j].rank == r && left[j].first == right[i].far_first &&
                             left[j].far_first == right[i].first &&
                             left[j].count == right[i].count && left[j].around == right[i].around);
                assert_true(found);
            }
            assert_int_equal(rows, p->rows);
        }
        assert_int_equal(words, l.row_words * l.ly);
        ergo_layout_free(&l);
    }
    struct ergo_layout l;
    const double equal[8] = {1, 1, 1, 1, 1, 1, 1, 1};
    assert_false(ergo_layout_make(&l, 60, 3, 7, equal)); /* 2 words, 3 rows */
    const double uneven[4] = {9, 1, 9, 1};
    assert_true(ergo_layout_make(&l, 3200, 3200, 4, uneven));
    assert_true(l.rectangles[0].rows == 2880 && l.rectangles[1].rows == 320);
    ergo_layout_free(&l);
}

/* Two planes of words that say which they are. */
static uint64_t *number_words(const struct ergo_layout *l) {
    const size_t words = 2 * (size_t)(l->row_words * l->ly);
    uint64_t *whole = malloc(words * sizeof *whole);
    assert_non_null(whole);
    for (size_t i = 0; i < words; i++)
        whole[i] = i;
    return whole;
}

static void test_pieces(void **unused) {
    (void)unused;
    for (size_t k = 0; k < sizeof layouts / sizeof layouts[0]; k++) {
        struct ergo_layout l;
        assert_true(make(&l, k));
        uint64_t *whole = number_words(&l);
        for (int r = 0; r < l.ranks; r++) {
            const struct ergo_rectangle *p = &l.rectangles[r];
            uint64_t *piece = malloc(16 * ergo_rectangle_words(p)), *at = piece;
            assert_non_null(piece);
            ergo_layout_cut(&l, r, 8, 2, whole, piece);
            for (uint64_t plane = 0; plane < 2; plane++)
                for (uint64_t y = p->row0; y < p->row0 + p->rows; y++)
                    for (uint64_t x = p->word0; x < p->word0 + p->words; x++)
                        assert_int_equal(*at++, (plane * l.ly + y) * l.row_words + x);
            free(piece);
        }
        free(whole);
        ergo_layout_free(&l);
    }
}

/* The whole is the piece of a single rank, whose neighbour it is itself. */
static void test_alone(void **unused) {
    (void)unused;
    struct ergo_layout l;
    struct ergo_halo halo = {0};
    const double one = 1;
    const char mine[3 * 2 + 5 * 2 + 1] = "abcdefABCDEFGHIJ";
    char theirs[sizeof mine] = "";
    void *whole = NULL, *piece = NULL;
    assert_true(ergo_layout_make(&l, 70, 5, 1, &one));
    uint64_t *words = number_words(&l);
    assert_int_equal(ergo_layout_gather(ctx, &l, 8, 2, words, &whole), ERGO_OK);
    assert_int_equal(ergo_layout_scatter(ctx, &l, 8, 2, whole, &piece), ERGO_OK);
    assert_memory_equal(whole, words, 2 * 8 * 3 * 5);
    assert_memory_equal(piece, words, 2 * 8 * 3 * 5);
    for (int again = 0; again < 2; again++) { /* made anew */
        assert_int_equal(ergo_halo_make(ctx, &halo, &l), ERGO_OK);
        memset(theirs, 0, sizeof theirs);
        assert_int_equal(ergo_halo_exchange(ctx, &halo, mine, theirs, 6, 2), ERGO_OK);
        assert_string_equal(theirs, mine);
    }
    halo.sent++; /* one was lost */
    assert_int_equal(ergo_halo_exchange(ctx, &halo, mine, theirs, 6, 2), ERGO_E_DEVICE);
    assert_non_null(strstr(ergo_error_message(ctx), "lost step"));
    halo.sent--;
    assert_int_equal(ergo_halo_exchange(ctx, &halo, mine, theirs, 6, 2), ERGO_OK);
    ergo_halo_free(&halo);
    free(whole);
    free(piece);
    free(words);
    ergo_layout_free(&l);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_layouts),
        cmocka_unit_test(test_pieces),
        cmocka_unit_test(test_alone),
    };
    return cmocka_run_group_tests(tests, context_open, context_close);
}
