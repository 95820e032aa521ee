/*
 * The Lennard-Jones chain on the host, all pairs, one after the other: cl/lj_gcmc/core.h compiled
 * as C, and nothing of the cells, launches or sums of the kernels. And a batch on a device beside
 * one such twin per member, compared exactly: what kernel tests and mutants share.
 */
#ifndef ERGO_TESTS_KERNEL_LJ_TWIN_H
#define ERGO_TESTS_KERNEL_LJ_TWIN_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lj_board_twin.h"

struct lj_twin {
    struct lj_member m;
    lj_position *p;
    uint32_t n, room, step_size;
    uint32_t counts[2][3], last[2][3]; /* tried and accepted, by kind; of windows */
    uint64_t step;
    int64_t energy, virial, contacts[2];
    struct lj_board_twin board; /* cells NULL: none */
};

/* Sums of one particle's pairs; false: an overlap. `skip`: its place in the list, or n. */
static inline bool lj_twin_sums(const struct lj_twin *t, lj_position at, uint32_t skip,
                                struct lj_twin_sums *sums) {
    bool free = true;
    *sums = (struct lj_twin_sums){0};
    for (uint32_t j = 0; j < t->n && !t->m.ideal; j++) {
        const float r2 = lj_distance2(t->p[j], at, t->m.scale);
        if (j == skip || r2 >= t->m.cutoff2)
            continue;
        if (r2 < t->m.core2) {
            free = false;
            continue;
        }
        lj_twin_pair(&t->m, r2, 1, sums);
    }
    return free;
}

static inline void lj_twin_add(struct lj_twin *t, const struct lj_twin_sums *sums, int sign) {
    t->energy += sign * sums->energy;
    t->virial += sign * sums->virial;
    for (int k = 0; k < 2; k++)
        t->contacts[k] += sign * sums->contacts[k];
}

/* As struct lj_chain has them. */
static inline int64_t lj_twin_contacts(const struct lj_twin *t) {
    return (int64_t)((uint64_t)t->contacts[1] << 32 | (uint64_t)t->contacts[0]);
}

static inline void lj_twin_start(struct lj_twin *t, const struct ergo_point *point) {
    const struct lj_system s = lj_system_of(point);
    memset(t, 0, sizeof *t);
    lj_member_fill(point, &t->m);
    t->n = (uint32_t)ergo_point_int(point, "/system/particles");
    t->room = t->n + 100000;
    t->step_size = lj_step_size(&s);
    t->p = calloc(t->room, sizeof *t->p);
    assert_non_null(t->p);
    lj_lattice(&s, t->n, (uint32_t *)t->p);
    for (uint32_t i = 0; i < t->n; i++) {
        struct lj_twin_sums sums;
        assert_true(lj_twin_sums(t, t->p[i], i, &sums));
        lj_twin_add(t, &sums, 1);
    }
    t->energy /= 2;
    t->virial /= 2;
    t->contacts[0] /= 2;
    t->contacts[1] /= 2;
    if (s.period) {
        lj_board_twin_start(&t->board, point, t->p, t->n);
        lj_board_particles(&t->board, t->p);
    }
}

static inline void lj_twin_free(struct lj_twin *t) {
    free(t->p);
    free(t->board.cells);
}

/* One activation. */
static inline void lj_twin_activate(struct lj_twin *t) {
    struct lj_board_sums c = {.m = &t->m,
                              .step = t->step,
                              .step_size = t->step_size,
                              .particles = t->n,
                              .energy = t->energy,
                              .virial = t->virial,
                              .contacts = {t->contacts[0], t->contacts[1]}};
    lj_board_activation(&t->board, &c);
    t->n = c.particles;
    t->energy = c.energy;
    t->virial = c.virial;
    memcpy(t->contacts, c.contacts, sizeof t->contacts);
    memcpy(t->counts, c.counts, sizeof t->counts);
    assert_true(t->n <= t->room && lj_board_particles(&t->board, t->p) == t->n);
    t->step++;
    if (t->step <= t->m.tune_until)
        t->step_size = lj_tuned(t->step_size, t->counts[0][0], t->counts[1][0]);
}

