/* The twin of unit vectors in a part of a lattice, with what it reads around that, against the
 * whole: what an audit of a large lattice follows. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "samplers/spin_lattice/vector/vector.h"

static struct vector_shape shape_of(uint32_t d, bool space, uint32_t relax) {
    struct vector_shape s = {.d = d,
                             .l = {6, 24, 20},
                             .space = space,
                             .relax = relax,
                             .colours = 2,
                             .directions = d,
                             .components = space ? 3 : 1};
    for (uint32_t k = d; k < 3; k++)
        s.l[k] = 1;
    s.sites = (uint64_t)s.l[0] * s.l[1] * s.l[2];
    return s;
}

/* The row `i` of a slab, of the whole lattice. */
static const uint32_t *row_of(const struct vector_shape *s, const uint32_t *sites,
                              struct vector_slab slab, size_t i) {
    const size_t plane = (slab.first + i / slab.rows) % s->l[s->d - 1];
    const size_t y = s->d == 3 ? (slab.row + i % slab.rows) % s->l[1] : 0;
    return sites + (size_t)s->components * s->l[0] * (y + (s->d == 3 ? s->l[1] : 1) * plane);
}

/* After some sweeps the slab has what the whole lattice has there. */
static void follow(const struct vector_shape *s, struct vector_slab slab, uint64_t sweeps) {
    const struct vector_member m = {
        .key0 = 5, .key1 = 7, .beta = 0.8f, .coupling = 1, .step = 0.7f, .width = 1u << 30 | 1};
    const struct vector_terms none = {.bond_unit = 1, .field_unit = 1};
    const struct vector_slab around = vector_twin_around(s, slab, sweeps);
    const size_t row = (size_t)s->components * s->l[0], words = row * s->l[1] * s->l[2];
    uint32_t *whole = malloc(4 * words);
    const struct vector_part part = {around, malloc(4 * vector_words(s, around))};
    for (uint64_t i = 0; i < s->sites; i++)
        vector_twin_start(s, &m, true, i, whole + s->components * i);
    for (size_t i = 0; i < (size_t)around.rows * around.count; i++)
        memcpy(part.sites + row * i, row_of(s, whole, around, i), 4 * row);
    vector_twin_slab(s, &m, &none, 9, sweeps, slab, &part);
    for (uint64_t i = 0; i < sweeps; i++)
        vector_twin_sweep(s, &m, &none, 9 + i, whole);
    const size_t side = s->l[s->d - 1], planes = (slab.first + side - around.first) % side;
    const size_t above = s->d == 3 ? (slab.row + s->l[1] - around.row) % s->l[1] : 0;
    for (size_t i = 0; i < (size_t)slab.rows * slab.count; i++) {
        const size_t at = (planes + i / slab.rows) * around.rows + above + i % slab.rows;
        assert_memory_equal(part.sites + row * at, row_of(s, whole, slab, i), 4 * row);
    }
    free(whole);
    free(part.sites);
}

static void rows_across_both_boundaries(void **unused) {
    const struct vector_shape s = shape_of(3, true, 1);
    (void)unused;
    follow(&s, (struct vector_slab){19, 2, 22, 4}, 1);
    follow(&s, (struct vector_slab){19, 2, 23, 2}, 2);
    follow(&s, (struct vector_slab){3, 2, 10, 3}, 1);
}

static void whole_planes(void **unused) {
    const struct vector_shape s = shape_of(3, true, 1), plane = shape_of(2, false, 2);
    (void)unused;
    follow(&s, vector_slab_of(&s, 19, 2), 1);
    follow(&plane, vector_slab_of(&plane, 23, 2), 1);
}

/* Few planes are followed whole; where many passes need many planes, fewer rows of them. */
static void windows(void **unused) {
    struct vector_shape s = shape_of(3, true, 0);
    (void)unused;
    s.l[0] = s.l[1] = s.l[2] = 512;
    s.sites = (uint64_t)512 * 512 * 512;
    assert_int_equal(vector_twin_window(&s, vector_slab_of(&s, 511, 2), 2).rows, 512);
    s.relax = 9;
    const struct vector_slab slab = vector_twin_window(&s, vector_slab_of(&s, 511, 2), 2);
    assert_int_equal(slab.first, 511);
    assert_int_equal(slab.count, 2);
    assert_int_equal(slab.rows, 16);
    assert_int_equal(slab.row, 504);
    s.l[1] = 90; /* the margins are as long */
    assert_int_equal(vector_twin_window(&s, vector_slab_of(&s, 511, 2), 2).rows, 90);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_across_both_boundaries),
        cmocka_unit_test(whole_planes),
        cmocka_unit_test(windows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
