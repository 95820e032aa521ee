/*
 * A step in C. Random numbers and neighbours are those of cl/swendsen_wang/sites.h compiled as C.
 * Clusters are joined bond after bond, in the order of sites; a bond within a cluster that leads
 * there by edges of the lattice other than those of the way known so far closes a way around it. Of
 * a huge lattice all cores join pieces of whole layers, and then the bonds between pieces, two and
 * two. A single
 * cluster (Wolff) is walked along its active bonds. The twin has no tiles, atomics or launches.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/parallel.h"
#include "base/portable.h"
#include "samplers/swendsen_wang/sites/sites.h"

/* sites.h takes the lattice from macros; when compiled as C they read this. */
static _Thread_local struct sw_sites_shape twin;

#define SW_Q twin.q
#define SW_LX twin.lx
#define SW_LY twin.ly
#define SW_LZ twin.lz
#define SW_LATTICE twin.lattice
#define SW_DIRECTIONS twin.directions
#define SW_OPEN twin.open
#define SW_ANTI twin.anti
#define SW_DISORDER twin.disordered
#define SW_FIELD twin.field
#include "swendsen_wang/sites_vectors.h"

enum {
    MOST_PIECES = 16,     /* more would leave more to join */
    WORTHWHILE = 1 << 14, /* sites that are worth waking a core */
};

static void place_of(uint32_t site, uint32_t *x, uint32_t *y, uint32_t *z) {
    *x = site % twin.lx;
    *y = site / twin.lx % twin.ly;
    *z = site / twin.lx / twin.ly;
}

/* ---- by all cores: ranges of sites ----------------------------------------------------------- */

struct work {
    const struct sw_sites_shape *s;
    const struct sw_site_member *m;
    const struct sw_vectors *v; /* NULL: states */
    struct sw_sites_twin *t;
    uint64_t step;
    bool random; /* start */
    void (*sites)(struct work *w, uint32_t begin, uint32_t end);
    uint64_t fourths[2];
    pthread_mutex_t lock; /* of sums */
};

static void do_range(size_t begin, size_t end, void *user) {
    struct work *w = user;
    twin = *w->s;
    w->sites(w, (uint32_t)begin, (uint32_t)end);
}

static void each_site(struct work *w, void (*sites)(struct work *w, uint32_t begin, uint32_t end)) {
    w->sites = sites;
    ergo_parallel_ranges(w->s->sites, WORTHWHILE, do_range, w);
}

/* ---- bonds ----------------------------------------------------------------------------------- */

/* The place of the next site. */
static void move_on(uint32_t *x, uint32_t *y, uint32_t *z) {
    if (++*x < twin.lx)
        return;
    *x = 0;
    if (++*y < twin.ly)
        return;
    *y = 0;
    ++*z;
}

static void couple(struct work *w, uint32_t begin, uint32_t end) {
    for (uint32_t i = begin; i < end; i++)
        w->t->weak[i] = (uint8_t)sw_site_weak(w->m, i);
}

/* Of a site, by bits. */
static uint32_t weak_of(const struct sw_sites_twin *t, uint32_t i) {
    return twin.disordered ? t->weak[i] : 0;
}

static void draw(struct work *w, uint32_t begin, uint32_t end) {
    struct sw_sites_twin *t = w->t;
    const uint8_t *spins = t->spins;
    uint32_t x, y, z, around;
    place_of(begin, &x, &y, &z);
    for (uint32_t i = begin; i < end; i++, move_on(&x, &y, &z)) {
        uint32_t open = twin.field && spins[i] == 0 ? SW_GHOST_BOND : 0;
        for (uint32_t d = 0; d < twin.directions; d++)
            if (sw_site_owns(x, y, z, d)) {
                const uint32_t other = spins[sw_site_next(x, y, z, d, &around)];
                open |= (uint32_t)((other ^ sw_site_turns(around)) == spins[i]) << d;
            }
        t->bonds[i] = (uint8_t)sw_site_activate(w->m, i, w->step, open, weak_of(t, i));
    }
}

static void set_parts(struct work *w, uint32_t begin, uint32_t end) {
    sw_vectors_parts(w->v, begin, end, w->t->parts);
}