static inline void lj_twin_move(struct lj_twin *t) {
    if (t->board.cells) {
        lj_twin_activate(t);
        return;
    }
    struct lj_move move = lj_draw(&t->m, t->n, t->step);
    lj_position from = {0, 0, 0};
    struct lj_twin_sums old = {0}, new = {0};
    bool free = true;
    const bool out = move.kind != LJ_INSERTION, in = move.kind != LJ_DELETION;
    if (!move.idle) {
        if (out)
            from = t->p[move.index];
        if (!in || !t->m.local_moves || move.kind == LJ_INSERTION)
            ;
        else
            lj_local_target(&t->m, from, t->step_size, &move);
        if (out)
            assert_true(lj_twin_sums(t, from, move.index, &old));
        if (in)
            free = lj_twin_sums(t, move.to, out ? move.index : t->n, &new);
    }
    const bool accepted =
        !move.idle && free && lj_accept(&t->m, move.kind, move.word, t->n, new.energy - old.energy);
    if (accepted) {
        assert_true(t->n < t->room);
        lj_twin_add(t, &new, 1);
        lj_twin_add(t, &old, -1);
        if (move.kind == LJ_DISPLACEMENT)
            t->p[move.index] = move.to;
        if (move.kind == LJ_INSERTION)
            t->p[t->n++] = move.to;
        if (move.kind == LJ_DELETION)
            t->p[move.index] = t->p[--t->n];
    }
    t->counts[0][move.kind]++;
    t->counts[1][move.kind] += accepted;
    t->step++;
    if (t->step % LJ_WINDOW == 0) {
        if (t->step <= t->m.tune_until)
            t->step_size = lj_tuned(t->step_size, t->counts[0][0], t->counts[1][0]);
        memcpy(t->last, t->counts, sizeof t->last);
        memset(t->counts, 0, sizeof t->counts);
    }
}

/* ---- a job on a device beside its twins -------------------------------------------------------
 */

struct lj_bench {
    struct ergo_context *ctx;
    struct ergo_device *device;
    uint64_t moves, grown, pairs; /* pairs: bins of g(r) compared */
};

