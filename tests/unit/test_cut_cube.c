/*
 * A cube cut into slabs of layers, without devices and MPI: clusters joined by ranks that are
 * simulated here, against a union-find over the whole cube: names, sizes, and the sides that closed
 * paths cross an odd number of times. Within a slab paths lead around along x and y.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "oracle/joined.h"
#include "samplers/swendsen_wang/sites/sites.h"

enum { LX = 5, LY = 4, LZ = 13, LAYER = LX * LY, N = LAYER * LZ, MOST_RANKS = 6 };
static uint8_t bonds[N];

static uint64_t state = 1;
static double uniform(void) {
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(state >> 11) * 0x1p-53;
}

/* Parents, and the sides that the way to them crosses; of all closed ways. */
struct forest {
    uint32_t up[N], odd[N], wraps;
};

static uint32_t root_of(const struct forest *f, uint32_t i, uint32_t *odd) {
    for (; f->up[i] != i; i = f->up[i])
        *odd ^= f->odd[i];
    return i;
}

static uint32_t name_of(const struct forest *f, uint32_t i) {
    uint32_t odd = 0;
    return root_of(f, i, &odd);
}

static void join(struct forest *f, uint32_t i, uint32_t j, uint32_t odd) {
    const uint32_t a = root_of(f, i, &odd), b = root_of(f, j, &odd), high = a > b ? a : b;
    f->wraps |= a == b ? odd : 0;
    f->up[high] = a > b ? b : a;
    f->odd[high] = a == b ? 0 : odd;
}

static uint32_t next_of(uint32_t i, unsigned direction, uint32_t *odd) {
    static const uint32_t sides[] = {LX, LY, LZ}, steps[] = {1, LX, LAYER};
    const bool around = i / steps[direction] % sides[direction] + 1 == sides[direction];
    *odd = around ? 1u << direction : 0;
    return around ? i - (sides[direction] - 1) * steps[direction] : i + steps[direction];
}

/* Does a bond of direction 2 lead to another slab? */
static bool leads_out(uint32_t i, int ranks) {
    const uint32_t z = i / LAYER;
    return z + 1 == LZ || (z + 1) * (uint32_t)ranks / LZ != z * (uint32_t)ranks / LZ;
}

/* ranks 0: all bonds. */
static void label(struct forest *f, int ranks) {
    f->wraps = 0;
    for (uint32_t i = 0; i < N; i++) {
        f->up[i] = i;
        f->odd[i] = 0;
    }
    for (uint32_t i = 0; i < N; i++)
        for (unsigned d = 0; d < 3; d++) {
            uint32_t odd;
            const uint32_t next = next_of(i, d, &odd);
            if (bonds[i] >> d & 1u && !(d == 2 && ranks && leads_out(i, ranks)))
                join(f, i, next, odd);
        }
}

struct cube {
    int ranks;
    struct forest slabs;
    uint32_t part[N], sizes[N]; /* at roots of slabs */
    uint64_t names[MOST_RANKS][N];
    uint32_t part_sizes[MOST_RANKS][N];
    struct sw_list lists[MOST_RANKS][2];
    struct sw_side sides[MOST_RANKS][2];
    int far[MOST_RANKS][2], far_side[MOST_RANKS][2];
    struct joined_rank rank[MOST_RANKS];
    struct joined all;
};

static int rank_of(const struct cube *c, uint32_t i) {
    return (int)(i / LAYER * (uint32_t)c->ranks / LZ);
}

static uint32_t end_of(struct cube *c, uint32_t i) {
    uint32_t odd = 0;
    const uint32_t root = root_of(&c->slabs, i, &odd);
    struct sw_parts *p = &c->rank[rank_of(c, i)].parts;
    if (c->part[root] == SW_NO_PART) {
        c->names[rank_of(c, i)][p->n_parts] = root;
        c->part_sizes[rank_of(c, i)][p->n_parts] = c->sizes[root];
        c->part[root] = (uint32_t)p->n_parts++;
    }
    return c->part[root] | odd << SW_PART_BITS;
}

