/*
 * A lattice cut into rectangles, without devices and MPI: clusters joined by ranks that are
 * simulated here, against a union-find over the whole lattice: names, sizes, wrapping.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "oracle/joined.h"
#include "oracle/potts_serial.h"
#include "samplers/swendsen_wang/cut.h"
#include "unit/layout_owner.h"

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

/* ---- ranks ----------------------------------------------------------------------------------- */

/* What is known of the whole: parts of all rectangles by the smallest site in each. */
struct whole {
    const struct ergo_layout *layout;
    uint32_t *local, *part; /* [sites]: root in its rectangle; at roots */
    struct sw_sum *sums;
};

/* Waves of all signs, for most sites; some clusters' are 0. */
static void add_site(struct sw_sum *sum, uint32_t i) {
    sum->sites++;
    sum->waves[0] += (uint64_t)((int64_t)(i * 37 % 101) - 50);
    sum->waves[1] -= (i % 7) << 12;
}

static int owner(const struct whole *w, uint32_t site) {
    return layout_owner(w->layout, site);
}

/* tile: bonds within squares of that side alone. */
static void find_local(struct whole *w, uint32_t tile) {
    for (uint32_t i = 0; i < L * L; i++)
        w->local[i] = i;
    for (uint32_t i = 0; i < L * L; i++) {
        const uint32_t x = i % L, y = i / L;
        if (right[i] && x + 1 < L && owner(w, i) == owner(w, i + 1) && x / tile == (x + 1) / tile)
            join(w->local, i, i + 1);
        if (down[i] && y + 1 < L && owner(w, i) == owner(w, i + L) && y / tile == (y + 1) / tile)
            join(w->local, i, i + L);
    }
    for (uint32_t i = 0; i < L * L; i++)
        add_site(&w->sums[find(w->local, i)], i);
}

/* Parts that have bonds to others; edges have SW_NO_PART elsewhere. */
struct parts {
    uint64_t *names;
    uint32_t *sizes;
    uint64_t (*waves)[2];
    struct sw_list *lists; /* of sides */
};

static uint32_t part_of(struct whole *w, struct joined_rank *rank, struct parts *p, uint32_t site) {
    const uint32_t root = find(w->local, site);
    if (w->part[root] == UINT32_MAX) {
        w->part[root] = (uint32_t)rank->parts.n_parts;
        p->names[rank->parts.n_parts] = root;
        memcpy(p->waves[rank->parts.n_parts], w->sums[root].waves, sizeof *p->waves);
        p->sizes[rank->parts.n_parts++] = (uint32_t)w->sums[root].sites;
    }
    return w->part[root];
}

/* The bridges of a link from `r`, below or to the right; both ranks get a side. */
static void add_link(struct whole *w, struct joined *all, struct parts *parts,
                     struct sw_bridges *bridges, int r, const struct ergo_link *link, bool below) {
    const struct ergo_rectangle *p = &w->layout->rectangles[r];
    const size_t count = below ? 32 * (size_t)(p->words - 1) + p->tail : link->count;
    uint32_t *near = malloc(4 * count), *far = malloc(4 * count);
    for (size_t k = 0; k < count; k++) {
        const uint64_t x = 32 * p->word0 + (below ? k : 32 * (p->words - 1) + p->tail - 1);
        const uint64_t y = p->row0 + (below ? p->rows - 1 : link->first + k);
        const uint32_t i = (uint32_t)(y * L + x);
        const uint32_t o = (uint32_t)(below ? (y + 1) % L * L + x : y * L + (x + 1) % L);
        near[k] = far[k] = SW_NO_PART;
        if (!(below ? down[i] : right[i]))
            continue;
        near[k] = part_of(w, &all->rank[r], &parts[r], i);
        far[k] = part_of(w, &all->rank[link->rank], &parts[link->rank], o);
    }
    struct joined_rank *a = &all->rank[r], *b = &all->rank[link->rank];
    const size_t at = a->parts.n_sides++, to = b->parts.n_sides++;
    a->parts.sides[at].odd = !link->around ? 0 : below ? SW_AROUND_Y : SW_AROUND_X;
    b->parts.sides[to].odd = a->parts.sides[at].odd;
    a->far_rank[at] = link->rank;
    a->far_side[at] = (int)to;
    b->far_rank[to] = r;
    b->far_side[to] = (int)at;
    assert_true(sw_bridges_find(bridges, near, far, count, L * L, L * L, &parts[r].lists[at],
                                &parts[link->rank].lists[to]));
    free(near);
    free(far);
}

