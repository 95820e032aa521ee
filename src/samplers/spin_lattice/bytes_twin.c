/*
 * The chain in serial C, and its counts: site by site in natural order, from the layout, the random
 * numbers and the tables that cl/spin_lattice/bytes.h describes. It uses none of the kernels'
 * functions but spin_limit, the largest energy at which a flip in a general field is accepted.
 */
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/parallel.h"
#include "common/rng.h"
#include "samplers/spin_lattice/bytes.h"
#include "spin_lattice/limit.h"

static size_t site_of(const struct bytes_shape *s, uint64_t x, uint64_t y, uint64_t z) {
    return x % s->l[0] + s->l[0] * (y % s->l[1] + (size_t)s->l[1] * (z % s->l[2]));
}

/* A row's number in the whole lattice. */
static uint64_t whole_row(const struct bytes_shape *s, uint64_t row) {
    return (row + s->first_row) % s->all_rows;
}

/* Four random words for an entity. */
static void draw(const uint32_t key[2], uint64_t entity, uint64_t step, uint32_t purpose,
                 uint32_t colour, uint32_t out[4]) {
    const struct ergo_words r =
        ergo_philox_words((uint32_t)entity, (uint32_t)step, (uint32_t)(step >> 32),
                          ERGO_DRAW(purpose, colour), key[0], key[1]);
    out[0] = r.x, out[1] = r.y, out[2] = r.z, out[3] = r.w;
}

/* ---- the start ------------------------------------------------------------------------------- */

/* Draw the sites of a row: the start, or the signs of fields. Four sites of a colour share a
 * draw. */
static void draw_row(const struct bytes_shape *s, const uint32_t key[2], size_t row,
                     uint32_t purpose, uint8_t *sites) {
    const uint64_t half = s->l[0] / 2, quads = (half + 3) / 4;
    for (uint64_t k = 0; k < 2 * quads; k++) {
        const uint32_t colour = k & 1;
        const size_t offset = (row % s->l[1] + row / s->l[1] + colour) & 1;
        uint32_t words[4];
        draw(key, whole_row(s, row) * quads + k / 2, 0, purpose, colour, words);
        for (uint64_t h = k / 2 * 4, l = 0; l < 4 && h + l < half; l++) {
            uint8_t *site = &sites[2 * (h + l) + offset];
            if (purpose == BYTES_PURPOSE_FIELD)
                *site |= (uint8_t)(words[l] >> 31 << 1);
            else if (s->kind == BYTES_ISING)
                *site = (uint8_t)(words[l] >> 31);
            else
                *site = (uint8_t)((uint64_t)words[l] * s->q >> 32);
        }
    }
}

void bytes_twin_field_row(const struct bytes_shape *s, const struct bytes_member *member,
                          size_t row, uint8_t *sites) {
    const uint32_t key[2] = {member->field0, member->field1};
    draw_row(s, key, row, BYTES_PURPOSE_FIELD, sites);
}

void bytes_twin_fields(const struct bytes_shape *s, const struct bytes_member *member,
                       uint8_t *sites) {
    for (size_t row = 0; row < (size_t)s->l[1] * s->l[2]; row++)
        bytes_twin_field_row(s, member, row, sites + row * s->l[0]);
}

void bytes_twin_start_row(const struct bytes_shape *s, const struct bytes_member *member,
                          const char *start, size_t row, uint8_t *sites) {
    const uint32_t key[2] = {member->key0, member->key1};
    const bool ising = s->kind == BYTES_ISING, up = strcmp(start, "up") == 0;
    memset(sites, (int)(ising ? up : up ? 0 : s->q - 1), s->l[0]);
    if (strcmp(start, "random") == 0)
        draw_row(s, key, row, BYTES_PURPOSE_START, sites);
}

/* ---- a sweep --------------------------------------------------------------------------------- */

struct around {
    size_t site[6]; /* west, east, north, south, above, below */
};

static struct around around(const struct bytes_shape *s, uint64_t x, uint64_t y, uint64_t z) {
    return (struct around){{site_of(s, x + s->l[0] - 1, y, z), site_of(s, x + 1, y, z),
                            site_of(s, x, y + s->l[1] - 1, z), site_of(s, x, y + 1, z),
                            site_of(s, x, y, z + s->l[2] - 1), site_of(s, x, y, z + 1)}};
}

