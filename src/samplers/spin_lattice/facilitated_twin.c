/* The host's twin of the kernels: cl/spin_lattice/facilitated.h compiled as C, one attempt after
 * the other, or one round of picks. Counting and the closure test are the host's own. */
#include <stdlib.h>
#include <string.h>

#include "samplers/spin_lattice/facilitated.h"

/* The kernels take their shape from macros; here the macros read this. */
static _Thread_local struct fac_shape twin;

#define FAC_LX twin.lx
#define FAC_LY twin.ly
#define FAC_DIRECTIONS twin.directions
#define FAC_NEEDED twin.needed
#define FAC_COUPLED twin.coupled
#define FAC_LANES (twin.lanes == 32 ? 0xffffffffu : (1u << twin.lanes) - 1)
#define FAC_DIVISION twin.division
#include "spin_lattice/facilitated_lambda.h"

void fac_twin_start(const struct fac_shape *shape, const struct fac_member *member, uint32_t word,
                    unsigned mode, uint32_t *spins) {
    twin = *shape;
    for (uint32_t site = 0; site < shape->sites; site++)
        spins[site] = fac_start(site, word, mode, member);
}

void fac_twin_attempts(const struct fac_shape *shape, const struct fac_member *member,
                       uint32_t word, uint64_t step, uint32_t attempt, uint64_t count,
                       uint32_t *spins, uint32_t *flipped) {
    twin = *shape;
    for (uint64_t n = 0; n < count; n++) {
        const struct fac_attempt a = fac_attempt(attempt, step, word, member);
        fac_update(spins, flipped, a, fac_neighbours(a.site), attempt, step, word, member);
        if (++attempt == shape->sites) {
            attempt = 0;
            step++;
        }
    }
}

/* A sub-lattice at (x0, y0) of the lattice, from pick `first` on. */
static void twin_sublattice(const struct fac_member *member, uint32_t word, uint64_t step,
                            uint32_t x0, uint32_t y0, uint32_t first, const uint32_t *from,
                            uint32_t *spins, uint32_t *flipped) {
    const uint32_t lx = twin.lx, ly = twin.ly, lambda = twin.lambda;
    uint32_t own[34][34], flips[512], places[512];
    for (uint32_t y = 0; y < 34; y++)
        for (uint32_t x = 0; x < 34; x++)
            own[y][x] = from[(x0 + lx - 1 + x) % lx + lx * ((y0 + ly - 1 + y) % ly)];
    for (uint32_t pick = 0; pick < 512; pick += lambda) {
        bool taken[1024] = {false};
        for (uint32_t k = 0; k < lambda; k++) {
            const struct ergo_words random =
                fac_attempt(first + pick + k, step, word, member).random;
            const uint32_t place = fac_place(random.x, pick + k, lambda);
            const uint32_t y = place / 32 + 1, x = place % 32 + 1;
            places[k] = place;
            flips[k] = taken[place] ? 0
                                    : fac_decide(own[y][x], own[y - 1][x], own[y][x + 1],
                                                 own[y + 1][x], own[y][x - 1], random,
                                                 first + pick + k, step, word, member);
            taken[place] = true;
        }
        for (uint32_t k = 0; k < lambda; k++) {
            const uint32_t y = places[k] / 32, x = places[k] % 32;
            own[y + 1][x + 1] ^= flips[k];
            flipped[(x0 + x) % lx + lx * ((y0 + y) % ly)] |= flips[k];
        }
    }
    for (uint32_t y = 0; y < 32; y++)
        for (uint32_t x = 0; x < 32; x++)
            spins[(x0 + x) % lx + lx * ((y0 + y) % ly)] = own[y + 1][x + 1];
}

