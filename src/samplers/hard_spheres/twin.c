/* The kernels on the host: their random choices (cl/hard_spheres/core.h), and plain integers for
 * all else. For audits and tests, on all of a member's cells or on some layers. */
#include <stdlib.h>
#include <string.h>

#include "base/parallel.h"
#include "hard_spheres/core.h"
#include "samplers/hard_spheres/spheres.h"
#include "samplers/histogram.h"

struct twin {
    const struct spheres_sweeps *run;
    struct spheres_config *config;
    uint32_t *tally; /* or NULL */
    struct spheres_metric metric;
};

/* A cell and those around it; `own` is number 13. In a band, layers next to its ends have wrong
 * neighbours. */
struct twin_place {
    uint32_t id; /* its number in the member, which addresses its draws */
    size_t around[27];
};

enum { OWN = 13 };
enum { WORTHWHILE = 1 << 10 }; /* cells that are worth waking a core */

static struct twin_place place_of(const struct spheres_config *c, size_t x, size_t y, size_t z) {
    const size_t nx = c->cells[0], ny = c->cells[1], nz = c->layers;
    struct twin_place p = {.id = (uint32_t)(((c->first + z) % c->cells[2] * ny + y) * nx + x)};
    for (size_t k = 0; k < 27; k++)
        p.around[k] = ((z + k / 9 + nz - 1) % nz * ny + (y + k / 3 % 3 + ny - 1) % ny) * nx +
                      (x + k % 3 + nx - 1) % nx;
    return p;
}

/* Does a sphere of the cell at `at` overlap any but sphere `self` of that cell? */
static bool overlaps(const struct twin *t, const struct twin_place *p, unsigned self,
                     const int64_t at[3]) {
    const uint32_t *w = t->run->shape->width;
    for (int k = 0; k < 27; k++) {
        const struct spheres_place *place = t->config->place + p->around[k] * SPHERES_MANY;
        const int64_t ox = (k % 3 - 1) * (int64_t)w[0], oy = (k / 3 % 3 - 1) * (int64_t)w[1],
                      oz = (k / 9 - 1) * (int64_t)w[2];
        for (unsigned j = 0; j < t->config->count[p->around[k]]; j++) {
            const int64_t dx = place[j].at[0] + ox - at[0], dy = place[j].at[1] + oy - at[1],
                          dz = place[j].at[2] + oz - at[2];
            if (!(k == OWN && j == self) && spheres_r2(dx, dy, dz, t->metric) < t->config->contact)
                return true;
        }
    }
    return false;
}

/* Where something at `at` in the cell is in the box. */
static void place_in_box(const struct twin *t, const struct twin_place *p, const int64_t at[3],
                         uint64_t place[3]) {
    const struct spheres_config *c = t->config;
    const struct spheres_shape *s = t->run->shape;
    const uint64_t cell[3] = {p->id % c->cells[0], p->id / c->cells[0] % c->cells[1],
                              p->id / c->cells[0] / c->cells[1]};
    for (int k = 0; k < 3; k++)
        place[k] = (c->grid[k] + cell[k] * s->width[k] + (uint64_t)at[k]) % s->side[k];
}

/* Do walls and the field allow move s of a cell, from `at` to `to`? */
static bool allows(const struct twin *t, const struct twin_place *p, uint64_t step, unsigned s,
                   const uint32_t *at, const int64_t to[3]) {
    const struct spheres_shape *shape = t->run->shape;
    const struct spheres_member *m = t->run->member;
    const int64_t from[3] = {at[0], at[1], at[2]};
    uint64_t now[3], then[3];
    if (!shape->confined.is)
        return true;
    place_in_box(t, p, to, then);
    if (!shape->confined.field || !ergo_confined_free(&shape->confined, 3, then))
        return ergo_confined_free(&shape->confined, 3, then);
    place_in_box(t, p, from, now);
    const struct ergo_words r =
        ergo_philox_words(p->id, (uint32_t)step, (uint32_t)(step >> 32),
                          ERGO_DRAW(SPHERES_PURPOSE_FIELD + t->run->purpose, spheres_draw_field(s)),
                          m->key0, m->key1);
    return ergo_field_accepts(ergo_confined_energy(&shape->confined, t->run->field, then) -
                                  ergo_confined_energy(&shape->confined, t->run->field, now),
                              spheres_word(r, s % 4));
}

