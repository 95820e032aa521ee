/* The host's twin of the kernels, site by site and slot by slot, from the couplings as they are
 * drawn. What it has in common with them is random numbers, the limit of a flip's cost, and the
 * rule of exchanges. Temperatures that are not `known` are left alone: those that an audit has no
 * time for. */
#include "spin_lattice/glass_params.h"
#include "spin_lattice/limit.h"

#include <string.h>

#include "common/rng.h"
#include "samplers/spin_lattice/spin_glass/glass.h"

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
    const uint32_t z = 2 * s->d + s->field;
    for (uint64_t site = 0; site < s->sites; site++)
        for (uint32_t direction = 0; direction < z; direction++) {
            const bool before = direction % 2; /* fields, the last direction, are the site's own */
            const uint64_t owner = before ? neighbour(s, site, direction) : site;
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

/* ---- sweeps ---------------------------------------------------------------------------------- */

/* Samples that flip, of +-1: those with m of their z bonds unsatisfied if the class m is accepted.
 * x: a word a bond. */
static uint32_t few_flips(const struct glass_shape *s, const uint32_t *x, const uint32_t *table,
                          uint32_t r, uint32_t low) {
    const uint32_t z = 2 * s->d;
    uint32_t has[GLASS_CLASSES] = {0xffffffffu}, flips = 0; /* m of the bonds so far */
    for (uint32_t d = 0; d < z; d++)
        for (uint32_t m = d + 2; m-- > 0;)
            has[m] = (has[m] & ~x[d]) | (m ? has[m - 1] & x[d] : 0);
    for (uint32_t m = 0; m <= z; m++) {
        const bool below = r ? r - 1 < table[2 * m] : low < table[2 * m + 1];
        flips |= below || (!s->heat && 2 * m >= z) ? has[m] : 0;
    }
    return flips;
}

/* The same of couplings of any size: 2^-24, [z][32]. */
static uint32_t real_flips(const struct glass_shape *s, const uint32_t *x, const int32_t *const *j,
                           int limit) {
    uint32_t flips = 0;
    for (uint32_t b = 0; b < 32; b++) {
        int32_t cost = 0;
        for (uint32_t d = 0; d < 2 * s->d + s->field; d++)
            cost += x[d] >> b & 1 ? -j[d][b] : j[d][b];
        flips |= (uint32_t)(cost < limit) << b;
    }
    return flips;
}

/* A site's bonds: places of its neighbours, and whose coupling it is. */
struct bonds {
    size_t near[6], at[6];
};

static struct bonds bonds_of(const struct glass_shape *s, uint64_t site) {
    struct bonds b = {{0}, {0}};
    for (uint32_t d = 0; d < 2 * s->d; d++) {
        const uint64_t next = neighbour(s, site, d);
        b.near[d] = glass_place_of(s, next);
        b.at[d] = d / 2 * (size_t)s->sites + (d % 2 ? next : site);
    }
    return b;
}

static void update_quad(const struct glass_shape *s, const uint32_t key[2], const uint32_t *tables,
                        const uint32_t *couplings, uint32_t word, uint64_t step, uint64_t site,
                        const struct bonds *bonds, uint32_t quad, const bool *known,
                        uint32_t *spins) {
    const size_t stride = (size_t)4 * s->quads;
    const uint32_t n = word << 8 | (glass_first_quad(s) + quad), end = 4 * quad + 4;
    const struct ergo_words r = draw((uint32_t)site, step, GLASS_PURPOSE_UPDATE, n, key);
    const uint32_t *table = tables + quad * (size_t)(2 * GLASS_CLASSES * 4);
    for (uint32_t slot = 4 * quad; slot < end && slot < s->slots; slot++) {
        uint32_t *own = spins + glass_place_of(s, site) * stride + slot, x[7];
        const uint32_t random = slot_of(r, slot);
        uint32_t flips, classes[2 * GLASS_CLASSES], low = 0;
        if (!known[slot / s->copies])
            continue;
        for (uint32_t d = 0; d < 2 * s->d; d++)
            x[d] = *own ^ spins[bonds->near[d] * stride + slot];
        if (s->real) {
            const int32_t *j[7];
            float scale;
            for (uint32_t d = 0; d < 2 * s->d; d++)
                j[d] = (const int32_t *)couplings + bonds->at[d] * 32;
            if (s->field) {
                j[2 * s->d] = (const int32_t *)couplings + (s->d * s->sites + site) * 32;
                x[2 * s->d] = ~*own; /* differs from a field that is up */
            }
            memcpy(&scale, table + slot % 4, sizeof scale);
            flips = real_flips(s, x, j, spin_limit(random, scale, s->heat));
        } else {
            for (uint32_t d = 0; d < 2 * s->d; d++)
                x[d] ^= couplings[bonds->at[d]];
            for (uint32_t k = 0; k < 2 * GLASS_CLASSES; k++)
                classes[k] = table[4 * k + slot % 4];
            if (random == 0)
                low = slot_of(draw((uint32_t)site, step, GLASS_PURPOSE_TIE, n, key), slot);
            flips = few_flips(s, x, classes, random, low);
        }
        *own ^= flips & glass_lanes(s, word);
    }
}

void glass_twin_sweep(const struct glass_shape *s, const uint32_t key[2], const uint32_t *tables,
                      const uint32_t *couplings, uint32_t word, uint64_t step, const bool *known,
                      uint32_t *spins) {
    const uint32_t each = s->copies < 4 ? 4 / s->copies : 1; /* temperatures of a quad */
    for (uint64_t half = 0; half < 2 * s->half; half++) {
        const uint64_t row = half % s->half / (s->lx / 2), y = row % s->ly, z = row / s->ly;
        const uint64_t x = 2 * (half % (s->lx / 2)) + ((y + z + half / s->half) & 1);
        const uint64_t site = x + s->lx * row;
        const struct bonds bonds = bonds_of(s, site);
        for (uint32_t quad = 0; quad < s->quads; quad++) {
            bool any = false;
            for (uint32_t t = quad * each; t < quad * each + each && t < s->temperatures; t++)
                any = any || known[t];
            if (any)
                update_quad(s, key, tables, couplings, word, step, site, &bonds, quad, known,
                            spins);
        }
    }
}

/* ---- clusters -------------------------------------------------------------------------------- */

/* Of one sample, from two slots. Sites are in the order of places. */
static void move_cluster(const struct glass_shape *s, struct ergo_words r, uint32_t bit,
                         uint32_t *a, uint32_t *b, uint32_t *queue) {
    const size_t stride = (size_t)4 * s->quads;
    const uint32_t mask = 1u << bit;
    uint32_t differ = 0, size = 1;
    for (uint32_t at = 0; at < s->sites; at++)
        if ((a[at * stride] ^ b[at * stride]) & mask)
            queue[differ++] = at;
    if (!differ)
        return;
    queue[0] = queue[ergo_below(r.x, differ)];
    /* who changes sides differs no longer from what it was: a site is met once, if the first copy
     * is flipped at once, and the second one at the end */
    a[queue[0] * stride] ^= mask;
    for (uint32_t done = 0; done < size; done++) {
        const uint64_t row = queue[done] % s->half / (s->lx / 2), y = row % s->ly, z = row / s->ly;
        const uint64_t colour = queue[done] / s->half;
        const uint64_t x = 2 * (queue[done] % (s->lx / 2)) + ((y + z + colour) & 1);
        for (uint32_t d = 0; d < 2 * s->d; d++) {
            const uint64_t to = glass_place_of(s, neighbour(s, x + s->lx * row, d));
            if ((a[to * stride] ^ b[to * stride]) & mask) {
                a[to * stride] ^= mask;
                queue[size++] = (uint32_t)to;
            }
        }
    }
    for (uint32_t k = 0; k < size; k++)
        b[queue[k] * stride] ^= mask;
}

void glass_twin_clusters(const struct glass_shape *s, const uint32_t key[2], uint32_t word,
                         uint64_t step, const bool *known, uint32_t bits, uint32_t *queue,
                         uint32_t *spins) {
    static const uint32_t copies[3][4] = {{0, 1, 2, 3}, {0, 2, 1, 3}, {0, 3, 1, 2}};
    const uint32_t *pairs = copies[glass_cluster_turn(s, step)], each = s->copies / 2;
    for (uint32_t n = 0; n < s->temperatures * each; n++)
        for (uint32_t bit = 0; bit < 32 && known[n / each]; bit++) {
            if (!(bits >> bit & 1))
                continue;
            const struct ergo_words r =
                draw(32 * word + bit, step, GLASS_PURPOSE_CLUSTER, s->rung * each + n, key);
            uint32_t *of = spins + n / each * s->copies;
            move_cluster(s, r, bit, of + pairs[2 * (n % each)], of + pairs[2 * (n % each) + 1],
                         queue);
        }
}

/* ---- measurements ---------------------------------------------------------------------------- */

/* Counts of 32 samples, a plane of bits each. */
struct counts {
    uint32_t plane[32];
};

static void count(struct counts *c, uint32_t word) {
    for (uint32_t k = 0; word; k++) {
        const uint32_t both = c->plane[k] & word;
        c->plane[k] ^= word;
        word = both;
    }
}

static uint32_t counted(const struct counts *c, uint32_t bit) {
    uint32_t n = 0;
    for (uint32_t k = 0; k < 32; k++)
        n |= (c->plane[k] >> bit & 1) << k;
    return n;
}

/* Slots at a time: neighbours are looked up once for them. */
enum { TOGETHER = 64 };

static uint32_t last_of(const struct glass_shape *s, uint32_t first) {
    return first + TOGETHER < s->slots ? first + TOGETHER : s->slots;
}

void glass_twin_energies(const struct glass_shape *s, const uint32_t *couplings,
                         const uint32_t *spins, const bool *known, int64_t *energies) {
    const size_t stride = (size_t)4 * s->quads, bonds = s->d * (size_t)s->sites;
    memset(energies, 0, stride * 32 * sizeof *energies);
    for (uint32_t first = 0; first < s->slots; first += TOGETHER) {
        struct counts unsatisfied[TOGETHER] = {{{0}}};
        for (size_t bond = 0; bond < bonds; bond++) {
            const uint64_t site = bond % s->sites, axis = bond / s->sites;
            const uint64_t next = neighbour(s, site, 2 * (uint32_t)axis);
            const uint32_t *a = spins + glass_place_of(s, site) * stride;
            const uint32_t *b = spins + glass_place_of(s, next) * stride;
            const int32_t *j = (const int32_t *)couplings + bond * 32;
            for (uint32_t slot = first; slot < last_of(s, first); slot++) {
                const uint32_t differ = a[slot] ^ b[slot];
                if (!known[slot / s->copies])
                    continue;
                if (!s->real)
                    count(&unsatisfied[slot - first], differ ^ couplings[bond]);
                for (uint32_t k = 0; s->real && k < 32; k++)
                    energies[slot * (size_t)32 + k] += differ >> k & 1 ? j[k] : -j[k];
            }
        }
        for (size_t site = 0; site < s->sites && s->field; site++) {
            const uint32_t *at = spins + glass_place_of(s, site) * stride;
            const int32_t *f = (const int32_t *)couplings + (bonds + site) * 32;
            for (uint32_t slot = first; slot < last_of(s, first); slot++)
                for (uint32_t k = 0; known[slot / s->copies] && k < 32; k++)
                    energies[slot * (size_t)32 + k] += at[slot] >> k & 1 ? -f[k] : f[k];
        }
        for (uint32_t slot = first; !s->real && slot < last_of(s, first); slot++)
            for (uint32_t k = 0; k < 32; k++)
                energies[slot * (size_t)32 + k] = counted(&unsatisfied[slot - first], k);
    }
}

/* The pair of copies that has this slot's number, if there is one. */
static bool pair_of(const struct glass_shape *s, uint32_t slot, uint32_t pair[2]) {
    static const uint32_t four[4][2] = {{0, 1}, {2, 3}, {0, 2}, {1, 3}};
    const uint32_t base = slot / s->copies * s->copies, k = slot - base;
    pair[0] = base + four[k][0];
    pair[1] = base + four[k][1];
    return s->copies == 4 || (s->copies == 2 && k == 0);
}

/* Of a layer, to the records of slots first to first + TOGETHER. */
static void add_layer(const struct glass_shape *s, uint32_t n, const uint32_t *spins,
                      const bool *known, uint32_t first, struct glass_record *records) {
    const size_t stride = (size_t)4 * s->quads, layer = (size_t)s->sites / s->layers;
    struct counts up[TOGETHER] = {{{0}}}, unequal[TOGETHER] = {{{0}}};
    int32_t wave[2];
    uint32_t pair[2];
    glass_wave(s, n, wave);
    for (uint64_t site = n * layer; site < (n + 1) * layer; site++) {
        const uint32_t *at = spins + glass_place_of(s, site) * stride;
        for (uint32_t slot = first; slot < last_of(s, first); slot++) {
            if (!known[slot / s->copies])
                continue;
            count(&up[slot - first], at[slot]);
            if (pair_of(s, slot, pair))
                count(&unequal[slot - first], at[pair[0]] ^ at[pair[1]]);
        }
    }
    for (uint32_t slot = first; slot < last_of(s, first); slot++)
        for (uint32_t b = 0; b < 32; b++) {
            struct glass_record *r = &records[slot * (size_t)32 + b];
            const uint32_t m = counted(&unequal[slot - first], b);
            r->up += counted(&up[slot - first], b);
            r->unequal += m;
            r->cosine += (int64_t)wave[0] * m;
            r->sine += (int64_t)wave[1] * m;
        }
}

void glass_twin_records(const struct glass_shape *s, const uint32_t *couplings,
                        const uint32_t *spins, const bool *known, int64_t *energies,
                        struct glass_record *records) {
    glass_twin_energies(s, couplings, spins, known, energies);
    memset(records, 0, (size_t)128 * s->quads * sizeof *records);
    for (size_t i = 0; i < (size_t)32 * s->slots; i++)
        records[i].energy = energies[i];
    for (uint32_t first = 0; first < s->slots; first += TOGETHER)
        for (uint32_t n = 0; n < s->layers; n++)
            add_layer(s, n, spins, known, first, records);
}

/* ---- exchanges ------------------------------------------------------------------------------- */

uint32_t glass_twin_decide(const struct glass_shape *s, const uint32_t key[2], float slope,
                           const int64_t *cold, const int64_t *hot, uint32_t word, uint64_t step,
                           uint32_t t, uint32_t copy) {
    uint32_t mask = 0;
    const uint32_t draws = ERGO_DRAW(GLASS_PURPOSE_SWAP, t * s->copies + copy);
    for (uint32_t bit = 0; bit < 32; bit++)
        mask |= ergo_ladder_decides(hot[bit] - cold[bit], slope, 32 * word + bit, step, draws,
                                    key[0], key[1])
                << bit;
    return mask & glass_lanes(s, word);
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
                     bool *known, uint32_t *spins, uint32_t *from_hot, uint64_t *moved) {
    const size_t stride = (size_t)4 * s->quads;
    for (uint32_t t = ergo_ladder_own_parity(s->rung, parity); t + 1 < s->temperatures; t += 2) {
        known[t] = known[t + 1] = known[t] && known[t + 1];
        for (uint32_t copy = 0; known[t] && copy < s->copies; copy++) {
            const uint32_t a = t * s->copies + copy, b = a + s->copies;
            const uint32_t mask =
                glass_twin_decide(s, key, slopes[t], energies + (size_t)a * 32,
                                  energies + (size_t)b * 32, word, step, s->rung + t, copy);
            for (size_t i = 0; i < s->sites; i++) {
                const uint32_t move = (spins[i * stride + a] ^ spins[i * stride + b]) & mask;
                spins[i * stride + a] ^= move;
                spins[i * stride + b] ^= move;
            }
            const uint32_t arrived = ergo_ladder_walk(&from_hot[a], &from_hot[b], mask,
                                                      glass_lanes(s, word), s->rung + t, s->rungs);
            glass_twin_moved(s, a, mask, arrived, moved);
        }
    }
}
