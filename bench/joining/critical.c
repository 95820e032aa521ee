#include "critical.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SMALL = 128, FIRST = 200 };

void *critical_get(size_t bytes) {
    void *memory = calloc(1, bytes ? bytes : 1);
    if (!memory) {
        fprintf(stderr, "no memory for %zu bytes; use fewer ranks or a smaller side\n", bytes);
        exit(1);
    }
    return memory;
}

/* SplitMix64's mixing of a counter. */
uint64_t critical_mix(uint64_t z) {
    z += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static uint64_t key_of(const struct critical *c) {
    return critical_mix(c->seed ^ critical_mix(c->sweep));
}

static uint64_t words_of(uint64_t side) {
    return (side + 63) / 64;
}

static unsigned spin(const uint64_t *spins, uint64_t side, uint64_t x, uint64_t y) {
    return (unsigned)(spins[y * words_of(side) + x / 64] >> (x % 64) & 1);
}

/* ---- one block ------------------------------------------------------------------------------- */

struct scratch {
    uint8_t *spins;  /* [of_block + 2]^2, with a border */
    uint8_t *down;   /* bonds from the row above */
    uint32_t *roots; /* [of_block^2]; then the same of each site */
    uint32_t *parts, *sizes;
};

uint32_t critical_root(uint32_t *roots, uint32_t i) {
    while (roots[i] != i) {
        roots[i] = roots[roots[i]];
        i = roots[i];
    }
    return i;
}

static void load(const struct critical *c, uint64_t x0, uint64_t y0, struct scratch *s) {
    const uint32_t b = c->of_block, n = b + 2;
    const uint64_t words = words_of(c->side);
    for (uint32_t y = 0; y < n; y++) {
        const uint64_t row = (y0 + y + c->side - 1) % c->side;
        uint8_t *to = s->spins + (size_t)y * n;
        for (uint32_t x = 0; x < b; x++)
            to[x + 1] = (uint8_t)(c->spins[row * words + (x0 + x) / 64] >> ((x0 + x) % 64) & 1);
        to[0] = (uint8_t)spin(c->spins, c->side, (x0 + c->side - 1) % c->side, row);
        to[b + 1] = (uint8_t)spin(c->spins, c->side, (x0 + b) % c->side, row);
    }
}

/* The bonds from a site, bit 0 to the right, bit 1 down, if spins are equal. */
static unsigned draw(uint64_t key, uint64_t site) {
    static const double p = 0.58578643762690495; /* 1 - exp(-2 K_c) = 2 - sqrt 2 */
    const uint32_t limit = (uint32_t)(p * 4294967296.0);
    const uint64_t random = critical_mix(key ^ site * UINT64_C(0xd1342543de82ef95));
    return ((uint32_t)random < limit ? 1u : 0u) | ((uint32_t)(random >> 32) < limit ? 2u : 0u);
}

/* tiles: bonds inside these alone. */
static uint64_t label(const struct critical *c, uint64_t x0, uint64_t y0, struct scratch *s,
                      bool tiles) {
    const uint32_t wide = tiles ? c->tile_width : c->of_block;
    const uint32_t high = tiles ? c->tile_height : c->of_block;
    const uint32_t b = c->of_block, n = b + 2;
    const uint64_t key = key_of(c);
    uint64_t equal = 0;
    memset(s->down, 0, b);
    for (uint32_t y = 0; y < b; y++) {
        const uint8_t *row = s->spins + (y + 1) * n + 1;
        bool left = false;
        for (uint32_t x = 0; x < b; x++) {
            const uint32_t i = y * b + x;
            const unsigned bonds = draw(key, (y0 + y) * c->side + x0 + x);
            const bool same = row[x] == row[x + 1], below = row[x] == row[x + n];
            uint32_t root = i;
            if (s->down[x])
                root = critical_root(s->roots, i - b);
            if (left) {
                const uint32_t other = critical_root(s->roots, i - 1);
                const uint32_t small = root < other ? root : other;
                if (root != i && root != other)
                    s->roots[root > other ? root : other] = small;
                root = root == i ? other : small;
            }
            s->roots[i] = root;
            equal += (uint64_t)same + (uint64_t)below;
            left = same && (bonds & 1u) && (x + 1) % wide;
            s->down[x] = below && (bonds & 2u) && (y + 1) % high;
        }
    }
    for (uint32_t i = 0; i < b * b; i++) /* a root is smaller than its sites */
        s->roots[i] = s->roots[s->roots[i]];
    return equal;
}

/* Site k of a side, with the site across; is there a bond? */
static bool leads_out(const struct critical *c, uint64_t x0, uint64_t y0, const struct scratch *s,
                      int side, uint32_t k, uint32_t *site) {
    const uint32_t b = c->of_block, n = b + 2;
    const uint32_t x = side == RIGHT ? b - 1 : side == LEFT ? 0 : k;
    const uint32_t y = side == BELOW ? b - 1 : side == ABOVE ? 0 : k;
    const uint8_t *at = s->spins + (y + 1) * n + x + 1;
    uint64_t from_x = x0 + x, from_y = y0 + y;
    *site = y * b + x;
    if (side == LEFT)
        from_x = (from_x + c->side - 1) % c->side;
    if (side == ABOVE)
        from_y = (from_y + c->side - 1) % c->side;
    const uint8_t other = side == BELOW   ? at[n]
                          : side == ABOVE ? *(at - n)
                          : side == RIGHT ? at[1]
                                          : at[-1];
    const unsigned bonds = draw(key_of(c), from_y * c->side + from_x);
    return *at == other && (bonds & (side == RIGHT || side == LEFT ? 1u : 2u));
}

static void number_parts(const struct critical *c, uint64_t x0, uint64_t y0, struct scratch *s,
                         struct block *block, bool again) {
    const uint32_t b = c->of_block;
    uint32_t site, n = 0;
    memset(s->parts, 0xff, 4 * (size_t)b * b);
    if (!again)
        for (int side = 0; side < SIDES; side++)
            block->at[side] = critical_get(4 * (size_t)b);
    for (int side = 0; side < SIDES; side++)
        for (uint32_t k = 0; k < b; k++) {
            const bool leads = leads_out(c, x0, y0, s, side, k, &site);
            const uint32_t root = leads ? s->roots[site] : 0;
            if (leads && s->parts[root] == NO_PART)
                s->parts[root] = n++;
            if (!again)
                block->at[side][k] = leads ? s->parts[root] : NO_PART;
        }
    if (again)
        return;
    block->n_parts = n;
    block->names = critical_get(8 * (size_t)n);
    block->sizes = critical_get(4 * (size_t)n);
    block->inside = 0;
    for (uint32_t i = 0; i < b * b; i++) {
        const uint32_t root = s->roots[i], part = s->parts[root];
        block->inside += root == i && part == NO_PART ? 1 : 0;
        if (part == NO_PART)
            continue;
        block->sizes[part]++;
        if (root == i)
            block->names[part] = (y0 + i / b) * c->side + x0 + i % b;
    }
}

/* The parts of tiles: s has their roots, `whole` those of the block. */
static void number_early(const struct critical *c, uint64_t x0, uint64_t y0, struct scratch *s,
                         const uint32_t *whole, const uint32_t *parts, struct block *block) {
    const uint32_t b = c->of_block;
    uint32_t site, n = 0;
    memset(s->parts, 0xff, 4 * (size_t)b * b);
    block->early_names = critical_get(8 * 4 * (size_t)b);
    block->group_names = critical_get(8 * 4 * (size_t)b);
    block->groups = critical_get(4 * 4 * (size_t)b);
    for (int side = 0; side < SIDES; side++) {
        block->early_at[side] = critical_get(4 * (size_t)b);
        for (uint32_t k = 0; k < b; k++) {
            block->early_at[side][k] = NO_PART;
            if (!leads_out(c, x0, y0, s, side, k, &site))
                continue;
            const uint32_t root = s->roots[site], group = parts[whole[site]];
            if (s->parts[root] == NO_PART) {
                block->early_names[n] = (y0 + root / b) * c->side + x0 + root % b;
                block->groups[n] = group;
                block->group_names[n] = block->names[group];
                s->parts[root] = n++;
            }
            block->early_at[side][k] = s->parts[root];
        }
    }
    block->n_early = n;
}

static void find_early(const struct critical *c, uint64_t x0, uint64_t y0, struct scratch *s,
                       struct block *block) {
    const size_t bytes = 4 * (size_t)c->of_block * c->of_block;
    uint32_t *whole = memcpy(critical_get(bytes), s->roots, bytes);
    uint32_t *parts = memcpy(critical_get(bytes), s->parts, bytes);
    label(c, x0, y0, s, true);
    number_early(c, x0, y0, s, whole, parts, block);
    free(whole);
    free(parts);
}

/* ---- all blocks ------------------------------------------------------------------------------ */

static struct scratch open_scratch(const struct critical *c) {
    const size_t b = c->of_block;
    return (struct scratch){.spins = critical_get((b + 2) * (b + 2)),
                            .down = critical_get(b),
                            .roots = critical_get(4 * b * b),
                            .parts = critical_get(4 * b * b)};
}

static void close_scratch(struct scratch *s) {
    free(s->spins);
    free(s->down);
    free(s->roots);
    free(s->parts);
}

void critical_free_blocks(struct critical *c) {
    for (size_t k = 0; c->block && k < c->n_blocks; k++) {
        free(c->block[k].names);
        free(c->block[k].sizes);
        free(c->block[k].early_names);
        free(c->block[k].group_names);
        free(c->block[k].groups);
        for (int side = 0; side < SIDES; side++) {
            free(c->block[k].at[side]);
            free(c->block[k].early_at[side]);
        }
    }
    free(c->block);
    free(c->first);
    free(c->parents);
    free(c->whole);
    c->block = NULL;
    c->first = c->whole = NULL;
    c->parents = NULL;
}

static void join_blocks(struct critical *c, size_t k, size_t other, int side, int far) {
    for (uint32_t i = 0; i < c->of_side; i++) {
        const uint32_t a = c->block[k].at[side][i], b = c->block[other].at[far][i];
        if ((a == NO_PART) != (b == NO_PART)) {
            fprintf(stderr, "blocks do not agree on a bond\n");
            exit(1);
        }
        if (a == NO_PART)
            continue;
        const uint32_t p = critical_root(c->parents, (uint32_t)(c->first[k] + a));
        const uint32_t q = critical_root(c->parents, (uint32_t)(c->first[other] + b));
        if (p == q)
            continue;
        const bool smaller = c->whole[p] < c->whole[q];
        c->parents[smaller ? q : p] = smaller ? p : q;
    }
}

size_t critical_beside(const struct critical *c, size_t k, int side) {
    const size_t n = c->blocks, rows = c->n_blocks / n, x = k % n, y = k / n;
    return side == BELOW   ? (y + 1) % rows * n + x
           : side == ABOVE ? (y + rows - 1) % rows * n + x
           : side == RIGHT ? y * n + (x + 1) % n
                           : y * n + (x + n - 1) % n;
}

void critical_join(struct critical *c) {
    const size_t n = c->n_blocks;
    c->parents = critical_get(4 * (size_t)c->first[n]);
    c->whole = critical_get(8 * (size_t)c->first[n]);
    for (size_t k = 0; k < n; k++)
        for (uint32_t p = 0; p < c->block[k].n_parts; p++) {
            c->parents[c->first[k] + p] = (uint32_t)(c->first[k] + p);
            c->whole[c->first[k] + p] = c->block[k].names[p];
        }
    for (size_t k = 0; k < n; k++) {
        join_blocks(c, k, critical_beside(c, k, BELOW), BELOW, ABOVE);
        if (c->sides > RIGHT)
            join_blocks(c, k, critical_beside(c, k, RIGHT), RIGHT, LEFT);
    }
    for (size_t p = 0; p < c->first[n]; p++)
        c->whole[p] = c->whole[critical_root(c->parents, (uint32_t)p)];
}

/* Bonds of a sweep; parts; the union-find of the whole. */
static void find_clusters(struct critical *c, struct scratch *s) {
    const size_t n = c->n_blocks;
    uint64_t equal = 0;
    c->block = critical_get(n * sizeof *c->block);
    c->first = critical_get((n + 1) * sizeof *c->first);
    for (size_t k = 0; k < n; k++) {
        const uint64_t x0 = k % c->blocks * c->of_block, y0 = k / c->blocks * c->of_block;
        load(c, x0, y0, s);
        equal += label(c, x0, y0, s, false);
        number_parts(c, x0, y0, s, &c->block[k], false);
        if (c->tile_width)
            find_early(c, x0, y0, s, &c->block[k]);
        c->first[k + 1] = c->first[k] + c->block[k].n_parts;
    }
    c->equal = (double)equal / (2.0 * (double)c->side * (double)c->side);
    critical_join(c);
}

static void flip(struct critical *c, struct scratch *s) {
    const uint64_t key = critical_mix(key_of(c)), words = words_of(c->side);
    memset(c->next, 0, 8 * words * c->side);
    for (size_t k = 0; k < c->n_blocks; k++) {
        const uint64_t x0 = k % c->blocks * c->of_block, y0 = k / c->blocks * c->of_block;
        load(c, x0, y0, s);
        label(c, x0, y0, s, false);
        number_parts(c, x0, y0, s, &c->block[k], true);
        for (uint32_t i = 0; i < c->of_block * c->of_block; i++) {
            const uint32_t root = s->roots[i], part = s->parts[root];
            const uint64_t x = x0 + i % c->of_block, y = y0 + i / c->of_block;
            const uint64_t name =
                part == NO_PART ? (y0 + root / c->of_block) * c->side + x0 + root % c->of_block
                                : c->whole[c->first[k] + part];
            c->next[y * words + x / 64] |= (critical_mix(key ^ name) >> 40 & 1) << (x % 64);
        }
    }
    uint64_t *spins = c->spins;
    c->spins = c->next;
    c->next = spins;
    c->sweep++;
}

static void sweep(struct critical *c, unsigned sweeps) {
    struct scratch s = open_scratch(c);
    for (unsigned k = 0; k < sweeps; k++) {
        find_clusters(c, &s);
        flip(c, &s);
        critical_free_blocks(c);
    }
    close_scratch(&s);
}

/* Each spin becomes four. */
static void double_side(struct critical *c) {
    const uint64_t side = 2 * c->side, words = words_of(side);
    uint64_t *spins = critical_get(8 * words * side);
    for (uint64_t y = 0; y < side; y++)
        for (uint64_t x = 0; x < side; x++)
            spins[y * words + x / 64] |= (uint64_t)spin(c->spins, c->side, x / 2, y / 2)
                                         << (x % 64);
    free(c->spins);
    free(c->next);
    c->spins = spins;
    c->next = critical_get(8 * words * side);
    c->side = side;
}

static void cut(struct critical *c, uint32_t most) {
    c->of_block = (uint32_t)(c->side < most ? c->side : most);
    c->blocks = (uint32_t)(c->side / c->of_block);
    c->n_blocks = (size_t)c->blocks * c->blocks;
    c->of_side = c->of_block;
    c->sides = SIDES;
    c->sites = (double)c->side * (double)c->side;
}

void critical_make(struct critical *c, uint64_t side, uint32_t blocks, unsigned sweeps,
                   uint64_t seed, uint32_t tile_width, uint32_t tile_height) {
    *c = (struct critical){.side = side < SMALL ? side : SMALL, .seed = seed};
    c->spins = critical_get(8 * words_of(c->side) * c->side);
    c->next = critical_get(8 * words_of(c->side) * c->side);
    for (uint64_t k = 0; k < words_of(c->side) * c->side; k++)
        c->spins[k] = critical_mix(critical_mix(seed) + k);
    cut(c, 512);
    sweep(c, FIRST);
    while (c->side < side) {
        double_side(c);
        cut(c, 512);
        sweep(c, sweeps);
    }
    cut(c, (uint32_t)(side / blocks));
    c->tile_width = tile_width;
    c->tile_height = tile_height;
    struct scratch s = open_scratch(c);
    find_clusters(c, &s);
    close_scratch(&s);
}

void critical_free(struct critical *c) {
    critical_free_blocks(c);
    free(c->spins);
    free(c->next);
}
