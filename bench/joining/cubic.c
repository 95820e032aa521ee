/* Critical configurations on a simple cubic lattice, in slabs of layers: see critical.h. */
#include <stdlib.h>
#include <string.h>

#include "critical.h"

enum { SMALL = 8, FIRST = 100 };

/* 1 - exp(-2 K_c), K_c = 0.221654626 (A. M. Ferrenberg, J. Xu, D. P. Landau, Phys. Rev. E 97,
 * 043301 (2018)). */
static const double probability = 0.3580912;

struct cubic {
    uint64_t seed, sweep, key;
    uint32_t side, layers, slabs; /* layers: of a slab */
    uint8_t *spins, *next;
};

struct scratch {
    uint32_t *roots, *parts; /* of a slab's sites */
};

static size_t layer_of(const struct cubic *q) {
    return (size_t)q->side * q->side;
}

static size_t slab_of(const struct cubic *q) {
    return layer_of(q) * q->layers;
}

/* Bonds of a site to the next in three directions, by bits, where spins are equal. */
static unsigned draw(const struct cubic *q, uint64_t site) {
    const uint64_t random = critical_mix(q->key ^ site * UINT64_C(0xd1342543de82ef95));
    const uint32_t limit = (uint32_t)(probability * (1u << 21));
    unsigned bonds = 0;
    for (unsigned d = 0; d < 3; d++)
        bonds |= (random >> 21 * d & 0x1fffff) < limit ? 1u << d : 0;
    return bonds;
}

static void unite(uint32_t *roots, uint32_t a, uint32_t b) {
    a = critical_root(roots, a);
    b = critical_root(roots, b);
    roots[a > b ? a : b] = a > b ? b : a;
}

/* Clusters inside a slab; adds equal neighbours. */
static void label(const struct cubic *q, size_t slab, struct scratch *s, uint64_t *equal) {
    const uint32_t l = q->side, n = (uint32_t)slab_of(q), layer = (uint32_t)layer_of(q);
    const size_t first = slab * n, all = q->slabs * (size_t)n;
    for (uint32_t i = 0; i < n; i++)
        s->roots[i] = i;
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t x = i % l, y = i / l % l;
        const uint32_t right = x + 1 < l ? i + 1 : i + 1 - l;
        const uint32_t below = y + 1 < l ? i + l : i + l - layer;
        const uint8_t spin = q->spins[first + i];
        const unsigned bonds = draw(q, first + i);
        const bool behind = spin == q->spins[(first + i + layer) % all];
        *equal += (uint64_t)(spin == q->spins[first + right]) +
                  (uint64_t)(spin == q->spins[first + below]) + (uint64_t)behind;
        if ((bonds & 1u) && spin == q->spins[first + right])
            unite(s->roots, i, right);
        if ((bonds & 2u) && spin == q->spins[first + below])
            unite(s->roots, i, below);
        if ((bonds & 4u) && behind && i + layer < n)
            unite(s->roots, i, i + layer);
    }
    for (uint32_t i = 0; i < n; i++)
        s->roots[i] = s->roots[s->roots[i]];
}

/* Site k of a side; does a bond lead out? */
static bool leads_out(const struct cubic *q, size_t slab, int side, uint32_t k, uint32_t *site) {
    const size_t layer = layer_of(q), n = slab_of(q), all = n * q->slabs;
    *site = side == BELOW ? (uint32_t)(n - layer) + k : k;
    const size_t own = slab * n + *site, across = side == BELOW ? layer : all - layer;
    const size_t other = (own + across) % all;
    return q->spins[own] == q->spins[other] && draw(q, side == BELOW ? own : other) & 4u;
}

static void number_parts(const struct cubic *q, size_t slab, struct scratch *s, struct block *b) {
    const uint32_t layer = (uint32_t)layer_of(q), n = (uint32_t)slab_of(q);
    uint32_t site, parts = 0;
    memset(s->parts, 0xff, n * sizeof *s->parts);
    for (int side = BELOW; side <= ABOVE; side++) {
        b->at[side] = critical_get(layer * sizeof *b->at[side]);
        for (uint32_t k = 0; k < layer; k++) {
            b->at[side][k] = NO_PART;
            if (!leads_out(q, slab, side, k, &site))
                continue;
            uint32_t *part = &s->parts[s->roots[site]];
            *part = *part == NO_PART ? parts++ : *part;
            b->at[side][k] = *part;
        }
    }
    b->n_parts = parts;
    b->names = critical_get(parts * sizeof *b->names);
    b->sizes = critical_get(parts * sizeof *b->sizes);
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t part = s->parts[s->roots[i]];
        if (part == NO_PART)
            continue;
        b->sizes[part]++;
        if (s->roots[i] == i)
            b->names[part] = (uint64_t)slab * n + i;
    }
}

