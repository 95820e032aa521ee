#include "oracle/facilitated.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "oracle/philox_ref.h"

static int sites_of(const struct fac_oracle *o) {
    return o->lx * o->ly * (o->lz ? o->lz : 1);
}

static int neighbours(const struct fac_oracle *o) {
    return o->lz ? 6 : o->ly == 1 ? 2 : 4;
}

double fac_oracle_density(const struct fac_oracle *o) {
    return 1 / (1 + exp(2 * o->b));
}

double fac_oracle_chance(const struct fac_oracle *o, bool up, int n) {
    const double spin = up ? 1 : -1, cost = -2 * spin * (o->j * (2 * n - neighbours(o)) + o->b);
    if (o->heat_bath)
        return 1 / (1 + exp(cost));
    return cost <= 0 ? 1 : exp(-cost);
}

/* Site of neighbour d of (x, y, z): north, east, south, west, above, below. */
static int neighbour(const struct fac_oracle *o, int site, int d) {
    static const int dx[] = {0, 1, 0, -1, 0, 0}, dy[] = {-1, 0, 1, 0, 0, 0};
    static const int dz[] = {0, 0, 0, 0, -1, 1};
    const int x = site % o->lx, y = site / o->lx % o->ly, z = site / o->lx / o->ly;
    const int lz = o->lz ? o->lz : 1;
    return (x + dx[d] + o->lx) % o->lx +
           o->lx * ((y + dy[d] + o->ly) % o->ly + o->ly * ((z + dz[d] + lz) % lz));
}

static bool may_flip(const struct fac_oracle *o, const uint8_t *spins, int site, int *up) {
    int found = 0;
    *up = 0;
    for (int d = 0; d < (o->lz ? 6 : 4); d++) {
        if (o->ly == 1 && !o->lz && d % 2 == 0) /* a chain goes east and west */
            continue;
        const int s = spins[neighbour(o, site, d)];
        *up += s;
        if (o->directions >> d & 1)
            found += s;
    }
    return found >= o->needed;
}

/* ---- the Markov operator --------------------------------------------------------------------- */

static void bits_of(unsigned state, int sites, uint8_t *spins) {
    for (int i = 0; i < sites; i++)
        spins[i] = state >> i & 1;
}

/* chance[state][site] of a flip, given that the site is attempted. */
static double *chances(const struct fac_oracle *o) {
    const int sites = sites_of(o);
    double *chance = malloc(((size_t)sites << sites) * sizeof *chance);
    uint8_t spins[16];
    for (unsigned s = 0; chance && s < 1u << sites; s++) {
        bits_of(s, sites, spins);
        for (int i = 0; i < sites; i++) {
            int up;
            const bool free = may_flip(o, spins, i, &up);
            chance[s * (unsigned)sites + (unsigned)i] =
                free ? fac_oracle_chance(o, spins[i], up) : 0;
        }
    }
    return chance;
}

/* f <- P f for one attempt; flips of the sites in `killed` lose their weight. */
static void attempt(int sites, const double *chance, unsigned killed, const double *f, double *g) {
    for (unsigned s = 0; s < 1u << sites; s++) {
        double sum = 0;
        for (int i = 0; i < sites; i++) {
            const double p = chance[s * (unsigned)sites + (unsigned)i];
            sum += (1 - p) * f[s] + (killed >> i & 1 ? 0 : p * f[s ^ 1u << i]);
        }
        g[s] = sum / sites;
    }
}

/* The master equation, weights <- weights P, for one attempt. */
static void master(int sites, const double *chance, const double *weights, double *next) {
    memset(next, 0, sizeof *next << sites);
    for (unsigned s = 0; s < 1u << sites; s++)
        for (int i = 0; i < sites; i++) {
            const double p = chance[s * (unsigned)sites + (unsigned)i] * weights[s];
            next[s] += (weights[s] - p) / sites;
            next[s ^ 1u << i] += p / sites;
        }
}