bool fac_twin_half(const struct fac_shape *shape, const struct fac_member *member, uint32_t word,
                   uint64_t step, uint32_t half, uint32_t *spins, uint32_t *flipped) {
    const uint32_t nx = shape->lx / 32, ny = shape->ly / 32;
    const bool coloured = shape->division == FAC_COLOURED;
    uint32_t *from = malloc(4 * shape->sites);
    if (!from)
        return false;
    twin = *shape;
    const struct fac_division d = fac_divide(half, step, word, member);
    for (uint32_t turn = 0; turn < (coloured ? 4 : 1); turn++) {
        memcpy(from, spins, 4 * shape->sites);
        for (uint32_t sub = 0; sub < nx * ny; sub++) {
            const uint32_t sx = sub % nx, sy = sub / nx;
            if (!coloured || (sx % 2 + sy % 2 * 2) == fac_class_of_turn(d.order, turn))
                twin_sublattice(member, word, step, 32 * sx + d.x, 32 * sy + d.y,
                                1024 * sub + 512 * half, from, spins, flipped);
        }
    }
    free(from);
    return true;
}

void fac_twin_count(const struct fac_shape *shape, const uint32_t *spins, const uint32_t *first,
                    const uint32_t *flipped, uint64_t counts[FAC_COUNTS]) {
    const uint32_t lanes = shape->lanes == 32 ? 0xffffffffu : (1u << shape->lanes) - 1;
    const size_t lx = shape->lx, ly = shape->ly;
    memset(counts, 0, FAC_COUNTS * sizeof *counts);
    for (size_t y = 0; y < ly; y++)
        for (size_t x = 0; x < lx; x++) {
            const size_t at = x + lx * y;
            const uint32_t s = spins[at];
            counts[0] += (uint64_t)__builtin_popcount(s);
            counts[1] += (uint64_t)__builtin_popcount(~(s ^ first[at]) & lanes);
            counts[2] += (uint64_t)__builtin_popcount(~flipped[at] & lanes);
            counts[3] += (uint64_t)__builtin_popcount(s ^ spins[(x + 1) % lx + lx * y]) +
                         (uint64_t)__builtin_popcount(s ^ spins[x + lx * ((y + 1) % ly)]);
        }
}

/* Realisations of `raised` in which the constraint of a site holds: counted, not by logic. */
static uint32_t may_flip(const struct fac_shape *shape, const uint32_t *raised, size_t x,
                         size_t y) {
    const size_t lx = shape->lx, ly = shape->ly;
    const uint32_t n[4] = {raised[x + lx * ((y + ly - 1) % ly)], raised[(x + 1) % lx + lx * y],
                           raised[x + lx * ((y + 1) % ly)], raised[(x + lx - 1) % lx + lx * y]};
    /* at_least[k]: realisations with k and more of the directions so far up */
    uint32_t at_least[5] = {0xffffffffu, 0, 0, 0, 0};
    for (unsigned d = 0; d < 4; d++)
        if (shape->directions >> d & 1)
            for (unsigned k = 4; k > 0; k--)
                at_least[k] |= at_least[k - 1] & n[d];
    return at_least[shape->needed];
}

void fac_twin_frozen(const struct fac_shape *shape, const uint32_t *spins, uint32_t *raised,
                     uint32_t *frozen) {
    const size_t lx = shape->lx, ly = shape->ly;
    const uint32_t lanes = shape->lanes == 32 ? 0xffffffffu : (1u << shape->lanes) - 1;
    memcpy(raised, spins, lx * ly * sizeof *raised);
    /* from the north-east and from the south-west in turn: what spreads gets far in one pass */
    for (uint32_t changed = 1, forth = 1; changed; forth = !forth) {
        changed = 0;
        for (size_t k = 0; k < lx * ly; k++) {
            const size_t y = forth ? k / lx : ly - 1 - k / lx;
            const size_t x = forth ? lx - 1 - k % lx : k % lx, at = x + lx * y;
            const uint32_t now = raised[at] | (may_flip(shape, raised, x, y) & lanes);
            changed |= now ^ raised[at];
            raised[at] = now;
        }
    }
    for (size_t at = 0; at < lx * ly; at++)
        frozen[at] = ~may_flip(shape, raised, at % lx, at / lx) & lanes;
}