enum { MOST_SIDES = 64 };

static struct parts *make_ranks(struct whole *w, struct joined *all) {
    const int ranks = w->layout->ranks;
    struct sw_bridges bridges = {0};
    struct ergo_link links[MOST_SIDES];
    struct parts *parts = calloc((size_t)ranks, sizeof *parts);
    all->ranks = ranks;
    all->rank = calloc((size_t)ranks, sizeof *all->rank);
    memset(w->part, 0xff, L * L * sizeof *w->part);
    for (int r = 0; r < ranks; r++) {
        const size_t most = 4 * 32 * (ergo_rectangle_words(&w->layout->rectangles[r]) + 1);
        parts[r].names = malloc(8 * most);
        parts[r].sizes = malloc(4 * most);
        parts[r].waves = malloc(16 * most);
        parts[r].lists = calloc(MOST_SIDES, sizeof *parts[r].lists);
        all->rank[r].parts.sides = calloc(MOST_SIDES, sizeof(struct sw_side));
        all->rank[r].far_rank = calloc(MOST_SIDES, sizeof(int));
        all->rank[r].far_side = calloc(MOST_SIDES, sizeof(int));
    }
    for (int r = 0; r < ranks; r++) {
        const struct ergo_link below = ergo_layout_below(w->layout, r);
        size_t n = 0;
        add_link(w, all, parts, &bridges, r, &below, true);
        ergo_layout_beside(w->layout, r, true, links, &n);
        for (size_t k = 0; k < n; k++)
            add_link(w, all, parts, &bridges, r, &links[k], false);
    }
    for (int r = 0; r < ranks; r++) {
        struct joined_rank *rank = &all->rank[r];
        rank->parts.narrow = ranks % 2 == 0;
        rank->parts.names = parts[r].names;
        rank->parts.sizes = parts[r].sizes;
        rank->parts.n_waves = 2;
        rank->parts.waves = &parts[r].waves[0][0];
        for (size_t s = 0; s < rank->parts.n_sides; s++) {
            rank->parts.sides[s].items = parts[r].lists[s].items;
            rank->parts.sides[s].n_items = parts[r].lists[s].n;
        }
    }
    sw_bridges_free(&bridges);
    return parts;
}

static void free_ranks(struct joined *all, struct parts *parts) {
    for (int r = 0; r < all->ranks; r++) {
        for (size_t s = 0; s < MOST_SIDES; s++)
            free(parts[r].lists[s].items);
        free(parts[r].lists);
        free(parts[r].names);
        free(parts[r].sizes);
        free(parts[r].waves);
        free(all->rank[r].parts.sides);
        free(all->rank[r].far_rank);
        free(all->rank[r].far_side);
        sw_joining_free(&all->rank[r].joining);
    }
    free(parts);
    free(all->rank);
}

static void take(void *user, const struct sw_sum *sum) {
    sw_cut_count(user, sum);
}

static struct whole open_whole(const struct ergo_layout *l, uint32_t tile) {
    struct whole w = {.layout = l,
                      .local = malloc(L * L * sizeof *w.local),
                      .sums = calloc(L * L, sizeof *w.sums),
                      .part = malloc(L * L * sizeof *w.part)};
    find_local(&w, tile);
    return w;
}

static void close_whole(struct whole *w) {
    free(w->local);
    free(w->sums);
    free(w->part);
}

/* Names of all sites and counts of clusters, by ranks that join in `rounds`. */
static void simulate(const struct ergo_layout *l, uint32_t rounds, uint64_t *names,
                     struct sw_cut_counts *counts) {
    struct whole w = open_whole(l, L);
    struct joined all = {0};
    struct parts *parts = make_ranks(&w, &all);
    assert_true(joined_run(&all, rounds, take, counts));
    for (int r = 0; r < all.ranks; r++)
        counts->wraps |= all.rank[r].joining.wraps;
    for (uint32_t i = 0; i < L * L; i++) {
        const uint32_t root = find(w.local, i);
        const bool inside = w.part[root] == UINT32_MAX;
        names[i] = inside ? root : sw_joining_name(&all.rank[owner(&w, i)].joining, w.part[root]);
        if (inside && root == i) /* its rank's to count */
            sw_cut_count(counts, &w.sums[i]);
    }
    free_ranks(&all, parts);
    close_whole(&w);
}

