/*
 * Joining clusters over thousands of ranks, in one process: the program's own rounds
 * (samplers/swendsen_wang/joining.h) on the edges of a critical Ising lattice.
 *
 *     joining --ranks 4096 --side 1024 [--sweeps N] [--seed 1] [--least 1] [--most 5]
 *         [--sized | --whole]
 *     joining --ranks 256 --side 256 --layers 4 [...]
 *
 * Each rank has a square of that side; with --layers of three dimensions, as many layers of that
 * side, one rank behind the other. In squares edges come first, in tiles of 128 x 32 sites, with
 * two rounds before it is known what inside connects; with --sized (as measured sweeps are) or
 * --whole, after. Counts messages and bytes for --least to --most rounds
 * (few rounds at many ranks need much memory), checks all labels (and sizes)
 * against a union-find of the whole lattice, and says what a model of the time predicts (model.c).
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "critical.h"
#include "model.h"
#include "oracle/joined.h"

static double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- ranks ----------------------------------------------------------------------------------- */

static const int across[SIDES] = {ABOVE, BELOW, LEFT, RIGHT};

/* Bridges by the rank above or on the left, who tells the other. */
static void make_sides(const struct critical *c, struct joined *all, struct counted *counted) {
    struct sw_bridges bridges = {0};
    double busy = 0, items = 0;
    for (size_t k = 0; k < (size_t)all->ranks; k++)
        for (int side = BELOW; side < c->sides; side += RIGHT - BELOW) {
            const size_t far = critical_beside(c, k, side);
            struct sw_list lists[2] = {{0}, {0}};
            const size_t rows = c->n_blocks / c->blocks;
            const bool around =
                side == BELOW ? k / c->blocks + 1 == rows : k % c->blocks + 1 == c->blocks;
            const uint32_t odd = !around ? 0 : side == RIGHT ? 1 : 2;
            const double started = seconds();
            const struct block *a = &c->block[k], *b = &c->block[far];
            const bool early = c->tile_width > 0;
            if (!sw_bridges_find(&bridges, early ? a->early_at[side] : a->at[side],
                                 early ? b->early_at[across[side]] : b->at[across[side]],
                                 c->of_side, early ? a->n_early : a->n_parts,
                                 early ? b->n_early : b->n_parts, &lists[0], &lists[1]))
                critical_get(SIZE_MAX / 2);
            busy += seconds() - started;
            items += (double)(lists[0].n + lists[1].n);
            all->rank[k].parts.sides[side] =
                (struct sw_side){.odd = odd, .n_items = lists[0].n, .items = lists[0].items};
            all->rank[far].parts.sides[across[side]] =
                (struct sw_side){.odd = odd, .n_items = lists[1].n, .items = lists[1].items};
        }
    sw_bridges_free(&bridges);
    counted->bridges_us = 1e6 * busy / all->ranks;
    counted->items = items / all->ranks;
}

static void make_ranks(const struct critical *c, bool sized, struct joined *all,
                       struct counted *counted) {
    all->ranks = (int)c->n_blocks;
    all->early = c->tile_width ? SW_ROUNDS_EARLY : 0;
    all->rank = critical_get((size_t)all->ranks * sizeof *all->rank);
    for (size_t k = 0; k < (size_t)all->ranks; k++) {
        struct joined_rank *rank = &all->rank[k];
        rank->parts = (struct sw_parts){.narrow = c->sites <= (sized ? 536870912.0 : 4294967296.0),
                                        .n_parts = c->block[k].n_parts,
                                        .names = c->block[k].names,
                                        .sizes = sized ? c->block[k].sizes : NULL,
                                        .n_sides = (size_t)c->sides};
        if (all->early) {
            const struct block *b = &c->block[k];
            rank->parts.n_parts = b->n_early;
            rank->parts.names = b->early_names;
            rank->groups = b->groups;
            rank->n_groups = b->n_parts;
            rank->group_names = b->group_names;
        }
        rank->parts.sides = critical_get(SIDES * sizeof(struct sw_side));
        rank->far_rank = critical_get(SIDES * sizeof(int));
        rank->far_side = critical_get(SIDES * sizeof(int));
        for (int side = 0; side < c->sides; side++) {
            rank->far_rank[side] = (int)critical_beside(c, k, side);
            rank->far_side[side] = across[side];
        }
        counted->parts += (double)rank->parts.n_parts / all->ranks;
    }
    make_sides(c, all, counted);
}