static void update(struct twin *t, const struct twin_place *p, uint64_t step) {
    const struct spheres_member *m = t->run->member;
    const size_t own = p->around[OWN];
    const unsigned n = t->config->count[own];
    uint32_t accepted = 0;
    if (t->tally)
        t->tally[own] = 0;
    if (n == 0)
        return;
    for (unsigned s = 0; s < t->run->shape->moves_per_cell; s++) {
        const uint32_t draws[2] = {spheres_draw_choice(s), spheres_draw_move(s)};
        struct ergo_words r[2];
        for (int k = 0; k < 2; k++)
            r[k] = ergo_philox_words(p->id, (uint32_t)step, (uint32_t)(step >> 32),
                                     ERGO_DRAW(SPHERES_PURPOSE_CELL + t->run->purpose, draws[k]),
                                     m->key0, m->key1);
        const unsigned i = ergo_below(spheres_word(r[0], s % 4), n);
        const struct spheres_move d =
            spheres_displacement(s % 2 ? r[1].z : r[1].x, s % 2 ? r[1].w : r[1].y, m->step);
        uint32_t *at = t->config->place[own * SPHERES_MANY + i].at;
        const int64_t to[3] = {at[0] + (int64_t)d.x, at[1] + (int64_t)d.y, at[2] + (int64_t)d.z};
        bool inside = true;
        for (int k = 0; k < 3; k++)
            inside = inside && to[k] >= 0 && to[k] < (int64_t)t->run->shape->width[k];
        if (!inside || overlaps(t, p, i, to) || !allows(t, p, step, s, at, to))
            continue;
        for (int k = 0; k < 3; k++)
            at[k] = (uint32_t)to[k];
        accepted++;
    }
    if (t->tally)
        t->tally[own] = accepted | 1U << 16;
}

/* Cells of a set, of which none sees another: rows of all layers, by all cores. */
struct updates {
    struct twin *t;
    uint32_t set;
    uint64_t step;
};

static void update_rows(size_t begin, size_t end, void *user) {
    const struct updates *a = user;
    const struct spheres_config *c = a->t->config;
    for (size_t row = begin; row < end; row++) {
        const size_t y = row % c->cells[1], z = row / c->cells[1];
        if (((c->first + z) & 1) != a->set >> 2 || (y & 1) != (a->set >> 1 & 1))
            continue; /* a side has an even number of cells */
        for (size_t x = a->set & 1; x < c->cells[0]; x += 2) {
            const struct twin_place p = place_of(c, x, y, z);
            update(a->t, &p, a->step);
        }
    }
}

static void update_set(struct twin *t, uint32_t set, uint64_t step) {
    struct updates a = {t, set, step};
    const size_t rows = (size_t)t->config->cells[1] * t->config->layers;
    ergo_parallel_ranges(rows, WORTHWHILE / t->config->cells[0] + 1, update_rows, &a);
}

struct shift {
    const struct twin *t;
    uint64_t plan;
    const struct spheres_config *from;
};