/* Whether a cluster of the whole leads around it, by the oracle's walk. */
static bool wraps(void) {
    static uint8_t bonds[L * L];
    static int64_t sizes[L * L]; /* not asked for */
    const struct ergo_oracle_potts whole = {.Lx = L, .Ly = L, .bonds = bonds, .sizes = sizes};
    for (uint32_t i = 0; i < L * L; i++)
        bonds[i] = (uint8_t)((right[i] ? 1 : 0) | (down[i] ? 2 : 0));
    const struct ergo_oracle_potts_clusters c = ergo_oracle_potts_clusters(&whole);
    return c.wraps_x || c.wraps_y;
}

static void test_merging(void **unused) {
    (void)unused;
    static const double densities[] = {0.2, 0.45, 0.5, 0.55, 0.9};
    static const double weights[64] = {1, 2, 1, 5, 1, 1, 3, 1, 1, 1, 1, 1, 1, 1, 1, 1,
                                       1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
                                       1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
                                       1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    static const int many[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 16, 33, 64};
    uint32_t *labels = malloc(L * L * sizeof *labels);
    uint64_t *names = malloc(L * L * sizeof *names);
    unsigned around = 0, cases = 0;
    for (size_t m = 0; m < sizeof many / sizeof many[0]; m++)
        for (size_t d = 0; d < sizeof densities / sizeof densities[0]; d++, cases++) {
            struct ergo_layout l;
            struct sw_cut_counts counts = {0}, expected = {0};
            assert_true(ergo_layout_make(&l, L, L, many[m], weights));
            for (uint32_t i = 0; i < L * L; i++) {
                right[i] = uniform() < densities[d];
                down[i] = uniform() < densities[d];
                labels[i] = i;
            }
            simulate(&l, 1 + cases % 4, names, &counts);
            const bool wrapping = wraps();
            struct sw_sum sums[L * L] = {{0}};
            for (uint32_t i = 0; i < L * L; i++) {
                if (right[i])
                    join(labels, i, i - i % L + (i + 1) % L);
                if (down[i])
                    join(labels, i, (i / L + 1) % L * L + i % L);
            }
            for (uint32_t i = 0; i < L * L; i++) {
                assert_int_equal(names[i], find(labels, i));
                add_site(&sums[find(labels, i)], i);
            }
            for (uint32_t i = 0; i < L * L; i++)
                if (sums[i].sites)
                    sw_cut_count(&expected, &sums[i]);
            assert_int_equal(counts.wraps != 0, wrapping);
            counts.wraps = 0;
            assert_memory_equal(&counts, &expected, sizeof counts);
            around += wrapping;
            ergo_layout_free(&l);
        }
    assert_true(around > 0 && around < cases); /* both were there */
    free(labels);
    free(names);
}

/* Whatever message of a joining is lost, the ranks notice: what came before is not taken for it. */
static void test_lost_messages(void **unused) {
    (void)unused;
    static const double weights[6] = {1, 1, 1, 1, 1, 1};
    const uint32_t rounds = 3;
    struct ergo_layout l;
    assert_true(ergo_layout_make(&l, L, L, 6, weights));
    for (uint32_t i = 0; i < L * L; i++) {
        right[i] = uniform() < 0.5;
        down[i] = uniform() < 0.5;
    }
    struct whole w = open_whole(&l, L);
    struct joined all = {0};
    struct parts *parts = make_ranks(&w, &all);
    struct sw_cut_counts counts = {0};
    assert_true(joined_run(&all, rounds, take, &counts));
    for (all.lost_round = 1; all.lost_round <= 2 * rounds; all.lost_round++)
        for (all.lost_rank = 0; all.lost_rank < 6; all.lost_rank++)
            for (all.lost_side = 0; all.lost_side < (int)all.rank[all.lost_rank].parts.n_sides;
                 all.lost_side++)
                assert_false(joined_run(&all, rounds, take, &counts));
    /* of six ranks: three partners, then one */
    for (all.lost_rank = 0; all.lost_rank < 6; all.lost_rank++)
        for (int message = 0; message < 4; message++) {
            all.lost_round = 2 * rounds + 1 + (message == 3 ? 1u : 0u);
            all.lost_side = 1 + message % 3;
            assert_false(joined_run(&all, rounds, take, &counts));
        }
    free_ranks(&all, parts);
    close_whole(&w);
    ergo_layout_free(&l);
}

/* Parts of tiles are joined over ranks before it is known what tiles connect. */
static void test_edges_first(void **unused) {
    (void)unused;
    static const double densities[] = {0.3, 0.5, 0.55, 0.9},
                        weights[16] = {1, 2, 1, 5, 1, 1, 3, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    static const int many[] = {1, 2, 4, 7, 16};
    for (unsigned k = 0; k < 40; k++) {
        struct ergo_layout l;
        struct joined all = {.early = 1 + k % 2};
        assert_true(ergo_layout_make(&l, L, L, many[k % 5], weights));
        for (uint32_t i = 0; i < L * L; i++) {
            right[i] = uniform() < densities[k % 4];
            down[i] = uniform() < densities[k % 4];
        }
        struct whole whole = open_whole(&l, L), tiles = open_whole(&l, 4);
        struct parts *parts = make_ranks(&tiles, &all);
        uint32_t *groups = malloc(4 * L * L * sizeof *groups), *at = groups, labels[L * L];
        uint64_t *names = malloc(4 * L * L * sizeof *names), *name_at = names, found[L * L];
        for (int r = 0; r < all.ranks; r++) {
            struct joined_rank *rank = &all.rank[r];
            rank->parts.sizes = NULL;
            rank->groups = at;
            rank->group_names = name_at;
            rank->n_groups = L * L;
            rank->noted = calloc(rank->parts.n_parts + 1, sizeof *rank->noted);
            for (size_t p = 0; p < rank->parts.n_parts; p++)
                *name_at++ = *at++ = find(whole.local, (uint32_t)rank->parts.names[p]);
        }
        assert_true(joined_run(&all, 1 + k / 2 % 3, NULL, NULL));
        for (uint32_t i = 0; i < L * L; i++) {
            labels[i] = i;
            found[i] = find(whole.local, i);
        }
        for (uint32_t i = 0; i < L * L; i++) {
            if (right[i])
                join(labels, i, i - i % L + (i + 1) % L);
            if (down[i])
                join(labels, i, (i / L + 1) % L * L + i % L);
        }
        for (int r = 0; r < all.ranks; r++)
            for (size_t p = 0; p < all.rank[r].parts.n_parts; p++) {
                const uint64_t name = sw_joining_name(&all.rank[r].joining, p);
                found[all.rank[r].groups[p]] = name;
                assert_true(name == all.rank[r].noted[p] ||
                            sw_joining_touched(&all.rank[r].joining, p));
            }
        for (int r = 0; r < all.ranks; r++)
            free(all.rank[r].noted);
        for (uint32_t i = 0; i < L * L; i++)
            assert_int_equal(found[find(whole.local, i)], find(labels, i));
        free(groups);
        free(names);
        free_ranks(&all, parts);
        close_whole(&whole);
        close_whole(&tiles);
        ergo_layout_free(&l);
    }
}

/* Squares of sizes beyond 32 bits: limbs carry nothing away. */
static void test_counts(void **unused) {
    (void)unused;
    struct sw_cut_counts c = {0};
    const uint64_t n = (UINT64_C(1) << 41) + 12345678901;
    const struct sw_sum sum = {n, {n << 11, 0 - (n << 10)}};
    sw_cut_count(&c, &sum);
    sw_cut_count(&c, &sum);
    sw_cut_count_carry(&c);
    long double sum2 = 0, sum4 = 0;
    for (int k = SW_CUT_SQUARES - 1; k >= 0; k--)
        sum2 = sum2 * 65536 + (long double)c.squares[k];
    for (int k = SW_CUT_FOURTHS - 1; k >= 0; k--)
        sum4 = sum4 * 65536 + (long double)c.fourths[k];
    const long double square = (long double)n * (long double)n;
    const long double waves = sw_limbs_value(c.correlations.waves, SW_WAVES_LIMBS, NULL);
    assert_true(fabsl(sum2 / (2 * square) - 1) < 1e-15L);
    assert_true(fabsl(waves / (2 * square * (0x1p22L + 0x1p20L)) - 1) < 1e-15L);
    assert_true(fabsl(sum4 / (2 * square * square) - 1) < 1e-15L);
    assert_int_equal(c.bins[41], 2);
    assert_int_equal(c.largest, n);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_merging),
        cmocka_unit_test(test_lost_messages),
        cmocka_unit_test(test_edges_first),
        cmocka_unit_test(test_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