/* The same of unit vectors with these parts along the mirror. */
ERGO_WITH_FMA static void draw_parts(struct work *w, uint32_t begin, uint32_t end) {
    struct sw_sites_twin *t = w->t;
    uint32_t x, y, z, around;
    place_of(begin, &x, &y, &z);
    for (uint32_t i = begin; i < end; i++, move_on(&x, &y, &z)) {
        float weights[3] = {0, 0, 0};
        for (uint32_t d = 0; d < twin.directions; d++)
            if (sw_site_owns(x, y, z, d)) {
                const float other = t->parts[sw_site_next(x, y, z, d, &around)];
                weights[d] = t->parts[i] * (sw_site_turns(around) ? 0 - other : other);
                if (twin.disordered)
                    weights[d] *= sw_site_coupling(w->m, t->weak[i], d);
            }
        t->bonds[i] = (uint8_t)sw_site_activate_parts(w->m, i, w->step, weights);
    }
}

/* ---- clusters -------------------------------------------------------------------------------- */

/* Sites [begin, end): all, or whole layers. */
struct piece {
    struct sw_sites_twin *t;
    uint32_t begin, end, wraps;
};

static bool is_in(const struct piece *p, uint32_t site) {
    return site >= p->begin && site < p->end;
}

/* Come to `site` from a site of the cluster `label`, by edges `way`. */
static inline void visit(struct piece *p, uint32_t site, uint32_t label, uint32_t way,
                         uint32_t *queued) {
    struct sw_sites_twin *t = p->t;
    if (!is_in(p, site))
        return;
    if (t->labels[site] == UINT32_MAX) {
        t->labels[site] = label;
        t->ways[site] = (uint8_t)way;
        t->queue[p->begin + (*queued)++] = site;
    } else {
        p->wraps |= way ^ t->ways[site];
    }
}

/* Label a site's cluster within the piece. Returns its size. */
static uint32_t walk(struct piece *p, uint32_t first) {
    struct sw_sites_twin *t = p->t;
    uint32_t queued = 0;
    visit(p, first, first, 0, &queued);
    for (uint32_t at = 0; at < queued; at++) {
        const uint32_t i = t->queue[p->begin + at], way = t->ways[i];
        uint32_t x, y, z;
        place_of(i, &x, &y, &z);
        for (uint32_t d = 0; d < twin.directions; d++) {
            uint32_t around, bx, by;
            const uint32_t next = sw_site_next(x, y, z, d, &around);
            if (t->bonds[i] >> d & 1u)
                visit(p, next, first, way ^ around, &queued);
            const uint32_t before = sw_site_before(x, y, z, d, &bx, &by);
            if (!(t->bonds[before] >> d & 1u))
                continue;
            sw_site_next(bx, by, before / twin.lx / twin.ly, d, &around);
            visit(p, before, first, way ^ around, &queued);
        }
    }
    return queued;
}

struct pieces {
    const struct sw_sites_shape *s;
    uint32_t layer; /* sites */
    size_t n, wide;
    struct piece of[MOST_PIECES];
};

/* The site that names a site's cluster so far. *way: changed by the edges on the way there. */
static uint32_t find(struct sw_sites_twin *t, uint32_t i, uint32_t *way) {
    while (t->labels[i] != i) {
        const uint32_t to = t->labels[i];
        if (t->labels[to] != to) { /* half the way for those who come later */
            t->ways[i] ^= t->ways[to];
            t->labels[i] = t->labels[to];
        }
        *way ^= t->ways[i];
        i = t->labels[i];
    }
    return i;
}

/* A bond, by edges `around`: one cluster, or a way around the lattice. */
static void join(struct sw_sites_twin *t, uint32_t i, uint32_t next, uint32_t around,
                 uint32_t *wraps) {
    uint32_t way = around;
    const uint32_t a = find(t, i, &way), b = find(t, next, &way);
    const uint32_t low = a < b ? a : b, high = a < b ? b : a;
    if (low == high) {
        *wraps |= way;
        return;
    }
    t->labels[high] = low;
    t->ways[high] = (uint8_t)way;
    t->sizes[low] += t->sizes[high];
}

/* Clusters within a piece, bond after bond in the order of sites: memory is walked through once. */
static void label_piece(size_t k, void *user) {
    struct pieces *all = user;
    struct piece *p = &all->of[k];
    struct sw_sites_twin *t = p->t;
    uint32_t x, y, z, around;
    twin = *all->s;
    for (uint32_t i = p->begin; i < p->end; i++) {
        t->labels[i] = i;
        t->sizes[i] = 1;
    }
    memset(t->ways + p->begin, 0, p->end - p->begin);
    place_of(p->begin, &x, &y, &z);
    for (uint32_t i = p->begin; i < p->end; i++, move_on(&x, &y, &z))
        for (uint32_t d = 0; (t->bonds[i] & 7u) >> d; d++) {
            const uint32_t next = sw_site_next(x, y, z, d, &around);
            if (t->bonds[i] >> d & 1u && is_in(p, next))
                join(t, i, next, around, &p->wraps);
        }
}