/* Does an Ising spin flip? By the table for its neighbours, spin and field. */
static bool ising_flips(const struct bytes_shape *s, const struct bytes_member *member,
                        const uint8_t *sites, size_t at, struct around n, uint32_t random) {
    static const uint32_t weight[3] = {1, 3, 9};
    uint32_t index = 27 * (sites[at] & 1u) + 54 * (sites[at] >> 1 & 1u);
    for (uint32_t k = 0; k < 2 * s->d; k++)
        index += weight[k / 2] * (sites[n.site[k]] & 1u);
    return random < member->table[index];
}

/* The same with general fields and couplings, by the cost of the flip. */
static bool general_flips(const struct bytes_shape *s, const struct bytes_member *member,
                          const struct bytes_disorder *d, const uint8_t *sites, size_t at,
                          struct around n, uint32_t random) {
    int64_t force = d->fields[at];
    for (uint32_t k = 0; k < 2 * s->d; k++) {
        /* the coupling to the neighbour before is stored at that neighbour */
        const size_t bond = k / 2 * s->sites + (k % 2 ? at : n.site[k]);
        const int64_t j = d->bonds ? d->bonds[bond] : d->j[k / 2];
        force += sites[n.site[k]] & 1 ? j : -j;
    }
    return (sites[at] & 1 ? force : -force) < spin_limit(random, member->scale, s->heat_bath);
}

/* Metropolis of Potts and Blume-Capel: propose another state at random. Returns the new state. */
static uint8_t other_state(const struct bytes_shape *s, const struct bytes_member *member,
                           const uint8_t *sites, size_t at, struct around n, uint32_t random) {
    static const int weight[3] = {1, 5, 25};
    const uint64_t product = (uint64_t)random * (s->q - 1);
    const uint32_t state = sites[at], other = (state + 1 + (uint32_t)(product >> 32)) % s->q;
    const bool capel = s->kind == BYTES_BLUME_CAPEL;
    int index = capel ? (int)(39 * state + 13 * other) : 62;
    for (uint32_t k = 0; k < 2 * s->d; k++)
        index += capel
                     ? sites[n.site[k]]
                     : weight[k / 2] * ((sites[n.site[k]] == state) - (sites[n.site[k]] == other));
    return (uint8_t)((uint32_t)product < member->table[index] ? other : state);
}

/* -energy of a state at a site: in its fields, and with its bonds; of blume-capel also in the
 * crystal field. */
static int64_t general_gain(const struct bytes_shape *s, const struct bytes_disorder *d,
                            const uint8_t *sites, size_t at, struct around n, int32_t state) {
    const bool capel = s->kind == BYTES_BLUME_CAPEL;
    const int32_t spin = 1 - state; /* of blume-capel */
    int64_t gain = capel       ? (int64_t)spin * d->fields[at] - (int64_t)spin * spin * d->crystal
                   : s->fields ? d->fields[(size_t)state * s->sites + at]
                               : 0;
    gain += !capel && state == 0 ? d->field : 0;
    for (uint32_t k = 0; k < 2 * s->d; k++) {
        const int64_t j =
            d->bonds ? d->bonds[k / 2 * s->sites + (k % 2 ? at : n.site[k])] : d->j[k / 2];
        gain += j * (capel ? spin * (1 - sites[n.site[k]]) : sites[n.site[k]] == state);
    }
    return gain;
}

/* Metropolis of Potts and Blume-Capel with general terms. Returns the new state. */
static uint8_t general_state(const struct bytes_shape *s, const struct bytes_member *member,
                             const struct bytes_disorder *d, const uint8_t *sites, size_t at,
                             struct around n, uint32_t random) {
    const uint64_t product = (uint64_t)random * (s->q - 1);
    const int32_t q = (int32_t)s->q, state = sites[at];
    const int32_t other = (state + 1 + (int32_t)(product >> 32)) % q;
    const int64_t cost = general_gain(s, d, sites, at, n, state < q ? state : 0) -
                         general_gain(s, d, sites, at, n, other);
    return (uint8_t)(cost < spin_limit((uint32_t)product, member->scale, 0) ? other : state);
}

/* Heat bath of Potts: choose a state by its weight, first among the states of the neighbours in
 * their order, then among the others. */
