/*
 * A step in C. Random numbers and neighbours are those of cl/swendsen_wang/sites.h compiled as C.
 * Clusters: twin_clusters.c. The twin has no tiles, atomics or launches.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/parallel.h"
#include "base/portable.h"
#include "samplers/swendsen_wang/sites/twin_lattice.h"

/* ---- by all cores: ranges of sites ----------------------------------------------------------- */

struct work {
    const struct sw_sites_shape *s;
    const struct sw_site_member *m;
    const struct sw_vectors *v; /* NULL: states */
    struct sw_sites_twin *t;
    uint64_t step;
    bool random; /* start */
    void (*sites)(struct work *w, uint32_t begin, uint32_t end);
    pthread_mutex_t lock; /* of sums */
};

static void do_range(size_t begin, size_t end, void *user) {
    struct work *w = user;
    lattice = *w->s;
    w->sites(w, (uint32_t)begin, (uint32_t)end);
}

static void each_site(struct work *w, void (*sites)(struct work *w, uint32_t begin, uint32_t end)) {
    w->sites = sites;
    ergo_parallel_ranges(w->s->sites, SW_TWIN_WORTHWHILE, do_range, w);
}

/* ---- bonds ----------------------------------------------------------------------------------- */

static void couple(struct work *w, uint32_t begin, uint32_t end) {
    for (uint32_t i = begin; i < end; i++)
        w->t->weak[i] = (uint8_t)sw_site_weak(w->m, i);
}

/* Of a site, by bits. */
static uint32_t weak_of(const struct sw_sites_twin *t, uint32_t i) {
    return lattice.disordered ? t->weak[i] : 0;
}

static void draw(struct work *w, uint32_t begin, uint32_t end) {
    struct sw_sites_twin *t = w->t;
    const uint8_t *spins = t->spins;
    uint32_t x, y, z, around;
    place_of(begin, &x, &y, &z);
    for (uint32_t i = begin; i < end; i++, move_on(&x, &y, &z)) {
        uint32_t open = lattice.field && spins[i] == 0 ? SW_GHOST_BOND : 0;
        for (uint32_t d = 0; d < lattice.directions; d++)
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
        for (uint32_t d = 0; d < lattice.directions; d++)
            if (sw_site_owns(x, y, z, d)) {
                const float other = t->parts[sw_site_next(x, y, z, d, &around)];
                weights[d] = t->parts[i] * (sw_site_turns(around) ? 0 - other : other);
                if (lattice.disordered)
                    weights[d] *= sw_site_coupling(w->m, t->weak[i], d);
            }
        t->bonds[i] = (uint8_t)sw_site_activate_parts(w->m, i, w->step, weights);
    }
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
    return lattice.field && w->t->held[label]
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
    uint8_t *spins = t->spins;
    t->counts = (struct sw_counts){0};
    t->found.grown = sw_twin_walk(w->s, t, seed.site);
    t->found.wraps = 0;
    for (uint32_t k = t->found.grown; k-- > 0;) /* the ghost spin holds all */
        t->found.grown = t->bonds[t->queue[k]] & SW_GHOST_BOND ? 0 : t->found.grown;
    for (uint32_t k = 0; k < t->found.grown; k++) {
        const uint32_t i = t->queue[k];
        if (w->v) {
            t->found.parts += sw_part_fixed(t->parts[i]);
            sw_vectors_flip(w->v, i, i + 1, NULL);
        } else {
            spins[i] = (uint8_t)((spins[i] + seed.shift) % lattice.q);
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
        for (uint32_t d = 0; d < lattice.directions; d++)
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
        for (uint32_t side = 0; side < (lattice.lz > 1 ? 3 : 2); side++)
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
    lattice = *s;
    if (s->disordered && !t->coupled)
        each_site(&w, couple);
    t->coupled = true;
    if (w.v)
        each_site(&w, set_parts);
    each_site(&w, w.v ? draw_parts : draw);
    if (s->wolff) {
        flip_one(&w);
    } else {
        sw_twin_label(s, t);
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
