/*
 * Audit of the exchanges of a ladder.
 *
 * Energies are counted twice, as a sample and as for exchanges; that the counts are
 * right is what the model's own audit shows. Decisions are compared with the host's. Then all pairs
 * exchange, and again; meanwhile a part of each configuration is the number of its rung, so that
 * it is seen where it goes.
 */

#include "engine/temper.h"

#include <stdlib.h>
#include <string.h>

enum { LOOKED_AT = 1 << 14 }; /* bytes of a configuration, at most */

struct audit {
    struct ergo_engine *e;
    const struct ergo_temper *t;
    size_t ladder, words, look; /* words of a member's counts; bytes of a member */
    uint32_t *counts, *counts_now;
    struct ergo_ladder_term terms[ERGO_LADDER_TERMS];
    struct ergo_ladder_rung rungs[ERGO_LADDER_MAX];
    uint32_t came[ERGO_LADDER_MAX], came_now[ERGO_LADDER_MAX], decisions[ERGO_LADDER_MAX];
    uint64_t moves[ERGO_LADDER_MAX], moves_now[ERGO_LADDER_MAX];
    char *spins, *numbers; /* [rungs][look] */
    uint32_t *ones;        /* [members] */
};

static void read_counts(const struct audit *a, unsigned slot, uint32_t *to) {
    struct ergo_engine *e = a->e;
    const size_t n = a->t->rungs, bytes = 4 * n * a->words;
    e->slot = slot;
    ergo_engine_read(e, e->model->temper->counts, a->ladder * bytes, bytes, to);
}

/* The last bytes of each rung's configuration. */
static void transfer(const struct audit *a, char *spins, bool write) {
    const size_t bytes = 4 * ergo_temper_spin_words(a->e), n = a->t->rungs;
    const unsigned row = a->e->model->temper->spins;
    for (size_t r = 0; r < n; r++) {
        const size_t at = (a->ladder * n + r + 1) * bytes - a->look;
        if (write)
            ergo_engine_write(a->e, row, at, a->look, spins + r * a->look);
        else
            ergo_engine_read(a->e, row, at, a->look, spins + r * a->look);
    }
}

/* Decisions of a parity, on both. False: they differ. */
static bool same_decisions(struct audit *a, uint32_t parity) {
    struct ergo_engine *e = a->e;
    const uint32_t n = a->t->rungs;
    bool same = true;
    ergo_engine_fill(e, ERGO_TEMPER_DECISIONS, 0xff);
    ergo_temper_decide(e, parity);
    read_counts(a, ERGO_TEMPER_SLOT, a->counts_now);
    ergo_engine_read(e, ERGO_TEMPER_DECISIONS, 4 * a->ladder * n, 4 * (size_t)n, a->decisions);
    ergo_temper_read(e, a->ladder, a->came_now, a->moves_now);
    for (uint32_t t = parity; t + 1 < n && e->status == ERGO_OK; t += 2) {
        const uint32_t *cold = a->counts + t * a->words;
        const uint32_t accepted = ergo_ladder_exchanges(
            ergo_ladder_worse(cold, cold + a->words, a->terms), t, e->step, &a->rungs[t]);
        a->moves[n - 1] += ergo_ladder_walk(&a->came[t], &a->came[t + 1], accepted, 1, t, n);
        a->moves[t] += accepted;
        same = same && accepted == a->decisions[t];
    }
    return same && memcmp(a->counts, a->counts_now, 4 * n * a->words) == 0 &&
           memcmp(a->came, a->came_now, n * sizeof *a->came) == 0 &&
           memcmp(a->moves, a->moves_now, n * sizeof *a->moves) == 0;
}

/* All pairs of a parity exchange: is the configuration of each rung where it should be? */
static bool exchanged(struct audit *a, uint32_t parity, bool there) {
    const uint32_t n = a->t->rungs;
    bool same = true;
    ergo_temper_exchange(a->e, parity);
    transfer(a, a->numbers, false);
    for (uint32_t r = 0; r < n; r++) {
        const bool cold = ergo_ladder_colder(r, n, parity),
                   hot = r > 0 && ergo_ladder_colder(r - 1, n, parity);
        const uint32_t from = there && cold ? r + 1 : there && hot ? r - 1 : r;
        for (size_t i = 0; i < a->look; i++)
            same = same && a->numbers[r * a->look + i] == (char)(from + 1);
    }
    return same;
}

