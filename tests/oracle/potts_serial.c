/* See potts_serial.h for the definition. Written for plainness, not for speed. */
#include "potts_serial.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static double next_uniform(uint64_t *state) {
    *state += UINT64_C(0x9E3779B97F4A7C15);
    uint64_t z = *state;
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return ldexp((double)((z ^ (z >> 31)) >> 11), -53);
}

static void draw(const struct ergo_oracle_potts *o, uint32_t entity, uint64_t t, uint32_t purpose,
                 uint32_t number, uint32_t out[4]) {
    const uint32_t counter[4] = {entity, (uint32_t)t, (uint32_t)(t >> 32), purpose << 24 | number};
    o->block(counter, o->key, out);
}

static int64_t neighbour(const struct ergo_oracle_potts *o, int64_t site, int d) {
    const int64_t x = site % o->Lx, y = site / o->Lx;
    return d == 0 ? y * o->Lx + (x + 1) % o->Lx : (y + 1) % o->Ly * o->Lx + x;
}

static bool bond_drawn(struct ergo_oracle_potts *o, int64_t site, int d, uint64_t t) {
    const double p = 1.0 - exp(-o->J / o->T);
    if (!o->block)
        return next_uniform(&o->sequential) < p;
    const int x = (int)(site % o->Lx), k = x % 32;
    const uint32_t word = (uint32_t)(site / o->Lx * ((o->Lx + 31) / 32) + x / 32);
    uint32_t r[4];
    uint64_t number = 0;
    for (uint32_t half = 0; half < 2; half++) {
        draw(o, word, t, 1, 2 * (uint32_t)d + half, r);
        for (int j = 0; j < 4; j++)
            number = 2 * number + (r[j] >> k & 1);
    }
    draw(o, word, t, 1, 4 + 8 * (uint32_t)d + (uint32_t)k / 4, r);
    number = number << 32 | r[k % 4];
    return number < (uint64_t)llround(ldexp(p, 40));
}

static uint8_t state_drawn(struct ergo_oracle_potts *o, int64_t site, uint64_t t,
                           uint32_t purpose) {
    if (!o->block)
        return (uint8_t)floor(o->q * next_uniform(&o->sequential));
    uint32_t r[4];
    draw(o, (uint32_t)site, t, purpose, (uint32_t)((uint64_t)site >> 32), r);
    /* floor(q r / 2^64), r = 2^32 r[0] + r[1], in two steps that fit 64 bits */
    const uint64_t q = (uint64_t)o->q;
    return (uint8_t)((q * r[0] + (q * r[1] >> 32)) >> 32);
}

bool ergo_oracle_potts_init(struct ergo_oracle_potts *o, int Lx, int Ly, int q, double J, double T,
                            bool random_start, ergo_oracle_potts_block block, uint64_t stream) {
    memset(o, 0, sizeof *o);
    if (Lx < 2 || Ly < 2 || q < 2 || q > 256 || !(J >= 0) || !(T > 0))
        return false;
    o->Lx = Lx, o->Ly = Ly, o->q = q;
    o->J = J, o->T = T;
    o->block = block;
    o->key[0] = (uint32_t)stream, o->key[1] = (uint32_t)(stream >> 32);
    o->sequential = stream;
    const size_t n = (size_t)Lx * (size_t)Ly;
    o->spins = calloc(n, 1);
    o->bonds = calloc(n, 1);
    o->labels = calloc(n, sizeof *o->labels);
    o->sizes = calloc(n, sizeof *o->sizes);
    if (!o->spins || !o->bonds || !o->labels || !o->sizes) {
        ergo_oracle_potts_free(o);
        return false;
    }
    for (size_t i = 0; i < n && random_start; i++)
        o->spins[i] = state_drawn(o, (int64_t)i, 0, 3);
    return true;
}

void ergo_oracle_potts_free(struct ergo_oracle_potts *o) {
    free(o->spins);
    free(o->bonds);
    free(o->labels);
    free(o->sizes);
    memset(o, 0, sizeof *o);
}

/* The proper label of Hoshen and Kopelman: labels lead to smaller ones until one is its own. */
static int64_t proper(const int64_t *labels, int64_t i) {
    while (labels[i] != i)
        i = labels[i];
    return i;
}

