/*
 * The chain in serial C, spin by spin, from the layout in cl/spin_lattice/core.h and the meaning of
 * its random numbers. Each decision compares all 39 bits, with the ten general classes. The twin
 * has no launch paths, no operations on whole words, and no compiled-in thresholds.
 */
#include "samplers/spin_lattice/ising/ising.h"

#include <string.h>

#include "common/rng.h"
#include "samplers/spin_lattice/ising/ising.h"
#include "spin_lattice/params.h"

/* Four random words for a block of the shape. */
static void draw(const struct ising_shape *shape, const struct ising_member *member, uint64_t block,
                 uint64_t sweep, uint32_t purpose, uint32_t number, uint32_t out[4]) {
    const struct ergo_words r = ergo_philox_words(
        (uint32_t)((block + shape->first) % shape->all), (uint32_t)sweep, (uint32_t)(sweep >> 32),
        ERGO_DRAW(purpose, number), member->key0, member->key1);
    out[0] = r.x, out[1] = r.y, out[2] = r.z, out[3] = r.w;
}

/* Sites in word w of a row. */
static uint32_t sites_of(const struct ising_shape *shape, uint64_t w) {
    return w + 1 == shape->row_words ? shape->tail : 32;
}

/* Neighbours of the spins of a word, all of the other colour: around[0] above, [1] below, [2] and
 * [3] in the row. */
static void neighbours(const struct ising_shape *shape, const uint32_t *other, uint64_t word,
                       uint32_t colour, uint32_t around[4]) {
    const uint64_t n = shape->row_words, ly = (uint64_t)shape->ly, y = word / n, w = word % n;
    const uint64_t half = (uint64_t)shape->lx / 2;
    const uint32_t *row = other + y * n;
    around[0] = other[(y + ly - 1) % ly * n + w];
    around[1] = other[(y + 1) % ly * n + w];
    around[2] = row[w];
    around[3] = 0;
    for (uint32_t i = 0; i < sites_of(shape, w); i++) {
        const uint64_t k = 32 * w + i, last = k == 0 ? half - 1 : k - 1,
                       next = k + 1 == half ? 0 : k + 1, beside = (y + colour) & 1 ? next : last;
        around[3] |= (row[beside / 32] >> (beside % 32) & 1) << i;
    }
}

/* Update one block of one colour. */
static void update(const struct ising_shape *shape, const struct ising_member *member,
                   uint32_t *spins, const uint32_t *other, uint64_t block, uint64_t sweep,
                   uint32_t colour) {
    uint32_t planes[ISING_PLANES][4], rest[4] = {0, 0, 0, 0}, undecided = 0;
    for (uint32_t j = 0; j < ISING_PLANES; j++)
        draw(shape, member, block, sweep, ISING_PURPOSE_COLOUR0 + colour, j, planes[j]);
    for (uint64_t l = 0; l < 4 && 4 * block + l < shape->words; l++) {
        const uint64_t word = 4 * block + l;
        uint32_t around[4], flips = 0;
        neighbours(shape, other, word, colour, around);
        for (uint32_t i = 0; i < sites_of(shape, word % shape->row_words); i++) {
            const uint32_t up = spins[word] >> i & 1;
            uint32_t class = up ? 0 : 5, high = 0;
            for (int k = 0; k < 4; k++)
                class += around[k] >> i & 1;
            for (int j = 0; j < ISING_PLANES; j++)
                high = 2 * high + (planes[j][l] >> i & 1);
            bool flip = high < member->high[class];
            if (member->always >> class & 1) {
                flip = true;
            } else if (high == member->high[class]) { /* four sites share a draw */
                if (undecided % 4 == 0)
                    draw(shape, member, block, sweep, ISING_PURPOSE_COLOUR0 + colour,
                         ISING_DRAW_RESOLVE + undecided / 4, rest);
                flip = rest[undecided++ % 4] < member->low[class];
            }
            flips |= (uint32_t)flip << i;
        }
        spins[word] ^= flips;
    }
}

/* Half a sweep of the blocks `from` to `to` - 1. */
static void half_sweep(const struct ising_shape *shape, const struct ising_member *member,
                       uint32_t *words, uint64_t sweep, uint32_t colour, uint64_t from,
                       uint64_t to) {
    uint32_t *spins = words + colour * 4 * shape->blocks;
    const uint32_t *other = words + (1 - colour) * 4 * shape->blocks;
    for (uint64_t block = from; block < to; block++)
        update(shape, member, spins, other, block, sweep, colour);
}

void ising_twin_rows(const struct ergo_point *point, const struct ising_shape *shape,
                     uint32_t *words, uint64_t step, uint64_t sweeps, uint64_t first,
                     uint64_t rows) {
    const uint64_t ly = (uint64_t)shape->ly;
    struct ising_member member;
    ising_member_fill(point, true, &member);
    for (uint64_t h = 0; h < 2 * sweeps; h++) {
        const uint64_t margin = 2 * sweeps - 1 - h, sweep = step + h / 2;
        const uint32_t colour = (uint32_t)(h & 1);
        if (rows + 2 * margin >= ly) {
            half_sweep(shape, &member, words, sweep, colour, 0, shape->blocks);
            continue;
        }
        /* whole blocks, so possibly more than these rows; then those behind the boundary */
        const uint64_t top = (first + ly - margin) % ly, end = top + rows + 2 * margin;
        const uint64_t last = end < ly ? end : ly;
        const uint64_t from = top * shape->row_words / 4, to = (last * shape->row_words + 3) / 4;
        half_sweep(shape, &member, words, sweep, colour, from, to);
        if (end > ly) {
            const uint64_t rest = ((end - ly) * shape->row_words + 3) / 4;
            half_sweep(shape, &member, words, sweep, colour, 0, rest < from ? rest : from);
        }
    }
}

void ising_twin_sweeps(const struct ergo_point *point, const struct ising_shape *shape,
                       uint32_t *words, uint64_t step, uint64_t sweeps) {
    ising_twin_rows(point, shape, words, step, sweeps, 0, (uint64_t)shape->ly);
}

bool ising_twin_is_start(const struct ergo_point *point, const struct ising_shape *shape,
                         const uint32_t *words, uint64_t from, uint64_t to) {
    const char *start = ergo_point_text(point, "/system/start");
    const uint32_t same = strcmp(start, "up") == 0 ? 0xffffffffu : 0;
    struct ising_member member;
    bool is = true;
    ising_member_fill(point, true, &member);
    for (uint32_t colour = 0; colour < 2; colour++)
        for (uint64_t block = from; block < to; block++) {
            uint32_t spins[4] = {same, same, same, same};
            if (strcmp(start, "random") == 0)
                draw(shape, &member, block, 0, ISING_PURPOSE_START, colour, spins);
            for (uint64_t l = 0; l < 4; l++) {
                const uint64_t word = 4 * block + l;
                const uint32_t sites = sites_of(shape, word % shape->row_words);
                const uint32_t inside = word < shape->words ? 0xffffffffu >> (32 - sites) : 0;
                is = is && words[colour * 4 * shape->blocks + word] == (spins[l] & inside);
            }
        }
    return is;
}