/* The bonds that leave a piece: those of its last layer. */
static void join_piece(struct pieces *all, size_t k) {
    struct piece *p = &all->of[k];
    struct sw_sites_twin *t = p->t;
    twin = *all->s;
    for (uint32_t i = p->end - all->layer; i < p->end; i++) {
        uint32_t x, y, z, around;
        place_of(i, &x, &y, &z);
        for (uint32_t d = 0; d < twin.directions; d++) {
            const uint32_t next = sw_site_next(x, y, z, d, &around);
            if (t->bonds[i] >> d & 1u && !is_in(p, next))
                join(t, i, next, around, &p->wraps);
        }
    }
}

/* Number i of pairs of neighbours, each of `wide` pieces that are joined already. */
static void join_pair(size_t i, void *user) {
    struct pieces *all = user;
    join_piece(all, (2 * i + 1) * all->wide - 1);
}

/* All cores at first: pairs have no cluster in common. */
static void join_pieces(struct pieces *all) {
    for (all->wide = 1; all->wide < all->n; all->wide *= 2) {
        const size_t pairs = (all->n - 1 + all->wide) / (2 * all->wide);
        ergo_parallel(pairs, pairs, join_pair, all);
    }
    if (all->n > 1) /* around the lattice */
        join_piece(all, all->n - 1);
}

/* Others may do the same to sites on the way: each of their values leads to the same end. */
static void settle(struct work *w, uint32_t begin, uint32_t end) {
    uint32_t *labels = w->t->labels;
    for (uint32_t i = begin; i < end; i++) {
        uint32_t at = i, to = __atomic_load_n(labels + i, __ATOMIC_RELAXED);
        while (to != at) {
            at = to;
            to = __atomic_load_n(labels + at, __ATOMIC_RELAXED);
        }
        __atomic_store_n(labels + i, at, __ATOMIC_RELAXED);
    }
}

static void add_size(struct sw_counts *c, uint64_t fourths[2], uint64_t n) {
    c->clusters++;
    c->largest = n > c->largest ? n : c->largest;
    c->squares += n * n;
    sw_add_fourth(fourths, n * n);
    c->bins[63 - __builtin_clzll(n)]++;
}

static void add_sizes(struct work *w, uint32_t begin, uint32_t end) {
    const struct sw_sites_twin *t = w->t;
    struct sw_counts *all = &w->t->counts, c = {0};
    uint64_t fourths[2] = {0, 0};
    for (uint32_t i = begin; i < end; i++)
        if (t->labels[i] == i)
            add_size(&c, fourths, t->sizes[i]);
    pthread_mutex_lock(&w->lock);
    all->clusters += c.clusters;
    all->largest = c.largest > all->largest ? c.largest : all->largest;
    all->squares += c.squares;
    for (size_t b = 0; b < SW_CLUSTER_BINS; b++)
        all->bins[b] += c.bins[b];
    w->fourths[0] += fourths[0];
    w->fourths[1] += fourths[1] + (w->fourths[0] < fourths[0]);
    pthread_mutex_unlock(&w->lock);
}

static void label(struct work *w) {
    struct sw_sites_twin *t = w->t;
    const uint32_t layer = twin.lz > 1 ? twin.lx * twin.ly : twin.lx, layers = twin.sites / layer;
    const uint32_t fit = twin.sites / t->piece_sites, most = fit < MOST_PIECES ? fit : MOST_PIECES;
    struct pieces all = {.s = w->s,
                         .layer = layer,
                         .n = most < 1        ? 1
                              : most < layers ? most
                                              : layers};
    for (size_t k = 0; k < all.n; k++)
        all.of[k] = (struct piece){t, (uint32_t)(layers * k / all.n) * layer,
                                   (uint32_t)(layers * (k + 1) / all.n) * layer, 0};
    t->counts = (struct sw_counts){0};
    t->found.wraps = 0;
    w->fourths[0] = w->fourths[1] = 0;
    ergo_parallel(all.n, all.n, label_piece, &all);
    join_pieces(&all);
    for (size_t k = 0; k < all.n; k++)
        t->found.wraps |= all.of[k].wraps;
    each_site(w, settle);
    each_site(w, add_sizes);
    t->counts.fourths = sw_fourths_value(w->fourths);
}

