/* The host's twin of the kernels: cl/spin_lattice/glass.h compiled as C, slot by slot. Energies are
 * the host's own sums over bonds. */
#include <string.h>

#include "samplers/spin_lattice/glass.h"

/* The kernels take their shape from macros; here the macros read this. */
static _Thread_local struct glass_shape twin;

#define GLASS_LX twin.lx
#define GLASS_LY twin.ly
#define GLASS_LZ twin.lz
#define GLASS_D twin.d
#define GLASS_HEAT twin.heat
#define GLASS_REAL twin.real
#define GLASS_T twin.temperatures
#define GLASS_COPIES twin.copies
#include "spin_lattice/glass.h"

uint64_t glass_place_of(const struct glass_shape *s, uint64_t site) {
    const uint64_t x = site % s->lx, row = site / s->lx, y = row % s->ly, z = row / s->ly;
    return ((x + y + z) & 1) * s->half + x / 2 + s->lx / 2 * row;
}

static uint64_t neighbour(const struct glass_shape *s, uint64_t site, uint32_t direction) {
    const uint64_t side[3] = {s->lx, s->ly, s->lz};
    uint64_t at[3] = {site % s->lx, site / s->lx % s->ly, site / s->lx / s->ly};
    const uint32_t axis = direction / 2;
    at[axis] = (at[axis] + (direction % 2 ? side[axis] - 1 : 1)) % side[axis];
    return at[0] + s->lx * (at[1] + s->ly * at[2]);
}

void glass_pack_couplings(const struct glass_shape *s, const uint32_t *couplings,
                          uint32_t *packed) {
    const size_t lanes = s->real ? 32 : 1;
    const uint32_t z = 2 * s->d;
    for (uint64_t site = 0; site < s->sites; site++)
        for (uint32_t direction = 0; direction < z; direction++) {
            const uint64_t owner = direction % 2 ? neighbour(s, site, direction) : site;
            const uint32_t *from = couplings + (direction / 2 * s->sites + owner) * lanes;
            for (size_t b = 0; b < lanes; b++)
                packed[(glass_place_of(s, site) * lanes + b) * z + direction] = from[b];
        }
}

static struct ergo_words draw(uint32_t entity, uint64_t step, uint32_t purpose, uint32_t n,
                              const uint32_t key[2]) {
    return ergo_philox_words(entity, (uint32_t)step, (uint32_t)(step >> 32), ERGO_DRAW(purpose, n),
                             key[0], key[1]);
}

static uint32_t slot_of(struct ergo_words r, uint32_t slot) {
    const uint32_t words[4] = {r.x, r.y, r.z, r.w};
    return words[slot % 4];
}

void glass_twin_start(const struct glass_shape *s, const uint32_t key[2], uint32_t word,
                      uint32_t mode, uint32_t *spins) {
    for (uint32_t site = 0; site < s->sites; site++)
        for (uint32_t slot = 0; slot < 4 * s->quads; slot++) {
            const struct ergo_words r = draw(site, 0, GLASS_PURPOSE_START,
                                             word << 8 | (glass_first_quad(s) + slot / 4), key);
            const uint32_t up = mode == 2 ? slot_of(r, slot) : mode ? 0xffffffffu : 0;
            spins[glass_place_of(s, site) * 4 * s->quads + slot] = up & glass_lanes(s, word);
        }
}

static uint32_t real_flips(const uint32_t x[6], const uint32_t *bonds, int limit) {
    uint32_t flips = 0;
    for (uint32_t b = 0; b < 32; b++) {
        int32_t cost = 0;
        for (uint32_t d = 0; d < GLASS_Z; d++) {
            const int32_t j = (int32_t)bonds[b * GLASS_Z + d];
            cost += x[d] >> b & 1 ? -j : j;
        }
        flips |= (uint32_t)(cost < limit) << b;
    }
    return flips;
}

