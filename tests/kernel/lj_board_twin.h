/*
 * An activation of the checkerboard on the host: one active cell after the other, the last first,
 * each move against every particle of the box, wherever it is. Nothing of tiles, gaps or launches:
 * if an active cell could see another, its order would matter, and the kernel's bits would differ.
 */
#ifndef ERGO_TESTS_KERNEL_LJ_BOARD_TWIN_H
#define ERGO_TESTS_KERNEL_LJ_BOARD_TWIN_H

#include "samplers/lj_gcmc/lj.h"

#include "lj_gcmc/core.h"

enum { LJ_TWIN_SLOTS = 64 };

struct lj_twin_cell {
    uint32_t n;
    lj_position p[LJ_TWIN_SLOTS];
};

struct lj_board_twin {
    struct lj_system s;
    uint32_t blocks[3], n[3]; /* n: cells along an axis */
    struct lj_twin_cell *cells;
    size_t n_cells;
};

/* What a trial needs of the chain. */
struct lj_board_sums {
    const struct lj_member *m;
    uint64_t step;
    uint32_t step_size, particles;
    int64_t energy, virial, contacts[2]; /* contacts: pairs in the outer and the inner shell */
    uint32_t counts[2][3];
};

static inline size_t lj_board_cell(const struct lj_board_twin *b, const uint32_t at[3]) {
    return ((size_t)at[2] * b->n[1] + at[1]) * b->n[0] + at[0];
}

static inline void lj_board_where(const struct lj_board_twin *b, lj_position p, uint32_t at[3]) {
    const uint32_t words[3] = {p.x, p.y, p.z};
    for (int k = 0; k < 3; k++)
        at[k] = (uint32_t)((double)words[k] * 0x1p-32 * b->n[k]);
}

static inline void lj_board_add(struct lj_board_twin *b, lj_position p) {
    uint32_t at[3];
    lj_board_where(b, p, at);
    struct lj_twin_cell *c = &b->cells[lj_board_cell(b, at)];
    assert_true(c->n < LJ_TWIN_SLOTS);
    c->p[c->n++] = p;
}

static inline void lj_board_twin_start(struct lj_board_twin *b, const struct ergo_point *point,
                                       const lj_position *p, uint32_t n) {
    b->s = lj_system_of(point);
    b->n_cells = 1;
    lj_board_blocks(&b->s, b->blocks);
    for (int k = 0; k < 3; k++)
        b->n_cells *= b->n[k] = b->blocks[k] * b->s.period;
    b->cells = calloc(b->n_cells, sizeof *b->cells);
    assert_non_null(b->cells);
    for (uint32_t i = 0; i < n; i++)
        lj_board_add(b, p[i]);
}

/* The particles, cell by cell. */
static inline uint32_t lj_board_particles(const struct lj_board_twin *b, lj_position *p) {
    uint32_t n = 0;
    for (size_t c = 0; c < b->n_cells; c++)
        for (uint32_t i = 0; i < b->cells[c].n; i++)
            p[n++] = b->cells[c].p[i];
    return n;
}

/* Sums over the pairs of one particle. */
struct lj_twin_sums {
    int64_t energy, virial, contacts[2];
};

static inline void lj_twin_pair(const struct lj_member *m, float r2, int64_t sign,
                                struct lj_twin_sums *to) {
    lj_long e, w;
    lj_pair(r2, m->shift, &e, &w);
    to->energy += sign * e;
    to->virial += sign * w;
    if (r2 >= m->contact2[0])
        to->contacts[0] += sign;
    else if (r2 >= m->contact2[1])
        to->contacts[1] += sign;
}

static inline bool lj_board_pairs(const struct lj_member *m, const lj_position *p, uint32_t n,
                                  lj_position at, uint32_t skip, int64_t sign,
                                  struct lj_twin_sums *sums) {
    bool free = true;
    for (uint32_t j = 0; j < n && !m->ideal; j++) {
        const float r2 = lj_distance2(p[j], at, m->scale);
        if (j == skip || r2 >= m->cutoff2)
            continue;
        if (r2 < m->core2) {
            free = false;
            continue;
        }
        lj_twin_pair(m, r2, sign, sums);
    }
    return free;
}

