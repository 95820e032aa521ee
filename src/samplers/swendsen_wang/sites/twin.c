/*
 * A step in serial C. Random numbers and neighbours are those of cl/swendsen_wang/sites.h compiled
 * as C. Clusters are walked along active bonds, and a walk that comes to a known site by edges of
 * the lattice other than those of the first way there has found a way around it. The twin has no
 * tiles, unions, atomics or launches.
 */
#include <stdlib.h>
#include <string.h>

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
#include "swendsen_wang/sites_vectors.h"

bool sw_sites_twin_open(struct sw_sites_twin *t, const struct sw_sites_shape *s) {
    const size_t n = s->sites;
    *t = (struct sw_sites_twin){.spins = malloc(n * s->spin_bytes),
                                .bonds = malloc(n),
                                .labels = malloc(4 * n),
                                .queue = malloc(4 * n),
                                .ways = malloc(n),
                                .parts = malloc(s->model == SW_MODEL_POTTS ? 1 : 4 * n)};
    return t->spins && t->bonds && t->labels && t->queue && t->ways && t->parts;
}

void sw_sites_twin_close(struct sw_sites_twin *t) {
    free(t->spins);
    free(t->bonds);
    free(t->labels);
    free(t->queue);
    free(t->ways);
    free(t->parts);
    *t = (struct sw_sites_twin){0};
}

static void place_of(uint32_t site, uint32_t *x, uint32_t *y, uint32_t *z) {
    *x = site % twin.lx;
    *y = site / twin.lx % twin.ly;
    *z = site / twin.lx / twin.ly;
}

static void draw(const struct sw_site_member *m, uint64_t step, struct sw_sites_twin *t) {
    const uint8_t *spins = t->spins;
    for (uint32_t i = 0; i < twin.sites; i++) {
        uint32_t x, y, z, around, open = 0;
        place_of(i, &x, &y, &z);
        for (uint32_t d = 0; d < twin.directions; d++)
            if (sw_site_owns(x, y, z, d)) {
                const uint32_t other = spins[sw_site_next(x, y, z, d, &around)];
                open |= (uint32_t)((other ^ sw_site_turns(around)) == spins[i]) << d;
            }
        t->bonds[i] = (uint8_t)sw_site_activate(m, i, step, open);
    }
}

/* The same of unit vectors with these parts along the mirror. */
static void draw_parts(const struct sw_site_member *m, uint64_t step, struct sw_sites_twin *t) {
    for (uint32_t i = 0; i < twin.sites; i++) {
        float weights[3] = {0, 0, 0};
        uint32_t x, y, z, around;
        place_of(i, &x, &y, &z);
        for (uint32_t d = 0; d < twin.directions; d++)
            if (sw_site_owns(x, y, z, d)) {
                const float other = t->parts[sw_site_next(x, y, z, d, &around)];
                weights[d] = t->parts[i] * (sw_site_turns(around) ? 0 - other : other);
            }
        t->bonds[i] = (uint8_t)sw_site_activate_parts(m, i, step, weights);
    }
}

/* Come to `site` from a site of the cluster `label`, by edges `way`. */
static void visit(struct sw_sites_twin *t, uint32_t site, uint32_t label, uint32_t way,
                  uint32_t *queued) {
    if (t->labels[site] == UINT32_MAX) {
        t->labels[site] = label;
        t->ways[site] = (uint8_t)way;
        t->queue[(*queued)++] = site;
    } else {
        t->found.wraps |= way ^ t->ways[site];
    }
}

/* Label the cluster of a site. Returns its size. */
static uint32_t walk(struct sw_sites_twin *t, uint32_t first) {
    uint32_t queued = 0;
    visit(t, first, first, 0, &queued);
    for (uint32_t at = 0; at < queued; at++) {
        const uint32_t i = t->queue[at], way = t->ways[i];
        uint32_t x, y, z;
        place_of(i, &x, &y, &z);
        for (uint32_t d = 0; d < twin.directions; d++) {
            uint32_t around, bx, by;
            const uint32_t next = sw_site_next(x, y, z, d, &around);
            if (t->bonds[i] >> d & 1u)
                visit(t, next, first, way ^ around, &queued);
            const uint32_t before = sw_site_before(x, y, z, d, &bx, &by);
            if (!(t->bonds[before] >> d & 1u))
                continue;
            sw_site_next(bx, by, before / twin.lx / twin.ly, d, &around);
            visit(t, before, first, way ^ around, &queued);
        }
    }
    return queued;
}

static void add_size(struct sw_counts *c, uint64_t fourths[2], uint64_t n) {
    c->clusters++;
    c->largest = n > c->largest ? n : c->largest;
    c->squares += n * n;
    sw_add_fourth(fourths, n * n);
    c->bins[63 - __builtin_clzll(n)]++;
}

static void label(struct sw_sites_twin *t) {
    struct sw_counts *c = &t->counts;
    uint64_t fourths[2] = {0, 0};
    *c = (struct sw_counts){0};
    memset(t->labels, 0xff, 4 * (size_t)twin.sites);
    for (uint32_t i = 0; i < twin.sites; i++)
        if (t->labels[i] == UINT32_MAX)
            add_size(c, fourths, walk(t, i));
    c->fourths = sw_fourths_value(fourths);
}