static uint8_t potts_heat(const struct bytes_shape *s, const struct bytes_member *member,
                          const uint8_t *sites, struct around n, const uint32_t random[4]) {
    static const uint32_t weight_of[3] = {1, 3, 9};
    uint64_t weight[256] = {0}, total = 0;
    uint8_t order[6];
    uint32_t distinct = 0;
    for (uint32_t k = 0; k < 2 * s->d; k++) {
        const uint8_t state = sites[n.site[k]];
        uint32_t index = 0;
        if (weight[state])
            continue;
        for (uint32_t i = 0; i < 2 * s->d; i++)
            index += sites[n.site[i]] == state ? weight_of[i / 2] : 0;
        weight[state] = (uint64_t)member->table[index] << 32 | member->low[index];
        total += weight[state];
        order[distinct++] = state;
    }
    total += (s->q - distinct) * ((uint64_t)member->table[0] << 32 | member->low[0]);
    /* target: the upper 64 bits of total times a random number of 64 bits */
    const uint64_t high = total >> 32, low = total & 0xffffffffu;
    const uint64_t carry = (low * random[1] >> 32) + (low * random[0] & 0xffffffffu) +
                           (high * random[1] & 0xffffffffu);
    uint64_t target =
        high * random[0] + (low * random[0] >> 32) + (high * random[1] >> 32) + (carry >> 32);
    for (uint32_t k = 0; k < distinct; k++) {
        if (target < weight[order[k]])
            return order[k];
        target -= weight[order[k]];
    }
    uint64_t left = (uint64_t)random[2] * (s->q - distinct) >> 32;
    for (uint32_t state = 0; state < s->q; state++)
        if (!weight[state] && left-- == 0)
            return (uint8_t)state;
    return 0; /* not reached */
}

void bytes_twin_box(const struct bytes_shape *s, const struct bytes_member *member,
                    const struct bytes_disorder *d, uint64_t step, uint64_t sweeps,
                    const struct bytes_box *box, uint8_t *sites) {
    const uint32_t key[2] = {member->key0, member->key1};
    const uint64_t half = s->l[0] / 2;
    for (uint64_t h = 0; h < 2 * sweeps; h++) {
        const uint32_t colour = (uint32_t)(h & 1);
        uint64_t first[3], count[3];
        for (int k = 0; k < 3; k++) { /* with the neighbours that later half sweeps need */
            const uint64_t margin = 2 * sweeps - 1 - h, l = s->l[k];
            const bool all = box->count[k] + 2 * margin >= l;
            first[k] = all ? 0 : (box->first[k] + l - margin) % l;
            count[k] = all ? l : box->count[k] + 2 * margin;
        }
        for (uint64_t k = 0; k < count[1] * count[2]; k++) {
            const uint64_t y = (first[1] + k % count[1]) % s->l[1];
            const uint64_t z = (first[2] + k / count[1]) % s->l[2];
            const uint64_t row = whole_row(s, y + s->l[1] * z);
            uint64_t drawn = UINT64_MAX; /* the entity that `words` belong to */
            uint32_t words[4] = {0, 0, 0, 0};
            for (uint64_t i = (first[0] + y + z + colour) & 1; i < count[0]; i += 2) {
                const uint64_t x = first[0] + i < s->l[0] ? first[0] + i : first[0] + i - s->l[0];
                const bool heat = s->kind == BYTES_POTTS_HEAT;
                const uint64_t entity = heat ? row * half + x / 2 : row * ((half + 3) / 4) + x / 8;
                const size_t at = site_of(s, x, y, z);
                const struct around n = around(s, x, y, z);
                if (entity != drawn)
                    draw(key, entity, step + h / 2, BYTES_PURPOSE_SWEEP, colour, words);
                drawn = entity;
                const uint32_t random = words[x / 2 % 4];
                if (heat)
                    sites[at] = potts_heat(s, member, sites, n, words);
                else if (s->kind != BYTES_ISING)
                    sites[at] = d ? general_state(s, member, d, sites, at, n, random)
                                  : other_state(s, member, sites, at, n, random);
                else
                    sites[at] ^= d ? general_flips(s, member, d, sites, at, n, random)
                                   : ising_flips(s, member, sites, at, n, random);
            }
        }
    }
}

void bytes_twin_sweep(const struct bytes_shape *shape, const struct bytes_member *member,
                      const struct bytes_disorder *d, uint64_t step, uint8_t *sites) {
    const struct bytes_box whole = {{0, 0, 0}, {shape->l[0], shape->l[1], shape->l[2]}};
    bytes_twin_box(shape, member, d, step, 1, &whole, sites);
}

/* ---- counts ---------------------------------------------------------------------------------- */

#define ONES UINT64_C(0x0101010101010101)

/* Number of bytes that are equal in a and b under the mask, eight at a time. */
static uint64_t equal_bytes(const uint8_t *a, const uint8_t *b, size_t n, uint8_t mask) {
    const uint64_t low = 0x7f * ONES;
    uint64_t equal = 0;
    size_t i = 0;
    for (; i + 8 <= n; i += 8) {
        uint64_t u, v;
        memcpy(&u, a + i, 8);
        memcpy(&v, b + i, 8);
        const uint64_t x = (u ^ v) & mask * ONES;
        equal += (~(((x & low) + low) | x) >> 7 & ONES) * ONES >> 56;
    }
    for (; i < n; i++)
        equal += ((a[i] ^ b[i]) & mask) == 0;
    return equal;
}