/* All trials of one active cell; `all` has room for everybody and `trials` more. */
static inline void lj_board_active(struct lj_board_twin *b, struct lj_board_sums *c, uint32_t block,
                                   const uint32_t first[3], lj_position *all) {
    const struct lj_member *m = c->m;
    lj_position *own = all, low, width;
    uint32_t n = 0, rest = 0, bound[2][3];
    const uint32_t most = 8 * LJ_TWIN_SLOTS;
    for (int k = 0; k < 3; k++)
        for (int e = 0; e < 2; e++)
            bound[e][k] = (uint32_t)ceil((first[k] + 2.0 * e) / b->n[k] * 0x1p32 - 1e-4);
    low = (lj_position){bound[0][0], bound[0][1], bound[0][2]};
    width = (lj_position){bound[1][0] - low.x, bound[1][1] - low.y, bound[1][2] - low.z};
    for (uint32_t i = 0; i < 8; i++) {
        const uint32_t at[3] = {(first[0] + i % 2) % b->n[0], (first[1] + i / 2 % 2) % b->n[1],
                                (first[2] + i / 4) % b->n[2]};
        struct lj_twin_cell *cell = &b->cells[lj_board_cell(b, at)];
        memcpy(own + n, cell->p, cell->n * sizeof *own);
        n += cell->n;
        cell->n = 0;
    }
    lj_position *others = all + most;
    rest = lj_board_particles(b, others);
    for (uint32_t k = 0; k < b->s.trials; k++) {
        struct lj_move move = lj_move_of(m, n, lj_board_words(m, c->step, block, k, 0),
                                         lj_board_words(m, c->step, block, k, 1));
        const bool out = move.kind != LJ_INSERTION, in = move.kind != LJ_DELETION;
        const uint32_t me = out ? move.index : n;
        struct lj_twin_sums sums = {0};
        bool free = !move.idle;
        c->counts[0][move.kind]++;
        if (free && in) {
            uint32_t at[3];
            if (out && m->local_moves)
                lj_local_target(m, own[me], c->step_size, &move);
            else
                move.to = lj_board_place(move.to, low, width);
            lj_board_where(b, move.to, at);
            for (int a = 0; a < 3; a++)
                free = free && (at[a] + b->n[a] - first[a] % b->n[a]) % b->n[a] < 2;
            free = free && lj_board_pairs(m, own, n, move.to, me, 1, &sums);
            free = free && lj_board_pairs(m, others, rest, move.to, rest, 1, &sums);
        }
        if (free && out) {
            lj_board_pairs(m, own, n, own[me], me, -1, &sums);
            lj_board_pairs(m, others, rest, own[me], rest, -1, &sums);
        }
        if (!free || !lj_accept(m, move.kind, move.word, n, sums.energy))
            continue;
        c->counts[1][move.kind]++;
        c->energy += sums.energy;
        c->virial += sums.virial;
        c->contacts[0] += sums.contacts[0];
        c->contacts[1] += sums.contacts[1];
        if (in)
            own[me] = move.to;
        else
            own[me] = own[n - 1];
        n += !out;
        n -= !in;
        c->particles += !out;
        c->particles -= !in;
        assert_true(n < most);
    }
    for (uint32_t i = 0; i < n; i++)
        lj_board_add(b, own[i]);
}

static inline void lj_board_activation(struct lj_board_twin *b, struct lj_board_sums *c) {
    const struct ergo_words o = lj_board_offset(c->m, c->step, b->s.period);
    lj_position *all =
        malloc((c->particles + 8 * LJ_TWIN_SLOTS + b->n_cells * 8 + 4096) * sizeof *all);
    assert_non_null(all);
    const uint32_t offset[3] = {o.x, o.y, o.z};
    for (uint32_t block = b->blocks[0] * b->blocks[1] * b->blocks[2]; block-- > 0;) {
        const uint32_t at[3] = {block % b->blocks[0], block / b->blocks[0] % b->blocks[1],
                                block / b->blocks[0] / b->blocks[1]};
        uint32_t first[3];
        for (int k = 0; k < 3; k++)
            first[k] = at[k] * b->s.period + offset[k];
        lj_board_active(b, c, block, first, all);
    }
    free(all);
}

#endif