void glass_twin_sweep(const struct glass_shape *s, const uint32_t key[2], const uint32_t *tables,
                      const uint32_t *packed, uint32_t word, uint64_t step, uint32_t *spins) {
    const size_t stride = (size_t)4 * s->quads;
    twin = *s;
    for (uint32_t colour = 0; colour < 2; colour++)
        for (uint32_t h = 0; h < s->half; h++) {
            const struct glass_at a = glass_site(h, colour);
            const size_t own = colour * s->half + h, other = (1 - colour) * s->half;
            const uint32_t *bonds = packed + own * GLASS_Z * (s->real ? 32 : 1);
            for (uint32_t slot = 0; slot < s->slots; slot++) {
                const uint32_t n = word << 8 | (glass_first_quad(s) + slot / 4);
                const uint32_t r = slot_of(draw(a.site, step, GLASS_PURPOSE_UPDATE, n, key), slot);
                const uint32_t spin = spins[own * stride + slot];
                const uint32_t *quad = tables + slot / 4 * (2 * GLASS_CLASSES * 4) + slot % 4;
                uint32_t x[6] = {0}, table[2 * GLASS_CLASSES], low = 0, flips;
                for (uint32_t d = 0; d < GLASS_Z; d++)
                    x[d] = spin ^ spins[(other + a.near[d]) * stride + slot];
                if (s->real) {
                    float scale;
                    memcpy(&scale, quad, sizeof scale);
                    flips = real_flips(x, bonds, glass_limit(r, scale));
                } else {
                    for (uint32_t d = 0; d < GLASS_Z; d++)
                        x[d] ^= bonds[d];
                    for (uint32_t k = 0; k < 2 * GLASS_CLASSES; k++)
                        table[k] = quad[(size_t)k * 4];
                    if (r == 0)
                        low = slot_of(draw(a.site, step, GLASS_PURPOSE_TIE, n, key), slot);
                    flips = glass_flips(glass_add(x), table, r, r == 0, low);
                }
                spins[own * stride + slot] = spin ^ (flips & glass_lanes(s, word));
            }
        }
}

void glass_twin_energies(const struct glass_shape *s, const uint32_t *couplings,
                         const uint32_t *spins, int64_t *energies) {
    const size_t stride = (size_t)4 * s->quads;
    memset(energies, 0, stride * 32 * sizeof *energies);
    for (uint32_t d = 0; d < s->d; d++)
        for (uint64_t site = 0; site < s->sites; site++) {
            const uint32_t *own = spins + glass_place_of(s, site) * stride;
            const uint32_t *next = spins + glass_place_of(s, neighbour(s, site, 2 * d)) * stride;
            const size_t bond = d * s->sites + site;
            for (uint32_t slot = 0; slot < s->slots; slot++)
                for (uint32_t b = 0; b < 32; b++) {
                    const uint32_t differ = (own[slot] ^ next[slot]) >> b & 1;
                    const int64_t j = s->real ? (int32_t)couplings[bond * 32 + b] : 0;
                    const uint32_t negative = s->real ? 0 : couplings[bond] >> b & 1;
                    energies[slot * 32 + b] +=
                        s->real ? (differ ? j : -j) : (int64_t)(differ ^ negative);
                }
        }
}

uint32_t glass_twin_decide(const struct glass_shape *s, const uint32_t key[2], float slope,
                           const int64_t *cold, const int64_t *hot, uint32_t word, uint64_t step,
                           uint32_t t, uint32_t copy) {
    uint32_t mask = 0;
    for (uint32_t bit = 0; bit < 32; bit++) {
        const struct ergo_words r =
            draw(32 * word + bit, step, GLASS_PURPOSE_SWAP, t * s->copies + copy, key);
        mask |= glass_exchanges(hot[bit] - cold[bit], slope, r.x) << bit;
    }
    return mask & glass_lanes(s, word);
}

uint32_t glass_twin_walk(const struct glass_shape *s, uint32_t word, uint32_t t, uint32_t mask,
                         uint32_t *cold, uint32_t *hot) {
    const uint32_t move = (*cold ^ *hot) & mask, to = *cold ^ move;
    *cold = t == 0 ? 0 : to;
    *hot = t + 2 == s->rungs ? glass_lanes(s, word) : *hot ^ move;
    return t == 0 ? to : 0;
}

void glass_twin_moved(const struct glass_shape *s, uint32_t slot, uint32_t mask, uint32_t arrived,
                      uint64_t *moved) {
    for (uint32_t bit = 0; bit < 32; bit++) {
        moved[slot * 32 + bit] += mask >> bit & 1;
        moved[(s->slots + slot % s->copies) * 32 + bit] += arrived >> bit & 1;
    }
}

void glass_twin_swap(const struct glass_shape *s, const uint32_t key[2], const float *slopes,
                     const int64_t *energies, uint32_t word, uint64_t step, uint32_t parity,
                     uint32_t *spins, uint32_t *came, uint64_t *moved) {
    const size_t stride = (size_t)4 * s->quads;
    for (uint32_t t = glass_own_parity(s, parity); t + 1 < s->temperatures; t += 2)
        for (uint32_t copy = 0; copy < s->copies; copy++) {
            const uint32_t a = t * s->copies + copy, b = a + s->copies;
            const uint32_t mask =
                glass_twin_decide(s, key, slopes[t], energies + (size_t)a * 32,
                                  energies + (size_t)b * 32, word, step, s->rung + t, copy);
            for (size_t i = 0; i < s->sites; i++) {
                const uint32_t move = (spins[i * stride + a] ^ spins[i * stride + b]) & mask;
                spins[i * stride + a] ^= move;
                spins[i * stride + b] ^= move;
            }
            const uint32_t arrived =
                glass_twin_walk(s, word, s->rung + t, mask, &came[a], &came[b]);
            glass_twin_moved(s, a, mask, arrived, moved);
        }
}
