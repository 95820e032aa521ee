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

static bool draw_weak(const struct sites_oracle *o, const struct sites_bond *b) {
    const uint32_t key[2] = {(uint32_t)o->disorder, (uint32_t)(o->disorder >> 32)};
    uint64_t number = 0;
    for (uint32_t n = 0; n < 8; n++) {
        const uint32_t counter[4] = {(uint32_t)(3 * b->a + b->direction), 0, 0, 6u << 24 | n};
        uint32_t words[4];
        ergo_oracle_philox(counter, key, words);
        for (int k = 0; k < 4; k++)
            number = 2 * number + (words[k] & 1u);
    }
    return (double)number < floor(o->fraction * 4294967296.0 + 0.5);
}

static double coupling(const struct sites_oracle *o, const struct sites_bond *b) {
    return b->weak ? o->ratio * o->j : o->j;
}

__extension__ typedef unsigned __int128 u128;

/* One of `n`, from two words. */
static uint32_t one_of(uint32_t n, const uint32_t words[2]) {
    return (uint32_t)(((u128)n * ((uint64_t)words[0] << 32 | words[1])) >> 64);
}

static int site_at(const struct sites_oracle *o, int x, int y, int z) {
    return (z % o->l[2] * o->l[1] + y % o->l[1]) * o->l[0] + x % o->l[0];
}

/* The bond from (x, y, z) by (dx, dy, dz), unless it crosses an open side. */
static void add_bond(struct sites_oracle *o, const int at[3], const int by[3], int direction) {
    struct sites_bond b = {.a = site_at(o, at[0], at[1], at[2]),
                           .b = site_at(o, at[0] + by[0], at[1] + by[1], at[2] + by[2]),
                           .direction = direction};
    bool open = false;
    for (int d = 0; d < 3; d++)
        if (at[d] + by[d] == o->l[d] && by[d]) {
            open = open || o->open[d];
            b.turned = b.turned != o->anti[d];
        }
    b.weak = o->fraction > 0 && draw_weak(o, &b);
    if (!open)
        o->bonds[o->n_bonds++] = b;
}

static bool satisfied(const struct sites_bond *b, const uint8_t *s) {
    return (s[b->a] == s[b->b]) != b->turned;
}

bool sites_oracle_init(struct sites_oracle *o) {
    o->sites = o->l[0] * o->l[1] * o->l[2];
    o->n_bonds = 0;
    o->bonds = calloc(3 * (size_t)o->sites, sizeof *o->bonds);
    o->spins = calloc((size_t)o->sites, 1);
    o->held = calloc((size_t)o->sites, sizeof *o->held);
    o->cluster = calloc((size_t)o->sites, sizeof *o->cluster);
    o->active = calloc(3 * (size_t)o->sites, sizeof *o->active);
    if (!o->bonds || !o->spins || !o->held || !o->cluster || !o->active)
        return false;
    for (int z = 0; z < o->l[2]; z++)
        for (int y = 0; y < o->l[1]; y++)
            for (int x = 0; x < o->l[0]; x++) {
                const int at[3] = {x, y, z};
                add_bond(o, at, (const int[3]){1, 0, 0}, 0);
                if (o->lattice != SITES_HONEYCOMB || (x + y) % 2 == 0)
                    add_bond(o, at, (const int[3]){0, 1, 0}, 1);
                if (o->lattice == SITES_TRIANGULAR)
                    add_bond(o, at, (const int[3]){1, 1, 0}, 2);
                else if (o->l[2] > 1)
                    add_bond(o, at, (const int[3]){0, 0, 1}, 2);
            }
    return true;
}

void sites_oracle_free(struct sites_oracle *o) {
    free(o->bonds);
    free(o->spins);
    free(o->held);
    free(o->cluster);
    free(o->active);
}

void sites_oracle_start(struct sites_oracle *o) {
    for (int i = 0; i < o->sites; i++) {
        uint32_t r[4];
        draw(o, (uint32_t)i, 0, 3, r);
        o->spins[i] = (uint8_t)one_of((uint32_t)o->q, r);
    }
}