/* Bonds of a sweep, parts, the union-find of the whole. */
static void find_clusters(struct critical *c, struct cubic *q, struct scratch *s) {
    uint64_t equal = 0;
    q->key = critical_mix(q->seed ^ critical_mix(q->sweep));
    c->n_blocks = q->slabs;
    c->blocks = 1;
    c->sides = 2;
    c->of_side = (uint32_t)layer_of(q);
    c->sites = (double)slab_of(q) * q->slabs;
    c->block = critical_get(c->n_blocks * sizeof *c->block);
    c->first = critical_get((c->n_blocks + 1) * sizeof *c->first);
    for (size_t k = 0; k < c->n_blocks; k++) {
        label(q, k, s, &equal);
        number_parts(q, k, s, &c->block[k]);
        c->first[k + 1] = c->first[k] + c->block[k].n_parts;
    }
    c->equal = (double)equal / (3 * c->sites);
    critical_join(c);
}

static void flip(const struct critical *c, struct cubic *q, struct scratch *s) {
    const size_t n = slab_of(q);
    const uint64_t key = critical_mix(q->key);
    uint64_t unused = 0;
    uint32_t site;
    for (size_t k = 0; k < q->slabs; k++) {
        label(q, k, s, &unused);
        memset(s->parts, 0xff, n * sizeof *s->parts);
        for (int side = BELOW; side <= ABOVE; side++)
            for (uint32_t i = 0; i < c->of_side; i++)
                if (leads_out(q, k, side, i, &site))
                    s->parts[s->roots[site]] = c->block[k].at[side][i];
        for (size_t i = 0; i < n; i++) {
            const uint32_t part = s->parts[s->roots[i]];
            const uint64_t name =
                part == NO_PART ? k * n + s->roots[i] : c->whole[c->first[k] + part];
            q->next[k * n + i] = critical_mix(key ^ name) >> 40 & 1;
        }
    }
    uint8_t *spins = q->spins;
    q->spins = q->next;
    q->next = spins;
    q->sweep++;
}

static void make_room(struct cubic *q, struct scratch *s) {
    q->spins = critical_get(slab_of(q) * q->slabs);
    q->next = critical_get(slab_of(q) * q->slabs);
    s->roots = critical_get(slab_of(q) * sizeof *s->roots);
    s->parts = critical_get(slab_of(q) * sizeof *s->parts);
}

static void free_room(struct cubic *q, struct scratch *s) {
    free(q->spins);
    free(q->next);
    free(s->roots);
    free(s->parts);
}

/* Each spin becomes eight: layers of a slab are doubled, or where there was one, slabs. */
static void double_sides(struct cubic *q, struct scratch *s, uint32_t layers) {
    const struct cubic old = *q;
    const uint32_t l = 2 * q->side;
    q->side = l;
    if (q->layers < layers)
        q->layers *= 2;
    else
        q->slabs *= 2;
    free(s->roots);
    free(s->parts);
    make_room(q, s);
    for (size_t i = 0; i < slab_of(q) * q->slabs; i++) {
        const size_t x = i % l / 2, y = i / l % l / 2, z = i / layer_of(q) / 2;
        q->spins[i] = old.spins[(z * old.side + y) * old.side + x];
    }
    free(old.spins);
    free(old.next);
}

void cubic_make(struct critical *c, uint32_t side, uint32_t layers, uint32_t slabs, unsigned sweeps,
                uint64_t seed) {
    struct cubic q = {.seed = seed, .side = side, .layers = layers, .slabs = slabs};
    struct scratch s;
    *c = (struct critical){.side = side, .seed = seed};
    while (q.side > SMALL && q.layers * q.slabs > 2) {
        q.side /= 2;
        if (q.slabs > 1)
            q.slabs /= 2;
        else
            q.layers /= 2;
    }
    make_room(&q, &s);
    for (size_t i = 0; i < slab_of(&q) * q.slabs; i++)
        q.spins[i] = critical_mix(critical_mix(seed) + i) & 1;
    for (unsigned k = 0;; k++) {
        const bool first = q.sweep < FIRST;
        if (!first && k >= sweeps) {
            if (q.side == side)
                break;
            double_sides(&q, &s, layers);
            k = 0;
        }
        find_clusters(c, &q, &s);
        flip(c, &q, &s);
        critical_free_blocks(c);
    }
    find_clusters(c, &q, &s);
    free_room(&q, &s);
}