static bool same_exchanges(struct audit *a, uint32_t parity) {
    for (size_t i = 0; i < a->t->rungs * a->look; i++)
        a->numbers[i] = (char)(i / a->look + 1);
    transfer(a, a->numbers, true);
    ergo_engine_write(a->e, ERGO_TEMPER_DECISIONS, 0, 4 * a->t->inner.count, a->ones);
    const bool there = exchanged(a, parity, true), back = exchanged(a, parity, false);
    transfer(a, a->spins, true);
    return there && back;
}

static bool audit_room(struct audit *a) {
    const size_t n = a->t->rungs, all = a->t->inner.count, bytes = 4 * ergo_temper_spin_words(a->e);
    a->words = (size_t)a->e->buffers[a->e->model->temper->counts].bytes / 4 / all;
    a->look = bytes < LOOKED_AT ? bytes : LOOKED_AT;
    a->counts = malloc(2 * 4 * n * a->words);
    a->spins = malloc(2 * n * a->look);
    a->ones = malloc(4 * all);
    if (!a->counts || !a->spins || !a->ones)
        return false;
    a->counts_now = a->counts + n * a->words;
    a->numbers = a->spins + n * a->look;
    for (size_t m = 0; m < all; m++)
        a->ones[m] = 1;
    return true;
}

static bool audit_ladder(struct audit *a) {
    struct ergo_engine *e = a->e;
    struct ergo_temper *t = e->temper;
    const size_t n = t->rungs, row = e->model->temper->counts;
    bool same = true;
    ergo_engine_read(e, ERGO_TEMPER_TERMS, a->ladder * sizeof a->terms, sizeof a->terms, a->terms);
    ergo_temper_rungs(t, a->ladder, a->rungs); /* of the device the constants' check knows */
    ergo_engine_read(e, ERGO_TEMPER_CAME, 0, 4 * t->inner.count, t->came);
    ergo_engine_read(e, ERGO_TEMPER_MOVES, 0, 8 * t->inner.count, t->moves);
    memcpy(a->came, t->came + a->ladder * n, n * sizeof *a->came);
    memcpy(a->moves, t->moves + a->ladder * n, n * sizeof *a->moves);
    transfer(a, a->spins, false);
    e->slot = 0;
    ergo_engine_zero(e, (unsigned)row, (size_t)e->buffers[row].bytes);
    e->model->measure(e, 0);
    read_counts(a, 0, a->counts);
    for (uint32_t parity = 0; parity < 2 && ergo_ladder_pairs(t->rungs, parity); parity++)
        same = same_decisions(a, parity) && same_exchanges(a, parity) && same;
    e->slot = 0;
    ergo_engine_write(e, ERGO_TEMPER_CAME, 0, 4 * t->inner.count, t->came);
    ergo_engine_write(e, ERGO_TEMPER_MOVES, 0, 8 * t->inner.count, t->moves);
    return same;
}

enum ergo_status ergo_temper_audit(struct ergo_context *ctx, struct ergo_engine *e) {
    const struct ergo_temper *t = e->temper;
    /* each audit looks at another ladder */
    struct audit a = {.e = e, .t = t, .ladder = (size_t)(e->step / t->every % t->ladders)};
    bool same = true;
    ergo_engine_begin(e, ctx);
    if (audit_room(&a))
        same = audit_ladder(&a);
    else
        ERGO_ENGINE_FAIL(e, ERGO_E_MEMORY, "no memory to audit exchanges");
    free(a.counts);
    free(a.spins);
    free(a.ones);
    if (!same)
        ERGO_ENGINE_FAIL(e, ERGO_E_AUDIT,
                         "audit of %s failed on %s (%s): exchanges of ladder %zu after step %llu "
                         "differ between the device and the host. The device's compiler or "
                         "hardware is wrong for these kernels: try another device",
                         e->model->sampler, e->device->summary.name, e->device->summary.driver,
                         a.ladder, (unsigned long long)e->step);
    return ergo_engine_end(e);
}