/* Clusters of active bonds by passing the smaller id along them until nothing changes. */
static void join(struct sites_oracle *o) {
    bool changed = true;
    for (int i = 0; i < o->sites; i++)
        o->cluster[i] = i;
    while (changed) {
        changed = false;
        for (int k = 0; k < o->n_bonds; k++) {
            int *a = &o->cluster[o->bonds[k].a], *b = &o->cluster[o->bonds[k].b];
            if (!o->active[k] || *a == *b)
                continue;
            *a = *b = *a < *b ? *a : *b;
            changed = true;
        }
    }
}

static double chance_of(double energy, double t) {
    return floor((1 - exp(-energy / t)) * 4294967296.0 + 0.5);
}

static void find_clusters(struct sites_oracle *o, uint64_t t) {
    for (int k = 0; k < o->n_bonds; k++) {
        const struct sites_bond *b = &o->bonds[k];
        const double p = !o->adapts ? chance_of(coupling(o, b), o->t) : b->weak ? 0 : o->chance;
        uint32_t r[4];
        draw(o, (uint32_t)b->a, t, 1, r);
        o->active[k] = satisfied(b, o->spins) && r[b->direction] < p;
    }
    join(o);
    memset(o->held, 0, (size_t)o->sites * sizeof *o->held);
    for (int i = 0; i < o->sites; i++) {
        uint32_t r[4];
        draw(o, (uint32_t)i, t, 1, r);
        if (o->spins[i] == 0 && r[3] < chance_of(o->field, o->t))
            o->held[o->cluster[i]] = true;
    }
}

/* Steps of a bond along x, y, z. */
static void displacement(const struct sites_oracle *o, const struct sites_bond *b, int by[3]) {
    const bool diagonal = o->lattice == SITES_TRIANGULAR && b->direction == 2;
    by[0] = b->direction == 0 || diagonal;
    by[1] = b->direction == 1 || diagonal;
    by[2] = b->direction == 2 && !diagonal;
}

/* Each site gets a place in an infinite lattice, from its neighbour's; a bond between places that
 * are not neighbours there closes a path around the lattice. */
bool sites_oracle_wraps(const struct sites_oracle *o) {
    int(*at)[3] = calloc((size_t)o->sites, sizeof *at);
    bool *placed = calloc((size_t)o->sites, sizeof *placed), changed = true, odd = false;
    for (int i = 0; i < o->sites; i++)
        placed[i] = o->cluster[i] == i;
    while (changed) {
        changed = false;
        for (int k = 0; k < o->n_bonds; k++) {
            const struct sites_bond *b = &o->bonds[k];
            int by[3];
            displacement(o, b, by);
            if (!o->active[k] || placed[b->a] == placed[b->b])
                continue;
            for (int d = 0; d < 3; d++)
                if (placed[b->a])
                    at[b->b][d] = at[b->a][d] + by[d];
                else
                    at[b->a][d] = at[b->b][d] - by[d];
            placed[b->a] = placed[b->b] = changed = true;
        }
    }
    for (int k = 0; k < o->n_bonds; k++) {
        const struct sites_bond *b = &o->bonds[k];
        int by[3];
        displacement(o, b, by);
        for (int d = 0; d < 3; d++)
            odd = odd || (o->active[k] && (at[b->a][d] + by[d] - at[b->b][d]) / o->l[d] % 2);
    }
    free(at);
    free(placed);
    return odd;
}

void sites_oracle_adapt(struct sites_oracle *o, int shift) {
    const int64_t up = (int64_t)o->up << shift, down = (int64_t)o->down << shift;
    const int64_t next = (int64_t)o->chance + (sites_oracle_wraps(o) ? -down : up);
    o->chance = next < 1 ? 1 : next > UINT32_MAX ? UINT32_MAX : (uint32_t)next;
}

void sites_oracle_sweep(struct sites_oracle *o, uint64_t t) {
    find_clusters(o, t);
    for (int i = 0; i < o->sites; i++) {
        uint32_t r[4];
        if (o->held[o->cluster[i]])
            continue;
        draw(o, (uint32_t)o->cluster[i], t, 2, r);
        const uint8_t drawn = (uint8_t)one_of((uint32_t)o->q, r);
        o->spins[i] = o->anti[0] || o->anti[1] || o->anti[2] ? o->spins[i] ^ drawn : drawn;
    }
}

