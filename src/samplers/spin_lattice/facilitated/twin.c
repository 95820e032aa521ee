/*
 * The chain in serial C: one attempt after the other, or one round of picks. It follows the
 * description in cl/spin_lattice/facilitated.h and facilitated_lambda.h, but uses none of their
 * functions. Acceptances have a class for each number of neighbours, even without a coupling.
 */
#include <stdlib.h>
#include <string.h>

#include "common/rng.h"
#include "samplers/spin_lattice/facilitated/facilitated.h"

static uint32_t lanes_of(const struct fac_shape *s) {
    return s->lanes == 32 ? 0xffffffffu : (1u << s->lanes) - 1;
}

static void draw(const struct fac_member *member, uint32_t entity, uint64_t step, uint32_t purpose,
                 uint32_t number, uint32_t out[4]) {
    const struct ergo_words r =
        ergo_philox_words(entity, (uint32_t)step, (uint32_t)(step >> 32),
                          ERGO_DRAW(purpose, number), member->key0, member->key1);
    out[0] = r.x, out[1] = r.y, out[2] = r.z, out[3] = r.w;
}

/* Bit `plane` (0: the highest) of a threshold, in all realisations. */
static uint32_t plane_of(uint64_t threshold, int plane) {
    return threshold >> (FAC_PLANES - 1 - plane) & 1 ? 0xffffffffu : 0;
}

void fac_twin_start(const struct fac_shape *shape, const struct fac_member *member, uint32_t word,
                    unsigned mode, uint32_t *spins) {
    for (uint32_t site = 0; site < shape->sites; site++) {
        uint32_t open = lanes_of(shape), random[4] = {0, 0, 0, 0};
        spins[site] = mode == 1 ? open : 0;
        for (int plane = 0; plane < FAC_PLANES && mode == 2 && open; plane++) {
            const uint32_t limit = plane_of(member->threshold[FAC_CLASS_START], plane);
            if (plane % 4 == 0)
                draw(member, site, 0, FAC_PURPOSE_START, 16 * word + (uint32_t)plane / 4, random);
            spins[site] |= open & limit & ~random[plane % 4];
            open &= ~(random[plane % 4] ^ limit);
        }
    }
}

/* at_least[k]: the realisations in which at least k neighbours of n in `directions` are up (1
 * north, 2 east, 4 south, 8 west, 16 above, 32 below). */
static void count_up(const uint32_t n[6], unsigned directions, uint32_t at_least[8]) {
    memset(at_least, 0, 8 * sizeof *at_least);
    at_least[0] = 0xffffffffu;
    for (unsigned d = 0; d < 6; d++)
        if (directions >> d & 1)
            for (unsigned k = 6; k > 0; k--)
                at_least[k] |= at_least[k - 1] & n[d];
}

/* The realisations that attempt i flips. random: its first draw; two of its words chose the
 * site. */
static uint32_t flips_of(const struct fac_shape *shape, const struct fac_member *member,
                         uint32_t up, const uint32_t n[6], const uint32_t random[4], uint32_t i,
                         uint64_t step, uint32_t word) {
    uint32_t allowed[8], counted[8], in[10], more[4] = {0, 0, random[2], random[3]}, flips = 0;
    count_up(n, shape->directions, allowed);
    uint32_t open = allowed[shape->needed] & lanes_of(shape);
    if (!open)
        return 0;
    count_up(n, 15, counted);
    for (int k = 0; k < 5; k++) {
        in[k] = up & counted[k] & ~counted[k + 1];
        in[5 + k] = ~up & counted[k] & ~counted[k + 1];
    }
    for (int k = 0; k < 10; k++)
        if (member->always >> k & 1) {
            flips |= open & in[k];
            open &= ~in[k];
        }
    for (int plane = 0; plane < FAC_PLANES && open; plane++) {
        const int at = (plane + 2) % 4; /* planes 0 and 1 have words z and w of the first draw */
        uint32_t limit = 0;
        if (plane >= 2 && at == 0)
            draw(member, i, step, FAC_PURPOSE_ATTEMPT, 16 * word + (uint32_t)(plane + 2) / 4, more);
        for (int k = 0; k < 10; k++)
            limit |= in[k] & plane_of(member->threshold[k], plane);
        flips |= open & limit & ~more[at];
        open &= ~(more[at] ^ limit);
    }
    return flips;
}

