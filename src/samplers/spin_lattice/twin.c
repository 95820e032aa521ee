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

void ising_twin_sweeps(const struct ergo_point *point, const struct ising_shape *shape,
                       uint32_t *words, uint64_t step, uint64_t sweeps) {
    struct ising_member member;
    ising_member_fill(point, true, &member);
    twin_lx = (uint32_t)shape->lx;
    twin_ly = (uint32_t)shape->ly;
    for (uint64_t t = step; t < step + sweeps; t++) {
        for (uint32_t colour = 0; colour < 2; colour++) {
            uint32_t *own = words + colour * 4 * shape->blocks;
            const uint32_t *other = words + (1 - colour) * 4 * shape->blocks;
            for (uint32_t block = 0; block < shape->blocks; block++) {
                struct ising_word s[4];
                for (uint32_t l = 0; l < 4; l++) {
                    const uint32_t word = 4 * block + l;
                    const struct ising_bonds b = ising_gather(other, word, colour);
                    const struct ising_bonds_vec n = {b.up, b.down, b.same, b.side};
                    s[l] = ising_open(own[word], n, ising_valid(word), &member);
                }
                ising_decide(s, block, t, colour, &member);
                for (uint32_t l = 0; l < 4; l++)
                    own[4 * block + l] ^= s[l].flip;
            }
        }
    }
}
