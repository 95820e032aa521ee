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
#include "samplers/lj_gcmc/twin.h"

struct cell {
    uint32_t n, capacity; /* capacity 0: p points to the particles at the beginning, in `start` */
    uint32_t (*p)[3];
    uint32_t seen; /* of lj_twin_board_same */
    bool unknown;  /* in an active cell that was not followed */
};

struct lj_twin_board {
    uint32_t period, trials, blocks[3], n[3]; /* n: cells along each axis */
    uint64_t n_blocks;
    struct lj_window window;
    uint32_t origin[3], wide[3]; /* cells of the window, the only ones that are there */
    size_t n_cells;
    struct cell *cells;
    uint32_t (*start)[3];
    struct lj_part *parts; /* results of the last activation; stamp 0: not followed */
    bool whole;            /* all active cells have been followed */
    uint32_t step_size;    /* in the last activation */
    uint32_t n_all;        /* particles before the next activation, followed or not */
    float tail;            /* in this activation, -beta times the tail's energy of a particle */
    /* particles of an active cell and of its neighbourhood */
    uint32_t (*inside)[3], (*around)[3];
    size_t inside_capacity, around_capacity;
};

/* ---- the window ------------------------------------------------------------------------------ */

struct lj_window lj_window_of(const struct lj_system *s, uint64_t most, uint32_t begin) {
    struct lj_window w = {.period = s->period, .begin = begin};
    const uint64_t all = lj_board_blocks(s, w.blocks);
    for (uint64_t count = 0; count < all; w.radius++) {
        count = 1;
        for (int k = 0; k < 3; k++)
            count *= 2 * (w.radius + 2) < w.blocks[k] ? 2 * (w.radius + 2) : w.blocks[k];
        if (count > most)
            break;
    }
    return w;
}

/* Is this layer of blocks along axis k within so many of the corner, in periodic boundaries? */
static bool within(const struct lj_window *w, int k, uint32_t block, uint32_t radius) {
    const uint32_t from = (block + w->blocks[k] - (k == 2 ? w->begin : 0)) % w->blocks[k];
    return from <= radius || w->blocks[k] - 1 - from <= radius;
}

bool lj_window_has(const struct lj_window *w, int k, uint32_t word) {
    const uint64_t cells = (uint64_t)w->blocks[k] * w->period;
    return within(w, k, (uint32_t)(word * cells >> 32) / w->period, w->radius + LJ_WINDOW_EDGE);
}

/* ---- cells ----------------------------------------------------------------------------------- */

/* NULL: not in the window. */
static struct cell *cell_at(const struct lj_twin_board *b, const uint32_t at[3]) {
    size_t cell = 0;
    for (int k = 2; k >= 0; k--) {
        const uint32_t d = (at[k] % b->n[k] + b->n[k] - b->origin[k]) % b->n[k];
        if (d >= b->wide[k])
            return NULL;
        cell = cell * b->wide[k] + d;
    }
    return &b->cells[cell];
}

static uint32_t along(const struct lj_twin_board *b, const uint32_t *p, int k) {
    return (uint32_t)((uint64_t)p[k] * b->n[k] >> 32);
}

static struct cell *cell_of(const struct lj_twin_board *b, const uint32_t *p) {
    const uint32_t at[3] = {along(b, p, 0), along(b, p, 1), along(b, p, 2)};
    return cell_at(b, at);
}

/* Where the window ends, active cells that are not looked at reach into its first cells. */
static void forget_edges(struct lj_twin_board *b) {
    for (size_t c = 0; c < b->n_cells; c++) {
        size_t at = c;
        for (int k = 0; k < 3; k++) {
            const bool first = at % b->wide[k] < b->period;
            b->cells[c].unknown = b->cells[c].unknown || (first && b->wide[k] < b->n[k]);
            at /= b->wide[k];
        }
    }
}

