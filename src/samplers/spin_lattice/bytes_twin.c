/* The host's twin of the kernels: cl/spin_lattice/bytes.h compiled as C, on sites in natural order.
 * Counting is the host's own. */
#include <stddef.h>
#include <string.h>

#include "samplers/spin_lattice/bytes.h"

/* The kernels take their shape from macros; here the macros read this. */
static _Thread_local struct bytes_shape twin;

#define BYTES_D twin.d
#define BYTES_LX twin.l[0]
#define BYTES_LY twin.l[1]
#define BYTES_LZ twin.l[2]
#define BYTES_Q twin.q
#define BYTES_MODEL ((int)twin.kind)
#define BYTES_FIELDS 1
#include "spin_lattice/bytes.h"

static size_t site_of(const struct bytes_shape *s, uint64_t x, uint64_t y, uint64_t z) {
    return x % s->l[0] + s->l[0] * (y % s->l[1] + (size_t)s->l[1] * (z % s->l[2]));
}

void bytes_twin_fields(const struct bytes_shape *shape, const struct bytes_member *member,
                       uint8_t *sites) {
    twin = *shape;
    for (uint32_t row = 0; row < BYTES_ROWS; row++)
        for (uint32_t quad = 0; quad < 2 * BYTES_QUADS; quad++) {
            const uint32_t colour = quad & 1, y = row % shape->l[1], z = row / shape->l[1];
            const struct ergo_words r = ergo_philox_words(row * BYTES_QUADS + quad / 2, 0, 0,
                                                          ERGO_DRAW(BYTES_PURPOSE_FIELD, colour),
                                                          member->field0, member->field1);
            const uint32_t words[4] = {r.x, r.y, r.z, r.w};
            uint8_t *of_row = sites + (size_t)row * shape->l[0];
            for (uint32_t h = quad / 2 * 4, l = 0; l < 4 && h + l < BYTES_HALF; l++)
                of_row[2 * (h + l) + ((y + z + colour) & 1)] |= (uint8_t)(words[l] >> 31 << 1);
        }
}

/* New byte of a site. */
static uint32_t general(const struct bytes_shape *s, const struct bytes_member *member,
                        const struct bytes_disorder *d, struct bytes_around n, uint32_t random,
                        uint64_t x, uint64_t y, uint64_t z, uint32_t own) {
    const size_t site = site_of(s, x, y, z);
    struct bytes_terms t = {.field = d->fields[site],
                            .west = d->j[0],
                            .east = d->j[0],
                            .north = d->j[1],
                            .south = d->j[1],
                            .above = d->j[2],
                            .below = d->j[2]};
    if (d->bonds) {
        t.west = d->bonds[site_of(s, x + s->l[0] - 1, y, z)];
        t.east = d->bonds[site];
        t.north = s->d > 1 ? d->bonds[s->sites + site_of(s, x, y + s->l[1] - 1, z)] : 0;
        t.south = s->d > 1 ? d->bonds[s->sites + site] : 0;
        t.above = s->d > 2 ? d->bonds[2 * s->sites + site_of(s, x, y, z + s->l[2] - 1)] : 0;
        t.below = s->d > 2 ? d->bonds[2 * s->sites + site] : 0;
    }
    return own ^
           BYTES_BELOW(bytes_half_cost(own, n, t), spin_limit(random, member->scale, s->heat_bath));
}

void bytes_twin_sweep(const struct bytes_shape *shape, const struct bytes_member *member,
                      const struct bytes_disorder *d, uint64_t step, uint8_t *sites) {
    const uint32_t lx = shape->l[0], ly = shape->l[1], lz = shape->l[2];
    twin = *shape;
    for (uint32_t colour = 0; colour < 2; colour++)
        for (uint32_t row = 0; row < BYTES_ROWS; row++)
            for (uint32_t h = 0; h < BYTES_HALF; h++) {
                const uint32_t y = row % ly, z = row / ly, x = 2 * h + ((y + z + colour) & 1);
                const struct bytes_around n = {.west = sites[site_of(shape, x + lx - 1, y, z)],
                                               .east = sites[site_of(shape, x + 1, y, z)],
                                               .north = sites[site_of(shape, x, y + ly - 1, z)],
                                               .south = sites[site_of(shape, x, y + 1, z)],
                                               .above = sites[site_of(shape, x, y, z + lz - 1)],
                                               .below = sites[site_of(shape, x, y, z + 1)]};
                uint8_t *own = &sites[site_of(shape, x, y, z)];
                const bool heat = shape->kind == BYTES_POTTS_HEAT;
                struct ergo_words r = ergo_philox_words(
                    heat ? row * BYTES_HALF + h : row * BYTES_QUADS + h / 4, (uint32_t)step,
                    (uint32_t)(step >> 32), ERGO_DRAW(BYTES_PURPOSE_SWEEP, colour), member->key0,
                    member->key1);
                if (heat) {
                    *own = (uint8_t)bytes_heat_bath(n, 0, r, member->table, member->low);
                } else { /* the first of the four that share the random words */
                    const uint32_t words[4] = {r.x, r.y, r.z, r.w};
                    r.x = words[h % 4];
                    *own = (uint8_t)(d ? general(shape, member, d, n, r.x, x, y, z, *own)
                                       : bytes_update(*own, n, r, member->table));
                }
            }
}

void bytes_twin_count(const struct bytes_shape *shape, const struct bytes_member *member,
                      const struct bytes_disorder *d, const uint8_t *sites, uint32_t *counts) {
    int64_t sum = 0;
    memset(counts, 0, shape->numbers * sizeof *counts);
    for (uint64_t i = 0; i < shape->sites && d; i++)
        sum += sites[i] & 1 ? d->fields[i] : -d->fields[i];
    const uint8_t mask = shape->kind == BYTES_ISING ? 1 : 255;
    for (uint64_t z = 0; z < shape->l[2]; z++)
        for (uint64_t y = 0; y < shape->l[1]; y++) {
            const uint8_t *own = sites + site_of(shape, 0, y, z);
            const uint8_t *next[3] = {own, sites + site_of(shape, 0, y + 1, z),
                                      sites + site_of(shape, 0, y, z + 1)};
            for (uint32_t x = 0; x < shape->l[0]; x++) {
                const uint32_t right = x + 1 == shape->l[0] ? 0 : x + 1;
                for (uint32_t k = 0; k < shape->d && k < 3; k++) {
                    const bool equal = ((own[x] ^ next[k][k == 0 ? right : x]) & mask) == 0;
                    counts[k] += equal;
                    if (d && d->bonds) {
                        const int32_t j = d->bonds[k * shape->sites + site_of(shape, x, y, z)];
                        sum += equal ? j : -j;
                    }
                }
                counts[3 + own[x]]++;
                const uint32_t at[3] = {x, (uint32_t)y, (uint32_t)z};
                uint32_t turns = 0;
                for (uint32_t k = 0; k < 3; k++)
                    turns += member->staggered >> k & 1 ? at[k] : 0;
                if (shape->kind == BYTES_ISING)
                    counts[3 + shape->states] += own[x] & 1 & ~turns;
            }
        }
    if (d) {
        counts[shape->counts] = (uint32_t)(uint64_t)sum;
        counts[shape->counts + 1] = (uint32_t)((uint64_t)sum >> 32);
    }
}
