/*
 * Clusters of a step in C (twin.c): bond after bond, in the order of sites; a bond within a cluster
 * that leads there by edges of the lattice other than those of the way known so far closes a way
 * around it. Of a huge lattice all cores join pieces of whole layers, and then the bonds between
 * pieces, two and two. A single cluster (Wolff) is walked along its active bonds.
 */
#include <pthread.h>
#include <string.h>

#include "base/parallel.h"
#include "samplers/swendsen_wang/sites/twin_lattice.h"

enum { MOST_PIECES = 16 }; /* more would leave more to join */

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

uint32_t sw_twin_walk(const struct sw_sites_shape *s, struct sw_sites_twin *t, uint32_t first) {
    struct piece whole = {t, 0, s->sites, 0}, *p = &whole;
    uint32_t queued = 0;
    lattice = *s;
    memset(t->labels, 0xff, 4 * (size_t)s->sites);
    visit(p, first, first, 0, &queued);
    for (uint32_t at = 0; at < queued; at++) {
        const uint32_t i = t->queue[p->begin + at], way = t->ways[i];
        uint32_t x, y, z;
        place_of(i, &x, &y, &z);
        for (uint32_t d = 0; d < lattice.directions; d++) {
            uint32_t around, bx, by;
            const uint32_t next = sw_site_next(x, y, z, d, &around);
            if (t->bonds[i] >> d & 1u)
                visit(p, next, first, way ^ around, &queued);
            const uint32_t before = sw_site_before(x, y, z, d, &bx, &by);
            if (!(t->bonds[before] >> d & 1u))
                continue;
            sw_site_next(bx, by, before / lattice.lx / lattice.ly, d, &around);
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
    lattice = *all->s;
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
    lattice = *all->s;
    for (uint32_t i = p->end - all->layer; i < p->end; i++) {
        uint32_t x, y, z, around;
        place_of(i, &x, &y, &z);
        for (uint32_t d = 0; d < lattice.directions; d++) {
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

/* ---- sizes, by all cores --------------------------------------------------------------------- */

struct sizes {
    struct sw_sites_twin *t;
    uint64_t fourths[2];
    pthread_mutex_t lock;
};

/* Others may do the same to sites on the way: each of their values leads to the same end. */
static void settle(size_t begin, size_t end, void *user) {
    uint32_t *labels = ((struct sizes *)user)->t->labels;
    for (size_t i = begin; i < end; i++) {
        uint32_t at = (uint32_t)i, to = __atomic_load_n(labels + i, __ATOMIC_RELAXED);
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

static void add_sizes(size_t begin, size_t end, void *user) {
    struct sizes *w = user;
    const struct sw_sites_twin *t = w->t;
    struct sw_counts *all = &w->t->counts, c = {0};
    uint64_t fourths[2] = {0, 0};
    for (size_t i = begin; i < end; i++)
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

void sw_twin_label(const struct sw_sites_shape *s, struct sw_sites_twin *t) {
    const uint32_t layer = s->lz > 1 ? s->lx * s->ly : s->lx, layers = s->sites / layer;
    const uint32_t fit = s->sites / t->piece_sites, most = fit < MOST_PIECES ? fit : MOST_PIECES;
    struct sizes sizes = {.t = t, .lock = PTHREAD_MUTEX_INITIALIZER};
    struct pieces all = {.s = s, .layer = layer, .n = most < 1 ? 1 : most < layers ? most : layers};
    for (size_t k = 0; k < all.n; k++)
        all.of[k] = (struct piece){t, (uint32_t)(layers * k / all.n) * layer,
                                   (uint32_t)(layers * (k + 1) / all.n) * layer, 0};
    t->counts = (struct sw_counts){0};
    t->found.wraps = 0;
    ergo_parallel(all.n, all.n, label_piece, &all);
    join_pieces(&all);
    for (size_t k = 0; k < all.n; k++)
        t->found.wraps |= all.of[k].wraps;
    ergo_parallel_ranges(s->sites, SW_TWIN_WORTHWHILE, settle, &sizes);
    ergo_parallel_ranges(s->sites, SW_TWIN_WORTHWHILE, add_sizes, &sizes);
    t->counts.fourths = sw_fourths_value(sizes.fourths);
}