bool fac_oracle_ageing(const struct fac_oracle *o, double up, size_t waiting, size_t n, double *m,
                       double *same, double *persistence) {
    const int sites = sites_of(o);
    if (sites > 16)
        return false;
    const size_t states = (size_t)1 << sites;
    double *chance = chances(o), *room = malloc(4 * states * sizeof *room);
    if (!chance || !room) {
        free(chance);
        free(room);
        return false;
    }
    double *spin = room, *never = spin + states, *next = never + states, *weight = next + states;
    for (unsigned s = 0; s < states; s++) {
        const int ups = __builtin_popcount(s);
        spin[s] = s & 1 ? 1 : -1;
        never[s] = 1;
        weight[s] = pow(up, ups) * pow(1 - up, sites - ups);
    }
    for (size_t i = 0; i < waiting * (size_t)sites; i++) {
        master(sites, chance, weight, next);
        memcpy(weight, next, states * sizeof *weight);
    }
    for (size_t t = 0; t < n; t++) {
        m[t] = same[t] = persistence[t] = 0;
        for (unsigned s = 0; s < states; s++) {
            m[t] += weight[s] * spin[s];
            same[t] += weight[s] * (s & 1 ? 1 : -1) * spin[s];
            persistence[t] += weight[s] * never[s];
        }
        for (int i = 0; i < sites && t + 1 < n; i++) {
            attempt(sites, chance, 0, spin, next);
            memcpy(spin, next, states * sizeof *spin);
            attempt(sites, chance, 1, never, next);
            memcpy(never, next, states * sizeof *never);
        }
    }
    free(chance);
    free(room);
    return true;
}

/* Of sites 0 and j, as sums over the start's weights. */
static void pair_moments(int sites, const double *chance, const double *weight, int j, size_t n,
                         double *room, double *equal, double *never) {
    const size_t states = (size_t)1 << sites;
    double *product = room, *alive = room + states, *next = room + 2 * states;
    for (unsigned s = 0; s < states; s++) {
        product[s] = ((s ^ s >> j) & 1) ? -1 : 1;
        alive[s] = 1;
    }
    for (size_t t = 0; t < n; t++) {
        for (unsigned s = 0; s < states; s++) {
            equal[t] += weight[s] * (((s ^ s >> j) & 1) ? -1 : 1) * product[s];
            never[t] += weight[s] * alive[s];
        }
        for (int i = 0; i < sites && t + 1 < n; i++) {
            attempt(sites, chance, 0, product, next);
            memcpy(product, next, states * sizeof *product);
            attempt(sites, chance, 1u | 1u << j, alive, next);
            memcpy(alive, next, states * sizeof *alive);
        }
    }
}

bool fac_oracle_chi4(const struct fac_oracle *o, double up, size_t waiting, size_t n,
                     const double *same, const double *persistence, double *overlap,
                     double *never) {
    const int sites = sites_of(o);
    if (sites > 12)
        return false;
    const size_t states = (size_t)1 << sites;
    double *chance = chances(o), *room = malloc(4 * states * sizeof *room);
    double *weight = room + 3 * states;
    const bool memory = chance && room;
    for (unsigned s = 0; memory && s < states; s++) {
        const int ups = __builtin_popcount(s);
        weight[s] = pow(up, ups) * pow(1 - up, sites - ups);
    }
    for (size_t i = 0; memory && i < waiting * (size_t)sites; i++) {
        master(sites, chance, weight, room);
        memcpy(weight, room, states * sizeof *weight);
    }
    for (size_t t = 0; t < n; t++)
        overlap[t] = never[t] = 0;
    for (int j = 0; memory && j < sites; j++) /* every site is as the first */
        pair_moments(sites, chance, weight, j, n, room, overlap, never);
    overlap[0] = never[0] = 0; /* but for rounding */
    for (size_t t = 1; t < n; t++) {
        overlap[t] -= sites * same[t] * same[t];
        never[t] -= sites * persistence[t] * persistence[t];
    }
    free(chance);
    free(room);
    return memory;
}

