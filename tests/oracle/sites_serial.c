/* See sites_serial.h for the definition. Written for plainness, not for speed. */
#include "oracle/sites_serial.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "oracle/philox_ref.h"

static void draw(const struct sites_oracle *o, uint32_t entity, uint64_t t, uint32_t purpose,
                 uint32_t out[4]) {
    const uint32_t counter[4] = {entity, (uint32_t)t, (uint32_t)(t >> 32), purpose << 24};
    const uint32_t key[2] = {(uint32_t)o->stream, (uint32_t)(o->stream >> 32)};
    ergo_oracle_philox(counter, key, out);
}

__extension__ typedef unsigned __int128 u128;

/* One of `n`, from two words. */
static uint32_t one_of(uint32_t n, const uint32_t words[2]) {
    return (uint32_t)(((u128)n * ((uint64_t)words[0] << 32 | words[1])) >> 64);
}

static int site_at(const struct sites_oracle *o, int x, int y, int z) {
    return (z % o->l[2] * o->l[1] + y % o->l[1]) * o->l[0] + x % o->l[0];
}

static void add_bond(struct sites_oracle *o, int a, int b, int direction) {
    o->bonds[o->n_bonds++] = (struct sites_bond){a, b, direction};
}

bool sites_oracle_init(struct sites_oracle *o) {
    o->sites = o->l[0] * o->l[1] * o->l[2];
    o->n_bonds = 0;
    o->bonds = calloc(3 * (size_t)o->sites, sizeof *o->bonds);
    o->spins = calloc((size_t)o->sites, 1);
    o->cluster = calloc((size_t)o->sites, sizeof *o->cluster);
    if (!o->bonds || !o->spins || !o->cluster)
        return false;
    for (int z = 0; z < o->l[2]; z++)
        for (int y = 0; y < o->l[1]; y++)
            for (int x = 0; x < o->l[0]; x++) {
                const int i = site_at(o, x, y, z);
                add_bond(o, i, site_at(o, x + 1, y, z), 0);
                if (o->lattice != SITES_HONEYCOMB || (x + y) % 2 == 0)
                    add_bond(o, i, site_at(o, x, y + 1, z), 1);
                if (o->lattice == SITES_TRIANGULAR)
                    add_bond(o, i, site_at(o, x + 1, y + 1, z), 2);
                else if (o->l[2] > 1)
                    add_bond(o, i, site_at(o, x, y, z + 1), 2);
            }
    return true;
}

void sites_oracle_free(struct sites_oracle *o) {
    free(o->bonds);
    free(o->spins);
    free(o->cluster);
}

void sites_oracle_start(struct sites_oracle *o) {
    for (int i = 0; i < o->sites; i++) {
        uint32_t r[4];
        draw(o, (uint32_t)i, 0, 3, r);
        o->spins[i] = (uint8_t)one_of((uint32_t)o->q, r);
    }
}

/* Clusters by passing the smaller id along active bonds until nothing changes. */
static void find_clusters(struct sites_oracle *o, uint64_t t) {
    const double p = floor((1 - exp(-o->j / o->t)) * 4294967296.0 + 0.5);
    bool *active = calloc((size_t)o->n_bonds, sizeof *active), changed = true;
    for (int k = 0; k < o->n_bonds; k++) {
        const struct sites_bond *b = &o->bonds[k];
        uint32_t r[4];
        draw(o, (uint32_t)b->a, t, 1, r);
        active[k] = o->spins[b->a] == o->spins[b->b] && r[b->direction] < p;
    }
    for (int i = 0; i < o->sites; i++)
        o->cluster[i] = i;
    while (changed) {
        changed = false;
        for (int k = 0; k < o->n_bonds; k++) {
            int *a = &o->cluster[o->bonds[k].a], *b = &o->cluster[o->bonds[k].b];
            if (!active[k] || *a == *b)
                continue;
            *a = *b = *a < *b ? *a : *b;
            changed = true;
        }
    }
    free(active);
}

void sites_oracle_sweep(struct sites_oracle *o, uint64_t t) {
    find_clusters(o, t);
    for (int i = 0; i < o->sites; i++) {
        uint32_t r[4];
        draw(o, (uint32_t)o->cluster[i], t, 2, r);
        o->spins[i] = (uint8_t)one_of((uint32_t)o->q, r);
    }
}

int sites_oracle_wolff(struct sites_oracle *o, uint64_t t) {
    uint32_t r[4];
    int size = 0;
    find_clusters(o, t);
    draw(o, 0, t, 4, r);
    const int chosen = o->cluster[one_of((uint32_t)o->sites, r)];
    const int shift = 1 + (int)one_of((uint32_t)o->q - 1, r + 2);
    for (int i = 0; i < o->sites; i++)
        if (o->cluster[i] == chosen) {
            o->spins[i] = (uint8_t)((o->spins[i] + shift) % o->q);
            size++;
        }
    return size;
}

struct sites_exact sites_oracle_enumerate(const struct sites_oracle *o) {
    const double n = o->sites, q = o->q;
    double z = 0, e = 0, e2 = 0, sums[5] = {0};
    uint8_t *s = calloc((size_t)o->sites, 1);
    for (bool more = true; more;) {
        int unequal = 0, most = 0, squares = 0, counts[256] = {0};
        for (int k = 0; k < o->n_bonds; k++)
            unequal += s[o->bonds[k].a] != s[o->bonds[k].b];
        for (int i = 0; i < o->sites; i++)
            counts[s[i]]++;
        for (int k = 0; k < o->q; k++) {
            most = counts[k] > most ? counts[k] : most;
            squares += counts[k] * counts[k];
        }
        const double weight = exp(-o->j * unequal / o->t), energy = o->j * unequal / n;
        const double m = (q * most / n - 1) / (q - 1);
        const double psi2 = (q * squares / (n * n) - 1) / (q - 1);
        const double terms[5] = {m, m * m, m * m * m * m, psi2, psi2 * psi2};
        z += weight;
        e += weight * energy;
        e2 += weight * energy * energy;
        for (int k = 0; k < 5; k++)
            sums[k] += weight * terms[k];
        more = false;
        for (int i = 0; i < o->sites && !more; i++) { /* the next state */
            s[i] = (uint8_t)((s[i] + 1) % o->q);
            more = s[i] != 0;
        }
    }
    free(s);
    e /= z;
    e2 /= z;
    return (struct sites_exact){.energy = e,
                                .heat_capacity = n * (e2 - e * e) / (o->t * o->t),
                                .m = sums[0] / z,
                                .m2 = sums[1] / z,
                                .m4 = sums[2] / z,
                                .psi2 = sums[3] / z,
                                .psi4 = sums[4] / z};
}
