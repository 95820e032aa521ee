/*
 * An activation of the checkerboard on the host, one active cell after the other, the last first.
 * Active cells must not see each other. If they did, the order would matter, and the kernel, which
 * runs all at once, would give other bits.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/log.h"
#include "common/unit.h"
#include "lj_gcmc/core.h"
#include "oracle/lj_chain.h"

struct cell {
    uint32_t n, capacity;
    uint32_t (*p)[3];
};

struct lj_oracle_board {
    uint32_t period, trials, blocks[3], n[3]; /* n: cells along each axis */
    uint64_t n_blocks;
    size_t n_cells;
    struct cell *cells;
    float tail; /* in this activation, -beta times the tail's energy of a particle */
    /* particles of an active cell and of its neighbourhood */
    uint32_t (*inside)[3], (*around)[3];
    size_t inside_capacity, around_capacity;
};

/* ---- cells ----------------------------------------------------------------------------------- */

static struct cell *cell_at(const struct lj_oracle_board *b, const uint32_t at[3]) {
    return &b->cells[((size_t)(at[2] % b->n[2]) * b->n[1] + at[1] % b->n[1]) * b->n[0] +
                     at[0] % b->n[0]];
}

static uint32_t along(const struct lj_oracle_board *b, const uint32_t *p, int k) {
    return (uint32_t)((uint64_t)p[k] * b->n[k] >> 32);
}

static struct cell *cell_of(const struct lj_oracle_board *b, const uint32_t *p) {
    const uint32_t at[3] = {along(b, p, 0), along(b, p, 1), along(b, p, 2)};
    return cell_at(b, at);
}

static bool add_particle(struct cell *c, const uint32_t p[3]) {
    if (c->n == c->capacity) {
        void *more = realloc(c->p, (size_t)(2 * c->n + 4) * sizeof *c->p);
        if (!more)
            return false;
        c->p = more;
        c->capacity = 2 * c->n + 4;
    }
    memcpy(c->p[c->n++], p, sizeof *c->p);
    return true;
}

bool lj_oracle_board_init(struct lj_oracle *t, const struct ergo_point *point) {
    const struct lj_system s = lj_system_of(point);
    struct lj_oracle_board *b = calloc(1, sizeof *b);
    if (!b)
        return false;
    t->board = b;
    b->period = s.period;
    b->trials = s.trials;
    b->n_blocks = lj_board_blocks(&s, b->blocks);
    b->n_cells = 1;
    for (int k = 0; k < 3; k++) {
        b->n[k] = b->blocks[k] * b->period;
        b->n_cells *= b->n[k];
    }
    b->cells = calloc(b->n_cells, sizeof *b->cells);
    bool ok = b->cells != NULL;
    for (uint32_t i = 0; i < t->n && ok; i++)
        ok = add_particle(cell_of(b, t->p[i]), t->p[i]);
    return ok;
}

void lj_oracle_board_free(struct lj_oracle *t) {
    struct lj_oracle_board *b = t->board;
    for (size_t c = 0; b->cells && c < b->n_cells; c++)
        free(b->cells[c].p);
    free(b->cells);
    free(b->inside);
    free(b->around);
    free(b);
    t->board = NULL;
}

/* ---- an active cell -------------------------------------------------------------------------- */

static bool grow(uint32_t (**p)[3], size_t *capacity, size_t n) {
    if (n <= *capacity)
        return true;
    void *more = realloc(*p, 2 * n * sizeof **p);
    if (!more)
        return false;
    *p = more;
    *capacity = 2 * n;
    return true;
}

/* Cells along an axis of an active cell with its neighbourhood, from first - gap on. */
static uint32_t span(const struct lj_oracle_board *b) {
    return LJ_ACTIVE + 2 * (b->period - LJ_ACTIVE);
}

static struct cell *spanned(const struct lj_oracle_board *b, const uint32_t first[3], uint32_t i,
                            bool *active) {
    const uint32_t wide = span(b), gap = b->period - LJ_ACTIVE;
    const uint32_t d[3] = {i % wide, i / wide % wide, i / wide / wide};
    uint32_t at[3];
    *active = true;
    for (int k = 0; k < 3; k++) {
        at[k] = first[k] + b->n[k] + d[k] - gap;
        *active = *active && d[k] >= gap && d[k] < gap + LJ_ACTIVE;
    }
    return cell_at(b, at);
}