bool lj_twin_board_init(struct lj_twin *t, const struct ergo_point *point,
                        const struct lj_window *window) {
    const struct lj_system s = lj_system_of(point);
    struct lj_twin_board *b = calloc(1, sizeof *b);
    if (!b)
        return false;
    t->board = b;
    b->period = s.period;
    b->trials = s.trials;
    b->window = *window;
    b->n_all = t->n;
    b->whole = true;
    b->n_blocks = lj_board_blocks(&s, b->blocks);
    b->n_cells = 1;
    for (int k = 0; k < 3; k++) {
        const uint32_t edge = window->radius + LJ_WINDOW_EDGE + 1,
                       begin = k == 2 ? window->begin : 0;
        const bool all = 2 * (uint64_t)edge >= b->blocks[k];
        b->n[k] = b->blocks[k] * b->period;
        b->origin[k] = all ? 0 : (begin + b->blocks[k] - edge) % b->blocks[k] * b->period;
        b->wide[k] = all ? b->n[k] : 2 * edge * b->period;
        b->n_cells *= b->wide[k];
    }
    b->cells = calloc(b->n_cells, sizeof *b->cells);
    b->start = malloc((size_t)(t->n + 1) * sizeof *b->start);
    b->parts = calloc((size_t)b->n_blocks, sizeof *b->parts);
    if (!b->cells || !b->start || !b->parts)
        return false;
    for (uint32_t i = 0; i < t->n; i++) {
        struct cell *c = cell_of(b, t->p[i]);
        if (c)
            c->n++;
    }
    uint32_t(*next)[3] = b->start;
    for (struct cell *c = b->cells; c < b->cells + b->n_cells; c++) {
        c->p = next;
        next += c->n;
        c->n = 0;
    }
    for (uint32_t i = 0; i < t->n; i++) {
        struct cell *c = cell_of(b, t->p[i]);
        if (c)
            memcpy(c->p[c->n++], t->p[i], sizeof *c->p);
    }
    forget_edges(b);
    return true;
}

void lj_twin_board_count(struct lj_twin *t, uint32_t particles) {
    t->board->n_all = particles;
}

void lj_twin_board_free(struct lj_twin *t) {
    struct lj_twin_board *b = t->board;
    for (size_t c = 0; b->cells && c < b->n_cells; c++)
        if (b->cells[c].capacity)
            free(b->cells[c].p);
    free(b->cells);
    free(b->start);
    free(b->parts);
    free(b->inside);
    free(b->around);
    free(b);
    t->board = NULL;
}

bool lj_twin_board_part(const struct lj_twin *t, uint64_t block, struct lj_part *part) {
    *part = t->board->parts[block];
    return part->stamp != 0;
}

void lj_twin_board_set_counts(struct lj_twin *t, const struct lj_sample *sample) {
    t->tried[0][LJ_DISPLACEMENT] = sample->now.tried;
    t->accepted[0][LJ_DISPLACEMENT] = sample->last.tried;
    t->step_size = t->board->step_size;
    t->board->n_all = sample->particles;
    if (t->step <= t->m.tune_until)
        t->step_size = lj_twin_tuned(t);
}