bool fac_oracle_markov(const struct fac_oracle *o, size_t n, double *phi, double *persistence) {
    const double c = fac_oracle_density(o), mean = 2 * c - 1;
    double *m = malloc(n * sizeof *m);
    const bool done = m && fac_oracle_ageing(o, c, 0, n, m, phi, persistence);
    for (size_t t = 0; t < n && done; t++)
        phi[t] = (phi[t] - mean * mean) / (1 - mean * mean);
    free(m);
    return done;
}

void fac_oracle_boltzmann(const struct fac_oracle *o, double *energy, double *up) {
    const int sites = sites_of(o);
    double z = 0;
    uint8_t spins[16];
    *energy = *up = 0;
    for (unsigned s = 1; s < 1u << sites; s++) {
        double e = 0;
        bits_of(s, sites, spins);
        for (int i = 0; i < sites; i++) {
            const double own = 2.0 * spins[i] - 1;
            e += own * (o->b + o->j * (2.0 * spins[neighbour(o, i, 1)] - 1));
            if (o->ly > 1 || o->lz)
                e += own * o->j * (2.0 * spins[neighbour(o, i, 2)] - 1);
            if (o->lz)
                e += own * o->j * (2.0 * spins[neighbour(o, i, 5)] - 1);
        }
        z += exp(-e);
        *energy += exp(-e) * e / sites;
        *up += exp(-e) * __builtin_popcount(s) / sites;
    }
    *energy /= z;
    *up /= z;
}

/* ---- one realisation ------------------------------------------------------------------------- */

static void words(uint64_t stream, uint32_t entity, uint64_t step, uint32_t draw, uint32_t out[4]) {
    const uint32_t counter[4] = {entity, (uint32_t)step, (uint32_t)(step >> 32), draw};
    const uint32_t key[2] = {(uint32_t)stream, (uint32_t)(stream >> 32)};
    ergo_oracle_philox(counter, key, out);
}

/* Bit `lane` of each random word in turn, the first one on top: a number of 39 bits. */
static bool below(double p, const uint32_t *planes, int lane) {
    uint64_t random = 0;
    for (int k = 0; k < 39; k++)
        random = random << 1 | (planes[k] >> lane & 1);
    return random < (uint64_t)(p * 0x1p39 + 0.5);
}

void fac_oracle_start(const struct fac_oracle *o, uint64_t stream, uint32_t word, int lane,
                      uint8_t *spins) {
    uint32_t planes[40];
    for (int i = 0; i < sites_of(o); i++) {
        for (uint32_t k = 0; k < 10; k++)
            words(stream, (uint32_t)i, 0, 5u << 24 | (16 * word + k), planes + 4 * k);
        spins[i] = below(fac_oracle_density(o), planes, lane);
    }
}

void fac_oracle_sweep(const struct fac_oracle *o, uint64_t stream, uint32_t word, int lane,
                      uint64_t step, uint8_t *spins, uint8_t *flipped) {
    const uint32_t sites = (uint32_t)sites_of(o);
    uint32_t random[44];
    for (uint32_t i = 0; i < sites; i++) {
        int up;
        for (uint32_t k = 0; k < 11; k++)
            words(stream, i, step, 4u << 24 | (16 * word + k), random + 4 * k);
        const double u = ((double)random[0] + random[1] * 0x1p-32) * 0x1p-32; /* of 64 bits */
        const int site = (int)(u * sites);
        if (!may_flip(o, spins, site, &up) ||
            !below(fac_oracle_chance(o, spins[site], up), random + 2, lane))
            continue;
        spins[site] ^= 1;
        flipped[site] = 1;
    }
}