static void flip(const struct sw_site_member *m, uint64_t step, const struct sw_vectors *v,
                 struct sw_sites_twin *t) {
    uint8_t *spins = t->spins;
    for (uint32_t i = 0; i < twin.sites; i++) {
        if (v) {
            if (sw_site_flips(m, t->labels[i], step))
                sw_vectors_flip(v, i);
            continue;
        }
        const uint32_t root = t->labels[i];
        if (!twin.anti && root != i)
            spins[i] = spins[root];
        else
            spins[i] = (uint8_t)((twin.anti ? spins[i] : 0u) ^
                                 sw_state(root, SW_PURPOSE_SPIN, (uint32_t)step,
                                          (uint32_t)(step >> 32), m->key0, m->key1));
    }
}

static void flip_one(const struct sw_site_member *m, uint64_t step, const struct sw_vectors *v,
                     struct sw_sites_twin *t) {
    const struct sw_seed seed = sw_site_seed(m, step);
    uint8_t *spins = t->spins;
    memset(t->labels, 0xff, 4 * (size_t)twin.sites);
    t->counts = (struct sw_counts){0};
    t->found.grown = walk(t, seed.site);
    t->found.wraps = 0;
    for (uint32_t k = 0; k < t->found.grown; k++) {
        const uint32_t i = t->queue[k];
        if (v) {
            t->found.parts += sw_part_fixed(t->parts[i]);
            sw_vectors_flip(v, i);
        } else {
            spins[i] = (uint8_t)((spins[i] + seed.shift) % twin.q);
        }
    }
}

static void count_spins(struct sw_sites_twin *t) {
    const uint8_t *spins = t->spins;
    struct sw_counts *c = &t->counts;
    for (uint32_t i = 0; i < twin.sites; i++) {
        uint32_t x, y, z, around;
        place_of(i, &x, &y, &z);
        c->states[spins[i]]++;
        for (uint32_t d = 0; d < twin.directions; d++)
            if (sw_site_owns(x, y, z, d)) {
                const uint32_t other = spins[sw_site_next(x, y, z, d, &around)];
                c->unequal += (other ^ sw_site_turns(around)) != spins[i];
            }
    }
}

/* Of unit vectors the parts are those after the step. */
static void count_pairs(const struct sw_vectors *v, struct sw_sites_twin *t) {
    if (v)
        sw_vectors_parts(v, t->parts);
    for (uint32_t i = 0; i < twin.sites; i++) {
        uint32_t x, y, z;
        place_of(i, &x, &y, &z);
        for (uint32_t side = 0; side < (twin.lz > 1 ? 3 : 2); side++)
            for (uint32_t k = 0; k < 2; k++) {
                const uint32_t other = sw_site_apart(x, y, z, side, k ? 4 : 2);
                if (t->labels[i] == t->labels[other])
                    t->found.pairs[k] += v ? sw_part_fixed(t->parts[i] * t->parts[other]) : 1;
            }
    }
}

void sw_sites_twin_start(const struct ergo_point *point, const struct sw_sites_shape *s,
                         struct sw_sites_twin *t) {
    struct sw_site_member m;
    const bool random = strcmp(ergo_point_text(point, "/system/start"), "random") == 0;
    uint8_t *spins = t->spins;
    sw_sites_member_fill(point, &m);
    const struct sw_vectors v = {s, t->spins, &m, 0};
    twin = *s;
    t->chance = sw_adapt_start(point, &m);
    if (s->model != SW_MODEL_POTTS)
        sw_vectors_start(&v, random);
    for (uint32_t i = 0; i < s->sites && s->model == SW_MODEL_POTTS; i++)
        spins[i] = random ? (uint8_t)sw_state(i, SW_PURPOSE_START, 0, 0, m.key0, m.key1) : 0;
}

void sw_sites_twin_step(const struct ergo_point *point, const struct sw_sites_shape *s,
                        uint64_t step, bool counted, struct sw_sites_twin *t) {
    struct sw_site_member m;
    sw_sites_member_fill(point, &m);
    t->found = (struct sw_found){.chance = s->adapts ? t->chance : 0};
    if (s->adapts)
        sw_site_take(&m, t->chance);
    const struct sw_vectors vectors = {s, t->spins, &m, step};
    const struct sw_vectors *v = s->model == SW_MODEL_POTTS ? NULL : &vectors;
    twin = *s;
    if (v) {
        sw_vectors_parts(v, t->parts);
        draw_parts(&m, step, t);
    } else {
        draw(&m, step, t);
    }
    if (s->wolff) {
        flip_one(&m, step, v, t);
    } else {
        label(t);
        flip(&m, step, v, t);
    }
    if (s->adapts)
        t->chance = sw_site_changed(&m, t->chance, sw_adapt_shift(point, step), t->found.wraps);
    if (counted && !s->wolff)
        count_pairs(v, t);
    if (counted && v)
        sw_vectors_sum(v, t->sums);
    else if (counted)
        count_spins(t);
}