static void free_ranks(struct joined *all) {
    for (int k = 0; k < all->ranks; k++) {
        struct joined_rank *rank = &all->rank[k];
        for (size_t side = 0; side < rank->parts.n_sides; side++)
            free((void *)(uintptr_t)rank->parts.sides[side].items);
        free(rank->parts.sides);
        free(rank->far_rank);
        free(rank->far_side);
        sw_joining_free(&rank->joining);
    }
    free(all->rank);
}

/* ---- checks ---------------------------------------------------------------------------------- */

struct sizes {
    uint64_t clusters;
    double squares;
};

static void add(struct sizes *s, uint64_t size) {
    s->clusters++;
    s->squares += (double)size * (double)size;
}

static void take(void *user, const struct sw_sum *sum) {
    add(user, sum->sites);
}

/* Of the whole: clusters that go over edges. */
static struct sizes sizes_of(const struct critical *c) {
    const size_t n = c->n_blocks;
    uint64_t *all = critical_get(8 * (size_t)c->first[n]);
    struct sizes s = {0, 0};
    for (size_t k = 0; k < n; k++)
        for (size_t p = 0; p < c->block[k].n_parts; p++) {
            size_t root = (size_t)c->first[k] + p;
            while (c->parents[root] != root)
                root = c->parents[root];
            all[root] += c->block[k].sizes[p];
        }
    for (size_t p = 0; p < c->first[n]; p++)
        if (all[p])
            add(&s, all[p]);
    free(all);
    return s;
}

static uint64_t wrong_labels(const struct critical *c, const struct joined *all) {
    uint64_t wrong = 0;
    for (size_t k = 0; k < (size_t)all->ranks; k++)
        for (size_t p = 0; p < all->rank[k].parts.n_parts; p++) {
            const size_t part = all->early ? all->rank[k].groups[p] : p;
            wrong += sw_joining_name(&all->rank[k].joining, p) != c->whole[c->first[k] + part];
        }
    return wrong;
}

/* ---- counts ---------------------------------------------------------------------------------- */

static struct counted count(const struct critical *c, const struct joined *all,
                            const struct counted *before, uint32_t rounds) {
    struct counted n = *before;
    n.rounds = rounds;
    n.early = all->early;
    n.rest = (double)all->rest;
    n.late = (double)all->late;
    for (int k = 0; k < all->ranks; k++) {
        const struct joined_rank *r = &all->rank[k];
        n.messages = fmax(n.messages, (double)(r->messages + r->hands));
        n.bytes += (double)r->bytes / all->ranks;
        n.most_bytes = fmax(n.most_bytes, (double)r->bytes);
        n.handed = fmax(n.handed, (double)r->handed);
        n.host_us += 1e6 * r->seconds / all->ranks;
        n.early_us += 1e6 * r->early / all->ranks;
        n.early_bytes += (double)r->early_bytes / all->ranks;
        n.finish_us += 1e6 * r->finish / all->ranks;
    }
    n.steps = all->steps;
    n.side = c->of_block;
    n.edge = (double)c->sides * c->of_side;
    n.ranks = all->ranks;
    return n;
}

static void show(const struct counted *n, bool sized) {
    const double edge = n->edge, others = early_bytes(n) + late_bytes(n, sized);
    printf("| %u + %2u + %2u | %4.0f | %8.0f | %8.0f | %6.0f | %8.0f | %6.2f | %6.2f | %7.1f | "
           "%7.1f | "
           "%7.1f |\n",
           n->early, n->rounds, n->steps, n->messages + 4, n->bytes, n->most_bytes, n->rest,
           n->handed, (others + n->bytes + n->handed) / edge,
           (others + n->most_bytes + n->handed) / edge, n->early_us, n->host_us, n->finish_us);
    fflush(stdout);
}

/* ---- the command ----------------------------------------------------------------------------- */

struct options {
    uint32_t ranks, side, layers, least, most;
    unsigned sweeps;
    uint64_t seed;
    bool sized, whole; /* edges are not first */
};

static int refuse(const char *why) {
    fprintf(stderr,
            "joining: %s\n"
            "usage: joining --ranks P --side L [--layers D] [--sweeps N] [--seed N] [--least "
            "ROUNDS] [--most ROUNDS] [--sized | --whole]\n"
            "P: a power of 4, with --layers of 2; L, D: powers of 2\n",
            why);
    return 2;
}