static void shift_cells(size_t begin, size_t end, void *user) {
    const struct shift *a = user;
    const struct spheres_shape *s = a->t->run->shape;
    const struct spheres_config *from = a->from;
    struct spheres_config *c = a->t->config;
    const uint64_t plan = a->plan;
    const unsigned axis = (unsigned)(plan >> SPHERES_PLAN_AXIS) & 3;
    const int64_t sense = plan >> SPHERES_PLAN_UP & 1 ? 1 : -1;
    const int64_t distance = (int64_t)(plan >> SPHERES_PLAN_DISTANCE);
    const int64_t width = s->width[axis];
    static const int strides[3] = {1, 3, 9};
    for (size_t cell = begin; cell < end; cell++) {
        const struct twin_place p =
            place_of(c, cell % c->cells[0], cell / c->cells[0] % c->cells[1],
                     cell / c->cells[0] / c->cells[1]);
        c->count[cell] = 0;
        for (int part = 0; part < 2; part++) {
            const size_t other = part ? p.around[OWN + sense * strides[axis]] : cell;
            for (unsigned i = 0; i < from->count[other]; i++) {
                struct spheres_place place = from->place[other * SPHERES_MANY + i];
                const int64_t to = place.at[axis] + sense * ((part ? width : 0) - distance);
                if (to < 0 || to >= width || c->count[cell] >= s->slots)
                    continue;
                place.at[axis] = (uint32_t)to;
                c->place[cell * SPHERES_MANY + c->count[cell]++] = place;
            }
        }
    }
}

static void shift(struct twin *t, uint64_t plan, struct spheres_config *from) {
    struct spheres_config *c = t->config;
    const unsigned axis = (unsigned)(plan >> SPHERES_PLAN_AXIS) & 3;
    const struct spheres_config kept = *from; /* the copies change places */
    struct shift a = {t, plan, from};
    from->count = c->count;
    from->place = c->place;
    c->count = kept.count;
    c->place = kept.place;
    ergo_parallel_ranges((size_t)c->cells[0] * c->cells[1] * c->layers, WORTHWHILE, shift_cells,
                         &a);
    c->grid[axis] = spheres_grid(c->grid[axis], plan, t->run->shape->side[axis]);
}

/* What the move of that step proposes to a box of that volume. */
static struct ergo_volume tried_of(const struct spheres_sweeps *run, uint64_t step,
                                   struct ergo_volume volume) {
    if (!run->shape->per_axis)
        return volume;
    return spheres_volume_tried(run->shape->rules, run->member->key0, run->member->key1, volume,
                                step);
}

uint64_t spheres_twin_least(const struct spheres_sweeps *run, const struct ergo_volume *volume,
                            const struct spheres_config *places, uint64_t step) {
    const struct spheres_metric metric = spheres_metric_at(tried_of(run, step, *volume));
    return spheres_config_closest_by(places, run->shape, &metric, NULL, NULL);
}

void spheres_twin_volume(const struct spheres_sweeps *run, struct spheres_config *c, uint64_t step,
                         uint64_t least) {
    const struct spheres_member *m = run->member;
    if ((step + 1) % run->shape->volume_every)
        return;
    struct ergo_volume_rules rules = run->shape->rules;
    if (run->shape->per_axis)
        rules = spheres_rules_at(rules, m->width[0], m->width[1], m->width[2],
                                 spheres_metric_at(tried_of(run, step, c->volume)));
    ergo_volume_move(rules, m->key0, m->key1, step, SPHERES_PURPOSE_VOLUME, 3, run->shape->per_axis,
                     least, &c->volume, &c->contact);
}

bool spheres_twin_sweeps(const struct spheres_sweeps *run, struct spheres_config *c,
                         uint32_t *tally) {
    struct twin t = {.run = run, .config = c};
    const struct spheres_member *m = run->member;
    struct spheres_config copy;
    if (!spheres_config_make(&copy, c->cells, c->first, c->layers))
        return false;
    for (uint64_t step = run->step, end = step + run->count; step < end; step++) {
        const uint64_t plan = spheres_plan(SPHERES_PURPOSE_GRID + run->purpose, m->key0, m->key1,
                                           step, m->width[0], m->width[1], m->width[2]);
        t.tally = step + 1 == end ? tally : NULL;
        t.metric = spheres_metric_at(c->volume);
        for (unsigned sub = 0; sub < 8; sub++)
            update_set(&t, (uint32_t)(plan >> 3 * sub) & 7, step);
        shift(&t, plan, &copy);
        /* a band does not know its closest pair */
        if (run->shape->npt && !run->purpose && c->layers == c->cells[2])
            spheres_twin_volume(run, c, step, spheres_twin_least(run, &c->volume, c, step));
    }
    spheres_config_free(&copy);
    return true;
}