bool lj_twin_board_same(const struct lj_twin *t, const uint32_t *words, uint32_t n) {
    const struct lj_twin_board *b = t->board;
    bool same = true;
    for (size_t c = 0; c < b->n_cells; c++)
        b->cells[c].seen = 0;
    for (uint32_t i = 0; i < n && same; i++) {
        struct cell *c = cell_of(b, words + 3 * (size_t)i);
        if (c && !c->unknown)
            same =
                c->seen < c->n && memcmp(words + 3 * (size_t)i, c->p[c->seen++], sizeof *c->p) == 0;
    }
    for (size_t c = 0; c < b->n_cells && same; c++)
        same = b->cells[c].unknown || b->cells[c].seen == b->cells[c].n;
    return same;
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

static bool add_particle(struct cell *c, const uint32_t p[3]) {
    if (c->n == c->capacity) {
        uint32_t(*more)[3] =
            realloc(c->capacity ? c->p : NULL, (size_t)(2 * c->n + 4) * sizeof *more);
        if (!more)
            return false;
        c->p = more;
        c->capacity = 2 * c->n + 4;
    }
    memcpy(c->p[c->n++], p, sizeof *c->p);
    return true;
}

/* Cells along an axis of an active cell with its neighbourhood, from first - gap on. */
static uint32_t span(const struct lj_twin_board *b) {
    return LJ_ACTIVE + 2 * (b->period - LJ_ACTIVE);
}

static struct cell *spanned(const struct lj_twin_board *b, const uint32_t first[3], uint32_t i,
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

static bool all_known(const struct lj_twin_board *b, const uint32_t first[3]) {
    bool known = true, active;
    for (uint32_t i = 0; i < span(b) * span(b) * span(b) && known; i++) {
        const struct cell *c = spanned(b, first, i, &active);
        known = c && !c->unknown;
    }
    return known;
}

static bool is_inside(const struct lj_twin_board *b, const uint32_t first[3], const uint32_t p[3]) {
    bool inside = true;
    for (int k = 0; k < 3; k++)
        inside = inside && (along(b, p, k) + b->n[k] - first[k] % b->n[k]) % b->n[k] < LJ_ACTIVE;
    return inside;
}

static void add_pairs(const struct lj_twin *t, uint32_t (*p)[3], size_t n, const uint32_t at[3],
                      size_t skip, int64_t sign, struct lj_twin_sums *to) {
    for (size_t j = 0; j < n && !t->m.ideal; j++) {
        const float r2 = lj_twin_distance2(&t->m, p[j], at);
        if (j != skip && r2 < t->m.cutoff2)
            lj_twin_pair(&t->m, r2, sign, to);
    }
}

/* Copy the particles of the active cell, cell by cell, and the n_around others in its
 * neighbourhood. false: no memory. */
static bool collect_particles(struct lj_twin_board *b, const uint32_t first[3], uint32_t *n,
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

static struct ergo_words words_of(const struct lj_twin *t, uint32_t block, uint32_t draw) {
    return ergo_philox_words(block, (uint32_t)t->step, (uint32_t)(t->step >> 32),
                             ERGO_DRAW(LJ_PURPOSE_CELL, draw), t->m.key0, t->m.key1);
}

/* The field of the tail: a normal number of mean 2 |a| N and variance 2 |a|, the weight being
 * exp(|a| N^2). */
static float draw_tail(const struct lj_twin *t) {
    if (!(t->m.tail < 0))
        return 0;
    const struct ergo_words w =
        ergo_philox_words(0, (uint32_t)t->step, (uint32_t)(t->step >> 32),
                          ERGO_DRAW(LJ_PURPOSE_BOARD, 1), t->m.key0, t->m.key1);
    const float twice = 2 * -t->m.tail, radius = ergo_sqrt(ergo_minus_log(w.x) * 2);
    return fmaf((float)t->board->n_all, twice, radius * ergo_cos(w.y) * ergo_sqrt(twice));
}

static bool accepts(const struct lj_twin *t, const struct lj_twin_move *move, uint32_t n,
                    int64_t change) {
    const float tail = t->board->tail;
    const float by = move->kind == LJ_INSERTION ? tail : move->kind == LJ_DELETION ? -tail : 0;
    return lj_twin_decides(&t->m, move->kind, move->word, n, fmaf(-(float)change, t->m.beta4, by));
}

static bool follow(struct lj_twin *t, uint32_t block, const uint32_t first[3]) {
    struct lj_twin_board *b = t->board;
    uint32_t n, low[3], width[3], tried[LJ_KINDS] = {0}, accepted[LJ_KINDS] = {0};
    size_t n_around;
    struct lj_twin_sums total = {0};
    if (!collect_particles(b, first, &n, &n_around))
        return false;
    const uint32_t before = n;
    for (int k = 0; k < 3; k++) { /* the least position in the active cell, and its width */
        const uint64_t c = first[k] % b->n[k];
        low[k] = (uint32_t)(((c << 32) + b->n[k] - 1) / b->n[k]);
        width[k] = (uint32_t)((((c + LJ_ACTIVE) << 32) + b->n[k] - 1) / b->n[k]) - low[k];
    }
    for (uint32_t trial = 0; trial < b->trials; trial++) {
        struct lj_twin_move move = lj_twin_move_of(&t->m, n, words_of(t, block, 2 * trial),
                                                   words_of(t, block, 2 * trial + 1));
        const bool out = move.kind != LJ_INSERTION, in = move.kind != LJ_DELETION;
        struct lj_twin_sums sums = {.core = move.impossible};
        tried[move.kind]++;
        if (!move.impossible && in) {
            if (out && t->m.local_moves)
                lj_twin_shift(&t->m, t->step_size, b->inside[move.index], move.to);
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
    b->parts[block] = (struct lj_part){
        .stamp = t->step + 1,
        .energy = total.energy,
        .virial = total.virial,
        .contacts = total.contacts,
        .particles = (int32_t)(n - before),
        .tried = tried[LJ_DISPLACEMENT] | tried[LJ_INSERTION] << 16,
        .accepted = accepted[LJ_DISPLACEMENT] | accepted[LJ_INSERTION] << 16,
        .accepted_deletion = accepted[LJ_DELETION],
    };
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
static bool gather(struct lj_twin *t) {
    uint32_t n = 0;
    for (const struct cell *c = t->board->cells; c < t->board->cells + t->board->n_cells; c++) {
        if (c->n > t->capacity - n)
            return false;
        memcpy(t->p[n], c->p, c->n * sizeof *c->p);
        n += c->n;
    }
    return n == t->n;
}

bool lj_twin_activate(struct lj_twin *t) {
    struct lj_twin_board *b = t->board;
    const struct lj_window *w = &b->window;
    const struct ergo_words o =
        ergo_philox_words(0, (uint32_t)t->step, (uint32_t)(t->step >> 32),
                          ERGO_DRAW(LJ_PURPOSE_BOARD, 0), t->m.key0, t->m.key1);
    const uint32_t words[3] = {o.x, o.y, o.z};
    bool ok = true;
    memset(t->tried, 0, sizeof t->tried);
    memset(t->accepted, 0, sizeof t->accepted);
    memset(b->parts, 0, (size_t)b->n_blocks * sizeof *b->parts);
    b->step_size = t->step_size;
    b->tail = draw_tail(t);
    for (uint64_t block = b->n_blocks; block-- > 0 && ok;) {
        uint32_t at[3] = {(uint32_t)(block % b->blocks[0]),
                          (uint32_t)(block / b->blocks[0] % b->blocks[1]),
                          (uint32_t)(block / b->blocks[0] / b->blocks[1])};
        bool near = true, there = true, active;
        for (int k = 0; k < 3; k++) {
            near = near && within(w, k, at[k], w->radius);
            there = there && within(w, k, at[k], w->radius + LJ_WINDOW_EDGE);
            at[k] = at[k] * b->period + (uint32_t)((uint64_t)words[k] * b->period >> 32);
        }
        if (near && all_known(b, at)) {
            ok = follow(t, (uint32_t)block, at);
            continue;
        }
        b->whole = false;
        for (uint32_t i = 0; there && i < span(b) * span(b) * span(b); i++) {
            struct cell *c = spanned(b, at, i, &active);
            if (c && active)
                c->unknown = true;
        }
    }
    b->n_all = t->n;
    t->step++;
    if (t->step <= t->m.tune_until)
        t->step_size = lj_twin_tuned(t);
    return ok && (!b->whole || gather(t));
}