/* ---- flips and sums -------------------------------------------------------------------------- */

/* Bonds to the ghost spin; several cores may store the same 1. */
static void hold(struct work *w, uint32_t begin, uint32_t end) {
    const struct sw_sites_twin *t = w->t;
    for (uint32_t i = begin; i < end; i++)
        if (t->bonds[i] & SW_GHOST_BOND)
            __atomic_store_n(t->held + t->labels[i], 1, __ATOMIC_RELAXED);
}

/* The state that a cluster draws. */
static uint8_t drawn(const struct work *w, uint32_t label) {
    return twin.field && w->t->held[label]
               ? 0
               : (uint8_t)sw_state(label, SW_PURPOSE_SPIN, (uint32_t)w->step,
                                   (uint32_t)(w->step >> 32), w->m->key0, w->m->key1);
}

static void flip_first(struct work *w, uint32_t begin, uint32_t end) {
    uint8_t *spins = w->t->spins;
    for (uint32_t i = begin; i < end; i++)
        if (w->t->labels[i] == i)
            spins[i] = drawn(w, i);
}

static void flip_others(struct work *w, uint32_t begin, uint32_t end) {
    uint8_t *spins = w->t->spins;
    for (uint32_t i = begin; i < end; i++)
        if (w->t->labels[i] != i)
            spins[i] = spins[w->t->labels[i]];
}

/* With antiperiodic sides: states of a cluster change alike. */
static void flip_turned(struct work *w, uint32_t begin, uint32_t end) {
    uint8_t *spins = w->t->spins;
    for (uint32_t i = begin; i < end; i++)
        spins[i] ^= drawn(w, w->t->labels[i]);
}

static void flip_vectors(struct work *w, uint32_t begin, uint32_t end) {
    sw_vectors_flip(w->v, begin, end, w->t->labels);
}

static void flip_one(struct work *w) {
    struct sw_sites_twin *t = w->t;
    const struct sw_seed seed = sw_site_seed(w->m, w->step);
    struct piece whole = {t, 0, twin.sites, 0};
    uint8_t *spins = t->spins;
    memset(t->labels, 0xff, 4 * (size_t)twin.sites);
    t->counts = (struct sw_counts){0};
    t->found.grown = walk(&whole, seed.site);
    t->found.wraps = 0;
    for (uint32_t k = t->found.grown; k-- > 0;) /* the ghost spin holds all */
        t->found.grown = t->bonds[t->queue[k]] & SW_GHOST_BOND ? 0 : t->found.grown;
    for (uint32_t k = 0; k < t->found.grown; k++) {
        const uint32_t i = t->queue[k];
        if (w->v) {
            t->found.parts += sw_part_fixed(t->parts[i]);
            sw_vectors_flip(w->v, i, i + 1, NULL);
        } else {
            spins[i] = (uint8_t)((spins[i] + seed.shift) % twin.q);
        }
    }
}

static void count_spins(struct work *w, uint32_t begin, uint32_t end) {
    const uint8_t *spins = w->t->spins;
    struct sw_counts *all = &w->t->counts, c = {0};
    uint32_t x, y, z, around, weak[2] = {0, 0};
    place_of(begin, &x, &y, &z);
    for (uint32_t i = begin; i < end; i++, move_on(&x, &y, &z)) {
        c.states[spins[i]]++;
        for (uint32_t d = 0; d < twin.directions; d++)
            if (sw_site_owns(x, y, z, d)) {
                const uint32_t other = spins[sw_site_next(x, y, z, d, &around)];
                const uint32_t is_weak = weak_of(w->t, i) >> d & 1u;
                const uint32_t unequal = (other ^ sw_site_turns(around)) != spins[i];
                c.unequal += unequal & ~is_weak;
                weak[0] += unequal & is_weak;
                weak[1] += is_weak;
            }
    }
    pthread_mutex_lock(&w->lock);
    for (size_t k = 0; k < sizeof c.states / sizeof *c.states; k++)
        all->states[k] += c.states[k];
    all->unequal += c.unequal;
    for (size_t k = 0; k < 2; k++)
        w->t->found.weak[k] += weak[k];
    pthread_mutex_unlock(&w->lock);
}

