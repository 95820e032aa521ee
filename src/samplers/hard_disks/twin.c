/* The kernels on the host: their random choices (cl/hard_disks/core.h), and plain integers for all
 * else. For audits and tests, on all of a member's cells or on some rows. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "hard_disks/core.h"
#include "samplers/hard_disks/disks.h"

struct twin {
    const struct disks_shape *shape;
    struct disks_config *config;
    struct disks_member member;
    uint32_t moves;
    uint64_t contact; /* overlap: r^2 < contact */
    uint64_t ratio;   /* (w_y/w_x)^2 */
    bool reflect;
    const int64_t *field; /* its nodes, or NULL */
    int64_t *x, *y;       /* [rows cells][DISKS_SLOTS]: signed, for disks outside of their cells */
    uint32_t *tally;      /* of the cells, or NULL */
};

/* The cells before a shift. */
struct twin_copy {
    int64_t *x, *y;
    uint8_t *count;
};

/* A cell and its neighbours (`own` in the middle). In a band, rows next to its ends have wrong
 * neighbours. */
struct twin_place {
    uint32_t id; /* its number in the member, which addresses its draws */
    size_t own, around[9];
};

static struct twin_place place_of(const struct twin *t, int64_t cx, int64_t row) {
    const int64_t m = t->config->cells[0], rows = t->config->rows;
    struct twin_place p = {.id =
                               (uint32_t)((t->config->first + row) % t->config->cells[1] * m + cx),
                           .own = (size_t)(row * m + cx)};
    for (int64_t k = 0; k < 9; k++)
        p.around[k] = (size_t)((row + k / 3 - 1 + rows) % rows * m + (cx + k % 3 - 1 + m) % m);
    return p;
}

static struct ergo_words draw_of(const struct twin *t, uint32_t cell, uint64_t step,
                                 uint32_t draw) {
    return ergo_philox_words(cell, (uint32_t)step, (uint32_t)(step >> 32),
                             ERGO_DRAW(DISKS_PURPOSE_CELL, draw), t->member.key0, t->member.key1);
}

static void swap(int64_t *a, int64_t *b) {
    const int64_t c = *a;
    *a = *b;
    *b = c;
}

/* r^2 to the nearest disk from (px, py) in a cell, without disk `self` of that cell. */
static uint64_t nearest(const struct twin *t, const struct twin_place *p, unsigned self, int64_t px,
                        int64_t py) {
    const int64_t w = t->shape->width;
    uint64_t least = UINT64_MAX;
    for (int64_t k = 0; k < 9; k++) {
        const size_t other = p->around[k];
        for (unsigned j = 0; j < t->config->count[other]; j++) {
            if (k == 4 && j == self)
                continue;
            const int64_t dx = t->x[other * DISKS_SLOTS + j] + (k % 3 - 1) * w - px;
            const int64_t dy = t->y[other * DISKS_SLOTS + j] + (k / 3 - 1) * w - py;
            const uint64_t r2 = disks_r2(dx, dy, t->ratio);
            least = r2 < least ? r2 : least;
        }
    }
    return least;
}

/* Where a reflection along an axis takes disk `self` of a cell: its coordinate on that axis. */
static int64_t reflected(const struct twin *t, const struct twin_place *p, unsigned self,
                         bool along_y, uint32_t bits) {
    const int64_t w = t->shape->width;
    const int64_t *us = along_y ? t->y : t->x, *vs = along_y ? t->x : t->y;
    const int64_t u = us[p->own * DISKS_SLOTS + self], v = vs[p->own * DISKS_SLOTS + self];
    const float half = 0.5F * (float)w;
    float low = 0, high = (float)(w - 1);
    for (int64_t k = 0; k < 9; k++) {
        const size_t other = p->around[k] * DISKS_SLOTS;
        const int64_t ox = (k % 3 - 1) * w, oy = (k / 3 - 1) * w;
        for (unsigned j = 0; j < t->config->count[p->around[k]]; j++) {
            const int64_t nu = us[other + j] + (along_y ? oy : ox);
            const float across = (float)(vs[other + j] + (along_y ? ox : oy) - v);
            const float chord =
                disks_chord(across * (along_y ? 1.0F : t->member.aspect[0]), t->member.low) *
                (along_y ? t->member.aspect[1] : 1.0F);
            const float at = (float)nu - half;
            if ((k == 4 && j == self) || !(chord > 0))
                continue;
            if (nu < u)
                low = fmaxf(low, at + chord + half);
            else
                high = fminf(high, at - chord + half);
        }
    }
    return (int64_t)disks_reflection((float)u, disks_round(low), disks_round(high), bits);
}