static bool is_inside(const struct lj_oracle_board *b, const uint32_t first[3],
                      const uint32_t p[3]) {
    bool inside = true;
    for (int k = 0; k < 3; k++)
        inside = inside && (along(b, p, k) + b->n[k] - first[k] % b->n[k]) % b->n[k] < LJ_ACTIVE;
    return inside;
}

static void add_pairs(const struct lj_oracle *t, uint32_t (*p)[3], size_t n, const uint32_t at[3],
                      size_t skip, int64_t sign, struct lj_oracle_sums *to) {
    for (size_t j = 0; j < n && !t->m.ideal; j++) {
        const float r2 = lj_oracle_distance2(&t->m, p[j], at);
        if (j != skip && r2 < t->m.cutoff2)
            lj_oracle_pair(&t->m, r2, sign, to);
    }
}

/* Copy the particles of the active cell, cell by cell, and the n_around others in its
 * neighbourhood. false: no memory. */
static bool collect_particles(struct lj_oracle_board *b, const uint32_t first[3], uint32_t *n,
                              size_t *n_around) {
    *n = 0;
    *n_around = 0;
    for (uint32_t i = 0; i < span(b) * span(b) * span(b); i++) {
        bool active;
        struct cell *c = spanned(b, first, i, &active);
        if (!grow(&b->inside, &b->inside_capacity, *n + c->n + b->trials + 1) ||
            !grow(&b->around, &b->around_capacity, *n_around + c->n))
            return false;
        memcpy(active ? b->inside + *n : b->around + *n_around, c->p, c->n * sizeof *c->p);
        *n += active ? c->n : 0;
        *n_around += active ? 0 : c->n;
    }
    return true;
}

static struct ergo_words words_of(const struct lj_oracle *t, uint32_t block, uint32_t draw) {
    return ergo_philox_words(block, (uint32_t)t->step, (uint32_t)(t->step >> 32),
                             ERGO_DRAW(LJ_PURPOSE_CELL, draw), t->m.key0, t->m.key1);
}

/* The field of the tail: a normal number of mean 2 |a| N and variance 2 |a|, the weight being
 * exp(|a| N^2). */
static float draw_tail(const struct lj_oracle *t) {
    if (!(t->m.tail < 0))
        return 0;
    const struct ergo_words w =
        ergo_philox_words(0, (uint32_t)t->step, (uint32_t)(t->step >> 32),
                          ERGO_DRAW(LJ_PURPOSE_BOARD, 1), t->m.key0, t->m.key1);
    const float twice = 2 * -t->m.tail, radius = ergo_sqrt(ergo_minus_log(w.x) * 2);
    return fmaf((float)t->n, twice, radius * ergo_cos(w.y) * ergo_sqrt(twice));
}

static bool accepts(const struct lj_oracle *t, const struct lj_oracle_move *move, uint32_t n,
                    int64_t change) {
    const float tail = t->board->tail;
    const float by = move->kind == LJ_INSERTION ? tail : move->kind == LJ_DELETION ? -tail : 0;
    return lj_oracle_decides(&t->m, move->kind, move->word, n,
                             fmaf(-(float)change, t->m.beta4, by));
}