#define LJ_OK(bench, what, call)                                                                   \
    do {                                                                                           \
        if ((call) != ERGO_OK)                                                                     \
            fail_msg("%s\n%s: %s", what, #call, ergo_error_message((bench)->ctx));                 \
    } while (0)

static inline void lj_compare_state(struct lj_bench *b, const char *what, void *state, size_t m,
                                    const struct lj_twin *t) {
    struct lj_state *s = state;
    uint32_t *words, n;
    LJ_OK(b, what, lj_fetch(b->ctx, s, m, &words, &n));
    const struct lj_chain *c = &s->chains[m];
    if (n != t->n || c->energy != t->energy || c->virial != t->virial ||
        c->contacts != lj_twin_contacts(t) || c->step != t->step || c->step_size != t->step_size ||
        memcmp(words, t->p, 12 * (size_t)n) != 0)
        fail_msg("%s\nnot the oracle's chain: member %zu at move %llu: N %u, energy %lld, virial "
                 "%lld, contacts %llx; the twin has %u, %lld, %lld, %llx",
                 what, m, (unsigned long long)c->step, n, (long long)c->energy,
                 (long long)c->virial, (unsigned long long)c->contacts, t->n, (long long)t->energy,
                 (long long)t->virial, (unsigned long long)lj_twin_contacts(t));
    free(words);
}

static inline bool lj_same_counts(const struct lj_twin *t, const double *columns) {
    bool same = true;
    for (int k = 0; k < 6; k++)
        same = same && columns[k] == t->counts[k / 3][k % 3] + t->last[k / 3][k % 3];
    return same;
}

/* Saved and loaded, the chains pass an audit at once, and go on. */
static inline void lj_compare_saved(struct lj_bench *b, const char *what, void *state,
                                    const struct ergo_batch *batch, struct lj_twin *twins,
                                    uint64_t moves) {
    const struct ergo_sampler_ops *ops = ergo_sampler_find("lj-gcmc")->ops;
    for (size_t m = 0; m < batch->count; m++) {
        struct ergo_text saved = {0};
        LJ_OK(b, what, ops->save(b->ctx, state, m, &saved));
        LJ_OK(b, what, ops->load(b->ctx, state, m, twins[m].step, saved.data, saved.length));
        ergo_text_free(&saved);
    }
    LJ_OK(b, what, ops->audit(b->ctx, state));
    LJ_OK(b, what, ops->advance(b->ctx, state, 0, 0, moves, 0));
    LJ_OK(b, what, lj_settle(b->ctx, state));
    for (size_t m = 0; m < batch->count; m++) {
        for (uint64_t i = 0; i < moves; i++)
            lj_twin_move(&twins[m]);
        lj_compare_state(b, what, state, m, &twins[m]);
    }
    LJ_OK(b, what, ops->audit(b->ctx, state));
}

/* rho^2 g(r) of a sample from all pairs, one after the other: equal to the bit, for the pairs are
 * integers. */
static inline void lj_compare_pairs(struct lj_bench *b, const char *what, void *state,
                                    const struct lj_twin *t, const double *curve) {
    const struct lj_state *s = state;
    const uint32_t bins = s->launch.bins;
    const double v = s->system.volume, width = lj_bin_width(s);
    uint64_t *pairs = calloc(bins, sizeof *pairs);
    assert_non_null(pairs);
    for (uint32_t i = 0; i < t->n; i++) {
        for (uint32_t j = 0; j < t->n; j++) {
            const float r2 = lj_distance2(t->p[j], t->p[i], t->m.scale);
            uint32_t k = 0;
            if (i == j || r2 >= s->bin_edges[bins])
                continue;
            while (r2 >= s->bin_edges[k + 1])
                k++;
            pairs[k]++;
        }
    }
    for (uint32_t k = 0; k < bins; k++) {
        const double inner = k * width, outer = inner + width;
        const double shell =
            4.0 / 3.0 * 3.14159265358979323846 * (outer * outer * outer - inner * inner * inner);
        if (curve[k] != (double)pairs[k] / (v * shell))
            fail_msg("%s\nnot the oracle's pairs: bin %u has %g, all pairs have %llu", what, k,
                     curve[k] * v * shell, (unsigned long long)pairs[k]);
    }
    b->pairs += bins;
    free(pairs);
}

/* Run a job (' for ") and its twins: `samples` of `every` moves, in blocks of two. */
static inline void lj_compare(struct lj_bench *b, const char *text, size_t samples,
                              uint64_t every) {
    const struct ergo_sampler_ops *ops = ergo_sampler_find("lj-gcmc")->ops;
    struct ergo_job *job = NULL;
    void *state = NULL;
    char *json = strdup(text);
    for (char *c = json; *c; c++)
        *c = *c == '\'' ? '"' : *c;
    LJ_OK(b, text, ergo_job_parse(b->ctx, json, strlen(json), "case", NULL, 0, &job));
    free(json);
    const struct ergo_batch *batch = &job->batches[0];
    assert_int_equal(job->n_batches, 1);
    LJ_OK(b, text, ops->create(b->ctx, batch, b->device, &state));
    LJ_OK(b, text, ops->init(b->ctx, state));
    struct lj_twin *twins = calloc(batch->count, sizeof *twins);
    const uint64_t curves = (uint64_t)ergo_point_int(batch->points[0], "/run/curve_every");
    const size_t sizes[3] = {ops->curve_size(batch->points[0], 0),
                             ops->curve_size(batch->points[0], 1),
                             ops->curve_size(batch->points[0], 2)}; /* the last is not collected */
    struct ergo_samples got = {.columns = calloc(2 * batch->count * LJ_COLUMNS, sizeof(double))};
    for (int c = 0; c < 3; c++)
        got.curves[c] = calloc(2 * batch->count * (sizes[c] + 1), sizeof(double));
    for (size_t m = 0; m < batch->count; m++)
        lj_twin_start(&twins[m], batch->points[m]);

    LJ_OK(b, text, ops->advance(b->ctx, state, 0, 0, every / 2, 0)); /* without samples */
    for (size_t m = 0; m < batch->count; m++)
        for (uint64_t i = 0; i < every / 2; i++)
            lj_twin_move(&twins[m]);
    /* two blocks in flight: what the second has done when the first is found to have stopped */
    const size_t blocks = (samples + 1) / 2;
    LJ_OK(b, text, ops->advance(b->ctx, state, 0, 2, every, 0));
    for (size_t k = 0; k < blocks; k++) {
        if (k + 1 < blocks)
            LJ_OK(b, text, ops->advance(b->ctx, state, (k + 1) & 1, 2, every, 2 * (k + 1)));
        LJ_OK(b, text, ops->collect(b->ctx, state, k & 1, &got));
        for (size_t i = 0, curve = 0; i < 2; i++) {
            const bool pairs = curves && (2 * k + i) % curves == 0;
            for (size_t m = 0; m < batch->count; m++) {
                struct lj_twin *t = &twins[m];
                const double *c = got.columns + (i * batch->count + m) * LJ_COLUMNS;
                const double epsilon = ergo_point_real(batch->points[m], "/system/epsilon");
                const struct lj_system s = lj_system_of(batch->points[m]);
                const struct lj_jump jump = lj_jump_of(&s);
                for (uint64_t e = 0; e < every; e++)
                    lj_twin_move(t);
                b->moves += every;
                if (c[0] != t->n ||
                    c[1] != lj_energy_of(epsilon, t->energy) + lj_tail_energy(&s, t->n) ||
                    c[2] != lj_virial_of(epsilon, t->virial) ||
                    c[3] != lj_impulsive_of(&jump, lj_twin_contacts(t)) ||
                    !lj_same_counts(t, c + LJ_COLUMN_TRIED))
                    fail_msg("%s\nnot the oracle's sample %zu of member %zu: N %g, U %.17g; the "
                             "twin has %u, %lld",
                             text, 2 * k + i, m, c[0], c[1], t->n, (long long)t->energy);
                if (pairs)
                    lj_compare_pairs(b, text, state, t,
                                     got.curves[LJ_CURVE_PAIR_DENSITY] +
                                         (curve * batch->count + m) * sizes[1]);
            }
            curve += pairs;
        }
    }
    LJ_OK(b, text, lj_settle(b->ctx, state));
    for (size_t m = 0; m < batch->count; m++)
        lj_compare_state(b, text, state, m, &twins[m]);
    LJ_OK(b, text, ops->audit(b->ctx, state));
    lj_compare_saved(b, text, state, batch, twins, every / 2);
    b->grown += ((struct lj_state *)state)->grown;
    for (size_t m = 0; m < batch->count; m++)
        lj_twin_free(&twins[m]);
    for (int c = 0; c < 3; c++)
        free(got.curves[c]);
    free(twins);
    free(got.columns);
    ops->destroy(state);
    ergo_job_destroy(job);
}

static inline int lj_bench_open(struct lj_bench *b) {
    memset(b, 0, sizeof *b);
    b->ctx = ergo_context_create();
    if (!b->ctx || ergo_device_open(b->ctx, NULL, &b->device) != ERGO_OK) {
        print_message("%s\n", b->ctx ? ergo_error_message(b->ctx) : "no memory");
        return -1;
    }
    print_message("on %s (%s)\n", b->device->summary.name, b->device->summary.platform);
    return 0;
}

#endif