/* Pairs of sites in one cluster; of unit vectors by their parts after the step. */
static void count_pairs(struct work *w, uint32_t begin, uint32_t end) {
    struct sw_sites_twin *t = w->t;
    uint64_t pairs[2] = {0, 0};
    uint32_t x, y, z;
    place_of(begin, &x, &y, &z);
    for (uint32_t i = begin; i < end; i++, move_on(&x, &y, &z))
        for (uint32_t side = 0; side < (twin.lz > 1 ? 3 : 2); side++)
            for (uint32_t k = 0; k < 2; k++) {
                const uint32_t other = sw_site_apart(x, y, z, side, k ? 4 : 2);
                if (t->labels[i] == t->labels[other])
                    pairs[k] += w->v ? sw_part_fixed(t->parts[i] * t->parts[other]) : 1;
            }
    pthread_mutex_lock(&w->lock);
    for (size_t k = 0; k < 2; k++)
        t->found.pairs[k] += pairs[k];
    pthread_mutex_unlock(&w->lock);
}

static void sum_vectors(struct work *w, uint32_t begin, uint32_t end) {
    int64_t sums[SW_NUMBERS] = {0};
    sw_vectors_sum(w->v, begin, end, sums);
    pthread_mutex_lock(&w->lock);
    for (size_t k = 0; k < SW_NUMBERS; k++)
        w->t->sums[k] += sums[k];
    pthread_mutex_unlock(&w->lock);
}

/* ---- a step ---------------------------------------------------------------------------------- */

static void start(struct work *w, uint32_t begin, uint32_t end) {
    uint8_t *spins = w->t->spins;
    if (w->v) {
        sw_vectors_start(w->v, begin, end, w->random);
        return;
    }
    for (uint32_t i = begin; i < end; i++)
        spins[i] =
            w->random ? (uint8_t)sw_state(i, SW_PURPOSE_START, 0, 0, w->m->key0, w->m->key1) : 0;
}

void sw_sites_twin_start(const struct ergo_point *point, const struct sw_sites_shape *s,
                         struct sw_sites_twin *t) {
    struct sw_site_member m;
    sw_sites_member_fill(point, &m);
    const struct sw_vectors v = {s, t->spins, &m, 0, NULL};
    struct work w = {.s = s,
                     .m = &m,
                     .v = s->model == SW_MODEL_POTTS ? NULL : &v,
                     .t = t,
                     .random = strcmp(ergo_point_text(point, "/system/start"), "random") == 0};
    t->chance = s->adapts ? sw_adapt_start(point, &m) : 0;
    each_site(&w, start);
}

void sw_sites_twin_step(const struct ergo_point *point, const struct sw_sites_shape *s,
                        uint64_t step, bool counted, struct sw_sites_twin *t) {
    struct sw_site_member m;
    sw_sites_member_fill(point, &m);
    t->found = (struct sw_found){.chance = s->adapts ? t->chance : 0};
    if (s->adapts)
        sw_site_take(&m, t->chance);
    const struct sw_vectors v = {s, t->spins, &m, step, s->disordered ? t->weak : NULL};
    struct work w = {.s = s,
                     .m = &m,
                     .v = s->model == SW_MODEL_POTTS ? NULL : &v,
                     .t = t,
                     .step = step,
                     .lock = PTHREAD_MUTEX_INITIALIZER};
    twin = *s;
    if (s->disordered && !t->coupled)
        each_site(&w, couple);
    t->coupled = true;
    if (w.v)
        each_site(&w, set_parts);
    each_site(&w, w.v ? draw_parts : draw);
    if (s->wolff) {
        flip_one(&w);
    } else {
        label(&w);
        if (s->field) {
            memset(t->held, 0, s->sites);
            each_site(&w, hold);
        }
        if (!w.v && !s->anti)
            each_site(&w, flip_first);
        each_site(&w, w.v ? flip_vectors : s->anti ? flip_turned : flip_others);
    }
    if (s->adapts)
        t->chance = sw_site_changed(&m, t->chance, sw_adapt_shift(point, step), t->found.wraps);
    if (!counted)
        return;
    if (!s->wolff && w.v)
        each_site(&w, set_parts);
    if (!s->wolff)
        each_site(&w, count_pairs);
    if (s->waved)
        sw_twin_waves(s, t);
    memset(t->sums, 0, sizeof t->sums);
    each_site(&w, w.v ? sum_vectors : count_spins);
}