static uint8_t mask_of(const struct bytes_shape *s) {
    return s->kind == BYTES_ISING ? 1 : 255;
}

/* Number of equal pairs among n; blume-capel: the sum of s s', where bytes are 1 - s. */
static uint32_t pairs_of(const struct bytes_shape *s, const uint8_t *a, const uint8_t *b,
                         size_t n) {
    int64_t sum = 0;
    if (s->kind != BYTES_BLUME_CAPEL)
        return (uint32_t)equal_bytes(a, b, n, mask_of(s));
    for (size_t i = 0; i < n; i++)
        sum += (1 - a[i]) * (1 - b[i]);
    return (uint32_t)sum;
}

/* Is the sign of the site -1? Signs alternate along the directions with a negative coupling. */
static bool is_odd(const struct bytes_member *member, uint64_t x, uint64_t y, uint64_t z) {
    const uint32_t axes = member->staggered;
    return ((axes & 1 ? x : 0) + (axes & 2 ? y : 0) + (axes & 4 ? z : 0)) & 1;
}

/* Sum over a row of potts or blume-capel: of the states' fields and, with general couplings, of J
 * (delta - 1) or of J s s'. */
static int64_t sum_row_of_states(const struct bytes_shape *s, const struct bytes_disorder *d,
                                 size_t row, const uint8_t *sites) {
    const size_t first = row * s->l[0], y = row % s->l[1], z = row / s->l[1];
    const bool capel = s->kind == BYTES_BLUME_CAPEL;
    int64_t sum = 0;
    for (uint32_t x = 0; x < s->l[0]; x++) {
        const int64_t state = sites[first + x] < s->q ? sites[first + x] : 0;
        const size_t next[3] = {site_of(s, x + 1, y, z), site_of(s, x, y + 1, z),
                                site_of(s, x, y, z + 1)};
        sum += capel       ? (1 - state) * d->fields[first + x]
               : s->fields ? d->fields[(size_t)state * s->sites + first + x]
                           : 0;
        sum += !capel && state == 0 ? d->field : 0;
        for (uint32_t k = 0; k < s->d && k < 3 && d->bonds; k++)
            sum += (int64_t)d->bonds[k * s->sites + first + x] *
                   (capel ? (1 - state) * (1 - sites[next[k]]) : (sites[next[k]] == state) - 1);
    }
    return sum;
}

/* Sum of s B and, with general couplings, of J s s' over a row. */
static int64_t sum_row(const struct bytes_shape *s, const struct bytes_disorder *d, size_t row,
                       const uint8_t *sites) {
    const size_t first = row * s->l[0], y = row % s->l[1], z = row / s->l[1];
    int64_t sum = 0;
    for (uint32_t x = 0; x < s->l[0]; x++) {
        const bool up = sites[first + x] & 1;
        sum += up ? d->fields[first + x] : -d->fields[first + x];
        const size_t next[3] = {site_of(s, x + 1, y, z), site_of(s, x, y + 1, z),
                                site_of(s, x, y, z + 1)};
        for (uint32_t k = 0; k < s->d && k < 3 && d->bonds; k++) {
            const int32_t j = d->bonds[k * s->sites + first + x];
            sum += (sites[next[k]] & 1) == up ? j : -j;
        }
    }
    return sum;
}

enum {
    MOST_COUNTS = 3 + 256 + 1, /* of a sample, without the sum of general fields */
    WORTHWHILE = 1 << 20       /* sites that are worth another core */
};

struct counting {
    const struct bytes_shape *s;
    const struct bytes_member *member;
    const struct bytes_disorder *d;
    const uint8_t *sites;
    uint32_t *counts; /* sums of integers, in any order; and the lock for them */
    int64_t sum;
    pthread_mutex_t lock;
};

