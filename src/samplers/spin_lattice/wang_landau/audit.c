/*
 * Audit of Wang-Landau walks: a stretch of the run, repeated by the run's launches and by the
 * host's twin, of as many estimates of as many members as the host has time for: spins, levels, ln
 * g, visits, ln f, samples. At step 0 the start is compared, too. Of estimates that are not
 * replayed the levels of walkers are computed from their spins.
 */
#include <string.h>

#include "samplers/spin_lattice/models.h"
#include "samplers/spin_lattice/graph/graph.h"
#include "samplers/spin_lattice/wang_landau/walk.h"

/* Neighbours and moves that the twin looks at, some 0.1 s on the host. */
static const uint64_t replay_visits = UINT64_C(1) << 22;

struct stretch {
    struct ergo_replay r; /* first, because compare gets its address */
    size_t members;       /* that are replayed */
    size_t estimates;     /* of each, the last ones */
};

static uint64_t least(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

static void plan_stretch(struct stretch *t, const struct walk_state *s) {
    const struct ergo_point *point = s->e.batch->points[0];
    const uint64_t each =
        ((uint64_t)s->graph.first[s->graph.n] + 8 * (uint64_t)s->graph.n) * s->shape.walkers;
    const uint64_t run = (uint64_t)ergo_point_int(point, "/run/sweeps");
    const uint64_t samples = s->e.block_samples < 2 ? 1 : 2;
    uint64_t most = least(least(replay_visits / each, run), 32);
    most = most > samples ? most : samples;
    /* some epoch ends in it, where the host has time for that */
    if (run >= s->shape.check && most < s->shape.check &&
        (s->shape.check <= 32 || s->shape.check <= replay_visits / each))
        most = s->shape.check;
    ergo_replay_plan(&t->r, ergo_point_int(point, "/run/measure_every"), 0, most,
                     s->e.block_samples);
    const uint64_t fit = replay_visits / (each * t->r.samples * t->r.every) + 1;
    t->estimates = (size_t)least(fit, s->shape.estimates);
    t->members = (size_t)least(fit / t->estimates + 1, s->e.batch->count);
}

/* Estimate e of the batch before the stretch. */
static void take(const struct stretch *t, const struct walk_state *s, size_t e,
                 struct walk_estimate *a) {
    const size_t walkers = s->shape.walkers, levels = (size_t)s->graph.levels.count;
    const size_t words = walkers * walk_words_of(s);
    void *const *kept = t->r.kept;
    memcpy(a->spins, (const uint32_t *)kept[WALK_SPINS] + e * words, 4 * words);
    memcpy(a->at, (const uint32_t *)kept[WALK_AT] + e * walkers, 4 * walkers);
    memcpy(a->ln_g, (const int64_t *)kept[WALK_LN_G] + e * levels, 8 * levels);
    memcpy(a->counts, (const uint32_t *)kept[WALK_COUNTS] + e * levels, 4 * levels);
    memcpy(a->visited, (const uint32_t *)kept[WALK_VISITED] + e * levels, 4 * levels);
    a->status = ((const struct walk_status *)kept[WALK_STATUS])[e];
}

/* What differs, or NULL. */
static const char *differs(const struct walk_state *s, const struct walk_estimate *a,
                           const struct walk_estimate *b) {
    const size_t walkers = s->shape.walkers, levels = (size_t)s->graph.levels.count;
    return memcmp(a->spins, b->spins, 4 * walkers * walk_words_of(s)) != 0 ? "the spins"
           : memcmp(a->at, b->at, 4 * walkers) != 0                        ? "levels of walkers"
           : memcmp(a->ln_g, b->ln_g, 8 * levels) != 0                     ? "ln g"
           : memcmp(a->counts, b->counts, 4 * levels) != 0 ||
                   memcmp(a->visited, b->visited, 4 * levels) != 0
               ? "visits of levels"
           : a->status.f != b->status.f || a->status.levels != b->status.levels ||
                   a->status.inverse != b->status.inverse
               ? "ln f"
               : NULL;
}

static bool same_sample(const struct walk_state *s, size_t e, size_t sample,
                        const struct walk_estimate *a) {
    const uint32_t *found = ergo_engine_host(&s->e, WALK_SAMPLES, 0, sample);
    found += e * WALK_NUMBERS;
    return found[WALK_LEVEL] == a->at[0] && found[WALK_LEVELS] == a->status.levels &&
           found[WALK_F] == (uint32_t)a->status.f &&
           found[WALK_F + 1] == (uint32_t)(a->status.f >> 32);
}

/* Can the levels of walkers be those of their spins? b is scratch. */
static bool fits(const struct walk_state *s, const struct walk_estimate *a,
                 struct walk_estimate *b) {
    memcpy(b->spins, a->spins, 4 * (size_t)s->shape.walkers * walk_words_of(s));
    return walk_twin_levels(s, b) && memcmp(a->at, b->at, 4 * (size_t)s->shape.walkers) == 0;
}

/* a: the twin's; b: scratch, then what the device has. */
static const char *compare_estimate(const struct stretch *t, struct walk_state *s, size_t member,
                                    uint32_t own, struct walk_estimate *a,
                                    struct walk_estimate *b) {
    const size_t e = member * s->shape.estimates + own;
    const struct walk_member *stream = &s->members[member];
    take(t, s, e, a);
    if (!fits(s, a, b))
        return "levels of walkers, computed from their spins,";
    if (t->r.step == 0 && !s->e.carried) {
        walk_twin_start(s, stream, own, model_start(s->e.batch->points[member]), b);
        if (differs(s, a, b))
            return "the starts";
    }
    for (size_t i = 0; i < t->r.samples * t->r.every; i++) {
        walk_twin_sweep(s, stream, own, t->r.step + i, a);
        if ((i + 1) % t->r.every == 0 && !same_sample(s, e, i / t->r.every, a))
            return "a sample";
    }
    walk_read(s, e, b);
    return differs(s, a, b);
}

/* One that is not replayed. */
static const char *check_estimate(struct walk_state *s, size_t e, struct walk_estimate *a,
                                  struct walk_estimate *b) {
    walk_read(s, e, a);
    return fits(s, a, b) ? NULL : "levels of walkers, computed from their spins,";
}

static enum ergo_status compare(struct ergo_context *ctx, const struct ergo_replay *r) {
    const struct stretch *t = (const struct stretch *)r;
    struct walk_state *s = r->state;
    struct walk_estimate a, b;
    const uint32_t estimates = s->shape.estimates;
    const bool one = walk_estimate_create(s, &a), two = walk_estimate_create(s, &b);
    enum ergo_status status =
        one && two ? ERGO_OK : ERGO_FAIL(ctx, ERGO_E_MEMORY, "no memory for an audit");
    ergo_engine_begin(&s->e, ctx);
    for (size_t m = 0; m < r->members && status == ERGO_OK; m++)
        for (uint32_t own = 0; own < estimates && status == ERGO_OK; own++) {
            const bool replayed =
                ergo_replay_takes(r, t->members, m) && own + t->estimates >= estimates;
            const char *wrong = replayed ? compare_estimate(t, s, m, own, &a, &b)
                                         : check_estimate(s, m * (size_t)estimates + own, &a, &b);
            status = ergo_engine_end(&s->e);
            if (status == ERGO_OK && wrong)
                status = ergo_replay_differs(ctx, r, m, wrong);
        }
    walk_estimate_free(&a);
    walk_estimate_free(&b);
    return status;
}

enum ergo_status walk_audit(struct ergo_context *ctx, void *state) {
    struct walk_state *s = state;
    struct stretch t = {.r = {.n_columns = GRAPH_COLUMNS,
                              .step = s->e.step,
                              .members = s->e.batch->count,
                              .compare = compare}};
    plan_stretch(&t, s);
    const enum ergo_status status = ergo_engine_check_constants(ctx, &s->e);
    return status == ERGO_OK ? ergo_engine_replay(ctx, &s->e, &t.r, NULL, 0) : status;
}
