/*
 * A lattice cut into rectangles, without devices and MPI: clusters joined in a tree of ranks that
 * are simulated here, against a union-find over the whole lattice: names, sizes, wrapping.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "samplers/swendsen_wang/cut.h"

enum { L = 96 };
static uint8_t right[L * L], down[L * L];

static uint64_t state = 1;
static double uniform(void) {
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(state >> 11) * 0x1p-53;
}

static uint32_t find(const uint32_t *labels, uint32_t i) {
    while (labels[i] != i)
        i = labels[i];
    return i;
}

static void join(uint32_t *labels, uint32_t a, uint32_t b) {
    a = find(labels, a);
    b = find(labels, b);
    labels[a > b ? a : b] = a > b ? b : a;
}

/* One end of a bond, into the block of its ranks and direction. */
struct end {
    struct sw_block block;
    struct sw_port port;
};

static void add_end(struct sw_group *g, struct end *ends, size_t n) {
    for (size_t k = 0; k < n; k++) { /* blocks in order of their first end */
        size_t b = 0;
        while (b < g->n_blocks && memcmp(&g->blocks[b], &ends[k].block, 16) != 0)
            b++;
        if (b == g->n_blocks)
            g->blocks[g->n_blocks++] = ends[k].block;
    }
    for (size_t b = 0; b < g->n_blocks; b++)
        for (size_t k = 0; k < n; k++)
            if (memcmp(&g->blocks[b], &ends[k].block, 16) == 0) {
                g->ports[g->n_ports++] = ends[k].port;
                g->blocks[b].count++;
            }
}

/* The parts of each rectangle and their ports, as ranks find them; then up and down the tree. */
static void simulate(const struct ergo_layout *l, uint64_t *names, struct sw_cut_counts *counts) {
    const int ranks = l->ranks;
    uint32_t *local = malloc(L * L * sizeof *local), *part = malloc(L * L * sizeof *part);
    struct sw_group *groups = calloc((size_t)ranks, sizeof *groups);
    struct sw_record *records = calloc((size_t)ranks * 8, sizeof *records);
    uint64_t **final = calloc((size_t)ranks, sizeof *final);
    struct end **ends = calloc((size_t)ranks, sizeof *ends);
    size_t *n_ends = calloc((size_t)ranks, sizeof *n_ends);
    struct sw_merge *merge = sw_merge_create();
    uint32_t sizes[L * L] = {0};
    for (uint32_t i = 0; i < L * L; i++)
        local[i] = i;
#define OWNER(i) ergo_layout_owner(l, i)
    for (uint32_t i = 0; i < L * L; i++) {
        const uint32_t x = i % L, y = i / L, e = i - x + (x + 1) % L, s = (y + 1) % L * L + x;
        if (right[i] && x + 1 < L && OWNER(i) == OWNER(e))
            join(local, i, e);
        if (down[i] && y + 1 < L && OWNER(i) == OWNER(s))
            join(local, i, s);
    }
    for (uint32_t i = 0; i < L * L; i++)
        sizes[find(local, i)]++;
    memset(part, 0xff, L * L * sizeof *part);
    for (int r = 0; r < ranks; r++) {
        ends[r] = calloc(4 * L * L, sizeof **ends);
        assert_true(sw_group_reserve(&groups[r], L * L, 64, 4 * L * L));
    }
    for (uint32_t i = 0; i < L * L; i++) {
        const uint32_t x = i % L, y = i / L;
        for (int d = 0; d < 2; d++) {
            const uint32_t o = d ? (y + 1) % L * L + x : y * L + (x + 1) % L;
            const bool around = d ? y + 1 == L : x + 1 == L;
            if (!(d ? down[i] : right[i]) || (OWNER(i) == OWNER(o) && !around))
                continue;
            const uint32_t both[2] = {find(local, i), find(local, o)};
            for (int side = 0; side < 2; side++) {
                const uint32_t own = both[side], far = both[1 - side];
                const int rank = OWNER(own), sign = side ? -1 : 1;
                struct sw_group *g = &groups[rank];
                if (part[own] == UINT32_MAX) {
                    part[own] = (uint32_t)g->n_clusters;
                    g->names[g->n_clusters] = own;
                    g->sizes[g->n_clusters++] = sizes[own];
                }
                ends[rank][n_ends[rank]++] = (struct end){
                    {rank, OWNER(far), d == 0 && around ? sign : 0, d == 1 && around ? sign : 0, 0},
                    {part[own], 0, 0}};
            }
        }
    }
    for (int r = 0; r < ranks; r++) {
        add_end(&groups[r], ends[r], n_ends[r]);
        free(ends[r]);
    }
    free(ends);
    free(n_ends);
    for (uint32_t i = 0; i < L * L; i++) /* what reaches no edge is its rank's to count */
        if (sizes[i] && part[i] == UINT32_MAX)
            sw_cut_count(counts, sizes[i]);
    for (int r = 0; r < ranks; r++)
        assert_true(sw_group_reduce(merge, &groups[r], r, r + 1, &records[8 * r], counts));
    int level = 1;
    for (int width = 1; width < ranks; width *= 2, level++)
        for (int r = 0; r + width < ranks; r += 2 * width) {
            records[8 * r + level].first = groups[r].n_clusters;
            assert_true(sw_group_append(&groups[r], &groups[r + width]));
            const size_t first = records[8 * r + level].first;
            assert_true(sw_group_reduce(merge, &groups[r], r, r + 2 * width,
                                        &records[8 * r + level], counts));
            records[8 * r + level].first = first;
        }
    assert_int_equal(groups[0].n_ports + groups[0].n_clusters, 0);
    for (int width = 1 << (level - 1); width >= 1; width /= 2, level--)
        for (int r = 0; r < ranks; r += width) {
            if (width > 1 && r + width / 2 >= ranks)
                continue;
            const struct sw_record *record = &records[8 * r + (width > 1 ? level - 1 : 0)];
            uint64_t *own = malloc((record->count + 1) * sizeof *own);
            for (size_t k = 0; k < record->count; k++)
                own[k] =
                    record->next[k] == SW_FINISHED ? record->names[k] : final[r][record->next[k]];
            free(final[r]);
            if (width == 1) {
                final[r] = own;
                continue;
            }
            const size_t rest = record->count - record->first;
            final[r + width / 2] = malloc((rest + 1) * sizeof *own);
            memcpy(final[r + width / 2], own + record->first, rest * sizeof *own);
            final[r] = own;
        }
    for (uint32_t i = 0; i < L * L; i++) {
        const uint32_t root = find(local, i);
        names[i] = part[root] == UINT32_MAX ? root : final[OWNER(i)][part[root]];
    }
    for (int r = 0; r < ranks; r++) {
        sw_group_free(&groups[r]);
        free(final[r]);
    }
    for (int k = 0; k < 8 * ranks; k++)
        sw_record_free(&records[k]);
    sw_merge_destroy(merge);
    free(local);
    free(part);
    free(groups);
    free(records);
    free(final);
}