/* The bonds behind a rank's last layer. Returns the ways around that bridges close. */
static uint32_t add_side(struct cube *c, struct sw_bridges *bridges, int rank) {
    uint32_t near[LAYER], far[LAYER], odd = 0;
    const int next = (rank + 1) % c->ranks;
    uint32_t last = N - 1;
    while (rank_of(c, last) != rank)
        last -= LAYER;
    for (uint32_t k = 0; k < LAYER; k++) {
        const uint32_t i = last + 1 - LAYER + k, over = next_of(i, 2, &odd);
        near[k] = bonds[i] >> 2 & 1u ? end_of(c, i) : SW_NO_PART;
        far[k] = bonds[i] >> 2 & 1u ? end_of(c, over) : SW_NO_PART;
    }
    assert_true(
        sw_bridges_find(bridges, near, far, LAYER, N, N, &c->lists[rank][0], &c->lists[next][1]));
    c->sides[rank][0].odd = c->sides[next][1].odd = odd;
    c->far[rank][0] = next;
    c->far[next][1] = rank;
    c->far_side[rank][0] = 1;
    return bridges->wraps;
}

/* Ways around that are found before ranks join. */
static uint32_t cut(struct cube *c, int ranks) {
    struct sw_bridges bridges = {0};
    *c = (struct cube){.ranks = ranks, .all = {.ranks = ranks, .rank = c->rank}};
    memset(c->part, 0xff, sizeof c->part);
    label(&c->slabs, ranks);
    for (uint32_t i = 0; i < N; i++)
        c->sizes[name_of(&c->slabs, i)]++;
    uint32_t wraps = c->slabs.wraps;
    for (int r = 0; r < ranks; r++)
        wraps |= add_side(c, &bridges, r);
    for (int r = 0; r < ranks; r++) {
        struct sw_parts *p = &c->rank[r].parts;
        for (size_t s = 0; s < 2; s++) {
            c->sides[r][s].items = c->lists[r][s].items;
            c->sides[r][s].n_items = c->lists[r][s].n;
        }
        *p = (struct sw_parts){.narrow = true,
                               .n_parts = p->n_parts,
                               .names = c->names[r],
                               .sizes = c->part_sizes[r],
                               .n_sides = 2,
                               .sides = c->sides[r]};
        c->rank[r].far_rank = c->far[r];
        c->rank[r].far_side = c->far_side[r];
    }
    sw_bridges_free(&bridges);
    return wraps;
}

static void take(void *user, const struct sw_sum *sum) {
    sw_cut_count(user, sum);
}

static void compare(struct cube *c, const struct forest *whole, uint32_t rounds, uint32_t wraps) {
    struct sw_cut_counts counts = {0}, expected = {0};
    uint32_t sizes[N] = {0};
    assert_true(joined_run(&c->all, rounds, take, &counts));
    for (int r = 0; r < c->ranks; r++)
        wraps |= c->rank[r].joining.wraps;
    assert_int_equal(wraps, whole->wraps);
    for (uint32_t i = 0; i < N; i++) {
        const uint32_t root = name_of(&c->slabs, i), part = c->part[root], name = name_of(whole, i);
        assert_int_equal(
            part == SW_NO_PART ? root : sw_joining_name(&c->rank[rank_of(c, i)].joining, part),
            name);
        if (part == SW_NO_PART && root == i)
            sw_cut_count(&counts, &(struct sw_sum){.sites = c->sizes[i]});
        sizes[name]++;
    }
    for (uint32_t i = 0; i < N; i++)
        if (sizes[i])
            sw_cut_count(&expected, &(struct sw_sum){.sites = sizes[i]});
    assert_memory_equal(&counts, &expected, sizeof counts);
}