/* One round of picks in the sub-lattice whose corner is (x0, y0): what they see is `view`. */
static void pick_round(const struct fac_oracle *o, int lambda, bool coloured, uint64_t stream,
                       uint32_t word, int lane, uint64_t step, uint32_t entity, int first, int x0,
                       int y0, const uint8_t *view, uint8_t *spins, uint8_t *flipped) {
    bool picked[32][32] = {{false}};
    for (int k = 0; k < lambda; k++) {
        uint32_t random[44];
        const uint32_t at = entity + (uint32_t)(first + k);
        for (uint32_t b = 0; b < 11; b++)
            words(stream, at, step, 4u << 24 | (16 * word + b), random + 4 * b);
        int y = (int)(random[0] >> 27), x = (int)(random[0] >> 22 & 31), up;
        if (!coloured) { /* ten bits: row, column */
            y = (int)(random[0] / 0x400000) / 32;
            x = (int)(random[0] / 0x400000) % 32;
        } else { /* nine: row, pair of columns; the colour says which of the pair */
            const int colour = first / lambda % 2;
            x = (int)(random[0] / 0x800000) % 16 * 2 + (y + colour) % 2;
        }
        if (picked[y][x])
            continue;
        picked[y][x] = true;
        const int site = (x0 + x) % o->lx + o->lx * ((y0 + y) % o->ly);
        if (!may_flip(o, view, site, &up) ||
            !below(fac_oracle_chance(o, view[site], up), random + 2, lane))
            continue;
        spins[site] = !view[site];
        flipped[site] = 1;
    }
}

void fac_oracle_lambda_sweep(const struct fac_oracle *o, int lambda,
                             enum fac_oracle_division division, uint64_t stream, uint32_t word,
                             int lane, uint64_t step, uint8_t *spins, uint8_t *flipped) {
    const size_t sites = (size_t)o->lx * (size_t)o->ly;
    const int nx = o->lx / 32, ny = o->ly / 32;
    uint8_t *before = malloc(2 * sites), *view = before + sites;
    for (int half = 0; half < 2; half++) {
        uint32_t r[4];
        words(stream, (uint32_t)half, step, 6u << 24 | 16 * word, r);
        const int ox = division == FAC_ORACLE_FIXED ? 0 : (int)(r[0] / 0x8000000u);
        const int oy = division == FAC_ORACLE_FIXED ? 0 : (int)(r[1] / 0x8000000u);
        /* the classes' order: the permutation of that number in lexicographic order */
        int order[4] = {0, 1, 2, 3}, number = (int)(r[2] / 0x1p32 * 24);
        for (int i = 0, left = 6; i < 3; left /= 3 - i, i++) {
            const int take = i + number / left, chosen = order[take];
            number %= left;
            for (int k = take; k > i; k--)
                order[k] = order[k - 1];
            order[i] = chosen;
        }
        for (int turn = 0; turn < (division == FAC_ORACLE_COLOURED ? 4 : 1); turn++) {
            memcpy(before, spins, sites);
            for (int sub = 0; sub < nx * ny; sub++) {
                const int sx = sub % nx, sy = sub / nx;
                const int x0 = 32 * sx + ox, y0 = 32 * sy + oy;
                if (division == FAC_ORACLE_COLOURED && sx % 2 + 2 * (sy % 2) != order[turn])
                    continue;
                for (int first = 0; first < 512; first += lambda) {
                    /* outside: before the half sweep; inside: before the round */
                    memcpy(view, before, sites);
                    for (int i = 0; i < 1024; i++) {
                        const int site = (x0 + i % 32) % o->lx + o->lx * ((y0 + i / 32) % o->ly);
                        view[site] = spins[site];
                    }
                    pick_round(o, lambda, division == FAC_ORACLE_COLOURED, stream, word, lane, step,
                               (uint32_t)(1024 * sub + 512 * half), first, x0, y0, view, spins,
                               flipped);
                }
            }
        }
    }
    free(before);
}

void fac_oracle_frozen(const struct fac_oracle *o, const uint8_t *spins, uint8_t *frozen) {
    const int sites = sites_of(o);
    uint8_t *raised = malloc((size_t)sites);
    int up;
    if (!raised)
        abort();
    memcpy(raised, spins, (size_t)sites);
    for (bool changed = true; changed;) {
        changed = false;
        for (int i = 0; i < sites; i++)
            if (!raised[i] && may_flip(o, raised, i, &up))
                raised[i] = changed = true;
    }
    for (int i = 0; i < sites; i++)
        frozen[i] = !may_flip(o, raised, i, &up);
    free(raised);
}