/* Do walls and the field let move s of a cell, from (x, y) to (px, py), happen? */
static bool lets(const struct twin *t, const struct twin_place *p, uint64_t step, unsigned s,
                 int64_t x, int64_t y, int64_t px, int64_t py) {
    const struct disks_shape *shape = t->shape;
    const uint64_t m = t->config->cells[0], w = shape->width;
    const uint64_t corner[2] = {p->id % m * w + t->config->grid[0],
                                p->id / m * w + t->config->grid[1]};
    if (!shape->confined.is)
        return true;
    const uint64_t now[2] = {(corner[0] + (uint64_t)x) % shape->side[0],
                             (corner[1] + (uint64_t)y) % shape->side[1]};
    const uint64_t then[2] = {(corner[0] + (uint64_t)px) % shape->side[0],
                              (corner[1] + (uint64_t)py) % shape->side[1]};
    if (!t->field || !ergo_confined_free(&shape->confined, 2, then))
        return ergo_confined_free(&shape->confined, 2, then);
    const struct ergo_words r =
        ergo_philox_words(p->id, (uint32_t)step, (uint32_t)(step >> 32),
                          ERGO_DRAW(DISKS_PURPOSE_FIELD, s / 4), t->member.key0, t->member.key1);
    const uint32_t words[4] = {r.x, r.y, r.z, r.w};
    return ergo_field_accepts(ergo_confined_energy(&shape->confined, t->field, then) -
                                  ergo_confined_energy(&shape->confined, t->field, now),
                              words[s % 4]);
}

static void update(struct twin *t, int64_t cx, int64_t row, uint64_t step) {
    const struct twin_place p = place_of(t, cx, row);
    const unsigned n = t->config->count[p.own];
    int64_t *x = t->x + p.own * DISKS_SLOTS, *y = t->y + p.own * DISKS_SLOTS;
    static const uint32_t orders[5] = {1, 1, 2, 6, 24};
    uint32_t accepted = 0;
    if (t->tally)
        t->tally[p.own] = 0;
    if (n == 0)
        return;
    struct ergo_words r = draw_of(t, p.id, step, 0);
    const uint32_t spare = t->reflect ? r.z : disks_spare(r, draw_of(t, p.id, step, 1));
    uint32_t k = ergo_below(spare, orders[n]);
    for (unsigned i = n - 1; i > 0 && t->shape->shuffle; i--) {
        swap(&x[i], &x[k % (i + 1)]);
        swap(&y[i], &y[k % (i + 1)]);
        k /= i + 1;
    }
    const int64_t leave = (int64_t)t->member.leave, w = t->shape->width;
    for (unsigned s = 0; s < t->moves; s++) {
        const unsigned i = s % n;
        int64_t px = x[i], py = y[i];
        if (s % 2 == 0)
            r = draw_of(t, p.id, step, s / 2);
        if (t->reflect) {
            const bool along_y = disks_along_y(step, s);
            *(along_y ? &py : &px) = reflected(t, &p, i, along_y, s % 2 ? r.y : r.x);
        } else {
            float dx, dy;
            disks_displacement(s % 2 ? r.z : r.x, s % 2 ? r.w : r.y, t->member.step[0],
                               t->member.step[1], &dx, &dy);
            px += (int64_t)dx;
            py += (int64_t)dy;
        }
        if (px < -leave || px >= w + leave || py < -leave || py >= w + leave ||
            nearest(t, &p, i, px, py) < t->contact || !lets(t, &p, step, s, x[i], y[i], px, py))
            continue;
        x[i] = px;
        y[i] = py;
        accepted++;
    }
    if (t->tally)
        t->tally[p.own] = accepted | 1u << 16;
}

/* Append the disks of cell `from` that belong to cell `to` after the shift, in order. */
static void gather(struct twin *t, const int64_t *x, const int64_t *y, unsigned n, size_t to,
                   int64_t dx, int64_t dy) {
    const int64_t w = t->shape->width;
    for (unsigned k = 0; k < n; k++) {
        const int64_t px = x[k] + dx, py = y[k] + dy;
        if (px < 0 || px >= w || py < 0 || py >= w || t->config->count[to] >= DISKS_SLOTS)
            continue;
        const size_t slot = to * DISKS_SLOTS + t->config->count[to]++;
        t->x[slot] = px;
        t->y[slot] = py;
    }
}