/* ---- places ---------------------------------------------------------------------------------- */

int64_t spheres_twin_energy(const struct spheres_shape *s, const struct spheres_config *c,
                            const int64_t *field, size_t cell) {
    int64_t sum = 0;
    uint64_t place[3];
    for (size_t i = 0; i < c->count[cell]; i++) {
        spheres_config_at(c, s, cell, i, place);
        sum += ergo_confined_energy(&s->confined, field, place);
    }
    return sum;
}

void spheres_twin_profile(const struct spheres_shape *s, const struct spheres_config *c,
                          unsigned curve, size_t bins, uint32_t *counts) {
    uint64_t place[3];
    memset(counts, 0, bins * sizeof *counts);
    for (size_t cell = 0; cell < s->all; cell++)
        for (size_t i = 0; i < c->count[cell]; i++) {
            spheres_config_at(c, s, cell, i, place);
            ergo_confined_count(&s->confined, curve, bins, place, counts);
        }
}

/* ---- histograms ------------------------------------------------------------------------------ */

static void count_pairs(const struct spheres_shape *s, const struct spheres_config *c, size_t cell,
                        size_t other, const int64_t away[3], const uint64_t *limits, size_t bins,
                        uint32_t *counts) {
    const bool same = !away[0] && !away[1] && !away[2];
    for (size_t i = 0; i < c->count[cell]; i++)
        for (size_t j = same ? i + 1 : 0; j < c->count[other]; j++) {
            uint64_t r2 = 0;
            for (int k = 0; k < 3; k++) {
                const int64_t d = (int64_t)c->place[other * SPHERES_MANY + j].at[k] -
                                  (int64_t)c->place[cell * SPHERES_MANY + i].at[k] +
                                  away[k] * (int64_t)s->width[k];
                r2 += (uint64_t)(d * d);
            }
            const size_t bin = ergo_histogram_bin(limits, bins, r2);
            if (bin < bins)
                counts[bin]++;
        }
}

struct pairs {
    const struct spheres_shape *s;
    const struct spheres_config *c;
    const uint32_t *reach;
    const uint64_t *limits;
    size_t bins;
};

static void pairs_of_cells(size_t begin, size_t end, const void *user, uint32_t *counts) {
    const struct pairs *a = user;
    const struct spheres_config *c = a->c;
    const int64_t n[3] = {c->cells[0], c->cells[1], c->cells[2]};
    const int64_t far[3] = {a->reach[0], a->reach[1], a->reach[2]};
    for (int64_t cell = (int64_t)begin; cell < (int64_t)end; cell++)
        for (int64_t oz = 0; c->count[cell] && oz <= far[2]; oz++) /* each pair once */
            for (int64_t oy = oz ? -far[1] : 0; oy <= far[1]; oy++)
                for (int64_t ox = oz || oy ? -far[0] : 0; ox <= far[0]; ox++) {
                    const int64_t at[3] = {cell % n[0] + ox, cell / n[0] % n[1] + oy,
                                           cell / n[0] / n[1] + oz};
                    const int64_t away[3] = {ox, oy, oz};
                    int64_t other = 0;
                    for (int k = 2; k >= 0; k--)
                        other = other * n[k] + (at[k] + (far[k] / n[k] + 1) * n[k]) % n[k];
                    count_pairs(a->s, c, (size_t)cell, (size_t)other, away, a->limits, a->bins,
                                counts);
                }
}

bool spheres_twin_pairs(const struct spheres_shape *s, const struct spheres_config *c, size_t cells,
                        const uint32_t reach[3], const uint64_t *limits, size_t bins,
                        uint32_t *counts) {
    const struct pairs a = {s, c, reach, limits, bins};
    return ergo_histogram_count(cells < s->all ? cells : s->all, WORTHWHILE, bins, pairs_of_cells,
                                &a, counts);
}