int sites_oracle_wolff(struct sites_oracle *o, uint64_t t) {
    uint32_t r[4];
    int size = 0;
    find_clusters(o, t);
    draw(o, 0, t, 4, r);
    const int chosen = o->cluster[one_of((uint32_t)o->sites, r)];
    const int shift = 1 + (int)one_of((uint32_t)o->q - 1, r + 2);
    if (o->held[chosen])
        return 0;
    for (int i = 0; i < o->sites; i++)
        if (o->cluster[i] == chosen) {
            o->spins[i] = (uint8_t)((o->spins[i] + shift) % o->q);
            size++;
        }
    return size;
}

/* Mean of (q delta - 1)/(q - 1) over pairs of sites l/share apart along a side. */
static double correlation(const struct sites_oracle *o, const uint8_t *s, int share) {
    const int sides = o->l[2] > 1 ? 3 : 2;
    int equal = 0;
    for (int z = 0; z < o->l[2]; z++)
        for (int y = 0; y < o->l[1]; y++)
            for (int x = 0; x < o->l[0]; x++) {
                const uint8_t mine = s[site_at(o, x, y, z)];
                equal += mine == s[site_at(o, x + o->l[0] / share, y, z)];
                equal += mine == s[site_at(o, x, y + o->l[1] / share, z)];
                equal += sides == 3 && mine == s[site_at(o, x, y, z + o->l[2] / share)];
            }
    return ((double)o->q * equal / (sides * o->sites) - 1) / (o->q - 1);
}

double sites_oracle_structure(const struct sites_oracle *o, const uint8_t *s) {
    const int layer = o->sites / (o->l[2] > 1 ? o->l[2] : o->l[1]);
    const double k = 2 * acos(-1) * layer / o->sites;
    double sum = 0;
    for (int state = 0; state < o->q; state++) {
        double re = 0, im = 0;
        for (int i = 0; i < o->sites; i++)
            if (s[i] == state) {
                re += cos(k * (i / layer));
                im += sin(k * (i / layer));
            }
        sum += re * re + im * im;
    }
    return sum * o->q / (o->q - 1) / o->sites; /* waves of all sites add up to 0 */
}

struct sites_exact sites_oracle_enumerate(const struct sites_oracle *o) {
    const double n = o->sites, q = o->q;
    double z = 0, e = 0, e2 = 0, sums[10] = {0};
    uint8_t *s = calloc((size_t)o->sites, 1);
    for (bool more = true; more;) {
        int most = 0, squares = 0, counts[256] = {0};
        double h = 0;
        for (int k = 0; k < o->n_bonds; k++)
            h += satisfied(&o->bonds[k], s) ? 0 : coupling(o, &o->bonds[k]);
        for (int i = 0; i < o->sites; i++)
            counts[s[i]]++;
        for (int k = 0; k < o->q; k++) {
            most = counts[k] > most ? counts[k] : most;
            squares += counts[k] * counts[k];
        }
        h -= o->field * counts[0];
        const double weight = exp(-h / o->t), energy = h / n, first = counts[0] / n;
        const double m = (q * most / n - 1) / (q - 1);
        const double psi2 = (q * squares / (n * n) - 1) / (q - 1);
        const double terms[10] = {m,
                                  m * m,
                                  m * m * m * m,
                                  psi2,
                                  psi2 * psi2,
                                  correlation(o, s, 2),
                                  correlation(o, s, 4),
                                  sites_oracle_structure(o, s),
                                  first,
                                  first * first};
        z += weight;
        e += weight * energy;
        e2 += weight * energy * energy;
        for (int k = 0; k < 10; k++)
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
                                .psi4 = sums[4] / z,
                                .half = sums[5] / z,
                                .quarter = sums[6] / z,
                                .structure = sums[7] / z,
                                .first = sums[8] / z,
                                .first2 = sums[9] / z};
}

/* Spins of state number s. */
static void spins_of(struct sites_oracle *o, int s) {
    for (int i = 0; i < o->sites; i++, s /= o->q)
        o->spins[i] = (uint8_t)(s % o->q);
}

/* Moves from a state by a set of bonds: to states that are constant on clusters, each as likely. */
struct move {
    int from, open, active; /* state; bonds between equal spins, and how many of them are active */
    bool wraps;
    int clusters;
    int *to; /* q^clusters states */
    int n_to;
};