static void shift(struct twin *t, uint32_t plan, const int64_t *x, const int64_t *y,
                  const uint8_t *count) {
    const int64_t m = t->config->cells[0], rows = t->config->rows, w = t->shape->width;
    const uint32_t direction = plan >> DISKS_PLAN_DIRECTION & 3;
    const int64_t distance = (int64_t)(plan >> DISKS_PLAN_DISTANCE);
    const int64_t sense = direction % 2 ? 1 : -1;
    const int64_t fx = direction < 2 ? sense : 0, fy = direction < 2 ? 0 : sense;
    memset(t->config->count, 0, (size_t)(m * rows));
    for (int64_t cell = 0; cell < m * rows; cell++) {
        const struct twin_place p = place_of(t, cell % m, cell / m);
        gather(t, x + cell * DISKS_SLOTS, y + cell * DISKS_SLOTS, count[cell], (size_t)cell,
               -fx * distance, -fy * distance);
        for (int64_t k = 0; k < 9; k++) {
            const int64_t ox = k % 3 - 1, oy = k / 3 - 1;
            if (k == 4 || (!t->shape->leave && (ox != fx || oy != fy)))
                continue;
            const size_t other = p.around[k];
            gather(t, x + other * DISKS_SLOTS, y + other * DISKS_SLOTS, count[other], (size_t)cell,
                   ox * w - fx * distance, oy * w - fy * distance);
        }
    }
    uint64_t *grid = &t->config->grid[direction / 2];
    *grid = disks_grid(*grid, plan, t->shape->side[direction / 2]);
}

/* Memory of a twin: the configuration's coordinates, and a copy for the shift. False: no memory. */
static bool twin_open(struct twin *t, struct twin_copy *old) {
    const size_t cells = disks_config_cells(t->config), slots = cells * DISKS_SLOTS;
    t->x = malloc(4 * slots * sizeof *t->x + cells);
    if (!t->x)
        return false;
    t->y = t->x + slots;
    *old = (struct twin_copy){t->x + 2 * slots, t->x + 3 * slots, (uint8_t *)(t->x + 4 * slots)};
    for (size_t i = 0; i < slots; i++) {
        t->x[i] = t->config->x[i];
        t->y[i] = t->config->y[i];
    }
    return true;
}

static void twin_shift(struct twin *t, uint32_t plan, const struct twin_copy *old) {
    const size_t cells = disks_config_cells(t->config), slots = cells * DISKS_SLOTS;
    memcpy(old->x, t->x, slots * sizeof *old->x);
    memcpy(old->y, t->y, slots * sizeof *old->y);
    memcpy(old->count, t->config->count, cells);
    shift(t, plan, old->x, old->y, old->count);
}

/* Write the coordinates back. */
static void twin_write(struct twin *t) {
    const size_t slots = disks_config_cells(t->config) * DISKS_SLOTS;
    for (size_t i = 0; i < slots; i++) {
        t->config->x[i] = (uint32_t)t->x[i];
        t->config->y[i] = (uint32_t)t->y[i];
    }
}

static void twin_close(struct twin *t) {
    twin_write(t);
    free(t->x);
}

/* Visit the cells of a set, as far as their rows are here. */
static void each_of_set(struct twin *t, uint32_t set,
                        void (*visit)(struct twin *, int64_t cx, int64_t row, const void *user),
                        const void *user) {
    for (int64_t row = 0; row < t->config->rows; row++)
        for (int64_t cx = set & 1; cx < t->config->cells[0]; cx += 2)
            if (((t->config->first + row) & 1) == set >> 1) /* a side has an even number of cells */
                visit(t, cx, row, user);
}

static void visit_update(struct twin *t, int64_t cx, int64_t row, const void *step) {
    update(t, cx, row, *(const uint64_t *)step);
}

bool disks_twin_sweeps(const struct ergo_point *point, const struct disks_shape *s,
                       const int64_t *field, struct disks_config *c, uint64_t step, uint64_t sweeps,
                       uint32_t *cells) {
    struct twin t = {.shape = s, .config = c, .field = field};
    struct twin_copy old;
    disks_member_fill(point, s, &t.member);
    t.moves = (uint32_t)ergo_point_int(point, "/system/moves_per_cell");
    t.reflect = disks_reflects(point);
    if (!twin_open(&t, &old))
        return false;
    for (uint64_t end = step + sweeps; step < end; step++) {
        const uint32_t plan =
            disks_plan(t.member.key0, t.member.key1, step, s->width, s->shuffle_sets);
        t.contact = s->contact;
        t.ratio = s->ratio;
        if (s->npt) {
            t.member = disks_resized(t.member, s->rules, c->size);
            t.contact = c->size.contact;
            t.ratio = c->size.ratio;
        }
        t.tally = step + 1 == end ? cells : NULL;
        for (unsigned sub = 0; sub < 4; sub++)
            each_of_set(&t, plan >> 2 * sub & 3, visit_update, &step);
        twin_shift(&t, plan, &old);
        /* a band does not know its closest pair */
        if (s->npt && c->rows == c->cells[1] && (step + 1) % s->volume_every == 0) {
            twin_write(&t);
            disks_twin_volume(&t.member, s, c, step,
                              disks_twin_least(&t.member, s, &c->size, c, step));
        }
    }
    twin_close(&t);
    return true;
}