static void count_rows(size_t begin, size_t end, void *user) {
    struct counting *all = user;
    const struct bytes_shape *s = all->s;
    uint32_t counts[MOST_COUNTS] = {0};
    int64_t sum = 0;
    for (size_t row = begin; row < end; row++) {
        const size_t y = row % s->l[1], z = row / s->l[1], lx = s->l[0];
        const uint8_t *here = all->sites + row * lx;
        counts[0] += pairs_of(s, here, here + 1, lx - 1) + pairs_of(s, here + lx - 1, here, 1);
        if (s->d > 1)
            counts[1] += pairs_of(s, here, all->sites + site_of(s, 0, y + 1, z), lx);
        if (s->d > 2)
            counts[2] += pairs_of(s, here, all->sites + site_of(s, 0, y, z + 1), lx);
        uint32_t up[2] = {0, 0}; /* at even and at odd x */
        for (size_t x = 0; x < lx; x++) {
            counts[3 + (here[x] < s->states ? here[x] : 0)]++; /* is_sound finds other states */
            up[x & 1] += here[x] & 1u;
        }
        if (s->kind == BYTES_ISING)
            counts[3 + s->states] += (is_odd(all->member, 0, y, z) ? 0 : up[0]) +
                                     (is_odd(all->member, 1, y, z) ? 0 : up[1]);
        if (all->d)
            sum += s->kind == BYTES_ISING ? sum_row(s, all->d, row, all->sites)
                                          : sum_row_of_states(s, all->d, row, all->sites);
    }
    pthread_mutex_lock(&all->lock);
    for (uint32_t k = 0; k < s->counts; k++)
        all->counts[k] += counts[k];
    all->sum += sum;
    pthread_mutex_unlock(&all->lock);
}

static void keep_sum(const struct counting *all) {
    uint32_t *to = all->counts + all->s->counts;
    if (!all->d)
        return;
    to[0] = (uint32_t)(uint64_t)all->sum;
    to[1] = (uint32_t)((uint64_t)all->sum >> 32);
}

void bytes_twin_count_rows(const struct bytes_shape *s, const struct bytes_member *member,
                           const struct bytes_disorder *d, const uint8_t *sites, size_t begin,
                           size_t end, uint32_t *counts) {
    struct counting all = {.s = s,
                           .member = member,
                           .d = d,
                           .sites = sites,
                           .counts = counts,
                           .lock = PTHREAD_MUTEX_INITIALIZER};
    memset(counts, 0, s->numbers * sizeof *counts);
    count_rows(begin, end, &all);
    keep_sum(&all);
}

void bytes_twin_count(const struct bytes_shape *s, const struct bytes_member *member,
                      const struct bytes_disorder *d, const uint8_t *sites, uint32_t *counts) {
    struct counting all = {.s = s,
                           .member = member,
                           .d = d,
                           .sites = sites,
                           .counts = counts,
                           .lock = PTHREAD_MUTEX_INITIALIZER};
    memset(counts, 0, s->numbers * sizeof *counts);
    ergo_parallel_ranges((size_t)s->l[1] * s->l[2], WORTHWHILE / s->l[0] + 1, count_rows, &all);
    keep_sum(&all);
}

bool bytes_twin_pairs(const struct bytes_shape *s, const uint8_t *sites, size_t begin, size_t end,
                      uint32_t reach, uint32_t first, uint32_t stride, uint32_t *counts) {
    const uint8_t mask = mask_of(s);
    const size_t lx = s->l[0];
    uint8_t *twice = malloc(2 * lx); /* a row, twice in succession */
    const bool memory = twice != NULL;
    memset(counts, 0, s->d * reach * sizeof *counts);
    for (size_t row = begin; row < end && memory; row++) {
        const size_t y = row % s->l[1], z = row / s->l[1];
        const uint8_t *here = sites + row * lx;
        memcpy(twice, here, lx);
        memcpy(twice + lx, here, lx);
        for (uint32_t r = first; r <= reach; r += stride)
            for (uint32_t k = 0; k < s->d; k++) {
                const uint8_t *other = k == 0   ? twice + r
                                       : k == 1 ? sites + site_of(s, 0, y + r, z)
                                                : sites + site_of(s, 0, y, z + r);
                counts[k * reach + r - 1] += (uint32_t)equal_bytes(here, other, lx, mask);
            }
    }
    free(twice);
    return memory;
}

void bytes_twin_planes(const struct bytes_shape *s, const struct bytes_member *member,
                       const uint8_t *sites, uint32_t *counts) {
    const size_t length = s->l[s->d - 1], of_plane = s->sites / length;
    memset(counts, 0, length * s->q * sizeof *counts);
    for (size_t i = 0; i < s->sites; i++) {
        const size_t x = i % s->l[0], row = i / s->l[0];
        const uint8_t state = sites[i] & mask_of(s);
        const bool odd = member->staggered && is_odd(member, x, row % s->l[1], row / s->l[1]);
        counts[i / of_plane * s->q + (state < s->q ? state : 0)] += odd ? 0xffffffffu : 1u;
    }
}
