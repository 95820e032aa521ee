/*
 * The host's twin of the kernels: cl/spin_lattice/core.h compiled as C, with the general classes
 * and word-by-word gathering. Nothing of the launch paths, vector loads or compiled-in thresholds
 * is in it, so it finds a compiler that gets any of those wrong.
 */
#include <stdlib.h>
#include <string.h>

#include "samplers/spin_lattice/ising.h"
#include "samplers/spin_lattice/twin.h"

/* The kernels take their shape from macros; here the macros read this. */
static _Thread_local uint32_t twin_lx, twin_ly;

#define ISING_LX twin_lx
#define ISING_LY twin_ly
#define ISING_CLASSES 10
#define ISING_SPACE
#include "spin_lattice/core.h"

/* Half a sweep of blocks `from` to `to` - 1. */
static void half_sweep(const struct ising_shape *shape, const struct ising_member *member,
                       uint32_t *words, uint64_t sweep, uint32_t colour, uint64_t from,
                       uint64_t to) {
    uint32_t *own = words + colour * 4 * shape->blocks;
    const uint32_t *other = words + (1 - colour) * 4 * shape->blocks;
    for (uint32_t block = (uint32_t)from; block < to; block++) {
        struct ising_word s[4];
        for (uint32_t l = 0; l < 4; l++) {
            const uint32_t word = 4 * block + l;
            const struct ising_bonds b = ising_gather(other, word, colour);
            const struct ising_bonds_vec n = {b.up, b.down, b.same, b.side};
            s[l] = ising_open(own[word], n, ising_valid(word), member);
        }
        ising_decide(s, block, sweep, colour, member);
        for (uint32_t l = 0; l < 4; l++)
            own[4 * block + l] ^= s[l].flip;
    }
}

void ising_twin_rows(const struct ergo_point *point, const struct ising_shape *shape,
                     uint32_t *words, uint64_t step, uint64_t sweeps, uint64_t first,
                     uint64_t rows) {
    const uint64_t ly = (uint64_t)shape->ly;
    struct ising_member member;
    ising_member_fill(point, true, &member);
    twin_lx = (uint32_t)shape->lx;
    twin_ly = (uint32_t)shape->ly;
    for (uint64_t h = 0; h < 2 * sweeps; h++) {
        const uint64_t margin = 2 * sweeps - 1 - h, sweep = step + h / 2;
        const uint32_t colour = (uint32_t)(h & 1);
        if (rows + 2 * margin >= ly) {
            half_sweep(shape, &member, words, sweep, colour, 0, shape->blocks);
            continue;
        }
        /* whole blocks, which may be more than these rows; before and behind the seam */
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