/* Ways around alone are found as they are with sizes. */
static void compare_ways(struct cube *c, const struct forest *whole, uint32_t wraps) {
    for (int r = 0; r < c->ranks; r++) {
        c->rank[r].parts.sizes = NULL;
        c->rank[r].parts.ways = true;
    }
    assert_true(joined_run(&c->all, 2, NULL, NULL));
    for (int r = 0; r < c->ranks; r++)
        wraps |= c->rank[r].joining.wraps;
    assert_int_equal(wraps, whole->wraps);
}

/* Pairs along z: each layer is compared with the right one. */
static void see_runs(const uint64_t *firsts, int ranks, int own, uint64_t apart) {
    const uint32_t count = (uint32_t)(firsts[own + 1] - firsts[own]);
    for (uint32_t z = 0, n; z < count; z += n) {
        const struct sw_slab_run r = sw_slab_run_of(firsts, ranks, own, z, apart, count - z);
        n = r.layers;
        assert_true(r.layer == z && n > 0 && z + n <= count);
        assert_true(firsts[r.rank] + r.partner + n <= firsts[r.rank + 1]);
        assert_int_equal(firsts[r.rank] + r.partner, (firsts[own] + z + apart) % LZ);
    }
}

/* And sent once, in the piece of the rank that asks. */
static void see_asked(const uint64_t *firsts, int ranks, int own, uint64_t apart, uint32_t piece) {
    const uint32_t count = (uint32_t)(firsts[own + 1] - firsts[own]);
    uint32_t sent[LZ] = {0};
    for (uint32_t begin = 0; begin < LZ; begin += piece)
        for (uint32_t z = 0, n; z < count; z += n) {
            const struct sw_slab_run r =
                sw_slab_run_of(firsts, ranks, own, z, LZ - apart, count - z);
            const struct sw_slab_run s = sw_slab_asked(r, begin, piece);
            n = r.layers;
            for (uint32_t k = 0; k < s.layers; k++, sent[s.layer + k - 1]++) {
                assert_true(s.partner >= begin && s.partner + k < begin + piece);
                assert_int_equal((firsts[s.rank] + s.partner + k + apart) % LZ,
                                 firsts[own] + s.layer + k);
            }
        }
    for (uint32_t z = 0; z < count; z++)
        assert_int_equal(sent[z], 1);
}

static void test_runs(void **unused) {
    (void)unused;
    uint64_t firsts[MOST_RANKS + 1];
    for (int ranks = 1; ranks <= MOST_RANKS; ranks++)
        for (uint64_t apart = 0; apart < LZ; apart++) {
            for (int r = 0; r <= ranks; r++)
                firsts[r] = (uint64_t)(LZ * r / ranks);
            for (int own = 0; own < ranks; own++) {
                see_runs(firsts, ranks, own, apart);
                for (uint32_t piece = 1; piece <= 5; piece++)
                    see_asked(firsts, ranks, own, apart, piece);
            }
        }
}

static void test_cube(void **unused) {
    (void)unused;
    static const double densities[] = {0.15, 0.25, 0.3, 0.4};
    static struct cube c;
    static struct forest whole;
    unsigned seen = 0, others = 0, both = 0;
    for (unsigned k = 0; k < 400; k++) {
        const int ranks = 1 + (int)(k % MOST_RANKS);
        for (uint32_t i = 0; i < N; i++)
            for (unsigned d = bonds[i] = 0; d < 3; d++)
                bonds[i] |= (uint8_t)((uniform() < densities[k / MOST_RANKS % 4]) << d);
        label(&whole, 0);
        const uint32_t wraps = cut(&c, ranks);
        compare(&c, &whole, 1 + k % 4, wraps);
        compare_ways(&c, &whole, wraps);
        seen |= whole.wraps;
        others |= ~whole.wraps & 7u;
        both += whole.wraps != 0 && whole.wraps != 7u;
        for (int r = 0; r < ranks; r++) {
            sw_joining_free(&c.rank[r].joining);
            free(c.lists[r][0].items);
            free(c.lists[r][1].items);
        }
    }
    assert_true(seen == 7 && others == 7 && both > 50); /* all directions, and in many cubes some */
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_cube), cmocka_unit_test(test_runs)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