static bool read_options(int argc, char **argv, struct options *o) {
    for (int k = 1; k < argc; k++) {
        const char *name = argv[k];
        if (strcmp(name, "--sized") == 0 || strcmp(name, "--whole") == 0) {
            o->sized |= name[2] == 's';
            o->whole = true;
            continue;
        }
        if (k + 1 == argc)
            return false;
        const unsigned long long value = strtoull(argv[++k], NULL, 10);
        if (strcmp(name, "--ranks") == 0)
            o->ranks = (uint32_t)value;
        else if (strcmp(name, "--side") == 0)
            o->side = (uint32_t)value;
        else if (strcmp(name, "--layers") == 0)
            o->layers = (uint32_t)value;
        else if (strcmp(name, "--least") == 0)
            o->least = (uint32_t)value;
        else if (strcmp(name, "--most") == 0)
            o->most = (uint32_t)value;
        else if (strcmp(name, "--sweeps") == 0)
            o->sweeps = (unsigned)value;
        else if (strcmp(name, "--seed") == 0)
            o->seed = value;
        else
            return false;
    }
    return true;
}

static int run(const struct options *o, uint32_t blocks) {
    struct critical c;
    struct joined all = {0};
    struct counted counted = {0}, best = {0};
    uint64_t wrong = 0;
    const double started = seconds();
    if (o->layers)
        cubic_make(&c, o->side, o->layers, o->ranks, o->sweeps, o->seed);
    else
        critical_make(&c, (uint64_t)blocks * o->side, blocks, o->sweeps, o->seed,
                      o->whole ? 0 : 128, o->whole ? 0 : 32);
    make_ranks(&c, o->sized, &all, &counted);
    const struct sizes expected = sizes_of(&c);
    printf("%u ranks of %u x %u sites, critical (made in %.0f s; energy per bond %.5f, %s)\n",
           o->ranks, o->side, o->layers ? o->side * o->layers : o->side, seconds() - started,
           2 * c.equal - 1, o->layers ? "of large cubes 0.3302" : "exact 0.70711");
    printf("a rank: %.0f parts with bonds to others, %.3f a site of its edge; bridges %.1f us\n\n",
           counted.parts, counted.parts / ((double)c.sides * c.of_side), counted.bridges_us);
    printf("| early + rounds + steps | messages | bytes of rounds | most | %s | bytes handed on, "
           "most | all "
           "bytes, a site of edge | most | us of a host early | then | us with those |\n"
           "|---|---|---|---|---|---|---|---|---|---|---|\n",
           "labels left");
    for (uint32_t rounds = o->least ? o->least : 1; rounds <= o->most; rounds++) {
        struct sizes found = {0, 0};
        if (!joined_run(&all, rounds, take, &found))
            wrong++;
        wrong += wrong_labels(&c, &all);
        if (o->sized)
            wrong += found.clusters != expected.clusters ||
                     fabs(found.squares / expected.squares - 1) > 1e-12;
        const struct counted now = count(&c, &all, &counted, rounds);
        show(&now, o->sized);
        if (all.early && rounds == sw_joining_rounds((int)o->ranks))
            best = now;
    }
    printf("\n%s%llu wrong\n",
           o->sized ? "labels and sizes: " : "labels: ", (unsigned long long)wrong);
    if (best.rounds)
        model_show(&best);
    free_ranks(&all);
    critical_free(&c);
    return wrong ? 1 : 0;
}

int main(int argc, char **argv) {
    struct options o = {.ranks = 64, .side = 256, .most = 5, .seed = 1};
    if (!read_options(argc, argv, &o))
        return refuse("an option that is not known, or without its value");
    o.sweeps = o.sweeps ? o.sweeps : o.layers ? 20 : 3; /* since the last doubling */
    uint32_t blocks = 1;
    while (blocks * blocks < o.ranks)
        blocks *= 2;
    if (o.layers && (o.ranks & (o.ranks - 1)) == 0 && (o.layers & (o.layers - 1)) == 0 &&
        o.ranks > 0 && o.side >= 8 && (o.side & (o.side - 1)) == 0 &&
        (double)o.side * o.side * o.layers <= 1u << 30)
        return run(&o, blocks);
    if (o.layers || blocks * blocks != o.ranks || o.side < 8 || (o.side & (o.side - 1)) ||
        o.side > 32768)
        return refuse("ranks or side out of range");
    return run(&o, blocks);
}
