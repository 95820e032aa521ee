/*
 * Audit of spins on graphs: a stretch of the run, repeated by the run's launches and by the host's
 * twin. Members that the host has time for, among them the last one, are compared sample by sample,
 * with what is kept; of as many as it can count, the last sample. At step 0 the start is compared,
 * too. The kernel that restores states writes one, which is read back.
 */
#include <stdlib.h>
#include <string.h>

#include "samplers/spin_lattice/graph/graph.h"
#include "samplers/spin_lattice/models.h"

/* Neighbours that the twin looks at, some 0.1 s on the host. */
static const uint64_t replay_visits = UINT64_C(1) << 25;
static const uint64_t replay_sweeps = 32; /* more would find nothing else */

struct stretch {
    struct ergo_replay r; /* first, because compare gets its address */
    size_t members;       /* that are replayed */
    size_t counted;       /* whose last sample is counted */
};

static uint64_t least(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

static void plan_stretch(struct stretch *t, const struct graph_state *s) {
    const struct ergo_point *point = s->e.batch->points[0];
    const uint64_t visits = s->net.first[s->net.slots] + 8 * (uint64_t)s->net.slots;
    const uint64_t run = (uint64_t)(ergo_point_int(point, "/run/equilibration") +
                                    ergo_point_int(point, "/run/sweeps"));
    const size_t count = s->e.batch->count;
    const uint64_t two = s->e.block_samples < 2 ? 1 : 2;
    uint64_t most = replay_visits / visits / least(count, 2);
    most = least(least(most, replay_sweeps), least((uint64_t)s->e.plan.block_steps, run));
    most = most > two ? most : two;
    if (run >= s->look_every && s->look_every <= replay_sweeps && most < s->look_every)
        most = s->look_every; /* some look is in it */
    ergo_replay_plan(&t->r, ergo_point_int(point, "/run/measure_every"), 0, most,
                     s->e.block_samples);
    const uint64_t fit = replay_visits / (visits * t->r.samples * t->r.every);
    t->members = fit < 1 ? 1 : (size_t)least(fit, count);
    t->counted = (size_t)least(count, replay_visits / visits + 1);
}

/* What a member has after the stretch. */
struct after {
    uint32_t *words;
    uint8_t *spins, *before, *kept; /* kept: [keep][slots] */
    struct graph_found found[GRAPH_KEEP_MAX];
    uint64_t hit;
    uint32_t look[GRAPH_LOOK_WORDS]; /* before the stretch it is all ones */
};

static void column_of(const struct graph_state *s, const void *all, size_t row, size_t member,
                      uint8_t *spins) {
    const size_t members = s->e.batch->count;
    const uint8_t *from = (const uint8_t *)all + row * s->net.slots * members + member;
    for (uint32_t slot = 0; slot < s->net.slots; slot++)
        spins[slot] = from[slot * members];
}

static bool same_sample(const struct stretch *t, const struct graph_state *s, size_t member,
                        size_t sample, const uint32_t *numbers) {
    double columns[GRAPH_COLUMNS];
    graph_columns(s, numbers, columns);
    return ergo_replay_same(
        columns, t->r.found.columns + GRAPH_COLUMNS * (sample * s->e.batch->count + member),
        GRAPH_COLUMNS);
}

/* Moves a->before, a->kept, a->found and a->hit by the twin. */
static enum ergo_status replay(struct ergo_context *ctx, const struct stretch *t,
                               struct graph_state *s, size_t member, struct after *a) {
    const struct graph_member *m = &s->members[member];
    uint32_t numbers[GRAPH_NUMBERS];
    uint64_t step = t->r.step;
    if (step == 0 && !s->e.carried) {
        graph_twin_start(&s->net, m, model_start(s->e.batch->points[member]), a->spins);
        if (memcmp(a->spins, a->before, s->net.slots) != 0)
            return ergo_replay_differs(ctx, &t->r, member, "the starts");
    }
    memset(a->look, 0xff, sizeof a->look);
    for (size_t i = 0; i < t->r.samples * t->r.every; i++) {
        graph_twin_sweep(s, m, step++, a->before);
        const bool sampled = (i + 1) % t->r.every == 0, looked = step % s->look_every == 0;
        if (sampled || looked)
            graph_twin_measure(&s->net, a->before, numbers);
        if (sampled && !same_sample(t, s, member, i / t->r.every, numbers))
            return ergo_replay_differs(ctx, &t->r, member, "energy or magnetization");
        if (!looked)
            continue;
        const uint32_t place =
            graph_twin_look(s, m, numbers, step, a->found, &a->hit, &a->look[GRAPH_LOOK_TRACE]);
        a->look[GRAPH_LOOK_CHOICE] = place;
        a->look[GRAPH_LOOK_TIMES]++;
        if (place != GRAPH_NOTHING)
            memcpy(a->kept + (size_t)place * s->net.slots, a->before, s->net.slots);
    }
    return ERGO_OK;
}

static enum ergo_status compare_member(struct ergo_context *ctx, const struct stretch *t,
                                       struct graph_state *s, size_t member, struct after *a) {
    struct graph_found found[GRAPH_KEEP_MAX];
    uint32_t look[GRAPH_LOOK_WORDS];
    uint64_t hit = 0;
    const size_t of = member * s->keep, row = graph_row_words(s);
    column_of(s, t->r.kept[GRAPH_SPINS], 0, member, a->before);
    for (uint32_t k = 0; k < s->keep; k++)
        column_of(s, t->r.kept[GRAPH_KEPT], k, member, a->kept + (size_t)k * s->net.slots);
    memcpy(a->found, (const struct graph_found *)t->r.kept[GRAPH_FOUND] + of,
           s->keep * sizeof *found);
    a->hit = ((const uint64_t *)t->r.kept[GRAPH_HITS])[member];
    ergo_engine_begin(&s->e, ctx);
    graph_read_member(s, member, a->words);
    ergo_engine_read(&s->e, GRAPH_FOUND, of * sizeof *found, s->keep * sizeof *found, found);
    ergo_engine_read(&s->e, GRAPH_HITS, 8 * member, 8, &hit);
    ergo_engine_read(&s->e, GRAPH_LOOKS, member * sizeof look, sizeof look, look);
    enum ergo_status status = ergo_engine_end(&s->e);
    if (status == ERGO_OK)
        status = replay(ctx, t, s, member, a);
    if (status != ERGO_OK)
        return status;
    graph_spread(s, a->words, a->spins);
    if (memcmp(a->spins, a->before, s->net.slots) != 0)
        return ergo_replay_differs(ctx, &t->r, member, "the spins");
    bool same = hit == a->hit && memcmp(look, a->look, sizeof look) == 0 &&
                memcmp(found, a->found, s->keep * sizeof *found) == 0;
    for (uint32_t k = 0; k < s->keep && same; k++) {
        graph_spread(s, a->words + (k + 1) * row, a->spins);
        same = memcmp(a->spins, a->kept + (size_t)k * s->net.slots, s->net.slots) == 0;
    }
    return same ? ERGO_OK : ergo_replay_differs(ctx, &t->r, member, "the lowest states");
}

/* The last sample of a member that is not replayed, from its spins on the device. */
static enum ergo_status count_member(struct ergo_context *ctx, const struct stretch *t,
                                     struct graph_state *s, size_t member, struct after *a) {
    uint32_t numbers[GRAPH_NUMBERS];
    ergo_engine_begin(&s->e, ctx);
    graph_read_member(s, member, a->words);
    const enum ergo_status status = ergo_engine_end(&s->e);
    if (status != ERGO_OK)
        return status;
    graph_spread(s, a->words, a->spins);
    graph_twin_measure(&s->net, a->spins, numbers);
    return same_sample(t, s, member, t->r.samples - 1, numbers)
               ? ERGO_OK
               : ergo_replay_differs(ctx, &t->r, member, "energy or magnetization");
}

/* Writes other bits for the last member, whose states the replay puts back. */
static enum ergo_status compare_writing(struct ergo_context *ctx, const struct stretch *t,
                                        struct graph_state *s, struct after *a) {
    const size_t last = s->e.batch->count - 1, n = graph_words_of(s), row = graph_row_words(s);
    uint32_t *written = malloc(4 * n);
    if (!written)
        return ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for an audit");
    for (size_t i = 0; i < n; i++) {
        const size_t bits = s->net.slots - 32 * (i % row);
        written[i] =
            (uint32_t)(0x9E3779B9u * (i + 1)) & (bits < 32 ? (1u << bits) - 1 : UINT32_MAX);
    }
    ergo_engine_begin(&s->e, ctx);
    graph_write_member(s, last, written);
    ergo_engine_fill(&s->e, GRAPH_PACKED, 0); /* what was written is not what is read */
    graph_read_member(s, last, a->words);
    enum ergo_status status = ergo_engine_end(&s->e);
    if (status == ERGO_OK && memcmp(written, a->words, 4 * n) != 0)
        status = ergo_replay_differs(ctx, &t->r, last, "states that are written and read back");
    free(written);
    return status;
}

static enum ergo_status compare(struct ergo_context *ctx, const struct ergo_replay *r) {
    const struct stretch *t = (const struct stretch *)r;
    struct graph_state *s = r->state;
    struct after a = {.words = malloc(4 * graph_words_of(s)),
                      .spins = malloc(s->net.slots),
                      .before = malloc(s->net.slots),
                      .kept = malloc((size_t)s->keep * s->net.slots)};
    enum ergo_status status = a.words && a.spins && a.before && a.kept
                                  ? ERGO_OK
                                  : ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for an audit");
    for (size_t m = 0; m < r->members && status == ERGO_OK; m++)
        if (ergo_replay_takes(r, t->members, m))
            status = compare_member(ctx, t, s, m, &a);
        else if (ergo_replay_takes(r, t->counted, m))
            status = count_member(ctx, t, s, m, &a);
    if (status == ERGO_OK)
        status = compare_writing(ctx, t, s, &a);
    free(a.words);
    free(a.spins);
    free(a.before);
    free(a.kept);
    return status;
}

enum ergo_status graph_audit(struct ergo_context *ctx, void *state) {
    struct graph_state *s = state;
    struct stretch t = {.r = {.n_columns = GRAPH_COLUMNS,
                              .step = s->e.step,
                              .members = s->e.batch->count,
                              .compare = compare}};
    plan_stretch(&t, s);
    const enum ergo_status status = ergo_engine_check_constants(ctx, &s->e);
    return status == ERGO_OK ? ergo_engine_replay(ctx, &s->e, &t.r, NULL, 0) : status;
}