/* Spins of a site's neighbours: north, east, south, west, above, below. */
static void neighbours(const struct fac_shape *shape, const uint32_t *spins, size_t site,
                       uint32_t n[6]) {
    const size_t lx = shape->lx, ly = shape->ly, layer = lx * ly, sites = shape->sites;
    const size_t x = site % lx, y = site / lx % ly, first = site - x, corner = site - x - lx * y;
    n[0] = spins[corner + x + lx * (y == 0 ? ly - 1 : y - 1)];
    n[1] = spins[(x + 1 == lx ? 0 : x + 1) + first];
    n[2] = spins[corner + x + lx * (y + 1 == ly ? 0 : y + 1)];
    n[3] = spins[(x == 0 ? lx - 1 : x - 1) + first];
    n[4] = spins[(site + sites - layer) % sites];
    n[5] = spins[(site + layer) % sites];
}

void fac_twin_attempts(const struct fac_shape *shape, const struct fac_member *member,
                       uint32_t word, uint64_t step, uint32_t attempt, uint64_t count,
                       uint32_t *spins, uint32_t *flipped) {
    for (uint64_t k = 0; k < count; k++) {
        uint32_t random[4], n[6];
        draw(member, attempt, step, FAC_PURPOSE_ATTEMPT, 16 * word, random);
        const uint64_t low = random[1] * shape->sites >> 32; /* uniform from 64 bits */
        const size_t site = (size_t)((random[0] * shape->sites + low) >> 32);
        neighbours(shape, spins, site, n);
        const uint32_t flips = flips_of(shape, member, spins[site], n, random, attempt, step, word);
        spins[site] ^= flips;
        flipped[site] |= flips;
        if (++attempt == shape->sites) {
            attempt = 0;
            step++;
        }
    }
}

/* Position x + 32 y of a pick in its sub-lattice. Coloured: only sites of one colour of a
 * checkerboard. */
static uint32_t place_of(const struct fac_shape *shape, uint32_t random, uint32_t pick) {
    if (shape->division != FAC_COLOURED)
        return random >> 22;
    const uint32_t y = random >> 27, half = random >> 23 & 15;
    return 32 * y + 2 * half + ((y + pick / shape->lambda) & 1);
}

/* Half a sweep of the sub-lattice at (x0, y0). first: number of its first pick. */
static void twin_sublattice(const struct fac_shape *shape, const struct fac_member *member,
                            uint32_t word, uint64_t step, uint32_t x0, uint32_t y0, uint32_t first,
                            const uint32_t *from, uint32_t *spins, uint32_t *flipped) {
    const uint32_t lx = shape->lx, ly = shape->ly, lambda = shape->lambda;
    uint32_t local[34][34], flips[512], places[512];
    for (uint32_t y = 0; y < 34; y++)
        for (uint32_t x = 0; x < 34; x++)
            local[y][x] = from[(x0 + lx - 1 + x) % lx + lx * ((y0 + ly - 1 + y) % ly)];
    for (uint32_t pick = 0; pick < 512; pick += lambda) {
        bool taken[1024] = {false};
        for (uint32_t k = 0; k < lambda; k++) {
            uint32_t random[4];
            draw(member, first + pick + k, step, FAC_PURPOSE_ATTEMPT, 16 * word, random);
            const uint32_t place = place_of(shape, random[0], pick + k);
            const uint32_t y = place / 32 + 1, x = place % 32 + 1;
            const uint32_t n[6] = {local[y - 1][x], local[y][x + 1], local[y + 1][x],
                                   local[y][x - 1]};
            places[k] = place;
            flips[k] = taken[place] ? 0
                                    : flips_of(shape, member, local[y][x], n, random,
                                               first + pick + k, step, word);
            taken[place] = true;
        }
        for (uint32_t k = 0; k < lambda; k++) {
            const uint32_t y = places[k] / 32, x = places[k] % 32;
            local[y + 1][x + 1] ^= flips[k];
            flipped[(x0 + x) % lx + lx * ((y0 + y) % ly)] |= flips[k];
        }
    }
    for (uint32_t y = 0; y < 32; y++)
        for (uint32_t x = 0; x < 32; x++)
            spins[(x0 + x) % lx + lx * ((y0 + y) % ly)] = local[y + 1][x + 1];
}

/* turns: the order-th permutation of the classes 0 to 3. */
static void turns_of(uint32_t order, uint32_t turns[4]) {
    bool used[4] = {false, false, false, false};
    for (uint32_t t = 0, rest = 6; t < 4; order %= rest, rest = rest == 6 ? 2 : 1, t++) {
        uint32_t skip = order / rest, class = 0;
        while (used[class] || skip-- > 0)
            class ++;
        used[class] = true;
        turns[t] = class;
    }
}