/* Wrapping from the whole, by wraps.c. */
static bool wraps(const uint32_t *inside) {
    uint32_t pairs[4 * L];
    struct sw_wraps *w = sw_wraps_create(2 * L);
    bool x, y;
    for (uint32_t k = 0; k < L; k++) {
        const uint32_t a = k * L + L - 1, b = (L - 1) * L + k;
        pairs[2 * k] = right[a] ? find(inside, a) : SW_NO_BOND;
        pairs[2 * k + 1] = right[a] ? find(inside, k * L) : SW_NO_BOND;
        pairs[2 * (L + k)] = down[b] ? find(inside, b) : SW_NO_BOND;
        pairs[2 * (L + k) + 1] = down[b] ? find(inside, k) : SW_NO_BOND;
    }
    sw_wraps_find(w, pairs, L, 2 * L, &x, &y);
    sw_wraps_destroy(w);
    return x || y;
}

static void test_merging(void **unused) {
    (void)unused;
    static const double densities[] = {0.2, 0.45, 0.5, 0.55, 0.9};
    static const double weights[9] = {1, 2, 1, 5, 1, 1, 3, 1, 1};
    uint32_t *labels = malloc(L * L * sizeof *labels);
    uint64_t *names = malloc(L * L * sizeof *names);
    unsigned around = 0, cases = 0;
    for (int ranks = 1; ranks <= 9; ranks++)
        for (size_t d = 0; d < sizeof densities / sizeof densities[0]; d++, cases++) {
            struct ergo_layout l;
            struct sw_cut_counts counts = {0}, expected = {0};
            assert_true(ergo_layout_make(&l, L, L, ranks, weights));
            for (uint32_t i = 0; i < L * L; i++) {
                right[i] = uniform() < densities[d];
                down[i] = uniform() < densities[d];
                labels[i] = i;
            }
            simulate(&l, names, &counts);
            for (uint32_t i = 0; i < L * L; i++) {
                if (right[i] && i % L + 1 < L)
                    join(labels, i, i + 1);
                if (down[i] && i / L + 1 < L)
                    join(labels, i, i + L);
            }
            const bool wrapping = wraps(labels);
            uint64_t sizes[L * L] = {0};
            for (uint32_t i = 0; i < L * L; i++) {
                if (right[i])
                    join(labels, i, i - i % L + (i + 1) % L);
                if (down[i])
                    join(labels, i, (i / L + 1) % L * L + i % L);
            }
            for (uint32_t i = 0; i < L * L; i++) {
                assert_int_equal(names[i], find(labels, i));
                sizes[find(labels, i)]++;
            }
            for (uint32_t i = 0; i < L * L; i++)
                if (sizes[i])
                    sw_cut_count(&expected, sizes[i]);
            assert_int_equal(counts.wraps, wrapping);
            counts.wraps = 0;
            assert_memory_equal(&counts, &expected, sizeof counts);
            around += wrapping;
            ergo_layout_free(&l);
        }
    assert_true(around > 0 && around < cases); /* both were there */
    free(labels);
    free(names);
}

/* Squares of sizes beyond 32 bits: limbs carry nothing away. */
static void test_counts(void **unused) {
    (void)unused;
    struct sw_cut_counts c = {0};
    const uint64_t n = (UINT64_C(1) << 41) + 12345678901;
    sw_cut_count(&c, n);
    sw_cut_count(&c, n);
    sw_cut_count_carry(&c);
    long double sum = 0, sum4 = 0;
    for (int k = SW_CUT_SQUARES - 1; k >= 0; k--)
        sum = sum * 65536 + (long double)c.squares[k];
    for (int k = SW_CUT_FOURTHS - 1; k >= 0; k--)
        sum4 = sum4 * 65536 + (long double)c.fourths[k];
    const long double square = (long double)n * (long double)n;
    assert_true(fabsl(sum / (2 * square) - 1) < 1e-15L);
    assert_true(fabsl(sum4 / (2 * square * square) - 1) < 1e-15L);
    assert_int_equal(c.bins[41], 2);
    assert_int_equal(c.largest, n);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_merging),
        cmocka_unit_test(test_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