void ergo_oracle_potts_sweep(struct ergo_oracle_potts *o, uint64_t t) {
    const int64_t n = (int64_t)o->Lx * o->Ly;
    for (int64_t i = 0; i < n; i++) {
        o->bonds[i] = 0;
        for (int d = 0; d < 2; d++)
            if (o->spins[i] == o->spins[neighbour(o, i, d)] && bond_drawn(o, i, d, t))
                o->bonds[i] |= (uint8_t)(1 << d);
        o->labels[i] = i;
        o->sizes[i] = 0;
    }
    for (int64_t i = 0; i < n; i++)
        for (int d = 0; d < 2; d++)
            if (o->bonds[i] >> d & 1) {
                const int64_t a = proper(o->labels, i);
                const int64_t b = proper(o->labels, neighbour(o, i, d));
                o->labels[a > b ? a : b] = a > b ? b : a;
            }
    /* a label leads to smaller ids only: from the front each is proper after one step */
    for (int64_t i = 0; i < n; i++) {
        o->labels[i] = o->labels[o->labels[i]];
        o->sizes[o->labels[i]]++;
        o->spins[i] = o->labels[i] == i ? state_drawn(o, i, t, 2) : o->spins[o->labels[i]];
    }
}

int64_t ergo_oracle_potts_unequal(const struct ergo_oracle_potts *o) {
    int64_t unequal = 0;
    for (int64_t i = 0; i < (int64_t)o->Lx * o->Ly; i++)
        for (int d = 0; d < 2; d++)
            unequal += o->spins[i] != o->spins[neighbour(o, i, d)];
    return unequal;
}

void ergo_oracle_potts_counts(const struct ergo_oracle_potts *o, int64_t *counts) {
    memset(counts, 0, (size_t)o->q * sizeof *counts);
    for (int64_t i = 0; i < (int64_t)o->Lx * o->Ly; i++)
        counts[o->spins[i]]++;
}

/* Walk each cluster and note how often the walk to each site crossed the edges: a site met again
 * with other numbers closes a path around the lattice. */
static void find_wraps(const struct ergo_oracle_potts *o, bool *wraps_x, bool *wraps_y) {
    const uint32_t n = (uint32_t)o->Lx * (uint32_t)o->Ly;
    int *cross = calloc(n, 2 * sizeof *cross);
    bool *seen = calloc(n, 1);
    int64_t *stack = malloc(n * sizeof *stack);
    *wraps_x = *wraps_y = false;
    for (int64_t start = 0; start < n && cross && seen && stack; start++) {
        int64_t depth = 0;
        if (seen[start])
            continue;
        seen[start] = true;
        stack[depth++] = start;
        while (depth) {
            const int64_t i = stack[--depth], x = i % o->Lx, y = i / o->Lx;
            const int64_t left = y * o->Lx + (x + o->Lx - 1) % o->Lx;
            const int64_t above = (y + o->Ly - 1) % o->Ly * o->Lx + x;
            const int64_t to[4] = {neighbour(o, i, 0), neighbour(o, i, 1), left, above};
            const bool joined[4] = {o->bonds[i] & 1, o->bonds[i] & 2, o->bonds[left] & 1,
                                    o->bonds[above] & 2};
            const int dx[4] = {x + 1 == o->Lx, 0, -(x == 0), 0};
            const int dy[4] = {0, y + 1 == o->Ly, 0, -(y == 0)};
            for (int k = 0; k < 4; k++) {
                const int64_t j = to[k];
                if (!joined[k])
                    continue;
                const int cx = cross[2 * i] + dx[k], cy = cross[2 * i + 1] + dy[k];
                if (!seen[j]) {
                    seen[j] = true;
                    cross[2 * j] = cx, cross[2 * j + 1] = cy;
                    stack[depth++] = j;
                }
                *wraps_x = *wraps_x || cx != cross[2 * j];
                *wraps_y = *wraps_y || cy != cross[2 * j + 1];
            }
        }
    }
    free(cross);
    free(seen);
    free(stack);
}

struct ergo_oracle_potts_clusters ergo_oracle_potts_clusters(const struct ergo_oracle_potts *o) {
    struct ergo_oracle_potts_clusters c = {0};
    for (int64_t i = 0; i < (int64_t)o->Lx * o->Ly; i++) {
        c.clusters += o->sizes[i] > 0;
        c.sum_squares += (double)o->sizes[i] * (double)o->sizes[i];
        c.largest = o->sizes[i] > c.largest ? o->sizes[i] : c.largest;
    }
    find_wraps(o, &c.wraps_x, &c.wraps_y);
    return c;
}