bool fac_twin_half(const struct fac_shape *shape, const struct fac_member *member, uint32_t word,
                   uint64_t step, uint32_t half, uint32_t *spins, uint32_t *flipped) {
    const uint32_t nx = shape->lx / 32, ny = shape->ly / 32;
    const bool coloured = shape->division == FAC_COLOURED, fixed = shape->division == FAC_FIXED;
    uint32_t *from = malloc(4 * shape->sites), random[4], turns[4];
    if (!from)
        return false;
    draw(member, half, step, FAC_PURPOSE_DIVISION, 16 * word, random);
    turns_of((uint32_t)((uint64_t)random[2] * 24 >> 32), turns);
    const uint32_t x0 = fixed ? 0 : random[0] >> 27, y0 = fixed ? 0 : random[1] >> 27;
    for (uint32_t turn = 0; turn < (coloured ? 4 : 1); turn++) {
        memcpy(from, spins, 4 * shape->sites);
        for (uint32_t sub = 0; sub < nx * ny; sub++) {
            const uint32_t sx = sub % nx, sy = sub / nx;
            if (!coloured || (sx % 2 + sy % 2 * 2) == turns[turn])
                twin_sublattice(shape, member, word, step, 32 * sx + x0, 32 * sy + y0,
                                1024 * sub + 512 * half, from, spins, flipped);
        }
    }
    free(from);
    return true;
}

/* Words i and i + 1 as one of 64 bits. */
static uint64_t pair_of(const uint32_t *words, size_t i) {
    uint64_t two;
    memcpy(&two, words + i, sizeof two);
    return two;
}

void fac_twin_count(const struct fac_shape *shape, const uint32_t *spins, const uint32_t *first,
                    const uint32_t *flipped, uint64_t counts[FAC_COUNTS]) {
    const uint64_t lanes = lanes_of(shape), both = lanes << 32 | lanes;
    const size_t lx = shape->lx, ly = shape->ly, layer = lx * ly;
    memset(counts, 0, FAC_COUNTS * sizeof *counts);
    for (size_t i = 0; i < shape->sites && shape->sites > layer; i++)
        counts[3] += (uint64_t)__builtin_popcount(spins[i] ^ spins[(i + layer) % shape->sites]);
    for (size_t row = 0; row < shape->sites / lx; row++) {
        const uint32_t *s = spins + lx * row, *f = first + lx * row, *g = flipped + lx * row;
        const uint32_t *below = (row + 1) % ly ? s + lx : s - lx * (ly - 1);
        size_t x = 0;
        for (; x + 2 < lx; x += 2) {
            const uint64_t two = pair_of(s, x);
            counts[0] += (uint64_t)__builtin_popcountll(two);
            counts[1] += (uint64_t)__builtin_popcountll(~(two ^ pair_of(f, x)) & both);
            counts[2] += (uint64_t)__builtin_popcountll(~pair_of(g, x) & both);
            counts[3] += (uint64_t)__builtin_popcountll(two ^ pair_of(s, x + 1)) +
                         (uint64_t)__builtin_popcountll(two ^ pair_of(below, x));
        }
        for (; x < lx; x++) {
            const uint32_t all = (uint32_t)lanes;
            counts[0] += (uint64_t)__builtin_popcount(s[x]);
            counts[1] += (uint64_t)__builtin_popcount(~(s[x] ^ f[x]) & all);
            counts[2] += (uint64_t)__builtin_popcount(~g[x] & all);
            counts[3] += (uint64_t)__builtin_popcount(s[x] ^ s[(x + 1) % lx]) +
                         (uint64_t)__builtin_popcount(s[x] ^ below[x]);
        }
    }
}

/* The realisations of `raised` in which the constraint of a site is met. */
static uint32_t may_flip(const struct fac_shape *shape, const uint32_t *raised, size_t site) {
    uint32_t n[6], at_least[8];
    neighbours(shape, raised, site, n);
    count_up(n, shape->directions, at_least);
    return at_least[shape->needed];
}

void fac_twin_frozen(const struct fac_shape *shape, const uint32_t *spins, uint32_t *raised,
                     uint32_t *frozen) {
    const size_t lx = shape->lx, sites = shape->sites, rows = sites / lx;
    const uint32_t lanes = lanes_of(shape);
    memcpy(raised, spins, sites * sizeof *raised);
    /* passes begin at the north-east and at the south-west in turn, so that changes spread far
     * in one pass */
    for (uint32_t changed = 1, forth = 1; changed; forth = !forth) {
        changed = 0;
        for (size_t k = 0; k < sites; k++) {
            const size_t y = forth ? k / lx : rows - 1 - k / lx;
            const size_t x = forth ? lx - 1 - k % lx : k % lx, at = x + lx * y;
            const uint32_t now = raised[at] | (may_flip(shape, raised, at) & lanes);
            changed |= now ^ raised[at];
            raised[at] = now;
        }
    }
    for (size_t at = 0; at < sites; at++)
        frozen[at] = ~may_flip(shape, raised, at) & lanes;
}