static bool follow(struct lj_oracle *t, uint32_t block, const uint32_t first[3]) {
    struct lj_oracle_board *b = t->board;
    uint32_t n, low[3], width[3], tried[LJ_KINDS] = {0}, accepted[LJ_KINDS] = {0};
    size_t n_around;
    struct lj_oracle_sums total = {0};
    if (!collect_particles(b, first, &n, &n_around))
        return false;
    const uint32_t before = n;
    for (int k = 0; k < 3; k++) { /* the least position in the active cell, and its width */
        const uint64_t c = first[k] % b->n[k];
        low[k] = (uint32_t)(((c << 32) + b->n[k] - 1) / b->n[k]);
        width[k] = (uint32_t)((((c + LJ_ACTIVE) << 32) + b->n[k] - 1) / b->n[k]) - low[k];
    }
    for (uint32_t trial = 0; trial < b->trials; trial++) {
        struct lj_oracle_move move = lj_oracle_move_of(&t->m, n, words_of(t, block, 2 * trial),
                                                       words_of(t, block, 2 * trial + 1));
        const bool out = move.kind != LJ_INSERTION, in = move.kind != LJ_DELETION;
        struct lj_oracle_sums sums = {.core = move.impossible};
        tried[move.kind]++;
        if (!move.impossible && in) {
            if (out && t->m.local_moves)
                lj_oracle_shift(&t->m, t->step_size, b->inside[move.index], move.to);
            else
                for (int k = 0; k < 3; k++)
                    move.to[k] = low[k] + (uint32_t)((uint64_t)move.to[k] * width[k] >> 32);
            sums.core = !is_inside(b, first, move.to);
        }
        if (!sums.core && in) {
            add_pairs(t, b->inside, n, move.to, out ? move.index : n, 1, &sums);
            add_pairs(t, b->around, n_around, move.to, n_around, 1, &sums);
        }
        if (!sums.core && out) {
            add_pairs(t, b->inside, n, b->inside[move.index], move.index, -1, &sums);
            add_pairs(t, b->around, n_around, b->inside[move.index], n_around, -1, &sums);
        }
        if (sums.core || !accepts(t, &move, n, sums.energy))
            continue;
        accepted[move.kind]++;
        total.energy += sums.energy;
        total.virial += sums.virial;
        total.contacts += sums.contacts;
        if (in)
            memcpy(b->inside[out ? move.index : n++], move.to, sizeof move.to);
        else if (move.index != --n)
            memcpy(b->inside[move.index], b->inside[n], sizeof move.to);
    }
    bool ok = true, active;
    for (uint32_t i = 0; i < span(b) * span(b) * span(b); i++) {
        struct cell *c = spanned(b, first, i, &active);
        c->n = active ? 0 : c->n;
    }
    for (uint32_t i = 0; i < n && ok; i++)
        ok = add_particle(cell_of(b, b->inside[i]), b->inside[i]);
    t->energy += total.energy;
    t->virial += total.virial;
    t->contacts += total.contacts;
    t->n += n - before;
    for (int k = 0; k < LJ_KINDS; k++) {
        t->tried[0][k] += tried[k];
        t->accepted[0][k] += accepted[k];
    }
    return ok;
}

/* The particle list in the order of the cells, as on the device. */
static bool gather(struct lj_oracle *t) {
    uint32_t n = 0;
    for (const struct cell *c = t->board->cells; c < t->board->cells + t->board->n_cells; c++) {
        if (c->n > t->capacity - n)
            return false;
        memcpy(t->p[n], c->p, c->n * sizeof *c->p);
        n += c->n;
    }
    return n == t->n;
}

bool lj_oracle_activate(struct lj_oracle *t) {
    struct lj_oracle_board *b = t->board;
    const struct ergo_words o =
        ergo_philox_words(0, (uint32_t)t->step, (uint32_t)(t->step >> 32),
                          ERGO_DRAW(LJ_PURPOSE_BOARD, 0), t->m.key0, t->m.key1);
    const uint32_t words[3] = {o.x, o.y, o.z};
    bool ok = true;
    memset(t->tried, 0, sizeof t->tried);
    memset(t->accepted, 0, sizeof t->accepted);
    b->tail = draw_tail(t);
    for (uint64_t block = b->n_blocks; block-- > 0 && ok;) {
        uint32_t at[3] = {(uint32_t)(block % b->blocks[0]),
                          (uint32_t)(block / b->blocks[0] % b->blocks[1]),
                          (uint32_t)(block / b->blocks[0] / b->blocks[1])};
        for (int k = 0; k < 3; k++)
            at[k] = at[k] * b->period + (uint32_t)((uint64_t)words[k] * b->period >> 32);
        ok = follow(t, (uint32_t)block, at);
    }
    t->step++;
    if (t->step <= t->m.tune_until)
        t->step_size = lj_oracle_tuned(t);
    return ok && gather(t);
}