uint64_t disks_twin_least(const struct disks_member *m, const struct disks_shape *s,
                          const struct disks_size *size, const struct disks_config *places,
                          uint64_t step) {
    const uint64_t ratio = disks_ratio_tried(m->key0, m->key1, s->rules, size->volume, step);
    return disks_config_closest_by(places, s, s->per_axis ? ratio : s->ratio, NULL, NULL);
}

void disks_twin_volume(const struct disks_member *m, const struct disks_shape *s,
                       struct disks_config *c, uint64_t step, uint64_t least) {
    struct ergo_volume volume = c->size.volume;
    uint64_t contact = c->size.contact;
    if ((step + 1) % s->volume_every)
        return;
    struct ergo_volume_rules rules = s->rules.volume;
    if (s->per_axis)
        rules = disks_rules_at(rules, s->width,
                               disks_ratio_tried(m->key0, m->key1, s->rules, volume, step));
    ergo_volume_move(rules, m->key0, m->key1, step, DISKS_PURPOSE_VOLUME, 2, s->per_axis, least,
                     &volume, &contact);
    c->size = disks_size_at(s->rules, volume);
}

/* ---- random starts ----------------------------------------------------------------------------
 */

struct growth_sweep {
    const struct disks_growth *growth;
    uint32_t sweep;
};

static void grow(struct twin *t, int64_t cx, int64_t row, const void *user) {
    const struct growth_sweep *now = user;
    const struct disks_growth *g = now->growth;
    const struct twin_place p = place_of(t, cx, row);
    const unsigned n = t->config->count[p.own];
    const int64_t w = t->shape->width;
    const uint64_t contact = disks_growth_contact(g->contact[0], g->contact[1], now->sweep);
    for (uint32_t trial = 0; trial < DISKS_START_MOVES && n; trial++) {
        const struct ergo_words r = ergo_philox_words(
            p.id, now->sweep, 0, ERGO_DRAW(DISKS_PURPOSE_START_CELL, trial / 2), g->key0, g->key1);
        const uint32_t a = trial % 2 ? r.z : r.x, b = trial % 2 ? r.w : r.y;
        const unsigned i = disks_growth_slot(b, n);
        int64_t *x = t->x + p.own * DISKS_SLOTS + i, *y = t->y + p.own * DISKS_SLOTS + i;
        float dx, dy;
        disks_displacement(a, b, g->step[0], g->step[1], &dx, &dy);
        const int64_t px = *x + (int64_t)dx, py = *y + (int64_t)dy;
        if (px < 0 || px >= w || py < 0 || py >= w || nearest(t, &p, i, px, py) < contact)
            continue;
        *x = px;
        *y = py;
    }
}

bool disks_twin_growth(const struct disks_growth *g, const struct disks_shape *s,
                       struct disks_config *c, uint32_t sweep) {
    struct twin t = {.shape = s, .config = c, .ratio = s->ratio};
    struct twin_copy old;
    const struct growth_sweep now = {g, sweep};
    const uint32_t plan =
        disks_plan_for(DISKS_PURPOSE_START_GRID, g->key0, g->key1, sweep, s->width, 1);
    if (!twin_open(&t, &old))
        return false;
    for (unsigned sub = 0; sub < 4; sub++)
        each_of_set(&t, plan >> 2 * sub & 3, grow, &now);
    twin_shift(&t, plan, &old);
    c->grid[0] = c->grid[1] = 0; /* a start does not use the grid's place */
    twin_close(&t);
    return true;
}

bool disks_twin_overlaps(const struct disks_growth *g, const struct disks_shape *s,
                         struct disks_config *c, uint64_t *overlaps) {
    struct twin t = {.shape = s, .config = c, .ratio = s->ratio};
    struct twin_copy old;
    *overlaps = 0;
    if (!twin_open(&t, &old))
        return false;
    for (int64_t row = 0; row < c->rows; row++)
        for (int64_t cx = 0; cx < c->cells[0]; cx++) {
            const struct twin_place p = place_of(&t, cx, row);
            for (unsigned i = 0; i < c->count[p.own]; i++)
                *overlaps += nearest(&t, &p, i, t.x[p.own * DISKS_SLOTS + i],
                                     t.y[p.own * DISKS_SLOTS + i]) < g->contact[1];
        }
    twin_close(&t);
    return true;
}