static struct move move_of(struct sites_oracle *o, int from, unsigned set) {
    struct move m = {.from = from, .n_to = 1};
    spins_of(o, from);
    for (int k = 0; k < o->n_bonds; k++) {
        const bool equal = o->spins[o->bonds[k].a] == o->spins[o->bonds[k].b];
        o->active[k] = set >> k & 1u;
        m.open += equal;
        m.active += o->active[k];
        if (o->active[k] && !equal)
            return (struct move){.from = -1};
    }
    join(o);
    m.wraps = sites_oracle_wraps(o);
    for (int i = 0; i < o->sites; i++)
        m.clusters += o->cluster[i] == i;
    for (int c = 0; c < m.clusters; c++)
        m.n_to *= o->q;
    m.to = calloc((size_t)m.n_to, sizeof *m.to);
    for (int n = 0; n < m.n_to; n++) {
        int state[16], rest = n, power = 1;
        for (int i = 0; i < o->sites; i++, power *= o->q) {
            if (o->cluster[i] == i) {
                state[i] = rest % o->q;
                rest /= o->q;
            }
            m.to[n] += power * state[o->cluster[i]];
        }
    }
    return m;
}

/* Means over spins, by their distribution over states. */
static void of_states(struct sites_oracle *o, const double *weights, int states,
                      struct sites_adapting *mean) {
    const double n = o->sites;
    for (int s = 0; s < states; s++) {
        double squares = 0, unequal = 0;
        spins_of(o, s);
        for (int k = 0; k < o->n_bonds; k++)
            unequal += o->spins[o->bonds[k].a] != o->spins[o->bonds[k].b];
        for (int k = 0; k < o->q; k++) {
            int sites = 0;
            for (int i = 0; i < o->sites; i++)
                sites += o->spins[i] == k;
            squares += sites / n * sites / n;
        }
        mean->energy += weights[s] * o->j * unequal / n;
        mean->psi2 += weights[s] * (o->q * squares - 1) / (o->q - 1);
    }
}

struct sites_adapting sites_oracle_adapting(struct sites_oracle *o, int levels, int start, int up,
                                            int down) {
    enum { STEPS = 300 };
    struct sites_adapting mean = {0};
    int states = 1;
    for (int i = 0; i < o->sites; i++)
        states *= o->q;
    const size_t row = (size_t)levels + 1, places = (size_t)states * row;
    struct move *moves = calloc((size_t)states << o->n_bonds, sizeof *moves);
    double *now = calloc(places, sizeof *now), *next = calloc(places, sizeof *next);
    double *weights = calloc((size_t)states, sizeof *weights);
    size_t count = 0;
    for (int s = 0; s < states; s++)
        for (unsigned set = 0; set < 1u << o->n_bonds; set++) {
            moves[count] = move_of(o, s, set);
            count += moves[count].from >= 0;
        }
    for (int s = 0; s < states; s++)
        now[(size_t)s * row + (size_t)start] = 1.0 / states;
    for (int t = 1; t <= STEPS; t++) {
        memset(next, 0, places * sizeof *next);
        for (size_t k = 0; k < count; k++)
            for (int c = 0; c <= levels; c++) {
                const struct move *m = &moves[k];
                const double p = (double)c / levels;
                const double w = now[(size_t)m->from * row + (size_t)c] * pow(p, m->active) *
                                 pow(1 - p, m->open - m->active);
                int after = m->wraps ? c - down : c + up;
                after = after < 0 ? 0 : after > levels ? levels : after;
                if (w == 0)
                    continue;
                for (int i = 0; i < m->n_to; i++)
                    next[(size_t)m->to[i] * row + (size_t)after] += w / m->n_to;
                if (t < STEPS)
                    continue;
                mean.p += w * p;
                mean.p2 += w * p * p;
                mean.clusters += w * m->clusters / o->sites;
            }
        memcpy(now, next, places * sizeof *now);
    }
    for (size_t k = 0; k < places; k++)
        weights[k / row] += now[k];
    of_states(o, weights, states, &mean);
    for (size_t k = 0; k < count; k++)
        free(moves[k].to);
    free(moves);
    free(now);
    free(next);
    free(weights);
    return mean;
}
